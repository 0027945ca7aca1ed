/* SPDX-License-Identifier: MIT */
/* attribution/compared: the whole comparison, of a trace and a measurement whose answers are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/compared/compared.h"
#include "made_figure.h"
#include "made_joined.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

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

/* Half of the time is right, and the other half took longer beside another thread: then so did the whole, and what is
 * right of it does not make that right. */
static void beside_another_thread_nothing_is_told_of_the_whole(void **state)
{
	const struct gus_compared_options how = { .looks = { 4, 4 } };
	struct joined *s = *state;

	s->weights[0] = 625000;
	s->weights[1] = 375000;
	s->m.cycles.factor *= 1.2;
	s->m.cycles.low *= 1.2;
	s->m.cycles.high *= 1.2;
	gus_compared_make(&s->c, &s->t, &s->m, &how);
	assert_int_equal(s->c.rows.v[0].verdict, GUS_TRUST_FULL);
	assert_int_equal(s->c.rows.v[1].verdict, GUS_TRUST_OPEN);
	assert_true(s->c.rows.v[1].shared);
	assert_true(s->c.time[GUS_TRUST_FULL] > 0.5);
	near(s->c.whole.ratio.value, 1.2, 1e-9);
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
				.executed = k ? 300 : (uint64_t)adds[i], .lengths = made_lengths[k] });
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

/* What takes shorter than modelled, too, as what it is held against may have taken longer. */
static void of_shares_another_thread_may_do_either(void **state)
{
	const struct gus_compared_options how = { .looks = { 4, 4 } };
	struct joined *s = *state;

	s->weights[0] = 825000;
	s->weights[1] = 175000;
	s->m.cycles = (struct gus_scale){ GUS_UNKNOWN, false, 0, 0, 0 };
	gus_compared_make(&s->c, &s->t, &s->m, &how);
	assert_true(s->c.rows.v[1].ratio.ci.high < 0.8);
	assert_int_equal(s->c.rows.v[1].verdict, GUS_TRUST_OPEN);
	assert_true(s->c.rows.v[1].shared);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cycles_of_a_run, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(of_a_short_run_nothing_is_told, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(beside_another_thread_nothing_is_told_of_the_whole, made_joined,
						made_joined_free),
		cmocka_unit_test_setup_teardown(loops_of_a_function, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(runs_that_differ, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(what_was_timed_in_part_has_an_error, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(cycles_of_the_core_engine, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(rows_stand_in_their_order, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(a_form_that_is_late_is_told, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(a_knob_that_is_off_everywhere_is_told, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(of_a_part_shares_are_compared, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(few_windows_say_nothing, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(of_shares_all_the_time_says_nothing, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(of_a_part_with_instructions_cycles_per_instruction, made_joined,
						made_joined_free),
		cmocka_unit_test_setup_teardown(without_a_frequency_shares_are_compared, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(of_shares_another_thread_may_do_either, made_joined, made_joined_free),
		cmocka_unit_test_setup_teardown(a_region_that_was_never_sampled, made_joined, made_joined_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
