/* SPDX-License-Identifier: MIT */
/* A system of equations by conjugate gradients: `spmv ITERATIONS`. The matrix is sparse and symmetric, 40,000 rows with
 * their neighbours in a grid and a few by chance, its diagonal dominates; some 3 MiB of it stream by, the vector is
 * gathered. */
#include "chance.h"

enum { SIDE = 200, N = SIDE * SIDE, FAR = N, MOST = 2 * N + FAR };

struct sparse { uint32_t first[N + 1]; uint32_t column[2 * MOST + N]; double value[2 * MOST + N]; };

/* Pairs of rows that meet: (from[i], to[i]). */
struct pairs { uint32_t n, from[MOST], to[MOST]; };

static void pair(struct pairs *p, uint32_t a, uint32_t b)
{
	p->from[p->n] = a;
	p->to[p->n++] = b;
}

static struct pairs *draw(void)
{
	struct pairs *p = chance_room(1, sizeof(*p));

	for (uint32_t i = 0; i < N; i++) {
		if (i % SIDE + 1 < SIDE)
			pair(p, i, i + 1);
		if (i + SIDE < N)
			pair(p, i, i + SIDE);
	}
	for (uint32_t i = 0; i < FAR; i++)
		pair(p, chance_below(N), chance_below(N));
	return p;
}

static void put(struct sparse *m, uint32_t *next, uint32_t row, uint32_t column, double value)
{
	m->column[next[row]] = column;
	m->value[next[row]++] = value;
}

static struct sparse *assemble(const struct pairs *p)
{
	struct sparse *m = chance_room(1, sizeof(*m));
	uint32_t *next = chance_room(N + 1, sizeof(*next));

	for (uint32_t i = 0; i < p->n; i++) {
		m->first[p->from[i] + 1]++;
		m->first[p->to[i] + 1]++;
	}
	for (uint32_t i = 0; i < N; i++) {
		m->first[i + 1] += m->first[i] + 1;
		next[i + 1] = m->first[i + 1];
	}
	for (uint32_t i = 0; i < N; i++)
		put(m, next, i, i, m->first[i + 1] - m->first[i] + 0.1);
	for (uint32_t i = 0; i < p->n; i++) {
		put(m, next, p->from[i], p->to[i], -1);
		put(m, next, p->to[i], p->from[i], -1);
	}
	free(next);
	return m;
}

static void multiply(const struct sparse *m, const double *x, double *y)
{
	for (uint32_t i = 0; i < N; i++) {
		double sum = 0;

		for (uint32_t e = m->first[i]; e < m->first[i + 1]; e++)
			sum += m->value[e] * x[m->column[e]];
		y[i] = sum;
	}
}

static double dot(const double *x, const double *y)
{
	double sum = 0;

	for (uint32_t i = 0; i < N; i++)
		sum += x[i] * y[i];
	return sum;
}

/* y += a x */
static void add(double *y, double a, const double *x)
{
	for (uint32_t i = 0; i < N; i++)
		y[i] += a * x[i];
}

int main(int argc, char **argv)
{
	struct pairs *p = draw();
	struct sparse *m = assemble(p);
	double *v = chance_room(4 * N, sizeof(*v)), *x = v, *r = v + N, *d = v + 2 * N, *md = v + 3 * N, size, next;

	for (uint32_t i = 0; i < N; i++)
		r[i] = d[i] = chance_real();
	size = dot(r, r);
	for (unsigned left = chance_passes(argc, argv); left && size > 1e-200; left--) {
		double a;

		multiply(m, d, md);
		a = size / dot(d, md);
		add(x, a, d);
		add(r, -a, md);
		next = dot(r, r);
		for (uint32_t i = 0; i < N; i++)
			d[i] = r[i] + next / size * d[i];
		size = next;
	}
	printf("spmv %.9g\n", dot(x, x));
	free(p);
	free(m);
	free(v);
	return 0;
}
