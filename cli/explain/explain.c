/* SPDX-License-Identifier: MIT */
/* gusprof explain: what would bring the time of a program back. A recording says where its time goes; its windows are
 * run once more by both engines, by the core engine for what became of each slot, and by the stream engine for what the
 * region would gain of more of each thing that a node of the tree stands for. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/rows.h"
#include "attribution/verdicts/threads.h"
#include "base/error.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/compare/recordings.h"
#include "cli/explain/counted.h"
#include "cli/explain/measured.h"
#include "cli/explain/pathologies.h"
#include "cli/explain/quality.h"
#include "cli/explain/regions.h"
#include "cli/explain/view.h"
#include "cli/explain/whatif.h"
#include "cli/model/output.h"
#include "cli/model/table.h"
#include "cli/model/traced.h"
#include "cli/screen/fitted.h"
#include "cli/verbs.h"
#include "proto/reader.h"

enum { FORMAT_TEXT, FORMAT_JSON };
/* Of a process: how many snapshots, and how many instructions from each. */
enum { SNAPSHOTS = 24, WINDOW = 500000 };

struct explain_options {
	int from;                       /* FROM_*: the input */
	const char *input, *uarch, *output;
	struct gus_list what_if;
	int format;
	uint64_t pid, duration;
	bool replay, pathologies;
	struct gus_screen_options screen;
	char **command;
};

enum {
	FROM_FILE, FROM_COMMAND, FROM_PROCESS,
	A_FILE = 1 << FROM_FILE, COMMAND = 1 << FROM_COMMAND, PROCESS = 1 << FROM_PROCESS,
};
static const struct gus_input inputs[] = {
	[FROM_FILE] = { "a file (-i)" }, [FROM_COMMAND] = { "a command (--)" }, [FROM_PROCESS] = { "a process (-p)" },
	{ 0 },
};

#define AT(field) offsetof(struct explain_options, field)
static const struct gus_option options[] = {
	{ 'p', "pid", "PID", "A process that runs: it is sampled, and snapshots of it are replayed.", GUS_OPTION_NUMBER,
	  AT(pid), .gives = PROCESS, .bounds = { 1, INT_MAX } },
	{ 'i', "input", "FILE", "A recording, - for standard input; by default gusprof.data.", GUS_OPTION_STRING,
	  AT(input), .gives = A_FILE, .choices = "@file" },
	{ 0, "duration", "SECONDS", "With --pid: how long to sample it (5).", GUS_OPTION_NUMBER, AT(duration),
	  .bounds = { 1, 86400 }, .fit = { PROCESS } },
	{ 0, "replay", NULL, "Replay its snapshots although somebody else made the recording.", GUS_OPTION_FLAG,
	  AT(replay), .fit = { A_FILE } },
	{ 0, "what-if", "QUESTION[,...]", "Also what would be if: contention[=SHARE[@LEVEL]] (others take that many "
	  "percent of the bandwidth of memory or l3; by default 25, 50 and 75 of memory's, 50 of L3's), squash "
	  "(what mispredicted branches cost, estimated) and vectorise (loops did many turns at once, with vectors); "
	  "several with commas between.", GUS_OPTION_LIST, AT(what_if), .choices = "contention squash vectorise" },
	{ 0, "uarch", "NAME|FILE|host|nominal", "The CPU: a name of `gusprof uarch list`, a file with a table, host "
	  "for this one, as calibrated if it was, or nominal for this one as if it never was; by default that of the "
	  "machine that was recorded on.", GUS_OPTION_STRING, AT(uarch) },
	{ 'o', "output", "FILE", "Write to FILE; to standard output for -, where what a command prints then goes to "
	  "standard error. By default it is on standard output, of a command on standard error.", GUS_OPTION_STRING,
	  AT(output), .choices = "@file" },
	{ 0, "pathologies", NULL, "List what it looks for, what each of it costs, and how it is told, and do nothing "
	  "else.", GUS_OPTION_FLAG, AT(pathologies) },
	{ 0, "format", "FORMAT", "text (default) or json.", GUS_OPTION_CHOICE, AT(format), .choices = "text json" },
	GUS_SCREEN_OPTIONS(struct explain_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct explain_options, screen),
	GUS_SCREEN_NAME_OPTIONS(struct explain_options, screen),
	{ 0 },
};

struct listeners { const struct gus_core_listener *slots, *heard; };

/* Everything of one call. */
struct explain {
	const struct explain_options *o;
	struct gus_model_table table;
	struct gus_model_output output;
	struct gus_model_shower shower;
	struct gus_explain_engines engines;
	/* By stream, while it runs: those of slots and of heard, which tells the former. */
	struct gus_vec(struct listeners) listeners;
	struct gus_compare_recordings recordings;
	char *path;                     /* by what the recording is opened; NULL: it is made while the process runs */
	const char *name;               /* of the recording, for people */
	int status;                     /* of the command */
	bool has_output;
};

/* What was measured of the same recording, by the same names. */
static int load_counts(struct gus_traced *t, struct gus_reader *reader, struct gus_explain_counts *counts,
		       struct gus_error *err)
{
	const Gusprof__Header *h = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .boot_id = h->host ? h->host->boot_id : NULL,
		.rights = gus_symbols_rights(t->options.symbols) };
	int rc = gus_explain_counts_load(counts, reader, &symbols, err);

	if (rc == 0)
		gus_explain_counts_by_function(counts, t);
	return rc;
}

static int measure(struct explain *e, const struct gus_model_view *model, struct gus_measured *m,
		   struct gus_explain_counts *counts, struct gus_error *err)
{
	const char *path = e->path ? e->path : model->samples;
	struct gus_reader *reader = path ? gus_reader_open(path, err) : NULL;
	int rc = reader ? gus_measured_add(m, model->traced, reader, gus_cli_log(0), err) : -1;

	if (rc == 0)
		rc = load_counts(model->traced, reader, counts, err);
	if (rc == 0 && !(e->engines.seen = gus_pathology_seen_load(model->traced, reader, NULL, err)))
		rc = -1;
	counts->reader = reader; /* whose header its profile has */
	if (!path)
		return gus_fail(err, GUS_E_UNSUPPORTED, "there is nothing to explain: %s", model->windows &&
				*model->windows->why ? model->windows->why : "no sample was taken");
	if (rc == 0 && !m->coverage.samples)
		return gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to explain: %s has no sample", e->name);
	return rc;
}

static void render(const struct explain *e, const struct gus_explain_view *v)
{
	struct gus_fitted fitted;

	if (e->o->format == FORMAT_JSON) {
		gus_explain_json(v);
		return;
	}
	gus_fitted_begin(&fitted, v->screen);
	gus_explain_text(v);
	gus_fitted_end(&fitted);
}

static void view_free(struct gus_explain_view *v)
{
	for (size_t i = 0; i < v->regions.n; i++) {
		free(v->regions.v[i].name);
		free(v->regions.v[i].withheld);
		gus_vec_free(&v->regions.v[i].pathologies);
		gus_explain_answers_free(&v->regions.v[i].answers);
	}
	gus_vec_free(&v->regions);
	gus_explain_facts_free(v->facts);
}

static int has_no_windows(const struct explain *e, struct gus_error *err)
{
	return gus_fail(err, GUS_E_UNSUPPORTED, "there is nothing to explain: %s has no windows of what the program "
			"did; record it without --trace off, or with --trace qemu", e->name);
}

/* In place of what gusprof model prints. */
static int show(void *context, const struct gus_model_view *model, struct gus_error *err)
{
	struct explain *e = context;
	const struct gus_screen screen = gus_screen_of(stdout, &e->o->screen);
	struct gus_measured measured;
	struct gus_compared compared;
	struct gus_explain_counts counts = { .loaded = false };
	struct gus_explain_facts facts = { 0 };
	struct gus_explain_view v = { .model = model, .compared = &compared, .measured = &measured, .screen = &screen,
		.counts = &counts, .facts = &facts, .table = gus_model_table_name(&e->table),
		.calibrated = gus_model_table_calibrated(&e->table), .told = gus_model_table_error(&e->table),
		.whatif = &e->engines.whatif };
	struct gus_compared_options how = { .windows = model->windows && model->windows->taken ?
		model->windows->taken : 1, .told = v.told };
	int rc = -1;

	if (model->inferred)
		return has_no_windows(e, err);
	gus_measured_init(&measured, model->traced);
	if (measure(e, model, &measured, &counts, err) == 0) {
		how.looks = gus_measured_looks(&measured, 0);
		gus_compared_make(&compared, model->traced, &measured, &how);
		e->engines.uarch = e->table.uarch;
		gus_explain_regions_find(&e->engines, &v);
		gus_explain_facts_find(&facts, &v, e->table.uarch);
		render(e, &v);
		gus_compared_free(&compared);
		rc = 0;
	}
	view_free(&v);
	gus_explain_counts_free(&counts);
	gus_measured_free(&measured);
	free(e->engines.seen);
	return rc;
}

/* The trees that counters have measured, where nothing can be modelled; false, without an error: there is none. */
static bool explain_counted(const struct explain *e, const struct gus_error *why)
{
	const struct gus_screen screen = gus_screen_of(stdout, &e->o->screen);
	struct gus_measured measured = { .runs = 0 };
	struct gus_explain_counts counts = { .loaded = false };
	struct gus_explain_facts facts = { 0 };
	struct gus_explain_view v = { .without = why->text, .measured = &measured, .screen = &screen,
		.counts = &counts, .facts = &facts, .whatif = &e->engines.whatif };
	struct gus_view view;
	bool any = e->path && gus_explain_counts_open(&counts, e->path) && counts.whole && counts.profile.samples;

	if (any) {
		measured.coverage.samples = counts.profile.samples;
		gus_view_make(&view, &counts.profile, GUS_BY_FUNCTION, false);
		gus_explain_counts_by_row(&counts, view.of_cell.v);
		for (size_t i = 0; i < view.rows.n && v.explained < GUS_EXPLAIN_MATTERS; i++)
			if (view.rows.v[i].share >= GUS_EXPLAIN_LEAST)
				gus_explain_counted_add(&v, &view, (uint32_t)i);
		gus_explain_facts_find(&facts, &v, NULL);
		render(e, &v);
		view_free(&v);
		gus_view_free(&view);
	}
	gus_explain_counts_free(&counts);
	return any;
}

static const struct gus_core_listener *listen(void *context, uint32_t stream, const struct gus_program *program)
{
	struct explain *e = context;
	struct listeners *l;

	while (e->listeners.n <= stream)
		gus_vec_push(&e->listeners, (struct listeners){ NULL, NULL });
	l = &e->listeners.v[stream];
	l->slots = gus_slotted_listen(&e->engines.slots, program);
	l->heard = gus_heard_listen(&e->engines.heard, program, l->slots);
	return l->heard;
}

/* Processes come and go, and what listens to one of them takes half a megabyte. */
static void leave(void *context, uint32_t stream)
{
	struct explain *e = context;
	struct listeners *l = &e->listeners.v[stream];

	gus_heard_leave(&e->engines.heard, l->heard);
	gus_slotted_leave(&e->engines.slots, l->slots);
	gus_squashes_leave(&e->engines.whatif.squashes, stream);
}

static int run_traced(struct explain *e, struct gus_error *err)
{
	const struct gus_model_process process = { .pid = (int)e->o->pid, .snapshots = SNAPSHOTS,
		.spread_ms = e->o->duration * 1000 / SNAPSHOTS, .window = WINDOW, .replay = e->o->replay };
	struct gus_model_traced m = {
		.uarch = e->table.uarch, .config = &e->table.config, .caches = &e->table.caches,
		.weight = GUS_CAUSAL_MORE, .sets = e->engines.sets, .core = true, .causality = true, .interval = true,
		.listen = listen, .leave = leave, .listen_context = e, .input = e->name, .options = "",
		.warm = e->o->from == FROM_PROCESS,
		.screen = &e->o->screen, .output = &e->output, .expectation = &e->table.expectation,
		.json = e->o->format == FORMAT_JSON, .shower = &e->shower, .executed_only = true,
		.passages = e->engines.whatif.vectorise,
	};

	/* Branch stacks tell which code was executed, and nothing of the memory that it asked for: of a walk over it
	 * all is in L1, and a verdict on that would be none on the program. */
	if (e->path && gus_recording_is_perfs(e->path))
		return has_no_windows(e, err);
	m.sets_n = gus_explain_whatif_sets(&e->engines.whatif, &e->table.config, e->engines.sets,
					   gus_explain_sets(&e->engines), err);
	if (m.sets_n < 0)
		return -1;
	m.timed = gus_explain_whatif_timed(&e->engines.whatif);
	gus_heard_init(&e->engines.heard, &e->table.caches);
	gus_slotted_init(&e->engines.slots, e->table.config.issue_width);
	return e->path ? gus_model_trace(&m, &process, e->path, err) : gus_model_attached(&m, &process, err);
}

/* A command is recorded first, as record does it. */
static int find_recording(struct explain *e, struct gus_error *err)
{
	const struct explain_options *o = e->o;
	const struct gus_compare_runs runs = { .command = o->command, .repeat = 1, .windows = true,
		.out_is_err = gus_model_output_moves_command(&e->output) };

	if (o->from == FROM_PROCESS)
		return 0;
	if (o->from == FROM_FILE)
		return (e->path = gus_recording_path(o->input, err)) ? 0 : -1;
	if (gus_compare_recordings_make(&e->recordings, &runs, err) != 0)
		return -1;
	e->status = e->recordings.status;
	e->path = gus_format("/proc/self/fd/%d", e->recordings.files.v[0]);
	return 0;
}

static int explain_it(struct explain *e, struct gus_error *err)
{
	struct gus_error why = { 0 };

	if (e->o->from == FROM_COMMAND && /* which was started with standard output as it is */
	    gus_model_output_begin(&e->output, err) != 0)
		return -1;
	if (gus_model_table_load(&e->table, e->o->uarch, e->path, e->name, &why) == 0 && run_traced(e, &why) == 0)
		return 0;
	if ((why.code == GUS_E_UNSUPPORTED || why.code == GUS_E_NOT_FOUND) && explain_counted(e, &why))
		return 0;
	if (e->o->from == FROM_COMMAND && e->table.uarch) /* of which record has said nothing here */
		return gus_fail(err, why.code, "cannot explain '%s': %s; is it too short? gusprof record -- %s says "
				"more", e->name, why.text, e->name);
	*err = why;
	return -1;
}

static int run_all(struct explain *e, struct gus_error *err)
{
	int rc = 0;

	if (gus_explain_whatif_parse(&e->engines.whatif, &e->o->what_if, err) != 0)
		return -1;
	e->shower = (struct gus_model_shower){ show, e };
	e->output = (struct gus_model_output){ .path = e->o->output, .command = e->o->from == FROM_COMMAND,
		.json = e->o->format == FORMAT_JSON };
	if (gus_model_output_open(&e->output, err) != 0)
		return -1;
	e->has_output = true;
	if (e->o->from != FROM_COMMAND)
		rc = gus_model_output_begin(&e->output, err);
	if (rc == 0)
		rc = find_recording(e, err);
	if (rc == 0)
		rc = explain_it(e, err);
	return gus_model_output_end(&e->output, rc, err);
}

static int run(int argc, char **argv)
{
	struct explain_options o = { .input = "gusprof.data", .duration = 5, .screen = GUS_SCREEN_DEFAULTS };
	struct explain e = { .o = &o };
	struct gus_error err = { 0 };
	int status;

	if (gus_options_parse(&gus_verb_explain, &o, &argc, &argv, &status) != 0)
		return status;
	if (o.pathologies) {
		gus_explain_pathologies_list();
		return 0;
	}
	o.command = argc ? argv : NULL;
	e.name = o.from == FROM_COMMAND ? o.command[0] : gus_recording_name(o.input);
	if (run_all(&e, &err) == 0)
		status = e.status;
	else
		status = gus_compare_recordings_failure(&e.recordings, e.has_output && o.from == FROM_PROCESS,
							e.has_output && o.from == FROM_COMMAND, &err);
	gus_slotted_free(&e.engines.slots);
	gus_explain_whatif_free(&e.engines.whatif);
	gus_list_free(&o.what_if);
	gus_vec_free(&e.listeners);
	gus_heard_free(&e.engines.heard);
	gus_compare_recordings_free(&e.recordings);
	gus_model_table_free(&e.table);
	free(e.path);
	return status;
}

const struct gus_verb gus_verb_explain = {
	.name = "explain",
	.synopsis = "[OPTION...] [-- COMMAND [ARG...] | --pid PID | --input FILE]",
	.summary = "Say what would bring the time of a program back.",
	.details = "Without any of these it is gusprof.data that is explained. The exit status is the command's.",
	.options = options,
	.run = run,
	.argument_choices = "@command",
	.inputs = inputs,
	.input_word = "input",
	.input_offset = AT(from),
	.first_by_default = true,
	.words_give = COMMAND,
	.word = "COMMAND",
	.many_words = true,
};
