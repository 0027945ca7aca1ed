/* SPDX-License-Identifier: MIT */
/* What is told of a run with intervals (attribution/proportional/replicates.h), held against what is true: how often
 * they have the truth, how wide they are, how much of the time is told. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_TOLD_H
#define GUS_TESTS_ACCURACY_GOLDEN_TOLD_H

#include <stdbool.h>

#include "attribution/proportional/replicates.h"
#include "base/alloc.h"

struct golden_truth;
struct gus_groups;

/* Of what there are intervals. */
enum golden_told_level {
	GOLDEN_TOLD_CELL,               /* an instruction's executions that met the same events */
	GOLDEN_TOLD_HEIGHT,             /* all of an instruction */
	GOLDEN_TOLD_BLOCK, GOLDEN_TOLD_LOOP, GOLDEN_TOLD_FUNCTION,
	GOLDEN_TOLD_COMPONENT,          /* a function's executions that met the same events */
	GOLDEN_TOLD_LEVELS
};
extern const char *const golden_told_names[GOLDEN_TOLD_LEVELS];

/* One of them: which, what is told of it, and the truth, as a share of all cycles. */
struct golden_told_one { uint64_t key; double truth; struct gus_replicates_sum told; };
struct golden_told gus_vec(struct golden_told_one);
/* By key; of what nothing is told only what is told elsewhere of nothing is left out. */
void golden_told_make(struct golden_told *out, const struct golden_truth *t, const struct gus_groups *g,
		      const struct gus_replicates *r, enum golden_told_level level);

struct golden_told_score {
	size_t shown, held;             /* intervals, and those that have the truth */
	size_t large;                   /* shares of 1 % of the time and more, shown or not */
	double half;                    /* of those: half of the interval, as a share of the value; the median */
	double time;                    /* of what is shown */
};
void golden_told_score(const struct golden_told *t, struct golden_told_score *out);
/* Of what both show: how many there are, and how many differ by no more than both intervals leave open. */
struct golden_told_agreed { size_t both, agreed; };
void golden_told_compare(const struct golden_told *a, const struct golden_told *b, struct golden_told_agreed *out);

#endif
