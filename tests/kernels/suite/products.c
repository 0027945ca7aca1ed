/* SPDX-License-Identifier: MIT */
/* Products of matrices. A step is a row of the result. */
#include "suite.h"

static const double alpha = 1.5, beta = 0.5;

/* C = alpha A B + beta C. */
SUITE(gemm)
{
	const double *restrict a = room->array[0], *restrict b = room->array[1];
	double *restrict c = room->array[2];
	long n = room->n;

	for (long i = room->from; i < room->to; i++) {
		for (long j = 0; j < n; j++)
			c[i * n + j] *= beta;
		for (long k = 0; k < n; k++)
			for (long j = 0; j < n; j++)
				c[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
	}
	return 0;
}

/* D = alpha A B C + beta D. */
SUITE(mm2)
{
	const double *restrict a = room->array[0], *restrict b = room->array[1], *restrict c = room->array[2];
	double *restrict d = room->array[3], *restrict product = room->array[4];
	long n = room->n;

	for (long i = room->from; i < room->to; i++)
		for (long j = 0; j < n; j++) {
			double sum = 0;

			for (long k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			product[i * n + j] = alpha * sum;
		}
	for (long i = room->from; i < room->to; i++)
		for (long j = 0; j < n; j++) {
			double sum = beta * d[i * n + j];

			for (long k = 0; k < n; k++)
				sum += product[i * n + k] * c[k * n + j];
			d[i * n + j] = sum;
		}
	return 0;
}

/* Rows [from, to) of the product. */
SUITE_PART void multiply(double *restrict c, const double *restrict a, const double *restrict b, long n, long from,
			    long to)
{
	for (long i = from; i < to; i++)
		for (long j = 0; j < n; j++) {
			double sum = 0;

			for (long k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

/* G = (A B) (C D). */
SUITE(mm3)
{
	double *left = room->array[4], *right = room->array[5];

	multiply(left, room->array[0], room->array[1], room->n, room->from, room->to);
	multiply(right, room->array[2], room->array[3], room->n, room->from, room->to);
	multiply(room->array[6], left, right, room->n, room->from, room->to);
	return 0;
}

/* C = alpha A B + beta C, where A is symmetric and only its lower triangle is there. */
SUITE(symm)
{
	const double *restrict a = room->array[0], *restrict b = room->array[1];
	double *restrict c = room->array[2];
	long n = room->n;

	for (long i = room->from; i < room->to; i++) {
		for (long j = 0; j < n; j++)
			c[i * n + j] *= beta;
		for (long k = 0; k <= i; k++)
			for (long j = 0; j < n; j++)
				c[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
		for (long k = i + 1; k < n; k++)
			for (long j = 0; j < n; j++)
				c[i * n + j] += alpha * a[k * n + i] * b[k * n + j];
	}
	return 0;
}

/* The lower triangle of C = alpha A A' + beta C. */
SUITE(syrk)
{
	const double *restrict a = room->array[0];
	double *restrict c = room->array[1];
	long n = room->n;

	for (long i = room->from; i < room->to; i++)
		for (long j = 0; j <= i; j++) {
			double sum = 0;

			for (long k = 0; k < n; k++)
				sum += a[i * n + k] * a[j * n + k];
			c[i * n + j] = beta * c[i * n + j] + alpha * sum;
		}
	return 0;
}

/* The lower triangle of C = alpha (A B' + B A') + beta C. */
SUITE(syr2k)
{
	const double *restrict a = room->array[0], *restrict b = room->array[1];
	double *restrict c = room->array[2];
	long n = room->n;

	for (long i = room->from; i < room->to; i++) {
		for (long j = 0; j <= i; j++)
			c[i * n + j] *= beta;
		for (long k = 0; k < n; k++)
			for (long j = 0; j <= i; j++)
				c[i * n + j] += alpha * (a[i * n + k] * b[j * n + k] + b[i * n + k] * a[j * n + k]);
	}
	return 0;
}

/* C = alpha A' B, where A is a lower triangle with ones in its diagonal. */
SUITE(trmm)
{
	const double *restrict a = room->array[0], *restrict b = room->array[1];
	double *restrict c = room->array[2];
	long n = room->n;

	for (long i = room->from; i < room->to; i++) {
		for (long j = 0; j < n; j++)
			c[i * n + j] = alpha * b[i * n + j];
		for (long k = i + 1; k < n; k++)
			for (long j = 0; j < n; j++)
				c[i * n + j] += alpha * a[k * n + i] * b[k * n + j];
	}
	return 0;
}

/* Of a field of three dimensions each line by a matrix. A step is a plane. */
SUITE(doitgen)
{
	const double *restrict a = room->array[0], *restrict by = room->array[1];
	double *restrict out = room->array[2];
	long n = room->n;

	for (long r = room->from; r < room->to; r++)
		for (long q = 0; q < n; q++)
			for (long p = 0; p < n; p++) {
				double sum = 0;

				for (long s = 0; s < n; s++)
					sum += a[(r * n + q) * n + s] * by[s * n + p];
				out[(r * n + q) * n + p] = sum;
			}
	return 0;
}
