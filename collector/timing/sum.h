/* SPDX-License-Identifier: MIT */
/* What many short runs of one loop say about the time of a pass. Pure: it is told times and looks at no clock.
 *
 * What disturbs a run (interrupts, other tasks, a hypervisor) makes it longer and never shorter, so the least is the
 * figure. Runs have two lengths, N and 2 N passes; the least of either kind differ by N passes, and what a call costs
 * beside its passes is in neither. A difference of two runs that belong together would be too small where the shorter
 * one was disturbed, and the least of such differences would be wrong by what was disturbed most. */
#ifndef GUS_COLLECTOR_TIMING_SUM_H
#define GUS_COLLECTOR_TIMING_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two runs, in ticks of the clock. */
struct gus_timing_sample {
	double once, twice;     /* of N and 2 N passes; twice is 0 where a run is so long that its call is nothing */
	double before, after;   /* the pace of the core, in cycles a tick, at both ends of the turn that it is of */
	double round;           /* ticks a round (gus_clock_rounds), the more of before and behind; 0: nobody looked */
	uint32_t turn;
	bool disturbed;         /* the thread was moved to another CPU, or left its own */
};

enum gus_timing_trouble {
	GUS_TIMING_NOISY = 1,   /* fewer than a quarter are within 1 % of the least */
	GUS_TIMING_BISTABLE = 2, /* they gather at two times that are more than 2 % apart, a quarter at each */
	GUS_TIMING_MOVED = 4,   /* each was disturbed, or the core changed its pace meanwhile: none is left */
	GUS_TIMING_BESIDE = 8,  /* another thread was on the core all the while: what a part of it takes */
};

/* Cycles of the core, a pass. */
struct gus_timing_sum {
	double cycles;          /* the least; NAN without any sample */
	double median, high;    /* of those kept; three quarters are below high */
	double pace;            /* cycles a tick, while they were taken */
	double call;            /* ticks that a run takes beside its passes */
	uint32_t samples, kept;
	uint32_t beside;        /* samples that another thread of the core was beside, and that were left out for it */
	uint32_t trouble;       /* enum gus_timing_trouble */
	bool settled;           /* the least was seen often enough to be believed */
};

/* passes: N, at least 1; alone: cycles a round while nobody else is on the core, 0: not known. Only samples at one pace
 * of the core are kept: the fastest that a third of them had; of these only those that had the core for themselves, if
 * there are any. */
void gus_timing_add_up(const struct gus_timing_sample *samples, size_t n, uint64_t passes, double alone,
		       struct gus_timing_sum *sum);

#endif
