/* SPDX-License-Identifier: MIT */
/* Where the displacement and the immediate of an x86 instruction are, without decoding it: what comes before them
 * makes its shape, and instructions of one shape differ in these two numbers only. It is a fraction of the work of
 * a decoder and may be wrong about bytes that are no instruction: who uses it checks it against Zydis once a shape. */
#include "symbolizer/insn/x86.h"

enum {
	M = 1,          /* a modrm byte */
	B = 2,          /* immediate of 8 bits */
	W = 4,          /* of 16 */
	Z = 8,          /* of 32, or of 16 with 66h */
	V = 16,         /* as Z, of 64 with REX.W */
	A = 32,         /* an absolute address */
	X = 64,         /* not measured: rare, or no instruction */
	G = 128,        /* immediate in the first two of the group only: test of f6 and f7 */
	P = 256,        /* a prefix */
};

#define ALL8(a) a, a, a, a, a, a, a, a
#define ALU(prefix) M, M, M, M, B, Z, prefix, X

static const uint16_t one_byte[256] = {
	ALU(X), ALU(X), ALU(X), ALU(X), ALU(P), ALU(P), ALU(P), ALU(P),
	ALL8(0), ALL8(0),                               /* 40: REX, handled before */
	ALL8(0), ALL8(0),                               /* 50 */
	X, X, X, M, P, P, P, X, Z, M | Z, B, M | B, 0, 0, 0, 0,         /* 60 */
	ALL8(B), ALL8(B),                               /* 70 */
	M | B, M | Z, X, M | B, M, M, M, M, M, M, M, M, M, M, M, M,     /* 80 */
	ALL8(0), 0, 0, X, 0, 0, 0, 0, 0,                /* 90 */
	A, A, A, A, 0, 0, 0, 0, B, Z, 0, 0, 0, 0, 0, 0, /* a0 */
	ALL8(B), ALL8(V),                               /* b0 */
	M | B, M | B, W, 0, X, X, M | B, M | Z, X, 0, W, 0, 0, B, X, 0, /* c0 */
	M, M, M, M, X, X, X, 0, ALL8(M),                /* d0 */
	B, B, B, B, B, B, B, B, Z, Z, X, B, 0, 0, 0, 0, /* e0 */
	P, 0, P, P, 0, 0, M | B | G, M | Z | G, 0, 0, 0, 0, 0, 0, M, M, /* f0 */
};

static const uint16_t two_bytes[256] = {
	M, M, M, M, X, 0, 0, 0, 0, 0, X, 0, X, M, 0, X, /* 00 */
	ALL8(M), ALL8(M),
	ALL8(M), ALL8(M),                               /* 20 */
	0, 0, 0, 0, 0, 0, X, 0, ALL8(X),                /* 30 */
	ALL8(M), ALL8(M), ALL8(M), ALL8(M), ALL8(M), ALL8(M),
	M | B, M | B, M | B, M | B, M, M, M, 0, ALL8(M),                /* 70 */
	ALL8(Z), ALL8(Z),                               /* 80 */
	ALL8(M), ALL8(M),
	0, 0, 0, M, M | B, M, X, X, 0, 0, 0, M, M | B, M, M, M,         /* a0 */
	M, M, M, M, M, M, M, M, M, M, M | B, M, M, M, M, M,             /* b0 */
	M, M, M | B, M, M | B, M | B, M | B, M, ALL8(0),                /* c0 */
	ALL8(M), ALL8(M), ALL8(M), ALL8(M), ALL8(M), ALL8(M),
};

/* What follows the opcode of a VEX or EVEX instruction, and where the opcode is; the map decides. */
static unsigned measure_vex(const uint8_t *bytes, size_t *at)
{
	unsigned map, kind = bytes[*at];

	if (kind == 0xc5) {
		map = 1;
		*at += 2;
	} else {
		map = bytes[*at + 1] & (kind == 0x62 ? 7 : 0x1f);
		*at += kind == 0x62 ? 4 : 3;
	}
	if (map == 1)
		return two_bytes[bytes[*at]] & (M | B | X);
	return map == 3 ? M | B : map && map <= 6 ? M : X;
}

static unsigned measure_opcode(const uint8_t *bytes, size_t *at)
{
	if (bytes[*at] == 0x62 || (bytes[*at] & 0xfe) == 0xc4)
		return measure_vex(bytes, at);
	if (bytes[*at] != 0x0f)
		return one_byte[bytes[*at]];
	++*at;
	if (bytes[*at] == 0x38 || bytes[*at] == 0x3a)
		return bytes[(*at)++] == 0x38 ? M : M | B;
	return two_bytes[bytes[*at]];
}

/* What a modrm byte adds to the structure, and how long the displacement is. */
static const struct { uint8_t sib, displacement; } modrms[256] = {
#define ROW(sib4, d5, d) { 0, d }, { 0, d }, { 0, d }, { 0, d }, { sib4, d }, { 0, d5 }, { 0, d }, { 0, d }
#define ROWS(sib4, d5, d) \
	ROW(sib4, d5, d), ROW(sib4, d5, d), ROW(sib4, d5, d), ROW(sib4, d5, d), \
	ROW(sib4, d5, d), ROW(sib4, d5, d), ROW(sib4, d5, d), ROW(sib4, d5, d)
	ROWS(1, 4, 0), ROWS(1, 1, 1), ROWS(1, 4, 4), ROWS(0, 0, 0),
};

static unsigned immediate_size(unsigned traits, bool short_data, bool wide_data)
{
	if (traits & B)
		return 1;
	if (traits & W)
		return 2;
	if (!(traits & (Z | V)))
		return 0;
	if (wide_data)
		return traits & V ? 8 : 4;
	return short_data ? 2 : 4;
}

bool gus_x86_measure(const uint8_t *bytes, struct gus_x86_measure *m)
{
	size_t at = 0;
	bool short_data = false, wide_data = false;
	unsigned traits;

	while (one_byte[bytes[at]] & P) {
		short_data |= bytes[at] == 0x66;
		if (++at > 7)
			return false;
	}
	if ((bytes[at] & 0xf0) == 0x40)
		wide_data = bytes[at++] & 8;
	traits = measure_opcode(bytes, &at);
	at++;
	m->displacement_size = m->immediate_size = 0;
	if (traits & M) {
		uint8_t modrm = bytes[at++];

		m->displacement_size = modrms[modrm].displacement;
		if (modrms[modrm].sib && (bytes[at++] & 7) == 5 && modrm < 0x40)
			m->displacement_size = 4;
		if ((traits & G) && (modrm >> 3 & 7) > 1)
			traits &= M;
	}
	m->structure = (uint8_t)at;
	if (traits & ~(unsigned)M) {
		if (traits & (X | P))
			return false;
		if (traits & A)
			m->displacement_size = 8;
		m->immediate_size = (uint8_t)immediate_size(traits, short_data, wide_data);
	}
	return at + m->displacement_size + m->immediate_size <= 15;
}
