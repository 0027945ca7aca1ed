/* SPDX-License-Identifier: MIT */
/* The core engine: a cycle-level machine. A front end (length decoding, decoders, uop cache, loop buffer, queue), a
 * renamer with finite buffers, ports with oldest-first dispatch, and retirement in order; every cycle of it can be
 * listened to.
 *
 * The back end is UFS (Palomares, "Combining static and dynamic approaches to model loop performance in HPC", 2015,
 * section 7.4), which it reproduces cycle by cycle with the parameters of that work; what is beyond it (legacy front
 * end, caches, forwarding, mispredictions, late operands) is idle there. A cycle is: retire, dispatch, issue, then
 * the front end; what is freed in a cycle can be used in the next one. */
#ifndef GUS_MODEL_CORE_CORE_H
#define GUS_MODEL_CORE_CORE_H

#include "model/machine/config.h"
#include "model/machine/options.h"

struct gus_error;
struct gus_program;

struct gus_core_result {
	uint64_t cycles, iterations;    /* until the last uop of the last iteration retired */
	/* The steady state: so many cycles for so many iterations. Of a run of given iterations the whole run. */
	uint64_t steady_cycles, steady_iterations;
	bool periodic;                  /* the state of the machine came again: the steady state is exact */
	enum gus_core_fetch fetch;      /* what delivered */
	uint64_t dispatched[GUS_CORE_PORTS]; /* uops on each port, in the steady state, as all that follows */
	uint64_t slots;                 /* issued */
	uint64_t commit[GUS_COMMITS];   /* cycles; they sum to steady_cycles */
	uint64_t stop[GUS_CORE_REASONS];/* cycles whose issue stopped short for that; all sum to steady_cycles */
};

/* Runs it. -1 with err if there is no way to (a uop that has no port, a width of 0). Deterministic. */
int gus_core_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		 struct gus_core_result *result, struct gus_error *err);

#endif
