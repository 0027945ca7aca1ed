/* SPDX-License-Identifier: MIT */
#include "attribution/observed/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"

/* What is longer than this cannot have been. */
enum { RANGE_MOST = 65536 };

static struct gus_observed_passed *at(struct gus_observed_ranges *r, const struct gus_index *places, uint32_t number)
{
	while (r->at.n <= number) {
		struct gus_observed_passed new = { .begun = 0 };

		memcpy(&new.at, gus_index_key(places, (uint32_t)r->at.n), sizeof(new.at));
		gus_vec_push(&r->at, new);
	}
	return &r->at.v[number];
}

void gus_observed_ranges_add(struct gus_observed_ranges *r, const struct gus_index *places, uint32_t begin,
			     uint32_t end)
{
	const struct gus_observed_place *from = gus_index_key(places, begin), *to = gus_index_key(places, end);

	if (from->module != to->module || to->offset < from->offset || to->offset - from->offset > RANGE_MOST)
		return;
	at(r, places, begin)->begun++;
	at(r, places, end)->ended++;
}

static int by_place(const void *a, const void *b)
{
	const struct gus_observed_passed *x = a, *y = b;

	if (x->at.module != y->at.module)
		return x->at.module < y->at.module ? -1 : 1;
	return x->at.offset < y->at.offset ? -1 : x->at.offset > y->at.offset;
}

void gus_observed_ranges_settle(struct gus_observed_ranges *r)
{
	if (r->at.n)
		qsort(r->at.v, r->at.n, sizeof(*r->at.v), by_place);
	for (size_t i = 1; i < r->at.n; i++) {
		if (r->at.v[i].at.module != r->at.v[i - 1].at.module)
			continue;
		r->at.v[i].begun += r->at.v[i - 1].begun;
		r->at.v[i].ended += r->at.v[i - 1].ended;
	}
}

uint64_t gus_observed_ranges_past(const struct gus_observed_ranges *r, struct gus_observed_place place)
{
	const struct gus_observed_passed asked = { .at = place };
	size_t low = 0, high = r->at.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&asked, &r->at.v[middle]) < 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low || r->at.v[low - 1].at.module != place.module)
		return 0;
	return r->at.v[low - 1].begun - r->at.v[low - 1].ended;
}

void gus_observed_ranges_free(struct gus_observed_ranges *r)
{
	gus_vec_free(&r->at);
}
