/* SPDX-License-Identifier: MIT */
#include "timer.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 1 << 15, BATCH = 50 };

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool counts(const struct timer_sample *s, double most)
{
	return s->apart <= 0.01 && s->rounds >= 0.9 * most;
}

struct timer_sample timer_sample_of(const struct timer_ticks *t, unsigned times)
{
	enum { MULTIPLICATION = 3 }; /* cycles, on every x86 of the tables */
	double cycle = (t->chain[0] + t->chain[1]) / 2 / (MULTIPLICATION * TIMER_CHAIN);

	return (struct timer_sample){ t->work / cycle / times, TIMER_ROUNDS * cycle / fmax(t->rounds[0], t->rounds[1]),
		fabs(t->chain[0] - t->chain[1]) / fmin(t->chain[0], t->chain[1]) };
}

/* Of samples whose clocks agree; of many of them the fifth, as a clock that stands still for a while makes fast
 * rounds. */
static double most_rounds(const struct timer_sample *samples, unsigned n)
{
	static double rounds[SAMPLES];
	unsigned used = 0;

	for (unsigned i = 0; i < n && used < SAMPLES; i++)
		if (samples[i].apart <= 0.01)
			rounds[used++] = samples[i].rounds;
	if (!used)
		return 0;
	qsort(rounds, used, sizeof(*rounds), ascending);
	return rounds[used - 1 - (used >= BATCH ? 4 : 0)];
}

struct timed timer_judge(const struct timer_sample *samples, unsigned n, double rounds)
{
	static double cycles[SAMPLES];
	struct timed timed = { .taken = n };
	unsigned used = 0;

	timed.rounds = most_rounds(samples, n);
	rounds = fmax(rounds, timed.rounds);
	for (unsigned i = 0; i < n; i++)
		timed.kept += counts(&samples[i], rounds);
	for (unsigned i = 0; i < n && used < SAMPLES; i++)
		if (timed.kept == 0 || counts(&samples[i], rounds))
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

struct timed timer_measure(void (*work)(void *what), void *what, double seconds, unsigned enough, double rounds)
{
	(void)work, (void)what, (void)seconds, (void)enough, (void)rounds;
	return (struct timed){ 0 };
}
#else
#include <time.h>
#include <x86intrin.h>

enum {
	CHAIN_TURN = 200,      /* multiplications in a turn of the loop */
	WORK_CYCLES = 20000,   /* a sample takes so many at least: 5 us */
};

_Static_assert(TIMER_CHAIN % CHAIN_TURN == 0, "whole turns");

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
	uint64_t start = now(), n = TIMER_CHAIN / CHAIN_TURN, v = 3;

	__asm__ volatile(".p2align 6\n1: .rept %c2\nimul %1, %1\n.endr\ndec %0\njnz 1b"
			 : "+r"(n), "+r"(v) : "i"(CHAIN_TURN));
	return (double)(now() - start);
}

/* Ticks of the rounds. */
static double rounds(void)
{
	uint64_t start = now(), n = TIMER_ROUNDS;

	__asm__ volatile(".p2align 6\n1: dec %0\njnz 1b" : "+r"(n));
	return (double)(now() - start);
}

static struct timer_sample take(void (*work)(void *what), void *what, unsigned times)
{
	struct timer_ticks t = { .chain[0] = chain() };
	uint64_t start;

	t.rounds[0] = rounds();
	start = now();
	for (unsigned i = 0; i < times; i++)
		work(what);
	t.work = (double)(now() - start);
	t.rounds[1] = rounds();
	t.chain[1] = chain();
	return timer_sample_of(&t, times);
}

static uint64_t nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct timed timer_measure(void (*work)(void *what), void *what, double seconds, unsigned enough, double rounds)
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
		timed = timer_judge(samples, n, rounds);
	}
	return timed;
}
#endif
