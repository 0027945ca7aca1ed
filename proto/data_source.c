/* SPDX-License-Identifier: MIT */
/* The ABI's word. Its first generation says a level by a bit of `lvl`, later ones by a number in `lvl_num` and where
 * that is by `remote` and `hops`. The number is the better one where both are there, but for "any cache", which a bit
 * may name. Bits of a field that all are 0, or that are "not available" alone, say nothing. */
#include "proto/data_source.h"

#include <stddef.h>

enum { OP = 0, LVL = 5, SNOOP = 19, LOCK = 24, DTLB = 26, LVL_NUM = 33, REMOTE = 37, SNOOPX = 38, BLK = 40, HOPS = 43 };
enum { OP_BITS = 5, LVL_BITS = 14, SNOOP_BITS = 5, LOCK_BITS = 2, DTLB_BITS = 7, LVL_NUM_BITS = 4, SNOOPX_BITS = 2,
	BLK_BITS = 3, HOPS_BITS = 3 };
enum { NOT_AVAILABLE = 1, LVL_NUM_NA = 15 };
enum { LVL_HIT = 1 << 1, LVL_MISS = 1 << 2, LVL_RAM_1 = 1 << 8, LVL_CACHE_1 = 1 << 10, LVL_CACHE_2 = 1 << 11 };
enum { SNOOP_NONE = 1 << 1, SNOOP_HIT = 1 << 2, SNOOP_MISS = 1 << 3, SNOOP_HITM = 1 << 4 };
enum { SNOOPX_FORWARD = 1, SNOOPX_PEER = 2 };
enum { TLB_HIT = 1 << 1, TLB_MISS = 1 << 2, TLB_FIRST = 1 << 3, TLB_SECOND = 1 << 4, TLB_WALK = 1 << 5,
	TLB_OS = 1 << 6 };
enum { LOCKED = 2 };
enum { BLK_DATA = 2, BLK_ADDRESS = 4 };
enum { OF_THE_NODE = 1, OF_ANOTHER_NODE = 2 }; /* hops */

static const uint8_t does_by_bit[OP_BITS] = { 0, GUS_DATA_LOADS, GUS_DATA_STORES, GUS_DATA_PREFETCHES,
	GUS_DATA_FETCHES };

/* How a level is said: by a bit of the first generation, or none, and by a number. */
static const struct { uint8_t number; uint16_t bit; } levels[GUS_DATA_LEVELS] = {
	[GUS_DATA_LEVEL_UNKNOWN] = { LVL_NUM_NA, 0 },
	[GUS_DATA_L0] = { 7, 0 },
	[GUS_DATA_L1] = { 1, 1 << 3 },
	[GUS_DATA_LINE_BUFFER] = { 12, 1 << 4 },
	[GUS_DATA_L2] = { 2, 1 << 5 },
	[GUS_DATA_L2_MISS_BUFFER] = { 5, 0 },
	[GUS_DATA_CORE_CACHE] = { 11, 0 },
	[GUS_DATA_L3] = { 3, 1 << 6 },
	[GUS_DATA_L4] = { 4, 0 },
	[GUS_DATA_MEMORY_SIDE] = { 6, 0 },
	[GUS_DATA_OTHER_CACHE] = { 11, LVL_CACHE_1 },
	[GUS_DATA_ANY_CACHE] = { 11, 0 },
	[GUS_DATA_RAM] = { 13, 1 << 7 },
	[GUS_DATA_PERSISTENT] = { 14, 0 },
	[GUS_DATA_EXTENSION] = { 9, 0 },
	[GUS_DATA_IO] = { 10, 1 << 12 },
	[GUS_DATA_UNCACHED] = { 8, 1 << 13 },
};

static unsigned field(uint64_t word, unsigned lowest, unsigned bits)
{
	return (unsigned)(word >> lowest & ((UINT64_C(1) << bits) - 1));
}

static uint8_t does_of(unsigned op)
{
	uint8_t does = 0;

	for (unsigned bit = 0; bit < OP_BITS; bit++)
		does |= op >> bit & 1 ? does_by_bit[bit] : 0;
	return does;
}

static void take_level_bits(struct gus_data_source *d, unsigned lvl)
{
	static const struct { uint8_t level; bool remote; } by_bit[LVL_BITS] = {
		[3] = { GUS_DATA_L1, false }, [4] = { GUS_DATA_LINE_BUFFER, false }, [5] = { GUS_DATA_L2, false },
		[6] = { GUS_DATA_L3, false }, [7] = { GUS_DATA_RAM, false },
		[8] = { GUS_DATA_RAM, true }, [9] = { GUS_DATA_RAM, true },
		[10] = { GUS_DATA_OTHER_CACHE, true }, [11] = { GUS_DATA_OTHER_CACHE, true },
		[12] = { GUS_DATA_IO, false }, [13] = { GUS_DATA_UNCACHED, false },
	};

	d->missed = (lvl & LVL_MISS) && !(lvl & LVL_HIT);
	for (unsigned bit = 3; bit < LVL_BITS; bit++)
		if (lvl >> bit & 1) {
			d->level = by_bit[bit].level;
			d->remote = by_bit[bit].remote;
		}
}

static void take_level_number(struct gus_data_source *d, unsigned number)
{
	static const uint8_t by_number[1 << LVL_NUM_BITS] = { GUS_DATA_LEVEL_UNKNOWN, GUS_DATA_L1, GUS_DATA_L2,
		GUS_DATA_L3, GUS_DATA_L4, GUS_DATA_L2_MISS_BUFFER, GUS_DATA_MEMORY_SIDE, GUS_DATA_L0,
		GUS_DATA_UNCACHED, GUS_DATA_EXTENSION, GUS_DATA_IO, GUS_DATA_ANY_CACHE,
		GUS_DATA_LINE_BUFFER, GUS_DATA_RAM, GUS_DATA_PERSISTENT, GUS_DATA_LEVEL_UNKNOWN };

	if (by_number[number] == GUS_DATA_ANY_CACHE && d->level == GUS_DATA_OTHER_CACHE)
		return;
	if (by_number[number])
		d->level = by_number[number];
}

/* "Any cache" of somebody else's: the hops say whose. */
static uint8_t whose_cache(const struct gus_data_source *d)
{
	if (d->hops == OF_THE_NODE)
		return GUS_DATA_CORE_CACHE;
	return d->remote ? GUS_DATA_OTHER_CACHE : GUS_DATA_ANY_CACHE;
}

static uint8_t snoop_of(unsigned snoop, unsigned beyond)
{
	static const uint8_t by_bit[SNOOP_BITS] = { 0, GUS_DATA_SNOOP_NONE, GUS_DATA_SNOOP_HIT, GUS_DATA_SNOOP_MISS,
		GUS_DATA_SNOOP_MODIFIED };
	/* What says more goes first. */
	static const uint8_t rest[] = { SNOOP_HIT, SNOOP_MISS, SNOOP_NONE };

	if (snoop & SNOOP_HITM)
		return GUS_DATA_SNOOP_MODIFIED;
	if (beyond)
		return beyond & SNOOPX_FORWARD ? GUS_DATA_SNOOP_FORWARD : GUS_DATA_SNOOP_PEER;
	for (size_t i = 0; i < sizeof(rest); i++)
		if (snoop & rest[i])
			return by_bit[__builtin_ctz(rest[i])];
	return GUS_DATA_SNOOP_UNKNOWN;
}

static uint8_t tlb_of(unsigned tlb)
{
	static const uint8_t hit[4] = { GUS_DATA_TLB_UNKNOWN, GUS_DATA_TLB_FIRST, GUS_DATA_TLB_SECOND,
		GUS_DATA_TLB_EITHER };

	if ((tlb & (TLB_WALK | TLB_OS)) || ((tlb & TLB_MISS) && (tlb & TLB_SECOND)))
		return GUS_DATA_TLB_WALK;
	return tlb & TLB_HIT ? hit[!!(tlb & TLB_FIRST) + 2 * !!(tlb & TLB_SECOND)] : GUS_DATA_TLB_UNKNOWN;
}

struct gus_data_source gus_data_source_of_kernel(uint64_t word)
{
	unsigned blk = field(word, BLK, BLK_BITS), lock = field(word, LOCK, LOCK_BITS);
	struct gus_data_source d = { .does = does_of(field(word, OP, OP_BITS)) };

	take_level_bits(&d, field(word, LVL, LVL_BITS));
	take_level_number(&d, field(word, LVL_NUM, LVL_NUM_BITS));
	d.remote |= field(word, REMOTE, 1);
	d.hops = (uint8_t)field(word, HOPS, HOPS_BITS);
	if (d.level == GUS_DATA_ANY_CACHE)
		d.level = whose_cache(&d);
	d.snoop = snoop_of(field(word, SNOOP, SNOOP_BITS), field(word, SNOOPX, SNOOPX_BITS));
	d.tlb = tlb_of(field(word, DTLB, DTLB_BITS));
	d.lock_told = !(lock & NOT_AVAILABLE) && d.does;
	d.locked = lock == LOCKED;
	d.blocked_told = blk && !(blk & NOT_AVAILABLE);
	d.blocked = (uint8_t)((blk & BLK_DATA ? GUS_DATA_BLOCKED_DATA : 0) |
			      (blk & BLK_ADDRESS ? GUS_DATA_BLOCKED_ADDRESS : 0));
	return d;
}

/* And back. */

static uint64_t op_word(const struct gus_data_source *d)
{
	uint64_t op = 0;

	for (unsigned bit = 0; bit < OP_BITS; bit++)
		op |= d->does & does_by_bit[bit] ? UINT64_C(1) << bit : 0;
	return op << OP;
}

static uint64_t level_word(const struct gus_data_source *d)
{
	uint64_t bits = levels[d->level].bit;

	if (d->level == GUS_DATA_OTHER_CACHE && d->hops >= OF_ANOTHER_NODE)
		bits = LVL_CACHE_2;
	if (d->level == GUS_DATA_RAM && d->remote)
		bits = LVL_RAM_1;
	bits |= d->level == GUS_DATA_LEVEL_UNKNOWN ? NOT_AVAILABLE : d->missed ? LVL_MISS : LVL_HIT;
	return bits << LVL | (uint64_t)levels[d->level].number << LVL_NUM | (uint64_t)d->remote << REMOTE |
		(uint64_t)d->hops << HOPS;
}

static uint64_t snoop_word(const struct gus_data_source *d)
{
	static const struct { uint8_t snoop, beyond; } words[] = {
		[GUS_DATA_SNOOP_UNKNOWN] = { NOT_AVAILABLE, 0 },
		[GUS_DATA_SNOOP_NONE] = { SNOOP_NONE, 0 },
		[GUS_DATA_SNOOP_MISS] = { SNOOP_MISS, 0 },
		[GUS_DATA_SNOOP_HIT] = { SNOOP_HIT, 0 },
		[GUS_DATA_SNOOP_FORWARD] = { 0, SNOOPX_FORWARD },
		[GUS_DATA_SNOOP_PEER] = { 0, SNOOPX_PEER },
		[GUS_DATA_SNOOP_MODIFIED] = { SNOOP_HITM, 0 },
	};

	return (uint64_t)words[d->snoop].snoop << SNOOP | (uint64_t)words[d->snoop].beyond << SNOOPX;
}

static uint64_t tlb_word(const struct gus_data_source *d)
{
	static const uint8_t words[] = {
		[GUS_DATA_TLB_UNKNOWN] = NOT_AVAILABLE,
		[GUS_DATA_TLB_FIRST] = TLB_HIT | TLB_FIRST,
		[GUS_DATA_TLB_SECOND] = TLB_HIT | TLB_SECOND,
		[GUS_DATA_TLB_EITHER] = TLB_HIT | TLB_FIRST | TLB_SECOND,
		[GUS_DATA_TLB_WALK] = TLB_MISS | TLB_SECOND,
	};

	return (uint64_t)words[d->tlb] << DTLB;
}

static uint64_t lock_word(const struct gus_data_source *d)
{
	uint64_t lock = !d->lock_told ? NOT_AVAILABLE : d->locked ? LOCKED : 0;
	uint64_t blk = (d->blocked & GUS_DATA_BLOCKED_DATA ? BLK_DATA : 0) |
		(d->blocked & GUS_DATA_BLOCKED_ADDRESS ? BLK_ADDRESS : 0);

	return lock << LOCK | (blk ? blk : NOT_AVAILABLE) << BLK;
}

uint64_t gus_data_source_word(const struct gus_data_source *d)
{
	return d->does ? op_word(d) | level_word(d) | snoop_word(d) | tlb_word(d) | lock_word(d) : 0;
}

const char *gus_data_level_name(enum gus_data_level level)
{
	static const char *const names[GUS_DATA_LEVELS] = { "unknown", "L0", "L1", "line buffer", "L2",
		"L2 miss buffer", "another core's cache", "L3", "L4", "memory-side cache",
		"another cluster's cache", "some cache", "memory", "persistent memory", "extension memory", "I/O",
		"uncached" };

	return level < GUS_DATA_LEVELS ? names[level] : names[0];
}
