/* SPDX-License-Identifier: MIT */
/* What the samples of a recording say, in terms of its traces: how much time each instruction was seen to take, by
 * thread; what was executed, and what executions met, where other events or branch stacks tell. Instructions that no
 * trace has executed are places like others, and of them that is all there is. */
#ifndef GUS_ATTRIBUTION_ACCOUNTS_CLUES_H
#define GUS_ATTRIBUTION_ACCOUNTS_CLUES_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/accounts/sampler.h"
#include "attribution/profile/profile.h"
#include "attribution/proportional/seen.h"
#include "attribution/stacks/component.h"
#include "base/alloc.h"

struct gus_error;
struct gus_finder;
struct gus_heed;
struct gus_log;
struct gus_reader;
struct gus_traced;

enum { GUS_CLUE_NONE = UINT32_MAX };

/* An instruction. */
struct gus_clue_place {
	struct gus_place place;         /* in the profile's space; its module is GUS_CLUE_NONE if no sample was in it */
	const char *module;             /* path of the file, or what the space calls memory of no file */
	uint64_t offset;                /* in it */
	uint32_t insn, block;           /* of the trace; GUS_CLUE_NONE: it has not executed it */
	uint64_t address;               /* of the site that it is or is fused to (groups.h); 0: none */
	uint64_t traced_at;             /* where the trace had it; 0: it has not executed it */
};
struct gus_clue_thread { uint32_t pid, tid; const char *comm; };
/* Samples of time of a thread at a place, of a slice of the time (attribution/proportional/replicates.h). behind: the
 * branch before it was mispredicted and led there. what: what its record says that it was subjected to; unknown, as
 * most records say nothing of that. */
struct gus_clue_time {
	uint32_t place, thread, slice;
	bool behind;
	struct gus_component what;
	uint64_t weight;
};

struct gus_clues {
	/* Of the event of time, or, if none is, of the one that is shown. Names can be asked for. */
	struct gus_profile profile;
	enum gus_sampler sampler;       /* what that one is */
	struct gus_sampler_sight sight;
	uint64_t samples, exact;        /* of it */
	uint64_t weight;                /* which all that is in `time` adds up to */
	uint64_t unsampled;             /* that no sample stands for: see struct gus_profile; at most GUS_LIMIT_SUM */
	struct gus_vec(struct gus_clue_place) places;   /* in order of first sight, as threads and time are */
	struct gus_vec(struct gus_clue_thread) threads;
	struct gus_vec(struct gus_clue_time) time;
	/* By addresses of the traces: executions, by samples (enum gus_sampler) or branch stacks; and loads. */
	struct gus_seen seen, loads;
	struct gus_seen *slices;        /* of `seen`, GUS_REPLICATES_SLICES of them */
	enum gus_sampler executions;    /* of what the samples of executions are; GUS_SAMPLER_OTHER: there are none */
	double ipc;                     /* instructions a cycle by counters beside; 0: not known */
	/* Of the table that the traces were run with, by who has run them: it is no calibration of that machine. */
	bool nominal;
	const struct gus_heed *heed;    /* likewise: who wants to hear how far an account of it is */
	/* Private. */
	struct gus_traced *traced;
	struct gus_finder *finder;
	struct gus_index by_place, by_thread, by_time;
	uint64_t executed;              /* samples of executions */
};

/* Reads a recording, twice. t: its traces, run and ended, which outlive the clues; NULL: it has none. symbols as of
 * gus_profile_load. -1 with err; else freed with gus_clues_free. */
int gus_clues_read(struct gus_clues *c, struct gus_reader *reader, const struct gus_symbols_options *symbols,
		   struct gus_traced *t, const struct gus_log *log, struct gus_error *err);
void gus_clues_free(struct gus_clues *c);

#endif
