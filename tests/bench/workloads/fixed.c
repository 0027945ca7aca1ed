/* SPDX-License-Identifier: MIT */
/* A fixed amount of work in user space that fits the first-level cache, so that its CPU time hardly varies from run to
 * run and what a profiler adds to it can be seen. The argument is in units of about a millisecond. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t table[1024];

__attribute__((noinline)) static uint64_t mix(uint64_t x)
{
	for (unsigned i = 0; i < 4096; i++) {
		uint64_t *cell = &table[x >> 54];

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		*cell = *cell * 3 + x;
		x += *cell >> 60;
	}
	return x;
}

int main(int argc, char **argv)
{
	unsigned long units = argc > 1 ? strtoul(argv[1], NULL, 10) : 2500;
	uint64_t x = 88172645463325252u;

	for (unsigned long i = 0; i < units * 64; i++)
		x = mix(x);
	printf("%llx\n", (unsigned long long)x);
	return 0;
}
