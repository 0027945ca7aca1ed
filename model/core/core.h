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

/* Fed: what was executed, with what its accesses met and where its branches went wrong, as the stream engine is fed
 * with it (model/stream/stream.h). After a misprediction nothing is fetched of what was executed until the branch is;
 * the penalty is the time from then to the first issue, and the queue fills from there on as fast as the front end
 * does. Meanwhile the wrong path takes slots and entries of the ROB, and nothing else. With store_sets loads can be too
 * early for a store, and are fetched again; without, as in runs that are not fed, they wait for their own store and no
 * other. */
struct gus_core_engine;
struct gus_core_hooks;
struct gus_core_listener;
struct gus_op_steps;
/* The program (model/code/growing.h), configuration, listener and hooks are borrowed; the listener, who may be NULL as
 * the hooks may, is told of cycles, and of steps by their number as "iteration". NULL with err. */
struct gus_core_engine *gus_core_open(const struct gus_program *p, const struct gus_core_config *c,
				      const struct gus_core_listener *listener, const struct gus_core_hooks *hooks,
				      struct gus_error *err);
void gus_core_close(struct gus_core_engine *e);
/* Runs all but the last steps, which wait for what comes behind them. -1 with err if it cannot be run. */
int gus_core_feed(struct gus_core_engine *e, const struct gus_op_steps *steps, struct gus_error *err);
/* Runs until all has retired. -1 with err. */
int gus_core_drain(struct gus_core_engine *e, struct gus_error *err);
/* Cycles until what retired last did; of a region, cycles from the retirement of what was before to that of its own.
 * All regions add up to the whole. */
uint64_t gus_core_cycles(const struct gus_core_engine *e);
uint64_t gus_core_region_cycles(const struct gus_core_engine *e, uint32_t region);

#endif
