/* SPDX-License-Identifier: MIT */
/* A machine that really has so many times as much of all that a node of the tree stands for: the core engine's
 * counterpart of a lane of the stream engine whose knobs are turned (model/stream/types.h). Sizes and widths are in the
 * configuration; latencies and times of units are those of the code's uops; a port takes more uops in a cycle.
 *
 * What the two understand otherwise: cycles are whole here, so that a latency of 5 is 0 at a sixteenth, where the
 * stream engine has a third of a cycle; a unit is busy for a cycle at least; no more than 64 lines are on their way and
 * no more than 8 pages are walked for at a time; and an access that crosses a line has its port twice whatever its
 * penalty is. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_TURN_H
#define GUS_TESTS_ACCURACY_GOLDEN_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/verdicts/nodes.h"
#include "base/alloc.h"
#include "model/code/program.h"
#include "model/machine/config.h"

/* The configuration of that machine; GUS_NODE_NONE: as it is. */
void golden_turn_config(struct gus_core_config *c, enum gus_node node, unsigned times);
/* Uops that each of its ports takes in a cycle. */
unsigned golden_turn_ports(enum gus_node node, unsigned times);
/* Whether it mispredicts so many times less. */
bool golden_turn_predicts(enum gus_node node);

/* The code as that machine has it: what of a program is another is copied, and made anew as the program grows. */
struct golden_turned {
	struct gus_program program;     /* borrows all but uops and flows */
	struct gus_vec(struct gus_uop) uops;
	struct gus_vec(struct gus_flow) flows;
	uint32_t flows_turned;          /* those before are as they should be */
	bool same;                      /* nothing of the code is another: uops and flows are borrowed, too */
};
void golden_turned_init(struct golden_turned *t, const struct gus_program *p, enum gus_node node, unsigned times);
/* Catches up with the program. */
void golden_turned_grow(struct golden_turned *t, const struct gus_program *p, enum gus_node node, unsigned times);
void golden_turned_free(struct golden_turned *t);

#endif
