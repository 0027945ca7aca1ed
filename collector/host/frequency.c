/* SPDX-License-Identifier: MIT */
#include "collector/host/frequency.h"

#include <stdlib.h>
#include <time.h>

#define UNROLL 32          /* instructions in the body of the loop; its two of overhead run beside the chain */
#define RUNS 9
#define RUN_LENGTH 500     /* times 32 multiplies of 3 cycles: 16 us at 3 GHz */
#define PLAUSIBLE_LOW_KHZ 200000
#define PLAUSIBLE_HIGH_KHZ 8000000

#define TIMES_4(x) x x x x
#define TIMES_32(x) TIMES_4(TIMES_4(x)) TIMES_4(TIMES_4(x))

#if defined(__x86_64__)
/* 64-bit imul has a latency of 3 cycles on every Intel core since Nehalem, the Atoms since Goldmont Plus among them,
 * and on AMD since Zen (agner.org's and uops.info's tables). */
#define LATENCY 3
#define RULE "chain of dependent 64-bit imul, 3 cycles each"
void gus_frequency_spin(uint64_t n)
{
	uint64_t v = 3;

	__asm__ volatile("1:\n\t" TIMES_32("imul %0, %0\n\t") "dec %1\n\tjnz 1b" : "+r"(v), "+r"(n) : : "cc");
}
#elif defined(__aarch64__)
/* A dependent add of registers takes 1 cycle on every core that gusprof knows. */
#define LATENCY 1
#define RULE "chain of dependent add, 1 cycle each"
void gus_frequency_spin(uint64_t n)
{
	uint64_t v = 3;

	__asm__ volatile("1:\n\t" TIMES_32("add %0, %0, %0\n\t") "subs %1, %1, #1\n\tb.ne 1b"
			 : "+r"(v), "+r"(n) : : "cc");
}
#else
#define LATENCY 0
#define RULE "none known for this architecture"
void gus_frequency_spin(uint64_t n)
{
	for (volatile uint64_t i = 0; i < n * UNROLL; i++)
		;
}
#endif

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void gus_frequency_measure(Gusprof__Frequency *f)
{
	static const char rule[] = RULE;
	const uint64_t cycles_e6 = (uint64_t)RUN_LENGTH * UNROLL * LATENCY * 1000000;
	uint64_t ns[RUNS];

	gusprof__frequency__init(f);
	f->rule = (char *)(uintptr_t)rule; /* the generated type lacks the const */
	gus_frequency_spin(RUN_LENGTH * 2); /* wakes the core up */
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t start = now_ns();

		gus_frequency_spin(RUN_LENGTH);
		ns[i] = now_ns() - start;
	}
	qsort(ns, RUNS, sizeof(*ns), ascending);
	if (!ns[0] || cycles_e6 / ns[0] > PLAUSIBLE_HIGH_KHZ || cycles_e6 / ns[RUNS / 2] < PLAUSIBLE_LOW_KHZ)
		return;
	f->high_khz = cycles_e6 / ns[0];
	f->low_khz = cycles_e6 / ns[RUNS / 2];
}
