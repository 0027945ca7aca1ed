/* SPDX-License-Identifier: MIT */
/* attribution/proportional/met: what executions met, by samples of them and by a model. Of A's executions in the model
 * a quarter met ST_L1, B's met nothing, nor did C's, which are of two ops. The model counts as five samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/met.h"
#include "attribution/proportional/seen.h"
#include "model/code/program.h"
#include "model/machine/options.h"
#include "proto/psv.h"
#include "proto/sample.h"

enum { C = 0x100, B = 0x104, A = 0x108, NOWHERE = 0x900, OPS = 3, ROUNDS = 40 };

struct machine {
	struct gus_op ops[OPS];
	struct gus_program_insn insns[OPS];
	struct gus_program p;
	struct gus_groups *groups;
	struct gus_seen seen;
	struct gus_met met;
};

static int setup(void **state)
{
	struct machine *m = gus_zalloc(sizeof(*m));
	const struct gus_core_listener *l;

	m->groups = gus_groups_new();
	m->p = (struct gus_program){ .ops = m->ops, .insns = m->insns, .ops_n = OPS, .insns_n = OPS };
	for (uint32_t i = 0; i < OPS; i++) {
		m->ops[i] = (struct gus_op){ .insn = i, .insns_n = 1, .slots = i == 0 ? 2 : 1 };
		m->insns[i].offset = C + 4 * i;
		m->insns[i].info.length = 4;
	}
	l = gus_groups_listen(m->groups, 0, &m->p);
	for (uint32_t i = 0; i < OPS * ROUNDS; i++) {
		uint16_t psv = i % OPS == 2 && i / OPS < ROUNDS / 4 ? GUS_PSV_ST_L1 : 0;

		l->retire(l->context, &(struct gus_core_retired){ .op = i % OPS, .psv = psv, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	}
	gus_seen_init(&m->seen);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	gus_met_free(&m->met);
	gus_seen_free(&m->seen);
	gus_groups_free(m->groups);
	free(m);
	return 0;
}

/* Samples of executions that had `met`, and of which it is known that they had not `excluded`. */
static void see(struct machine *m, uint64_t address, unsigned n, uint16_t met, uint16_t excluded)
{
	for (unsigned i = 0; i < n; i++)
		gus_seen_execution(&m->seen, &(struct gus_sample){ .events = met | (uint64_t)excluded << 16 }, address);
}

/* All nine are known. */
static void see_all(struct machine *m, uint64_t address, unsigned n, uint16_t met)
{
	see(m, address, n, met, GUS_PSV_ALL & ~met);
}

/* The shares of a site add up to 1, and are in order. */
static void make(struct machine *m, bool ops, size_t n)
{
	double sum[OPS] = { 0 };

	gus_met_make(&m->met, m->groups, &m->seen, ops);
	assert_int_equal(m->met.shares.n, n);
	for (size_t i = 0; i < n; i++) {
		const struct gus_met_share *s = &m->met.shares.v[i], *last = i ? s - 1 : NULL;

		sum[s->site] += s->measured;
		assert_true(!last || last->site < s->site || (last->site == s->site && last->psv < s->psv));
		assert_true(gus_met_find(&m->met, s->site, s->psv) == s);
	}
	for (uint32_t i = 0; i < OPS; i++)
		assert_true(sum[i] == 0 || (sum[i] > 1 - 1e-9 && sum[i] < 1 + 1e-9));
}

static void expect(const struct machine *m, uint64_t address, uint16_t psv, double measured, double model,
		   double samples)
{
	const struct gus_met_share *s = gus_met_find(&m->met, gus_groups_site(m->groups, address), psv);

	assert_non_null(s);
	assert_float_equal(s->measured, measured, 1e-9);
	assert_float_equal(s->model, model, 1e-9);
	assert_float_equal(s->samples, samples, 1e-9);
}

/* Of A 30 of 40 met it, of B one of one did not; of C there is no sample, and of nowhere no site. */
static void as_sampled(void **state)
{
	struct machine *m = *state;

	see_all(m, NOWHERE, 9, GUS_PSV_ST_L1);
	see_all(m, A, 30, GUS_PSV_ST_L1);
	see_all(m, A, 10, 0);
	see_all(m, B, 1, 0);
	make(m, false, 3);
	expect(m, A, GUS_PSV_ST_L1, (30 + 5 * .25) / 45, .25, 30);
	expect(m, A, 0, (10 + 5 * .75) / 45, .75, 10);
	expect(m, B, 0, 1, 1, 1);
	assert_null(gus_met_find(&m->met, gus_groups_site(m->groups, C), 0));
	assert_null(gus_met_find(&m->met, gus_groups_site(m->groups, A), GUS_PSV_ST_LLC));
	assert_null(gus_met_find(&m->met, gus_groups_site(m->groups, B), GUS_PSV_ST_L1));
}

/* That none missed in the TLB is all that 40 samples tell: the rest is as the model has it. Of 12 that exclude ST_L1,
 * too, it has those alone that met nothing. */
static void as_the_model_has_it(void **state)
{
	struct machine *m = *state;

	see(m, A, 40, 0, GUS_PSV_ST_TLB);
	see(m, A, 12, 0, GUS_PSV_ST_TLB | GUS_PSV_ST_L1);
	make(m, false, 2);
	expect(m, A, GUS_PSV_ST_L1, (10 + 5 * .25) / 57, .25, 10);
	expect(m, A, 0, (30 + 12 + 5 * .75) / 57, .75, 42);
}

/* Of what the model never has samples say all, however much each tells. */
static void what_no_model_has(void **state)
{
	struct machine *m = *state;

	see_all(m, B, 8, GUS_PSV_ST_LLC);
	see(m, B, 12, GUS_PSV_ST_LLC, 0);
	see_all(m, A, 5, GUS_PSV_FL_EX);
	see_all(m, A, 5, GUS_PSV_ST_TLB);
	make(m, false, 6);
	expect(m, B, GUS_PSV_ST_LLC, 20. / 25, 0, 20);
	expect(m, B, 0, 5. / 25, 1, 0);
	expect(m, A, GUS_PSV_FL_EX, 5. / 15, 0, 5);
	expect(m, A, GUS_PSV_ST_TLB, 5. / 15, 0, 5);
	expect(m, A, GUS_PSV_ST_L1, 5. / 15 * .25, .25, 0);
	expect(m, A, 0, 5. / 15 * .75, .75, 0);
}

/* Of C two ops are sampled for each execution, and one of them is told of the miss: of 60 samples, which are 30
 * executions, 20 say so, and so many met it. By instructions each sample is of an execution. */
static void of_several_ops(void **state)
{
	struct machine *m = *state;

	see_all(m, C, 20, GUS_PSV_ST_L1);
	see_all(m, C, 40, 0);
	see_all(m, B, 10, 0);
	make(m, true, 3);
	expect(m, C, GUS_PSV_ST_L1, 20. / 35, 0, 20);
	expect(m, C, 0, (10 + 5.) / 35, 1, 10);
	expect(m, B, 0, 1, 1, 10);
	gus_met_free(&m->met);
	make(m, false, 3);
	expect(m, C, GUS_PSV_ST_L1, 20. / 65, 0, 20);
	expect(m, C, 0, 45. / 65, 1, 40);
}

/* Both events of an execution, as the two ops of C have one each, and nothing else. */
static void of_ops_that_differ(void **state)
{
	struct machine *m = *state;

	see_all(m, C, 6, GUS_PSV_ST_L1);
	see_all(m, C, 4, GUS_PSV_ST_TLB);
	see_all(m, C, 10, 0);
	make(m, true, 3);
	expect(m, C, GUS_PSV_ST_L1, 6. / 15, 0, 6);
	expect(m, C, GUS_PSV_ST_TLB, 4. / 15, 0, 4);
	expect(m, C, 0, 5. / 15, 1, 0);
}

/* Of eight samples, which are four executions, six say so, by chance or as both ops are told of it: six executions met
 * it, and no other is known of. */
static void of_ops_that_all_met_it(void **state)
{
	struct machine *m = *state;

	see_all(m, C, 6, GUS_PSV_ST_L1);
	see_all(m, C, 2, 0);
	make(m, true, 2);
	expect(m, C, GUS_PSV_ST_L1, 6. / 11, 0, 6);
	expect(m, C, 0, 5. / 11, 1, 0);
}

static void of_nothing(void **state)
{
	struct machine *m = *state;

	make(m, true, 0);
	assert_null(gus_met_find(&m->met, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(as_sampled, setup, teardown),
		cmocka_unit_test_setup_teardown(as_the_model_has_it, setup, teardown),
		cmocka_unit_test_setup_teardown(what_no_model_has, setup, teardown),
		cmocka_unit_test_setup_teardown(of_several_ops, setup, teardown),
		cmocka_unit_test_setup_teardown(of_ops_that_differ, setup, teardown),
		cmocka_unit_test_setup_teardown(of_ops_that_all_met_it, setup, teardown),
		cmocka_unit_test_setup_teardown(of_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
