/* SPDX-License-Identifier: MIT */
/* Where a flame graph goes: a new file, which takes its name when it is whole (base/output.h), standard output, or a
 * device as it is. */
#ifndef GUS_CLI_REPORT_FLAME_FILE_H
#define GUS_CLI_REPORT_FLAME_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/output.h"

struct gus_flame_file {
	FILE *out;
	/* Private. */
	const char *path;       /* borrowed */
	struct gus_output file; /* without a name until the page is whole */
	bool made;
};

/* Before a recording is read: a name that cannot be written to is no reason to wait. "-" is standard output. -1 with
 * err. */
int gus_flame_file_open(struct gus_flame_file *f, const char *path, struct gus_error *err);
/* The end, with what the page came to: the file takes its name, or, if rc is a failure, is gone. -1 with err, which is
 * left alone if rc was a failure already. */
int gus_flame_file_end(struct gus_flame_file *f, int rc, struct gus_error *err);

#endif
