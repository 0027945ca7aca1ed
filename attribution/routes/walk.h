/* SPDX-License-Identifier: MIT */
/* Routes as something that engines can run: all blocks as one program, and a source that follows the routes again and
 * again, each in proportion to its count. There are no addresses, so where accesses hit is up to whoever runs it;
 * branches are mispredicted as often as the recording says.
 *
 * Which route comes next is decided by the multiples of the golden ratio, which fill an interval more evenly than
 * chance: no route is ahead of its share by more than a few turns. Where routes join, what was executed in between is
 * not known; registers go on as if nothing had been. Without stacks a walk from block to block takes each branch as
 * often as its edge says, spread as evenly, and changes from function to function. */
#ifndef GUS_ATTRIBUTION_ROUTES_WALK_H
#define GUS_ATTRIBUTION_ROUTES_WALK_H

#include "attribution/routes/routes.h"
#include "model/core/core.h"

struct gus_walk;
struct gus_trace_writer;

struct gus_walk_options {
	uint32_t region;        /* only what is executed in it; GUS_ROUTES_NONE: everything */
	uint64_t instructions;  /* after so many the source ends, with the block */
};

/* The routes are borrowed, and so is the table. NULL with err if the table is of another ISA, or nothing is executed in
 * the region. */
struct gus_walk *gus_walk_new(const struct gus_routes *routes, const struct gus_uarch *u,
				  const struct gus_walk_options *options, struct gus_error *err);
void gus_walk_free(struct gus_walk *p);

const struct gus_program *gus_walk_program(const struct gus_walk *p);

/* Begins anew, and gives what the engines ask: valid until the next call. The same steps each time. The branches of
 * which nothing is known are predicted. */
void gus_walk_start(struct gus_walk *p, struct gus_core_source *source, struct gus_core_branch *branch);

/* The same as a trace of one stream, without accesses, for what reads traces: begins anew and writes until the source
 * would end. Blocks keep their numbers. Since modules have no addresses without a process, module k lies at
 * gus_walk_base(k), offset 0 of its file first. -1 with err as the writer says. */
int gus_walk_write(struct gus_walk *p, struct gus_trace_writer *w, struct gus_error *err);
uint64_t gus_walk_base(uint32_t module);
/* Whether the branch at the end of a block is mispredicted this time, at the rate that was measured; `replay` is one
 * that was started. As struct gus_traced_options wants it. */
bool gus_walk_mispredicted(void *replay, uint32_t block, bool taken);

#endif
