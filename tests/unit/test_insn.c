/* SPDX-License-Identifier: MIT */
/* Machine code to text, and to what it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <elf.h>

#include "reg_name.h"
#include "symbolizer/insn/insn.h"

static void known_instructions(void **state)
{
	static const struct {
		enum gus_isa isa;
		const char *bytes;
		size_t size, length;
		uint64_t address;
		const char *text;
	} cases[] = {
		{ GUS_ISA_X86_64, "\x90", 1, 1, 0, "nop" },
		{ GUS_ISA_X86_64, "\x48\x89\xe5", 3, 3, 0, "mov rbp, rsp" },
		{ GUS_ISA_X86_64, "\x48\x8b\x44\xcb\x10", 5, 5, 0, "mov rax, [rbx+rcx*8+0x10]" },
		{ GUS_ISA_X86_64, "\xeb\xfe", 2, 2, 0x401000, "jmp 0x401000" },
		{ GUS_ISA_X86_64, "\xe8\x10\x00\x00\x00", 5, 5, 0x1000, "call 0x1015" },
		{ GUS_ISA_X86_64, "\x83\x3d\xab\x00\x00\x00\x0c", 7, 7, 0x1000, "cmp dword ptr [0x10b2], 0x0c" },
		{ GUS_ISA_X86_64, "\xc4\xe2\xf5\xb8\xc2", 5, 5, 0, "vfmadd231pd ymm0, ymm1, ymm2" },
		{ GUS_ISA_X86_64, "\x06", 1, 1, 0, "(bad)" },
		{ GUS_ISA_X86_32, "\x06", 1, 1, 0, "push es" },
		{ GUS_ISA_ARM64, "\x1f\x20\x03\xd5", 4, 4, 0, "nop" },
		{ GUS_ISA_ARM64, "\x20\x00\x02\x8b", 4, 4, 0, "add x0, x1, x2" },
		{ GUS_ISA_ARM64, "\x01\x00\x00\x14", 4, 4, 0x1000, "b #0x1004" },
		{ GUS_ISA_ARM64, "\xff\xff\xff\xff", 4, 4, 0, "(bad)" },
		{ GUS_ISA_UNKNOWN, "\x90", 1, 1, 0, "(bad)" },
	};
	struct gus_insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(gus_insn_decode(cases[i].isa, cases[i].bytes, cases[i].size, cases[i].address, &insn),
				 cases[i].length);
		assert_string_equal(insn.text, cases[i].text);
		assert_int_equal(insn.length, cases[i].length);
	}
}

static void too_short_is_not_bad(void **state)
{
	const char mov[] = "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"; /* mov rax, imm64 */
	struct gus_insn insn;

	(void)state;
	for (size_t size = 0; size < 10; size++)
		assert_int_equal(gus_insn_decode(GUS_ISA_X86_64, mov, size, 0, &insn), 0);
	assert_int_equal(gus_insn_decode(GUS_ISA_X86_64, mov, 10, 0, &insn), 10);
	for (size_t size = 0; size < 4; size++)
		assert_int_equal(gus_insn_decode(GUS_ISA_ARM64, "\x1f\x20\x03\xd5", size, 0, &insn), 0);
	assert_int_equal(gus_insn_decode(GUS_ISA_UNKNOWN, mov, 0, 0, &insn), 0);
}

/* Whatever the bytes: a length within them, a text that ends, and the same again. */
static void any_bytes_have_an_answer(void **state)
{
	static const enum gus_isa isas[] = { GUS_ISA_X86_64, GUS_ISA_X86_32, GUS_ISA_ARM64 };
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		enum gus_isa isa = isas[i % 3];
		struct gus_insn one, two;
		uint8_t bytes[16];
		size_t length;

		for (size_t b = 0; b < sizeof(bytes); b++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[b] = (uint8_t)(seed >> 32);
		}
		length = gus_insn_decode(isa, bytes, sizeof(bytes), seed, &one);
		assert_in_range(length, 1, 15);
		assert_in_range(strnlen(one.text, sizeof(one.text)), 1, sizeof(one.text) - 1);
		assert_int_equal(gus_insn_decode(isa, bytes, sizeof(bytes), seed, &two), length);
		assert_memory_equal(&one, &two, sizeof(one));
	}
}

/* What an instruction does, in one line each: registers as NAME:USE BITS with r read, w written, c conditional, a
 * only to form an address, k the rest kept, h bits 8 to 15, i implicit; memory as USE BITS with /ELEMENTS and g of
 * gathers. */
static const struct row {
	const char *hex, *form, *class, *accesses, *memory, *facts;
} rows[] = {
	/* add rax, rbx */
	{ "4801d8", "ADD_01 (R64, R64)", "alu",
	  "rax:rw64 rbx:r64 cf:wi1 of:wi1 szap:wi1",
	  "", "first:add_sub" },
	/* add rax, [0x0] */
	{ "4803042500000000", "ADD (R64, M64)", "alu",
	  "rax:rw64 cf:wi1 of:wi1 szap:wi1",
	  "r64", "first:add_sub" },
	/* lock xadd [rbx], rcx */
	{ "f0480fc10b", "XADD_LOCK (M64, R64)", "atomic",
	  "rbx:ra64 rcx:rw64 cf:wi1 of:wi1 szap:wi1",
	  "rw64", "lock" },
	/* xor eax, eax */
	{ "31c0", "XOR_31 (R32, R32) +same", "alu",
	  "rax:rw32 cf:wi1 of:wi1 szap:wi1",
	  "", "zero same first:logic" },
	/* sbb eax, eax */
	{ "19c0", "SBB_19 (R32, R32) +same", "alu",
	  "rax:rw32 cf:rwi1 of:wi1 szap:wi1",
	  "", "same first:logic" },
	/* adc al, 0x00 */
	{ "80d000", "ADC_R0 (R8l, 0)", "alu",
	  "rax:rwk8 cf:rwi1 of:wi1 szap:wi1",
	  "", "imm first:logic" },
	/* mov al, ah */
	{ "88e0", "MOV_88 (R8l, R8h)", "mov",
	  "rax:wk8 rax:rh8",
	  "", "" },
	/* add al, ah */
	{ "00e0", "ADD_00 (R8l, R8h)", "alu",
	  "rax:rwk8 rax:rh8 cf:wi1 of:wi1 szap:wi1",
	  "", "first:add_sub" },
	/* shl eax, cl */
	{ "d3e0", "SHL (R32, CL)", "shift",
	  "rax:rw32 rcx:ri8 cf:rwci1 of:rwci1 szap:rwci1",
	  "", "conditional" },
	/* shl eax, 0x00 */
	{ "c1e000", "SHL (R32, 0)", "shift",
	  "rax:rw32",
	  "", "imm" },
	/* shl eax, 0x05 */
	{ "c1e005", "SHL (R32, I8)", "shift",
	  "rax:rw32 cf:wi1 of:wi1 szap:wi1",
	  "", "imm" },
	/* shlx eax, ecx, eax */
	{ "c4e279f7c1", "SHLX (R32, R32, R32)", "shift",
	  "rax:rw32 rcx:r32",
	  "", "vex" },
	/* cmovz eax, ebx */
	{ "0f44c3", "CMOVZ (R32, R32)", "mov",
	  "rax:rwc32 rbx:r32 szap:ri1",
	  "", "conditional" },
	/* bsf rax, rcx */
	{ "480fbcc1", "BSF (R64, R64)", "alu",
	  "rax:rwc64 rcx:r64 cf:wi1 of:wi1 szap:wi1",
	  "", "conditional" },
	/* div rcx */
	{ "48f7f1", "DIV (R64)", "div",
	  "rcx:r64 rax:rwi64 rdx:rwi64 cf:wi1 of:wi1 szap:wi1",
	  "", "" },
	/* imul rax, rbx */
	{ "480fafc3", "IMUL (R64, R64)", "mul",
	  "rax:rw64 rbx:r64 cf:wi1 of:wi1 szap:wi1",
	  "", "" },
	/* cvtsi2sd xmm0, eax */
	{ "f20f2ac0", "CVTSI2SD (XMM, R32)", "convert",
	  "zmm0:rwk64 rax:r32",
	  "", "sse" },
	/* movsd xmm0, xmm1 */
	{ "f20f10c1", "MOVSD_XMM_0F10 (XMM, XMM)", "vec_mov",
	  "zmm0:rwk64 zmm1:r64",
	  "", "sse" },
	/* movsd xmm0, qword ptr [rax] */
	{ "f20f1000", "MOVSD_XMM (XMM, M64)", "load",
	  "zmm0:w128 rax:ra64",
	  "r64", "sse" },
	/* push rax */
	{ "50", "PUSH (R64)", "store",
	  "rax:r64 rsp:rwi64 rsp:rai64",
	  "wi64", "stack" },
	/* push [rsp+0x08] */
	{ "ff742408", "PUSH (M64)", "store",
	  "rsp:ra64 rsp:rwi64",
	  "r64 wi64", "stack" },
	/* call 0xfffffffffffffff5 */
	{ "e8f0ffffff", "CALL_NEAR (Rel32)", "call",
	  "rsp:rwi64 rsp:rai64",
	  "wi64", "imm stack" },
	/* ret */
	{ "c3", "RET_NEAR", "ret",
	  "rsp:rwi64 rsp:rai64",
	  "ri64", "stack" },
	/* jz 0x0 */
	{ "74fe", "JZ (Rel8)", "branch_cond",
	  "szap:ri1",
	  "", "imm second:zero" },
	/* jnbe 0x5 */
	{ "7703", "JNBE (Rel8)", "branch_cond",
	  "cf:ri1 szap:ri1",
	  "", "imm second:carry_zero" },
	/* jmp rax */
	{ "ffe0", "JMP (R64)", "branch_indirect",
	  "rax:r64",
	  "", "" },
	/* rep movsb */
	{ "f3a4", "MOVSB_REPE", "string",
	  "rdi:rai64 rdi:rwci64 rsi:rai64 rsi:rwci64 rcx:rwci64 df:ri1",
	  "wci8 rci8", "rep conditional" },
	/* repne scasb */
	{ "f2ae", "SCASB_REPNE", "string",
	  "rax:ri8 rdi:rai64 rdi:rwci64 rcx:rwci64 cf:rwci1 of:rwci1 szap:rwci1 df:ri1",
	  "rci8", "rep conditional" },
	/* lodsb */
	{ "ac", "LODSB", "string",
	  "rax:wki8 rsi:rai64 rsi:rwi64 df:ri1",
	  "ri8", "" },
	/* lea rax, [rbx+rcx*8+0x10] */
	{ "488d44cb10", "LEA_B_IS_D8 (R64)", "lea",
	  "rax:w64 rbx:ra64 rcx:ra64",
	  "0", "" },
	/* lea rax, [0x7] */
	{ "488d0500000000", "LEA_R_D32 (R64)", "lea",
	  "rax:w64",
	  "0", "rip" },
	/* mov r8, fs:[0x28] */
	{ "644c8b042528000000", "MOV (R64, M64)", "load",
	  "r8:w64 fs:ra16",
	  "r64", "" },
	/* mov word ptr [rax], 0x01 */
	{ "66c7000100", "MOV (M16, I16)", "store",
	  "rax:ra64",
	  "w16", "lcp imm" },
	/* xchg [rax], eax */
	{ "8700", "XCHG (M32, R32)", "atomic",
	  "rax:ra64 rax:rw32",
	  "rw32", "lock" },
	/* cmpxchg16b [rbx] */
	{ "480fc70b", "CMPXCHG16B (M128)", "alu",
	  "rbx:ra64 rdx:rwci64 rax:rwci64 rcx:ri64 rbx:ri64 szap:wki1",
	  "rwc128", "conditional" },
	/* lock cmpxchg16b [rbx] */
	{ "f0480fc70b", "CMPXCHG16B_LOCK (M128)", "atomic",
	  "rbx:ra64 rdx:rwci64 rax:rwci64 rcx:ri64 rbx:ri64 szap:wki1",
	  "rwc128", "lock conditional" },
	/* xlat */
	{ "d7", "XLAT", "load",
	  "rbx:rai64 rax:wki8 rax:rai8",
	  "ri8", "" },
	/* test al, al */
	{ "84c0", "TEST (R8l, R8l)", "alu",
	  "rax:r8 cf:wi1 of:wi1 szap:wi1",
	  "", "same first:test" },
	/* inc ecx */
	{ "ffc1", "INC (R32)", "alu",
	  "rcx:rw32 of:wi1 szap:wi1",
	  "", "first:inc_dec" },
	/* cmp dword ptr [rax], 0x0a */
	{ "83380a", "CMP (M32, I8)", "alu",
	  "rax:ra64 cf:wi1 of:wi1 szap:wi1",
	  "r32", "imm first:cmp" },
	/* pxor xmm0, xmm0 */
	{ "660fefc0", "PXOR (XMM, XMM) +same", "vec_logic",
	  "zmm0:rw128",
	  "", "zero same sse" },
	/* vpxor ymm1, ymm1, ymm1 */
	{ "c5f5efc9", "VPXOR (YMM, YMM, YMM) +same", "vec_logic",
	  "zmm1:rw256",
	  "", "zero same vex" },
	/* vpxor ymm7, ymm1, ymm5 */
	{ "c5f5effd", "VPXOR (YMM, YMM, YMM)", "vec_logic",
	  "zmm7:w256 zmm1:r256 zmm5:r256",
	  "", "vex" },
	/* vpcmpeqd ymm1, ymm1, ymm1 */
	{ "c5f576c9", "VPCMPEQD (YMM, YMM, YMM) +same", "vec_int",
	  "zmm1:rw256",
	  "", "ones same vex" },
	/* vpgatherdd xmm0, dword ptr [rdx+xmm1*4], xmm2 */
	{ "c4e26990048a", "VPGATHERDD (XMM, VSIB_XMM, XMM)", "gather",
	  "zmm0:rw128 rdx:ra64 zmm1:ra128 zmm2:rw128",
	  "rcg128/4", "conditional vex" },
	/* vpgatherdd zmm0 {k1}, dword ptr [rbx+zmm1*8] */
	{ "62f27d499004cb", "VPGATHERDD (ZMM, K, VSIB_ZMM)", "gather",
	  "zmm0:rwc512 k1:rw64 rbx:ra64 zmm1:ra512",
	  "rcg512/16", "conditional masked evex" },
	/* vpscatterdd dword ptr [rbx+zmm1*4] {k1}, zmm0 */
	{ "62f27d49a0048b", "VPSCATTERDD (VSIB_ZMM, K, ZMM)", "scatter",
	  "rbx:ra64 zmm1:ra512 k1:rw64 zmm0:r512",
	  "wcg512/16", "conditional masked evex" },
	/* vaddpd xmm1 {k1}, xmm2, xmm3 */
	{ "62f1ed0958cb", "VADDPD (XMM, K, XMM, XMM)", "fp_add",
	  "zmm1:rwc128 k1:r64 zmm2:r128 zmm3:r128",
	  "", "conditional masked evex" },
	/* vaddpd xmm1 {k1} {z}, xmm2, xmm3 */
	{ "62f1ed8958cb", "VADDPD_Z (XMM, K, XMM, XMM)", "fp_add",
	  "zmm1:w128 k1:r64 zmm2:r128 zmm3:r128",
	  "", "masked zeroing evex" },
	/* vaddpd xmm1, xmm2, xmm3 */
	{ "62f1ed0858cb", "VADDPD_EVEX (XMM, XMM, XMM)", "fp_add",
	  "zmm1:w128 zmm2:r128 zmm3:r128",
	  "", "evex" },
	/* vaddpd zmm1, zmm2, [rbx] {1to8} */
	{ "62f1ed58580b", "VADDPD (ZMM, ZMM, M64_1to8)", "fp_add",
	  "zmm1:w512 zmm2:r512 rbx:ra64",
	  "r64", "broadcast evex" },
	/* vaddpd zmm1, zmm2, zmm3 {rn-sae} */
	{ "62f1ed1858cb", "VADDPD_ER (ZMM, ZMM, ZMM)", "fp_add",
	  "zmm1:w512 zmm2:r512 zmm3:r512",
	  "", "rounding evex" },
	/* vcmppd k1 {k1}, zmm2, zmm3, 0x00 */
	{ "62f1ed49c2cb00", "VCMPPD (K, K, ZMM, ZMM, I8)", "fp_add",
	  "k1:rw64 zmm2:r512 zmm3:r512",
	  "", "imm masked evex" },
	/* vpternlogd zmm1, zmm2, zmm3, 0xff */
	{ "62f36d4825cbff", "VPTERNLOGD (ZMM, ZMM, ZMM, I8)", "vec_logic",
	  "zmm1:rw512 zmm2:r512 zmm3:r512",
	  "", "ones imm evex" },
	/* vzeroupper */
	{ "c5f877", "VZEROUPPER", "other",
	  "",
	  "", "vex" },
	/* cpuid */
	{ "0fa2", "CPUID", "fence",
	  "rax:rwi32 rbx:wi32 rcx:rwi32 rdx:wi32",
	  "", "serialising" },
	/* prefetchnta [rax] */
	{ "0f1800", "PREFETCHNTA (M512)", "load",
	  "rax:ra64",
	  "r512", "prefetch" },
	/* movntdq [rax], xmm0 */
	{ "660fe700", "MOVNTDQ (M128, XMM)", "store",
	  "rax:ra64 zmm0:r128",
	  "w128", "nontemporal sse" },
	/* maskmovdqu xmm0, xmm1 */
	{ "660ff7c1", "MASKMOVDQU (XMM, XMM)", "store",
	  "zmm0:r128 zmm1:r128 rdi:rai64",
	  "wi128", "nontemporal sse" },
	/* vmaskmovdqu xmm0, xmm1 */
	{ "c5f9f7c1", "VMASKMOVDQU (XMM, XMM)", "store",
	  "zmm0:r128 zmm1:r128 rdi:rai64",
	  "wi128", "nontemporal vex" },
	/* maskmovq mm0, mm1 */
	{ "0ff7c1", "MASKMOVQ (MM, MM)", "store",
	  "mm0:r64 mm1:r64 rdi:rai64",
	  "wi64", "nontemporal sse" },
	/* blendvps xmm0, xmm1 */
	{ "660f3814c1", "BLENDVPS (XMM, XMM)", "shuffle",
	  "zmm0:rw128 zmm1:r128",
	  "", "sse" },
	/* vblendvpd xmm0, xmm1, xmm2, xmm3 */
	{ "c4e3714bc230", "VBLENDVPD (XMM, XMM, XMM, XMM)", "shuffle",
	  "zmm0:w128 zmm1:r128 zmm2:r128 zmm3:r128",
	  "", "vex" },
	/* nop [rax], eax */
	{ "0f1f4000", "NOP (M32)", "nop",
	  "",
	  "", "" },
	/* fadd st0, st1 */
	{ "d8c1", "FADD (ST, ST)", "fp_add",
	  "st0:rwi80 st1:r80 fpsw:wi16",
	  "", "x87" },
	/* movzx eax, cl */
	{ "0fb6c1", "MOVZX (R32, R8l)", "mov",
	  "rax:w32 rcx:r8",
	  "", "move" },
	/* mov rax, rbx */
	{ "4889d8", "MOV_89 (R64, R64)", "mov",
	  "rax:w64 rbx:r64",
	  "", "move" },
	/* vmovaps ymm0, ymm1 */
	{ "c5fc28c1", "VMOVAPS_28 (YMM, YMM)", "vec_mov",
	  "zmm0:w256 zmm1:r256",
	  "", "move vex" },
	/* vmovsd xmm0, xmm0, xmm1 */
	{ "c5fb10c1", "VMOVSD_10 (XMM, XMM, XMM)", "vec_mov",
	  "zmm0:rw128 zmm1:r64",
	  "", "vex" },
	/* vpdpbssd xmm0, xmm1, xmm2 */
	{ "c4e27350c2", "VPDPBSSD (XMM, XMM, XMM)", "vec_mul",
	  "zmm0:rw128 zmm1:r128 zmm2:r128",
	  "", "supplement vex" },
	/* vpmadd52luq ymm1, ymm2, ymm3 */
	{ "c4e2edb4cb", "VPMADD52LUQ (YMM, YMM, YMM)", "vec_mul",
	  "zmm1:rw256 zmm2:r256 zmm3:r256",
	  "", "supplement vex" },
	/* cmpzxadd [rbx], ecx, edx */
	{ "c4e269e40b", "CMPZXADD (M32, R32, R32)", "atomic",
	  "rbx:ra64 rcx:rw32 rdx:r32 cf:wi1 of:wi1 szap:wi1",
	  "rwc32", "conditional supplement vex" },
	/* vsha512msg1 ymm1, xmm2 */
	{ "c4e27fccca", "VSHA512MSG1 (YMM, XMM)", "crypto",
	  "zmm1:rw256 zmm2:r128",
	  "", "supplement vex" },
	/* vsm3msg1 xmm1, xmm5, xmm3 */
	{ "c4e250dacb", "VSM3MSG1 (XMM, XMM, XMM)", "crypto",
	  "zmm1:rw128 zmm5:r128 zmm3:r128",
	  "", "supplement vex" },
	/* vsm3rnds2 xmm1, xmm4, xmm3, 0x05 */
	{ "c4e359decb05", "VSM3RNDS2 (XMM, XMM, XMM, I8)", "crypto",
	  "zmm1:rw128 zmm4:r128 zmm3:r128",
	  "", "imm supplement vex" },
	/* (bad) */
	{ "06", "", "bad",
	  "",
	  "", "" },
};

static const char *const fact_words[] = {
	"zero", "ones", "same", "move", "lock", "rep", "conditional", "lcp", "imm", "rip", "masked", "zeroing",
	"broadcast", "rounding", "serialising", "nontemporal", "prefetch", "stack", "supplement", "vex", "evex", "x87",
		"sse", "outside",
};
static const char *const first_words[] = { "", "test", "and", "cmp", "add_sub", "inc_dec", "logic" };
static const char *const second_words[] = { "", "carry", "carry_zero", "zero", "signed", "one_flag" };

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[n++] = (uint8_t)byte;
	return n;
}

static void add_word(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_word(char *out, const char *format, ...)
{
	size_t n = strlen(out);
	va_list args;

	if (n)
		out[n++] = ' ';
	va_start(args, format);
	vsnprintf(out + n, 512 - n, format, args);
	va_end(args);
}

static const char *use_text(unsigned use)
{
	static char text[9];
	size_t n = 0;

	for (unsigned bit = 0; bit < 8; bit++)
		if (use >> bit & 1)
			text[n++] = "rwcakhig"[bit];
	text[n] = 0;
	return text;
}

static void describe(const struct gus_insn_info *info, char *accesses, char *memory, char *facts)
{
	*accesses = *memory = *facts = 0;
	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		add_word(accesses, "%s:%s%u", reg_name(GUS_ISA_X86_64, a->reg), use_text(a->use), a->bits);
	}
	for (unsigned i = 0; i < info->memory_count; i++) {
		const struct gus_insn_memory *m = &info->memory[i];

		add_word(memory, "%s%u", use_text(m->use), m->bits);
		if (m->elements > 1)
			sprintf(memory + strlen(memory), "/%u", m->elements);
	}
	for (unsigned bit = 0; bit < sizeof(fact_words) / sizeof(*fact_words); bit++)
		if (info->flags >> bit & 1)
			add_word(facts, "%s", fact_words[bit]);
	if (info->fuse_first)
		add_word(facts, "first:%s", first_words[info->fuse_first]);
	if (info->fuse_second)
		add_word(facts, "second:%s", second_words[info->fuse_second]);
}

static void what_x86_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char form[GUS_INSN_FORM_MAX], accesses[512], memory[512], facts[512];
		struct gus_insn_info info;
		uint8_t bytes[16];
		size_t size = bytes_of(rows[i].hex, bytes), length = strcmp(rows[i].class, "bad") ? size : 1;

		print_message("%s %s\n", rows[i].hex, rows[i].form);
		assert_int_equal(gus_insn_analyse(GUS_ISA_X86_64, bytes, size, &info), length);
		assert_int_equal(info.length, length);
		assert_int_equal(gus_insn_form_text(GUS_ISA_X86_64, bytes, size, form, sizeof(form)),
				 strlen(rows[i].form));
		assert_string_equal(form, rows[i].form);
		assert_int_equal(info.form, *form ? gus_insn_form_hash(form, strlen(form)) : 0);
		assert_string_equal(gus_insn_class_name(info.class), rows[i].class);
		describe(&info, accesses, memory, facts);
		assert_string_equal(accesses, rows[i].accesses);
		assert_string_equal(memory, rows[i].memory);
		assert_string_equal(facts, rows[i].facts);
	}
}

static void addresses_and_immediates(void **state)
{
	static const struct {
		const char *hex;
		unsigned base, index, scale, segment;
		int64_t displacement, immediate;
	} cases[] = {
		{ "488b44cbf0", GUS_X86_RBX, GUS_X86_RCX, 8, 0, -16, 0 },
		{ "644c8b042528000000", 0, 0, 0, GUS_X86_FS, 0x28, 0 },
		{ "83050001000005", GUS_X86_RIP, 0, 0, 0, 0x100, 5 },
		{ "4883c0ff", 0, 0, 0, 0, 0, -1 },
		{ "e8f0ffffff", GUS_X86_RSP, 0, 0, 0, 0, -16 },
		{ "62f1ed48584bff", GUS_X86_RBX, 0, 0, 0, -64, 0 },              /* disp8 counts vectors */
		{ "62f1ed58584bff", GUS_X86_RBX, 0, 0, 0, -8, 0 },               /* or elements of a broadcast */
		{ "c4e2699004ca", GUS_X86_RDX, GUS_X86_V0 + 1, 8, 0, 0, 0 },
		{ "48b8f0debc9a78563412", 0, 0, 0, 0, 0, 0x123456789abcdef0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_insn_info info;
		uint8_t bytes[16];
		size_t size = bytes_of(cases[i].hex, bytes);

		print_message("%s\n", cases[i].hex);
		assert_int_equal(gus_insn_analyse(GUS_ISA_X86_64, bytes, size, &info), size);
		assert_int_equal(info.memory[0].base, cases[i].base);
		assert_int_equal(info.memory[0].index, cases[i].index);
		assert_int_equal(info.memory[0].scale, cases[i].scale);
		assert_int_equal(info.memory[0].segment, cases[i].segment);
		assert_int_equal(info.memory[0].displacement, cases[i].displacement);
		assert_int_equal(info.immediate, cases[i].immediate);
	}
}

/* A decoder answers as if it remembered nothing: over our table, its truncations, and bytes at random, of which
 * half are twins of others but for what follows the opcode; with room for all, and with so little that it keeps
 * forgetting. */
static void memory_changes_nothing(void **state)
{
	static const size_t limits[] = { 0, 1, 50 };
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (size_t l = 0; l < 3; l++) {
		struct gus_insn_decoder *decoder = gus_insn_decoder_new(GUS_ISA_X86_64, limits[l]);

		for (unsigned i = 0; i < 200000; i++) {
			struct gus_insn_info info;
			const struct gus_insn_info *kept;
			uint8_t bytes[40] = { 0 };
			size_t size = bytes_of(rows[i % (sizeof(rows) / sizeof(*rows))].hex, bytes), length;

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			if (i & 1)
				memcpy(bytes + (seed & 7), &seed, 8);
			if (i & 6)
				size = i % 41;
			length = gus_insn_analyse(GUS_ISA_X86_64, bytes, size, &info);
			kept = gus_insn_decoder_get(decoder, bytes, size);
			assert_int_equal(!length, !kept);
			if (kept)
				assert_memory_equal(kept, &info, sizeof(info));
		}
		gus_insn_decoder_free(decoder);
	}
}

/* No byte behind the given ones is read: they end where a page without access starts. GUS_INSN_RANDOM is how many
 * byte strings are tried (100000000 takes a minute or two). */
static void nothing_beyond_the_end(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gus_insn_decoder *decoder = gus_insn_decoder_new(GUS_ISA_X86_64, 0);
	const char *wanted = getenv("GUS_INSN_RANDOM");
	unsigned long tries = wanted ? strtoul(wanted, NULL, 10) : 300000;
	uint64_t seed = 88172645463325252u;

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, (size_t)page, PROT_NONE), 0);
	for (unsigned long i = 0; i < tries; i++) {
		char form[GUS_INSN_FORM_MAX];
		struct gus_insn_info info;
		size_t size = i % 20, length;
		uint8_t *bytes = pages + page - size;

		for (size_t b = 0; b < size; b++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			bytes[b] = (uint8_t)(seed >> 32);
		}
		if (i & 1 && size)
			bytes[0] = "\x62\xc4\x0f\x66"[i >> 1 & 3];
		length = gus_insn_analyse(GUS_ISA_X86_64, bytes, size, &info);
		assert_true(length <= size && length <= 15);
		gus_insn_form_text(GUS_ISA_X86_64, bytes, size, form, sizeof(form));
		gus_insn_decoder_get(decoder, bytes, size);
		gus_insn_analyse(GUS_ISA_X86_32, bytes, size, &info);
		gus_insn_analyse(GUS_ISA_ARM64, bytes, size, &info);
	}
	gus_insn_decoder_free(decoder);
	munmap(pages, 2 * (size_t)page);
}

static void form_texts_are_cut_to_the_room(void **state)
{
	char out[8];

	(void)state;
	memset(out, 'x', sizeof(out));
	assert_int_equal(gus_insn_form_text(GUS_ISA_X86_64, "\x48\x01\xd8", 3, out, 4), 17);
	assert_memory_equal(out, "ADD\0xxxx", 8);
	assert_int_equal(gus_insn_form_text(GUS_ISA_X86_64, "\x48\x01\xd8", 3, NULL, 0), 17);
	assert_int_equal(gus_insn_form_text(GUS_ISA_X86_64, "\x06", 1, out, sizeof(out)), 0);
	assert_string_equal(out, "");
	assert_int_equal(gus_insn_form_text(GUS_ISA_X86_64, "\x48\x01", 2, out, sizeof(out)), 0);
}

static void classes_have_names_of_their_own(void **state)
{
	(void)state;
	for (unsigned class = 0; class < GUS_INSN_CLASSES; class++) {
		const char *name = gus_insn_class_name(class);

		assert_non_null(name);
		/* Tables know classes by their names: no two have the same. */
		for (unsigned other = 0; other < class; other++)
			assert_string_not_equal(gus_insn_class_name(other), name);
	}
	assert_null(gus_insn_class_name(GUS_INSN_CLASSES));
}

static void machines_have_isas(void **state)
{
	(void)state;
	assert_int_equal(gus_isa_of_machine(EM_X86_64), GUS_ISA_X86_64);
	assert_int_equal(gus_isa_of_machine(EM_386), GUS_ISA_X86_32);
	assert_int_equal(gus_isa_of_machine(EM_AARCH64), GUS_ISA_ARM64);
	assert_int_equal(gus_isa_of_machine(EM_RISCV), GUS_ISA_UNKNOWN);
}

/* What a user program cannot do by itself, or cannot know the time of; and beside it what looks alike and is its
 * own. */
static void what_is_outside(void **state)
{
	static const char *const outside[] = {
		"0f05", "0f34", "cd80", "cc", "f1", "0f0b", "0fffc0", "0fb9c0",         /* into the kernel */
		"480f07", "0f35", "48cf", "0faa",                                       /* and back */
		"ec", "e460", "ee", "e660", "6c", "f36d", "6e", "f36f",                 /* in, out, ins, outs */
		"f4", "fa", "fb", "0f06", "0f01f8", "0f01ca", "0f01cb", /* hlt cli sti clts swapgs clac stac */
		"0f30", "0f32", "0f20c0", "0f22c0", "440f20c0", "0f21c0", "0f23c0", "0f01d1",
		"0f08", "0f09", "0f0138", "0f0110", "0f0118", "0f00d8", "0f00d0", "0f01f0",
		"0f01c1", "0f01d9", "0f01c2", "0f01d8", "0f78c0", "0f79c0", "0f37", "0f01c8", "0f01c9",
	}, *own[] = {
		"0f31", "0f01f9", "0fa2", "f30fc7f8", "0f01d0", "0fc7f0", "0faee8", "0faef0", "f390", "9c", "9d",
		"8cd8", "8ed8", "f30faec0", "0f01ee", "0fae3f", "488b00", "c3", "e800000000", "0f1f00", "f30f1efa",
		"a4", "f3ab", "0fae00", "0f77", "d9f0",
	};

	(void)state;
	for (int kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < (kind ? sizeof(outside) : sizeof(own)) / sizeof(*own); i++) {
			const char *hex = kind ? outside[i] : own[i];
			struct gus_insn_info info;
			uint8_t bytes[16];
			size_t size = bytes_of(hex, bytes);

			print_message("%s\n", hex);
			assert_int_equal(gus_insn_analyse(GUS_ISA_X86_64, bytes, size, &info), size);
			assert_int_equal(!!(info.flags & GUS_INSN_OUTSIDE), kind);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_instructions),
		cmocka_unit_test(too_short_is_not_bad),
		cmocka_unit_test(any_bytes_have_an_answer),
		cmocka_unit_test(what_x86_does),
		cmocka_unit_test(what_is_outside),
		cmocka_unit_test(addresses_and_immediates),
		cmocka_unit_test(memory_changes_nothing),
		cmocka_unit_test(nothing_beyond_the_end),
		cmocka_unit_test(form_texts_are_cut_to_the_room),
		cmocka_unit_test(classes_have_names_of_their_own),
		cmocka_unit_test(machines_have_isas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
