/* SPDX-License-Identifier: MIT */
/* The data caches and TLBs of one core: which level an access hits, what it throws out, what the prefetchers bring in.
 *
 *	access -> DTLB -> STLB -> walk
 *	       -> L1 -> L2 -> L3 -> memory      (a line that is found goes up, what it throws out goes down)
 *
 * It knows no cycles of its own: the caller says what time it is, in the unit of the latencies of the configuration,
 * and a line that was asked for is on its way until its latency is over. Addresses are taken as they are, virtual or
 * not, as what the sets are chosen by; slices of L3 are not modelled. Bandwidth and the number of lines in flight
 * belong to the engines.
 *
 * Caches allocate on writes and write back. Replacement: model/oracles/sets.h. A level holds, beside what the levels
 * before it hold (inclusion),
 *
 *	none       what was filled through it; what goes out of it may stay above, dirty lines from above are put in
 *	inclusive  all of that: what goes out of it goes out above as well
 *	exclusive  none of what the level before it holds: it gets what goes out there, and gives up what is found in it
 *
 * A window of a run begins with empty caches. A miss in a set that has not been filled yet might have been a hit if the
 * window had begun earlier, so an answer has two ends, and counts have how many of the misses are of this kind
 * ("unknown"). */
#ifndef GUS_MODEL_ORACLES_CACHE_H
#define GUS_MODEL_ORACLES_CACHE_H

#include "model/machine/steps.h"
#include "model/oracles/sets.h"
#include "model/tables/policies.h"

struct gus_uarch;

enum { GUS_CACHE_LEVELS = 3 };

struct gus_cache_level {
	uint64_t bytes;                 /* 0: there is none */
	uint32_t ways;
	enum gus_replacement replacement;
	enum gus_inclusion inclusion;   /* of L2 and L3 */
	uint32_t latency;               /* of L2 and L3: from the request until the line is in L1 */
};

struct gus_tlb_size { uint32_t entries, ways; };    /* 0 entries: there is none */

struct gus_cache_config {
	uint32_t line_size, page_size, huge_size;       /* bytes, powers of two */
	struct gus_cache_level level[GUS_CACHE_LEVELS];
	uint32_t memory_latency;
	/* True LRU. Without stores of their own they share dtlb, without huge huge pages share the entries of the
	 * others; the second one has both sizes of page if stlb_huge. */
	struct gus_tlb_size dtlb, dtlb_store, dtlb_huge, stlb;
	bool stlb_huge;
	/* Prefetchers, each idle at 0. They stay inside 4 KiB. */
	uint32_t l1d_next_line;         /* lines that follow a miss, or the first use of a prefetched line */
	uint32_t l1d_strides;           /* instructions whose stride is followed (a power of two) */
	uint32_t l1d_stride_ahead;      /* strides that it asks ahead */
	uint32_t l2_next_line;          /* as of L1, of what asks L2 */
	/* For machines that no table describes: where of the last 256 lines that the prefetchers of a level have asked
	 * for fewer than one in so many was used, they ask for none of the next 256, and then try again. 0: they never
	 * stop. */
	uint32_t prefetch_throttle;
	/* The level (enum gus_hit) that all memory of the program fits into, so that what is touched for the first time
	 * since the beginning is there at the latest: gus_cache_holding. GUS_HIT_L1: there is none. */
	uint8_t holds_all;
};

/* The nearest level beyond L1 of which so many bytes take at most half, as others are in it, too; GUS_HIT_L1 if there
 * is none, or if bytes are 0, which is not known. */
uint8_t gus_cache_holding(const struct gus_cache_config *c, uint64_t bytes);

/* What a table says; where it is silent, round figures that are nobody's (cache.c has them). */
void gus_cache_config_of(struct gus_cache_config *c, const struct gus_uarch *u);

enum gus_cache_asker { GUS_CACHE_DEMAND, GUS_CACHE_PREFETCH, GUS_CACHE_CODE, GUS_CACHE_ASKERS };
struct gus_cache_counts {
	/* Lines looked up. Those of L2 by demand are the misses of L1 by demand, and so on down. */
	uint64_t accesses[GUS_CACHE_ASKERS], hits[GUS_CACHE_ASKERS], misses[GUS_CACHE_ASKERS];
	uint64_t unknown;               /* of the misses by demand: hits, perhaps, if the caches had been warm */
	uint64_t pending;               /* of the hits by demand: the line was still on its way */
	uint64_t used, late, wasted;    /* prefetched lines: first used by demand; then still to come; gone unused */
	/* Lines: put in; out for another; out with a lower level's; moved up. */
	uint64_t filled, evicted, invalidated, given;
	uint64_t dirty_in, dirty_out;   /* written back into it, and out of it */
};
struct gus_tlb_counts { uint64_t accesses, hits, misses, unknown; };
struct gus_cache_total {
	struct gus_cache_counts level[GUS_CACHE_LEVELS];
	uint64_t memory_reads[GUS_CACHE_ASKERS], memory_writes; /* lines */
	struct gus_tlb_counts dtlb, stlb, stlb_code;
	uint64_t requests, line_splits, page_splits;            /* accesses as they came; of two lines; of two pages */
};

struct gus_cache_access {
	uint64_t address, now;
	uint32_t bytes;
	uint32_t id;                    /* of the instruction, for the stride prefetcher */
	bool store;
};
struct gus_cache_answer {
	uint8_t level, level_if_warm;   /* enum gus_hit: the window as it is, and the nearest that it might have been */
	uint8_t tlb, tlb_if_warm;       /* enum gus_tlb */
	bool pending;                   /* in L1, or on its way there: wait says until when */
	uint32_t wait, wait_if_warm;    /* from now until the line is in L1; 0: it is */
	struct gus_op_beside beside, beside_if_warm; /* as the window is; without what may have been there before it */
};

struct gus_cache;
/* NULL with err if the configuration makes no caches. One thread at a time. */
struct gus_cache *gus_cache_new(const struct gus_cache_config *config, struct gus_error *err);
void gus_cache_free(struct gus_cache *c);
/* From here to there (not included) lie huge pages. */
void gus_cache_huge_pages(struct gus_cache *c, uint64_t from, uint64_t to);
/* One access, of all lines that it touches; of several the answers farthest away. */
void gus_cache_access(struct gus_cache *c, const struct gus_cache_access *access, struct gus_cache_answer *answer);
/* Code: a line that L1 for instructions has not, from L2 on; a page that its TLB has not, in the second TLB. They share
 * these with data, and are counted apart; of the answer level and wait, or tlb, are told, and not what it brings along.
 * An exclusive L2 has no code, as what goes out of L1 for instructions is not followed. */
void gus_cache_code_line(struct gus_cache *c, uint64_t address, uint64_t now, struct gus_cache_answer *answer);
void gus_cache_code_page(struct gus_cache *c, uint64_t address, struct gus_cache_answer *answer);
const struct gus_cache_total *gus_cache_totals(const struct gus_cache *c);
const struct gus_cache_config *gus_cache_config(const struct gus_cache *c);
/* Begins to count anew and leaves the contents as they are: what came before was the warm-up. */
void gus_cache_count_anew(struct gus_cache *c);
/* Whether a level holds the line of an address; for tests of invariants. */
bool gus_cache_holds(const struct gus_cache *c, unsigned level, uint64_t address);

#endif
