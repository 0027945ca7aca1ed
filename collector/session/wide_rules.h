/* SPDX-License-Identifier: MIT */
/* By which numbers the CPUs are sampled in place of the target's tasks; wide.c has the idea. Pure. */
#ifndef GUS_COLLECTOR_SESSION_WIDE_RULES_H
#define GUS_COLLECTOR_SESSION_WIDE_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* What there was since the last look, of the first event. */
struct gus_wide_window {
	double count;           /* in the event's unit, */
	double weight;          /* and what the samples stand for of it */
	double running_ns;      /* CPU time of the target, */
	double busy_ns;         /* and of all that ran on the machine; 0: not known */
	double ended;           /* tasks */
};

/* The share of what was counted that tasks have missed, where it is enough to sample the CPUs instead; else 0. A sample
 * stands for `period`, 0 where the kernel finds that and there was none yet; `cpus` are watched. */
double gus_wide_missed_share(const struct gus_wide_window *w, double period, double cpus);

/* How many samples of CPUs there will be for each of the target's; 1 at least. */
double gus_wide_times(const struct gus_wide_window *w);

/* Whether a rate of the governor's may fall to a part in `times` for that. */
bool gus_wide_rate_may_fall(uint64_t hz, double times, double missed);

#endif
