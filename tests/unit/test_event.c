/* SPDX-License-Identifier: MIT */
/* Event specs: text in, numbers for the kernel out. PMUs come from trees in a temporary folder that look like sysfs. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/events/event.h"
#include "collector/events/period.h"
#include "collector/trial/branches.h"

#define DEVICES "bus/event_source/devices/"

/* The trees: a machine with one kind of cores, one with two, and one without a PMU. */
struct file { const char *path, *text; };

static const struct file plain_files[] = {
	{ DEVICES "cpu/type", "4\n" },
	{ DEVICES "cpu/format/event", "config:0-7,32-35\n" },
	{ DEVICES "cpu/format/umask", "config:8-15\n" },
	{ DEVICES "cpu/format/edge", "config:18\n" },
	{ DEVICES "cpu/format/ldlat", "config1:0-15\n" },
	{ DEVICES "cpu/format/deep", "config3:4-5\n" },
	{ DEVICES "cpu/events/cpu-cycles", "event=0x3c\n" },
	{ DEVICES "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ DEVICES "cpu/events/mem-loads.scale", "1\n" },
	{ DEVICES "software/type", "1\n" },
	{ DEVICES "uncore_imc/type", "14\n" },
	{ DEVICES "uncore_imc/cpumask", "0\n" },
	{ DEVICES "uncore_imc/format/event", "config:0-7\n" },
	{ "kernel/tracing/events/sched/sched_switch/id", "314\n" },
	{ 0 },
};
static const struct file hybrid_files[] = {
	{ DEVICES "cpu_core/type", "4\n" },
	{ DEVICES "cpu_core/cpus", "0-3\n" },
	{ DEVICES "cpu_core/format/event", "config:0-7\n" },
	{ DEVICES "cpu_core/events/topdown-retiring", "event=0x00\n" },
	{ DEVICES "cpu_atom/type", "10\n" },
	{ DEVICES "cpu_atom/cpus", "4-7,9\n" },
	{ DEVICES "cpu_atom/format/event", "config:0-7\n" },
	{ 0 },
};
static const struct file no_files[] = { { 0 } };

struct machine {
	char root[64];
	struct gus_pmus pmus;
};

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static void start(struct machine *m, const struct file *files)
{
	snprintf(m->root, sizeof(m->root), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(m->root));
	for (; files->path; files++) {
		char *path = gus_format("%s/%s", m->root, files->path);
		FILE *f;

		make_folders(path);
		f = fopen(path, "w");
		assert_non_null(f);
		assert_true(fputs(files->text, f) >= 0);
		assert_int_equal(fclose(f), 0);
		free(path);
	}
	gus_pmus_init(&m->pmus, m->root);
}

static void stop(struct machine *m)
{
	char *command = gus_format("rm -rf '%s'", m->root);

	gus_pmus_free(&m->pmus);
	assert_int_equal(system(command), 0);
	free(command);
}

#define CACHE(cache, op, result) ((cache) | (op) << 8 | (result) << 16)

static void names_mean_numbers(void **state)
{
	static const struct { const char *text, *name, *unit; uint32_t type; uint64_t config, config1,
		config3; } cases[] = {
		{ "cycles", "cycles", "cycles", PERF_TYPE_HARDWARE, 0 },
		{ "cpu-cycles", "cycles", "cycles", PERF_TYPE_HARDWARE, 0 },
		{ "branch-instructions", "branches", "events", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ "cpu-clock", "cpu-clock", "ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
		{ "task-clock", "task-clock", "ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
		{ "faults", "page-faults", "events", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "cs", "context-switches", "events", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ "L1-dcache-load-misses", "L1-dcache-load-misses", "events", PERF_TYPE_HW_CACHE, CACHE(0, 0, 1) },
		{ "L1-icache-loads", "L1-icache-loads", "events", PERF_TYPE_HW_CACHE, CACHE(1, 0, 0) },
		{ "LLC-stores", "LLC-stores", "events", PERF_TYPE_HW_CACHE, CACHE(2, 1, 0) },
		{ "dTLB-store-misses", "dTLB-store-misses", "events", PERF_TYPE_HW_CACHE, CACHE(3, 1, 1) },
		{ "branch-load-misses", "branch-load-misses", "events", PERF_TYPE_HW_CACHE, CACHE(5, 0, 1) },
		{ "node-prefetch-misses", "node-prefetch-misses", "events", PERF_TYPE_HW_CACHE, CACHE(6, 2, 1) },
		{ "r1a8", "r1a8", "events", PERF_TYPE_RAW, 0x1a8 },
		{ "cpu/r1a8/", "cpu/r1a8/", "events", 4, 0x1a8 },
		{ "cpu/event=0x3c,umask=1/", "cpu/event=0x3c,umask=1/", "events", 4, 0x13c },
		{ "cpu/event=0xabc/", "cpu/event=0xabc/", "events", 4, 0xa000000bc },
		{ "cpu/edge,ldlat=7,deep=3/", "cpu/edge,ldlat=7,deep=3/", "events", 4, 1 << 18, 7, 3 << 4 },
		{ "cpu/config=5,config1=6/", "cpu/config=5,config1=6/", "events", 4, 5, 6 },
		{ "cpu/mem-loads,ldlat=30/", "cpu/mem-loads,ldlat=30/", "events", 4, 0x1cd, 30 },
		{ "cpu/event=1,name=mine/", "mine", "events", 4, 1 },
		{ "mem-loads", "mem-loads", "events", 4, 0x1cd, 3 },
		{ "software/config=0/", "software/config=0/", "ns", PERF_TYPE_SOFTWARE, 0 },
		{ "sched:sched_switch", "sched:sched_switch", "events", PERF_TYPE_TRACEPOINT, 314 },
		{ "perf::PERF_COUNT_SW_CPU_CLOCK", "perf::PERF_COUNT_SW_CPU_CLOCK", "ns", PERF_TYPE_SOFTWARE, 0 },
	};
	struct machine m;

	(void)state;
	start(&m, plain_files);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_events list = { 0 };
		struct gus_error err = { 0 };

		gus_events_parse(&list, cases[i].text, &m.pmus, &err);
		assert_string_equal(err.text, "");
		assert_int_equal(list.n, 1);
		assert_string_equal(list.v[0].asked, cases[i].text);
		assert_string_equal(list.v[0].name, cases[i].name);
		assert_string_equal(list.v[0].unit, cases[i].unit);
		assert_int_equal(list.v[0].type, cases[i].type);
		assert_int_equal(list.v[0].config, cases[i].config);
		assert_int_equal(list.v[0].config1, cases[i].config1);
		assert_int_equal(list.v[0].config3, cases[i].config3);
		gus_events_free(&list);
	}
	stop(&m);
}

static void modifiers_apply(void **state)
{
	static const struct { const char *text, *name; int precise; bool u, k, h, best; } cases[] = {
		{ "cycles:u", "cycles:u", 0, true },
		{ "cycles:ppp", "cycles:ppp", 3 },
		{ "cycles:kpp", "cycles:kpp", 2, false, true },
		{ "cycles:hpu", "cycles:uhp", 1, true, false, true },
		{ "cycles:P", "cycles:P", 0, false, false, false, true },
		{ "cpu/event=1/u", "cpu/event=1/u", 0, true },
		{ "cpu/event=1/:kp", "cpu/event=1/kp", 1, false, true },
		{ "r1:u", "r1:u", 0, true },
		{ "sched:sched_switch:u", "sched:sched_switch:u", 0, true },
		{ "L1-dcache-loads:k", "L1-dcache-loads:k", 0, false, true },
	};
	struct machine m;

	(void)state;
	start(&m, plain_files);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_events list = { 0 };
		struct gus_error err = { 0 };

		gus_events_parse(&list, cases[i].text, &m.pmus, &err);
		assert_string_equal(err.text, "");
		assert_string_equal(list.v[0].name, cases[i].name);
		assert_int_equal(list.v[0].precise, cases[i].precise);
		assert_int_equal(list.v[0].user, cases[i].u);
		assert_int_equal(list.v[0].kernel, cases[i].k);
		assert_int_equal(list.v[0].hv, cases[i].h);
		assert_int_equal(list.v[0].precise_best, cases[i].best);
		gus_events_free(&list);
	}
	stop(&m);
}

static void lists_and_groups(void **state)
{
	static const char *const names[] = { "cycles", "cpu/event=1,umask=2/", "instructions:u", "branches:u",
		"cpu-clock", "faults" };
	static const uint32_t groups[] = { 0, 0, 1, 1, 2, 2 };
	struct gus_events list = { 0 };
	struct gus_error err = { 0 };
	struct machine m;

	(void)state;
	start(&m, plain_files);
	assert_int_equal(gus_events_parse(&list,
					  "cycles,cpu/event=1,umask=2/,{instructions,branches}:u,{cpu-clock,faults}",
					  &m.pmus, &err), 0);
	assert_int_equal(list.n, 6);
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(list.v[i].name, names[i]);
		assert_int_equal(list.v[i].group, groups[i]);
	}
	assert_int_equal(gus_events_parse(&list, "{cycles}", &m.pmus, &err), 0);
	assert_int_equal(list.v[6].group, 0); /* a group of one is none */
	gus_events_free(&list);
	stop(&m);
}

static void mistakes_are_named(void **state)
{
	static const struct { const char *text; enum gus_code code; const char *says; } cases[] = {
		{ "nonsense", GUS_E_USAGE, "unknown event 'nonsense' at character 1" },
		{ "cycles,foo", GUS_E_USAGE, "at character 8" },
		{ "cpu-clok", GUS_E_USAGE, "did you mean 'cpu-clock'" },
		{ "mem-load", GUS_E_USAGE, "did you mean 'mem-loads'" },
		{ "cycles:x", GUS_E_USAGE, "unknown modifier 'x' at character 8" },
		{ "cycles:upppp", GUS_E_USAGE, "more than three modifiers p at character 12" },
		{ "cycles:S", GUS_E_USAGE, "modifier 'S' at character 8 is not supported yet" },
		{ "", GUS_E_USAGE, "an event is missing at character 1" },
		{ "cycles,", GUS_E_USAGE, "an event is missing at character 8" },
		{ "{cycles,instructions", GUS_E_USAGE, "'{' at character 1 is never closed" },
		{ "{cycles,{instructions}}", GUS_E_USAGE, "at character 9" },
		{ "cycles}", GUS_E_USAGE, "unexpected '}' at character 7" },
		{ "cpu/event=1", GUS_E_USAGE, "'/' at character 4 is never closed" },
		{ "cpi/event=1/", GUS_E_USAGE, "no PMU 'cpi'; did you mean 'cpu'" },
		{ "cpu/evnt=1/", GUS_E_USAGE, "term 'evnt=1' of PMU cpu does not exist" },
		{ "cpu/umask=0x100/", GUS_E_USAGE, "too large" },
		{ "cpu/umask=x/", GUS_E_USAGE, "needs a number" },
		{ "cpu/period=0/", GUS_E_USAGE, "no usable value" },
		{ "L1-icache-stores", GUS_E_USAGE, "unknown event" },
		{ "iTLB-prefetches", GUS_E_USAGE, "unknown event" },
		{ "LLC-loads-stores", GUS_E_USAGE, "unknown event" },
		{ "r", GUS_E_USAGE, "unknown event" },
		{ "r12345678123456789", GUS_E_USAGE, "unknown event" },
		{ "sched:no_such", GUS_E_USAGE, "unknown event" },
		{ "perf::NO_SUCH_EVENT", GUS_E_USAGE, "perf::NO_SUCH_EVENT" },
		{ "uncore_imc/event=1/", GUS_E_UNSUPPORTED, "counts for whole CPUs" },
	};
	struct machine m;

	(void)state;
	start(&m, plain_files);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_events list = { 0 };
		struct gus_error err = { 0 };

		assert_int_equal(gus_events_parse(&list, cases[i].text, &m.pmus, &err), -1);
		assert_int_equal(err.code, cases[i].code);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s': expected \"...%s...\", got \"%s\"", cases[i].text, cases[i].says, err.text);
		gus_events_free(&list);
	}
	stop(&m);
}

/* Every beginning of a complicated spec is either right or refused, and nothing is read behind its end (ASan). */
static void cut_anywhere(void **state)
{
	static const char whole[] =
		"{cycles:pp,cpu/event=0x3c,umask=1/u}:k,mem-loads:P,sched:sched_switch,r1a8:h,LLC-load-misses";
	struct machine m;

	(void)state;
	start(&m, plain_files);
	for (size_t n = 0; n < sizeof(whole); n++) {
		char *text = gus_strndup(whole, n);
		struct gus_events list = { 0 };
		struct gus_error err = { 0 };
		int rc = gus_events_parse(&list, text, &m.pmus, &err);

		assert_int_equal(rc == 0, err.code == GUS_OK);
		assert_int_equal(rc == 0 || *err.text, 1);
		gus_events_free(&list);
		free(text);
	}
	stop(&m);
}

static void each_kind_of_core_has_its_event(void **state)
{
	struct gus_events list = { 0 };
	struct gus_error err = { 0 };
	struct machine m;

	(void)state;
	start(&m, hybrid_files);
	assert_int_equal(gus_events_parse(&list, "cycles:u,cpu_core/instructions/,topdown-retiring", &m.pmus, &err), 0);
	assert_int_equal(list.n, 4);
	assert_string_equal(list.v[0].name, "cpu_atom/cycles/u");
	assert_int_equal(list.v[0].config, 10ULL << 32);
	assert_string_equal(list.v[0].cpus, "4-7,9");
	assert_string_equal(list.v[0].unit, "cycles");
	assert_string_equal(list.v[1].name, "cpu_core/cycles/u");
	assert_int_equal(list.v[1].config, 4ULL << 32);
	assert_int_equal(list.v[2].type, PERF_TYPE_HARDWARE);
	assert_int_equal(list.v[2].config, (4ULL << 32) | PERF_COUNT_HW_INSTRUCTIONS);
	assert_string_equal(list.v[3].cpus, "0-3");
	assert_int_equal(gus_events_parse(&list, "{cycles,instructions}", &m.pmus, &err), -1);
	gus_events_free(&list);
	stop(&m);
}

static void no_pmu_is_no_error(void **state)
{
	struct gus_events list = { 0 };
	struct gus_error err = { 0 };
	struct machine m;

	(void)state;
	start(&m, no_files);
	assert_int_equal(gus_events_parse(&list, "cycles,cpu-clock", &m.pmus, &err), 0);
	assert_int_equal(list.n, 2);
	gus_events_free(&list);
	stop(&m);
}

static void rates(void **state)
{
	static const struct { const char *text; uint64_t asked_hz, asked_period, frequency,
		period; bool jitter; } cases[] = {
		{ "cpu-clock", 1000, 0, 1000, 1000003, true },
		{ "cpu-clock", 1000, 5000, 0, 5000, false },
		{ "cycles", 1000, 0, 1000, 0, false },
		{ "cycles", 1000, 7, 0, 7, false },
		{ "cpu/event=1,period=99/", 1000, 0, 0, 99, false },
		{ "cpu/event=1,freq=50/", 1000, 7, 50, 0, false },
		{ "sched:sched_switch", 1000, 0, 0, 1, false },
		{ "page-faults", 1000, 0, 1000, 0, false },
	};
	struct machine m;

	(void)state;
	start(&m, plain_files);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_events list = { 0 };
		struct gus_error err = { 0 };

		assert_int_equal(gus_events_parse(&list, cases[i].text, &m.pmus, &err), 0);
		gus_event_set_rate(&list.v[0], cases[i].asked_hz, cases[i].asked_period);
		assert_int_equal(list.v[0].frequency, cases[i].frequency);
		assert_int_equal(list.v[0].period, cases[i].period);
		assert_int_equal(list.v[0].jitter, cases[i].jitter);
		gus_events_free(&list);
	}
	stop(&m);
}

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

/* Drawn periods are prime, stay within the spread, use all of it, and are right on average. */
static void drawn_periods(void **state)
{
	static const uint64_t bases[] = { 2, 10007, 250007, 1000003 };

	(void)state;
	for (size_t b = 0; b < sizeof(bases) / sizeof(*bases); b++) {
		struct gus_random r = { 42 };
		double base = (double)bases[b], sum = 0, low = 1e18, high = 0;
		const int n = 2000;

		for (int i = 0; i < n; i++) {
			uint64_t p = gus_period_draw(&r, bases[b]);

			assert_true(is_prime(p));
			sum += (double)p;
			low = (double)p < low ? (double)p : low;
			high = (double)p > high ? (double)p : high;
		}
		if (bases[b] < 100)
			continue;
		assert_true(low >= base * 0.88 - 1 && low < base * 0.89);
		assert_true(high <= base * 1.122 && high > base * 1.11);
		assert_true(sum / n > base * 0.99 && sum / n < base * 1.01);
	}
	assert_int_equal(gus_period_prime(0), 2);
	assert_int_equal(gus_period_prime(1000000), 1000003);
	assert_int_equal(gus_period_prime(1000000000), 1000000007);
}

static void cpu_lists(void **state)
{
	(void)state;
	assert_true(gus_cpus_has("0-3,8", 0) && gus_cpus_has("0-3,8", 3) && gus_cpus_has("0-3,8", 8));
	assert_false(gus_cpus_has("0-3,8", 4) || gus_cpus_has("0-3,8", 9) || gus_cpus_has("", 0) ||
		     gus_cpus_has("x", 0));
}

/* perf's words for branches, and the bits of the perf_event ABI that they are. */
static void branch_filters(void **state)
{
	static const struct { const char *text; uint64_t type; } cases[] = {
		{ "any", 1 << 3 }, { "u", 1 << 3 | 1 }, { "u,k", 1 << 3 | 3 }, { "any_call,u", 1 << 4 | 1 },
			{ "any_ret", 1 << 5 },
		{ "ind_call,ind_jmp", 1 << 6 | 1 << 12 }, { "abort_tx", 1 << 7 }, { "cond,no_tx", 1 << 10 | 1 << 9 },
		{ "stack,u", 1 << 11 | 1 }, { "call", 1 << 13 },
			{ "any,no_flags,no_cycles", 1 << 3 | 1 << 14 | 1 << 15 },
		{ "any,save_type,priv", 1 << 3 | 1 << 16 | 1 << 18 }, { "hv,in_tx", 1 << 2 | 1 << 8 },
			{ "any,any", 1 << 3 },
	};
	static const char *const wrong[] = { "", ",", "any,", ",any", "Any", "anyx", "an", "any u", "any,,u" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_error err = { 0 };
		uint64_t type = 0;

		if (gus_branches_parse(&type, cases[i].text, &err) != 0 || type != cases[i].type)
			fail_msg("%s: %llx, %s", cases[i].text, (unsigned long long)type, err.text);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct gus_error err = { 0 };
		uint64_t type;

		if (gus_branches_parse(&type, wrong[i], &err) == 0)
			fail_msg("accepted: '%s'", wrong[i]);
		assert_int_equal(err.code, GUS_E_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_mean_numbers),
		cmocka_unit_test(modifiers_apply),
		cmocka_unit_test(lists_and_groups),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(each_kind_of_core_has_its_event),
		cmocka_unit_test(no_pmu_is_no_error),
		cmocka_unit_test(rates),
		cmocka_unit_test(drawn_periods),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(branch_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
