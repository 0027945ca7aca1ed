/* SPDX-License-Identifier: MIT */
/* Linear algebra, as one writes it down. Compiled several times: KERNEL_WAY says how. */
#include "kernels.h"

enum { N = KERNEL_N, S = KERNEL_SIDE };

static uint64_t bits(double v)
{
	return (uint64_t)(int64_t)v;
}

KERNEL(dot)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		sum += room->x[i] * room->y[i];
	return bits(sum);
}

KERNEL(axpy)
{
	const double *restrict x = room->x;
	double *restrict z = room->z, by = 1e-9;

	for (int i = 0; i < N; i++)
		z[i] += by * x[i];
	return 0;
}

KERNEL(axpy_float)
{
	const float *restrict f = room->f;
	float *restrict g = room->g, by = 1e-9f;

	for (int i = 0; i < N; i++)
		g[i] += by * f[i];
	return 0;
}

KERNEL(triad)
{
	for (int i = 0; i < N; i++)
		room->z[i] = room->x[i] + 3 * room->y[i];
	return 0;
}

KERNEL(gemv)
{
	for (int i = 0; i < S; i++) {
		double sum = 0;

		for (int k = 0; k < S; k++)
			sum += room->a[i * S + k] * room->x[k];
		room->z[i] = sum;
	}
	return 0;
}

/* The transposed matrix by a vector, by rows. */
KERNEL(gemv_t)
{
	double *restrict z = room->z;

	for (int i = 0; i < S; i++)
		z[i] = 0;
	for (int k = 0; k < S; k++)
		for (int i = 0; i < S; i++)
			z[i] += room->a[k * S + i] * room->x[k];
	return 0;
}

KERNEL(gemm_dots)
{
	for (int i = 0; i < S; i++)
		for (int j = 0; j < S; j++) {
			double sum = 0;

			for (int k = 0; k < S; k++)
				sum += room->a[i * S + k] * room->b[k * S + j];
			room->c[i * S + j] = sum;
		}
	return 0;
}

KERNEL(gemm_rows)
{
	double *restrict c = room->c;

	for (int i = 0; i < S; i++) {
		for (int j = 0; j < S; j++)
			c[i * S + j] = 0;
		for (int k = 0; k < S; k++)
			for (int j = 0; j < S; j++)
				c[i * S + j] += room->a[i * S + k] * room->b[k * S + j];
	}
	return 0;
}

/* Four by four of the result are held in registers. */
KERNEL(gemm_tiles)
{
	for (int i = 0; i < S; i += 4)
		for (int j = 0; j < S; j += 4) {
			double tile[4][4] = { { 0 } };

			for (int k = 0; k < S; k++)
				for (int r = 0; r < 4; r++)
					for (int q = 0; q < 4; q++)
						tile[r][q] += room->a[(i + r) * S + k] * room->b[k * S + j + q];
			for (int r = 0; r < 4; r++)
				for (int q = 0; q < 4; q++)
					room->c[(i + r) * S + j + q] = tile[r][q];
		}
	return 0;
}

/* A lower triangle solved forwards. */
KERNEL(trsv)
{
	for (int i = 0; i < S; i++) {
		double sum = room->x[i];

		for (int k = 0; k < i; k++)
			sum -= room->a[i * S + k] * room->z[k];
		room->z[i] = sum / room->a[i * S + i];
	}
	return 0;
}

KERNEL(lu)
{
	double *c = room->c;

	for (int i = 0; i < S * S; i++)
		c[i] = room->a[i];
	for (int k = 0; k < S; k++)
		for (int i = k + 1; i < S; i++) {
			double by = c[i * S + k] /= c[k * S + k];

			for (int j = k + 1; j < S; j++)
				c[i * S + j] -= by * c[k * S + j];
		}
	return 0;
}

KERNEL(norms)
{
	double most = 0, sum = 0;

	for (int i = 0; i < N; i++) {
		double v = __builtin_fabs(room->x[i]);

		most = v > most ? v : most;
		sum += v;
	}
	return bits(most + sum);
}

KERNEL(transpose)
{
	for (int i = 0; i < S; i++)
		for (int j = 0; j < S; j++)
			room->c[j * S + i] = room->a[i * S + j];
	return 0;
}

#define TABLE(way) KERNEL_PASTE_TABLE(kernels_linear, way)
#define KERNEL_PASTE_TABLE(name, way) name ## way
const struct kernel TABLE(KERNEL_WAY)[] = {
	KERNEL_ROW(dot, N, "product"),
	KERNEL_ROW(axpy, N, "element"),
	KERNEL_ROW(axpy_float, N, "element"),
	KERNEL_ROW(triad, N, "element"),
	KERNEL_ROW(gemv, S * S, "product"),
	KERNEL_ROW(gemv_t, S * S, "product"),
	KERNEL_ROW(gemm_dots, S * S * S, "product"),
	KERNEL_ROW(gemm_rows, S * S * S, "product"),
	KERNEL_ROW(gemm_tiles, S * S * S, "product"),
	KERNEL_ROW(trsv, S * (S - 1) / 2, "product"),
	KERNEL_ROW(lu, S * (S - 1) * (2 * S - 1) / 6, "product"),
	KERNEL_ROW(norms, N, "element"),
	KERNEL_ROW(transpose, S * S, "element"),
	{ NULL },
};
