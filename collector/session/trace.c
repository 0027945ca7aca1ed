/* SPDX-License-Identifier: MIT */
/* Snapshots beside samples: now and then a thread that runs is looked at, and what it is about to do stands in the
 * recording for whoever replays it. A thread is chosen by the CPU time that it has used since its last turn, and the
 * moment by our clock, so snapshots lie where samples are. They cost what samples do not take: at most a quarter of
 * what recording may cost, and the governor gives the samples the rest. */
#include <stdio.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/session/private.h"
#include "collector/snapshot/snapshot.h"
#include "proto/snapshot.h"

#define GAP_NS 500000000ULL     /* between looks; it doubles with each DOUBLE snapshots */
#define DOUBLE 4
#define SNAPSHOTS_MAX 16        /* in a recording */
#define DEFAULT_COST 0.01       /* where the rate is fixed and no cost was asked for */
#define NS_A_BYTE 6             /* of copying, compressing and writing, as it was timed */
#define FIXED_NS 3000000        /* of a snapshot, however small */
#define PATIENCE_MS 5           /* rings have to be emptied */

/* Of the target's CPU time. */
static double share_of(const struct session *s)
{
	return (s->o->overhead > 0 ? s->o->overhead : DEFAULT_COST) / GUS_TRACE_SHARE;
}

/* What snapshots may cost from now on, in ns of CPU time. */
static uint64_t left_ns(const struct session *s)
{
	uint64_t budget = (uint64_t)(share_of(s) * (double)gus_session_usage(s).target_ns);

	return budget > s->trace.cost_ns ? budget - s->trace.cost_ns : 0;
}

static pid_t next_process(const struct session *s)
{
	const struct gus_target *t = s->o->target;

	return launches(s) ? s->child.pid : t->watches.v[s->trace.looks % t->watches.n].id;
}

static int take(struct session *s, uint64_t most, struct gus_snapshot *snapshot, struct gus_error *err)
{
	struct gus_snapshot_wish w = { .pid = next_process(s), .patience_ms = PATIENCE_MS, .by_cost = true };

	w.max_bytes = most < GUS_SNAPSHOT_MAX_BYTES ? most : GUS_SNAPSHOT_MAX_BYTES;
	s->trace.looks++;
	if (gus_turns_next(&s->trace.turns, w.pid, PATIENCE_MS, &w.tid, err) != 0 ||
	    gus_snapshot_take(&w, snapshot, err) != 0)
		return -1;
	snapshot->about->window = s->o->trace_window;
	return 0;
}

/* Who sleeps now, or is too large for what is left, may be looked at later; who is not ours never will. */
static void note_failure(struct session *s, const struct gus_error *err)
{
	struct gus_session_no_snapshot *none = &s->trace.none;

	none->failed++;
	snprintf(none->why, sizeof(none->why), "%.255s", err->text);
	none->refused = err->code == GUS_E_PERMISSION;
	if (err->code != GUS_E_PERMISSION) {
		gus_log(s->o->log, GUS_DEBUG, "%s", err->text);
		return;
	}
	gus_log(s->o->log, GUS_WARN, "%s; there are no snapshots in the recording", err->text);
	s->trace.next = UINT64_MAX;
}

/* CPU time of children that have been waited for. */
static uint64_t children_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
		(uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

void gus_session_trace_end(const struct session *s)
{
	s->result->snapshots = s->trace.n;
	s->result->no_snapshot = s->trace.none;
	s->result->no_snapshot.share = share_of(s);
	s->result->no_snapshot.needs_ns = FIXED_NS / share_of(s);
}

/* Here no other child is waited for than those that hold threads. */
void gus_session_trace(struct session *s)
{
	uint64_t left = left_ns(s), before = gus_session_own_ns(s), children = children_ns();
	struct gus_snapshot snapshot = { 0 };
	struct gus_error err = { 0 };

	s->trace.next = s->trace.n < SNAPSHOTS_MAX ? s->now + (GAP_NS << s->trace.n / DOUBLE) : UINT64_MAX;
	if (s->trace.next == UINT64_MAX)
		return;
	if (left < FIXED_NS + s->trace.last_ns) {
		s->trace.none.dear++;
		return;
	}
	if (take(s, (left - FIXED_NS) / NS_A_BYTE, &snapshot, &err) != 0) {
		note_failure(s, &err);
	} else {
		s->trace.paused_ns += snapshot.about->pause_ns * snapshot.about->stopped;
		s->trace.cost_ns += snapshot.about->pause_ns * snapshot.about->stopped;
		s->trace.n++;
		if (gus_snapshot_write(s->writer, &snapshot, s->err) != 0)
			gus_session_fail_writing(s);
	}
	s->trace.holders_ns += children_ns() - children;
	s->trace.last_ns = gus_session_own_ns(s) - before;
	s->trace.cost_ns += s->trace.last_ns;
	gus_snapshot_free(&snapshot);
}
