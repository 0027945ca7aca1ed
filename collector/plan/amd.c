/* SPDX-License-Identifier: MIT */
/* AMD's cores: six counters each, of which any counts any event, and IBS beside them. Names are the kernel's
 * (tools/perf/pmu-events/arch/x86/amdzen*), encodings those of the processor programming references as libpfm4 and
 * the kernel have them. Of a raw event the low 8 bits of its number are config's 7:0, the others 35:32. */
#include "collector/plan/rows.h"

#define ZEN2 "libpfm4 4.13, fam17h_zen2"
#define ZEN3 "libpfm4 4.13, fam19h_zen3"
#define ZEN4 "Linux, pmu-events/amdzen4"
#define ZEN5 "Linux, pmu-events/amdzen5"
#define IBS "APM 24593, 13.3; Linux, amd/ibs.c"

/* Counts dispatched ops rather than cycles (cnt_ctl): cycles tag what is dispatched when they run out, which is not
 * what time goes to. Periods are multiples of 16; the hardware draws their low bits anew. */
#define IBS_OP(limits) \
	{ "ibs_op", UINT64_C(1) << 19, 0, OP, FL_MB | ST_L1 | ST_TLB | ST_LLC, 0, 0, 0, FREE, PERF_SAMPLE_RAW, 250928, \
	  IBS, .unit = GUS_PLAN_ON_IBS_OP, .limit = (limits) }
#define IBS_FETCH(limits) \
	{ "ibs_fetch", UINT64_C(1) << 57, 0, FETCH, DR_L1 | DR_TLB, 0, 0, 0, FREE, PERF_SAMPLE_RAW, 250928, IBS, \
	  .unit = GUS_PLAN_ON_IBS_FETCH, .limit = (limits) }

static const char wrong_path[] = "fetches on wrong paths as well";
static const char milan[] = "fetches on wrong paths as well; of L1 nothing on models below 10h, erratum 1238";

static const struct gus_plan_row zen2[] = {
	{ "ls_not_halted_cyc", 0x76, 0, HEIGHT, 0, TO5, 0, 0, FREE, 0, 0, ZEN2 },
	{ "ex_ret_instr", 0xc0, 0, TOTAL, 0, TO5, 0, 0, FREE, 0, 0, ZEN2 },
	{ "ex_ret_cops", 0xc1, 0, TOTAL, 0, TO5, 0, 0, FREE, 0, 0, ZEN2 },
	IBS_OP(NULL),
	IBS_FETCH(wrong_path),
	{ "ex_ret_brn_misp", 0xc3, 0, RATE, FL_MB, TO5, 0, 0, FREE, 0, 0, ZEN2 },
	{ "de_dis_dispatch_token_stalls1.store_queue_token_stall", 0x04ae, 0, RATE, DR_SQ, TO5, 0, 0, FREE, 0, 0,
	  ZEN2 },
};

static const struct gus_plan_row zen3[] = {
	{ "ls_not_halted_cyc", 0x76, 0, HEIGHT, 0, TO5, 0, 0, FREE, 0, 0, ZEN3 },
	{ "ex_ret_instr", 0xc0, 0, TOTAL, 0, TO5, 0, 0, FREE, 0, 0, ZEN3 },
	{ "ex_ret_ops", 0xc1, 0, TOTAL, 0, TO5, 0, 0, FREE, 0, 0, ZEN3 },
	IBS_OP(NULL),
	IBS_FETCH(milan),
	{ "ex_ret_brn_misp", 0xc3, 0, RATE, FL_MB, TO5, 0, 0, FREE, 0, 0, ZEN3 },
	{ "de_dis_dispatch_token_stalls1.store_queue_rsrc_stall", 0x04ae, 0, RATE, DR_SQ, TO5, 0, 0, FREE, 0, 0,
	  ZEN3 },
};

/* A slot of dispatch gets an op or is one of the first three of top-down. Cycles and these fill all six counters, so
 * nothing but cycles is always on. Which cycles have no retirement, and why, is TEA's states as totals: what samples
 * say is held against that. */
#define AMD_STATES(source) \
	{ "ex_no_retire.all", 0x1bd6, 0, STATES, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "ex_no_retire.empty", 0x01d6, 0, STATES, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "ex_no_retire.not_complete", 0x02d6, 0, STATES, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "ex_no_retire.load_not_complete", 0xa2d6, 0, STATES, 0, TO5, 0, 0, FREE, 0, 0, source }
#define AMD_SLOTS(source) \
	{ "de_no_dispatch_per_slot.no_ops_from_frontend", 0x1000001a0, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "de_no_dispatch_per_slot.backend_stalls", 0x100001ea0, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "de_no_dispatch_per_slot.smt_contention", 0x1000060a0, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "de_src_op_disp.all", 0x07aa, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }, \
	{ "ex_ret_ops", 0xc1, 0, SLOTS, 0, TO5, 0, 0, FREE, 0, 0, source }

static const struct gus_plan_row zen4[] = {
	{ "ls_not_halted_cyc", 0x76, 0, HEIGHT, FL_MB, TO5, 0, 0, FREE, BRANCHES, 0, ZEN4,
	  .limit = "branches that were taken" },
	AMD_SLOTS(ZEN4),
	AMD_STATES(ZEN4),
	IBS_OP(NULL),
	IBS_FETCH(wrong_path),
	{ "ex_ret_brn_misp", 0xc3, 0, RATE, FL_MB, TO5, 0, 0, FREE, 0, 0, ZEN4 },
	{ "de_dispatch_stall_cycle_dynamic_tokens_part1.store_queue_rsrc_stall", 0x04ae, 0, RATE, DR_SQ, TO5, 0, 0,
	  FREE,
	  0, 0, ZEN4 },
	{ "ex_no_retire.other", 0x08d6, 0, RATE, FL_EX, TO5, 0, 0, FREE, 0, 0, ZEN4,
	  .limit = "cycles of traps, faults and other breaks in retirement together" },
	{ "resyncs_or_nc_redirects", 0x96, 0, RATE, FL_MO, TO5, 0, 0, FREE, 0, 0, ZEN4,
	  .limit = "restarts of all kinds" },
};

static const struct gus_plan_row zen5[] = {
	{ "ls_not_halted_cyc", 0x76, 0, HEIGHT, FL_MB, TO5, 0, 0, FREE, BRANCHES, 0, ZEN5,
	  .limit = "branches that were taken" },
	AMD_SLOTS(ZEN5),
	AMD_STATES(ZEN5),
	IBS_OP(NULL),
	IBS_FETCH(wrong_path),
	{ "ex_ret_brn_misp", 0xc3, 0, RATE, FL_MB, TO5, 0, 0, FREE, 0, 0, ZEN5 },
	{ "de_dispatch_stall_cycle_dynamic_tokens_part1.store_queue_rsrc_stall", 0x04ae, 0, RATE, DR_SQ, TO5, 0, 0,
	  FREE,
	  0, 0, ZEN5 },
	{ "ex_no_retire.other", 0x08d6, 0, RATE, FL_EX, TO5, 0, 0, FREE, 0, 0, ZEN5,
	  .limit = "cycles of traps, faults and other breaks in retirement together" },
	{ "bp_redirects.resync", 0x019f, 0, RATE, FL_MO, TO5, 0, 0, FREE, 0, 0, ZEN5,
	  .limit = "restarts of all kinds" },
};

#define ROWS(table) .rows = (table), .n = COUNT(table)
#define WATCHDOG .watchdog_usual = true, .watchdog_counters = TO5
#define WITH_IBS (GUS_PLAN_IN(GUS_PLAN_IBS) | GUS_PLAN_IN(GUS_PLAN_TIMER))
#define WITH_LBR (WITH_IBS | GUS_PLAN_IN(GUS_PLAN_LBR))

const struct gus_plan_core gus_plan_zen2 = {
	.name = "zen2", .title = "Zen 2", .threads = 2, .general_smt = 6, .general = 6, .fixed = 0,
	.slots = 6, .modes = WITH_IBS, WATCHDOG, ROWS(zen2),
};
const struct gus_plan_core gus_plan_zen3 = {
	.name = "zen3", .title = "Zen 3", .threads = 2, .general_smt = 6, .general = 6, .fixed = 0,
	.slots = 6, .modes = WITH_IBS, WATCHDOG, ROWS(zen3),
};
const struct gus_plan_core gus_plan_zen4 = {
	.name = "zen4", .title = "Zen 4", .threads = 2, .general_smt = 6, .general = 6, .fixed = 0,
	.slots = 6, .modes = WITH_LBR, WATCHDOG, ROWS(zen4),
};
const struct gus_plan_core gus_plan_zen5 = {
	.name = "zen5", .title = "Zen 5", .threads = 2, .general_smt = 6, .general = 6, .fixed = 0,
	.slots = 8, .modes = WITH_LBR, WATCHDOG, ROWS(zen5),
};
