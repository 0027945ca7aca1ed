/* SPDX-License-Identifier: MIT */
/* Whose time it is, by all that samples say (attribution/proportional/solution.h): of a loop of two instructions, A and
 * B, each of which retires in a cycle of its own where the model runs it, on a core that could retire both in one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/seen.h"
#include "attribution/proportional/solution.h"
#include "model/code/program.h"
#include "model/machine/options.h"
#include "proto/psv.h"
#include "proto/sample.h"

enum { A = 0x100, SECOND = 0x102, B = 0x104, NOWHERE = 0x900, ROUNDS = 1000, SAMPLES = 62000 };

struct loop {
	struct gus_op ops[2];
	struct gus_program_insn insns[3];
	struct gus_program p;
	struct gus_groups *groups;
	struct gus_seen seen;
	struct gus_replicates_parts time;
	struct gus_solution_given given;
	struct gus_solution s;
};

/* A is so many slots, and so many instructions that are fused to one op. */
static void begin_fused(struct loop *f, uint16_t slots, uint8_t insns)
{
	const struct gus_core_listener *l;

	*f = (struct loop){ .groups = gus_groups_new() };
	f->p = (struct gus_program){ .ops = f->ops, .insns = f->insns, .ops_n = 2, .insns_n = insns + 1u };
	f->ops[0] = (struct gus_op){ .insn = 0, .insns_n = insns, .slots = slots };
	f->ops[1] = (struct gus_op){ .insn = insns, .insns_n = 1, .slots = 1 };
	f->insns[0] = (struct gus_program_insn){ .offset = A, .info.length = (uint8_t)(4 / insns) };
	f->insns[1] = (struct gus_program_insn){ .offset = SECOND, .info.length = 2 };
	f->insns[insns] = (struct gus_program_insn){ .offset = B, .info.length = 4 };
	l = gus_groups_listen(f->groups, 7, &f->p);
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		l->retire(l->context, &(struct gus_core_retired){ .op = i % 2, .ends = true });
		l->cycle(l->context, &(struct gus_core_cycle){ .state = GUS_COMMIT_COMPUTE });
	}
	gus_groups_leave(f->groups, 7);
	gus_seen_init(&f->seen);
	f->given = (struct gus_solution_given){ .groups = f->groups, .width = 2, .sight = GUS_SPREAD_NEXT,
		.samples = SAMPLES, .seen = &f->seen };
}

static void begin(struct loop *f)
{
	begin_fused(f, 1, 1);
}

/* A share of all time, seen at A or B, as much in each slice. */
static void see_time(struct loop *f, uint64_t address, uint32_t who, double share)
{
	uint32_t site = gus_groups_site(f->groups, address);

	for (uint32_t i = 0; i < GUS_REPLICATES_SLICES; i++)
		gus_vec_push(&f->time, (struct gus_replicates_part){ { site, false, share / GUS_REPLICATES_SLICES }, i,
			     who });
}

static void see_executions(struct loop *f, uint64_t address, unsigned n, uint32_t events)
{
	for (unsigned i = 0; i < n; i++)
		gus_seen_execution(&f->seen, &(struct gus_sample){ .events = events |
				   (uint64_t)(GUS_PSV_ALL & ~events) << 16 }, address);
}

static void solve(struct loop *f, enum gus_solution_executions executions, double ipc)
{
	f->given.executions = executions;
	f->given.ipc = ipc;
	f->given.time = f->time.v;
	f->given.time_n = f->time.n;
	gus_solution_make(&f->s, &f->given, true);
}

static double share_of(const struct loop *f, uint64_t address, uint16_t psv)
{
	double sum = 0;

	for (size_t i = 0; i < f->s.replicates.cells.n; i++) {
		const struct gus_replicates_cell *c = &f->s.replicates.cells.v[i];

		if (c->site == gus_groups_site(f->groups, address) && c->psv == psv)
			sum += c->share;
	}
	return sum;
}

static void end(struct loop *f)
{
	gus_solution_free(&f->s);
	gus_vec_free(&f->time);
	gus_seen_free(&f->seen);
	gus_groups_free(f->groups);
}

/* Precise samples are all at A. As many executions of B are there, and two a cycle: both retire in one cycle, always,
 * and have half of it. */
static void retire_together(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, 1);
	see_executions(&f, A, 5000, 0);
	see_executions(&f, B, 5000, 0);
	solve(&f, GUS_SOLUTION_BY_INSNS, 2);
	assert_float_equal(share_of(&f, A, 0), .5, .02);
	assert_float_equal(share_of(&f, B, 0), .5, .02);
	assert_int_equal(f.s.left.n, 0);
	end(&f);
}

/* One a cycle: in half of the cycles both retire, and in the others A is waited for. */
static void wait_for_one(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, 1);
	see_executions(&f, A, 5000, 0);
	see_executions(&f, B, 5000, 0);
	solve(&f, GUS_SOLUTION_BY_INSNS, 1);
	assert_float_equal(share_of(&f, A, 0), .75, .02);
	assert_float_equal(share_of(&f, B, 0), .25, .02);
	end(&f);
}

/* A table says that one op retires in a cycle, and two are executed in each: that cannot be, and twice as many is what
 * explains it. Where one is executed in a cycle the table may be right, and is believed. */
static void too_narrow(void **state)
{
	struct loop f;

	(void)state;
	for (double ipc = 1; ipc < 3; ipc++) {
		begin(&f);
		f.given.width = 1;
		see_time(&f, A, 0, ipc > 1 ? 1 : .5);
		if (ipc < 2)
			see_time(&f, B, 0, .5);
		see_executions(&f, A, 5000, 0);
		see_executions(&f, B, 5000, 0);
		solve(&f, GUS_SOLUTION_BY_INSNS, ipc);
		assert_float_equal(share_of(&f, A, 0), .5, .02);
		assert_float_equal(share_of(&f, B, 0), .5, .02);
		assert_int_equal(f.s.width, ipc);
		end(&f);
	}
}

/* Half of the time, and of the executions, are elsewhere: of what is here the same holds. */
static void half_of_it(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, .5);
	see_executions(&f, A, 2500, 0);
	see_executions(&f, B, 2500, 0);
	see_executions(&f, NOWHERE, 5000, 0);
	solve(&f, GUS_SOLUTION_BY_INSNS, 2);
	assert_float_equal(share_of(&f, A, 0), .25, .015);
	assert_float_equal(share_of(&f, B, 0), .25, .015);
	assert_float_equal(f.s.replicates.all, .5, 1e-9);
	end(&f);
}

/* All samples are at A. The model executes each op every other cycle, so half of the time both retire, and half of it A
 * is waited for. */
static void by_model(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	gus_vec_push(&f.time, (struct gus_replicates_part){ { gus_groups_site(f.groups, A), false, 1 }, 0, 0 });
	solve(&f, GUS_SOLUTION_BY_MODEL, 0);
	assert_float_equal(share_of(&f, A, 0), .75, .05);
	assert_float_equal(share_of(&f, B, 0), .25, .05);
	end(&f);
}

/* By the model, too: its cycles are those that are here. */
static void half_by_model(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, .25);
	see_time(&f, B, 0, .25);
	solve(&f, GUS_SOLUTION_BY_MODEL, 0);
	assert_float_equal(share_of(&f, A, 0), .25, .005);
	assert_float_equal(share_of(&f, B, 0), .25, .005);
	end(&f);
}

/* A table that is not of this very machine is more in doubt about executions, where nothing else tells of them. */
static void by_a_nominal_model(void **state)
{
	static const enum gus_solution_executions by[] = { GUS_SOLUTION_BY_MODEL, GUS_SOLUTION_BY_INSNS };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		double doubts[2];

		for (int nominal = 0; nominal < 2; nominal++) {
			struct loop f;

			begin(&f);
			see_time(&f, A, 0, 1);
			see_executions(&f, A, 50, 0);
			see_executions(&f, B, 50, 0);
			f.given.nominal = nominal;
			solve(&f, by[i], 1);
			doubts[nominal] = f.s.replicates.o.doubts.executed;
			end(&f);
		}
		assert_float_equal(doubts[0], 0, 1e-12);
		assert_float_equal(doubts[1], i ? 0 : .5, 1e-12);
	}
}

/* Ops are as likely as each other: A is two of them, and is sampled twice as often. */
static void of_ops(void **state)
{
	struct loop f;

	(void)state;
	begin_fused(&f, 2, 1);
	see_time(&f, A, 0, 1);
	see_executions(&f, A, 6000, 0);
	see_executions(&f, B, 3000, 0);
	solve(&f, GUS_SOLUTION_BY_OPS, 2);
	assert_float_equal(share_of(&f, B, 0), .5, .02);
	end(&f);
}

/* Samples of executions say that each of A's met a miss, of which the model has none. Of B there are none. */
static void what_they_met(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, .5);
	see_time(&f, B, 0, .5);
	see_executions(&f, A, 4000, GUS_PSV_ST_L1);
	f.given.met = &f.seen;
	solve(&f, GUS_SOLUTION_BY_NOTHING, 0);
	assert_true(gus_met_knows(&f.s.met, gus_groups_site(f.groups, A)));
	assert_false(gus_met_knows(&f.s.met, gus_groups_site(f.groups, B)));
	assert_true(share_of(&f, A, GUS_PSV_ST_L1) > 9 * share_of(&f, A, 0));
	assert_true(share_of(&f, B, GUS_PSV_ST_L1) == 0);
	end(&f);
}

/* The model has one instruction a cycle, and what it executes counts as well: seen at A alone, B retires with it every
 * other cycle. */
static void executed_by_model(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, 1);
	solve(&f, GUS_SOLUTION_BY_MODEL, 0);
	assert_float_equal(share_of(&f, A, 0), .75, .02);
	assert_float_equal(share_of(&f, B, 0), .25, .02);
	end(&f);
}

/* Without counters instructions a cycle are the model's: one, of this loop. */
static void without_counters(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, 1);
	see_executions(&f, A, 5000, 0);
	see_executions(&f, B, 5000, 0);
	solve(&f, GUS_SOLUTION_BY_INSNS, 0);
	assert_float_equal(share_of(&f, A, 0), .75, .02);
	assert_float_equal(share_of(&f, B, 0), .25, .02);
	end(&f);
}

static uint64_t as_it_is(void *context, const struct gus_sample *s, uint64_t address)
{
	(void)context;
	(void)s;
	return address;
}

/* Branch stacks: A to B was executed once a cycle, so both retire in one, as when two a cycle are counted. */
static void by_stacks(void **state)
{
	const struct gus_branch stack[] = { { B, A, GUS_BRANCH_PREDICTED, 1 }, { B, A, GUS_BRANCH_PREDICTED, 1 } };
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, 1);
	for (unsigned i = 0; i < 100; i++)
		gus_seen_time(&f.seen, &(struct gus_sample){ .ip = A, .period = 1, .branches = stack,
			      .branches_n = 2 }, A, as_it_is, NULL);
	solve(&f, GUS_SOLUTION_BY_STACKS, 0);
	assert_int_equal(f.s.replicates.o.evidence, GUS_REPLICATES_STACKS);
	assert_float_equal(share_of(&f, A, 0), .5, .02);
	assert_float_equal(share_of(&f, B, 0), .5, .02);
	end(&f);
}

static void see_latencies(struct loop *f, uint64_t address, unsigned n, uint32_t latency)
{
	for (unsigned i = 0; i < n; i++)
		gus_seen_execution(&f->seen, &(struct gus_sample){ .told = latency ? GUS_TOLD_RETIRE : 0,
				   .retire_latency = latency }, address);
}

/* A is the first to retire in each of its cycles, after two without any. Of B so many are, after as much. */
static double of_b_by_latencies(unsigned first, uint32_t latency)
{
	struct loop f;
	double share;

	begin(&f);
	see_time(&f, A, 0, .75);
	see_time(&f, B, 0, .25);
	see_latencies(&f, A, 4000, 3);
	see_latencies(&f, B, first, latency);
	see_latencies(&f, B, 4000 - first, 0);
	solve(&f, GUS_SOLUTION_BY_INSNS, .5);
	assert_int_equal(f.s.replicates.o.evidence, GUS_REPLICATES_RETIRED);
	share = share_of(&f, B, 0);
	end(&f);
	return share;
}

/* Half an instruction a cycle, and a quarter of the time is seen at B: each of its executions may have had a cycle, or
 * half of them two, and the others one with A, of which half is B's: then it has five cycles of sixteen. Latencies tell
 * which it is; they do not weigh so much that it is all that is believed. */
static void by_latencies(void **state)
{
	double alone = of_b_by_latencies(4000, 1), together = of_b_by_latencies(2000, 2);

	(void)state;
	assert_float_equal(alone, 4. / 16, .015);
	assert_true(together > alone + .015 && together < 5. / 16 + .01);
}

/* What tells of executions says how sure the rest is. */
static void by_evidence(void **state)
{
	static const struct { enum gus_solution_executions by; enum gus_replicates_evidence is; } all[] = {
		{ GUS_SOLUTION_BY_OPS, GUS_REPLICATES_OPS }, { GUS_SOLUTION_BY_INSNS, GUS_REPLICATES_OPS },
		{ GUS_SOLUTION_BY_MODEL, GUS_REPLICATES_MODEL }, { GUS_SOLUTION_BY_NOTHING, GUS_REPLICATES_MODEL },
	};
	struct loop f;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		begin(&f);
		see_time(&f, A, 0, .5);
		see_time(&f, B, 0, .5);
		see_executions(&f, A, 10, 0);
		see_executions(&f, B, 10, 0);
		solve(&f, all[i].by, 1);
		assert_int_equal(f.s.replicates.o.evidence, all[i].is);
		end(&f);
	}
}

/* Of what is before that which samples tell of they tell nothing, either. */
static void what_the_last_met(void **state)
{
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, 1);
	see_executions(&f, B, 10, 0);
	f.given.met = &f.seen;
	solve(&f, GUS_SOLUTION_BY_NOTHING, 0);
	assert_false(gus_met_knows(&f.s.met, gus_groups_site(f.groups, A)));
	assert_true(gus_met_knows(&f.s.met, gus_groups_site(f.groups, B)));
	end(&f);
}

/* What each thread was seen to take is its own, and there are intervals only if they were asked for. */
static void of_threads(void **state)
{
	double of[2] = { 0 };
	struct loop f;

	(void)state;
	begin(&f);
	see_time(&f, A, 0, .6);
	see_time(&f, A, 1, .3);
	see_time(&f, B, 1, .1);
	solve(&f, GUS_SOLUTION_BY_MODEL, 0);
	for (size_t i = 0; i < f.s.replicates.cells.n; i++)
		of[f.s.replicates.cells.v[i].who] += f.s.replicates.cells.v[i].share;
	assert_float_equal(of[0], .6, 1e-9);
	assert_float_equal(of[1], .4, 1e-9);
	assert_non_null(f.s.replicates.shares);
	gus_solution_free(&f.s);
	gus_solution_make(&f.s, &f.given, false);
	assert_null(f.s.replicates.shares);
	assert_true(f.s.replicates.cells.n > 0);
	end(&f);
}

/* Half of the slices have all executions of B. They are rarer in some replicates than in others, and how much of the
 * time is B's is more in doubt than where each slice has as many. */
static double deviation_of_b(bool clumps)
{
	struct gus_solution_slice slices[GUS_REPLICATES_SLICES];
	struct gus_seen own[GUS_REPLICATES_SLICES];
	const uint32_t each[] = { 0, 1 };
	struct gus_replicates_sum sums[2];
	struct loop f;

	begin(&f);
	see_time(&f, A, 0, 1);
	for (uint32_t i = 0; i < GUS_REPLICATES_SLICES; i++) {
		unsigned n = clumps ? i % 2 * 160 : 80;

		gus_seen_init(&own[i]);
		slices[i] = (struct gus_solution_slice){ &own[i], i };
		for (unsigned k = 0; k < 160 + n; k++)
			gus_seen_execution(&own[i], &(struct gus_sample){ .period = 1 }, k < 160 ? A : B);
		see_executions(&f, A, 160, 0);
		see_executions(&f, B, n, 0);
	}
	f.given.slices = slices;
	f.given.slices_n = GUS_REPLICATES_SLICES;
	solve(&f, GUS_SOLUTION_BY_INSNS, 1.5);
	assert_int_equal(f.s.replicates.cells.n, 2);
	gus_replicates_add(&f.s.replicates, each, 2, sums);
	for (uint32_t i = 0; i < GUS_REPLICATES_SLICES; i++)
		gus_seen_free(&own[i]);
	end(&f);
	return sums[1].deviation;
}

static void of_slices(void **state)
{
	(void)state;
	assert_true(deviation_of_b(true) > 1.4 * deviation_of_b(false));
}

/* All interrupts of a wait for A land behind it, or on it if they are early. */
static void early_interrupts(void **state)
{
	(void)state;
	for (int early = 0; early < 2; early++) {
		struct loop f;

		begin(&f);
		f.given.width = 1;
		f.given.sight = GUS_SPREAD_BEHIND;
		f.given.early = early;
		see_time(&f, A, 0, .75);
		see_time(&f, B, 0, .25);
		solve(&f, GUS_SOLUTION_BY_NOTHING, 0);
		assert_float_equal(share_of(&f, early ? A : B, 0), .75, .02);
		end(&f);
	}
}

/* A is two instructions. If more than two of a thousand interrupts are at its second, the CPU takes them there while A
 * is waited for; else they are as those at its first, which are of B. */
static void between_two_that_are_fused(void **state)
{
	static const struct { double second, of_a; } cases[] = { { .001, 0 }, { .003, .003 }, { .9, .9 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct loop f;

		begin_fused(&f, 1, 2);
		f.given.width = 1;
		f.given.sight = GUS_SPREAD_INTERRUPT;
		see_time(&f, A, 0, 1 - cases[i].second);
		see_time(&f, A, 0, cases[i].second);
		for (size_t k = GUS_REPLICATES_SLICES; k < f.time.n; k++)
			f.time.v[k].count.second = true;
		solve(&f, GUS_SOLUTION_BY_NOTHING, 0);
		assert_float_equal(share_of(&f, A, 0), cases[i].of_a, 5e-4);
		assert_float_equal(share_of(&f, A, 0) + share_of(&f, B, 0), 1, 1e-9);
		assert_int_equal(f.s.left.n, 0);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retire_together),
		cmocka_unit_test(wait_for_one),
		cmocka_unit_test(too_narrow),
		cmocka_unit_test(half_of_it),
		cmocka_unit_test(by_model),
		cmocka_unit_test(half_by_model),
		cmocka_unit_test(by_a_nominal_model),
		cmocka_unit_test(of_ops),
		cmocka_unit_test(what_they_met),
		cmocka_unit_test(executed_by_model),
		cmocka_unit_test(without_counters),
		cmocka_unit_test(by_stacks),
		cmocka_unit_test(by_latencies),
		cmocka_unit_test(by_evidence),
		cmocka_unit_test(what_the_last_met),
		cmocka_unit_test(of_threads),
		cmocka_unit_test(of_slices),
		cmocka_unit_test(early_interrupts),
		cmocka_unit_test(between_two_that_are_fused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
