/* SPDX-License-Identifier: MIT */
/* Making the threads of another process stand still, for milliseconds, and letting them go as if nothing had been.
 *
 * The idea: ptrace(2), by PTRACE_SEIZE and PTRACE_INTERRUPT. PTRACE_ATTACH would send SIGSTOP, which the process's
 * parent and job control see, and which may arrive together with a stop that is meant; a seized thread is stopped
 * without any signal. Only threads that run are stopped. One that sleeps in the kernel executes nothing of its own
 * either, but to stop it is to wake it, and some calls (epoll_wait, reading from inotify, ...) then end with EINTR
 * although nobody sent a signal: signal(7), "Interruption of system calls and library functions by stop signals". If
 * a sleeper wakes during the snapshot it runs; that is not prevented, but counted (gus_held_woken).
 *
 * The order: first the thread that was asked for, as the process runs on, undisturbed, while we wait for its stop.
 * Then those that run beside it; they can start further threads until they have stopped, so the list is read again
 * until a reading shows none that runs and is not held.
 *
 * The invariant, which everything here serves: no thread stays stopped because of us, whatever fails.
 *
 *   - A thread is in h->threads before it is told to stop, and gus_held_release detaches all that have stopped.
 *   - One that has not come to its stop yet cannot be detached. But when a tracer ends, the kernel detaches all that
 *     it traces and lets them run (exit_ptrace() in its kernel/ptrace.c). So holding is done by a process of its own
 *     that ends right afterwards (run_look in snapshot.c). If this program is killed, the kernel kills that one, too.
 *   - A tracer that is stopped would hold for as long. That process takes no signals, is in no process group of ours,
 *     and goes on at once if somebody finds it and stops it (gus_helper_run).
 *   - It does end: each wait has a deadline and the passes are counted (STOP_MS, OTHERS_NS, PASSES).
 *   - A signal that came instead of our stop is delivered by the detach that ends it.
 *   - A process that somebody has stopped by SIGSTOP is refused, and stays as it was. */
#include "collector/snapshot/hold.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "collector/host/procfs.h"
#include "collector/snapshot/denial.h"

#define STOP_MS 500             /* until the thread has stopped: microseconds if it has a CPU, else until its turn */
#define OTHERS_NS 1000000       /* for the others: microseconds if they have CPUs, and the rest executes nothing */
#define NAP_NS 20000
#define NAPS 8                  /* so many, and then naps are twice as long, */
#define NAP_LONGEST_NS 1000000  /* up to this */
#define PASSES 16               /* over all threads, while new ones turn up */
#define NO_MORE "ZXx"           /* states of threads that have ended */

uint64_t gus_snapshot_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Anything but running, and waiting for a CPU to run on, which /proc calls the same. */
static bool sleeps(char state)
{
	return state != 'R';
}

/* Who traces it; 0: nobody. */
static pid_t tracer_of(pid_t tid)
{
	char path[64], *text, *line;
	size_t size;
	pid_t tracer;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	text = gus_procfs_read(path, &size);
	line = text ? strstr(text, "\nTracerPid:") : NULL;
	tracer = line ? (pid_t)strtol(line + strlen("\nTracerPid:"), NULL, 10) : 0;
	free(text);
	return tracer;
}

static int explain_seize(pid_t tid, int sys, struct gus_error *err)
{
	pid_t tracer = tracer_of(tid);
	char why[256];

	if (sys == ESRCH)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of thread %d: it has ended, or is "
				"about to", (int)tid);
	if (tracer)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: process %d traces it "
				"already (a debugger, or strace); end that first", (int)tid, (int)tracer);
	gus_denial_of(tid, why, sizeof(why));
	return gus_fail(err, GUS_E_PERMISSION, "cannot take a snapshot of thread %d: %s; %s", (int)tid, strerror(sys),
			why);
}

/* The kernel says EPERM of a thread that is about to end, as of one that is not ours. */
static int errno_of(pid_t pid, pid_t tid, int sys)
{
	char state = gus_thread_state(pid, tid);

	return sys == EPERM && (!state || strchr(NO_MORE, state)) ? ESRCH : sys;
}

/* 0, or an errno. That one of the threads begins another program has to be told (PTRACE_O_TRACEEXEC): what we hold then
 * is not what was to be looked at. Once a thread is traced it is in the list, even if it cannot be told to stop. */
static int seize(struct gus_held *h, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)PTRACE_O_TRACEEXEC) != 0)
		return errno_of(h->pid, tid, errno);
	gus_vec_push(&h->threads, (struct gus_held_thread){ .tid = tid });
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 ? 0 : errno;
}

static bool is_held(const struct gus_held *h, pid_t tid)
{
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i].tid == tid)
			return true;
	return false;
}

/* What a thread that was told to stop did: event << 8 | signal, as in ptrace(2), "Stopped states". Without an event
 * it is about to be given a signal, which is as good as our stop; the signal waits until it is let go. With
 * PTRACE_EVENT_STOP, SIGTRAP means that it obeyed, and another signal that all of its process was stopped by that,
 * as by SIGSTOP. -1 with err if there is nothing to take a snapshot of any more. */
static int take_status(struct gus_held *h, struct gus_held_thread *t, int status, struct gus_error *err)
{
	int event = status >> 8, signal = status & 0xff;

	t->stopped = true;
	if (event == PTRACE_EVENT_EXEC)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of process %d: it has just begun "
				"another program; try again", (int)h->pid);
	if (event == 0)
		t->signal = signal;
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: it was stopped by a "
				"signal (%s) just now and does not compute; continue it (kill -CONT) first",
				(int)h->pid, strsignal(signal));
	return 0;
}

static bool is_gone(const struct gus_held *h, pid_t tid)
{
	char state = gus_thread_state(h->pid, tid);

	return !state || strchr(NO_MORE, state);
}

/* Whether it has stopped, or never will: 1, 0 if not yet, -1 with err. Only stops are waited for (WSTOPPED, and not
 * WEXITED): the end of a process belongs to its parent, which may be another part of this program that wants its
 * status. __WALL, as threads are not what waiting is for by default. */
static int look_at(struct gus_held *h, struct gus_held_thread *t, struct gus_error *err)
{
	siginfo_t info = { 0 };
	int rc;

	if (t->stopped || t->gone)
		return 1;
	rc = waitid(P_PID, (id_t)t->tid, &info, WSTOPPED | WNOHANG | __WALL);
	if (rc == 0 && info.si_pid == t->tid)
		return take_status(h, t, info.si_status, err) == 0 ? 1 : -1;
	t->gone = rc != 0 || is_gone(h, t->tid); /* or its number went over to the thread that began a program */
	return t->gone;
}

/* After so many looks in vain. On the one CPU of a slow machine the thread comes to its stop only while we sleep, and a
 * short sleep may be over before the kernel has got to it. */
static void nap(unsigned looks)
{
	long ns = NAP_NS;

	for (; looks >= NAPS && ns < NAP_LONGEST_NS; looks -= NAPS)
		ns *= 2;
	nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* The process runs as it likes while we wait for the first one, which may have to wait for a CPU. We look again and
 * again, as there is no waiting for a stop with a deadline. The pause began between the last look that found it
 * running and the first that did not; the former is taken, so that what is told of the pause is not less than it
 * was. */
static int wait_first(struct gus_held *h, struct gus_error *err)
{
	uint64_t begun = gus_snapshot_now();
	int rc;

	for (unsigned looks = 0;; looks++) {
		uint64_t before = gus_snapshot_now();

		rc = look_at(h, &h->threads.v[0], err);
		if (rc || before > begun + STOP_MS * 1000000ull)
			break;
		h->since_ns = before;
		nap(looks);
	}
	if (!h->since_ns)
		h->since_ns = begun;
	if (rc < 0)
		return -1;
	if (!rc)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: it did not stop within "
				"%d ms: it waits in the kernel, or for a CPU; try again",
				(int)h->threads.v[0].tid, STOP_MS);
	if (!h->threads.v[0].gone)
		return 0;
	return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of thread %d: it ended, or its process began "
			"another program, just when it was stopped", (int)h->threads.v[0].tid);
}

/* Those that do not come within the deadline wait for a CPU, or in the kernel. They are no trouble: the interrupt is
 * pending, and the kernel looks at it before it lets a thread return to its own code, so none of that is executed
 * before the stop. */
static int wait_others(struct gus_held *h, struct gus_error *err)
{
	uint64_t deadline = gus_snapshot_now() + OTHERS_NS;

	for (size_t i = 1; i < h->threads.n; i++) {
		int rc;

		while ((rc = look_at(h, &h->threads.v[i], err)) == 0 && gus_snapshot_now() < deadline)
			nap(0);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Stops the running ones that are not held yet: how many. -1 with err. One that ends just now needs no stop. */
static int stop_others(struct gus_held *h, struct gus_error *err)
{
	struct gus_tids tids = { 0 };
	int n = 0;

	gus_tids_of(h->pid, &tids);
	for (size_t i = 0; i < tids.n && n >= 0; i++) {
		int sys;

		if (is_held(h, tids.v[i]) || sleeps(gus_thread_state(h->pid, tids.v[i])))
			continue;
		sys = seize(h, tids.v[i]); /* if it has fallen asleep just now, this wakes it */
		if (sys && sys != ESRCH)
			n = explain_seize(tids.v[i], sys, err);
		else
			n += !sys;
	}
	gus_vec_free(&tids);
	return n;
}

int gus_hold(struct gus_held *h, pid_t pid, pid_t tid, struct gus_error *err)
{
	int sys, added = 1;

	*h = (struct gus_held){ .pid = pid };
	sys = seize(h, tid);
	if (sys)
		return explain_seize(tid, sys, err);
	if (wait_first(h, err) != 0)
		return -1;
	for (int pass = 0; pass < PASSES && added > 0; pass++) { /* until one finds nobody who runs */
		added = stop_others(h, err);
		if (added < 0 || wait_others(h, err) != 0)
			return -1;
	}
	if (added)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: it begins new threads "
				"faster than they can be stopped", (int)pid);
	return 0;
}

unsigned gus_held_woken(const struct gus_held *h)
{
	struct gus_tids tids = { 0 };
	unsigned n = 0;

	gus_tids_of(h->pid, &tids);
	for (size_t i = 0; i < tids.n; i++)
		n += !is_held(h, tids.v[i]) && gus_thread_state(h->pid, tids.v[i]) == 'R';
	gus_vec_free(&tids);
	return n;
}

/* Those without a stop are let go by the end of this thread, see above: PTRACE_DETACH wants its threads stopped. */
void gus_held_release(struct gus_held *h)
{
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i].stopped)
			ptrace(PTRACE_DETACH, h->threads.v[i].tid, NULL, (void *)(intptr_t)h->threads.v[i].signal);
	gus_vec_free(&h->threads);
}
