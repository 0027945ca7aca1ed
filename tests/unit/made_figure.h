/* SPDX-License-Identifier: MIT */
/* Figures for tests of comparisons, and how a test reads one. */
#ifndef GUS_TESTS_UNIT_MADE_FIGURE_H
#define GUS_TESTS_UNIT_MADE_FIGURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/compared/figure.h"

static inline struct gus_figure figure(double value, double low, double high)
{
	return (struct gus_figure){ value, { low, high } };
}

static inline void near(double is, double want, double by)
{
	if (!(fabs(is - want) <= by))
		fail_msg("%.9g is not %.9g", is, want);
}

#endif
