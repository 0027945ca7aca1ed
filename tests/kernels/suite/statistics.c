/* SPDX-License-Identifier: MIT */
/* How columns of data go together: n observations (rows) of n variables. A step is a row of the result; the means are
 * taken in each pass. */
#include "suite.h"

SUITE_PART void take_means(double *restrict mean, const double *restrict data, long n)
{
	for (long j = 0; j < n; j++)
		mean[j] = 0;
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			mean[j] += data[i * n + j];
	for (long j = 0; j < n; j++)
		mean[j] /= (double)n;
}

SUITE(covariance)
{
	const double *restrict data = room->array[0];
	double *restrict apart = room->array[1], *restrict out = room->array[2], *restrict mean = room->array[3];
	long n = room->n;

	take_means(mean, data, n);
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			apart[i * n + j] = data[i * n + j] - mean[j];
	for (long i = room->from; i < room->to; i++)
		for (long j = i; j < n; j++) {
			double sum = 0;

			for (long k = 0; k < n; k++)
				sum += apart[k * n + i] * apart[k * n + j];
			out[i * n + j] = out[j * n + i] = sum / (double)(n - 1);
		}
	return 0;
}

/* Deviations from the mean in units of the standard deviation and of the root of n, so that dots are correlations. */
SUITE_PART void normalise(double *restrict apart, double *restrict deviation, const double *restrict data,
			     const double *restrict mean, long n)
{
	for (long j = 0; j < n; j++)
		deviation[j] = 0;
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			deviation[j] += (data[i * n + j] - mean[j]) * (data[i * n + j] - mean[j]);
	for (long j = 0; j < n; j++)
		deviation[j] = __builtin_sqrt(deviation[j]);
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			apart[i * n + j] = (data[i * n + j] - mean[j]) / deviation[j];
}

SUITE(correlation)
{
	const double *restrict data = room->array[0];
	double *restrict apart = room->array[1], *restrict out = room->array[2], *restrict mean = room->array[3];
	long n = room->n;

	take_means(mean, data, n);
	normalise(apart, room->array[4], data, mean, n);
	for (long i = room->from; i < room->to; i++) {
		for (long j = i; j < n; j++)
			out[i * n + j] = 0;
		for (long k = 0; k < n; k++)
			for (long j = i; j < n; j++)
				out[i * n + j] += apart[k * n + i] * apart[k * n + j];
		for (long j = i; j < n; j++)
			out[j * n + i] = out[i * n + j];
	}
	return 0;
}
