/* SPDX-License-Identifier: MIT */
/* What stands before and behind the records of a perf.data file: events, and features, which say where it is from. The
 * inverse of container.h. Pure: bytes are appended to what the caller has. */
#ifndef GUS_COLLECTOR_PERFDATA_DECLARE_H
#define GUS_COLLECTOR_PERFDATA_DECLARE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/perfdata/attr.h"
#include "collector/perfdata/features.h"
#include "proto/gusprof.pb-c.h"

struct gus_bytes;
struct gus_records_layout;

/* An event, with how its records look, its ids left empty. Layout and stack_bytes are those of the file that is
 * written. */
struct gus_perfdata_attr gus_perfdata_declare(const Gusprof__Header *header, uint32_t event,
					       const struct gus_records_layout *layout, bool switches);
/* How large perf_event_attr has to be for all of these: as old as can be, so that old programs read it. */
uint32_t gus_perfdata_attr_size(const Gusprof__Header *header);
/* Appends one; size is the above. */
void gus_perfdata_put_attr(struct gus_bytes *out, const struct gus_perfdata_attr *a, uint32_t size);

/* A file that was mapped, with its build id: "[kernel.kallsyms]" is the kernel. */
struct gus_perfdata_build_id {
	const char *path;
	const uint8_t *id;              /* of size bytes, at most 20 */
	size_t size;
	uint32_t pid;
	bool kernel;
};
/* Appends a record of its own, GUS_PERFDATA_BUILD_ID: the feature of a file is these one after the other. False if the
 * path is longer than a record. */
bool gus_perfdata_put_build_id(struct gus_bytes *out, const struct gus_perfdata_build_id *b);

/* What features are made of. */
struct gus_perfdata_about {
	const Gusprof__Header *header;
	const struct gus_perfdata_attr *attrs; /* one for each event */
	uint32_t attr_size;
	bool ids;                       /* in a file events are told with theirs */
	bool branches;                  /* samples have some */
	uint64_t first_ns, last_ns;     /* of samples; 0 if there are none */
};
/* Appends the bytes of a feature. False, and nothing, if the recording does not tell it: then the file is without. */
bool gus_perfdata_put_feature(struct gus_bytes *out, enum gus_perfdata_feature feature,
			      const struct gus_perfdata_about *about);
/* A tracepoint of which no more than the number is known, as of a file that was cut: GUS_PERFDATA_TRACING_DATA calls it
 * unknown:tracepoint_NUMBER. */
bool gus_perfdata_is_unnamed(const Gusprof__Event *e);

#endif
