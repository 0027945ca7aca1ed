/* SPDX-License-Identifier: MIT */
#include "attribution/statistics/ridge.h"

/* Elimination without pivots: the matrix is positive definite. */
bool gus_ridge_solve(double products[GUS_RIDGE_MOST][GUS_RIDGE_MOST + 1], size_t n, double penalty,
		     double x[GUS_RIDGE_MOST])
{
	for (size_t i = 0; i < n; i++)
		products[i][i] *= 1 + penalty;
	for (size_t i = 0; i < n; i++) {
		if (!(products[i][i] > 0))
			return false;
		for (size_t k = i + 1; k < n; k++)
			for (size_t c = n + 1; c-- > i;)
				products[k][c] -= products[i][c] * products[k][i] / products[i][i];
	}
	for (size_t i = n; i-- > 0;) {
		x[i] = products[i][n];
		for (size_t k = i + 1; k < n; k++)
			x[i] -= products[i][k] * x[k];
		x[i] /= products[i][i];
	}
	return true;
}
