/* SPDX-License-Identifier: MIT */
/* What engines are told of an access of an op that a trace may have in several pieces. */
#ifndef GUS_ATTRIBUTION_TRACED_TOLD_H
#define GUS_ATTRIBUTION_TRACED_TOLD_H

#include "model/machine/steps.h"

/* A piece of so many bytes from an address on is added: all that both touch, width being that of the access (0: as the
 * pieces have it), and what each of them brings along. */
void gus_traced_told_add(struct gus_op_access *told, uint64_t address, uint32_t bytes, uint32_t width,
			 uint32_t line_size, const struct gus_op_beside *beside);
/* Where that piece was found. */
void gus_traced_told_found(struct gus_op_access *told, uint8_t level, uint8_t tlb, bool prefetched);
/* It asks for a line that is so far away, and nobody waits for that. */
void gus_traced_told_prefetch(struct gus_op_access *told, uint8_t level, const struct gus_op_beside *beside);

#endif
