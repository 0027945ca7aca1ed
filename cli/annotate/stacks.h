/* SPDX-License-Identifier: MIT */
/* What report --stacks has of instructions, for gusprof annotate --stacks. */
#ifndef GUS_CLI_ANNOTATE_STACKS_H
#define GUS_CLI_ANNOTATE_STACKS_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"

struct gus_annotated;
struct gus_error;
struct gus_stacks_how;

/* An instruction's time, in the unit of the recording's samples; what: its stack in words. */
struct gus_annotate_stack { uint64_t weight, low, high; char *what; };

struct gus_annotate_stacks {
	struct gus_strings modules;
	struct gus_index places;
	struct gus_vec(struct gus_annotate_stack) rows; /* by place */
	char *told;             /* how that is known */
	uint64_t explained, all;
};

/* Runs what the recording's windows have, by instruction; how says of which, and is used until this returns. -1 with
 * err. Freed with gus_annotate_stacks_free. */
int gus_annotate_stacks_make(struct gus_annotate_stacks *s, const struct gus_stacks_how *how, struct gus_error *err);
void gus_annotate_stacks_free(struct gus_annotate_stacks *s);
/* NULL: nothing of the time is there. */
const struct gus_annotate_stack *gus_annotate_stack_at(const struct gus_annotate_stacks *s, const char *module,
						       uint64_t offset);
/* The function's instructions, lines and loops weigh what they took, in place of the samples that were seen at them:
 * shares of the function's time, with intervals of instructions. Samples stay what they are. */
void gus_annotate_stacks_weigh(const struct gus_annotate_stacks *s, struct gus_annotated *f);

#endif
