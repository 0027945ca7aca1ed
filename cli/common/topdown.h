/* SPDX-License-Identifier: MIT */
/* The tables of the top-down method for the machine that we run on, and what is counted for them. */
#ifndef GUS_CLI_COMMON_TOPDOWN_H
#define GUS_CLI_COMMON_TOPDOWN_H

#include "attribution/topdown/builtin.h"

struct gus_events;
struct gus_pmus;

/* One table's events in a list of events. */
struct gus_topdown_counted { const struct gus_topdown *table; unsigned level; size_t first, n; };
struct gus_topdown_counted_list gus_vec(struct gus_topdown_counted);

/* Appends the tables for a machine with that CPU, or for this one; those that cannot be counted here say what they
 * lack. */
int gus_topdown_of(struct gus_topdown_tables *tables, struct gus_pmus *pmus, const struct gus_cpu_id *cpu,
		   struct gus_error *err);
int gus_topdown_here(struct gus_topdown_tables *tables, struct gus_pmus *pmus, struct gus_error *err);

/* Appends the events of each table that can be counted here, down to a level, and says which they are. 0 also if there
 * is none; -1 if a PMU does not know a term of them (GUS_E_USAGE, GUS_E_UNSUPPORTED): then none of that table is
 * there. */
int gus_topdown_count(struct gus_topdown_counted_list *counted, const struct gus_topdown_tables *tables, unsigned level,
		      struct gus_events *events, struct gus_pmus *pmus, struct gus_error *err);

/* The events of the first level as a list of events, of all tables that can be counted here; the caller frees it. NULL
 * if there are none. */
char *gus_topdown_here_spec(struct gus_pmus *pmus);

/* What --topdown takes: a level from 1 to 9, or nothing (NULL), which is 2. */
bool gus_topdown_is_level(const char *word);
int gus_topdown_level(const char *word, unsigned *level, struct gus_error *err);

/* Fails with the reason why no tree can be counted here. */
int gus_topdown_refuse(const struct gus_topdown_tables *tables, struct gus_error *err);

#endif
