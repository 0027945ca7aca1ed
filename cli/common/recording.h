/* SPDX-License-Identifier: MIT */
/* The recording that a verb reads: a file, gusprof.data by default, or what comes through standard input ("-"); of ours
 * or of perf, which it says itself. It is also here that somebody who has none is told how to make one. */
#ifndef GUS_CLI_COMMON_RECORDING_H
#define GUS_CLI_COMMON_RECORDING_H

#include <stdbool.h>
#include <string.h>

struct gus_error;
struct gus_reader;

#define GUS_RECORDING_DEFAULT "gusprof.data"
#define GUS_RECORDING_PIPE "standard input"

/* Its reader, which may be rewound; NULL with err. Of standard input all is taken first, until its end: it is kept in
 * a file without a name, in TMPDIR or /tmp, whose room is the bound. An interrupt from the terminal meanwhile is meant
 * for who writes it; the second one is for us. */
struct gus_reader *gus_recording_open(const char *input, struct gus_error *err);

/* The same for a single pass from front to back: standard input is read as it comes, and nothing is kept. */
struct gus_reader *gus_recording_stream(const char *input, struct gus_error *err);

/* The same as a path, for who opens it more than once. The caller frees it; what is behind it goes when we end. */
char *gus_recording_path(const char *input, struct gus_error *err);

/* What people are told that it is. */
static inline const char *gus_recording_name(const char *input)
{
	return strcmp(input, "-") == 0 ? GUS_RECORDING_PIPE : input;
}

/* Refuses, with GUS_E_USAGE, to write what is made of a recording in the recording's own place: -1 with err if both are
 * the same file, by whatever names. What is not there yet, or comes from or goes through a pipe ("-"), is another. */
int gus_recording_check_output(const char *input, const char *output, struct gus_error *err);

/* Whether what is at path was recorded by perf: it has samples, and neither traces nor snapshots. */
bool gus_recording_is_perfs(const char *path);

#endif
