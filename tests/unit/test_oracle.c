/* SPDX-License-Identifier: MIT */
/* Caches, predictor and rates as the core engine's oracles: what they make of whole runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "made_program.h"
#include "model/code/program.h"
#include "model/core/core.h"
#include "model/machine/config.h"
#include "model/oracles/branch.h"
#include "model/oracles/oracle.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"
#include "model/watch/access.h"

static struct gus_uarch *skylake;
static struct gus_core_config config;
static struct gus_cache_config cache_config;

static int setup(void **state)
{
	(void)state;
	skylake = made_table("skylake");
	gus_core_config_of(&config, skylake);
	gus_cache_config_of(&cache_config, skylake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gus_uarch_free(skylake);
	return 0;
}

static struct gus_program *program(const char *bytes, size_t size)
{
	return made_program_at(skylake, bytes, size, 0x400000);
}
#define PROGRAM(bytes) program(bytes, sizeof(bytes) - 1)

static double cycles(const struct gus_program *p, const struct gus_core_options *o)
{
	struct gus_core_result r;
	struct gus_error err = { 0 };

	assert_int_equal(gus_core_run(p, &config, o, &r, &err), 0);
	return (double)r.cycles / (double)r.iterations;
}

/* mov rax, [rax] by addresses of a trace: lines in turn over a region. A chain of loads is as slow as the level that
 * holds the region, which is known: once around, then again and again. */
struct chain { uint64_t i, n, region; };

static bool chain_next(void *context, struct gus_core_step *step)
{
	struct chain *c = context;

	if (c->i == c->n)
		return false;
	*step = (struct gus_core_step){ .op = 0, .last = true, .addressed = true,
		.address = { 0x10000000 + c->i++ * 64 % c->region } };
	return true;
}

static void test_levels(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x00");
	const struct { uint64_t region; double expected; } cases[] = {
		{ 16 << 10, config.l1d_latency }, { 128 << 10, config.l2_latency }, { 1 << 20, config.l3_latency },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache_config quiet = cache_config;
		struct gus_cache *cache;
		struct chain warm_up = { 0, cases[k].region / 64, cases[k].region }, chain = warm_up;
		struct gus_core_source source = { &warm_up, chain_next };
		struct gus_access *groups = gus_access_new(p->memories_n, 64);
		struct gus_access_group facts;
		struct gus_oracle_cache oracle = { .program = p, .groups = groups, .ticks = 500 };
		struct gus_core_memory memory = gus_oracle_of_cache(&oracle);
		struct gus_core_options o = { .source = &source, .memory = &memory,
			.pointers = GUS_CORE_POINTERS_NONE };
		double got;

		quiet.l1d_next_line = quiet.l1d_strides = quiet.l2_next_line = 0;
		quiet.stlb.entries = 0;
		quiet.dtlb = (struct gus_tlb_size){ 512, 8 }; /* pages do not matter here */
		quiet.level[0].replacement = quiet.level[1].replacement = GUS_REPLACE_LRU;
		oracle.cache = cache = gus_cache_new(&quiet, NULL);
		assert_non_null(cache);
		cycles(p, &o);
		chain.n = 4 * chain.n;
		source.context = &chain;
		got = cycles(p, &o);
		assert_true(got >= 0.99 * cases[k].expected && got <= 1.02 * cases[k].expected + 1);
		gus_access_get(groups, 0, &facts);
		assert_int_equal(facts.stride, 64);
		assert_int_equal(oracle.unknown_addresses, 0);
		assert_int_equal(oracle.accesses, 5 * cases[k].region / 64);
		gus_access_free(groups);
		gus_cache_free(cache);
	}
	gus_program_free(p);
}

/* The same cold: nothing says whether the first round hits, so the ends are memory and L1; a region that is read
 * once. */
static void test_interval(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x00");
	double ends[2];

	(void)state;
	for (unsigned warm = 0; warm < 2; warm++) {
		struct gus_cache_config quiet = cache_config;
		struct gus_cache *cache;
		struct chain chain = { 0, 128, 8192 };
		struct gus_core_source source = { &chain, chain_next };
		struct gus_oracle_cache oracle = { .program = p, .warm = warm, .ticks = 500 };
		struct gus_core_memory memory = gus_oracle_of_cache(&oracle);
		struct gus_core_options o = { .source = &source, .memory = &memory,
			.pointers = GUS_CORE_POINTERS_NONE };

		quiet.l1d_next_line = quiet.l1d_strides = quiet.l2_next_line = 0;
		oracle.cache = cache = gus_cache_new(&quiet, NULL);
		ends[warm] = cycles(p, &o);
		gus_cache_free(cache);
	}
	assert_true(ends[1] <= config.l1d_latency + 1);
	/* half of the accesses are the first */
	assert_true(ends[0] >= 0.5 * config.memory_latency + 0.5 * config.l1d_latency);
	gus_program_free(p);
}

/* A line on its way is as far away as the nearest level that takes as long; an unknown address is what was said, and
 * counted. */
static void test_answers(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x8b\x00");
	struct gus_cache *cache = gus_cache_new(&cache_config, NULL);
	struct gus_oracle_cache oracle = { .cache = cache, .program = p, .unknown = GUS_HIT_L3, .ticks = 1 };
	struct gus_core_memory memory = gus_oracle_of_cache(&oracle);
	struct gus_core_access access = { .address = 0x1000, .known = true };
	enum gus_hit level;
	enum gus_tlb tlb;

	(void)state;
	memory.access(memory.context, &access, &level, &tlb);
	assert_true(level == GUS_HIT_MEMORY && tlb == GUS_TLB_WALK);
	oracle.now = cache_config.memory_latency - 100;
	memory.access(memory.context, &access, &level, &tlb);
	assert_int_equal(level, cache_config.level[2].latency >= 100 ? GUS_HIT_L3 : GUS_HIT_MEMORY);
	oracle.now = cache_config.memory_latency - cache_config.level[2].latency;
	memory.access(memory.context, &access, &level, &tlb);
	assert_int_equal(level, GUS_HIT_L3);
	oracle.now = cache_config.memory_latency - 2;
	memory.access(memory.context, &access, &level, &tlb);
	assert_int_equal(level, GUS_HIT_L2);
	oracle.now = cache_config.memory_latency;
	memory.access(memory.context, &access, &level, &tlb);
	assert_int_equal(level, GUS_HIT_L1);
	access.known = false;
	memory.access(memory.context, &access, &level, &tlb);
	assert_true(level == GUS_HIT_L3 && tlb == GUS_TLB_HIT);
	assert_int_equal(oracle.unknown_addresses, 1);
	assert_int_equal(gus_cache_totals(cache)->requests, 5);
	gus_cache_free(cache);
	gus_program_free(p);
}

/* cmp eax, ebx; jne +0; nop: a forward branch, taken as a trace says. */
struct directions { uint64_t i, n, x; bool chance; unsigned at; bool taken; };

static bool directions_next(void *context, struct gus_core_step *step)
{
	struct directions *d = context;

	if (d->i == d->n)
		return false;
	if (d->at == 0) {
		d->x ^= d->x << 13;
		d->x ^= d->x >> 7;
		d->x ^= d->x << 17;
		d->taken = d->chance ? d->x >> 33 & 1 : d->i % 3 == 0;
		*step = (struct gus_core_step){ .op = 0, .taken = d->taken };
		d->at = d->taken ? 2 : 1;
		return true;
	}
	*step = (struct gus_core_step){ .op = d->at, .last = d->at == 2 };
	d->i += d->at == 2;
	d->at = d->at == 2 ? 0 : 2;
	return true;
}

static void test_branches(void **state)
{
	struct gus_program *p = PROGRAM("\x39\xd8\x75\x03\x0f\x1f\x00\x90");
	double per[2];

	(void)state;
	assert_int_equal(p->ops_n, 3); /* fused */
	for (unsigned chance = 0; chance < 2; chance++) {
		struct directions d = { 0, 20000, 88172645463325252, chance, 0, false };
		struct gus_core_source from = { &d, directions_next };
		struct gus_branch_config sizes;
		struct gus_oracle_branch oracle = { .program = p, .source = &from };
		struct gus_core_source source = gus_oracle_source_of_branch(&oracle);
		struct gus_core_branch branch = gus_oracle_of_branch(&oracle);
		struct gus_core_options o = { .source = &source, .branch = &branch,
			.pointers = GUS_CORE_POINTERS_NONE };
		double rate;

		gus_branch_config_default(&sizes);
		oracle.predictor = gus_branch_new(&sizes, NULL);
		per[chance] = cycles(p, &o);
		assert_int_equal(gus_branch_totals(oracle.predictor)->executed, 20000);
		assert_int_equal(oracle.verdicts_first, oracle.verdicts.n); /* each was asked for once */
		rate = (double)gus_branch_totals(oracle.predictor)->mispredicted / 20000;
		assert_true(chance ? rate > 0.48 && rate < 0.52 : rate < 0.02);
		gus_branch_free(oracle.predictor);
		gus_oracle_branch_end(&oracle);
	}
	/* Half of the branches cost the penalty at least. */
	assert_true(per[1] - per[0] > 0.48 * config.mispredict_penalty);
	gus_program_free(p);
}

/* A loop without a source: its branch is taken each time, and wrong once, at the first; warm, never. */
static void test_loop(void **state)
{
	struct gus_program *p = PROGRAM("\x48\x83\xc0\x01\x48\x39\xd8\x75\xf7");

	(void)state;
	for (unsigned warm = 0; warm < 2; warm++) {
		struct gus_branch_config sizes;
		struct gus_oracle_branch oracle = { .program = p, .warm = warm };
		struct gus_core_branch branch = gus_oracle_of_branch(&oracle);
		unsigned wrong = 0;

		gus_branch_config_default(&sizes);
		oracle.predictor = gus_branch_new(&sizes, NULL);
		for (unsigned i = 0; i < 1000; i++)
			wrong += branch.mispredicted(branch.context, p->ops_n - 1, i);
		assert_int_equal(wrong, !warm);
		gus_branch_free(oracle.predictor);
	}
	gus_program_free(p);
}

/* Each kind of branch is told as what it is: call, ret, jmp rax, jmp, call rax, cmp and jne. */
static void test_kinds(void **state)
{
	struct gus_program *p = PROGRAM("\xe8\x00\x00\x00\x00\xc3\xff\xe0\xeb\x00\xff\xd0\x39\xd8\x75\xf2");
	static const enum gus_branch_kind kinds[] = { GUS_BRANCH_CALL, GUS_BRANCH_RETURN, GUS_BRANCH_INDIRECT,
		GUS_BRANCH_JUMP,
		GUS_BRANCH_CALL_INDIRECT, GUS_BRANCH_CONDITIONAL };
	/* The call pushed the place of the ret, and the program goes on behind that; targets of registers are not known
	 * yet. */
	static const bool expected[] = { false, true, true, false, true, false };
	struct gus_branch_config sizes;
	struct gus_oracle_branch oracle = { .program = p };
	struct gus_core_branch branch = gus_oracle_of_branch(&oracle);
	const struct gus_branch_counts *t;

	(void)state;
	assert_int_equal(p->ops_n, 6);
	gus_branch_config_default(&sizes);
	oracle.predictor = gus_branch_new(&sizes, NULL);
	t = gus_branch_totals(oracle.predictor);
	for (uint32_t op = 0; op < 6; op++) {
		bool wrong = branch.mispredicted(branch.context, op, 0);

		assert_int_equal(t[kinds[op]].executed, 1);
		assert_int_equal(wrong, expected[op]);
	}
	gus_branch_free(oracle.predictor);
	gus_program_free(p);
}

/* Measured rates: a quarter of a chain of loads from L2 makes its cycles a mixture, a tenth of a loop's branches wrong
 * cost theirs. */
static void test_rates(void **state)
{
	struct gus_program *load = PROGRAM("\x48\x8b\x00"), *loop = PROGRAM("\x48\x83\xc0\x01\x48\x39\xd8\x75\xf7");
	struct gus_rates *r = gus_rates_new(load->memories_n, loop->ops_n);
	struct gus_core_memory memory = gus_oracle_memory_of_rates(r);
	struct gus_core_branch branch = gus_oracle_branch_of_rates(r);
	struct gus_core_options loads = { .memory = &memory, .pointers = GUS_CORE_POINTERS_NONE, .iterations = 4000 };
	struct gus_core_options good = { .pointers = GUS_CORE_POINTERS_NONE, .iterations = 4000 }, bad = good;
	double expected = 0.75 * config.l1d_latency + 0.25 * config.l2_latency, got, lost;

	(void)state;
	assert_int_equal(gus_rates_set_memory(r, 0, &(struct gus_rates_memory){ { 3, 1, 0, 0 }, { 0 } }, NULL), 0);
	assert_int_equal(gus_rates_set_branch(r, loop->ops_n - 1, &(struct gus_rates_branch){ 10, 1 }, NULL), 0);
	got = cycles(load, &loads);
	assert_true(got > 0.98 * expected && got < 1.05 * expected + 0.25);
	bad.branch = &branch;
	lost = 10 * (cycles(loop, &bad) - cycles(loop, &good));
	assert_true(lost >= config.mispredict_penalty && lost < config.mispredict_penalty + 16);
	assert_int_equal(gus_rates_asked(r)->unknown_accesses + gus_rates_asked(r)->unknown_branches, 0);
	gus_rates_free(r);
	gus_program_free(load);
	gus_program_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels), cmocka_unit_test(test_interval), cmocka_unit_test(test_answers),
		cmocka_unit_test(test_branches), cmocka_unit_test(test_loop), cmocka_unit_test(test_kinds),
			cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
