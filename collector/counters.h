/* SPDX-License-Identifier: MIT */
/* The open events of one target: each event on each CPU, with one ring a CPU that they share. Inheritance follows new
 * tasks, and the kernel allows it to be read through a ring only one CPU at a time; hence a descriptor an event and
 * CPU. */
#ifndef GUS_COLLECTOR_COUNTERS_H
#define GUS_COLLECTOR_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/attr.h"
#include "collector/event.h"
#include "collector/period.h"
#include "collector/records.h"
#include "collector/ring.h"

/* An event on a CPU. Its place in the list is the slot that records give its id. */
struct gus_counter {
	int fd;
	uint32_t event;
	bool leader;
	uint64_t period;        /* in force, of a jittered clock; see gus_counters_weight */
};

struct gus_counters {
	struct gus_events *events; /* borrowed */
	struct gus_attr_plan plan;
	struct gus_vec(struct gus_counter) list;
	struct gus_vec(int) tracking;
	struct gus_vec(struct gus_ring) rings;
	struct gus_records records;
	struct gus_random random;
};

/* What to watch. Later also: a thread, CPUs, a cgroup. */
struct gus_target {
	pid_t pid;
	bool starts_by_exec;    /* a launched workload that has not become its command yet */
};

struct gus_counters_options {
	bool call_graph, switches;
	bool late;              /* do not count before gus_counters_enable */
	size_t ring_bytes;
};

/* Opens everything. Where the kernel may not be watched, watches user space only, says so, and changes the events
 * accordingly. */
int gus_counters_open(struct gus_counters *c, struct gus_events *events, const struct gus_target *target,
		      const struct gus_counters_options *options, const struct gus_log *log, struct gus_error *err);
void gus_counters_close(struct gus_counters *c);

void gus_counters_enable(struct gus_counters *c);
void gus_counters_disable(struct gus_counters *c);

/* Gives each jittered event a new period. Drain the rings just before: what is in them still has the old one.
 *
 * The kernel starts the new period from zero, so the part of the old one that had elapsed is counted in no sample: on
 * average half a period for each CPU where the task runs at that moment. gus_counters_redraw_interval is long enough
 * to keep that below 1 in 500 of the time. */
void gus_counters_redraw(struct gus_counters *c);
/* Nanoseconds between redraws; UINT64_MAX if nothing is jittered. */
uint64_t gus_counters_redraw_interval(const struct gus_counters *c);

/* What a sample stands for. Mostly the period that the kernel recorded. But after a redraw, kernels up to 6.18 at least
 * go on to record the first period in samples of a clock, though its timer runs with the new one; copies of the event
 * that tasks inherited are not redrawn and record their own period truly. */
uint64_t gus_counters_weight(const struct gus_counters *c, const struct gus_record *record);

/* Adds up what the counters themselves say of each event: count, running, enabled, and lost where the kernel tells. */
void gus_counters_totals(const struct gus_counters *c, Gusprof__EventTotal *totals);

/* Whether times are of CLOCK_MONOTONIC; else of the kernel's own clock. */
bool gus_counters_monotonic(const struct gus_counters *c);

#endif
