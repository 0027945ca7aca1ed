/* SPDX-License-Identifier: MIT */
/* A stencil over a grid that is larger than the caches: each cell has 19 neighbours' values, and writes 8. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef AHEAD
#define AHEAD 0                 /* cells that a software prefetch is ahead; 0: none */
#endif
enum { CELLS = 1 << 17, VALUES = 20 };  /* of 160 bytes: 21 MB each grid */
struct cell { double v[VALUES]; };

static __attribute__((noinline)) void sweep(struct cell *restrict to, const struct cell *restrict from,
					    const uint32_t *order)
{
	for (int i = 0; i < CELLS; i++) {
		const struct cell *c = &from[order[i]];
		struct cell *out = &to[order[i]];
		double sum = 0;

#if AHEAD
		__builtin_prefetch(&from[order[i + AHEAD]].v[0]);
		__builtin_prefetch(&from[order[i + AHEAD]].v[8]);
		__builtin_prefetch(&from[order[i + AHEAD]].v[16]);
#endif
		for (int k = 0; k < VALUES; k++)
			sum += c->v[k];
		for (int k = 0; k < VALUES; k++)
			out->v[k] = c->v[k] * 0.5 + sum * 0.025;
	}
}

int main(int argc, char **argv)
{
	struct cell *a = calloc(CELLS, sizeof(*a)), *b = calloc(CELLS, sizeof(*b));
	uint32_t *order = calloc(CELLS + 64, sizeof(*order));
	uint64_t x = 88172645463325252ull;
	int sweeps = argc > 1 ? atoi(argv[1]) : 100;

	for (uint32_t i = 0; i < CELLS; i++)
		order[i] = i;
	for (uint32_t i = CELLS - 1; i; i--) { /* as a grid's cells lie to an unstructured solver */
		uint32_t j, t = order[i];

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		j = (uint32_t)(x % (i + 1));
		order[i] = order[j];
		order[j] = t;
	}
	for (int s = 0; s < sweeps; s++)
		sweep(s & 1 ? a : b, s & 1 ? b : a, order);
	printf("%g\n", a[7].v[3]);
}
