/* SPDX-License-Identifier: MIT */
/* All fits one after the other, with how far they are, and what was wrong with the times that they rest on. */
#ifndef GUS_CLI_CALIBRATE_FITS_H
#define GUS_CLI_CALIBRATE_FITS_H

#include <stdbool.h>
#include <stdint.h>

struct gus_calibration;
struct gus_error;
struct gus_fit;
struct gus_progress;

/* Of how many microbenchmarks, and of these the ones whose times were in trouble. */
struct gus_calibrate_noise {
	uint64_t run, noisy, bistable, moved, beside;
	uint64_t troubled;              /* any of these but the last, of which none is anything else */
};

/* Above the first share of them figures are worth one degree of confidence less, above the second nothing. */
#define GUS_CALIBRATE_NOISY 0.15
#define GUS_CALIBRATE_TOO_NOISY 0.5

double gus_calibrate_troubled(const struct gus_calibrate_noise *n);

/* Above that share of microbenchmarks that another thread of the core was beside all the while, no parameter is worth
 * more than little confidence. */
#define GUS_CALIBRATE_BESIDE 0.25
double gus_calibrate_beside(const struct gus_calibrate_noise *n);

/* c's progress is set here. With instructions of a recording their forms are measured, and then our own list as well.
 * -1 with err: a host that fails us, or one that is too noisy. */
int gus_calibrate_fits(const struct gus_calibration *c, struct gus_fit *f, struct gus_calibrate_noise *noise,
		       struct gus_progress *progress, struct gus_error *err);

#endif
