/* SPDX-License-Identifier: MIT */
#include "model/calibration/stairs.h"

#include <math.h>

/* Stairs of that width whose first step is so many short: where they begin in height is the mean of what is left. */
static double distance(const double *times, size_t n, unsigned width, unsigned shorter)
{
	double base = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		base += times[i] - (double)((i + shorter) / width);
	base /= (double)n;
	for (size_t i = 0; i < n; i++)
		sum += fabs(times[i] - (double)((i + shorter) / width) - base);
	return sum / (double)n;
}

static void fit(const double *times, size_t n, unsigned most, struct gus_stairs *s)
{
	*s = (struct gus_stairs){ .residual = INFINITY, .next = INFINITY };
	for (unsigned width = 1; width <= most; width++) {
		double best = INFINITY;

		for (unsigned shorter = 0; shorter < width; shorter++)
			best = fmin(best, distance(times, n, width, shorter));
		if (best < s->residual) {
			s->next = s->residual;
			s->residual = best;
			s->width = width;
		} else {
			s->next = fmin(s->next, best);
		}
	}
}

void gus_stairs_fit(const double *times, size_t n, unsigned most, struct gus_stairs *s)
{
	struct gus_stairs half;

	fit(times, n, most, s);
	for (size_t from = 0; n / 2 > most && from < 2; from++) {
		fit(times + from * (n - n / 2), n / 2, most, &half);
		if (half.next - half.residual > s->next - s->residual)
			*s = half;
	}
}
