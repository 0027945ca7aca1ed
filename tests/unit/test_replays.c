/* SPDX-License-Identifier: MIT */
/* tracing/replay/replays: how many windows there are, when they are taken, where their traces lie and for how long, and
 * what ends them. Replaying is a stub here, and where it says so, so are the taking of snapshots and the clock. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "proto/snapshot.h"
#include "proto/writer.h"
#include "tests/unit/made_snapshot.h"
#include "tracing/replay/replays.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
#define NOBODY 65534
#define MS 1000000ll
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The stubs' part. With `on`, snapshots are not taken of a process: what becomes of the i-th is what `takes` says, and
 * from the end of that on all go well. The same for which threads are chosen, and for what is replayed. */
static struct {
	bool on;
	enum gus_code takes[8], turns[8], replays[8];
	unsigned takes_n, turns_n, replays_n;           /* so far */
	struct gus_snapshot_wish take;                  /* the last one */
	struct gus_replay_wish replay;
	unsigned patience_ms;                           /* with which a thread was chosen */
	pid_t pid;                                      /* of which */
	long long now, take_costs, replay_costs;        /* ns */
	long long naps[8];
	unsigned naps_n;
} world;

static char directory[64];      /* a test's own; TMPDIR is it */

int __real_gus_snapshot_take(const struct gus_snapshot_wish *wish, struct gus_snapshot *s, struct gus_error *err);
int __wrap_gus_snapshot_take(const struct gus_snapshot_wish *wish, struct gus_snapshot *s, struct gus_error *err);
int __real_gus_turns_next(struct gus_turns *t, pid_t pid, unsigned patience_ms, pid_t *tid, struct gus_error *err);
int __wrap_gus_turns_next(struct gus_turns *t, pid_t pid, unsigned patience_ms, pid_t *tid, struct gus_error *err);
int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);

static int answer(const enum gus_code *script, unsigned i, const char *what, struct gus_error *err)
{
	enum gus_code code = i < COUNT(world.takes) ? script[i] : GUS_OK;

	return code == GUS_OK ? 0 : gus_fail(err, code, "%s %u does not do", what, i);
}

int __wrap_gus_snapshot_take(const struct gus_snapshot_wish *wish, struct gus_snapshot *s, struct gus_error *err)
{
	if (!world.on)
		return __real_gus_snapshot_take(wish, s, err);
	world.take = *wish;
	world.now += world.take_costs;
	if (answer(world.takes, world.takes_n++, "snapshot", err) != 0)
		return -1;
	*s = made_snapshot((uint32_t)wish->tid);
	return 0;
}

/* Threads 100, 101, ... */
int __wrap_gus_turns_next(struct gus_turns *t, pid_t pid, unsigned patience_ms, pid_t *tid, struct gus_error *err)
{
	if (!world.on)
		return __real_gus_turns_next(t, pid, patience_ms, tid, err);
	world.pid = pid;
	world.patience_ms = patience_ms;
	*tid = (pid_t)(100 + world.turns_n);
	return answer(world.turns, world.turns_n++, "thread", err);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!world.on)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ .tv_sec = world.now / (1000 * MS), .tv_nsec = world.now % (1000 * MS) };
	return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!world.on)
		return __real_nanosleep(t, left);
	assert_in_range(t->tv_nsec, 0, 1000 * MS - 1);
	assert_true(world.naps_n < COUNT(world.naps));
	world.naps[world.naps_n] = t->tv_sec * 1000 * MS + t->tv_nsec;
	world.now += world.naps[world.naps_n++];
	return 0;
}

/* The trace is a file with one letter, the first of which is 'a'. */
int gus_replay_snapshot(const struct gus_snapshot *s, const struct gus_replay_wish *wish, int out,
			struct gus_replayed *done, struct gus_error *err)
{
	char letter = (char)('a' + world.replays_n);

	assert_non_null(s->about);
	world.replay = *wish;
	world.now += world.replay_costs;
	if (answer(world.replays, world.replays_n++, "replay", err) != 0)
		return -1;
	done->instructions = wish->window;
	assert_int_equal(pwrite(out, &letter, 1, 0), 1);
	return 0;
}

static int enter(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	strcpy(directory, "/tmp/gusprof-test-XXXXXX");
	return mkdtemp(directory) && chdir(directory) == 0 && setenv("TMPDIR", directory, 1) == 0 ? 0 : -1;
}

/* Fails where a test has left anything. */
static int leave(void **state)
{
	(void)state;
	return chdir("/") == 0 ? rmdir(directory) : -1;
}

/* Files in the test's own folder. */
static unsigned files(void)
{
	DIR *d = opendir(directory);
	unsigned n = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		n += *e->d_name != '.';
	closedir(d);
	return n;
}

static const struct gus_replay_wish replay = { .window = 5000, .native_window = 700, .seconds = 9 };

static struct gus_replays *of_process(struct gus_replays_wish wish)
{
	struct gus_error err = { 0 };
	struct gus_replays *r = gus_replays_of_process(&wish, &replay, &err);

	if (!r)
		fail_msg("%s", err.text);
	return r;
}

static int next(struct gus_replays *r, struct gus_replays_window *w)
{
	struct gus_error err = { 0 };
	int more = gus_replays_next(r, w, &err);

	if (more < 0)
		fail_msg("%s", err.text);
	return more;
}

/* Windows until there are no more; it stays at that. */
static unsigned count_windows(struct gus_replays *r)
{
	struct gus_replays_window w;
	unsigned n = 0;

	for (; next(r, &w) == 1; n++)
		assert_int_equal(w.number, n);
	assert_true(!w.about && !w.path);
	assert_int_equal(next(r, &w), 0);
	return n;
}

/* Of a process that is made up. */

static void there_are_as_many_as_were_asked_for(void **state)
{
	static const unsigned counts[] = { 0, 1, 3 };

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 8, counts[i], 0, 0 });

		memset(&world, 0, sizeof(world));
		world.on = true;
		assert_int_equal(count_windows(r), counts[i]);
		assert_int_equal(world.takes_n, counts[i]);
		assert_int_equal(world.replays_n, counts[i]);
		gus_replays_close(r);
	}
}

/* A thread that was named is taken itself, with as much memory and for as many instructions as was said. */
static void wishes_are_passed_on(void **state)
{
	struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 8, 1, 0, 12345 });
	struct gus_replays_window w;

	(void)state;
	world.on = true;
	assert_int_equal(next(r, &w), 1);
	assert_true(world.take.pid == 7 && world.take.tid == 8 && world.take.max_bytes == 12345);
	assert_int_equal(world.take.patience_ms, 0);
	assert_int_equal(world.turns_n, 0);
	assert_true(world.replay.window == 5000 && world.replay.native_window == 700 && world.replay.seconds == 9);
	assert_int_equal(w.about->tid, 8);
	assert_int_equal(w.done.instructions, 5000);
	assert_int_equal(w.err.code, GUS_OK);
	gus_replays_close(r);
}

static void naps_are(const long long *ms, unsigned n)
{
	assert_int_equal(world.naps_n, n);
	for (unsigned i = 0; i < n; i++)
		assert_in_range(world.naps[i], ms[i] * MS - 1000, ms[i] * MS + 1000); /* the clock's fractions */
}

/* From one beginning to the next: what a window costs is of that time, and after a slow one there is no wait. */
static void windows_are_spread(void **state)
{
	static const struct { unsigned spread; long long take, replay, naps[2]; unsigned n; } cases[] = {
		{ 1250, 300, 200, { 750, 750 }, 2 },
		{ 3500, 0, 0, { 3500, 3500 }, 2 },      /* whole seconds, too */
		{ 2000, 0, 0, { 2000, 2000 }, 2 },
		{ 500, 300, 201, { 0 }, 0 },
		{ 0, 1, 0, { 0 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 8, 3, cases[i].spread, 0 });

		memset(&world, 0, sizeof(world));
		world.on = true;
		world.now = 1000900 * MS;
		world.take_costs = cases[i].take * MS;
		world.replay_costs = cases[i].replay * MS;
		assert_int_equal(count_windows(r), 3);
		naps_are(cases[i].naps, cases[i].n);
		gus_replays_close(r);
	}
}

/* The second window takes too long, and the third is not hurried for it: it is the spread behind the second. */
static void a_slow_window_moves_what_follows(void **state)
{
	static const long long naps[] = { 900, 900 };
	struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 8, 4, 1000, 0 });
	struct gus_replays_window w;

	(void)state;
	world.on = true;
	world.now = 5000 * MS;
	world.take_costs = 100 * MS;
	next(r, &w);                    /* 5.0 to 5.1 */
	world.take_costs = 1700 * MS;
	next(r, &w);                    /* 6.0 to 7.7 */
	world.take_costs = 100 * MS;
	next(r, &w);                    /* 7.7 to 7.8, at once */
	next(r, &w);                    /* 8.7 */
	naps_are(naps, 2);
	assert_in_range(world.now, 8800 * MS - 2000, 8800 * MS + 2000);
	gus_replays_close(r);
}

/* What a trace says. */
static char letter_of(const char *path)
{
	FILE *f = path ? fopen(path, "r") : NULL;
	int letter = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return (char)letter;
}

/* Each trace can be read until the next window is asked for, and has no name that would outlive us. */
static void traces_have_no_name(void **state)
{
	struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 8, 2, 0, 0 });
	struct gus_replays_window w;

	(void)state;
	world.on = true;
	assert_int_equal(files(), 0);
	assert_int_equal(next(r, &w), 1);
	assert_int_equal(letter_of(w.path), 'a');
	assert_int_equal(files(), 0);
	assert_int_equal(next(r, &w), 1);
	assert_int_equal(letter_of(w.path), 'b');
	assert_int_equal(next(r, &w), 0);
	assert_int_equal(files(), 0);
	gus_replays_close(r);
	gus_replays_close(NULL);
}

/* In TMPDIR, which may be none. */
static void traces_lie_where_temporary_files_do(void **state)
{
	static const struct { const char *set; bool mine; } folders[] = {
		{ directory, true }, { "", false }, { NULL, false }
	};
	struct gus_replays_window w;
	char target[4096];

	(void)state;
	world.on = true;
	for (size_t i = 0; i < COUNT(folders); i++) {
		struct gus_replays *r;
		ssize_t n;

		if (folders[i].set)
			setenv("TMPDIR", folders[i].set, 1);
		else
			unsetenv("TMPDIR");
		r = of_process((struct gus_replays_wish){ 7, 8, 1, 0, 0 });
		assert_int_equal(next(r, &w), 1);
		n = readlink(w.path, target, sizeof(target) - 1);
		assert_true(n > 0);
		target[n] = '\0';
		assert_int_equal(strncmp(target, directory, strlen(directory)) == 0, folders[i].mine);
		assert_int_equal(strncmp(target, "/tmp/", 5), 0);
		gus_replays_close(r);
	}
}

/* Then they lie in memory. */
static void traces_need_no_folder(void **state)
{
	struct gus_replays_window w;
	struct gus_replays *r;

	(void)state;
	world.on = true;
	setenv("TMPDIR", "/nowhere", 1);
	r = of_process((struct gus_replays_wish){ 7, 8, 1, 0, 0 });
	assert_int_equal(next(r, &w), 1);
	assert_int_equal(letter_of(w.path), 'a');
	gus_replays_close(r);
}

/* Of three windows the first fails: those behind it come, unless they would fail alike. */
static const struct { enum gus_code code; unsigned windows; } fates[] = {
	{ GUS_OK, 3 }, { GUS_E_SYSTEM, 3 }, { GUS_E_USAGE, 3 }, { GUS_E_UNSUPPORTED, 3 }, { GUS_E_CORRUPT, 3 },
	{ GUS_E_TRUNCATED, 3 }, { GUS_E_VERSION, 3 }, { GUS_E_NOT_FOUND, 1 }, { GUS_E_PERMISSION, 1 },
	{ GUS_E_FULL, 1 },
};

static void some_failures_are_the_last(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * COUNT(fates); i++) {
		enum gus_code code = fates[i / 2].code;
		struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 8, 3, 0, 0 });
		struct gus_replays_window w;

		memset(&world, 0, sizeof(world));
		world.on = true;
		*(i % 2 ? world.takes : world.replays) = code;
		assert_int_equal(next(r, &w), 1);
		assert_int_equal(w.err.code, code);
		assert_int_equal(w.number, 0);
		assert_int_equal(!w.path, code != GUS_OK);
		assert_int_equal(!w.about, code != GUS_OK && i % 2);
		for (unsigned more = 1; more < fates[i / 2].windows; more++) {
			assert_int_equal(next(r, &w), 1);
			assert_true(w.number == more && w.path && w.err.code == GUS_OK);
		}
		assert_int_equal(next(r, &w), 0);
		gus_replays_close(r);
	}
}

/* Threads in turn: of those that begin to wait or end when they are chosen, three are passed over for each window. */
static void another_thread_may_have_its_turn(void **state)
{
	struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 0, 2, 0, 12345 });
	struct gus_replays_window w;

	(void)state;
	world.on = true;
	world.takes[0] = world.takes[2] = world.takes[4] = GUS_E_UNSUPPORTED;
	world.takes[3] = GUS_E_NOT_FOUND;
	assert_int_equal(next(r, &w), 1);
	assert_true(world.pid == 7 && world.patience_ms == GUS_SNAPSHOT_PATIENCE_MS);
	assert_true(world.take.pid == 7 && world.take.tid == 101 && world.take.max_bytes == 12345);
	assert_int_equal(world.take.patience_ms, GUS_SNAPSHOT_PATIENCE_MS / 4);
	assert_int_equal(w.about->tid, 101);
	assert_int_equal(w.err.code, GUS_OK); /* nothing is left of the first one's */
	assert_int_equal(*w.err.text, '\0');
	assert_int_equal(next(r, &w), 1);
	assert_int_equal(w.about->tid, 105);
	assert_int_equal(w.err.code, GUS_OK);
	gus_replays_close(r);
}

/* So many attempts are made for one window where it fails like this, and so many windows come of three. */
static void attempts_have_an_end(void **state)
{
	static const struct {
		enum gus_code turns[4], takes[4];
		unsigned chosen, tried;
		enum gus_code code;
	} cases[] = {
		{ { 0 }, { GUS_E_UNSUPPORTED, GUS_E_UNSUPPORTED, GUS_E_UNSUPPORTED, GUS_E_UNSUPPORTED }, 4, 4,
		  GUS_E_UNSUPPORTED },
		{ { 0 }, { GUS_E_UNSUPPORTED, GUS_E_FULL }, 2, 2, GUS_E_FULL },
		{ { 0 }, { GUS_E_PERMISSION }, 1, 1, GUS_E_PERMISSION },
		{ { GUS_E_UNSUPPORTED }, { 0 }, 1, 0, GUS_E_UNSUPPORTED },      /* nobody computes */
		{ { GUS_OK, GUS_E_NOT_FOUND }, { GUS_E_UNSUPPORTED }, 2, 1, GUS_E_NOT_FOUND },
		/* Each thread ends when it is chosen, and the process goes on; then that ends. */
		{ { 0 }, { GUS_E_NOT_FOUND, GUS_E_NOT_FOUND, GUS_E_NOT_FOUND, GUS_E_NOT_FOUND }, 4, 4,
		  GUS_E_UNSUPPORTED },
		{ { GUS_OK, GUS_E_NOT_FOUND }, { GUS_E_NOT_FOUND }, 2, 1, GUS_E_NOT_FOUND },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_replays *r = of_process((struct gus_replays_wish){ 7, 0, 3, 0, 0 });
		struct gus_replays_window w;

		memset(&world, 0, sizeof(world));
		world.on = true;
		memcpy(world.turns, cases[i].turns, sizeof(cases[i].turns));
		memcpy(world.takes, cases[i].takes, sizeof(cases[i].takes));
		assert_int_equal(next(r, &w), 1);
		assert_int_equal(world.turns_n, cases[i].chosen);
		assert_int_equal(world.takes_n, cases[i].tried);
		assert_int_equal(w.err.code, cases[i].code);
		assert_true(!w.about && !w.path);
		assert_int_equal(next(r, &w), cases[i].code == GUS_E_UNSUPPORTED);
		gus_replays_close(r);
	}
}

/* Of processes that are there. */

static pid_t begin(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The one window that says so. */
static bool ends_with(struct gus_replays_wish wish, enum gus_code code)
{
	struct gus_replays *r = of_process(wish);
	struct gus_error err = { 0 };
	struct gus_replays_window w;
	bool good = gus_replays_next(r, &w, &err) == 1 && w.err.code == code && *w.err.text && !w.about && !w.path &&
		    gus_replays_next(r, &w, &err) == 0;

	gus_replays_close(r);
	return good;
}

static void a_process_that_does_not_exist(void **state)
{
	pid_t pid = begin();

	(void)state;
	end(pid);
	assert_true(ends_with((struct gus_replays_wish){ pid, 0, 3, 0, 0 }, GUS_E_NOT_FOUND));
#if defined(__x86_64__) || defined(__aarch64__)
	assert_true(ends_with((struct gus_replays_wish){ pid, pid, 3, 0, 0 }, GUS_E_NOT_FOUND));
#endif
}

static const char *missing;     /* NULL: snapshots can be taken here */

static void may_take(void)
{
	if (missing) {
		print_message("skipped: %s\n", missing);
		skip();
	}
}

/* Its memory is a stack at least, and more than one byte. */
static void a_process_that_is_too_large(void **state)
{
	pid_t pid;
	bool good;

	(void)state;
	may_take();
	pid = begin();
	good = ends_with((struct gus_replays_wish){ pid, 0, 3, 0, 1 }, GUS_E_FULL);
	end(pid);
	assert_true(good);
}

static void a_process_that_is_not_ours(void **state)
{
	pid_t pid, other;
	int status;

	(void)state;
	may_take();
	if (geteuid() != 0) {
		print_message("skipped: only root can become somebody else\n");
		skip();
	}
	pid = begin();
	other = fork();
	if (other == 0) {
		unsetenv("TMPDIR");
		if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
			_exit(2);
		_exit(!ends_with((struct gus_replays_wish){ pid, 0, 3, 0, 0 }, GUS_E_PERMISSION));
	}
	waitpid(other, &status, 0);
	end(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A real snapshot, of the only thread. */
static void a_process_that_computes(void **state)
{
	struct gus_replays_window w;
	struct gus_replays *r;
	pid_t pid, tid = 0;
	int more;

	(void)state;
	may_take();
	pid = begin();
	r = of_process((struct gus_replays_wish){ pid, 0, 1, 0, 0 });
	more = next(r, &w);
	if (more == 1 && w.about)
		tid = (pid_t)w.about->tid;
	gus_replays_close(r);
	end(pid);
	assert_int_equal(tid, pid);
}

/* Of recordings. */

/* Snapshots of threads 1, 2, ..., each for its window. */
static struct gus_reader *record(const uint64_t *windows, unsigned n, bool cut)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_writer *writer = gus_writer_create("data", &header, NULL);
	struct gus_reader *reader;

	assert_non_null(writer);
	for (unsigned i = 0; i < n; i++) {
		struct gus_snapshot s = made_snapshot(i + 1);

		made_snapshot_map(&s, 0x400000, 4, "/bin/true");
		made_snapshot_run(&s, 0x401000, 1);
		s.about->window = windows[i];
		assert_int_equal(gus_snapshot_write(writer, &s, NULL), 0);
		gus_snapshot_free(&s);
	}
	if (cut)
		gus_writer_abandon(writer);
	else
		assert_int_equal(gus_writer_finish(writer, &footer, NULL), 0);
	reader = gus_reader_open("data", NULL);
	assert_non_null(reader);
	unlink("data");
	return reader;
}

static struct gus_replays *of_recording(struct gus_reader *reader)
{
	struct gus_error err = { 0 };
	struct gus_replays *r = gus_replays_of_recording(reader, &replay, &err);

	if (!r)
		fail_msg("%s", err.text);
	return r;
}

/* Each is as long as it was recorded for, but where each instruction is a step; one that does not say so is as long as
 * is wished. */
static void recorded_windows_are_their_own(void **state)
{
	static const uint64_t windows[] = { 1000, 1000000, 0, 199999, 200000, 200001 };
	static const uint64_t lengths[] = { 1000, 1000000, 5000, 199999, 200000, 200001 };
	static const uint64_t stepped[] = { 1000, 200000, 700, 199999, 200000, 200000 };
	struct gus_reader *reader = record(windows, COUNT(windows), false);
	struct gus_replays *r = of_recording(reader);
	struct gus_replays_window w;

	(void)state;
	for (unsigned i = 0; i < COUNT(windows); i++) {
		assert_int_equal(next(r, &w), 1);
		assert_int_equal(w.number, i);
		assert_int_equal(w.about->tid, i + 1);
		assert_int_equal(world.replay.window, lengths[i]);
		assert_int_equal(world.replay.native_window, stepped[i]);
		assert_int_equal(world.replay.seconds, replay.seconds);
		assert_int_equal(letter_of(w.path), 'a' + i);
	}
	assert_int_equal(next(r, &w), 0);
	gus_replays_close(r);
	assert_int_equal(files(), 0);
	gus_reader_close(reader);
}

/* What cannot be replayed is not the end of a recording, whatever it is. */
static void recordings_go_on(void **state)
{
	static const uint64_t windows[] = { 0, 0, 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(fates); i++) {
		struct gus_reader *reader = record(windows, 3, false);
		struct gus_replays *r = of_recording(reader);
		struct gus_replays_window w;

		world.replays_n = 0;
		world.replays[0] = fates[i].code;
		assert_int_equal(next(r, &w), 1);
		assert_int_equal(w.err.code, fates[i].code);
		assert_int_equal(w.about->tid, 1);
		assert_int_equal(next(r, &w), 1);
		assert_true(w.about->tid == 2 && w.path && w.err.code == GUS_OK);
		assert_int_equal(next(r, &w), 1);
		assert_int_equal(next(r, &w), 0);
		gus_replays_close(r);
		gus_reader_close(reader);
	}
}

static void a_cut_recording_says_so(void **state)
{
	static const uint64_t windows[] = { 0 };
	struct gus_reader *reader = record(windows, 1, true);
	struct gus_replays *r = of_recording(reader);
	struct gus_error err = { 0 };
	struct gus_replays_window w;

	(void)state;
	assert_int_equal(next(r, &w), 1);
	assert_int_equal(gus_replays_next(r, &w, &err), -1);
	assert_int_equal(err.code, GUS_E_TRUNCATED);
	assert_true(!w.about && !w.path);
	gus_replays_close(r);
	gus_reader_close(reader);
}

static void an_empty_recording_has_none(void **state)
{
	struct gus_reader *reader = record(NULL, 0, false);
	struct gus_replays *r = of_recording(reader);

	(void)state;
	assert_int_equal(count_windows(r), 0);
	assert_int_equal(world.replays_n, 0);
	gus_replays_close(r);
	gus_reader_close(reader);
}

/* Whether this program may trace its own children at all: some containers forbid it. */
static void find_missing(void)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	missing = "snapshots are taken on x86-64 and arm64 only";
#else
	pid_t pid = begin();
	struct gus_snapshot_wish w = { .pid = pid, .tid = pid };
	struct gus_snapshot s;
	struct gus_error err = { 0 };

	if (gus_snapshot_take(&w, &s, &err) == 0)
		gus_snapshot_free(&s);
	else if (err.code == GUS_E_PERMISSION)
		missing = "processes cannot be traced here";
	end(pid);
#endif
}

/* Ours is what is our file and names this boot; of each the other, and neither. */
static void own_recordings_are_known(void **state)
{
	char boot[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	const struct { const char *boot; uid_t owner; bool own; } cases[] = {
		{ boot, geteuid(), true }, { "", geteuid(), false }, { NULL, geteuid(), false },
		{ "00000000-0000-0000-0000-000000000000", geteuid(), false }, { boot, 12345, false },
	};

	(void)state;
	assert_true(f && fgets(boot, sizeof(boot), f));
	fclose(f);
	boot[strcspn(boot, "\n")] = '\0';
	for (size_t i = 0; i < COUNT(cases); i++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
		Gusprof__Host host = GUSPROF__HOST__INIT;
		struct gus_writer *writer;
		struct gus_reader *reader;

		host.boot_id = (char *)(uintptr_t)cases[i].boot;
		if (cases[i].boot)
			header.host = &host;
		writer = gus_writer_create("data", &header, NULL);
		assert_non_null(writer);
		assert_int_equal(gus_writer_finish(writer, &footer, NULL), 0);
		if (cases[i].owner != geteuid() && chown("data", cases[i].owner, (gid_t)-1) != 0) {
			print_message("not tried: another's file, which only root can make\n");
		} else {
			reader = gus_reader_open("data", NULL);
			assert_non_null(reader);
			assert_int_equal(gus_replays_is_own(reader), cases[i].own);
			gus_reader_close(reader);
		}
		unlink("data");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(there_are_as_many_as_were_asked_for),
		TEST(wishes_are_passed_on),
		TEST(windows_are_spread),
		TEST(a_slow_window_moves_what_follows),
		TEST(traces_have_no_name),
		TEST(traces_lie_where_temporary_files_do),
		TEST(traces_need_no_folder),
		TEST(some_failures_are_the_last),
		TEST(another_thread_may_have_its_turn),
		TEST(attempts_have_an_end),
		TEST(a_process_that_does_not_exist),
		TEST(a_process_that_is_too_large),
		TEST(a_process_that_is_not_ours),
		TEST(a_process_that_computes),
		TEST(recorded_windows_are_their_own),
		TEST(recordings_go_on),
		TEST(a_cut_recording_says_so),
		TEST(an_empty_recording_has_none),
		TEST(own_recordings_are_known),
	};

	find_missing();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
