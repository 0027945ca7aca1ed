/* SPDX-License-Identifier: MIT */
/* What mispredicted branches cost, estimated: a trace holds no wrong path, so what was squashed was never seen. Of each
 * misprediction, which is as measured or as the predictor of the model has it, the stream engine knows when the branch
 * was issued and when it was executed. From the one to the other the front end is on the wrong path, and from there on
 * it takes the front end's depth (mispredict_penalty) until the right path is issued: the two parts that interval
 * analysis makes of a misprediction (S. Eyerman, L. Eeckhout, T. Karkhanis, J. E. Smith, "A Performance Counter
 * Architecture for Computing Accurate CPI Components", ASPLOS 2006, and "A Mechanistic Performance Model for
 * Superscalar Out-of-Order Processors", TOCS 27(2), 2009: branch resolution time and front-end refill). So with the
 * width W, and R entries of the reorder buffer that what is older leaves free when the branch is executed
 *
 *	lost       (executed - issued + depth) W      slots, of which
 *	squashed   min((executed - issued) W, R)      are issued and thrown away, and the others stay empty
 *
 * `lost` is what top-down calls bad speculation of mispredictions; it is what was not issued meanwhile, not what would
 * come back: what the branch waits for would still be waited for by what comes behind it. */
#ifndef GUS_ATTRIBUTION_WHATIF_SQUASH_H
#define GUS_ATTRIBUTION_WHATIF_SQUASH_H

#include <stdint.h>

#include "base/alloc.h"

struct gus_core_config;
struct gus_op_steps;
struct gus_program;
struct gus_stream_times;

/* Of a region: what was timed of it. */
struct gus_squash {
	uint64_t branches;              /* mispredicted ones */
	double cycles;                  /* of the region, from retirement to retirement */
	double resolution;              /* cycles from issue to execution, of all of these branches together */
	double lost, squashed;          /* slots */
};

struct gus_squash_thread;

struct gus_squashes {
	uint32_t width, rob, depth;
	struct gus_vec(struct gus_squash) regions;
	struct gus_vec(struct gus_squash_thread *) threads; /* by stream; NULL: none yet */
};
void gus_squashes_init(struct gus_squashes *s, const struct gus_core_config *config);
void gus_squashes_free(struct gus_squashes *s);
/* As struct gus_traced_timed has it; squashes: a struct gus_squashes. */
void gus_squashes_steps(void *squashes, uint32_t stream, const struct gus_program *program,
			const struct gus_op_steps *steps, const struct gus_stream_times *times);
/* A thread has ended: what was in its reorder buffer is freed, and what it cost stays. */
void gus_squashes_leave(struct gus_squashes *s, uint32_t stream);
/* Zeroes of what was never timed. */
struct gus_squash gus_squashes_of(const struct gus_squashes *s, uint32_t region);

#endif
