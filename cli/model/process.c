/* SPDX-License-Identifier: MIT */
/* gusprof model -p: a process that runs. It is stopped for some milliseconds now and then; what it would do next is
 * done by copies, and their traces are run. Meanwhile it is sampled, so that it can be said how much of its time the
 * windows are about. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attribution/profile/profile.h"
#include "attribution/traced/contended.h"
#include "base/error.h"
#include "base/foreign_file.h"
#include "base/heed.h"
#include "base/helper.h"
#include "base/log.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/model/rates.h"
#include "cli/model/traced.h"
#include "cli/record/record.h"
#include "collector/host/procfs.h"
#include "model/oracles/cache.h"
#include "proto/reader.h"
#include "tracing/replay/replays.h"

/* Sampling: by a process of ours beside this one, into a file without a name. Both end when this one does, whatever
 * ends it, so there is nothing that a signal would have to be caught for. */

struct sampling {
	pid_t pid;
	int file;               /* -1: none could be made */
	char *path;             /* by which it can be opened here */
};

static void __attribute__((noreturn)) become_recorder(int pid, int file)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	_exit(gus_record_process(pid, file));
}

static void start_sampling(struct sampling *s, int pid)
{
	*s = (struct sampling){ .pid = -1, .file = gus_scratch_open("samples", NULL) };
	if (s->file < 0)
		return;
	s->path = gus_format("/proc/self/fd/%d", s->file);
	s->pid = gus_helper_fork();
	if (s->pid == 0)
		become_recorder(pid, s->file);
}

static bool has_samples(const struct sampling *s)
{
	struct stat st;

	return s->file >= 0 && fstat(s->file, &st) == 0 && st.st_size;
}

/* There is something in its file as soon as it samples. One that cannot ends, or takes longer than that. */
static void wait_for_sampling(const struct sampling *s)
{
	enum { STEP_MS = 5, MOST_MS = 5000 };
	siginfo_t ended = { 0 };

	for (int ms = 0; s->pid > 0 && ms < MOST_MS && !has_samples(s); ms += STEP_MS) {
		if (waitid(P_PID, (id_t)s->pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000 }, NULL);
	}
}

static void stop_sampling(const struct sampling *s)
{
	if (s->pid <= 0)
		return;
	kill(s->pid, SIGINT);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void end_sampling(struct sampling *s)
{
	if (s->file >= 0)
		close(s->file);
	free(s->path);
}

void gus_model_cover(struct gus_traced *t, const char *path, struct gus_model_windows *w)
{
	struct gus_error err = { 0 };
	struct gus_reader *reader = gus_reader_open(path, &err);

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
	gus_traced_moment(t, about->pid, about->time);
	for (size_t i = 0; i < about->n_mappings; i++) {
		const Gusprof__SnapshotMapping *m = about->mappings[i];

		/* The file that has the name here is not the one that is mapped unless the snapshot says so. */
		if (*m->path && (m->from_file || !m->inode))
			gus_traced_map(t, m->start, m->length, m->offset, m->path, NULL, 0);
	}
}

static void note_first(struct gus_model_windows *w, const struct gus_error *err)
{
	if (!w->failed++)
		w->first = *err;
}

static void read_window(struct gus_traced *t, const struct gus_replays_window *window, struct gus_error *err)
{
	struct gus_trace *trace = window->path ? gus_trace_open(window->path, err) : NULL;

	if (trace) {
		map_snapshot(t, window->about);
		gus_traced_read(t, trace, err);
		gus_trace_close(trace);
	}
}

static void note_taken(struct gus_model_windows *w, const Gusprof__Moment *m)
{
	w->taken++;
	w->native += m->native;
	w->late += m->late != 0;
	w->pause_ns += m->pause_ns;
	w->pause_most_ns = m->pause_ns > w->pause_most_ns ? m->pause_ns : w->pause_most_ns;
	w->bytes_most = m->bytes > w->bytes_most ? m->bytes : w->bytes_most;
}

/* Reads a window's trace, and counts what it cost. cold: NULL, or a second run of it. */
static void take_window(struct gus_traced *t, struct gus_traced *cold, struct gus_model_windows *w,
			const struct gus_replays_window *window)
{
	const Gusprof__Snapshot *about = window->about;
	Gusprof__Moment moment = GUSPROF__MOMENT__INIT;
	struct gus_error err = window->err;

	if (cold)
		read_window(cold, window, &(struct gus_error){ 0 }); /* whose failures are those of the other */
	read_window(t, window, &err);
	if (err.code != GUS_OK) {
		note_first(w, &err);
		return;
	}
	moment.pause_ns = about->pause_ns;
	moment.bytes = about->bytes;
	moment.late = about->late;
	moment.native = window->done.how == GUS_REPLAY_NATIVE;
	note_taken(w, &moment);
}

/* Each try may wait for as long as a sleeping thread takes to wake up, so who looks on is told at once. */
static void say_first(const struct gus_model_windows *w, const struct gus_replays_window *window)
{
	if (w->failed == 1 && !w->taken && !window->last)
		gus_log(gus_cli_log(0), GUS_WARN, "%s; tries left: %" PRIu64, w->first.text,
			w->process->snapshots - 1);
}

/* All windows that are to be had, one after the other. -1 with err only if there can be no more because the recording
 * that they are from cannot be read on. */
static int take_windows(struct gus_traced *t, struct gus_traced *cold, struct gus_model_windows *w,
			struct gus_replays *replays, bool live, const struct gus_heed *heed, struct gus_error *err)
{
	struct gus_replays_window window;
	int more = 0;

	while ((more = gus_replays_next(replays, &window, err)) > 0) {
		gus_heed_tell(heed, "replaying its snapshots", -1);
		take_window(t, cold, w, &window);
		if (live)
			say_first(w, &window);
	}
	return more;
}

/* What there is of windows; samples: the recording that has them, or NULL where there could be none. */
static int report(struct gus_model_traced *m, struct gus_traced *t, struct gus_model_windows *w, const char *samples,
		  const char *input, struct gus_error *err)
{
	struct gus_model_view v = { .windows = w, .input = input, .samples = samples };
	int rc;

	*err = (struct gus_error){ 0 };
	if (gus_traced_end(t, err) != 0)
		return -1;
	if (samples)
		gus_model_cover(t, samples, w);
	else
		snprintf(w->why, sizeof(w->why), "no samples could be taken of it; gusprof record -p %d says why",
			 w->process->pid);
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
	struct gus_replays *replays = NULL;
	struct sampling sampling;
	struct gus_rights rights = { 0 };
	struct gus_traced t;
	int rc = -1;

	gus_task_rights(p->pid, &rights); /* of one that is gone by now there are no snapshots */
	wish.rights = &rights;
	if (gus_replay_tools_check(&wish.tools, err) == 0 && gus_model_rates_load(m, NULL, NULL, err) == 0)
		replays = gus_replays_of_process(&of, &wish, err);
	if (replays) {
		gus_model_traced_open(m, NULL, &rights, &predictor, &t);
		start_sampling(&sampling, p->pid);
		wait_for_sampling(&sampling);
		take_windows(&t, NULL, &windows, replays, true, m->heed, err);
		stop_sampling(&sampling);
		if (windows.taken)
			rc = report(m, &t, &windows, has_samples(&sampling) ? sampling.path : NULL, NULL, err);
		else
			*err = windows.first;
		gus_model_traced_close(m, NULL, &t);
		end_sampling(&sampling);
		gus_replays_close(replays);
	}
	gus_model_rates_free(m);
	gus_replay_tools_free(&wish.tools);
	return rc;
}

/* Whether it is to be replayed; else this is said, if there is anything to replay. */
static bool is_wanted(const struct gus_model_process *p, const char *name, struct gus_reader *reader)
{
	const struct gus_log *log = gus_cli_log(0);
	struct gus_frame frame;

	if (p->replay || gus_replays_is_own(reader))
		return true;
	if (gus_reader_next_of(reader, 1u << GUS_FRAME_SNAPSHOT, &frame, NULL) == GUS_READ_FRAME)
		gus_log(log, GUS_WARN, "%s has snapshots, which are code, and was not made by you since this "
			"machine was started; they are not replayed unless you ask for it (--replay)", name);
	return false;
}

/* Windows that were replayed when they were recorded. */

static void read_kept(struct gus_traced *t, struct gus_trace *trace, struct gus_error *err)
{
	const Gusprof__Moment *moment = gus_trace_about(trace)->moment;

	if (!moment) {
		gus_fail(err, GUS_E_CORRUPT, "a trace of the recording does not say when it was begun");
		return;
	}
	gus_traced_moment(t, moment->pid, moment->time);
	gus_traced_read(t, trace, err);
}

/* n: how many there are. */
static int take_kept(struct gus_traced *t, struct gus_model_windows *w, uint64_t n, const struct gus_heed *heed,
		     struct gus_trace *trace, struct gus_error *err)
{
	uint64_t done = 0;
	int more;

	do {
		struct gus_error why = { 0 };

		gus_heed_tell(heed, t->options.warm ? "running its windows, with warm caches" :
			      "running its windows, with cold caches", (double)done++ / (double)n);
		read_kept(t, trace, &why);
		if (why.code != GUS_OK)
			note_first(w, &why);
		else
			note_taken(w, gus_trace_about(trace)->moment);
		more = gus_trace_more(trace, err);
	} while (more > 0);
	return more;
}

/* The same once more, with cold caches, whose failures are those of the other run. */
static void run_cold(struct gus_model_traced *m, const char *path, uint64_t n, const struct gus_rights *rights)
{
	struct gus_model_windows none = { 0 };
	struct gus_branch_config predictor;
	struct gus_error err = { 0 };
	struct gus_trace *trace = gus_trace_open(path, &err);
	struct gus_traced cold;

	gus_model_traced_open_cold(m, rights, &predictor, &cold);
	if (trace)
		take_kept(&cold, &none, n, m->heed, trace, &err);
	gus_traced_end(&cold, &err);
	gus_model_traced_close(m, NULL, &cold);
	gus_trace_close(trace);
}

/* Of all windows. */
struct moments {
	uint64_t resident;      /* bytes that the process had when it had most; 0 if that is not known of each window */
	bool threads;           /* they are of several */
	uint64_t n;
};

static struct moments look_at_moments(const char *path)
{
	struct gus_trace *trace = gus_trace_open(path, NULL);
	struct moments all = { 0 };
	uint32_t first = 0;
	bool known = true;
	int more = trace ? 1 : 0;

	while (more > 0) {
		const Gusprof__Moment *moment = gus_trace_about(trace)->moment;

		known = known && moment && moment->resident;
		all.n++;
		if (moment && moment->resident > all.resident)
			all.resident = moment->resident;
		if (moment && !first)
			first = moment->tid;
		all.threads |= moment && moment->tid != first;
		more = gus_trace_more(trace, NULL);
	}
	gus_trace_close(trace);
	if (!known)
		all.resident = 0;
	return all;
}

/* Lines that threads share, as far as the windows tell; what cannot be read the run itself will find. */
static struct gus_contended *find_shared(const char *path, uint32_t line_size)
{
	struct gus_trace *trace = gus_trace_open(path, NULL);
	struct gus_contended *shared = gus_contended_new(line_size);
	int more = trace ? 1 : 0;

	while (more > 0) {
		const Gusprof__Moment *moment = gus_trace_about(trace)->moment;
		struct gus_trace_step step;

		if (moment)
			gus_contended_window(shared, moment->pid, moment->tid, moment->time);
		while (moment && gus_trace_next(trace, &step, NULL) > 0)
			for (uint32_t i = 0; i < step.accesses_n; i++)
				gus_contended_access(shared, step.accesses[i].address, step.accesses[i].size,
						  step.accesses[i].store);
		more = gus_trace_more(trace, NULL);
	}
	gus_trace_close(trace);
	gus_contended_settle(shared);
	return shared;
}

/* With the names that the recording brings along, and its programs may not be here. */
static int show_kept(struct gus_model_traced *m, struct gus_model_windows *windows, uint64_t n, const char *path,
		     struct gus_trace *trace, const struct gus_rights *rights, struct gus_error *err)
{
	struct gus_branch_config predictor;
	struct gus_traced_lengths lengths = { 0 };
	struct gus_traced t;
	int rc;

	m->core_cycles_most = m->window_cycles_most;
	m->lengths = &lengths;
	if (m->cold_context) {
		run_cold(m, path, n, rights);
		m->lengths_known = true; /* and both are of the same instructions */
	}
	gus_model_traced_open(m, NULL, rights, &predictor, &t);
	rc = take_kept(&t, windows, n, m->heed, trace, err);
	if (windows->taken)
		rc = report(m, &t, windows, path, m->input, err);
	else if (rc == 0)
		*err = windows->first;
	gus_model_traced_close(m, NULL, &t);
	gus_vec_free(&lengths);
	return windows->taken ? rc : -1;
}

int gus_model_kept_windows(struct gus_model_traced *m, const struct gus_model_process *p, const char *path,
			   struct gus_trace *trace, struct gus_error *err)
{
	struct gus_model_windows windows = { .process = p };
	struct gus_cache_config caches = *m->caches;
	struct gus_model_traced own = *m;
	struct gus_rights rights = { 0 };
	struct gus_reader *reader = gus_recording_open(path, err);
	struct gus_profile names;
	uid_t owner;
	const struct moments moments = look_at_moments(path);
	struct gus_contended *shared = NULL;
	int rc;

	caches.holds_all = gus_cache_holding(&caches, moments.resident);
	own.caches = &caches;
	if (own.cycles_most && moments.n && own.cycles_most / moments.n < own.window_cycles_most)
		own.window_cycles_most = own.cycles_most / moments.n;
	if (moments.threads)
		own.shared = shared = find_shared(path, caches.line_size);
	if (gus_trace_owner(trace, &owner))
		gus_rights_of_user(&rights, owner, "the recording's owner");
	if (!reader || gus_model_names_load(&names, reader, err) != 0) {
		gus_reader_close(reader);
		gus_contended_free(shared);
		return -1;
	}
	own.symbols = names.symbols;
	rc = gus_model_rates_load(&own, path, &rights, err);
	if (rc == 0) {
		rc = show_kept(&own, &windows, moments.n, path, trace, &rights, err);
		gus_model_rates_free(&own);
	}
	gus_profile_free(&names);
	gus_contended_free(shared);
	gus_reader_close(reader);
	return rc;
}

int gus_model_snapshots(struct gus_model_traced *m, const struct gus_model_process *p, const char *path, bool *any,
			struct gus_error *err)
{
	struct gus_replay_wish wish = wish_of(m, p->window);
	struct gus_model_windows windows = { .process = p };
	struct gus_reader *reader = gus_reader_open(path, err);
	struct gus_branch_config predictor, of_cold;
	struct gus_replays *replays;
	struct gus_rights rights = { 0 };
	struct gus_traced t, cold;
	uid_t owner;
	int rc = -1;

	if (reader && !is_wanted(p, gus_recording_name(m->input), reader)) {
		gus_reader_close(reader);
		gus_replay_tools_free(&wish.tools);
		return 0;
	}
	if (reader && gus_reader_owner(reader, &owner))
		gus_rights_of_user(&rights, owner, "the recording's owner");
	wish.rights = &rights;
	replays = reader && gus_model_rates_load(m, path, &rights, err) == 0 ?
		gus_replays_of_recording(reader, &wish, err) : NULL;
	if (replays) {
		gus_model_traced_open(m, NULL, &rights, &predictor, &t);
		if (m->cold_context)
			gus_model_traced_open_cold(m, &rights, &of_cold, &cold);
		rc = take_windows(&t, m->cold_context ? &cold : NULL, &windows, replays, false, m->heed, err);
		if (m->cold_context) {
			gus_traced_end(&cold, &(struct gus_error){ 0 });
			gus_model_traced_close(m, NULL, &cold);
		}
		*any = windows.taken || windows.failed;
		if (windows.taken)
			rc = report(m, &t, &windows, path, m->input, err);
		else if (windows.failed)
			rc = gus_fail(err, GUS_E_SYSTEM, "no snapshot of %s could be replayed: %s",
				      gus_recording_name(m->input), windows.first.text);
		gus_model_traced_close(m, NULL, &t);
		gus_replays_close(replays);
	}
	gus_model_rates_free(m);
	gus_reader_close(reader);
	gus_replay_tools_free(&wish.tools);
	return rc;
}
