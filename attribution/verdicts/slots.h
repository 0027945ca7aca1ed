/* SPDX-License-Identifier: MIT */
/* What became of each slot of the core engine, as the top-down method tells it (attribution/verdicts/nodes.h), by
 * the op that was the oldest in the slot's cycle: so slots of an op are those of the time that was spent on it.
 *
 * A slot is one of those that could have been issued in a cycle. What was issued is retiring, but for what was
 * thrown away. An empty one has the reason why issue stopped: no uops (fetch latency, if there was none at all, else
 * bandwidth), the right path is not there yet (mispredicts), or the back end took no more. That is stores where the
 * store buffer is full, and else what the oldest waits for: memory, by the level that its loads came from, a
 * divider, or ports and results. Yasin's definitions of level 1 are the same (tests/accuracy/golden/slots.h holds
 * them against counters); below it he has to guess from counters what the engine knows. */
#ifndef GUS_ATTRIBUTION_VERDICTS_SLOTS_H
#define GUS_ATTRIBUTION_VERDICTS_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "attribution/verdicts/nodes.h"
#include "base/alloc.h"
#include "model/machine/options.h"

struct gus_core_listener;
struct gus_program;

struct gus_slotted_op {
	double of[GUS_NODES_OF_TREE];   /* of leaves alone */
	/* Of what waits for memory, cycles that loads of each level took beyond L1: what the slots are split by. */
	double waiting, levels[GUS_HITS];
};

/* One for each thread's core engine; all add to the same. */
struct gus_slotted {
	uint32_t width;                 /* slots a cycle */
	struct gus_vec(struct gus_slotted_op) ops; /* by op of the program */
	uint64_t cycles;
	struct gus_vec(struct gus_slotted_thread *) threads;
};
void gus_slotted_init(struct gus_slotted *s, uint32_t width);
void gus_slotted_free(struct gus_slotted *s);
/* A listener of another thread, which lives until it leaves, or else as long as s. */
const struct gus_core_listener *gus_slotted_listen(struct gus_slotted *s, const struct gus_program *program);
/* Its thread has ended: the listener, one of s's, is freed, and its slots stay. */
void gus_slotted_leave(struct gus_slotted *s, const struct gus_core_listener *listener);

/* Slots of ops in nodes, sums in those above: nodes that have parts are the sum of these. All of level 1 are all slots
 * of the ops. */
void gus_slotted_add(const struct gus_slotted *s, uint32_t first_op, uint32_t ops_n, double of[GUS_NODES_OF_TREE]);

#endif
