/* SPDX-License-Identifier: MIT */
/* Whether the core is ours alone, by rounds of a loop with nothing in it (gus_clock_rounds). Pure: it is told how many
 * cycles a round took, and learns what one takes while nobody else is there. */
#ifndef GUS_COLLECTOR_TIMING_ALONE_H
#define GUS_COLLECTOR_TIMING_ALONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_alone {
	double cycles;          /* a round; 0: not known */
	double less;            /* the last that took less than that; 0: none */
	uint64_t seen, beside;  /* rounds that were told since, and of these the ones beside another thread */
};

/* From what was seen in the beginning, which it sorts: who shares the core is not always there. The least hundredth may
 * be the clock's doing, which in virtual machines stands still now and then. */
void gus_alone_begin(struct gus_alone *a, double *cycles, size_t n);
/* A round more. Whoever shares the core may have been there all the while that we looked, so what takes less is
 * believed, if it was seen twice. */
void gus_alone_tell(struct gus_alone *a, double cycles);
/* Whether rounds of so many cycles were beside another thread, which makes them 1.7 to 2.2 times as long. alone: what
 * they take without, 0: not known, and then it is not said of any. */
bool gus_alone_is_beside(double cycles, double alone);
/* Whether nearly all are beside another thread, so that to wait for it to go is in vain. */
bool gus_alone_is_never(const struct gus_alone *a);

#endif
