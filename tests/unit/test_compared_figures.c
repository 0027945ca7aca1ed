/* SPDX-License-Identifier: MIT */
/* attribution/compared/figure: ratios, parts and shares with their intervals, on figures whose answers are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/compared/figure.h"
#include "attribution/compared/trust.h"
#include "made_figure.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static void errors_of_both_add_up_as_squares(void **state)
{
	struct gus_figure measured = figure(120, 117, 124), ratio;

	(void)state;
	ratio = gus_figure_ratio(&measured, 100, 0);
	near(ratio.value, 1.2, 1e-9);
	near(ratio.ci.low, 1.17, 1e-9);
	near(ratio.ci.high, 1.24, 1e-9);
	measured = figure(100, 97, 104);
	ratio = gus_figure_ratio(&measured, 100, 0.04); /* 3, 4 and 5; 4, 4 and their root */
	near(ratio.ci.low, 0.95, 1e-9);
	near(ratio.ci.high, 1 + 0.04 * sqrt(2), 1e-9);
	measured = figure(0.5, 0.4, 0.6); /* however little it is */
	ratio = gus_figure_ratio(&measured, 1, 0);
	near(ratio.value, 0.5, 1e-9);
	near(ratio.ci.low, 0.4, 1e-9);
	measured = figure(100, 10, 190);
	ratio = gus_figure_ratio(&measured, 100, 0.5);
	near(ratio.ci.low, 0, 0); /* never below nothing */
}

static void nothing_seen_may_have_been_something(void **state)
{
	struct gus_figure measured = figure(0, 0, 50), ratio = gus_figure_ratio(&measured, 100, 0.1);

	(void)state;
	near(ratio.value, 0, 0);
	near(ratio.ci.low, 0, 0);
	near(ratio.ci.high, 0.55, 1e-9);
	assert_int_equal(gus_trust_of(&ratio, 0), GUS_TRUST_NONE);
	measured.ci.high = 90;
	ratio = gus_figure_ratio(&measured, 100, 0);
	assert_int_equal(gus_trust_of(&ratio, 0), GUS_TRUST_OPEN);
}

static void what_may_be_nothing_or_right_tells_nothing(void **state)
{
	static const struct { double value, low, high; bool tells; } cases[] = {
		{ 1, 0.9, 1.1, true }, { 0, 0, 0.99, true }, { 0, 0, 1, false }, { 0.38, 0, 5.51, false },
		{ 0.5, 0, 0.99, true }, { 0.5, 0.01, 1, true }, { 1.2, 0, 488, false },
		{ 900, 70, 13000, true }, { INFINITY, 0, INFINITY, false }, { INFINITY, 3, INFINITY, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_figure f = figure(cases[i].value, cases[i].low, cases[i].high);

		if (gus_figure_tells(&f) != cases[i].tells)
			fail_msg("case %zu", i);
	}
}

/* So many of a thousand, and what one of them is worth. */
static void parts_have_the_errors_of_all_that_they_are_made_of(void **state)
{
	const struct gus_figure each = figure(2, 1.9, 2.2), half = figure(0.5, 0.4, 0.6), none = figure(0, 0, 0.02);
	const struct gus_figure wide = figure(0.5, 0.01, 1);
	struct gus_figure part = gus_figure_part(&half, 1000, &each, 0);

	(void)state;
	near(part.value, 1000, 1e-9);
	near(part.ci.low, 1000 * (1 - sqrt(0.2 * 0.2 + 0.05 * 0.05)), 1e-9);
	near(part.ci.high, 1000 * (1 + sqrt(0.2 * 0.2 + 0.1 * 0.1)), 1e-9);
	part = gus_figure_part(&half, 1000, &each, 0.3);
	near(part.ci.low, 1000 * (1 - sqrt(0.2 * 0.2 + 0.05 * 0.05 + 0.3 * 0.3)), 1e-9);
	near(part.ci.high, 1000 * (1 + sqrt(0.2 * 0.2 + 0.1 * 0.1 + 0.3 * 0.3)), 1e-9);
	near(gus_figure_part(&wide, 1000, &each, 0.3).ci.low, 0, 0);
	part = gus_figure_part(&none, 1000, &each, 0.3); /* it may have been as much as that */
	near(part.value, 0, 0);
	near(part.ci.low, 0, 0);
	near(part.ci.high, 44, 1e-9);
}

/* A share beside the rest of it: three quarters are three times the rest. Where there is no rest nothing is known. */
static void shares_against_the_rest(void **state)
{
	const struct gus_figure share = figure(0.75, 0.5, 0.8), all = figure(1, 0.8, 1);
	struct gus_figure against = gus_figure_against(&share, 100);
	struct gus_interval of_half = gus_interval_share(0.5, 100);

	(void)state;
	near(against.value, 300, 1e-9);
	near(against.ci.low, 100, 1e-9);
	near(against.ci.high, 400, 1e-9);
	against = gus_figure_against(&all, 100);
	assert_true(isinf(against.value) && isinf(against.ci.high));
	near(against.ci.low, 400, 1e-9);
	against = gus_figure_against(&share, 0);
	assert_true(isinf(against.value) && isinf(against.ci.high));
	near(against.ci.low, 0, 0);
	near(gus_figure_against_error(0.5, 100), of_half.high / (1 - of_half.high) - 1, 1e-9);
	assert_true(isinf(gus_figure_against_error(0, 100)) && isinf(gus_figure_against_error(1, 100)));
}

/* What may be without end has a lower bound by the model's error, which is never below nothing. */
static void what_has_no_upper_bound(void **state)
{
	struct gus_figure measured = figure(INFINITY, 90, INFINITY), ratio = gus_figure_ratio(&measured, 100, 0.1);

	(void)state;
	assert_true(isinf(ratio.value) && isinf(ratio.ci.high));
	near(ratio.ci.low, 0.81, 1e-9);
	ratio = gus_figure_ratio(&measured, 100, 1.5);
	near(ratio.ci.low, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_both_add_up_as_squares),
		cmocka_unit_test(nothing_seen_may_have_been_something),
		cmocka_unit_test(what_may_be_nothing_or_right_tells_nothing),
		cmocka_unit_test(parts_have_the_errors_of_all_that_they_are_made_of),
		cmocka_unit_test(shares_against_the_rest),
		cmocka_unit_test(what_has_no_upper_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
