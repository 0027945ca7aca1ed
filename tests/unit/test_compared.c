/* SPDX-License-Identifier: MIT */
/* attribution/compared: measured against modelled, on figures whose answers are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/compared/compared.h"
#include "attribution/compared/figure.h"
#include "attribution/compared/forms.h"
#include "attribution/compared/measured.h"
#include "attribution/compared/variants.h"
#include "attribution/compared/weak.h"
#include "attribution/traced/traced.h"
#include "made_program.h"
#include "model/analysis/sensitivity.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static void near(double is, double want, double by)
{
	if (!(fabs(is - want) <= by))
		fail_msg("%.9g is not %.9g", is, want);
}

/* Ratios and verdicts. */

static struct gus_figure figure(double value, double low, double high)
{
	return (struct gus_figure){ value, { low, high } };
}

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

static void variants_are_told_by_their_names(void **state)
{
	static const struct { const char *a, *b; bool one; } cases[] = {
		{ "__memmove_avx_unaligned_erms", "__memmove_evex_unaligned_erms", true },
		{ "__memmove_avx_unaligned_erms", "__memmove_sse2_unaligned", true },
		{ "__memmove_avx_unaligned_erms", "__memmove_avx_unaligned_erms", true },
		{ "__strlen_avx2", "strlen", true }, { "strlen", "__strlen_evex", true },
		{ "__sin_fma", "__sin_fma4", true }, { "__memcpy_a64fx", "__memcpy_generic", true },
		{ "__memmove_avx_unaligned_erms", "__memset_avx2_unaligned_erms", false },
		{ "__strlen_avx2", "__strnlen_avx2", false }, { "__strlen_avx2", "__wcslen_avx2", false },
		/* no variants: names that only look like some, and functions that are in both */
		{ "main", "main", false }, { "parse_avxis", "parse_sse2", false }, { "parse_avxis", "parse", false },
		{ "_avx2", "__sse2", false }, { "parse__avx2", "parse__sse2", false }, { "", "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (gus_libvariant_is_same(cases[i].a, cases[i].b) != cases[i].one ||
		    gus_libvariant_is_same(cases[i].b, cases[i].a) != cases[i].one)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
}

static void verdicts_of_ratios(void **state)
{
	static const struct { double value, low, high, told; enum gus_trust want; } cases[] = {
		{ 1.00, 0.99, 1.01, 0.00, GUS_TRUST_FULL }, { 1.0999, 1.08, 1.12, 0.00, GUS_TRUST_FULL },
		{ 1.1001, 1.09, 1.13, 0.00, GUS_TRUST_DOUBTFUL }, { 0.9001, 0.89, 0.91, 0.00, GUS_TRUST_FULL },
		{ 0.8999, 0.88, 0.90, 0.00, GUS_TRUST_DOUBTFUL },
		/* it may be right, by its own error or by what is told of such figures */
		{ 1.12, 0.99, 1.25, 0.00, GUS_TRUST_FULL }, { 1.20, 1.18, 1.22, 0.18, GUS_TRUST_FULL },
		{ 1.20, 1.18, 1.22, 0.17, GUS_TRUST_DOUBTFUL },
		/* far, unless the interval or what is told reaches so far */
		{ 1.30, 1.26, 1.34, 0.00, GUS_TRUST_NONE }, { 1.30, 1.25, 1.35, 0.00, GUS_TRUST_DOUBTFUL },
		{ 1.50, 1.45, 1.55, 0.50, GUS_TRUST_FULL }, { 0.75, 0.74, 0.76, 0.00, GUS_TRUST_NONE },
		{ 0.79, 0.78, 0.81, 0.00, GUS_TRUST_DOUBTFUL },
		/* too coarse, but for what is far in any case */
		{ 1.00, 0.86, 1.14, 0.00, GUS_TRUST_OPEN }, { 1.00, 0.87, 1.131, 0.00, GUS_TRUST_FULL },
		{ 3.00, 1.50, 6.00, 0.00, GUS_TRUST_NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_figure ratio = figure(cases[i].value, cases[i].low, cases[i].high);
		enum gus_trust is = gus_trust_of(&ratio, cases[i].told);

		if (is != cases[i].want)
			fail_msg("case %zu: %s, not %s", i, gus_trust_name(is), gus_trust_name(cases[i].want));
	}
}

/* Another thread of the core makes a run longer, by up to twice, for the share of the time that looks found it. So what
 * is shorter than modelled, or by more than that longer, is off all the same, and what is right is right. */
static void verdicts_beside_another_thread(void **state)
{
	static const struct { double value, low, high; struct gus_looks looks; enum gus_trust want; } cases[] = {
		{ 1.81, 1.75, 1.87, { 4, 0 }, GUS_TRUST_NONE }, { 1.81, 1.75, 1.87, { 0, 0 }, GUS_TRUST_NONE },
		{ 1.81, 1.75, 1.87, { 4, 4 }, GUS_TRUST_OPEN }, { 1.20, 1.18, 1.22, { 4, 4 }, GUS_TRUST_OPEN },
		{ 1.05, 1.03, 1.07, { 4, 4 }, GUS_TRUST_FULL }, { 2.70, 2.60, 2.80, { 4, 4 }, GUS_TRUST_NONE },
		{ 0.70, 0.68, 0.72, { 4, 4 }, GUS_TRUST_NONE }, { 0.82, 0.81, 0.83, { 4, 4 }, GUS_TRUST_DOUBTFUL },
		/* one of forty: 13 % of the time at most */
		{ 1.50, 1.45, 1.55, { 40, 1 }, GUS_TRUST_NONE }, { 1.13, 1.12, 1.14, { 40, 1 }, GUS_TRUST_DOUBTFUL },
		{ 1.30, 1.28, 1.32, { 40, 1 }, GUS_TRUST_OPEN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_figure ratio = figure(cases[i].value, cases[i].low, cases[i].high);
		enum gus_trust is = gus_trust_beside(&ratio, 0, gus_trust_shared(&cases[i].looks));

		if (is != cases[i].want)
			fail_msg("case %zu: %s, not %s", i, gus_trust_name(is), gus_trust_name(cases[i].want));
	}
}

/* Time that is good, doubtful, bad and open. */
static void verdicts_of_wholes(void **state)
{
	static const struct { double time[GUS_TRUSTS]; enum gus_trust total, want; bool wide; } cases[] = {
		{ { 1, 0, 0, 0 }, GUS_TRUST_FULL, GUS_TRUST_FULL },
		{ { 1, 0, 0, 0 }, GUS_TRUST_DOUBTFUL, GUS_TRUST_DOUBTFUL },
		{ { 1, 0, 0, 0 }, GUS_TRUST_NONE, GUS_TRUST_NONE },
		{ { 1, 0, 0, 0 }, GUS_TRUST_OPEN, GUS_TRUST_FULL }, /* of shares */
		{ { 0.66, 0.34, 0, 0 }, GUS_TRUST_FULL, GUS_TRUST_DOUBTFUL },
		{ { 0.67, 0.33, 0, 0 }, GUS_TRUST_FULL, GUS_TRUST_FULL },
		{ { 0.64, 0, 0.36, 0 }, GUS_TRUST_FULL, GUS_TRUST_NONE },
		{ { 0.4, 0, 0.1, 0.5 }, GUS_TRUST_FULL, GUS_TRUST_FULL },
		{ { 0.4, 0, 0.09, 0.51 }, GUS_TRUST_FULL, GUS_TRUST_OPEN },
		/* Functions that are each too short to tell do not hide that all of them together are off, unless that
		 * is not known well either. */
		{ { 0, 0, 0, 1 }, GUS_TRUST_DOUBTFUL, GUS_TRUST_DOUBTFUL },
		{ { 0, 0, 0, 1 }, GUS_TRUST_NONE, GUS_TRUST_NONE },
		{ { 0, 0, 0, 1 }, GUS_TRUST_NONE, GUS_TRUST_OPEN, true },
		{ { 0, 0, 0, 1 }, GUS_TRUST_OPEN, GUS_TRUST_OPEN, true },
		{ { 0, 0, 0.49, 0.51 }, GUS_TRUST_NONE, GUS_TRUST_OPEN, true },
		{ { 0, 0, 0.5, 0.5 }, GUS_TRUST_NONE, GUS_TRUST_NONE, true },
		{ { 0.5, 0, 0, 0.5 }, GUS_TRUST_NONE, GUS_TRUST_NONE, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (gus_trust_whole(cases[i].time, cases[i].total, cases[i].wide) != cases[i].want)
			fail_msg("case %zu is not %s", i, gus_trust_name(cases[i].want));
}

/* Knobs. */

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

/* Forms. */

enum { REGIONS = 30, FEW = 12, FORMS = 40 };

/* A number from 0 to 1 that is the same each time. */
static double chance(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(*seed >> 33) / (double)(1u << 31);
}

struct made_forms { double missed[REGIONS], errors[REGIONS], counts[REGIONS * FORMS]; struct gus_residuals r; };

static void make_forms(struct made_forms *m, size_t regions, uint64_t seed)
{
	for (size_t i = 0; i < REGIONS * FORMS; i++)
		m->counts[i] = chance(&seed) < 0.5 ? 0 : 1000 * chance(&seed);
	for (size_t i = 0; i < REGIONS; i++) {
		m->missed[i] = 0;
		m->errors[i] = 50;
	}
	m->r = (struct gus_residuals){ regions, FORMS, m->missed, m->errors, m->counts };
}

static void two_forms_are_found(void **state)
{
	struct gus_residuals_fit fit;
	struct made_forms m;

	(void)state;
	make_forms(&m, REGIONS, 1);
	for (size_t i = 0; i < REGIONS; i++)
		m.missed[i] = 3 * m.counts[i * FORMS + 7] - 2 * m.counts[i * FORMS + 21];
	gus_residuals_fit(&m.r, &fit);
	assert_int_equal(fit.n, 2);
	assert_true((fit.form[0] == 7 && fit.form[1] == 21) || (fit.form[0] == 21 && fit.form[1] == 7));
	near(fit.cycles[fit.form[0] == 7 ? 0 : 1], 3, 0.1);
	near(fit.cycles[fit.form[0] == 7 ? 1 : 0], -2, 0.1);
	assert_true(fit.explained > 0.99 && fit.predicted > 0.9);
}

/* Of 40 forms three fit the chance of 12 regions well; of a region that was left out they say nothing. */
static void chance_is_fitted_and_not_foretold(void **state)
{
	unsigned fitted = 0, foretold = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct gus_residuals_fit fit;
		struct made_forms m;
		uint64_t other = seed + 1000;

		make_forms(&m, FEW, seed);
		for (size_t i = 0; i < REGIONS; i++)
			m.missed[i] = 1000 * (chance(&other) - 0.5);
		gus_residuals_fit(&m.r, &fit);
		fitted += fit.explained >= GUS_RESIDUALS_EXPLAINED;
		foretold += fit.predicted >= GUS_RESIDUALS_EXPLAINED;
	}
	assert_true(fitted >= 15);
	assert_true(foretold <= 2);
}

static void nothing_missed_is_explained_by_nothing(void **state)
{
	struct gus_residuals_fit fit;
	struct made_forms m;

	(void)state;
	make_forms(&m, REGIONS, 3);
	gus_residuals_fit(&m.r, &fit);
	assert_int_equal(fit.n, 0);
	near(fit.predicted, 0, 0);
}

/* A region that is known badly weighs little. */
static void errors_are_weights(void **state)
{
	struct gus_residuals_fit fit;
	struct made_forms m;

	(void)state;
	make_forms(&m, REGIONS, 1);
	for (size_t i = 0; i < REGIONS; i++)
		m.missed[i] = 3 * m.counts[i * FORMS + 7];
	m.missed[4] = 1e6;
	m.errors[4] = 1e9;
	gus_residuals_fit(&m.r, &fit);
	assert_int_equal(fit.form[0], 7);
	near(fit.cycles[0], 3, 0.1);
}

/* One form, 1 to 10 times, of which each is 2 cycles late: but for a hundredth of ridge it is all explained, and
 * foretold. However many they are, and whatever an error is. */
static void one_form_is_told_to_a_hundredth(void **state)
{
	static const double scales[] = { 1, 1e-4, 1 }, error[] = { 0.5, 0.5e-4, 5000 };
	double left = 0.01 / 1.01 * 0.01 / 1.01;

	(void)state;
	for (size_t k = 0; k < COUNT(scales); k++) {
		double missed[10], errors[10], counts[10][2];
		struct gus_residuals r = { 10, 2, missed, errors, counts[0] };
		struct gus_residuals_fit fit;

		for (size_t i = 0; i < 10; i++) {
			counts[i][0] = i % 2 ? 1000 : 900; /* has nothing to do with it, but goes along */
			counts[i][1] = (double)(i + 1) * scales[k];
			missed[i] = 2 * counts[i][1];
			errors[i] = error[k];
		}
		gus_residuals_fit(&r, &fit);
		assert_int_equal(fit.n, 1);
		assert_int_equal(fit.form[0], 1);
		near(fit.cycles[0], 2 / 1.01, 1e-9);
		near(fit.explained, 1 - left, 1e-9);
		near(fit.predicted, 1 - left, 1e-9);
	}
}

/* Of two that are always executed together nobody knows which it is: the first is told, and no other with it. */
static void of_forms_that_come_together_the_first_is_told(void **state)
{
	struct gus_residuals_fit fit;
	struct made_forms m;

	(void)state;
	make_forms(&m, REGIONS, 1);
	for (size_t i = 0; i < REGIONS; i++) {
		m.counts[i * FORMS + 21] = m.counts[i * FORMS + 7];
		m.missed[i] = 3 * m.counts[i * FORMS + 7];
	}
	gus_residuals_fit(&m.r, &fit);
	assert_int_equal(fit.n, 1);
	assert_int_equal(fit.form[0], 7);
	near(fit.cycles[0], 3, 0.1);
}

/* The join. Two regions of a trace: add rax, rbx and imul rax, rbx, and as much again. */

static const uint8_t code[] = { 0x48, 0x01, 0xd8, 0x48, 0x0f, 0xaf, 0xc3 };
static const uint8_t lengths[][1] = { { 3 }, { 4 } };

struct joined {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_traced t;
	struct gus_measured m;
	struct gus_compared c;
	struct gus_sensitivity knobs[1];
	uint64_t by_region[3], weights[3], by_insn[3];
	double instructions[3];
};

/* 3000 and 1000 cycles modelled, of 6000 and 1000 instructions; 900 and 100 samples of 1000 ns of two runs, at 4 GHz;
 * and a region of no time. */
static int setup(void **state)
{
	struct joined *s = gus_zalloc(sizeof(*s));

	s->u = made_table("skylake");
	s->p = made_program(s->u, code, sizeof(code));
	s->t = (struct gus_traced){ .program = s->p, .instructions = 7000, .cycles = { 4000, 3600 },
		.knobs = s->knobs, .knobs_n = 1, .ops_run = 1, .ops_timed = 1, .options = { .weight = weight } };
	strcpy(s->knobs[0].name, "reorder buffer");
	gus_vec_push(&s->t.regions, (struct gus_traced_region){ .executed = 1, .instructions = 6000,
		.cycles = { 3000, 2600 }, .other_cycles = 2400 });
	gus_vec_push(&s->t.regions, (struct gus_traced_region){ .executed = 1, .instructions = 1000,
		.cycles = { 1000, 1000 }, .other_cycles = 1000 });
	gus_vec_push(&s->t.regions, (struct gus_traced_region){ .executed = 0 });
	for (uint32_t i = 0; i < 3; i++) {
		gus_vec_push(&s->t.functions, (struct gus_traced_function){ .module = "" });
		s->t.regions.v[i].function = i;
	}
	for (uint32_t i = 0; i < 2; i++)
		gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = i, .executed = i ? 1000 : 6000,
			.insns_n = 1, .insn = i, .lengths = lengths[i], .mispredicted = i ? 5 : 0 });
	s->m = (struct gus_measured){ .runs = 2, .coverage = { .samples = 1250, .covered = 1000, .weight = 1250000,
		.covered_weight = 1000000, .weight2 = 1250e6, .kernel = 250, .kernel_weight = 250000,
		.by_region = s->by_region, .weights = s->weights, .by_insn = s->by_insn },
		.time = { GUS_OBSERVED, true, 1, 1, 1 }, .cycles = { GUS_INFERRED, true, 0.008, 0.0079, 0.0081 } };
	s->by_region[0] = 900;
	s->by_region[1] = 100;
	s->weights[0] = 900000;
	s->weights[1] = 100000;
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct joined *s = *state;

	gus_compared_free(&s->c);
	gus_vec_free(&s->m.covered);
	gus_vec_free(&s->t.regions);
	gus_vec_free(&s->t.blocks);
	gus_vec_free(&s->t.functions);
	gus_program_free(s->p);
	gus_uarch_free(s->u);
	free(s);
	return 0;
}

static void make(struct joined *s, double windows)
{
	gus_compared_make(&s->c, &s->t, &s->m, &(struct gus_compared_options){ .windows = windows });
}

static void cycles_of_a_run(void **state)
{
	struct joined *s = *state;
	const struct gus_compared_row *r;

	make(s, 0);
	assert_int_equal(s->c.basis, GUS_COMPARED_CYCLES);
	assert_int_equal(s->c.evidence, GUS_INFERRED);
	assert_int_equal(s->c.rows.n, 2);
	r = &s->c.rows.v[0];
	assert_int_equal(r->region, 0);
	near(r->share.value, 0.9, 1e-9);
	near(r->modelled_share, 0.75, 1e-9);
	near(r->measured.value, 3600, 1e-6);   /* of 1,000,000 ns in two runs 4000 cycles each */
	near(r->ratio.value, 1.2, 1e-9);
	/* 1.25 % by the clock, 3.5 % by 900 of 1250 samples: more than by 900 of 1000, as the kernel's are chance. */
	near(r->ratio.ci.low, 1.2 * (1 - 0.037), 0.002);
	near(r->ratio.ci.high, 1.2 * (1 + 0.037), 0.003);
	assert_int_equal(r->verdict, GUS_TRUST_DOUBTFUL);
	near(r->weak.first, 0.2, 1e-9);
	assert_int_equal(r->knobs_n, 1);
	near(r->knobs[0].factor, 1 / 1.3, 1e-9); /* 1000 + 2000 * 1.3 */
	r = &s->c.rows.v[1];
	near(r->ratio.value, 0.4, 1e-9);
	assert_int_equal(r->verdict, GUS_TRUST_NONE);
	near(r->weak.mispredicted, 5, 1e-9);
	assert_int_equal(r->knobs_n, 0);       /* it does not matter there */
	near(s->c.whole.ratio.value, 1, 1e-9);
	near(s->c.distance, 0.15, 1e-9);
	near(s->c.time[GUS_TRUST_DOUBTFUL] + s->c.time[GUS_TRUST_NONE], 1, 1e-9);
	assert_int_equal(s->c.whole.verdict, GUS_TRUST_DOUBTFUL);
	assert_int_equal(s->c.common.knob, -1); /* of two regions nothing is told */
}

/* Where the trace has another variant of a function, or goes another way through it, each is found by the other. */
static void what_stands_in_place_of_another(void **state)
{
	struct joined *s = *state;
	struct gus_coverage *c = &s->m.coverage;

	s->t.functions.v[0].name = "__memmove_avx_unaligned";
	s->t.functions.v[1].name = "__memmove_sse2";
	s->t.functions.v[0].module = s->t.functions.v[1].module = "/lib/libc.so.6";
	s->t.functions.v[2].name = "__strlen_avx2";
	s->t.functions.v[2].module = "/bin/other";
	strcpy(c->elsewhere[0].name, "__strlen_evex [libc.so.6]");
	strcpy(c->elsewhere[1].name, "__memmove_evex_unaligned [libc.so.6]");
	strcpy(c->elsewhere[2].name, "[unknown] [libc.so.6]");
	c->elsewhere_n = 3;
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 0), GUS_TRACED_NONE); /* another file's */
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 1), 0);               /* 3000 cycles, not 1000 */
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 2), GUS_TRACED_NONE);
	assert_int_equal(gus_libvariant_measured(&s->t, c, 0), 1);
	assert_int_equal(gus_libvariant_measured(&s->t, c, 1), 1);
	assert_int_equal(gus_libvariant_measured(&s->t, c, 2), GUS_TRACED_NONE);
	c->elsewhere_n = 1; /* the other is told no more */
	assert_int_equal(gus_libvariant_measured(&s->t, c, 0), GUS_TRACED_NONE);
	c->elsewhere_n = 3;
	s->t.functions.v[0].name = NULL;
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 1), 1);
	strcpy(c->elsewhere[1].name, "__memmove_sse2 [libc.so.6]");           /* itself */
	assert_int_equal(gus_libvariant_modelled(&s->t, c, 1), 1);
}

/* Loops and functions of a run that is too short: far off as a whole, but nobody knows how far. */
static void of_a_short_run_nothing_is_told(void **state)
{
	struct joined *s = *state;

	s->m.coverage.weight2 = 1250e9 / 8; /* ten samples are as good */
	s->weights[0] = s->weights[1] = 500000;
	s->m.cycles.factor = 0.018;
	s->m.cycles.low = 0.0179;
	s->m.cycles.high = 0.0181;
	make(s, 0);
	assert_true(s->c.time[GUS_TRUST_OPEN] > 0.5);
	assert_true(s->c.whole.ratio.ci.low > 1.25);
	assert_int_equal(s->c.whole.verdict, GUS_TRUST_OPEN);
}

/* The same, as two loops of one function: together they are right. */
static void loops_of_a_function(void **state)
{
	struct joined *s = *state;

	s->t.regions.v[1].function = 0;
	make(s, 0);
	assert_int_equal(s->c.rows.v[0].verdict, GUS_TRUST_DOUBTFUL);
	assert_int_equal(s->c.rows.v[1].verdict, GUS_TRUST_NONE);
	for (size_t i = 0; i < 2; i++) {
		near(s->c.rows.v[i].function_ratio.value, 1, 1e-9);
		assert_int_equal(s->c.rows.v[i].function_verdict, GUS_TRUST_FULL);
	}
	near(s->c.time[GUS_TRUST_FULL], 1, 1e-9);
	assert_int_equal(s->c.whole.verdict, GUS_TRUST_FULL);
}

/* Of runs that differ less is known than samples alone say. */
static void runs_that_differ(void **state)
{
	struct joined *s = *state;
	double before;

	make(s, 0);
	before = s->c.rows.v[0].ratio.ci.high;
	gus_compared_free(&s->c);
	gus_vec_push(&s->m.covered, 480000.0);
	gus_vec_push(&s->m.covered, 520000.0);
	make(s, 0);
	assert_true(s->c.rows.v[0].ratio.ci.high > before + 0.2); /* by Student's t of two */
	near(s->c.rows.v[0].ratio.value, 1.2, 1e-9);
}

/* A region's error is of what was sampled of it; a function's and that of all are of their own. */
static void what_was_timed_in_part_has_an_error(void **state)
{
	struct joined *s = *state;

	s->t.regions.v[0].errors[0] = 60;
	s->t.regions.v[1].errors[0] = 80;
	s->t.errors[0] = 40;
	make(s, 0);
	near(s->c.rows.v[0].error, 0, 0);
	assert_int_equal(s->c.whole.instructions, 7000);
	gus_compared_free(&s->c);
	s->t.ops_run = 2;
	s->t.warmed = 3000; /* which do not count */
	s->t.regions.v[1].function = 0;
	make(s, 0);
	near(s->c.rows.v[0].error, 1.96 * 60 / 3000, 1e-9);
	near(s->c.rows.v[1].error, 1.96 * 80 / 1000, 1e-9);
	near(s->c.whole.error, 1.96 * 40 / 4000, 1e-9);
	assert_int_equal(s->c.whole.instructions, 4000);
	/* 1 in all, by 1.25 % of the clock, by samples, and by 1.96 * 100 / 4000 */
	assert_true(s->c.rows.v[0].function_ratio.ci.high > 1 + 1.96 * 100 / 4000);
	assert_true(s->c.rows.v[0].function_ratio.ci.high < 1 + 1.96 * 100 / 4000 * 1.2);
}

/* The core engine's cycles are 2700 and 900; knobs are brought to its scale. */
static void cycles_of_the_core_engine(void **state)
{
	struct joined *s = *state;
	const struct gus_compared_row *r;

	s->t.core_cycles = 3600;
	s->t.regions.v[0].core_cycles = 2700;
	s->t.regions.v[1].core_cycles = 900;
	s->t.regions.v[0].errors[0] = 60;
	s->t.ops_run = 2;
	gus_compared_make(&s->c, &s->t, &s->m, &(struct gus_compared_options){ .core = true });
	r = &s->c.rows.v[0];
	near(r->modelled, 2700, 1e-9);
	near(r->nominal, 3000, 1e-9);
	near(r->modelled_share, 0.75, 1e-9);
	near(r->error, 1.96 * 60 / 3000, 1e-9);
	near(r->ratio.value, 4. / 3, 1e-9);
	near(r->function_ratio.value, 4. / 3, 1e-9);
	near(r->knobs[0].factor, 1 / 1.5, 1e-9); /* 3000 * 4 / 3 are 1000 + 2000 * 1.5 */
	near(s->c.whole.modelled, 3600, 1e-9);
	near(s->c.distance, 0.15, 1e-9);
}

/* Regions with a ten thousandth of either share are there, ordered by the larger one, and by number. */
static void rows_stand_in_their_order(void **state)
{
	static const struct { double cycles; uint64_t weight; } regions[] = { { 50, 300 }, { 400, 100 }, { 1.1, 0 },
		{ 0, 1 }, { 400, 0 }, { 0, 0 }, { 9149, 9599 } };
	static const uint32_t want[] = { 6, 1, 4, 0, 2, 3 };
	struct joined *s = *state;
	uint64_t by_region[COUNT(regions)] = { 0 }, weights[COUNT(regions)];

	s->t.regions.n = s->t.functions.n = s->t.blocks.n = 0;
	s->t.cycles[0] = s->m.coverage.covered_weight = s->m.coverage.weight = 0;
	for (uint32_t i = 0; i < COUNT(regions); i++) {
		gus_vec_push(&s->t.regions, (struct gus_traced_region){ .function = i, .executed = 1,
			.cycles = { regions[i].cycles, regions[i].cycles } });
		gus_vec_push(&s->t.functions, (struct gus_traced_function){ .module = "" });
		s->t.cycles[0] += regions[i].cycles;
		s->m.coverage.covered_weight += weights[i] = regions[i].weight;
	}
	s->m.coverage.weight = s->m.coverage.covered_weight;
	s->m.coverage.by_region = by_region;
	s->m.coverage.weights = weights;
	s->t.ops_run = 2; /* timed in part, and one in no part */
	make(s, 0);
	assert_int_equal(s->c.rows.n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(s->c.rows.v[i].region, want[i]);
		near(s->c.rows.v[i].error, 0, 0);
	}
}

/* Ten regions, of which each executes imul and add so many times. late: cycles that each add takes more than modelled;
 * less: what one had of the knob's capacity, of which half of each region's time is. */
enum { MANY = 10 };

static void make_many(struct joined *s, double late, double less, size_t regions)
{
	static const double adds[MANY] = { 10, 500, 40, 900, 160, 300, 700, 20, 650, 90 };
	uint64_t by_region[MANY], weights[MANY];

	s->t.regions.n = s->t.functions.n = s->t.blocks.n = 0;
	s->t.cycles[0] = 0;
	s->m.coverage = (struct gus_coverage){ .by_region = by_region, .weights = weights, .by_insn = s->by_insn };
	for (uint32_t i = 0; i < regions; i++) {
		double modelled = 1000 + 100 * i, measured = modelled + late * adds[i] + modelled / 2 * less;

		gus_vec_push(&s->t.functions, (struct gus_traced_function){ .module = "" });
		gus_vec_push(&s->t.regions, (struct gus_traced_region){ .function = i, .executed = 1,
			.instructions = 1000, .cycles = { modelled, modelled * 0.9 } });
		for (uint32_t k = 0; k < 2; k++)
			gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = i, .insns_n = 1, .insn = k,
				.executed = k ? 300 : (uint64_t)adds[i], .lengths = lengths[k] });
		s->t.cycles[0] += modelled;
		by_region[i] = (uint64_t)measured;
		s->m.coverage.weight += weights[i] = (uint64_t)llround(measured * 250);
	}
	s->m.coverage.covered_weight = s->m.coverage.weight;
	s->m.coverage.weight2 = 10 * (double)s->m.coverage.weight; /* samples of a weight of 10 each */
	make(s, 0);
}

static void a_form_that_is_late_is_told(void **state)
{
	struct joined *s = *state;

	make_many(s, 2, 0, MANY);
	assert_int_equal(s->c.common_of, MANY);
	assert_int_equal(s->c.forms.n, 1);
	assert_true(s->c.hashes[s->c.forms.form[0]] == s->p->insns[0].info.form);
	near(s->c.forms.cycles[0], 2, 0.05);
	assert_true(s->c.forms.predicted > 0.95);
	assert_int_equal(s->c.common.knob, 0); /* which explains some of it, too */
	assert_true(s->c.common.explained < s->c.forms.explained);
	gus_compared_free(&s->c);
	make_many(s, 2, 0, 7); /* of less than eight nothing is told */
	assert_int_equal(s->c.common_of, 7);
	assert_int_equal(s->c.forms.n, 0);
	gus_compared_free(&s->c);
	make_many(s, 2, 0, 8);
	assert_int_equal(s->c.forms.n, 1);
}

static void a_knob_that_is_off_everywhere_is_told(void **state)
{
	struct joined *s = *state;

	make_many(s, 0, 0.25, 3);
	assert_int_equal(s->c.common_of, 3);
	assert_int_equal(s->c.common.knob, 0);
	near(s->c.common.factor, 0.8, 1e-3);
	near(s->c.common.explained, 1, 1e-3);
	gus_compared_free(&s->c);
	make_many(s, 0, 0.25, 2); /* of less than three nothing is told */
	assert_int_equal(s->c.common_of, 2);
	assert_int_equal(s->c.common.knob, -1);
	gus_compared_free(&s->c);
	make_many(s, 0, 0.001, MANY); /* nor of what is within its error */
	assert_int_equal(s->c.common_of, MANY);
	assert_int_equal(s->c.common.knob, -1);
	assert_int_equal(s->c.forms.n, 0);
}

static void of_a_part_shares_are_compared(void **state)
{
	struct joined *s = *state;

	make(s, 1000);
	assert_int_equal(s->c.basis, GUS_COMPARED_SHARES);
	assert_int_equal(s->c.evidence, GUS_OBSERVED);
	near(s->c.rows.v[0].ratio.value, 9.0 / 3, 1e-9); /* nine times the other one, not three times */
	near(s->c.rows.v[1].ratio.value, 3 / 9.0, 1e-9);
	near(s->c.whole.measured.value, 0, 0);
	near(s->c.whole.ratio.value, 0, 0); /* of all there is none */
	near(s->c.whole.ratio.ci.low, 0, 0);
	assert_true(isinf(s->c.whole.ratio.ci.high));
	assert_int_equal(s->c.whole.verdict, GUS_TRUST_NONE);
}

/* Two windows may have been of anything. */
static void few_windows_say_nothing(void **state)
{
	struct joined *s = *state;

	s->weights[0] = 800000;
	s->weights[1] = 200000;
	make(s, 2);
	assert_int_equal(s->c.rows.v[0].verdict, GUS_TRUST_OPEN);
	assert_int_equal(s->c.rows.v[1].verdict, GUS_TRUST_OPEN);
	assert_true(s->c.rows.v[0].ratio.ci.low < 0.5 && s->c.rows.v[0].ratio.ci.high > 2);
	assert_int_equal(s->c.rows.v[0].knobs_n, 0);
}

/* A region with all of the time is right whatever it takes. */
static void of_shares_all_the_time_says_nothing(void **state)
{
	struct joined *s = *state;

	s->by_region[0] += s->by_region[1];
	s->weights[0] += s->weights[1];
	s->by_region[1] = s->weights[1] = 0;
	s->t.regions.v[0].cycles[0] = 3990;
	s->t.regions.v[1].cycles[0] = 10;
	make(s, 1000);
	assert_int_equal(s->c.rows.v[0].verdict, GUS_TRUST_OPEN);
	assert_int_equal(s->c.rows.v[1].verdict, GUS_TRUST_OPEN);
	assert_int_equal(s->c.whole.verdict, GUS_TRUST_OPEN);
}

/* Instructions that the recording has counted: the trace is a thousandth of the run. */
static void of_a_part_with_instructions_cycles_per_instruction(void **state)
{
	struct joined *s = *state;

	s->m.instructions = s->instructions;
	s->instructions[0] = 12e3;
	s->instructions[1] = 800;
	make(s, 1000);
	assert_int_equal(s->c.basis, GUS_COMPARED_PER_INSTRUCTION);
	near(s->c.rows.v[0].measured.value, 3600, 1e-6); /* 7200 cycles of 12000, where the trace has 6000 */
	near(s->c.rows.v[1].measured.value, 1000, 1e-6); /* 800 cycles of 800 */
	near(s->c.rows.v[1].ratio.value, 1, 1e-9);
	near(s->c.rows.v[1].error, 0, 0);
	near(s->c.whole.measured.value, 8000. / 12800 * 7000, 1e-6);
	gus_compared_free(&s->c);
	s->t.regions.v[1].function = 0;
	make(s, 1000);
	near(s->c.rows.v[0].function_ratio.value, 8000. / 12800 * 7000 / 4000, 1e-9);
	gus_compared_free(&s->c);
	s->instructions[1] = 0; /* nothing was counted there, so nothing is known */
	make(s, 1000);
	near(s->c.rows.v[1].measured.value, 0, 0);
	near(s->c.rows.v[1].measured.ci.low, 0, 0);
	assert_true(isinf(s->c.rows.v[1].measured.ci.high));
	assert_int_equal(s->c.rows.v[1].verdict, GUS_TRUST_OPEN);
}

static void without_a_frequency_shares_are_compared(void **state)
{
	struct joined *s = *state;

	s->m.cycles = (struct gus_scale){ GUS_UNKNOWN, false, 0, 0, 0 };
	make(s, 0);
	assert_int_equal(s->c.basis, GUS_COMPARED_SHARES);
}

static void a_region_that_was_never_sampled(void **state)
{
	struct joined *s = *state;

	s->by_region[0] += s->by_region[1];
	s->weights[0] += s->weights[1];
	s->by_region[1] = s->weights[1] = 0;
	make(s, 0);
	assert_int_equal(s->c.rows.v[1].region, 1);
	near(s->c.rows.v[1].ratio.value, 0, 0);
	assert_true(s->c.rows.v[1].ratio.ci.high < 0.02);
	assert_int_equal(s->c.rows.v[1].verdict, GUS_TRUST_NONE);
}

/* Of each region, and of both: unknown instructions, cycles of lines that were touched for the first time, accesses
 * that go far, and branches that go wrong. Where the other end was not followed nothing is told of it. */
static void weaknesses_are_told_by_region(void **state)
{
	struct joined *s = *state;
	struct gus_traced_memory memories[] = {
		{ .accesses = 100, .hits = { [GUS_HIT_L1] = 70, [GUS_HIT_L3] = 20, [GUS_HIT_MEMORY] = 10 } },
		{ .accesses = 100, .hits = { [GUS_HIT_L1] = 90, [GUS_HIT_L2] = 5, [GUS_HIT_L3] = 5 } },
		{ .accesses = 300, .hits = { [GUS_HIT_L1] = 285, [GUS_HIT_MEMORY] = 15 } } };
	const struct gus_compared_weak want[] = { { 0, 0.2, 35. / 200, 1 }, { 1, 0.5, 0.05, 7 }, { 0, 0, 0, 0 },
		{ 1000. / 5000, 0.25, 50. / 500, 1000 * 13. / 5000 } };
	struct gus_compared_weak *weak;

	s->p->ops[s->p->insns[1].op].flags |= GUS_OP_UNKNOWN;
	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 1, .executed = 300, .insns_n = 1, .insn = 1,
		.lengths = lengths[1] });
	gus_vec_push(&s->t.blocks, s->t.blocks.v[2]);
	s->t.warmed = 2000;
	s->t.other_cycles = 3000;
	s->t.regions.v[1].other_cycles = 2000; /* which end is the larger one does not matter */
	for (size_t i = 0; i < COUNT(memories); i++)
		gus_vec_push(&s->t.memories, memories[i]);
	s->t.blocks.v[0].memories_n = 2;
	s->t.blocks.v[0].mispredicted = 6;
	s->t.blocks.v[1].executed = 400;
	s->t.blocks.v[1].memory = 2;
	s->t.blocks.v[1].memories_n = 1;
	s->t.blocks.v[1].mispredicted = 7;
	weak = gus_compared_weak_find(&s->t);
	for (size_t i = 0; i < COUNT(want); i++) {
		near(weak[i].unknown, want[i].unknown, 1e-9);
		near(weak[i].first, want[i].first, 1e-9);
		near(weak[i].beyond, want[i].beyond, 1e-9);
		near(weak[i].mispredicted, want[i].mispredicted, 1e-9);
	}
	free(weak);
	s->t.regions.v[0].other_cycles = 0;
	s->t.regions.v[1].other_cycles = 1; /* of 1000 */
	s->t.regions.v[1].instructions = s->t.blocks.v[1].executed = 1;
	s->t.blocks.n = 2;
	s->t.memories.v[2] = (struct gus_traced_memory){ .accesses = 1, .hits = { [GUS_HIT_L3] = 1 } };
	weak = gus_compared_weak_find(&s->t);
	near(weak[0].first, 0, 0);
	near(weak[1].first, 0.999, 1e-9);
	near(weak[1].unknown, 1, 0); /* of one instruction, and one access */
	near(weak[1].beyond, 1, 0);
	free(weak);
	gus_vec_free(&s->t.memories);
}

/* By region in the order asked for, and form in the order of blocks. */
static void forms_are_counted(void **state)
{
	static const uint32_t both[] = { 1, 0 }, one[] = { 1 };
	struct joined *s = *state;
	struct gus_compared_forms f;

	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 1, .executed = 30, .insns_n = 2, .insn = 0,
		.lengths = lengths[0] });
	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 0, .executed = 0, .insns_n = 2, .insn = 0,
		.lengths = lengths[0] });
	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 2, .executed = 9, .insns_n = 2, .insn = 0,
		.lengths = lengths[0] });
	gus_compared_forms_count(&s->t, both, 2, &f);
	assert_int_equal(f.n, 2);
	assert_true(f.hashes[0] == s->p->insns[0].info.form && f.hashes[1] == s->p->insns[1].info.form);
	near(f.counts[0], 30, 0);      /* region 1: adds, and multiplications */
	near(f.counts[1], 1030, 0);
	near(f.counts[2], 6000, 0);    /* region 0 */
	near(f.counts[3], 0, 0);
	free(f.hashes);
	free(f.counts);
	s->t.blocks.v[2].executed = 0;
	gus_compared_forms_count(&s->t, one, 1, &f);
	assert_int_equal(f.n, 1);
	assert_true(f.hashes[0] == s->p->insns[1].info.form);
	near(f.counts[0], 1000, 0);
	free(f.hashes);
	free(f.counts);
	gus_compared_forms_count(&s->t, NULL, 0, &f);
	assert_int_equal(f.n, 0);
	free(f.hashes);
	free(f.counts);
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
		cmocka_unit_test(variants_are_told_by_their_names),
		cmocka_unit_test(parts_have_the_errors_of_all_that_they_are_made_of),
		cmocka_unit_test(shares_against_the_rest),
		cmocka_unit_test(verdicts_of_ratios),
		cmocka_unit_test(verdicts_beside_another_thread),
		cmocka_unit_test(verdicts_of_wholes),
		cmocka_unit_test(the_least_change_is_first),
		cmocka_unit_test(more_of_it_where_it_was_faster),
		cmocka_unit_test(the_nearest_are_kept),
		cmocka_unit_test(what_is_within_its_error_is_no_answer),
		cmocka_unit_test(one_knob_for_all),
		cmocka_unit_test(what_is_left_is_not_explained),
		cmocka_unit_test(two_forms_are_found),
		cmocka_unit_test(chance_is_fitted_and_not_foretold),
		cmocka_unit_test(nothing_missed_is_explained_by_nothing),
		cmocka_unit_test(errors_are_weights),
		cmocka_unit_test(one_form_is_told_to_a_hundredth),
		cmocka_unit_test(of_forms_that_come_together_the_first_is_told),
		cmocka_unit_test(what_has_no_upper_bound),
		cmocka_unit_test_setup_teardown(forms_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(weaknesses_are_told_by_region, setup, teardown),
		cmocka_unit_test_setup_teardown(cycles_of_a_run, setup, teardown),
		cmocka_unit_test_setup_teardown(what_stands_in_place_of_another, setup, teardown),
		cmocka_unit_test_setup_teardown(of_a_short_run_nothing_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(loops_of_a_function, setup, teardown),
		cmocka_unit_test_setup_teardown(runs_that_differ, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_timed_in_part_has_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(cycles_of_the_core_engine, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_stand_in_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(a_form_that_is_late_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(a_knob_that_is_off_everywhere_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(of_a_part_shares_are_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(few_windows_say_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(of_shares_all_the_time_says_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(of_a_part_with_instructions_cycles_per_instruction, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_frequency_shares_are_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(a_region_that_was_never_sampled, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
