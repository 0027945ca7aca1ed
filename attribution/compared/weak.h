/* SPDX-License-Identifier: MIT */
/* What the model is known to be weak in, by region. */
#ifndef GUS_ATTRIBUTION_COMPARED_WEAK_H
#define GUS_ATTRIBUTION_COMPARED_WEAK_H

struct gus_traced;

/* What the model is known to be weak in, of one region. Shares are of 1. */
struct gus_compared_weak {
	double unknown;         /* of the instructions: they have no row in the table */
	double first;           /* of the cycles: if what is touched for the first time had been in the caches, less */
	double beyond;          /* of the accesses: they go to L3 or memory */
	double mispredicted;    /* branches by 1000 instructions, by a predictor of which little is known */
};

/* By region of the trace, and behind the last one of all; the caller frees it. */
struct gus_compared_weak *gus_compared_weak_find(const struct gus_traced *t);

#endif
