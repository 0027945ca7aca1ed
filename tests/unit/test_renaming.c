/* SPDX-License-Identifier: MIT */
/* Instructions in other registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/calibration/known_forms.h"
#include "symbolizer/insn/renaming.h"

enum { V = GUS_X86_V0, K = GUS_X86_K0, AV = GUS_A64_V0, AX = GUS_A64_X0 };

static void renamed_instructions(void **state)
{
	static const struct {
		enum gus_isa isa;
		const char *bytes;
		size_t size;
		uint8_t to[GUS_INSN_OPERANDS];
		const char *text; /* NULL: there is no such */
	} cases[] = {
		/* Without a prefix that it did not have, if none is needed; with one that is. */
		{ GUS_ISA_X86_64, "\x01\xc8", 2, { GUS_X86_RBX, GUS_X86_RDX }, "add ebx, edx" },
		{ GUS_ISA_X86_64, "\x01\xc8", 2, { GUS_X86_R9 }, "add r9d, ecx" },
		{ GUS_ISA_X86_64, "\x01\xc8", 2, { 0, GUS_X86_R12 }, "add eax, r12d" },
		{ GUS_ISA_X86_64, "\x48\x03\xc1", 3, { GUS_X86_R15, GUS_X86_RAX }, "add r15, rax" },
		{ GUS_ISA_X86_64, "\x45\x01\xc8", 3, { GUS_X86_RAX, GUS_X86_RCX }, "add eax, ecx" },
		{ GUS_ISA_X86_64, "\x66\x01\xc8", 3, { GUS_X86_R8, GUS_X86_R9 }, "add r8w, r9w" },
		/* In the opcode. */
		{ GUS_ISA_X86_64, "\x48\x0f\xc8", 3, { GUS_X86_R13 }, "bswap r13" },
		{ GUS_ISA_X86_64, "\xb8\x05\x00\x00\x00", 5, { GUS_X86_R8 }, "mov r8d, 0x05" },
		/* A byte of rsi to rdi has to have a prefix; this form may have none. */
		{ GUS_ISA_X86_64, "\x88\xc8", 2, { GUS_X86_RSI, GUS_X86_RDI }, "mov sil, dil" },
		{ GUS_ISA_X86_64, "\x88\xc8", 2, { 0, GUS_X86_RDI }, "mov al, dil" },
		{ GUS_ISA_X86_64, "\x88\xc8", 2, { GUS_X86_RSP }, "mov spl, cl" },
		{ GUS_ISA_X86_64, "\x80\xc1\x05", 3, { GUS_X86_RDX }, "add dl, 0x05" },
		{ GUS_ISA_X86_64, "\x80\xc1\x05", 3, { GUS_X86_RSI }, NULL },
		{ GUS_ISA_X86_64, "\x88\xe0", 2, { GUS_X86_RCX }, "mov cl, ah" },
		{ GUS_ISA_X86_64, "\x88\xe0", 2, { 0, GUS_X86_RCX }, NULL },
		/* VEX, short and long, and back. */
		{ GUS_ISA_X86_64, "\xc5\xf5\x58\xc2", 4, { V + 3, V + 4, V + 5 }, "vaddpd ymm3, ymm4, ymm5" },
		{ GUS_ISA_X86_64, "\xc5\xf5\x58\xc2", 4, { V + 12, V + 13, V + 14 }, "vaddpd ymm12, ymm13, ymm14" },
		{ GUS_ISA_X86_64, "\xc4\xe2\xf5\xb8\xc2", 5, { V + 9, V + 10, V + 11 },
		  "vfmadd231pd ymm9, ymm10, ymm11" },
		{ GUS_ISA_X86_64, "\xc4\xe3\x75\x4b\xc2\x30", 6, { V + 4, 0, 0, V + 15 },
		  "vblendvpd ymm4, ymm1, ymm2, ymm15" },
		{ GUS_ISA_X86_64, "\xc5\xf5\x58\xc2", 4, { V + 16 }, NULL },
		/* EVEX: all 32, and masks. */
		{ GUS_ISA_X86_64, "\x62\xf1\xf5\x49\x58\xc2", 6, { V + 31, K + 7, V + 16, V + 24 },
		  "vaddpd zmm31 {k7}, zmm16, zmm24" },
		{ GUS_ISA_X86_64, "\x62\xf1\xf5\x49\x58\xc2", 6, { 0, K }, NULL },
		{ GUS_ISA_X86_64, "\x62\xf1\xf5\x48\x58\xc2", 6, { V + 17 }, "vaddpd zmm17, zmm1, zmm2" },
		/* Addresses. */
		{ GUS_ISA_X86_64, "\x48\x8b\x06", 3, { GUS_X86_R8, GUS_X86_R9 }, "mov r8, [r9]" },
		{ GUS_ISA_X86_64, "\x48\x8b\x46\x10", 4, { 0, GUS_X86_R13 }, "mov rax, [r13+0x10]" },
		{ GUS_ISA_X86_64, "\x48\x8b\x04\xce", 4, { 0, GUS_X86_R11, GUS_X86_R12 }, "mov rax, [r11+r12*8]" },
		/* One of two whose numbers are in one byte: rcx, odd, is above the base and below the scale. */
		{ GUS_ISA_X86_64, "\x48\x8b\x04\xce", 4, { 0, GUS_X86_RAX }, "mov rax, [rax+rcx*8]" },
		{ GUS_ISA_X86_64, "\x48\x8b\x04\xce", 4, { 0, 0, GUS_X86_RAX }, "mov rax, [rsi+rax*8]" },
		{ GUS_ISA_X86_64, "\x48\x8b\x0e", 3, { 0, GUS_X86_RAX }, "mov rcx, [rax]" },
		{ GUS_ISA_X86_64, "\x48\x8b\x06", 3, { 0, GUS_X86_R13 }, NULL }, /* would have a displacement */
		{ GUS_ISA_X86_64, "\x48\x8b\x06", 3, { 0, GUS_X86_R12 }, NULL }, /* would have an index byte */
		{ GUS_ISA_X86_64, "\x48\x8b\x04\xce", 4, { 0, 0, GUS_X86_RSP }, NULL },
		/* Equal registers make another form of some, and no longer do of others. */
		{ GUS_ISA_X86_64, "\x31\xc8", 2, { GUS_X86_RCX }, NULL },
		{ GUS_ISA_X86_64, "\x31\xc0", 2, { GUS_X86_RCX }, NULL },
		{ GUS_ISA_X86_64, "\x31\xc0", 2, { GUS_X86_RCX, GUS_X86_RCX }, "xor ecx, ecx" },
		{ GUS_ISA_X86_64, "\x01\xc8", 2, { GUS_X86_RCX }, "add ecx, ecx" },
		/* Another file. */
		{ GUS_ISA_X86_64, "\x01\xc8", 2, { V }, NULL },
		{ GUS_ISA_ARM64, "\x20\x00\x02\x8b", 4, { AX + 9, AX + 10, AX + 30 }, "add x9, x10, x30" },
		{ GUS_ISA_ARM64, "\x20\x00\x02\x8b", 4, { GUS_A64_SP }, NULL },
		{ GUS_ISA_ARM64, "\x20\xcc\x62\x4e", 4, { AV + 31, AV + 30, AV + 29 }, "fmla v31.2d, v30.2d, v29.2d" },
		{ GUS_ISA_ARM64, "\x20\x78\x62\xf8", 4, { AX + 3, AX + 4, AX + 5 }, "ldr x3, [x4, x5, lsl #3]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t out[GUS_INSN_BYTES];
		struct gus_insn insn;
		size_t size = gus_insn_renamed(cases[i].isa, cases[i].bytes, cases[i].size, cases[i].to, out);

		if (!size != !cases[i].text)
			fail_msg("case %zu: %s", i, cases[i].text ? cases[i].text : "is possible");
		if (!size)
			continue;
		assert_int_equal(gus_insn_decode(cases[i].isa, out, size, 0, &insn), size);
		assert_string_equal(insn.text, cases[i].text);
	}
	/* It is no longer than it has to be. */
	{
		uint8_t out[GUS_INSN_BYTES];

		assert_int_equal(gus_insn_renamed(GUS_ISA_X86_64, "\x01\xc8", 2, (uint8_t[6]){ GUS_X86_RDI }, out), 2);
		assert_int_equal(gus_insn_renamed(GUS_ISA_X86_64, "\xc5\xf5\x58\xc2", 4, (uint8_t[6]){ V + 9 },
						  out), 4);
		assert_int_equal(gus_insn_renamed(GUS_ISA_X86_64, "\xc5\xf5\x58\xc2", 4,
						  (uint8_t[6]){ 0, 0, V + 9 }, out), 5);
	}
}

static void operands_know_their_use(void **state)
{
	struct gus_insn_operand o[GUS_INSN_OPERANDS];

	(void)state;
	/* vfmadd231pd ymm0, ymm1, [rsi]: written and read, read, and an address. */
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\xc4\xe2\xf5\xb8\x06", 5, o), 3);
	assert_int_equal(o[0].use, GUS_ACCESS_READ | GUS_ACCESS_WRITE);
	assert_int_equal(o[1].use, GUS_ACCESS_READ);
	assert_int_equal(o[2].use, GUS_ACCESS_READ | GUS_ACCESS_ADDRESS);
	assert_int_equal(o[0].file, GUS_INSN_FILE_VECTOR);
	assert_int_equal(o[2].file, GUS_INSN_FILE_GENERAL);
	/* shl rax, cl: one can be chosen. */
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\x48\xd3\xe0", 3, o), 1);
	/* mul rcx: rax and rdx can't. */
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\x48\xf7\xe1", 3, o), 1);
	/* cvtsi2sd keeps the other half: it reads what it writes. */
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\xf2\x48\x0f\x2a\xc0", 5, o), 2);
	assert_int_equal(o[0].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE), GUS_ACCESS_READ | GUS_ACCESS_WRITE);
	assert_int_equal(o[1].use, GUS_ACCESS_READ);
	/* With a mask the result keeps what is masked out, or takes zeros; k0 is no mask. */
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\x62\xf1\xf5\x49\x58\xc2", 6, o), 4);
	assert_int_equal(o[0].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE), GUS_ACCESS_READ | GUS_ACCESS_WRITE);
	assert_int_equal(o[1].file, GUS_INSN_FILE_MASK);
	assert_int_equal(o[1].use, GUS_ACCESS_READ);
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\x62\xf1\xf5\xc9\x58\xc2", 6, o), 4);
	assert_int_equal(o[0].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE), GUS_ACCESS_WRITE);
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\x62\xf1\xf5\x48\x58\xc2", 6, o), 3);
	assert_int_equal(o[1].file, GUS_INSN_FILE_VECTOR);
	/* cmovz rax, rcx: what it may be is read. */
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\x48\x0f\x44\xc1", 4, o), 2);
	assert_int_equal(o[0].use & (GUS_ACCESS_READ | GUS_ACCESS_WRITE), GUS_ACCESS_READ | GUS_ACCESS_WRITE);
	/* The zero register is none: orr x0, xzr, x1. */
	assert_int_equal(gus_insn_operands(GUS_ISA_ARM64, "\xe0\x03\x01\xaa", 4, o), 2);
	assert_int_equal(gus_insn_operands(GUS_ISA_UNKNOWN, "\x90", 1, o), 0);
	assert_int_equal(gus_insn_operands(GUS_ISA_X86_64, "\x48", 1, o), 0);
}

/* Whatever is renamed is of the same form, and has the register that was asked for where it was asked for. */
static void same_form_everywhere(void **state)
{
	unsigned done = 0;

	(void)state;
	for (size_t i = 0; i < gus_known_forms_n; i++) {
		const struct gus_known_form *f = &gus_known_forms[i];
		struct gus_insn_operand was[GUS_INSN_OPERANDS], is[GUS_INSN_OPERANDS];
		unsigned n = gus_insn_operands(f->isa, f->bytes, f->size, was);
		struct gus_insn_info before, after;

		gus_insn_analyse(f->isa, f->bytes, f->size, &before);
		for (unsigned o = 0; o < n; o++)
			for (unsigned reg = 1; reg < GUS_INSN_REGS; reg++) {
				uint8_t to[GUS_INSN_OPERANDS] = { 0 }, out[GUS_INSN_BYTES];
				size_t size;

				to[o] = (uint8_t)reg;
				size = gus_insn_renamed(f->isa, f->bytes, f->size, to, out);
				if (!size)
					continue;
				done++;
				assert_int_equal(gus_insn_analyse(f->isa, out, size, &after), size);
				assert_int_equal(after.form, before.form);
				assert_int_equal(gus_insn_operands(f->isa, out, size, is), n);
				for (unsigned k = 0; k < n; k++)
					assert_int_equal(is[k].reg, k == o ? reg : was[k].reg);
			}
	}
	assert_true(done > 8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(renamed_instructions), cmocka_unit_test(operands_know_their_use),
		cmocka_unit_test(same_form_everywhere),
	};

	return cmocka_run_group_tests_name("renaming", tests, NULL, NULL);
}
