/* SPDX-License-Identifier: MIT */
/* Takes snapshots of running processes: stops those threads that run, copies registers and memory, lets go. What can
 * be done before or after the pause is done there. The process is left as it was, whatever goes wrong: the tracing
 * is done by a process of our own, at whose end the kernel lets go of all that is still held. */
#ifndef GUS_COLLECTOR_SNAPSHOT_SNAPSHOT_H
#define GUS_COLLECTOR_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"

struct gus_error;
struct gus_pages_taker;
struct gus_snapshot;
struct gus_tids;

#define GUS_SNAPSHOT_MAX_BYTES (100ull << 20)   /* of memory, unless another limit is asked for */
#define GUS_SNAPSHOT_PATIENCE_MS 2000           /* until a thread is seen to compute */

struct gus_snapshot_wish {
	pid_t pid, tid;
	uint64_t max_bytes;             /* 0: GUS_SNAPSHOT_MAX_BYTES */
	bool by_cost;                   /* max_bytes is what it may cost, and nobody's option */
	/* Of them so many are copied in the pause, at most, and around the stack pointer; the others when the process
	 * has gone on, so that they may be of a later moment (about->late). 0: all in the pause. */
	uint64_t pause_bytes;
	/* Who takes the pages (late.h), behind the pause, so that with pause_bytes no more than these are in memory
	 * here at a time. NULL: the snapshot has them (its bytes). */
	const struct gus_pages_taker *taker;
	unsigned patience_ms;           /* 0: GUS_SNAPSHOT_PATIENCE_MS */
	bool pagemap_only;              /* not by the newer way to ask which pages are there; for tests */
};

/* A snapshot of the thread in a moment when it executes its own code and not the kernel's; the caller frees it. -1
 * with err: GUS_E_NOT_FOUND if it is not there or ends, GUS_E_PERMISSION, GUS_E_FULL if its memory is more than
 * max_bytes, GUS_E_UNSUPPORTED for what cannot be replayed (stopped, traced, 32 bits, asleep all the time). */
int gus_snapshot_take(const struct gus_snapshot_wish *wish, struct gus_snapshot *s, struct gus_error *err);

/* Which thread is next: each that runs gets its turn. */
struct gus_turns {
	struct gus_vec(struct gus_turn { pid_t tid; uint64_t cpu_ns; }) had; /* when it was last chosen */
};

/* Of the threads that run now, the one that has used most CPU time since it was last chosen. Waits for one until
 * patience_ms are over. -1 with err, if none runs or the process has ended. */
int gus_turns_next(struct gus_turns *t, pid_t pid, unsigned patience_ms, pid_t *tid, struct gus_error *err);
/* Of these threads, of any processes, the one that runs now and has used most CPU time since it was last chosen; 0:
 * none runs. */
pid_t gus_turns_busiest(struct gus_turns *t, const struct gus_tids *tids);
void gus_turns_free(struct gus_turns *t);

#endif
