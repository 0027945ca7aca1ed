/* SPDX-License-Identifier: MIT */
/* symbolizer/unwind/libunwind: steps out of made unwind entries and made stacks; what is remembered is of the right
 * function; and entries that would end the program are refused before libunwind sees them. */
#include <dwarf.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "proto/varint.h"
#include "symbolizer/unwind/cfi.h"
#include "symbolizer/unwind/libunwind.h"
#include "symbolizer/unwind/vetted.h"

#define STACK_AT 0x7ffc00001000ull
#define SECTION_AT 0x9000ull
#define WORDS 16

enum { RAX, RBX = 3, RBP = 6, RSP = 7, RIP = 16 };
#define ALL UINT64_MAX

struct made {
	struct gus_bytes section;
	size_t common;
	struct gus_cfi cfi;
	uint64_t stack[WORDS];
	struct gus_unwind_view view;
	struct gus_unwind_regs regs;
	struct gus_budget work;
	struct gus_libunwind *s;
};

static void put(struct gus_bytes *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		gus_vec_push(out, (uint8_t)(value >> 8 * i));
}

static void put_length(struct gus_bytes *out, size_t at)
{
	uint32_t length;

	while (out->n % 4)
		gus_vec_push(out, DW_CFA_nop);
	length = (uint32_t)(out->n - at - 4);
	memcpy(out->v + at, &length, 4);
}

/* The common part, with addresses as they are; the return address is column 16. */
static void put_common(struct made *m, const uint8_t *program, size_t n)
{
	size_t at = m->common = m->section.n;

	put(&m->section, 0, 4);
	put(&m->section, 0, 4);
	put(&m->section, 1, 1);
	put(&m->section, 0, 1);
	put(&m->section, 1, 1);    /* code alignment */
	put(&m->section, 0x78, 1); /* data alignment -8 */
	put(&m->section, RIP, 1);
	gus_vec_append(&m->section, program, n);
	put_length(&m->section, at);
}

static void put_entry(struct made *m, uint64_t low, uint64_t size, const uint8_t *program, size_t n)
{
	size_t at = m->section.n;

	put(&m->section, 0, 4);
	put(&m->section, m->section.n - m->common, 4);
	put(&m->section, low, 8);
	put(&m->section, size, 8);
	gus_vec_append(&m->section, program, n);
	put_length(&m->section, at);
}

static void open_section(struct made *m)
{
	struct gus_budget work = { .left = UINT64_MAX }, space = work;

	gus_cfi_open(&m->cfi, m->section.v, m->section.n, SECTION_AT, false, EM_X86_64, &work, &space);
}

/* The usual beginning: CFA is RSP + 8, and the return address lies below it. */
static const uint8_t usual[] = { DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RIP, 1 };

static void fill(struct made *m)
{
	for (uint64_t i = 0; i < WORDS; i++)
		m->stack[i] = 0x1000 + i;
	m->view = (struct gus_unwind_view){ .stack_at = STACK_AT, .stack = m->stack, .stack_bytes = sizeof(m->stack) };
	m->regs = (struct gus_unwind_regs){ .machine = EM_X86_64, .known = (1u << 17) - 1 };
	for (unsigned i = 0; i < 16; i++)
		m->regs.v[i] = 0xa0 + i;
	m->regs.v[RSP] = STACK_AT;
	m->work = (struct gus_budget){ .left = GUS_LIMIT_UNWIND_WORK };
}

static int setup(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	fill(m);
	m->s = gus_libunwind_new();
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	gus_libunwind_free(m->s);
	if (m->cfi.bytes)
		gus_cfi_close(&m->cfi);
	gus_vec_free(&m->section);
	free(m);
	return 0;
}

static enum gus_callers step(struct made *m, uint64_t address, uint64_t wanted)
{
	struct gus_cfi_text text;

	assert_true(gus_cfi_text(&m->cfi, address, &text));
	return gus_libunwind_step(m->s, &m->cfi, &text, address, &m->view, &m->work, wanted, &m->regs);
}

/* One function of that program behind the usual common part, at 0x400 with 0x100 bytes; what a step at 0x410 says. */
static enum gus_callers step_in(struct made *m, const uint8_t *program, size_t n)
{
	put_common(m, usual, sizeof(usual));
	put_entry(m, 0x400, 0x100, program, n);
	open_section(m);
	return step(m, 0x410, ALL);
}
#define STEP_IN(m, ...) \
	step_in(m, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void test_plain(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_nop), 0);
	assert_int_equal(m->regs.v[RIP], 0x1000);
	assert_int_equal(m->regs.v[RSP], STACK_AT + 8);
	assert_int_equal(m->regs.v[RBX], 0xa0 + RBX);
	assert_int_equal(m->regs.known, (1u << 17) - 1);
}

/* Rules hold from their address on: before it, at it. */
static void test_rows(void **state)
{
	const uint8_t program[] = { DW_CFA_advance_loc | 0x10, DW_CFA_def_cfa_offset, 24, DW_CFA_offset | RBX, 2 };
	struct made *m = *state;

	put_common(m, usual, sizeof(usual));
	put_entry(m, 0x400, 0x100, program, sizeof(program));
	open_section(m);
	assert_int_equal(step(m, 0x40f, ALL), 0);
	assert_int_equal(m->regs.v[RSP], STACK_AT + 8);
	fill(m);
	assert_int_equal(step(m, 0x410, ALL), 0);
	assert_int_equal(m->regs.v[RSP], STACK_AT + 24);
	assert_int_equal(m->regs.v[RIP], 0x1002);
	assert_int_equal(m->regs.v[RBX], 0x1001);
	/* remembered now: the same address with another stack */
	fill(m);
	m->stack[1] = 77;
	m->stack[2] = 88;
	assert_int_equal(step(m, 0x410, 1u << RBX), 0);
	assert_int_equal(m->regs.v[RBX], 77);
	assert_int_equal(m->regs.v[RIP], 88);
	assert_int_equal(m->regs.known, 1u << RBX | 1u << RSP | 1u << RIP);
}

/* The same address in another file, and functions of one file, are kept apart. */
static void test_apart(void **state)
{
	const uint8_t other[] = { DW_CFA_def_cfa_offset, 32 };
	struct made *m = *state, two = { 0 };

	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_offset, 16), 0);
	put_common(&two, usual, sizeof(usual));
	put_entry(&two, 0x400, 0x100, other, sizeof(other));
	put_entry(&two, 0x500, 0x100, usual, sizeof(usual));
	open_section(&two);
	fill(&two);
	two.s = m->s;
	assert_int_equal(step(&two, 0x410, ALL), 0);
	assert_int_equal(two.regs.v[RSP], STACK_AT + 32);
	fill(&two);
	assert_int_equal(step(&two, 0x510, ALL), 0);
	assert_int_equal(two.regs.v[RSP], STACK_AT + 8);
	fill(m);
	assert_int_equal(step(m, 0x410, ALL), 0);
	assert_int_equal(m->regs.v[RSP], STACK_AT + 16);
	gus_cfi_close(&two.cfi);
	gus_vec_free(&two.section);
}

/* More functions than the made-up addresses have room for: what comes later is not taken for what was there, and to
 * forget all takes its time, for which the stack pays. */
static void test_many(void **state)
{
	const uint64_t size = GUS_LIMIT_FUNCTION;
	unsigned dear = 0;
	struct made *m = *state;

	put_common(m, usual, sizeof(usual));
	for (uint64_t i = 1; i <= 40; i++)
		put_entry(m, i * size, size, (const uint8_t[]){ DW_CFA_def_cfa_offset, (uint8_t)(8 * (i % 4 + 1)) }, 2);
	put_entry(m, 50 * size, size + 1, usual, sizeof(usual));
	open_section(m);
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t i = 1; i <= 40; i++) {
			fill(m);
			assert_int_equal(step(m, i * size + 7, ALL), 0);
			assert_int_equal(m->regs.v[RSP], STACK_AT + 8 * (i % 4 + 1));
			dear += GUS_LIMIT_UNWIND_WORK - m->work.left > 8000;
		}
	assert_in_range(dear, 4, 6); /* of 80 functions each 15 or 16 have room */
	fill(m);
	m->work.left = 1000;
	for (uint64_t i = 1; i <= 40 && dear; i++, m->work.left = 1000)
		if (step(m, i * size + 9, ALL) == GUS_CALLERS_WORK)
			dear = 0;
	assert_int_equal(dear, 0);
	fill(m);
	assert_int_equal(step(m, 50 * size, ALL), GUS_CALLERS_BAD); /* no function is that large */
}

static void test_ends(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_undefined, RIP), GUS_CALLERS_WHOLE);
}

static void test_stack_ends(void **state)
{
	struct made *m = *state;

	/* The CFA is 128 bytes on, so the return address is the last word of the copy. */
	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_offset, 0x80, 1), 0);
	assert_int_equal(m->regs.v[RIP], 0x1000 + WORDS - 1);
	fill(m);
	m->view.stack_bytes -= 1;
	assert_int_equal(step(m, 0x410, ALL), GUS_CALLERS_STACK);
	assert_int_equal(m->regs.v[RSP], STACK_AT);
	fill(m);
	m->view.stack_at += 8 * WORDS; /* a handler's; this one was interrupted, lies lower, and was not copied */
	assert_int_equal(step(m, 0x410, ALL), GUS_CALLERS_STACK);
}

/* What no copy would have had: a return address below the stack pointer, a stack where the kernel is. */
static void test_no_stack(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_offset | RIP, 2), GUS_CALLERS_BAD);
}

static void test_stack_of_the_kernel(void **state)
{
	struct made *m = *state;

	m->regs.v[RBX] = (uint64_t)3 << 62;
	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_register, RBX), GUS_CALLERS_BAD);
}

/* A register that was saved below the stack pointer is restored already; one behind the copy is not known. */
static void test_restored(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_offset | RBX, 2, DW_CFA_offset_extended_sf, RBP, 0x70), 0);
	assert_int_equal(m->regs.v[RBX], 0xa0 + RBX);
	assert_true(m->regs.known >> RBX & 1);
	assert_false(m->regs.known >> RBP & 1);
	fill(m);
	m->regs.known &= ~(1ull << RBX);
	assert_int_equal(step(m, 0x410, ALL), 0);
	assert_false(m->regs.known >> RBX & 1);
}

static void test_register_unknown(void **state)
{
	struct made *m = *state;

	m->regs.known &= ~(1ull << RBP);
	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_register, RBP), GUS_CALLERS_BAD);
}

/* CFA = [RSP + 24], by its low bits as an entry of the PLT does: (RIP & 15) << 3. */
static void test_expression(void **state)
{
	struct made *m = *state;

	m->stack[3] = STACK_AT + 48;
	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + RSP, 24, DW_OP_deref), 0);
	assert_int_equal(m->regs.v[RSP], STACK_AT + 48);
	assert_int_equal(m->regs.v[RIP], 0x1005);
}

static void test_expression_of_place(void **state)
{
	const uint8_t program[] = { DW_CFA_def_cfa_expression, 8, DW_OP_breg0 + RSP, 8, DW_OP_breg0 + RIP, 0,
				    DW_OP_lit15, DW_OP_and, DW_OP_plus, DW_OP_nop };
	struct made *m = *state;

	put_common(m, usual, sizeof(usual));
	put_entry(m, 0x408, 0x100, program, sizeof(program));
	put_entry(m, 0x600, 0x31, usual, sizeof(usual));
	open_section(m);
	assert_int_equal(step(m, 0x600, ALL), 0); /* which is met before it, and ends anywhere */
	fill(m);
	assert_int_equal(step(m, 0x418, ALL), 0);
	assert_int_equal(m->regs.v[RSP], STACK_AT + 16);
	fill(m);
	assert_int_equal(step(m, 0x410, ALL), 0);
	assert_int_equal(m->regs.v[RSP], STACK_AT + 8);
}

/* What ends libunwind, or makes it run on. */

static void test_no_cfa(void **state)
{
	struct made *m = *state;

	put_common(m, (const uint8_t[]){ DW_CFA_offset | RIP, 1 }, 2);
	put_entry(m, 0x400, 0x100, (const uint8_t[]){ DW_CFA_nop }, 1);
	open_section(m);
	assert_false(gus_vetted_row(&m->cfi, 0x410, &m->work)); /* some builds of libunwind refuse it themselves */
	assert_int_equal(step(m, 0x410, ALL), GUS_CALLERS_BAD);
}

static void test_division(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_expression, 5, DW_OP_lit1, DW_OP_lit31, DW_OP_shl, DW_OP_lit0,
				 DW_OP_div), GUS_CALLERS_BAD);
}

static void test_division_of_register(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_val_expression, RBX, 3, DW_OP_lit1, DW_OP_lit0, DW_OP_mod),
			 GUS_CALLERS_BAD);
}

static void test_jump(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_expression, 3, DW_OP_skip, 0xfd, 0xff), GUS_CALLERS_BAD);
}

static void test_cut_expression(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_expression, 3, DW_OP_lit1, DW_OP_const2u, 1), GUS_CALLERS_BAD);
}

static void test_underflow(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_expression, 3, DW_OP_drop, DW_OP_drop, DW_OP_plus),
			 GUS_CALLERS_BAD);
}

static void test_far_register(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa, 17, 8), GUS_CALLERS_BAD);
	assert_false(gus_vetted_row(&m->cfi, 0x410, &m->work));
}

static void test_far_register_of_expression(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_def_cfa_expression, 2, DW_OP_breg17, 8), GUS_CALLERS_BAD);
	assert_false(gus_vetted_row(&m->cfi, 0x410, &m->work));
}

/* An entry is written anew as long as its parts are no longer than they may be, and its registers are known. */
static void test_written(void **state)
{
	static const uint8_t nops[GUS_LIMIT_CFI + 1];
	static const struct { size_t initial_n, program_n; unsigned ra; bool good; } cases[] = {
		{ 5, 5, RIP, true }, { 5, 5, RIP + 1, false },
		{ GUS_LIMIT_CFI, 5, RIP, true }, { GUS_LIMIT_CFI + 1, 5, RIP, false },
		{ 5, GUS_LIMIT_CFI, RIP, true }, { 5, GUS_LIMIT_CFI + 1, RIP, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_cfi_text text = { .initial = nops, .initial_n = cases[i].initial_n, .program = nops,
					     .program_n = cases[i].program_n, .code_align = 1, .data_align = -8,
					     .ra = cases[i].ra, .low = 0x400, .high = 0x500 };
		struct gus_bytes out = { 0 };

		assert_int_equal(gus_vetted_write(&out, 0x10000, &text, 0x8000), cases[i].good);
		gus_vec_free(&out);
	}
}

/* Numbers with a sign, of one byte and of two. */
static void test_written_alignment(void **state)
{
	static const struct { int64_t align; uint8_t bytes[2], n; } cases[] = {
		{ -8, { 0x78 }, 1 }, { 8, { 8 }, 1 }, { 63, { 63 }, 1 }, { 64, { 0xc0, 0 }, 2 }, { -64, { 0x40 }, 1 },
		{ -65, { 0xbf, 0x7f }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_cfi_text text = { .code_align = 1, .data_align = cases[i].align, .ra = RIP, .low = 0x400,
					     .high = 0x500 };
		struct gus_bytes out = { 0 };

		assert_true(gus_vetted_write(&out, 0x10000, &text, 0x8000));
		/* behind its row of a table, length, mark, version, letters and code alignment */
		assert_memory_equal(out.v + 8 + 4 + 4 + 1 + 1 + 1, cases[i].bytes, cases[i].n);
		assert_int_equal(out.v[8 + 11 + cases[i].n], RIP);
		gus_vec_free(&out);
	}
}

static void test_far_source(void **state)
{
	struct made *m = *state;

	assert_int_equal(STEP_IN(m, DW_CFA_register, RBX, 17), GUS_CALLERS_BAD);
}

static void test_remembered(void **state)
{
	uint8_t program[4000];
	struct made *m = *state;

	memset(program, DW_CFA_remember_state, sizeof(program));
	assert_int_equal(step_in(m, program, sizeof(program)), GUS_CALLERS_BAD);
}

static void test_work(void **state)
{
	uint8_t program[1000] = { 0 };
	struct made *m = *state;

	m->work.left = 1500;
	assert_int_equal(step_in(m, program, sizeof(program)), GUS_CALLERS_WORK);
	fill(m);
	assert_int_equal(step(m, 0x410, ALL), 0);
}

static void test_long_program(void **state)
{
	static uint8_t program[GUS_LIMIT_CFI + 4];
	struct made *m = *state;

	assert_int_equal(step_in(m, program, sizeof(program)), GUS_CALLERS_BAD);
}

/* To write an entry down costs work, even where little of it is run. */
static void test_work_of_writing(void **state)
{
	static uint8_t program[160000] = { DW_CFA_advance_loc | 0x3f };
	struct made *m = *state;

	m->work.left = sizeof(program) / 16 - 1;
	assert_int_equal(step_in(m, program, sizeof(program)), GUS_CALLERS_WORK);
	fill(m);
	assert_int_equal(step(m, 0x410, ALL), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_plain), TEST(test_rows), TEST(test_apart), TEST(test_many), TEST(test_ends),
		TEST(test_stack_ends), TEST(test_no_stack), TEST(test_stack_of_the_kernel), TEST(test_restored),
		TEST(test_register_unknown), TEST(test_expression),
		TEST(test_expression_of_place), TEST(test_no_cfa), TEST(test_division),
		TEST(test_division_of_register), TEST(test_jump), TEST(test_cut_expression), TEST(test_underflow),
		TEST(test_far_register), TEST(test_far_register_of_expression), TEST(test_written),
		TEST(test_written_alignment), TEST(test_far_source), TEST(test_remembered), TEST(test_work),
		TEST(test_long_program), TEST(test_work_of_writing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
