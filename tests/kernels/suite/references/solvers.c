/* SPDX-License-Identifier: MIT */
/* Factors and equations, the other way round: once a row (column) is known it is taken from all that come behind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

SUITE(cholesky)
{
	const double *a = room->array[0];
	double *l = room->array[1];
	long n = room->n;

	for (long i = 0; i < n; i++)
		for (long j = 0; j <= i; j++)
			l[i * n + j] = a[i * n + j];
	for (long k = 0; k < n; k++) {
		double root = sqrt(l[k * n + k]);

		for (long i = k; i < n; i++)
			l[i * n + k] /= root;
		for (long i = k + 1; i < n; i++)
			for (long j = k + 1; j <= i; j++)
				l[i * n + j] -= l[i * n + k] * l[j * n + k];
	}
	return 0;
}

static void eliminate(double *f, long n)
{
	for (long k = 0; k < n; k++)
		for (long i = k + 1; i < n; i++) {
			f[i * n + k] /= f[k * n + k];
			for (long j = k + 1; j < n; j++)
				f[i * n + j] -= f[i * n + k] * f[k * n + j];
		}
}

/* x of A x = b, where f has A's factors; y is what the lower one makes of b. */
static void substitute(const double *f, const double *b, double *y, double *x, long n)
{
	memcpy(y, b, (size_t)n * sizeof(*y));
	for (long k = 0; k < n; k++)
		for (long i = k + 1; i < n; i++)
			y[i] -= f[i * n + k] * y[k];
	memcpy(x, y, (size_t)n * sizeof(*x));
	for (long k = n - 1; k >= 0; k--) {
		x[k] /= f[k * n + k];
		for (long i = 0; i < k; i++)
			x[i] -= f[i * n + k] * x[k];
	}
}

SUITE(lu)
{
	long n = room->n;

	memcpy(room->array[1], room->array[0], (size_t)(n * n) * sizeof(double));
	eliminate(room->array[1], n);
	return 0;
}

SUITE(ludcmp)
{
	long n = room->n;

	memcpy(room->array[2], room->array[0], (size_t)(n * n) * sizeof(double));
	eliminate(room->array[2], n);
	substitute(room->array[2], room->array[1], room->array[4], room->array[3], n);
	return 0;
}

/* The equations written out, and eliminated. */
SUITE(durbin)
{
	const double *r = room->array[0];
	long n = room->n;
	double *t = malloc((size_t)(n * n) * sizeof(*t)), *right = malloc(2 * (size_t)n * sizeof(*right));

	if (!t || !right)
		abort();
	for (long i = 0; i < n; i++) {
		right[i] = -r[i];
		for (long j = 0; j < n; j++)
			t[i * n + j] = i == j ? 1 : r[labs(i - j) - 1];
	}
	eliminate(t, n);
	substitute(t, right, right + n, room->array[2], n);
	free(t);
	free(right);
	return 0;
}

SUITE(gramschmidt)
{
	double *q = room->array[1], *r = room->array[2];
	long n = room->n;

	memcpy(q, room->array[0], (size_t)(n * n) * sizeof(*q));
	for (long k = 0; k < n; k++) {
		long double norm = 0;

		for (long i = 0; i < n; i++)
			norm += (long double)q[i * n + k] * q[i * n + k];
		r[k * n + k] = (double)sqrtl(norm);
		for (long i = 0; i < n; i++)
			q[i * n + k] /= r[k * n + k];
		for (long j = k + 1; j < n; j++) {
			long double sum = 0;

			for (long i = 0; i < n; i++)
				sum += (long double)q[i * n + k] * q[i * n + j];
			r[k * n + j] = (double)sum;
			for (long i = 0; i < n; i++)
				q[i * n + j] -= r[k * n + j] * q[i * n + k];
		}
	}
	return 0;
}

SUITE(trisolv)
{
	const double *l = room->array[0];
	double *x = room->array[2];
	long n = room->n;

	memcpy(x, room->array[1], (size_t)n * sizeof(*x));
	for (long k = 0; k < n; k++) {
		x[k] /= l[k * n + k];
		for (long i = k + 1; i < n; i++)
			x[i] -= l[i * n + k] * x[k];
	}
	return 0;
}
