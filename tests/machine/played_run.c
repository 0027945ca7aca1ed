/* SPDX-License-Identifier: MIT */
#include "tests/machine/played_run.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/machine.h"
#include "tests/machine/tape.h"

enum { EACH = 250 };

/* Recordings that have samples, and which event of the kernel has them: its PMU, its code, 0 any, how precise. */
enum { PRECISE_TIME, TIME_AMD, TIME_ARM, LOADS, OPS, OPERATIONS, TAPES };
static const struct { const char *file, *pmu; uint64_t config; bool precise; } kinds[TAPES] = {
	[PRECISE_TIME] = { "pebs", "cpu", 0x3c, true }, [TIME_AMD] = { "pmu", "cpu", 0x76, false },
	[TIME_ARM] = { "pmu", "armv8_pmuv3_0", 0x11, false }, [LOADS] = { "loads", "cpu", 0x1cd, true },
	[OPS] = { "ibs-ops", "ibs_op", 0, false }, [OPERATIONS] = { "spe", "arm_spe_0", 0, false },
};
static struct machine_tape tapes[TAPES];

/* What the run's counters are called there, and codes of events that count it, of each PMU. The
 * words of slots are those of Intel's metrics. */
static const struct { const char *counter, *pmu; uint64_t config; } counted[] = {
	{ "instructions", "cpu", 0xc0 }, { "slots", "cpu", 0x400 }, { "slots.retired", "cpu", 0x8000 },
	{ "slots.recovery", "cpu", 0x8100 }, { "slots.front_end", "cpu", 0x8200 },
	{ "slots.back_end", "cpu", 0x8300 }, { "branches.mispredicted", "cpu", 0xc5 },
	{ "loads.l1_misses", "cpu", 0x8d1 }, { "loads.llc_misses", "cpu", 0x20d1 },
	{ "branches.mispredicted", "cpu", 0xc3 }, { "slots.retired", "cpu", 0xc1 },
	{ "no_retire.all", "cpu", 0x1bd6 }, { "no_retire.empty", "cpu", 0x1d6 },
	{ "no_retire.not_complete", "cpu", 0x2d6 }, { "no_retire.load_not_complete", "cpu", 0xa2d6 },
	{ "instructions", "armv8_pmuv3_0", 0x8 }, { "code.l1_misses", "armv8_pmuv3_0", 0x1 },
	{ "code.tlb_misses", "armv8_pmuv3_0", 0x2 },
};
enum { COUNTED = sizeof(counted) / sizeof(*counted) };
static double counters[COUNTED];
static double before, now;      /* how much of the run is over, of 1 */
/* SPE's records do not say for how many operations they stand: that is as many as were asked for, and the run's had
 * another number. So all of the run is taken to have been longer. */
static double operations = 1, longer = 1;
static bool there;

static void fail(const char *path)
{
	fprintf(stderr, "%s is not what gusprof-golden writes\n", path);
	exit(99);
}

static void read_counters(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[256], name[64];
	double value;

	if (!f)
		fail(path);
	while (fgets(line, sizeof(line), f))
		for (size_t i = 0; sscanf(line, "%63s %lf", name, &value) == 2 && i < COUNTED; i++)
			if (strcmp(counted[i].counter, name) == 0)
				counters[i] = value;
	fclose(f);
}

/* scheme triggers samples lost counted passes period */
static void read_period(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[256];

	if (!f)
		fail(path);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "spe %*s %*s %*s %*s %*s %lf", &operations);
	fclose(f);
}

void played_run_begin(const char *folder)
{
	char path[4096];

	for (size_t i = 0; i < TAPES; i++) {
		snprintf(path, sizeof(path), "%s/%s.data", folder, kinds[i].file);
		if (!machine_tape_open(&tapes[i], path))
			fail(path);
	}
	snprintf(path, sizeof(path), "%s/counters", folder);
	read_counters(path);
	snprintf(path, sizeof(path), "%s/rates", folder);
	read_period(path);
	there = true;
}

bool played_run_is_there(void)
{
	return there;
}

static struct machine_tape *tape_of(const struct machine_event *e)
{
	for (size_t i = 0; e->pmu && i < TAPES; i++)
		if (strcmp(kinds[i].pmu, e->pmu->name) == 0 && kinds[i].precise == !!e->attr.precise_ip &&
		    (!kinds[i].config || kinds[i].config == (e->attr.config & 0xffff)))
			return &tapes[i];
	return NULL;
}

void played_run_go_on(struct machine_event *time)
{
	struct machine_tape *t = tape_of(time);
	struct machine_event *e;

	for (size_t i = 0; (e = machine_event(i)); i++)
		if (e->pmu && strcmp(e->pmu->name, "arm_spe_0") == 0)
			longer = (double)e->attr.sample_period / operations;
	before = now;
	if (!t || !machine_tape_play(t, time, EACH, longer))
		return;
	now = machine_tape_played(t);
}

static void count(struct machine_event *e)
{
	for (size_t i = 0; e->pmu && i < COUNTED; i++)
		if (strcmp(counted[i].pmu, e->pmu->name) == 0 && counted[i].config == (e->attr.config & 0xffff))
			e->count += (uint64_t)(counters[i] * longer * now) -
				(uint64_t)(counters[i] * longer * before);
}

void played_run_say(struct machine_event *e)
{
	struct machine_tape *t = e->period ? tape_of(e) : NULL;

	if (!t)
		count(e);
	else if (t != &tapes[PRECISE_TIME] && t != &tapes[TIME_AMD] && t != &tapes[TIME_ARM])
		machine_tape_play(t, e, EACH, longer);
}
