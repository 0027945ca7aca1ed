/* SPDX-License-Identifier: MIT */
/* collector/session/trace: when a snapshot is taken, of whom, how much of it, and what becomes of it. The target, its
 * memory, the store, clocks and chance's last digits are the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/host/procfs.h"
#include "collector/session/private.h"
#include "collector/snapshot/late.h"
#include "tests/unit/made_snapshot.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define MS 1000000ull
#define S (1000 * MS)
#define MB (1ull << 20)
enum { PID = 50, CPUS = 4 };

/* What a look at memory that would be copied late is answered: taken as it was, copied, or left. */
enum answer { OLD = 1, COPIED, LEFT };

static struct {
	uint64_t target_ns, busy_ns, resident;          /* of the machine, and of the target */
	uint64_t own_ns, holders_ns;                    /* our CPU time by now */
	uint64_t costs_ns, holders_cost_ns;             /* of a snapshot */
	/* What one is like. */
	Gusprof__Snapshot like;
	uint64_t late[4];                               /* pieces that are put off, of so many bytes */
	enum answer answers[4];
	uint64_t puts[4];                               /* pieces that are copied */
	enum gus_code fails, turns_fail, begin_fails, end_fails;
	bool drain_fails;
	/* The store. */
	bool is_of, knows, has, old;
	uint64_t read_at[16];
	unsigned reads, begun, cancelled, forgotten, freed, drained;
	uint64_t stored_bytes;
	/* Of the last one. */
	struct gus_snapshot_wish wish;
	bool light;
	unsigned taken;
	pid_t pids[100], turn, tid;     /* tid: whose turn it is; 0: the number behind the process's */
	unsigned pids_n;
	int warned, told;
} world;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_getrusage(int who, struct rusage *u);
long __wrap_sysconf(int name);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_n, const struct iovec *there,
				unsigned long there_n, unsigned long flags);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	assert_int_equal(clock, CLOCK_PROCESS_CPUTIME_ID);
	*t = (struct timespec){ (time_t)(world.own_ns / S), (long)(world.own_ns % S) };
	return 0;
}

/* Half of it in the kernel. */
int __wrap_getrusage(int who, struct rusage *u)
{
	uint64_t half = world.holders_ns / 2;

	assert_int_equal(who, RUSAGE_CHILDREN);
	*u = (struct rusage){ .ru_utime = { (time_t)(half / S), (suseconds_t)(half % S / 1000) },
		.ru_stime = { (time_t)(half / S), (suseconds_t)(half % S / 1000) } };
	return 0;
}

long __wrap_sysconf(int name)
{
	assert_int_equal(name, _SC_NPROCESSORS_ONLN);
	return CPUS;
}

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_n, const struct iovec *there,
				unsigned long there_n, unsigned long flags)
{
	assert_true(pid == PID && here_n == 1 && there_n == 1 && flags == 0);
	assert_true(here->iov_len == GUS_SNAPSHOT_PAGE && there->iov_len == GUS_SNAPSHOT_PAGE);
	world.read_at[world.reads++ % COUNT(world.read_at)] = (uint64_t)(uintptr_t)there->iov_base;
	return GUS_SNAPSHOT_PAGE;
}

uint64_t gus_session_busy_ns(void)
{
	return world.busy_ns;
}

struct gus_usage gus_session_usage(const struct session *s)
{
	(void)s;
	return (struct gus_usage){ .target_ns = world.target_ns };
}

int gus_session_drain(struct session *s)
{
	world.drained++;
	return world.drain_fails ? gus_fail(s->err, GUS_E_FULL, "the disk is full") : 0;
}

uint64_t gus_task_resident(pid_t pid)
{
	assert_true(pid > 0);
	return world.resident;
}

/* Thread 70 is of process 60. */
bool gus_task_read(pid_t tid, struct gus_task *task)
{
	*task = (struct gus_task){ .tid = tid, .tgid = 60 };
	return tid == 70;
}

bool gus_tids_of(pid_t pid, struct gus_tids *tids)
{
	gus_vec_push(tids, pid);
	world.pids[world.pids_n++] = pid;
	return true;
}

pid_t gus_turns_busiest(struct gus_turns *t, const struct gus_tids *tids)
{
	(void)t;
	assert_int_equal(tids->n, world.pids_n);
	return world.turn;
}

int gus_turns_next(struct gus_turns *t, pid_t pid, unsigned patience_ms, pid_t *tid, struct gus_error *err)
{
	(void)t;
	assert_int_equal(patience_ms, 5);
	*tid = world.tid ? world.tid : pid + 1;
	return world.turns_fail ? gus_fail(err, world.turns_fail, "nobody runs") : 0;
}

void gus_turns_free(struct gus_turns *t)
{
	(void)t;
}

int gus_shelf_begin(struct gus_shelf *s, uint64_t bytes, unsigned times, struct gus_error *err)
{
	(void)s;
	assert_int_equal(bytes, world.resident);
	assert_int_equal(times, 8);
	world.begun++;
	return world.begin_fails ? gus_fail(err, world.begin_fails, "no room") : 0;
}

int gus_shelf_pages(struct gus_shelf *s, uint64_t address, const uint8_t *bytes, uint64_t size, struct gus_error *err)
{
	(void)s;
	(void)address;
	(void)bytes;
	(void)size;
	(void)err;
	return 0;
}

int gus_shelf_end(struct gus_shelf *s, struct gus_snapshot *snapshot, struct gus_stored *to, struct gus_error *err)
{
	(void)s;
	if (world.end_fails)
		return gus_fail(err, world.end_fails, "no room");
	*to = (struct gus_stored){ .snapshot = *snapshot, .file = -1 };
	return 0;
}

void gus_shelf_cancel(struct gus_shelf *s)
{
	(void)s;
	world.cancelled++;
}

bool gus_shelf_is_of(const struct gus_shelf *s, uint32_t pid)
{
	(void)s;
	assert_int_equal(pid, PID);
	return world.is_of;
}

bool gus_shelf_knows(const struct gus_shelf *s, const Gusprof__Snapshot *about)
{
	(void)s;
	assert_int_equal(about->pid, PID);
	return world.knows;
}

bool gus_shelf_has(const struct gus_shelf *s, uint64_t address, const uint8_t *bytes)
{
	(void)s;
	(void)bytes;
	assert_int_equal(address % GUS_SNAPSHOT_PAGE, 0);
	return world.has;
}

bool gus_shelf_old(struct gus_shelf *s, uint64_t address, uint64_t size)
{
	(void)s;
	(void)address;
	(void)size;
	return world.old;
}

void gus_shelf_forget(struct gus_shelf *s)
{
	(void)s;
	world.forgotten++;
}

void gus_shelf_free(struct gus_shelf *s)
{
	(void)s;
}

uint64_t gus_stored_bytes(const struct gus_stored *v, size_t n)
{
	(void)v;
	return n * world.stored_bytes;
}

void gus_stored_free(struct gus_stored *stored)
{
	world.freed++;
	gus_snapshot_free(&stored->snapshot);
}

/* Pieces are at 0x10000000, one for each GiB. */
static uint64_t piece_at(unsigned i)
{
	return 0x10000000 + i * (1ull << 30);
}

int gus_snapshot_take(const struct gus_snapshot_wish *wish, struct gus_snapshot *s, struct gus_error *err)
{
	const struct gus_pages_taker *taker = wish->taker;

	world.wish = *wish;
	world.light = taker->spare != NULL;
	world.own_ns += world.costs_ns;
	world.holders_ns += world.holders_cost_ns;
	if (world.fails)
		return gus_fail(err, world.fails, "it does not do");
	*s = made_snapshot((uint32_t)wish->pid);
	s->about->tid = (uint32_t)wish->tid;
	s->about->pause_ns = world.like.pause_ns;
	s->about->stopped = world.like.stopped;
	s->about->bytes = world.like.bytes;
	s->about->late = world.like.late;
	s->about->old = world.like.old;
	for (unsigned i = 0; i < COUNT(world.late) && world.late[i] && taker->spare; i++) {
		uint64_t had = 0;
		bool spared = taker->spare(taker->context, piece_at(i), world.late[i], &had);

		assert_true(had == 0 || had == world.late[i]);
		world.answers[i] = !spared ? COPIED : had ? OLD : LEFT;
	}
	for (unsigned i = 0; i < COUNT(world.puts) && world.puts[i]; i++)
		if (taker->take(taker->context, piece_at(i), NULL, world.puts[i], err) != 0) {
			gus_snapshot_free(s);
			return -1;
		}
	world.taken++;
	return 0;
}

/* A session that watches processes, of which there is one, and that has run for a second. */
static struct gus_target target;
static struct gus_session_options options;
static struct gus_session_result result;

static void emit(enum gus_level level, const char *text, void *context)
{
	(void)context;
	(void)text;
	if (level == GUS_WARN)
		world.warned++;
	else
		world.told++;
}

static const struct gus_log log_to = { GUS_DEBUG, emit, NULL };

static void begin(struct session *s)
{
	static struct gus_error err;

	memset(&world, 0, sizeof(world));
	world.like.stopped = 1;
	target = (struct gus_target){ .kind = GUS_TARGET_PROCESSES };
	gus_vec_push(&target.watches, (struct gus_watch){ .id = PID });
	options = (struct gus_session_options){ .target = &target, .trace = true, .trace_window = 5000,
		.log = &log_to };
	result = (struct gus_session_result){ .snapshots = 0 };
	err = (struct gus_error){ 0 };
	*s = (struct session){ .o = &options, .result = &result, .err = &err, .now = 7 * S };
	gus_session_trace_begin(s);
	s->now += S;
}

static void end(struct session *s)
{
	gus_session_trace_free(s);
	gus_vec_free(&target.watches);
}

/* The gap is a tenth of a second: in each of them one is due, at moments that are spread over it. */
static void one_is_due_in_each_gap(void **state)
{
	uint64_t from = 7 * S, earliest = S, latest = 0;
	struct session s;

	(void)state;
	begin(&s);
	for (int i = 0; i < 60; i++) {
		uint64_t within = s.trace.next - from - 100 * MS;

		assert_true(s.trace.next >= from + 100 * MS && within < 100 * MS);
		earliest = within < earliest ? within : earliest;
		latest = within > latest ? within : latest;
		s.now = s.trace.next;
		from += 100 * MS;
		gus_session_trace(&s);
	}
	assert_true(earliest < 20 * MS && latest > 80 * MS);
	assert_int_equal(s.trace.kept.n, 60);
	/* Of what we have slept over none is made up for. */
	s.now += 5 * S;
	gus_session_trace(&s);
	assert_true(s.trace.next >= s.now && s.trace.next < s.now + 100 * MS);
	options.trace = false; /* nobody wants any */
	gus_session_trace_begin(&s);
	assert_true(s.trace.next == UINT64_MAX);
	end(&s);
}

/* A pause of the longest kind, as the last one and what is fixed of it, has to be left: of 60 ms and a quarter of the
 * overhead, which is 1 % where nobody says. */
static void pauses_are_bounded(void **state)
{
	static const struct { uint64_t paused, last, target_ns; double overhead; bool taken; } cases[] = {
		{ 58500000, 0, 0, 0, true }, { 58500001, 0, 0, 0, false },
		{ 57500000, MS, 0, 0, true }, { 57500001, MS, 0, 0, false },
		{ 70 * MS, 0, 0, 0, false },
		{ 68500000, 0, 4 * S, 0, true }, { 68500001, 0, 4 * S, 0, false },
		{ 78500000, 0, 4 * S, 0.02, true }, { 78500001, 0, 4 * S, 0.02, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		world.target_ns = cases[i].target_ns;
		options.overhead = cases[i].overhead;
		s.trace.paused_ns = cases[i].paused;
		s.trace.last_pause_ns = cases[i].last;
		gus_session_trace(&s);
		assert_int_equal(world.taken, cases[i].taken);
		assert_int_equal(s.trace.none.dear, !cases[i].taken);
		end(&s);
	}
}

/* All of 100 MB is copied, which takes 53 ms, if that is left: of 300 ms, and of a fifth of a CPU's time where half of
 * one has nothing to do, else of a quarter of the overhead. What light ones took is not of these. */
static void own_time_is_bounded(void **state)
{
	static const struct { uint64_t busy, target_ns, own, light; bool all; } cases[] = {
		{ 3500 * MS, 0, 247 * MS, 0, true }, { 3500 * MS, 0, 247 * MS + 1, 0, false },
		{ 3500 * MS - 1, 0, 447 * MS, 0, true }, { 3500 * MS - 1, 0, 447 * MS + 1, 0, false },
		{ 3500 * MS, 4 * S, 257 * MS, 0, true }, { 3500 * MS, 4 * S, 257 * MS + 1, 0, false },
		{ 3500 * MS, 0, 250 * MS, 3 * MS, true }, { 3500 * MS, 0, 250 * MS, 3 * MS - 1, false },
		{ 0, 0, 600 * MS, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		s.trace.busy = 5 * S;
		world.busy_ns = 5 * S + cases[i].busy;
		world.target_ns = cases[i].target_ns;
		world.resident = 100000000;
		world.is_of = true;
		s.trace.own_ns = cases[i].own;
		s.trace.light_ns = cases[i].light;
		gus_session_trace(&s);
		assert_int_equal(world.taken, 1);
		assert_int_equal(world.light, !cases[i].all);
		end(&s);
	}
}

/* Light ones have 400 ms of their own, a sixth of which is there after a second and a half after five; 6 ms have to be
 * left. There are none of who was not looked at before. */
static void light_ones_are_bounded(void **state)
{
	static const struct { uint64_t passed, target_ns, light; bool is_of, taken; } cases[] = {
		{ S, 0, 60600 * 1000, true, true }, { S, 0, 60700 * 1000, true, false },
		{ 5 * S, 0, 193900 * 1000, true, true }, { 5 * S, 0, 194100 * 1000, true, false },
		{ 5 * S, 4 * S, 203900 * 1000, true, true }, { 5 * S, 4 * S, 204100 * 1000, true, false },
		{ 5 * S, 0, S, true, false }, { S - 1, 0, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		s.now += cases[i].passed - S;
		world.busy_ns = 100 * S;
		world.target_ns = cases[i].target_ns;
		world.is_of = cases[i].is_of;
		s.trace.light_ns = cases[i].light;
		s.trace.own_ns = 2 * S; /* nothing is left of that */
		gus_session_trace(&s);
		assert_int_equal(world.taken, cases[i].taken);
		assert_int_equal(s.trace.none.dear, !cases[i].taken);
		assert_int_equal(world.light, cases[i].taken);
		end(&s);
	}
}

/* Where light ones have nothing to go by, all is copied although nothing is left: after a second, and after eight. */
static void now_and_then_all_is_copied(void **state)
{
	static const struct { uint64_t passed; bool is_of, stale, all; } looks[] = {
		{ S - 1, false, false, false }, { S, true, false, false }, { S, false, false, true },
		{ 8 * S - 1, false, false, false }, { 8 * S - 1, true, true, false }, { 8 * S, true, true, true },
		{ 63 * S, false, false, false }, { 64 * S, false, false, true },
	};
	unsigned forgotten = 0;
	struct session s;

	(void)state;
	begin(&s);
	for (size_t i = 0; i < COUNT(looks); i++) {
		unsigned before = world.taken;

		s.now = 7 * S + looks[i].passed;
		s.trace.own_ns = 100 * S;
		s.trace.light_ns = 0;
		world.busy_ns = 1000 * S;
		world.is_of = looks[i].is_of;
		s.trace.stale = looks[i].stale;
		gus_session_trace(&s);
		assert_int_equal(world.taken - before, looks[i].all || looks[i].is_of);
		if (world.taken > before)
			assert_int_equal(world.light, !looks[i].all);
		forgotten += looks[i].all;
		assert_int_equal(world.forgotten, forgotten);
	}
	end(&s);
}

/* What is asked for; and how much of it in the pause, by how long the last one took a byte, if that was 4 MiB. */
static void a_pause_has_its_length(void **state)
{
	static const struct { uint64_t bytes, late, old, pause_ns, next; } cases[] = {
		{ 4 * MB, 0, 0, 8 * MB, 1750000 },              /* 2 ns a byte */
		{ 9 * MB, 4 * MB, MB, 4 * MB, 3500000 },        /* of what is copied in the pause: 1 ns */
		{ 5 * MB, 0, 0, 10 * MB, 1750000 },
		{ 4 * MB - 1, 0, 0, 8 * MB, 7000000 },          /* so few say nothing: half a ns */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		world.resident = 1000;
		world.like.bytes = cases[i].bytes;
		world.like.late = cases[i].late;
		world.like.old = cases[i].old;
		world.like.pause_ns = cases[i].pause_ns;
		world.like.stopped = 3;
		gus_session_trace(&s);
		assert_true(world.wish.pid == PID && world.wish.tid == PID + 1 && world.wish.patience_ms == 5);
		assert_true(world.wish.by_cost && world.wish.max_bytes == GUS_SNAPSHOT_BYTES_MAX);
		assert_int_equal(world.wish.pause_bytes, 7000000);
		assert_int_equal(s.trace.kept.v[0].snapshot.about->window, 5000);
		assert_int_equal(s.trace.paused_ns, 3 * cases[i].pause_ns);
		assert_int_equal(s.trace.last_pause_ns, 3 * cases[i].pause_ns);
		assert_int_equal(s.trace.pause_most_ns, cases[i].pause_ns);
		world.like.pause_ns = 1;
		s.trace.paused_ns = s.trace.last_pause_ns = 0;
		gus_session_trace(&s);
		assert_int_equal(world.wish.pause_bytes, cases[i].next);
		assert_int_equal(s.trace.pause_most_ns, cases[i].pause_ns);
		assert_int_equal(s.trace.taken, 2);
		end(&s);
	}
}

/* Our CPU time of one, and of whom it began to hold threads: what is expected of the next is by that, if it was of
 * 4 MiB and of all memory. */
static void own_time_is_counted(void **state)
{
	static const struct { uint64_t bytes; bool light; double a_byte; } cases[] = {
		{ 4 * MB, false, 3 }, { 4 * MB - 1, false, 0.5 }, { 4 * MB, true, 0.5 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		world.busy_ns = 1000 * S;
		world.own_ns = 10 * S + 5;
		world.holders_ns = 4 * S;
		world.holders_cost_ns = 4 * MS;
		world.costs_ns = 12 * MB - 4 * MS;      /* 3 ns a byte, together */
		world.is_of = true;
		world.like.bytes = cases[i].bytes;
		s.trace.own_ns = s.trace.light_ns = cases[i].light ? 1 : 0;
		world.resident = cases[i].light ? S : 1000;
		gus_session_trace(&s);
		assert_int_equal(world.light, cases[i].light);
		assert_int_equal(s.trace.holders_ns, 4 * MS);
		assert_int_equal(s.trace.own_ns, 12 * MB + cases[i].light);
		assert_int_equal(s.trace.light_ns, cases[i].light ? 12 * MB + 1 : 0);
		assert_true(s.trace.own_ns_a_byte > cases[i].a_byte - 1e-3 &&
			    s.trace.own_ns_a_byte < cases[i].a_byte + 1e-3);
		end(&s);
	}
}

/* A light one takes what looks the same from the earlier look, copies 4 MiB of the rest, and is none if more is new. */
static void light_ones_copy_what_is_new(void **state)
{
	static const struct {
		bool knows, has, old;
		uint64_t late[4];
		enum answer answers[4];
		bool taken;
	} cases[] = {
		{ true, true, true, { 64 * MB, 9 * MB }, { OLD, OLD }, true },
		{ false, true, true, { 64 * MB }, { LEFT }, false },
		{ true, false, true, { 64 * MB }, { LEFT }, false },
		{ true, true, false, { 64 * MB }, { LEFT }, false },
		{ false, true, true, { 3 * MB, MB }, { COPIED, COPIED }, true },
		{ false, true, true, { 4 * MB, 4096 }, { COPIED, LEFT }, false },
		{ false, true, true, { 5 * MB, 4096 }, { LEFT, LEFT }, false }, /* what is none needs no more */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		world.busy_ns = 1000 * S;
		world.is_of = true;
		world.knows = cases[i].knows;
		world.has = cases[i].has;
		world.old = cases[i].old;
		memcpy(world.late, cases[i].late, sizeof(world.late));
		s.trace.own_ns = S;
		gus_session_trace(&s);
		assert_memory_equal(world.answers, cases[i].answers, sizeof(world.answers));
		assert_int_equal(s.trace.kept.n, cases[i].taken);
		assert_int_equal(s.trace.none.failed, !cases[i].taken);
		assert_int_equal(world.cancelled, !cases[i].taken);
		assert_int_equal(s.trace.stale, !cases[i].taken);
		if (cases[i].taken)
			assert_string_equal(s.trace.none.why, "");
		else
			assert_non_null(strstr(s.trace.none.why, "process 50 has changed so much of its memory"));
		end(&s);
	}
}

/* Two pages of a piece are looked at, which are anywhere in it. */
static void pages_are_looked_at_by_chance(void **state)
{
	bool other = false;
	struct session s;

	(void)state;
	begin(&s);
	world.busy_ns = 1000 * S;
	world.is_of = world.knows = world.has = world.old = true;
	world.late[0] = 2 * GUS_SNAPSHOT_PAGE;
	world.late[1] = 64 * MB;
	for (int i = 0; i < 4; i++) {
		s.trace.own_ns = S;
		gus_session_trace(&s);
		s.now += 12345;
	}
	assert_int_equal(world.reads, 16);
	for (unsigned i = 0; i < 16; i++) {
		unsigned piece = i / 2 % 2;

		assert_in_range(world.read_at[i], piece_at(piece), piece_at(piece) + world.late[piece] - 4096);
		other |= piece && world.read_at[i] > piece_at(1) + 32 * MB;
	}
	assert_true(other);
	assert_true(world.read_at[2] != world.read_at[3] && world.read_at[2] != world.read_at[6]);
	end(&s);
}

/* Rings are emptied after each 16 MiB. If that cannot be written, the snapshot ends with that error, and so do all. */
static void rings_are_emptied_meanwhile(void **state)
{
	struct session s;

	(void)state;
	begin(&s);
	world.puts[0] = 16 * MB - 1;
	gus_session_trace(&s);
	assert_int_equal(world.drained, 0);
	world.puts[0] = 1;
	world.puts[1] = 16 * MB - 1;
	gus_session_trace(&s);
	assert_int_equal(world.drained, 1);
	world.drain_fails = true;
	world.puts[0] = 1;
	world.puts[1] = 0;
	gus_session_trace(&s);
	assert_int_equal(world.drained, 2);
	assert_int_equal(s.trace.kept.n, 2);
	assert_string_equal(s.trace.none.why, "the disk is full");
	assert_true(s.trace.none.refused);
	end(&s);
}

/* Who may not be looked at never may, which is said to who asked for it; but of a command a descendant may be another
 * user's, and who sleeps now may not later. */
static void failures_are_for_now_or_for_ever(void **state)
{
	static const struct { enum gus_code fails; bool launches, child, asked, refused; } cases[] = {
		{ GUS_E_PERMISSION, false, false, false, true }, { GUS_E_PERMISSION, false, false, true, true },
		{ GUS_E_PERMISSION, true, true, true, true }, { GUS_E_PERMISSION, true, false, true, false },
		{ GUS_E_SYSTEM, true, false, true, true }, { GUS_E_SYSTEM, false, false, false, true },
		{ GUS_E_NOT_FOUND, false, false, true, false }, { GUS_E_UNSUPPORTED, true, true, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		world.fails = cases[i].fails;
		world.resident = 1000;
		options.trace_asked = cases[i].asked;
		target.kind = cases[i].launches ? GUS_TARGET_COMMAND : GUS_TARGET_PROCESSES;
		s.child.pid = cases[i].child ? 60 : PID;
		if (cases[i].launches) {
			gus_index_init(&s.living.pids, sizeof(uint32_t));
			gus_index_add(&s.living.pids, &(uint32_t){ 1 }, NULL);
			gus_index_add(&s.living.pids, &(uint32_t){ 2 }, NULL);
			world.turn = 70;
		}
		gus_session_trace(&s);
		assert_int_equal(s.trace.none.failed, 1);
		assert_string_equal(s.trace.none.why, "it does not do");
		assert_int_equal(s.trace.none.refused, cases[i].refused);
		assert_int_equal(s.trace.next == UINT64_MAX, cases[i].refused);
		assert_int_equal(world.warned, cases[i].refused && cases[i].asked);
		assert_int_equal(world.told, !(cases[i].refused && cases[i].asked));
		assert_int_equal(world.cancelled, 1);
		assert_int_equal(s.trace.kept.n, 0);
		assert_true(s.trace.own_ns_a_byte > 0.49 && s.trace.own_ns_a_byte < 0.51); /* that says nothing */
		if (cases[i].launches)
			gus_index_free(&s.living.pids);
		end(&s);
	}
}

/* Where nobody runs, or the store has no room, before or behind. */
static void each_step_may_fail(void **state)
{
	(void)state;
	for (int step = 0; step < 3; step++) {
		struct session s;

		begin(&s);
		world.turns_fail = step == 0 ? GUS_E_NOT_FOUND : GUS_OK;
		world.begin_fails = step == 1 ? GUS_E_FULL : GUS_OK;
		world.end_fails = step == 2 ? GUS_E_FULL : GUS_OK;
		gus_session_trace(&s);
		assert_int_equal(world.begun, step > 0);
		assert_int_equal(world.taken, step == 2);
		assert_int_equal(s.trace.none.failed, 1);
		assert_int_equal(s.trace.looks, 1);
		assert_int_equal(s.trace.taken, step == 2);
		assert_int_equal(s.trace.kept.n, 0);
		end(&s);
	}
}

/* Of 65 of the same thread, or of more than 2 GiB if they are three, half are forgotten, and the next come half as
 * often. */
static void half_of_many_is_forgotten(void **state)
{
	static const struct { uint64_t bytes; unsigned taken, left; uint64_t gap; } cases[] = {
		{ 1, 64, 64, 100 * MS }, { 1, 65, 33, 200 * MS }, { 1, 96, 64, 200 * MS }, { 1, 97, 33, 400 * MS },
		{ 1500 * MB, 2, 2, 100 * MS }, { 1500 * MB, 3, 2, 200 * MS },
		{ 2048 * MB / 4, 4, 4, 100 * MS }, { 2048 * MB / 4 + 1, 4, 2, 200 * MS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		world.stored_bytes = cases[i].bytes;
		for (unsigned k = 0; k < cases[i].taken; k++)
			gus_session_trace(&s);
		assert_int_equal(s.trace.kept.n, cases[i].left);
		assert_int_equal(world.freed, cases[i].taken - cases[i].left);
		assert_int_equal(s.trace.gap_ns, cases[i].gap);
		assert_int_equal(s.trace.taken, cases[i].taken);
		end(&s);
		assert_int_equal(world.freed, cases[i].taken);
	}
}

/* Of two threads that take turns each keeps half of its own, in the order of time. */
static void each_thread_is_thinned_by_itself(void **state)
{
	unsigned of[2] = { 0 };
	struct session s;

	(void)state;
	begin(&s);
	for (unsigned i = 0; i < 66; i++) {
		world.tid = 80 + (pid_t)(i % 2);
		world.like.bytes = i;
		gus_session_trace(&s);
	}
	for (size_t i = 0; i < s.trace.kept.n; i++) {
		const Gusprof__Snapshot *about = s.trace.kept.v[i].snapshot.about;

		of[about->tid - 80]++;
		assert_true(i == 0 || about->bytes > s.trace.kept.v[i - 1].snapshot.about->bytes);
	}
	assert_in_range(of[0], 16, 18);
	assert_in_range(of[1], 16, 18);
	end(&s);
}

/* Watched processes take turns, whether there is one of theirs or not. */
static void processes_take_turns(void **state)
{
	struct session s;

	(void)state;
	begin(&s);
	gus_vec_push(&target.watches, (struct gus_watch){ .id = PID + 10 });
	gus_vec_push(&target.watches, (struct gus_watch){ .id = PID + 20 });
	for (int i = 0; i < 7; i++) {
		world.fails = i == 4 ? GUS_E_NOT_FOUND : GUS_OK;
		gus_session_trace(&s);
		assert_int_equal(world.wish.pid, PID + 10 * (i % 3));
	}
	end(&s);
}

/* A command alone is itself; of several processes the busiest thread's is it, of the last 64 that were seen; and if
 * none runs, or that has ended by now, the command. */
static void the_busiest_of_a_command_is_taken(void **state)
{
	static const struct { unsigned living; pid_t turn; unsigned asked, first; pid_t pid; } cases[] = {
		{ 1, 70, 0, 0, PID }, { 2, 70, 2, 0, 60 }, { 2, 0, 2, 0, PID }, { 2, 71, 2, 0, PID },
		{ 64, 70, 64, 0, 60 }, { 65, 70, 64, 1, 60 }, { 90, 70, 64, 26, 60 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct session s;

		begin(&s);
		target.kind = GUS_TARGET_COMMAND;
		s.child.pid = PID;
		gus_index_init(&s.living.pids, sizeof(uint32_t));
		for (uint32_t k = 0; k < cases[i].living; k++)
			gus_index_add(&s.living.pids, &(uint32_t){ 1000 + k }, NULL);
		world.turn = cases[i].turn;
		gus_session_trace(&s);
		assert_int_equal(world.wish.pid, cases[i].pid);
		assert_int_equal(world.pids_n, cases[i].asked);
		for (unsigned k = 0; k < world.pids_n; k++)
			assert_int_equal(world.pids[k], 1000 + cases[i].first + k);
		gus_index_free(&s.living.pids);
		end(&s);
	}
}

static void the_result_has_all_of_it(void **state)
{
	struct session s;

	(void)state;
	begin(&s);
	world.like.pause_ns = 2 * MS;
	world.like.stopped = 2;
	world.costs_ns = 7;
	gus_session_trace(&s);
	gus_session_trace(&s);
	world.fails = GUS_E_NOT_FOUND;
	gus_session_trace(&s);
	gus_session_trace_tell(&s);
	assert_int_equal(result.snapshots, 2);
	assert_ptr_equal(result.kept, s.trace.kept.v);
	assert_int_equal(result.snapshots_taken, 2);
	assert_int_equal(result.paused_ns, 8 * MS);
	assert_int_equal(result.pause_most_ns, 2 * MS);
	assert_int_equal(result.snapshots_own_ns, 21);
	assert_int_equal(result.no_snapshot.failed, 1);
	end(&s);
	assert_null(result.kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_is_due_in_each_gap),
		cmocka_unit_test(pauses_are_bounded),
		cmocka_unit_test(own_time_is_bounded),
		cmocka_unit_test(light_ones_are_bounded),
		cmocka_unit_test(now_and_then_all_is_copied),
		cmocka_unit_test(a_pause_has_its_length),
		cmocka_unit_test(own_time_is_counted),
		cmocka_unit_test(light_ones_copy_what_is_new),
		cmocka_unit_test(pages_are_looked_at_by_chance),
		cmocka_unit_test(rings_are_emptied_meanwhile),
		cmocka_unit_test(failures_are_for_now_or_for_ever),
		cmocka_unit_test(each_step_may_fail),
		cmocka_unit_test(half_of_many_is_forgotten),
		cmocka_unit_test(each_thread_is_thinned_by_itself),
		cmocka_unit_test(processes_take_turns),
		cmocka_unit_test(the_busiest_of_a_command_is_taken),
		cmocka_unit_test(the_result_has_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
