/* SPDX-License-Identifier: MIT */
/* What a perf.data file says of its machine, its events and its files, outside of its records: attributes and features,
 * as the header of a recording of ours. Layouts: linux, tools/perf/Documentation/perf.data-file-format.txt. */
#ifndef GUS_COLLECTOR_PERFDATA_DESCRIBE_H
#define GUS_COLLECTOR_PERFDATA_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "proto/gusprof.pb-c.h"

struct gus_perfdata;

/* Build ids by the names of their files. Zeroed it is empty. */
struct gus_perfdata_builds {
	struct gus_vec(struct gus_perfdata_build {
		char *path;
		uint8_t bytes[20];
		uint8_t size;
		bool kernel;            /* of the kernel or one of its modules */
	}) list;                        /* once it is ready, ascending by path */
};

/* Adds all of a feature's, or the one of a record's body, which is laid out alike. */
void gus_perfdata_builds_add(struct gus_perfdata_builds *b, struct gus_cursor c);
void gus_perfdata_builds_ready(struct gus_perfdata_builds *b);
const struct gus_perfdata_build *gus_perfdata_builds_find(const struct gus_perfdata_builds *b, const char *path);
void gus_perfdata_builds_free(struct gus_perfdata_builds *b);

/* The header of a recording of ours that says the same; owned by the caller, who frees it as a message. Of a pipe what
 * was met so far. */
Gusprof__Header *gus_perfdata_describe(const struct gus_perfdata *p);

#endif
