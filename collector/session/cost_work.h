/* SPDX-License-Identifier: MIT */
/* Work of which it is known how often it makes the kernel do something for a recording: tasks that are born, code
 * that is mapped, CPUs that are left. What that something costs is the difference of doing the work with and without
 * events. */
#ifndef GUS_COLLECTOR_SESSION_COST_WORK_H
#define GUS_COLLECTOR_SESSION_COST_WORK_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gus_work {
	void (*run)(void *context);
	void *context;          /* the same each time */
	size_t things;          /* that happen in a run */
};

/* Processes that are started and end at once. */
struct gus_work gus_work_births(void);

/* A file's code is mapped, as the loader does it. fd: a file that may be executed; borrowed, and has to stay where
 * it is. */
struct gus_work gus_work_mappings(int *fd);

/* A process that answers each byte with one, on the same CPU: each of its answers costs us a way out and back in. */
struct gus_partner {
	pid_t pid;
	int to, from;           /* pipes to and from it */
	cpu_set_t before;       /* where this thread might run */
};

/* Binds this thread to the CPU that it is on, until gus_partner_stop. False if there is no partner to be had; then
 * all is as it was. */
bool gus_partner_start(struct gus_partner *p);
void gus_partner_stop(struct gus_partner *p);
struct gus_work gus_work_switches(struct gus_partner *p);

/* What the partner does, until nobody asks any more. */
void gus_partner_answer(int from, int to);

/* A process that does nothing; not above 0 if there is none to be had. */
pid_t gus_sleeper_start(void);
void gus_sleeper_stop(pid_t pid);

#endif
