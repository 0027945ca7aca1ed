/* SPDX-License-Identifier: MIT */
/* "If only X were the limit": cycles an iteration that each part of the machine needs by itself. The time of the core
 * engine is at least the largest of them; what is missing up to it is order and finite buffers. */
#ifndef GUS_MODEL_ANALYSIS_BOUNDS_H
#define GUS_MODEL_ANALYSIS_BOUNDS_H

#include "model/machine/config.h"
#include "model/machine/options.h"

struct gus_program;

enum gus_bound {
	GUS_BOUND_PREDECODE,    /* length decoding */
	GUS_BOUND_DECODE,       /* the decoders */
	GUS_BOUND_UOP_CACHE,
	GUS_BOUND_ISSUE,
	GUS_BOUND_PORTS,        /* the best distribution of uops over ports */
	GUS_BOUND_UNITS,        /* dividers and what else is exclusive */
	GUS_BOUND_DEPENDENCIES, /* the longest chain from one iteration to the next */
	GUS_BOUND_RETIRE,
	GUS_BOUNDS
};
const char *gus_bound_name(enum gus_bound bound);

struct gus_bounds {
	double cycles[GUS_BOUNDS];      /* an iteration; negative: does not apply */
	uint64_t ports;                 /* the set of ports that limits GUS_BOUND_PORTS */
	double port[GUS_CORE_PORTS];    /* how a best distribution loads them */
};

int gus_bounds_of(const struct gus_program *p, const struct gus_core_config *c, const struct gus_core_options *o,
		  struct gus_bounds *b, struct gus_error *err);

#endif
