/* SPDX-License-Identifier: MIT */
#include "attribution/observed/kinds.h"

#include <stddef.h>
#include <string.h>

/* perf_event_attr.type and config of the ABI. */
enum { TYPE_HARDWARE = 0, TYPE_SOFTWARE = 1, TYPE_RAW = 4 };
enum { HARDWARE_CYCLES = 0, HARDWARE_INSTRUCTIONS = 1, HARDWARE_BRANCHES = 4, HARDWARE_REF_CYCLES = 9 };
enum { SOFTWARE_CPU_CLOCK = 0, SOFTWARE_TASK_CLOCK = 1 };

/* Fields, as the format folders of sysfs name them. */
static const uint64_t ibs_by_ops = UINT64_C(1) << 19, ibs_misses_only = UINT64_C(1) << 16, ibs_latency = 0xfff;
static const uint64_t spe_retired = 1 << 1, spe_latency = 0xfff;
enum { EVENT_AND_UMASK = 0xffff, LOAD_LATENCY = 0x01cd };

/* A hit of L1 takes four cycles and more; the least that the kernel lets one ask for is three. */
enum { LATENCY_FAIR = 4 };

static struct gus_observed_event ibs(const Gusprof__Event *e)
{
	if (!(e->config & ibs_by_ops))
		return (struct gus_observed_event){ .why = "cycles choose what is dispatched behind a stall, not "
			"executions; cnt_ctl=1 counts ops" };
	if ((e->config & ibs_misses_only) || (e->config1 & ibs_latency))
		return (struct gus_observed_event){ .why = "a filter leaves out what hit, or what was quick" };
	return (struct gus_observed_event){ .kind = GUS_OBSERVED_OPS };
}

static struct gus_observed_event spe(const Gusprof__Event *e)
{
	if ((e->config2 & spe_latency) || (e->config1 & ~spe_retired) || e->config3)
		return (struct gus_observed_event){ .why = "a filter leaves out what was quick, or some events" };
	return (struct gus_observed_event){ .kind = GUS_OBSERVED_OPS, .apart = true };
}

/* Those that are counted at the instruction itself, which only precise samples are. */
static const struct { uint16_t config; enum gus_observed_count count; } counted[] = {
	{ 0x01d1, GUS_OBSERVED_L1 }, { 0x40d1, GUS_OBSERVED_BUFFER }, { 0x02d1, GUS_OBSERVED_L2 },
	{ 0x04d1, GUS_OBSERVED_L3 }, { 0x20d1, GUS_OBSERVED_MEMORY },
	{ 0x00c4, GUS_OBSERVED_BRANCHES }, { 0x00c5, GUS_OBSERVED_MISPREDICTED },
	{ 0x44c5, GUS_OBSERVED_BEHIND },
};

/* Cycles, cycles of reference, instructions and branches, which come with work whatever the work is. */
static bool is_work(const Gusprof__Event *e)
{
	static const uint16_t raw[] = { 0x003c, 0x013c, 0x0300, 0x00c0, 0x0100, 0x00c4, 0x20c4 };

	if (e->type == TYPE_SOFTWARE)
		return e->config == SOFTWARE_CPU_CLOCK || e->config == SOFTWARE_TASK_CLOCK;
	if (e->type == TYPE_HARDWARE)
		return e->config == HARDWARE_CYCLES || e->config == HARDWARE_INSTRUCTIONS ||
			e->config == HARDWARE_BRANCHES || e->config == HARDWARE_REF_CYCLES;
	for (size_t i = 0; i < sizeof(raw) / sizeof(*raw); i++)
		if (e->config == raw[i])
			return true;
	return false;
}

static bool is_cycles(const Gusprof__Event *e)
{
	return (e->type == TYPE_HARDWARE && e->config == HARDWARE_CYCLES) || (e->type == TYPE_RAW && e->config == 0x3c);
}

static struct gus_observed_event core(const Gusprof__Event *e)
{
	struct gus_observed_event of = { .kind = is_work(e) ? GUS_OBSERVED_TIME : GUS_OBSERVED_NOTHING,
		.cycles = is_cycles(e) };

	if (e->type != TYPE_RAW)
		return of;
	if ((e->config & EVENT_AND_UMASK) == LOAD_LATENCY) {
		if (e->config1 <= LATENCY_FAIR)
			return (struct gus_observed_event){ .kind = GUS_OBSERVED_LOADS };
		of.why = "its threshold leaves out what was quick; ldlat=3 leaves out nothing";
	}
	for (size_t i = 0; e->precise && i < sizeof(counted) / sizeof(*counted); i++)
		if (e->config == counted[i].config)
			return (struct gus_observed_event){ .kind = GUS_OBSERVED_COUNTED,
				.count = counted[i].count };
	return of;
}

struct gus_observed_event gus_observed_event_of(const Gusprof__Event *e)
{
	const char *pmu = e->pmu ? e->pmu : "";

	if (strcmp(pmu, "ibs_op") == 0)
		return ibs(e);
	if (strncmp(pmu, "arm_spe", 7) == 0)
		return spe(e);
	return core(e);
}
