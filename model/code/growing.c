/* SPDX-License-Identifier: MIT */
/* A builder that is never done (model/code/program_private.h), and a program that looks at its arrays after each block.
 * Ops are only added, so numbers that were given out stay good. */
#include "model/code/growing.h"

#include <stdlib.h>

#include "model/code/program_private.h"

struct gus_growing {
	struct builder builder;
	struct gus_program program;
};

struct gus_growing *gus_growing_new(const struct gus_uarch *u)
{
	struct gus_growing *g = gus_zalloc(sizeof(*g));

	gus_program_begin(&g->builder, u, 0);
	gus_program_look(&g->program, &g->builder);
	return g;
}

void gus_growing_free(struct gus_growing *g)
{
	if (!g)
		return;
	gus_vec_free(&g->builder.insns);
	gus_vec_free(&g->builder.ops);
	gus_vec_free(&g->builder.uops);
	gus_vec_free(&g->builder.flows);
	gus_vec_free(&g->builder.memories);
	gus_vec_free(&g->builder.pieces);
	free((void *)g->program.port_names);
	free(g);
}

/* A copy of the last op, with uops of its own. */
static uint32_t add_twin(struct builder *b)
{
	struct gus_op op = b->ops.v[b->ops.n - 1];
	uint32_t first = (uint32_t)b->uops.n;

	for (uint32_t i = 0; i < op.uops_n; i++) {
		struct gus_uop uop = b->uops.v[op.uop + i];

		gus_vec_push(&b->uops, uop);
	}
	op.uop = first;
	op.flags |= GUS_OP_TAKEN;
	gus_program_take(b, &op);
	gus_vec_push(&b->ops, op);
	return (uint32_t)b->ops.n - 1;
}

struct gus_growing_block gus_growing_add(struct gus_growing *g, const void *bytes, const uint8_t *lengths, size_t size,
					 uint64_t address)
{
	struct builder *b = &g->builder;
	struct gus_growing_block block = { .op = (uint32_t)b->ops.n };

	/* With lengths nothing is refused but a block without instructions. */
	gus_program_add(b, &(struct gus_program_code){ bytes, size, address, lengths, 0 }, NULL);
	block.ops_n = (uint32_t)b->ops.n - block.op;
	block.taken = block.op + block.ops_n - 1;
	if (block.ops_n && (b->ops.v[block.taken].flags & GUS_OP_CONDITIONAL))
		block.taken = add_twin(b);
	g->program.bytes += size;
	gus_program_look(&g->program, b);
	return block;
}

const struct gus_program *gus_growing_program(const struct gus_growing *g)
{
	return &g->program;
}
