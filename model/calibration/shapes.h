/* SPDX-License-Identifier: MIT */
/* Several shapes of code that one parameter is to explain. Hardware may make more of a difference between them than the
 * model does: then no value is right for all, the best is the one whose worst error is least, and how far they are
 * apart says how sure it is. Pure. */
#ifndef GUS_MODEL_CALIBRATION_SHAPES_H
#define GUS_MODEL_CALIBRATION_SHAPES_H

#include <stddef.h>

#include "model/calibration/fitted.h"

/* Begins as { .n = 0 }. */
struct gus_shapes {
	unsigned n;
	double low, high;                       /* cycles: the least and the most that a shape wants ... */
	const char *lowest, *highest;           /* ... and which these are; of the caller */
};

/* A shape would be explained by so many cycles; one that has no time is none. */
void gus_shapes_add(struct gus_shapes *s, const char *name, double cycles);
/* What is as far above the least as it is below the most, as a part of each. NAN without shapes. */
double gus_shapes_value(const struct gus_shapes *s);
/* How sure that can be: low where the shapes are apart by more than a tenth and more than a cycle, which is what
 * rounding makes; high where they are no half of one. */
enum gus_confidence gus_shapes_confidence(const struct gus_shapes *s);
/* A phrase: which shape says what. */
void gus_shapes_say(const struct gus_shapes *s, char *why, size_t size);

#endif
