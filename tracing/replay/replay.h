/* SPDX-License-Identifier: MIT */
/* Traces of what a process that runs already would do next: a snapshot of one of its threads is taken, which costs it some
 * milliseconds, and a copy made from that goes on under QEMU, or where QEMU cannot execute the code, as a child of ours that is
 * single-stepped. The process itself is not traced. */
#ifndef GUS_TRACING_REPLAY_REPLAY_H
#define GUS_TRACING_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collector/snapshot/snapshot.h"

enum gus_replay_how {
	GUS_REPLAY_AUTO,        /* QEMU, and where it meets what it cannot execute (EVEX), or is not there, natively */
	GUS_REPLAY_QEMU,
	GUS_REPLAY_NATIVE,
};

struct gus_replay_tools {
	const char *qemu;       /* "qemu-x86_64", sought in PATH; NULL: none */
	const char *plugin;     /* gusprof-qemu.so; NULL: none */
	const char *loader;     /* gusprof-replay */
};

struct gus_replay_wish {
	struct gus_replay_tools tools;
	enum gus_replay_how how;
	uint64_t window;        /* instructions at most, to the end of a block */
	uint64_t native_window; /* the same where each costs a step; 0: window */
	unsigned seconds;       /* at most, for one window; 0: 60 */
};

struct gus_replayed {
	enum gus_replay_how how; /* that was used */
	char why[160];          /* it was not QEMU, though that was possible; "": it was */
	uint64_t instructions, accesses, omitted;
	char ended_by[16];      /* "window", "syscall", "signal", "time" */
	uint64_t ended_number, ended_at;
	double seconds;
	unsigned clashes;       /* runs of QEMU that lay where the snapshot had to */
};

/* Replays one snapshot and writes the trace to out. -1 with err, and then there is no such file. */
int gus_replay_snapshot(const struct gus_snapshot *s, const struct gus_replay_wish *wish, const char *out, struct gus_replayed *done,
	       struct gus_error *err);

/* The two ways, without a choice. */
int gus_replay_under_qemu(const struct gus_snapshot *s, const struct gus_replay_wish *wish, const char *out, struct gus_replayed *done,
			  struct gus_error *err);
int gus_replay_by_steps(const struct gus_snapshot *s, const struct gus_replay_wish *wish, const char *out, struct gus_replayed *done,
			struct gus_error *err);

/* Several snapshots of a process, and what each of them does. */
struct gus_replay_process {
	pid_t pid, tid;         /* tid 0: its running threads in turn */
	unsigned count;
	unsigned spread_ms;     /* from the beginning of one snapshot to that of the next, at least */
	uint64_t max_bytes;     /* of memory in a snapshot; 0: GUS_SNAPSHOT_MAX_BYTES */
	struct gus_replay_wish replay;
	const char *prefix;     /* traces are PREFIX.0, PREFIX.1, ... */
	/* Told after each: the trace is at path, or there is none and err says why. False ends the whole. NULL: nobody. */
	bool (*each)(unsigned number, const Gusprof__Snapshot *about, const struct gus_replayed *done, const char *path,
		     const struct gus_error *err, void *context);
	void *context;
};

/* How many traces there are. -1 with err if there is none: why the first snapshot or replay failed. */
int gus_replay_of_process(const struct gus_replay_process *p, struct gus_error *err);

#endif
