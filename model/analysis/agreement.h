/* SPDX-License-Identifier: MIT */
/* How far the two engines agree on a piece of code, and which part of the core engine's machine makes the difference.
 * The stream engine has no cycles, binds no uop to a port, and has some limits not or more simply
 * (model/machine/limits.h); so the core engine is run again with each limit relaxed, and what brings it to the other's
 * time is the reason. */
#ifndef GUS_MODEL_ANALYSIS_AGREEMENT_H
#define GUS_MODEL_ANALYSIS_AGREEMENT_H

#include "model/core/core.h"
#include "model/machine/limits.h"

struct gus_agreement {
	double core, stream;            /* cycles an iteration */
	double difference;              /* stream / core - 1 */
	double relaxed[GUS_LIMITS];     /* cycles an iteration of the core engine with that limit relaxed */
	double all;                     /* with all of them that the stream engine has not as well */
	/* What takes at least half of the difference away, and of these takes most. GUS_LIMITS: none does, or the
	 * engines agree within one percent and there is nothing to explain. */
	enum gus_machine_limit_kind reason;
};

/* How each engine is run: cycles an iteration of it. */
struct gus_agreement_runs {
	void *context;
	int (*core)(void *context, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		    struct gus_error *err);
	int (*stream)(void *context, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		      struct gus_error *err);
};

/* Runs both engines, and if they differ by at least that much looks for the reason. -1 with err. */
int gus_agreement_of_runs(const struct gus_agreement_runs *runs, const struct gus_core_config *c,
			  const struct gus_core_options *o, double least, struct gus_agreement *a,
			  struct gus_error *err);

/* Runs both engines on a program. o: of the core engine, without a source; its oracles are asked in each run anew. -1
 * with err. */
int gus_agreement_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		      struct gus_agreement *a, struct gus_error *err);

#endif
