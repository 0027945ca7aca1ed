/* SPDX-License-Identifier: MIT */
/* Where the report of gusprof model goes. What a command prints is its own: `gusprof model -- gzip -c f >x` is to leave
 * in x what gzip wrote and nothing else, so the report of a command is on standard error, unless a file is named (-o
 * FILE), or standard output was asked for (-o -), and then what the command prints there goes to standard error. All
 * else has nobody beside it and is on standard output. */
#ifndef GUS_CLI_MODEL_OUTPUT_H
#define GUS_CLI_MODEL_OUTPUT_H

#include <stdbool.h>

#include "base/output.h"

struct gus_error;

struct gus_model_output {
	const char *path;       /* as -o has it: "-" is standard output; NULL: it was not given */
	bool command;           /* what is modelled is a command, which prints, too */
	bool json;
	/* Private. */
	struct gus_output file; /* without a name until the report is whole */
	bool made;
	int fd;                 /* that the report goes to; -1: standard output, as it is */
};

/* Before anything is run: a name that cannot be written to is no reason to run for an hour. -1 with err. */
int gus_model_output_open(struct gus_model_output *o, struct gus_error *err);
/* Whether the command's standard output is to be our standard error. */
bool gus_model_output_moves_command(const struct gus_model_output *o);
/* Whether the report is JSON on standard error: then nothing of ours but errors is to stand beside it. */
bool gus_model_output_is_alone(const struct gus_model_output *o);
/* From here on what is printed to stdout is the report. The command has been started by then, with the real one. -1
 * with err: it is not. */
int gus_model_output_begin(struct gus_model_output *o, struct gus_error *err);
/* The end, with what the report came to: a file takes its name, or is gone. -1 with err, which is left alone if rc was
 * a failure already. */
int gus_model_output_end(struct gus_model_output *o, int rc, struct gus_error *err);

#endif
