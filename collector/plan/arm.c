/* SPDX-License-Identifier: MIT */
/* Arm's cores for servers: six counters (of those whose maker may give them more, N2 and N3, the fewest) and one for
 * cycles, and the Statistical Profiling Extension beside them.
 * Events are the architecture's (DDI 0487); which a core has is in its TRM, as data github.com/ARM-software/data. */
#include "collector/plan/rows.h"

#define N1 "ARM-software/data, neoverse-n1"
#define N2 "ARM-software/data, neoverse-n2"
#define V1 "ARM-software/data, neoverse-v1"
#define V2 "ARM-software/data, neoverse-v2"
#define N3 "ARM-software/data, neoverse-n3"
#define V3 "ARM-software/data, neoverse-v3"
#define SPE "DDI 0487, D17; Linux, drivers/perf/arm_spe_pmu.c"

static const char walks_only[] = "walks, not hits in the second TLB";

/* Operations that retired (event_filter), with times of the generic timer and a period that the hardware varies. It
 * counts operations, not cycles. */
#define SPE_RECORDS \
	{ "arm_spe", 1 | 1 << 16, 1 << 1, OP, FL_MB | FL_EX | ST_L1 | ST_TLB | ST_LLC, 0, 0, 0, FREE, 0, 65536, SPE, \
	  .unit = GUS_PLAN_ON_SPE, .limit = walks_only, .limit_of = ST_TLB }

#define HEIGHTS(source) { "CPU_CYCLES", 0x11, 0, HEIGHT, 0, TO5, FIXED(0), 0, FREE, 0, 0, source }
#define STALL_SLOTS(source) \
	{ "STALL_SLOT", 0x3f, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "STALL_SLOT_FRONTEND", 0x3e, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "STALL_SLOT_BACKEND", 0x3d, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "OP_RETIRED", 0x3a, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "OP_SPEC", 0x3b, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }
/* What is lost behind a mispredicted branch is estimated by their number, until a core counts the cycles itself. */
#define MISPREDICTED(source) { "BR_MIS_PRED", 0x10, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }
#define FLUSHES(source) { "STALL_FRONTEND_FLUSH", 0x8162, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }
#define RATES(source) \
	{ "INST_RETIRED", 0x08, 0, RATE, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "L1I_CACHE_REFILL", 0x01, 0, RATE, DR_L1, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "L1I_TLB_REFILL", 0x02, 0, RATE, DR_TLB, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "ITLB_WALK", 0x35, 0, RATE, DR_TLB, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "EXC_TAKEN", 0x09, 0, RATE, FL_EX, TO5, 0, 0, FREE, 0, 0, source }

/* Without slots there is only which cycles nothing was dispatched in. Before r4p1 its records are of targets of
 * branches too often (erratum 1694299). */
static const struct gus_plan_row neoverse_n1[] = {
	HEIGHTS(N1),
	{ "STALL_FRONTEND", 0x23, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, N1 },
	{ "STALL_BACKEND", 0x24, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, N1 },
	SPE_RECORDS,
	RATES(N1),
};
#define BESIDE_MISPREDICTED(source) \
	{ HEIGHTS(source), STALL_SLOTS(source), MISPREDICTED(source), SPE_RECORDS, RATES(source) }
#define BESIDE_FLUSHES(source) { HEIGHTS(source), STALL_SLOTS(source), FLUSHES(source), SPE_RECORDS, RATES(source) }
static const struct gus_plan_row neoverse_n2[] = BESIDE_MISPREDICTED(N2);
static const struct gus_plan_row neoverse_v1[] = BESIDE_MISPREDICTED(V1);
static const struct gus_plan_row neoverse_v2[] = BESIDE_MISPREDICTED(V2);
static const struct gus_plan_row neoverse_n3[] = BESIDE_FLUSHES(N3);
static const struct gus_plan_row neoverse_v3[] = BESIDE_FLUSHES(V3);

#define ROWS(table) .rows = (table), .n = COUNT(table)
#define WITH_SPE (GUS_PLAN_IN(GUS_PLAN_SPE) | GUS_PLAN_IN(GUS_PLAN_TIMER))

/* The watchdog, where a kernel has one here (pseudo-NMI), counts cycles, too. */
#define WATCHDOG .watchdog_counters = TO5, .watchdog_fixed = FIXED(0)

const struct gus_plan_core gus_plan_neoverse_n1 = {
	.name = "neoverse-n1", .title = "Neoverse N1", .threads = 1, .general_smt = 6, .general = 6, .fixed = 1,
	.slots = 4, .modes = WITH_SPE, WATCHDOG, ROWS(neoverse_n1),
};
const struct gus_plan_core gus_plan_neoverse_n2 = {
	.name = "neoverse-n2", .title = "Neoverse N2", .threads = 1, .general_smt = 6, .general = 6, .fixed = 1,
	.slots = 5, .modes = WITH_SPE, WATCHDOG, ROWS(neoverse_n2),
};
const struct gus_plan_core gus_plan_neoverse_v1 = {
	.name = "neoverse-v1", .title = "Neoverse V1", .threads = 1, .general_smt = 6, .general = 6, .fixed = 1,
	.slots = 8, .modes = WITH_SPE, WATCHDOG, ROWS(neoverse_v1),
};
const struct gus_plan_core gus_plan_neoverse_v2 = {
	.name = "neoverse-v2", .title = "Neoverse V2", .threads = 1, .general_smt = 6, .general = 6, .fixed = 1,
	.slots = 8, .modes = WITH_SPE, WATCHDOG, ROWS(neoverse_v2),
};
const struct gus_plan_core gus_plan_neoverse_n3 = {
	.name = "neoverse-n3", .title = "Neoverse N3", .threads = 1, .general_smt = 6, .general = 6, .fixed = 1,
	.slots = 5, .modes = WITH_SPE, WATCHDOG, ROWS(neoverse_n3),
};
const struct gus_plan_core gus_plan_neoverse_v3 = {
	.name = "neoverse-v3", .title = "Neoverse V3", .threads = 1, .general_smt = 6, .general = 6, .fixed = 1,
	.slots = 10, .modes = WITH_SPE, WATCHDOG, ROWS(neoverse_v3),
};
