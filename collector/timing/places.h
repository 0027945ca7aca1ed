/* SPDX-License-Identifier: MIT */
/* Where in the arenas each microbenchmark has its memory, and what is there already: those that want to find the same
 * share it, which saves the filling and has them work on the same pages. */
#ifndef GUS_COLLECTOR_TIMING_PLACES_H
#define GUS_COLLECTOR_TIMING_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "collector/timing/job.h"

struct gus_timing_place { uint64_t start, size; struct gus_timing_job holds; /* its what is a copy of ours */ };
struct gus_timing_arena_places { uint64_t size, used; struct gus_vec(struct gus_timing_place) held; };
struct gus_timing_places { struct gus_timing_arena_places of[2]; /* of base pages, of large ones */ };

void gus_timing_places_free(struct gus_timing_places *p);
/* The arenas are new and empty. */
void gus_timing_places_reset(struct gus_timing_places *p, uint64_t size, uint64_t size_huge);
/* What is in one of them is not needed any more. */
void gus_timing_places_clear(struct gus_timing_places *p, bool huge);
/* False if there is no room. fresh: it has to be filled. */
bool gus_timing_places_take(struct gus_timing_places *p, const struct gus_timing_job *job, uint64_t *start,
			    bool *fresh);

#endif
