/* SPDX-License-Identifier: MIT */
/* What samples are added up in. */
#ifndef GUS_ATTRIBUTION_PROFILE_CELLS_H
#define GUS_ATTRIBUTION_PROFILE_CELLS_H

#include <stdint.h>

#include "base/alloc.h"
#include "symbolizer/space/module.h"

/* Time off the CPU, in ns: a part of a weight. */
struct gus_off {
	uint64_t ns;                /* all of it */
	uint64_t waiting;           /* of it: the thread could have run */
	uint64_t inferred;          /* of it: of switches that were not sampled */
	uint64_t longest;           /* one time */
	uint64_t times;             /* that the CPU was left */
};

/* Samples of one thread at one address with one calling path, and one kind of access to memory. */
struct gus_cell {
	uint32_t thread;            /* index into threads */
	uint32_t path;              /* index into paths, 0 for none */
	uint32_t comm;              /* index into comms, if these were to be kept */
	uint32_t end;               /* of the path: of enum gus_callers the bits of GUS_CALLERS_END */
	uint32_t touch;             /* number of the access to memory, if these were to be kept */
	uint32_t number;            /* its own, for good: the latencies of its loads have it */
	struct gus_place place;
	uint64_t samples;
	uint64_t weight;            /* sum of periods, in the event's unit; of time, ns on and off the CPU */
	double weight2;             /* sum of squared periods */
	struct gus_off off;
};

struct gus_cells gus_vec(struct gus_cell);

static inline void gus_off_add(struct gus_off *sum, const struct gus_off *off)
{
	sum->ns += off->ns;
	sum->waiting += off->waiting;
	sum->inferred += off->inferred;
	sum->longest = off->longest > sum->longest ? off->longest : sum->longest;
	sum->times += off->times;
}

#endif
