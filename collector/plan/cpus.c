/* SPDX-License-Identifier: MIT */
#include "collector/plan/table.h"

#include <linux/perf_event.h>
#include <string.h>

#include "proto/psv.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Where cores are of two kinds the kernel has a PMU for each, and PERF_TYPE_RAW alone means the larger ones. */
#define INTEL(core) { { &gus_plan_##core, "cpu" } }
#define HYBRID(large, small) { { &gus_plan_##large, "cpu_core" }, { &gus_plan_##small, "cpu_atom" } }
#define AMD(core) { { &gus_plan_##core, "cpu" } }
#define ARM(core) { { &gus_plan_##core, "armv8_pmuv3_0" } }

/* In the order of makers and time. Cascade and Cooper Lake are Skylake-SP as far as counting goes, Tiger and Rocket
 * Lake Ice Lake, Emerald Rapids Sapphire Rapids, Raptor Lake Alder Lake, Arrow Lake Lunar Lake (the kernel's
 * intel_pmu_init has these two in one case; Arrow Lake-H has cores of a third kind, with a PMU of their own,
 * cpu_lowpower, on which nothing is planned). Meteor Lake is none of these: its Crestmont has eight counters and other
 * encodings than Gracemont. */
static const struct gus_plan_cpu cpus[] = {
	{ "skylake", "Skylake", INTEL(skylake) },
	{ "skylake-avx512", "Skylake-SP", INTEL(skylake) },
	{ "cascadelake", "Cascade Lake", INTEL(skylake) },
	{ "cooperlake", "Cooper Lake", INTEL(skylake) },
	{ "icelake-client", "Ice Lake", INTEL(sunny_cove) },
	{ "icelake-server", "Ice Lake-SP", INTEL(sunny_cove) },
	{ "tigerlake", "Tiger Lake", INTEL(sunny_cove) },
	{ "rocketlake", "Rocket Lake", INTEL(sunny_cove) },
	{ "alderlake", "Alder Lake", HYBRID(golden_cove, gracemont) },
	{ "raptorlake", "Raptor Lake", HYBRID(golden_cove, gracemont) },
	{ "gracemont", "Alder Lake-N", INTEL(gracemont) },
	{ "sapphirerapids", "Sapphire Rapids", INTEL(golden_cove) },
	{ "emeraldrapids", "Emerald Rapids", INTEL(golden_cove) },
	{ "graniterapids", "Granite Rapids", INTEL(redwood_cove) },
	{ "lunarlake", "Lunar Lake", HYBRID(lion_cove, skymont) },
	{ "arrowlake", "Arrow Lake", HYBRID(lion_cove, skymont) },
	{ "znver2", "Zen 2", AMD(zen2) },
	{ "znver3", "Zen 3", AMD(zen3) },
	{ "znver4", "Zen 4", AMD(zen4) },
	{ "znver5", "Zen 5", AMD(zen5) },
	{ "neoverse-n1", "Neoverse N1", ARM(neoverse_n1) },
	{ "neoverse-n2", "Neoverse N2", ARM(neoverse_n2) },
	{ "neoverse-v1", "Neoverse V1", ARM(neoverse_v1) },
	{ "neoverse-v2", "Neoverse V2", ARM(neoverse_v2) },
	{ "neoverse-n3", "Neoverse N3", ARM(neoverse_n3) },
	{ "neoverse-v3", "Neoverse V3", ARM(neoverse_v3) },
};

/* What makers' event lists and people call them. */
static const struct { const char *name, *cpu; } short_names[] = {
	{ "skl", "skylake" }, { "skx", "skylake-avx512" }, { "clx", "cascadelake" }, { "cpx", "cooperlake" },
	{ "icl", "icelake-client" }, { "icx", "icelake-server" }, { "tgl", "tigerlake" }, { "rkl", "rocketlake" },
	{ "adl", "alderlake" }, { "rpl", "raptorlake" }, { "adln", "gracemont" }, { "spr", "sapphirerapids" },
	{ "emr", "emeraldrapids" }, { "gnr", "graniterapids" }, { "lnl", "lunarlake" }, { "arl", "arrowlake" },
	{ "zen2", "znver2" }, { "zen3", "znver3" }, { "zen4", "znver4" }, { "zen5", "znver5" },
	{ "n1", "neoverse-n1" }, { "n2", "neoverse-n2" }, { "v1", "neoverse-v1" }, { "v2", "neoverse-v2" },
	{ "n3", "neoverse-n3" }, { "v3", "neoverse-v3" },
};

/* What is there without any PMU. A fault is an exception that the kernel tells of, by instruction. */
static const struct gus_plan_row software[] = {
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 0, GUS_PLAN_HEIGHT, 0, 0, 0, 0, GUS_PLAN_HOLDS_NOTHING, 0, 0,
	  "Linux, events/core.c", .unit = GUS_PLAN_BY_KERNEL, .modes = GUS_PLAN_IN(GUS_PLAN_TIMER) },
	{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS, 0, GUS_PLAN_RATE, GUS_PSV_FL_EX, 0, 0, 0, GUS_PLAN_HOLDS_NOTHING,
	  PERF_SAMPLE_ADDR, 101, "Linux, mm/fault.c", .unit = GUS_PLAN_BY_KERNEL,
	  .limit = "faults of pages alone" },
};

const struct gus_plan_cpu *gus_plan_cpu_at(size_t i)
{
	return i < COUNT(cpus) ? &cpus[i] : NULL;
}

static const char *whole_name(const char *name)
{
	for (size_t i = 0; i < COUNT(short_names); i++)
		if (strcmp(short_names[i].name, name) == 0)
			return short_names[i].cpu;
	return name;
}

const struct gus_plan_cpu *gus_plan_cpu_find(const char *asked)
{
	const char *name = whole_name(asked);

	for (size_t i = 0; i < COUNT(cpus); i++)
		if (strcmp(cpus[i].name, name) == 0)
			return &cpus[i];
	return NULL;
}

bool gus_plan_cpu_has(const struct gus_plan_cpu *cpu, enum gus_plan_mode mode)
{
	for (size_t i = 0; i < GUS_PLAN_KINDS && cpu->kinds[i].core; i++)
		if (!(cpu->kinds[i].core->modes & GUS_PLAN_IN(mode)))
			return false;
	return true;
}

const struct gus_plan_row *gus_plan_software_at(size_t i)
{
	return i < COUNT(software) ? &software[i] : NULL;
}
