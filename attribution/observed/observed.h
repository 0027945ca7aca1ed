/* SPDX-License-Identifier: MIT */
/* What samples say of single instructions, by place: at which levels their loads and stores hit, and how often their
 * branches were mispredicted. These are counts, observed; who runs a trace has them in place of what caches and a
 * predictor would say. Which samples can say it: kinds.h. Below GUS_OBSERVED_LEAST samples of an instruction nothing is
 * known of it.
 *
 * A branch's two ways are counted apart where that is told: a loop's exit is mispredicted when it is left. Records of
 * ops tell the way if they have the target of those that are taken; counters do not. Branch stacks have those that were
 * taken alone: one that falls through leaves no trace in them, mispredicted or not. How often it fell through is how
 * often code between two branches went past it; how often it was mispredicted then is only known with the event that
 * shows what is executed behind mispredicted branches, less what the stacks say came there by a branch:
 *
 *	to --------- B F ------- from       past B: a range that begins at or before it, and ends behind it
 *	mispredicted at B, falling = behind F * stacks' share of all - mispredicted branches to F
 *
 * The stacks' share of all executions is that of their cycles in the cycles of the run: inferred. */
#ifndef GUS_ATTRIBUTION_OBSERVED_OBSERVED_H
#define GUS_ATTRIBUTION_OBSERVED_OBSERVED_H

#include "model/machine/options.h"
#include "proto/gusprof.pb-c.h"

struct gus_error;
struct gus_log;
struct gus_reader;
struct gus_symbols_options;

enum { GUS_OBSERVED_LEAST = 20 };

/* Of loads, or of stores. A line that was on its way counts as L1's, as whoever asked for it before has its level. */
struct gus_observed_access {
	uint64_t samples;
	/* Of those that tell: of samples executions, of counters so many as the samples stand for. */
	uint64_t hits[GUS_HITS];
	uint64_t beyond;        /* of these: farther perhaps, as it is only told that it missed in the level before */
	uint64_t first, second, either, walked; /* of the TLBs; either: one of the two */
};

/* Samples, and what they stand for. */
struct gus_observed_branch { uint64_t samples, executed, mispredicted; };

struct gus_observed_insn {
	struct gus_observed_access loads, stores;
	struct gus_observed_branch taken, fallen, all; /* all: of which the way may not be told */
};

struct gus_observed;
struct gus_observed *gus_observed_new(void);
void gus_observed_free(struct gus_observed *o);
/* Adds what all of a recording's samples say. -1 with err if it cannot be read. */
int gus_observed_add(struct gus_observed *o, struct gus_reader *reader, const struct gus_symbols_options *symbols,
		     const struct gus_log *log, struct gus_error *err);

/* After the last one: what follows from several of them. */
void gus_observed_settle(struct gus_observed *o);
/* The instruction that begins at that offset of a file; NULL: nothing was observed there. */
const struct gus_observed_insn *gus_observed_at(struct gus_observed *o, const char *module, uint64_t offset);
/* The same of the branch that begins there, and behind which another instruction does: with what falling through it
 * says. */
struct gus_observed_insn gus_observed_branch_at(struct gus_observed *o, const char *module, uint64_t offset,
						uint64_t behind);
/* Adds what another one's samples say. */
void gus_observed_access_add(struct gus_observed_access *to, const struct gus_observed_access *more);

/* How many samples say something of an access, of a branch; branches of stacks are counted one by one. */
struct gus_observed_totals { uint64_t accesses, branches; };
struct gus_observed_totals gus_observed_totals(const struct gus_observed *o);
/* Why the records of an event, by its number in the recording that was added last, say nothing of rates; NULL: they do,
 * or it has none. */
const char *gus_observed_why_not(const struct gus_observed *o, uint32_t event);

#endif
