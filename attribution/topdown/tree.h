/* SPDX-License-Identifier: MIT */
/* From counts to the tree of a table: the share of each node, how sure it is, and whether parts add up.
 *
 * Counts of a group are exact while it runs. Where groups take turns on the counters (multiplexing), each count is
 * scaled by the time for which it was wanted over the time for which it ran, and what the group did not see is an
 * error. Two things may be known of it:
 *
 * GUS_TOPDOWN_SERIES. Counts were read in intervals. Let R be the time for which a group ran, E that for which it was
 * wanted, f = R / E, z what its counts in one interval do to the node (counts times derivatives of the node), and
 * u = z / R its rate. If what happens from turn to turn were independent, Var(u) = v / R in each interval, and
 *
 *     v = mean of (u' - u)^2 / (1 / R + 1 / R')           over pairs of intervals next to each other,
 *     Var(node) = (1 - f) v E^2 / R(total)                for each group; groups add up.
 *
 * (1 - f) is the correction of finite populations: what ran needs no estimate (Cochran, Sampling Techniques, 3rd ed.
 * 1977, 2.6). Differences of neighbours leave trends and phases out, which every interval has seen in the same way
 * (von Neumann et al., The Mean Square Successive Difference, 1941; of systematic samples, Wolter, Introduction to
 * Variance Estimation, 2nd ed. 2007, chapter 8). Student's t for n such differences has about 2 n / 3 degrees of
 * freedom (their relative efficiency, ibid.). Turns that follow from each other over more than a rotation make the
 * interval too wide, not too narrow: all groups see the same stretch then. It is too narrow for what goes in step with
 * the rotation itself, and for what happens once and another group has seen, such as a program's beginning.
 *
 * GUS_TOPDOWN_BOUND. There is no series, or one of fewer than four intervals in which a group ran. In the time that was
 * not seen a share may have been anything between 0 and all: with s, the share of the time in which all groups of the
 * node were seen, or 1 less what was missed by each, the node lies in [s p, s p + 1 - s]. That takes it that a second
 * that was not seen has as many slots as one that was. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_TREE_H
#define GUS_ATTRIBUTION_TOPDOWN_TREE_H

#include "attribution/topdown/table.h"

/* What an event has counted, over a run or an interval. Not known: it could not be counted. */
struct gus_topdown_count { double value; uint64_t enabled_ns, running_ns; bool known; };

enum gus_topdown_sureness {
	GUS_TOPDOWN_WHOLE,      /* all its groups ran all the time: there is nothing to be unsure of */
	GUS_TOPDOWN_SERIES,     /* the interval has it in 95 of 100 cases */
	GUS_TOPDOWN_BOUND,      /* it cannot be outside */
	GUS_TOPDOWN_DRAWN,      /* as SERIES; what is unsure is which differences were drawn (sums.h) */
};

struct gus_topdown_share {
	bool known;             /* all its events were counted, and there was something to divide by; else all is 0 */
	double value, low, high;
	enum gus_topdown_sureness sureness;
	double seen;            /* the least that one of its groups ran, as a share of the time it was wanted */
	double floored;         /* how far below 0 it was before the method set it to 0; else 0 */
	double corrected;       /* what its correction is: the share without it is value less this */
	/* It is without its correction, as what that needs was not counted: a recording of perf's may have the metrics
	 * of Intel's cores alone. On a real Ice Lake that is 0.6 points or less (tests/unit/test_topdown). */
	bool uncorrected;
	bool above;             /* so large that one should look at it: itself, and all above it in the tree */
	/* Of a node with parts: the share less the sum of its parts, and how large that may be. */
	bool parted;
	double rest, allowed;
};

struct gus_topdown_tree {
	unsigned level;         /* nodes down to this one are looked at */
	struct gus_topdown_share *shares; /* one a node of the table; those below `level` are not known */
	/* All slots, and all cycles, as a share of themselves: 1; `parted` where the first level is known. */
	struct gus_topdown_share roots[GUS_TOPDOWN_UNITS];
	/* How many slots there were, what shares of them are of: what the table calls `slots`. Scaled as counts are;
	 * negative: not known. And for how long they were to be counted, over all tasks or CPUs. */
	double slots;
	uint64_t time_ns;
};

/* events: one an event of gus_topdown_events(table, level), in that order. series: n times as many, of intervals one
 * behind the other, whose sum they need not be; NULL if there is none. The caller frees with gus_topdown_tree_free. */
void gus_topdown_evaluate(struct gus_topdown_tree *tree, const struct gus_topdown *table, unsigned level,
			  const struct gus_topdown_count *events, const struct gus_topdown_count *series, size_t n);

/* Of counts that are the sum of n differences, each drawn by chance: of the counts of each the products of every two,
 * added up. */
struct gus_topdown_draw { const double *moments; uint64_t n; };
/* The same of these; sums.h has the rule. Fewer than four say nothing of how sure a share is: from 0 to 1. */
void gus_topdown_evaluate_drawn(struct gus_topdown_tree *tree, const struct gus_topdown *table, unsigned level,
				const struct gus_topdown_count *events, const struct gus_topdown_draw *draw);
void gus_topdown_tree_free(struct gus_topdown_tree *tree);

/* Whether its parts add up to it, within what the table states, what the method has set to 0, and what their intervals
 * leave open. True of what has no parts. */
bool gus_topdown_adds_up(const struct gus_topdown_share *share);

#endif
