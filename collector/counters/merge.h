/* SPDX-License-Identifier: MIT */
/* The records of several rings in the order of their times. A ring has those of one CPU; a task's sample may stand in
 * one, and the mapping that it ran in, or its birth, in another. */
#ifndef GUS_COLLECTOR_COUNTERS_MERGE_H
#define GUS_COLLECTOR_COUNTERS_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct gus_ring;

struct gus_merge {
	uint64_t (*time)(const void *record, size_t size, void *context);
	/* ring: its number */
	void (*take)(size_t ring, const void *record, size_t size, void *context);
	void *context;
};

/* Takes the records of n rings that were written until that time, earliest first, and frees their places; later ones
 * stay, as what another ring has of the same moment may not have been seen. until is read before the rings are: then
 * whatever was caused by then is in one of them. Records of one ring are never taken in another order than its own. */
void gus_merge_rings(const struct gus_merge *m, struct gus_ring *rings, size_t n, uint64_t until);

#endif
