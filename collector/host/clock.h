/* SPDX-License-Identifier: MIT */
/* A clock that is read in a few nanoseconds, of which only differences mean anything: what of x86 counts at one pace
 * whatever the core does (TSC), of arm64 the generic timer. And chains of dependent instructions of known latency,
 * which tell how many cycles of the core a tick of it is. */
#ifndef GUS_COLLECTOR_HOST_CLOCK_H
#define GUS_COLLECTOR_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The kernel's clocks in nanoseconds, which other programs can be compared with. */
static inline uint64_t gus_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Reads it when everything before is done and before anything behind begins. cpu: where; of arm64 always 0, as asking
 * would be a system call. */
static inline uint64_t gus_clock_ticks(uint32_t *cpu)
{
#if defined(__x86_64__)
	uint32_t low, high;

	/* rdtscp waits for what comes before to have executed, lfence what is behind it (Intel SDM 2B, RDTSCP). */
	__asm__ volatile("lfence\n\trdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(*cpu) : : "memory");
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
	*cpu = 0;
	return ticks;
#else
	*cpu = 0;
	return 0;
#endif
}

enum gus_clock_chain { GUS_CLOCK_ADDS, GUS_CLOCK_PRODUCTS, GUS_CLOCK_CHAINS };

enum { GUS_CLOCK_UNIT = 192 };  /* cycles */

/* Runs a chain that takes n * GUS_CLOCK_UNIT cycles, and what a call costs. */
void gus_clock_run(enum gus_clock_chain chain, uint64_t n);

/* Goes n times, n at least 1, round a loop with nothing in it. A thread that has its core for itself fetches it each
 * cycle, or each second one; of two threads that both fetch, each waits for the other, and its rounds take twice as
 * long. Chains, whose cycles hardly need the core, take the same in both cases. */
void gus_clock_rounds(uint64_t n);

#endif
