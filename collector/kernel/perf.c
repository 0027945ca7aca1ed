/* SPDX-License-Identifier: MIT */
#include "collector/kernel/perf.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

static int poll_for(struct pollfd *fds, unsigned long n, int timeout_ms)
{
	return poll(fds, n, timeout_ms);
}

static const char *itself(const char *path, char *room)
{
	(void)room;
	return path;
}

const struct gus_perf gus_perf = {
	.open = open_event, .ioctl = ioctl, .mmap = mmap, .munmap = munmap, .read = read, .close = close,
	.poll = poll_for, .path = itself,
};
