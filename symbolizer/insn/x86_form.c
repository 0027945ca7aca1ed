/* SPDX-License-Identifier: MIT */
/* The text of an x86 form: the instruction without its choice of registers and values.
 *
 *     NAME[_LOCK][_DETAIL][_EVEX][_ER|_SAE][_Z][_REPE|_REPNE] [(OPERAND, ...)][ +same]
 *
 * NAME is the mnemonic as uops.info has it (JNZ, CALL_NEAR, MOVSD_XMM). DETAIL tells apart encodings that read the
 * same: the opcode of the two directions of register moves and arithmetic (ADD_01, MOVAPS_0F28), the parts of lea's
 * address (LEA_B_IS_D8: base, scaled index, displacement of 8 bits; R: relative to rip), the immediate's size
 * (IMUL_IMMB), whether an 8-bit register needed REX (_R4) or not (_R0). _EVEX is there only where a VEX encoding
 * has the same name and operands. Operands are those that are written in assembly but for xmm0 of blendv and
 * sha256rnds2: R8l, R8h (ah to bh), R16, R32, R64, XMM, YMM, ZMM, MM, ST, K, TMM, BND, SEG, CR, DR, registers that
 * cannot be chosen by name (AL, CL, DX), memory by bits (M32), by element of a broadcast (M32_1to8), by index
 * register of a gather (VSIB_YMM), Moffs32, immediates by bits as encoded (I8; 0 and 1 are forms of their own where
 * hardware or encoding treats them apart), and Rel8, Rel32.
 *
 * Ours alone is "+same": both sources are one register, of the instructions that become constants or at least
 * independent by that (xor, pcmpeq, sbb). x87 has no names there; ours follow the same rules. */
#include "symbolizer/insn/x86.h"

#include <string.h>

struct writer {
	char *out;
	size_t n;
};

static void put(struct writer *w, const char *text, size_t size)
{
	if (w->n + size > GUS_INSN_FORM_MAX - 1)
		size = GUS_INSN_FORM_MAX - 1 - w->n;
	memcpy(w->out + w->n, text, size);
	w->n += size;
}

#define PUT(w, literal) put(w, literal, sizeof(literal) - 1)

static void put_number(struct writer *w, unsigned number)
{
	char digits[12];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	put(w, digits + at, sizeof(digits) - at);
}

static void put_upper(struct writer *w, const char *text)
{
	for (; *text && w->n < GUS_INSN_FORM_MAX - 1; text++)
		w->out[w->n++] = (char)(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
}

static void put_hex(struct writer *w, uint8_t byte)
{
	put(w, &"0123456789ABCDEF"[byte >> 4], 1);
	put(w, &"0123456789ABCDEF"[byte & 15], 1);
}

static bool is_visible(const struct gus_x86 *x, unsigned i)
{
	return i < x->insn.operand_count_visible;
}

static bool is_register(const struct gus_x86 *x, unsigned i)
{
	return is_visible(x, i) && x->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_immediate(const struct gus_x86 *x, unsigned i)
{
	return is_visible(x, i) && x->operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_masked(const struct gus_x86 *x)
{
	return x->insn.avx.mask.reg > ZYDIS_REGISTER_K0;
}

bool gus_x86_same_registers(const struct gus_x86 *x)
{
	ZydisRegister last[2] = { ZYDIS_REGISTER_NONE, ZYDIS_REGISTER_NONE };

	for (unsigned i = 0; i < x->insn.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &x->operands[i];

		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
			return false;
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->encoding == ZYDIS_OPERAND_ENCODING_MASK)
			continue;
		last[0] = last[1];
		last[1] = op->reg.value;
	}
	return last[0] && last[0] == last[1];
}

/* Both operands are general registers, or both vector registers of one kind: then either direction can be encoded. */
static bool is_twin(const struct gus_x86 *x)
{
	unsigned n = x->insn.operand_count_visible;

	if (!(x->mnemonic.traits & GUS_X86_TWIN) || n < 2 || x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return false;
	for (unsigned i = 0; i < n; i++) {
		enum gus_x86_kind kind = gus_x86_kind(&x->operands[i]), first = gus_x86_kind(&x->operands[0]);

		if (kind == GUS_X86_KIND_OTHER || kind >= GUS_X86_KIND_TMM || x->operands[i].visibility ==
		    ZYDIS_OPERAND_VISIBILITY_IMPLICIT)
			return false;
		if (kind != first && (kind > GUS_X86_KIND_R8H || first > GUS_X86_KIND_R8H))
			return false;
	}
	return true;
}

static void put_address_shape(struct writer *w, const struct gus_x86 *x, const ZydisDecodedOperandMem *mem)
{
	if (mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP)
		PUT(w, "_R");
	else if (mem->base)
		PUT(w, "_B");
	if (mem->index && mem->scale > 1)
		PUT(w, "_IS");
	else if (mem->index)
		PUT(w, "_I");
	if (x->insn.raw.disp.size == 8)
		PUT(w, "_D8");
	else if (x->insn.raw.disp.size)
		PUT(w, "_D32");
}

/* An 8-bit register and an immediate or the constant 1, by the opcodes that take any register. */
static bool is_byte_immediate(const struct gus_x86 *x)
{
	return x->insn.operand_count_visible == 2 && gus_x86_kind(&x->operands[0]) == GUS_X86_KIND_R8L &&
	       is_immediate(x, 1) && x->operands[0].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM &&
	       x->insn.mnemonic != ZYDIS_MNEMONIC_MOV;
}

static bool has_prefix_66(const struct gus_x86 *x)
{
	return x->insn.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE;
}

/* The details of single mnemonics. */
static void put_detail(struct writer *w, const struct gus_x86 *x)
{
	enum gus_x86_kind kind;

	switch (x->insn.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_CMPSD:
		if (x->insn.operand_count_visible)
			PUT(w, "_XMM");
		break;
	case ZYDIS_MNEMONIC_MOV:
		kind = gus_x86_kind(&x->operands[0]);
		if (kind != GUS_X86_KIND_CR && kind != GUS_X86_KIND_DR)
			kind = gus_x86_kind(&x->operands[1]);
		if (kind == GUS_X86_KIND_CR)
			PUT(w, "_CR");
		if (kind == GUS_X86_KIND_DR)
			PUT(w, "_DR");
		break;
	case ZYDIS_MNEMONIC_IMUL:
		if (is_register(x, 1) && is_immediate(x, 2))
			put(w, x->insn.raw.imm[0].size == 8 ? "_IMMB" : "_IMMZ", 5);
		break;
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHRD:
		if (is_register(x, 0) && is_immediate(x, 2))
			PUT(w, "_IMMB");
		else if (is_register(x, 0))
			PUT(w, "_CL");
		break;
	case ZYDIS_MNEMONIC_PUSH:
		kind = gus_x86_kind(&x->operands[0]);
		if (has_prefix_66(x) && (is_immediate(x, 0) || kind == GUS_X86_KIND_SEG))
			PUT(w, "_W");
		break;
	case ZYDIS_MNEMONIC_POP:
		if (has_prefix_66(x) && gus_x86_kind(&x->operands[0]) == GUS_X86_KIND_SEG)
			PUT(w, "_W");
		break;
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_LEAVE:
		if (has_prefix_66(x))
			PUT(w, "_W");
		break;
	case ZYDIS_MNEMONIC_PREFETCH:
		PUT(w, "_EXCLUSIVE");
		break;
	case ZYDIS_MNEMONIC_PEXTRW:
		if (!is_register(x, 0))
			PUT(w, "_SSE4");
		break;
	case ZYDIS_MNEMONIC_VPEXTRW:
		if (x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && x->insn.opcode == 0xc5)
			PUT(w, "_C5");
		break;
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		put(w, x->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? "_FAR" : "_NEAR",
		    x->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? 4 : 5);
		break;
	case ZYDIS_MNEMONIC_JMP:
		if (x->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			PUT(w, "_FAR");
		break;
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_BNDMK:
	case ZYDIS_MNEMONIC_BNDCL:
	case ZYDIS_MNEMONIC_BNDCN:
	case ZYDIS_MNEMONIC_BNDCU:
		if (!is_register(x, 1))
			put_address_shape(w, x, &x->operands[1].mem);
		break;
	default:
		if (is_byte_immediate(x))
			put(w, x->insn.attributes & ZYDIS_ATTRIB_HAS_REX ? "_R4" : "_R0", 3);
	}
}

static void put_evex(struct writer *w, const struct gus_x86 *x)
{
	bool wide = false;

	for (unsigned i = 0; i < x->insn.operand_count_visible; i++)
		wide |= gus_x86_kind(&x->operands[i]) == GUS_X86_KIND_ZMM;
	if ((x->mnemonic.traits & GUS_X86_SIBLING) && !wide && !is_masked(x) && (!x->insn.avx.broadcast.mode ||
	    x->insn.avx.broadcast.is_static))
		PUT(w, "_EVEX");
	if (x->insn.avx.rounding.mode)
		PUT(w, "_ER");
	else if (x->insn.avx.has_sae)
		PUT(w, "_SAE");
	/* The K forms of compare are zeroing by nature, which Zydis says and names do not. */
	if (is_masked(x) && x->insn.raw.evex.z)
		PUT(w, "_Z");
}

static void put_name(struct writer *w, const struct gus_x86 *x)
{
	put_upper(w, x->name ? x->name : ZydisMnemonicGetString(x->insn.mnemonic));
	/* The exchange with memory is locked with or without the prefix. */
	if ((x->insn.attributes & ZYDIS_ATTRIB_HAS_LOCK) && x->insn.mnemonic != ZYDIS_MNEMONIC_XCHG)
		PUT(w, "_LOCK");
	put_detail(w, x);
	if (is_twin(x)) {
		PUT(w, "_");
		if (x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && x->insn.opcode_map == ZYDIS_OPCODE_MAP_0F)
			PUT(w, "0F");
		put_hex(w, x->insn.opcode);
	}
	if (x->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		put_evex(w, x);
	if (x->insn.attributes & ZYDIS_ATTRIB_HAS_REPNE)
		PUT(w, "_REPNE");
	else if (x->insn.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE))
		PUT(w, "_REPE");
}

static const struct { char text[6]; uint8_t size; } kinds[] = {
	[GUS_X86_KIND_OTHER] = { "SYS", 3 },
	[GUS_X86_KIND_R8L] = { "R8l", 3 }, [GUS_X86_KIND_R8H] = { "R8h", 3 }, [GUS_X86_KIND_R16] = { "R16", 3 },
	[GUS_X86_KIND_R32] = { "R32", 3 }, [GUS_X86_KIND_R64] = { "R64", 3 }, [GUS_X86_KIND_ST] = { "ST", 2 },
	[GUS_X86_KIND_MM] = { "MM", 2 }, [GUS_X86_KIND_XMM] = { "XMM", 3 }, [GUS_X86_KIND_YMM] = { "YMM", 3 },
	[GUS_X86_KIND_ZMM] = { "ZMM", 3 }, [GUS_X86_KIND_TMM] = { "TMM", 3 }, [GUS_X86_KIND_K] = { "K", 1 },
	[GUS_X86_KIND_BND] = { "BND", 3 }, [GUS_X86_KIND_SEG] = { "SEG", 3 }, [GUS_X86_KIND_CR] = { "CR", 2 },
	[GUS_X86_KIND_DR] = { "DR", 2 }, [GUS_X86_KIND_IP] = { "RIP", 3 }, [GUS_X86_KIND_FLAGS] = { "FLAGS", 5 },
};

static void put_register(struct writer *w, const ZydisDecodedOperand *op)
{
	enum gus_x86_kind kind = gus_x86_registers[op->reg.value].kind;

	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT && kind != GUS_X86_KIND_ST)
		put_upper(w, ZydisRegisterGetString(op->reg.value));
	else
		put(w, kinds[kind].text, kinds[kind].size);
}

static void put_memory(struct writer *w, const struct gus_x86 *x, const ZydisDecodedOperand *op)
{
	static const uint8_t broadcasts[][2] = {
		[ZYDIS_BROADCAST_MODE_1_TO_2] = { 1, 2 }, [ZYDIS_BROADCAST_MODE_1_TO_4] = { 1, 4 },
		[ZYDIS_BROADCAST_MODE_1_TO_8] = { 1, 8 }, [ZYDIS_BROADCAST_MODE_1_TO_16] = { 1, 16 },
		[ZYDIS_BROADCAST_MODE_1_TO_32] = { 1, 32 }, [ZYDIS_BROADCAST_MODE_1_TO_64] = { 1, 64 },
	};
	unsigned mode = x->insn.avx.broadcast.is_static ? 0 : x->insn.avx.broadcast.mode;

	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		PUT(w, "VSIB_");
		put(w, kinds[gus_x86_registers[op->mem.index].kind].text, 3);
		return;
	}
	if (op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64) {
		PUT(w, "Moffs");
		put_number(w, op->size);
		return;
	}
	PUT(w, "M");
	put_number(w, x->insn.meta.category == ZYDIS_CATEGORY_PREFETCH ? 512 : op->size);
	if (mode < sizeof(broadcasts) / sizeof(*broadcasts) && broadcasts[mode][0]) {
		PUT(w, "_1to");
		put_number(w, broadcasts[mode][1]);
	}
}

/* Zero is a form of its own of the 8-bit immediates of general instructions: adc r, 0 is cheaper on some CPUs, and a
 * shift by zero leaves the flags alone. */
static bool is_zero_form(const struct gus_x86 *x, const ZydisDecodedOperand *op, unsigned bits)
{
	if (bits != 8 || op->imm.value.u || x->insn.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	switch (x->mnemonic.class) {
	case GUS_INSN_ALU:
	case GUS_INSN_SHIFT:
	case GUS_INSN_MUL:
	case GUS_INSN_MOV:
		return true;
	default:
		return x->insn.mnemonic == ZYDIS_MNEMONIC_PUSH || x->insn.mnemonic == ZYDIS_MNEMONIC_IN ||
		       x->insn.mnemonic == ZYDIS_MNEMONIC_OUT;
	}
}

static void put_immediate(struct writer *w, const struct gus_x86 *x, const ZydisDecodedOperand *op, unsigned number)
{
	unsigned bits = x->insn.raw.imm[number & 1].size;

	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT) {
		put_number(w, (unsigned)op->imm.value.u);
		return;
	}
	if (op->imm.is_relative)
		PUT(w, "Rel");
	else if (is_zero_form(x, op, bits)) {
		PUT(w, "0");
		return;
	} else
		PUT(w, "I");
	put_number(w, bits ? bits : op->size);
}

static bool is_written(const struct gus_x86 *x, const ZydisDecodedOperand *op)
{
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && op->reg.value == ZYDIS_REGISTER_K0)
		return false;
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return false;
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT)
		return gus_x86_registers[op->reg.value].kind != GUS_X86_KIND_XMM;
	return x->insn.mnemonic != ZYDIS_MNEMONIC_NOP || op == x->operands;
}

size_t gus_x86_form(const struct gus_x86 *x, char *out)
{
	struct writer w = { out, 0 };
	unsigned immediates = 0;
	bool open = false;

	put_name(&w, x);
	for (unsigned i = 0; i < x->insn.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &x->operands[i];

		if (!is_written(x, op))
			continue;
		put(&w, open ? ", " : " (", 2);
		open = true;
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
			put_register(&w, op);
		else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
			put_memory(&w, x, op);
		else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			put_immediate(&w, x, op, immediates++);
		else
			PUT(&w, "Far");
	}
	if (open)
		PUT(&w, ")");
	if ((x->mnemonic.traits & (GUS_X86_ZERO | GUS_X86_ONES | GUS_X86_SAME)) && !is_masked(x) &&
	    gus_x86_same_registers(x))
		PUT(&w, " +same");
	return w.n;
}
