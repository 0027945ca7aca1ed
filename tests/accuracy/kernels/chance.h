/* SPDX-License-Identifier: MIT */
/* What the kernels that tests/accuracy/programs traces have in common: numbers by chance that are the same in each run,
 * how often a kernel does its work, memory that is there or the end. */
#ifndef GUS_TESTS_CHANCE_H
#define GUS_TESTS_CHANCE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t chance_state = 0x9e3779b97f4a7c15;

static inline uint64_t chance(void)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return chance_state >> 11;
}

/* From 0 to n - 1. */
static inline uint32_t chance_below(uint32_t n)
{
	return (uint32_t)(((chance() & 0xffffffff) * n) >> 32);
}

/* From 0 to 1. */
static inline double chance_real(void)
{
	return (double)(chance() & 0xffffffffffff) / 281474976710656.;
}

/* The first argument, 1 without one. */
static inline unsigned chance_passes(int argc, char **argv)
{
	return argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
}

static inline void *chance_room(size_t n, size_t size)
{
	void *room = calloc(n, size);

	if (!room) {
		fputs("there is not enough memory\n", stderr);
		exit(99);
	}
	return room;
}

#endif
