/* SPDX-License-Identifier: MIT */
/* Opens a tally for a target: which tasks or CPUs that is, what to do where the kernel may not be watched, and, if
 * nothing could be opened, the one sentence that says why. */
#ifndef GUS_COLLECTOR_STAT_ATTACH_H
#define GUS_COLLECTOR_STAT_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collector/counters/tally.h"
#include "collector/stat/stat_target.h"

struct gus_error;

struct gus_events;

/* How a tally came to its counters. */
struct gus_attachment {
	bool user_only; /* the kernel was left out because this user may not watch it; the events say so, too */
	size_t missed;  /* threads that were born while we attached and may not be counted */
};

/* child: the command's process if the target is the command. */
int gus_stat_attach(struct gus_tally *t, struct gus_events *events, const struct gus_stat_target *target, pid_t child,
		     struct gus_attachment *how, struct gus_error *err);

#endif
