/* SPDX-License-Identifier: MIT */
/* Counters of the traffic of memory, open on this machine: every event of a family of PMUs (table.h), on every instance
 * of it, on each CPU that the instance names in its cpumask, one a socket as a rule. They count what all of the machine
 * does; no task, and no CPU alone. That wants CAP_PERFMON or kernel.perf_event_paranoid of 0 or less. */
#ifndef GUS_COLLECTOR_UNCORE_UNCORE_H
#define GUS_COLLECTOR_UNCORE_UNCORE_H

#include <stdint.h>

#include "base/alloc.h"
#include "collector/counters/tally.h"
#include "collector/events/event.h"
#include "collector/uncore/table.h"

struct gus_error;
struct gus_pmus;

struct gus_uncore_counter {
	const struct gus_uncore_row *row;
	int cpu;               /* on which it is opened */
	uint32_t socket;       /* of that CPU: physical_package_id */
	double bytes;          /* a count */
};

struct gus_uncore {
	const struct gus_uncore_family *family;
	struct gus_events events; /* one a counter */
	struct gus_vec(struct gus_uncore_counter) counters;
	struct gus_vec(struct gus_tally_place) places;
	struct gus_tally tally;
	bool open;
	struct gus_count *now, *before;
};

/* Which counters this machine has; cpu: its name, LLVM's, or NULL. Opens nothing. -1 if it has none, or describes them
 * in a way that cannot be understood. Free it in either case. */
int gus_uncore_find(struct gus_uncore *u, const char *cpu, struct gus_pmus *pmus, struct gus_error *err);
/* Opens all of them, disabled. -1 if one cannot be, which says why: without it sums would be too small. */
int gus_uncore_open(struct gus_uncore *u, struct gus_error *err);
void gus_uncore_enable(struct gus_uncore *u);
/* What each has counted since it was read before; since has room for all. */
void gus_uncore_read(struct gus_uncore *u, struct gus_count *since);
void gus_uncore_free(struct gus_uncore *u);

#endif
