/* SPDX-License-Identifier: MIT */
/* gusprof model -p: a process that runs. It is stopped for some milliseconds now and then; what it would do next is done by copies, and
 * their traces are run. Meanwhile it is sampled, so that it can be said how much of its time the windows are about. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attribution/profile.h"
#include "cli/emulate.h"
#include "cli/model_traced.h"
#include "cli/options.h"
#include "cli/replay.h"

struct attached {
	struct gus_traced *traced;
	struct gus_model_windows *windows;
	struct gus_error trouble;       /* of a trace that could not be read */
};

/* Sampling: by this very program, beside it. */

static pid_t start_recorder(int pid, const char *out)
{
	char *target = gus_format("%d", pid);
	pid_t child = fork();

	if (child == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
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

	for (int ms = 0; child > 0 && ms < MOST_MS && access(out, F_OK) != 0; ms += STEP_MS) {
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

/* How many of the samples are at instructions that the windows have executed. */
static void count_covered(struct gus_traced *t, const char *path, struct gus_model_windows *w)
{
	struct gus_error err = { 0 };
	struct gus_symbols_options symbols = { 0 };
	struct gus_reader *reader = gus_reader_open(path, &err);
	struct gus_profile profile;

	if (!reader && err.code == GUS_E_NOT_FOUND)
		snprintf(err.text, sizeof(err.text), "no samples could be taken of it; gusprof record -p %d says why", w->process->pid);
	if (!reader || gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &symbols, gus_cli_log(0), &err) != 0) {
		snprintf(w->why, sizeof(w->why), "%.250s", err.text);
		gus_reader_close(reader);
		return;
	}
	for (size_t i = 0; i < profile.cells.n; i++) {
		const struct gus_cell *cell = &profile.cells.v[i];
		const struct gus_module *module = gus_space_module(profile.space, cell->place.module);

		w->samples += cell->samples;
		if (module->kind == GUS_MODULE_FILE && gus_traced_covers(t, module->path, cell->place.offset))
			w->covered += cell->samples;
	}
	if (!w->samples)
		snprintf(w->why, sizeof(w->why), "no sample was taken meanwhile");
	gus_profile_free(&profile);
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
		snprintf(w->first, sizeof(w->first), "%.500s", err->text);
}

static bool take_window(unsigned number, const Gusprof__Snapshot *about, const struct gus_replayed *done, const char *path,
			const struct gus_error *err, void *context)
{
	struct attached *a = context;
	struct gus_model_windows *w = a->windows;
	struct gus_trace *trace;
	struct gus_error own = { 0 };

	(void)number;
	if (err->code != GUS_OK) {
		note_first(w, err);
		return err->code != GUS_E_PERMISSION && err->code != GUS_E_FULL; /* it would be the same the next time */
	}
	trace = gus_trace_open(path, &own);
	if (trace) {
		map_snapshot(a->traced, about);
		gus_traced_read(a->traced, trace, &own);
		gus_trace_close(trace);
	}
	unlink(path);
	if (own.code != GUS_OK) {
		note_first(w, &own);
		return true;
	}
	w->taken++;
	w->native += done->how == GUS_REPLAY_NATIVE;
	w->pause_ns += about->pause_ns;
	w->pause_most_ns = about->pause_ns > w->pause_most_ns ? about->pause_ns : w->pause_most_ns;
	w->bytes_most = about->bytes > w->bytes_most ? about->bytes : w->bytes_most;
	return true;
}

/* A folder for what lies on disk meanwhile. */
static char *make_folder(struct gus_error *err)
{
	const char *under = getenv("TMPDIR");
	char *path = gus_format("%s/gusprof-XXXXXX", under && *under ? under : "/tmp");

	if (mkdtemp(path))
		return path;
	gus_fail_errno(err, errno, "cannot make a folder for snapshots, %s", path);
	free(path);
	return NULL;
}

static int model_in(struct gus_model_traced *m, const struct gus_model_process *p, const char *folder, struct gus_error *err)
{
	struct gus_model_windows windows = { .process = p };
	char *samples = gus_format("%s/samples", folder), *prefix = gus_format("%s/window", folder), *qemu = gus_find_command(m->emulator ?
		m->emulator : "qemu-x86_64"), *plugin = gus_find_part("gusprof-qemu.so"), *loader = gus_find_part("gusprof-replay");
	struct gus_traced_view v = { .windows = &windows };
	struct gus_branch_config predictor;
	struct gus_traced t;
	struct attached a = { .traced = &t, .windows = &windows };
	struct gus_replay_process of = { .pid = p->pid, .tid = p->tid, .count = (unsigned)p->snapshots, .spread_ms = (unsigned)p->spread_ms,
		.max_bytes = p->max_bytes, .prefix = prefix, .each = take_window, .context = &a,
		.replay = { .tools = { qemu, plugin, loader }, .window = p->window, .native_window = p->window < 200000 ? p->window : 200000 } };
	pid_t recorder;
	int rc;

	gus_model_traced_open(m, NULL, &predictor, &t);
	recorder = start_recorder(p->pid, samples);
	wait_for_recorder(recorder, samples);
	rc = gus_replay_of_process(&of, err);
	stop_recorder(recorder);
	if (rc > 0 || windows.taken) {
		*err = (struct gus_error){ 0 };
		rc = gus_traced_end(&t, err);
		count_covered(&t, samples, &windows);
		if (rc == 0)
			rc = gus_model_traced_print(m, &t, &v, err);
	}
	gus_model_traced_close(NULL, &t);
	unlink(samples);
	free(samples);
	free(prefix);
	free(qemu);
	free(plugin);
	free(loader);
	return rc;
}

int gus_model_attached(struct gus_model_traced *m, const struct gus_model_process *p, struct gus_error *err)
{
	char *folder = make_folder(err);
	int rc;

	if (!folder)
		return -1;
	rc = model_in(m, p, folder, err);
	rmdir(folder);
	free(folder);
	return rc;
}
