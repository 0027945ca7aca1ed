/* SPDX-License-Identifier: MIT */
/* gusprof export: a recording in another program's format. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/output.h"
#include "cli/common/options.h"
#include "cli/common/recording.h"
#include "cli/export/file.h"
#include "cli/export/contents.h"
#include "cli/verbs.h"
#include "proto/reader.h"

struct export_options {
	const char *input, *output;
	int to;
	bool quiet;
};

#define AT(field) offsetof(struct export_options, field)
static const struct gus_option options[] = {
	{ 0, "to", "FORMAT", "What to write: perfdata (the default), which perf reads.", GUS_OPTION_CHOICE, AT(to),
	  .choices = "perfdata" },
	{ 'i', "input", "FILE", "The recording to read, - for standard input; gusprof.data by default.",
	  GUS_OPTION_STRING, AT(input), .choices = "@file", .fit = { .excludes = "--",
	  .why = "both name the recording" } },
	{ 'o', "output", "FILE", "The file to write, - for standard output; perf.data by default. What had the name "
	  "becomes FILE.old.", GUS_OPTION_STRING, AT(output), .filled = true, .choices = "@file" },
	{ 'q', "quiet", NULL, "No notes on stderr, only warnings.", GUS_OPTION_FLAG, AT(quiet) },
	{ 0 },
};

#define STANDARD_OUTPUT "standard output"

static int fail(const struct gus_error *err)
{
	gus_complain(err);
	return err->code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

static bool is_pipe(const struct export_options *o)
{
	return strcmp(o->output, "-") == 0;
}

/* What of the recording has no place in the file, and of how many samples, or how many of them. */
static void tell_left(const struct gus_log *log, const struct gus_contents *s, const struct gus_export_result *r)
{
	const struct { uint64_t n; const char *what, *of; } left[] = {
		{ r->unfit[GUS_PERFDATA_UNFIT_CALLERS], "how callers were found, and why there are no more of them",
		  " samples" },
		{ r->unfit[GUS_PERFDATA_UNFIT_PSV], "which events hardware proved of instructions", " samples" },
		{ r->unfit[GUS_PERFDATA_UNFIT_LATENCIES], "cycles to issue, for translation, and from completion to "
		  "retirement", " samples" },
		{ r->unfit[GUS_PERFDATA_UNFIT_LARGE], "cycles above the most that there is room for", " times" },
		{ r->unfit[GUS_PERFDATA_UNFIT_TOLD], "whether an address or a latency of 0 is one, or was not told",
		  " samples" },
		{ r->unfit[GUS_PERFDATA_UNFIT_STACK], "ends of copied stacks beyond a record's 64 KiB", " samples" },
		{ r->unfit[GUS_PERFDATA_UNFIT_CHAIN], "outermost callers beyond a record's 64 KiB", " samples" },
		{ r->unfit[GUS_PERFDATA_UNFIT_BRANCHES], "oldest branches beyond a record's 64 KiB", " samples" },
		{ r->unfit[GUS_PERFDATA_UNFIT_EXTRAS], "registers, counts or raw bytes that are not as their event "
		  "says, "
		  "or have no room", " times" },
		{ s->kept - r->kept, "records of the file that the recording was made of, which refer to that file, or "
		  "of "
		  "unknown kinds", "" },
		{ s->aux, "what hardware wrote beside the samples, as perf needs more to decode it than is kept",
		  " pieces" },
		{ s->marks, "marks", "" },
		{ s->made, "code that programs made, and its names; perf reads /tmp/perf-PID.map while that is there",
		  " pieces" },
		{ s->names, "names that the recording brought along; perf looks into the files", "" },
		{ s->images, "modules that no file holds, such as the vdso", "" },
		{ r->absent, "where tables to unwind by are in files that are not at hand, or not as they were",
		  " files" },
		{ s->replayable, "traces and snapshots", "" },
		{ s->unsampled, "what tasks may have done between their last sample and their end", " events" },
		{ s->governed, "what recording cost, and how its rate was chosen", NULL },
		{ r->ids_left, "ids of counters beyond the room of a pipe's records", "" },
	};

	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		if (left[i].n && left[i].of)
			gus_log(log, GUS_NOTE, "[ not in perf.data: %s (%llu%s) ]", left[i].what,
				(unsigned long long)left[i].n, left[i].of);
		else if (left[i].n)
			gus_log(log, GUS_NOTE, "[ not in perf.data: %s ]", left[i].what);
}

/* What is wrong with what was written. */
static void tell_wrong(const struct gus_log *log, const struct gus_contents *s, const struct gus_export_result *r,
		       const struct gus_damage *damage)
{
	const struct { uint64_t n; const char *what; } wrong[] = {
		{ damage->corrupt, "corrupt places of the recording, which are left out" },
		{ damage->missing_frames, "missing pieces of the recording" },
		{ s->strangers, "samples of events that the recording does not name, which are left out" },
		{ r->unnamed, "tracepoints of which the recording tells no more than the number: perf shows them "
		  "without names and fields" },
		{ r->late, "records that come later than their time: more of the recording overlaps than is kept in "
		  "memory" },
		{ r->too_long, "names longer than a record of perf.data, which are left out with what they name" },
	};

	if (damage->cut)
		gus_log(log, GUS_WARN, "the recording was cut: what it has up to there is exported");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (wrong[i].n)
			gus_log(log, GUS_WARN, "%llu %s", (unsigned long long)wrong[i].n, wrong[i].what);
}

static int write_named(const struct export_options *o, struct gus_reader *reader, const struct gus_contents *s,
		       struct gus_export_result *result, struct gus_error *err)
{
	struct gus_output out;
	int rc;

	if (gus_output_create(&out, o->output, "perf.data file", err) != 0)
		return -1;
	rc = gus_export_write(out.fd, false, reader, s, o->output, result, err);
	if (rc == 0)
		rc = gus_output_name(&out, err);
	else
		gus_output_drop(&out);
	close(out.fd);
	return rc;
}

static int write_piped(struct gus_reader *reader, const struct gus_contents *s, struct gus_export_result *result,
		       struct gus_error *err)
{
	if (isatty(STDOUT_FILENO))
		return gus_fail(err, GUS_E_USAGE, "cannot write perf.data to " STANDARD_OUTPUT ": it is a terminal; "
				"'-' "
				"is for a pipe, as in: gusprof export -o - | perf report -i -");
	return gus_export_write(STDOUT_FILENO, true, reader, s, STANDARD_OUTPUT, result, err);
}

static int export_all(const struct export_options *o, struct gus_reader *reader, struct gus_contents *s,
		      struct gus_error *err)
{
	const struct gus_log *log = gus_cli_log(o->quiet ? -1 : 0);
	const char *name = is_pipe(o) ? STANDARD_OUTPUT : o->output;
	struct gus_export_result result;

	if (!gus_reader_header(reader)->n_events)
		return gus_fail(err, GUS_E_CORRUPT, "cannot export %s: its header names no event, so nobody knows what "
				"its "
				"samples are of", o->input);
	if (gus_contents_make(s, reader, err) != 0 ||
	    (is_pipe(o) ? write_piped(reader, s, &result, err) : write_named(o, reader, s, &result, err)) != 0)
		return -1;
	gus_log(log, GUS_NOTE, "[ %llu samples, %.2f MB in %s ]", (unsigned long long)result.samples,
		(double)result.bytes / 1e6, name);
	tell_left(log, s, &result);
	tell_wrong(log, s, &result, gus_reader_damage(reader));
	return 0;
}

static int run(int argc, char **argv)
{
	struct export_options o = { .input = GUS_RECORDING_DEFAULT, .output = "perf.data" };
	struct gus_error err = { 0 };
	struct gus_reader *reader;
	struct gus_contents contents;
	int status;

	if (gus_options_parse(&gus_verb_export, &o, &argc, &argv, &status) != 0)
		return status;
	if (argc == 1)
		o.input = argv[0];
	signal(SIGPIPE, SIG_IGN); /* a reader that left, and a file that is too large, are errors as others are */
	signal(SIGXFSZ, SIG_IGN);
	if (gus_recording_check_output(o.input, o.output, &err) != 0)
		return fail(&err);
	reader = gus_recording_open(o.input, &err);
	if (!reader)
		return fail(&err);
	memset(&contents, 0, sizeof(contents));
	status = export_all(&o, reader, &contents, &err) == 0 ? 0 : fail(&err);
	gus_contents_free(&contents);
	gus_reader_close(reader);
	return status;
}

const struct gus_verb gus_verb_export = {
	.name = "export",
	.synopsis = "[OPTION...] [FILE]",
	.summary = "Write a recording as perf.data, which perf reads.",
	.details = "Samples, mappings, names of threads and switches are in it, in the order of time; what perf.data "
		"has\n"
		   "no place for is said. gusprof-export(1) lists it.",
	.options = options,
	.run = run,
	.argument_choices = "@file",
	.word = "FILE",
};
