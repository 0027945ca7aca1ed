/* SPDX-License-Identifier: MIT */
/* Counts of the events of several tables that were read again and again, so that it is known how sure trees of them
 * are. A long run has no more readings than a short one, but longer ones. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_READINGS_H
#define GUS_ATTRIBUTION_TOPDOWN_READINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_topdown;
struct gus_topdown_count;
struct gus_topdown_tree;

struct gus_topdown_readings {
	struct gus_vec(struct gus_topdown_count) counts; /* one an event, reading by reading */
	struct gus_vec(uint64_t) ends; /* when each was taken, in ns of some clock; not before the one before it */
	size_t n;
};

/* Some of them, one behind the other, and the time that they are of. */
struct gus_topdown_stretch { uint64_t from_ns, to_ns; size_t first, n; };

/* Adds a reading of so many events, the same number each time: what they counted since the one before. */
void gus_topdown_readings_add(struct gus_topdown_readings *r, const struct gus_topdown_count *counts, size_t events,
			      uint64_t end_ns);
void gus_topdown_readings_free(struct gus_topdown_readings *r);

/* Cuts all readings into stretches of about one length, the first of which begins at start_ns: at most `most`, which
 * there is room for. A reading is in one stretch as a whole, that in which its middle is, so stretches begin and end
 * with readings, and their counts add up to those of all. Returns how many there are; none is without a reading. */
size_t gus_topdown_readings_cut(const struct gus_topdown_readings *r, uint64_t start_ns, size_t most,
				struct gus_topdown_stretch *stretches);

/* The tree of the table whose events stand from `first` on among those of each reading; total: all events, over the
 * whole run. The caller frees it. */
void gus_topdown_readings_tree(const struct gus_topdown_readings *r, const struct gus_topdown *table, unsigned level,
			       const struct gus_topdown_count *total, size_t first, size_t events,
			       struct gus_topdown_tree *tree);
/* The same of a stretch, whose total is what its readings add up to. */
void gus_topdown_readings_part(const struct gus_topdown_readings *r, const struct gus_topdown_stretch *stretch,
			       const struct gus_topdown *table, unsigned level, size_t first, size_t events,
			       struct gus_topdown_tree *tree);

#endif
