/* SPDX-License-Identifier: MIT */
/* Fake words of AMD's IBS come back field by field, where they are vouched for, and as nothing where they are not:
 * on silicon with and without each fault, with each capability. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/records/ibs.h"
#include "tests/words/ibs_words.h"

/* What the decoder makes of a field of the manual's: the value, and the bit that vouches for it if it has one. */
struct meaning { const char *name; uint64_t (*value)(const void *decoded); uint32_t known; };

#define OP(name, expression) \
	static uint64_t op_##name(const void *decoded) \
	{ \
		const struct gus_ibs_op *d = decoded; \
		return (uint64_t)(expression); \
	}
#define FETCH(name, expression) \
	static uint64_t fetch_##name(const void *decoded) \
	{ \
		const struct gus_ibs_fetch *d = decoded; \
		return (uint64_t)(expression); \
	}

/* 0, or the power of two that it is, + 1. */
static uint64_t power(uint64_t value)
{
	return value ? 64 - (uint64_t)__builtin_clzll(value) : 0;
}

OP(max, d->period >> 4 & 0xffff) OP(max_ext, d->period >> 20) OP(count, d->count & 0xfffff)
OP(count_ext, d->count >> 20) OP(valid, d->valid) OP(counts_ops, d->counts_ops) OP(l3, d->l3_miss_only)
OP(least, d->least_latency ? d->least_latency / 128 - 1 : 0) OP(least_on, d->least_latency != 0)
OP(rip, d->rip) OP(complete, d->complete_to_retire) OP(tag, d->tag_to_retire) OP(returns, d->returns)
OP(taken, d->taken) OP(mispredicted, d->mispredicted) OP(branch, d->branch) OP(fused, d->fused)
OP(microcoded, d->microcoded) OP(source, d->source_number & 7) OP(source_high, d->source_number >> 3)
OP(node, d->remote_node) OP(socket, d->remote_socket) OP(owned, d->cache_owned) OP(streaming, d->streaming_store)
OP(load, d->load) OP(store, d->store) OP(l1_tlb, d->l1_tlb_miss) OP(l2_tlb, d->l2_tlb_miss) OP(miss, d->dc_miss)
OP(misaligned, d->misaligned) OP(combining, d->write_combining) OP(uncached, d->uncached) OP(locked, d->locked)
OP(no_mab, d->no_mab) OP(l2, d->l2_miss) OP(prefetch, d->software_prefetch) OP(open, d->misses_open)
OP(latency, d->dc_latency) OP(tlb_latency, d->tlb_latency) OP(linear, d->linear) OP(physical, d->physical)
OP(target, d->target) OP(data4, d->data4)

FETCH(max, d->period >> 4) FETCH(count, d->count >> 4) FETCH(latency, d->latency) FETCH(valid, d->valid)
FETCH(completed, d->completed) FETCH(miss, d->ic_miss) FETCH(l1_tlb, d->l1_tlb_miss) FETCH(l2_tlb, d->l2_tlb_miss)
FETCH(random, d->randomised) FETCH(l2, d->l2_miss) FETCH(only, d->l3_miss_only) FETCH(oc, d->oc_miss)
FETCH(l3, d->l3_miss) FETCH(linear, d->linear) FETCH(physical, d->physical) FETCH(refill, d->itlb_latency)

static const struct meaning op_meanings[] = {
	{ "MaxCnt", op_max, 0 }, { "MaxCntExt", op_max_ext, 0 }, { "CurCnt", op_count, 0 },
	{ "CurCntExt", op_count_ext, 0 }, { "Val", op_valid, 0 }, { "CntCtl", op_counts_ops, 0 },
	{ "L3MissOnly", op_l3, 0 }, { "LdLatThrsh", op_least, 0 }, { "LdLatEn", op_least_on, 0 },
	{ "Rip", op_rip, GUS_IBS_RIP }, { "CompToRetCtr", op_complete, 0 }, { "TagToRetCtr", op_tag, 0 },
	{ "OpReturn", op_returns, 0 }, { "OpBrnTaken", op_taken, 0 }, { "OpBrnMisp", op_mispredicted, 0 },
	{ "BrnRet", op_branch, GUS_IBS_BRANCH }, { "BrnFuse", op_fused, 0 }, { "Microcode", op_microcoded, 0 },
	{ "DataSrcLo", op_source, 0 }, { "DataSrcHi", op_source_high, 0 }, { "RmtNode", op_node, GUS_IBS_SOURCE },
	{ "RmtSocket", op_socket, 0 }, { "CacheHitSt", op_owned, GUS_IBS_HIT_STATE }, { "StrmSt", op_streaming, 0 },
	{ "LdOp", op_load, 0 }, { "StOp", op_store, 0 }, { "DcL1TlbMiss", op_l1_tlb, GUS_IBS_TLB },
	{ "DcL2TlbMiss", op_l2_tlb, GUS_IBS_TLB }, { "DcMiss", op_miss, GUS_IBS_CACHE },
	{ "DcMisAcc", op_misaligned, 0 }, { "DcWcMemAcc", op_combining, 0 }, { "DcUcMemAcc", op_uncached, 0 },
	{ "DcLockedOp", op_locked, 0 }, { "DcMissNoMabAlloc", op_no_mab, GUS_IBS_NO_MAB },
	{ "L2Miss", op_l2, GUS_IBS_L2 }, { "SwPf", op_prefetch, 0 },
	{ "OpDcMissOpenMemReqs", op_open, GUS_IBS_MISSES_OPEN }, { "DcMissLat", op_latency, GUS_IBS_DC_LATENCY },
	{ "TlbRefillLat", op_tlb_latency, GUS_IBS_TLB_LATENCY }, { "DcLinAd", op_linear, GUS_IBS_LINEAR },
	{ "OpData4", op_data4, 0 }, { NULL, NULL, 0 },
};

/* Those that are none where they are 0. */
static const struct meaning op_if_any[] = {
	{ "DcPhysAd", op_physical, GUS_IBS_PHYSICAL }, { "BrTarget", op_target, GUS_IBS_TARGET }, { NULL, NULL, 0 },
};

static const struct meaning fetch_meanings[] = {
	{ "MaxCnt", fetch_max, 0 }, { "Cnt", fetch_count, 0 }, { "Lat", fetch_latency, GUS_IBS_FETCH_LATENCY },
	{ "Val", fetch_valid, 0 }, { "Comp", fetch_completed, 0 }, { "IcMiss", fetch_miss, GUS_IBS_FETCH_CACHE },
	{ "L1TlbMiss", fetch_l1_tlb, GUS_IBS_FETCH_TLB }, { "L2TlbMiss", fetch_l2_tlb, GUS_IBS_FETCH_TLB },
	{ "RandEn", fetch_random, 0 }, { "L2Miss", fetch_l2, GUS_IBS_FETCH_L2 }, { "L3MissOnly", fetch_only, 0 },
	{ "FetchOcMiss", fetch_oc, GUS_IBS_FETCH_L3 }, { "FetchL3Miss", fetch_l3, GUS_IBS_FETCH_L3 },
	{ "FetchLinAd", fetch_linear, GUS_IBS_FETCH_LINEAR },
	{ "ItlbRefillLat", fetch_refill, GUS_IBS_FETCH_REFILL },
	{ NULL, NULL, 0 },
};
static const struct meaning fetch_if_any[] = {
	{ "FetchPhysAd", fetch_physical, GUS_IBS_FETCH_PHYSICAL }, { NULL, NULL, 0 },
};

static const struct gus_ibs_cpu cpus[] = { { 0, 0 }, { 0x10, 4 }, { 0x15, 2 }, { 0x17, 0x31 }, { 0x19, 0x01 },
	{ 0x19, 0x0f }, { 0x19, 0x10 }, { 0x19, 0x11 }, { 0x19, 0x1f }, { 0x19, 0x20 }, { 0x19, 0x5f }, { 0x19, 0x60 },
	{ 0x1a, 0x02 }, { 0x1a, 0x44 } };
enum { CPUS = sizeof(cpus) / sizeof(*cpus) };

static const char *needs_of(const struct words_ibs *w, const char *name)
{
	for (const struct words_ibs_field *f = w->fields; f->name; f++)
		if (!strcmp(f->name, name))
			return f->needs;
	fail_msg("no field %s", name);
	return NULL;
}

static void check(const struct words_ibs *w, const void *decoded, uint32_t known, const struct meaning *m, bool if_any)
{
	for (; m->name; m++) {
		uint64_t value = words_ibs_get(w, m->name), is = m->value(decoded);
		bool told = words_ibs_holds(w, needs_of(w, m->name)) && (!if_any || value);

		if (is != (told ? value : 0) || (m->known && !(known & m->known) == told))
			fail_msg("%s of %x/%x, caps %x: %#llx, told %d (%s), is %#llx, known %x", m->name, w->family,
				 w->model, w->caps, (unsigned long long)value, told, needs_of(w, m->name),
				 (unsigned long long)is, known);
	}
}

/* The page, of which five fields tell; and none where none of these is vouched for. */
static uint64_t page_of(const struct words_ibs *w)
{
	static const char *const of_2m[] = { "DcL1TlbHit2M", "DcL2TlbHit2M" }, *const of_1g[] = { "DcL1TlbHit1G",
		"DcL2TlbHit1G" };
	static const uint64_t by_number[4] = { 4096, 2 << 20, 1 << 30, 0 };

	if (words_ibs_holds(w, needs_of(w, "DcPageSize")))
		return by_number[words_ibs_get(w, "DcPageSize")];
	for (unsigned level = 0; level < 2; level++)
		if (words_ibs_holds(w, needs_of(w, of_2m[level])))
			return words_ibs_get(w, of_1g[level]) ? 1 << 30 :
				words_ibs_get(w, of_2m[level]) ? 2 << 20 : 4096;
	return 0;
}

static void check_op(const struct words_ibs *w)
{
	const struct gus_ibs_cpu cpu = { w->family, w->model };
	struct words_bytes b = { .n = 0 };
	struct gus_ibs_op op;
	uint64_t width = words_ibs_get(w, "OpMemWidth");
	bool access = words_ibs_get(w, "LdOp") || words_ibs_get(w, "StOp");

	words_ibs_bytes(w, &b);
	assert_true(gus_ibs_op_parse(b.v, b.n, &cpu, &op));
	assert_int_equal(op.caps, w->caps);
	check(w, &op, op.known, op_meanings, false);
	check(w, &op, op.known, op_if_any, true);
	assert_int_equal(power(op.bytes), access && width < 8 ? width : 0);
	/* An L2 that was asked though L1 was not is no state that hardware has; nobody knows its page. */
	if (words_ibs_get(w, "DcL2TlbMiss") && !words_ibs_get(w, "DcL1TlbMiss"))
		return;
	assert_int_equal(op.page_bytes, page_of(w));
	assert_int_equal(!!(op.known & GUS_IBS_PAGE), page_of(w) != 0);
}

static void check_fetch(const struct words_ibs *w)
{
	static const uint64_t pages[2][4] = { { 4096, 2 << 20, 1 << 30, 0 }, { 4096, 16384, 2 << 20, 1 << 30 } };
	const struct gus_ibs_cpu cpu = { w->family, w->model };
	bool milan = w->family == 0x19 && w->model < 0x10;
	struct words_bytes b = { .n = 0 };
	struct gus_ibs_fetch f;
	uint64_t page = words_ibs_holds(w, needs_of(w, "L1TlbPgSz")) ? pages[milan][words_ibs_get(w, "L1TlbPgSz")] : 0;

	words_ibs_bytes(w, &b);
	assert_true(gus_ibs_fetch_parse(b.v, b.n, &cpu, &f));
	check(w, &f, f.known, fetch_meanings, false);
	check(w, &f, f.known, fetch_if_any, true);
	assert_int_equal(f.page_bytes, page);
	assert_int_equal(!!(f.known & GUS_IBS_FETCH_PAGE), page != 0);
}

static void check_words(const struct words_ibs *w)
{
	(w->fields == words_ibs_op ? check_op : check_fetch)(w);
}

static uint64_t all_ones(const char *bits)
{
	return UINT64_MAX >> (64 - words_width(bits));
}

/* A word with what a field needs and nothing else: of alternatives the first one. */
static void satisfy(struct words_ibs *w, const char *needs)
{
	char text[256], *rest = text, *one;

	snprintf(text, sizeof(text), "%s", needs);
	while ((one = strsep(&rest, ",")) != NULL) {
		one[strcspn(one, "|")] = 0;
		for (const struct words_ibs_field *f = w->fields; f->name; f++)
			if (!strcmp(f->name, one))
				words_ibs_set(w, one, 1);
	}
}

/* Each field alone, and with what it needs, at its ends and in the middle. */
static void each_alone(const struct words_ibs_field *fields)
{
	for (const struct words_ibs_field *f = fields; f->name; f++)
		for (size_t i = 0; i < CPUS; i++)
			for (unsigned caps = 0; caps < 2; caps++) {
				struct words_ibs w = { .fields = fields, .caps = caps ? 0x81fff : 0,
					.family = cpus[i].family, .model = cpus[i].model };

				check_words(&w);
				words_ibs_set(&w, f->name, all_ones(f->bits));
				check_words(&w);
				satisfy(&w, f->needs);
				check_words(&w);
				words_ibs_set(&w, f->name, all_ones(f->bits) / 3 + 1);
				check_words(&w);
			}
}

/* All of them at random, each 0 or 1 rather than large in half of the words, so that conditions come true. */
static void at_random(const struct words_ibs_field *fields, uint64_t seed)
{
	struct words_random r = { seed };

	for (unsigned i = 0; i < 20000; i++) {
		const struct gus_ibs_cpu *cpu = &cpus[words_one_of(&r, CPUS)];
		struct words_ibs w = { .fields = fields, .caps = (uint32_t)words_random(&r) & 0xfffff,
			.family = cpu->family, .model = cpu->model };

		for (const struct words_ibs_field *f = fields; f->name; f++)
			words_ibs_set(&w, f->name, i & 1 ? words_random(&r) : words_one_of(&r, 3));
		check_words(&w);
	}
}

static void test_ops_alone(void **state)
{
	(void)state;
	each_alone(words_ibs_op);
}

static void test_ops_at_random(void **state)
{
	(void)state;
	at_random(words_ibs_op, 1);
}

static void test_fetches_alone(void **state)
{
	(void)state;
	each_alone(words_ibs_fetch);
}

static void test_fetches_at_random(void **state)
{
	(void)state;
	at_random(words_ibs_fetch, 2);
}

/* Where the data came from, by the number and by what hardware it is. */
static void test_sources(void **state)
{
	static const char *const since_zen_4[32] = { "none", "this CCX", "another CCX of the node", "DRAM", "reserved",
		"another CCX of another node", "persistent", "I/O", "extension", "reserved", "reserved", "reserved",
		"peer" };
	static const char *const zen[8] = { "none", "reserved", "this CCX", "DRAM", "another CCX of another node",
		"reserved", "reserved", "I/O" };
	static const char *const names[] = { [GUS_IBS_SOURCE_NONE] = "none", [GUS_IBS_SOURCE_LOCAL_CACHE] = "this CCX",
		[GUS_IBS_SOURCE_NEAR_CACHE] = "another CCX of the node",
		[GUS_IBS_SOURCE_FAR_CACHE] = "another CCX of another node", [GUS_IBS_SOURCE_DRAM] = "DRAM",
		[GUS_IBS_SOURCE_PERSISTENT] = "persistent", [GUS_IBS_SOURCE_IO] = "I/O",
		[GUS_IBS_SOURCE_EXTENSION] = "extension", [GUS_IBS_SOURCE_PEER] = "peer",
		[GUS_IBS_SOURCE_RESERVED] = "reserved" };

	(void)state;
	for (unsigned n = 0; n < 64; n++) {
		bool zen4 = n & 32;
		const struct gus_ibs_cpu cpu = { zen4 ? 0x1a : 0x17, 2 };
		struct words_ibs w = { .fields = words_ibs_op, .caps = zen4 ? 0xbff : 0x3ff };
		struct words_bytes b = { .n = 0 };
		const char *is = zen4 ? since_zen_4[n & 31] : zen[n & 7];
		struct gus_ibs_op op;

		words_ibs_set(&w, "LdOp", 1);
		words_ibs_set(&w, "DcMiss", 1);
		words_ibs_set(&w, "DataSrcLo", n & 7);
		words_ibs_set(&w, "DataSrcHi", n >> 3 & 3);
		words_ibs_bytes(&w, &b);
		assert_true(gus_ibs_op_parse(b.v, b.n, &cpu, &op));
		assert_string_equal(names[op.source], is ? is : "reserved");
	}
}

/* Cut at each byte it is no sample; with any byte changed it still is one, and nothing is read beyond it. */
static void cut_and_changed(struct words_ibs *w)
{
	const struct gus_ibs_cpu cpu = { w->family, w->model };
	struct words_bytes b = { .n = 0 };
	bool op = w->fields == words_ibs_op;
	struct gus_ibs_fetch fetch;
	struct gus_ibs_op parsed;

	words_ibs_bytes(w, &b);
	for (size_t n = 0; n <= b.n; n++) {
		uint8_t *own = malloc(n ? n : 1);

		memcpy(own, b.v, n);
		assert_int_equal(op ? gus_ibs_op_parse(own, n, &cpu, &parsed) :
				 gus_ibs_fetch_parse(own, n, &cpu, &fetch), n == b.n);
		free(own);
	}
	for (size_t at = 4; at < b.n; at++) /* the capability word says how many registers there are */
		for (unsigned flip = 1; flip < 256; flip++) {
			uint8_t *own = malloc(b.n);

			memcpy(own, b.v, b.n);
			own[at] ^= (uint8_t)flip;
			assert_true(op ? gus_ibs_op_parse(own, b.n, &cpu, &parsed) :
				    gus_ibs_fetch_parse(own, b.n, &cpu, &fetch));
			free(own);
		}
}

static void test_cut_and_changed(void **state)
{
	struct words_random r = { 3 };

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct words_ibs w = { .fields = i & 1 ? words_ibs_op : words_ibs_fetch, .caps = i & 2 ? 0xfff : 0x1f,
			.family = 0x19, .model = i & 4 ? 1 : 0x11 };

		for (const struct words_ibs_field *f = w.fields; f->name; f++)
			words_ibs_set(&w, f->name, words_random(&r));
		cut_and_changed(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ops_alone),
		cmocka_unit_test(test_ops_at_random),
		cmocka_unit_test(test_fetches_alone),
		cmocka_unit_test(test_fetches_at_random),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_cut_and_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
