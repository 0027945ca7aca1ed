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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arm_sources),
		cmocka_unit_test(test_arm_events),
		cmocka_unit_test(test_amd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
