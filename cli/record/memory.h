/* SPDX-License-Identifier: MIT */
/* record --memory-traffic: what memory transfers, for all of the machine, beside the samples: ten readings a second, as
 * frames of the file. */
#ifndef GUS_CLI_RECORD_MEMORY_H
#define GUS_CLI_RECORD_MEMORY_H

#include "cli/record/readings.h"
#include "collector/session/options.h"
#include "collector/uncore/uncore.h"

struct gus_record_memory {
	struct gus_session_beside beside; /* for the session's options */
	struct gus_uncore uncore;
	bool told;                        /* this file says of which counters the counts are */
	struct gus_record_readings readings; /* that are not written yet */
};

/* Which counters this machine has; opens nothing yet. -1 if it has none. Free it in either case. */
int gus_record_memory_init(struct gus_record_memory *m, struct gus_pmus *pmus, struct gus_error *err);
void gus_record_memory_free(struct gus_record_memory *m);

#endif
