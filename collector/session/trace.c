/* SPDX-License-Identifier: MIT */
/* Snapshots beside samples: now and then a thread that runs is looked at, and what it is about to do is kept for
 * whoever replays it at the end. A thread is chosen by the CPU time that it has used since its last turn, and the
 * moment by our clock, so snapshots lie where samples are. The time is cut into equal pieces, and the moment is
 * anywhere in each, as a program that does the same again and again would else be met at the same place.
 *
 * They are not in the recording, which is given to others, but in files without a name. Nobody knows how long it will
 * take: the first come soon, and when there are as many as are kept, each second one is forgotten and the next come
 * half as often. So they are even over the time, however long it was.
 *
 * What they cost is not what --overhead is about, as even a short run shall have some. What the target pays is pauses:
 * 60 ms in all, and beyond that a quarter of what recording may cost, which the governor takes from the samples. A
 * pause is short: memory that does not fit in it is copied behind it (collector/snapshot/late.h). Our own time, for
 * copying, is the target's only where all CPUs have something to do; there it is bound in the same way, and elsewhere
 * by a fifth of a CPU. Where that is not enough to copy all memory again, large memory that looks the same is taken
 * from an earlier look: such snapshots are light, and have a bound of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/host/procfs.h"
#include "collector/session/private.h"
#include "collector/snapshot/late.h"
#include "collector/snapshot/snapshot.h"
#include "collector/snapshot/thin.h"
#include "proto/snapshot.h"

#define GAP_NS 100000000ULL     /* in each of which one is looked for, at first */
#define KEPT_MAX 64             /* snapshots */
#define KEPT_BYTES (2ULL << 30) /* of memory in all of them */
#define FREE_TIMES 8            /* the room that they leave on the disk, each time of one */
#define DEFAULT_COST 0.01       /* where the rate is fixed and no cost was asked for */
#define PROCESSES_MOST 64       /* of a command, that are looked at */
#define PATIENCE_MS 5           /* rings have to be emptied, ... */
#define DRAIN_BYTES (16 << 20)  /* ... also while so many are copied */
/* Pauses. */
#define PAUSE_NS 5000000        /* one, at most, as far as it is ours to choose */
#define PAUSE_FIXED_NS 1500000  /* of that, for all but memory */
#define PAUSE_NS_A_BYTE 0.5     /* until it has been timed */
/* Our own time. */
#define OWN_NS 300000000ULL     /* in all, and beyond that: */
#define OWN_SHARE 0.2           /* of a CPU, where one has nothing to do */
#define OWN_FIXED_NS 3000000
#define OWN_NS_A_BYTE 0.5       /* until it has been timed */
#define TIMED_BYTES (4 << 20)   /* of so many it has */
/* Where that is not enough for all memory, what is not copied in the pause is as it was at an earlier look, beside so
 * many bytes that are new. Nobody knows how long it will take: a half of this in the first seconds, and the rest
 * ever more slowly. */
#define LIGHT_NS 400000000ULL   /* in all, and beyond that as above */
#define LIGHT_HALF_NS 5000000000ULL
#define LIGHT_BYTES (4 << 20)
#define AGAIN_NS 1000000000ULL  /* after so long all of it may be copied beyond that once more, ... */
#define AGAIN_TIMES 8           /* ... and again after so many times that */
#define LOOKED_AT 2             /* pages of each MiB, whether they have changed since */

/* Of the target's CPU time. */
static double share_of(const struct session *s)
{
	return (s->o->overhead > 0 ? s->o->overhead : DEFAULT_COST) / GUS_TRACE_SHARE;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* How long the target may stand still from now on. */
static uint64_t pause_left_ns(const struct session *s)
{
	uint64_t more = (uint64_t)(share_of(s) * (double)gus_session_usage(s).target_ns);

	return less(GUS_TRACE_PAUSES_NS + more, s->trace.paused_ns);
}

/* Whether a CPU has had nothing to do in half of the time since the beginning. */
static bool is_idle(const struct session *s)
{
	uint64_t passed = s->now - s->trace.begun, busy = less(gus_session_busy_ns(), s->trace.busy);

	return (double)busy < ((double)sysconf(_SC_NPROCESSORS_ONLN) - 0.5) * (double)passed;
}

/* CPU time that we may still use for them. */
static uint64_t own_left_ns(const struct session *s)
{
	double more = is_idle(s) ? OWN_SHARE * (double)(s->now - s->trace.begun) :
		share_of(s) * (double)gus_session_usage(s).target_ns;

	return less(OWN_NS + (uint64_t)more, s->trace.own_ns - s->trace.light_ns);
}

/* The same of light ones. */
static uint64_t light_left_ns(const struct session *s)
{
	double passed = (double)(s->now - s->trace.begun);
	double most = LIGHT_NS * passed / (passed + LIGHT_HALF_NS);

	return less((uint64_t)(most + share_of(s) * (double)gus_session_usage(s).target_ns), s->trace.light_ns);
}

/* Of a command, its process or a descendant that computes just now; the newest ones are looked at if there are many. */
static pid_t busiest(struct session *s)
{
	const struct gus_index *pids = &s->living.pids;
	uint32_t first = pids->n > PROCESSES_MOST ? pids->n - PROCESSES_MOST : 0;
	struct gus_tids tids = { 0 };
	struct gus_task task;
	pid_t tid;

	if (pids->n < 2)
		return s->child.pid;
	for (uint32_t i = first; i < pids->n; i++)
		gus_tids_of((pid_t)*(const uint32_t *)gus_index_key(pids, i), &tids);
	tid = gus_turns_busiest(&s->trace.turns, &tids);
	gus_vec_free(&tids);
	return tid && gus_task_read(tid, &task) ? task.tgid : s->child.pid;
}

static pid_t next_process(struct session *s)
{
	const struct gus_target *t = s->o->target;

	return launches(s) ? busiest(s) : t->watches.v[s->trace.looks % t->watches.n].id;
}

/* What one will take, by the memory that its process has. */
static uint64_t expected_ns(const struct session *s, pid_t pid)
{
	return (uint64_t)((double)gus_task_resident(pid) * s->trace.own_ns_a_byte);
}

static void note_pause(struct session *s, const Gusprof__Snapshot *about)
{
	uint64_t early = about->bytes - about->late - about->old;

	s->trace.taken++;
	s->trace.last_pause_ns = about->pause_ns * about->stopped;
	s->trace.paused_ns += s->trace.last_pause_ns;
	if (about->pause_ns > s->trace.pause_most_ns)
		s->trace.pause_most_ns = about->pause_ns;
	if (early >= TIMED_BYTES)
		s->trace.pause_ns_a_byte = (double)about->pause_ns / (double)early;
}

/* Rings have to be emptied meanwhile. */
static int put_pages(void *context, uint64_t address, const uint8_t *bytes, uint64_t size, struct gus_error *err)
{
	struct session *s = context;

	s->trace.undrained += size;
	if (s->trace.undrained >= DRAIN_BYTES) {
		s->trace.undrained = 0;
		if (gus_session_drain(s) != 0)
			return gus_fail(err, GUS_E_SYSTEM, "%s", s->err->text);
	}
	return gus_shelf_pages(&s->trace.shelf, address, bytes, size, err);
}

/* splitmix64, of a clock's last digits. */
static double random_share(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (double)((x ^ x >> 31) >> 11) / 0x1p53;
}

/* By chance: of as many pages as are looked at none has changed since the earlier look. */
static bool looks_the_same(const struct session *s, uint64_t address, uint64_t size)
{
	uint8_t page[GUS_SNAPSHOT_PAGE];
	uint64_t pages = size / sizeof(page);

	for (unsigned i = 0; i < LOOKED_AT; i++) {
		uint64_t at = address + (uint64_t)(random_share(s->now + address + i) * (double)pages) * sizeof(page);
		const struct iovec here = { page, sizeof(page) }, there = { (void *)(uintptr_t)at, sizeof(page) };

		if (process_vm_readv((pid_t)s->trace.taking->about->pid, &here, 1, &there, 1, 0) != sizeof(page) ||
		    !gus_shelf_has(&s->trace.shelf, at, page))
			return false;
	}
	return true;
}

/* What an earlier look has of it, and has not changed, is taken; of the rest so much is copied as is left. */
static bool spare_pages(void *context, uint64_t address, uint64_t size, uint64_t *had)
{
	struct session *s = context;

	if (gus_shelf_knows(&s->trace.shelf, s->trace.taking->about) && looks_the_same(s, address, size) &&
	    gus_shelf_old(&s->trace.shelf, address, size)) {
		*had = size;
		return true;
	}
	s->trace.stale |= s->trace.spared < size;
	if (s->trace.stale)
		return true;
	s->trace.spared -= size;
	return false;
}

/* A snapshot is taken and put into the store. */
static int take(struct session *s, pid_t pid, bool light, struct gus_stored *stored, struct gus_error *err)
{
	const struct gus_pages_taker taker = { put_pages, light ? spare_pages : NULL, s };
	struct gus_snapshot_wish w = { .pid = pid, .patience_ms = PATIENCE_MS,
		.max_bytes = GUS_SNAPSHOT_BYTES_MAX, .by_cost = true,
		.pause_bytes = (uint64_t)((PAUSE_NS - PAUSE_FIXED_NS) / s->trace.pause_ns_a_byte),
		.taker = &taker };
	struct gus_snapshot snapshot = { 0 };

	s->trace.looks++;
	s->trace.taking = &snapshot;
	s->trace.spared = LIGHT_BYTES;
	s->trace.stale = false;
	if (gus_turns_next(&s->trace.turns, w.pid, PATIENCE_MS, &w.tid, err) != 0 ||
	    gus_shelf_begin(&s->trace.shelf, gus_task_resident(w.pid), FREE_TIMES, err) != 0)
		return -1;
	if (gus_snapshot_take(&w, &snapshot, err) != 0)
		return -1;
	snapshot.about->window = s->o->trace_window;
	note_pause(s, snapshot.about);
	if (s->trace.stale) {
		gus_snapshot_free(&snapshot);
		return gus_fail(err, GUS_E_FULL, "process %d has changed so much of its memory that copying it again "
				"would take longer than it may", (int)pid);
	}
	if (gus_shelf_end(&s->trace.shelf, &snapshot, stored, err) == 0)
		return 0;
	gus_snapshot_free(&snapshot);
	return -1;
}

/* Who sleeps now, or is too large for what is left, may be looked at later; who is not ours never will,
 * but for descendants of a command, which may be of several users. */
static void note_failure(struct session *s, pid_t pid, const struct gus_error *err)
{
	struct gus_session_no_snapshot *none = &s->trace.none;

	none->failed++;
	snprintf(none->why, sizeof(none->why), "%.255s", err->text);
	none->refused = (err->code == GUS_E_PERMISSION && (!launches(s) || pid == s->child.pid)) ||
		err->code == GUS_E_SYSTEM;
	gus_log(s->o->log, none->refused && s->o->trace_asked ? GUS_WARN : GUS_DEBUG, "%s%s", err->text,
		none->refused ? "; no more snapshots are taken" : "");
	if (none->refused)
		s->trace.next = UINT64_MAX;
}

/* About half of them is forgotten. */
static void thin(struct session *s)
{
	size_t n = s->trace.kept.n, left = 0;
	uint32_t *tids = gus_zalloc(n * sizeof(*tids));
	bool *kept = gus_zalloc(n * sizeof(*kept));

	for (size_t i = 0; i < n; i++)
		tids[i] = s->trace.kept.v[i].snapshot.about->tid;
	gus_thin(tids, n, kept);
	for (size_t i = 0; i < n; i++)
		if (kept[i])
			s->trace.kept.v[left++] = s->trace.kept.v[i];
		else
			gus_stored_free(&s->trace.kept.v[i]);
	s->trace.kept.n = left;
	s->trace.gap_ns *= 2;
	free(tids);
	free(kept);
}

static bool are_many(const struct session *s)
{
	return s->trace.kept.n > KEPT_MAX || (s->trace.kept.n > 2 &&
		gus_stored_bytes(s->trace.kept.v, s->trace.kept.n) > KEPT_BYTES);
}

/* CPU time of children that have been waited for. */
static uint64_t children_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
		(uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void note_own(struct session *s, bool light, uint64_t ns, uint64_t bytes)
{
	s->trace.own_ns += ns;
	if (light)
		s->trace.light_ns += ns;
	else if (bytes >= TIMED_BYTES)
		s->trace.own_ns_a_byte = (double)ns / (double)bytes;
}

/* Anywhere in the next piece of time. */
static void set_next(struct session *s)
{
	s->trace.piece += s->trace.gap_ns;
	if (s->trace.piece < s->now)
		s->trace.piece = s->now;
	s->trace.next = s->trace.piece + (uint64_t)(random_share(s->now) * (double)s->trace.gap_ns);
}

void gus_session_trace_begin(struct session *s)
{
	s->trace.begun = s->now;
	s->trace.piece = s->now;
	s->trace.busy = gus_session_busy_ns();
	s->trace.gap_ns = GAP_NS;
	s->trace.pause_ns_a_byte = PAUSE_NS_A_BYTE;
	s->trace.own_ns_a_byte = OWN_NS_A_BYTE;
	s->trace.again_ns = AGAIN_NS;
	s->trace.next = UINT64_MAX;
	if (s->o->trace)
		set_next(s);
}

/* Whether all of it is to be copied although nothing is left for that, as what light ones go by is not there, or not so
 * any more; which is so once in a while. */
static bool needs_base(struct session *s, pid_t pid)
{
	if (!s->trace.stale && gus_shelf_is_of(&s->trace.shelf, (uint32_t)pid))
		return false;
	if (s->now - s->trace.begun < s->trace.again_ns)
		return false;
	s->trace.again_ns *= AGAIN_TIMES;
	gus_shelf_forget(&s->trace.shelf);
	return true;
}

/* Here no other child is waited for than those that hold threads. */
void gus_session_trace(struct session *s)
{
	uint64_t before = gus_session_own_ns(s), children = children_ns(), bytes = 0;
	struct gus_stored stored;
	struct gus_error err = { 0 };
	bool light;
	pid_t pid;

	set_next(s);
	pid = next_process(s);
	if (pause_left_ns(s) < PAUSE_FIXED_NS + s->trace.last_pause_ns) {
		s->trace.none.dear++;
		return;
	}
	light = own_left_ns(s) < OWN_FIXED_NS + expected_ns(s, pid) && !needs_base(s, pid);
	if (light && (!gus_shelf_is_of(&s->trace.shelf, (uint32_t)pid) || light_left_ns(s) < 2 * OWN_FIXED_NS)) {
		s->trace.none.dear++;
		return;
	}
	if (take(s, pid, light, &stored, &err) == 0) {
		bytes = stored.snapshot.about->bytes;
		gus_vec_push(&s->trace.kept, stored);
		if (are_many(s))
			thin(s);
	} else {
		gus_shelf_cancel(&s->trace.shelf);
		note_failure(s, pid, &err);
	}
	s->trace.holders_ns += children_ns() - children;
	note_own(s, light, gus_session_own_ns(s) - before, bytes);
}

void gus_session_trace_tell(const struct session *s)
{
	struct gus_session_result *r = s->result;

	r->snapshots = (unsigned)s->trace.kept.n;
	r->kept = s->trace.kept.v;
	r->snapshots_taken = s->trace.taken;
	r->paused_ns = s->trace.paused_ns;
	r->pause_most_ns = s->trace.pause_most_ns;
	r->snapshots_own_ns = s->trace.own_ns;
	r->no_snapshot = s->trace.none;
}

void gus_session_trace_free(struct session *s)
{
	for (size_t i = 0; i < s->trace.kept.n; i++)
		gus_stored_free(&s->trace.kept.v[i]);
	gus_vec_free(&s->trace.kept);
	gus_shelf_free(&s->trace.shelf);
	s->result->kept = NULL;
	gus_turns_free(&s->trace.turns);
}
