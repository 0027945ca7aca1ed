/* SPDX-License-Identifier: MIT */
/* What attribution makes of the recordings of a golden run (tiers.h), held against its truth. It is given samples, a
 * trace of the program or windows of it, and a table: of the machine's traits and predictor it knows nothing. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_ATTRIBUTE_H
#define GUS_TESTS_ACCURACY_GOLDEN_ATTRIBUTE_H

#include <stdbool.h>
#include <stdint.h>

struct gus_error;

struct golden_attribute_options {
	const char *folder, *trace;     /* of the run; that it was of */
	const char *uarch;              /* NULL: the folder's machine.uarch */
	uint64_t seed;                  /* by which samples are drawn */
	const char *only;               /* a tier; NULL: all */
	const char *variant;            /* of tiers.h; NULL: as by default */
	uint64_t samples;               /* of the sizes this one; 0: all */
	uint64_t worst;                 /* cells that are farthest off to print */
	bool intervals;                 /* how right these are (told.h) is printed instead */
};
/* Prints, for each sampler and number of samples, E of heights as they are, and as they were corrected. */
int golden_attribute(const struct golden_attribute_options *o, struct gus_error *err);

#endif
