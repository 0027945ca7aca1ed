/* SPDX-License-Identifier: MIT */
/* What a machine may do that no table says: each hook of the core engine on code whose times follow.
 * Skylake's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fed_machine.h"
#include "model/machine/hooks.h"

static struct fed_machine m;
static struct gus_core_hooks hooks;

/* What hooks were told, and what they answer. */
static struct {
	unsigned begun, asked, answer;
	uint64_t late, now;
	unsigned ports[GUS_CORE_PORTS], kinds[GUS_UOP_STORE_DATA + 1];
	unsigned most, inside[2], entered[2], refused;
	uint64_t unknown;
} told;

static void begin_code(const void *code, size_t size)
{
	fed_machine_begin(&m, code, size);
	memset(&told, 0, sizeof(told));
	hooks = (struct gus_core_hooks){ .context = &told };
	m.hooks = &hooks;
}

#define CODE(bytes) begin_code(bytes, sizeof(bytes) - 1)

static int teardown(void **state)
{
	(void)state;
	fed_machine_end(&m);
	return 0;
}

static void note_begin(void *context)
{
	assert_ptr_equal(context, &told);
	told.begun++;
}

static unsigned note_latency(void *context, unsigned port, unsigned kind, uint64_t now)
{
	assert_ptr_equal(context, &told);
	assert_true(port < GUS_CORE_PORTS && kind <= GUS_UOP_STORE_DATA && now >= told.now);
	told.ports[port]++;
	told.kinds[kind]++;
	told.now = now;
	return kind == GUS_UOP_COMPUTE ? told.answer : 0;
}

/* imul rax, rax; mov [rdi], rax: a chain of ten, that takes so many cycles more each. */
static void uops_take_longer(void **state)
{
	uint64_t without;

	(void)state;
	CODE("\x48\x0f\xaf\xc0\x48\x89\x07");
	for (unsigned i = 0; i < 10; i++) {
		fed_machine_step(&m, 0);
		fed_machine_step(&m, 1);
		fed_machine_access(&m, 0x10000);
	}
	m.hooks = NULL;
	fed_machine_run(&m);
	without = m.took;
	m.hooks = &hooks; /* none of them is there */
	fed_machine_run(&m);
	assert_int_equal(m.took, without);
	hooks.begin = note_begin;
	hooks.latency = note_latency;
	fed_machine_run(&m);
	assert_int_equal(m.took, without);
	assert_int_equal(told.begun, 1);
	assert_int_equal(told.ports[fed_machine_event(&m, 0, 0)->port], 10);
	assert_int_equal(told.kinds[GUS_UOP_COMPUTE], 10);
	assert_int_equal(told.kinds[GUS_UOP_STORE_ADDRESS], 10);
	assert_int_equal(told.kinds[GUS_UOP_STORE_DATA], 10);
	told.now = 0;
	told.answer = 7;
	fed_machine_run(&m);
	assert_int_equal(m.took, without + 7 * 10);
	assert_int_equal(fed_machine_event(&m, 0, 0)->completed - fed_machine_event(&m, 0, 0)->dispatched, 3 + 7);
	assert_int_equal(told.begun, 2);
}

static uint32_t note_replay(void *context, uint64_t late, uint64_t now)
{
	assert_ptr_equal(context, &told);
	told.asked++;
	told.late = late;
	told.now = now;
	return told.answer;
}

/* mov rax, [rsi]; imul rax, rax; 24 x imul rbx, rcx, 3: each multiplication takes port 1 for a cycle. */
static void a_load_and_what_waits(enum gus_hit level)
{
	CODE("\x48\x8b\x06\x48\x0f\xaf\xc0\x48\x6b\xd9\x03");
	fed_machine_step(&m, 0);
	fed_machine_access(&m, 0x10000)->level = (uint8_t)level;
	fed_machine_step(&m, 1);
	for (unsigned i = 0; i < 24; i++)
		fed_machine_step(&m, 2);
	hooks.replay = note_replay;
}

/* The cycle, counted from the load's dispatch, that port 1 has idled in among the independent ones; 0: none. */
static uint64_t idle_cycle(void)
{
	uint64_t from = fed_machine_event(&m, 0, 0)->dispatched, idle = 0;

	for (unsigned i = 3; i < 26; i++) {
		uint64_t before = fed_machine_event(&m, i - 1, 0)->dispatched, now =
			fed_machine_event(&m, i, 0)->dispatched;
		uint64_t waits = fed_machine_event(&m, 1, 0)->dispatched;

		if (now == before + 1 || (now == before + 2 && waits == before + 1))
			continue;
		assert_true(!idle && now == before + 2);
		idle = before + 1 - from;
	}
	return idle;
}

static void who_waits_goes_in_vain(void **state)
{
	const struct gus_core_event *load, *waits;

	(void)state;
	a_load_and_what_waits(GUS_HIT_L2);
	told.answer = 3;
	fed_machine_run(&m);
	load = fed_machine_event(&m, 0, 0);
	waits = fed_machine_event(&m, 1, 0);
	assert_int_equal(told.asked, 1);
	assert_int_equal(told.now, load->dispatched);
	assert_int_equal(told.late, m.c.l2_latency - m.p->uops[0].latency);
	assert_int_equal(load->completed, load->dispatched + m.c.l2_latency);
	assert_int_equal(waits->dispatched, load->completed + 3);
	assert_int_equal(idle_cycle(), m.p->uops[0].latency);
	told.answer = UINT32_MAX; /* they waited */
	fed_machine_run(&m);
	assert_int_equal(waits->dispatched - load->dispatched, m.c.l2_latency);
	assert_int_equal(idle_cycle(), 0);
	fed_machine_end(&m);
	a_load_and_what_waits(GUS_HIT_L1);
	fed_machine_run(&m);
	assert_int_equal(told.asked, 0);
	assert_int_equal(idle_cycle(), 0);
	fed_machine_end(&m);
	a_load_and_what_waits(GUS_HIT_L2); /* which is as near: nobody was woken too early */
	m.c.l2_latency = m.p->uops[0].latency;
	fed_machine_run(&m);
	assert_int_equal(told.asked, 0);
}

/* mov rbx, [rdi], from memory; mov rax, [rsi], from L2; imul rax, rbx, which does not go for the sake of the second, as
 * it waits for the first one longer. */
static void who_waits_for_another_does_not_go(void **state)
{
	(void)state;
	CODE("\x48\x8b\x1f\x48\x8b\x06\x48\x0f\xaf\xc3");
	for (unsigned i = 0; i < 3; i++)
		fed_machine_step(&m, i);
	fed_machine_access(&m, 0x10000)->level = GUS_HIT_MEMORY;
	fed_machine_access(&m, 0x20000)->level = GUS_HIT_L2;
	hooks.replay = note_replay;
	told.answer = 3;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 2, 0)->dispatched, fed_machine_event(&m, 0, 0)->completed);
}

/* mov rax, [rsi]; imul rax, rax; imul rdx, rax, 3: both multiplications wait for the load and go in vain on the same
 * port, one behind the other. */
static void two_go_in_vain(void **state)
{
	uint64_t first, last;

	(void)state;
	CODE("\x48\x8b\x06\x48\x0f\xaf\xc8\x48\x6b\xd0\x03\x48\x6b\xdd\x03");
	fed_machine_step(&m, 0);
	fed_machine_access(&m, 0x10000)->level = GUS_HIT_L3;
	fed_machine_step(&m, 1);
	fed_machine_step(&m, 2);
	for (unsigned i = 0; i < 24; i++)
		fed_machine_step(&m, 3);
	hooks.replay = note_replay;
	fed_machine_run(&m);
	first = fed_machine_event(&m, 3, 0)->dispatched;
	last = fed_machine_event(&m, 26, 0)->dispatched;
	assert_true(last < fed_machine_event(&m, 0, 0)->completed);
	assert_int_equal(last - first, 23 + 2);
	told.answer = UINT32_MAX;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 26, 0)->dispatched - fed_machine_event(&m, 3, 0)->dispatched, 23);
}

/* mov rax, [rsi]; imul rax, rax; imul rbx, rcx, 3; imul rdx, rcx, 3; imul rbp, rcx, 3 on port 0: the last three have
 * one unit, which is free again in just the cycle that port 1 is taken in vain. So it is the youngest's turn. */
static void a_unit_of_a_port_taken_in_vain(void **state)
{
	uint64_t load;

	(void)state;
	CODE("\x48\x8b\x06\x48\x0f\xaf\xc0\x48\x6b\xd9\x03\x48\x6b\xd1\x03\x48\x6b\xe9\x03");
	for (unsigned i = 0; i < 5; i++)
		fed_machine_step(&m, i);
	fed_machine_access(&m, 0x10000)->level = GUS_HIT_L2;
	for (unsigned i = 2; i < 5; i++) {
		m.p->uops[i].unit = 1;
		m.p->uops[i].unit_cycles = m.p->uops[0].latency;
	}
	m.p->uops[4].ports = 1;
	hooks.replay = note_replay;
	told.answer = 3;
	fed_machine_run(&m);
	load = fed_machine_event(&m, 0, 0)->dispatched;
	assert_int_equal(fed_machine_event(&m, 2, 0)->dispatched, load);
	assert_int_equal(fed_machine_event(&m, 4, 0)->dispatched, load + m.p->uops[0].latency);
	assert_int_equal(fed_machine_event(&m, 3, 0)->dispatched, load + 2 * m.p->uops[0].latency);
	told.answer = UINT32_MAX; /* nobody went */
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 3, 0)->dispatched, load + m.p->uops[0].latency);
	assert_int_equal(fed_machine_event(&m, 4, 0)->dispatched, load + 2 * m.p->uops[0].latency);
}

static unsigned few_retire(void *context, const uint64_t *issued, unsigned n, uint64_t now)
{
	assert_ptr_equal(context, &told);
	assert_true(n > 0 && n <= m.c.retire_width);
	for (unsigned i = 0; i < n; i++)
		assert_true(issued[i] < now && (!i || issued[i] >= issued[i - 1]));
	told.most = n > told.most ? n : told.most;
	told.asked++;
	return now < 50 ? 0 : told.answer;
}

/* 40 nops: none retires before cycle 50, and then one a cycle; or as many as the width, if more are allowed. */
static void as_many_retire_as_it_says(void **state)
{
	(void)state;
	CODE("\x90");
	for (unsigned i = 0; i < 40; i++)
		fed_machine_step(&m, 0);
	hooks.retire = few_retire;
	told.answer = 1;
	fed_machine_run(&m);
	assert_int_equal(told.most, m.c.retire_width);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(fed_machine_event(&m, i, 0)->retired, 50 + i);
	told.answer = 1000;
	fed_machine_run(&m);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(fed_machine_event(&m, i, 0)->retired, 50 + i / m.c.retire_width);
}

/* 2 nops, a load from memory, 2 nops: asked of those that could retire, so not of the load before it is complete, nor
 * of any behind it. And 3,000 nops, one a cycle, so that all have been issued for long. */
static void who_could_retire(void **state)
{
	(void)state;
	CODE("\x90\x48\x8b\x06");
	for (unsigned i = 0; i < 5; i++)
		fed_machine_step(&m, i == 2);
	fed_machine_access(&m, 0x10000)->level = GUS_HIT_MEMORY;
	hooks.retire = few_retire;
	told.answer = 1000;
	fed_machine_run(&m);
	assert_int_equal(told.most, 3); /* from the load on */
	assert_int_equal(fed_machine_event(&m, 1, 0)->retired, 50);
	assert_true(fed_machine_event(&m, 2, 0)->completed > 200);
	for (unsigned i = 2; i < 5; i++)
		assert_int_equal(fed_machine_event(&m, i, 0)->retired, fed_machine_event(&m, 2, 0)->completed);
	fed_machine_end(&m);
	CODE("\x90");
	for (unsigned i = 0; i < 3000; i++)
		fed_machine_step(&m, 0);
	hooks.retire = few_retire;
	told.answer = 1;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 2999, 0)->retired, 50 + 2999);
}

/* Two parts of one entry each, by a bit of the address. */
static bool enters(void *context, uint64_t address, unsigned *part)
{
	assert_ptr_equal(context, &told);
	told.unknown += !address;
	*part = address >> 6 & 1;
	if (told.inside[*part] >= told.answer) {
		told.refused++;
		return false;
	}
	told.inside[*part]++;
	told.entered[*part]++;
	return true;
}

static void leaves(void *context, unsigned part)
{
	assert_ptr_equal(context, &told);
	assert_true(part < 2 && told.inside[part] > 0);
	told.inside[part]--;
}

/* add rax, [rsi], and add [rdi], rax: each of the same part waits until the one before has retired, each of the other
 * does not; who has no load is not asked. An address that nobody knows is 0. */
static void parts_of_the_load_buffer(void **state)
{
	(void)state;
	CODE("\x48\x03\x06\x48\x01\x07\x48\x89\x07");
	for (unsigned i = 0; i < 12; i++) {
		fed_machine_step(&m, i % 3);
		fed_machine_access(&m, 0x10000 + 4096 * i + (i < 6 ? 0 : i % 2 * 64));
	}
	m.accesses.v[9].known = false;
	hooks.load_enters = enters;
	hooks.load_leaves = leaves;
	told.answer = 1;
	fed_machine_run(&m);
	assert_int_equal(told.inside[0] + told.inside[1], 0);
	assert_int_equal(told.entered[0], 7);
	assert_int_equal(told.entered[1], 1);
	assert_true(told.refused > 0 && told.unknown > 0);
	assert_true(fed_machine_event(&m, 1, 0)->issued >= fed_machine_event(&m, 0, 0)->retired);
	assert_true(fed_machine_event(&m, 3, 0)->issued >= fed_machine_event(&m, 1, 0)->retired);
	/* The store between has none, and step 7 is of the other part than step 6. */
	assert_true(fed_machine_event(&m, 2, 0)->issued <= fed_machine_event(&m, 1, 0)->issued + 1);
	assert_true(fed_machine_event(&m, 7, 0)->issued < fed_machine_event(&m, 6, 0)->retired);
	told.answer = 100;
	told.refused = 0;
	fed_machine_run(&m);
	assert_int_equal(told.refused, 0);
	assert_true(fed_machine_event(&m, 3, 0)->issued < fed_machine_event(&m, 1, 0)->retired);
	assert_int_equal(told.inside[0] + told.inside[1], 0);
}

static bool enters_anywhere(void *context, uint64_t address, unsigned *part)
{
	(void)context;
	(void)address;
	told.asked++;
	assert_int_equal(*part, 0);
	return true;
}

static void leaves_the_first(void *context, unsigned part)
{
	(void)context;
	assert_int_equal(part, 0);
	told.begun++;
}

/* Who has no parts need not say which: it is the first. */
static void a_load_buffer_without_parts(void **state)
{
	(void)state;
	CODE("\x48\x8b\x06");
	for (unsigned i = 0; i < 5; i++) {
		fed_machine_step(&m, 0);
		fed_machine_access(&m, 0x10000);
	}
	hooks.load_enters = enters_anywhere;
	hooks.load_leaves = leaves_the_first;
	fed_machine_run(&m);
	assert_int_equal(told.asked, 5);
	assert_int_equal(told.begun, 5);
}

static unsigned take_from_cycle(void *context, uint64_t *ports, uint64_t now)
{
	assert_ptr_equal(context, &told);
	assert_int_equal(*ports, 0);
	assert_int_equal(now, told.asked);
	told.asked++;
	return now >= 20 && now < 30 ? 1000 : told.answer;
}

/* 120 nops: as many are issued in a cycle as are left to us, and in ten cycles none. */
static void slots_are_somebody_elses(void **state)
{
	(void)state;
	CODE("\x90");
	for (unsigned i = 0; i < 120; i++)
		fed_machine_step(&m, 0);
	hooks.shared = take_from_cycle;
	told.answer = m.c.issue_width - 1;
	fed_machine_run(&m);
	for (unsigned i = 1; i < 120; i++) {
		uint64_t apart = fed_machine_event(&m, i, 0)->issued - fed_machine_event(&m, i - 1, 0)->issued;

		assert_int_equal(apart, fed_machine_event(&m, i, 0)->issued == 30 ? 11 : 1);
	}
	for (size_t i = 0; i < m.cycles.n; i++) {
		assert_true(m.cycles.v[i].issued <= (i < 20 || i >= 30));
		if (m.cycles.v[i].issued || (i >= 20 && i < 30))
			assert_int_equal(m.cycles.v[i].stop, GUS_CORE_NOTHING);
	}
	assert_int_equal(told.asked, m.cycles.n);
	told.answer = told.asked = 0;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, m.c.issue_width - 1, 0)->issued, fed_machine_event(&m, 0, 0)->issued);
}

static unsigned port_1_until_100(void *context, uint64_t *ports, uint64_t now)
{
	(void)context;
	*ports = now < 100 ? 1 << 1 : 0;
	return 0;
}

/* imul rbx, rcx, 3, five times, of which each needs port 1. */
static void ports_are_somebody_elses(void **state)
{
	(void)state;
	CODE("\x48\x6b\xd9\x03");
	for (unsigned i = 0; i < 5; i++)
		fed_machine_step(&m, 0);
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 0, 0)->port, 1);
	assert_true(fed_machine_event(&m, 4, 0)->dispatched < 50);
	hooks.shared = port_1_until_100;
	fed_machine_run(&m);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(fed_machine_event(&m, i, 0)->dispatched, 100 + i);
}

#define CASE(name) cmocka_unit_test_teardown(name, teardown)

/* imul rbx, rsi, 3, eight times, which port 1 alone takes and none waits for: the first of those that go together goes
 * in this cycle, the next ones in that of the port's next turn. */
static void a_port_takes_several(void **state)
{
	static const unsigned widths[] = { 0, 1, 2, 3 };

	(void)state;
	CODE("\x48\x6b\xde\x03");
	for (unsigned i = 0; i < 8; i++)
		fed_machine_step(&m, 0);
	for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++) {
		unsigned width = widths[k] ? widths[k] : 1;

		hooks.port_width = widths[k];
		fed_machine_run(&m);
		for (unsigned i = 0; i < 6; i++)
			assert_int_equal(fed_machine_event(&m, i, 0)->dispatched,
					 fed_machine_event(&m, 0, 0)->dispatched + i / width);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(uops_take_longer),
		CASE(who_waits_goes_in_vain),
		CASE(who_waits_for_another_does_not_go),
		CASE(two_go_in_vain),
		CASE(a_unit_of_a_port_taken_in_vain),
		CASE(as_many_retire_as_it_says),
		CASE(who_could_retire),
		CASE(a_port_takes_several), CASE(parts_of_the_load_buffer),
		CASE(a_load_buffer_without_parts),
		CASE(slots_are_somebody_elses),
		CASE(ports_are_somebody_elses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
