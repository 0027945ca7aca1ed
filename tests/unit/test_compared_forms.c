/* SPDX-License-Identifier: MIT */
/* attribution/compared/forms and residuals: which forms of instructions explain what the model misses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/compared/forms.h"
#include "attribution/compared/residuals.h"
#include "made_figure.h"
#include "made_joined.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

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

/* By region in the order asked for, and form in the order of blocks. */
static void forms_are_counted(void **state)
{
	static const uint32_t both[] = { 1, 0 }, one[] = { 1 };
	struct joined *s = *state;
	struct gus_compared_forms f;

	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 1, .executed = 30, .insns_n = 2, .insn = 0,
		.lengths = made_lengths[0] });
	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 0, .executed = 0, .insns_n = 2, .insn = 0,
		.lengths = made_lengths[0] });
	gus_vec_push(&s->t.blocks, (struct gus_traced_block){ .region = 2, .executed = 9, .insns_n = 2, .insn = 0,
		.lengths = made_lengths[0] });
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_forms_are_found),
		cmocka_unit_test(chance_is_fitted_and_not_foretold),
		cmocka_unit_test(nothing_missed_is_explained_by_nothing),
		cmocka_unit_test(errors_are_weights),
		cmocka_unit_test(one_form_is_told_to_a_hundredth),
		cmocka_unit_test(of_forms_that_come_together_the_first_is_told),
		cmocka_unit_test_setup_teardown(forms_are_counted, made_joined, made_joined_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
