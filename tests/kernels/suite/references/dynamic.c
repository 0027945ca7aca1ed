/* SPDX-License-Identifier: MIT */
/* Least distances from each place by itself (Dijkstra); pairs of a strand by what its first base does. */
#include <stdlib.h>

#include "../suite.h"

static void distances_from(uint32_t *best, char *done, const uint32_t *length, long from, long n)
{
	for (long i = 0; i < n; i++) {
		best[i] = length[from * n + i];
		done[i] = 0;
	}
	for (long turn = 0; turn < n; turn++) {
		long next = -1;

		for (long i = 0; i < n; i++)
			if (!done[i] && (next < 0 || best[i] < best[next]))
				next = i;
		done[next] = 1;
		for (long i = 0; i < n; i++)
			if (best[next] + length[next * n + i] < best[i])
				best[i] = best[next] + length[next * n + i];
	}
}

SUITE(floyd_warshall)
{
	uint32_t *distance = room->array[1];
	long n = room->n;
	char *done = malloc((size_t)n);

	if (!done)
		abort();
	for (long i = 0; i < n; i++)
		distances_from(distance + i * n, done, room->array[0], i, n);
	free(done);
	return 0;
}

/* The first base of a stretch has no partner, or one that parts the rest. Shorter stretches first. */
static int32_t pairs_of(const uint8_t *base, const int32_t *most, long i, long j, long n)
{
	int32_t best = 0;

	if (j - i <= 3)
		return 0;
	best = most[(i + 1) * n + j];
	for (long k = i + 4; k <= j; k++) {
		int32_t pairs = base[i] + base[k] == 3 ? 1 + most[(i + 1) * n + k - 1] : -1;

		if (pairs > 0 && k < j)
			pairs += most[(k + 1) * n + j];
		best = pairs > best ? pairs : best;
	}
	return best;
}

SUITE(nussinov)
{
	int32_t *most = room->array[1];
	long n = room->n;

	for (long length = 0; length < n; length++)
		for (long i = 0; i + length < n; i++)
			most[i * n + i + length] = pairs_of(room->array[0], most, i, i + length, n);
	return 0;
}
