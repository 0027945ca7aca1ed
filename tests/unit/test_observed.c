/* SPDX-License-Identifier: MIT */
/* attribution/observed: what samples that are written here say of single instructions, by argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/observed/kinds.h"
#include "attribution/observed/observed.h"
#include "proto/data_source.h"
#include "proto/psv.h"
#include "proto/sample.h"
#include "tests/unit/made_observed.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static const char app[] = MADE_OBSERVED_FILE;
enum { RAW = 4, IBS = 11, SPE = 12, BY_OPS = 1 << 19 };

static const struct made_event spe = { "arm_spe_0", SPE, 1, 2, 0, 0, 0 }, cycles = { "", 0, 0, 0, 0, 0, 3 },
	loads = { "cpu", RAW, 0x1cd, 3, 0, 0, 2 }, behind = { "cpu", RAW, 0x44c5, 0, 0, 0, 2 };

/* Of each kind of event a good one and what is wrong with its neighbours. */
static void test_kinds(void **state)
{
	static const struct { struct made_event e; enum gus_observed_kind kind; bool why; } cases[] = {
		{ { "ibs_op", IBS, BY_OPS, 0, 0, 0, 0 }, GUS_OBSERVED_OPS, false },
		{ { "ibs_op", IBS, 0, 0, 0, 0, 0 }, GUS_OBSERVED_NOTHING, true },       /* by cycles */
		{ { "ibs_op", IBS, BY_OPS | 1 << 16, 0, 0, 0, 0 }, GUS_OBSERVED_NOTHING, true }, /* misses of L3 */
		{ { "ibs_op", IBS, BY_OPS, 128, 0, 0, 0 }, GUS_OBSERVED_NOTHING, true }, /* slow ones */
		{ { "arm_spe_0", SPE, 1, 2, 0, 0, 0 }, GUS_OBSERVED_OPS, false },
		{ { "arm_spe_0", SPE, 1, 0, 0, 0, 0 }, GUS_OBSERVED_OPS, false },
		{ { "arm_spe_0", SPE, 1, 2, 32, 0, 0 }, GUS_OBSERVED_NOTHING, true },   /* slow ones */
		{ { "arm_spe_0", SPE, 1, 1 << 3, 0, 0, 0 }, GUS_OBSERVED_NOTHING, true }, /* refills of L1 */
		{ { "arm_spe_0", SPE, 1, 2, 0, 1, 0 }, GUS_OBSERVED_NOTHING, true },    /* or those without one */
		{ { "cpu", RAW, 0x1cd, 3, 0, 0, 2 }, GUS_OBSERVED_LOADS, false },
		{ { "cpu", RAW, 0x1cd, 4, 0, 0, 2 }, GUS_OBSERVED_LOADS, false },
		{ { "cpu", RAW, 0x1cd, 5, 0, 0, 2 }, GUS_OBSERVED_NOTHING, true },
		{ { "cpu", RAW, 0x1cd, 30, 0, 0, 2 }, GUS_OBSERVED_NOTHING, true },     /* as perf mem has it */
		{ { "cpu", RAW, 0x1d1, 0, 0, 0, 1 }, GUS_OBSERVED_COUNTED, false },
		{ { "cpu", RAW, 0x1d1, 0, 0, 0, 0 }, GUS_OBSERVED_NOTHING, false },     /* not precise: it skids */
		{ { "cpu", RAW, 0x8d1, 0, 0, 0, 1 }, GUS_OBSERVED_NOTHING, false },     /* l1_miss, without fb_hit */
		{ { "", 0, 0, 0, 0, 0, 0 }, GUS_OBSERVED_TIME, false },
		{ { "", 0, 3, 0, 0, 0, 0 }, GUS_OBSERVED_NOTHING, false },              /* cache misses */
		{ { "software", 1, 0, 0, 0, 0, 0 }, GUS_OBSERVED_TIME, false },
		{ { "software", 1, 2, 0, 0, 0, 0 }, GUS_OBSERVED_NOTHING, false },      /* page faults */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const Gusprof__Event m = made_event_message(&cases[i].e);
		const struct gus_observed_event got = gus_observed_event_of(&m);

		if (got.kind != cases[i].kind || !got.why == cases[i].why)
			fail_msg("case %zu: kind %d%s%s", i, got.kind, got.why ? ", " : "", got.why ? got.why : "");
	}
}

/* Loads and stores of one instruction are told apart, and what tells no level is none of either. */
static void test_accesses(void **state)
{
	struct made_observed m = { .events_n = 0 };
	const struct gus_observed_insn *insn;
	struct gus_observed *o;

	(void)state;
	made_observed_event(&m, &made_ibs_ops);
	made_observed_add(&m, 20, (struct gus_sample){ .ip = 0x100, .exact = true,
		.data_source = made_observed_source(GUS_DATA_LOADS, GUS_DATA_L1, GUS_DATA_TLB_FIRST) });
	made_observed_add(&m, 4, (struct gus_sample){ .ip = 0x100, .exact = true,
		.data_source = made_observed_source(GUS_DATA_LOADS, GUS_DATA_LINE_BUFFER, GUS_DATA_TLB_SECOND) });
	made_observed_add(&m, 3, (struct gus_sample){ .ip = 0x100, .exact = true,
		.data_source = made_observed_source(GUS_DATA_LOADS, GUS_DATA_L2, GUS_DATA_TLB_EITHER) });
	made_observed_add(&m, 2, (struct gus_sample){ .ip = 0x100, .exact = true,
		.data_source = made_observed_source(GUS_DATA_LOADS | GUS_DATA_STORES, GUS_DATA_RAM,
						    GUS_DATA_TLB_WALK) });
	made_observed_add(&m, 7, (struct gus_sample){ .ip = 0x100, .exact = true,
		.data_source = made_observed_source(GUS_DATA_LOADS, GUS_DATA_LEVEL_UNKNOWN, GUS_DATA_TLB_FIRST) });
	made_observed_add(&m, 9, (struct gus_sample){ .ip = 0x100, /* not exact: perhaps another instruction's */
		.data_source = made_observed_source(GUS_DATA_LOADS, GUS_DATA_L1, GUS_DATA_TLB_FIRST) });
	o = made_observed_end(&m);
	insn = gus_observed_at(o, app, 0x100);
	assert_non_null(insn);
	assert_int_equal(insn->loads.samples, 29);
	assert_int_equal(insn->loads.hits[GUS_HIT_L1], 24);
	assert_int_equal(insn->loads.hits[GUS_HIT_L2], 3);
	assert_int_equal(insn->loads.hits[GUS_HIT_L3], 0);
	assert_int_equal(insn->loads.hits[GUS_HIT_MEMORY], 2);
	assert_true(insn->loads.first == 20 && insn->loads.second == 4 && insn->loads.either == 3 &&
		    insn->loads.walked == 2);
	assert_true(insn->stores.samples == 2 && insn->stores.hits[GUS_HIT_MEMORY] == 2);
	assert_int_equal(gus_observed_totals(o).accesses, 31);
	assert_null(gus_observed_at(o, app, 0x101));
	assert_null(gus_observed_at(o, "/nowhere/other", 0x100));
	gus_observed_free(o);
}

/* Missed in L3: memory. Missed in L2: L3, or beyond. */
static void test_missed(void **state)
{
	struct gus_data_source beyond_l2 = { .does = GUS_DATA_LOADS, .level = GUS_DATA_L2, .missed = true };
	struct gus_data_source beyond_l3 = { .does = GUS_DATA_LOADS, .level = GUS_DATA_L3, .missed = true };
	struct made_observed m = { .events_n = 0 };
	const struct gus_observed_insn *insn;
	struct gus_observed *o;

	(void)state;
	made_observed_event(&m, &loads);
	made_observed_add(&m, 5, (struct gus_sample){ .ip = 0x100, .exact = true,
		.data_source = gus_data_source_word(&beyond_l2) });
	made_observed_add(&m, 6, (struct gus_sample){ .ip = 0x100, .exact = true,
		.data_source = gus_data_source_word(&beyond_l3) });
	o = made_observed_end(&m);
	insn = gus_observed_at(o, app, 0x100);
	assert_true(insn->loads.samples == 11 && insn->loads.hits[GUS_HIT_MEMORY] == 6);
	assert_true(insn->loads.hits[GUS_HIT_L3] == 5 && insn->loads.beyond == 5);
	gus_observed_free(o);
}

static const uint64_t wrong = GUS_PSV_FL_MB, right = (uint64_t)GUS_PSV_FL_MB << 16;

/* A branch at 0x200 that is taken 30 times, 6 of them mispredicted, and falls through 10 times, 9 of them. */
static void add_branch(struct made_observed *m)
{
	static const struct gus_branch taken = { .from = 0x200, .to = 0x300 };
	const struct gus_sample falls = { .ip = 0x200, .exact = true, .events = right };
	struct gus_sample goes = { .ip = 0x200, .exact = true, .events = right, .branches_n = 1, .branches = &taken };

	made_observed_add(m, 24, goes);
	goes.events = wrong;
	made_observed_add(m, 6, goes);
	made_observed_add(m, 1, falls);
	made_observed_add(m, 9, (struct gus_sample){ .ip = 0x200, .exact = true, .events = wrong });
	made_observed_add(m, 5, (struct gus_sample){ .ip = 0x200, .exact = true }); /* nothing is told */
}

static void assert_counts(const struct gus_observed_branch *b, uint64_t samples, uint64_t executed,
			  uint64_t mispredicted)
{
	assert_int_equal(b->samples, samples);
	assert_int_equal(b->executed, executed);
	assert_int_equal(b->mispredicted, mispredicted);
}

static void test_ways(void **state)
{
	struct made_observed m = { .events_n = 0 };
	struct gus_observed_insn insn;
	struct gus_observed *o;

	(void)state;
	made_observed_event(&m, &made_ibs_ops);
	add_branch(&m);
	o = made_observed_end(&m);
	insn = gus_observed_branch_at(o, app, 0x200, 0x202);
	assert_counts(&insn.taken, 30, 30, 6);
	assert_counts(&insn.fallen, 10, 10, 9);
	assert_counts(&insn.all, 40, 40, 15);
	assert_int_equal(gus_observed_totals(o).branches, 30);
	gus_observed_free(o);
}

/* Records without targets: which way a branch went is not told. */
static void test_without_ways(void **state)
{
	struct made_observed m = { .events_n = 0 };
	struct gus_observed_insn insn;
	struct gus_observed *o;

	(void)state;
	made_observed_event(&m, &made_ibs_ops);
	made_observed_add(&m, 30, (struct gus_sample){ .ip = 0x200, .exact = true, .events = right });
	made_observed_add(&m, 10, (struct gus_sample){ .ip = 0x200, .exact = true, .events = wrong });
	o = made_observed_end(&m);
	insn = gus_observed_branch_at(o, app, 0x200, 0x202);
	assert_counts(&insn.taken, 0, 0, 0);
	assert_counts(&insn.fallen, 0, 0, 0);
	assert_counts(&insn.all, 40, 40, 10);
	gus_observed_free(o);
}

/* What accesses memory is no branch of Arm's, and may be one of AMD's, which fuses the two. */
static void test_access_and_branch(void **state)
{
	static const struct { const struct made_event *e; uint64_t counted; } cases[] = {
		{ &made_ibs_ops, 25 }, { &spe, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_observed m = { .events_n = 0 };
		struct gus_observed_insn insn;
		struct gus_observed *o;

		made_observed_event(&m, cases[i].e);
		made_observed_add(&m, 25, (struct gus_sample){ .ip = 0x200, .exact = true, .events = right,
			.data_source = made_observed_source(GUS_DATA_LOADS, GUS_DATA_L1, GUS_DATA_TLB_FIRST) });
		o = made_observed_end(&m);
		insn = gus_observed_branch_at(o, app, 0x200, 0x202);
		assert_int_equal(insn.all.samples, cases[i].counted);
		assert_int_equal(insn.loads.samples, 25);
		gus_observed_free(o);
	}
}

/* A loop from 0x300 to a branch at 0x340 that goes back to it, with one at 0x320 in it that goes on to 0x330 or falls
 * through to 0x322. Of 40 stacks half skip (two ranges a turn), half do not (one); each has 8 cycles of 80. */
static void add_stacks(struct made_observed *m)
{
	static const struct gus_branch skips[] = { { 0x340, 0x300, GUS_BRANCH_PREDICTED, 2 },
		{ 0x320, 0x330, GUS_BRANCH_MISPREDICTED, 2 }, { 0x340, 0x300, GUS_BRANCH_PREDICTED, 4 } };
	static const struct gus_branch falls[] = { { 0x340, 0x300, GUS_BRANCH_PREDICTED, 4 },
		{ 0x340, 0x300, GUS_BRANCH_PREDICTED, 4 } };

	made_observed_add(m, 20, (struct gus_sample){ .ip = 0x300, .period = 80, .branches_n = 3, .branches = skips });
	made_observed_add(m, 20, (struct gus_sample){ .ip = 0x300, .period = 80, .branches_n = 2, .branches = falls });
}

/* Taken ones are in the stacks. Those that fall through are passed by, and whether they were mispredicted then is
 * unknown without the event behind; with it, 100 of the run's, which the stacks have a tenth of. */
static void test_stacks(void **state)
{
	(void)state;
	for (unsigned with = 0; with < 2; with++) {
		struct made_observed m = { .events_n = 0 };
		struct gus_observed_insn insn;
		struct gus_observed *o;

		made_observed_event(&m, &cycles);
		add_stacks(&m);
		if (with) {
			made_observed_event(&m, &behind);
			made_observed_add(&m, 10, (struct gus_sample){ .ip = 0x322, .exact = true, .event = 1,
				.period = 10 });
		}
		o = made_observed_end(&m);
		insn = gus_observed_branch_at(o, app, 0x320, 0x322);
		assert_counts(&insn.taken, 20, 20, 20);
		assert_counts(&insn.fallen, with ? 20 : 0, with ? 20 : 0, with ? 10 : 0);
		insn = gus_observed_branch_at(o, app, 0x340, 0x342);
		assert_counts(&insn.taken, 80, 80, 0);
		assert_counts(&insn.fallen, 0, 0, 0); /* nothing goes past it */
		gus_observed_free(o);
	}
}

/* What is behind a branch may be the target of others: what they were mispredicted to is not its. */
static void test_stacks_into(void **state)
{
	static const struct gus_branch turn[] = { { 0x340, 0x300, GUS_BRANCH_PREDICTED, 4 },
		{ 0x310, 0x322, GUS_BRANCH_MISPREDICTED, 4 }, { 0x340, 0x300, GUS_BRANCH_PREDICTED, 4 },
		{ 0x340, 0x300, GUS_BRANCH_PREDICTED, 4 } };
	struct made_observed m = { .events_n = 0 };
	struct gus_observed_insn insn;
	struct gus_observed *o;

	(void)state;
	made_observed_event(&m, &cycles);
	made_observed_event(&m, &behind);
	made_observed_add(&m, 30, (struct gus_sample){ .ip = 0x300, .period = 160, .branches_n = 4, .branches = turn });
	made_observed_add(&m, 40, (struct gus_sample){ .ip = 0x322, .exact = true, .event = 1, .period = 10 });
	o = made_observed_end(&m);
	insn = gus_observed_branch_at(o, app, 0x320, 0x322);
	assert_counts(&insn.fallen, 30, 30, 10); /* 400 in all, of which a tenth, less the 30 from 0x310 */
	gus_observed_free(o);
}

/* Each counter has its period. Where one of them is missing nothing is a share of anything. */
static void test_counted(void **state)
{
	static const struct { uint64_t config; unsigned samples; enum gus_hit level; } of[] = {
		{ 0x1d1, 10, GUS_HIT_L1 }, { 0x40d1, 2, GUS_HIT_L1 }, { 0x2d1, 5, GUS_HIT_L2 },
		{ 0x4d1, 4, GUS_HIT_L3 }, { 0x20d1, 3, GUS_HIT_MEMORY },
	};

	(void)state;
	for (size_t left_out = 0; left_out <= COUNT(of); left_out++) {
		struct made_observed m = { .events_n = 0 };
		const struct gus_observed_insn *insn;
		struct gus_observed *o;

		for (size_t i = 0; i < COUNT(of); i++) {
			if (i == left_out)
				continue;
			made_observed_add(&m, of[i].samples, (struct gus_sample){ .ip = 0x100, .exact = true,
				.event = (uint32_t)m.events_n, .period = of[i].level == GUS_HIT_L1 ? 1000 : 10 });
			made_observed_event(&m, &(struct made_event){ "cpu", RAW, of[i].config, 0, 0, 0, 1 });
		}
		o = made_observed_end(&m);
		insn = gus_observed_at(o, app, 0x100);
		assert_int_equal(insn->loads.samples, left_out == COUNT(of) ? 24 : 0);
		assert_int_equal(insn->loads.hits[GUS_HIT_L1], left_out == COUNT(of) ? 12000 : 0);
		assert_int_equal(insn->loads.hits[GUS_HIT_L3], left_out == COUNT(of) ? 40 : 0);
		gus_observed_free(o);
	}
}

/* L1's is on all the time, L2's and L3's each in one turn of three, memory's in two; and what was timed comes before
 * what was planned. */
static void test_turns(void **state)
{
	static const struct { uint64_t config; uint32_t turns; uint64_t on_ns; } of[] = {
		{ 0x1d1, 0, 900 }, { 0x40d1, 0, 900 }, { 0x2d1, 1, 300 }, { 0x4d1, 2, 225 }, { 0x20d1, 5, 600 },
	};

	(void)state;
	for (unsigned cut = 0; cut < 2; cut++) {
		struct made_observed m = { .events_n = 0 };
		const struct gus_observed_insn *insn;
		struct gus_observed *o;

		for (size_t i = 0; i < COUNT(of); i++) {
			made_observed_add(&m, 10, (struct gus_sample){ .ip = 0x100, .exact = true, .event = (uint32_t)i,
				.period = 60 });
			made_observed_event(&m, &(struct made_event){ "cpu", RAW, of[i].config, 0, 0, 0, 1 });
			m.events[i].turns = of[i].turns;
			m.events[i].turns_of = of[i].turns ? 3 : 0;
			m.on_ns[i] = cut ? 0 : of[i].on_ns;
		}
		o = made_observed_end(&m);
		insn = gus_observed_at(o, app, 0x100);
		assert_int_equal(insn->loads.samples, 50);
		assert_int_equal(insn->loads.hits[GUS_HIT_L1], 1200);
		assert_int_equal(insn->loads.hits[GUS_HIT_L2], 1800);
		assert_int_equal(insn->loads.hits[GUS_HIT_L3], cut ? 1800 : 2400);
		assert_int_equal(insn->loads.hits[GUS_HIT_MEMORY], 900);
		gus_observed_free(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_accesses), cmocka_unit_test(test_missed),
		cmocka_unit_test(test_ways), cmocka_unit_test(test_without_ways),
		cmocka_unit_test(test_access_and_branch), cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_stacks_into), cmocka_unit_test(test_counted), cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
