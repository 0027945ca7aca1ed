/* SPDX-License-Identifier: MIT */
/* Passages of a trace through each loop: what was executed there and between its stays, with what accesses met, so that
 * it can be run once more as something else (attribution/whatif). Kept while the trace is read, in bounded memory: of
 * each loop the last one that was long enough. */
#ifndef GUS_ATTRIBUTION_TRACED_PASSAGES_H
#define GUS_ATTRIBUTION_TRACED_PASSAGES_H

#include <stdint.h>

struct gus_excerpt;
struct gus_traced;

/* That of a region; NULL: it is no loop, none was asked for, or it was executed too little. What its steps are of is
 * t->program; one whose op is GUS_TRACED_NONE stands where the trace goes on somewhere else. Valid as long as t. */
const struct gus_excerpt *gus_traced_passage(const struct gus_traced *t, uint32_t region);

#endif
