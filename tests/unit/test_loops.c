/* SPDX-License-Identifier: MIT */
/* Loops of control flow: drawn by hand, at random against their definition, and out of real bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/insn/loops.h"

#define NONE GUS_GRAPH_NONE

/* A function as a row of letters: '.' goes on, 'r' returns, '!' is a trap, 'c' calls, '*' jumps somewhere, 'n' is a
 * no-op; 'J' jumps and 'j' may jump to the next number of the list. */
static void draw(struct gus_graph *g, const char *letters, const uint32_t *targets)
{
	*g = (struct gus_graph){ 0 };
	for (uint32_t i = 0; letters[i]; i++) {
		struct gus_graph_insn new = { .offset = i, .length = 1, .target = NONE, .class = GUS_INSN_ALU };

		switch (letters[i]) {
		case 'r':
			new.class = GUS_INSN_RET;
			break;
		case 'c':
			new.class = GUS_INSN_CALL;
			break;
		case 'n':
			new.class = GUS_INSN_NOP;
			break;
		case '*':
			new.class = GUS_INSN_BRANCH_INDIRECT;
			break;
		case '!':
			new.class = GUS_INSN_SYSTEM;
			new.stops = true;
			break;
		case 'J':
			new.class = GUS_INSN_BRANCH;
			new.target = *targets++;
			break;
		case 'j':
			new.class = GUS_INSN_BRANCH_COND;
			new.target = *targets++;
			break;
		default:
			break;
		}
		gus_vec_push(&g->insns, new);
	}
	gus_graph_find_loops(g);
}

/* Whether an instruction is in a loop, or in one within it. */
static bool in_loop(const struct gus_graph *g, uint32_t insn, uint32_t loop)
{
	uint32_t l = g->loop[insn];

	while (l != NONE && l != loop)
		l = g->loops.v[l].outer;
	return l == loop;
}

/* "head(members)" of each loop, members as a row of '#' and '.', with what stands out about it. */
static void describe(const struct gus_graph *g, char *out, size_t room)
{
	size_t n = 0;

	*out = '\0';
	for (uint32_t l = 0; l < g->loops.n; l++) {
		const struct gus_graph_loop *loop = &g->loops.v[l];
		uint32_t members = 0;

		n += (size_t)snprintf(out + n, room - n, "%s%u@%u ", l ? " " : "", loop->depth, loop->head);
		for (uint32_t i = 0; i < g->insns.n; i++) {
			bool in = in_loop(g, i, l);

			members += in;
			n += (size_t)snprintf(out + n, room - n, "%c", in ? '#' : '.');
			if (in)
				assert_true(i >= loop->first && i <= loop->last);
		}
		if (loop->irreducible)
			n += (size_t)snprintf(out + n, room - n, "?");
		assert_int_equal(members, loop->instructions);
		assert_true(in_loop(g, loop->head, l));
		assert_true(in_loop(g, loop->first, l) && in_loop(g, loop->last, l));
		assert_int_equal(loop->depth, loop->outer == NONE ? 1 : g->loops.v[loop->outer].depth + 1);
		assert_true(loop->outer == NONE || loop->outer < l);
	}
}

static void drawn_loops(void **state)
{
	static const struct {
		const char *what, *letters;
		uint32_t targets[8];
		const char *wanted;
	} cases[] = {
		{ "nothing", "", { 0 }, "" },
		{ "no loop", "..j.r", { 4 }, "" },
		{ "a loop", "..j.r", { 1 }, "1@1 .##.." },
		{ "a self loop", ".j.r", { 1 }, "1@1 .#.." },
		{ "a jump to itself", ".J", { 1 }, "1@1 .#" },
		{ "the whole function", "..J", { 0 }, "1@0 ###" },
		{ "two, one after the other", ".j.jr", { 0, 2 }, "1@0 ##... 1@2 ..##." },
		{ "nested", "...j.jr", { 2, 1 }, "1@1 .#####. 2@2 ..##..." },
		{ "nested in three", "....jjjr", { 3, 2, 1 }, "1@1 .######. 2@2 ..####.. 3@3 ...##..." },
		{ "two in one", ".j.j.jr", { 1, 3, 0 }, "1@0 ######. 2@1 .#..... 2@3 ...#..." },
		{ "two back edges to one head are one loop", "..j.jr", { 1, 1 }, "1@1 .####." },
		{ "a continue over the end of the body", "..j..J.r", { 1, 1 }, "1@1 .#####.." },
		{ "a break leaves it", ".j.Jr", { 4, 0 }, "1@0 ####." },
		{ "what returns in the middle is no part of it", "j.jrJ", { 2, 4, 0 }, "1@0 ###.#" },
		{ "entered at its condition", "J..j.r", { 3, 1 }, "1@3 .###.." },
		{ "a part put out of the way", ".j.jr.J", { 5, 0, 2 }, "1@0 ####.##" },
		{ "a jump back that closes nothing", "j..r.J", { 4, 1 }, "" },
		{ "a call returns", "c.J", { 0 }, "1@0 ###" },
		{ "a trap does not", ".j.!Jr", { 4, 0 }, "1@0 ##..#." },
		/* 0 goes to 1 or to 2, and these two to each other. */
		{ "irreducible", "j.jr", { 2, 1 }, "1@1 .##.?" },
		{ "irreducible, in a loop that is not", "j.jjr", { 2, 1, 0 }, "1@0 ####. 2@1 .##..?" },
		{ "a loop that nothing leads to", "r.jr", { 1 }, "1@1 .##." },
		{ "a handler that goes on in the loop", "..jr.J", { 1, 1 }, "1@1 .##..." },
		/* 0 is the head, 2 jumps to the cases at 3 and 5; both go back. */
		{ "a switch in a loop", "j.*.J.Jr", { 7, 0, 0 }, "1@0 #######." },
		{ "a switch that is all", "*.J", { 0 }, "1@0 ###" },
		{ "padding before a case is none of it", "j.*.Jnn.Jr", { 9, 0, 0 }, "1@0 #####..##." },
		/* 1 jumps to the cases at 2 and 4, and each of them jumps to them all. */
		{ "threaded code", ".*.*.*", { 0 }, "1@2 ..####?" },
		/* The cases' loop is found last and shown by its first case, which lies before another loop. */
		{ "threaded code before a loop", "j*.*.*.jr", { 7, 7 }, "1@2 ..####...? 1@7 .......#." },
		{ "threaded code behind a loop", ".j*.*.*", { 1 }, "1@1 .#..... 1@3 ...####?" },
		{ "the head of one loop lies behind that of the loop in it", "J.j.jr", { 4, 1, 1 },
			"1@4 .####. 2@1 .##..." },
		/* Of the cases at 2 and 4 only the second comes back. */
		{ "a case that returns, and one that does not", ".*.r.*", { 0 }, "1@4 ....##?" },
		{ "what a branch leads to is no case", "j*.r.*", { 4 }, "" },
		{ "padding at the end", "*rnn", { 0 }, "" },
		{ "an indirect jump without a place to go", ".*", { 0 }, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_graph g;
		char got[512];

		draw(&g, cases[i].letters, cases[i].targets);
		describe(&g, got, sizeof(got));
		if (strcmp(got, cases[i].wanted) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", cases[i].what, got, cases[i].wanted);
		gus_graph_free(&g);
	}
}

static void back_edges_are_counted(void **state)
{
	struct gus_graph g;

	(void)state;
	draw(&g, "..j.jr", (const uint32_t[]){ 1, 1 });
	assert_int_equal(g.loops.v[0].backs, 2);
	assert_true(g.loops.v[0].inner);
	gus_graph_free(&g);
	draw(&g, "...j.jr", (const uint32_t[]){ 2, 1 });
	assert_true(!g.loops.v[0].inner && g.loops.v[1].inner);
	gus_graph_free(&g);
}

/* At random against the definition: outermost loops are the sets of instructions that all reach each other; those
 * within a loop are the same of what is left of it without its head (Havlak's nesting forest). Sets are masks of
 * bits. */

enum { MOST = 14 };

static void reach(const uint32_t *next, uint32_t n, uint32_t within, uint32_t *from)
{
	for (uint32_t i = 0; i < n; i++)
		from[i] = within >> i & 1 ? next[i] & within : 0;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			if (from[i] >> k & 1)
				from[i] |= from[k];
}

static uint32_t members(const struct gus_graph *g, uint32_t loop)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < g->insns.n; i++)
		mask |= (uint32_t)in_loop(g, i, loop) << i;
	return mask;
}

/* The loops whose outer one is that have just the sets that the definition gives. */
static void check_level(const struct gus_graph *g, const uint32_t *next, uint32_t outer, uint32_t within)
{
	uint32_t n = (uint32_t)g->insns.n, from[MOST], found = 0, in_sets = 0;

	reach(next, n, within, from);
	for (uint32_t i = 0; i < n; i++)
		in_sets |= (from[i] >> i & 1) << i;
	for (uint32_t l = 0; l < g->loops.n; l++) {
		uint32_t set = members(g, l), head = g->loops.v[l].head, wanted = 0;

		if (g->loops.v[l].outer != outer)
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (from[head] >> i & 1 && from[i] >> head & 1)
				wanted |= 1u << i;
		assert_int_equal(set, wanted);
		assert_int_equal(found & set, 0);
		found |= set;
		check_level(g, next, l, set & ~(1u << head));
	}
	assert_int_equal(found, in_sets);
}

/* Whether a set is entered, from what the start leads to, elsewhere than at its head. */
static bool has_second_entry(const uint32_t *next, uint32_t n, uint32_t set, uint32_t head)
{
	uint32_t from[MOST];

	reach(next, n, (1u << n) - 1, from);
	for (uint32_t i = 0; i < n; i++)
		if (!(set >> i & 1) && (i == 0 || from[0] >> i & 1) && (next[i] & set & ~(1u << head)))
			return true;
	return set & 1 && head != 0;
}

static void random_loops(void **state)
{
	uint64_t seed = 7;
	unsigned loops = 0, irreducible = 0;

	(void)state;
	for (int round = 0; round < 40000; round++) {
		char letters[MOST + 1] = "";
		uint32_t targets[MOST], next[MOST] = { 0 }, n, jumps = 0;
		struct gus_graph g;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		n = 2 + (uint32_t)(seed >> 33) % (MOST - 1);
		for (uint32_t i = 0; i < n; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			letters[i] = "...jjjjJr"[(seed >> 33) % 9];
			if (letters[i] == 'j' || letters[i] == 'J')
				targets[jumps] = (uint32_t)(seed >> 43) % n;
			if (letters[i] != 'J' && letters[i] != 'r' && i + 1 < n)
				next[i] |= 1u << (i + 1);
			if (letters[i] == 'j' || letters[i] == 'J')
				next[i] |= 1u << targets[jumps++];
		}
		draw(&g, letters, targets);
		check_level(&g, next, NONE, (1u << n) - 1);
		for (uint32_t l = 0; l < g.loops.n; l++) {
			uint32_t set = members(&g, l), head = g.loops.v[l].head, from[MOST];

			reach(next, n, (1u << n) - 1, from);
			if (head == 0 || from[0] >> head & 1)
				assert_int_equal(g.loops.v[l].irreducible, has_second_entry(next, n, set, head));
			irreducible += g.loops.v[l].irreducible;
		}
		loops += (unsigned)g.loops.n;
		gus_graph_free(&g);
	}
	assert_true(loops > 20000 && irreducible > 2000);
}

/* A million instructions, each the head of a loop to the end: neither the stack nor patience runs out. */
static void deep_and_long(void **state)
{
	enum { N = 1000000, DEEP = 2000 };
	struct gus_graph g = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		gus_vec_push(&g.insns, (struct gus_graph_insn){
			.offset = i, .length = 1, .class = i < N - DEEP ? GUS_INSN_ALU : GUS_INSN_BRANCH_COND,
			.target = i < N - DEEP ? NONE : N - 1 - i });
	gus_graph_find_loops(&g);
	assert_int_equal(g.loops.n, DEEP);
	assert_int_equal(g.loops.v[0].head, 0);
	assert_int_equal(g.loops.v[DEEP - 1].depth, DEEP);
	gus_graph_free(&g);
}

/* Real bytes: two nested loops, a trap behind the return. */
static void bytes_become_a_graph(void **state)
{
	static const uint8_t code[] = {
		0x31, 0xc0,                     /* 00 xor eax, eax */
		0x31, 0xd2,                     /* 02 xor edx, edx */
		0x01, 0xd0,                     /* 04 add eax, edx */
		0xff, 0xc2,                     /* 06 inc edx */
		0x39, 0xf2,                     /* 08 cmp edx, esi */
		0x75, 0xf8,                     /* 0a jnz 04 */
		0xe8, 0x10, 0x00, 0x00, 0x00,   /* 0c call 21 */
		0xff, 0xcf,                     /* 11 dec edi */
		0x75, 0xed,                     /* 13 jnz 02 */
		0xc3,                           /* 15 ret */
		0x0f, 0x0b,                     /* 16 ud2 */
		0x90,                           /* 18 nop */
		0xeb, 0xfe,                     /* 19 jmp 19 */
		0x48,                           /* 1b and here it is cut */
	};
	struct gus_graph g;
	char got[512];

	(void)state;
	gus_graph_read(&g, GUS_ISA_X86_64, code, sizeof(code));
	describe(&g, got, sizeof(got));
	assert_string_equal(got, "1@1 .########.... 2@2 ..####....... 1@12 ............#");
	assert_int_equal(g.insns.n, 13);
	assert_int_equal(g.insns.v[6].class, GUS_INSN_CALL);
	assert_true(g.insns.v[6].jump == 0x21 && g.insns.v[6].target == NONE);
	assert_int_equal(g.insns.v[5].target, 2);
	assert_int_equal(g.insns.v[5].jump, 4);
	assert_true(g.insns.v[0].jump == 0 && g.insns.v[0].target == NONE);
	assert_true(g.insns.v[10].stops && !g.insns.v[9].stops);
	assert_int_equal(gus_graph_at(&g, 0x0c), 6);
	assert_int_equal(gus_graph_at(&g, 0x0d), NONE);
	assert_int_equal(gus_graph_at(&g, 0x1b), NONE);
	gus_graph_free(&g);
}

static void words_of_arm64_become_a_graph(void **state)
{
	static const uint32_t code[] = {
		0xd2800001, /* mov x1, #0 */
		0x91000421, /* add x1, x1, #1 */
		0xeb00003f, /* cmp x1, x0 */
		0x54ffffc1, /* b.ne 4 */
		0xb4ffff80, /* cbz x0, 0 */
		0x94000040, /* bl 0x114 */
		0xd65f03c0, /* ret */
		0x00000000, /* udf #0 */
	};
	struct gus_graph g;
	char got[512];

	(void)state;
	gus_graph_read(&g, GUS_ISA_ARM64, code, sizeof(code));
	describe(&g, got, sizeof(got));
	assert_string_equal(got, "1@0 #####... 2@1 .###....");
	assert_true(g.insns.v[5].jump == 0x114 && g.insns.v[7].stops);
	gus_graph_free(&g);
}

/* Each instruction that ends the way of control without being a jump. */
static void traps_stop(void **state)
{
	static const struct { enum gus_isa isa; const char *bytes; size_t size; bool stops; } cases[] = {
		{ GUS_ISA_X86_64, "\x0f\xff\xc0", 3, true },          /* ud0 eax, eax */
		{ GUS_ISA_X86_64, "\x0f\xb9\xc0", 3, true },          /* ud1 eax, eax */
		{ GUS_ISA_X86_64, "\x0f\x0b", 2, true },              /* ud2 */
		{ GUS_ISA_X86_64, "\xf4", 1, true },                  /* hlt */
		{ GUS_ISA_X86_64, "\xcc", 1, true },                  /* int3 */
		{ GUS_ISA_X86_64, "\x06", 1, true },                  /* no instruction */
		{ GUS_ISA_X86_64, "\x0f\x05", 2, false },             /* syscall */
		{ GUS_ISA_ARM64, "\0\0\0\0", 4, true },               /* udf #0 */
		{ GUS_ISA_ARM64, "\x20\0\x20\xd4", 4, true },         /* brk #1 */
		{ GUS_ISA_ARM64, "\x01\0\0\xd4", 4, false },          /* svc #0 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_graph g;

		gus_graph_read(&g, cases[i].isa, cases[i].bytes, cases[i].size);
		assert_int_equal(g.insns.n, 1);
		if (g.insns.v[0].stops != cases[i].stops || g.insns.v[0].length != cases[i].size)
			fail_msg("case %zu: stops %d, length %u", i, g.insns.v[0].stops, g.insns.v[0].length);
		gus_graph_free(&g);
	}
}

/* Where its parts lie and what is in it. */
static void loops_are_measured(void **state)
{
	struct gus_graph g;

	(void)state;
	draw(&g, ".j.jr.J", (const uint32_t[]){ 5, 0, 2 });
	assert_int_equal(g.loops.n, 1);
	assert_int_equal(g.loops.v[0].first, 0);
	assert_int_equal(g.loops.v[0].last, 6);
	assert_int_equal(g.loops.v[0].instructions, 6);
	gus_graph_free(&g);
	/* The inner one reaches further than the outer one's own instructions, at both ends. */
	draw(&g, "J.j.jr", (const uint32_t[]){ 4, 1, 1 });
	assert_int_equal(g.loops.n, 2);
	assert_int_equal(g.loops.v[0].first, 1);
	assert_int_equal(g.loops.v[0].last, 4);
	assert_int_equal(g.loops.v[0].instructions, 4);
	assert_int_equal(g.loops.v[1].instructions, 2);
	assert_true(in_loop(&g, 1, 1) && in_loop(&g, 1, 0) && !in_loop(&g, 3, 1));
	gus_graph_free(&g);
}

static void no_bytes_and_no_isa(void **state)
{
	struct gus_graph g;

	(void)state;
	gus_graph_read(&g, GUS_ISA_X86_64, NULL, 0);
	assert_true(g.insns.n == 0 && g.loops.n == 0 && gus_graph_at(&g, 0) == NONE);
	gus_graph_free(&g);
	gus_graph_read(&g, GUS_ISA_X86_64, "\xeb\xfe", 2); /* a jump to itself is all there is */
	assert_true(g.insns.n == 1 && g.insns.v[0].target == 0 && g.loops.n == 1 && g.loops.v[0].backs == 1);
	gus_graph_free(&g);
	gus_graph_read(&g, GUS_ISA_UNKNOWN, "ab", 2);
	assert_true(g.insns.n == 2 && g.insns.v[0].stops);
	gus_graph_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drawn_loops),
		cmocka_unit_test(back_edges_are_counted),
		cmocka_unit_test(random_loops),
		cmocka_unit_test(deep_and_long),
		cmocka_unit_test(bytes_become_a_graph),
		cmocka_unit_test(words_of_arm64_become_a_graph),
		cmocka_unit_test(traps_stop),
		cmocka_unit_test(loops_are_measured),
		cmocka_unit_test(no_bytes_and_no_isa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
