/* SPDX-License-Identifier: MIT */
/* What cycles there could have been (attribution/proportional/prior.h), of loops that a model has run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/met.h"
#include "attribution/proportional/prior.h"
#include "model/code/program.h"
#include "model/machine/options.h"

enum { A, B, C, OPS, ROUNDS = 1000 };

struct loop {
	struct gus_op ops[OPS];
	struct gus_program_insn insns[OPS];
	struct gus_program p;
	struct gus_groups *groups;
	const struct gus_core_listener *l;
	struct gus_prior prior;
};

static void begin(struct loop *f)
{
	*f = (struct loop){ .groups = gus_groups_new() };
	f->p = (struct gus_program){ .ops = f->ops, .insns = f->insns, .ops_n = OPS, .insns_n = OPS };
	for (uint32_t i = 0; i < OPS; i++) {
		f->ops[i] = (struct gus_op){ .insn = i, .insns_n = 1, .slots = 1 };
		f->insns[i].offset = 4 * i;
		f->insns[i].info.length = 4;
	}
	f->l = gus_groups_listen(f->groups, 7, &f->p);
}

static void retire(const struct loop *f, uint32_t op, uint16_t psv)
{
	f->l->retire(f->l->context, &(struct gus_core_retired){ .op = op, .psv = psv, .ends = true });
}

static void cycle(const struct loop *f, enum gus_commit state, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		f->l->cycle(f->l->context, &(struct gus_core_cycle){ .state = state });
}

static void make(struct loop *f, const struct gus_met *events)
{
	const struct gus_prior_options o = { .width = 2, .waits = .01, .spread = 1 };

	gus_groups_leave(f->groups, 7);
	gus_prior_make(&f->prior, f->groups, &o, events);
}

/* A and B retire together, then C, which waits 6 cycles for its line; and again. C's last is not told of. */
static void run(struct loop *f)
{
	begin(f);
	for (unsigned round = 0; round < ROUNDS; round++) {
		retire(f, A, 0);
		retire(f, B, 0);
		cycle(f, GUS_COMMIT_COMPUTE, 1);
		cycle(f, GUS_COMMIT_STALLED, 6);
		retire(f, C, GUS_CORE_ST_L1);
		cycle(f, GUS_COMMIT_COMPUTE, 1);
	}
}

static void end(struct loop *f)
{
	gus_prior_free(&f->prior);
	gus_groups_free(f->groups);
}

struct wanted { enum gus_prior_kind kind; uint32_t head, after, next, n; uint16_t psv; double model, way; };

static const struct gus_prior_cycle *find(const struct gus_prior *p, const struct wanted *w)
{
	for (size_t i = 0; i < p->cycles.n; i++) {
		const struct gus_prior_cycle *c = &p->cycles.v[i];

		if (c->kind == w->kind && c->head == w->head && c->after == w->after && c->next == w->next &&
		    c->n == w->n && c->psv == w->psv)
			return c;
	}
	return NULL;
}

static void expect(const struct loop *f, const struct wanted *w, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const struct gus_prior_cycle *c = find(&f->prior, &w[i]);

		if (!c)
			fail_msg("there is no cycle number %zu", i);
		assert_float_equal(c->model, w[i].model, 1e-6);
		assert_float_equal(c->way, w[i].way, 1e-6);
		assert_int_equal(c->of, w[i].head);
		for (uint32_t k = 0; k < c->n; k++)
			assert_int_equal(f->prior.members.v[c->first + k], (w[i].head + k) % OPS);
	}
	assert_int_equal(f->prior.cycles.n, n);
	for (size_t i = 0; i < f->prior.cycles.n; i++)
		sum += f->prior.cycles.v[i].share;
	assert_float_equal(sum, 1, 1e-9);
}

#define GROUP(head, after, next, n, model, way) { GUS_PRIOR_GROUP, head, after, next, n, 0, model, way }
#define WAIT(head, after, next, psv, model, way) { GUS_PRIOR_WAIT, head, after, next, 0, psv, model, way }

/* From each op groups of one are half as likely as it is executed and groups of two a third, with two of each a wait in
 * a hundred. What the model waits for is as long again, whatever retires behind: three fifths before a group of one. */
static void test_ways(void **state)
{
	const double c = ROUNDS - 1, waits = 6 * c;
	const struct wanted all[] = {
		GROUP(A, B, C, 2, ROUNDS, c / 3), GROUP(C, A, A, 1, c, ROUNDS / 2.),
		GROUP(A, B, B, 1, 0, c / 2), GROUP(B, C, C, 1, 0, ROUNDS / 2.), GROUP(B, C, A, 2, 0, ROUNDS / 3.),
		GROUP(C, A, B, 2, 0, ROUNDS / 3.),
		WAIT(A, B, B, 0, 0, .01 * c / 2), WAIT(A, B, C, 0, 0, .01 * c / 3),
		WAIT(B, C, C, 0, 0, 5), WAIT(B, C, A, 0, 0, 10 / 3.),
		WAIT(C, A, A, GUS_CORE_ST_L1, waits + .6 * waits, 5),
		WAIT(C, A, B, GUS_CORE_ST_L1, .4 * waits, 10 / 3.),
	};
	const struct wanted known = GROUP(C, A, A, 1, 0, 0);
	double model = ROUNDS + c + 2 * waits, way = 0;
	struct loop f;

	(void)state;
	run(&f);
	make(&f, NULL);
	expect(&f, all, sizeof(all) / sizeof(*all));
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		way += all[i].way;
	gus_prior_weigh(&f.prior, 3);
	assert_float_equal(find(&f.prior, &known)->share, (c + 3 * ROUNDS / 2.) / (model + 3 * way), 1e-9);
	gus_prior_weigh(&f.prior, 0);
	assert_float_equal(find(&f.prior, &known)->share, c / model, 1e-9);
	end(&f);
}

/* Behind A is B three times in four, and else C; each retires by itself. */
static void test_two_ways_to_go(void **state)
{
	const struct wanted to_b = GROUP(A, B, B, 1, 0, 0), to_c = GROUP(A, C, C, 1, 0, 0);
	const struct wanted with_b = GROUP(A, B, A, 2, 0, 0), with_c = GROUP(A, C, A, 2, 0, 0);
	const double times = ROUNDS - 1;
	struct loop f;

	(void)state;
	begin(&f);
	for (unsigned round = 0; round < ROUNDS; round++) {
		retire(&f, A, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		retire(&f, round % 4 == 3 ? C : B, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
	}
	make(&f, NULL);
	assert_float_equal(find(&f.prior, &to_b)->way, .75 * times / 2, 1e-6);
	assert_float_equal(find(&f.prior, &to_c)->way, .25 * times / 2, 1e-6);
	assert_float_equal(find(&f.prior, &with_b)->way, .75 * times / 3, 1e-6);
	assert_float_equal(find(&f.prior, &with_c)->way, .25 * times / 3, 1e-6);
	end(&f);
}

/* One time in a thousand is too seldom to be looked at: it is what the model has of it. */
static void test_rare(void **state)
{
	const struct wanted to_c = GROUP(A, C, C, 1, 0, 0), with_c = GROUP(A, C, A, 2, 0, 0);
	struct loop f;

	(void)state;
	begin(&f);
	for (unsigned round = 0; round < ROUNDS; round++) {
		retire(&f, A, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		retire(&f, round == 500 ? C : B, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
	}
	make(&f, NULL);
	assert_float_equal(find(&f.prior, &to_c)->model, 1, 1e-9);
	assert_true(find(&f.prior, &to_c)->way <= 0);
	assert_null(find(&f.prior, &with_c));
	end(&f);
}

/* What executions met is as it was measured where it was, and as the model has it elsewhere; by site. What could be
 * waited before B is of what it met, by how long the model waits for that: nobody has a miss of the TLB, which so is as
 * all executions are, 1.998 cycles, and of what met nothing 2000 executions are known to wait for nothing. */
static void test_met(void **state)
{
	const struct wanted tlb = WAIT(B, C, C, GUS_CORE_ST_TLB, 0, 0);
	struct gus_met events = { .shares = { 0 } };
	const uint32_t of[] = { 0, 1, 3, 4 };
	struct loop f;

	(void)state;
	gus_vec_push(&events.shares, (struct gus_met_share){ B, 0, .75, 1, 30 });
	gus_vec_push(&events.shares, (struct gus_met_share){ B, GUS_CORE_ST_TLB, .25, 0, 10 });
	run(&f);
	make(&f, &events);
	assert_int_equal(f.prior.met.n, 4);
	assert_memory_equal(f.prior.met_of.v, of, sizeof(of));
	assert_true(f.prior.met.v[0].site == A && f.prior.met.v[0].psv == 0 && f.prior.met.v[0].share == 1);
	assert_true(f.prior.met.v[0].samples == 0);
	assert_true(f.prior.met.v[1].site == B && f.prior.met.v[1].psv == 0 && f.prior.met.v[1].share == .75);
	assert_true(f.prior.met.v[2].site == B && f.prior.met.v[2].share == .25 && f.prior.met.v[2].samples == 10);
	assert_true(f.prior.met.v[3].site == C && f.prior.met.v[3].psv == GUS_CORE_ST_L1);
	assert_float_equal(find(&f.prior, &tlb)->way, .4995 / (.4995 + .75 * 10 * 1.998 / 2010) * 5, 1e-3);
	assert_int_equal(f.prior.weights.n, OPS);
	assert_true(f.prior.weights.v[C] == 1);
	gus_vec_free(&events.shares);
	end(&f);
}

/* Half of A's executions met a miss that the model has of C alone, whose executions wait 5.994 cycles on average (the
 * last one's are not counted); so A's are believed to wait as long, and as often again as waits that the model has
 * are: nothing else stands for them. Of these three fifths are before a group of one. */
static void test_new_waits(void **state)
{
	const struct wanted one = WAIT(A, B, B, GUS_CORE_ST_L1, 0, 0), two = WAIT(A, B, C, GUS_CORE_ST_L1, 0, 0);
	const double waits = .5 * ROUNDS * 5.994, miss = (5994 + 19.98) / 1010, none = 19.98 / 2010;
	struct gus_met events = { .shares = { 0 } };
	struct loop f;

	(void)state;
	gus_vec_push(&events.shares, (struct gus_met_share){ A, 0, .5, 1, 50 });
	gus_vec_push(&events.shares, (struct gus_met_share){ A, GUS_CORE_ST_L1, .5, 0, 50 });
	run(&f);
	make(&f, &events);
	assert_float_equal(find(&f.prior, &one)->way, .01 * (ROUNDS - 1) / 2. * miss / (miss + none), 1e-6);
	assert_float_equal(find(&f.prior, &one)->model, 2 * .6 * waits, 1e-6);
	assert_float_equal(find(&f.prior, &two)->model, 2 * .4 * waits, 1e-6);
	gus_vec_free(&events.shares);
	end(&f);
}

/* A is waited for two cycles and B six, and behind B is A, or C and A. Waits for B that differ in what is behind are as
 * one spread over what could be behind; of each what the model has is there besides. */
static void test_two_waits(void **state)
{
	const struct wanted at_a = WAIT(A, B, B, 0, 0, 0), at_b = WAIT(B, A, A, GUS_CORE_ST_L1, 0, 0);
	const struct wanted with_a = WAIT(B, A, B, GUS_CORE_ST_L1, 0, 0), to_c = WAIT(B, C, C, GUS_CORE_ST_L1, 0, 0);
	struct loop f;

	(void)state;
	begin(&f);
	for (unsigned round = 0; round < ROUNDS; round++) {
		cycle(&f, GUS_COMMIT_STALLED, 2);
		retire(&f, A, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		cycle(&f, GUS_COMMIT_STALLED, 6);
		retire(&f, B, GUS_CORE_ST_L1);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		if (round % 2) {
			retire(&f, C, 0);
			cycle(&f, GUS_COMMIT_COMPUTE, 1);
		}
	}
	make(&f, NULL);
	assert_float_equal(find(&f.prior, &at_a)->model, 2. * ROUNDS + .6 * 2 * ROUNDS, 12);
	assert_float_equal(find(&f.prior, &at_b)->model, 3. * ROUNDS + .3 * 6 * ROUNDS, 12);
	assert_float_equal(find(&f.prior, &to_c)->model, 3. * ROUNDS + .3 * 6 * ROUNDS, 12);
	assert_float_equal(find(&f.prior, &with_a)->model, .2 * 6 * ROUNDS, 12);
	end(&f);
}

/* C is a branch that is mispredicted, always: what it flushes is its own, before A, and so is what could retire there:
 * behind it, and nowhere else. */
static void test_behind(void **state)
{
	unsigned flushes = 0, groups = 0;
	struct loop f;

	(void)state;
	begin(&f);
	f.ops[C].flags = GUS_OP_BRANCH;
	for (unsigned round = 0; round < ROUNDS; round++) {
		retire(&f, A, 0);
		retire(&f, B, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		retire(&f, C, GUS_CORE_FL_MB);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		cycle(&f, GUS_COMMIT_FLUSHED, 10);
	}
	make(&f, NULL);
	for (size_t i = 0; i < f.prior.cycles.n; i++) {
		const struct gus_prior_cycle *c = &f.prior.cycles.v[i];

		flushes += c->kind == GUS_PRIOR_FLUSH;
		groups += c->kind == GUS_PRIOR_GROUP && c->behind;
		if (c->kind == GUS_PRIOR_FLUSH) {
			assert_int_equal(c->of, C);
			assert_int_equal(c->head, A);
			assert_true(c->psv & GUS_CORE_FL_MB);
		}
		if (c->behind)
			assert_int_equal(c->head, A);
	}
	assert_true(flushes > 0);
	assert_true(groups > 0);
	end(&f);
}

/* What could be waited before B, which retires at once in the model, and what the prior has of it. */
static double waited(uint32_t flags)
{
	const struct gus_prior_options o = { .width = 2, .waits = .01, .guessed = 3, .spread = 1 };
	double ways = 0;
	struct loop f;

	begin(&f);
	f.ops[B].flags = flags;
	for (unsigned round = 0; round < 10; round++)
		for (uint32_t i = 0; i < OPS; i++) {
			retire(&f, i, 0);
			cycle(&f, GUS_COMMIT_COMPUTE, 1);
		}
	gus_groups_leave(f.groups, 7);
	gus_prior_make(&f.prior, f.groups, &o, NULL);
	for (size_t i = 0; i < f.prior.cycles.n; i++)
		ways += f.prior.cycles.v[i].kind == GUS_PRIOR_WAIT && f.prior.cycles.v[i].head == B ?
			f.prior.cycles.v[i].way : 0;
	end(&f);
	return ways;
}

/* How long an instruction takes that the table has no row for nobody knows. */
static void test_guessed(void **state)
{
	(void)state;
	assert_true(waited(0) > 0);
	assert_float_equal(waited(GUS_OP_UNKNOWN), 300 * waited(0), 1e-6);
	assert_float_equal(waited(GUS_OP_SERIALISING), waited(0), 1e-9);
}

/* What was found best (docs/accuracy.md), as it is believed in once it is made. */
static void by_default(void **state)
{
	const struct gus_prior_options o = gus_prior_defaults(4);
	double sum = 0, off = 0;
	struct loop f;

	(void)state;
	assert_int_equal(o.width, 4);
	assert_int_equal(gus_prior_defaults(99).width, GUS_GROUP_MOST);
	assert_float_equal(o.waits, .01, 1e-12);
	assert_float_equal(o.guessed, 10, 1e-12);
	assert_float_equal(o.spread, 1, 1e-12);
	run(&f);
	make(&f, NULL);
	for (size_t i = 0; i < f.prior.cycles.n; i++)
		sum += f.prior.cycles.v[i].model + f.prior.cycles.v[i].way;
	for (size_t i = 0; i < f.prior.cycles.n; i++)
		off += fabs(f.prior.cycles.v[i].share - (f.prior.cycles.v[i].model + f.prior.cycles.v[i].way) / sum);
	assert_float_equal(off, 0, 1e-9);
	end(&f);
}

enum { LINE = 6 };

/* A loop of these, simple if they are in capitals, but for ways to the last one from itself, one in so many. */
static void runs_of(const char *ops, unsigned every, uint8_t class, uint32_t memories, uint32_t runs[LINE],
		    bool halves[LINE])
{
	struct gus_op of[LINE] = { 0 };
	struct gus_program_insn insns[LINE] = { 0 };
	const struct gus_program p = { .ops = of, .insns = insns, .ops_n = LINE, .insns_n = LINE };
	const struct gus_prior_options o = { .width = 1, .waits = .01, .spread = 1 };
	struct loop f = { .groups = gus_groups_new() };

	for (uint32_t i = 0; i < LINE; i++) {
		bool simple = ops[i] < 'a';

		of[i] = (struct gus_op){ .insn = i, .insns_n = 1, .slots = 1,
			.memories_n = simple ? memories : 0 };
		insns[i].offset = 4 * i;
		insns[i].info.length = 4;
		insns[i].info.class = simple ? class : GUS_INSN_FP_ADD;
	}
	f.l = gus_groups_listen(f.groups, 7, &p);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < LINE; i++) {
			retire(&f, i, 0);
			cycle(&f, GUS_COMMIT_COMPUTE, 1);
			if (i + 1 == LINE && round % every == 0)
				retire(&f, i, 0);
		}
	gus_groups_leave(f.groups, 7);
	gus_prior_make(&f.prior, f.groups, &o, NULL);
	for (uint32_t i = 0; i < LINE; i++) {
		runs[i] = f.prior.runs.v[i];
		halves[i] = f.prior.halves.v[i];
	}
	end(&f);
}

/* In a run are those that are behind three simple ones, with what they follow: at the first and the second behind one
 * it still shows what was before. Behind the first half of an instruction is behind it, if it is simple. */
static void finds_runs(void **state)
{
	static const struct { const char *ops; uint32_t runs[LINE]; } cases[] = {
		{ "abcdef", { 0, 1, 2, 3, 4, 5 } }, { "aBCdef", { 0, 1, 2, 3, 4, 5 } },
		{ "aBCDef", { 0, 1, 2, 3, 3, 5 } }, { "aBCDEf", { 0, 1, 2, 3, 3, 3 } },
		{ "aBCdEF", { 0, 1, 2, 3, 4, 5 } }, { "ABcDEF", { 0, 0, 0, 3, 4, 0 } },
		{ "aBCDEF", { 0, 1, 2, 0, 0, 0 } }, { "ABCDEF", { 0, 0, 0, 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *ops = cases[i].ops;
		uint32_t runs[LINE];
		bool halves[LINE];

		print_message("%s\n", cases[i].ops);
		runs_of(ops, ROUNDS + 1, GUS_INSN_ALU, 0, runs, halves);
		for (uint32_t k = 0; k < LINE; k++) {
			assert_int_equal(runs[k], cases[i].runs[k]);
			assert_int_equal(halves[k], ops[k] < 'a' && ops[(k + LINE - 1) % LINE] < 'a' &&
					 ops[(k + LINE - 2) % LINE] < 'a');
		}
	}
}

/* One of six ways to the last comes from what is not simple: that is not nearly all; one of 21 is. A load is not
 * simple, and a division is not quick. */
static void runs_are_nearly_always_the_same(void **state)
{
	static const struct { unsigned every; uint8_t class; uint32_t memories, last; } cases[] = {
		{ 5, GUS_INSN_ALU, 0, 5 }, { 20, GUS_INSN_ALU, 0, 4 }, { 20, GUS_INSN_ALU, 1, 5 },
		{ 20, GUS_INSN_DIV, 0, 5 }, { 20, GUS_INSN_MUL, 0, 4 }, { 20, GUS_INSN_LEA, 0, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t runs[LINE];
		bool halves[LINE];

		runs_of("abCDEf", cases[i].every, cases[i].class, cases[i].memories, runs, halves);
		assert_int_equal(runs[5], cases[i].last == 4 ? runs[4] : 5);
		assert_int_equal(runs[4], 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_two_ways_to_go),
		cmocka_unit_test(test_rare),
		cmocka_unit_test(test_met),
		cmocka_unit_test(test_new_waits),
		cmocka_unit_test(test_two_waits),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_guessed),
		cmocka_unit_test(by_default),
		cmocka_unit_test(finds_runs),
		cmocka_unit_test(runs_are_nearly_always_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
