/* SPDX-License-Identifier: MIT */
#include "timer.h"

#include <stdlib.h>

enum { SAMPLES = 1 << 15, BATCH = 50 };

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool counts(const struct timer_sample *s, double most)
{
	return s->apart <= 0.01 && s->nops >= 0.97 * most;
}

struct timed timer_judge(const struct timer_sample *samples, unsigned n)
{
	static double cycles[SAMPLES];
	struct timed timed = { .taken = n };
	unsigned used = 0;

	for (unsigned i = 0; i < n; i++)
		if (samples[i].apart <= 0.01 && samples[i].nops > timed.nops)
			timed.nops = samples[i].nops;
	for (unsigned i = 0; i < n; i++)
		timed.kept += counts(&samples[i], timed.nops);
	for (unsigned i = 0; i < n && used < SAMPLES; i++)
		if (timed.kept == 0 || counts(&samples[i], timed.nops))
			cycles[used++] = samples[i].cycles;
	qsort(cycles, used, sizeof(*cycles), ascending);
	timed.least = cycles[0];
	timed.median = cycles[used / 2];
	return timed;
}

#if !defined(__x86_64__)
bool timer_works(void)
{
	return false;
}

struct timed timer_measure(void (*work)(void *what), void *what, double seconds, unsigned enough)
{
	(void)work, (void)what, (void)seconds, (void)enough;
	return (struct timed){ 0 };
}
#else
#include <math.h>
#include <time.h>
#include <x86intrin.h>

enum {
	CHAIN = 200 * 20,      /* multiplications */
	NOPS = 500 * 10,
	WORK_CYCLES = 20000,   /* a sample takes so many at least: 5 us */
};

bool timer_works(void)
{
	return true;
}

static uint64_t now(void)
{
	unsigned cpu;
	uint64_t ticks;

	_mm_lfence();
	ticks = __rdtscp(&cpu);
	_mm_lfence();
	return ticks;
}

/* Ticks of the chain. */
static double chain(void)
{
	uint64_t start = now(), n = CHAIN / 200, v = 3;

	__asm__ volatile(".p2align 6\n1: .rept 200\nimul %1, %1\n.endr\ndec %0\njnz 1b" : "+r"(n), "+r"(v));
	return (double)(now() - start);
}

/* Ticks of the nops. They are of one byte, and few enough of them for any cache of instructions. */
static double nops(void)
{
	uint64_t start = now(), n = NOPS / 500;

	__asm__ volatile(".p2align 6\n1: .rept 500\nnop\n.endr\ndec %0\njnz 1b" : "+r"(n));
	return (double)(now() - start);
}

/* By the mean of both chains. */
static struct timer_sample take(void (*work)(void *what), void *what, unsigned times)
{
	double before = chain(), first = nops(), ticks, second, after, a_cycle;
	uint64_t start = now();

	for (unsigned i = 0; i < times; i++)
		work(what);
	ticks = (double)(now() - start);
	second = nops();
	after = chain();
	a_cycle = (before + after) / 2 / (3 * CHAIN);
	return (struct timer_sample){ ticks / a_cycle / times, NOPS / (fmax(first, second) / a_cycle),
		fabs(before - after) / fmin(before, after) };
}

static uint64_t nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct timed timer_measure(void (*work)(void *what), void *what, double seconds, unsigned enough)
{
	static struct timer_sample samples[SAMPLES];
	uint64_t end = nanoseconds() + (uint64_t)(seconds * 1e9);
	struct timed timed = { 0 };
	unsigned times = 1, n = 0;

	for (struct timer_sample s; (s = take(work, what, times)).cycles * times < WORK_CYCLES && times < 1U << 20; )
		times *= 2;
	while (timed.kept < enough && n + BATCH <= SAMPLES && (n == 0 || nanoseconds() < end)) {
		for (unsigned i = 0; i < BATCH; i++)
			samples[n++] = take(work, what, times);
		timed = timer_judge(samples, n);
	}
	return timed;
}
#endif
