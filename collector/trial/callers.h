/* SPDX-License-Identifier: MIT */
/* Whether samples can bring along here what callers are found by: registers and a piece of the stack, or the calls that
 * the CPU keeps. Asked before a recording is opened, so that what cannot be is one clear error. */
#ifndef GUS_COLLECTOR_TRIAL_CALLERS_H
#define GUS_COLLECTOR_TRIAL_CALLERS_H

struct gus_cargo;
struct gus_error;
struct gus_events;
struct gus_pmus;

/* Tries the events on ourselves. -1 with err: what is in the way, and what can be done instead. That the events may not
 * be opened at all is not found here. uarch: of this CPU, or NULL. */
int gus_callers_check(const struct gus_events *events, const struct gus_cargo *cargo, struct gus_pmus *pmus,
		      const char *uarch, struct gus_error *err);

#endif
