/* SPDX-License-Identifier: MIT */
/* Maps of address spans that keep every version of themselves: covering a part of one gives a new map and leaves the
 * old one as it was. That makes the past of a process a list of roots, and a fork a copy of one number.
 *
 * Balanced trees whose nodes are never changed once a root is handed out. A change costs the nodes on one path. */
#ifndef GUS_SYMBOLIZER_SPACE_SPANS_H
#define GUS_SYMBOLIZER_SPACE_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_span {
	uint64_t low, high; /* [low, high), not empty */
	uint64_t delta;     /* added to an address it gives the offset; cutting a span leaves it alone */
	uint32_t value;     /* the owner's */
};

struct gus_span_node_ {
	struct gus_span span;
	uint32_t left, right;
	uint32_t height;
};

/* All versions of all maps; root 0 is the empty map. */
struct gus_spans {
	struct gus_vec(struct gus_span_node_) nodes;
};

void gus_spans_init(struct gus_spans *s);
void gus_spans_free(struct gus_spans *s);
/* The map `root` with span over whatever was there; parts of others that stick out stay. */
uint32_t gus_spans_cover(struct gus_spans *s, uint32_t root, const struct gus_span *span);
/* The span around address, or NULL; valid until the next change. */
const struct gus_span *gus_spans_find(const struct gus_spans *s, uint32_t root, uint64_t address);
/* Forgets what none of these maps has. They get new numbers, in place. */
void gus_spans_compact(struct gus_spans *s, uint32_t *const *roots, size_t n);

#endif
