/* SPDX-License-Identifier: MIT */
/* The dataflow bound: how long an iteration takes on a machine that waits for nothing but operands. It is the largest
 * ratio of latency to iterations of all cycles of dependences (the recurrence bound of modulo scheduling; Rau,
 * "Iterative modulo scheduling", 1994), through registers, flags and words of memory. */
#ifndef GUS_MODEL_ANALYSIS_DATAFLOW_H
#define GUS_MODEL_ANALYSIS_DATAFLOW_H

#include "model/machine/config.h"
#include "model/machine/options.h"

struct gus_program;

/* Cycles an iteration. pointers as in gus_core_options; GUS_CORE_POINTERS_NONE: through registers and flags alone.
 * Never more than what the dependences take: of each cycle that is counted there is a path from a value to the same
 * value of a later iteration. Moves that the renamer may do take no time, nor do words that it takes from a
 * register. */
double gus_dataflow_bound(const struct gus_program *p, const struct gus_core_config *c,
			  enum gus_core_pointers pointers);

/* What the longest path grew by, an iteration, over so many: where words that meet in memory do so for a while and then
 * no more, that is what the whole takes, and the bound is what some of it does. */
double gus_dataflow_growth(const struct gus_program *p, const struct gus_core_config *c,
			   enum gus_core_pointers pointers, unsigned iterations);

#endif
