/* SPDX-License-Identifier: MIT */
/* Microbenchmarks in A64, by the encodings of the Arm Architecture Reference Manual (section C4.1). The counter is x0,
 * the arena x1, as the AAPCS64 passes them; R are x2 to x13 and V are v0 to v7 and v16 to v23, none of which a function
 * has to keep, so nothing is saved. x16 is for what one instruction can't say. */
#include "model/calibration/emit_private.h"

#include <assert.h>
#include <stdlib.h>

enum { COUNTER = 0, ARENA = 1, SCRATCH = 16, ZERO = 31, PAGE_BITS = 12 };

static unsigned general(unsigned r)
{
	return r == GUS_EMIT_ARENA ? ARENA : r + 2;
}

static unsigned vector(unsigned v)
{
	return v < 8 ? v : v + 8;
}

static void word(struct gus_micro *k, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		gus_vec_push(&k->code, (uint8_t)(value >> 8 * i));
}

/* Rd, Rn and Rm where nearly all instructions have them. */
static void three(struct gus_micro *k, uint32_t opcode, unsigned d, unsigned n, unsigned m)
{
	word(k, opcode | m << 16 | n << 5 | d);
}

/* movz, then a movk for each further 16 bits that are not 0. */
static void constant(struct gus_micro *k, unsigned d, uint64_t value)
{
	uint32_t opcode = 0xd2800000;

	if (!value)
		word(k, opcode | d);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t part = value >> 16 * i & 0xffff;

		if (!part)
			continue;
		word(k, opcode | i << 21 | part << 5 | d);
		opcode = 0xf2800000;
	}
}

/* d = n + value: two immediates of 12 bits, the one shifted by 12, else by a register. */
static void add_constant(struct gus_micro *k, unsigned d, unsigned n, int64_t value)
{
	const uint32_t immediate = value < 0 ? 0xd1000000 : 0x91000000, shifted = 1 << 22;
	uint64_t size = (uint64_t)llabs(value), high = size >> PAGE_BITS, low = size & ((1 << PAGE_BITS) - 1);

	if (high >> PAGE_BITS) {
		constant(k, SCRATCH, size);
		three(k, value < 0 ? 0xcb000000 : 0x8b000000, d, n, SCRATCH);
		return;
	}
	if (high)
		word(k, immediate | shifted | (uint32_t)high << 10 | n << 5 | d);
	if (low || !high)
		word(k, immediate | (uint32_t)low << 10 | (high ? d : n) << 5 | d);
}

static void begin(struct gus_micro *k)
{
	static const double pi = 3.14159265358979;
	uint64_t bits;

	memcpy(&bits, &pi, sizeof(bits));
	constant(k, SCRATCH, bits);
	for (unsigned v = 0; v < GUS_EMIT_V; v++)
		three(k, 0x4e080c00, vector(v), SCRATCH, 0); /* dup v.2d, x */
	for (unsigned r = 0; r < GUS_EMIT_R; r++)
		constant(k, general(r), 0);
}

static void nop(struct gus_micro *k, unsigned bytes)
{
	(void)bytes;
	word(k, 0xd503201f);
}

static void align(struct gus_micro *k)
{
	while (k->code.n % 64)
		nop(k, 4);
}

/* A conditional branch's or cbnz's distance, in words. */
static uint32_t distance(int64_t bytes)
{
	assert(bytes % 4 == 0 && llabs(bytes) < 1 << 20);
	return ((uint32_t)(bytes / 4) & 0x7ffff) << 5;
}

static void end(struct gus_micro *k)
{
	word(k, 0xf1000400 | COUNTER << 5 | COUNTER); /* subs x0, x0, #1 */
	word(k, 0x54000001 | distance((int64_t)k->loop - (int64_t)k->code.n)); /* b.ne */
	k->end = (uint32_t)k->code.n;
	word(k, 0xd65f03c0); /* ret */
}

/* Operations of registers: d = d op m, or d = op n where n is all. */
static const struct {
	uint32_t opcode;
	bool of_d, general_d, general_n;
} pairs[GUS_EMIT_OPS] = {
	[GUS_EMIT_ADD] = { 0x8b000000, true, true, true },
	[GUS_EMIT_MULTIPLY] = { 0x9b000000 | ZERO << 10, true, true, true },        /* madd d, d, m, xzr */
	[GUS_EMIT_SQRT] = { 0x6ee1f800, false, false, false },
	[GUS_EMIT_ADD_VECTOR] = { 0x4e60d400, true, false, false },
	[GUS_EMIT_MULTIPLY_VECTOR] = { 0x6e60dc00, true, false, false },
	[GUS_EMIT_XOR_VECTOR] = { 0x6e201c00, true, false, false },
	[GUS_EMIT_TO_GENERAL] = { 0x9e660000, false, true, false },                 /* fmov x, d */
	[GUS_EMIT_TO_VECTOR] = { 0x9e670000, false, false, true },                  /* fmov d, x */
};

static void mask(struct gus_micro *k, unsigned d, unsigned bits)
{
	if (bits)
		word(k, 0x92400000 | (bits - 1) << 10 | d << 5 | d); /* N 1, immr 0: so many ones */
	else
		three(k, 0x8a000000, d, d, ZERO);
}

static void op(struct gus_micro *k, enum gus_emit_op what, unsigned to, unsigned from, uint64_t value)
{
	unsigned d, n;

	switch (what) {
	case GUS_EMIT_CONSTANT:
		constant(k, general(to), value);
		return;
	case GUS_EMIT_ADDRESS:
		add_constant(k, general(to), ARENA, (int64_t)value);
		return;
	case GUS_EMIT_ADD_CONSTANT:
	case GUS_EMIT_ADD_LARGE:
		add_constant(k, general(to), general(to), (int64_t)value);
		return;
	case GUS_EMIT_MASK:
		mask(k, general(to), (unsigned)value);
		return;
	case GUS_EMIT_TEST:
		word(k, 0xf100001f | general(to) << 5); /* cmp x, #0 */
		return;
	case GUS_EMIT_MOVE:
		three(k, 0xaa000000, general(to), ZERO, general(from)); /* orr d, xzr, m */
		return;
	default:
		break;
	}
	d = pairs[what].general_d ? general(to) : vector(to);
	n = pairs[what].general_n ? general(from) : vector(from);
	three(k, pairs[what].opcode, d, pairs[what].of_d ? d : n, pairs[what].of_d ? n : 0);
}

/* Loads and stores of a base and an offset: by 12 bits that count words, by 9 bits with sign that count bytes. */
struct access_of { uint32_t scaled, unscaled; unsigned shift; };

static struct access_of access_of(const struct gus_emit_place *p)
{
	static const struct access_of general_ones[] = {
		[GUS_EMIT_LOAD] = { 0xf9400000, 0xf8400000, 3 }, [GUS_EMIT_LOAD_BYTE] = { 0x39400000, 0x38400000, 0 },
		[GUS_EMIT_STORE] = { 0xf9000000, 0xf8000000, 3 }, [GUS_EMIT_STORE_HALF] = { 0xb9000000, 0xb8000000, 2 },
		[GUS_EMIT_STORE_BYTE] = { 0x39000000, 0x38000000, 0 },
	};
	static const struct access_of vectors[2][2] = { /* load, store; 8 bytes, 16 */
		{ { 0xfd400000, 0xfc400000, 3 }, { 0x3dc00000, 0x3cc00000, 4 } },
		{ { 0xfd000000, 0xfc000000, 3 }, { 0x3d800000, 0x3c800000, 4 } },
	};

	if (p->what < GUS_EMIT_LOAD_VECTOR)
		return general_ones[p->what];
	assert(p->bytes == 8 || p->bytes == 16);
	return vectors[p->what == GUS_EMIT_STORE_VECTOR][p->bytes == 16];
}

static void access_to(struct gus_micro *k, const struct gus_emit_place *p)
{
	struct access_of o = access_of(p);
	unsigned reg = p->what >= GUS_EMIT_LOAD_VECTOR ? vector(p->reg) : general(p->reg), base = general(p->base);
	int32_t offset = p->offset, most = (1 << PAGE_BITS) - 1;

	if (p->index != GUS_MICRO_NONE) {
		assert(p->what == GUS_EMIT_LOAD);
		three(k, 0xf8606800, reg, base, general(p->index));
		return;
	}
	if (offset < 0 || offset >> o.shift > most || offset & ((1 << o.shift) - 1)) {
		bool small = offset >= -256 && offset < 256;

		if (!small)
			add_constant(k, SCRATCH, base, offset);
		base = small ? base : SCRATCH;
		word(k, o.unscaled | (small ? (uint32_t)offset & 0x1ff : 0) << 12 | base << 5 | reg);
		return;
	}
	word(k, o.scaled | (uint32_t)(offset >> o.shift) << 10 | base << 5 | reg);
}

static uint32_t branch(struct gus_micro *k, unsigned r)
{
	uint32_t from;

	if (r == GUS_MICRO_NONE)
		word(k, 0xb100041f | COUNTER << 5); /* cmn x0, #1 */
	from = (uint32_t)k->code.n;
	word(k, r == GUS_MICRO_NONE ? 0x54000000 : 0xb5000000 | general(r)); /* b.eq, cbnz */
	return from;
}

static void land(struct gus_micro *k, uint32_t from)
{
	uint32_t bits = distance((int64_t)k->code.n - from);

	for (unsigned i = 0; i < 4; i++)
		k->code.v[from + i] |= (uint8_t)(bits >> 8 * i);
}

const struct gus_emit_isa gus_emit_arm64 = { begin, align, end, nop, op, access_to, branch, land };
