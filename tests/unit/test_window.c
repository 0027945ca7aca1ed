/* SPDX-License-Identifier: MIT */
/* The fit of reorder buffer, schedulers, buffers and registers, of machines that are nothing but the number of each
 * kind of instruction that they have room for behind a jam: with one more a pass takes a step of cycles longer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/calibration/fit.h"
#include "model/calibration/fitted.h"
#include "model/calibration/host.h"
#include "model/calibration/jam.h"
#include "model/calibration/micro.h"
#include "tests/unit/made_program.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

enum { ROOM = 100000 };                 /* more than is ever asked for: there is no break */

struct made_window {
	unsigned last[GUS_JAMS];        /* so many are in time; 0: even one is not */
	double pace[GUS_JAMS];          /* cycles an instruction without a jam */
	double roots;                   /* cycles of a jam without links */
	double link[GUS_JAM_CHAINS], step, slope; /* step: the first too many costs; slope: each after it */
	/* In the first so many rounds another thread has `taken` entries of a buffer. */
	unsigned disturbed, taken;
	enum gus_jam disturbed_kind;
	unsigned rounds, fails_at;      /* fails_at: the round that the host cannot do; 0: none */
	bool asked[GUS_JAMS];
	unsigned most_links;
};

static bool is_jam(const struct gus_micro *k, enum gus_jam kind, enum gus_jam_chain chain, unsigned links, unsigned n)
{
	struct gus_micro *jam = gus_jam_new(k->isa, kind, chain, links, n);
	bool same = jam->code.n == k->code.n && memcmp(jam->code.v, k->code.v, k->code.n) == 0;

	gus_micro_free(jam);
	return same;
}

static enum gus_jam kind_of(const struct gus_micro *k, unsigned *n, unsigned *links)
{
	for (unsigned kind = 0; kind < GUS_JAMS; kind++) {
		char name[64];

		if (sscanf(k->name, "%u", n) == 1 && sscanf(strstr(k->name, "behind") + 6, "%u", links) == 1 &&
		    snprintf(name, sizeof(name), "%u %s behind %u links", *n, gus_jam_name(kind), *links) > 0 &&
		    strcmp(name, k->name) == 0)
			return kind;
	}
	fail_msg("%s is no jam", k->name);
	return 0;
}

static double cycles_of(struct made_window *m, const struct gus_micro *k)
{
	unsigned n, links, last;
	enum gus_jam kind = kind_of(k, &n, &links);
	enum gus_jam_chain chain = is_jam(k, kind, GUS_JAM_OF_VECTORS, links, n) ? GUS_JAM_OF_VECTORS
										 : GUS_JAM_OF_INTEGERS;

	assert_true(is_jam(k, kind, chain, links, n));
	if (!links)
		return n * m->pace[kind];
	m->asked[kind] |= n > 0;
	m->most_links = links > m->most_links ? links : m->most_links;
	last = m->last[kind];
	if (kind == m->disturbed_kind && m->rounds <= m->disturbed)
		last -= m->taken;
	/* As long as the jam, if that is long enough for all to be issued meanwhile. */
	return fmax(m->roots + links * m->link[chain], n * m->pace[kind]) +
		(n > last ? m->step + m->slope * (n - last - 1) : 0);
}

static int run(void *context, const struct gus_micro *const *micros, size_t n, struct gus_micro_time *times,
	       struct gus_error *err)
{
	struct made_window *m = context;

	if (++m->rounds == m->fails_at)
		return gus_fail(err, GUS_E_SYSTEM, "cannot run that");
	for (size_t i = 0; i < n; i++) {
		double cycles = cycles_of(m, micros[i]);

		times[i] = (struct gus_micro_time){ .cycles = cycles, .median = cycles, .high = cycles, .samples = 1,
			.kept = 1 };
	}
	return 0;
}

/* Of a table with one scheduler, and registers: 224 entries of which a jam takes 3, and so on. */
static const char one[] =
	"uarch one isa x86-64 \"One scheduler\"\n"
	"source s \"made\"\n"
	"port p0 s\n"
	"row r1 uops 1 latency 1 uses p0:1 source s\n"
	"param rob 224 entries s\n"
	"param rs 97 entries s\n"
	"param load_buffer 72 entries s\n"
	"param store_buffer 56 entries s\n"
	"param branch_buffer 64 entries s\n"
	"param int_registers 180 entries s\n"
	"param vector_registers 168 entries s\n"
	"param macro_fusion all policy s\n";

/* With a scheduler a port of integers, those of vectors, and a limit of renames. */
static const char many[] =
	"uarch many isa x86-64 \"Many schedulers\"\n"
	"source s \"made\"\n"
	"port p0 s\n"
	"row r1 uops 1 latency 1 uses p0:1 source s\n"
	"param rob 320 entries s\n"
	"param rs 150 entries s\n"
	"param rs_int 96 entries s\n"
	"param rs_int_port 24 entries s\n"
	"param rs_vector 64 entries s\n"
	"param load_buffer 88 entries s\n"
	"param store_buffer 64 entries s\n"
	"param int_renames 190 entries s\n"
	"param vector_renames 160 entries s\n"
	"param renames 260 entries s\n"
	"param macro_fusion test_cmp policy s\n";

static const struct made_window made_one = {
	.last = { [GUS_JAM_NOP] = 221, [GUS_JAM_MIXED] = 221, [GUS_JAM_MOVE] = 221, [GUS_JAM_TEST] = ROOM,
		[GUS_JAM_ADD] = 149, [GUS_JAM_XOR] = 137, [GUS_JAM_BOTH] = ROOM, [GUS_JAM_LOAD] = 71,
		[GUS_JAM_STORE] = 56, [GUS_JAM_BRANCH] = 63, [GUS_JAM_WAITING_ADD] = 94,
		[GUS_JAM_WAITING_MULTIPLY] = 95, [GUS_JAM_WAITING_VECTOR] = 93, [GUS_JAM_WAITING_BOTH] = ROOM,
		[GUS_JAM_WAITING_LOAD] = 69 },
	.pace = { 0.25, 0.5, 0.25, 0.25, 0.25, 0.34, 0.25, 0.5, 1, 0.5, 0.25, 1, 0.5, 0.5, 0.5 },
	.roots = 36, .link = { 4, 3 }, .step = 4, .slope = 0.5,
};

static const struct made_window made_many = {
	.last = { [GUS_JAM_NOP] = 316, [GUS_JAM_MIXED] = 316, [GUS_JAM_MOVE] = 316, [GUS_JAM_TEST] = ROOM,
		[GUS_JAM_ADD] = 189, [GUS_JAM_XOR] = 159, [GUS_JAM_BOTH] = 257, [GUS_JAM_LOAD] = 87,
		[GUS_JAM_STORE] = 64, [GUS_JAM_BRANCH] = ROOM, [GUS_JAM_WAITING_ADD] = 93,
		[GUS_JAM_WAITING_MULTIPLY] = 24, [GUS_JAM_WAITING_VECTOR] = 63, [GUS_JAM_WAITING_BOTH] = 126,
		[GUS_JAM_WAITING_LOAD] = 80 },
	.pace = { 0.2, 0.34, 0.2, 0.25, 0.25, 0.25, 0.25, 0.34, 0.5, 0.5, 0.25, 1, 0.5, 0.5, 0.34 },
	.roots = 36, .link = { 3, 3 }, .step = 5, .slope = 0.5,
};

enum { SIMULATED, REAL };

/* fit: what was found before. */
static int fit(struct made_window *m, const char *table, int real, enum gus_calibration_depth depth, struct gus_fit *f,
	       struct gus_error *err)
{
	struct gus_uarch *u = made_table_of(table);
	struct gus_calibration_host host = { .context = m, .isa = GUS_ISA_X86_64, .arena_most = 1 << 24,
		.cycles_a_second = real ? 3e9 : 4e6, .run = run };
	struct gus_calibration c = { .host = &host, .nearest = u, .depth = depth };
	int rc = gus_fit_window(&c, f, err);

	gus_uarch_free(u);
	return rc;
}

/* A value; or, without confidence, so many at least; and what the reason says. */
struct expected { const char *name; double value; enum gus_confidence confidence; const char *why; };

static void expect(const struct gus_fit *f, const struct expected *e)
{
	const struct gus_fit_param *p = gus_fit_get(f, e->name);

	if (!p)
		fail_msg("%s was not tried", e->name);
	if (p->confidence != e->confidence || (e->why && !strstr(p->why, e->why)))
		fail_msg("%s: %g, %s, %s", e->name, p->value, gus_confidence_name(p->confidence), p->why);
	if (e->confidence == GUS_CONFIDENCE_NONE ? p->low != e->value || !isinf(p->high) || !isnan(p->value)
						 : p->value != e->value || !(p->low <= p->value && p->value <= p->high))
		fail_msg("%s: %g in %g to %g, not %g; %s", e->name, p->value, p->low, p->high, e->value, p->why);
	assert_true(p->residual >= 0 && p->residual < 0.02);
}

static void fit_well(const struct made_window *machine, const char *table, int real, enum gus_calibration_depth depth,
		     struct gus_fit *f)
{
	struct made_window m = *machine;
	struct gus_error err = { 0 };

	if (fit(&m, table, real, depth, f, &err) != 0)
		fail_msg("%s", err.text);
}

#define HIGH GUS_CONFIDENCE_HIGH
#define NONE GUS_CONFIDENCE_NONE

/* What is behind the jam, and the root, the end of the loop and the next link, whichever of them a buffer holds. */
static void one_scheduler(void **state)
{
	static const struct expected figures[] = {
		{ "rob", 224, HIGH, "221 nops behind a jam are in time, 222 take 4 cycles more of" },
		{ "rob", 224, HIGH, "others say the same" },
		{ "load_buffer", 72, HIGH, NULL }, { "store_buffer", 56, HIGH, NULL },
		{ "branch_buffer", 64, HIGH, NULL },
		{ "int_registers", 180, HIGH, "30 of the state" }, { "vector_registers", 168, HIGH, NULL },
		{ "rs", 97, HIGH, "waiting multiplications" },
	};

	(void)state;
	for (int real = SIMULATED; real <= REAL; real++) {
		struct gus_fit f = { .params = { 0 } };

		fit_well(&made_one, one, real, GUS_CALIBRATION_FULL, &f);
		for (size_t i = 0; i < COUNT(figures); i++)
			expect(&f, &figures[i]);
		assert_null(gus_fit_get(&f, "renames"));
		assert_null(gus_fit_get(&f, "rs_int"));
		gus_fit_free(&f);
	}
}

/* Of integers a little less waits than there is room for: 94 of 96, as the size is a multiple of a port's. */
static void many_schedulers(void **state)
{
	static const struct expected figures[] = {
		{ "rob", 320, HIGH, NULL }, { "load_buffer", 88, HIGH, NULL }, { "store_buffer", 64, HIGH, NULL },
		{ "int_renames", 190, HIGH, NULL }, { "vector_renames", 160, HIGH, NULL },
		{ "renames", 260, HIGH, NULL },
		{ "rs_int", 96, HIGH, NULL }, { "rs_int_port", 24, HIGH, NULL }, { "rs_vector", 64, HIGH, NULL },
		{ "rs", 129, NONE, "its parts are full before" }, { "branch_buffer", ROOM, NONE, NULL },
	};
	struct gus_fit f = { .params = { 0 } };

	(void)state;
	fit_well(&made_many, many, SIMULATED, GUS_CALIBRATION_FULL, &f);
	for (size_t i = 0; i + 1 < COUNT(figures); i++)
		expect(&f, &figures[i]);
	assert_int_equal(gus_fit_get(&f, "branch_buffer")->confidence, NONE);
	assert_null(gus_fit_get(&f, "int_registers"));
	gus_fit_free(&f);
}

/* One buffer of a machine is another, and what is told then. */
static void what_hides_another(void **state)
{
	static const struct {
		const struct made_window *machine;
		struct { enum gus_jam kind; unsigned last; } is[4];
		struct expected want;
	} cases[] = {
		/* Nops say it, and others by a fiftieth. */
		{ &made_one, { { GUS_JAM_MIXED, 217 } }, { "rob", 224, HIGH, "others say the same" } },
		/* The buffer of something is as large as what is behind the jam at all. */
		{ &made_one, { { GUS_JAM_LOAD, 219 } }, { "load_buffer", 220, NONE, "the reorder buffer is full" } },
		{ &made_one, { { GUS_JAM_LOAD, 218 } }, { "load_buffer", 219, HIGH, NULL } },
		{ &made_one, { { GUS_JAM_ADD, 220 } }, { "int_registers", 251, NONE, "the reorder buffer is full" } },
		{ &made_one, { { GUS_JAM_STORE, ROOM } }, { "store_buffer", 1400, NONE, "no break was found" } },
		/* A compare and branch that needs a register, or two entries. */
		{ &made_one, { { GUS_JAM_BRANCH, 147 } }, { "branch_buffer", 148, NONE, "registers for their flags" } },
		{ &made_one, { { GUS_JAM_BRANCH, 151 } }, { "branch_buffer", 152, NONE, "registers for their flags" } },
		{ &made_one, { { GUS_JAM_BRANCH, 110 } },
			{ "branch_buffer", 111, NONE, "the reorder buffer is full" } },
		{ &made_one, { { GUS_JAM_BRANCH, 109 } }, { "branch_buffer", 110, HIGH, NULL } },
		{ &made_one, { { GUS_JAM_BRANCH, 221 } },
			{ "branch_buffer", 222, NONE, "the reorder buffer is full" } },
		/* One scheduler: who finds most is right, but by two the first; not loads that fill theirs. */
		{ &made_one, { { GUS_JAM_WAITING_ADD, 97 } }, { "rs", 97, HIGH, "waiting multiplications" } },
		{ &made_one, { { GUS_JAM_WAITING_ADD, 98 } }, { "rs", 100, HIGH, "waiting adds" } },
		{ &made_one, { { GUS_JAM_WAITING_MULTIPLY, ROOM } }, { "rs", 96, HIGH, "waiting adds" } },
		{ &made_one, { { GUS_JAM_WAITING_MULTIPLY, 40 }, { GUS_JAM_WAITING_ADD, 30 },
			{ GUS_JAM_WAITING_VECTOR, 30 } }, { "rs", 72, HIGH, "waiting loads" } },
		{ &made_one, { { GUS_JAM_WAITING_MULTIPLY, 40 }, { GUS_JAM_WAITING_ADD, 30 },
			{ GUS_JAM_WAITING_VECTOR, 30 }, { GUS_JAM_WAITING_LOAD, 70 } },
			{ "rs", 73, NONE, "the load buffer is full before" } },
		{ &made_one, { { GUS_JAM_WAITING_MULTIPLY, 40 }, { GUS_JAM_WAITING_ADD, 72 } },
			{ "rs", 94, HIGH, "waiting vectors" } },
		{ &made_one, { { GUS_JAM_WAITING_MULTIPLY, 217 } }, { "rs", 219, NONE, "the reorder buffer is full" } },
		{ &made_one, { { GUS_JAM_WAITING_MULTIPLY, 216 } }, { "rs", 218, HIGH, NULL } },
		{ &made_one, { { GUS_JAM_WAITING_MULTIPLY, ROOM }, { GUS_JAM_WAITING_ADD, 40 },
			{ GUS_JAM_WAITING_VECTOR, 72 } }, { "rs", 73, HIGH, "waiting vectors" } },
		/* Several: a limit for all is there if both by turns find less than twice of one. */
		{ &made_many, { { GUS_JAM_WAITING_BOTH, 119 } }, { "rs", 122, HIGH, "adds and vectors" } },
		{ &made_many, { { GUS_JAM_WAITING_BOTH, 120 } }, { "rs", 123, NONE, "its parts are full" } },
		{ &made_many, { { GUS_JAM_WAITING_BOTH, 95 } }, { "rs_int", 96, NONE, "all schedulers together" } },
		{ &made_many, { { GUS_JAM_WAITING_BOTH, 63 } }, { "rs_vector", 64, NONE, "all schedulers together" } },
		{ &made_many, { { GUS_JAM_WAITING_BOTH, 64 } }, { "rs_vector", 64, HIGH, NULL } },
		{ &made_many, { { GUS_JAM_WAITING_VECTOR, ROOM } }, { "rs_vector", 1401, NONE, "no break" } },
		{ &made_many, { { GUS_JAM_WAITING_ADD, 86 } }, { "rs_int", 96, HIGH, NULL } },
		{ &made_many, { { GUS_JAM_WAITING_ADD, 85 } }, { "rs_int", 86, HIGH, NULL } },
		{ &made_many, { { GUS_JAM_WAITING_MULTIPLY, ROOM } }, { "rs_int", 94, HIGH, NULL } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_window m = *cases[i].machine;
		struct gus_fit f = { .params = { 0 } };

		for (size_t k = 0; k < COUNT(cases[i].is); k++)
			if (cases[i].is[k].last)
				m.last[cases[i].is[k].kind] = cases[i].is[k].last;
		fit_well(&m, cases[i].machine == &made_one ? one : many, SIMULATED, GUS_CALIBRATION_FULL, &f);
		expect(&f, &cases[i].want);
		gus_fit_free(&f);
	}
}

/* What costs from the first one on has no buffer that could be seen. */
static void what_is_never_flat_is_hidden(void **state)
{
	struct made_window m = made_one;
	struct gus_fit f = { .params = { 0 } };

	(void)state;
	m.last[GUS_JAM_STORE] = 1;
	m.slope = 2;
	fit_well(&m, one, SIMULATED, GUS_CALIBRATION_FULL, &f);
	expect(&f, &(struct expected){ "store_buffer", 0, NONE, "slow it down however few" });
	gus_fit_free(&f);
}

/* Two nops an entry, which shows in how many come a cycle: moves say it where they take no registers, else a mix. */
static void nops_that_share_entries(void **state)
{
	static const struct { double pace; unsigned move, mixed; struct expected want; } cases[] = {
		{ 0.21, 200, 221, { "rob", 224, HIGH, "221 nops" } },
		{ 0.20, 200, 221, { "rob", 203, HIGH, "200 moves" } },
		{ 0.20, 154, 221, { "rob", 157, HIGH, "154 moves" } },
		{ 0.20, 153, 221, { "rob", 224, HIGH, "221 mixed" } },  /* as many as adds find registers */
		{ 0.20, 149, ROOM, { "rob", 1403, NONE, "no break was found" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_window m = made_one;
		struct gus_fit f = { .params = { 0 } };
		struct gus_fit_param issue = { .name = "issue_width", .value = 4, .low = 4, .high = 4,
			.confidence = GUS_CONFIDENCE_MEDIUM };

		gus_fit_put(&f, &issue);
		m.pace[GUS_JAM_NOP] = cases[i].pace;
		m.last[GUS_JAM_MOVE] = cases[i].move;
		m.last[GUS_JAM_MIXED] = cases[i].mixed;
		fit_well(&m, one, SIMULATED, GUS_CALIBRATION_FULL, &f);
		expect(&f, &cases[i].want);
		gus_fit_free(&f);
	}
}

/* The end of the loop is an entry less or more, as was found before; of what is hardly sure the table is right. */
static void the_end_of_a_loop_is_one_entry_or_two(void **state)
{
	static const struct { double fusion; enum gus_confidence confidence; double rob; } cases[] = {
		{ 3, GUS_CONFIDENCE_HIGH, 224 }, { 2, GUS_CONFIDENCE_MEDIUM, 224 }, { 1, GUS_CONFIDENCE_MEDIUM, 225 },
		{ 0, GUS_CONFIDENCE_LOW, 224 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_fit f = { .params = { 0 } };
		struct gus_fit_param fusion = { .name = "macro_fusion", .value = cases[i].fusion,
			.confidence = cases[i].confidence };

		gus_fit_put(&f, &fusion);
		fit_well(&made_one, one, SIMULATED, GUS_CALIBRATION_FULL, &f);
		expect(&f, &(struct expected){ "rob", cases[i].rob, HIGH, NULL });
		gus_fit_free(&f);
	}
}

/* A chain whose links take now this and now that is not taken, if the other one is steady. */
static void steady_chains_are_taken(void **state)
{
	static const struct { double vectors, integers, registers, vector_registers, rs; } cases[] = {
		{ 4, 3, 180, 168, 97 },
		/* a chain of integers has a register of integers, and multiplications are in its way at their port */
		{ 3.5, 3, 181, 168, 96 },
		{ 4, 3.5, 180, 169, 97 },
		{ 3.5, 3.5, 180, 168, 96 }, /* neither is steady: as if both were */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_window m = made_one;
		struct gus_fit f = { .params = { 0 } };

		m.link[GUS_JAM_OF_VECTORS] = cases[i].vectors;
		m.link[GUS_JAM_OF_INTEGERS] = cases[i].integers;
		fit_well(&m, one, SIMULATED, GUS_CALIBRATION_FULL, &f);
		expect(&f, &(struct expected){ "int_registers", cases[i].registers, HIGH, NULL });
		expect(&f, &(struct expected){ "vector_registers", cases[i].vector_registers, HIGH, NULL });
		expect(&f, &(struct expected){ "rs", cases[i].rs, HIGH, NULL });
		gus_fit_free(&f);
	}
}

/* Sizes far from the table's are found as well. */
static void tables_are_no_limits(void **state)
{
	static const unsigned sizes[] = { 20, 40, 110, 500, 1300 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct made_window m = made_one;
		struct gus_fit f = { .params = { 0 } };

		m.last[GUS_JAM_NOP] = ROOM;
		m.last[GUS_JAM_MIXED] = m.last[GUS_JAM_MOVE] = ROOM;
		m.last[GUS_JAM_STORE] = sizes[i];
		m.last[GUS_JAM_LOAD] = sizes[i];
		fit_well(&m, one, REAL, GUS_CALIBRATION_FULL, &f);
		expect(&f, &(struct expected){ "store_buffer", sizes[i], HIGH, NULL });
		expect(&f, &(struct expected){ "load_buffer", sizes[i] + 1, HIGH, NULL });
		gus_fit_free(&f);
	}
}

/* Somebody else has entries for a while: of several searches the one that finds most is right. */
static void what_is_taken_for_a_while_is_found(void **state)
{
	static const enum gus_jam kinds[] = { GUS_JAM_LOAD, GUS_JAM_STORE };

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (unsigned disturbed = 0; disturbed <= 64; disturbed += 8) {
			struct made_window m = made_one;
			struct gus_fit f = { .params = { 0 } };

			m.disturbed_kind = kinds[i];
			m.disturbed = disturbed;
			m.taken = 30;
			fit_well(&m, one, REAL, GUS_CALIBRATION_FULL, &f);
			assert_true(gus_fit_get(&f, i ? "store_buffer" : "load_buffer")->value == (i ? 56 : 72));
			gus_fit_free(&f);
		}
}

/* Roots that take longer than all that is behind them need one link, as a jam without any is none. */
static void slow_roots_need_few_links(void **state)
{
	struct made_window m = made_one;
	struct gus_fit f = { .params = { 0 } };
	struct gus_error err = { 0 };

	(void)state;
	m.roots = 4000;
	assert_int_equal(fit(&m, one, SIMULATED, GUS_CALIBRATION_QUICK, &f, &err), 0);
	expect(&f, &(struct expected){ "rob", 224, HIGH, NULL });
	expect(&f, &(struct expected){ "load_buffer", 72, HIGH, NULL });
	assert_int_equal(m.most_links, 33); /* when a link was timed */
	gus_fit_free(&f);
	m = made_one;
	assert_int_equal(fit(&m, one, SIMULATED, GUS_CALIBRATION_QUICK, &f, &err), 0);
	assert_true(m.most_links > 33);
	gus_fit_free(&f);
}

/* Of quick ones what most rests on, and of steps what a real machine is sure to have. */
static void quick_ones_are_fewer(void **state)
{
	static const double steps[] = { 1.0, 1.9, 3.0 };

	(void)state;
	for (int real = SIMULATED; real <= REAL; real++)
		for (size_t i = 0; i < COUNT(steps); i++) {
			struct made_window m = made_one;
			struct gus_fit f = { .params = { 0 } };
			struct gus_error err = { 0 };

			m.step = steps[i];
			for (unsigned kind = 0; kind < GUS_JAMS; kind++)
				m.last[kind] += 3; /* the slope behind it is a step as well, some later */
			assert_int_equal(fit(&m, one, real, GUS_CALIBRATION_QUICK, &f, &err), 0);
			assert_true(m.asked[GUS_JAM_NOP] && m.asked[GUS_JAM_MIXED] && m.asked[GUS_JAM_ADD] &&
				    m.asked[GUS_JAM_LOAD] && m.asked[GUS_JAM_STORE]);
			assert_false(m.asked[GUS_JAM_XOR] || m.asked[GUS_JAM_BRANCH] || m.asked[GUS_JAM_WAITING_ADD]);
			assert_null(gus_fit_get(&f, "rs"));
			assert_null(gus_fit_get(&f, "vector_registers"));
			assert_null(gus_fit_get(&f, "branch_buffer"));
			expect(&f, &(struct expected){ "load_buffer",
				75 + fmax(0, ceil(2 * ((real ? 2.6 : 1.6) - steps[i]) + 1e-9)), HIGH, NULL });
			gus_fit_free(&f);
		}
}

/* A pace that something disturbed would have a jam of half a million links, or of any number. */
static void links_have_an_end(void **state)
{
	struct made_window m = made_one;
	struct gus_fit f = { .params = { 0 } };
	struct gus_error err = { 0 };

	(void)state;
	m.pace[GUS_JAM_LOAD] = 10000;
	assert_int_equal(fit(&m, one, REAL, GUS_CALIBRATION_QUICK, &f, &err), 0);
	assert_true(m.most_links < 100000);
	gus_fit_free(&f);
}

/* Whichever round it is that cannot be run. */
static void errors_come_through(void **state)
{
	struct made_window m = made_one;
	struct gus_fit f = { .params = { 0 } };
	struct gus_error err = { 0 };
	unsigned rounds;

	(void)state;
	assert_int_equal(fit(&m, one, REAL, GUS_CALIBRATION_QUICK, &f, &err), 0);
	gus_fit_free(&f);
	rounds = m.rounds;
	assert_true(rounds > 20);
	for (unsigned i = 1; i <= rounds; i++) {
		m = made_one;
		m.fails_at = i;
		f = (struct gus_fit){ .params = { 0 } };
		assert_int_equal(fit(&m, one, REAL, GUS_CALIBRATION_QUICK, &f, &err), -1);
		assert_int_equal(f.params.n, 0);
		gus_fit_free(&f);
	}
}

/* What is simulated is exact. Of a real host the interval has two in a hundred on each side, at least an entry, and
 * what another search or kind of instruction found if that is about the same. */
static void intervals_have_the_next_run(void **state)
{
	static const struct { int real; unsigned taken; const char *name; double low, high; } cases[] = {
		{ SIMULATED, 0, "rob", 224, 224 }, { SIMULATED, 0, "store_buffer", 56, 56 },
		{ REAL, 0, "rob", 219, 229 }, { REAL, 0, "store_buffer", 54, 58 },
		{ REAL, 0, "int_registers", 176, 184 },
		/* the least of the searches, but not one that somebody else took a lot away from */
		{ REAL, 12, "rob", 212, 229 }, { REAL, 40, "rob", 219, 229 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_window m = made_one;
		struct gus_fit f = { .params = { 0 } };
		const struct gus_fit_param *p;

		m.disturbed_kind = GUS_JAM_NOP;
		m.disturbed = 10;
		m.taken = cases[i].taken;
		fit_well(&m, one, cases[i].real, GUS_CALIBRATION_QUICK, &f);
		p = gus_fit_get(&f, cases[i].name);
		if (p->low != cases[i].low || p->high != cases[i].high)
			fail_msg("case %zu: %g to %g", i, p->low, p->high);
		gus_fit_free(&f);
	}
}

/* Nops and what is mixed fill one buffer: where these are a few apart, so may the next run be. */
static void kinds_that_are_a_few_apart(void **state)
{
	static const struct { unsigned mixed; double low; } cases[] = { { 221, 219 }, { 210, 213 }, { 190, 219 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_window m = made_one;
		struct gus_fit f = { .params = { 0 } };

		m.last[GUS_JAM_MIXED] = cases[i].mixed;
		fit_well(&m, one, REAL, GUS_CALIBRATION_QUICK, &f);
		assert_true(gus_fit_get(&f, "rob")->low == cases[i].low);
		gus_fit_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_scheduler),
		cmocka_unit_test(many_schedulers),
		cmocka_unit_test(what_hides_another),
		cmocka_unit_test(what_is_never_flat_is_hidden),
		cmocka_unit_test(nops_that_share_entries),
		cmocka_unit_test(the_end_of_a_loop_is_one_entry_or_two),
		cmocka_unit_test(steady_chains_are_taken),
		cmocka_unit_test(tables_are_no_limits),
		cmocka_unit_test(what_is_taken_for_a_while_is_found),
		cmocka_unit_test(slow_roots_need_few_links),
		cmocka_unit_test(quick_ones_are_fewer),
		cmocka_unit_test(links_have_an_end),
		cmocka_unit_test(errors_come_through),
		cmocka_unit_test(intervals_have_the_next_run),
		cmocka_unit_test(kinds_that_are_a_few_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
