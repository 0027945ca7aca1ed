/* SPDX-License-Identifier: MIT */
/* What would really bring time back: on a golden machine the resources of a node of the tree are really so many times
 * as much, and the program is run again. Beside it what gusprof explain is given: recordings of the machine as it is.
 *
 *	truth               a line each, fields apart by tabs:
 *	                    region NAME
 *	                    slots NODE SHARE            of that region's, as the core engine knows them
 *	                    cycles NODE CYCLES          of the region, on the machine with more of the node's
 *	                                                resources; of `none`: as it is
 *	                    twice NODE CYCLES           the same with twice as much, by which causes are told apart
 *	                    cause NODE                  which of them it is by the rule of verdicts; `none`: none
 *	                    and of all that was run the same behind `region` without a name
 *	pebs, ibs, spe      recordings, with windows
 *	(and what output.h has, in the folder `run`) */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_CAUSAL_H
#define GUS_TESTS_ACCURACY_GOLDEN_CAUSAL_H

#include <stdbool.h>
#include <stdint.h>

struct golden_machine;
struct gus_error;

struct golden_causal_options {
	const struct golden_machine *machine;
	const char *trace, *folder;
	/* Instructions that count, the last ones of the trace; those before warm caches and predictors, as a recording
	 * begins in the midst of a program. */
	uint64_t length;
	uint64_t windows, window_length; /* as windows.h has them */
	uint64_t seed, period;          /* of the samplers; 0: 1,009 */
	unsigned passes;
	bool truth_only;                /* no recordings */
};
int golden_causal(const struct golden_causal_options *o, struct gus_error *err);

#endif
