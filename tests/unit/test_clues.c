/* SPDX-License-Identifier: MIT */
/* attribution/accounts/clues: what the samples of a recording say, in terms of its trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/proportional/replicates.h"
#include "base/limits.h"
#include "made_account.h"

/* Of a recording with as many samples, by its footer, each somewhere else, the slices that they are of. */
static void expect_slices(struct made *m, uint64_t told, const uint32_t *slices, unsigned n, unsigned first)
{
	m->sampled = told;
	made_event(m, "cpu-clock", "ns");
	for (unsigned i = 0; i < first + n; i++)
		made_samples(m, 1, (struct gus_sample){ .ip = lib_at + TEXT + i });
	made_account(m, true);
	assert_int_equal(m->clues.time.n, first + n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(m->clues.time.v[first + i].slice, slices[i]);
}

/* Nothing tells how many samples there are: 16 are a stretch, and slices have stretches in turn. */
static void of_a_recording_that_was_cut(void **state)
{
	uint32_t slices[1000];
	struct made *m = *state;

	for (unsigned i = 0; i < 1000; i++)
		slices[i] = i / 16 % 62;
	m->cut = true;
	expect_slices(m, 0, slices, 1000, 0);
	assert_int_equal(m->clues.unsampled, 0);
	assert_true(m->clues.ipc == 0);
}

/* Of 1984 two are a stretch, of which each slice has sixteen. */
static void in_turn(void **state)
{
	uint32_t slices[1984];
	struct made *m = *state;

	for (unsigned i = 0; i < 1984; i++)
		slices[i] = i / 2 % 62;
	expect_slices(m, 1984, slices, 1984, 0);
}

/* What a footer says of what was not sampled is a number that JSON has. */
static void of_more_than_there_can_be(void **state)
{
	struct made *m = *state;

	m->missed = UINT64_MAX;
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 1, (struct gus_sample){ .ip = lib_at + TEXT });
	made_account(m, true);
	assert_true(m->clues.unsampled == GUS_LIMIT_SUM);
}

/* Few samples are stretches of one; those beyond what a footer tells are as of a recording that tells nothing. */
static void one_at_a_time(void **state)
{
	static const uint32_t slices[] = { 98 % 62, 99 % 62, 100 / 16, 101 / 16 };

	expect_slices(*state, 100, slices, 4, 98);
}

/* Slices of a recording of 9920 samples are of ten at a time, and what was executed is in them as well. */
static void in_slices(void **state)
{
	uint64_t of[GUS_REPLICATES_SLICES] = { 0 }, executed = 0;
	struct made *m = *state;
	Gusprof__Event *e;

	made_event(m, "cpu-clock", "ns");
	e = made_event(m, "ibs_op/cnt_ctl=1/", "events");
	e->pmu = (char *)(uintptr_t)"ibs_op";
	e->config = 1 << 19;
	m->sampled = 9920;
	made_samples(m, 9920, (struct gus_sample){ .ip = app_at + TEXT + ADD });
	made_samples(m, 620, (struct gus_sample){ .ip = app_at + TEXT + ADD, .event = 1 });
	made_account(m, true);
	for (size_t i = 0; i < m->clues.time.n; i++)
		of[m->clues.time.v[i].slice] += m->clues.time.v[i].weight;
	for (size_t i = 0; i < GUS_REPLICATES_SLICES; i++) {
		assert_int_equal(of[i], 160000);
		assert_int_equal(m->clues.slices[i].time, 160);
		assert_int_equal(m->clues.slices[i].executed, 10);
		executed += m->clues.slices[i].executed;
	}
	assert_int_equal(executed, m->clues.seen.executed);
}

/* Instructions a cycle by two counters, and by one of them alone. */
static double ipc_of(struct made *m, bool cycles, bool instructions)
{
	Gusprof__Event *e;

	made_event(m, "cpu-clock", "ns");
	m->counts[0] = 5;
	if (cycles) {
		m->counts[m->events_n] = 2000;
		made_event(m, "cycles", "cycles");
	}
	if (instructions) {
		m->counts[m->events_n] = 3000;
		e = made_event(m, "instructions", "events");
		e->type = 0;
		e->config = 1;
	}
	made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT });
	made_account(m, true);
	return m->clues.ipc;
}

static void by_counters(void **state)
{
	assert_float_equal(ipc_of(*state, true, true), 1.5, 1e-9);
}

static void by_cycles_alone(void **state)
{
	assert_true(ipc_of(*state, true, false) == 0);
}

static void by_instructions_alone(void **state)
{
	assert_true(ipc_of(*state, false, true) == 0);
}

/* Samples are precise if more than half of them are. */
static enum gus_spread_sight sight_of(struct made *m, unsigned exact, unsigned others)
{
	made_event(m, "cycles:ppp", "cycles")->precise = 3;
	made_samples(m, exact, (struct gus_sample){ .ip = app_at + TEXT, .exact = true });
	made_samples(m, others, (struct gus_sample){ .ip = app_at + TEXT });
	made_account(m, true);
	assert_int_equal(m->clues.exact, exact);
	assert_int_equal(m->clues.samples, exact + others);
	return m->clues.sight.sight;
}

static void more_than_half(void **state)
{
	assert_int_equal(sight_of(*state, 6, 5), GUS_SPREAD_NEXT);
}

static void half(void **state)
{
	assert_int_equal(sight_of(*state, 5, 5), GUS_SPREAD_BEHIND);
}

/* Of two kinds of samples of executions the first is taken. */
static void of_two_kinds(void **state)
{
	struct made *m = *state;
	Gusprof__Event *e;

	made_event(m, "cpu-clock", "ns");
	made_precise_event(m, "inst_retired.prec_dist:pp");
	e = made_event(m, "ibs_op/cnt_ctl=1/", "events");
	e->pmu = (char *)(uintptr_t)"ibs_op";
	e->config = 1 << 19;
	made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT });
	made_samples(m, 5, (struct gus_sample){ .ip = app_at + TEXT, .event = 1 });
	made_samples(m, 7, (struct gus_sample){ .ip = app_at + TEXT, .event = 2 });
	made_samples(m, 2, (struct gus_sample){ .ip = lib_at + TEXT, .event = 1 });
	made_account(m, true);
	assert_int_equal(m->clues.executions, GUS_SAMPLER_INSNS);
	assert_int_equal(m->clues.seen.executed, 7);
	assert_int_equal(m->clues.loads.executed, 0);
	assert_int_equal(m->clues.samples, 3);
}

static void of_time_alone(void **state)
{
	struct made *m = *state;

	made_event(m, "cycles", "cycles");
	made_event(m, "cpu-clock", "ns");
	made_samples(m, 3, (struct gus_sample){ .ip = app_at + TEXT });
	made_samples(m, 5, (struct gus_sample){ .ip = app_at + TEXT, .event = 1 });
	made_account(m, true);
	assert_int_equal(m->clues.executions, GUS_SAMPLER_OTHER);
	assert_int_equal(m->clues.samples, 3);
	assert_int_equal(m->clues.weight, 3000);
}

/* Branches that are nowhere in the trace, or the kernel's, span nothing. */
static void of_branches_elsewhere(void **state)
{
	const uint64_t jnz = app_at + TEXT + JNZ, imul = app_at + TEXT + IMUL, lib = lib_at + TEXT;
	const struct gus_branch stack[] = {
		{ jnz, imul, GUS_BRANCH_PREDICTED, 3 }, { lib, imul, GUS_BRANCH_PREDICTED, 3 },
		{ jnz, lib, GUS_BRANCH_PREDICTED, 3 }, { jnz, imul, GUS_BRANCH_PREDICTED, 3 },
	};
	struct made *m = *state;

	made_event(m, "cycles:ppp", "cycles")->precise = 3;
	made_samples(m, 10, (struct gus_sample){ .ip = imul, .exact = true, .branches = stack, .branches_n = 4 });
	made_samples(m, 10, (struct gus_sample){ .ip = UINT64_C(0xffffffff81000000), .exact = true, .branches = stack,
		.branches_n = 4, .mode = GUS_MODE_KERNEL });
	made_account(m, true);
	assert_int_equal(m->clues.seen.stacks, 20);
	assert_int_equal(m->clues.seen.ranges.n, 1);
	assert_true(m->clues.seen.ranges.v[0].from == traced_at + TEXT + IMUL);
	assert_true(m->clues.seen.ranges.v[0].to == traced_at + TEXT + JNZ);
	assert_float_equal(m->clues.seen.ranges.v[0].rate, 10 * 2. / 9, 1e-9);
}

/* Threads, with their processes; memory of no file is its process's own, and a file's is everybody's. */
static void of_processes(void **state)
{
	struct made *m = *state;

	made_event(m, "cpu-clock", "ns");
	made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT, .pid = 10, .tid = 10 });
	made_samples(m, 1, (struct gus_sample){ .ip = app_at + TEXT, .pid = 10, .tid = 11 });
	made_samples(m, 1, (struct gus_sample){ .ip = 0x900000, .pid = 10, .tid = 10 });
	made_samples(m, 1, (struct gus_sample){ .ip = 0x900000, .pid = 12, .tid = 12 });
	made_samples(m, 1, (struct gus_sample){ .ip = 0x900000, .pid = 10, .tid = 11 });
	made_account(m, true);
	assert_int_equal(m->clues.threads.n, 3);
	assert_true(m->clues.threads.v[1].pid == 10 && m->clues.threads.v[1].tid == 11);
	assert_true(m->clues.threads.v[2].pid == 12 && m->clues.threads.v[2].tid == 12);
	assert_int_equal(m->clues.places.n, 3);
	assert_int_equal(m->clues.time.n, 5);
	assert_int_equal(m->clues.time.v[4].place, m->clues.time.v[2].place);
	assert_int_not_equal(m->clues.time.v[3].place, m->clues.time.v[2].place);
}

#define CLUES(test) cmocka_unit_test_setup_teardown(test, made_account_setup, made_account_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLUES(of_a_recording_that_was_cut),
		CLUES(of_more_than_there_can_be),
		CLUES(in_turn),
		CLUES(one_at_a_time),
		CLUES(in_slices),
		CLUES(by_counters),
		CLUES(by_cycles_alone),
		CLUES(by_instructions_alone),
		CLUES(more_than_half),
		CLUES(half),
		CLUES(of_two_kinds),
		CLUES(of_time_alone),
		CLUES(of_branches_elsewhere),
		CLUES(of_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
