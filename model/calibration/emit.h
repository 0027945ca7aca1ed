/* SPDX-License-Identifier: MIT */
/* Writes the code of microbenchmarks, the same calls for each ISA. Registers are numbers: R 0 to 11 and V 0 to 15 are
 * free to use in the body; what counts passes and the arena's address are others, and no instruction here writes them.
 *
 *	struct gus_micro *k = gus_micro_new(isa, "chain of %u adds", n);
 *	gus_emit_begin(k);
 *	gus_emit_constant(k, 0, 1);             // before the loop
 *	gus_emit_loop(k);
 *	for (unsigned i = 0; i < n; i++)
 *		gus_emit_add(k, 0, 1);
 *	gus_emit_end(k);
 *
 * All vector registers begin as pairs of doubles of about pi, which no square root makes trivial and no sum overflows
 * soon; all R as 0. Between begin and loop accesses are not told. */
#ifndef GUS_MODEL_CALIBRATION_EMIT_H
#define GUS_MODEL_CALIBRATION_EMIT_H

#include "model/calibration/micro.h"

enum { GUS_EMIT_R = 12, GUS_EMIT_V = 16 };
enum { GUS_EMIT_ARENA = 12 };   /* as base of an access, and to read: the arena's address */

void gus_emit_begin(struct gus_micro *k);
/* The body begins, at a multiple of 64 bytes (which the caller of the function has to keep: a page). */
void gus_emit_loop(struct gus_micro *k);
/* One pass less, a branch back unless it was the last (one fused uop where the CPU fuses), and the return. */
void gus_emit_end(struct gus_micro *k);
/* Bytes of an instruction or several, as they are. */
void gus_emit_bytes(struct gus_micro *k, const void *bytes, size_t size);

void gus_emit_nop(struct gus_micro *k);                                  /* a uop without a port, the shortest */
void gus_emit_nop_long(struct gus_micro *k, unsigned bytes);             /* x86: one of 1 to 9 bytes; arm64: 4 */
void gus_emit_constant(struct gus_micro *k, unsigned r, uint64_t value);
void gus_emit_address(struct gus_micro *k, unsigned r, int64_t offset);  /* r = arena + offset, below 2 GiB */
void gus_emit_move(struct gus_micro *k, unsigned r, unsigned s);
void gus_emit_add(struct gus_micro *k, unsigned r, unsigned s);          /* r += s: a cycle everywhere */
void gus_emit_add_constant(struct gus_micro *k, unsigned r, int value);  /* -128 to 127 */
void gus_emit_add_large(struct gus_micro *k, unsigned r, int32_t value); /* any, of arm64 below 2^24 */
void gus_emit_mask(struct gus_micro *k, unsigned r, unsigned bits);      /* r &= 2^bits - 1; bits at most 31 */
void gus_emit_multiply(struct gus_micro *k, unsigned r, unsigned s);     /* r *= s, 64 bits */
void gus_emit_test(struct gus_micro *k, unsigned r);                     /* compares it with 0: flags */
/* A compare and a branch that is never taken, of the pass counter; forward to the next instruction. */
void gus_emit_branch_never(struct gus_micro *k);
/* A branch that is taken where r, a byte of the pattern that was loaded, is not 0; to where gus_emit_land is called. */
void gus_emit_branch(struct gus_micro *k, unsigned r, uint8_t pattern);
void gus_emit_land(struct gus_micro *k);

/* Accesses: each tells where it goes. base: R or ARENA; offset from it as encoded. */
void gus_emit_load(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to);
void gus_emit_load_byte(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to);
void gus_emit_load_indexed(struct gus_micro *k, unsigned r, unsigned base, unsigned index,
			   struct gus_micro_access to); /* base + index */
void gus_emit_store(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to);
void gus_emit_store_half(struct gus_micro *k, unsigned r, unsigned base, int32_t offset,
			 struct gus_micro_access to); /* the low 4 bytes */
void gus_emit_store_byte(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to);
/* bytes: 8 or 16; of x86 with avx2 also 32, with avx512 64. Unaligned forms. */
void gus_emit_load_vector(struct gus_micro *k, unsigned v, unsigned bytes, unsigned base, int32_t offset,
			  struct gus_micro_access to);
void gus_emit_store_vector(struct gus_micro *k, unsigned v, unsigned bytes, unsigned base, int32_t offset,
			   struct gus_micro_access to);

/* Pairs of doubles, 16 bytes. */
void gus_emit_sqrt(struct gus_micro *k, unsigned v, unsigned w);               /* long, and not pipelined on most */
void gus_emit_add_vector(struct gus_micro *k, unsigned v, unsigned w);         /* v += w */
void gus_emit_multiply_vector(struct gus_micro *k, unsigned v, unsigned w);    /* v *= w */
void gus_emit_xor_vector(struct gus_micro *k, unsigned v, unsigned w);         /* v ^= w, v and w apart */
void gus_emit_to_general(struct gus_micro *k, unsigned r, unsigned v);         /* r = the low 64 bits */
void gus_emit_to_vector(struct gus_micro *k, unsigned v, unsigned r);          /* v = r in the low 64 bits, 0 above */

#endif
