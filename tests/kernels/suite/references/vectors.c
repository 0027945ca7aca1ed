/* SPDX-License-Identifier: MIT */
/* Matrices by vectors, each element of the result by itself, in long doubles. */
#include "../suite.h"

static const double alpha = 1.5, beta = 0.5;

static long double dot(const double *a, long step, const double *x, long n)
{
	long double sum = 0;

	for (long k = n - 1; k >= 0; k--)
		sum += (long double)a[k * step] * x[k];
	return sum;
}

/* An element of A' A is a dot of two columns. */
SUITE(atax)
{
	const double *a = room->array[0], *x = room->array[1];
	double *y = room->array[2];
	long n = room->n;

	for (long j = 0; j < n; j++) {
		long double sum = 0;

		for (long k = 0; k < n; k++)
			for (long i = 0; i < n; i++)
				sum += (long double)a[i * n + j] * a[i * n + k] * x[k];
		y[j] = (double)sum;
	}
	return 0;
}

SUITE(bicg)
{
	const double *a = room->array[0];
	double *q = room->array[3], *s = room->array[4];
	long n = room->n;

	for (long i = 0; i < n; i++) {
		q[i] = (double)dot(a + i * n, 1, room->array[1], n);
		s[i] = (double)dot(a + i, n, room->array[2], n);
	}
	return 0;
}

SUITE(mvt)
{
	const double *a = room->array[0], *x1 = room->array[1], *x2 = room->array[3];
	double *z1 = room->array[5], *z2 = room->array[6];
	long n = room->n;

	for (long i = 0; i < n; i++) {
		z1[i] = (double)(x1[i] + dot(a + i * n, 1, room->array[2], n));
		z2[i] = (double)(x2[i] + dot(a + i, n, room->array[4], n));
	}
	return 0;
}

SUITE(gemver)
{
	const double *a = room->array[0], *u1 = room->array[1];
	double *b = room->array[2], *x = room->array[3], *w = room->array[4];
	long n = room->n;

	for (long j = n - 1; j >= 0; j--)
		for (long i = 0; i < n; i++)
			b[i * n + j] = a[i * n + j] + (u1[i] * u1[n + j] + u1[2 * n + i] * u1[3 * n + j]);
	for (long j = 0; j < n; j++)
		x[j] = (double)(beta * dot(b + j, n, u1 + 4 * n, n) + u1[5 * n + j]);
	for (long i = 0; i < n; i++)
		w[i] = (double)(alpha * dot(b + i * n, 1, x, n));
	return 0;
}

SUITE(gesummv)
{
	const double *a = room->array[0], *b = room->array[1];
	double *y = room->array[3];
	long n = room->n;

	for (long i = 0; i < n; i++)
		y[i] = (double)(alpha * dot(a + i * n, 1, room->array[2], n) +
				beta * dot(b + i * n, 1, room->array[2], n));
	return 0;
}
