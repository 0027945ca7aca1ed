/* SPDX-License-Identifier: MIT */
/* attribution/profile/unwinder: batches with registers and stacks get chains, each sample its own, in the form that the
 * kernel's have, however many threads look at them. The code is memory without a file, which has frame pointers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/unwinder.h"
#include "proto/sample.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"

#define CODE 0x10000u
#define STACK 0x7000000ull
#define USER ((uint64_t)-512)
#define KERNEL ((uint64_t)-128)
enum { BP = 6, SP = 7, IP = 8, REGS = 17, DEPTH = 5 };

static const struct gus_symbols_options options = { .symfs = NULL };

static struct gus_space *make_space(void)
{
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;
	struct gus_space *s = gus_space_new();

	map.pid = map.tid = 10;
	map.start = CODE - 16; /* what returns to CODE was called before it */
	map.length = 0x20000;
	map.path = (char *)(uintptr_t)"//anon";
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	gus_space_add(s, &record);
	gus_space_ready(s);
	return s;
}

/* DEPTH frames of two words, the frame pointer of the caller and the address that is returned to; the last has none. */
static void make_stack(uint64_t stack[2 * DEPTH], uint64_t number)
{
	for (uint64_t i = 0; i < DEPTH; i++) {
		stack[2 * i] = i + 1 < DEPTH ? STACK + 16 * (i + 1) : 0;
		stack[2 * i + 1] = i + 1 < DEPTH ? CODE + 16 * number + i : 0;
	}
}

static void push(struct gus_columns *c, uint64_t number, struct gus_sample s)
{
	uint64_t regs[REGS] = { 0 }, stack[2 * DEPTH];

	make_stack(stack, number);
	regs[BP] = regs[SP] = STACK;
	regs[IP] = CODE + 8;
	s.pid = s.tid = 10;
	s.ip = s.mode == GUS_MODE_USER ? regs[IP] : (uint64_t)-4096;
	s.time = 1000 + number;
	s.regs = s.regs_n ? regs : NULL;
	s.stack = stack;
	s.stack_n = s.stack_n ? s.stack_n : 2 * DEPTH;
	gus_columns_push(c, &s);
}

static struct gus_columns run(struct gus_columns *c, const char *machine, unsigned threads)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct gus_space *space = make_space();
	struct gus_unwinder *u;

	host.machine = (char *)(uintptr_t)machine;
	header.host = machine ? &host : NULL;
	u = gus_unwinder_new(space, &options, &header);
	if (threads)
		gus_unwinder_limit(u, threads);
	gus_unwinder_run(u, c, false);
	gus_unwinder_free(u);
	gus_space_free(space);
	return *c;
}

static void check_chain(const struct gus_columns *c, size_t row, const uint64_t *chain, uint32_t n, uint64_t end)
{
	struct gus_sample s = gus_columns_sample(c, row);

	assert_int_equal(s.chain_n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(s.chain[i], chain[i]);
	assert_int_equal(s.callers & GUS_CALLERS_END, end);
	assert_int_equal(s.regs_n, 0);
	assert_int_equal(s.stack_n, 0);
	assert_int_equal(c->regs_end.v[row], 0); /* what is gone lies nowhere */
	assert_int_equal(c->stack_end.v[row], 0);
}

static void test_forms(void **state)
{
	const uint64_t kernel[] = { KERNEL, (uint64_t)-5000 };
	const uint64_t first[] = { USER, CODE, CODE + 1, CODE + 2, CODE + 3 };
	const uint64_t second[] = { KERNEL, (uint64_t)-5000, USER, CODE + 8, CODE + 16, CODE + 17, CODE + 18,
				    CODE + 19 };
	const uint64_t cut[] = { USER, CODE + 32, CODE + 33 };
	struct gus_columns c = { 0 };

	(void)state;
	push(&c, 0, (struct gus_sample){ .mode = GUS_MODE_USER, .regs_n = REGS });
	push(&c, 1, (struct gus_sample){ .mode = GUS_MODE_KERNEL, .regs_n = REGS, .chain = kernel, .chain_n = 2 });
	push(&c, 2, (struct gus_sample){ .mode = GUS_MODE_USER, .regs_n = REGS, .stack_n = 5 });
	/* A thread of the kernel's, and a task of 32 bits: what the recorder knew of them stays. */
	push(&c, 3, (struct gus_sample){ .mode = GUS_MODE_KERNEL, .chain = kernel, .chain_n = 2,
					 .callers = GUS_CALLERS_WHOLE });
	push(&c, 4, (struct gus_sample){ .mode = GUS_MODE_USER, .callers = GUS_CALLERS_ABI });
	run(&c, "x86_64", 0);
	assert_int_equal(c.n, 5);
	check_chain(&c, 0, first, 5, GUS_CALLERS_WHOLE);
	check_chain(&c, 1, second, 8, GUS_CALLERS_WHOLE);
	check_chain(&c, 2, cut, 3, GUS_CALLERS_STACK);
	check_chain(&c, 3, kernel, 2, GUS_CALLERS_WHOLE);
	check_chain(&c, 4, NULL, 0, GUS_CALLERS_ABI);
	assert_int_equal(c.chain.n, 5 + 8 + 3 + 2);
	gus_columns_free(&c);
}

/* Registers of a machine that is not known, or of another one, say nothing. */
static void test_machine(void **state)
{
	const char *const machines[] = { NULL, "riscv64", "aarch64" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct gus_columns c = { 0 };

		push(&c, 0, (struct gus_sample){ .mode = GUS_MODE_USER, .regs_n = REGS });
		run(&c, machines[i], 0);
		check_chain(&c, 0, NULL, 0, GUS_CALLERS_ABI);
		gus_columns_free(&c);
	}
}

/* Of arm64 the frame pointer is x29; sp and pc are the last two. */
static void test_arm64(void **state)
{
	const uint64_t chain[] = { USER, CODE + 8, CODE, CODE + 1, CODE + 2, CODE + 3 };
	uint64_t regs[33] = { [29] = STACK, [31] = STACK, [32] = CODE + 8 }, stack[2 * DEPTH];
	struct gus_columns c = { 0 };

	(void)state;
	make_stack(stack, 0);
	for (unsigned mode = 0; mode < 2; mode++)
		gus_columns_push(&c, &(struct gus_sample){ .mode = mode ? GUS_MODE_KERNEL : GUS_MODE_USER, .pid = 10,
			.tid = 10, .time = 1000, .regs = regs, .regs_n = 33, .stack = stack, .stack_n = 2 * DEPTH });
	run(&c, "aarch64", 0);
	check_chain(&c, 1, chain, 6, GUS_CALLERS_WHOLE);
	check_chain(&c, 0, (const uint64_t[]){ USER, CODE, CODE + 1, CODE + 2, CODE + 3 }, 5, GUS_CALLERS_WHOLE);
	gus_columns_free(&c);
}

/* Batches of every size around what a thread takes at a time, one after the other, give each sample its own stack. */
static void test_threads(void **state)
{
	static const size_t sizes[] = { 1, 15, 16, 17, 1000, 3, 0, 32 };
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;

	(void)state;
	host.machine = (char *)(uintptr_t)"x86_64";
	header.host = &host;
	for (unsigned threads = 1; threads <= 9; threads += 4) {
		struct gus_space *space = make_space();
		struct gus_unwinder *u = gus_unwinder_new(space, &options, &header);
		struct gus_columns c = { 0 };

		gus_unwinder_limit(u, threads);
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			gus_columns_clear(&c);
			for (uint64_t i = 0; i < sizes[k]; i++)
				push(&c, i + k, (struct gus_sample){ .mode = GUS_MODE_USER, .regs_n = REGS });
			gus_unwinder_run(u, &c, false);
			for (uint64_t i = 0; i < sizes[k]; i++) {
				const uint64_t at = CODE + 16 * (i + k), chain[] = { USER, at, at + 1, at + 2, at + 3 };

				check_chain(&c, i, chain, 5, GUS_CALLERS_WHOLE);
			}
		}
		gus_columns_free(&c);
		gus_unwinder_free(u);
		gus_space_free(space);
	}
}

/* Who prints registers keeps them; the stacks go all the same. */
static void test_registers_kept(void **state)
{
	Gusprof__Header header = GUSPROF__HEADER__INIT;
	Gusprof__Host host = GUSPROF__HOST__INIT;
	struct gus_space *space = make_space();
	struct gus_columns c = { 0 };
	struct gus_unwinder *u;
	uint64_t before[REGS];
	struct gus_sample s;

	(void)state;
	host.machine = (char *)(uintptr_t)"x86_64";
	header.host = &host;
	u = gus_unwinder_new(space, &options, &header);
	push(&c, 3, (struct gus_sample){ .mode = GUS_MODE_USER, .regs_n = REGS });
	s = gus_columns_sample(&c, 0);
	memcpy(before, s.regs, sizeof(before));
	gus_unwinder_run(u, &c, true);
	s = gus_columns_sample(&c, 0);
	assert_int_equal(s.regs_n, REGS);
	assert_memory_equal(s.regs, before, sizeof(before));
	assert_int_equal(s.stack_n, 0);
	assert_int_equal(s.chain_n, 5);
	gus_columns_free(&c);
	gus_unwinder_free(u);
	gus_space_free(space);
}

/* A batch without registers stays as it is. */
static void test_nothing(void **state)
{
	const uint64_t chain[] = { USER, 7 };
	struct gus_columns c = { 0 };

	(void)state;
	gus_columns_push(&c, &(struct gus_sample){ .mode = GUS_MODE_USER, .chain = chain, .chain_n = 2 });
	run(&c, "x86_64", 0);
	check_chain(&c, 0, chain, 2, GUS_CALLERS_UNTOLD);
	gus_columns_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_registers_kept),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
