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

#include "attribution/profile/profile.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/model/traced.h"
#include "tracing/emulator/emulate.h"
#include "tracing/replay/replay.h"

enum { STEPPED_MOST = 200000 }; /* instructions of a window, where each costs a step */

struct attached {
	struct gus_traced *traced;
	struct gus_model_windows *windows;
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

struct elsewhere gus_vec(struct gus_model_elsewhere);

/* One more sample, or several, of a function that no window has at that place. */
static void note_elsewhere(struct elsewhere *list, const struct gus_profile *profile, const struct gus_cell *cell)
{
	const struct gus_module *module = gus_space_module(profile->space, cell->place.module);
	struct gus_name names[GUS_NAMES_MAX];
	char name[sizeof(list->v->name)];

	gus_symbols_names(profile->symbols, module, cell->place.offset, GUS_DEPTH_FUNCTION, names);
	snprintf(name, sizeof(name), "%.80s [%.40s]", names[0].function ? names[0].function : "[unknown]",
		 gus_base_name(module->path));
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i].name, name) == 0) {
			list->v[i].samples += cell->samples;
			return;
		}
	gus_vec_push(list, (struct gus_model_elsewhere){ .samples = cell->samples });
	memcpy(list->v[list->n - 1].name, name, sizeof(name));
}

static int by_samples(const void *x, const void *y)
{
	const struct gus_model_elsewhere *a = x, *b = y;

	return a->samples != b->samples ? (a->samples < b->samples ? 1 : -1) : strcmp(a->name, b->name);
}

static void take_elsewhere(struct gus_model_windows *w, struct elsewhere *list)
{
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_samples);
	w->elsewhere_n = list->n < GUS_MODEL_ELSEWHERE ? list->n : GUS_MODEL_ELSEWHERE;
	if (w->elsewhere_n)
		memcpy(w->elsewhere, list->v, w->elsewhere_n * sizeof(*w->elsewhere));
	gus_vec_free(list);
}

/* How many of the samples are at instructions that the windows have executed. */
void gus_model_count_samples(struct gus_traced *t, const char *path, struct gus_model_windows *w)
{
	struct gus_error err = { 0 };
	struct gus_symbols_options symbols = { 0 };
	struct gus_reader *reader = gus_reader_open(path, &err);
	struct gus_profile profile;
	struct elsewhere elsewhere = { 0 };

	w->sampled = gus_zalloc((t->regions.n + 1) * sizeof(*w->sampled)); /* the caller frees it */
	if (!reader && err.code == GUS_E_NOT_FOUND)
		snprintf(err.text, sizeof(err.text), "no samples could be taken of it; gusprof record -p %d says why",
			 w->process->pid);
	if (!reader || gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &symbols, gus_cli_log(0),
					&err) != 0) {
		snprintf(w->why, sizeof(w->why), "%.250s", err.text);
		gus_reader_close(reader);
		return;
	}
	for (size_t i = 0; i < profile.cells.n; i++) {
		const struct gus_cell *cell = &profile.cells.v[i];
		const struct gus_module *module = gus_space_module(profile.space, cell->place.module);

		uint32_t region = module->kind == GUS_MODULE_FILE ?
			gus_traced_region_at(t, module->path, cell->place.offset) : GUS_TRACED_NONE;

		w->samples += cell->samples;
		if (region != GUS_TRACED_NONE) {
			w->covered += cell->samples;
			w->sampled[region] += cell->samples;
		} else {
			note_elsewhere(&elsewhere, &profile, cell);
		}
	}
	take_elsewhere(w, &elsewhere);
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

static bool take_window(unsigned number, const Gusprof__Snapshot *about, const struct gus_replayed *done,
			const char *path,
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

/* What the replays are made with. */
struct tools { char *qemu, *plugin, *loader; };

static void find_tools(struct tools *tools, const struct gus_model_traced *m, uint64_t window,
		       struct gus_replay_wish *wish)
{
	*tools = (struct tools){ gus_find_command(m->emulator ? m->emulator : "qemu-x86_64"), gus_find_part("gusprof-qemu.so"),
		gus_find_part("gusprof-replay") };
	*wish = (struct gus_replay_wish){ .tools = { tools->qemu, tools->plugin, tools->loader }, .window = window,
		.native_window = window < STEPPED_MOST ? window : STEPPED_MOST };
}

static void forget_tools(struct tools *tools)
{
	free(tools->qemu);
	free(tools->plugin);
	free(tools->loader);
}

/* What there is of windows. */
static int report(struct gus_model_traced *m, struct attached *a, const char *samples, const char *input,
		  struct gus_error *err)
{
	struct gus_traced_view v = { .windows = a->windows, .input = input };
	int rc;

	*err = (struct gus_error){ 0 };
	if (gus_traced_end(a->traced, err) != 0)
		return -1;
	gus_model_count_samples(a->traced, samples, a->windows);
	rc = gus_model_traced_print(m, a->traced, &v, err);
	free(a->windows->sampled);
	return rc;
}

static int model_in(struct gus_model_traced *m, const struct gus_model_process *p, const char *folder,
		    struct gus_error *err)
{
	struct gus_model_windows windows = { .process = p };
	char *samples = gus_format("%s/samples", folder), *prefix = gus_format("%s/window", folder);
	struct gus_branch_config predictor;
	struct gus_traced t;
	struct attached a = { .traced = &t, .windows = &windows };
	struct gus_replay_process of = { .pid = p->pid, .tid = p->tid, .count = (unsigned)p->snapshots,
					.spread_ms = (unsigned)p->spread_ms,
		.max_bytes = p->max_bytes, .prefix = prefix, .each = take_window, .context = &a };
	struct tools tools;
	pid_t recorder;
	int rc;

	find_tools(&tools, m, p->window, &of.replay);
	gus_model_traced_open(m, NULL, &predictor, &t);
	recorder = start_recorder(p->pid, samples);
	wait_for_recorder(recorder, samples);
	rc = gus_replay_of_process(&of, err);
	stop_recorder(recorder);
	if (windows.taken)
		rc = report(m, &a, samples, NULL, err);
	else if (rc >= 0)
		rc = gus_fail(err, GUS_E_SYSTEM, "no window of process %d could be had: %s", p->pid, windows.first);
	gus_model_traced_close(NULL, &t);
	unlink(samples);
	forget_tools(&tools);
	free(samples);
	free(prefix);
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

/* Those of a recording, one after the other. -1 with err only if the recording cannot be read on. */
static int replay_recorded(struct gus_reader *reader, const struct gus_replay_wish *wish, const char *path,
			   struct attached *a,
			   struct gus_error *err)
{
	struct gus_snapshot s;
	int more;

	for (unsigned n = 0; (more = gus_snapshot_read(reader, &s, err)) > 0; n++) {
		struct gus_replay_wish one = *wish;
		struct gus_replayed done = { 0 };
		struct gus_error own = { 0 };

		if (s.about->window) /* as it was recorded for */
			one.window = s.about->window, one.native_window = s.about->window < STEPPED_MOST ?
				s.about->window : STEPPED_MOST;
		gus_replay_snapshot(&s, &one, path, &done, &own);
		take_window(n, s.about, &done, path, &own, a);
		gus_snapshot_free(&s);
	}
	return more;
}

int gus_model_snapshots(struct gus_model_traced *m, const struct gus_model_process *p, const char *path, bool *any,
			struct gus_error *err)
{
	struct gus_model_windows windows = { .process = p };
	struct gus_reader *reader = gus_reader_open(path, err);
	char *folder = reader ? make_folder(err) : NULL, *trace = folder ? gus_format("%s/window", folder) : NULL;
	struct gus_branch_config predictor;
	struct gus_replay_wish wish;
	struct gus_traced t;
	struct attached a = { .traced = &t, .windows = &windows };
	struct tools tools;
	int rc = -1;

	if (trace) {
		find_tools(&tools, m, p->window, &wish);
		gus_model_traced_open(m, NULL, &predictor, &t);
		rc = replay_recorded(reader, &wish, trace, &a, err);
		*any = windows.taken || windows.failed;
		if (windows.taken)
			rc = report(m, &a, path, path, err);
		else if (windows.failed)
			rc = gus_fail(err, GUS_E_SYSTEM, "no snapshot of %s could be replayed: %s", path,
				      windows.first);
		gus_model_traced_close(NULL, &t);
		forget_tools(&tools);
		rmdir(folder);
	}
	free(trace);
	free(folder);
	gus_reader_close(reader);
	return rc;
}
