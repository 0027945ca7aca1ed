/* SPDX-License-Identifier: MIT */
/* What is deeper in a stack than its copy reaches, by what is there now: a moment after the sample, up to 0.1 s.
 *
 * Deep frames stay while many samples are taken above them. The return address that leads to the first missing
 * frame is in the copy: where it still stands in its place, the callers beyond are taken for those of the sample.
 * That is inferred. It is wrong where the thread has returned beyond that frame, which leaves the address behind, and
 * has called something else since; so it is for threads alone whose samples are all deeper (remembered.h): of a
 * program that goes 40 frames down and back, by one way or the other, a fifth of what was inferred without that was
 * wrong. A handler on a stack of its own leaves the whole stack that it interrupted out of the copy; that one stands
 * still as long as the handler runs. */
#ifndef GUS_CLI_RECORD_BEYOND_H
#define GUS_CLI_RECORD_BEYOND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "symbolizer/unwind/unwind.h"

/* A copy that is made anew each time, and what that has cost. Zero-initialise but for share, free with
 * gus_vec_free(&beyond.bytes). */
struct gus_beyond {
	struct gus_vec(uint8_t) bytes;
	double share;              /* of the time by the clock that may go into it, as CPU time; 0: nothing */
	uint64_t began_ns;         /* when it was asked for first */
	uint64_t spent_ns;
	uint64_t left_out;         /* stacks that would have taken more */
};

/* Whether the next one may be read now; if not, it is counted. */
bool gus_beyond_may(struct gus_beyond *b);

/* Whether the outer callers from n on, of joined ones that an earlier sample had, are others by now, while the thread
 * is still where those n lead: then what is there now is nearer. False also if nobody may look. frames: the CFAs. */
bool gus_beyond_contradicts(uint32_t pid, unsigned machine, const uint64_t *addresses, const uint64_t *frames,
			    uint32_t n, uint32_t joined);

/* Appends the outer callers to those n, whose stack ends with its copy, of that rest (with frames); returns how many
 * there are then, n if the rest of the stack does not lead to where a thread begins, or to more frames than are kept.
 * view: its code is asked. */
uint32_t gus_beyond_join(struct gus_beyond *b, uint32_t pid, const struct gus_unwind_view *view,
			 const struct gus_unwind_rest *rest, uint64_t *out, uint32_t n, uint32_t most,
			 uint64_t *callers);

#endif
