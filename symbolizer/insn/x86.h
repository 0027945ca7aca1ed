/* SPDX-License-Identifier: MIT */
/* Between the files of the x86 facade: one decoded instruction, what its mnemonic says, and who reads what off it. */
#ifndef GUS_SYMBOLIZER_INSN_X86_H
#define GUS_SYMBOLIZER_INSN_X86_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

#include "symbolizer/insn/insn.h"

/* What a mnemonic says beyond its class. */
enum {
	GUS_X86_SIBLING = 1,    /* has VEX encodings beside EVEX ones, under one name */
	GUS_X86_ZERO = 2,       /* zero when both sources are one register */
	GUS_X86_ONES = 4,       /* all ones then */
	GUS_X86_SAME = 8,       /* independent of its sources then, on some CPUs */
	GUS_X86_LOW = 16,       /* as legacy SSE: writes the low element and keeps the others */
	GUS_X86_MOVE = 32,      /* copies */
	GUS_X86_TWIN = 64,      /* has two opcodes for the same operands, one for each direction */
	GUS_X86_NT = 128,       /* nontemporal */
	GUS_X86_OUTSIDE = 256,  /* as GUS_INSN_OUTSIDE */
};

struct gus_x86_mnemonic {
	uint8_t class;          /* enum gus_insn_class, of the register form */
	uint8_t fuse;           /* enum gus_fuse_first */
	uint16_t traits;        /* GUS_X86_* */
};

extern const struct gus_x86_mnemonic gus_x86_mnemonics[ZYDIS_MNEMONIC_MAX_VALUE + 1];

/* What a register of Zydis is to us. */
enum gus_x86_kind {
	GUS_X86_KIND_OTHER,     /* a system register, or none */
	GUS_X86_KIND_R8L, GUS_X86_KIND_R8H, GUS_X86_KIND_R16, GUS_X86_KIND_R32, GUS_X86_KIND_R64,
	GUS_X86_KIND_ST, GUS_X86_KIND_MM, GUS_X86_KIND_XMM, GUS_X86_KIND_YMM, GUS_X86_KIND_ZMM,
	GUS_X86_KIND_TMM, GUS_X86_KIND_K, GUS_X86_KIND_BND, GUS_X86_KIND_SEG, GUS_X86_KIND_CR, GUS_X86_KIND_DR,
	GUS_X86_KIND_IP, GUS_X86_KIND_FLAGS,
};

struct gus_x86_register {
	uint16_t base;          /* the first Zydis register of its range */
	uint16_t bits;
	uint8_t first;          /* ours that base is */
	uint8_t kind;
};

extern const struct gus_x86_register gus_x86_registers[ZYDIS_REGISTER_MAX_VALUE + 1];

static inline unsigned gus_x86_reg(ZydisRegister reg)
{
	const struct gus_x86_register *r = &gus_x86_registers[reg];

	return r->first == GUS_X86_SYSTEM ? GUS_X86_SYSTEM : r->first + ((unsigned)reg - r->base) * !!r->first;
}

static inline enum gus_x86_kind gus_x86_kind(const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return GUS_X86_KIND_OTHER;
	return gus_x86_registers[operand->reg.value].kind;
}

/* One instruction, as Zydis or our own supplement decoded it. */
struct gus_x86 {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct gus_x86_mnemonic mnemonic;
	const char *name;       /* the mnemonic of the supplement; else NULL, and insn.mnemonic is right */
};

/* Decodes, with the supplement where Zydis knows nothing. Returns the length; 0 if size is too short; -1 if the bytes
 * are no instruction. */
int gus_x86_decode(const ZydisDecoder *decoder, const void *bytes, size_t size, struct gus_x86 *x);
/* The same for what Zydis rejects: look-alikes under other names. */
int gus_x86_supplement(const ZydisDecoder *decoder, const uint8_t *bytes, size_t size, struct gus_x86 *x);

void gus_x86_decoder_init(ZydisDecoder *decoder, bool wide);
/* What it does. */
void gus_x86_analyse(const struct gus_x86 *x, struct gus_insn_info *info);

/* Where the parts of an instruction are, in bytes: its structure (prefixes, opcode, modrm, sib), then a displacement,
 * then an immediate. */
struct gus_x86_measure {
	uint8_t structure, displacement_size, immediate_size;
};

/* Measures an instruction of 64-bit code; 16 bytes are readable. False for what is rare, and perhaps wrong for what
 * is no instruction. */
bool gus_x86_measure(const uint8_t *bytes, struct gus_x86_measure *m);

/* Whether the last two register operands that are read are one, and nothing else is. */
bool gus_x86_same_registers(const struct gus_x86 *x);
/* Writes the form's text to out, which has GUS_INSN_FORM_MAX bytes, without a NUL; returns its length. */
size_t gus_x86_form(const struct gus_x86 *x, char *out);

#endif
