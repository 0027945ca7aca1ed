/* SPDX-License-Identifier: MIT */
/* Which ops the decoders take in the same cycle, in order. Both engines form their groups by this: the core engine of
 * what is there in a cycle, the stream engine as if all was there. It is asked twice for each op that is decoded, so it
 * stands here.
 *
 * All decoders take simple instructions; those of more than one uop only the first decode_complex, which have to be
 * first in the group as well; those of the sequencer only the first, and nothing goes beside them. On Intel's cores up
 * to Haswell what might fuse with a branch is not decoded last, as the decoder behind it has to have the branch (Abel
 * and Reineke, "uiCA", ICS 2022, section 4.1); pop by the opcode 5C is taken for what is more complex on most of them
 * (their simulator). */
#ifndef GUS_MODEL_CODE_DECODE_GROUP_H
#define GUS_MODEL_CODE_DECODE_GROUP_H

#include <stdbool.h>

#include "model/code/program.h"
#include "model/machine/config.h"

/* Of this cycle so far. Begins as { 0 }. */
struct gus_decode_group {
	unsigned ops, uops, complex;
	bool ended;                     /* nothing goes behind the last one */
};

static inline bool gus_decode_is_complex(const struct gus_core_config *c, const struct gus_op *op)
{
	return (op->flags & GUS_OP_COMPLEX) || ((op->flags & GUS_OP_POP_5C) && c->decode_pop_5c != GUS_CORE_POP_ANY);
}

/* Whether it goes beside those. followed: something comes behind it, so that what might fuse has to look at that. */
static inline bool gus_decode_group_takes(const struct gus_decode_group *g, const struct gus_core_config *c,
					  const struct gus_op *op, bool followed)
{
	bool last = g->ops && g->ops + 1 == c->decode_width; /* one decoder alone has to take it */

	if (g->ended || g->ops >= c->decode_width)
		return false;
	if ((op->flags & GUS_OP_FUSIBLE) && followed && last && !c->decode_fuse_last)
		return false;
	if (c->decode_complex && gus_decode_is_complex(c, op) &&
	    (g->ops != g->complex || g->complex == c->decode_complex))
		return false;
	if (g->ops && c->decode_uops && g->uops + op->decoded > c->decode_uops)
		return false;
	return !(op->microcoded && g->ops);
}

static inline void gus_decode_group_put(struct gus_decode_group *g, const struct gus_core_config *c,
					const struct gus_op *op)
{
	g->ops++;
	g->uops += op->decoded;
	g->complex += gus_decode_is_complex(c, op);
	g->ended = op->microcoded || (c->decode_branch_last && (op->flags & GUS_OP_BRANCH)) ||
		((op->flags & GUS_OP_POP_5C) && c->decode_pop_5c == GUS_CORE_POP_ENDS);
}

#endif
