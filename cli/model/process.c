/* SPDX-License-Identifier: MIT */
/* gusprof model -p: a process that runs. It is stopped for some milliseconds now and then; what it would do next is
 * done by copies, and their traces are run. Meanwhile it is sampled, so that it can be said how much of its time the
 * windows are about. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/common/ending.h"
#include "cli/common/options.h"
#include "cli/model/traced.h"
#include "proto/reader.h"
#include "tracing/replay/replays.h"

/* Signals. There is a folder with the process's memory in it, and a recorder that would go on for as long as the
 * process: the first signal only says that it is time to end. One that comes seconds later does what it always does; at
 * once there may be two of them, as timeout(1) sends one to us and one to all of our group. */

enum { ENDS = 4, PATIENCE = 2 /* seconds */ };
static const int ends[ENDS] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
static volatile sig_atomic_t ended_by, ended_at;

static void note_end(int sig)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (!ended_by) {
		ended_at = (sig_atomic_t)t.tv_sec;
		ended_by = sig;
	} else if (t.tv_sec - ended_at >= PATIENCE) {
		signal(sig, SIG_DFL);
		raise(sig); /* comes when this returns */
	}
}

static void catch_ends(struct sigaction before[ENDS])
{
	const struct sigaction note = { .sa_handler = note_end };

	ended_by = 0;
	for (int i = 0; i < ENDS; i++)
		if (sigaction(ends[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
			sigaction(ends[i], &note, NULL);
}

/* Everything is tidied up. Does not return if a signal came. */
static void release_ends(const struct sigaction before[ENDS])
{
	for (int i = 0; i < ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
	if (ended_by)
		gus_die_by(ended_by);
}

/* Sampling: by this very program, beside it. */

static pid_t start_recorder(int pid, const char *out)
{
	char *target = gus_format("%d", pid);
	pid_t parent = getpid(), child = fork();

	if (child == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		prctl(PR_SET_PDEATHSIG, SIGTERM); /* whatever ends us ends the recording */
		if (getppid() != parent)
			_exit(127);
		execl("/proc/self/exe", "gusprof", "record", "-q", "-p", target, "-o", out, (char *)NULL);
		_exit(127);
	}
	free(target);
	return child;
}

/* Its file has its name as soon as it samples. One that cannot is not there any more, or takes longer than that. */
static void wait_for_recorder(pid_t child, const char *out)
{
	enum { STEP_MS = 5, MOST_MS = 5000 };
	siginfo_t ended = { 0 };

	for (int ms = 0; child > 0 && !ended_by && ms < MOST_MS && access(out, F_OK) != 0; ms += STEP_MS) {
		if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000 }, NULL);
	}
}

static void stop_recorder(pid_t child)
{
	pid_t got;

	if (child <= 0)
		return;
	kill(child, SIGINT);
	do
		got = waitpid(child, NULL, 0);
	while (got < 0 && errno == EINTR);
}

void gus_model_cover(struct gus_traced *t, const char *path, struct gus_model_windows *w)
{
	struct gus_error err = { 0 };
	struct gus_reader *reader = gus_reader_open(path, &err);

	if (!reader && err.code == GUS_E_NOT_FOUND)
		snprintf(err.text, sizeof(err.text), "no samples could be taken of it; gusprof record -p %d says why",
			 w->process->pid);
	if (!reader || gus_coverage_load(&w->coverage, t, reader, gus_cli_log(0), &err) != 0)
		snprintf(w->why, sizeof(w->why), "%.250s", err.text);
	if (gus_error_is_transient(&err))
		w->failure = err;
	if (!err.code && !w->coverage.samples)
		snprintf(w->why, sizeof(w->why), "no sample was taken meanwhile");
	gus_reader_close(reader);
}

/* Windows. */

static void map_snapshot(struct gus_traced *t, const Gusprof__Snapshot *about)
{
	for (size_t i = 0; i < about->n_mappings; i++) {
		const Gusprof__SnapshotMapping *m = about->mappings[i];

		if (*m->path)
			gus_traced_map(t, m->start, m->length, m->offset, m->path, NULL, 0);
	}
}

static void note_first(struct gus_model_windows *w, const struct gus_error *err)
{
	if (!w->failed++)
		w->first = *err;
}

/* Reads a window's trace, and counts what it cost. */
static void take_window(struct gus_traced *t, struct gus_model_windows *w, const struct gus_replays_window *window)
{
	const Gusprof__Snapshot *about = window->about;
	struct gus_error err = window->err;
	struct gus_trace *trace = window->path ? gus_trace_open(window->path, &err) : NULL;

	if (trace) {
		map_snapshot(t, about);
		gus_traced_read(t, trace, &err);
		gus_trace_close(trace);
	}
	if (err.code != GUS_OK) {
		note_first(w, &err);
		return;
	}
	w->taken++;
	w->native += window->done.how == GUS_REPLAY_NATIVE;
	w->pause_ns += about->pause_ns;
	w->pause_most_ns = about->pause_ns > w->pause_most_ns ? about->pause_ns : w->pause_most_ns;
	w->bytes_most = about->bytes > w->bytes_most ? about->bytes : w->bytes_most;
}

/* All windows that are to be had, one after the other, until a signal comes. -1 with err only if there can be no more
 * because the recording that they are from cannot be read on. */
static int take_windows(struct gus_traced *t, struct gus_model_windows *w, struct gus_replays *replays,
			struct gus_error *err)
{
	struct gus_replays_window window;
	int more = 0;

	while (!ended_by && (more = gus_replays_next(replays, &window, err)) > 0)
		if (!ended_by)
			take_window(t, w, &window);
	return more;
}

/* What there is of windows; samples: the recording that has them. */
static int report(struct gus_model_traced *m, struct gus_traced *t, struct gus_model_windows *w, const char *samples,
		  const char *input, struct gus_error *err)
{
	struct gus_model_view v = { .windows = w, .input = input };
	int rc;

	*err = (struct gus_error){ 0 };
	if (gus_traced_end(t, err) != 0)
		return -1;
	gus_model_cover(t, samples, w);
	rc = gus_model_traced_print(m, t, &v, err);
	if (rc == 0 && w->failure.code) {
		*err = w->failure;
		rc = -1;
	}
	gus_coverage_free(&w->coverage);
	return rc;
}

/* What the replays are made with. */
static struct gus_replay_wish wish_of(const struct gus_model_traced *m, uint64_t window)
{
	struct gus_replay_wish wish = { .window = window, .native_window = window < GUS_REPLAY_STEPPED_MOST ? window :
		GUS_REPLAY_STEPPED_MOST };

	gus_replay_tools_find(&wish.tools, m->emulator);
	return wish;
}

int gus_model_attached(struct gus_model_traced *m, const struct gus_model_process *p, struct gus_error *err)
{
	struct gus_replays_wish of = { .pid = p->pid, .tid = p->tid, .count = (unsigned)p->snapshots,
		.spread_ms = (unsigned)p->spread_ms, .max_bytes = p->max_bytes };
	struct gus_replay_wish wish = wish_of(m, p->window);
	struct gus_model_windows windows = { .process = p };
	struct gus_branch_config predictor;
	struct sigaction before[ENDS];
	struct gus_replays *replays;
	struct gus_traced t;
	char *samples;
	pid_t recorder;
	int rc = -1;

	catch_ends(before);
	replays = gus_replays_of_process(&of, &wish, NULL, err);
	if (replays) {
		samples = gus_format("%s/samples", gus_replays_folder(replays));
		gus_model_traced_open(m, NULL, &predictor, &t);
		recorder = start_recorder(p->pid, samples);
		wait_for_recorder(recorder, samples);
		take_windows(&t, &windows, replays, err);
		stop_recorder(recorder);
		if (windows.taken && !ended_by)
			rc = report(m, &t, &windows, samples, NULL, err);
		else
			*err = windows.first;
		gus_model_traced_close(NULL, &t);
		unlink(samples);
		free(samples);
		gus_replays_close(replays);
	}
	release_ends(before);
	gus_replay_tools_free(&wish.tools);
	return rc;
}

int gus_model_snapshots(struct gus_model_traced *m, const struct gus_model_process *p, const char *path, bool *any,
			struct gus_error *err)
{
	struct gus_replay_wish wish = wish_of(m, p->window);
	struct gus_model_windows windows = { .process = p };
	struct gus_reader *reader = gus_reader_open(path, err);
	struct gus_branch_config predictor;
	struct sigaction before[ENDS];
	struct gus_replays *replays;
	struct gus_traced t;
	int rc = -1;

	catch_ends(before);
	replays = reader ? gus_replays_of_recording(reader, &wish, NULL, err) : NULL;
	if (replays) {
		gus_model_traced_open(m, NULL, &predictor, &t);
		rc = take_windows(&t, &windows, replays, err);
		*any = windows.taken || windows.failed;
		if (windows.taken && !ended_by)
			rc = report(m, &t, &windows, path, path, err);
		else if (windows.failed)
			rc = gus_fail(err, GUS_E_SYSTEM, "no snapshot of %s could be replayed: %s", path,
				      windows.first.text);
		gus_model_traced_close(NULL, &t);
		gus_replays_close(replays);
	}
	release_ends(before);
	gus_reader_close(reader);
	gus_replay_tools_free(&wish.tools);
	return rc;
}
