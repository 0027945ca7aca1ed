/* SPDX-License-Identifier: MIT */
/* Records of hardware's as samples: each field in its column, and in none what was not told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/records/hardware.h"
#include "collector/records/ibs.h"
#include "collector/records/psv.h"
#include "collector/records/spe.h"
#include "proto/data_source.h"
#include "proto/sample.h"

enum { ALL_OF_SPE = (1 << 13) - 1 };

static const struct gus_spe_record spe_load = { .known = ALL_OF_SPE, .pc = 0x1000, .level = 0, .virtual = 0x2008,
	.physical = 0x3008, .total = 40, .issue = 7, .translation = 3, .events = GUS_SPE_RETIRED | GUS_SPE_L1D_ACCESS |
	GUS_SPE_L1D_REFILL, .events_told = 0xffff, .operation = GUS_SPE_OP_LOAD, .class = GUS_SPE_LOAD_STORE,
	.source = 8 };
static const uint64_t n1 = UINT64_C(0x413fd0c1);

static void test_spe_load(void **state)
{
	struct gus_sample s = { .time = 5, .period = 6, .pid = 7, .tid = 8, .cpu = 9, .event = 1 };
	struct gus_branch room;
	struct gus_data_source d;

	(void)state;
	gus_hardware_spe(&spe_load, n1, &s, &room);
	assert_int_equal(s.ip, 0x1000);
	assert_true(s.exact);
	assert_int_equal(s.mode, GUS_MODE_USER);
	assert_int_equal(s.address, 0x2008);
	assert_int_equal(s.physical, 0x3008);
	assert_int_equal(s.weight, 40);
	assert_int_equal(s.instruction_latency, 40);
	assert_int_equal(s.issue_latency, 7);
	assert_int_equal(s.translation_latency, 3);
	assert_int_equal(s.retire_latency, 0);
	assert_int_equal(s.told, GUS_TOLD_ADDRESS | GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION | GUS_TOLD_ISSUE |
			 GUS_TOLD_TRANSLATION);
	d = gus_data_source_of_kernel(s.data_source);
	assert_int_equal(d.level, GUS_DATA_L2);
	assert_int_equal(d.does, GUS_DATA_LOADS);
	assert_int_equal(s.events & UINT16_MAX, GUS_PSV_ST_L1);
	assert_int_equal(s.events >> 16, GUS_PSV_ST_LLC | GUS_PSV_FL_MB | GUS_PSV_FL_EX | GUS_PSV_DR_SQ);
	assert_int_equal(s.branches_n, 0);
	assert_true(s.time == 5 && s.period == 6 && s.pid == 7 && s.tid == 8 && s.cpu == 9 && s.event == 1);
}

/* Of each of its bits: without it, what it vouches for stays as it was. */
static void test_spe_parts(void **state)
{
	static const uint32_t latencies[] = { GUS_SPE_HAS_TOTAL, GUS_SPE_HAS_ISSUE, GUS_SPE_HAS_TRANSLATION };
	static const uint64_t told[] = { GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION, GUS_TOLD_ISSUE, GUS_TOLD_TRANSLATION };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct gus_spe_record r = spe_load;
		struct gus_sample s = { .weight = 1, .instruction_latency = 1, .issue_latency = 1,
			.translation_latency = 1 };
		struct gus_branch room;

		r.known = latencies[i];
		gus_hardware_spe(&r, n1, &s, &room);
		assert_int_equal(s.told, told[i]);
		assert_int_equal(s.weight, i == 0 ? 40 : 1);
		assert_int_equal(s.instruction_latency, i == 0 ? 40 : 1);
		assert_int_equal(s.issue_latency, i == 1 ? 7 : 1);
		assert_int_equal(s.translation_latency, i == 2 ? 3 : 1);
		assert_true(!s.ip && !s.exact && !s.mode && !s.address && !s.physical);
	}
}

static void test_spe_modes(void **state)
{
	static const uint8_t modes[4] = { GUS_MODE_USER, GUS_MODE_KERNEL, GUS_MODE_KERNEL, GUS_MODE_UNKNOWN };

	(void)state;
	for (uint8_t level = 0; level < 4; level++) {
		struct gus_spe_record r = { .known = GUS_SPE_HAS_PC, .level = level };
		struct gus_sample s = { .mode = GUS_MODE_GUEST_USER };
		struct gus_branch room;

		gus_hardware_spe(&r, 0, &s, &room);
		assert_int_equal(s.mode, modes[level]);
	}
}

/* What kind it is, by PERF_BR_*: 1 conditional, 2 not, 3 indirect, 4 a call, 5 an indirect one, 6 a return. */
static void test_spe_branches(void **state)
{
	static const struct { uint32_t operation, kind; } cases[] = {
		{ 0, 2 }, { GUS_SPE_OP_CONDITIONAL, 1 }, { GUS_SPE_OP_INDIRECT, 3 }, { GUS_SPE_OP_CALL, 4 },
		{ GUS_SPE_OP_CALL | GUS_SPE_OP_INDIRECT, 5 }, { GUS_SPE_OP_RETURN | GUS_SPE_OP_INDIRECT, 6 },
	};
	static const uint32_t needed[] = { GUS_SPE_HAS_PC, GUS_SPE_HAS_TARGET, GUS_SPE_HAS_OPERATION,
		GUS_SPE_HAS_EVENTS };
	struct gus_spe_record r = { .known = ALL_OF_SPE, .pc = 0x10, .target = 0x20, .class = GUS_SPE_BRANCH,
		.events_told = 0xff };
	struct gus_branch room, others = { 1, 2, 0, 0 };
	struct gus_sample s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		s = (struct gus_sample){ 0 };
		r.operation = GUS_SPE_OP_BRANCH | cases[i].operation;
		r.events = i & 1 ? GUS_SPE_MISPREDICTED : 0;
		gus_hardware_spe(&r, n1, &s, &room);
		assert_int_equal(s.branches_n, 1);
		assert_true(s.branches == &room && room.from == 0x10 && room.to == 0x20 && !room.cycles);
		assert_int_equal(room.flags, cases[i].kind << 4 | (i & 1 ? GUS_BRANCH_MISPREDICTED :
								  GUS_BRANCH_PREDICTED));
		assert_int_equal(s.data_source, 0);
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		s = (struct gus_sample){ 0 };
		r.known = ALL_OF_SPE & ~needed[i];
		gus_hardware_spe(&r, n1, &s, &room);
		assert_int_equal(s.branches_n, 0);
	}
	r.known = ALL_OF_SPE;
	r.events = GUS_SPE_NOT_TAKEN;
	s = (struct gus_sample){ 0 };
	gus_hardware_spe(&r, n1, &s, &room);
	assert_int_equal(s.branches_n, 0);
	r.events = 0;
	r.operation = GUS_SPE_OP_LOAD;
	gus_hardware_spe(&r, n1, &s, &room);
	assert_int_equal(s.branches_n, 0);
	/* Branches that it has already are more than one. */
	r.operation = GUS_SPE_OP_BRANCH;
	s = (struct gus_sample){ .branches = &others, .branches_n = 1 };
	gus_hardware_spe(&r, n1, &s, &room);
	assert_true(s.branches == &others);
}

static const struct gus_ibs_op ibs_load = { .known = GUS_IBS_RIP | GUS_IBS_BRANCH | GUS_IBS_LINEAR | GUS_IBS_PHYSICAL |
	GUS_IBS_TLB | GUS_IBS_PAGE | GUS_IBS_CACHE | GUS_IBS_L2 | GUS_IBS_SOURCE | GUS_IBS_DC_LATENCY |
	GUS_IBS_TLB_LATENCY, .rip = 0x1000, .linear = 0x2008, .physical = 0x3008, .page_bytes = 4096, .load = true,
	.dc_miss = true, .l2_miss = true, .l1_tlb_miss = true, .source = GUS_IBS_SOURCE_DRAM, .dc_latency = 300,
	.tlb_latency = 20, .tag_to_retire = 400, .complete_to_retire = 5 };

static void test_ibs_load(void **state)
{
	struct gus_sample s = { 0 };
	struct gus_branch room;
	struct gus_data_source d;

	(void)state;
	gus_hardware_ibs_op(&ibs_load, &s, &room);
	assert_true(s.exact && s.ip == 0x1000 && s.address == 0x2008 && s.physical == 0x3008 && s.data_page == 4096);
	assert_int_equal(s.weight, 300);
	assert_int_equal(s.instruction_latency, 400);
	assert_int_equal(s.retire_latency, 5);
	assert_int_equal(s.translation_latency, 20);
	assert_int_equal(s.issue_latency, 0);
	assert_int_equal(s.told, GUS_TOLD_ADDRESS | GUS_TOLD_WEIGHT | GUS_TOLD_INSTRUCTION | GUS_TOLD_COMPLETE |
			 GUS_TOLD_TRANSLATION);
	d = gus_data_source_of_kernel(s.data_source);
	assert_true(d.level == GUS_DATA_RAM && d.tlb == GUS_DATA_TLB_SECOND && !d.remote);
	assert_int_equal(s.events & UINT16_MAX, GUS_PSV_ST_L1 | GUS_PSV_ST_TLB | GUS_PSV_ST_LLC);
	assert_int_equal(s.branches_n, 0);
}

/* The kernel's own fields, where they say something, stay; where they are 0 for want of anything they are not told. */
static void test_ibs_and_kernel(void **state)
{
	struct gus_data_source l3 = { .does = GUS_DATA_LOADS, .level = GUS_DATA_L3 };
	struct gus_sample s = { .address = 1, .physical = 2, .data_page = 3, .weight = 4, .told = GUS_TOLD_ADDRESS |
		GUS_TOLD_WEIGHT, .data_source = gus_data_source_word(&l3), .exact = true, .ip = 9 };
	const struct gus_ibs_op nothing = { 0 };
	struct gus_branch room;
	struct gus_ibs_op op;

	(void)state;
	gus_hardware_ibs_op(&ibs_load, &s, &room);
	assert_true(s.address == 1 && s.physical == 2 && s.data_page == 3 && s.weight == 4);
	assert_int_equal(s.data_source, gus_data_source_word(&l3));
	assert_int_equal(s.events & UINT16_MAX, GUS_PSV_ST_L1 | GUS_PSV_ST_TLB | GUS_PSV_ST_LLC);
	s = (struct gus_sample){ .told = GUS_TOLD_ADDRESS | GUS_TOLD_WEIGHT, .exact = true, .ip = 9 };
	gus_hardware_ibs_op(&nothing, &s, &room);
	assert_int_equal(s.told, GUS_TOLD_INSTRUCTION | GUS_TOLD_COMPLETE);
	assert_false(s.exact);
	assert_int_equal(s.ip, 9); /* of the interrupt, which nobody vouches for */
	assert_true(!s.address && !s.physical && !s.data_page && !s.data_source);
	/* What neither of them vouches for stays out, whatever stands there; what else is told stays told. */
	op = ibs_load;
	op.known = 0;
	s = (struct gus_sample){ .told = GUS_TOLD_ADDRESS, .address = 7 };
	gus_hardware_ibs_op(&op, &s, &room);
	assert_true(s.address == 7 && !s.physical && !s.data_page && !s.weight && !s.translation_latency);
	assert_int_equal(s.told, GUS_TOLD_ADDRESS | GUS_TOLD_INSTRUCTION | GUS_TOLD_COMPLETE);
	s = (struct gus_sample){ .told = GUS_TOLD_ISSUE };
	gus_hardware_ibs_op(&ibs_load, &s, &room);
	assert_true(s.told & GUS_TOLD_ISSUE);
}

static void test_ibs_branches(void **state)
{
	const struct gus_ibs_op branch = { .known = GUS_IBS_RIP | GUS_IBS_BRANCH | GUS_IBS_TARGET, .branch = true,
		.taken = true, .rip = 0x10, .target = 0x20 };
	struct gus_ibs_op op = branch;
	struct gus_sample s = { 0 };
	struct gus_branch room;

	(void)state;
	gus_hardware_ibs_op(&op, &s, &room);
	assert_int_equal(s.branches_n, 1);
	assert_true(room.from == 0x10 && room.to == 0x20 && room.flags == GUS_BRANCH_PREDICTED);
	s = (struct gus_sample){ 0 };
	op.mispredicted = op.returns = true;
	gus_hardware_ibs_op(&op, &s, &room);
	assert_int_equal(room.flags, GUS_BRANCH_MISPREDICTED | 6 << GUS_BRANCH_TYPE_SHIFT);
	s = (struct gus_sample){ 0 };
	op.taken = false;
	gus_hardware_ibs_op(&op, &s, &room);
	assert_int_equal(s.branches_n, 0);
	op = branch;
	op.branch = false;
	gus_hardware_ibs_op(&op, &s, &room);
	assert_int_equal(s.branches_n, 0);
	for (unsigned bit = 0; bit < 3; bit++) {
		op = branch;
		op.known &= ~(1u << bit);
		gus_hardware_ibs_op(&op, &s, &room);
		assert_int_equal(s.branches_n, 0);
	}
}

static void test_ibs_fetch(void **state)
{
	struct gus_ibs_fetch f = { .known = GUS_IBS_FETCH_LINEAR | GUS_IBS_FETCH_PHYSICAL | GUS_IBS_FETCH_PAGE |
		GUS_IBS_FETCH_CACHE | GUS_IBS_FETCH_REFILL | GUS_IBS_FETCH_LATENCY | GUS_IBS_FETCH_TLB,
		.linear = 0x40, .physical = 0x50, .page_bytes = 4096,
		.latency = 77, .ic_miss = true, .itlb_latency = 12 };
	struct gus_sample s = { 0 };

	(void)state;
	gus_hardware_ibs_fetch(&f, &s);
	assert_true(s.exact && s.ip == 0x40 && s.physical == 0x50 && s.code_page == 4096);
	assert_true(s.weight == 77 && s.translation_latency == 12);
	assert_int_equal(s.told, GUS_TOLD_WEIGHT | GUS_TOLD_TRANSLATION);
	assert_int_equal(s.events, GUS_PSV_DR_L1 | GUS_PSV_DR_TLB << 16);
	s = (struct gus_sample){ .physical = 1, .code_page = 2 };
	gus_hardware_ibs_fetch(&f, &s);
	assert_true(s.physical == 1 && s.code_page == 2);
	f.known = 0;
	s = (struct gus_sample){ 0 };
	gus_hardware_ibs_fetch(&f, &s);
	assert_true(!s.exact && !s.ip && !s.physical && !s.code_page && !s.weight);
	assert_int_equal(s.told | s.events, 0);
}

/* By the kernel's word alone, as Intel's samples have it. */
static void test_data(void **state)
{
	struct gus_data_source d = { .does = GUS_DATA_LOADS, .level = GUS_DATA_RAM, .tlb = GUS_DATA_TLB_WALK };
	struct gus_sample s = { .data_source = gus_data_source_word(&d) };

	(void)state;
	gus_hardware_data(&s);
	assert_int_equal(s.events, GUS_PSV_ST_L1 | GUS_PSV_ST_LLC | GUS_PSV_ST_TLB);
	d = (struct gus_data_source){ .does = GUS_DATA_LOADS, .level = GUS_DATA_L1, .tlb = GUS_DATA_TLB_FIRST };
	s.data_source = gus_data_source_word(&d);
	gus_hardware_data(&s);
	assert_int_equal(s.events, (GUS_PSV_ST_L1 | GUS_PSV_ST_LLC | GUS_PSV_ST_TLB) << 16);
	s.data_source = 0;
	gus_hardware_data(&s);
	assert_int_equal(s.events, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spe_load),
		cmocka_unit_test(test_spe_parts),
		cmocka_unit_test(test_spe_modes),
		cmocka_unit_test(test_spe_branches),
		cmocka_unit_test(test_ibs_load),
		cmocka_unit_test(test_ibs_and_kernel),
		cmocka_unit_test(test_ibs_branches),
		cmocka_unit_test(test_ibs_fetch),
		cmocka_unit_test(test_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
