/* SPDX-License-Identifier: MIT */
/* What is written of a run into a folder, whoever tells of it: what is true of each cycle, and what all samplers saw of
 * it.
 *
 *	truth           truth.h
 *	counters        counters.h, a line each: name, true count, as read by a tool
 *	rates           by scheme: triggers, samples, lost, what was counted; and the speed
 *	SCHEME.cells    of schemes that are no hardware's: struct golden_written, one after the other
 *	SCHEME.data     perf.data of the others */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_OUTPUT_H
#define GUS_TESTS_ACCURACY_GOLDEN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/machine/options.h"
#include "tests/accuracy/golden/samplers.h"

struct golden_clocks;
struct golden_mapping;
struct golden_truth;
struct gus_error;
struct gus_program;

struct golden_written { uint64_t address, trigger; uint32_t ticks; uint16_t psv, unused; };

/* As long as the output is there. */
struct golden_output_options {
	const char *folder, *comm;
	uint32_t pid, issue_width;
	const struct golden_mapping *mappings;
	size_t mappings_n;
	uint64_t period, seed;          /* of the samplers */
	struct golden_periods fixed;    /* as samplers.h has them */
	const char *stress;             /* what the run is stressed by, to be written with its rates; NULL: nothing */
	unsigned passes;
	bool truth_only;                /* no samplers */
	struct golden_clocks *clocks;   /* of threads, which go as these do; NULL: none (windows.h) */
};

struct golden_output;
/* Makes the folder if it is not there. NULL with err. */
struct golden_output *golden_output_open(const struct golden_output_options *o, struct gus_error *err);
/* A thread begins: whom to tell, until it leaves. */
const struct gus_core_listener *golden_output_listen(struct golden_output *out, uint32_t stream,
						     const struct gus_program *program);
void golden_output_leave(struct golden_output *out, uint32_t stream);
/* All have left: the truth in order, whose places have no units yet. */
struct golden_truth *golden_output_truth(struct golden_output *out);
/* Frees it also on failure. written: all went well until now, so that everything is to be written. */
int golden_output_close(struct golden_output *out, bool written, double seconds, struct gus_error *err);

#endif
