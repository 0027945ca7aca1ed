/* SPDX-License-Identifier: MIT */
/* Counters of a performance monitoring unit, of a run of the core engine: AMD's commit states, slots by what became of
 * them (top-down), events that are counted but not sampled. They count what the listener is told, all of it; and they
 * are read as a tool can have them, so many at a time: groups take turns, and what a group has counted is scaled up.
 *
 * Sources: AMD's EX_NO_RETIRE (PPR of family 19h model 11h, PMCx0D6); A. Yasin, "A Top-Down Method for Performance
 * Analysis and Counters Architecture" (ISPASS 2014) for slots. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_COUNTERS_H
#define GUS_TESTS_ACCURACY_GOLDEN_COUNTERS_H

#include "base/alloc.h"
#include "model/machine/options.h"

struct gus_program;

enum golden_counter {
	GOLDEN_CYCLES, GOLDEN_INSTRUCTIONS,
	/* AMD: cycles without retirement, and why. */
	GOLDEN_NO_RETIRE, GOLDEN_NO_RETIRE_EMPTY, GOLDEN_NO_RETIRE_NOT_COMPLETE, GOLDEN_NO_RETIRE_LOAD,
	GOLDEN_STORE_QUEUE_STALL,
	/* Slots: issue_width a cycle. */
	GOLDEN_SLOTS, GOLDEN_SLOTS_ISSUED, GOLDEN_SLOTS_WRONG, GOLDEN_SLOTS_RETIRED, GOLDEN_SLOTS_FRONT,
	GOLDEN_SLOTS_BACK, GOLDEN_SLOTS_RECOVERY,
	/* Events of what retired. */
	GOLDEN_MISPREDICTED, GOLDEN_MEMORY_ORDER, GOLDEN_SERIALISED, GOLDEN_CODE_MISSES, GOLDEN_CODE_TLB_MISSES,
	GOLDEN_L1_MISSES, GOLDEN_TLB_MISSES, GOLDEN_LLC_MISSES, GOLDEN_COUNTERS
};
extern const char *const golden_counter_names[GOLDEN_COUNTERS];

/* A group is counted at the same time; no more than the hardware has counters. */
enum { GOLDEN_GROUPS = 3, GOLDEN_GROUP_MOST = 6 };
struct golden_group { const char *name; uint8_t counters[GOLDEN_GROUP_MOST]; unsigned n; };
extern const struct golden_group golden_groups[GOLDEN_GROUPS];

/* What was counted in one turn of the group "topdown", or in several that were added up. */
struct golden_turn { uint64_t counted[GOLDEN_COUNTERS]; };

struct golden_counters {
	const struct gus_program *p;
	uint32_t width;
	uint64_t count[GOLDEN_COUNTERS];
	uint64_t cycle;                 /* which group counts depends on it */
	/* What groups have counted, and for how long. */
	uint64_t begun[GOLDEN_COUNTERS], counted[GOLDEN_COUNTERS], running[GOLDEN_GROUPS];
	struct gus_vec(struct golden_turn) turns; /* one for each that is over */
};
/* Cycles of a turn. */
uint64_t golden_turn_cycles(void);
void golden_counters_begin(struct golden_counters *c, const struct gus_program *p, uint32_t issue_width);
void golden_counters_end(struct golden_counters *c);
void golden_counters_cycle(struct golden_counters *c, const struct gus_core_cycle *cycle);
void golden_counters_retire(struct golden_counters *c, const struct gus_core_retired *op);
/* As a tool would read it that has the groups take turns: scaled by the share of the time for which it ran. 0 of what
 * is in no group. */
double golden_counters_read(const struct golden_counters *c, enum golden_counter counter);

#endif
