/* SPDX-License-Identifier: MIT */
/* Which ops the decoders take in the same cycle, in order. Both engines form their groups by this: the core engine of
 * what is there in a cycle, the stream engine as if all was there. */
#ifndef GUS_MODEL_CODE_DECODE_GROUP_H
#define GUS_MODEL_CODE_DECODE_GROUP_H

#include <stdbool.h>

struct gus_core_config;
struct gus_op;

/* Of this cycle so far. Begins as { 0 }. */
struct gus_decode_group {
	unsigned ops, uops, complex;
	bool ended;                     /* nothing goes behind the last one */
};

/* Whether it goes beside those. followed: something comes behind it, so that what might fuse has to look at that. */
bool gus_decode_group_takes(const struct gus_decode_group *g, const struct gus_core_config *c, const struct gus_op *op,
			    bool followed);
void gus_decode_group_put(struct gus_decode_group *g, const struct gus_core_config *c, const struct gus_op *op);

#endif
