/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/told.h"

#include <math.h>
#include <stdlib.h>

#include "attribution/proportional/groups.h"
#include "base/index.h"
#include "model/core/pics.h"
#include "tests/accuracy/golden/truth.h"

const char *const golden_told_names[GOLDEN_TOLD_LEVELS] = { "cell", "height", "block", "loop", "function",
	"component" };

static const double LARGE = 0.01;
/* Of sums of ticks: all of them may be a little more than 1. */
static const double ROUNDING = 1e-9;

/* Of nowhere that the truth knows. */
enum { NOBODY = UINT32_MAX };

static uint64_t key_of(const struct golden_truth *t, uint64_t address, uint16_t psv, enum golden_told_level level)
{
	const struct golden_place *p = golden_truth_place(t, address);

	switch (level) {
	case GOLDEN_TOLD_CELL:
		return address << GUS_CORE_PSV_EVENTS | psv;
	case GOLDEN_TOLD_HEIGHT:
		return address;
	case GOLDEN_TOLD_BLOCK:
		return p ? p->block : NOBODY;
	case GOLDEN_TOLD_LOOP:
		return p ? p->loop : NOBODY;
	case GOLDEN_TOLD_FUNCTION:
		return p ? p->function : NOBODY;
	case GOLDEN_TOLD_COMPONENT:
		return (uint64_t)(p ? p->function : NOBODY) << GUS_CORE_PSV_EVENTS | psv;
	case GOLDEN_TOLD_LEVELS:
		break;
	}
	return NOBODY;
}

static uint32_t number_of(struct gus_index *keys, struct golden_told *out, uint64_t key)
{
	bool is_new;
	uint32_t number = gus_index_add(keys, &key, &is_new);

	if (is_new)
		gus_vec_push(out, (struct golden_told_one){ .key = key });
	return number;
}

static int by_key(const void *a, const void *b)
{
	const struct golden_told_one *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

void golden_told_make(struct golden_told *out, const struct golden_truth *t, const struct gus_groups *g,
		      const struct gus_replicates *r, enum golden_told_level level)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	uint32_t *sum_of = gus_zalloc((r->cells.n + 1) * sizeof(*sum_of));
	struct gus_replicates_sum *sums;
	struct gus_index keys;

	gus_index_init(&keys, sizeof(uint64_t));
	for (size_t i = 0; i < r->cells.n; i++)
		sum_of[i] = number_of(&keys, out, key_of(t, c->sites.v[r->cells.v[i].site].address,
							 r->cells.v[i].psv, level));
	sums = gus_zalloc((out->n + 1) * sizeof(*sums));
	gus_replicates_add(r, sum_of, out->n, sums);
	for (size_t i = 0; i < out->n; i++)
		out->v[i].told = sums[i];
	for (size_t i = 0; i < t->cells.n; i++) {
		uint32_t number = number_of(&keys, out, key_of(t, t->cells.v[i].address, t->cells.v[i].psv, level));

		out->v[number].truth += (double)t->cells.v[i].ticks / GUS_PICS_TICKS / (double)t->cycles;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_key);
	gus_index_free(&keys);
	free(sum_of);
	free(sums);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void golden_told_score(const struct golden_told *t, struct golden_told_score *out)
{
	struct gus_vec(double) halves = { 0 };

	*out = (struct golden_told_score){ 0 };
	for (size_t i = 0; i < t->n; i++) {
		const struct gus_replicates_sum *told = &t->v[i].told;

		if (told->share >= LARGE)
			gus_vec_push(&halves, (told->interval.high - told->interval.low) / 2 / told->share);
		if (!told->shown)
			continue;
		out->shown++;
		out->held += t->v[i].truth >= told->interval.low - ROUNDING &&
			t->v[i].truth <= told->interval.high + ROUNDING;
		out->time += told->share;
	}
	out->large = halves.n;
	if (halves.n) {
		qsort(halves.v, halves.n, sizeof(*halves.v), by_size);
		out->half = halves.v[halves.n / 2];
	}
	gus_vec_free(&halves);
}

void golden_told_compare(const struct golden_told *a, const struct golden_told *b, struct golden_told_agreed *out)
{
	*out = (struct golden_told_agreed){ 0 };
	for (size_t i = 0, k = 0; i < a->n; i++) {
		const struct gus_replicates_sum *x = &a->v[i].told, *y;

		while (k < b->n && b->v[k].key < a->v[i].key)
			k++;
		if (k == b->n || b->v[k].key != a->v[i].key || !x->shown || !b->v[k].told.shown)
			continue;
		y = &b->v[k].told;
		out->both++;
		out->agreed += fabs(x->share - y->share) <= 1.96 * hypot(x->deviation, y->deviation);
	}
}
