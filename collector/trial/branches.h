/* SPDX-License-Identifier: MIT */
/* Branch stacks: the branches that were taken before a sample, as some CPUs note them (LBR, BRS, LbrExt, BRBE).
 * Which of them are asked for, in perf's words, and whether this machine gives any. */
#ifndef GUS_COLLECTOR_TRIAL_BRANCHES_H
#define GUS_COLLECTOR_TRIAL_BRANCHES_H

#include <stdint.h>

#include "collector/events/event.h"

struct gus_error;

struct gus_events;

/* What "any,u" means as perf_event_attr.branch_sample_type. Privilege levels alone mean all branches there. -1 with
 * GUS_E_USAGE for what is no filter. */
int gus_branches_parse(uint64_t *type, const char *text, struct gus_error *err);

/* Tries the events on ourselves: each must open, and deliver branches unless the filter may well leave none. -1 with
 * err: what is in the way, whose doing that is, and what would change it. uarch: of this CPU, or NULL. */
int gus_branches_check(const struct gus_events *events, uint64_t type, struct gus_pmus *pmus, const char *uarch,
		       struct gus_error *err);

/* The same of the calls that have not returned, by which callers are found. */
int gus_branches_check_calls(const struct gus_events *events, uint64_t type, struct gus_pmus *pmus, const char *uarch,
			     struct gus_error *err);

#endif
