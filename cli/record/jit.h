/* SPDX-License-Identifier: MIT */
/* Writes what runtimes told of the code that they made, and that was sampled, into a recording: where it was and when,
 * its names, its bytes and its lines, which are nowhere else. */
#ifndef GUS_CLI_RECORD_JIT_H
#define GUS_CLI_RECORD_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_error;
struct gus_log;
struct gus_made;
struct gus_writer;

struct gus_record_jit {
	const struct gus_log *log;
	bool lines;             /* those too; jitdumps have them */
	size_t *left;           /* bytes that may be written, before compression; what is written is taken off */
	uint64_t until_ns;      /* of CLOCK_MONOTONIC; the file at hand is finished */
};

/* clock is what is to be added to a time of CLOCK_MONOTONIC to have one of the recording. What cannot be read is told,
 * and left out; -1 with err if the recording cannot be written. */
int gus_record_jit(const struct gus_record_jit *jit, const struct gus_made *made, int64_t clock,
		   struct gus_writer *writer, struct gus_error *err);

#endif
