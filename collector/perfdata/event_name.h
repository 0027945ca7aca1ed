/* SPDX-License-Identifier: MIT */
/* Names of events that are known by their attribute alone. */
#ifndef GUS_COLLECTOR_PERFDATA_EVENT_NAME_H
#define GUS_COLLECTOR_PERFDATA_EVENT_NAME_H

struct gus_perfdata_attr;

/* As perf gives it; pmu: the name of its type, NULL if that is not known. Owned by the caller. */
char *gus_perfdata_event_name(const struct gus_perfdata_attr *a, const char *pmu);

#endif
