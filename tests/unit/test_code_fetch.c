/* SPDX-License-Identifier: MIT */
/* L1 for instructions: which lines the decoders wait for. It has 1 KiB in two ways of lines of 64 bytes, so eight sets,
 * and lines 512 bytes apart are of the same set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/machine/config.h"
#include "model/machine/hooks.h"
#include "model/machine/options.h"
#include "model/oracles/cache.h"
#include "model/oracles/code_fetch.h"

static const struct gus_core_config small = { .l1i_size = 1, .l1i_ways = 2, .line_size = 64, .l2_latency = 10 };

static void expect(struct gus_code_fetch *f, uint64_t address, uint64_t bytes, unsigned missed, unsigned missed_if_warm)
{
	struct gus_code_fetched code = { .address = address, .bytes = bytes };
	struct gus_code_fetch_answer a = gus_code_fetch_run(f, &code);

	if (a.told.missed != missed || a.if_warm.missed != missed_if_warm)
		fail_msg("at %u: %u and %u missed", (unsigned)address, a.told.missed, a.if_warm.missed);
}

static void lines(void **state)
{
	struct gus_error err = { 0 };
	struct gus_code_fetch f;

	(void)state;
	assert_int_equal(gus_code_fetch_init(&f, &small, NULL, NULL, &err), 0);
	expect(&f, 0, 64, 1, 0); /* perhaps it was there before the beginning */
	expect(&f, 63, 1, 0, 0);
	expect(&f, 63, 2, 0, 0); /* two lines; the second was asked for ahead */
	expect(&f, 256, 129, 1, 0); /* three, of which the first is a jump's target */
	expect(&f, 0, 448, 0, 0); /* 128 and 192 are behind another, all else is there */
	expect(&f, 512, 1, 1, 0); /* a jump again: the other way of set 0 */
	expect(&f, 0, 1, 0, 0);
	expect(&f, 1024, 1, 1, 1); /* both ways were filled: 512, the older one, goes */
	expect(&f, 0, 1, 0, 0);
	expect(&f, 512, 1, 1, 1);
	expect(&f, 512, 0, 0, 0);
	gus_code_fetch_free(&f);
}

/* Code may end where addresses do, and lines and pages may be single bytes. */
static void last_bytes(void **state)
{
	struct gus_core_config c = small;
	struct gus_error err = { 0 };
	struct gus_code_fetch f;

	(void)state;
	c.line_size = c.page_size = 1;
	c.itlb_size = 4;
	assert_int_equal(gus_code_fetch_init(&f, &c, NULL, NULL, &err), 0);
	expect(&f, UINT64_MAX - 2, 2, 1, 0);
	expect(&f, UINT64_MAX - 8, 9, 1, 0);
	expect(&f, UINT64_MAX - 8, 0, 0, 0);
	gus_code_fetch_free(&f);
}

static void sizes(void **state)
{
	struct gus_core_config c = small;
	struct gus_error err = { 0 };
	struct gus_code_fetch f;

	(void)state;
	c.l1i_size = 0; /* no limit */
	assert_int_equal(gus_code_fetch_init(&f, &c, NULL, NULL, &err), 0);
	expect(&f, 0, 4096, 0, 0);
	gus_code_fetch_free(&f);
	c.l1i_size = 1;
	c.l1i_ways = 3; /* 16 lines in three ways */
	assert_int_equal(gus_code_fetch_init(&f, &c, NULL, NULL, &err), -1);
	assert_non_null(err.text);
}

/* Behind these: an L2 and an L3 of 16 and 64 lines, a second TLB of eight pages. */
enum { L2 = 10, L3 = 40, MEMORY = 100, BUS = 2, SECOND = 7, WALK = 30 };
static const struct gus_core_config far = { .l1i_size = 1, .l1i_ways = 2, .line_size = 64, .page_size = 4096,
	.l2_latency = L2, .l3_latency = L3, .memory_latency = MEMORY, .l2_bandwidth = 32, .stlb_latency = SECOND,
	.page_walk_latency = WALK, .itlb_size = 2 };
static const struct gus_core_config near = { .l1i_size = 1, .l1i_ways = 2, .line_size = 64, .l2_latency = L2,
	.l2_bandwidth = 32 };
static const struct gus_cache_config behind = { .line_size = 64, .page_size = 4096, .huge_size = 2 << 20,
	.level = { { 1024, 2, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 0 },
		{ 1024, 2, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, L2 },
		{ 4096, 4, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, L3 } },
	.memory_latency = MEMORY, .dtlb = { 4, 4 }, .stlb = { 8, 8 } };

struct run {
	struct gus_cache *cache;
	struct gus_code_fetch f;
};

static void begin(struct run *r, const struct gus_core_config *c, const struct gus_core_hooks *hooks)
{
	struct gus_error err = { 0 };

	r->cache = gus_cache_new(&behind, &err);
	assert_non_null(r->cache);
	assert_int_equal(gus_code_fetch_init(&r->f, c, r->cache, hooks, &err), 0);
}

static void end(struct run *r)
{
	gus_code_fetch_free(&r->f);
	gus_cache_free(r->cache);
}

/* An instruction, when all that was asked for before has come. */
static struct gus_code_fetch_late fetch(struct run *r, uint64_t address, bool surprising)
{
	static uint64_t now;
	struct gus_code_fetched code = { .address = address, .bytes = 4, .now = now += 1000, .surprising = surprising };

	return gus_code_fetch_run(&r->f, &code).told;
}

static void is(struct gus_code_fetch_late late, unsigned level, unsigned tlb, unsigned cycles)
{
	if (late.level != level || late.tlb != tlb || late.cycles != cycles)
		fail_msg("from %u, page from %u, in %u", late.level, late.tlb, late.cycles);
}

/* Code goes through the levels that data go through: what is hidden of the way is what L2 takes, and the bus at least;
 * behind a misprediction nothing is. */
static void levels(void **state)
{
	const struct gus_cache_total *t;
	struct gus_cache_answer data;
	struct run r;

	(void)state;
	begin(&r, &near, NULL);
	is(fetch(&r, 0, false), GUS_HIT_MEMORY, 0, MEMORY - L2);
	is(fetch(&r, 4, false), GUS_HIT_L1, 0, 0);
	is(fetch(&r, 0x10000, true), GUS_HIT_MEMORY, 0, MEMORY + BUS);
	is(fetch(&r, 0x20000, false), GUS_HIT_MEMORY, 0, MEMORY - L2); /* the third of a set throws out the first */
	is(fetch(&r, 0, false), GUS_HIT_L3, 0, L3 - L2);
	is(fetch(&r, 0x20000, false), GUS_HIT_L1, 0, 0);
	is(fetch(&r, 0x10000, true), GUS_HIT_L3, 0, L3 + BUS);
	/* L2 has what data have asked for. */
	gus_cache_access(r.cache, &(struct gus_cache_access){ .address = 0x30040, .bytes = 8 }, &data);
	is(fetch(&r, 0x30040, false), GUS_HIT_L2, 0, BUS);
	gus_cache_access(r.cache, &(struct gus_cache_access){ .address = 0x30080, .bytes = 8 }, &data);
	is(fetch(&r, 0x30080, false), GUS_HIT_L1, 0, 0); /* asked for ahead */
	t = gus_cache_totals(r.cache);
	assert_int_equal(t->level[1].accesses[GUS_CACHE_CODE], 6);
	assert_int_equal(t->level[1].hits[GUS_CACHE_CODE], 1);
	assert_int_equal(t->memory_reads[GUS_CACHE_CODE], 3);
	assert_int_equal(t->level[1].accesses[GUS_CACHE_DEMAND], 2);
	end(&r);
}

/* The TLB holds two pages, the second one, which data share, eight. */
static void pages(void **state)
{
	struct gus_core_config c = far;
	struct gus_cache_answer data;
	struct run r;

	(void)state;
	c.l1i_size = 0;
	begin(&r, &c, NULL);
	is(fetch(&r, 0, false), 0, GUS_TLB_WALK, WALK);
	is(fetch(&r, 4094, false), 0, GUS_TLB_WALK, WALK); /* it ends in the next page */
	is(fetch(&r, 0, false), 0, GUS_TLB_HIT, 0);
	is(fetch(&r, 8192, false), 0, GUS_TLB_WALK, WALK); /* 4096 goes */
	is(fetch(&r, 0, false), 0, GUS_TLB_HIT, 0);
	is(fetch(&r, 4096, true), 0, GUS_TLB_SECOND, SECOND);
	gus_cache_access(r.cache, &(struct gus_cache_access){ .address = 0x30040, .bytes = 8 }, &data);
	is(fetch(&r, 0x30080, false), 0, GUS_TLB_SECOND, SECOND);
	assert_int_equal(gus_cache_totals(r.cache)->stlb_code.accesses, 5);
	assert_int_equal(gus_cache_totals(r.cache)->stlb.accesses, 1);
	for (unsigned page = 0x2d; page <= 0x31; page += 2) /* none of them is taken for the one before */
		is(fetch(&r, page * 4096, false), 0, GUS_TLB_WALK, WALK);
	for (unsigned page = 0x3d; page >= 0x39; page -= 2)
		is(fetch(&r, page * 4096, false), 0, GUS_TLB_WALK, WALK);
	end(&r);
	begin(&r, &near, NULL); /* a table that does not say how large it is */
	is(fetch(&r, 0x5000, false), GUS_HIT_MEMORY, GUS_TLB_HIT, MEMORY - L2);
	end(&r);
}

/* Where there are no caches code is in L2, and its pages in the second TLB. */
static void without_caches(void **state)
{
	struct gus_error err = { 0 };
	struct run r = { 0 };

	(void)state;
	assert_int_equal(gus_code_fetch_init(&r.f, &far, NULL, NULL, &err), 0);
	is(fetch(&r, 0x5000, false), GUS_HIT_L2, GUS_TLB_SECOND, BUS + SECOND);
	is(fetch(&r, 0x5000, false), GUS_HIT_L1, GUS_TLB_HIT, 0);
	end(&r);
}

static uint64_t odd_line(void *context, unsigned level, uint64_t address, bool code, uint64_t from)
{
	(void)context;
	assert_true(code && level == GUS_HIT_MEMORY && address == 0x4000);
	return from + 321;
}

static uint64_t odd_walk(void *context, uint64_t address, bool code, uint64_t from)
{
	(void)context;
	assert_true(code && address == 0x4000);
	return from + 50;
}

static void odd_machine(void **state)
{
	static const struct gus_core_hooks hooks = { .line = odd_line, .walk = odd_walk };
	struct run r;

	(void)state;
	begin(&r, &far, &hooks);
	is(fetch(&r, 0x4010, true), GUS_HIT_MEMORY, GUS_TLB_WALK, 321 + BUS + 50);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(last_bytes),
		cmocka_unit_test(sizes),
		cmocka_unit_test(levels),
		cmocka_unit_test(pages),
		cmocka_unit_test(without_caches),
		cmocka_unit_test(odd_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
