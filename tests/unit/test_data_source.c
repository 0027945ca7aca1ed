/* SPDX-License-Identifier: MIT */
/* The ABI's word of where data were: what is put into one comes back, and every word says something of ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/data_source.h"

static void assert_same(const struct gus_data_source *a, const struct gus_data_source *b)
{
	assert_int_equal(a->does, b->does);
	assert_int_equal(a->level, b->level);
	assert_int_equal(a->missed, b->missed);
	assert_int_equal(a->remote, b->remote);
	assert_int_equal(a->hops, b->hops);
	assert_int_equal(a->snoop, b->snoop);
	assert_int_equal(a->tlb, b->tlb);
	assert_int_equal(a->lock_told, b->lock_told);
	assert_int_equal(a->locked, b->locked);
	assert_int_equal(a->blocked_told, b->blocked_told);
	assert_int_equal(a->blocked, b->blocked);
}

static void assert_returns(struct gus_data_source d)
{
	struct gus_data_source back = gus_data_source_of_kernel(gus_data_source_word(&d));

	assert_same(&back, &d);
}

/* Each level, near and as far away as there are hops for; "any cache" of somebody's is no longer any. */
static void test_levels_return(void **state)
{
	(void)state;
	for (uint8_t level = GUS_DATA_L0; level < GUS_DATA_LEVELS; level++)
		for (uint8_t hops = 0; hops <= 4; hops++) {
			bool remote = hops != 0 || level == GUS_DATA_OTHER_CACHE;

			if ((level == GUS_DATA_ANY_CACHE && remote) || (level == GUS_DATA_CORE_CACHE && hops != 1))
				continue;
			assert_returns((struct gus_data_source){ .does = GUS_DATA_LOADS, .level = level, .hops = hops,
				.remote = remote, .missed = hops == 2 });
		}
	assert_returns((struct gus_data_source){ .does = GUS_DATA_LOADS, .level = GUS_DATA_CORE_CACHE, .hops = 1 });
	assert_returns((struct gus_data_source){ .does = GUS_DATA_LOADS, .remote = true, .hops = 3 });
}

static void test_others_return(void **state)
{
	(void)state;
	for (uint8_t does = 1; does < 16; does++)
		assert_returns((struct gus_data_source){ .does = does });
	for (uint8_t snoop = 0; snoop <= GUS_DATA_SNOOP_MODIFIED; snoop++)
		assert_returns((struct gus_data_source){ .does = GUS_DATA_LOADS, .snoop = snoop });
	for (uint8_t tlb = 0; tlb <= GUS_DATA_TLB_WALK; tlb++)
		assert_returns((struct gus_data_source){ .does = GUS_DATA_STORES, .tlb = tlb });
	for (uint8_t blocked = 1; blocked < 4; blocked++)
		assert_returns((struct gus_data_source){ .does = GUS_DATA_LOADS, .blocked_told = true,
			.blocked = blocked });
	assert_returns((struct gus_data_source){ .does = GUS_DATA_LOADS, .lock_told = true });
	assert_returns((struct gus_data_source){ .does = GUS_DATA_LOADS, .lock_told = true, .locked = true });
}

/* Words of an Alder Lake, as perf decodes them, and of an access of which nothing else is known. */
static void test_words(void **state)
{
	static const struct { uint64_t word; struct gus_data_source d; } cases[] = {
		{ 0x10268100142, { .does = GUS_DATA_LOADS, .level = GUS_DATA_L1, .snoop = GUS_DATA_SNOOP_NONE,
			.tlb = GUS_DATA_TLB_EITHER, .lock_told = true } },
		{ 0x1026a100142, { .does = GUS_DATA_LOADS, .level = GUS_DATA_L1, .snoop = GUS_DATA_SNOOP_NONE,
			.tlb = GUS_DATA_TLB_EITHER, .lock_told = true, .locked = true } },
		{ 0x10668100842, { .does = GUS_DATA_LOADS, .level = GUS_DATA_L3, .snoop = GUS_DATA_SNOOP_NONE,
			.tlb = GUS_DATA_TLB_EITHER, .lock_told = true } },
		{ 0x11868100242, { .does = GUS_DATA_LOADS, .level = GUS_DATA_LINE_BUFFER,
			.snoop = GUS_DATA_SNOOP_NONE, .tlb = GUS_DATA_TLB_EITHER, .lock_told = true } },
		{ 0x20268100142, { .does = GUS_DATA_LOADS, .level = GUS_DATA_L1, .snoop = GUS_DATA_SNOOP_NONE,
			.tlb = GUS_DATA_TLB_EITHER, .lock_told = true, .blocked_told = true,
			.blocked = GUS_DATA_BLOCKED_DATA } },
		{ 0x11e05080024, { .does = GUS_DATA_STORES } },
	};
	const struct gus_data_source none = { .level = GUS_DATA_L1 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_data_source d = gus_data_source_of_kernel(cases[i].word);

		assert_same(&d, &cases[i].d);
		assert_true(gus_data_source_word(&d) == cases[i].word);
	}
	assert_true(gus_data_source_word(&none) == 0);
}

/* How each level is written, as linux/perf_event.h has it: by a bit of lvl, if it has one, and by lvl_num; and where it
 * is far away. Readers that know one of the two alone read the same. */
static void test_written(void **state)
{
	enum { NA = 1, HIT = 2, L1 = 8, LFB = 0x10, L2 = 0x20, L3 = 0x40, RAM = 0x80, RAM_1 = 0x100, CACHE_1 = 0x400,
		CACHE_2 = 0x800, IO = 0x1000, UNCACHED = 0x2000 };
	static const struct { uint8_t level, hops; bool remote; unsigned lvl, number; } cases[] = {
		{ GUS_DATA_LEVEL_UNKNOWN, 0, false, NA, 15 }, { GUS_DATA_L0, 0, false, HIT, 7 },
		{ GUS_DATA_L1, 0, false, HIT | L1, 1 }, { GUS_DATA_LINE_BUFFER, 0, false, HIT | LFB, 12 },
		{ GUS_DATA_L2, 0, false, HIT | L2, 2 }, { GUS_DATA_L2_MISS_BUFFER, 0, false, HIT, 5 },
		{ GUS_DATA_CORE_CACHE, 1, true, HIT, 11 }, { GUS_DATA_L3, 0, false, HIT | L3, 3 },
		{ GUS_DATA_L4, 0, false, HIT, 4 }, { GUS_DATA_MEMORY_SIDE, 0, false, HIT, 6 },
		{ GUS_DATA_OTHER_CACHE, 1, true, HIT | CACHE_1, 11 },
		{ GUS_DATA_OTHER_CACHE, 2, true, HIT | CACHE_2, 11 }, { GUS_DATA_ANY_CACHE, 0, false, HIT, 11 },
		{ GUS_DATA_RAM, 0, false, HIT | RAM, 13 }, { GUS_DATA_RAM, 2, true, HIT | RAM_1, 13 },
		{ GUS_DATA_PERSISTENT, 0, false, HIT, 14 }, { GUS_DATA_EXTENSION, 0, false, HIT, 9 },
		{ GUS_DATA_IO, 0, false, HIT | IO, 10 }, { GUS_DATA_UNCACHED, 0, false, HIT | UNCACHED, 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_data_source d = { .does = GUS_DATA_LOADS, .level = cases[i].level, .hops = cases[i].hops,
			.remote = cases[i].remote };
		uint64_t word = gus_data_source_word(&d);

		assert_int_equal(word >> 5 & 0x3fff, cases[i].lvl);
		assert_int_equal(word >> 33 & 15, cases[i].number);
		assert_int_equal(word >> 37 & 1, cases[i].remote);
		assert_int_equal(word >> 43, cases[i].hops);
	}
}

static void test_snoops_written(void **state)
{
	static const struct { uint8_t snoop; unsigned bits, beyond; } cases[] = {
		{ GUS_DATA_SNOOP_UNKNOWN, 1, 0 }, { GUS_DATA_SNOOP_NONE, 2, 0 }, { GUS_DATA_SNOOP_HIT, 4, 0 },
		{ GUS_DATA_SNOOP_MISS, 8, 0 }, { GUS_DATA_SNOOP_MODIFIED, 16, 0 }, { GUS_DATA_SNOOP_FORWARD, 0, 1 },
		{ GUS_DATA_SNOOP_PEER, 0, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_data_source d = { .does = GUS_DATA_LOADS, .snoop = cases[i].snoop };

		assert_int_equal(gus_data_source_word(&d) >> 19 & 31, cases[i].bits);
		assert_int_equal(gus_data_source_word(&d) >> 38 & 3, cases[i].beyond);
	}
}

/* "Any cache" with a bit that says whose, as AMD's words have it, stays that one's; a lock that nobody knows. */
static void test_bits_beside_numbers(void **state)
{
	const uint64_t any = UINT64_C(11) << 33, load = 2, remote = UINT64_C(1) << 37, near = UINT64_C(1) << 43;
	struct gus_data_source d = gus_data_source_of_kernel(load | (UINT64_C(1) << 15 | 2 << 5) | any | remote | near);

	(void)state;
	assert_int_equal(d.level, GUS_DATA_OTHER_CACHE);
	assert_true(d.remote);
	assert_int_equal(d.hops, 1);
	assert_int_equal(gus_data_source_of_kernel(load | any | near).level, GUS_DATA_CORE_CACHE);
	assert_int_equal(gus_data_source_of_kernel(load | any | remote).level, GUS_DATA_OTHER_CACHE);
	assert_int_equal(gus_data_source_of_kernel(load | any).level, GUS_DATA_ANY_CACHE);
	assert_int_equal(gus_data_source_of_kernel(load | UINT64_C(31) << 43).hops, 7); /* what is behind is no hop */
	assert_int_equal(gus_data_source_of_kernel(load | (UINT64_C(4) | 8) << 26).tlb, GUS_DATA_TLB_UNKNOWN);
	d = gus_data_source_of_kernel(load | UINT64_C(3) << 24);
	assert_false(d.lock_told || d.locked);
}

/* Any word has a meaning, and that meaning one word. */
static void test_any_word(void **state)
{
	uint64_t word = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct gus_data_source d, back;

		word ^= word << 13;
		word ^= word >> 7;
		word ^= word << 17;
		d = gus_data_source_of_kernel(word);
		back = gus_data_source_of_kernel(gus_data_source_word(&d));
		back = gus_data_source_of_kernel(gus_data_source_word(&back));
		assert_int_equal(gus_data_source_word(&back), gus_data_source_word(&d));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels_return),
		cmocka_unit_test(test_others_return),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_snoops_written),
		cmocka_unit_test(test_bits_beside_numbers),
		cmocka_unit_test(test_any_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
