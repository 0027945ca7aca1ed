/* SPDX-License-Identifier: MIT */
/* attribution/accounts: to whom the time of a recording belongs, whose trace is a loop that waits for its product:
 *
 *	0  imul rax, rbx        three cycles, and the next one needs it
 *	4  add rcx, rdx
 *	7  dec rsi
 *	a  jnz 0                is fused to it
 *	c  jmp 0                where the branch is not taken, as it is half of the time in one of the tests
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribution/accounts/account.h"
#include "attribution/accounts/sum.h"
#include "attribution/proportional/groups.h"
#include "attribution/statistics/rounding.h"
#include "base/error.h"
#include "proto/psv.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "tests/unit/made_sideband.h"
#include "tests/unit/made_trace.h"

#define APP "/nowhere/app"
#define LIB "/nowhere/lib.so"
enum { IMUL = 0, ADD = 4, DEC = 7, JNZ = 10 };
enum { TEXT = 0x1000, SIZE = 0x20000, START = 1000000000, ROUNDS = 4000, EVENTS = 3 };
static const uint64_t traced_at = 0x7e0000000000, app_at = 0x400000, lib_at = 0x600000;
static const uint8_t code[] = { 0x48, 0x0f, 0xaf, 0xc3, 0x48, 0x01, 0xd1, 0x48, 0xff, 0xce, 0x75, 0xf4 };
static const uint8_t back[] = { 0xeb, 0xf2 };
static const uint8_t lengths[] = { 4, 3, 3, 2 };

struct made {
	struct made_model s;
	struct gus_groups *groups;
	/* The recording, while it is made. */
	Gusprof__Event events[EVENTS], *pointers[EVENTS];
	size_t events_n;
	const char *vendor;
	uint64_t missed, sampled;
	struct gus_columns batch;
	/* And what it says. */
	struct gus_clues clues;
	struct gus_account account;
	bool made;
};

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	return gus_groups_listen(context, stream, program);
}

static void leave(void *context, uint32_t stream)
{
	gus_groups_leave(context, stream);
}

static int setup_of(void **state, bool erratic)
{
	struct made *m = gus_zalloc(sizeof(*m));
	struct made_trace trace;
	uint32_t block, other, chance = 1;

	m->groups = gus_groups_new();
	made_model_begin(&m->s);
	m->s.options.weight = 0;
	m->s.options.causality = false;
	m->s.options.core = m->s.options.all = m->s.options.alone = m->s.options.warm = true;
	m->s.options.listen = listen;
	m->s.options.leave = leave;
	m->s.options.listen_context = m->groups;
	made_trace_begin(&trace, "x86_64");
	block = made_trace_block(&trace, traced_at + TEXT, code, lengths, sizeof(code), 4);
	other = made_trace_block(&trace, traced_at + TEXT + sizeof(code), back, &(uint8_t){ sizeof(back) },
				 sizeof(back), 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		made_trace_step(&trace, block, 0);
		chance = chance * 1664525 + 1013904223;
		if (erratic && chance >> 31)
			made_trace_step(&trace, other, 0);
	}
	made_trace_flush(&trace, 0);
	gus_traced_open(&m->s.t, &m->s.options);
	gus_traced_map(&m->s.t, traced_at, SIZE, 0, APP, NULL, 0);
	made_model_read(&m->s, made_trace_end(&trace));
	made_model_end(&m->s);
	*state = m;
	return 0;
}

static int setup(void **state)
{
	return setup_of(state, false);
}

static int setup_erratic(void **state)
{
	return setup_of(state, true);
}

static int teardown(void **state)
{
	struct made *m = *state;

	if (m->made) {
		gus_account_free(&m->account);
		gus_clues_free(&m->clues);
	}
	gus_columns_free(&m->batch);
	made_model_free(&m->s);
	gus_groups_free(m->groups);
	free(m);
	return 0;
}

static Gusprof__Event *event(struct made *m, const char *name, const char *unit)
{
	Gusprof__Event *e = &m->events[m->events_n];

	gusprof__event__init(e);
	e->name = (char *)(uintptr_t)name;
	e->unit = (char *)(uintptr_t)unit;
	m->pointers[m->events_n++] = e;
	return e;
}

/* So many of a sample, of a weight of 1000 each. */
static void add(struct made *m, unsigned n, struct gus_sample s)
{
	s.period = 1000;
	s.pid = 10;
	s.tid = s.tid ? s.tid : 10;
	s.mode = GUS_MODE_USER;
	for (unsigned i = 0; i < n; i++) {
		s.time = START + 1 + m->batch.n;
		gus_columns_push(&m->batch, &s);
	}
}

static void write_recording(struct made *m)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__EventTotal total = GUSPROF__EVENT_TOTAL__INIT, *totals[EVENTS] = { &total, &total, &total };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct gus_writer *w;

	host.cpu_vendor = (char *)(uintptr_t)(m->vendor ? m->vendor : "GenuineIntel");
	header.events = m->pointers;
	header.n_events = m->events_n;
	header.host = &host;
	w = gus_writer_create("t", &header, NULL);
	assert_non_null(w);
	assert_true(made_map(w, 10, START, app_at, SIZE, APP) && made_map(w, 10, START, lib_at, SIZE, LIB));
	assert_int_equal(gus_writer_samples(w, &m->batch, NULL), 0);
	total.missed = m->missed;
	total.samples = m->sampled;
	footer.n_events = m->events_n;
	footer.events = totals;
	footer.end_ns = START + 1000000;
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
}

static void account(struct made *m, bool traced)
{
	char path[] = "/tmp/gusprof-test-XXXXXX";
	struct gus_error err = { 0 };
	struct gus_reader *reader;

	assert_true(mkdtemp(path) && chdir(path) == 0);
	write_recording(m);
	reader = gus_reader_open("t", &err);
	if (!reader || gus_clues_read(&m->clues, reader, &(struct gus_symbols_options){ 0 }, traced ? &m->s.t : NULL,
				      NULL, &err) != 0)
		fail_msg("%s", err.text);
	gus_account_make(&m->account, &m->clues, traced ? m->groups : NULL, m->s.core.retire_width);
	gus_reader_close(reader);
	unlink("t");
	assert_true(chdir("/") == 0 && rmdir(path) == 0);
	m->made = true;
}

/* Time of a thread (0: of all) at an offset of a file, as seen or of any component. */
static uint64_t seen_at(const struct made *m, const char *module, uint64_t offset, uint32_t tid)
{
	const struct gus_account *a = &m->account;
	uint64_t sum = 0;

	for (size_t i = 0; i < a->seen.n; i++) {
		const struct gus_clue_place *p = &a->places.v[a->seen.v[i].place];

		if (strcmp(p->module, module) == 0 && p->offset == TEXT + offset &&
		    (!tid || m->clues.threads.v[a->seen.v[i].thread].tid == tid))
			sum += a->seen.v[i].weight;
	}
	return sum;
}

static uint64_t weight_at(const struct made *m, const char *module, uint64_t offset, uint32_t tid)
{
	const struct gus_account *a = &m->account;
	uint64_t sum = 0;

	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_clue_place *p = &a->places.v[a->cells.v[i].place];

		if (strcmp(p->module, module) == 0 && p->offset == TEXT + offset &&
		    (!tid || m->clues.threads.v[a->cells.v[i].thread].tid == tid))
			sum += a->cells.v[i].weight;
	}
	return sum;
}

static uint64_t of_thread(const struct made *m, uint32_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->account.cells.n; i++)
		if (m->clues.threads.v[m->account.cells.v[i].thread].tid == tid)
			sum += m->account.cells.v[i].weight;
	return sum;
}

/* An interrupt is taken when what was waited for has retired: two samples in three are of the product, and none is at
 * it. Each thread keeps its own. */
static void moves_time(void **state)
{
	struct made *m = *state;

	event(m, "cpu-clock", "ns");
	m->missed = 77;
	add(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	add(m, 301, (struct gus_sample){ .ip = app_at + TEXT + ADD, .tid = 11 });
	add(m, 3, (struct gus_sample){ .ip = app_at + TEXT + DEC, .tid = 11 });
	add(m, 50, (struct gus_sample){ .ip = lib_at + TEXT + 5 });
	account(m, true);
	assert_int_equal(m->clues.sight.sight, GUS_SPREAD_BEHIND);
	assert_int_equal(m->account.weight, 1054000);
	assert_int_equal(m->account.explained, 1004000);
	assert_int_equal(m->clues.unsampled, 77);
	assert_int_equal(of_thread(m, 10), 750000);
	assert_int_equal(of_thread(m, 11), 304000);
	assert_int_equal(seen_at(m, APP, IMUL, 0), 0);
	assert_int_equal(seen_at(m, APP, ADD, 11), 301000);
	assert_true(weight_at(m, APP, IMUL, 10) > 450000);
	assert_true(weight_at(m, APP, IMUL, 11) > 190000);
	assert_true(weight_at(m, APP, ADD, 0) < 300000);
	assert_int_equal(weight_at(m, LIB, 5, 0), 50000);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];
		bool lib = strcmp(m->account.places.v[c->place].module, LIB) == 0;

		assert_int_equal(c->moved, !lib);
		assert_int_equal(c->what.unknown, lib);
		assert_int_equal(c->evidence, lib ? GUS_UNKNOWN : GUS_MODELLED);
	}
}

/* A precise sample is at the product itself, and so is its time. A sample on the second half of a fused pair is of the
 * first. */
static void precise(void **state)
{
	struct made *m = *state;

	event(m, "cycles:ppp", "cycles")->precise = 3;
	add(m, 800, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true });
	add(m, 2, (struct gus_sample){ .ip = app_at + TEXT + JNZ, .exact = true });
	account(m, true);
	assert_int_equal(m->clues.sight.sight, GUS_SPREAD_NEXT);
	assert_int_equal(m->account.explained, 802000);
	assert_int_equal(seen_at(m, APP, JNZ, 0), 2000);
	assert_int_equal(weight_at(m, APP, JNZ, 0), 0);
	assert_true(weight_at(m, APP, DEC, 0) > 0);
	assert_true(weight_at(m, APP, IMUL, 0) > 400000);
}

static void without_a_trace(void **state)
{
	struct made *m = *state;

	event(m, "cpu-clock", "ns");
	add(m, 9, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	account(m, false);
	assert_int_equal(m->account.explained, 0);
	assert_int_equal(m->account.cells.n, 1);
	assert_int_equal(weight_at(m, APP, ADD, 0), 9000);
	assert_true(m->account.cells.v[0].what.unknown);
	assert_false(m->account.cells.v[0].moved);
}

/* What is sampled where it was dispatched stays there, with what its record says: an event that was; all nine that
 * were not; and some that were not, which is nothing. */
static void of_records(void **state)
{
	struct made *m = *state;
	Gusprof__Event *e = event(m, "ibs_op//", "events");

	e->pmu = (char *)(uintptr_t)"ibs_op";
	m->vendor = "AuthenticAMD";
	add(m, 5, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true, .events = GUS_PSV_ST_L1 });
	add(m, 3, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true,
		.events = (uint64_t)GUS_PSV_ALL << 16 });
	add(m, 2, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true,
		.events = (uint64_t)GUS_PSV_ST_L1 << 16 });
	account(m, true);
	assert_false(m->clues.sight.known);
	assert_int_equal(m->account.explained, 0);
	assert_int_equal(m->account.cells.n, 3);
	assert_int_equal(m->account.cells.v[0].what.events, 0);
	assert_int_equal(m->account.cells.v[0].weight, 3000);
	assert_int_equal(m->account.cells.v[0].evidence, GUS_OBSERVED);
	assert_int_equal(m->account.cells.v[1].what.events, GUS_PSV_ST_L1);
	assert_int_equal(m->account.cells.v[1].weight, 5000);
	assert_int_equal(m->account.cells.v[1].evidence, GUS_OBSERVED);
	assert_true(m->account.cells.v[2].what.unknown);
	assert_int_equal(m->account.cells.v[2].weight, 2000);
	assert_int_equal(m->account.cells.v[2].evidence, GUS_UNKNOWN);
}

/* Cycles tell the time, ops beside them what was executed, and what it met: a miss that no model of this loop has. What
 * waits it makes the model cannot tell; where products retire, they have it. */
static void of_several_events(void **state)
{
	struct made *m = *state;
	uint64_t met = 0;
	Gusprof__Event *e;

	e = event(m, "ibs_op/cnt_ctl=1/", "events");
	e->pmu = (char *)(uintptr_t)"ibs_op";
	e->config = 1 << 19;
	event(m, "cycles", "cycles");
	m->vendor = "AuthenticAMD";
	for (unsigned i = 0; i < 3; i++)
		add(m, 200, (struct gus_sample){ .ip = app_at + TEXT + (const uint8_t[]){ IMUL, ADD, DEC }[i],
			.exact = true, .events = (i ? 0 : GUS_PSV_ST_L1) | (uint64_t)(GUS_PSV_ALL - (i ? 0 :
											GUS_PSV_ST_L1)) << 16 });
	add(m, 900, (struct gus_sample){ .ip = app_at + TEXT + ADD, .event = 1 });
	account(m, true);
	assert_int_equal(m->clues.profile.event, 1);
	assert_int_equal(m->clues.executions, GUS_SAMPLER_OPS);
	assert_int_equal(m->clues.seen.executed, 600);
	assert_int_equal(m->account.weight, 900000);
	assert_int_equal(m->account.explained, 900000);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];

		assert_int_equal(c->evidence, GUS_INFERRED);
		if (c->what.events == GUS_PSV_ST_L1) {
			assert_int_equal(m->account.places.v[c->place].offset, TEXT + IMUL);
			met += c->weight;
		}
	}
	assert_true(met > 50000);
}

/* Branches of a sample say what was executed, and whether it is behind a misprediction. */
static void of_branch_stacks(void **state)
{
	const struct gus_branch loop = { app_at + TEXT + JNZ, app_at + TEXT + IMUL, GUS_BRANCH_PREDICTED, 3 };
	const struct gus_branch stack[] = { loop, loop, loop, loop }, mispredicted[] = {
		{ loop.from, loop.to, GUS_BRANCH_MISPREDICTED, 20 }, loop };
	struct made *m = *state;
	unsigned behind = 0;

	event(m, "cycles:ppp", "cycles")->precise = 3;
	add(m, 100, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true, .branches = stack,
		.branches_n = 4 });
	add(m, 10, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true, .branches = mispredicted,
		.branches_n = 2 });
	add(m, 1, (struct gus_sample){ .ip = app_at + TEXT + ADD, .exact = true, .branches = mispredicted,
		.branches_n = 2 });
	account(m, true);
	assert_int_equal(m->clues.seen.stacks, 111);
	assert_int_equal(m->clues.seen.ranges.n, 1);
	assert_int_equal(m->clues.seen.ranges.v[0].from, traced_at + TEXT + IMUL);
	assert_int_equal(m->clues.seen.ranges.v[0].to, traced_at + TEXT + JNZ);
	for (size_t i = 0; i < m->clues.time.n; i++)
		behind += m->clues.time.v[i].behind ? (unsigned)m->clues.time.v[i].weight : 0;
	assert_int_equal(behind, 10000);
	assert_int_equal(m->account.explained, 111000);
}

/* Of a fused pair it is the branch that is mispredicted, and else the first instruction that has the time of both. */
static void of_mispredictions(void **state)
{
	struct made *m = *state;
	uint64_t at_branch = 0;

	event(m, "cycles:ppp", "cycles")->precise = 3;
	add(m, 900, (struct gus_sample){ .ip = app_at + TEXT + IMUL, .exact = true });
	add(m, 100, (struct gus_sample){ .ip = app_at + TEXT + DEC, .exact = true });
	account(m, true);
	for (size_t i = 0; i < m->account.cells.n; i++) {
		const struct gus_account_cell *c = &m->account.cells.v[i];
		uint64_t offset = m->account.places.v[c->place].offset - TEXT;

		at_branch += c->what.events & GUS_PSV_FL_MB ? c->weight : 0;
		assert_true(c->what.events & GUS_PSV_FL_MB ? offset == JNZ : offset != JNZ);
	}
	assert_true(at_branch > 200000);
	assert_true(weight_at(m, APP, DEC, 0) > 0);
}

static void sum(const struct made *m, enum gus_sum_unit unit, size_t rows, struct gus_sums *s)
{
	uint64_t weight = 0, seen = 0;

	gus_sums_make(s, &m->account, unit);
	assert_int_equal(s->rows.n, rows);
	for (size_t i = 0; i < s->rows.n; i++) {
		gus_stack_check(&s->rows.v[i].stack, s->rows.v[i].weight);
		assert_true(!i || s->rows.v[i].weight <= s->rows.v[i - 1].weight);
		weight += s->rows.v[i].weight;
		seen += s->rows.v[i].seen;
	}
	assert_int_equal(weight, m->account.weight);
	assert_int_equal(seen, m->account.weight);
}

static void by_units(void **state)
{
	struct made *m = *state;
	struct gus_sums s;

	event(m, "cpu-clock", "ns");
	add(m, 700, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	add(m, 300, (struct gus_sample){ .ip = app_at + TEXT + ADD, .tid = 11 });
	add(m, 7, (struct gus_sample){ .ip = lib_at + TEXT + 5, .tid = 11 });
	add(m, 5, (struct gus_sample){ .ip = lib_at + TEXT + 9, .tid = 11 });
	account(m, true);
	sum(m, GUS_SUM_INSTRUCTION, 5, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT + IMUL);
	assert_int_equal(s.rows.v[0].seen, 0);
	assert_int_equal(s.rows.v[0].evidence, GUS_INFERRED);
	assert_int_equal(s.rows.v[3].offset + s.rows.v[4].offset, 2 * TEXT + 14);
	assert_int_equal(s.rows.v[4].evidence, GUS_OBSERVED);
	gus_sums_free(&s);
	sum(m, GUS_SUM_BLOCK, 3, &s);
	assert_int_equal(s.rows.v[0].offset, TEXT);
	assert_int_equal(s.rows.v[0].weight, 1000000);
	assert_int_equal(s.rows.v[1].weight, 7000);
	gus_sums_free(&s);
	sum(m, GUS_SUM_MODULE, 2, &s);
	assert_string_equal(s.rows.v[1].module, LIB);
	assert_int_equal(s.rows.v[1].weight, 12000);
	assert_null(s.rows.v[1].function);
	gus_sums_free(&s);
	sum(m, GUS_SUM_THREAD, 2, &s);
	assert_int_equal(m->clues.threads.v[s.rows.v[0].thread].tid, 10);
	assert_int_equal(s.rows.v[0].weight, 700000);
	assert_int_equal(s.rows.v[0].seen, 700000);
	assert_int_equal(s.rows.v[1].evidence, GUS_OBSERVED);
	gus_sums_free(&s);
	sum(m, GUS_SUM_LOOP, 3, &s);
	gus_sums_free(&s);
	sum(m, GUS_SUM_FUNCTION, 3, &s);
	gus_sums_free(&s);
}

static const struct gus_sum_row *row_at(const struct gus_sums *s, uint64_t offset)
{
	for (size_t i = 0; i < s->rows.n; i++)
		if (s->rows.v[i].offset == TEXT + offset)
			return &s->rows.v[i];
	return NULL;
}

/* What no trace has executed is as sure as so many samples are: 250 of 1000 are a quarter, give or take 2.7 % (Wilson's
 * interval of it is 22.4 to 27.8 %), and four of them are no fact. What is of all code of a file is in its samples,
 * whatever its instructions are. A component of few samples is not told. */
static void how_sure(void **state)
{
	struct made *m = *state;
	const struct gus_sum_row *row;
	struct gus_sums s;

	event(m, "cpu-clock", "ns");
	for (unsigned i = 0; i < 186; i++) {
		add(m, 3, (struct gus_sample){ .ip = app_at + TEXT + ADD });
		add(m, 1, (struct gus_sample){ .ip = app_at + TEXT + IMUL });
		add(m, 1, (struct gus_sample){ .ip = lib_at + TEXT + 0x20 });
	}
	add(m, 2, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	add(m, 64, (struct gus_sample){ .ip = lib_at + TEXT + 0x20 });
	add(m, 4, (struct gus_sample){ .ip = lib_at + TEXT + 0x30 });
	account(m, true);
	gus_sums_make(&s, &m->account, GUS_SUM_INSTRUCTION);
	row = row_at(&s, 0x20);
	assert_true(row && row->weight == 250000 && row->fact);
	assert_in_range(row->bounds.low, 223500, 224500);
	assert_in_range(row->bounds.high, 277000, 278500);
	assert_int_equal(row->parts.n, 1);
	assert_true(row->parts.v[0].low == row->bounds.low && row->parts.v[0].high == row->bounds.high);
	assert_false(row_at(&s, 0x30)->fact);
	row = row_at(&s, IMUL);
	assert_true(row && row->fact && row->bounds.low < row->weight && row->bounds.high > row->weight);
	assert_true(row->bounds.high - row->bounds.low > 2 * 53000);
	for (size_t i = 0; i < row->stack.n; i++)
		assert_true(row->parts.v[i].low <= row->stack.v[i].weight &&
			    row->parts.v[i].high >= row->stack.v[i].weight);
	gus_sums_free(&s);
	gus_sums_make(&s, &m->account, GUS_SUM_MODULE);
	assert_int_equal(s.rows.v[0].weight, 746000);
	assert_in_range(s.rows.v[0].bounds.low, 717000, 719500);
	assert_in_range(s.rows.v[0].bounds.high, 771500, 773500);
	gus_sums_free(&s);
}

/* Slices of a recording of 1000 samples, of which a footer tells: 62, of one sample in each of 16 rounds and more. Of
 * one that was cut they are of 16 at a time. */
static void in_slices(void **state)
{
	uint64_t of[GUS_REPLICATES_SLICES] = { 0 };
	struct made *m = *state;

	event(m, "cpu-clock", "ns");
	m->sampled = 9920;
	add(m, 9920, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	account(m, true);
	for (size_t i = 0; i < m->clues.time.n; i++)
		of[m->clues.time.v[i].slice] += m->clues.time.v[i].weight;
	for (size_t i = 0; i < GUS_REPLICATES_SLICES; i++) {
		assert_int_equal(of[i], 160000);
		assert_int_equal(m->clues.slices[i].time, 160);
	}
}

static void round_to(const double *shares, size_t n, uint64_t whole, const uint64_t *want)
{
	uint64_t out[4];

	gus_rounding_make(shares, n, whole, out);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(out[i], want[i]);
}

/* The largest rest goes up, of equal ones the first; the limit of sums comes out whole. */
static void rounds(void **state)
{
	uint64_t out[3], most = INT64_MAX;

	(void)state;
	round_to((const double[]){ 1 }, 1, 0, (const uint64_t[]){ 0 });
	round_to((const double[]){ .3 }, 1, 7, (const uint64_t[]){ 7 });
	round_to((const double[]){ 1, 1, 1 }, 3, 10, (const uint64_t[]){ 4, 3, 3 });
	round_to((const double[]){ 1, 1, 1 }, 3, 2, (const uint64_t[]){ 1, 1, 0 });
	round_to((const double[]){ .26, .1, .64 }, 3, 10, (const uint64_t[]){ 3, 1, 6 });
	round_to((const double[]){ .1, .26, .64 }, 3, 10, (const uint64_t[]){ 1, 3, 6 });
	round_to((const double[]){ .14, .15, .31, .4 }, 4, 10, (const uint64_t[]){ 1, 2, 3, 4 });
	round_to((const double[]){ 0, 5, 0 }, 3, 3, (const uint64_t[]){ 0, 3, 0 });
	round_to((const double[]){ 1, 1 }, 2, most, (const uint64_t[]){ most / 2 + 1, most / 2 });
	gus_rounding_make((const double[]){ .1, .7, .2 }, 3, most, out);
	assert_true(out[0] + out[1] + out[2] == most);
	assert_true(out[0] < out[2] && out[2] < out[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(moves_time, setup, teardown),
		cmocka_unit_test_setup_teardown(precise, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(of_records, setup, teardown),
		cmocka_unit_test_setup_teardown(of_several_events, setup, teardown),
		cmocka_unit_test_setup_teardown(of_branch_stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(of_mispredictions, setup_erratic, teardown),
		cmocka_unit_test_setup_teardown(by_units, setup, teardown),
		cmocka_unit_test_setup_teardown(how_sure, setup, teardown),
		cmocka_unit_test_setup_teardown(in_slices, setup, teardown),
		cmocka_unit_test(rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
