/* SPDX-License-Identifier: MIT */
/* arm64 words to forms, classes, registers and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reg_name.h"
#include "symbolizer/insn/insn.h"

static size_t analyse(uint32_t word, struct gus_insn_info *info)
{
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24) };

	return gus_insn_analyse(GUS_ISA_ARM64, bytes, sizeof(bytes), info);
}

static const char *form_of(uint32_t word)
{
	static char text[GUS_INSN_FORM_MAX];
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24) };

	text[0] = 0;
	gus_insn_form_text(GUS_ISA_ARM64, bytes, sizeof(bytes), text, sizeof(text));
	return text;
}

/* "x0=w x1=r x2=ra": what is read, written, conditional, kept, and part of an address, in order of the registers. */
static const char *accesses_of(const struct gus_insn_info *info)
{
	static char text[512];
	size_t n = 0;

	text[0] = 0;
	for (unsigned reg = 1; reg < GUS_A64_REGS; reg++)
		for (unsigned i = 0; i < info->access_count; i++) {
			unsigned use = info->access[i].use;

			if (info->access[i].reg != reg)
				continue;
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s=%s%s%s%s%s", n ? " " : "",
					      reg_name(GUS_ISA_ARM64, reg), use & GUS_ACCESS_READ ? "r" : "",
					      use & GUS_ACCESS_WRITE ? "w" : "", use & GUS_ACCESS_ADDRESS ? "a" : "",
					      use & GUS_ACCESS_CONDITIONAL ? "c" : "", use & GUS_ACCESS_KEEP ? "k" :
						      "");
		}
	return text;
}

static const struct {
	uint32_t word;
	enum gus_insn_class class;
	const char *form, *accesses;
} cases[] = {
	/* Integer: the zero register is nobody, sp is somebody. */
	{ 0x8b020020, GUS_INSN_ALU, "add (x, x, x)", "x0=w x1=r x2=r" },
		/* add x0, x1, x2 */
	{ 0x8b020c20, GUS_INSN_ALU, "add (x, x, x) +lsl1-4", "x0=w x1=r x2=r" },                     /* ..., lsl 3 */
	{ 0x8b021c20, GUS_INSN_ALU, "add (x, x, x) +lsl", "x0=w x1=r x2=r" },                        /* ..., lsl 7 */
	{ 0x8b820c20, GUS_INSN_ALU, "add (x, x, x) +asr", "x0=w x1=r x2=r" },                        /* ..., asr 3 */
	{ 0x8b224020, GUS_INSN_ALU, "add (x, x, w, ext) +uxtw", "x0=w x1=r x2=r" },                  /* ..., w2, uxtw */
	{ 0x910043ff, GUS_INSN_ALU, "add (x, x, imm)", "sp=rw" },
		/* add sp, sp, 16 */
	{ 0xeb01001f, GUS_INSN_ALU, "subs (x, x, x)", "x0=r x1=r nzcv=w" },                          /* cmp x0, x1 */
	{ 0x9a821020, GUS_INSN_MOV, "csel (x, x, x, cond)", "x0=w x1=r x2=r nzcv=r" },
		/* csel x0, x1, x2, ne */
	{ 0xfa411004, GUS_INSN_ALU, "ccmp (x, x, imm, cond)", "x0=r x1=r nzcv=rw" },
		/* ccmp x0, x1, 4, ne */
	{ 0xba020020, GUS_INSN_ALU, "adcs (x, x, x)", "x0=w x1=r x2=r nzcv=rw" },
		/* adcs x0, x1, x2 */
	{ 0x9b027c20, GUS_INSN_MUL, "madd (x, x, x, x) +zr", "x0=w x1=r x2=r" },
		/* mul x0, x1, x2 */
	{ 0x9ac20820, GUS_INSN_DIV, "udiv (x, x, x)", "x0=w x1=r x2=r" },
		/* udiv x0, x1, x2 */
	{ 0xf2a00020, GUS_INSN_MOV, "movk (x, imm)", "x0=rwk" },                                /* movk x0, 1, lsl 16 */
	{ 0xb3407c20, GUS_INSN_SHIFT, "bfm (x, x, imm, imm)", "x0=rwk x1=r" },
		/* bfxil x0, x1, 0, 32 */
	{ 0x93c21420, GUS_INSN_SHIFT, "extr (x, x, x, imm)", "x0=w x1=r x2=r" },
		/* extr x0, x1, x2, 5 */
	{ 0x90000000, GUS_INSN_LEA, "adrp (x, imm)", "x0=w" },                                       /* adrp x0, . */
	/* Branches. */
	{ 0x54000040, GUS_INSN_BRANCH_COND, "b.cond (imm)", "nzcv=r" },                              /* b.eq .+8 */
	{ 0xb4000040, GUS_INSN_BRANCH_COND, "cbz (x, imm)", "x0=r" },                                /* cbz x0, .+8 */
	{ 0x94000002, GUS_INSN_CALL, "bl (imm)", "x30=w" },                                          /* bl .+8 */
	{ 0xd63f0020, GUS_INSN_CALL_INDIRECT, "blr (x)", "x1=r x30=w" },                             /* blr x1 */
	{ 0xd61f0020, GUS_INSN_BRANCH_INDIRECT, "br (x)", "x1=r" },                                  /* br x1 */
	{ 0xd65f03c0, GUS_INSN_RET, "ret (x)", "x30=r" },                                            /* ret */
	/* Memory: a base stands apart from its write-back. */
	{ 0xf9400420, GUS_INSN_LOAD, "ldr (x, [x, imm])", "x0=w x1=ra" },
		/* ldr x0, [x1, 8] */
	{ 0xf8627820, GUS_INSN_LOAD, "ldr (x, [x, x]) +scaled", "x0=w x1=ra x2=ra" },
		/* ldr x0, [x1, x2, lsl 3] */
	{ 0xf8408420, GUS_INSN_LOAD, "ldr (x, [x], imm)", "x0=w x1=ra x1=rw" },
		/* ldr x0, [x1], 8 */
	{ 0xa9bf7bfd, GUS_INSN_STORE, "stp (x, x, [x, imm]!)", "x29=r x30=r sp=ra sp=rw" },
		/* stp x29, x30, [sp, -16]! */
	{ 0xa9400be1, GUS_INSN_LOAD, "ldp (x, x, [x, imm])", "x1=w x2=w sp=ra" },
		/* ldp x1, x2, [sp] */
	{ 0x3dc00420, GUS_INSN_LOAD, "ldr (q, [x, imm])", "x1=ra v0=w" },
		/* ldr q0, [x1, 16] */
	{ 0x4cdf2000, GUS_INSN_LOAD, "ld1 ({ v.16b, v.16b, v.16b, v.16b }, [x], imm)",
	  "x0=ra x0=rw v0=w v1=w v2=w v3=w" },
		  /* ld1 {v0-v3.16b}, [x0], 64 */
	{ 0xc85f7c20, GUS_INSN_ATOMIC, "ldxr (x, [x])", "x0=w x1=ra" },                              /* ldxr x0, [x1] */
	{ 0xf8e20020, GUS_INSN_ATOMIC, "ldaddal (x, x, [x])", "x0=w x1=ra x2=r" },
		/* ldaddal x2, x0, [x1] */
	{ 0xc8a07c41, GUS_INSN_ATOMIC, "cas (x, x, [x])", "x0=rw x1=r x2=ra" },
		/* cas x0, x1, [x2] */
	/* Scalars and vectors. */
	{ 0x1e622820, GUS_INSN_FP_ADD, "fadd (d, d, d)", "v0=w v1=r v2=r fpcr=r" },
		/* fadd d0, d1, d2 */
	{ 0x4e22cc20, GUS_INSN_FP_FMA, "fmla (v.4s, v.4s, v.4s)", "v0=rw v1=r v2=r fpcr=r" },
		/* fmla v0.4s, ... */
	{ 0x6e221c20, GUS_INSN_VEC_LOGIC, "eor (v.16b, v.16b, v.16b)", "v0=w v1=r v2=r" },
		/* eor v0.16b, ... */
	{ 0x6e211c20, GUS_INSN_VEC_LOGIC, "eor (v.16b, v.16b, v.16b) +same", "v0=w v1=r" },
		/* eor v0.16b, v1, v1 */
	{ 0x4ea11c20, GUS_INSN_VEC_LOGIC, "orr (v.16b, v.16b, v.16b) +same", "v0=w v1=r" },
		/* mov v0.16b, v1.16b */
	{ 0x4e82942f, GUS_INSN_VEC_MUL, "sdot (v.4s, v.16b, v.16b)", "v1=r v2=r v15=rw" },
		/* sdot v15.4s, ... */
	{ 0x4e0c1c20, GUS_INSN_SHUFFLE, "ins (v.s[i], w)", "x1=r v0=rwk" },
		/* mov v0.s[1], w1 */
	{ 0x4e284820, GUS_INSN_CRYPTO, "aese (v.16b, v.16b)", "v0=rw v1=r" },
		/* aese v0.16b, v1.16b */
	{ 0x1e260020, GUS_INSN_VEC_MOV, "fmov (w, s)", "x0=w v1=r" },                                /* fmov w0, s1 */
	/* SVE: merging may keep, a governing predicate is read. */
	{ 0x04a20020, GUS_INSN_VEC_INT, "add (z.s, z.s, z.s)", "v0=w v1=r v2=r" },
		/* add z0.s, z1.s, z2.s */
	{ 0x65a20420, GUS_INSN_FP_FMA, "fmla (z.s, p/m, z.s, z.s)", "v0=rwc v1=r v2=r p1=r" },
		/* fmla z0.s, p1/m, ... */
	{ 0xa5424020, GUS_INSN_LOAD, "ld1w ({ z.s }, p/z, [x, x, lsl 2])", "x1=ra x2=ra v0=w p0=r" },
		/* ld1w z0.s, p0/z, ... */
	{ 0x25a11c00, GUS_INSN_MASK, "whilelo (p.s, x, x)", "x0=r x1=r nzcv=w p0=w" },
		/* whilelo p0.s, x0, x1 */
	/* System. */
	{ 0xd53b4200, GUS_INSN_SYSTEM, "mrs (x, op)", "x0=w nzcv=r" },                               /* mrs x0, nzcv */
	{ 0xd53bd040, GUS_INSN_SYSTEM, "mrs (x, op)", "x0=w system=r" },
		/* mrs x0, tpidr_el0 */
	{ 0xd503201f, GUS_INSN_NOP, "nop", "" },
	{ 0xd5033bbf, GUS_INSN_FENCE, "dmb (imm)", "" },
};

static void words_have_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_insn_info info;

		assert_int_equal(analyse(cases[i].word, &info), 4);
		assert_string_equal(form_of(cases[i].word), cases[i].form);
		assert_string_equal(accesses_of(&info), cases[i].accesses);
		assert_string_equal(gus_insn_class_name(info.class), gus_insn_class_name(cases[i].class));
		assert_int_equal(info.form, gus_insn_form_hash(cases[i].form, strlen(cases[i].form)));
	}
}

static void memory_is_described(void **state)
{
	static const struct {
		uint32_t word;
		uint8_t base, index, scale, use;
		uint32_t bits;
		int64_t displacement;
	} wanted[] = {
		{ 0xf9400420, GUS_A64_X0 + 1, 0, 0, GUS_ACCESS_READ, 64, 8 },                    /* ldr x0, [x1, 8] */
		/* ldr x0, [x1, x2, lsl 3] */
		{ 0xf8627820, GUS_A64_X0 + 1, GUS_A64_X0 + 2, 8, GUS_ACCESS_READ, 64, 0 },
		{ 0xf8626820, GUS_A64_X0 + 1, GUS_A64_X0 + 2, 1, GUS_ACCESS_READ, 64, 0 },       /* ldr x0, [x1, x2] */
		{ 0xf8408420, GUS_A64_X0 + 1, 0, 0, GUS_ACCESS_READ, 64, 0 },                    /* ldr x0, [x1], 8 */
		{ 0xf85f8c20, GUS_A64_X0 + 1, 0, 0, GUS_ACCESS_READ, 64, -8 },                   /* ldr x0, [x1, -8]! */
		/* stp x29, x30, [sp, -16]! */
		{ 0xa9bf7bfd, GUS_A64_SP, 0, 0, GUS_ACCESS_WRITE, 128, -16 },
		{ 0x3d800421, GUS_A64_X0 + 1, 0, 0, GUS_ACCESS_WRITE, 128, 16 },                 /* str q1, [x1, 16] */
		{ 0x39400420, GUS_A64_X0 + 1, 0, 0, GUS_ACCESS_READ, 8, 1 },                     /* ldrb w0, [x1, 1] */
		{ 0x58000040, GUS_A64_PC, 0, 0, GUS_ACCESS_READ, 64, 8 },                        /* ldr x0, .+8 */
		/* ld1 {v0-v3.16b}, [x0], 64 */
		{ 0x4cdf2000, GUS_A64_X0, 0, 0, GUS_ACCESS_READ, 512, 0 },
		/* ld1 {v0.b}[5], [x0] */
		{ 0x0d401400, GUS_A64_X0, 0, 0, GUS_ACCESS_READ, 8, 0 },
		/* ldaddal x2, x0, [x1] */
		{ 0xf8e20020, GUS_A64_X0 + 1, 0, 0, GUS_ACCESS_READ | GUS_ACCESS_WRITE, 64, 0 },
		/* stxr w0, x1, [x2] */
		{ 0xc8007c41, GUS_A64_X0 + 2, 0, 0, GUS_ACCESS_WRITE | GUS_ACCESS_CONDITIONAL, 64, 0 },
	};
	struct gus_insn_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		analyse(wanted[i].word, &info);
		assert_int_equal(info.memory_count, 1);
		assert_int_equal(info.memory[0].base, wanted[i].base);
		assert_int_equal(info.memory[0].index, wanted[i].index);
		assert_int_equal(info.memory[0].scale, wanted[i].scale);
		assert_int_equal(info.memory[0].use, wanted[i].use);
		assert_int_equal(info.memory[0].bits, wanted[i].bits);
		assert_int_equal(info.memory[0].displacement, wanted[i].displacement);
	}
	/* ld1w { z0.s }, p0/z, [x1, z2.s, uxtw]: four elements, each may be left out. */
	analyse(0x85024020, &info);
	assert_int_equal(info.class, GUS_INSN_GATHER);
	assert_int_equal(info.memory[0].base, GUS_A64_X0 + 1);
	assert_int_equal(info.memory[0].index, GUS_A64_V0 + 2);
	assert_int_equal(info.memory[0].elements, 4);
	assert_int_equal(info.memory[0].use, GUS_ACCESS_READ | GUS_ACCESS_CONDITIONAL | GUS_ACCESS_GATHER);
}

static void idioms_and_pairs_are_candidates(void **state)
{
	static const struct { uint32_t word, flag; int first, second; } wanted[] = {
		{ 0xaa0103e0, GUS_INSN_MOVE, GUS_FUSE_COMPARE_ZERO, 0 },          /* mov x0, x1 */
		{ 0x91000020, GUS_INSN_MOVE, GUS_FUSE_COMPARE_ZERO, GUS_FUSE_MOVK }, /* mov x0, sp as add x0, x1, 0 */
		{ 0x4ea11c20, GUS_INSN_MOVE, 0, 0 },                              /* mov v0.16b, v1.16b */
		{ 0x1e604020, GUS_INSN_MOVE, 0, 0 },                              /* fmov d0, d1 */
		{ 0x6e211c20, GUS_INSN_ZERO_IDIOM, 0, 0 },                        /* eor v0.16b, v1.16b, v1.16b */
		{ 0xd2800000, GUS_INSN_ZERO_IDIOM, GUS_FUSE_MOVW, 0 },            /* mov x0, 0 */
		{ 0x6f00e400, GUS_INSN_ZERO_IDIOM, 0, 0 },                        /* movi v0.2d, 0 */
		{ 0xeb01001f, 0, GUS_FUSE_FLAGS, 0 },                             /* cmp x0, x1 */
		{ 0x54000040, 0, 0, GUS_FUSE_COND },                              /* b.eq */
		{ 0x4e284820, 0, GUS_FUSE_AES, 0 },                               /* aese */
		{ 0x4e286820, 0, 0, GUS_FUSE_AESMC },                             /* aesmc */
		{ 0x90000000, 0, GUS_FUSE_MOVW, 0 },                              /* adrp */
		{ 0xb4000040, 0, 0, GUS_FUSE_CBZ },                               /* cbz */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		struct gus_insn_info info;

		analyse(wanted[i].word, &info);
		assert_int_equal(info.flags & (GUS_INSN_MOVE | GUS_INSN_ZERO_IDIOM), wanted[i].flag);
		assert_int_equal(info.fuse_first, wanted[i].first);
		assert_int_equal(info.fuse_second, wanted[i].second);
	}
}

static void branches_say_where_to(void **state)
{
	struct gus_insn_info info;

	(void)state;
	analyse(0x54000040, &info); /* b.eq .+8 */
	assert_int_equal(info.immediate, 4);
	analyse(0x17ffffff, &info); /* b .-4 */
	assert_int_equal(info.immediate, -8);
	analyse(0xb4000040, &info); /* cbz x0, .+8 */
	assert_int_equal(info.immediate, 4);
	analyse(0x37f80041, &info); /* tbnz w1, 31, .+8 */
	assert_int_equal(info.immediate, 4);
}

/* What no CPU decodes: the undefined encodings, shifts by more than a word has bits, masks of nothing. */
static void some_words_are_no_instructions(void **state)
{
	static const uint32_t words[] = { 0xffffffff, 0x8bc20020, 0x0b028020, 0x927ffc00 };
	struct gus_insn_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_int_equal(analyse(words[i], &info), 4);
		assert_int_equal(info.class, GUS_INSN_BAD);
		assert_int_equal(info.form, 0);
		assert_string_equal(form_of(words[i]), "");
	}
	for (size_t size = 0; size < 4; size++)
		assert_int_equal(gus_insn_analyse(GUS_ISA_ARM64, words, size, &info), 0);
}

/* Where Capstone has no text (here SVE, which some versions know), the form's stands in. */
static void text_is_never_missing(void **state)
{
	struct gus_insn insn;

	(void)state;
	assert_int_equal(gus_insn_decode(GUS_ISA_ARM64, "\x20\x00\xa2\x04", 4, 0, &insn), 4);
	assert_true(!strcmp(insn.text, "add (z.s, z.s, z.s)") || !strcmp(insn.text, "add z0.s, z1.s, z2.s"));
}

/* Any word: registers that exist, a form that is the hash of its text, the same answer again. */
static void any_word_has_an_answer(void **state)
{
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct gus_insn_info info, again;
		const char *text;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		assert_int_equal(analyse((uint32_t)seed, &info), 4);
		analyse((uint32_t)seed, &again);
		assert_memory_equal(&info, &again, sizeof(info));
		text = form_of((uint32_t)seed);
		assert_in_range(strlen(text), 0, GUS_INSN_FORM_MAX - 1);
		assert_true(info.form == (*text ? gus_insn_form_hash(text, strlen(text)) : 0));
		assert_true(info.access_count < GUS_INSN_ACCESSES);
		for (unsigned k = 0; k < info.access_count; k++) {
			assert_in_range(info.access[k].reg, 1, GUS_A64_REGS - 1);
			assert_int_not_equal(info.access[k].bits, 0);
		}
		for (unsigned k = 0; k < info.memory_count; k++) {
			assert_true(info.memory[k].base < GUS_A64_REGS && info.memory[k].index < GUS_A64_REGS);
			assert_true(!info.memory[k].index == !info.memory[k].scale);
		}
	}
}

static void what_is_outside(void **state)
{
	static const uint32_t outside[] = {
		0xd4000001, 0xd4000022, 0xd4000003,     /* svc, hvc, smc */
		0xd4200020, 0xd4400000, 0x00000000,     /* brk, hlt, udf */
		0xd69f03e0, 0xd6bf03e0, 0xd69f0bff,     /* eret, drps, eretaa */
		0xd503205f, 0xd503207f, 0xd5031020, 0xd5031003, /* wfe, wfi, wfit, wfet */
		0xd5182000, 0xd5380000,                 /* msr ttbr0_el1, mrs midr_el1 */
		0xd50342df, 0xd50041bf, 0xd500419f,     /* msr daifset, spsel, pan */
		0xd508871f, 0xd5087800, 0xd5087640,     /* tlbi vmalle1, at s1e1r, dc isw */
	}, own[] = {
		0xd53be040, 0xd51bd040, 0xd51b4401, 0xd53b4201, /* cntvct_el0, tpidr_el0, fpcr, nzcv */
		0xd50b7420, 0xd50b7520, 0xd50b7b21,     /* dc zva, ic ivau, dc cvau */
		0xd503413f, 0xd503415f, 0xd500401f,     /* msr ssbs, msr dit, cfinv */
		0xd503201f, 0xd503203f, 0xd503245f, 0xd50320bf, 0xd503237f, /* nop, yield, bti c, sevl, pacibsp */
		0xd5033fdf, 0xd5033bbf,                 /* isb, dmb ish */
		0xd65f03c0, 0xd61f0000, 0x94000001,     /* ret, br, bl */
	};
	struct gus_insn_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
		print_message("%08x\n", outside[i]);
		assert_int_equal(analyse(outside[i], &info), 4);
		assert_true(info.flags & GUS_INSN_OUTSIDE);
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		print_message("%08x\n", own[i]);
		assert_int_equal(analyse(own[i], &info), 4);
		assert_false(info.flags & GUS_INSN_OUTSIDE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_have_forms),
		cmocka_unit_test(memory_is_described),
		cmocka_unit_test(idioms_and_pairs_are_candidates),
		cmocka_unit_test(branches_say_where_to),
		cmocka_unit_test(what_is_outside),
		cmocka_unit_test(some_words_are_no_instructions),
		cmocka_unit_test(text_is_never_missing),
		cmocka_unit_test(any_word_has_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
