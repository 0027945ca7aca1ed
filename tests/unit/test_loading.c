/* SPDX-License-Identifier: MIT */
/* attribution/profile: what becomes of each sample of small recordings, which are written here frame by frame, and what
 * is said of those that are damaged, cut or contradict themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/profile/profile.h"
#include "attribution/profile/selection.h"
#include "base/error.h"
#include "base/limits.h"
#include "proto/sample.h"
#include "proto/varint.h"
#include "proto/writer.h"

#define START 1000000ull
#define APP 0x400000u           /* where /nowhere/app is mapped, offset 0 of it */
#define LIB 0x700000u           /* /nowhere/lib.so */
#define VDSO 0x900000u          /* [vdso] */
#define MARKER(context) ((uint64_t)-(context)) /* PERF_CONTEXT_*: -128 kernel, -512 user, -2048 guest */

struct made {
	char dir[64], path[96];
	struct gus_writer *writer;
	struct gus_reader *reader;
	struct gus_columns batch, switches;
	struct gus_profile profile;
};

static const struct gus_sample plain = {
	.ip = APP, .time = START + 1, .period = 1, .pid = 10, .tid = 10, .mode = GUS_MODE_USER,
};

static void record_one(struct made *m, Gusprof__Record *record)
{
	Gusprof__Record *list[] = { record };
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;

	sideband.n_records = 1;
	sideband.records = list;
	assert_int_equal(gus_writer_sideband(m->writer, &sideband, NULL), 0);
}

static void map_at(struct made *m, uint64_t time, uint64_t start, const char *path)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap mmap = GUSPROF__MMAP__INIT;

	mmap.pid = mmap.tid = 10;
	mmap.time = START + time;
	mmap.start = start;
	mmap.length = 0x100000;
	mmap.path = (char *)(uintptr_t)path;
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &mmap;
	record_one(m, &record);
}

static void map(struct made *m, uint64_t start, const char *path)
{
	map_at(m, 0, start, path);
}

static void comm(struct made *m, uint32_t tid, uint64_t time, const char *name)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Comm c = GUSPROF__COMM__INIT;

	c.pid = 10;
	c.tid = tid;
	c.time = START + time;
	c.name = (char *)(uintptr_t)name;
	record.kind_case = GUSPROF__RECORD__KIND_COMM;
	record.comm = &c;
	record_one(m, &record);
}

static void lose(struct made *m, uint64_t count)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Lost lost = GUSPROF__LOST__INIT;

	lost.count = count;
	record.kind_case = GUSPROF__RECORD__KIND_LOST;
	record.lost = &lost;
	record_one(m, &record);
}

static void throttle(struct made *m, bool stop)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Throttle t = GUSPROF__THROTTLE__INIT;

	t.stop = stop;
	record.kind_case = GUSPROF__RECORD__KIND_THROTTLE;
	record.throttle = &t;
	record_one(m, &record);
}

/* n events; with a clock that begins at START, or without. */
static void begin_with(struct made *m, size_t n, bool with_clock)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event, &event };

	*m = (struct made){ .writer = NULL };
	snprintf(m->dir, sizeof(m->dir), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->path, sizeof(m->path), "%s/data", m->dir);
	clock.start_ns = START;
	if (with_clock)
		header.clock = &clock;
	event.name = event.unit = (char *)"ns";
	header.n_events = n;
	header.events = events;
	m->writer = gus_writer_create(m->path, &header, NULL);
	assert_non_null(m->writer);
	map(m, APP, "/nowhere/app");
	map(m, LIB, "/nowhere/lib.so");
	map(m, VDSO, "[vdso]");
}

static void begin(struct made *m)
{
	begin_with(m, 2, true);
}

static void sample(struct made *m, uint64_t ip, uint32_t tid, uint64_t time, uint64_t period)
{
	struct gus_sample s = plain;

	s.ip = ip;
	s.tid = tid;
	s.time = START + time;
	s.period = period;
	gus_columns_push(&m->batch, &s);
}

static void switched(struct made *m, bool out, uint32_t tid, uint32_t cpu, uint64_t time)
{
	gus_columns_push_switch(&m->switches, &(struct gus_switch){ START + time, 10, tid, cpu, out, false });
}

/* What was pushed becomes a frame. */
static void flush(struct made *m)
{
	assert_int_equal(gus_writer_samples(m->writer, &m->batch, NULL), 0);
	assert_int_equal(gus_writer_switches(m->writer, &m->switches, NULL), 0);
	gus_columns_clear(&m->batch);
	gus_columns_clear(&m->switches);
}

static void open_it(struct made *m)
{
	m->reader = gus_reader_open(m->path, NULL);
	assert_non_null(m->reader);
}

/* The footer says that so many samples were written, and so many lost. */
static void end_with(struct made *m, uint64_t samples, uint64_t lost, uint64_t end)
{
	Gusprof__EventTotal total = GUSPROF__EVENT_TOTAL__INIT, other = GUSPROF__EVENT_TOTAL__INIT;
	Gusprof__EventTotal *totals[] = { &total, &other };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;

	flush(m);
	total.samples = samples;
	total.lost = lost;
	footer.n_events = 2;
	footer.events = totals;
	footer.end_ns = end;
	assert_int_equal(gus_writer_finish(m->writer, &footer, NULL), 0);
	open_it(m);
}

static void end(struct made *m)
{
	end_with(m, 0, 0, START);
}

static void cut(struct made *m)
{
	flush(m);
	gus_writer_abandon(m->writer);
	open_it(m);
}

static const struct gus_profile *load(struct made *m, const struct gus_filter *filter)
{
	static const struct gus_symbols_options options;
	struct gus_error err = { 0 };

	if (gus_profile_load(&m->profile, m->reader, filter, &options, NULL, &err) != 0)
		fail_msg("%s", err.text);
	return &m->profile;
}

static const struct gus_profile *load_all(struct made *m)
{
	return load(m, &(struct gus_filter){ 0 });
}

static void close_it(struct made *m)
{
	gus_reader_close(m->reader);
	gus_columns_free(&m->batch);
	gus_columns_free(&m->switches);
	unlink(m->path);
	rmdir(m->dir);
}

static void drop(struct made *m)
{
	gus_profile_free(&m->profile);
	assert_null(m->profile.space); /* and nothing else is left */
	assert_int_equal(m->profile.samples, 0);
	close_it(m);
}

/* Cells. */

static void cells_add_up_weights_and_squares(void **state)
{
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	sample(&m, APP + 8, 10, 1, 3);
	sample(&m, APP + 9, 10, 2, 10);
	sample(&m, APP + 8, 10, 3, 4);
	end(&m);
	p = load_all(&m);
	assert_int_equal(p->cells.n, 2);
	assert_true(p->cells.v[0].samples == 2 && p->cells.v[0].weight == 7);
	assert_true(p->cells.v[0].weight2 > 24.9 && p->cells.v[0].weight2 < 25.1);
	assert_true(p->cells.v[1].weight2 > 99.9 && p->cells.v[1].weight2 < 100.1);
	assert_true(p->samples == 3 && p->weight == 17 && p->weight2 > 124.9 && p->weight2 < 125.1);
	drop(&m);
}

/* By module, offset, thread and path, each pushed in the wrong order: threads and paths have their numbers by first
 * sight. */
static void cells_stand_in_their_order(void **state)
{
	static const uint64_t chains[] = { LIB + 1, LIB + 2 };
	const struct gus_profile *p;
	struct gus_sample s = plain;
	struct made m;

	(void)state;
	begin(&m);
	sample(&m, LIB + 9, 10, 1, 1);          /* thread 0 */
	s.ip = LIB + 8;
	s.chain_n = 1;
	for (size_t i = 0; i < 2; i++) {
		s.chain = &chains[i];
		gus_columns_push(&m.batch, &s); /* paths 1 and 2 */
	}
	s.chain = &chains[0];
	s.tid = 11;
	gus_columns_push(&m.batch, &s);         /* thread 1, path 1 */
	s.tid = 10;
	s.chain_n = 0;
	gus_columns_push(&m.batch, &s);         /* thread 0, path 0 */
	sample(&m, APP + 9, 10, 1, 1);
	end(&m);
	p = load(&m, &(struct gus_filter){ .chains = true });
	assert_int_equal(p->cells.n, 6);
	for (size_t i = 1; i < 6; i++) {
		const struct gus_cell *a = &p->cells.v[i - 1], *b = &p->cells.v[i];

		if (a->place.module != b->place.module)
			assert_true(a->place.module < b->place.module);
		else if (a->place.offset != b->place.offset)
			assert_true(a->place.offset < b->place.offset);
		else if (a->thread != b->thread)
			assert_true(a->thread < b->thread);
		else
			assert_true(a->path < b->path);
	}
	drop(&m);
}

/* The first and the last time are those of the clock, and not of the file. */
static void times_are_the_earliest_and_the_latest(void **state)
{
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	sample(&m, APP, 10, 20, 1);
	sample(&m, APP, 10, 30, 1);
	flush(&m);
	sample(&m, APP, 10, 10, 1);
	end(&m);
	p = load_all(&m);
	assert_true(p->first_ns == START + 10 && p->last_ns == START + 30);
	drop(&m);
}

/* Filters. */

static unsigned left_by(struct made *m, const struct gus_filter *filter)
{
	const struct gus_profile *p = load(m, filter);
	unsigned left = (unsigned)p->samples;

	assert_int_equal(p->filtered, 5 - left);
	gus_profile_free(&m->profile);
	return left;
}

/* Samples at 10, 20, 30, 40 and 50, the last two in a batch of their own; both ends of a span belong to it. What lies
 * outside was left out, whether its batch was read or passed over. */
static void spans_hold_their_ends(void **state)
{
	static const struct { uint64_t from, to; unsigned left; } cases[] = {
		{ 0, 0, 5 }, { 10, 50, 5 }, { 11, 50, 4 }, { 10, 49, 4 }, { 20, 40, 3 }, { 19, 41, 3 }, { 21, 39, 1 },
		{ 30, 30, 1 }, { 51, 0, 0 }, { 50, 0, 1 }, { 0, 10, 1 }, { 0, 9, 0 }, { 10, 30, 3 }, { 40, 50, 2 },
		{ 31, 39, 0 }, };
	struct made m;

	(void)state;
	begin(&m);
	for (unsigned i = 1; i <= 5; i++) {
		sample(&m, APP, 10, 10 * i, 1);
		if (i == 3)
			flush(&m);
	}
	end_with(&m, 5, 0, START);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(left_by(&m, &(struct gus_filter){ .from_ns = cases[i].from, .to_ns = cases[i].to }),
				 cases[i].left);
	close_it(&m);
}

/* A recording that does not say when it began, began at 0. */
static void without_a_clock_spans_are_from_zero(void **state)
{
	struct made m;

	(void)state;
	begin_with(&m, 2, false);
	for (unsigned i = 4; i <= 7; i++)
		sample(&m, APP, 10, i, 1);
	end_with(&m, 4, 0, START);
	assert_int_equal(load(&m, &(struct gus_filter){ .from_ns = START + 5 })->samples, 3);
	gus_profile_free(&m.profile);
	assert_int_equal(load(&m, &(struct gus_filter){ .to_ns = START + 6 })->samples, 3);
	drop(&m);
}

/* Two samples in app, two in lib.so, one in [vdso]; of threads 10, 10, 11, 12 and 12. */
static void lists_take_what_is_in_them(void **state)
{
	static const char *const app[] = { "app", NULL }, *const path[] = { "/nowhere/app", NULL };
	static const char *const part[] = { "nowhere/app", NULL };
	static const char *const two[] = { "lib.so", "[vdso]", NULL }, *const none[] = { NULL };
	static const char *const a[] = { "a", NULL }, *const both[] = { "b", "a", NULL };
	static const uint32_t tids[] = { 11, 12, 10 };
	static const struct { struct gus_filter filter; unsigned left; } cases[] = {
		{ { .modules = app }, 2 }, { { .modules = path }, 2 }, { { .modules = part }, 0 },
			{ { .modules = two }, 3 },
		{ { .modules = none }, 0 },
		{ { .tids = tids, .tids_n = 1 }, 1 }, { { .tids = tids, .tids_n = 2 }, 3 },
		{ { .tids = tids, .tids_n = 3 }, 5 },
		{ { .comms = a }, 2 }, { { .comms = both }, 3 }, { { .comms = none }, 0 },
		{ { .comms = a, .modules = app, .tids = tids, .tids_n = 3 }, 2 },
		{ { .comms = a, .modules = app, .tids = tids, .tids_n = 2 }, 0 },
		{ { .comms = a, .modules = two }, 0 },
	};
	struct made m;

	(void)state;
	begin(&m);
	comm(&m, 10, 0, "a");
	comm(&m, 11, 0, "b");
	comm(&m, 12, 0, "c");
	sample(&m, APP, 10, 1, 1);
	sample(&m, APP + 1, 10, 2, 1);
	sample(&m, LIB, 11, 3, 1);
	sample(&m, LIB + 1, 12, 4, 1);
	sample(&m, VDSO, 12, 5, 1);
	end(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (left_by(&m, &cases[i].filter) != cases[i].left)
			fail_msg("case %zu: not %u samples", i, cases[i].left);
	close_it(&m);
}

/* Samples of processes 10, 20 and 20, on CPUs 0, 3 and 5; one that does not say its CPU is on none. */
static void processes_and_cpus_are_taken(void **state)
{
	static const uint32_t pids[] = { 20, 10 };
	static const struct gus_cpu_range ranges[] = { { 4, 9 }, { 0, 3 }, { 6, 9 }, { 0, 2 }, { 3, 3 },
						       { 0, UINT32_MAX - 1 } };
	static const struct { struct gus_filter filter; unsigned left; uint64_t without; } cases[] = {
		{ { .pids = pids, .pids_n = 1 }, 3, 0 }, { { .pids = pids, .pids_n = 2 }, 5, 0 },
		{ { .pids = pids + 1, .pids_n = 1 }, 2, 0 },
		{ { .cpus = ranges, .cpus_n = 1 }, 1, 1 }, { { .cpus = ranges, .cpus_n = 2 }, 4, 1 },
		{ { .cpus = ranges + 1, .cpus_n = 1 }, 3, 1 }, { { .cpus = ranges + 2, .cpus_n = 1 }, 0, 1 },
		{ { .cpus = ranges + 3, .cpus_n = 1 }, 2, 1 }, { { .cpus = ranges + 3, .cpus_n = 2 }, 3, 1 },
		{ { .cpus = ranges + 5, .cpus_n = 1 }, 4, 1 },
		{ { .cpus = ranges + 3, .cpus_n = 1, .pids = pids, .pids_n = 1 }, 0, 1 },
	};
	static const uint32_t of[5][2] = { { 10, 0 }, { 20, 3 }, { 20, 5 }, { 20, GUS_CPU_UNKNOWN }, { 10, 0 } };
	struct made m;

	(void)state;
	begin(&m);
	for (size_t i = 0; i < 5; i++) {
		struct gus_sample s = plain;

		s.pid = of[i][0];
		s.cpu = of[i][1];
		gus_columns_push(&m.batch, &s);
	}
	end(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (left_by(&m, &cases[i].filter) != cases[i].left)
			fail_msg("case %zu: not %u samples", i, cases[i].left);
		load(&m, &cases[i].filter);
		assert_int_equal(m.profile.without_cpu, cases[i].without);
		gus_profile_free(&m.profile);
	}
	close_it(&m);
}

/* Names are those at the sample, before and after an exec; what was asked for and what there is are both told. */
static void names_of_threads_are_kept(void **state)
{
	static const char *const sh[] = { "sh", NULL };
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	comm(&m, 10, 0, "sh");
	comm(&m, 10, 3, "gzip");
	sample(&m, APP, 10, 1, 1);
	sample(&m, APP, 10, 2, 1);
	sample(&m, APP, 10, 4, 1);
	end(&m);
	p = load(&m, &(struct gus_filter){ .comms_kept = true });
	assert_int_equal(p->cells.n, 2); /* of one place and one thread */
	assert_int_equal(p->comms.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(p->cells.v[i].samples, strcmp(p->comms.v[p->cells.v[i].comm], "sh") == 0 ? 2 : 1);
	gus_profile_free(&m.profile);
	p = load(&m, &(struct gus_filter){ .comms = sh });
	assert_true(p->samples == 2 && p->filtered == 1 && p->cells.n == 1);
	assert_int_equal(p->comms.n, 2); /* also what was not asked for */
	gus_profile_free(&m.profile);
	p = load(&m, &(struct gus_filter){ 0 });
	assert_true(p->cells.n == 1 && !p->comms.n && !p->modules.n);
	drop(&m);
}

static bool odd_places(void *context, const struct gus_cell *cell)
{
	++*(unsigned *)context;
	return cell->place.offset & 1;
}

/* What is not kept is counted, and the rest adds up. */
static void what_is_not_kept_was_filtered(void **state)
{
	const struct gus_profile *p;
	unsigned asked = 0;
	struct made m;

	(void)state;
	begin(&m);
	for (unsigned i = 0; i < 6; i++)
		sample(&m, APP + i % 3, 10, i + 1, i + 1);
	end(&m);
	p = load(&m, &(struct gus_filter){ 0 });
	assert_true(p->samples == 6 && p->weight == 21 && p->weight2 == 91);
	gus_profile_keep(&m.profile, odd_places, &asked);
	assert_int_equal(asked, 3);
	assert_true(p->samples == 2 && p->filtered == 4 && p->cells.n == 1);
	assert_true(p->weight == 2 + 5 && p->weight2 == 4 + 25);
	drop(&m);
}

/* A name means itself, whatever a pattern would make of it. */
static void names_of_functions_are_meant(void **state)
{
	(void)state;
	assert_true(gus_selection_means("f", "f"));
	assert_false(gus_selection_means("f", "ff"));
	assert_true(gus_selection_means("std::*::push_*", "std::vector<int>::push_back"));
	assert_true(gus_selection_means("main.*", "main.(*T).a/b")); /* a name is no path */
	assert_false(gus_selection_means("*::push_", "std::vector<int>::push_back"));
	assert_true(gus_selection_means("a::operator[]", "a::operator[]"));
	assert_true(gus_selection_means("f<char [4]>", "f<char [4]>"));
	assert_true(gus_selection_means("a\\b", "a\\b"));
}

/* /nowhere/app has alpha, beta and gamma, of 16 bytes each; the second half of gamma is inlined from delta. */
static void bring_names(struct made *m)
{
	static const char *const texts[] = { "alpha", "beta", "gamma", "delta", "/src.c" };
	Gusprof__EmbeddedFunction functions[3], *functions_list[3];
	Gusprof__EmbeddedChain chain = GUSPROF__EMBEDDED_CHAIN__INIT, *chains[] = { &chain };
	Gusprof__EmbeddedLines lines = GUSPROF__EMBEDDED_LINES__INIT, *lines_list[] = { &lines };
	Gusprof__Embedded e = GUSPROF__EMBEDDED__INIT;
	uint32_t names[] = { 4, 3 }, files[] = { 5, 5 }, numbers[] = { 1, 2 };

	for (size_t i = 0; i < 3; i++) {
		gusprof__embedded_function__init(&functions[i]);
		functions[i].offset = functions[i].address = i * 16;
		functions[i].size = 16;
		functions[i].name = (uint32_t)i + 1;
		functions_list[i] = &functions[i];
	}
	chain.n_functions = chain.n_files = chain.n_lines = 2;
	chain.functions = names;
	chain.files = files;
	chain.lines = numbers;
	lines.offset = 40;
	lines.size = 8;
	e.path = (char *)(uintptr_t)"/nowhere/app";
	e.n_texts = 5;
	e.texts = (char **)(uintptr_t)texts;
	e.n_functions = 3;
	e.functions = functions_list;
	e.n_chains = e.n_lines = 1;
	e.chains = chains;
	e.lines = lines_list;
	assert_int_equal(gus_writer_message(m->writer, GUS_FRAME_EMBEDDED, &e.base, NULL), 0);
}

/* Samples of weights 1, 2, ... 64: what is kept can be told from their sum. Two places of one function, one place of
 * two threads, one without a name, and one of another module at the same offset. */
static void only_what_is_meant_is_kept(void **state)
{
	static const struct { const char *patterns[3]; bool inlines; uint64_t samples, weight; } cases[] = {
		{ { "alpha" }, false, 2, 3 }, { { "beta" }, false, 2, 12 }, { { "gamma" }, false, 2, 48 },
		{ { "gamma" }, true, 1, 16 }, { { "delta" }, true, 1, 32 }, { { "delta" }, false, 0, 0 },
		{ { "beta", "alpha" }, false, 4, 15 }, { { "no", "*lpha" }, false, 2, 3 }, { { "*" }, false, 6, 63 },
		{ { "alph" }, false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_strings names = { 0 };
		struct made m;

		begin(&m);
		bring_names(&m);
		sample(&m, APP + 1, 10, 1, 1);
		sample(&m, APP + 15, 10, 2, 2);
		sample(&m, APP + 16, 10, 3, 4);
		sample(&m, APP + 16, 11, 4, 8);
		sample(&m, APP + 39, 10, 5, 16);
		sample(&m, APP + 40, 10, 6, 32);
		sample(&m, LIB + 40, 10, 7, 64);
		end(&m);
		load_all(&m);
		gus_strings_init(&names);
		gus_selection_functions(&m.profile, cases[i].patterns, cases[i].inlines, &names);
		assert_int_equal(m.profile.samples, cases[i].samples);
		assert_int_equal(m.profile.weight, cases[i].weight);
		assert_int_equal(m.profile.filtered, 7 - cases[i].samples);
		assert_int_equal(names.n, cases[i].inlines ? 5 : 4); /* and 0, which is none */
		gus_strings_free(&names);
		drop(&m);
	}
}

/* A recording that does not say which events it has, as where its header is lost, has one. */
static void events_that_are_not_told_are_one(void **state)
{
	static const struct gus_symbols_options options;
	struct gus_error err = { 0 };
	struct made m;

	(void)state;
	begin_with(&m, 0, true);
	sample(&m, APP, 10, 1, 1);
	end(&m);
	assert_int_equal(gus_profile_load(&m.profile, m.reader, &(struct gus_filter){ .event = 1 }, &options, NULL,
					  &err), -1);
	assert_int_equal(err.code, GUS_E_USAGE);
	assert_int_equal(load_all(&m)->samples, 1);
	drop(&m);
	begin(&m);
	end(&m);
	assert_int_equal(gus_profile_load(&m.profile, m.reader, &(struct gus_filter){ .event = 2 }, &options, NULL,
					  &err), -1);
	assert_int_equal(load(&m, &(struct gus_filter){ .event = 1 })->samples, 0);
	drop(&m);
}

/* Chains. */

/* The places of a sample's path, innermost first, as offsets in their modules. */
static void path_is(const struct gus_profile *p, const uint64_t *offsets, size_t n)
{
	uint32_t path = p->cells.v[0].path;

	assert_int_equal(p->cells.n, 1);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(p->paths.v[path].depth, n - i);
		assert_int_equal(p->paths.v[path].place.offset, offsets[i]);
		path = p->paths.v[path].caller;
	}
	assert_int_equal(path, 0);
	assert_true(p->paths.v[0].depth == 0 && p->paths.v[0].caller == 0);
}

/* Addresses return to behind a call, and are taken back by one, but for the first of a further context: there nothing
 * was called. Kernel addresses are their own offsets. */
static void callers_are_found_before_their_return(void **state)
{
	static const uint64_t k = 0xffffffff81000000;
	static const struct { unsigned mode, n; uint64_t chain[4], want[4]; size_t want_n; } cases[] = {
		/* In user mode, with a marker in front and without. */
		{ GUS_MODE_USER, 3, { MARKER(512), APP + 0x11, LIB + 0x22 }, { 0x10, 0x21 }, 2 },
		{ GUS_MODE_USER, 2, { APP + 0x11, LIB + 0x22 }, { 0x10, 0x21 }, 2 },
		/* In the kernel, which interrupted the program at 0x33. */
		{ GUS_MODE_KERNEL, 4, { MARKER(128), k + 0x11, MARKER(512), APP + 0x33 }, { k + 0x10, 0x33 }, 2 },
		/* The same where the kernel's part is not recorded: the first is where the program was. */
		{ GUS_MODE_KERNEL, 3, { MARKER(512), APP + 0x33, LIB + 0x44 }, { 0x33, 0x43 }, 2 },
		/* A further context of the same kind, behind one frame: a signal's. */
		{ GUS_MODE_USER, 4, { APP + 0x11, MARKER(512), APP + 0x33, LIB + 0x44 }, { 0x11, 0x33, 0x43 }, 3 },
		/* A marker of a kind that is not known leaves the kind as it is. */
		{ GUS_MODE_USER, 3, { MARKER(2048), APP + 0x11, LIB + 0x22 }, { 0x10, 0x21 }, 2 },
		/* Nothing is mapped at 0, and a frame there is a frame. */
		{ GUS_MODE_USER, 2, { APP + 0x11, 1 }, { 0x10, 0 }, 2 },
		/* The lowest marker, and the highest address. */
		{ GUS_MODE_KERNEL, 2, { MARKER(4095), k + 0x11 }, { k + 0x10 }, 1 },
		{ GUS_MODE_KERNEL, 1, { MARKER(4096) }, { MARKER(4097) }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_sample s = plain;
		struct made m;

		begin(&m);
		s.mode = (uint8_t)cases[i].mode;
		s.ip = s.mode == GUS_MODE_KERNEL ? k : APP;
		s.chain = cases[i].chain;
		s.chain_n = cases[i].n;
		gus_columns_push(&m.batch, &s);
		end(&m);
		path_is(load(&m, &(struct gus_filter){ .chains = true }), cases[i].want, cases[i].want_n);
		drop(&m);
	}
}

/* Chains are as long as they are. The same one twice is one path, and without chains there is none. */
static void long_chains_are_whole(void **state)
{
	const struct gus_profile *p;
	struct gus_sample s = plain;
	uint64_t chain[1100];
	struct made m;

	(void)state;
	for (unsigned i = 0; i < 1100; i++)
		chain[i] = APP + 0x100 + i;
	begin(&m);
	s.chain = chain;
	s.chain_n = 1100;
	gus_columns_push(&m.batch, &s);
	gus_columns_push(&m.batch, &s);
	end(&m);
	p = load(&m, &(struct gus_filter){ .chains = true });
	assert_int_equal(p->cells.n, 1);
	assert_int_equal(p->paths.n, 1101);
	assert_int_equal(p->paths.v[p->cells.v[0].path].depth, 1100);
	assert_int_equal(p->paths.v[p->cells.v[0].path].place.offset, 0xff);
	assert_int_equal(p->paths.v[1].place.offset, 0xff + 1099);
	gus_profile_free(&m.profile);
	p = load_all(&m);
	assert_int_equal(p->paths.n, 1);
	assert_int_equal(p->cells.v[0].path, 0);
	drop(&m);
}

/* Callers that move on by one with each sample have no path in common. When there is no room for more, a sample stands
 * below as many of its outermost callers as have a path already: the same chain again, and one that was there before,
 * are what they were. */
static void paths_beyond_the_limit_are_shortened(void **state)
{
	enum { DEPTH = 1000, SAMPLES = 1700 };
	static uint64_t chain[DEPTH + SAMPLES];
	const struct gus_profile *p;
	uint64_t paths, whole, samples = 0;
	struct made m;

	(void)state;
	for (unsigned i = 0; i < DEPTH + SAMPLES; i++)
		chain[i] = APP + 0x100 + i;
	begin(&m);
	for (unsigned i = 0; i < SAMPLES + 2; i++) {
		struct gus_sample s = plain;

		s.tid = i;
		s.chain = chain + (i < SAMPLES ? i : i == SAMPLES ? SAMPLES - 1 : 0);
		s.chain_n = DEPTH;
		gus_columns_push(&m.batch, &s);
		if (i % 500 == 499)
			flush(&m);
	}
	end(&m);
	p = load(&m, &(struct gus_filter){ .chains = true });
	paths = gus_budget_of(GUS_LIMIT_PATHS, gus_reader_size(m.reader)).left;
	whole = paths / DEPTH;
	assert_int_equal(p->paths.n, 1 + paths);
	assert_int_equal(p->shortened, SAMPLES - whole + 1);
	assert_int_equal(p->samples, SAMPLES + 2);
	for (size_t i = 0; i < p->cells.n; i++) {
		uint32_t number = p->threads.v[p->cells.v[i].thread].tid;
		uint32_t depth = p->paths.v[p->cells.v[i].path].depth;

		samples += p->cells.v[i].samples;
		assert_int_equal(depth, number < whole || number == SAMPLES + 1 ? DEPTH :
				 number == whole ? paths % DEPTH : 0);
	}
	assert_int_equal(samples, SAMPLES + 2);
	drop(&m);
}

/* The same chain is another path where something else is mapped: later, in another process, in another mode. */
static void equal_chains_are_looked_up_where_they_are(void **state)
{
	static const uint64_t chain[] = { APP + 0x11, APP + 0x22 };
	static const struct { uint64_t time; uint32_t pid; unsigned mode, path; } samples[] = {
		{ 1, 10, GUS_MODE_USER, 0 }, { 9, 10, GUS_MODE_USER, 1 }, { 2, 10, GUS_MODE_USER, 0 },
		{ 3, 11, GUS_MODE_USER, 2 }, { 4, 10, GUS_MODE_KERNEL, 3 }, { 5, 10, GUS_MODE_USER, 1 },
	};
	static const char *const paths[] = { "/nowhere/app", "/nowhere/late", "[unknown]", "[kernel]" };
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	map_at(&m, 5, APP, "/nowhere/late");
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct gus_sample s = plain;

		s.time = START + samples[i].time;
		s.pid = samples[i].pid;
		s.mode = (uint8_t)samples[i].mode;
		s.tid = 100 + (uint32_t)i;
		s.chain = chain;
		s.chain_n = 2;
		gus_columns_push(&m.batch, &s);
	}
	end(&m);
	p = load(&m, &(struct gus_filter){ .chains = true });
	assert_int_equal(p->cells.n, 6);
	for (size_t i = 0; i < p->cells.n; i++) {
		const struct gus_path *path = &p->paths.v[p->cells.v[i].path];
		size_t sample = p->threads.v[p->cells.v[i].thread].tid - 100;

		assert_int_equal(path->depth, 2);
		assert_string_equal(gus_space_module(p->space, path->place.module)->path, paths[samples[sample].path]);
	}
	drop(&m);
}

/* Threads. */

/* A thread is called what it was called at its last sample, which need not be the last in the file; one that was only
 * switched what it was called in the end. */
static void names_are_those_of_the_last_sample(void **state)
{
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	comm(&m, 10, 0, "early");
	comm(&m, 10, 50, "late");
	comm(&m, 11, 0, "early");
	comm(&m, 11, 50, "late");
	comm(&m, 12, 0, "early");
	comm(&m, 12, 50, "late");
	sample(&m, APP, 10, 60, 1);
	sample(&m, APP, 10, 20, 1);
	sample(&m, APP, 11, 40, 1);
	sample(&m, APP, 11, 49, 1);
	switched(&m, true, 12, 0, 10);
	end(&m);
	p = load_all(&m);
	assert_int_equal(p->threads.n, 3);
	assert_string_equal(p->threads.v[0].comm, "late");
	assert_string_equal(p->threads.v[1].comm, "early");
	assert_string_equal(p->threads.v[2].comm, "late");
	assert_int_equal(p->threads.v[2].switches, 1);
	drop(&m);
}

/* A time on a CPU is from a switch in to the next switch of that CPU, if that is the same thread's out. */
static void time_on_cpu_needs_both_ends(void **state)
{
	static const struct { bool out; uint32_t tid, cpu; uint64_t time; } switches[] = {
		{ false, 10, 0, 5 }, { false, 11, 1, 6 }, { true, 10, 0, 9 },   /* 10: 4 */
		{ true, 11, 1, 26 },                                            /* 11: 20 */
		{ true, 10, 0, 30 },                                            /* its in is not there */
		{ false, 10, 0, 40 }, { true, 11, 0, 50 },                      /* nor is 10's out, nor 11's in */
		{ true, 10, 0, 60 },                                            /* which is not made up for */
		{ false, 11, 0, 70 }, { false, 10, 0, 80 }, { true, 10, 0, 81 }, /* 10: 1 */
		{ false, 11, 1, 90 }, { true, 11, 1, 90 },                      /* 11: 0 */
		{ false, 11, 1, 99 }, { true, 11, 1, 98 },                      /* backwards */
	};
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		switched(&m, switches[i].out, switches[i].tid, switches[i].cpu, switches[i].time);
	end(&m);
	p = load_all(&m);
	assert_int_equal(p->threads.n, 2);
	assert_true(p->threads.v[0].tid == 10 && p->threads.v[0].switches == 4);
	assert_int_equal(p->threads.v[0].on_cpu_ns, 5);
	assert_int_equal(p->threads.v[1].switches, 4);
	assert_int_equal(p->threads.v[1].on_cpu_ns, 20);
	drop(&m);
}

/* What is missing. */

static void missing_is_what_was_promised(void **state)
{
	static const struct { uint64_t promised, missing; } cases[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 1 },
									{ 9, 7 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		begin(&m);
		sample(&m, APP, 10, 1, 1);
		sample(&m, LIB, 11, 2, 1);
		end_with(&m, cases[i].promised, 0, START);
		assert_int_equal(load_all(&m)->missing, cases[i].missing);
		gus_profile_free(&m.profile);
		/* What a filter leaves out is not missing; of a part of the time it is not known. */
		assert_int_equal(load(&m, &(struct gus_filter){ .tids = (const uint32_t[]){ 10 },
								.tids_n = 1 })->missing, cases[i].missing);
		gus_profile_free(&m.profile);
		assert_int_equal(load(&m, &(struct gus_filter){ .from_ns = 1 })->missing, 0);
		gus_profile_free(&m.profile);
		assert_int_equal(load(&m, &(struct gus_filter){ .to_ns = 5 })->missing, 0);
		drop(&m);
	}
}

/* What the kernel dropped is told in the side band and in the footer, and either may know of more. Pauses are counted,
 * and not their ends. */
static void losses_are_the_larger_of_what_is_told(void **state)
{
	static const struct { uint64_t footer, lost; } cases[] = { { 0, 7 }, { 6, 7 }, { 7, 7 }, { 8, 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_profile *p;
		struct made m;

		begin(&m);
		lose(&m, 3);
		lose(&m, 4);
		throttle(&m, true);
		throttle(&m, false);
		throttle(&m, true);
		end_with(&m, 0, cases[i].footer, START);
		p = load_all(&m);
		assert_int_equal(p->lost, cases[i].lost);
		assert_int_equal(p->throttled, 2);
		drop(&m);
	}
}

static uint64_t spoil(struct made *m, enum gus_frame_type type)
{
	static const uint8_t junk[] = { 0xff, 0xff, 0xff, 0xff, 0xff };
	struct gus_bytes bytes = { (uint8_t *)(uintptr_t)junk, sizeof(junk), sizeof(junk) };
	uint64_t at = gus_writer_size(m->writer);

	assert_int_equal(gus_writer_payload(m->writer, type, &bytes, NULL), 0);
	return at;
}

/* Frames whose checksum is right and whose payload is none of theirs: each counts, the first is named, and what is
 * around them is taken. */
static void payloads_that_are_none_are_damage(void **state)
{
	static const struct { enum gus_frame_type type[3]; size_t n; } cases[] = {
		{ { 0 }, 0 },
		{ { GUS_FRAME_SIDEBAND }, 1 },
		{ { GUS_FRAME_SAMPLES }, 1 },
		{ { GUS_FRAME_SIDEBAND, GUS_FRAME_IMAGE }, 2 },
		{ { GUS_FRAME_SIDEBAND, GUS_FRAME_SAMPLES, GUS_FRAME_KERNEL_SYMBOLS }, 3 },
		{ { GUS_FRAME_SWITCHES, GUS_FRAME_SIDEBAND, GUS_FRAME_SAMPLES }, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_profile *p;
		uint64_t first = 0;
		struct made m;

		begin(&m);
		sample(&m, APP, 10, 1, 1);
		flush(&m);
		for (size_t k = 0; k < cases[i].n; k++) {
			uint64_t at = spoil(&m, cases[i].type[k]);

			first = k ? first : at;
		}
		lose(&m, 5);
		sample(&m, APP, 10, 2, 1);
		end(&m);
		p = load_all(&m);
		assert_int_equal(p->damage.corrupt, cases[i].n);
		assert_int_equal(p->damage.first_offset, first);
		assert_int_equal(p->samples, 2);
		assert_int_equal(p->lost, 5);
		drop(&m);
	}
}

static void of_a_cut_recording_nothing_is_promised(void **state)
{
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	sample(&m, APP, 10, 1, 1);
	lose(&m, 2);
	cut(&m);
	p = load_all(&m);
	assert_true(p->damage.cut);
	assert_null(p->footer);
	assert_null(gus_profile_total(p));
	assert_true(p->samples == 1 && p->missing == 0 && p->lost == 2);
	drop(&m);
}

/* Of each event its own total; of one that the footer does not have, none. */
static void totals_are_by_event(void **state)
{
	const struct gus_profile *p;
	struct made m;

	(void)state;
	begin(&m);
	end_with(&m, 1, 0, START);
	p = load_all(&m);
	assert_ptr_equal(gus_profile_total(p), p->footer->events[0]);
	m.profile.event = 1;
	assert_ptr_equal(gus_profile_total(p), p->footer->events[1]);
	m.profile.event = 2;
	assert_null(gus_profile_total(p));
	m.profile.event = 0;
	drop(&m);
}

/* The length. */

static uint64_t length_of(struct made *m)
{
	struct gus_error err = { 0 };
	uint64_t length = 12345;

	assert_int_equal(gus_profile_length(m->reader, &length, &err), 0);
	close_it(m);
	return length;
}

static void length_is_to_the_footer(void **state)
{
	static const struct { bool clock; uint64_t end, length; } cases[] = {
		{ true, START + 70, 70 }, { true, START + 1, 1 }, { true, START, 0 }, { true, START - 1, 0 },
		{ true, 0, 0 }, { false, 70, 70 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		begin_with(&m, 2, cases[i].clock);
		sample(&m, APP, 10, 99, 1); /* behind the end, and not asked for */
		end_with(&m, 1, 0, cases[i].end);
		assert_int_equal(length_of(&m), cases[i].length);
	}
}

static void length_of_a_cut_one_is_to_its_last_sample(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	sample(&m, APP, 10, 10, 1);
	sample(&m, APP, 10, 60, 1);
	sample(&m, APP, 10, 40, 1);
	flush(&m);
	spoil(&m, GUS_FRAME_SAMPLES);
	sample(&m, APP, 10, 50, 1);
	cut(&m);
	assert_int_equal(length_of(&m), 60);
	begin(&m);
	cut(&m);
	assert_int_equal(length_of(&m), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_add_up_weights_and_squares),
		cmocka_unit_test(cells_stand_in_their_order),
		cmocka_unit_test(times_are_the_earliest_and_the_latest),
		cmocka_unit_test(spans_hold_their_ends),
		cmocka_unit_test(without_a_clock_spans_are_from_zero),
		cmocka_unit_test(lists_take_what_is_in_them),
		cmocka_unit_test(processes_and_cpus_are_taken),
		cmocka_unit_test(names_of_threads_are_kept),
		cmocka_unit_test(what_is_not_kept_was_filtered),
		cmocka_unit_test(names_of_functions_are_meant),
		cmocka_unit_test(only_what_is_meant_is_kept),
		cmocka_unit_test(events_that_are_not_told_are_one),
		cmocka_unit_test(callers_are_found_before_their_return),
		cmocka_unit_test(long_chains_are_whole),
		cmocka_unit_test(paths_beyond_the_limit_are_shortened),
		cmocka_unit_test(equal_chains_are_looked_up_where_they_are),
		cmocka_unit_test(names_are_those_of_the_last_sample),
		cmocka_unit_test(time_on_cpu_needs_both_ends),
		cmocka_unit_test(missing_is_what_was_promised),
		cmocka_unit_test(losses_are_the_larger_of_what_is_told),
		cmocka_unit_test(payloads_that_are_none_are_damage),
		cmocka_unit_test(of_a_cut_recording_nothing_is_promised),
		cmocka_unit_test(totals_are_by_event),
		cmocka_unit_test(length_is_to_the_footer),
		cmocka_unit_test(length_of_a_cut_one_is_to_its_last_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
