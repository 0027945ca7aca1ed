/* SPDX-License-Identifier: MIT */
/* gusprof script: the samples themselves, as lines for other programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/common/filter.h"
#include "cli/common/naming.h"
#include "cli/common/recording.h"
#include "cli/report/view.h"
#include "cli/script/fields.h"
#include "cli/script/samples.h"
#include "cli/verbs.h"
#include "symbolizer/symbols/symbols.h"

struct script_options {
	const char *input, *symfs, *build_ids, *kallsyms, *fields;
	struct gus_filter_options filter;
	struct gus_list modules;
	uint64_t max_stack;
	bool folded, hide, inlines, nanoseconds, relative, quiet;
	int weight;                   /* WEIGHT_* */
	int verbosity;
};

enum { WEIGHT_PERIOD, WEIGHT_SAMPLES };

static int call_verbose(const char *argument, void *values, struct gus_error *err)
{
	(void)argument;
	(void)err;
	((struct script_options *)values)->verbosity++;
	return 0;
}

#define AT(field) offsetof(struct script_options, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "The recording to read, - for standard input; gusprof.data by default.",
	  GUS_OPTION_STRING, AT(input), .choices = "@file", .fit = { .excludes = "--",
	  .why = "both name the recording" } },
	{ 'F', "fields", "FIELD[,FIELD]", "What stands in a line: comm, tid, pid, cpu, misc, time, period, event, "
	  "addr, data_src, weight, ins_lat, retire_lat, issue_lat, translation_lat, transaction, cgroup, ip, sym, "
	  "symoff, dso, srcline, iregs, uregs, brstack, brstacksym, brstackoff, raw, psv, phys_addr, "
	  "data_page_size, code_page_size; or +FIELD and -FIELD, to change what is so without it.",
	  GUS_OPTION_STRING, AT(fields), .filled = true, .choices = "comm tid pid cpu misc time period event addr "
	  "data_src weight ins_lat retire_lat issue_lat translation_lat transaction cgroup ip sym symoff dso srcline "
	  "iregs uregs brstack brstacksym brstackoff raw psv phys_addr data_page_size code_page_size" },
	{ 0, "folded", NULL, "Add up equal stacks, a line each: NAME;OUTER;INNER WEIGHT, for flame graphs.",
	  GUS_OPTION_FLAG, AT(folded), .fit = { .excludes = "fields ns reltime",
	  .why = "a stack is of many samples" } },
	{ 0, "weight", "WHAT", "With --folded: period (the default) adds up what samples stand for, in the event's "
	  "unit, which is ns of CPU time under cpu-clock; samples counts them.", GUS_OPTION_CHOICE, AT(weight),
	  .choices = "period samples", .fit = { .needs = "folded" } },
	{ 'G', "hide-call-graph", NULL, "Leave out the callers, and put the place of a sample into its line.",
	  GUS_OPTION_FLAG, AT(hide) },
	{ 0, "max-stack", "N", "At most N frames of a sample.", GUS_OPTION_NUMBER, AT(max_stack),
	  .bounds = { .above = true } },
	{ 0, "inline", NULL, "Show inlined functions as frames of a chain (the default).", GUS_OPTION_FLAG,
	  AT(inlines) },
	{ 0, "ns", NULL, "Times in nanoseconds.", GUS_OPTION_FLAG, AT(nanoseconds) },
	{ 0, "reltime", NULL, "Times since the recording's start.", GUS_OPTION_FLAG, AT(relative) },
	{ 0, "dso", "NAME[,NAME]", "Only samples in these modules, by path or base name.", GUS_OPTION_LIST,
	  AT(modules) },
	GUS_FILTER_OPTIONS(struct script_options, filter),
	{ 0, "symfs", "DIR", "Look for modules and their debug files under this directory.", GUS_OPTION_STRING,
	  AT(symfs), .choices = "@dir" },
	GUS_NAMING_BUILD_IDS(struct script_options, build_ids),
	GUS_NAMING_KALLSYMS(struct script_options, kallsyms),
	{ 'q', "quiet", NULL, "No notes on stderr, only warnings.", GUS_OPTION_FLAG, AT(quiet) },
	{ 'v', "verbose", NULL, "Say more about what is done.", GUS_OPTION_CALL, .call = call_verbose },
	{ 0 },
};

static const struct gus_habit habits[] = {
	{ "-D", "'gusprof dump FILE' shows a recording record by record" },
	{ "--dump-raw-trace", "'gusprof dump FILE' shows a recording record by record" },
	{ "-s", "there are no scripts inside; pipe the lines into yours" },
	{ "--script", "there are no scripts inside; pipe the lines into yours" },
	{ "-g", "there are no scripts inside; pipe the lines into yours" },
	{ "--comms", "--comm NAME takes samples of threads of this name" },
	{ "--header", "'gusprof dump --type header FILE' shows it" },
	{ "--show-mmap-events", "'gusprof dump --type sideband FILE' shows mappings, names, forks and exits" },
	{ "--show-task-events", "'gusprof dump --type sideband FILE' shows mappings, names, forks and exits" },
	{ "--show-switch-events", "'gusprof dump --type switches FILE' shows them" },
	{ NULL, NULL },
};

static int status_of(const struct gus_error *err)
{
	gus_complain(err);
	return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

static void warn(const char *text, void *context)
{
	gus_log(context, GUS_WARN, "%s", text);
}

/* Fields that were asked for, and that no sample had. */
static void tell_absent(const struct gus_script *s, const struct gus_log *log)
{
	static const unsigned optional[] = {
		GUS_FIELD_BRSTACK, GUS_FIELD_BRSTACKSYM, GUS_FIELD_BRSTACKOFF, GUS_FIELD_ADDR, GUS_FIELD_DATA_SRC,
		GUS_FIELD_WEIGHT, GUS_FIELD_INS_LAT, GUS_FIELD_RETIRE_LAT, GUS_FIELD_TRANSACTION, GUS_FIELD_CGROUP,
		GUS_FIELD_IREGS, GUS_FIELD_UREGS, GUS_FIELD_RAW, GUS_FIELD_PHYS_ADDR, GUS_FIELD_DATA_PAGE,
		GUS_FIELD_CODE_PAGE, GUS_FIELD_PSV, GUS_FIELD_ISSUE_LAT, GUS_FIELD_TRANSLATION_LAT,
	};

	for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); i++)
		if (s->fields & optional[i] && !(s->told & optional[i]))
			gus_log(log, GUS_NOTE, "no sample shown has %s%s", gus_fields_name(optional[i]),
				optional[i] & GUS_FIELDS_BRANCHES ? ": gusprof record takes branches with -b" : "");
}

/* What readers must know of lines that look complete. */
static int tell(const struct script_options *o, const struct gus_script *s, struct gus_profile *p, uint64_t late,
		const struct gus_log *log)
{
	const struct gus_error *failure = gus_symbols_failure(p->symbols);

	fflush(stdout);
	if (failure)
		return status_of(failure);
	gus_report_notices(&(struct gus_report){ .path = o->input, .profile = p }, warn, (void *)(uintptr_t)log);
	if (!p->samples)
		gus_log(log, GUS_NOTE, p->filtered || p->other_events ? "none of the recording's samples is what was "
			"asked for" : "the recording has no samples");
	if (o->folded && !o->filter.event && p->other_events)
		gus_log(log, GUS_NOTE, "%llu samples of other events than the first are left out: --event takes "
			"another one", (unsigned long long)p->other_events);
	if (late)
		gus_log(log, GUS_WARN, "%llu samples come later than their time: more of the recording overlaps than "
			"is kept in memory", (unsigned long long)late);
	if (p->samples)
		tell_absent(s, log);
	if (s->cut)
		gus_log(log, GUS_NOTE, "%llu samples have more than %llu frames: the outermost are left out",
			(unsigned long long)s->cut, (unsigned long long)o->max_stack);
	gus_symbols_tell(p->symbols);
	return 0;
}

static int visit(const struct script_options *o, struct gus_script *s, struct gus_reader *reader,
		 const struct gus_filter *filter, struct gus_error *err)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : o->verbosity);
	const Gusprof__Header *header = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .symfs = o->symfs, .kallsyms = o->kallsyms };
	struct gus_visitor visit = { gus_script_begin, o->folded ? gus_script_fold : gus_script_line, s, 0 };
	char *build_ids = gus_naming_build_ids(o->build_ids);
	struct gus_profile profile;
	int status;

	symbols.boot_id = header->host ? header->host->boot_id : NULL;
	symbols.build_ids = build_ids;
	status = gus_profile_visit(&profile, reader, filter, &symbols, log, &visit, err);
	free(build_ids);
	if (status != 0)
		return status_of(err);
	gus_script_end(s);
	status = tell(o, s, &profile, visit.late, log);
	gus_profile_free(&profile);
	return status;
}

static int script(struct script_options *o)
{
	struct gus_script s = { .fields = GUS_FIELDS_DEFAULT, .nanoseconds = o->nanoseconds,
				.relative = o->relative, .count_samples = o->weight == WEIGHT_SAMPLES,
				.max_stack = o->max_stack };
	struct gus_reader *reader = NULL;
	struct gus_error err = { 0 };
	struct gus_filter filter;
	uint64_t length = 0;
	bool chains;
	int status;

	if ((o->fields && gus_fields_parse(o->fields, &s.fields, &err) != 0) ||
	    !(reader = gus_recording_open(o->input, &err)) ||
	    gus_filter_make(&filter, &o->filter, reader, &length, &err) != 0) {
		status = status_of(&err);
	} else {
		chains = gus_reader_has_chains(reader) && !o->hide;
		s.chains = chains && s.fields & GUS_FIELDS_PLACE;
		s.inlines = o->inlines && (s.chains || o->folded);
		/* What is added up must be of one unit. */
		filter.event = o->filter.event || o->folded ? filter.event : GUS_EVENT_ANY;
		filter.modules = (const char *const *)o->modules.v;
		filter.registers = s.fields & GUS_FIELD_UREGS;
		filter.chains = s.chains_kept = chains && (s.chains || o->folded);
		status = visit(o, &s, reader, &filter, &err);
	}
	gus_script_free(&s);
	gus_reader_close(reader);
	return status;
}

static int run(int argc, char **argv)
{
	struct script_options o = { .input = GUS_RECORDING_DEFAULT, .inlines = true };
	int status;

	if (gus_options_parse(&gus_verb_script, &o, &argc, &argv, &status) == 0) {
		if (argc == 1)
			o.input = argv[0];
		status = script(&o);
	}
	gus_list_free(&o.modules);
	gus_filter_options_free(&o.filter);
	return status;
}

const struct gus_verb gus_verb_script = {
	.name = "script",
	.synopsis = "[OPTION...] [FILE]",
	.summary = "Show the samples of a recording as lines for other programs.",
	.details = "Lines are those of perf script, in the order of time, so that what reads these can read them.\n"
		   "gusprof-script(1) explains the fields.",
	.options = options,
	.run = run,
	.argument_choices = "@file",
	.word = "FILE",
	.habits = habits,
};
