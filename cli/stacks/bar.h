/* SPDX-License-Identifier: MIT */
/* A stack as a bar of letters, one for each part of the longest row's height: which component, and whether samples say
 * so or a model does. It reads the same with colours and without, on a terminal and in a file. */
#ifndef GUS_CLI_STACKS_BAR_H
#define GUS_CLI_STACKS_BAR_H

#include <stddef.h>
#include <stdint.h>

#include "attribution/stacks/stack.h"

enum { GUS_BAR_CELLS = 24 };

/* The letter of a component: of several events that of the one that comes first in this order: FL-MB f, FL-MO o, FL-EX
 * x, ST-LLC m (memory), ST-L1 l (a level below), ST-TLB t, DR-SQ q (the store queue), DR-L1 c (code), DR-TLB i; b:
 * base. A capital one is observed or inferred, a small one modelled; ? is unknown. */
char gus_bar_letter(struct gus_component what, enum gus_evidence evidence);
/* Of a row that is as high as weight, where `most` takes all cells; at least one cell of what is not 0, and the largest
 * parts first. Parts have as many cells as is nearest, and all of the row's between them. */
void gus_bar(const struct gus_stack *stack, uint64_t weight, uint64_t most, char bar[GUS_BAR_CELLS + 1]);
/* What the letters of some bars mean, as a sentence; the caller frees it. */
char *gus_bar_legend(const char *letters);

#endif
