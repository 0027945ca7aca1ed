/* SPDX-License-Identifier: MIT */
/* Tries a class of events on this very thread: opens it, runs a moment, and looks whether what it promises arrives. */
#ifndef GUS_COLLECTOR_TRIAL_TRIAL_H
#define GUS_COLLECTOR_TRIAL_TRIAL_H

#include "collector/doctor/facts.h"

struct gus_pmus;

/* slots: events that count what becomes of issue slots; NULL if there are none. */
void gus_trial(struct gus_class_facts *facts, enum gus_class which, struct gus_pmus *pmus, const char *slots);

#endif
