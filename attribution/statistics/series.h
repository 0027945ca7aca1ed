/* SPDX-License-Identifier: MIT */
/* The same measurement made several times: its mean and how well that is known. */
#ifndef GUS_ATTRIBUTION_STATISTICS_SERIES_H
#define GUS_ATTRIBUTION_STATISTICS_SERIES_H

#include <stddef.h>

#include "attribution/statistics/interval.h"
#include "base/alloc.h"

struct gus_series;

struct gus_series gus_vec(double); /* one value a run */

struct gus_summary {
	size_t n;
	double mean, min, max;
	struct gus_interval ci95; /* of the mean, by Student's t; from 2 runs on, else both are the mean */
};

/* All zero if there are no values. */
struct gus_summary gus_series_summary(const struct gus_series *series);

/* The 97.5 % point of Student's t; df is at least 1. */
double gus_student_975(size_t df);

#endif
