/* SPDX-License-Identifier: MIT */
/* Files that a user names for output (-o). There is one rule for all of them, so that no name can be made to mean
 * another file than the user thinks: a file is made anew in its folder, without a name or beside it, and takes the name
 * when its maker says so. What had the name, a regular file or a symbolic link, is kept as NAME.old; a link is never
 * written through, and the way to its folder is walked as base/output_file.h says. What is neither (a device, a FIFO, a
 * folder, or a link to one or into /proc) is refused: to rename /dev/stdout away would harm others than us. */
#ifndef GUS_BASE_OUTPUT_H
#define GUS_BASE_OUTPUT_H

#include "base/output_file.h"

struct gus_error;

/* A file without its name yet. Owned by whoever made it, and ended by either of the two functions below. */
struct gus_output {
	int fd;                 /* close-on-exec, mode 0600; the owner closes it */
	struct gus_output_place place; /* where it will be ... */
	char *path;             /* ... and what it will be called */
	char *hidden;           /* what it is called now; NULL: nothing, where the file system has such files */
	const char *what;       /* "recording": for messages; borrowed */
};

/* Makes the file. -1 with err if it cannot be made, or if it could not get its name as things are. */
int gus_output_create(struct gus_output *o, const char *path, const char *what, struct gus_error *err);

/* Gives it its name, while its descriptor is open, which stays so; after a failure it is gone, as after
 * gus_output_drop. */
int gus_output_name(struct gus_output *o, struct gus_error *err);

/* Writes all of it to a descriptor. -1 with errno, ENOSPC where there is no other reason. */
int gus_output_write(int fd, const void *bytes, size_t size);

/* Removes the file that has no name. */
void gus_output_drop(struct gus_output *o);

#endif
