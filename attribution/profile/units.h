/* SPDX-License-Identifier: MIT */
/* What a profile's weight is worth in time and in cycles, and on what evidence (DESIGN.md section 1). */
#ifndef GUS_ATTRIBUTION_PROFILE_UNITS_H
#define GUS_ATTRIBUTION_PROFILE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/profile.h"

struct gus_scale {
	const char *evidence;     /* "observed", "inferred" or "unknown" */
	bool known;               /* false: there is no such number, and none is made up */
	double factor;            /* units of one of weight */
	double low, high;         /* the factor's bounds; equal to it if observed */
};

struct gus_units {
	struct gus_scale time;    /* ns */
	struct gus_scale cycles;
};

/* The clock events' weight is time, observed: cycles follow from the core frequency that was timed before and after the
 * run. The cycle events' weight is cycles, observed: time follows from the counter's own running time. Other events
 * have neither. */
struct gus_units gus_units_of(const struct gus_profile *p);

/* weight in the scale's unit, rounded. Differences of it over running sums make parts that add up exactly. */
uint64_t gus_scale_apply(const struct gus_scale *scale, uint64_t weight);

/* What the recording cost, in percent of the target's CPU time: the recorder's own time from its start to its end, and
 * what samples and the following of tasks took, as probed; negative if it is not known. */
double gus_overhead_percent(const struct gus_profile *p);

#endif
