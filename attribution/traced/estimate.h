/* SPDX-License-Identifier: MIT */
/* What a thread takes of which only stretches were timed: by region and lane, by op, in all. */
#ifndef GUS_ATTRIBUTION_TRACED_ESTIMATE_H
#define GUS_ATTRIBUTION_TRACED_ESTIMATE_H

#include "attribution/traced/stretches.h"

struct gus_traced;

struct gus_estimate {
	/* Of the whole: cycles by lane, the last being those that are followed beside them; and standard errors as
	 * gus_stretches_lanes has them. */
	double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES];
	double *blocks;                 /* cycles of the nominal machine, by block ... */
	double *regions;                /* ... and by region; they add up to the whole */
};

/* Freed with gus_estimate_free. */
void gus_estimate_make(struct gus_estimate *e, const struct gus_traced *t, const struct gus_stretches *s);
void gus_estimate_free(struct gus_estimate *e);
/* Adds cycles and variances of regions and of the whole, and cycles of ops, to those of t. */
void gus_estimate_add(const struct gus_estimate *e, const struct gus_stretches *s, struct gus_traced *t);
/* What stretches said of each op, such as what holds others up: as much more as its block was executed more often;
 * together as much as the whole. */
void gus_estimate_scale(const struct gus_estimate *e, const struct gus_stretches *s, const struct gus_traced *t,
			double *of_ops, size_t n);

#endif
