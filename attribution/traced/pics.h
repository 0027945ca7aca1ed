/* SPDX-License-Identifier: MIT */
/* Time-proportional stacks of what the core engine ran of a trace: of all its threads, by op, state and events. */
#ifndef GUS_ATTRIBUTION_TRACED_PICS_H
#define GUS_ATTRIBUTION_TRACED_PICS_H

#include "base/alloc.h"
#include "model/core/pics.h"

struct gus_traced_pics gus_vec(struct gus_pics_cell);

/* Cells of a thread join those that are there. */
void gus_traced_pics_add(struct gus_traced_pics *pics, const struct gus_pics_cell *cells, size_t n);
/* After the last: in order of op, state and events, each once. */
void gus_traced_pics_settle(struct gus_traced_pics *pics);
/* Those of an op: its first, and how many. After gus_traced_pics_settle. */
const struct gus_pics_cell *gus_traced_pics_of(const struct gus_traced_pics *pics, uint32_t op, size_t *n);

#endif
