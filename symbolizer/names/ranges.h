/* SPDX-License-Identifier: MIT */
/* A table of address ranges that may nest, and the innermost one around an address by binary search. Functions, units,
 * inlined calls and unwind entries are all asked in this way. */
#ifndef GUS_SYMBOLIZER_NAMES_RANGES_H
#define GUS_SYMBOLIZER_NAMES_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_ranges;

#define GUS_RANGE_NONE UINT32_MAX

struct gus_range {
	uint64_t low, high; /* [low, high) */
	uint32_t value;     /* the owner's */
	uint32_t rank;      /* of equal ranges the one with the largest rank counts as the innermost */
	uint32_t around;    /* the nearest earlier range that ends later; filled in by gus_ranges_ready */
};

/* Zero-initialise, add, make ready once, then ask. */
struct gus_ranges gus_vec(struct gus_range);

/* Empty ranges are left out. */
void gus_ranges_add(struct gus_ranges *r, uint64_t low, uint64_t high, uint32_t value, uint32_t rank);
void gus_ranges_ready(struct gus_ranges *r);
/* The innermost range that covers address, or NULL: the one that starts last, then the one that ends first. */
const struct gus_range *gus_ranges_find(const struct gus_ranges *r, uint64_t address);
/* Narrows [*low, *high), which covers address, to what has the same answer as address. */
void gus_ranges_extent(const struct gus_ranges *r, uint64_t address, uint64_t *low, uint64_t *high);
void gus_ranges_free(struct gus_ranges *r);

#endif
