/* SPDX-License-Identifier: MIT */
/* Whose the time of a recording is, and how sure that is, by all that its samples say: what could have been (prior.h),
 * which of it explains what was seen (spread.h), and what else would (replicates.h). Accounts of recordings are made so
 * (attribution/accounts), and what simulated machines judge is the same. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_SOLUTION_H
#define GUS_ATTRIBUTION_PROPORTIONAL_SOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/proportional/met.h"
#include "attribution/proportional/prior.h"
#include "attribution/proportional/replicates.h"
#include "attribution/proportional/spread.h"

struct gus_groups;
struct gus_heed;
struct gus_seen;

/* Of what it is known how often instructions are executed. */
enum gus_solution_executions {
	GUS_SOLUTION_BY_MODEL,          /* nothing is measured: a model's traces tell */
	GUS_SOLUTION_BY_STACKS,         /* branch stacks of the samples of time */
	GUS_SOLUTION_BY_OPS,            /* samples of executions, each op being as likely as any other */
	GUS_SOLUTION_BY_INSNS,          /* the same, each instruction; they may tell retire latencies */
	GUS_SOLUTION_BY_NOTHING         /* not even by the model, to see what it is worth to know */
};
/* What was seen in some of the time, of a slice of it (replicates.h). */
struct gus_solution_slice { const struct gus_seen *seen; uint32_t slice; };

struct gus_solution_given {
	const struct gus_groups *groups;        /* what a model has done */
	unsigned width;                         /* ops that retire in a cycle, as far as is known */
	/* Where time was seen, by who, as shares of all time: those at no site of the groups are not among them. */
	enum gus_spread_sight sight;
	bool behind;                            /* it is known of each count */
	double early;                           /* as struct gus_spread_seen, like the next */
	bool runs;
	double samples;                         /* of all time */
	const struct gus_replicates_part *time;
	size_t time_n;
	enum gus_solution_executions executions;
	const struct gus_seen *seen;            /* of executions, all in all and by slices; NULL: by model */
	const struct gus_solution_slice *slices;
	size_t slices_n;
	bool nominal;                           /* the model is of such CPUs, and was not calibrated on this one */
	double ipc;                             /* instructions a cycle by counters; 0: as the model has it */
	const struct gus_seen *met;             /* what executions met; NULL: nobody tells */
	bool met_by_ops;
	double ways, strength;                  /* as struct gus_spread_options; 0: by default */
	const struct gus_heed *heed;            /* who wants to hear how far it is; NULL: nobody */
};

struct gus_solution {
	struct gus_replicates replicates;       /* its cells add up to the time but what is left */
	struct gus_vec(size_t) left;            /* of the time given: which of it no cycle that could be is seen at */
	unsigned width;                         /* as given, or twice that, if it explains too little */
	struct gus_met met;                     /* empty: nobody tells */
};

/* Without replicates there are no intervals, but all else. Freed with gus_solution_free. */
void gus_solution_make(struct gus_solution *e, const struct gus_solution_given *given, bool replicates);
void gus_solution_free(struct gus_solution *e);

#endif
