/* SPDX-License-Identifier: MIT */
/* From the errno of perf_event_open to a sentence: why an event did not open here, and what can be done about it. */
#ifndef GUS_COLLECTOR_DOCTOR_REFUSAL_H
#define GUS_COLLECTOR_DOCTOR_REFUSAL_H

#include "collector/events/event.h"

struct gus_error;

/* Why opening event failed with that errno. Returns -1. */
int gus_refusal_explain(struct gus_error *err, const struct gus_event *event, int cpu, int sys);

#endif
