/* SPDX-License-Identifier: MIT */
/* Walks over lists in memory: each place holds the address of the next, so that an access begins when the one before it
 * is done, and what a pass takes is what its accesses cost. */
#ifndef GUS_MODEL_CALIBRATION_CHASE_H
#define GUS_MODEL_CALIBRATION_CHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/calibration/micro.h"

struct gus_calibration_host;
struct gus_error;

enum { GUS_CHASE_LISTS = 12 };          /* as many as there are registers */
enum { GUS_CHASE_MOST = 32 };           /* microbenchmarks that are run by turns */

struct gus_chase {
	struct gus_micro_list list[GUS_CHASE_LISTS];
	unsigned lists;                 /* walked beside each other */
	unsigned steps;                 /* of each list in a pass: so many instructions load from it */
	bool huge;
	/* A run goes on where the one before it ended, so that it need not be once around: of lists of which nothing
	 * is there any more when it is walked again. One list. */
	bool resumed;
	unsigned beside;                /* instructions without effect behind each step: simulating them is cheap */
};

/* One list, of places that lie so far apart, in a random order. */
struct gus_chase gus_chase_of(uint64_t places, uint64_t distance, bool huge);
/* Has n microbenchmarks run, GUS_CHASE_MOST at most, and those again of which no sample was left undisturbed; frees
 * them. Cycles a pass of each: of what stays disturbed they are too many, at worst INFINITY, and no NAN. -1 with err,
 * and NANs: one did not come back. */
int gus_chase_run(const struct gus_calibration_host *host, struct gus_micro *const *micros, unsigned n, double *cycles,
		  struct gus_error *err);
/* Cycles for a step of all lists. -1 with err. */
int gus_chase_time(const struct gus_calibration_host *host, const struct gus_chase *chase, double *cycles,
		   struct gus_error *err);
/* The same of several, by turns. */
int gus_chase_times(const struct gus_calibration_host *host, const struct gus_chase *chases, unsigned n, double *cycles,
		    struct gus_error *err);

#endif
