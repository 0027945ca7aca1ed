/* SPDX-License-Identifier: MIT */
#include "attribution/statistics/interval.h"

#include <math.h>

#define Z95 1.959963984540054 /* the normal distribution's 97.5 % point */

struct gus_interval gus_interval_share(double p, double n)
{
	double z2 = Z95 * Z95, centre, half;

	if (!(n > 0))
		return (struct gus_interval){ 0, 1 };
	centre = (p + z2 / (2 * n)) / (1 + z2 / n);
	half = Z95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	/* At 0 and 1 the bounds are exact, but their rounding is not. */
	return (struct gus_interval){ fmax(0, fmin(p, centre - half)), fmin(1, fmax(p, centre + half)) };
}

struct gus_interval gus_interval_deviation(double p, double deviation, double samples)
{
	double n;

	p = fmin(p, 1);
	n = deviation > 0 ? p * (1 - p) / (deviation * deviation) : samples;
	return gus_interval_share(p, p >= 1 || n > samples ? samples : n);
}

struct gus_interval gus_interval_widen(struct gus_interval sampled, double missed)
{
	return (struct gus_interval){ sampled.low * (1 - missed), fmin(1, sampled.high * (1 - missed) + missed) };
}
