/* SPDX-License-Identifier: MIT */
/* gusprof record: chooses what to sample, runs the command under it, and ends as the command ended. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cli/verbs.h"
#include "collector/child.h"
#include "collector/pmu.h"
#include "collector/session.h"
#include "config.h"

#define DEFAULT_HZ 1000
#define STOPPED_STATUS 143 /* as perf: 128 + SIGTERM, whichever signal asked us to stop */

struct record_options {
	char *events;                 /* all of -e, joined by commas; NULL: auto */
	const char *frequency, *count, *call_graph, *output;
	bool callers, switches, quiet;
	int64_t delay_ms;
	uint64_t max_size;
	int verbosity;
};

static int call_event(const char *argument, void *values, struct gus_error *err)
{
	struct record_options *o = values;
	char *joined = o->events ? gus_format("%s,%s", o->events, argument) : gus_strdup(argument);

	(void)err;
	free(o->events);
	o->events = joined;
	return 0;
}

static int call_verbose(const char *argument, void *values, struct gus_error *err)
{
	(void)argument;
	(void)err;
	((struct record_options *)values)->verbosity++;
	return 0;
}

#define AT(field) offsetof(struct record_options, field)
static const struct gus_option options[] = {
	{ 'e', "event", "EVENT", "What to sample: auto (the default), or event names separated by commas, as perf writes "
	  "them.",
	  GUS_OPTION_CALL, 0, call_event, "auto cycles instructions cache-misses branch-misses cpu-clock task-clock "
	  "page-faults context-switches" },
	{ 'F', "freq", "N", "Take N samples a second of CPU time, or max for as many as the kernel allows; 1000 by default.",
	  GUS_OPTION_STRING, AT(frequency), NULL, "max" },
	{ 'c', "count", "N", "Take a sample every N events instead.", GUS_OPTION_STRING, AT(count), NULL, NULL },
	{ 'g', "", NULL, "Record the callers of each sample; the same as --call-graph fp.", GUS_OPTION_FLAG, AT(callers), NULL,
	  NULL },
	{ 0, "call-graph", "MODE", "How to find the callers: fp follows frame pointers, none (the default) records none.",
	  GUS_OPTION_STRING, AT(call_graph), NULL, "fp none" },
	{ 'o', "output", "FILE", "Where to write; gusprof.data by default.", GUS_OPTION_STRING, AT(output), NULL, "@file" },
	{ 'D', "delay", "MS", "Start sampling MS milliseconds after the command.", GUS_OPTION_SIGNED, AT(delay_ms), NULL, NULL },
	{ 0, "max-size", "SIZE", "Stop, and end the command, when the file has reached SIZE bytes (with B, K, M or G).",
	  GUS_OPTION_SIZE, AT(max_size), NULL, NULL },
	{ 0, "switch-events", NULL, "Record context switches (the default).", GUS_OPTION_FLAG, AT(switches), NULL, NULL },
	{ 'q', "quiet", NULL, "Say nothing but errors.", GUS_OPTION_FLAG, AT(quiet), NULL, NULL },
	{ 'v', "verbose", NULL, "Say more about what was tried.", GUS_OPTION_CALL, 0, call_verbose, NULL },
	{ 0 },
};

static int positive(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end && !errno && *value ? 0 : -1;
}

/* The kernel lowers this limit by itself when sampling takes too long; above it, it refuses. */
static uint64_t rate_limit(void)
{
	char text[32];
	uint64_t limit;

	if (!gus_read_text("/proc/sys/kernel/perf_event_max_sample_rate", text, sizeof(text)) || positive(text, &limit) != 0)
		return UINT64_MAX;
	return limit;
}

static int parse_rate(const struct record_options *o, uint64_t *frequency, uint64_t *period, struct gus_error *err)
{
	uint64_t limit;

	*frequency = DEFAULT_HZ;
	*period = 0;
	if (o->frequency && o->count)
		return gus_fail(err, GUS_E_USAGE, "-F and -c exclude each other: samples come at a rate or every so many "
				"events");
	if (o->count)
		return positive(o->count, period) == 0 ? 0 :
		       gus_fail(err, GUS_E_USAGE, "-c takes a number of events above zero, not '%s'", o->count);
	limit = rate_limit();
	if (o->frequency && strcmp(o->frequency, "max") == 0)
		*frequency = limit == UINT64_MAX ? DEFAULT_HZ : limit;
	else if (o->frequency && positive(o->frequency, frequency) != 0)
		return gus_fail(err, GUS_E_USAGE, "-F takes a number of samples a second above zero, or max, not '%s'",
				o->frequency);
	if (*frequency > limit && o->frequency)
		return gus_fail(err, GUS_E_USAGE, "%s samples a second are more than this kernel allows now, %llu "
				"(kernel.perf_event_max_sample_rate); take less, or -F max", o->frequency,
				(unsigned long long)limit);
	*frequency = *frequency > limit ? limit : *frequency;
	return 0;
}

static int parse_call_graph(const struct record_options *o, bool *call_graph, struct gus_error *err)
{
	static const char *const later[] = { "dwarf", "lbr", "auto" };
	const char *mode = o->call_graph ? o->call_graph : o->callers ? "fp" : "none";

	*call_graph = strcmp(mode, "fp") == 0;
	if (*call_graph || strcmp(mode, "none") == 0)
		return 0;
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (strncmp(mode, later[i], strlen(later[i])) == 0)
			return gus_fail(err, GUS_E_USAGE, "--call-graph %s is not there yet; fp is", mode);
	return gus_fail(err, GUS_E_USAGE, "--call-graph takes fp or none, not '%s'", mode);
}

/* What does not depend on the machine. */
static int check_options(const struct record_options *o, int argc, struct gus_error *err)
{
	if (argc < 1)
		return gus_fail(err, GUS_E_USAGE, "no command to run was given; write it behind --");
	if (strcmp(o->output, "-") == 0)
		return gus_fail(err, GUS_E_USAGE, "-o - is not there yet: a recording is a file, because it must survive "
				"whatever stops the program");
	if (o->delay_ms > INT32_MAX)
		return gus_fail(err, GUS_E_USAGE, "-D %lld: that is more than 24 days", (long long)o->delay_ms);
	if (o->delay_ms < 0)
		return gus_fail(err, GUS_E_USAGE, "-D %lld: there is no way yet to start sampling later on but a time in "
				"milliseconds", (long long)o->delay_ms);
	return 0;
}

static int choose_events(const struct record_options *o, struct gus_events *events, struct gus_pmus *pmus,
			 struct gus_choice *choice, const struct gus_log *log, struct gus_error *err)
{
	if (!o->events || strcmp(o->events, "auto") == 0) {
		if (gus_probe_auto(events, pmus, choice, err) != 0)
			return -1;
		for (size_t i = 0; i < events->n; i++) {
			free(events->v[i].asked);
			events->v[i].asked = gus_strdup("auto");
		}
		return 0;
	}
	if (gus_events_parse(events, o->events, pmus, err) != 0)
		return -1;
	if (gus_probe_permission(events))
		gus_log(log, GUS_NOTE, "this user may not sample the kernel (kernel.perf_event_paranoid): its time is left out");
	gus_probe_precision(events);
	gus_probe_describe(events, choice);
	return 0;
}

struct announcement {
	const struct gus_log *log;
	const struct gus_events *events;
	const struct gus_choice *choice;
	uint64_t cost_ns;
};

/* Only once it is sure that the events can be had, and before the command says anything. */
static void announce(void *context)
{
	const struct announcement *a = context;
	const struct gus_event *e = &a->events->v[0];

	gus_log(a->log, GUS_NOTE, "sampling %s", a->choice->text);
	if (e->frequency && e->period)
		gus_log(a->log, GUS_DEBUG, "period %llu %s with jitter, for %llu samples a second",
			(unsigned long long)e->period, e->unit, (unsigned long long)e->frequency);
	if (a->cost_ns)
		gus_log(a->log, GUS_DEBUG, "one sample costs about %llu ns of CPU time here",
			(unsigned long long)a->cost_ns);
}

static void summarise(const struct record_options *o, const struct gus_log *log,
		      const struct gus_session_result *r)
{
	gus_log(log, GUS_NOTE, "[ %llu samples, %llu lost, %.2f MB in %s ]", (unsigned long long)r->samples,
		(unsigned long long)r->lost, (double)r->bytes / 1e6, o->output);
	if (!r->samples)
		gus_log(log, GUS_NOTE, "no samples: the command took too little CPU time, or the event did not happen");
}

/* Ends as the workload did, so that whoever started us sees what it would have seen. It has dumped its own core. */
static int die_by(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return 128 + sig;
}

static int exit_status(int rc, const struct gus_session_result *r, const struct gus_error *err)
{
	if (!r->started)
		return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
	if (rc != 0)
		return GUS_EXIT_OWN_FAILURE;
	if (r->ended_by == GUS_ENDED_MAX_SIZE)
		return STOPPED_STATUS;
	if (r->interrupt && r->terminal)
		return r->running ? die_by(r->interrupt) : r->exit_signal ? die_by(r->exit_signal) : r->exit_status;
	if (r->interrupt)
		return r->exit_signal == SIGTERM ? die_by(SIGTERM) : STOPPED_STATUS;
	return r->exit_signal ? die_by(r->exit_signal) : r->exit_status;
}

static int record(const struct record_options *o, char **command)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_session_options so = {
		.command = command, .output = o->output, .producer = PACKAGE_NAME " " PACKAGE_VERSION,
		.switches = o->switches, .delay_ms = (uint64_t)o->delay_ms, .max_size = o->max_size, .log = log,
	};
	struct gus_session_result result = { 0 };
	struct gus_events events = { 0 };
	struct gus_choice choice = { 0 };
	struct announcement announcement;
	struct gus_error err = { 0 };
	struct gus_pmus pmus;
	uint64_t frequency, period;
	int rc;

	gus_pmus_init(&pmus, "/sys");
	rc = gus_child_find(command[0], &err);
	result.no_command = rc != 0;
	if (rc == 0)
		rc = parse_rate(o, &frequency, &period, &err);
	if (rc == 0)
		rc = parse_call_graph(o, &so.call_graph, &err);
	if (rc == 0)
		rc = choose_events(o, &events, &pmus, &choice, log, &err);
	if (rc == 0) {
		for (size_t i = 0; i < events.n; i++)
			gus_event_set_rate(&events.v[i], frequency, period);
		so.events = &events;
		so.choice = &choice;
		so.cost_ns = gus_probe_cost(&events.v[0]);
		announcement = (struct announcement){ log, &events, &choice, so.cost_ns };
		so.ready = announce;
		so.ready_context = &announcement;
		rc = gus_session_record(&so, &result, &err);
	}
	if (rc != 0 && !result.said)
		gus_complain(&err);
	if (rc == 0)
		summarise(o, log, &result);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	return result.no_command ? GUS_EXIT_NO_COMMAND : exit_status(rc, &result, &err);
}

static int run(int argc, char **argv)
{
	struct record_options o = { .output = "gusprof.data", .switches = true };
	struct gus_error err = { 0 };
	int status;

	if (gus_options_parse(&gus_verb_record, &o, &argc, &argv, &status) == 0) {
		if (check_options(&o, argc, &err) == 0) {
			status = record(&o, argv);
		} else {
			gus_complain(&err);
			status = GUS_EXIT_USAGE;
		}
	}
	free(o.events);
	return status;
}

const struct gus_verb gus_verb_record = {
	.name = "record",
	.synopsis = "[OPTION...] -- COMMAND [ARG...]",
	.summary = "Run a command and record where its time goes.",
	.details = "The exit status is the command's; if a signal ends it, gusprof ends by the same\n"
		   "signal. 125: gusprof failed. 129: wrong option or event. 255: the command could not\nbe started.",
	.options = options,
	.run = run,
	.argument_choices = "@command",
};
