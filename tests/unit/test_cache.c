/* SPDX-License-Identifier: MIT */
/* Caches and TLBs on patterns whose misses are known by argument, replacement against plain models, and what must
 * hold of any run: each access hits or misses, the misses of a level are the accesses of the next, inclusion is what
 * it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/machine/options.h"
#include "model/oracles/cache.h"
#include "model/oracles/sets.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

/* As tables call it: the word of that number. */
static const char *policy_name(int policy)
{
	static char words[] = GUS_REPLACEMENT_WORDS;
	const char *word = words;

	for (char *c = words; *c; c++)
		if (*c == ' ')
			*c = '\0';
	while (policy--)
		word += strlen(word) + 1;
	return word;
}

enum { KIB = 1024, MIB = 1024 * 1024 };

/* 32 KiB of 8 ways, 256 KiB of 8, 2 MiB of 16; DTLB 64 of 4, STLB 512 of 8; no prefetcher. */
static const struct gus_cache_config plain = {
	.line_size = 64, .page_size = 4096, .huge_size = 2 * MIB,
	.level = { { 32 * KIB, 8, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 0 },
		{ 256 * KIB, 8, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 12 },
		   { 2 * MIB, 16, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 40 } },
	.memory_latency = 200,
	.dtlb = { 64, 4 }, .dtlb_huge = { 32, 4 }, .stlb = { 512, 8 }, .stlb_huge = true,
};

static struct gus_cache *caches(const struct gus_cache_config *config)
{
	struct gus_error err = { 0 };
	struct gus_cache *c = gus_cache_new(config, &err);

	if (!c)
		fail_msg("%s", err.text);
	return c;
}

static uint64_t rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x >> 16;
}

static struct gus_cache_answer touch_at(struct gus_cache *c, uint64_t address, uint32_t bytes, bool store, uint64_t now)
{
	struct gus_cache_access a = { .address = address, .bytes = bytes, .id = 1, .store = store, .now = now };
	struct gus_cache_answer answer;

	gus_cache_access(c, &a, &answer);
	return answer;
}

/* Long after the last access: nothing is on its way any more. */
static struct gus_cache_answer touch(struct gus_cache *c, uint64_t address, bool store)
{
	static uint64_t now = 1000000;

	return touch_at(c, address, 8, store, now += 1000);
}

/* What holds after any run. */
static void check_identities(const struct gus_cache *c)
{
	const struct gus_cache_total *t = gus_cache_totals(c);
	const struct gus_cache_counts *l1 = &t->level[0], *l2 = &t->level[1], *l3 = &t->level[2];

	for (unsigned i = 0; i < GUS_CACHE_LEVELS; i++) {
		for (unsigned who = 0; who < GUS_CACHE_ASKERS; who++)
			assert_int_equal(t->level[i].accesses[who], t->level[i].hits[who] + t->level[i].misses[who]);
		assert_true(t->level[i].late <= t->level[i].used &&
			t->level[i].pending <= t->level[i].hits[GUS_CACHE_DEMAND]);
		assert_true(t->level[i].unknown <= t->level[i].misses[GUS_CACHE_DEMAND]);
		assert_true(t->level[i].evicted <= t->level[i].filled);
	}
	/* No access here is over three lines. */
	assert_int_equal(l1->accesses[GUS_CACHE_DEMAND], t->requests + t->line_splits);
	assert_int_equal(l2->accesses[GUS_CACHE_DEMAND], l1->misses[GUS_CACHE_DEMAND]);
	assert_int_equal(l3->accesses[GUS_CACHE_DEMAND], l2->misses[GUS_CACHE_DEMAND]);
	assert_int_equal(l3->accesses[GUS_CACHE_PREFETCH], l2->misses[GUS_CACHE_PREFETCH]);
	assert_int_equal(t->memory_reads[GUS_CACHE_DEMAND], l3->misses[GUS_CACHE_DEMAND]);
	assert_int_equal(t->memory_reads[GUS_CACHE_PREFETCH], l3->misses[GUS_CACHE_PREFETCH]);
	assert_int_equal(l1->filled, l1->misses[GUS_CACHE_DEMAND] + l1->misses[GUS_CACHE_PREFETCH]);
	/* What is written back out of one level arrives in another, or in memory. */
	assert_int_equal(l1->dirty_out + l2->dirty_out + l3->dirty_out, l2->dirty_in + l3->dirty_in + t->memory_writes);
	/* Prefetched lines were used, went unused, or lie there still. */
	assert_true(l1->used + l1->wasted <= l1->misses[GUS_CACHE_PREFETCH]);
	assert_true(l1->misses[GUS_CACHE_PREFETCH] <= l1->used + l1->wasted + gus_cache_config(c)->level[0].bytes / 64);
	assert_int_equal(t->dtlb.accesses, t->dtlb.hits + t->dtlb.misses);
	assert_int_equal(t->stlb.accesses, t->stlb.hits + t->stlb.misses);
	assert_int_equal(t->dtlb.misses, t->stlb.accesses);
}

/* Patterns: each is run for a while to fill the caches, then counted. Misses are a share of accesses. */

enum order { STRIDED, RANDOM };
static const struct pattern {
	const char *name;
	uint64_t region, stride;
	enum order order;
	double l1, l2, l3;      /* misses of each level, by access */
} patterns[] = {
	/* In order and larger than a level of lru: each line is gone when it comes again, so a new line is a miss: 8
	 * of 64 bytes. */
	{ "sequential in L1", 16 * KIB, 8, STRIDED, 0, 0, 0 },
	{ "sequential in all of L1", 32 * KIB, 8, STRIDED, 0, 0, 0 },
	{ "sequential in L2", 128 * KIB, 8, STRIDED, 1. / 8, 0, 0 },
	{ "sequential in L3", MIB, 8, STRIDED, 1. / 8, 1. / 8, 0 },
	{ "sequential beyond", 8 * MIB, 8, STRIDED, 1. / 8, 1. / 8, 1. / 8 },
	{ "every second line in L2", 128 * KIB, 128, STRIDED, 1, 0, 0 },
	{ "every line beyond", 8 * MIB, 64, STRIDED, 1, 1, 1 },
	/* One line in each page: 64 sets of L1 are one set, so 8 ways hold 8 lines, and 9 of them throw each other
	 * out. */
	{ "8 lines of one set", 8 * 4096, 4096, STRIDED, 0, 0, 0 },
	{ "9 lines of one set", 9 * 4096, 4096, STRIDED, 1, 0, 0 },
	/* By chance, each line as likely as any other: what a level holds is a share of the region, whichever lines
	 * these are. */
	{ "random in L1", 32 * KIB, 8, RANDOM, 0, 0, 0 },
	{ "random in L2", 256 * KIB, 8, RANDOM, 1 - 32. / 256, 0, 0 },
	{ "random in L3", 2 * MIB, 8, RANDOM, 1 - 32. / 2048, 1 - 256. / 2048, 0 },
	{ "random beyond", 8 * MIB, 8, RANDOM, 1 - 32. / 8192, 1 - 256. / 8192, 1 - 2048. / 8192 },
};

enum { WARM = 1, COUNTED }; /* seeds of what comes by chance */
static void run_pattern(struct gus_cache *c, const struct pattern *p, uint64_t accesses, uint64_t seed)
{
	uint64_t x = seed * 88172645463325252, places = p->region / p->stride;

	for (uint64_t i = 0; i < accesses; i++)
		touch(c, (UINT64_C(1) << 32) + (p->order == RANDOM ? rnd(&x) % places : i % places) * p->stride, false);
}

/* Until the caches hold what they will: once through all places; of what comes by chance only once through the lines,
 * and then as many as all levels have, so that the order in which they were used is by chance as well. */
static void warm_up(struct gus_cache *c, const struct pattern *p)
{
	struct pattern lines = { .region = p->region, .stride = p->stride > 64 ? p->stride : 64, .order = STRIDED };

	if (p->order != RANDOM) {
		run_pattern(c, p, p->region / p->stride, WARM);
		return;
	}
	run_pattern(c, &lines, lines.region / lines.stride, WARM);
	run_pattern(c, p, (32 + 256 + 2048) * KIB / 64, WARM);
}

static void near(const char *name, const char *level, double got, double expected)
{
	if (got - expected > 0.02 * expected + 1e-9 || expected - got > 0.02 * expected + 1e-9)
		fail_msg("%s: misses of %s are %.4f of accesses, expected %.4f", name, level, got, expected);
}

static void test_patterns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		const struct pattern *p = &patterns[i];
		uint64_t once = p->region / p->stride, n = p->order == RANDOM ? 60000 : once * (1 + 20000 / once);
		struct gus_cache *c = caches(&plain);
		const struct gus_cache_total *t = gus_cache_totals(c);

		warm_up(c, p);
		gus_cache_count_anew(c);
		run_pattern(c, p, n, COUNTED);
		near(p->name, "L1", (double)t->level[0].misses[GUS_CACHE_DEMAND] / (double)n, p->l1);
		near(p->name, "L2", (double)t->level[1].misses[GUS_CACHE_DEMAND] / (double)n, p->l2);
		near(p->name, "L3", (double)t->level[2].misses[GUS_CACHE_DEMAND] / (double)n, p->l3);
		check_identities(c);
		gus_cache_free(c);
	}
}

/* The same chance for each line: no policy can do better or worse than what it holds of the region. */
static void test_random_any_policy(void **state)
{
	const struct pattern *p = &patterns[10];

	(void)state;
	for (unsigned policy = 0; policy < GUS_REPLACEMENTS; policy++) {
		struct gus_cache_config config = plain;
		struct gus_cache *c;

		config.level[0].replacement = (enum gus_replacement)policy;
		c = caches(&config);
		run_pattern(c, p, 20000, WARM);
		gus_cache_count_anew(c);
		run_pattern(c, p, 60000, COUNTED);
		near(policy_name(policy), "L1",
		     (double)gus_cache_totals(c)->level[0].misses[GUS_CACHE_DEMAND] / 60000, p->l1);
		gus_cache_free(c);
	}
}

/* Replacement against models that are written as one would say it: a list of keys, places in it, and what is done to
 * them. */

struct reference {
	uint64_t key[64], used[64], clock;
	int age[64];
	bool away[128];         /* nodes of the tree: the victim is on the right */
	uint32_t ways;
	bool there[64];
};

static void tree_used(struct reference *r, uint32_t node, uint32_t low, uint32_t size, uint32_t way)
{
	if (size == 1)
		return;
	r->away[node] = way < low + size / 2;
	if (way < low + size / 2)
		tree_used(r, 2 * node, low, size / 2, way);
	else
		tree_used(r, 2 * node + 1, low + size / 2, size / 2, way);
}

static uint32_t tree_victim(const struct reference *r, uint32_t node, uint32_t low, uint32_t size)
{
	if (size == 1)
		return low;
	if (r->away[node] && low + size / 2 < r->ways)
		return tree_victim(r, 2 * node + 1, low + size / 2, size / 2);
	return tree_victim(r, 2 * node, low, size / 2);
}

static uint32_t leaves(uint32_t ways)
{
	uint32_t n = 1;

	while (n < ways)
		n *= 2;
	return n;
}

/* What the name of a policy says: "qlru_hXY_mM_rR_uU"; srrip is qlru_h00_m2_r0_u0 that grows old on misses only. */
struct named { int x, y, m, r, u; bool late; };
static struct named read_name(const char *name)
{
	if (strcmp(name, "srrip") == 0)
		return (struct named){ 0, 0, 2, 0, 0, true };
	return (struct named){ name[6] - '0', name[7] - '0', name[10] - '0', name[13] - '0', name[16] - '0', false };
}

static void reference_grow(struct reference *r, const struct named *n, uint32_t accessed)
{
	int most = 0;

	for (uint32_t w = 0; w < r->ways; w++) {
		if (r->there[w] && r->age[w] == 3)
			return;
		if (r->there[w] && !(n->u == 1 && w == accessed) && r->age[w] > most)
			most = r->age[w];
	}
	for (uint32_t w = 0; w < r->ways; w++)
		if (r->there[w] && !(n->u == 1 && w == accessed))
			r->age[w] += n->u == 2 ? 1 : 3 - most;
}

static uint32_t reference_victim(struct reference *r, const char *policy, const struct named *n)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < r->ways; i++) {
		uint32_t w = policy[0] == 'q' && n->r == 2 ? r->ways - 1 - i : i;

		if (!r->there[w])
			return w;
	}
	if (policy[0] == 't')
		return tree_victim(r, 1, 0, leaves(r->ways));
	if (policy[0] == 'l') {
		for (uint32_t w = 1; w < r->ways; w++)
			best = r->used[w] < r->used[best] ? w : best;
		return best;
	}
	if (n->late)
		reference_grow(r, n, 64);
	for (uint32_t w = 0; w < r->ways; w++)
		if (r->age[w] == 3)
			return w;
	assert_true(n->r == 1 || (n->u == 1 && r->ways == 1)); /* no other gets here */
	return 0;
}

/* True: a hit. */
static bool reference_access(struct reference *r, const char *policy, uint64_t key)
{
	struct named n = policy[0] == 'q' || policy[0] == 's' ? read_name(policy) : (struct named){ 0 };
	bool aged = policy[0] == 'q' || policy[0] == 's', hit = false;
	uint32_t way = 0;

	for (uint32_t w = 0; w < r->ways && !hit; w++)
		if (r->there[w] && r->key[w] == key)
			hit = true, way = w;
	if (!hit) {
		way = reference_victim(r, policy, &n);
		r->key[way] = key;
		r->there[way] = true;
		r->age[way] = n.m;
	} else {
		r->age[way] = r->age[way] == 3 ? n.x : r->age[way] == 2 ? n.y : 0;
	}
	r->used[way] = ++r->clock;
	tree_used(r, 1, 0, leaves(r->ways), way);
	if (aged && !n.late)
		reference_grow(r, &n, way);
	return hit;
}

static void test_replacement(void **state)
{
	static const uint32_t ways[] = { 1, 2, 4, 8, 11, 12, 16, 20 };

	(void)state;
	for (unsigned policy = 0; policy < GUS_REPLACEMENTS; policy++)
		for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && policy != GUS_REPLACE_RANDOM; i++) {
			struct gus_sets s;
			struct reference r = { .ways = ways[i] };
			uint64_t x = 1234567 + i, evicted;

			assert_int_equal(gus_sets_init(&s, "a set", ways[i], ways[i], (enum gus_replacement)policy,
				NULL), 0);
			for (int n = 0; n < 20000; n++) {
				uint64_t key = rnd(&x) % (ways[i] + ways[i] / 2 + 1);
				uint32_t slot = gus_sets_find(&s, key);

				assert_int_equal(slot != GUS_SETS_NONE,
					reference_access(&r, policy_name(policy), key));
				if (slot != GUS_SETS_NONE)
					gus_sets_touch(&s, key, slot);
				else
					slot = gus_sets_place(&s, key, &evicted);
				assert_int_equal(r.key[slot], key); /* the same place, so the same victim */
			}
			gus_sets_free(&s);
		}
}

/* By chance, but the same each time; and each way is as often the victim. */
static void test_random_replacement(void **state)
{
	struct gus_sets a, b;
	unsigned victims[12] = { 0 };
	uint64_t evicted, also;

	(void)state;
	assert_int_equal(gus_sets_init(&a, "a", 12, 12, GUS_REPLACE_RANDOM, NULL), 0);
	assert_int_equal(gus_sets_init(&b, "b", 12, 12, GUS_REPLACE_RANDOM, NULL), 0);
	for (uint64_t key = 0; key < 12000; key++) {
		uint32_t slot = gus_sets_place(&a, key, &evicted);

		assert_int_equal(slot, gus_sets_place(&b, key, &also));
		assert_int_equal(evicted, also);
		victims[slot]++;
	}
	for (unsigned w = 0; w < 12; w++)
		assert_in_range(victims[w], 880, 1120); /* 1000 +- 4 standard deviations */
	gus_sets_free(&a);
	gus_sets_free(&b);
}

/* Inclusion, in all combinations, with prefetchers on, loads and stores by chance over some regions. */
static void check_inclusion(const struct gus_cache *c, const struct gus_cache_config *config, uint64_t lines)
{
	for (uint64_t line = 0; line < lines; line++) {
		bool l1 = gus_cache_holds(c, 0, line * 64), l2 = gus_cache_holds(c, 1, line * 64),
			l3 = gus_cache_holds(c, 2, line * 64);

		if (config->level[1].inclusion == GUS_INCLUSION_INCLUSIVE)
			assert_true(l2 || !l1);
		if (config->level[1].inclusion == GUS_INCLUSION_EXCLUSIVE)
			assert_false(l1 && l2);
		if (config->level[2].inclusion == GUS_INCLUSION_INCLUSIVE)
			assert_true(l3 || (!l1 && !l2));
		if (config->level[2].inclusion == GUS_INCLUSION_EXCLUSIVE)
			assert_false(l2 && l3);
	}
}

/* What went into a level went out again, or is there. */
static void check_lines(const struct gus_cache *c, uint64_t lines)
{
	for (unsigned level = 0; level < GUS_CACHE_LEVELS; level++) {
		const struct gus_cache_counts *n = &gus_cache_totals(c)->level[level];
		uint64_t there = 0;

		for (uint64_t line = 0; line < lines; line++)
			there += gus_cache_holds(c, level, line * 64);
		assert_int_equal(n->filled, n->evicted + n->invalidated + n->given + there);
	}
}

/* One of the nine, small, with all prefetchers. */
static struct gus_cache_config combined(unsigned combination)
{
	struct gus_cache_config config = plain;

	config.level[0] = (struct gus_cache_level){ 4 * KIB, 4, GUS_REPLACE_TREE_PLRU, GUS_INCLUSION_NONE, 0 };
	config.level[1] = (struct gus_cache_level){ 12 * KIB, 6, GUS_REPLACE_LRU, (enum gus_inclusion)(combination % 3),
		12 };
	config.level[2] = (struct gus_cache_level){ 16 * KIB, 4, GUS_REPLACE_QLRU_H11_M1_R0_U0,
		(enum gus_inclusion)(combination / 3), 40 };
	config.l1d_next_line = config.l2_next_line = config.l1d_stride_ahead = 2;
	config.l1d_strides = 16;
	return config;
}

static void test_inclusion(void **state)
{
	(void)state;
	for (unsigned combination = 0; combination < 9; combination++) {
		struct gus_cache_config config = combined(combination);
		struct gus_cache *c = caches(&config);
		uint64_t x = 99;

		for (unsigned i = 0; i < 60000; i++) {
			uint64_t region = (4 * KIB) << (rnd(&x) % 4), at = i % 5 ? rnd(&x) % region :
				(uint64_t)i * 24 % region;

			touch_at(c, at, 8, rnd(&x) % 3 == 0, i * 3u);
			if (i % 997 == 0)
				check_inclusion(c, &config, 32 * KIB / 64 + 2);
		}
		check_inclusion(c, &config, 32 * KIB / 64 + 2);
		check_lines(c, 32 * KIB / 64 + 64);
		check_identities(c);
		assert_true(gus_cache_totals(c)->level[0].used && gus_cache_totals(c)->level[1].used &&
			gus_cache_totals(c)->memory_writes);
		gus_cache_free(c);
	}
}

/* What inclusion is for: two levels of 32 lines hold 64 if they are exclusive, and 32 if not. */
static void test_exclusive_capacity(void **state)
{
	struct gus_cache_config config = plain;

	(void)state;
	config.level[0] = (struct gus_cache_level){ 2 * KIB, 32, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 0 };
	config.level[1] = (struct gus_cache_level){ 2 * KIB, 32, GUS_REPLACE_LRU, GUS_INCLUSION_EXCLUSIVE, 12 };
	config.level[2].bytes = 0;
	for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
		struct gus_cache *c;

		config.level[1].inclusion = exclusive ? GUS_INCLUSION_EXCLUSIVE : GUS_INCLUSION_INCLUSIVE;
		c = caches(&config);
		for (unsigned i = 0; i < 64 * 10; i++)
			touch(c, i % 64 * 64, false);
		assert_int_equal(gus_cache_totals(c)->memory_reads[GUS_CACHE_DEMAND], exclusive ? 64 : 640);
		assert_int_equal(gus_cache_totals(c)->level[1].used, 0); /* nothing was prefetched */
		gus_cache_free(c);
	}
}

/* Lines that are written go to memory once for each time that they were in the caches, lines that are read never. */
static void test_write_back(void **state)
{
	struct gus_cache *c = caches(&plain);
	const uint64_t lines = 4 * MIB / 64;

	(void)state;
	for (uint64_t i = 0; i < 3 * lines; i++)
		touch(c, i % lines * 64, true);
	for (uint64_t i = 0; i < 3 * lines; i++)
		touch(c, (UINT64_C(1) << 33) + i % lines * 64, false);
	assert_int_equal(gus_cache_totals(c)->memory_writes, 3 * lines);
	assert_int_equal(gus_cache_totals(c)->memory_reads[GUS_CACHE_DEMAND], 6 * lines); /* allocates on writes */
	check_identities(c);
	gus_cache_free(c);
}

/* Each line is written once, and read before and after among others by chance: whichever way it goes through the
 * levels, it goes to memory once. At the end lines that were never seen push all of them out. */
static void test_nothing_lost(void **state)
{
	enum { LINES = 2000 };

	(void)state;
	for (unsigned combination = 0; combination < 9; combination++) {
		struct gus_cache_config config = combined(combination);
		struct gus_cache *c = caches(&config);
		uint64_t x = 99;

		for (uint64_t i = 0; i < LINES * 10; i++) {
			uint64_t line = i / 10, back = rnd(&x) % (line + 1) % 600;

			touch(c, i % 10 == 5 ? line * 64 : (line - back) * 64, i % 10 == 5);
		}
		for (uint64_t i = 0; i < 20000; i++)
			touch(c, MIB + i * 64, false);
		assert_int_equal(gus_cache_totals(c)->memory_writes, LINES);
		check_identities(c);
		gus_cache_free(c);
	}
}

/* One page after another: 64 pages fit the first TLB, 128 the second, 1024 none; as one huge page all of them are one
 * entry. */
static void test_tlb(void **state)
{
	static const struct { uint64_t pages; bool huge; double second, walks; } cases[] = {
		{ 64, false, 0, 0 }, { 128, false, 1, 0 }, { 512, false, 1, 0 }, { 1024, false, 1, 1 },
		{ 1024, true, 0, 0 },
		/* 64 huge pages, which the 32 entries for them do not hold */
		{ 64 * 512, true, 1. / 512, 0 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache *c = caches(&plain);
		const struct gus_cache_total *t = gus_cache_totals(c);
		uint64_t n = cases[k].pages * (1 + 20000 / cases[k].pages);

		if (cases[k].huge)
			gus_cache_huge_pages(c, 0, UINT64_C(1) << 40);
		for (uint64_t i = 0; i < cases[k].pages; i++)
			touch(c, i * 4096, false);
		gus_cache_count_anew(c);
		for (uint64_t i = 0; i < n; i++)
			touch(c, i % cases[k].pages * 4096, i % 2);
		near("pages", "the DTLB", (double)t->dtlb.misses / (double)n, cases[k].second);
		near("pages", "the STLB", (double)t->stlb.misses / (double)n, cases[k].walks);
		check_identities(c);
		gus_cache_free(c);
	}
}

/* 8 bytes at 60 are in two lines, at 4092 in two pages; the answer is the farther one's. */
static void test_splits(void **state)
{
	struct gus_cache *c = caches(&plain);
	const struct gus_cache_total *t = gus_cache_totals(c);
	struct gus_cache_answer a;

	(void)state;
	touch(c, 0, false);
	a = touch(c, 60, false);
	assert_int_equal(a.level, GUS_HIT_MEMORY);
	assert_int_equal(a.tlb, GUS_TLB_HIT);
	a = touch(c, 60, false);
	assert_int_equal(a.level, GUS_HIT_L1);
	assert_int_equal(t->line_splits, 2);
	assert_int_equal(t->page_splits, 0);
	a = touch(c, 4092, true);
	assert_int_equal(a.tlb, GUS_TLB_WALK);
	assert_int_equal(t->page_splits, 1);
	assert_int_equal(t->dtlb.accesses, 5);
	check_identities(c);
	gus_cache_free(c);
}

/* Time. A line comes when its latency is over; until then it is on its way, whoever asked for it. */
static void test_on_its_way(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache *c = caches(&plain);
	struct gus_cache_answer a;

	(void)state;
	a = touch_at(c, 0, 8, false, 1000);
	assert_int_equal(a.wait, 200);
	a = touch_at(c, 8, 8, false, 1050);
	assert_true(a.level == GUS_HIT_L1 && a.pending && a.wait == 150);
	a = touch_at(c, 8, 8, false, 1200);
	assert_true(a.level == GUS_HIT_L1 && !a.pending && a.wait == 0);
	gus_cache_free(c);
	config.l1d_next_line = 1;
	c = caches(&config);
	touch_at(c, 0, 8, false, 0);
	a = touch_at(c, 64, 8, false, 60);
	assert_true(a.level == GUS_HIT_L1 && a.pending && a.wait == 140);
	assert_int_equal(gus_cache_totals(c)->level[0].used, 1);
	assert_int_equal(gus_cache_totals(c)->level[0].late, 1);
	a = touch_at(c, 128, 8, false, 1000); /* asked for by the use of the one before: there by now */
	assert_true(a.level == GUS_HIT_L1 && !a.pending);
	assert_int_equal(gus_cache_totals(c)->level[0].used, 2);
	assert_int_equal(gus_cache_totals(c)->level[0].late, 1);
	gus_cache_free(c);
}

/* Prefetchers find what they are for and nothing else: of a stream that goes through fresh pages what remains is the
 * first line of each page, and for strides the first four, which have to teach it. */
static void test_prefetchers(void **state)
{
	static const struct { uint32_t next, strides, ahead; uint64_t stride; double misses; } cases[] = {
		{ 0, 0, 0, 64, 1 },
		{ 1, 0, 0, 64, 1. / 64 },
		{ 1, 0, 0, 128, 1 },                    /* the next line is never the one */
		/* Followed from page to page; the first of each is beyond the bound. */
		{ 0, 16, 1, 256, 1. / 16 },
		{ 0, 16, 2, 256, 2. / 16 },             /* two ahead: the first two */
		{ 0, 16, 1, 8192, 1 },                  /* never in the same page */
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache_config config = plain;
		struct gus_cache *c;
		const struct gus_cache_total *t;
		uint64_t n = 40000;

		config.l1d_next_line = cases[k].next;
		config.l1d_strides = cases[k].strides;
		config.l1d_stride_ahead = cases[k].ahead;
		c = caches(&config);
		t = gus_cache_totals(c);
		for (uint64_t i = 0; i < n; i++)
			touch(c, i * cases[k].stride, false);
		near("stream", "L1", (double)t->level[0].misses[GUS_CACHE_DEMAND] / (double)n, cases[k].misses);
		check_identities(c);
		gus_cache_free(c);
	}
}

/* Where prefetched lines are not used none are asked for half of the time; where they are, nothing changes. */
static void test_throttle(void **state)
{
	static const struct { uint32_t throttle; unsigned level; uint64_t stride, prefetched; } cases[] = {
		{ 0, 0, 128, 1024 }, { 8, 0, 128, 512 }, { 8, 0, 64, 1008 }, { 2, 0, 64, 1008 },
		{ 0, 1, 256, 2048 }, { 1, 1, 256, 1024 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache_config config = plain;
		struct gus_cache *c;
		uint64_t prefetched;

		config.l1d_next_line = !cases[k].level;
		config.l2_next_line = cases[k].level ? 2 : 0;
		config.prefetch_throttle = cases[k].throttle;
		c = caches(&config);
		for (uint64_t i = 0; i < 1024; i++)
			touch(c, i * cases[k].stride, false);
		prefetched = gus_cache_totals(c)->level[cases[k].level].misses[GUS_CACHE_PREFETCH];
		if (prefetched != cases[k].prefetched)
			fail_msg("case %zu: %u", k, (unsigned)prefetched);
		check_identities(c);
		gus_cache_free(c);
	}
}

/* A stride is followed from the fourth access on: three distances that are the same, and nothing before. By chance,
 * nothing. */
static void test_stride_learnt(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache *c;
	uint64_t x = 5;

	(void)state;
	config.l1d_strides = 16;
	config.l1d_stride_ahead = 1;
	c = caches(&config);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(gus_cache_totals(c)->level[0].accesses[GUS_CACHE_PREFETCH], 0);
		touch(c, i * 256, false);
	}
	assert_int_equal(gus_cache_totals(c)->level[0].accesses[GUS_CACHE_PREFETCH], 1);
	assert_true(gus_cache_holds(c, 0, 1024));
	gus_cache_free(c);
	c = caches(&config);
	for (unsigned i = 0; i < 10000; i++)
		touch(c, rnd(&x) % MIB, false);
	assert_int_equal(gus_cache_totals(c)->level[0].accesses[GUS_CACHE_PREFETCH], 0);
	gus_cache_free(c);
}

/* L2's prefetcher: of a stream each line but the first of a page is found in L2. */
static void test_l2_prefetcher(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache *c;
	const struct gus_cache_total *t;

	(void)state;
	config.l2_next_line = 2;
	c = caches(&config);
	t = gus_cache_totals(c);
	for (uint64_t i = 0; i < 64 * 500; i++)
		touch(c, i * 64, false);
	assert_int_equal(t->level[0].misses[GUS_CACHE_DEMAND], 64 * 500);
	assert_int_equal(t->level[1].misses[GUS_CACHE_DEMAND], 500);
	check_identities(c);
	gus_cache_free(c);
}

/* The beginning of a window: a first touch may have been in L1 or not, and nothing in the window tells; once the set
 * was filled, what is not there would not have been there either. */
/* A program that has 900 KiB: what it touches for the first time is in L3 at the latest, until sets are full of what
 * was touched since. */
static void test_holds_all(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache_answer a;
	struct gus_cache *c;

	(void)state;
	assert_int_equal(gus_cache_holding(&config, 0), GUS_HIT_L1);
	assert_int_equal(gus_cache_holding(&config, 128 * KIB), GUS_HIT_L2);
	assert_int_equal(gus_cache_holding(&config, 128 * KIB + 1), GUS_HIT_L3);
	assert_int_equal(gus_cache_holding(&config, MIB), GUS_HIT_L3);
	assert_int_equal(gus_cache_holding(&config, MIB + 1), GUS_HIT_L1);
	config.holds_all = gus_cache_holding(&config, 900 * KIB);
	c = caches(&config);
	a = touch_at(c, 64, 8, false, 100000);
	assert_true(a.level == GUS_HIT_L3 && a.level_if_warm == GUS_HIT_L1);
	assert_true(a.wait == 40 && a.wait_if_warm == 0);
	assert_int_equal(gus_cache_totals(c)->memory_reads[GUS_CACHE_DEMAND], 0);
	for (uint64_t i = 1; i < 16; i++) /* L3 has 2048 sets */
		assert_int_equal(touch(c, 64 + i * 2048 * 64, false).level, GUS_HIT_L3);
	assert_int_equal(touch(c, 64 + 16 * 2048 * 64, false).level, GUS_HIT_MEMORY);
	gus_cache_free(c);
}

static void test_cold(void **state)
{
	struct gus_cache *c = caches(&plain);
	struct gus_cache_answer a;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		a = touch(c, i * 4096, false);
		assert_true(a.level == GUS_HIT_MEMORY && a.level_if_warm == GUS_HIT_L1);
		assert_true(a.tlb == GUS_TLB_WALK && a.tlb_if_warm == GUS_TLB_HIT);
	}
	a = touch_at(c, 64, 8, false, 100000);
	assert_true(a.wait == 200 && a.wait_if_warm == 0);
	a = touch_at(c, 72, 8, false, 100050); /* on its way; but if it had been there, it would be */
	assert_true(a.pending && a.wait == 150 && a.wait_if_warm == 0);
	a = touch(c, 8 * 4096, false); /* L1's set is full; of the 8 sets that these pages have in L2 it is not */
	assert_true(a.level == GUS_HIT_MEMORY && a.level_if_warm == GUS_HIT_L2);
	a = touch(c, 0, false); /* thrown out in the window, and in L2: nothing is unknown about that */
	assert_true(a.level == GUS_HIT_L2 && a.level_if_warm == GUS_HIT_L2);
	assert_int_equal(gus_cache_totals(c)->level[0].misses[GUS_CACHE_DEMAND], 11);
	assert_int_equal(gus_cache_totals(c)->level[0].unknown, 9);
	assert_int_equal(gus_cache_totals(c)->level[1].unknown, 10);
	gus_cache_free(c);
}

/* What a warm run counts lies between the ends of a cold one. */
static void test_cold_interval(void **state)
{
	struct gus_cache *warm = caches(&plain), *cold = caches(&plain);
	const struct gus_cache_counts *w = &gus_cache_totals(warm)->level[0], *l1 = &gus_cache_totals(cold)->level[0];

	(void)state;
	run_pattern(warm, &patterns[10], 100000, WARM);
	gus_cache_count_anew(warm);
	run_pattern(warm, &patterns[10], 20000, COUNTED);
	run_pattern(cold, &patterns[10], 20000, COUNTED);
	assert_true(l1->unknown > 0 && l1->unknown <= 512); /* a line of L1 is filled for the first time once */
	assert_in_range(w->misses[GUS_CACHE_DEMAND], l1->misses[GUS_CACHE_DEMAND] - l1->unknown,
		l1->misses[GUS_CACHE_DEMAND]);
	gus_cache_free(warm);
	gus_cache_free(cold);
}

/* Every table of the program makes caches, with the sizes that it says. */
static void test_tables(void **state)
{
	size_t n = 0;

	(void)state;
	for (; gus_uarch_builtin_name(n); n++) {
		struct gus_error err = { 0 };
		struct gus_uarch *u = gus_uarch_parse(gus_uarch_builtin_name(n), NULL, 0, &gus_uarch_builtin, 0, &err);
		struct gus_cache_config config;
		struct gus_cache *c;

		assert_non_null(u);
		gus_cache_config_of(&config, u);
		c = caches(&config);
		assert_int_equal(config.level[0].bytes, 1024 * (uint64_t)gus_uarch_value(u, "l1d_size", 32));
		touch(c, 64, true);
		assert_int_equal(touch(c, 64, false).level, GUS_HIT_L1);
		gus_cache_free(c);
		gus_uarch_free(u);
	}
	assert_true(n > 10);
}

/* What makes no caches is refused by what is wrong with it. */
static void test_refused(void **state)
{
	struct gus_cache_config c[12] = { plain, plain, plain, plain, plain, plain, plain, plain, plain, plain, plain,
		plain };
	static const char *const says[12] = { "L2", "ways", "powers of two", "replacement", "strides", "DTLB",
		"powers of two",
		"powers of two", "powers of two", "powers of two", "inclusion", "L1" };
	struct gus_error err;

	(void)state;
	c[0].level[1].bytes = 1000;
	c[1].level[0].ways = 65;
	c[2].line_size = 48;
	c[3].level[2].replacement = GUS_REPLACEMENTS;
	c[4].l1d_strides = 3;
	c[5].dtlb.entries = 0;
	c[6].page_size = 4095;
	c[7].huge_size = 3 * MIB;
	c[8].line_size = 8192;
	c[9].page_size = 4 * MIB;
	c[10].level[1].inclusion = GUS_INCLUSIONS;
	c[11].level[0].bytes = 0;
	for (unsigned i = 0; i < 12; i++) {
		memset(&err, 0, sizeof(err));
		assert_null(gus_cache_new(&c[i], &err));
		assert_int_equal(err.code, GUS_E_USAGE);
		assert_non_null(strstr(err.text, says[i]));
	}
}

/* One set at each level, of 4, 8 and 16 lines; L1 is 0, L2 12, L3 40 and memory 200 away. */
static struct gus_cache_config tiny(void)
{
	struct gus_cache_config config = plain;
	static const uint32_t lines[GUS_CACHE_LEVELS] = { 4, 8, 16 };

	for (unsigned i = 0; i < GUS_CACHE_LEVELS; i++) {
		config.level[i].bytes = 64 * lines[i];
		config.level[i].ways = lines[i];
	}
	return config;
}

/* Fills all sets with lines that nothing follows in their 4 KiB, and which no test asks for again. */
static void make_warm(struct gus_cache *c)
{
	for (uint64_t i = 0; i < 16; i++)
		touch_at(c, (1000 + i) * 4096 - 64, 8, false, 0);
	gus_cache_count_anew(c);
}

/* The arrival of lines that L1's prefetcher asked for: 200 after that, whoever wants them before has to wait for the
 * rest. Each first use asks for the next line. Once the sets have been filled it does not matter whether they were
 * warm. */
static void test_prefetch_arrives(void **state)
{
	(void)state;
	for (unsigned warm = 0; warm < 2; warm++) {
		struct gus_cache_config config = tiny();
		struct gus_cache *c;
		const struct gus_cache_counts *l1;
		struct gus_cache_answer a;

		config.l1d_next_line = 1;
		c = caches(&config);
		l1 = &gus_cache_totals(c)->level[0];
		if (warm)
			make_warm(c);
		a = touch_at(c, 0, 8, false, 1000);
		assert_true(a.level == GUS_HIT_MEMORY && a.wait == 200 && a.wait_if_warm == (warm ? 200 : 0));
		a = touch_at(c, 64, 8, false, 1010); /* asked for at 1000; asks for the next */
		assert_true(a.level == GUS_HIT_L1 && a.pending && a.wait == 190 && a.wait_if_warm == (warm ? 190 : 0));
		assert_true(l1->used == 1 && l1->late == 1 && l1->pending == 1);
		a = touch_at(c, 128, 8, false, 1209);
		assert_true(a.level == GUS_HIT_L1 && a.pending && a.wait == 1 && a.wait_if_warm == (warm ? 1 : 0));
		assert_true(l1->used == 2 && l1->late == 2 && l1->pending == 2);
		a = touch_at(c, 192, 8, false, 1409); /* just there */
		assert_true(a.level == GUS_HIT_L1 && !a.pending && a.wait == 0 && a.wait_if_warm == 0);
		a = touch_at(c, 192, 8, false, 1410); /* its second use is none */
		assert_true(l1->used == 3 && l1->late == 2 && l1->pending == 2);
		assert_int_equal(l1->accesses[GUS_CACHE_PREFETCH], 4);
		gus_cache_free(c);
	}
}

/* From wherever the line is: of lines that lie in L2 and L3 a prefetch takes 12 and 40. */
static void test_prefetch_from(void **state)
{
	static const struct { unsigned others; uint32_t wait; } cases[] = { { 4, 12 }, { 8, 40 }, { 16, 200 } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache_config config = tiny();
		struct gus_cache *c;
		struct gus_cache_answer a;

		config.l1d_next_line = 1;
		c = caches(&config);
		/* The last of its 4 KiB, and then so many others throw it out of the first levels. */
		touch_at(c, 63 * 64, 8, false, 0);
		for (uint64_t i = 0; i < cases[k].others; i++)
			touch_at(c, (1000 + i) * 4096 - 64, 8, false, 0);
		touch_at(c, 62 * 64, 8, false, 5000);
		a = touch_at(c, 63 * 64, 8, false, 5001);
		assert_true(a.level == GUS_HIT_L1 && a.pending);
		assert_int_equal(a.wait, cases[k].wait - 1);
		gus_cache_free(c);
	}
}

/* L2's prefetcher: what it asked for at 1000 is in L2 at 1200, and then 12 from L1. Its use asks for what follows. */
static void test_l2_prefetch_arrives(void **state)
{
	static const struct { uint64_t now; uint32_t wait; bool late; } cases[] = {
		{ 1001, 199, true }, { 1050, 150, true }, { 1187, 13, true }, { 1188, 12, true }, { 1199, 12, true },
		{ 1200, 12, false },
	};

	(void)state;
	for (size_t k = 0; k < 2 * sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache_config config = tiny();
		bool warm = k % 2;
		struct gus_cache *c;
		const struct gus_cache_total *t;
		struct gus_cache_answer a;

		config.l2_next_line = 1;
		c = caches(&config);
		t = gus_cache_totals(c);
		if (warm)
			make_warm(c);
		touch_at(c, 0, 8, false, 1000);
		assert_true(gus_cache_holds(c, 1, 64) && !gus_cache_holds(c, 0, 64) && !gus_cache_holds(c, 1, 128));
		a = touch_at(c, 64, 8, false, cases[k / 2].now);
		assert_true(a.level == GUS_HIT_L2 && a.level_if_warm == (warm ? GUS_HIT_L2 : GUS_HIT_L1) && !a.pending);
		assert_int_equal(a.wait, cases[k / 2].wait);
		assert_int_equal(a.wait_if_warm, warm ? cases[k / 2].wait : 0);
		assert_true(t->level[1].used == 1 && t->level[1].late == cases[k / 2].late &&
			t->level[1].pending == cases[k / 2].late);
		assert_true(gus_cache_holds(c, 1, 128) && !gus_cache_holds(c, 1, 192));
		touch_at(c, 72, 8, false, 3000); /* L2 is not asked, so nothing follows */
		assert_false(gus_cache_holds(c, 1, 192));
		gus_cache_free(c);
	}
}

/* Lines that were prefetched and thrown out before anybody wanted them, at both levels. */
static void test_wasted(void **state)
{
	struct gus_cache_config config = tiny();
	struct gus_cache *c;
	const struct gus_cache_total *t;

	(void)state;
	config.l1d_next_line = config.l2_next_line = 1;
	c = caches(&config);
	t = gus_cache_totals(c);
	touch(c, 0, false); /* brings 64 for L1; and L2, asked for that, brings 128 */
	assert_true(gus_cache_holds(c, 0, 64) && gus_cache_holds(c, 1, 128) && !gus_cache_holds(c, 0, 128));
	for (uint64_t i = 0; i < 3; i++)
		touch(c, (1000 + i) * 4096 - 64, false);
	assert_true(t->level[0].wasted == 0 && t->level[0].evicted == 1); /* 0, the oldest */
	touch(c, 1003 * 4096 - 64, false);
	assert_true(t->level[0].wasted == 1 && t->level[0].evicted == 2);
	assert_int_equal(t->level[1].wasted, 0);
	for (uint64_t i = 4; i < 8; i++)
		touch(c, (1000 + i) * 4096 - 64, false);
	assert_true(t->level[0].wasted == 1 && t->level[1].wasted == 1);
	gus_cache_free(c);
}

/* Strides are those of an instruction: two whose numbers differ in their places of the table do not meet, two a
 * table's size apart do and are never learnt. The same address again and again, or the same line, is no stride to
 * follow. */
static void test_strides_by_instruction(void **state)
{
	static const struct { uint32_t other; uint64_t stride; bool asks; } cases[] = {
		{ 8, 256, true }, { 17, 256, true }, { 31, 256, true }, { 16, 256, false }, { 32, 256, false },
		{ 8, 0, false },
		{ 8, 8, false }, { 8, (uint64_t)-256, true },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache_config config = plain;
		struct gus_cache *c;
		struct gus_cache_access a = { .bytes = 8 };
		struct gus_cache_answer answer;

		config.l1d_strides = 16;
		config.l1d_stride_ahead = 1;
		c = caches(&config);
		for (uint64_t i = 0; i < 10; i++) {
			a.id = i % 2 ? cases[k].other : 0;
			a.address = (i % 2 ? 1 << 20 : 1 << 24) + 2048 + (i / 2) * cases[k].stride;
			gus_cache_access(c, &a, &answer);
		}
		assert_int_equal(gus_cache_totals(c)->level[0].accesses[GUS_CACHE_PREFETCH], cases[k].asks ? 4 : 0);
		gus_cache_free(c);
	}
}

/* One step aside does not unlearn a stride that was surest: it makes two distances that are others, which take as
 * much of the trust, and the first one that is right again is followed. Two steps aside take all of it, and it has to
 * be learnt anew. */
static void test_stride_forgiven(void **state)
{
	static const struct { uint64_t address; unsigned asked; } steps[] = {
		{ 0, 0 }, { 64, 0 }, { 128, 0 }, { 192, 1 }, { 256, 2 }, { 2048, 2 }, { 320, 2 }, { 384, 3 },
		{ 448, 4 },
		{ 3000, 4 }, { 100, 4 }, { 3100, 4 }, { 200, 4 }, { 264, 4 }, { 328, 4 }, { 392, 5 },
	};
	struct gus_cache_config config = plain;
	struct gus_cache *c;

	(void)state;
	config.l1d_strides = 1;
	config.l1d_stride_ahead = 1;
	c = caches(&config);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		touch(c, steps[i].address, false);
		assert_int_equal(gus_cache_totals(c)->level[0].accesses[GUS_CACHE_PREFETCH], steps[i].asked);
	}
	gus_cache_free(c);
}

/* Stores do not teach strides. */
static void test_stores_no_stride(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache *c;

	(void)state;
	config.l1d_strides = 16;
	config.l1d_stride_ahead = 1;
	c = caches(&config);
	for (uint64_t i = 0; i < 16; i++)
		touch(c, i * 256, true);
	assert_int_equal(gus_cache_totals(c)->level[0].accesses[GUS_CACHE_PREFETCH], 0);
	gus_cache_free(c);
}

/* Ranges of huge pages have a first byte and an end, and there may be several. 4 MiB in steps of small pages: 1024
 * misses of the DTLB, or two where the pages are huge. */
static void test_huge_ranges(void **state)
{
	struct gus_cache *c = caches(&plain);
	const struct gus_tlb_counts *n = &gus_cache_totals(c)->dtlb;
	static const struct { uint64_t from; uint64_t misses; } ranges[] = {
		{ 0, 1024 }, { 4 * MIB, 2 }, { 8 * MIB, 1024 }, { 64 * MIB, 2 }, { 68 * MIB, 1024 },
	};

	(void)state;
	gus_cache_huge_pages(c, 4 * MIB, 8 * MIB);
	gus_cache_huge_pages(c, 64 * MIB, 68 * MIB);
	for (size_t k = 0; k < sizeof(ranges) / sizeof(*ranges); k++) {
		gus_cache_count_anew(c);
		for (uint64_t at = 0; at < 4 * MIB; at += 2048)
			touch(c, ranges[k].from + at, false);
		assert_int_equal(n->misses, ranges[k].misses);
	}
	gus_cache_free(c);
}

/* Which TLB a page goes to. Stores have their own if there is one, huge pages likewise; what the second one does not
 * take is a walk, and not counted there. A huge page and a small one of the same number are two. */
static void test_which_tlb(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache *c;
	const struct gus_cache_total *t;

	(void)state;
	config.dtlb_store = (struct gus_tlb_size){ 4, 4 };
	c = caches(&config);
	t = gus_cache_totals(c);
	touch(c, 0, false);
	assert_int_equal(touch(c, 0, true).tlb, GUS_TLB_SECOND); /* its own has not seen it */
	assert_int_equal(touch(c, 0, true).tlb, GUS_TLB_HIT);
	assert_true(t->dtlb.accesses == 3 && t->dtlb.misses == 2 && t->stlb.accesses == 2 && t->stlb.hits == 1);
	gus_cache_free(c);

	config = plain;
	config.stlb_huge = false;
	config.dtlb_huge.entries = 0;
	c = caches(&config);
	t = gus_cache_totals(c);
	gus_cache_huge_pages(c, 2 * MIB, 4 * MIB);
	touch(c, 2 * MIB, false);
	assert_int_equal(touch(c, 4096, false).tlb, GUS_TLB_WALK); /* page 1, as the huge one is number 1 */
	assert_true(t->dtlb.misses == 2 && t->stlb.accesses == 1);
	assert_int_equal(touch(c, 3 * MIB, true).tlb, GUS_TLB_HIT);
	assert_int_equal(touch(c, 4096, true).tlb, GUS_TLB_HIT);
	/* Out of the set of four it is a walk again, as the second one did not take it. */
	for (uint64_t i = 0; i < 4; i++)
		touch(c, (17 + 16 * i) * 4096, false);
	assert_int_equal(touch(c, 2 * MIB, false).tlb, GUS_TLB_WALK);
	gus_cache_free(c);

	config = plain;
	config.stlb.entries = 0;
	c = caches(&config);
	t = gus_cache_totals(c);
	for (uint64_t i = 0; i < 65; i++)
		assert_int_equal(touch(c, i * 4096, false).tlb, GUS_TLB_WALK);
	assert_int_equal(touch(c, 0, false).tlb, GUS_TLB_WALK); /* 16 sets of 4, and the first has had a fifth */
	assert_int_equal(touch(c, 4096, false).tlb, GUS_TLB_HIT);
	assert_true(t->stlb.accesses == 0 && t->dtlb.misses == 66);
	gus_cache_free(c);
}

/* Accesses of several lines: 130 bytes at 63 touch four, an access without a size one, and both pages count each
 * time. */
static void test_long_accesses(void **state)
{
	struct gus_cache *c = caches(&plain);
	const struct gus_cache_total *t = gus_cache_totals(c);
	struct gus_cache_answer a;

	(void)state;
	touch_at(c, 63, 130, false, 0);
	assert_int_equal(t->level[0].accesses[GUS_CACHE_DEMAND], 4);
	touch_at(c, 63, 0, false, 0);
	assert_int_equal(t->level[0].accesses[GUS_CACHE_DEMAND], 5);
	assert_true(t->line_splits == 1 && t->page_splits == 0 && t->requests == 2);
	touch_at(c, 4095, 2, false, 0);
	touch_at(c, 8191, 2, false, 0);
	touch_at(c, 127, 2, false, 0);
	assert_true(t->line_splits == 4 && t->page_splits == 2);
	assert_int_equal(t->dtlb.accesses, 7);
	touch_at(c, 0x40000, 8, false, 10000);
	a = touch_at(c, 0x40000 + 60, 8, false, 10050); /* the first is on its way, the second is asked for */
	assert_true(a.level == GUS_HIT_MEMORY && !a.pending && a.wait == 200);
	a = touch_at(c, 0x40000 + 60, 8, false, 10100); /* 100 and 150 from being there */
	assert_true(a.level == GUS_HIT_L1 && a.pending && a.wait == 150);
	a = touch_at(c, 0x40000 + 60, 8, false, 10250);
	assert_true(a.level == GUS_HIT_L1 && !a.pending && a.wait == 0);
	gus_cache_free(c);
}

/* A line that was only read does not go down into a level that is not exclusive: 0 is in L1 still when others have
 * pushed it out of L2, and when it goes out of L1 it is gone. If it was written it goes into L2. */
static void test_clean_lines_go(void **state)
{
	(void)state;
	for (unsigned written = 0; written < 2; written++) {
		const struct gus_cache_config config = tiny();
		struct gus_cache *c = caches(&config);

		touch(c, 0, written);
		for (uint64_t i = 0; i < 8; i++) {
			touch(c, 4096 * (i + 1), false);
			touch(c, 0, false);
		}
		assert_true(gus_cache_holds(c, 0, 0) && !gus_cache_holds(c, 1, 0));
		for (uint64_t i = 0; i < 4; i++)
			touch(c, 4096 * (i + 5), false); /* the last ones, so that L2 need not be asked for others */
		touch(c, 4096 * 4, false);
		assert_false(gus_cache_holds(c, 0, 0));
		assert_int_equal(gus_cache_holds(c, 1, 0), written);
		gus_cache_free(c);
	}
}

/* A table that says nothing: the round figures. */
static void test_silent_table(void **state)
{
	struct gus_error err = { 0 };
	static const char text[] = "uarch silent isa x86-64 \"Silent\"\nsource me \"made up\"\nport p0 me\n"
		"row add uops 1 latency 1 uses p0:1 source me\n";
	struct gus_uarch *u = gus_uarch_parse("silent", text, sizeof(text) - 1, NULL, 0, &err);
	struct gus_cache_config c;

	(void)state;
	if (!u)
		fail_msg("%s", err.text);
	gus_cache_config_of(&c, u);
	assert_true(c.level[0].bytes == 32 * KIB && c.level[1].bytes == MIB && c.level[2].bytes == 16 * MIB);
	assert_true(c.level[0].ways == 8 && c.level[1].ways == 16 && c.level[2].ways == 16);
	for (unsigned i = 0; i < GUS_CACHE_LEVELS; i++)
		assert_true(c.level[i].replacement == GUS_REPLACE_TREE_PLRU &&
			c.level[i].inclusion == GUS_INCLUSION_NONE);
	assert_true(c.page_size == 4096 && c.huge_size == 2 * MIB);
	assert_true(c.dtlb.entries == 64 && c.dtlb.ways == 64 && c.dtlb_store.entries == 0 &&
		c.dtlb_huge.entries == 32);
	assert_true(c.stlb.entries == 1536 && c.stlb.ways == 8 && c.stlb_huge);
	assert_true(c.l1d_next_line == 1 && c.l1d_strides == 64 && c.l1d_stride_ahead == 2 && c.l2_next_line == 2);
	gus_uarch_free(u);
}

/* Keys whose signs are the same are told apart, in each of 12 ways, which are no whole words of signs; what was removed
 * is not found by the sign that it left behind; and no key is found in the ways that the last word has beyond them. */
static void keys_of_one_sign(void **state)
{
	uint64_t keys[13], evicted, n = 0;
	uint32_t slots[12];
	struct gus_sets s;

	(void)state;
	for (uint64_t key = 1; n < 13; key++)
		if (gus_sets_sign(key) == gus_sets_sign(1))
			keys[n++] = key;
	assert_int_equal(gus_sets_init(&s, "a set", 12, 12, GUS_REPLACE_LRU, NULL), 0);
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(gus_sets_find(&s, keys[i]), GUS_SETS_NONE);
		slots[i] = gus_sets_place(&s, keys[i], &evicted);
	}
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(gus_sets_find(&s, keys[i]), slots[i]);
	assert_int_equal(gus_sets_find(&s, keys[12]), GUS_SETS_NONE);
	gus_sets_remove(&s, slots[5]);
	assert_int_equal(gus_sets_find(&s, keys[5]), GUS_SETS_NONE);
	assert_int_equal(gus_sets_place(&s, keys[12], &evicted), slots[5]);
	assert_int_equal(gus_sets_find(&s, keys[12]), slots[5]);
	gus_sets_free(&s);
}

/* One in four of 256 lines that are asked for is used: whoever wants no more goes on, who wants one in three stops. */
static void test_throttle_bound(void **state)
{
	static const struct { uint32_t throttle; bool stops; } cases[] = { { 3, true }, { 4, false }, { 5, false } };

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gus_cache_config config = plain;
		struct gus_cache *c;

		config.l1d_next_line = 1;
		config.prefetch_throttle = cases[k].throttle;
		c = caches(&config);
		for (uint64_t i = 0; i < 192; i++) { /* a miss asks for the next line, and so does who uses that */
			touch(c, i * 256, false);
			if (i % 3 == 0)
				touch(c, i * 256 + 64, false);
		}
		assert_int_equal(gus_cache_totals(c)->level[0].misses[GUS_CACHE_PREFETCH], 256);
		assert_int_equal(gus_cache_totals(c)->level[0].used, 64);
		touch(c, 192 * 256, false);
		assert_int_equal(gus_cache_holds(c, 0, 192 * 256 + 64), !cases[k].stops);
		gus_cache_free(c);
	}
}

/* Of what is brought along no more is told than there is room for; all of it comes. */
static void test_beside_most(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache_answer a;
	struct gus_cache *c;

	(void)state;
	config.l1d_next_line = 3;
	config.l2_next_line = 3;
	c = caches(&config);
	a = touch(c, 0x1000, false);
	assert_int_equal(a.beside.prefetches_n, GUS_OP_PREFETCHES);
	assert_int_equal(a.beside.written[0] + a.beside.written[1] + a.beside.written[2], 0);
	assert_int_equal(a.beside.prefetches[3].ahead, 4);
	assert_int_equal(a.beside.prefetches[3].into, GUS_HIT_L2);
	for (unsigned i = 1; i <= 6; i++)
		assert_true(gus_cache_holds(c, 1, 0x1000 + i * 64));
	gus_cache_free(c);
}

/* L2's prefetcher follows code, once a line that L2 was asked for; and not what finds its line in L1. */
static void test_code_is_followed(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache_answer a;
	struct gus_cache *c;

	(void)state;
	config.l2_next_line = 2;
	c = caches(&config);
	gus_cache_code_line(c, 0x8000, 0, &a);
	assert_true(gus_cache_holds(c, 1, 0x8040) && gus_cache_holds(c, 1, 0x8080) && !gus_cache_holds(c, 1, 0x80c0));
	touch(c, 0x2000, false);
	gus_cache_code_page(c, 0x8000, &a);
	assert_int_equal(gus_cache_totals(c)->level[1].accesses[GUS_CACHE_PREFETCH], 4);
	gus_cache_code_line(c, 0x8000, 0, &a); /* it is there: nobody asks for more */
	assert_int_equal(a.level, GUS_HIT_L2);
	touch(c, 0x2000, false);
	assert_int_equal(gus_cache_totals(c)->level[1].accesses[GUS_CACHE_PREFETCH], 4);
	gus_cache_code_line(c, 0x8040, 0, &a); /* the first use of one that was prefetched */
	assert_true(gus_cache_holds(c, 1, 0x80c0));
	assert_int_equal(gus_cache_totals(c)->level[1].accesses[GUS_CACHE_PREFETCH], 6);
	gus_cache_free(c);
}

/* Of a window it is not known what was in the caches before it. Where a level has not had as much as it holds, what a
 * prefetcher asks for may have been there: nothing comes along then, or from the nearest level that may have it. */
static void test_beside_if_warm(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache_answer a;
	struct gus_cache *c;

	(void)state;
	config.l1d_next_line = 1;
	c = caches(&config);
	a = touch(c, 0, false);
	assert_int_equal(a.beside.prefetches_n, 1);
	assert_int_equal(a.beside_if_warm.prefetches_n, 0);
	for (uint64_t at = 0; at < 64 * KIB; at += 64) /* L1 is full, a quarter of L2 is */
		touch(c, at, false);
	a = touch(c, MIB, false);
	assert_memory_equal(&a.beside.prefetches[0], (&(struct gus_op_prefetch){ 1, GUS_HIT_MEMORY, GUS_HIT_L1 }), 3);
	assert_int_equal(a.beside_if_warm.prefetches_n, 1);
	assert_memory_equal(&a.beside_if_warm.prefetches[0],
			    (&(struct gus_op_prefetch){ 1, GUS_HIT_L2, GUS_HIT_L1 }), 3);
	for (uint64_t at = 64 * KIB; at < 512 * KIB; at += 64) /* now all of L2 is */
		touch(c, at, false);
	a = touch(c, 2 * MIB, false);
	assert_memory_equal(&a.beside_if_warm.prefetches[0],
			    (&(struct gus_op_prefetch){ 1, GUS_HIT_L3, GUS_HIT_L1 }), 3);
	a = touch(c, 2 * MIB, false);
	assert_false(gus_op_is_beside(&a.beside) || gus_op_is_beside(&a.beside_if_warm));
	gus_cache_free(c);
}

/* What an access brings along is told with it: lines of prefetchers, and dirty ones that go down. */
static void test_beside(void **state)
{
	struct gus_cache_config config = plain;
	struct gus_cache_answer a;
	struct gus_cache *c;

	(void)state;
	config.level[0] = (struct gus_cache_level){ 256, 2, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 0 };
	config.level[1] = (struct gus_cache_level){ 256, 2, GUS_REPLACE_LRU, GUS_INCLUSION_NONE, 12 };
	config.l1d_next_line = 1;
	config.l2_next_line = 2;
	c = caches(&config);
	a = touch(c, 0x1000, false);
	assert_int_equal(a.beside.prefetches_n, 3);
	assert_memory_equal(&a.beside.prefetches[0], (&(struct gus_op_prefetch){ 1, GUS_HIT_MEMORY, GUS_HIT_L1 }), 3);
	assert_memory_equal(&a.beside.prefetches[1], (&(struct gus_op_prefetch){ 2, GUS_HIT_MEMORY, GUS_HIT_L2 }), 3);
	assert_memory_equal(&a.beside.prefetches[2], (&(struct gus_op_prefetch){ 3, GUS_HIT_MEMORY, GUS_HIT_L2 }), 3);
	a = touch(c, 0x1000, false);
	assert_false(gus_op_is_beside(&a.beside));
	gus_cache_free(c);
	config.l1d_next_line = config.l2_next_line = 0;
	c = caches(&config); /* two sets of two ways in L1 and L2 each */
	for (unsigned i = 0; i < 2; i++) {
		a = touch(c, 0x1000 + i * 128, true);
		assert_false(gus_op_is_beside(&a.beside));
	}
	for (unsigned i = 2; i < 8; i++) { /* a dirty one goes to L2, and from the second on one of L2 to L3 */
		a = touch(c, 0x1000 + i * 128, true);
		assert_int_equal(a.beside.prefetches_n, 0);
		assert_int_equal(a.beside.written[0], 1);
		assert_int_equal(a.beside.written[1], i >= 3);
		assert_int_equal(a.beside.written[2], 0);
	}
	gus_cache_code_line(c, 0x8000, 0, &a);
	assert_int_equal(gus_cache_totals(c)->level[1].accesses[GUS_CACHE_CODE], 1);
	assert_false(gus_op_is_beside(&a.beside));
	a = touch(c, 0x1000 + 7 * 128, true);
	assert_false(gus_op_is_beside(&a.beside)); /* what code threw out is not told with it */
	gus_cache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns), cmocka_unit_test(test_random_any_policy),
		cmocka_unit_test(test_replacement),
		cmocka_unit_test(test_random_replacement), cmocka_unit_test(test_inclusion),
		cmocka_unit_test(test_exclusive_capacity),
		cmocka_unit_test(test_write_back), cmocka_unit_test(test_nothing_lost),
		cmocka_unit_test(test_stride_learnt),
		cmocka_unit_test(test_tlb), cmocka_unit_test(test_splits),
		cmocka_unit_test(test_on_its_way), cmocka_unit_test(test_prefetchers),
		cmocka_unit_test(test_l2_prefetcher),
		cmocka_unit_test(test_holds_all),
		cmocka_unit_test(test_cold), cmocka_unit_test(test_cold_interval), cmocka_unit_test(test_tables),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_prefetch_arrives),
		cmocka_unit_test(test_prefetch_from),
		cmocka_unit_test(test_l2_prefetch_arrives), cmocka_unit_test(test_wasted),
		cmocka_unit_test(test_strides_by_instruction), cmocka_unit_test(test_stride_forgiven),
		cmocka_unit_test(test_stores_no_stride), cmocka_unit_test(test_huge_ranges),
		cmocka_unit_test(test_which_tlb),
		cmocka_unit_test(test_long_accesses), cmocka_unit_test(test_silent_table),
		cmocka_unit_test(test_clean_lines_go), cmocka_unit_test(keys_of_one_sign),
		cmocka_unit_test(test_beside), cmocka_unit_test(test_beside_if_warm),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_throttle_bound), cmocka_unit_test(test_beside_most),
		cmocka_unit_test(test_code_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
