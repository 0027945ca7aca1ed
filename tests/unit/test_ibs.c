/* SPDX-License-Identifier: MIT */
/* Words of AMD's IBS. They are made by fields as the manuals draw the registers, bit by bit from the lowest one, which
 * is another way of writing them down than the decoder's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/records/ibs.h"

struct op_ctl {
	uint64_t max_count : 16, l3_miss_only : 1, enable : 1, valid : 1, counts_ops : 1, max_count_high : 7, : 5,
		count : 27, threshold : 4, threshold_on : 1;
};
struct op_data {
	uint64_t complete_to_retire : 16, tag_to_retire : 16, : 2, returns : 1, taken : 1, mispredicted : 1, branch : 1,
		rip_invalid : 1, fused : 1, microcode : 1, : 23;
};
struct op_data2 {
	uint64_t source : 3, : 1, remote_node : 1, hit_state : 1, source_high : 2, streaming : 1, remote_socket : 1,
		: 54;
};
struct op_data3 {
	uint64_t load : 1, store : 1, l1_tlb_miss : 1, l2_tlb_miss : 1, l1_hit_2m : 1, l1_hit_1g : 1, l2_hit_2m : 1,
		dc_miss : 1, misaligned : 1, : 4, write_combining : 1, uncached : 1, locked : 1, no_mab : 1,
		linear_valid : 1, physical_valid : 1, l2_hit_1g : 1, l2_miss : 1, prefetch : 1, width : 4,
		misses_open : 6, dc_latency : 16, tlb_latency : 16;
};
struct fetch_ctl {
	uint64_t max_count : 16, count : 16, latency : 16, enable : 1, valid : 1, completed : 1, ic_miss : 1,
		physical_valid : 1, page : 2, l1_tlb_miss : 1, l2_tlb_miss : 1, randomised : 1, l2_miss : 1,
		l3_miss_only : 1, oc_miss : 1, l3_miss : 1, : 2;
};

/* As RAW has an op, with all that may come; where the last two lie depends on what the hardware has. */
struct op {
	uint32_t caps;
	struct op_ctl ctl;
	uint64_t rip;
	struct op_data data;
	struct op_data2 data2;
	struct op_data3 data3;
	uint64_t linear, physical, target, data4;
};

enum { ZEN3 = 0x3ff, ZEN4 = 0xbff, ZEN5 = 0x81bff, TARGET_AND_DATA4 = 0x420 };
static const struct gus_ibs_cpu milan = { 0x19, 0x01 }, vermeer = { 0x19, 0x21 }, genoa = { 0x19, 0x11 },
	turin = { 0x1a, 0x02 }, rome = { 0x17, 0x31 }, bulldozer = { 0x15, 0x02 }, unknown = { 0, 0 };

static size_t put(uint8_t *bytes, size_t at, const void *word, size_t size)
{
	memcpy(bytes + at, word, size);
	return at + size;
}

static size_t op_bytes(const struct op *o, uint8_t *bytes)
{
	size_t n = put(bytes, 0, &o->caps, 4);

	n = put(bytes, n, &o->ctl, 8);
	n = put(bytes, n, &o->rip, 8);
	n = put(bytes, n, &o->data, 8);
	n = put(bytes, n, &o->data2, 8);
	n = put(bytes, n, &o->data3, 8);
	n = put(bytes, n, &o->linear, 8);
	n = put(bytes, n, &o->physical, 8);
	if (o->caps >> 5 & 1)
		n = put(bytes, n, &o->target, 8);
	if (o->caps >> 10 & 1)
		n = put(bytes, n, &o->data4, 8);
	return n;
}

/* Parsed from memory of its own length, so that a read behind it is seen. */
static struct gus_ibs_op parsed(const struct op *o, const struct gus_ibs_cpu *cpu)
{
	uint8_t bytes[128], *own;
	size_t n = op_bytes(o, bytes);
	struct gus_ibs_op out;

	own = malloc(n);
	memcpy(own, bytes, n);
	assert_true(gus_ibs_op_parse(own, n, cpu, &out));
	free(own);
	return out;
}

static void test_ctl(void **state)
{
	struct op o = { .caps = ZEN4, .ctl = { .max_count = 62500, .enable = 1, .valid = 1, .count = 1345 } };
	struct gus_ibs_op op = parsed(&o, &genoa);

	(void)state;
	assert_int_equal(op.period, 1000000);
	assert_int_equal(op.count, 1345);
	assert_false(op.counts_ops || op.l3_miss_only || op.least_latency);
	o.ctl.max_count_high = 0x55; /* bits 20 to 26 of the period */
	o.ctl.count = 0x4000001;
	o.ctl.counts_ops = o.ctl.l3_miss_only = 1;
	op = parsed(&o, &genoa);
	assert_int_equal(op.period, 1000000 + (0x55 << 20));
	assert_int_equal(op.count, 0x4000001);
	assert_true(op.counts_ops && op.l3_miss_only);
	/* Hardware before that has neither: 20 bits, and no filter. */
	o.caps = 0x1f;
	op = parsed(&o, &unknown);
	assert_int_equal(op.period, 1000000);
	assert_int_equal(op.count, 1);
	assert_false(op.l3_miss_only);
	/* The filter of loads is in steps of 128, and only Zen 5 has it. */
	o.ctl.threshold = 15;
	o.ctl.threshold_on = 1;
	assert_int_equal(parsed(&o, &unknown).least_latency, 0);
	o.caps = ZEN5;
	assert_int_equal(parsed(&o, &turin).least_latency, 2048);
	o.ctl.threshold_on = 0;
	assert_int_equal(parsed(&o, &turin).least_latency, 0);
}

static void test_data(void **state)
{
	struct op o = { .caps = ZEN4 | TARGET_AND_DATA4, .rip = 0x401000, .target = 0x402000, .data4 = 7,
			.data = { .complete_to_retire = 512, .tag_to_retire = 1271, .microcode = 1, .taken = 1 } };
	struct gus_ibs_op op = parsed(&o, &genoa);

	(void)state;
	assert_int_equal(op.complete_to_retire, 512);
	assert_int_equal(op.tag_to_retire, 1271);
	assert_true(op.microcoded);
	/* What is said of branches holds of branches. */
	assert_false(op.branch || op.taken || (op.known & GUS_IBS_TARGET) || op.target);
	o.data.branch = o.data.fused = o.data.mispredicted = 1;
	o.target = 0; /* is none */
	assert_false(parsed(&o, &genoa).known & GUS_IBS_TARGET);
	o.target = 0x402000;
	op = parsed(&o, &genoa);
	assert_true(op.branch && op.taken && op.mispredicted && op.fused && !op.returns);
	assert_true(op.known & GUS_IBS_TARGET);
	assert_int_equal(op.target, 0x402000);
	assert_int_equal(op.data4, 7);
	o.data.returns = 1;
	o.data.taken = o.data.mispredicted = o.data.fused = 0;
	op = parsed(&o, &genoa);
	assert_true(op.returns && !op.taken && !op.mispredicted && !op.fused);
	/* Without a target data4 lies in its place. */
	o.caps = 0x5df;
	op = parsed(&o, &genoa);
	assert_int_equal(op.data4, 7);
	assert_int_equal(op.target, 0);
	/* The rip counts unless the hardware says that it does not; older hardware never does. */
	assert_int_equal(op.rip, 0x401000);
	o.data.rip_invalid = 1;
	op = parsed(&o, &genoa);
	assert_false(op.known & GUS_IBS_RIP || op.rip);
	o.caps &= ~0x80u;
	assert_true(parsed(&o, &genoa).known & GUS_IBS_RIP);
}

/* A load of 8 bytes that missed L1 and L2 and came from memory, of a page of 1 GiB. */
static const struct op missed = { .caps = ZEN4, .linear = 0xffff899f7c3b5784, .physical = 0x11f7c3b5784,
	.data2 = { .source = 3 }, .data3 = { .load = 1, .l1_hit_1g = 1, .dc_miss = 1, .no_mab = 1, .linear_valid = 1,
		.physical_valid = 1, .l2_miss = 1, .width = 4, .misses_open = 5, .dc_latency = 476 } };

static void test_load(void **state)
{
	struct op o = missed;
	struct gus_ibs_op op = parsed(&o, &genoa);

	(void)state;
	assert_true(op.load && !op.store && op.dc_miss && op.l2_miss && op.no_mab);
	assert_int_equal(op.bytes, 8);
	assert_int_equal(op.linear, missed.linear);
	assert_int_equal(op.physical, missed.physical);
	assert_int_equal(op.page_bytes, 1 << 30);
	assert_int_equal(op.dc_latency, 476);
	assert_int_equal(op.misses_open, 5);
	assert_int_equal(op.source, GUS_IBS_SOURCE_DRAM);
	assert_int_equal(op.known & (GUS_IBS_CACHE | GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_DC_LATENCY | GUS_IBS_TLB |
				     GUS_IBS_TLB_LATENCY | GUS_IBS_HIT_STATE),
			 GUS_IBS_CACHE | GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_DC_LATENCY | GUS_IBS_TLB);
	/* Uncached memory: the caches say nothing. */
	o.data3.uncached = 1;
	op = parsed(&o, &genoa);
	assert_true(op.uncached);
	assert_false(op.dc_miss || op.l2_miss || op.source || op.dc_latency);
	assert_false(op.known & (GUS_IBS_CACHE | GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_DC_LATENCY));
	/* A hit: nothing is known of what lies behind, whatever the bits are. */
	o = missed;
	o.data3.dc_miss = 0;
	op = parsed(&o, &genoa);
	assert_true(op.known & GUS_IBS_CACHE);
	assert_false(op.known & (GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_DC_LATENCY | GUS_IBS_MISSES_OPEN));
	assert_false(op.l2_miss || op.source || op.dc_latency || op.misses_open);
	/* A store has neither a source nor a latency, a prefetch no latency. */
	o = missed;
	o.data3.load = 0;
	o.data3.store = 1;
	op = parsed(&o, &genoa);
	assert_true(op.store && op.l2_miss && !(op.known & (GUS_IBS_SOURCE | GUS_IBS_DC_LATENCY)));
	o.data3.store = 0;
	op = parsed(&o, &genoa);
	assert_false(op.dc_miss || (op.known & (GUS_IBS_CACHE | GUS_IBS_LINEAR | GUS_IBS_TLB)));
	o = missed;
	o.data3.prefetch = 1;
	op = parsed(&o, &genoa);
	assert_true(op.software_prefetch && !(op.known & GUS_IBS_DC_LATENCY) && (op.known & GUS_IBS_SOURCE));
}

static void test_flags_of_access(void **state)
{
	struct op o = { .caps = ZEN4 | 1 << 16, .data3 = { .store = 1, .misaligned = 1, .locked = 1 },
			.data2 = { .streaming = 1 } };
	struct gus_ibs_op op = parsed(&o, &turin);

	(void)state;
	assert_true(op.misaligned && op.locked && !op.write_combining && op.streaming_store);
	o.data3.misaligned = o.data3.locked = 0;
	o.data3.write_combining = 1;
	o.caps = ZEN4;
	op = parsed(&o, &turin);
	assert_true(!op.misaligned && !op.locked && op.write_combining && !op.streaming_store);
	for (unsigned width = 0; width < 16; width++) {
		static const unsigned bytes[8] = { 0, 1, 2, 4, 8, 16, 32, 64 };

		o.data3.width = width;
		assert_int_equal(parsed(&o, &turin).bytes, width < 8 ? bytes[width] : 0);
	}
}

static void test_sources(void **state)
{
	/* By number: before Zen 4, and since, where there are two bits more. */
	static const enum gus_ibs_source before[8] = { GUS_IBS_SOURCE_NONE, GUS_IBS_SOURCE_RESERVED,
		GUS_IBS_SOURCE_LOCAL_CACHE, GUS_IBS_SOURCE_DRAM, GUS_IBS_SOURCE_FAR_CACHE, GUS_IBS_SOURCE_RESERVED,
		GUS_IBS_SOURCE_RESERVED, GUS_IBS_SOURCE_IO };
	struct op o = missed;

	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		enum gus_ibs_source since = i == 0 ? GUS_IBS_SOURCE_NONE : i == 1 ? GUS_IBS_SOURCE_LOCAL_CACHE :
			i == 2 ? GUS_IBS_SOURCE_NEAR_CACHE : i == 3 ? GUS_IBS_SOURCE_DRAM :
			i == 5 ? GUS_IBS_SOURCE_FAR_CACHE : i == 6 ? GUS_IBS_SOURCE_PERSISTENT :
			i == 7 ? GUS_IBS_SOURCE_IO : i == 8 ? GUS_IBS_SOURCE_EXTENSION :
			i == 12 ? GUS_IBS_SOURCE_PEER : GUS_IBS_SOURCE_RESERVED;

		o.data2 = (struct op_data2){ .source = i & 7, .source_high = i >> 3, .remote_node = 1, .hit_state = 1 };
		o.caps = ZEN4;
		assert_int_equal(parsed(&o, &genoa).source, since);
		assert_int_equal(parsed(&o, &genoa).source_number, i);
		assert_int_equal(parsed(&o, &genoa).remote_node, i != 0);
		assert_int_equal(parsed(&o, &genoa).known >> 9 & 1, i != 0);
		/* The state of the line, of what a cache had; before Zen 4 of number 2 alone. */
		assert_int_equal(parsed(&o, &genoa).cache_owned, i == 1 || i == 2 || i == 5);
		assert_int_equal(!!(parsed(&o, &genoa).known & GUS_IBS_HIT_STATE), i == 1 || i == 2 || i == 5);
		o.caps = ZEN3;
		assert_int_equal(parsed(&o, &rome).source, before[i & 7]);
		assert_int_equal(parsed(&o, &genoa).source, before[i & 7]);
		assert_int_equal(!!(parsed(&o, &rome).known & GUS_IBS_HIT_STATE), (i & 7) == 2);
		/* Number 1 was L3 before Zen. */
		assert_int_equal(parsed(&o, &bulldozer).source,
				 (i & 7) == 1 ? GUS_IBS_SOURCE_LOCAL_CACHE : before[i & 7]);
		assert_int_equal(parsed(&o, &genoa).source_number, i & 7);
	}
	o.data2 = (struct op_data2){ .source = 2, .hit_state = 1, .remote_socket = 1 };
	assert_false(parsed(&o, &genoa).remote_socket);
	o.caps = ZEN5 | 1 << 16;
	assert_true(parsed(&o, &genoa).remote_socket);
	/* Zen 3 is wrong about the state. */
	assert_false(parsed(&o, &milan).known & GUS_IBS_HIT_STATE);
	assert_false(parsed(&o, &vermeer).known & GUS_IBS_HIT_STATE);
	assert_false(parsed(&o, &unknown).known & GUS_IBS_HIT_STATE);
}

/* Which TLB had it says how large its page is; Zen 5 has the size as a number, which holds with a physical address. */
static void test_pages(void **state)
{
	static const struct { uint32_t caps; struct op_data3 data3; unsigned shift; bool tlb, latency; } cases[] = {
		{ ZEN4, { .load = 1, .linear_valid = 1 }, 12, true, false },
		{ ZEN4, { .load = 1, .linear_valid = 1, .l1_hit_2m = 1 }, 21, true, false },
		{ ZEN4, { .load = 1, .linear_valid = 1, .l1_hit_1g = 1 }, 30, true, false },
		{ ZEN3, { .load = 1, .linear_valid = 1, .l1_tlb_miss = 1 }, 12, true, true },
		{ ZEN3, { .load = 1, .linear_valid = 1, .l1_tlb_miss = 1, .l1_hit_2m = 1 }, 12, true, true },
		{ ZEN3, { .load = 1, .linear_valid = 1, .l1_tlb_miss = 1, .l2_hit_2m = 1 }, 21, true, true },
		{ ZEN3, { .load = 1, .linear_valid = 1, .l1_tlb_miss = 1, .l2_hit_1g = 1 }, 30, true, true },
		{ ZEN3, { .load = 1, .linear_valid = 1, .l1_tlb_miss = 1, .l2_tlb_miss = 1 }, 0, true, true },
		/* Zen 4 tells how long it took of what it has a physical address of. */
		{ ZEN4, { .load = 1, .linear_valid = 1, .l1_tlb_miss = 1 }, 12, true, false },
		{ ZEN4, { .load = 1, .linear_valid = 1, .physical_valid = 1, .l1_tlb_miss = 1 }, 12, true, true },
		{ ZEN4, { .load = 1, .l1_tlb_miss = 1 }, 0, false, false },
		{ ZEN5, { .load = 1, .linear_valid = 1 }, 0, false, false },
		{ ZEN5, { .load = 1, .linear_valid = 1, .physical_valid = 1 }, 12, true, false },
		{ ZEN5, { .load = 1, .linear_valid = 1, .physical_valid = 1, .l1_hit_2m = 1 }, 21, true, false },
		{ ZEN5, { .load = 1, .linear_valid = 1, .physical_valid = 1, .l1_hit_1g = 1, .l1_tlb_miss = 1,
			.l2_tlb_miss = 1 }, 30, true, true },
		{ ZEN5, { .load = 1, .linear_valid = 1, .physical_valid = 1, .l1_hit_2m = 1, .l1_hit_1g = 1 }, 0, true,
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct op o = { .caps = cases[i].caps, .data3 = cases[i].data3 };
		struct gus_ibs_op op;

		o.data3.tlb_latency = 70;
		op = parsed(&o, &genoa);
		assert_int_equal(op.page_bytes, cases[i].shift ? UINT64_C(1) << cases[i].shift : 0);
		assert_int_equal(!!(op.known & GUS_IBS_PAGE), cases[i].shift != 0);
		assert_int_equal(!!(op.known & GUS_IBS_TLB), cases[i].tlb);
		assert_int_equal(op.l1_tlb_miss, cases[i].tlb && o.data3.l1_tlb_miss);
		assert_int_equal(op.l2_tlb_miss, cases[i].tlb && o.data3.l2_tlb_miss);
		assert_int_equal(op.tlb_latency, cases[i].latency ? 70 : 0);
		assert_int_equal(!!(op.known & GUS_IBS_TLB_LATENCY), cases[i].latency);
	}
}

/* An address that is not valid is none. */
static void test_addresses(void **state)
{
	struct op o = missed;

	(void)state;
	o.data3.linear_valid = 0;
	assert_int_equal(parsed(&o, &genoa).linear, 0);
	assert_int_equal(parsed(&o, &genoa).known & (GUS_IBS_LINEAR | GUS_IBS_PHYSICAL), 0);
	o.caps = ZEN3; /* before Zen 4 the physical one is valid by itself */
	assert_int_equal(parsed(&o, &rome).physical, missed.physical);
	assert_int_equal(parsed(&o, &rome).known & (GUS_IBS_LINEAR | GUS_IBS_PHYSICAL), GUS_IBS_PHYSICAL);
	o.physical = 0; /* as the kernel writes it for who may not see it */
	assert_int_equal(parsed(&o, &rome).known & (GUS_IBS_LINEAR | GUS_IBS_PHYSICAL), 0);
	o = missed;
	o.data3.linear_valid = 1;
	o.data3.physical_valid = 0;
	assert_int_equal(parsed(&o, &genoa).physical, 0);
	assert_int_equal(parsed(&o, &genoa).known & (GUS_IBS_LINEAR | GUS_IBS_PHYSICAL), GUS_IBS_LINEAR);
}

/* What is not true on which silicon; of silicon that is not known all of it is left out. */
static void test_errata_of_ops(void **state)
{
	struct op o = missed;

	(void)state;
	/* 1293: a line that is on its way, and prefetches. */
	assert_false(parsed(&o, &milan).known & (GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_MISSES_OPEN));
	assert_false(parsed(&o, &unknown).known & (GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_MISSES_OPEN));
	assert_true(parsed(&o, &vermeer).known & GUS_IBS_SOURCE);
	o.data3.no_mab = 0;
	assert_true(parsed(&o, &milan).known & GUS_IBS_SOURCE);
	o.data3.prefetch = 1;
	assert_false(parsed(&o, &milan).known & (GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_MISSES_OPEN));
	/* 717: whether a miss has a buffer of its own, and where a branch goes. */
	o = missed;
	o.caps = ZEN3;
	o.data.branch = 1;
	o.target = 1;
	assert_false(parsed(&o, &bulldozer).known & (GUS_IBS_NO_MAB | GUS_IBS_TARGET));
	assert_false(parsed(&o, &bulldozer).no_mab || parsed(&o, &bulldozer).target);
	assert_int_equal(parsed(&o, &genoa).known & (GUS_IBS_NO_MAB | GUS_IBS_TARGET), GUS_IBS_NO_MAB | GUS_IBS_TARGET);
}

static struct gus_ibs_fetch fetched(uint32_t caps, struct fetch_ctl ctl, uint64_t linear, const struct gus_ibs_cpu *cpu)
{
	const uint64_t physical = 0x123000, extended = UINT64_C(0xabc) << 16 | 321;
	uint8_t bytes[64];
	struct gus_ibs_fetch out;
	size_t n = put(bytes, 0, &caps, 4);

	n = put(bytes, n, &ctl, 8);
	n = put(bytes, n, &linear, 8);
	n = put(bytes, n, &physical, 8);
	if (caps >> 9 & 1)
		n = put(bytes, n, &extended, 8);
	assert_true(gus_ibs_fetch_parse(bytes, n, cpu, &out));
	return out;
}

static void test_fetch(void **state)
{
	const struct fetch_ctl all = { .max_count = 8, .latency = 199, .completed = 1, .ic_miss = 1,
		.physical_valid = 1, .page = 1, .l1_tlb_miss = 1, .l2_miss = 1, .l3_miss_only = 1, .oc_miss = 1,
		.l3_miss = 1 };
	struct fetch_ctl ctl = all;
	struct gus_ibs_fetch f = fetched(ZEN4, ctl, 0x401000, &genoa);

	(void)state;
	assert_int_equal(f.period, 128);
	assert_int_equal(f.latency, 199);
	assert_int_equal(f.linear, 0x401000);
	assert_int_equal(f.physical, 0x123000);
	assert_int_equal(f.page_bytes, 1 << 21);
	assert_int_equal(f.itlb_latency, 321);
	assert_true(f.completed && f.ic_miss && f.l1_tlb_miss && !f.l2_tlb_miss && f.l2_miss && f.oc_miss && f.l3_miss);
	assert_true(f.l3_miss_only && !f.randomised);
	assert_int_equal(f.known, GUS_IBS_FETCH_LINEAR | GUS_IBS_FETCH_PHYSICAL | GUS_IBS_FETCH_PAGE |
			 GUS_IBS_FETCH_L2 | GUS_IBS_FETCH_CACHE | GUS_IBS_FETCH_L3 | GUS_IBS_FETCH_REFILL |
			 GUS_IBS_FETCH_LATENCY |
			 GUS_IBS_FETCH_TLB);
	/* Given up: nobody knows of L2. Not translated: no address and no page. */
	ctl.completed = ctl.physical_valid = ctl.l1_tlb_miss = 0;
	ctl.l2_tlb_miss = ctl.randomised = 1;
	f = fetched(ZEN4, ctl, 0x401000, &genoa);
	assert_true(f.l2_tlb_miss && !f.l1_tlb_miss && f.randomised && !f.l2_miss && !f.physical && !f.page_bytes);
	assert_int_equal(f.known, GUS_IBS_FETCH_LINEAR | GUS_IBS_FETCH_CACHE | GUS_IBS_FETCH_L3 |
			 GUS_IBS_FETCH_REFILL | GUS_IBS_FETCH_LATENCY | GUS_IBS_FETCH_TLB);
	/* Hardware without L3's bits and the extended register. */
	f = fetched(0x1ff, all, 0x401000, &genoa);
	assert_false(f.oc_miss || f.l3_miss || f.l3_miss_only || f.itlb_latency);
	assert_false(f.known & (GUS_IBS_FETCH_L3 | GUS_IBS_FETCH_REFILL));
}

static void test_errata_of_fetches(void **state)
{
	struct fetch_ctl ctl = { .completed = 1, .ic_miss = 1, .physical_valid = 1 };

	(void)state;
	/* 1347: the sizes of pages; 1238: the cache. */
	for (unsigned page = 0; page < 4; page++) {
		static const uint64_t sizes[4] = { 4096, 16384, 1 << 21, 1 << 30 };
		static const uint64_t usual[4] = { 4096, 1 << 21, 1 << 30, 0 };

		ctl.page = page;
		assert_int_equal(fetched(ZEN3, ctl, 1, &milan).page_bytes, sizes[page]);
		assert_int_equal(fetched(ZEN3, ctl, 1, &vermeer).page_bytes, usual[page]);
		assert_false(fetched(ZEN3, ctl, 1, &unknown).known & GUS_IBS_FETCH_PAGE);
	}
	assert_false(fetched(ZEN3, ctl, 1, &milan).known & GUS_IBS_FETCH_CACHE);
	assert_false(fetched(ZEN3, ctl, 1, &milan).ic_miss);
	/* 1197: address 0. */
	assert_false(fetched(ZEN3, ctl, 0, &milan).known & GUS_IBS_FETCH_LINEAR);
	assert_true(fetched(ZEN3, ctl, 0, &vermeer).known & GUS_IBS_FETCH_LINEAR);
	/* Family 1Ah, and who knows which: nothing but where, without a physical address. */
	ctl.physical_valid = 0;
	ctl.l1_tlb_miss = 1;
	ctl.latency = 5;
	assert_int_equal(fetched(ZEN5, ctl, 1, &turin).known, GUS_IBS_FETCH_LINEAR);
	assert_int_equal(fetched(ZEN5, ctl, 1, &unknown).known, GUS_IBS_FETCH_LINEAR);
	assert_false(fetched(ZEN5, ctl, 1, &turin).l1_tlb_miss || fetched(ZEN5, ctl, 1, &turin).latency);
	assert_true(fetched(ZEN4, ctl, 1, &genoa).known & GUS_IBS_FETCH_LATENCY);
}

/* Bytes that end anywhere are no op, and nothing behind them is read. */
static void test_cut(void **state)
{
	struct op o = missed;
	uint8_t bytes[128];
	size_t n;

	(void)state;
	o.caps |= TARGET_AND_DATA4;
	n = op_bytes(&o, bytes);
	for (size_t size = 0; size <= n; size++) {
		uint8_t *own = malloc(size ? size : 1);
		struct gus_ibs_fetch fetch;
		struct gus_ibs_op op;

		memcpy(own, bytes, size);
		assert_int_equal(gus_ibs_op_parse(own, size, &genoa, &op), size == n);
		assert_int_equal(gus_ibs_fetch_parse(own, size, &genoa, &fetch), size >= 4 + 4 * 8);
		free(own);
	}
	bytes[n] = 0; /* what a later kernel appends does no harm */
	assert_true(gus_ibs_op_parse(bytes, n + 1, &genoa, &(struct gus_ibs_op){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ctl),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_flags_of_access),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_errata_of_ops),
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_errata_of_fetches),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
