/* SPDX-License-Identifier: MIT */
/* Whether samples can bring the counts of their group along here (PERF_SAMPLE_READ with PERF_FORMAT_GROUP). */
#ifndef GUS_COLLECTOR_TRIAL_CARRIED_H
#define GUS_COLLECTOR_TRIAL_CARRIED_H

#include <stdbool.h>

struct gus_error;
struct gus_events;

/* Opens each group on ourselves, disabled, and takes precision from what samples until the kernel takes it: a group has
 * one PMU, and precise cycles of AMD's are those of another one. inherit: tasks that are born later are to be followed.
 * 0, or -1 with err: what the kernel refuses, and since when it does not. */
int gus_trial_carried(struct gus_events *events, bool inherit, struct gus_error *err);

#endif
