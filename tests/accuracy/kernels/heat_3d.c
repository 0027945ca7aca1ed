/* SPDX-License-Identifier: MIT */
/* One step of the heat equation on a grid: to each point an eighth of its second difference along each axis is
 * added. */
#include "three.h"

void heat_3d(int ni, int nj, int nk, const double a[ni][nj][nk], double b[restrict ni][nj][nk])
{
	for (int i = 1; i < ni - 1; i++)
		for (int j = 1; j < nj - 1; j++)
			for (int k = 1; k < nk - 1; k++)
				b[i][j][k] = a[i][j][k] + (a[i - 1][j][k] - 2 * a[i][j][k] + a[i + 1][j][k]) / 8 +
					(a[i][j - 1][k] - 2 * a[i][j][k] + a[i][j + 1][k]) / 8 +
					(a[i][j][k - 1] - 2 * a[i][j][k] + a[i][j][k + 1]) / 8;
}
