/* SPDX-License-Identifier: MIT */
/* Files that we write where others may write as well: /tmp, a folder of another user. What already has the name may
 * have been put there for us: a link to a file of ours, a FIFO that nobody reads. The kernel can be told to look after
 * some of this (sysctl fs.protected_symlinks and its like, proc_sys_fs(5)), and often is not. So:
 *
 *   - A symbolic link of somebody else, anywhere on the way, is not followed by root, nor by anybody else in a folder
 *     that all may write to and only owners may delete in (sticky, as /tmp is). Somebody else is whoever is neither we
 *     nor root.
 *   - Under the same conditions a file of somebody else, or one with several names, is not written into; a new one takes
 *     its name.
 *   - A FIFO of somebody else in a sticky folder is not used. */
#ifndef GUS_BASE_OUTPUT_FILE_H
#define GUS_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <sys/types.h>

struct gus_error;

/* Where a file is to be: its folder, open, and its name in there. */
struct gus_output_place {
	int folder;
	char *name;
};

/* Finds the folder of path. All of these begin their errors with what we were doing: "cannot write the counts to". -1
 * with err; else the place is to be closed. */
int gus_output_find(struct gus_output_place *place, const char *path, const char *doing, struct gus_error *err);
void gus_output_close(struct gus_output_place *place);

/* Opens path for writing, from its beginning. What is no regular file - a terminal, a FIFO, /dev/stdout - is written to
 * as it is, and of a FIFO a reader is waited for. A descriptor, closed on exec; -1 with err. */
int gus_output_open(const char *path, const char *doing, struct gus_error *err);

/* Whether path leads to what a process has open (/dev/stdout, /dev/fd/N), which has no name that could be taken. */
bool gus_output_is_open(const char *path);

/* Opens a FIFO for reading and writing, without waiting. */
int gus_output_open_fifo(const char *path, const char *doing, struct gus_error *err);

#endif
