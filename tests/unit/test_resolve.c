/* SPDX-License-Identifier: MIT */
/* What of a step the stream engine finds out before it asks when: which store feeds a load, which line may be on its
 * way, what an access crosses, with which stores a store leaves. A made program has a store and a load; where they go
 * is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/stream/private.h"
#include "model/machine/steps.h"

enum { STORE, LOAD, NONE = -1, A = 0x10000, FAR = 0x900000 };

struct made {
	struct gus_program p;
	struct gus_program_insn insns[2];
	struct gus_op ops[2];
	struct gus_uop uops[2];
	struct gus_program_memory memories[2];
	struct gus_core_config c;
	struct gus_stream_options o;
	struct stream s;
	struct stream_resolver r;
};

static struct made m;

static int begin(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	m.p = (struct gus_program){ .insns = m.insns, .insns_n = 2, .ops = m.ops, .ops_n = 2, .uops = m.uops,
		.uops_n = 2, .memories = m.memories, .memories_n = 2 };
	m.uops[STORE].kind = GUS_UOP_STORE_DATA;
	m.uops[LOAD].kind = GUS_UOP_LOAD;
	m.memories[STORE] = (struct gus_program_memory){ .store = true, .bytes = 8 };
	m.memories[LOAD] = (struct gus_program_memory){ .load = true, .bytes = 8 };
	for (uint32_t op = 0; op < 2; op++)
		m.ops[op] = (struct gus_op){ .insn = op, .insns_n = 1, .uop = op, .uops_n = 1, .memory = op,
			.memories_n = 1, .stores = op == STORE, .loads = op == LOAD };
	m.c.line_size = 64;
	m.c.page_size = 4096;
	m.s = (struct stream){ .p = &m.p, .c = &m.c, .o = &m.o, .lanes = 1, .fed = true,
		.mode = GUS_CORE_FETCH_IDEAL };
	gus_stream_resolver_open(&m.r, &m.s);
	return 0;
}

static int end(void **state)
{
	(void)state;
	gus_stream_resolver_close(&m.r);
	return 0;
}

/* One step, and what was found of its access. */
static struct stream_access tell_all(uint32_t op, const struct gus_op_access *where)
{
	const struct gus_op_step told = { .op = op };

	gus_stream_resolve_told(&m.r, &(struct gus_op_steps){ &told, where, 1 });
	assert_int_equal(m.r.n, 1);
	assert_int_equal(m.r.steps[0].op, op);
	return m.r.accesses.v[m.r.steps[0].access];
}

static struct stream_access tell(uint32_t op, uint64_t address, uint32_t bytes)
{
	return tell_all(op, &(struct gus_op_access){ .address = address, .bytes = bytes, .known = true });
}

/* So many stores to one word, which has another place in tables and pages than those at A. */
static void stores_elsewhere(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		tell(STORE, FAR + 0x400, 8);
}

static void expect_store(const char *what, struct stream_access a, int store, bool blocked)
{
	bool fed = a.flags & STREAM_FORWARD;

	if (fed != (store != NONE) || (fed && a.word != store))
		fail_msg("%s: fed by %d, not %d", what, fed ? a.word : NONE, store);
	if (fed && (a.forwarding == GUS_FORWARD_BLOCKED) != blocked)
		fail_msg("%s: %s", what, blocked ? "not blocked" : "blocked");
}

/* A few stores, then a load of so many bytes: which of them feeds it, and whether it has all of them. */
static void the_youngest_store_of_any_byte(void **state)
{
	static const struct feeding {
		const char *what;
		struct { int at; uint32_t bytes; } stores[4];
		int at;
		uint32_t bytes;
		int from;
		bool blocked;
	} cases[] = {
		{ "the same word", { { 0, 8 } }, 0, 8, 0, false },
		{ "the word behind", { { 0, 8 } }, 8, 8, NONE, false },
		{ "the word before", { { 8, 8 } }, 0, 8, NONE, false },
		{ "its last byte", { { 0, 8 } }, 7, 1, 0, false },
		{ "the byte before it", { { 1, 4 } }, 0, 1, NONE, false },
		{ "the byte behind it", { { 1, 4 } }, 5, 1, NONE, false },
		{ "its first byte and one before", { { 1, 4 } }, 0, 2, 0, true },
		{ "its last byte and one behind", { { 1, 4 } }, 4, 2, 0, true },
		{ "across a word, the first half", { { 0, 8 } }, 4, 8, 0, true },
		{ "across a word, the second half", { { 8, 8 } }, 4, 8, 0, true },
		{ "the younger of two", { { 0, 8 }, { 0, 8 } }, 0, 8, 1, false },
		{ "the younger has it not", { { 0, 4 }, { 4, 4 } }, 0, 4, 0, false },
		{ "the younger has half", { { 0, 8 }, { 4, 4 } }, 0, 8, 1, true },
		{ "of two words the younger", { { 8, 8 }, { 0, 8 } }, 4, 8, 1, true },
		{ "of two words the younger, the other way", { { 0, 8 }, { 8, 8 } }, 4, 8, 1, true },
		{ "behind one across words, in the first", { { 0, 8 }, { 4, 8 } }, 0, 4, 0, false },
		{ "behind one across words, in the last", { { 8, 8 }, { 4, 8 } }, 12, 4, 0, false },
		{ "behind two across words, in the last", { { 8, 8 }, { 4, 7 }, { 4, 6 } }, 12, 4, 0, false },
		{ "behind one that lacks the last byte", { { 8, 8 }, { 4, 11 } }, 15, 1, 0, false },
		{ "by the words' own order", { { 0, 8 }, { 12, 2 }, { 4, 8 } }, 12, 2, 1, false },
		{ "by the words' own order, the other way", { { 12, 2 }, { 0, 8 }, { 6, 6 } }, 0, 2, 1, false },
		{ "one across words that ends at a word", { { 16, 8 }, { 4, 12 } }, 16, 8, 0, false },
		{ "four words, the last byte", { { 0, 32 } }, 31, 1, 0, false },
		{ "four words, and one behind", { { 0, 32 } }, 32, 1, NONE, false },
		{ "into four words", { { 16, 8 } }, 0, 32, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct feeding *f = &cases[i];

		end(NULL);
		begin(NULL);
		for (unsigned n = 0; n < 4 && f->stores[n].bytes; n++)
			tell(STORE, A + (uint64_t)f->stores[n].at, f->stores[n].bytes);
		expect_store(f->what, tell(LOAD, A + (uint64_t)f->at, f->bytes), f->from, f->blocked);
	}
}

/* The first 16 of a word are looked at; the last 1,023 stores are known; a word is pushed out by one of which the
 * number is 1,024 more. */
static void what_is_forgotten(void **state)
{
	(void)state;
	for (unsigned others = 15; others <= 16; others++) {
		tell(STORE, A, 1);
		for (unsigned i = 0; i < others; i++)
			tell(STORE, A + 1, 1);
		assert_int_equal(tell(LOAD, A, 1).flags & STREAM_FORWARD, others == 15 ? STREAM_FORWARD : 0);
	}
	for (unsigned others = 1022; others <= 1023; others++) {
		uint16_t number = tell(STORE, A, 8).stored;
		struct stream_access a;

		stores_elsewhere(others);
		a = tell(LOAD, A, 8);
		expect_store("a word of long ago", a, others == 1022 ? number : NONE, false);
	}
	for (unsigned others = 1022; others <= 1023; others++) { /* the same of a byte that a younger store has not */
		uint16_t number = tell(STORE, A, 1).stored;

		stores_elsewhere(others - 1);
		tell(STORE, A + 1, 1);
		expect_store("a byte of long ago", tell(LOAD, A, 1), others == 1022 ? number : NONE, false);
	}
	tell(STORE, A + 8, 8);
	tell(STORE, A + 8 + 8192, 8);
	assert_int_equal(tell(LOAD, A + 8, 8).flags & STREAM_FORWARD, 0);
	assert_int_equal(tell(LOAD, A + 8 + 8192, 8).flags & STREAM_FORWARD, STREAM_FORWARD);
}

/* Nothing is known of where it goes: nothing is found, and nothing is forgotten. */
static void what_is_not_known(void **state)
{
	const struct gus_op_access unknown = { .address = A, .bytes = 8 };

	(void)state;
	tell_all(STORE, &unknown);
	assert_int_equal(tell(LOAD, A, 8).flags, STREAM_KNOWN);
	tell(STORE, A, 8);
	tell_all(STORE, &unknown);
	assert_int_equal(tell_all(LOAD, &unknown).flags, 0);
	expect_store("the known one", tell(LOAD, A, 8), 0, false);
	/* Sizes that are not told are the instruction's, and one byte at least. */
	assert_int_equal(tell(LOAD, A + 60, 0).flags & STREAM_SPLIT, STREAM_SPLIT);
	m.memories[LOAD].bytes = 0;
	assert_int_equal(tell(LOAD, A + 63, 0).flags & STREAM_SPLIT, 0);
}

/* What a store has is all that a load needs, wherever its line is; one that is blocked has to wait for both. */
static void a_fed_load_needs_no_line(void **state)
{
	struct gus_op_access far = { .address = A, .bytes = 8, .level = GUS_HIT_L2, .tlb = GUS_TLB_WALK,
		.known = true };
	struct stream_access a;

	(void)state;
	tell(STORE, A, 8);
	a = tell_all(LOAD, &far);
	assert_int_equal(a.flags, STREAM_KNOWN | STREAM_FORWARD);
	assert_int_equal(a.level, GUS_HIT_L1);
	assert_int_equal(a.tlb, GUS_TLB_HIT);
	far.bytes = 16;
	a = tell_all(LOAD, &far);
	assert_int_equal(a.flags, STREAM_KNOWN | STREAM_FORWARD | STREAM_LINE);
	assert_int_equal(a.level, GUS_HIT_L2);
	assert_int_equal(a.tlb, GUS_TLB_WALK);
}

/* A hit waits for its line if that was missed, and no other one in its place since: lines 5 and 416 share one
 * (gus_core_line_slot). */
static void lines_on_their_way(void **state)
{
	static const struct { uint64_t line; enum gus_hit level; bool waits; } steps[] = {
		{ 5, GUS_HIT_L1, false }, { 5, GUS_HIT_L2, true }, { 5, GUS_HIT_L1, true }, { 6, GUS_HIT_L1, false },
		{ 5, GUS_HIT_L1, true }, { 416, GUS_HIT_L1, false }, { 5, GUS_HIT_L1, true },
		{ 416, GUS_HIT_MEMORY, true }, { 5, GUS_HIT_L1, false }, { 416, GUS_HIT_L1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		for (uint64_t byte = 0; byte < 64; byte += 63) {
			struct gus_op_access where = { .address = steps[i].line * 64 + byte, .bytes = 1,
				.level = (uint8_t)steps[i].level, .known = true };

			if ((tell_all(LOAD, &where).flags & STREAM_LINE) != (steps[i].waits ? STREAM_LINE : 0))
				fail_msg("step %zu, byte %d", i, (int)byte);
		}
	m.c.line_size = 0; /* no lines */
	assert_int_equal(tell_all(STORE, &(struct gus_op_access){ .level = GUS_HIT_L2, .known = true }).flags &
			 STREAM_LINE, 0);
}

/* Lines of 64 bytes, pages of 4,096, banks of 8: bit b is bank b. */
static void places_in_lines(void **state)
{
	static const struct { uint64_t at; uint32_t bytes; int flags; uint8_t banks; } cases[] = {
		{ 0, 8, 0, 0x01 }, { 7, 1, 0, 0x01 }, { 7, 2, 0, 0x03 }, { 4, 8, 0, 0x03 }, { 8, 8, 0, 0x02 },
		{ 8, 32, 0, 0x1e }, { 56, 8, 0, 0x80 }, { 0, 64, 0, 0xff }, { 60, 4, 0, 0x80 },
		{ 61, 4, STREAM_SPLIT, 0x81 }, { 63, 2, STREAM_SPLIT, 0x81 }, { 56, 16, STREAM_SPLIT, 0x81 },
		{ 4092, 4, 0, 0x80 }, { 4093, 4, STREAM_SPLIT | STREAM_PAGE_SPLIT, 0x81 },
		{ 1, 64, STREAM_SPLIT, 0xff }, { 1, 65, 0, 0 }, { 4095, 65, 0, 0 }, /* more than a line: what is it? */
	};

	(void)state;
	m.c.l1d_bank_ports = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream_access load = tell(LOAD, A + cases[i].at, cases[i].bytes);
		struct stream_access store = tell(STORE, FAR + cases[i].at, cases[i].bytes);

		if (load.flags != (STREAM_KNOWN | cases[i].flags) || load.banks != cases[i].banks)
			fail_msg("load %zu: flags %x, banks %x", i, load.flags, load.banks);
		if (store.flags != (STREAM_KNOWN | cases[i].flags) || store.banks)
			fail_msg("store %zu: flags %x, banks %x", i, store.flags, store.banks);
	}
	m.c.page_size = 0;
	assert_int_equal(tell(LOAD, A + 4093, 4).flags, STREAM_KNOWN | STREAM_SPLIT);
	m.c.l1d_bank_ports = 0;
	assert_int_equal(tell(LOAD, A, 8).banks, 0);
	m.memories[LOAD].gather = true;
	assert_int_equal(tell(LOAD, A + 61, 4).flags, STREAM_KNOWN);
}

/* The youngest store whose low 12 bits meet the load's, unless the load is fed. */
static void aliases(void **state)
{
	static const struct aliased {
		const char *what;
		uint64_t stores[3];
		uint32_t bytes;         /* of each, and of the load */
		uint64_t at;
		int from;
	} cases[] = {
		{ "a page behind", { A + 0x100 }, 8, A + 0x1100, 0 },
		{ "a page before", { A + 0x100 }, 8, A - 0xf00, 0 },
		{ "the word behind", { A + 0x100 }, 8, A + 0x1108, NONE },
		{ "the word before", { A + 0x100 }, 8, A + 0x10f8, NONE },
		{ "its first byte is the load's last", { A + 0x107 }, 8, A + 0x1100, 0 },
		{ "behind the load's last", { A + 0x108 }, 4, A + 0x1104, NONE },
		{ "its last byte is the load's first", { A + 0x0f9 }, 8, A + 0x1100, 0 },
		{ "before the load's first, in its word", { A + 0x100 }, 4, A + 0x1104, NONE },
		{ "behind the load's last, in its word", { A + 0x104 }, 4, A + 0x1100, NONE },
		{ "across the end of a page", { A + 0xffc }, 8, A + 0x2000, 0 },
		{ "the youngest", { A + 0x100, A + 0x2100, A + 0x200 }, 8, A + 0x4100, 1 },
		{ "of two words the younger, the first", { A + 0x108, A + 0x100 }, 8, A + 0x1104, 1 },
		{ "of two words the younger, the last", { A + 0x100, A + 0x108 }, 8, A + 0x1104, 1 },
		{ "it is fed", { A + 0x100, A + 0x1100 }, 8, A + 0x1100, NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct aliased *a = &cases[i];

		for (unsigned penalty = 0; penalty < 2; penalty++) {
			struct stream_access found;

			end(NULL);
			begin(NULL);
			m.c.alias_penalty = penalty;
			for (unsigned n = 0; n < 3 && a->stores[n]; n++)
				tell(STORE, a->stores[n], a->bytes);
			found = tell(LOAD, a->at, a->bytes);
			if (((found.flags & STREAM_ALIAS) != 0) != (penalty && a->from != NONE) ||
			    (found.flags & STREAM_ALIAS && found.alias != a->from))
				fail_msg("%s: flags %x, store %d", a->what, found.flags, found.alias);
		}
	}
	for (unsigned others = 1022; others <= 1023; others++) {
		tell(STORE, A + 0x100, 8);
		stores_elsewhere(others);
		assert_int_equal(tell(LOAD, A + 0x1100, 8).flags & STREAM_ALIAS, others == 1022 ? STREAM_ALIAS : 0);
	}
}

/* Two stores a cycle, of one line: so many cycles does each take beside those before. */
static void stores_that_leave_together(void **state)
{
	static const struct { uint64_t at; uint32_t bytes; bool known; unsigned cycles; } steps[] = {
		{ A, 8, true, 1 }, { A + 8, 8, true, 0 }, { A + 16, 8, true, 1 }, /* the third needs another */
		{ A + 64, 8, true, 1 }, { A + 127, 1, true, 0 }, { A + 128, 1, true, 1 }, { A + 127, 1, true, 1 },
		{ A + 60, 8, true, 2 }, { A + 60, 4, true, 1 }, { A + 56, 4, true, 0 }, { A + 60, 8, true, 2 },
		{ 0, 8, false, 1 }, { FAR, 8, true, 0 }, /* which may be of the same line */
		{ FAR, 8, true, 1 }, { 0, 8, false, 0 }, { FAR, 8, true, 1 },
	};

	(void)state;
	m.c.l1d_stores = 2;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const struct gus_op_access where = { steps[i].at, steps[i].bytes, GUS_HIT_L1, GUS_TLB_HIT,
			steps[i].known };

		tell_all(STORE, &where);
		if (m.r.steps[0].commits != steps[i].cycles)
			fail_msg("step %zu: %u cycles", i, m.r.steps[0].commits);
		tell(LOAD, A + 8 * i, 8); /* leaves with nothing */
		assert_int_equal(m.r.steps[0].commits, 0);
	}
	m.c.l1d_stores = 1;
	for (unsigned i = 0; i < 3; i++) {
		tell(STORE, A, 8);
		assert_int_equal(m.r.steps[0].commits, 1);
	}
	m.c.l1d_stores = 0; /* no limit */
	tell(STORE, A + 60, 8);
	assert_int_equal(m.r.steps[0].commits, 0);
}

/* Of a repeated string instruction each 32 bytes are a cycle, and what comes behind begins another one. */
static void strings_leave_by_width(void **state)
{
	static const struct { uint32_t bytes, cycles; } cases[] = { { 1, 1 }, { 32, 1 }, { 33, 2 }, { 4096, 128 },
		{ 65536 * 32, 65536 }, { 150000 * 32, 150000 }, { 150001 * 32, 150000 } };

	(void)state;
	m.c.l1d_stores = 2;
	m.c.l1d_store_width = 32;
	m.insns[STORE].info.flags = GUS_INSN_REP;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		tell(STORE, A, cases[i].bytes);
		assert_int_equal(m.r.steps[0].commits, cases[i].cycles);
	}
	m.insns[STORE].info.flags = 0;
	tell(STORE, A, 8);
	assert_int_equal(m.r.steps[0].commits, 1);
	m.insns[STORE].info.flags = GUS_INSN_REP;
	tell_all(STORE, &(struct gus_op_access){ .bytes = 4096 }); /* nobody knows where: one store */
	assert_int_equal(m.r.steps[0].commits, 0);
}

/* Programs that run by themselves ask: what each access finds and how each branch goes, in the order of the program. */
struct asked { struct gus_core_access accesses[8]; unsigned n; };

static void find_second_level(void *context, const struct gus_core_access *access, enum gus_hit *level,
			      enum gus_tlb *tlb)
{
	struct asked *a = context;

	a->accesses[a->n++] = *access;
	*level = GUS_HIT_L3;
	*tlb = GUS_TLB_SECOND;
}

static bool wrong_in_the_second(void *context, uint32_t op, uint64_t iteration)
{
	(void)context;
	assert_int_equal(op, LOAD);
	return iteration == 1;
}

static void expect_asked(const struct asked *a, unsigned n, uint32_t op, uint64_t iteration, bool known)
{
	assert_int_equal(a->accesses[n].op, op);
	assert_int_equal(a->accesses[n].memory, op);
	assert_int_equal(a->accesses[n].iteration, iteration);
	assert_int_equal(a->accesses[n].store, op == STORE);
	assert_int_equal(a->accesses[n].known, known);
}

/* Of itself a program runs from its first op to its last, again and again, also over the ends of chunks; a source says
 * which op comes, and which is an iteration's last. */
static void oracles_are_asked_in_order(void **state)
{
	struct asked asked = { .n = 0 };
	const struct gus_core_memory memory = { &asked, find_second_level };
	const struct gus_core_branch branch = { .mispredicted = wrong_in_the_second };
	const struct gus_core_step given[] = { { .op = LOAD, .addressed = true, .address = { A } },
		{ .op = LOAD, .addressed = true, .address = { A + 64 }, .last = true } };

	end(state);
	m.s.fed = false;
	m.ops[LOAD].flags = GUS_OP_BRANCH; /* it goes where it has read */
	m.o.memory = &memory;
	m.o.branch = &branch;
	gus_stream_resolver_open(&m.r, &m.s);
	gus_stream_resolve(&m.r, NULL, 3);
	assert_int_equal(m.r.n, 3);
	assert_false(m.r.steps[1].mispredicted);
	assert_int_equal(m.r.accesses.v[m.r.steps[2].access].level, GUS_HIT_L3);
	assert_int_equal(m.r.accesses.v[m.r.steps[2].access].tlb, GUS_TLB_SECOND);
	gus_stream_resolve(&m.r, NULL, 1);
	assert_int_equal(m.r.steps[0].op, LOAD);
	assert_true(m.r.steps[0].mispredicted);
	gus_stream_resolve(&m.r, given, 2);
	assert_int_equal(asked.n, 6);
	for (unsigned i = 0; i < 4; i++)
		expect_asked(&asked, i, i % 2 ? LOAD : STORE, i / 2, false);
	expect_asked(&asked, 4, LOAD, 2, true);
	expect_asked(&asked, 5, LOAD, 2, true);
	assert_true(asked.accesses[5].address == A + 64);
	assert_int_equal(m.r.accesses.v[m.r.steps[1].access].flags, STREAM_KNOWN | STREAM_LINE);
	gus_stream_resolve(&m.r, given, 1);
	expect_asked(&asked, 6, LOAD, 3, true);
}

/* Where all pointers are equal, all pages are the same memory: what is stored in one is read in all, but not forwarded.
 * Of traces, which have addresses of their own, and where pointers differ, they are not. */
static void one_page_of_memory(void **state)
{
	static const struct { enum gus_core_pointers pointers; bool source, fed; } cases[] = {
		{ GUS_CORE_POINTERS_EQUAL, false, true }, { GUS_CORE_POINTERS_ONE, false, true },
		{ GUS_CORE_POINTERS_DISTINCT, false, false }, { GUS_CORE_POINTERS_EQUAL, true, false },
		{ GUS_CORE_POINTERS_ONE, true, false },
	};
	static const struct gus_core_source source = { NULL, NULL };
	const struct gus_core_step given[] = { { .op = STORE, .addressed = true, .address = { A + 8 } },
		{ .op = LOAD, .addressed = true, .address = { A + 3 * 4096 + 8 } },
		{ .op = LOAD, .addressed = true, .address = { A + 3 * 4096 } } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		end(state);
		begin(state);
		end(state);
		m.s.fed = false;
		m.o.pointers = cases[i].pointers;
		m.o.source = cases[i].source ? &source : NULL;
		gus_stream_resolver_open(&m.r, &m.s);
		m.r.tracked = true; /* as with any oracle */
		gus_stream_resolve(&m.r, given, 3);
		expect_store("three pages on", m.r.accesses.v[1], cases[i].fed ? 0 : NONE, true);
		expect_store("and the word before", m.r.accesses.v[2], NONE, false);
	}
}

/* Where memory is not followed no load waits for a store, though both addresses are there. */
static void memory_that_is_not_followed(void **state)
{
	static const struct gus_core_source source = { NULL, NULL };
	const struct gus_core_step given[] = { { .op = STORE, .addressed = true, .address = { A } },
		{ .op = LOAD, .addressed = true, .address = { A } } };

	for (unsigned followed = 0; followed < 2; followed++) {
		end(state);
		begin(state);
		end(state);
		m.s.fed = false;
		m.o.pointers = followed ? GUS_CORE_POINTERS_DISTINCT : GUS_CORE_POINTERS_NONE;
		m.o.source = &source;
		gus_stream_resolver_open(&m.r, &m.s);
		gus_stream_resolve(&m.r, given, 2);
		expect_store("the same word", m.r.accesses.v[1], followed ? 0 : NONE, false);
	}
}

/* Two taken branches are foreseen in a cycle; one that is set right late takes three more, taken or not. */
static void branches_are_foreseen(void **state)
{
	static const struct { bool taken, overridden; unsigned cycles; } steps[] = {
		{ false, false, 0 }, { true, false, 1 }, { true, false, 0 }, { true, false, 1 }, { false, true, 3 },
		{ true, true, 3 }, { true, true, 4 }, { false, false, 0 },
	};
	const struct gus_op_access access = { .address = A, .bytes = 8, .known = true };

	(void)state;
	m.ops[LOAD].flags = GUS_OP_BRANCH; /* it goes where it has read */
	m.c.predicted_branches = 2;
	m.c.branch_override = 3;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const struct gus_op_step told = { .op = LOAD, .taken = steps[i].taken,
			.overridden = steps[i].overridden, .cached = true };

		gus_stream_resolve_told(&m.r, &(struct gus_op_steps){ &told, &access, 1 });
		if (m.r.steps[0].predicted != steps[i].cycles ||
		    (m.r.steps[0].fronts >> FRONT_PREDICTION & 1) != (steps[i].cycles > 0))
			fail_msg("step %zu: %u cycles", i, m.r.steps[0].predicted);
	}
}

/* Code takes its time to come where it is decoded, and none where its uops are in the uop cache. */
static void code_that_comes_late(void **state)
{
	const struct gus_op_access access = { .address = A, .bytes = 8, .known = true };

	(void)state;
	for (unsigned cached = 0; cached < 2; cached++) {
		const struct gus_op_step told = { .op = LOAD, .cached = cached, .fetch = 7 };

		gus_stream_resolve_told(&m.r, &(struct gus_op_steps){ &told, &access, 1 });
		assert_int_equal(m.r.steps[0].fetched, cached ? 0 : 7);
		assert_int_equal(m.r.steps[0].fronts, 1 << FRONT_ISSUE | cached << FRONT_UOP_CACHE);
	}
}

/* The uop cache is read line by line: the first op of one begins it, and what decoders had in between begins anew. */
static void lines_of_uops(void **state)
{
	static const struct { uint32_t op; bool cached, begins; } steps[] = {
		{ STORE, true, true }, { LOAD, true, false }, { STORE, false, false }, { LOAD, true, true },
	};
	const struct gus_op_access access = { .address = A, .bytes = 8, .known = true };

	(void)state;
	m.insns[LOAD].offset = 4;
	m.insns[STORE].info.length = m.insns[LOAD].info.length = 4;
	m.ops[STORE].slots = m.ops[LOAD].slots = 1;
	m.s.mode = GUS_CORE_FETCH_DECODERS;
	m.c.fetch_bytes = 32;
	m.c.uop_cache_window = 64;
	m.c.uop_cache_line = 6;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const struct gus_op_step told = { .op = steps[i].op, .cached = steps[i].cached };

		gus_stream_resolve_told(&m.r, &(struct gus_op_steps){ &told, &access, 1 });
		if ((m.r.steps[0].fronts >> FRONT_LINES & 1) != steps[i].begins)
			fail_msg("step %zu: fronts %x", i, m.r.steps[0].fronts);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_youngest_store_of_any_byte), CASE(what_is_forgotten), CASE(what_is_not_known),
		CASE(a_fed_load_needs_no_line), CASE(lines_on_their_way), CASE(places_in_lines), CASE(aliases),
		CASE(stores_that_leave_together), CASE(strings_leave_by_width), CASE(oracles_are_asked_in_order),
		CASE(one_page_of_memory), CASE(memory_that_is_not_followed), CASE(branches_are_foreseen),
		CASE(code_that_comes_late), CASE(lines_of_uops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
