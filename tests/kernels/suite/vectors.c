/* SPDX-License-Identifier: MIT */
/* Matrices by vectors. A pass is the whole: each element of a matrix is used once or twice. */
#include "suite.h"

static const double alpha = 1.5, beta = 0.5;

/* y = A' (A x). */
SUITE(atax)
{
	const double *restrict a = room->array[0], *restrict x = room->array[1];
	double *restrict y = room->array[2];
	long n = room->n;

	for (long j = 0; j < n; j++)
		y[j] = 0;
	for (long i = 0; i < n; i++) {
		double sum = 0;

		for (long j = 0; j < n; j++)
			sum += a[i * n + j] * x[j];
		for (long j = 0; j < n; j++)
			y[j] += a[i * n + j] * sum;
	}
	return 0;
}

/* s = A' r and q = A p, as a step of the biconjugate gradients has them. */
SUITE(bicg)
{
	const double *restrict a = room->array[0], *restrict p = room->array[1], *restrict r = room->array[2];
	double *restrict q = room->array[3], *restrict s = room->array[4];
	long n = room->n;

	for (long j = 0; j < n; j++)
		s[j] = 0;
	for (long i = 0; i < n; i++) {
		double sum = 0;

		for (long j = 0; j < n; j++) {
			s[j] += r[i] * a[i * n + j];
			sum += a[i * n + j] * p[j];
		}
		q[i] = sum;
	}
	return 0;
}

/* z1 = x1 + A y1 and z2 = x2 + A' y2, the latter by columns. */
SUITE(mvt)
{
	const double *restrict a = room->array[0], *restrict x1 = room->array[1], *restrict y1 = room->array[2];
	const double *restrict x2 = room->array[3], *restrict y2 = room->array[4];
	double *restrict z1 = room->array[5], *restrict z2 = room->array[6];
	long n = room->n;

	for (long i = 0; i < n; i++) {
		double sum = x1[i];

		for (long j = 0; j < n; j++)
			sum += a[i * n + j] * y1[j];
		z1[i] = sum;
	}
	for (long i = 0; i < n; i++) {
		double sum = x2[i];

		for (long j = 0; j < n; j++)
			sum += a[j * n + i] * y2[j];
		z2[i] = sum;
	}
	return 0;
}

/* B = A + u1 v1' + u2 v2', x = beta B' y + z, w = alpha B x. The six vectors are one behind the other. */
SUITE(gemver)
{
	const double *restrict a = room->array[0], *restrict u1 = room->array[1];
	double *restrict b = room->array[2], *restrict x = room->array[3], *restrict w = room->array[4];
	long n = room->n;
	const double *v1 = u1 + n, *u2 = v1 + n, *v2 = u2 + n, *y = v2 + n, *z = y + n;

	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			b[i * n + j] = a[i * n + j] + u1[i] * v1[j] + u2[i] * v2[j];
	for (long i = 0; i < n; i++) {
		double sum = 0;

		for (long j = 0; j < n; j++)
			sum += b[j * n + i] * y[j];
		x[i] = beta * sum + z[i];
	}
	for (long i = 0; i < n; i++) {
		double sum = 0;

		for (long j = 0; j < n; j++)
			sum += b[i * n + j] * x[j];
		w[i] = alpha * sum;
	}
	return 0;
}

/* y = alpha A x + beta B x. */
SUITE(gesummv)
{
	const double *restrict a = room->array[0], *restrict b = room->array[1], *restrict x = room->array[2];
	double *restrict y = room->array[3];
	long n = room->n;

	for (long i = 0; i < n; i++) {
		double of_a = 0, of_b = 0;

		for (long j = 0; j < n; j++) {
			of_a += a[i * n + j] * x[j];
			of_b += b[i * n + j] * x[j];
		}
		y[i] = alpha * of_a + beta * of_b;
	}
	return 0;
}
