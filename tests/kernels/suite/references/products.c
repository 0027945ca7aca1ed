/* SPDX-License-Identifier: MIT */
/* Products of matrices, each element of the result by itself or each term by itself, in long doubles. */
#include "../suite.h"

static const double alpha = 1.5, beta = 0.5;

/* An element of a product of matrices whose rows and columns are so far apart. */
static double dot(const double *a, long a_step, const double *b, long b_step, long n)
{
	long double sum = 0;

	for (long k = n - 1; k >= 0; k--)
		sum += (long double)a[k * a_step] * b[k * b_step];
	return (double)sum;
}

static void multiply(double *c, const double *a, const double *b, long n)
{
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++)
			c[i * n + j] = dot(a + i * n, 1, b + j, n, n);
}

SUITE(gemm)
{
	const double *a = room->array[0], *b = room->array[1];
	double *c = room->array[2];
	long n = room->n;

	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++)
			c[i * n + j] = alpha * dot(a + i * n, 1, b + j, n, n) + beta * c[i * n + j];
	return 0;
}

SUITE(mm2)
{
	double *product = room->array[4], *d = room->array[3];
	const double *c = room->array[2];
	long n = room->n;

	multiply(product, room->array[0], room->array[1], n);
	for (long i = 0; i < n * n; i++)
		product[i] *= alpha;
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++)
			d[i * n + j] = beta * d[i * n + j] + dot(product + i * n, 1, c + j, n, n);
	return 0;
}

SUITE(mm3)
{
	multiply(room->array[4], room->array[0], room->array[1], room->n);
	multiply(room->array[5], room->array[2], room->array[3], room->n);
	multiply(room->array[6], room->array[4], room->array[5], room->n);
	return 0;
}

/* Each element below the diagonal goes to the two rows of the result that it is in. */
SUITE(symm)
{
	const double *a = room->array[0], *b = room->array[1];
	double *c = room->array[2];
	long n = room->n;

	for (long i = 0; i < n * n; i++)
		c[i] *= beta;
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++) {
			c[i * n + j] += alpha * a[i * n + i] * b[i * n + j];
			for (long k = 0; k < i; k++) {
				c[i * n + j] += alpha * a[i * n + k] * b[k * n + j];
				c[k * n + j] += alpha * a[i * n + k] * b[i * n + j];
			}
		}
	return 0;
}

SUITE(syrk)
{
	const double *a = room->array[0];
	double *c = room->array[1];
	long n = room->n;

	for (long j = 0; j < n; j++)
		for (long i = j; i < n; i++)
			c[i * n + j] = beta * c[i * n + j] + alpha * dot(a + i * n, 1, a + j * n, 1, n);
	return 0;
}

SUITE(syr2k)
{
	const double *a = room->array[0], *b = room->array[1];
	double *c = room->array[2];
	long n = room->n;

	for (long j = 0; j < n; j++)
		for (long i = j; i < n; i++)
			c[i * n + j] = beta * c[i * n + j] + alpha * dot(a + i * n, 1, b + j * n, 1, n) +
				alpha * dot(b + i * n, 1, a + j * n, 1, n);
	return 0;
}

SUITE(trmm)
{
	const double *a = room->array[0], *b = room->array[1];
	double *c = room->array[2];
	long n = room->n;

	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++) {
			const double *behind = a + (i + 1) * n + i;

			c[i * n + j] = alpha * (b[i * n + j] + dot(behind, n, b + (i + 1) * n + j, n, n - 1 - i));
		}
	return 0;
}

SUITE(doitgen)
{
	const double *a = room->array[0], *by = room->array[1];
	double *out = room->array[2];
	long n = room->n;

	for (long p = 0; p < n; p++)
		for (long line = 0; line < n * n; line++)
			out[line * n + p] = dot(a + line * n, 1, by + p, n, n);
	return 0;
}
