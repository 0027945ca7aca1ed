/* SPDX-License-Identifier: MIT */
/* Accesses to memory as rows tell them apart, of samples that are made one by one. The words of data sources are put
 * together with the macros of the kernel's header. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/touch.h"
#include "base/limits.h"
#include "proto/data_source.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"
#include "tests/unit/made_mapping.h"

#define HEAP 0x500000ull
#define FILE_AT 0x700000ull
#define LOAD ((uint64_t)PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L2) | PERF_MEM_S(SNOOP, HITM) | \
	PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L2) | PERF_MEM_S(LOCK, LOCKED))
#define STORE ((uint64_t)PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, L1))
#define NOT_ONE ((uint64_t)PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA))

struct made { struct gus_space *space; struct gus_symbols *symbols; struct gus_touches touches; };

/* Processes 1 and 2 have a heap, and a file at other addresses each: shared from its page 2 on. */
static int setup(void **state)
{
	static const struct made_mapping maps[] = {
		{ 1, 1, HEAP, 0x100000, 0, "[heap]" }, { 1, 2, HEAP, 0x100000, 0, "[heap]" },
		{ .time = 1, .pid = 1, .start = FILE_AT, .length = 0x10000, .offset = 0x2000, .path = "/data/x",
		  .shared = true },
		{ .time = 1, .pid = 2, .start = FILE_AT + 0x100000, .length = 0x10000, .offset = 0x2000,
		  .path = "/data/x", .shared = true },
		{ .time = 1, .pid = 2, .start = FILE_AT, .length = 0x10000, .offset = 0, .path = "/data/y" },
		{ .time = 1, .pid = 1, .start = 0x900000, .length = 0x10000, .path = "/dev/zero (deleted)",
		  .shared = true },
	};
	struct made *m = calloc(1, sizeof(*m));

	m->space = gus_space_new();
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		struct made_mmap r;

		gus_space_add(m->space, made_mmap(&r, &maps[i]));
	}
	gus_space_ready(m->space);
	m->symbols = gus_symbols_new(&(struct gus_symbols_options){ 0 }, NULL);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	gus_touches_free(&m->touches);
	gus_symbols_free(m->symbols);
	gus_space_free(m->space);
	free(m);
	return 0;
}

static void ask(struct made *m, unsigned by, const Gusprof__Header *header)
{
	gus_touches_free(&m->touches);
	gus_touches_init(&m->touches, by, header);
}

static const struct gus_touch_key *key_of(struct made *m, struct gus_sample s)
{
	uint32_t number;

	s.time = 5;
	s.mode = s.mode ? s.mode : GUS_MODE_USER;
	s.pid = s.pid ? s.pid : 1;
	number = gus_touch_of(&m->touches, m->space, m->symbols, &s);
	return &m->touches.list.v[number].key;
}

static void what_a_sample_tells(void **state)
{
	static const struct { struct gus_sample s; bool told, placed; uint64_t cycles; } cases[] = {
		{ { 0 }, false, false, 0 },
		{ { .address = 9 }, true, true, 0 },
		{ { .told = GUS_TOLD_ADDRESS }, false, false, 0 }, /* 0 is what the kernel writes for none */
		{ { .data_source = LOAD, .told = GUS_TOLD_ADDRESS }, true, true, 0 }, /* at 0 */
		{ { .data_source = LOAD }, true, false, 0 },
		{ { .data_source = LOAD, .address = 9, .weight = 7, .told = GUS_TOLD_WEIGHT }, true, true, 7 },
		{ { .data_source = LOAD, .weight = 0, .told = GUS_TOLD_WEIGHT }, true, false, 0 },
		{ { .data_source = LOAD, .weight = 7 }, true, false, 0 },
		{ { .data_source = STORE, .weight = 7, .told = GUS_TOLD_WEIGHT }, true, false, 0 },
		{ { .weight = 7, .told = GUS_TOLD_WEIGHT }, false, false, 0 },
		{ { .data_source = NOT_ONE, .address = 9, .told = GUS_TOLD_ADDRESS }, false, false, 0 },
	};
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t address, cycles;

		ask(m, GUS_BY_DATA_LINE, NULL);
		assert_int_equal(gus_touch_told(&m->touches, &cases[i].s), cases[i].told);
		assert_int_equal(gus_touch_address(&m->touches, &cases[i].s, &address), cases[i].placed);
		assert_true(address == cases[i].s.address);
		assert_int_equal(gus_touch_latency(&cases[i].s, &cycles), cases[i].cycles != 0);
		if (cases[i].cycles)
			assert_true(cycles == cases[i].cycles);
	}
}

/* Faults and breakpoints are of an address, though the kernel's word says that nobody knows of an access. */
static void an_event_may_be_of_accesses(void **state)
{
	static const struct { uint32_t type; uint64_t config; bool of_one; } cases[] = {
		{ 1, 2, true }, { 1, 5, true }, { 1, 6, true }, { 1, 7, true }, { 1, 8, true }, { 5, 0, true },
		{ 1, 0, false }, { 1, 1, false }, { 1, 3, false }, { 1, 4, false }, { 1, 9, false },
		{ 0, 2, false }, { 2, 5, false }, { 4, 2, false }, { 10, 6, false },
	};
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Event other = GUSPROF__EVENT__INIT, event = GUSPROF__EVENT__INIT;
		Gusprof__Event *events[] = { &other, &event };
		struct gus_sample s = { .event = 1, .address = HEAP, .data_source = NOT_ONE };
		uint64_t address;

		other.type = 4;
		event.type = cases[i].type;
		event.config = cases[i].config;
		header.events = events;
		header.n_events = 2;
		ask(m, GUS_BY_DATA_SYMBOL, &header);
		assert_int_equal(gus_touch_address(&m->touches, &s, &address), cases[i].of_one);
		assert_int_equal(gus_touch_told(&m->touches, &s), cases[i].of_one);
		assert_int_equal(key_of(m, s)->addressed, cases[i].of_one);
		s.event = 2; /* which there is not */
		assert_false(gus_touch_told(&m->touches, &s));
		s = (struct gus_sample){ .event = 1, .told = GUS_TOLD_ADDRESS, .data_source = NOT_ONE };
		assert_int_equal(gus_touch_told(&m->touches, &s), cases[i].of_one); /* at 0 */
		s.told = 0;
		assert_false(gus_touch_told(&m->touches, &s));
		ask(m, GUS_BY_DATA_SOURCE, &header);
		assert_false(gus_touch_told(&m->touches, &(struct gus_sample){ .event = 1, .address = HEAP }));
	}
}

/* What is not asked for makes no difference. */
static void only_what_is_asked_is_kept(void **state)
{
	static const struct { unsigned by; struct gus_touch_key key; } cases[] = {
		{ GUS_BY_DATA_SOURCE, { .level = GUS_DATA_L2 } },
		{ GUS_BY_SNOOP, { .snoop = GUS_DATA_SNOOP_MODIFIED } }, { GUS_BY_TLB, { .tlb = GUS_DATA_TLB_SECOND } },
		{ GUS_BY_ACCESS, { .does = GUS_DATA_LOADS } }, { GUS_BY_LOCKED, { .lock = GUS_TOUCH_LOCKED } },
		{ GUS_BY_DATA_LINE, { .addressed = 1, .address = HEAP + 0x1040, .bytes = 64, .pid = 1, .module = 2 } },
		{ GUS_BY_DATA_PAGE, { .addressed = 1, .address = HEAP + 0x1000, .bytes = 4096, .pid = 1,
				      .module = 2 } },
		{ GUS_BY_DATA_MODULE, { .addressed = 1, .module = 2 } },
		{ GUS_BY_DATA_SYMBOL, { .addressed = 1, .module = 2 } },
		{ GUS_BY_FUNCTION | GUS_BY_THREAD, { 0 } },
	};
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ask(m, cases[i].by, NULL);
		assert_memory_equal(key_of(m, (struct gus_sample){ .address = HEAP + 0x107f, .data_source = LOAD }),
				    &cases[i].key, sizeof(cases[i].key));
		/* And what tells nothing is number 0. */
		assert_ptr_equal(key_of(m, (struct gus_sample){ .data_source = NOT_ONE, .address = 1 }),
				 &m->touches.list.v[0].key);
	}
	ask(m, GUS_BY_DATA_SOURCE | GUS_BY_LOCKED | GUS_BY_ACCESS, NULL);
	assert_memory_equal(key_of(m, (struct gus_sample){ .data_source = STORE }), &((struct gus_touch_key){
		.level = GUS_DATA_L1, .missed = 1, .does = GUS_DATA_STORES, .lock = GUS_TOUCH_NOT_LOCKED }),
		sizeof(struct gus_touch_key));
}

static void pages_and_lines_have_the_size_that_is_told(void **state)
{
	static const struct { uint64_t page, host; uint32_t line; uint64_t pages, lines; } cases[] = {
		{ 4096, 0, 0, 4096, 64 }, { 2 << 20, 0, 0, 2 << 20, 64 }, { 0, 0, 0, 4096, 64 },
		{ 0, 16384, 128, 16384, 128 }, { 65536, 16384, 256, 65536, 256 }, { 3, 16384, 0, 16384, 64 },
		{ 512, 0, 4, 4096, 64 }, { 1024, 1024, 8, 1024, 8 }, { UINT64_MAX, 5000, 96, 4096, 64 },
		{ 1ull << 40, 0, 0, 1ull << 40, 64 }, { 1ull << 41, 512, 0, 4096, 64 },
		{ 1ull << 63, 1ull << 41, 1u << 31, 4096, 1u << 31 },
	};
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Gusprof__Header header = GUSPROF__HEADER__INIT;
		Gusprof__Host host = GUSPROF__HOST__INIT;
		const struct gus_touch_key *key;

		host.page_size = cases[i].host;
		host.line_size = cases[i].line;
		header.host = &host;
		ask(m, GUS_BY_DATA_PAGE, &header);
		key = key_of(m, (struct gus_sample){ .address = UINT64_MAX, .data_page = cases[i].page });
		assert_true(key->bytes == cases[i].pages && key->address == 0 - cases[i].pages);
		ask(m, GUS_BY_DATA_LINE, &header);
		key = key_of(m, (struct gus_sample){ .address = UINT64_MAX, .data_page = cases[i].page });
		assert_true(key->bytes == cases[i].lines && key->address == 0 - cases[i].lines);
	}
}

static void an_address_is_its_processs_but_for_what_is_shared(void **state)
{
	struct made *m = *state;
	const struct gus_touch_key *a;

	ask(m, GUS_BY_DATA_LINE, NULL);
	assert_int_equal(key_of(m, (struct gus_sample){ .address = HEAP })->pid, 1);
	assert_int_equal(key_of(m, (struct gus_sample){ .address = HEAP, .pid = 2 })->pid, 2);
	a = key_of(m, (struct gus_sample){ .address = FILE_AT + 0x81 });
	assert_true(a->shared && a->pid == 0 && a->address == 0x2080);
	assert_ptr_equal(key_of(m, (struct gus_sample){ .address = FILE_AT + 0x1000bf, .pid = 2 }), a);
	/* A file of one's own; memory without a file, of which nobody knows whose else it is; the kernel's. */
	a = key_of(m, (struct gus_sample){ .address = FILE_AT + 0x81, .pid = 2 });
	assert_true(!a->shared && a->pid == 2 && a->address == FILE_AT + 0x80);
	a = key_of(m, (struct gus_sample){ .address = 0x900040 });
	assert_true(!a->shared && a->pid == 1 && a->address == 0x900040);
	a = key_of(m, (struct gus_sample){ .address = 1ull << 63, .pid = 2 });
	assert_true(a->pid == 0 && a->module == 1 && !a->shared);
	a = key_of(m, (struct gus_sample){ .address = HEAP, .mode = GUS_MODE_GUEST_USER });
	assert_true(a->pid == 1 && a->module == 0);
	/* The lowest of the addresses says what is there. */
	assert_true(m->touches.list.v[3].lowest == FILE_AT + 0x81);
	key_of(m, (struct gus_sample){ .address = FILE_AT + 0x80 });
	assert_true(m->touches.list.v[3].lowest == FILE_AT + 0x80 && m->touches.list.v[3].place.offset == 0x2080);
}

static void no_more_places_than_there_is_room_for(void **state)
{
	struct made *m = *state;
	const struct gus_touch_key *key;

	ask(m, GUS_BY_DATA_LINE | GUS_BY_SNOOP, NULL);
	for (uint64_t i = 1; i < GUS_LIMIT_TOUCHES; i++)
		assert_false(key_of(m, (struct gus_sample){ .address = i * 64 })->beyond);
	assert_int_equal(m->touches.beyond, 0);
	key = key_of(m, (struct gus_sample){ .address = HEAP * 64, .data_source = LOAD });
	assert_memory_equal(key, &((struct gus_touch_key){ .beyond = 1, .snoop = GUS_DATA_SNOOP_MODIFIED }),
			    sizeof(*key));
	assert_int_equal(m->touches.beyond, 1);
	key = key_of(m, (struct gus_sample){ .address = HEAP * 65, .data_source = LOAD });
	assert_ptr_equal(key, &m->touches.list.v[m->touches.list.n - 1].key);
	assert_int_equal(m->touches.beyond, 2);
	assert_int_equal(m->touches.list.n, GUS_LIMIT_TOUCHES + 1);
	/* Those that are known still are. */
	assert_false(key_of(m, (struct gus_sample){ .address = 64 })->beyond);
}

static void who_is_closed_takes_no_more(void **state)
{
	struct made *m = *state;

	ask(m, GUS_BY_DATA_LINE, NULL);
	key_of(m, (struct gus_sample){ .address = HEAP });
	m->touches.closed = true;
	assert_true(key_of(m, (struct gus_sample){ .address = HEAP + 63 })->bytes == 64);
	assert_ptr_equal(key_of(m, (struct gus_sample){ .address = HEAP + 64 }), &m->touches.list.v[0].key);
	assert_int_equal(m->touches.list.n, 2);
}

/* Whatever comes first, they are in one order. */
static void they_have_an_order(void **state)
{
	static const struct gus_sample ordered[] = {
		{ .address = HEAP }, { .address = HEAP, .pid = 2 }, { .address = HEAP + 64 },
		{ .address = HEAP, .data_source = STORE }, { .address = HEAP, .data_source = LOAD },
	};
	struct made *m = *state;
	uint32_t numbers[5];

	ask(m, GUS_BY_DATA_LINE | GUS_BY_DATA_SOURCE, NULL);
	for (size_t i = 5; i--; ) {
		key_of(m, ordered[i]);
		numbers[i] = (uint32_t)m->touches.list.n - 1;
	}
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 5; k++) {
			int order = gus_touch_order(&m->touches, numbers[i], numbers[k]);

			assert_true(i < k ? order < 0 : i > k ? order > 0 : !order);
		}
	assert_true(gus_touch_order(&m->touches, 0, numbers[0]) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_sample_tells, setup, teardown),
		cmocka_unit_test_setup_teardown(an_event_may_be_of_accesses, setup, teardown),
		cmocka_unit_test_setup_teardown(only_what_is_asked_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_and_lines_have_the_size_that_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_is_its_processs_but_for_what_is_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(no_more_places_than_there_is_room_for, setup, teardown),
		cmocka_unit_test_setup_teardown(who_is_closed_takes_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(they_have_an_order, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
