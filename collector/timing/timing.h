/* SPDX-License-Identifier: MIT */
/* Times functions in machine code: how many cycles of the core a pass of their loop takes. They are executed in a
 * process of our own that stays on one CPU and may do nothing else (collector/timing/forbid.h): what one of them breaks
 * is that process, which is begun again, and an error of that one. */
#ifndef GUS_COLLECTOR_TIMING_TIMING_H
#define GUS_COLLECTOR_TIMING_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/timing/job.h"

struct gus_error;
struct gus_timing;

struct gus_timing_options {
	int cpu;                /* -1: the one that we are on */
	uint64_t most_ns;       /* that are spent on one that doesn't settle, about; 0: 50 ms */
	uint64_t patient_ns;    /* since the opening: what doesn't settle behind that gets a fifth,
				 * behind twice of that a tenth; 0: never */
	bool no_counter;        /* cycles by chains also where there is a PMU */
};

/* What one may take that is begun so long after the opening. On a busy machine little settles, and all of it takes as
 * long as it may: who has been promised an end within some time gets it so, with figures that are less sure. */
uint64_t gus_timing_most_ns(const struct gus_timing_options *options, uint64_t since_ns);

/* What holds here. */
struct gus_timing_facts {
	int cpu;
	uint64_t arena_most, arena_most_huge; /* bytes that microbenchmarks of one run may ask for in all */
	bool counter;           /* cycles are those of the PMU */
	double ticks_hz;        /* of the clock: the TSC, the generic timer */
	double core_hz, core_low, core_high; /* of the core: at the beginning; the least and most that were seen */
	double ratio;           /* of a product to an add, as a part of what it is known to be: 1 */
	bool chains_agree;      /* else only adds are believed */
	double beside;          /* of the samples taken until now, those that another thread of the core was beside */
};

/* NULL with err. */
struct gus_timing *gus_timing_open(const struct gus_timing_options *options, struct gus_error *err);
void gus_timing_close(struct gus_timing *t);

/* Times microbenchmarks in turns, so that what disturbs one disturbs all; those that don't fit into memory together one
 * batch after the other. -1 with err if the machine fails us; what one does wrong is in its result. */
int gus_timing_run(struct gus_timing *t, const struct gus_timing_job *jobs, size_t n, struct gus_timing_result *results,
		   struct gus_error *err);

void gus_timing_facts(const struct gus_timing *t, struct gus_timing_facts *facts);

#endif
