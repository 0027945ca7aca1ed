/* SPDX-License-Identifier: MIT */
/* A recording from its first to its last byte: launch, counters, rings, frames, end. */
#ifndef GUS_COLLECTOR_SESSION_H
#define GUS_COLLECTOR_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/event.h"
#include "collector/probe.h"

struct gus_session_options {
	char *const *command;             /* NULL-terminated */
	const char *output;               /* path of the file */
	const char *producer;             /* "gusprof 0.1.0" */
	struct gus_events *events;        /* with their rates set */
	const struct gus_choice *choice;
	uint64_t cost_ns;                 /* of a sample of the first event, 0 if unknown */
	bool call_graph, switches;
	uint64_t delay_ms;                /* before sampling starts, 0 for at once */
	uint64_t max_size;                /* of the file, 0 for none */
	const struct gus_log *log;
	void (*ready)(void *context); /* called when all events are open, before the command starts; may be NULL */
	void *ready_context;
};

enum gus_session_end {
	GUS_ENDED_EXIT,                   /* the workload ended */
	GUS_ENDED_INTERRUPT,              /* somebody asked us to stop */
	GUS_ENDED_MAX_SIZE,
	GUS_ENDED_ERROR,                  /* the file could not be written any more; the workload ran on to its end */
};

struct gus_session_result {
	enum gus_session_end ended_by;
	bool started;                     /* the workload was */
	bool no_command;                  /* it could not be executed */
	bool running;                     /* it still is: we were told not to wait */
	int exit_status, exit_signal;     /* how it ended; one of them is not 0, or it succeeded */
	int interrupt;                    /* the signal that asked us to stop, 0 if none did */
	bool terminal;                    /* it came from the terminal: the workload had it too */
	bool said;                        /* the error has been reported already */
	uint64_t samples, lost, bytes;
};

/* Runs the workload and records it. 0 if the file is whole; -1 if not, or if nothing was recorded; result is filled in
 * either way. */
int gus_session_record(const struct gus_session_options *options, struct gus_session_result *result,
		       struct gus_error *err);

#endif
