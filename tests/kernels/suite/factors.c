/* SPDX-License-Identifier: MIT */
/* Matrices whose factors are known in closed form, so that any of a solver's steps can be done by itself, and in a size
 * where to do all those before it would take minutes: triangles whose elements are a number of their row by one of
 * their column have products that take a running sum. */
#include "prepare.h"

static double near_one(uint64_t *chance)
{
	return 0.75 + (double)(suite_chance(chance) >> 11) * 0x1p-54;
}

/* L(i, j) = u(i) v(j), so A(i, j) = u(i) u(j) times the sum of the first v's squares. The u are L's first column. */
void suite_prepare_cholesky(struct suite_room *room, uint64_t *chance)
{
	double *a = room->array[0], *l = room->array[1], *v = l;
	double sum = 0;
	long n = room->n;

	/* v stands in L's first row until the end, u in A's first row, and both are of about one. */
	for (long i = 0; i < n; i++) {
		a[i] = near_one(chance);
		v[i] = near_one(chance);
	}
	for (long j = 0; j < n; j++) {
		sum += v[j] * v[j];
		for (long i = n - 1; i >= j && i > 0; i--) {
			a[i * n + j] = a[i] * a[j] * sum;
			l[i * n + j] = a[i] * v[j];
		}
	}
	l[0] *= a[0];
	a[0] = l[0] * l[0];
	for (long i = 1; i < n; i++) {
		l[i] = 0;
		a[i] = a[i * n];
		for (long j = i + 1; j < n; j++)
			a[i * n + j] = a[j * n + i];
	}
}

/* L(i, j) = p(i) q(j) below its diagonal of ones and U(i, j) = r(i) s(j). */
static void multiply_factors(double *a, double *f, long n, uint64_t *chance)
{
	double *s = a; /* the first row, which is the same in A and U, until r(0) comes in */
	double sum = 0, r = near_one(chance);

	for (long j = 0; j < n; j++)
		s[j] = near_one(chance);
	for (long i = 1; i < n; i++)
		f[i * n] = 0.75 * near_one(chance); /* p(i), by q(0) = 1 */
	for (long k = 0; k < n; k++) {
		double q = k ? near_one(chance) : 1, r_k = k ? near_one(chance) : r;

		for (long j = k; j < n; j++)
			f[k * n + j] = r_k * s[j];
		for (long i = k + 1; i < n; i++)
			f[i * n + k] = f[i * n] * q;
		for (long j = k; j < n && k; j++)
			a[k * n + j] = f[k * n] * s[j] * sum + f[k * n + j];
		for (long i = k + 1; i < n; i++)
			a[i * n + k] = f[i * n] * s[k] * (sum + q * r_k);
		sum += q * r_k;
	}
	for (long j = 0; j < n; j++)
		a[j] = f[j];
}

void suite_prepare_lu(struct suite_room *room, uint64_t *chance)
{
	multiply_factors(room->array[0], room->array[1], room->n, chance);
}

void suite_prepare_ludcmp(struct suite_room *room, uint64_t *chance)
{
	multiply_factors(room->array[0], room->array[2], room->n, chance);
}

/* The correlations of noise that was integrated d times, d = 0.3 (Hosking 1981): r(k) = r(k - 1) (k - 1 + d) / (k - d).
 * The best prediction of it from k values is known, with what it leaves, and is the solution of the first k equations
 * but for the sign. */
void suite_prepare_durbin(struct suite_room *room, uint64_t *chance)
{
	const double d = 0.3;
	double *r = room->array[0], *before = room->array[1], error = 1, by = 1;
	long n = room->n, k = room->from ? room->from : 1;

	(void)chance;
	for (long i = 1; i <= n; i++) {
		by *= ((double)i - 1 + d) / ((double)i - d);
		r[i - 1] = by;
	}
	by = (double)k * d / ((double)k - d);
	for (long j = 1; j <= k; j++) {
		double last = d / ((double)j - d);

		before[j - 1] = -by;
		by *= (double)(k - j) / (double)(j + 1) * ((double)j - d) / ((double)(k - j) - d);
		error *= 1 - last * last;
	}
	before[n] = error;
}

/* A mirror, as the columns that earlier steps would have left: 1 - 2 v v', with v of length 1. */
void suite_prepare_gramschmidt(struct suite_room *room, uint64_t *chance)
{
	double *q = room->array[1], *r = room->array[2], squares = 0;
	long n = room->n;

	for (long i = 0; i < n; i++) {
		r[i] = near_one(chance);
		squares += r[i] * r[i];
	}
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			q[i * n + j] = (i == j) - 2 * r[i] * r[j] / squares;
}

/* About what a strand by chance has; to know it would take as long as the whole. */
void suite_prepare_nussinov(struct suite_room *room, uint64_t *chance)
{
	int32_t *most = room->array[1];
	long n = room->n;

	(void)chance;
	for (long i = 0; i < n; i++)
		for (long j = i; j < n; j++)
			most[i * n + j] = (int32_t)(j - i > 3 ? (j - i) * 3 / 7 : 0);
}
