/* SPDX-License-Identifier: MIT */
/* Measured rates in place of caches and predictor. Which accesses and branches of a block have some is decided when it
 * is executed for the first time:
 *
 *  - an access with GUS_OBSERVED_LEAST samples has its own;
 *  - one with fewer has those of all such accesses of its loop (or of its function outside of loops), loads and stores
 *    apart, if they have as many together: one rate for all, so that the caches say which of them misses;
 *  - so has a branch, of each of its ways that was observed; where only branches that were taken are, what falls
 *    through is left to the predictor;
 *  - for all else caches and predictor are asked.
 *
 * How often is measured, when is not. Misses come in bursts, which overlap, and a mispredicted exit is the loop's last
 * turn; so answers follow those of caches and predictor as far as their rates go (gus_rates_access_like). Which of all
 * executions it was is modelled, therefore, and only how many of them observed. */
#ifndef GUS_ATTRIBUTION_TRACED_RATES_H
#define GUS_ATTRIBUTION_TRACED_RATES_H

#include "attribution/traced/traced.h"

/* The block's samples join those of its region; when it is learnt. */
void gus_traced_rates_learn(struct gus_traced *t, const struct gus_traced_block *b);
/* Which of its accesses and branches have rates; when it is executed for the first time. */
void gus_traced_rates_decide(struct gus_traced *t, struct gus_traced_block *b);

/* Whether an access has some. */
static inline bool gus_traced_rates_know(const struct gus_traced *t, uint32_t memory)
{
	return memory < t->rated.n && t->rated.v[memory].known;
}

/* The farthest level at which its samples have found lines, but for few of them; L1: none missed, or it has none. */
enum gus_hit gus_traced_rates_farthest(const struct gus_traced *t, uint32_t memory);

/* What the next execution of an access that has some meets. Level and tlb are what caches say of it; of what was not
 * told of its translation tlb stays. */
void gus_traced_rates_access(struct gus_traced *t, uint32_t memory, uint8_t *level, uint8_t *tlb);
/* The same where caches say nothing, as there is no address: spread evenly. */
void gus_traced_rates_blind(struct gus_traced *t, uint32_t memory, uint8_t *level, uint8_t *tlb);
/* Whether the branch at a block's end is mispredicted this time, which is what the predictor says of it; false where
 * nothing is known, and that stays. */
bool gus_traced_rates_branch(struct gus_traced *t, const struct gus_traced_block *b, bool taken, bool *mispredicted);

#endif
