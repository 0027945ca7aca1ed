/* SPDX-License-Identifier: MIT */
#include "attribution/compared/knobs.h"

#include <math.h>

/* The part of a region's cycles that scales with a knob; 0 if it is not more than chance. */
static double part_of(const struct gus_compared_lanes *r, int knob, double weight)
{
	double nominal = r->cycles[0], with = r->cycles[knob + 1], part = (nominal - with) / (1 - 1 / weight);
	double error = r->errors ? 1.96 * r->errors[knob + 1] : 0;

	return with > 0 && nominal / with - 1 > error ? part : 0;
}

/* The factor that makes 1/x - 1 that much; 0 if there is none that is near enough. */
static double factor_of(double inverse)
{
	double x = inverse > -1 ? 1 / (1 + inverse) : 0;

	return x >= 1 / GUS_COMPARED_FACTOR && x <= GUS_COMPARED_FACTOR ? x : 0;
}

size_t gus_compared_knobs_find(const struct gus_compared_lanes *r, int knobs, const unsigned char *there, double weight,
			       struct gus_compared_knob out[GUS_COMPARED_KNOBS])
{
	size_t n = 0;

	for (int i = 0; i < knobs; i++) {
		double part = there[i] ? part_of(r, i, weight) : 0;
		double x = part > 0 ? factor_of((r->measured - r->cycles[0]) / part) : 0;
		size_t k;

		if (!(x > 0))
			continue;
		k = n < GUS_COMPARED_KNOBS ? n++ : GUS_COMPARED_KNOBS;
		for (; k && fabs(log(x)) < fabs(log(out[k - 1].factor)); k--)
			if (k < GUS_COMPARED_KNOBS)
				out[k] = out[k - 1];
		if (k < GUS_COMPARED_KNOBS)
			out[k] = (struct gus_compared_knob){ i, x };
	}
	return n;
}

/* Least squares of one unknown, 1/x - 1. What its bounds cut off it does not explain. */
static struct gus_compared_common fit(const struct gus_compared_lanes *regions, size_t n, int knob, double weight)
{
	double product = 0, square = 0, before = 0, after = 0, inverse;

	for (size_t i = 0; i < n; i++) {
		double part = part_of(&regions[i], knob, weight) / regions[i].error;
		double miss = (regions[i].measured - regions[i].cycles[0]) / regions[i].error;

		product += part * miss;
		square += part * part;
	}
	if (!(square > 0))
		return (struct gus_compared_common){ -1, 0, 0 };
	inverse = fmin(fmax(product / square, 1 / GUS_COMPARED_FACTOR - 1), GUS_COMPARED_FACTOR - 1);
	for (size_t i = 0; i < n; i++) {
		double part = part_of(&regions[i], knob, weight) / regions[i].error;
		double miss = (regions[i].measured - regions[i].cycles[0]) / regions[i].error;

		before += miss * miss;
		after += (miss - part * inverse) * (miss - part * inverse);
	}
	return (struct gus_compared_common){ knob, 1 / (1 + inverse), before > 0 ? 1 - after / before : 0 };
}

struct gus_compared_common gus_compared_knobs_common(const struct gus_compared_lanes *regions, size_t n, int knobs,
						     const unsigned char *there, double weight)
{
	struct gus_compared_common best = { -1, 0, 0 };

	for (int i = 0; i < knobs; i++) {
		struct gus_compared_common one = there[i] ? fit(regions, n, i, weight) : best;

		if (one.explained > best.explained)
			best = one;
	}
	return best;
}
