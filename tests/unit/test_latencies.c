/* SPDX-License-Identifier: MIT */
/* How long loads took: quantiles and their intervals by numbers that were computed elsewhere, in whole numbers; and the
 * list in which equal loads are counted together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/profile/latencies.h"
#include "attribution/statistics/quantile.h"

static void ranks_are_the_lowest_that_reach_the_part(void **state)
{
	static const struct { uint64_t n; unsigned percent; uint64_t rank; } cases[] = {
		{ 1, 1, 1 }, { 1, 50, 1 }, { 1, 99, 1 }, { 2, 50, 1 }, { 3, 50, 2 }, { 4, 50, 2 }, { 10, 90, 9 },
		{ 11, 90, 10 }, { 70, 90, 63 }, { 100, 1, 1 }, { 101, 1, 2 }, { 199, 99, 198 }, { 200, 50, 100 },
		{ UINT64_MAX, 50, UINT64_MAX / 2 + 1 }, { UINT64_MAX - 1, 50, UINT64_MAX / 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(gus_quantile_rank(cases[i].n, cases[i].percent) == cases[i].rank);
}

/* By sums of binomial coefficients; beyond 1000 rounded outwards from the normal distribution. */
static void bounds_are_those_of_order_statistics(void **state)
{
	static const struct { uint64_t n; unsigned percent; uint64_t low, high; } cases[] = {
		{ 1, 50, 0, 0 }, { 5, 50, 0, 0 }, { 6, 50, 1, 6 }, { 8, 50, 1, 8 }, { 9, 50, 2, 8 }, { 10, 50, 2, 9 },
		{ 20, 50, 6, 15 }, { 100, 50, 40, 61 }, { 999, 50, 469, 531 }, { 1000, 50, 469, 532 },
		{ 5, 90, 3, 0 }, { 10, 90, 7, 0 }, { 35, 90, 28, 0 }, { 36, 90, 29, 36 }, { 100, 90, 84, 96 },
		{ 1000, 90, 881, 919 }, { 1, 1, 0, 1 }, { 1, 99, 1, 0 }, { 100, 1, 0, 4 }, { 100, 99, 97, 0 },
		{ 1001, 50, 469, 533 }, { 2000, 90, 1773, 1828 }, { 1000000, 50, 499020, 500981 },
		{ 1000000, 90, 899412, 900589 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_quantile_bounds b = gus_quantile_bounds(cases[i].n, cases[i].percent);

		if (b.low != cases[i].low || b.high != cases[i].high)
			fail_msg("%u %% of %u: %u .. %u", cases[i].percent, (unsigned)cases[i].n, (unsigned)b.low,
				 (unsigned)b.high);
	}
}

static void quantiles_are_values_that_were_seen(void **state)
{
	/* 1, 1, 1, 5, 5, 9, 9, 9, 9, 100 */
	static const struct gus_latency ten[] = { { 0, 3, 1 }, { 0, 2, 5 }, { 0, 4, 9 }, { 0, 1, 100 } };
	struct gus_latencies l = gus_latencies_of(ten, 4);
	struct gus_latency hundred[100];

	(void)state;
	assert_int_equal(l.n, 10);
	assert_int_equal(l.median.cycles, 5); /* the fifth */
	assert_true(l.median.has_low && l.median.low == 1 && l.median.has_high && l.median.high == 9);
	assert_int_equal(l.ninety.cycles, 9); /* the ninth */
	assert_true(l.ninety.has_low && l.ninety.low == 9 && !l.ninety.has_high && l.ninety.high == 0);
	assert_int_equal(l.longest, 100);
	assert_int_equal(l.sum, 3 + 10 + 36 + 100);
	l = gus_latencies_of(ten, 1);
	assert_true(l.n == 3 && l.median.cycles == 1 && !l.median.has_low && !l.median.has_high && l.longest == 1);
	assert_true(l.median.low == 0 && l.median.high == 0);
	l = gus_latencies_of((struct gus_latency[]){ { 0, 1, 4 }, { 0, 9, 6 } }, 2);
	assert_true(l.median.cycles == 6 && l.median.low == 6 && l.median.high == 6);
	l = gus_latencies_of(ten + 3, 1);
	assert_true(l.n == 1 && l.median.cycles == 100 && l.ninety.cycles == 100);
	for (uint32_t i = 0; i < 100; i++)
		hundred[i] = (struct gus_latency){ 0, 1, i + 1 };
	l = gus_latencies_of(hundred, 100);
	assert_true(l.median.cycles == 50 && l.median.low == 40 && l.median.high == 61);
	assert_true(l.ninety.cycles == 90 && l.ninety.low == 84 && l.ninety.high == 96);
	l = gus_latencies_of(NULL, 0);
	assert_true(l.n == 0 && l.longest == 0 && l.sum == 0);
}

/* Of sums that do not fit the greatest number stands, whether one value's loads or all together are too many. */
static void sums_do_not_wrap(void **state)
{
	static const struct { struct gus_latency v[2]; uint64_t sum; } cases[] = {
		{ { { 0, 1, 1 }, { 0, 1, UINT64_MAX - 1 } }, UINT64_MAX },
		{ { { 0, 1, 2 }, { 0, 1, UINT64_MAX - 1 } }, UINT64_MAX },
		{ { { 0, 1, 1 }, { 0, 1, UINT64_MAX - 2 } }, UINT64_MAX - 1 },
		{ { { 0, 1, 0 }, { 0, 2, UINT64_MAX / 2 } }, UINT64_MAX - 1 },
		{ { { 0, 1, 0 }, { 0, 2, UINT64_MAX / 2 + 1 } }, UINT64_MAX },
		{ { { 0, 2, UINT64_MAX }, { 0, 1, UINT64_MAX } }, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(gus_latencies_of(cases[i].v, 2).sum == cases[i].sum);
}

static void holds(const struct gus_latency_list *list, const struct gus_latency *want, size_t n)
{
	assert_int_equal(list->all.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(list->all.v[i].of, want[i].of);
		assert_int_equal(list->all.v[i].n, want[i].n);
		assert_true(list->all.v[i].cycles == want[i].cycles);
	}
}

static void equal_ones_are_counted_together(void **state)
{
	static const struct { uint32_t of; uint64_t cycles; } added[] = {
		{ 2, 7 }, { 0, 9 }, { 2, 7 }, { 0, 8 }, { 2, UINT64_MAX }, { 0, 9 }, { 2, 7 }, { 2, 0 },
	};
	static const struct gus_latency want[] = { { 0, 1, 8 }, { 0, 2, 9 }, { 2, 1, 0 }, { 2, 3, 7 },
		{ 2, 1, UINT64_MAX } };
	struct gus_latency_list list = { 0 };

	(void)state;
	gus_latency_settle(&list);
	holds(&list, NULL, 0);
	for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++)
		gus_latency_add(&list, added[i].of, added[i].cycles);
	gus_latency_settle(&list);
	holds(&list, want, 5);
	gus_latency_settle(&list);
	holds(&list, want, 5);
	gus_latency_free(&list);
	gus_latency_settle(&list); /* as new */
	gus_latency_add(&list, 0, 8);
	gus_latency_settle(&list);
	holds(&list, want, 1);
	gus_latency_free(&list);
}

/* A count that is full stays, and the next begins anew, before and after it is settled. */
static void full_counts_lose_nothing(void **state)
{
	static const struct gus_latency want[] = { { 1, UINT32_MAX, 5 }, { 1, 2, 5 } };
	struct gus_latency_list list = { 0 };

	(void)state;
	gus_latency_add(&list, 1, 5);
	list.all.v[0].n = UINT32_MAX;
	gus_latency_add(&list, 1, 5);
	gus_latency_add(&list, 1, 5);
	gus_latency_settle(&list);
	assert_true((uint64_t)list.all.v[0].n + list.all.v[1].n == (uint64_t)UINT32_MAX + 2);
	holds(&list, list.all.v[0].n > 2 ? want : (struct gus_latency[]){ want[1], want[0] }, 2);
	gus_latency_free(&list);
}

static void they_go_to_other_numbers(void **state)
{
	static const uint32_t to[] = { 7, UINT32_MAX, 3, 7 };
	static const struct gus_latency want[] = { { 3, 1, 20 }, { 7, 1, 10 }, { 7, 2, 30 } };
	struct gus_latency_list list = { 0 }, groups;

	(void)state;
	gus_latency_add(&list, 3, 30);
	gus_latency_add(&list, 0, 30);
	gus_latency_add(&list, 0, 10);
	gus_latency_add(&list, 1, 99);
	gus_latency_add(&list, 2, 20);
	gus_latency_add(&list, 4, 98); /* which has no number there */
	groups = gus_latency_regrouped(&list, to, 4);
	holds(&groups, want, 3);
	gus_latency_free(&groups);
	gus_latency_free(&list);
}

/* As many as make it put them together while it grows, however different they are. */
static void many_of_them_add_up(void **state)
{
	struct gus_latency_list list = { 0 };
	const uint32_t n = 400000;
	uint64_t sum = 0;

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		gus_latency_add(&list, i * 2654435761u >> 26, i * 40503u % 997);
	assert_true(list.all.n < 3 * 64 * 997); /* of the pairs that there are, not of their number */
	gus_latency_settle(&list);
	for (size_t i = 0; i < list.all.n; i++) {
		sum += list.all.v[i].n;
		assert_true(!i || list.all.v[i - 1].of < list.all.v[i].of ||
			    (list.all.v[i - 1].of == list.all.v[i].of &&
			     list.all.v[i - 1].cycles < list.all.v[i].cycles));
	}
	assert_int_equal(sum, n);
	gus_latency_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_the_lowest_that_reach_the_part),
		cmocka_unit_test(bounds_are_those_of_order_statistics),
		cmocka_unit_test(quantiles_are_values_that_were_seen),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(equal_ones_are_counted_together),
		cmocka_unit_test(full_counts_lose_nothing),
		cmocka_unit_test(they_go_to_other_numbers),
		cmocka_unit_test(many_of_them_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
