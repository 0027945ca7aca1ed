/* SPDX-License-Identifier: MIT */
/* One step of Jacobi's method on a line: each point becomes the mean of itself and its neighbours. */
#include "three.h"

void jacobi_1d(int n, const double a[n], double b[restrict n])
{
	for (int i = 1; i < n - 1; i++)
		b[i] = (a[i - 1] + a[i] + a[i + 1]) * (1.0 / 3);
}
