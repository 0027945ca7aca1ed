/* SPDX-License-Identifier: MIT */
/* A product of matrices by tiles: `gemm PASSES`. 240 x 240 doubles, three times 450 KiB; a tile of 24 x 24 stays in L1
 * while it is used. */
#include "chance.h"

enum { N = 240, TILE = 24 };

typedef double matrix[N][N];

static void tile(matrix c, matrix a, matrix b, int i0, int j0, int k0)
{
	for (int i = i0; i < i0 + TILE; i++)
		for (int k = k0; k < k0 + TILE; k++) {
			double x = a[i][k];

			for (int j = j0; j < j0 + TILE; j++)
				c[i][j] += x * b[k][j];
		}
}

static void multiply(matrix c, matrix a, matrix b)
{
	for (int i = 0; i < N; i += TILE)
		for (int k = 0; k < N; k += TILE)
			for (int j = 0; j < N; j += TILE)
				tile(c, a, b, i, j, k);
}

int main(int argc, char **argv)
{
	matrix *m = chance_room(3, sizeof(*m));
	double trace = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			m[0][i][j] = chance_real() - 0.5;
			m[1][i][j] = chance_real() - 0.5;
		}
	for (unsigned left = chance_passes(argc, argv); left; left--)
		multiply(m[2], m[0], m[1]);
	for (int i = 0; i < N; i++)
		trace += m[2][i][i];
	printf("gemm %.12g\n", trace);
	free(m);
	return 0;
}
