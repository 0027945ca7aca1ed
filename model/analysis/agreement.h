/* SPDX-License-Identifier: MIT */
/* How far the two engines agree on a piece of code, and which part of the core engine's machine makes the difference.
 * The stream engine has no cycles, binds no uop to a port, and has fewer buffers and simpler ones; so the core engine
 * is run again with each of them relaxed, and what brings it to the other's time is the reason. */
#ifndef GUS_MODEL_ANALYSIS_AGREEMENT_H
#define GUS_MODEL_ANALYSIS_AGREEMENT_H

#include "model/core/core.h"

enum gus_relief {
	GUS_RELIEF_FRONT_END,           /* uops are always there */
	GUS_RELIEF_PORT_BINDING,        /* a uop takes whichever of its ports is free first */
	GUS_RELIEF_SCHEDULER,           /* reservation station without end */
	GUS_RELIEF_REGISTERS,           /* registers to rename to without end */
	GUS_RELIEF_REORDER_BUFFER,
	GUS_RELIEF_LOAD_BUFFER,
	GUS_RELIEF_STORE_BUFFER,
	GUS_RELIEF_BRANCH_BUFFER,
	GUS_RELIEF_STORE_COMMIT,        /* retired stores reach L1 at once */
	GUS_RELIEF_FORWARDING,          /* stores feed no loads */
	GUS_RELIEF_L1_BANKS,
	GUS_RELIEF_RETIREMENT,          /* as many slots as are done */
	GUS_RELIEFS
};
const char *gus_relief_name(enum gus_relief relief);    /* "port binding" */

struct gus_agreement {
	double core, stream;            /* cycles an iteration */
	double difference;              /* stream / core - 1 */
	double relaxed[GUS_RELIEFS];    /* cycles an iteration of the core engine with that thing relaxed */
	double all;                     /* with all of them */
	/* What takes at least half of the difference away, and of these takes most. GUS_RELIEFS: none does, or the
	 * engines agree within one percent and there is nothing to explain. */
	enum gus_relief reason;
};

/* Runs both engines. o: of the core engine, without a source; its oracles are asked in each run anew. -1 with err. */
int gus_agreement_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		      struct gus_agreement *a, struct gus_error *err);

#endif
