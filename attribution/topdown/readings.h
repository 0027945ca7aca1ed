/* SPDX-License-Identifier: MIT */
/* Counts of the events of several tables that were read again and again, so that it is known how sure trees of them
 * are. A long run has no more readings than a short one, but longer ones. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_READINGS_H
#define GUS_ATTRIBUTION_TOPDOWN_READINGS_H

#include <stddef.h>

#include "base/alloc.h"

struct gus_topdown;
struct gus_topdown_count;
struct gus_topdown_tree;

struct gus_topdown_readings {
	struct gus_vec(struct gus_topdown_count) counts; /* one an event, reading by reading */
	size_t n;
};

/* Adds a reading of so many events, the same number each time: what they counted since the one before. */
void gus_topdown_readings_add(struct gus_topdown_readings *r, const struct gus_topdown_count *counts, size_t events);
/* The tree of the table whose events stand from `first` on among those of each reading; total: all events, over the
 * whole run. The caller frees it. */
void gus_topdown_readings_tree(const struct gus_topdown_readings *r, const struct gus_topdown *table, unsigned level,
			       const struct gus_topdown_count *total, size_t first, size_t events,
			       struct gus_topdown_tree *tree);

#endif
