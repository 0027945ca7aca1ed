/* SPDX-License-Identifier: MIT */
#include "collector/host/frequency.h"

#include <stdlib.h>
#include <time.h>

#include "base/ascending.h"
#include "collector/host/clock.h"

#define RUNS 9
#define UNITS 250          /* of the chain, a run: 16 us at 3 GHz */
#define ROUNDS 20000       /* of a loop with nothing in it, likewise: 7 us, alone and at one a cycle */
#define PLAUSIBLE_LOW_KHZ 200000
#define PLAUSIBLE_HIGH_KHZ 8000000

#if defined(__x86_64__)
#define CYCLES (UNITS * GUS_CLOCK_UNIT)
#define RULE "chain of dependent 64-bit imul, 3 cycles each"
#elif defined(__aarch64__)
#define CYCLES (UNITS * GUS_CLOCK_UNIT)
#define RULE "chain of dependent sub, 1 cycle each"
#else
#define CYCLES 0
#define RULE "none known for this architecture"
#endif

void gus_frequency_measure(Gusprof__Frequency *f)
{
	static const char rule[] = RULE;
	const uint64_t cycles_e6 = (uint64_t)CYCLES * 1000000;
	uint64_t ns[RUNS], rounds[RUNS];

	gusprof__frequency__init(f);
	f->rule = (char *)(uintptr_t)rule; /* the generated type lacks the const */
	gus_clock_run(GUS_CLOCK_PRODUCTS, 2 * UNITS); /* wakes the core up */
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t start = gus_clock_ns(CLOCK_MONOTONIC), then;

		gus_clock_run(GUS_CLOCK_PRODUCTS, UNITS);
		then = gus_clock_ns(CLOCK_MONOTONIC);
		gus_clock_rounds(ROUNDS);
		rounds[i] = gus_clock_ns(CLOCK_MONOTONIC) - then;
		ns[i] = then - start;
		rounds[i] = ns[i] ? rounds[i] * CYCLES * 1000 / ROUNDS / ns[i] : 0;
	}
	qsort(ns, RUNS, sizeof(*ns), gus_ascending_u64);
	qsort(rounds, RUNS, sizeof(*rounds), gus_ascending_u64);
	if (!ns[0] || cycles_e6 / ns[0] > PLAUSIBLE_HIGH_KHZ || cycles_e6 / ns[RUNS / 2] < PLAUSIBLE_LOW_KHZ)
		return;
	f->high_khz = cycles_e6 / ns[0];
	f->low_khz = cycles_e6 / ns[RUNS / 2];
	f->round_millicycles = (uint32_t)rounds[RUNS / 2];
}
