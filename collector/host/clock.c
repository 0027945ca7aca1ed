/* SPDX-License-Identifier: MIT */
/* A dependent add of two registers takes a cycle on every core that gusprof knows; those that add constants while
 * they rename (Intel since Golden Cove) add no registers so. A product of 64 bits takes 3 on every Intel core since
 * Nehalem, the small ones since Goldmont Plus among them, and on AMD since Zen; cores of arm64 differ, so there the
 * second chain is of subtractions. */
#include "collector/host/clock.h"

#define TIMES_4(x) x x x x
#define TIMES_64(x) TIMES_4(TIMES_4(TIMES_4(x)))

#if defined(__x86_64__)
#define CHAIN(body) \
	__asm__ volatile(".p2align 6\n1:\n\t" body "dec %1\n\tjnz 1b" : "+r"(v), "+r"(n) : : "cc")
#define ADDS TIMES_64("add %0, %0\n\t") TIMES_64("add %0, %0\n\t") TIMES_64("add %0, %0\n\t")
#define PRODUCTS TIMES_64("imul %0, %0\n\t")
#elif defined(__aarch64__)
#define CHAIN(body) \
	__asm__ volatile(".p2align 6\n1:\n\t" body "subs %1, %1, #1\n\tb.ne 1b" : "+r"(v), "+r"(n) : : "cc")
#define ADDS TIMES_64("add %0, %0, %1\n\t") TIMES_64("add %0, %0, %1\n\t") TIMES_64("add %0, %0, %1\n\t")
#define PRODUCTS TIMES_64("sub %0, %0, %1\n\t") TIMES_64("sub %0, %0, %1\n\t") TIMES_64("sub %0, %0, %1\n\t")
#else
#define CHAIN(body) \
	do { \
		(void)v; \
		(void)n; \
	} while (0)
#endif

static void run_adds(uint64_t n)
{
	uint64_t v = 3;

	CHAIN(ADDS);
}

static void run_products(uint64_t n)
{
	uint64_t v = 3;

	CHAIN(PRODUCTS);
}

void gus_clock_rounds(uint64_t n)
{
	uint64_t v = 0;

	CHAIN("");
}

void gus_clock_run(enum gus_clock_chain chain, uint64_t n)
{
	if (!n)
		return;
	if (chain == GUS_CLOCK_ADDS)
		run_adds(n);
	else
		run_products(n);
}
