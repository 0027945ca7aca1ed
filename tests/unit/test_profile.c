/* SPDX-License-Identifier: MIT */
/* attribution/: samples of a made-up recording, added up into cells and rows. The modules do not exist on disk, so
 * nothing is named: what is checked is who gets which sample, and that everything adds up. */
#include <math.h>
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
#include "attribution/statistics/interval.h"
#include "base/error.h"
#include "base/limits.h"
#include "proto/sample.h"
#include "proto/writer.h"

#define START 1000000000ull /* the recording's clock at its start */
#define MS 1000000ull

struct made { char dir[64], path[96]; struct gus_reader *reader; };

static void add_maps(struct gus_writer *w)
{
	Gusprof__Record records[5] = { GUSPROF__RECORD__INIT, GUSPROF__RECORD__INIT, GUSPROF__RECORD__INIT,
				       GUSPROF__RECORD__INIT, GUSPROF__RECORD__INIT };
	Gusprof__Record *list[5] = { &records[0], &records[1], &records[2], &records[3], &records[4] };
	Gusprof__Task thread = GUSPROF__TASK__INIT;
	Gusprof__Comm comm = GUSPROF__COMM__INIT;
	Gusprof__Mmap app = GUSPROF__MMAP__INIT, lib = GUSPROF__MMAP__INIT;
	Gusprof__Lost lost = GUSPROF__LOST__INIT;
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;

	comm.pid = comm.tid = 10;
	comm.name = (char *)"app";
	comm.exec = 1;
	comm.time = START;
	app.pid = app.tid = lib.pid = lib.tid = 10;
	app.time = lib.time = START + 1;
	app.start = 0x400000;
	app.length = lib.length = 0x10000;
	app.path = (char *)"/nowhere/app";
	lib.start = 0x7f0000;
	lib.offset = 0x1000;
	lib.path = (char *)"/nowhere/lib.so";
	lost.count = 3;
	records[0].kind_case = GUSPROF__RECORD__KIND_COMM;
	records[0].comm = &comm;
	records[1].kind_case = GUSPROF__RECORD__KIND_MMAP;
	records[1].mmap = &app;
	records[2].kind_case = GUSPROF__RECORD__KIND_MMAP;
	records[2].mmap = &lib;
	records[3].kind_case = GUSPROF__RECORD__KIND_LOST;
	records[3].lost = &lost;
	thread.pid = thread.ppid = thread.ptid = 10;
	thread.tid = 11;
	thread.time = START + 2;
	records[4].kind_case = GUSPROF__RECORD__KIND_FORK;
	records[4].fork = &thread;
	sideband.n_records = 5;
	sideband.records = list;
	assert_int_equal(gus_writer_sideband(w, &sideband, NULL), 0);
}

/* Thread 10: 6 samples of 1 ms in app at 0x400100, called from lib; thread 11: 3 samples of 2 ms in lib at 0x7f0200,
 * and one of another event. Side band is written last, as a busy ring may deliver it. */
static void add_samples(struct gus_writer *w)
{
	static const uint64_t chain[] = { (uint64_t)-512, 0x7f0301, 0x400201 };
	struct gus_columns c = { 0 };

	for (unsigned i = 0; i < 6; i++)
		gus_columns_push(&c, &(struct gus_sample){ .ip = 0x400100, .time = START + (i + 1) * 10 * MS,
			.period = MS,
			.pid = 10, .tid = 10, .mode = GUS_MODE_USER, .chain_n = 3, .chain = chain });
	for (unsigned i = 0; i < 3; i++)
		gus_columns_push(&c, &(struct gus_sample){ .ip = 0x7f0200, .time = START + (i + 1) * 20 * MS,
			.period = 2 * MS,
			.pid = 10, .tid = 11, .cpu = 1, .mode = GUS_MODE_USER });
	gus_columns_push(&c, &(struct gus_sample){ .ip = 0x400100, .time = START + MS, .period = 1, .pid = 10,
		.tid = 10,
		.event = 1, .mode = GUS_MODE_USER });
	assert_int_equal(gus_writer_samples(w, &c, NULL), 0);
	gus_columns_clear(&c);
	gus_columns_push_switch(&c, &(struct gus_switch){ START + 5 * MS, 10, 10, 0, false, false });
	gus_columns_push_switch(&c, &(struct gus_switch){ START + 9 * MS, 10, 10, 0, true, false });
	/* its in is not there */
	gus_columns_push_switch(&c, &(struct gus_switch){ START + 12 * MS, 10, 11, 0, true, false });
	assert_int_equal(gus_writer_switches(w, &c, NULL), 0);
	gus_columns_free(&c);
}

static int setup(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Clock clock = GUSPROF__CLOCK__INIT;
	Gusprof__Frequency frequency = GUSPROF__FREQUENCY__INIT;
	Gusprof__Event first = GUSPROF__EVENT__INIT, second = GUSPROF__EVENT__INIT;
	Gusprof__Event *events[2] = { &first, &second };
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__EventTotal total = GUSPROF__EVENT_TOTAL__INIT, other = GUSPROF__EVENT_TOTAL__INIT;
	Gusprof__EventTotal *totals[2] = { &total, &other };
	struct made *m = calloc(1, sizeof(*m));
	struct gus_writer *w;

	snprintf(m->dir, sizeof(m->dir), "/tmp/gusprof-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->path, sizeof(m->path), "%s/data", m->dir);
	clock.start_ns = START;
	frequency.low_khz = 2900000;
	frequency.high_khz = 3100000;
	header.clock = &clock;
	header.frequency = &frequency;
	first.name = (char *)"cpu-clock";
	first.unit = (char *)"ns";
	second.name = (char *)"cycles";
	second.unit = (char *)"cycles";
	header.n_events = 2;
	header.events = events;
	w = gus_writer_create(m->path, &header, NULL);
	assert_non_null(w);
	add_samples(w);
	add_maps(w);
	total.samples = 9;
	other.samples = 2; /* one more than the file has */
	other.count = 100;
	other.running_ns = 50;
	footer.n_events = 2;
	footer.events = totals;
	footer.end_ns = START + 100 * MS;
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	m->reader = gus_reader_open(m->path, NULL);
	assert_non_null(m->reader);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	gus_reader_close(m->reader);
	unlink(m->path);
	rmdir(m->dir);
	free(m);
	return 0;
}

static void load(struct made *m, struct gus_profile *p, const struct gus_filter *filter)
{
	static const struct gus_symbols_options options;
	struct gus_error err = { 0 };

	if (gus_profile_load(p, m->reader, filter, &options, NULL, &err) != 0)
		fail_msg("%s", err.text);
}

static void samples_go_to_their_modules(void **state)
{
	struct gus_profile p;

	load(*state, &p, &(struct gus_filter){ 0 });
	assert_int_equal(p.samples, 9);
	assert_true(p.weight == 12 * MS);
	assert_int_equal(p.other_events, 1);
	assert_int_equal(p.lost, 3);
	assert_int_equal(p.missing, 0);
	assert_int_equal(p.cells.n, 2);
	assert_string_equal(gus_space_module(p.space, p.cells.v[0].place.module)->path, "/nowhere/app");
	assert_int_equal(p.cells.v[0].place.offset, 0x100);
	assert_int_equal(p.cells.v[0].samples, 6);
	assert_string_equal(gus_space_module(p.space, p.cells.v[1].place.module)->path, "/nowhere/lib.so");
	assert_int_equal(p.cells.v[1].place.offset, 0x1200); /* the mapping's offset counts */
	assert_true(p.first_ns == START + 10 * MS && p.last_ns == START + 60 * MS);
	gus_profile_free(&p);
}

static void promised_and_absent_samples_are_missing(void **state)
{
	struct gus_profile p;

	load(*state, &p, &(struct gus_filter){ .event = 1 });
	assert_int_equal(p.samples, 1);
	assert_int_equal(p.missing, 1);
	gus_profile_free(&p);
}

/* A file may promise any number: the sums stay such as JSON can tell. */
static void promises_that_cannot_be(void **state)
{
	static const uint64_t promised[] = { UINT64_MAX, GUS_LIMIT_SUM + 1, GUS_LIMIT_SUM, 7 };
	static const uint64_t missing[] = { GUS_LIMIT_SUM, GUS_LIMIT_SUM, GUS_LIMIT_SUM, 7 };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event, &event, &event, &event };
	Gusprof__EventTotal total[4], *totals[4];
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct made *m = *state;
	struct gus_writer *w;
	struct gus_profile p;

	for (size_t i = 0; i < 4; i++) {
		gusprof__event_total__init(&total[i]);
		total[i].samples = promised[i];
		totals[i] = &total[i];
	}
	header.n_events = footer.n_events = 4;
	header.events = events;
	footer.events = totals;
	gus_reader_close(m->reader);
	unlink(m->path);
	w = gus_writer_create(m->path, &header, NULL);
	assert_non_null(w);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	m->reader = gus_reader_open(m->path, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		load(m, &p, &(struct gus_filter){ .event = i });
		assert_true(p.missing == missing[i]);
		gus_profile_free(&p);
	}
}

static void filters(void **state)
{
	static const char *const lib[] = { "lib.so", NULL }, *const nobody[] = { "nobody", NULL },
		*const app[] = { "app", NULL };
	static const uint32_t tid = 11;
	static const struct { const char *what; struct gus_filter filter; unsigned left; } cases[] = {
		{ "a module by its base name", { .modules = lib }, 3 },
		{ "a thread", { .tids = &tid, .tids_n = 1 }, 3 },
		{ "a name nobody has", { .comms = nobody }, 0 },
		{ "a name that a thread has from its process", { .comms = app }, 9 },
		{ "the first 30 ms", { .to_ns = 30 * MS }, 4 },
		{ "from 30 ms on", { .from_ns = 30 * MS }, 6 },
		{ "nothing outside", { .from_ns = 61 * MS, .to_ns = 99 * MS }, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_profile p;

		load(*state, &p, &cases[i].filter);
		if (p.samples != cases[i].left)
			fail_msg("%s: %u samples, not %u", cases[i].what, (unsigned)p.samples, cases[i].left);
		assert_int_equal(p.filtered, 9 - cases[i].left); /* also those that were not even read */
		gus_profile_free(&p);
	}
}

struct visited {
	struct gus_profile *p;
	uint64_t last, weight;
	unsigned begun, samples, of_event[2];
	char first_chain[160];
};

static void visit_begins(void *context, struct gus_profile *p)
{
	struct visited *v = context;

	v->p = p;
	v->begun++;
}

static void visit_sample(void *context, const struct gus_sighting *s)
{
	struct visited *v = context;

	assert_true(s->sample->time >= v->last);
	assert_string_equal(s->comm, "app");
	v->last = s->sample->time;
	v->weight += s->sample->period;
	v->of_event[s->sample->event]++;
	v->samples++;
	for (size_t i = 0; i < s->callers_n && v->of_event[0] == 1 && s->sample->event == 0; i++) {
		const struct gus_caller *c = &s->callers[i];
		size_t used = strlen(v->first_chain);

		snprintf(v->first_chain + used, sizeof(v->first_chain) - used, "%s+%llx %llx %s;",
			 gus_space_module(v->p->space, c->place.module)->path, (unsigned long long)c->place.offset,
			 (unsigned long long)c->ip, c->returns ? "returns" : "exact");
	}
}

static struct visited visit(struct made *m, const struct gus_filter *filter, struct gus_profile *p)
{
	static const struct gus_symbols_options options;
	struct visited v = { 0 };
	struct gus_visitor told = { visit_begins, visit_sample, &v, 1 };
	struct gus_error err = { 0 };

	if (gus_profile_visit(p, m->reader, filter, &options, NULL, &told, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(v.begun, 1);
	assert_int_equal(told.late, 0);
	assert_int_equal(p->cells.n, 0);
	return v;
}

/* The samples of thread 11 stand behind those of thread 10 in the file, and the other event's first of all. */
static void a_visit_tells_each_in_order(void **state)
{
	struct gus_profile p;
	struct visited v = visit(*state, &(struct gus_filter){ .event = GUS_EVENT_ANY, .chains = true }, &p);

	assert_int_equal(v.samples, 10);
	assert_int_equal(v.of_event[0], 9);
	assert_true(v.weight == 12 * MS + 1);
	assert_int_equal(p.samples, 10);
	assert_int_equal(p.missing, 1); /* of the other event, which the footer counts */
	assert_int_equal(p.other_events, 0);
	assert_int_equal(p.lost, 3);
	/* The call is a byte before the return address, where the module may be another one. */
	assert_string_equal(v.first_chain, "/nowhere/lib.so+1300 7f0301 returns;/nowhere/app+200 400201 returns;");
	gus_profile_free(&p);
	v = visit(*state, &(struct gus_filter){ .to_ns = 30 * MS }, &p);
	assert_int_equal(v.samples, 4);
	assert_int_equal(v.first_chain[0], 0); /* not asked for */
	assert_int_equal(p.filtered, 5);
	assert_int_equal(p.other_events, 1);
	gus_profile_free(&p);
}

static void no_such_event(void **state)
{
	static const struct gus_symbols_options options;
	struct made *m = *state;
	struct gus_error err = { 0 };
	struct gus_profile p;

	assert_int_equal(gus_profile_load(&p, m->reader, &(struct gus_filter){ .event = 2 }, &options, NULL, &err), -1);
	assert_int_equal(err.code, GUS_E_USAGE);
}

/* Path of the six: app+0x201 called lib+0x301, which called the sampled place. Return addresses are taken back by a
 * byte. */
static void chains_become_paths(void **state)
{
	struct gus_profile p;
	const struct gus_path *path;

	load(*state, &p, &(struct gus_filter){ .chains = true });
	assert_int_equal(p.paths.n, 3); /* the empty one, app, app > lib */
	path = &p.paths.v[p.cells.v[0].path];
	assert_int_equal(path->depth, 2);
	assert_int_equal(path->place.offset, 0x1300);
	assert_int_equal(p.paths.v[path->caller].place.offset, 0x200);
	assert_int_equal(p.cells.v[1].path, 0);
	gus_profile_free(&p);
}

static void rows_add_up_in_every_view(void **state)
{
	static const enum gus_by views[] = { GUS_BY_FUNCTION, GUS_BY_MODULE, GUS_BY_LINE, GUS_BY_INSTRUCTION,
		GUS_BY_THREAD };
	struct gus_profile p;

	load(*state, &p, &(struct gus_filter){ 0 });
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		uint64_t samples = 0, weight = 0;
		struct gus_view v;

		gus_view_make(&v, &p, views[i], i % 2);
		for (size_t k = 0; k < v.rows.n; k++) {
			samples += v.rows.v[k].samples;
			weight += v.rows.v[k].weight;
			assert_int_equal(v.rows.v[k].stack.n, 1);
			assert_true(v.rows.v[k].stack.v[0].what.unknown);
			assert_true(v.rows.v[k].stack.v[0].weight == v.rows.v[k].weight);
			assert_true(v.rows.v[k].ci95.low <= v.rows.v[k].share &&
				    v.rows.v[k].share <= v.rows.v[k].ci95.high);
		}
		assert_int_equal(v.rows.n, 2);
		assert_true(samples == p.samples && weight == p.weight);
		gus_view_free(&v);
	}
	gus_profile_free(&p);
}

/* lib calls app's leaf and app calls lib: app is on all six paths twice, and counts once. */
static void totals_count_a_sample_once(void **state)
{
	const struct gus_edge *edge;
	struct gus_profile p;
	struct gus_view v;
	size_t n;

	load(*state, &p, &(struct gus_filter){ .chains = true });
	gus_view_make(&v, &p, GUS_BY_FUNCTION, false);
	assert_int_equal(v.rows.n, 2); /* equal weights: 6 x 1 ms and 3 x 2 ms; the larger total comes first */
	assert_true(v.rows.v[0].weight == 6 * MS && v.rows.v[0].total == 12 * MS); /* lib: own, and under the six */
	assert_true(v.rows.v[1].weight == 6 * MS && v.rows.v[1].total == 6 * MS);
	edge = gus_view_callers(&v, 1, &n);
	assert_int_equal(n, 1);
	assert_true(edge->from == 0 && edge->weight == 6 * MS);
	edge = gus_view_callees(&v, 1, &n);
	assert_int_equal(n, 1);
	assert_int_equal(edge->to, 0);
	gus_view_free(&v);
	gus_profile_free(&p);
}

static void threads_have_names_and_times(void **state)
{
	struct gus_profile p;

	load(*state, &p, &(struct gus_filter){ 0 });
	assert_int_equal(p.threads.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct gus_thread *t = &p.threads.v[i];

		assert_string_equal(t->comm, "app");
		assert_int_equal(t->switches, 1);
		assert_true(t->on_cpu_ns == (t->tid == 10 ? 4 * MS : 0));
	}
	gus_profile_free(&p);
}

static void a_clock_observes_time_and_infers_cycles(void **state)
{
	struct gus_profile p;
	struct gus_units u;

	load(*state, &p, &(struct gus_filter){ 0 });
	u = gus_units_of(&p);
	assert_int_equal(u.time.evidence, GUS_OBSERVED);
	assert_true(gus_scale_apply(&u.time, p.weight) == 12 * MS);
	assert_int_equal(u.cycles.evidence, GUS_INFERRED);
	assert_true(gus_scale_apply(&u.cycles, p.weight) == 36 * MS); /* at 3.0 GHz, between 2.9 and 3.1 */
	assert_true(fabs(u.cycles.low - 2.9) < 1e-9 && fabs(u.cycles.high - 3.1) < 1e-9);
	gus_profile_free(&p);
}

static void a_cycle_counter_observes_cycles_and_infers_time(void **state)
{
	struct gus_profile p;
	struct gus_units u;

	load(*state, &p, &(struct gus_filter){ .event = 1 });
	u = gus_units_of(&p);
	assert_int_equal(u.cycles.evidence, GUS_OBSERVED);
	assert_int_equal(u.time.evidence, GUS_INFERRED); /* 100 cycles in 50 ns */
	assert_true(gus_scale_apply(&u.time, 200) == 100);
	gus_profile_free(&p);
}

static void length_of_a_recording(void **state)
{
	struct made *m = *state;
	uint64_t length;

	assert_int_equal(gus_profile_length(m->reader, &length, NULL), 0);
	assert_true(length == 100 * MS);
}

/* Wilson's interval against values worked out by hand from its formula. */
static void intervals(void **state)
{
	static const struct { double p, n, low, high; } cases[] = {
		{ 0, 10, 0, 0.277533 },
		{ 1, 10, 0.722467, 1 },
		{ 0.5, 100, 0.403832, 0.596168 },
		{ 0.1, 1000, 0.082910, 0.120152 },
	};
	struct gus_interval i;

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		i = gus_interval_share(cases[k].p, cases[k].n);
		assert_true(fabs(i.low - cases[k].low) < 1e-5 && fabs(i.high - cases[k].high) < 1e-5);
	}
	i = gus_interval_share(0.5, 0);
	assert_true(fabs(i.low) < 1e-9 && fabs(i.high - 1) < 1e-9);
}

/* The interval does what it says: of 2,000 samplings of a true share of 7 %, about 95 % hold it. */
static void intervals_hold_the_truth(void **state)
{
	uint64_t seed = 1;
	unsigned held = 0;

	(void)state;
	for (int run = 0; run < 2000; run++) {
		unsigned hits = 0;
		struct gus_interval i;

		for (int k = 0; k < 500; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			hits += (seed >> 33) % 100 < 7;
		}
		i = gus_interval_share(hits / 500.0, 500);
		held += i.low <= 0.07 && 0.07 <= i.high;
	}
	assert_true(held >= 1860 && held <= 1940);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(samples_go_to_their_modules),
		TEST(promised_and_absent_samples_are_missing),
		TEST(promises_that_cannot_be),
		TEST(filters),
		TEST(a_visit_tells_each_in_order),
		TEST(no_such_event),
		TEST(chains_become_paths),
		TEST(rows_add_up_in_every_view),
		TEST(totals_count_a_sample_once),
		TEST(threads_have_names_and_times),
		TEST(a_clock_observes_time_and_infers_cycles),
		TEST(a_cycle_counter_observes_cycles_and_infers_time),
		TEST(length_of_a_recording),
		cmocka_unit_test(intervals),
		cmocka_unit_test(intervals_hold_the_truth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
