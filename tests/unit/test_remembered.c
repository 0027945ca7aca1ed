/* SPDX-License-Identifier: MIT */
/* Outer callers that an earlier sample of a thread had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/record/remembered.h"

/* main (9) called a (8) called b (7) called c: returns to 7 from a frame at 70, and so on. */
static const uint64_t whole[] = { 7, 8, 9 }, frames[] = { 70, 80, 90 };

static void test_joined(void **state)
{
	struct gus_remembered r = { 0 };
	uint64_t a[8] = { 5, 6, 7 }, f[8] = { 50, 60, 70 };

	(void)state;
	assert_int_equal(gus_remembered_join(&r, 1, 2, a, f, 3, 8), 3);
	gus_remembered_keep(&r, 1, 2, whole, frames, 3);
	assert_int_equal(gus_remembered_join(&r, 1, 2, a, f, 3, 8), 5);
	assert_memory_equal(a, ((uint64_t[]){ 5, 6, 7, 8, 9 }), 5 * sizeof(*a));
	assert_memory_equal(f, ((uint64_t[]){ 50, 60, 70, 80, 90 }), 5 * sizeof(*f));
	gus_remembered_free(&r);
}

static void test_not_of_this_stack(void **state)
{
	static const struct { uint32_t pid, tid; uint64_t address, frame; uint32_t most, n; } cases[] = {
		{ 1, 2, 7, 70, 5, 5 }, { 1, 2, 7, 70, 4, 3 },
		{ 3, 2, 7, 70, 8, 3 }, { 1, 3, 7, 70, 8, 3 }, { 1, 2 + GUS_REMEMBERED_THREADS, 7, 70, 8, 3 },
		{ 1, 2, 6, 70, 8, 3 }, { 1, 2, 7, 71, 8, 3 }, { 1, 2, 7, 80, 8, 3 }, { 1, 2, 7, 0, 8, 3 },
		{ 1, 2, 9, 90, 8, 3 }, /* the outermost: nobody beyond is known */
		{ 1, 2, 8, 80, 8, 4 },
	};
	struct gus_remembered r = { 0 };

	(void)state;
	gus_remembered_keep(&r, 1, 2, whole, frames, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t a[8] = { 5, 6, cases[i].address }, f[8] = { 50, 60, cases[i].frame };

		assert_int_equal(gus_remembered_join(&r, cases[i].pid, cases[i].tid, a, f, 3, cases[i].most),
				 cases[i].n);
	}
	assert_int_equal(gus_remembered_join(&r, 1, 2, NULL, NULL, 0, 8), 0);
	gus_remembered_free(&r);
}

static void test_the_last_counts(void **state)
{
	static const uint64_t later[] = { 7, 4 }, later_frames[] = { 70, 99 };
	struct gus_remembered r = { 0 };
	uint64_t a[8] = { 7 }, f[8] = { 70 };
	static uint64_t many[GUS_REMEMBERED_FRAMES + 1];

	(void)state;
	gus_remembered_keep(&r, 1, 2, whole, frames, 3);
	gus_remembered_keep(&r, 1, 2, later, later_frames, 2);
	gus_remembered_keep(&r, 1, 2, later, later_frames, 0);
	gus_remembered_keep(&r, 1, 2, many, many, GUS_REMEMBERED_FRAMES + 1); /* no room for that: left alone */
	assert_int_equal(gus_remembered_join(&r, 1, 2, a, f, 1, 8), 2);
	assert_int_equal(a[1], 4);
	/* A thread that shares the place takes it. */
	gus_remembered_keep(&r, 1, 2 + GUS_REMEMBERED_THREADS, whole, frames, 3);
	assert_int_equal(gus_remembered_join(&r, 1, 2, a, f, 1, 8), 1);
	assert_int_equal(gus_remembered_join(&r, 1, 2 + GUS_REMEMBERED_THREADS, a, f, 1, 8), 3);
	many[GUS_REMEMBERED_FRAMES - 1] = 1;
	gus_remembered_keep(&r, 1, 2, many, many, GUS_REMEMBERED_FRAMES);
	a[0] = f[0] = 0;
	assert_int_equal(gus_remembered_join(&r, 1, 2, a, f, 1, 8), 1); /* a marker has no frame */
	gus_remembered_free(&r);
}

/* Threads that were made one after the other have numbers next to each other, and each its own place. The deepest stack
 * that has room is kept as a whole. */
static void test_each_has_its_own(void **state)
{
	static uint64_t deep[GUS_REMEMBERED_FRAMES], joined[GUS_REMEMBERED_FRAMES], at[GUS_REMEMBERED_FRAMES];
	struct gus_remembered r = { 0 };

	(void)state;
	for (uint64_t i = 0; i < GUS_REMEMBERED_FRAMES; i++)
		deep[i] = i + 1;
	for (uint32_t tid = 0; tid < GUS_REMEMBERED_THREADS; tid++)
		gus_remembered_keep(&r, 1, tid, deep, deep, tid ? 2 + tid % 5 : GUS_REMEMBERED_FRAMES);
	for (uint32_t tid = 0; tid < GUS_REMEMBERED_THREADS; tid++) {
		uint32_t n = tid ? 2 + tid % 5 : GUS_REMEMBERED_FRAMES;

		joined[0] = at[0] = 1;
		assert_int_equal(gus_remembered_join(&r, 1, tid, joined, at, 1, GUS_REMEMBERED_FRAMES), n);
		assert_memory_equal(joined, deep, n * sizeof(*deep));
	}
	gus_remembered_free(&r);
	for (size_t i = 0; i < GUS_REMEMBERED_THREADS; i++)
		assert_null(r.threads[i]);
}

/* Only of a thread whose last samples were all deeper, and of no other that shares its place. */
static void test_stays(void **state)
{
	static struct gus_remembered r;

	(void)state;
	gus_remembered_note(&r, 1, 2, 500);
	for (unsigned i = 1; i < GUS_REMEMBERED_TOPS; i++) {
		assert_false(gus_remembered_stays(&r, 1, 2, 1000)); /* too few */
		gus_remembered_note(&r, 1, 2, 400 + i);
	}
	assert_true(gus_remembered_stays(&r, 1, 2, 501));
	assert_false(gus_remembered_stays(&r, 1, 2, 500)); /* it was there itself */
	assert_false(gus_remembered_stays(&r, 1, 3, 1000));
	assert_false(gus_remembered_stays(&r, 3, 2, 1000));
	gus_remembered_note(&r, 1, 2, 300); /* the oldest, 500, goes */
	assert_true(gus_remembered_stays(&r, 1, 2, 500));
	assert_false(gus_remembered_stays(&r, 1, 2, 400 + GUS_REMEMBERED_TOPS - 1));
	gus_remembered_note(&r, 1, 2 + GUS_REMEMBERED_THREADS, 1);
	assert_false(gus_remembered_stays(&r, 1, 2, 1000));
	gus_remembered_note(&r, 1, 2, 1);
	assert_false(gus_remembered_stays(&r, 1, 2, 1000));
}

/* Of stacks that have too many frames so many may be missing as do not matter, and none is more than there is room
 * for; they are apart from whole ones. */
static void test_deep(void **state)
{
	enum { MOST = 64 };
	uint64_t stack[100], cfas[100], a[MOST + 1] = { 100, 101, 102 }, f[MOST + 1] = { 1100, 1101, 1102 };
	static const struct { uint32_t kept, n, most, joined; } cases[] = {
		{ 100, 3, MOST, MOST }, { MOST, 3, MOST, MOST }, { MOST - 8, 3, MOST, MOST - 8 },
		{ MOST - 9, 3, MOST, 3 }, { 100, 3, 3, 3 }, { 3, 3, 3, 3 }, { 100, 0, MOST, 0 },
	};
	struct gus_remembered r = { .threads = { NULL } };

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		stack[i] = 100 + i;
		cfas[i] = 1100 + i;
	}
	assert_int_equal(gus_remembered_join_deep(&r, 1, 2, a, f, 3, MOST), 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		gus_remembered_keep_deep(&r, 1, 2, stack, cfas, cases[i].kept);
		a[MOST] = 7;
		assert_int_equal(gus_remembered_join_deep(&r, 1, 2, a, f, cases[i].n, cases[i].most), cases[i].joined);
		assert_memory_equal(a, stack, cases[i].joined * sizeof(*a));
		assert_memory_equal(f, cfas, cases[i].joined * sizeof(*f));
		assert_int_equal(a[MOST], 7);
	}
	assert_int_equal(gus_remembered_join(&r, 1, 2, a, f, 3, MOST), 3);
	assert_int_equal(gus_remembered_join_deep(&r, 1, 2 + GUS_REMEMBERED_THREADS, a, f, 3, MOST), 3);
	/* What was interrupted goes with its marker, or both are left out. */
	stack[MOST - 1] = GUS_REMEMBERED_MARKER;
	gus_remembered_keep_deep(&r, 1, 2, stack, cfas, 100);
	assert_int_equal(gus_remembered_join_deep(&r, 1, 2, a, f, 3, MOST), MOST - 1);
	gus_remembered_free(&r);
	assert_null(r.deep[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_joined), cmocka_unit_test(test_not_of_this_stack),
		cmocka_unit_test(test_the_last_counts), cmocka_unit_test(test_stays),
		cmocka_unit_test(test_each_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
