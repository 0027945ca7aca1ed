/* SPDX-License-Identifier: MIT */
/* The file that a process has mapped, opened: also if it has been replaced or deleted, was never in a folder, or is in
 * another mount namespace. */
#ifndef GUS_COLLECTOR_HOST_MAPPED_H
#define GUS_COLLECTOR_HOST_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/foreign_file.h"

/* What is known of the mapping. */
struct gus_mapped {
	uint64_t start, end;
	const char *path;         /* as the kernel names it, of path_length bytes */
	size_t path_length;
	const uint8_t *build_id;  /* the file's, if build_id_size is not 0; else identity says which it is */
	size_t build_id_size;
	struct gus_file_identity identity;
};

/* A descriptor for reading, or -1: the file is not there any more, or another one is, or it may not be read with the
 * process's rights: what it may execute and not read is not read for it. Of a process that has ended, what has its path
 * in our own mount namespace serves if it is the same file; that is opened with our rights, as a report will. */
int gus_mapped_open(pid_t pid, const struct gus_mapped *mapped);

#endif
