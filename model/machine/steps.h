/* SPDX-License-Identifier: MIT */
/* What was executed, as engines are told of it: op by op, with what its accesses met and where its branch went. Whoever
 * reads a trace finds that out once, and feeds it to the stream engine, the core engine or both. */
#ifndef GUS_MODEL_MACHINE_STEPS_H
#define GUS_MODEL_MACHINE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUS_OP_STEPS = 2048 };          /* ops at a time */

/* What an access brings along: lines that prefetchers ask for because of it, and dirty ones that are thrown out. Nobody
 * waits for these, but they take buffers and bandwidth that others wait for. */
enum { GUS_OP_PREFETCHES = 4, GUS_OP_WRITTEN = 3 };
struct gus_op_prefetch {
	int8_t ahead;                   /* lines, from that of the access's first byte on */
	uint8_t from, into;             /* enum gus_hit; into: L1 or L2 */
};
struct gus_op_beside {
	struct gus_op_prefetch prefetches[GUS_OP_PREFETCHES];
	uint8_t prefetches_n;           /* those beyond are not told */
	uint8_t written[GUS_OP_WRITTEN];/* lines, into L2, L3 and memory */
};

/* Of one whose fields behind the prefetches are all 0 there is nothing. */
static inline bool gus_op_is_beside(const struct gus_op_beside *b)
{
	return b->prefetches_n | b->written[0] | b->written[1] | b->written[2];
}

/* What an op does to memory, in the order of its accesses in the program: memories_n of them. */
struct gus_op_access {
	uint64_t address;               /* meaningful if known */
	uint32_t bytes;                 /* 0: as the instruction says */
	uint8_t level, tlb;             /* enum gus_hit, enum gus_tlb */
	bool known;
	/* A prefetcher has asked for its line: level is what takes as long as is left of its way. Who knows when which
	 * line comes knows better. */
	bool prefetched;
	struct gus_op_beside beside;
};
struct gus_op_step {
	uint32_t op;
	uint32_t access;                /* the first of its accesses */
	uint32_t region;                /* whatever the caller tells apart */
	bool taken, mispredicted;       /* of a branch */
	bool overridden;                /* of one that was foreseen, but not at once */
	bool cached;                    /* its uops come from the uop cache rather than from decoders */
	uint16_t fetch;                 /* cycles that its code takes to come, if it is decoded, ... */
	uint8_t code_level, code_tlb;   /* ... and from where: enum gus_hit, enum gus_tlb */
};
struct gus_op_steps {
	const struct gus_op_step *steps;
	const struct gus_op_access *accesses;
	size_t n;                       /* at most GUS_OP_STEPS */
};

#endif
