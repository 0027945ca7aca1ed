/* SPDX-License-Identifier: MIT */
/* Which of the program's accesses each access of a step is. A trace tells what an instruction read and wrote, in
 * pieces and without the operands that they are of; what a piece is follows from the instruction, from whether it is a
 * load or a store, and from which accesses of the same instruction came before it in the step. All of that is the same
 * nearly each time that a block is executed, as only addresses change, so a block keeps what its last step came to, and
 * the next one is only held against it. */
#ifndef GUS_ATTRIBUTION_TRACED_MATCH_H
#define GUS_ATTRIBUTION_TRACED_MATCH_H

#include "attribution/traced/traced.h"

struct gus_traced_match {
	uint32_t size;          /* what the trace told of the access: bytes, instruction of the block, direction */
	uint16_t insn;
	bool store;
	bool first;             /* the first in the step that is this access of the program's */
	uint32_t memory;        /* in the program's; GUS_TRACED_NONE: the instruction has none that does the same */
	/* Bytes that the instruction says it has; 0: it does not say. And how many of size they leave. */
	uint32_t width, bytes;
};

/* Finds out anew what the accesses of a step are; for gus_traced_match. */
const struct gus_traced_match *gus_traced_match_anew(const struct gus_traced *t, struct gus_traced_block *b,
						     const struct gus_trace_step *step);

/* What the accesses of a step of a block are, in their order; good until the next step of the block. */
static inline const struct gus_traced_match *gus_traced_match(const struct gus_traced *t, struct gus_traced_block *b,
							      const struct gus_trace_step *step)
{
	const struct gus_traced_match *m = b->matches.v;

	if (step->accesses_n > b->matches.n)
		return gus_traced_match_anew(t, b, step);
	for (uint32_t i = 0; i < step->accesses_n; i++) {
		const struct gus_trace_access *a = &step->accesses[i];

		if (a->size != m[i].size || a->insn != m[i].insn || a->store != m[i].store)
			return gus_traced_match_anew(t, b, step);
	}
	return m;
}

#endif
