/* SPDX-License-Identifier: MIT */
/* Deriche's filter by its definition: every element of a line by the weight of its distance, in doubles. */
#include <math.h>
#include <stdlib.h>

#include "../suite.h"

static void smooth(float *out, const float *in, const double *weight, long n, long step)
{
	for (long i = 0; i < n; i++) {
		double sum = 0;

		for (long k = 0; k < n; k++)
			sum += weight[labs(i - k)] * in[k * step];
		out[i * step] = (float)sum;
	}
}

SUITE(deriche)
{
	const double a = 0.25, e = exp(-a), by = (1 - e) * (1 - e) / (1 + 2 * a * e - e * e);
	const float *in = room->array[0];
	float *out = room->array[3], *rows = room->array[4];
	long n = room->n;
	double *weight = malloc((size_t)n * sizeof(*weight));

	if (!weight)
		abort();
	for (long i = 0; i < n; i++)
		weight[i] = by * (a * (double)i + 1) * exp(-a * (double)i);
	for (long i = 0; i < n; i++)
		smooth(rows + i * n, in + i * n, weight, n, 1);
	for (long j = 0; j < n; j++)
		smooth(out + j, rows + j, weight, n, n);
	free(weight);
	return 0;
}
