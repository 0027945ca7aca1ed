/* SPDX-License-Identifier: MIT */
/* gusprof report: loads a recording, gathers it into rows, sorts and renders them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "attribution/profile/calls.h"
#include "attribution/profile/selection.h"
#include "attribution/memory/sharing.h"
#include "base/log.h"
#include "cli/common/filter.h"
#include "cli/common/recording.h"
#include "cli/common/absent.h"
#include "cli/common/progress.h"
#include "cli/common/naming.h"
#include "cli/report/by.h"
#include "cli/report/flame.h"
#include "cli/report/flame_file.h"
#include "cli/report/folded.h"
#include "cli/report/render.h"
#include "cli/report/sharing.h"
#include "cli/report/slots.h"
#include "cli/report/sorting.h"
#include "cli/report/stats.h"
#include "cli/report/trees.h"
#include "cli/screen/pager.h"
#include "cli/screen/screen.h"
#include "cli/stacks/stacks.h"
#include "cli/verbs.h"

enum format { TEXT, JSON, CSV };

struct report_options {
	const char *input, *uarch, *sort, *symfs, *build_ids, *kallsyms, *flamegraph;
	unsigned by;                  /* enum gus_by; 0: not given, which is by function */
	int format;                   /* enum format */
	double percent_limit;
	struct gus_filter_options filter;
	struct gus_screen_options screen;
	struct gus_naming_options naming;
	struct gus_list modules, symbols;
	struct gus_trees_how graph;
	uint64_t max_depth;
	bool inlines, collapse, children, quiet, header;
	bool off_cpu, wall, kernel_ends;
	bool false_sharing, stats, stacks, replay, vs_model, topdown;
	uint64_t intervals;           /* into which time is cut, with topdown */
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

static int call_graph(const char *argument, void *values, struct gus_error *err)
{
	return gus_trees_parse(&((struct report_options *)values)->graph, argument, err);
}

static int call_inverted(const char *argument, void *values, struct gus_error *err)
{
	(void)argument;
	return gus_trees_parse(&((struct report_options *)values)->graph, "caller", err);
}

static int call_by(const char *argument, void *values, struct gus_error *err)
{
	return gus_report_by_parse(&((struct report_options *)values)->by, argument, err);
}

#define WITH_GRAPH "call-graph inverted children" /* what is about trees needs one of these */
#define AT(field) offsetof(struct report_options, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "The recording to read, - for standard input; gusprof.data by default.",
	  GUS_OPTION_STRING, AT(input),
	  .choices = "@file", .fit = { .excludes = "--", .why = "both name the recording" } },
	{ 0, "by", "WHAT[,WHAT]", "What a row is, or several at once: function (the default), module, line, "
	  "instruction; thread, process, or comm: what a thread was called; of accesses to memory, where the recording "
	  "has them, data-source: where the data were, snoop, tlb, access, locked; data-page, data-line: of caches, "
	  "data-module, data-symbol: what is there; with --stacks also block and loop, with --topdown time.",
	  GUS_OPTION_CALL, .call = call_by, .choices = GUS_BY_WORDS, .filled = true },
	{ 's', "sort", "KEY[,KEY]", "Order of the rows: share (the default; time is the same), samples, total, name, "
	  "module, line, offset, pid, tid; of data address, latency (the longest median first), sum of latencies "
	  "(weight is the same); longest, of latencies or times off the CPU.", GUS_OPTION_STRING, AT(sort),
	  .choices = "share time samples total name module line offset pid tid address latency sum weight longest" },
	{ 0, "percent-limit", "PCT", "Leave out rows below this share, and say how many.", GUS_OPTION_PERCENT,
	  AT(percent_limit) },
	{ 'd', "dso", "NAME[,NAME]", "Only samples in these modules, by path or base name.", GUS_OPTION_LIST,
	  AT(modules) },
	{ 'S', "symbol", "NAME[,NAME]", "Only samples in these functions, by name or pattern such as 'std::*'.",
	  GUS_OPTION_CALL, .call = call_symbol },
	GUS_FILTER_OPTIONS(struct report_options, filter),
	{ 0, "inline", NULL, "Count an inlined function as a function of its own (the default); --no-inline counts "
	  "it with the symbol that has the code.", GUS_OPTION_FLAG, AT(inlines) },
	{ 0, "off-cpu", NULL, "Show the time that threads were off the CPU, where they left it: how long they waited "
	  "for something, or for a CPU. Needs a recording made with --off-cpu.", GUS_OPTION_FLAG, AT(off_cpu),
	  .fit = { .excludes = "wall event", .why = "the one is a part of the other" } },
	{ 0, "wall", NULL, "Show all time of threads, on and off the CPU; needs a recording made with --off-cpu.",
	  GUS_OPTION_FLAG, AT(wall) },
	{ 0, "kernel-ends", NULL, "With --off-cpu or --wall: where a thread left the CPU is the kernel's function, "
	  "below its own; by default it is the innermost function in user space.", GUS_OPTION_FLAG, AT(kernel_ends) },
	{ 0, "false-sharing", NULL, "Instead of rows: lines of caches that threads take from each other although they "
	  "use different bytes of them, and who does. Needs samples of loads that tell of HITM, as of 'perf c2c "
	  "record'.",
	  GUS_OPTION_FLAG, AT(false_sharing),
	  .fit = { .excludes = "by sort symbol percent-limit off-cpu wall call-graph inverted children flamegraph",
	  .why = "it shows lines of caches and not rows" } },
	{ 0, "stacks", NULL, "Instead of rows: to which instructions the time belongs, and what these were "
	  "subjected to meanwhile. By the windows that record takes.",
	  GUS_OPTION_FLAG, AT(stacks),
	  .fit = { .excludes = "sort symbol dso comm pid tid cpu time event off-cpu wall false-sharing stats "
	  "call-graph inverted children flamegraph header",
	  .why = "it is a report of its own, of all samples" } },
	{ 0, "uarch", "NAME|FILE|host|nominal", "With --stacks: the CPU, as of gusprof model; by default that of the "
	  "recording's machine.", GUS_OPTION_STRING, AT(uarch), .fit = { .needs = "stacks" } },
	{ 0, "vs-model", NULL, "With --stacks: beside each share and stack those that the model alone has, of the time "
	  "that is explained.", GUS_OPTION_FLAG, AT(vs_model), .fit = { .needs = "stacks", .excludes = "format=csv",
	  .why = "JSON has both" } },
	{ 0, "replay", NULL, "With --stacks: replay snapshots although somebody else made the recording.",
	  GUS_OPTION_FLAG, AT(replay), .fit = { .needs = "stacks" } },
	{ 0, "topdown", NULL, "Instead of rows: what became of issue slots over time; --by thread, function and "
	  "others: of each of these, by the counts that samples bring along (record --topdown=samples).",
	  GUS_OPTION_FLAG,
	  AT(topdown),
	  .fit = { .excludes = "sort symbol stacks off-cpu wall false-sharing stats call-graph inverted children "
	  "flamegraph",
	  .why = "it is a report of its own" } },
	{ 0, "intervals", "N", "With --topdown: into how many parts time is cut; 20 by default.", GUS_OPTION_NUMBER,
	  AT(intervals), .bounds = { 1, 1000 }, .fit = { .needs = "topdown" } },
	{ 0, "stats", NULL, "Instead of rows: how many records of each kind the recording has, and samples of each "
	  "event.", GUS_OPTION_FLAG, AT(stats),
	  .fit = { .excludes = "by sort symbol dso comm pid tid cpu time event percent-limit off-cpu wall "
	  "false-sharing call-graph inverted children flamegraph header",
	  .why = "it counts all records, and shows no rows" } },
	{ 'g', "call-graph", "[=HOW]", "Show who called: below each row a tree of its callers. HOW, by commas: "
	  "caller (one tree of all, from the outermost callers down; with --by of each row), callee (up from a row), "
	  "graph or fractal (shares of all, or of the line above), a threshold in percent (0.5), rows (callers and "
	  "callees, as rows), folded (a line a stack, for flame graphs), none. Needs a recording made with -g.",
	  GUS_OPTION_CALL, .call = call_graph, .takes = gus_trees_takes,
	  .choices = "caller callee graph fractal rows folded none" },
	{ 'G', "inverted", NULL, "The same as -g caller, for perf's users.", GUS_OPTION_CALL, .call = call_inverted },
	{ 0, "children", NULL, "Order by what a row takes with all that it calls, and show that; below each row stands "
	  "then what it calls, but for -g none. By what it takes itself is the default.", GUS_OPTION_FLAG,
	  AT(children),
	  .fit = { .excludes = "sort", .why = "it is an order of rows" } },
	{ 0, "max-depth", "N", "Trees of at most N levels.", GUS_OPTION_NUMBER, AT(max_depth),
	  .bounds = { 1, UINT32_MAX }, .fit = { .needs = WITH_GRAPH } },
	{ 0, "collapse-recursion", NULL, "Show a function that is called by itself, directly or through others, once "
	  "on each way through a tree.", GUS_OPTION_FLAG, AT(collapse), .fit = { .needs = WITH_GRAPH } },
	{ 0, "flamegraph", "FILE", "Instead of rows: write the call stacks as a flame graph, a page for a browser that "
	  "needs no network; - is standard output. --by comm, process or thread puts these below the stacks.",
	  GUS_OPTION_STRING, AT(flamegraph), .choices = "@file", .filled = true,
	  .fit = { .excludes = "format sort children percent-limit header max-depth collapse-recursion",
	  .why = "a flame graph has neither rows nor trees" } },
	{ 0, "stdio", NULL, "Text on standard output: what there is anyhow, for perf's users.", GUS_OPTION_FLAG,
	  AT(stdio) },
	{ 'n', "show-nr-samples", NULL, "Show how many samples a row has: what is so anyhow, for perf's users.",
	  GUS_OPTION_FLAG, AT(counts) },
	{ 0, "format", "FORMAT", "text (the default), json or csv, which has of trees "
	  "the one of -g caller.", GUS_OPTION_CHOICE, AT(format),
	  .choices = "text json csv" },
	{ 0, "header", NULL, "Say all that is known of the recording above the rows, not only what it is of.",
	  GUS_OPTION_FLAG, AT(header) },
	GUS_SCREEN_OPTIONS(struct report_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct report_options, screen),
	GUS_SCREEN_NAME_OPTIONS(struct report_options, screen),
	GUS_SCREEN_PAGER_OPTIONS(struct report_options, screen),
	{ 0, "symfs", "DIR", "Look for modules and their debug files under this directory.", GUS_OPTION_STRING,
	  AT(symfs), .choices = "@dir" },
	GUS_NAMING_BUILD_IDS(struct report_options, build_ids),
	GUS_NAMING_KALLSYMS(struct report_options, kallsyms),
	GUS_NAMING_OPTIONS(struct report_options, naming),
	{ 'q', "quiet", NULL, "No notes on stderr, only warnings.", GUS_OPTION_FLAG, AT(quiet) },
	{ 'v', "verbose", NULL, "Say more about what is done.", GUS_OPTION_CALL, .call = call_verbose },
	{ 0 },
};

#define NO_CPU { .excludes = "cpu", .why = "who does not run is on no CPU" }
#define NO_TASK { .excludes = "flamegraph", \
	.why = "its stacks are functions; comm, process and thread can stand below them" }
#define NO_TIME { .excludes = "off-cpu wall", .why = "who does not run asks for no data" }
static const struct gus_option_rule rules[] = {
	{ "by=*module*", NO_TASK }, { "by=*line*", NO_TASK }, { "by=*instruction*", NO_TASK }, { "by=*,*", NO_TASK },
	{ "by=*data*", NO_TASK }, { "by=snoop", NO_TASK }, { "by=tlb", NO_TASK }, { "by=access", NO_TASK },
	{ "by=locked", NO_TASK }, { "by=*time*", { .needs = "topdown", .why = "rows are of code, tasks or data" } },
	{ "by=*data-*", NO_TIME }, { "by=*snoop*", NO_TIME }, { "by=*tlb*", NO_TIME }, { "by=*access*", NO_TIME },
	{ "by=*locked*", NO_TIME },
	{ "off-cpu", NO_CPU }, { "wall", NO_CPU },
	{ "call-graph=*folded*", { .excludes = "by sort children format=json format=csv max-depth flamegraph",
				   .why = "folded stacks are lines of their own" } },
	{ NULL, { 0 } },
};

/* What perf's users type. */
static const struct gus_habit habits[] = {
	{ "--tui", "the report is text on standard output; 'gusprof report | less' is for moving about in it" },
	{ "--gtk", "the report is text on standard output, --format json is for other programs" },
	{ "-F", "columns are always the same; --format csv is for choosing among them" },
	{ "--fields", "columns are always the same; --format csv is for choosing among them" },
	{ "-t", "--format csv separates by commas" },
	{ "--field-separator", "--format csv separates by commas" },
	{ "--dsos", "--dso NAME takes samples in these modules" },
	{ "--symbols", "--symbol NAME takes samples in these functions" },
	{ "--comms", "--comm NAME takes samples of threads of this name" },
	{ "-D", "'gusprof dump FILE' shows a recording record by record" },
	{ "--dump-raw-trace", "'gusprof dump FILE' shows a recording record by record" },
	{ "--header-only", "'gusprof dump --type header FILE' shows it" },
	{ "-k", "names of the kernel are taken from the recording, --kallsyms FILE, the kernel that runs, if it is the "
	  "one that was recorded, or perf's folder of build ids" },
	{ "--vmlinux", "names of the kernel are taken from the recording, --kallsyms FILE, the kernel that runs, if it "
	  "is the one that was recorded, or perf's folder of build ids" },
	{ "--no-call-graph", "without -g there is none" },
	{ "--max-stack", "--max-depth N shows N levels of trees" },
	{ "--mem-mode", "--by data-source shows where the data were, --by data-symbol and others which" },
	{ "--branch-stack", "'gusprof annotate' shows the branches of a recording made with -b" },
	{ NULL, NULL },
};

/* Why names are missing, for modules that matter: one with less than a hundredth of the time is not worth a line, and
 * with a twentieth of it the report is not what its reader came for. */
static void trouble(const struct gus_profile *p, const struct gus_log *log)
{
	struct gus_vec(uint64_t) weights = { 0 };

	for (size_t i = 0; i < p->cells.n; i++) {
		uint32_t module = p->cells.v[i].place.module;

		while (weights.n <= module)
			gus_vec_push(&weights, 0);
		weights.v[module] += p->cells.v[i].weight;
	}
	for (uint32_t i = 0; i < weights.n; i++) {
		const struct gus_module *module = gus_space_module(p->space, i);
		const char *text = NULL;

		if (weights.v[i] && weights.v[i] >= p->weight / 100)
			text = gus_symbols_trouble(p->symbols, module);
		if (weights.v[i] && !text)
			text = gus_symbols_refusal(p->symbols, module);
		/* The vdso never has more than its exported names, which are all. */
		if (text && module->kind != GUS_MODULE_VDSO)
			gus_log(log, weights.v[i] >= p->weight / 20 ? GUS_WARN : GUS_NOTE, "%s: %s",
				module->path, text);
	}
	gus_vec_free(&weights);
}

/* What each sample's callers make of the report: one tree if nothing else was asked for, or a tree of each row. */
static void add_trees(struct gus_report *r, const struct report_options *o, struct gus_calls *calls,
		      struct gus_tree *tree)
{
	if (o->graph.kind != GUS_TREES_EACH)
		return;
	gus_calls_make(calls, r->profile, &(struct gus_calls_options){ o->inlines, o->collapse });
	r->calls = calls;
	if (o->graph.down && !o->by && !o->children) {
		gus_tree_all(tree, calls, &o->graph.limits);
		r->tree = tree;
	} else {
		r->trees = gus_trees_new(calls, r->view, &o->graph, o->children);
		if (o->format == CSV)
			gus_log(gus_cli_log(o->quiet ? -1 : o->verbosity), GUS_NOTE, "CSV has no trees of rows, only "
				"the rows' totals: -g caller has one tree as CSV, --format json has all");
	}
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

static void warn(const char *text, void *context)
{
	gus_log(context, GUS_WARN, "%s", text);
}

static unsigned by_of(const struct report_options *o)
{
	return o->by ? gus_by_settled(o->by) : GUS_BY_FUNCTION;
}

static enum gus_weighs weighs_of(const struct report_options *o)
{
	return o->off_cpu ? GUS_WEIGHS_OFF_CPU : o->wall ? GUS_WEIGHS_WALL : GUS_WEIGHS_EVENTS;
}

/* What is to be said when all is printed. Text has the notices above it, and tasks have no names of code. */
static int finish(const struct report_options *o, const struct gus_report *r, int rc, const struct gus_log *log)
{
	const struct gus_error *failure;

	fflush(stdout);
	failure = gus_symbols_failure(r->profile->symbols);
	if ((o->format != TEXT || o->flamegraph) && !failure)
		gus_report_notices(r, warn, (void *)(uintptr_t)log);
	if (failure && rc == 0) {
		gus_complain(failure);
		return -1;
	}
	if (o->flamegraph || gus_by_has_code(by_of(o)))
		trouble(r->profile, log);
	return rc;
}

static int draw(const struct report_options *o, struct gus_profile *p, uint64_t length, FILE *out)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_report r = { .path = o->input, .profile = p, .length_ns = length };
	struct gus_strings functions;

	gus_strings_init(&functions);
	if (o->symbols.n)
		gus_selection_functions(p, (const char *const *)o->symbols.v, o->inlines, &functions);
	r.units = gus_units_of(p);
	gus_flame_print(&r, by_of(o), o->inlines, out);
	gus_heed_tell(p->heed, NULL, 1);
	tell_absent(o, p, &functions, log);
	gus_strings_free(&functions);
	return finish(o, &r, 0, log);
}

static int show(const struct report_options *o, const struct gus_sorting *sorting, struct gus_profile *p,
		uint64_t length)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	const struct gus_screen screen = gus_screen_of(stdout, &o->screen);
	struct gus_report r = { .path = o->input, .profile = p, .percent_limit = o->percent_limit,
				.length_ns = length, .screen = &screen, .header = o->header };
	struct gus_calls calls = { 0 };
	struct gus_tree tree = { 0 };
	struct gus_strings functions;
	struct gus_view view;
	int rc;

	gus_strings_init(&functions);
	if (o->symbols.n)
		gus_selection_functions(p, (const char *const *)o->symbols.v, o->inlines, &functions);
	gus_view_make(&view, p, by_of(o), o->inlines);
	gus_sorting_apply(sorting, &view, p);
	r.view = &view;
	r.units = gus_units_of(p);
	r.graph = o->graph.kind ? &o->graph : NULL;
	r.by_total = gus_sorting_first(sorting) == GUS_SORT_TOTAL;
	r.by_longest = gus_sorting_first(sorting) == GUS_SORT_LONGEST;
	add_trees(&r, o, &calls, &tree);
	gus_heed_tell(p->heed, NULL, 1);
	if (o->format == TEXT && o->screen.pager)
		gus_pager_begin(&screen);
	tell_absent(o, p, &functions, log);
	gus_strings_free(&functions);
	rc = finish(o, &r, render(&r, o->format), log);
	gus_trees_free(r.trees);
	gus_tree_free(&tree);
	gus_calls_free(&calls);
	gus_view_free(&view);
	return rc;
}

/* Only stacks, on stdout; what is to be said of the recording, on stderr. */
static int fold(const struct report_options *o, struct gus_profile *p)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_report r = { .path = o->input, .profile = p };
	const struct gus_error *failure;
	struct gus_strings functions;
	struct gus_calls calls;

	gus_strings_init(&functions);
	if (o->symbols.n)
		gus_selection_functions(p, (const char *const *)o->symbols.v, o->inlines, &functions);
	gus_calls_make(&calls, p, &(struct gus_calls_options){ o->inlines, o->collapse });
	gus_heed_tell(p->heed, NULL, 1);
	tell_absent(o, p, &functions, log);
	gus_folded_calls(&calls);
	fflush(stdout);
	gus_report_notices(&r, warn, (void *)(uintptr_t)log);
	failure = gus_symbols_failure(p->symbols);
	if (failure)
		gus_complain(failure);
	gus_strings_free(&functions);
	gus_calls_free(&calls);
	return failure ? -1 : 0;
}

static int status_of(const struct gus_error *err)
{
	gus_complain(err);
	return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

/* All events, as loads and stores are two of them, unless one was asked for. */
static int share(const struct report_options *o, struct gus_reader *reader, struct gus_filter *filter,
		 const struct gus_symbols_options *symbols, uint64_t length)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	const struct gus_screen screen = gus_screen_of(stdout, &o->screen);
	struct gus_report r = { .path = o->input, .length_ns = length, .screen = &screen, .header = o->header };
	struct gus_sharing sharing;
	struct gus_error err = { 0 };
	int rc = 0;

	if (!o->filter.event)
		filter->event = GUS_EVENT_ANY;
	rc = gus_sharing_find(&sharing, reader, filter, symbols, log, &err);
	gus_heed_tell(filter->heed, NULL, 1);
	if (rc != 0)
		return status_of(&err);
	r.profile = &sharing.profile;
	if (o->format == TEXT && o->screen.pager)
		gus_pager_begin(&screen);
	if (o->format == JSON)
		rc = gus_render_sharing_json(&r, &sharing);
	else if (o->format == CSV)
		gus_render_sharing_csv(&sharing);
	else
		gus_render_sharing_text(&r, &sharing);
	rc = finish(o, &r, rc, log);
	gus_sharing_free(&sharing);
	return rc == 0 ? 0 : GUS_EXIT_OWN_FAILURE;
}

/* What of the profile's slots is in each part, in the format asked for. */
static int show_slots(const struct report_options *o, struct gus_report *r, struct gus_error *err)
{
	const bool by_time = !o->by || o->by == GUS_BY_TIME;
	struct gus_report_slots slots;
	struct gus_view view = { 0 };
	char *by = gus_report_by_name(by_time ? GUS_BY_TIME : o->by);
	int rc;

	if (!by_time) {
		gus_view_make(&view, r->profile, o->by, o->inlines);
		r->view = &view;
	}
	r->units = gus_units_of(r->profile);
	rc = by_time ? gus_report_slots_by_time(&slots, r->profile, o->intervals, err) :
		gus_report_slots_by_rows(&slots, r, err);
	if (rc == 0) {
		if (o->format == TEXT && o->screen.pager)
			gus_pager_begin(r->screen);
		if (o->format == JSON)
			rc = gus_render_slots_json(r, &slots, by);
		else if (o->format == CSV)
			gus_render_slots_csv(&slots);
		else
			gus_render_slots_text(r, &slots);
		gus_report_slots_free(&slots);
	}
	if (!by_time)
		gus_view_free(&view);
	free(by);
	return rc;
}

static int slots(const struct report_options *o, struct gus_reader *reader, struct gus_filter *filter,
		 const struct gus_symbols_options *symbols, uint64_t length)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	const struct gus_screen screen = gus_screen_of(stdout, &o->screen);
	struct gus_error err = { 0 };
	struct gus_profile profile;
	struct gus_report r = { .path = o->input, .length_ns = length, .screen = &screen, .header = o->header,
				.profile = &profile, .percent_limit = o->percent_limit };
	int rc;

	filter->slots = o->intervals;
	filter->length_ns = length;
	if (gus_profile_load(&profile, reader, filter, symbols, log, &err) != 0)
		return status_of(&err);
	gus_heed_tell(profile.heed, NULL, 1);
	rc = show_slots(o, &r, &err);
	fflush(stdout);
	if (rc == 0 && o->format != TEXT)
		gus_report_notices(&r, warn, (void *)(uintptr_t)log);
	gus_profile_free(&profile);
	return rc == 0 ? 0 : err.code != GUS_OK ? status_of(&err) : GUS_EXIT_OWN_FAILURE;
}

static int count(const struct report_options *o, struct gus_reader *reader)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_error err = { 0 };
	struct gus_stats stats;
	int rc = gus_stats_count(&stats, reader, &err), status = 0;

	if (rc != 0)
		status = status_of(&err);
	else if (o->format == JSON)
		status = gus_stats_json(&stats, reader) == 0 ? 0 : GUS_EXIT_OWN_FAILURE;
	else
		(o->format == CSV ? gus_stats_csv : gus_stats_text)(&stats, reader);
	fflush(stdout);
	if (rc == 0)
		gus_report_damage(stats.damage, warn, (void *)(uintptr_t)log);
	gus_stats_free(&stats);
	return status;
}

/* What stacks are added up by. */
static int unit_of(unsigned by, enum gus_sum_unit *unit, struct gus_error *err)
{
	static const struct { unsigned by; enum gus_sum_unit unit; } units[] = {
		{ 0, GUS_SUM_INSTRUCTION }, { GUS_BY_INSTRUCTION, GUS_SUM_INSTRUCTION },
		{ GUS_BY_BLOCK, GUS_SUM_BLOCK }, { GUS_BY_LOOP, GUS_SUM_LOOP }, { GUS_BY_LINE, GUS_SUM_LINE },
		{ GUS_BY_FUNCTION, GUS_SUM_FUNCTION }, { GUS_BY_MODULE, GUS_SUM_MODULE },
		{ GUS_BY_THREAD, GUS_SUM_THREAD },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (units[i].by == by) {
			*unit = units[i].unit;
			return 0;
		}
	}
	return gus_fail(err, GUS_E_USAGE, "--stacks is by instruction, block, loop, line, function, module or "
			"thread, by one of them");
}

static void tell_damage(const struct gus_damage *damage)
{
	gus_report_damage(damage, warn, (void *)(uintptr_t)gus_cli_log(0));
}

static int move(const struct report_options *o)
{
	struct gus_progress progress = { 0 };
	char *build_ids = gus_naming_build_ids(o->build_ids);
	const struct gus_symbols_options symbols = { .symfs = o->symfs, .kallsyms = o->kallsyms,
		.build_ids = build_ids };
	struct gus_stacks_how how = { .input = o->input, .symbols = &symbols, .uarch = o->uarch,
		.json = o->format == JSON, .csv = o->format == CSV, .replay = o->replay, .vs_model = o->vs_model,
		.percent_limit = o->percent_limit, .screen = &o->screen,
		.heed = gus_progress_heed(&progress), .log = gus_cli_log(o->quiet ? -1 : o->verbosity),
		.tell = tell_damage };
	struct gus_error err = { 0 };
	int rc = unit_of(o->by, &how.unit, &err);

	if (rc == 0 && !(how.naming = gus_naming_begin(&o->naming, how.log, &err)))
		rc = -1;
	if (rc == 0)
		rc = gus_stacks_report(&how, &err);
	gus_progress_end(&progress);
	gus_naming_end(how.naming);
	free(build_ids);
	return rc == 0 ? 0 : status_of(&err);
}

/* Without a trace nobody knows of blocks and loops what they are. */
static int check_by(unsigned by, bool topdown, struct gus_error *err)
{
	if (topdown && by & (GUS_BY_DATA | GUS_BY_EXECUTED))
		return gus_fail(err, GUS_E_USAGE, "--topdown is by time, or by function, module, line, instruction, "
				"thread, process and comm");
	if (by & GUS_BY_TIME && by != GUS_BY_TIME)
		return gus_fail(err, GUS_E_USAGE, "--by time stands alone");
	return by & GUS_BY_EXECUTED ? gus_fail(err, GUS_E_USAGE, "--by block and --by loop are of what was executed: "
					       "they need --stacks") : 0;
}

static int report(struct report_options *o)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	struct gus_symbols_options symbols = { .symfs = o->symfs, .kallsyms = o->kallsyms };
	struct gus_naming *naming = NULL;
	struct gus_reader *reader = NULL;
	struct gus_progress progress = { 0 };
	struct gus_sorting sorting = { 0 };
	struct gus_error err = { 0 };
	struct gus_profile profile;
	struct gus_filter filter;
	const Gusprof__Header *header;
	struct gus_flame_file page = { 0 };
	uint64_t length = 0;
	char *build_ids = gus_naming_build_ids(o->build_ids);
	int status = 0, rc;

	if (check_by(o->by, o->topdown, &err) != 0 ||
	    gus_sorting_parse(&sorting, o->children ? "total" : o->sort, &err) != 0 ||
	    gus_sorting_fits(&sorting, by_of(o), weighs_of(o), &err) != 0 ||
	    !(naming = gus_naming_begin(&o->naming, log, &err)) ||
	    !(reader = gus_recording_open(o->input, &err)) ||
	    gus_filter_make(&filter, &o->filter, reader, &length, &err) != 0 ||
	    (o->flamegraph && gus_flame_file_open(&page, o->flamegraph, &err) != 0)) {
		status = status_of(&err);
		goto out;
	}
	if (o->stats) {
		status = count(o, reader);
		goto out;
	}
	filter.modules = (const char *const *)o->modules.v;
	filter.chains = o->graph.kind || o->flamegraph;
	filter.data = o->by & GUS_BY_DATA;
	filter.comms_kept = o->by & GUS_BY_COMM || o->graph.kind == GUS_TREES_FOLDED;
	filter.weighs = weighs_of(o);
	filter.kernel_ends = o->kernel_ends;
	filter.heed = gus_progress_heed(&progress);
	header = gus_reader_header(reader);
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	if (filter.chains && !gus_reader_has_chains(reader))
		gus_log(log, GUS_WARN, "%s has no call chains: record with -g", o->input);
	symbols.cache = gus_naming_cache(naming);
	symbols.fetch = gus_naming_fetch(naming);
	symbols.build_ids = build_ids;
	/* As perf's users know it; in a flame graph it would be a frame for each address. */
	symbols.name_offsets = header->origin && !o->flamegraph && o->graph.kind != GUS_TREES_FOLDED;
	if (o->false_sharing) {
		status = share(o, reader, &filter, &symbols, length);
		goto out;
	}
	if (o->topdown) {
		status = slots(o, reader, &filter, &symbols, length);
		goto out;
	}
	if (gus_profile_load(&profile, reader, &filter, &symbols, log, &err) != 0) {
		gus_progress_end(&progress);
		status = status_of(&err);
		goto out;
	}
	gus_naming_weigh_profile(naming, &profile);
	if (o->flamegraph)
		rc = draw(o, &profile, length, page.out);
	else if (o->graph.kind == GUS_TREES_FOLDED)
		rc = fold(o, &profile);
	else
		rc = show(o, &sorting, &profile, length);
	gus_profile_free(&profile);
	status = rc == 0 ? 0 : GUS_EXIT_OWN_FAILURE;
	if (page.out && gus_flame_file_end(&page, rc, &err) != 0 && rc == 0)
		status = status_of(&err);
	page.out = NULL;
out:
	if (page.out)
		gus_flame_file_end(&page, -1, NULL);
	free(build_ids);
	gus_naming_end(naming);
	gus_reader_close(reader);
	return status;
}

static int run(int argc, char **argv)
{
	struct report_options o = { .input = GUS_RECORDING_DEFAULT, .sort = "", .inlines = true,
				   .percent_limit = -1, .intervals = 20,
				   .graph = GUS_TREES_DEFAULTS,
				   .screen = GUS_SCREEN_DEFAULTS, .naming = GUS_NAMING_DEFAULTS };
	int status;

	if (gus_options_parse(&gus_verb_report, &o, &argc, &argv, &status) == 0) {
		if (argc == 1)
			o.input = argv[0];
		o.graph.limits.depth = (uint32_t)o.max_depth;
		if (!o.graph.ordered)
			o.graph.down = o.children;
		if (o.children && o.graph.kind == GUS_TREES_NONE)
			o.graph.kind = o.graph.said ? GUS_TREES_TOTALS : GUS_TREES_EACH;
		status = o.stacks ? move(&o) : report(&o);
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
	.rules = rules,
	.habits = habits,
};
