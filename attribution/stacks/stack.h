/* SPDX-License-Identifier: MIT */
/* Cycle stacks as TEA has them (Gottschall, Eeckhout and Jahre, ISCA 2023, sections 2 and 3): the time of an
 * instruction, or of any row of a report, split by what the instruction was subjected to while the time passed.
 *
 * What nothing is known of has a component of its own, so that a stack is always as high as its row: the parts of a
 * row, in weight or in cycles, add up to the row's exactly. */
#ifndef GUS_ATTRIBUTION_STACKS_STACK_H
#define GUS_ATTRIBUTION_STACKS_STACK_H

#include <stdint.h>

#include "attribution/stacks/component.h"
#include "attribution/stacks/evidence.h"
#include "base/alloc.h"

struct gus_stack;

struct gus_stack_part {
	struct gus_component what;
	enum gus_evidence evidence;
	uint64_t weight;         /* in the unit of the profile */
};

/* Parts differ in their components and stand in canonical order: base first, then the other sets of events by their
 * bits as a number, each by level; unknown last. Begins as { 0 }. */
struct gus_stack gus_vec(struct gus_stack_part);

/* Puts weight on a component, also if it is 0: the component is there then. Its evidence is the weakest of what was put
 * there. */
void gus_stack_add(struct gus_stack *s, struct gus_component what, enum gus_evidence evidence, uint64_t weight);
/* The identity that every stack has to hold, asserted: its parts are the height. */
void gus_stack_check(const struct gus_stack *s, uint64_t height);
void gus_stack_free(struct gus_stack *s);

#endif
