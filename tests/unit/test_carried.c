/* SPDX-License-Identifier: MIT */
/* Dependences through memory, on accesses of loops whose dependences can be read off their source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/watch/carried.h"

enum { A = 0x100000, B = 0x200000, C = 0x300000, BODY = 6 };

static void load(struct gus_carried *c, uint32_t op, uint64_t address, uint32_t bytes, uint64_t entry,
		 uint64_t iteration)
{
	gus_carried_load(c, &(struct gus_carried_access){ .address = address, .bytes = bytes, .op = op, .entry = entry,
		.iteration = iteration, .instruction = iteration * BODY + op });
}

static void store(struct gus_carried *c, uint32_t op, uint64_t address, uint32_t bytes, uint64_t entry,
		  uint64_t iteration)
{
	gus_carried_store(c, &(struct gus_carried_access){ .address = address, .bytes = bytes, .op = op, .entry = entry,
		.iteration = iteration, .instruction = iteration * BODY + op });
}

static struct gus_carried_pair only(const struct gus_carried *c)
{
	struct gus_carried_pair p[2];

	assert_int_equal(gus_carried_pairs(c, p, 2), 1);
	return p[0];
}

/* a[i] = b[i] - a[i-1] * c[i]: op 5 stores what op 1 loads in the next iteration, two instructions later. */
static void test_recurrence(void **state)
{
	struct gus_carried *c = gus_carried_new();
	struct gus_carried_totals t;
	struct gus_carried_pair p;

	(void)state;
	for (uint64_t i = 1; i <= 100000; i++) {
		load(c, 1, A + 8 * (i - 1), 8, 1, i);
		load(c, 2, C + 8 * i, 8, 1, i);
		load(c, 3, B + 8 * i, 8, 1, i);
		store(c, 5, A + 8 * i, 8, 1, i);
	}
	p = only(c);
	assert_int_equal(p.store, 5);
	assert_int_equal(p.load, 1);
	assert_int_equal(p.times, 99999);
	assert_int_equal(p.distance[1], 99999);
	assert_int_equal(gus_carried_distance(&p), 1);
	assert_int_equal(p.blocked, 0);
	assert_int_equal(p.instructions_least, 2);
	assert_int_equal(p.instructions, 2 * 99999);
	gus_carried_totals(c, &t);
	assert_int_equal(t.loads, 300000);
	assert_int_equal(t.stores, 100000);
	assert_int_equal(t.carried, 99999);
	assert_int_equal(t.left_out, 0);
	gus_carried_free(c);
}

/* The same with a[i-3], and a store that is loaded again in its own iteration. */
static void test_distances(void **state)
{
	struct gus_carried *c = gus_carried_new();
	struct gus_carried_pair p[3];

	(void)state;
	for (uint64_t i = 3; i < 1003; i++) {
		load(c, 1, A + 4 * (i - 3), 4, 1, i);
		store(c, 2, A + 4 * i, 4, 1, i);
		load(c, 3, A + 4 * i, 4, 1, i);
	}
	assert_int_equal(gus_carried_pairs(c, p, 3), 2);
	assert_int_equal(p[0].load, 3);
	assert_int_equal(p[0].times, 1000);
	assert_int_equal(gus_carried_distance(&p[0]), 0);
	assert_int_equal(p[1].load, 1);
	assert_int_equal(p[1].times, 997); /* neighbours in a word do not hide it */
	assert_int_equal(gus_carried_distance(&p[1]), 3);
	gus_carried_free(c);
}

/* A stay of ten iterations, again and again over the same ten words: what the last stay wrote comes from outside. */
static void test_outside(void **state)
{
	struct gus_carried *c = gus_carried_new();
	struct gus_carried_pair p;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		load(c, 1, A + 8 * (i % 10), 8, i / 10, i);
		store(c, 2, A + 8 * (i % 10), 8, i / 10, i);
	}
	p = only(c);
	assert_int_equal(p.times, 990);
	assert_int_equal(p.outside, 990);
	assert_int_equal(gus_carried_distance(&p), -1);
	gus_carried_free(c);
}

/* What a store buffer can give: all of a load, out of one store. */
static void test_blocked(void **state)
{
	static const struct { uint32_t store_at, store_bytes, load_at, load_bytes; uint64_t times, blocked; } cases[] =
		{
		{ 0, 8, 0, 8, 1, 0 }, { 0, 8, 4, 4, 1, 0 }, { 0, 32, 16, 8, 1, 0 }, { 3, 8, 5, 4, 1, 0 },   /* inside */
		/* in part */
		{ 0, 4, 0, 8, 1, 1 }, { 4, 8, 0, 8, 1, 1 }, { 60, 8, 64, 8, 1, 1 }, { 1, 1, 0, 32, 1, 1 },
		{ 0, 4, 4, 4, 0, 0 }, { 8, 8, 0, 8, 0, 0 }, { 0, 64, 64, 64, 0, 0 },                        /* beside */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_carried *c = gus_carried_new();
		struct gus_carried_totals t;

		store(c, 1, A + cases[i].store_at, cases[i].store_bytes, 1, 1);
		load(c, 2, A + cases[i].load_at, cases[i].load_bytes, 1, 1);
		gus_carried_totals(c, &t);
		assert_int_equal(t.carried, cases[i].times);
		assert_int_equal(t.blocked, cases[i].blocked);
		gus_carried_free(c);
	}
}

/* Two stores of four bytes, then a load of both: the younger one has it, and cannot forward it. */
static void test_two_stores(void **state)
{
	struct gus_carried *c = gus_carried_new();
	struct gus_carried_pair p;

	(void)state;
	store(c, 1, A + 4, 4, 1, 1);
	store(c, 2, A, 4, 1, 1);
	load(c, 3, A, 8, 1, 1);
	p = only(c);
	assert_int_equal(p.store, 2);
	assert_int_equal(p.blocked, 1);
	gus_carried_forget(c);
	load(c, 3, A, 8, 1, 2);
	assert_int_equal(only(c).times, 1);
	gus_carried_free(c);
}

/* Far too long ago to matter, and an address that wraps around the end of memory. */
static void test_old(void **state)
{
	struct gus_carried *c = gus_carried_new();
	struct gus_carried_totals t;

	(void)state;
	store(c, 1, A, 8, 1, 1);
	for (unsigned i = 0; i < GUS_CARRIED_RECENT; i++)
		store(c, 2, B, 8, 1, 2);
	load(c, 3, A, 8, 1, 3);
	gus_carried_totals(c, &t);
	assert_int_equal(t.carried, 0);
	store(c, 4, UINT64_MAX - 3, 8, 1, 4);
	load(c, 5, 0, 4, 1, 4);
	assert_int_equal(only(c).store, 4);
	store(c, 6, C, UINT32_MAX, 1, 5); /* writes over everything that is followed, as far as we can tell */
	load(c, 5, 0, 4, 1, 5);
	load(c, 5, C, UINT32_MAX, 1, 5);
	assert_int_equal(only(c).times, 1);
	gus_carried_free(c);
}

/* More pairs than there is room for: the one that comes all the time stays and is complete, and the counts add up. */
static void test_many(void **state)
{
	static struct gus_carried_pair p[GUS_CARRIED_PAIRS];
	struct gus_carried *c = gus_carried_new();
	struct gus_carried_totals t;
	uint64_t sum = 0;
	size_t n;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		store(c, 1, A, 8, 1, i);
		load(c, 2, A, 8, 1, i);
		load(c, 3 + i, A, 8, 1, i);
	}
	n = gus_carried_pairs(c, p, GUS_CARRIED_PAIRS);
	assert_int_equal(p[0].load, 2);
	assert_int_equal(p[0].times, 20000);
	for (size_t i = 0; i < n; i++)
		sum += p[i].times;
	gus_carried_totals(c, &t);
	assert_int_equal(t.carried, 40000);
	assert_true(t.left_out > 0);
	assert_int_equal(sum + t.left_out, t.carried);
	gus_carried_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recurrence),
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_two_stores),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
