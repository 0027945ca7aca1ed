/* SPDX-License-Identifier: MIT */
/* What a recording's samples say of threads in each region of a trace: how its samples are spread over threads, what
 * the runtime of OpenMP has, and loads that found their line changed by another core. */
#ifndef GUS_ATTRIBUTION_VERDICTS_THREADS_H
#define GUS_ATTRIBUTION_VERDICTS_THREADS_H

#include "attribution/verdicts/pathology.h"

struct gus_error;
struct gus_log;
struct gus_reader;
struct gus_traced;

/* Reads a recording: by region of the trace, to be freed. NULL with err. A recording without samples of accesses has no
 * HITM, and that is no error. */
struct gus_pathology_seen *gus_pathology_seen_load(struct gus_traced *t, struct gus_reader *reader,
						   const struct gus_log *log, struct gus_error *err);

#endif
