/* SPDX-License-Identifier: MIT */
#include "attribution/statistics/series.h"

#include <math.h>

#define Z95 1.959963984540054

double gus_student_975(size_t df)
{
	/* To 1 .. 10 degrees of freedom, from the usual tables; beyond, the expansion of Cornish and Fisher is good to
	 * 1e-4. */
	static const double exact[] = { 12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216,
					2.22814 };
	double z = Z95, n = (double)df, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	if (df <= sizeof(exact) / sizeof(*exact))
		return exact[df - 1];
	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

struct gus_summary gus_series_summary(const struct gus_series *series)
{
	struct gus_summary s = { .n = series->n };
	double sum = 0, squares = 0, half;

	if (!series->n)
		return s;
	s.min = s.max = series->v[0];
	for (size_t i = 0; i < series->n; i++) {
		sum += series->v[i];
		s.min = fmin(s.min, series->v[i]);
		s.max = fmax(s.max, series->v[i]);
	}
	s.mean = sum / (double)series->n;
	s.ci95 = (struct gus_interval){ s.mean, s.mean };
	if (series->n < 2)
		return s;
	for (size_t i = 0; i < series->n; i++)
		squares += (series->v[i] - s.mean) * (series->v[i] - s.mean);
	half = gus_student_975(series->n - 1) * sqrt(squares / (double)(series->n - 1) / (double)series->n);
	s.ci95 = (struct gus_interval){ s.mean - half, s.mean + half };
	return s;
}
