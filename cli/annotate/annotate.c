/* SPDX-License-Identifier: MIT */
/* gusprof annotate: picks functions of a recording and shows them instruction by instruction, beside their source. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/annotate/render.h"
#include "cli/annotate/stacks.h"
#include "cli/common/absent.h"
#include "cli/common/filter.h"
#include "cli/common/naming.h"
#include "cli/common/print.h"
#include "cli/common/recording.h"
#include "cli/common/progress.h"
#include "cli/screen/pager.h"
#include "cli/screen/screen.h"
#include "cli/stacks/stacks.h"
#include "cli/verbs.h"
#include "symbolizer/names/demangle.h"

#define LISTED 20 /* of several matches, how many are listed */

enum format { TEXT, JSON, CSV };

struct annotate_options {
	const char *input, *symbol, *symfs, *build_ids;
	int format;                   /* enum format */
	double percent_limit;         /* negative: none was given */
	struct gus_filter_options filter;
	struct gus_naming_options naming;
	struct gus_list modules;
	struct gus_screen_options screen;
	const char *uarch;
	bool source, quiet, header, stacks;
	int verbosity;
	bool stdio;                   /* what is so anyhow */
};

static int call_verbose(const char *argument, void *values, struct gus_error *err)
{
	(void)argument;
	(void)err;
	((struct annotate_options *)values)->verbosity++;
	return 0;
}

#define AT(field) offsetof(struct annotate_options, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "The recording to read, - for standard input; gusprof.data by default.",
	  GUS_OPTION_STRING, AT(input),
	  .choices = "@file" },
	{ 's', "symbol", "SYMBOL", "The function, as another way to give it: its name, a part of it that no other "
	  "has, or an offset in it such as 0x1130.", GUS_OPTION_STRING, AT(symbol),
	  .fit = { .excludes = "--", .why = "both name the function" } },
	{ 'd', "dso", "NAME[,NAME]", "Only functions of these modules, by path or base name.", GUS_OPTION_LIST,
	  AT(modules) },
	{ 0, "module", "NAME[,NAME]", "The same as --dso.", GUS_OPTION_LIST, AT(modules) },
	GUS_FILTER_OPTIONS(struct annotate_options, filter),
	{ 0, "percent-limit", "PCT", "Without SYMBOL: all functions that have at least this share of the recording, "
	  "not only the hottest one.", GUS_OPTION_PERCENT, AT(percent_limit), .bounds = { 0, 100 }, .fit = {
	  .excludes = "symbol --", .why = "both say which functions are shown" } },
	{ 0, "source", NULL, "Show the source lines between the instructions (the default).", GUS_OPTION_FLAG,
	  AT(source) },
	{ 0, "stacks", NULL, "Weights are the time that the CPU waited for an instruction, in place of the samples "
	  "that were seen at it, and behind it stands what it was subjected to, as report --stacks has them.",
	  GUS_OPTION_FLAG, AT(stacks), .fit = { .excludes = "comm pid tid cpu time event format=json format=csv",
	  .why = "it is of all samples, and report --stacks has other formats" } },
	{ 0, "uarch", "NAME|FILE|host|nominal", "With --stacks: the CPU, as of gusprof model; by default that of the "
	  "recording's machine.", GUS_OPTION_STRING, AT(uarch), .fit = { .needs = "stacks" } },
	{ 0, "stdio", NULL, "Text on standard output: what there is anyhow, for perf's users.", GUS_OPTION_FLAG,
	  AT(stdio) },
	{ 0, "format", "FORMAT", "text (the default), json or csv.", GUS_OPTION_CHOICE, AT(format),
	  .choices = "text json csv" },
	{ 0, "header", NULL, "Say all that is known of the recording, not only what it is of.", GUS_OPTION_FLAG,
	  AT(header) },
	GUS_SCREEN_OPTIONS(struct annotate_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct annotate_options, screen),
	GUS_SCREEN_NAME_OPTIONS(struct annotate_options, screen),
	GUS_SCREEN_PAGER_OPTIONS(struct annotate_options, screen),
	{ 0, "symfs", "DIR", "Look for modules, their debug files and their sources under this directory.",
	  GUS_OPTION_STRING, AT(symfs), .choices = "@dir" },
	GUS_NAMING_BUILD_IDS(struct annotate_options, build_ids),
	GUS_NAMING_OPTIONS(struct annotate_options, naming),
	{ 'q', "quiet", NULL, "No notes on stderr, only warnings.", GUS_OPTION_FLAG, AT(quiet) },
	{ 'v', "verbose", NULL, "Say more about what is done.", GUS_OPTION_CALL, .call = call_verbose },
	{ 0 },
};

/* What perf's users type. */
static const struct gus_habit habits[] = {
	{ "--tui", "the listing is text on standard output; 'gusprof annotate | less' is for moving about in it" },
	{ "--gtk", "the listing is text on standard output, --format json is for other programs" },
	{ "-l", "files and lines of the source stand there anyhow" },
	{ "--print-line", "files and lines of the source stand there anyhow" },
	{ "-n", "the number of samples stands there anyhow" },
	{ "--show-nr-samples", "the number of samples stands there anyhow" },
	{ "-k", "code of the kernel is the running one's, if it is the one that was recorded" },
	{ "--vmlinux", "code of the kernel is the running one's, if it is the one that was recorded" },
	{ "--objdump", "instructions are decoded in here, without objdump" },
	{ "-M", "instructions are shown in Intel's syntax" },
	{ "-S", "-s NAME shows that function, as NAME alone does" },
	{ "--symbols", "-s NAME shows that function, as NAME alone does" },
	{ NULL, NULL },
};

/* One call of the verb. */
struct annotating {
	const struct annotate_options *o;
	const struct gus_log *log;
	struct gus_profile profile;
	struct gus_naming *naming;
	char *path;                       /* of the recording, which may have come by a pipe */
	struct gus_reader *reader;
	struct gus_view view;             /* by function, without inlines, the heaviest first */
	struct gus_report report;
	struct gus_screen screen;
	struct gus_progress progress;
	struct gus_vec(uint32_t) picked;  /* rows of the view */
	struct gus_vec(struct gus_annotated) functions;
	struct gus_annotate_stacks stacks;
};

static const struct gus_module *module_of(const struct annotating *n, const struct gus_row *row)
{
	return gus_space_module(n->profile.space, row->module);
}

/* Picking. */

static bool in_modules(const struct annotating *n, const struct gus_row *row)
{
	for (size_t i = 0; i < n->o->modules.n; i++)
		if (gus_module_is_called(module_of(n, row), n->o->modules.v[i]))
			return true;
	return !n->o->modules.n;
}

static bool has_code(const struct gus_row *row)
{
	return row->function && row->has_offset;
}

static bool is_offset(const char *symbol, uint64_t *offset)
{
	char *end;

	if (strncmp(symbol, "0x", 2) != 0)
		return false;
	*offset = strtoull(symbol, &end, 16);
	return symbol[2] && !*end;
}

static bool has_offset(struct annotating *n, const struct gus_row *row, uint64_t offset)
{
	struct gus_name names[GUS_NAMES_MAX];

	gus_symbols_names(n->profile.symbols, module_of(n, row), offset, GUS_DEPTH_FUNCTION, names);
	return names[0].function && names[0].start == row->offset;
}

/* Ways to mean a function, the strictest first. */
enum match { MATCH_OFFSET, MATCH_NAME, MATCH_PART, MATCHES };

static bool is_meant(struct annotating *n, const struct gus_row *row, enum match how, const char *symbol)
{
	uint64_t offset;

	switch (how) {
	case MATCH_OFFSET:
		return is_offset(symbol, &offset) && has_offset(n, row, offset);
	case MATCH_NAME:
		return strcmp(row->function, symbol) == 0;
	default:
		return strstr(row->function, symbol) != NULL;
	}
}

static void pick_matches(struct annotating *n, const char *symbol)
{
	for (int how = 0; how < MATCHES && !n->picked.n; how++)
		for (uint32_t i = 0; i < n->view.rows.n; i++) {
			const struct gus_row *row = &n->view.rows.v[i];

			if (has_code(row) && in_modules(n, row) && is_meant(n, row, (enum match)how, symbol))
				gus_vec_push(&n->picked, i);
		}
}

/* The functions that have code of an inlined one: it has no row of its own. */
static void pick_hosts(struct annotating *n, const char *symbol)
{
	const struct gus_profile *p = &n->profile;
	uint8_t *hosts = gus_zalloc(n->view.rows.n + 1);

	for (size_t i = 0; i < p->cells.n; i++) {
		const struct gus_place *place = &p->cells.v[i].place;
		struct gus_name names[GUS_NAMES_MAX];
		size_t depth = gus_symbols_names(p->symbols, gus_space_module(p->space, place->module), place->offset,
						 GUS_DEPTH_INLINE, names);
		bool inlined = false;

		for (size_t k = 0; k + 1 < depth; k++)
			inlined |= names[k].function && strcmp(names[k].function, symbol) == 0;
		for (uint32_t k = 0; inlined && k < n->view.rows.n; k++) {
			const struct gus_row *row = &n->view.rows.v[k];

			hosts[k] |= has_code(row) && row->module == place->module &&
				row->offset == names[depth - 1].start;
		}
	}
	for (uint32_t k = 0; k < n->view.rows.n; k++)
		if (hosts[k] && in_modules(n, &n->view.rows.v[k]))
			gus_vec_push(&n->picked, k);
	free(hosts);
}

static void list_picked(const struct annotating *n)
{
	for (size_t i = 0; i < n->picked.n && i < LISTED; i++) {
		const struct gus_row *row = &n->view.rows.v[n->picked.v[i]];
		char share[32];

		gus_fixed_format(share, sizeof(share), row->share * 100, 2);
		gus_text_print(stderr, "  %6s%%  %s at 0x%" PRIx64 " in %s\n", share, row->function, row->offset,
			       module_of(n, row)->path);
	}
	if (n->picked.n > LISTED)
		fprintf(stderr, "  and %zu more\n", n->picked.n - LISTED);
}

static const char *remedy(const struct gus_module *module)
{
	return module->kind == GUS_MODULE_FILE ? "; --symfs DIR can give the file as it was" : "";
}

/* Whose functions have no names, and why, if that is a good part of the recording: what was asked for may be there. */
static void nameless(const struct annotating *n, char *out, size_t room)
{
	out[0] = '\0';
	for (size_t i = 0; i < n->view.rows.n; i++) {
		const struct gus_row *row = &n->view.rows.v[i];
		const char *trouble = row->function ? NULL : gus_symbols_trouble(n->profile.symbols, module_of(n, row));
		char share[32];

		if (!trouble || row->share < 0.01 || !in_modules(n, row))
			continue;
		gus_fixed_format(share, sizeof(share), row->share * 100, 1);
		snprintf(out, room, "; %s %% of the recording is in code without names of %s: %s%s", share,
			 module_of(n, row)->path, trouble, remedy(module_of(n, row)));
		return;
	}
}

/* What there is instead of a function that was not found. */
static void nearest(const struct annotating *n, const char *symbol, char *out, size_t room)
{
	struct gus_vec(const char *) there = { 0 };

	for (size_t i = 0; i < n->view.rows.n; i++)
		if (has_code(&n->view.rows.v[i]) && in_modules(n, &n->view.rows.v[i]))
			gus_vec_push(&there, n->view.rows.v[i].function);
	gus_absent_format(symbol, there.v, there.n, out, room);
	gus_vec_free(&there);
}

static int pick_symbol(struct annotating *n, const char *symbol, struct gus_error *err)
{
	char why[512], instead[512];
	char *readable;

	pick_matches(n, symbol);
	if (!n->picked.n && (readable = gus_demangle(symbol))) {
		pick_matches(n, readable);
		free(readable);
	}
	if (n->picked.n == 1)
		return 0;
	if (n->picked.n)
		return gus_fail(err, GUS_E_USAGE, "%zu functions are meant by %s; name one more closely, by --dso, or "
				"by its offset:", n->picked.n, symbol);
	pick_hosts(n, symbol);
	if (n->picked.n)
		return gus_fail(err, GUS_E_USAGE, "%s was sampled only where it is inlined; annotate what it is "
				"inlined into, such as '%s':", symbol, n->view.rows.v[n->picked.v[0]].function);
	nameless(n, why, sizeof(why));
	nearest(n, symbol, instead, sizeof(instead));
	return gus_fail(err, GUS_E_USAGE, "no function called %s was sampled%s; 'gusprof report --no-inline' lists "
			"all that were%s", symbol, instead, why);
}

/* The modules that there are, if those that were asked for are none of them. */
static void modules_instead(const struct annotating *n, char *out, size_t room)
{
	struct gus_vec(const char *) there = { 0 };

	for (size_t i = 0; i < n->view.rows.n; i++) {
		const char *name = gus_base_name(module_of(n, &n->view.rows.v[i])->path);
		bool listed = false;

		for (size_t k = 0; k < there.n && !listed; k++)
			listed = strcmp(there.v[k], name) == 0;
		if (!listed)
			gus_vec_push(&there, name);
	}
	gus_absent_format(n->o->modules.n ? n->o->modules.v[0] : "", there.v, there.n, out, room);
	gus_vec_free(&there);
}

static int nothing_left(const struct annotating *n, struct gus_error *err)
{
	const struct gus_profile *p = &n->profile;
	char instead[512] = "";

	if (n->o->filter.comms.n)
		gus_absent_format(n->o->filter.comms.v[0], p->comms.v, p->comms.n, instead, sizeof(instead));
	return gus_fail(err, GUS_E_NOT_FOUND, "there is nothing to annotate: %s has no samples%s%s", n->o->input,
			p->filtered ? " that the options leave" : "", instead);
}

/* Code of the kernel is shown to root, and on some machines to nobody: then what is the hottest besides is worth a
 * look. Of a file that cannot be read nothing is passed over: the user can give it, and may not know that it is
 * missing. */
static bool is_passed(const struct annotating *n, const struct gus_row *row)
{
	const struct gus_module *module = module_of(n, row);

	return n->o->percent_limit < 0 && !n->o->modules.n && module->kind == GUS_MODULE_KERNEL &&
	       gus_symbols_code_trouble(n->profile.symbols, module);
}

/* The first of them, and how many there are before the one that was picked. */
static void tell_passed(const struct annotating *n, uint32_t first, size_t passed, double share)
{
	const struct gus_row *row = &n->view.rows.v[first];
	const struct gus_module *module = module_of(n, row);
	char percent[32], more[64] = "";

	gus_fixed_format(percent, sizeof(percent), share * 100, 2);
	if (passed > 1)
		snprintf(more, sizeof(more), " and %zu more", passed - 1);
	gus_log(n->log, GUS_WARN, "hotter than what is shown, with %s %% of the recording: %s%s in %s: %s", percent,
		row->function ? row->function : "code of no known function", more, module->path,
		gus_symbols_code_trouble(n->profile.symbols, module));
}

static int pick_nameless(const struct annotating *n, const struct gus_row *row, struct gus_error *err)
{
	const struct gus_module *module = module_of(n, row);
	const char *trouble = gus_symbols_code_trouble(n->profile.symbols, module);

	if (n->o->percent_limit < 0)
		return gus_fail(err, GUS_E_NOT_FOUND, "cannot annotate the hottest code, which is in %s and belongs "
				"to no known function: %s%s; name another function", module->path,
				trouble ? trouble : "nothing bounds it", remedy(module));
	gus_log(n->log, GUS_WARN, "code of no known function in %s is left out: %s", module->path,
		trouble ? trouble : "nothing bounds it");
	return 0;
}

/* Without a symbol: the hottest, or all above the limit. One that cannot be shown is not passed over in silence. */
static int pick_heaviest(struct annotating *n, bool passes, struct gus_error *err)
{
	uint32_t first = 0;
	size_t passed = 0;
	double share = 0;

	for (uint32_t i = 0; i < n->view.rows.n; i++) {
		const struct gus_row *row = &n->view.rows.v[i];

		if (!in_modules(n, row) || row->share * 100 < n->o->percent_limit)
			continue;
		if (passes && is_passed(n, row)) {
			first = passed++ ? first : i;
			share += row->share;
			continue;
		}
		if (has_code(row))
			gus_vec_push(&n->picked, i);
		else if (pick_nameless(n, row, err) != 0)
			return -1;
		if (n->o->percent_limit < 0)
			break;
	}
	if (passed && n->picked.n)
		tell_passed(n, first, passed, share);
	return 0;
}

static int pick_hottest(struct annotating *n, struct gus_error *err)
{
	char instead[512];

	if (pick_heaviest(n, true, err) != 0)
		return -1;
	/* If all of it was passed over, the error says why that is not shown. */
	if (!n->picked.n && n->o->percent_limit < 0 && pick_heaviest(n, false, err) != 0)
		return -1;
	if (n->picked.n)
		return 0;
	if (n->o->percent_limit > 0)
		return gus_fail(err, GUS_E_USAGE, "no function has %g %% of the recording%s", n->o->percent_limit,
				n->o->modules.n ? " in these modules" : "");
	modules_instead(n, instead, sizeof(instead));
	return gus_fail(err, GUS_E_USAGE, "the recording has no sample in a function of these modules%s", instead);
}

#define SKID "an address may be some instructions behind the one that took the time"
#define CONCENTRATED 0.95 /* of the samples at one distance, for it to be told as the distance */

/* Why samples are late that no hardware places. */
static const char *lateness(const Gusprof__Event *e)
{
	if (!e)
		return "it is not known how samples were taken: ";
	if (strcmp(e->unit, "ns") == 0)
		return "a timer's interrupt waits for the instructions under way: ";
	return e->precise > 1 ? "" : "a counter's interrupt comes late: ";
}

/* How far an address can be trusted, as far as the self-test tells; NULL: it is where the time was. */
static const char *skid_of(const struct gus_skid *skid, bool precise)
{
	static const char *const at[GUS_SKID_NEAR] = {
		"an address is the one that took the time",
		"an address is the first instruction behind the one that took the time",
		"an address is the second instruction behind the one that took the time",
		"an address is the third instruction behind the one that took the time",
	};
	int distance = gus_skid_distance(skid, CONCENTRATED);

	if (precise && (distance == 0 || !gus_skid_samples(&skid->counts[GUS_SKID_LOAD])))
		return NULL;
	return distance < 0 ? SKID : at[distance];
}

/* With how sure that is. */
static char *skid_brief(const struct gus_skid *skid, const char *late)
{
	int distance = gus_skid_distance(skid, CONCENTRATED);
	const struct gus_skid_counts *c = &skid->counts[GUS_SKID_LOAD];
	char share[32];

	if (distance < 0)
		return gus_strdup(late);
	gus_fixed_format(share, sizeof(share), 100 * (double)c->at[distance] / (double)gus_skid_samples(c), 1);
	return gus_format("%s (%s %% of %" PRIu64 " samples of a self-test)", late, share, gus_skid_samples(c));
}

/* With the reason, and all that the self-test says. */
static char *skid_full(const Gusprof__Event *e, const struct gus_skid *skid, const char *late)
{
	char tested[400];

	if (!gus_skid_describe(skid, tested, sizeof(tested)))
		return gus_format("%s%s", lateness(e), late);
	return gus_format("%s%s; self-test: %s", lateness(e), late, tested);
}

/* Showing. */

static uint64_t weight_before(const struct gus_view *view, uint32_t row)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < row; i++)
		sum += view->rows.v[i].weight;
	return sum;
}

static int add_function(struct annotating *n, uint32_t number, struct gus_error *err)
{
	const struct gus_annotated *last = n->functions.n ? &n->functions.v[n->functions.n - 1] : NULL;
	struct gus_annotated f = { .before = weight_before(&n->view, number) };

	if (gus_annotation_make(&f.annotation, &n->profile, &n->view.rows.v[number], err) != 0)
		return -1;
	f.origin = gus_symbols_provenance(n->profile.symbols, f.annotation.module);
	f.loops_before = last ? last->loops_before + (uint32_t)last->annotation.graph.loops.n : 0;
	if (n->o->source && !f.annotation.lines.n)
		gus_log(n->log, GUS_NOTE, "there are no source lines of %s in %s: no debug information was found for "
			"it", f.annotation.row->function, f.annotation.module->path);
	gus_vec_push(&n->functions, f);
	return 0;
}

/* Of several functions one that cannot be shown is told of and left out; if it is the only one, that is the error. */
static int add_functions(struct annotating *n, struct gus_error *err)
{
	for (size_t i = 0; i < n->picked.n; i++) {
		struct gus_error why = { 0 };

		if (add_function(n, n->picked.v[i], &why) == 0)
			continue;
		if (n->picked.n == 1) {
			*err = why;
			return -1;
		}
		gus_log(n->log, GUS_WARN, "left out: %s", why.text);
	}
	if (!n->functions.n)
		return gus_fail(err, GUS_E_NOT_FOUND, "none of the %zu functions can be shown", n->picked.n);
	return 0;
}

static void warn(const char *text, void *context)
{
	gus_log(context, GUS_WARN, "%s", text);
}

/* What the branch stacks say, if there are any. They are those of all samples. */
static bool load_routes(struct annotating *n, struct gus_routes *routes)
{
	struct gus_error err = { 0 };

	if (!n->profile.header->branch_type)
		return false;
	if (n->profile.filtered)
		gus_log(n->log, GUS_NOTE, "how often branches are taken is not shown, because the options leave some "
			"samples out");
	else if (gus_routes_load(routes, n->reader, &n->profile, &err) == 0)
		return true;
	else
		gus_log(n->log, GUS_NOTE, "%s", err.text);
	return false;
}

static int render(struct annotating *n)
{
	const struct gus_profile *p = &n->profile;
	const Gusprof__Event *e = p->event < p->header->n_events ? p->header->events[p->event] : NULL;
	struct gus_annotate r = { .report = &n->report, .functions = n->functions.v, .functions_n = n->functions.n };
	struct gus_routes routes;
	struct gus_skid skid;
	char *brief = NULL, *full = NULL;
	const char *late;
	int rc = 0;

	r.self_test = gus_profile_skid(p, &skid) ? &skid : NULL;
	late = skid_of(&skid, e && e->precise > 1);
	if (late) {
		r.skid_brief = brief = skid_brief(&skid, late);
		r.skid = full = skid_full(e, &skid, late);
	}
	r.stacks = n->o->stacks ? &n->stacks : NULL;
	if (load_routes(n, &routes))
		r.routes = &routes;
	if (n->o->source)
		r.sources = gus_sources_new(n->o->symfs, gus_symbols_rights(n->profile.symbols), n->log);
	if (n->o->format == TEXT && n->o->screen.pager)
		gus_pager_begin(&n->screen);
	if (n->o->format == JSON)
		rc = gus_annotate_json(&r);
	else if (n->o->format == CSV)
		gus_annotate_csv(&r);
	else
		gus_annotate_text(&r);
	fflush(stdout);
	if (n->o->format != TEXT) /* text has them on top */
		gus_report_notices(&n->report, warn, (void *)n->log);
	if (n->o->format == CSV && r.skid)
		gus_log(n->log, GUS_NOTE, "skid: %s", r.skid);
	if (r.sources)
		gus_sources_tell(r.sources);
	gus_sources_free(r.sources);
	if (r.routes)
		gus_routes_free(&routes);
	free(brief);
	free(full);
	return rc == 0 ? 0 : GUS_EXIT_OWN_FAILURE;
}

static int fail_status(const struct gus_error *err)
{
	gus_complain(err);
	return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

static void tell_damage(const struct gus_damage *damage)
{
	(void)damage; /* it is told of the profile */
}

static int add_stacks(struct annotating *n, struct gus_error *err)
{
	char *build_ids = gus_naming_build_ids(n->o->build_ids);
	const struct gus_symbols_options symbols = { .symfs = n->o->symfs, .build_ids = build_ids };
	const struct gus_stacks_how how = { .input = n->path, .uarch = n->o->uarch, .screen = &n->o->screen,
		.symbols = &symbols, .naming = n->naming, .heed = gus_progress_heed(&n->progress), .log = n->log,
		.tell = tell_damage, .percent_limit = -1 };
	int rc = gus_annotate_stacks_make(&n->stacks, &how, err);

	gus_progress_end(&n->progress);
	for (size_t i = 0; rc == 0 && i < n->functions.n; i++)
		gus_annotate_stacks_weigh(&n->stacks, &n->functions.v[i]);
	free(build_ids);
	return rc;
}

static int show(struct annotating *n)
{
	const struct gus_error *failure;
	struct gus_error err = { 0 };
	int rc = 0;

	gus_view_make(&n->view, &n->profile, GUS_BY_FUNCTION, false);
	gus_progress_end(&n->progress);
	n->report.view = &n->view;
	n->report.profile = &n->profile;
	n->report.units = gus_units_of(&n->profile);
	if (!n->profile.samples)
		rc = nothing_left(n, &err);
	else
		gus_filter_absent(&n->o->filter, &(struct gus_list){ 0 }, &n->profile, n->log);
	if (rc == 0)
		rc = n->o->symbol ? pick_symbol(n, n->o->symbol, &err) : pick_hottest(n, &err);
	if (rc == 0)
		rc = add_functions(n, &err);
	if (rc == 0 && n->o->stacks)
		rc = add_stacks(n, &err);
	rc = rc == 0 ? render(n) : fail_status(&err);
	if (rc == 0 && (failure = gus_symbols_failure(n->profile.symbols)))
		rc = fail_status(failure);
	else if (rc == 0)
		gus_symbols_tell(n->profile.symbols);
	if (!n->functions.n && n->o->symbol && n->picked.n && err.code == GUS_E_USAGE)
		list_picked(n);
	for (size_t i = 0; i < n->functions.n; i++)
		gus_annotation_free(&n->functions.v[i].annotation);
	if (n->o->stacks && n->functions.n)
		gus_annotate_stacks_free(&n->stacks);
	gus_vec_free(&n->functions);
	gus_vec_free(&n->picked);
	gus_view_free(&n->view);
	return rc;
}

static int load(struct annotating *n, struct gus_reader *reader, struct gus_filter *filter,
		const struct gus_symbols_options *symbols, struct gus_error *err)
{
	filter->heed = gus_progress_heed(&n->progress);
	return gus_profile_load(&n->profile, reader, filter, symbols, n->log, err);
}

static int annotate(struct annotate_options *o)
{
	struct annotating n = { .o = o, .log = gus_cli_log(o->quiet ? -1 : o->verbosity),
				.report = { .path = o->input, .header = o->header },
				.screen = gus_screen_of(stdout, &o->screen) };
	struct gus_symbols_options symbols = { .symfs = o->symfs };
	const Gusprof__Header *header;
	struct gus_reader *reader;
	struct gus_error err = { 0 };
	struct gus_filter filter;
	char *build_ids;
	int status;

	if (o->symbol && !*o->symbol)
		gus_fail(&err, GUS_E_USAGE, "the name of the function is empty");
	if (!err.code && o->stacks)
		n.path = gus_recording_path(o->input, &err);
	reader = err.code ? NULL : gus_recording_open(n.path ? n.path : o->input, &err);
	if (!reader) {
		free(n.path);
		return fail_status(&err);
	}
	n.naming = gus_naming_begin(&o->naming, n.log, &err);
	symbols.cache = n.naming ? gus_naming_cache(n.naming) : NULL;
	symbols.fetch = n.naming ? gus_naming_fetch(n.naming) : NULL;
	symbols.build_ids = build_ids = gus_naming_build_ids(o->build_ids);
	header = gus_reader_header(reader);
	n.report.screen = &n.screen;
	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	if (!n.naming || gus_filter_make(&filter, &o->filter, reader, &n.report.length_ns, &err) != 0 ||
	    load(&n, reader, &filter, &symbols, &err) != 0) {
		gus_progress_end(&n.progress);
		status = fail_status(&err);
	} else {
		gus_naming_weigh_profile(n.naming, &n.profile);
		n.reader = reader;
		status = show(&n);
		gus_profile_free(&n.profile);
	}
	free(build_ids);
	gus_naming_end(n.naming);
	gus_reader_close(reader);
	free(n.path);
	return status;
}

static int run(int argc, char **argv)
{
	struct annotate_options o = { .input = GUS_RECORDING_DEFAULT, .percent_limit = -1, .source = true,
				     .screen = GUS_SCREEN_DEFAULTS, .naming = GUS_NAMING_DEFAULTS };
	int status;

	if (gus_options_parse(&gus_verb_annotate, &o, &argc, &argv, &status) == 0) {
		if (argc == 1)
			o.symbol = argv[0];
		status = annotate(&o);
	}
	gus_list_free(&o.modules);
	gus_filter_options_free(&o.filter);
	return status;
}

const struct gus_verb gus_verb_annotate = {
	.name = "annotate",
	.synopsis = "[OPTION...] [SYMBOL]",
	.summary = "Show a function's instructions beside its source, and where its time went.",
	.details = "SYMBOL is a function that was sampled; without it the hottest one is shown. Its inlined functions "
	"are\nshown as a part of it, with their own lines. gusprof-annotate(1) explains the columns.",
	.options = options,
	.run = run,
	.word = "SYMBOL",
	.habits = habits,
};
