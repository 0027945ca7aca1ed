/* SPDX-License-Identifier: MIT */
/* record --trace qemu: the command once more, under the emulator, whose trace becomes a part of the recording. */
#ifndef GUS_CLI_RECORD_TRACE_H
#define GUS_CLI_RECORD_TRACE_H

#include "base/helper.h"
#include "collector/session/session.h"

struct gus_record_trace {
	char *const *command;
	uint64_t window;                /* instructions: so many of each twenty times as many */
	const struct gus_log *log;
	/* As the first run began. */
	const struct gus_priority *priority;
	struct gus_signals signals;
};

/* For before_end of a session; the context is a struct gus_record_trace. Not if the recording was stopped before the
 * command ended. A signal that asks us to end ends the command instead, by SIGTERM and then by SIGKILL. */
int gus_record_trace(void *context, struct gus_writer *writer, const struct gus_session_result *result,
		     struct gus_error *err);

#endif
