/* SPDX-License-Identifier: MIT */
/* One program on one golden machine: a trace is run through the core engine alone, and what output.h says is written
 * of it, and machine.uarch, its table (of one that was drawn), and windows, what of the trace somebody who recorded it
 * would have (windows.h). */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_RUN_H
#define GUS_TESTS_ACCURACY_GOLDEN_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct golden_machine;
struct gus_error;

struct golden_run_options {
	const struct golden_machine *machine;
	const char *trace, *folder;
	uint64_t period;                /* 0: 1,009 */
	unsigned passes;                /* 0: as many as give 400,000 samples */
	uint64_t seed;                  /* of the samplers, and of when windows begin */
	uint64_t windows, window_length; /* as windows.h has them */
	bool bare;                      /* the engine alone: nobody listens, to see what listening costs */
	bool truth_only;                /* no samplers */
};
int golden_run(const struct golden_run_options *o, struct gus_error *err);

#endif
