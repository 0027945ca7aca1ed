/* SPDX-License-Identifier: MIT */
/* What accesses bring along in a run that is fed: prefetched lines take buffers and bandwidth and are waited for as
 * long as they are on their way, dirty ones take bandwidth; and machines whose lines and walks take what they like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attribution/traced/told.h"
#include "fed_machine.h"
#include "model/machine/hooks.h"
#include "model/machine/options.h"

enum { LINE = 64, AT = 0x10000, TURNS = 500 };

static struct fed_machine m;

static int teardown(void **state)
{
	(void)state;
	fed_machine_end(&m);
	return 0;
}

#define CODE(bytes) fed_machine_begin(&m, bytes, sizeof(bytes) - 1)

static struct gus_op_access *load(uint32_t op, uint64_t address, enum gus_hit level)
{
	struct gus_op_access *a;

	fed_machine_step(&m, op);
	a = fed_machine_access(&m, address);
	a->level = (uint8_t)level;
	return a;
}

/* With the first access of a program the line behind it is asked for. */
static void bring(struct gus_op_access *a, enum gus_hit from, enum gus_hit into)
{
	a->beside.prefetches[a->beside.prefetches_n++] = (struct gus_op_prefetch){ 1, (uint8_t)from, (uint8_t)into };
}

/* mov rsi, [rsi]; mov rax, [rdi]. The second load begins with the first, or (mov rax, [rsi]) when that has come. */
#define TOGETHER "\x48\x8b\x36\x48\x8b\x07"
#define BEHIND "\x48\x8b\x36\x48\x8b\x06"

/* The second load finds a line that was prefetched with the first: as late as that is, whatever is told of it. */
static void prefetched_lines_are_waited_for(void **state)
{
	const struct gus_core_event *second;

	(void)state;
	CODE(TOGETHER);
	m.c.memory_bandwidth = m.c.l3_bandwidth = 0;
	bring(load(0, AT, GUS_HIT_MEMORY), GUS_HIT_MEMORY, GUS_HIT_L1);
	load(1, AT + LINE, GUS_HIT_L3)->prefetched = true;
	fed_machine_run(&m);
	second = fed_machine_event(&m, 1, 0);
	assert_in_range(second->miss, m.c.memory_latency - 4, m.c.memory_latency + 4);
	assert_int_equal(second->psv, GUS_CORE_ST_L1);
	assert_int_equal(second->level, GUS_HIT_L1); /* it is on its way there */
	fed_machine_end(&m);
	CODE(BEHIND);
	bring(load(0, AT, GUS_HIT_MEMORY), GUS_HIT_MEMORY, GUS_HIT_L1);
	load(1, AT + LINE, GUS_HIT_L3)->prefetched = true;
	fed_machine_run(&m);
	assert_in_range(fed_machine_event(&m, 1, 0)->miss, 0, 20); /* the bus */
	/* Of one that nobody told of it is believed what is. */
	m.accesses.v[0].beside.prefetches_n = 0;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->miss, m.c.l3_latency);
	m.accesses.v[0].beside.written[0] = 1; /* no more prefetches are made than there are */
	fed_machine_run(&m);
	assert_in_range(fed_machine_event(&m, 1, 0)->miss, m.c.l3_latency, m.c.l3_latency + 20);
}

/* Only one line can be on its way: the prefetch is not made, and who finds its line in L1 does not. */
static void without_a_buffer_there_is_no_prefetch(void **state)
{
	const struct gus_core_event *second;

	(void)state;
	CODE(BEHIND);
	m.c.l1d_misses = 1;
	bring(load(0, AT, GUS_HIT_L3), GUS_HIT_MEMORY, GUS_HIT_L1);
	load(1, AT + LINE, GUS_HIT_L1);
	fed_machine_run(&m);
	second = fed_machine_event(&m, 1, 0);
	assert_int_equal(second->miss, m.c.memory_latency);
	assert_int_equal(second->level, GUS_HIT_MEMORY);
	assert_int_equal(second->psv, GUS_CORE_ST_L1 | GUS_CORE_ST_LLC);
}

/* What is told of a line is believed where it has come long ago: it may have gone again. */
static void a_line_that_has_gone(void **state)
{
	(void)state;
	CODE("\x48\x8b\x36"); /* mov rsi, [rsi] */
	load(0, AT, GUS_HIT_MEMORY);
	load(0, AT, GUS_HIT_L1);
	load(0, AT, GUS_HIT_L3);
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->miss, 0);
	assert_int_equal(fed_machine_event(&m, 2, 0)->miss, m.c.l3_latency);
	assert_int_equal(fed_machine_event(&m, 2, 0)->level, GUS_HIT_L3);
}

/* Who comes too late for a buffer is not noted where a line is that is on its way: that is waited for as before. */
static void no_room_to_note(void **state)
{
	enum { SLOTS = 64 }; /* for lines */
	const struct gus_core_event *first, *again;
	uint64_t line = AT / LINE + 1;

	(void)state;
	CODE("\x48\x8b\x06"); /* mov rax, [rsi] */
	m.c.l1d_misses = 1;
	load(0, AT, GUS_HIT_MEMORY);
	while (gus_core_line_slot(line, SLOTS) != gus_core_line_slot(AT / LINE, SLOTS))
		line++;
	bring(load(0, (line - 1) * LINE, GUS_HIT_L1), GUS_HIT_MEMORY, GUS_HIT_L1);
	load(0, AT, GUS_HIT_L1);
	fed_machine_run(&m);
	first = fed_machine_event(&m, 0, 0);
	again = fed_machine_event(&m, 2, 0);
	assert_int_equal(again->dispatched + again->miss, first->dispatched + first->miss);
}

/* A line that is on its way to L2 is not asked for again: the bus is taken once. */
static void prefetched_once(void **state)
{
	(void)state;
	CODE("\x48\x8b\x06");
	m.c.memory_bandwidth = 1;
	for (unsigned twice = 0; twice < 2; twice++) {
		m.steps.n = m.accesses.n = 0;
		bring(load(0, AT, GUS_HIT_L1), GUS_HIT_MEMORY, GUS_HIT_L2);
		bring(load(0, twice ? AT : AT + 8 * LINE, GUS_HIT_L1), GUS_HIT_MEMORY, GUS_HIT_L2);
		load(0, AT + 32 * LINE, GUS_HIT_MEMORY);
		fed_machine_run(&m);
		assert_in_range(fed_machine_event(&m, 2, 0)->miss, m.c.memory_latency + (twice ? 1 : 2) * LINE - 2,
				m.c.memory_latency + (twice ? 1 : 2) * LINE);
	}
}

/* Prefetchers of L2 that ask for three lines a load have memory's bus taken for no longer than what 32 of them need:
 * the others are not made, and who finds the line of one in L2 does not. */
static void prefetches_to_l2_are_bounded(void **state)
{
	const struct gus_core_event *last, *dropped;

	(void)state;
	CODE("\x48\x8b\x36"); /* mov rsi, [rsi]: one behind the other */
	m.c.memory_bandwidth = 4;
	for (unsigned i = 0; i < TURNS; i++) {
		struct gus_op_access *a = load(0, AT + i * LINE, GUS_HIT_L1);

		for (unsigned k = 0; k < 3; k++)
			a->beside.prefetches[a->beside.prefetches_n++] =
				(struct gus_op_prefetch){ (int8_t)(k + 1), GUS_HIT_MEMORY, GUS_HIT_L2 };
		if (i + 1 < TURNS)
			a->address = AT + 4 * i * LINE;
	}
	m.accesses.v[TURNS - 1].beside.prefetches_n = 0;
	m.accesses.v[TURNS - 1].address = AT + 40000 * LINE;
	m.accesses.v[TURNS - 1].level = GUS_HIT_MEMORY;
	fed_machine_run(&m);
	last = fed_machine_event(&m, TURNS - 1, 0);
	assert_in_range(last->miss, m.c.memory_latency, m.c.memory_latency + 33 * 16);
	m.accesses.v[TURNS - 1].address = AT + (4 * (TURNS - 2) + 3) * LINE; /* the last that was asked for */
	m.accesses.v[TURNS - 1].level = GUS_HIT_L2;
	m.accesses.v[TURNS - 1].prefetched = true;
	fed_machine_run(&m);
	dropped = fed_machine_event(&m, TURNS - 1, 0);
	assert_true(dropped->miss >= m.c.memory_latency);
}

/* A prefetch to L2 needs no buffer of L1's; the line comes from there when it is there. */
static void lines_come_to_l2(void **state)
{
	(void)state;
	CODE(TOGETHER);
	m.c.l1d_misses = 2;
	m.c.memory_bandwidth = m.c.l3_bandwidth = 0;
	bring(load(0, AT, GUS_HIT_L2), GUS_HIT_MEMORY, GUS_HIT_L2);
	load(1, AT + LINE, GUS_HIT_L2);
	fed_machine_run(&m);
	assert_in_range(fed_machine_event(&m, 1, 0)->miss, m.c.memory_latency - 2, m.c.memory_latency + 4);
	fed_machine_end(&m);
	CODE(BEHIND);
	bring(load(0, AT, GUS_HIT_MEMORY), GUS_HIT_MEMORY, GUS_HIT_L2);
	load(1, AT + LINE, GUS_HIT_L2);
	fed_machine_run(&m);
	assert_in_range(fed_machine_event(&m, 1, 0)->miss, m.c.l2_latency, m.c.l2_latency + 20);
	fed_machine_end(&m);
	CODE(TOGETHER);                 /* it passes L3's bus, and not that of L2 */
	m.c.l2_bandwidth = 1;
	m.c.l3_bandwidth = 4;
	bring(load(0, AT, GUS_HIT_L1), GUS_HIT_L3, GUS_HIT_L2);
	load(1, AT + 8 * LINE, GUS_HIT_L2);
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->miss, m.c.l2_latency);
	m.accesses.v[1].level = GUS_HIT_L3;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->miss, LINE / 4 + m.c.l3_latency);
	m.accesses.v[0].beside.prefetches[0].into = GUS_HIT_L1;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->miss, LINE + m.c.l3_latency);
}

/* mov rax, [rsi] three times: the second waits for a line that is on its way to L2, and the third, which is in L2, does
 * not wait with it: the bus is free meanwhile. */
static void who_waits_for_l2_takes_no_bus(void **state)
{
	(void)state;
	CODE("\x48\x8b\x06");
	bring(load(0, AT, GUS_HIT_L1), GUS_HIT_MEMORY, GUS_HIT_L2);
	load(0, AT + LINE, GUS_HIT_L2);
	load(0, AT + 8 * LINE, GUS_HIT_L2);
	fed_machine_run(&m);
	assert_true(fed_machine_event(&m, 1, 0)->miss >= m.c.memory_latency - 4);
	assert_in_range(fed_machine_event(&m, 2, 0)->miss, m.c.l2_latency, m.c.l2_latency + 2);
}

/* mov rax, [rsi]; ...: lines of L2, each on its own. */
static void takes(double cycles, double within)
{
	double took;

	fed_machine_run(&m);
	took = (double)m.took / TURNS;
	if (took < cycles - within || took > cycles + within)
		fail_msg("%.2f cycles, expected %.2f", took, cycles);
}

static void what_is_thrown_out_takes_bandwidth(void **state)
{
	(void)state;
	CODE("\x48\x8b\x06");
	m.c.l2_bandwidth = 8;
	m.c.l3_bandwidth = m.c.memory_bandwidth = 4;
	for (unsigned i = 0; i < TURNS; i++)
		load(0, AT + i * LINE, GUS_HIT_L2);
	takes(8, 0.3);
	for (unsigned i = 0; i < TURNS; i++)
		m.accesses.v[i].beside.written[0] = 1;
	takes(16, 0.3);
	m.c.writeback_path = 1;
	takes(8, 0.3);
	m.c.writeback_path = 0;
	for (unsigned i = 0; i < TURNS; i++)
		m.accesses.v[i].beside = (struct gus_op_beside){ .written = { 0, 2, 0 } };
	takes(8, 0.3); /* nothing comes from L3 */
	for (unsigned i = 0; i < TURNS; i++)
		m.accesses.v[i].level = GUS_HIT_L3;
	takes(3 * 16, 2);
	for (unsigned i = 0; i < TURNS; i++)
		m.accesses.v[i].beside = (struct gus_op_beside){ .written = { 0, 0, 1 } };
	takes(16, 1);
	for (unsigned i = 0; i < TURNS; i++)
		m.accesses.v[i].level = GUS_HIT_MEMORY;
	takes(2 * 16, 2);
}

/* mov [rsi], rax: the same of stores, when they retire. */
static void stores_bring_lines_too(void **state)
{
	uint64_t alone;

	(void)state;
	CODE("\x48\x89\x06");
	m.c.l2_bandwidth = 8;
	for (unsigned i = 0; i < TURNS; i++)
		load(0, AT + i * LINE, GUS_HIT_L2);
	takes(8, 2);
	alone = m.took;
	for (unsigned i = 0; i < TURNS; i++)
		m.accesses.v[i].beside.written[0] = 1;
	fed_machine_run(&m);
	assert_in_range(m.took, alone + 7 * TURNS, alone + 9 * TURNS);
}

static uint64_t odd_line(void *context, unsigned level, uint64_t address, bool code, uint64_t from)
{
	assert_true(context == &m && !code);
	return from + (address == AT ? 500 : 10) + level;
}

static uint64_t odd_walk(void *context, uint64_t address, bool code, uint64_t from)
{
	assert_true(context == &m && !code && address == AT);
	return from + 77;
}

static void lines_and_walks_of_an_odd_machine(void **state)
{
	static const struct gus_core_hooks hooks = { .context = &m, .line = odd_line, .walk = odd_walk };
	const struct gus_core_event *first;

	(void)state;
	CODE(TOGETHER);
	m.hooks = &hooks;
	load(0, AT, GUS_HIT_L3)->tlb = GUS_TLB_WALK;
	load(1, AT + LINE, GUS_HIT_MEMORY);
	fed_machine_run(&m);
	first = fed_machine_event(&m, 0, 0);
	assert_int_equal(first->translation, 77);
	assert_int_equal(first->miss, 502);
	assert_int_equal(fed_machine_event(&m, 1, 0)->miss, 13);
	m.accesses.v[1].tlb = GUS_TLB_SECOND;
	m.accesses.v[1].level = GUS_HIT_L1;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->translation, m.c.stlb_latency);
	assert_int_equal(fed_machine_event(&m, 1, 0)->miss, 0);
}

/* Two nops from the decoders, the second of which has its code late: from another level, another page, or both. */
static void late_code_shows(void **state)
{
	static const struct { uint8_t level, tlb; unsigned psv; } cases[] = { { GUS_HIT_L1, GUS_TLB_HIT, 0 },
		{ GUS_HIT_L3, GUS_TLB_HIT, GUS_CORE_DR_L1 }, { GUS_HIT_L1, GUS_TLB_SECOND, GUS_CORE_DR_TLB },
		{ GUS_HIT_MEMORY, GUS_TLB_WALK, GUS_CORE_DR_L1 | GUS_CORE_DR_TLB } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CODE("\x90\x90");
		fed_machine_step(&m, 0)->cached = false;
		*fed_machine_step(&m, 1) = (struct gus_op_step){ .op = 1, .fetch = 50, .code_level = cases[i].level,
			.code_tlb = cases[i].tlb };
		fed_machine_run(&m);
		assert_int_equal(fed_machine_event(&m, 0, 0)->psv, 0);
		assert_int_equal(fed_machine_event(&m, 1, 0)->psv, cases[i].psv);
		m.steps.v[1].cached = true; /* then nobody waits for it */
		fed_machine_run(&m);
		assert_int_equal(fed_machine_event(&m, 1, 0)->psv, 0);
		fed_machine_end(&m);
	}
}

/* Loads wait for so long and no longer, so they can ask for more lines than a slow bus ever brings. A store behind
 * them, for whose line the bus would be free in hundreds of thousands of cycles, waits as long as they do. */
static void stores_wait_no_longer_than_loads(void **state)
{
	(void)state;
	CODE("\x48\x8b\x06\x48\x89\x0f"); /* mov rax, [rsi]; mov [rdi], rcx */
	m.c.line_size = 4096;
	m.c.memory_bandwidth = m.c.store_buffer = 1;
	m.c.l1d_misses = 64;
	for (unsigned i = 0; i < TURNS; i++)
		load(i % 100 == 99, (i + 1) * 4096, GUS_HIT_MEMORY);
	fed_machine_run(&m);
	assert_in_range(m.took, 100000, 1000000);
}

/* Pieces of an access: lines are counted from the first of all, and what is found farthest is told. */
static void pieces_are_joined(void **state)
{
	const struct gus_op_beside far = { { { 2, GUS_HIT_L3, GUS_HIT_L1 }, { -126, GUS_HIT_L3, GUS_HIT_L1 } }, 2,
		{ 250, 0, 1 } };
	struct gus_op_access told = { 0 };

	(void)state;
	gus_traced_told_add(&told, AT + LINE, 8, 0, LINE, &far);
	gus_traced_told_found(&told, GUS_HIT_L2, GUS_TLB_HIT, true);
	assert_true(told.address == AT + LINE && told.bytes == 8 && told.prefetched);
	gus_traced_told_add(&told, AT + 3, 8, 0, LINE, &far);
	gus_traced_told_found(&told, GUS_HIT_L1, GUS_TLB_WALK, false);
	assert_true(told.address == AT + 3 && told.bytes == LINE + 5 && told.prefetched);
	assert_true(told.level == GUS_HIT_L2 && told.tlb == GUS_TLB_WALK);
	assert_int_equal(told.beside.prefetches_n, 4);
	assert_int_equal(told.beside.prefetches[0].ahead, 3);
	assert_int_equal(told.beside.prefetches[1].ahead, -125);
	assert_int_equal(told.beside.prefetches[2].ahead, 2);
	assert_int_equal(told.beside.written[0], 255);
	assert_int_equal(told.beside.written[2], 2);
	gus_traced_told_add(&told, AT - 3 * LINE, 8, 32, LINE, &far); /* no room for more */
	gus_traced_told_found(&told, GUS_HIT_L2, GUS_TLB_HIT, false);
	assert_true(told.bytes == 32 && !told.prefetched && told.beside.prefetches_n == 4);
	gus_traced_told_add(&told, AT - 10 * LINE, 8, 0, LINE, &(struct gus_op_beside){ .prefetches_n = 0 });
	assert_int_equal(told.beside.prefetches[1].ahead, -115);
	told = (struct gus_op_access){ .address = AT, .bytes = 1, .known = true };
	gus_traced_told_prefetch(&told, GUS_HIT_L3, &far);
	assert_true(told.beside.prefetches_n == 3 && told.beside.prefetches[0].from == GUS_HIT_L3 &&
		    told.beside.prefetches[0].into == GUS_HIT_L1 && !told.beside.prefetches[0].ahead);
	told = (struct gus_op_access){ .address = AT, .bytes = 1, .known = true };
	gus_traced_told_prefetch(&told, GUS_HIT_L1, &far); /* it is there, and asks for nothing itself */
	assert_true(told.beside.prefetches_n == 2 && told.beside.prefetches[0].ahead == 2);
}

/* Lines farther away than there are numbers for are left out, at either end, and those behind them in the list stay. */
static void pieces_far_away(void **state)
{
	const struct gus_op_beside none = { .prefetches_n = 0 }, both = { { { 126, GUS_HIT_L3, GUS_HIT_L1 },
		{ 125, GUS_HIT_L3, GUS_HIT_L1 }, { -127, GUS_HIT_L3, GUS_HIT_L1 } }, 3, { 0, 0, 0 } };
	struct gus_op_access told = { 0 };

	(void)state;
	gus_traced_told_add(&told, AT + 2 * LINE, 8, 0, LINE, &both);
	gus_traced_told_add(&told, AT, 8, 0, LINE, &none); /* 128, 127, -125 */
	assert_true(told.address == AT && told.bytes == 2 * LINE + 8);
	assert_int_equal(told.beside.prefetches_n, 2);
	assert_true(told.beside.prefetches[0].ahead == 127 && told.beside.prefetches[1].ahead == -125);
	/* A piece behind it: its lines are counted from the first, too, and it ends where that ends. */
	told = (struct gus_op_access){ 0 };
	gus_traced_told_add(&told, AT, 8, 0, LINE, &none);
	gus_traced_told_add(&told, AT + LINE, 16, 0, LINE, &both); /* 127, 126, -126 */
	assert_true(told.address == AT && told.bytes == LINE + 16 && told.beside.prefetches_n == 3);
	assert_true(told.beside.prefetches[0].ahead == 127 && told.beside.prefetches[2].ahead == -126);
	gus_traced_told_add(&told, AT + 8, 4, 0, LINE, &none); /* inside */
	assert_true(told.address == AT && told.bytes == LINE + 16);
	gus_traced_told_add(&told, AT + 4096 - 8, 8, 0, LINE, &none);
	assert_int_equal(told.bytes, 4096);
	gus_traced_told_add(&told, AT + 4096, 8, 0, LINE, &none); /* no access is longer */
	assert_int_equal(told.bytes, 4096);
}

/* rep stosb of 16 MB takes half a million cycles to leave, and a store buffer full of others behind it waits: that is
 * long, and no standstill. */
static void long_strings_leave(void **state)
{
	struct gus_op_access *a;

	(void)state;
	CODE("\xf3\xaa\x48\x89\x06"); /* rep stosb; mov [rsi], rax */
	fed_machine_step(&m, 0);
	a = fed_machine_access(&m, AT);
	a->bytes = 16 << 20;
	for (unsigned i = 0; i < 2 * m.c.store_buffer; i++)
		load(1, AT + i * LINE, GUS_HIT_L1);
	fed_machine_run(&m);
	assert_in_range(m.took, (16 << 20) / m.c.l1d_store_width, (16 << 20) / m.c.l1d_store_width + 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(prefetched_lines_are_waited_for, teardown),
		cmocka_unit_test_teardown(without_a_buffer_there_is_no_prefetch, teardown),
		cmocka_unit_test_teardown(a_line_that_has_gone, teardown),
		cmocka_unit_test_teardown(no_room_to_note, teardown),
		cmocka_unit_test_teardown(prefetched_once, teardown),
		cmocka_unit_test_teardown(prefetches_to_l2_are_bounded, teardown),
		cmocka_unit_test_teardown(lines_come_to_l2, teardown),
		cmocka_unit_test_teardown(who_waits_for_l2_takes_no_bus, teardown),
		cmocka_unit_test_teardown(what_is_thrown_out_takes_bandwidth, teardown),
		cmocka_unit_test_teardown(stores_bring_lines_too, teardown),
		cmocka_unit_test_teardown(lines_and_walks_of_an_odd_machine, teardown),
		cmocka_unit_test(late_code_shows),
		cmocka_unit_test_teardown(long_strings_leave, teardown),
		cmocka_unit_test_teardown(stores_wait_no_longer_than_loads, teardown),
		cmocka_unit_test(pieces_are_joined),
		cmocka_unit_test(pieces_far_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
