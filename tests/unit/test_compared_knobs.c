/* SPDX-License-Identifier: MIT */
/* attribution/compared/knobs: which capacity would make the model meet what was measured, of one region and of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/compared/knobs.h"
#include "made_figure.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

enum { A, B, C, ABSENT, KNOBS };
/* What is behind the last one is no knob. */
static const unsigned char there[KNOBS + 1] = { 1, 1, 1, 0, 1 };
static const double weight = 1.25; /* 1 - 1 / 1.25 = 0.2 */

/* 100 cycles, of which 60 scale with A, 30 with B, a half with C, and all with what is not there. */
static const double cycles[] = { 100, 88, 94, 99.9, 80, 84 };

static void the_least_change_is_first(void **state)
{
	const struct gus_compared_lanes slow = { .cycles = cycles, .measured = 130 };
	struct gus_compared_knob found[GUS_COMPARED_KNOBS];

	(void)state;
	assert_int_equal(gus_compared_knobs_find(&slow, KNOBS, there, weight, found), 2);
	assert_int_equal(found[0].knob, A);
	near(found[0].factor, 1 / 1.5, 1e-9);  /* 40 + 60 * 1.5 = 130 */
	assert_int_equal(found[1].knob, B);
	near(found[1].factor, 0.5, 1e-9);      /* 70 + 30 * 2 */
}

static void more_of_it_where_it_was_faster(void **state)
{
	const struct gus_compared_lanes fast = { .cycles = cycles, .measured = 80 }, out = { .cycles = cycles,
		.measured = 30 }, right = { .cycles = cycles, .measured = 100.25 };
	struct gus_compared_knob found[GUS_COMPARED_KNOBS];

	(void)state;
	assert_int_equal(gus_compared_knobs_find(&fast, KNOBS, there, weight, found), 1); /* B: three times */
	assert_int_equal(found[0].knob, A);
	near(found[0].factor, 1.5, 1e-9);      /* 40 + 60 / 1.5 */
	assert_int_equal(gus_compared_knobs_find(&out, KNOBS, there, weight, found), 0);
	assert_int_equal(gus_compared_knobs_find(&right, KNOBS, there, weight, found), 3); /* not what is not there */
}

/* Of more knobs than there is room for the nearest three, whichever comes first; of equal ones the first. */
static void the_nearest_are_kept(void **state)
{
	enum { MANY = 6 };
	static const unsigned char all[MANY] = { 1, 1, 1, 1, 1, 1 };
	/* of 100 cycles that many scale; 20 more were measured */
	static const double scale[][MANY] = { { 20, 40, 60, 80, 100, 25 }, { 100, 80, 60, 40, 20, 25 },
		{ 40, 20, 100, 25, 80, 60 }, { 80, 80, 80, 80, 90, 80 } };
	static const int want[][GUS_COMPARED_KNOBS] = { { 4, 3, 2 }, { 0, 1, 2 }, { 2, 4, 5 }, { 4, 0, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(scale); i++) {
		double of[MANY + 1] = { 100 };
		struct gus_compared_lanes slow = { .cycles = of, .measured = 120 };
		struct gus_compared_knob found[GUS_COMPARED_KNOBS];

		for (size_t k = 0; k < MANY; k++)
			of[k + 1] = 100 - 0.2 * scale[i][k];
		assert_int_equal(gus_compared_knobs_find(&slow, MANY, all, weight, found), GUS_COMPARED_KNOBS);
		for (size_t k = 0; k < GUS_COMPARED_KNOBS; k++) {
			assert_int_equal(found[k].knob, want[i][k]);
			near(found[k].factor, 1 / (1 + 20 / scale[i][want[i][k]]), 1e-9);
		}
	}
}

static void what_is_within_its_error_is_no_answer(void **state)
{
	static const double errors[] = { 0, 0.0695, 0.0696, 0, 0 }; /* of 100 / 88 - 1 = 0.1364 */
	struct gus_compared_lanes slow = { .cycles = cycles, .errors = errors, .measured = 120 };
	struct gus_compared_knob found[GUS_COMPARED_KNOBS];

	(void)state;
	assert_int_equal(gus_compared_knobs_find(&slow, KNOBS, there, weight, found), 1);
	assert_int_equal(found[0].knob, A);
}

/* Three regions that were measured on a machine with less of B; A would explain one of them alone. */
static void one_knob_for_all(void **state)
{
	static const double of[3][KNOBS + 2] = { { 100, 88, 94, 99.8, 80, 94 }, { 200, 200, 168, 200, 160, 168 },
		{ 50, 50, 50, 50, 40, 48 } };
	struct gus_compared_lanes regions[3];
	struct gus_compared_common best;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		regions[i] = (struct gus_compared_lanes){ .cycles = of[i], .error = 1,
			.measured = of[i][0] + (of[i][0] - of[i][B + 1]) / 0.2 * 0.25 };
	best = gus_compared_knobs_common(regions, 3, KNOBS, there, weight);
	assert_int_equal(best.knob, B);
	near(best.factor, 0.8, 1e-9);
	near(best.explained, 1, 1e-9);
	for (size_t i = 0; i < 3; i++)
		regions[i].measured = of[i][0] + (i == 2 ? 10 : 0); /* which no knob of it moves */
	assert_int_equal(gus_compared_knobs_common(regions, 3, KNOBS, there, weight).knob, -1);
}

/* In errors of each: 4 more of the first, of which 2 scale, and 6 of the second, of which 4 do. Together 32 / 20 of a
 * part, but not more than once as much again: (4 - 2)^2 + (6 - 4)^2 are left of 4^2 + 6^2. */
static void what_is_left_is_not_explained(void **state)
{
	static const double of[2][2] = { { 100, 100 - 0.2 * 20 }, { 100, 100 - 0.2 * 8 } };
	const struct gus_compared_lanes more[2] = { { .cycles = of[0], .measured = 140, .error = 10 },
		{ .cycles = of[1], .measured = 112, .error = 2 } };
	const struct gus_compared_lanes less[2] = { { .cycles = of[0], .measured = 96, .error = 10 },
		{ .cycles = of[1], .measured = 96, .error = 2 } };
	const struct gus_compared_lanes least[2] = { { .cycles = of[0], .measured = 20, .error = 10 },
		{ .cycles = of[1], .measured = 84, .error = 2 } };
	const struct gus_compared_lanes rough[2] = { { .cycles = of[0], .measured = 140, .error = 1000 },
		{ .cycles = of[1], .measured = 112, .error = 200 } };
	struct gus_compared_common best = gus_compared_knobs_common(more, 2, 1, there, weight);

	(void)state;
	assert_int_equal(best.knob, 0);
	near(best.factor, 0.5, 1e-9);
	near(best.explained, 1 - 8. / 52, 1e-9);
	best = gus_compared_knobs_common(less, 2, 1, there, weight); /* -0.4 and -2, of 2 and 4: -8.8 / 20 */
	near(best.factor, 1 / (1 - 0.44), 1e-9);
	near(best.explained, 1 - (0.48 * 0.48 + 0.24 * 0.24) / (0.4 * 0.4 + 2 * 2), 1e-9);
	best = gus_compared_knobs_common(least, 2, 1, there, weight); /* -8 and -8, but not more than twice as much */
	near(best.factor, 2, 1e-9);
	near(best.explained, 1 - (7. * 7 + 6 * 6) / (8 * 8 + 8 * 8), 1e-9);
	best = gus_compared_knobs_common(rough, 2, 1, there, weight); /* what weighs is how errors compare */
	near(best.factor, 0.5, 1e-9);
	near(best.explained, 1 - 8. / 52, 1e-9);
	assert_int_equal(gus_compared_knobs_common(more, 0, 1, there, weight).knob, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_change_is_first),
		cmocka_unit_test(more_of_it_where_it_was_faster),
		cmocka_unit_test(the_nearest_are_kept),
		cmocka_unit_test(what_is_within_its_error_is_no_answer),
		cmocka_unit_test(one_knob_for_all),
		cmocka_unit_test(what_is_left_is_not_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
