/* SPDX-License-Identifier: MIT */
/* What of an arm64 instruction's fields makes another form of it. CPUs treat `add x0, x1, x2` and `add x0, x1, x2, lsl
 * 7` differently though only an immediate differs, so the name of a form is the operands' kinds plus a few words about
 * such fields. The generator (contrib/arm64-gen, C++) and the decoder must agree on them to the letter: both include
 * this.
 *
 * A shape is a set of the traits below; the word of a trait is appended to the form's text behind a '+'. */
#ifndef GUS_SYMBOLIZER_INSN_ARM64_SHAPE_H
#define GUS_SYMBOLIZER_INSN_ARM64_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum gus_a64_shape {
	/* shift in 23:22, amount in 15:10: "lsl1-4", "lsl", "lsr", "asr", "ror"; lsl 0 is plain */
	GUS_A64_SHIFT = 1,
	GUS_A64_ARITHMETIC = 2,   /* ... and ror is not allowed */
	GUS_A64_EXTEND = 4,       /* extension in 15:13, amount in 12:10: "uxtb" ..., "uxtw1-4" when shifted */
	GUS_A64_SCALED = 8,       /* bit 12: the index is scaled: "scaled" */
	GUS_A64_SAME = 16,        /* 9:5 equals 20:16: "same" */
	GUS_A64_FROM_ZERO = 32,   /* 9:5 is the zero register: "zr" */
	GUS_A64_WIDE_ZERO = 64,   /* the immediate of movz and its shift, in 22:5, are zero: "0" */
	GUS_A64_BITMASK = 128,    /* an immediate of N:immr:imms, of which some are not allocated; makes no form */
	GUS_A64_MOVI_ZERO = 256,  /* the immediate of movi, in 18:16 and 9:5, is zero: "0" */
	GUS_A64_IMM_ZERO = 512,   /* the immediate in 21:10 is zero: "0" */
	GUS_A64_GOVERNOR4 = 1024, /* the predicate written, in 3:0, is the governing one in 13:10: "governor" */
	GUS_A64_GOVERNOR3 = 2048, /* the same, in 12:10 */
	GUS_A64_GOVERNOR_FFR = 4096, /* the same, in 8:5 */
	GUS_A64_ALL = 8192,       /* the pattern in 9:5 is all elements, the factor in 19:16 is 1, 2 or 4: "all124" */
	GUS_A64_NO_ADDEND = 16384, /* 14:10 is the zero register: "zr" */
};

static inline uint32_t gus_a64_bits(uint32_t word, unsigned low, unsigned count)
{
	return word >> low & ((1u << count) - 1);
}

/* Whether the fields of a word of that shape may be used at all: what masks cannot say. */
static inline bool gus_a64_allocated(unsigned shape, uint32_t word)
{
	bool wide = word >> 31;

	if (shape & GUS_A64_SHIFT) {
		if ((shape & GUS_A64_ARITHMETIC) && gus_a64_bits(word, 22, 2) == 3)
			return false;
		if (!wide && gus_a64_bits(word, 15, 1))
			return false;
	}
	if ((shape & GUS_A64_EXTEND) && gus_a64_bits(word, 10, 3) > 4)
		return false;
	if (shape & GUS_A64_BITMASK) {
		uint32_t n = gus_a64_bits(word, 22, 1), sizes = n << 6 | (~word >> 10 & 63), length = 0;

		if (!wide && n)
			return false;
		while (sizes >> length > 1)
			length++;
		/* The element is 2^length bits; an element of one bit, or of ones alone, is none. */
		if (length < 1 || (gus_a64_bits(word, 10, 6) & ((1u << length) - 1)) == (1u << length) - 1)
			return false;
	}
	return true;
}

/* The trait words of a form, each behind its '+'; at most three, NULL after the last. */
static inline void gus_a64_words(unsigned shape, uint32_t word, const char *words[4])
{
	static const char *const shifted[4] = { "lsl", "lsr", "asr", "ror" };
	static const char *const extended[2][8] = {
		{ "uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx" },
		{ "uxtb1-4", "uxth1-4", "uxtw1-4", "uxtx1-4", "sxtb1-4", "sxth1-4", "sxtw1-4", "sxtx1-4" },
	};
	unsigned n = 0;

	if (shape & GUS_A64_SHIFT) {
		uint32_t kind = gus_a64_bits(word, 22, 2), amount = gus_a64_bits(word, 10, 6);

		if (kind || amount > 4)
			words[n++] = shifted[kind];
		else if (amount)
			words[n++] = "lsl1-4";
	}
	if (shape & GUS_A64_EXTEND)
		words[n++] = extended[gus_a64_bits(word, 10, 3) != 0][gus_a64_bits(word, 13, 3)];
	if ((shape & GUS_A64_SCALED) && gus_a64_bits(word, 12, 1))
		words[n++] = "scaled";
	if ((shape & GUS_A64_SAME) && gus_a64_bits(word, 5, 5) == gus_a64_bits(word, 16, 5))
		words[n++] = "same";
	if ((shape & GUS_A64_FROM_ZERO) && gus_a64_bits(word, 5, 5) == 31)
		words[n++] = "zr";
	if ((shape & GUS_A64_WIDE_ZERO) && !gus_a64_bits(word, 5, 18))
		words[n++] = "0";
	if ((shape & GUS_A64_MOVI_ZERO) && !(word & 0x000703e0))
		words[n++] = "0";
	if ((shape & GUS_A64_IMM_ZERO) && !gus_a64_bits(word, 10, 12))
		words[n++] = "0";
	if ((shape & GUS_A64_GOVERNOR4) && gus_a64_bits(word, 0, 4) == gus_a64_bits(word, 10, 4))
		words[n++] = "governor";
	if ((shape & GUS_A64_GOVERNOR3) && gus_a64_bits(word, 0, 4) == gus_a64_bits(word, 10, 3))
		words[n++] = "governor";
	if ((shape & GUS_A64_GOVERNOR_FFR) && gus_a64_bits(word, 0, 4) == gus_a64_bits(word, 5, 4))
		words[n++] = "governor";
	if ((shape & GUS_A64_ALL) && gus_a64_bits(word, 5, 5) == 31 && !gus_a64_bits(word, 18, 2) &&
	    gus_a64_bits(word, 16, 2) != 2)
		words[n++] = "all124";
	if ((shape & GUS_A64_NO_ADDEND) && gus_a64_bits(word, 10, 5) == 31)
		words[n++] = "zr";
	words[n] = 0;
}

#endif
