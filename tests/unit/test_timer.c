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
	struct timed t = timer_judge(samples, n);

	assert_int_equal(t.taken, n);
	assert_int_equal(t.kept, e.kept);
	assert_float_equal(t.least, e.least, 1e-9);
	assert_float_equal(t.median, e.median, 1e-9);
	assert_float_equal(t.nops, e.nops, 1e-9);
}

/* The least and the one in the middle, in whatever order they come. */
static void test_all_count(void **state)
{
	const struct timer_sample three[] = { { 120, 5, 0 }, { 100, 5, 0 }, { 110, 5, 0 } };

	(void)state;
	expect(three, 1, (struct timed){ .least = 120, .median = 120, .kept = 1, .nops = 5 });
	expect(three, 2, (struct timed){ .least = 100, .median = 120, .kept = 2, .nops = 5 });
	expect(three, 3, (struct timed){ .least = 100, .median = 110, .kept = 3, .nops = 5 });
}

/* A sample that was quicker while the probe was slower, or between clocks that differ, is a clock that went wrong. */
static void test_disturbed(void **state)
{
	const struct timer_sample probe[] = { { 100, 5, 0 }, { 50, 4.84, 0 }, { 90, 4.86, 0 } };
	const struct timer_sample clocks[] = { { 100, 5, 0.01 }, { 50, 5, 0.011 } };

	(void)state;
	expect(probe, 3, (struct timed){ .least = 90, .median = 100, .kept = 2, .nops = 5 });
	expect(clocks, 2, (struct timed){ .least = 100, .median = 100, .kept = 1, .nops = 5 });
}

/* The fastest probe is of samples whose clocks agree: else one clock that was off would throw all others out. */
static void test_probe_between_clocks(void **state)
{
	const struct timer_sample samples[] = { { 100, 5, 0 }, { 100, 9, 0.5 } };

	(void)state;
	expect(samples, 2, (struct timed){ .least = 100, .median = 100, .kept = 1, .nops = 5 });
}

/* Nothing counts: said by kept, and the figures are of all. */
static void test_none_counts(void **state)
{
	const struct timer_sample samples[] = { { 110, 5, 0.2 }, { 100, 5, 0.2 } };

	(void)state;
	expect(samples, 2, (struct timed){ .least = 100, .median = 110, .kept = 0, .nops = 0 });
}

/* What is timed is what there is: 1,000 multiplications in a chain, of three cycles each, and as many calls as are
 * asked for. A machine on which nothing is undisturbed says so. */
static void chain_of_thousand(void *calls)
{
	uint64_t n = 20, v = 3;

	++*(uint64_t *)calls;
#if defined(__x86_64__)
	__asm__ volatile("1: .rept 50\nimul %1, %1\n.endr\ndec %0\njnz 1b" : "+r"(n), "+r"(v));
#endif
	(void)n, (void)v;
}

static void test_measure(void **state)
{
	uint64_t calls = 0;
	struct timed t;

	(void)state;
	if (!timer_works())
		skip();
	t = timer_measure(chain_of_thousand, &calls, 0, 1); /* no time: one batch */
	assert_int_equal(t.taken, 50);
	assert_true(calls > 50);
	t = timer_measure(chain_of_thousand, &calls, 2, 20);
	if (t.kept < 20)
		skip();
	assert_true(t.least > 2900 && t.least < 3200);
	assert_true(t.median >= t.least && t.taken >= t.kept && t.taken % 50 == 0);
	assert_true(t.nops > 1 && t.nops < 20);
	calls = 0;
	t = timer_measure(chain_of_thousand, &calls, 0.1, UINT32_MAX); /* all of the time */
	assert_true(t.taken > 50 && calls > t.taken * 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_count), cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_probe_between_clocks), cmocka_unit_test(test_none_counts),
		cmocka_unit_test(test_measure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
