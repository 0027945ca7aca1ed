/* SPDX-License-Identifier: MIT */
/* Microbenchmarks in x86-64, by the encodings of Intel's SDM volume 2. The counter is rdi, the arena rsi, as the System
 * V ABI passes them. */
#include "model/calibration/emit_private.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { COUNTER = RDI };

/* R 0 to 11, and the arena. */
static const uint8_t registers[] = { RAX, RCX, RDX, RBX, RBP, 8, 9, 10, 11, 12, 13, 14, RSI };
static const uint8_t kept[] = { RBX, RBP, 12, 13, 14 };

static void byte(struct gus_micro *k, unsigned value)
{
	gus_vec_push(&k->code, (uint8_t)value);
}

static void word(struct gus_micro *k, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		byte(k, (unsigned)(value >> 8 * i & 0xff));
}

/* An opcode of one byte or, with escape, two: mandatory prefix (0: none), REX, opcode. */
struct opcode { uint8_t prefix; bool wide, escape; uint8_t code; };

static void opcode(struct gus_micro *k, const struct opcode *o, unsigned reg, unsigned index, unsigned base, bool rex)
{
	unsigned bits = (o->wide ? 8u : 0) | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;

	if (o->prefix)
		byte(k, o->prefix);
	if (bits || rex)
		byte(k, 0x40 | bits);
	if (o->escape)
		byte(k, 0x0f);
	byte(k, o->code);
}

static void registers_of(struct gus_micro *k, struct opcode o, unsigned reg, unsigned rm)
{
	opcode(k, &o, reg, 0, rm, false);
	byte(k, 0xc0 | (reg & 7) << 3 | (rm & 7));
}

/* ModRM, SIB and displacement of base + index + offset; index RSP: none, as the encoding has it. */
static void memory(struct gus_micro *k, unsigned reg, unsigned base, unsigned index, int32_t offset)
{
	bool small = offset >= -128 && offset <= 127;
	bool none = offset == 0 && (base & 7) != RBP;
	bool sib = index != RSP || (base & 7) == RSP;

	byte(k, (none ? 0 : small ? 0x40 : 0x80) | (reg & 7) << 3 | (sib ? 4 : (base & 7)));
	if (sib)
		byte(k, (index & 7) << 3 | (base & 7));
	if (!none)
		word(k, (uint64_t)(int64_t)offset, small ? 1 : 4);
}

static void pi(struct gus_micro *k)
{
	static const double value = 3.14159265358979;
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	byte(k, 0x48);
	byte(k, 0xb8);
	word(k, bits, 8);
}

static void begin(struct gus_micro *k)
{
	for (size_t i = 0; i < sizeof(kept); i++) {
		if (kept[i] & 8)
			byte(k, 0x41);
		byte(k, 0x50 | (kept[i] & 7));
	}
	pi(k);
	registers_of(k, (struct opcode){ 0x66, true, true, 0x6e }, 0, RAX);
	registers_of(k, (struct opcode){ 0x66, false, true, 0x14 }, 0, 0);
	for (unsigned v = 1; v < GUS_EMIT_V; v++)
		registers_of(k, (struct opcode){ 0, false, true, 0x28 }, v, 0);
	for (unsigned r = 0; r < GUS_EMIT_R; r++)
		registers_of(k, (struct opcode){ 0, false, false, 0x31 }, registers[r], registers[r]);
}

/* The longest nops that Intel and AMD both recommend. */
static const uint8_t nops[9][9] = {
	{ 0x90 }, { 0x66, 0x90 }, { 0x0f, 0x1f, 0x00 }, { 0x0f, 0x1f, 0x40, 0 }, { 0x0f, 0x1f, 0x44, 0, 0 },
	{ 0x66, 0x0f, 0x1f, 0x44, 0, 0 }, { 0x0f, 0x1f, 0x80, 0, 0, 0, 0 }, { 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 },
	{ 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 },
};

static void nop(struct gus_micro *k, unsigned bytes)
{
	gus_emit_put(k, nops[bytes - 1], bytes);
}

static void align(struct gus_micro *k)
{
	while (k->code.n % 64) {
		unsigned left = 64 - (unsigned)(k->code.n % 64);

		nop(k, left > 9 ? 9 : left);
	}
}

static void end(struct gus_micro *k)
{
	int64_t back;

	registers_of(k, (struct opcode){ 0, true, false, 0x83 }, 5, COUNTER);
	byte(k, 1);
	back = (int64_t)k->loop - (int64_t)k->code.n - 2;
	if (back >= -128) {
		byte(k, 0x75);
		word(k, (uint64_t)back, 1);
	} else {
		byte(k, 0x0f);
		byte(k, 0x85);
		word(k, (uint64_t)(back - 4), 4);
	}
	k->end = (uint32_t)k->code.n;
	if (k->wide)
		gus_emit_put(k, (const uint8_t[]){ 0xc5, 0xf8, 0x77 }, 3); /* vzeroupper */
	for (size_t i = sizeof(kept); i-- > 0;) {
		if (kept[i] & 8)
			byte(k, 0x41);
		byte(k, 0x58 | (kept[i] & 7));
	}
	byte(k, 0xc3);
}

/* Operations of two registers, both of the file that they are of; where reg is the one that is read, `to` is in rm. */
static const struct { struct opcode opcode; bool to_in_rm, general_to, general_from; } pairs[GUS_EMIT_OPS] = {
	[GUS_EMIT_MOVE] = { { 0, true, false, 0x89 }, true, true, true },
	[GUS_EMIT_ADD] = { { 0, true, false, 0x01 }, true, true, true },
	[GUS_EMIT_MULTIPLY] = { { 0, true, true, 0xaf }, false, true, true },
	[GUS_EMIT_TEST] = { { 0, true, false, 0x85 }, true, true, true },
	[GUS_EMIT_SQRT] = { { 0x66, false, true, 0x51 }, false, false, false },
	[GUS_EMIT_ADD_VECTOR] = { { 0x66, false, true, 0x58 }, false, false, false },
	[GUS_EMIT_MULTIPLY_VECTOR] = { { 0x66, false, true, 0x59 }, false, false, false },
	[GUS_EMIT_XOR_VECTOR] = { { 0, false, true, 0x57 }, false, false, false },
	[GUS_EMIT_TO_GENERAL] = { { 0x66, true, true, 0x7e }, true, true, false },
	[GUS_EMIT_TO_VECTOR] = { { 0x66, true, true, 0x6e }, false, false, true },
};

static void constant(struct gus_micro *k, unsigned r, uint64_t value)
{
	bool large = value > UINT32_MAX;

	if (large || r >= 8)
		byte(k, 0x40 | (large ? 8 : 0) | r >> 3);
	byte(k, 0xb8 | (r & 7));
	word(k, value, large ? 8 : 4);
}

static void immediate(struct gus_micro *k, unsigned extension, unsigned r, uint64_t value, bool small)
{
	registers_of(k, (struct opcode){ 0, true, false, small ? 0x83 : 0x81 }, extension, r);
	word(k, value, small ? 1 : 4);
}

static void op(struct gus_micro *k, enum gus_emit_op what, unsigned to, unsigned from, uint64_t value)
{
	static const struct opcode lea = { 0, true, false, 0x8d };
	unsigned r = registers[to < sizeof(registers) ? to : 0];

	switch (what) {
	case GUS_EMIT_CONSTANT:
		constant(k, r, value);
		return;
	case GUS_EMIT_ADDRESS:
		opcode(k, &lea, r, 0, RSI, false);
		memory(k, r, RSI, RSP, (int32_t)value);
		return;
	case GUS_EMIT_ADD_CONSTANT:
	case GUS_EMIT_ADD_LARGE:
		immediate(k, 0, r, value, what == GUS_EMIT_ADD_CONSTANT);
		return;
	case GUS_EMIT_MASK:
		immediate(k, 4, r, ((uint64_t)1 << value) - 1, false);
		return;
	default:
		break;
	}
	to = pairs[what].general_to ? registers[to] : to;
	from = pairs[what].general_from ? registers[from] : from;
	if (pairs[what].to_in_rm)
		registers_of(k, pairs[what].opcode, from, to);
	else
		registers_of(k, pairs[what].opcode, to, from);
}

/* Vectors of 32 bytes by VEX, of 64 by EVEX (with vl 512, whose displacements of 8 bits count 64 bytes: so none is of
 * 8 bits). vmovups both. */
static void wide_vector(struct gus_micro *k, const struct gus_emit_place *p, unsigned base)
{
	unsigned code = p->what == GUS_EMIT_LOAD_VECTOR ? 0x10 : 0x11;
	unsigned not_reg = p->reg >> 3 ? 0 : 0x80, not_base = base >> 3 ? 0 : 0x20;
	bool sib = (base & 7) == RSP;

	if (p->bytes == 32) {
		byte(k, 0xc4);
		byte(k, not_reg | 0x40 | not_base | 1);
		byte(k, 0x7c);
		byte(k, code);
	} else {
		byte(k, 0x62);
		byte(k, not_reg | 0x40 | not_base | 0x10 | 1);
		byte(k, 0x7c);
		byte(k, 0x48);
		byte(k, code);
	}
	byte(k, 0x80 | (p->reg & 7) << 3 | (sib ? 4 : (base & 7)));
	if (sib)
		byte(k, 4 << 3 | (base & 7));
	word(k, (uint64_t)(int64_t)p->offset, 4);
}

static void access_of(struct gus_micro *k, const struct gus_emit_place *p)
{
	static const struct opcode general[] = {
		[GUS_EMIT_LOAD] = { 0, true, false, 0x8b }, [GUS_EMIT_LOAD_BYTE] = { 0, false, true, 0xb6 },
		[GUS_EMIT_STORE] = { 0, true, false, 0x89 }, [GUS_EMIT_STORE_HALF] = { 0, false, false, 0x89 },
		[GUS_EMIT_STORE_BYTE] = { 0, false, false, 0x88 },
	};
	static const struct opcode vectors[2][2] = { /* load, store; 8 bytes, 16 */
		{ { 0xf3, false, true, 0x7e }, { 0, false, true, 0x10 } },
		{ { 0x66, false, true, 0xd6 }, { 0, false, true, 0x11 } },
	};
	bool is_vector = p->what >= GUS_EMIT_LOAD_VECTOR;
	unsigned base = registers[p->base], index = p->index == GUS_MICRO_NONE ? RSP : registers[p->index];
	unsigned reg = is_vector ? p->reg : registers[p->reg];
	const struct opcode *o = is_vector ? &vectors[p->what == GUS_EMIT_STORE_VECTOR][p->bytes == 16] :
					     &general[p->what];

	if (is_vector && p->bytes > 16) {
		wide_vector(k, p, base);
		return;
	}
	opcode(k, o, reg, index == RSP ? 0 : index, base, p->what == GUS_EMIT_STORE_BYTE);
	memory(k, reg, base, index, p->offset);
}

static uint32_t branch(struct gus_micro *k, unsigned r)
{
	uint32_t from;

	if (r == GUS_MICRO_NONE)
		immediate(k, 7, COUNTER, UINT64_MAX, true);
	else
		op(k, GUS_EMIT_TEST, r, r, 0);
	from = (uint32_t)k->code.n;
	byte(k, 0x0f);
	byte(k, r == GUS_MICRO_NONE ? 0x84 : 0x85);
	word(k, 0, 4);
	return from;
}

static void land(struct gus_micro *k, uint32_t from)
{
	uint32_t distance = (uint32_t)k->code.n - from - 6;

	for (unsigned i = 0; i < 4; i++)
		k->code.v[from + 2 + i] = (uint8_t)(distance >> 8 * i);
}

const struct gus_emit_isa gus_emit_x86 = { begin, align, end, nop, op, access_of, branch, land };
