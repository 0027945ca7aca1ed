/* SPDX-License-Identifier: MIT */
/* Differences between readings of a group of counters, added up: by whatever they are numbered by, a row of a report or
 * a stretch of time. All counts are integers, so parts of a sum add up to it exactly.
 *
 * Where it is chance which differences a sum has, as a sample falls into a function or not, a share of it is sure only
 * so far. Let x be the counts of one difference, X their sum over n of them, and f the share as a function of X. A
 * share does not change when all counts double, so its derivatives d at X have d X = 0, and with z = d x
 *
 *     Var(f) = n / (n - 1) * sum of z^2 = n / (n - 1) * d M d,        M = sum of x x'
 *
 * which is the variance of a ratio (Cochran, Sampling Techniques, 3rd ed. 1977, 6.4), so M is all that is kept. It
 * takes it that the differences were drawn independently; successive ones that are alike make the interval too small.
 */
#ifndef GUS_ATTRIBUTION_TOPDOWN_SUMS_H
#define GUS_ATTRIBUTION_TOPDOWN_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_topdown;
struct gus_topdown_tree;

struct gus_topdown_sums {
	size_t events;                  /* of a difference; set by who makes it */
	size_t n;                       /* sums there are, from 0; each is zero until something is added */
	struct gus_vec(uint64_t) counts; /* by sum and event */
	struct gus_vec(double) moments; /* by event and event: M, of those sums to which something was added */
	struct gus_vec(struct gus_topdown_sum) heads;
	uint32_t moments_n;             /* sums that have some */
};

struct gus_topdown_sum {
	uint64_t differences;
	uint64_t enabled_ns, running_ns; /* for how long counters were wanted meanwhile, and ran; 0: not told */
	uint32_t moments;               /* which of the moments are its own, from 1; 0: it has none yet */
};

/* One difference. */
struct gus_topdown_difference { const uint64_t *counts; uint64_t enabled_ns, running_ns; };

void gus_topdown_sums_add(struct gus_topdown_sums *s, size_t number, const struct gus_topdown_difference *d);
/* Adds sum number j of another one with the same events. */
void gus_topdown_sums_merge(struct gus_topdown_sums *s, size_t number, const struct gus_topdown_sums *from, size_t j);
/* The tree of a sum. at: of each of its events the place among all of the table's; others are not known. drawn: it is
 * chance which differences are in it. The caller frees it. */
void gus_topdown_sums_tree(const struct gus_topdown_sums *s, size_t number, const struct gus_topdown *table,
			   const uint32_t *at, bool drawn, struct gus_topdown_tree *tree);
void gus_topdown_sums_free(struct gus_topdown_sums *s);

#endif
