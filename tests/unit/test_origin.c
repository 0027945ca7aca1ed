/* SPDX-License-Identifier: MIT */
/* Where the data of an access came from, and how far that is: each source of each maker, in terms that all share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collector/records/ibs.h"
#include "collector/records/origin.h"
#include "collector/records/spe.h"

enum { NODE = 1, OTHER_NODE = 2, OTHER_SOCKET = 3 }; /* hops */

struct place { uint8_t level, hops; bool remote; uint8_t snoop; bool missed; };

static void assert_place(const struct gus_data_source *d, const struct place *want, unsigned which)
{
	if (d->level != want->level || d->hops != want->hops || d->remote != want->remote || d->snoop != want->snoop ||
	    d->missed != want->missed)
		fail_msg("%u: level %u, hops %u, remote %d, snoop %u, missed %d", which, d->level, d->hops, d->remote,
			 d->snoop, d->missed);
}

/* Of a Neoverse N1, and of HiSilicon's, by number. */
static void test_arm_sources(void **state)
{
	static const struct { uint64_t midr; uint16_t number; struct place place; } cases[] = {
		{ 0x413fd0c1, 0, { GUS_DATA_L1, 0, false, 0, false } },
		{ 0x413fd0c1, 8, { GUS_DATA_L2, 0, false, 0, false } },
		{ 0x413fd0c1, 9, { GUS_DATA_CORE_CACHE, NODE, false, GUS_DATA_SNOOP_PEER, false } },
		{ 0x413fd0c1, 10, { GUS_DATA_L3, 0, false, 0, false } },
		{ 0x413fd0c1, 11, { GUS_DATA_MEMORY_SIDE, 0, false, 0, false } },
		{ 0x413fd0c1, 12, { GUS_DATA_OTHER_CACHE, NODE, true, GUS_DATA_SNOOP_PEER, false } },
		{ 0x413fd0c1, 13, { GUS_DATA_LEVEL_UNKNOWN, OTHER_SOCKET, true, 0, false } },
		{ 0x413fd0c1, 14, { GUS_DATA_RAM, 0, false, 0, false } },
		{ 0x413fd0c1, 15, { GUS_DATA_LEVEL_UNKNOWN, 0, false, 0, false } },
		{ 0x480fd061, 1, { GUS_DATA_CORE_CACHE, NODE, false, GUS_DATA_SNOOP_MODIFIED, false } },
		{ 0x480fd061, 3, { GUS_DATA_L3, 0, false, GUS_DATA_SNOOP_MODIFIED, false } },
		{ 0x480fd061, 6, { GUS_DATA_OTHER_CACHE, OTHER_SOCKET, true, GUS_DATA_SNOOP_PEER, false } },
		{ 0x480fd061, 7, { GUS_DATA_OTHER_CACHE, OTHER_SOCKET, true, GUS_DATA_SNOOP_MODIFIED, false } },
		{ 0x480fd061, 9, { GUS_DATA_RAM, OTHER_SOCKET, true, 0, false } },
		{ 0x480fd061, 13, { GUS_DATA_IO, 0, false, 0, false } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_spe_record r = { .known = GUS_SPE_HAS_SOURCE, .operation = GUS_SPE_OP_LOAD,
			.source = cases[i].number };
		struct gus_data_source d = gus_spe_data_source(&r, cases[i].midr);

		assert_place(&d, &cases[i].place, i);
		r.operation = GUS_SPE_OP_STORE; /* of which no source is told */
		d = gus_spe_data_source(&r, cases[i].midr);
		assert_place(&d, &(struct place){ 0 }, i);
		r.operation = GUS_SPE_OP_LOAD;
		r.known = 0;
		d = gus_spe_data_source(&r, cases[i].midr);
		assert_place(&d, &(struct place){ 0 }, i);
	}
}

/* Of a core whose sources nobody knows: how far it went. */
static void test_arm_events(void **state)
{
	enum { L1 = GUS_SPE_L1D_ACCESS, REFILL = GUS_SPE_L1D_REFILL, L2 = GUS_SPE_L2D_ACCESS,
		L2_MISS = GUS_SPE_L2D_MISS, LLC = GUS_SPE_LLC_ACCESS, LLC_MISS = GUS_SPE_LLC_MISS,
		FAR = GUS_SPE_REMOTE, SNOOP = GUS_SPE_SNOOPED, CHANGED = GUS_SPE_MODIFIED };
	static const struct { uint32_t events; struct place place; } cases[] = {
		{ 0, { 0, 0, false, 0, false } },
		{ L1, { GUS_DATA_L1, 0, false, 0, false } },
		{ L1 | REFILL, { GUS_DATA_L1, 0, false, 0, true } },
		{ L1 | REFILL | L2, { GUS_DATA_L2, 0, false, 0, false } },
		{ L1 | REFILL | L2 | L2_MISS, { GUS_DATA_L2, 0, false, 0, true } },
		{ L1 | REFILL | L2 | L2_MISS | LLC, { GUS_DATA_L3, 0, false, 0, false } },
		{ L1 | REFILL | LLC | LLC_MISS, { GUS_DATA_L3, 0, false, 0, true } },
		{ L1 | REFILL | LLC | LLC_MISS | FAR, { GUS_DATA_L3, 0, true, 0, true } },
		{ L1 | REFILL | SNOOP, { GUS_DATA_L1, 0, false, GUS_DATA_SNOOP_HIT, true } },
		{ L1 | REFILL | SNOOP | CHANGED, { GUS_DATA_L1, 0, false, GUS_DATA_SNOOP_MODIFIED, true } },
		{ L1 | CHANGED, { GUS_DATA_L1, 0, false, 0, false } },
	};
	struct gus_spe_record r = { .operation = GUS_SPE_OP_LOAD, .known = GUS_SPE_HAS_EVENTS };
	struct gus_data_source d;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		r.events = cases[i].events;
		r.events_told = UINT32_MAX;
		d = gus_spe_data_source(&r, 0);
		assert_place(&d, &cases[i].place, i);
		r.events_told = 0;
		d = gus_spe_data_source(&r, 0);
		assert_place(&d, &(struct place){ 0 }, i);
	}
	/* A source that says that it came from a cache says more than that one was asked. */
	r = (struct gus_spe_record){ .operation = GUS_SPE_OP_LOAD, .known = GUS_SPE_HAS_SOURCE | GUS_SPE_HAS_EVENTS,
		.source = 9, .events = SNOOP, .events_told = UINT32_MAX };
	assert_int_equal(gus_spe_data_source(&r, 0x413fd0c1).snoop, GUS_DATA_SNOOP_PEER);
	r.events |= CHANGED;
	assert_int_equal(gus_spe_data_source(&r, 0x413fd0c1).snoop, GUS_DATA_SNOOP_MODIFIED);
	/* One that says nothing leaves it to the events. */
	r.source = 15;
	r.events = L1;
	assert_int_equal(gus_spe_data_source(&r, 0x413fd0c1).level, GUS_DATA_L1);
}

static void test_amd(void **state)
{
	enum { NEAR = GUS_IBS_SOURCE_NEAR_CACHE, FAR = GUS_IBS_SOURCE_FAR_CACHE, DRAM = GUS_IBS_SOURCE_DRAM,
		LOCAL = GUS_IBS_SOURCE_LOCAL_CACHE, ZEN6 = GUS_IBS_CAP_STREAM };
	static const struct { unsigned caps, source; bool node, socket; struct place place; } cases[] = {
		{ 0, LOCAL, false, false, { GUS_DATA_L3, 0, false, 0, false } },
		{ 0, NEAR, false, false, { GUS_DATA_OTHER_CACHE, NODE, true, 0, false } },
		{ ZEN6, NEAR, false, false, { GUS_DATA_OTHER_CACHE, NODE, true, 0, false } },
		{ 0, FAR, true, false, { GUS_DATA_OTHER_CACHE, 0, true, 0, false } },
		{ ZEN6, FAR, true, false, { GUS_DATA_OTHER_CACHE, OTHER_NODE, true, 0, false } },
		{ ZEN6, FAR, true, true, { GUS_DATA_OTHER_CACHE, OTHER_SOCKET, true, 0, false } },
		{ 0, DRAM, false, false, { GUS_DATA_RAM, 0, false, 0, false } },
		{ ZEN6, DRAM, false, false, { GUS_DATA_RAM, 0, false, 0, false } },
		{ 0, DRAM, true, false, { GUS_DATA_RAM, 0, true, 0, false } },
		{ ZEN6, DRAM, true, false, { GUS_DATA_RAM, OTHER_NODE, true, 0, false } },
		{ ZEN6, DRAM, true, true, { GUS_DATA_RAM, OTHER_SOCKET, true, 0, false } },
		{ 0, GUS_IBS_SOURCE_PERSISTENT, false, false, { GUS_DATA_PERSISTENT, 0, false, 0, false } },
		{ 0, GUS_IBS_SOURCE_EXTENSION, false, false, { GUS_DATA_EXTENSION, 0, false, 0, false } },
		{ 0, GUS_IBS_SOURCE_PEER, false, false, { GUS_DATA_RAM, 0, false, 0, false } },
		{ 0, GUS_IBS_SOURCE_IO, false, false, { GUS_DATA_IO, 0, false, 0, false } },
		{ 0, GUS_IBS_SOURCE_RESERVED, false, false, { GUS_DATA_L2, 0, false, 0, true } },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_ibs_op op = { .load = true, .dc_miss = true, .l2_miss = true, .caps = cases[i].caps,
			.known = GUS_IBS_CACHE | GUS_IBS_L2 | GUS_IBS_SOURCE, .remote_node = cases[i].node,
			.source = (enum gus_ibs_source)cases[i].source, .remote_socket = cases[i].socket };
		struct gus_data_source d = gus_ibs_data_source(&op);

		assert_place(&d, &cases[i].place, i);
		assert_int_equal(d.tlb, GUS_DATA_TLB_UNKNOWN);
		op.known &= ~(uint32_t)GUS_IBS_SOURCE; /* not even how far away */
		d = gus_ibs_data_source(&op);
		assert_place(&d, &(struct place){ .level = GUS_DATA_L2, .missed = true }, i);
		op.known = 0;
		d = gus_ibs_data_source(&op);
		assert_place(&d, &(struct place){ 0 }, i);
	}
}

/* What the access did, and whether a page was looked for: neither, either, or both say nothing or so much. */
static void test_arm_accesses(void **state)
{
	enum { LOAD = GUS_SPE_OP_LOAD, STORE = GUS_SPE_OP_STORE, BRANCH = GUS_SPE_OP_BRANCH };
	static const struct { uint32_t operation; unsigned does; } cases[] = {
		{ LOAD, GUS_DATA_LOADS }, { STORE, GUS_DATA_STORES },
		{ LOAD | STORE, GUS_DATA_LOADS | GUS_DATA_STORES },
		{ BRANCH, 0 }, { 0, 0 },
	};
	static const struct { uint32_t events; unsigned tlb; } pages[] = {
		{ 0, GUS_DATA_TLB_UNKNOWN }, { GUS_SPE_TLB_ACCESS, GUS_DATA_TLB_EITHER },
		{ GUS_SPE_TLB_WALK, GUS_DATA_TLB_WALK }, { GUS_SPE_TLB_ACCESS | GUS_SPE_TLB_WALK, GUS_DATA_TLB_WALK },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (unsigned k = 0; k < sizeof(pages) / sizeof(*pages); k++) {
			struct gus_spe_record r = { .operation = cases[i].operation, .known = GUS_SPE_HAS_EVENTS,
				.events = pages[k].events | GUS_SPE_L1D_ACCESS, .events_told = UINT32_MAX };
			struct gus_data_source d = gus_spe_data_source(&r, 0);

			assert_int_equal(d.does, cases[i].does);
			assert_int_equal(d.tlb, cases[i].does ? pages[k].tlb : GUS_DATA_TLB_UNKNOWN);
			assert_int_equal(d.level, cases[i].does ? GUS_DATA_L1 : GUS_DATA_LEVEL_UNKNOWN);
			r.events_told = 0;
			assert_int_equal(gus_spe_data_source(&r, 0).tlb, GUS_DATA_TLB_UNKNOWN);
		}
}

/* Where an op's data were, from the nearest on, if their source is not told. */
static void test_amd_levels(void **state)
{
	enum { CACHE = GUS_IBS_CACHE, L2 = GUS_IBS_L2 };
	static const struct {
		uint32_t known;
		bool uncached, dc_miss, l2_miss, no_mab;
		unsigned level;
		bool missed;
	} cases[] = {
		{ CACHE | L2, true, false, false, false, GUS_DATA_UNCACHED, false },
		{ 0, true, true, true, true, GUS_DATA_UNCACHED, false },
		{ 0, false, true, true, true, GUS_DATA_LEVEL_UNKNOWN, false },
		{ CACHE, false, false, true, true, GUS_DATA_L1, false },
		{ CACHE | L2, false, true, false, false, GUS_DATA_L2, false },
		{ CACHE | L2, false, true, true, false, GUS_DATA_L2, true },
		{ CACHE | L2, false, true, true, true, GUS_DATA_LINE_BUFFER, false },
		{ CACHE, false, true, false, false, GUS_DATA_L1, true },
		{ CACHE, false, true, false, true, GUS_DATA_LINE_BUFFER, false },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct gus_ibs_op op = { .store = true, .known = cases[i].known, .uncached = cases[i].uncached,
			.dc_miss = cases[i].dc_miss, .l2_miss = cases[i].l2_miss, .no_mab = cases[i].no_mab };
		struct gus_data_source d = gus_ibs_data_source(&op);

		assert_place(&d, &(struct place){ .level = (uint8_t)cases[i].level, .missed = cases[i].missed }, i);
	}
}

static void test_amd_accesses(void **state)
{
	static const struct { bool first, second; unsigned tlb; } pages[] = {
		{ false, false, GUS_DATA_TLB_FIRST }, { true, false, GUS_DATA_TLB_SECOND },
		{ true, true, GUS_DATA_TLB_WALK }, { false, true, GUS_DATA_TLB_FIRST },
	};

	(void)state;
	for (unsigned does = 0; does < 8; does++)
		for (unsigned i = 0; i < 4; i++) {
			struct gus_ibs_op op = { .load = does & 1, .store = does & 2, .software_prefetch = does & 4,
				.known = GUS_IBS_TLB | GUS_IBS_HIT_STATE, .l1_tlb_miss = pages[i].first,
				.l2_tlb_miss = pages[i].second, .locked = i & 1, .cache_owned = i & 2 };
			struct gus_data_source d = gus_ibs_data_source(&op);

			assert_int_equal(d.does, (does & 1 ? GUS_DATA_LOADS : 0) | (does & 2 ? GUS_DATA_STORES : 0) |
					 (does & 4 ? GUS_DATA_PREFETCHES : 0));
			assert_int_equal(d.lock_told, does != 0);
			assert_int_equal(d.locked, does && i & 1);
			assert_int_equal(d.tlb, does ? pages[i].tlb : GUS_DATA_TLB_UNKNOWN);
			assert_int_equal(d.snoop, !does ? GUS_DATA_SNOOP_UNKNOWN : i & 2 ? GUS_DATA_SNOOP_HIT :
					 GUS_DATA_SNOOP_MODIFIED);
			op.known = 0;
			d = gus_ibs_data_source(&op);
			assert_int_equal(d.tlb, GUS_DATA_TLB_UNKNOWN);
			assert_int_equal(d.snoop, GUS_DATA_SNOOP_UNKNOWN);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arm_sources),
		cmocka_unit_test(test_arm_events),
		cmocka_unit_test(test_amd),
		cmocka_unit_test(test_arm_accesses),
		cmocka_unit_test(test_amd_levels),
		cmocka_unit_test(test_amd_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
