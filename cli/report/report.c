/* SPDX-License-Identifier: MIT */
/* gusprof report: loads a recording, gathers it into rows, sorts and renders them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "attribution/profile/selection.h"
#include "base/log.h"
#include "base/suggest.h"
#include "cli/common/filter.h"
#include "cli/common/recording.h"
#include "cli/common/absent.h"
#include "cli/common/progress.h"
#include "cli/common/naming.h"
#include "cli/report/render.h"
#include "cli/screen/pager.h"
#include "cli/screen/screen.h"
#include "cli/verbs.h"

enum format { TEXT, JSON, CSV };

struct report_options {
	const char *input, *sort, *symfs;
	int by;                       /* enum gus_by */
	int format;                   /* enum format */
	double percent_limit;
	struct gus_filter_options filter;
	struct gus_screen_options screen;
	struct gus_naming_options naming;
	struct gus_list modules, symbols;
	bool inlines, graph, children, quiet, header;
	bool stdio, counts;           /* what is so anyhow */
	int verbosity;
};

static int call_verbose(const char *argument, void *values, struct gus_error *err)
{
	(void)argument;
	(void)err;
	((struct report_options *)values)->verbosity++;
	return 0;
}

/* Names, with commas between them; those within brackets are a part of a name. */
static int call_symbol(const char *argument, void *values, struct gus_error *err)
{
	struct gus_list *list = &((struct report_options *)values)->symbols;
	const char *at = argument;
	int depth = 0;

	for (const char *begin = argument; ; at++) {
		depth += (*at && strchr("<({[", *at)) - (*at && depth && strchr(">)}]", *at));
		if (*at && (*at != ',' || depth))
			continue;
		if (at > begin) {
			list->v = gus_resize(list->v, list->n + 2, sizeof(*list->v));
			list->v[list->n++] = gus_strndup(begin, (size_t)(at - begin));
			list->v[list->n] = NULL;
		}
		if (!*at)
			break;
		begin = at + 1;
	}
	return list->n ? 0 : gus_fail(err, GUS_E_USAGE, "--symbol takes names of functions, not '%s'", argument);
}

#define AT(field) offsetof(struct report_options, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "The recording to read, - for standard input; gusprof.data by default.",
	  GUS_OPTION_STRING, AT(input),
	  .choices = "@file", .fit = { .excludes = "--", .why = "both name the recording" } },
	{ 0, "by", "WHAT", "What a row is: function (the default), module, line, instruction, thread, process, "
	  "or comm: what a thread was called.", GUS_OPTION_CHOICE, AT(by),
	  .choices = "function module line instruction thread process comm" },
	{ 's', "sort", "KEY[,KEY]", "Order of the rows: share (the default; time is the same), samples, total, name, "
	  "module, line, offset, pid, tid.", GUS_OPTION_STRING, AT(sort),
	  .choices = "share time samples total name module line offset pid tid" },
	{ 0, "percent-limit", "PCT", "Leave out rows below this share, and say how many.", GUS_OPTION_PERCENT,
	  AT(percent_limit) },
	{ 0, "dso", "NAME[,NAME]", "Only samples in these modules, by path or base name.", GUS_OPTION_LIST,
	  AT(modules) },
	{ 0, "symbol", "NAME[,NAME]", "Only samples in these functions, by name or pattern such as 'std::*'.",
	  GUS_OPTION_CALL, .call = call_symbol },
	GUS_FILTER_OPTIONS(struct report_options, filter),
	{ 0, "inline", NULL, "Count an inlined function as a function of its own (the default); --no-inline counts "
	  "it with the symbol that has the code.", GUS_OPTION_FLAG, AT(inlines) },
	{ 'g', "call-graph", NULL, "Show callers and callees, and what each row takes with all that it calls; needs "
	  "a recording made with -g.", GUS_OPTION_FLAG, AT(graph) },
	{ 0, "children", NULL, "Order by what a row takes with all that it calls, as -s total; by what it takes itself "
	  "is the default.", GUS_OPTION_FLAG, AT(children), .fit = { .needs = "call-graph", .excludes = "sort",
	  .why = "it is an order of rows with their callees" } },
	{ 0, "stdio", NULL, "Text on standard output: what there is anyhow, for perf's users.", GUS_OPTION_FLAG,
	  AT(stdio) },
	{ 'n', "show-nr-samples", NULL, "Show how many samples a row has: what is so anyhow, for perf's users.",
	  GUS_OPTION_FLAG, AT(counts) },
	{ 0, "format", "FORMAT", "text (the default), json or csv.", GUS_OPTION_CHOICE, AT(format),
	  .choices = "text json csv" },
	{ 0, "header", NULL, "Say all that is known of the recording above the rows, not only what it is of.",
	  GUS_OPTION_FLAG, AT(header) },
	GUS_SCREEN_OPTIONS(struct report_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct report_options, screen),
	GUS_SCREEN_NAME_OPTIONS(struct report_options, screen),
	GUS_SCREEN_PAGER_OPTIONS(struct report_options, screen),
	{ 0, "symfs", "DIR", "Look for modules and their debug files under this directory.", GUS_OPTION_STRING,
	  AT(symfs), .choices = "@dir" },
	GUS_NAMING_OPTIONS(struct report_options, naming),
	{ 'q', "quiet", NULL, "No notes on stderr, only warnings.", GUS_OPTION_FLAG, AT(quiet) },
	{ 'v', "verbose", NULL, "Say more about what is done.", GUS_OPTION_CALL, .call = call_verbose },
	{ 0 },
};

/* What perf's users type. */
static const struct gus_habit habits[] = {
	{ "--tui", "the report is text on standard output; 'gusprof report | less' is for moving about in it" },
	{ "--gtk", "the report is text on standard output, --format json is for other programs" },
	{ "-F", "columns are always the same; --format csv is for choosing among them" },
	{ "--fields", "columns are always the same; --format csv is for choosing among them" },
	{ "-t", "--format csv separates by commas" },
	{ "--field-separator", "--format csv separates by commas" },
	{ "-d", "--dso NAME takes samples in these modules" },
	{ "--dsos", "--dso NAME takes samples in these modules" },
	{ "-c", "--comm NAME takes samples of threads of this name" },
	{ "--comms", "--comm NAME takes samples of threads of this name" },
	{ "-D", "'gusprof dump FILE' shows a recording record by record" },
	{ "--dump-raw-trace", "'gusprof dump FILE' shows a recording record by record" },
	{ "--header-only", "'gusprof dump --type header FILE' shows it" },
	{ "-k", "kernel names are in the recording" },
	{ "--vmlinux", "kernel names are in the recording" },
	{ "-G", "--call-graph shows callers and callees of each row" },
	{ "--inverted", "--call-graph shows callers and callees of each row" },
	{ "--mem-mode", "'gusprof model' says what memory accesses cost" },
	{ "--branch-stack", "'gusprof annotate' shows the branches of a recording made with -b" },
	{ NULL, NULL },
};

/* Words of perf's --sort that say here what a row is. */
static const struct { const char *word, *instead; } dimensions[] = {
	{ "comm", "--by comm" }, { "pid", "--by process" }, { "tid", "--by thread" }, { "dso", "--by module" },
	{ "sym", "--by function" }, { "symbol", "--by function" }, { "srcline", "--by line" },
	{ "parent", "-g" }, { "cpu", "'gusprof script -F cpu,sym'" },
};

/* Sorting. The view comes sorted by weight and, among equals, in an order of its own; keys only rearrange it stably. */

enum key { KEY_SHARE, KEY_SAMPLES, KEY_TOTAL, KEY_NAME, KEY_MODULE, KEY_LINE, KEY_OFFSET, KEY_PID, KEY_TID, KEYS };
static const char *const key_names[KEYS] = { "share", "samples", "total", "name", "module", "line", "offset", "pid",
	"tid" };

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
		return x->comm ? text_order(x->comm, y->comm) : text_order(x->function, y->function);
	case KEY_MODULE:
		return text_order(module_path(s->profile, x), module_path(s->profile, y));
	case KEY_LINE:
		order = text_order(x->file, y->file);
		return order ? order : number_order(x->line, y->line);
	case KEY_PID:
		return number_order(x->pid, y->pid);
	case KEY_TID:
		return number_order(x->tid, y->tid);
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

static int unknown_key(const char *text, size_t length, struct gus_error *err)
{
	const char *several = strchr(text, ',') ? "; 'gusprof script -G -F comm,dso,sym | sort | uniq -c' counts by "
		"several at once" : "";
	char *word = gus_strndup(text, length), meant[64];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(dimensions) / sizeof(*dimensions); i++)
		if (strcmp(dimensions[i].word, word) == 0)
			rc = gus_fail(err, GUS_E_USAGE, "-s says here in which order rows stand, and not what a row "
				      "is: for perf's '%s' use %s%s", word, dimensions[i].instead, several);
	gus_suggest_format(gus_suggest(word, key_names, KEYS), meant, sizeof(meant));
	if (rc == 0)
		gus_fail(err, GUS_E_USAGE, "--sort knows share, samples, total, name, module, line, offset, pid and "
			 "tid, not '%s'%s", word, meant);
	free(word);
	return -1;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncmp(text, word, length) == 0;
}

static int parse_keys(struct sorting *s, const char *text, struct gus_error *err)
{
	while (*text) {
		size_t length = strcspn(text, ","), key = 0;

		while (key < KEYS && !is_word(text, length, key_names[key]))
			key++;
		if (is_word(text, length, "time") || is_word(text, length, "overhead"))
			key = KEY_SHARE;
		if (key == KEYS)
			return unknown_key(text, length, err);
		if (s->n == sizeof(s->keys) / sizeof(*s->keys))
			return gus_fail(err, GUS_E_USAGE, "--sort takes %zu keys at most", s->n);
		s->keys[s->n++] = (enum key)key;
		text += length + (text[length] == ',');
	}
	return 0;
}

/* Why names are missing, for modules that matter: one with less than a hundredth of the time is not worth a line, and
 * with a twentieth of it the report is not what its reader came for. */
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
			gus_log(log, weights.v[i] >= r->profile->weight / 20 ? GUS_WARN : GUS_NOTE, "%s: %s",
				module->path, text);
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

/* Names that were asked for and that no sample has, with what there is instead. */
static void tell_absent(const struct report_options *o, const struct gus_profile *p,
			const struct gus_strings *functions, const struct gus_log *log)
{
	struct gus_vec(const char *) there = { 0 };

	for (uint32_t i = 1; i < functions->n; i++)
		gus_vec_push(&there, gus_strings_get(functions, i));
	for (size_t i = 0; i < o->symbols.n; i++) {
		bool found = false;

		for (size_t k = 0; k < there.n && !found; k++)
			found = gus_selection_means(o->symbols.v[i], there.v[k]);
		if (!found)
			gus_absent_tell(log, "in a function", o->symbols.v[i], there.v, there.n);
	}
	gus_vec_free(&there);
	gus_filter_absent(&o->filter, &o->modules, p, log);
}

static void heed(void *context, const char *what, double share)
{
	gus_progress(context, what, share);
}

static void warn(const char *text, void *context)
{
	gus_log(context, GUS_WARN, "%s", text);
}

static int show(const struct report_options *o, struct sorting *sorting, struct gus_profile *p, uint64_t length)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	const struct gus_screen screen = gus_screen_of(stdout, &o->screen);
	struct gus_report r = { .path = o->input, .profile = p, .graph = o->graph, .percent_limit = o->percent_limit,
				.length_ns = length, .screen = &screen, .header = o->header };
	struct gus_strings functions;
	const struct gus_error *failure;
	struct gus_view view;
	int rc;

	gus_strings_init(&functions);
	if (o->symbols.n)
		gus_selection_functions(p, (const char *const *)o->symbols.v, o->inlines, &functions);
	gus_view_make(&view, p, (enum gus_by)o->by, o->inlines);
	gus_progress_end(p->heed.context);
	if (o->format == TEXT && o->screen.pager)
		gus_pager_begin(&screen);
	tell_absent(o, p, &functions, log);
	gus_strings_free(&functions);
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
	struct gus_progress progress = { 0 };
	struct sorting sorting = { 0 };
	struct gus_error err = { 0 };
	struct gus_profile profile;
	struct gus_filter filter;
	const Gusprof__Header *header;
	uint64_t length = 0;
	uint32_t *tids = NULL;
	int status = 0;

	if (parse_keys(&sorting, o->children ? "total" : o->sort, &err) != 0 ||
	    !(naming = gus_naming_begin(&o->naming, log, &err)) ||
	    !(reader = gus_recording_open(o->input, &err)) ||
	    gus_filter_make(&filter, &o->filter, reader, &length, &tids, &err) != 0) {
		status = status_of(&err);
		goto out;
	}
	filter.modules = (const char *const *)o->modules.v;
	filter.chains = o->graph;
	filter.comms_kept = o->by == GUS_BY_COMM;
	filter.heed = (struct gus_heed){ heed, &progress };
	header = gus_reader_header(reader);
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	if (o->graph && !gus_reader_has_chains(reader))
		gus_log(log, GUS_WARN, "%s has no call chains: record with -g", o->input);
	symbols.cache = gus_naming_cache(naming);
	symbols.fetch = gus_naming_fetch(naming);
	if (gus_profile_load(&profile, reader, &filter, &symbols, log, &err) != 0) {
		gus_progress_end(&progress);
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
	struct report_options o = { .input = GUS_RECORDING_DEFAULT, .sort = "", .inlines = true,
				   .screen = GUS_SCREEN_DEFAULTS, .naming = GUS_NAMING_DEFAULTS };
	int status;

	if (gus_options_parse(&gus_verb_report, &o, &argc, &argv, &status) == 0) {
		if (argc == 1)
			o.input = argv[0];
		status = report(&o);
	}
	gus_list_free(&o.modules);
	gus_list_free(&o.symbols);
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
	.habits = habits,
};
