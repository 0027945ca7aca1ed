/* SPDX-License-Identifier: MIT */
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

#include "collector/host/procfs.h"
#include "collector/host/text.h"

#define STOP_MS 500             /* until the thread has stopped: microseconds if it has a CPU, else it waits for its turn */
#define OTHERS_NS 1000000       /* for the others: those that have a CPU take microseconds, and the rest executes nothing */
#define NAP_NS 20000
#define PASSES 16               /* over all threads, while new ones turn up */

uint64_t gus_snapshot_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

char gus_thread_state(pid_t pid, pid_t tid)
{
	char path[64], text[512];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	if (!gus_read_text(path, text, sizeof(text)))
		return '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

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
	char scope[16] = "0";

	if (sys == ESRCH)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of thread %d: it has ended, or is about to", (int)tid);
	if (tracer)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: process %d traces it already (a debugger, or "
				"strace); end that first", (int)tid, (int)tracer);
	if (gus_read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) && *scope != '0')
		return gus_fail(err, GUS_E_PERMISSION, "cannot take a snapshot of thread %d: not permitted; it may belong to another user or "
				"have raised rights, and kernel.yama.ptrace_scope is %s: run as root", (int)tid, scope);
	return gus_fail(err, GUS_E_PERMISSION, "cannot take a snapshot of thread %d: %s; it belongs to another user or runs with other rights "
			"than yours: run as root", (int)tid, strerror(sys));
}

/* The kernel says EPERM of a thread that is about to end, as of one that is not ours. */
static int errno_of(pid_t pid, pid_t tid, int sys)
{
	char state = gus_thread_state(pid, tid);

	return sys == EPERM && (!state || strchr("ZXx", state)) ? ESRCH : sys;
}

/* 0, or an errno. */
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

/* What a thread that was told to stop did: event << 8 | signal. -1 with err if there is nothing to take a snapshot of any more. */
static int take_status(struct gus_held *h, struct gus_held_thread *t, int status, struct gus_error *err)
{
	int event = status >> 8, signal = status & 0xff;

	t->stopped = true;
	if (event == PTRACE_EVENT_EXEC)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of process %d: it has just begun another program; try again",
				(int)h->pid);
	if (event == 0)
		t->signal = signal;
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: it was stopped by a signal (%s) just now and does "
				"not compute; continue it (kill -CONT) first", (int)h->pid, strsignal(signal));
	return 0;
}

static bool is_gone(const struct gus_held *h, pid_t tid)
{
	char state = gus_thread_state(h->pid, tid);

	return !state || strchr("ZXx", state);
}

/* Whether it has stopped, or never will: 1, 0 if not yet, -1 with err. Only stops are waited for: the end of a process belongs to
 * its parent, which may be this program. */
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

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

/* The process runs as it likes while we wait for the first one, which may have to wait for a CPU. */
static int wait_first(struct gus_held *h, struct gus_error *err)
{
	uint64_t begun = gus_snapshot_now();
	int rc;

	for (;;) {
		uint64_t before = gus_snapshot_now();

		rc = look_at(h, &h->threads.v[0], err);
		if (rc || before > begun + STOP_MS * 1000000ull)
			break;
		h->since_ns = before;
		nap();
	}
	if (!h->since_ns)
		h->since_ns = begun;
	if (rc < 0)
		return -1;
	if (!rc)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of thread %d: it did not stop within %d ms: it waits in the kernel, "
				"or for a CPU; try again", (int)h->threads.v[0].tid, STOP_MS);
	if (!h->threads.v[0].gone)
		return 0;
	return gus_fail(err, GUS_E_NOT_FOUND, "cannot take a snapshot of thread %d: it ended, or its process began another program, just when "
			"it was stopped", (int)h->threads.v[0].tid);
}

static int wait_others(struct gus_held *h, struct gus_error *err)
{
	uint64_t deadline = gus_snapshot_now() + OTHERS_NS;

	for (size_t i = 1; i < h->threads.n; i++) {
		int rc;

		while ((rc = look_at(h, &h->threads.v[i], err)) == 0 && gus_snapshot_now() < deadline)
			nap();
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Stops the running ones that are not held yet: how many. -1 with err. */
static int stop_others(struct gus_held *h, struct gus_error *err)
{
	struct gus_tids tids = { 0 };
	int n = 0;

	gus_tids_of(h->pid, &tids);
	for (size_t i = 0; i < tids.n && n >= 0; i++) {
		int sys;

		if (is_held(h, tids.v[i]) || sleeps(gus_thread_state(h->pid, tids.v[i])))
			continue;
		sys = seize(h, tids.v[i]);
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
	for (int pass = 0; pass < PASSES && added > 0; pass++) {
		added = stop_others(h, err);
		if (added < 0 || wait_others(h, err) != 0)
			return -1;
	}
	if (added)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot take a snapshot of process %d: it begins new threads faster than they can be "
				"stopped", (int)pid);
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

void gus_held_release(struct gus_held *h)
{
	for (size_t i = 0; i < h->threads.n; i++)
		if (h->threads.v[i].stopped)
			ptrace(PTRACE_DETACH, h->threads.v[i].tid, NULL, (void *)(intptr_t)h->threads.v[i].signal);
	gus_vec_free(&h->threads);
}
