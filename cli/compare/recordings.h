/* SPDX-License-Identifier: MIT */
/* The recordings of a command that gusprof compare makes: runs of it, one after the other, each sampled by a process of
 * ours into a file without a name. */
#ifndef GUS_CLI_COMPARE_RECORDINGS_H
#define GUS_CLI_COMPARE_RECORDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_error;

struct gus_compare_recordings {
	struct gus_vec(int) files;      /* one a run */
	int status;                     /* of the first run, as a shell shows it */
	bool failed;                    /* a run could not be recorded, which its recorder has said itself */
};

struct gus_compare_runs {
	char **command;
	uint64_t repeat;                /* runs; 0: some, as a short run has few samples (recordings.c);
					 * but one if that failed, and if it has no sample it is an error */
	uint64_t hz;                    /* 0: as many samples as may be by what they cost */
	bool windows;                   /* they have windows of what it did, and cost what a recording may cost */
	bool out_is_err;                /* what the command prints goes to standard error, whatever it prints it to */
};

/* Only the first run reads and prints what the command reads and prints by itself: standard output of the others is
 * lost, and standard input is read again if it is a file, else empty. It is ready to be read once more after that. -1
 * with err, or failed. Freed with gus_compare_recordings_free in any case. */
int gus_compare_recordings_make(struct gus_compare_recordings *r, const struct gus_compare_runs *runs,
				struct gus_error *err);
void gus_compare_recordings_free(struct gus_compare_recordings *r);

/* The exit status of a verb that failed, which says why if its recorder has not. process, command: it is of one, and
 * wrong options were not the reason. */
int gus_compare_recordings_failure(const struct gus_compare_recordings *r, bool process, bool command,
				   const struct gus_error *err);

#endif
