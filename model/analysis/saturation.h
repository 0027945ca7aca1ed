/* SPDX-License-Identifier: MIT */
/* How full each resource is: what a piece of code takes of it, by the time that it runs (saturation, as Cape calls it),
 * and what is left of it. Arithmetic on the program alone; the time comes from an engine. */
#ifndef GUS_MODEL_ANALYSIS_SATURATION_H
#define GUS_MODEL_ANALYSIS_SATURATION_H

#include "model/stream/stream.h"

struct gus_core_config;
struct gus_program;

struct gus_resource {
	enum gus_knob_kind kind;        /* PORTS, UNITS, ISSUE or RETIRE */
	uint32_t number;                /* as of the knob */
	char name[64];                  /* "ports p23", "unit divider", "issue", "retirement" */
	double cycles;                  /* of an iteration that it is needed, all of its ports busy */
	double saturation;              /* share of the run; 1: it is full */
	double *of;                     /* by op: cycles of it */
};

struct gus_saturation {
	struct gus_resource *resources; /* the fullest first; equal ones with fewer ports first */
	size_t n;
};

/* cycles: an iteration takes. Freed with gus_saturation_free. */
void gus_saturation_of(const struct gus_program *p, const struct gus_core_config *c, double cycles,
		       struct gus_saturation *s);
void gus_saturation_free(struct gus_saturation *s);

#endif
