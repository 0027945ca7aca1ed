/* SPDX-License-Identifier: MIT */
/* gusprof record: chooses what to sample, runs a command under it or attaches to what runs already, and ends as the
 * command ended. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/common/ending.h"
#include "cli/common/filter.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/uarch_load.h"
#include "cli/record/call_graph.h"
#include "cli/record/carry.h"
#include "cli/record/callers.h"
#include "cli/record/embed.h"
#include "cli/record/events.h"
#include "cli/record/record.h"
#include "cli/record/replay.h"
#include "cli/record/memory.h"
#include "cli/record/slots.h"
#include "cli/record/summary.h"
#include "cli/record/trace.h"
#include "cli/verbs.h"
#include "collector/events/pmu.h"
#include "collector/host/priority.h"
#include "collector/host/text.h"
#include "collector/session/cost.h"
#include "collector/session/session.h"
#include "collector/target/child.h"
#include "collector/target/target.h"
#include "collector/trial/branches.h"
#include "collector/trial/callers.h"
#include "collector/trial/probe.h"
#include "collector/trial/skid.h"
#include "config.h"

#define DEFAULT_HZ 1000      /* where it is not known what a sample costs */
#define DEFAULT_OVERHEAD 1.0 /* percent of the target's CPU time */
#define OVERHEAD_MAX 50.0
#define WINDOW 500000          /* instructions */
#define EMULATED_WINDOW 1000000
/* How late samples may be asked about: rings are emptied ten times a second; of a flight recorder, when it is told. */
#define BEYOND_SHARE 0.25 /* of the overhead asked for: what reading deep stacks on may take */
#define KEEP_NS 2000000000
#define KEEP_FLIGHT_NS 120000000000
#define STOPPED_STATUS 143 /* as perf: 128 + SIGTERM, whichever signal asked us to stop */

enum trace { TRACE_AUTO, TRACE_QEMU, TRACE_OFF, TRACE_UNASKED };

struct record_options {
	char *events;                 /* all of -e, joined by commas; NULL: auto */
	int watched;                  /* the input */
	const char *branches;         /* -j; NULL: not asked */
	const char *frequency, *output, *cpus, *cgroup, *control;
	const char *switch_output;    /* "" if it was given without a value */
	const char *call_graph;       /* NULL: as callers says */
	int trace;                    /* enum trace */
	int embed;                    /* enum gus_embed */
	int sample_cpus;              /* enum gus_sample_cpus */
	bool single;                  /* one kind of samples, for who reads them at once */
	bool callers, branch_any, switches, quiet, all, overwrite, off_cpu, keep_memory;
	double overhead;              /* percent; 0: not asked */
	int64_t delay_ms;
	uint64_t count, max_size, trace_window;
	int verbosity, output_fd;
	unsigned topdown;             /* level; 0: not asked */
	bool memory;                  /* --memory-traffic */
	bool carries;                 /* samples bring its counts along */
	struct gus_target target;
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

static int call_process(const char *argument, void *values, struct gus_error *err)
{
	return gus_target_add(&((struct record_options *)values)->target, GUS_TARGET_PROCESSES, argument, err);
}

static int call_thread(const char *argument, void *values, struct gus_error *err)
{
	return gus_target_add(&((struct record_options *)values)->target, GUS_TARGET_THREADS, argument, err);
}

static bool is_topdown(const char *word)
{
	return strcmp(word, "samples") == 0 || gus_topdown_is_level(word);
}

static int call_topdown(const char *argument, void *values, struct gus_error *err)
{
	struct record_options *o = values;

	o->carries = argument && strcmp(argument, "samples") == 0;
	o->topdown = 0;
	return o->carries ? 0 : gus_topdown_level(argument, &((struct record_options *)values)->topdown, err);
}

static int call_switch_output(const char *argument, void *values, struct gus_error *err)
{
	(void)err;
	((struct record_options *)values)->switch_output = argument ? argument : "";
	return 0;
}

/* "-o -": the recording is what goes to our standard output, and nothing else may. So that is put aside, and what
 * has its number from now on is standard error, for the command as for us; perf does the same. */
static int divert_output(struct record_options *o, struct gus_error *err)
{
	if (!o->output || strcmp(o->output, "-") != 0)
		return 0;
	o->output = "standard output";
	if (isatty(STDOUT_FILENO))
		return gus_fail(err, GUS_E_USAGE, "-o - would write the recording to the terminal; it is for a pipe, "
				"as in: gusprof record -o - -- ./app | gusprof report -i -");
	o->output_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (o->output_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return gus_fail_errno(err, errno, "cannot write the recording to standard output");
	return 0;
}

/* What is watched. CPUs alone are a target; beside another one they say where, as a command says how long. */
enum {
	ON_PROCESSES, ON_THREADS, ON_CGROUP, ON_ALL, ON_CPUS, ON_COMMAND,
	PROCESSES = 1 << ON_PROCESSES, THREADS = 1 << ON_THREADS, CGROUP = 1 << ON_CGROUP, ALL = 1 << ON_ALL,
	CPUS = 1 << ON_CPUS, COMMAND = 1 << ON_COMMAND,
};
static const struct gus_input inputs[] = {
	[ON_PROCESSES] = { "processes (-p)" }, [ON_THREADS] = { "threads (-t)" }, [ON_CGROUP] = { "a cgroup (-G)" },
	[ON_ALL] = { "all that runs (-a)" }, [ON_CPUS] = { "CPUs (-C)", .yields = true },
	[ON_COMMAND] = { "a command (--)", .yields = true }, { 0 },
};

#define AT(field) offsetof(struct record_options, field)
static const struct gus_option options[] = {
	{ 'e', "event", "EVENT", "What to sample: auto (the default), event names separated by commas, as perf "
	  "writes them, or all that explains time on this CPU: pebs, tpebs, ibs, spe or lbr.", GUS_OPTION_CALL,
	  .call = call_event, .choices = "auto pebs tpebs ibs spe lbr cycles instructions cache-misses branch-misses "
	  "cpu-clock task-clock page-faults context-switches" },
	{ 'p', "pid", "PID[,PID]", "Watch these processes that run already, with all their threads and those born "
	  "later, instead of a command.", GUS_OPTION_CALL, .call = call_process, .gives = PROCESSES },
	{ 't', "tid", "TID[,TID]", "Watch these threads only.", GUS_OPTION_CALL, .call = call_thread,
	  .gives = THREADS },
	{ 'a', "all-cpus", NULL, "Watch all that runs on all CPUs.", GUS_OPTION_FLAG, AT(all), .gives = ALL },
	{ 'C', "cpu", "LIST", "Only on these CPUs, such as 0-2,4; without another target, all that runs on them.",
	  GUS_OPTION_STRING, AT(cpus), .gives = CPUS },
	{ 'G', "cgroup", "NAME", "Watch the tasks of this cgroup and of those below it.", GUS_OPTION_STRING,
	  AT(cgroup), .gives = CGROUP },
	{ 0, "overhead", "PCT", "Sample as often as costs PCT percent of the target's CPU time; 1 by default. -F and "
	  "-c switch this off.", GUS_OPTION_PERCENT, AT(overhead), .bounds = { 0, OVERHEAD_MAX, .above = true },
	  .fit = { .excludes = "freq count", .why = "the one chooses what the other says" } },
	{ 'F', "freq", "N", "Take N samples a second of CPU time, or max for as many as the kernel allows.",
	  GUS_OPTION_STRING, AT(frequency), .choices = "max", .fit = { .excludes = "count",
	  .why = "samples come at a rate or every so many events" } },
	{ 'c', "count", "N", "Take a sample every N events instead.", GUS_OPTION_NUMBER, AT(count),
	  .bounds = { .above = true } },
	{ 0, "sample-cpus", "WHEN", "Sample the CPUs and keep the target's samples: auto, the default, where the "
	  "target's tasks end before they are sampled, this user may, and what else runs does not cost too "
	  "much; always; never.", GUS_OPTION_CHOICE, AT(sample_cpus), .choices = "auto always never" },
	{ 'g', "", NULL, "Record the callers of each sample; the same as --call-graph auto.", GUS_OPTION_FLAG,
	  AT(callers) },
	{ 0, "call-graph", "MODE[,SIZE]", "How to find the callers: auto takes fp or tables by what the programs are "
	  "built for; fp follows frame pointers; tables (or eh) unwinds while recording, by the files' unwind tables, "
	  "from a copy of SIZE bytes of stack (64 to 65528) that is not kept; dwarf keeps these copies, for who reads "
	  "the recording to unwind; lbr takes the calls that the CPU keeps; none (the default).", GUS_OPTION_STRING,
	  AT(call_graph), .choices = "auto tables fp dwarf lbr none", .filled = true },
	{ 0, "off-cpu", NULL, "Record also where threads leave their CPU, with their callers, for the time that they "
	  "do not run: 'gusprof report --off-cpu' and '--wall' show it.", GUS_OPTION_FLAG, AT(off_cpu),
	  .fit = { .excludes = "overwrite cpu switch-events call-graph=none",
	  .why = "it takes the switches of all CPUs, each with its callers" } },
	{ 'b', "branch-any", NULL, "Record the branches that were taken before each sample, where the CPU notes "
	  "them; the same as -j any.", GUS_OPTION_FLAG, AT(branch_any), .fit = { .excludes = "branch-filter",
	  .why = "-b is -j any" } },
	{ 'j', "branch-filter", "FILTER[,FILTER]", "The same, but only these: any, any_call, any_ret, ind_call, "
	  "ind_jmp, call, cond, stack; and only in u, k, hv.", GUS_OPTION_STRING, AT(branches),
	  .choices = "any any_call any_ret ind_call ind_jmp call cond stack u k hv in_tx no_tx abort_tx no_flags "
	  "no_cycles save_type priv" },
	{ 'o', "output", "FILE", "Where to write; gusprof.data by default. - is standard output, for a pipe: the "
	  "command's own output then goes to standard error.", GUS_OPTION_STRING, AT(output), .choices = "@file",
	  .filled = true },
	{ 'D', "delay", "MS", "Start sampling MS milliseconds after the command; -1: only when --control says "
	  "enable.", GUS_OPTION_SIGNED, AT(delay_ms), .bounds = { -1, INT32_MAX } },
	{ 0, "max-size", "SIZE", "Stop, and end the command, when the file has reached SIZE bytes (with B, K, M or "
	  "G).", GUS_OPTION_SIZE, AT(max_size) },
	{ 0, "overwrite", NULL, "A flight recorder: keep only the newest samples, in memory, and write them on "
	  "SIGUSR2 and at the end.", GUS_OPTION_FLAG, AT(overwrite) },
	{ 0, "topdown", "[=LEVEL]", "Count also what becomes of issue slots, down to LEVEL (2), ten times a second: "
	  "'gusprof report' shows the tree above its rows. In place of a level, samples: each sample brings the counts "
	  "along, and 'gusprof report --topdown --by thread' and others show whose they are.", GUS_OPTION_CALL,
	  .call = call_topdown, .takes = is_topdown, .choices = "samples",
	  .fit = { .inputs = PROCESSES | THREADS | ALL | CPUS | COMMAND } },
	{ 0, "memory-traffic", NULL, "Count also what memory reads and writes, for all of the machine, ten times a "
	  "second: 'gusprof report' shows rates above its rows.", GUS_OPTION_FLAG, AT(memory) },
	{ 0, "switch-output", "[=WHEN]", "Begin a new file each time: on SIGUSR2 (signal, the default), by size "
	  "(10M) or by time (30s, 5m, 1h).", GUS_OPTION_CALL, .call = call_switch_output, .choices = "signal" },
	{ 0, "control", "HOW", "Take commands, a line each, from fifo:PATH[,ACK] or fd:N[,M]: enable, disable, "
	  "snapshot, stop, ping, evlist.", GUS_OPTION_STRING, AT(control), .choices = "fifo: fd:" },
	{ 0, "trace", "WHAT", "auto, the default for commands and processes: now and then look at a running thread for "
	  "some milliseconds, 60 in all, and at the end replay copies of it, for windows of what it did (report "
	  "--stacks needs some); qemu: run the command a second time, under an emulator, for windows; off.",
	  GUS_OPTION_CHOICE, AT(trace), .choices = "auto qemu off" },
	{ 0, "trace-window", "N", "Instructions of a window; 500,000 by default, and 1,000,000 with --trace qemu.",
	  GUS_OPTION_NUMBER, AT(trace_window), .bounds = { 0, 1e12 } },
	{ 0, "keep-memory", NULL, "Do not replay, but keep the memory and registers of these threads in the "
	  "recording, with all secrets that are in them, for who reads it to replay.", GUS_OPTION_FLAG,
	  AT(keep_memory) },
	{ 0, "embed", "WHAT", "What the recording takes along of the code that was sampled, to be read where its files "
	  "are not: symbols (the default) are the names of functions; lines: also their source lines and inlined "
	  "calls; all: also the code, for annotate and model; none.", GUS_OPTION_CHOICE, AT(embed),
	  .choices = "none symbols lines all" },
	{ 0, "switch-events", NULL, "Record context switches (the default).", GUS_OPTION_FLAG, AT(switches) },
	{ 'q', "quiet", NULL, "Say nothing but errors.", GUS_OPTION_FLAG, AT(quiet) },
	{ 'v', "verbose", NULL, "Say more about what was tried.", GUS_OPTION_CALL, .call = call_verbose },
	{ 0 },
};

static const struct gus_option_rule rules[] = {
	{ "delay=-1", { .needs = "control", .why = "there is no way to start sampling later on without it" } },
	{ "sample-cpus=always", { COMMAND | PROCESSES, .excludes = "overwrite cpu",
	  .why = "its samples are told from others by the births and ends of all its tasks" } },
	{ "trace=auto", { COMMAND | PROCESSES, .excludes = "switch-output",
	  .why = "one process is looked at, at a time, and replayed at the end" } },
	{ "keep-memory", { COMMAND | PROCESSES, .excludes = "trace=qemu trace=off switch-output",
	  .why = "it is about snapshots of single processes, which are written at the end" } },
	{ "trace-window", { .excludes = "trace=off", .why = "then there are no windows" } },
	{ "trace=qemu", { COMMAND, .excludes = "switch-output",
	  .why = "the command is run a second time, at the end" } },
	{ "topdown=samples", { .excludes = "event overwrite sample-cpus=always",
	  .why = "it chooses what samples, and that counts with each sample" } },
	{ "call-graph=lbr", { .excludes = "branch-any branch-filter",
	  .why = "the CPU keeps either calls or branches" } },
	{ "output=-", { .excludes = "switch-output", .why = "a pipe has no parts" } },
	{ "trace=qemu", { .excludes = "trace-window=0", .why = "a window has an instruction at least" } },
	{ 0 },
};

/* What perf's users type. */
static const struct gus_habit habits[] = {
	{ "-T", "samples always have their time" },
	{ "--timestamp", "samples always have their time" },
	{ "-P", "samples always have their period" },
	{ "--period", "samples always have their period" },
	{ "-z", "recordings are always compressed" },
	{ "--compression-level", "recordings are always compressed" },
	{ "-m", "the rings have the size that they need; what the kernel drops is counted and said" },
	{ "--mmap-pages", "the rings have the size that they need; what the kernel drops is counted and said" },
	{ "-u", "-p watches processes, -G a cgroup, -a all" },
	{ "--uid", "-p watches processes, -G a cgroup, -a all" },
	{ "-d", "addresses of data are not recorded; 'gusprof model -- ./app' says what accesses hit" },
	{ "--data", "addresses of data are not recorded; 'gusprof model -- ./app' says what accesses hit" },
	{ "-k", "times are of the monotonic clock" },
	{ "--clockid", "times are of the monotonic clock" },
	{ "-R", "nothing raw is recorded" },
	{ "-W", "weights of hardware are not recorded" },
	{ "--weight", "weights of hardware are not recorded" },
	{ "--strict-freq", "a rate that the kernel does not allow is always an error" },
	{ NULL, NULL },
};

/* "-p $(pidof x)" of several: all but the first are taken for the command. */
static int refuse_numbers(const struct record_options *o, char *const *words, struct gus_error *err)
{
	if (o->watched != ON_PROCESSES && o->watched != ON_THREADS)
		return 0;
	for (size_t i = 0; words[i]; i++)
		if (!isdigit((unsigned char)words[i][0]) || words[i][strspn(words[i], "0123456789")])
			return 0;
	if (!words[0])
		return 0;
	return gus_fail(err, GUS_E_USAGE, "'%s' is not part of %s: several are separated by commas, as pgrep -d, x "
			"writes them", words[0], o->watched == ON_THREADS ? "-t" : "-p");
}

static int positive(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end && !errno && *value ? 0 : -1;
}

static int parse_rate(const struct record_options *o, uint64_t *frequency, uint64_t *period, struct gus_error *err)
{
	uint64_t limit;

	*frequency = DEFAULT_HZ;
	*period = o->count;
	if (o->count)
		return 0;
	limit = gus_read_rate_limit();
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

/* Whether it is to be taken snapshots of although nobody has asked: where they can be had at all. */
#if defined(__x86_64__) || defined(__aarch64__)
#define CAN_REPLAY true
#else
#define CAN_REPLAY false
#endif

static void choose_trace(const struct record_options *o, struct gus_session_options *so,
			 struct gus_record_trace *second, struct gus_record_replay *replay)
{
	/* That a thread was stopped for a moment would be time off its CPU. */
	bool fits = (o->watched == ON_COMMAND || o->watched == ON_PROCESSES) && !o->switch_output && !o->off_cpu;

	so->trace_asked = o->trace == TRACE_AUTO || o->keep_memory;
	so->trace = so->trace_asked || (o->trace == TRACE_UNASKED && fits && CAN_REPLAY);
	so->trace_window = o->trace_window ? o->trace_window : o->trace == TRACE_QEMU ? EMULATED_WINDOW : WINDOW;
	replay->window = second->window = so->trace_window;
	if (o->trace == TRACE_QEMU) {
		so->before_end = gus_record_trace;
		so->before_end_context = second;
	} else if (so->trace) {
		so->before_end = gus_record_replay;
		so->before_end_context = replay;
	}
}

/* The share of the target's time that sampling may cost; 0 if rates are fixed. */
static double choose_overhead(const struct record_options *o)
{
	if (o->frequency || o->count)
		return 0;
	return (o->overhead > 0 ? o->overhead : DEFAULT_OVERHEAD) / 100;
}

/* "signal", a size as in --max-size, or a time with s, m, h or d. As perf has it, m is minutes and M megabytes. */
static int parse_switch_output(const char *text, struct gus_session_options *so, struct gus_error *err)
{
	static const struct { char unit; enum gus_switch_output when; uint64_t scale; } units[] = {
		{ 'B', GUS_SWITCH_SIZE, 1 }, { 'K', GUS_SWITCH_SIZE, 1 << 10 }, { 'M', GUS_SWITCH_SIZE, 1 << 20 },
		{ 'G', GUS_SWITCH_SIZE, 1 << 30 }, { 's', GUS_SWITCH_TIME, 1000000000 },
		{ 'm', GUS_SWITCH_TIME, 60000000000 }, { 'h', GUS_SWITCH_TIME, 3600000000000 },
		{ 'd', GUS_SWITCH_TIME, 86400000000000 },
	};
	char *end;

	if (!text)
		return 0;
	so->switch_output = GUS_SWITCH_SIGNAL;
	if (!*text || strcmp(text, "signal") == 0)
		return 0;
	errno = 0;
	so->switch_at = strtoull(text, &end, 10);
	for (size_t i = 0; isdigit((unsigned char)*text) && !errno && i < sizeof(units) / sizeof(*units); i++)
		if (*end == units[i].unit && !end[1] && so->switch_at &&
		    !__builtin_mul_overflow(so->switch_at, units[i].scale, &so->switch_at)) {
			so->switch_output = units[i].when;
			return 0;
		}
	return gus_fail(err, GUS_E_USAGE, "--switch-output takes signal, a size such as 10M or a time such as 30s, "
			"not '%s'", text);
}

static int parse_branches(const struct record_options *o, uint64_t *type, struct gus_error *err)
{
	*type = 0;
	return o->branch_any || o->branches ? gus_branches_parse(type, o->branches ? o->branches : "any", err) : 0;
}

/* What is to be watched, where -p and -t have not said it yet. */
static int choose_target(struct record_options *o, struct gus_error *err)
{
	struct gus_target *t = &o->target;

	if (o->cpus && gus_target_set_cpus(t, o->cpus, err) != 0)
		return -1;
	if (o->watched == ON_ALL || o->watched == ON_CPUS)
		t->kind = GUS_TARGET_SYSTEM;
	return o->watched == ON_CGROUP ? gus_target_set_cgroup(t, o->cgroup, err) : 0;
}

struct announcement {
	const struct gus_log *log;
	const struct gus_events *events;
	const struct gus_choice *choice;
	const struct gus_session_options *so;
};

/* What --overhead cannot keep is told before it is broken. */
static void announce_switches(const struct announcement *a)
{
	double most = gus_governor_switches_within(&a->so->costs, a->so->overhead);

	if (a->so->switches && a->so->overhead > 0 && most > 0)
		gus_log(a->log, GUS_NOTE, "a switch costs about %llu ns here, whatever is sampled: beyond %.0f of "
			"them a second of CPU time --overhead cannot be kept",
			(unsigned long long)a->so->costs.switch_ns, most);
}

static void announce_target(const struct announcement *a)
{
	char *what;

	if (a->so->target->kind == GUS_TARGET_COMMAND)
		return;
	what = gus_target_describe(a->so->target);
	if (a->so->command)
		gus_log(a->log, GUS_NOTE, "watching %s for as long as '%s' runs, which is not recorded for its own "
			"sake", what, a->so->command[0]);
	else
		gus_log(a->log, GUS_NOTE, "watching %s until Ctrl-C%s", what,
			a->so->target->watches.n ? " or its end" : "");
	free(what);
}

/* Only once it is sure that the events can be had, and before the command says anything. */
static void announce(void *context)
{
	const struct announcement *a = context;
	const struct gus_event *e = &a->events->v[0];
	const struct gus_costs *c = &a->so->costs;

	announce_target(a);
	gus_log(a->log, GUS_NOTE, "sampling %s", a->choice->text);
	if (a->so->call_graph_choice)
		gus_log(a->log, GUS_NOTE, "callers %s; --call-graph says otherwise", a->so->call_graph_choice);
	if (e->frequency && e->period)
		gus_log(a->log, GUS_DEBUG, "period %llu %s with jitter, for %llu samples a second",
			(unsigned long long)e->period, e->unit, (unsigned long long)e->frequency);
	if (c->sample_ns)
		gus_log(a->log, GUS_DEBUG, "one sample costs about %llu ns of CPU time here, a task's birth and end "
			"%llu and %llu for each event opened, a switch %llu (sampled, %llu more), a mapping %llu",
			(unsigned long long)c->sample_ns, (unsigned long long)c->birth_ns,
			(unsigned long long)c->wake_ns, (unsigned long long)c->switch_ns,
			(unsigned long long)c->leave_ns, (unsigned long long)c->map_ns);
	for (size_t i = 0; i < a->events->n; i++)
		if (a->events->v[i].at_switch) /* --off-cpu */
			announce_switches(a);
}

static int exit_status(int rc, bool commanded, const struct gus_session_result *r, const struct gus_error *err)
{
	if (r->no_target)
		return GUS_EXIT_NO_TARGET;
	if (!r->started)
		return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
	if (rc != 0)
		return GUS_EXIT_OWN_FAILURE;
	if (commanded && r->taken_away && !r->samples && !r->exit_status && !r->exit_signal)
		return GUS_EXIT_OWN_FAILURE; /* what was to be recorded could not be */
	if (!commanded || r->ended_by == GUS_ENDED_TARGET)
		return 0; /* to be stopped is how such a recording ends */
	if (r->ended_by == GUS_ENDED_MAX_SIZE || r->ended_by == GUS_ENDED_CONTROL)
		return STOPPED_STATUS;
	if (r->interrupt && r->terminal)
		return r->running ? gus_die_by(r->interrupt) : r->exit_signal ? gus_die_by(r->exit_signal) :
			r->exit_status;
	if (r->interrupt)
		return r->exit_signal == SIGTERM ? gus_die_by(SIGTERM) : STOPPED_STATUS;
	return r->exit_signal ? gus_die_by(r->exit_signal) : r->exit_status;
}

/* Whether what callers are found by can be had here. What auto took is given up for frame pointers, which are always
 * there; and these do without the registers that tell a leaf's caller. */
static int prepare_callers(struct gus_session_options *so, struct gus_record_callers *callers, struct gus_pmus *pmus,
			   char **chosen, struct gus_error *err)
{
	struct gus_error why = { 0 };
	struct gus_cargo cargo;

	if (so->callers == GUS_CALL_GRAPH_NONE)
		return 0;
	if (so->callers == GUS_CALL_GRAPH_FP || so->callers == GUS_CALL_GRAPH_TABLES) {
		gus_record_callers_init(callers, so->callers, so->overwrite ? KEEP_FLIGHT_NS : KEEP_NS);
		so->unwinder = &callers->unwinder;
		if (so->overhead > 0)
			callers->beyond.share = so->overhead * BEYOND_SHARE;
	}
	cargo = gus_session_cargo(so);
	if (gus_callers_check(so->events, &cargo, pmus, gus_uarch_host(), &why) == 0)
		return 0;
	if (!*chosen && so->callers != GUS_CALL_GRAPH_FP) {
		*err = why;
		return -1;
	}
	gus_log(so->log, so->callers == GUS_CALL_GRAPH_FP ? GUS_DEBUG : GUS_NOTE, "callers by frame pointers alone: %s",
		why.text);
	gus_record_callers_free(callers);
	so->unwinder = NULL;
	so->callers = GUS_CALL_GRAPH_FP;
	so->stack_bytes = 0;
	if (*chosen) {
		free(*chosen);
		so->call_graph_choice = *chosen = gus_format("by frame pointers alone: %s", why.text);
	}
	return 0;
}

static int record(struct record_options *o, char **command)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_priority priority = gus_priority_raise();
	struct gus_session_options so = {
		.command = *command ? command : NULL, .target = &o->target, .output = o->output,
		.output_fd = o->output_fd,
		.producer = PACKAGE_NAME " " PACKAGE_VERSION, .switches = o->switches, .overwrite = o->overwrite,
		.delay_ms = o->delay_ms, .max_size = o->max_size, .control = o->control, .log = log,
		.priority = &priority, .overhead = choose_overhead(o),
		.sample_cpus = (enum gus_sample_cpus)o->sample_cpus,
	};
	struct gus_session_result result = { 0 };
	struct gus_events events = { 0 };
	struct gus_choice choice = { 0 };
	struct announcement announcement = { log, &events, &choice, &so };
	struct gus_record_trace second = { .command = command, .log = log, .priority = &priority };
	struct gus_record_replay replay = { .keep_memory = o->keep_memory, .max_size = o->max_size, .log = log };
	struct gus_record_embed embed;
	struct gus_record_callers callers = { 0 };
	struct gus_record_slots slots = { 0 };
	struct gus_record_memory memory = { 0 };
	bool automatic = false;
	char *chosen = NULL;
	struct gus_error err = { 0 };
	struct gus_pmus pmus;
	uint64_t frequency, period;
	struct gus_skid skid = { 0 };
	struct gus_event alone;
	int rc = 0;

	gus_signals_note(&second.signals);
	gus_record_embed_init(&embed, (enum gus_embed)o->embed, o->max_size, log);
	so.namer = o->embed != GUS_EMBED_NONE ? &embed.namer : NULL;
	gus_pmus_init(&pmus, "/sys");
	if (so.command)
		rc = gus_child_find(command[0], &err);
	result.no_command = rc != 0;
	choose_trace(o, &so, &second, &replay);
	if (rc == 0 && (parse_rate(o, &frequency, &period, &err) != 0 ||
			parse_switch_output(o->switch_output, &so, &err) != 0 ||
			parse_branches(o, &so.branch_type, &err) != 0 ||
			gus_record_call_graph_parse(o->call_graph, o->callers, &so, &automatic, &err) != 0))
		rc = -1;
	if (rc == 0) {
		rc = gus_target_check(&o->target, log, &err);
		result.no_target = rc != 0 && err.code == GUS_E_NOT_FOUND;
	}
	if (rc == 0) {
		gus_record_replay_init(&replay, &o->target);
		rc = gus_record_events_choose(&events, &(struct gus_record_events_how){ .asked = o->events,
			.single = o->overwrite ? "--overwrite" : o->sample_cpus == GUS_SAMPLE_CPUS_ALWAYS ?
				"--sample-cpus always" : o->carries ? "--topdown=samples" :
				o->single ? "a reader" : NULL,
			.living = o->watched == ON_PROCESSES || o->watched == ON_THREADS }, &pmus, &choice, log, &err);
	}
	if (rc == 0 && o->topdown)
		rc = gus_record_slots_init(&slots, o->topdown, &o->target, &pmus, log, &err);
	if (rc == 0 && o->memory)
		rc = gus_record_memory_init(&memory, &pmus, &err);
	if (rc == 0 && o->carries)
		rc = gus_record_slots_carry(&slots, &events, &o->target, &pmus, &choice, log, &err);
	if (rc == 0 && o->off_cpu)
		rc = gus_record_events_add_off_cpu(&events, &pmus, log, &err);
	if (rc == 0 && so.branch_type)
		rc = gus_branches_check(&events, so.branch_type, &pmus, gus_uarch_host(), &err);
	if (rc == 0) {
		so.events = &events;
		so.skid = &skid;
		so.choice = &choice;
		so.call_graph_choice = chosen = automatic ? gus_record_call_graph_choose(&so) : NULL;
		rc = prepare_callers(&so, &callers, &pmus, &chosen, &err);
	}
	if (rc == 0) {
		gus_record_events_set_rates(&so, frequency, period);
		alone = gus_record_carry_alone(&events.v[0]);
		gus_trial_skid(&alone, &skid);
		slots.beside.next = o->memory ? &memory.beside : NULL;
		so.beside = o->topdown || o->carries ? &slots.beside : slots.beside.next;
		so.ready = announce;
		so.ready_context = &announcement;
		rc = gus_session_record(&so, &result, &err);
	}
	if (rc != 0 && !result.said)
		gus_complain(&err);
	if (rc == 0)
		gus_record_summarise(&so, &result, &embed, &callers, &replay);
	gus_record_replay_free(&replay);
	gus_record_callers_free(&callers);
	gus_record_slots_free(&slots);
	gus_record_memory_free(&memory);
	free(chosen);
	gus_record_embed_free(&embed);
	gus_priority_restore(&priority);
	gus_events_free(&events);
	gus_pmus_free(&pmus);
	return result.no_command ? GUS_EXIT_NO_COMMAND : exit_status(rc, so.command != NULL, &result, &err);
}

static const struct record_options standard = {
	.output = "gusprof.data", .trace = TRACE_UNASKED, .embed = GUS_EMBED_SYMBOLS, .switches = true,
};

/* Into what is open, for who reads it at once, on this machine. */
static struct record_options quietly(int fd)
{
	struct record_options o = standard;

	o.single = true;
	o.quiet = true;
	o.output = "the samples";
	o.output_fd = fd;
	o.embed = GUS_EMBED_NONE;
	o.trace = TRACE_OFF;
	gus_target_init(&o.target);
	return o;
}

int gus_record_process(int pid, int fd)
{
	char *words = gus_format("%d", pid), *none = NULL;
	struct record_options o = quietly(fd);
	int status = GUS_EXIT_NO_TARGET;

	if (gus_target_add(&o.target, GUS_TARGET_PROCESSES, words, NULL) == 0)
		status = record(&o, &none);
	gus_target_free(&o.target);
	free(words);
	return status;
}

int gus_record_command(char **command, uint64_t hz, double overhead, bool windows, int fd)
{
	struct record_options o = quietly(fd);
	char *rate = hz ? gus_format("%" PRIu64, hz) : NULL;
	int status;

	o.frequency = rate;
	o.overhead = overhead;
	if (windows)
		o.trace = TRACE_UNASKED;
	status = record(&o, command);
	gus_target_free(&o.target);
	free(rate);
	return status;
}

static int run(int argc, char **argv)
{
	struct record_options o = standard;
	struct gus_error err = { 0 };
	int status;

	gus_target_init(&o.target);
	if (gus_options_parse(&gus_verb_record, &o, &argc, &argv, &status) == 0) {
		o.callers |= o.off_cpu;
		if (refuse_numbers(&o, argv, &err) == 0 && choose_target(&o, &err) == 0 &&
		    divert_output(&o, &err) == 0) {
			status = record(&o, argv);
		} else {
			gus_complain(&err);
			status = err.code == GUS_E_NOT_FOUND ? GUS_EXIT_NO_TARGET :
				 err.code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
		}
	}
	gus_target_free(&o.target);
	free(o.events);
	return status;
}

const struct gus_verb gus_verb_record = {
	.name = "record",
	.synopsis = "[OPTION...] [-- COMMAND [ARG...]]",
	.summary = "Run a command, or watch what runs already, and record where the time goes.",
	.details = "The exit status is the command's; if a signal ends it, gusprof ends by the same\n"
		   "signal. Without a command it is 0 when told to stop. 125: gusprof failed. 129: wrong\n"
		   "option or event. 244: no such process. 255: the command could not be started.",
	.options = options,
	.run = run,
	.argument_choices = "@command",
	.inputs = inputs,
	.input_word = "target",
	.input_offset = AT(watched),
	.words_give = COMMAND,
	.word = "COMMAND",
	.many_words = true,
	.rules = rules,
	.habits = habits,
};
