/* SPDX-License-Identifier: MIT */
/* record -e pebs, tpebs, ibs, spe, lbr and auto (cli/record/plan.c) on machines that are played: which plan is taken,
 * what is said of it, and why there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/common/uarch_load.h"
#include "cli/record/plan.h"
#include "collector/events/event.h"
#include "collector/events/pmu.h"
#include "collector/trial/probe.h"
#include "tests/machine/machine.h"

#define CORE_TERMS { "event=config:0-7", "umask=config:8-15", NULL }

/* The CPU is the test's. */
static const char *cpu_name;

const char *gus_uarch_host(void)
{
	return NULL;
}

const char *gus_uarch_host_cpu(void)
{
	return cpu_name;
}

static const struct machine_pmu pebs[] = {
	{ .name = "cpu", .type = 4, .precise = 3, .branches = true, .terms = CORE_TERMS }, { 0 },
};
static const struct machine_pmu amd[] = {
	{ .name = "cpu", .type = 4, .branches = true, .terms = CORE_TERMS },
	{ .name = "ibs_fetch", .type = 10, .step = 16, .whole = true, .terms = { "rand_en=config:57", NULL } },
	{ .name = "ibs_op", .type = 11, .step = 16, .whole = true, .terms = { "cnt_ctl=config:19", NULL } }, { 0 },
};
static const struct machine_pmu amd_vm[] = {
	{ .name = "cpu", .type = 4, .branches = true, .terms = CORE_TERMS }, { 0 },
};

/* What is on has four samples at once, with a branch each; with the time of retirement, or without. */
static void deliver(struct machine_event *e, uint64_t weight)
{
	static const struct { uint64_t from, to, flags; } taken[] = { { 0x1000, 0x2000, 2 } };

	for (unsigned i = 0; i < 4 && e->period; i++)
		machine_take_sample(e, &(struct machine_sample){ .ip = 0x1000 + i, .weight = weight,
			.exact = e->attr.precise_ip > 1 || (e->pmu && e->pmu->whole),
			.branches = (const void *)taken, .branches_n = 1 });
}

static void with_retirement(struct machine_event *e)
{
	deliver(e, UINT64_C(5) << 48);
}

static void without_retirement(struct machine_event *e)
{
	deliver(e, 5);
}

static const struct taking {
	const char *what;
	struct machine m;
	const char *cpu, *word;
	const char *name, *text;        /* of the first event, and what is said; NULL, and the error */
	enum gus_code code;
	char tier;
} takings[] = {
	{ "PEBS", { pebs, .begins = without_retirement }, "sapphirerapids", "pebs", "CPU_CLK_UNHALTED.THREAD:ppp",
	  "by the plan pebs of Sapphire Rapids: CPU_CLK_UNHALTED.THREAD:ppp with ", 0, 'A' },
	{ "times of retirement", { pebs, .begins = with_retirement }, "graniterapids", "tpebs",
	  "CPU_CLK_UNHALTED.THREAD:ppp", "by the plan tpebs of Granite Rapids", 0, 'A' },
	{ "which a hypervisor hides", { pebs, .begins = without_retirement }, "graniterapids", "tpebs", NULL,
	  "cannot record with -e tpebs: samples do not say when instructions retired here; -e pebs records without",
	  GUS_E_UNSUPPORTED, 0 },
	{ "another maker's, beside one that is hidden", { amd_vm, .begins = without_retirement }, "znver4", "pebs",
	  NULL, "this CPU (Zen 4) has no pebs; it has ibs (not given here), lbr; -e auto", GUS_E_UNSUPPORTED, 0 },
	{ "which the core has not", { pebs, .begins = with_retirement }, "sapphirerapids", "tpebs", NULL,
	  "this CPU (Sapphire Rapids) has no tpebs; it has pebs, lbr; -e auto", GUS_E_UNSUPPORTED, 0 },
	{ "IBS", { amd, .begins = without_retirement }, "znver4", "ibs", "ls_not_halted_cyc",
	  "by the plan ibs of Zen 4: ls_not_halted_cyc with ", 0, 'A' },
	{ "IBS that a hypervisor hides", { amd_vm, .begins = without_retirement }, "znver4", "ibs", NULL,
	  "cannot record with -e ibs: ", GUS_E_UNSUPPORTED, 0 },
	{ "branch stacks", { amd_vm, .begins = without_retirement }, "znver4", "lbr", "ls_not_halted_cyc",
	  "by the plan lbr of Zen 4", 0, 'B' },
	{ "no PMU", { NULL, .begins = without_retirement }, "sapphirerapids", "pebs", NULL,
	  "cannot record with -e pebs: ", GUS_E_UNSUPPORTED, 0 },
	{ "no rights", { pebs, .paranoid = 3, .begins = without_retirement }, "sapphirerapids", "pebs", NULL,
	  "cannot record with -e pebs: ", GUS_E_PERMISSION, 0 },
	{ "a CPU without a plan", { pebs, .begins = without_retirement }, "i486", "pebs", NULL,
	  "no events are known of this machine's CPU, i486; -e auto takes the best that there is", GUS_E_UNSUPPORTED,
	  0 },
	{ "a CPU that nobody knows", { pebs, .begins = without_retirement }, NULL, "pebs", NULL,
	  "no events are known of this machine's CPU; -e auto", GUS_E_UNSUPPORTED, 0 },
};

/* How many events there are, how many of these have no samples, and how many turns. */
static void expect_numbers(const char *text, const struct gus_events *events)
{
	unsigned n = 0, counted = 0, turns = 0, most = 0;
	const char *numbers = strstr(text, " with "), *after = strstr(text, "turns, ");

	assert_non_null(numbers);
	assert_int_equal(sscanf(numbers, " with %u events beside it, of which %u are", &n, &counted), 2);
	assert_int_equal(n, events->n - 1);
	for (size_t i = 0; i < events->n; i++) {
		counted -= events->v[i].counts;
		most = events->v[i].turns_n > most ? events->v[i].turns_n : most;
	}
	assert_int_equal(counted, 0);
	if (after)
		assert_int_equal(sscanf(after, "turns, %u of them", &turns), 1);
	assert_int_equal(turns, most);
}

static void taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(takings) / sizeof(*takings); i++) {
		const struct taking *c = &takings[i];
		struct machine m = c->m;
		struct gus_choice choice = { 0 };
		struct gus_events events = { 0 };
		struct gus_error err = { 0 };
		struct gus_pmus pmus;
		int rc;

		m.cpus = "0";
		cpu_name = c->cpu;
		machine_begin(&m);
		gus_pmus_init(&pmus, "/sys");
		rc = gus_record_plan(c->word, &events, &pmus, &choice, NULL, &err);
		if ((rc == 0) != (c->name != NULL) || !strstr(rc ? err.text : choice.text, c->text))
			fail_msg("%s: %s", c->what, rc ? err.text : choice.text);
		if (rc == 0) {
			assert_string_equal(events.v[0].name, c->name);
			expect_numbers(choice.text, &events);
		}
		assert_int_equal(err.code, c->code);
		assert_int_equal(choice.tier, c->tier);
		gus_events_free(&events);
		gus_pmus_free(&pmus);
		assert_int_equal(machine_end(), 0);
	}
}

/* How many events there are, or 0. */
static size_t best(const struct machine *machine, const char *cpu, char *text)
{
	struct machine m = *machine;
	struct gus_choice choice = { 0 };
	struct gus_events events = { 0 };
	struct gus_pmus pmus;
	size_t n;
	bool is_taken;

	m.cpus = "0";
	cpu_name = cpu;
	machine_begin(&m);
	gus_pmus_init(&pmus, "/sys");
	is_taken = gus_record_plan_best(&events, &pmus, &choice, NULL);
	strcpy(text, choice.text);
	n = events.n;
	assert_int_equal(is_taken, n > 0);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	assert_int_equal(machine_end(), 0);
	return n;
}

/* -e auto: from the best mode down to what there is. */
static void best_of_all(void **state)
{
	static const struct { const char *cpu; struct machine m; const char *text; } cases[] = {
		{ "graniterapids", { pebs, .begins = with_retirement }, "by the plan tpebs of Granite Rapids" },
		{ "graniterapids", { pebs, .begins = without_retirement }, "by the plan pebs of Granite Rapids" },
		{ "znver4", { amd, .begins = without_retirement }, "by the plan ibs of Zen 4" },
		{ "znver4", { amd_vm, .begins = without_retirement }, "by the plan lbr of Zen 4" },
		{ "znver4", { NULL, .begins = without_retirement }, NULL },
		{ NULL, { pebs, .begins = with_retirement }, NULL },
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(best(&cases[i].m, cases[i].cpu, text) > 0, cases[i].text != NULL);
		if (cases[i].text && !strstr(text, cases[i].text))
			fail_msg("%zu: %s", i, text);
	}
}

/* A plan's events, and two more for what accompanies them, must fit into half of the descriptors there may be, on each
 * CPU. */
static void few_descriptors(void **state)
{
	static const struct machine m = { pebs, .begins = without_retirement };
	char text[1024];
	const size_t n = best(&m, "sapphirerapids", text);
	const rlim_t enough = 2 * (n + 2) * (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);

	struct rlimit now;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	if (now.rlim_max < enough + 2) {
		print_message("skipped: this user may not have %ju descriptors\n", (uintmax_t)enough + 2);
		skip();
	}
	for (unsigned more = 0; more <= 2; more += 2) {
		const struct rlimit limit = { enough + more, enough + more };
		int status = 0;
		pid_t child = fork();

		if (child == 0)
			_exit(setrlimit(RLIMIT_NOFILE, &limit) != 0 ? 2 : best(&m, "sapphirerapids", text) == n);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), more > 0);
	}
}

/* Where auto comes to the timer it says what such a CPU has, and that this machine does not give it. */
static void missed(void **state)
{
	static const struct { const char *cpu, *text; } cases[] = {
		{ "znver3", "a timer. Such a CPU (Zen 3) has ibs (not given here), of which gusprof doctor says more" },
		{ "neoverse-n1", "a timer. Such a CPU (Neoverse N1) has spe (not given here), of which gusprof doctor "
		  "says more" },
		{ "i486", "a timer" }, { NULL, "a timer" },
	};
	static const struct machine m = { .pmus = NULL, .cpus = "0" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_choice choice = { .tier = 'C', .text = "a timer" };
		struct gus_pmus pmus;

		cpu_name = cases[i].cpu;
		machine_begin(&m);
		gus_pmus_init(&pmus, "/sys");
		gus_record_plan_missed(&choice, &pmus);
		assert_string_equal(choice.text, cases[i].text);
		gus_pmus_free(&pmus);
		assert_int_equal(machine_end(), 0);
	}
}

static void asked(void **state)
{
	static const struct { const char *words; bool asked, alone; } cases[] = {
		{ "pebs", true, true }, { "tpebs", true, true }, { "lbr", true, true }, { "pebs,cycles", true, false },
		{ "cycles,spe", true, false }, { "a,ibs,b", true, false }, { "cycles", false, false },
		{ "pebsy,auto", true, false }, { "auto,cpu-clock", true, false }, { "timer", false, false },
		{ "", false, false }, { ",", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool alone;

		if (gus_record_plan_is_asked(cases[i].words, &alone) != cases[i].asked || alone != cases[i].alone)
			fail_msg("'%s'", cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken), cmocka_unit_test(best_of_all), cmocka_unit_test(few_descriptors),
		cmocka_unit_test(missed), cmocka_unit_test(asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
