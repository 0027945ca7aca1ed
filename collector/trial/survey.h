/* SPDX-License-Identifier: MIT */
/* All facts about this machine, also those that show only when each class of events is tried. */
#ifndef GUS_COLLECTOR_TRIAL_SURVEY_H
#define GUS_COLLECTOR_TRIAL_SURVEY_H

#include "collector/doctor/facts.h"

struct gus_pmus;

/* Takes some 100 ms of CPU time. uarch: of this CPU, or NULL. slots: events that count what becomes of issue slots, or
 * NULL if there are none. */
void gus_survey_take(struct gus_facts *facts, struct gus_pmus *pmus, const char *uarch, const char *slots);

#endif
