/* SPDX-License-Identifier: MIT */
#include "model/calibration/round.h"

#include <math.h>
#include <stdlib.h>

#include "model/calibration/fit.h"
#include "model/calibration/micro.h"

enum { MORE = 4 };

size_t gus_round_put(struct gus_round *r, struct gus_micro *m)
{
	gus_vec_push(&r->micros, m);
	return r->micros.n - 1;
}

static int run_once(struct gus_round *r, struct gus_micro_time *times, struct gus_error *err)
{
	const struct gus_calibration_host *host = r->calibration->host;

	return host->run(host->context, (const struct gus_micro *const *)r->micros.v, r->micros.n, times, err);
}

/* Whether a time says more than another one that was there before. */
static bool is_better(const struct gus_micro_time *now, const struct gus_micro_time *before)
{
	return !isnan(now->cycles) && (isnan(before->cycles) || now->cycles < before->cycles);
}

static bool are_all_known(const struct gus_round *r)
{
	for (size_t i = 0; i < r->times.n; i++)
		if (isnan(r->times.v[i].cycles))
			return false;
	return true;
}

int gus_round_run(struct gus_round *r, unsigned times, struct gus_error *err)
{
	struct gus_micro_time *now;
	int status = 0;

	if (!r->micros.n)
		return 0;
	gus_vec_reserve(&r->times, r->micros.n);
	r->times.n = r->micros.n;
	now = gus_zalloc(r->micros.n * sizeof(*now));
	for (size_t k = 0; k < r->micros.n; k++)
		r->times.v[k] = (struct gus_micro_time){ .cycles = NAN };
	for (unsigned i = 0; status == 0 && (i < times || (i < times + MORE && !are_all_known(r))); i++) {
		status = run_once(r, now, err);
		for (size_t k = 0; k < r->micros.n && status == 0; k++)
			if (is_better(&now[k], &r->times.v[k]))
				r->times.v[k] = now[k];
	}
	free(now);
	return status;
}

double gus_round_cycles(const struct gus_round *r, size_t number)
{
	double cycles = r->times.v[number].cycles;

	return isnan(cycles) ? INFINITY : cycles;
}

void gus_round_clear(struct gus_round *r)
{
	for (size_t i = 0; i < r->micros.n; i++)
		gus_micro_free(r->micros.v[i]);
	r->micros.n = r->times.n = 0;
}

void gus_round_free(struct gus_round *r)
{
	gus_round_clear(r);
	gus_vec_free(&r->micros);
	gus_vec_free(&r->times);
}
