/* SPDX-License-Identifier: MIT */
/* Factors of matrices, and equations solved by them. A step is a row (gramschmidt: a column), which is made from the
 * rows before it. */
#include "suite.h"

/* A = L L', by dots of rows. */
SUITE(cholesky)
{
	const double *restrict a = room->array[0];
	double *l = room->array[1];
	long n = room->n;

	for (long i = room->from; i < room->to; i++) {
		double sum = a[i * n + i];

		for (long j = 0; j < i; j++) {
			double left = a[i * n + j];

			for (long k = 0; k < j; k++)
				left -= l[i * n + k] * l[j * n + k];
			l[i * n + j] = left / l[j * n + j];
		}
		for (long k = 0; k < i; k++)
			sum -= l[i * n + k] * l[i * n + k];
		l[i * n + i] = __builtin_sqrt(sum);
	}
	return 0;
}

/* T y = -r, where T has r's correlations in its diagonals (Durbin's recursion). A step makes the solution of k + 1
 * equations from that of k; that of the first `from` and its error come with the room. */
SUITE(durbin)
{
	const double *restrict r = room->array[0], *restrict before = room->array[1];
	double *restrict y = room->array[2], *restrict next = room->array[3];
	long from = room->from ? room->from : 1;
	double error = before[room->n];

	for (long i = 0; i < from; i++)
		y[i] = before[i];
	for (long k = from; k < room->to; k++) {
		double sum = r[k], by;

		for (long i = 0; i < k; i++)
			sum += r[k - 1 - i] * y[i];
		by = -sum / error;
		for (long i = 0; i < k; i++)
			next[i] = y[i] + by * y[k - 1 - i];
		for (long i = 0; i < k; i++)
			y[i] = next[i];
		y[k] = by;
		error *= 1 - by * by;
	}
	return 0;
}

/* A = Q R, Q's columns orthonormal: from each column of A those before are taken away, one by one. */
SUITE(gramschmidt)
{
	const double *restrict a = room->array[0];
	double *restrict q = room->array[1], *restrict r = room->array[2];
	long n = room->n;

	for (long k = room->from; k < room->to; k++) {
		double norm = 0;

		for (long i = 0; i < n; i++)
			q[i * n + k] = a[i * n + k];
		for (long j = 0; j < k; j++) {
			double sum = 0;

			for (long i = 0; i < n; i++)
				sum += q[i * n + j] * q[i * n + k];
			r[j * n + k] = sum;
			for (long i = 0; i < n; i++)
				q[i * n + k] -= sum * q[i * n + j];
		}
		for (long i = 0; i < n; i++)
			norm += q[i * n + k] * q[i * n + k];
		r[k * n + k] = __builtin_sqrt(norm);
		for (long i = 0; i < n; i++)
			q[i * n + k] /= r[k * n + k];
	}
	return 0;
}

/* A = L U in one matrix, L's diagonal of ones left out: from each row those before are taken away. */
SUITE(lu)
{
	const double *restrict a = room->array[0];
	double *f = room->array[1];
	long n = room->n;

	for (long i = room->from; i < room->to; i++) {
		for (long j = 0; j < n; j++)
			f[i * n + j] = a[i * n + j];
		for (long k = 0; k < i; k++) {
			double by = f[i * n + k] /= f[k * n + k];

			for (long j = k + 1; j < n; j++)
				f[i * n + j] -= by * f[k * n + j];
		}
	}
	return 0;
}

/* A x = b: the factors as above, but by dots of rows with columns, then L y = b and U x = y. */
SUITE(ludcmp)
{
	const double *restrict a = room->array[0], *restrict b = room->array[1];
	double *f = room->array[2], *x = room->array[3], *y = room->array[4];
	long n = room->n;

	for (long i = room->from; i < room->to; i++)
		for (long j = 0; j < n; j++) {
			double sum = a[i * n + j];
			long most = j < i ? j : i;

			for (long k = 0; k < most; k++)
				sum -= f[i * n + k] * f[k * n + j];
			f[i * n + j] = j < i ? sum / f[j * n + j] : sum;
		}
	for (long i = 0; i < n; i++) {
		double sum = b[i];

		for (long j = 0; j < i; j++)
			sum -= f[i * n + j] * y[j];
		y[i] = sum;
	}
	for (long i = n - 1; i >= 0; i--) {
		double sum = y[i];

		for (long j = i + 1; j < n; j++)
			sum -= f[i * n + j] * x[j];
		x[i] = sum / f[i * n + i];
	}
	return 0;
}

/* L x = b, L a lower triangle. */
SUITE(trisolv)
{
	const double *restrict l = room->array[0], *restrict b = room->array[1];
	double *x = room->array[2];
	long n = room->n;

	for (long i = 0; i < n; i++) {
		double sum = b[i];

		for (long j = 0; j < i; j++)
			sum -= l[i * n + j] * x[j];
		x[i] = sum / l[i * n + i];
	}
	return 0;
}
