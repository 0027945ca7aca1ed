/* SPDX-License-Identifier: MIT */
/* attribution/proportional/seen: samples added up by instruction, and what they say of executions. The instructions are
 * A, B and C behind each other and D far behind them, all of which a model has executed; B is two that are fused, and
 * three ops to who samples ops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/seen.h"
#include "model/code/program.h"
#include "model/machine/options.h"
#include "proto/psv.h"
#include "proto/sample.h"

enum { A = 0x104, B = 0x108, C = 0x110, D = 0x200, NOWHERE = 0x900, OPS = 4 };

struct machine {
	struct gus_op ops[OPS];
	struct gus_program_insn insns[OPS + 1];
	struct gus_program p;
	struct gus_groups *groups;
	struct gus_seen seen;
};

/* In the order D, A, B, C, so that sites are in no order of addresses. */
static int setup(void **state)
{
	static const uint64_t addresses[OPS + 1] = { D, A, B, B + 4, C };
	struct machine *m = gus_zalloc(sizeof(*m));
	const struct gus_core_listener *l;

	m->groups = gus_groups_new();
	m->p = (struct gus_program){ .ops = m->ops, .insns = m->insns, .ops_n = OPS, .insns_n = OPS + 1 };
	for (uint32_t i = 0; i < OPS; i++)
		m->ops[i] = (struct gus_op){ .insn = i + (i == 3), .insns_n = i == 2 ? 2 : 1, .slots = i == 2 ? 3 : 1 };
	for (uint32_t i = 0; i < OPS + 1; i++) {
		m->insns[i].offset = addresses[i];
		m->insns[i].info.length = 4;
	}
	l = gus_groups_listen(m->groups, 0, &m->p);
	for (uint32_t i = 0; i < OPS; i++) {
		l->retire(l->context, &(struct gus_core_retired){ .op = i, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	}
	gus_seen_init(&m->seen);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	gus_seen_free(&m->seen);
	gus_groups_free(m->groups);
	free(m);
	return 0;
}

/* Traces have addresses where they are, but for those of nowhere. */
static uint64_t map(void *context, const struct gus_sample *s, uint64_t address)
{
	(void)context;
	(void)s;
	return address == NOWHERE ? 0 : address;
}

static void time_at(struct machine *m, uint64_t address, const struct gus_branch *branches, uint32_t n)
{
	const struct gus_sample s = { .ip = address, .period = 7, .branches = branches, .branches_n = n };

	gus_seen_time(&m->seen, &s, address, map, NULL);
}

/* A sample is behind a misprediction if its newest branch is one that led right there. */
static void of_time(void **state)
{
	const struct gus_branch wrong = { C, A, GUS_BRANCH_MISPREDICTED, 0 }, right = { C, A, GUS_BRANCH_PREDICTED, 0 };
	const struct gus_branch older[] = { right, wrong };
	struct machine *m = *state;

	time_at(m, A, NULL, 0);
	time_at(m, A, &wrong, 1);
	time_at(m, A, &wrong, 1);
	time_at(m, B, &wrong, 1);
	time_at(m, A, older, 2);
	time_at(m, A, &right, 1);
	assert_int_equal(m->seen.time, 6);
	assert_float_equal(m->seen.weight, 42, 1e-9);
	assert_int_equal(m->seen.places.n, 3);
	assert_true(m->seen.places.v[0].address == A && !m->seen.places.v[0].behind);
	assert_int_equal(m->seen.places.v[0].samples, 3);
	assert_float_equal(m->seen.places.v[0].weight, 21, 1e-9);
	assert_true(m->seen.places.v[1].address == A && m->seen.places.v[1].behind);
	assert_int_equal(m->seen.places.v[1].samples, 2);
	assert_true(m->seen.places.v[2].address == B && !m->seen.places.v[2].behind);
	assert_int_equal(m->seen.stacks, 0); /* none tells cycles */
}

/* The newest branch comes first. What was executed before the oldest is not known, so its cycles do not count. */
static void of_stacks(void **state)
{
	const struct gus_branch stack[] = { { C, D, 0, 3 }, { B, A, 0, 5 }, { D, A, 0, 100 } };
	const struct gus_branch far[] = { { C, A, 0, 4 }, { D, NOWHERE, 0, 0 }, { A, D, 0, 0 }, { A, C, 0, 9 } };
	struct machine *m = *state;

	time_at(m, D, stack, 3); /* in 8 cycles A to C, A to B */
	assert_int_equal(m->seen.stacks, 1);
	assert_int_equal(m->seen.ranges.n, 2);
	assert_true(m->seen.ranges.v[0].from == A && m->seen.ranges.v[0].to == C);
	assert_float_equal(m->seen.ranges.v[0].rate, 1. / 8, 1e-9);
	assert_true(m->seen.ranges.v[1].from == A && m->seen.ranges.v[1].to == B);
	assert_float_equal(m->seen.ranges.v[1].rate, 1. / 8, 1e-9);
	time_at(m, A, far, 4); /* one that is not known, D to D, and one that would end before it begins */
	assert_int_equal(m->seen.stacks, 2);
	assert_int_equal(m->seen.ranges.n, 3);
	assert_true(m->seen.ranges.v[2].from == D && m->seen.ranges.v[2].to == D);
	assert_float_equal(m->seen.ranges.v[2].rate, 1. / 4, 1e-9);
	time_at(m, D, stack, 2);
	assert_int_equal(m->seen.ranges.n, 3);
	assert_float_equal(m->seen.ranges.v[0].rate, 1. / 8 + 1. / 3, 1e-9);
}

static double count_at(const struct machine *m, const struct gus_seen_counts *counts, uint64_t address)
{
	double sum = 0;

	for (size_t i = 0; i < counts->n; i++) {
		assert_false(counts->v[i].behind);
		sum += counts->v[i].site == gus_groups_site(m->groups, address) ? counts->v[i].share : 0;
	}
	return sum;
}

/* What lies between a branch's target and the next branch, both with it, was executed as often as it was there. */
static void of_ranges(void **state)
{
	const struct gus_branch stack[] = { { C, A, 0, 2 }, { B, A, 0, 2 }, { A, A, 0, 0 } };
	const struct gus_branch between[] = { { B + 4, C, 0, 4 }, { A, A + 1, 0, 0 } };
	struct gus_seen_counts counts = { 0 };
	struct machine *m = *state;

	gus_seen_ranges(&m->seen, m->groups, &counts);
	assert_int_equal(counts.n, 0);
	time_at(m, A, stack, 3); /* in 4 cycles A to C, A to B */
	time_at(m, A, between, 2); /* in 4 cycles what is behind A, to B */
	gus_seen_ranges(&m->seen, m->groups, &counts);
	assert_int_equal(counts.n, OPS);
	assert_float_equal(count_at(m, &counts, A), (2. / 4) / 2, 1e-9);
	assert_float_equal(count_at(m, &counts, B), (2. / 4 + 1. / 4) / 2, 1e-9);
	assert_float_equal(count_at(m, &counts, C), (1. / 4) / 2, 1e-9);
	assert_true(count_at(m, &counts, D) == 0);
	gus_vec_free(&counts);
}

static void execute(struct machine *m, uint64_t address, unsigned n, uint64_t events)
{
	for (unsigned i = 0; i < n; i++)
		gus_seen_execution(&m->seen, &(struct gus_sample){ .events = events }, address);
}

/* What a sample says was met, and what it says anything of. */
static void of_executions(void **state)
{
	struct machine *m = *state;

	execute(m, A, 2, GUS_PSV_ST_L1 | GUS_PSV_ST_LLC << 16);
	execute(m, A, 1, GUS_PSV_ST_L1);
	execute(m, A, 1, GUS_PSV_ST_L1 | GUS_PSV_ST_LLC << 16);
	execute(m, B, 1, (uint64_t)GUS_PSV_ALL << 16);
	assert_int_equal(m->seen.executed, 5);
	assert_int_equal(m->seen.told, 0);
	assert_int_equal(m->seen.executions.n, 3);
	assert_true(m->seen.executions.v[0].address == A && m->seen.executions.v[0].samples == 3);
	assert_int_equal(m->seen.executions.v[0].psv, GUS_PSV_ST_L1);
	assert_int_equal(m->seen.executions.v[0].known, GUS_PSV_ST_L1 | GUS_PSV_ST_LLC);
	assert_int_equal(m->seen.executions.v[1].known, GUS_PSV_ST_L1);
	assert_true(m->seen.executions.v[2].psv == 0 && m->seen.executions.v[2].known == GUS_PSV_ALL);
}

/* Bits that no event has, as any file may have them, tell nothing: an execution is what it is without them. */
static void of_bits_of_no_event(void **state)
{
	struct machine *m = *state;

	execute(m, A, 3, GUS_PSV_ST_L1);
	execute(m, A, 2, GUS_PSV_ST_L1 | ~(uint64_t)(GUS_PSV_ALL << 16 | GUS_PSV_ALL));
	assert_int_equal(m->seen.executions.n, 1);
	assert_int_equal(m->seen.executions.v[0].samples, 5);
	assert_int_equal(m->seen.executions.v[0].psv, GUS_PSV_ST_L1);
	assert_int_equal(m->seen.executions.v[0].known, GUS_PSV_ST_L1);
}

/* Two instructions a cycle. A was executed 40 times and the pair B 20, which is as many instructions; as many as both
 * are nowhere. By ops B has 60 samples, by instructions 40. */
static void how_often(void **state)
{
	struct gus_seen_counts counts = { 0 };
	struct machine *m = *state;

	assert_true(gus_seen_executions(&m->seen, m->groups, true, 2, &counts) == 0);
	assert_int_equal(counts.n, OPS);
	assert_true(count_at(m, &counts, A) == 0);
	counts.n = 0;
	execute(m, A, 40, 0);
	execute(m, B, 60, 0);
	execute(m, NOWHERE, 80, 0);
	assert_float_equal(gus_seen_executions(&m->seen, m->groups, true, 2, &counts), 80. / 180, 1e-9);
	assert_float_equal(count_at(m, &counts, A), 2 * 40. / 160, 1e-9);
	assert_float_equal(count_at(m, &counts, B), 2 * 20. / 160, 1e-9);
	assert_true(count_at(m, &counts, C) == 0);
	counts.n = 0;
	gus_seen_executions(&m->seen, m->groups, false, 2, &counts);
	assert_float_equal(count_at(m, &counts, A), 2 * 40. / 180, 1e-9);
	assert_float_equal(count_at(m, &counts, B), 2 * 30. / 180, 1e-9);
	gus_vec_free(&counts);
}

/* What is told to have retired 0 cycles behind what was before it was not the first of its cycle; nor does a latency
 * from completion on say who was. */
static void behind_others(void **state)
{
	struct machine *m = *state;

	gus_seen_execution(&m->seen, &(struct gus_sample){ .told = GUS_TOLD_RETIRE, .retire_latency = 0 }, A);
	gus_seen_execution(&m->seen, &(struct gus_sample){ .told = GUS_TOLD_COMPLETE, .retire_latency = 8 }, A);
	assert_int_equal(m->seen.told, 0);
	assert_int_equal(m->seen.retired.n, 1);
	assert_int_equal(m->seen.retired.v[0].samples, 2);
	assert_int_equal(m->seen.retired.v[0].heads, 0);
	assert_int_equal(m->seen.retired.v[0].waited, 0);
}

static void retire(struct machine *m, uint64_t address, unsigned n, uint32_t latency)
{
	const struct gus_sample s = { .told = latency ? GUS_TOLD_RETIRE : 0, .retire_latency = latency };

	for (unsigned i = 0; i < n; i++)
		gus_seen_execution(&m->seen, &s, address);
}

/* Of 100 executions of A 30 are the first of their cycle, 10 of them with four cycles before without any; of 40 of B, a
 * pair, half, at once. 60 are nowhere, and all are at half an instruction a cycle. */
static void first_to_retire(void **state)
{
	struct gus_seen_counts heads = { 0 }, waited = { 0 };
	struct machine *m = *state;

	retire(m, A, 70, 0);
	retire(m, A, 20, 1);
	retire(m, A, 10, 5);
	retire(m, B, 20, 0);
	retire(m, B, 20, 1);
	retire(m, NOWHERE, 60, 9);
	assert_int_equal(m->seen.told, 110);
	assert_int_equal(m->seen.retired.n, 3);
	assert_true(m->seen.retired.v[0].samples == 100 && m->seen.retired.v[0].heads == 30);
	assert_int_equal(m->seen.retired.v[0].waited, 40);
	gus_seen_retired(&m->seen, m->groups, .5, &heads, &waited);
	assert_true(heads.n == 2 && waited.n == 2);
	assert_float_equal(count_at(m, &heads, A), .5 * 30 / 200, 1e-9);
	assert_float_equal(count_at(m, &waited, A), .5 * 40 / 200, 1e-9);
	assert_float_equal(count_at(m, &heads, B), .5 * 20 / 200 / 2, 1e-9);
	assert_true(count_at(m, &waited, B) == 0);
	gus_vec_free(&heads);
	gus_vec_free(&waited);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_time, setup, teardown),
		cmocka_unit_test_setup_teardown(of_stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(of_ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(of_executions, setup, teardown),
		cmocka_unit_test_setup_teardown(of_bits_of_no_event, setup, teardown),
		cmocka_unit_test_setup_teardown(how_often, setup, teardown),
		cmocka_unit_test_setup_teardown(behind_others, setup, teardown),
		cmocka_unit_test_setup_teardown(first_to_retire, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
