/* SPDX-License-Identifier: MIT */
#include "symbolizer/names/ranges.h"

#include <stdlib.h>

void gus_ranges_add(struct gus_ranges *r, uint64_t low, uint64_t high, uint32_t value, uint32_t rank)
{
	if (low < high && r->n < GUS_RANGE_NONE)
		gus_vec_push(r, (struct gus_range){ low, high, value, rank, GUS_RANGE_NONE });
}

/* Outer before inner, so that the last of those that start at or before an address is the innermost candidate. */
static int by_nesting(const void *left, const void *right)
{
	const struct gus_range *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

void gus_ranges_ready(struct gus_ranges *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_nesting);
	/* A range that does not cover an address behind its start ends at or before it, so whatever covers it ends
	 * later: following `around` skips nothing. Each step here pops by the chain of the one before, as on a
	 * stack. */
	for (size_t i = 1; i < r->n; i++) {
		uint32_t at = (uint32_t)i - 1;

		while (at != GUS_RANGE_NONE && r->v[at].high <= r->v[i].high)
			at = r->v[at].around;
		r->v[i].around = at;
	}
}

const struct gus_range *gus_ranges_find(const struct gus_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->v[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t at = low ? (uint32_t)low - 1 : GUS_RANGE_NONE; at != GUS_RANGE_NONE; at = r->v[at].around)
		if (address < r->v[at].high)
			return &r->v[at];
	return NULL;
}

void gus_ranges_free(struct gus_ranges *r)
{
	gus_vec_free(r);
}
