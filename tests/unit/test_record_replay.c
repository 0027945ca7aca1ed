/* SPDX-License-Identifier: MIT */
/* cli/record/replay: which snapshots of a recording become windows, in which order, how long and by which way, what of
 * them is written, and what is said of it. Replaying, the memory of snapshots, signals and the clock are the test's. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/record/replay.h"
#include "cli/record/signals.h"
#include "collector/session/session.h"
#include "collector/session/visits.h"
#include "collector/snapshot/stored.h"
#include "collector/target/target.h"
#include "proto/reader.h"
#include "proto/trace.h"
#include "proto/writer.h"
#include "tests/unit/made_folder.h"
#include "tests/unit/made_snapshot.h"
#include "tracing/replay/replay.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, made_folder_leave)
enum { MOST = 20, CODE = 0x400000 };

/* What replays of a thread's snapshot come to: under the emulator, and by steps. */
struct outcome {
	enum gus_code fails;
	const char *ended_by;           /* NULL: "window" */
	uint64_t number, instructions;  /* instructions 0: as many as were wished for */
	double seconds;
};

/* A call of gus_replay_snapshot. */
struct call { uint32_t tid; enum gus_replay_how how; uint64_t window, native_window; bool rights; };

static struct {
	double now;
	struct outcome qemu[MOST], steps[MOST];         /* by thread */
	bool lost[MOST], cut[MOST];                     /* its memory cannot be had; its trace ends early */
	struct call calls[2 * MOST];
	unsigned calls_n, interrupted;                  /* interrupted: in this call, from 1, a signal comes */
	bool no_tools, no_qemu, no_plugin, open;
	void (*meet)(int number);
	char said[512];
} world;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_gus_stored_open(struct gus_stored *stored, struct gus_error *err);
void __wrap_gus_stored_close(struct gus_stored *stored);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	*t = (struct timespec){ (time_t)world.now, (long)((world.now - (double)(time_t)world.now) * 1e9) };
	return 0;
}

int __wrap_gus_stored_open(struct gus_stored *stored, struct gus_error *err)
{
	assert_false(world.open);
	world.open = true;
	return world.lost[stored->snapshot.about->tid] ? gus_fail(err, GUS_E_SYSTEM, "its memory is lost") : 0;
}

void __wrap_gus_stored_close(struct gus_stored *stored)
{
	(void)stored;
	assert_true(world.open);
	world.open = false;
}

void gus_record_signals_begin(struct gus_record_signals *m, void (*meet)(int number))
{
	(void)m;
	world.meet = meet;
}

void gus_record_signals_end(const struct gus_record_signals *m)
{
	(void)m;
	world.meet = NULL;
}

void gus_replay_tools_find(struct gus_replay_tools *tools, const char *emulator)
{
	static char tool[] = "tool";

	assert_null(emulator);
	*tools = (struct gus_replay_tools){ world.no_qemu ? NULL : tool, world.no_plugin ? NULL : tool, tool };
}

int gus_replay_tools_check(const struct gus_replay_tools *tools, struct gus_error *err)
{
	(void)tools;
	return world.no_tools ? gus_fail(err, GUS_E_SYSTEM, "there is no loader") : 0;
}

void gus_replay_tools_free(struct gus_replay_tools *tools)
{
	(void)tools;
}

/* A trace of one block, which lies where the thread's number says. */
static void write_trace(int out, uint32_t tid)
{
	static const uint8_t code[] = { 0x90 }, length[] = { 1 };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Trace about = GUSPROF__TRACE__INIT;
	Gusprof__TraceTotal total = GUSPROF__TRACE_TOTAL__INIT;
	const struct gus_trace_block block = { CODE + 0x100 * tid, length, code, 1, 1 };
	struct gus_trace_raw step = { 0 };
	struct gus_trace_writer *w;

	about.front_end = (char *)(uintptr_t)"test";
	about.target = (char *)(uintptr_t)"x86_64";
	w = gus_trace_writer_create_fd(dup(out), &header, &about, NULL);
	assert_non_null(w);
	assert_int_equal(gus_trace_writer_block(w, &block, &step.block, NULL), 0);
	assert_int_equal(gus_trace_writer_steps(w, &(struct gus_trace_run){ .steps = &step, .n = 1 }, NULL), 0);
	assert_int_equal(gus_trace_writer_finish(w, &total, NULL), 0);
}

int gus_replay_snapshot(const struct gus_snapshot *s, const struct gus_replay_wish *wish, int out,
			struct gus_replayed *done, struct gus_error *err)
{
	const uint32_t tid = s->about->tid;
	const struct outcome *o = wish->how == GUS_REPLAY_NATIVE ? &world.steps[tid] : &world.qemu[tid];
	struct stat st;

	assert_true(world.open && fstat(out, &st) == 0 && st.st_size == 0 && lseek(out, 0, SEEK_CUR) == 0);
	world.calls[world.calls_n++] = (struct call){ tid, wish->how, wish->window, wish->native_window,
		wish->rights != NULL };
	if (world.calls_n == world.interrupted)
		world.meet(SIGINT);
	world.now += o->seconds;
	*done = (struct gus_replayed){ .how = wish->how, .instructions = o->instructions ? o->instructions :
		wish->window, .ended_number = o->number, .seconds = o->seconds };
	strcpy(done->ended_by, o->ended_by ? o->ended_by : "window");
	if (o->fails)
		return gus_fail(err, o->fails, "thread %u does not do", tid);
	write_trace(out, tid);
	if (world.cut[tid])
		assert_true(fstat(out, &st) == 0 && ftruncate(out, st.st_size / 2) == 0);
	return 0;
}

static int enter(void **state)
{
	memset(&world, 0, sizeof(world));
	world.now = 100;
	return made_folder_enter(state);
}


static void emit(enum gus_level level, const char *text, void *context)
{
	(void)context;
	if (level == GUS_NOTE)
		snprintf(world.said, sizeof(world.said), "%s", text);
}

static const struct gus_log log_to = { GUS_NOTE, emit, NULL };

/* Snapshots of threads 0, 1, ..., in a recording that began a second ago. */
struct taken {
	struct gus_record_replay r;
	struct gus_session_result result;
	struct gus_stored stored[MOST];
	struct gus_visits visits;
};

static void begin(struct taken *t, unsigned n)
{
	*t = (struct taken){ .r = { .window = 100000, .created = world.now - 1, .log = &log_to } };
	t->result = (struct gus_session_result){ .snapshots = n, .kept = t->stored, .visits = &t->visits };
	gus_visits_init(&t->visits);
	for (unsigned i = 0; i < n; i++)
		t->stored[i].snapshot = made_snapshot(i);
}

/* The number that the next file gets, which says whether one was left open. */
static int next_file(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void replay(struct taken *t)
{
	const int next = next_file();
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_writer *w = gus_writer_create("t", &header, NULL);
	struct gus_error err = { 0 };

	assert_non_null(w);
	if (gus_record_replay(&t->r, w, &t->result, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(gus_writer_finish(w, &footer, NULL), 0);
	assert_null(world.meet);
	assert_int_equal(next_file(), next);
	gus_record_replay_summarise(&t->r, &(struct gus_session_options){ .log = &log_to }, &t->result);
}

static void end(struct taken *t)
{
	for (unsigned i = 0; i < t->result.snapshots; i++)
		gus_snapshot_free(&t->stored[i].snapshot);
	gus_visits_free(&t->visits);
	gus_record_replay_free(&t->r);
}

static unsigned frames(enum gus_frame_type type)
{
	struct gus_reader *reader = gus_reader_open("t", NULL);
	struct gus_frame frame;
	unsigned n = 0;

	assert_non_null(reader);
	while (gus_reader_next_of(reader, 1u << type, &frame, NULL) == GUS_READ_FRAME)
		n++;
	gus_reader_close(reader);
	return n;
}

/* Each second one of what is left, so that where time ends they are even over the recording. */
static void windows_are_even_over_the_time(void **state)
{
	static const struct { unsigned n; uint32_t order[8]; } cases[] = {
		{ 1, { 0 } }, { 2, { 0, 1 } }, { 3, { 0, 2, 1 } }, { 5, { 0, 4, 2, 1, 3 } },
		{ 8, { 0, 4, 2, 6, 1, 3, 5, 7 } },
	};

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		struct taken t;

		begin(&t, cases[c].n);
		world.calls_n = 0;
		replay(&t);
		assert_int_equal(world.calls_n, cases[c].n);
		assert_int_equal(t.r.windows, cases[c].n);
		assert_int_equal(t.r.failed, 0);
		assert_int_equal(frames(GUS_FRAME_TRACE), cases[c].n);
		assert_int_equal(frames(GUS_FRAME_TRACE_STEPS), cases[c].n);
		assert_int_equal(frames(GUS_FRAME_TRACE_TOTAL), cases[c].n);
		for (unsigned i = 0; i < cases[c].n; i++)
			assert_int_equal(world.calls[i].tid, cases[c].order[i]);
		end(&t);
	}
}

/* Sixteen as long as was asked for, and shorter ones behind, unless those were short. */
static void the_first_windows_are_long(void **state)
{
	static const struct { uint64_t window, later; } cases[] = {
		{ 100000, 50000 }, { 50001, 50000 }, { 50000, 50000 }, { 49999, 49999 } };

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		struct taken t;

		begin(&t, 18);
		world.calls_n = 0;
		t.r.window = cases[c].window;
		replay(&t);
		assert_int_equal(world.calls_n, 18);
		for (unsigned i = 0; i < 18; i++) {
			assert_int_equal(world.calls[i].window, i < 16 ? cases[c].window : cases[c].later);
			assert_int_equal(world.calls[i].how, GUS_REPLAY_QEMU);
		}
		end(&t);
	}
}

/* The emulator fails on threads 0 and 3, and soon meets what it cannot execute on 1; 2 ends otherwise, and of 4 enough
 * is had. Those three are stepped when all others are done. One of them does not do that way either. */
static void what_the_emulator_cannot_is_stepped_later(void **state)
{
	static const struct { uint32_t tid; enum gus_replay_how how; } calls[] = {
		{ 0, GUS_REPLAY_QEMU }, { 4, GUS_REPLAY_QEMU }, { 2, GUS_REPLAY_QEMU }, { 1, GUS_REPLAY_QEMU },
		{ 3, GUS_REPLAY_QEMU }, { 0, GUS_REPLAY_NATIVE }, { 1, GUS_REPLAY_NATIVE }, { 3, GUS_REPLAY_NATIVE },
	};
	struct taken t;

	(void)state;
	world.qemu[0].fails = world.qemu[3].fails = world.steps[3].fails = GUS_E_SYSTEM;
	world.qemu[1] = (struct outcome){ .ended_by = "signal", .number = SIGILL, .instructions = 9999 };
	world.qemu[2] = (struct outcome){ .ended_by = "signal", .number = SIGSEGV, .instructions = 5 };
	world.qemu[4] = (struct outcome){ .ended_by = "signal", .number = SIGILL, .instructions = 10000 };
	begin(&t, 5);
	replay(&t);
	assert_int_equal(world.calls_n, COUNT(calls));
	for (size_t i = 0; i < COUNT(calls); i++) {
		assert_int_equal(world.calls[i].tid, calls[i].tid);
		assert_int_equal(world.calls[i].how, calls[i].how);
	}
	assert_int_equal(t.r.windows, 4);
	assert_int_equal(t.r.failed, 1);
	assert_string_equal(t.r.why, "thread 3 does not do");
	end(&t);
}

/* Of short windows as many instructions are enough as would be stepped, and a system call of that number is no signal;
 * by steps a signal ends it as any does. */
static void what_is_soon_is_less_than_would_be_stepped(void **state)
{
	static const struct { uint64_t instructions; const char *ended_by; bool stepped; } cases[] = {
		{ 600, "signal", false }, { 599, "signal", true }, { 599, "syscall", false } };

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		struct taken t;

		world.qemu[0] = (struct outcome){ .ended_by = cases[c].ended_by, .number = SIGILL,
			.instructions = cases[c].instructions };
		world.steps[0] = world.qemu[0];
		begin(&t, 1);
		t.r.window = 600;
		world.calls_n = 0;
		replay(&t);
		assert_int_equal(world.calls_n, cases[c].stepped ? 2 : 1);
		assert_int_equal(t.r.windows, 1);
		end(&t);
	}
}

/* Without the emulator, or its plugin, all are stepped: the first as long as windows are or 200000, and the next as
 * many as fit in 0.3 s by then, 10000 at least. */
static void windows_by_steps_are_short(void **state)
{
	static const struct { uint64_t window; double seconds; uint64_t first, second; } cases[] = {
		{ 300000, 0, 200000, 200000 },          /* no time at all */
		{ 50000, 0.5, 50000, 30000 },           /* 10 us each */
		{ 50000, 0.25, 50000, 50000 },          /* 5 us: 60000 would fit */
		{ 50000, 5, 50000, 10000 },             /* 100 us: 3000 would */
		{ 5000, 5, 5000, 5000 },
	};

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		struct taken t;

		begin(&t, 2);
		t.r.created = world.now - 60;
		t.r.window = cases[c].window;
		world.no_qemu = c % 2;
		world.no_plugin = !world.no_qemu;
		world.calls_n = 0;
		world.steps[0] = (struct outcome){ .seconds = cases[c].seconds, .instructions = cases[c].first };
		replay(&t);
		assert_int_equal(world.calls_n, 2);
		for (int i = 0; i < 2; i++)
			assert_int_equal(world.calls[i].how, GUS_REPLAY_NATIVE);
		assert_in_range(world.calls[0].native_window, cases[c].first, cases[c].first);
		assert_in_range(world.calls[1].native_window, cases[c].second - 1, cases[c].second + 1);
		end(&t);
	}
}

/* A window takes 1 s. They may take half of what the recording took, from 2 s to 10 s; one that has begun by then is
 * ended. */
static void windows_take_half_of_the_time(void **state)
{
	static const struct { double recorded; unsigned windows; } cases[] = {
		{ 1, 3 }, { 4, 3 }, { 12, 7 }, { 60, 11 } };

	(void)state;
	for (unsigned i = 0; i < MOST; i++)
		world.qemu[i].seconds = 1;
	for (size_t c = 0; c < COUNT(cases); c++) {
		char said[128];
		struct taken t;

		begin(&t, MOST);
		t.r.created = world.now - cases[c].recorded;
		replay(&t);
		assert_int_equal(t.r.windows, cases[c].windows);
		assert_true(t.r.late && !t.r.skipped && !t.r.full);
		snprintf(said, sizeof(said), "replaying %u.0 s; %u more would have taken too long ]",
			 cases[c].windows, MOST - cases[c].windows);
		assert_non_null(strstr(world.said, said));
		end(&t);
	}
}

/* The emulator fails on all, in 0.6 s each: when half of the 2 s have gone into that, the rest is stepped. */
static void half_of_the_time_is_for_steps(void **state)
{
	struct taken t;

	(void)state;
	for (unsigned i = 0; i < MOST; i++)
		world.qemu[i] = (struct outcome){ .fails = GUS_E_SYSTEM, .seconds = 0.6 };
	for (unsigned i = 0; i < MOST; i++)
		world.steps[i].seconds = 0.5;
	begin(&t, 8);
	replay(&t);
	assert_int_equal(world.calls_n, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(world.calls[i].how, i < 2 ? GUS_REPLAY_QEMU : GUS_REPLAY_NATIVE);
	assert_int_equal(t.r.windows, 2);
	assert_true(t.r.late);
	end(&t);
}

/* The window at which the signal comes is the last. */
static void a_signal_skips_the_rest(void **state)
{
	struct taken t;

	(void)state;
	world.interrupted = 2;
	begin(&t, 5);
	replay(&t);
	assert_int_equal(t.r.windows, 2);
	assert_true(t.r.skipped);
	assert_non_null(strstr(world.said, "; 3 more were skipped ]"));
	world.interrupted = 0;  /* the next recording is another one */
	t.r.windows = world.calls_n = 0;
	replay(&t);
	assert_int_equal(t.r.windows, 5);
	assert_false(t.r.skipped);
	end(&t);
}

/* The file has room for all, or for none, to the byte; and of snapshots likewise, whose memory is a page. */
static void the_file_has_a_limit(void **state)
{
	uint64_t sizes[2][2];           /* before and behind */

	(void)state;
	for (int keep = 0; keep < 2; keep++)
		for (int room = 2; room >= 0; room--) {
			struct stat st;
			struct taken t;

			begin(&t, 1);
			made_snapshot_map(&t.stored[0].snapshot, 0x1000, 1, "");
			made_snapshot_run(&t.stored[0].snapshot, 0x1000, 1);
			t.r.keep_memory = keep;
			t.r.max_size = room == 2 ? 1 << 30 : sizes[keep][room];
			replay(&t);
			assert_int_equal(t.r.windows, room > 0);
			assert_int_equal(t.r.full, room == 0);
			assert_int_equal(stat("t", &st), 0);
			/* What it is held against: what the file has, and memory or the trace's file. */
			if (room == 2) {
				struct gus_writer *w;
				Gusprof__Header header = GUSPROF__HEADER__INIT;
				int trace = memfd_create("trace", 0);

				w = gus_writer_create("t", &header, NULL);
				write_trace(trace, 0);
				assert_int_equal(fstat(trace, &st), 0);
				sizes[keep][1] = gus_writer_size(w) + (keep ? GUS_SNAPSHOT_PAGE : (uint64_t)st.st_size);
				sizes[keep][0] = sizes[keep][1] - 1;
				gus_writer_abandon(w);
				close(trace);
			}
			end(&t);
		}
}

/* Where their memory is kept they are not replayed, which takes no time and no tools. */
static void snapshots_are_kept_instead(void **state)
{
	struct taken t;

	(void)state;
	world.no_tools = true;
	begin(&t, 3);
	t.r.keep_memory = true;
	t.r.created = t.r.begun = -1000;
	replay(&t);
	assert_int_equal(world.calls_n, 0);
	assert_int_equal(frames(GUS_FRAME_SNAPSHOT), 3);
	assert_int_equal(frames(GUS_FRAME_TRACE), 0);
	assert_int_equal(t.r.windows, 3);
	assert_false(t.r.late);
	end(&t);
}

/* Nothing is tried without tools; nor where there is nothing, or the file was full before. A snapshot whose memory
 * cannot be had fails alone. */
static void there_may_be_no_windows(void **state)
{
	struct taken t;

	(void)state;
	world.no_tools = true;
	begin(&t, 2);
	replay(&t);
	assert_true(t.r.windows == 0 && t.r.failed == 1);
	assert_string_equal(t.r.why, "there is no loader");
	world.no_tools = false;
	t.r.failed = 0;
	t.result.ended_by = GUS_ENDED_MAX_SIZE;
	replay(&t);
	t.result.ended_by = GUS_ENDED_EXIT;
	t.result.snapshots = 0;
	replay(&t);
	assert_true(t.r.windows == 0 && t.r.failed == 0 && world.calls_n == 0);
	t.result.snapshots = 2;
	world.lost[0] = true;
	replay(&t);
	assert_true(t.r.windows == 1 && t.r.failed == 1);
	assert_string_equal(t.r.why, "its memory is lost");
	end(&t);
}

/* Whoever replays it says that a trace is whole: one that is not ends it all, with the reader's words. */
static void a_trace_that_is_cut_is_an_error(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	struct gus_writer *w = gus_writer_create("t", &header, NULL);
	struct gus_error err = { 0 };
	struct taken t;

	(void)state;
	world.cut[0] = true;
	begin(&t, 3);
	assert_int_equal(gus_record_replay(&t.r, w, &t.result, &err), -1);
	assert_int_equal(err.code, GUS_E_TRUNCATED);
	assert_int_equal(world.calls_n, 1);
	assert_int_equal(t.r.windows, 0);
	gus_writer_abandon(w);
	end(&t);
}

/* Of a file, which st is of (NULL: of none); off: which of what is known of it is not so. */
enum off { SAME, INODE, SIZE, TIME, UNKNOWN };

static void mapping_of(struct gus_snapshot *s, uint64_t start, const char *path, const struct stat *st, int protection,
		       enum off off)
{
	Gusprof__SnapshotMapping *m;

	made_snapshot_map(s, start, 1, path);
	m = s->about->mappings[s->about->n_mappings - 1];
	m->protection = (uint32_t)protection;
	m->flags = MAP_PRIVATE;
	m->offset = start / 2;
	m->from_file = st && off != UNKNOWN;
	if (!st)
		return;
	m->inode = st->st_ino + (off == INODE);
	m->file_size = (uint64_t)st->st_size + (off == SIZE);
	m->file_mtime_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec + (off == TIME);
}

static void expect_mappings(const char *program)
{
	static const uint64_t starts[] = { 0x1000, 0x9000 };
	struct gus_reader *reader = gus_reader_open("t", NULL);
	struct gus_frame frame;
	size_t n = 0;

	for (; gus_reader_next_of(reader, 1u << GUS_FRAME_TRACE_SIDEBAND, &frame, NULL) == GUS_READ_FRAME; n++) {
		Gusprof__Sideband *told =
			(Gusprof__Sideband *)gus_frame_message(&frame, &gusprof__sideband__descriptor, NULL);
		const Gusprof__Mmap *m = told->records[0]->mmap;

		assert_true(n < COUNT(starts) && told->n_records == 1);
		assert_int_equal(m->start, starts[n]);
		assert_int_equal(m->length, GUS_SNAPSHOT_PAGE);
		assert_int_equal(m->offset, starts[n] / 2);
		assert_string_equal(m->path, n ? "[vdso]" : program);
		assert_int_equal(m->inode != 0, n == 0);
		assert_int_equal(m->build_id.len != 0, n == 0);
		assert_int_equal(m->protection, PROT_READ | PROT_EXEC);
		assert_int_equal(m->flags, MAP_PRIVATE);
		gusprof__sideband__free_unpacked(told, NULL);
	}
	assert_int_equal(n, COUNT(starts));
	gus_reader_close(reader);
}

/* Mappings of code, of which this test's file is one, are told as long as the file is the one that was mapped. */
static void code_is_told_of_files_that_are_the_same(void **state)
{
	const int code = PROT_READ | PROT_EXEC;
	char program[256] = "";
	struct gus_snapshot *s;
	struct stat st;
	struct taken t;

	(void)state;
	assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0 && stat(program, &st) == 0);
	begin(&t, 1);
	s = &t.stored[0].snapshot;
	mapping_of(s, 0x1000, program, &st, code, SAME);
	mapping_of(s, 0x2000, program, &st, PROT_READ, SAME);
	mapping_of(s, 0x3000, program, &st, code, INODE);
	mapping_of(s, 0x4000, program, &st, code, SIZE);
	mapping_of(s, 0x5000, program, &st, code, TIME);
	mapping_of(s, 0x6000, program, &st, code, UNKNOWN);
	mapping_of(s, 0x7000, "/nowhere/at/all", &st, code, SAME);
	mapping_of(s, 0x8000, "", NULL, code, SAME);
	mapping_of(s, 0x9000, "[vdso]", NULL, code, SAME);
	replay(&t);
	expect_mappings(program);
	end(&t);
}

/* What the snapshot says is of the window; its code has been visited then. */
static void a_window_is_of_a_moment(void **state)
{
	(void)state;
	for (int native = 0; native < 2; native++) {
		const struct gus_visit_place place = { CODE, 7, 0 };
		Gusprof__Snapshot *of;
		struct gus_reader *reader;
		struct gus_frame frame;
		Gusprof__Trace *about;
		const Gusprof__Moment *m;
		struct taken t;

		world.no_qemu = native;
		begin(&t, 1);
		of = t.stored[0].snapshot.about;
		of->pid = 7;
		of->time = 1234;
		of->pause_ns = 55;
		of->bytes = 66;
		of->late = 6;
		of->old = 5;
		of->resident = 88;
		replay(&t);
		reader = gus_reader_open("t", NULL);
		assert_int_equal(gus_reader_next_of(reader, 1u << GUS_FRAME_TRACE, &frame, NULL), GUS_READ_FRAME);
		about = (Gusprof__Trace *)gus_frame_message(&frame, &gusprof__trace__descriptor, NULL);
		m = about->moment;
		assert_true(about->pid == 7 && m->pid == 7 && m->tid == 0 && m->time == 1234 && m->pause_ns == 55);
		assert_true(m->bytes == 66 && m->late == 6 && m->old == 5 && m->resident == 88);
		assert_int_equal(m->native, native);
		assert_string_equal(about->front_end, "test");
		gusprof__trace__free_unpacked(about, NULL);
		gus_reader_close(reader);
		assert_int_equal(t.visits.list.n, 1);
		assert_int_equal(gus_index_find(&t.visits.places, &place), 0);
		assert_int_equal(t.visits.list.v[0].first, 1234);
		end(&t);
	}
}

/* Files are opened with the rights of processes that were there before; a command's are ours. */
static void processes_have_rights(void **state)
{
	struct gus_watch watch = { .id = getpid() };
	struct gus_target target = { .kind = GUS_TARGET_PROCESSES };
	struct taken t;

	(void)state;
	gus_vec_push(&target.watches, watch);
	for (int launched = 0; launched < 2; launched++) {
		begin(&t, 2);
		t.stored[0].snapshot.about->pid = (uint32_t)getpid();
		target.kind = launched ? GUS_TARGET_COMMAND : GUS_TARGET_PROCESSES;
		gus_record_replay_init(&t.r, &target);
		assert_int_equal(t.r.rights.n, !launched);
		assert_int_equal((int)t.r.created, 100);
		world.calls_n = 0;
		replay(&t);
		assert_int_equal(world.calls[0].rights, !launched);
		assert_false(world.calls[1].rights);
		end(&t);
	}
	gus_vec_free(&target.watches);
}

static void what_became_of_them_is_said(void **state)
{
	static const struct {
		struct gus_record_replay r;
		struct gus_session_result result;
		const char *said;
	} cases[] = {
		{ { .failed = 1, .why = "why" }, { .snapshots = 1 },
		  "[ 0 windows of what it did: no snapshot could be replayed; of the first: why ]" },
		{ { .skipped = true }, { .snapshots = 1 },
		  "[ 0 windows of what it did: you have skipped their replay ]" },
		{ { .windows = 0 }, { .no_snapshot = { .failed = 1, .why = "so" } },
		  "[ 0 windows of what it did: 1 try failed, the last one because: so ]" },
		{ { .keep_memory = true }, { .no_snapshot = { .failed = 2, .why = "so" } },
		  "[ 0 snapshots of what it did: 2 tries failed, the last one because: so ]" },
		{ { .late = true }, { .snapshots = 1 },
		  "[ 0 windows of what it did: their replay would have taken too long ]" },
		{ { .full = true }, { .snapshots = 1 },
		  "[ 0 windows of what it did: the file is as large as --max-size allows ]" },
		{ { .windows = 0 }, { .snapshots = 0 },
		  "[ 0 windows of what it did: it ended before the first one was due, a tenth of a second after the "
		  "beginning; record for longer ]" },
		{ { .windows = 1, .window = 5, .seconds = 1.5 },
		  { .snapshots = 1, .paused_ns = 2500000, .pause_most_ns = 1500000, .snapshots_own_ns = 20000000 },
		  "[ 1 window of what it did, of up to 5 instructions: it stood still for 2.5 ms in all, 1.5 ms at "
		  "most; copying memory took 0.02 s of this program's CPU time, and replaying 1.5 s ]" },
		{ { .windows = 2, .keep_memory = true, .full = true }, { .snapshots = 5 },
		  "[ 2 snapshots of what it did: it stood still for 0.0 ms in all, 0.0 ms at most; copying memory "
		  "took 0.00 s of this program's CPU time; 3 more have no room in --max-size ]" },
		{ { .windows = 2, .keep_memory = true, .failed = 1, .why = "why", .late = true }, { .snapshots = 5 },
		  "[ 2 snapshots of what it did: it stood still for 0.0 ms in all, 0.0 ms at most; copying memory "
		  "took 0.00 s of this program's CPU time; 1 more could not be replayed, the first because: why ]" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct gus_session_options so = { .log = &log_to, .trace_asked = true };

		gus_record_replay_summarise(&cases[i].r, &so, &cases[i].result);
		assert_string_equal(world.said, cases[i].said);
	}
	world.said[0] = '\0'; /* nobody asked, and there was nothing */
	gus_record_replay_summarise(&(struct gus_record_replay){ 0 }, &(struct gus_session_options){ .log = &log_to },
				    &(struct gus_session_result){ 0 });
	assert_string_equal(world.said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(windows_are_even_over_the_time),
		TEST(the_first_windows_are_long),
		TEST(what_the_emulator_cannot_is_stepped_later),
		TEST(what_is_soon_is_less_than_would_be_stepped),
		TEST(windows_by_steps_are_short),
		TEST(windows_take_half_of_the_time),
		TEST(half_of_the_time_is_for_steps),
		TEST(a_signal_skips_the_rest),
		TEST(the_file_has_a_limit),
		TEST(snapshots_are_kept_instead),
		TEST(there_may_be_no_windows),
		TEST(a_trace_that_is_cut_is_an_error),
		TEST(code_is_told_of_files_that_are_the_same),
		TEST(a_window_is_of_a_moment),
		TEST(processes_have_rights),
		TEST(what_became_of_them_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
