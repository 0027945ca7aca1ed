/* SPDX-License-Identifier: MIT */
/* Registers of an x86 instruction changed where they are encoded. A register's number is in two or three places: its
 * low three bits in ModRM, SIB, the opcode or the prefix, bit 3 in REX, VEX or EVEX, bit 4 in EVEX alone.
 *
 *	legacy   [prefixes] [REX: W R X B] [escape] opcode [ModRM] [SIB] ...
 *	VEX2     c5 [R vvvv L pp] opcode ModRM ...              registers 8 to 15 in ModRM.reg and vvvv only
 *	VEX3     c4 [R X B map] [W vvvv L pp] opcode ModRM ...
 *	EVEX     62 [R X B R' 0 map] [W vvvv 1 pp] [z L L b V' aaa] opcode ModRM ...
 *
 * All bits of VEX and EVEX that are register numbers are inverted, but aaa. */
#include <string.h>

#include "symbolizer/insn/private.h"
#include "symbolizer/insn/renaming.h"
#include "symbolizer/insn/x86.h"

/* Fields that choose a register. */
enum field { FIELD_NONE, FIELD_REG, FIELD_RM, FIELD_OPCODE, FIELD_V, FIELD_IS4, FIELD_MASK, FIELD_BASE, FIELD_INDEX };

/* An instruction that is being changed: its decoding, and its bytes with room for one more. */
struct patch {
	struct gus_x86 x;
	uint8_t bytes[GUS_INSN_BYTES + 1];
	unsigned length;
	unsigned opcode, modrm, sib;    /* where they are */
	unsigned prefix;                /* REX or the first byte of VEX, EVEX; if there is one */
};

static enum field field_of(const ZydisDecodedOperand *op)
{
	switch (op->encoding) {
	case ZYDIS_OPERAND_ENCODING_MODRM_REG: return FIELD_REG;
	case ZYDIS_OPERAND_ENCODING_MODRM_RM: return FIELD_RM;
	case ZYDIS_OPERAND_ENCODING_OPCODE: return FIELD_OPCODE;
	case ZYDIS_OPERAND_ENCODING_NDSNDD: return FIELD_V;
	case ZYDIS_OPERAND_ENCODING_IS4: return FIELD_IS4;
	case ZYDIS_OPERAND_ENCODING_MASK: return FIELD_MASK;
	default: return FIELD_NONE;
	}
}

static bool decode(const void *bytes, size_t size, struct gus_x86 *x)
{
	ZydisDecoder decoder;

	gus_x86_decoder_init(&decoder, true);
	return gus_x86_decode(&decoder, bytes, size, x) > 0;
}

static unsigned use_of(const struct gus_insn_info *info, unsigned reg, bool address)
{
	for (unsigned i = 0; i < info->access_count; i++)
		if (info->access[i].reg == reg && !(info->access[i].use & GUS_ACCESS_ADDRESS) == !address)
			return info->access[i].use & ~(unsigned)GUS_ACCESS_IMPLICIT;
	return 0;
}

/* The use of one operand alone, where a register is used by several. */
static unsigned own_use(const ZydisDecodedOperand *op, unsigned use)
{
	unsigned own = 0;

	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		own |= GUS_ACCESS_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		own |= GUS_ACCESS_WRITE | (use & (GUS_ACCESS_KEEP | GUS_ACCESS_CONDITIONAL));
	/* What is kept or may be is read, though no action of Zydis says so. */
	if ((own & GUS_ACCESS_KEEP && use & GUS_ACCESS_KEEP && use & GUS_ACCESS_READ) || own & GUS_ACCESS_CONDITIONAL)
		own |= GUS_ACCESS_READ;
	return own;
}

/* A field with the register in it, in the order of the operands; returns how many there are. */
struct choice {
	struct gus_insn_operand operand;
	enum field field;
};

static void add_choice(struct choice *choices, unsigned *n, enum field field, ZydisRegister reg, unsigned use)
{
	const struct gus_x86_register *r = &gus_x86_registers[reg];
	unsigned number = gus_x86_reg(reg);

	if (*n == GUS_INSN_OPERANDS || !number || r->kind == GUS_X86_KIND_IP)
		return;
	choices[*n].field = field;
	choices[(*n)++].operand = (struct gus_insn_operand){
		.reg = (uint8_t)number, .use = (uint8_t)use, .bits = r->bits,
		.file = (uint8_t)(r->kind == GUS_X86_KIND_R8H || field == FIELD_NONE ? GUS_INSN_FILE_NONE
				  : gus_insn_file(GUS_ISA_X86_64, number)) };
}

static unsigned choices_of(const struct gus_x86 *x, struct choice choices[GUS_INSN_OPERANDS])
{
	struct gus_insn_info info;
	unsigned n = 0;

	gus_x86_analyse(x, &info);
	for (unsigned i = 0; i < x->insn.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &x->operands[i];

		if (op->visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			continue;
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			enum field index = op->mem.type == ZYDIS_MEMOP_TYPE_VSIB ? FIELD_NONE : FIELD_INDEX;

			add_choice(choices, &n, FIELD_BASE, op->mem.base, GUS_ACCESS_READ | GUS_ACCESS_ADDRESS);
			add_choice(choices, &n, index, op->mem.index, GUS_ACCESS_READ | GUS_ACCESS_ADDRESS);
		} else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			   !(op->encoding == ZYDIS_OPERAND_ENCODING_MASK && op->reg.value == ZYDIS_REGISTER_K0)) {
			add_choice(choices, &n, field_of(op), op->reg.value,
				   own_use(op, use_of(&info, gus_x86_reg(op->reg.value), false)));
		}
	}
	return n;
}

unsigned gus_insn_x86_operands(const void *bytes, size_t size, struct gus_insn_operand *operands)
{
	struct choice choices[GUS_INSN_OPERANDS];
	struct gus_x86 x;
	unsigned n;

	if (!decode(bytes, size, &x))
		return 0;
	n = choices_of(&x, choices);
	for (unsigned i = 0; i < n; i++)
		operands[i] = choices[i].operand;
	return n;
}

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

/* Puts bytes in. */
static void widen(struct patch *p, unsigned at, uint8_t byte)
{
	memmove(p->bytes + at + 1, p->bytes + at, p->length - at);
	p->bytes[at] = byte;
	p->length++;
	p->opcode++;
	p->modrm++;
	p->sib++;
}

/* Gives a legacy instruction a REX, and one with the short VEX the long one, so that any register has a place. What is
 * not needed goes again at the end. */
static void make_room(struct patch *p)
{
	uint8_t *b = p->bytes;

	if (p->x.insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && !(p->x.insn.attributes & ZYDIS_ATTRIB_HAS_REX)) {
		widen(p, p->prefix, 0x40);
	} else if (p->x.insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && b[p->prefix] == 0xc5) {
		uint8_t short_one = b[p->prefix + 1];

		widen(p, p->prefix + 1, (uint8_t)((short_one & 0x80) | 0x61)); /* X and B are 0; the map is 0f */
		b[p->prefix] = 0xc4;
		b[p->prefix + 2] = short_one & 0x7f;
	}
}

static void put_bits(uint8_t *byte, unsigned low, unsigned bits, unsigned value)
{
	unsigned mask = ((1u << bits) - 1) << low;

	*byte = (uint8_t)((*byte & ~mask) | (value << low & mask));
}

enum extension { EXTENSION_R, EXTENSION_X, EXTENSION_B };

/* Bit 3 of a register number. */
static void put_extension(struct patch *p, enum extension e, unsigned bit)
{
	uint8_t *b = p->bytes + p->prefix;

	if (p->x.insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		put_bits(b, 2 - e, 1, bit);
	else
		put_bits(b + 1, 7 - e, 1, !bit);
}

static bool put_register(struct patch *p, enum field field, unsigned number)
{
	bool evex = p->x.insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	unsigned low = number & 7, bit = number >> 3 & 1, high = number >> 4;
	uint8_t *b = p->bytes;

	if (high && (!evex || field == FIELD_BASE || field == FIELD_INDEX))
		return false;
	switch (field) {
	case FIELD_REG:
		put_bits(&b[p->modrm], 3, 3, low);
		put_extension(p, EXTENSION_R, bit);
		if (evex)
			put_bits(&b[p->prefix + 1], 4, 1, !high);
		return true;
	case FIELD_RM:
		put_bits(&b[p->modrm], 0, 3, low);
		put_extension(p, EXTENSION_B, bit);
		if (evex)
			put_extension(p, EXTENSION_X, high);
		return true;
	case FIELD_OPCODE:
		put_bits(&b[p->opcode], 0, 3, low);
		put_extension(p, EXTENSION_B, bit);
		return true;
	case FIELD_V:
		put_bits(&b[p->prefix + 2], 3, 4, ~number & 15);
		if (evex)
			put_bits(&b[p->prefix + 3], 3, 1, !high);
		return true;
	case FIELD_IS4:
		put_bits(&b[p->length - 1], 4, 4, number);
		return true;
	case FIELD_MASK:
		put_bits(&b[p->prefix + 3], 0, 3, number);
		return number != 0;
	case FIELD_BASE:
		put_bits(p->x.insn.raw.sib.offset ? &b[p->sib] : &b[p->modrm], 0, 3, low);
		put_extension(p, EXTENSION_B, bit);
		return true;
	case FIELD_INDEX:
		put_bits(&b[p->sib], 3, 3, low);
		put_extension(p, EXTENSION_X, bit);
		return true;
	default:
		return false;
	}
}

/* The length of what is before the opcode and its escapes; where the prefix is. */
static bool begin(struct patch *p, const void *bytes, size_t size)
{
	const ZydisDecodedInstruction *insn = &p->x.insn;

	if (!decode(bytes, size, &p->x) || insn->length >= GUS_INSN_BYTES)
		return false;
	memcpy(p->bytes, bytes, insn->length);
	p->length = insn->length;
	p->modrm = insn->raw.modrm.offset;
	p->sib = insn->raw.sib.offset;
	p->opcode = p->modrm ? p->modrm - 1u : insn->length;
	switch (insn->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
		p->prefix = insn->raw.prefix_count;
		if (insn->attributes & ZYDIS_ATTRIB_HAS_REX)
			p->prefix = insn->raw.rex.offset;
		if (!p->modrm) /* one byte, or an escape and one, before a constant */
			p->opcode = p->prefix + is_rex(p->bytes[p->prefix]) +
				(insn->opcode_map == ZYDIS_OPCODE_MAP_0F);
		return true;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		p->prefix = insn->raw.vex.offset;
		return true;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		p->prefix = insn->raw.evex.offset;
		return true;
	default:
		return false;
	}
}

static void narrow(struct patch *p, unsigned at)
{
	p->length--;
	memmove(p->bytes + at, p->bytes + at + 1, p->length - at);
}

/* A prefix that was made and says nothing goes: the form may be told by it (byte registers), and length matters. The
 * byte registers 4 to 7 need a REX. */
static void tidy(struct patch *p, bool byte_register)
{
	uint8_t *b = p->bytes + p->prefix;

	if (p->x.insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
		if (!(p->x.insn.attributes & ZYDIS_ATTRIB_HAS_REX) && *b == 0x40 && !byte_register)
			narrow(p, p->prefix);
	} else if (*b == 0xc4 && p->length > p->x.insn.length && (b[1] & 0x7f) == 0x61 && !(b[2] & 0x80)) {
		b[2] |= b[1] & 0x80;
		b[0] = 0xc5;
		narrow(p, p->prefix + 1);
	}
}

size_t gus_insn_x86_renamed(const void *bytes, size_t size, const uint8_t *to, uint8_t *out)
{
	struct choice choices[GUS_INSN_OPERANDS];
	bool byte_register = false;
	struct patch p;
	unsigned n;

	if (!begin(&p, bytes, size))
		return 0;
	n = choices_of(&p.x, choices);
	make_room(&p);
	for (unsigned i = 0; i < n; i++) {
		const struct gus_insn_operand *operand = &choices[i].operand;
		unsigned number = to[i], first = operand->file == GUS_INSN_FILE_GENERAL ? GUS_X86_RAX
			: operand->file == GUS_INSN_FILE_VECTOR ? GUS_X86_V0 : GUS_X86_K0;

		if (!number)
			number = operand->reg;
		byte_register |= operand->bits == 8 && number >= GUS_X86_RSP && number <= GUS_X86_RDI;
		if (number != operand->reg && !put_register(&p, choices[i].field, number - first))
			return 0;
	}
	tidy(&p, byte_register);
	if (p.length >= GUS_INSN_BYTES)
		return 0;
	memcpy(out, p.bytes, p.length);
	return p.length;
}
