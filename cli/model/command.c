/* SPDX-License-Identifier: MIT */
/* gusprof model -- COMMAND: what a command executes, and what it becomes, and with --children what it forks off: each
 * program has a trace of its own, and all that are written at the same time are read at the same time, a frame of one
 * after a frame of another, as processes wait for each other: who read one trace to its end while its process waits for
 * a child would wait for ever. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/foreign_file.h"
#include "cli/common/options.h"
#include "cli/common/progress.h"
#include "cli/model/output.h"
#include "cli/model/rates.h"
#include "cli/model/traced.h"
#include "tracing/emulator/emulate.h"

/* SIGINT is the command's: what was traced until its end is told. From the terminal it has it by itself; who sends it
 * to us alone means it as well. Whatever else ends us ends the command, too, which SIGTERM says. */
static volatile sig_atomic_t emulator;

static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code != SI_KERNEL)
		kill((pid_t)emulator, number);
}

static void say_that_we_end(int number)
{
	static const char ended[] = "gusprof: ended by SIGTERM before the command was over; nothing is told of it, and "
		"it ends, too\n";
	ssize_t n = write(STDERR_FILENO, ended, sizeof(ended) - 1);

	(void)n;
	raise(number); /* by default now (SA_RESETHAND) */
}

enum { LOOK_MS = 500 };

/* A trace that comes in. Nobody waits for its first byte: until then it is a descriptor. */
struct incoming {
	int fd;                         /* of trace, once that is open */
	struct gus_trace *trace;
	struct gus_traced_source *source;
};

struct incomings {
	const struct gus_emulation *emulation;
	struct gus_traced *t;
	struct gus_vec(struct incoming) now;
	struct gus_vec(struct pollfd) polled;
	unsigned empty;                 /* of which nothing came */
	size_t most;                    /* at the same time */
	unsigned refused;               /* as there were so many */
	struct gus_progress progress;
	uint64_t instructions;          /* when the progress was looked at, */
	struct timespec looked;         /* then */
	double rate;
};

static void end_incoming(struct incoming *in)
{
	if (in->source)
		gus_traced_source_end(in->source);
	if (in->trace)
		gus_trace_close(in->trace);
	else if (in->fd >= 0)
		close(in->fd);
	*in = (struct incoming){ .fd = -1 };
}

/* A frame of it. false: there is no more. A failure is kept with its program. */
static bool read_incoming(struct incomings *all, struct incoming *in, struct gus_error *err)
{
	struct gus_error why = { 0 };

	if (!in->trace) {
		in->trace = gus_trace_open_fd(in->fd, &why);
		if (!in->trace) { /* closed by that: a fork that failed, or what could not begin */
			in->fd = -1;
			all->empty++;
			return false;
		}
	}
	if (!in->source)
		in->source = gus_traced_source_new(all->t, in->trace, &why);
	if (in->source && gus_traced_source_read(in->source, &why) > 0)
		return true;
	if (why.code && !err->code)
		*err = why;
	return false;
}

/* Traces at the same time: half of the descriptors, the others are for the files that programs are made of. The soft
 * limit is a default and ours to raise; the command has what it was given. */
static size_t traces_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 1;
	if (limit.rlim_cur < limit.rlim_max) {
		rlim_t before = limit.rlim_cur;

		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			limit.rlim_cur = before;
	}
	return limit.rlim_cur / 2 > 1 ? limit.rlim_cur / 2 : 1;
}

/* A trace that nobody takes is closed, and its program goes on without: if it waited until there is room, so would the
 * programs that wait for it, whose traces take the room. */
static void accept_all(struct incomings *all)
{
	for (int fd; (fd = gus_emulation_next(all->emulation)) >= 0;) {
		if (all->now.n < all->most) {
			gus_vec_push(&all->now, (struct incoming){ .fd = fd });
			continue;
		}
		close(fd);
		all->refused++;
	}
}

static void drop_ended(struct incomings *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->now.n; i++)
		if (all->now.v[i].fd >= 0)
			all->now.v[n++] = all->now.v[i];
	all->now.n = n;
}

/* Waits until one of them has something, or a new one comes; not for long, so that who looks on sees that it lives. */
static int wait_for_some(struct incomings *all, struct gus_error *err)
{
	int got;

	all->polled.n = 0;
	for (size_t i = 0; i < all->now.n; i++)
		gus_vec_push(&all->polled, (struct pollfd){ all->now.v[i].fd, POLLIN, 0 });
	gus_vec_push(&all->polled, (struct pollfd){ all->emulation->listener, POLLIN, 0 });
	do
		got = poll(all->polled.v, all->polled.n, LOOK_MS);
	while (got < 0 && errno == EINTR);
	return got < 0 ? gus_fail_errno(err, errno, "cannot wait for the traces of the command") : 0;
}

static double seconds_since(const struct timespec *then, struct timespec *now)
{
	clock_gettime(CLOCK_MONOTONIC, now);
	return (double)(now->tv_sec - then->tv_sec) + (double)(now->tv_nsec - then->tv_nsec) / 1e9;
}

/* How far the command will get nobody knows, so there is no share. */
static void show_progress(struct incomings *all)
{
	struct timespec now;
	double passed = seconds_since(&all->looked, &now);
	char what[128];

	if (passed >= 1) {
		all->rate = (double)(all->t->taken - all->instructions) / passed;
		all->instructions = all->t->taken;
		all->looked = now;
	}
	snprintf(what, sizeof(what), "%zu program%s, %.0f M instructions, %.1f M/s", all->t->programs.n,
		 all->t->programs.n == 1 ? "" : "s", (double)all->t->taken / 1e6, all->rate / 1e6);
	gus_progress(&all->progress, what, -1);
}

/* Until all have ended. A program's connection stands before the trace that leads to it ends, so when there is none
 * there comes none. */
static void read_all(struct incomings *all, struct gus_error *err)
{
	for (;;) {
		accept_all(all);
		drop_ended(all);
		if (!all->now.n || wait_for_some(all, err) != 0)
			break;
		for (size_t i = 0; i < all->now.n; i++)
			if (all->polled.v[i].revents && !read_incoming(all, &all->now.v[i], err))
				end_incoming(&all->now.v[i]);
		show_progress(all);
	}
	for (size_t i = 0; i < all->now.n; i++)
		end_incoming(&all->now.v[i]);
	gus_progress_end(&all->progress);
	gus_vec_free(&all->now);
	gus_vec_free(&all->polled);
}

/* What there is of it, first of all its first trace, which is open. */
static int model_programs(struct gus_model_traced *m, const struct gus_emulation *e, struct gus_trace *first,
			  struct gus_model_view *v, struct gus_error *err)
{
	struct gus_branch_config predictor;
	struct gus_error trouble = { 0 };
	struct gus_rights rights = { 0 };
	struct incomings all = { .emulation = e, .most = traces_most() };
	struct gus_traced t;
	int rc;

	gus_model_traced_set_interval(m, first);
	gus_model_traced_set_part(v, first);
	gus_model_traced_open(m, NULL, &rights, &predictor, &t);
	all.t = &t;
	clock_gettime(CLOCK_MONOTONIC, &all.looked);
	gus_vec_push(&all.now, (struct incoming){ .fd = e->trace, .trace = first });
	read_all(&all, &trouble);
	v->empty = all.empty;
	if (all.refused && !trouble.code)
		gus_fail(&trouble, GUS_E_FULL, "%u processes were not traced, as there were more than %zu at the same "
			 "time; raise the limit of descriptors (ulimit -n)", all.refused, all.most);
	rc = gus_traced_end(&t, &trouble);
	v->trouble = trouble.code ? trouble.text : NULL;
	if (trouble.code && !t.instructions) {
		*err = trouble;
		rc = -1;
	} else {
		rc = gus_model_traced_print(m, &t, v, err);
	}
	if (rc == 0 && trouble.code == GUS_E_SYSTEM) {
		*err = trouble;
		rc = -1;
	}
	gus_model_traced_close(m, NULL, &t);
	return rc;
}

int gus_model_command(struct gus_model_traced *m, char *const *argv, int *status, struct gus_error *err)
{
	struct gus_model_view v = { .command = (const char *const *)argv };
	struct sigaction pass = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART }, before;
	const struct sigaction end = { .sa_handler = say_that_we_end, .sa_flags = SA_RESETHAND | SA_RESTART };
	struct sigaction end_before;
	struct gus_emulation e = { .out_is_err = gus_model_output_moves_command(m->output), .follows = true,
		.children = m->children, .silent = m->silent, .reads = m->silent,
		.quiet = gus_model_output_is_alone(m->output) };
	struct gus_trace *trace = NULL;
	const char *target = gus_command_target(argv, err);
	int rc = -1;

	while (argv[v.command_n])
		v.command_n++;
	if (!target || gus_traced_check(m->uarch, argv[0], target, err) != 0 ||
	    gus_model_rates_load(m, NULL, NULL, err) != 0)
		return -1;
	if (gus_emulation_start(&e, argv, m->emulator, m->options, err) != 0) {
		gus_model_rates_free(m);
		return -1;
	}
	emulator = e.pid;
	sigaction(SIGINT, &pass, &before);
	sigaction(SIGTERM, NULL, &end_before);
	if (end_before.sa_handler != SIG_IGN)
		sigaction(SIGTERM, &end, NULL);
	if (gus_model_output_begin(m->output, err) == 0) {
		trace = gus_trace_open_fd(e.trace, err);
	} else {
		kill(e.pid, SIGKILL); /* what it would say is for nobody */
		close(e.trace);
	}
	if (trace)
		rc = model_programs(m, &e, trace, &v, err);
	gus_emulation_wait(&e);
	sigaction(SIGINT, &before, NULL);
	sigaction(SIGTERM, &end_before, NULL);
	gus_emulation_end(&e);
	gus_model_rates_free(m);
	if (!trace && err->code == GUS_E_TRUNCATED) { /* not a word came; what was wrong it has said itself */
		*err = (struct gus_error){ 0 };
		gus_fail(err, GUS_E_SYSTEM, "cannot trace '%s': the emulator %s%s ended before the command began",
			 argv[0], m->emulator ? "" : "qemu-", m->emulator ? m->emulator : target);
	}
	*status = WIFEXITED(e.status) ? WEXITSTATUS(e.status) : 128 + WTERMSIG(e.status);
	return rc;
}
