/* SPDX-License-Identifier: MIT */
/* A set-associative array of keys: what caches, TLBs and branch target buffers have in common. It knows which keys are
 * there and which of a set goes when another comes; what a key stands for, and what is kept with it, is its owner's, by
 * slot.
 *
 * A key lies in set key % sets. A way that was emptied is filled before anything is replaced. Replacement is one of
 *
 *	lru        the least recently used
 *	tree_plru  a binary tree of bits that point away from what was used. Of ways that are no power of two the tree
 *	           has as many leaves as the next one, and a bit that points to where no way is is taken for the other
 *	random     by a fixed sequence: the same run has the same victims
 *	srrip      two-bit ages: comes with 2, a hit makes it 0, the leftmost of age 3 goes; if none has it, all grow
 *	           old until one has
 *	qlru_Hxy_Mm_Rr_Uu
 *	           the family that measurements of Intel's L2 and L3 were described with (Abel and Reineke, nanoBench,
 *	           2020): a hit makes age 3 to x, 2 to y, others to 0; comes with m; the leftmost of age 3 goes, or with
 *	           r = 1 the first way if none is; r = 2 fills empty ways from the right. After each access, if no age
 *	           is 3, all (u = 0, 2) or all but the accessed (u = 1) grow by what makes the oldest 3 (u = 0, 1) or by
 *	           1 (u = 2) */
#ifndef GUS_MODEL_ORACLES_SETS_H
#define GUS_MODEL_ORACLES_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tables/policies.h"

struct gus_error;

enum { GUS_SETS_WAYS_MAX = 64 };
#define GUS_SETS_NONE UINT32_MAX

/* Owned by one thread. Freed with gus_sets_free. */
struct gus_sets {
	uint64_t *tags;         /* by slot (set * ways + way): key + 1; 0: empty */
	/* By set and way, in words of eight ways: a byte of what each tag is made of, so that one comparison leaves out
	 * nearly all. Of ways that are none, and never filled, 0, which no key has. */
	uint64_t *signs;
	uint64_t *stamps;       /* lru: by slot, the clock at its last use */
	uint8_t *ages;          /* srrip, qlru: by slot */
	/* tree_plru: by set, bit n the node n, the root being 1; set: the victim is on the right */
	uint64_t *trees;
	uint64_t *seen;         /* by set: ways that were ever filled */
	uint8_t *last;          /* by set: the way that was used last, which most often is used next */
	uint8_t *filled;        /* by set: how many ways are */
	/* tree_plru: what the use of a way does to the bits */
	uint64_t clear[GUS_SETS_WAYS_MAX], set[GUS_SETS_WAYS_MAX];
	uint64_t clock, random, mask; /* mask: sets - 1, or 0 if that is no power of two */
	uint32_t n, ways;       /* sets, and slots in each */
	uint32_t words;         /* of signs, of a set */
	enum gus_replacement policy;
};

/* -1 with err if there is no such array; what says whose it is. */
int gus_sets_init(struct gus_sets *s, const char *what, uint64_t entries, uint32_t ways, enum gus_replacement policy,
		  struct gus_error *err);
void gus_sets_free(struct gus_sets *s);

void gus_sets_touch_aged(struct gus_sets *s, uint32_t set, uint32_t slot);
/* Puts in a key that is not there. Returns its slot; *evicted is the key that had to go, or UINT64_MAX. */
uint32_t gus_sets_place(struct gus_sets *s, uint64_t key, uint64_t *evicted);
void gus_sets_remove(struct gus_sets *s, uint32_t slot);

static inline uint32_t gus_sets_set(const struct gus_sets *s, uint64_t key)
{
	return (uint32_t)(s->mask || s->n == 1 ? key & s->mask : key % s->n);
}

static inline uint8_t gus_sets_sign(uint64_t key)
{
	return (uint8_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 57 | 0x80);
}

/* Where a key is, or GUS_SETS_NONE. If it is not in the way that was used last, those whose sign is that of the key are
 * compared: mostly the one that has it, or none. */
static inline uint32_t gus_sets_find(const struct gus_sets *s, uint64_t key)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f), each = UINT64_C(0x0101010101010101);
	uint32_t set = gus_sets_set(s, key), first = set * s->ways;
	const uint64_t *tags = s->tags + first, *signs = s->signs + (size_t)set * s->words;

	if (tags[s->last[set]] == key + 1)
		return first + s->last[set];
	for (uint32_t word = 0; word < s->words; word++) {
		/* Bytes that are the same are 0; of those, and of no others, the highest bit is left. */
		uint64_t apart = signs[word] ^ gus_sets_sign(key) * each;
		uint64_t same = ~(((apart & low) + low) | apart | low);

		for (; same; same &= same - 1) {
			uint32_t way = 8 * word + ((uint32_t)__builtin_ctzll(same) >> 3);

			if (tags[way] == key + 1)
				return first + way;
		}
	}
	return GUS_SETS_NONE;
}

/* Tells that what is in a slot was used; key is what was found there. */
static inline void gus_sets_touch(struct gus_sets *s, uint64_t key, uint32_t slot)
{
	uint32_t set = gus_sets_set(s, key), way = slot - set * s->ways;

	if (s->policy <= GUS_REPLACE_TREE_PLRU && s->last[set] == way)
		return; /* it is the most recent one already */
	s->last[set] = (uint8_t)way;
	if (s->policy == GUS_REPLACE_LRU)
		s->stamps[slot] = ++s->clock;
	else if (s->policy == GUS_REPLACE_TREE_PLRU)
		s->trees[set] = (s->trees[set] & ~s->clear[way]) | s->set[way];
	else if (s->policy != GUS_REPLACE_RANDOM)
		gus_sets_touch_aged(s, set, slot);
}

/* Whether all ways of the key's set were filled once: then nothing is there any more of what might have been before the
 * beginning, so a miss is one (by lru; of other policies nearly so). */
static inline bool gus_sets_warm(const struct gus_sets *s, uint64_t key)
{
	return s->seen[gus_sets_set(s, key)] == UINT64_MAX >> (64 - s->ways);
}

#endif
