/* SPDX-License-Identifier: MIT */
/* The tables' encodings against libpfm4's, for each core that it knows: it is asked for every event by its name.
 * What it does not have is named here, core by core and event by event, so that nothing is passed over unseen: an
 * event that it has after all fails as one that it has not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <perfmon/pfmlib.h>

#include "collector/events/pfm.h"
#include "collector/plan/table.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct { const char *core, *pmu; } pmus[] = {
	{ "skylake", "skx" }, { "sunny-cove", "icx" }, { "golden-cove", "spr" }, { "zen2", "amd64_fam17h_zen2" },
	{ "zen3", "amd64_fam19h_zen3" }, { "zen4", "amd64_fam19h_zen4" },
	/* libpfm4 4.13 knows these, but not where it is built for another ISA. */
	{ "neoverse-n1", "arm_n1" }, { "neoverse-n2", "arm_n2" }, { "neoverse-v1", "arm_v1" },
	{ "neoverse-v2", "arm_v2" },
	{ "neoverse-v3", "arm_v3" }, /* a later one does */
	/* And these not at all. */
	{ "redwood-cove", NULL }, { "lion-cove", NULL }, { "gracemont", NULL }, { "skymont", NULL }, { "zen5", NULL },
	{ "neoverse-n3", NULL },
};

/* Other names that it has for the same; else its name is ours with a colon for the dot. */
static const struct { const char *ours, *theirs; } names[] = {
	{ "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED:THREAD_P" },
	{ "INST_RETIRED.ANY", "INST_RETIRED:ANY_P" },
	{ "CPU_CLK_UNHALTED.THREAD_ANY", "CPU_CLK_UNHALTED:THREAD_P:t=1" },
	{ "MEM_TRANS_RETIRED.LOAD_LATENCY", "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=3" },
	{ "ls_not_halted_cyc", "CYCLES_NOT_IN_HALT" },
	{ "ex_ret_instr", "RETIRED_INSTRUCTIONS" },
	{ "ex_ret_cops", "RETIRED_UOPS" },
	{ "ex_ret_ops", "RETIRED_OPS" },
	{ "ex_ret_brn_misp", "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED" },
	{ "de_dis_dispatch_token_stalls1.store_queue_token_stall",
	  "DISPATCH_RESOURCE_STALL_CYCLES_1:STORE_QUEUE_RSRC_STALL" },
	{ "de_dis_dispatch_token_stalls1.store_queue_rsrc_stall",
	  "DISPATCH_RESOURCE_STALL_CYCLES_1:STORE_QUEUE_RSRC_STALL" },
	{ "de_dispatch_stall_cycle_dynamic_tokens_part1.store_queue_rsrc_stall",
	  "DISPATCH_RESOURCE_STALL_CYCLES_1:STORE_QUEUE_RSRC_STALL" },
	{ "de_no_dispatch_per_slot.no_ops_from_frontend", "DISPATCH_STALLS_1:FE_NO_OPS" },
	{ "de_no_dispatch_per_slot.backend_stalls", "DISPATCH_STALLS_1:BE_STALLS" },
	{ "de_no_dispatch_per_slot.smt_contention", "DISPATCH_STALLS_1:SMT_CONTENTION" },
	{ "ex_no_retire.empty", "CYCLES_NO_RETIRE:EMPTY" },
	{ "ex_no_retire.not_complete", "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU" },
	{ "ex_no_retire.load_not_complete", "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD" },
	{ "ex_no_retire.other", "CYCLES_NO_RETIRE:OTHER" },
	{ "resyncs_or_nc_redirects", "RESYNCS" },
};

/* What it does not have of cores that it knows. */
static const struct { const char *core, *event; } missing[] = {
	{ "skylake", "BR_MISP_RETIRED.ALL_BRANCHES_PEBS" },
	{ "sunny-cove", "TOPDOWN.RETIRING" }, { "sunny-cove", "TOPDOWN.BAD_SPEC" },
	{ "sunny-cove", "TOPDOWN.FE_BOUND" }, { "sunny-cove", "TOPDOWN.BE_BOUND" },
	{ "golden-cove", "TOPDOWN.RETIRING" }, { "golden-cove", "TOPDOWN.BAD_SPEC" },
	{ "golden-cove", "TOPDOWN.FE_BOUND" }, { "golden-cove", "TOPDOWN.BE_BOUND" },
	{ "golden-cove", "TOPDOWN.HEAVY_OPS" }, { "golden-cove", "TOPDOWN.BR_MISPREDICT" },
	{ "golden-cove", "TOPDOWN.FETCH_LAT" }, { "golden-cove", "TOPDOWN.MEM_BOUND" },
	{ "golden-cove", "MEM_LOADS_AUX" },
	{ "zen4", "de_src_op_disp.all" }, { "zen4", "ex_no_retire.all" },
};

/* What it has wrong, and what it says. Its MEM_TRANS_RETIRED of Sapphire Rapids has the umask of LOAD_LATENCY in its
 * code, so that of STORE_SAMPLE is both; intel/perfmon and the kernel's constraint say 0x02cd. */
static const struct { const char *core, *event; uint64_t config; } wrong[] = {
	{ "golden-cove", "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x03cd },
};

static char *name_of(const char *pmu, const struct gus_plan_row *row)
{
	static char text[160];
	char *dot;

	snprintf(text, sizeof(text), "%s::%s", pmu, row->name);
	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(names[i].ours, row->name) == 0) {
			snprintf(text, sizeof(text), "%s::%s", pmu, names[i].theirs);
			return text;
		}
	dot = strchr(text, '.');
	if (dot)
		*dot = ':';
	return text;
}

static bool is_missing(const char *core, const char *event)
{
	for (size_t i = 0; i < COUNT(missing); i++)
		if (strcmp(missing[i].core, core) == 0 && strcmp(missing[i].event, event) == 0)
			return true;
	return false;
}

static bool is_wrong(const char *core, const char *event, uint64_t config)
{
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (strcmp(wrong[i].core, core) == 0 && strcmp(wrong[i].event, event) == 0)
			return wrong[i].config == config;
	return false;
}

static const char *pmu_of(const char *core)
{
	for (size_t i = 0; i < COUNT(pmus); i++)
		if (strcmp(pmus[i].core, core) == 0)
			return pmus[i].pmu;
	fail_msg("%s: which PMU of libpfm4 it is stands nowhere", core);
	return NULL;
}

struct tally { unsigned same, bad; };

/* Whether that is said here and true. */
static void expect_missing(struct tally *t, const struct gus_plan_core *core, const struct gus_plan_row *row, bool gone)
{
	if (is_missing(core->name, row->name) == gone)
		return;
	print_error("%s: %s is %s in libpfm4, which the list here does not say\n", core->name, row->name,
		    gone ? "not" : "there");
	t->bad++;
}

static void compare(struct tally *t, const struct gus_plan_core *core, const char *pmu)
{

	for (size_t i = 0; i < core->n; i++) {
		const struct gus_plan_row *row = &core->rows[i];
		const char *reason = "", *name = name_of(pmu, row);
		struct gus_pfm got;

		if (row->unit != GUS_PLAN_ON_CORE) {
			print_message("%s: %s is no event of a core, of which alone libpfm4 knows\n", core->name,
				      row->name);
			continue;
		}
		if (gus_pfm_encode(name, &got, &reason) != GUS_PFM_OK) {
			print_message("%s: libpfm4 has no %s (%s)\n", core->name, name, reason);
			expect_missing(t, core, row, true);
			continue;
		}
		expect_missing(t, core, row, false);
		if (is_wrong(core->name, row->name, got.config)) {
			print_message("%s: libpfm4 has %s wrong\n", core->name, name);
			continue;
		}
		if (got.config == row->config && got.config1 == row->config1 && got.config2 == row->config2) {
			t->same++;
			continue;
		}
		print_error("%s: %s is %llx,%llx here and %llx,%llx in libpfm4\n", core->name, row->name,
			    (unsigned long long)row->config, (unsigned long long)row->config1,
			    (unsigned long long)got.config, (unsigned long long)got.config1);
		t->bad++;
	}
}

static bool is_known(const char *name)
{
	pfm_pmu_t pmu;

	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && strcmp(info.name, name) == 0)
			return true;
	}
	return false;
}

/* Whether an earlier CPU has the core as well. */
static bool is_done(const struct gus_plan_core *core, size_t cpu)
{
	for (size_t i = 0; i < cpu; i++)
		for (size_t k = 0; k < GUS_PLAN_KINDS; k++)
			if (gus_plan_cpu_at(i)->kinds[k].core == core)
				return true;
	return false;
}

static void encodings(void **state)
{
	struct tally t = { 0, 0 };
	unsigned cores = 0;

	(void)state;
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	for (size_t i = 0; gus_plan_cpu_at(i); i++)
		for (size_t k = 0; k < GUS_PLAN_KINDS && gus_plan_cpu_at(i)->kinds[k].core; k++) {
			const struct gus_plan_core *core = gus_plan_cpu_at(i)->kinds[k].core;
			const char *pmu = pmu_of(core->name);

			if (is_done(core, i))
				continue;
			if (!pmu || !is_known(pmu)) {
				print_message("%s: libpfm4 does not know this core\n", core->name);
				continue;
			}
			compare(&t, core, pmu);
			cores++;
		}
	print_message("%u events of %u cores are the same\n", t.same, cores);
	assert_int_equal(t.bad, 0);
#ifdef __x86_64__
	assert_true(cores >= 6 && t.same >= 80);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(encodings) };

	/* It encodes events of CPUs that this is not. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
