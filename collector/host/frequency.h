/* SPDX-License-Identifier: MIT */
/* How fast the core runs now, without a cycle counter: the time that a chain of dependent instructions of known
 * latency takes. */
#ifndef GUS_COLLECTOR_HOST_FREQUENCY_H
#define GUS_COLLECTOR_HOST_FREQUENCY_H

#include <stdint.h>

#include "proto/gusprof.pb-c.h"

/* Fills in the interval, low from the median and high from the shortest of several runs, which take about half a
 * millisecond in all. Both are 0 where no rule is known or the result makes no sense. rule points to a constant. */
void gus_frequency_measure(Gusprof__Frequency *f);

/* Runs that chain for about n * 32 instructions: work of a known shape, which depends on nothing but the core. */
void gus_frequency_spin(uint64_t n);

#endif
