/* SPDX-License-Identifier: MIT */
/* A round: microbenchmarks that are run in turns, and their times. Whoever fits fills one, runs it, reads the times
 * by the numbers that it got, and begins the next. */
#ifndef GUS_MODEL_CALIBRATION_ROUND_H
#define GUS_MODEL_CALIBRATION_ROUND_H

#include "base/alloc.h"
#include "model/calibration/host.h"

struct gus_calibration;
struct gus_micro;

/* Begins as { .calibration = c }; freed with gus_round_free. */
struct gus_round {
	const struct gus_calibration *calibration;
	struct gus_vec(struct gus_micro *) micros;
	struct gus_vec(struct gus_micro_time) times;    /* of the last run, by the number of the microbenchmark */
};

/* Takes it, and says which number it has. */
size_t gus_round_put(struct gus_round *r, struct gus_micro *m);
/* Runs all so many times, and some times more while there is one that was disturbed each time; of each the least
 * time is kept. -1 with err. */
int gus_round_run(struct gus_round *r, unsigned times, struct gus_error *err);
/* Cycles a pass of the one of that number. Infinite if it was always disturbed. */
double gus_round_cycles(const struct gus_round *r, size_t number);
/* No microbenchmarks, no times. */
void gus_round_clear(struct gus_round *r);
void gus_round_free(struct gus_round *r);

#endif
