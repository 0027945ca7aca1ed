/* SPDX-License-Identifier: MIT */
/* Holding threads of another process, and letting them go. */
#ifndef GUS_COLLECTOR_SNAPSHOT_HOLD_H
#define GUS_COLLECTOR_SNAPSHOT_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"

struct gus_error;

struct gus_held_thread {
	pid_t tid;
	int signal;                     /* that came instead of our stop, and is due to it; 0: none */
	bool stopped, gone;
};

/* Threads of a process that stand still because of us; the one that was asked for is the first. Some may not have
 * come to their stop: they wait for a CPU, and will stop before they execute anything of their own. The kernel lets
 * go of those only when the process ends that holds them. */
struct gus_held {
	pid_t pid;
	struct gus_vec(struct gus_held_thread) threads;
	uint64_t since_ns;              /* the process runs as it likes until then at least; 0: it does still */
};

/* Stops thread tid, and then all others of its process that run; those that sleep in the kernel are left to sleep,
 * as waking them would end calls such as epoll_wait. -1 with err. For processes that end soon. */
int gus_hold(struct gus_held *h, pid_t pid, pid_t tid, struct gus_error *err);
/* How many of those that slept run now. */
unsigned gus_held_woken(const struct gus_held *h);
/* Lets all go, with the signals that came meanwhile; h has no threads then. */
void gus_held_release(struct gus_held *h);

/* CLOCK_MONOTONIC. */
uint64_t gus_snapshot_now(void);

#endif
