/* SPDX-License-Identifier: MIT */
/* What golden machines do that no table can say, as hooks of the core engine and as settings of caches and predictor.
 * Each machine has at least two of these, and at most one of those that are about the same thing.
 *
 * Besides what a machine is, a run may be stressed by what goes on around it, which are two more hooks. No machine is
 * drawn with these; who wants to know what an attribution is worth under stress adds them. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_TRAITS_H
#define GUS_TESTS_ACCURACY_GOLDEN_TRAITS_H

#include <stdint.h>

#include "model/machine/hooks.h"

struct gus_branch_config;
struct gus_cache_config;
struct gus_core_config;

enum golden_trait {
	GOLDEN_REPLAY,          /* what waits for a load goes as if it hit, and again when it did not */
	GOLDEN_LOAD_PARTS,      /* the load buffer is two, for even and for odd lines */
	GOLDEN_LATE_TRAINING,   /* the predictor learns of a branch when many more have been predicted */
	GOLDEN_BANKS,           /* memory has banks with open rows, and is refreshed */
	GOLDEN_HEAVY_TAIL,      /* some lines of memory take three times as long */
	GOLDEN_SLICES,          /* L3 is nearer for some lines than for others */
	GOLDEN_SHARED_WALKER,   /* somebody else walks pages, too; upper levels of the table are cached */
	GOLDEN_THROTTLED,       /* prefetchers stop while what they bring goes unused */
	GOLDEN_COMMIT_GROUPS,   /* what was issued in one cycle retires in one, and nothing else with it */
	GOLDEN_UNEVEN_PORT,     /* results of one port come a cycle later */
	GOLDEN_COLD_PORT,       /* a port that was idle for long takes some cycles to wake */
	GOLDEN_TRAITS,
	GOLDEN_BURSTS = GOLDEN_TRAITS, /* data beyond L1 take four times as long in bursts, and less between them */
	GOLDEN_NEIGHBOUR        /* in stretches somebody has the other thread of the core, and issue slots and ports */
};
extern const char *const golden_trait_names[GOLDEN_TRAITS];

struct golden_traits;
struct golden_traits *golden_traits_none(void);
struct golden_traits *golden_traits_draw(uint64_t seed, const struct gus_core_config *c);
/* The same as another has, for another thread. */
struct golden_traits *golden_traits_again(const struct golden_traits *t);
/* Those given, as bits: for tests. */
struct golden_traits *golden_traits_of(uint32_t bits, uint64_t seed, const struct gus_core_config *c);
void golden_traits_free(struct golden_traits *t);
/* 1 << enum golden_trait. */
uint32_t golden_traits_bits(const struct golden_traits *t);
/* Those of caches and predictor. */
void golden_traits_function(const struct golden_traits *t, struct gus_branch_config *predictor,
			    struct gus_cache_config *caches);
/* Those of the engine; NULL if there are none. As long as the traits are there. */
const struct gus_core_hooks *golden_traits_hooks(const struct golden_traits *t);

#endif
