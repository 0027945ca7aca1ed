/* SPDX-License-Identifier: MIT */
/* Cells of time rather than of samples: where threads were while they did not run, and for how long, and with it, if
 * that is asked for, where they ran. */
#ifndef GUS_ATTRIBUTION_PROFILE_WALL_H
#define GUS_ATTRIBUTION_PROFILE_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/cells.h"
#include "attribution/profile/lives.h"
#include "base/index.h"

/* What a profile's weight is. */
enum gus_weighs {
	GUS_WEIGHS_EVENTS,          /* periods of an event's samples */
	GUS_WEIGHS_OFF_CPU,         /* ns off the CPU */
	GUS_WEIGHS_WALL,            /* ns on and off it */
};

/* What is said of the whole. The cells hold all of `all.on` (of GUS_WEIGHS_WALL) and of what was off. */
struct gus_wall_sums {
	struct gus_life all;        /* of the threads that ran */
	uint64_t threads;           /* which are so many */
	uint64_t asleep, asleep_ns; /* threads that lived and never ran, which are in no cell, and for how long */
	uint64_t born_ns, before_ns, nowhere_ns; /* off, at no place: new threads', before recording, others */
	uint64_t inferred_ns;       /* at places of other switches */
	bool thinned;               /* not each switch was sampled */
};

/* Times off the CPU of one thread, kind and length (a power of two): where the sampled ones were is where the others
 * were, too. A long sleep among thousands of short waits is told apart by its length alone. */
struct gus_stratum;
struct gus_stratum_cell;

struct gus_wall {
	struct gus_lives lives;
	struct gus_cells *cells;    /* borrowed */
	/* The cell of a thread whose place is not known. */
	uint32_t (*nowhere)(void *context, uint32_t thread);
	void *context;
	struct gus_index strata, strata_cells;
	struct gus_vec(struct gus_stratum) stratum;
	struct gus_vec(struct gus_stratum_cell) stratum_cell;
	struct gus_wall_sums sums;
};

void gus_wall_init(struct gus_wall *w, struct gus_cells *cells, uint32_t (*nowhere)(void *context, uint32_t thread),
		   void *context);
void gus_wall_free(struct gus_wall *w);
/* When the lives are finished: cells have the weight that they have, in ns. on: what ran, too: a thread's time on the
 * CPU, which switches tell, is spread over its cells as its samples' weights are. counts says of a thread whether the
 * sums are to have it. */
void gus_wall_settle(struct gus_wall *w, bool on, bool (*counts)(void *context, uint32_t thread));

#endif
