/* SPDX-License-Identifier: MIT */
/* What samples add up to: made ones, of which it is known what they should say. Ticks are half a cycle here and a call
 * takes 40 of them beside its passes, if a test says nothing else. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/timing/sum.h"

#define N 40
#define PASSES 1000
#define CALL 40
#define PACE 0.5

/* A pair of runs of so many cycles a pass. */
static struct gus_timing_sample pair(double cycles, uint32_t turn)
{
	double ticks = cycles * PASSES / PACE;

	return (struct gus_timing_sample){ .once = ticks + CALL, .twice = 2 * ticks + CALL, .before = PACE,
					   .after = PACE, .turn = turn };
}

static void make(struct gus_timing_sample *s, size_t n, double cycles)
{
	for (size_t i = 0; i < n; i++)
		s[i] = pair(cycles, (uint32_t)i / 4);
}

static struct gus_timing_sum add_up(const struct gus_timing_sample *s, size_t n)
{
	struct gus_timing_sum sum;

	gus_timing_add_up(s, n, PASSES, 0, &sum);
	return sum;
}

static void near(double is, double should_be)
{
	if (!(fabs(is - should_be) <= 1e-6 * should_be))
		fail_msg("%g and not %g", is, should_be);
}

static void test_quiet(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	make(s, N, 3);
	sum = add_up(s, N);
	near(sum.cycles, 3);
	near(sum.median, 3);
	near(sum.high, 3);
	near(sum.pace, PACE);
	near(sum.call, CALL);
	assert_int_equal(sum.samples, N);
	assert_int_equal(sum.kept, N);
	assert_int_equal(sum.trouble, 0);
	assert_true(sum.settled);
}

static void test_none_and_one(void **state)
{
	struct gus_timing_sample s[1];
	struct gus_timing_sum sum = add_up(NULL, 0);

	(void)state;
	assert_true(isnan(sum.cycles) && isnan(sum.median) && isnan(sum.high) && isnan(sum.pace));
	assert_int_equal(sum.trouble, GUS_TIMING_MOVED);
	assert_false(sum.settled);
	make(s, 1, 3);
	sum = add_up(s, 1);
	near(sum.cycles, 3);
	assert_int_equal(sum.trouble, 0); /* there is no other to be unlike */
	assert_false(sum.settled);
	gus_timing_add_up(s, 1, 0, 0, &sum); /* no passes count as one */
	near(sum.cycles, 3 * PASSES);
}

/* Half are below the median and three quarters below high, in whatever order they come. */
static void test_in_order(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		s[i] = pair(3 + 0.0005 * (i * 17 % N), i / 4);
	sum = add_up(s, N);
	assert_int_equal(sum.kept, N);
	near(sum.median, 3 + 0.0005 * N / 2);
	near(sum.high, 3 + 0.0005 * N * 3 / 4);
}

/* Runs that differ by a step of the clock are as good as each other: the mean of them counts, not the least. */
static void test_least_is_a_mean(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	make(s, N, 3);
	for (size_t i = 0; i < N; i++) {
		s[i].once *= 1 + (i % 2 ? 0.0008 : 0);
		s[i].twice *= 1 + (i % 2 ? 0.0004 : 0);
	}
	s[0].twice *= 1.002; /* a longer run */
	sum = add_up(s, N);
	near(sum.cycles * PASSES / PACE, (12000 + CALL) * (19 + 20 * 1.0004) / 39 - (6000 + CALL) * 1.0004);
}

/* An interruption of a short run makes its difference to the long one small, and must not make the figure so. */
static void test_interrupted(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	make(s, N, 3);
	for (size_t i = 0; i < N; i += 3)
		s[i].once *= 1.2;
	for (size_t i = 1; i < N; i += 3)
		s[i].twice *= 1.3;
	sum = add_up(s, N);
	near(sum.cycles, 3);
	assert_true(sum.high > 3.5);
	assert_int_equal(sum.trouble & GUS_TIMING_NOISY, 0);
}

/* Less than a quarter at the least is too few, a quarter is not. */
static void test_noisy(void **state)
{
	for (size_t good = N / 4 - 1; good <= N / 4; good++) {
		struct gus_timing_sample s[N];
		struct gus_timing_sum sum;

		make(s, N, 3);
		for (size_t i = good; i < N; i++)
			s[i] = pair(3 * (1.03 + 0.02 * (double)i), (uint32_t)i / 4);
		sum = add_up(s, N);
		near(sum.cycles, 3);
		assert_int_equal(sum.trouble, good < N / 4 ? GUS_TIMING_NOISY : 0);
	}
	(void)state;
}

/* What is a hundredth above the least is near it, and no more is. */
static void test_near(void **state)
{
	static const struct { double cycles; uint32_t trouble; } cases[] = {
		{ 101, 0 }, { 101.001, GUS_TIMING_NOISY },
	};

	(void)state;
	for (size_t c = 0; c < 2; c++) {
		struct gus_timing_sample s[N];

		make(s, N, 100);
		for (size_t i = N / 4; i < N; i++)
			s[i] = pair(100 * (1.03 + 0.02 * (double)i), (uint32_t)i / 4);
		s[N / 4 - 1] = pair(cases[c].cycles, 0);
		assert_int_equal(add_up(s, N).trouble, cases[c].trouble);
	}
}

/* Two states that are 2 % apart are two, and a quarter of the samples has to be in either. */
static void test_bistable(void **state)
{
	const struct { double apart; size_t slow; uint32_t trouble; } cases[] = {
		{ 1.025, N / 2, GUS_TIMING_BISTABLE }, { 1.015, N / 2, 0 }, { 2, N / 2, GUS_TIMING_BISTABLE },
		{ 1.3, N / 4, GUS_TIMING_BISTABLE }, { 1.3, N / 4 - 1, 0 },
		{ 1.3, N * 3 / 4, GUS_TIMING_BISTABLE }, { 1.3, N * 3 / 4 + 1, GUS_TIMING_NOISY },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct gus_timing_sample s[N];
		struct gus_timing_sum sum;

		make(s, N, 3);
		for (size_t i = 0; i < cases[c].slow; i++)
			s[i] = pair(3 * cases[c].apart, (uint32_t)i / 4);
		sum = add_up(s, N);
		near(sum.cycles, 3);
		assert_int_equal(sum.trouble, cases[c].trouble);
	}
}

/* Samples of another pace are left out, and with them what they say: slower ones, and faster ones if they are less than
 * a third. */
static void test_one_pace(void **state)
{
	const struct { double pace; size_t n; bool kept; } cases[] = {
		{ 1.1, N / 4, false }, { 1.1, N / 3, false }, { 1.1, N / 3 + 1, true }, { 0.9, N / 2, false },
		{ 0.9, N * 2 / 3 - 1, false }, { 0.9, N * 3 / 4, true },
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct gus_timing_sample s[N];
		struct gus_timing_sum sum;

		make(s, N, 3);
		for (size_t i = 0; i < cases[c].n; i++) { /* memory was as fast as before */
			s[i] = pair(2.9, (uint32_t)i / 4);
			s[i].before = s[i].after = PACE * cases[c].pace;
		}
		sum = add_up(s, N);
		near(sum.pace, PACE * (cases[c].kept ? cases[c].pace : 1));
		near(sum.cycles, cases[c].kept ? 2.9 * cases[c].pace : 3);
		assert_int_equal(sum.kept, cases[c].kept ? cases[c].n : N - cases[c].n);
		assert_int_equal(sum.trouble, 0);
	}
}

static void test_moved(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	make(s, N, 3);
	for (size_t i = 0; i < N; i++)
		s[i].disturbed = true;
	sum = add_up(s, N);
	assert_int_equal(sum.trouble & GUS_TIMING_MOVED, GUS_TIMING_MOVED);
	assert_int_equal(sum.kept, 0);
	assert_false(sum.settled);
	near(sum.cycles, 3); /* better than nothing, and marked */
	s[7].disturbed = false;
	sum = add_up(s, N);
	assert_int_equal(sum.trouble & GUS_TIMING_MOVED, 0);
	assert_int_equal(sum.kept, 1);
}

/* The pace within a turn: up to half a per cent is the clock's doing. */
static void test_unsteady(void **state)
{
	struct gus_timing_sample s[N];

	(void)state;
	make(s, N, 3);
	for (size_t i = 0; i < N; i++)
		s[i].after = PACE * (1 - 0.004);
	assert_int_equal(add_up(s, N).kept, N);
	for (size_t i = 0; i < N; i++)
		s[i].after = PACE * (1 - 0.006);
	assert_int_equal(add_up(s, N).kept, 0);
	for (size_t i = 0; i < N; i++)
		s[i].after = 0; /* a chain that could not be timed */
	assert_int_equal(add_up(s, N).kept, 0);
	for (size_t i = 0; i < N; i++)
		s[i].before = 0; /* nor the one before it: two that are alike, and no pace */
	assert_int_equal(add_up(s, N).kept, 0);
}

/* A core that gets a little faster within a turn, or slower: the pace is that of its faster end. */
static void test_faster_end(void **state)
{
	struct gus_timing_sample s[N];

	(void)state;
	make(s, N, 3);
	for (size_t i = 0; i < N; i++)
		s[i].before = PACE * 1.002;
	near(add_up(s, N).pace, PACE * 1.002);
	make(s, N, 3);
	for (size_t i = 0; i < N; i++)
		s[i].after = PACE * 1.002;
	near(add_up(s, N).pace, PACE * 1.002);
}

/* It is settled when the least came again, and not only in the turn in which it was seen. */
static void test_settled(void **state)
{
	struct gus_timing_sample s[N];

	(void)state;
	make(s, N, 3.1);
	for (size_t i = 0; i < 4; i++) {
		s[i] = pair(3, 0);
		assert_false(add_up(s, N).settled);
	}
	s[4] = pair(3, 0);
	assert_false(add_up(s, N).settled);
	s[4].turn = 1;
	assert_true(add_up(s, N).settled);
	s[4] = pair(3 * 1.0025, 1);
	assert_false(add_up(s, N).settled);
	s[3].turn = 1;
	s[4] = pair(3, 1); /* of either length five have to be near */
	s[4].twice *= 1.01;
	assert_false(add_up(s, N).settled);
	s[4] = pair(3, 1);
	s[4].once *= 1.01;
	assert_false(add_up(s, N).settled);
}

/* Steps of a clock: a mean of runs knows more than a step. */
static void test_steps_of_the_clock(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;
	double step = 3 * PASSES / PACE / 2000;

	(void)state;
	make(s, N, 3);
	for (size_t i = 0; i < N; i++) { /* both kinds end on the step below in a third of the runs */
		s[i].once += (i % 3 ? step / 3 : -step * 2 / 3);
		s[i].twice += (i % 3 != 1 ? step / 3 : -step * 2 / 3);
	}
	sum = add_up(s, N);
	assert_true(fabs(sum.cycles - 3) < 3 * 0.0001);
}

/* Long runs, of one length. */
static void test_long(void **state)
{
	struct gus_timing_sample s[3];
	struct gus_timing_sum sum;

	(void)state;
	make(s, 3, 300);
	for (size_t i = 0; i < 3; i++) {
		s[i].twice = 0;
		s[i].turn = (uint32_t)i;
	}
	sum = add_up(s, 3);
	assert_true(fabs(sum.cycles - 300) < 0.1);
	assert_int_equal(sum.trouble, 0);
	assert_true(sum.settled);
	s[0].once *= 1.2;
	s[1].once *= 1.1;
	sum = add_up(s, 3);
	assert_true(fabs(sum.cycles - 300) < 0.1);
	assert_int_equal(sum.trouble, GUS_TIMING_NOISY);
	assert_false(sum.settled);
}

/* Rounds take a cycle alone and two beside another thread of the core, beside which the loop takes 5 cycles for 3. */
static void make_beside(struct gus_timing_sample *s, size_t from, size_t to)
{
	for (size_t i = 0; i < to; i++) {
		bool beside = i >= from;

		s[i] = pair(beside ? 5 : 3, (uint32_t)i / 4);
		s[i].round = (beside ? 2 : 1) / PACE;
	}
}

static void test_beside(void **state)
{
	static const struct {
		size_t alone, all;
		double cycles;
		uint32_t kept, beside, trouble;
		bool settled;
	} cases[] = {
		{ N, N, 3, N, 0, 0, true },
		{ 8, N, 3, 8, N - 8, 0, true },
		{ 4, N, 3, 4, N - 4, 0, false },        /* seen too rarely, and in one turn */
		{ 3, N, 3, 3, N - 3, 0, false },
		{ 0, N, 5, N, 0, GUS_TIMING_BESIDE, false },
	};
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		make_beside(s, cases[c].alone, cases[c].all);
		gus_timing_add_up(s, N, PASSES, 1, &sum);
		near(sum.cycles, cases[c].cycles);
		near(sum.median, cases[c].cycles);
		assert_int_equal(sum.kept, cases[c].kept);
		assert_int_equal(sum.beside, cases[c].beside);
		assert_int_equal(sum.trouble, cases[c].trouble);
		assert_int_equal(sum.settled, cases[c].settled);
	}
}

/* The other way round: those that were alone come last. */
static void test_alone_at_last(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	make_beside(s, 8, N);
	for (size_t i = 0; i < N / 2; i++) {
		struct gus_timing_sample last = s[N - 1 - i];

		s[N - 1 - i] = s[i];
		s[i] = last;
	}
	gus_timing_add_up(s, N, PASSES, 1, &sum);
	near(sum.cycles, 3);
	near(sum.high, 3);
	assert_int_equal(sum.kept, 8);
}

/* One that was alone and is off by a tenth is no better than all that were not; of few long ones it has to do. */
static void test_hardly_alone(void **state)
{
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	make_beside(s, 1, N);
	s[0].once *= 0.9;
	s[0].twice *= 0.9;
	gus_timing_add_up(s, N, PASSES, 1, &sum);
	assert_int_equal(sum.kept, N);
	assert_true(sum.trouble & GUS_TIMING_BESIDE);
	assert_true(sum.median > 4.9);
	gus_timing_add_up(s, 2, PASSES, 1, &sum);
	assert_int_equal(sum.kept, 1);
	assert_false(sum.trouble & GUS_TIMING_BESIDE);
}

/* A tenth more is what reading the clock makes of a round; nobody looked, or does not know what rounds take: all
 * count. */
static void test_beside_or_not(void **state)
{
	static const struct { double round, alone; bool beside; } cases[] = {
		{ 1.1, 1, false }, { 1.13, 1, true }, { 2, 2, false }, { 0, 1, false }, { 2, 0, false },
	};
	struct gus_timing_sample s[N];
	struct gus_timing_sum sum;

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		make(s, N, 3);
		for (size_t i = 0; i < N; i++)
			s[i].round = cases[c].round / PACE;
		gus_timing_add_up(s, N, PASSES, cases[c].alone, &sum);
		assert_int_equal(sum.trouble, cases[c].beside ? GUS_TIMING_BESIDE : 0);
		near(sum.cycles, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet), cmocka_unit_test(test_none_and_one),
		cmocka_unit_test(test_in_order), cmocka_unit_test(test_least_is_a_mean),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_noisy), cmocka_unit_test(test_near), cmocka_unit_test(test_bistable),
		cmocka_unit_test(test_one_pace),
		cmocka_unit_test(test_moved), cmocka_unit_test(test_unsteady), cmocka_unit_test(test_faster_end),
		cmocka_unit_test(test_settled),
		cmocka_unit_test(test_steps_of_the_clock), cmocka_unit_test(test_long), cmocka_unit_test(test_beside),
		cmocka_unit_test(test_alone_at_last), cmocka_unit_test(test_hardly_alone),
		cmocka_unit_test(test_beside_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
