/* SPDX-License-Identifier: MIT */
/* The instructions of a function, where control goes from each of them, and the loops that this makes. Pure: bytes in,
 * numbers out. Instructions are known by their number, in order of address. */
#ifndef GUS_SYMBOLIZER_INSN_LOOPS_H
#define GUS_SYMBOLIZER_INSN_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "symbolizer/insn/insn.h"

#define GUS_GRAPH_NONE UINT32_MAX

struct gus_graph_insn {
	uint64_t offset;        /* in the function */
	uint64_t jump;          /* of a direct branch or call: where to, relative to the function (wraps below it) */
	uint32_t target;        /* of a direct branch: the instruction that begins there; else GUS_GRAPH_NONE */
	uint8_t length, class;  /* bytes; enum gus_insn_class */
	/* it never goes on to the next one, and is no jump: a trap, bytes that are no instruction */
	bool stops;
};

/* The instructions that can follow each other around again and again. A loop within it is a part of it. */
struct gus_graph_loop {
	uint32_t head;          /* by which it is entered; of several entries the one found first */
	uint32_t outer;         /* number of the loop around it, or GUS_GRAPH_NONE */
	uint32_t depth;         /* 1 for an outermost one */
	uint32_t first, last;   /* of its instructions by address; what lies between need not belong to it */
	uint32_t instructions;  /* in it */
	uint32_t backs;         /* its edges back to the head, two of a loop with a continue */
	bool inner;             /* no loop is in it */
	bool irreducible;       /* can be entered elsewhere than at its head */
};

struct gus_graph {
	struct gus_vec(struct gus_graph_insn) insns;
	struct gus_vec(struct gus_graph_loop) loops; /* by the address of their heads, outer before inner */
	uint32_t *loop;         /* of each instruction: the innermost loop around it, or GUS_GRAPH_NONE */
};

/* Decodes the size bytes of a function, from its start to the first instruction that is cut off, and finds the loops.
 *
 * A loop is what a depth-first walk from the function's start finds an edge back in; edges back to one head are one
 * loop. Calls return. Where an indirect jump goes is not in its bytes: each is taken to lead to whatever follows a
 * jump, a return or a trap and has nothing else that leads to it, which is where the cases of a switch are. What
 * nothing leads to after that (the handlers of exceptions) is walked on its own, and proves no second entry. */
void gus_graph_read(struct gus_graph *g, enum gus_isa isa, const void *bytes, size_t size);
/* The second half of it, for instructions that are already there: only class, target and stops count. */
void gus_graph_find_loops(struct gus_graph *g);
void gus_graph_free(struct gus_graph *g);

/* The instruction that begins at that offset, or GUS_GRAPH_NONE. */
uint32_t gus_graph_at(const struct gus_graph *g, uint64_t offset);

#endif
