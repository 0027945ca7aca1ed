/* SPDX-License-Identifier: MIT */
#include "cli/record/trace.h"

#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cli/record/signals.h"
#include "collector/host/priority.h"
#include "proto/reader.h"
#include "proto/varint.h"
#include "proto/writer.h"
#include "tracing/emulator/emulate.h"

enum { ONE_IN = 20, TRACE_MOST = 64 << 20 }; /* bytes */

/* Frames of a trace mean the same in any file. */
static int copy_frames(struct gus_reader *from, struct gus_writer *to, struct gus_error *err)
{
	const uint32_t types = 1u << GUS_FRAME_TRACE | 1u << GUS_FRAME_TRACE_BLOCKS | 1u << GUS_FRAME_TRACE_STEPS |
		1u << GUS_FRAME_TRACE_TOTAL | 1u << GUS_FRAME_TRACE_SIDEBAND;
	struct gus_frame frame;
	enum gus_read got;

	while ((got = gus_reader_next_of(from, types, &frame, err)) == GUS_READ_FRAME) {
		struct gus_bytes payload = { (uint8_t *)(uintptr_t)frame.payload, frame.size, frame.size };

		if (gus_writer_payload(to, frame.type, &payload, err) != 0)
			return -1;
	}
	return got == GUS_READ_END ? 0 : -1;
}

static volatile sig_atomic_t emulator, asked;

static void end_command(int number)
{
	(void)number;
	kill((pid_t)emulator, asked++ ? SIGKILL : SIGTERM);
}

static int start(const struct gus_record_trace *t, struct gus_emulation *e, struct gus_error *err)
{
	char *options = gus_format(",length=%llu,every=%llu,max=%d", (unsigned long long)t->window,
				   (unsigned long long)t->window * ONE_IN, TRACE_MOST);
	int rc;

	gus_priority_restore(t->priority);
	rc = gus_emulation_start(e, t->command, NULL, options, err);
	gus_priority_raise();
	free(options);
	return rc;
}

int gus_record_trace(void *context, struct gus_writer *writer, const struct gus_session_result *result,
		     struct gus_error *err)
{
	const struct gus_record_trace *t = context;
	struct gus_emulation e = { .silent = true, .signals = &t->signals };
	struct gus_reader *reader;
	struct gus_record_signals met;
	int rc = -1;

	if (result->ended_by != GUS_ENDED_EXIT)
		return 0;
	gus_log(t->log, GUS_NOTE, "the command is run again, under the emulator, for its trace");
	if (start(t, &e, err) != 0)
		return -1;
	emulator = e.pid;
	asked = 0;
	gus_record_signals_begin(&met, end_command);
	reader = gus_reader_open_fd(e.trace, "the trace", err);
	if (reader) {
		rc = copy_frames(reader, writer, err);
		gus_reader_close(reader);
	}
	gus_emulation_wait(&e);
	gus_record_signals_end(&met);
	gus_emulation_end(&e);
	return rc;
}
