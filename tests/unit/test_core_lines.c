/* SPDX-License-Identifier: MIT */
/* Loads, stores and lines in the core engine, cycle by cycle: what is forwarded and when, buffers and bandwidths for
 * lines on their way, page walks, and the way of stores to L1. Addresses are given, as by a trace; all begin at a
 * multiple of 4096. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/code/program.h"
#include "tests/unit/core_machine.h"

enum { A = 0x100000, OPS = 16 };

/* The program once, op by op, with these addresses, and what they hit. */
struct trace {
	unsigned at, ops;
	bool unknown;                           /* nobody knows addresses */
	uint64_t address[OPS];
	enum gus_hit level[OPS];
	enum gus_tlb tlb[OPS];
	struct gus_core_access asked[OPS];      /* of each op that was asked for */
};
static struct trace trace;

static bool next(void *context, struct gus_core_step *step)
{
	(void)context;
	if (trace.at == trace.ops)
		return false;
	*step = (struct gus_core_step){ .op = trace.at, .last = trace.at + 1 == trace.ops, .addressed = !trace.unknown,
		.address = { trace.address[trace.at] } };
	trace.at++;
	return true;
}

static void answer(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	(void)context;
	trace.asked[access->op] = *access;
	*level = trace.level[access->op];
	*tlb = trace.tlb[access->op];
}

static const struct gus_core_source source = { NULL, next };
static const struct gus_core_memory memory = { NULL, answer, NULL };

/* The machine, with round figures for all that it takes. */
static void begin(const char *text)
{
	make(text);
	memset(&trace, 0, sizeof(trace));
	trace.ops = m.p->ops_n;
	for (unsigned i = 0; i < OPS; i++)
		trace.address[i] = A + 64 * i;
	m.o.source = &source;
	m.o.memory = &memory;
	m.o.pointers = GUS_CORE_POINTERS_EQUAL;
	m.c.l1d_stores = 0;
	m.c.l1d_misses = 0;
	m.c.l2_latency = 14;
	m.c.l3_latency = 40;
	m.c.memory_latency = 200;
	m.c.l2_bandwidth = m.c.l3_bandwidth = m.c.memory_bandwidth = 0;
	m.c.stlb_latency = 7;
	m.c.page_walk_latency = 26;
	m.c.page_walks = 1;
	m.c.line_size = 64;
	m.c.line_split_penalty = 5;
	m.c.page_split_penalty = 5;
	m.c.page_size = 4096;
	m.c.store_forward_latency = 10;
	m.c.store_forward_vector = 0;
	m.c.store_forward_blocked = 13;
	m.c.store_forward_zero = 0;
	m.c.alias_penalty = 5;
}

/* Lines beyond L1. */

static const char three_loads[] = "a load rsi r1 4 1\nb load rsi r1 4 2\nc load rsi r1 4 3\n";

/* Three loads are dispatched in cycle 1, in the order of their ports. */
static void when_lines_arrive(void **state)
{
	static const struct {
		const char *what;
		enum gus_hit level[3];
		uint32_t misses, l2, l3, memory; /* buffers, bytes a cycle */
		uint64_t completed[3];
	} cases[] = {
		{ "each its latency", { GUS_HIT_L2, GUS_HIT_L3, GUS_HIT_MEMORY }, 0, 0, 0, 0, { 15, 41, 201 } },
		{ "a hit takes what its load takes", { GUS_HIT_L1, GUS_HIT_L1, GUS_HIT_L1 }, 1, 1, 1, 1, { 5, 5, 5 } },
		{ "a line of L2 in four cycles", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 0, 16, 8, 4, { 15, 19, 23 } },
		{ "in one and a half", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 0, 42, 0, 0, { 15, 17, 19 } },
		{ "in one and a third", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 0, 48, 0, 0, { 15, 17, 18 } },
		{ "a tick more than one", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 0, 63, 0, 0, { 15, 17, 18 } },
		{ "in three and a fifth", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 0, 20, 0, 0, { 15, 19, 22 } },
		{ "one cycle", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 0, 64, 0, 0, { 15, 16, 17 } },
		{ "of L3 in eight, and then through L2", { GUS_HIT_L3, GUS_HIT_L3, GUS_HIT_L2 }, 0, 16, 8, 4,
			{ 41, 49, 27 } },
		{ "of memory in 16, and through both", { GUS_HIT_MEMORY, GUS_HIT_MEMORY, GUS_HIT_L3 }, 0, 16, 8, 4,
			{ 201, 217, 65 } },
		{ "two buffers", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 2, 0, 0, 0, { 15, 15, 29 } },
		{ "one buffer", { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L2 }, 1, 0, 0, 0, { 15, 29, 43 } },
		{ "the buffer that is free first", { GUS_HIT_L3, GUS_HIT_L2, GUS_HIT_L2 }, 2, 0, 0, 0, { 41, 15, 29 } },
		{ "buffers are not for hits", { GUS_HIT_L2, GUS_HIT_L1, GUS_HIT_L2 }, 1, 0, 0, 0, { 15, 5, 29 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(three_loads);
		memcpy(trace.level, cases[i].level, sizeof(cases[i].level));
		m.c.l1d_misses = cases[i].misses;
		m.c.l2_bandwidth = cases[i].l2;
		m.c.l3_bandwidth = cases[i].l3;
		m.c.memory_bandwidth = cases[i].memory;
		run();
		for (unsigned n = 0; n < 3; n++)
			if (completed(n) != cases[i].completed[n])
				fail_msg("%s: load %u is there in cycle %u", cases[i].what, n, (unsigned)completed(n));
		drop();
	}
}

/* A level that is as fast as L1 costs nothing, one that is a cycle slower one; the slowest has all
 * its cycles. */
static void near_and_far(void **state)
{
	static const uint32_t latency[] = { 3, 4, 5, 9000, GUS_CORE_CYCLES_MOST };
	static const uint64_t there[] = { 5, 5, 6, 9001, 10001 };

	(void)state;
	for (size_t i = 0; i < sizeof(latency) / sizeof(*latency); i++) {
		begin("a load rsi r1 4 1\n");
		trace.level[0] = GUS_HIT_L2;
		m.c.l2_latency = latency[i];
		run();
		assert_int_equal(completed(0), there[i]);
		drop();
	}
}

/* Who is issued when the load has gone already waits for its line all the same. */
static void readers_of_a_line(void **state)
{
	(void)state;
	begin("a load rsi r1 4 1\n1 int - - 1 2\n2 int - - 1 2\n3 int - - 1 2\n4 int - - 1 3\n5 int - - 1 3\n"
	      "6 int - - 1 3\n7 int - - 1 5\n8 int - - 1 5\n9 int r1 - 1 6\n");
	trace.level[0] = GUS_HIT_L2;
	run();
	assert_int_equal(issued(9), 2);
	assert_int_equal(dispatched(9), 15);
	drop();
}

/* With one buffer: who asks for a line that is on its way gets it with the first, and takes no buffer. */
static void a_line_that_is_on_its_way(void **state)
{
	static const struct { uint64_t second, third; uint64_t completed[3]; } cases[] = {
		{ A + 8, A + 63, { 15, 15, 15 } },
		{ A + 63, A + 64, { 15, 15, 29 } },
		{ A + 64 * 64, A, { 15, 29, 15 } },
		{ A + 91 * 64, A, { 15, 29, 43 } },     /* the table of lines on their way has one place for both */
		{ A - 1, A + 1, { 15, 29, 15 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(three_loads);
		trace.level[0] = trace.level[1] = trace.level[2] = GUS_HIT_L2;
		trace.address[0] = A;
		trace.address[1] = cases[i].second;
		trace.address[2] = cases[i].third;
		m.c.l1d_misses = 1;
		m.c.line_split_penalty = m.c.page_split_penalty = 0;
		run();
		for (unsigned n = 0; n < 3; n++)
			if (completed(n) != cases[i].completed[n])
				fail_msg("case %zu: load %u is there in cycle %u", i, n, (unsigned)completed(n));
		drop();
	}
	/* A load that comes when the line has arrived, and is said to miss, asks again. */
	for (unsigned wait = 13; wait <= 14; wait++) {
		char text[128];

		snprintf(text, sizeof(text), "a load rsi r1 4 1\nr int - rdi %u 0\nb load rdi r1 4 2\n", wait);
		begin(text);
		trace.level[0] = trace.level[2] = GUS_HIT_L2;
		trace.address[2] = trace.address[0];
		m.c.l2_latency = 14;
		run();
		assert_int_equal(dispatched(2), 1 + wait);
		assert_int_equal(completed(2), wait == 13 ? 14 + 4 : 15 + 14);
		drop();
	}
}

static void page_walks(void **state)
{
	static const struct { enum gus_tlb tlb; enum gus_hit level; uint32_t walks; uint64_t completed[3]; } cases[] = {
		{ GUS_TLB_HIT, GUS_HIT_L1, 1, { 5, 5, 5 } },
		{ GUS_TLB_SECOND, GUS_HIT_L1, 1, { 12, 12, 12 } },
		{ GUS_TLB_SECOND, GUS_HIT_L2, 1, { 22, 22, 22 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 1, { 31, 57, 83 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 0, { 31, 57, 83 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 2, { 31, 31, 57 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 3, { 31, 31, 31 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 7, { 31, 31, 31 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 8, { 31, 31, 31 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 1000, { 31, 31, 31 } },
		{ GUS_TLB_WALK, GUS_HIT_L2, 2, { 41, 41, 67 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(three_loads);
		for (unsigned n = 0; n < 3; n++) {
			trace.tlb[n] = cases[i].tlb;
			trace.level[n] = cases[i].level;
		}
		m.c.page_walks = cases[i].walks;
		run();
		for (unsigned n = 0; n < 3; n++)
			if (completed(n) != cases[i].completed[n])
				fail_msg("case %zu: load %u is there in cycle %u", i, n, (unsigned)completed(n));
		drop();
	}
}

/* Each access is asked for once, in order. */
static void what_the_oracle_is_asked(void **state)
{
	(void)state;
	begin("a load rsi r1 4 1\nb int - r2 1 0\nc store rsi;r1 - 1+1 2+4\nd load+add rsi;r1 r2 4+1 2+0\n");
	run();
	assert_int_equal(trace.asked[0].memory, 0);
	assert_int_equal(trace.asked[0].address, A);
	assert_true(trace.asked[0].known && !trace.asked[0].store);
	assert_int_equal(trace.asked[2].memory, 1);
	assert_int_equal(trace.asked[2].address, A + 128);
	assert_true(trace.asked[2].known && trace.asked[2].store);
	assert_int_equal(trace.asked[3].memory, 2);
	assert_int_equal(trace.asked[3].iteration, 0);
	assert_false(trace.asked[3].store);
	assert_int_equal(trace.asked[1].address, 0);
	drop();
}

/* Forwarding. The store's two uops are dispatched in cycle 1; `root` makes what else is wanted later. Events: root,
 * address, data, load. */

static void forwarded_words(void **state)
{
	static const struct {
		const char *what, *root;        /* root: the register that it makes */
		unsigned root_latency;
		uint32_t forward, vector;       /* store_forward_latency, store_forward_vector */
		bool wide;
		uint64_t dispatched, completed; /* of the load */
	} cases[] = {
		{ "the data and the time of a forward", "r9", 1, 10, 0, false, 7, 11 },
		{ "data that comes late", "r1", 20, 10, 0, false, 27, 31 },
		{ "which goes through at once", "r1", 20, 4, 0, false, 21, 25 },
		{ "an address that comes late", "rsi", 20, 10, 0, false, 22, 26 },
		{ "a load that could go just then", "rdi", 6, 10, 0, false, 7, 11 },
		{ "a cycle later", "rdi", 7, 10, 0, false, 8, 11 },
		{ "still later, from L1", "rdi", 8, 10, 0, false, 9, 13 },
		{ "sooner than L1", "r9", 1, 2, 0, false, 2, 3 },
		{ "as soon as L1", "r9", 1, 4, 0, false, 2, 5 },
		{ "a cycle later than L1", "r9", 1, 5, 0, false, 2, 6 },
		{ "never before it is asked for", "r9", 1, 0, 0, false, 2, 2 },
		{ "vectors in their own time", "r9", 1, 10, 12, true, 9, 13 },
		{ "which there may not be", "r9", 1, 10, 0, true, 7, 11 },
		{ "and which is not for words", "r9", 1, 10, 12, false, 7, 11 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *data = cases[i].wide ? "x1" : "r1";
		char text[256];

		snprintf(text, sizeof(text), "root int - %s %u 0\ns store rsi;%s - 1+1 2+4\nl load rdi %s 4 5\n",
			cases[i].root,
			 cases[i].root_latency, data, data);
		begin(text);
		trace.address[2] = trace.address[1];
		m.c.store_forward_latency = cases[i].forward;
		m.c.store_forward_vector = cases[i].vector;
		run();
		if (dispatched(3) != cases[i].dispatched || completed(3) != cases[i].completed)
			fail_msg("%s: the load goes in cycle %u and is done in %u", cases[i].what,
				(unsigned)dispatched(3),
				 (unsigned)completed(3));
		drop();
	}
}

/* A word of eight bytes is stored, eight or sixteen are loaded from so many bytes behind it: forwarded (cycle 11),
 * blocked until the store, which retires and commits in 2, has been in L1 for 13, penalised for its address, or
 * simply a hit. */
static void distances(void **state)
{
	static const struct { int64_t apart; bool wide; uint64_t completed; } cases[] = {
		{ 0, false, 11 }, { 1, false, 15 }, { 7, false, 15 }, { 8, false, 5 }, { -1, false, 15 },
		{ -7, false, 15 }, { -8, false, 5 }, { 0, true, 15 }, { -8, true, 15 }, { -15, true, 15 },
		{ -16, true, 5 }, { 7, true, 15 }, { 8, true, 5 },
		{ 4096, false, 10 }, { 4103, false, 10 }, { 4104, false, 5 }, { 4095, false, 10 }, { -4096, false, 10 },
		{ 4089, false, 10 }, { 4088, false, 5 },
		{ 8192 + 7, false, 10 }, { 4096 * 512, false, 10 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(cases[i].wide ? "s store rsi;r1 - 1+1 2+4\nl load rdi x2 4 3\n" :
				      "s store rsi;r1 - 1+1 2+4\nl load rdi r2 4 3\n");
		trace.address[0] = A + 2048;
		trace.address[1] = (uint64_t)(A + 2048 + cases[i].apart);
		m.c.line_size = 4096;
		run();
		if (completed(2) != cases[i].completed)
			fail_msg("%d, %s: cycle %u", (int)cases[i].apart, cases[i].wide ? "wide" : "narrow",
				(unsigned)completed(2));
		drop();
	}
}

/* An address of a store that is executed in 21: so many cycles later a load of the word is done, if that is more than
 * it takes from the next cycle on. */
static void late_addresses(void **state)
{
	static const struct { uint32_t address; uint64_t completed; } cases[] = { { 0, 26 }, { 4, 26 }, { 5, 26 },
		{ 6, 27 }, { 9, 30 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin("root int - rsi 20 0\ns store rsi;r1 - 1+1 2+4\nl load rdi r1 4 5\n");
		trace.address[2] = trace.address[1];
		m.c.store_forward_address = cases[i].address;
		run();
		assert_int_equal(completed(3), cases[i].completed);
		drop();
	}
}

/* Eight bytes are stored, sixteen loaded, from their beginning and from before it; where the former is forwarded. */
static void wider_loads(void **state)
{
	static const struct { int64_t apart; uint32_t wider; uint64_t completed; } cases[] = { { 0, 0, 15 },
		{ 0, 1, 11 }, { -1, 1, 15 }, { 1, 1, 15 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin("s store rsi;r1 - 1+1 2+4\nl load rdi x2 4 3\n");
		trace.address[0] = A + 2048;
		trace.address[1] = (uint64_t)(A + 2048 + cases[i].apart);
		m.c.line_size = 4096;
		m.c.store_forward_wider = cases[i].wider;
		run();
		assert_int_equal(completed(2), cases[i].completed);
		drop();
	}
}

/* Blocked for no longer than the load takes anyway: it goes in the cycle behind the commit. A second one goes with
 * the first. */
static void blocked_loads(void **state)
{
	static const struct { uint32_t blocked; uint64_t dispatched; } cases[] = { { 13, 11 }, { 6, 4 }, { 5, 3 },
		{ 4, 3 }, { 1, 3 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin("s store rsi;r1 - 1+1 2+4\nl load rdi r2 4 3\nk load rdi r2 4 5\n");
		trace.address[1] = trace.address[2] = trace.address[0] + 4;
		m.c.store_forward_blocked = cases[i].blocked;
		run();
		assert_int_equal(dispatched(2), cases[i].dispatched);
		assert_int_equal(dispatched(3), cases[i].dispatched);
		drop();
	}
	/* The oldest waits for an operand, then: the line. */
	begin("s store rsi;r1 - 1+1 2+4\nl load rdi r2 4 3\n");
	trace.address[1] = trace.address[0] + 4;
	trace.level[0] = GUS_HIT_L2;
	run();
	assert_int_equal(dispatched(2), 2 + 14 + 13 - 4); /* the line is asked for when the store retires */
	assert_int_equal(m.cycle[5].op, 1);
	assert_int_equal(m.cycle[5].stall, GUS_CORE_OPERAND);
	drop();
}

/* Of two stores in flight the younger, if both write there. The data of the first comes in 31. */
static void the_youngest_store(void **state)
{
	(void)state;
	for (unsigned same = 0; same < 2; same++) {
		begin("root int - r1 30 0\na store rsi;r1 - 1+1 2+4\nb store rsi;r3 - 1+1 5+6\nl load rdi r2 4 3\n");
		trace.address[2] = same ? trace.address[1] : A + 1024;
		trace.address[3] = trace.address[1];
		run();
		assert_int_equal(completed(5), same ? 11 : 41);
		drop();
	}
}

/* Accesses that cross a line take their port for two cycles, loads a penalty as well. */
static void crossed_lines(void **state)
{
	(void)state;
	for (unsigned split = 0; split < 2; split++) {
		begin("a load rsi r1 4 1\nb load rdi r1 4 1\nc store rsi;r2 - 1+1 2+4\nd store rsi;r2 - 1+1 2+4\n");
		trace.address[0] = A + 56 + split;
		trace.address[2] = A + 1024 + 56 + split;
		run();
		assert_int_equal(completed(0), split ? 10 : 5);
		assert_int_equal(dispatched(1), split ? 3 : 2);
		assert_int_equal(dispatched(4), split ? 3 : 2); /* address and data */
		assert_int_equal(dispatched(5), split ? 3 : 2);
		drop();
	}
	for (unsigned past = 0; past < 2; past++) {     /* the page's last bytes, then beyond them */
		begin("a load rsi r1 4 1\n");
		trace.address[0] = A + 2 * 4096 - 8 + past;
		m.c.page_split_penalty = 90;
		run();
		assert_int_equal(completed(0), past ? 95 : 5);
		drop();
	}
	begin("a load rsi r1 4 1\n");                    /* with a level beyond L1 */
	trace.address[0] = A + 60;
	trace.level[0] = GUS_HIT_L2;
	m.c.line_split_penalty = m.c.l2_latency = GUS_CORE_CYCLES_MOST;
	run();
	assert_int_equal(completed(0), 1 + 20000);
	drop();
	/* An access of a whole line and more is not said to cross one. */
	begin("a load rsi x1 4 1\nb load rdi x1 4 1\n");
	m.c.line_size = 8;
	run();
	assert_int_equal(completed(0), 5);
	drop();
}

/* Loads that need the same bytes of a line, whichever line, are in each other's way: one of them in a cycle, or two. */
static void banks(void **state)
{
	static const struct { uint32_t ports; int64_t b, c; unsigned together; /* dispatched in cycle 1 */ } cases[] = {
		{ 0, 0, 0, 3 }, { 1, 8, 16, 3 }, { 1, 7, 16, 2 }, { 1, 64, 128, 1 }, { 1, 64 + 8, 128 + 16, 3 },
		{ 1, -8, 8, 3 }, { 1, -7, 8, 2 }, { 2, 0, 0, 2 }, { 2, 64, 8, 3 }, { 3, 0, 64, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned together = 0;

		begin(three_loads);
		trace.address[0] = A + 32;
		trace.address[1] = (uint64_t)(A + 32 + cases[i].b);
		trace.address[2] = (uint64_t)(A + 32 + cases[i].c);
		m.c.l1d_bank_ports = cases[i].ports;
		run();
		for (size_t n = 0; n < 3; n++)
			together += dispatched(n) == 1;
		if (together != cases[i].together)
			fail_msg("case %zu: %u go together", i, together);
		drop();
	}
}

/* A store of the same bytes of another line is in nobody's way. */
static void stores_take_no_bank(void **state)
{
	(void)state;
	begin("a store rsi;r1 - 1+1 2+4\nb load rdi x1 4 3\n");
	trace.address[0] = A + 32;
	trace.address[1] = A + 64 + 32;
	m.c.l1d_bank_ports = 1;
	run();
	for (size_t n = 0; n < 3; n++)
		assert_int_equal(dispatched(n), 1);
	drop();
}

/* Who knows not where a load reads lets it go. */
static void banks_of_unknown_loads(void **state)
{
	(void)state;
	begin(three_loads);
	trace.unknown = true;
	m.o.pointers = GUS_CORE_POINTERS_NONE;
	m.c.l1d_bank_ports = 1;
	run();
	for (size_t n = 0; n < 3; n++)
		assert_int_equal(dispatched(n), 1);
	assert_false(trace.asked[0].known);
	drop();
}

/* The way of stores to L1. A root holds up retirement; in cycle 21 it and three stores retire. The buffer has three
 * entries, so the cycle in which each of the next three is issued is the one behind that in which one of the first
 * is in L1. */
static void stores_leave_in_order(void **state)
{
	static const struct {
		const char *what;
		uint32_t a_cycle;               /* l1d_stores */
		uint64_t apart[3];
		enum gus_hit level[3];
		uint64_t issued[3];
	} cases[] = {
		{ "as they come", 0, { 0, 64, 128 }, { 0 }, { 22, 22, 22 } },
		{ "one a cycle", 1, { 0, 8, 16 }, { 0 }, { 22, 23, 24 } },
		{ "two a cycle to one line", 2, { 0, 8, 16 }, { 0 }, { 22, 22, 23 } },
		{ "the ends of a line", 2, { 0, 56, 64 }, { 0 }, { 22, 22, 23 } },
		{ "not to two", 2, { 56, 64, 72 }, { 0 }, { 22, 23, 23 } },
		{ "three", 3, { 0, 8, 16 }, { 0 }, { 22, 22, 22 } },
		{ "two cycles for one that crosses a line", 2, { 60, 72, 80 }, { 0 }, { 22, 24, 24 } },
		{ "which goes alone", 2, { 0, 60, 72 }, { 0 }, { 22, 23, 25 } },
		{ "its last byte is the line's", 2, { 0, 56, 64 }, { 0 }, { 22, 22, 23 } },
		{ "nothing of it without a limit", 0, { 60, 72, 80 }, { 0 }, { 22, 22, 22 } },
		{ "the first misses, and holds up all", 0, { 0, 64, 128 }, { GUS_HIT_L2, 0, 0 }, { 36, 36, 36 } },
		{ "the second does", 0, { 0, 64, 128 }, { 0, GUS_HIT_L2, 0 }, { 22, 36, 36 } },
		{ "lines come side by side", 0, { 0, 64, 128 }, { GUS_HIT_L2, GUS_HIT_L2, GUS_HIT_L3 }, { 36, 36,
			62 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin("root int - r9 20 0\n1 store rsi;r1 - 1+1 2+4\n2 store rsi;r1 - 1+1 2+4\n"
		      "3 store rsi;r1 - 1+1 2+4\n4 store rsi;r1 - 1+1 2+4\n"
		      "5 store rsi;r1 - 1+1 2+4\n6 store rsi;r1 - 1+1 2+4\n");
		m.c.store_buffer = 3;
		m.c.l1d_stores = cases[i].a_cycle;
		for (unsigned n = 0; n < 3; n++) {
			trace.address[1 + n] = A + cases[i].apart[n];
			trace.level[1 + n] = cases[i].level[n];
		}
		run();
		for (unsigned n = 0; n < 3; n++)
			if (issued(7 + 2 * n) != cases[i].issued[n])
				fail_msg("%s: store %u is issued in cycle %u", cases[i].what, 3 + n,
					(unsigned)issued(7 + 2 * n));
		drop();
	}
}

/* A store retires before its page is known, but leaves no sooner, and asks for no line. All addresses are dispatched
 * in cycles 1 to 3, and all retire in 21. */
static void pages_of_stores(void **state)
{
	static const struct { enum gus_tlb tlb; enum gus_hit level; uint32_t walks; bool loaded; uint64_t issued[3]; }
	cases[] = {
		{ GUS_TLB_HIT, GUS_HIT_L1, 1, false, { 22, 22, 22 } },
		{ GUS_TLB_SECOND, GUS_HIT_L1, 1, false, { 22, 22, 22 } }, /* known long before */
		{ GUS_TLB_WALK, GUS_HIT_L1, 1, false, { 28, 54, 80 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 3, false, { 28, 29, 30 } },
		{ GUS_TLB_WALK, GUS_HIT_L2, 1, false, { 42, 68, 94 } },
		{ GUS_TLB_WALK, GUS_HIT_L1, 1, true, { 22, 22, 22 } }, /* the load has had it translated */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin("root int - r9 20 0\n1 store rsi;r1 - 1+1 2+4\n2 store rsi;r1 - 1+1 2+4\n"
		      "3 store rsi;r1 - 1+1 2+4\n4 store rsi;r1 - 1+1 2+4\n"
		      "5 store rsi;r1 - 1+1 2+4\n6 store rsi;r1 - 1+1 2+4\n");
		m.c.store_buffer = 3;
		m.c.page_walks = cases[i].walks;
		for (unsigned n = 1; n <= 3; n++) {
			trace.tlb[n] = cases[i].tlb;
			trace.level[n] = cases[i].level;
			m.p->memories[m.p->ops[n].memory].load = cases[i].loaded;
		}
		run();
		for (unsigned n = 0; n < 3; n++)
			if (issued(7 + 2 * n) != cases[i].issued[n])
				fail_msg("case %zu: store %u is issued in cycle %u", i, 3 + n,
					(unsigned)issued(7 + 2 * n));
		drop();
	}
}

/* What is loaded before it is stored, in one instruction, has come with the load: it leaves at once. */
static void stores_of_what_was_loaded(void **state)
{
	static const struct { bool loaded; uint64_t issued; } cases[] = { { false, 222 }, { true, 22 } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin("root int - r9 20 0\n1 store rsi;r1 - 1+1 2+4\n2 store rsi;r1 - 1+1 2+4\n");
		m.c.store_buffer = 1;
		m.p->memories[m.p->ops[1].memory].load = cases[i].loaded;
		trace.level[1] = GUS_HIT_MEMORY;
		run();
		assert_int_equal(issued(3), cases[i].issued);
		drop();
	}
}

/* What takes entries of the store buffer and says nothing of where it writes gives them back when it retires. */
static void stores_without_an_address(void **state)
{
	(void)state;
	begin("root int - r9 20 0\na int - - 1 1\nb int - - 1 1\n");
	m.p->ops[1].stores = m.p->ops[2].stores = 2;
	m.c.store_buffer = 3;
	run();
	assert_int_equal(issued(1), 0);
	assert_int_equal(issued(2), 22);
	drop();
}

/* Where nothing is known of addresses, or nobody wants to know, no load waits for a store. */
static void nothing_is_carried(void **state)
{
	(void)state;
	begin("s store rsi;r1 - 1+1 2+4\nl load rdi r2 4 3\n");
	trace.address[1] = trace.address[0];
	m.o.pointers = GUS_CORE_POINTERS_NONE;
	run();
	assert_int_equal(completed(2), 5);
	drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_lines_arrive),
		cmocka_unit_test(near_and_far),
		cmocka_unit_test(readers_of_a_line),
		cmocka_unit_test(a_line_that_is_on_its_way),
		cmocka_unit_test(page_walks),
		cmocka_unit_test(what_the_oracle_is_asked),
		cmocka_unit_test(forwarded_words),
		cmocka_unit_test(distances),
		cmocka_unit_test(late_addresses),
		cmocka_unit_test(wider_loads),
		cmocka_unit_test(blocked_loads),
		cmocka_unit_test(the_youngest_store),
		cmocka_unit_test(crossed_lines),
		cmocka_unit_test(banks),
		cmocka_unit_test(stores_take_no_bank),
		cmocka_unit_test(banks_of_unknown_loads),
		cmocka_unit_test(stores_leave_in_order),
		cmocka_unit_test(pages_of_stores),
		cmocka_unit_test(stores_of_what_was_loaded),
		cmocka_unit_test(stores_without_an_address),
		cmocka_unit_test(nothing_is_carried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
