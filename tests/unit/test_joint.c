/* SPDX-License-Identifier: MIT */
/* Cycles by whose they are and where they are seen (tests/accuracy/golden/joint.h): a run is told cycle by cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/accuracy/golden/joint.h"
#include "model/code/program.h"
#include "model/core/pics.h"

enum { OPS = 8, BYTES = 4, CYCLE = GUS_PICS_TICKS };

/* Instructions of 4 bytes, the n-th at 4 n. */
struct told {
	struct gus_op ops[OPS];
	struct gus_program_insn insns[OPS];
	struct gus_program program;
	struct golden_joint *joint;
	const struct gus_core_listener *listener;
};

static void begin(struct told *t)
{
	*t = (struct told){ .joint = golden_joint_new() };
	for (uint32_t i = 0; i < OPS; i++) {
		t->ops[i] = (struct gus_op){ .insn = i, .insns_n = 1 };
		t->insns[i].offset = BYTES * i;
		t->insns[i].info.length = BYTES;
	}
	t->program = (struct gus_program){ .ops = t->ops, .insns = t->insns, .ops_n = OPS, .insns_n = OPS };
	t->listener = golden_joint_listen(t->joint, 0, &t->program);
}

static void retire(struct told *t, uint32_t op, uint16_t psv)
{
	t->listener->retire(t->listener->context, &(struct gus_core_retired){ .op = op, .psv = psv, .ends = true });
}

static void cycle(struct told *t, enum gus_commit state)
{
	t->listener->cycle(t->listener->context, &(struct gus_core_cycle){ .state = state });
}

/* Ticks of an instruction with these events: all of it, and what of it is seen at another one. */
static uint64_t of(const struct told *t, uint32_t op, uint16_t psv)
{
	size_t n;
	const struct golden_joint_cell *c = golden_joint_cells(t->joint, &n);

	for (size_t i = 0; i < n; i++)
		if (c[i].address == BYTES * op && c[i].psv == psv)
			return c[i].ticks;
	return 0;
}

static uint64_t seen(const struct told *t, uint32_t op, uint16_t psv, unsigned skid, uint32_t at, bool behind)
{
	size_t n, cells_n;
	const struct golden_joint_cell *c = golden_joint_cells(t->joint, &cells_n);
	const struct golden_joint_pair *p = golden_joint_pairs(t->joint, skid, &n);
	uint64_t ticks = 0;

	for (size_t i = 0; i < n; i++)
		if (c[p[i].cell].address == BYTES * op && c[p[i].cell].psv == psv && p[i].address == BYTES * at &&
		    p[i].behind == behind)
			ticks += p[i].ticks;
	return ticks;
}

/*	cycle      1        2        3        4
 *	retires    0 1      -        2        3		2: a load that missed
 * A sampler sees 0, 2, 2, 3; an interrupt lands on 2, 3, 3. */
static void test_stalled(void **state)
{
	struct told t;

	(void)state;
	begin(&t);
	retire(&t, 0, 0);
	retire(&t, 1, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	cycle(&t, GUS_COMMIT_STALLED);
	retire(&t, 2, GUS_CORE_ST_L1);
	cycle(&t, GUS_COMMIT_COMPUTE);
	retire(&t, 3, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	assert_int_equal(of(&t, 0, 0), CYCLE / 2);
	assert_int_equal(of(&t, 1, 0), CYCLE / 2);
	assert_int_equal(of(&t, 2, GUS_CORE_ST_L1), 2 * CYCLE);
	assert_int_equal(of(&t, 3, 0), CYCLE);
	assert_int_equal(seen(&t, 0, 0, 0, 0, false), CYCLE / 2);
	assert_int_equal(seen(&t, 1, 0, 0, 0, false), CYCLE / 2); /* 0 is the first that retires in it */
	assert_int_equal(seen(&t, 2, GUS_CORE_ST_L1, 0, 2, false), 2 * CYCLE);
	assert_int_equal(seen(&t, 0, 0, 1, 2, false), CYCLE / 2);
	assert_int_equal(seen(&t, 1, 0, 1, 2, false), CYCLE / 2);
	assert_int_equal(seen(&t, 2, GUS_CORE_ST_L1, 1, 3, false), 2 * CYCLE);
	assert_int_equal(seen(&t, 0, 0, 2, 3, false), CYCLE / 2);
	golden_joint_free(t.joint);
}

/*	cycle      1        2        3        4
 *	retires    0        1        -        5 6	1: a branch to 5 that was mispredicted
 * The flushed cycle is the branch's, and seen at 5; one that is not taken leads to 2, behind itself. */
static void test_flushed(void **state)
{
	static const struct { uint32_t to; bool behind; } cases[] = { { 5, true }, { 2, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t to = cases[i].to;
		struct told t;

		begin(&t);
		retire(&t, 0, 0);
		cycle(&t, GUS_COMMIT_COMPUTE);
		retire(&t, 1, GUS_CORE_FL_MB);
		cycle(&t, GUS_COMMIT_COMPUTE);
		cycle(&t, GUS_COMMIT_FLUSHED);
		retire(&t, to, 0);
		retire(&t, to + 1, 0);
		cycle(&t, GUS_COMMIT_COMPUTE);
		assert_int_equal(of(&t, 1, GUS_CORE_FL_MB), 2 * CYCLE);
		assert_int_equal(seen(&t, 1, GUS_CORE_FL_MB, 0, 1, false), CYCLE);
		assert_int_equal(seen(&t, 1, GUS_CORE_FL_MB, 0, to, cases[i].behind), CYCLE);
		assert_int_equal(seen(&t, 1, GUS_CORE_FL_MB, 1, to, cases[i].behind), CYCLE);
		assert_int_equal(seen(&t, to + 1, 0, 0, to, cases[i].behind), CYCLE / 2);
		golden_joint_free(t.joint);
	}
}

/* A branch that leads elsewhere as predicted is nothing to be behind of: 1, and then 5. */
static void test_predicted(void **state)
{
	struct told t;

	(void)state;
	begin(&t);
	retire(&t, 1, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	retire(&t, 5, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	assert_int_equal(seen(&t, 5, 0, 0, 5, false), CYCLE);
	assert_int_equal(seen(&t, 1, 0, 1, 5, false), CYCLE);
	golden_joint_free(t.joint);
}

/* A cycle of nothing before the first is the first's, as nothing retired that could have been flushed. Slots of one op
 * that retire one after the other are one execution. */
static void test_first_and_slots(void **state)
{
	struct told t;
	size_t n;

	(void)state;
	begin(&t);
	cycle(&t, GUS_COMMIT_FLUSHED);
	cycle(&t, GUS_COMMIT_DRAINED);
	t.listener->retire(t.listener->context, &(struct gus_core_retired){ .op = 4, .ends = false });
	retire(&t, 4, GUS_CORE_DR_L1);
	cycle(&t, GUS_COMMIT_COMPUTE);
	assert_int_equal(of(&t, 4, GUS_CORE_DR_L1), 3 * CYCLE);
	assert_int_equal(golden_joint_cells(t.joint, &n)->executed, 1);
	assert_int_equal(n, 1);
	golden_joint_free(t.joint);
}

/* Three that retire together: thirds, and what is over of other numbers is the oldest's, so that no tick is lost. A
 * fused pair has the share of two. The next cycle is of those that retire in it, and of no others. */
static void test_shares(void **state)
{
	uint64_t all = 0;
	struct told t;

	(void)state;
	begin(&t);
	t.ops[2].insns_n = 2;
	for (uint32_t i = 0; i < 3; i++)
		retire(&t, i, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	for (uint32_t i = 0; i < 3; i++)
		all += of(&t, i, 0);
	assert_int_equal(all, CYCLE);
	assert_int_equal(of(&t, 1, 0), CYCLE / 4);
	assert_int_equal(of(&t, 2, 0), CYCLE / 2);
	retire(&t, 3, 0);
	retire(&t, 4, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	assert_int_equal(of(&t, 3, 0), CYCLE / 2);
	assert_int_equal(of(&t, 4, 0), CYCLE / 2);
	golden_joint_free(t.joint);
}

/*	cycle      1        2        3
 *	retires    0 1/3    1/3      1/3 2		1: more slots than retire in a cycle
 * Half of the first cycle is the wide op's, as in the stacks (model/core/pics.c). */
static void test_an_op_that_goes_on(void **state)
{
	static const struct gus_core_retired some = { .op = 1, .ends = false };
	struct told t;

	(void)state;
	begin(&t);
	retire(&t, 0, 0);
	t.listener->retire(t.listener->context, &some);
	cycle(&t, GUS_COMMIT_COMPUTE);
	t.listener->retire(t.listener->context, &some);
	cycle(&t, GUS_COMMIT_COMPUTE);
	retire(&t, 1, 0);
	retire(&t, 2, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	assert_int_equal(of(&t, 0, 0), CYCLE / 2);
	assert_int_equal(of(&t, 1, 0), CYCLE / 2 + CYCLE + CYCLE / 2);
	assert_int_equal(of(&t, 2, 0), CYCLE / 2);
	retire(&t, 3, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	assert_int_equal(of(&t, 3, 0), CYCLE); /* nothing goes on any more */
	golden_joint_free(t.joint);
}

/* A second run adds to the first, whose last instructions it does not follow. */
static void test_two_runs(void **state)
{
	struct told t;
	size_t n;

	(void)state;
	begin(&t);
	retire(&t, 1, GUS_CORE_FL_MB);
	cycle(&t, GUS_COMMIT_COMPUTE);
	golden_joint_leave(t.joint, 0);
	t.listener = golden_joint_listen(t.joint, 0, &t.program);
	cycle(&t, GUS_COMMIT_FLUSHED);
	retire(&t, 5, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	assert_int_equal(of(&t, 1, GUS_CORE_FL_MB), CYCLE);
	assert_int_equal(of(&t, 5, 0), 2 * CYCLE);
	assert_int_equal(seen(&t, 5, 0, 0, 5, false), 2 * CYCLE);
	golden_joint_pairs(t.joint, 1, &n);
	assert_int_equal(n, 0); /* no interrupt landed before either run was over */
	golden_joint_free(t.joint);
}

/*	cycle           1        2        3
 *	one retires     0        -        2
 *	another         -        1        5 6
 * Each run for itself: what waits in one is not the other's, and one that is over does not end the other. */
static void test_two_at_once(void **state)
{
	const struct gus_core_listener *another;
	struct told t;

	(void)state;
	begin(&t);
	another = golden_joint_listen(t.joint, 7, &t.program);
	retire(&t, 0, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	another->cycle(another->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_STALLED });
	cycle(&t, GUS_COMMIT_STALLED);
	another->retire(another->context, &(struct gus_core_retired){ .op = 1, .ends = true });
	another->cycle(another->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	retire(&t, 2, 0);
	cycle(&t, GUS_COMMIT_COMPUTE);
	golden_joint_leave(t.joint, 0);
	for (uint32_t op = 5; op < 7; op++)
		another->retire(another->context, &(struct gus_core_retired){ .op = op, .ends = true });
	another->cycle(another->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	assert_int_equal(of(&t, 0, 0), CYCLE);
	assert_int_equal(of(&t, 1, 0), 2 * CYCLE);
	assert_int_equal(of(&t, 2, 0), 2 * CYCLE);
	assert_int_equal(of(&t, 5, 0), CYCLE / 2);
	assert_int_equal(seen(&t, 0, 0, 1, 2, false), CYCLE);
	assert_int_equal(seen(&t, 1, 0, 0, 1, false), 2 * CYCLE);
	assert_int_equal(seen(&t, 1, 0, 1, 5, false), 2 * CYCLE);
	assert_int_equal(seen(&t, 1, 0, 2, 6, false), 2 * CYCLE);
	golden_joint_free(t.joint);
}

/* Of however many a run is: what was not seen when it was over is seen of nobody in the next, whatever place in the
 * ring its instructions have. */
static void test_ends(void **state)
{
	(void)state;
	for (unsigned first = 250; first < 260; first++) {
		struct told t;

		begin(&t);
		for (unsigned i = 0; i < first; i++) {
			retire(&t, 1, 0);
			cycle(&t, GUS_COMMIT_COMPUTE);
		}
		golden_joint_leave(t.joint, 0);
		t.listener = golden_joint_listen(t.joint, 0, &t.program);
		for (uint32_t op = 2; op < 6; op++) {
			retire(&t, op, 0);
			cycle(&t, GUS_COMMIT_COMPUTE);
		}
		assert_int_equal(of(&t, 1, 0), first * CYCLE);
		for (unsigned skid = 0; skid < GOLDEN_JOINT_SKIDS; skid++) {
			assert_int_equal(seen(&t, 1, 0, skid, 1, false), (first - skid) * CYCLE);
			for (uint32_t op = 2; op < 6; op++)
				assert_int_equal(seen(&t, 1, 0, skid, op, false), 0);
		}
		golden_joint_free(t.joint);
	}
	golden_joint_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stalled), cmocka_unit_test(test_flushed), cmocka_unit_test(test_predicted),
		cmocka_unit_test(test_first_and_slots), cmocka_unit_test(test_shares),
		cmocka_unit_test(test_an_op_that_goes_on), cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_two_at_once), cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
