/* SPDX-License-Identifier: MIT */
/* record --topdown=samples: what samples time does so in one group with the events of the top-down method, and its
 * samples bring their counts along. */
#ifndef GUS_CLI_RECORD_CARRY_H
#define GUS_CLI_RECORD_CARRY_H

#include <stdbool.h>

#include "cli/common/topdown.h"
#include "collector/events/event.h"

struct gus_choice;
struct gus_error;
struct gus_events;
struct gus_pmus;

/* Puts the events of each table before which sampled ones that are, one a kind of cores, and says so in choice. counted
 * has the tables' events by the numbers that they have among a table's own, not in the list. inherit: tasks that are
 * born later are followed. -1 with err: no table, or the events are not one group, or the kernel refuses it. */
int gus_record_carry(struct gus_events *events, struct gus_topdown_counted_list *counted,
		     const struct gus_topdown_tables *tables, bool inherit, struct gus_pmus *pmus,
		     struct gus_choice *choice, struct gus_error *err);

/* An event as it is without the counts that its samples bring along: for what is tried with it alone. It borrows. */
struct gus_event gus_record_carry_alone(const struct gus_event *event);

#endif
