/* SPDX-License-Identifier: MIT */
/* gusprof import: a recording of another program, kept as one of ours. It is read as all verbs read it, frame by frame,
 * and what is read is written, so nothing can differ between the two. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/common/options.h"
#include "cli/common/option_table.h"
#include "cli/common/print.h"
#include "cli/common/recording.h"
#include "cli/verbs.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/varint.h"
#include "proto/writer.h"

struct import_options {
	const char *input, *output;
	bool quiet;
};

#define AT(field) offsetof(struct import_options, field)
static const struct gus_option options[] = {
	{ 'i', "input", "FILE", "The recording to read, - for standard input; perf.data by default.",
	  GUS_OPTION_STRING, AT(input), .choices = "@file",
	  .fit = { .excludes = "--", .why = "both name the recording" } },
	{ 'o', "output", "FILE", "Where it is kept, - for standard output; gusprof.data by default.", GUS_OPTION_STRING,
	  AT(output),
	  .choices = "@file" },
	{ 'q', "quiet", NULL, "Don't say what was read and what was left out.", GUS_OPTION_FLAG, AT(quiet) },
	{ 0 },
};

/* What is copied beside rows: messages, whose bytes are what a file of ours has. */
static int copy_message(struct gus_writer *w, const struct gus_frame *frame, struct gus_error *err)
{
	struct gus_bytes payload = { 0 };
	int rc;

	gus_vec_append(&payload, frame->payload, frame->size);
	rc = gus_writer_payload(w, frame->type, &payload, err);
	gus_vec_free(&payload);
	return rc;
}

static int copy_rows(struct gus_writer *w, const struct gus_frame *frame, struct gus_columns *rows,
		     struct gus_error *err)
{
	if (gus_frame_rows(frame, rows, err) != 0)
		return -1;
	return (frame->type == GUS_FRAME_SAMPLES ? gus_writer_samples : gus_writer_switches)(w, rows, err);
}

struct copied {
	struct gus_columns rows;
	Gusprof__Footer *footer;        /* NULL: there was none */
	uint64_t samples;
};

static int copy_frame(struct gus_writer *w, const struct gus_frame *frame, struct copied *c, struct gus_error *err)
{
	switch (frame->type) {
	case GUS_FRAME_HEADER: /* which the writer has */
	case GUS_FRAME_INDEX:  /* and makes anew */
		return 0;
	case GUS_FRAME_SAMPLES:
	case GUS_FRAME_SWITCHES:
		if (copy_rows(w, frame, &c->rows, err) != 0)
			return -1;
		c->samples += frame->type == GUS_FRAME_SAMPLES ? c->rows.n : 0;
		return 0;
	case GUS_FRAME_FOOTER:
		if (c->footer)
			gusprof__footer__free_unpacked(c->footer, NULL);
		c->footer = (Gusprof__Footer *)gus_frame_message(frame, &gusprof__footer__descriptor, err);
		return c->footer ? 0 : -1;
	default:
		return copy_message(w, frame, err);
	}
}

/* Damage is told and left out: what is whole is kept. */
static int copy(struct gus_reader *reader, struct gus_writer *w, struct copied *c, struct gus_error *err)
{
	for (;;) {
		struct gus_error damage = { 0 };
		struct gus_frame frame;

		switch (gus_reader_next_of(reader, UINT32_MAX, &frame, &damage)) {
		case GUS_READ_FRAME:
			if (copy_frame(w, &frame, c, err) != 0)
				return -1;
			break;
		case GUS_READ_CORRUPT:
			gus_complain(&damage);
			break;
		case GUS_READ_CUT:
			gus_complain(&damage);
			return 0;
		case GUS_READ_END:
			return 0;
		case GUS_READ_ERROR:
			*err = damage;
			return -1;
		}
	}
}

static void say(const struct import_options *o, const struct copied *c)
{
	if (o->quiet)
		return;
	gus_text_print(stderr, "%s: %llu samples, kept in %s\n", o->input, (unsigned long long)c->samples, o->output);
	for (size_t i = 0; c->footer && i < c->footer->n_notices; i++)
		gus_text_print(stderr, "%s: %s\n", o->input, c->footer->notices[i]);
}

/* A file that could not be written to its end gets no name: the recording that it is of is still there. */
static int write_all(struct gus_reader *reader, int fd, const char *name, struct copied *c, struct gus_error *err)
{
	Gusprof__Footer none = GUSPROF__FOOTER__INIT;
	struct gus_writer *w;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (own < 0)
		return gus_fail_errno(err, errno, "cannot write %s", name);
	w = gus_writer_create_fd(own, name, gus_reader_header(reader), err);
	if (!w)
		return -1;
	if (copy(reader, w, c, err) == 0)
		return gus_writer_finish(w, c->footer ? c->footer : &none, err);
	gus_writer_abandon(w);
	return -1;
}

static int import(const struct import_options *o, struct gus_reader *reader, struct gus_error *err)
{
	struct gus_output output;
	struct copied c = { 0 };
	bool pipe = strcmp(o->output, "-") == 0;
	int rc = -1;

	if (pipe) {
		rc = write_all(reader, STDOUT_FILENO, "standard output", &c, err);
	} else if (gus_output_create(&output, o->output, "recording", err) == 0) {
		rc = write_all(reader, output.fd, o->output, &c, err);
		if (rc == 0)
			rc = gus_output_name(&output, err);
		else
			gus_output_drop(&output);
		close(output.fd);
	}
	if (rc == 0)
		say(o, &c);
	if (c.footer)
		gusprof__footer__free_unpacked(c.footer, NULL);
	gus_columns_free(&c.rows);
	return rc;
}

/* Recording with us makes no file that is to be imported. */
static void say_none(const char *input, struct gus_error *err)
{
	*err = (struct gus_error){ 0 };
	gus_fail_errno(err, ENOENT, "cannot import %s", input);
}

static int run(int argc, char **argv)
{
	struct import_options o = { .input = "perf.data", .output = GUS_RECORDING_DEFAULT };
	struct gus_error err = { 0 };
	struct gus_reader *reader = NULL;
	int status, rc = -1;

	if (gus_options_parse(&gus_verb_import, &o, &argc, &argv, &status) != 0)
		return status;
	if (argc == 1)
		o.input = argv[0];
	signal(SIGXFSZ, SIG_IGN); /* a file that may not be so large is an error as others are */
	if (gus_recording_check_output(o.input, o.output, &err) == 0)
		reader = gus_recording_open(o.input, &err);
	if (reader)
		rc = import(&o, reader, &err);
	else if (err.code == GUS_E_NOT_FOUND && err.sys == ENOENT)
		say_none(o.input, &err);
	if (rc != 0)
		gus_complain(&err);
	gus_reader_close(reader);
	if (rc == 0)
		return 0;
	return err.code == GUS_E_USAGE ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

const struct gus_verb gus_verb_import = {
	.name = "import",
	.synopsis = "[OPTION...] [FILE]",
	.summary = "Keep a recording of perf as one of gusprof.",
	.details = "All verbs read perf.data as it is, with -i; this makes a file of it that is a fraction of its "
		"size.",
	.options = options,
	.run = run,
	.argument_choices = "@file",
	.word = "FILE",
};
