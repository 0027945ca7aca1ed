/* SPDX-License-Identifier: MIT */
/* What-ifs beside the tree: a machine whose bandwidth others take, and what mispredicted branches cost, both with
 * numbers that are written down here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/whatif/contention.h"
#include "attribution/whatif/squash.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/machine/steps.h"
#include "model/stream/types.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/* A line takes 16 cycles from memory, 4 from L3. */
static const struct gus_core_config config = { .line_size = 64, .memory_bandwidth = 4, .l3_bandwidth = 16,
	.memory_latency = 300, .l3_latency = 50, .issue_width = 4, .rob = 40, .mispredict_penalty = 10 };

static double weight_of(const struct gus_contention *c, enum gus_knob_kind kind, uint32_t number)
{
	struct gus_sensitivity knob = { .knob = { kind, number, 16 } };

	return gus_contention_has(c, &knob) ? gus_contention_weight(c, &knob) : 0;
}

/* By level and share: what is left of the bandwidth, and the wait, which is half a line at a half. */
static void contended_machines(void **state)
{
	static const struct { enum gus_hit level; double share, left, wait, latency; } cases[] = {
		{ GUS_HIT_MEMORY, 0.5, 0.5, 8, 300 },
		{ GUS_HIT_MEMORY, 0.75, 0.25, 24, 300 },
		{ GUS_HIT_MEMORY, 0.25, 0.75, 8. / 3, 300 },
		{ GUS_HIT_L3, 0.5, 0.5, 2, 50 },
		{ GUS_HIT_MEMORY, 0, 1, 0, 300 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum gus_hit other = cases[i].level == GUS_HIT_L3 ? GUS_HIT_MEMORY : GUS_HIT_L3;
		struct gus_contention c;

		gus_contention_make(&c, cases[i].level, cases[i].share, &config);
		assert_true(near(gus_contention_wait(&c), cases[i].wait));
		assert_true(near(weight_of(&c, GUS_KNOB_BANDWIDTH, cases[i].level), cases[i].left));
		/* A latency of weight w takes 1/w of its cycles. */
		assert_true(near(cases[i].latency / weight_of(&c, GUS_KNOB_LEVEL_LATENCY, cases[i].level),
				 cases[i].latency + cases[i].wait));
		assert_true(near(weight_of(&c, GUS_KNOB_BANDWIDTH, other), 0));
		assert_true(near(weight_of(&c, GUS_KNOB_LEVEL_LATENCY, other), 0));
		assert_true(near(weight_of(&c, GUS_KNOB_ROB, cases[i].level), 0));
	}
}

/* A line that takes less than a cycle is one; levels by their names; of a machine whose latency nobody knows none. */
static void contended_edges(void **state)
{
	struct gus_core_config quick = config;
	struct gus_contention c;

	(void)state;
	quick.l3_bandwidth = 128;
	quick.l3_latency = 0;
	gus_contention_make(&c, GUS_HIT_L3, 0.5, &quick);
	assert_true(near(weight_of(&c, GUS_KNOB_BANDWIDTH, GUS_HIT_L3), 0.5));
	assert_true(near(weight_of(&c, GUS_KNOB_LEVEL_LATENCY, GUS_HIT_L3), 1));
	assert_string_equal(gus_contention_level_name(GUS_HIT_L3), "L3");
	assert_string_equal(gus_contention_level_name(GUS_HIT_MEMORY), "memory");
}

/* Of a level without a bandwidth nothing is turned: it is not known what a share of it would be. */
static void no_bandwidth(void **state)
{
	struct gus_core_config silent = config;
	struct gus_contention c;

	(void)state;
	silent.memory_bandwidth = 0;
	gus_contention_make(&c, GUS_HIT_MEMORY, 0.5, &silent);
	assert_true(near(c.line, 0));
	assert_true(near(weight_of(&c, GUS_KNOB_LEVEL_LATENCY, GUS_HIT_MEMORY), 0));
}

/* 100 cycles become 150. The speedup is -1/3 then, and an error of 0.01 of it one of 0.015 of the logarithm. */
static void losses(void **state)
{
	struct gus_contention_loss l;

	(void)state;
	gus_contention_judge(100, 150, 0.01, 0, &l);
	assert_true(near(l.loss, 0.5) && near(l.high, 1.5 * exp(1.96 * 0.015) - 1) &&
		    near(l.low, 1.5 * exp(-1.96 * 0.015) - 1));
	gus_contention_judge(100, 150, 0, 0.25, &l);
	assert_true(near(l.low, pow(1.5, 0.75) - 1) && near(l.high, pow(1.5, 1.25) - 1));
	gus_contention_judge(100, 100, 0, 0.25, &l);
	assert_true(near(l.loss, 0) && near(l.low, 0) && near(l.high, 0));
	gus_contention_judge(0, 0, 0, 0.25, &l); /* never executed */
	assert_true(near(l.loss, 0));
	gus_contention_judge(0.5, 0.75, 0, 0.25, &l); /* of less than a cycle */
	assert_true(near(l.loss, 0.5));
	gus_contention_judge(0, 5, 0, 0.25, &l);
	assert_true(near(l.loss, 0) && isfinite(l.high));
}

/* Ops of one entry each, but for the third. */
static struct gus_op ops[] = { { .rob = 1 }, { .rob = 1 }, { .rob = 20 } };
static const struct gus_program program = { .ops = ops, .ops_n = 3 };

/* Moments in cycles. */
static struct gus_stream_times at(int64_t issue, int64_t end, int64_t retire)
{
	return (struct gus_stream_times){ .issue = issue * GUS_STREAM_TICKS, .end = end * GUS_STREAM_TICKS,
		.retire = retire * GUS_STREAM_TICKS };
}

static struct gus_squash squash_of(const struct gus_op_step *steps, const struct gus_stream_times *times, size_t n,
				   size_t first)
{
	const struct gus_op_steps before = { steps, NULL, first }, behind = { steps + first, NULL, n - first };
	struct gus_squashes s;
	struct gus_squash out;

	gus_squashes_init(&s, &config);
	gus_squashes_steps(&s, 1, &program, &before, times);
	gus_squashes_steps(&s, 1, &program, &behind, times + first);
	gus_squashes_leave(&s, 1);
	gus_squashes_leave(&s, 7); /* which never came */
	assert_null(s.threads.v[1]);
	out = gus_squashes_of(&s, 0);
	assert_int_equal(gus_squashes_of(&s, 2).branches, 0);
	gus_squashes_free(&s);
	return out;
}

/* A branch is executed 6 cycles after it was issued: 6 and the front end's 10, 4 slots each. Of the reorder buffer's 40
 * entries 20 are a load's that waits, and one its own; 19 are free, and fewer than 24. */
static void one_branch(void **state)
{
	static const struct gus_op_step steps[] = { { .op = 2, .region = 1 },
		{ .op = 0, .region = 1, .mispredicted = true }, { .op = 1, .region = 1 } };
	const struct gus_stream_times times[] = { at(0, 90, 90), at(1, 7, 91), at(17, 18, 92) };

	(void)state;
	for (size_t first = 0; first <= 3; first++) { /* wherever a chunk ends */
		struct gus_squash s = squash_of(steps, times, 3, first);

		assert_int_equal(s.branches, 1);
		assert_true(near(s.resolution, 6) && near(s.lost, 64) && near(s.squashed, 19));
		assert_true(near(s.cycles, 92));
	}
}

/* The same, where the load has retired by the time that the branch is executed: all 24 slots are thrown away. */
static void room_for_all(void **state)
{
	static const struct gus_op_step steps[] = { { .op = 2, .region = 1 },
		{ .op = 0, .region = 1, .mispredicted = true } };
	const struct gus_stream_times times[] = { at(0, 5, 7), at(1, 7, 8) };
	struct gus_squash s = squash_of(steps, times, 2, 1);

	(void)state;
	assert_true(near(s.lost, 64) && near(s.squashed, 24));
}

/* Of ops before the branch those that have retired when it is executed leave room, those at the very moment as well;
 * what retires later does not: 20 and its own of 40 are taken, and 16 slots would be lost. */
static void room_in_time(void **state)
{
	static const struct gus_op_step steps[] = { { .op = 2, .region = 1 }, { .op = 2, .region = 1 },
		{ .op = 0, .region = 1, .mispredicted = true } };
	const struct gus_stream_times late[] = { at(0, 5, 9), at(0, 6, 20), at(1, 9, 21) };
	const struct gus_stream_times both[] = { at(0, 5, 20), at(0, 6, 20), at(1, 9, 21) };
	struct gus_squash some = squash_of(steps, late, 3, 1), none = squash_of(steps, both, 3, 1);

	(void)state;
	assert_true(near(some.lost, 72) && near(none.lost, 72));
	assert_true(near(some.squashed, 19) && near(none.squashed, 0));
}

/* What warms the engine does not count, nor do branches that were foreseen or are of another region. */
static void what_counts(void **state)
{
	static const struct gus_op_step steps[] = { { .op = 0, .region = 0, .mispredicted = true },
		{ .op = 0, .region = 1 }, { .op = 0, .region = 2, .mispredicted = true }, { .op = 0, .region = 1 } };
	const struct gus_stream_times times[] = { at(0, 5, 6), at(16, 17, 18), at(17, 18, 20), at(30, 31, 33) };
	struct gus_squash s = squash_of(steps, times, 4, 2);

	(void)state;
	assert_int_equal(s.branches, 0);
	assert_true(near(s.lost, 0) && near(s.cycles, 12 + 13));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contended_machines), cmocka_unit_test(contended_edges),
		cmocka_unit_test(no_bandwidth), cmocka_unit_test(losses), cmocka_unit_test(one_branch),
		cmocka_unit_test(room_for_all), cmocka_unit_test(room_in_time), cmocka_unit_test(what_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
