/* SPDX-License-Identifier: MIT */
/* What the engines ask where a trace is run: caches, a branch predictor or measured rates, as the two oracles of
 * model/core/core.h.
 *
 * A window begins with nothing learnt. What the window cannot tell (first touches, branches never seen) is answered by
 * `warm`: false as misses and mispredictions, true as if all of it had been there. Two runs, one of each, are the ends
 * of an interval. */
#ifndef GUS_MODEL_ORACLES_ORACLE_H
#define GUS_MODEL_ORACLES_ORACLE_H

#include "base/alloc.h"
#include "model/oracles/cache.h"
#include "model/oracles/rates.h"

struct gus_access;
struct gus_branch_predictor;
struct gus_program;

/* Caches. Filled in by the caller, who owns what it points to; the counts are the oracle's. An oracle is asked in
 * program order and is not told when things happen, so its time goes on by `ticks` with each access, in the unit of the
 * caches' latencies.
 *
 * A line that is on its way to L1 is answered as the nearest level that takes at least as long as it still does. */
struct gus_oracle_cache {
	struct gus_cache *cache;
	const struct gus_program *program;      /* whose accesses these are: how many bytes they have */
	/* also told of each access, its number in the program being the group; or NULL */
	struct gus_access *groups;
	bool warm;
	/* what accesses of unknown address hit; they do not change the caches */
	enum gus_hit unknown;
	uint32_t ticks;                         /* 0: 1 */
	uint64_t now, accesses, unknown_addresses;
};
/* Of a line that is there after so long: the nearest level that takes at least that. */
enum gus_hit gus_oracle_level(const struct gus_cache_config *c, enum gus_hit level, uint32_t wait);
struct gus_core_memory gus_oracle_of_cache(struct gus_oracle_cache *o);

/* A predictor. Where the program is run again and again each branch does what its flags say. Where a source gives other
 * steps, the engine has to be given gus_oracle_source_of_branch instead of that source: it looks at each step, and one
 * further, to see where a branch went, on their way to the engine. */
struct gus_oracle_branch {
	struct gus_branch_predictor *predictor;
	const struct gus_program *program;
	const struct gus_core_source *source;   /* or NULL */
	bool warm;
	/* Its own: the step that was looked at and not given yet, and verdicts that were not asked for yet. */
	struct gus_core_step held;
	bool begun, holds;
	struct gus_vec(bool) verdicts;
	size_t verdicts_first;
};
/* What an op that is a branch is to a predictor. */
enum gus_branch_kind gus_oracle_branch_kind(const struct gus_program *p, uint32_t op);
struct gus_core_branch gus_oracle_of_branch(struct gus_oracle_branch *o);
struct gus_core_source gus_oracle_source_of_branch(struct gus_oracle_branch *o);
void gus_oracle_branch_end(struct gus_oracle_branch *o);

struct gus_core_memory gus_oracle_memory_of_rates(struct gus_rates *r);
struct gus_core_branch gus_oracle_branch_of_rates(struct gus_rates *r);

#endif
