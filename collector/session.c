/* SPDX-License-Identifier: MIT */
#include "collector/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/child.h"
#include "collector/counters.h"
#include "collector/frequency.h"
#include "collector/host.h"
#include "collector/kernel.h"
#include "collector/vdso.h"
#include "proto/writer.h"

#define RING_BYTES (512u << 10) /* what an ordinary user may lock a CPU by default (perf_event_mlock_kb is 516) */
#define TICK_NS 100000000ULL    /* housekeeping */
#define FLUSH_NS 500000000ULL   /* what kill -9 may cost */
#define FLUSH_ROWS 4096
#define FLUSH_BYTES (1u << 20)  /* of side band */

/* What has come out of one ring and not yet gone into the file. */
struct lane {
	struct gus_columns samples, switches;
	struct gus_sideband sideband;
	uint64_t since;             /* the oldest of it, 0 if there is none */
};

struct session {
	const struct gus_session_options *o;
	struct gus_session_result *result;
	struct gus_signals signals; /* as they were */
	int signal_fd;
	bool caught;                /* signals have been diverted to it */
	struct gus_child child;
	struct gus_counters counters;
	struct gus_writer *writer;
	struct lane *lanes;         /* one a ring */
	struct gus_vec(struct pollfd) polls; /* the signals, then the rings */
	Gusprof__EventTotal *totals;
	Gusprof__Frequency before;
	struct gus_kernel_hits kernel;
	uint64_t vdso_low, vdso_high; /* where processes had theirs */
	bool vdso_sampled;
	uint64_t unknown, bad;      /* records of unknown type, and malformed ones */
	uint64_t now, next_tick, next_redraw, enable_at;
	unsigned stops;             /* signals that asked us to stop */
	bool recording;             /* samples are being taken and written */
	struct gus_error *err;
};

/* Where a ring's records go. */
struct sink {
	struct session *s;
	struct lane *lane;
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Header. The strings of generated messages are not const, but nobody writes to them here. */
static char *borrow(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void describe_event(Gusprof__Event *m, const struct gus_event *e, uint64_t cost_ns)
{
	gusprof__event__init(m);
	m->asked = e->asked;
	m->name = e->name;
	m->type = e->type;
	m->config = e->config;
	m->config1 = e->config1;
	m->config2 = e->config2;
	m->config3 = e->config3;
	m->period = e->period;
	m->frequency = e->frequency;
	m->precise = e->precise;
	if (e->user || e->kernel || e->hv) {
		m->exclude_user = !e->user;
		m->exclude_kernel = !e->kernel;
		m->exclude_hv = !e->hv;
	}
	m->unit = borrow(e->unit);
	m->group = e->group;
	m->jitter = e->jitter;
	m->cost_ns = cost_ns;
}

static void describe_clock(const struct session *s, Gusprof__Clock *m)
{
	gusprof__clock__init(m);
	m->start_realtime_ns = clock_ns(CLOCK_REALTIME);
	m->name = borrow("monotonic");
	if (gus_counters_monotonic(&s->counters)) {
		m->start_ns = clock_ns(CLOCK_MONOTONIC);
		return;
	}
	m->name = borrow("perf");
	if (!gus_ring_now(&s->counters.rings.v[0], &m->start_ns))
		m->start_ns = 0;
}

static int create_file(struct session *s)
{
	const struct gus_session_options *o = s->o;
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Event *events = gus_alloc(o->events->n * sizeof(*events));
	Gusprof__Event **pointers = gus_alloc(o->events->n * sizeof(*pointers));
	char tier[] = { o->choice->tier, '\0' };
	uint32_t target = (uint32_t)s->child.pid;
	Gusprof__Clock clock;

	for (size_t i = 0; i < o->events->n; i++) {
		pointers[i] = &events[i];
		describe_event(&events[i], &o->events->v[i], i == 0 ? o->cost_ns : 0);
	}
	describe_clock(s, &clock);
	header.producer = borrow(o->producer);
	header.host = gus_host_describe("/sys");
	header.clock = &clock;
	header.command = (char **)(uintptr_t)o->command;
	while (o->command[header.n_command])
		header.n_command++;
	header.events = pointers;
	header.n_events = o->events->n;
	header.tier = tier;
	header.choice = borrow(o->choice->text);
	header.frequency = &s->before;
	header.call_graph = borrow(o->call_graph ? "fp" : "none");
	header.ring_bytes = s->counters.rings.v[0].size;
	header.max_size = o->max_size;
	header.delay_ms = (int64_t)o->delay_ms;
	header.targets = &target;
	header.n_targets = 1;
	s->writer = gus_writer_create(o->output, &header, s->err);
	gusprof__host__free_unpacked(header.host, NULL);
	free(events);
	free(pointers);
	return s->writer ? 0 : -1;
}

/* Rings to lanes. */
static void note_sample(struct session *s, const struct gus_sample *sample)
{
	if (sample->mode == GUS_MODE_KERNEL)
		gus_kernel_hits_add(&s->kernel, sample->ip);
	else if (sample->ip >= s->vdso_low && sample->ip < s->vdso_high)
		s->vdso_sampled = true;
	for (uint32_t i = 0; i < sample->chain_n; i++)
		if ((int64_t)sample->chain[i] < 0 && sample->chain[i] < PERF_CONTEXT_MAX)
			gus_kernel_hits_add(&s->kernel, sample->chain[i]);
}

static void note_sideband(struct session *s, const Gusprof__Record *r)
{
	if (r->kind_case == GUSPROF__RECORD__KIND_LOST && r->lost->event < s->o->events->n)
		s->totals[r->lost->event].lost += r->lost->count;
	if (r->kind_case == GUSPROF__RECORD__KIND_THROTTLE && r->throttle->stop &&
	    r->throttle->event < s->o->events->n)
		s->totals[r->throttle->event].throttles++;
	if (r->kind_case == GUSPROF__RECORD__KIND_MMAP && strcmp(r->mmap->path, "[vdso]") == 0) {
		if (r->mmap->start < s->vdso_low)
			s->vdso_low = r->mmap->start;
		if (r->mmap->start + r->mmap->length > s->vdso_high)
			s->vdso_high = r->mmap->start + r->mmap->length;
	}
}

static void take_record(const void *bytes, size_t size, void *context)
{
	struct sink *sink = context;
	struct session *s = sink->s;
	struct gus_record r = gus_records_parse(&s->counters.records, bytes, size, &sink->lane->sideband);

	switch (r.kind) {
	case GUS_RECORD_SAMPLE:
		if (r.slot == GUS_INDEX_NONE) {
			s->bad++;
			return;
		}
		r.sample.period = gus_counters_weight(&s->counters, &r);
		s->totals[r.sample.event].samples++;
		note_sample(s, &r.sample);
		gus_columns_push(&sink->lane->samples, &r.sample);
		break;
	case GUS_RECORD_SWITCH:
		gus_columns_push_switch(&sink->lane->switches, &r.sw);
		break;
	case GUS_RECORD_SIDEBAND:
		note_sideband(s, r.sideband);
		break;
	case GUS_RECORD_UNKNOWN:
		s->unknown++;
		return;
	case GUS_RECORD_BAD:
		s->bad++;
		return;
	case GUS_RECORD_IGNORED:
		return;
	}
	if (!sink->lane->since)
		sink->lane->since = s->now;
}

static void drain(struct session *s)
{
	for (size_t i = 0; i < s->counters.rings.n; i++) {
		struct sink sink = { s, &s->lanes[i] };

		gus_ring_drain(&s->counters.rings.v[i], take_record, &sink);
	}
}

/* Lanes to frames. Side band first: a reader of a file that was cut then knows the mappings of its last samples. */
static int flush_lane(struct session *s, struct lane *l)
{
	Gusprof__Sideband message = gus_sideband_message(&l->sideband);
	int rc = 0;

	if (message.n_records)
		rc = gus_writer_sideband(s->writer, &message, s->err);
	if (rc == 0)
		rc = gus_writer_samples(s->writer, &l->samples, s->err);
	if (rc == 0)
		rc = gus_writer_switches(s->writer, &l->switches, s->err);
	gus_sideband_clear(&l->sideband);
	gus_columns_clear(&l->samples);
	gus_columns_clear(&l->switches);
	l->since = 0;
	return rc;
}

static bool is_due(const struct session *s, const struct lane *l)
{
	return l->since && (s->now - l->since >= FLUSH_NS || l->samples.n >= FLUSH_ROWS ||
			    l->switches.n >= FLUSH_ROWS || l->sideband.bytes >= FLUSH_BYTES);
}

static int flush(struct session *s, bool all)
{
	for (size_t i = 0; i < s->counters.rings.n; i++)
		if ((all ? s->lanes[i].since != 0 : is_due(s, &s->lanes[i])) && flush_lane(s, &s->lanes[i]) != 0)
			return -1;
	return 0;
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
	gus_log(s->o->log, GUS_WARN, "%s; sampling has stopped, the workload goes on", s->err->text);
}

static void ask_to_end(struct session *s)
{
	if (s->child.running)
		kill(s->child.pid, SIGTERM);
}

/* Housekeeping. */
static void tick(struct session *s)
{
	if (s->enable_at && s->now >= s->enable_at) {
		s->enable_at = 0;
		gus_counters_enable(&s->counters);
	}
	drain(s);
	if (s->now >= s->next_redraw) {
		gus_counters_redraw(&s->counters);
		s->next_redraw = s->now + gus_counters_redraw_interval(&s->counters);
	}
	if (flush(s, false) != 0) {
		fail_writing(s);
	} else if (s->o->max_size && gus_writer_size(s->writer) >= s->o->max_size) {
		stop_recording(s, GUS_ENDED_MAX_SIZE);
		gus_log(s->o->log, GUS_WARN, "%s has reached its limit of %llu bytes: sampling stops and the workload is "
			"asked to end", s->o->output, (unsigned long long)s->o->max_size);
		ask_to_end(s);
	}
	s->next_tick = s->now + TICK_NS;
}

/* A signal from the terminal reached the workload as well, which may want to end in its own way; one that was sent to us
 * alone is passed on as perf does, as SIGTERM. The second one means: do not wait. */
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

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			gus_child_reap(&s->child, false);
		else
			take_stop(s, &info);
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

/* Until the workload has ended or we are told not to wait for that. */
static void loop(struct session *s)
{
	while (s->child.running && s->stops < 2) {
		bool full = false;

		s->now = clock_ns(CLOCK_MONOTONIC);
		if (poll(s->polls.v, s->recording ? s->polls.n : 1, timeout_ms(s)) < 0 && errno != EINTR)
			break;
		s->now = clock_ns(CLOCK_MONOTONIC);
		if (s->polls.v[0].revents)
			take_signals(s);
		for (size_t i = 1; i < s->polls.n; i++) {
			full |= s->polls.v[i].revents & POLLIN;
			if (s->polls.v[i].revents & (POLLHUP | POLLERR))
				s->polls.v[i].fd = -1; /* its first task has ended; others may go on, ticks see to them */
			s->polls.v[i].revents = 0;
		}
		if (s->recording && (full || s->now >= s->next_tick || (s->enable_at && s->now >= s->enable_at)))
			tick(s);
	}
}

/* The end. */
static int write_kernel(struct session *s)
{
	Gusprof__KernelSymbols *symbols = gus_kernel_hits_symbols(&s->kernel, "/proc/kallsyms");
	int rc;

	if (!symbols)
		return 0;
	rc = gus_writer_message(s->writer, GUS_FRAME_KERNEL_SYMBOLS, &symbols->base, s->err);
	gusprof__kernel_symbols__free_unpacked(symbols, NULL);
	return rc;
}

static int write_vdso(struct session *s)
{
	Gusprof__Image image;

	if (!s->vdso_sampled || !gus_vdso_image(&image))
		return 0;
	return gus_writer_message(s->writer, GUS_FRAME_IMAGE, &image.base, s->err);
}

static const char *const end_names[] = {
	[GUS_ENDED_EXIT] = "exit",
	[GUS_ENDED_INTERRUPT] = "interrupt",
	[GUS_ENDED_MAX_SIZE] = "max-size",
	[GUS_ENDED_ERROR] = "error",
};

static int write_footer(struct session *s)
{
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	Gusprof__EventTotal **pointers = gus_alloc(s->o->events->n * sizeof(*pointers));
	Gusprof__Frequency after;
	struct gus_writer *writer = s->writer;
	int rc;

	for (size_t i = 0; i < s->o->events->n; i++)
		pointers[i] = &s->totals[i];
	gus_frequency_measure(&after);
	if (!gus_counters_monotonic(&s->counters))
		gus_ring_now(&s->counters.rings.v[0], &footer.end_ns);
	else
		footer.end_ns = clock_ns(CLOCK_MONOTONIC);
	footer.events = pointers;
	footer.n_events = s->o->events->n;
	footer.exit_status = (uint32_t)s->result->exit_status;
	footer.exit_signal = (uint32_t)s->result->exit_signal;
	footer.ended_by = borrow(end_names[s->result->ended_by]);
	footer.frequency = &after;
	footer.recorder_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	s->result->bytes = gus_writer_size(writer);
	s->writer = NULL;
	rc = gus_writer_finish(writer, &footer, s->err);
	free(pointers);
	return rc;
}

static void take_status(struct session *s)
{
	s->result->running = s->child.running;
	if (s->child.running)
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
	s->now = clock_ns(CLOCK_MONOTONIC);
	drain(s);
	drain(s);
	gus_counters_totals(&s->counters, s->totals);
	if (flush(s, true) != 0 || write_kernel(s) != 0 || write_vdso(s) != 0)
		return -1;
	return write_footer(s);
}

static int finish(struct session *s)
{
	take_status(s);
	if (s->result->ended_by != GUS_ENDED_ERROR && finish_file(s) != 0)
		s->result->ended_by = GUS_ENDED_ERROR;
	for (size_t i = 0; i < s->o->events->n; i++) {
		s->result->samples += s->totals[i].samples;
		s->result->lost += s->totals[i].lost;
	}
	if (s->unknown || s->bad)
		gus_log(s->o->log, s->bad ? GUS_WARN : GUS_DEBUG, "%llu records of the kernel were malformed and %llu of "
			"a type that this program does not know", (unsigned long long)s->bad,
			(unsigned long long)s->unknown);
	return s->result->ended_by == GUS_ENDED_ERROR ? -1 : 0;
}

/* Signals come in through a descriptor while recording, so that they have one place in the loop and interrupt nothing.
 * SIGHUP only if it was not ignored (nohup). A closed stderr must not kill a recording: SIGPIPE is off. */
static int catch_signals(struct session *s)
{
	struct sigaction hup, ignore = { .sa_handler = SIG_IGN }, standard = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	s->caught = true;
	sigprocmask(SIG_BLOCK, &set, &s->signals.mask);
	sigaction(SIGCHLD, &standard, &s->signals.chld);
	sigaction(SIGPIPE, &ignore, &s->signals.pipe);
	s->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->signal_fd < 0)
		return gus_fail_errno(s->err, errno, "cannot receive signals through a descriptor");
	return 0;
}

static void release_signals(struct session *s)
{
	if (!s->caught)
		return;
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	sigaction(SIGCHLD, &s->signals.chld, NULL);
	sigaction(SIGPIPE, &s->signals.pipe, NULL);
	sigprocmask(SIG_SETMASK, &s->signals.mask, NULL);
}

static int prepare(struct session *s)
{
	const struct gus_session_options *o = s->o;
	struct gus_counters_options co = { o->call_graph, o->switches, o->delay_ms > 0, RING_BYTES };
	struct gus_target target = { 0, true };

	if (catch_signals(s) != 0)
		return -1;
	gus_frequency_measure(&s->before);
	if (gus_child_fork(&s->child, o->command, &s->signals, s->err) != 0)
		return -1;
	target.pid = s->child.pid;
	if (gus_counters_open(&s->counters, o->events, &target, &co, o->log, s->err) != 0)
		return -1;
	s->lanes = gus_zalloc(s->counters.rings.n * sizeof(*s->lanes));
	gus_vec_push(&s->polls, (struct pollfd){ .fd = s->signal_fd, .events = POLLIN });
	for (size_t i = 0; i < s->counters.rings.n; i++)
		gus_vec_push(&s->polls, (struct pollfd){ .fd = s->counters.rings.v[i].fd, .events = POLLIN });
	return create_file(s);
}

static void free_session(struct session *s)
{
	gus_child_close(&s->child);
	if (s->writer)
		gus_writer_abandon(s->writer);
	for (size_t i = 0; s->lanes && i < s->counters.rings.n; i++) {
		gus_columns_free(&s->lanes[i].samples);
		gus_columns_free(&s->lanes[i].switches);
		gus_sideband_free(&s->lanes[i].sideband);
	}
	free(s->lanes);
	free(s->totals);
	gus_vec_free(&s->polls);
	gus_counters_close(&s->counters);
	gus_kernel_hits_free(&s->kernel);
	release_signals(s);
}

int gus_session_record(const struct gus_session_options *options, struct gus_session_result *result,
		       struct gus_error *err)
{
	struct session s = { .o = options, .result = result, .signal_fd = -1, .vdso_low = UINT64_MAX, .err = err,
			     .child = { .go = -1, .failed = -1 } };
	int rc;

	*result = (struct gus_session_result){ 0 };
	s.totals = gus_alloc(options->events->n * sizeof(*s.totals));
	for (size_t i = 0; i < options->events->n; i++)
		gusprof__event_total__init(&s.totals[i]);
	gus_kernel_hits_init(&s.kernel);
	rc = prepare(&s);
	if (rc == 0 && options->ready)
		options->ready(options->ready_context);
	if (rc == 0)
		rc = gus_child_start(&s.child, options->command[0], err);
	if (rc == 0) {
		result->started = true;
		s.recording = true;
		s.now = clock_ns(CLOCK_MONOTONIC);
		s.next_tick = s.now + TICK_NS;
		s.next_redraw = gus_counters_redraw_interval(&s.counters);
		s.next_redraw = s.next_redraw == UINT64_MAX ? UINT64_MAX : s.now + s.next_redraw;
		s.enable_at = options->delay_ms ? s.now + options->delay_ms * 1000000 : 0;
		loop(&s);
		rc = finish(&s);
	} else if (s.writer) {
		struct gus_error first = *err;

		result->no_command = true;
		finish(&s); /* the command could not be started: the file is whole, and empty */
		*err = first;
	}
	free_session(&s);
	return rc;
}
