/* SPDX-License-Identifier: MIT */
/* What a profile's weight is worth in time and in cycles, and on what evidence (DESIGN.md section 1). */
#ifndef GUS_ATTRIBUTION_PROFILE_UNITS_H
#define GUS_ATTRIBUTION_PROFILE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "attribution/profile/profile.h"
#include "attribution/stacks/evidence.h"

struct gus_scale {
	enum gus_evidence evidence; /* GUS_OBSERVED, GUS_INFERRED or GUS_UNKNOWN */
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
 * have neither. The weight of a profile of time is time. */
struct gus_units gus_units_of(const struct gus_profile *p);

/* weight in the scale's unit, rounded. */
uint64_t gus_scale_apply(const struct gus_scale *scale, uint64_t weight);
/* What of a whole, in the scale's unit, belongs to the weight behind the first *sum of it; *sum moves on behind it.
 * Parts are differences of rounded running sums, so that neighbours add up to what they make together, exactly:
 * components to their row, rows to the total. None is off by more than 1. */
uint64_t gus_scale_part(const struct gus_scale *scale, uint64_t *sum, uint64_t weight);

/* What the recording cost, in percent of the target's CPU time: the recorder's own time from its start to its end, and
 * what samples and the following of tasks took, as probed; negative if it is not known. */
double gus_overhead_percent(const struct gus_profile *p);

#endif
