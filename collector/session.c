/* SPDX-License-Identifier: MIT */
#include "collector/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/child.h"
#include "collector/control.h"
#include "collector/counters.h"
#include "collector/frequency.h"
#include "collector/header.h"
#include "collector/lanes.h"
#include "collector/living.h"
#include "collector/signals.h"
#include "proto/writer.h"

#define TICK_NS 100000000ULL    /* housekeeping */
#define GOVERN_NS 2000000000ULL /* looks at the rate; the first one earlier */
#define GOVERN_FIRST_NS 500000000ULL
#define GOVERN_COST_NS 6000     /* of reading one counter, timed as 2 to 6 us */
#define GOVERN_SHARE 1000       /* at most that part of a CPU goes into reading them */
#define RENEWALS_MAX 8          /* times that inherited events are replaced */
#define STALE_SHARE 4           /* when more than that part of the samples come at a rate that is not in force */

struct session {
	const struct gus_session_options *o;
	struct gus_session_result *result;
	struct gus_inbox inbox;
	struct gus_child child;
	struct gus_control control;
	struct gus_counters counters;
	struct gus_living living;
	struct gus_lanes lanes;
	struct gus_governor governor;
	struct gus_writer *writer;
	struct gus_vec(struct pollfd) polls; /* the signals, the control, the targets, then the rings */
	Gusprof__Frequency before;
	uint64_t now, next_tick, next_redraw, next_govern, next_part, enable_at;
	uint64_t start_ns;          /* of the present file, in the records' clock */
	uint64_t own_before, own_after; /* CPU time of this program when recording began and ended; the latter 0 until then */
	uint64_t stale, sampled;    /* counts of lanes when the rate was looked at last */
	uint64_t parts_bytes;       /* of files that are finished */
	unsigned part, renewals;
	unsigned stops;             /* times that we were asked to stop */
	bool recording;             /* samples are taken and written, or could be */
	bool sampling;              /* the events are on */
	struct gus_error *err;
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool launches(const struct session *s)
{
	return s->o->target->kind == GUS_TARGET_COMMAND;
}

/* What has happened so far, for the governor. */
static struct gus_usage usage(const struct session *s)
{
	struct gus_usage u = s->lanes.usage;

	u.target_ns = gus_counters_running(&s->counters);
	u.recorder_ns = (s->own_after ? s->own_after : clock_ns(CLOCK_PROCESS_CPUTIME_ID)) - s->own_before;
	return u;
}

/* Files. */

static int create_file(struct session *s, uint64_t start_ns)
{
	struct gus_header header = {
		.options = s->o, .counters = &s->counters, .frequency = &s->before, .child = launches(s) ? s->child.pid : 0,
		.part = s->part,
	};

	s->start_ns = start_ns;
	s->writer = gus_header_create(&header, start_ns, s->err);
	return s->writer ? 0 : -1;
}

static const char *const end_names[] = {
	[GUS_ENDED_EXIT] = "exit", [GUS_ENDED_INTERRUPT] = "interrupt", [GUS_ENDED_MAX_SIZE] = "max-size",
	[GUS_ENDED_ERROR] = "error", [GUS_ENDED_TARGET] = "target", [GUS_ENDED_CONTROL] = "control",
	[GUS_ENDED_PART] = "part",
};

static uint64_t ppm(double share)
{
	return share > 0 ? (uint64_t)(share * 1e6 + 0.5) : 0;
}

static void describe_overhead(struct session *s, Gusprof__Overhead *m)
{
	struct gus_session_result *r = s->result;
	struct gus_usage u = usage(s);

	r->target_ns = s->o->costs.sample_ns ? u.target_ns : 0;
	r->spent = gus_governor_spending(&s->o->costs, &u);
	r->hz = s->o->overhead > 0 ? s->governor.hz : 0;
	r->hz_changes = s->governor.changes;
	r->around_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - u.recorder_ns;
	gusprof__overhead__init(m);
	m->samples_ppm = ppm(r->spent.samples);
	m->following_ppm = ppm(r->spent.following);
	m->recorder_ppm = ppm(r->spent.recorder);
	m->got_ppm = m->samples_ppm + m->following_ppm + m->recorder_ppm;
	m->target_ns = u.target_ns;
	m->hz_first = s->governor.first_hz;
	m->hz_last = r->hz;
	m->changes = r->hz_changes;
	m->around_ns = r->around_ns;
}

static int write_footer(struct session *s, enum gus_session_end ended_by)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__EventTotal **pointers = gus_alloc(s->o->events->n * sizeof(*pointers));
	struct gus_writer *writer = s->writer;
	Gusprof__Frequency after;
	Gusprof__Overhead overhead;
	int rc;

	for (size_t i = 0; i < s->o->events->n; i++)
		pointers[i] = &s->lanes.totals[i];
	gus_frequency_measure(&after);
	describe_overhead(s, &overhead);
	footer.end_ns = gus_counters_now(&s->counters);
	footer.events = pointers;
	footer.n_events = s->o->events->n;
	footer.exit_status = (uint32_t)s->result->exit_status;
	footer.exit_signal = (uint32_t)s->result->exit_signal;
	footer.ended_by = (char *)(uintptr_t)end_names[ended_by];
	footer.frequency = &after;
	footer.recorder_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	footer.overhead = s->result->target_ns ? &overhead : NULL;
	s->parts_bytes += gus_writer_size(writer);
	for (size_t i = 0; i < s->o->events->n; i++)
		s->result->samples += s->lanes.totals[i].samples;
	for (size_t i = 0; i < s->o->events->n; i++)
		s->result->lost += s->lanes.totals[i].lost;
	s->writer = NULL;
	rc = gus_writer_finish(writer, &footer, s->err);
	free(pointers);
	return rc;
}

/* perf's names: the time at which the part ended, to a hundredth of a second; later if there is one already. */
static int name_part(struct session *s)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	char *name = NULL;
	int rc;

	do {
		time_t seconds = (time_t)(now / 1000000000);
		struct tm t;
		char stamp[32];

		localtime_r(&seconds, &t);
		strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &t);
		free(name);
		name = gus_format("%s.%s%02u", s->o->output, stamp, (unsigned)(now % 1000000000 / 10000000));
		now += 10000000;
	} while (access(name, F_OK) == 0);
	rc = rename(s->o->output, name);
	if (rc != 0)
		gus_fail_errno(s->err, errno, "cannot name the part %s", name);
	else
		gus_log(s->o->log, GUS_NOTE, "part %u is %s", s->part, name);
	free(name);
	return rc;
}

/* Lanes are drained, and in them is all that belongs to this file. */
static int end_file(struct session *s, enum gus_session_end ended_by)
{
	if (gus_lanes_end_file(&s->lanes, s->writer, s->err) != 0 || write_footer(s, ended_by) != 0)
		return -1;
	return s->part ? name_part(s) : 0;
}

/* What lives, and that the kernel has told about before this file began, or will not tell about. */
static int describe_living(struct session *s)
{
	struct gus_sideband sideband = { 0 };
	Gusprof__Sideband message;
	uint64_t now = gus_counters_now(&s->counters), boot = clock_ns(CLOCK_BOOTTIME);
	int rc;

	gus_living_describe(&s->living, s->start_ns, boot - (now - s->start_ns), now, &sideband);
	message = gus_sideband_message(&sideband);
	rc = gus_writer_sideband(s->writer, &message, s->err);
	gus_sideband_free(&sideband);
	return rc;
}

/* Nothing more is sampled or written; the workload is left alone. */
static void stop_recording(struct session *s, enum gus_session_end why)
{
	s->recording = false;
	s->result->ended_by = why;
	gus_counters_disable(&s->counters);
}

static void fail_writing(struct session *s)
{
	stop_recording(s, GUS_ENDED_ERROR);
	s->result->said = true;
	gus_log(s->o->log, GUS_WARN, "%s; sampling has stopped%s", s->err->text,
		launches(s) ? ", the workload goes on" : "");
}

/* Only what we have started is ever told to end. */
static void ask_to_end(struct session *s)
{
	if (s->child.running)
		kill(s->child.pid, SIGTERM);
}

static void drain(struct session *s)
{
	s->now = clock_ns(CLOCK_MONOTONIC);
	gus_lanes_drain(&s->lanes, s->now);
}

/* Ends this file and begins the next one, at the moment of the last look into the rings. */
static void next_part(struct session *s)
{
	uint64_t start_ns = gus_counters_now(&s->counters);

	drain(s);
	if (s->o->overwrite)
		gus_lanes_snapshot(&s->lanes, s->now);
	if (end_file(s, GUS_ENDED_PART) != 0) {
		fail_writing(s);
		return;
	}
	s->part++;
	gus_lanes_begin_file(&s->lanes);
	if (create_file(s, start_ns) != 0 || describe_living(s) != 0)
		fail_writing(s);
	s->next_part = s->o->switch_output == GUS_SWITCH_TIME ? s->now + s->o->switch_at : UINT64_MAX;
}

static void mark(struct session *s, const char *kind, const char *name)
{
	gus_lanes_mark(&s->lanes, kind, name, gus_counters_now(&s->counters));
}

/* By SIGUSR2 or by --control: what a flight recorder holds is written, and a new part is begun if that is what signals are
 * for; without either, what has been seen until now goes to the disk. */
static void take_snapshot(struct session *s)
{
	if (!s->recording)
		return;
	drain(s);
	mark(s, "snapshot", "");
	if (s->o->switch_output == GUS_SWITCH_SIGNAL) {
		next_part(s);
		return;
	}
	if (s->o->overwrite)
		gus_lanes_snapshot(&s->lanes, s->now);
	if (gus_lanes_flush(&s->lanes, s->writer, true, s->err) != 0)
		fail_writing(s);
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

/* The governor. */

/* Redraws do not reach events that tasks have inherited. Where many samples come from such, all are opened anew. */
static void renew(struct session *s)
{
	struct gus_error err = { 0 };

	if (!s->sampling || s->renewals >= RENEWALS_MAX)
		return;
	s->renewals++;
	if (gus_counters_renew(&s->counters, gus_living_threads, &s->living, gus_counters_now(&s->counters), &err) != 0)
		gus_log(s->o->log, GUS_DEBUG, "the new rate reaches only tasks that are born from now on: %s",
			*err.text ? err.text : "none of the others lives");
	else
		gus_log(s->o->log, GUS_DEBUG, "the events of all tasks were opened anew for the new rate");
}

static void change_rate(struct session *s)
{
	char rate[32];

	snprintf(rate, sizeof(rate), "%llu", (unsigned long long)s->governor.hz);
	mark(s, "rate", rate);
	gus_counters_set_rate(&s->counters, s->governor.hz);
	gus_log(s->o->log, GUS_DEBUG, "the rate is now %s samples a second of CPU time", rate);
}

/* A rate that has not reached most tasks yet is not judged. */
static void govern(struct session *s)
{
	uint64_t interval = s->counters.list.n * (uint64_t)GOVERN_COST_NS * GOVERN_SHARE;
	uint64_t samples = s->lanes.usage.samples - s->sampled, stale = s->lanes.stale - s->stale;
	struct gus_usage u = usage(s);

	s->next_govern = s->now + (interval > GOVERN_NS ? interval : GOVERN_NS);
	s->sampled = s->lanes.usage.samples;
	s->stale = s->lanes.stale;
	if (stale * STALE_SHARE > samples) {
		renew(s);
		gus_governor_skip(&s->governor, &u);
	} else if (gus_governor_step(&s->governor, &u)) {
		change_rate(s);
	}
}

/* Housekeeping. */

static void check_size(struct session *s)
{
	uint64_t size = gus_writer_size(s->writer);

	if (s->o->max_size && s->parts_bytes + size >= s->o->max_size) {
		stop_recording(s, GUS_ENDED_MAX_SIZE);
		gus_log(s->o->log, GUS_WARN, "%s has reached its limit of %llu bytes: sampling stops%s", s->o->output,
			(unsigned long long)s->o->max_size, launches(s) ? " and the workload is asked to end" : "");
		ask_to_end(s);
	} else if ((s->o->switch_output == GUS_SWITCH_SIZE && size >= s->o->switch_at) || s->now >= s->next_part) {
		next_part(s);
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
	ask_to_end(s);
}

static void tick(struct session *s)
{
	if (s->enable_at && s->now >= s->enable_at)
		set_sampling(s, true);
	drain(s);
	if (s->now >= s->next_redraw) {
		gus_counters_redraw(&s->counters);
		s->next_redraw = s->now + gus_counters_redraw_interval(&s->counters);
	}
	if (s->now >= s->next_govern)
		govern(s);
	if (gus_lanes_flush(&s->lanes, s->writer, false, s->err) != 0)
		fail_writing(s);
	else
		check_size(s);
	if (s->recording)
		check_target(s);
	s->next_tick = s->now + TICK_NS;
}

/* A signal from the terminal reached our command as well, which may want to end in its own way; one that was sent to us
 * alone is passed on as perf does, as SIGTERM. The second one means: do not wait. A target that we have not started
 * never hears of any. */
static void take_stop(struct session *s, const struct signalfd_siginfo *info)
{
	bool terminal = info->ssi_code == SI_KERNEL;

	if (s->stops++ == 0) {
		s->result->interrupt = (int)info->ssi_signo;
		s->result->terminal = terminal;
		if (s->recording)
			s->result->ended_by = GUS_ENDED_INTERRUPT;
		if (!terminal)
			ask_to_end(s);
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
		drain(s);
		mark(s, command == GUS_COMMAND_ENABLE ? "enable" : "disable", "");
		set_sampling(s, command == GUS_COMMAND_ENABLE);
		break;
	case GUS_COMMAND_SNAPSHOT:
		take_snapshot(s);
		break;
	case GUS_COMMAND_STOP:
		if (s->recording)
			stop_recording(s, GUS_ENDED_CONTROL);
		s->stops += s->stops == 0;
		ask_to_end(s);
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
			gus_log(s->o->log, GUS_WARN, "--control: '%s' is none of enable, disable, snapshot, stop, ping, evlist",
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

		s->now = clock_ns(CLOCK_MONOTONIC);
		if (poll(s->polls.v, s->recording ? s->polls.n : 1, timeout_ms(s)) < 0 && errno != EINTR)
			break;
		s->now = clock_ns(CLOCK_MONOTONIC);
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
		if (s->recording && (wake || s->now >= s->next_tick || (s->enable_at && s->now >= s->enable_at)))
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
		gus_counters_disable(&s->counters);
	drain(s);
	drain(s);
	if (s->o->overwrite)
		gus_lanes_snapshot(&s->lanes, s->now);
	return end_file(s, s->result->ended_by);
}

static int finish(struct session *s)
{
	take_status(s);
	if (s->result->ended_by != GUS_ENDED_ERROR && finish_file(s) != 0)
		s->result->ended_by = GUS_ENDED_ERROR;
	s->result->throttles = s->lanes.throttles;
	s->result->bytes = s->parts_bytes;
	s->result->parts = s->part;
	if (s->lanes.repeated)
		gus_log(s->o->log, GUS_DEBUG, "%llu samples of threads that were born while we attached came twice and were "
			"counted once", (unsigned long long)s->lanes.repeated);
	if (s->lanes.unknown || s->lanes.bad)
		gus_log(s->o->log, s->lanes.bad ? GUS_WARN : GUS_DEBUG, "%llu records of the kernel were malformed and %llu "
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
	rc = gus_child_fork(&s->child, s->o->command, &s->inbox.before, s->err);
	if (s->o->priority)
		gus_priority_raise();
	return rc;
}

static int prepare(struct session *s)
{
	const struct gus_session_options *o = s->o;
	struct gus_counters_options co = { .call_graph = o->call_graph, .switches = o->switches,
					   .late = o->delay_ms != 0, .pausable = o->control != NULL,
					   .overwrite = o->overwrite, .ring_bytes = GUS_RING_BYTES };

	if (gus_inbox_open(&s->inbox, true, s->err) != 0 ||
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
	gus_lanes_init(&s->lanes, &s->counters, &s->living);
	fill_polls(s);
	s->part = o->switch_output != GUS_SWITCH_NEVER;
	return create_file(s, gus_counters_now(&s->counters));
}

static void set_times(struct session *s)
{
	const struct gus_session_options *o = s->o;
	uint64_t redraw = gus_counters_redraw_interval(&s->counters);

	s->now = clock_ns(CLOCK_MONOTONIC);
	s->next_tick = s->now + TICK_NS;
	/* What a flight recorder holds is weighed by the period in force when it is read, which must stay the same. */
	s->next_redraw = redraw == UINT64_MAX || o->overwrite ? UINT64_MAX : s->now + redraw;
	s->next_govern = o->overhead > 0 && !o->overwrite ? s->now + GOVERN_FIRST_NS : UINT64_MAX;
	s->next_part = o->switch_output == GUS_SWITCH_TIME ? s->now + o->switch_at : UINT64_MAX;
	s->enable_at = o->delay_ms > 0 ? s->now + (uint64_t)o->delay_ms * 1000000 : 0;
	s->own_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
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
	} else {
		gus_counters_track(&s->counters);
		if (s->sampling)
			gus_counters_enable(&s->counters);
		gus_living_add_target(&s->living, o->target);
		if (describe_living(s) != 0)
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
	gus_living_free(&s->living);
	gus_vec_free(&s->polls);
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
	s.living.remembers = options->switch_output != GUS_SWITCH_NEVER;
	gus_control_init(&s.control);
	gus_governor_init(&s.governor, options->overhead, &options->costs, governed_events(options), options->limit_hz);
	rc = prepare(&s);
	if (rc == 0 && options->ready)
		options->ready(options->ready_context);
	if (rc == 0)
		rc = start(&s);
	if (rc == 0) {
		result->started = true;
		loop(&s);
		s.own_after = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		rc = finish(&s);
	} else if (s.writer) {
		struct gus_error first = *err;

		finish(&s); /* the command could not be started: the file is whole, and empty */
		*err = first;
	}
	free_session(&s);
	return rc;
}
