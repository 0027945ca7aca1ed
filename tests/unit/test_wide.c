/* SPDX-License-Identifier: MIT */
/* When the CPUs are sampled in place of tasks: counts, samples, ends of tasks and the load in, a decision out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/session/wide_rules.h"

/* Of 1,000 that were counted on two CPUs with a period of 10, samples stand for `weight`. */
static double missed(double weight, double ended)
{
	const struct gus_wide_window w = { .count = 1000, .weight = weight, .ended = ended };

	return gus_wide_missed_share(&w, 10, 2);
}

/* 20 may still come: a part of a period of who runs on either CPU. Of the rest 3 % are the least that matter. */
static void three_percent_are_missed(void **state)
{
	(void)state;
	assert_true(missed(950, 1000) == 0);
	assert_true(missed(949, 1000) == 0.031);
	assert_true(missed(480, 1000) == 0.5);
	assert_true(missed(1000, 1000) == 0);
	assert_true(missed(1100, 1000) == 0); /* samples before the last look can stand for more */
}

/* A task that ends has missed a period on each CPU at most, and half of what is missed must be such. */
static void tasks_that_ended_must_explain_it(void **state)
{
	(void)state;
	assert_true(missed(780, 0) == 0);
	assert_true(missed(780, 5) == 0); /* 100 of 200 */
	assert_true(missed(780, 6) == 0.2);
}

/* Without a sample the kernel has told no period: one task that ended can have missed it all. */
static void a_period_that_nobody_knows(void **state)
{
	const struct gus_wide_window none = { .count = 1000 }, one = { .count = 1000, .ended = 1 };

	(void)state;
	assert_true(gus_wide_missed_share(&none, 0, 2) == 0);
	assert_true(gus_wide_missed_share(&one, 0, 2) == 1);
	assert_true(gus_wide_missed_share(&one, 1, 2) == 0); /* of each known it cannot */
	assert_true(gus_wide_missed_share(&(struct gus_wide_window){ 0 }, 0, 2) == 0);
}

static void strangers_cost_samples(void **state)
{
	(void)state;
	assert_true(gus_wide_times(&(struct gus_wide_window){ .running_ns = 100, .busy_ns = 300 }) == 3);
	assert_true(gus_wide_times(&(struct gus_wide_window){ .running_ns = 100, .busy_ns = 100 }) == 1);
	/* Ticks of a hundredth of a second say less than there was; and where there is no /proc they say nothing. */
	assert_true(gus_wide_times(&(struct gus_wide_window){ .running_ns = 100, .busy_ns = 90 }) == 1);
	assert_true(gus_wide_times(&(struct gus_wide_window){ .running_ns = 100 }) == 1);
	assert_true(gus_wide_times(&(struct gus_wide_window){ 0 }) == 1);
}

/* To a half for 5 %, to a third for 10 %; never below 50 a second. */
static void a_rate_falls_for_what_is_gained(void **state)
{
	(void)state;
	assert_true(gus_wide_rate_may_fall(1000, 1.5, 0.03125));
	assert_true(gus_wide_rate_may_fall(1000, 2, 0.0625));
	assert_false(gus_wide_rate_may_fall(1000, 2.5, 0.0625));
	assert_true(gus_wide_rate_may_fall(1000, 6, 0.25));
	assert_false(gus_wide_rate_may_fall(1000, 6.5, 0.25));
	assert_true(gus_wide_rate_may_fall(100, 2, 0.5));
	assert_false(gus_wide_rate_may_fall(99, 2, 0.5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_percent_are_missed),
		cmocka_unit_test(tasks_that_ended_must_explain_it),
		cmocka_unit_test(a_period_that_nobody_knows),
		cmocka_unit_test(strangers_cost_samples),
		cmocka_unit_test(a_rate_falls_for_what_is_gained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
