/* SPDX-License-Identifier: MIT */
/* What to watch: a command that is launched, processes or threads that run already, CPUs, a cgroup; and whether it is
 * still there. */
#ifndef GUS_COLLECTOR_TARGET_TARGET_H
#define GUS_COLLECTOR_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "collector/events/event.h"

struct gus_log;

struct gus_error;

enum gus_target_kind {
	GUS_TARGET_COMMAND,   /* and all that it starts */
	GUS_TARGET_PROCESSES, /* all their threads, those born later too, and the processes that they start */
	GUS_TARGET_THREADS,   /* these and no other */
	GUS_TARGET_SYSTEM,    /* whatever runs on the CPUs */
	GUS_TARGET_CGROUP,    /* and those below it */
};

/* One process or thread that was asked for. */
struct gus_watch {
	pid_t id;
	uint64_t start;       /* as in struct gus_task: another task with this number is another one */
	int pidfd;            /* readable when the process has ended; -1 for a thread, or an old kernel */
	bool ended;
};

struct gus_target {
	enum gus_target_kind kind;
	struct gus_vec(struct gus_watch) watches; /* each number once, in the order asked for */
	char *cpus;           /* only on these: "0-2,4"; NULL: on all that are online */
	char *cgroup;         /* as asked for */
	char *cgroup_path;    /* its directory */
	int cgroup_fd;
};

/* A launched command, until something else is said. */
void gus_target_init(struct gus_target *t);
void gus_target_free(struct gus_target *t);

/* Numbers separated by commas become watches. GUS_E_USAGE if the text is malformed, or if there are some of another
 * kind already. */
int gus_target_add(struct gus_target *t, enum gus_target_kind kind, const char *text, struct gus_error *err);
/* Checks the list against the CPUs that are online. */
int gus_target_set_cpus(struct gus_target *t, const char *text, struct gus_error *err);
/* Finds the cgroup by its name under the mounted hierarchy that perf_event belongs to, or by its absolute path. */
int gus_target_set_cgroup(struct gus_target *t, const char *name, struct gus_error *err);

/* Before anything is opened: whether all that was asked for is there and can be watched. Says if something will stand
 * still (a stopped process). GUS_E_NOT_FOUND if a process does not exist or has ended. */
int gus_target_check(struct gus_target *t, const struct gus_log *log, struct gus_error *err);

/* Why opening event for task (0: for all) failed with that errno: what gus_refusal_explain says, or what is special
 * about this target. Returns -1. */
int gus_target_explain(struct gus_error *err, const struct gus_target *t, pid_t task, const struct gus_event *event,
		       int cpu, int sys);

/* Whether all processes or threads that were asked for have ended by now; never true of other kinds. */
bool gus_target_ended(struct gus_target *t);

/* "process 12, process 13", "all CPUs", ...: for messages; the caller frees it. */
char *gus_target_describe(const struct gus_target *t);

/* What stands in Header.target. */
const char *gus_target_kind_name(enum gus_target_kind kind);

#endif
