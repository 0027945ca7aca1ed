/* SPDX-License-Identifier: MIT */
/* One thread of a running process, its registers and all memory of the process, at one moment of its own code.
 *
 * The idea is to make the pause short, in which the process stands still: it costs the process what it takes. So in
 * it only happens what has to be of one moment - registers, the list of mappings and pages, the pages. Before it,
 * the same list is made of the running process, to know how much room that takes and whether it is allowed, and the
 * room is made, with all its pages in place: the kernel takes as long to clear a page as to copy one.
 * After it come the pages of the clock and the check of the whole. The process may have grown in between; then it is
 * let go, and more room made. Of a process that has much memory a pause that copied all of it would be long: then the
 * large runs are copied behind the pause (wish->pause_bytes, late.h), and what was written meanwhile is of a later
 * moment than the rest.
 *
 * The moment has to be one in the thread's own code, as a copy cannot go on inside of a call of the kernel: where
 * the stop has broken off a call, another moment is waited for. That is a matter of luck with a thread that mostly
 * waits, so there is patience (wish->patience_ms), but an end to it.
 *
 * The pause is held by a process of its own, one for each try, that has our memory (gus_helper_run). The kernel lets
 * go of all that a process traces when it ends: so nothing stays stopped, whichever way it ends (see hold.c). And it is
 * not of our process group: if we are stopped by Ctrl-Z or SIGSTOP in the middle of a pause, it goes on to the pause's
 * end. Only one try is under way at a time, and whoever asked waits for it: what they share needs no lock. */
#include "collector/snapshot/snapshot.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"
#include "collector/host/priority.h"
#include "collector/host/procfs.h"
#include "collector/snapshot/hold.h"
#include "collector/snapshot/late.h"
#include "collector/snapshot/memory.h"
#include "collector/snapshot/registers.h"

#define NAP_NS 300000           /* between looks at a thread that sleeps */
#define GROWTHS 5               /* how often the memory may outgrow its room */
#define SLACK (4ull << 20)      /* of the room: what is allocated while it is made, and the pages of the clock */

enum moment { MOMENT_TAKEN, MOMENT_IN_KERNEL, MOMENT_NO_ROOM, MOMENT_FAILED };

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

/* What can be said before anything is touched: ptrace would say much of it with the same EPERM. */
static int check_task(const struct gus_snapshot_wish *w, struct gus_error *err)
{
	struct gus_task t;

	if (!gus_registers_machine())
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: registers are known how "
				"to be put back on x86-64 and arm64 only", (int)w->pid);
	if (sysconf(_SC_PAGESIZE) != GUS_SNAPSHOT_PAGE)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: pages have %ld bytes "
				"on this kernel, and a snapshot's have %d", (int)w->pid, sysconf(_SC_PAGESIZE),
				GUS_SNAPSHOT_PAGE);
	if (!gus_task_read(w->tid, &t))
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of thread %d: it does not exist, or "
				"has ended", (int)w->tid);
	if (t.tgid != w->pid)
		return gus_fail(err, GUS_E_USAGE, "cannot take a snapshot of thread %d of process %d: it is one of "
				"process %d", (int)w->tid, (int)w->pid, (int)t.tgid);
	if (t.kernel_thread)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of %d (%s): it is a thread of the "
				"kernel", (int)w->tid, t.comm);
	if (gus_task_ended(&t))
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of process %d (%s): it has ended, and "
				"only waits for its parent (a zombie)", (int)w->pid, t.comm);
	if (t.state == 'T')
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d (%s): it is stopped "
				"and does not compute; continue it (kill -CONT) first", (int)w->pid, t.comm);
	return 0;
}

/* Room. */

/* Of so many bytes those that have to be in memory here at a time. */
static uint64_t room_for(const struct gus_snapshot_wish *w, uint64_t bytes)
{
	return w->taker && bytes > gus_late_left(w->pause_bytes) ? gus_late_left(w->pause_bytes) : bytes;
}

static uint64_t size_of_late(const struct gus_late *late)
{
	uint64_t size = 0;

	for (size_t i = 0; i < late->runs.n; i++)
		size += late->runs.v[i].size;
	return size;
}

/* Puts its pages in place, large ones if they can be had: that takes a third of the time. */
static void populate(const struct gus_room *room)
{
	madvise(room->bytes, room->size, MADV_HUGEPAGE);
	for (size_t at = 0; at < room->size; at += GUS_SNAPSHOT_PAGE)
		((volatile uint8_t *)room->bytes)[at] = 0;
}

/* For so many bytes and a quarter more, as the process goes on to grow until it is stopped. */
static int make_room(struct gus_room *room, uint64_t bytes, struct gus_error *err)
{
	if (room->bytes)
		munmap(room->bytes, room->size);
	room->size = (size_t)(bytes + bytes / 4 + SLACK);
	room->bytes = mmap(NULL, room->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room->bytes != MAP_FAILED) {
		populate(room);
		return 0;
	}
	room->bytes = NULL;
	return gus_fail_errno(err, errno, "cannot get %zu bytes for a snapshot", room->size);
}

static int check_size(const struct gus_snapshot_wish *w, uint64_t bytes, struct gus_error *err)
{
	uint64_t most = w->max_bytes < GUS_SNAPSHOT_BYTES_MAX ? w->max_bytes : GUS_SNAPSHOT_BYTES_MAX;
	uint64_t needed = bytes + bytes / 4 + SLACK; /* it may grow until it is asked again */
	char more[80] = ", for what that costs";

	if (bytes + SLACK / 4 <= most)
		return 0;
	if (!w->by_cost && needed <= GUS_SNAPSHOT_BYTES_MAX)
		snprintf(more, sizeof(more), "; allow more with --max-memory %lluM",
			 (unsigned long long)(needed >> 20) + 1);
	else if (!w->by_cost)
		snprintf(more, sizeof(more), "; no more can be allowed than --max-memory %lluM",
			 GUS_SNAPSHOT_BYTES_MAX >> 20);
	return gus_fail(err, GUS_E_FULL, "cannot take a snapshot of process %d: it has %llu MB of memory of its own, "
			"and a snapshot copies at most %g MB while the process stands still%s", (int)w->pid,
			(unsigned long long)(bytes >> 20) + 1, (double)most / (1 << 20), more);
}

/* The pause. */

/* The list of the process as it ran; the one of the pause takes its place. */
static void forget(struct gus_snapshot *s)
{
	Gusprof__Snapshot *a = s->about;

	for (size_t i = 0; i < a->n_mappings; i++)
		gusprof__snapshot_mapping__free_unpacked(a->mappings[i], NULL);
	free(a->mappings);
	a->mappings = NULL;
	a->n_mappings = 0;
	a->bytes = 0;
	s->runs.n = 0;
}

/* While it stands still. What can end it soonest comes first: a look at the registers says whether this is a moment
 * at all, and the list whether there is room. Room is never made here. */
static enum moment take_held(const struct gus_snapshot_wish *w, struct gus_held *h, struct gus_snapshot *s,
			     struct gus_room *room, struct gus_late *late, struct gus_error *err)
{
	if (gus_registers_take(w->tid, s->about, err) != 0)
		return MOMENT_FAILED;
	if (gus_registers_in_kernel(w->tid, s->about))
		return MOMENT_IN_KERNEL;
	forget(s);
	if (gus_memory_list(w->pid, w->pagemap_only, s, err) != 0 || check_size(w, s->about->bytes, err) != 0)
		return MOMENT_FAILED;
	if (w->pause_bytes)
		gus_late_put_off(s, gus_registers_stack(s->about), w->pause_bytes, late);
	if (s->about->bytes + (w->taker ? 0 : size_of_late(late)) + SLACK / 4 > room->size)
		return MOMENT_NO_ROOM;
	if (gus_memory_copy(w->pid, s, room, err) != 0)
		return MOMENT_FAILED;
	s->about->stopped = (uint32_t)h->threads.n;
	s->about->woken = gus_held_woken(h);
	return MOMENT_TAKEN;
}

/* One look at the process, by a process of its own. */
struct look {
	const struct gus_snapshot_wish *wish;
	struct gus_snapshot *snapshot;
	struct gus_room *room;
	struct gus_late *late;
	struct gus_error *err;
	enum moment moment;
	uint64_t since_ns, until_ns;    /* of the pause */
};

/* While ours waits for a CPU the other stands still. It lives for some milliseconds, so where we may it
 * comes before all others; priorities alone do not count between the groups that some kernels put sessions in. */
static void come_first(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) != 0)
		gus_priority_raise();
}

/* The end of this function is the end of its process, which is what lets go of threads that have not come to their
 * stop. Therefore nothing may be put behind the release, and no way out before it. */
static void run_look(void *context)
{
	struct look *l = context;
	struct gus_held h;

	come_first();
	l->moment = MOMENT_FAILED;
	if (gus_hold(&h, l->wish->pid, l->wish->tid, l->err) == 0)
		l->moment = take_held(l->wish, &h, l->snapshot, l->room, l->late, l->err);
	l->since_ns = h.since_ns;
	gus_held_release(&h);
	l->until_ns = gus_snapshot_now();
}

static enum moment take_once(const struct gus_snapshot_wish *w, struct gus_snapshot *s, struct gus_room *room,
			     struct gus_late *late, struct gus_error *err)
{
	struct look l = { .wish = w, .snapshot = s, .room = room, .late = late, .err = err,
		.moment = MOMENT_FAILED };

	s->about->tries++;
	s->about->time = gus_snapshot_now();
	if (gus_helper_run(run_look, &l, err) != 0)
		l.moment = MOMENT_FAILED;
	s->about->pause_ns = l.since_ns ? l.until_ns - l.since_ns : 0;
	return l.moment;
}

/* Until it is seen to run, or the time is over. */
static int wait_until_runs(const struct gus_snapshot_wish *w, uint64_t deadline, struct gus_error *err)
{
	for (;;) {
		char state = gus_thread_state(w->pid, w->tid);

		if (state == 'R')
			return 0;
		if (state != 'S' && state != 'D' && state != 'I')
			return check_task(w, err) != 0 ? -1 : state == 't' ?
				gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: another "
					 "program traces it and has stopped it", (int)w->tid) : 0;
		if (gus_snapshot_now() > deadline)
			return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: it did not "
					"compute within %u ms; it sleeps or waits in the kernel", (int)w->tid,
					w->patience_ms);
		nap();
	}
}

/* Try after try, until one succeeds, fails, or the time is over. Each has its own reason to try again: the thread
 * was in the kernel, or the process has grown beyond the room, of which the try has found out how much it takes. */
static int take(const struct gus_snapshot_wish *w, struct gus_snapshot *s, struct gus_room *room,
		struct gus_late *late, struct gus_error *err)
{
	uint64_t deadline = gus_snapshot_now() + w->patience_ms * 1000000ull;

	if (gus_memory_list(w->pid, w->pagemap_only, s, err) != 0 || check_size(w, s->about->bytes, err) != 0 ||
	    make_room(room, room_for(w, s->about->bytes), err) != 0)
		return -1;
	for (int growths = 0;;) {
		enum moment moment;

		if (wait_until_runs(w, deadline, err) != 0)
			return -1;
		gus_vec_free(&late->runs);
		moment = take_once(w, s, room, late, err);
		if (moment == MOMENT_TAKEN)
			return 0;
		if (moment == MOMENT_FAILED)
			return -1;
		if (moment == MOMENT_NO_ROOM && ++growths > GROWTHS)
			return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: its memory "
					"grows faster than room for it can be made", (int)w->pid);
		if (moment == MOMENT_NO_ROOM &&
		    make_room(room, room_for(w, s->about->bytes + size_of_late(late)), err) != 0)
			return -1;
		if (gus_snapshot_now() > deadline)
			return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: it was in the "
					"kernel each of the %u times that it was stopped within %u ms; it waits "
					"rather than computes", (int)w->tid, s->about->tries, w->patience_ms);
		nap();
	}
}

static void describe(const struct gus_snapshot_wish *w, Gusprof__Snapshot *a)
{
	struct gus_tids tids = { 0 };
	char comm[64] = "";

	gus_task_comm(w->pid, comm, sizeof(comm));
	gus_tids_of(w->pid, &tids);
	a->pid = (uint32_t)w->pid;
	a->tid = (uint32_t)w->tid;
	a->comm = gus_strdup(comm);
	a->machine = gus_strdup(gus_registers_machine());
	a->page_size = GUS_SNAPSHOT_PAGE;
	a->threads = (uint32_t)tids.n;
	a->resident = gus_task_resident(w->pid);
	gus_vec_free(&tids);
}

/* What is copied behind the pause. */
static int complete(const struct gus_snapshot_wish *w, struct gus_snapshot *s, const struct gus_room *room,
		    const struct gus_late *late, struct gus_error *err)
{
	if (gus_memory_copy_late(w->pid, s, late, room, err) != 0)
		return -1;
	gus_memory_add_vvar(s, room);
	return gus_snapshot_check(s, err);
}

static int hand_over(const struct gus_snapshot_wish *w, struct gus_snapshot *s, const struct gus_room *room,
		     const struct gus_late *late, struct gus_error *err)
{
	gus_memory_add_vvar(s, room);
	if (gus_memory_hand_over(w->pid, w->taker, s, late, room, err) != 0)
		return -1;
	munmap(s->bytes, s->mapped);
	s->bytes = NULL;
	s->mapped = 0;
	return 0;
}

int gus_snapshot_take(const struct gus_snapshot_wish *wish, struct gus_snapshot *s, struct gus_error *err)
{
	struct gus_snapshot_wish w = *wish;
	struct gus_room room = { 0 };
	struct gus_late late = { 0 };
	int rc = -1;

	w.max_bytes = w.max_bytes ? w.max_bytes : GUS_SNAPSHOT_MAX_BYTES;
	w.patience_ms = w.patience_ms ? w.patience_ms : GUS_SNAPSHOT_PATIENCE_MS;
	*s = (struct gus_snapshot){ .about = gus_alloc(sizeof(*s->about)) };
	gusprof__snapshot__init(s->about);
	if (check_task(&w, err) == 0) {
		describe(&w, s->about);
		rc = take(&w, s, &room, &late, err);
	}
	s->bytes = room.bytes; /* from here on the snapshot owns them, also if it is thrown away below */
	s->mapped = room.size;
	if (rc == 0)
		rc = w.taker ? hand_over(&w, s, &room, &late, err) : complete(&w, s, &room, &late, err);
	gus_vec_free(&late.runs);
	if (rc != 0)
		gus_snapshot_free(s);
	return rc;
}
