/* SPDX-License-Identifier: MIT */
/* Fields in time: the same instants with the loops the other way round, along diagonals where points wait for each
 * other, and lines of the heat equation from their other end. */
#include <stdlib.h>

#include "../suite.h"

/* A line's equations solved from the last to the first. The work has room for two lines. */
static void diffuse_line(double *to, const double *from, double *work, long n, long step, long across)
{
	const double a = 0.4;
	double *by = work, *sum = work + n;

	by[n - 1] = 0;
	sum[n - 1] = 1;
	for (long j = n - 2; j > 0; j--) {
		const double *at = from + j * step;
		double right = at[0] + a * (at[-across] - 2 * at[0] + at[across]);
		double diagonal = 1 + 2 * a - a * by[j + 1];

		by[j] = a / diagonal;
		sum[j] = (right + a * sum[j + 1]) / diagonal;
	}
	to[0] = to[(n - 1) * step] = 1;
	for (long j = 1; j < n - 1; j++)
		to[j * step] = by[j] * to[(j - 1) * step] + sum[j];
}

SUITE(adi)
{
	double *u = room->array[0], *half = room->array[1];
	long n = room->n;
	double *work = malloc(2 * (size_t)n * sizeof(*work));

	if (!work)
		abort();
	for (long i = 0; i < n; i++)
		half[i] = half[(n - 1) * n + i] = half[i * n] = half[i * n + n - 1] = 1;
	for (long i = n - 2; i > 0; i--)
		diffuse_line(half + i * n, u + i * n, work, n, 1, n);
	for (long i = n - 2; i > 0; i--)
		diffuse_line(u + i, half + i, work, n, n, 1);
	free(work);
	return 0;
}

SUITE(fdtd_2d)
{
	double *ex = room->array[0], *ey = room->array[1], *hz = room->array[2], *wave = room->array[3];
	long n = room->n;

	for (long j = n - 1; j >= 0; j--)
		for (long i = n - 1; i >= 0; i--) {
			ey[i * n + j] = i ? ey[i * n + j] - (hz[i * n + j] - hz[(i - 1) * n + j]) / 2 : wave[j];
			ex[i * n + j] -= j ? (hz[i * n + j] - hz[i * n + j - 1]) / 2 : 0;
		}
	for (long j = n - 2; j >= 0; j--)
		for (long i = n - 2; i >= 0; i--)
			hz[i * n + j] -= 0.7 * ((ex[i * n + j + 1] - ex[i * n + j]) +
						(ey[(i + 1) * n + j] - ey[i * n + j]));
	return 0;
}

static void heat(double *to, const double *from, long n)
{
	for (long k = n - 2; k > 0; k--)
		for (long j = n - 2; j > 0; j--)
			for (long i = n - 2; i > 0; i--) {
				const double *at = from + (i * n + j) * n + k;
				double around = at[1] + at[-1] + at[n] + at[-n] + at[n * n] + at[-n * n];

				to[(i * n + j) * n + k] = (around + 2 * at[0]) / 8;
			}
}

SUITE(heat_3d)
{
	heat(room->array[1], room->array[0], room->n);
	heat(room->array[0], room->array[1], room->n);
	return 0;
}

SUITE(jacobi_1d)
{
	double *a = room->array[0], *b = room->array[1];
	long n = room->n;

	for (long i = n - 2; i > 0; i--)
		b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
	for (long i = n - 2; i > 0; i--)
		a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
	return 0;
}

static void average(double *to, const double *from, long n)
{
	for (long j = n - 2; j > 0; j--)
		for (long i = n - 2; i > 0; i--) {
			const double *at = from + i * n + j;

			to[i * n + j] = (at[n] + at[-n] + at[1] + at[-1] + at[0]) / 5;
		}
}

SUITE(jacobi_2d)
{
	average(room->array[1], room->array[0], room->n);
	average(room->array[0], room->array[1], room->n);
	return 0;
}

/* A point waits for the one before it and for three of the row before, so all points of the same 2 i + j are free. */
SUITE(seidel_2d)
{
	double *a = room->array[0];
	long n = room->n;

	for (long diagonal = 3; diagonal <= 3 * (n - 2); diagonal++)
		for (long i = 1; i < n - 1; i++) {
			long j = diagonal - 2 * i;
			double sum = 0;

			if (j < 1 || j > n - 2)
				continue;
			for (long di = 1; di >= -1; di--)
				for (long dj = 1; dj >= -1; dj--)
					sum += a[(i + di) * n + j + dj];
			a[i * n + j] = sum / 9;
		}
	return 0;
}
