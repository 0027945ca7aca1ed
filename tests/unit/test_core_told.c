/* SPDX-License-Identifier: MIT */
/* What the core engine tells of runs that are fed: what has happened to each uop, whose flush a cycle was, what the
 * wrong path took, and loads that were too early for a store. Skylake's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fed_machine.h"

static struct fed_machine m;

#define CODE(bytes) fed_machine_begin(&m, bytes, sizeof(bytes) - 1)

static int teardown(void **state)
{
	(void)state;
	fed_machine_end(&m);
	return 0;
}

/* mov rax, [rsi]; mov [rdi], rax; dec rcx; jnz back. */
static void what_has_happened_to_a_uop(void **state)
{
	const struct gus_core_event *load, *address, *branch;
	struct gus_op_access *a;

	(void)state;
	CODE("\x48\x8b\x06\x48\x89\x07\x48\xff\xc9\x75\xf5");
	fed_machine_step(&m, 0);
	a = fed_machine_access(&m, 0x10038);
	a->level = GUS_HIT_L2;
	a->tlb = GUS_TLB_SECOND;
	fed_machine_step(&m, 1);
	fed_machine_access(&m, 0x20000)->bytes = 4;
	fed_machine_step(&m, 2)->taken = true;
	m.steps.v[2].mispredicted = true;
	fed_machine_step(&m, 2);
	fed_machine_run(&m);
	load = fed_machine_event(&m, 0, 0);
	assert_int_equal(load->address, 0x10038);
	assert_int_equal(load->bytes, 8);
	assert_true(load->level == GUS_HIT_L2 && load->tlb == GUS_TLB_SECOND);
	assert_int_equal(load->translation, m.c.stlb_latency);
	assert_int_equal(load->miss, m.c.l2_latency);
	assert_int_equal(load->psv, GUS_CORE_ST_L1 | GUS_CORE_ST_TLB);
	assert_int_equal(load->completed - load->dispatched, m.c.stlb_latency + m.c.l2_latency);
	assert_true(load->nth == 0 && load->ends && !load->taken && !load->mispredicted);
	address = fed_machine_event(&m, 1, 0);
	assert_int_equal(address->address, 0x20000);
	assert_int_equal(address->bytes, 4);
	assert_int_equal(address->translation + address->miss + address->psv, 0);
	assert_false(address->ends);
	assert_true(fed_machine_event(&m, 1, 1)->ends);
	branch = fed_machine_event(&m, 2, 0);
	assert_int_equal(branch->bytes, 0);
	assert_int_equal(branch->psv, GUS_CORE_FL_MB);
	assert_true(branch->taken && branch->mispredicted && branch->ends);
	branch = fed_machine_event(&m, 3, 0);
	assert_true(!branch->taken && !branch->mispredicted && !branch->psv);
}

/* Runs longer than what the engine remembers: only uops that access memory have an access, whoever had their place. */
static void who_has_an_access(void **state)
{
	(void)state;
	CODE("\x48\x8b\x06\x48\x89\x07\x48\xff\xc9\x48\x0f\xaf\xc0");
	for (unsigned i = 0; i < 3000; i++) {
		uint32_t op = i % 7 % 4;

		fed_machine_step(&m, op);
		if (op < 2)
			fed_machine_access(&m, 0x10000)->level = op ? GUS_HIT_L1 : GUS_HIT_L2;
	}
	fed_machine_run(&m);
	assert_int_equal(m.events.v[m.events.n - 1].iteration, 2999);
	for (size_t i = 0; i < m.events.n; i++) {
		const struct gus_core_event *e = &m.events.v[i];

		assert_int_equal(e->bytes, e->op < 2 ? 8 : 0);
		assert_int_equal(e->address, e->op < 2 ? 0x10000 : 0);
		assert_true(e->op == 0 || (e->level == GUS_HIT_L1 && !e->miss));
	}
}

/* The same load twice: the second has a line that is on its way, and waits as long as the first but for the cycle
 * that it came later, if it did. A third has an address that nobody knows. */
static void lines_on_their_way_and_unknown_addresses(void **state)
{
	const struct gus_core_event *first, *second, *third;

	(void)state;
	CODE("\x48\x8b\x06\x48\x8b\x06\x48\x8b\x06");
	for (uint32_t op = 0; op < 3; op++) {
		fed_machine_step(&m, op);
		fed_machine_access(&m, 0x10000)->level = op ? GUS_HIT_L1 : GUS_HIT_MEMORY;
	}
	m.accesses.v[2].known = false;
	fed_machine_run(&m);
	first = fed_machine_event(&m, 0, 0);
	second = fed_machine_event(&m, 1, 0);
	third = fed_machine_event(&m, 2, 0);
	assert_true(first->miss >= m.c.memory_latency);
	assert_int_equal(second->level, GUS_HIT_L1);
	assert_int_equal(second->psv, GUS_CORE_ST_L1);
	assert_int_equal(second->dispatched + second->miss, first->dispatched + first->miss);
	assert_true(!third->bytes && !third->miss && !third->psv);
}

/* imul, made one that serialises, behind which fetch begins anew: what is empty until issue goes on is a flush of
 * what was last. Without that time nothing is empty, as the next one is issued when it retires. */
static void behind_a_serialising_op(void **state)
{
	uint64_t flushed = 0;

	(void)state;
	CODE("\x48\x0f\xaf\xc0\x48\x0f\xaf\xdb");
	m.p->ops[0].flags |= GUS_OP_SERIALISING;
	for (uint32_t op = 0; op < 2; op++)
		fed_machine_step(&m, op);
	fed_machine_run(&m);
	assert_int_equal(fed_machine_cycles(&m, GUS_COMMIT_FLUSHED), 0);
	assert_int_equal(fed_machine_event(&m, 1, 0)->issued, fed_machine_event(&m, 0, 0)->completed);
	assert_int_equal(fed_machine_event(&m, 0, 0)->psv, GUS_CORE_FL_EX);
	m.steps.v[0].cached = m.steps.v[1].cached = false; /* what was decoded meanwhile is there, too */
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->issued, fed_machine_event(&m, 0, 0)->completed);
	m.steps.v[0].cached = m.steps.v[1].cached = true;
	m.c.serialise_penalty = 9;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 1, 0)->issued, fed_machine_event(&m, 0, 0)->completed + 9);
	assert_int_equal(fed_machine_cycles(&m, GUS_COMMIT_FLUSHED), 8);
	assert_int_equal(fed_machine_event(&m, 1, 0)->psv, 0);
	/* In the cycle of its end it retires. */
	for (size_t i = 0; i < m.cycles.n; i++) {
		if (m.cycles.v[i].state != GUS_COMMIT_FLUSHED)
			continue;
		assert_int_equal(m.cycles.v[i].cycle, fed_machine_event(&m, 0, 0)->retired + 1 + flushed++);
		assert_int_equal(m.cycles.v[i].stop, GUS_CORE_SERIALISED);
		assert_true(m.cycles.v[i].op == 1 && !m.cycles.v[i].of_next && !m.cycles.v[i].wrong);
	}
}

static uint64_t wrong_slots(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m.cycles.n; i++)
		n += m.cycles.v[i].wrong;
	return n;
}

/* mov rsi, [rsi]; test rsi, rsi; jnz on: the branch waits for the load, and what was fetched behind it fills the ROB
 * but for the load and itself, four slots a cycle; or comes as far as there is time. Of what is executed nothing is
 * later for that: the next op is issued the penalty after the branch. */
static void the_wrong_path_takes_slots(void **state)
{
	const struct gus_core_event *branch;

	(void)state;
	CODE("\x48\x8b\x36\x48\x85\xf6\x75\x00");
	m.c.mispredict_penalty = 20;
	for (unsigned i = 0; i < 4; i++) {
		fed_machine_step(&m, 0);
		fed_machine_access(&m, 0x10000 + 64 * i);
		fed_machine_step(&m, 1)->mispredicted = i == 2;
	}
	m.accesses.v[2].level = GUS_HIT_MEMORY;
	fed_machine_run(&m);
	branch = fed_machine_event(&m, 5, 0);
	assert_true(branch->mispredicted);
	assert_int_equal(wrong_slots(), m.c.rob - 2);
	assert_int_equal(fed_machine_event(&m, 6, 0)->issued, branch->completed + 20);
	for (size_t i = 0; i < m.cycles.n; i++) {
		const struct gus_core_cycle *now = &m.cycles.v[i];
		uint64_t behind = now->cycle - branch->issued;

		assert_true(!now->wrong || (now->cycle > branch->issued && now->cycle < branch->completed));
		assert_true(now->cycle <= branch->issued || behind > m.c.rob / 4 - 1 || now->wrong == 4);
		if (now->cycle == branch->completed - 1)
			assert_int_equal(now->free_rob, 0);
		if (now->cycle == branch->completed + 10)
			assert_int_equal(now->free_rob, m.c.rob);
	}
	for (m.c.rob = 221; m.c.rob < 224; m.c.rob++) { /* to the last entry, also where one to three are left */
		fed_machine_run(&m);
		assert_int_equal(wrong_slots(), m.c.rob - 2);
	}
	m.c.rob = 0; /* no limit is told as none free */
	fed_machine_run(&m);
	for (size_t i = 0; i < m.cycles.n; i++)
		assert_int_equal(m.cycles.v[i].free_rob, 0);
	m.c.rob = 224;
	m.accesses.v[2].level = GUS_HIT_L1;
	fed_machine_run(&m);
	branch = fed_machine_event(&m, 5, 0);
	assert_int_equal(wrong_slots(), 4 * (branch->completed - branch->issued - 1));
	m.steps.v[5].mispredicted = false;
	fed_machine_run(&m);
	assert_int_equal(wrong_slots(), 0);
}

/* mov rdi, [rdx], from L3; mov [rdi], rax; mov rbx, [rsi]; 3 nops. */
enum { LATE, STORE, LOAD, NOPS, OPS = NOPS + 3 };

static void ops_in_turn(unsigned turns)
{
	CODE("\x48\x8b\x3a\x48\x89\x07\x48\x8b\x1e\x90\x90\x90");
	m.c.mispredict_penalty = 20;
	m.c.store_sets = 64;
	for (unsigned i = 0; i < turns; i++)
		for (uint32_t op = 0; op < OPS; op++) {
			fed_machine_step(&m, op);
			if (op < NOPS)
				fed_machine_access(&m, op == LATE ? 0x10000 + 64 * i : 0x20000)->level =
					op == LATE ? GUS_HIT_L3 : GUS_HIT_L1;
		}
}

static const struct gus_core_event *event(unsigned turn, uint32_t op, unsigned nth)
{
	return fed_machine_event(&m, turn * OPS + op, nth);
}

/* Of a store the address comes first. */
static uint64_t address_known(unsigned turn)
{
	return event(turn, STORE, 0)->completed;
}

/* The first load is too early, and is fetched again when the store's address is known; those behind it wait. */
static void a_load_that_was_too_early(void **state)
{
	uint64_t flushed = 0, with;
	const struct gus_core_event *load;

	(void)state;
	ops_in_turn(3);
	fed_machine_run(&m);
	with = m.took;
	load = event(0, LOAD, 0);
	assert_int_equal(load->psv, GUS_CORE_FL_MO);
	assert_int_equal(load->issued, address_known(0) + 20);
	assert_true(event(0, STORE, 0)->dispatched >= event(0, LATE, 0)->completed);
	assert_true(event(0, NOPS, 0)->issued >= load->issued);
	for (size_t i = 0; i < m.cycles.n; i++) {
		const struct gus_core_cycle *now = &m.cycles.v[i];

		flushed += now->of_next;
		assert_int_equal(now->of_next, now->state == GUS_COMMIT_FLUSHED);
		assert_true(!now->of_next || (now->op == LOAD && now->cycle < load->issued));
	}
	/* When the load is issued the flush is over. */
	assert_int_equal(flushed, load->issued - event(0, STORE, 1)->retired - 1);
	assert_true(wrong_slots() >= 4 * 40 && wrong_slots() < m.c.rob);
	for (unsigned turn = 1; turn < 3; turn++) {
		assert_int_equal(event(turn, LOAD, 0)->psv, 0);
		assert_true(event(turn, LOAD, 0)->issued < address_known(turn));
		assert_true(event(turn, LOAD, 0)->dispatched > event(turn, STORE, 0)->dispatched);
	}
	/* Each op once and in order, however it is cut. */
	for (size_t i = 1; i < m.events.n; i++)
		assert_true(m.events.v[i].iteration - m.events.v[i - 1].iteration <= 1);
	assert_int_equal(m.events.v[m.events.n - 1].iteration, 3 * OPS - 1);
	fed_machine_run_pieces(&m, 1);
	assert_int_equal(m.took, with);
	m.c.store_sets = 0;
	fed_machine_run(&m);
	assert_int_equal(fed_machine_cycles(&m, GUS_COMMIT_FLUSHED), 0);
	assert_int_equal(event(0, LOAD, 0)->psv, 0);
	assert_true(m.took < with - 20);
}

/* The load's code is late, too: both have happened to it. Its bytes begin inside the store's, so that it would wait
 * until that is in L1; when it is fetched again the store has long been there, and it goes at once. */
static void a_late_load_that_was_too_early(void **state)
{
	const struct gus_core_event *load;

	(void)state;
	ops_in_turn(1);
	m.steps.v[LOAD] = (struct gus_op_step){ .op = LOAD, .access = LOAD, .fetch = 8, .code_level = GUS_HIT_L3 };
	m.accesses.v[LOAD].address += 4;
	fed_machine_run(&m);
	load = event(0, LOAD, 0);
	assert_int_equal(load->psv, GUS_CORE_FL_MO | GUS_CORE_DR_L1);
	assert_true(load->issued >= address_known(0) + 20 && load->issued > event(0, STORE, 1)->retired + 2);
	assert_true(load->dispatched <= load->issued + 2 && load->completed <= load->dispatched + 5);
}

/* In the second turn it reads something else: it waits for the store of its set in vain. One that has no set does not,
 * and neither does one whose own address comes as late as the store's go too early. */
static void who_waits_for_whom(void **state)
{
	(void)state;
	ops_in_turn(2);
	m.accesses.v[NOPS + LOAD].address = 0x30000;
	fed_machine_run(&m);
	assert_int_equal(event(0, LOAD, 0)->psv, GUS_CORE_FL_MO);
	assert_int_equal(event(1, LOAD, 0)->dispatched, event(1, STORE, 0)->dispatched + 1);
	assert_int_equal(event(1, LOAD, 0)->psv, 0);
	m.accesses.v[LOAD].address = 0x30000; /* they never meet */
	fed_machine_run(&m);
	assert_int_equal(event(0, LOAD, 0)->psv, 0);
	assert_true(event(1, LOAD, 0)->dispatched < event(1, STORE, 0)->dispatched);
	fed_machine_end(&m);
	/* mov rdi, [rdx]; mov [rdi], rax; mov rbx, [rdi]. */
	CODE("\x48\x8b\x3a\x48\x89\x07\x48\x8b\x1f");
	m.c.store_sets = 64;
	for (uint32_t op = 0; op < 3; op++) {
		fed_machine_step(&m, op);
		fed_machine_access(&m, op ? 0x20000 : 0x10000)->level = op ? GUS_HIT_L1 : GUS_HIT_L3;
	}
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 2, 0)->psv, 0);
	assert_int_equal(fed_machine_cycles(&m, GUS_COMMIT_FLUSHED), 0);
}

/* The same load, by an address that its own op would pass on, in the word in which the late one passes the store's on:
 * what is there is another op's as yet, and does not keep the load from going too early. By a register it does. */
static void an_address_passed_on_inside_an_op(void **state)
{
	const struct gus_uop *late, *store, *load;

	(void)state;
	ops_in_turn(1);
	late = &m.p->uops[m.p->ops[LATE].uop];
	store = &m.p->uops[m.p->ops[STORE].uop];
	load = &m.p->uops[m.p->ops[LOAD].uop];
	m.p->flows[load->in].reg = m.p->flows[late->out].reg;
	fed_machine_run(&m);
	assert_int_equal(event(0, LOAD, 0)->psv, 0);
	m.p->flows[late->out].reg = m.p->flows[store->in].reg = m.p->flows[load->in].reg = GUS_TEMP;
	fed_machine_run(&m);
	assert_int_equal(event(0, LOAD, 0)->psv, GUS_CORE_FL_MO);
}

/* mov rdi, [rdx]; mov [rdi], rax; mov r9, [r8]; mov [r9], rax; mov rbx, [rsi]: two stores whose addresses come so late,
 * and a load. */
enum { FIRST_LATE, FIRST, SECOND_LATE, SECOND, READS, TWO };

static void add_two_stores(enum gus_hit first, enum gus_hit second, uint64_t reads)
{
	static unsigned turn;

	for (uint32_t op = 0; op < TWO; op++) {
		struct gus_op_access *a;
		uint64_t late = 0x100000 + 64 * (2 * turn + (op == SECOND_LATE));

		fed_machine_step(&m, op);
		a = fed_machine_access(&m, op == READS ? reads : op == FIRST ? 0x20000 : op == SECOND ? 0x30000 : late);
		a->level = (uint8_t)(op == FIRST_LATE ? first : op == SECOND_LATE ? second : GUS_HIT_L1);
	}
	turn++;
}

/* The load has met the first store, and now reads what the second wrote. It waits for the first, and is too early for
 * the second only if the first is known when it is issued. */
static void between_two_stores(void **state)
{
	static const struct { enum gus_hit first, second; } cases[] = { { GUS_HIT_L1, GUS_HIT_L1 },
		{ GUS_HIT_L3, GUS_HIT_L3 }, { GUS_HIT_MEMORY, GUS_HIT_L3 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CODE("\x48\x8b\x3a\x48\x89\x07\x4d\x8b\x08\x49\x89\x01\x48\x8b\x1e");
		m.c.store_sets = 4096;
		m.c.mispredict_penalty = 20;
		add_two_stores(GUS_HIT_L3, GUS_HIT_L1, 0x20000);
		add_two_stores(cases[i].first, cases[i].second, 0x30000);
		fed_machine_run(&m);
		assert_int_equal(fed_machine_event(&m, READS, 0)->psv, GUS_CORE_FL_MO);
		assert_int_equal(fed_machine_event(&m, TWO + READS, 0)->psv, 0);
		assert_true(fed_machine_event(&m, TWO + READS, 0)->dispatched >
			    fed_machine_event(&m, TWO + FIRST, 0)->dispatched);
		fed_machine_end(&m);
	}
}

/* 40 nops are issued before the load, in which time the first store's address has come; that of the second comes
 * later, and nothing retires until then. What was known is no reason to be too early, whoever met it or not. */
static void behind_a_known_store(void **state)
{
	static const uint32_t order[] = { SECOND_LATE, FIRST_LATE, FIRST, SECOND };

	(void)state;
	for (unsigned met = 0; met < 2; met++) {
		for (unsigned reads = FIRST; reads <= SECOND; reads += SECOND - FIRST) {
			uint64_t behind;

			CODE("\x48\x8b\x3a\x48\x89\x07\x4d\x8b\x08\x49\x89\x01\x48\x8b\x1e\x90");
			m.c.store_sets = 4096;
			m.c.mispredict_penalty = 20;
			add_two_stores(GUS_HIT_L3, GUS_HIT_L1, met ? 0x20000 : 0x40000);
			behind = m.steps.n;
			for (unsigned i = 0; i < 4; i++) {
				fed_machine_step(&m, order[i]);
				fed_machine_access(&m, order[i] == FIRST ? 0x20000 : order[i] == SECOND ? 0x30000 :
						   0x200000 + 64 * i)->level = i ? GUS_HIT_L1 : GUS_HIT_MEMORY;
			}
			for (unsigned i = 0; i < 40; i++)
				fed_machine_step(&m, TWO);
			fed_machine_step(&m, READS);
			fed_machine_access(&m, reads == FIRST ? 0x20000 : 0x30000);
			fed_machine_run(&m);
			assert_true(fed_machine_event(&m, behind + 2, 0)->retired > 200);
			assert_int_equal(fed_machine_event(&m, m.steps.n - 1, 0)->psv,
					 reads == FIRST ? 0 : GUS_CORE_FL_MO);
			fed_machine_end(&m);
		}
	}
}

/* mov rdi, [rdx]; mov rax, [r8]; mov [rdi], rax; mov rbx, [rsi]: in the first turn the load meets the store, in the
 * second it reads something else, and waits for the store's data, which come later than its address. */
static void data_are_waited_for(void **state)
{
	(void)state;
	CODE("\x48\x8b\x3a\x49\x8b\x00\x48\x89\x07\x48\x8b\x1e");
	m.c.store_sets = 4096;
	for (uint32_t i = 0; i < 8; i++) {
		fed_machine_step(&m, i % 4);
		fed_machine_access(&m, i % 4 == 2 || i == 3 ? 0x20000 : 0x100000 + 64 * i)->level =
			i == 0 || i == 5 ? GUS_HIT_L3 : GUS_HIT_L1;
	}
	fed_machine_run(&m);
	assert_int_equal(fed_machine_event(&m, 3, 0)->psv, GUS_CORE_FL_MO);
	assert_true(fed_machine_event(&m, 6, 1)->dispatched > fed_machine_event(&m, 6, 0)->dispatched + 10);
	assert_int_equal(fed_machine_event(&m, 7, 0)->dispatched, fed_machine_event(&m, 6, 1)->dispatched + 1);
}

/* cmpsq: of two loads the second reads what the store wrote, whose address is late. */
static void the_second_of_two_loads(void **state)
{
	(void)state;
	CODE("\x49\x8b\x11\x48\x89\x02\x48\xa7\x90"); /* mov rdx, [r9]; mov [rdx], rax; cmpsq; nop */
	assert_int_equal(m.p->ops[2].memories_n, 2);
	m.c.store_sets = 64;
	for (unsigned which = 0; which < 3; which++) { /* neither, the first, the second */
		m.steps.n = m.accesses.n = 0;
		for (uint32_t op = 0; op < 4; op++)
			fed_machine_step(&m, op);
		fed_machine_access(&m, 0x10000)->level = GUS_HIT_L3;
		fed_machine_access(&m, 0x20000);
		fed_machine_access(&m, which == 1 ? 0x20000 : 0x30000);
		fed_machine_access(&m, which == 2 ? 0x20000 : 0x40000);
		m.steps.v[1].access = 1;
		m.steps.v[2].access = 2;
		m.steps.v[3].access = 4;
		fed_machine_run(&m);
		assert_int_equal(fed_machine_event(&m, 2, 0)->psv, which ? GUS_CORE_FL_MO : 0);
		assert_int_equal(fed_machine_event(&m, 3, 0)->psv, 0);
	}
}

/* movsq, cmpsq, pop [rdi], push [rdi]: each uop has the address of the access that it makes, whichever comes first.
 * movsq has two uops that load, and one access that does. */
static void whose_access_it_is(void **state)
{
	enum { READ = 0x10000, WRITTEN = 0x20000, OTHER = 0x30000 };

	(void)state;
	CODE("\x48\xa5\x48\xa7\x8f\x07\xff\x37");
	for (uint32_t op = 0; op < 4; op++) {
		const struct gus_program_memory *memories = &m.p->memories[m.p->ops[op].memory];

		assert_int_equal(m.p->ops[op].memories_n, 2);
		fed_machine_step(&m, op);
		for (unsigned n = 0; n < 2; n++)
			fed_machine_access(&m, memories[n].store ? WRITTEN : n && op == 1 ? OTHER : READ)->level =
				memories[n].store ? GUS_HIT_L1 : GUS_HIT_L2;
	}
	fed_machine_run(&m);
	for (uint32_t op = 0; op < 4; op++) {
		unsigned seen = 0;

		for (unsigned nth = 0; nth < m.p->ops[op].uops_n; nth++) {
			const struct gus_core_event *e = fed_machine_event(&m, op, nth);
			unsigned kind = m.p->uops[e->uop].kind;

			if (kind == GUS_UOP_LOAD)
				assert_int_equal(e->address, seen++ && op == 1 ? OTHER : READ);
			if (kind >= GUS_UOP_STORE_ADDRESS)
				assert_int_equal(e->address, WRITTEN);
		}
		assert_int_equal(seen, op < 2 ? 2 : 1);
	}
}

/* Each of 500 turns reads what the store before it wrote: of one load, or of each that can meet one, a turn is too
 * early, of which the sets of one entry learn for all. A branch behind the load is mispredicted in every third turn,
 * and code is decoded in turns, late or not: all is executed, in order, the same however it is cut. */
static void what_is_fetched_again(void **state)
{
	unsigned early = 0, turns = 500;
	uint64_t took;

	(void)state;
	CODE("\x48\x8b\x3a\x48\x89\x07\x48\x8b\x1e\x48\x39\xc8\x75\x00\x48\x01\x07\x90");
	for (unsigned i = 0; i < turns; i++)
		for (uint32_t op = 0; op < m.p->ops_n; op++) {
			struct gus_op_step *step = fed_machine_step(&m, op);

			step->cached = i / 5 % 2;
			step->fetch = op == 2 && i % 7 == 0 ? 11 : 0;
			step->mispredicted = op == 3 && i % 3 == 0;
			for (unsigned n = 0; n < m.p->ops[op].memories_n; n++)
				fed_machine_access(&m, op == 0 ? 0x10000 + 64 * i : 0x20000 + 64 * (i % 64))->level =
					op ? GUS_HIT_L1 : GUS_HIT_L3;
		}
	for (uint32_t sets = 1; sets <= 1024; sets *= 1024) {
		m.c.store_sets = sets;
		fed_machine_run(&m);
		took = m.took;
		early = 0;
		for (size_t i = 0; i < m.events.n; i++) {
			early += (m.events.v[i].psv & GUS_CORE_FL_MO) != 0;
			assert_true(!i || m.events.v[i].iteration - m.events.v[i - 1].iteration <= 1);
		}
		assert_int_equal(m.events.v[m.events.n - 1].iteration, m.steps.n - 1);
		assert_in_range(early, 1, 3);
		fed_machine_run_pieces(&m, 1);
		assert_int_equal(m.took, took);
		fed_machine_run_pieces(&m, 333);
		assert_int_equal(m.took, took);
	}
}

#define CASE(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_has_happened_to_a_uop),
		CASE(who_has_an_access),
		CASE(lines_on_their_way_and_unknown_addresses),
		CASE(behind_a_serialising_op),
		CASE(the_wrong_path_takes_slots),
		CASE(a_load_that_was_too_early),
		CASE(a_late_load_that_was_too_early),
		CASE(who_waits_for_whom),
		CASE(an_address_passed_on_inside_an_op),
		cmocka_unit_test(between_two_stores),
		cmocka_unit_test(behind_a_known_store),
		CASE(data_are_waited_for),
		CASE(the_second_of_two_loads),
		CASE(whose_access_it_is),
		CASE(what_is_fetched_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
