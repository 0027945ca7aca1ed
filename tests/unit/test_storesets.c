/* SPDX-License-Identifier: MIT */
/* Store sets by themselves: who shares one after whom has met whom, and which store a load waits for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/core/storesets.h"

/* Addresses that have entries of their own in tables of 4096. */
enum { LOAD = 16, OTHER_LOAD = 32, STORE = 48, OTHER_STORE = 64 };

static struct gus_storesets s;

static int setup(void **state)
{
	(void)state;
	s = (struct gus_storesets){ 0 };
	gus_storesets_begin(&s, 4096);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_storesets_end(&s);
	return 0;
}

/* The last of the set's stores that entered since it was one. */
static void the_last_store(void **state)
{
	(void)state;
	assert_int_equal(gus_storesets_last(&s, LOAD), 0);
	gus_storesets_enter(&s, STORE, 0);
	assert_false(gus_storesets_share(&s, LOAD, STORE));
	gus_storesets_join(&s, LOAD, STORE);
	assert_true(gus_storesets_share(&s, LOAD, STORE));
	assert_int_equal(gus_storesets_last(&s, LOAD), 0);
	gus_storesets_enter(&s, STORE, 7);
	gus_storesets_enter(&s, OTHER_STORE, 8);
	assert_int_equal(gus_storesets_last(&s, LOAD), 7 + 1);
	assert_int_equal(gus_storesets_last(&s, OTHER_LOAD), 0);
	gus_storesets_enter(&s, STORE, 9);
	assert_int_equal(gus_storesets_last(&s, LOAD), 9 + 1);
}

/* Who has none takes that of the other. */
static void sets_grow(void **state)
{
	(void)state;
	gus_storesets_join(&s, LOAD, STORE);
	gus_storesets_join(&s, OTHER_LOAD, STORE);
	assert_true(gus_storesets_share(&s, OTHER_LOAD, STORE) && gus_storesets_share(&s, LOAD, STORE));
	gus_storesets_join(&s, LOAD, OTHER_STORE);
	assert_true(gus_storesets_share(&s, OTHER_LOAD, OTHER_STORE));
	gus_storesets_enter(&s, STORE, 1);
	gus_storesets_enter(&s, OTHER_STORE, 2);
	assert_int_equal(gus_storesets_last(&s, OTHER_LOAD), 2 + 1);
}

/* Of two sets the lower number wins, whoever has it; who is not of the pair stays where it was, until it meets one. */
static void sets_merge(void **state)
{
	bool of_load, of_other;

	(void)state;
	gus_storesets_join(&s, LOAD, STORE);
	gus_storesets_join(&s, OTHER_LOAD, OTHER_STORE);
	assert_false(gus_storesets_share(&s, LOAD, OTHER_STORE));
	gus_storesets_join(&s, LOAD, OTHER_STORE);
	assert_true(gus_storesets_share(&s, LOAD, OTHER_STORE));
	of_load = gus_storesets_share(&s, LOAD, STORE);
	of_other = gus_storesets_share(&s, OTHER_LOAD, OTHER_STORE);
	assert_true(of_load != of_other);
	gus_storesets_join(&s, of_load ? OTHER_LOAD : LOAD, of_load ? OTHER_STORE : STORE);
	gus_storesets_join(&s, LOAD, STORE);
	gus_storesets_join(&s, OTHER_LOAD, OTHER_STORE);
	assert_true(gus_storesets_share(&s, LOAD, OTHER_STORE) && gus_storesets_share(&s, OTHER_LOAD, STORE));
}

/* What has the same entry shares a set, and nothing lies outside a table of few. */
static void few_entries(void **state)
{
	(void)state;
	gus_storesets_end(&s);
	gus_storesets_begin(&s, 1);
	gus_storesets_join(&s, LOAD, STORE);
	assert_true(gus_storesets_share(&s, OTHER_LOAD, OTHER_STORE));
	gus_storesets_enter(&s, UINT64_MAX, 3);
	assert_int_equal(gus_storesets_last(&s, 0), 3 + 1);
	gus_storesets_end(&s);
	gus_storesets_begin(&s, 3);
	for (uint64_t i = 0; i < 1000; i++) {
		gus_storesets_join(&s, i, i * i);
		gus_storesets_enter(&s, i, i);
		assert_true(gus_storesets_last(&s, i) <= i + 1);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_last_store),
		CASE(sets_grow),
		CASE(sets_merge),
		CASE(few_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
