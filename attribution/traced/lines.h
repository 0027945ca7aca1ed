/* SPDX-License-Identifier: MIT */
/* A region of a trace instruction by instruction. The emulator may have had an instruction in several blocks, as it
 * ends them where it likes; here each stands once, with what it took in all of them. */
#ifndef GUS_ATTRIBUTION_TRACED_LINES_H
#define GUS_ATTRIBUTION_TRACED_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_traced;

struct gus_traced_line {
	uint64_t address, executed, accesses, missed, branches, mispredicted;
	uint64_t samples;               /* of a recording, if it was asked for */
	double own, charged;            /* cycles of the region, and by causality; 0 of what is fused */
	bool fused;                     /* with the one before it, which has the cycles of both */
	char text[96];
};

struct gus_traced_lines gus_vec(struct gus_traced_line);

/* By address. samples: by instruction of the trace's program, or NULL. Freed with gus_vec_free. After the end. */
void gus_traced_lines_find(const struct gus_traced *t, uint32_t region, const uint64_t *samples,
			   struct gus_traced_lines *lines);

#endif
