/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/pebs.h"

#include "model/machine/options.h"
#include "tests/accuracy/golden/words.h"

/* Fields of the word, and what is in them. */
enum { OP = 0, LVL = 5, SNOOP = 19, LOCK = 24, DTLB = 26, LVL_NUM = 33, BLK = 40 };
enum { OP_LOAD = 2, LVL_HIT = 2, LVL_L1 = 8, LVL_LFB = 16, LVL_L2 = 32, LVL_L3 = 64, LVL_LOCAL_RAM = 128 };
enum { NUM_L1 = 1, NUM_L2 = 2, NUM_L3 = 3, NUM_LFB = 12, NUM_RAM = 13 };
enum { SNOOP_NONE = 2, SNOOP_MISS = 8 };
enum { TLB_HIT = 2, TLB_MISS = 4, TLB_L1 = 8, TLB_L2 = 16 };
enum { BLK_NOT_AVAILABLE = 1 };

static uint64_t counter(uint64_t cycles)
{
	return cycles < UINT16_MAX ? cycles : UINT16_MAX;
}

/* These cores tell one bit of the translation, whether the second TLB missed: the kernel says "either of the two" if
 * not. Locks and blocked loads, of which a golden machine knows nothing, are as of a load that had neither. */
uint64_t golden_pebs_source(const struct golden_sample *s)
{
	static const struct source { uint64_t lvl, number, snoop; } levels[GUS_HITS] = {
		[GUS_HIT_L1] = { LVL_L1, NUM_L1, SNOOP_NONE }, [GUS_HIT_L2] = { LVL_L2, NUM_L2, SNOOP_NONE },
		[GUS_HIT_L3] = { LVL_L3, NUM_L3, SNOOP_NONE },
		[GUS_HIT_MEMORY] = { LVL_LOCAL_RAM, NUM_RAM, SNOOP_MISS },
	}, coming = { LVL_LFB, NUM_LFB, SNOOP_NONE };
	const struct source *of = s->coming ? &coming : &levels[s->level];
	uint64_t tlb = s->tlb == GUS_TLB_WALK ? TLB_MISS | TLB_L2 : TLB_HIT | TLB_L1 | TLB_L2;

	return (uint64_t)OP_LOAD << OP | (LVL_HIT | of->lvl) << LVL | of->snoop << SNOOP | tlb << DTLB |
		of->number << LVL_NUM | (uint64_t)BLK_NOT_AVAILABLE << BLK;
}

/* The instruction's latency is that from its first dispatch to a port until it is complete; the cache's begins when L1
 * is looked up, behind the translation. Both have 16 bits, so the one that has 32 in the ABI stops there, too. */
uint64_t golden_pebs_load_weight(const struct golden_sample *s)
{
	uint64_t all = s->tag_to_complete > s->tag_to_issue ? s->tag_to_complete - s->tag_to_issue : 0;
	uint64_t cache = all > s->translation ? all - s->translation : 0;

	return counter(cache) | counter(all) << 32;
}

uint64_t golden_pebs_retire_weight(const struct golden_sample *s)
{
	return counter(s->retire_latency) << 48;
}

uint64_t golden_pebs_branch(const struct golden_branch *b)
{
	return (b->mispredicted ? 1u : 2u) | (uint64_t)b->cycles << 4;
}
