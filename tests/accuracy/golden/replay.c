/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/calibration/host.h"
#include "model/calibration/micro.h"
#include "tests/accuracy/golden/host.h"

enum { WORST = 5 };

void golden_replay_keep(struct golden_replay *r, const struct gus_micro *k, double cycles)
{
	struct gus_micro *copy = gus_micro_new(k->isa, "%s", k->name);

	gus_vec_append(&copy->code, k->code.v, k->code.n);
	gus_vec_append(&copy->lists, k->lists.v, k->lists.n);
	gus_vec_append(&copy->patterns, k->patterns.v, k->patterns.n);
	gus_vec_append(&copy->accesses, k->accesses.v, k->accesses.n);
	gus_vec_append(&copy->jumps, k->jumps.v, k->jumps.n);
	copy->loop = k->loop;
	copy->end = k->end;
	copy->arena = k->arena;
	copy->huge = k->huge;
	copy->wide = k->wide;
	copy->warm = k->warm;
	copy->passes = k->passes;
	gus_vec_push(&r->all, (struct golden_replayed){ copy, cycles });
}

struct off { const struct golden_replayed *of; double cycles, off; };

static int by_off(const void *a, const void *b)
{
	const struct off *x = a, *y = b;

	return x->off > y->off ? -1 : x->off < y->off;
}

static void print(const char *what, struct off *offs, size_t n)
{
	size_t near = 0, middling = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		near += offs[i].off <= 0.03;
		middling += offs[i].off <= 0.1;
		sum += offs[i].off;
	}
	printf("# %s: %zu of %zu microbenchmarks within 3 %%, %zu within 10 %%, off by %.1f %% on average\n", what,
	       near, n, middling, 100 * sum / (double)n);
	qsort(offs, n, sizeof(*offs), by_off);
	for (size_t i = 0; i < n && i < WORST; i++)
		printf("#   %s: %.2f instead of %.2f\n", offs[i].of->micro->name, offs[i].cycles, offs[i].of->cycles);
}

int golden_replay_print(const struct golden_replay *r, const char *what, const struct golden_machine *m,
			struct gus_error *err)
{
	struct gus_vec(struct off) offs = { 0 };
	struct gus_calibration_host host;
	struct golden_host golden;
	int rc = 0;

	golden_host_open(&golden, m, &host);
	for (size_t i = 0; rc == 0 && i < r->all.n; i++) {
		const struct golden_replayed *one = &r->all.v[i];
		const struct gus_micro *k = one->micro;
		struct gus_micro_time time;

		rc = host.run(host.context, &k, 1, &time, err);
		if (rc == 0)
			gus_vec_push(&offs, (struct off){ one, time.cycles, fabs(time.cycles / one->cycles - 1) });
	}
	if (rc == 0 && offs.n)
		print(what, offs.v, offs.n);
	gus_vec_free(&offs);
	return rc;
}

void golden_replay_end(struct golden_replay *r)
{
	for (size_t i = 0; i < r->all.n; i++)
		gus_micro_free(r->all.v[i].micro);
	gus_vec_free(&r->all);
}
