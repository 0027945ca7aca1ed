/* SPDX-License-Identifier: MIT */
#include "timer.h"

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
#include <stdlib.h>
#include <x86intrin.h>

enum {
	CHAIN = 200 * 20,      /* multiplications */
	NOPS = 500 * 10,
	SAMPLES = 4096,        /* at most */
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

/* One sample: cycles of the work by the mean of both chains, and what tells whether it counts. */
struct sample {
	double cycles;
	double nops;   /* a cycle, the fewer of before and after */
	double apart;  /* the two chains, as a share */
};

static struct sample take(void (*work)(void *what), void *what, unsigned times)
{
	double before = chain(), first = nops(), ticks, second, after, a_cycle;
	uint64_t start = now();

	for (unsigned i = 0; i < times; i++)
		work(what);
	ticks = (double)(now() - start);
	second = nops();
	after = chain();
	a_cycle = (before + after) / 2 / (3 * CHAIN);
	return (struct sample){ ticks / a_cycle / times, NOPS / (fmax(first, second) / a_cycle),
		fabs(before - after) / fmin(before, after) };
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct timed timer_measure(void (*work)(void *what), void *what, double seconds, unsigned enough)
{
	static struct sample samples[SAMPLES];
	static double kept[SAMPLES];
	struct timed timed = { 0 };
	uint64_t start, span;
	unsigned times = 1;

	for (struct sample s; (s = take(work, what, times)).cycles * times < WORK_CYCLES && times < 1U << 20; )
		times *= 2;
	start = now();
	span = (uint64_t)(seconds * 2.6e9);  /* about; ticks of most machines are 2 to 4 GHz */
	for (; timed.taken < SAMPLES && timed.taken < 4 * enough && (timed.taken < 20 || now() - start < span);
	     timed.taken++) {
		samples[timed.taken] = take(work, what, times);
		timed.nops = fmax(timed.nops, samples[timed.taken].apart < 0.01 ? samples[timed.taken].nops : 0);
	}
	for (unsigned i = 0; i < timed.taken; i++)
		if (samples[i].apart < 0.01 && samples[i].nops > 0.97 * timed.nops)
			kept[timed.kept++] = samples[i].cycles;
	for (unsigned i = 0; i < timed.taken && timed.kept == 0; i++)
		kept[i] = samples[i].cycles;
	qsort(kept, timed.kept ? timed.kept : timed.taken, sizeof(*kept), ascending);
	timed.least = kept[0];
	timed.median = kept[(timed.kept ? timed.kept : timed.taken) / 2];
	return timed;
}
#endif
