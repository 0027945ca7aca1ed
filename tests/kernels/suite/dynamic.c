/* SPDX-License-Identifier: MIT */
/* Dynamic programming: results made from those of parts. */
#include "suite.h"

/* The least distances of all pairs of n places. A step lets the ways go over one place more. */
SUITE(floyd_warshall)
{
	const uint32_t *restrict length = room->array[0];
	uint32_t *distance = room->array[1];
	long n = room->n;

	for (long i = 0; i < n * n; i++)
		distance[i] = length[i];
	for (long k = room->from; k < room->to; k++)
		for (long i = 0; i < n; i++)
			for (long j = 0; j < n; j++) {
				uint32_t over = distance[i * n + k] + distance[k * n + j];

				if (over < distance[i * n + j])
					distance[i * n + j] = over;
			}
	return 0;
}

/* How many pairs a strand of RNA can make with itself, none crossing another, with three bases or more between the two
 * of a pair (Nussinov). A step is all stretches that begin at one base, the last base first. */
SUITE(nussinov)
{
	const uint8_t *restrict base = room->array[0];
	int32_t *most = room->array[1];
	long n = room->n;

	for (long i = n - 1 - room->from; i > n - 1 - room->to; i--)
		for (long j = i; j < n; j++) {
			int32_t best = 0;

			if (j - i > 3) {
				int32_t both = most[(i + 1) * n + j - 1] + (base[i] + base[j] == 3);

				best = most[(i + 1) * n + j] > most[i * n + j - 1] ? most[(i + 1) * n + j] :
					most[i * n + j - 1];
				best = both > best ? both : best;
				for (long k = i + 1; k < j; k++) {
					int32_t parts = most[i * n + k] + most[(k + 1) * n + j];

					best = parts > best ? parts : best;
				}
			}
			most[i * n + j] = best;
		}
	return 0;
}
