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

/* A target with so many births and switches a second of its CPU time, watched by a recorder that takes own_ns a
 * sample. */
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

/* The kernel's limit bounds the rate from above, ours from both sides; of no events there is one. */
static void bounds_of_the_rate(void **state)
{
	static const struct { uint64_t limit, low, high; } cases[] = {
		{ UINT64_MAX, 20, 20000 }, { 20001, 20, 20000 }, { 20000, 20, 20000 }, { 19999, 20, 19999 },
		{ 21, 20, 21 },
		{ 20, 20, 20 }, { 19, 19, 19 }, { 1, 1, 1 },
	};
	const struct gus_costs costs = { .sample_ns = 10000 };
	struct gus_governor g;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		gus_governor_init(&g, 0.001, &costs, 1, cases[i].limit);
		assert_int_equal(g.low, cases[i].low);
		assert_int_equal(g.high, cases[i].high);
		assert_int_equal(g.first_hz, g.hz);
	}
	gus_governor_init(&g, 0.011, &costs, 0, LIMIT);
	assert_int_equal(g.hz, 1000);
	assert_int_equal(g.events, 1);
}

/* Half of the budget is theirs; fewer are taken at once, more again where twice as many would be paid for. */
static void thinning(void **state)
{
	static const struct { double cost; uint64_t now, n; } cases[] = {
		{ 0, 1, 1 }, { 49, 1, 1 }, { 50, 1, 1 }, { 51, 1, 2 }, { 100, 1, 2 }, { 101, 1, 3 }, { 151, 1, 5 },
		{ 1e9, 1, 1499 }, { 1e9, 1499, 1499 },
		{ 351, 7, 11 }, { 250, 7, 7 }, { 176, 7, 7 }, { 174, 7, 5 }, { 0, 1499, 1 }, { 51, 2, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(gus_governor_thinning(cases[i].cost, 100, cases[i].now), cases[i].n);
}

static const struct gus_costs all_costs = {
	.sample_ns = 10000, .birth_ns = 7000, .wake_ns = 300, .switch_ns = 2000, .leave_ns = 500, .map_ns = 1000,
	.stack_ns = 1000,
};

/* 1 % of a second of the target is 10 ms, which are a thousand samples of 10 us. So sampling takes as much as it may
 * if there were a thousand in the second, and nothing else costs anything. */
static struct gus_governor at_1000_hz(void)
{
	struct gus_governor g;

	gus_governor_init(&g, 0.01, &all_costs, 1, LIMIT);
	g.hz = 1000;
	return g;
}

/* What the governor makes of a second in which that happened. */
static uint64_t hz_after(struct gus_usage u)
{
	struct gus_governor g = at_1000_hz();
	bool changed;

	u.target_ns = SECOND;
	changed = gus_governor_step(&g, &u);
	assert_int_equal(changed, g.hz != 1000);
	assert_int_equal(g.changes, changed);
	return g.hz;
}

/* The rate is multiplied by what there was to spend over what was spent, by two at most, rounded to the nearest. */
static void step_by_samples(void **state)
{
	static const struct { uint64_t samples, hz; } cases[] = {
		{ 1000, 1000 }, { 800, 1250 }, { 1250, 800 }, { 1300, 769 }, { 600, 1667 },
		{ 501, 1996 }, { 500, 2000 }, { 499, 2000 }, { 300, 2000 }, { 20, 2000 },
		{ 1990, 503 }, { 2000, 500 }, { 2001, 500 }, { 9000, 500 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(hz_after((struct gus_usage){ .samples = cases[i].samples }), cases[i].hz);
}

/* 23/20 and 17/20 are the first that count: mappings of 1 us each take of the 10 ms what makes it so, to the last
 * one. */
static void dead_band(void **state)
{
	static const struct { uint64_t samples, maps, hz; } cases[] = {
		{ 800, 799, 1150 }, { 800, 800, 1150 }, { 800, 801, 1000 }, { 1000, 1499, 1000 }, { 1000, 1500, 850 },
		{ 1000, 1501, 850 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(hz_after((struct gus_usage){ .samples = cases[i].samples, .maps = cases[i].maps }),
				 cases[i].hz);
}

/* Each of 800 samples, 8 ms, and something that takes 4 ms: 6 ms are left, three quarters. */
static void step_by_what_follows(void **state)
{
	(void)state;
	assert_int_equal(hz_after((struct gus_usage){ .samples = 800, .maps = 4000 }), 750);
	assert_int_equal(hz_after((struct gus_usage){ .samples = 800, .switches = 2000 }), 750);
	assert_int_equal(hz_after((struct gus_usage){ .samples = 800, .births = 400, .wakes = 4000 }), 750);
	assert_int_equal(hz_after((struct gus_usage){ .samples = 800, .births = 500, .maps = 500 }), 750);
}

/* However much the rest costs, a quarter of the 10 ms is for samples: of 4 ms of them five eighths. */
static void step_to_the_least(void **state)
{
	static const struct { uint64_t maps, hz; } cases[] = {
		{ 7000, 750 }, { 7500, 625 }, { 7600, 625 }, { 10000, 625 }, { 90000, 625 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(hz_after((struct gus_usage){ .samples = 400, .maps = cases[i].maps }), cases[i].hz);
}

/* This program's own time counts up to half of what samples cost: of 5 ms of them 2.5 ms. */
static void step_by_own_time(void **state)
{
	static const struct { uint64_t own_us, hz; } cases[] = {
		{ 0, 2000 }, { 2000, 1600 }, { 2400, 1520 }, { 2500, 1500 }, { 2600, 1500 }, { 90000, 1500 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(hz_after((struct gus_usage){ .samples = 500, .recorder_ns = cases[i].own_us * 1000 }),
				 cases[i].hz);
}

/* 20 samples are enough to judge by. Of fewer, it is taken that they came at the rate in force: 500 Hz of two events
 * in half a second are 500 samples, which are exactly the 5 ms there are; of three events 750. */
static void few_samples(void **state)
{
	static const struct { uint64_t samples; unsigned events; uint64_t hz; } cases[] = {
		{ 0, 2, 500 }, { 19, 2, 500 }, { 20, 2, 1000 }, { 0, 3, 333 }, { 19, 1, 1000 }, { 0, 4, 250 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_usage u = { .target_ns = SECOND / 2, .samples = cases[i].samples };
		struct gus_governor g = at_1000_hz();

		g.hz = 500;
		g.events = cases[i].events;
		gus_governor_step(&g, &u);
		assert_int_equal(g.hz, cases[i].hz);
	}
}

/* A window is a tenth of a second of the target's time at least; what is less is not judged, and not forgotten. All is
 * counted since the window began. */
static void windows(void **state)
{
	struct gus_usage u = { .target_ns = SECOND / 10 - 1, .samples = 200 };
	struct gus_governor g = at_1000_hz();

	(void)state;
	assert_false(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, 1000);
	u.target_ns++;
	assert_true(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, 500);
	u = (struct gus_usage){ .target_ns = SECOND / 10 + SECOND, .samples = 200 + 1000, .births = 200, .wakes = 1000,
				.switches = 400, .maps = 500 };
	assert_true(gus_governor_step(&g, &u)); /* 10 ms of samples; 1.4, 0.3, 0.8 and 0.5 ms of the rest */
	assert_int_equal(g.hz, 350);            /* 7 / 10 */
	u.target_ns += SECOND;
	u.samples += 500;
	u.births += 100;
	u.wakes += 1000;
	u.switches += 100;
	u.maps += 800;
	u.recorder_ns += 1000000;
	assert_true(gus_governor_step(&g, &u)); /* 5 ms; 0.7, 0.3, 0.2 and 0.8, and 1 of our own */
	assert_int_equal(g.hz, 490);            /* 7 / 5 */
	assert_int_equal(g.changes, 3);
	u.target_ns -= SECOND / 2; /* as when a task is about to end */
	assert_false(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, 490);
}

/* At a bound there is nothing to change, whatever the window says. */
static void stays_within_bounds(void **state)
{
	struct gus_usage u = { .target_ns = SECOND, .samples = 100 };
	struct gus_governor g = at_1000_hz();

	(void)state;
	g.high = 1500;
	g.low = 1400;
	assert_true(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, 1500);
	u.target_ns += SECOND;
	u.samples += 100;
	assert_false(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, 1500);
	assert_int_equal(g.changes, 1);
	u.target_ns += SECOND;
	u.samples += 9000;
	assert_true(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, 1400);
	u.target_ns += SECOND;
	u.samples += 9000;
	assert_false(gus_governor_step(&g, &u));
	assert_int_equal(g.changes, 2);
}

/* What is passed over is not judged later either. */
static void skips(void **state)
{
	struct gus_usage u = { .target_ns = SECOND, .samples = 9000 };
	struct gus_governor g = at_1000_hz();

	(void)state;
	gus_governor_skip(&g, &u);
	assert_int_equal(g.hz, 1000);
	assert_int_equal(g.changes, 0);
	u.target_ns += SECOND;
	u.samples += 800;
	assert_true(gus_governor_step(&g, &u));
	assert_int_equal(g.hz, 1250);
}

/* What grows with each sample beside its own cost: its stack, and what finding its callers and writing it takes of our
 * own time. That has no bound of its own, as it gets less with the rate; the rest of the own time has. */
static void step_by_what_samples_bring(void **state)
{
	static const struct { struct gus_usage u; uint64_t hz; } cases[] = {
		{ { .samples = 500, .stack_bytes = 5120 << 10 }, 1000 }, /* 5 and 5.12 ms of the ten */
		{ { .samples = 500, .stack_bytes = 10240 << 10 }, 656 },
		{ { .samples = 500, .recorder_ns = 15000000, .drain_ns = 15000000 }, 500 },
		{ { .samples = 500, .recorder_ns = 15000000, .drain_ns = 10000000 }, 500 }, /* 15, and 2.5 of 5 */
		{ { .samples = 500, .recorder_ns = 3000000, .drain_ns = 2000000 }, 1286 },
		{ { .samples = 500, .recorder_ns = 2000000, .drain_ns = 3000000 }, 1250 },  /* timed by another clock */
		{ { .samples = 1000, .leaves = 1000, .recorder_ns = 4000000, .drain_ns = 4000000 }, 625 },
		{ { .samples = 19, .recorder_ns = 20000000, .drain_ns = 20000000 }, 500 },  /* too few to tell */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(hz_after(cases[i].u), cases[i].hz);
}

/* To find callers may take longer than to sample, and is kept to as well. */
static void keeps_to_the_budget_with_stacks(void **state)
{
	const struct gus_costs costs = { .sample_ns = 14000, .stack_ns = 100 };
	struct gus_usage u = { 0 };
	struct gus_governor g;
	double cost;

	(void)state;
	gus_governor_init(&g, 0.01, &costs, 1, LIMIT);
	for (unsigned i = 0; i < 20; i++) {
		u.target_ns += SECOND;
		u.samples += g.hz;
		u.stack_bytes += g.hz * (32 << 10);
		u.drain_ns += g.hz * 30000;
		u.recorder_ns += g.hz * 30000 + 100000;
		gus_governor_step(&g, &u);
	}
	cost = (double)g.hz * (14000 + 32 * 100 + 30000) + 100000;
	assert_true(cost > 0.0085 * (double)SECOND && cost < 0.0115 * (double)SECOND);
}

/* Shares of ten seconds, of all that has happened. */
static void spending(void **state)
{
	const struct gus_usage u = {
		.target_ns = 10 * SECOND, .samples = 5000, .births = 1000, .wakes = 10000, .switches = 4000,
		.leaves = 6000, .maps = 2000, .recorder_ns = SECOND / 4, .stack_bytes = 40000 << 10,
	};
	struct gus_spending s = gus_governor_spending(&all_costs, &u);

	(void)state;
	assert_true(s.samples > 0.00899999 && s.samples < 0.00900001); /* 50 ms, and 40 of stacks */
	assert_true(s.following > 0.00229999 && s.following < 0.00230001); /* 7, 3, 8, 3 and 2 ms */
	assert_true(s.recorder > 0.02499999 && s.recorder < 0.02500001);
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

/* Samples that are shared with others are as many fewer at once, within the bounds, and settle from there. */
static void shares_with_strangers(void **state)
{
	struct gus_costs costs = { .sample_ns = 10000 };
	struct gus_governor g;
	uint64_t before;

	(void)state;
	gus_governor_init(&g, 0.01, &costs, 1, LIMIT);
	before = g.hz;
	assert_false(gus_governor_share(&g, 1));
	assert_int_equal(g.hz, before);
	assert_true(gus_governor_share(&g, 4));
	assert_in_range(g.hz, before / 4, before / 4 + 1);
	assert_int_equal(g.changes, 1);
	assert_true(gus_governor_share(&g, 1000));
	assert_int_equal(g.hz, GUS_RATE_MIN);
	assert_false(gus_governor_share(&g, 2));
	assert_int_equal(g.changes, 2);
}

/* Who unwinds a sample's stack takes about as long as taking it. */
static void test_begins_lower_with_stacks(void **state)
{
	const struct gus_costs flat = { .sample_ns = 10000 }, stacks = { .sample_ns = 10000, .stack_ns = 1 };
	struct gus_governor g;

	(void)state;
	gus_governor_init(&g, 0.01, &flat, 1, 100000);
	assert_int_equal(g.hz, 909);
	gus_governor_init(&g, 0.01, &stacks, 1, 100000);
	assert_int_equal(g.hz, 500);
	assert_int_equal(g.first_hz, 500);
}

/* What no rate changes, and from how many on it is more than was asked for. */
static void test_switches(void **state)
{
	const struct gus_costs costs = { .sample_ns = 10000, .switch_ns = 2000, .leave_ns = 500 }, unknown = { 0 };
	const struct gus_usage usage = { .target_ns = 1000000000, .switches = 20000, .leaves = 1000 }, nothing = { 0 };

	(void)state;
	assert_true(gus_governor_switches_spent(&costs, &usage) > 0.0399);
	assert_true(gus_governor_switches_spent(&costs, &usage) < 0.0401);
	assert_true(gus_governor_switches_spent(&costs, &nothing) == 0);
	assert_true(gus_governor_switches_within(&costs, 0.04) > 19999);
	assert_true(gus_governor_switches_within(&costs, 0.04) < 20001);
	assert_true(gus_governor_switches_within(&unknown, 0.04) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_begins_lower_with_stacks),
		cmocka_unit_test(first_rate),
		cmocka_unit_test(bounds_of_the_rate),
		cmocka_unit_test(thinning),
		cmocka_unit_test(step_by_samples),
		cmocka_unit_test(dead_band),
		cmocka_unit_test(step_by_what_follows),
		cmocka_unit_test(step_to_the_least),
		cmocka_unit_test(step_by_own_time),
		cmocka_unit_test(few_samples),
		cmocka_unit_test(windows),
		cmocka_unit_test(stays_within_bounds),
		cmocka_unit_test(skips),
		cmocka_unit_test(step_by_what_samples_bring),
		cmocka_unit_test(keeps_to_the_budget_with_stacks),
		cmocka_unit_test(spending),
		cmocka_unit_test(keeps_to_the_budget),
		cmocka_unit_test(never_without_samples),
		cmocka_unit_test(comes_back),
		cmocka_unit_test(leaves_small_differences),
		cmocka_unit_test(target_that_sleeps),
		cmocka_unit_test(spending_of_nothing),
		cmocka_unit_test(shares_with_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
