/* SPDX-License-Identifier: MIT */
#include "cli/compare/recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/helper.h"
#include "base/log.h"
#include "cli/common/ending.h"
#include "cli/common/options.h"
#include "cli/record/record.h"
#include "proto/reader.h"

/* Per cent of the time; it is known and taken off, so it may be more than a recording takes by itself. */
#define OVERHEAD 2

/* Who wants us to end means the command as well, and that is the recorder's to end: it is told, unless it has the
 * signal by itself, from the terminal; and we end when it has ended. */
static volatile sig_atomic_t recorder, ended_by;

static void pass_on(int number, siginfo_t *info, void *context)
{
	int sys = errno;

	(void)context;
	ended_by = number;
	if (recorder && info->si_code != SI_KERNEL)
		kill((pid_t)recorder, number);
	errno = sys;
}

static const int endings[] = { SIGINT, SIGTERM, SIGHUP };
enum { ENDINGS = sizeof(endings) / sizeof(*endings) };

struct before { struct sigaction of[ENDINGS]; };

/* SIGINT also where it is ignored, as the recorder takes it. */
static void catch_endings(struct before *before)
{
	struct sigaction pass = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART };

	for (int i = 0; i < ENDINGS; i++)
		sigaddset(&pass.sa_mask, endings[i]);
	for (int i = 0; i < ENDINGS; i++)
		if (sigaction(endings[i], NULL, &before->of[i]) == 0 &&
		    (endings[i] == SIGINT || before->of[i].sa_handler != SIG_IGN))
			sigaction(endings[i], &pass, NULL);
}

/* What has come meanwhile ends us now. */
static void let_endings(const struct before *before)
{
	for (int i = 0; i < ENDINGS; i++)
		sigaction(endings[i], &before->of[i], NULL);
	if (ended_by)
		gus_die_by((int)ended_by);
}

/* Nothing is passed on to a recorder that is not known yet. The death signal is one that it can do something about: to
 * end the command. */
static pid_t fork_recorder(void)
{
	sigset_t set, before;
	pid_t pid;
	int sys;

	sigemptyset(&set);
	for (int i = 0; i < ENDINGS; i++)
		sigaddset(&set, endings[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	pid = ended_by ? -1 : gus_helper_fork();
	sys = ended_by ? EINTR : errno;
	if (pid > 0)
		recorder = pid;
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = sys;
	return pid;
}

/* It is a process that may be told until nothing is passed on any more. 0, or errno. */
static int wait_for_recorder(pid_t pid, int *status)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
		if (errno != EINTR)
			return errno;
	recorder = 0;
	return waitpid(pid, status, 0) < 0 ? errno : 0;
}

static void __attribute__((noreturn)) become_recorder(const struct gus_compare_runs *runs, bool first, int file)
{
	int null = first ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);

	if (runs->out_is_err)
		dup2(2, 1);
	if (null >= 0)
		dup2(null, 1);
	fflush(stdout);
	_exit(gus_record_command(runs->command, runs->hz, runs->windows ? 0 : OVERHEAD, runs->windows, file));
}

/* Where standard input begins, or -1 if it cannot be read twice. */
static off_t begin_input(void)
{
	return lseek(0, 0, SEEK_CUR);
}

static void rewind_input(off_t begin)
{
	int null = begin < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

	if (begin >= 0)
		lseek(0, begin, SEEK_SET);
	if (null >= 0) {
		dup2(null, 0);
		close(null);
	}
}

/* Of a terminal and of /dev/null nobody expects that they are read twice. */
static void warn_of_input(const char *command)
{
	struct stat st;
	bool pipe = fstat(0, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));

	if (pipe)
		gus_log(gus_cli_log(0), GUS_WARN, "standard input is a pipe, which can be read once: the first run of "
			"'%s' has all of it, and those behind it, with the one that is traced, find it empty, so what "
			"is measured and what is modelled may not be the same; give it a file, as in < FILE", command);
}

/* Unless it is said how many: so many at least, as it is to be known how runs differ; and of short ones as many as it
 * takes to have some thousand samples. */
enum { RUNS_LEAST = 3, RUNS_MOST = 100, RUNS_SECONDS = 8 };

static bool is_enough(const struct gus_compare_recordings *r, const struct gus_compare_runs *runs,
		      const struct timespec *begun)
{
	struct timespec now;

	if (runs->repeat)
		return r->files.n >= runs->repeat;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return r->files.n >= RUNS_MOST || (r->files.n >= RUNS_LEAST && now.tv_sec - begun->tv_sec >= RUNS_SECONDS);
}

static int record_once(struct gus_compare_recordings *r, const struct gus_compare_runs *runs, struct gus_error *err)
{
	int file = gus_scratch_open("samples", err), status = 0;
	bool first = !r->files.n;
	struct stat st;
	pid_t pid;
	int sys;

	if (file < 0)
		return -1;
	gus_vec_push(&r->files, file);
	pid = fork_recorder();
	if (pid < 0)
		return gus_fail_errno(err, errno, "cannot create a process that records '%s'", runs->command[0]);
	if (pid == 0)
		become_recorder(runs, first, file);
	sys = wait_for_recorder(pid, &status);
	if (sys)
		return gus_fail_errno(err, sys, "cannot wait for the recording of '%s'", runs->command[0]);
	if (first)
		r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	r->failed |= fstat(file, &st) != 0 || !st.st_size;
	return r->failed ? -1 : 0;
}

/* 1: there are some, 0: none, -1 with err. */
static int has_samples(int file, struct gus_error *err)
{
	struct gus_reader *reader = gus_reader_open_kept(file, "the recording", err);
	struct gus_error damage = { 0 };
	struct gus_frame frame;
	int has;

	if (!reader)
		return -1;
	has = gus_reader_next_of(reader, 1u << GUS_FRAME_SAMPLES, &frame, &damage) == GUS_READ_FRAME;
	gus_reader_close(reader);
	return has;
}

/* After the first run, if nobody has said how many there are to be: whether others are of use, as the command may do
 * something each time. 1: they are, 0: that run is enough, -1 with err: nor is that one. */
static int goes_on(const struct gus_compare_recordings *r, const struct gus_compare_runs *runs, struct gus_error *err)
{
	int has = has_samples(r->files.v[0], err);
	char by[64] = "";

	if (has < 0)
		return -1;
	if (!has)
		return gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to compare: the recording of '%s' has no "
				"sample, so it is not run again; it is too short, or -F is too low; -r says how often "
				"to run it all the same", runs->command[0]);
	if (r->status > 128 && r->status - 128 < NSIG)
		snprintf(by, sizeof(by), ", as by signal %d (%s)", r->status - 128, strsignal(r->status - 128));
	if (r->status)
		gus_log(gus_cli_log(0), GUS_NOTE, "'%s' ended with status %d%s, so it is not recorded again; -r says "
			"how often to do so all the same", runs->command[0], r->status, by);
	return !r->status;
}

static int record_all(struct gus_compare_recordings *r, const struct gus_compare_runs *runs, struct gus_error *err)
{
	off_t begin = begin_input();
	struct timespec begun;

	if (begin < 0)
		warn_of_input(runs->command[0]);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	while (!is_enough(r, runs, &begun)) {
		if (record_once(r, runs, err) != 0 || ended_by)
			return -1;
		rewind_input(begin);
		if (r->files.n == 1 && !runs->repeat) {
			int more = goes_on(r, runs, err);

			if (more <= 0)
				return more;
		}
	}
	return 0;
}

int gus_compare_recordings_make(struct gus_compare_recordings *r, const struct gus_compare_runs *runs,
				struct gus_error *err)
{
	struct before before;
	int rc;

	*r = (struct gus_compare_recordings){ .status = 0 };
	catch_endings(&before);
	rc = record_all(r, runs, err);
	let_endings(&before);
	return rc;
}

void gus_compare_recordings_free(struct gus_compare_recordings *r)
{
	for (size_t i = 0; i < r->files.n; i++)
		close(r->files.v[i]);
	gus_vec_free(&r->files);
}

int gus_compare_recordings_failure(const struct gus_compare_recordings *r, bool process, bool command,
				   const struct gus_error *err)
{
	if (r->failed) /* and its recorder has said why */
		return r->status ? r->status : GUS_EXIT_OWN_FAILURE;
	gus_complain(err);
	if (process && err->code == GUS_E_NOT_FOUND)
		return GUS_EXIT_NO_TARGET;
	if (command && (err->sys == ENOENT || err->sys == EACCES))
		return GUS_EXIT_NO_COMMAND;
	return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}
