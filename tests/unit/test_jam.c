/* SPDX-License-Identifier: MIT */
/* The code of jams is what it is meant to be: as one CPU's table reads it, instruction by instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/calibration/jam.h"
#include "model/calibration/micro.h"
#include "model/code/program.h"
#include "model/tables/builtin.h"
#include "model/tables/uarch.h"

enum { N = 24, LINKS = 5 };

static struct gus_uarch *skylake;

static int load_table(void **state)
{
	struct gus_error err;

	(void)state;
	skylake = gus_uarch_parse("skylake", NULL, 0, &gus_uarch_builtin, 0, &err);
	return skylake ? 0 : -1;
}

static int free_table(void **state)
{
	(void)state;
	gus_uarch_free(skylake);
	return 0;
}

/* What the ops of a body take, added up. */
struct taken { unsigned ops, loads, stores, branches, integers, vectors, roots; };

static struct gus_program *program_of(const struct gus_micro *m)
{
	struct gus_error err = { 0 };
	struct gus_program *p = gus_program_new(skylake, m->code.v + m->loop, m->end - m->loop, 4096,
						GUS_PROGRAM_TEXTS, &err);

	if (!p)
		fail_msg("%s: %s", m->name, err.text);
	return p;
}

static struct taken take(const struct gus_micro *m)
{
	struct gus_program *p = program_of(m);
	struct taken t = { .ops = p->ops_n };

	assert_int_equal(p->unknown, 0);
	assert_true(p->loop);
	for (uint32_t i = 0; i < p->ops_n; i++) {
		t.loads += p->ops[i].loads;
		t.stores += p->ops[i].stores;
		t.branches += (p->ops[i].flags & GUS_OP_BRANCH) != 0;
		t.integers += p->ops[i].results[GUS_REGFILE_INT];
		t.vectors += p->ops[i].results[GUS_REGFILE_VECTOR];
	}
	for (uint32_t i = 0; i < p->insns_n; i++)
		t.roots += strstr(p->insns[i].text, "sqrt") != NULL;
	/* Each access and each branch inside is told. */
	assert_int_equal(p->memories_n, m->accesses.n);
	assert_int_equal(t.branches, m->jumps.n + 1);
	gus_program_free(p);
	return t;
}

static struct taken taken_of(enum gus_jam kind, enum gus_jam_chain chain, unsigned links, unsigned n)
{
	struct gus_micro *m = gus_jam_new(GUS_ISA_X86_64, kind, chain, links, n);
	struct taken t = take(m);

	gus_micro_free(m);
	return t;
}

static void each_kind_takes_what_it_is_for(void **state)
{
	static const struct { enum gus_jam kind; unsigned loads, stores, branches, integers, vectors; } of[] = {
		{ GUS_JAM_NOP, 0, 0, 0, 0, 0 },
		{ GUS_JAM_MIXED, N / 4, N / 8, 0, N / 2, N * 3 / 8 },
		{ GUS_JAM_TEST, 0, 0, 0, N, 0 },
		{ GUS_JAM_ADD, 0, 0, 0, N, 0 },
		{ GUS_JAM_XOR, 0, 0, 0, 0, N },
		{ GUS_JAM_BOTH, 0, 0, 0, N / 2, N / 2 },
		{ GUS_JAM_LOAD, N, 0, 0, N / 2, N / 2 },
		{ GUS_JAM_STORE, 0, N, 0, 0, 0 },
		{ GUS_JAM_BRANCH, 0, 0, N, N, 0 },
		{ GUS_JAM_WAITING_ADD, 0, 0, 0, N, 0 },
		{ GUS_JAM_WAITING_MULTIPLY, 0, 0, 0, N, 0 },
		{ GUS_JAM_WAITING_VECTOR, 0, 0, 0, 0, N },
		{ GUS_JAM_WAITING_BOTH, 0, 0, 0, N / 2, N / 2 },
		{ GUS_JAM_WAITING_LOAD, N, 0, 0, N, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		for (unsigned links = 0; links <= LINKS; links += LINKS) {
			struct taken none = taken_of(of[i].kind, GUS_JAM_OF_VECTORS, links, 0);
			struct taken all = taken_of(of[i].kind, GUS_JAM_OF_VECTORS, links, N);

			assert_int_equal(all.ops - none.ops, N);
			assert_int_equal(all.loads - none.loads, of[i].loads);
			assert_int_equal(all.stores - none.stores, of[i].stores);
			assert_int_equal(all.branches - none.branches, of[i].branches);
			assert_int_equal(all.integers - none.integers, of[i].integers);
			assert_int_equal(all.vectors - none.vectors, of[i].vectors);
		}
}

static void a_chain_has_its_links_and_two_roots(void **state)
{
	(void)state;
	for (enum gus_jam_chain chain = 0; chain < GUS_JAM_CHAINS; chain++) {
		struct taken one = taken_of(GUS_JAM_NOP, chain, 1, 0);
		struct taken more = taken_of(GUS_JAM_NOP, chain, 1 + LINKS, 0);

		assert_int_equal(more.ops - one.ops, LINKS);
		assert_int_equal(one.roots, 2);
		assert_int_equal(more.roots, 2);
		assert_int_equal(taken_of(GUS_JAM_NOP, chain, 0, 0).ops, 1);
	}
}

/* Whether one of the uops from the op of that number on, up to the end, reads a register. */
static bool reads(const struct gus_program *p, uint32_t op, unsigned reg)
{
	for (uint32_t i = p->ops[op].uop; i < p->ops[op].uop + p->ops[op].uops_n; i++)
		for (unsigned n = 0; n < p->uops[i].in_n; n++)
			if (p->flows[p->uops[i].in + n].reg == reg)
				return true;
	return false;
}

/* Those that wait read what the chain ends in, and others do not. */
static void only_those_that_wait_wait(void **state)
{
	(void)state;
	for (enum gus_jam kind = 0; kind < GUS_JAMS; kind++) {
		struct gus_micro *m = gus_jam_new(GUS_ISA_X86_64, kind, gus_jam_chain_for(kind), 1, N);
		struct gus_program *p = program_of(m);
		bool waits = kind >= GUS_JAM_WAITING_ADD;

		/* The last op is the end of the loop, the n are before it. V0, or R0 that was made of it. */
		for (uint32_t i = p->ops_n - 1 - N; i + 1 < p->ops_n; i++)
			assert_int_equal(reads(p, i, GUS_X86_V0) || reads(p, i, GUS_X86_RAX), waits);
		gus_program_free(p);
		gus_micro_free(m);
	}
}

/* Loads go to two lines by turns, and the load that the others wait for has the first. */
static void loads_go_to_two_lines_by_turns(void **state)
{
	static const enum gus_jam of[] = { GUS_JAM_LOAD, GUS_JAM_WAITING_LOAD };

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct gus_micro *m = gus_jam_new(GUS_ISA_X86_64, of[i], GUS_JAM_OF_VECTORS, 1, N);
		unsigned lines[2] = { 0 }, loads = 0;

		if (of[i] == GUS_JAM_LOAD) {
			assert_int_equal(m->accesses.n, N + 1);
			assert_int_equal(m->accesses.v[0].offset, 0);
			for (size_t n = 1; n <= N; n++)
				assert_int_equal(m->accesses.v[n].offset, n % 2 * 64 + (n - 1) % 4 * 8);
		}
		for (size_t n = of[i] == GUS_JAM_LOAD; n < m->accesses.n; n++) {
			if (of[i] == GUS_JAM_WAITING_LOAD)
				assert_int_equal(m->accesses.v[n].offset, n % 2 ? 0 : 64);
			lines[m->accesses.v[n].offset / 64]++;
			loads++;
		}
		assert_int_equal(lines[0], loads / 2);
		assert_int_equal(lines[1], loads / 2);
		gus_micro_free(m);
	}
}

/* A mix has loads of both lines, of integers and of vectors. */
static void mixed_loads_go_to_two_lines_by_turns(void **state)
{
	static const int64_t of[2] = { 64, 24 };
	struct gus_micro *m = gus_jam_new(GUS_ISA_X86_64, GUS_JAM_MIXED, GUS_JAM_OF_VECTORS, 1, N);
	unsigned loads = 0;

	(void)state;
	for (size_t i = 0; i < m->accesses.n; i++)
		if (i % 3 != 1) /* load, store, load */
			assert_int_equal(m->accesses.v[i].offset, of[loads++ % 2]);
	assert_int_equal(loads, N / 4);
	gus_micro_free(m);
}

/* Where the code goes is where it is said to go: stores to eight words. */
static void accesses_are_where_they_are_told(void **state)
{
	static const enum gus_jam of[] = { GUS_JAM_LOAD, GUS_JAM_STORE, GUS_JAM_MIXED };

	(void)state;
	for (size_t k = 0; k < sizeof(of) / sizeof(*of); k++) {
		struct gus_micro *m = gus_jam_new(GUS_ISA_X86_64, of[k], GUS_JAM_OF_VECTORS, 1, N);
		struct gus_program *p = program_of(m);
		size_t n = 0;

		for (uint32_t i = 0; i < p->insns_n; i++)
			if (p->insns[i].info.memory_count && p->insns[i].info.memory[0].use) {
				assert_int_equal(p->insns[i].info.memory[0].displacement, m->accesses.v[n].offset);
				if (of[k] == GUS_JAM_STORE)
					assert_int_equal(m->accesses.v[n].offset, n % 8 * 8);
				n++;
			}
		assert_int_equal(n, m->accesses.n);
		gus_program_free(p);
		gus_micro_free(m);
	}
}

/* Links multiply by 1, so that nothing overflows. */
static void links_change_nothing(void **state)
{
	struct gus_micro *m = gus_jam_new(GUS_ISA_X86_64, GUS_JAM_NOP, GUS_JAM_OF_INTEGERS, LINKS, 0);
	unsigned long long value = 0;
	struct gus_program *p;
	struct gus_insn insn;
	unsigned links = 0;

	(void)state;
	for (uint32_t at = 0; at < m->loop; at += insn.length) {
		gus_insn_decode(GUS_ISA_X86_64, m->code.v + at, m->loop - at, at, &insn);
		assert_true(insn.length > 0);
		if (strncmp(insn.text, "mov r14d, ", 10) == 0)
			value = strtoull(insn.text + 10, NULL, 16);
	}
	assert_int_equal(value, 1);
	p = program_of(m);
	for (uint32_t i = 0; i < p->insns_n; i++)
		links += strncmp(p->insns[i].text, "imul ", 5) == 0 && strstr(p->insns[i].text, ", r14");
	assert_int_equal(links, LINKS);
	gus_program_free(p);
	gus_micro_free(m);
}

/* The other chain is in the way of those that need its ports. */
static void each_has_the_chain_that_is_in_nobodys_way(void **state)
{
	(void)state;
	for (enum gus_jam kind = 0; kind < GUS_JAMS; kind++)
		assert_int_equal(gus_jam_chain_for(kind), kind == GUS_JAM_XOR || kind == GUS_JAM_WAITING_VECTOR ?
				 GUS_JAM_OF_INTEGERS : GUS_JAM_OF_VECTORS);
}

/* What waits for a load has one before it; what waits for a register has no more than what makes it. */
static void so_much_comes_before(void **state)
{
	static const struct { enum gus_jam kind; unsigned ops, loads; } of[] = {
		{ GUS_JAM_ADD, 0, 0 }, { GUS_JAM_WAITING_VECTOR, 0, 0 }, { GUS_JAM_WAITING_ADD, 1, 0 },
		{ GUS_JAM_WAITING_LOAD, 2, 0 }, { GUS_JAM_LOAD, 3, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		struct taken t = taken_of(of[i].kind, GUS_JAM_OF_VECTORS, 0, 0);

		assert_int_equal(t.ops - 1, of[i].ops);
		assert_int_equal(t.loads, of[i].loads);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_takes_what_it_is_for),
		cmocka_unit_test(a_chain_has_its_links_and_two_roots),
		cmocka_unit_test(only_those_that_wait_wait),
		cmocka_unit_test(loads_go_to_two_lines_by_turns),
		cmocka_unit_test(mixed_loads_go_to_two_lines_by_turns),
		cmocka_unit_test(accesses_are_where_they_are_told),
		cmocka_unit_test(links_change_nothing),
		cmocka_unit_test(each_has_the_chain_that_is_in_nobodys_way),
		cmocka_unit_test(so_much_comes_before),
	};

	return cmocka_run_group_tests(tests, load_table, free_table);
}
