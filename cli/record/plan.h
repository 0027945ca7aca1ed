/* SPDX-License-Identifier: MIT */
/* gusprof record -e pebs, tpebs, ibs, spe, lbr, and auto where there is a PMU: the plan of this machine's CPU as
 * events, or why there is none. */
#ifndef GUS_CLI_RECORD_PLAN_H
#define GUS_CLI_RECORD_PLAN_H

#include <stdbool.h>

struct gus_choice;
struct gus_error;
struct gus_events;
struct gus_log;
struct gus_pmus;

/* Whether -e, words with commas between them, names such a mode or auto; alone: and nothing else. */
bool gus_record_plan_is_asked(const char *words, bool *alone);

/* Appends the events of that mode's plan, tried on ourselves, and says in choice what they are. -1 with err: this CPU
 * has no such mode, or this machine does not give it (what doctor says of it), or this user may not. */
int gus_record_plan(const char *word, struct gus_events *events, struct gus_pmus *pmus, struct gus_choice *choice,
		    const struct gus_log *log, struct gus_error *err);

/* The same of the best mode that this CPU has and this machine gives, for -e auto. False if there is none; that is told
 * in detail only. */
bool gus_record_plan_best(struct gus_events *events, struct gus_pmus *pmus, struct gus_choice *choice,
			  const struct gus_log *log);

/* Where auto came to the timer: appends to what choice says which modes this machine's CPU has and is not let use. */
void gus_record_plan_missed(struct gus_choice *choice, struct gus_pmus *pmus);

#endif
