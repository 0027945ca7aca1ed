/* SPDX-License-Identifier: MIT */
/* Which capacity, if it alone were another than the table says, would make the model meet the measurement.
 *
 * Sensitivities tell what a region takes with w times as much of a capacity. If that goes on as it begins, a part B of
 * its cycles T is inversely proportional to the capacity and the rest knows nothing of it, so with x times as much
 *
 *	T(x) = T + B * (1/x - 1),	B = (T - T(w)) / (1 - 1/w)
 *
 * which is solved for T(x) = what was measured. It is the tangent and no more: of a capacity that holds nothing up yet
 * it says that it never will. So more than twice as much, or less than half, is no answer. */
#ifndef GUS_ATTRIBUTION_COMPARED_KNOBS_H
#define GUS_ATTRIBUTION_COMPARED_KNOBS_H

#include <stddef.h>

enum { GUS_COMPARED_KNOBS = 3 };
static const double GUS_COMPARED_FACTOR = 2;

struct gus_compared_knob {
	int knob;               /* its number: that of a lane, without the nominal one */
	double factor;          /* how many times the table's capacity; a latency is as much shorter */
};

/* What there is of one region. */
struct gus_compared_lanes {
	const double *cycles;   /* by lane; the first is the nominal one */
	const double *errors;   /* standard errors of speedups, in the lane's place; NULL: there are none */
	double measured;        /* cycles */
	double error;           /* standard error of measured - modelled, in cycles; only of a fit */
};

/* Those by which the region alone would meet, the one that has to be changed least first. knobs: how many lanes there
 * are besides the nominal one; a lane whose knob is not there[] is left out. Returns how many. */
size_t gus_compared_knobs_find(const struct gus_compared_lanes *r, int knobs, const unsigned char *there, double weight,
			       struct gus_compared_knob out[GUS_COMPARED_KNOBS]);

/* The one knob that brings all regions nearest, turned by as much for all, and which part of the differences it
 * explains: of the sum of their squares, each in its own error. -1: none helps. */
struct gus_compared_common {
	int knob;
	double factor, explained;
};
struct gus_compared_common gus_compared_knobs_common(const struct gus_compared_lanes *regions, size_t n, int knobs,
						     const unsigned char *there, double weight);

#endif
