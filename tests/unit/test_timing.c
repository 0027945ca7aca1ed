/* SPDX-License-Identifier: MIT */
/* Code that is executed and timed on this machine: what is known of it is right, and it is executed where it was asked
 * to be. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/timing/arena.h"
#include "collector/timing/sharing.h"
#include "collector/timing/timing.h"
#include "made_timing.h"

#if defined(__x86_64__)
/* Known latencies, at the same time; again while others are too busy for it. */
static void test_known(void **state)
{
	const struct list l = { 32, 64 };
	const struct gus_timing_job jobs[] = {
		{ .code = adds, .size = sizeof(adds) },
		{ .code = products, .size = sizeof(products) },
		{ .code = chase, .size = sizeof(chase), .arena = 4096, .fill = fill_list, .what = &l,
		  .what_size = sizeof(l) },
	};
	struct gus_timing_result r[3] = { 0 };
	bool quiet = false;

	(void)state;
	for (unsigned i = 0; i < 10 && !quiet; i++) {
		run(jobs, 3, r);
		quiet = r[0].sum.settled && r[1].sum.settled && r[2].sum.settled;
	}
	if (!quiet) {
		printf("skipped: this machine is too busy to time anything\n");
		skip();
	}
	assert_true(fabs(r[0].sum.cycles / 16 - 1) < 0.01);
	assert_true(fabs(r[1].sum.cycles / 16 - 3) < 0.03);
	assert_true(r[2].sum.cycles / 4 > 2.9 && r[2].sum.cycles / 4 < 7.1); /* of L1: 3 to 7 everywhere */
	assert_true(r[2].sum.kept > 0 && r[2].sum.kept <= r[2].sum.samples);
}

static void test_facts(void **state)
{
	struct gus_timing_facts f;

	(void)state;
	if (!timing)
		skip();
	gus_timing_facts(timing, &f);
	assert_true(f.ticks_hz > 1e6 && f.ticks_hz < 1e10);
	assert_true(f.core_hz > 1e8 && f.core_hz < 1e10);
	assert_true(f.core_low <= f.core_hz && f.core_hz <= f.core_high);
	assert_true(f.arena_most >= GUS_ARENA_HUGE && f.arena_most % GUS_ARENA_HUGE == 0);
	assert_true(f.core_low > 1e8 && f.core_high < 1e10);
	assert_true(f.ratio > 0.5 && f.ratio < 2);
	assert_int_equal(f.chains_agree, fabs(f.ratio - 1) <= 0.005);
}

/* The CPU is the one that was asked for; one that we may not run on is refused, and one that there can't be. */
static void test_cpu(void **state)
{
	struct gus_timing_options o = { .most_ns = 20000000, .no_counter = true };
	struct gus_timing_facts facts;
	struct gus_error err = { 0 };
	cpu_set_t were, one;
	struct gus_timing *t;
	int last = 0;

	(void)state;
	if (!timing)
		skip();
	assert_int_equal(sched_getaffinity(0, sizeof(were), &were), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		last = CPU_ISSET((size_t)cpu, &were) ? cpu : last;
	o.cpu = last;
	t = gus_timing_open(&o, &err);
	assert_non_null(t);
	gus_timing_facts(t, &facts);
	assert_int_equal(facts.cpu, last);
	assert_false(facts.counter);
	gus_timing_close(t);
	for (o.cpu = CPU_SETSIZE; o.cpu <= CPU_SETSIZE + 1; o.cpu++) {
		err = (struct gus_error){ 0 };
		assert_null(gus_timing_open(&o, &err));
		assert_int_equal(err.code, GUS_E_USAGE);
	}
	if (CPU_COUNT(&were) == 1)
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)last, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (o.cpu = 0; !CPU_ISSET((size_t)o.cpu, &were); o.cpu++)
		;
	err = (struct gus_error){ 0 };
	t = gus_timing_open(&o, &err);
	assert_int_equal(sched_setaffinity(0, sizeof(were), &were), 0);
	assert_null(t);
	assert_int_equal(err.code, GUS_E_USAGE);
}
#endif

/* On a machine where nothing settles what is behind 15 s gets a fifth, and behind 30 s a tenth; who says nothing of
 * patience has it for ever. */
static void test_patience(void **state)
{
	const struct gus_timing_options says_nothing = { .cpu = -1 }, quick = { .cpu = -1, .patient_ns = 15000000000 },
		little = { .cpu = -1, .most_ns = 20000000, .patient_ns = 15000000000 };

	(void)state;
	assert_int_equal(gus_timing_most_ns(&says_nothing, 0), 50000000);
	assert_int_equal(gus_timing_most_ns(&says_nothing, 3600000000000), 50000000);
	assert_int_equal(gus_timing_most_ns(&quick, 15000000000), 50000000);
	assert_int_equal(gus_timing_most_ns(&quick, 15000000001), 10000000);
	assert_int_equal(gus_timing_most_ns(&quick, 30000000000), 10000000);
	assert_int_equal(gus_timing_most_ns(&quick, 30000000001), 5000000);
	assert_int_equal(gus_timing_most_ns(&little, 14000000000), 20000000);
	assert_int_equal(gus_timing_most_ns(&little, 16000000000), 4000000);
}

static void test_siblings(void **state)
{
	(void)state;
	assert_int_equal(gus_timing_sibling_in("0,64", 0), 64);
	assert_int_equal(gus_timing_sibling_in("0,64", 64), 0);
	assert_int_equal(gus_timing_sibling_in("2-3", 2), 3);
	assert_int_equal(gus_timing_sibling_in("2-3", 3), 2);
	assert_int_equal(gus_timing_sibling_in("5", 5), -1);
	assert_int_equal(gus_timing_sibling_in("", 5), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_known), cmocka_unit_test(test_facts), cmocka_unit_test(test_cpu),
#endif
		cmocka_unit_test(test_patience), cmocka_unit_test(test_siblings),
	};

	return cmocka_run_group_tests(tests, open_here, close_here);
}
