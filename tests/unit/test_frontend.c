/* SPDX-License-Identifier: MIT */
/* The front end of the core engine by itself: how many ops of a piece of code it delivers in each cycle. Code is a
 * list of lengths; blocks have 16 bytes and windows of the uop cache 32. What is found in a cycle is decoded in the
 * next, and what is decoded in a cycle is there for issue in the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/code/program.h"
#include "model/code/uop_lines.h"
#include "model/code/uoptable.h"
#include "model/core/core.h"
#include "model/core/frontend.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/insn.h"

enum { OPS = 24, CYCLES = 24 };

/* One op of one instruction, if it is not said otherwise. */
struct code {
	uint8_t length;                 /* 0: the end */
	uint8_t opcode;                 /* bytes up to the end of its opcode; 0: 1 */
	uint16_t flags;                 /* enum gus_op_flag */
	uint8_t decoded, microcoded;    /* fused uops; decoded 0: 1 */
	bool lcp, pair;                 /* pair: of this instruction and the next */
};

struct made {
	struct gus_uarch *u;
	struct gus_program *p;
	struct gus_core_config c;
	struct gus_core_options o;
	struct gus_frontend f;
};

static void make_program(struct made *m, const struct code *code)
{
	struct gus_error err = { 0 };
	char text[1024];
	int n = 0;
	uint32_t op = 0;

	for (unsigned i = 0; code[i].length; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%u %s\n", i,
			      code[i].flags & GUS_OP_BRANCH ? "jne - - 1 6" : "nop - - - -");
	m->u = gus_uarch_parse("ufs-haswell", NULL, 0, &gus_uarch_builtin, 0, &err);
	m->p = m->u ? gus_uoptable_program(m->u, "text", text, strlen(text), &err) : NULL;
	if (!m->p)
		fail_msg("%s", err.text);
	m->p->bytes = 0;
	for (unsigned i = 0; code[i].length; i++) {
		m->p->insns[i].info.length = code[i].length;
		m->p->insns[i].info.opcode_length = code[i].opcode ? code[i].opcode : 1;
		m->p->insns[i].info.flags = code[i].lcp ? GUS_INSN_LCP : 0;
		m->p->insns[i].offset = m->p->bytes;
		m->p->bytes += code[i].length;
		m->p->ops[op] = m->p->ops[i];
		m->p->ops[op].flags = code[i].flags;
		m->p->ops[op].insns_n = code[i].pair ? 2 : 1;
		m->p->ops[op].decoded = m->p->ops[op].fused = code[i].decoded ? code[i].decoded : 1;
		m->p->ops[op].microcoded = code[i].microcoded;
		op += i == 0 || !code[i - 1].pair;
	}
	m->p->ops_n = op;
}

/* A front end that is wide everywhere. */
static void make(struct made *m, const struct code *code, enum gus_core_fetch fetch)
{
	*m = (struct made){ .o = { .fetch = fetch } };
	make_program(m, code);
	gus_core_config_of(&m->c, m->u);
	m->c.fetch_bytes = 16;
	m->c.predecode_width = 6;
	m->c.decode_queue = 0;
	m->c.decode_width = 32;
	m->c.decode_uops = m->c.decode_complex = m->c.decode_fuse_last = 0;
	m->c.lcp_penalty = 3;
	m->c.microcode_width = 4;
	m->c.microcode_switch = 2;
	m->c.microcode_switch_decoders = 4;
	m->c.decode_branch_last = m->c.decode_pop_5c = 0;
	m->c.uop_cache_reads = 2;
	m->c.uop_cache_second = m->c.uop_cache_wide = 0;
	m->c.uop_cache_width = 6;
	m->c.uop_cache_window = 32;
	m->c.uop_cache_line = 6;
	m->c.uop_cache_lines = 3;
	m->c.uop_cache_size = 0;
	m->c.queue_size = 0;
	m->c.loop_boundary = 0;
	m->c.loop_buffer = 0;
}

static void make_unrolled(struct made *m, const struct code *code, enum gus_core_fetch fetch)
{
	make(m, code, fetch);
	m->o.unrolled = true;
}

static void drop(struct made *m)
{
	gus_program_free(m->p);
	gus_uarch_free(m->u);
}

/* How many ops are there in each cycle, if all are taken at once. */
static void deliver(struct made *m, unsigned *there)
{
	gus_frontend_begin(&m->f, m->p, &m->c, &m->o, NULL);
	for (unsigned cycle = 0; cycle < CYCLES; cycle++) {
		for (there[cycle] = 0; gus_frontend_peek(&m->f); there[cycle]++)
			gus_frontend_take(&m->f);
		gus_frontend_cycle(&m->f);
	}
	gus_frontend_end(&m->f);
}

static void expect(struct made *m, const char *what, unsigned from, const unsigned *expected, unsigned n)
{
	unsigned there[CYCLES];

	deliver(m, there);
	for (unsigned i = 0; i < from; i++)
		if (there[i])
			fail_msg("%s: %u ops in cycle %u already", what, there[i], i);
	for (unsigned i = 0; from + i < CYCLES; i++)
		if (there[from + i] != expected[i % n])
			fail_msg("%s: %u ops in cycle %u, not %u", what, there[from + i], from + i, expected[i % n]);
}
#define EXPECT(m, what, from, ...) \
	expect(m, what, from, (const unsigned[]){ __VA_ARGS__ }, sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned))

/* Length decoding: two cycles until the first ops are there. */

#define TWOS { .length = 2 }, { .length = 2 }, { .length = 2 }, { .length = 2 }
#define FOURS { .length = 4 }, { .length = 4 }, { .length = 4 }, { .length = 4 }

static void blocks(void **state)
{
	static const struct code fours[] = { FOURS, { 0 } }, three[] = { { .length = 4 }, { .length = 4 },
		{ .length = 4 }, { 0 } };
	static const struct code long_ones[] = { { .length = 15 }, { .length = 15 }, { 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, fours, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "a block a cycle", 2, 4);
	m.c.predecode_width = 4;
	EXPECT(&m, "as many as there are", 2, 4);
	m.c.predecode_width = 3;
	EXPECT(&m, "one more than it finds in a cycle", 2, 3, 1);
	m.c.fetch_bytes = 32;
	m.c.predecode_width = 6;
	EXPECT(&m, "larger blocks", 2, 6, 2);
	drop(&m);
	/* 12 bytes: three blocks for four times. */
	make_unrolled(&m, three, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "unrolled, blocks go on", 2, 4);
	m.p->base = 8;
	EXPECT(&m, "from the middle of a block", 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4);
	m.o.unrolled = false;
	m.p->base = 0;
	m.c.predecode_width = 5;
	EXPECT(&m, "straight on within its block", 2, 5);
	drop(&m);
	/* An instruction is of the block that its last byte lies in: of those of 15 bytes one each, but in block 14
	 * there are two (210 to 224 and 225 to 239). */
	make_unrolled(&m, long_ones, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "one a block", 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2);
	drop(&m);
}

/* Five instructions, and one that begins in their block and ends in the next. */
static void opcodes_in_the_block_before(void **state)
{
	static const struct { unsigned width; uint8_t opcode; unsigned first, second, third; } cases[] = {
		{ 5, 1, 5, 0, 4 }, { 5, 2, 5, 4, 5 }, { 6, 1, 5, 4, 5 }, { 6, 2, 5, 4, 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct code code[] = { { .length = 3 }, { .length = 3 }, { .length = 3 }, { .length = 3 },
			{ .length = 3 },
			{ .length = 4, .opcode = cases[i].opcode }, { .length = 4 }, { .length = 4 }, { .length = 5 },
				{ 0 } };
		unsigned there[CYCLES];
		struct made m;

		make(&m, code, GUS_CORE_FETCH_DECODERS);
		m.o.unrolled = true;
		m.c.predecode_width = cases[i].width;
		deliver(&m, there);
		if (there[2] != cases[i].first || there[3] != cases[i].second || there[4] != cases[i].third)
			fail_msg("case %zu: %u, %u, %u", i, there[2], there[3], there[4]);
		drop(&m);
	}
}

static void what_stops_length_decoding(void **state)
{
	static const struct code prefixed[] = { { .length = 4 }, { .length = 4, .lcp = true }, { .length = 4 },
		{ .length = 4 }, { 0 } };
	static const struct code early[] = { TWOS, TWOS, { .length = 16, .lcp = true }, { 0 } };
	static const struct code loop[] = { FOURS, FOURS, { .length = 2, .flags = GUS_OP_BRANCH | GUS_OP_TAKEN },
		{ 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, prefixed, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "a length-changing prefix", 2, 4, 0, 0, 0);
	drop(&m);
	/* Eight instructions in block 0 take three cycles of width 3; so the prefix in block 1 is seen two sooner. */
	make_unrolled(&m, early, GUS_CORE_FETCH_DECODERS);
	m.c.predecode_width = 3;
	EXPECT(&m, "a prefix that was seen sooner", 2, 3, 3, 2, 1, 0, 3, 3, 2, 1, 0, 3, 3, 2, 1, 0, 3, 3, 2, 1, 0, 3);
	m.c.lcp_penalty = 2;
	EXPECT(&m, "soon enough", 2, 3, 3, 2, 1, 3, 3, 2, 1, 3, 3, 2, 1, 3, 3, 2, 1, 3, 3, 2, 1, 3);
	m.c.predecode_width = 8;
	EXPECT(&m, "not sooner", 2, 8, 1, 0, 0, 8, 1, 0, 0, 8, 1, 0, 0, 8, 1, 0, 0, 8, 1, 0, 0, 8, 1);
	drop(&m);
	/* Blocks 0 and 1 and the jump in 2; then again. In unrolled code it goes nowhere. */
	make(&m, loop, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "a jump ends its block", 2, 4, 4, 1);
	drop(&m);
}

/* Room for six instructions, and decoders that take two: four more are found as soon as two have gone. */
static void room_for_instructions(void **state)
{
	static const struct code fours[] = { FOURS, { 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, fours, GUS_CORE_FETCH_DECODERS);
	m.c.decode_queue = 6;
	m.c.decode_width = 2;
	gus_frontend_begin(&m.f, m.p, &m.c, &m.o, NULL);
	gus_frontend_cycle(&m.f);
	assert_int_equal(m.f.found_n, 4);
	gus_frontend_cycle(&m.f);
	assert_int_equal(m.f.found_n, 6);
	gus_frontend_cycle(&m.f);
	assert_int_equal(m.f.found_n, 6); /* two went, two of the block were left */
	m.c.decode_queue = 1000;
	for (unsigned i = 0; i < 60; i++)
		gus_frontend_cycle(&m.f);
	assert_int_equal(m.f.found_n, GUS_FRONT_INSNS);
	assert_int_equal(m.f.queue_n, 124); /* two in each cycle but the first */
	gus_frontend_end(&m.f);
	drop(&m);
}

/* There is room for both halves of a pair, even if the queue is said to be for one instruction. */
static void room_for_a_pair(void **state)
{
	static const struct code pair[] = { { .length = 4 }, { .length = 4, .pair = true }, { .length = 4 },
		{ .length = 4 }, { 0 } };
	unsigned there[CYCLES], n = 0;
	struct made m;

	(void)state;
	make_unrolled(&m, pair, GUS_CORE_FETCH_DECODERS);
	m.c.decode_queue = 1;
	m.o.iterations = 1;
	deliver(&m, there);
	for (unsigned cycle = 0; cycle < CYCLES; cycle++)
		n += there[cycle];
	assert_int_equal(n, 3);
	drop(&m);
}

/* The queue is full by fused uops; an op that is larger comes when it is empty. */
static void room_in_the_queue(void **state)
{
	static const struct code fours[] = { FOURS, { 0 } }, large[] = { { .length = 16, .decoded = 9 }, { 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, fours, GUS_CORE_FETCH_DECODERS);
	for (unsigned size = 0; size < 8; size++) {
		m.c.queue_size = size;
		gus_frontend_begin(&m.f, m.p, &m.c, &m.o, NULL);
		for (unsigned i = 0; i < 100; i++)
			gus_frontend_cycle(&m.f);
		assert_int_equal(m.f.queue_n, size ? size : GUS_FRONT_QUEUE);
		gus_frontend_end(&m.f);
	}
	drop(&m);
	make_unrolled(&m, large, GUS_CORE_FETCH_DECODERS);
	m.c.queue_size = 4;
	EXPECT(&m, "larger than the queue", 2, 1);
	gus_frontend_begin(&m.f, m.p, &m.c, &m.o, NULL);
	for (unsigned i = 0; i < 10; i++)
		gus_frontend_cycle(&m.f);
	assert_int_equal(m.f.queue_n, 1);
	gus_frontend_end(&m.f);
	drop(&m);
}

/* Decoders. */

#define C { .length = 2, .flags = GUS_OP_COMPLEX }
#define S { .length = 2 }
#define U(n) { .length = 4, .decoded = n }

static void decoders(void **state)
{
	static const struct code mixed[] = { S, C, S, S, C, C, S, S, { 0 } }, uops[] = { U(1), U(3), U(2), U(5),
		{ 0 } };
	static const struct code fours[] = { FOURS, { 0 } }, complex[] = { C, C, C, C, C, C, C, C, { 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, fours, GUS_CORE_FETCH_DECODERS);
	m.c.decode_width = 3;
	EXPECT(&m, "three", 2, 3);
	drop(&m);
	/* Eight instructions a block: more than the decoders take, so only they count. */
	make_unrolled(&m, mixed, GUS_CORE_FETCH_DECODERS);
	m.c.predecode_width = 8;
	m.c.decode_width = 4;
	EXPECT(&m, "all are equal", 2, 4);
	m.c.decode_complex = 1;
	EXPECT(&m, "S, C S S, C, C S S (S of the next)", 2, 1, 3, 1, 4, 3, 1, 4, 3, 1, 4, 3, 1, 4, 3, 1, 4, 3, 1, 4,
		3, 1, 4);
	m.c.decode_complex = 2;
	EXPECT(&m, "S, C S S, C C S S", 2, 1, 3, 4);
	m.c.decode_complex = 3;
	EXPECT(&m, "more than there are", 2, 1, 3, 4);
	drop(&m);
	make_unrolled(&m, complex, GUS_CORE_FETCH_DECODERS);
	m.c.predecode_width = 8;
	m.c.decode_width = 4;
	for (unsigned n = 1; n <= 4; n++) {
		m.c.decode_complex = n;
		EXPECT(&m, "as many as may be", 2, n);
	}
	drop(&m);
	make_unrolled(&m, uops, GUS_CORE_FETCH_DECODERS);
	m.c.decode_uops = 4;
	EXPECT(&m, "1 3, 2, 5", 2, 2, 1, 1);
	m.c.decode_uops = 6;
	EXPECT(&m, "1 3 2, then 5 1, 3 2", 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2);
	drop(&m);
}

/* A microcoded op of ten uops comes alone, and the sequencer takes three cycles for the ten: from the decoders two
 * cycles later, and two back; from the uop cache all cycles of switching lie before. */
static void microcode(void **state)
{
	static const struct code code[] = { U(1), { .length = 4, .microcoded = 10 }, U(1), U(1), { 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, code, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "switched in four", 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0);
	m.c.microcode_switch_decoders = 3; /* two and one */
	EXPECT(&m, "switched in three", 2, 1, 1, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0);
	m.c.microcode_switch = 9; /* of the uop cache */
	EXPECT(&m, "switched in three", 2, 1, 1, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0);
	m.c.microcode_switch_decoders = 0;
	m.c.microcode_width = 5;
	EXPECT(&m, "two cycles", 2, 1, 1, 0, 0, 3, 1, 0, 0, 3, 1, 0, 0, 3, 1, 0, 0, 3, 1, 0, 0, 3, 1);
	drop(&m);
	make_unrolled(&m, code, GUS_CORE_FETCH_UOP_CACHE);
	EXPECT(&m, "two cycles before", 1, 1, 1, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 3);
	m.c.microcode_switch = 3;
	m.c.microcode_switch_decoders = 9;
	EXPECT(&m, "three before", 1, 1, 1, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0);
	m.c.microcode_switch = 0;
	m.c.microcode_width = 1000;
	EXPECT(&m, "one cycle", 1, 1, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3);
	drop(&m);
}

/* pop r12 as another instruction, as a complex one, and as one that is alone behind whatever came before; a branch that
 * is not taken, and what is behind it. */
static void what_ends_a_group(void **state)
{
	static const struct code pop[] = { S, { .length = 2, .flags = GUS_OP_POP_5C }, S, S, { 0 } };
	static const struct code branch[] = { S, { .length = 2, .flags = GUS_OP_BRANCH }, S, S, { 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, pop, GUS_CORE_FETCH_DECODERS);
	m.c.predecode_width = 8;
	m.c.decode_width = 4;
	m.c.decode_complex = 1;
	EXPECT(&m, "any", 2, 4);
	m.c.decode_pop_5c = GUS_CORE_POP_COMPLEX;
	EXPECT(&m, "S, P S S S", 2, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4);
	m.c.decode_pop_5c = GUS_CORE_POP_ENDS;
	EXPECT(&m, "S, P, S S S, P", 2, 1, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3);
	drop(&m);
	make_unrolled(&m, branch, GUS_CORE_FETCH_DECODERS);
	m.c.predecode_width = 8;
	m.c.decode_width = 4;
	EXPECT(&m, "four", 2, 4);
	m.c.decode_branch_last = 1;
	EXPECT(&m, "S B, S S S B", 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4);
	drop(&m);
}

/* What might fuse with a branch waits until what follows is found, and is not decoded last. */
static void fusible(void **state)
{
	static const struct code code[] = { U(1), { .length = 4, .flags = GUS_OP_FUSIBLE }, U(1), U(1), { 0 } };
	static const struct code last[] = { U(1), U(1), U(1), { .length = 4, .flags = GUS_OP_FUSIBLE }, { 0 } };
	static const struct code longer[] = { U(1), { .length = 8, .pair = true }, { .length = 8 }, { .length = 12 },
		{ 0 } };
	static const struct code two[] = { { .length = 8, .flags = GUS_OP_FUSIBLE }, { .length = 8 }, { 0 } };
	static const struct code pair[] = { U(1), U(1), U(1), { .length = 4, .pair = true }, { .length = 16 }, { 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, code, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "what follows is there", 2, 4);
	m.c.decode_width = 2;
	EXPECT(&m, "it is not last", 2, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2);
	m.c.decode_fuse_last = 1;
	EXPECT(&m, "unless it may be", 2, 2);
	m.c.decode_width = 1;
	m.c.decode_fuse_last = 0;
	EXPECT(&m, "of one decoder it may, as there is no other", 2, 1, 1, 1, 1);
	drop(&m);
	make_unrolled(&m, last, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "it waits for the next block", 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4);
	m.o.iterations = 1;
	EXPECT(&m, "and not at the end", 2, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	drop(&m);
	make_unrolled(&m, pair, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "a pair waits for its second half", 2, 3, 1);
	drop(&m);
	/* It ends in the next block, by its own length. */
	make_unrolled(&m, longer, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "a pair across blocks", 2, 1, 2);
	drop(&m);
	make_unrolled(&m, two, GUS_CORE_FETCH_DECODERS);
	EXPECT(&m, "one behind it is enough", 2, 2);
	drop(&m);
}

/* The uop cache: one cycle until the first ops are there. */

static void windows(void **state)
{
	static const struct code eight[] = { FOURS, FOURS, { 0 } }, two[] = { { .length = 16 }, { .length = 16 },
		{ 0 } };
	static const struct code threes[] = { U(3), U(3), U(3), U(3), { 0 } };
	static const struct code loop[] = { { .length = 4 }, { .length = 2, .flags = GUS_OP_BRANCH | GUS_OP_TAKEN },
		{ 0 } };
	struct made m;

	(void)state;
	make_unrolled(&m, eight, GUS_CORE_FETCH_UOP_CACHE);
	m.c.uop_cache_line = 8;
	EXPECT(&m, "six, of two windows", 1, 6);
	m.c.uop_cache_width = 4;
	EXPECT(&m, "four, of one", 1, 4);
	m.c.uop_cache_width = 7;
	EXPECT(&m, "seven", 1, 7);
	m.c.uop_cache_width = 3;
	m.c.uop_cache_reads = 1;
	EXPECT(&m, "three, and the rest of the window", 1, 3, 3, 2);
	drop(&m);
	make_unrolled(&m, two, GUS_CORE_FETCH_UOP_CACHE);
	EXPECT(&m, "two windows", 1, 4);
	m.c.uop_cache_width = 5;
	EXPECT(&m, "two windows of five", 1, 4);
	m.c.uop_cache_reads = 1;
	EXPECT(&m, "one window", 1, 2);
	drop(&m);
	make_unrolled(&m, threes, GUS_CORE_FETCH_UOP_CACHE);
	EXPECT(&m, "six uops are two ops", 1, 2);
	m.c.uop_cache_width = 5;
	EXPECT(&m, "five are one", 1, 1);
	m.c.uop_cache_width = 2;
	EXPECT(&m, "two are one, too", 1, 1);
	drop(&m);
	make(&m, loop, GUS_CORE_FETCH_UOP_CACHE);
	EXPECT(&m, "a jump ends what is delivered", 1, 2);
	m.c.queue_size = 1;
	EXPECT(&m, "room for one", 1, 1);
	drop(&m);
}

/* How many uops of a loop of n each cycle has, its jump among them: lines of six, all in one window unless it is said
 * otherwise. What Ice Lake's policy gives is 1.5 cycles for 7 uops, 2 for 9 and 3 for 13. */
static void second_lines(void **state)
{
	enum { ANY = GUS_CORE_SECOND_ANY, FORWARD = GUS_CORE_SECOND_FORWARD, WHOLE = GUS_CORE_SECOND_WHOLE };
	static const struct { unsigned uops, second, window, reads, n, there[6]; } cases[] = {
		{ 7, ANY, 64, 2, 2, { 6, 1 } }, { 7, FORWARD, 64, 2, 2, { 6, 1 } },
		{ 7, WHOLE, 64, 2, 3, { 6, 5, 3 } }, { 7, WHOLE, 64, 1, 4, { 6, 1, 6, 1 } },
		{ 8, WHOLE, 64, 2, 3, { 6, 6, 4 } }, { 9, WHOLE, 64, 2, 4, { 6, 5, 4, 5 } },
		{ 10, WHOLE, 64, 2, 4, { 6, 6, 4, 6 } }, { 11, WHOLE, 64, 2, 4, { 6, 6, 5, 6 } },
		{ 13, WHOLE, 64, 2, 6, { 6, 6, 5, 2, 6, 5 } }, { 13, ANY, 64, 2, 3, { 6, 6, 1 } },
		/* Windows of eight uops of two bytes: lines of 6 and 2. */
		{ 12, ANY, 16, 2, 2, { 6, 6 } }, { 12, FORWARD, 16, 2, 3, { 6, 6, 6 } },
		{ 12, WHOLE, 16, 2, 3, { 6, 2, 6 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct code code[16] = { { 0 } };
		unsigned there[CYCLES];
		struct made m;

		for (unsigned k = 0; k < cases[i].uops; k++)
			code[k].length = 2;
		code[cases[i].uops - 1].flags = GUS_OP_BRANCH | GUS_OP_TAKEN;
		make(&m, code, GUS_CORE_FETCH_UOP_CACHE);
		m.c.uop_cache_window = cases[i].window;
		m.c.uop_cache_second = cases[i].second;
		m.c.uop_cache_reads = cases[i].reads;
		deliver(&m, there);
		for (unsigned k = 0; k < cases[i].n; k++)
			if (there[1 + k] != cases[i].there[k])
				fail_msg("case %zu: %u in cycle %u", i, there[1 + k], k);
		drop(&m);
	}
}

/* An op of a wide constant takes two entries and is the last of its cycle, on cores that have it so. */
static void wide_constants(void **state)
{
	static const struct code code[] = { U(1), { .length = 4, .flags = GUS_OP_WIDE }, U(1), U(1), U(1), U(1),
		{ .length = 4 }, { .length = 4, .flags = GUS_OP_BRANCH | GUS_OP_TAKEN }, { 0 } };
	struct made m;

	(void)state;
	make(&m, code, GUS_CORE_FETCH_UOP_CACHE);
	EXPECT(&m, "six and two", 1, 6, 2);
	m.c.uop_cache_wide = 1;
	EXPECT(&m, "two, three of five, and three", 1, 2, 6);
	m.c.uop_cache_width = 3;
	EXPECT(&m, "width for both entries", 1, 2, 3, 3);
	m.c.uop_cache_width = 2;
	EXPECT(&m, "no width for both entries", 1, 1, 1, 2, 2, 2);
	drop(&m);
}

/* Whether the uop cache holds it: six uops a line, three lines a window. A jump that touches the end of 32 bytes
 * keeps it out on some. */
static void what_the_uop_cache_holds(void **state)
{
	static const struct { const char *what; struct code code[8]; uint32_t lines, size, jcc; bool held; } cases[] = {
		{ "18 uops in a window", { U(6), U(6), U(6) }, 3, 0, 0, true },
		{ "19", { U(6), U(6), U(6), U(1) }, 3, 0, 0, false },
		{ "19 where lines are not counted", { U(6), U(6), U(6), U(1) }, 0, 0, 0, true },
		{ "an op does not cross lines", { U(4), U(4), U(4), U(4) }, 3, 0, 0, false },
		{ "nor leaves a full one", { U(4), U(2), U(4), U(2), U(4), U(2) }, 3, 0, 0, true },
		{ "four lines in two windows", { U(6), U(6), { .length = 30 }, U(6) }, 3, 0, 0, true },
		{ "microcode has a line of its own", { { .length = 4, .microcoded = 9 }, U(6), U(6) }, 3, 0, 0, true },
		{ "and no room beside it", { { .length = 4, .microcoded = 9 }, U(6), U(6), U(1) }, 3, 0, 0, false },
		{ "two lines of six", { U(6), U(1) }, 3, 12, 0, true },
		{ "and less than 13", { U(6), U(1) }, 3, 13, 0, true },
		{ "are more than eleven", { U(6), U(1) }, 3, 11, 0, false },
		{ "a jump to byte 30", { { .length = 29 }, { .length = 2, .flags = GUS_OP_BRANCH } }, 3, 0, 1, true },
		{ "to 31, at the end", { { .length = 30 }, { .length = 2, .flags = GUS_OP_BRANCH } }, 3, 0, 1, false },
		{ "across it", { { .length = 31 }, { .length = 2, .flags = GUS_OP_BRANCH } }, 3, 0, 1, false },
		{ "behind it", { { .length = 32 }, { .length = 2, .flags = GUS_OP_BRANCH } }, 3, 0, 1, true },
		{ "at the end, where that does not matter", { { .length = 30 }, { .length = 2,
			.flags = GUS_OP_BRANCH } }, 3, 0, 0, true },
		{ "no jump at the end", { { .length = 30 }, { .length = 2 } }, 3, 0, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;
		enum gus_core_fetch mode;

		make(&m, cases[i].code, GUS_CORE_FETCH_AUTO);
		m.c.uop_cache_lines = cases[i].lines;
		m.c.uop_cache_size = cases[i].size;
		m.c.jcc_erratum = cases[i].jcc;
		mode = gus_frontend_mode(m.p, &m.c, &m.o);
		if (mode != (cases[i].held ? GUS_CORE_FETCH_UOP_CACHE : GUS_CORE_FETCH_DECODERS))
			fail_msg("%s: mode %d", cases[i].what, mode);
		drop(&m);
	}
}

/* A loop of two windows: eight ops, then seven and a jump whose last byte is the 64th. The uop cache has the first
 * window, the decoders find four instructions of the second in each cycle. */
static void mixed_windows(void **state)
{
	static const struct code code[] = { FOURS, FOURS, FOURS, { .length = 4 }, { .length = 4 }, { .length = 4 },
		{ .length = 4, .flags = GUS_OP_BRANCH | GUS_OP_TAKEN }, { 0 } };
	struct made m;
	bool kept[16];

	(void)state;
	make(&m, code, GUS_CORE_FETCH_AUTO);
	assert_int_equal(gus_frontend_mode(m.p, &m.c, &m.o), GUS_CORE_FETCH_UOP_CACHE);
	m.c.jcc_erratum = 1;
	assert_int_equal(gus_frontend_mode(m.p, &m.c, &m.o), GUS_CORE_FETCH_MIXED);
	assert_int_equal(gus_uop_lines_kept(&m.c, m.p, kept), 8);
	assert_true(kept[0] && kept[7] && !kept[8] && !kept[15]);
	EXPECT(&m, "there and back", 1, 6, 2, 0, 4, 4, 6, 2, 0, 4, 4, 6, 2, 0, 4, 4, 6, 2, 0, 4, 4, 6, 2, 0);
	m.c.decode_delay = 3;
	EXPECT(&m, "two cycles later", 1, 6, 2, 0, 0, 0, 4, 4, 6, 2, 0, 0, 0, 4, 4, 6, 2, 0, 0, 0, 4, 4, 6, 2);
	m.c.uop_cache_block = 64;
	assert_int_equal(gus_frontend_mode(m.p, &m.c, &m.o), GUS_CORE_FETCH_DECODERS);
	/* Another place: the jump's end lies behind a multiple of 32, and the first window has what is left. */
	m.p->base = 4;
	m.c.uop_cache_block = 0;
	assert_int_equal(gus_uop_lines_kept(&m.c, m.p, kept), 16);
	m.p->base = 2; /* across */
	assert_int_equal(gus_uop_lines_kept(&m.c, m.p, kept), 8);
	assert_true(kept[7] && !kept[8]);
	m.c.uop_cache_size = 18; /* lines of six, two in each window */
	assert_int_equal(gus_uop_lines_kept(&m.c, m.p, kept), 0);
	assert_false(kept[0]);
	m.c.uop_cache_size = 24;
	assert_int_equal(gus_uop_lines_kept(&m.c, m.p, kept), 8);
	m.c.fetch_bytes = 0; /* there are no decoders to take it */
	assert_int_equal(gus_frontend_mode(m.p, &m.c, &m.o), GUS_CORE_FETCH_IDEAL);
	drop(&m);
}

/* Which way code comes. */
static void modes(void **state)
{
	enum { A = GUS_CORE_FETCH_AUTO, D = GUS_CORE_FETCH_DECODERS, C_ = GUS_CORE_FETCH_UOP_CACHE,
		L = GUS_CORE_FETCH_LOOP,
		I = GUS_CORE_FETCH_IDEAL };
	static const struct { uint32_t fetch_bytes, cache, buffer, boundary; bool unrolled; int asked,
		mode; } cases[] = {
		{ 16, 6, 4, 0, false, A, L }, { 16, 6, 3, 0, false, A, C_ }, { 16, 0, 3, 0, false, A, D }, { 0, 0, 0,
			0, false, A, I },
		{ 0, 0, 0, 1, false, A, L }, { 16, 6, 4, 0, true, A, D }, { 0, 6, 4, 0, true, A, I }, { 16, 6, 4, 0,
			false, D, D },
		{ 0, 6, 4, 0, false, D, I }, { 16, 6, 4, 0, false, C_, C_ }, { 16, 0, 4, 0, false, C_, I }, { 16, 6,
			0, 0, false, L, L },
		{ 16, 6, 4, 0, false, I, I }, { 16, 6, 4, 0, true, C_, C_ },
	};
	static const struct code fours[] = { FOURS, { 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		make(&m, fours, (enum gus_core_fetch)cases[i].asked);
		m.o.unrolled = cases[i].unrolled;
		m.c.fetch_bytes = cases[i].fetch_bytes;
		m.c.uop_cache_width = cases[i].cache;
		m.c.loop_buffer = cases[i].buffer;
		m.c.loop_boundary = cases[i].boundary;
		if ((int)gus_frontend_mode(m.p, &m.c, &m.o) != cases[i].mode)
			fail_msg("case %zu: %d", i, gus_frontend_mode(m.p, &m.c, &m.o));
		/* Where there are no bytes there is nothing to decode. */
		m.p->bytes = 0;
		assert_int_equal(gus_frontend_mode(m.p, &m.c, &m.o), cases[i].asked == I ? I : L);
		drop(&m);
	}
}

/* Which ends of an iteration of four uops are in the way: of as many as fit into the buffer the last. */
static void ends_in_the_loop_buffer(void **state)
{
	static const struct { uint32_t buffer, boundary; unsigned every; } cases[] = {
		{ 0, 0, 0 }, { 0, 1, 1 }, { 3, 0, 1 }, { 4, 0, 1 }, { 7, 0, 1 }, { 8, 0, 2 }, { 12, 0, 3 }, { 12, 1,
			1 },
	};
	static const struct code fours[] = { FOURS, { 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		make(&m, fours, GUS_CORE_FETCH_LOOP);
		m.c.loop_buffer = cases[i].buffer;
		m.c.loop_boundary = cases[i].boundary;
		gus_frontend_begin(&m.f, m.p, &m.c, &m.o, NULL);
		for (unsigned n = 1; n < 10; n++) {
			assert_false(gus_frontend_boundary(&m.f, false));
			assert_int_equal(gus_frontend_boundary(&m.f, true), cases[i].every && n % cases[i].every == 0);
		}
		gus_frontend_end(&m.f);
		drop(&m);
	}
}

/* How often a loop is repeated where the table has steps, as of a buffer of 70 whose largest loops are held 6, 4, 3
 * times and twice. */
static void repetitions_in_the_loop_buffer(void **state)
{
	static const struct { unsigned uops, every; } cases[] = { { 1, 6 }, { 6, 6 }, { 7, 4 }, { 8, 4 }, { 9, 3 },
		{ 12, 3 }, { 13, 2 }, { 15, 2 }, { 16, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct code code[20] = { { 0 } };
		struct made m;

		for (unsigned k = 0; k < cases[i].uops; k++)
			code[k].length = 2;
		make(&m, code, GUS_CORE_FETCH_LOOP);
		m.c.loop_buffer = 70;
		m.c.loop_unroll_6 = 6;
		m.c.loop_unroll_4 = 8;
		m.c.loop_unroll_3 = 12;
		m.c.loop_unroll_2 = 15;
		gus_frontend_begin(&m.f, m.p, &m.c, &m.o, NULL);
		for (unsigned n = 1; n < 14; n++)
			if (gus_frontend_boundary(&m.f, true) != (n % cases[i].every == 0))
				fail_msg("%u uops: iteration %u", cases[i].uops, n);
		gus_frontend_end(&m.f);
		drop(&m);
	}
}

/* What is told of ops: the iteration, its last, and no more than were asked for. */
static void iterations(void **state)
{
	static const struct code fours[] = { FOURS, { 0 } };
	struct made m;

	(void)state;
	make(&m, fours, GUS_CORE_FETCH_IDEAL);
	m.o.iterations = 3;
	gus_frontend_begin(&m.f, m.p, &m.c, &m.o, NULL);
	for (unsigned n = 0; n < 12; n++) {
		const struct gus_fetched *next = gus_frontend_peek(&m.f);

		assert_non_null(next);
		assert_int_equal(next->op, n % 4);
		assert_int_equal(next->iteration, n / 4);
		assert_int_equal(next->last, n % 4 == 3);
		gus_frontend_take(&m.f);
	}
	assert_null(gus_frontend_peek(&m.f));
	assert_true(m.f.ended);
	gus_frontend_end(&m.f);
	drop(&m);
}

/* The steady state in which the front end is the limit: cycles and iterations as a ratio of whole numbers. */
static void steady_front_ends(void **state)
{
	static const struct {
		const char *what;
		struct code code[10];
		enum gus_core_fetch fetch;
		bool unrolled;
		uint64_t cycles, iterations;
	} cases[] = {
		{ "12 bytes in blocks of 16", { U(1), U(1), U(1) }, GUS_CORE_FETCH_DECODERS, true, 3, 4 },
		{ "20 bytes", { U(1), U(1), U(1), U(1), U(1) }, GUS_CORE_FETCH_DECODERS, true, 5, 4 },
		{ "15 bytes, one a block", { { .length = 15 } }, GUS_CORE_FETCH_DECODERS, true, 15, 16 },
		{ "a loop of 18 bytes", { FOURS, { .length = 2, .flags = GUS_OP_BRANCH | GUS_OP_TAKEN } },
			GUS_CORE_FETCH_DECODERS,
		  false, 2, 1 },
		{ "a prefix", { U(1), { .length = 12, .lcp = true } }, GUS_CORE_FETCH_DECODERS, true, 4, 1 },
		{ "seven uops of six a cycle", { U(1), U(1), U(1), U(1), U(1), U(1), { .length = 2 } },
			GUS_CORE_FETCH_UOP_CACHE, false,
		  7, 6 },
		{ "microcode", { U(1), { .length = 4, .microcoded = 10 } }, GUS_CORE_FETCH_UOP_CACHE, false, 7, 1 },
		{ "a loop of one jump", { { .length = 2, .flags = GUS_OP_BRANCH | GUS_OP_TAKEN } },
			GUS_CORE_FETCH_UOP_CACHE, false, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_core_result r;
		struct gus_error err = { 0 };
		struct made m;

		make(&m, cases[i].code, cases[i].fetch);
		m.o.unrolled = cases[i].unrolled;
		m.c.issue_width = m.c.retire_width = 16;
		m.c.queue_size = 30;
		if (gus_core_run(m.p, &m.c, &m.o, &r, &err) != 0)
			fail_msg("%s", err.text);
		assert_true(r.periodic);
		if (r.steady_cycles * cases[i].iterations != r.steady_iterations * cases[i].cycles)
			fail_msg("%s: %u cycles for %u iterations", cases[i].what, (unsigned)r.steady_cycles,
				(unsigned)r.steady_iterations);
		drop(&m);
	}
}

/* To be delivered op by op is the same as to ask first and to put it there then: random lengths, uops, wide constants
 * and jumps, under each rule for the second line. */
static void delivered_at_once(void **state)
{
	unsigned cycles = 0, beside = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct gus_uop_lines asked = { 0 }, at_once = { 0 };
		struct gus_uop_read read = { 0 }, next = { 0 };
		struct code code[OPS + 1] = { { 0 } };
		uint32_t random = seed * 2654435761u;
		struct made m;

		for (unsigned i = 0; i < OPS; i++, random = random * 1664525 + 1013904223)
			code[i] = (struct code){ .length = (uint8_t)(1 + random % 11), .decoded = random >> 8 & 3,
				.microcoded = (random >> 12 & 15) == 0 ? 5 : 0,
				.flags = (random >> 16 & 7) == 0 ? GUS_OP_WIDE : 0 };
		make(&m, code, GUS_CORE_FETCH_UOP_CACHE);
		m.c.uop_cache_wide = seed & 1;
		m.c.uop_cache_second = seed % 3;
		m.c.uop_cache_by_end = seed >> 2 & 1;
		for (uint32_t i = 0; i < m.p->ops_n; i++) {
			uint64_t at = gus_uop_lines_at(&m.c, m.p, &m.p->ops[i], m.p->insns[m.p->ops[i].insn].offset);
			bool begins = !read.lines || !gus_uop_read_takes(&read, &asked, &m.c, m.p, i, at);
			bool taken = (i + seed) % 7 == 0;

			if (begins)
				read = (struct gus_uop_read){ 0 };
			gus_uop_read_put(&read, &asked, &m.c, m.p, i, at, taken);
			assert_int_equal(gus_uop_read_next(&next, &at_once, &m.c, m.p, i, at, taken), begins);
			assert_int_equal(next.uops, read.uops);
			assert_int_equal(next.lines, read.lines);
			assert_int_equal(next.width, read.width);
			assert_int_equal(next.ended, read.ended);
			assert_int_equal(at_once.room, asked.room);
			assert_int_equal(at_once.lines, asked.lines);
			cycles += begins;
			beside += !begins;
		}
		drop(&m);
	}
	assert_in_range(cycles, 100, 1340);
	assert_in_range(beside, 100, 1340);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks),
		cmocka_unit_test(opcodes_in_the_block_before),
		cmocka_unit_test(what_stops_length_decoding),
		cmocka_unit_test(room_for_instructions), cmocka_unit_test(room_for_a_pair),
		cmocka_unit_test(room_in_the_queue),
		cmocka_unit_test(decoders),
		cmocka_unit_test(microcode),
		cmocka_unit_test(what_ends_a_group),
		cmocka_unit_test(fusible),
		cmocka_unit_test(windows),
		cmocka_unit_test(second_lines),
		cmocka_unit_test(wide_constants),
		cmocka_unit_test(what_the_uop_cache_holds),
		cmocka_unit_test(mixed_windows),
		cmocka_unit_test(modes),
		cmocka_unit_test(ends_in_the_loop_buffer),
		cmocka_unit_test(repetitions_in_the_loop_buffer),
		cmocka_unit_test(iterations),
		cmocka_unit_test(steady_front_ends),
		cmocka_unit_test(delivered_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
