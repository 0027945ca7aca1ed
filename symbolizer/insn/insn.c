/* SPDX-License-Identifier: MIT */
/* The facade's front: picks the ISA, names classes and registers, and writes arm64 text. */
#include "symbolizer/insn/insn.h"

#include <capstone.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "symbolizer/insn/private.h"

static const struct {
	unsigned machine;
	enum gus_isa isa;
} machines[] = {
	{ EM_X86_64, GUS_ISA_X86_64 },
	{ EM_386, GUS_ISA_X86_32 },
	{ EM_AARCH64, GUS_ISA_ARM64 },
};

enum gus_isa gus_isa_of_machine(unsigned machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == machine)
			return machines[i].isa;
	return GUS_ISA_UNKNOWN;
}

static const char *const class_names[GUS_INSN_CLASSES] = {
	[GUS_INSN_OTHER] = "other", [GUS_INSN_BAD] = "bad", [GUS_INSN_NOP] = "nop", [GUS_INSN_MOV] = "mov",
	[GUS_INSN_LOAD] = "load", [GUS_INSN_STORE] = "store", [GUS_INSN_LEA] = "lea", [GUS_INSN_ALU] = "alu",
	[GUS_INSN_SHIFT] = "shift", [GUS_INSN_MUL] = "mul", [GUS_INSN_DIV] = "div",
	[GUS_INSN_BRANCH_COND] = "branch_cond", [GUS_INSN_BRANCH] = "branch",
	[GUS_INSN_BRANCH_INDIRECT] = "branch_indirect", [GUS_INSN_CALL] = "call",
	[GUS_INSN_CALL_INDIRECT] = "call_indirect", [GUS_INSN_RET] = "ret", [GUS_INSN_FP_ADD] = "fp_add",
	[GUS_INSN_FP_MUL] = "fp_mul", [GUS_INSN_FP_FMA] = "fp_fma", [GUS_INSN_FP_DIV] = "fp_div",
	[GUS_INSN_FP_SQRT] = "fp_sqrt", [GUS_INSN_FP_OTHER] = "fp_other", [GUS_INSN_CONVERT] = "convert",
	[GUS_INSN_SHUFFLE] = "shuffle", [GUS_INSN_VEC_LOGIC] = "vec_logic", [GUS_INSN_VEC_INT] = "vec_int",
	[GUS_INSN_VEC_MUL] = "vec_mul", [GUS_INSN_VEC_SHIFT] = "vec_shift", [GUS_INSN_VEC_MOV] = "vec_mov",
	[GUS_INSN_MASK] = "mask", [GUS_INSN_GATHER] = "gather", [GUS_INSN_SCATTER] = "scatter",
	[GUS_INSN_STRING] = "string", [GUS_INSN_CRYPTO] = "crypto", [GUS_INSN_MATRIX] = "matrix",
	[GUS_INSN_ATOMIC] = "atomic", [GUS_INSN_FENCE] = "fence", [GUS_INSN_SYSTEM] = "system",
};

const char *gus_insn_class_name(enum gus_insn_class class)
{
	return (unsigned)class < GUS_INSN_CLASSES ? class_names[class] : NULL;
}

bool gus_insn_class_divides(enum gus_insn_class class)
{
	return class == GUS_INSN_DIV || class == GUS_INSN_FP_DIV || class == GUS_INSN_FP_SQRT;
}

size_t gus_insn_bad_text(struct gus_insn *insn, size_t length)
{
	insn->length = (uint8_t)length;
	snprintf(insn->text, sizeof(insn->text), "(bad)");
	return length;
}

size_t gus_insn_bad_info(struct gus_insn_info *info, size_t length)
{
	memset(info, 0, sizeof(*info));
	info->length = (uint8_t)length;
	info->class = GUS_INSN_BAD;
	return length;
}

uint64_t gus_insn_form_hash(const char *text, size_t size)
{
	return XXH64(text, size, 0);
}

/* A Capstone handle is opened for each call: it may not be a global, and the text of a few thousand hot instructions
 * is all that a report asks for. */
static size_t decode_arm64(const void *bytes, size_t size, uint64_t address, struct gus_insn *insn)
{
	csh handle;
	cs_insn *decoded;
	size_t n;

	if (size < 4)
		return 0;
	if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle) != CS_ERR_OK)
		return gus_insn_bad_text(insn, 4);
	n = cs_disasm(handle, bytes, 4, address, 1, &decoded);
	if (n)
		snprintf(insn->text, sizeof(insn->text), "%s%s%.60s", decoded[0].mnemonic,
			 *decoded[0].op_str ? " " : "", decoded[0].op_str);
	if (n)
		cs_free(decoded, n);
	cs_close(&handle);
	insn->length = 4;
	if (!n && !gus_insn_form_text(GUS_ISA_ARM64, bytes, size, insn->text, sizeof(insn->text)))
		gus_insn_bad_text(insn, 4);
	return 4;
}

size_t gus_insn_decode(enum gus_isa isa, const void *bytes, size_t size, uint64_t address, struct gus_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	switch (isa) {
	case GUS_ISA_X86_64:
	case GUS_ISA_X86_32:
		return gus_insn_x86_decode(isa == GUS_ISA_X86_64, bytes, size, address, insn);
	case GUS_ISA_ARM64:
		return decode_arm64(bytes, size, address, insn);
	default:
		return size ? gus_insn_bad_text(insn, 1) : 0;
	}
}

size_t gus_insn_analyse(enum gus_isa isa, const void *bytes, size_t size, struct gus_insn_info *info)
{
	switch (isa) {
	case GUS_ISA_X86_64:
	case GUS_ISA_X86_32:
		return gus_insn_x86_analyse(isa == GUS_ISA_X86_64, bytes, size, info);
	case GUS_ISA_ARM64:
		return gus_insn_arm64_analyse(bytes, size, info);
	default:
		return gus_insn_bad_info(info, !!size);
	}
}

size_t gus_insn_form_text(enum gus_isa isa, const void *bytes, size_t size, char *out, size_t room)
{
	switch (isa) {
	case GUS_ISA_X86_64:
	case GUS_ISA_X86_32:
		return gus_insn_x86_form_text(isa == GUS_ISA_X86_64, bytes, size, out, room);
	case GUS_ISA_ARM64:
		return gus_insn_arm64_form_text(bytes, size, out, room);
	default:
		if (room)
			*out = 0;
		return 0;
	}
}
