/* SPDX-License-Identifier: MIT */
/* Events that are only counted: no rings, no samples. Each is opened once a place - a task with all that it will
 * start, or a CPU - and read as one sum. What cannot be counted stays in the list with its reason, so that the
 * others still are. */
#ifndef GUS_COLLECTOR_COUNTERS_TALLY_H
#define GUS_COLLECTOR_COUNTERS_TALLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"

struct gus_error;

struct gus_events;

/* Where events are opened. */
struct gus_tally_place {
	pid_t pid;      /* a task, wherever it runs; -1: whatever runs on cpu */
	int cpu;        /* -1 for a task */
};

enum gus_tally_state {
	GUS_TALLY_OPEN,
	GUS_TALLY_ABSENT,   /* this machine, its hypervisor or its kernel has no such event, or not for such a place */
	GUS_TALLY_REFUSED,  /* permission */
	GUS_TALLY_BLIND,    /* it happens in the kernel alone, which is left out: the kernel would count to zero */
	GUS_TALLY_GONE,     /* every task had ended before it could be opened */
};

struct gus_tally {
	struct gus_events *events;      /* borrowed */
	struct gus_vec(struct gus_tally_counter) list;
	enum gus_tally_state *states;   /* one an event */
	int *reasons;                   /* errno behind a state, 0 if there is none */
	bool on_exec;
};

/* What an event has counted. Where more events are wanted than there are counters, the kernel takes turns: enabled
 * is how long the event was to be counted, running how long it was. Over several places all are sums. */
struct gus_count { uint64_t value, enabled_ns, running_ns; };

/* Opens each event everywhere, disabled. on_exec: they start when the task becomes another program; else with
 * gus_tally_enable. Members of a group that cannot be counted whole are not counted at all. -1 if descriptors ran
 * out, or for a failure that is none of the event's. */
int gus_tally_open(struct gus_tally *t, struct gus_events *events, const struct gus_tally_place *places, size_t n,
		   bool on_exec, struct gus_error *err);
void gus_tally_close(struct gus_tally *t);

void gus_tally_enable(struct gus_tally *t);
void gus_tally_disable(struct gus_tally *t);

/* Fills one count an event; those that are not open are left at zero. */
void gus_tally_read(const struct gus_tally *t, struct gus_count *counts);

/* value as it would have been, had the event been counted all the time; value itself if it was. */
double gus_count_scaled(const struct gus_count *c);
/* The share of the time in which it was counted, 0 .. 1; 1 if there was no time. */
double gus_count_running(const struct gus_count *c);

/* a - b, of two readings of the same event. */
struct gus_count gus_count_since(struct gus_count a, struct gus_count b);

#endif
