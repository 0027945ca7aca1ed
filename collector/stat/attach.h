/* SPDX-License-Identifier: MIT */
/* Opens a tally for a target: which tasks or CPUs that is, what to do where the kernel may not be watched, and, if nothing
 * could be opened, the one sentence that says why. */
#ifndef GUS_COLLECTOR_STAT_ATTACH_H
#define GUS_COLLECTOR_STAT_ATTACH_H

#include "collector/stat/stat.h"

/* child: the command's process if the target is the command. Fills in user_only and missed of the result. */
int gus_tally_attach(struct gus_tally *t, const struct gus_stat_options *options, pid_t child, struct gus_stat_result *result,
		     struct gus_error *err);

#endif
