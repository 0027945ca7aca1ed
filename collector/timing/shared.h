/* SPDX-License-Identifier: MIT */
/* The memory that the process which executes microbenchmarks shares with ours: what it is to do, and what it saw. It
 * executes foreign code, so whatever is read here by us is looked at as foreign bytes are. */
#ifndef GUS_COLLECTOR_TIMING_SHARED_H
#define GUS_COLLECTOR_TIMING_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/host/clock.h"
#include "collector/timing/sum.h"

enum {
	GUS_SHARED_JOBS = 64,           /* in one order */
	GUS_SHARED_SAMPLES = 768,       /* of a job */
	GUS_SHARED_WHAT = 1 << 20,      /* bytes that say how arenas are filled */
	GUS_SHARED_CODE = 4 << 20,
};

struct gus_shared_job {
	uint32_t code, code_size;       /* where it is in the code */
	bool shared;                    /* beside another thread is as good as alone */
	bool huge, fresh;               /* which arena; whether it has to be filled first */
	uint64_t arena, arena_size;     /* where it begins in the arena */
	uint32_t what, what_size;
	void (*fill)(const void *what, size_t size, void *arena);
	uint64_t warm, passes;
	/* What was seen. */
	bool small_pages;               /* the kernel had no more large ones */
	uint64_t made;                  /* passes of a run */
	uint32_t samples;
	struct gus_timing_sample sample[GUS_SHARED_SAMPLES];
};

enum gus_shared_phase { GUS_SHARED_RESTS, GUS_SHARED_PREPARES, GUS_SHARED_EXECUTES };

struct gus_shared {
	/* Of the beginning. */
	int32_t sys;                    /* errno of what could not be done, and then nothing else is */
	const char *failed;             /* what that was; a constant of the program, which both have at one place */
	uint64_t arena_most, arena_most_huge;
	bool counter;                   /* cycles are counted by the PMU */
	double call[GUS_CLOCK_CHAINS];  /* ticks that a run of each chain takes beside its cycles */
	double ratio;                   /* of a product to an add */
	double pace, clock_pace;        /* cycles a tick, of what runs are timed by; of the clock */
	double alone;                   /* cycles a round (gus_clock_rounds): see gus_alone_tell */

	/* An order. */
	uint32_t jobs;
	uint64_t most_ticks;            /* that are spent on a job */
	struct gus_shared_job job[GUS_SHARED_JOBS];
	_Alignas(16) uint8_t what[GUS_SHARED_WHAT]; /* for whatever it is */

	/* Where it is. step moves with each run. */
	volatile uint64_t step, passes;
	volatile uint32_t at;
	volatile enum gus_shared_phase phase;
};

#endif
