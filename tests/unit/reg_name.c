/* SPDX-License-Identifier: MIT */
#include "reg_name.h"

static const char *const x86_names[GUS_X86_REGS] = {
	[GUS_X86_RAX] = "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip", "cf", "of", "szap", "df", "sysflags",
	"es", "cs", "ss", "ds", "fs", "gs", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
	"zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7",
	"zmm8", "zmm9", "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15",
	"zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", "zmm23",
	"zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29", "zmm30", "zmm31",
	"mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7",
	"st0", "st1", "st2", "st3", "st4", "st5", "st6", "st7",
	"tmm0", "tmm1", "tmm2", "tmm3", "tmm4", "tmm5", "tmm6", "tmm7",
	"bnd0", "bnd1", "bnd2", "bnd3", "mxcsr", "fpcw", "fpsw", "system",
};

static const char *const a64_names[GUS_A64_REGS] = {
	[GUS_A64_X0] = "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
	"x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30",
	"sp", "pc", "nzcv",
	"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
	"v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
	"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15",
	"ffr", "fpcr", "fpsr", "za", "system",
};

const char *reg_name(enum gus_isa isa, unsigned reg)
{
	if (isa == GUS_ISA_ARM64)
		return reg < GUS_A64_REGS ? a64_names[reg] : NULL;
	return reg < GUS_X86_REGS ? x86_names[reg] : NULL;
}
