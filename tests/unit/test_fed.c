/* SPDX-License-Identifier: MIT */
/* The stream engine fed step by step, with code that grows, against runs of the whole program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/analysis/causality.h"
#include "model/code/growing.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/machine/steps.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

/* add rax, [rsi]; imul rbx, rax; mov [rsi+8], rbx; add rsi, 8; cmp rsi, rdx; jne back: each load reads what the store
 * before it wrote, so that the whole chain goes through memory. */
static const uint8_t code[] = { 0x48, 0x03, 0x06, 0x48, 0x0f, 0xaf, 0xd8, 0x48, 0x89, 0x5e, 0x08, 0x48, 0x83, 0xc6,
	0x08,
	0x48, 0x39, 0xd6, 0x75, 0xec };
static const uint8_t lengths[] = { 3, 4, 4, 4, 3, 2 };
enum { ITERATIONS = 5000 };

struct setting {
	struct gus_uarch *u;
	struct gus_core_config c;
	struct gus_growing *g;
	const struct gus_program *p;
	struct gus_growing_block block;
};

static void open_table(struct setting *s, const char *table)
{
	struct gus_error err = { 0 };

	s->u = gus_uarch_parse(table, NULL, 0, &gus_uarch_builtin, 0, &err);
	assert_non_null(s->u);
	gus_core_config_of(&s->c, s->u);
	s->g = gus_growing_new(s->u);
	s->p = gus_growing_program(s->g);
}

static void open_setting(struct setting *s)
{
	open_table(s, "skylake");
}

static void close_setting(struct setting *s)
{
	gus_growing_free(s->g);
	gus_uarch_free(s->u);
}

/* One iteration of the loop: five ops (compare and branch are one), two accesses. */
static size_t tell(const struct setting *s, uint64_t i, uint32_t region, struct gus_op_step *steps,
	struct gus_op_access *accesses, size_t *accesses_n)
{
	const struct gus_growing_block *b = &s->block;

	for (uint32_t k = 0; k < b->ops_n; k++) {
		bool last = k + 1 == b->ops_n;
		uint32_t op = last ? b->taken : b->op + k;

		steps[k] = (struct gus_op_step){ .op = op, .access = (uint32_t)*accesses_n, .region = region,
			.taken = last, .cached = true };
		for (unsigned n = 0; n < s->p->ops[op].memories_n; n++)
			accesses[(*accesses_n)++] = (struct gus_op_access){ .address = 0x10000 + 8 * i + (k ? 8 :
				0), .known = true };
	}
	return b->ops_n;
}

/* Runs the loop; regions change every `each` iterations, between 0 and 1. */
static void feed_loop(const struct setting *s, struct gus_stream_engine *e, uint64_t iterations, uint64_t each,
	struct gus_stream_times *times)
{
	struct gus_op_step steps[GUS_OP_STEPS];
	struct gus_op_access accesses[GUS_OP_STEPS];
	size_t n = 0, accesses_n = 0;

	for (uint64_t i = 0; i < iterations; i++) {
		n += tell(s, i, each ? (uint32_t)(i / each % 2) : 0, steps + n, accesses, &accesses_n);
		if (n + 8 > GUS_OP_STEPS || i + 1 == iterations) {
			gus_stream_feed(e, &(struct gus_op_steps){ steps, accesses, n }, times);
			n = accesses_n = 0;
		}
	}
}

/* The chain of add, multiply, store and load: 1 + 3 cycles and what forwarding takes, and the run of the program says
 * the same to the tick. */
static void test_same_as_program(void **state)
{
	struct gus_knob knob = { GUS_KNOB_LATENCY, GUS_INSN_MUL, 2 };
	struct gus_stream_lane lanes[] = { { NULL, 0 }, { &knob, 1 } };
	struct gus_stream_options o = { .lanes = lanes, .lanes_n = 2, .fetch = GUS_CORE_FETCH_UOP_CACHE,
		.iterations = ITERATIONS,
		.pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_stream_result r;
	struct gus_stream_engine *e;
	struct gus_program *alone;
	struct gus_error err = { 0 };
	double cycles[GUS_STREAM_LANES];
	struct setting s;

	(void)state;
	open_setting(&s);
	alone = gus_program_new(s.u, code, sizeof(code), 0, 0, &err);
	assert_int_equal(gus_stream_run(alone, &s.c, &o, &r, &err), 0);
	e = gus_stream_open(s.p, &s.c, &o, &err);
	assert_non_null(e);
	s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
	feed_loop(&s, e, ITERATIONS, 0, NULL);
	gus_stream_cycles(e, cycles);
	assert_true(cycles[0] > 8 * ITERATIONS);
	assert_true(fabs(cycles[0] - r.cycles[0]) < 1e-9);
	assert_true(fabs(cycles[1] - r.cycles[1]) < 1e-9);
	assert_true(cycles[1] < cycles[0]);
	gus_stream_close(e);
	gus_program_free(alone);
	close_setting(&s);
}

/* What regions and ops take adds up to the whole, also over several times that times are taken down. */
static void test_sums(void **state)
{
	struct gus_stream_options o = { 0 };
	struct gus_error err = { 0 };
	double all[GUS_STREAM_LANES], zero[GUS_STREAM_LANES], one[GUS_STREAM_LANES], ops = 0;
	struct gus_stream_engine *e;
	struct setting s;

	(void)state;
	open_setting(&s);
	e = gus_stream_open(s.p, &s.c, &o, &err);
	s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
	feed_loop(&s, e, 60000, 3, NULL);
	gus_stream_cycles(e, all);
	gus_stream_region_cycles(e, 0, zero);
	gus_stream_region_cycles(e, 1, one);
	for (uint32_t i = 0; i < s.p->ops_n; i++)
		ops += gus_stream_op_cycles(e, i);
	assert_true(all[0] > 300000); /* beyond what 2^30 ticks hold */
	assert_true(fabs(zero[0] + one[0] - all[0]) < 1e-6);
	assert_true(fabs(ops - all[0]) < 1e-6);
	assert_true(fabs(zero[0] - one[0]) < 0.001 * all[0]);
	gus_stream_close(e);
	close_setting(&s);
}

/* Regions that are met one by one, 300 of them, with one lane and with 32: each keeps what it had, and all add up to
 * the whole. */
static void test_regions_grow(void **state)
{
	static const size_t lanes_n[] = { 1, GUS_STREAM_LANES };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct gus_stream_lane lanes[GUS_STREAM_LANES] = { { NULL, 0 } };
		struct gus_stream_options o = { .lanes = lanes, .lanes_n = lanes_n[k] };
		struct gus_error err = { 0 };
		double all[GUS_STREAM_LANES], one[GUS_STREAM_LANES], first[300], sum = 0;
		struct gus_stream_engine *e;
		struct setting s;

		open_setting(&s);
		e = gus_stream_open(s.p, &s.c, &o, &err);
		s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
		for (uint32_t region = 0; region < 300; region++) {
			struct gus_op_step steps[8];
			struct gus_op_access accesses[8];
			size_t accesses_n = 0, n = tell(&s, region, region, steps, accesses, &accesses_n);

			gus_stream_feed(e, &(struct gus_op_steps){ steps, accesses, n }, NULL);
			gus_stream_region_cycles(e, region, one);
			first[region] = one[lanes_n[k] - 1];
		}
		gus_stream_cycles(e, all);
		for (uint32_t region = 0; region < 300; region++) {
			gus_stream_region_cycles(e, region, one);
			assert_true(one[lanes_n[k] - 1] > 0 && fabs(one[lanes_n[k] - 1] - first[region]) < 1e-9);
			sum += one[lanes_n[k] - 1];
		}
		assert_true(fabs(sum - all[lanes_n[k] - 1]) < 1e-6);
		gus_stream_region_cycles(e, 300, one); /* there is none */
		assert_true(fabs(one[0]) < 1e-9);
		gus_stream_close(e);
		close_setting(&s);
	}
}

/* Fifty regions at once, in memory that somebody else has written to: those that were never executed have taken no
 * time. */
static void test_regions_begin_at_nothing(void **state)
{
	struct gus_stream_options o = { 0 };
	struct gus_error err = { 0 };
	double all[GUS_STREAM_LANES], one[GUS_STREAM_LANES];
	void *dirty[8];
	struct gus_stream_engine *e;
	struct setting s;

	(void)state;
	open_setting(&s);
	e = gus_stream_open(s.p, &s.c, &o, &err);
	s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
	for (uint32_t region = 0; region < 50; region += 49) {
		struct gus_op_step steps[8];
		struct gus_op_access accesses[8];
		size_t accesses_n = 0, n = tell(&s, region, region, steps, accesses, &accesses_n);

		for (unsigned i = 0; i < 8; i++) {
			dirty[i] = malloc(800); /* what 100 regions take */
			memset(dirty[i], 0x55, 800);
		}
		for (unsigned i = 0; i < 8; i++)
			free(dirty[i]);
		gus_stream_feed(e, &(struct gus_op_steps){ steps, accesses, n }, NULL);
	}
	for (uint32_t region = 1; region < 49; region++) {
		gus_stream_region_cycles(e, region, one);
		assert_true(fabs(one[0]) < 1e-9);
	}
	gus_stream_cycles(e, all);
	gus_stream_region_cycles(e, 49, one);
	assert_true(one[0] > 0 && one[0] < all[0]);
	gus_stream_close(e);
	close_setting(&s);
}

/* Code that comes later, with ports that were not there before, counts as if it had been there from the beginning, but
 * that a group of ports that nobody had asked for yet is idle then. */
static void test_growth(void **state)
{
	/* Vfmadd231ps ymm0, ymm1, ymm2; nop. */
	static const uint8_t other[] = { 0xc4, 0xe2, 0x75, 0xb8, 0xc2, 0x90 }, sizes[] = { 5, 1 };
	struct gus_stream_options o = { 0 };
	struct gus_error err = { 0 };
	struct gus_growing_block late, early;
	double cycles[2][GUS_STREAM_LANES];

	(void)state;
	for (int first = 0; first < 2; first++) {
		struct gus_stream_engine *e;
		struct gus_op_step fma = { .cached = true };
		struct setting s;

		open_setting(&s);
		e = gus_stream_open(s.p, &s.c, &o, &err);
		if (first)
			early = gus_growing_add(s.g, other, sizes, sizeof(other), 0x100);
		s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
		feed_loop(&s, e, 100, 0, NULL);
		if (!first)
			late = gus_growing_add(s.g, other, sizes, sizeof(other), 0x100);
		fma.op = first ? early.op : late.op;
		for (int i = 0; i < 1000; i++)
			gus_stream_feed(e, &(struct gus_op_steps){ &fma, NULL, 1 }, NULL);
		gus_stream_cycles(e, cycles[first]);
		gus_stream_close(e);
		close_setting(&s);
	}
	assert_true(cycles[0][0] > 4000); /* a chain of additions of 4 cycles */
	assert_true(cycles[0][0] <= cycles[1][0] && cycles[1][0] - cycles[0][0] < 0.5);
}

/* Two machines with the same knob, of which the second begins when there is more code, with other ports, in front: it
 * turns the same ports, as the numbers are the same. */
static void test_same_knobs(void **state)
{
	/* FMA; addition. */
	static const uint8_t other[] = { 0xc4, 0xe2, 0x75, 0xb8, 0xc2, 0xc5, 0xf5, 0x58, 0xca }, sizes[] = { 5, 4 };
	struct gus_stream_resources groups;
	struct gus_error err = { 0 };
	double cycles[2][GUS_STREAM_LANES];

	(void)state;
	for (int late = 0; late < 2; late++) {
		struct gus_knob knob = { GUS_KNOB_PORTS, 0, 0.01 };
		struct gus_stream_lane lanes[] = { { NULL, 0 }, { &knob, 1 } };
		struct gus_stream_options o = { .lanes = lanes, .lanes_n = 2, .groups = &groups };
		struct gus_stream_engine *e;
		struct setting s;

		open_setting(&s);
		if (late)
			gus_growing_add(s.g, other, sizes, sizeof(other), 0x100);
		s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
		if (late)
			gus_stream_resources_add(s.p, 0, &groups); /* the numbers that are there stay */
		else
			gus_stream_resources_of(s.p, &groups);
		while (groups.ports[knob.number] != 0x40) /* p6, where only the branch goes */
			knob.number++;
		e = gus_stream_open(s.p, &s.c, &o, &err);
		assert_non_null(e);
		feed_loop(&s, e, 1000, 0, NULL);
		gus_stream_cycles(e, cycles[late]);
		gus_stream_close(e);
		close_setting(&s);
	}
	assert_true(cycles[0][1] > 5 * cycles[0][0]); /* a hundred cycles a turn */
	assert_true(fabs(cycles[0][1] - cycles[1][1]) < 1e-9);
	assert_true(fabs(cycles[0][0] - cycles[1][0]) < 1e-9);
}

/* Times are in order within an op, and retirement is in order between ops. */
static void test_times(void **state)
{
	struct gus_stream_times times[GUS_OP_STEPS] = { { 0 } };
	struct gus_stream_options o = { 0 };
	struct gus_error err = { 0 };
	double cycles[GUS_STREAM_LANES];
	struct gus_stream_engine *e;
	struct setting s;

	(void)state;
	open_setting(&s);
	e = gus_stream_open(s.p, &s.c, &o, &err);
	s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
	feed_loop(&s, e, 400, 0, times); /* 2000 steps: one chunk */
	gus_stream_cycles(e, cycles);
	for (size_t i = 0; i < 2000; i++) {
		assert_true(times[i].issue <= times[i].start);
		assert_true(times[i].start <= times[i].end);
		assert_true(times[i].end <= times[i].retire);
		assert_true(!i || times[i - 1].retire <= times[i].retire);
	}
	assert_true(fabs((double)times[1999].retire / GUS_STREAM_TICKS - cycles[0]) < 1e-9);
	gus_stream_close(e);
	close_setting(&s);
}

/* The chain is charged to the three that make it; what a mispredicted branch costs is charged to it. */
static void test_causes(void **state)
{
	struct gus_stream_options o = { 0 };
	struct gus_causality c;
	struct gus_error err = { 0 };
	double cycles[GUS_STREAM_LANES];
	struct gus_stream_engine *e;
	struct gus_causes *causes;
	struct setting s;

	(void)state;
	open_setting(&s);
	causes = gus_causes_open(&s.c, &o);
	e = gus_stream_open(s.p, &s.c, &o, &err);
	s.block = gus_growing_add(s.g, code, lengths, sizeof(code), 0);
	feed_loop(&s, e, 20000, 0, NULL);
	gus_stream_cycles(e, cycles);
	gus_causes_get(causes, s.p, cycles[0], &c);
	assert_true(fabs(c.cycles / cycles[0] - 1) < 1e-9);
	assert_true(c.op_cycles[0] + c.op_cycles[1] + c.op_cycles[2] > 0.99 * c.cycles);
	gus_causality_free(&c);
	gus_stream_close(e);
	gus_causes_close(causes);
	close_setting(&s);
}

/* Cycles that a string instruction takes which writes so many bytes, again and again in the same place. */
static double string_cycles(const char *table, const uint8_t *bytes, uint8_t length, uint32_t written,
	uint32_t width)
{
	enum { TIMES = 200 };
	struct gus_stream_options o = { .fetch = GUS_CORE_FETCH_UOP_CACHE };
	double before[GUS_STREAM_LANES], cycles[GUS_STREAM_LANES];
	struct gus_stream_engine *e;
	struct gus_error err = { 0 };
	struct setting s;

	open_table(&s, table);
	s.c.l1d_store_width = width;
	e = gus_stream_open(s.p, &s.c, &o, &err);
	assert_non_null(e);
	s.block = gus_growing_add(s.g, bytes, &length, length, 0);
	for (int i = 0; i < 2 * TIMES; i++) {
		struct gus_op_step step = { .op = s.block.op, .cached = true };
		struct gus_op_access a[2] = { { 0x20000, .bytes = written, .known = true },
			{ 0x20000, .bytes = written, .known = true } };

		if (s.p->ops[s.block.op].memories_n == 2)
			a[0].address = 0x80000;
		gus_stream_feed(e, &(struct gus_op_steps){ &step, a, 1 }, NULL);
		if (i + 1 == TIMES)
			gus_stream_cycles(e, before);
	}
	gus_stream_cycles(e, cycles);
	gus_stream_close(e);
	close_setting(&s);
	return (cycles[0] - before[0]) / TIMES;
}

/* What a repeated string instruction writes leaves by l1d_store_width a cycle; what is not repeated is one store. */
static void test_strings(void **state)
{
	static const uint8_t rep_stosb[] = { 0xf3, 0xaa }, rep_movsb[] = { 0xf3, 0xa4 }, stosb[] = { 0xaa };
	static const struct { const uint8_t *code; uint8_t length; uint32_t written, width; double least, most;
		const char *table; } cases[] = {
		{ rep_stosb, 2, 4096, 32, 128, 128 }, { rep_stosb, 2, 4096, 64, 64, 64 },
		{ rep_stosb, 2, 4097, 32, 129, 129 }, { rep_movsb, 2, 4096, 32, 128, 128 },
		{ rep_stosb, 2, 65536, 32, 2048, 2048 }, { rep_stosb, 2, 4096, 0, 1, 20 }, { stosb, 1, 1, 32, 1, 6 },
		/* More than 16 bits of cycles, again and again: no more are on their way than times can say. */
		{ rep_stosb, 2, 4 << 20, 32, 131072, 131072 }, { rep_stosb, 2, 8 << 20, 32, 150000, 150000 },
		/* Of a table that has no uop that stores for them. */
		{ rep_stosb, 2, 65536, 32, 2048, 2048, "znver3" }, { rep_movsb, 2, 65536, 32, 2048, 2048, "znver3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double cycles = string_cycles(cases[i].table ? cases[i].table : "znver4", cases[i].code,
					      cases[i].length, cases[i].written, cases[i].width);

		if (cycles < cases[i].least - 0.01 || cycles > cases[i].most + 0.01)
			fail_msg("case %zu: %.2f cycles, not %.2f to %.2f", i, cycles, cases[i].least, cases[i].most);
	}
}

/* Cycles of a mov to or from a line each, behind the one before, with what it is told to bring along. */
static double line_cycles(bool store, bool path, const struct gus_op_access *told)
{
	static const uint8_t codes[][3] = { { 0x48, 0x8b, 0x06 }, { 0x48, 0x89, 0x06 } };
	static const uint8_t length = sizeof(codes[0]);
	enum { TIMES = 2000, LINE = 64 };
	struct gus_stream_options o = { .fetch = GUS_CORE_FETCH_UOP_CACHE };
	double before[GUS_STREAM_LANES], cycles[GUS_STREAM_LANES];
	struct gus_stream_engine *e;
	struct gus_error err = { 0 };
	struct setting s;

	open_setting(&s);
	s.c.l2_bandwidth = 32;
	s.c.l3_bandwidth = 16;
	s.c.memory_bandwidth = 8;
	s.c.l1d_misses = 0;
	s.c.writeback_path = path;
	e = gus_stream_open(s.p, &s.c, &o, &err);
	assert_non_null(e);
	s.block = gus_growing_add(s.g, codes[store], &length, length, 0);
	for (int i = 0; i < 2 * TIMES; i++) {
		struct gus_op_step step = { .op = s.block.op, .cached = true };
		struct gus_op_access a = *told;

		a.address = 0x100000 + (uint64_t)i * LINE;
		a.known = true;
		gus_stream_feed(e, &(struct gus_op_steps){ &step, &a, 1 }, NULL);
		if (i + 1 == TIMES)
			gus_stream_cycles(e, before);
	}
	gus_stream_cycles(e, cycles);
	gus_stream_close(e);
	close_setting(&s);
	return (cycles[0] - before[0]) / TIMES;
}

/* L2 sends a line in 2 cycles, L3 in 4, memory in 8. What is thrown out goes the same way as what comes; a line that
 * was prefetched with the access before is waited for, whatever is told of it. Where what is thrown out has a way of
 * its own, nothing waits for that. */
static void test_beside(void **state)
{
#define AHEAD(from, into) { .prefetches = { { 1, from, into } }, .prefetches_n = 1 }
	static const struct { bool store; struct gus_op_access told; double cycles; } cases[] = {
		{ true, { .level = GUS_HIT_L2 }, 2 },
		{ true, { .level = GUS_HIT_L2, .beside = { .written = { 1 } } }, 4 },
		{ true, { .level = GUS_HIT_L2, .beside = { .written = { 2 } } }, 6 },
		{ true, { .level = GUS_HIT_L3, .beside = { .written = { 0, 1 } } }, 8 },
		{ false, { .level = GUS_HIT_MEMORY, .beside = { .written = { 0, 0, 1 } } }, 16 },
		/* In L1 nobody waits for what is thrown out. */
		{ false, { .level = GUS_HIT_L1, .beside = { .written = { 1 } } }, 0.5 },
		{ false, { .level = GUS_HIT_L1, .beside = AHEAD(GUS_HIT_L2, GUS_HIT_L1) }, 2 },
		{ false, { .level = GUS_HIT_L2, .prefetched = true, .beside = AHEAD(GUS_HIT_L3, GUS_HIT_L1) }, 4 },
		{ false, { .level = GUS_HIT_MEMORY, .prefetched = true, .beside = AHEAD(GUS_HIT_L2, GUS_HIT_L1) }, 2 },
		{ false, { .level = GUS_HIT_L2, .beside = AHEAD(GUS_HIT_MEMORY, GUS_HIT_L2) }, 8 },
		{ false, { .level = GUS_HIT_L3, .prefetched = true, .beside = AHEAD(GUS_HIT_MEMORY, GUS_HIT_L2) }, 8 },
		{ false, { .level = GUS_HIT_L2, .beside = AHEAD(GUS_HIT_L3, GUS_HIT_L2) }, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double cycles = line_cycles(cases[i].store, false, &cases[i].told);
		struct gus_op_access alone = cases[i].told;

		if (fabs(cycles - cases[i].cycles) > 0.1)
			fail_msg("case %zu: %.2f cycles, not %.2f", i, cycles, cases[i].cycles);
		memset(alone.beside.written, 0, sizeof(alone.beside.written));
		cycles = line_cycles(cases[i].store, true, &cases[i].told);
		if (fabs(cycles - line_cycles(cases[i].store, false, &alone)) > 0.01)
			fail_msg("case %zu: %.2f cycles by a way of its own", i, cycles);
	}
}

/* Two nops in turn, each from the decoders or the uop cache: together they are half a cycle; where one of them is
 * decoded and the other is not, each decoded one begins a group of its own. */
static void test_groups_end_where_the_cache_begins(void **state)
{
	static const struct { bool cached[2]; double cycles; } cases[] = {
		{ { false, false }, 0.5 }, { { true, true }, 0.5 }, { { true, false }, 1 }, { { false, true }, 1 },
	};
	static const uint8_t nops[] = { 0x90, 0x90 }, ones[] = { 1, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_stream_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT };
		struct gus_op_step steps[200] = { { 0 } };
		struct gus_error err = { 0 };
		struct gus_stream_engine *e;
		double cycles[GUS_STREAM_LANES];
		struct setting s;

		open_setting(&s);
		s.block = gus_growing_add(s.g, nops, ones, sizeof(nops), 0);
		s.c.uop_cache_reads = 1000;
		e = gus_stream_open(s.p, &s.c, &o, &err);
		assert_non_null(e);
		for (uint32_t k = 0; k < 200; k++)
			steps[k] = (struct gus_op_step){ .op = s.block.op + k % 2,
				.cached = cases[i].cached[k % 2] };
		gus_stream_feed(e, &(struct gus_op_steps){ steps, NULL, 200 }, NULL);
		gus_stream_cycles(e, cycles);
		if (fabs(cycles[0] / 100 - cases[i].cycles) > 0.1)
			fail_msg("case %zu: %.2f cycles", i, cycles[0] / 100);
		gus_stream_close(e);
		close_setting(&s);
	}
}

/* Which instructions come nobody knows when the engine is opened: so no row may take more than can be counted. */
static void test_rows_that_take_too_long(void **state)
{
	static const struct { const char *table, *figures, *says; } cases[] = {
		{ "skylake", "uops 2 latency 10000 uses p0:65535", NULL }, /* 40,000, and the port twice */
		{ "skylake", "uops 2 latency 10000 uses p0:65535 p1:16000", "cycles, and more than 200000 cannot be" },
		{ "skylake", "uops 1 latency 1 uses p0:1 exclusive divider:65535", NULL },
		{ "znver4", "uops 4096 latency 9000 uses p0:4096", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[400];
		struct gus_error err = { 0 };
		struct gus_uarch *u;
		struct gus_core_config c;
		struct gus_growing *g;
		struct gus_stream_engine *e;

		snprintf(text, sizeof(text), "uarch long isa x86-64 \"Long\"\nsource s \"made up\"\nlike %s\n"
			 "port p0 s\nport p1 s\nunit divider s\nform \"AESDEC (XMM, XMM)\" %s source s\n",
			 cases[i].table, cases[i].figures);
		u = gus_uarch_parse("long", text, strlen(text), &gus_uarch_builtin, 0, &err);
		if (!u)
			fail_msg("%s", err.text);
		gus_core_config_of(&c, u);
		g = gus_growing_new(u);
		e = gus_stream_open(gus_growing_program(g), &c, &(struct gus_stream_options){ 0 }, &err);
		if (!e != !!cases[i].says || (!e && !strstr(err.text, cases[i].says)))
			fail_msg("case %zu: %s", i, e ? "is opened" : err.text);
		gus_stream_close(e);
		gus_growing_free(g);
		gus_uarch_free(u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_same_as_program),
		cmocka_unit_test(test_groups_end_where_the_cache_begins),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_regions_grow), cmocka_unit_test(test_regions_begin_at_nothing),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_same_knobs),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_rows_that_take_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
