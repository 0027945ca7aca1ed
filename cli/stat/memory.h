/* SPDX-License-Identifier: MIT */
/* stat --memory: the traffic of memory of all of the machine, while what is counted runs. */
#ifndef GUS_CLI_STAT_MEMORY_H
#define GUS_CLI_STAT_MEMORY_H

#include "attribution/traffic/traffic.h"
#include "collector/uncore/uncore.h"

struct gus_stat_memory {
	struct gus_uncore uncore;
	struct gus_traffic whole, part; /* of the run; of the interval */
	struct gus_count *since;
	struct gus_traffic_count *counts;
};

/* Finds and opens the counters. -1 if there are none, or this user may not have them. Free it in either case. */
int gus_stat_memory_open(struct gus_stat_memory *m, struct gus_pmus *pmus, struct gus_error *err);
/* Counting begins. */
void gus_stat_memory_start(struct gus_stat_memory *m);
/* A reading, at so many ns since then: into the run's, and the interval's. */
void gus_stat_memory_read(struct gus_stat_memory *m, uint64_t at);
/* The next interval begins with nothing. */
void gus_stat_memory_next(struct gus_stat_memory *m);
void gus_stat_memory_free(struct gus_stat_memory *m);

#endif
