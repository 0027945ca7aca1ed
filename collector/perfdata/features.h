/* SPDX-License-Identifier: MIT */
/* What perf writes of its machine, command and events outside of records: features, each a number and bytes. In a file
 * a table of where they are stands behind the records; of a pipe they are records themselves. */
#ifndef GUS_COLLECTOR_PERFDATA_FEATURES_H
#define GUS_COLLECTOR_PERFDATA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/cursor.h"

struct gus_error;
struct gus_perfdata_window;

/* Numbers of features, as perf has them. */
enum gus_perfdata_feature {
	GUS_PERFDATA_TRACING_DATA = 1, GUS_PERFDATA_BUILD_IDS, GUS_PERFDATA_HOSTNAME, GUS_PERFDATA_RELEASE,
		GUS_PERFDATA_VERSION,
	GUS_PERFDATA_ARCH, GUS_PERFDATA_CPUS, GUS_PERFDATA_CPU_TEXT, GUS_PERFDATA_CPUID, GUS_PERFDATA_MEMORY,
	GUS_PERFDATA_COMMAND,
	GUS_PERFDATA_EVENT_NAMES, GUS_PERFDATA_BRANCHES = 15, GUS_PERFDATA_PMUS = 16, GUS_PERFDATA_GROUPS = 17,
	GUS_PERFDATA_AUXTRACE_INDEX = 18, GUS_PERFDATA_STAT = 19, GUS_PERFDATA_CACHES = 20,
		GUS_PERFDATA_SAMPLE_TIME = 21,
		GUS_PERFDATA_CLOCKID = 23, GUS_PERFDATA_DIRECTORY = 24,
	GUS_PERFDATA_COMPRESSED = 27, GUS_PERFDATA_CLOCK_DATA = 29,
	GUS_PERFDATA_SIMPLEPERF = 129, /* of simpleperf: pairs of texts */
	GUS_PERFDATA_FEATURES = 256,
};

/* Zeroed it has none. */
struct gus_perfdata_features {
	bool big_endian;
	uint64_t set[GUS_PERFDATA_FEATURES / 64]; /* which of them a file has: bits */
	struct { size_t offset, size; } at[GUS_PERFDATA_FEATURES]; /* in `kept` */
	struct gus_vec(uint8_t) kept;
};

/* Takes in which a file has, from its header. */
void gus_perfdata_features_note(struct gus_perfdata_features *f, struct gus_cursor *c);
/* Reads those of a file of that size, of which the table stands at an offset. *cut: something of them is missing. -1:
 * err. */
int gus_perfdata_features_read(struct gus_perfdata_features *f, struct gus_perfdata_window *w, uint64_t table,
			       uint64_t size, bool *cut, struct gus_error *err);
/* One that is a record: its number, then what it is. */
void gus_perfdata_features_take(struct gus_perfdata_features *f, struct gus_cursor body);
/* Bytes of one, or none. */
struct gus_cursor gus_perfdata_features_find(const struct gus_perfdata_features *f, unsigned feature);
/* Drops all that are kept. */
void gus_perfdata_features_clear(struct gus_perfdata_features *f);
void gus_perfdata_features_free(struct gus_perfdata_features *f);

#endif
