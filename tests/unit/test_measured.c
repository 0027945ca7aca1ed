/* SPDX-License-Identifier: MIT */
/* attribution/compared/measured: what recordings say of a trace of two blocks, which are in two files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/compared/measured.h"
#include "base/error.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "tests/unit/made_sideband.h"
#include "tests/unit/made_trace.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

enum { APP, LIB, OTHER, FILES };
static const char *const paths[FILES] = { "/nowhere/app", "/nowhere/lib.so", "/nowhere/other.so" };
static const uint64_t traced_at[FILES] = { 0x7e0000000000, 0x7e0000100000 };
static const uint64_t sampled_at[FILES] = { 0x400000, 0x600000, 0x800000 };
enum { TEXT = 0x1000, SIZE = 0x20000, START = 1000000000 };

/* add rax, rbx; ret */
static const uint8_t code[] = { 0x48, 0x01, 0xd8, 0xc3 }, lengths[] = { 3, 1 };

struct made {
	struct made_model s;
	struct gus_measured m;
};

static int setup(void **state)
{
	struct made *made = gus_zalloc(sizeof(*made));
	struct made_trace trace;

	made_model_begin(&made->s);
	made_trace_begin(&trace, "x86_64");
	for (unsigned i = APP; i <= LIB; i++)
		made_trace_step(&trace, made_trace_block(&trace, traced_at[i] + TEXT, code, lengths, sizeof(code), 2),
				0);
	made_trace_flush(&trace, 0);
	gus_traced_open(&made->s.t, &made->s.options);
	for (unsigned i = APP; i <= LIB; i++)
		gus_traced_map(&made->s.t, traced_at[i], SIZE, 0, paths[i], i == APP ? "abcd" : NULL, i == APP ? 4 : 0);
	made_model_read(&made->s, made_trace_end(&trace));
	made_model_end(&made->s);
	gus_measured_init(&made->m, &made->s.t);
	*state = made;
	return 0;
}

static int teardown(void **state)
{
	struct made *made = *state;

	gus_measured_free(&made->m);
	made_model_free(&made->s);
	free(made);
	return 0;
}

/* A recording. Two events; samples of a weight of 1000 each, by event and file. */
struct recording {
	const char *name[2], *unit, *target;
	uint32_t main_event, precise;
	uint64_t low_khz, high_khz, samples_ppm, following_ppm, missed;
	uint32_t round[2];      /* before, behind */
	unsigned samples[2][FILES];
	const char *build_id[FILES];
	bool backwards;         /* files are mapped from the last to the first */
	bool bare;              /* nothing of the machine and its clock */
};

static void map_files(struct gus_writer *w, const struct recording *r)
{
	for (unsigned k = 0; k < FILES; k++) {
		unsigned i = r->backwards ? FILES - 1 - k : k;
		const struct made_mapping m = { .time = START, .pid = 10, .start = sampled_at[i], .length = SIZE,
			.path = paths[i], .build_id = r->build_id[i] };
		struct made_mmap record;

		made_mmap(&record, &m);
		assert_true(made_record(w, &record.record));
	}
}

static void write_samples(struct gus_writer *w, const struct recording *r)
{
	struct gus_columns batch = { 0 };

	for (uint32_t event = 0; event < 2; event++)
		for (unsigned i = 0; i < FILES; i++)
			for (unsigned k = 0; k < r->samples[event][i]; k++)
				gus_columns_push(&batch, &(struct gus_sample){ .ip = sampled_at[i] + TEXT,
					.time = START + 1 + batch.n, .period = 1000, .pid = 10, .tid = 10,
					.event = event, .mode = GUS_MODE_USER });
	assert_int_equal(gus_writer_samples(w, &batch, NULL), 0);
	gus_columns_free(&batch);
}

static void finish(struct gus_writer *w, const struct recording *r)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__Frequency after = GUSPROF__FREQUENCY__INIT;
	Gusprof__Overhead overhead = GUSPROF__OVERHEAD__INIT;
	Gusprof__EventTotal total = GUSPROF__EVENT_TOTAL__INIT, *totals[] = { &total, &total };

	overhead.samples_ppm = r->samples_ppm;
	overhead.following_ppm = r->following_ppm;
	total.missed = r->missed;
	after.round_millicycles = r->round[1];
	footer.frequency = r->round[1] ? &after : NULL;
	footer.n_events = 2;
	footer.events = totals;
	footer.overhead = &overhead;
	footer.end_ns = START + 1000000;
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
}

static struct gus_reader *record(const struct recording *r)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	Gusprof__Frequency frequency = GUSPROF__FREQUENCY__INIT;
	Gusprof__Event first = GUSPROF__EVENT__INIT, second = GUSPROF__EVENT__INIT, *events[] = { &first, &second };
	char path[] = "/tmp/gusprof-test-XXXXXX";
	struct gus_reader *reader;
	struct gus_writer *w;

	for (unsigned i = 0; i < 2; i++) {
		events[i]->name = (char *)(uintptr_t)(r->name[i] ? r->name[i] : "cpu-clock");
		events[i]->unit = (char *)(uintptr_t)(r->unit ? r->unit : "ns");
	}
	events[r->main_event]->precise = r->precise;
	host.cpu_model = (char *)(uintptr_t)"a machine";
	frequency.low_khz = r->low_khz;
	frequency.high_khz = r->high_khz;
	frequency.rule = (char *)(uintptr_t)"a rule";
	frequency.round_millicycles = r->round[0];
	header.events = events;
	header.n_events = 2;
	header.main_event = r->main_event;
	header.host = r->bare ? NULL : &host;
	header.target = (char *)(uintptr_t)(r->target ? r->target : "");
	header.frequency = r->bare ? NULL : &frequency;
	assert_true(mkdtemp(path) && chdir(path) == 0);
	w = gus_writer_create("t", &header, NULL);
	assert_non_null(w);
	map_files(w, r);
	write_samples(w, r);
	finish(w, r);
	reader = gus_reader_open("t", NULL);
	assert_non_null(reader);
	unlink("t");
	assert_true(chdir("/") == 0 && rmdir(path) == 0);
	return reader;
}

static void add(struct made *made, const struct recording *r)
{
	struct gus_reader *reader = record(r);
	struct gus_error err = { 0 };

	if (gus_measured_add(&made->m, &made->s.t, reader, NULL, &err) != 0)
		fail_msg("%s", err.text);
	gus_reader_close(reader);
}

static void near(double is, double want)
{
	if (!(fabs(is - want) <= 1e-9 * fmax(1, fabs(want))))
		fail_msg("%.12g is not %.12g", is, want);
}

static void scale_is(const struct gus_scale *s, enum gus_evidence evidence, double factor, double low, double high)
{
	assert_int_equal(s->evidence, evidence);
	assert_true(s->known);
	near(s->factor, factor);
	near(s->low, low);
	near(s->high, high);
}

static double instructions_in(const struct made *made, unsigned file)
{
	const struct gus_traced *t = &made->s.t;

	for (size_t i = 0; i < t->regions.n; i++)
		if (strcmp(t->functions.v[t->regions.v[i].function].module, paths[file]) == 0)
			return made->m.instructions[i];
	fail_msg("%s has no region", paths[file]);
	return 0;
}

/* Of six samples four are where the trace has been. What the header says outlives the recording. */
static void one_run(void **state)
{
	struct made *made = *state;
	const struct gus_measured *m = &made->m;

	add(made, &(struct recording){ .low_khz = 2900000, .high_khz = 3100000, .missed = 250,
		.samples = { { 3, 1, 2 } } });
	assert_int_equal(m->runs, 1);
	assert_int_equal(m->coverage.weight, 6000);
	assert_int_equal(m->coverage.covered_weight, 4000);
	assert_int_equal(m->covered.n, 1);
	near(m->covered.v[0], 4000);
	near(m->unsampled, 250);
	near(m->cost, 0);
	scale_is(&m->time, GUS_OBSERVED, 1, 1, 1);
	scale_is(&m->cycles, GUS_INFERRED, 3, 2.9, 3.1);
	near(m->clock.low, 2.9);
	near(m->clock.high, 3.1);
	assert_null(m->instructions);
	assert_null(m->other);
	assert_string_equal(m->event, "cpu-clock");
	assert_string_equal(m->host->cpu_model, "a machine");
	assert_string_equal(m->frequency->rule, "a rule");
}

static void of_an_unknown_machine(void **state)
{
	struct made *made = *state;

	add(made, &(struct recording){ .bare = true, .samples = { { 3 } } });
	assert_null(made->m.host);
	assert_null(made->m.frequency);
	assert_int_equal(made->m.rounds.n, 0);
	assert_false(made->m.cycles.known);
	assert_int_equal(made->m.coverage.covered_weight, 3000);
}

/* Rounds of a loop with nothing in it, of three runs. What one takes alone is told, or is the least that was seen. */
static void looks_at_the_core(void **state)
{
	static const struct recording runs[] = {
		{ .round = { 1010, 1290 } }, { .round = { 1900, 0 } }, { .round = { 0, 990 } },
	};
	struct made *made = *state;
	struct gus_looks looks;

	for (size_t i = 0; i < 3; i++) {
		struct recording r = runs[i];

		r.low_khz = r.high_khz = 3000000;
		r.samples[0][0] = 1;
		add(made, &r);
	}
	assert_int_equal(made->m.rounds.n, 4);
	looks = gus_measured_looks(&made->m, 0);
	assert_int_equal(looks.n, 4);
	assert_int_equal(looks.beside, 2); /* 1.29 is more than 1.3 times 0.99 */
	assert_int_equal(gus_measured_looks(&made->m, 1).beside, 2);
	assert_int_equal(gus_measured_looks(&made->m, 0.5).beside, 4);
	assert_int_equal(gus_measured_looks(&made->m, 2).beside, 2);
}

/* It may be what was attached to that is busy beside the recorder. */
static void looks_only_around_commands(void **state)
{
	static const struct { const char *target; size_t looks; } cases[] = {
		{ "", 2 }, { "command", 2 }, { "process", 0 }, { "thread", 0 }, { "system", 0 }, { "cgroup", 0 },
	};
	struct made *made = *state;
	size_t all = 0;

	for (size_t i = 0; i < COUNT(cases); i++) {
		add(made, &(struct recording){ .target = cases[i].target, .round = { 1000, 1900 },
			.low_khz = 3000000, .high_khz = 3000000, .samples = { { 1 } } });
		all += cases[i].looks;
		assert_int_equal(made->m.rounds.n, all);
	}
	assert_true(made->m.cycles.known); /* their clock is as good as any */
	assert_int_equal(gus_measured_looks(&made->m, 1).beside, 2);
	gus_measured_free(&made->m);
	gus_measured_init(&made->m, &made->s.t);
	add(made, &(struct recording){ .target = "process", .round = { 1900, 1900 }, .samples = { { 1 } } });
	assert_int_equal(gus_measured_looks(&made->m, 1).n, 0);
	assert_int_equal(gus_measured_looks(&made->m, 1).beside, 0);
}

/* Samples of a clock have their own cost in the time that they tell, a quarter of it more or less; half of it or more
 * is not taken off. A counter of cycles stands still meanwhile. */
static void cost_is_taken_off(void **state)
{
	static const struct { const char *unit; uint64_t samples, following; double cost, factor, low, high; } cases[] =
		{
		{ "ns", 150000, 50000, 0.2, 0.8, 0.75, 0.85 },
		{ "ns", 0, 0, 0, 1, 1, 1 },
		{ "ns", 400000, 99999, 0.499999, 0.500001, 1 - 0.499999 * 1.25, 1 - 0.499999 * 0.75 },
		{ "ns", 400000, 100000, 0, 1, 1, 1 },
		{ "cycles", 150000, 50000, 0, 1, 1, 1 },
	};
	struct made *made = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_measured *m = &made->m;
		bool ns = strcmp(cases[i].unit, "ns") == 0;

		add(made, &(struct recording){ .unit = cases[i].unit, .samples_ppm = cases[i].samples,
			.following_ppm = cases[i].following, .low_khz = 2000000, .high_khz = 4000000,
			.samples = { { 1 } } });
		near(m->cost, cases[i].cost);
		if (ns) {
			scale_is(&m->time, cases[i].cost > 0 ? GUS_INFERRED : GUS_OBSERVED, cases[i].factor,
				 cases[i].low, cases[i].high);
			scale_is(&m->cycles, GUS_INFERRED, 3 * cases[i].factor, 2 * cases[i].low, 4 * cases[i].high);
		} else {
			scale_is(&m->cycles, GUS_OBSERVED, 1, 1, 1);
		}
		near(m->clock.low, ns ? 2 : 1); /* as it was recorded */
		gus_measured_free(m);
		gus_measured_init(m, &made->s.t);
	}
}

/* Bounds are medians, so that one run whose clock was timed badly does not count; the cost is the mean. */
static void of_several_runs_bounds_are_medians(void **state)
{
	static const struct { uint64_t low, high, ppm; double median_low, median_high, cost; } runs[] = {
		{ 3000000, 3100000, 100000, 3.0, 3.1, 0.1 },
		{ 2000000, 2200000, 0, 2.5, 2.65, 0.05 },
		{ 2900000, 3300000, 200000, 2.9, 3.1, 0.1 },
		{ 2800000, 3000000, 300000, 2.85, 3.05, 0.15 },
	};
	struct made *made = *state;
	const struct gus_measured *m = &made->m;

	for (size_t i = 0; i < COUNT(runs); i++) {
		double middle = (runs[i].median_low + runs[i].median_high) / 2, cost = runs[i].cost;

		add(made, &(struct recording){ .low_khz = runs[i].low, .high_khz = runs[i].high, .missed = 10,
			.samples_ppm = runs[i].ppm, .samples = { { (unsigned)i + 1, 0, 1 } } });
		assert_int_equal(m->runs, i + 1);
		near(m->clock.low, runs[i].median_low);
		near(m->clock.high, runs[i].median_high);
		near(m->cost, cost);
		scale_is(&m->cycles, GUS_INFERRED, middle * (1 - cost), runs[i].median_low * (1 - cost * 1.25),
			 runs[i].median_high * (1 - cost * 0.75));
	}
	assert_int_equal(m->covered.n, 4);
	near(m->covered.v[0], 1000);
	near(m->covered.v[3], 4000); /* its own, not the sum */
	assert_int_equal(m->coverage.covered_weight, 10000);
	near(m->unsampled, 40);
}

/* Of runs of which one was not timed nothing is known, whichever it was; and of what is neither time nor cycles. */
static void what_one_run_lacks_is_not_known(void **state)
{
	static const uint64_t khz[][3] = { { 0, 3000000, 3000000 }, { 3000000, 0, 3000000 }, { 3000000, 3000000, 0 } };
	struct made *made = *state;

	for (size_t i = 0; i < COUNT(khz); i++) {
		for (size_t k = 0; k < COUNT(khz[i]); k++)
			add(made, &(struct recording){ .low_khz = khz[i][k], .high_khz = khz[i][k],
				.samples = { { 1 } } });
		assert_false(made->m.cycles.known);
		assert_true(made->m.time.known);
		gus_measured_free(&made->m);
		gus_measured_init(&made->m, &made->s.t);
	}
	add(made, &(struct recording){ .samples = { { 1 } } });
	add(made, &(struct recording){ .unit = "events", .samples = { { 1 } } });
	add(made, &(struct recording){ .samples = { { 1 } } });
	assert_false(made->m.time.known);
}

/* The second event's samples are the instructions, and the first one's the time; or the other way round. */
static void instructions_are_counted_beside(void **state)
{
	struct made *made = *state;
	const struct recording after = { .name = { "cpu-clock", "instructions:u" },
		.samples = { { 1, 1, 1 }, { 7, 2, 9 } } };
	const struct recording before = { .name = { "instructions", "cpu-clock" }, .main_event = 1,
		.samples = { { 5, 4, 0 }, { 1, 0, 0 } } };

	add(made, &after);
	near(instructions_in(made, APP), 7000);
	near(instructions_in(made, LIB), 2000);
	assert_int_equal(made->m.coverage.weight, 3000);
	add(made, &before);
	near(instructions_in(made, APP), 12000);
	near(instructions_in(made, LIB), 6000);
	assert_int_equal(made->m.coverage.weight, 4000);
	assert_string_equal(made->m.event, "cpu-clock");
}

/* What is compared is no count beside it, nor is an event of another name. */
static void without_such_an_event_there_are_none(void **state)
{
	static const struct recording cases[] = {
		{ .name = { "instructions", "cpu-clock" }, .samples = { { 1 }, { 1 } } },
		{ .name = { "cpu-clock", "instruction" }, .samples = { { 1 }, { 1 } } },
		{ .name = { "cpu-clock", "branch-instructions" }, .samples = { { 1 }, { 1 } } },
	};
	struct made *made = *state;

	for (size_t i = 0; i < COUNT(cases); i++)
		add(made, &cases[i]);
	assert_null(made->m.instructions);
}

static void precise_events_do_not_skid(void **state)
{
	static const struct recording runs[2][2] = { /* the first one's event counts */
		{ { .precise = 2, .samples = { { 1 } } }, { .samples = { { 1 } } } },
		{ { .main_event = 1, .samples = { { 0 }, { 1 } } }, { .precise = 2, .samples = { { 1 } } } } };
	struct made *made = *state;

	for (size_t i = 0; i < 2; i++) {
		add(made, &runs[i][0]);
		add(made, &runs[i][1]);
		assert_int_equal(made->m.skids, i);
		gus_measured_free(&made->m);
		gus_measured_init(&made->m, &made->s.t);
	}
}

/* The trace's app is abcd, and its library says nothing of itself. */
static void another_build_is_named(void **state)
{
	static const struct {
		const char *app, *lib, *other;
		unsigned samples[FILES];
		bool is_other, backwards;
	} cases[] = {
		{ "abcd", "wxyz", "wxyz", { 1, 1, 1 }, false },
		{ NULL, NULL, NULL, { 1, 1, 1 }, false },
		{ "abce", NULL, NULL, { 1, 1, 1 }, true },
		{ "bbcd", NULL, NULL, { 0, 1, 1 }, false },     /* nothing of it was sampled */
		{ "bbcd", "wxyz", NULL, { 5, 1, 0 }, true },
		{ "abc", NULL, NULL, { 1, 0, 0 }, true },       /* the first bytes alike */
		{ "abcde", NULL, NULL, { 1, 0, 0 }, true },
		{ "abce", "wxyz", "wxyz", { 1, 1, 1 }, true, true }, /* the last that is looked at */
	};
	struct made *made = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct recording r = { .build_id = { cases[i].app, cases[i].lib, cases[i].other },
			.backwards = cases[i].backwards };

		memcpy(r.samples[0], cases[i].samples, sizeof(r.samples[0]));
		add(made, &r);
		if (!made->m.other != !cases[i].is_other)
			fail_msg("case %zu: %s", i, made->m.other ? made->m.other : "none");
		if (made->m.other)
			assert_string_equal(made->m.other, paths[APP]);
		add(made, &(struct recording){ .samples = { { 1 } } }); /* it stays */
		assert_int_equal(made->m.other != NULL, cases[i].is_other);
		gus_measured_free(&made->m);
		gus_measured_init(&made->m, &made->s.t);
	}
}

/* Where the recording was, there is a folder when it is read. */
static void what_cannot_be_read_is_refused(void **state)
{
	int probe = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder = dup(probe);
	struct made *made = *state;
	struct gus_error err = { 0 };
	struct gus_reader *reader;

	close(probe); /* the lowest number that is free is the reader's */
	reader = record(&(struct recording){ .samples = { { 1 } } });
	assert_int_equal(dup2(folder, probe), probe);
	close(folder);
	assert_int_equal(gus_measured_add(&made->m, &made->s.t, reader, NULL, &err), -1);
	assert_int_equal(err.code, GUS_E_SYSTEM);
	assert_int_equal(made->m.runs, 0);
	gus_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_run, setup, teardown),
		cmocka_unit_test_setup_teardown(of_an_unknown_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(looks_at_the_core, setup, teardown),
		cmocka_unit_test_setup_teardown(looks_only_around_commands, setup, teardown),
		cmocka_unit_test_setup_teardown(cost_is_taken_off, setup, teardown),
		cmocka_unit_test_setup_teardown(of_several_runs_bounds_are_medians, setup, teardown),
		cmocka_unit_test_setup_teardown(what_one_run_lacks_is_not_known, setup, teardown),
		cmocka_unit_test_setup_teardown(instructions_are_counted_beside, setup, teardown),
		cmocka_unit_test_setup_teardown(without_such_an_event_there_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(precise_events_do_not_skid, setup, teardown),
		cmocka_unit_test_setup_teardown(another_build_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
