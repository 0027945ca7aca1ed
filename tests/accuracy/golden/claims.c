/* SPDX-License-Identifier: MIT */
/* Sources: perf_event_open(2); CPUID's family and model of each; event and umask of Intel's events as perfmon's tables
 * of Sapphire Rapids and Granite Rapids have them; config of ibs_op and arm_spe_0 as their format folders in sysfs name
 * the bits. */
#include "tests/accuracy/golden/claims.h"

#include <linux/perf_event.h>
#include <stddef.h>

#define ALL (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define PLAIN (ALL | PERF_SAMPLE_PERIOD)
#define USER PERF_RECORD_MISC_USER
#define EXACT (PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP)

static const struct golden_pmu intel_pmus[] = { { PERF_TYPE_SOFTWARE, "software" }, { PERF_TYPE_RAW, "cpu" },
	{ 0, NULL } };
static const struct golden_pmu amd_pmus[] = { { PERF_TYPE_SOFTWARE, "software" }, { PERF_TYPE_RAW, "cpu" },
	{ GOLDEN_TYPE_IBS_OP - 1, "ibs_fetch" }, { GOLDEN_TYPE_IBS_OP, "ibs_op" }, { 0, NULL } };
static const struct golden_pmu arm_pmus[] = { { PERF_TYPE_SOFTWARE, "software" },
	{ GOLDEN_TYPE_SPE - 1, "armv8_pmuv3_0" }, { GOLDEN_TYPE_SPE, "arm_spe_0" }, { 0, NULL } };

/* Golden Cove, in a machine that has no other cores, and Redwood Cove, which is the first that times retirement. */
#define SAPPHIRE_RAPIDS .arch = "x86_64", .cpu = "Intel(R) Xeon(R) Platinum 8480+", .vendor = "GenuineIntel", \
	.family = 6, .model = 143, .stepping = 8, .pmus = intel_pmus, .exclude_kernel = true
#define GRANITE_RAPIDS .arch = "x86_64", .cpu = "Intel(R) Xeon(R) 6972P", .vendor = "GenuineIntel", \
	.family = 6, .model = 173, .stepping = 1, .pmus = intel_pmus, .exclude_kernel = true
#define GENOA .arch = "x86_64", .cpu = "AMD EPYC 9654 96-Core Processor", .vendor = "AuthenticAMD", \
	.family = 0x19, .model = 0x11, .stepping = 1, .pmus = amd_pmus
#define NEOVERSE_N1 .arch = "aarch64", .cpu = "Neoverse-N1", .vendor = "ARM", .midr = GOLDEN_MIDR, .pmus = arm_pmus, \
	.exclude_kernel = true

enum { CNT_CTL = 19 };                                  /* of ibs_op's config */
enum { TS_ENABLE = 0, JITTER = 16, RETIRED = 1 << 1 };  /* of arm_spe_0's; RETIRED: of config1, its filter of events */

#define COST(name, event_and_umask, frontend) { GRANITE_RAPIDS, .event = name ":ppu", .pmu = "cpu", \
	.type = PERF_TYPE_RAW, .config = event_and_umask, .config1 = frontend, .precise = 2, \
	.sample_type = PLAIN | GOLDEN_SAMPLE_WEIGHT_STRUCT, .misc = EXACT }

static const struct golden_claim machines[GOLDEN_HARDWARE] = {
	[GOLDEN_PEBS] = { SAPPHIRE_RAPIDS, .event = "cycles:pppu", .pmu = "", .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES, .precise = 3, .sample_type = PLAIN | PERF_SAMPLE_BRANCH_STACK,
		.branch_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY, .misc = EXACT },
	[GOLDEN_TPEBS] = { GRANITE_RAPIDS, .event = "inst_retired.prec_dist:pppu", .pmu = "cpu",
		.type = PERF_TYPE_RAW, .config = 0x100, .precise = 3,
		.sample_type = PLAIN | GOLDEN_SAMPLE_WEIGHT_STRUCT, .misc = EXACT },
	/* On the machine itself mem-loads-aux would have to lead its group; it brings no samples. */
	[GOLDEN_LOADS] = { SAPPHIRE_RAPIDS, .event = "cpu/mem-loads,ldlat=3/ppu", .pmu = "cpu", .type = PERF_TYPE_RAW,
		.config = 0x1cd, .config1 = 3, .precise = 2, .sample_type = PLAIN | PERF_SAMPLE_ADDR |
			GOLDEN_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC, .misc = EXACT },
	[GOLDEN_IBS_CYCLES] = { GENOA, .event = "ibs_op//", .pmu = "ibs_op", .type = GOLDEN_TYPE_IBS_OP,
		.sample_type = PLAIN | PERF_SAMPLE_RAW, .misc = EXACT },
	[GOLDEN_IBS_OPS] = { GENOA, .event = "ibs_op/cnt_ctl=1/", .pmu = "ibs_op", .type = GOLDEN_TYPE_IBS_OP,
		.config = 1 << CNT_CTL, .sample_type = PLAIN | PERF_SAMPLE_RAW, .misc = EXACT },
	/* Its samples are no records. */
	[GOLDEN_SPE] = { NEOVERSE_N1, .event = "arm_spe_0/ts_enable=1,jitter=1,event_filter=2/u", .pmu = "arm_spe_0",
		.type = GOLDEN_TYPE_SPE, .config = 1 << TS_ENABLE | 1 << JITTER, .config1 = RETIRED,
		.sample_type = ALL },
	[GOLDEN_SPE_SLOW] = { NEOVERSE_N1, .event = "arm_spe_0/ts_enable=1,jitter=1,event_filter=2,min_latency=32/u",
		.pmu = "arm_spe_0", .type = GOLDEN_TYPE_SPE, .config = 1 << TS_ENABLE | 1 << JITTER, .config1 = RETIRED,
		.config2 = GOLDEN_SLOW, .sample_type = ALL },
	[GOLDEN_PMU] = { SAPPHIRE_RAPIDS, .event = "cycles:u", .pmu = "", .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_type = PLAIN, .misc = USER },
	[GOLDEN_TIMER] = { SAPPHIRE_RAPIDS, .event = "cpu-clock:u", .pmu = "", .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_type = PLAIN, .misc = USER },
	[GOLDEN_COST_CODE] = COST("frontend_retired.l1i_miss", 0x3c6, 0x12),
	[GOLDEN_COST_CODE_TLB] = COST("frontend_retired.itlb_miss", 0x3c6, 0x14),
	[GOLDEN_COST_BRANCH] = COST("br_misp_retired.all_branches_cost", 0x44c5, 0),
	[GOLDEN_COST_L1] = COST("mem_load_retired.l1_miss_or_fb_hit", 0x48d1, 0),
	[GOLDEN_COST_TLB] = COST("mem_inst_retired.stlb_any_loads", 0x19d0, 0),
	[GOLDEN_COST_LLC] = COST("mem_load_retired.l3_miss", 0x20d1, 0),
};

const struct golden_claim *golden_claim_of(enum golden_hardware hardware)
{
	return &machines[hardware];
}
