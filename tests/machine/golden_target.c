/* SPDX-License-Identifier: MIT */
/* What golden machines execute and machines that are played record: three functions, each of which waits for something
 * else. It goes on for so many rounds or, of "MS ms", for so many milliseconds. It stands where it is linked to, so
 * addresses of one run are those of another. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELLS = 16384, STRIDE = 64, STEPS = 1500, DIVISIONS = 400, BRANCHES = 1500 };

static struct { void *next; char rest[STRIDE - sizeof(void *)]; } cells[CELLS];

/* A ring through all cells, in an order that no prefetcher knows. */
static void link_cells(void)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < CELLS; i++) {
		uint32_t next = (at * 4093 + 1) % CELLS;

		cells[at].next = &cells[next];
		at = next;
	}
}

__attribute__((noinline)) static void **chase(void **at)
{
	for (unsigned i = 0; i < STEPS; i++)
		at = *at;
	return at;
}

__attribute__((noinline)) static uint64_t divide(uint64_t x)
{
	for (unsigned i = 0; i < DIVISIONS; i++)
		x = UINT64_MAX / (x | 1) + 12345;
	return x;
}

__attribute__((noinline)) static uint64_t branch(uint64_t *seed)
{
	uint64_t x = *seed, n = 0;

	for (unsigned i = 0; i < BRANCHES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x & 1)
			__asm__ volatile("add $1, %0" : "+r"(n));
		else
			__asm__ volatile("sub $3, %0" : "+r"(n));
	}
	*seed = x;
	return n;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 500;
	bool timed = argc > 2 && strcmp(argv[2], "ms") == 0;
	int64_t until = timed ? now_ms() + n : 0;
	uint64_t x = 1, seed = 88172645463325252u;
	void **at;

	link_cells();
	at = &cells[0].next;
	for (long i = 0; timed ? now_ms() < until : i < n; i++) {
		at = chase(at);
		x = divide(x);
		x += branch(&seed);
	}
	return at == NULL || x == 0;
}
