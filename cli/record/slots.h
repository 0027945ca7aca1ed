/* SPDX-License-Identifier: MIT */
/* record --topdown: counts of the top-down method beside the samples, ten readings a second, as frames of the file. */
#ifndef GUS_CLI_RECORD_SLOTS_H
#define GUS_CLI_RECORD_SLOTS_H

#include "cli/common/topdown.h"
#include "cli/record/readings.h"
#include "collector/counters/tally.h"
#include "collector/events/event.h"
#include "collector/session/options.h"
#include "collector/stat/stat_target.h"

struct gus_choice;
struct gus_target;

struct gus_record_slots {
	struct gus_session_beside beside; /* for the session's options */
	struct gus_topdown_tables tables;
	struct gus_topdown_counted_list counted;
	struct gus_events events;       /* counted lists them from 0 on */
	struct gus_stat_target target;
	struct gus_tally tally;
	bool open;
	bool told;                      /* this file says of which events the counts are */
	struct gus_count *now, *before;
	struct gus_record_readings readings; /* that are not written yet */
	const struct gus_log *log;
};

/* Of samples that bring the counts along: says in the recording by which tables these are, and counts nothing itself.
 * Changes events accordingly, and what choice says of them (cli/record/carry.h). Likewise. */
int gus_record_slots_carry(struct gus_record_slots *s, struct gus_events *events, const struct gus_target *target,
			   struct gus_pmus *pmus, struct gus_choice *choice, const struct gus_log *log,
			   struct gus_error *err);
/* Which events, down to a level, for that target. -1 if this machine cannot count them, with the reason; nothing is
 * opened yet. Free it in either case. */
int gus_record_slots_init(struct gus_record_slots *s, unsigned level, const struct gus_target *target,
			  struct gus_pmus *pmus, const struct gus_log *log, struct gus_error *err);
void gus_record_slots_free(struct gus_record_slots *s);

#endif
