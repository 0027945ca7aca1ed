/* SPDX-License-Identifier: MIT */
/* The governor: which rate a budget buys, and what it does when the price turns out to be another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collector/session/governor.h"

#define SECOND 1000000000ull
#define LIMIT 100000

/* A target with so many births and switches a second of its CPU time, watched by a recorder that takes own_ns a sample. */
struct world { double births, switches, own_ns; };

/* Runs the governor for n seconds of the target's time; returns what the last second cost, as a share. */
static double run(struct gus_governor *g, const struct world *w, unsigned n, struct gus_usage *u)
{
	struct gus_usage before = *u;

	for (unsigned i = 0; i < n; i++) {
		before = *u;
		u->target_ns += SECOND;
		u->samples += g->hz;
		u->births += (uint64_t)w->births;
		u->switches += (uint64_t)w->switches;
		u->recorder_ns += (uint64_t)(w->own_ns * (double)g->hz);
		if (i + 1 < n)
			gus_governor_step(g, u);
	}
	return ((double)(u->samples - before.samples) * (double)g->costs.sample_ns +
		(double)(u->births - before.births) * (double)g->costs.birth_ns +
		(double)(u->switches - before.switches) * (double)g->costs.switch_ns +
		(double)(u->recorder_ns - before.recorder_ns)) / (double)SECOND;
}

static void first_rate(void **state)
{
	const struct gus_costs costs = { .sample_ns = 10000 };
	struct gus_governor g;

	(void)state;
	gus_governor_init(&g, 0.011, &costs, 1, LIMIT);
	assert_int_equal(g.hz, 1000); /* 10 us and a tenth of own time, a thousand times */
	gus_governor_init(&g, 0.011, &costs, 2, LIMIT);
	assert_int_equal(g.hz, 500);
	gus_governor_init(&g, 0.00001, &costs, 1, LIMIT);
	assert_int_equal(g.hz, GUS_RATE_MIN);
	gus_governor_init(&g, 0.5, &costs, 1, 3000);
	assert_int_equal(g.hz, 3000);
	gus_governor_init(&g, 0.5, &costs, 1, 7);
	assert_int_equal(g.hz, 7); /* a kernel that allows less than our least */
	gus_governor_init(&g, 0.5, &(struct gus_costs){ .sample_ns = 100 }, 1, UINT64_MAX);
	assert_int_equal(g.hz, GUS_RATE_MAX);
}

static void keeps_to_the_budget(void **state)
{
	static const struct world worlds[] = {
		{ 0, 0, 0 }, { 0, 0, 4000 }, { 100, 0, 500 }, { 0, 2000, 500 }, { 50, 1000, 2000 },
	};
	static const double asked[] = { 0.005, 0.01, 0.05 };
	const struct gus_costs costs = { .sample_ns = 13000, .birth_ns = 8000, .switch_ns = 1200, .map_ns = 1500 };

	(void)state;
	for (size_t i = 0; i < sizeof(worlds) / sizeof(*worlds); i++)
		for (size_t k = 0; k < sizeof(asked) / sizeof(*asked); k++) {
			struct gus_usage u = { 0 };
			struct gus_governor g;
			double got;

			gus_governor_init(&g, asked[k], &costs, 1, LIMIT);
			got = run(&g, &worlds[i], 20, &u);
			assert_true(got > asked[k] * 0.85 && got < asked[k] * 1.15);
		}
}

static void never_without_samples(void **state)
{
	const struct gus_costs costs = { .sample_ns = 10000, .birth_ns = 10000, .switch_ns = 1000 };
	const struct world storm = { 10000, 100000, 1000 };
	struct gus_usage u = { 0 };
	struct gus_governor g;

	(void)state;
	gus_governor_init(&g, 0.01, &costs, 1, LIMIT);
	run(&g, &storm, 20, &u);
	assert_in_range(g.hz, 240, 275); /* a quarter of the 1 % that 10 us a sample would buy */
	assert_true(gus_governor_spending(&costs, &u).following > 0.19);
}

static void comes_back(void **state)
{
	const struct gus_costs costs = { .sample_ns = 10000, .birth_ns = 10000, .switch_ns = 1000 };
	const struct world storm = { 500, 5000, 0 }, calm = { 0, 0, 0 };
	struct gus_usage u = { 0 };
	struct gus_governor g;

	(void)state;
	gus_governor_init(&g, 0.02, &costs, 1, LIMIT);
	run(&g, &storm, 10, &u);
	assert_in_range(g.hz, 900, 1100);
	run(&g, &calm, 10, &u);
	assert_in_range(g.hz, 1800, 2200);
}

static void leaves_small_differences(void **state)
{
	const struct gus_costs costs = { .sample_ns = 10000 };
	struct gus_usage u = { .target_ns = SECOND, .samples = 950, .recorder_ns = 1000000 };
	struct gus_governor g;

	(void)state;
	gus_governor_init(&g, 0.01, &costs, 1, LIMIT);
	assert_false(gus_governor_step(&g, &u));
	assert_int_equal(g.changes, 0);
	u.target_ns += SECOND / 100; /* too short a time to say anything */
	u.samples += 500;
	assert_false(gus_governor_step(&g, &u));
	u.target_ns += SECOND;
	u.samples += 4000;
	assert_true(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, (g.first_hz + 1) / 2); /* at most by two at a time */
}

/* Housekeeping beside a target that hardly runs costs more than its samples; no rate would change that. */
static void target_that_sleeps(void **state)
{
	const struct gus_costs costs = { .sample_ns = 10000 };
	struct gus_usage u = { 0 };
	struct gus_governor g;

	(void)state;
	gus_governor_init(&g, 0.01, &costs, 1, LIMIT);
	for (unsigned i = 0; i < 20; i++) {
		u.target_ns += SECOND / 5;
		u.samples += g.hz / 5;
		u.recorder_ns += SECOND / 50;
		gus_governor_step(&g, &u);
	}
	assert_in_range(g.hz, 450, 1000);
}

static void spending_of_nothing(void **state)
{
	const struct gus_costs costs = { 1, 1, 1, 1 };
	const struct gus_usage u = { .samples = 5 };
	struct gus_spending s = gus_governor_spending(&costs, &u);

	(void)state;
	assert_true(s.samples == 0 && s.following == 0 && s.recorder == 0);
}

static void medians(void **state)
{
	int64_t one[] = { 7 }, two[] = { 9, -5 }, three[] = { 100, 3, -100 };

	(void)state;
	assert_int_equal(gus_cost_median(one, 1), 7);
	assert_int_equal(gus_cost_median(two, 2), 2);
	assert_int_equal(gus_cost_median(three, 3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_rate),
		cmocka_unit_test(keeps_to_the_budget),
		cmocka_unit_test(never_without_samples),
		cmocka_unit_test(comes_back),
		cmocka_unit_test(leaves_small_differences),
		cmocka_unit_test(target_that_sleeps),
		cmocka_unit_test(spending_of_nothing),
		cmocka_unit_test(medians),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
