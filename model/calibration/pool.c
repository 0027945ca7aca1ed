/* SPDX-License-Identifier: MIT */
#include "model/calibration/pool.h"

#include "model/calibration/emit.h"
#include "symbolizer/insn/renaming.h"

/* The emitter's own instructions tell which registers it gives away. */
static unsigned written_by(enum gus_isa isa, void (*emit)(struct gus_micro *, unsigned, unsigned), unsigned number)
{
	struct gus_micro *k = gus_micro_new(isa, "register %u", number);
	struct gus_insn_info info;
	unsigned reg = 0;

	emit(k, number, (number + 1) % GUS_EMIT_R);
	gus_insn_analyse(isa, k->code.v, k->code.n, &info);
	for (unsigned i = 0; i < info.access_count; i++)
		if ((info.access[i].use & GUS_ACCESS_WRITE) && gus_insn_file(isa, info.access[i].reg))
			reg = info.access[i].reg;
	gus_micro_free(k);
	return reg;
}

void gus_pool_of(struct gus_pool *pool, enum gus_isa isa)
{
	*pool = (struct gus_pool){ 0 };
	for (unsigned i = 0; i < GUS_EMIT_R; i++)
		pool->general[pool->general_n++] = (uint8_t)written_by(isa, gus_emit_move, i);
	for (unsigned i = 0; i < GUS_EMIT_V; i++)
		pool->vector[pool->vector_n++] = (uint8_t)written_by(isa, gus_emit_xor_vector, i);
	for (unsigned i = 1; isa == GUS_ISA_X86_64 && i < 8; i++)
		pool->mask[pool->mask_n++] = (uint8_t)(GUS_X86_K0 + i);
}

static int find(const uint8_t *regs, unsigned n, unsigned reg)
{
	for (unsigned i = 0; i < n; i++)
		if (regs[i] == reg)
			return (int)i;
	return -1;
}

int gus_pool_find(const struct gus_pool *pool, unsigned reg)
{
	int at = find(pool->general, pool->general_n, reg);

	if (at < 0)
		at = find(pool->vector, pool->vector_n, reg);
	return at < 0 ? find(pool->mask, pool->mask_n, reg) : at;
}
