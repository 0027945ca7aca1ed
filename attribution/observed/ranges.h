/* SPDX-License-Identifier: MIT */
/* How often code went past a place without a branch there, by ranges: what lies between the target of a branch and the
 * next branch was all executed. A range goes past a place if it begins no later and ends behind it, so of all ranges of
 * a module it takes how many begin, and how many end, up to there. */
#ifndef GUS_ATTRIBUTION_OBSERVED_RANGES_H
#define GUS_ATTRIBUTION_OBSERVED_RANGES_H

#include <stdint.h>

#include "base/alloc.h"

struct gus_index;

/* A key: module by its number, offset in its file. Compared byte by byte: no padding may be in it. */
struct gus_observed_place { uint64_t module, offset; };

struct gus_observed_passed { struct gus_observed_place at; uint64_t begun, ended; };
struct gus_observed_ranges {
	/* By number of a place; settled: sums, in the order of places. */
	struct gus_vec(struct gus_observed_passed) at;
};

/* One more, between two places by their numbers in an index. */
void gus_observed_ranges_add(struct gus_observed_ranges *r, const struct gus_index *places, uint32_t begin,
			     uint32_t end);
/* After the last one. */
void gus_observed_ranges_settle(struct gus_observed_ranges *r);
uint64_t gus_observed_ranges_past(const struct gus_observed_ranges *r, struct gus_observed_place at);
void gus_observed_ranges_free(struct gus_observed_ranges *r);

#endif
