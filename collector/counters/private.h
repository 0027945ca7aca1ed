/* SPDX-License-Identifier: MIT */
/* Between the files of counters alone. */
#ifndef GUS_COLLECTOR_COUNTERS_PRIVATE_H
#define GUS_COLLECTOR_COUNTERS_PRIVATE_H

#include "collector/counters/counters.h"

/* Opens the tasks that are listed and have no counters for the time that begins at from, until no new ones turn up. */
int gus_counters_open_listed(struct gus_counters *c, gus_task_lister *list, void *context, uint64_t from,
			     struct gus_error *err);

#endif
