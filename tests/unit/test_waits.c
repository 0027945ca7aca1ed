/* SPDX-License-Identifier: MIT */
/* attribution/proportional/waits: a model's waits, as often as executions met what they wait for. Counts of a model are
 * written down: the loads X and Y, executed 100 times each, and a branch that is executed 50 times and goes to one or
 * the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/met.h"
#include "attribution/proportional/waits.h"
#include "model/machine/options.h"

enum { X, Y, BRANCH, SITES };

struct counts { struct gus_groups_counts c; struct gus_met met; struct gus_waits out; };

static int setup(void **state)
{
	static const uint64_t executed[SITES] = { 100, 100, 50 };
	struct counts *m = gus_zalloc(sizeof(*m));

	for (uint32_t i = 0; i < SITES; i++)
		gus_vec_push(&m->c.sites, (struct gus_groups_site){ .weight = 1, .slots = 1, .executed = executed[i] });
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct counts *m = *state;

	gus_vec_free(&m->c.sites);
	gus_vec_free(&m->c.met);
	gus_vec_free(&m->c.waits);
	gus_vec_free(&m->c.edges);
	gus_vec_free(&m->met.shares);
	gus_vec_free(&m->out);
	free(m);
	return 0;
}

/* In the model so many executions met psv, ... */
static void met(struct counts *m, uint32_t site, uint16_t psv, uint64_t times)
{
	gus_vec_push(&m->c.met, (struct gus_groups_met){ site, psv, times });
}

/* ... waited so long for it, before themselves, ... */
static void waited(struct counts *m, uint32_t site, uint16_t psv, uint32_t next, uint64_t cycles)
{
	gus_vec_push(&m->c.waits, (struct gus_groups_wait){ .head = site, .after = next, .next = next, .of = site,
		     .psv = psv, .cycles = cycles });
}

/* ... and were sampled to meet it, of all of the site's, so often. */
static void sampled(struct counts *m, uint32_t site, uint16_t psv, double share)
{
	gus_vec_push(&m->met.shares, (struct gus_met_share){ .site = site, .psv = psv, .measured = share });
}

static void make(struct counts *m, bool events, size_t n)
{
	gus_waits_make(&m->out, &m->c, events ? &m->met : NULL);
	assert_int_equal(m->out.n, n);
}

static void expect(const struct counts *m, size_t i, const struct gus_waits_one *want)
{
	const struct gus_waits_one *is = &m->out.v[i];

	assert_true(gus_waits_same(is, want));
	assert_int_equal(is->after, want->after);
	assert_int_equal(is->next, want->next);
	assert_float_equal(is->cycles, want->cycles, 1e-9);
}

/* As they are, in order of all that they differ in. */
static void in_order(void **state)
{
	static const struct gus_groups_wait waits[] = {
		{ Y, 0, 0, Y, 0, false, false, 11 }, { X, 0, 1, X, 1, true, true, 9 }, { X, 0, 0, X, 1, true, true, 8 },
		{ X, 1, 0, X, 1, true, true, 10 }, { X, 0, 0, X, 0, true, true, 7 },
		{ X, 9, 9, BRANCH, 0, true, false, 6 }, { X, 9, 9, X, 9, true, false, 5 },
		{ X, 9, 9, Y, 9, false, true, 4 }, { X, 9, 9, X, 9, false, true, 3 },
		{ X, 9, 9, BRANCH, 9, false, false, 2 }, { X, 9, 9, Y, 9, false, false, 1 },
	};
	struct counts *m = *state;

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		gus_vec_push(&m->c.waits, waits[i]);
	make(m, false, sizeof(waits) / sizeof(*waits));
	for (size_t i = 0; i < m->out.n; i++)
		assert_float_equal(m->out.v[i].cycles, i + 1, 1e-9);
	expect(m, 5, &(struct gus_waits_one){ X, 9, 9, BRANCH, 0, true, false, 6 });
}

/* 20 of X's executions met it and waited 60 cycles in all, 30 of Y's, which waited 30: 1.8 each on average, and as ten
 * of these count for X, 2.6 there. 40 of 100 were sampled to meet it, which makes 104 cycles, two thirds of them before
 * the same as in the model. Of Y nothing was sampled. */
static void more_often(void **state)
{
	struct counts *m = *state;

	met(m, X, GUS_CORE_ST_L1, 20);
	met(m, X, 0, 80);
	met(m, Y, GUS_CORE_ST_L1, 30);
	waited(m, X, GUS_CORE_ST_L1, 2, 40);
	waited(m, X, GUS_CORE_ST_L1, 3, 20);
	waited(m, X, 0, 2, 7);
	waited(m, Y, GUS_CORE_ST_L1, 2, 30);
	sampled(m, X, GUS_CORE_ST_L1, .4);
	make(m, true, 4);
	expect(m, 0, &(struct gus_waits_one){ .head = X, .after = 2, .next = 2, .of = X, .cycles = 7 });
	expect(m, 1, &(struct gus_waits_one){ X, 2, 2, X, GUS_CORE_ST_L1, false, false, 104 * 2. / 3 });
	expect(m, 2, &(struct gus_waits_one){ X, 3, 3, X, GUS_CORE_ST_L1, false, false, 104 / 3. });
	expect(m, 3, &(struct gus_waits_one){ Y, 2, 2, Y, GUS_CORE_ST_L1, false, false, 30 });
}

/* Ten of X's executions missed in the last cache and waited ten cycles each, and one found no place for a store, which
 * took forty; Y's never do in the model, and a tenth of them were sampled to do either. What nobody waits for in the
 * model is not waited for, and what X waits for is there once. */
static void never_in_the_model(void **state)
{
	struct counts *m = *state;

	met(m, X, GUS_CORE_ST_LLC, 10);
	met(m, X, GUS_CORE_ST_TLB, 5);
	met(m, X, GUS_CORE_DR_SQ, 1);
	met(m, X, 0, 84);
	met(m, Y, 0, 100);
	waited(m, X, GUS_CORE_ST_LLC, 2, 100);
	waited(m, X, GUS_CORE_DR_SQ, 2, 40);
	sampled(m, Y, GUS_CORE_DR_SQ, .1);
	sampled(m, X, GUS_CORE_ST_LLC, .1);
	sampled(m, Y, GUS_CORE_ST_TLB, .5);
	sampled(m, Y, GUS_CORE_ST_LLC, .1);
	sampled(m, Y, GUS_CORE_FL_EX, .1);
	make(m, true, 4);
	expect(m, 0, &(struct gus_waits_one){ X, 2, 2, X, GUS_CORE_DR_SQ, false, false, 40 });
	expect(m, 1, &(struct gus_waits_one){ X, 2, 2, X, GUS_CORE_ST_LLC, false, false, 100 });
	expect(m, 2, &(struct gus_waits_one){ Y, UINT32_MAX, UINT32_MAX, Y, GUS_CORE_DR_SQ, false, false, 400 });
	expect(m, 3, &(struct gus_waits_one){ Y, UINT32_MAX, UINT32_MAX, Y, GUS_CORE_ST_LLC, false, false, 100 });
}

/* Twenty of X's executions were mispredicted, and what followed was waited for ten cycles each. A fifth of the branch's
 * fifty were sampled to be, and none in the model is: a hundred cycles before what follows it, three of five before X,
 * to which it jumps. */
static void never_mispredicted(void **state)
{
	static const struct gus_groups_edge edges[] = {
		{ X, Y, false, 100 }, { BRANCH, X, true, 30 }, { BRANCH, Y, false, 20 }
	};
	struct counts *m = *state;

	met(m, X, GUS_CORE_FL_MB, 20);
	met(m, X, 0, 80);
	met(m, BRANCH, 0, 50);
	gus_vec_push(&m->c.waits, (struct gus_groups_wait){ Y, X, X, X, GUS_CORE_FL_MB, false, true, 200 });
	for (size_t i = 0; i < 3; i++)
		gus_vec_push(&m->c.edges, edges[i]);
	sampled(m, X, GUS_CORE_FL_MB, .2);
	sampled(m, BRANCH, GUS_CORE_FL_MB, .2);
	make(m, true, 3);
	expect(m, 0, &(struct gus_waits_one){ X, UINT32_MAX, UINT32_MAX, BRANCH, GUS_CORE_FL_MB, true, true, 60 });
	expect(m, 1, &(struct gus_waits_one){ Y, X, X, X, GUS_CORE_FL_MB, false, true, 200 });
	expect(m, 2, &(struct gus_waits_one){ Y, UINT32_MAX, UINT32_MAX, BRANCH, GUS_CORE_FL_MB, false, true, 40 });
}

/* A model that mispredicts nothing does not know how long that takes. */
static void nobody_waits(void **state)
{
	struct counts *m = *state;

	met(m, BRANCH, 0, 50);
	gus_vec_push(&m->c.edges, (struct gus_groups_edge){ BRANCH, X, true, 50 });
	sampled(m, BRANCH, GUS_CORE_FL_MB, .2);
	make(m, true, 0);
}

/* What is behind the head makes no difference, all else does. */
static void the_same(void **state)
{
	const struct gus_waits_one one = { X, 1, 2, Y, GUS_CORE_ST_L1, false, true, 3 };
	struct gus_waits_one others[5];

	(void)state;
	assert_true(gus_waits_same(&one, &(struct gus_waits_one){ X, 7, 8, Y, GUS_CORE_ST_L1, false, true, 9 }));
	for (size_t i = 0; i < 5; i++)
		others[i] = one;
	others[0].head = Y;
	others[1].behind = true;
	others[2].flushed = false;
	others[3].of = X;
	others[4].psv = 0;
	for (size_t i = 0; i < 5; i++)
		assert_false(gus_waits_same(&one, &others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(more_often, setup, teardown),
		cmocka_unit_test_setup_teardown(never_in_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(never_mispredicted, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_waits, setup, teardown),
		cmocka_unit_test(the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
