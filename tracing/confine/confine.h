/* SPDX-License-Identifier: MIT */
/* A child that executes foreign code: what it may not do any more. Whoever starts it calls these between fork and exec;
 * what it may still ask of the kernel afterwards it forbids itself (tracing/confine/calls.h; the loader natively).
 *
 * What holds from here on, of which the kernel's filter is the wall and all else stands behind it:
 * - no new privileges: no set-user-id program gives any back;
 * - where we are root, it is nobody, in a group that nobody has; else it is in a user namespace of its own, if the
 *   kernel allows;
 * - no network, no System V objects, if either of these gave the right to leave them;
 * - an empty root folder that nothing can be created in, at once or when it asks for it;
 * - of our open files only those that are named;
 * - limits of memory, CPU time and of the file that it writes; where memory is short it is the first to go;
 * - it dies with us, and has no terminal. */
#ifndef GUS_TRACING_CONFINE_CONFINE_H
#define GUS_TRACING_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gus_error;

#define GUS_CONFINE_NOBODY 65534
/* A group that no system gives to anybody, so that other processes of nobody may not look into this one's memory, which
 * is somebody's: for that the kernel wants the same user and the same group. */
#define GUS_CONFINE_GROUP 65533

struct gus_confinement {
	pid_t parent;           /* who forks: it ends with that one */
	const int *keep;        /* descriptors beside 0, 1 and 2 that go along */
	size_t keep_n;
	int root;               /* of gus_confine_folder */
	bool enter_root;        /* at once, for a program that needs no file; else it keeps the right to do so later */
	uint64_t memory;        /* bytes that it may write to */
	uint64_t file;          /* bytes that a file may grow to by it */
	unsigned seconds;       /* of CPU time */
};

/* An empty folder that has no name any more, so that nothing can be made in it: open, closed on exec. -1 with err. */
int gus_confine_folder(struct gus_error *err);

/* In the child, between fork and exec; its only thread. -1 if it must not go on: what could not be given up, and errno
 * says why. */
int gus_confine(const struct gus_confinement *c);

#endif
