/* SPDX-License-Identifier: MIT */
/* How two columns go together, each pair by itself. */
#include <math.h>

#include "../suite.h"

static long double mean_of(const double *column, long n)
{
	long double sum = 0;

	for (long i = 0; i < n; i++)
		sum += column[i * n];
	return sum / n;
}

static long double together(const double *a, const double *b, long n)
{
	long double of_a = mean_of(a, n), of_b = mean_of(b, n), sum = 0;

	for (long i = 0; i < n; i++)
		sum += (a[i * n] - of_a) * (b[i * n] - of_b);
	return sum;
}

SUITE(covariance)
{
	const double *data = room->array[0];
	double *out = room->array[2];
	long n = room->n;

	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			out[i * n + j] = (double)(together(data + i, data + j, n) / (n - 1));
	return 0;
}

SUITE(correlation)
{
	const double *data = room->array[0];
	double *out = room->array[2];
	long n = room->n;

	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			out[i * n + j] = (double)(together(data + i, data + j, n) /
				sqrtl(together(data + i, data + i, n) * together(data + j, data + j, n)));
	return 0;
}
