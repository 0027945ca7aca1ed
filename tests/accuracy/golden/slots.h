/* SPDX-License-Identifier: MIT */
/* The first level of the top-down method on a golden machine: from counters as a core of Intel's before Ice Lake has
 * them (Yasin 2014), by the program's own tables and evaluation, beside what became of each slot, which the engine
 * knows. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_SLOTS_H
#define GUS_TESTS_ACCURACY_GOLDEN_SLOTS_H

#include <stdio.h>

#include "attribution/topdown/tree.h"

struct golden_counters;

enum { GOLDEN_SLOTS_NODES = 4 };

/* One share: what is true, what follows from counts of the whole run, and from those of the turns of their group. */
struct golden_slots_share { const char *name; double truth, counted; struct gus_topdown_share read; };

/* Of a run that is over. At its end nothing is under way, so what was issued and did not retire was wrong. */
void golden_slots_of(const struct golden_counters *c, struct golden_slots_share shares[GOLDEN_SLOTS_NODES]);
/* A line for each: the shares, and the interval of the one that was read. */
void golden_slots_print(FILE *out, const struct golden_slots_share shares[GOLDEN_SLOTS_NODES]);

#endif
