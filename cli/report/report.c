/* SPDX-License-Identifier: MIT */
/* gusprof report: loads a recording, gathers it into rows, sorts and renders them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/common/filter.h"
#include "cli/common/naming.h"
#include "cli/report/render.h"
#include "cli/verbs.h"

enum format { TEXT, JSON, CSV };

struct report_options {
	const char *input, *sort, *symfs;
	int by;                       /* enum gus_by */
	int format;                   /* enum format */
	double percent_limit;
	struct gus_filter_options filter;
	struct gus_naming_options naming;
	struct gus_list modules;
	bool inlines, graph, quiet;
	int verbosity;
};

static int call_verbose(const char *argument, void *values, struct gus_error *err)
{
	(void)argument;
	(void)err;
	((struct report_options *)values)->verbosity++;
	return 0;
}

#define AT(field) offsetof(struct report_options, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "The recording to read; gusprof.data by default.", GUS_OPTION_STRING, AT(input),
	  .choices = "@file", .fit = { .excludes = "--", .why = "both name the recording" } },
	{ 0, "by", "WHAT", "What a row is: function (the default), module, line, instruction or thread.",
	  GUS_OPTION_CHOICE, AT(by), .choices = "function module line instruction thread" },
	{ 's', "sort", "KEY[,KEY]", "Order of the rows: share (the default), samples, total, name, module, line, "
	  "offset.", GUS_OPTION_STRING, AT(sort), .choices = "share samples total name module line offset" },
	{ 0, "percent-limit", "PCT", "Leave out rows below this share, and say how many.", GUS_OPTION_PERCENT,
	  AT(percent_limit) },
	{ 0, "dso", "NAME[,NAME]", "Only samples in these modules, by path or base name.", GUS_OPTION_LIST,
	  AT(modules) },
	GUS_FILTER_OPTIONS(struct report_options, filter),
	{ 0, "inline", NULL, "Count an inlined function as a function of its own (the default); --no-inline counts "
	  "it with the symbol that has the code.", GUS_OPTION_FLAG, AT(inlines) },
	{ 'g', "call-graph", NULL, "Show callers and callees, and what each row takes with all that it calls; needs "
	  "a recording made with -g.", GUS_OPTION_FLAG, AT(graph) },
	{ 0, "format", "FORMAT", "text (the default), json or csv.", GUS_OPTION_CHOICE, AT(format),
	  .choices = "text json csv" },
	{ 0, "symfs", "DIR", "Look for modules and their debug files under this directory.", GUS_OPTION_STRING,
	  AT(symfs), .choices = "@dir" },
	GUS_NAMING_OPTIONS(struct report_options, naming),
	{ 'q', "quiet", NULL, "No notes on stderr, only warnings.", GUS_OPTION_FLAG, AT(quiet) },
	{ 'v', "verbose", NULL, "Say more about what is done.", GUS_OPTION_CALL, .call = call_verbose },
	{ 0 },
};

/* Sorting. The view comes sorted by weight and, among equals, in an order of its own; keys only rearrange it stably. */

enum key { KEY_SHARE, KEY_SAMPLES, KEY_TOTAL, KEY_NAME, KEY_MODULE, KEY_LINE, KEY_OFFSET, KEYS };
static const char *const key_names[KEYS] = { "share", "samples", "total", "name", "module", "line", "offset" };

struct sorting {
	const struct gus_profile *profile;
	enum key keys[16];
	size_t n;
};

static int text_order(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b;
}

static int number_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static const char *module_path(const struct gus_profile *p, const struct gus_row *row)
{
	return row->module == GUS_INDEX_NONE ? "" : gus_space_module(p->space, row->module)->path;
}

static int key_order(const struct sorting *s, enum key key, const struct gus_row *x, const struct gus_row *y)
{
	int order;

	switch (key) {
	case KEY_SHARE:
		return number_order(y->weight, x->weight);
	case KEY_SAMPLES:
		return number_order(y->samples, x->samples);
	case KEY_TOTAL:
		return number_order(y->total, x->total);
	case KEY_NAME:
		return text_order(x->function, y->function);
	case KEY_MODULE:
		return text_order(module_path(s->profile, x), module_path(s->profile, y));
	case KEY_LINE:
		order = text_order(x->file, y->file);
		return order ? order : number_order(x->line, y->line);
	default:
		return number_order(x->offset, y->offset);
	}
}

static int by_keys(const struct gus_row *x, const struct gus_row *y, const void *context)
{
	const struct sorting *s = context;

	for (size_t i = 0; i < s->n; i++) {
		int order = key_order(s, s->keys[i], x, y);

		if (order)
			return order;
	}
	return 0;
}

static int parse_keys(struct sorting *s, const char *text, struct gus_error *err)
{
	while (*text) {
		size_t length = strcspn(text, ","), key = 0;

		while (key < KEYS && (strlen(key_names[key]) != length || strncmp(key_names[key], text, length) != 0))
			key++;
		if (length == 4 && strncmp(text, "time", 4) == 0)
			key = KEY_SHARE;
		if (key == KEYS || s->n == sizeof(s->keys) / sizeof(*s->keys))
			return gus_fail(err, GUS_E_USAGE, "--sort knows share, samples, total, name, module, line and "
					"offset, not '%.*s'", (int)length, text);
		s->keys[s->n++] = (enum key)key;
		text += length + (text[length] == ',');
	}
	return 0;
}

/* Why names are missing, for modules that matter: one with less than a hundredth of the time is not worth a line. */
static void trouble(const struct gus_report *r, const struct gus_log *log)
{
	struct gus_vec(uint64_t) weights = { 0 };

	for (size_t i = 0; i < r->view->rows.n; i++) {
		const struct gus_row *row = &r->view->rows.v[i];

		while (row->module != GUS_INDEX_NONE && weights.n <= row->module)
			gus_vec_push(&weights, 0);
		if (row->module != GUS_INDEX_NONE)
			weights.v[row->module] += row->weight;
	}
	for (uint32_t i = 0; i < weights.n; i++) {
		const struct gus_module *module = gus_space_module(r->profile->space, i);
		const char *text = NULL;

		if (weights.v[i] && weights.v[i] >= r->profile->weight / 100)
			text = gus_symbols_trouble(r->profile->symbols, module);
		if (weights.v[i] && !text)
			text = gus_symbols_refusal(r->profile->symbols, module);
		/* The vdso never has more than its exported names, which are all. */
		if (text && module->kind != GUS_MODULE_VDSO)
			gus_log(log, GUS_NOTE, "%s: %s", module->path, text);
	}
	gus_vec_free(&weights);
}

static int render(const struct gus_report *r, int format)
{
	if (format == JSON)
		return gus_render_json(r);
	if (format == CSV)
		gus_render_csv(r);
	else
		gus_render_text(r);
	return 0;
}

static void warn(const char *text, void *context)
{
	gus_log(context, GUS_WARN, "%s", text);
}

static int show(const struct report_options *o, struct sorting *sorting, struct gus_profile *p, uint64_t length)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_report r = { .path = o->input, .profile = p, .graph = o->graph, .percent_limit = o->percent_limit,
				.length_ns = length };
	const struct gus_error *failure;
	struct gus_view view;
	int rc;

	gus_view_make(&view, p, (enum gus_by)o->by, o->inlines);
	sorting->profile = p;
	if (sorting->n)
		gus_view_sort(&view, by_keys, sorting);
	r.view = &view;
	r.units = gus_units_of(p);
	rc = render(&r, o->format);
	fflush(stdout);
	failure = gus_symbols_failure(p->symbols);
	if (o->format != TEXT && !failure) /* text has them on top */
		gus_report_notices(&r, warn, (void *)log);
	if (failure && rc == 0) {
		gus_complain(failure);
		rc = -1;
	} else {
		trouble(&r, log);
	}
	gus_view_free(&view);
	return rc;
}

static int status_of(const struct gus_error *err)
{
	gus_complain(err);
	return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

static int report(struct report_options *o)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_symbols_options symbols = { .symfs = o->symfs };
	struct gus_naming *naming = NULL;
	struct gus_reader *reader = NULL;
	struct sorting sorting = { 0 };
	struct gus_error err = { 0 };
	struct gus_profile profile;
	struct gus_filter filter;
	const Gusprof__Header *header;
	uint64_t length = 0;
	uint32_t *tids = NULL;
	int status = 0;

	if (parse_keys(&sorting, o->sort, &err) != 0 ||
	    !(naming = gus_naming_begin(&o->naming, log, &err)) ||
	    !(reader = gus_reader_open(o->input, &err)) ||
	    gus_filter_make(&filter, &o->filter, reader, &length, &tids, &err) != 0) {
		status = status_of(&err);
		goto out;
	}
	filter.modules = (const char *const *)o->modules.v;
	filter.chains = o->graph;
	header = gus_reader_header(reader);
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	if (o->graph && strcmp(header->call_graph, "fp") != 0)
		gus_log(log, GUS_WARN, "%s has no call chains: record with -g", o->input);
	symbols.cache = gus_naming_cache(naming);
	symbols.fetch = gus_naming_fetch(naming);
	if (gus_profile_load(&profile, reader, &filter, &symbols, log, &err) != 0) {
		status = status_of(&err);
		goto out;
	}
	gus_naming_weigh(naming, &profile);
	status = show(o, &sorting, &profile, length) == 0 ? 0 : GUS_EXIT_OWN_FAILURE;
	gus_profile_free(&profile);
out:
	free(tids);
	gus_naming_end(naming);
	gus_reader_close(reader);
	return status;
}

static int run(int argc, char **argv)
{
	struct report_options o = { .input = "gusprof.data", .sort = "", .inlines = true,
				    .naming = GUS_NAMING_DEFAULTS };
	int status;

	if (gus_options_parse(&gus_verb_report, &o, &argc, &argv, &status) == 0) {
		if (argc == 1)
			o.input = argv[0];
		status = report(&o);
	}
	gus_list_free(&o.modules);
	gus_filter_options_free(&o.filter);
	return status;
}

const struct gus_verb gus_verb_report = {
	.name = "report",
	.synopsis = "[OPTION...] [FILE]",
	.summary = "Show where the time of a recording went.",
	.details = "Every number says what it rests on: observed (a record says so), inferred (computed from observed\n"
		   "ones by a stated rule), modelled, or unknown. gusprof-report(1) explains the columns.",
	.options = options,
	.run = run,
	.argument_choices = "@file",
	.word = "FILE",
};
