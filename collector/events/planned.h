/* SPDX-License-Identifier: MIT */
/* Events of a plan (collector/plan): what its rows say as events to be opened. Kinds of cores stay apart: each has its
 * events for itself, which are opened on its CPUs alone. */
#ifndef GUS_COLLECTOR_EVENTS_PLANNED_H
#define GUS_COLLECTOR_EVENTS_PLANNED_H

struct gus_error;
struct gus_events;
struct gus_plan;
struct gus_pmus;

/* Appends all events of the plan, those that samples are asked about first: its heights. asked: as the user wrote it.
 * 0, or -1 with GUS_E_UNSUPPORTED if this machine has not the PMU that counts one of them. */
int gus_planned_events(struct gus_events *events, const struct gus_plan *plan, const char *asked,
		       struct gus_pmus *pmus, struct gus_error *err);

#endif
