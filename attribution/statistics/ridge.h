/* SPDX-License-Identifier: MIT */
/* Ridge regression (Hoerl and Kennard, Technometrics 12, 1970) of few unknowns: least squares in which what always
 * comes together shares what it explains, instead of taking large parts of opposite sign. */
#ifndef GUS_ATTRIBUTION_STATISTICS_RIDGE_H
#define GUS_ATTRIBUTION_STATISTICS_RIDGE_H

#include <stdbool.h>
#include <stddef.h>

enum { GUS_RIDGE_MOST = 8 };

/* Products of the n columns with each other and, in column n, with what is to be explained; they are used up. penalty:
 * in parts of a column's own product. False if a column is 0. */
bool gus_ridge_solve(double products[GUS_RIDGE_MOST][GUS_RIDGE_MOST + 1], size_t n, double penalty,
		     double x[GUS_RIDGE_MOST]);

#endif
