/* SPDX-License-Identifier: MIT */
#include "model/calibration/shapes.h"

#include <math.h>
#include <stdio.h>

static const double APART = 0.1;        /* as a part of the value */
static const double A_CYCLE = 1.05, HALF_A_CYCLE = 0.5; /* the first with what a clock is off */

void gus_shapes_add(struct gus_shapes *s, const char *name, double cycles)
{
	if (!isfinite(cycles))
		return;
	if (!s->n || cycles < s->low) {
		s->low = cycles;
		s->lowest = name;
	}
	if (!s->n || cycles > s->high) {
		s->high = cycles;
		s->highest = name;
	}
	s->n++;
}

double gus_shapes_value(const struct gus_shapes *s)
{
	if (!s->n)
		return NAN;
	return s->low > 0 ? 2 * s->low * s->high / (s->low + s->high) : (s->low + s->high) / 2;
}

enum gus_confidence gus_shapes_confidence(const struct gus_shapes *s)
{
	double apart = s->high - s->low;

	if (!s->n)
		return GUS_CONFIDENCE_NONE;
	if (apart > A_CYCLE && apart > APART * gus_shapes_value(s))
		return GUS_CONFIDENCE_LOW;
	return apart < HALF_A_CYCLE ? GUS_CONFIDENCE_HIGH : GUS_CONFIDENCE_MEDIUM;
}

void gus_shapes_say(const struct gus_shapes *s, char *why, size_t size)
{
	if (s->n < 2)
		snprintf(why, size, "%.2f by a %s", s->low, s->lowest);
	else if (s->highest == s->lowest)
		snprintf(why, size, "%.2f by a %s, and by %u others the same", s->low, s->lowest, s->n - 1);
	else
		snprintf(why, size, "%.2f by a %s, %.2f by a %s", s->low, s->lowest, s->high, s->highest);
}
