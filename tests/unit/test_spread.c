/* SPDX-License-Identifier: MIT */
/* From where samples were seen to whom the time belongs (attribution/proportional): what retires together in a run, and
 * what is made of samples by it. */
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
#include "attribution/proportional/spread.h"
#include "model/code/program.h"
#include "model/machine/options.h"

/* assert_float_equal takes what is no number for equal. */
#define NEAR(x, y, within) assert_true(fabs((x) - (y)) < (within))

enum { A = 0, B = 4, C = 8, ROUNDS = 1000 };

struct loop {
	struct gus_op ops[3];
	struct gus_program_insn insns[3];
	struct gus_program p;
	struct gus_groups *groups;
	const struct gus_core_listener *l;
};

static uint32_t c_flags;                /* of C's instruction */

static void begin(struct loop *f)
{
	*f = (struct loop){ .groups = gus_groups_new() };
	f->p = (struct gus_program){ .ops = f->ops, .insns = f->insns, .ops_n = 3, .insns_n = 3 };
	for (uint32_t i = 0; i < 3; i++) {
		f->ops[i] = (struct gus_op){ .insn = i, .insns_n = 1, .slots = 1 };
		f->insns[i].offset = 4 * i;
		f->insns[i].info.length = 4;
	}
	f->insns[2].info.flags = c_flags;
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

/* A and B retire together, then C, which waits 6 cycles for its line; and again. */
static void run(struct loop *f)
{
	begin(f);
	for (unsigned round = 0; round < ROUNDS; round++) {
		retire(f, 0, 0);
		retire(f, 1, 0);
		cycle(f, GUS_COMMIT_COMPUTE, 1);
		cycle(f, GUS_COMMIT_STALLED, 6);
		retire(f, 2, GUS_CORE_ST_L1);
		cycle(f, GUS_COMMIT_COMPUTE, 1);
	}
	gus_groups_leave(f->groups, 7);
}

static void expect_group(const struct gus_groups_counts *c, size_t i, const uint32_t *members, uint32_t n,
			 uint32_t next, uint64_t times)
{
	const struct gus_groups_group *g = &c->groups.v[i];

	assert_int_equal(g->n, n);
	assert_int_equal(g->next, next);
	assert_int_equal(g->times, times);
	for (uint32_t k = 0; k < n; k++)
		assert_int_equal(c->members.v[g->first + k], members[k]);
}

/* The last group has no next, and is in none. */
static void test_groups(void **state)
{
	const uint32_t both[] = { 0, 1 }, third[] = { 2 };
	const struct gus_groups_counts *c;
	struct loop f;

	(void)state;
	run(&f);
	c = gus_groups_counts(f.groups);
	assert_int_equal(c->sites.n, 3);
	assert_int_equal(c->sites.v[2].address, C);
	assert_int_equal(c->sites.v[2].executed, ROUNDS);
	assert_int_equal(c->groups.n, 2);
	expect_group(c, 0, both, 2, 2, ROUNDS);
	expect_group(c, 1, third, 1, 0, ROUNDS - 1);
	assert_int_equal(c->waits.n, 1);
	assert_int_equal(c->waits.v[0].head, 2);
	assert_int_equal(c->waits.v[0].of, 2);
	assert_int_equal(c->waits.v[0].next, 0);
	assert_int_equal(c->waits.v[0].psv, GUS_CORE_ST_L1);
	assert_int_equal(c->waits.v[0].cycles, 6 * (ROUNDS - 1));
	assert_int_equal(c->cycles, ROUNDS + 7 * (ROUNDS - 1));
	assert_int_equal(c->edges.n, 3);
	assert_int_equal(c->edges.v[2].from, 2);
	assert_int_equal(c->edges.v[2].times, ROUNDS - 1);
	gus_groups_free(f.groups);
}

/* What a run meets that supposes what was before it is not assured; of what others do all is. */
static void test_supposed(void **state)
{
	const struct gus_groups_counts *c;
	struct loop f;

	(void)state;
	begin(&f);
	for (unsigned round = 0; round < 10; round++)
		retire(&f, 2, GUS_CORE_ST_L1);
	gus_groups_suppose(f.groups, 7);
	gus_groups_suppose(f.groups, 99);
	for (unsigned round = 0; round < 5; round++)
		retire(&f, 2, GUS_CORE_ST_L1);
	retire(&f, 0, 0);
	f.l = gus_groups_listen(f.groups, 8, &f.p);
	retire(&f, 0, 0);
	c = gus_groups_counts(f.groups);
	assert_int_equal(c->met.n, 2);
	assert_int_equal(c->met.v[0].times, 15);
	assert_int_equal(c->met.v[0].assured, 10);
	assert_int_equal(c->met.v[1].times, 2);
	assert_int_equal(c->met.v[1].assured, 1);
	gus_groups_free(f.groups);
}

/* C waits although it has met nothing, or is locked and finds the store queue full: that is its base. */
static void test_base(void **state)
{
	static const struct { uint16_t psv; uint32_t flags; uint64_t base; } cases[] = {
		{ 0, 0, 5 }, { GUS_CORE_ST_L1, 0, 0 }, { GUS_CORE_DR_SQ, 0, 0 }, { GUS_CORE_DR_SQ, GUS_INSN_LOCK, 5 },
		{ GUS_CORE_ST_L1, GUS_INSN_LOCK, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_groups_site *site;
		struct loop f;

		c_flags = cases[i].flags;
		begin(&f);
		c_flags = 0;
		for (unsigned round = 0; round < 2; round++) {
			cycle(&f, GUS_COMMIT_STALLED, 5);
			retire(&f, 2, cases[i].psv);
			cycle(&f, GUS_COMMIT_COMPUTE, 1);
		}
		site = gus_groups_counts(f.groups)->sites.v;
		assert_int_equal(site->base, cases[i].base);
		assert_int_equal(site->locks, cases[i].flags != 0);
		gus_groups_free(f.groups);
	}
}

/* C is a branch that is mispredicted and goes to A: the cycles behind it are its own, and are seen at A, behind it. */
static void test_flushed(void **state)
{
	const struct gus_groups_counts *c;
	struct loop f;

	(void)state;
	begin(&f);
	for (unsigned round = 0; round < 3; round++) {
		retire(&f, 0, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		retire(&f, 2, GUS_CORE_FL_MB);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		cycle(&f, GUS_COMMIT_FLUSHED, 5);
	}
	gus_groups_leave(f.groups, 7);
	c = gus_groups_counts(f.groups);
	assert_int_equal(c->waits.n, 1);
	assert_true(c->waits.v[0].flushed);
	assert_true(c->waits.v[0].behind);
	assert_int_equal(c->waits.v[0].head, 0);
	assert_int_equal(c->waits.v[0].of, 1);
	assert_int_equal(c->waits.v[0].cycles, 10);
	assert_int_equal(c->groups.n, 3);       /* A before any, C, and A behind C */
	assert_false(c->groups.v[0].behind);
	assert_true(c->groups.v[2].behind);
	gus_groups_free(f.groups);
}

/* B retires with A, for which four cycles were waited, and C follows: an interrupt that comes while A is waited for
 * lands on B. Cycles that were thrown away for what comes next, or before anything had retired, are waits like any. */
static void test_after(void **state)
{
	const struct gus_groups_counts *c;
	struct loop f;

	(void)state;
	begin(&f);
	cycle(&f, GUS_COMMIT_FLUSHED, 2);
	for (unsigned round = 0; round < 2; round++) {
		cycle(&f, GUS_COMMIT_STALLED, 3);
		f.l->cycle(f.l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_FLUSHED, .of_next = true });
		retire(&f, 0, 0);
		retire(&f, 1, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		retire(&f, 2, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
	}
	gus_groups_leave(f.groups, 7);
	c = gus_groups_counts(f.groups);
	assert_int_equal(c->waits.n, 1);
	assert_false(c->waits.v[0].flushed);
	assert_int_equal(c->waits.v[0].head, 0);
	assert_int_equal(c->waits.v[0].after, 1);
	assert_int_equal(c->waits.v[0].next, 2);
	assert_int_equal(c->waits.v[0].cycles, 2 + 4 + 4);
	assert_int_equal(c->met.n, 3);
	assert_int_equal(c->met.v[0].times, 2);
	gus_groups_free(f.groups);
}

/* A and B are one op, a branch that is mispredicted and not taken: C is what follows anyway, and not behind it. */
static void test_fused(void **state)
{
	const struct gus_groups_counts *c;
	struct loop f;

	(void)state;
	begin(&f);
	f.ops[0].insns_n = 2;
	for (unsigned round = 0; round < 2; round++) {
		retire(&f, 0, GUS_CORE_FL_MB);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		cycle(&f, GUS_COMMIT_FLUSHED, 5);
		retire(&f, 2, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
	}
	gus_groups_leave(f.groups, 7);
	c = gus_groups_counts(f.groups);
	assert_int_equal(c->sites.v[0].weight, 2);
	assert_int_equal(c->waits.n, 1);
	assert_true(c->waits.v[0].flushed && !c->waits.v[0].behind);
	assert_true(c->waits.v[0].head == 1 && c->waits.v[0].of == 0);
	assert_int_equal(c->waits.v[0].cycles, 5); /* the last group has no next */
	assert_int_equal(c->edges.n, 2);
	assert_true(!c->edges.v[0].behind && c->edges.v[0].from == 0 && c->edges.v[0].to == 1);
	assert_int_equal(c->edges.v[0].times, 2);
	gus_groups_free(f.groups);
}

/* Of a group that is too large the first are kept, and all were executed. */
static void test_large(void **state)
{
	const struct gus_groups_counts *c;
	struct loop f;

	(void)state;
	begin(&f);
	for (unsigned i = 0; i < GUS_GROUP_MOST + 4; i++)
		retire(&f, i % 2, 0);
	cycle(&f, GUS_COMMIT_COMPUTE, 1);
	retire(&f, 2, 0);
	cycle(&f, GUS_COMMIT_COMPUTE, 1);
	c = gus_groups_counts(f.groups);
	assert_int_equal(c->groups.n, 1);
	assert_int_equal(c->groups.v[0].n, GUS_GROUP_MOST);
	assert_int_equal(c->groups.v[0].next, 2);
	assert_int_equal(c->sites.v[0].executed, GUS_GROUP_MOST / 2 + 2);
	gus_groups_free(f.groups); /* while it is listened to */
}

/* Two at a time: what follows in one has nothing to do with the other, which goes on when the first is left. */
static void test_streams(void **state)
{
	const struct gus_core_listener *first, *second;
	const struct gus_groups_counts *c;
	struct loop f;

	(void)state;
	begin(&f);
	first = f.l;
	second = gus_groups_listen(f.groups, 8, &f.p);
	for (unsigned round = 0; round < 6; round++) {
		f.l = first;
		if (round < 3) {
			retire(&f, 0, 0);
			cycle(&f, GUS_COMMIT_COMPUTE, 1);
		}
		if (round == 3)
			gus_groups_leave(f.groups, 7);
		f.l = second;
		retire(&f, 1, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
	}
	c = gus_groups_counts(f.groups);
	assert_int_equal(c->edges.n, 2);
	assert_true(c->edges.v[0].from == 0 && c->edges.v[0].to == 0 && c->edges.v[0].times == 2);
	assert_true(c->edges.v[1].from == 1 && c->edges.v[1].to == 1 && c->edges.v[1].times == 5);
	assert_int_equal(c->cycles, 7);
	gus_groups_free(f.groups);
}

struct fitted { struct loop f; struct gus_prior prior; struct gus_spread *spread; };

static void fit_early(struct fitted *t, enum gus_spread_sight sight, const struct gus_site_count *time, size_t n,
		      double early)
{
	const struct gus_site_count executed[] = { { 0, false, .125 }, { 1, false, .125 }, { 2, false, .125 } };
	const struct gus_prior_options po = gus_prior_defaults(4);
	const struct gus_spread_options so = gus_spread_defaults();

	run(&t->f);
	gus_prior_make(&t->prior, t->f.groups, &po, NULL);
	t->spread = gus_spread_new(&t->prior);
	gus_spread_see(t->spread, &(struct gus_spread_seen){ .sight = sight, .counts = time, .n = n,
			.samples = 10000, .early = early });
	gus_spread_see(t->spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_EXECUTED, .counts = executed, .n = 3,
			.samples = 10000 });
	gus_spread_fit(t->spread, &so);
}

static void fit(struct fitted *t, enum gus_spread_sight sight, const struct gus_site_count *time, size_t n)
{
	fit_early(t, sight, time, n, 0);
}

static void drop(struct fitted *t)
{
	gus_spread_free(t->spread);
	gus_prior_free(&t->prior);
	gus_groups_free(t->f.groups);
}

static double share_of(const struct gus_spread_cells *cells, uint32_t site, int psv)
{
	double share = 0;

	for (size_t i = 0; i < cells->n; i++)
		if (cells->v[i].site == site && (psv < 0 || cells->v[i].psv == psv))
			share += cells->v[i].share;
	return share;
}

static void expect_loop(const struct fitted *t, double within)
{
	struct gus_spread_cells cells = { 0 };

	gus_spread_cells(t->spread, &cells);
	NEAR(share_of(&cells, 0, -1), .0625, within);
	NEAR(share_of(&cells, 1, -1), .0625, within);
	NEAR(share_of(&cells, 2, -1), .875, 1.7 * within);
	NEAR(share_of(&cells, 2, GUS_CORE_ST_L1), .875, 1.7 * within);
	gus_vec_free(&cells);
}

/* Of what could be waited before an instruction, what the model does not have: by what was met. */
static double could_be(const struct gus_prior *p, uint32_t head, uint16_t psv)
{
	double way = 0;

	for (size_t i = 0; i < p->cycles.n; i++)
		if (p->cycles.v[i].kind == GUS_PRIOR_WAIT && p->cycles.v[i].head == head && p->cycles.v[i].psv == psv)
			way += p->cycles.v[i].way;
	return way;
}

/* All of C's executions missed, so no wait for it is of one that met nothing. Of A's half did, by measurement, and no
 * others wait in the model: nearly all that could be waited before it is of these. */
static void test_waits_met(void **state)
{
	const struct gus_prior_options po = gus_prior_defaults(4);
	struct gus_met met = { .shares = { 0 } };
	struct gus_prior prior;
	struct loop f;

	(void)state;
	run(&f);
	gus_prior_make(&prior, f.groups, &po, NULL);
	assert_true(could_be(&prior, 0, 0) > 0);
	assert_true(could_be(&prior, 0, GUS_CORE_ST_L1) <= 0);
	assert_true(could_be(&prior, 2, 0) <= 0);
	assert_true(could_be(&prior, 2, GUS_CORE_ST_L1) > 0);
	gus_prior_free(&prior);
	gus_vec_push(&met.shares, (struct gus_met_share){ 0, 0, .5, 1, 100 });
	gus_vec_push(&met.shares, (struct gus_met_share){ 0, GUS_CORE_ST_L1, .5, 0, 100 });
	gus_prior_make(&prior, f.groups, &po, &met);
	assert_true(could_be(&prior, 0, GUS_CORE_ST_L1) > 50 * could_be(&prior, 0, 0));
	gus_prior_free(&prior);
	gus_vec_free(&met.shares);
	gus_groups_free(f.groups);
}

/* B is never the next that retires, and has half of the cycle that A is seen in. */
static void test_next(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .125 }, { 2, false, .875 } };
	struct fitted t;

	(void)state;
	fit(&t, GUS_SPREAD_NEXT, time, 2);
	expect_loop(&t, .006);
	drop(&t);
}

/* An interrupt in a cycle of A and B lands on C, one in those of C on A. */
static void test_interrupt(void **state)
{
	const struct gus_site_count time[] = { { 2, false, .125 }, { 0, false, .875 } };
	struct fitted t;

	(void)state;
	fit(&t, GUS_SPREAD_INTERRUPT, time, 2);
	expect_loop(&t, .006);
	drop(&t);
}

/* Seen at B as often as at A, which the model never has, and both as often as they are executed: each retires alone. */
static void test_not_as_modelled(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .125 }, { 1, false, .125 }, { 2, false, .75 } };
	struct gus_spread_cells cells = { 0 };
	struct fitted t;

	(void)state;
	fit(&t, GUS_SPREAD_NEXT, time, 3);
	gus_spread_cells(t.spread, &cells);
	assert_float_equal(share_of(&cells, 0, -1), .125, .02);
	assert_float_equal(share_of(&cells, 1, -1), .125, .02);
	gus_vec_free(&cells);
	drop(&t);
}

/* A part of what was seen: what belongs to whom is that of all; at what no cycle is seen is nobody's. */
static void test_part(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .125 }, { 2, false, .875 } };
	const struct gus_site_count part[] = { { 0, false, 10 }, { UINT32_MAX, false, 3 } };
	struct gus_spread_cells cells = { 0 };
	struct fitted t;

	(void)state;
	fit(&t, GUS_SPREAD_NEXT, time, 2);
	assert_float_equal(gus_spread_share(t.spread, 0, part, 2, &cells), 3, 1e-9);
	assert_float_equal(share_of(&cells, 0, -1) + share_of(&cells, 1, -1) + share_of(&cells, 2, -1), 10, 1e-9);
	assert_float_equal(share_of(&cells, 1, -1), 5, .3);
	gus_vec_free(&cells);
	drop(&t);
}

/* A line of ops, each of which retires by itself. */
static void run_line(struct gus_groups *g, uint32_t n)
{
	struct gus_op *ops = gus_zalloc(n * sizeof(*ops));
	struct gus_program_insn *insns = gus_zalloc(n * sizeof(*insns));
	const struct gus_program p = { .ops = ops, .insns = insns, .ops_n = n, .insns_n = n };
	const struct gus_core_listener *l = gus_groups_listen(g, 1, &p);

	for (uint32_t i = 0; i < n; i++) {
		ops[i] = (struct gus_op){ .insn = i, .insns_n = 1, .slots = 1 };
		insns[i].offset = 4 * i;
		insns[i].info.length = 4;
		l->retire(l->context, &(struct gus_core_retired){ .op = i, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	}
	gus_groups_leave(g, 1);
	free(ops);
	free(insns);
}

/* A hundred threads, each of which was seen at one op of a long line: what retires in its cycle has its time. */
static void test_many_threads(void **state)
{
	const struct gus_site_count time[] = { { 20, false, 1 } };
	const struct gus_prior_options po = gus_prior_defaults(4);
	struct fitted t = { .f.groups = gus_groups_new() };
	struct gus_spread_cells cells = { 0 };

	(void)state;
	run_line(t.f.groups, 20000);
	gus_prior_make(&t.prior, t.f.groups, &po, NULL);
	t.spread = gus_spread_new(&t.prior);
	gus_spread_see(t.spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_NEXT, .counts = time, .n = 1,
			.samples = 100 });
	gus_spread_fit(t.spread, &(struct gus_spread_options){ .strength = 100, .steps = 1, .ways = 1 });
	for (unsigned i = 0; i < 100; i++)
		gus_spread_share(t.spread, 0, time, 1, &cells);
	assert_float_equal(share_of(&cells, 20, -1) + share_of(&cells, 21, -1) + share_of(&cells, 22, -1) +
			   share_of(&cells, 23, -1), 100, 1e-9);
	gus_vec_free(&cells);
	drop(&t);
}

/* Nothing was fitted yet: of the model's cycles an eighth is at A, the rest at C, and half of the samples is at each.
 * Each op is executed in an eighth of the cycles, and B was seen to be in a quarter. What is off of both adds up, by
 * their samples. Half of what is at A is told apart by what was before it, which nobody knows of here; and of what no
 * cycle is seen at there is no word. */
static void test_deviance(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .25 }, { 0, true, .25 }, { 2, false, .5 },
		{ 9, false, .1 } };
	const struct gus_site_count executed[] = { { 0, false, .125 }, { 1, false, .25 }, { 2, false, .125 } };
	const struct gus_prior_options po = { .width = 4 };
	struct gus_spread_cells cells = { 0 };
	struct gus_spread *spread;
	struct gus_prior prior;
	double off;
	struct loop f;

	(void)state;
	run(&f);
	gus_prior_make(&prior, f.groups, &po, NULL);
	spread = gus_spread_new(&prior);
	gus_spread_see(spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_NEXT, .counts = time, .n = 4,
			.samples = 100 });
	gus_spread_see(spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_EXECUTED, .counts = executed, .n = 3,
			.samples = 40 });
	gus_spread_fit(spread, &(struct gus_spread_options){ .strength = 1, .ways = 1e-9 });
	off = 100 * (.5 * log(4) + .5 * log(4. / 7)) + 40 * (.125 - .25 + .25 * log(2));
	NEAR(gus_spread_deviance(spread), off, .05);
	assert_float_equal(gus_spread_share(spread, 0, time, 4, &cells), .1, 1e-12);
	assert_float_equal(share_of(&cells, 0, -1) + share_of(&cells, 1, -1), .5, 1e-9);
	assert_float_equal(share_of(&cells, 2, -1), .5, 1e-9);
	gus_vec_free(&cells);
	gus_spread_recount(spread, 0, (const struct gus_site_count[]){ { 7, false, .2 }, { 8, false, .3 } }, 2);
	assert_float_equal(gus_spread_share(spread, 0, (const struct gus_site_count[]){ { 7, false, .2 },
					    { 8, false, .3 } }, 2, &cells), .5, 1e-12);
	assert_int_equal(cells.n, 0);
	NEAR(gus_spread_deviance(spread), 100 * 1 + 40 * (.125 - .25 + .25 * log(2)), .05);
	gus_spread_free(spread);
	gus_prior_free(&prior);
	gus_groups_free(f.groups);
}

/* Of the model's cycles an eighth is seen at A and the rest at C. What was seen so is no way off; half at each is half
 * of the logarithms of 4 and of 4/7. If nothing was seen there is no way. */
static void test_divergence(void **state)
{
	const struct gus_site_count as[] = { { 0, false, 1 }, { 2, false, 7 } };
	const struct gus_site_count half[] = { { 0, false, 2 }, { 2, false, 2 } };
	const struct gus_prior_options po = { .width = 4 };
	struct gus_spread *spread;
	struct gus_prior prior;
	struct loop f;

	(void)state;
	run(&f);
	gus_prior_make(&prior, f.groups, &po, NULL);
	spread = gus_spread_new(&prior);
	assert_true(gus_spread_divergence(spread) == 0);
	gus_spread_see(spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_NEXT, .counts = as, .n = 2,
			.samples = 100 });
	gus_prior_weigh(&prior, 0);
	NEAR(gus_spread_divergence(spread), 0, 1e-3);
	gus_spread_recount(spread, 0, half, 2);
	NEAR(gus_spread_divergence(spread), log(4) / 2 + log(4. / 7) / 2, 1e-3);
	gus_spread_recount(spread, 0, half, 1); /* of C nothing is seen */
	NEAR(gus_spread_divergence(spread), log(8), 1e-3);
	gus_spread_recount(spread, 0, half, 0);
	assert_true(gus_spread_divergence(spread) == 0);
	gus_spread_free(spread);
	gus_prior_free(&prior);
	gus_groups_free(f.groups);
}

/* What rests on no samples says nothing: what was believed stays, of each kind of cycles. */
static void test_no_samples(void **state)
{
	const struct gus_site_count time[] = { { 1, false, 1 } };
	const struct gus_prior_options po = gus_prior_defaults(4);
	struct fitted t;
	double sum = 0;

	(void)state;
	run(&t.f);
	gus_prior_make(&t.prior, t.f.groups, &po, NULL);
	t.spread = gus_spread_new(&t.prior);
	gus_spread_see(t.spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_NEXT, .counts = time, .n = 1 });
	gus_spread_fit(t.spread, &(struct gus_spread_options){ .strength = 100, .steps = 5, .ways = 1 });
	for (size_t i = 0; i < t.prior.cycles.n; i++) {
		NEAR(gus_spread_shares(t.spread)[i], t.prior.cycles.v[i].share, 1e-9);
		sum += gus_spread_shares(t.spread)[i];
	}
	NEAR(sum, 1, 1e-9);
	drop(&t);
}

/* C is mispredicted every other time, and goes to A; five cycles are lost then, as it seems to the model. Samples tell
 * of each whether it is behind a misprediction, and few are: the branch has no more than these. */
static void test_known_to_be_behind(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .45 }, { 0, true, .1 }, { 2, false, .45 } };
	const struct gus_prior_options po = gus_prior_defaults(4);
	const struct gus_spread_options so = gus_spread_defaults();
	struct gus_spread_cells cells = { 0 };
	struct fitted t;

	(void)state;
	begin(&t.f);
	for (unsigned round = 0; round < ROUNDS; round++) {
		retire(&t.f, 0, 0);
		cycle(&t.f, GUS_COMMIT_COMPUTE, 1);
		retire(&t.f, 1, 0);
		cycle(&t.f, GUS_COMMIT_COMPUTE, 1);
		retire(&t.f, 2, round % 2 ? GUS_CORE_FL_MB : 0);
		cycle(&t.f, GUS_COMMIT_COMPUTE, 1);
		cycle(&t.f, GUS_COMMIT_FLUSHED, round % 2 ? 5 : 0);
	}
	gus_groups_leave(t.f.groups, 7);
	gus_prior_make(&t.prior, t.f.groups, &po, NULL);
	t.spread = gus_spread_new(&t.prior);
	gus_spread_see(t.spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_NEXT, .counts = time, .n = 3,
			.behind = true, .samples = 10000 });
	gus_spread_fit(t.spread, &so);
	assert_true(gus_spread_sees(t.spread, 0, &time[1]));
	assert_false(gus_spread_sees(t.spread, 0, &(struct gus_site_count){ 9, false, 1 }));
	gus_spread_cells(t.spread, &cells);
	assert_true(share_of(&cells, 2, GUS_CORE_FL_MB) < .35);
	gus_vec_free(&cells);
	drop(&t);
}

/* Seen right behind what was waited for, but for a tenth, which is seen at it: of a cycle of A and B nine tenths are at
 * B, of those of C at A. */
static void test_behind(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .0125 + .7875 }, { 1, false, .1125 }, { 2, false, .0875 } };
	struct fitted t;

	(void)state;
	fit_early(&t, GUS_SPREAD_BEHIND, time, 3, .1);
	expect_loop(&t, .01);
	drop(&t);
}

/* Cycles that are seen at two places have the counts of both. */
static void test_parts_of_two_places(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .0125 + .7875 }, { 1, false, .1125 }, { 2, false, .0875 } };
	const struct gus_site_count two[] = { { 2, false, 100 }, { 0, false, 900 } };
	struct gus_spread_cells cells = { 0 };
	struct fitted t;

	(void)state;
	fit_early(&t, GUS_SPREAD_BEHIND, time, 3, .1);
	assert_float_equal(gus_spread_share(t.spread, 0, two, 2, &cells), 0, 1e-9);
	assert_float_equal(share_of(&cells, 0, -1) + share_of(&cells, 1, -1) + share_of(&cells, 2, -1), 1000, 1e-6);
	assert_true(share_of(&cells, 2, GUS_CORE_ST_L1) > 950);
	for (size_t i = 1; i < cells.n; i++)
		assert_true(cells.v[i - 1].site < cells.v[i].site || (cells.v[i - 1].site == cells.v[i].site &&
								       cells.v[i - 1].psv < cells.v[i].psv));
	gus_vec_free(&cells);
	drop(&t);
}

static void test_defaults(void **state)
{
	(void)state;
	assert_float_equal(gus_spread_defaults().strength, 100, 1e-12);
	assert_int_equal(gus_spread_defaults().steps, 200);
	assert_float_equal(gus_spread_defaults().ways, 0, 1e-12);
}

/* What is as the model has it needs nothing else: of what could be, beside, the least is believed. Where nothing is as
 * it has it, more is. */
static void test_weighs(void **state)
{
	const struct gus_site_count as[] = { { 0, false, .125 }, { 2, false, .875 } };
	const struct gus_site_count other[] = { { 0, false, .2 }, { 1, false, .6 }, { 2, false, .2 } };
	double ways[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		double model = 0, way = 0, share = 0;
		struct fitted t;

		fit(&t, GUS_SPREAD_NEXT, i ? other : as, i ? 3 : 2);
		for (size_t k = 0; k < t.prior.cycles.n; k++) {
			const struct gus_prior_cycle *c = &t.prior.cycles.v[k];

			model += c->model;
			way += c->way;
			share += c->model > 0 ? 0 : c->share;
			ways[i] = c->model > 0 ? ways[i] : c->share / c->way;
		}
		assert_true(share > 0);
		ways[i] = ways[i] * model / (1 - ways[i] * way); /* of 1 = (model + ways way) / sum */
		drop(&t);
	}
	assert_float_equal(ways[0], .01, 1e-6);
	assert_true(ways[1] > .5);
}

/* The same of an interrupt that comes when all that retires has. */
static void test_interrupt_early(void **state)
{
	const struct gus_site_count time[] = { { 0, false, .0125 + .7875 }, { 2, false, .1125 + .0875 } };
	struct fitted t;

	(void)state;
	fit_early(&t, GUS_SPREAD_INTERRUPT, time, 2, .1);
	expect_loop(&t, .006);
	drop(&t);
}

/* C is a string instruction that repeats: interrupts land on it while it goes on. Of A and B they land behind both. */
static void test_repeats(void **state)
{
	const struct gus_site_count time[] = { { 2, false, 1 } };
	struct fitted t;

	(void)state;
	c_flags = GUS_INSN_REP;
	fit_early(&t, GUS_SPREAD_INTERRUPT, time, 1, 0);
	c_flags = 0;
	assert_true(gus_groups_counts(t.f.groups)->sites.v[2].repeats);
	assert_false(gus_groups_counts(t.f.groups)->sites.v[0].repeats);
	expect_loop(&t, .01);
	drop(&t);
}

/* A, B and C are quick integer instructions, each of which retires alone, and all samples are at C, so B was waited
 * for. If it is known that samples do not tell such apart each has its third, as the model has it. */
static void test_runs(void **state)
{
	const struct gus_site_count time[] = { { 2, false, 1 } }, second[] = { { 0, false, 1, true } };
	const struct gus_prior_options po = gus_prior_defaults(4);
	const struct gus_spread_options so = gus_spread_defaults();

	(void)state;
	for (int runs = 0; runs < 2; runs++) {
		struct gus_spread_cells cells = { 0 };
		struct fitted t;

		begin(&t.f);
		for (uint32_t op = 0; op < 3; op++)
			t.f.insns[op].info.class = GUS_INSN_ALU;
		for (uint32_t i = 0; i < 3 * ROUNDS; i++) {
			retire(&t.f, i % 3, 0);
			cycle(&t.f, GUS_COMMIT_COMPUTE, 1);
		}
		gus_groups_leave(t.f.groups, 7);
		gus_prior_make(&t.prior, t.f.groups, &po, NULL);
		t.spread = gus_spread_new(&t.prior);
		gus_spread_see(t.spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_BEHIND, .counts = time, .n = 1,
				.samples = 10000, .runs = runs, .halves = true });
		gus_spread_fit(t.spread, &so);
		gus_spread_cells(t.spread, &cells);
		assert_true(gus_spread_sees(t.spread, 0, second)); /* where its first is, or of a run anywhere */
		if (runs)
			assert_float_equal(share_of(&cells, 0, -1), 1. / 3, .02);
		else
			assert_true(share_of(&cells, 1, -1) > .9);
		gus_vec_free(&cells);
		drop(&t);
	}
}

/* Behind quick instructions is a nop that is fused to another, which code begins with as well, once: the pair is in
 * their run, but what it is waited for is seen at its second, which is behind no quick one. */
static void test_half_behind_a_run(void **state)
{
	enum { QUICK = 4, NOP = QUICK, SECOND, OPS };
	const struct gus_prior_options po = gus_prior_defaults(4);
	const struct gus_spread_options so = gus_spread_defaults();
	struct gus_site_count time = { .share = 1 };
	struct gus_op ops[OPS];
	struct gus_program_insn insns[OPS] = { 0 };
	const struct gus_program p = { .ops = ops, .insns = insns, .ops_n = OPS, .insns_n = OPS };
	struct fitted t = { .f = { .groups = gus_groups_new() } };
	struct gus_spread_cells cells = { 0 };

	(void)state;
	for (uint32_t i = 0; i < OPS; i++) {
		ops[i] = (struct gus_op){ .insn = i, .insns_n = i == NOP ? 2 : 1, .slots = 1 };
		insns[i].offset = 4 * i;
		insns[i].info = (struct gus_insn_info){ .length = 4, .class = i < QUICK ? GUS_INSN_ALU : GUS_INSN_NOP };
	}
	t.f.l = gus_groups_listen(t.f.groups, 7, &p);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t other = round == ROUNDS / 2;

		for (uint32_t op = other ? SECOND : 0; op < SECOND + other; op++) {
			cycle(&t.f, GUS_COMMIT_STALLED, op == NOP ? 6 : 0);
			retire(&t.f, op, 0);
			cycle(&t.f, GUS_COMMIT_COMPUTE, 1);
		}
	}
	gus_groups_leave(t.f.groups, 7);
	time.site = gus_groups_site(t.f.groups, insns[SECOND].offset);
	assert_int_not_equal(time.site, UINT32_MAX);
	gus_prior_make(&t.prior, t.f.groups, &po, NULL);
	assert_int_not_equal(t.prior.runs.v[NOP], NOP);
	t.spread = gus_spread_new(&t.prior);
	gus_spread_see(t.spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_BEHIND, .counts = &time, .n = 1,
			.samples = 10000, .runs = true, .halves = true });
	gus_spread_fit(t.spread, &so);
	gus_spread_cells(t.spread, &cells);
	assert_true(share_of(&cells, NOP, -1) > .9);
	gus_vec_free(&cells);
	drop(&t);
}

/* Traces begin at A, and nothing leads there: what is seen at it was waited for before, and not by A, though a tenth of
 * samples lands on what is waited for itself. Where the rule is that all do, A has its own. */
static void test_begins(void **state)
{
	static const struct { enum gus_spread_sight sight; bool sees; } cases[] = {
		{ GUS_SPREAD_BEHIND, false }, { GUS_SPREAD_INTERRUPT, false }, { GUS_SPREAD_NEXT, true } };
	const struct gus_prior_options po = gus_prior_defaults(4);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_spread *spread;
		struct gus_prior prior;
		struct loop f;

		begin(&f);
		gus_groups_leave(f.groups, 7);
		for (uint32_t round = 0; round < ROUNDS; round++) {
			f.l = gus_groups_listen(f.groups, round, &f.p);
			for (uint32_t op = 0; op < 3; op++) {
				retire(&f, op, 0);
				cycle(&f, GUS_COMMIT_COMPUTE, 1);
			}
			gus_groups_leave(f.groups, round);
		}
		gus_prior_make(&prior, f.groups, &po, NULL);
		spread = gus_spread_new(&prior);
		gus_spread_see(spread, &(struct gus_spread_seen){ .sight = cases[i].sight, .early = .1 });
		assert_int_equal(gus_spread_sees(spread, 0, &(struct gus_site_count){ .site = 0 }), cases[i].sees);
		assert_true(gus_spread_sees(spread, 0, &(struct gus_site_count){ .site = 1 }));
		gus_spread_free(spread);
		gus_prior_free(&prior);
		gus_groups_free(f.groups);
	}
}

/* A and B are one op, which is waited for 6 cycles; then C, and again. Of the cycles of the pair, 7 of 8, half is seen
 * at A and half at B; of C's half at C, and half at A. */
static void test_halves_early(void **state)
{
	const struct gus_site_count time[] = { { 0, false, 3.5 + .5 }, { 0, false, 3.5, true }, { 1, false, .5 } };
	const struct gus_prior_options po = { .width = 4 };
	struct gus_spread *spread;
	struct gus_prior prior;
	struct loop f;

	(void)state;
	begin(&f);
	f.ops[0].insns_n = 2;
	for (unsigned round = 0; round < ROUNDS; round++) {
		cycle(&f, GUS_COMMIT_STALLED, 6);
		retire(&f, 0, GUS_CORE_ST_L1);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
		retire(&f, 2, 0);
		cycle(&f, GUS_COMMIT_COMPUTE, 1);
	}
	gus_groups_leave(f.groups, 7);
	gus_prior_make(&prior, f.groups, &po, NULL);
	gus_prior_weigh(&prior, 0);
	spread = gus_spread_new(&prior);
	gus_spread_see(spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_BEHIND, .counts = time, .n = 3,
			.samples = 10000, .halves = true, .early = .5 });
	assert_float_equal(gus_spread_divergence(spread), 0, 1e-3);
	gus_spread_free(spread);
	gus_prior_free(&prior);
	gus_groups_free(f.groups);
}

/* A and B are one op, which is waited for 6 cycles; then C. Time of the pair, by samples of interrupts as they are.
 * begun: where B begins, code has begun once. */
static double time_of_pair(const struct gus_site_count *time, size_t n, bool halves, bool begun)
{
	const struct gus_prior_options po = gus_prior_defaults(4);
	const struct gus_spread_options so = gus_spread_defaults();
	struct gus_spread_cells cells = { 0 };
	struct fitted t;
	double share;

	begin(&t.f);
	t.f.ops[0].insns_n = 2;
	for (unsigned round = 0; round < ROUNDS; round++) {
		cycle(&t.f, GUS_COMMIT_STALLED, 6);
		retire(&t.f, begun && round == ROUNDS / 2 ? 1 : 0, GUS_CORE_ST_L1);
		cycle(&t.f, GUS_COMMIT_COMPUTE, 1);
		retire(&t.f, 2, 0);
		cycle(&t.f, GUS_COMMIT_COMPUTE, 1);
	}
	gus_groups_leave(t.f.groups, 7);
	gus_prior_make(&t.prior, t.f.groups, &po, NULL);
	t.spread = gus_spread_new(&t.prior);
	gus_spread_see(t.spread, &(struct gus_spread_seen){ .sight = GUS_SPREAD_BEHIND, .counts = time, .n = n,
			.samples = 10000, .halves = halves });
	for (size_t i = 0; i < n; i++)
		assert_true(gus_spread_sees(t.spread, 0, &time[i]));
	gus_spread_fit(t.spread, &so);
	gus_spread_cells(t.spread, &cells);
	share = share_of(&cells, 0, -1);
	gus_vec_free(&cells);
	drop(&t);
	return share;
}

/* A CPU that takes interrupts between the two has them on the second while the pair is waited for, and on the first
 * while C is; one that does not has none on the second. The address of the second may be a place of its own. */
static void test_halves(void **state)
{
	const struct gus_site_count halves[] = { { 0, false, .125, false }, { 0, false, .875, true } };
	const struct gus_site_count whole[] = { { 0, false, .125, false }, { 1, false, .875, false } };
	const struct gus_site_count own[] = { { 0, false, .125, false }, { 2, false, .875, false } };

	(void)state;
	assert_float_equal(time_of_pair(halves, 2, true, false), .875, .03);
	assert_true(time_of_pair(halves, 2, false, false) < .5); /* most is C, before it */
	assert_float_equal(time_of_pair(whole, 2, false, false), .875, .03);
	assert_float_equal(time_of_pair(halves, 2, true, true), .875, .03);
	assert_float_equal(time_of_pair(own, 2, true, true), .875, .03);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_supposed),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_flushed),
		cmocka_unit_test(test_after),
		cmocka_unit_test(test_fused),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_waits_met),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_not_as_modelled),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_deviance),
		cmocka_unit_test(test_divergence),
		cmocka_unit_test(test_no_samples),
		cmocka_unit_test(test_known_to_be_behind),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_interrupt_early),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_parts_of_two_places),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_weighs),
		cmocka_unit_test(test_half_behind_a_run),
		cmocka_unit_test(test_begins),
		cmocka_unit_test(test_halves_early),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
