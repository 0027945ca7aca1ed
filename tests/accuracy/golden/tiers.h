/* SPDX-License-Identifier: MIT */
/* What there is on machines of each kind, and what is made of it: samples of time, and what is known of executions,
 * corrected by a replay (attribution/proportional). */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_TIERS_H
#define GUS_TESTS_ACCURACY_GOLDEN_TIERS_H

#include <stdbool.h>

#include "attribution/proportional/replicates.h"
#include "attribution/proportional/spread.h"
#include "tests/accuracy/golden/samplers.h"
#include "tests/accuracy/golden/score.h"

struct gus_error;
struct gus_groups;

enum golden_counted {
	GOLDEN_COUNTED_MODEL,          /* nothing is measured of executions: a model's traces tell */
	GOLDEN_COUNTED_STACKS,         /* branch stacks of the samples of time */
	GOLDEN_COUNTED_SAMPLES,        /* samples of their own */
};
struct golden_tier {
	const char *name;
	enum golden_scheme time;
	enum gus_spread_sight sight;
	bool behind;                    /* branches tell where a misprediction led */
	enum golden_counted executed;
	enum golden_scheme executions;  /* of GOLDEN_COUNTED_SAMPLES: */
	bool ops;                       /* each is of an op, of which an instruction has several */
	bool retired;                   /* they tell retire latencies */
	bool met;                       /* samples of `events` tell what executions met */
	enum golden_scheme events;
};
enum { GOLDEN_TIERS = 5 };
extern const struct golden_tier golden_tiers[GOLDEN_TIERS];

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
