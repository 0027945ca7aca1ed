/* SPDX-License-Identifier: MIT */
/* What attribution (joint.h, spread.h) makes of the recordings of a golden run, held against its truth. It is given the
 * samples, a trace of the program, and a table: of the machine's traits and predictor it knows nothing. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_ATTRIBUTE_H
#define GUS_TESTS_ACCURACY_GOLDEN_ATTRIBUTE_H

#include <stdint.h>

struct gus_error;

struct golden_attribute_options {
	const char *folder, *trace;     /* of the run; that it was of */
	const char *uarch;              /* NULL: the folder's machine.uarch */
	uint64_t seed;                  /* by which samples are drawn */
	uint64_t instructions;          /* of the trace that are replayed; 0: all */
	unsigned steps;                 /* 0: as it is by default */
};
/* Prints, for each sampler and number of samples, E as it is and as it was corrected. */
int golden_attribute(const struct golden_attribute_options *o, struct gus_error *err);

#endif
