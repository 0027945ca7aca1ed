/* SPDX-License-Identifier: MIT */
/* A recording written as perf.data, to a file or a pipe. */
#ifndef GUS_CLI_EXPORT_FILE_H
#define GUS_CLI_EXPORT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/perfdata/write.h"

struct gus_error;
struct gus_reader;
struct gus_contents;

/* What became of it. */
struct gus_export_result {
	uint64_t samples, bytes;
	/* records that another program had in its file, and that are in this one, too */
	uint64_t kept;
	uint64_t late;                  /* came later than their time: more of the recording overlaps than is kept */
	uint64_t too_long;              /* records of the side band of which a text is longer than a record */
	uint64_t ids_left;              /* of events, for which a pipe's records have no room */
	uint64_t unnamed;               /* tracepoints of which names and fields are not told */
	uint64_t absent;                /* files without which perf unwinds no stacks: they are not at hand */
	uint64_t unfit[GUS_PERFDATA_UNFITS]; /* samples, by what of them has no place */
};

/* Writes it onto what is open as fd, from its beginning; a pipe's form is one that is written front to back. The
 * contents is of the same recording. -1 with err. */
int gus_export_write(int fd, bool pipe, struct gus_reader *reader, const struct gus_contents *contents,
		     const char *name,
		     struct gus_export_result *result, struct gus_error *err);

#endif
