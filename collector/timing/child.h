/* SPDX-License-Identifier: MIT */
/* The process that executes microbenchmarks and times them, from its beginning to its end. */
#ifndef GUS_COLLECTOR_TIMING_CHILD_H
#define GUS_COLLECTOR_TIMING_CHILD_H

#include <stdbool.h>

struct gus_shared;

enum { GUS_TIMING_COUNTER_LOST = 3 };   /* its exit status: others have taken the PMU */

struct gus_timing_child {
	struct gus_shared *shared;
	int code;               /* a file with the microbenchmarks' code, GUS_SHARED_CODE bytes of it */
	int channel;            /* a byte goes when it is ready; one comes with an order, and goes when it is done */
	int cpu;                /* where it stays */
	double ticks_a_second;
	bool counter;           /* whether the PMU is to be tried */
};

void gus_timing_child(const struct gus_timing_child *how) __attribute__((noreturn));

#endif
