/* SPDX-License-Identifier: MIT */
/* Breaks of made curves: sharp and blurred ones, two of them, none, disturbed ones; and the widths of stairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/error.h"
#include "model/calibration/breaks.h"
#include "model/calibration/stairs.h"

/* Flat up to and with `last`, then a step and a slope; behind `second` another step. Disturbed: one answer of so
 * many is higher by up to `noise`. */
struct curve {
	unsigned last, second;
	double level, step, slope;
	unsigned disturbed;
	double noise;
	uint32_t chance;
	unsigned asked, fails;          /* fails: with the answer of that number; 0: never */
};

static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static int at(void *context, const unsigned *places, size_t n, double *values, struct gus_error *err)
{
	struct curve *c = context;

	for (size_t i = 0; i < n; i++) {
		double beyond = places[i] > c->last ? places[i] - c->last - 1 : 0;

		if (++c->asked == c->fails)
			return gus_fail(err, GUS_E_SYSTEM, "cannot answer");
		values[i] = c->level + (places[i] > c->last ? c->step + c->slope * beyond : 0) +
			(c->second && places[i] > c->second ? 20 : 0);
		if (c->disturbed && draw(&c->chance) % c->disturbed == 0)
			values[i] += c->noise * (draw(&c->chance) % 1000) / 1000.;
	}
	return 0;
}

static struct gus_break find(struct curve *c, unsigned low, unsigned high, unsigned again)
{
	struct gus_break_function f = { .at = at, .context = c, .low = low, .high = high, .least = 1.5,
		.again = again };
	struct gus_error err = { 0 };
	struct gus_break b;

	assert_int_equal(gus_break_find(&f, &b, &err), 0);
	return b;
}

static void breaks_are_found_to_the_place(void **state)
{
	static const unsigned lasts[] = { 17, 18, 63, 64, 65, 223, 224, 225, 511, 512, 699 };

	(void)state;
	for (size_t i = 0; i < sizeof(lasts) / sizeof(*lasts); i++)
		for (unsigned again = 0; again < 3; again++) {
			struct curve c = { .last = lasts[i], .level = 100, .step = 2, .slope = 0.25 };
			struct gus_break b = find(&c, 4, 701, again);

			assert_true(b.found && !b.steep);
			assert_int_equal(b.flat, lasts[i]);
			assert_int_equal(b.broken, lasts[i] + 1);
			assert_true(again == 0 || b.sharp);
			assert_true(fabs(b.level - 100) < 1e-9);
			assert_true(again == 0 || fabs(b.step - 2) < 1e-9);
			assert_true(c.asked < 70);
		}
}

static void what_has_no_break_has_none(void **state)
{
	struct curve flat = { .last = 10000, .level = 7 }, steep = { .last = 3, .level = 1, .step = 2, .slope = 1 };
	struct curve slight = { .last = 100, .level = 7, .step = 1.4 };
	struct gus_break b = find(&flat, 4, 500, 2);

	(void)state;
	assert_true(!b.found && !b.steep && !b.sharp);
	b = find(&slight, 4, 500, 2); /* less than counts */
	assert_true(!b.found && !b.steep);
	b = find(&steep, 4, 500, 2);
	assert_true(!b.found && b.steep);
}

/* The first step is the break, whatever comes behind. */
static void of_two_steps_the_first_counts(void **state)
{
	struct curve c = { .last = 91, .second = 140, .level = 50, .step = 3 };
	struct gus_break b = find(&c, 4, 400, 2);

	(void)state;
	assert_true(b.found && b.sharp);
	assert_int_equal(b.flat, 91);
	assert_true(fabs(b.step - 3) < 1e-9);
}

static void disturbances_are_no_breaks(void **state)
{
	unsigned right = 0;

	(void)state;
	for (uint32_t chance = 1; chance <= 200; chance++) {
		struct curve c = { .last = 135, .level = 120, .step = 8, .slope = 0.5, .disturbed = 5, .noise = 30,
			.chance = chance };
		struct gus_break b = find(&c, 4, 260, 3);

		/* Every fifth answer is wrong, so now and then all of a place are. */
		assert_true(!b.sharp || (b.flat >= 134 && b.flat <= 135));
		right += b.found && b.sharp && b.flat == 135;
	}
	assert_true(right > 185);
}

/* Where flat and high places are mixed the break lies among them. */
static void blurred_breaks_say_so(void **state)
{
	struct curve c = { .last = 60, .level = 10, .step = 1.2, .slope = 0.1 };
	struct gus_break b = find(&c, 4, 200, 2);

	(void)state;
	assert_true(b.found);
	assert_int_equal(b.flat, 64);   /* as far as it is less than what counts */
}

/* What is expected costs less where it is so, and finds the same where it is not. */
static void expectations_are_no_answers(void **state)
{
	static const unsigned lasts[] = { 10, 63, 64, 65, 223, 224, 280, 290, 511 };
	unsigned asked_near = 0, asked_far = 0;

	(void)state;
	for (unsigned near = 2; near <= 600; near += 3)
		for (size_t i = 0; i < sizeof(lasts) / sizeof(*lasts); i++) {
			struct curve c = { .last = lasts[i], .level = 100, .step = 2, .slope = 0.25 };
			struct gus_break_function f = { .at = at, .context = &c, .low = 4, .high = 701, .near = near,
				.least = 1.5, .again = 2 };
			struct gus_error err = { 0 };
			struct gus_break b;

			assert_int_equal(gus_break_find(&f, &b, &err), 0);
			if (!b.found || b.flat != lasts[i] || b.broken != lasts[i] + 1 || !b.sharp)
				fail_msg("near %u: %u and not %u", near, b.flat, lasts[i]);
			assert_true(fabs(b.end - (102 + 0.25 * (700 - lasts[i]))) < 1e-9);
			if (i == 4 && near >= 221 && near <= 226)
				asked_near = c.asked > asked_near ? c.asked : asked_near;
			if (i == 4 && near < 20)
				asked_far = c.asked > asked_far ? c.asked : asked_far;
		}
	assert_true(asked_near && asked_near < asked_far);
}

/* As far apart as was wished, and it costs less. */
static void ends_may_stay_apart(void **state)
{
	unsigned before = UINT32_MAX;

	(void)state;
	for (unsigned apart = 0; apart <= 32; apart = apart * 2 + 4) {
		struct curve c = { .last = 333, .level = 100, .step = 2, .slope = 0.25 };
		struct gus_break_function f = { .at = at, .context = &c, .low = 4, .high = 2000, .least = 1.5,
			.apart = apart };
		struct gus_error err = { 0 };
		struct gus_break b;

		assert_int_equal(gus_break_find(&f, &b, &err), 0);
		assert_true(b.found && b.flat <= 333 && b.broken >= 334 && b.broken - b.flat <= 1 + apart);
		assert_true(c.asked <= before);
		before = c.asked;
	}
}

/* Both ends of where it is sought are asked; noise is told. */
static void at_the_ends(void **state)
{
	struct curve last = { .last = 499, .level = 7, .step = 3 }, behind = { .last = 500, .level = 7, .step = 3 };
	struct curve noisy = { .last = 300, .level = 7, .step = 30, .disturbed = 1, .noise = 1, .chance = 3 };
	struct gus_break b = find(&last, 4, 500, 2);

	(void)state;
	assert_true(b.found);
	assert_int_equal(b.broken, 500);
	assert_true(b.noise < 1e-9);
	b = find(&behind, 4, 500, 2);
	assert_false(b.found || b.steep);
	b = find(&noisy, 4, 500, 2);
	assert_true(b.found && b.flat == 300);
	assert_true(b.noise > 0.05 && b.noise < 1);
	for (unsigned from = 4; from < 9; from++) { /* so soon behind the first place it was never flat */
		struct curve soon = { .last = from, .level = 7, .step = 3 };

		b = find(&soon, 4, 500, 2);
		assert_true(b.found == (from >= 7) && b.steep == (from < 7));
	}
	for (unsigned from = 4; from < 9; from++) { /* nor was it where one is expected farther on, or here */
		for (unsigned near = 6; near <= 60; near += 54) {
			struct curve soon = { .last = from, .level = 7, .step = 3 };
			struct gus_break_function f = { .at = at, .context = &soon, .low = 4, .high = 500,
				.near = near, .least = 1.5, .again = 2 };
			struct gus_error err = { 0 };

			assert_int_equal(gus_break_find(&f, &b, &err), 0);
			assert_true(b.found == (from >= 7) && b.steep == (from < 7));
		}
	}
}

static void errors_come_through(void **state)
{
	struct gus_error err;
	struct gus_break b;

	(void)state;
	for (unsigned fails = 1; fails < 40; fails++) {
		struct curve c = { .last = 100, .level = 1, .step = 9, .fails = fails };
		struct gus_break_function f = { .at = at, .context = &c, .low = 4, .high = 300, .least = 1,
			.again = 2 };

		err = (struct gus_error){ .code = GUS_OK };
		assert_int_equal(gus_break_find(&f, &b, &err), -1);
		assert_int_equal(err.code, GUS_E_SYSTEM);
	}
}

/* Stairs. */

static void build(double *times, unsigned n, unsigned width, unsigned shorter)
{
	for (unsigned i = 0; i < n; i++)
		times[i] = 40 + (double)((i + shorter) / width);
}

static void widths_of_stairs_are_told(void **state)
{
	double times[49];
	struct gus_stairs s;

	(void)state;
	for (unsigned width = 1; width <= 12; width++)
		for (unsigned shorter = 0; shorter < width; shorter++) {
			build(times, 49, width, shorter);
			gus_stairs_fit(times, 49, 16, &s);
			assert_int_equal(s.width, width);
			assert_true(s.residual < 1e-9 && s.next > 0.05);
		}
}

/* One half is a cycle off against the other, as code that gets longer may once lie otherwise. */
static void stairs_with_a_landing_are_told(void **state)
{
	double times[49];
	struct gus_stairs s;

	(void)state;
	build(times, 49, 8, 3);
	for (unsigned i = 26; i < 49; i++)
		times[i] -= 1;
	gus_stairs_fit(times, 49, 16, &s);
	assert_int_equal(s.width, 8);
}

/* What is done by then retires by 8 a cycle; what comes later waits until it is decoded, by 4. */
static void the_wider_of_two_stairs_counts(void **state)
{
	double times[49];
	struct gus_stairs s;

	(void)state;
	build(times, 49, 8, 1);
	for (unsigned i = 25; i < 49; i++)
		times[i] = times[24] + (i - 25) / 4 + 1;
	gus_stairs_fit(times, 49, 16, &s);
	assert_int_equal(s.width, 8);
}

/* Every fourth or so is a cycle late: other stairs are nearly as near, but none of another width is as steep. */
static void late_ones_leave_stairs_as_steep(void **state)
{
	uint32_t chance = 1;
	double times[49];
	struct gus_stairs s;

	(void)state;
	for (unsigned turn = 0; turn < 50; turn++) {
		build(times, 49, 5, turn % 5);
		for (unsigned i = 0; i < 49; i++)
			times[i] += draw(&chance) % 4 == 0;
		gus_stairs_fit(times, 49, 16, &s);
		assert_true(s.low > 4 && s.low < 5);
		assert_true(s.high > 5 && s.high < 6.5);
	}
}

static void how_steep_stairs_are_is_known_as_far_as_they_go(void **state)
{
	static const double three[] = { 10, 11, 12 }, flat[] = { 10, 10, 11, 10, 10 }, uneven[] = { 10, 11, 11, 12 };
	struct gus_stairs s;

	(void)state;
	gus_stairs_fit(three, 3, 8, &s);
	assert_true(s.low > 0.999 && s.low <= 1 && s.high >= 1 && s.high < 1.001);
	gus_stairs_fit(three, 2, 8, &s);        /* a line through two points says nothing */
	assert_true(s.low == 0 && isinf(s.high));
	gus_stairs_fit(uneven, 4, 8, &s);       /* a slope of 0.6, and three errors of 0.1414 */
	assert_float_equal(s.low, 1 / (0.6 + 3 * sqrt(0.02)), 1e-9);
	assert_float_equal(s.high, 1 / (0.6 - 3 * sqrt(0.02)), 1e-9);
	gus_stairs_fit(flat, 5, 8, &s);
	assert_true(s.low > 1 && isinf(s.high));
}

/* Of two halves that are no stairs for sure the one counts that is nearer to being some: of the first every other time
 * is late, of the second a few are. */
static void the_surer_of_two_halves_counts(void **state)
{
	double times[49];
	struct gus_stairs s;

	(void)state;
	build(times, 49, 5, 0);
	for (unsigned i = 0; i < 49; i++)
		times[i] += i < 25 ? (i % 2) * 0.9 : (i % 7 == 0) * 0.9;
	gus_stairs_fit(times, 49, 16, &s);
	assert_int_equal(s.width, 5);
	assert_true(s.residual < 0.25);
}

static void stairs_stand_noise(void **state)
{
	uint32_t chance = 1;
	double times[49];
	struct gus_stairs s;

	(void)state;
	for (unsigned turn = 0; turn < 50; turn++) {
		build(times, 49, 6, turn % 6);
		for (unsigned i = 0; i < 49; i++)
			times[i] += draw(&chance) % 100 / 400.;
		gus_stairs_fit(times, 49, 16, &s);
		assert_int_equal(s.width, 6);
	}
	/* What is no stairs is far from all. */
	for (unsigned i = 0; i < 49; i++)
		times[i] = draw(&chance) % 100 / 10.;
	gus_stairs_fit(times, 49, 16, &s);
	assert_true(s.residual > 0.6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(breaks_are_found_to_the_place),
		cmocka_unit_test(what_has_no_break_has_none),
		cmocka_unit_test(of_two_steps_the_first_counts),
		cmocka_unit_test(disturbances_are_no_breaks),
		cmocka_unit_test(blurred_breaks_say_so),
		cmocka_unit_test(expectations_are_no_answers),
		cmocka_unit_test(ends_may_stay_apart),
		cmocka_unit_test(at_the_ends),
		cmocka_unit_test(errors_come_through),
		cmocka_unit_test(widths_of_stairs_are_told),
		cmocka_unit_test(stairs_with_a_landing_are_told),
		cmocka_unit_test(the_wider_of_two_stairs_counts),
		cmocka_unit_test(late_ones_leave_stairs_as_steep),
		cmocka_unit_test(how_steep_stairs_are_is_known_as_far_as_they_go),
		cmocka_unit_test(the_surer_of_two_halves_counts),
		cmocka_unit_test(stairs_stand_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
