/* SPDX-License-Identifier: MIT */
/* attribution/wall: made recordings of switches as profiles of time. Modules do not exist, so places are offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/profile.h"
#include "attribution/profile/rows.h"
#include "attribution/profile/units.h"
#include "base/error.h"
#include "proto/sample.h"
#include "proto/writer.h"

#define START 1000000000ull
#define MS 1000000ull
#define AT(ms) (START + (ms) * MS)
#define USER ((uint64_t)-512)
#define KERNEL ((uint64_t)-128)

struct made {
	char dir[64], path[96];
	struct gus_writer *w;
	struct gus_columns samples, switches;
	struct gus_reader *reader;
};

static struct made made;

static void add_record(Gusprof__Record *record)
{
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;

	sideband.n_records = 1;
	sideband.records = &record;
	assert_int_equal(gus_writer_sideband(made.w, &sideband, NULL), 0);
}

static void map(uint64_t time, uint64_t start, const char *path)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap m = GUSPROF__MMAP__INIT;

	m.pid = m.tid = 10;
	m.time = time;
	m.start = start;
	m.length = 0x10000;
	m.path = (char *)(uintptr_t)path;
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &m;
	add_record(&record);
}

static void call(uint32_t tid, const char *name, uint64_t time, bool exec)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Comm c = GUSPROF__COMM__INIT;

	c.pid = 10;
	c.tid = tid;
	c.name = (char *)(uintptr_t)name;
	c.time = time;
	c.exec = exec;
	record.kind_case = GUSPROF__RECORD__KIND_COMM;
	record.comm = &c;
	add_record(&record);
}

static void task(int kind, uint32_t tid, uint64_t time)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Task t = GUSPROF__TASK__INIT;

	t.pid = t.ppid = t.ptid = 10;
	t.tid = tid;
	t.time = time;
	record.kind_case = (Gusprof__Record__KindCase)kind;
	record.fork = &t;
	add_record(&record);
}

/* It runs at ip. */
static void runs(uint32_t tid, uint64_t time, uint64_t ip, uint64_t period)
{
	gus_columns_push(&made.samples, &(struct gus_sample){ .ip = ip, .time = time, .period = period, .pid = 10,
							      .tid = tid, .mode = GUS_MODE_USER });
}

/* It leaves in the kernel, called from ip, called from 0x400900. */
static void leaves(uint32_t tid, uint64_t time, uint64_t ip, uint64_t period)
{
	const uint64_t chain[] = { KERNEL, 0xffffffff81000010, USER, ip, 0x400901 };

	gus_columns_push(&made.samples, &(struct gus_sample){ .ip = 0xffffffff81000000, .time = time - 1,
		.period = period, .pid = 10, .tid = tid, .mode = GUS_MODE_KERNEL, .event = 1, .chain_n = 5,
		.chain = chain });
}

static void switches(uint32_t tid, uint64_t time, bool out, bool preempt)
{
	gus_columns_push_switch(&made.switches, &(struct gus_switch){ time, 10, tid, 0, out, preempt });
}

/* Off from one time to the other, at ip. */
static void is_off(uint32_t tid, uint64_t from, uint64_t to, uint64_t ip)
{
	leaves(tid, from, ip, 1);
	switches(tid, from, true, false);
	switches(tid, to, false, false);
}

static int setup(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	Gusprof__Event first = GUSPROF__EVENT__INIT, second = GUSPROF__EVENT__INIT;
	Gusprof__Event *events[2] = { &first, &second };

	(void)state;
	made = (struct made){ 0 };
	snprintf(made.dir, sizeof(made.dir), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(made.dir));
	snprintf(made.path, sizeof(made.path), "%s/data", made.dir);
	clock.start_ns = START;
	header.clock = &clock;
	first.name = (char *)"cpu-clock";
	first.unit = (char *)"ns";
	first.type = 1;
	second.name = (char *)"context-switches";
	second.unit = (char *)"events";
	second.type = 1;
	second.config = 3;
	second.period = 1;
	header.n_events = 2;
	header.events = events;
	made.w = gus_writer_create(made.path, &header, NULL);
	assert_non_null(made.w);
	map(START, 0x400000, "/nowhere/app");
	map(START, 0x7f0000, "/nowhere/lib.so");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_reader_close(made.reader);
	gus_columns_free(&made.samples);
	gus_columns_free(&made.switches);
	unlink(made.path);
	rmdir(made.dir);
	return 0;
}

/* Switches stand before samples in the file, which says nothing of their order. */
static void finish_file(uint64_t from, uint64_t until)
{
	Gusprof__EventTotal totals[2] = { GUSPROF__EVENT_TOTAL__INIT, GUSPROF__EVENT_TOTAL__INIT };
	Gusprof__EventTotal *pointers[2] = { &totals[0], &totals[1] };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;

	assert_int_equal(gus_writer_switches(made.w, &made.switches, NULL), 0);
	assert_int_equal(gus_writer_samples(made.w, &made.samples, NULL), 0);
	footer.n_events = 2;
	footer.events = pointers;
	footer.watched_from_ns = from;
	footer.watched_until_ns = until;
	footer.end_ns = until + 1000 * MS;
	assert_int_equal(gus_writer_finish(made.w, &footer, NULL), 0);
	made.reader = gus_reader_open(made.path, NULL);
	assert_non_null(made.reader);
}

static struct gus_profile load(struct gus_filter filter)
{
	struct gus_symbols_options options = { .symfs = "/nonexistent" };
	struct gus_error err = { 0 };
	struct gus_profile p;

	if (gus_profile_load(&p, made.reader, &filter, &options, NULL, &err) != 0)
		fail_msg("%s", err.text);
	return p;
}

/* What all cells at an offset hold. */
static struct gus_cell at(const struct gus_profile *p, uint64_t offset)
{
	struct gus_cell sum = { 0 };

	for (size_t i = 0; i < p->cells.n; i++) {
		const struct gus_cell *c = &p->cells.v[i];

		if (c->place.offset != offset)
			continue;
		sum.place = c->place;
		sum.path = c->path;
		sum.samples += c->samples;
		sum.weight += c->weight;
		gus_off_add(&sum.off, &c->off);
	}
	return sum;
}

/* Two threads: 10 runs, waits at 0x100 for 30 ms, runs, is put aside at 0x200 for 20 ms; 11 is born at 20, comes at 25,
 * and waits at 0x300 from 30 to the end. */
static void make_plain(void)
{
	call(10, "app", AT(10), true);
	map(AT(10) + 1, 0x400000, "/nowhere/app");
	runs(10, AT(15), 0x400010, MS);
	is_off(10, AT(20), AT(50), 0x400100);
	runs(10, AT(52), 0x400020, 3 * MS);
	leaves(10, AT(60), 0x400200, 1);
	switches(10, AT(60), true, true);
	switches(10, AT(80), false, false);
	task(GUSPROF__RECORD__KIND_EXIT, 10, AT(90));
	task(GUSPROF__RECORD__KIND_FORK, 11, AT(20));
	switches(11, AT(25), false, false);
	leaves(11, AT(30), 0x400300, 1);
	switches(11, AT(30), true, false);
	finish_file(0, AT(100));
}

static void off_the_cpu(void **state)
{
	struct gus_profile p;

	(void)state;
	make_plain();
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU });
	assert_int_equal(p.weight, (30 + 20 + 5 + 70) * MS);
	assert_int_equal(p.samples, 3);
	assert_int_equal(at(&p, 0x100).weight, 30 * MS);
	assert_int_equal(at(&p, 0x100).off.waiting, 0);
	assert_int_equal(at(&p, 0x200).weight, 20 * MS);
	assert_int_equal(at(&p, 0x200).off.waiting, 20 * MS);
	assert_int_equal(at(&p, 0x300).weight, 70 * MS);
	assert_int_equal(at(&p, 0x300).off.times, 1);
	assert_int_equal(at(&p, 0x300).off.longest, 70 * MS);
	assert_int_equal(at(&p, 0).weight, 5 * MS); /* at no place */
	assert_int_equal(at(&p, 0).off.waiting, 5 * MS);
	assert_int_equal(at(&p, 0x10).weight, 0);
	assert_int_equal(p.wall.born_ns, 5 * MS);
	assert_int_equal(p.wall.threads, 2);
	assert_int_equal(p.wall.all.wall, 80 * MS + 80 * MS);
	assert_int_equal(p.wall.all.on, 30 * MS + 5 * MS);
	assert_int_equal(p.wall.all.waiting, 25 * MS);
	assert_int_equal(gus_units_of(&p).time.evidence, GUS_OBSERVED);
	assert_false(gus_units_of(&p).cycles.known);
	gus_profile_free(&p);
}

/* Time on the CPU is the switches', spread as the samples' periods are. */
static void all_of_the_time(void **state)
{
	struct gus_profile p;
	struct gus_view v;

	(void)state;
	make_plain();
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL });
	assert_int_equal(p.weight, 160 * MS);
	assert_int_equal(at(&p, 0x10).weight, 30 * MS / 4);
	assert_int_equal(at(&p, 0x20).weight, 30 * MS * 3 / 4);
	/* Samples of 1 and 3 ms stand for 7.5 times as much each. */
	assert_float_equal(p.weight2 / (double)(MS * MS), 7.5 * 7.5 * (1 + 9), 1e-6);
	assert_int_equal(at(&p, 0x10).off.ns, 0);
	assert_int_equal(at(&p, 0x300).weight, 70 * MS);
	assert_int_equal(at(&p, 0).weight, 5 * MS + 5 * MS); /* 11 was never sampled */
	assert_int_equal(at(&p, 0).off.ns, 5 * MS);
	assert_int_equal(gus_units_of(&p).time.evidence, GUS_INFERRED);
	gus_view_make(&v, &p, GUS_BY_THREAD, true);
	assert_int_equal(v.rows.n, 2);
	assert_int_equal(v.rows.v[0].weight, 80 * MS);
	assert_int_equal(v.rows.v[1].weight, 80 * MS);
	assert_int_equal(v.rows.v[0].off.ns + v.rows.v[1].off.ns, 125 * MS);
	for (size_t i = 0; i < 2; i++)
		assert_true(v.rows.v[i].ci95.low <= v.rows.v[i].share && v.rows.v[i].share <= v.rows.v[i].ci95.high);
	gus_view_free(&v);
	gus_profile_free(&p);
}

/* Rows of time off the CPU are exact: nothing of it is an estimate. */
static void observed_time_has_no_interval(void **state)
{
	struct gus_profile p;
	struct gus_view v;

	(void)state;
	make_plain();
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU });
	gus_view_make(&v, &p, GUS_BY_INSTRUCTION, true);
	assert_int_equal(v.rows.v[0].off.ns, 70 * MS);
	assert_true(v.rows.v[0].share > 0.5599 && v.rows.v[0].share < 0.5601);
	assert_true(v.rows.v[0].ci95.high - v.rows.v[0].ci95.low < 1e-9);
	gus_view_free(&v);
	gus_profile_free(&p);
}

/* Paths begin above the function that waits; in the kernel they begin there. */
static void chains(void **state)
{
	struct gus_profile p;
	struct gus_cell c;

	(void)state;
	make_plain();
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU, .chains = true });
	c = at(&p, 0x100);
	assert_int_equal(p.paths.v[c.path].depth, 1);
	assert_int_equal(p.paths.v[c.path].place.offset, 0x900);
	gus_profile_free(&p);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU, .chains = true, .kernel_ends = true });
	c = at(&p, 0xffffffff81000000);
	assert_int_equal(c.weight, 120 * MS);
	assert_int_equal(p.paths.v[c.path].depth, 3);
	assert_int_equal(p.paths.v[c.path].place.offset, 0xffffffff8100000f);
	gus_profile_free(&p);
}

static void filters(void **state)
{
	static const char *const lib[] = { "lib.so", NULL }, *const app[] = { "app", NULL };
	static const char *const other[] = { "other", NULL };
	static const uint32_t tid = 11, pid = 10;
	struct gus_profile p;

	(void)state;
	call(11, "other", AT(26), false);
	make_plain();
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL, .tids = &tid, .tids_n = 1 });
	assert_int_equal(p.weight, 80 * MS);
	assert_int_equal(p.wall.all.wall, 80 * MS);
	assert_int_equal(p.wall.threads, 1);
	gus_profile_free(&p);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL, .pids = &tid, .pids_n = 1 });
	assert_int_equal(p.weight, 0); /* it is no process */
	gus_profile_free(&p);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL, .tids = &tid, .tids_n = 1, .pids = &pid,
				      .pids_n = 1 });
	assert_int_equal(p.weight, 80 * MS);
	gus_profile_free(&p);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU, .comms = app });
	assert_int_equal(p.weight, 50 * MS);
	assert_int_equal(p.filtered, 1);
	gus_profile_free(&p);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU, .comms = other });
	assert_int_equal(at(&p, 0x300).weight, 70 * MS);
	gus_profile_free(&p);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU, .modules = app });
	assert_int_equal(p.weight, 120 * MS);
	gus_profile_free(&p);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU, .modules = lib });
	assert_int_equal(p.weight, 0);
	gus_profile_free(&p);
	/* 40 to 70: 10 runs from 50 to 60 and is off 20; 11 is off. */
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL, .from_ns = 40 * MS, .to_ns = 70 * MS });
	assert_int_equal(p.weight, 60 * MS);
	assert_int_equal(at(&p, 0x100).weight, 10 * MS);
	assert_int_equal(at(&p, 0x10).weight, 0);
	assert_int_equal(at(&p, 0x20).weight, 10 * MS);
	assert_int_equal(at(&p, 0x200).weight, 10 * MS);
	assert_int_equal(at(&p, 0x300).weight, 30 * MS);
	gus_profile_free(&p);
}

/* Threads that are attached to: nothing is said of before, and who never ran is in no row. */
static void attached(void **state)
{
	struct gus_profile p;

	(void)state;
	call(10, "app", START, false);
	call(11, "app", START, false);
	call(12, "app", START, false);
	switches(10, AT(30), false, false);
	runs(11, AT(40), 0x400010, MS);
	finish_file(AT(10), AT(60));
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL });
	assert_int_equal(p.wall.before_ns, 20 * MS);
	assert_int_equal(at(&p, 0x10).weight, 50 * MS);
	assert_int_equal(at(&p, 0).off.ns, 20 * MS);
	assert_int_equal(p.wall.asleep, 1);
	assert_int_equal(p.wall.asleep_ns, 50 * MS);
	assert_int_equal(p.weight, 100 * MS);
	gus_profile_free(&p);
}

/* Idle CPUs are no thread, and neither is one without a number any more. */
static void nobody(void **state)
{
	struct gus_profile p;

	(void)state;
	switches(0, AT(10), true, false);
	switches(0, AT(20), false, false);
	switches(UINT32_MAX, AT(20), true, false);
	leaves(0, AT(22), 0x400100, 1);
	finish_file(0, AT(60));
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL });
	assert_int_equal(p.weight, 0);
	assert_int_equal(p.wall.threads, 0);
	gus_profile_free(&p);
}

/* A recording that was cut ends with what it tells last. */
static void without_an_end(void **state)
{
	struct gus_profile p;

	(void)state;
	is_off(10, AT(20), AT(50), 0x400100);
	runs(10, AT(70), 0x400010, MS);
	finish_file(0, 0);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL });
	assert_int_equal(at(&p, 0x100).weight, 30 * MS);
	assert_int_equal(p.wall.all.on, 20 * MS + 1);
	gus_profile_free(&p);
}

/* Each second switch is sampled: short waits are at 0x100, three times as many of them as at 0x200, long ones at 0x300.
 * What was not sampled counts where its like were. */
static void switches_that_were_not_sampled(void **state)
{
	struct gus_profile p;
	struct gus_view v;
	uint64_t time = AT(10);

	(void)state;
	switches(10, time, false, false);
	for (unsigned i = 0; i < 400; i++) {
		bool is_long = i % 40 >= 38;

		time += MS;
		if (i % 2)
			leaves(10, time, is_long ? 0x400300 : i % 8 == 1 ? 0x400200 : 0x400100, 2);
		switches(10, time, true, false);
		time += is_long ? 100 * MS : MS;
		switches(10, time, false, false);
	}
	finish_file(0, time);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU });
	assert_true(p.wall.thinned);
	assert_int_equal(p.weight, 380 * MS + 20 * 100 * MS);
	assert_int_equal(at(&p, 0x300).weight, 20 * 100 * MS);
	assert_int_equal(at(&p, 0x300).off.times, 20);
	assert_int_equal(at(&p, 0x300).off.inferred, 10 * 100 * MS);
	assert_int_equal(at(&p, 0x100).weight + at(&p, 0x200).weight, 380 * MS);
	assert_int_equal(at(&p, 0x200).weight, 100 * MS);
	assert_int_equal(at(&p, 0x100).off.times + at(&p, 0x200).off.times, 380);
	assert_int_equal(p.wall.inferred_ns, 1190 * MS);
	gus_view_make(&v, &p, GUS_BY_INSTRUCTION, true);
	assert_int_equal(v.rows.v[0].weight, 2000 * MS); /* half of it was seen, and all that was not may be there */
	assert_true(v.rows.v[0].ci95.low > 0.4201 && v.rows.v[0].ci95.low < 0.4202);
	assert_true(v.rows.v[0].ci95.high > 0.9201 && v.rows.v[0].ci95.high < 0.9203);
	gus_view_free(&v);
	assert_int_equal(p.wall.nowhere_ns, 0);
	assert_int_equal(gus_units_of(&p).time.evidence, GUS_INFERRED);
	gus_profile_free(&p);
}

/* Each speaks for as many as it says, itself aside, and nothing is lost by rounding. */
static void what_samples_stand_for(void **state)
{
	static const struct { uint64_t ip, period; } sampled[] = {
		{ 0x400100, 2 }, { 0x400200, 5 }, { 0x400300, 1 },
	};
	struct gus_profile p;
	uint64_t time = AT(10);

	(void)state;
	switches(10, time, false, false);
	for (unsigned i = 0; i < 8; i++) {
		time += MS;
		if (i < 3)
			leaves(10, time, sampled[i].ip, sampled[i].period);
		switches(10, time, true, false);
		time += MS + (i == 4 || i == 6);
		switches(10, time, false, false);
	}
	finish_file(0, time);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU });
	assert_int_equal(p.weight, 8 * MS + 2);
	assert_int_equal(at(&p, 0x100).weight + at(&p, 0x200).weight, 7 * MS + 2);
	assert_true(at(&p, 0x100).weight >= 2 * MS && at(&p, 0x100).weight <= 2 * MS + 1);
	assert_int_equal(at(&p, 0x100).off.times, 2);
	assert_int_equal(at(&p, 0x200).off.times, 5);
	assert_int_equal(at(&p, 0x300).weight, MS);
	gus_profile_free(&p);
}

/* Time on the CPU that its samples do not divide. */
static void odd_parts(void **state)
{
	struct gus_profile p;

	(void)state;
	switches(10, AT(10), false, false);
	for (unsigned i = 0; i < 3; i++)
		runs(10, AT(11 + i), 0x400010 + i, 7);
	switches(10, AT(20) + 2, true, false);
	finish_file(0, AT(20) + 2);
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL });
	assert_int_equal(p.weight, 10 * MS + 2);
	for (unsigned i = 0; i < 3; i++)
		assert_true(at(&p, 0x10 + i).weight >= (10 * MS + 2) / 3 &&
			    at(&p, 0x10 + i).weight <= (10 * MS + 2) / 3 + 1);
	gus_profile_free(&p);
}

/* Where each was to be sampled, one that was not is at no place; and where none of its length was, likewise. */
static void switches_without_a_place(void **state)
{
	for (uint64_t period = 1; period <= 2; period++) {
		struct gus_profile p;

		switches(10, AT(10), false, false);
		leaves(10, AT(20), 0x400100, period);
		switches(10, AT(20), true, false);
		switches(10, AT(21), false, false);
		switches(10, AT(30), true, false);
		switches(10, AT(31), false, false);
		switches(10, AT(40), true, true);
		switches(10, AT(41), false, false);
		switches(10, AT(50), true, false);
		switches(10, AT(90), false, false);
		finish_file(0, AT(100));
		p = load((struct gus_filter){ .weighs = GUS_WEIGHS_OFF_CPU });
		assert_int_equal(p.weight, 43 * MS);
		assert_int_equal(at(&p, 0x100).weight, (period == 1 ? 1 : 2) * MS);
		assert_int_equal(at(&p, 0).weight, (period == 1 ? 42 : 41) * MS);
		assert_int_equal(at(&p, 0).off.waiting, 1 * MS);
		assert_int_equal(p.wall.nowhere_ns, (period == 1 ? 42 : 41) * MS);
		gus_profile_free(&p);
		teardown(state);
		setup(state);
	}
	finish_file(0, 0);
}

/* Without samples of switches: times by thread, no places. */
static void which_event_has_the_switches(void **state)
{
	Gusprof__Event a = GUSPROF__EVENT__INIT, b = GUSPROF__EVENT__INIT, *events[2] = { &a, &b };
	Gusprof__Header header = GUSPROF__HEADER__INIT;

	(void)state;
	finish_file(0, 0);
	header.events = events;
	header.n_events = 2;
	a.type = 1;
	a.config = 2;
	b.type = 1;
	b.config = 3;
	assert_int_equal(gus_profile_switches(&header), 1);
	b.exclude_kernel = 1; /* then it tells nothing */
	assert_int_equal(gus_profile_switches(&header), UINT32_MAX);
	b.exclude_kernel = 0;
	b.type = 0;
	assert_int_equal(gus_profile_switches(&header), UINT32_MAX);
}

/* Periods that nobody's event had, whose sum is 0 in 64 bits: the time is still there, at no place, and other threads
 * keep theirs. */
static void more_than_can_be_weighed(void **state)
{
	struct gus_profile p;
	struct gus_cell nowhere;

	(void)state;
	switches(11, AT(0), false, false);
	switches(12, AT(0), false, false);
	runs(11, AT(10), 0x400100, 1ull << 63);
	runs(11, AT(11), 0x400200, 1ull << 63);
	runs(12, AT(12), 0x400300, MS);
	switches(11, AT(100), true, false);
	switches(12, AT(50), true, false);
	finish_file(START, AT(100));
	p = load((struct gus_filter){ .weighs = GUS_WEIGHS_WALL });
	assert_int_equal(at(&p, 0x100).weight, 0);
	assert_int_equal(at(&p, 0x200).weight, 0);
	assert_int_equal(at(&p, 0x300).weight, 50 * MS);
	assert_int_equal(p.weight, 100 * MS + 100 * MS);
	nowhere = at(&p, 0);
	assert_int_equal(nowhere.weight, 100 * MS + 50 * MS); /* of the other what came behind its last switch */
	gus_profile_free(&p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(off_the_cpu),
		TEST(all_of_the_time),
		TEST(observed_time_has_no_interval),
		TEST(chains),
		TEST(filters),
		TEST(attached),
		TEST(nobody),
		TEST(without_an_end),
		TEST(switches_that_were_not_sampled),
		TEST(what_samples_stand_for),
		TEST(odd_parts),
		TEST(switches_without_a_place),
		TEST(which_event_has_the_switches),
		TEST(more_than_can_be_weighed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
