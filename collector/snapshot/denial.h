/* SPDX-License-Identifier: MIT */
/* Why the kernel keeps us from a process's memory. It only says that it does; what can be seen of the two sides tells
 * which of its reasons holds, and "run as root" is no advice to root. */
#ifndef GUS_COLLECTOR_SNAPSHOT_DENIAL_H
#define GUS_COLLECTOR_SNAPSHOT_DENIAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One side: user (effective, of whom all are the same or not) and permitted capabilities, as /proc/PID/status has
 * them. */
struct gus_denial_side {
	unsigned uid;
	int several;            /* its real, effective and saved user differ */
	uint64_t permitted, effective;
};

/* A clause, such as "it belongs to user 0 (run as root)". yama: kernel.yama.ptrace_scope. */
void gus_denial_tell(const struct gus_denial_side *we, const struct gus_denial_side *it, int yama, char *out,
		      size_t size);
/* The same, of a process and ourselves. */
void gus_denial_of(pid_t pid, char *out, size_t size);

#endif
