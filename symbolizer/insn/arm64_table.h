/* SPDX-License-Identifier: MIT */
/* The layout of the generated table of arm64 instructions (arm64_forms.inc), for its generator and for the decoder.
 *
 * A word is looked up by walking the tree: an inner node says which bits choose the child, a leaf has a few patterns,
 * the most specific first, and the first whose bits under the mask are its value is the one. A pattern leads to an op,
 * which is all that does not depend on the word's fields. */
#ifndef GUS_SYMBOLIZER_INSN_ARM64_TABLE_H
#define GUS_SYMBOLIZER_INSN_ARM64_TABLE_H

#include <stdint.h>

struct gus_a64_pattern {
	uint32_t mask, value;
	uint16_t op;
};

/* A node of the tree. Inner: bit 31 is 0, shift in 30:26, width in 25:22, the first child in 21:0.
 * Leaf: bit 31 is 1, first pattern reference in 30:6, their number in 5:0. */
#define GUS_A64_LEAF 0x80000000u

/* In which register file an operand is, and what 31 means. */
enum gus_a64_file {
	GUS_A64_FILE_X,         /* 31 is the zero register */
	GUS_A64_FILE_XSP,       /* 31 is the stack pointer */
	GUS_A64_FILE_V,
	GUS_A64_FILE_P,
	GUS_A64_FILE_FIXED,     /* add is the register's number in enum gus_a64_reg */
};

/* A register operand: number = add + (field << shift), and 16 more if the bit called split is set (0: there is none;
 * with 32 in split, 8 more); then the count - 1 others that follow at the stride. */
struct gus_a64_operand {
	uint8_t file;
	uint8_t low, width;     /* the field */
	uint8_t shift, add;
	uint8_t split;
	uint8_t count, stride;
	uint8_t use;            /* GUS_ACCESS_* */
	uint16_t bits;
};

/* How the address of a memory operand is formed; the base is the register in 9:5 unless said otherwise. */
enum gus_a64_memory {
	GUS_A64_MEMORY_NONE,
	GUS_A64_MEMORY_BASE,    /* the base alone, or with a displacement in vector lengths, which is not known */
	GUS_A64_MEMORY_IMM12,   /* unsigned in 21:10, scaled */
	GUS_A64_MEMORY_IMM9,    /* signed in 20:12 */
	GUS_A64_MEMORY_IMM9S,   /* the same, scaled */
	GUS_A64_MEMORY_IMM7,    /* signed in 21:15, scaled */
	GUS_A64_MEMORY_IMM10,   /* signed in 22 and 20:12, scaled */
	GUS_A64_MEMORY_LITERAL, /* from the program counter, signed in 23:5, in words */
	GUS_A64_MEMORY_INDEX,   /* plus the register in 20:16, scaled if bit 12 is set */
	GUS_A64_MEMORY_XINDEX,  /* plus the register in 20:16, always scaled */
	GUS_A64_MEMORY_ZINDEX,  /* plus each element of the vector register in 20:16, scaled */
	GUS_A64_MEMORY_ZBASE,   /* each element of the vector register in 9:5, plus the register in 20:16 */
	GUS_A64_MEMORY_ZIMM,    /* each element of the vector register in 9:5, plus unsigned in 20:16, scaled */
	GUS_A64_MEMORY_STRING,  /* at the registers in 4:0 (written) and 20:16 (read) */
};

/* When it is an idiom. */
enum gus_a64_idiom {
	GUS_A64_IDIOM_NONE,
	GUS_A64_MOVE,           /* always a move of a register */
	GUS_A64_MOVE_ZR,        /* orr of the zero register with an unshifted one */
	GUS_A64_MOVE_SAME,      /* orr of a vector register with itself */
	GUS_A64_MOVE_IMM,       /* add of zero */
	GUS_A64_ZERO_SAME,      /* eor of a register with itself */
	GUS_A64_ZERO_WIDE,      /* movz of zero */
	GUS_A64_ZERO_MOVI,      /* movi of zero: 18:16 and 9:5 */
};

struct gus_a64_op {
	uint32_t text;          /* offset of its text */
	uint32_t flags;         /* GUS_INSN_* that hold whatever the fields are */
	uint16_t operands;      /* the first of them */
	uint16_t shape;         /* enum gus_a64_shape */
	uint16_t memory_bits;
	uint8_t operand_count;
	uint8_t kind;           /* enum gus_insn_class */
	uint8_t memory;         /* enum gus_a64_memory */
	uint8_t memory_use;     /* GUS_ACCESS_* */
	uint8_t memory_scale;   /* log2 of bytes */
	uint8_t elements;
	uint8_t vector_bytes;   /* of the widest vector operand */
	uint8_t idiom;          /* enum gus_a64_idiom */
	uint8_t fuse_first, fuse_second;
};

#endif
