/* SPDX-License-Identifier: MIT */
#include "model/calibration/stairs.h"

#include <math.h>
#include <stdbool.h>

/* Stairs that are so much nearer than all others are told from them. */
static const double SURE = 0.3;

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

/* The line through the times (least squares). */
static void fit_slope(const double *times, size_t n, struct gus_stairs *s)
{
	double middle = (double)(n - 1) / 2, mean = 0, squares = 0, product = 0, left = 0, slope, error;

	for (size_t i = 0; i < n; i++)
		mean += times[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		squares += ((double)i - middle) * ((double)i - middle);
		product += ((double)i - middle) * (times[i] - mean);
	}
	slope = product / squares;
	for (size_t i = 0; i < n; i++)
		left += pow(times[i] - mean - slope * ((double)i - middle), 2);
	error = n > 2 ? 3 * sqrt(left / (double)(n - 2) / squares) : INFINITY;
	s->low = 1 / (slope + error);
	s->high = slope > error ? 1 / (slope - error) : INFINITY;
}

static void fit(const double *times, size_t n, unsigned most, struct gus_stairs *s)
{
	*s = (struct gus_stairs){ .residual = INFINITY, .next = INFINITY };
	fit_slope(times, n, s);
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

static bool is_sure(const struct gus_stairs *s)
{
	return s->residual < SURE * s->next;
}

void gus_stairs_fit(const double *times, size_t n, unsigned most, struct gus_stairs *s)
{
	struct gus_stairs half, whole;

	fit(times, n, most, &whole);
	*s = whole;
	for (size_t from = 0; n / 2 > most && from < 2; from++) {
		fit(times + from * (n - n / 2), n / 2, most, &half);
		if (is_sure(&half) != is_sure(s) ? is_sure(&half) : is_sure(s) ? half.width > s->width :
		    half.next - half.residual > s->next - s->residual)
			*s = half;
	}
	if (!is_sure(s)) { /* a half is less steep, or steeper, by chance more than both together */
		s->low = whole.low;
		s->high = whole.high;
	}
}
