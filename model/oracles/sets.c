/* SPDX-License-Identifier: MIT */
#include "model/oracles/sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { OLDEST = 3 };

/* What the ages of a policy do. */
static const struct aging {
	uint8_t hit3, hit2;     /* what a hit makes of ages 3 and 2 */
	uint8_t insert;
	bool first_else;        /* R1: if none is oldest, the first way goes */
	bool from_right;        /* R2: empty ways are filled from the right */
	bool but_accessed;      /* U1: what was accessed does not grow older */
	bool by_one;            /* U2 */
	bool on_miss_only;      /* ages grow only when a victim is needed */
} agings[GUS_REPLACEMENTS] = {
	[GUS_REPLACE_SRRIP] = { .insert = 2, .on_miss_only = true },
	[GUS_REPLACE_QLRU_H00_M1_R0_U1] = { .insert = 1, .but_accessed = true },
	[GUS_REPLACE_QLRU_H00_M1_R2_U1] = { .insert = 1, .from_right = true, .but_accessed = true },
	[GUS_REPLACE_QLRU_H11_M1_R0_U0] = { .hit3 = 1, .hit2 = 1, .insert = 1 },
	[GUS_REPLACE_QLRU_H11_M1_R1_U2] = { .hit3 = 1, .hit2 = 1, .insert = 1, .first_else = true,
		.by_one = true },
};

/* What each way does to the tree when it is used: every bit on its path points to the other side. */
static void plant(struct gus_sets *s)
{
	uint32_t leaves = 1;

	while (leaves < s->ways)
		leaves *= 2;
	for (uint32_t way = 0; way < s->ways; way++) {
		uint32_t node = 1, low = 0, half = leaves / 2;

		s->clear[way] = s->set[way] = 0;
		for (; half; half /= 2) {
			bool right = way >= low + half;

			s->clear[way] |= UINT64_C(1) << node;
			s->set[way] |= right ? 0 : UINT64_C(1) << node;
			low += right ? half : 0;
			node = 2 * node + right;
		}
	}
}

int gus_sets_init(struct gus_sets *s, const char *what, uint64_t entries, uint32_t ways, enum gus_replacement policy,
		  struct gus_error *err)
{
	memset(s, 0, sizeof(*s));
	if (!ways || ways > GUS_SETS_WAYS_MAX)
		return gus_fail(err, GUS_E_USAGE, "cannot model %s with %u ways: 1 to %d are possible", what, ways,
				GUS_SETS_WAYS_MAX);
	if (!entries || entries % ways || entries > UINT32_MAX / 2)
		return gus_fail(err, GUS_E_USAGE,
				"cannot model %s of %llu entries in %u ways: give a size that is a multiple of the "
				"ways, and below 2^31", what, (unsigned long long)entries, ways);
	if (policy >= GUS_REPLACEMENTS)
		return gus_fail(err, GUS_E_USAGE,
				"cannot model %s: replacement policy %d is unknown; these are known: %s", what,
				(int)policy, GUS_REPLACEMENT_WORDS);
	s->ways = ways;
	s->n = (uint32_t)(entries / ways);
	s->mask = s->n & (s->n - 1) ? 0 : s->n - 1;
	s->policy = policy;
	s->random = UINT64_C(0x9e3779b97f4a7c15);
	s->tags = gus_zalloc(entries * sizeof(*s->tags));
	s->words = (ways + 7) / 8;
	s->signs = gus_zalloc((size_t)s->n * s->words * sizeof(*s->signs));
	s->seen = gus_zalloc(s->n * sizeof(*s->seen));
	s->last = gus_zalloc(s->n);
	s->filled = gus_zalloc(s->n);
	if (policy == GUS_REPLACE_LRU)
		s->stamps = gus_zalloc(entries * sizeof(*s->stamps));
	else if (policy == GUS_REPLACE_TREE_PLRU)
		s->trees = gus_zalloc(s->n * sizeof(*s->trees));
	else if (policy != GUS_REPLACE_RANDOM)
		s->ages = gus_zalloc(entries);
	plant(s);
	return 0;
}

void gus_sets_free(struct gus_sets *s)
{
	free(s->tags);
	free(s->signs);
	free(s->seen);
	free(s->last);
	free(s->filled);
	free(s->stamps);
	free(s->trees);
	free(s->ages);
	memset(s, 0, sizeof(*s));
}

static uint8_t oldest_age(const struct gus_sets *s, uint32_t first, uint32_t but)
{
	uint8_t age = 0;

	for (uint32_t slot = first; slot < first + s->ways; slot++)
		if (s->tags[slot] && slot != but && s->ages[slot] > age)
			age = s->ages[slot];
	return age;
}

/* After an access to a slot, or (accessed NONE) when a victim is needed: if none is of the oldest age, all grow
 * older. */
static void grow_old(struct gus_sets *s, const struct aging *a, uint32_t first, uint32_t accessed)
{
	uint32_t but = a->but_accessed ? accessed : GUS_SETS_NONE;
	uint8_t by;

	if (oldest_age(s, first, GUS_SETS_NONE) == OLDEST)
		return;
	by = a->by_one ? 1 : (uint8_t)(OLDEST - oldest_age(s, first, but));
	for (uint32_t slot = first; slot < first + s->ways; slot++)
		if (s->tags[slot] && slot != but)
			s->ages[slot] = (uint8_t)(s->ages[slot] + by);
}

void gus_sets_touch_aged(struct gus_sets *s, uint32_t set, uint32_t slot)
{
	const struct aging *a = &agings[s->policy];
	uint8_t *age = &s->ages[slot];

	*age = *age == 3 ? a->hit3 : *age == 2 ? a->hit2 : 0;
	if (!a->on_miss_only)
		grow_old(s, a, set * s->ways, slot);
}

static uint32_t victim_lru(const struct gus_sets *s, uint32_t first)
{
	uint32_t victim = first;

	for (uint32_t slot = first + 1; slot < first + s->ways; slot++)
		if (s->stamps[slot] < s->stamps[victim])
			victim = slot;
	return victim;
}

/* The tree's bits are as good as random to the processor that runs this, so there is no branch on them. */
static uint32_t victim_tree(const struct gus_sets *s, uint32_t set)
{
	const uint64_t tree = s->trees[set];
	uint32_t node = 1, low = 0, leaves = 1;

	while (leaves < s->ways)
		leaves *= 2;
	for (uint32_t half = leaves / 2; half; half /= 2) {
		uint32_t right = (uint32_t)(tree >> node & 1) & (low + half < s->ways);

		low += half & -right;
		node = 2 * node + right;
	}
	return set * s->ways + low;
}

static uint32_t victim_random(struct gus_sets *s, uint32_t first)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return first + (uint32_t)(((s->random >> 32) * s->ways) >> 32);
}

static uint32_t victim_aged(struct gus_sets *s, uint32_t first)
{
	const struct aging *a = &agings[s->policy];

	if (a->on_miss_only)
		grow_old(s, a, first, GUS_SETS_NONE);
	for (uint32_t slot = first; slot < first + s->ways; slot++)
		if (s->ages[slot] == OLDEST)
			return slot;
	return first; /* R1, and U1 of one way; all others have made one the oldest */
}

static uint32_t empty_slot(const struct gus_sets *s, uint32_t set)
{
	const bool from_right = agings[s->policy].from_right;
	const uint32_t first = set * s->ways;

	if (s->filled[set] == s->ways)
		return GUS_SETS_NONE;
	for (uint32_t i = 0; i < s->ways; i++) {
		uint32_t slot = first + (from_right ? s->ways - 1 - i : i);

		if (!s->tags[slot])
			return slot;
	}
	return GUS_SETS_NONE;
}

static void sign(struct gus_sets *s, uint32_t set, uint32_t way, uint64_t key)
{
	uint64_t *word = &s->signs[(size_t)set * s->words + way / 8];
	unsigned shift = way % 8 * 8;

	*word = (*word & ~(UINT64_C(0xff) << shift)) | (uint64_t)gus_sets_sign(key) << shift;
}

uint32_t gus_sets_place(struct gus_sets *s, uint64_t key, uint64_t *evicted)
{
	uint32_t set = gus_sets_set(s, key), first = set * s->ways, slot = empty_slot(s, set);

	if (slot == GUS_SETS_NONE)
		slot = s->policy == GUS_REPLACE_LRU ? victim_lru(s, first) : s->policy == GUS_REPLACE_TREE_PLRU ?
			victim_tree(s, set) :
			s->policy == GUS_REPLACE_RANDOM ? victim_random(s, first) : victim_aged(s, first);
	*evicted = s->tags[slot] - 1; /* of an empty one UINT64_MAX */
	s->filled[set] = (uint8_t)(s->filled[set] + !s->tags[slot]);
	s->tags[slot] = key + 1;
	sign(s, set, slot - first, key);
	s->seen[set] |= UINT64_C(1) << (slot - first);
	if (s->ages) {
		s->ages[slot] = agings[s->policy].insert;
		if (!agings[s->policy].on_miss_only)
			grow_old(s, &agings[s->policy], first, slot);
	} else {
		s->last[set] = UINT8_MAX; /* another key is there, and it has not been used yet */
		gus_sets_touch(s, key, slot);
	}
	s->last[set] = (uint8_t)(slot - first);
	return slot;
}

void gus_sets_remove(struct gus_sets *s, uint32_t slot)
{
	s->filled[slot / s->ways] = (uint8_t)(s->filled[slot / s->ways] - (s->tags[slot] != 0));
	s->tags[slot] = 0;
}
