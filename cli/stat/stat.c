/* SPDX-License-Identifier: MIT */
/* gusprof stat: counts events of a command, of what runs already, or of CPUs, and ends as the command ended. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/output.h"
#include "cli/common/ending.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/topdown.h"
#include "cli/screen/screen.h"
#include "cli/stat/memory.h"
#include "cli/stat/view.h"
#include "collector/events/event.h"
#include "cli/verbs.h"
#include "collector/events/pmu.h"
#include "collector/stat/stat_target.h"
#include "collector/target/child.h"

#define STOPPED_STATUS 143 /* as record */
#define INTERVAL_MIN_MS 10 /* as perf: below, reading the counters would be what is measured */
#define RUNS_MAX 1000000
#define READING_NS 100000000ULL /* between readings from which it shows how sure trees are */

enum format { TEXT, JSON, CSV };

struct stat_options {
	char *events;              /* all of -e, joined by commas; NULL: the default ones */
	int counted;               /* the input, enum gus_stat_kind */
	const char *cpus, *output, *separator;
	int format;                /* enum format; negative: CSV if there is a separator, else text */
	struct gus_screen_options screen;
	struct gus_list pids, tids;
	bool all;
	uint64_t runs, interval_ms;
	unsigned level;            /* of the top-down tree; 0: it was not asked for */
	bool memory;               /* its traffic was asked for */
};

static int call_event(const char *argument, void *values, struct gus_error *err)
{
	struct stat_options *o = values;
	char *joined = o->events ? gus_format("%s,%s", o->events, argument) : gus_strdup(argument);

	(void)err;
	free(o->events);
	o->events = joined;
	return 0;
}

static int call_topdown(const char *argument, void *values, struct gus_error *err)
{
	return gus_topdown_level(argument, &((struct stat_options *)values)->level, err);
}

static const struct gus_input inputs[] = {
	[GUS_STAT_COMMAND] = { "a command (--)", .yields = true }, [GUS_STAT_PROCESSES] = { "processes (-p)" },
	[GUS_STAT_THREADS] = { "threads (-t)" }, [GUS_STAT_CPUS] = { "CPUs (-a, -C)" }, { 0 },
};

#define AT(field) offsetof(struct stat_options, field)
static const struct gus_option options[] = {
	{ 'e', "event", "EVENT", "What to count: event names separated by commas, as perf writes them.",
	  GUS_OPTION_CALL, .call = call_event,
	  .choices = "cycles instructions branches branch-misses cache-references cache-misses task-clock cpu-clock "
	  "page-faults context-switches cpu-migrations" },
	{ 0, "topdown", "[=LEVEL]", "Show what became of the issue slots as a tree, down to LEVEL (2).",
	  GUS_OPTION_CALL, .call = call_topdown, .takes = gus_topdown_is_level },
	{ 0, "memory", NULL, "Count also what memory reads and writes, for all of the machine.", GUS_OPTION_FLAG,
	  AT(memory), .fit = { .excludes = "repeat", .why = "it is counted for one run" } },
	{ 'r', "repeat", "N", "Run the command N times, and show means with their 95 % intervals.",
	  GUS_OPTION_NUMBER, AT(runs), .bounds = { 1, RUNS_MAX },
	  .fit = { .needs = "--", .excludes = "interval-print" } },
	{ 'I', "interval-print", "MS", "Show counts every MS milliseconds, 10 at least.", GUS_OPTION_NUMBER,
	  AT(interval_ms), .bounds = { INTERVAL_MIN_MS, INT32_MAX } },
	{ 'p', "pid", "PID[,PID]", "Count these processes, which run already; a command then only says how long.",
	  GUS_OPTION_LIST, AT(pids), .gives = 1 << GUS_STAT_PROCESSES },
	{ 't', "tid", "TID[,TID]", "Count these threads.", GUS_OPTION_LIST, AT(tids),
	  .gives = 1 << GUS_STAT_THREADS },
	{ 'a', "all-cpus", NULL, "Count all that runs on all CPUs.", GUS_OPTION_FLAG, AT(all),
	  .gives = 1 << GUS_STAT_CPUS },
	{ 'C', "cpu", "CPUS", "Count all that runs on these CPUs, such as 0-3,8.", GUS_OPTION_STRING, AT(cpus),
	  .gives = 1 << GUS_STAT_CPUS },
	{ 'o', "output", "FILE", "Write the counts to FILE, or to standard output for -, instead of standard error.",
	  GUS_OPTION_STRING, AT(output), .choices = "@file" },
	{ 0, "format", "FORMAT", "text (the default), json or csv.", GUS_OPTION_CHOICE, AT(format),
	  .choices = "text json csv" },
	GUS_SCREEN_OPTIONS(struct stat_options, screen),
	{ 'x', "field-separator", "SEP", "CSV with SEP between the fields.", GUS_OPTION_STRING, AT(separator),
	  .filled = true, .fit = { .excludes = "format=text format=json", .why = "only CSV has a separator" } },
	{ 0 },
};

/* What perf's users type. */
static const struct gus_habit habits[] = {
	{ "-d", "-e names the events, such as -e L1-dcache-loads,L1-dcache-load-misses,LLC-loads" },
	{ "--detailed", "-e names the events, such as -e L1-dcache-loads,L1-dcache-load-misses,LLC-loads" },
	{ "-j", "--format json is that" },
	{ "--json-output", "--format json is that" },
	{ "-B", "numbers are grouped anyhow" },
	{ "--big-num", "numbers are grouped anyhow" },
	{ "-A", "counts of several CPUs are added up; -C counts one alone" },
	{ "--no-aggr", "counts of several CPUs are added up; -C counts one alone" },
	{ "--per-core", "counts of several CPUs are added up; -C counts some alone" },
	{ "--per-thread", "counts of several threads are added up; -t counts some alone" },
	{ "-M", "there are no metrics by name; -e names events" },
	{ "--metrics", "there are no metrics by name; -e names events" },
	{ "-i", "children are always counted; -t counts threads alone" },
	{ "--no-inherit", "children are always counted; -t counts threads alone" },
	{ "--timeout", "'gusprof stat -p PID -- sleep 5' counts for so long" },
	{ NULL, NULL },
};

struct job {
	struct gus_stat_target target;
	enum format format;
	const char *separator;
	FILE *out;
	struct gus_screen screen;  /* what out is */
	bool headed;               /* the header of CSV has been written */
	bool said;                 /* that the command is only the duration */
	char *const *command;
	struct gus_events events;
	struct gus_topdown_tables tables;
	struct gus_topdown_counted_list topdown;
	unsigned level;            /* as asked for */
	struct gus_stat_view *whole; /* of all runs */
	struct gus_stat_view part; /* what was read since the last interval was shown, in so many readings of every */
	struct gus_vec(struct gus_stat_row) rows;
	struct gus_stat_memory *memory; /* NULL: it was not asked for */
	uint64_t readings, every;
	bool by_default, user_only;
	uint64_t interval_ns;
	const struct gus_log *log;
};

/* Options. */
static int parse_ids(const struct gus_list *list, const char *option, struct gus_stat_target *target,
		     struct gus_error *err)
{
	for (size_t i = 0; i < list->n; i++) {
		char *end;
		long id;

		errno = 0;
		id = strtol(list->v[i], &end, 10);
		if (!isdigit((unsigned char)*list->v[i]) || *end || errno || id < 1 || id > INT32_MAX)
			return gus_fail(err, GUS_E_USAGE, "%s takes numbers above zero, separated by commas, not '%s'",
					option, list->v[i]);
		gus_vec_push(&target->ids, (pid_t)id);
	}
	return 0;
}

static int check_cpus(const char *cpus, struct gus_error *err)
{
	const char *at = cpus;

	while (isdigit((unsigned char)*at)) {
		unsigned long low = strtoul(at, (char **)&at, 10), high = low;

		if (*at == '-' && isdigit((unsigned char)at[1]))
			high = strtoul(at + 1, (char **)&at, 10);
		if (high < low || high > 8191)
			break;
		if (!*at)
			return 0;
		if (*at == ',')
			at++;
	}
	return gus_fail(err, GUS_E_USAGE, "-C takes CPUs such as 0-3,8, not '%s'", cpus);
}

static int choose_target(const struct stat_options *o, struct gus_stat_target *t, struct gus_error *err)
{
	t->kind = (enum gus_stat_kind)o->counted;
	t->cpus = o->cpus;
	if (o->cpus && check_cpus(o->cpus, err) != 0)
		return -1;
	if (parse_ids(&o->pids, "-p", t, err) != 0)
		return -1;
	return parse_ids(&o->tids, "-t", t, err);
}

/* The tree that was asked for, or nothing. */
static int choose_tree(struct job *j, struct gus_pmus *pmus, struct gus_error *err)
{
	if (gus_topdown_here(&j->tables, pmus, err) != 0 ||
	    gus_topdown_count(&j->topdown, &j->tables, j->level, &j->events, pmus, err) != 0)
		return -1;
	return j->topdown.n ? 0 : gus_topdown_refuse(&j->tables, err);
}

/* The first level, of cores for which that takes no counter from other events; a machine that has none is no error. */
static void choose_slots(struct job *j, struct gus_pmus *pmus)
{
	size_t kept = 0;

	gus_topdown_here(&j->tables, pmus, NULL);
	for (size_t i = 0; i < j->tables.n; i++)
		if (j->tables.v[i]->by_default)
			j->tables.v[kept++] = j->tables.v[i];
		else
			gus_topdown_free(j->tables.v[i]);
	j->tables.n = kept;
	gus_topdown_count(&j->topdown, &j->tables, 1, &j->events, pmus, NULL);
}

static int choose_events(const struct stat_options *o, struct job *j, struct gus_pmus *pmus, struct gus_error *err)
{
	const char *clock = j->target.kind == GUS_STAT_CPUS ? "cpu-clock" : "task-clock";

	if (o->events && gus_events_parse(&j->events, o->events, pmus, err) != 0)
		return -1;
	if (!o->events && gus_events_parse(&j->events, clock, pmus, err) != 0)
		return -1;
	if (j->level)
		return choose_tree(j, pmus, err);
	if (o->events)
		return 0;
	j->by_default = true;
	if (gus_events_parse(&j->events,
			     "context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses",
			     pmus, err) != 0)
		return -1;
	choose_slots(j, pmus);
	return 0;
}

/* Showing. */
static struct gus_stat_view make_view(const struct job *j)
{
	struct gus_stat_view v = {
		.screen = &j->screen, .target = &j->target, .command = j->command, .by_default = j->by_default,
		.topdown = &j->topdown, .trees = j->level > 0, .user_only = j->user_only,
		.traffic = j->memory ? &j->memory->whole : NULL,
	};

	gus_stat_view_init(&v, &j->events);
	return v;
}

static void show(struct job *j, struct gus_stat_view *v)
{
	gus_stat_view_settle(v);
	switch (j->format) {
	case TEXT:
		gus_stat_text(j->out, v);
		break;
	case CSV:
		if (!j->headed)
			gus_stat_csv_header(j->out, j->separator);
		j->headed = true;
		gus_stat_csv(j->out, v, j->separator);
		break;
	case JSON:
		gus_stat_json(j->out, v, !j->interval_ns);
		break;
	}
	fflush(j->out);
}

static void show_interval(struct job *j)
{
	if (!j->readings)
		return;
	gus_stat_view_add(&j->part, j->rows.v, j->part.to_ns - j->part.from_ns);
	show(j, &j->part);
	gus_stat_view_free(&j->part);
	gus_vec_free(&j->rows);
	j->readings = 0;
}

static void begin_interval(struct job *j, const struct gus_stat_part *part)
{
	j->part = make_view(j);
	j->part.interval = true;
	if (j->memory) {
		gus_stat_memory_next(j->memory);
		j->part.traffic = &j->memory->part;
	}
	j->part.from_ns = part->from_ns;
	gus_vec_append(&j->rows, part->rows, j->events.n);
	for (size_t i = 0; i < j->events.n; i++)
		j->rows.v[i].count = (struct gus_count){ 0 };
}

/* One reading. An interval that is shown may be several, so that it is known how sure its trees are. */
static void take_reading(const struct gus_stat_part *part, void *context)
{
	struct job *j = context;

	if (j->topdown.n)
		gus_stat_view_read(j->whole, part->rows, part->to_ns);
	if (j->interval_ns && !j->readings)
		begin_interval(j, part);
	if (j->memory)
		gus_stat_memory_read(j->memory, part->to_ns);
	if (!j->interval_ns)
		return;
	for (size_t i = 0; i < j->events.n; i++) {
		struct gus_count *sum = &j->rows.v[i].count;

		sum->value += part->rows[i].count.value;
		sum->enabled_ns += part->rows[i].count.enabled_ns;
		sum->running_ns += part->rows[i].count.running_ns;
	}
	if (j->topdown.n)
		gus_stat_view_read(&j->part, part->rows, part->to_ns);
	j->part.to_ns = part->to_ns;
	if (++j->readings == j->every)
		show_interval(j);
}

/* How long from one reading to the next; 0 if only the whole is wanted. */
static uint64_t reading_ns(struct job *j)
{
	bool more = j->topdown.n || j->memory;

	j->every = more && j->interval_ns > READING_NS ? j->interval_ns / READING_NS : 1;
	return j->interval_ns ? j->interval_ns / j->every : more ? READING_NS : 0;
}

/* Running. A command beside -p, -t, -a or -C is easily taken for what is counted. */
static void is_ready(void *context)
{
	static const char *const what[] = {
		[GUS_STAT_PROCESSES] = "the processes of -p are", [GUS_STAT_THREADS] = "the threads of -t are",
		[GUS_STAT_CPUS] = "all that runs on the CPUs is",
	};
	struct job *j = context;

	if (j->command && j->target.kind != GUS_STAT_COMMAND && !j->said)
		gus_log(j->log, GUS_NOTE, "%s counted, for as long as '%s' runs", what[j->target.kind], j->command[0]);
	j->said = true;
	if (j->memory)
		gus_stat_memory_start(j->memory);
}

static void note_run(struct job *j, struct gus_stat_view *v, const struct gus_stat_result *r)
{
	if (r->user_only && !j->user_only)
		gus_log(j->log, GUS_NOTE, "this user may not count in the kernel (kernel.perf_event_paranoid): it is "
			"left out");
	v->user_only = j->user_only |= r->user_only;
	v->missed += r->missed;
	v->to_ns = r->elapsed_ns;
	if (!v->exit_status && !v->exit_signal) { /* of the first run that failed */
		v->exit_status = r->exit_status;
		v->exit_signal = r->exit_signal;
	}
	gus_stat_view_add(v, r->rows, r->elapsed_ns);
	if (j->target.kind == GUS_STAT_COMMAND) {
		gus_vec_push(&v->user, (double)r->user_ns);
		gus_vec_push(&v->system, (double)r->system_ns);
	}
}

/* All runs, of which a signal makes the last. */
static int run_all(struct job *j, uint64_t runs, struct gus_stat_view *v, struct gus_stat_result *last,
		   struct gus_error *err)
{
	struct gus_stat_options so = {
		.target = &j->target, .command = j->command, .events = &j->events, .interval_ns = reading_ns(j),
		.log = j->log, .part = take_reading, .ready = is_ready, .context = j,
	};

	for (uint64_t i = 0; i < runs; i++) {
		int rc = gus_stat_run(&so, last, err);

		show_interval(j); /* the last one is shorter */
		if (rc == 0)
			note_run(j, v, last);
		gus_stat_result_free(last);
		if (rc != 0)
			return -1;
		if (last->interrupt || last->exit_signal)
			break;
	}
	return 0;
}

static int exit_status(const struct job *j, const struct gus_stat_view *v, const struct gus_stat_result *r)
{
	if (r->interrupt && (!j->command || r->terminal))
		return r->running || !j->command ? gus_die_by(r->interrupt) : r->exit_signal ?
			gus_die_by(r->exit_signal) : r->exit_status;
	if (r->interrupt)
		return r->exit_signal == SIGTERM ? gus_die_by(SIGTERM) : STOPPED_STATUS;
	return v->exit_signal ? gus_die_by(v->exit_signal) : v->exit_status;
}

/* A new file for the counts, under its name at once: those who ask for intervals look on. Its mode is that of any
 * text. */
static int create_output(struct job *j, const char *path, struct gus_error *err)
{
	mode_t mask = umask(0);
	struct gus_output file;

	umask(mask);
	if (gus_output_create(&file, path, "counts", err) != 0)
		return -1;
	fchmod(file.fd, 0666 & ~mask);
	j->out = fdopen(file.fd, "w");
	if (!j->out) {
		gus_output_drop(&file);
		close(file.fd);
		return gus_fail_errno(err, errno, "cannot write the counts to %s", path);
	}
	if (gus_output_name(&file, err) == 0)
		return 0;
	fclose(j->out);
	return -1;
}

/* What has no name of its own to be kept: a device, such as a terminal, and what is open already. */
static bool is_written_as_it_is(const char *path)
{
	struct stat st;

	return gus_output_is_open(path) || (stat(path, &st) == 0 && S_ISCHR(st.st_mode));
}

/* The stream for the counts. Before anything is run: a name that cannot be written to is no reason to run for an
 * hour. */
static int open_output(struct job *j, const char *path, struct gus_error *err)
{
	int fd;

	j->out = path ? stdout : stderr;
	if (!path || strcmp(path, "-") == 0)
		return 0;
	if (!is_written_as_it_is(path))
		return create_output(j, path, err);
	fd = gus_output_open(path, "cannot write the counts to", err);
	j->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (j->out || fd < 0)
		return j->out ? 0 : -1;
	close(fd);
	return gus_fail_errno(err, errno, "cannot write the counts to %s", path);
}

static int close_output(struct job *j, const char *path, struct gus_error *err)
{
	bool bad = fflush(j->out) != 0 || ferror(j->out);
	int sys = errno;

	if (j->out != stderr && j->out != stdout && fclose(j->out) != 0 && !bad) {
		bad = true;
		sys = errno;
	}
	if (bad && j->out == stdout) { /* said here, with the reason, and not again at the end of the program */
		__fpurge(stdout);
		clearerr(stdout);
	}
	return bad ? gus_fail_errno(err, sys, "cannot write the counts to %s", path ? path : "standard error") : 0;
}

static int count(const struct stat_options *o, struct job *j)
{
	struct gus_stat_result last = { 0 };
	struct gus_error err = { 0 };
	struct gus_stat_view v = { 0 };
	struct gus_pmus pmus;
	bool no_target = false;
	int status;
	int rc = 0;

	gus_pmus_init(&pmus, "/sys");
	if (j->command && gus_child_find(j->command[0], &err) != 0) {
		rc = -1;
		last.no_command = true;
	}
	if (rc == 0)
		rc = choose_events(o, j, &pmus, &err);
	if (rc == 0 && j->memory)
		rc = gus_stat_memory_open(j->memory, &pmus, &err);
	if (rc == 0)
		rc = open_output(j, o->output, &err);
	if (rc == 0) {
		j->screen = gus_screen_of(j->out, &o->screen);
		v = make_view(j);
		j->whole = &v;
		rc = run_all(j, o->runs, &v, &last, &err);
		no_target = rc != 0 && j->target.ids.n && err.code == GUS_E_NOT_FOUND;
		if (v.runs)
			show(j, &v);
		if (close_output(j, o->output, &err) != 0)
			rc = -1;
	}
	if (rc != 0)
		gus_complain(&err);
	status = rc == 0 ? -1 : last.no_command ? GUS_EXIT_NO_COMMAND : no_target ? GUS_EXIT_NO_TARGET :
		 err.code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
	if (status < 0)
		status = exit_status(j, &v, &last);
	gus_stat_view_free(&v);
	gus_pmus_free(&pmus);
	return status;
}

static int run(int argc, char **argv)
{
	struct stat_options o = { .format = -1, .runs = 1, .screen = GUS_SCREEN_DEFAULTS };
	struct gus_error err = { 0 };
	struct gus_stat_memory memory = { .since = NULL };
	struct job j = { .log = gus_cli_log(0) };
	int status;

	if (gus_options_parse(&gus_verb_stat, &o, &argc, &argv, &status) == 0) {
		j.command = argc > 0 ? argv : NULL;
		j.interval_ns = o.interval_ms * 1000000;
		j.level = o.level;
		j.memory = o.memory ? &memory : NULL;
		j.format = o.format >= 0 ? (enum format)o.format : o.separator ? CSV : TEXT;
		j.separator = o.separator ? o.separator : ",";
		if (choose_target(&o, &j.target, &err) == 0) {
			status = count(&o, &j);
		} else {
			gus_complain(&err);
			status = GUS_EXIT_USAGE;
		}
	}
	gus_stat_memory_free(&memory);
	gus_events_free(&j.events);
	gus_topdown_tables_free(&j.tables);
	gus_vec_free(&j.topdown);
	gus_vec_free(&j.target.ids);
	gus_list_free(&o.pids);
	gus_list_free(&o.tids);
	free(o.events);
	return status;
}

const struct gus_verb gus_verb_stat = {
	.name = "stat",
	.synopsis = "[OPTION...] -- COMMAND [ARG...]",
	.summary = "Count events of a command, of what runs already, or of whole CPUs.",
	.details = "The exit status is the command's, of several runs that of the first that failed; if a\n"
		   "signal ends it, gusprof ends by the same signal. 125: gusprof failed. 129: wrong option\n"
		   "or event. 244: no such process. 255: the command could not be started.",
	.options = options,
	.run = run,
	.argument_choices = "@command",
	.inputs = inputs,
	.input_word = "target",
	.input_offset = AT(counted),
	.words_give = 1 << GUS_STAT_COMMAND,
	.word = "COMMAND",
	.habits = habits,
	.many_words = true,
};
