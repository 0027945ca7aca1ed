/* SPDX-License-Identifier: MIT */
#include "cli/record/replay.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"
#include "base/log.h"
#include "cli/record/signals.h"
#include "collector/host/build_id.h"
#include "collector/host/procfs.h"
#include "collector/session/session.h"
#include "collector/session/visits.h"
#include "collector/snapshot/stored.h"
#include "collector/target/target.h"
#include "proto/reader.h"
#include "proto/trace.h"
#include "proto/varint.h"
#include "proto/writer.h"
#include "tracing/replay/replay.h"

/* For one window. What has been executed by then counts. */
enum { SECONDS_MOST = 1 };
/* When so much time has gone into them, none is begun: half of what the recording took, from 2 s to 10 s. */
/* So many windows are as long as was asked for, for what comes and goes slowly, such as what is in the caches. Of large
 * programs they hold a small part of the code, so further ones are short: they are for what else is executed. */
enum { LONG_WINDOWS = 16, SHORT_WINDOW = 50000 };
/* Where QEMU meets what it cannot execute (EVEX, as in a libc's string functions), a window of so many instructions is
 * one all the same. Others are stepped natively, which takes a hundred times as long where a hypervisor has part in
 * each step, so all those that QEMU can execute come first. */
enum { ENOUGH = 10000 };
/* Where steps take long, windows behind the first that is stepped are as short as this, so that there are several. */
#define STEPPED_SECONDS 0.3
#define ALL_SHARE 0.5
#define ALL_LEAST 2.0
#define ALL_MOST 10.0

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void gus_record_replay_init(struct gus_record_replay *r, const struct gus_target *target)
{
	r->created = now();
	if (target->kind != GUS_TARGET_PROCESSES)
		return;
	for (size_t i = 0; i < target->watches.n; i++) {
		struct gus_record_rights of = { .pid = (uint32_t)target->watches.v[i].id };

		gus_task_rights(target->watches.v[i].id, &of.rights);
		gus_vec_push(&r->rights, of);
	}
}

void gus_record_replay_free(struct gus_record_replay *r)
{
	gus_vec_free(&r->rights);
}

/* NULL: ours, of a command that we have begun; it may have other rights only if it cannot be looked at. */
static const struct gus_rights *rights_of(const struct gus_record_replay *r, uint32_t pid)
{
	for (size_t i = 0; i < r->rights.n; i++)
		if (r->rights.v[i].pid == pid)
			return &r->rights.v[i].rights;
	return NULL;
}

static volatile sig_atomic_t skip;

static void ask_to_skip(int number)
{
	(void)number;
	skip = 1;
}

/* Where code is from. */

/* Whether the file is still the one that was mapped; its build id, of so many bytes. */
static bool read_build_id(const Gusprof__SnapshotMapping *m, const struct gus_rights *rights, uint8_t *id,
			  size_t *size)
{
	struct stat st;
	int fd = gus_foreign_open(m->path, rights, &st, NULL);
	bool same;

	if (fd < 0)
		return false;
	same = st.st_ino == m->inode && (uint64_t)st.st_size == m->file_size &&
	       (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec == m->file_mtime_ns;
	*size = same ? gus_file_build_id(fd, id) : 0;
	close(fd);
	return same;
}

/* A mapping of code, for all blocks of the trace. Of a file that is another one by now nothing is told, as names would
 * be those of the other. */
static int write_mapping(struct gus_writer *writer, const Gusprof__SnapshotMapping *m, const struct gus_rights *rights,
			 struct gus_error *err)
{
	Gusprof__Mmap to = GUSPROF__MMAP__INIT;
	Gusprof__Record record = GUSPROF__RECORD__INIT, *records = &record;
	Gusprof__Sideband told = GUSPROF__SIDEBAND__INIT;
	uint8_t id[GUS_BUILD_ID_MAX];
	size_t size = 0;

	if (!(m->protection & PROT_EXEC) || !*m->path || (m->inode && !m->from_file))
		return 0;
	if (m->inode && !read_build_id(m, rights, id, &size))
		return 0;
	to.start = m->start;
	to.length = m->length;
	to.offset = m->offset;
	to.path = m->path;
	to.inode = m->inode;
	to.protection = m->protection;
	to.flags = m->flags;
	to.build_id = (ProtobufCBinaryData){ size, id };
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &to;
	told.records = &records;
	told.n_records = 1;
	return gus_writer_message(writer, GUS_FRAME_TRACE_SIDEBAND, &told.base, err);
}

/* Windows. */

static int write_about(struct gus_writer *writer, const struct gus_frame *frame, const Gusprof__Snapshot *of,
		       const struct gus_replayed *done, struct gus_error *err)
{
	Gusprof__Trace *about = (Gusprof__Trace *)gus_frame_message(frame, &gusprof__trace__descriptor, err);
	Gusprof__Moment moment = GUSPROF__MOMENT__INIT;
	int rc;

	if (!about)
		return -1;
	moment.pid = of->pid;
	moment.tid = of->tid;
	moment.time = of->time;
	moment.pause_ns = of->pause_ns;
	moment.bytes = of->bytes;
	moment.late = of->late;
	moment.old = of->old;
	moment.resident = of->resident;
	moment.native = done->how == GUS_REPLAY_NATIVE;
	about->moment = &moment;
	about->pid = of->pid;
	rc = gus_writer_message(writer, GUS_FRAME_TRACE, &about->base, err);
	about->moment = NULL;
	gusprof__trace__free_unpacked(about, NULL);
	return rc;
}

/* Its own mappings are those of the emulator's process, which nobody asks for. */
static int copy_trace(struct gus_reader *from, struct gus_writer *writer, const Gusprof__Snapshot *of,
		      const struct gus_replayed *done, const struct gus_rights *rights, struct gus_error *err)
{
	const uint32_t types = 1u << GUS_FRAME_TRACE | 1u << GUS_FRAME_TRACE_BLOCKS | 1u << GUS_FRAME_TRACE_STEPS |
		1u << GUS_FRAME_TRACE_TOTAL;
	struct gus_frame frame;
	enum gus_read got;
	int rc = 0;

	while (rc == 0 && (got = gus_reader_next_of(from, types, &frame, err)) == GUS_READ_FRAME) {
		struct gus_bytes payload = { (uint8_t *)(uintptr_t)frame.payload, frame.size, frame.size };

		if (frame.type != GUS_FRAME_TRACE) {
			rc = gus_writer_payload(writer, frame.type, &payload, err);
			continue;
		}
		rc = write_about(writer, &frame, of, done, err);
		for (size_t i = 0; rc == 0 && i < of->n_mappings; i++)
			rc = write_mapping(writer, of->mappings[i], rights, err);
	}
	return rc != 0 || got != GUS_READ_END ? -1 : 0;
}

static void note_failure(struct gus_record_replay *r, const struct gus_error *why)
{
	if (!r->failed++)
		snprintf(r->why, sizeof(r->why), "%.255s", why->text);
}

static bool is_too_large(const struct gus_record_replay *r, const char *path, const struct gus_writer *writer)
{
	struct stat st;

	return r->max_size && stat(path, &st) == 0 && gus_writer_size(writer) + (uint64_t)st.st_size > r->max_size;
}

/* Code that windows have executed is shown, and wants its names, also where no sample was. */
static void note_code(struct gus_visits *visits, const Gusprof__Snapshot *of, const char *path)
{
	struct gus_trace *trace = gus_trace_open(path, NULL);
	struct gus_trace_step step;

	if (!trace)
		return;
	while (gus_trace_next(trace, &step, NULL) > 0)
		;
	for (uint32_t i = 0; i < gus_trace_blocks(trace); i++)
		gus_visits_add(visits, of->pid, gus_trace_block(trace, i).address, of->time);
	gus_trace_close(trace);
}

static int write_window(struct gus_record_replay *r, struct gus_writer *writer, const struct gus_snapshot *of,
			const struct gus_replayed *done, const struct gus_rights *rights, const char *path,
			struct gus_error *err)
{
	struct gus_error why = { 0 };
	struct gus_reader *trace = gus_reader_open(path, &why);
	int rc = 0;

	if (!trace) {
		note_failure(r, &why);
		return 0;
	}
	if (is_too_large(r, path, writer)) {
		r->full = true;
	} else {
		rc = copy_trace(trace, writer, of->about, done, rights, err);
		if (rc == 0)
			note_code(r->visits, of->about, path);
		r->windows += rc == 0;
	}
	gus_reader_close(trace);
	return rc;
}

/* A snapshot, and how long its window shall be. */
struct job { struct gus_stored *stored; uint64_t window; bool stepped; };
struct jobs gus_vec(struct job);

/* What all of them need. later: those that are to be stepped. */
struct taking {
	struct gus_record_replay *r;
	struct gus_writer *writer;
	struct gus_replay_tools tools;
	int trace;                      /* a file for one's trace */
	struct jobs jobs, later;
	double wasted;                  /* seconds, on those that were put off */
	double step_seconds;            /* as steps of the last one have taken; 0: there was none */
};

static bool is_cut_short(const struct gus_replayed *done, const struct gus_replay_wish *wish)
{
	return done->how == GUS_REPLAY_QEMU && strcmp(done->ended_by, "signal") == 0 && done->ended_number == SIGILL &&
		done->instructions < ENOUGH && done->instructions < wish->native_window;
}

/* In instructions. */
static uint64_t stepped_window(const struct taking *t, uint64_t window)
{
	uint64_t most = window < GUS_REPLAY_STEPPED_MOST ? window : GUS_REPLAY_STEPPED_MOST, quick;

	if (t->step_seconds <= 0)
		return most;
	quick = STEPPED_SECONDS / t->step_seconds < ENOUGH ? ENOUGH : (uint64_t)(STEPPED_SECONDS / t->step_seconds);
	return most < quick ? most : quick;
}

static void put_off(struct taking *t, const struct job *job, double seconds, const char *why)
{
	t->wasted += seconds;
	gus_log(t->r->log, GUS_DEBUG, "a window is put off, to be stepped: %s", why);
	gus_vec_push(&t->later, *job);
}

static int replay(struct taking *t, const struct job *job, struct gus_error *err)
{
	const struct gus_snapshot *of = &job->stored->snapshot;
	struct gus_replay_wish wish = { .tools = t->tools, .window = job->window, .seconds = SECONDS_MOST,
		.rights = rights_of(t->r, of->about->pid),
		.native_window = stepped_window(t, job->window),
		.how = job->stepped ? GUS_REPLAY_NATIVE : GUS_REPLAY_QEMU };
	struct gus_error why = { 0 };
	struct gus_replayed done;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->trace);
	if (ftruncate(t->trace, 0) != 0 || lseek(t->trace, 0, SEEK_SET) != 0)
		return gus_fail_errno(err, errno, "cannot empty the trace of a window");
	if (gus_replay_snapshot(of, &wish, t->trace, &done, &why) != 0) {
		if (job->stepped)
			note_failure(t->r, &why);
		else
			put_off(t, job, done.seconds, why.text);
		return 0;
	}
	if (is_cut_short(&done, &wish)) {
		put_off(t, job, done.seconds, "QEMU cannot execute an instruction that comes soon");
		return 0;
	}
	if (job->stepped && done.instructions)
		t->step_seconds = done.seconds / (double)done.instructions;
	gus_log(t->r->log, GUS_DEBUG, "a window of %llu instructions, ended by %s %llu at %#llx, in %.2f s%s",
		(unsigned long long)done.instructions, done.ended_by, (unsigned long long)done.ended_number,
		(unsigned long long)done.ended_at, done.seconds, job->stepped ? ", by single steps" : "");
	return write_window(t->r, t->writer, of, &done, wish.rights, path, err);
}

static int take_one(struct taking *t, const struct job *job, struct gus_error *err)
{
	struct gus_record_replay *r = t->r;
	struct gus_stored *stored = job->stored;
	struct gus_error why = { 0 };
	int rc = 0;

	if (gus_stored_open(stored, &why) != 0) {
		note_failure(r, &why);
	} else if (!r->keep_memory) {
		rc = replay(t, job, err);
	} else if (r->max_size && gus_writer_size(t->writer) + stored->snapshot.about->bytes > r->max_size) {
		r->full = true;
	} else {
		rc = gus_snapshot_write(t->writer, &stored->snapshot, err);
		r->windows += rc == 0;
	}
	gus_stored_close(stored);
	return rc;
}

/* Each second one, then each second one of those between, and so on: so those that there is no time for are even over
 * the recording. */
struct order gus_vec(unsigned);

static void make_order(struct order *order, unsigned n)
{
	unsigned step = 1;

	while (step < n)
		step *= 2;
	for (unsigned first = 0; step && order->n < n; step /= 2) {
		for (unsigned i = first; i < n; i += first ? 2 * first : step)
			gus_vec_push(order, i);
		first = step / 2;
	}
}

static double seconds_most(const struct gus_record_replay *r)
{
	double most = ALL_SHARE * (r->begun - r->created);

	return most < ALL_LEAST ? ALL_LEAST : most > ALL_MOST ? ALL_MOST : most;
}

static bool is_late(struct gus_record_replay *r)
{
	r->late |= now() - r->begun > seconds_most(r) && !r->keep_memory;
	return r->late;
}

/* Where QEMU can execute little or nothing of a program, half of the time is for steps. */
static bool is_wasted(const struct taking *t)
{
	return t->wasted > seconds_most(t->r) / 2;
}

static int take_jobs(struct taking *t, const struct jobs *jobs, struct gus_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < jobs->n && !skip && !is_late(t->r); i++) {
		if (!jobs->v[i].stepped && is_wasted(t))
			gus_vec_push(&t->later, jobs->v[i]);
		else
			rc = take_one(t, &jobs->v[i], err);
	}
	return rc;
}

static int take_all(struct gus_record_replay *r, struct gus_writer *writer, const struct gus_session_result *result,
		    struct gus_error *err)
{
	struct taking t = { .r = r, .writer = writer };
	struct gus_error why = { 0 };
	struct order order = { 0 };
	int rc = 0;

	t.trace = gus_scratch_open("the trace of a window", &why);
	make_order(&order, result->snapshots);
	gus_replay_tools_find(&t.tools, NULL);
	for (unsigned i = 0; i < order.n; i++)
		gus_vec_push(&t.jobs, (struct job){ &result->kept[order.v[i]], i < LONG_WINDOWS ||
			     r->window < SHORT_WINDOW ? r->window : SHORT_WINDOW, !t.tools.qemu || !t.tools.plugin });
	if (t.trace < 0 || (!r->keep_memory && gus_replay_tools_check(&t.tools, &why) != 0))
		note_failure(r, &why);
	else
		rc = take_jobs(&t, &t.jobs, err);
	for (size_t i = 0; i < t.later.n; i++)
		t.later.v[i].stepped = true;
	if (rc == 0 && t.later.n)
		rc = take_jobs(&t, &t.later, err);
	gus_replay_tools_free(&t.tools);
	gus_vec_free(&t.jobs);
	gus_vec_free(&t.later);
	gus_vec_free(&order);
	if (t.trace >= 0)
		close(t.trace);
	return rc;
}

int gus_record_replay(void *context, struct gus_writer *writer, const struct gus_session_result *result,
		      struct gus_error *err)
{
	struct gus_record_replay *r = context;
	struct gus_record_signals met;
	int rc;

	if (!result->snapshots || result->ended_by == GUS_ENDED_MAX_SIZE)
		return 0;
	r->begun = now();
	r->visits = result->visits;
	skip = 0;
	gus_record_signals_begin(&met, ask_to_skip);
	rc = take_all(r, writer, result, err);
	r->skipped = skip;
	gus_record_signals_end(&met);
	r->seconds = now() - r->begun;
	return rc;
}

/* Words. */

/* Why there were none, and what would give some. */
static void summarise_none(const struct gus_record_replay *r, const struct gus_session_options *so,
			   const struct gus_session_result *result)
{
	const struct gus_session_no_snapshot *none = &result->no_snapshot;
	const char *what = r->keep_memory ? "snapshots" : "windows";

	if (r->failed)
		gus_log(so->log, GUS_NOTE, "[ 0 windows of what it did: no snapshot could be replayed; of the first: "
			"%s ]", r->why);
	else if (r->skipped)
		gus_log(so->log, GUS_NOTE, "[ 0 windows of what it did: you have skipped their replay ]");
	else if (none->failed)
		gus_log(so->log, GUS_NOTE, "[ 0 %s of what it did: %u tr%s failed, the last one because: %s ]", what,
			none->failed, none->failed == 1 ? "y" : "ies", none->why);
	else if (r->late)
		gus_log(so->log, GUS_NOTE, "[ 0 windows of what it did: their replay would have taken too long ]");
	else if (result->snapshots)
		gus_log(so->log, GUS_NOTE, "[ 0 %s of what it did: the file is as large as --max-size allows ]", what);
	else if (so->trace_asked)
		gus_log(so->log, GUS_NOTE, "[ 0 %s of what it did: it ended before the first one was due, a tenth of "
			"a second after the beginning; record for longer ]", what);
}

void gus_record_replay_summarise(const struct gus_record_replay *r, const struct gus_session_options *so,
				 const struct gus_session_result *result)
{
	char instructions[48] = "", replayed[48] = "", more[320] = "";

	if (!r->windows) {
		summarise_none(r, so, result);
		return;
	}
	if (!r->keep_memory) {
		snprintf(instructions, sizeof(instructions), ", of up to %llu instructions",
			 (unsigned long long)r->window);
		snprintf(replayed, sizeof(replayed), ", and replaying %.1f s", r->seconds);
	}
	if (r->failed)
		snprintf(more, sizeof(more), "; %u more could not be replayed, the first because: %.200s", r->failed,
			 r->why);
	else if (r->skipped || r->full || r->late)
		snprintf(more, sizeof(more), "; %u more %s", result->snapshots - r->windows, r->skipped ?
			 "were skipped" : r->full ? "have no room in --max-size" : "would have taken too long");
	gus_log(so->log, GUS_NOTE, "[ %u %s%s of what it did%s: it stood still for %.1f ms in all, %.1f ms at most; "
		"copying memory took %.2f s of this program's CPU time%s%s ]", r->windows,
		r->keep_memory ? "snapshot" : "window", r->windows == 1 ? "" : "s", instructions,
		(double)result->paused_ns / 1e6, (double)result->pause_most_ns / 1e6,
		(double)result->snapshots_own_ns / 1e9, replayed, more);
}
