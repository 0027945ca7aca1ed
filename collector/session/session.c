/* SPDX-License-Identifier: MIT */
#include "collector/session/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "collector/counters/ring.h"
#include "collector/doctor/facts.h"
#include "collector/host/frequency.h"
#include "collector/host/priority.h"
#include "collector/kernel/perf.h"
#include "collector/session/private.h"

#define TICK_NS 100000000ULL    /* housekeeping */
#define GOVERN_FIRST_NS 500000000ULL /* the first look at the rate, */
#define GOVERN_SOON_NS 150000000ULL  /* and where finding callers costs what nobody knows before */

/* What the records tell ends here, whatever time the file's end takes. */
static void stop_watching(struct session *s)
{
	s->watched_until = gus_counters_now(&s->counters);
	gus_counters_disable(&s->counters);
}

/* Nothing more is sampled or written; the workload is left alone. */
static void stop_recording(struct session *s, enum gus_session_end why)
{
	s->recording = false;
	s->result->ended_by = why;
	stop_watching(s);
}

void gus_session_fail_writing(struct session *s)
{
	stop_recording(s, GUS_ENDED_ERROR);
	s->result->said = true;
	gus_log(s->o->log, GUS_WARN, "%s; sampling has stopped%s", s->err->text,
		launches(s) ? ", the workload goes on" : "");
}

int gus_session_drain(struct session *s)
{
	s->now = gus_clock_ns(CLOCK_MONOTONIC);
	return gus_lanes_drain(&s->lanes, s->writer, s->now, s->err);
}

void gus_session_mark(struct session *s, const char *kind, const char *name)
{
	gus_lanes_mark(&s->lanes, kind, name, gus_counters_now(&s->counters));
}

/* By SIGUSR2 or by --control: what a flight recorder holds is written, and a new part is begun if that is what
 * signals are for; without either, what has been seen until now goes to the disk. */
static void take_snapshot(struct session *s)
{
	if (!s->recording)
		return;
	if (gus_session_drain(s) != 0) {
		gus_session_fail_writing(s);
		return;
	}
	gus_session_mark(s, "snapshot", "");
	if (s->o->switch_output == GUS_SWITCH_SIGNAL) {
		gus_session_next_part(s);
		return;
	}
	if (s->o->overwrite)
		gus_lanes_snapshot(&s->lanes, s->now);
	if (gus_lanes_flush(&s->lanes, s->writer, true, s->err) != 0)
		gus_session_fail_writing(s);
}

/* Sampling on and off. */
static void set_sampling(struct session *s, bool on)
{
	s->enable_at = 0;
	if (!s->recording || s->sampling == on)
		return;
	s->sampling = on;
	(on ? gus_counters_enable : gus_counters_pause)(&s->counters);
}

/* Housekeeping. */

static void check_size(struct session *s)
{
	uint64_t size = gus_writer_size(s->writer);

	if (s->o->max_size && s->parts_bytes + size >= s->o->max_size) {
		stop_recording(s, GUS_ENDED_MAX_SIZE);
		gus_log(s->o->log, GUS_WARN, "%s has reached its limit of %llu bytes: sampling stops%s", s->o->output,
			(unsigned long long)s->o->max_size, launches(s) ? " and the workload is asked to end" : "");
		gus_child_ask_to_end(&s->child);
	} else if ((s->o->switch_output == GUS_SWITCH_SIZE && size >= s->o->switch_at) || s->now >= s->next_part) {
		gus_session_next_part(s);
	}
}

static void check_target(struct session *s)
{
	char *what;

	if (!gus_target_ended(s->o->target))
		return;
	stop_recording(s, GUS_ENDED_TARGET);
	what = gus_target_describe(s->o->target);
	gus_log(s->o->log, GUS_NOTE, "%s %s ended", what, s->o->target->watches.n == 1 ? "has" : "have");
	free(what);
	gus_child_ask_to_end(&s->child);
}

/* Not by the clock alone: of a task that seldom runs a redraw would take away most of what had elapsed. */
static void redraw(struct session *s)
{
	if (s->lanes.usage.samples >= s->redraw_samples) {
		gus_counters_redraw(&s->counters);
		s->redraw_samples = s->lanes.usage.samples + gus_counters_redraw_samples(&s->counters);
	}
	s->next_redraw = s->now + gus_counters_redraw_interval(&s->counters);
}

/* Of a plan: what takes turns goes on to the next one, and when is written down. The first is told as well. */
static void take_turn(struct session *s)
{
	char number[16];

	s->next_turn = s->now + gus_counters_turn_interval(&s->counters);
	if (!s->sampling)
		return;
	if (s->turning)
		gus_counters_turn(&s->counters);
	s->turning = true;
	snprintf(number, sizeof(number), "%u", s->counters.turn);
	gus_session_mark(s, "turn", number);
}

static void tick(struct session *s)
{
	int rc;

	if (s->enable_at && s->now >= s->enable_at)
		set_sampling(s, true);
	rc = gus_session_drain(s);
	if (s->now >= s->next_redraw)
		redraw(s);
	if (s->now >= s->next_govern)
		gus_session_govern(s);
	if (s->recording && s->sampling && s->now >= s->wide.next)
		gus_session_look_wide(s);
	if (rc != 0 || gus_lanes_flush(&s->lanes, s->writer, false, s->err) != 0 ||
	    gus_session_look_beside(s, false) != 0)
		gus_session_fail_writing(s);
	else
		check_size(s);
	if (s->recording && s->sampling && s->now >= s->trace.next)
		gus_session_trace(s);
	gus_made_look(&s->made, s->now, gus_counters_now(&s->counters), false);
	if (s->recording)
		check_target(s);
	s->next_tick = s->now + TICK_NS;
}

/* A signal from the terminal reached our command as well, which may want to end in its own way; one that was sent to us
 * alone is passed on as perf does, as SIGTERM. The second one means: do not wait. A target that we have not started
 * never hears of any. */
static void take_stop(struct session *s, const struct signalfd_siginfo *info)
{
	bool terminal = gus_inbox_from_terminal(info);

	if (s->stops++ == 0) {
		s->result->interrupt = (int)info->ssi_signo;
		s->result->terminal = terminal;
		if (s->recording)
			s->result->ended_by = GUS_ENDED_INTERRUPT;
		if (!terminal)
			gus_child_ask_to_end(&s->child);
	}
}

static void take_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->inbox.fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			gus_child_reap(&s->child, false);
		else if (info.ssi_signo == SIGUSR2)
			take_snapshot(s);
		else
			take_stop(s, &info);
}

static void obey(struct session *s, enum gus_command command)
{
	switch (command) {
	case GUS_COMMAND_ENABLE:
	case GUS_COMMAND_DISABLE:
		if (!s->recording)
			break;
		if (gus_session_drain(s) != 0) {
			gus_session_fail_writing(s);
			break;
		}
		gus_session_mark(s, command == GUS_COMMAND_ENABLE ? "enable" : "disable", "");
		set_sampling(s, command == GUS_COMMAND_ENABLE);
		break;
	case GUS_COMMAND_SNAPSHOT:
		take_snapshot(s);
		break;
	case GUS_COMMAND_STOP:
		if (s->recording)
			stop_recording(s, GUS_ENDED_CONTROL);
		s->stops += s->stops == 0;
		gus_child_ask_to_end(&s->child);
		break;
	case GUS_COMMAND_EVENTS:
		for (size_t i = 0; i < s->o->events->n; i++)
			gus_log(s->o->log, GUS_NOTE, "event %zu is %s", i, s->o->events->v[i].name);
		break;
	default:
		break;
	}
}

static void take_commands(struct session *s)
{
	enum gus_command command;

	gus_control_read(&s->control);
	while ((command = gus_control_next(&s->control)) != GUS_COMMAND_NONE) {
		if (command == GUS_COMMAND_UNKNOWN) {
			gus_log(s->o->log, GUS_WARN,
				"--control: '%s' is none of enable, disable, snapshot, stop, ping, evlist",
				s->control.line);
			continue;
		}
		obey(s, command);
		gus_control_acknowledge(&s->control);
	}
	if (s->control.ended)
		s->polls.v[1].fd = -1;
}

static int timeout_ms(const struct session *s)
{
	uint64_t at = s->next_tick;

	if (!s->recording)
		return -1;
	if (s->enable_at && s->enable_at < at)
		at = s->enable_at;
	if (s->trace.next < at)
		at = s->trace.next;
	if (s->next_turn < at)
		at = s->next_turn;
	return at <= s->now ? 0 : (int)((at - s->now + 999999) / 1000000);
}

/* A command is waited for, unless we are told not to; without one, the first request to stop is enough. */
static bool is_over(const struct session *s)
{
	if (s->o->command)
		return !s->child.running || s->stops >= 2;
	return s->stops || !s->recording;
}

static void loop(struct session *s)
{
	while (!is_over(s)) {
		bool wake = false;

		s->now = gus_clock_ns(CLOCK_MONOTONIC);
		if (gus_perf.poll(s->polls.v, s->recording ? s->polls.n : 1, timeout_ms(s)) < 0 && errno != EINTR)
			break;
		s->now = gus_clock_ns(CLOCK_MONOTONIC);
		if (s->polls.v[0].revents)
			take_signals(s);
		if (s->recording && s->polls.v[1].revents)
			take_commands(s);
		for (size_t i = 2; i < s->polls.n; i++) {
			wake |= s->polls.v[i].revents & POLLIN;
			if (s->polls.v[i].revents & (POLLHUP | POLLERR))
				s->polls.v[i].fd = -1;
			s->polls.v[i].revents = 0;
		}
		if (s->recording && s->now >= s->next_turn)
			take_turn(s);
		if (s->recording && (wake || s->now >= s->next_tick || s->now >= s->trace.next ||
				     (s->enable_at && s->now >= s->enable_at)))
			tick(s);
	}
}

/* The end. */

static void take_status(struct session *s)
{
	s->result->running = s->child.running;
	if (!s->o->command || s->child.running)
		return;
	if (WIFSIGNALED(s->child.status))
		s->result->exit_signal = WTERMSIG(s->child.status);
	else
		s->result->exit_status = WEXITSTATUS(s->child.status);
}

/* What is left in the rings, twice: a task's last records can come after the news of its end. */
static int finish_file(struct session *s)
{
	if (s->recording)
		stop_watching(s);
	if (gus_session_drain(s) != 0 || gus_session_drain(s) != 0)
		return -1;
	if (s->o->overwrite)
		gus_lanes_snapshot(&s->lanes, s->now);
	s->ended_ns = gus_counters_now(&s->counters);
	gus_session_trace_tell(s);
	if (s->o->before_end) {
		struct gus_error err = { 0 };

		s->result->visits = &s->visits;
		if (s->o->before_end(s->o->before_end_context, s->writer, s->result, &err) != 0)
			gus_log(s->o->log, GUS_WARN, "%s", err.text);
		s->result->visits = NULL;
	}
	return gus_session_end_file(s, s->result->ended_by);
}

/* What is not in what hardware has written. */
static void say_areas(const struct session *s)
{
	if (s->lanes.truncated)
		gus_log(s->o->log, GUS_WARN, "%llu times there was no more room on a CPU for what its hardware wrote "
			"of samples, and it stood still until that had been read: what was executed meanwhile is in "
			"none", (unsigned long long)s->lanes.truncated);
	if (s->lanes.collided)
		gus_log(s->o->log, GUS_NOTE, "in %llu pieces of what hardware wrote some operations are missing, as "
			"the one sampled before was still on its way: what is behind slow ones is sampled less than "
			"it should be", (unsigned long long)s->lanes.collided);
	if (s->lanes.gaps)
		gus_log(s->o->log, GUS_WARN, "%llu pieces of what hardware wrote of samples have gaps, for want of "
			"room", (unsigned long long)s->lanes.gaps);
}

static int finish(struct session *s)
{
	const char *comm;

	take_status(s);
	if (s->result->ended_by != GUS_ENDED_ERROR && finish_file(s) != 0)
		s->result->ended_by = GUS_ENDED_ERROR;
	s->result->throttles = s->lanes.throttles;
	s->result->bytes = s->parts_bytes;
	s->result->parts = s->part;
	if (s->kept.left_out)
		gus_log(s->o->log, GUS_DEBUG, "%llu files that were mapped as code are not held open, as %zu are "
			"already", (unsigned long long)s->kept.left_out, s->kept.n);
	say_areas(s);
	s->result->strangers = s->lanes.strangers;
	s->result->taken_away = gus_members_taken_away(&s->lanes.members, &s->result->taken_tid, &comm);
	snprintf(s->result->taken_comm, sizeof(s->result->taken_comm), "%s", comm);
	if (s->lanes.repeated)
		gus_log(s->o->log, GUS_DEBUG,
			"%llu samples of threads that were born while we attached came twice and were "
			"counted once", (unsigned long long)s->lanes.repeated);
	if (s->lanes.unknown || s->lanes.bad)
		gus_log(s->o->log, s->lanes.bad ? GUS_WARN : GUS_DEBUG,
			"%llu records of the kernel were malformed and %llu "
			"of a type that this program does not know", (unsigned long long)s->lanes.bad,
			(unsigned long long)s->lanes.unknown);
	return s->result->ended_by == GUS_ENDED_ERROR ? -1 : 0;
}

/* The beginning. */

static void fill_polls(struct session *s)
{
	gus_vec_push(&s->polls, (struct pollfd){ .fd = s->inbox.fd, .events = POLLIN });
	gus_vec_push(&s->polls, (struct pollfd){ .fd = s->control.in, .events = POLLIN });
	for (size_t i = 0; i < s->o->target->watches.n; i++)
		gus_vec_push(&s->polls, (struct pollfd){ .fd = s->o->target->watches.v[i].pidfd, .events = POLLIN });
	for (size_t i = 0; i < s->counters.rings.n; i++)
		gus_vec_push(&s->polls, (struct pollfd){ .fd = s->counters.rings.v[i].fd, .events = POLLIN });
}

static int fork_command(struct session *s)
{
	int rc;

	if (s->o->priority)
		gus_priority_restore(s->o->priority);
	rc = gus_child_fork(&s->child, s->o->command, &s->inbox.before, s->o->trace && launches(s), s->err);
	if (s->o->priority)
		gus_priority_raise();
	return rc;
}

static int prepare(struct session *s)
{
	const struct gus_session_options *o = s->o;
	struct gus_counters_options co = { .cargo = gus_session_cargo(o), .switches = o->switches,
					   .late = o->delay_ms != 0, .pausable = o->control != NULL,
					   .overwrite = o->overwrite, .ring_bytes = GUS_RING_BYTES,
					   .by_cpu = o->sample_cpus == GUS_SAMPLE_CPUS_ALWAYS };

	if (gus_inbox_open(&s->inbox, s->err) != 0 ||
	    (o->control && gus_control_open(&s->control, o->control, s->err) != 0))
		return -1;
	gus_frequency_measure(&s->before);
	if (o->command && fork_command(s) != 0)
		return -1;
	co.child = launches(s) ? s->child.pid : 0;
	if (gus_counters_open(&s->counters, o->events, o->target, &co, o->log, s->err) != 0) {
		s->result->no_target = s->err->code == GUS_E_NOT_FOUND && !launches(s);
		return -1;
	}
	for (const struct gus_session_beside *b = o->beside; b; b = b->next)
		if (b->open(b->context, co.child, s->err) != 0)
			return -1;
	gus_lanes_init(&s->lanes, &s->counters, &s->living);
	s->lanes.callers = gus_session_callers(o);
	s->lanes.unwinder = o->unwinder;
	gus_kept_init(&s->kept);
	gus_made_init(&s->made, s->kept.most / 2);
	if (o->namer) {
		s->lanes.user = &s->visits;
		s->lanes.told = o->namer->told;
		s->lanes.told_context = o->namer->context;
		s->lanes.made = &s->made;
	}
	if (o->namer || o->unwinder)
		s->living.kept = s->lanes.kept = &s->kept;
	if (o->unwinder)
		o->unwinder->begin(o->unwinder->context, &s->kept);
	fill_polls(s);
	s->part = o->switch_output != GUS_SWITCH_NEVER;
	return gus_session_create_file(s, gus_counters_now(&s->counters));
}

static void set_times(struct session *s)
{
	const struct gus_session_options *o = s->o;
	uint64_t redraw = gus_counters_redraw_interval(&s->counters);

	s->now = gus_clock_ns(CLOCK_MONOTONIC);
	s->next_tick = s->now + TICK_NS;
	/* What a flight recorder holds is weighed by the period in force when it is read, which must stay the same. */
	s->next_redraw = redraw == UINT64_MAX || o->overwrite ? UINT64_MAX : s->now + redraw;
	s->redraw_samples = gus_counters_redraw_samples(&s->counters);
	gus_counters_begin_turns(&s->counters);
	s->next_turn = gus_counters_turn_interval(&s->counters) == UINT64_MAX ? UINT64_MAX : s->now;
	s->govern_ns = o->unwinder ? GOVERN_SOON_NS : GOVERN_FIRST_NS;
	s->next_govern = o->overhead > 0 && !o->overwrite ? s->now + s->govern_ns : UINT64_MAX;
	s->next_part = o->switch_output == GUS_SWITCH_TIME ? s->now + o->switch_at : UINT64_MAX;
	s->enable_at = o->delay_ms > 0 ? s->now + (uint64_t)o->delay_ms * 1000000 : 0;
	gus_session_trace_begin(s);
	gus_session_begin_wide(s);
	s->own_before = gus_session_own_ns(s);
}

static void start_beside(struct session *s, bool launched)
{
	for (const struct gus_session_beside *b = s->o->beside; b; b = b->next)
		b->start(b->context, launched);
}

/* Of what runs already, first the counters are switched on and then /proc is read: nothing falls in between. A command
 * switches its counters on itself, when it begins. */
static int start(struct session *s)
{
	const struct gus_session_options *o = s->o;

	s->recording = true;
	s->sampling = o->delay_ms == 0;
	if (launches(s)) {
		gus_living_add(&s->living, s->child.pid);
		if (s->sampling)
			gus_counters_enable_wide(&s->counters); /* a sample of before it begins is nobody's */
		start_beside(s, true);
	} else {
		gus_counters_track(&s->counters);
		if (s->sampling)
			gus_counters_enable(&s->counters);
		start_beside(s, false);
		s->watched_from = gus_counters_now(&s->counters);
		gus_living_add_target(&s->living, o->target);
		gus_lanes_add_opened(&s->lanes);
		if (gus_session_describe_living(s) != 0)
			return -1;
	}
	s->result->no_command = o->command && gus_child_start(&s->child, o->command[0], s->err) != 0;
	set_times(s);
	return s->result->no_command ? -1 : 0;
}

static void free_session(struct session *s)
{
	gus_child_close(&s->child);
	if (s->writer)
		gus_writer_abandon(s->writer);
	gus_lanes_free(&s->lanes);
	gus_visits_free(&s->visits);
	gus_living_free(&s->living);
	gus_kept_free(&s->kept);
	gus_made_free(&s->made);
	gus_vec_free(&s->polls);
	gus_session_trace_free(s);
	if (s->counters.events)
		gus_counters_close(&s->counters);
	gus_control_close(&s->control);
	gus_inbox_close(&s->inbox);
}

static unsigned governed_events(const struct gus_session_options *o)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->events->n; i++)
		n += o->events->v[i].governed;
	return n;
}

int gus_session_record(const struct gus_session_options *options, struct gus_session_result *result,
		       struct gus_error *err)
{
	struct session s = { .o = options, .result = result, .inbox = { .fd = -1 }, .err = err,
			     .child = { .go = -1, .failed = -1 } };
	int rc;

	*result = (struct gus_session_result){ 0 };
	gus_living_init(&s.living);
	gus_visits_init(&s.visits);
	s.living.remembers = options->switch_output != GUS_SWITCH_NEVER;
	gus_control_init(&s.control);
	gus_governor_init(&s.governor, options->overhead, &options->costs, governed_events(options),
			  options->limit_hz);
	rc = prepare(&s);
	if (rc == 0 && options->ready)
		options->ready(options->ready_context);
	if (rc == 0)
		rc = start(&s);
	if (rc == 0) {
		result->started = true;
		loop(&s);
		s.own_after = gus_session_own_ns(&s);
		rc = finish(&s);
	} else if (s.writer) {
		struct gus_error first = *err;

		finish(&s); /* the command could not be started: the file is whole, and empty */
		*err = first;
	}
	free_session(&s);
	return rc;
}
