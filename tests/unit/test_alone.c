/* SPDX-License-Identifier: MIT */
/* What a round of an empty loop takes alone, learnt from rounds (collector/timing/alone.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/timing/alone.h"

/* Of 200 the third least: two may be of a clock that stood still. Of few the least, and of none nothing is known. */
static void test_begin(void **state)
{
	double cycles[200], few[] = { 2.1, 1.02, 1.9 };
	struct gus_alone a;

	(void)state;
	for (size_t i = 0; i < 200; i++)
		cycles[i] = i % 7 ? 2 : 1.01;
	cycles[50] = 0.3;
	cycles[150] = 0.2;
	gus_alone_begin(&a, cycles, 200);
	assert_float_equal(a.cycles, 1.01, 1e-9);
	gus_alone_begin(&a, few, 3);
	assert_float_equal(a.cycles, 1.02, 1e-9);
	gus_alone_begin(&a, few, 0);
	assert_float_equal(a.cycles, 0, 1e-9);
	gus_alone_tell(&a, 1); /* and is not learnt, as nothing is less than nothing */
	assert_float_equal(a.cycles, 0, 1e-9);
	assert_int_equal(a.beside, 0);
}

/* A neighbour was there in the beginning, and goes: the second round that takes about as much less is believed, and of
 * both the longer one. What is seen once, or twice and unlike, is the clock's doing. */
static void test_learns(void **state)
{
	static const struct { double told[3]; double then; } cases[] = {
		{ { 1, 1.02, 2 }, 1.02 }, { { 1.02, 1, 2 }, 1.02 }, { { 1, 2, 1.01 }, 1.01 }, { { 0.5, 1, 2 }, 2 },
		{ { 0.5, 1, 1.01 }, 1.01 }, { { 1, 1.04, 2 }, 2 }, { { 1, 0.96, 2 }, 2 }, { { 2.1, 2.2, 2 }, 2 },
		{ { 0, 0, 2 }, 2 }, /* it stood still */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double first[] = { 2 };
		struct gus_alone a;

		gus_alone_begin(&a, first, 1);
		for (size_t k = 0; k < 3; k++)
			gus_alone_tell(&a, cases[i].told[k]);
		if (a.cycles < cases[i].then - 1e-9 || a.cycles > cases[i].then + 1e-9)
			fail_msg("case %zu: %g", i, a.cycles);
	}
}

/* An eighth more is another thread. */
static void test_beside(void **state)
{
	(void)state;
	assert_false(gus_alone_is_beside(1.11, 1));
	assert_true(gus_alone_is_beside(1.13, 1));
	assert_false(gus_alone_is_beside(2.2, 2));
	assert_false(gus_alone_is_beside(100, 0));
}

/* It is never alone once a thousand rounds were seen and more than four fifths of them were beside somebody. */
static void test_never(void **state)
{
	double first[] = { 1 };
	struct gus_alone a;

	(void)state;
	gus_alone_begin(&a, first, 1);
	for (unsigned i = 0; i < 999; i++)
		gus_alone_tell(&a, 2);
	assert_false(gus_alone_is_never(&a));
	gus_alone_tell(&a, 2);
	assert_true(gus_alone_is_never(&a));
	assert_int_equal(a.seen, 1000);
	assert_int_equal(a.beside, 1000);
	for (unsigned i = 0; i < 249; i++)
		gus_alone_tell(&a, 1);
	assert_true(gus_alone_is_never(&a)); /* 1,000 of 1,249 */
	gus_alone_tell(&a, 1);
	assert_false(gus_alone_is_never(&a)); /* of 1,250 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begin), cmocka_unit_test(test_learns), cmocka_unit_test(test_beside),
		cmocka_unit_test(test_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
