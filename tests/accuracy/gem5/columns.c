/* SPDX-License-Identifier: MIT */
/* Sums of the columns of a matrix that no cache holds, so many columns at a time: `columns B PASSES` says the useful
 * bytes of all passes, and the CPU time.
 *
 * A row of a block has 8 B useful bytes, and lines have 64: where B is less than 8 the rest of each is fetched in vain,
 * as it has left the caches when its block's turn comes. From 8 on there is nothing more to be had of that. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../kernels/chance.h"

enum { ROWS = 65536, COLUMNS = 128 };

typedef double matrix[ROWS][COLUMNS];

#define SUMS(b) \
	__attribute__((noinline)) void sums_##b(const matrix *m, double *to) \
	{ \
		for (long c = 0; c < COLUMNS; c += b) { \
			double sum[b] = { 0 }; \
\
			for (long r = 0; r < ROWS; r++) \
				for (long k = 0; k < b; k++) \
					sum[k] += (*m)[r][c + k]; \
			memcpy(to + c, sum, sizeof(sum)); \
		} \
	}
SUMS(1)
SUMS(2)
SUMS(4)
SUMS(8)
SUMS(16)
SUMS(32)

static const struct { unsigned b; void (*sums)(const matrix *m, double *to); } blocks[] = {
	{ 1, sums_1 }, { 2, sums_2 }, { 4, sums_4 }, { 8, sums_8 }, { 16, sums_16 }, { 32, sums_32 },
};

int main(int argc, char **argv)
{
	unsigned b = chance_passes(argc, argv), passes = chance_passes(argc - 1, argv + 1);
	matrix *m = aligned_alloc(2 << 20, sizeof(*m));
	double to[COLUMNS] = { 0 };
	struct timespec from, end;

	if (!m)
		return 99;
	madvise(m, sizeof(*m), MADV_HUGEPAGE); /* it is about lines, not pages; where there are none, both */
	for (long r = 0; r < ROWS; r++)
		for (long c = 0; c < COLUMNS; c++)
			(*m)[r][c] = (double)(r ^ c);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (unsigned i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		for (unsigned left = blocks[i].b == b ? passes : 0; left; left--)
			blocks[i].sums(m, to);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%.6g in the first, %zu bytes, %.6f s\n", to[0], passes * sizeof(*m),
	       (double)(end.tv_sec - from.tv_sec) + (double)(end.tv_nsec - from.tv_nsec) * 1e-9);
	free(m);
	return 0;
}
