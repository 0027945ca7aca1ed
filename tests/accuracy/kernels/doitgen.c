/* SPDX-License-Identifier: MIT */
/* A tensor by a matrix: sum[r][q][p] = a[r][q][s] * c[s][p], summed over s. */
#include "three.h"

void doitgen(int nr, int nq, int np, const double a[nr][nq][np], const double c[np][np],
	     double sum[restrict nr][nq][np])
{
	for (int r = 0; r < nr; r++)
		for (int q = 0; q < nq; q++)
			for (int s = 0; s < np; s++)
				for (int p = 0; p < np; p++)
					sum[r][q][p] += a[r][q][s] * c[s][p];
}
