/* SPDX-License-Identifier: MIT */
/* Traces of what a process that runs already would do next: a snapshot of one of its threads is taken, which costs it
 * some milliseconds, and a copy made from that goes on under QEMU, or where QEMU cannot execute the code, as a child of
 * ours that is single-stepped. The process itself is not traced. */
#ifndef GUS_TRACING_REPLAY_REPLAY_H
#define GUS_TRACING_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/snapshot/snapshot.h"

struct gus_error;
struct gus_rights;
struct gus_snapshot;

enum gus_replay_how {
	/* QEMU, and where it is not there, or meets what it cannot execute (EVEX) before it has executed as many
	 * instructions as would be stepped, natively */
	GUS_REPLAY_AUTO,
	GUS_REPLAY_QEMU,
	GUS_REPLAY_NATIVE,
};

struct gus_replay_tools {
	char *qemu;             /* qemu-x86_64 or qemu-aarch64, as this machine is; NULL: none */
	char *plugin;           /* gusprof-qemu.so; NULL: none */
	char *loader;           /* gusprof-replay */
};

/* Those that are built and installed with this program. emulator NULL: QEMU for its programs. Freed with
 * gus_replay_tools_free. */
void gus_replay_tools_find(struct gus_replay_tools *tools, const char *emulator);
/* Whether anything can be replayed with them: without QEMU or its plugin a window is stepped through. -1 with err; that
 * is never GUS_E_NOT_FOUND, as of a process. */
int gus_replay_tools_check(const struct gus_replay_tools *tools, struct gus_error *err);
void gus_replay_tools_free(struct gus_replay_tools *tools);

/* Instructions of a window that is not asked for in particular, where each costs a step. */
enum { GUS_REPLAY_STEPPED_MOST = 200000 };

/* Bytes of one window's trace, at most: where foreign code fills the disk it ends. */
#define GUS_REPLAY_TRACE_MAX (8ull << 30)

struct gus_replay_wish {
	struct gus_replay_tools tools;
	enum gus_replay_how how;
	uint64_t window;        /* instructions at most, to the end of a block */
	uint64_t native_window; /* the same where each costs a step; 0: window */
	unsigned seconds;       /* at most, for one window; 0: 60 */
	const struct gus_rights *rights; /* of whose memory it is, to open what was mapped; NULL: ours. Borrowed */
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

/* What is replayed is foreign code: it is executed by a child that has given up all rights that it can do without
 * (tracing/confine/confine.h), and is killed when its time is over. */

/* Replays one snapshot and writes the trace to out, a file that is open for reading and writing, is emptied and stays
 * open. -1 with err, and then what is in it is no trace. */
int gus_replay_snapshot(const struct gus_snapshot *s, const struct gus_replay_wish *wish, int out,
			struct gus_replayed *done, struct gus_error *err);

/* The two ways, without a choice; here out is empty. */
int gus_replay_under_qemu(const struct gus_snapshot *s, const struct gus_replay_wish *wish, int out,
			  struct gus_replayed *done, struct gus_error *err);
int gus_replay_by_steps(const struct gus_snapshot *s, const struct gus_replay_wish *wish, int out,
			struct gus_replayed *done, struct gus_error *err);

#endif
