/* SPDX-License-Identifier: MIT */
/* Strides, reuse and footprint of groups of accesses, on traces that say them by how they are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/watch/access.h"

static uint64_t rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 16;
}

static struct gus_access_group facts(const struct gus_access *a, uint32_t group)
{
	struct gus_access_group g;

	gus_access_get(a, group, &g);
	return g;
}

/* Four times over 1000 lines by 8 bytes: 7 of 8 accesses are in the line before; the others come back after 999 other
 * lines. */
static void test_sequential(void **state)
{
	struct gus_access *a = gus_access_new(2, 64);
	struct gus_access_group g;

	(void)state;
	for (unsigned i = 0; i < 4 * 8000; i++)
		gus_access_note(a, 1, 0x10000 + i % 8000 * 8, 8, i % 2);
	g = facts(a, 1);
	assert_int_equal(g.accesses, 32000);
	assert_int_equal(g.stores, 16000);
	assert_int_equal(g.stride, 8);
	assert_int_equal(g.stride_times, 31996); /* three times back to the start */
	assert_int_equal(g.stride_error, 0);
	assert_int_equal(g.reuse[0], 28000);
	assert_int_equal(g.first, 1000);
	assert_int_equal(g.reuse[10], 3000); /* 512 to 1023 */
	assert_int_equal(g.lines, 1000);
	assert_true(g.lines_exact);
	assert_int_equal(facts(a, 0).accesses, 0);
	gus_access_free(a);
}

/* Two arrays in turns, 64 bytes each: line after line of both; what one group touched does not shorten what the other
 * sees. */
static void test_interleaved(void **state)
{
	struct gus_access *a = gus_access_new(2, 64);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		gus_access_note(a, 0, 0x100000 + i % 8 * 64, 8, false);
		gus_access_note(a, 1, 0x200000 + i * 64, 8, false);
	}
	/* Of the first array's lines each comes again after 7 of its own and 8 of the other. */
	assert_int_equal(facts(a, 0).reuse[4], 992);
	assert_int_equal(facts(a, 0).first, 8);
	assert_int_equal(facts(a, 0).lines, 8);
	assert_int_equal(facts(a, 1).first, 1000);
	gus_access_free(a);
}

/* 60 % of stride 8 among distances by chance: found, and as often as it was to within the error that is said. */
static void test_noisy_stride(void **state)
{
	struct gus_access *a = gus_access_new(1, 64);
	uint64_t x = 1, at = 0, times = 0;
	struct gus_access_group g;

	(void)state;
	gus_access_note(a, 0, at, 8, false);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t by = rnd(&x) % 10 < 6 ? 8 : 16 + rnd(&x) % 100000;

		times += by == 8;
		at += by;
		gus_access_note(a, 0, at, 8, false);
	}
	g = facts(a, 0);
	assert_int_equal(g.stride, 8);
	assert_true(g.stride_times <= times && times <= g.stride_times + g.stride_error);
	assert_true(g.stride_error <= 100000 / 9);
	gus_access_free(a);
}

/* An access over two lines touches both. */
static void test_crossing(void **state)
{
	struct gus_access *a = gus_access_new(1, 64);

	(void)state;
	gus_access_note(a, 0, 60, 8, false);
	gus_access_note(a, 0, 60, 8, false);
	assert_int_equal(facts(a, 0).lines, 2);
	assert_int_equal(facts(a, 0).first, 2);
	assert_int_equal(facts(a, 0).reuse[1], 2); /* the other line in between */
	gus_access_free(a);
}

/* Against a list that is searched and reordered, on accesses by chance over 500 lines, longer than positions last. */
static void test_against_list(void **state)
{
	struct gus_access *a = gus_access_new(1, 64);
	uint64_t list[500], expected[GUS_ACCESS_REUSE] = { 0 }, first = 0, x = 7;
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t line = rnd(&x) % (1 + rnd(&x) % 500);
		unsigned at = 0;

		while (at < n && list[at] != line)
			at++;
		if (at == n) {
			first++;
			n++;
		} else {
			unsigned k = 0;

			while (at >> k)
				k++;
			expected[k]++;
		}
		memmove(list + 1, list, at * sizeof(*list));
		list[0] = line;
		gus_access_note(a, 0, line * 64, 8, false);
	}
	assert_int_equal(gus_access_sampled(a), 0);
	assert_int_equal(facts(a, 0).first, first);
	assert_memory_equal(facts(a, 0).reuse, expected, sizeof(expected));
	gus_access_free(a);
}

/* Far more lines than are followed: 100000 in turns, five times. Estimates hold what is said of them. */
static void test_large(void **state)
{
	struct gus_access *a = gus_access_new(1, 64);
	struct gus_access_group g;
	const uint64_t lines = 100000;

	(void)state;
	for (uint64_t i = 0; i < 5 * lines; i++)
		gus_access_note(a, 0, i % lines * 64, 8, false);
	g = facts(a, 0);
	assert_false(g.lines_exact);
	assert_in_range(g.lines, lines - lines / 8, lines + lines / 8); /* three standard deviations */
	assert_true(gus_access_sampled(a) >= 4);
	/* Each comes again after 99999 others, and four of five touches are not the first. */
	assert_in_range(g.reuse[17], 4 * lines - lines / 5, 4 * lines + lines / 5);
	for (unsigned i = 0; i < GUS_ACCESS_REUSE; i++)
		assert_true(i == 17 || g.reuse[i] == 0);
	assert_in_range(g.first, lines - lines / 20, lines + lines / 20);
	gus_access_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequential), cmocka_unit_test(test_interleaved),
			cmocka_unit_test(test_noisy_stride),
		cmocka_unit_test(test_crossing), cmocka_unit_test(test_against_list), cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
