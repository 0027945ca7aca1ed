/* SPDX-License-Identifier: MIT */
/* Intel's cores. Encodings move between cores, so no table is shared where one did (FRONTEND_RETIRED has umask 1 up
 * to Golden Cove and 3 from Redwood Cove on; INT_MISC went from 0x0d to 0xad), and what is the same stands in each.
 *
 * Encodings and periods are those of Intel's event lists (github.com/intel/perfmon), counters those of the kernel's
 * constraints (arch/x86/events/intel/core.c and ds.c, 6.12), which the kernel puts into force. A precise event may
 * be on fewer counters than the same event counted: what stands here is for the level that is asked for. */
#include "collector/plan/rows.h"

#define SKX "perfmon SKX"
#define ICX "perfmon ICX"
#define SPR "perfmon SPR"
#define GNR "perfmon GNR"
#define LNL "perfmon LNL"
#define ADL "perfmon ADL, Gracemont"
#define SKT "perfmon LNL, Skymont"
#define KERNEL "Linux, intel/core.c"

#define ON(mode) .modes = GUS_PLAN_IN(GUS_PLAN_##mode)

static const char taken_only[] = "branches that were taken";
static const char of_both[] = "half of it is this thread's; the kernel gives it to who may watch whole CPUs";
static const char behind[] = "its samples are of the instruction behind the branch";
static const char walks_only[] = "misses of the second TLB, not hits in it";

/* Shares of the slots that the core computes itself, from Ice Lake on, and of more kinds from Golden Cove on: they
 * are read out of a register beside the counter of slots, which must lead. They take no counter. */
#define METRIC(name, config) { name, config, 0, SLOTS, 0, 0, 0, 0, FREE, 0, 0, KERNEL, .led_by = "TOPDOWN.SLOTS" }
#define METRICS \
	{ "TOPDOWN.SLOTS", 0x0400, 0, SLOTS, 0, 0, FIXED(3), 0, FREE, 0, 0, KERNEL }, \
	METRIC("TOPDOWN.RETIRING", 0x8000), METRIC("TOPDOWN.BAD_SPEC", 0x8100), \
	METRIC("TOPDOWN.FE_BOUND", 0x8200), METRIC("TOPDOWN.BE_BOUND", 0x8300)
#define MORE_METRICS \
	METRIC("TOPDOWN.HEAVY_OPS", 0x8400), METRIC("TOPDOWN.BR_MISPREDICT", 0x8500), \
	METRIC("TOPDOWN.FETCH_LAT", 0x8600), METRIC("TOPDOWN.MEM_BOUND", 0x8700)

/* Level 3 of cycles is INST_RETIRED.PREC_DIST in disguise (intel_pebs_aliases_skl), which only counter 1 counts.
 *
 * Two threads share a core's slots, and this core does not count them: half of the cycles of the core, and half of
 * those in which it recovers, are a thread's (Intel's TMA, CORE_CLKS and Recovery_Bubbles with SMT on). Both are
 * counted with the bit AnyThread, which counts what the other thread does, too, whosever that is; so the kernel lets
 * nobody count them who may not watch whole CPUs (perf_allow_cpu in intel_pmu_hw_config). */
static const struct gus_plan_row skylake[] = {
	{ "CPU_CLK_UNHALTED.THREAD", 0x3c, 0, HEIGHT, FL_MB, 1 << 1, 0, 3, FREE, BRANCHES, 0, SKX,
	  .limit = taken_only },
	{ "INST_RETIRED.ANY", 0xc0, 0, TOTAL, 0, TO7, FIXED(0), 0, FREE, 0, 0, SKX },
	{ "IDQ_UOPS_NOT_DELIVERED.CORE", 0x019c, 0, SLOTS, 0, TO7, 0, 0, FREE, 0, 0, SKX },
	{ "UOPS_RETIRED.RETIRE_SLOTS", 0x02c2, 0, SLOTS, 0, TO7, 0, 0, FREE, 0, 0, SKX },
	{ "UOPS_ISSUED.ANY", 0x010e, 0, SLOTS, 0, TO7, 0, 0, FREE, 0, 0, SKX },
	{ "INT_MISC.RECOVERY_CYCLES", 0x010d, 0, SLOTS, 0, TO7, 0, 0, FREE, 0, 0, SKX, .threads = GUS_PLAN_ONE_THREAD },
	{ "INT_MISC.RECOVERY_CYCLES_ANY", 0x20010d, 0, SLOTS, 0, TO7, 0, 0, FREE, 0, 0, SKX,
	  .threads = GUS_PLAN_TWO_THREADS, .limit = of_both },
	{ "CPU_CLK_UNHALTED.THREAD_ANY", 0x20003c, 0, SLOTS, 0, TO7, FIXED(1), 0, FREE, 0, 0, SKX,
	  .threads = GUS_PLAN_TWO_THREADS, .limit = of_both },
	{ "FRONTEND_RETIRED.L1I_MISS", 0x01c6, 0x12, SPLIT, DR_L1, TO3, 0, 2, MISS, 0, 100007, SKX },
	{ "FRONTEND_RETIRED.ITLB_MISS", 0x01c6, 0x14, SPLIT, DR_TLB, TO3, 0, 2, MISS, 0, 100007, SKX },
	{ "FRONTEND_RETIRED.STLB_MISS", 0x01c6, 0x15, SPLIT, DR_TLB, TO3, 0, 2, MISS, 0, 100007, SKX },
	{ "MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 3, DATA, ST_L1 | ST_TLB | ST_LLC, TO3, 0, 2, LATENCY, WEIGHED,
	  100003,
	  SKX, .limit = walks_only, .limit_of = ST_TLB },
	{ "MEM_INST_RETIRED.ALL_STORES", 0x82d0, 0, DATA, 0, TO3, 0, 2, FREE, WHERE, 2000003, SKX },
	{ "MEM_LOAD_RETIRED.L1_MISS", 0x08d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 100003, SKX },
	{ "MEM_LOAD_RETIRED.FB_HIT", 0x40d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 100007, SKX },
	{ "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, SPLIT, ST_LLC, TO3, 0, 2, FREE, WHERE, 100007, SKX },
	{ "MEM_INST_RETIRED.STLB_MISS_LOADS", 0x11d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, SKX,
	  .limit = walks_only },
	{ "MEM_INST_RETIRED.STLB_MISS_STORES", 0x12d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, SKX,
	  .limit = walks_only },
	{ "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", 0x04c5, 0, SPLIT, FL_MB, TO3, 0, 2, FREE, 0, 400009, SKX },
	{ "INT_MISC.CLEAR_RESTEER_CYCLES", 0x800d, 0, RATE, FL_MB, TO7, 0, 0, FREE, 0, 0, SKX },
	{ "RESOURCE_STALLS.SB", 0x08a2, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, SKX },
	{ "EXE_ACTIVITY.BOUND_ON_STORES", 0x40a6, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, SKX },
	{ "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, RATE, FL_MO, TO7, 0, 0, FREE, 0, 0, SKX },
	{ "OTHER_ASSISTS.ANY", 0x3fc1, 0, RATE, FL_EX, TO7, 0, 0, FREE, 0, 0, SKX },
};

/* Every event may be precise, and cycles may be on the fixed counter; level 3 is taken and is no better than 2. */
static const struct gus_plan_row sunny_cove[] = {
	{ "CPU_CLK_UNHALTED.THREAD", 0x3c, 0, HEIGHT, FL_MB, TO7, FIXED(1), 3, FREE, BRANCHES, 0, ICX,
	  .limit = taken_only },
	{ "INST_RETIRED.ANY", 0xc0, 0, TOTAL, 0, TO7, FIXED(0), 0, FREE, 0, 0, ICX },
	METRICS,
	{ "FRONTEND_RETIRED.L1I_MISS", 0x01c6, 0x12, SPLIT, DR_L1, TO7, 0, 2, MISS, 0, 100007, ICX },
	{ "FRONTEND_RETIRED.ITLB_MISS", 0x01c6, 0x14, SPLIT, DR_TLB, TO7, 0, 2, MISS, 0, 100007, ICX },
	{ "FRONTEND_RETIRED.STLB_MISS", 0x01c6, 0x15, SPLIT, DR_TLB, TO7, 0, 2, MISS, 0, 100007, ICX },
	{ "MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 3, DATA, ST_L1 | ST_TLB | ST_LLC, TO7, 0, 2, LATENCY, WEIGHED,
	  100003,
	  ICX, .limit = walks_only, .limit_of = ST_TLB },
	{ "MEM_INST_RETIRED.ALL_STORES", 0x82d0, 0, DATA, 0, TO3, 0, 2, FREE, WHERE, 1000003, ICX },
	{ "MEM_LOAD_RETIRED.L1_MISS", 0x08d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 200003, ICX },
	{ "MEM_LOAD_RETIRED.FB_HIT", 0x40d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 100007, ICX },
	{ "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, SPLIT, ST_LLC, TO3, 0, 2, FREE, WHERE, 50021, ICX },
	{ "MEM_INST_RETIRED.STLB_MISS_LOADS", 0x11d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, ICX,
	  .limit = walks_only },
	{ "MEM_INST_RETIRED.STLB_MISS_STORES", 0x12d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, ICX,
	  .limit = walks_only },
	{ "BR_MISP_RETIRED.ALL_BRANCHES", 0x00c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 50021, ICX },
	{ "BR_MISP_RETIRED.COND_NTAKEN", 0x10c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 50021, ICX },
	{ "INT_MISC.CLEAR_RESTEER_CYCLES", 0x800d, 0, RATE, FL_MB, TO7, 0, 0, FREE, 0, 0, ICX },
	{ "RESOURCE_STALLS.SB", 0x08a2, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, ICX },
	{ "EXE_ACTIVITY.BOUND_ON_STORES", 0x020040a6, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, ICX },
	{ "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, RATE, FL_MO, TO7, 0, 0, FREE, 0, 0, ICX },
	{ "ASSISTS.ANY", 0x07c1, 0, RATE, FL_EX, TO7, 0, 0, FREE, 0, 0, ICX },
};

/* Since Golden Cove level 3 means precise distribution, which counter 0 alone has: what else wants it (STORE_SAMPLE)
 * goes without. Events below 0x90 are on the first four. */
static const struct gus_plan_row golden_cove[] = {
	{ "CPU_CLK_UNHALTED.THREAD", 0x3c, 0, HEIGHT, FL_MB, 1 << 0, 0, 3, FREE, BRANCHES, 0, SPR,
	  .limit = taken_only },
	{ "INST_RETIRED.ANY", 0xc0, 0, TOTAL, 0, TO7, FIXED(0), 0, FREE, 0, 0, SPR },
	METRICS,
	MORE_METRICS,
	{ "FRONTEND_RETIRED.L1I_MISS", 0x01c6, 0x12, SPLIT, DR_L1, TO7, 0, 2, MISS, 0, 100007, SPR },
	{ "FRONTEND_RETIRED.ITLB_MISS", 0x01c6, 0x14, SPLIT, DR_TLB, TO7, 0, 2, MISS, 0, 100007, SPR },
	{ "FRONTEND_RETIRED.STLB_MISS", 0x01c6, 0x15, SPLIT, DR_TLB, TO7, 0, 2, MISS, 0, 100007, SPR },
	/* The kernel refuses the data source without it (ENODATA, intel_pmu_hw_config). */
	{ "MEM_LOADS_AUX", 0x8203, 0, LEADER, 0, TO3, 0, 0, FREE, 0, 0, KERNEL },
	{ "MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 3, DATA, ST_L1 | ST_TLB | ST_LLC, TO7 & ~1, 0, 2, LATENCY,
	  WEIGHED,
	  100003, SPR, .led_by = "MEM_LOADS_AUX", .limit = walks_only, .limit_of = ST_TLB },
	{ "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x02cd, 0, DATA, 0, 1 << 0, 0, 2, FREE, WEIGHED, 1000003, SPR },
	{ "MEM_INST_RETIRED.ALL_STORES", 0x82d0, 0, DATA, 0, TO3, 0, 2, FREE, WHERE, 1000003, SPR },
	{ "MEM_LOAD_RETIRED.L1_MISS", 0x08d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 200003, SPR },
	{ "MEM_LOAD_RETIRED.FB_HIT", 0x40d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 100007, SPR },
	{ "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, SPLIT, ST_LLC, TO3, 0, 2, FREE, WHERE, 50021, SPR },
	{ "MEM_INST_RETIRED.STLB_MISS_LOADS", 0x11d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, SPR,
	  .limit = walks_only },
	{ "MEM_INST_RETIRED.STLB_MISS_STORES", 0x12d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, SPR,
	  .limit = walks_only },
	{ "BR_MISP_RETIRED.ALL_BRANCHES", 0x00c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 400009, SPR },
	{ "BR_MISP_RETIRED.COND_NTAKEN", 0x10c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 400009, SPR },
	{ "INT_MISC.CLEAR_RESTEER_CYCLES", 0x80ad, 0, RATE, FL_MB, TO7, 0, 0, FREE, 0, 0, SPR },
	{ "RESOURCE_STALLS.SB", 0x08a2, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, SPR },
	{ "EXE_ACTIVITY.BOUND_ON_STORES", 0x020040a6, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, SPR },
	{ "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, RATE, FL_MO, TO7, 0, 0, FREE, 0, 0, SPR },
	{ "ASSISTS.ANY", 0x1bc1, 0, RATE, FL_EX, TO7, 0, 0, FREE, 0, 0, SPR },
	{ "ASSISTS.PAGE_FAULT", 0x08c1, 0, RATE, FL_EX, TO7, 0, 0, FREE, 0, 0, SPR },
};

/* PEBS records say how long since the retirement before. A *_COST event fires on the instruction behind the
 * mispredicted branch, so what its record says is what the misprediction took. */
static const struct gus_plan_row redwood_cove[] = {
	{ "CPU_CLK_UNHALTED.THREAD", 0x3c, 0, HEIGHT, FL_MB, 1 << 0, 0, 3, FREE, BRANCHES, 0, GNR,
	  .limit = taken_only },
	{ "INST_RETIRED.ANY", 0xc0, 0, TOTAL, 0, TO7, FIXED(0), 0, FREE, 0, 0, GNR },
	METRICS,
	MORE_METRICS,
	{ "FRONTEND_RETIRED.L1I_MISS", 0x03c6, 0x12, SPLIT, DR_L1, TO7, 0, 2, MISS, 0, 100007, GNR },
	{ "FRONTEND_RETIRED.ITLB_MISS", 0x03c6, 0x14, SPLIT, DR_TLB, TO7, 0, 2, MISS, 0, 100007, GNR },
	{ "FRONTEND_RETIRED.STLB_MISS", 0x03c6, 0x15, SPLIT, DR_TLB, TO7, 0, 2, MISS, 0, 100007, GNR },
	{ "MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 3, DATA, ST_L1 | ST_TLB | ST_LLC, TO7 & ~1, 0, 2, LATENCY,
	  WEIGHED,
	  100003, GNR, .limit = walks_only, .limit_of = ST_TLB },
	{ "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x02cd, 0, DATA, 0, 1 << 0, 0, 2, FREE, WEIGHED, 1000003, GNR },
	{ "MEM_INST_RETIRED.ALL_STORES", 0x82d0, 0, DATA, 0, TO3, 0, 2, FREE, WHERE, 1000003, GNR },
	{ "MEM_LOAD_RETIRED.L1_MISS", 0x08d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 200003, GNR },
	{ "MEM_LOAD_RETIRED.FB_HIT", 0x40d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 100007, GNR },
	{ "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, SPLIT, ST_LLC, TO3, 0, 2, FREE, WHERE, 50021, GNR },
	{ "MEM_INST_RETIRED.STLB_HIT_LOADS", 0x09d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, GNR },
	{ "MEM_INST_RETIRED.STLB_MISS_LOADS", 0x11d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, GNR },
	{ "MEM_INST_RETIRED.STLB_HIT_STORES", 0x0ad0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, GNR },
	{ "MEM_INST_RETIRED.STLB_MISS_STORES", 0x12d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, GNR },
	{ "BR_MISP_RETIRED.ALL_BRANCHES", 0x00c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 400009, GNR, ON(PEBS) },
	{ "BR_MISP_RETIRED.COND_NTAKEN", 0x10c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 400009, GNR, ON(PEBS) },
	{ "BR_MISP_RETIRED.ALL_BRANCHES_COST", 0x44c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 400009, GNR, ON(TPEBS),
	  .limit = behind },
	{ "BR_MISP_RETIRED.COND_NTAKEN_COST", 0x50c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 400009, GNR, ON(TPEBS),
	  .limit = behind },
	{ "INT_MISC.CLEAR_RESTEER_CYCLES", 0x80ad, 0, RATE, FL_MB, TO7, 0, 0, FREE, 0, 0, GNR },
	{ "RESOURCE_STALLS.SB", 0x08a2, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, GNR },
	{ "EXE_ACTIVITY.BOUND_ON_STORES", 0x020040a6, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, GNR },
	{ "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, RATE, FL_MO, TO7, 0, 0, FREE, 0, 0, GNR },
	{ "ASSISTS.ANY", 0x1bc1, 0, RATE, FL_EX, TO7, 0, 0, FREE, 0, 0, GNR },
	{ "ASSISTS.PAGE_FAULT", 0x08c1, 0, RATE, FL_EX, TO7, 0, 0, FREE, 0, 0, GNR },
};

/* Ten counters, of which memory events are on the first four and loads with latency on the last eight. Precise
 * distribution is on the first two by Intel's list; the first is right whatever a kernel allows. */
static const struct gus_plan_row lion_cove[] = {
	{ "CPU_CLK_UNHALTED.THREAD", 0x3c, 0, HEIGHT, FL_MB, 1 << 0, 0, 3, FREE, BRANCHES, 0, LNL,
	  .limit = taken_only },
	{ "INST_RETIRED.ANY", 0xc0, 0, TOTAL, 0, TO9, FIXED(0), 0, FREE, 0, 0, LNL },
	METRICS,
	MORE_METRICS,
	{ "FRONTEND_RETIRED.L1I_MISS", 0x03c6, 0x12, SPLIT, DR_L1, TO9, 0, 2, MISS, 0, 100007, LNL },
	{ "FRONTEND_RETIRED.ITLB_MISS", 0x03c6, 0x14, SPLIT, DR_TLB, TO9, 0, 2, MISS, 0, 100007, LNL },
	{ "FRONTEND_RETIRED.STLB_MISS", 0x03c6, 0x15, SPLIT, DR_TLB, TO9, 0, 2, MISS, 0, 100007, LNL },
	{ "MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd, 3, DATA, ST_L1 | ST_TLB | ST_LLC, TO9 & ~3, 0, 2, LATENCY,
	  WEIGHED,
	  100003, LNL, .limit = walks_only, .limit_of = ST_TLB },
	{ "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x02cd, 0, DATA, 0, 3, 0, 2, FREE, WEIGHED, 1000003, LNL },
	{ "MEM_LOAD_RETIRED.L1_MISS", 0x08d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 200003, LNL },
	{ "MEM_LOAD_RETIRED.FB_HIT", 0x40d1, 0, SPLIT, ST_L1, TO3, 0, 2, FREE, WHERE, 100007, LNL },
	{ "MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0, SPLIT, ST_LLC, TO3, 0, 2, FREE, WHERE, 50021, LNL },
	{ "MEM_INST_RETIRED.STLB_HIT_LOADS", 0x09d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, LNL },
	{ "MEM_INST_RETIRED.STLB_MISS_LOADS", 0x11d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, LNL },
	{ "MEM_INST_RETIRED.STLB_HIT_STORES", 0x0ad0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, LNL },
	{ "MEM_INST_RETIRED.STLB_MISS_STORES", 0x12d0, 0, SPLIT, ST_TLB, TO3, 0, 2, FREE, WHERE, 100003, LNL },
	{ "BR_MISP_RETIRED.ALL_BRANCHES", 0x00c5, 0, SPLIT, FL_MB, TO9, 0, 2, FREE, 0, 400009, LNL, ON(PEBS) },
	{ "BR_MISP_RETIRED.COND_NTAKEN", 0x10c5, 0, SPLIT, FL_MB, TO9, 0, 2, FREE, 0, 400009, LNL, ON(PEBS) },
	{ "BR_MISP_RETIRED.ALL_BRANCHES_COST", 0x44c5, 0, SPLIT, FL_MB, TO9, 0, 2, FREE, 0, 400009, LNL, ON(TPEBS),
	  .limit = behind },
	{ "BR_MISP_RETIRED.COND_NTAKEN_COST", 0x50c5, 0, SPLIT, FL_MB, TO9, 0, 2, FREE, 0, 400009, LNL, ON(TPEBS),
	  .limit = behind },
	{ "INT_MISC.CLEAR_RESTEER_CYCLES", 0x80ad, 0, RATE, FL_MB, TO9, 0, 0, FREE, 0, 0, LNL },
	{ "EXE_ACTIVITY.BOUND_ON_STORES", 0x020040a6, 0, RATE, DR_SQ, TO9, 0, 0, FREE, 0, 0, LNL },
	{ "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, RATE, FL_MO, TO9, 0, 0, FREE, 0, 0, LNL },
	{ "ASSISTS.ANY", 0x1fc1, 0, RATE, FL_EX, TO9, 0, 0, FREE, 0, 0, LNL },
	{ "ASSISTS.PAGE_FAULT", 0x08c1, 0, RATE, FL_EX, TO9, 0, 0, FREE, 0, 0, LNL },
};

/* The small cores. Gracemont marks no instruction that its front end was late with; it only counts. */
static const struct gus_plan_row gracemont[] = {
	{ "CPU_CLK_UNHALTED.CORE", 0x3c, 0, HEIGHT, FL_MB, 1 << 0, 0, 3, FREE, BRANCHES, 0, ADL,
	  .limit = taken_only },
	{ "INST_RETIRED.ANY", 0xc0, 0, TOTAL, 0, TO5, FIXED(0), 0, FREE, 0, 0, ADL },
	{ "TOPDOWN_FE_BOUND.ALL", 0x0071, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "TOPDOWN_RETIRING.ALL", 0x00c2, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "TOPDOWN_BAD_SPECULATION.ALL", 0x0073, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "TOPDOWN_BE_BOUND.ALL", 0x0074, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "MEM_UOPS_RETIRED.LOAD_LATENCY", 0x05d0, 4, DATA, ST_L1 | ST_TLB | ST_LLC, 3, 0, 2, LATENCY, WEIGHED,
	  1000003,
	  ADL, .limit = walks_only, .limit_of = ST_TLB },
	{ "MEM_UOPS_RETIRED.STORE_LATENCY", 0x06d0, 0, DATA, 0, TO3, 0, 2, FREE, WEIGHED, 1000003, ADL },
	{ "MEM_LOAD_UOPS_RETIRED.L2_HIT", 0x02d1, 0, SPLIT, ST_L1, TO5, 0, 2, FREE, WHERE, 200003, ADL },
	{ "MEM_LOAD_UOPS_RETIRED.L3_HIT", 0x04d1, 0, SPLIT, ST_L1, TO5, 0, 2, FREE, WHERE, 200003, ADL },
	{ "MEM_LOAD_UOPS_RETIRED.DRAM_HIT", 0x80d1, 0, SPLIT, ST_L1 | ST_LLC, TO5, 0, 2, FREE, WHERE, 200003, ADL },
	{ "BR_MISP_RETIRED.ALL_BRANCHES", 0x00c5, 0, SPLIT, FL_MB, TO5, 0, 2, FREE, 0, 200003, ADL },
	{ "TOPDOWN_FE_BOUND.ICACHE", 0x2071, 0, RATE, DR_L1, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "TOPDOWN_FE_BOUND.ITLB", 0x1071, 0, RATE, DR_TLB, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "MEM_SCHEDULER_BLOCK.ST_BUF", 0x0104, 0, RATE, DR_SQ, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "MACHINE_CLEARS.PAGE_FAULT", 0x20c3, 0, RATE, FL_EX, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, RATE, FL_MO, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "MACHINE_CLEARS.DISAMBIGUATION", 0x08c3, 0, RATE, FL_MO, TO5, 0, 0, FREE, 0, 0, ADL },
	{ "DTLB_LOAD_MISSES.WALK_COMPLETED", 0x0e08, 0, RATE, ST_TLB, TO5, 0, 0, FREE, 0, 0, ADL,
	  .limit = walks_only },
};

/* Skymont does, and has fixed counters (4 to 6) for three of the four parts of top-down; it has none for slots (3):
 * intel_skt_event_constraints. */
static const struct gus_plan_row skymont[] = {
	{ "CPU_CLK_UNHALTED.CORE", 0x3c, 0, HEIGHT, FL_MB, 3, 0, 3, FREE, BRANCHES, 0, SKT, .limit = taken_only },
	{ "INST_RETIRED.ANY", 0xc0, 0, TOTAL, 0, TO7, FIXED(0), 0, FREE, 0, 0, SKT },
	{ "TOPDOWN_BAD_SPECULATION.ALL", 0x0073, 0, SLOTS, 0, TO7, FIXED(4), 0, FREE, 0, 0, KERNEL },
	{ "TOPDOWN_FE_BOUND.ALL", 0x019c, 0, SLOTS, 0, TO7, FIXED(5), 0, FREE, 0, 0, KERNEL },
	{ "TOPDOWN_RETIRING.ALL", 0x02c2, 0, SLOTS, 0, TO7, FIXED(6), 0, FREE, 0, 0, KERNEL },
	{ "TOPDOWN_BE_BOUND.ALL", 0x02a4, 0, SLOTS, 0, TO7, 0, 0, FREE, 0, 0, SKT },
	{ "FRONTEND_RETIRED.ICACHE", 0x20c6, 0, SPLIT, DR_L1, TO7, 0, 2, FREE, 0, 1000003, SKT },
	{ "FRONTEND_RETIRED.ITLB_MISS", 0x10c6, 0, SPLIT, DR_TLB, TO7, 0, 2, FREE, 0, 1000003, SKT },
	{ "MEM_UOPS_RETIRED.LOAD_LATENCY", 0x05d0, 4, DATA, ST_L1 | ST_TLB | ST_LLC, 3, 0, 2, LATENCY, WEIGHED,
	  200003,
	  SKT, .limit = walks_only, .limit_of = ST_TLB },
	{ "MEM_UOPS_RETIRED.STORE_LATENCY", 0x06d0, 0, DATA, 0, TO3, 0, 2, FREE, WEIGHED, 200003, SKT },
	{ "MEM_LOAD_UOPS_RETIRED.L1_MISS", 0x40d1, 0, SPLIT, ST_L1, TO7, 0, 2, FREE, WHERE, 1000003, SKT },
	{ "MEM_LOAD_UOPS_RETIRED.WCB_HIT", 0x20d1, 0, SPLIT, ST_L1, TO7, 0, 2, FREE, WHERE, 1000003, SKT },
	{ "MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM", 0x01d3, 0, SPLIT, ST_LLC, TO7, 0, 2, FREE, WHERE, 1000003,
	  SKT },
	{ "MEM_UOPS_RETIRED.STLB_MISS_LOADS", 0x11d0, 0, SPLIT, ST_TLB, TO7, 0, 2, FREE, WHERE, 200003, SKT,
	  .limit = walks_only },
	{ "MEM_UOPS_RETIRED.STLB_MISS_STORES", 0x12d0, 0, SPLIT, ST_TLB, TO7, 0, 2, FREE, WHERE, 200003, SKT,
	  .limit = walks_only },
	{ "BR_MISP_RETIRED.ALL_BRANCHES", 0x00c5, 0, SPLIT, FL_MB, TO7, 0, 2, FREE, 0, 200003, SKT },
	{ "MEM_SCHEDULER_BLOCK.ST_BUF", 0x0104, 0, RATE, DR_SQ, TO7, 0, 0, FREE, 0, 0, SKT },
	{ "MACHINE_CLEARS.PAGE_FAULT", 0x20c3, 0, RATE, FL_EX, TO7, 0, 0, FREE, 0, 0, SKT },
	{ "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, RATE, FL_MO, TO7, 0, 0, FREE, 0, 0, SKT },
	{ "MACHINE_CLEARS.DISAMBIGUATION", 0x08c3, 0, RATE, FL_MO, TO7, 0, 0, FREE, 0, 0, SKT },
};

#define ROWS(table) .rows = (table), .n = COUNT(table)
#define WITH_PEBS (GUS_PLAN_IN(GUS_PLAN_PEBS) | GUS_PLAN_IN(GUS_PLAN_LBR) | GUS_PLAN_IN(GUS_PLAN_TIMER))
#define WITH_TPEBS (WITH_PEBS | GUS_PLAN_IN(GUS_PLAN_TPEBS))

/* The watchdog counts cycles: on fixed counter 1 or on any other. */
#define WATCHDOG(counters) .watchdog_usual = true, .watchdog_counters = (counters), .watchdog_fixed = FIXED(1)

const struct gus_plan_core gus_plan_skylake = {
	.name = "skylake", .title = "Skylake", .threads = 2, .general_smt = 4, .general = 8, .fixed = 0x07,
	.slots = 4, .modes = WITH_PEBS, WATCHDOG(TO7), ROWS(skylake),
};
const struct gus_plan_core gus_plan_sunny_cove = {
	.name = "sunny-cove", .title = "Sunny Cove", .threads = 2, .general_smt = 8, .general = 8, .fixed = 0x0f,
	.slots = 5, .modes = WITH_PEBS, .large = true, WATCHDOG(TO7), ROWS(sunny_cove),
};
const struct gus_plan_core gus_plan_golden_cove = {
	.name = "golden-cove", .title = "Golden Cove", .threads = 2, .general_smt = 8, .general = 8, .fixed = 0x0f,
	.slots = 6, .modes = WITH_PEBS, .large = true, WATCHDOG(TO7), ROWS(golden_cove),
};
const struct gus_plan_core gus_plan_redwood_cove = {
	.name = "redwood-cove", .title = "Redwood Cove", .threads = 2, .general_smt = 8, .general = 8, .fixed = 0x0f,
	.slots = 6, .modes = WITH_TPEBS, .large = true, WATCHDOG(TO7), ROWS(redwood_cove),
};
const struct gus_plan_core gus_plan_lion_cove = {
	.name = "lion-cove", .title = "Lion Cove", .threads = 1, .general_smt = 10, .general = 10, .fixed = 0x0f,
	.slots = 8, .modes = WITH_TPEBS, .large = true, WATCHDOG(TO9), ROWS(lion_cove),
};
const struct gus_plan_core gus_plan_gracemont = {
	.name = "gracemont", .title = "Gracemont", .threads = 1, .general_smt = 6, .general = 6, .fixed = 0x07,
	.slots = 5, .modes = WITH_PEBS, .large = true, WATCHDOG(TO5), ROWS(gracemont),
};
const struct gus_plan_core gus_plan_skymont = {
	.name = "skymont", .title = "Skymont", .threads = 1, .general_smt = 8, .general = 8, .fixed = 0x77,
	.slots = 8, .modes = WITH_TPEBS, .large = true, WATCHDOG(TO7), ROWS(skymont),
};
