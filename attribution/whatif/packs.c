/* SPDX-License-Identifier: MIT */
#include "attribution/whatif/packs.h"

#include <string.h>

#include "attribution/whatif/turning.h"

#define FP_TWO(name, op, any) \
	{ name "SS", { GUS_PACK_TWO, 4, 4, { 1, 0, op, 0 }, 0, true, true, any, false } }, \
	{ name "SD", { GUS_PACK_TWO, 8, 8, { 1, 1, op, 0 }, 0, true, true, any, false } }
#define FP_LOGIC(name, op) \
	{ name "PS", { GUS_PACK_TWO, 4, 4, { 1, 0, op, 0 }, 0, true, true, false, false } }, \
	{ name "PD", { GUS_PACK_TWO, 8, 8, { 1, 1, op, 0 }, 0, true, true, false, false } }
#define FMA(name, op, any) \
	{ name "SS", { GUS_PACK_FMA, 4, 4, { 2, 1, op, 0 }, 0, true, true, any, false } }, \
	{ name "SD", { GUS_PACK_FMA, 8, 8, { 2, 1, op, 1 }, 0, true, true, any, false } }
#define MOVES(name, bytes) \
	{ name, { GUS_PACK_MOVE, bytes, bytes, { 0 }, 0, true, true, false, false } }
#define CONVERT(name, from_, to_, prefix, op) \
	{ name, { GUS_PACK_CONVERT, from_, to_, { 1, prefix, op, 0 }, 0, true, true, false, false } }

/* By mnemonic, without the V of VEX. */
static const struct { const char *name; struct gus_pack pack; } vectors[] = {
	FP_TWO("ADD", 0x58, true), FP_TWO("MUL", 0x59, true), FP_TWO("SUB", 0x5c, true), FP_TWO("MIN", 0x5d, true),
	FP_TWO("MAX", 0x5f, true), FP_TWO("DIV", 0x5e, false),
	FP_LOGIC("AND", 0x54), FP_LOGIC("ANDN", 0x55), FP_LOGIC("OR", 0x56), FP_LOGIC("XOR", 0x57),
	FMA("FMADD132", 0x98, true), FMA("FMADD213", 0xa8, true), FMA("FMADD231", 0xb8, true),
	FMA("FMSUB132", 0x9a, false), FMA("FMSUB213", 0xaa, false), FMA("FMSUB231", 0xba, false),
	FMA("FNMADD132", 0x9c, true), FMA("FNMADD213", 0xac, true), FMA("FNMADD231", 0xbc, true),
	FMA("FNMSUB132", 0x9e, false), FMA("FNMSUB213", 0xae, false), FMA("FNMSUB231", 0xbe, false),
	{ "SQRTSS", { GUS_PACK_ONE, 4, 4, { 1, 0, 0x51, 0 }, 0, true, true, false, false } },
	{ "SQRTSD", { GUS_PACK_ONE, 8, 8, { 1, 1, 0x51, 0 }, 0, true, true, false, false } },
	{ "RSQRTSS", { GUS_PACK_ONE, 4, 4, { 1, 0, 0x52, 0 }, 0, true, true, false, false } },
	{ "RCPSS", { GUS_PACK_ONE, 4, 4, { 1, 0, 0x53, 0 }, 0, true, true, false, false } },
	{ "ROUNDSS", { GUS_PACK_ONE, 4, 4, { 3, 1, 0x08, 0 }, 0, true, true, false, true } },
	{ "ROUNDSD", { GUS_PACK_ONE, 8, 8, { 3, 1, 0x09, 0 }, 0, true, true, false, true } },
	{ "CMPSS", { GUS_PACK_TWO, 4, 4, { 1, 0, 0xc2, 0 }, 0, true, true, false, true } },
	{ "CMPSD", { GUS_PACK_TWO, 8, 8, { 1, 1, 0xc2, 0 }, 0, true, true, false, true } },
	{ "UCOMISS", { GUS_PACK_COMPARE, 4, 4, { 1, 0, 0xc2, 0 }, 0, true, true, false, false } },
	{ "COMISS", { GUS_PACK_COMPARE, 4, 4, { 1, 0, 0xc2, 0 }, 0, true, true, false, false } },
	{ "UCOMISD", { GUS_PACK_COMPARE, 8, 8, { 1, 1, 0xc2, 0 }, 0, true, true, false, false } },
	{ "COMISD", { GUS_PACK_COMPARE, 8, 8, { 1, 1, 0xc2, 0 }, 0, true, true, false, false } },
	CONVERT("CVTSS2SD", 4, 8, 0, 0x5a), CONVERT("CVTSD2SS", 8, 4, 1, 0x5a),
	CONVERT("CVTSI2SD", 4, 8, 2, 0xe6), CONVERT("CVTSI2SS", 4, 4, 0, 0x5b),
	CONVERT("CVTTSD2SI", 8, 4, 1, 0xe6), CONVERT("CVTSD2SI", 8, 4, 3, 0xe6),
	CONVERT("CVTTSS2SI", 4, 4, 2, 0x5b), CONVERT("CVTSS2SI", 4, 4, 1, 0x5b),
	MOVES("MOVSS", 4), MOVES("MOVSD_XMM", 8), MOVES("MOVSD", 8), MOVES("MOVAPS", 0), MOVES("MOVAPD", 0),
	MOVES("MOVDQA", 0), MOVES("MOVD", 4), MOVES("MOVQ", 8), MOVES("UNPCKLPS", 4), MOVES("UNPCKLPD", 8),
};

/* Of general registers, by mnemonic, with the opcodes for elements of 1, 2, 4 and 8 bytes; 0: AVX2 has none. */
static const struct {
	const char *name;
	enum gus_pack_kind kind;
	uint8_t map, opcodes[4], extension;
	bool is_signed, associative;
} integers[] = {
	{ "ADD", GUS_PACK_TWO, 1, { 0xfc, 0xfd, 0xfe, 0xd4 }, 0, true, true },
	{ "SUB", GUS_PACK_TWO, 1, { 0xf8, 0xf9, 0xfa, 0xfb }, 0, true, true },
	{ "INC", GUS_PACK_TWO, 1, { 0xfc, 0xfd, 0xfe, 0xd4 }, 0, true, true },
	{ "DEC", GUS_PACK_TWO, 1, { 0xf8, 0xf9, 0xfa, 0xfb }, 0, true, true },
	{ "NEG", GUS_PACK_TWO, 1, { 0xf8, 0xf9, 0xfa, 0xfb }, 0, true, false },
	{ "AND", GUS_PACK_TWO, 1, { 0xdb, 0xdb, 0xdb, 0xdb }, 0, true, true },
	{ "OR", GUS_PACK_TWO, 1, { 0xeb, 0xeb, 0xeb, 0xeb }, 0, true, true },
	{ "XOR", GUS_PACK_TWO, 1, { 0xef, 0xef, 0xef, 0xef }, 0, true, true },
	{ "NOT", GUS_PACK_TWO, 1, { 0xef, 0xef, 0xef, 0xef }, 0, true, false },
	{ "ANDN", GUS_PACK_TWO, 1, { 0xdf, 0xdf, 0xdf, 0xdf }, 0, true, false },
	{ "SHL", GUS_PACK_SHIFT, 1, { 0, 0x71, 0x72, 0x73 }, 6, true, false },
	{ "SHR", GUS_PACK_SHIFT, 1, { 0, 0x71, 0x72, 0x73 }, 2, true, false },
	{ "SAR", GUS_PACK_SHIFT, 1, { 0, 0x71, 0x72, 0 }, 4, true, false },
	{ "SHLX", GUS_PACK_TWO, 2, { 0, 0, 0x47, 0x47 }, 0, true, false },
	{ "SHRX", GUS_PACK_TWO, 2, { 0, 0, 0x45, 0x45 }, 0, true, false },
	{ "SARX", GUS_PACK_TWO, 2, { 0, 0, 0x46, 0 }, 0, true, false },
	{ "CMP", GUS_PACK_COMPARE, 1, { 0x64, 0x65, 0x66, 0x66 }, 0, true, false },
	{ "TEST", GUS_PACK_COMPARE, 1, { 0x74, 0x75, 0x76, 0x76 }, 0, true, false },
	{ "MOV", GUS_PACK_MOVE, 0, { 1, 1, 1, 1 }, 0, true, false },
	{ "MOVZX", GUS_PACK_MOVE, 0, { 1, 1, 1, 1 }, 0, false, false },
	{ "MOVSX", GUS_PACK_MOVE, 0, { 1, 1, 1, 1 }, 0, true, false },
	{ "MOVSXD", GUS_PACK_MOVE, 0, { 1, 1, 1, 1 }, 0, true, false },
	{ "CDQE", GUS_PACK_MOVE, 0, { 1, 1, 1, 1 }, 0, true, false },
	{ "CWDE", GUS_PACK_MOVE, 0, { 1, 1, 1, 1 }, 0, true, false },
	{ "LEA", GUS_PACK_ADDRESS, 1, { 0xfc, 0xfd, 0xfe, 0xd4 }, 0, true, false },
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* The mnemonic begins the form; what follows it is encodings, or operands. MOVSD of vectors has its own name. */
static bool is_named(const char *form, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(form, name, n) && (!form[n] || form[n] == ' ' || form[n] == '_');
}

/* Bytes of what it writes, or else reads, of general registers or memory. */
static unsigned width_of(const struct gus_insn_info *info, bool read)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < info->access_count; i++) {
		const struct gus_insn_access *a = &info->access[i];

		if (a->reg < GUS_X86_RAX || a->reg > GUS_X86_R15 || a->use & GUS_ACCESS_ADDRESS)
			continue;
		if (a->use & (read ? GUS_ACCESS_READ : GUS_ACCESS_WRITE) && a->bits > bits)
			bits = a->bits;
	}
	for (unsigned i = 0; i < info->memory_count; i++)
		if (info->memory[i].use & (read ? GUS_ACCESS_READ : GUS_ACCESS_WRITE) && info->memory[i].bits > bits)
			bits = info->memory[i].bits;
	return bits / 8;
}

static unsigned size_index(unsigned bytes)
{
	return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

/* 32 bits: pmulld; 16: pmullw. */
static bool find_product(unsigned bytes, struct gus_pack *out)
{
	static const struct gus_vex of[] = { { 1, 1, 0xd5, 0 }, { 1, 1, 0xd5, 0 }, { 2, 1, 0x40, 0 },
		{ 1, 1, 0xf4, 0 } };

	*out = (struct gus_pack){ bytes == 8 ? GUS_PACK_PRODUCT64 : GUS_PACK_TWO, (uint8_t)bytes, (uint8_t)bytes,
		of[size_index(bytes)], 0, false, true, true, false };
	return true;
}

static bool find_integer(const struct gus_turning_insn *insn, struct gus_pack *out)
{
	const char *form = insn->form;
	unsigned writes = width_of(insn->info, false), reads = width_of(insn->info, true);
	unsigned bytes = writes ? writes : reads;

	if (insn->info->vector_bits || !bytes || bytes > 8)
		return false;
	if (is_named(form, "IMUL"))
		return insn->info->access_count && writes == bytes && find_product(bytes, out);
	if (!strncmp(form, "CMOV", 4)) {
		*out = (struct gus_pack){ GUS_PACK_CHOOSE, (uint8_t)bytes, (uint8_t)bytes, { 3, 1, 0x4c, 0 }, 0,
			false, true, false, false };
		return true;
	}
	for (size_t i = 0; i < COUNT(integers); i++) {
		uint8_t opcode = integers[i].opcodes[size_index(bytes)];

		if (!is_named(form, integers[i].name) || !opcode)
			continue;
		if (integers[i].kind == GUS_PACK_SHIFT && !(insn->info->flags & GUS_INSN_IMMEDIATE))
			return false;
		*out = (struct gus_pack){ integers[i].kind, (uint8_t)(reads && reads < bytes ? reads : bytes),
			(uint8_t)bytes, { integers[i].map, 1, opcode, integers[i].map == 2 && bytes == 8 },
			integers[i].extension, false, integers[i].is_signed, integers[i].associative, false };
		if (integers[i].kind == GUS_PACK_COMPARE && bytes == 8)
			out->vex = (struct gus_vex){ 2, 1, 0x37, 0 };
		return true;
	}
	return false;
}

bool gus_pack_find(const struct gus_turning_insn *insn, struct gus_pack *out)
{
	const char *form = insn->form + (*insn->form == 'V' && insn->info->flags & (GUS_INSN_VEX | GUS_INSN_EVEX));

	*out = (struct gus_pack){ .kind = GUS_PACK_NONE };
	for (size_t i = 0; i < COUNT(vectors) && insn->info->vector_bits; i++) {
		if (!is_named(form, vectors[i].name))
			continue;
		*out = vectors[i].pack;
		/* AVX2 converts to and from 32-bit integers alone. */
		if (out->kind == GUS_PACK_CONVERT &&
		    (strstr(form, "R64") || (strstr(form, "SI2") && strstr(form, "M64"))))
			out->kind = GUS_PACK_NONE;
		return out->kind != GUS_PACK_NONE;
	}
	return find_integer(insn, out);
}
