/* SPDX-License-Identifier: MIT */
/* How the callers of samples are found, and what samples must bring along for that. */
#ifndef GUS_COLLECTOR_SESSION_CALL_GRAPH_H
#define GUS_COLLECTOR_SESSION_CALL_GRAPH_H

#include <stdint.h>

#include "collector/events/cargo.h"

enum gus_call_graph {
	GUS_CALL_GRAPH_NONE,
	GUS_CALL_GRAPH_FP,     /* by the kernel, from frame pointers; a leaf's by its table */
	GUS_CALL_GRAPH_TABLES, /* by the unwinder, from registers and stack, which are not kept */
	GUS_CALL_GRAPH_COPIES, /* by who reads the recording, which keeps registers and stack */
	GUS_CALL_GRAPH_LBR,    /* by the CPU's stack of calls */
};

/* Of the stack that a sample brings along whose callers the kernel finds, so that its leaf's can be told by a table:
 * what a leaf without a frame has on it, which the ABI of x86-64 lets be 128 bytes below the stack's pointer, and some
 * words that a function has pushed before it has its frame. */
#define GUS_CALL_GRAPH_LEAF_BYTES 512

/* stack_bytes: as struct gus_session_options has it; of FP, GUS_CALL_GRAPH_LEAF_BYTES if there is an unwinder, or 0.
 * branch_type: which branches are wanted for themselves. */
struct gus_cargo gus_call_graph_cargo(enum gus_call_graph callers, uint32_t stack_bytes, uint64_t branch_type);

/* Its word in a recording's header. */
const char *gus_call_graph_name(enum gus_call_graph callers);

#endif
