/* SPDX-License-Identifier: MIT */
/* Three kernels that are said to be balanced, each in a file of its own as tests/accuracy/balanced compiles it. */
#ifndef GUS_TESTS_THREE_H
#define GUS_TESTS_THREE_H

void heat_3d(int ni, int nj, int nk, const double a[ni][nj][nk], double b[restrict ni][nj][nk]);
void doitgen(int nr, int nq, int np, const double a[nr][nq][np], const double c[np][np],
	     double sum[restrict nr][nq][np]);
void jacobi_1d(int n, const double a[n], double b[restrict n]);

#endif
