/* SPDX-License-Identifier: MIT */
/* collector/snapshot/late: which memory waits until a process goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collector/snapshot/late.h"
#include "tests/unit/made_snapshot.h"

#define PAGE 4096ull
#define SMALL 0x10000000ull     /* three runs: of 4 pages, of 1,000, of 2 */
#define LARGE 0x20000000ull
#define TINY 0x30000000ull
#define STACK 0x7f0000000000ull /* 300 pages */

static struct gus_snapshot four_runs(void)
{
	struct gus_snapshot s = made_snapshot(1);

	made_snapshot_run(&s, SMALL, 4);
	made_snapshot_run(&s, LARGE, 1000);
	made_snapshot_run(&s, TINY, 2);
	made_snapshot_run(&s, STACK, 300);
	return s;
}

static void assert_run(const struct gus_snapshot_run *run, uint64_t address, uint64_t pages)
{
	assert_int_equal(run->address, address);
	assert_int_equal(run->size, pages * PAGE);
}

static void what_fits_stays(void **state)
{
	struct gus_snapshot s = four_runs();
	struct gus_late late;

	(void)state;
	gus_late_put_off(&s, STACK, 1306 * PAGE, &late);
	assert_int_equal(late.runs.n, 0);
	assert_int_equal(s.runs.n, 4);
	gus_snapshot_free(&s);
}

/* The stack pointer is at its page 100: 16 pages below it and 64 above stay, then the small runs for as long as they
 * fit. */
static void the_stack_and_small_runs_stay(void **state)
{
	struct gus_snapshot s = four_runs();
	struct gus_late late;

	(void)state;
	gus_late_put_off(&s, STACK + 100 * PAGE + 8, 100 * PAGE, &late);
	assert_int_equal(s.runs.n, 3);
	assert_run(&s.runs.v[0], SMALL, 4);
	assert_run(&s.runs.v[1], TINY, 2);
	assert_run(&s.runs.v[2], STACK + 84 * PAGE, 80);
	assert_int_equal(s.about->bytes, 86 * PAGE);
	assert_int_equal(s.runs.v[0].at, 0);
	assert_int_equal(s.runs.v[1].at, 4 * PAGE);
	assert_int_equal(s.runs.v[2].at, 6 * PAGE);

	assert_int_equal(late.runs.n, 3);
	assert_run(&late.runs.v[0], LARGE, 1000);
	assert_run(&late.runs.v[1], STACK, 84);
	assert_run(&late.runs.v[2], STACK + 164 * PAGE, 136);
	gus_vec_free(&late.runs);
	gus_snapshot_free(&s);
}

/* However little may stay: without its stack a thread cannot go on at all. */
static void the_stack_stays_whatever_it_takes(void **state)
{
	struct gus_snapshot s = four_runs();
	struct gus_late late;

	(void)state;
	gus_late_put_off(&s, STACK, 1, &late);
	assert_int_equal(s.runs.n, 1);
	assert_run(&s.runs.v[0], STACK, 64);
	assert_true(s.about->bytes <= gus_late_left(1));
	gus_vec_free(&late.runs);
	gus_snapshot_free(&s);
}

/* Of a stack pointer that is none, nothing is near. */
static void a_stack_pointer_may_be_anything(void **state)
{
	const uint64_t pointers[] = { 0, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct gus_snapshot s = four_runs();
		struct gus_late late;

		gus_late_put_off(&s, pointers[i], 6 * PAGE, &late);
		assert_int_equal(s.about->bytes, 6 * PAGE);
		assert_int_equal(s.runs.n, 2);
		assert_int_equal(late.runs.n, 2);
		gus_vec_free(&late.runs);
		gus_snapshot_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays),
		cmocka_unit_test(the_stack_and_small_runs_stay),
		cmocka_unit_test(the_stack_stays_whatever_it_takes),
		cmocka_unit_test(a_stack_pointer_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
