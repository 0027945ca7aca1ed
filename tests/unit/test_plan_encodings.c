/* SPDX-License-Identifier: MIT */
/* Encodings of cores that libpfm4 does not know (test_plan_pfm.c has the others), copied here from what their makers
 * publish, code and umask apart as they have it: Intel's from github.com/intel/perfmon (LNL V1.04) and from the
 * kernel's copies of it (tools/perf/pmu-events/arch/x86, lunarlake, arrowlake and, for Redwood Cove, meteorlake), Arm's
 * from github.com/ARM-software/data. A row of the tables that was copied from another core's is found by
 * this, as 0x1b of Sapphire Rapids was in Lion Cove's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/plan/table.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* counters: as the list has it, 0 where it was not looked up. */
static const struct fact {
	const char *cpu;
	unsigned kind;
	const char *event;
	unsigned code, umask, counters;
} facts[] = {
	{ "lunarlake", 0, "ASSISTS.ANY", 0xc1, 0x1f, 0x3ff },
	{ "lunarlake", 0, "ASSISTS.PAGE_FAULT", 0xc1, 0x08, 0x3ff },
	{ "lunarlake", 0, "BR_MISP_RETIRED.ALL_BRANCHES", 0xc5, 0x00, 0x3ff },
	{ "lunarlake", 0, "BR_MISP_RETIRED.COND_NTAKEN", 0xc5, 0x10, 0 },
	{ "lunarlake", 0, "BR_MISP_RETIRED.ALL_BRANCHES_COST", 0xc5, 0x44, 0x3ff },
	{ "lunarlake", 0, "INT_MISC.CLEAR_RESTEER_CYCLES", 0xad, 0x80, 0x3ff },
	{ "lunarlake", 0, "MACHINE_CLEARS.MEMORY_ORDERING", 0xc3, 0x02, 0x3ff },
	{ "lunarlake", 0, "MEM_TRANS_RETIRED.LOAD_LATENCY", 0xcd, 0x01, 0x3fc },
	{ "lunarlake", 0, "MEM_TRANS_RETIRED.STORE_SAMPLE", 0xcd, 0x02, 0x003 },
	{ "lunarlake", 1, "BR_MISP_RETIRED.ALL_BRANCHES", 0xc5, 0x00, 0xff },
	{ "lunarlake", 1, "MACHINE_CLEARS.DISAMBIGUATION", 0xc3, 0x08, 0xff },
	{ "lunarlake", 1, "MACHINE_CLEARS.MEMORY_ORDERING", 0xc3, 0x02, 0xff },
	{ "lunarlake", 1, "MACHINE_CLEARS.PAGE_FAULT", 0xc3, 0x20, 0xff },
	{ "lunarlake", 1, "TOPDOWN_BAD_SPECULATION.ALL", 0x73, 0x00, 0xff },
	{ "lunarlake", 1, "TOPDOWN_BE_BOUND.ALL", 0xa4, 0x02, 0xff },
	{ "arrowlake", 0, "ASSISTS.ANY", 0xc1, 0x1f, 0x3ff },
	{ "graniterapids", 0, "ASSISTS.ANY", 0xc1, 0x1b, 0xff },
	{ "graniterapids", 0, "BR_MISP_RETIRED.ALL_BRANCHES_COST", 0xc5, 0x44, 0xff },
	{ "graniterapids", 0, "BR_MISP_RETIRED.COND_NTAKEN_COST", 0xc5, 0x50, 0xff },
	{ "neoverse-n3", 0, "CPU_CYCLES", 17, 0, 0 }, { "neoverse-v3", 0, "CPU_CYCLES", 17, 0, 0 },
	{ "neoverse-n3", 0, "STALL_SLOT", 63, 0, 0 }, { "neoverse-v3", 0, "STALL_SLOT", 63, 0, 0 },
	{ "neoverse-n3", 0, "STALL_SLOT_FRONTEND", 62, 0, 0 }, { "neoverse-v3", 0, "STALL_SLOT_FRONTEND", 62, 0, 0 },
	{ "neoverse-n3", 0, "STALL_SLOT_BACKEND", 61, 0, 0 }, { "neoverse-v3", 0, "STALL_SLOT_BACKEND", 61, 0, 0 },
	{ "neoverse-n3", 0, "OP_RETIRED", 58, 0, 0 }, { "neoverse-v3", 0, "OP_RETIRED", 58, 0, 0 },
	{ "neoverse-n3", 0, "OP_SPEC", 59, 0, 0 }, { "neoverse-v3", 0, "OP_SPEC", 59, 0, 0 },
	{ "neoverse-n3", 0, "INST_RETIRED", 8, 0, 0 }, { "neoverse-v3", 0, "INST_RETIRED", 8, 0, 0 },
	{ "neoverse-n3", 0, "L1I_CACHE_REFILL", 1, 0, 0 }, { "neoverse-v3", 0, "L1I_CACHE_REFILL", 1, 0, 0 },
	{ "neoverse-n3", 0, "L1I_TLB_REFILL", 2, 0, 0 }, { "neoverse-v3", 0, "L1I_TLB_REFILL", 2, 0, 0 },
	{ "neoverse-n3", 0, "ITLB_WALK", 53, 0, 0 }, { "neoverse-v3", 0, "ITLB_WALK", 53, 0, 0 },
	{ "neoverse-n3", 0, "EXC_TAKEN", 9, 0, 0 }, { "neoverse-v3", 0, "EXC_TAKEN", 9, 0, 0 },
};

static const struct gus_plan_row *row_of(const struct fact *f)
{
	const struct gus_plan_core *core = gus_plan_cpu_find(f->cpu)->kinds[f->kind].core;

	for (size_t i = 0; i < core->n; i++)
		if (strcmp(core->rows[i].name, f->event) == 0)
			return &core->rows[i];
	fail_msg("%s has no %s", core->name, f->event);
	return NULL;
}

static void as_their_makers_have_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(facts); i++) {
		const struct fact *f = &facts[i];
		const struct gus_plan_row *row = row_of(f);

		if (row->config != (f->code | (uint64_t)f->umask << 8))
			fail_msg("%s, %s is %#jx here; its maker's list says code %#x, umask %#x", f->cpu, f->event,
				 (uintmax_t)row->config, f->code, f->umask);
		if (f->counters && row->counters != f->counters)
			fail_msg("%s, %s is on counters %#x here, and on %#x in its maker's list", f->cpu, f->event,
				 row->counters, f->counters);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(as_their_makers_have_them) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
