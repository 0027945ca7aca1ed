/* SPDX-License-Identifier: MIT */
/* What was executed, as engines are told of it: op by op, with what its accesses met and where its branch went. Whoever
 * reads a trace finds that out once, and feeds it to the stream engine, the core engine or both. */
#ifndef GUS_MODEL_MACHINE_STEPS_H
#define GUS_MODEL_MACHINE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUS_OP_STEPS = 2048 };          /* ops at a time */

/* What an op does to memory, in the order of its accesses in the program: memories_n of them. */
struct gus_op_access {
	uint64_t address;               /* meaningful if known */
	uint32_t bytes;                 /* 0: as the instruction says */
	uint8_t level, tlb;             /* enum gus_hit, enum gus_tlb */
	bool known;
};
struct gus_op_step {
	uint32_t op;
	uint32_t access;                /* the first of its accesses */
	uint32_t region;                /* whatever the caller tells apart */
	bool taken, mispredicted;       /* of a branch */
	bool cached;                    /* its uops come from the uop cache rather than from decoders */
	uint16_t fetch;                 /* cycles that its code takes to come, if it is decoded */
};
struct gus_op_steps {
	const struct gus_op_step *steps;
	const struct gus_op_access *accesses;
	size_t n;                       /* at most GUS_OP_STEPS */
};

#endif
