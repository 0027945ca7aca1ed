/* SPDX-License-Identifier: MIT */
/* The arithmetic of the vectorising what-if: quadrants, VP3's table of bandwidths, intervals; what scalar instructions
 * become; and mock-ups of loops whose code stands here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/whatif/vectorised.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/* At theta itself a half gains. */
static void four_quadrants(void **state)
{
	static const struct { double fp, ls; enum gus_quadrant quadrant; } cases[] = {
		{ 1.2, 1.2, GUS_QUADRANT_BOTH }, { 1.2, 1.199, GUS_QUADRANT_FP }, { 1.199, 1.2, GUS_QUADRANT_LS },
		{ 1.199, 1.199, GUS_QUADRANT_NEITHER }, { 8, 0.5, GUS_QUADRANT_FP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(gus_quadrant_of(cases[i].fp, cases[i].ls, GUS_VECTORISED_THETA), cases[i].quadrant);
	assert_string_equal(gus_quadrant_name(GUS_QUADRANT_LS), "memory");
	assert_int_equal(gus_quadrant_of(1.3, 1.3, 1.5), GUS_QUADRANT_NEITHER);
}

/* Table 6.1 of Palomares 2015, by level and size of words. */
static void table_6_1(void **state)
{
	const double all[GUS_HITS] = { [GUS_HIT_MEMORY] = 1 }, half[GUS_HITS] = { [GUS_HIT_L2] = 0.5 },
		none[GUS_HITS] = { 0 }, more[GUS_HITS] = { [GUS_HIT_L2] = 0.8, [GUS_HIT_L3] = 0.8 };

	(void)state;
	assert_true(near(gus_vectorised_bandwidth(GUS_HIT_L2, 4), 2.04));
	assert_true(near(gus_vectorised_bandwidth(GUS_HIT_L3, 4), 1.63));
	assert_true(near(gus_vectorised_bandwidth(GUS_HIT_MEMORY, 4), 1.25));
	assert_true(near(gus_vectorised_bandwidth(GUS_HIT_L2, 8), 1.79));
	assert_true(near(gus_vectorised_bandwidth(GUS_HIT_L3, 8), 1.40));
	assert_true(near(gus_vectorised_bandwidth(GUS_HIT_MEMORY, 8), 1.10));
	assert_true(near(gus_vectorised_scaled(4, none, 8), 4));
	assert_true(near(gus_vectorised_scaled(4, all, 8), 1.10));
	assert_true(near(gus_vectorised_scaled(4, half, 4), 1 / (0.5 / 2.04 + 0.5 / 4)));
	/* No more than all of the time is transfers: the nearer level comes first. */
	assert_true(near(gus_vectorised_scaled(4, more, 4), 1 / (0.8 / 2.04 + 0.2 / 1.63)));
}

static void intervals(void **state)
{
	struct gus_vector_gain g = gus_vectorised_gain(3, 2, 0.25);

	(void)state;
	assert_true(near(g.gain, 3) && near(g.low, 1.6) && near(g.high, 3.75));
	g = gus_vectorised_gain(3, 3, 0);
	assert_true(near(g.low, 3) && near(g.high, 3));
}

/* An instruction as a body has it. */
static struct gus_turning_insn insn_of(const uint8_t *bytes, size_t size, struct gus_insn_info *info)
{
	struct gus_turning_insn insn = { .info = info, .bytes = bytes };

	assert_int_equal(gus_insn_analyse(GUS_ISA_X86_64, bytes, size, info), size);
	gus_insn_form_text(GUS_ISA_X86_64, bytes, size, insn.form, sizeof(insn.form));
	return insn;
}

static void packs(void **state)
{
	static const struct { uint8_t bytes[8], size, from, to, opcode; enum gus_pack_kind kind; bool any; } cases[] = {
		{ { 0xf2, 0x0f, 0x58, 0xc1 }, 4, 8, 8, 0x58, GUS_PACK_TWO, true },      /* addsd xmm0, xmm1 */
		{ { 0xf3, 0x0f, 0x5e, 0xc1 }, 4, 4, 4, 0x5e, GUS_PACK_TWO, false },     /* divss xmm0, xmm1 */
		{ { 0xc4, 0xe2, 0xf1, 0xb9, 0xc2 }, 5, 8, 8, 0xb8, GUS_PACK_FMA, true },/* vfmadd231sd */
		{ { 0xf2, 0x0f, 0x51, 0xc1 }, 4, 8, 8, 0x51, GUS_PACK_ONE, false },     /* sqrtsd */
		{ { 0xf2, 0x0f, 0x5a, 0xc1 }, 4, 8, 4, 0x5a, GUS_PACK_CONVERT, false }, /* cvtsd2ss */
		{ { 0xf2, 0x0f, 0x2a, 0xc0 }, 4, 4, 8, 0xe6, GUS_PACK_CONVERT, false }, /* cvtsi2sd xmm0, eax */
		{ { 0xf2, 0x48, 0x0f, 0x2a, 0xc0 }, 5, 0, 0, 0, GUS_PACK_NONE, false }, /* ... xmm0, rax */
		{ { 0xf2, 0x0f, 0x10, 0x07 }, 4, 8, 8, 0, GUS_PACK_MOVE, false },       /* movsd xmm0, [rdi] */
		{ { 0x01, 0xc8 }, 2, 4, 4, 0xfe, GUS_PACK_TWO, true },                  /* add eax, ecx */
		{ { 0x00, 0xc8 }, 2, 1, 1, 0xfc, GUS_PACK_TWO, true },                  /* add al, cl */
		{ { 0x0f, 0xaf, 0xc1 }, 3, 4, 4, 0x40, GUS_PACK_TWO, true },            /* imul eax, ecx */
		{ { 0x0f, 0xb6, 0x07 }, 3, 1, 4, 1, GUS_PACK_MOVE, false },             /* movzx eax, byte [rdi] */
		{ { 0xf3, 0x0f, 0xb8, 0xc1 }, 4, 0, 0, 0, GUS_PACK_NONE, false },       /* popcnt eax, ecx */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_insn_info info;
		struct gus_turning_insn insn = insn_of(cases[i].bytes, cases[i].size, &info);
		struct gus_pack pack;

		assert_int_equal(gus_pack_find(&insn, &pack), cases[i].kind != GUS_PACK_NONE);
		assert_int_equal(pack.kind, cases[i].kind);
		if (pack.kind == GUS_PACK_NONE)
			continue;
		assert_int_equal(pack.from, cases[i].from);
		assert_int_equal(pack.to, cases[i].to);
		assert_int_equal(pack.associative, cases[i].any);
		if (cases[i].kind != GUS_PACK_MOVE)
			assert_int_equal(pack.vex.opcode, cases[i].opcode);
	}
}

/* A body out of instructions one after the other, in turns whose accesses go on by a stride each. */
struct made { struct gus_turning b; struct gus_insn_info infos[8]; };

static void make(struct made *m, const uint8_t *code, size_t size, const int64_t *strides, unsigned turns)
{
	unsigned n = 0;

	*m = (struct made){ .b = { .head = 0x1000, .stays = 1 } };
	for (size_t at = 0; at < size; at += m->infos[n++].length) {
		struct gus_insn_info *info = &m->infos[n];
		struct gus_turning_insn insn = { .info = info, .bytes = code + at, .address = 0x1000 + at,
			.access = m->b.accesses_n };

		assert_true(gus_insn_analyse(GUS_ISA_X86_64, code + at, size - at, info));
		gus_insn_form_text(GUS_ISA_X86_64, code + at, size - at, insn.form, sizeof(insn.form));
		for (unsigned k = 0; k < info->memory_count; k++)
			insn.accesses_n += (info->memory[k].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE)) != 0;
		m->b.accesses_n += insn.accesses_n;
		gus_vec_push(&m->b.insns, insn);
	}
	for (unsigned turn = 0; turn < turns; turn++) {
		gus_vec_push(&m->b.turns, (struct gus_turning_turn){ .first = !turn });
		for (unsigned k = 0; k < n; k++)
			gus_vec_push(&m->b.executed, true);
		for (unsigned k = 0; k < m->b.accesses_n; k++)
			gus_vec_push(&m->b.accesses, (struct gus_op_access){ .known = true,
				.address = (uint64_t)(0x100000 * (k + 1) + turn * strides[k]) });
	}
}

/* addsd xmm0, [rdi]; add rdi, 8; dec rcx; jnz: a sum. */
static const uint8_t sum[] = { 0xf2, 0x0f, 0x58, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x48, 0xff, 0xc9, 0x75, 0xf3 };

static void mockup_of_a_sum(void **state)
{
	static const int64_t strides[] = { 8 };
	struct gus_mockup m, tail;
	struct gus_packing p;
	struct made made;

	(void)state;
	make(&made, sum, sizeof(sum), strides, 16);
	assert_null(gus_packing_make(&p, &made.b, 32));
	assert_true(p.packed == 1 && p.reduces_fp && p.arithmetic && p.memory);
	assert_int_equal(p.ways[GUS_PACKING_BESIDE], 1);
	gus_mockup_make(&m, &tail, &p, 32, GUS_MOCKUP_PARTIAL);
	assert_int_equal(m.turns, 4);
	assert_int_equal(m.lengths.n, 4);       /* vaddpd ymm, ymm, [rdi] and three of control */
	assert_int_equal(m.accesses.n, 1);
	assert_int_equal(m.accesses.v[0].turns, 4);
	assert_int_equal(tail.lengths.n, 4);    /* two halvings: extract, add; shuffle, add */
	gus_mockup_free(&m);
	gus_mockup_free(&tail);
	gus_packing_free(&p);
	gus_turning_free(&made.b);
}

/* movsd xmm1, [rdi]; mulsd xmm0, xmm1 | movsd [rdi+8], xmm1: what a turn stores the next one loads. */
static const uint8_t shifted[] = { 0xf2, 0x0f, 0x10, 0x0f, 0xf2, 0x0f, 0x11, 0x4f, 0x08, 0x48, 0x83, 0xc7, 0x08,
	0x48, 0xff, 0xc9, 0x75, 0xee };

static void carried_through_memory(void **state)
{
	static const int64_t strides[] = { 8, 8 };
	struct gus_packing p;
	struct made made;
	char *why;

	(void)state;
	make(&made, shifted, sizeof(shifted), strides, 16);
	for (unsigned turn = 0; turn < 16; turn++)
		made.b.accesses.v[2 * turn + 1].address = made.b.accesses.v[2 * turn].address + 8;
	why = gus_packing_make(&p, &made.b, 32);
	assert_non_null(why);
	assert_non_null(strstr(why, "the next turn loads what it stores"));
	free(why);
	gus_packing_free(&p);
	/* Five turns away it is in nobody's way: four are done at once. */
	for (unsigned turn = 0; turn < 16; turn++)
		made.b.accesses.v[2 * turn + 1].address = made.b.accesses.v[2 * turn].address + 40;
	assert_null(gus_packing_make(&p, &made.b, 32));
	gus_packing_free(&p);
	/* Four turns away it is in nobody's way either, three are. */
	for (unsigned turn = 0; turn < 16; turn++)
		made.b.accesses.v[2 * turn + 1].address = made.b.accesses.v[2 * turn].address + 24;
	why = gus_packing_make(&p, &made.b, 32);
	assert_non_null(why);
	free(why);
	gus_packing_free(&p);
	gus_turning_free(&made.b);
}

/* divsd xmm0, [rdi]: a quotient of the turn before is no sum. */
static const uint8_t quotient[] = { 0xf2, 0x0f, 0x5e, 0x07, 0x48, 0x83, 0xc7, 0x08, 0x48, 0xff, 0xc9, 0x75, 0xf3 };

static void chain_in_the_way(void **state)
{
	static const int64_t strides[] = { 8 };
	struct gus_packing p;
	struct made made;
	char *why;

	(void)state;
	make(&made, quotient, sizeof(quotient), strides, 16);
	why = gus_packing_make(&p, &made.b, 32);
	assert_non_null(why);
	assert_non_null(strstr(why, "divsd"));
	free(why);
	gus_packing_free(&p);
	gus_turning_free(&made.b);
}

/* movsxd rax, [rsi]; addsd xmm0, [rdx+rax*8]; add rsi, 4; dec rcx; jnz. Elements are anywhere: of those of a vector,
 * each is loaded after its index, or they are gathered. */
static const uint8_t indexed[] = { 0x48, 0x63, 0x06, 0xf2, 0x0f, 0x58, 0x04, 0xc2, 0x48, 0x83, 0xc6, 0x04, 0x48, 0xff,
	0xc9, 0x75, 0xef };

static void elements_anywhere(void **state)
{
	static const int64_t strides[] = { 4, 0 };
	static const unsigned accesses[GUS_MOCKUP_MODES] = { 1, 8, 2 };
	struct gus_packing p;
	struct made made;

	(void)state;
	make(&made, indexed, sizeof(indexed), strides, 16);
	for (unsigned turn = 0; turn < 16; turn++)
		made.b.accesses.v[2 * turn + 1].address = 0x200000 + turn * turn * 64;
	assert_null(gus_packing_make(&p, &made.b, 32));
	assert_int_equal(p.insns.v[0].role, GUS_PACKING_INDEX);
	assert_int_equal(p.ways[GUS_PACKING_ANYWHERE], 1);
	for (unsigned mode = 0; mode < GUS_MOCKUP_MODES; mode++) {
		struct gus_mockup m;

		gus_mockup_make(&m, NULL, &p, 32, (enum gus_mockup_mode)mode);
		assert_int_equal(m.turns, 4);
		assert_int_equal(m.accesses.n, accesses[mode]);
		gus_mockup_free(&m);
	}
	gus_packing_free(&p);
	gus_turning_free(&made.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_quadrants), cmocka_unit_test(table_6_1), cmocka_unit_test(intervals),
		cmocka_unit_test(packs), cmocka_unit_test(mockup_of_a_sum), cmocka_unit_test(carried_through_memory),
		cmocka_unit_test(chain_in_the_way), cmocka_unit_test(elements_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
