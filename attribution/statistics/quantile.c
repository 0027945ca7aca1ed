/* SPDX-License-Identifier: MIT */
#include "attribution/statistics/quantile.h"

#include <math.h>

#define TAIL 0.025            /* of either side */
#define Z95 1.959963984540054 /* the normal distribution's 97.5 % point */
#define EXACT_UNTIL 1000      /* from there on the normal distribution is as good, rounded outwards */

uint64_t gus_quantile_rank(uint64_t n, unsigned percent)
{
	/* In parts, as the product has not always room. */
	return n / 100 * percent + (n % 100 * percent + 99) / 100;
}

/* How likely k of n are at most the quantile. */
static double likelihood(double n, double k, double q)
{
	return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(q) + (n - k) * log1p(-q));
}

static struct gus_quantile_bounds exact(uint64_t n, double q)
{
	struct gus_quantile_bounds bounds = { 0 };
	double below = 0, above = 0;

	/* The highest value of which fewer are at most the quantile in no more than TAIL of all cases, */
	for (uint64_t k = 0; k < n && (below += likelihood((double)n, (double)k, q)) <= TAIL; k++)
		bounds.low = k + 1;
	/* and the lowest of which as many or more are. */
	for (uint64_t k = n; k > 0 && (above += likelihood((double)n, (double)k, q)) <= TAIL; k--)
		bounds.high = k;
	return bounds;
}

struct gus_quantile_bounds gus_quantile_bounds(uint64_t n, unsigned percent)
{
	double q = (double)percent / 100, middle = (double)n * q, half = Z95 * sqrt((double)n * q * (1 - q));

	if (n <= EXACT_UNTIL)
		return exact(n, q);
	return (struct gus_quantile_bounds){ (uint64_t)floor(middle - half), (uint64_t)ceil(middle + half) + 1 };
}
