/* SPDX-License-Identifier: MIT */
/* Measured rates: as often as told, evenly, and the same each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/oracles/rates.h"

/* After a round of what was counted each level was answered as often as told; within it no more than one off for each
 * choice. */
static void test_levels(void **state)
{
	static const struct gus_rates_memory cases[] = {
		{ { 90, 7, 2, 1 }, { 97, 2, 1 } }, { { 1, 1, 1, 1 }, { 1, 1, 1 } }, { { 0, 0, 0, 5 }, { 0, 0, 5 } },
			{ { 1000003, 0, 17, 1 }, { 1, 0, 0 } },
		{ { 0, 1, 0, 0 }, { 3, 0, 4 } },
	};
	struct gus_rates *r = gus_rates_new(5, 0);

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(gus_rates_set_memory(r, i, &cases[i], NULL), 0);
	for (uint32_t i = 0; i < 5; i++) {
		const uint64_t *told = cases[i].hits, *tlb_told = cases[i].tlb;
		uint64_t total = told[0] + told[1] + told[2] + told[3], tlb_total = tlb_told[0] + tlb_told[1] +
			tlb_told[2];
		uint64_t got[GUS_HITS] = { 0 }, tlb_got[3] = { 0 };

		for (uint64_t n = 1; n <= total * tlb_total; n++) {
			enum gus_hit level;
			enum gus_tlb tlb;

			gus_rates_access(r, i, &level, &tlb);
			got[level]++;
			tlb_got[tlb]++;
			for (unsigned k = 0; k < GUS_HITS; k++) {
				double off = (double)got[k] - (double)told[k] * (double)n / (double)total;

				assert_true(off > -4 && off < 4);
			}
			if (n % total == 0)
				for (unsigned k = 0; k < GUS_HITS; k++)
					assert_int_equal(got[k], told[k] * (n / total));
			if (n % tlb_total == 0)
				for (unsigned k = 0; k < 3; k++)
					assert_int_equal(tlb_got[k], tlb_told[k] * (n / tlb_total));
		}
	}
	assert_int_equal(gus_rates_asked(r)->unknown_accesses, 0);
	gus_rates_free(r);
}

/* One of ten: every tenth, never two in a row; and two branches with this rate not at the same time. */
static void test_branches(void **state)
{
	struct gus_rates *r = gus_rates_new(0, 2);
	struct gus_rates_branch rate = { 1000, 100 };
	unsigned last = 0, together = 0, wrong = 0;

	(void)state;
	assert_int_equal(gus_rates_set_branch(r, 0, &rate, NULL), 0);
	assert_int_equal(gus_rates_set_branch(r, 1, &rate, NULL), 0);
	for (unsigned n = 1; n <= 1000; n++) {
		bool one = gus_rates_mispredicted(r, 0), other = gus_rates_mispredicted(r, 1);

		together += one && other;
		if (!one)
			continue;
		wrong++;
		assert_true(last == 0 || n - last == 10);
		last = n;
	}
	assert_int_equal(wrong, 100);
	assert_int_equal(together, 0);
	gus_rates_free(r);
}

/* In bursts of a hundred in a thousand, which is as often as told: when they come is the guess's. */
static bool burst(unsigned n)
{
	return n % 1000 < 100;
}

static bool never(unsigned n)
{
	(void)n;
	return false;
}

static bool always(unsigned n)
{
	(void)n;
	return true;
}

/* Whatever is guessed, one in ten is: to one in sixteen of them, and at last to so many as may be ahead; and a
 * round begins anywhere. */
static void test_guesses(void **state)
{
	bool (*const guesses[])(unsigned n) = { burst, never, always };
	unsigned as_guessed = 0;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct gus_rates *r = gus_rates_new(1, 1);
		struct gus_rates_branch rate = { 1000, 100 };
		struct gus_rates_memory m = { { 900, 100, 0, 0 }, { 1, 0, 0 } };
		double wrong = 0, far = 0;

		assert_int_equal(gus_rates_set_branch(r, 0, &rate, NULL), 0);
		assert_int_equal(gus_rates_set_memory(r, 0, &m, NULL), 0);
		for (unsigned n = 0; n < 1000000; n++) {
			const bool guess = guesses[k](n);
			enum gus_hit level = guess ? GUS_HIT_L2 : GUS_HIT_L1;
			enum gus_tlb tlb = GUS_TLB_WALK;
			const bool is_wrong = gus_rates_mispredicted_like(r, 0, guess);
			const double due = (n + 1) / 10., most = due / GUS_RATES_LOOSE < GUS_RATES_AHEAD ?
				due / GUS_RATES_LOOSE : GUS_RATES_AHEAD;

			gus_rates_access_like(r, 0, &level, &tlb);
			assert_int_equal(tlb, GUS_TLB_HIT); /* never a walk, however often that is guessed */
			assert_true(level <= GUS_HIT_L2);
			wrong += is_wrong;
			far += level == GUS_HIT_L2;
			if (fabs(wrong - due) > most + 1.5 || fabs(far - due) > most + 1.5)
				fail_msg("guess %u, %u answers: %g and %g instead of %g", k, n + 1, wrong, far, due);
			if (k == 0 && n >= 100000)
				as_guessed += is_wrong == guess && (level == GUS_HIT_L2) == guess;
		}
		gus_rates_free(r);
	}
	if (as_guessed < 890000)
		fail_msg("%u of 900000 answers were those of bursts", as_guessed);
}

/* What nothing is known about is L1 and predicted, and said. */
static void test_unknown(void **state)
{
	struct gus_rates *r = gus_rates_new(2, 2);
	struct gus_rates_memory m = { { 0, 1, 0, 0 }, { 0 } };
	enum gus_hit level;
	enum gus_tlb tlb;

	(void)state;
	assert_int_equal(gus_rates_set_memory(r, 1, &m, NULL), 0);
	gus_rates_access(r, 0, &level, &tlb);
	assert_true(level == GUS_HIT_L1 && tlb == GUS_TLB_HIT);
	gus_rates_access(r, 1, &level, &tlb); /* levels were measured, translation was not */
	assert_true(level == GUS_HIT_L2 && tlb == GUS_TLB_HIT);
	assert_false(gus_rates_mispredicted(r, 1));
	assert_int_equal(gus_rates_asked(r)->accesses, 2);
	assert_int_equal(gus_rates_asked(r)->unknown_accesses, 1);
	assert_int_equal(gus_rates_asked(r)->unknown_branches, 1);
	gus_rates_free(r);
}

static void test_refused(void **state)
{
	struct gus_rates *r = gus_rates_new(1, 1);
	struct gus_rates_memory m = { { UINT64_C(1) << 62, 0, 0, 0 }, { 0 } }, good = { { 1, 0, 0, 0 }, { 0 } };
	struct gus_rates_branch more = { 1, 2 };
	struct gus_error err = { 0 };

	(void)state;
	assert_int_equal(gus_rates_set_memory(r, 0, &m, &err), -1);
	assert_non_null(strstr(err.text, "2^62"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(gus_rates_set_memory(r, 1, &good, &err), -1);
	assert_non_null(strstr(err.text, "access 1"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(gus_rates_set_branch(r, 0, &more, &err), -1);
	assert_non_null(strstr(err.text, "2 mispredicted of 1"));
	gus_rates_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels), cmocka_unit_test(test_branches), cmocka_unit_test(test_unknown),
			cmocka_unit_test(test_guesses),
			cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
