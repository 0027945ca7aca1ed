/* SPDX-License-Identifier: MIT */
/* Lines that threads share while they run (attribution/traced/contended.h): windows as they may be traced, and whether
 * the line is found to be shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/traced/contended.h"

enum { LINE = 64, PID = 10 };
static const uint64_t there = 0x7000;

/* In a case: a letter is a thread that reads the line, a capital one that writes it; where it stands is the time. */
static struct gus_contended *look_at(const char *windows)
{
	struct gus_contended *s = gus_contended_new(LINE);

	for (size_t i = 0; windows[i]; i++) {
		bool store = windows[i] < 'a';

		if (windows[i] == ' ')
			continue;
		gus_contended_window(s, PID, (uint32_t)windows[i] | 0x20, 1 + i);
		gus_contended_access(s, there + (store ? 0 : 8), 8, store);
	}
	return s;
}

static void threads_share_what_overlaps(void **state)
{
	static const struct { const char *windows; bool shared; } cases[] = {
		{ "A", false }, { "AAAA", false }, { "AB", false }, { "AAbb", false }, { "abab", false },
		{ "AbA", true }, { "bAb", true }, { "ABA", true }, { "bbbAb", true }, { "A b A", true },
		{ "Aba", false }, { "AbAa", true }, { "abcDcD", true },
		{ "AAaabb", false }, { "AAaabbA", true }, { "aBc", false }, { "aBcB", true }, { "abcD d", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_contended *s = look_at(cases[i].windows);

		print_message("%s\n", cases[i].windows);
		assert_int_equal(gus_contended_settle(s), cases[i].shared);
		assert_int_equal(gus_contended_has(s, PID, there, 1), cases[i].shared);
		assert_int_equal(gus_contended_has(s, PID, there - 1, 2), cases[i].shared);
		assert_int_equal(gus_contended_has(s, PID, there + LINE - 1, 1), cases[i].shared);
		assert_false(gus_contended_has(s, PID, there - 1, 1));
		assert_false(gus_contended_has(s, PID, there + LINE, 8));
		assert_false(gus_contended_has(s, PID + 1, there, 1));
		gus_contended_free(s);
	}
}

/* Of one time, they are at one time. */
static void of_one_time(void **state)
{
	struct gus_contended *s = gus_contended_new(LINE);

	(void)state;
	for (uint32_t tid = 1; tid < 3; tid++) {
		gus_contended_window(s, PID, tid, 7);
		gus_contended_access(s, there, 1, tid == 1);
	}
	assert_int_equal(gus_contended_settle(s), 1);
	gus_contended_free(s);
}

/* As recordings have them: by thread. */
static void windows_come_in_any_order(void **state)
{
	static const struct { uint32_t tid; uint64_t time; } windows[] = { { 1, 30 }, { 1, 10 }, { 2, 20 } };
	struct gus_contended *s = gus_contended_new(LINE);

	(void)state;
	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		gus_contended_window(s, PID, windows[i].tid, windows[i].time);
		gus_contended_access(s, there, 1, windows[i].tid == 1);
	}
	assert_int_equal(gus_contended_settle(s), 1);
	gus_contended_free(s);
}

/* An access has all of its lines; another process has lines of its own, and a fifth thread is one too many. */
static void long_ones_others_and_many(void **state)
{
	struct gus_contended *s = gus_contended_new(LINE);

	(void)state;
	for (uint64_t time = 1; time < 4; time++) {
		gus_contended_window(s, PID, (uint32_t)(time % 2), time);
		gus_contended_access(s, there - 4, 3 * LINE, true);
		gus_contended_window(s, PID + (uint32_t)(time % 2), (uint32_t)(time % 2), time);
		gus_contended_access(s, there + 100 * LINE, 1, true);
	}
	for (uint32_t tid = 1; tid < 7; tid++) {
		gus_contended_window(s, PID, tid, tid == 6 ? 5 : tid);
		gus_contended_access(s, there + 200 * LINE, 1, tid > 4);
	}
	assert_int_equal(gus_contended_settle(s), 4);
	assert_true(gus_contended_has(s, PID, there - 4, 1));
	assert_true(gus_contended_has(s, PID, there + 3 * LINE - 5, 1));
	assert_false(gus_contended_has(s, PID, there + 3 * LINE, 1));
	assert_false(gus_contended_has(s, PID, there + 100 * LINE, 1));
	assert_false(gus_contended_has(s, PID, there + 200 * LINE, 1));
	gus_contended_free(s);
	assert_false(gus_contended_has(NULL, PID, there, 1));
	gus_contended_free(NULL);
}

/* Of lines beyond so many none is found, and nothing else changes. */
static void room_is_bounded(void **state)
{
	struct gus_contended *s = gus_contended_new(LINE);

	(void)state;
	for (uint64_t time = 1; time < 4; time++) {
		gus_contended_window(s, PID, (uint32_t)(time % 2), time);
		gus_contended_access(s, there, 1, true);
		for (uint64_t i = 0; i < GUS_CONTENDED_LINES / 4096; i++)
			gus_contended_access(s, (1 + i) << 32, UINT32_MAX, true); /* 4,096 lines of each */
		gus_contended_access(s, 7ull << 50, 1, true);
	}
	assert_int_equal(gus_contended_settle(s), GUS_CONTENDED_LINES);
	assert_true(gus_contended_has(s, PID, there, 1));
	assert_true(gus_contended_has(s, PID, (1ull << 32) + 4095 * LINE, 1));
	assert_false(gus_contended_has(s, PID, (1ull << 32) + 4096 * LINE, 1));
	assert_false(gus_contended_has(s, PID, 7ull << 50, 1));
	gus_contended_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_what_overlaps),
		cmocka_unit_test(of_one_time),
		cmocka_unit_test(windows_come_in_any_order),
		cmocka_unit_test(long_ones_others_and_many),
		cmocka_unit_test(room_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
