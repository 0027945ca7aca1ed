/* SPDX-License-Identifier: MIT */
/* Fields that go on in time, each point by its neighbours. A pass is one or two instants of the whole field. */
#include "suite.h"

/* One direction's half of an instant of the heat equation: equations with three diagonals along a line of `to`, the
 * right side from the neighbours across the line in `from`. One element further along is `step`, across `across`. */
SUITE_PART void diffuse_line(double *restrict to, const double *restrict from, double *restrict p,
				double *restrict q, long n, long step, long across)
{
	const double a = 0.4;

	p[0] = 0;
	q[0] = 1;
	for (long j = 1; j < n - 1; j++) {
		double right = a * from[j * step - across] + (1 - 2 * a) * from[j * step] + a * from[j * step + across];
		double by = 1 / (1 + 2 * a - a * p[j - 1]);

		p[j] = a * by;
		q[j] = (right + a * q[j - 1]) * by;
	}
	to[0] = to[(n - 1) * step] = 1;
	for (long j = n - 2; j > 0; j--)
		to[j * step] = p[j] * to[(j + 1) * step] + q[j];
}

/* The heat equation by alternating directions. Borders are 1. */
SUITE(adi)
{
	double *restrict u = room->array[0], *restrict half = room->array[1];
	double *restrict p = room->array[2], *restrict q = room->array[3];
	long n = room->n;

	for (long i = 0; i < n; i++)
		half[i] = half[(n - 1) * n + i] = half[i * n] = half[i * n + n - 1] = 1;
	for (long i = 1; i < n - 1; i++)
		diffuse_line(half + i * n, u + i * n, p, q, n, 1, n);
	for (long i = 1; i < n - 1; i++)
		diffuse_line(u + i, half + i, p, q, n, n, 1);
	return 0;
}

/* Electric and magnetic field in a plane, one half an instant behind the other. The wave comes in at one side. */
SUITE(fdtd_2d)
{
	double *restrict ex = room->array[0], *restrict ey = room->array[1], *restrict hz = room->array[2];
	const double *restrict wave = room->array[3];
	long n = room->n;

	for (long j = 0; j < n; j++)
		ey[j] = wave[j];
	for (long i = 1; i < n; i++)
		for (long j = 0; j < n; j++)
			ey[i * n + j] -= 0.5 * (hz[i * n + j] - hz[(i - 1) * n + j]);
	for (long i = 0; i < n; i++)
		for (long j = 1; j < n; j++)
			ex[i * n + j] -= 0.5 * (hz[i * n + j] - hz[i * n + j - 1]);
	for (long i = 0; i < n - 1; i++)
		for (long j = 0; j < n - 1; j++)
			hz[i * n + j] -= 0.7 * (ex[i * n + j + 1] - ex[i * n + j] +
						ey[(i + 1) * n + j] - ey[i * n + j]);
	return 0;
}

SUITE_PART void heat(double *restrict to, const double *restrict from, long n)
{
	const long plane = n * n;

	for (long i = 1; i < n - 1; i++)
		for (long j = 1; j < n - 1; j++)
			for (long k = 1; k < n - 1; k++) {
				const double *at = from + i * plane + j * n + k;

				to[i * plane + j * n + k] = at[0] + 0.125 * (at[plane] - 2 * at[0] + at[-plane]) +
					0.125 * (at[n] - 2 * at[0] + at[-n]) + 0.125 * (at[1] - 2 * at[0] + at[-1]);
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
	double *restrict a = room->array[0], *restrict b = room->array[1];
	long n = room->n;

	for (long i = 1; i < n - 1; i++)
		b[i] = (1. / 3) * (a[i - 1] + a[i] + a[i + 1]);
	for (long i = 1; i < n - 1; i++)
		a[i] = (1. / 3) * (b[i - 1] + b[i] + b[i + 1]);
	return 0;
}

SUITE_PART void average(double *restrict to, const double *restrict from, long n)
{
	for (long i = 1; i < n - 1; i++)
		for (long j = 1; j < n - 1; j++) {
			const double *at = from + i * n + j;

			to[i * n + j] = 0.2 * (at[0] + at[-1] + at[1] + at[-n] + at[n]);
		}
}

SUITE(jacobi_2d)
{
	average(room->array[1], room->array[0], room->n);
	average(room->array[0], room->array[1], room->n);
	return 0;
}

/* In place, so each point waits for those before it. */
SUITE(seidel_2d)
{
	double *a = room->array[0];
	long n = room->n;

	for (long i = 1; i < n - 1; i++)
		for (long j = 1; j < n - 1; j++) {
			double *at = a + i * n + j;

			at[0] = (at[-n - 1] + at[-n] + at[-n + 1] + at[-1] + at[0] + at[1] + at[n - 1] + at[n] +
				 at[n + 1]) / 9;
		}
	return 0;
}
