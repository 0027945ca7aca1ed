/* SPDX-License-Identifier: MIT */
/* attribution/traced with what samples say of accesses and branches, in place of its caches and its predictor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/traced/rates.h"
#include "base/error.h"
#include "proto/data_source.h"
#include "proto/psv.h"
#include "tests/unit/made_observed.h"
#include "tests/unit/made_trace.h"

/* add rax, [rsi]; add rbx, [rdi]; dec rcx; jnz back. */
static const uint8_t loop[] = { 0x48, 0x03, 0x06, 0x48, 0x03, 0x1f, 0x48, 0xff, 0xc9, 0x75, 0xf5 };
static const uint8_t lengths[] = { 3, 3, 3, 2 };
/* The file is mapped elsewhere than in the recording: offsets are the same. The branch is fused with dec. */
enum { MAPPED = 0x10000000, FIRST = 0x1000, SECOND = 0x1003, DEC = 0x1006 };
enum { TURNS = 1000 };

struct made {
	struct made_observed observed;
	struct made_model model;
	uint32_t block;
};

/* Each turn reads the same two words, unless it does without addresses. */
static void run(struct made *m, bool addresses, bool alone)
{
	struct made_trace trace;

	made_model_begin(&m->model);
	m->model.options.observed = made_observed_end(&m->observed);
	m->model.options.alone = alone;
	made_trace_begin(&trace, "x86_64");
	m->block = made_trace_block(&trace, MAPPED + FIRST, loop, lengths, sizeof(loop), 4);
	for (unsigned i = 0; i < TURNS; i++) {
		made_trace_step(&trace, m->block, addresses ? 2 : 0);
		if (!addresses)
			continue;
		made_trace_load(&trace, 0x20000000, 0);
		made_trace_load(&trace, 0x20000040, 1);
	}
	made_trace_flush(&trace, 0);
	gus_traced_open(&m->model.t, &m->model.options);
	gus_traced_map(&m->model.t, MAPPED, 0x20000, 0, MADE_OBSERVED_FILE, NULL, 0);
	made_model_read(&m->model, made_trace_end(&trace));
	made_model_end(&m->model);
}

static void drop(struct made *m)
{
	gus_observed_free(m->model.options.observed);
	made_model_free(&m->model);
}

static const struct gus_traced_memory *memory(const struct made *m, unsigned i)
{
	return &m->model.t.memories.v[m->model.t.blocks.v[m->block].memory + i];
}

static void add_loads(struct made *m, uint64_t ip, unsigned n, uint8_t level, uint8_t tlb)
{
	made_observed_add(&m->observed, n, (struct gus_sample){ .ip = ip, .exact = true,
		.data_source = made_observed_source(GUS_DATA_LOADS, level, tlb) });
}

/* As often as measured, but for what caches may put off that never have the like: one in sixteen, and one. */
static void assert_about(uint64_t got, uint64_t told)
{
	assert_in_range(got, told - told / 16 - 2, told + told / 16 + 2);
}

/* Three of four in L2, one in L3 with a walk: nothing of it is the caches', which have both lines after the first turn.
 * The second load has one sample too few, and alone in its loop nobody beside it. */
static void test_own(void **state)
{
	struct made m = { .block = 0 };

	(void)state;
	made_observed_event(&m.observed, &made_ibs_ops);
	add_loads(&m, FIRST, 15, GUS_DATA_L2, GUS_DATA_TLB_FIRST);
	add_loads(&m, FIRST, 5, GUS_DATA_L3, GUS_DATA_TLB_WALK);
	add_loads(&m, SECOND, 19, GUS_DATA_RAM, GUS_DATA_TLB_WALK);
	run(&m, true, false);
	assert_int_equal(memory(&m, 0)->measured, TURNS);
	assert_int_equal(memory(&m, 0)->accesses, TURNS);
	assert_int_equal(memory(&m, 0)->hits[GUS_HIT_L2], 3 * TURNS / 4);
	assert_int_equal(memory(&m, 0)->hits[GUS_HIT_L3], TURNS / 4);
	assert_about(memory(&m, 0)->walks, TURNS / 4);
	assert_int_equal(memory(&m, 1)->measured, 0);
	assert_int_equal(memory(&m, 1)->hits[GUS_HIT_L1], TURNS - 1);
	assert_int_equal(m.model.t.blocks.v[m.block].measured, 0);
	drop(&m);
}

/* Two loads with 10 samples each have 20 together, and one rate: half of all that the two do is in L2. */
static void test_pool(void **state)
{
	struct made m = { .block = 0 };

	(void)state;
	made_observed_event(&m.observed, &made_ibs_ops);
	add_loads(&m, FIRST, 10, GUS_DATA_L2, GUS_DATA_TLB_FIRST);
	add_loads(&m, SECOND, 10, GUS_DATA_L1, GUS_DATA_TLB_FIRST);
	run(&m, true, false);
	assert_int_equal(memory(&m, 0)->measured, TURNS);
	assert_int_equal(memory(&m, 1)->measured, TURNS);
	assert_about(memory(&m, 0)->hits[GUS_HIT_L2] + memory(&m, 1)->hits[GUS_HIT_L2], TURNS);
	drop(&m);
}

static enum gus_hit farthest(const struct made *m, unsigned i)
{
	return gus_traced_rates_farthest(&m->model.t, m->model.t.blocks.v[m->block].memory + i);
}

/* How far samples have seen an access go, which bounds what comes along with it in a window that is told as if it were
 * warm: of 20 one in L2; none; with too few nobody knows; with one rate for both both do; one of 128 misses and
 * one more is enough for a level, and one of 128 is not. */
static void test_farthest(void **state)
{
	static const struct { unsigned l2, l3; enum gus_hit farthest; } cases[] = { { 1270, 10, GUS_HIT_L2 },
		{ 1269, 11, GUS_HIT_L3 } };
	struct made m = { .block = 0 };

	(void)state;
	made_observed_event(&m.observed, &made_ibs_ops);
	add_loads(&m, FIRST, 19, GUS_DATA_L1, GUS_DATA_TLB_FIRST);
	add_loads(&m, FIRST, 1, GUS_DATA_L2, GUS_DATA_TLB_FIRST);
	add_loads(&m, SECOND, 20, GUS_DATA_L1, GUS_DATA_TLB_FIRST);
	run(&m, true, false);
	assert_int_equal(farthest(&m, 0), GUS_HIT_L2);
	assert_int_equal(farthest(&m, 1), GUS_HIT_L1);
	drop(&m);
	m = (struct made){ .block = 0 };
	made_observed_event(&m.observed, &made_ibs_ops);
	add_loads(&m, FIRST, 20, GUS_DATA_L1, GUS_DATA_TLB_FIRST);
	add_loads(&m, SECOND, 19, GUS_DATA_RAM, GUS_DATA_TLB_FIRST);
	run(&m, true, false);
	assert_int_equal(farthest(&m, 1), GUS_HIT_L1);
	drop(&m);
	m = (struct made){ .block = 0 };
	made_observed_event(&m.observed, &made_ibs_ops);
	add_loads(&m, FIRST, 10, GUS_DATA_RAM, GUS_DATA_TLB_FIRST);
	add_loads(&m, SECOND, 10, GUS_DATA_L1, GUS_DATA_TLB_FIRST);
	run(&m, true, false);
	assert_int_equal(farthest(&m, 1), GUS_HIT_MEMORY);
	drop(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		m = (struct made){ .block = 0 };
		made_observed_event(&m.observed, &made_ibs_ops);
		add_loads(&m, FIRST, cases[i].l2, GUS_DATA_L2, GUS_DATA_TLB_FIRST);
		add_loads(&m, FIRST, cases[i].l3, GUS_DATA_L3, GUS_DATA_TLB_FIRST);
		run(&m, true, false);
		assert_int_equal(farthest(&m, 0), cases[i].farthest);
		drop(&m);
	}
}

/* Where only walks are told, which of the TLBs had the others is the caches' answer: the first, and where they walk
 * themselves, at the first touch, the second. */
static void test_walks(void **state)
{
	struct made m = { .block = 0 };

	(void)state;
	made_observed_event(&m.observed, &made_ibs_ops);
	add_loads(&m, FIRST, 18, GUS_DATA_L1, GUS_DATA_TLB_EITHER);
	add_loads(&m, FIRST, 2, GUS_DATA_L1, GUS_DATA_TLB_WALK);
	run(&m, true, false);
	assert_about(memory(&m, 0)->walks, TURNS / 10);
	assert_int_equal(memory(&m, 0)->second_tlb, 1);
	drop(&m);
}

/* Where it is only told that L1 was missed, how far it went is the caches' answer, at the first touch memory, and at
 * least L2. */
static void test_beyond(void **state)
{
	const struct gus_data_source d = { .does = GUS_DATA_LOADS, .level = GUS_DATA_L1, .missed = true };
	struct made m = { .block = 0 };

	(void)state;
	made_observed_event(&m.observed, &made_ibs_ops);
	made_observed_add(&m.observed, 20, (struct gus_sample){ .ip = FIRST, .exact = true,
		.data_source = gus_data_source_word(&d) });
	run(&m, true, false);
	assert_int_equal(memory(&m, 0)->measured, TURNS);
	assert_int_equal(memory(&m, 0)->hits[GUS_HIT_MEMORY], 1);
	assert_int_equal(memory(&m, 0)->hits[GUS_HIT_L2], TURNS - 1);
	drop(&m);
}

/* Accesses without addresses go as far as it was measured, in both engines: a hundred cycles and more, each. */
static void test_blind(void **state)
{
	(void)state;
	for (unsigned alone = 0; alone < 2; alone++) {
		double cycles[2];

		for (unsigned with = 0; with < 2; with++) {
			struct made m = { .block = 0 };

			made_observed_event(&m.observed, &made_ibs_ops);
			if (with)
				add_loads(&m, FIRST, 20, GUS_DATA_RAM, GUS_DATA_TLB_FIRST);
			run(&m, false, alone);
			assert_int_equal(memory(&m, 0)->measured, with ? TURNS : 0);
			assert_int_equal(memory(&m, 0)->blind, with ? TURNS : 0);
			assert_int_equal(memory(&m, 0)->unknown, TURNS);
			assert_int_equal(memory(&m, 0)->hits[GUS_HIT_MEMORY], with ? TURNS : 0);
			cycles[with] = alone ? m.model.t.core_cycles : m.model.t.cycles[0];
			drop(&m);
		}
		assert_true(cycles[1] > 5 * cycles[0]);
	}
}

/* Samples of a branch are of the op that it is fused to. Taken a quarter of the time wrong; nothing of falling, which
 * the trace has none of. */
static void test_branch(void **state)
{
	static const struct gus_branch back = { .from = DEC, .to = FIRST };
	struct made m = { .block = 0 };
	const uint64_t right = (uint64_t)GUS_PSV_FL_MB << 16;
	struct gus_sample s = { .ip = DEC, .exact = true, .events = right, .branches_n = 1, .branches = &back };

	(void)state;
	made_observed_event(&m.observed, &made_ibs_ops);
	made_observed_add(&m.observed, 30, s);
	s.events = GUS_PSV_FL_MB;
	made_observed_add(&m.observed, 10, s);
	run(&m, true, false);
	assert_int_equal(m.model.t.blocks.v[m.block].branches, TURNS - 1);
	assert_int_equal(m.model.t.blocks.v[m.block].measured, TURNS - 1);
	assert_about(m.model.t.blocks.v[m.block].mispredicted, TURNS / 4);
	drop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own), cmocka_unit_test(test_farthest),
		cmocka_unit_test(test_pool), cmocka_unit_test(test_walks),
		cmocka_unit_test(test_beyond), cmocka_unit_test(test_blind), cmocka_unit_test(test_branch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
