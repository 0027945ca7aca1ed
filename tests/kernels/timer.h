/* SPDX-License-Identifier: MIT */
/* How long code takes here, in cycles of the core, where there is no counter of these: by the time-stamp counter,
 * beside a chain of dependent multiplications of three cycles each, which has run immediately before and after.
 *
 * Others run on this machine: what runs on the other thread of our core takes issue slots away, and the host takes the
 * CPU away. So of many short samples those count before and after which a probe, a loop with nothing in it, went round
 * as fast as it ever did, and both chains took the same; of these the least is nearest to what the code takes alone,
 * and the median says how far the others are.
 */
#ifndef GUS_TESTS_TIMER_H
#define GUS_TESTS_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct timed {
	double least, median;  /* cycles a run of the work; of the samples that count */
	unsigned kept, taken;  /* samples */
	double rounds;         /* a cycle, the most that the probe has seen: 1, or 0.5 where branches take two */
};

/* Whether this machine can be timed so. */
bool timer_works(void);

/* Times `work`, which is called with `what`: until `enough` samples count, for `seconds` at most. Where none counts
 * (kept is 0) the figures are of all. rounds: what the probe is known to reach on this machine, as a neighbour may
 * be there all the while; 0: nothing is known. */
struct timed timer_measure(void (*work)(void *what), void *what, double seconds, unsigned enough, double rounds);

/* The work of a probe: multiplications, each of the one before, in units of GUS_CLOCK_UNIT cycles, and rounds of an
 * empty loop. */
enum { TIMER_UNITS = 63, TIMER_ROUNDS = 3000 };

/* What the time-stamp counter said: of the chains before and behind, of the rounds before and behind, of the work. */
struct timer_ticks { double chain[2], rounds[2], work; };

/* One sample: cycles of a run of the work, and what tells whether it counts. */
struct timer_sample {
	double cycles;
	double rounds; /* a cycle, the fewer of before and after */
	double apart;  /* the two chains, as a share */
};

/* Ticks in which the work was run so many times as a sample. A cycle is what it takes in the mean of both chains. */
struct timer_sample timer_sample_of(const struct timer_ticks *t, unsigned times);
/* What n samples, at least one, say. Those count whose chains are at most 1 % apart and whose probe was at least 90 %
 * of the fastest of such, or of what is known of it. */
struct timed timer_judge(const struct timer_sample *samples, unsigned n, double rounds);

#endif
