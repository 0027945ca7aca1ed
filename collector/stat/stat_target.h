/* SPDX-License-Identifier: MIT */
/* What `gusprof stat` is to count events of. */
#ifndef GUS_COLLECTOR_STAT_STAT_TARGET_H
#define GUS_COLLECTOR_STAT_STAT_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "collector/events/event.h"

enum gus_stat_kind {
	GUS_STAT_COMMAND,   /* the command and all that it starts */
	GUS_STAT_PROCESSES, /* all threads of each, and what they start from now on */
	GUS_STAT_THREADS,   /* these alone, and what they start */
	GUS_STAT_CPUS,
};

struct gus_stat_target {
	enum gus_stat_kind kind;
	struct gus_vec(pid_t) ids;
	const char *cpus;   /* "0-3,8"; NULL: all that are online */
};

/* Whether getrusage tells of such a target what the event would count. */
bool gus_stat_has_usage(const struct gus_stat_target *target, const struct gus_event *event);

#endif
