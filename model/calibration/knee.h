/* SPDX-License-Identifier: MIT */
/* How much fits: the curve of what an access costs against how many places are walked stays at what the level costs,
 * and
 * then leaves it.
 *
 *	cost                    ________ beyond
 *	                     __/
 *	half - - - - - - - -/
 *	                  _/
 *	level ___________/
 *	                fits    half     places
 *
 * With sets that are filled evenly and by the age of use (LRU) it leaves at the size and is all up within one way of
 * it.
 * Other replacement keeps some of what is walked and has it leave at the size, too, but rise slowly. Where pages of
 * memory lie anywhere, some sets are full before others: the curve leaves early, and half of what is walked misses when
 * there are about as many places as the level has. */
#ifndef GUS_MODEL_CALIBRATION_KNEE_H
#define GUS_MODEL_CALIBRATION_KNEE_H

#include <stdbool.h>
#include <stdint.h>

struct gus_error;

/* What is asked for. cost: of one access where so many places are walked; -1 with err. */
struct gus_knee_search {
	int (*cost)(void *context, uint64_t places, double *cycles, struct gus_error *err);
	void *context;
	uint64_t from, most;    /* places: that fit for certain; and more than which there is no memory for */
	double level;           /* what an access costs in the level; 0: what it costs with `from` */
	double tolerance;       /* cycles above it that are noise yet */
	unsigned asked;         /* how often, before it is believed that something does not fit; 0: once */
	unsigned fineness;      /* fits is found to a part of so many of itself; 0: exactly */
};

struct gus_knee {
	double level, beyond;   /* cycles; beyond: at twice of what fits, or as much as can be walked */
	uint64_t fits, above;   /* the most that was seen to fit,
		and the fewest that did not; above 0: there is no edge */
	double half;            /* places, where half of the way to `beyond` is done */
	bool sharp;             /* half is near to fits: sets are filled evenly */
};
int gus_knee_find(const struct gus_knee_search *s, struct gus_knee *e, struct gus_error *err);

/* The size that is likely meant, as CPUs have sizes: a small odd number (up to `odd`) times a power of two, that is not
 * farther off than a part `within`. 0: none. */
double gus_knee_likely(double size, unsigned odd, double within);
/* What an edge says of the size: of sharp ones the likely one just at or above what fits, else fits itself; of others
 * the likely one about half. low and high: where it lies. */
double gus_knee_size(const struct gus_knee *e, double *low, double *high);

#endif
