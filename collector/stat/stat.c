/* SPDX-License-Identifier: MIT */
#include "collector/stat/stat.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/host/clock.h"
#include "collector/host/text.h"
#include "collector/stat/attach.h"
#include "collector/target/child.h"
#include "collector/target/signals.h"

#define LOOK_NS 50000000ULL  /* how often we look whether tasks that are no children of ours still live */
#define SETTLE_NS 20000000ULL /* what a forked child gets to reach its pipe */

struct stat_run {
	const struct gus_stat_options *o;
	struct gus_stat_result *result;
	struct gus_inbox inbox;
	struct gus_child child;
	struct gus_tally tally;
	bool tallied;
	struct gus_count *now, *before; /* readings: the newest, and that of the last interval */
	struct gus_stat_row *part;
	uint64_t start, last, next;     /* of counting; the last interval's end; the next one's */
	struct rusage usage;            /* of ended children, before */
	uint64_t waiting_switches;      /* that the child had made before it became the command */
	unsigned stops;
	struct gus_error *err;
};

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

/* As for record: a signal from the terminal reached the command as well; one that was sent to us is passed on as
 * SIGTERM. Tasks that we attached to are never touched. The second signal means: do not wait. */
static void take_stop(struct stat_run *s, const struct signalfd_siginfo *info)
{
	if (s->stops++)
		return;
	s->result->interrupt = (int)info->ssi_signo;
	s->result->terminal = gus_inbox_from_terminal(info);
	if (!s->result->terminal)
		gus_child_ask_to_end(&s->child);
}

static void take_signals(struct stat_run *s)
{
	struct signalfd_siginfo info;

	while (read(s->inbox.fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			gus_child_reap(&s->child, false);
		else
			take_stop(s, &info);
}

/* Whether a task that is not ours still does something; a zombie does not, unless other threads of it live. */
static bool lives(pid_t id, bool process)
{
	char path[64], text[512], *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)id);
	if (!gus_read_text(path, text, sizeof(text)))
		return false;
	state = strrchr(text, ')'); /* names may hold anything */
	if (!state || state[1] != ' ')
		return true;
	if (state[2] == 'X')
		return false;
	if (state[2] != 'Z')
		return true;
	/* Of a process whose first thread has ended, the other threads are in the folder; field 20 is their number. */
	if (!process)
		return false;
	state += 2;
	for (unsigned field = 3; field < 20 && state; field++) {
		state = strchr(state, ' ');
		state += state != NULL;
	}
	return state && atoi(state) > 1;
}

static bool any_lives(const struct gus_stat_target *t)
{
	for (size_t i = 0; i < t->ids.n; i++)
		if (lives(t->ids.v[i], t->kind == GUS_STAT_PROCESSES))
			return true;
	return false;
}

static bool is_over(const struct stat_run *s)
{
	const struct gus_stat_target *t = s->o->target;

	if (s->o->command)
		return !s->child.running || s->stops >= 2;
	return s->stops || (t->kind != GUS_STAT_CPUS && !any_lives(t));
}

/* Counts that the kernel would not give us, but tells of children that have ended: how often those that were waited
 * for left a CPU, less what ours did before it became the command. Unlike a counter, this takes in the end of each
 * process. */
static void fill_from_usage(struct stat_run *s, struct gus_stat_row *row, const struct gus_event *e,
			    const struct rusage *u)
{
	uint64_t switches = (uint64_t)(u->ru_nvcsw - s->usage.ru_nvcsw) + (uint64_t)(u->ru_nivcsw - s->usage.ru_nivcsw);

	if (row->state != GUS_TALLY_BLIND || !gus_stat_has_usage(s->o->target, e) || s->child.running)
		return;
	row->from_usage = true;
	row->count.value = switches > s->waiting_switches ? switches - s->waiting_switches : 0;
}

static void fill_rows(const struct stat_run *s, struct gus_stat_row *rows, const struct gus_count *since)
{
	for (size_t i = 0; i < s->o->events->n; i++)
		rows[i] = (struct gus_stat_row){
			.state = s->tally.states[i], .reason = s->tally.reasons[i],
			.count = since ? gus_count_since(s->now[i], since[i]) : s->now[i],
		};
}

static void end_interval(struct stat_run *s, uint64_t at)
{
	struct gus_stat_part part = { s->last - s->start, at - s->start, s->part };
	struct gus_count *swap = s->before;

	gus_tally_read(&s->tally, s->now);
	fill_rows(s, s->part, s->before);
	s->o->part(&part, s->o->context);
	s->before = s->now;
	s->now = swap;
	s->last = at;
	while (s->next <= at)
		s->next += s->o->interval_ns;
}

static void loop(struct stat_run *s)
{
	struct pollfd poll_fd = { .fd = s->inbox.fd, .events = POLLIN };
	bool watch = !s->o->command && s->o->target->kind != GUS_STAT_CPUS;

	while (!is_over(s)) {
		uint64_t at = gus_clock_ns(CLOCK_MONOTONIC), until = watch ? at + LOOK_NS : UINT64_MAX;

		if (s->o->interval_ns && s->next < until)
			until = s->next;
		if (poll(&poll_fd, 1, until == UINT64_MAX ? -1 : until <= at ? 0 :
			 (int)((until - at + 999999) / 1000000)) < 0 &&
		    errno != EINTR)
			break;
		take_signals(s);
		at = gus_clock_ns(CLOCK_MONOTONIC);
		if (s->o->interval_ns && at >= s->next && !is_over(s))
			end_interval(s, at);
	}
}

static uint64_t status_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Waits until the child sleeps at its pipe, then notes how often it has left a CPU. */
static void note_waiting(struct stat_run *s)
{
	char *path = gus_format("/proc/%d/status", (int)s->child.pid), text[4096];
	uint64_t until = gus_clock_ns(CLOCK_MONOTONIC) + SETTLE_NS;

	while (gus_read_text(path, text, sizeof(text)) && !strstr(text, "State:\tS") &&
		gus_clock_ns(CLOCK_MONOTONIC) < until)
		sched_yield();
	s->waiting_switches = status_number(text, "\nvoluntary_ctxt_switches:") +
		status_number(text, "nonvoluntary_ctxt_switches:");
	free(path);
}

static int prepare(struct stat_run *s)
{
	const struct gus_stat_options *o = s->o;
	struct gus_attachment how;
	int rc;

	if (gus_inbox_open(&s->inbox, s->err) != 0)
		return -1;
	getrusage(RUSAGE_CHILDREN, &s->usage);
	if (o->command && gus_child_fork(&s->child, o->command, &s->inbox.before, false, s->err) != 0)
		return -1;
	rc = gus_stat_attach(&s->tally, o->events, o->target, s->child.pid, &how, s->err);
	s->result->user_only = how.user_only;
	s->result->missed = how.missed;
	if (rc != 0)
		return -1;
	s->tallied = true;
	if (o->target->kind == GUS_STAT_COMMAND)
		note_waiting(s);
	return 0;
}

static int start(struct stat_run *s)
{
	const struct gus_stat_options *o = s->o;

	s->start = s->last = gus_clock_ns(CLOCK_MONOTONIC);
	s->next = s->start + o->interval_ns;
	if (o->target->kind != GUS_STAT_COMMAND)
		gus_tally_enable(&s->tally);
	if (!o->command)
		return 0;
	if (gus_child_start(&s->child, o->command[0], s->err) != 0) {
		s->result->no_command = true;
		return -1;
	}
	s->result->started = true;
	return 0;
}

static void finish(struct stat_run *s)
{
	const struct gus_stat_options *o = s->o;
	struct gus_stat_result *r = s->result;
	struct rusage usage;
	uint64_t at = gus_clock_ns(CLOCK_MONOTONIC);

	if (o->target->kind != GUS_STAT_COMMAND)
		gus_tally_disable(&s->tally);
	if (o->interval_ns && at > s->last)
		end_interval(s, at);
	gus_tally_read(&s->tally, s->now);
	fill_rows(s, r->rows, NULL);
	getrusage(RUSAGE_CHILDREN, &usage);
	for (size_t i = 0; i < o->events->n; i++)
		fill_from_usage(s, &r->rows[i], &o->events->v[i], &usage);
	r->elapsed_ns = at - s->start;
	r->user_ns = ns_of(&usage.ru_utime) - ns_of(&s->usage.ru_utime);
	r->system_ns = ns_of(&usage.ru_stime) - ns_of(&s->usage.ru_stime);
	r->running = s->child.running;
	if (!o->command || r->running)
		return;
	if (WIFSIGNALED(s->child.status))
		r->exit_signal = WTERMSIG(s->child.status);
	else
		r->exit_status = WEXITSTATUS(s->child.status);
}

int gus_stat_run(const struct gus_stat_options *o, struct gus_stat_result *result, struct gus_error *err)
{
	struct stat_run s = { .o = o, .result = result, .inbox = { .fd = -1 }, .child = { .go = -1, .failed = -1 },
		.err = err };
	size_t n = o->events->n;
	int rc;

	*result = (struct gus_stat_result){ .rows = gus_zalloc(n * sizeof(*result->rows)) };
	s.now = gus_zalloc(n * sizeof(*s.now));
	s.before = gus_zalloc(n * sizeof(*s.before));
	s.part = gus_zalloc(n * sizeof(*s.part));
	rc = prepare(&s);
	if (rc == 0 && o->ready)
		o->ready(o->context);
	if (rc == 0)
		rc = start(&s);
	if (rc == 0) {
		loop(&s);
		finish(&s);
	}
	gus_child_close(&s.child);
	if (s.tallied)
		gus_tally_close(&s.tally);
	gus_inbox_close(&s.inbox);
	free(s.now);
	free(s.before);
	free(s.part);
	return rc;
}

void gus_stat_result_free(struct gus_stat_result *result)
{
	free(result->rows);
	result->rows = NULL;
}
