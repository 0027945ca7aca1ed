/* SPDX-License-Identifier: MIT */
/* Which samples of a timing count, and what they say (tests/kernels/timer.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kernels/timer.h"

static void expect(const struct timer_sample *samples, unsigned n, struct timed e)
{
	struct timed t = timer_judge(samples, n, 0);

	assert_int_equal(t.taken, n);
	assert_int_equal(t.kept, e.kept);
	assert_float_equal(t.least, e.least, 1e-9);
	assert_float_equal(t.median, e.median, 1e-9);
	assert_float_equal(t.rounds, e.rounds, 1e-9);
}

/* 63 units of the chain are 12,096 cycles: in 24,192 ticks, 2 ticks each. The slower of both probes tells, and work
 * that was run ten times takes a tenth. */
static void test_sample(void **state)
{
	struct timer_ticks t = { { 24192, 24192 }, { 7500, 6000 }, 600 };
	struct timer_sample s = timer_sample_of(&t, 1);

	(void)state;
	assert_float_equal(s.cycles, 300, 1e-9);
	assert_float_equal(s.rounds, 0.8, 1e-9); /* 3,000 in 3,750 cycles */
	assert_float_equal(s.apart, 0, 1e-9);
	t.rounds[1] = 12000;
	s = timer_sample_of(&t, 10);
	assert_float_equal(s.cycles, 30, 1e-9);
	assert_float_equal(s.rounds, 0.5, 1e-9);
	t.chain[1] = 36288; /* 2.5 ticks a cycle */
	s = timer_sample_of(&t, 1);
	assert_float_equal(s.cycles, 240, 1e-9);
	assert_float_equal(s.rounds, 0.625, 1e-9);
	assert_float_equal(s.apart, 0.5, 1e-9);
	t = (struct timer_ticks){ { 36288, 24192 }, { 12000, 7500 }, 600 };
	assert_float_equal(timer_sample_of(&t, 1).apart, 0.5, 1e-9);
	assert_float_equal(timer_sample_of(&t, 1).rounds, 0.625, 1e-9);
}

/* The least and the one in the middle, in whatever order they come. */
static void test_all_count(void **state)
{
	const struct timer_sample three[] = { { 120, 5, 0 }, { 100, 5.05, 0 }, { 110, 5.1, 0 } };

	(void)state;
	expect(three, 1, (struct timed){ .least = 120, .median = 120, .kept = 1, .rounds = 5 });
	expect(three, 2, (struct timed){ .least = 100, .median = 120, .kept = 2, .rounds = 5.05 });
	expect(three, 3, (struct timed){ .least = 100, .median = 110, .kept = 3, .rounds = 5.1 });
}

/* A sample that was quicker while the probe was slower, or between clocks that differ, is a clock that went wrong. */
static void test_disturbed(void **state)
{
	const struct timer_sample probe[] = { { 100, 5, 0 }, { 50, 4.49, 0 }, { 90, 4.51, 0 } };
	const struct timer_sample clocks[] = { { 100, 5, 0.01 }, { 50, 5, 0.011 } };

	(void)state;
	expect(probe, 3, (struct timed){ .least = 90, .median = 100, .kept = 2, .rounds = 5 });
	expect(clocks, 2, (struct timed){ .least = 100, .median = 100, .kept = 1, .rounds = 5 });
}

/* The fastest probe is of samples whose clocks agree: else one clock that was off would throw all others out. */
static void test_probe_between_clocks(void **state)
{
	const struct timer_sample samples[] = { { 100, 5, 0 }, { 100, 9, 0.5 } };

	(void)state;
	expect(samples, 2, (struct timed){ .least = 100, .median = 100, .kept = 1, .rounds = 5 });
}

/* Of a batch a few probes may be too fast, as the clock stood still: four, and the fifth is believed. */
static void test_fast_probes(void **state)
{
	enum { N = 50 };
	struct timer_sample samples[N];

	(void)state;
	for (unsigned i = 0; i < N; i++)
		samples[i] = (struct timer_sample){ 100 + i, i < 4 ? 9 : 5, 0 };
	expect(samples, N, (struct timed){ .least = 100, .median = 125, .kept = N, .rounds = 5 });
	samples[4].rounds = 9;
	expect(samples, N, (struct timed){ .least = 100, .median = 102, .kept = 5, .rounds = 9 });
	expect(samples, N - 1, (struct timed){ .least = 100, .median = 102, .kept = 5, .rounds = 9 });
}

/* Nothing counts: said by kept, and the figures are of all. */
static void test_none_counts(void **state)
{
	const struct timer_sample samples[] = { { 110, 5, 0.2 }, { 100, 5, 0.2 } };

	(void)state;
	expect(samples, 2, (struct timed){ .least = 100, .median = 110, .kept = 0, .rounds = 0 });
}

/* A neighbour on the core's other thread takes half of what there is. Where it is there all the while, the fastest
 * probe of these samples is no measure; what the machine reaches without it is. */
static void test_neighbour(void **state)
{
	const struct timer_sample beside[] = { { 200, 2.5, 0 }, { 210, 2.4, 0 } };
	const struct timer_sample leaves[] = { { 200, 2.5, 0 }, { 110, 4.9, 0 }, { 100, 4.45, 0 } };
	struct timed t;

	(void)state;
	assert_int_equal(timer_judge(beside, 2, 0).kept, 2);
	t = timer_judge(beside, 2, 5);
	assert_int_equal(t.kept, 0);
	assert_float_equal(t.rounds, 2.5, 1e-9);
	t = timer_judge(leaves, 3, 5);
	assert_int_equal(t.kept, 1);
	assert_float_equal(t.least, 110, 1e-9);
	/* A probe that was faster than what was known tells more. */
	assert_int_equal(timer_judge(leaves, 3, 4).kept, 2);
}

/* 1,000 multiplications in a chain. How long they take is not asked here, as others may run on this machine; but the
 * quickest of many is no second. */
static void chain_of_thousand(void *calls)
{
	uint64_t n = 20, v = 3;

	++*(uint64_t *)calls;
#if defined(__x86_64__)
	__asm__ volatile("1: .rept 50\nimul %1, %1\n.endr\ndec %0\njnz 1b" : "+r"(n), "+r"(v));
#endif
	(void)n, (void)v;
}

/* Samples are taken 50 at a time: without time there is one batch; with plenty of it, as many as are wanted or, if they
 * are never enough, as there is room for. For these a millisecond is too little: each takes 44,000 cycles at least. */
static void test_measure(void **state)
{
	enum { BATCH = 50, ROOM = 1 << 15, AN_HOUR = 3600 };
	uint64_t calls = 0, runs;
	struct timed t;

	(void)state;
#if defined(__x86_64__)
	assert_true(timer_works());
#endif
	if (!timer_works())
		skip();
	t = timer_measure(chain_of_thousand, &calls, 0, UINT32_MAX, 0);
	assert_int_equal(t.taken, BATCH);
	/* Runs a sample, sought as 1, 2, 4, ... until there are enough: twice as many less one to find them. */
	runs = (calls + 1) / (BATCH + 2);
	assert_true(runs > 0 && (runs & (runs - 1)) == 0);
	assert_int_equal(calls, 2 * runs - 1 + BATCH * runs);
	assert_true(t.least > 0 && t.least <= t.median && t.least < 1e9);
	t = timer_measure(chain_of_thousand, &calls, AN_HOUR, 1, 0);
	assert_true(t.taken % BATCH == 0 && t.kept >= 1);
	t = timer_measure(chain_of_thousand, &calls, AN_HOUR, UINT32_MAX, 0);
	assert_int_equal(t.taken, ROOM / BATCH * BATCH);
	t = timer_measure(chain_of_thousand, &calls, 0.001, UINT32_MAX, 0);
	assert_true(t.taken < ROOM / BATCH * BATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample), cmocka_unit_test(test_all_count), cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_probe_between_clocks), cmocka_unit_test(test_none_counts),
		cmocka_unit_test(test_neighbour), cmocka_unit_test(test_fast_probes),
		cmocka_unit_test(test_measure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
