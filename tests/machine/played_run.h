/* SPDX-License-Identifier: MIT */
/* A run of a golden machine (tests/accuracy/golden), played by the kernel of machine.h: samples of events are those
 * that its recordings have, up to the last one, and what events count goes on as those of time do. */
#ifndef GUS_TESTS_MACHINE_PLAYED_RUN_H
#define GUS_TESTS_MACHINE_PLAYED_RUN_H

#include <stdbool.h>

struct machine_event;

/* Reads the run's folder; what is missing ends the program. */
void played_run_begin(const char *folder);
bool played_run_is_there(void);
/* What happened since the last time, for all events; and what becomes of one of them, which counts. */
void played_run_go_on(struct machine_event *time);
void played_run_say(struct machine_event *e);

#endif
