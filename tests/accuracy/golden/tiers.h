/* SPDX-License-Identifier: MIT */
/* What there is on machines of each kind, and what is made of it: samples of time, and what is known of executions,
 * corrected by a replay (attribution/proportional). */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_TIERS_H
#define GUS_TESTS_ACCURACY_GOLDEN_TIERS_H

#include <stdbool.h>

#include "attribution/proportional/solution.h"
#include "tests/accuracy/golden/samplers.h"
#include "tests/accuracy/golden/score.h"

struct gus_error;
struct gus_groups;

struct golden_tier {
	const char *name;
	enum golden_scheme time;
	enum gus_spread_sight sight;
	bool behind;                    /* branches tell where a misprediction led */
	enum gus_solution_executions executed;
	enum golden_scheme executions;  /* if these are sampled */
	bool met;                       /* samples of `events` tell what executions met */
	enum golden_scheme events;
};
enum { GOLDEN_TIERS = 5 };
extern const struct golden_tier golden_tiers[GOLDEN_TIERS];
/* Whether there are samples of executions. */
static inline bool golden_tier_samples(const struct golden_tier *t)
{
	return t->executed == GUS_SOLUTION_BY_OPS || t->executed == GUS_SOLUTION_BY_INSNS;
}

/* What of the correction is done otherwise, to see what each part of it is worth. */
struct golden_variant {
	const char *name;
	bool no_executed, no_met;       /* what was executed, what executions met is not taken from samples */
	bool no_cold, no_warm;          /* traces are not run with cold, with warm caches */
	double ways, strength;          /* of spread.h; 0: by default */
};
enum { GOLDEN_VARIANTS = 11 };
extern const struct golden_variant golden_variants[GOLDEN_VARIANTS]; /* the first is by default */

/* Halves of a recording: what was in slices of its time with even numbers, or with odd ones. */
enum golden_half { GOLDEN_WHOLE, GOLDEN_EVEN, GOLDEN_ODD, GOLDEN_HALVES };

struct golden_question {
	const struct golden_tier *tier;
	const struct golden_variant *variant;
	const char *folder;                     /* of the run */
	const struct gus_groups *groups;        /* of a machine that retires `width` ops in a cycle */
	unsigned width;
	double ipc;                             /* instructions a cycle, as counters have it */
	uint64_t samples;                       /* of each kind, of the whole recording */
	uint64_t seed;                          /* by which they are drawn */
	uint64_t *counted;                      /* by scheme: samples of its file; 0: these are yet to be counted */
};

/* The samples of time as they are, and stacks. What the groups have no place for stays where it was seen, with nothing
 * known of it. replicates, which may be NULL: of the stacks, GOLDEN_HALVES of them, to be freed. -1
 * with err. */
int golden_tier_estimate(const struct golden_question *q, struct golden_estimates *raw,
			 struct golden_estimates *corrected, struct gus_replicates *replicates,
			 struct gus_error *err);

#endif
