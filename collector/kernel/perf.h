/* SPDX-License-Identifier: MIT */
/* All that is asked of the kernel for events: one table of functions, through which every event is opened, mapped,
 * read, switched and closed, and every file of PMUs and settings is found. It is constant and is the real calls
 * (perf.c). A test that wants to be the kernel defines gus_perf itself: a linker takes an object out of our archive
 * only for what nobody has defined yet, so perf.c is not in such a program at all, and in gusprof there is nothing
 * that could be switched. (A pointer to a table would have been one more parameter of some sixty functions, which all
 * would hand on the same value.)
 *
 * Descriptors are real ones, also in a double: they are polled beside others, count against limits and are inherited.
 * Each function takes, returns and sets errno as the call of its name, but for open, which is perf_event_open(2). */
#ifndef GUS_COLLECTOR_KERNEL_PERF_H
#define GUS_COLLECTOR_KERNEL_PERF_H

#include <stddef.h>
#include <sys/types.h>

struct perf_event_attr;
struct pollfd;

enum { GUS_PERF_PATH = 512 }; /* bytes of room for a path */

struct gus_perf {
	int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);
	int (*ioctl)(int fd, unsigned long request, ...);
	void *(*mmap)(void *at, size_t size, int protection, int flags, int fd, off_t offset); /* rings, and AUX */
	int (*munmap)(void *at, size_t size);
	ssize_t (*read)(int fd, void *out, size_t size);
	int (*close)(int fd);
	int (*poll)(struct pollfd *fds, unsigned long n, int timeout_ms);
	/* Where a file or folder of /proc or /sys is to be looked for: path, or room, which has GUS_PERF_PATH bytes. */
	const char *(*path)(const char *path, char *room);
};

extern const struct gus_perf gus_perf;

#endif
