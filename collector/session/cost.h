/* SPDX-License-Identifier: MIT */
/* What recording costs here, timed on ourselves: work of a known kind, without and with the events. */
#ifndef GUS_COLLECTOR_SESSION_COST_H
#define GUS_COLLECTOR_SESSION_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/events/cargo.h"

struct gus_events;

/* In ns of CPU time each; 0 where it cannot be told from noise. */
struct gus_costs {
	uint64_t sample_ns;  /* a sample of the first event */
	uint64_t birth_ns;   /* the start and the end of a task that inherits the events; 0 if none does */
	uint64_t wake_ns;    /* and beyond that for each event that shares the rings with them, when there are many */
	uint64_t switch_ns;  /* a watched task goes off its CPU and comes back */
	uint64_t map_ns;     /* a mapping of code, and of what else the loader maps of its file */
	uint64_t stack_ns;   /* beyond sample_ns, each KiB of the stack that a sample brings along */
};

struct gus_cost_options {
	struct gus_cargo cargo;
	bool switches;
	bool inherit;        /* tasks are watched, and those that they start; else CPUs are */
};

/* Takes 10 to 20 ms of CPU time. sample_ns is that of gus_probe_cost. */
void gus_costs_measure(const struct gus_events *events, const struct gus_cost_options *options,
		       struct gus_costs *costs);

#endif
