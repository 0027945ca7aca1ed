/* SPDX-License-Identifier: MIT */
/* What a machine may do that no table says, as functions that the core engine asks: for machines that others are
 * judged by, which must not be those that anybody's table believes in. A function that is NULL changes nothing; an
 * engine that runs what a table says has no hooks. Times are cycles. */
#ifndef GUS_MODEL_MACHINE_HOOKS_H
#define GUS_MODEL_MACHINE_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct gus_core_hooks {
	void *context;
	/* A run begins: forget the last one. */
	void (*begin)(void *context);
	/* A cycle begins: so many of its issue slots are somebody else's, and so are in it the ports whose bits are set
	 * in *ports, which is 0 before. What is on a wrong path has no more slots than others. */
	unsigned (*shared)(void *context, uint64_t *ports, uint64_t now);
	/* A uop of that kind (enum gus_uop_kind) goes to a port: so many cycles more until it is complete. */
	unsigned (*latency)(void *context, unsigned port, unsigned kind, uint64_t now);
	/* A load is known to have missed L1 `late` cycles after those that wait for it were to go: each of them has
	 * taken its port in vain, and goes again so many cycles after the data is there. UINT32_MAX: they waited. */
	uint32_t (*replay)(void *context, uint64_t late, uint64_t now);
	/* Of the oldest slots n could retire, the i-th of which was issued at issued[i]: how many do. */
	unsigned (*retire)(void *context, const uint64_t *issued, unsigned n, uint64_t now);
	/* Whether the load buffer takes a load of that address (0 if it is not known), whose entry is `part`'s (below
	 * 65,535) from then on; and that part has it back. Who is refused asks again in the next cycle. */
	bool (*load_enters)(void *context, uint64_t address, unsigned *part);
	void (*load_leaves)(void *context, unsigned part);
	/* A line is asked for beyond a level (enum gus_hit: that which has it) from then on: when it is in L1. Instead
	 * of latencies and bandwidths of the table. code: for the decoders. */
	uint64_t (*line)(void *context, unsigned level, uint64_t address, bool code, uint64_t from);
	/* A page is walked for from then on: when it is translated. Instead of page_walks and page_walk_latency. */
	uint64_t (*walk)(void *context, uint64_t address, bool code, uint64_t from);
	/* So many uops a port takes in a cycle; 0: one. No CPU has such ports: with them it shows what ports cost. */
	unsigned port_width;
};

#endif
