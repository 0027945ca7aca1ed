/* SPDX-License-Identifier: MIT */
/* What a sample says of its access to memory, in terms that Intel's, AMD's and Arm's records share, and the word of the
 * perf_event ABI that says the same: struct gus_sample, data_source. What is not told is zero everywhere. Pure.
 *
 * Source: perf_event_open(2) and linux/perf_event.h, union perf_mem_data_src, in all its generations. */
#ifndef GUS_PROTO_DATA_SOURCE_H
#define GUS_PROTO_DATA_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

enum gus_data_does {
	GUS_DATA_LOADS = 1 << 0,
	GUS_DATA_STORES = 1 << 1,
	GUS_DATA_PREFETCHES = 1 << 2,
	GUS_DATA_FETCHES = 1 << 3,    /* instructions */
};

/* Where the data were, from near to far. */
enum gus_data_level {
	GUS_DATA_LEVEL_UNKNOWN,
	GUS_DATA_L0,
	GUS_DATA_L1,
	GUS_DATA_LINE_BUFFER,         /* the line was on its way */
	GUS_DATA_L2,
	GUS_DATA_L2_MISS_BUFFER,
	GUS_DATA_CORE_CACHE,          /* a cache of another core: of its cluster, or if remote at least of its node */
	GUS_DATA_L3,                  /* or whichever is the last one of the cluster */
	GUS_DATA_L4,
	GUS_DATA_MEMORY_SIDE,         /* a cache of the memory's or of the system's */
	GUS_DATA_OTHER_CACHE,         /* a cache of another cluster, node or chip */
	GUS_DATA_ANY_CACHE,           /* which is not told */
	GUS_DATA_RAM,
	GUS_DATA_PERSISTENT,
	GUS_DATA_EXTENSION,           /* CXL and the like */
	GUS_DATA_IO,
	GUS_DATA_UNCACHED,
	GUS_DATA_LEVELS,
};

enum gus_data_snoop {
	GUS_DATA_SNOOP_UNKNOWN,
	GUS_DATA_SNOOP_NONE,
	GUS_DATA_SNOOP_MISS,
	GUS_DATA_SNOOP_HIT,
	GUS_DATA_SNOOP_FORWARD,       /* clean, from another cache */
	GUS_DATA_SNOOP_PEER,          /* from another cache; whether it was changed there is not told */
	GUS_DATA_SNOOP_MODIFIED,      /* HITM: another core had changed it */
};

enum gus_data_tlb {
	GUS_DATA_TLB_UNKNOWN,
	GUS_DATA_TLB_FIRST,
	GUS_DATA_TLB_SECOND,
	GUS_DATA_TLB_EITHER,          /* one of the two */
	GUS_DATA_TLB_WALK,
};

enum gus_data_blocked {
	GUS_DATA_BLOCKED_DATA = 1 << 0,    /* a store before it could not forward */
	GUS_DATA_BLOCKED_ADDRESS = 1 << 1, /* a store before it has the same low address */
};

struct gus_data_source {
	uint8_t does;                   /* enum gus_data_does */
	uint8_t level;                  /* enum gus_data_level */
	bool missed;                    /* it was looked for at that level, and not found */
	bool remote;                    /* not of this cluster; without hops of another socket or node */
	uint8_t hops;                   /* 1: of another core or cluster of the node, 2: node, 3: socket, 4: board */
	uint8_t snoop;                  /* enum gus_data_snoop */
	uint8_t tlb;                    /* enum gus_data_tlb */
	bool lock_told, locked;
	bool blocked_told;
	uint8_t blocked;                /* enum gus_data_blocked */
};

/* Of the ABI's word, and into one: 0 of what is no access. From a word and back is the same but for what no field here
 * has; into a word and back is the same. */
struct gus_data_source gus_data_source_of_kernel(uint64_t data_src);
uint64_t gus_data_source_word(const struct gus_data_source *d);

/* "L1", "another core's cache", for reports; never NULL. */
const char *gus_data_level_name(enum gus_data_level level);

#endif
