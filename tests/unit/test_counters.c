/* SPDX-License-Identifier: MIT */
/* How the events of a recording are opened (collector/counters/open.c) and what comes out of their rings
 * (collector/session/lanes.c), on machines that are played: what kernels refuse, what is opened then and what is said
 * of it; what is lost, throttled, or of another kind of core. */
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
#include "collector/counters/tally.h"
#include "collector/events/event.h"
#include "collector/session/lanes.h"
#include "collector/target/target.h"
#include "tests/machine/machine.h"

#define CORE_TERMS { "event=config:0-7", "umask=config:8-15", "wide=config3:0-7", NULL }
#define LOST_FORMAT 16     /* PERF_FORMAT_LOST */
#define NOTHING "nothing is said"

static const struct machine_pmu one_core[] = {
	{ .name = "cpu", .type = 4, .counters = 8, .precise = 1, .terms = CORE_TERMS }, { 0 },
};
static const struct machine_pmu hybrid[] = {
	{ .name = "cpu_core", .type = 4, .cpus = "0-1", .precise = 3, .terms = CORE_TERMS },
	{ .name = "cpu_atom", .type = 10, .cpus = "2-3", .precise = 3, .terms = CORE_TERMS }, { 0 },
};

/* What is opened on a machine, and all that it takes. */
struct opened {
	struct gus_pmus pmus;
	struct gus_events events;
	struct gus_target target;
	struct gus_counters counters;
	struct gus_error err;
	char said[1024];
	int rc;
};

static void hear(enum gus_level level, const char *text, void *context)
{
	struct opened *o = context;

	(void)level;
	strncat(o->said, text, sizeof(o->said) - strlen(o->said) - 1);
}

static void open_on(struct opened *o, const struct machine *m, enum gus_target_kind kind, const char *events,
		    const struct gus_counters_options *options)
{
	const struct gus_log log = { GUS_DEBUG, hear, o };

	memset(o, 0, sizeof(*o));
	machine_begin(m);
	gus_pmus_init(&o->pmus, "/sys");
	gus_target_init(&o->target);
	o->target.kind = kind;
	if (kind == GUS_TARGET_THREADS)
		gus_vec_push(&o->target.watches, (struct gus_watch){ .id = getpid(), .pidfd = -1 });
	assert_int_equal(gus_events_parse(&o->events, events, &o->pmus, NULL), 0);
	for (size_t i = 0; i < o->events.n; i++)
		gus_event_set_rate(&o->events.v[i], 1000, 100000);
	o->rc = gus_counters_open(&o->counters, &o->events, &o->target, options, &log, &o->err);
}

static void close_all(struct opened *o)
{
	if (o->rc == 0)
		gus_counters_close(&o->counters);
	gus_target_free(&o->target);
	gus_events_free(&o->events);
	gus_pmus_free(&o->pmus);
	assert_int_equal(machine_end(), 0);
}

static const struct gus_counters_options plain = { .switches = true, .ring_bytes = 512 << 10 };

/* Refusals that nothing helps against: one error, with what to do; and that all which had been opened is closed. */

static int busy(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	return a->type == PERF_TYPE_HARDWARE && cpu == 1 ? EBUSY : 0;
}

static int no_perf(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)a;
	(void)pid;
	(void)cpu;
	return ENOSYS;
}

static const struct {
	const char *what;
	struct machine m;
	enum gus_target_kind kind;
	const char *events;
	enum gus_code code;
	const char *words[3];
} refusals[] = {
	{ "ENOENT", { .pmus = NULL }, GUS_TARGET_THREADS, "cycles", GUS_E_UNSUPPORTED,
	  { "cannot sample cycles", "has no such event", "cpu-clock works everywhere" } },
	{ "EOPNOTSUPP of a level", { one_core }, GUS_TARGET_THREADS, "cycles:pp", GUS_E_UNSUPPORTED,
	  { "cannot sample cycles:pp", "the hardware does not sample this event", "a lower precision" } },
	{ "EMFILE", { one_core, .descriptors = 3 }, GUS_TARGET_THREADS, "cycles,instructions", GUS_E_SYSTEM,
	  { "one descriptor an event and CPU is needed", "ulimit -Hn" } },
	{ "E2BIG", { one_core, .attr_bytes = 128 }, GUS_TARGET_THREADS, "cpu/event=1,wide=3/", GUS_E_UNSUPPORTED,
	  { "cannot open cpu/event=1,wide=3/", "this kernel", "config3" } },
	{ "EBUSY", { one_core, .refuses = busy }, GUS_TARGET_THREADS, "cycles", GUS_E_SYSTEM,
	  { "cannot open cycles on cpu 1", "somebody else holds the counters" } },
	{ "ENOSYS", { one_core, .refuses = no_perf }, GUS_TARGET_THREADS, "cycles", GUS_E_UNSUPPORTED,
	  { "has no perf_event_open" } },
	{ "EACCES of all", { one_core, .paranoid = 3 }, GUS_TARGET_THREADS, "cycles", GUS_E_PERMISSION,
	  { "kernel.perf_event_paranoid is 3", "lower it to 2" } },
	{ "EACCES of CPUs", { one_core, .paranoid = 1 }, GUS_TARGET_SYSTEM, "cycles", GUS_E_PERMISSION,
	  { "cannot watch all that runs on a CPU", "kernel.perf_event_paranoid is 1: lower it to 0" } },
	{ "a ring that may not be locked", { one_core, .lock_kib = 40 }, GUS_TARGET_THREADS, "cycles",
	  GUS_E_PERMISSION, { "32 KiB of locked memory", "perf_event_mlock_kb", "RLIMIT_MEMLOCK" } },
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct machine m = refusals[i].m;
		struct opened o;

		m.cpus = "0-1";
		open_on(&o, &m, refusals[i].kind, refusals[i].events, &plain);
		if (o.rc == 0)
			fail_msg("%s: it was opened", refusals[i].what);
		if (o.err.code != refusals[i].code)
			fail_msg("%s: code %d: %s", refusals[i].what, (int)o.err.code, o.err.text);
		for (unsigned w = 0; w < 3 && refusals[i].words[w]; w++)
			if (!strstr(o.err.text, refusals[i].words[w]))
				fail_msg("%s: '%s' is not in: %s", refusals[i].what, refusals[i].words[w], o.err.text);
		assert_string_equal(o.said, "");
		close_all(&o);
	}
}

/* The kernel may not be seen: all is opened anew without it, and that is said once. */
static void without_kernel(void **state)
{
	static const struct machine m = { one_core, .cpus = "0-1", .paranoid = 2 };
	struct opened o;

	(void)state;
	open_on(&o, &m, GUS_TARGET_THREADS, "cycles,cpu-clock", &plain);
	assert_int_equal(o.rc, 0);
	assert_string_equal(o.events.v[0].name, "cycles:u");
	assert_string_equal(o.events.v[1].name, "cpu-clock:u");
	assert_string_equal(o.said, "the kernel may not be sampled by this user (kernel.perf_event_paranoid): its time "
			    "is left out");
	assert_int_equal(machine_answered(-EACCES), 1);
	for (size_t i = 0; i < 2; i++) {
		struct machine_event *e = machine_open("cpu", PERF_COUNT_HW_CPU_CYCLES, i);

		assert_true(e->attr.exclude_kernel && e->attr.exclude_hv && !e->attr.exclude_user);
		assert_int_equal(e->cpu, i);
		assert_int_equal(e->output->cpu, i);
	}
	close_all(&o);

	open_on(&o, &m, GUS_TARGET_THREADS, "cycles:k", &plain); /* who asked for the kernel gets no user space */
	assert_int_equal(o.rc, -1);
	assert_non_null(strstr(o.err.text, "lower it to 1"));
	close_all(&o);
}

/* What an older kernel does not know is given up newest first, until it takes the event: of 5.11, which has neither
 * counts of what was lost nor build ids. */
static int of_5_11(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)pid;
	(void)cpu;
	return a->build_id || (a->read_format & LOST_FORMAT) ? EINVAL : 0;
}

static int of_5_11_by_size(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	return of_5_11(a, pid, cpu) ? E2BIG : 0;
}

static int nothing(const struct perf_event_attr *a, pid_t pid, int cpu)
{
	(void)a;
	(void)pid;
	(void)cpu;
	return E2BIG;
}

static void older_kernel(void **state)
{
	static const struct { struct machine m; int answer; } cases[] = {
		{ { one_core, .cpus = "0", .refuses = of_5_11 }, -EINVAL },
		{ { one_core, .cpus = "0", .refuses = of_5_11_by_size }, -E2BIG },
	};
	static const struct machine no = { one_core, .cpus = "0", .refuses = nothing };
	struct opened o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		open_on(&o, &cases[i].m, GUS_TARGET_THREADS, "cycles", &plain);
		assert_int_equal(o.rc, 0);
		assert_int_equal(o.counters.plan.features, GUS_ATTR_ALL & ~(GUS_ATTR_LOST | GUS_ATTR_BUILD_ID));
		assert_int_equal(machine_answered(cases[i].answer), 2); /* with both, and without the newest */
		assert_string_equal(o.said, "");
		close_all(&o);
	}
	open_on(&o, &no, GUS_TARGET_THREADS, "cycles", &plain); /* there is an end to that */
	assert_int_equal(o.rc, -1);
	assert_int_equal(machine_answered(-E2BIG), machine_asked());
	assert_int_equal(machine_asked(), 7); /* with six features, five, ... and none */
	assert_non_null(strstr(o.err.text, "this kernel is too old"));
	close_all(&o);
}

/* Rings are halved until all of them are of one size; a stack that would not fit into one is cut, and said. */
static void small_rings(void **state)
{
	static const struct machine m = { one_core, .cpus = "0-1", .lock_kib = 600 };
	struct gus_counters_options o_s = plain;
	struct opened o;

	(void)state;
	open_on(&o, &m, GUS_TARGET_THREADS, "cycles", &o_s);
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.counters.rings.n, 2);
	assert_int_equal(o.counters.rings.v[0].size, 256 << 10);
	assert_int_equal(o.counters.rings.v[1].size, 256 << 10);
	close_all(&o);

	o_s.cargo = (struct gus_cargo){ .chain = true, .regs = true, .stack_bytes = 65528 };
	open_on(&o, &m, GUS_TARGET_THREADS, "cycles", &o_s);
	assert_int_equal(o.rc, 0);
	assert_int_equal(o.counters.plan.cargo.stack_bytes, (256 << 10) / 16 - 1024);
	assert_non_null(strstr(o.said, "samples bring 15360 bytes of the stack along instead of 65528"));
	close_all(&o);
}

/* Records. */

struct world {
	struct opened o;
	struct gus_living living;
	struct gus_lanes lanes;
};

static void begin(struct world *w, const struct machine *m, const char *events)
{
	open_on(&w->o, m, GUS_TARGET_THREADS, events, &plain);
	assert_int_equal(w->o.rc, 0);
	gus_living_init(&w->living);
	gus_lanes_init(&w->lanes, &w->o.counters, &w->living);
	gus_counters_enable(&w->o.counters);
}

static void drain(struct world *w)
{
	assert_int_equal(gus_lanes_drain(&w->lanes, NULL, 1, NULL), 0);
}

static void end(struct world *w)
{
	gus_lanes_free(&w->lanes);
	gus_living_free(&w->living);
	close_all(&w->o);
}

/* Each kind of cores has its own event, on its own CPUs, and what its samples are of is told by that. */
static void kinds_of_cores(void **state)
{
	static const struct machine m = { hybrid, .cpus = "0-3" };
	struct machine_event *large, *small;
	struct world w;

	(void)state;
	begin(&w, &m, "cycles:pp");
	assert_int_equal(w.o.events.n, 2);
	for (size_t i = 0; i < w.o.counters.list.n; i++)
		assert_int_equal(w.o.counters.list.v[i].event, w.o.counters.list.v[i].cpu < 2);
	assert_int_equal(machine_answered(-ENOENT), 0); /* nothing is tried where it cannot be */
	small = machine_open("cpu_atom", w.o.events.v[0].config, 0); /* in the order of the PMUs' names */
	large = machine_open("cpu_core", w.o.events.v[1].config, 1);
	assert_int_equal(large->cpu, 1);
	assert_int_equal(small->cpu, 2);
	machine_take_sample(large, &(struct machine_sample){ .ip = 0x1000, .exact = true });
	for (unsigned i = 0; i < 3; i++)
		machine_take_sample(small, &(struct machine_sample){ .ip = 0x2000, .exact = true });
	drain(&w);
	assert_int_equal(w.lanes.totals[0].samples, 3);
	assert_int_equal(w.lanes.totals[1].samples, 1);
	assert_int_equal(gus_columns_sample(&w.lanes.lane[2].samples, 2).event, 0);
	assert_int_equal(gus_columns_sample(&w.lanes.lane[2].samples, 2).ip, 0x2000);
	assert_int_equal(gus_columns_sample(&w.lanes.lane[1].samples, 0).event, 1);
	end(&w);
}

/* More than a ring holds: what found no room is told when there is some again, to the event that it was of; what the
 * hardware dropped itself is told as such. */
static void lost(void **state)
{
	static const struct machine m = { one_core, .cpus = "0" };
	struct machine_event *cycles, *clock;
	Gusprof__EventTotal *all;
	uint64_t kept;
	struct world w;

	(void)state;
	begin(&w, &m, "cycles,cpu-clock");
	cycles = machine_open("cpu", PERF_COUNT_HW_CPU_CYCLES, 0);
	clock = machine_open("", PERF_COUNT_SW_CPU_CLOCK, 0);
	for (unsigned i = 0; i < 20000; i++)
		machine_take_sample(cycles, &(struct machine_sample){ .ip = i });
	drain(&w);
	kept = w.lanes.totals[0].samples;
	assert_in_range(kept, 1000, 19999);
	assert_int_equal(w.lanes.lost, 0); /* nobody has told yet */
	machine_take_sample(cycles, &(struct machine_sample){ .ip = 1 });
	drain(&w);
	assert_int_equal(w.lanes.lost, 20000 - kept);
	assert_int_equal(w.lanes.totals[0].lost, 20000 - kept);
	assert_int_equal(w.lanes.totals[0].samples, kept + 1);
	assert_int_equal(gus_columns_sample(&w.lanes.lane[0].samples, 0).period, 100000);
	machine_lose_samples(clock, 7);
	drain(&w);
	assert_int_equal(w.lanes.totals[1].lost, 7);
	assert_int_equal(w.lanes.lost, 20000 - kept + 7);
	/* The kernel's own count is what goes into the file. */
	all = gus_lanes_counted(&w.lanes);
	assert_int_equal(all[0].lost, 20000 - kept);
	free(all);
	end(&w);
}

static void throttled(void **state)
{
	static const struct machine m = { one_core, .cpus = "0-1" };
	struct machine_event *second;
	struct world w;

	(void)state;
	begin(&w, &m, "cpu-clock,cycles");
	second = machine_open("cpu", PERF_COUNT_HW_CPU_CYCLES, 1);
	for (unsigned i = 0; i < 3; i++) {
		machine_throttle(second, true);
		machine_throttle(second, false);
	}
	machine_throttle(second, true);
	drain(&w);
	assert_int_equal(w.lanes.throttles, 4); /* that it goes on is none more */
	assert_int_equal(w.lanes.totals[0].throttles, 0);
	assert_int_equal(w.lanes.totals[1].throttles, 4);
	assert_int_equal(gus_sideband_message(&w.lanes.lane[1].sideband).n_records, 7);
	assert_int_equal(w.lanes.bad, 0);
	end(&w);
}

/* A ring that says what cannot be is emptied, counted, and goes on. */
static void broken_ring(void **state)
{
	static const struct machine m = { one_core, .cpus = "0" };
	const uint64_t wrong[] = { 0, 0, 0 };
	struct machine_event *cycles;
	struct world w;

	(void)state;
	begin(&w, &m, "cycles");
	cycles = machine_open("cpu", PERF_COUNT_HW_CPU_CYCLES, 0);
	machine_put(cycles, 77, 0, wrong, 3); /* a type of a kernel to come */
	machine_put(cycles, PERF_RECORD_LOST, 0, wrong, 1); /* half a body */
	drain(&w);
	assert_int_equal(w.lanes.unknown, 1);
	assert_int_equal(w.lanes.bad, 1);
	machine_take_sample(cycles, &(struct machine_sample){ .ip = 1 });
	drain(&w);
	assert_int_equal(w.lanes.totals[0].samples, 1);
	end(&w);
}

/* A flight recorder keeps the newest, and gives them oldest first. */
static void flight(void **state)
{
	static const struct machine m = { one_core, .cpus = "0" };
	struct gus_counters_options options = plain;
	struct machine_event *cycles;
	struct world w;
	size_t n;

	(void)state;
	options.overwrite = true;
	options.ring_bytes = 64 << 10;
	open_on(&w.o, &m, GUS_TARGET_THREADS, "cycles", &options);
	assert_int_equal(w.o.rc, 0);
	gus_living_init(&w.living);
	gus_lanes_init(&w.lanes, &w.o.counters, &w.living);
	gus_counters_enable(&w.o.counters);
	cycles = machine_open("cpu", PERF_COUNT_HW_CPU_CYCLES, 0);
	for (uint64_t i = 1; i <= 5000; i++)
		machine_take_sample(cycles, &(struct machine_sample){ .ip = i });
	gus_lanes_snapshot(&w.lanes, 1);
	n = w.lanes.lane[0].samples.n;
	assert_in_range(n, 100, 4999);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(gus_columns_sample(&w.lanes.lane[0].samples, i).ip, 5000 - n + 1 + i);
	assert_false(cycles->output->paused);
	end(&w);
}

/* What is only counted: what one place refuses is given up everywhere, with its reason. */
static void tallies(void **state)
{
	static const struct machine m = { one_core, .cpus = "0-1", .refuses = busy };
	const struct gus_tally_place places[] = { { -1, 0 }, { -1, 1 } };
	struct gus_events events = { 0 };
	struct gus_count counts[2];
	struct gus_pmus pmus;
	struct gus_tally t;

	(void)state;
	machine_begin(&m);
	gus_pmus_init(&pmus, "/sys");
	assert_int_equal(gus_events_parse(&events, "cycles,cpu-clock", &pmus, NULL), 0);
	assert_int_equal(gus_tally_open(&t, &events, places, 2, false, NULL), 0);
	assert_int_equal(t.states[0], GUS_TALLY_ABSENT);
	assert_int_equal(t.reasons[0], EBUSY);
	assert_int_equal(t.states[1], GUS_TALLY_OPEN);
	gus_tally_enable(&t);
	machine_open("", PERF_COUNT_SW_CPU_CLOCK, 0)->count = 5;
	machine_open("", PERF_COUNT_SW_CPU_CLOCK, 1)->count = 7;
	gus_tally_disable(&t);
	gus_tally_read(&t, counts);
	assert_int_equal(counts[0].value, 0);
	assert_int_equal(counts[1].value, 12);
	gus_tally_close(&t);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	assert_int_equal(machine_end(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused), cmocka_unit_test(without_kernel), cmocka_unit_test(older_kernel),
		cmocka_unit_test(small_rings), cmocka_unit_test(kinds_of_cores), cmocka_unit_test(lost),
		cmocka_unit_test(throttled), cmocka_unit_test(broken_ring), cmocka_unit_test(flight),
		cmocka_unit_test(tallies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
