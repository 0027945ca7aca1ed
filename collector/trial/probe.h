/* SPDX-License-Identifier: MIT */
/* What this machine really delivers. That the kernel opens an event proves nothing: virtual machines have counters that
 * stand still, and precision on a software event is accepted and ignored. So each candidate samples a short loop of our
 * own, and counts only if its samples arrive. */
#ifndef GUS_COLLECTOR_TRIAL_PROBE_H
#define GUS_COLLECTOR_TRIAL_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/events/event.h"

struct gus_cargo;
struct gus_events;
struct gus_log;

/* Samples this process with the event for about a millisecond. */
enum gus_verdict gus_probe_event(const struct gus_event *event);

/* The same with a stack of branches (PERF_SAMPLE_BRANCH_*) to each sample. Those of filters other than "any" may be
 * empty. */
enum gus_verdict gus_probe_branches(const struct gus_event *event, uint64_t branch_type);

/* Whether its samples can bring registers and stacks along here: 0, or the errno that says why not. Where it does not
 * open at all, that is not the reason. */
int gus_probe_stacks(const struct gus_event *event, const struct gus_cargo *cargo);

struct gus_choice {
	char tier;          /* 'A', 'B' or 'C': DESIGN.md section 1 */
	char text[768];     /* what is sampled and what that means, in one or two sentences */
};

/* -e auto: appends the best events that deliver (several on a machine with several kinds of cores). -1 if not even a
 * clock does, with the reason. */
int gus_probe_auto(struct gus_events *events, struct gus_pmus *pmus, struct gus_choice *choice, struct gus_error *err);

/* Gives each event that asks for the best precision (modifier P) the highest that delivers, and takes it from those
 * that ask for it by name where the driver grants it and the samples do not have it. Returns whether that were any. */
bool gus_probe_precision(struct gus_events *events);

/* Where this user may not sample the kernel: takes it out of the events that did not ask for it by name. Returns
 * whether that changed any. */
bool gus_probe_permission(struct gus_events *events);

/* Opens the events of a plan on ourselves, group by group, and gives way where the kernel refuses: it leaves the kernel
 * out of all where that is what is forbidden, has one weight where this kernel has not three, and a lower precision of
 * samples of time. What does not open even so is left out, if it is no time, and said. 0, or -1 with err: the time
 * cannot be had, or nothing could be tried. */
int gus_probe_planned(struct gus_events *events, const struct gus_log *log, struct gus_error *err);

/* Whether samples of loads or of cycles say how long an instruction retired after the one before: those of some of
 * Intel's cores do, and others have 0 there. */
enum gus_verdict gus_probe_retirement(const struct gus_event *event);

/* Whether this user may sample where threads leave their CPU, which is in the kernel. */
bool gus_probe_switches(void);

/* The same description for events that the user named. */
void gus_probe_describe(const struct gus_events *events, struct gus_choice *choice);

/* What one sample of a clock or of cycles costs here, in ns: a loop of known work, timed with and without. 0 for other
 * events, and where it cannot be told from noise. Takes about 10 ms of CPU time. */
uint64_t gus_probe_cost(const struct gus_event *event);
uint64_t gus_probe_cost_with(const struct gus_event *event, const struct gus_cargo *cargo);
/* And how much of that each KiB of the stack costs where there is as much of it as is asked for; 0 for small pieces. */
uint64_t gus_probe_cost_of_stack(const struct gus_event *event, const struct gus_cargo *cargo);

#endif
