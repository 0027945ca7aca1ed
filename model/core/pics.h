/* SPDX-License-Identifier: MIT */
/* Where the time of a run of the core engine goes: of each op the cycles that it kept from being shorter, by what
 * happened to it. The policies are those of TEA (Gottschall, Eeckhout and Jahre, ISCA 2023, section 3): a cycle in
 * which instructions retire is shared among these; one in which the oldest is not done, or nothing is there that could
 * be, is of the next that retires; one behind a misprediction is of what retired last:
 *
 *	cycle      1        2        3        4        5        6
 *	retires    a b      -        -        c        -        d
 *	           computing  stalled         comp.    flushed  comp.
 *	           a b: 1/2   c      c        c        c        d           c: a mispredicted branch
 *
 * Combined events stay combined, so the cells of an op add up to its cycles, and those of all ops to the run's. */
#ifndef GUS_MODEL_CORE_PICS_H
#define GUS_MODEL_CORE_PICS_H

#include <stddef.h>

#include "model/machine/options.h"

/* A cycle, so that it can be shared among up to 12 without a rest; what is left over of others is of the oldest. */
enum { GUS_PICS_TICKS = 27720 };

struct gus_pics;
struct gus_program;
/* The program is borrowed, and may grow. */
struct gus_pics *gus_pics_new(const struct gus_program *p);
void gus_pics_free(struct gus_pics *s);
/* To be given to the engine, as long as the stacks are there. */
const struct gus_core_listener *gus_pics_listener(const struct gus_pics *s);

/* A cell: an op's time in one of the states, and with these events. */
struct gus_pics_cell {
	uint32_t op;
	uint16_t psv;                   /* enum gus_core_psv; 0: none */
	uint8_t state;                  /* enum gus_commit */
	uint64_t ticks;
};
/* By op, state and events; two void pointers to cells, as qsort has them. */
int gus_pics_cell_compare(const void *a, const void *b);
/* All cells that have any, by op, state and events; valid until it is asked again. */
const struct gus_pics_cell *gus_pics_cells(struct gus_pics *s, size_t *n);
/* Cycles that were told of; *pending: ticks that no op has yet, as none has ended since. The ticks of the cells and
 * these are those of all cycles, which is asserted. */
uint64_t gus_pics_cycles(const struct gus_pics *s, uint64_t *pending);

#endif
