/* SPDX-License-Identifier: MIT */
/* What is to be timed of an instruction, and the instructions that close its chains: registers, who reads and writes
 * them, what is refused and why, and the ways from one kind of register to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/calibration/host.h"
#include "model/calibration/links.h"
#include "model/calibration/micro.h"
#include "model/calibration/pool.h"
#include "model/calibration/subject.h"
#include "reg_name.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))
#define CODE(text) (const uint8_t *)(text), sizeof(text) - 1

#define X86 GUS_ISA_X86_64
#define ARM GUS_ISA_ARM64

static struct gus_subject subject_of(const struct gus_calibration_host *host, const uint8_t *bytes, uint32_t size)
{
	struct gus_subject s;
	struct gus_pool pool;

	gus_pool_of(&pool, host->isa);
	gus_subject_of(&s, host, &pool, bytes, size);
	return s;
}

/* Its ends in a line: an operand by its number or a register by its name, what carries it, and what is done. */
static const char *ends_of(const struct gus_subject *s)
{
	static const char carriers[] = { '?', 'g', 'v', 'm', 'f', 'a' };
	static char text[256];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < s->ends; i++) {
		const struct gus_subject_end *e = &s->end[i];
		char what[16];

		snprintf(what, sizeof(what), "%d", e->operand);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s:%c%s%s%s", i ? " " : "",
				      e->operand < 0 ? reg_name(s->isa, e->reg) : what, carriers[e->carrier],
				      e->read ? "r" : "", e->write ? "w" : "", e->base ? "b" : "");
	}
	return text;
}

/* Operands are put apart, into registers of the pool from its end on, and what is implied stays where it is. */
static void ends_of_instructions(void **state)
{
	static const struct { enum gus_isa isa; const uint8_t *bytes; uint32_t size; const char *ends, *text; }
	cases[] = {
		{ X86, CODE("\x48\x01\xc8"), "0:grw 1:gr cf:fw of:fw szap:fw",
			"add r14, r13" },
		{ X86, CODE("\x48\x8b\x46\x08"), "0:gw 1:arb",
			"mov r14, [r13+0x08]" },
		{ X86, CODE("\x48\x89\x04\xce"), "0:arb 1:ar 2:gr",
			"mov [r14+r13*8], r12" },
		{ X86, CODE("\x48\xf7\xe1"), "0:gr rax:grw rdx:gw cf:fw of:fw szap:fw",
			"mul r14" },
		{ X86, CODE("\x48\x0f\xaf\xc0"), "0:grw 1:gr cf:fw of:fw szap:fw",
			"imul r14, r13" },
		{ X86, CODE("\x48\xd3\xe0"), "0:grw rcx:gr cf:frw of:frw szap:frw",
			"shl r14, cl" },
		{ X86, CODE("\xc5\xf5\x58\xc2"), "0:vw 1:vr 2:vr",
			"vaddpd ymm15, ymm14, ymm13" },
		{ X86, CODE("\x62\xf1\xf5\x49\x58\xc2"), "0:vrw 1:mr 2:vr 3:vr",
			"vaddpd zmm15 {k7}, zmm14, zmm13" },
		{ X86, CODE("\x48\x0f\x44\xc1"), "0:grw 1:gr szap:fr",
			"cmovz r14, r13" },
		{ X86, CODE("\x66\x0f\x2e\xc1"), "0:vr 1:vr cf:fw of:fw szap:fw",
			"ucomisd xmm15, xmm14" },
		{ X86, CODE("\x48\x19\xc0"), "0:grw cf:frw of:fw szap:fw",
			"sbb r14, r14" }, /* equal registers make its form, and stay equal */
		{ ARM, CODE("\x20\x00\x02\x8b"), "0:gw 1:gr 2:gr",
			"add x13, x12, x11" },
		{ ARM, CODE("\x20\x78\x62\xf8"), "0:gw 1:arb 2:ar",
			"ldr x13, [x12, x11, lsl #3]" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (uint32_t behind = 0; behind < 2; behind++) { /* a byte behind it is not of it */
			const struct gus_calibration_host host = { .isa = cases[i].isa, .avx2 = true, .fma = true,
				.avx512 = true };
			uint8_t bytes[GUS_INSN_BYTES] = { 0 };
			struct gus_subject s;
			struct gus_insn insn;

			memcpy(bytes, cases[i].bytes, cases[i].size);
			s = subject_of(&host, bytes, cases[i].size + behind);
			if (s.refused)
				fail_msg("case %zu: %s", i, s.refused);
			gus_insn_decode(s.isa, s.bytes, s.size, 0, &insn);
			assert_string_equal(ends_of(&s), cases[i].ends);
			assert_string_equal(insn.text, cases[i].text);
			assert_int_equal(s.size, insn.length);
			assert_int_equal(s.tied, strncmp(insn.text, "sbb", 3) == 0);
			assert_int_equal(gus_subject_loads(&s), strstr(insn.text, ", [") != NULL);
			assert_int_equal(gus_subject_stores(&s), strstr(insn.text, "mov [") != NULL);
		}
}

/* What the CPU has not, what cannot be another register, and what changes where it goes. */
static void what_is_refused(void **state)
{
	static const struct { struct gus_calibration_host host; const uint8_t *bytes; uint32_t size; const char *why; }
	cases[] = {
		{ { .isa = X86, .fma = true }, CODE("\xc5\xf5\x58\xc2"), "the CPU has no AVX2" },
		{ { .isa = X86, .avx2 = true }, CODE("\xc4\xe2\xf5\xb8\xc2"), "the CPU has no FMA" },
		{ { .isa = X86, .avx2 = true, .fma = true },
			CODE("\x62\xf1\xf5\x49\x58\xc2"), "the CPU has no AVX-512" },
		{ { .isa = X86, .avx2 = true }, CODE("\xc4\xe1\xfb\x92\xc8"), "the CPU has no AVX-512" },
		{ { .isa = X86 }, CODE("\xc4\xe2\xf0\xf2\xc2"), NULL }, /* andn has no vectors */
		{ { .isa = X86 }, CODE("\x48\x01"), "of no class that we know" }, /* cut */
		{ { .isa = X86 }, CODE("\x06"), "no instruction" },
		{ { .isa = X86 }, CODE("\x48\x0f\xab\x06"), "an address that depends on an operand" }, /* bts */
		{ { .isa = X86 }, CODE("\x48\x0f\xab\xc8"), NULL },
		{ { .isa = X86 }, CODE("\x88\xe0"), "an operand that cannot be another register" },
		{ { .isa = X86 }, CODE("\x67\x8b\x06"), "an address of 32 bits" },
		{ { .isa = X86 }, CODE("\x8b\x86\x00\x00\x00\x40"), NULL }, /* 1 GiB from its base, and a byte more */
		{ { .isa = X86 }, CODE("\x8b\x86\x01\x00\x00\x40"), "an address far from its base" },
		{ { .isa = X86 }, CODE("\x8b\x86\x00\x00\x00\xc0"), NULL },
		{ { .isa = X86 }, CODE("\x8b\x86\xff\xff\xff\xbf"), "an address far from its base" },
		{ { .isa = X86 }, CODE("\xfc"), "writes a register that is not ours to write" }, /* cld */
		{ { .isa = ARM }, CODE("\x20\x84\x40\xf8"), "an address that changes" }, /* ldr x0, [x1], #8 */
		{ { .isa = ARM }, CODE("\x20\x04\x40\xf9"), NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_subject s = subject_of(&cases[i].host, cases[i].bytes, cases[i].size);

		if (!s.refused != !cases[i].why || (s.refused && strcmp(s.refused, cases[i].why) != 0))
			fail_msg("case %zu: %s", i, s.refused ? s.refused : "is taken");
	}
}

/* Out of a file by the general registers, and from these into another. */
static void ways_between_carriers(void **state)
{
	enum { G = GUS_CARRIER_GENERAL, V = GUS_CARRIER_VECTOR, M = GUS_CARRIER_MASK, F = GUS_CARRIER_FLAGS,
		A = GUS_CARRIER_ADDRESS };
	static const struct { int from, to, link, next; } cases[] = {
		{ G, G, GUS_LINK_ADD, G }, { G, A, GUS_LINK_ADD, A }, { G, V, GUS_LINK_TO_VECTOR, V },
		{ G, M, GUS_LINK_TO_MASK, M }, { G, F, GUS_LINK_TO_FLAGS, F }, { V, V, GUS_LINK_FROM_VECTOR, G },
		{ V, A, GUS_LINK_FROM_VECTOR, G }, { M, V, GUS_LINK_FROM_MASK, G }, { F, G, GUS_LINK_FROM_FLAGS, G },
		{ GUS_CARRIER_NONE, G, GUS_LINK_NONE, G }, { A, G, GUS_LINK_NONE, G },
		{ G, GUS_CARRIER_NONE, GUS_LINK_NONE, GUS_CARRIER_NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		enum gus_carrier next;

		assert_int_equal(gus_link_towards((enum gus_carrier)cases[i].from,
						  (enum gus_carrier)cases[i].to, &next),
				 cases[i].link);
		assert_int_equal(next, cases[i].next);
	}
}

/* From the third register of a file to the second, with the fourth as a constant. */
static void links_as_instructions(void **state)
{
	static const struct { struct gus_link_style style; enum gus_link link; const char *text, *form; } cases[] = {
		{ { X86, false, 128, 0 }, GUS_LINK_TO_VECTOR, "movq xmm1, rdx", "MOVQ (XMM, R64)" },
		{ { X86, true, 128, 0 }, GUS_LINK_TO_VECTOR, "vmovq xmm1, rdx", "VMOVQ (XMM, R64)" },
		{ { X86, false, 128, 0 }, GUS_LINK_FROM_VECTOR, "movq rcx, xmm2", "MOVQ (R64, XMM)" },
		{ { X86, true, 512, 0 }, GUS_LINK_FROM_VECTOR, "vmovq rcx, xmm2", "VMOVQ (R64, XMM)" },
		{ { X86, true, 512, 0 }, GUS_LINK_TO_MASK, "kmovq k2, rdx", "KMOVQ (K, R64)" },
		{ { X86, false, 128, 0 }, GUS_LINK_FROM_MASK, "kmovq rcx, k3", "KMOVQ (R64, K)" },
		{ { X86, false, 128, 0 }, GUS_LINK_TO_FLAGS, "test rdx, rdx", "TEST (R64, R64)" },
		{ { X86, false, 128, GUS_X86_CF }, GUS_LINK_FROM_FLAGS, "cmovb rcx, rbx", "CMOVB (R64, R64)" },
		{ { X86, false, 128, GUS_X86_SZAP }, GUS_LINK_FROM_FLAGS, "cmovz rcx, rbx", "CMOVZ (R64, R64)" },
		{ { X86, false, 128, GUS_X86_OF }, GUS_LINK_FROM_FLAGS, "cmovo rcx, rbx", "CMOVO (R64, R64)" },
		{ { X86, false, 128, 0 }, GUS_LINK_ADD, "add rcx, rdx", "ADD_01 (R64, R64)" },
		{ { X86, false, 128, 0 }, GUS_LINK_ZERO, "and rcx, 0x00", "AND (R64, 0)" },
		{ { X86, false, 128, 0 }, GUS_LINK_DIGITS, "orps xmm1, xmm3", "ORPS (XMM, XMM)" },
		{ { X86, true, 128, 0 }, GUS_LINK_DIGITS, "vorps xmm1, xmm1, xmm3", "VORPS (XMM, XMM, XMM)" },
		{ { X86, true, 256, 0 }, GUS_LINK_DIGITS, "vorps ymm1, ymm1, ymm3", "VORPS (YMM, YMM, YMM)" },
		{ { X86, true, 512, 0 }, GUS_LINK_DIGITS, "vpord zmm1, zmm1, zmm3", "VPORD (ZMM, ZMM, ZMM)" },
		{ { X86, false, 256, 0 }, GUS_LINK_DIGITS, NULL, NULL },
		{ { ARM, false, 128, 0 }, GUS_LINK_TO_VECTOR, "fmov d1, x4", "fmov (d, x)" },
		{ { ARM, false, 128, 0 }, GUS_LINK_FROM_VECTOR, "fmov x3, d2", "fmov (x, d)" },
		{ { ARM, false, 128, 0 }, GUS_LINK_TO_FLAGS, "tst x4, x4", "ands (x, x, x)" },
		{ { ARM, false, 128, GUS_A64_NZCV }, GUS_LINK_FROM_FLAGS, "csel x3, x5, x5, ne",
			"csel (x, x, x, cond)" },
		{ { ARM, false, 128, 0 }, GUS_LINK_ADD, "add x3, x3, x4", "add (x, x, x)" },
		{ { ARM, false, 128, 0 }, GUS_LINK_ZERO, "bic x3, x3, x3", "bic (x, x, x)" },
		{ { ARM, false, 128, 0 }, GUS_LINK_DIGITS, "orr v1.16b, v1.16b, v3.16b", "orr (v.16b, v.16b, v.16b)" },
		{ { ARM, false, 128, 0 }, GUS_LINK_TO_MASK, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		enum gus_link link = cases[i].link;
		struct gus_micro *k = gus_micro_new(cases[i].style.isa, "a link");
		char form[GUS_INSN_FORM_MAX];
		struct gus_insn insn;
		struct gus_pool p;
		const uint8_t *to, *from;

		gus_pool_of(&p, cases[i].style.isa);
		to = link == GUS_LINK_TO_VECTOR || link == GUS_LINK_DIGITS ? p.vector
			: link == GUS_LINK_TO_MASK ? p.mask :
			p.general;
		from = link == GUS_LINK_FROM_VECTOR ? p.vector : link == GUS_LINK_FROM_MASK ? p.mask : p.general;
		assert_int_equal(gus_link_emit(k, &cases[i].style, link, to[1], from[2], to[3]), cases[i].text != NULL);
		assert_int_equal(gus_link_form(&cases[i].style, link, form), cases[i].text != NULL);
		if (cases[i].text) {
			assert_int_equal(gus_insn_decode(k->isa, k->code.v, k->code.n, 0, &insn), k->code.n);
			assert_string_equal(insn.text, cases[i].text);
			assert_string_equal(form, cases[i].form);
		}
		gus_micro_free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_instructions),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(ways_between_carriers),
		cmocka_unit_test(links_as_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
