/* SPDX-License-Identifier: MIT */
/* The branch predictor on patterns whose rate is known by argument: what history decides is learnt, what chance decides is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/oracles/branch.h"

static struct gus_branch_predictor *predictor(const struct gus_branch_config *config)
{
	struct gus_error err = { 0 };
	struct gus_branch_predictor *p = gus_branch_new(config, &err);

	if (!p)
		fail_msg("%s", err.text);
	return p;
}

static uint64_t rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 16;
}

/* Patterns of conditional branches: the pc and the direction of the i-th. */
struct one { uint64_t pc; bool taken; };
struct stream { uint64_t x, i; bool last[4]; };

static struct one always(struct stream *s) { (void)s; return (struct one){ 0x1000, true }; }
static struct one never(struct stream *s) { (void)s; return (struct one){ 0x1000, false }; }
static struct one alternating(struct stream *s) { return (struct one){ 0x1000, s->i % 2 }; }
static struct one coin(struct stream *s) { return (struct one){ 0x1000, rnd(&s->x) % 2 }; }
static struct one rarely(struct stream *s) { return (struct one){ 0x1000, rnd(&s->x) % 10 == 0 }; }
static struct one trips_8(struct stream *s) { return (struct one){ 0x1000, s->i % 8 != 7 }; }
static struct one trips_50(struct stream *s) { return (struct one){ 0x1000, s->i % 50 != 49 }; }
/* 1000 coins that come again and again. */
static struct one period_1000(struct stream *s)
{
	uint64_t x = 0x9e3779b97f4a7c15 * (s->i % 1000 + 1);

	return (struct one){ 0x1000, rnd(&x) % 2 };
}
/* The same in a loop, whose own branch is each second one; and each fifth one, with four that are always taken. */
static struct one in_turn(struct stream *s, unsigned branches)
{
	uint64_t x = 0x9e3779b97f4a7c15 * (s->i / branches % 1000 + 1);
	unsigned which = s->i % branches;

	return (struct one){ 0x1000 + 16 * which, which || rnd(&x) % 2 };
}
static struct one period_and_loop(struct stream *s) { return in_turn(s, 2); }
static struct one period_of_five(struct stream *s) { return in_turn(s, 5); }
/* Two coins, and a branch that is taken if they differ: history decides the third, and chance the others. */
static struct one correlated(struct stream *s)
{
	unsigned which = s->i % 3;
	struct one o = { 0x1000 + 16 * which, which < 2 ? rnd(&s->x) % 2 : s->last[0] != s->last[1] };

	s->last[which] = o.taken;
	return o;
}
/* 3000 branches, each with a direction of its own. */
static struct one many(struct stream *s)
{
	uint64_t x = 0x9e3779b97f4a7c15 * (s->i % 3000 + 1);

	return (struct one){ 0x1000 + 6 * (s->i % 3000), rnd(&x) % 2 };
}

static const struct pattern {
	const char *name;
	struct one (*next)(struct stream *s);
	bool plain;             /* two-bit counters alone */
	double rate;            /* mispredicted, by branch */
} patterns[] = {
	{ "always", always, false, 0 },
	{ "never", never, false, 0 },
	{ "alternating", alternating, false, 0 },
	{ "coin", coin, false, 0.5 },
	{ "one of ten", rarely, false, 0.1 },
	{ "loop of 8", trips_8, false, 0 },
	{ "loop of 50", trips_50, false, 0 },
	{ "period of 1000", period_1000, false, 0 },
	{ "period of 1000 in a loop", period_and_loop, false, 0 },
	{ "period of 1000 among five", period_of_five, false, 0 },
	{ "correlated", correlated, false, 1. / 3 },
	{ "many", many, false, 0 },
	{ "always, counters alone", always, true, 0 },
	{ "alternating, counters alone", alternating, true, 0.5 }, /* between two states of the same side */
	{ "loop of 8, counters alone", trips_8, true, 1. / 8 },    /* the end of each loop */
	{ "one of ten, counters alone", rarely, true, 0.1098 },      /* four states that are (1/9)^i as likely: 0.9878 * 0.1 + 0.0122 * 0.9 */
};

static void test_directions(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(patterns) / sizeof(*patterns); k++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		struct stream s = { .x = 88172645463325252 };
		double rate;

		gus_branch_config_default(&config);
		if (patterns[k].plain)
			config.direction.tables = 0;
		p = predictor(&config);
		for (; s.i < 200000; s.i++) {
			struct one one = patterns[k].next(&s);
			struct gus_branch_outcome o = { .pc = one.pc, .next = one.pc + 2, .target = 0x9000, .kind = GUS_BRANCH_CONDITIONAL,
				.taken = one.taken };

			if (s.i == 100000)
				gus_branch_count_anew(p);
			gus_branch_run(p, &o);
		}
		assert_int_equal(gus_branch_totals(p)->executed, 100000);
		rate = (double)gus_branch_totals(p)->mispredicted / 100000;
		if (rate < patterns[k].rate - 0.02 || rate > patterns[k].rate + 0.02)
			fail_msg("%s: %.4f mispredicted, expected %.4f", patterns[k].name, rate, patterns[k].rate);
		gus_branch_free(p);
	}
}

/* Indirect branches among four targets: in turn they are learnt from history, by chance three of four are wrong, and without
 * history only the same one again is right. */
static void test_targets(void **state)
{
	static const struct { bool chance, plain; unsigned targets; double rate; } cases[] = {
		{ false, false, 1, 0 }, { false, false, 4, 0 }, { true, false, 4, 0.75 }, { false, true, 1, 0 }, { false, true, 4, 1 },
		{ true, true, 4, 0.75 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		uint64_t x = 88172645463325252;
		double rate;

		gus_branch_config_default(&config);
		if (cases[k].plain)
			config.target.tables = 0;
		p = predictor(&config);
		for (uint64_t i = 0; i < 60000; i++) {
			uint64_t which = (cases[k].chance ? rnd(&x) : i) % cases[k].targets;
			struct gus_branch_outcome o = { .pc = 0x1000, .next = 0x1002, .target = 0x5000 + 0x140 * which, .kind = GUS_BRANCH_INDIRECT,
				.taken = true };

			if (i == 20000)
				gus_branch_count_anew(p);
			gus_branch_run(p, &o);
		}
		rate = (double)gus_branch_totals(p)[GUS_BRANCH_INDIRECT].mispredicted / 40000;
		if (rate < cases[k].rate - 0.02 || rate > cases[k].rate + 0.02)
			fail_msg("case %zu: %.4f mispredicted, expected %.4f", k, rate, cases[k].rate);
		gus_branch_free(p);
	}
}

/* A function that calls itself from n places and returns n times: a stack of 16 knows the last 16 of the places. */
static void test_returns(void **state)
{
	static const struct { unsigned depth; double rate; } cases[] = { { 1, 0 }, { 16, 0 }, { 32, 0.5 }, { 64, 0.75 } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;
		double rate;

		gus_branch_config_default(&config);
		p = predictor(&config);
		for (unsigned times = 0; times < 100; times++) {
			for (uint64_t i = 0; i < cases[k].depth; i++)
				gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x1000 + 16 * i, .next = 0x1005 + 16 * i, .target = 0x8000,
					.kind = GUS_BRANCH_CALL, .taken = true });
			for (uint64_t i = cases[k].depth; i-- > 0;)
				gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x8100, .next = 0x8101, .target = 0x1005 + 16 * i,
					.kind = GUS_BRANCH_RETURN, .taken = true });
		}
		rate = (double)gus_branch_totals(p)[GUS_BRANCH_RETURN].mispredicted / (100. * cases[k].depth);
		if (rate < cases[k].rate - 0.02 || rate > cases[k].rate + 0.02)
			fail_msg("depth %u: %.4f mispredicted, expected %.4f", cases[k].depth, rate, cases[k].rate);
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_CALL].mispredicted, 0); /* direct: only late, the first time */
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_CALL].late, cases[k].depth);
		gus_branch_free(p);
	}
}

/* The buffer of targets: what it holds is late once, what it does not is late always (lru, in turns). */
static void test_buffer(void **state)
{
	(void)state;
	for (unsigned n = 64; n <= 65; n++) {
		struct gus_branch_config config;
		struct gus_branch_predictor *p;

		gus_branch_config_default(&config);
		config.btb_entries = config.btb_ways = 64;
		p = predictor(&config);
		for (uint64_t i = 0; i < 100 * n; i++)
			gus_branch_run(p, &(struct gus_branch_outcome){ .pc = 0x1000 + i % n * 8, .next = 0x1005 + i % n * 8, .target = 0x20,
				.kind = GUS_BRANCH_JUMP, .taken = true });
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_JUMP].late, n == 64 ? 64 : 6500);
		assert_int_equal(gus_branch_totals(p)[GUS_BRANCH_JUMP].mispredicted, 0);
		gus_branch_free(p);
	}
}

/* The first time of a branch is told apart: before the window it may have been learnt. */
static void test_cold(void **state)
{
	struct gus_branch_config config;
	struct gus_branch_predictor *p;
	struct gus_branch_outcome o = { .pc = 0x1000, .next = 0x1002, .target = 0x2000, .kind = GUS_BRANCH_CONDITIONAL, .taken = true };
	struct gus_branch_verdict v;

	(void)state;
	gus_branch_config_default(&config);
	p = predictor(&config);
	v = gus_branch_run(p, &o);
	assert_true(v.mispredicted && v.unknown);
	for (int i = 0; i < 50; i++)
		gus_branch_run(p, &o);
	o.taken = false;
	v = gus_branch_run(p, &o);
	assert_true(v.mispredicted && !v.unknown);
	gus_branch_free(p);
}

/* The same branches, the same verdicts. */
static void test_deterministic(void **state)
{
	struct gus_branch_config config;
	struct gus_branch_predictor *a, *b;
	struct stream s = { .x = 5 };

	(void)state;
	gus_branch_config_default(&config);
	a = predictor(&config);
	b = predictor(&config);
	for (; s.i < 20000; s.i++) {
		struct one one = correlated(&s);
		struct gus_branch_outcome o = { .pc = one.pc, .next = one.pc + 2, .target = 0x9000, .taken = one.taken };

		assert_int_equal(gus_branch_run(a, &o).mispredicted, gus_branch_run(b, &o).mispredicted);
	}
	gus_branch_free(a);
	gus_branch_free(b);
}

static void test_refused(void **state)
{
	struct gus_branch_config c[4];
	static const char *const says[4] = { "directions", "targets", "buffer", "return" };
	struct gus_error err;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		gus_branch_config_default(&c[i]);
	c[0].direction.tables = GUS_BRANCH_TABLES_MAX + 1;
	c[1].target.history_max = GUS_BRANCH_HISTORY_MAX + 1;
	c[2].btb_ways = 0;
	c[3].return_depth = 0;
	for (unsigned i = 0; i < 4; i++) {
		memset(&err, 0, sizeof(err));
		assert_null(gus_branch_new(&c[i], &err));
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_non_null(strstr(err.text, says[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directions), cmocka_unit_test(test_targets), cmocka_unit_test(test_returns),
		cmocka_unit_test(test_buffer), cmocka_unit_test(test_cold), cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
