/* SPDX-License-Identifier: MIT */
/* What the scalar instructions of x86 become when one of them does the work of many turns: the same operation on all
 * elements of a vector, as AVX, AVX2 and FMA have it (Intel's SDM, volume 2, has the encodings). */
#ifndef GUS_ATTRIBUTION_WHATIF_PACKS_H
#define GUS_ATTRIBUTION_WHATIF_PACKS_H

#include <stdbool.h>
#include <stdint.h>

struct gus_turning_insn;

/* map: 1 of 0F, 2 of 0F38, 3 of 0F3A; prefix: 0 none, 1 of 66, 2 of F3, 3 of F2; w: VEX.W. */
struct gus_vex {
	uint8_t map, prefix, opcode, w;
};

enum gus_pack_kind {
	GUS_PACK_NONE,          /* nothing that we know */
	GUS_PACK_MOVE,          /* copies: between registers nothing is left of it, with memory a load or store */
	GUS_PACK_TWO,           /* of two sources */
	GUS_PACK_ONE,           /* of one; what else the scalar one reads is what it keeps of its destination */
	GUS_PACK_FMA,           /* of two sources and its destination */
	GUS_PACK_CONVERT,       /* of one, to elements of another kind or size */
	GUS_PACK_SHIFT,         /* by a constant */
	GUS_PACK_ADDRESS,       /* lea: additions and a shift */
	GUS_PACK_COMPARE,       /* writes flags */
	GUS_PACK_CHOOSE,        /* a conditional move: a blend by a comparison */
	GUS_PACK_PRODUCT64,     /* of 64-bit integers, which AVX2 makes of three products of halves */
};

struct gus_pack {
	enum gus_pack_kind kind;
	uint8_t from, to;       /* bytes of an element of what it reads, and of what it writes */
	struct gus_vex vex;
	uint8_t extension;      /* of a shift: what stands in the place of a register */
	bool fp, is_signed;
	/* Sums, products, extremes, and, or, xor: of many turns they can be made in any order; of FP with -ffast-math
	 * or its like. */
	bool associative;
	bool immediate;         /* takes the scalar one's */
};

/* NULL if there is none. The pack of an instruction that is scalar; *out is filled in either case. */
bool gus_pack_find(const struct gus_turning_insn *insn, struct gus_pack *out);

#endif
