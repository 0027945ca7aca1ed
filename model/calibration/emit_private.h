/* SPDX-License-Identifier: MIT */
/* The code of an ISA, behind emit.h: what emit.c calls once it has seen to accesses and jumps. */
#ifndef GUS_MODEL_CALIBRATION_EMIT_PRIVATE_H
#define GUS_MODEL_CALIBRATION_EMIT_PRIVATE_H

#include "model/calibration/emit.h"

/* Two registers and a constant: whatever an operation has of these. */
enum gus_emit_op {
	GUS_EMIT_CONSTANT, GUS_EMIT_ADDRESS, GUS_EMIT_MOVE, GUS_EMIT_ADD, GUS_EMIT_ADD_CONSTANT, GUS_EMIT_ADD_LARGE,
	GUS_EMIT_MASK, GUS_EMIT_MULTIPLY, GUS_EMIT_TEST, GUS_EMIT_SQRT, GUS_EMIT_ADD_VECTOR, GUS_EMIT_MULTIPLY_VECTOR,
	GUS_EMIT_XOR_VECTOR, GUS_EMIT_TO_GENERAL, GUS_EMIT_TO_VECTOR, GUS_EMIT_OPS
};
enum gus_emit_access {
	GUS_EMIT_LOAD, GUS_EMIT_LOAD_BYTE, GUS_EMIT_STORE, GUS_EMIT_STORE_HALF, GUS_EMIT_STORE_BYTE,
	GUS_EMIT_LOAD_VECTOR, GUS_EMIT_STORE_VECTOR
};
struct gus_emit_place {
	enum gus_emit_access what;
	unsigned reg, bytes;            /* bytes: of a vector */
	unsigned base, index;           /* index GUS_MICRO_NONE: none */
	int32_t offset;
};

struct gus_emit_isa {
	void (*begin)(struct gus_micro *k);
	void (*align)(struct gus_micro *k);            /* to 64 bytes, by what takes no time */
	void (*end)(struct gus_micro *k);              /* the branch back, of k->loop; k->end; the return */
	void (*nop)(struct gus_micro *k, unsigned bytes);
	void (*op)(struct gus_micro *k, enum gus_emit_op op, unsigned to, unsigned from, uint64_t value);
	void (*access)(struct gus_micro *k, const struct gus_emit_place *place);
	/* Compares, and branches by a distance that is not known yet; the offset of the branch. r NONE: the counter
	 * with -1, never taken. */
	uint32_t (*branch)(struct gus_micro *k, unsigned r);
	void (*land)(struct gus_micro *k, uint32_t from); /* the branch at from goes to the end of the code */
};
extern const struct gus_emit_isa gus_emit_x86, gus_emit_arm64;

static inline void gus_emit_put(struct gus_micro *k, const void *bytes, size_t size)
{
	gus_vec_append(&k->code, (const uint8_t *)bytes, size);
}

#endif
