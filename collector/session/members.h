/* SPDX-License-Identifier: MIT */
/* Which tasks belong to the target, and when they lived, as far as the side band tells. Two things rest on it: where
 * the CPUs are sampled instead of the tasks, whose sample is the target's; and how many tasks there were, each of which
 * can have ended before its first sample.
 *
 * Records of one task come from the rings of several CPUs, in no order. So everything is told by times, and nothing by
 * what was heard first. A member's number may come back with another task, of ours or of somebody else: only between
 * the times does it belong. Of one end nothing is heard: a thread that executes a program takes over the number of its
 * process, and its own is free from then on. Whoever gets it is of another process, so that is compared as well. */
#ifndef GUS_COLLECTOR_SESSION_MEMBERS_H
#define GUS_COLLECTOR_SESSION_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "proto/gusprof.pb-c.h"

/* Times are of the records' clock. */
struct gus_member {
	uint64_t from, until;   /* UINT64_MAX: it lives */
	uint64_t executed;      /* when it last became another program; 0: never */
	uint64_t mapped;        /* when it last mapped code; 0: never */
	uint32_t pid;           /* its process; 0: not known */
	char comm[16];          /* the name that it got when it was executed */
};

struct gus_members {
	struct gus_index tids;  /* uint32_t, and beside them: */
	struct gus_vec(struct gus_member) list;
	uint64_t all;           /* that have ever been members */
	uint64_t ended;
	uint32_t crowd;         /* when there are more, those that have long ended are forgotten */
	uint64_t taken_away;    /* of those that were forgotten: see gus_members_taken_away */
	uint32_t taken_tid;
	char taken_comm[16];
};

void gus_members_init(struct gus_members *m);
void gus_members_free(struct gus_members *m);

/* A task that belongs since that time, unless it does already. pid may be 0. */
void gus_members_add(struct gus_members *m, uint32_t pid, uint32_t tid, uint64_t from);
/* Takes note of births, ends, names and mappings. All records must be of the target's tasks. */
void gus_members_note(struct gus_members *m, const Gusprof__Record *record);

/* Whether what ran under those numbers at that time was a member. */
bool gus_members_has(const struct gus_members *m, uint32_t pid, uint32_t tid, uint64_t time);

/* How many tasks the kernel has taken away from us while they executed a program: one with other rights than its
 * caller's (set-user-ID, set-group-ID, file capabilities, or a file that may be executed and not read) loses all events
 * of its own at once (begin_new_exec() in the kernel's fs/exec.c, perf_event_exit_task() where the memory is not
 * dumpable). In the side band that is a task that got the program's name by an exec and ended before anything was
 * mapped; a program that ends by itself has mapped itself before. tid and comm are of one of them, the first by number
 * in the list. */
uint64_t gus_members_taken_away(const struct gus_members *m, uint32_t *tid, const char **comm);

#endif
