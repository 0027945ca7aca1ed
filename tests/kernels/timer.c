/* SPDX-License-Identifier: MIT */
#include "timer.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/ascending.h"
#include "collector/host/clock.h"

enum {
	SAMPLES = 1 << 15, BATCH = 50,
	WORK_CYCLES = 20000,   /* a sample takes so many at least: 5 us */
};

static bool counts(const struct timer_sample *s, double most)
{
	return s->apart <= 0.01 && s->rounds >= 0.9 * most;
}

struct timer_sample timer_sample_of(const struct timer_ticks *t, unsigned times)
{
	double cycle = (t->chain[0] + t->chain[1]) / 2 / (TIMER_UNITS * GUS_CLOCK_UNIT);

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
	qsort(rounds, used, sizeof(*rounds), gus_ascending);
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
	qsort(cycles, used, sizeof(*cycles), gus_ascending);
	timed.least = cycles[0];
	timed.median = cycles[used / 2];
	return timed;
}

bool timer_works(void)
{
#if defined(__x86_64__)
	return true;
#else
	return false; /* the ticks of others' clocks are too long */
#endif
}

static uint64_t now(void)
{
	uint32_t cpu;

	return gus_clock_ticks(&cpu);
}

/* Ticks of the chain. */
static double chain(void)
{
	uint64_t start = now();

	gus_clock_run(GUS_CLOCK_PRODUCTS, TIMER_UNITS);
	return (double)(now() - start);
}

/* Ticks of the rounds. */
static double rounds(void)
{
	uint64_t start = now();

	gus_clock_rounds(TIMER_ROUNDS);
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

	if (!timer_works())
		return timed;
	for (struct timer_sample s; (s = take(work, what, times)).cycles * times < WORK_CYCLES && times < 1U << 20; )
		times *= 2;
	while (timed.kept < enough && n + BATCH <= SAMPLES && (n == 0 || nanoseconds() < end)) {
		for (unsigned i = 0; i < BATCH; i++)
			samples[n++] = take(work, what, times);
		timed = timer_judge(samples, n, rounds);
	}
	return timed;
}
