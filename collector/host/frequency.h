/* SPDX-License-Identifier: MIT */
/* How fast the core runs now, without a cycle counter: the time that a chain of dependent instructions of known
 * latency takes. */
#ifndef GUS_COLLECTOR_HOST_FREQUENCY_H
#define GUS_COLLECTOR_HOST_FREQUENCY_H

#include "proto/gusprof.pb-c.h"

/* Fills in the interval, low from the median and high from the shortest of several runs, and what a round of a loop
 * with nothing in it takes (gus_clock_rounds), the median of as many; a third of a millisecond in all. All are 0 where
 * no rule is known or the result makes no sense. rule points to a constant. */
void gus_frequency_measure(Gusprof__Frequency *f);

#endif
