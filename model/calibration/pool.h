/* SPDX-License-Identifier: MIT */
/* The registers that microbenchmarks of instructions may use. */
#ifndef GUS_MODEL_CALIBRATION_POOL_H
#define GUS_MODEL_CALIBRATION_POOL_H

#include "symbolizer/insn/insn.h"

/* As numbers of the ISA: general[i] is R i of emit.h, vector[i] is V i. */
struct gus_pool {
	uint8_t general[16], vector[16], mask[8];
	unsigned general_n, vector_n, mask_n;
};
void gus_pool_of(struct gus_pool *pool, enum gus_isa isa);
/* The number of a register in its file of the pool, or -1. */
int gus_pool_find(const struct gus_pool *pool, unsigned reg);

#endif
