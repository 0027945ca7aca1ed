/* SPDX-License-Identifier: MIT */
/* How sure an estimate of time is (attribution/proportional/replicates.h), of a loop of two instructions, A and B. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/prior.h"
#include "attribution/proportional/replicates.h"
#include "attribution/proportional/spread.h"
#include "model/code/program.h"
#include "model/machine/options.h"

enum { ROUNDS = 1000, SLICES = GUS_REPLICATES_SLICES, OF_SLICE = 200, SAMPLES = SLICES * OF_SLICE };

struct loop {
	struct gus_op ops[2];
	struct gus_program_insn insns[2];
	struct gus_program p;
	struct gus_groups *groups;
	struct gus_prior prior;
	struct gus_spread *spread;
	struct gus_site_count counts[2];
	struct gus_replicates_part parts[2 * SLICES];
	struct gus_replicates_seen seen;
};

/* Each retires in a cycle of its own; of the executions of A so many meet something, in the prior of the fit. */
static void run(struct loop *f, uint32_t met)
{
	const struct gus_core_listener *l = gus_groups_listen(f->groups, 7, &f->p);

	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		uint16_t psv = i % 2 == 0 && i / 2 < met ? GUS_CORE_ST_L1 : 0;

		l->retire(l->context, &(struct gus_core_retired){ .op = i % 2, .psv = psv, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	}
	gus_groups_leave(f->groups, 7);
}

/* A model that believes in groups of so many at most. */
static void begin_met(struct loop *f, unsigned width, uint32_t met)
{
	const struct gus_prior_options po = { .width = width };

	*f = (struct loop){ .groups = gus_groups_new() };
	f->p = (struct gus_program){ .ops = f->ops, .insns = f->insns, .ops_n = 2, .insns_n = 2 };
	for (uint32_t i = 0; i < 2; i++) {
		f->ops[i] = (struct gus_op){ .insn = i, .insns_n = 1, .slots = 1 };
		f->insns[i].offset = 4 * i;
		f->insns[i].info.length = 4;
	}
	run(f, met);
	gus_prior_make(&f->prior, f->groups, &po, NULL);
	f->spread = gus_spread_new(&f->prior);
}

static void begin(struct loop *f, unsigned width)
{
	begin_met(f, width, 0);
}

static void fit(struct loop *f)
{
	const struct gus_spread_options so = gus_spread_defaults();

	gus_spread_see(f->spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_NEXT, .counts = f->counts, .n = 2,
			.samples = SAMPLES });
	gus_spread_fit(f->spread, &so);
	f->seen.counts = f->counts;
	f->seen.n = 2;
}

/* Half of the samples of a slice are at A, and so many more: to and fro within a pair, and in the first so many. */
static void fit_slices(struct loop *f, int to_and_fro, int first, uint32_t so_many)
{
	for (uint32_t i = 0; i < SLICES; i++) {
		int more = (i % 2 ? -to_and_fro : to_and_fro) + (i < so_many ? first : 0);
		double a = (OF_SLICE / 2 + more) / (double)SAMPLES, b = (OF_SLICE / 2 - more) / (double)SAMPLES;

		f->parts[2 * i] = (struct gus_replicates_part){ { 0, false, a }, i, 0 };
		f->parts[2 * i + 1] = (struct gus_replicates_part){ { 1, false, b }, i, 0 };
		f->counts[0].share += a;
		f->counts[1].share += b;
	}
	f->counts[1].site = 1;
	f->seen.parts = f->parts;
	f->seen.parts_n = 2 * SLICES;
	fit(f);
}

/* Of both and of their sum. */
static void tell(struct loop *f, const struct gus_replicates_options *o, struct gus_replicates_sum *both,
		 struct gus_replicates_sum *sum)
{
	const uint32_t each[] = { 0, 1 }, all[] = { 0, 0 };
	struct gus_replicates r;

	gus_replicates_make(&r, f->spread, &f->prior, &f->seen, 1, o);
	assert_int_equal(r.cells.n, 2);
	gus_replicates_add(&r, each, 2, both);
	gus_replicates_add(&r, all, 1, sum);
	gus_replicates_free(&r);
}

/* Of both, where each may have several cells. */
static void tell_sites(struct loop *f, const struct gus_replicates_options *o, struct gus_replicates_sum *both)
{
	uint32_t of[8];
	struct gus_replicates r;

	gus_replicates_make(&r, f->spread, &f->prior, &f->seen, 1, o);
	assert_true(r.cells.n > 2 && r.cells.n <= 8);
	for (size_t i = 0; i < r.cells.n; i++)
		of[i] = r.cells.v[i].site;
	gus_replicates_add(&r, of, 2, both);
	gus_replicates_free(&r);
}

static void drop(struct loop *f)
{
	gus_spread_free(f->spread);
	gus_prior_free(&f->prior);
	gus_groups_free(f->groups);
}

static struct gus_replicates_options exact(void)
{
	struct gus_replicates_options o = gus_replicates_defaults(GUS_REPLICATES_EXACT);

	o.samples = SAMPLES;
	return o;
}

static double deviation_of(int to_and_fro, int first, uint32_t so_many)
{
	const struct gus_replicates_options o = exact();
	struct gus_replicates_sum both[2], sum;
	struct loop f;
	double half;

	begin(&f, 1);
	fit_slices(&f, to_and_fro, first, so_many);
	tell(&f, &o, both, &sum);
	assert_float_equal(sum.share, 1, 1e-9);
	assert_true(sum.deviation < 1e-9);
	assert_float_equal(both[0].deviation, both[1].deviation, 1e-9);
	half = (both[0].interval.high - both[0].interval.low) / 2;
	assert_float_equal(half, 1.96 * fmax(both[0].deviation, sqrt(both[0].share * both[1].share / SAMPLES)),
			   .02 * half);
	drop(&f);
	return both[0].deviation;
}

/* The model is exact, so an instruction has the samples that are at it. Of 200 samples of a slice, each as likely at A
 * as at B, 100 are at A, give or take sqrt(50); in slices of a pair they differ by 10. Of all samples the share of A is
 * then known to sqrt(1/4 / samples), as of so many tossed coins. */
static void test_chance(void **state)
{
	(void)state;
	assert_float_equal(deviation_of(5, 0, 0), sqrt(.25 / SAMPLES), 2e-5);
}

/* Four times as far apart: samples came in clumps, and say less. */
static void test_clumps(void **state)
{
	(void)state;
	assert_float_equal(deviation_of(20, 0, 0), 4 * sqrt(.25 / SAMPLES), 8e-5);
}

/* A run that does something else in its second half was sampled in both; only a pair that has the change does not
 * know. */
static void test_change(void **state)
{
	(void)state;
	assert_float_equal(deviation_of(0, 50, SLICES / 2 + 1), 0, 1e-9);
	assert_float_equal(deviation_of(0, 50, SLICES / 2), 50. / SAMPLES, 5e-5);
}

/* What retires with A is not known: how much is B's is in doubt, and that it is theirs is not. */
static void test_sum(void **state)
{
	struct gus_replicates_options o = exact();
	struct gus_replicates_sum both[2], sum;
	struct loop f;

	(void)state;
	o.doubts.cycles = 1;
	begin(&f, 2);
	fit_slices(&f, 0, 0, 0);
	tell(&f, &o, both, &sum);
	assert_true(both[0].deviation > .01);
	assert_float_equal(both[0].deviation, both[1].deviation, 1e-9);
	assert_true(sum.deviation < 1e-9);
	assert_float_equal(sum.interval.low, 1, 4. / SAMPLES); /* of as many samples, all here */
	drop(&f);
}

/* All is seen at A. How often B retires with it, which the model never has, is in doubt as such ways are, as groups of
 * two are, and by itself; that all groups of a site are is no doubt, as all are A's. */
static void test_doubts(void **state)
{
	static const struct { struct gus_replicates_doubts doubts; bool open; } cases[] = {
		{ { 0 }, false }, { { .ways = 1 }, true }, { { .classes = 1 }, true }, { { .sites = 1 }, false },
		{ { .cycles = 1 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_replicates_options o = exact();
		struct gus_replicates_sum both[2], sum;
		struct loop f;

		o.doubts = cases[i].doubts;
		begin(&f, 2);
		fit_slices(&f, 0, OF_SLICE / 2, SLICES);
		tell(&f, &o, both, &sum);
		assert_int_equal(both[0].deviation > 1e-3, cases[i].open);
		assert_true(sum.deviation < 1e-9);
		drop(&f);
	}
}

/* Half of A's executions in the model meet something, and it is in doubt how many, by so much as a logarithm and as so
 * many samples leave it: how often either was met is off by that twice, for itself and with all of its kind. The odds
 * are then off by four such doubts, which way each is being chance: by 2 of them. Of A's half of the time a quarter of
 * the odds' is the share's. */
static void expect_met(double samples, double doubt, double deviation)
{
	const uint32_t each[] = { 0, 1, 2 }, of_site[] = { 0, 0, 1 };
	struct gus_replicates_options o = exact();
	struct gus_replicates_sum sums[3], sites[2];
	struct gus_replicates r;
	struct loop f;

	o.doubts.met = doubt;
	begin_met(&f, 1, ROUNDS / 2);
	for (size_t i = 0; i < f.prior.met.n; i++)
		f.prior.met.v[i].samples = samples;
	fit_slices(&f, 0, 0, 0);
	gus_replicates_make(&r, f.spread, &f.prior, &f.seen, 1, &o);
	assert_int_equal(r.cells.n, 3);
	gus_replicates_add(&r, each, 3, sums);
	gus_replicates_add(&r, of_site, 2, sites);
	assert_float_equal(sums[0].share, .25, .001);
	assert_float_equal(sums[0].deviation, deviation, .35 * deviation);
	assert_float_equal(sums[1].deviation, sums[0].deviation, 1e-6);
	assert_true(sums[2].deviation < 1e-6 && sites[0].deviation < 1e-6);
	gus_replicates_free(&r);
	drop(&f);
}

static void test_met(void **state)
{
	(void)state;
	expect_met(0, .1, .5 * .25 * 2 * .1);
	expect_met(300, .1, .5 * .25 * 2 * .1 / sqrt(1 + 300 * .1 * .1));
}

/* How often both are executed, only a model tells: if that is in doubt, so is how much of A's cycles B retires in. */
static void test_executed(void **state)
{
	const struct gus_site_count executed[] = { { 0, false, .5 }, { 1, false, .7 } };
	const struct gus_spread_options so = gus_spread_defaults();
	const uint32_t each[] = { 0, 1 };
	double deviations[2];

	(void)state;
	for (int doubt = 0; doubt < 2; doubt++) {
		struct gus_replicates_options o = exact();
		struct gus_replicates_seen seen[2];
		struct gus_replicates_sum sums[2];
		struct gus_replicates r;
		struct loop f;

		o.doubts.executed = doubt;
		o.steps = 50;
		begin(&f, 2);
		fit_slices(&f, 0, 0, 0);
		gus_spread_see(f.spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_EXECUTED, .counts = executed,
				.n = 2, .samples = SAMPLES });
		gus_spread_fit(f.spread, &so);
		seen[0] = f.seen;
		seen[1] = (struct gus_replicates_seen){ .counts = executed, .n = 2 };
		gus_replicates_make(&r, f.spread, &f.prior, seen, 2, &o);
		gus_replicates_add(&r, each, 2, sums);
		deviations[doubt] = sums[0].deviation;
		gus_replicates_free(&r);
		drop(&f);
	}
	assert_true(deviations[1] > .02 && deviations[1] > 5 * deviations[0]);
}

/* Replicates leave the fit and what was believed as they were, so they are the same again. */
static void test_again(void **state)
{
	struct gus_replicates_options o = gus_replicates_defaults(GUS_REPLICATES_STACKS);
	struct gus_spread_cells before = { 0 }, after = { 0 };
	struct gus_replicates_sum both[2], again[2];
	double cycles[64], met[64];
	struct loop f;

	(void)state;
	begin_met(&f, 2, ROUNDS / 2);
	fit_slices(&f, 5, 3, 7);
	assert_true(f.prior.cycles.n <= 64 && f.prior.met.n <= 64);
	for (size_t i = 0; i < f.prior.cycles.n; i++)
		cycles[i] = f.prior.cycles.v[i].share;
	for (size_t i = 0; i < f.prior.met.n; i++)
		met[i] = f.prior.met.v[i].share;
	gus_spread_cells(f.spread, &before);
	tell_sites(&f, &o, both);
	gus_spread_cells(f.spread, &after);
	assert_int_equal(before.n, after.n);
	for (size_t i = 0; i < before.n; i++)
		assert_true(before.v[i].share == after.v[i].share);
	for (size_t i = 0; i < f.prior.cycles.n; i++)
		assert_true(f.prior.cycles.v[i].share == cycles[i]);
	for (size_t i = 0; i < f.prior.met.n; i++)
		assert_true(f.prior.met.v[i].share == met[i]);
	tell_sites(&f, &o, again);
	assert_true(both[0].deviation > 0 && both[0].deviation == again[0].deviation);
	assert_true(both[1].share == again[1].share && both[1].deviation == again[1].deviation);
	gus_vec_free(&before);
	gus_vec_free(&after);
	drop(&f);
}

/* Five samples are a fact, if nothing else speaks against it: of 200 of a slice one is at A. */
static void test_shown(void **state)
{
	struct gus_replicates_options o = exact();
	struct gus_replicates_sum both[2], sum;
	struct loop f;

	(void)state;
	begin(&f, 1);
	fit_slices(&f, 0, 1 - OF_SLICE / 2, SLICES);
	for (double samples = 990; samples < 1020; samples += 20) {
		o.samples = samples;
		tell(&f, &o, both, &sum);
		assert_int_equal(both[0].shown, samples > 1000);
		assert_true(both[1].shown);
	}
	drop(&f);
}

/* Five samples, but of so much doubt that it may be twice as much or nothing. */
static void test_doubted(void **state)
{
	(void)state;
	assert_true(gus_replicates_is_fact(.01, (struct gus_interval){ .001, .02 }, 1000));
	assert_false(gus_replicates_is_fact(.01, (struct gus_interval){ 0, .021 }, 1000));
	assert_false(gus_replicates_is_fact(.0049, (struct gus_interval){ .0048, .005 }, 1000));
}

/* One thread was seen at A and another at B, and what retires with what is not in doubt: each has its own, and is as
 * sure of it. Two threads that were both seen everywhere have two cells of each instruction. */
static void test_who(void **state)
{
	struct gus_replicates_options o = exact();
	const uint32_t each[] = { 0, 1, 2, 3 };
	struct gus_replicates_sum sums[4];
	struct gus_replicates r;
	struct loop f;

	(void)state;
	begin(&f, 1);
	fit_slices(&f, 5, 0, 0);
	for (uint32_t i = 0; i < SLICES; i++) {
		f.parts[i].who = 3;
		f.parts[i].count.site = 0;
		f.parts[SLICES + i].who = 4;
		f.parts[SLICES + i].count.site = 1;
		f.parts[i].slice = f.parts[SLICES + i].slice = i;
	}
	gus_replicates_make(&r, f.spread, &f.prior, &f.seen, 1, &o);
	assert_int_equal(r.cells.n, 2);
	assert_true(r.cells.v[0].who == 3 && r.cells.v[0].site == 0);
	assert_true(r.cells.v[1].who == 4 && r.cells.v[1].site == 1);
	assert_float_equal(r.cells.v[0].share + r.cells.v[1].share, 1, 1e-9);
	gus_replicates_free(&r);
	for (uint32_t i = 0; i < SLICES; i++)
		f.parts[i].count.site = f.parts[SLICES + i].count.site = i % 2;
	gus_replicates_make(&r, f.spread, &f.prior, &f.seen, 1, &o);
	assert_int_equal(r.cells.n, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(r.cells.v[i].who == 3 + i / 2 && r.cells.v[i].site == i % 2);
	gus_replicates_add(&r, each, 4, sums);
	assert_float_equal(sums[0].share + sums[1].share + sums[2].share + sums[3].share, 1, 1e-9);
	for (size_t i = 0; i < 4; i++)
		assert_true(sums[i].deviation < sums[i].share / 2);
	gus_replicates_free(&r);
	drop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_clumps),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_met),
		cmocka_unit_test(test_executed),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_shown),
		cmocka_unit_test(test_doubted),
		cmocka_unit_test(test_who),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
