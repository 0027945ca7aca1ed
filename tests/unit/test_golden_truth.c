/* SPDX-License-Identifier: MIT */
/* What is true of a run, told by hand: cells, places and lengths of stalls, out of a file as they went in; how far
 * estimates are from it; counters; and another simulator's stages as a listener is told of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/code/program.h"
#include "model/core/pics.h"
#include "tests/accuracy/golden/counters.h"
#include "tests/accuracy/golden/score.h"
#include "tests/accuracy/golden/stages.h"
#include "tests/accuracy/golden/truth.h"

enum { OPS = 4, AT = 0x400000, STEP = 8, ONE = GUS_PICS_TICKS };

static struct gus_op ops[OPS];
static struct gus_program_insn insns[OPS];
static const struct gus_program program = { .ops = ops, .insns = insns, .ops_n = OPS, .insns_n = OPS };

static int setup(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < OPS; i++) {
		ops[i] = (struct gus_op){ .insn = i, .insns_n = 1 };
		insns[i].offset = AT + STEP * i;
	}
	return 0;
}

static void retires(struct golden_truth_run *t, uint32_t op, unsigned psv)
{
	golden_truth_retire(t, &(struct gus_core_retired){ .op = op, .psv = (uint16_t)psv, .ends = true });
}

static void cycles(struct golden_truth_run *t, enum gus_commit state, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		golden_truth_cycle(t, &(struct gus_core_cycle){ .state = state });
}

/* The figure of model/core/pics.h, with a stall of five cycles before d, which had no event. */
static void add_figure(struct golden_truth *truth)
{
	struct golden_truth_run t;

	golden_truth_begin(&t, &program);
	retires(&t, 0, 0);
	retires(&t, 1, GUS_CORE_ST_L1 | GUS_CORE_ST_TLB);
	cycles(&t, GUS_COMMIT_COMPUTE, 1);
	cycles(&t, GUS_COMMIT_STALLED, 2);
	retires(&t, 2, GUS_CORE_FL_MB);
	cycles(&t, GUS_COMMIT_COMPUTE, 1);
	cycles(&t, GUS_COMMIT_FLUSHED, 1);
	cycles(&t, GUS_COMMIT_STALLED, 5);
	retires(&t, 3, 0);
	cycles(&t, GUS_COMMIT_COMPUTE, 1);
	cycles(&t, GUS_COMMIT_DRAINED, 3); /* nobody's */
	golden_truth_add(truth, &t);
	golden_truth_end(&t);
}

static uint64_t ticks_of(const struct golden_truth *t, uint32_t op, enum gus_commit state, unsigned psv)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->cells.n; i++)
		if (t->cells.v[i].address == AT + STEP * op && t->cells.v[i].state == state &&
		    t->cells.v[i].psv == psv)
			sum += t->cells.v[i].ticks;
	return sum;
}

static void check_two_figures(const struct golden_truth *t)
{
	assert_int_equal(t->cycles, 2 * 11);
	assert_int_equal(t->instructions, 2 * 4);
	assert_int_equal(t->with_events, 2 * 2);
	assert_int_equal(t->with_several, 2);
	assert_int_equal(t->cells.n, 7);
	assert_int_equal(ticks_of(t, 0, GUS_COMMIT_COMPUTE, 0), ONE);
	assert_int_equal(ticks_of(t, 1, GUS_COMMIT_COMPUTE, GUS_CORE_ST_L1 | GUS_CORE_ST_TLB), ONE);
	assert_int_equal(ticks_of(t, 2, GUS_COMMIT_STALLED, GUS_CORE_FL_MB), 4 * ONE);
	assert_int_equal(ticks_of(t, 2, GUS_COMMIT_FLUSHED, GUS_CORE_FL_MB), 2 * ONE);
	assert_int_equal(ticks_of(t, 3, GUS_COMMIT_STALLED, 0), 10 * ONE);
	assert_int_equal(ticks_of(t, 3, GUS_COMMIT_COMPUTE, 0), 2 * ONE);
	/* Of stalls those of what had no event: c had one. */
	for (unsigned i = 0; i < GOLDEN_STALLS; i++)
		assert_int_equal(t->stalls[i], i == 5 ? 2 : 0);
	assert_int_equal(t->places.n, OPS);
	assert_int_equal(golden_truth_place(t, AT + STEP)->executed, 2);
	assert_int_equal(golden_truth_place(t, AT + STEP)->with[6], 2);
	assert_int_equal(golden_truth_place(t, AT + STEP)->with[5], 0);
	assert_int_equal(golden_truth_place(t, AT + STEP)->with[7], 2);
	assert_null(golden_truth_place(t, AT + STEP - 1));
	assert_null(golden_truth_place(t, AT + STEP + 1));
}

static void two_runs_in_a_file(void **state)
{
	char path[] = "/tmp/gusprof-test-XXXXXX";
	struct golden_truth t = { .cycles = 0 }, read = { .cycles = 0 };
	struct gus_error err = { 0 };

	(void)state;
	close(mkstemp(path));
	add_figure(&t);
	add_figure(&t);
	golden_truth_settle(&t);
	check_two_figures(&t);
	gus_vec_push(&t.functions, gus_strdup("f(int, char)"));
	gus_vec_push(&t.functions, gus_strdup("g"));
	gus_vec_push(&t.loops, gus_strdup("f(int, char) at 10"));
	t.places.v[3].loop = 7;
	assert_int_equal(golden_truth_write(&t, path, &err), 0);
	assert_int_equal(golden_truth_read(&read, path, &err), 0);
	check_two_figures(&read);
	assert_int_equal(read.functions.n, 2);
	assert_string_equal(read.functions.v[0], "f(int, char)");
	assert_string_equal(read.functions.v[1], "g");
	assert_string_equal(read.loops.v[0], "f(int, char) at 10");
	assert_int_equal(read.places.v[3].loop, 7);
	golden_truth_free(&t);
	golden_truth_free(&read);
	unlink(path);
}

/* A stall of as many cycles as are told apart, one less and one more. */
/* Three executions with one event and one with three: of the four with events one has several. */
static void several_events(void **state)
{
	struct golden_truth truth = { .cycles = 0 };
	struct golden_truth_run t;

	(void)state;
	golden_truth_begin(&t, &program);
	retires(&t, 0, GUS_CORE_ST_L1);
	retires(&t, 1, GUS_CORE_FL_MB);
	retires(&t, 2, GUS_CORE_DR_SQ | GUS_CORE_ST_TLB | GUS_CORE_ST_L1);
	retires(&t, 3, GUS_CORE_ST_L1);
	retires(&t, 3, 0);
	cycles(&t, GUS_COMMIT_COMPUTE, 1);
	golden_truth_add(&truth, &t);
	golden_truth_end(&t);
	assert_int_equal(truth.with_events, 4);
	assert_int_equal(truth.with_several, 1);
	golden_truth_free(&truth);
}

static void long_stalls(void **state)
{
	static const unsigned lengths[] = { GOLDEN_STALLS - 2, GOLDEN_STALLS - 1, GOLDEN_STALLS };
	struct golden_truth truth = { .cycles = 0 };
	struct golden_truth_run t;

	(void)state;
	golden_truth_begin(&t, &program);
	for (unsigned i = 0; i < 3; i++) {
		cycles(&t, GUS_COMMIT_STALLED, lengths[i]);
		retires(&t, 0, 0);
		cycles(&t, GUS_COMMIT_COMPUTE, 1);
	}
	golden_truth_add(&truth, &t);
	golden_truth_end(&t);
	golden_truth_settle(&truth);
	assert_int_equal(truth.stalls[GOLDEN_STALLS - 2], 1);
	assert_int_equal(truth.stalls[GOLDEN_STALLS - 1], 2);
	golden_truth_free(&truth);
}

static void what_is_no_truth(void **state)
{
	static const struct { const char *text, *failure; } cases[] = {
		{ "golden-truth 1\ntotal 1 2 3 4\ncell 40 511 3 5\n", NULL },
		{ "golden-truth 2\n", "line 1 " },
		{ "golden-truth 1\ncell 40 512 3 5\n", "line 2 " },
		{ "golden-truth 1\ntotal 1 2 3 4\ncell 40 511 4 5\n", "line 3 " },
		{ "golden-truth 1\nstall 4095 5\n", NULL },
		{ "golden-truth 1\nstall 4096 5\n", "line 2 " },
		{ "golden-truth 1\nfunction 0 f\nfunction 2 g\n", "line 3 " },
		{ "golden-truth 1\nplace 40 0 0 0 1 0 0 0 0 0 0 0 0\n", "line 2 " },
		{ "golden-truth 1\nplace 40 0 0 0 1 0 0 0 0 0 0 0 0 0\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[] = "/tmp/gusprof-test-XXXXXX";
		struct golden_truth t = { .cycles = 0 };
		struct gus_error err = { 0 };
		int fd = mkstemp(path);

		assert_int_equal(write(fd, cases[i].text, strlen(cases[i].text)), strlen(cases[i].text));
		close(fd);
		assert_int_equal(golden_truth_read(&t, path, &err), cases[i].failure ? -1 : 0);
		if (cases[i].failure)
			assert_non_null(strstr(err.text, cases[i].failure));
		golden_truth_free(&t);
		unlink(path);
	}
}

/* Scores. */

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

static double poisson_deviation(double l)
{
	double p = exp(-l), sum = 0;

	for (unsigned k = 0; k < 400; k++) {
		sum += fabs(k - l) * p;
		p *= l / (k + 1);
	}
	return sum;
}

/* Half of the mean absolute deviation of each count, whole numbers and their neighbours too. */
static void the_floor(void **state)
{
	static const double samples[] = { 0.25, 0.999, 1, 1.001, 2.5, 7, 100 };
	const double one[] = { 1 }, halves[] = { 0.5, 0.5 }, uneven[] = { 0.9, 0.1, 0 };

	(void)state;
	assert_true(near(golden_floor(one, 1, 1), exp(-1)));
	assert_true(near(golden_floor(halves, 2, 2), exp(-1)));
	assert_true(near(golden_floor(halves, 2, 1), exp(-0.5)));
	assert_true(near(golden_floor(one, 1, 0), 0));
	assert_true(near(golden_floor(one, 0, 5), 0));
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		double n = samples[i], sum = poisson_deviation(0.9 * n) + poisson_deviation(0.1 * n);

		assert_true(fabs(golden_floor(uneven, 3, n) - sum / n / 2) < 1e-9);
	}
}

/* Three quarters at the first address, of which a third missed; the rest at the second. */
static struct golden_truth quarters(void)
{
	struct golden_truth t = { .cycles = 4 };

	gus_vec_push(&t.cells, (struct golden_cell){ AT, 2 * ONE, 0, GUS_COMMIT_COMPUTE });
	gus_vec_push(&t.cells, (struct golden_cell){ AT, ONE, GUS_CORE_ST_L1, GUS_COMMIT_STALLED });
	gus_vec_push(&t.cells, (struct golden_cell){ AT + STEP, ONE, 0, GUS_COMMIT_COMPUTE });
	gus_vec_push(&t.places, (struct golden_place){ .address = AT, .function = 1 });
	gus_vec_push(&t.places, (struct golden_place){ .address = AT + STEP, .function = 1 });
	return t;
}

/* The n estimates are samples one after the other. */
static void score_is(const struct golden_estimate *v, size_t n, uint16_t events, double error, double heights,
		     double of_functions)
{
	struct golden_truth t = quarters();
	struct golden_estimates e = { 0 };
	struct golden_score s;

	for (size_t i = 0; i < n; i++)
		gus_vec_push(&e, v[i]);
	golden_score(&t, &e, events, GOLDEN_INSTRUCTION, 0, &s);
	assert_true(near(s.error, error));
	assert_true(near(s.heights, heights));
	assert_int_equal(s.samples, n);
	golden_score(&t, &e, events, GOLDEN_FUNCTION, 0, &s);
	assert_true(near(s.heights, of_functions));
	gus_vec_free(&e);
	golden_truth_free(&t);
}

static void scores(void **state)
{
	enum { A = AT, B = AT + STEP, ALL = 511, L1 = GUS_CORE_ST_L1 };
	const struct golden_estimate right[] = { { A, 0, 2, 0, ALL }, { A, 1, 1, L1, ALL }, { B, 2, 1, 0, ALL } },
		wrong[] = { { B + STEP, 0, 1, 0, ALL } }, half[] = { { A, 0, 1, 0, ALL }, { B + STEP, 1, 1, 0, ALL } },
		first[] = { { A, 0, 1, 0, ALL } }, blind[] = { { A, 0, 3, 0, 0 }, { B, 1, 1, 0, 0 } },
		swapped[] = { { A, 0, 2, 0, ALL }, { A, 1, 1, 0, ALL }, { B, 2, 1, L1, ALL } };

	(void)state;
	score_is(right, 3, ALL, 0, 0, 0);
	score_is(wrong, 1, ALL, 1, 1, 1);
	score_is(half, 2, ALL, 0.5, 0.5, 0.5);
	score_is(first, 1, ALL, 0.5, 0.25, 0);
	score_is(first, 1, 0, 0.25, 0.25, 0);   /* judged by no event: heights alone */
	score_is(blind, 2, ALL, 1, 0, 0);       /* it knows of none that it is judged by */
	score_is(blind, 2, 0, 0, 0, 0);
	score_is(swapped, 3, ALL, 0.5, 0, 0);   /* a quarter too much at one cell, none at two others */
	score_is(swapped, 3, GUS_CORE_FL_MB, 0, 0, 0);
	score_is(NULL, 0, ALL, 1, 1, 1);
}

/* Of a part of the samples; shares of one stay together. */
static void some_samples(void **state)
{
	struct golden_truth t = quarters();
	struct golden_estimates e = { 0 };
	struct golden_score s;

	(void)state;
	gus_vec_push(&e, (struct golden_estimate){ AT, 5, 2, 0, 511 });
	gus_vec_push(&e, (struct golden_estimate){ AT, 5, 1, GUS_CORE_ST_L1, 511 });
	gus_vec_push(&e, (struct golden_estimate){ AT + STEP, 6, 1, 0, 511 });
	golden_score(&t, &e, 511, GOLDEN_INSTRUCTION, 1, &s);
	assert_int_equal(s.samples, 1);
	assert_true(near(s.error, 0.25));
	golden_score(&t, &e, 511, GOLDEN_INSTRUCTION, 2, &s);
	assert_int_equal(s.samples, 2);
	assert_true(near(s.error, 0));
	golden_score(&t, &e, 511, GOLDEN_INSTRUCTION, 3, &s);
	assert_int_equal(s.samples, 2);
	golden_estimates_shuffle(&e, 1);
	golden_score(&t, &e, 511, GOLDEN_INSTRUCTION, 0, &s);
	assert_int_equal(s.samples, 2);
	assert_true(near(s.error, 0));
	gus_vec_free(&e);
	golden_truth_free(&t);
}

/* So many samples, each by itself, of cells whose true shares are 1/2, 1/4 and 1/4: which of the cells with five
 * samples and more have the true share in their interval. It has a share p if theirs is no farther from it than
 * 1.96 sqrt(p (1 - p) / n): of 100 samples 9.8 % for 1/2, and 8.5 % for 1/4. */
static void intervals(void **state)
{
	enum { A = AT, B = AT + STEP, ALL = 511 };
	static const struct { unsigned n[3]; double covered; } cases[] = { { { 50, 25, 25 }, 1 }, { { 41, 31, 28 }, 1 },
		{ { 59, 17, 24 }, 1 }, { { 40, 32, 28 }, 2. / 3 }, { { 60, 20, 20 }, 2. / 3 }, { { 50, 17, 33 }, 1 },
		{ { 50, 16, 34 }, 1. / 3 }, { { 4, 4, 92 }, 0 }, { { 8, 4, 4 }, 1 }, { { 4, 4, 5 }, 1 },
		{ { 4, 4, 8 }, 0 }, { { 4, 4, 4 }, 0 }, { { 0, 0, 0 }, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct golden_truth t = quarters();
		struct golden_estimates e = { 0 };
		struct golden_score s;

		for (unsigned cell = 0; cell < 3; cell++)
			for (unsigned k = 0; k < cases[i].n[cell]; k++)
				gus_vec_push(&e, (struct golden_estimate){ cell < 2 ? A : B, e.n, 1,
					     cell == 1 ? GUS_CORE_ST_L1 : 0, ALL });
		golden_score(&t, &e, ALL, GOLDEN_INSTRUCTION, 0, &s);
		if (!near(s.covered, cases[i].covered))
			fail_msg("case %zu: %g are covered", i, s.covered);
		assert_true(near(s.unknown, 0));
		gus_vec_free(&e);
		golden_truth_free(&t);
	}
}

/* The weight of what the sampler does not know one of the events of that it is judged by. */
static void unknown_components(void **state)
{
	struct golden_truth t = quarters();
	struct golden_estimates e = { 0 };
	struct golden_score s;

	(void)state;
	gus_vec_push(&e, (struct golden_estimate){ AT, 0, 3, GUS_CORE_ST_L1, GUS_CORE_ST_L1 });
	gus_vec_push(&e, (struct golden_estimate){ AT + STEP, 1, 1, 0, 0 });
	golden_score(&t, &e, GUS_CORE_ST_L1, GOLDEN_INSTRUCTION, 0, &s);
	assert_true(near(s.unknown, 0.25));
	golden_score(&t, &e, GUS_CORE_ST_L1 | GUS_CORE_FL_MB, GOLDEN_INSTRUCTION, 0, &s);
	assert_true(near(s.unknown, 1));
	golden_score(&t, &e, 0, GOLDEN_INSTRUCTION, 0, &s);
	assert_true(near(s.unknown, 0));
	gus_vec_free(&e);
	golden_truth_free(&t);
}

/* All are still there, shares of one sample beside each other, in another order for each seed. */
static void shuffled(void **state)
{
	enum { MANY = 200 };
	struct golden_estimates e = { 0 };
	uint64_t first[2];

	(void)state;
	golden_estimates_shuffle(&e, 1);
	assert_int_equal(e.n, 0);
	for (uint64_t seed = 0; seed < 2; seed++) {
		bool seen[2 * MANY] = { false };
		unsigned ascending = 0;

		e.n = 0;
		for (uint64_t i = 0; i < 2 * MANY; i++) /* the first share of all, then the second of all */
			gus_vec_push(&e, (struct golden_estimate){ .address = i, .trigger = i % MANY });
		golden_estimates_shuffle(&e, seed);
		first[seed] = e.v[0].address % MANY;
		for (size_t i = 0; i < 2 * MANY; i++) {
			assert_false(seen[e.v[i].address]);
			seen[e.v[i].address] = true;
			if (i % 2)
				assert_true(e.v[i].trigger == e.v[i - 1].trigger &&
					    e.v[i].address % MANY == e.v[i - 1].address % MANY);
			else
				ascending += i && e.v[i].address % MANY > e.v[i - 2].address % MANY;
		}
		assert_in_range(ascending, MANY / 4, MANY * 3 / 4);
	}
	assert_true(first[0] != first[1]);
	gus_vec_free(&e);
}

/* Counters. */

/* A turn in which a load retires each cycle, one in which another op waits, one in which a load does: each group says
 * that all was as in its own turn. */
static void turns_of_counters(void **state)
{
	enum { TURN = 65536, WIDTH = 4 };
	static const struct gus_core_cycle kinds[] = { { .state = GUS_COMMIT_COMPUTE, .issued = 4, .op = 1 },
		{ .state = GUS_COMMIT_STALLED, .issued = 1, .stop = GUS_CORE_ROB, .op = 0 },
		{ .state = GUS_COMMIT_STALLED, .issued = 0, .stop = GUS_CORE_STORE_BUFFER, .op = 1 } };
	struct golden_counters c;

	(void)state;
	ops[1].loads = 1;
	golden_counters_begin(&c, &program, WIDTH);
	for (unsigned turn = 0; turn < 3; turn++)
		for (unsigned i = 0; i < TURN; i++) {
			if (turn == 2)
				golden_counters_retire(&c, &(struct gus_core_retired){ .op = 0,
					.psv = GUS_CORE_ST_LLC, .ends = true });
			golden_counters_cycle(&c, &kinds[turn]);
		}
	assert_int_equal(c.count[GOLDEN_NO_RETIRE], 2 * TURN);
	assert_int_equal(c.count[GOLDEN_NO_RETIRE_LOAD], TURN);
	assert_true(golden_counters_read(&c, GOLDEN_CYCLES) == 3 * TURN);
	assert_true(golden_counters_read(&c, GOLDEN_NO_RETIRE) == 0);           /* of the first */
	assert_true(golden_counters_read(&c, GOLDEN_SLOTS) == 4 * 3 * TURN);    /* of the second */
	assert_true(golden_counters_read(&c, GOLDEN_SLOTS_BACK) == 3 * 3 * TURN);
	assert_true(golden_counters_read(&c, GOLDEN_SLOTS_ISSUED) == 3 * TURN);
	assert_true(golden_counters_read(&c, GOLDEN_LLC_MISSES) == 3 * TURN);   /* of the third */
	assert_true(golden_counters_read(&c, GOLDEN_L1_MISSES) == 0);
	assert_int_equal(c.turns.n, 1);                                         /* of the second's */
	assert_int_equal(c.turns.v[0].counted[GOLDEN_SLOTS_BACK], 3 * TURN);
	golden_counters_end(&c);
	ops[1].loads = 0;
}

static void counters(void **state)
{
	enum { TURN = 65536, WIDTH = 4 };
	static const struct gus_core_cycle kinds[] = {
		{ .state = GUS_COMMIT_COMPUTE, .issued = 4 },
		{ .state = GUS_COMMIT_STALLED, .issued = 1, .stop = GUS_CORE_STORE_BUFFER, .op = 1 },
		{ .state = GUS_COMMIT_DRAINED, .issued = 2, .stop = GUS_CORE_FRONT_END },
		{ .state = GUS_COMMIT_FLUSHED, .issued = 0, .wrong = 1, .stop = GUS_CORE_MISPREDICT },
	};
	struct golden_counters c;
	uint64_t rounds = 0;

	(void)state;
	ops[1].loads = 1;
	golden_counters_begin(&c, &program, WIDTH);
	for (; rounds < 3 * TURN / 4; rounds++) {
		if (rounds == TURN / 4 - 1)
			assert_true(golden_counters_read(&c, GOLDEN_CYCLES) == 0); /* no turn is over */
		golden_counters_retire(&c, &(struct gus_core_retired){ .op = 0, .psv = GUS_CORE_ST_L1, .ends = true });
		golden_counters_retire(&c, &(struct gus_core_retired){ .op = 2 });
		for (unsigned i = 0; i < 4; i++)
			golden_counters_cycle(&c, &kinds[i]);
	}
	assert_int_equal(c.count[GOLDEN_CYCLES], 4 * rounds);
	assert_int_equal(c.count[GOLDEN_INSTRUCTIONS], rounds);
	assert_int_equal(c.count[GOLDEN_NO_RETIRE], 3 * rounds);
	assert_int_equal(c.count[GOLDEN_NO_RETIRE_EMPTY], 2 * rounds);
	assert_int_equal(c.count[GOLDEN_NO_RETIRE_NOT_COMPLETE], rounds);
	assert_int_equal(c.count[GOLDEN_NO_RETIRE_LOAD], rounds);
	assert_int_equal(c.count[GOLDEN_STORE_QUEUE_STALL], rounds);
	assert_int_equal(c.count[GOLDEN_SLOTS], 16 * rounds);
	assert_int_equal(c.count[GOLDEN_SLOTS_ISSUED], 8 * rounds);
	assert_int_equal(c.count[GOLDEN_SLOTS_WRONG], rounds);
	assert_int_equal(c.count[GOLDEN_SLOTS_RETIRED], 2 * rounds);
	assert_int_equal(c.count[GOLDEN_SLOTS_BACK], 3 * rounds);
	assert_int_equal(c.count[GOLDEN_SLOTS_FRONT], 2 * rounds);
	assert_int_equal(c.count[GOLDEN_SLOTS_RECOVERY], 3 * rounds);
	assert_int_equal(c.count[GOLDEN_L1_MISSES], rounds);
	/* Each group had one turn of the three, all of which were alike. */
	for (unsigned g = 0; g < GOLDEN_GROUPS; g++)
		for (unsigned i = 0; i < golden_groups[g].n; i++)
			assert_true(golden_counters_read(&c, golden_groups[g].counters[i]) ==
				    (double)c.count[golden_groups[g].counters[i]]);
	assert_true(golden_counters_read(&c, GOLDEN_SLOTS_WRONG) == 0); /* in no group */
	golden_counters_end(&c);
	ops[1].loads = 0;
}

/* Stages. */

static const char stages_text[] = "# program p configuration c cycles 18 clock_ps 1\n"
	"seq\tpc\tupc\tdid\tfetch\tdec\tren\tdsp\trob\tiss\tcmp\tret\tst\tnsq\tcause\tfl\tlvl\tic\taddr\n"
	/* A load from memory; a branch, mispredicted, behind which nine were squashed; a store that waited for the
	 * only entry, which the store before it has until 10; and one whose code missed, and that retires two
	 * cycles later than it could. */
	"0\t1000\t0\t0\t-4\t1\t2\t5\t4\t5\t7\t9\t-\t0\t-\t-\t3\t-\tabc0:8\n"
	"1\t1004\t0\t1\t-3\t1\t2\t4\t3\t4\t6\t8\t13\t0\t-\t-\t1\t-\t40:4\n"
	"2\t1008\t0\t2\t-3\t1\t2\t4\t4\t5\t7\t9\t-\t0\t-\tB\t-\t-\t-\n"
	"12\t1040\t0\t3\t4\t1\t3\t5\t4\t5\t6\t8\t9\t9\tB\t-\t1\t-\t80:4\n"
	"13\t1044\t0\t4\t5\t1\t2\t5\t8\t-\t-\t12\t-\t0\t-\t-\t-\t2:9\t-\n";
static const char dict_text[] = "did\tpc\tupc\tkinds\topclass\tcommits\tdisassembly\n"
	"0\t1000\t0\tload,last\tMemRead\t1\tx\n1\t1004\t0\tstore,last\tMemWrite\t1\tx\n"
	"2\t1008\t0\tctrl,cond,last\tIntAlu\t1\tx\n3\t1040\t0\tstore,last\tMemWrite\t1\tx\n"
	"4\t1044\t0\tlast\tNo_OpClass\t1\tx\n9\t2000\t0\tload,last\tMemRead\t0\tx\n";

struct heard { char states[32]; unsigned wrong[18], issued[18], blocked, psv[5], n; uint32_t op[5]; };

static void hear_cycle(void *context, const struct gus_core_cycle *c)
{
	struct heard *h = context;

	h->states[c->cycle] = "CSDF"[c->state];
	h->wrong[c->cycle] = c->wrong;
	h->issued[c->cycle] = c->issued;
	h->blocked += c->stall == GUS_CORE_ROB;
}

static void hear_uop(void *context, const struct gus_core_event *e)
{
	struct heard *h = context;

	h->psv[h->n] = e->psv;
	h->op[h->n] = e->op;
	if (h->n == 0) {
		assert_int_equal(e->level, GUS_HIT_MEMORY);
		assert_int_equal(e->miss, 2);
		assert_int_equal(e->bytes, 8);
	}
	if (h->n == 4) /* it was never executed: done as it entered */
		assert_int_equal(e->completed, 13);
	assert_int_equal(e->mispredicted, h->n == 2);
	assert_int_equal(e->taken, h->n == 2);
	h->n++;
}

static void hear_nothing(void *context, const struct gus_core_retired *op)
{
	(void)context;
	(void)op;
}

static void stages_are_told(void **state)
{
	FILE *f = fmemopen((void *)(uintptr_t)stages_text, sizeof(stages_text) - 1, "r");
	FILE *dict = fmemopen((void *)(uintptr_t)dict_text, sizeof(dict_text) - 1, "r");
	struct heard h = { .n = 0 };
	struct gus_core_listener to = { .context = &h, .cycle = hear_cycle, .uop = hear_uop, .retire = hear_nothing };
	struct golden_stages s;
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(golden_stages_read(&s, f, dict, 1, &err), 0);
	golden_stages_tell(&s, &to);
	assert_int_equal(h.n, 5);
	/* The load is complete in 3, and retires two cycles later with the first store, the branch in 6; until 8 the
	 * right path has not come; the store is complete in 10; the last enters in 13 and could retire in 15. */
	assert_string_equal(h.states, "SSSSSCCFSSSSCSSFFC");
	assert_int_equal(h.blocked, 2);
	assert_int_equal(h.psv[0], GUS_CORE_ST_L1 | GUS_CORE_ST_LLC);
	assert_int_equal(h.psv[1], 0);
	assert_int_equal(h.psv[2], GUS_CORE_FL_MB);
	assert_int_equal(h.psv[3], GUS_CORE_DR_SQ);
	assert_int_equal(h.psv[4], GUS_CORE_DR_L1);
	assert_int_equal(h.op[2], 2 + s.dids_n); /* taken */
	assert_int_equal(h.op[3], 3);
	assert_int_equal(s.width, 2);
	/* Two enter in cycle 0, one in 1; from there the wrong path has what is free, until the branch is complete. */
	assert_int_equal(h.issued[0], 2);
	assert_int_equal(h.wrong[0], 0);
	assert_int_equal(h.wrong[1], 1);
	assert_int_equal(h.wrong[2], 2);
	assert_int_equal(h.wrong[3], 2);
	assert_int_equal(h.wrong[4], 2);
	assert_int_equal(h.wrong[5], 0);
	golden_stages_free(&s);
	fclose(f);
	fclose(dict);
}

/* A store waited if the one that had its entry was not done when it could have gone on, in the cycle behind that in
 * which it was decoded. */
static void stores_that_waited(void **state)
{
	(void)state;
	for (unsigned done = 5; done < 9; done++) {
		char *text = gus_format("# cycles 20\n"
			"0\t1000\t0\t0\t0\t1\t2\t3\t3\t3\t4\t5\t%u\t0\t-\t-\t1\t-\t40:4\n"
			"1\t1004\t0\t1\t0\t6\t9\t11\t10\t11\t12\t14\t15\t0\t-\t-\t1\t-\t80:4\n", done);
		FILE *f = fmemopen(text, strlen(text), "r");
		struct golden_stages s;
		struct gus_error err = { 0 };

		assert_int_equal(golden_stages_read(&s, f, NULL, 1, &err), 0);
		assert_int_equal(s.lines.v[0].waited, false);
		assert_int_equal(s.lines.v[1].waited, done > 7);
		golden_stages_free(&s);
		fclose(f);
		free(text);
	}
}

static void what_are_no_stages(void **state)
{
	static const char *const cases[] = { "", "# program p cycles 4\n", "# cycles 4\n0\t1000\t0\t0\t1\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		FILE *f = fmemopen((void *)(uintptr_t)cases[i], strlen(cases[i]) + 1, "r");
		struct golden_stages s;
		struct gus_error err = { 0 };

		assert_int_equal(golden_stages_read(&s, f, NULL, 0, &err), -1);
		assert_true(err.text[0]);
		golden_stages_free(&s);
		fclose(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_runs_in_a_file), cmocka_unit_test(several_events),
		cmocka_unit_test(two_runs_in_a_file), cmocka_unit_test(long_stalls),
		cmocka_unit_test(what_is_no_truth),
		cmocka_unit_test(the_floor), cmocka_unit_test(scores), cmocka_unit_test(some_samples),
		cmocka_unit_test(intervals), cmocka_unit_test(unknown_components), cmocka_unit_test(shuffled),
		cmocka_unit_test(counters), cmocka_unit_test(turns_of_counters),
		cmocka_unit_test(stages_are_told), cmocka_unit_test(stores_that_waited),
		cmocka_unit_test(what_are_no_stages),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
