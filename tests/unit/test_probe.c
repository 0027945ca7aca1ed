/* SPDX-License-Identifier: MIT */
/* What is tried before anything is recorded (collector/trial), on machines that are played: which event -e auto takes
 * and what it says of the better ones, the best precision, and whether IBS, SPE and branches are there. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/doctor/facts.h"
#include "collector/events/event.h"
#include "collector/trial/branches.h"
#include "collector/trial/probe.h"
#include "collector/trial/trial.h"
#include "tests/machine/machine.h"

#define CORE_TERMS { "event=config:0-7", "umask=config:8-15", NULL }

static const struct machine_pmu one_core[] = {
	{ .name = "cpu", .type = 4, .counters = 8, .precise = 3, .branches = true, .terms = CORE_TERMS }, { 0 },
};

/* Ways in which hardware delivers: four samples as soon as it is on. */
static void deliver(struct machine_event *e, bool exact, unsigned branches)
{
	static const struct { uint64_t from, to, flags; } taken[] = { { 0x1000, 0x2000, 2 }, { 0x3000, 0x4000, 2 } };

	if (!e->period || e->attr.config == PERF_COUNT_SW_DUMMY)
		return;
	for (unsigned i = 0; i < 4; i++)
		machine_take_sample(e, &(struct machine_sample){ .ip = 0x1000 + i, .exact = exact,
			.branches = (const void *)taken, .branches_n = branches });
}

static bool is_hardware(const struct machine_event *e)
{
	return e->pmu != NULL;
}

static void delivers_all(struct machine_event *e)
{
	deliver(e, e->attr.precise_ip > 1, 2);
}

static void never_exact(struct machine_event *e)
{
	deliver(e, false, 0);
}

/* The counter moves and no interrupt comes. */
static void silent(struct machine_event *e)
{
	if (is_hardware(e))
		e->count = 1000;
	else
		deliver(e, false, 0);
}

static void still(struct machine_event *e)
{
	if (!is_hardware(e))
		deliver(e, false, 0);
}

static int no_clock(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->type == PERF_TYPE_SOFTWARE ? ENOENT : 0;
}

static int one_descriptor_less(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->precise_ip == 2 ? EMFILE : a->precise_ip == 3 ? EOPNOTSUPP : 0;
}

static const struct machine_pmu precise_1[] = {
	{ .name = "cpu", .type = 4, .precise = 1, .terms = CORE_TERMS }, { 0 },
};
static const struct machine_pmu precise_0[] = {
	{ .name = "cpu", .type = 4, .precise = 0, .terms = CORE_TERMS }, { 0 },
};

/* name: what is taken; text: words that are said of it. NULL: nothing, and text is the error's. */
static const struct {
	const char *what;
	struct machine machine;
	char tier;
	const char *name, *text;
} autos[] = {
	{ "PEBS of three levels", { one_core, .begins = delivers_all }, 'A', "cycles:ppp", "exact instruction" },
	{ "one level, whose addresses nobody vouches for", { precise_1, .begins = never_exact }, 'A', "cycles:p",
	  "cycles:ppp, cycles:pp: not offered by this machine or its hypervisor" },
	{ "levels that open and are not exact: as in a VM", { one_core, .begins = never_exact }, 'A', "cycles:p",
	  "cycles:ppp, cycles:pp: delivers samples without exact addresses" },
	{ "no levels: EOPNOTSUPP", { precise_0, .begins = delivers_all }, 'B', "cycles",
	  "cycles:ppp, cycles:pp, cycles:p: not offered" },
	{ "counters without interrupts", { one_core, .begins = silent }, 'C', "cpu-clock",
	  "cycles: counts, but delivers no samples" },
	{ "counters that stand still", { one_core, .begins = still }, 'C', "cpu-clock",
	  "cycles: opens, but does not count" },
	{ "no PMU: ENOENT", { .pmus = NULL, .begins = delivers_all }, 'C', "cpu-clock", "cycles: not offered" },
	{ "the kernel is not to be seen: EACCES", { one_core, .paranoid = 2, .begins = delivers_all }, 'A',
	  "cycles:uppp", "because this user may not sample it (kernel.perf_event_paranoid)" },
	{ "nothing is to be seen", { one_core, .paranoid = 3, .begins = delivers_all }, 0, NULL,
	  "no event delivers samples here" },
	{ "no clock either", { .pmus = NULL, .refuses = no_clock }, 0, NULL, "task-clock: not offered" },
	{ "no descriptor is left: EMFILE", { one_core, .refuses = one_descriptor_less, .begins = delivers_all }, 0,
	  NULL, "cycles:pp could not be tried, for want of descriptors or memory" },
	{ "no memory may be locked: EPERM of the ring", { one_core, .lock_kib = 16, .begins = delivers_all }, 0, NULL,
	  "not even 64 KiB of memory may be locked" },
};

static void automatic(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(autos) / sizeof(*autos); i++) {
		struct machine m = autos[i].machine;
		struct gus_events events = { 0 };
		struct gus_choice choice = { 0 };
		struct gus_error err = { 0 };
		struct gus_pmus pmus;
		int rc;

		m.cpus = "0-1";
		machine_begin(&m);
		gus_pmus_init(&pmus, "/sys");
		rc = gus_probe_auto(&events, &pmus, &choice, &err);
		if (!autos[i].name && rc == 0)
			fail_msg("%s: %s was taken", autos[i].what, events.v[0].name);
		if (autos[i].name && rc != 0)
			fail_msg("%s: %s", autos[i].what, err.text);
		if (!strstr(rc ? err.text : choice.text, autos[i].text))
			fail_msg("%s: it says %s", autos[i].what, rc ? err.text : choice.text);
		if (rc == 0) {
			assert_int_equal(events.n, 1);
			assert_string_equal(events.v[0].name, autos[i].name);
			assert_int_equal(choice.tier, autos[i].tier);
		}
		gus_events_free(&events);
		gus_pmus_free(&pmus);
		assert_int_equal(machine_end(), 0);
	}
}

static const struct machine_pmu hybrid[] = {
	{ .name = "cpu_core", .type = 4, .cpus = "0-1", .precise = 3, .terms = CORE_TERMS },
	{ .name = "cpu_atom", .type = 10, .cpus = "2-3", .precise = 3, .terms = CORE_TERMS }, { 0 },
};

/* This thread is on a larger core and has samples of that one's event alone. */
static void on_large_core(struct machine_event *e)
{
	if (!e->pmu || strcmp(e->pmu->name, "cpu_core") == 0)
		delivers_all(e);
}

static void kinds_of_cores(void **state)
{
	static const struct machine m = { hybrid, .cpus = "0-3", .begins = on_large_core };
	struct gus_events events = { 0 };
	struct gus_choice choice = { 0 };
	struct gus_pmus pmus;

	(void)state;
	machine_begin(&m);
	gus_pmus_init(&pmus, "/sys");
	assert_int_equal(gus_probe_auto(&events, &pmus, &choice, NULL), 0);
	assert_int_equal(events.n, 2);
	assert_string_equal(events.v[0].cpus, "2-3"); /* in the order of the PMUs' names */
	assert_string_equal(events.v[1].cpus, "0-1");
	assert_string_not_equal(events.v[0].name, events.v[1].name);
	assert_int_equal(choice.tier, 'A');
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	assert_int_equal(machine_end(), 0);
}

/* P asks for the best. */
static void best_precision(void **state)
{
	static const struct { struct machine m; unsigned level; } cases[] = {
		{ { one_core, .cpus = "0", .begins = delivers_all }, 3 },
		{ { precise_1, .cpus = "0", .begins = delivers_all }, 1 },
		{ { one_core, .cpus = "0", .begins = never_exact }, 1 },
		{ { precise_0, .cpus = "0", .begins = delivers_all }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_events events = { 0 };
		struct gus_pmus pmus;

		machine_begin(&cases[i].m);
		gus_pmus_init(&pmus, "/sys");
		assert_int_equal(gus_events_parse(&events, "cycles:P", &pmus, NULL), 0);
		gus_probe_precision(&events);
		assert_int_equal(events.v[0].precise, cases[i].level);
		gus_events_free(&events);
		gus_pmus_free(&pmus);
		assert_int_equal(machine_end(), 0);
	}
}

/* IBS takes periods in steps of 16 and cannot leave the kernel out; SPE writes into AUX. */
static const struct machine_pmu amd[] = {
	{ .name = "cpu", .type = 4, .precise = 0, .branches = true, .terms = CORE_TERMS },
	{ .name = "ibs_op", .type = 11, .step = 16, .whole = true, .terms = { "cnt_ctl=config:19", NULL } }, { 0 },
};
static const struct machine_pmu arm[] = {
	{ .name = "armv8_pmuv3_0", .type = 4, .cpus = "0-1", .terms = { "event=config:0-15", NULL } },
	{ .name = "arm_spe_0", .type = 12, .aux = true, .terms = { "ts_enable=config:0", NULL } }, { 0 },
};

static void spe_writes(struct machine_event *e)
{
	if (e->pmu && e->pmu->aux)
		machine_put_aux(e, "\1\1\1\1", 4, 0);
	else
		delivers_all(e);
}

static void spe_cuts(struct machine_event *e)
{
	if (e->pmu && e->pmu->aux)
		machine_put_aux(e, "", 0, 1); /* nothing came, and the area was full: nothing is seen */
}

static int no_aux(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->type == 12 ? EOPNOTSUPP : 0;
}

static const struct {
	const char *what;
	struct machine m;
	enum gus_class which;
	bool listed, user_only;
	enum gus_verdict verdict;
	int sys;
} classes[] = {
	{ "IBS", { amd, .begins = delivers_all }, GUS_CLASS_IBS, true, false, GUS_PROBE_GOOD, 0 },
	{ "IBS without samples", { amd, .begins = still }, GUS_CLASS_IBS, true, false, GUS_PROBE_STILL, 0 },
	{ "IBS, of which a user may not see the kernel and cannot leave it out", { amd, .paranoid = 2 },
	  GUS_CLASS_IBS, true, false, GUS_PROBE_ABSENT, EACCES },
	{ "no IBS", { one_core, .begins = delivers_all }, GUS_CLASS_IBS, false, false, GUS_PROBE_ABSENT, ENOENT },
	{ "SPE", { arm, .begins = spe_writes }, GUS_CLASS_SPE, true, false, GUS_PROBE_GOOD, 0 },
	{ "SPE for a user", { arm, .paranoid = 2, .begins = spe_writes }, GUS_CLASS_SPE, true, true, GUS_PROBE_GOOD,
	  0 },
	{ "SPE whose head stands still", { arm, .begins = spe_cuts }, GUS_CLASS_SPE, true, false, GUS_PROBE_SILENT,
	  0 },
	{ "SPE without room to lock", { arm, .lock_kib = 100, .begins = spe_writes }, GUS_CLASS_SPE, true, false,
	  GUS_PROBE_REFUSED, EPERM },
	{ "SPE that does not open", { arm, .refuses = no_aux }, GUS_CLASS_SPE, true, false, GUS_PROBE_ABSENT,
	  EOPNOTSUPP },
	{ "no SPE", { amd, .begins = delivers_all }, GUS_CLASS_SPE, false, false, GUS_PROBE_ABSENT, ENOENT },
	{ "branches", { one_core, .begins = delivers_all }, GUS_CLASS_BRANCHES, true, false, GUS_PROBE_GOOD, 0 },
	{ "branch stacks that are empty", { one_core, .begins = never_exact }, GUS_CLASS_BRANCHES, true, false,
	  GUS_PROBE_SILENT, 0 },
	{ "no branches", { precise_1, .begins = delivers_all }, GUS_CLASS_BRANCHES, true, false, GUS_PROBE_ABSENT,
	  EOPNOTSUPP },
	{ "precise samples", { one_core, .begins = delivers_all }, GUS_CLASS_PRECISE, true, false, GUS_PROBE_GOOD,
	  0 },
};

static void classes_of_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		struct machine m = classes[i].m;
		struct gus_class_facts f;
		struct gus_pmus pmus;

		m.cpus = "0-1";
		machine_begin(&m);
		gus_pmus_init(&pmus, "/sys");
		gus_trial(&f, classes[i].which, &pmus, NULL);
		if (f.verdict != classes[i].verdict || f.sys != classes[i].sys)
			fail_msg("%s: verdict %d, errno %d", classes[i].what, (int)f.verdict, f.sys);
		if (classes[i].which != GUS_CLASS_PRECISE)
			assert_int_equal(f.listed, classes[i].listed);
		assert_int_equal(f.user_only, classes[i].user_only);
		if (classes[i].which == GUS_CLASS_BRANCHES && f.verdict == GUS_PROBE_GOOD)
			assert_int_equal(f.level, 2);
		gus_pmus_free(&pmus);
		assert_int_equal(machine_end(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(automatic), cmocka_unit_test(kinds_of_cores), cmocka_unit_test(best_precision),
		cmocka_unit_test(classes_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
