/* SPDX-License-Identifier: MIT */
/* Plans that are opened (collector/events/planned.h, collector/trial/planned.c) on machines that are played: PEBS of
 * several generations, two kinds of cores, IBS and SPE. What gives way where a kernel refuses, what takes turns and for
 * how long, and what hardware's words become in the columns. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/counters/counters.h"
#include "collector/counters/ring.h"
#include "collector/doctor/verdict.h"
#include "collector/events/event.h"
#include "collector/events/planned.h"
#include "collector/plan/make.h"
#include "collector/plan/plan.h"
#include "collector/session/lanes.h"
#include "collector/target/target.h"
#include "collector/trial/probe.h"
#include "tests/machine/machine.h"
#include "tests/words/ibs_words.h"
#include "tests/words/spe_words.h"

#define CORE_TERMS { "event=config:0-7", "umask=config:8-15", NULL }
#define WEIGHT_STRUCT (UINT64_C(1) << 24)
enum { LOAD_LATENCY = 0x01cd, CYCLES = 0x3c, L1_MISS = 0x08d1 };

static const struct machine_pmu pebs[] = {
	{ .name = "cpu", .type = 4, .precise = 3, .branches = true, .terms = CORE_TERMS }, { 0 },
};
static const struct machine_pmu hybrid[] = {
	{ .name = "cpu_core", .type = 4, .cpus = "0-1", .precise = 3, .branches = true, .terms = CORE_TERMS },
	{ .name = "cpu_atom", .type = 10, .cpus = "2-3", .precise = 3, .branches = true, .terms = CORE_TERMS }, { 0 },
};
static const struct machine_pmu amd[] = {
	{ .name = "cpu", .type = 4, .branches = true, .terms = CORE_TERMS },
	{ .name = "ibs_fetch", .type = 10, .step = 16, .whole = true, .terms = { "rand_en=config:57", NULL } },
	{ .name = "ibs_op", .type = 11, .step = 16, .whole = true, .terms = { "cnt_ctl=config:19", NULL } }, { 0 },
};
static const struct machine_pmu arm[] = {
	{ .name = "arm_spe_0", .type = 12, .aux = true, .terms = { "ts_enable=config:0", NULL } },
	{ .name = "armv8_neoverse_n1", .type = 8, .cpus = "0-1", .terms = { "event=config:0-15", NULL } }, { 0 },
};

struct world {
	struct gus_plan plan;
	struct gus_pmus pmus;
	struct gus_events events;
	struct gus_target target;
	struct gus_counters counters;
	struct gus_living living;
	struct gus_lanes lanes;
	struct gus_error err;
	char said[4096];
	int rc;
	bool recording;
};

static void hear(enum gus_level level, const char *text, void *context)
{
	struct world *w = context;

	(void)level;
	strncat(w->said, text, sizeof(w->said) - strlen(w->said) - 1);
	strncat(w->said, "\n", sizeof(w->said) - strlen(w->said) - 1);
}

/* Makes the plan of that CPU in that mode, and tries its events. */
static void plan(struct world *w, const struct machine *m, const char *cpu, enum gus_plan_mode mode)
{
	const struct gus_plan_wish wish = { .cpu = gus_plan_cpu_find(cpu), .mode = mode, .smt = true };
	const struct gus_log log = { GUS_DEBUG, hear, w };

	memset(w, 0, sizeof(*w));
	machine_begin(m);
	gus_pmus_init(&w->pmus, "/sys");
	gus_target_init(&w->target);
	w->target.kind = GUS_TARGET_THREADS;
	gus_vec_push(&w->target.watches, (struct gus_watch){ .id = getpid(), .pidfd = -1 });
	assert_int_equal(gus_plan_make(&w->plan, &wish, NULL), 0);
	w->rc = gus_planned_events(&w->events, &w->plan, gus_plan_mode_name(mode), &w->pmus, &w->err);
	if (w->rc == 0)
		w->rc = gus_probe_planned(&w->events, &log, &w->err);
}

/* And records with them. */
static void record(struct world *w)
{
	const struct gus_counters_options options = { .ring_bytes = 512 << 10, .late = true, .cargo.chain = true };

	for (size_t i = 0; i < w->events.n; i++)
		if (!w->events.v[i].counts)
			gus_event_set_rate(&w->events.v[i], 1000, 0);
	if (gus_counters_open(&w->counters, &w->events, &w->target, &options, NULL, &w->err) != 0)
		fail_msg("%s", w->err.text);
	gus_living_init(&w->living);
	gus_lanes_init(&w->lanes, &w->counters, &w->living);
	gus_counters_enable(&w->counters);
	w->recording = true;
}

static void drain(struct world *w)
{
	assert_int_equal(gus_lanes_drain(&w->lanes, NULL, 1, NULL), 0);
}

static void end(struct world *w)
{
	if (w->recording) {
		gus_lanes_free(&w->lanes);
		gus_living_free(&w->living);
		gus_counters_close(&w->counters);
	}
	gus_plan_free(&w->plan);
	gus_target_free(&w->target);
	gus_events_free(&w->events);
	gus_pmus_free(&w->pmus);
	assert_int_equal(machine_end(), 0);
}

static const struct gus_event *event_named(const struct world *w, const char *name)
{
	for (size_t i = 0; i < w->events.n; i++)
		if (strcmp(w->events.v[i].name, name) == 0)
			return &w->events.v[i];
	fail_msg("there is no event %s", name);
	return NULL;
}

static uint32_t number_of(const struct world *w, const char *name)
{
	return (uint32_t)(event_named(w, name) - w->events.v);
}

/* What becomes of the words of a plan: heights first and always on, samples bare, counts silent, groups together. */
static void opened_as_planned(void **state)
{
	static const struct machine m = { pebs, .cpus = "0-1" };
	size_t planned = 0;
	struct world w;

	(void)state;
	plan(&w, &m, "sapphirerapids", GUS_PLAN_PEBS);
	assert_int_equal(w.rc, 0);
	assert_string_equal(w.said, "");
	for (size_t i = 0; i < w.plan.n; i++)
		planned += w.plan.parts[i].events.n;
	assert_int_equal(w.events.n, planned);
	assert_string_equal(w.events.v[0].name, "CPU_CLK_UNHALTED.THREAD:ppp");
	assert_string_equal(w.events.v[0].unit, "cycles");
	for (size_t i = 0; i < w.events.n; i++)
		if (w.events.v[i].counts)
			assert_true(w.events.v[i].extra == 0 && w.events.v[i].period == 0);
	record(&w);
	for (size_t cpu = 0; cpu < 2; cpu++) {
		struct machine_event *height = machine_open("cpu", CYCLES, cpu);
		struct machine_event *loads = machine_open("cpu", LOAD_LATENCY, cpu);

		assert_int_equal(height->attr.precise_ip, 3);
		assert_true(height->attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
		assert_true(height->attr.sample_type & PERF_SAMPLE_CALLCHAIN);
		assert_int_equal(height->attr.branch_sample_type, PERF_SAMPLE_BRANCH_ANY);
		assert_false(height->attr.use_clockid); /* large PEBS: the clock is the kernel's own */
		assert_true(machine_counts(height));
		assert_int_equal(loads->attr.config1, 3);
		assert_int_equal(loads->attr.freq, 0);
		assert_int_equal(loads->leader->attr.config, 0x8203); /* MEM_LOADS_AUX leads it */
		assert_true(loads->attr.sample_type & WEIGHT_STRUCT);
		assert_false(loads->attr.sample_type & (PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CALLCHAIN));
		assert_int_equal(loads->leader->attr.sample_period, 0);
	}
	end(&w);
}

/* In each turn those are on that the plan says, and no others; a turn's end comes before the next one's beginning. */
static void turns(void **state)
{
	static const struct machine m = { pebs, .cpus = "0" };
	unsigned most = 0, n = 0;
	Gusprof__EventTotal *all;
	struct world w;

	(void)state;
	plan(&w, &m, "skylake", GUS_PLAN_PEBS);
	assert_int_equal(w.rc, 0);
	record(&w);
	n = w.plan.parts[0].turns;
	assert_in_range(n, 2, 32);
	assert_int_not_equal(gus_counters_turn_interval(&w.counters), UINT64_MAX);
	gus_counters_begin_turns(&w.counters);
	for (unsigned turn = 0; turn < 2 * n + 1; turn++) {
		unsigned on = 0;

		for (size_t i = 0; i < w.counters.list.n; i++) {
			const struct gus_event *e = &w.events.v[w.counters.list.v[i].event];
			bool wanted = !e->turns_n || (e->turns >> turn % n & 1);
			struct machine_event *played = NULL;

			for (size_t k = 0; (played = machine_event(k)) && played->fd != w.counters.list.v[i].fd; k++)
				;
			assert_int_equal(machine_counts(played), wanted);
			on += played->pmu && wanted;
		}
		most = on > most ? on : most;
		usleep(2000);
		gus_counters_turn(&w.counters);
	}
	assert_int_equal(machine_most("cpu"), most);
	/* How long each was on is told: what is always on all the time, and the others as long as their turns. */
	gus_counters_disable(&w.counters);
	all = gus_lanes_counted(&w.lanes);
	for (size_t i = 0; i < w.events.n; i++)
		if (w.events.v[i].turns_n) {
			assert_true(all[i].on_ns >= 2000000 * (uint64_t)__builtin_popcount(w.events.v[i].turns));
			assert_true(all[i].on_ns < all[0].on_ns);
		} else {
			assert_int_equal(all[i].on_ns, all[0].on_ns);
		}
	free(all);
	end(&w);
}

static void never_turns(void **state)
{
	static const struct machine m = { arm, .cpus = "0" };
	struct world w;

	(void)state;
	plan(&w, &m, "neoverse-n1", GUS_PLAN_TIMER);
	record(&w);
	assert_int_equal(gus_counters_turn_interval(&w.counters), UINT64_MAX);
	end(&w);
}

/* A lower rate of the samples of time makes those beside them rarer in proportion; a higher one leaves them as
 * planned. */
static void rates(void **state)
{
	static const struct machine m = { amd, .cpus = "0" };
	static const struct { uint64_t hz, height, ops; } cases[] = {
		{ 500, 500, 501856 }, { 300, 300, 836432 /* a multiple of 16 */ }, { 1000, 1000, 250928 },
		{ 4000, 4000, 250928 }, { 999, 999, 251184 },
	};
	struct world w;

	(void)state;
	plan(&w, &m, "znver4", GUS_PLAN_IBS);
	w.events.v[0].governed = true;
	record(&w); /* at 1000 */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		gus_counters_set_rate(&w.counters, cases[i].hz);
		assert_int_equal(machine_open("cpu", 0x76, 0)->period, cases[i].height);
		assert_int_equal(machine_open("ibs_op", 1 << 19, 0)->period, cases[i].ops);
		assert_int_equal(machine_open("ibs_op", 1 << 19, 0)->period % 16, 0);
		assert_int_equal(event_named(&w, "ibs_op")->period, cases[i].ops);
	}
	assert_int_equal(machine_open("", PERF_COUNT_SW_PAGE_FAULTS, 0)->period, 101);
	end(&w);
}

/* What kernels refuse. */

static int before_5_12(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->sample_type & WEIGHT_STRUCT ? EINVAL : 0;
}

static int level_2(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->precise_ip > 2 ? EOPNOTSUPP : 0;
}

static int level_1(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->config == CYCLES && a->precise_ip > 1 ? EOPNOTSUPP : 0;
}

static int no_l1_miss(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->config == L1_MISS ? ENOENT : 0;
}

static int no_loads(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->config == LOAD_LATENCY ? ENODATA : 0;
}

static int no_height(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->config == CYCLES && a->precise_ip ? EOPNOTSUPP : 0;
}

static int no_file(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->config == L1_MISS ? EMFILE : 0;
}

static const struct {
	const char *what;
	struct machine m;
	const char *height, *said, *error; /* error: NULL if the plan is opened */
	int dropped;
} givings[] = {
	{ "one weight for three", { pebs, .refuses = before_5_12 }, "CPU_CLK_UNHALTED.THREAD:ppp", "", NULL, 0 },
	{ "a level less", { pebs, .refuses = level_2 }, "CPU_CLK_UNHALTED.THREAD:pp", "", NULL, 0 },
	{ "two levels less", { pebs, .refuses = level_1 }, "CPU_CLK_UNHALTED.THREAD:p", "", NULL, 0 },
	{ "an event that is not there", { pebs, .refuses = no_l1_miss }, "CPU_CLK_UNHALTED.THREAD:ppp",
	  "MEM_LOAD_RETIRED.L1_MISS:pp is left out: cannot sample MEM_LOAD_RETIRED.L1_MISS:pp: this machine", NULL,
	  1 },
	{ "a group of which a member is not there", { pebs, .refuses = no_loads }, "CPU_CLK_UNHALTED.THREAD:ppp",
	  "MEM_LOADS_AUX and its group are left out: cannot open MEM_TRANS_RETIRED.LOAD_LATENCY:pp", NULL, 2 },
	{ "the kernel is not to be seen", { pebs, .paranoid = 2 }, "CPU_CLK_UNHALTED.THREAD:uppp",
	  "this user may not sample the kernel", NULL, 0 },
	{ "nothing is to be seen", { pebs, .paranoid = 3 }, NULL, "", "kernel.perf_event_paranoid is 3", 0 },
	{ "no time", { pebs, .refuses = no_height }, NULL, "", "cannot sample CPU_CLK_UNHALTED.THREAD:p", 0 },
	{ "no descriptors", { pebs, .refuses = no_file }, NULL, "", "ulimit -Hn", 0 },
	{ "no PMU", { .pmus = NULL }, NULL, "", "the kernel has no PMU cpu here", 0 },
};

static void gives_way(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(givings) / sizeof(*givings); i++) {
		struct machine m = givings[i].m;
		struct world w;

		m.cpus = "0-1";
		plan(&w, &m, "sapphirerapids", GUS_PLAN_PEBS);
		if ((w.rc == 0) != !givings[i].error)
			fail_msg("%s: %d, %s", givings[i].what, w.rc, w.err.text);
		assert_in_range(w.rc + 1, 0, 1);
		if (w.rc != 0 && !strstr(w.err.text, givings[i].error))
			fail_msg("%s: %s", givings[i].what, w.err.text);
		if (*givings[i].said ? !strstr(w.said, givings[i].said) : *w.said)
			fail_msg("%s: it is said: %s", givings[i].what, w.said);
		if (w.rc == 0) {
			assert_string_equal(w.events.v[0].name, givings[i].height);
			assert_int_equal(w.events.n + (size_t)givings[i].dropped, w.plan.parts[0].events.n);
		}
		end(&w);
	}
}

/* Two kinds of cores: each event is opened on its own, and what its samples say goes by its own name. */
static void kinds_of_cores(void **state)
{
	static const struct machine m = { hybrid, .cpus = "0-3" };
	unsigned faults = 0;
	struct world w;

	(void)state;
	plan(&w, &m, "alderlake", GUS_PLAN_PEBS);
	assert_int_equal(w.rc, 0);
	assert_string_equal(w.events.v[0].name, "cpu_core/CPU_CLK_UNHALTED.THREAD/ppp");
	assert_string_equal(w.events.v[1].name, "cpu_atom/CPU_CLK_UNHALTED.CORE/ppp");
	for (size_t i = 0; i < w.events.n; i++) /* what the kernel counts is of no kind of cores, and is there once */
		faults += w.events.v[i].type == PERF_TYPE_SOFTWARE &&
			w.events.v[i].config == PERF_COUNT_SW_PAGE_FAULTS;
	assert_int_equal(faults, 1);
	record(&w);
	for (size_t i = 0; i < w.counters.list.n; i++) {
		const struct gus_event *e = &w.events.v[w.counters.list.v[i].event];
		bool large = w.counters.list.v[i].cpu < 2;

		if (e->pmu) {
			assert_string_equal(e->pmu, large ? "cpu_core" : "cpu_atom");
			assert_string_equal(e->cpus, large ? "0-1" : "2-3");
		}
	}
	assert_int_equal(machine_answered(-ENOENT), 0);
	machine_take_sample(machine_open("cpu_core", CYCLES, 0), &(struct machine_sample){ .ip = 1, .exact = true });
	machine_take_sample(machine_open("cpu_atom", CYCLES, 1), &(struct machine_sample){ .ip = 2, .exact = true });
	drain(&w);
	assert_int_equal(w.lanes.totals[0].samples, 1);
	assert_int_equal(w.lanes.totals[1].samples, 1);
	assert_int_equal(gus_columns_sample(&w.lanes.lane[3].samples, 0).event, 1);
	end(&w);
}

/* Samples of loads of three generations: one weight; three of which the last is 0, as a core that does not tell it has
 * it; three. Where the data were is told the same by all: here a load that missed L1 and hit L2. */
static void weights(void **state)
{
	const union perf_mem_data_src where = { .mem_op = PERF_MEM_OP_LOAD,
		.mem_lvl = PERF_MEM_LVL_L2 | PERF_MEM_LVL_HIT, .mem_lvl_num = PERF_MEM_LVLNUM_L2 };
	static const struct {
		struct machine m;
		uint64_t word, told, weight;
		uint32_t instruction, retire;
	} cases[] = {
		{ { pebs, .cpus = "0", .refuses = before_5_12 }, 0x1234567890, GUS_TOLD_WEIGHT, 0x1234567890, 0, 0 },
		{ { pebs, .cpus = "0" }, 0x0000001200000034, GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION, 0x34, 0x12, 0 },
		{ { pebs, .cpus = "0" }, 0x0007001200000034, GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION | GUS_TOLD_RETIRE,
		  0x34, 0x12, 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sample s;
		struct world w;

		plan(&w, &cases[i].m, "sapphirerapids", GUS_PLAN_PEBS);
		record(&w);
		while (!machine_counts(machine_open("cpu", LOAD_LATENCY, 0)))
			gus_counters_turn(&w.counters);
		machine_take_sample(machine_open("cpu", LOAD_LATENCY, 0), &(struct machine_sample){ .ip = 0x401000,
			.exact = true, .address = 0x7000, .weight = cases[i].word, .data_source = where.val });
		/* Of another layout, in the same ring. */
		machine_take_sample(machine_open("cpu", CYCLES, 0), &(struct machine_sample){ .ip = 0x402000 });
		drain(&w);
		s = gus_columns_sample(&w.lanes.lane[0].samples, 0);
		assert_int_equal(s.event, number_of(&w, "MEM_TRANS_RETIRED.LOAD_LATENCY:pp"));
		assert_int_equal(s.ip, 0x401000);
		assert_int_equal(s.address, 0x7000);
		assert_int_equal(s.told, cases[i].told | GUS_TOLD_ADDRESS);
		assert_int_equal(s.weight, cases[i].weight);
		assert_int_equal(s.instruction_latency, cases[i].instruction);
		assert_int_equal(s.retire_latency, cases[i].retire);
		assert_int_equal(s.data_source, where.val);
		assert_true(s.events & GUS_PSV_ST_L1);               /* proved */
		assert_true(s.events >> 16 & GUS_PSV_ST_LLC);        /* excluded */
		s = gus_columns_sample(&w.lanes.lane[0].samples, 1);
		assert_int_equal(s.ip, 0x402000);
		assert_int_equal(s.event, 0);
		assert_int_equal(w.lanes.bad, 0);
		end(&w);
	}
}

/* The time since the retirement before is looked for in real samples. */
static void tells_retirement(struct machine_event *e)
{
	for (unsigned i = 0; i < 4; i++)
		machine_take_sample(e, &(struct machine_sample){ .ip = i, .exact = true,
			.weight = UINT64_C(5) << 48 });
}

static void tells_no_retirement(struct machine_event *e)
{
	for (unsigned i = 0; i < 4; i++)
		machine_take_sample(e, &(struct machine_sample){ .ip = i, .exact = true, .weight = 5 });
}

static void retirement(void **state)
{
	static const struct { struct machine m; enum gus_verdict verdict; } cases[] = {
		{ { pebs, .cpus = "0", .begins = tells_retirement }, GUS_PROBE_GOOD },
		{ { pebs, .cpus = "0", .begins = tells_no_retirement }, GUS_PROBE_SILENT },
		{ { pebs, .cpus = "0" }, GUS_PROBE_STILL },
		{ { pebs, .cpus = "0", .refuses = before_5_12 }, GUS_PROBE_ABSENT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_event e = { .type = 4, .config = CYCLES, .precise = 2, .base = (char *)(uintptr_t)"cycles" };

		machine_begin(&cases[i].m);
		assert_int_equal(gus_probe_retirement(&e), cases[i].verdict);
		assert_int_equal(machine_end(), 0);
	}
}

/* IBS: registers as they come become columns, and are left off. */
static void ibs(void **state)
{
	static const struct machine m = { amd, .cpus = "0" };
	struct words_ibs words = { .fields = words_ibs_op, .caps = 0x1bff, .family = 0x19, .model = 0x11 };
	struct words_bytes raw = { .n = 0 };
	struct gus_sample s;
	struct world w;

	(void)state;
	plan(&w, &m, "znver4", GUS_PLAN_IBS);
	assert_int_equal(w.rc, 0);
	record(&w);
	assert_int_equal(machine_open("ibs_op", 1 << 19, 0)->attr.sample_period % 16, 0);
	words_ibs_set(&words, "Rip", 0x401234);
	words_ibs_set(&words, "TagToRetCtr", 90);
	words_ibs_set(&words, "CompToRetCtr", 7);
	words_ibs_set(&words, "LdOp", 1);
	words_ibs_bytes(&words, &raw);
	machine_take_sample(machine_open("ibs_op", 1 << 19, 0), &(struct machine_sample){ .ip = 0x401234,
		.exact = true, .raw = raw.v, .raw_bytes = (uint32_t)raw.n });
	machine_take_sample(machine_open("ibs_op", 1 << 19, 0), &(struct machine_sample){ .ip = 0x5, .raw = "??",
		.raw_bytes = 2 }); /* which are no registers: they stay for who knows more */
	drain(&w);
	s = gus_columns_sample(&w.lanes.lane[0].samples, 0);
	assert_int_equal(s.event, number_of(&w, "ibs_op"));
	assert_true(s.exact);
	assert_int_equal(s.instruction_latency, 90);
	assert_int_equal(s.retire_latency, 7);
	assert_true(s.told & GUS_TOLD_COMPLETE);
	assert_int_equal(s.extras_n, 0);
	assert_true(s.events != 0);
	assert_true(gus_columns_sample(&w.lanes.lane[0].samples, 1).extras_n > 0);
	end(&w);
}

static int no_ibs_for_users(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->type == 10 || a->type == 11 ? EINVAL : 0;
}

/* Where the kernel cannot be left out of IBS, it is IBS that is left out, and that is said. */
static void ibs_refused(void **state)
{
	static const struct machine m = { amd, .cpus = "0", .refuses = no_ibs_for_users };
	struct world w;

	(void)state;
	plan(&w, &m, "znver4", GUS_PLAN_IBS);
	assert_int_equal(w.rc, 0);
	assert_non_null(strstr(w.said, "ibs_op is left out: cannot sample ibs_op"));
	assert_non_null(strstr(w.said, "ibs_fetch is left out"));
	end(&w);
}

/* SPE. */

/* A load of that many cycles, as the CPU writes it. */
static void put_load(struct words_bytes *b, uint64_t pc, unsigned cycles, uint64_t ticks)
{
	words_spe_put(b, "address", 0, 3, pc | UINT64_C(1) << 63);
	words_spe_put(b, "operation", 1, 0, 0);
	words_spe_put(b, "events", 0, 1, GUS_SPE_RETIRED | GUS_SPE_L1D_ACCESS | GUS_SPE_L1D_REFILL);
	words_spe_put(b, "counter", 0, 1, cycles);
	words_spe_put(b, "address", 2, 3, 0x7000);
	words_spe_put(b, "timestamp", 0, 3, ticks);
}

static void spe(void **state)
{
	static const struct machine m = { arm, .cpus = "0-1" };
	struct words_bytes b = { .n = 0 };
	struct machine_event *on_1;
	struct gus_sample s;
	struct world w;

	(void)state;
	plan(&w, &m, "neoverse-n1", GUS_PLAN_SPE);
	assert_int_equal(w.rc, 0);
	assert_null(w.events.v[0].cpus); /* there is one kind of cores, so no event is of some CPUs only */
	record(&w);
	on_1 = machine_open("arm_spe_0", event_named(&w, "arm_spe")->config, 1);
	assert_false(on_1->attr.use_clockid);
	assert_non_null(on_1->output->aux);
	put_load(&b, 0x401000, 12, 111);
	put_load(&b, 0x401004, 345, 222);
	assert_int_equal(machine_put_aux(on_1, b.v, b.n, 0), b.n);
	drain(&w);
	assert_int_equal(w.lanes.lane[1].samples.n, 2);
	s = gus_columns_sample(&w.lanes.lane[1].samples, 1);
	assert_int_equal(s.event, number_of(&w, "arm_spe"));
	assert_int_equal(s.ip, 0x401004);
	assert_true(s.exact);
	assert_int_equal(s.mode, GUS_MODE_USER);
	assert_int_equal(s.time, 222);
	assert_int_equal(s.instruction_latency, 345);
	assert_int_equal(s.address, 0x7000);
	assert_int_equal(s.period, event_named(&w, "arm_spe")->period);
	assert_int_equal(s.pid, getpid());
	assert_int_equal(s.cpu, 1);
	assert_true(s.events & GUS_PSV_ST_L1);
	assert_int_equal(on_1->output->control->aux_tail, b.n);
	assert_int_equal(w.lanes.truncated + w.lanes.collided + w.lanes.gaps + w.lanes.bad, 0);
	end(&w);
}

/* The area is full: what fits is there, the rest is cut, the event stands still; having read it we have it go on, at
 * once, and with the whole area. */
static void truncated(void **state)
{
	static const struct machine m = { arm, .cpus = "0" };
	struct words_bytes one = { .n = 0 };
	struct machine_event *e;
	uint8_t *many;
	size_t n, per, area;
	struct world w;

	(void)state;
	plan(&w, &m, "neoverse-n1", GUS_PLAN_SPE);
	record(&w);
	e = machine_open("arm_spe_0", event_named(&w, "arm_spe")->config, 0);
	area = e->output->aux_size;
	put_load(&one, 0x401000, 12, 111);
	per = one.n;
	n = area / per + 10;
	many = malloc(n * per);
	for (size_t i = 0; i < n; i++)
		memcpy(many + i * per, one.v, per);
	assert_int_equal(machine_put_aux(e, many, n * per, 0), area);
	assert_false(machine_counts(e));
	assert_int_equal(machine_put_aux(e, many, per, 0), 0);
	drain(&w);
	assert_int_equal(w.lanes.totals[number_of(&w, "arm_spe")].samples, area / per);
	assert_int_equal(w.lanes.truncated, 1);
	assert_int_equal(w.lanes.totals[number_of(&w, "arm_spe")].truncated, 1);
	assert_int_equal(w.lanes.totals[number_of(&w, "arm_spe")].damaged, area % per != 0);
	assert_true(machine_counts(e)); /* it goes on, and the next piece goes over the area's end */
	assert_int_equal(e->times, 2);
	assert_int_equal(machine_put_aux(e, many, 100 * per, 0), 100 * per);
	drain(&w);
	assert_int_equal(w.lanes.totals[number_of(&w, "arm_spe")].samples, area / per + 100);
	assert_int_equal(w.lanes.truncated, 1);
	/* Not while recording is paused. */
	machine_put_aux(e, many, per, GUS_AUX_TRUNCATED);
	gus_counters_pause(&w.counters);
	drain(&w);
	assert_int_equal(w.lanes.truncated, 2);
	assert_false(machine_counts(e));
	free(many);
	end(&w);
}

/* A piece goes over the area's end: it is put together, and each record is what it was. */
static void over_the_end(void **state)
{
	static const struct machine m = { arm, .cpus = "0" };
	struct words_bytes one = { .n = 0 };
	struct machine_event *e;
	size_t per, n;
	struct world w;

	(void)state;
	plan(&w, &m, "neoverse-n1", GUS_PLAN_SPE);
	record(&w);
	e = machine_open("arm_spe_0", event_named(&w, "arm_spe")->config, 0);
	put_load(&one, 0x401000, 12, 111);
	per = one.n;
	n = e->output->aux_size / per + 1;
	for (size_t i = 0; i < n; i++) { /* all but the last, which is half before and half behind the end */
		struct words_bytes b = { .n = 0 };

		put_load(&b, 0x401000 + 4 * i, 12, i + 1);
		assert_int_equal(machine_put_aux(e, b.v, b.n, 0), per);
		drain(&w);
		if (w.lanes.lane[0].samples.n == 1000)
			gus_columns_clear(&w.lanes.lane[0].samples);
	}
	assert_true(e->output->control->aux_head % e->output->aux_size < per);
	assert_int_equal(w.lanes.totals[number_of(&w, "arm_spe")].samples, n);
	assert_int_equal(w.lanes.totals[number_of(&w, "arm_spe")].damaged, 0);
	assert_int_equal(gus_columns_sample(&w.lanes.lane[0].samples, w.lanes.lane[0].samples.n - 1).ip,
			 0x401000 + 4 * (n - 1));
	assert_int_equal(gus_columns_sample(&w.lanes.lane[0].samples, w.lanes.lane[0].samples.n - 1).time, n);
	end(&w);
}

/* What else the kernel says of a piece is counted, and its samples are taken all the same. */
static void flags(void **state)
{
	static const struct machine m = { arm, .cpus = "0" };
	struct words_bytes one = { .n = 0 };
	struct machine_event *e;
	Gusprof__EventTotal *t;
	struct world w;

	(void)state;
	plan(&w, &m, "neoverse-n1", GUS_PLAN_SPE);
	record(&w);
	e = machine_open("arm_spe_0", event_named(&w, "arm_spe")->config, 0);
	put_load(&one, 0x401000, 12, 111);
	machine_put_aux(e, one.v, one.n, GUS_AUX_COLLISION);
	machine_put_aux(e, one.v, one.n, GUS_AUX_COLLISION | GUS_AUX_PARTIAL);
	machine_put_aux(e, one.v, one.n - 3, 0);                         /* a record that is cut */
	machine_put_aux(e, "\x23\x23\x23\x23", 4, 0);                    /* no record at all */
	drain(&w);
	t = &w.lanes.totals[number_of(&w, "arm_spe")];
	assert_int_equal(t->samples, 2);
	assert_int_equal(t->collided, 2);
	assert_int_equal(t->gaps, 1);
	assert_int_equal(t->truncated, 0);
	assert_in_range(t->damaged, 1, 2);
	assert_true(machine_counts(e));
	/* A piece that cannot be, of a kernel gone mad: it is passed over. */
	machine_put(e, 11, 0, (const uint64_t[]){ 1 << 20, UINT64_MAX / 2, 0 }, 3);
	drain(&w);
	assert_int_equal(w.lanes.bad, 1);
	end(&w);
}

/* What is mapped of an event keeps it alive when it is closed: it must not go on writing beside the one that has been
 * opened in its place. */
static void retired(void **state)
{
	static const struct machine m = { arm, .cpus = "0" };
	struct machine_event *e;
	struct world w;

	(void)state;
	plan(&w, &m, "neoverse-n1", GUS_PLAN_SPE);
	record(&w);
	e = machine_open("arm_spe_0", event_named(&w, "arm_spe")->config, 0);
	assert_true(machine_counts(e));
	gus_counters_retire(&w.counters, 0, w.counters.list.n);
	assert_int_equal(e->fd, -1);
	assert_false(machine_counts(e));
	end(&w);
}

/* A command switches on what is on in the first turn, and nothing else. */
static void begun_by_a_command(void **state)
{
	static const struct machine m = { pebs, .cpus = "0" };
	const struct gus_counters_options options = { .ring_bytes = 512 << 10, .child = getpid() };
	unsigned later = 0;
	struct world w;

	(void)state;
	plan(&w, &m, "skylake", GUS_PLAN_PEBS);
	w.target.kind = GUS_TARGET_COMMAND;
	w.target.watches.n = 0;
	for (size_t i = 0; i < w.events.n; i++)
		if (!w.events.v[i].counts)
			gus_event_set_rate(&w.events.v[i], 1000, 0);
	assert_int_equal(gus_counters_open(&w.counters, &w.events, &w.target, &options, NULL, NULL), 0);
	for (size_t i = 0; i < w.counters.list.n; i++) {
		const struct gus_event *e = &w.events.v[w.counters.list.v[i].event];
		struct machine_event *played = NULL;

		for (size_t k = 0; (played = machine_event(k)) && played->fd != w.counters.list.v[i].fd; k++)
			;
		if (w.counters.list.v[i].leader)
			assert_int_equal(played->attr.enable_on_exec, gus_event_is_on(e, 0));
		later += !gus_event_is_on(e, 0);
	}
	assert_true(later > 0);
	gus_counters_close(&w.counters);
	end(&w);
}

/* What an ordinary user may lock by default does for the ring and the area of each CPU; with less, areas are halved. */
static void small_area(void **state)
{
	static const struct machine usual = { arm, .cpus = "0-1", .lock_kib = 2 * 516 };
	static const struct machine m = { arm, .cpus = "0", .lock_kib = 132 + 140 };
	struct world w;

	(void)state;
	plan(&w, &usual, "neoverse-n1", GUS_PLAN_SPE);
	record(&w);
	assert_int_equal(w.counters.rings.v[0].size, 128 << 10);
	assert_int_equal(w.counters.auxes.v[0].size, 256 << 10);
	assert_int_equal(w.counters.auxes.v[1].size, 256 << 10);
	end(&w);

	plan(&w, &m, "neoverse-n1", GUS_PLAN_SPE);
	record(&w);
	assert_int_equal(w.counters.auxes.v[0].size, 128 << 10);
	end(&w);
}

/* With too little even for the smallest there is one error, and nothing stays open. */
static void no_area(void **state)
{
	static const struct machine m = { arm, .cpus = "0", .lock_kib = 132 + 60 };
	const struct gus_counters_options options = { .ring_bytes = 512 << 10, .late = true };
	struct world w;

	(void)state;
	plan(&w, &m, "neoverse-n1", GUS_PLAN_SPE);
	assert_int_equal(gus_counters_open(&w.counters, &w.events, &w.target, &options, NULL, &w.err), -1);
	assert_int_equal(w.err.code, GUS_E_PERMISSION);
	assert_non_null(strstr(w.err.text, "cannot get 64 KiB of locked memory on cpu 0 for what hardware writes"));
	assert_non_null(strstr(w.err.text, "perf_event_mlock_kb"));
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opened_as_planned), cmocka_unit_test(turns), cmocka_unit_test(never_turns),
		cmocka_unit_test(rates),
		cmocka_unit_test(gives_way), cmocka_unit_test(kinds_of_cores), cmocka_unit_test(weights),
		cmocka_unit_test(retirement), cmocka_unit_test(ibs), cmocka_unit_test(ibs_refused),
		cmocka_unit_test(spe), cmocka_unit_test(truncated), cmocka_unit_test(over_the_end),
		cmocka_unit_test(flags),
		cmocka_unit_test(retired), cmocka_unit_test(begun_by_a_command), cmocka_unit_test(small_area),
		cmocka_unit_test(no_area),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
