/* SPDX-License-Identifier: MIT */
/* Accesses and branches whose pattern is known: `patterns NAME SIZE STEP PASSES`.
 *
 *	walk	SIZE bytes from the first to the last, one load each STEP bytes
 *	chase	the same places, in an order by chance that is the same in each pass, each found in the one before
 *	fill	as walk, with stores
 *	branch	SIZE branches, taken or not by one of the patterns of STEP: 0 always, 1 alternately, 2 by chance, 3 with
 *	a period of
 *		1000 by chance, 4 each tenth not, 5 in two of three by chance
 *
 * Each is a function of that name, whose loads and branches are counted; what prepares for it is not. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 88172645463325252;

static uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

/* So that no compiler moves or merges what is counted. */
static inline uint64_t load(const void *at)
{
	return *(const volatile uint64_t *)at;
}

__attribute__((noinline)) uint64_t walk(const char *from, uint64_t size, uint64_t step)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < size; i += step)
		sum += load(from + i);
	return sum;
}

__attribute__((noinline)) uint64_t fill(char *from, uint64_t size, uint64_t step)
{
	for (uint64_t i = 0; i < size; i += step)
		*(volatile uint64_t *)(from + i) = i;
	return size;
}

__attribute__((noinline)) uint64_t chase(const char *from, uint64_t times)
{
	uint64_t at = 0;

	while (times--)
		at = load(from + at);
	return at;
}

__attribute__((noinline)) uint64_t branch(const uint8_t *ways, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		if (ways[i])
			__asm__ volatile("inc %0" : "+r"(sum));
	return sum;
}

/* A cycle through all places. */
static void link_places(char *from, uint64_t size, uint64_t step)
{
	uint64_t n = size / step, *order = malloc(n * sizeof(*order));

	if (!order)
		exit(99);
	for (uint64_t i = 0; i < n; i++)
		order[i] = i;
	for (uint64_t i = n - 1; i; i--) {
		uint64_t k = rnd() % (i + 1), other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (uint64_t i = 0; i < n; i++)
		*(uint64_t *)(from + order[i] * step) = order[(i + 1) % n] * step;
	free(order);
}

static void choose_ways(uint8_t *ways, uint64_t n, uint64_t pattern)
{
	for (uint64_t i = 0; i < n; i++)
		ways[i] = pattern == 0 ? 1 : pattern == 1 ? i & 1 : pattern == 4 ? i % 10 != 0 : pattern == 5 ?
			rnd() % 3 != 0 :
			pattern == 3 && i >= 1000 ? ways[i - 1000] : rnd() & 1;
}

int main(int argc, char **argv)
{
	uint64_t size = argc == 5 ? strtoull(argv[2], NULL, 10) : 0, step = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;
	uint64_t passes = argc == 5 ? strtoull(argv[4], NULL, 10) : 0, sum = 0;
	char *from = size ? aligned_alloc(4096, (size + 4095) / 4096 * 4096) : NULL;

	if (!from)
		return 99;
	memset(from, 0, size);
	if (strcmp(argv[1], "chase") == 0)
		link_places(from, size, step);
	for (uint64_t p = 0; p < passes; p++) {
		if (strcmp(argv[1], "branch") == 0 &&
		    (!p || step == 2 || step == 5)) /* chance does not repeat itself */
			choose_ways((uint8_t *)from, size, step);
		if (strcmp(argv[1], "walk") == 0)
			sum += walk(from, size, step);
		if (strcmp(argv[1], "fill") == 0)
			sum += fill(from, size, step);
		if (strcmp(argv[1], "chase") == 0)
			sum += chase(from, size / step);
		if (strcmp(argv[1], "branch") == 0)
			sum += branch((uint8_t *)from, size);
	}
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
