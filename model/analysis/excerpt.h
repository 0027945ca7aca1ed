/* SPDX-License-Identifier: MIT */
/* A stretch of a trace that ran in one place, to be run through both engines: the same ops with the same addresses,
 * levels and mispredictions, so that what differs is the engines' own. */
#ifndef GUS_MODEL_ANALYSIS_EXCERPT_H
#define GUS_MODEL_ANALYSIS_EXCERPT_H

#include "base/alloc.h"
#include "model/machine/steps.h"

struct gus_agreement;
struct gus_core_config;
struct gus_error;
struct gus_program;

struct gus_excerpt {
	struct gus_vec(struct gus_op_step) steps;   /* access: in accesses */
	struct gus_vec(struct gus_op_access) accesses;
	uint64_t cached;                                /* ops whose uops came from the uop cache */
};

void gus_excerpt_clear(struct gus_excerpt *x);
void gus_excerpt_free(struct gus_excerpt *x);
/* One more step, with the op's accesses. */
void gus_excerpt_add(struct gus_excerpt *x, const struct gus_program *p, const struct gus_op_step *told,
		     const struct gus_op_access *accesses);

/* How far the engines agree on it: cycles a turn, which is from one execution of its first op to the next, over its
 * second half, as in the first the machines fill. The reason is sought if they differ by at least that much. p: what
 * the steps are of. -1 with err, also if there is no second turn. */
int gus_excerpt_compare(const struct gus_excerpt *x, const struct gus_program *p, const struct gus_core_config *c,
			double least, struct gus_agreement *a, struct gus_error *err);

#endif
