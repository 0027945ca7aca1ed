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

/* How many begin at or before address. */
static size_t begun(const struct gus_ranges *r, uint64_t address)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->v[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct gus_range *gus_ranges_find(const struct gus_ranges *r, uint64_t address)
{
	size_t n = begun(r, address);

	for (uint32_t at = n ? (uint32_t)n - 1 : GUS_RANGE_NONE; at != GUS_RANGE_NONE; at = r->v[at].around)
		if (address < r->v[at].high)
			return &r->v[at];
	return NULL;
}

static void narrow(uint64_t address, uint64_t edge, uint64_t *low, uint64_t *high)
{
	if (edge <= address && edge > *low)
		*low = edge;
	if (edge > address && edge < *high)
		*high = edge;
}

/* The answer changes only where a range begins or ends. Those that are passed over end before the ones that are looked
 * at, so of the ends before address the last is among these. */
void gus_ranges_extent(const struct gus_ranges *r, uint64_t address, uint64_t *low, uint64_t *high)
{
	size_t n = begun(r, address);

	if (n < r->n)
		narrow(address, r->v[n].low, low, high);
	if (n)
		narrow(address, r->v[n - 1].low, low, high);
	for (uint32_t at = n ? (uint32_t)n - 1 : GUS_RANGE_NONE; at != GUS_RANGE_NONE; at = r->v[at].around) {
		narrow(address, r->v[at].high, low, high);
		if (address < r->v[at].high)
			break;
	}
}

void gus_ranges_free(struct gus_ranges *r)
{
	gus_vec_free(r);
}
