/* SPDX-License-Identifier: MIT */
/* Stencils, scans and reductions. Compiled several times: KERNEL_WAY says how. */
#include "kernels.h"

enum { N = KERNEL_N, S = KERNEL_SIDE };

KERNEL(jacobi_line)
{
	const double *restrict x = room->x;
	double *restrict z = room->z;

	for (int i = 1; i < N - 1; i++)
		z[i] = (x[i - 1] + x[i] + x[i + 1]) * (1. / 3);
	return 0;
}

KERNEL(jacobi_plane)
{
	for (int i = 1; i < S - 1; i++)
		for (int j = 1; j < S - 1; j++)
			room->c[i * S + j] = 0.2 * (room->a[i * S + j] + room->a[i * S + j - 1] +
						    room->a[i * S + j + 1] + room->a[(i - 1) * S + j] +
						    room->a[(i + 1) * S + j]);
	return 0;
}

/* In place: each waits for its neighbour of the same pass. */
KERNEL(seidel)
{
	double *c = room->b;

	for (int i = 1; i < S - 1; i++)
		for (int j = 1; j < S - 1; j++)
			c[i * S + j] = (c[i * S + j - 1] + c[i * S + j] + c[i * S + j + 1] + c[(i - 1) * S + j] +
					c[(i + 1) * S + j]) * 0.2;
	return 0;
}

KERNEL(prefix_sum)
{
	double sum = 0;

	for (int i = 0; i < N; i++) {
		sum += room->x[i];
		room->z[i] = sum;
	}
	return 0;
}

/* The running sum is in memory: each waits for the last one's store. */
KERNEL(prefix_in_place)
{
	uint64_t *longs = room->longs;

	for (int i = 1; i < N; i++)
		longs[i] = longs[i] ^ longs[i - 1];
	return 0;
}

KERNEL(first_order)
{
	const double *restrict x = room->x;
	double *restrict z = room->z;

	for (int i = 1; i < N; i++)
		z[i] = 0.5 * z[i - 1] + x[i];
	return 0;
}

KERNEL(fir)
{
	const float *restrict f = room->f;
	float *restrict out = (float *)(void *)room->out;

	for (int i = 0; i < N - 8; i++) {
		float sum = 0;

		for (int k = 0; k < 8; k++)
			sum += f[i + k] * (float)(k + 1);
		out[i] = sum;
	}
	return 0;
}

KERNEL(sum_words)
{
	uint32_t sum = 0;

	for (int i = 0; i < KERNEL_WORDS; i++)
		sum += room->words[i];
	return sum;
}

KERNEL(sum_float)
{
	float sum = 0;

	for (int i = 0; i < N; i++)
		sum += room->f[i];
	return (uint64_t)sum;
}

KERNEL(sum_four)
{
	double s[4] = { 0 };

	for (int i = 0; i < N; i += 4)
		for (int k = 0; k < 4; k++)
			s[k] += room->x[i + k];
	return (uint64_t)(s[0] + s[1] + s[2] + s[3]);
}

KERNEL(least)
{
	uint32_t least = UINT32_MAX;

	for (int i = 0; i < KERNEL_WORDS; i++)
		least = room->words[i] < least ? room->words[i] : least;
	return least;
}

KERNEL(sums_of_far)
{
	const uint64_t *far = (const uint64_t *)(const void *)room->far;
	uint64_t sum = 0;

	for (int i = 0; i < (256 << 10) / 8; i++)
		sum += far[i];
	return sum;
}

#define TABLE(way) KERNEL_PASTE_TABLE(kernels_stencils, way)
#define KERNEL_PASTE_TABLE(name, way) name ## way
const struct kernel TABLE(KERNEL_WAY)[] = {
	KERNEL_ROW(jacobi_line, N - 2, "element"),
	KERNEL_ROW(jacobi_plane, (S - 2) * (S - 2), "element"),
	KERNEL_ROW(seidel, (S - 2) * (S - 2), "element"),
	KERNEL_ROW(prefix_sum, N, "element"),
	KERNEL_ROW(prefix_in_place, N - 1, "element"),
	KERNEL_ROW(first_order, N - 1, "element"),
	KERNEL_ROW(fir, N - 8, "element"),
	KERNEL_ROW(sum_words, KERNEL_WORDS, "word"),
	KERNEL_ROW(sum_float, N, "element"),
	KERNEL_ROW(sum_four, N, "element"),
	KERNEL_ROW(least, KERNEL_WORDS, "word"),
	KERNEL_ROW(sums_of_far, (256 << 10) / 8, "element"),
	{ NULL },
};
