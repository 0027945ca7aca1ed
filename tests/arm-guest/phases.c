/* SPDX-License-Identifier: MIT */
/* A program whose functions' shares of its time are known: phases ONE TWO ROUNDS [wait].
 *
 * Each round does ONE units of work in phase_one and TWO in phase_two. A unit is the same instructions in both, so the
 * shares are ONE and TWO by argument; and as one clock has to agree with that, the CPU time of each is measured around
 * its calls, and printed at the end: "one NS two NS". ROUNDS 0: until SIGTERM. wait: not before there is a line on
 * standard input, so that others can be ready by then. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define UNIT 200000             /* turns of the loop: a millisecond or some, where a CPU is emulated */

static volatile sig_atomic_t asked_to_end;
static uint32_t table[4096];

uint32_t phase_one(unsigned units, uint32_t x);
uint32_t phase_two(unsigned units, uint32_t x);
uint32_t play(unsigned one, unsigned two, uint64_t ns[2]);

static void on_signal(int number)
{
	(void)number;
	asked_to_end = 1;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A chain of loads, stores and arithmetic, which no compiler shortens. */
#define WORK(units, x) do { \
	for (unsigned long i = 0; i < (unsigned long)(units) * UNIT; i++) { \
		(x) = (x) * 1664525 + 1013904223 + table[(x) >> 20]; \
		table[i & 4095] ^= (x); \
	} \
} while (0)

__attribute__((noinline)) uint32_t phase_one(unsigned units, uint32_t x)
{
	WORK(units, x);
	return x;
}

__attribute__((noinline)) uint32_t phase_two(unsigned units, uint32_t x)
{
	WORK(units, x);
	return x + 1;
}

__attribute__((noinline)) uint32_t play(unsigned one, unsigned two, uint64_t ns[2])
{
	uint64_t begun = cpu_ns(), between;
	uint32_t x = phase_one(one, (uint32_t)begun);

	between = cpu_ns();
	x = phase_two(two, x);
	ns[0] += between - begun;
	ns[1] += cpu_ns() - between;
	return x;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	uint64_t ns[2] = { 0, 0 };
	uint32_t x = 0;

	if (argc < 4) {
		fprintf(stderr, "usage: phases ONE TWO ROUNDS [wait]\n");
		return 2;
	}
	signal(SIGTERM, on_signal);
	if (argc > 4 && getchar() == EOF)
		return 3;
	for (unsigned long i = 0; (!rounds || i < rounds) && !asked_to_end; i++)
		x += play((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), ns);
	printf("one %llu two %llu\n", (unsigned long long)ns[0], (unsigned long long)ns[1]);
	return x == 12345;
}
