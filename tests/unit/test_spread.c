/* SPDX-License-Identifier: MIT */
/* From where samples were seen to whom the time belongs (tests/accuracy/golden/spread.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/accuracy/golden/joint.h"
#include "tests/accuracy/golden/spread.h"
#include "model/code/program.h"
#include "model/core/pics.h"

enum { A = 0, B = 4, C = 8 };

/* In the model A and B retire together, then C, which waits 6 cycles for its line; and again. */
static struct golden_joint *loop(void)
{
	static struct gus_op ops[3];
	static struct gus_program_insn insns[3];
	static struct gus_program p = { .ops = ops, .insns = insns, .ops_n = 3, .insns_n = 3 };
	struct golden_joint *j = golden_joint_new();
	const struct gus_core_listener *l = golden_joint_listen(j, 0, &p);

	for (uint32_t i = 0; i < 3; i++) {
		ops[i] = (struct gus_op){ .insn = i, .insns_n = 1 };
		insns[i].offset = 4 * i;
		insns[i].info.length = 4;
	}
	for (unsigned round = 0; round < 1000; round++) {
		l->retire(l->context, &(struct gus_core_retired){ .op = 0, .ends = true });
		l->retire(l->context, &(struct gus_core_retired){ .op = 1, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
		for (unsigned i = 0; i < 6; i++)
			l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_STALLED });
		l->retire(l->context, &(struct gus_core_retired){ .op = 2, .psv = GUS_CORE_ST_L1, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	}
	golden_joint_leave(j, 0);
	return j;
}

static double of(const struct golden_spread *s, uint64_t address, uint16_t psv, bool known)
{
	double samples = 0;

	for (size_t i = 0; i < s->cells.n; i++)
		if (s->cells.v[i].address == address && s->cells.v[i].psv == psv && s->cells.v[i].known == known)
			samples += s->cells.v[i].samples;
	return samples;
}

/* The next that retires is A, never B, whose half of the cycle it gets; and C. */
static void test_precise(void **state)
{
	const struct golden_spread_seen seen[] = { { A, false, 100 }, { C, false, 700 } };
	const struct golden_spread_options o = { .skid = { 1 }, .steps = 1 };
	struct golden_joint *j = loop();
	struct golden_spread s;

	(void)state;
	golden_spread(&s, j, seen, 2, &o);
	assert_float_equal(of(&s, A, 0, true), 50, 1e-9);
	assert_float_equal(of(&s, B, 0, true), 50, 1e-9);
	assert_float_equal(of(&s, C, GUS_CORE_ST_L1, true), 700, 1e-9);
	golden_spread_free(&s);
	golden_spread(&s, j, &(const struct golden_spread_seen){ A, false, 0.5 }, 1, &o);
	assert_float_equal(of(&s, B, 0, true), 0.25, 1e-9); /* samples may be parts of one */
	golden_spread_free(&s);
	golden_joint_free(j);
}

/* An interrupt lands on C while A and B retire, and on A while C does. What was measured has the last word on how much
 * each is, whatever the model says: here 600 at A and 400 at C where it has 7 to 1. */
static void test_interrupts(void **state)
{
	const struct golden_spread_seen seen[] = { { A, false, 600 }, { C, false, 400 } };
	const struct golden_spread_options o = { .skid = { 0, 1 }, .steps = 1 };
	struct golden_joint *j = loop();
	struct golden_spread s;

	(void)state;
	golden_spread(&s, j, seen, 2, &o);
	assert_float_equal(of(&s, C, GUS_CORE_ST_L1, true), 600, 1e-9);
	assert_float_equal(of(&s, A, 0, true) + of(&s, B, 0, true), 400, 1e-9);
	golden_spread_free(&s);
	golden_joint_free(j);
}

/* What the model never saw stays where it was seen, with nothing known of it, and the sum is what was sampled. */
static void test_unseen(void **state)
{
	const struct golden_spread_seen seen[] = { { A, false, 10 }, { 0x1000, false, 30 }, { 0x1000, true, 2 } };
	const struct golden_spread_options o = { .skid = { 1 }, .steps = 3 };
	struct golden_joint *j = loop(), *none = golden_joint_new();
	struct golden_spread s;

	(void)state;
	golden_spread(&s, j, seen, 3, &o);
	assert_float_equal(of(&s, 0x1000, 0, false), 32, 1e-9);
	assert_float_equal(s.unseen, 32, 1e-9);
	assert_float_equal(of(&s, A, 0, true) + of(&s, B, 0, true), 10, 1e-9);
	golden_spread_free(&s);
	golden_spread(&s, none, seen, 3, &o);
	assert_float_equal(s.unseen, 42, 1e-9);
	golden_spread_free(&s);
	golden_joint_free(j);
	golden_joint_free(none);
}

/* Each execution has its cell's time: A and B half a cycle, C seven. Of one whose event is not told, all cells of its
 * instruction; of one that says that C did not miss, which in the model it always does, the instruction's as well,
 * and that it did not. */
static void test_executions(void **state)
{
	static const struct { struct golden_spread_execution seen; double a, missed, hit; } cases[] = {
		{ { A, 0, GUS_CORE_ST_L1, 10 }, 5, 0, 0 },
		{ { C, GUS_CORE_ST_L1, GUS_CORE_ST_L1, 10 }, 0, 70, 0 },
		{ { C, 0, 0, 10 }, 0, 70, 0 },
		{ { C, 0, GUS_CORE_ST_L1, 10 }, 0, 0, 70 },
		{ { 0x1000, 0, 0, 10 }, 0, 0, 0 },
	};
	struct golden_joint *j = loop();
	struct golden_spread s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		golden_spread_executions(&s, j, &cases[i].seen, 1);
		assert_float_equal(of(&s, A, 0, true), cases[i].a, 1e-9);
		assert_float_equal(of(&s, C, GUS_CORE_ST_L1, true), cases[i].missed, 1e-9);
		assert_float_equal(of(&s, C, 0, true), cases[i].hit, 1e-9);
		assert_float_equal(s.unseen, cases[i].seen.address == 0x1000 ? 10 : 0, 1e-9);
		golden_spread_free(&s);
	}
	golden_joint_free(j);
}

/* An event that no execution had in the model, whichever it is: the time of the instruction's, with that event. */
static void test_events_unheard_of(void **state)
{
	struct golden_joint *j = loop();
	struct golden_spread s;

	(void)state;
	for (unsigned i = 0; i < GUS_CORE_PSV_EVENTS; i++) {
		const struct golden_spread_execution seen = { A, (uint16_t)(1 << i), (uint16_t)(1 << i), 10 };

		golden_spread_executions(&s, j, &seen, 1);
		assert_float_equal(of(&s, A, seen.psv, true), 5, 1e-9);
		assert_float_equal(s.unseen, 0, 1e-9);
		golden_spread_free(&s);
	}
	golden_joint_free(j);
}

/* Whatever comes first in the model: each retires in cycles of its own, so many of them. B missed in one execution of
 * four, which took 9 cycles and the others 1. */
static void test_executions_out_of_order(void **state)
{
	static const struct { uint32_t op; uint16_t psv; unsigned stalls; } told[] = {
		{ 2, 0, 4 }, { 1, GUS_CORE_ST_L1, 8 }, { 0, 0, 1 }, { 1, 0, 0 }, { 0, GUS_CORE_ST_TLB, 6 }, { 1, 0, 0 },
		{ 1, 0, 0 },
	};
	static const struct { struct golden_spread_execution seen; double missed, hit; } cases[] = {
		{ { B, GUS_CORE_ST_L1, GUS_CORE_ST_L1, 10 }, 90, 0 },
		{ { B, 0, GUS_CORE_ST_L1, 10 }, 0, 10 },
		{ { B, 0, 0, 10 }, 90. / 4, 30. / 4 },
	};
	static struct gus_op ops[3] = { { .insn = 0, .insns_n = 1 }, { .insn = 1, .insns_n = 1 },
		{ .insn = 2, .insns_n = 1 } };
	static struct gus_program_insn insns[3];
	static struct gus_program p = { .ops = ops, .insns = insns, .ops_n = 3, .insns_n = 3 };
	struct golden_joint *j = golden_joint_new();
	const struct gus_core_listener *l = golden_joint_listen(j, 0, &p);
	struct golden_spread s;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		insns[i].offset = 4 * i;
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
		for (unsigned k = 0; k < told[i].stalls; k++)
			l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_STALLED });
		l->retire(l->context, &(struct gus_core_retired){ .op = told[i].op, .psv = told[i].psv, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	}
	golden_joint_leave(j, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		golden_spread_executions(&s, j, &cases[i].seen, 1);
		assert_float_equal(of(&s, B, GUS_CORE_ST_L1, true), cases[i].missed, 1e-9);
		assert_float_equal(of(&s, B, 0, true), cases[i].hit, 1e-9);
		assert_float_equal(s.unseen, 0, 1e-9);
		golden_spread_free(&s);
	}
	golden_joint_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precise), cmocka_unit_test(test_interrupts), cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_executions), cmocka_unit_test(test_events_unheard_of),
		cmocka_unit_test(test_executions_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
