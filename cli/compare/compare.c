/* SPDX-License-Identifier: MIT */
/* gusprof compare: the model held against a measurement. A command is recorded and then traced; of a process, and of a
 * recording that has both, samples and snapshots are there. The trace goes the way of gusprof model, which hands over
 * what it has instead of showing it. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/common/uarch_load.h"
#include "cli/compare/recordings.h"
#include "cli/compare/view.h"
#include "cli/model/output.h"
#include "cli/model/table.h"
#include "cli/model/traced.h"
#include "cli/screen/fitted.h"
#include "cli/verbs.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "proto/reader.h"
#include "proto/trace.h"
#include "tracing/emulator/emulate.h"

enum { ENGINE_STREAM, ENGINE_CORE };
enum { LANES_SAMPLED, LANES_ALL };
enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

struct compare_options {
	int from;                       /* FROM_*: the input */
	const char *input, *trace, *uarch, *emulator, *trace_options, *output;
	int engine, lanes, format;
	uint64_t pid, duration, snapshots, window, max_memory, repeat, hz, rows, listings;
	bool replay;
	struct gus_screen_options screen;
	char **command;
};

enum {
	FROM_COMMAND, FROM_PROCESS, FROM_FILE,
	COMMAND = 1 << FROM_COMMAND, PROCESS = 1 << FROM_PROCESS, A_FILE = 1 << FROM_FILE,
};
static const struct gus_input inputs[] = {
	[FROM_COMMAND] = { "a command (--)" }, [FROM_PROCESS] = { "a process (-p)" }, [FROM_FILE] = { "a file (-i)" },
	{ 0 },
};

#define AT(field) offsetof(struct compare_options, field)
static const struct gus_option options[] = {
	{ 'p', "pid", "PID", "A process that runs: it is sampled, and snapshots of it are traced.", GUS_OPTION_NUMBER,
	  AT(pid), .gives = PROCESS, .bounds = { 1, INT_MAX } },
	{ 'i', "input", "FILE", "A recording with a trace or snapshots, as record --trace makes it; - is standard "
	  "input.", GUS_OPTION_STRING, AT(input), .gives = A_FILE, .choices = "@file" },
	{ 0, "trace", "FILE", "Of a recording: the trace, if it is in a file of its own.", GUS_OPTION_STRING, AT(trace),
	  .choices = "@file", .fit = { A_FILE } },
	{ 0, "replay", NULL, "With --input: replay its snapshots although somebody else made the recording.",
	  GUS_OPTION_FLAG, AT(replay), .fit = { A_FILE } },
	{ 'r', "repeat", "N", "Of a command: record N runs of it; by default three, and of a short one as "
	  "many as take eight seconds.", GUS_OPTION_NUMBER, AT(repeat), .bounds = { 1, 1000 }, .fit = { COMMAND } },
	{ 'F', "frequency", "HZ", "Of a command: samples a second of CPU time; by default as many as cost 2% of it.",
	  GUS_OPTION_NUMBER, AT(hz), .bounds = { 1, 1000000 }, .fit = { COMMAND } },
	{ 0, "trace-options", "WORDS", "Of a command: which part of it is traced, as gusprof-qemu(7) says, such as "
	  "start=1000000,length=5000000.", GUS_OPTION_STRING, AT(trace_options), .fit = { COMMAND } },
	{ 0, "emulator", "FILE", "The emulator; by default qemu-x86_64 or qemu-aarch64.", GUS_OPTION_STRING,
	  AT(emulator), .choices = "@file" },
	{ 0, "duration", "SECONDS", "With --pid: how long to sample it (2).", GUS_OPTION_NUMBER, AT(duration),
	  .bounds = { 1, 86400 }, .fit = { PROCESS } },
	{ 0, "snapshots", "N", "With --pid: how many are taken meanwhile (8).", GUS_OPTION_NUMBER, AT(snapshots),
	  .bounds = { 1, 10000 }, .fit = { PROCESS } },
	{ 0, "window", "N", "With --pid: instructions from each snapshot (1000000), to the first system call.",
	  GUS_OPTION_NUMBER, AT(window), .bounds = { 1, 0 }, .fit = { PROCESS } },
	{ 0, "max-memory", "SIZE", "With --pid: memory that a snapshot may have (100M).", GUS_OPTION_SIZE,
	  AT(max_memory), .fit = { PROCESS } },
	{ 0, "uarch", "NAME|FILE|host|nominal", "The CPU: a name of `gusprof uarch list`, a file with a table, host "
	  "for this one, as calibrated if it was, or nominal for this one as if it never was; by default that of the "
	  "machine that was measured on.", GUS_OPTION_STRING, AT(uarch) },
	{ 0, "engine", "ENGINE", "Whose cycles are compared: stream (default) or core, which is slower and cycle by "
	  "cycle.", GUS_OPTION_CHOICE, AT(engine), .choices = "stream core" },
	{ 0, "lanes", "WHICH", "sampled (default), the engine is run on stretches of a long run, and errors are told; "
	  "or all, on all of it.", GUS_OPTION_CHOICE, AT(lanes), .choices = "sampled all" },
	{ 0, "rows", "N", "Show N functions and loops, instead of those with a hundredth of either time.",
	  GUS_OPTION_NUMBER, AT(rows) },
	{ 0, "listings", "N", "Show the first N of them instruction by instruction (1).", GUS_OPTION_NUMBER,
	  AT(listings) },
	{ 'o', "output", "FILE", "Write the report to FILE; to standard output for -, where what a command prints then "
	  "goes to standard error. By default it is on standard output, of a command on standard error.",
	  GUS_OPTION_STRING, AT(output), .choices = "@file" },
	{ 0, "format", "FORMAT", "text (default), json or csv.", GUS_OPTION_CHOICE, AT(format),
	  .choices = "text json csv" },
	GUS_SCREEN_OPTIONS(struct compare_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct compare_options, screen),
	GUS_SCREEN_NAME_OPTIONS(struct compare_options, screen),
	{ 0 },
};

/* Everything of one call. */
struct compare {
	const struct compare_options *o;
	struct gus_model_table table;
	struct gus_model_output output;
	bool has_output;
	struct gus_model_shower shower;
	struct gus_compare_recordings recordings;
	char *path;                     /* by what the recording of a file is opened; else NULL */
	int status;
};

/* What was measured. */

static int add_recording(struct gus_measured *m, struct gus_traced *t, const char *path, struct gus_error *err)
{
	struct gus_reader *reader = gus_reader_open(path, err);
	int rc = reader ? gus_measured_add(m, t, reader, gus_cli_log(0), err) : -1;

	gus_reader_close(reader);
	return rc;
}

static int load_measured(const struct compare *c, const struct gus_model_view *v, struct gus_measured *m,
			 struct gus_error *err)
{
	char path[64];

	if (c->o->from != FROM_COMMAND && !v->samples)
		return gus_fail(err, GUS_E_UNSUPPORTED, "there is nothing to compare with: %s", v->windows &&
				*v->windows->why ? v->windows->why : "no sample was taken");
	if (c->o->from != FROM_COMMAND)
		return add_recording(m, v->traced, v->samples, err);
	for (size_t i = 0; i < c->recordings.files.n; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", c->recordings.files.v[i]);
		if (add_recording(m, v->traced, path, err) != 0)
			return -1;
	}
	return 0;
}

/* Of the samples outside of the kernel, so many at least are to be of code of the trace. */
static const double COVERED_LEAST = 0.1;

/* What makes no sense to compare. */
static int check_measured(const struct compare *c, const struct gus_model_view *v, const struct gus_measured *m,
			  struct gus_error *err)
{
	const char *name = c->o->input ? gus_recording_name(c->o->input) : "the recording";
	const char *target = gus_traced_target(v->traced->isa);

	if (m->host && *m->host->machine && strcmp(m->host->machine, target) != 0)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot compare: %s is of a machine of %s, and the trace of "
				"code for %s", name, m->host->machine, target);
	if (!m->coverage.samples)
		return gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to compare: %s has no sample%s", name,
				c->o->from == FROM_COMMAND ? "; the command is too short, or -r and -F are too low" :
				"");
	if (m->other)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot compare: %s is of another build of %s than the trace",
				name, m->other);
	/* Programs have libraries in common, so another one's trace may well have some. */
	if ((double)m->coverage.covered < COVERED_LEAST * (double)(m->coverage.samples - m->coverage.kernel) ||
	    !m->coverage.covered)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot compare: only %" PRIu64 " of the %" PRIu64 " samples of "
				"%s are of code that the trace has executed; %s", m->coverage.covered,
				m->coverage.samples, name, c->o->from == FROM_COMMAND ? "the command is too short, or "
				"executes something else under the emulator; -r says how often to run it" :
				"is it of another program, or of another part?");
	return 0;
}

/* The built-in table for the CPU that was measured, if what is modelled is neither that nor made of it. */
static const char *other_cpu(const struct compare *c, const struct gus_measured *m)
{
	const char *name = m->host ? gus_uarch_of_host(m->host) : NULL;

	for (uint32_t i = 0; name && i < c->table.uarch->likes_n; i++)
		if (strcmp(c->table.uarch->likes[i], name) == 0)
			return NULL;
	return name && strcmp(c->table.uarch->name, name) != 0 ? name : NULL;
}

static void print_text(const struct gus_compare_view *v)
{
	struct gus_fitted fitted;

	gus_fitted_begin(&fitted, v->screen);
	gus_compare_text(v);
	gus_fitted_end(&fitted);
}

static void render(const struct compare *c, const struct gus_compare_view *v)
{
	static void (*const renderers[])(const struct gus_compare_view *v) = {
		[FORMAT_TEXT] = print_text, [FORMAT_JSON] = gus_compare_json, [FORMAT_CSV] = gus_compare_csv };

	renderers[c->o->format](v);
}

/* 0: it is all that was executed. */
static double windows_of(const struct gus_model_view *model)
{
	double n = model->windows && model->windows->taken ? model->windows->taken :
		model->window ? (double)(model->traced->instructions / model->window) : 1;

	return !model->part ? 0 : n > 1 ? n : 1;
}

/* Cycles of a round of a loop with nothing in it: its one branch is taken, and its one instruction waits for itself. */
static double round_of(const struct gus_uarch *u)
{
	double branches = gus_uarch_value(u, "taken_branches", 0);

	return branches > 0 ? fmax(1, 1 / branches) : 0;
}

/* In place of what gusprof model prints. */
static int show(void *context, const struct gus_model_view *model, struct gus_error *err)
{
	const struct compare *c = context;
	struct gus_compared_options how = { .windows = windows_of(model), .core = c->o->engine == ENGINE_CORE,
		.told = gus_model_table_error(&c->table) };
	const struct gus_screen screen = gus_screen_of(stdout, &c->o->screen);
	struct gus_measured measured;
	struct gus_compared compared;
	struct gus_compare_view v = { .model = model, .compared = &compared, .measured = &measured, .screen = &screen,
		.core = how.core, .rows = c->o->rows, .listings = c->o->listings };
	int rc = -1;

	if (model->inferred)
		return gus_fail(err, GUS_E_UNSUPPORTED, "there is nothing to compare with: %s has neither a trace nor "
				"snapshots; record with --trace, or name a trace with --trace",
				gus_recording_name(c->o->input));
	if (how.core && model->traced->core_stopped)
		return gus_fail(err, GUS_E_UNSUPPORTED, "the core engine could not run all of the trace; compare the "
				"stream engine");
	gus_measured_init(&measured, model->traced);
	if (load_measured(c, model, &measured, err) == 0 && check_measured(c, model, &measured, err) == 0) {
		v.other_cpu = other_cpu(c, &measured);
		how.looks = gus_measured_looks(&measured, v.other_cpu ? 0 : round_of(model->model->uarch));
		gus_compared_make(&compared, model->traced, &measured, &how);
		render(c, &v);
		gus_compared_free(&compared);
		rc = 0;
	}
	gus_measured_free(&measured);
	return rc;
}

/* What was modelled. */

/* -i and --trace: a trace of its own, with the samples of the recording. */
static int run_apart(struct compare *c, struct gus_model_traced *m, struct gus_error *err)
{
	struct gus_model_view v = { .input = c->o->input, .path = c->path };
	struct gus_trace *trace = gus_trace_open(c->o->trace, err);
	int rc = trace ? gus_model_traced_show(m, trace, NULL, &v, err) : -1;

	if (trace)
		gus_trace_close(trace);
	return rc;
}

static int run_command(struct compare *c, struct gus_model_traced *m, struct gus_error *err)
{
	const struct gus_compare_runs runs = { .command = c->o->command, .repeat = c->o->repeat, .hz = c->o->hz,
		.out_is_err = gus_model_output_moves_command(&c->output) };
	const char *target = gus_command_target(c->o->command, err);
	int status;

	if (!target || gus_traced_check(c->table.uarch, c->o->command[0], target, err) != 0 ||
	    gus_emulation_check(target, c->o->emulator, err) != 0 ||
	    gus_compare_recordings_make(&c->recordings, &runs, err) != 0)
		return -1;
	c->status = c->recordings.status;
	return gus_model_command(m, c->o->command, &status, err);
}

static int run_traced(struct compare *c, struct gus_error *err)
{
	const struct compare_options *o = c->o;
	char *words = gus_format("%s%s", o->trace_options ? "," : "", o->trace_options ? o->trace_options : "");
	struct gus_model_traced m = {
		.uarch = c->table.uarch, .config = &c->table.config, .caches = &c->table.caches, .weight = 1.15,
		.core = o->engine == ENGINE_CORE, .interval = true, .warm = o->from == FROM_PROCESS,
		.all = o->lanes == LANES_ALL, .children = true, .emulator = o->emulator, .options = words,
		.input = o->input, .screen = &o->screen, .output = &c->output, .expectation = &c->table.expectation,
		.json = o->format == FORMAT_JSON, .shower = &c->shower, .silent = true,
	};
	const struct gus_model_process process = {
		.pid = (int)o->pid, .snapshots = o->snapshots, .spread_ms = o->duration * 1000 / o->snapshots,
		.window = o->window, .max_bytes = o->max_memory, .replay = o->replay,
	};
	int rc;

	if (o->from == FROM_PROCESS)
		rc = gus_model_attached(&m, &process, err);
	else if (o->from == FROM_COMMAND)
		rc = run_command(c, &m, err);
	else if (o->trace)
		rc = run_apart(c, &m, err);
	else
		rc = gus_model_trace(&m, &process, c->path, err);
	free(words);
	return rc;
}

static int run_all(struct compare *c, struct gus_error *err)
{
	int rc = 0;

	if (c->o->from == FROM_FILE && !(c->path = gus_recording_path(c->o->input, err)))
		return -1;
	if (gus_model_table_load(&c->table, c->o->uarch, c->path, c->o->input, err) != 0)
		return -1;
	c->shower = (struct gus_model_shower){ show, c };
	c->output = (struct gus_model_output){ .path = c->o->output, .command = c->o->from == FROM_COMMAND,
		.json = c->o->format == FORMAT_JSON };
	if (gus_model_output_open(&c->output, err) != 0)
		return -1;
	c->has_output = true;
	if (c->o->from != FROM_COMMAND) /* which is started first, with standard output as it is */
		rc = gus_model_output_begin(&c->output, err);
	if (rc == 0)
		rc = run_traced(c, err);
	return gus_model_output_end(&c->output, rc, err);
}

static int run(int argc, char **argv)
{
	struct compare_options o = { .duration = 2, .snapshots = 8, .window = 1000000, .listings = 1,
		.screen = GUS_SCREEN_DEFAULTS };
	struct compare c = { .o = &o };
	struct gus_error err = { 0 };
	int status;

	if (gus_options_parse(&gus_verb_compare, &o, &argc, &argv, &status) == 0) {
		o.command = argc ? argv : NULL;
		if (run_all(&c, &err) == 0)
			status = c.status;
		else
			status = gus_compare_recordings_failure(&c.recordings, c.has_output && o.from == FROM_PROCESS,
								c.has_output && o.from == FROM_COMMAND, &err);
	}
	gus_compare_recordings_free(&c.recordings);
	gus_model_table_free(&c.table);
	free(c.path);
	return status;
}

const struct gus_verb gus_verb_compare = {
	.name = "compare",
	.synopsis = "[OPTION...] -- COMMAND [ARG...] | --pid PID | --input FILE",
	.summary = "Hold what the model says of a program against what was measured.",
	.details = "A command is run several times to be sampled, and once more under an emulator; what it\n"
		   "prints to standard output is seen once, and all else that it does, it does each time. The\n"
		   "exit status is the command's.",
	.options = options,
	.run = run,
	.argument_choices = "@command",
	.inputs = inputs,
	.input_word = "input",
	.input_offset = AT(from),
	.words_give = COMMAND,
	.word = "COMMAND",
	.many_words = true,
};
