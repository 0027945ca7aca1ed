/* SPDX-License-Identifier: MIT */
/* attribution/traced/estimate: by its arithmetic, on stretches that are made here; and with an engine, on a sample of a
 * trace against all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "attribution/traced/estimate.h"
#include "attribution/traced/regions.h"
#include "model/analysis/sensitivity.h"
#include "tests/unit/made_trace.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

/* Three blocks of 2, 1 and 3 instructions, of which the first two are of region 1; of region 0 nothing is executed. The
 * branch of the second may be taken, so its last op has a twin. */
struct made {
	struct gus_traced t;
	struct gus_stretches *s;
	struct gus_estimate e;
	double op_cycles[8];
};

static void add_block(struct made *m, uint32_t region, uint32_t insns, uint32_t op, uint32_t ops, bool twin)
{
	gus_vec_push(&m->t.blocks, (struct gus_traced_block){ .region = region, .insns_n = insns,
		.ops = { .op = op, .ops_n = ops, .taken = op + ops - !twin } });
}

static void begin(struct made *m)
{
	*m = (struct made){ .s = gus_stretches_new() };
	m->t.knobs_n = 1;
	m->t.op_cycles = m->op_cycles;
	for (unsigned i = 0; i < 3; i++)
		gus_vec_push(&m->t.regions, (struct gus_traced_region){ 0 });
	add_block(m, 1, 2, 0, 2, false);
	add_block(m, 1, 1, 2, 2, true);
	add_block(m, 2, 3, 5, 3, false);
}

static void end(struct made *m)
{
	gus_estimate_free(&m->e);
	assert_null(m->e.blocks);
	gus_vec_free(&m->t.blocks);
	gus_vec_free(&m->t.regions);
	gus_stretches_free(m->s);
}

/* Block 0 is executed 30 times and timed 10 times, with 3 and 5 cycles in turn, of which its ops have 1 and 3 of 4;
 * block 1 is never timed; block 2 is timed each time, with 9, all of them of its second op. Lane 1 takes half as much
 * in region 1, and as much in region 2; what is followed beside the lanes takes a quarter in both. */
static void run(struct made *m)
{
	const double halves[GUS_STRETCHES_LANES] = { 40, 20, [GUS_STREAM_LANES] = 10 },
		same[GUS_STRETCHES_LANES] = { 90, 90, [GUS_STREAM_LANES] = 22.5 };

	begin(m);
	for (unsigned i = 0; i < 30; i++)
		gus_stretches_execute(m->s, 0, 0, 2);
	for (unsigned i = 0; i < 10; i++) {
		gus_stretches_time(m->s, 0, 0, 1, i % 2 ? 5 : 3);
		gus_stretches_time_op(m->s, 0, 1);
		gus_stretches_time_op(m->s, 1, 3);
		gus_stretches_execute(m->s, 2, 0, 3);
		gus_stretches_time(m->s, 2, 0, 2, 9);
		gus_stretches_time_op(m->s, 6, 9);
	}
	for (unsigned i = 0; i < 6; i++)
		gus_stretches_execute(m->s, 1, 0, 1);
	gus_stretches_region(m->s, 1, halves);
	gus_stretches_region(m->s, 2, same);
	gus_stretches_next(m->s);
	gus_estimate_make(&m->e, &m->t, m->s);
}

/* What was timed has 30 x 2 + 10 x 3 = 90 instructions and takes 120 + 90 cycles: 7/3 each, which is what block 1
 * takes. */
static void what_blocks_and_regions_take(void **state)
{
	struct made m;

	(void)state;
	run(&m);
	assert_true(near(m.e.blocks[0], 120) && near(m.e.blocks[1], 14) && near(m.e.blocks[2], 90));
	assert_true(near(m.e.regions[0], 0) && near(m.e.regions[1], 134) && near(m.e.regions[2], 90));
	assert_true(near(m.e.cycles[0], 224) && near(m.e.cycles[1], 67 + 90));
	assert_true(near(m.e.cycles[GUS_STREAM_LANES], 56));
	end(&m);
}

/* Of all that the thread takes, not of what a region or a block does. */
static void how_far_the_whole_may_be_off(void **state)
{
	double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES];
	struct made m;

	(void)state;
	run(&m);
	gus_stretches_lanes(m.s, GUS_STRETCHES_WHOLE, 224, cycles, errors);
	assert_true(errors[0] > 0 && near(m.e.errors[0], errors[0]) && near(m.e.errors[1], errors[1]));
	end(&m);
}

/* Where nothing was timed at all an instruction is taken to need a cycle. */
static void what_nobody_timed(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	gus_stretches_execute(m.s, 0, 0, 2);
	gus_stretches_execute(m.s, 2, 0, 3);
	gus_estimate_make(&m.e, &m.t, m.s);
	assert_true(near(m.e.blocks[0], 2) && near(m.e.blocks[1], 0) && near(m.e.blocks[2], 3));
	end(&m);
}

/* A run adds to what another one has said. Ops share their block's cycles as what was timed, and equally where nothing
 * was: a twin then has none. */
static void what_is_added(void **state)
{
	const double ops[] = { 30, 90, 7, 7, 0, 0, 90, 0 };
	struct made m;

	(void)state;
	run(&m);
	for (unsigned twice = 1; twice <= 2; twice++) {
		gus_estimate_add(&m.e, m.s, &m.t);
		for (unsigned op = 0; op < 8; op++)
			assert_true(near(m.op_cycles[op], twice * ops[op]));
		assert_true(near(m.t.regions.v[1].cycles[0], twice * 134.0));
		assert_true(near(m.t.regions.v[1].cycles[1], twice * 67.0));
		assert_true(near(m.t.regions.v[1].other_cycles, twice * 33.5));
		assert_true(near(m.t.regions.v[2].cycles[1], twice * 90.0));
		assert_true(near(m.t.regions.v[0].cycles[0], 0) && near(m.t.regions.v[0].cycles[1], 0));
	}
	assert_true(near(m.t.regions.v[1].cycles[2], 0)); /* there is one knob */
	end(&m);
}

/* Squares of cycles add up; those of speedups, which have no unit, as cycles. */
static void how_errors_add_up(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	m.e = (struct gus_estimate){ .cycles = { 200 }, .errors = { 3, 0.01, [GUS_STREAM_LANES - 1] = 0.02 },
		.blocks = gus_zalloc(4 * sizeof(double)), .regions = gus_zalloc(4 * sizeof(double)) };
	gus_estimate_add(&m.e, m.s, &m.t);
	gus_estimate_add(&m.e, m.s, &m.t);
	assert_true(near(m.t.errors[0], 2 * 9) && near(m.t.errors[1], 2 * 4));
	assert_true(near(m.t.errors[GUS_STREAM_LANES - 1], 2 * 16));
	assert_true(near(m.t.errors[2], 0));
	end(&m);
}

/* Block 0 was executed three times as often as it was timed; then all is as much as the whole. Where nothing was
 * charged nothing is. */
static void what_is_charged_is_scaled(void **state)
{
	double charged[8] = { 10, 0, 0, 0, 0, 8 }, none[8] = { 0 };
	struct made m;

	(void)state;
	run(&m);
	gus_estimate_scale(&m.e, m.s, &m.t, charged, 8);
	assert_true(near(charged[0], 224.0 * 30 / 38) && near(charged[5], 224.0 * 8 / 38));
	assert_true(near(charged[1], 0));
	gus_estimate_scale(&m.e, m.s, &m.t, none, 8);
	for (unsigned op = 0; op < 8; op++)
		assert_true(near(none[op], 0));
	end(&m);
}

/* Multiplications (3 cycles each on Skylake), each of the one before; and loads and additions between them, which wait
 * for them and for each other, over ever fewer lines, so that they find them nearer and nearer. */
static const uint8_t multiply[] = { 0x48, 0x0f, 0xaf, 0xc0, 0x48, 0xff, 0xc9, 0x75, 0xf7 };
static const uint8_t multiply_lengths[] = { 4, 3, 2 };
static const uint8_t follow[] = { 0x48, 0x8b, 0x34, 0x06, 0x48, 0x01, 0xf0, 0x48, 0xff, 0xc9, 0x75, 0xf4 };
static const uint8_t follow_lengths[] = { 4, 3, 3, 2 };
enum { ROUNDS = 20000, TURNS = 150, LOADS = 12, CHAIN = 0x401000, WALK = 0x500000, LINE = 64 };

static void model(struct made_model *s, bool all)
{
	struct made_trace made;
	uint32_t chain, walk;

	made_model_begin(s);
	s->options.all = all;
	made_trace_begin(&made, "x86_64");
	chain = made_trace_block(&made, CHAIN, multiply, multiply_lengths, sizeof(multiply), 3);
	walk = made_trace_block(&made, WALK, follow, follow_lengths, sizeof(follow), 4);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < TURNS; i++)
			made_trace_step(&made, chain, 0);
		for (unsigned i = 0; i < LOADS; i++) {
			made_trace_step(&made, walk, 1);
			made_trace_load(&made, 0x600000 + LINE * (i * 7919 * round % (30000 / (1 + round / 100))), 0);
		}
	}
	made_trace_flush(&made, 0);
	gus_traced_open(&s->t, &s->options);
	gus_traced_map(&s->t, CHAIN, 0x1000, 0, "/nowhere/chain", NULL, 0);
	gus_traced_map(&s->t, WALK, 0x1000, 0, "/nowhere/walk", NULL, 0);
	made_model_read(s, made_trace_end(&made));
	made_model_end(s);
}

static const struct gus_traced_region *region(const struct made_model *s, uint32_t block)
{
	return &s->t.regions.v[s->t.blocks.v[block].region];
}

/* Of the whole, the regions and the knobs. */
static void a_sample_is_as_all(void **state)
{
	struct made_model all, some;

	(void)state;
	model(&all, true);
	model(&some, false);
	assert_int_equal(all.t.ops_run, all.t.ops_timed);
	assert_true(some.t.ops_timed > 0 && some.t.ops_timed < 0.9 * (double)some.t.ops_run);
	assert_true(fabs(region(&all, 0)->cycles[0] / (3.0 * ROUNDS * TURNS) - 1) < 0.02);
	assert_true(fabs(some.t.cycles[0] / all.t.cycles[0] - 1) < 0.003);
	for (uint32_t block = 0; block < 2; block++) {
		const struct gus_traced_region *a = region(&all, block), *b = region(&some, block);
		double told = gus_traced_cycles_error(b->cycles[0], b->errors);

		assert_true(fabs(b->cycles[0] / a->cycles[0] - 1) < 0.005);
		assert_true(fabs(b->cycles[0] / a->cycles[0] - 1) <= told && told < 0.02);
		assert_int_equal(a->instructions, b->instructions);
	}
	assert_int_equal(all.t.knobs_n, some.t.knobs_n);
	for (int i = 0; i < all.t.knobs_n; i++)
		assert_true(fabs(all.t.knobs[i].speedup - some.t.knobs[i].speedup) < 0.005);
	made_model_free(&all);
	made_model_free(&some);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_blocks_and_regions_take),
		cmocka_unit_test(how_far_the_whole_may_be_off),
		cmocka_unit_test(what_nobody_timed),
		cmocka_unit_test(what_is_added),
		cmocka_unit_test(how_errors_add_up),
		cmocka_unit_test(what_is_charged_is_scaled),
		cmocka_unit_test(a_sample_is_as_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
