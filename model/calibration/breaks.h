/* SPDX-License-Identifier: MIT */
/* Where a function that is flat and then is not has its break: cycles by a number of instructions, which a buffer
 * of the machine holds up to its size. Pure search: it knows nothing of what it asks for, only that each answer
 * costs. */
#ifndef GUS_MODEL_CALIBRATION_BREAKS_H
#define GUS_MODEL_CALIBRATION_BREAKS_H

#include <stdbool.h>
#include <stddef.h>

struct gus_error;

/* What is asked: the values at some places, all at once so that what disturbs one disturbs all. -1 with err. */
struct gus_break_function {
	int (*at)(void *context, const unsigned *places, size_t n, double *values, struct gus_error *err);
	void *context;
	unsigned low, high;     /* where it is sought, both included; it is flat at low */
	unsigned near;          /* where it is expected; 0: anywhere */
	double least;           /* what is less above the flat part is none: in the function's unit */
	unsigned apart;         /* how far apart the ends of the bracket may stay; 0: not at all */
	unsigned again;         /* how often places near the break are asked once more */
};

struct gus_break {
	bool found;             /* else it is flat up to high ... */
	bool steep;             /* ... or nowhere */
	bool sharp;             /* seen again, at the same place, when all around was asked anew */
	unsigned flat, broken;  /* the last place of the flat part, and the first behind: apart where it is not sharp */
	double level;           /* of the flat part */
	double step;            /* how much higher it is right behind the break */
	double end;             /* the value at `high` */
	double noise;           /* how far values of the flat part are from its level, at most */
};

/* Coarse steps, then finer ones around the first that is higher, then all places near it once more. -1 with err. */
int gus_break_find(const struct gus_break_function *f, struct gus_break *b, struct gus_error *err);

#endif
