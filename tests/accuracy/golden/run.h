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

/* What a run may be stressed by, which is written with its rates and in front of its table. The first two are the
 * machine's (golden_machine_stress); in the last, samplers have periods that the run resonates with (resonance.h), and
 * there is one pass. */
enum golden_stress {
	GOLDEN_STRESS_NONE, GOLDEN_STRESS_BURSTS, GOLDEN_STRESS_NEIGHBOUR, GOLDEN_STRESS_RESONANCE, GOLDEN_STRESSES
};
extern const char *const golden_stress_names[GOLDEN_STRESSES];

struct golden_run_options {
	const struct golden_machine *machine;
	const char *trace, *folder;
	uint64_t period;                /* 0: 1,009 */
	unsigned passes;                /* 0: as many as give 400,000 samples */
	uint64_t seed;                  /* of the samplers, and of when windows begin */
	uint64_t windows, window_length; /* as windows.h has them */
	enum golden_stress stress;
	bool bare;                      /* the engine alone: nobody listens, to see what listening costs */
	bool truth_only;                /* no samplers */
};
int golden_run(const struct golden_run_options *o, struct gus_error *err);

#endif
