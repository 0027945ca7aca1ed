/* SPDX-License-Identifier: MIT */
/* A recording's first frame: what was recorded, on what, and how. */
#ifndef GUS_COLLECTOR_SESSION_HEADER_H
#define GUS_COLLECTOR_SESSION_HEADER_H

#include <stdint.h>
#include <sys/types.h>

#include "collector/session/options.h"
#include "proto/writer.h"

struct gus_counters;
struct gus_error;

/* What it says that the options do not. */
struct gus_header {
	const struct gus_session_options *options;
	const struct gus_counters *counters;
	Gusprof__Frequency *frequency; /* before the workload */
	pid_t child;                   /* the launched command's process, 0 if there is none */
	uint32_t part;                 /* 0: the recording is one file */
};

/* Creates the file with its header, which says that it begins at start_ns of the records' clock. */
struct gus_writer *gus_header_create(const struct gus_header *header, uint64_t start_ns, struct gus_error *err);

#endif
