/* SPDX-License-Identifier: MIT */
/* attribution/compared/trust: verdicts of ratios, of those measured beside another thread, and of wholes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/compared/trust.h"
#include "made_figure.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

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
	static const struct {
		double value, low, high;
		struct gus_looks looks;
		enum gus_trust want;
		bool against;
	} cases[] = {
		{ 1.81, 1.75, 1.87, { 4, 0 }, GUS_TRUST_NONE }, { 1.81, 1.75, 1.87, { 0, 0 }, GUS_TRUST_NONE },
		{ 1.81, 1.75, 1.87, { 4, 4 }, GUS_TRUST_OPEN }, { 1.20, 1.18, 1.22, { 4, 4 }, GUS_TRUST_OPEN },
		{ 1.05, 1.03, 1.07, { 4, 4 }, GUS_TRUST_FULL }, { 2.70, 2.60, 2.80, { 4, 4 }, GUS_TRUST_NONE },
		{ 0.70, 0.68, 0.72, { 4, 4 }, GUS_TRUST_NONE }, { 0.82, 0.81, 0.83, { 4, 4 }, GUS_TRUST_DOUBTFUL },
		/* one of forty: 13 % of the time at most */
		{ 1.50, 1.45, 1.55, { 40, 1 }, GUS_TRUST_NONE }, { 1.13, 1.12, 1.14, { 40, 1 }, GUS_TRUST_DOUBTFUL },
		{ 1.30, 1.28, 1.32, { 40, 1 }, GUS_TRUST_OPEN },
		/* against all else, which may have taken longer, too */
		{ 0.70, 0.68, 0.72, { 4, 4 }, GUS_TRUST_OPEN, true },
		{ 0.70, 0.68, 0.72, { 4, 0 }, GUS_TRUST_NONE, true },
		{ 0.35, 0.34, 0.36, { 4, 4 }, GUS_TRUST_NONE, true },
		{ 1.81, 1.75, 1.87, { 4, 4 }, GUS_TRUST_OPEN, true },
		{ 0.95, 0.94, 0.96, { 4, 4 }, GUS_TRUST_FULL, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_figure ratio = figure(cases[i].value, cases[i].low, cases[i].high);
		enum gus_trust is = gus_trust_beside(&ratio, 0, gus_trust_shared(&cases[i].looks),
						     cases[i].against);

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
		{ { 2, 0, 1, 0 }, GUS_TRUST_FULL, GUS_TRUST_FULL }, /* just as much as may be */
		{ { 0.4, 0, 0.1, 0.5 }, GUS_TRUST_FULL, GUS_TRUST_FULL },
		{ { 0.4, 0, 0.09, 0.51 }, GUS_TRUST_FULL, GUS_TRUST_OPEN },
		/* Functions that are each too short to tell do not hide that all of them together are off, unless that
		 * is not known well either. */
		{ { 0, 0, 0, 1 }, GUS_TRUST_DOUBTFUL, GUS_TRUST_DOUBTFUL },
		{ { 0, 0, 0, 1 }, GUS_TRUST_NONE, GUS_TRUST_NONE },
		{ { 0, 0, 0, 1 }, GUS_TRUST_OPEN, GUS_TRUST_OPEN },
		{ { 0.1, 0, 0.3, 0.6 }, GUS_TRUST_DOUBTFUL, GUS_TRUST_DOUBTFUL },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_of_ratios),
		cmocka_unit_test(verdicts_beside_another_thread),
		cmocka_unit_test(verdicts_of_wholes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
