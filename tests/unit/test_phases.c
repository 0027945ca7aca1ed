/* SPDX-License-Identifier: MIT */
/* Phases over time, on ops whose times are made up so that the answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/code/growing.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/machine/steps.h"
#include "model/stream/stream.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "model/watch/phases.h"

static uint64_t rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 16;
}

/* The sums over all bins, by another way than the one that made found->all. */
static uint64_t sum_of(const uint64_t classes[GUS_INSN_CLASSES])
{
	uint64_t sum = 0;

	for (unsigned c = 0; c < GUS_INSN_CLASSES; c++)
		sum += classes[c];
	return sum;
}

static uint64_t weights(const struct gus_phases_top *t)
{
	uint64_t sum = t->others;

	for (unsigned i = 0; i < GUS_PHASES_TOP; i++)
		sum += t->list[i].weight;
	return sum;
}

/* Each op waits 300 ticks, runs 400, and waits 300 for its turn; one retires every 1000. */
static void note_regular(struct gus_phases *p, int64_t from, uint64_t n, uint32_t region)
{
	for (uint64_t i = 0; i < n; i++) {
		int64_t at = from + (int64_t)i * 1000;
		struct gus_phases_op op = { .issue = at, .start = at + 300, .complete = at + 700, .retire = at + 1000,
			.left = at + 1500, .region = region, .class = i % 3 == 1 ? GUS_INSN_ALU : GUS_INSN_FP_FMA,
				.instructions = 1,
			.store = i % 2, .load = i % 4 == 0 };

		gus_phases_note(p, &op);
	}
}

static void test_regular(void **state)
{
	static const uint64_t lengths[] = { 1, 32, 33, 67108, 67109, 300000 };
	struct gus_phases_found f;

	(void)state;
	for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
		struct gus_phases *p = gus_phases_new();
		uint64_t n = lengths[k], instructions = 0, waits = 0, executing = 0, stalled = 0, loads = 0, stores = 0;
		int64_t ticks = 0;

		note_regular(p, 0, n, 7);
		gus_phases_find(p, GUS_PHASES_WINDOW, &f);
		for (size_t i = 0; i < f.bins_n; i++) {
			assert_int_equal(f.bins[i].from, ticks);
			assert_int_equal(weights(&f.bins[i].regions), f.bins[i].ticks);
			ticks += f.bins[i].ticks;
			instructions += f.bins[i].instructions;
			waits += sum_of(f.bins[i].waiting);
			executing += f.bins[i].executing;
			stalled += sum_of(f.bins[i].stalled);
			loads += f.bins[i].loads;
			stores += f.bins[i].stores;
		}
		assert_int_equal(ticks, 1000 * n);
		assert_int_equal(instructions, n);
		assert_int_equal(waits, 300 * n);
		assert_int_equal(executing, 400 * n);
		assert_int_equal(stalled, 300 * n);
		assert_int_equal(loads, 1000 * ((n + 3) / 4));
		assert_int_equal(stores, 1500 * (n / 2));
		assert_true(f.bins_n <= GUS_PHASES_BINS);
		if (f.width > GUS_PHASES_NARROWEST)
			assert_true(f.bins_n > GUS_PHASES_BINS / 2);
		assert_int_equal(f.phases_n, 1);
		assert_int_equal(f.phases[0].sum.region, 7);
		assert_int_equal(f.phases[0].sum.regions.list[0].weight, 1000 * n);
		assert_int_equal(gus_phases_waits(&f.all), GUS_INSN_FP_FMA);
		gus_phases_found_free(&f);
		gus_phases_free(p);
	}
}

/* What of [from, to) lies in a bin. */
static uint64_t overlap(const struct gus_phases_part *bin, int64_t from, int64_t to)
{
	int64_t end = bin->from + bin->ticks;

	from = from > bin->from ? from : bin->from;
	to = to < end ? to : end;
	return to > from ? (uint64_t)(to - from) : 0;
}

/* Ops of any length, hundreds in flight: each bin by adding up what every single op has in it. */
static void test_every_bin(void **state)
{
	enum { N = 3000 };
	struct gus_phases_op *ops = gus_zalloc(N * sizeof(*ops));
	struct gus_phases *p = gus_phases_new();
	struct gus_phases_found f;
	int64_t issue = 0, retire = 0;
	uint64_t x = 1;

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		struct gus_phases_op *op = &ops[i];

		issue += (int64_t)(rnd(&x) % 100000);
		op->issue = issue;
		op->start = op->issue + (int64_t)(rnd(&x) % 1000000);
		op->complete = op->start + (int64_t)(rnd(&x) % 100000);
		retire = op->complete > retire ? op->complete : retire;
		op->retire = retire;
		op->left = op->retire;
		op->class = rnd(&x) % GUS_INSN_CLASSES;
		op->region = rnd(&x) % 5;
		op->load = rnd(&x) % 3 == 0;
		op->store = !op->load;
		op->instructions = 1 + (i & 1);
		gus_phases_note(p, op);
	}
	gus_phases_find(p, 1, &f);
	assert_true(f.width > GUS_PHASES_NARROWEST); /* bins were merged */
	for (size_t i = 0; i < f.bins_n; i++) {
		const struct gus_phases_part *b = &f.bins[i];
		uint64_t loads = 0, stores = 0, executing = 0, instructions = 0, waits[GUS_INSN_CLASSES] = { 0 },
			stalls[GUS_INSN_CLASSES] = { 0 };

		for (unsigned k = 0; k < N; k++) {
			const struct gus_phases_op *op = &ops[k];

			waits[op->class] += overlap(b, op->issue, op->start);
			executing += overlap(b, op->start, op->complete);
			stalls[op->class] += overlap(b, op->complete, op->retire);
			loads += op->load ? overlap(b, op->issue, op->retire) : 0;
			stores += op->store ? overlap(b, op->issue, op->retire) : 0;
			instructions += op->retire > b->from && op->retire <= b->from + b->ticks ? op->instructions : 0;
		}
		assert_memory_equal(b->waiting, waits, sizeof(waits));
		assert_int_equal(b->executing, executing);
		assert_memory_equal(b->stalled, stalls, sizeof(stalls));
		assert_int_equal(b->loads, loads);
		assert_int_equal(b->stores, stores);
		assert_int_equal(b->instructions, instructions);
		assert_int_equal(weights(&b->regions), b->ticks);
	}
	assert_int_equal(f.all.ticks, retire);
	gus_phases_found_free(&f);
	gus_phases_free(p);
	free(ops);
}

/* Three stretches of two regions; in the second one something else runs for a moment, which is no phase of its own. */
static void test_phases(void **state)
{
	struct gus_phases *p = gus_phases_new();
	struct gus_phases_found f;

	(void)state;
	note_regular(p, 0, 300000, 1);
	note_regular(p, 300000000, 50000, 2);
	note_regular(p, 350000000, 600, 3);
	note_regular(p, 350600000, 99400, 2);
	note_regular(p, 450000000, 50000, 1);
	gus_phases_find(p, GUS_PHASES_WINDOW, &f);
	assert_int_equal(f.window, GUS_PHASES_WINDOW);
	assert_int_equal(f.phases_n, 3);
	assert_int_equal(f.phases[0].sum.region, 1);
	assert_int_equal(f.phases[1].sum.region, 2);
	assert_int_equal(f.phases[2].sum.region, 1);
	assert_int_equal(f.all.region, 1);
	/* A border is right to a bin, and the other region's share is not lost. */
	assert_in_range(f.phases[1].sum.from, 300000000 - f.width, 300000000 + f.width);
	assert_in_range(f.phases[2].sum.from, 450000000 - f.width, 450000000 + f.width);
	assert_int_equal(f.phases[1].sum.regions.list[1].key, 3);
	assert_int_equal(f.phases[1].sum.regions.list[1].weight, 600000);
	assert_int_equal(f.phases[0].first + f.phases[0].bins, f.phases[1].first);
	assert_int_equal(f.phases[0].sum.instructions + f.phases[1].sum.instructions + f.phases[2].sum.instructions,
			 500000);
	gus_phases_found_free(&f);
	/* Looking changes nothing. */
	gus_phases_find(p, 1, &f);
	assert_int_equal(f.phases_n, 5);
	assert_int_equal(f.all.ticks, 500000000);
	gus_phases_found_free(&f);
	gus_phases_free(p);
}

/* Line 5 has half of the mispredictions among a hundred lines that share the rest: it comes out first, and nothing is
 * lost. */
static void test_lines(void **state)
{
	struct gus_phases *p = gus_phases_new();
	struct gus_phases_found f;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		int64_t at = (int64_t)i * 5000;
		struct gus_phases_op op = { .issue = at, .start = at, .complete = at, .retire = at + 5000,
			.class = GUS_INSN_BRANCH_COND,
			.instructions = 1, .mispredicted = true, .line = i % 2 ? 5 : 100 + i / 2 % 100 };

		gus_phases_note(p, &op);
	}
	gus_phases_find(p, GUS_PHASES_WINDOW, &f);
	assert_int_equal(f.all.mispredicted, 200000);
	assert_int_equal(weights(&f.all.lines), 200000);
	assert_int_equal(f.all.lines.list[0].key, 5);
	assert_in_range(f.all.lines.list[0].weight, 100000 - f.all.lines.others / (GUS_PHASES_TOP + 1), 100000);
	assert_int_equal(sum_of(f.all.waiting), 0);
	assert_int_equal(gus_phases_waits(&f.all), GUS_INSN_CLASSES);
	gus_phases_found_free(&f);
	gus_phases_free(p);
}

static void test_nothing(void **state)
{
	struct gus_phases *p = gus_phases_new();
	struct gus_phases_found f;
	struct gus_phases_op op = { .class = GUS_INSN_NOP, .instructions = 1 };

	(void)state;
	gus_phases_find(p, GUS_PHASES_WINDOW, &f);
	assert_int_equal(f.bins_n, 0);
	assert_int_equal(f.phases_n, 0);
	gus_phases_found_free(&f);
	gus_phases_note(p, &op); /* in no time */
	gus_phases_find(p, GUS_PHASES_WINDOW, &f);
	assert_int_equal(f.bins_n, 1);
	assert_int_equal(f.all.instructions, 1);
	assert_int_equal(f.all.ticks, 0);
	gus_phases_found_free(&f);
	gus_phases_free(p);
}

static void test_smooth(void **state)
{
	static const double in[] = { 9, 1, 1, 7, 1, 1, 5, 5, 5, 2 }, three[] = { 9, 1, 1, 1, 1, 1, 5, 5, 5, 2 };
	double out[10];

	(void)state;
	gus_phases_smooth(in, 10, 3, out);
	assert_memory_equal(out, three, sizeof(three)); /* a peak goes, a step stays */
	gus_phases_smooth(in, 10, 1, out);
	assert_memory_equal(out, in, sizeof(in));
	gus_phases_smooth(in, 0, 9, out);
}

/* The stream engine's own times: a chain of multiplications, three cycles each, with a loop around it that waits for
 * nothing. So the multiplications are what waits, as many as the machine holds, and three instructions retire in three
 * cycles. */
static void test_engine(void **state)
{
	static const uint8_t code[] = { 0x48, 0x0f, 0xaf, 0xc0, 0x48, 0xff, 0xc9, 0x75, 0xf7 }, lengths[] = { 4, 3, 2 };
	enum { ITERATIONS = 100000 };
	struct gus_error err = { 0 };
	struct gus_uarch *u = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	struct gus_growing *g = gus_growing_new(u);
	struct gus_growing_block block = gus_growing_add(g, code, lengths, sizeof(code), 0);
	const struct gus_program *program = gus_growing_program(g);
	struct gus_phases *p = gus_phases_new();
	struct gus_stream_options o = { .lanes_n = 0 };
	struct gus_phases_found f;
	struct gus_core_config c;
	struct gus_stream_engine *e;
	double cycles[GUS_STREAM_LANES];

	(void)state;
	gus_core_config_of(&c, u);
	e = gus_stream_open(program, &c, &o, &err);
	assert_non_null(e);
	assert_int_equal(block.ops_n, 2);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		struct gus_op_step steps[2] = { { .op = block.op, .cached = true },
			{ .op = block.taken, .taken = true, .cached = true } };
		struct gus_stream_times times[2];

		gus_stream_feed(e, &(struct gus_op_steps){ .steps = steps, .n = 2 }, times);
		for (unsigned k = 0; k < 2; k++) {
			const struct gus_op *op = &program->ops[steps[k].op];

			gus_phases_note(p, &(struct gus_phases_op){ .issue = times[k].issue, .start = times[k].start,
				.complete = times[k].end, .retire = times[k].retire, .region = 4,
					.instructions = op->insns_n,
				.class = program->insns[op->insn].info.class });
		}
	}
	gus_stream_cycles(e, cycles);
	gus_phases_find(p, GUS_PHASES_WINDOW, &f);
	assert_int_equal(f.all.ticks, (int64_t)(cycles[0] * GUS_STREAM_TICKS + 0.5));
	assert_int_equal(f.all.instructions, 3 * ITERATIONS);
	assert_true(cycles[0] > 2.99 * ITERATIONS && cycles[0] < 3.01 * ITERATIONS);
	assert_int_equal(gus_phases_waits(&f.all), GUS_INSN_MUL);
	assert_true(f.all.waiting[GUS_INSN_MUL] > 20 * (uint64_t)f.all.ticks);
	assert_int_equal(f.phases_n, 1);
	gus_phases_found_free(&f);
	gus_phases_free(p);
	gus_stream_close(e);
	gus_growing_free(g);
	gus_uarch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regular),
		cmocka_unit_test(test_every_bin),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_smooth),
		cmocka_unit_test(test_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
