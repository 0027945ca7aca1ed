/* SPDX-License-Identifier: MIT */
#include "model/calibration/emit.h"

#include "model/calibration/emit_private.h"

static const struct gus_emit_isa *isa_of(const struct gus_micro *k)
{
	return k->isa == GUS_ISA_ARM64 ? &gus_emit_arm64 : &gus_emit_x86;
}

void gus_emit_begin(struct gus_micro *k)
{
	isa_of(k)->begin(k);
}

void gus_emit_loop(struct gus_micro *k)
{
	isa_of(k)->align(k);
	k->loop = (uint32_t)k->code.n;
}

void gus_emit_end(struct gus_micro *k)
{
	isa_of(k)->end(k);
}

void gus_emit_bytes(struct gus_micro *k, const void *bytes, size_t size)
{
	gus_emit_put(k, bytes, size);
}

void gus_emit_nop(struct gus_micro *k)
{
	isa_of(k)->nop(k, 1);
}

void gus_emit_nop_long(struct gus_micro *k, unsigned bytes)
{
	isa_of(k)->nop(k, bytes);
}

static void op(struct gus_micro *k, enum gus_emit_op what, unsigned to, unsigned from, uint64_t value)
{
	isa_of(k)->op(k, what, to, from, value);
}

void gus_emit_constant(struct gus_micro *k, unsigned r, uint64_t value)
{
	op(k, GUS_EMIT_CONSTANT, r, 0, value);
}

void gus_emit_address(struct gus_micro *k, unsigned r, int64_t offset)
{
	op(k, GUS_EMIT_ADDRESS, r, 0, (uint64_t)offset);
}

void gus_emit_move(struct gus_micro *k, unsigned r, unsigned s)
{
	op(k, GUS_EMIT_MOVE, r, s, 0);
}

void gus_emit_add(struct gus_micro *k, unsigned r, unsigned s)
{
	op(k, GUS_EMIT_ADD, r, s, 0);
}

void gus_emit_add_constant(struct gus_micro *k, unsigned r, int value)
{
	op(k, GUS_EMIT_ADD_CONSTANT, r, 0, (uint64_t)(int64_t)value);
}

void gus_emit_add_large(struct gus_micro *k, unsigned r, int32_t value)
{
	op(k, GUS_EMIT_ADD_LARGE, r, 0, (uint64_t)(int64_t)value);
}

void gus_emit_mask(struct gus_micro *k, unsigned r, unsigned bits)
{
	op(k, GUS_EMIT_MASK, r, 0, bits);
}

void gus_emit_multiply(struct gus_micro *k, unsigned r, unsigned s)
{
	op(k, GUS_EMIT_MULTIPLY, r, s, 0);
}

void gus_emit_test(struct gus_micro *k, unsigned r)
{
	op(k, GUS_EMIT_TEST, r, r, 0);
}

void gus_emit_sqrt(struct gus_micro *k, unsigned v, unsigned w)
{
	op(k, GUS_EMIT_SQRT, v, w, 0);
}

void gus_emit_add_vector(struct gus_micro *k, unsigned v, unsigned w)
{
	op(k, GUS_EMIT_ADD_VECTOR, v, w, 0);
}

void gus_emit_multiply_vector(struct gus_micro *k, unsigned v, unsigned w)
{
	op(k, GUS_EMIT_MULTIPLY_VECTOR, v, w, 0);
}

void gus_emit_xor_vector(struct gus_micro *k, unsigned v, unsigned w)
{
	op(k, GUS_EMIT_XOR_VECTOR, v, w, 0);
}

void gus_emit_to_general(struct gus_micro *k, unsigned r, unsigned v)
{
	op(k, GUS_EMIT_TO_GENERAL, r, v, 0);
}

void gus_emit_to_vector(struct gus_micro *k, unsigned v, unsigned r)
{
	op(k, GUS_EMIT_TO_VECTOR, v, r, 0);
}

static void jump(struct gus_micro *k, unsigned r, uint8_t pattern)
{
	uint32_t from = isa_of(k)->branch(k, r);

	gus_vec_push(&k->jumps, (struct gus_micro_jump){ .from = from, .pattern = pattern });
}

void gus_emit_branch(struct gus_micro *k, unsigned r, uint8_t pattern)
{
	jump(k, r, pattern);
}

void gus_emit_land(struct gus_micro *k)
{
	struct gus_micro_jump *j = &k->jumps.v[k->jumps.n - 1];

	j->to = (uint32_t)k->code.n;
	isa_of(k)->land(k, j->from);
}

void gus_emit_branch_never(struct gus_micro *k)
{
	jump(k, GUS_MICRO_NONE, GUS_MICRO_NONE);
	gus_emit_land(k);
}

static void access_to(struct gus_micro *k, const struct gus_emit_place *place, const struct gus_micro_access *to)
{
	isa_of(k)->access(k, place);
	if (k->loop)
		gus_vec_push(&k->accesses, *to);
}

static void plain(struct gus_micro *k, enum gus_emit_access what, unsigned r, unsigned base, int32_t offset,
		  const struct gus_micro_access *to)
{
	access_to(k, &(struct gus_emit_place){ what, r, 8, base, GUS_MICRO_NONE, offset }, to);
}

void gus_emit_load(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to)
{
	plain(k, GUS_EMIT_LOAD, r, base, offset, &to);
}

void gus_emit_load_byte(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to)
{
	plain(k, GUS_EMIT_LOAD_BYTE, r, base, offset, &to);
}

void gus_emit_load_indexed(struct gus_micro *k, unsigned r, unsigned base, unsigned index, struct gus_micro_access to)
{
	access_to(k, &(struct gus_emit_place){ GUS_EMIT_LOAD, r, 8, base, index, 0 }, &to);
}

void gus_emit_store(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to)
{
	plain(k, GUS_EMIT_STORE, r, base, offset, &to);
}

void gus_emit_store_half(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to)
{
	plain(k, GUS_EMIT_STORE_HALF, r, base, offset, &to);
}

void gus_emit_store_byte(struct gus_micro *k, unsigned r, unsigned base, int32_t offset, struct gus_micro_access to)
{
	plain(k, GUS_EMIT_STORE_BYTE, r, base, offset, &to);
}

static void vector(struct gus_micro *k, const struct gus_emit_place *place, const struct gus_micro_access *to)
{
	k->wide |= place->bytes > 16;
	access_to(k, place, to);
}

void gus_emit_load_vector(struct gus_micro *k, unsigned v, unsigned bytes, unsigned base, int32_t offset,
			  struct gus_micro_access to)
{
	vector(k, &(struct gus_emit_place){ GUS_EMIT_LOAD_VECTOR, v, bytes, base, GUS_MICRO_NONE, offset }, &to);
}

void gus_emit_store_vector(struct gus_micro *k, unsigned v, unsigned bytes, unsigned base, int32_t offset,
			   struct gus_micro_access to)
{
	vector(k, &(struct gus_emit_place){ GUS_EMIT_STORE_VECTOR, v, bytes, base, GUS_MICRO_NONE, offset }, &to);
}
