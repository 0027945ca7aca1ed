/* SPDX-License-Identifier: MIT */
/* What records say of accesses, and which of TEA's events they prove or exclude. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collector/records/origin.h"
#include "collector/records/ibs.h"
#include "collector/records/psv.h"
#include "collector/records/spe.h"

/* union perf_mem_data_src, as linux/perf_event.h declares it for little endian. */
union word {
	uint64_t value;
	struct {
		uint64_t op : 5, lvl : 14, snoop : 5, lock : 2, dtlb : 7, lvl_num : 4, remote : 1, snoopx : 2, blk : 3,
			hops : 3, : 18;
	};
};

enum { LOAD = 2, STORE = 4, PREFETCH = 8, EXEC = 16 };
enum { HIT = 2, MISS = 4, L1 = 8, LFB = 16, L2 = 32, L3 = 64, RAM = 128, RAM1 = 256, RAM2 = 512, CACHE1 = 1024,
	CACHE2 = 2048, IO = 4096, UNCACHED = 8192 };
enum { MB = GUS_PSV_FL_MB, EX = GUS_PSV_FL_EX, MO = GUS_PSV_FL_MO, SQ = GUS_PSV_DR_SQ, SL1 = GUS_PSV_ST_L1,
	TLB = GUS_PSV_ST_TLB, LLC = GUS_PSV_ST_LLC };

static struct gus_data_source of(union word w)
{
	return gus_data_source_of_kernel(w.value);
}

/* The first generation of the ABI: a bit a level, and whether it was hit there. */
static void test_levels_by_bit(void **state)
{
	static const struct { unsigned lvl; enum gus_data_level level; bool missed, remote; unsigned proved, excluded; }
	cases[] = {
		{ 1, GUS_DATA_LEVEL_UNKNOWN, false, false, 0, 0 },
		{ HIT | L1, GUS_DATA_L1, false, false, 0, SL1 | LLC },
		{ HIT | LFB, GUS_DATA_LINE_BUFFER, false, false, SL1, LLC },
		{ HIT | L2, GUS_DATA_L2, false, false, SL1, LLC },
		{ HIT | L3, GUS_DATA_L3, false, false, SL1, LLC },
		{ HIT | RAM, GUS_DATA_RAM, false, false, SL1 | LLC, 0 },
		{ HIT | RAM1, GUS_DATA_RAM, false, true, SL1 | LLC, 0 },
		{ HIT | RAM2, GUS_DATA_RAM, false, true, SL1 | LLC, 0 },
		{ HIT | CACHE1, GUS_DATA_OTHER_CACHE, false, true, SL1 | LLC, 0 },
		{ HIT | CACHE2, GUS_DATA_OTHER_CACHE, false, true, SL1 | LLC, 0 },
		{ HIT | IO, GUS_DATA_IO, false, false, 0, 0 },
		{ HIT | UNCACHED, GUS_DATA_UNCACHED, false, false, 0, 0 },
		{ MISS | L1, GUS_DATA_L1, true, false, SL1, 0 },
		{ MISS | L3, GUS_DATA_L3, true, false, SL1 | LLC, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_data_source d = of((union word){ .op = LOAD, .lvl = cases[i].lvl });
		struct gus_psv psv = gus_proof_of_data(&d);

		assert_int_equal(d.level, cases[i].level);
		assert_int_equal(d.missed, cases[i].missed);
		assert_int_equal(d.remote, cases[i].remote);
		assert_int_equal(psv.proved, cases[i].proved);
		assert_int_equal(psv.excluded, cases[i].excluded);
	}
}

/* Later ones: a number, and how far away. It is the better one where a bit says something, too. */
static void test_levels_by_number(void **state)
{
	static const enum gus_data_level levels[16] = { GUS_DATA_LEVEL_UNKNOWN, GUS_DATA_L1, GUS_DATA_L2, GUS_DATA_L3,
		GUS_DATA_L4, GUS_DATA_L2_MISS_BUFFER, GUS_DATA_MEMORY_SIDE, GUS_DATA_L0, GUS_DATA_UNCACHED,
		GUS_DATA_EXTENSION, GUS_DATA_IO, GUS_DATA_ANY_CACHE, GUS_DATA_LINE_BUFFER, GUS_DATA_RAM,
		GUS_DATA_PERSISTENT, GUS_DATA_LEVEL_UNKNOWN };

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(of((union word){ .op = LOAD, .lvl_num = i }).level, levels[i]);
		if (levels[i])
			assert_int_equal(of((union word){ .op = LOAD, .lvl = HIT | L2, .lvl_num = i }).level,
					 levels[i]);
	}
	assert_int_equal(of((union word){ .lvl = HIT | L2, .lvl_num = 15 }).level, GUS_DATA_L2);
	/* Any cache, of somebody else's: the hops say whose. */
	assert_int_equal(of((union word){ .lvl_num = 11, .remote = 1, .hops = 1 }).level, GUS_DATA_CORE_CACHE);
	assert_int_equal(of((union word){ .lvl_num = 11, .remote = 1, .hops = 3 }).level, GUS_DATA_OTHER_CACHE);
	assert_int_equal(of((union word){ .lvl_num = 11, .remote = 1, .hops = 3 }).hops, 3);
	assert_true(of((union word){ .lvl_num = 13, .remote = 1 }).remote);
}

static void test_other_fields(void **state)
{
	static const struct { unsigned snoop, beyond; enum gus_data_snoop is; } snoops[] = {
		{ 0, 0, GUS_DATA_SNOOP_UNKNOWN }, { 1, 0, GUS_DATA_SNOOP_UNKNOWN }, { 2, 0, GUS_DATA_SNOOP_NONE },
		{ 4, 0, GUS_DATA_SNOOP_HIT }, { 8, 0, GUS_DATA_SNOOP_MISS }, { 16, 0, GUS_DATA_SNOOP_MODIFIED },
		{ 0, 1, GUS_DATA_SNOOP_FORWARD }, { 0, 2, GUS_DATA_SNOOP_PEER },
		{ 0, 3, GUS_DATA_SNOOP_FORWARD }, { 4, 1, GUS_DATA_SNOOP_FORWARD },
		{ 16, 2, GUS_DATA_SNOOP_MODIFIED },
	};
	static const struct { unsigned bits; enum gus_data_tlb is; unsigned proved, excluded; } tlbs[] = {
		{ 0, GUS_DATA_TLB_UNKNOWN, 0, 0 }, { 1, GUS_DATA_TLB_UNKNOWN, 0, 0 },
		{ 2 | 8, GUS_DATA_TLB_FIRST, 0, TLB }, { 2 | 16, GUS_DATA_TLB_SECOND, TLB, 0 },
		{ 2 | 8 | 16, GUS_DATA_TLB_EITHER, 0, 0 }, { 4 | 16, GUS_DATA_TLB_WALK, TLB, 0 },
		{ 2 | 32, GUS_DATA_TLB_WALK, TLB, 0 }, { 4 | 64, GUS_DATA_TLB_WALK, TLB, 0 },
		{ 2, GUS_DATA_TLB_UNKNOWN, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(snoops) / sizeof(*snoops); i++)
		assert_int_equal(of((union word){ .snoop = snoops[i].snoop, .snoopx = snoops[i].beyond }).snoop,
				 snoops[i].is);
	for (size_t i = 0; i < sizeof(tlbs) / sizeof(*tlbs); i++) {
		struct gus_data_source d = of((union word){ .op = LOAD, .dtlb = tlbs[i].bits });
		struct gus_psv psv = gus_proof_of_data(&d);

		assert_int_equal(d.tlb, tlbs[i].is);
		assert_int_equal(psv.proved, tlbs[i].proved);
		assert_int_equal(psv.excluded, tlbs[i].excluded);
	}
	assert_int_equal(of((union word){ .op = LOAD | PREFETCH }).does, GUS_DATA_LOADS | GUS_DATA_PREFETCHES);
	assert_int_equal(of((union word){ .op = STORE }).does, GUS_DATA_STORES);
	assert_int_equal(of((union word){ .op = EXEC }).does, GUS_DATA_FETCHES);
	assert_int_equal(of((union word){ .op = 1 }).does, 0);
	assert_true(of((union word){ .op = LOAD, .lock = 2 }).locked);
	assert_true(of((union word){ .op = LOAD, .lock = 0 }).lock_told);
	assert_false(of((union word){ .op = LOAD, .lock = 1 }).lock_told);
	assert_false(of((union word){ .op = LOAD, .blk = 1 }).blocked_told);
	assert_false(of((union word){ .op = LOAD, .blk = 0 }).blocked_told);
	assert_int_equal(of((union word){ .op = LOAD, .blk = 2 }).blocked, GUS_DATA_BLOCKED_DATA);
	assert_int_equal(of((union word){ .op = LOAD, .blk = 4 }).blocked, GUS_DATA_BLOCKED_ADDRESS);
	assert_true(of((union word){ .op = LOAD, .blk = 4 }).blocked_told);
}

/* A store has retired before it misses, and what is no access says nothing. */
static void test_data_of_others(void **state)
{
	struct gus_data_source d = of((union word){ .op = STORE, .lvl_num = 13, .dtlb = 2 | 32 });
	struct gus_psv psv = gus_proof_of_data(&d);

	(void)state;
	assert_int_equal(psv.proved, 0);
	assert_int_equal(psv.excluded, SL1 | LLC);
	d = of((union word){ .op = STORE, .lvl_num = 1, .dtlb = 2 | 8 });
	assert_int_equal(gus_proof_of_data(&d).excluded, SL1 | LLC | TLB);
	d = of((union word){ .op = LOAD | STORE, .lvl_num = 13, .dtlb = 2 | 32 });
	assert_int_equal(gus_proof_of_data(&d).proved, SL1 | LLC | TLB);
	d = of((union word){ .op = LOAD, .lvl_num = 7 }); /* L0 */
	psv = gus_proof_of_data(&d);
	assert_int_equal(psv.proved, 0);
	assert_int_equal(psv.excluded, SL1 | LLC);
	d = of((union word){ .op = EXEC, .lvl_num = 13 });
	psv = gus_proof_of_data(&d);
	assert_int_equal(psv.proved | psv.excluded, 0);
}

static void test_ibs(void **state)
{
	enum { CACHES = GUS_IBS_CACHE | GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_TLB };
	static const struct { struct gus_ibs_op op; enum gus_data_level level; unsigned proved, excluded; } cases[] = {
		/* no access: a branch, and something else */
		{ { .branch = true, .mispredicted = true }, 0, MB, SL1 | TLB | LLC | SQ | MO },
		{ { .branch = true }, 0, 0, MB | SL1 | TLB | LLC | SQ | MO },
		{ { .known = GUS_IBS_RIP }, 0, 0, MB | SL1 | TLB | LLC | SQ | MO },
		/* loads, from near to far */
		{ { .load = true, .known = GUS_IBS_CACHE | GUS_IBS_TLB }, GUS_DATA_L1, 0, MB | SQ | SL1 | TLB | LLC },
		{ { .load = true, .known = CACHES, .dc_miss = true }, GUS_DATA_L2, SL1, MB | SQ | TLB | LLC },
		{ { .load = true, .known = CACHES, .dc_miss = true, .no_mab = true, .l1_tlb_miss = true },
			GUS_DATA_L2, SL1 | TLB, MB | SQ | LLC },
		{ { .load = true, .known = CACHES, .dc_miss = true, .l2_miss = true,
			.source = GUS_IBS_SOURCE_LOCAL_CACHE }, GUS_DATA_L3, SL1, MB | SQ | TLB | LLC },
		{ { .load = true, .known = CACHES, .dc_miss = true, .l2_miss = true,
			.source = GUS_IBS_SOURCE_NEAR_CACHE }, GUS_DATA_OTHER_CACHE, SL1 | LLC, MB | SQ | TLB },
		{ { .load = true, .known = CACHES, .dc_miss = true, .l2_miss = true, .l1_tlb_miss = true,
			.l2_tlb_miss = true, .source = GUS_IBS_SOURCE_DRAM }, GUS_DATA_RAM, SL1 | TLB | LLC, MB | SQ },
		{ { .load = true, .known = CACHES, .dc_miss = true, .l2_miss = true, .source = GUS_IBS_SOURCE_IO },
			GUS_DATA_IO, SL1, MB | SQ | TLB },
		/* of a miss nothing else is known; a line on its way was asked for; of uncached memory nothing */
		{ { .load = true, .known = GUS_IBS_CACHE, .dc_miss = true }, GUS_DATA_L1, SL1, MB | SQ },
		{ { .load = true, .known = GUS_IBS_CACHE | GUS_IBS_L2, .dc_miss = true, .l2_miss = true }, GUS_DATA_L2,
			SL1, MB | SQ },
		{ { .load = true, .known = GUS_IBS_CACHE | GUS_IBS_L2, .dc_miss = true, .l2_miss = true,
			.no_mab = true }, GUS_DATA_LINE_BUFFER, SL1, MB | SQ | LLC },
		{ { .load = true, .known = GUS_IBS_CACHE, .dc_miss = true, .no_mab = true }, GUS_DATA_LINE_BUFFER, SL1,
			MB | SQ | LLC },
		{ { .load = true, .uncached = true }, GUS_DATA_UNCACHED, 0, MB | SQ },
		/* a store, and what does both */
		{ { .store = true, .known = GUS_IBS_CACHE | GUS_IBS_L2, .dc_miss = true, .l2_miss = true },
			GUS_DATA_L2, 0, MB | MO | SL1 | LLC },
		{ { .load = true, .store = true, .known = GUS_IBS_CACHE }, GUS_DATA_L1, 0, MB | SL1 | LLC },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_psv psv = gus_proof_of_ibs(&cases[i].op);

		if (psv.proved != cases[i].proved || psv.excluded != cases[i].excluded)
			printf("case %zu: %x, not %x\n", i, psv.proved, psv.excluded);
		assert_int_equal(gus_ibs_data_source(&cases[i].op).level, cases[i].level);
		assert_int_equal(psv.proved, cases[i].proved);
		assert_int_equal(psv.excluded, cases[i].excluded);
	}
}

static void test_ibs_data(void **state)
{
	struct gus_ibs_op op = { .load = true, .store = true, .locked = true, .remote_node = true, .cache_owned = true,
		.known = GUS_IBS_TLB | GUS_IBS_HIT_STATE | GUS_IBS_SOURCE, .l1_tlb_miss = true };
	struct gus_data_source d = gus_ibs_data_source(&op);

	(void)state;
	assert_int_equal(d.does, GUS_DATA_LOADS | GUS_DATA_STORES);
	assert_true(d.remote && d.lock_told && d.locked && !d.blocked_told);
	assert_int_equal(d.tlb, GUS_DATA_TLB_SECOND);
	assert_int_equal(d.snoop, GUS_DATA_SNOOP_HIT);
	op.l2_tlb_miss = true;
	op.cache_owned = op.store = false;
	op.software_prefetch = true;
	d = gus_ibs_data_source(&op);
	assert_int_equal(d.does, GUS_DATA_LOADS | GUS_DATA_PREFETCHES);
	assert_int_equal(d.tlb, GUS_DATA_TLB_WALK);
	assert_int_equal(d.snoop, GUS_DATA_SNOOP_MODIFIED);
	op.known = 0;
	d = gus_ibs_data_source(&op);
	assert_int_equal(d.tlb, GUS_DATA_TLB_UNKNOWN);
	assert_int_equal(d.snoop, GUS_DATA_SNOOP_UNKNOWN);
	op = (struct gus_ibs_op){ .locked = true, .remote_node = true };
	d = gus_ibs_data_source(&op);
	assert_false(d.does || d.level || d.remote || d.lock_told || d.locked);
}

static void test_ibs_fetch(void **state)
{
	struct gus_ibs_fetch f = { .known = GUS_IBS_FETCH_CACHE | GUS_IBS_FETCH_TLB, .ic_miss = true };
	struct gus_psv psv = gus_proof_of_ibs_fetch(&f);

	(void)state;
	assert_int_equal(psv.proved, GUS_PSV_DR_L1);
	assert_int_equal(psv.excluded, GUS_PSV_DR_TLB);
	f = (struct gus_ibs_fetch){ .known = GUS_IBS_FETCH_TLB, .l1_tlb_miss = true };
	psv = gus_proof_of_ibs_fetch(&f);
	assert_int_equal(psv.proved, GUS_PSV_DR_TLB);
	assert_int_equal(psv.excluded, 0);
	f.known = 0;
	psv = gus_proof_of_ibs_fetch(&f);
	assert_int_equal(psv.proved | psv.excluded, 0);
}

static void test_spe(void **state)
{
	enum { N1_LLC = GUS_SPE_LLC_ACCESS | GUS_SPE_LLC_MISS, L1D = GUS_SPE_L1D_ACCESS,
		REFILL = GUS_SPE_L1D_REFILL, KNOWN = GUS_SPE_HAS_OPERATION | GUS_SPE_HAS_EVENTS,
		WITH_SOURCE = KNOWN | GUS_SPE_HAS_SOURCE };
	const uint64_t n1 = UINT64_C(0x413fd0c1), a76 = UINT64_C(0x413fd0b1);
	const struct gus_spe_record load = { .known = KNOWN, .class = GUS_SPE_LOAD_STORE, .operation = GUS_SPE_OP_LOAD,
		.events_told = 0xffff };
	const struct {
		uint64_t midr, events, told;
		unsigned source, operation;
		enum gus_data_level level;
		unsigned proved, excluded;
	} cases[] = {
		/* by events alone: a hit is known, and that it was none */
		{ a76, L1D, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L1, 0, EX | MB | SQ | SL1 | LLC },
		{ a76, L1D | REFILL, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L1, SL1, EX | MB | SQ },
		{ a76, REFILL, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L1, SL1, EX | MB | SQ },
		{ a76, L1D | REFILL | N1_LLC, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L3, SL1 | LLC, EX | MB | SQ },
		{ a76, L1D | REFILL | GUS_SPE_LLC_ACCESS, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L3, SL1,
			EX | MB | SQ | LLC },
		{ a76, L1D | REFILL | GUS_SPE_L2D_ACCESS, 0xffffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L2, SL1,
			EX | MB | SQ | LLC },
		{ a76, L1D | REFILL | GUS_SPE_L2D_ACCESS | GUS_SPE_L2D_MISS, 0xffffff, 16, GUS_SPE_OP_LOAD,
			GUS_DATA_L2, SL1, EX | MB | SQ },
		{ a76, L1D | REFILL | GUS_SPE_REMOTE, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L1, SL1 | LLC,
			EX | MB | SQ },
		{ a76, 0, 0xffff, 16, GUS_SPE_OP_LOAD, 0, 0, EX | MB | SQ },
		/* with a source that means something on this core */
		{ n1, L1D, 0xffff, 0, GUS_SPE_OP_LOAD, GUS_DATA_L1, 0, EX | MB | SQ | SL1 | LLC },
		{ n1, L1D | REFILL, 0xffff, 8, GUS_SPE_OP_LOAD, GUS_DATA_L2, SL1, EX | MB | SQ | LLC },
		{ n1, L1D | REFILL, 0xffff, 14, GUS_SPE_OP_LOAD, GUS_DATA_RAM, SL1 | LLC, EX | MB | SQ },
		{ n1, L1D | REFILL, 0xffff, 13, GUS_SPE_OP_LOAD, 0, SL1 | LLC, EX | MB | SQ },
		{ n1, L1D | REFILL, 0xffff, 9, GUS_SPE_OP_LOAD, GUS_DATA_CORE_CACHE, SL1, EX | MB | SQ | LLC },
		{ n1, L1D | REFILL, 0xffff, 12, GUS_SPE_OP_LOAD, GUS_DATA_OTHER_CACHE, SL1 | LLC, EX | MB | SQ },
		{ a76, L1D | REFILL, 0xffff, 14, GUS_SPE_OP_LOAD, GUS_DATA_L1, SL1, EX | MB | SQ },
		/* events go before what a source would let conclude */
		{ n1, L1D | REFILL, 0xffff, 0, GUS_SPE_OP_LOAD, GUS_DATA_L1, SL1, EX | MB | SQ | LLC },
		{ n1, L1D | REFILL | N1_LLC, 0xffff, 10, GUS_SPE_OP_LOAD, GUS_DATA_L3, SL1 | LLC, EX | MB | SQ },
		{ n1, L1D | REFILL | GUS_SPE_LLC_ACCESS, 0xffff, 14, GUS_SPE_OP_LOAD, GUS_DATA_RAM, SL1,
			EX | MB | SQ | LLC },
		/* a walk is a miss, and no walk is not known to be a hit; a store's source and walk mean nothing */
		{ n1, L1D | GUS_SPE_TLB_ACCESS | GUS_SPE_TLB_WALK, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L1, TLB,
			EX | MB | SQ | SL1 | LLC },
		{ n1, L1D | GUS_SPE_TLB_ACCESS, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L1, 0,
			EX | MB | SQ | SL1 | LLC },
		{ n1, L1D | GUS_SPE_TLB_ACCESS | GUS_SPE_TLB_WALK, 0xffff, 14, GUS_SPE_OP_STORE, GUS_DATA_L1, 0,
			EX | MB | MO | SL1 | LLC },
		{ n1, L1D | GUS_SPE_TLB_ACCESS, 0xffff, 16, GUS_SPE_OP_STORE, GUS_DATA_L1, 0,
			EX | MB | MO | SL1 | LLC },
		/* the last cache is asked about by loads alone */
		{ a76, L1D | REFILL | N1_LLC, 0xffff, 16, GUS_SPE_OP_STORE, GUS_DATA_L3, 0,
			EX | MB | MO | SL1 | LLC },
		/* what says that it was mispredicted is a branch, too, whatever else it is; what does not is none */
		{ n1, L1D | GUS_SPE_MISPREDICTED, 0xffff, 16, GUS_SPE_OP_LOAD, GUS_DATA_L1, MB, EX | SQ | SL1 | LLC },
		{ n1, GUS_SPE_MISPREDICTED, 0, 16, GUS_SPE_OP_LOAD, 0, 0, MB | SQ },
		/* exceptions, and events that the packet had no room for */
		{ n1, GUS_SPE_EXCEPTION, 0xffff, 16, GUS_SPE_OP_LOAD, 0, EX, MB | SQ },
		{ n1, 0, 0, 16, GUS_SPE_OP_LOAD, 0, 0, MB | SQ },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_spe_record r = load;
		struct gus_psv psv;

		r.known = cases[i].source < 16 ? WITH_SOURCE : KNOWN;
		r.source = (uint16_t)cases[i].source;
		r.operation = cases[i].operation;
		r.events = cases[i].events;
		r.events_told = cases[i].told;
		psv = gus_proof_of_spe(&r, cases[i].midr);
		if (psv.proved != cases[i].proved || psv.excluded != cases[i].excluded)
			printf("case %zu: %x, not %x\n", i, psv.proved, psv.excluded);
		assert_int_equal(gus_spe_data_source(&r, cases[i].midr).level, cases[i].level);
		assert_int_equal(psv.proved, cases[i].proved);
		assert_int_equal(psv.excluded, cases[i].excluded);
	}
}

static void test_spe_of_others(void **state)
{
	struct gus_spe_record r = { .known = GUS_SPE_HAS_OPERATION | GUS_SPE_HAS_EVENTS, .class = GUS_SPE_BRANCH,
		.operation = GUS_SPE_OP_BRANCH, .events = GUS_SPE_MISPREDICTED, .events_told = 0xff };
	struct gus_psv psv = gus_proof_of_spe(&r, 0);

	(void)state;
	assert_int_equal(psv.proved, MB);
	assert_int_equal(psv.excluded, EX | SL1 | TLB | LLC | MO | SQ);
	r.events = 0;
	assert_int_equal(gus_proof_of_spe(&r, 0).excluded, MB | EX | SL1 | TLB | LLC | MO | SQ);
	r.events_told = 0;
	assert_int_equal(gus_proof_of_spe(&r, 0).excluded, SL1 | TLB | LLC | MO | SQ);
	r.known = 0;
	assert_int_equal(gus_proof_of_spe(&r, 0).excluded, 0);
	assert_int_equal(gus_spe_data_source(&r, 0).does, 0);
}

/* A line on its way is no refill of who finds it there, but it comes late; how late, translation apart, is known only
 * of a load that tells all three latencies. */
static void test_spe_late(void **state)
{
	enum { LATENCIES = GUS_SPE_HAS_TOTAL | GUS_SPE_HAS_ISSUE | GUS_SPE_HAS_TRANSLATION };
	const struct gus_spe_record hit = { .known = GUS_SPE_HAS_OPERATION | GUS_SPE_HAS_EVENTS | LATENCIES,
		.class = GUS_SPE_LOAD_STORE, .operation = GUS_SPE_OP_LOAD, .events_told = 0xffff,
		.events = GUS_SPE_L1D_ACCESS, .issue = 30, .translation = 20, .total = 60 };
	static const uint32_t untold[] = { GUS_SPE_HAS_TOTAL, GUS_SPE_HAS_ISSUE, GUS_SPE_HAS_TRANSLATION };
	struct gus_spe_record r = hit;

	(void)state;
	assert_int_equal(gus_proof_of_spe(&r, 0).excluded & SL1, SL1);
	r.total = 61;
	assert_int_equal(gus_proof_of_spe(&r, 0).proved, SL1);
	r.operation = GUS_SPE_OP_STORE;
	assert_int_equal(gus_proof_of_spe(&r, 0).proved, 0);
	for (size_t i = 0; i < sizeof(untold) / sizeof(*untold); i++) {
		r = hit;
		r.total = 61;
		r.known &= ~untold[i];
		assert_int_equal(gus_proof_of_spe(&r, 0).excluded & SL1, SL1);
	}
}

static void test_spe_data(void **state)
{
	struct gus_spe_record r = { .operation = GUS_SPE_OP_LOAD | GUS_SPE_OP_STORE, .events_told = 0xffffff,
		.events = GUS_SPE_REMOTE | GUS_SPE_TLB_ACCESS | GUS_SPE_SNOOPED | GUS_SPE_MODIFIED };
	struct gus_data_source d = gus_spe_data_source(&r, 0);

	(void)state;
	assert_int_equal(d.does, GUS_DATA_LOADS | GUS_DATA_STORES);
	assert_true(d.remote && !d.lock_told && !d.blocked_told);
	assert_int_equal(d.tlb, GUS_DATA_TLB_EITHER);
	assert_int_equal(d.snoop, GUS_DATA_SNOOP_MODIFIED);
	r.events = GUS_SPE_TLB_ACCESS | GUS_SPE_TLB_WALK | GUS_SPE_SNOOPED;
	d = gus_spe_data_source(&r, 0);
	assert_int_equal(d.tlb, GUS_DATA_TLB_WALK);
	assert_int_equal(d.snoop, GUS_DATA_SNOOP_HIT);
	assert_false(d.remote);
	r.events = 0;
	d = gus_spe_data_source(&r, 0);
	assert_int_equal(d.tlb, GUS_DATA_TLB_UNKNOWN);
	assert_int_equal(d.snoop, GUS_DATA_SNOOP_UNKNOWN); /* cores need not have the bit */
	r.events = GUS_SPE_SNOOPED;
	r.events_told = 0xffff; /* no room for what was snooped */
	assert_int_equal(gus_spe_data_source(&r, 0).snoop, GUS_DATA_SNOOP_UNKNOWN);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(gus_psv_name(GUS_PSV_DR_L1), "DR-L1");
	assert_string_equal(gus_psv_name(GUS_PSV_ST_LLC), "ST-LLC");
	assert_string_equal(gus_data_level_name(GUS_DATA_L3), "L3");
	assert_string_equal(gus_data_level_name(GUS_DATA_UNCACHED), "uncached");
	assert_string_equal(gus_data_level_name(GUS_DATA_LEVELS), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels_by_bit),
		cmocka_unit_test(test_levels_by_number),
		cmocka_unit_test(test_other_fields),
		cmocka_unit_test(test_data_of_others),
		cmocka_unit_test(test_ibs),
		cmocka_unit_test(test_ibs_data),
		cmocka_unit_test(test_ibs_fetch),
		cmocka_unit_test(test_spe),
		cmocka_unit_test(test_spe_of_others),
		cmocka_unit_test(test_spe_late),
		cmocka_unit_test(test_spe_data),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
