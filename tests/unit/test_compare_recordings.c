/* SPDX-License-Identifier: MIT */
/* Recordings that gusprof compare makes of a command: how many, what they read and print, and how they end. The
 * recorder is the test's; it is a process as the real one is, and a run takes as long as the test says. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/common/options.h"
#include "cli/compare/recordings.h"
#include "cli/record/record.h"
#include "proto/sample.h"
#include "proto/writer.h"
#include "tests/unit/made_folder.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

enum { STATUSES = 4, MOST = 200 };
enum made { SAMPLES, NO_SAMPLES, NO_HEADER, NOTHING };

/* Recorders see it, and say in it what they have seen. */
static struct shared {
	int status[STATUSES];           /* of each run; negative: it dies by that signal; of the last one all others */
	enum made makes;                /* what is in the files */
	unsigned makes_nothing_at;      /* but in that of this run, from 1 on; 0: in none */
	long seconds;                   /* of a run */
	bool lasts;                     /* until a signal comes: its number is the status */
	volatile unsigned runs, told;
	size_t got[MOST];               /* bytes of standard input */
	uint64_t hz;
} *shared;

static char logged[400];

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ .tv_sec = 1000 + (long)shared->runs * shared->seconds };
	return 0;
}

static void keep_text(enum gus_level level, const char *text, void *context)
{
	(void)level;
	(void)context;
	snprintf(logged, sizeof(logged), "%s", text);
}

const struct gus_log *gus_cli_log(int verbosity)
{
	static const struct gus_log log = { GUS_NOTE, keep_text, NULL };

	(void)verbosity;
	return &log;
}

static void make_recording(int fd)
{
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct gus_columns samples = { 0 };
	struct gus_writer *w;

	header.events = events;
	header.n_events = 1;
	w = gus_writer_create_fd(fd, "t", &header, NULL);
	gus_columns_push(&samples, &(struct gus_sample){ .time = 1, .period = 1 });
	if (shared->makes == SAMPLES)
		gus_writer_samples(w, &samples, NULL);
	gus_columns_free(&samples);
	gus_writer_finish(w, &footer, NULL);
}

static void end_by(int number)
{
	shared->told++;
	_exit(number);
}

static unsigned complaints;

void gus_complain(const struct gus_error *err)
{
	assert_non_null(err);
	complaints++;
}

int gus_record_command(char **command, uint64_t hz, double overhead, bool windows, int fd)
{
	assert_false(windows);
	unsigned run = shared->runs;
	int status = shared->status[run < STATUSES ? run : STATUSES - 1];
	char byte;

	while (read(0, &byte, 1) == 1)
		shared->got[run]++;
	dprintf(1, "out %u\n", run + 1);
	dprintf(2, "err %u\n", run + 1);
	if (strcmp(command[0], "command") != 0 || overhead != 2)
		return 99;
	shared->hz = hz;
	if (shared->makes == NO_HEADER)
		dprintf(fd, "no recording");
	else if (shared->makes != NOTHING && shared->makes_nothing_at != run + 1)
		make_recording(fd);
	if (shared->lasts) {
		signal(SIGTERM, end_by);
		signal(SIGINT, end_by);
		signal(SIGHUP, end_by);
	}
	shared->runs++;
	while (shared->lasts)
		pause();
	if (status < 0)
		raise(-status);
	return status;
}

static void place(int fd, int number)
{
	dup2(fd, number);
	close(fd);
}

static struct gus_compare_recordings made;

/* Standard input is `in`, or empty; what is printed is in the files "text" and "errors". */
static int make_as(const struct shared *is, const struct gus_compare_runs *how, int in, struct gus_error *err)
{
	char name[] = "command", *command[] = { name, NULL };
	struct gus_compare_runs runs = *how;
	int fd[3], rc;

	runs.command = command;
	*shared = *is;
	logged[0] = '\0';
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		fd[i] = dup(i);
	place(in >= 0 ? dup(in) : open("/dev/null", O_RDONLY), 0);
	place(open("text", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600), 1);
	place(open("errors", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600), 2);
	rc = gus_compare_recordings_make(&made, &runs, err);
	if (in >= 0)
		dup2(0, in); /* what it is behind the runs */
	for (int i = 0; i < 3; i++)
		place(fd[i], i);
	return rc;
}

static int make(const struct shared *is, uint64_t repeat, struct gus_error *err)
{
	return make_as(is, &(struct gus_compare_runs){ .repeat = repeat, .hz = 123 }, -1, err);
}

/* So many as are asked for, whatever they end with; the status is the first one's, as a shell shows it. */
static void as_many_runs_as_asked_for(void **state)
{
	static const struct { uint64_t repeat; int status[STATUSES], want; } cases[] = {
		{ 1, { 0, 9, 9, 9 }, 0 }, { 2, { 3, 0, 0, 0 }, 3 }, { 5, { 0, 3, 0, 0 }, 0 },
		{ 2, { -SIGTERM, 0, 0, 0 }, 128 + SIGTERM },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct shared is = { .seconds = 100 };

		memcpy(is.status, cases[i].status, sizeof(is.status));
		assert_int_equal(make(&is, cases[i].repeat, NULL), 0);
		assert_int_equal(made.files.n, cases[i].repeat);
		assert_int_equal(shared->runs, cases[i].repeat);
		assert_int_equal(made.status, cases[i].want);
		assert_false(made.failed);
		assert_int_equal(shared->hz, 123);
		assert_string_equal(logged, "");
		gus_compare_recordings_free(&made);
	}
}

/* Who says nothing gets three at least, for 8 seconds, and 100 at most. */
static void as_many_as_it_takes(void **state)
{
	static const struct { long seconds; unsigned runs; } cases[] = {
		{ 100, 3 }, { 3, 3 }, { 2, 4 }, { 1, 8 }, { 0, 100 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(make(&(struct shared){ .seconds = cases[i].seconds }, 0, NULL), 0);
		assert_int_equal(made.files.n, cases[i].runs);
		assert_string_equal(logged, "");
		gus_compare_recordings_free(&made);
	}
}

/* Then what fails is not run again, which is said, and by which signal it seems to have ended. */
static void what_fails_is_run_once(void **state)
{
	static const struct { int status; const char *says; } cases[] = {
		{ 1, "status 1, so" }, { 128, "status 128, so" }, { 129, "status 129, as by signal 1 (Hangup), so" },
		{ 193, "status 193, so" }, { -SIGKILL, "status 137, as by signal 9 (Killed), so" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(make(&(struct shared){ .status = { cases[i].status } }, 0, NULL), 0);
		assert_int_equal(made.files.n, 1);
		if (!strstr(logged, cases[i].says))
			fail_msg("'%s' does not say '%s'", logged, cases[i].says);
		gus_compare_recordings_free(&made);
	}
}

/* Nor is what has no sample, if nobody asked for it. */
static void what_tells_nothing_is_an_error(void **state)
{
	static const struct { enum made makes; uint64_t repeat; int result; enum gus_code code; } cases[] = {
		{ NO_SAMPLES, 0, -1, GUS_E_NOT_FOUND }, { NO_SAMPLES, 2, 0, GUS_OK },
		{ NO_HEADER, 0, -1, GUS_E_CORRUPT }, { NO_HEADER, 2, 0, GUS_OK },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_error err = { 0 };

		assert_int_equal(make(&(struct shared){ .makes = cases[i].makes }, cases[i].repeat, &err),
				 cases[i].result);
		assert_int_equal(err.code, cases[i].code);
		assert_int_equal(made.files.n, cases[i].repeat ? cases[i].repeat : 1);
		assert_false(made.failed);
		gus_compare_recordings_free(&made);
	}
}

/* A recorder that fails has said why. */
static void what_is_not_recorded_ends_it(void **state)
{
	(void)state;
	for (unsigned at = 1; at <= 3; at++) {
		struct gus_error err = { 0 };

		assert_int_equal(make(&(struct shared){ .makes_nothing_at = at }, 3, &err), -1);
		assert_true(made.failed && !err.text[0]);
		assert_int_equal(shared->runs, at);
		gus_compare_recordings_free(&made);
	}
}

static size_t left_in(int fd)
{
	size_t n = 0;
	char byte;

	while (read(fd, &byte, 1) == 1)
		n++;
	return n;
}

/* A file is read by all runs from where it stood, and by who comes behind them; a pipe by the first. */
static void input_is_read_again(void **state)
{
	int file = open("t", O_RDWR | O_CREAT, 0600), fd[2];

	(void)state;
	assert_int_equal(write(file, "0123456789", 10), 10);
	lseek(file, 3, SEEK_SET);
	assert_int_equal(make_as(&(struct shared){ 0 }, &(struct gus_compare_runs){ .repeat = 2 }, file, NULL), 0);
	assert_int_equal(shared->got[0], 7);
	assert_int_equal(shared->got[1], 7);
	assert_int_equal(left_in(file), 7);
	assert_string_equal(logged, "");
	gus_compare_recordings_free(&made);
	close(file);
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], "01234", 5), 5);
	close(fd[1]);
	assert_int_equal(make_as(&(struct shared){ 0 }, &(struct gus_compare_runs){ .repeat = 2 }, fd[0], NULL), 0);
	assert_int_equal(shared->got[0], 5);
	assert_int_equal(shared->got[1], 0);
	assert_int_equal(lseek(fd[0], 0, SEEK_CUR), 0); /* it is no pipe any more */
	assert_int_equal(left_in(fd[0]), 0);
	assert_non_null(strstr(logged, "the first run of 'command' has all of it"));
	gus_compare_recordings_free(&made);
	close(fd[0]);
}

static void file_has(const char *path, const char *text)
{
	char has[100] = "";
	int fd = open(path, O_RDONLY);

	assert_true(read(fd, has, sizeof(has) - 1) >= 0);
	close(fd);
	assert_string_equal(has, text);
}

static void the_first_one_prints(void **state)
{
	(void)state;
	assert_int_equal(make(&(struct shared){ 0 }, 3, NULL), 0);
	file_has("text", "out 1\n");
	file_has("errors", "err 1\nerr 2\nerr 3\n");
	gus_compare_recordings_free(&made);
	assert_int_equal(make_as(&(struct shared){ 0 }, &(struct gus_compare_runs){ .repeat = 2, .out_is_err = true },
				 -1, NULL), 0);
	file_has("text", "");
	file_has("errors", "out 1\nerr 1\nerr 2\n");
	gus_compare_recordings_free(&made);
}

/* Who is told to end while a run is recorded tells the recorder and ends by the same, whatever was asked for. */
static void signals_end_the_recorder(void **state)
{
	static const struct { int number; bool ignored; } cases[] = {
		{ SIGTERM, false }, { SIGINT, false }, { SIGHUP, false }, { SIGINT, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int status;
		pid_t pid;

		*shared = (struct shared){ 0 };
		pid = fork();
		if (pid == 0) {
			for (size_t k = 0; k < COUNT(cases); k++)
				signal(cases[k].number, SIG_DFL);
			if (cases[i].ignored)
				signal(cases[i].number, SIG_IGN);
			make(&(struct shared){ .lasts = true }, 3, NULL);
			_exit(1);
		}
		while (!shared->runs)
			usleep(1000);
		kill(pid, cases[i].number);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == cases[i].number);
		assert_int_equal(shared->runs, 1);
		assert_int_equal(shared->told, 1);
	}
}

/* Signals other than SIGINT that are ignored stay so. */
static void what_is_ignored_stays_so(void **state)
{
	struct sigaction now;
	int status;
	pid_t pid;

	(void)state;
	*shared = (struct shared){ 0 };
	pid = fork();
	if (pid == 0) {
		signal(SIGHUP, SIG_IGN);
		signal(SIGTERM, SIG_DFL);
		make(&(struct shared){ .lasts = true }, 1, NULL);
		_exit(1);
	}
	while (!shared->runs)
		usleep(1000);
	kill(pid, SIGHUP);
	usleep(50000);
	assert_int_equal(shared->told, 0);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	/* What was done with them before is done again. */
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(make(&(struct shared){ 0 }, 1, NULL), 0);
	gus_compare_recordings_free(&made);
	assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_IGN);
	assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
	assert_true(now.sa_handler == SIG_DFL);
	signal(SIGHUP, SIG_DFL);
}

static int enter(void **state)
{
	if (made_folder_enter(state) != 0)
		return -1;
	alarm(60);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : 0;
}

static int leave(void **state)
{
	alarm(0);
	munmap(shared, sizeof(*shared));
	unlink("text");
	unlink("errors");
	return made_folder_leave(state);
}

/* Who failed has one complaint, and the status that goes with what it was of; a recorder has complained itself. */
static void failures(void **state)
{
	static const struct {
		bool failed, process, command;
		int status;
		enum gus_code code;
		int sys, is;
	} cases[] = {
		{ true, false, true, 3, GUS_OK, 0, 3 }, { true, false, true, 0, GUS_OK, 0, GUS_EXIT_OWN_FAILURE },
		{ false, true, false, 0, GUS_E_NOT_FOUND, 0, GUS_EXIT_NO_TARGET },
		{ false, false, false, 0, GUS_E_NOT_FOUND, 0, GUS_EXIT_OWN_FAILURE },
		{ false, false, true, 0, GUS_E_SYSTEM, ENOENT, GUS_EXIT_NO_COMMAND },
		{ false, false, true, 0, GUS_E_SYSTEM, EACCES, GUS_EXIT_NO_COMMAND },
		{ false, false, true, 0, GUS_E_SYSTEM, EIO, GUS_EXIT_OWN_FAILURE },
		{ false, false, false, 0, GUS_E_SYSTEM, ENOENT, GUS_EXIT_OWN_FAILURE },
		{ false, false, false, 0, GUS_E_USAGE, 0, GUS_EXIT_USAGE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_compare_recordings r = { .failed = cases[i].failed, .status = cases[i].status };
		const struct gus_error err = { .code = cases[i].code, .sys = cases[i].sys };

		complaints = 0;
		if (gus_compare_recordings_failure(&r, cases[i].process, cases[i].command, &err) != cases[i].is)
			fail_msg("case %zu", i);
		assert_int_equal(complaints, !cases[i].failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures),
		cmocka_unit_test_setup_teardown(as_many_runs_as_asked_for, enter, leave),
		cmocka_unit_test_setup_teardown(as_many_as_it_takes, enter, leave),
		cmocka_unit_test_setup_teardown(what_fails_is_run_once, enter, leave),
		cmocka_unit_test_setup_teardown(what_tells_nothing_is_an_error, enter, leave),
		cmocka_unit_test_setup_teardown(what_is_not_recorded_ends_it, enter, leave),
		cmocka_unit_test_setup_teardown(input_is_read_again, enter, leave),
		cmocka_unit_test_setup_teardown(the_first_one_prints, enter, leave),
		cmocka_unit_test_setup_teardown(signals_end_the_recorder, enter, leave),
		cmocka_unit_test_setup_teardown(what_is_ignored_stays_so, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
