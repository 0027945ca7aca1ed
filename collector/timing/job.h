/* SPDX-License-Identifier: MIT */
/* A microbenchmark, as code and memory and nothing that is known of them; and what came of it. */
#ifndef GUS_COLLECTOR_TIMING_JOB_H
#define GUS_COLLECTOR_TIMING_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/timing/sum.h"

/* A microbenchmark: void f(uint64_t passes, void *arena) of the platform's C, which keeps the registers that a function
 * has to keep. Everything in it belongs to the caller. */
struct gus_timing_job {
	const uint8_t *code;
	size_t size;
	uint64_t arena;         /* bytes of memory that it works on; begins at a multiple of 2 MiB */
	bool huge;              /* of 2 MiB pages, else of base pages and no others */
	bool shared;            /* it is for what another thread of the core does to it, so that is not left out */
	/* Puts into the arena what the code wants to find there, by the bytes of what and nothing else, as it is
	 * called in the other process: neither takes part in memory that was allocated since the opening. May be NULL.
	 * Those with the same fill and what may share their memory and find it as they left it: they must not write to
	 * what was put there. */
	void (*fill)(const void *what, size_t size, void *arena);
	const void *what;
	size_t what_size;
	uint64_t warm;          /* passes after which it runs as it will; runs are of multiples of that */
	uint64_t passes;        /* of a run, at least; 0: so many as time can be told of */
};

/* What it did instead of coming back. */
enum gus_timing_fault {
	GUS_TIMING_RETURNED,
	GUS_TIMING_SIGNAL,      /* it was killed by a signal, SIGSYS if it called the kernel */
	GUS_TIMING_ENDLESS,     /* it was stopped by us */
	GUS_TIMING_NONSENSE,    /* its runs took no time that there is */
	GUS_TIMING_SMALL_PAGES, /* it did not run: the large pages that it wants were not to be had */
};
struct gus_timing_result {
	struct gus_timing_sum sum; /* without samples if there is a fault */
	uint64_t passes;        /* of its runs */
	enum gus_timing_fault fault;
	int signal;
};

#endif
