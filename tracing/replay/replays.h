/* SPDX-License-Identifier: MIT */
/* Windows of what a process would do next, one after the other: each is a snapshot, taken of the process while it runs
 * or read from a recording, that was replayed into a trace. Whoever wants them asks for the next one; nobody is called
 * back. */
#ifndef GUS_TRACING_REPLAY_REPLAYS_H
#define GUS_TRACING_REPLAY_REPLAYS_H

#include "base/error.h"
#include "proto/reader.h"
#include "tracing/replay/replay.h"

/* Which snapshots of a living process are taken. */
struct gus_replays_wish {
	pid_t pid, tid;         /* tid 0: its running threads in turn */
	unsigned count;
	unsigned spread_ms;     /* from the beginning of one snapshot to that of the next, at least */
	uint64_t max_bytes;     /* of memory in a snapshot; 0: GUS_SNAPSHOT_MAX_BYTES */
};

/* Borrowed; good until the next one is asked for. */
struct gus_replays_window {
	unsigned number;        /* from 0 */
	const Gusprof__Snapshot *about; /* NULL: no snapshot could be taken */
	struct gus_replayed done;
	const char *path;       /* of the trace; NULL: there is none, and err says why */
	struct gus_error err;
	bool last;              /* of a process: there comes none behind it */
};

struct gus_replays;

/* Of a process, and of the snapshots in a recording, whose reader is borrowed and read to its end; there each window is
 * as long as it was recorded for. A trace is in a file without a name, so that nothing is left whatever ends us, and
 * good until the next one is asked for. NULL with err if that file cannot be made. */
struct gus_replays *gus_replays_of_process(const struct gus_replays_wish *wish, const struct gus_replay_wish *replay,
					   struct gus_error *err);
struct gus_replays *gus_replays_of_recording(struct gus_reader *reader, const struct gus_replay_wish *replay,
					     struct gus_error *err);
void gus_replays_close(struct gus_replays *r);

/* Whether we made a recording ourselves: its file is ours, and it names the present boot of this machine, whose random
 * number nobody elsewhere can know. The snapshots of any other are foreign code, which is replayed only by who wants
 * that. (A courtesy: what keeps code in is tracing/confine.) */
bool gus_replays_is_own(const struct gus_reader *reader);

/* 1, with a window or with why there is none; 0 behind the last: there are no more snapshots, or those to come would
 * fail alike, because the process is gone or not ours. -1 with err if the recording cannot be read on. */
int gus_replays_next(struct gus_replays *r, struct gus_replays_window *window, struct gus_error *err);

#endif
