/* SPDX-License-Identifier: MIT */
/* symbolizer/unwind: tables, expressions, code and stacks that are made up here, so that each answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elf.h>
#include <linux/perf_event.h>

#include "symbolizer/elf/encoded.h"
#include "symbolizer/space/space.h"
#include "symbolizer/symbols/symbols.h"
#include "symbolizer/unwind/cfi.h"
#include "symbolizer/unwind/expression.h"
#include "symbolizer/unwind/files.h"
#include "symbolizer/unwind/unwind.h"
#include "tests/unit/made_frames.h"

#define LEN(a) (sizeof(a) / sizeof(*(a)))

/* Tables. */

static enum gus_cfi_found row_at(const struct made_frames *m, uint64_t address, struct gus_cfi_row *row)
{
	struct gus_budget work = { .left = 1 << 20 }, made = { .left = 1 << 20 }, steps = { .left = 1000 };
	enum gus_cfi_found found;
	struct gus_cfi c;

	gus_cfi_open(&c, m->bytes, m->n, 0x5000, m->debug, EM_X86_64, &work, &made);
	found = gus_cfi_row(&c, address, &steps, row);
	gus_cfi_close(&c);
	return found;
}

/* A prologue as compilers describe it: each row holds from its first address to the last before the next. */
static void rows_hold_between_their_addresses(void **state)
{
	static const uint8_t program[] = { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc1, 90, DW_CFA_def_cfa, 7, 8,
		DW_CFA_restore | 6 };
	static const struct { uint64_t at, low, high; unsigned reg; int64_t cfa; enum gus_cfi_how rbp; } cases[] = {
		{ 0x1000, 0x1000, 0x1001, 7, 8, GUS_CFI_SAME }, { 0x1001, 0x1001, 0x1004, 7, 16, GUS_CFI_AT },
		{ 0x1003, 0x1001, 0x1004, 7, 16, GUS_CFI_AT }, { 0x1004, 0x1004, 0x105e, 6, 16, GUS_CFI_AT },
		{ 0x105d, 0x1004, 0x105e, 6, 16, GUS_CFI_AT }, { 0x105e, 0x105e, 0x1064, 7, 8, GUS_CFI_SAME },
		{ 0x1063, 0x105e, 0x1064, 7, 8, GUS_CFI_SAME },
	};
	struct gus_cfi_row row;

	(void)state;
	for (int debug = 0; debug < 2; debug++) {
		struct made_frames m = { .debug = debug };

		made_cie(&m, "", 16, made_x86, sizeof(made_x86));
		made_fde(&m, 0x1000, 0x64, program, sizeof(program));
		for (size_t i = 0; i < LEN(cases); i++) {
			assert_int_equal(row_at(&m, cases[i].at, &row), GUS_CFI_FOUND);
			assert_int_equal(row.low, cases[i].low);
			assert_int_equal(row.high, cases[i].high);
			assert_int_equal(row.cfa.how, GUS_CFI_VALUE);
			assert_int_equal(row.cfa_register, cases[i].reg);
			assert_int_equal(row.cfa.value, cases[i].cfa);
			assert_int_equal(row.registers[6].how, cases[i].rbp);
			if (cases[i].rbp == GUS_CFI_AT)
				assert_int_equal(row.registers[6].value, -16);
			assert_int_equal(row.registers[16].how, GUS_CFI_AT);
			assert_int_equal(row.registers[16].value, -8);
			assert_int_equal(row.ra, 16);
			assert_false(row.signal);
		}
		assert_int_equal(row_at(&m, 0xfff, &row), GUS_CFI_NONE);
		assert_int_equal(row_at(&m, 0x1064, &row), GUS_CFI_NONE);
	}
}

/* Each instruction alone, and what register 3 and the CFA are after it. */
static void each_instruction_does_what_it_says(void **state)
{
	static const struct {
		uint8_t program[12];
		uint8_t n;
		enum gus_cfi_found found;
		struct gus_cfi_place three, cfa;
		unsigned reg;
	} cases[] = {
		{ { DW_CFA_offset | 3, 5 }, 2, 0, { GUS_CFI_AT, -40 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_offset_extended, 3, 5 }, 3, 0, { GUS_CFI_AT, -40 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_offset_extended_sf, 3, 0x7e }, 3, 0, { GUS_CFI_AT, 16 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_GNU_negative_offset_extended, 3, 5 }, 3, 0, { GUS_CFI_AT, 40 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_val_offset, 3, 2 }, 3, 0, { GUS_CFI_VALUE, -16 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_val_offset_sf, 3, 0x7f }, 3, 0, { GUS_CFI_VALUE, 8 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_register, 3, 12 }, 3, 0, { GUS_CFI_REGISTER, 12 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_register, 3, 33 }, 3, 0, { GUS_CFI_UNDEFINED, 33 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_undefined, 3 }, 2, 0, { GUS_CFI_UNDEFINED, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_undefined, 3, DW_CFA_same_value, 3 }, 4, 0, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_undefined, 3, DW_CFA_restore | 3 }, 3, 0, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_undefined, 3, DW_CFA_restore_extended, 3 }, 4, 0, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_offset | 40, 5 }, 2, 0, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_def_cfa, 3, 0x80, 1 }, 4, 0, { 0, 0 }, { GUS_CFI_VALUE, 128 }, 3 },
		{ { DW_CFA_def_cfa, 33, 8 }, 3, GUS_CFI_BAD, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 33 },
		{ { DW_CFA_def_cfa_sf, 3, 0x7e }, 3, 0, { 0, 0 }, { GUS_CFI_VALUE, 16 }, 3 },
		{ { DW_CFA_def_cfa_offset_sf, 0x7d }, 2, 0, { 0, 0 }, { GUS_CFI_VALUE, 24 }, 7 },
		{ { DW_CFA_remember_state, DW_CFA_undefined, 3, DW_CFA_def_cfa_offset, 99, DW_CFA_restore_state }, 6, 0,
		  { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_restore_state }, 1, GUS_CFI_BAD, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_GNU_args_size, 0x90, 1, DW_CFA_undefined, 3 }, 5, 0, { GUS_CFI_UNDEFINED, 0 },
		  { GUS_CFI_VALUE, 8 }, 7 },
		{ { 0x2d, 0x2c, DW_CFA_nop, DW_CFA_undefined, 3 }, 5, 0, { GUS_CFI_UNDEFINED, 0 },
		  { GUS_CFI_VALUE, 8 }, 7 },
		{ { 0x3f }, 1, GUS_CFI_BAD, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_offset_extended, 3 }, 2, GUS_CFI_BAD, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_def_cfa_expression, 9, 1 }, 3, GUS_CFI_BAD, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_advance_loc4, 0, 1, 0, 0, DW_CFA_undefined, 3 }, 7, 0, { 0, 0 }, { GUS_CFI_VALUE, 8 }, 7 },
		{ { DW_CFA_advance_loc2, 0, 0, DW_CFA_undefined, 3 }, 5, 0, { GUS_CFI_UNDEFINED, 0 },
		  { GUS_CFI_VALUE, 8 }, 7 },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct made_frames m = { .debug = false };
		struct gus_cfi_row row;

		made_cie(&m, "", 16, made_x86, sizeof(made_x86));
		made_fde(&m, 0x1000, 0x200, cases[i].program, cases[i].n);
		assert_int_equal(row_at(&m, 0x1000, &row), cases[i].found);
		if (cases[i].found)
			continue;
		assert_int_equal(row.registers[3].how, cases[i].three.how);
		assert_int_equal(row.registers[3].value, cases[i].three.value);
		assert_int_equal(row.cfa.how, cases[i].cfa.how);
		assert_int_equal(row.cfa.value, cases[i].cfa.value);
		assert_int_equal(row.cfa_register, cases[i].reg);
	}
}

/* States nest to 16, and a program costs a step an instruction. */
static void programs_are_bounded(void **state)
{
	uint8_t program[40];
	struct gus_cfi_row row;

	(void)state;
	for (unsigned n = 16; n <= 17; n++) {
		struct made_frames m = { .debug = false };

		memset(program, DW_CFA_remember_state, n);
		made_cie(&m, "", 16, made_x86, sizeof(made_x86));
		made_fde(&m, 0x1000, 0x10, program, n);
		assert_int_equal(row_at(&m, 0x1000, &row), n == 16 ? GUS_CFI_FOUND : GUS_CFI_BAD);
	}
	for (unsigned more = 0; more < 2; more++) {
		struct made_frames m = { .debug = false };
		uint8_t *nops = calloc(1, 2000);

		made_cie(&m, "", 16, made_x86, sizeof(made_x86)); /* two instructions */
		made_fde(&m, 0x1000, 0x10, nops, 998 + more);
		assert_int_equal(row_at(&m, 0x1000, &row), more ? GUS_CFI_WORK : GUS_CFI_FOUND);
		free(nops);
	}
}

/* Addresses from their own place, a mark for signals, letters of arm64's, and a list that goes on after an end. Entries
 * need not be in order. */
static void augmentations_are_read(void **state)
{
	static const uint8_t nothing[] = { DW_CFA_nop };
	struct made_frames m = { .debug = false };
	struct gus_cfi_row row;

	(void)state;
	made_cie(&m, "zRS", 16, made_x86, sizeof(made_x86));
	made_fde(&m, 0x4000, 0x10, nothing, 1);
	made_end(&m);
	made_cie(&m, "zRB", 16, made_x86, sizeof(made_x86));
	made_fde(&m, 0x3000, 0x10, nothing, 1);
	made_cie(&m, "zPLR", 16, made_x86, sizeof(made_x86));
	made_fde(&m, 0x2000, 0x10, nothing, 1);
	made_cie(&m, "eh", 16, made_x86, sizeof(made_x86));
	made_fde(&m, 0x1000, 0x10, nothing, 1);
	assert_int_equal(row_at(&m, 0x400f, &row), GUS_CFI_FOUND);
	assert_true(row.signal);
	assert_int_equal(row_at(&m, 0x3000, &row), GUS_CFI_FOUND);
	assert_false(row.signal);
	assert_int_equal(row_at(&m, 0x2008, &row), GUS_CFI_FOUND);
	assert_int_equal(row_at(&m, 0x1000, &row), GUS_CFI_NONE);
}

/* Each form of numbers, at its ends, and cut by a byte. */
static void encoded_numbers_are_read(void **state)
{
	static const struct { uint8_t encoding, n, bytes[8]; bool narrow; uint64_t value; } cases[] = {
		{ DW_EH_PE_absptr, 8, { 1, 2, 3, 4, 5, 6, 7, 0x88 }, false, 0x8807060504030201 },
		{ DW_EH_PE_absptr, 4, { 1, 2, 3, 0x84 }, true, 0x84030201 },
		{ DW_EH_PE_udata2, 2, { 0xff, 0xff }, false, 0xffff },
		{ DW_EH_PE_sdata2, 2, { 0, 0x80 }, false, -0x8000ull },
		{ DW_EH_PE_sdata2, 2, { 0xff, 0x7f }, false, 0x7fff },
		{ DW_EH_PE_udata4, 4, { 0, 0, 0, 0x80 }, true, 0x80000000 },
		{ DW_EH_PE_sdata4 | DW_EH_PE_pcrel, 4, { 0xfe, 0xff, 0xff, 0xff }, false, -2ull },
		{ DW_EH_PE_sdata4 | 0x80, 4, { 0, 0, 0, 0x80 }, true, -0x80000000ull },
		{ DW_EH_PE_udata8, 8, { 0, 0, 0, 0, 0, 0, 0, 0x80 }, true, 1ull << 63 },
		{ DW_EH_PE_sdata8, 8, { 0, 0, 0, 0, 0, 0, 0, 0x80 }, true, 1ull << 63 },
		{ DW_EH_PE_sdata8, 8, { 9 }, false, 9 },
		{ DW_EH_PE_uleb128, 2, { 0xff, 0x7f }, false, 0x3fff },
		{ DW_EH_PE_sleb128, 2, { 0xff, 0x7f }, false, -1ull },
	};
	static const uint8_t unknown[] = { 5, 6, 7, 8, 0x0d, 0x0e, 0x0f };
	static const uint8_t some[8];
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct gus_cursor c = gus_cursor(cases[i].bytes, cases[i].n);

		assert_true(gus_encoded_read(&c, cases[i].encoding, !cases[i].narrow, &value));
		assert_true(value == cases[i].value);
		assert_int_equal(gus_cursor_left(&c), 0);
		c = gus_cursor(cases[i].bytes, cases[i].n - 1u);
		assert_false(gus_encoded_read(&c, cases[i].encoding, !cases[i].narrow, &value));
	}
	for (size_t i = 0; i < LEN(unknown); i++) {
		struct gus_cursor c = gus_cursor(some, sizeof(some));

		assert_false(gus_encoded_read(&c, unknown[i], true, &value));
	}
}

/* What is cut anywhere is no entry, or a good one, and nothing outside is read. */
static void cut_tables_are_harmless(void **state)
{
	static const uint8_t program[] = { DW_CFA_expression, 3, 2, DW_OP_breg7, 8, DW_CFA_advance_loc | 1,
					   DW_CFA_def_cfa_offset, 16 };
	struct made_frames m = { .debug = false };
	struct gus_budget steps = { .left = 1000 };
	struct gus_cfi_row row;

	(void)state;
	made_cie(&m, "zRS", 16, made_x86, sizeof(made_x86));
	made_fde(&m, 0x1000, 0x10, program, sizeof(program));
	for (size_t n = 0; n <= m.n; n++) {
		struct gus_budget work = { .left = n }, made = { .left = 1 << 20 };
		uint8_t *copy = malloc(n ? n : 1);
		struct gus_cfi c;

		memcpy(copy, m.bytes, n);
		gus_cfi_open(&c, copy, n, 0x5000, false, EM_X86_64, &work, &made);
		assert_int_equal(c.entries.n, n == m.n);
		assert_int_equal(gus_cfi_row(&c, 0x1000, &steps, &row), n == m.n ? GUS_CFI_FOUND : GUS_CFI_NONE);
		gus_cfi_close(&c);
		free(copy);
	}
}

/* Expressions. */

static bool no_code(void *context, uint64_t address, struct gus_unwind_code *code)
{
	(void)context, (void)address, (void)code;
	return false;
}

static void expressions_have_known_answers(void **state)
{
	static const uint64_t stack[] = { 0x1122334455667788, 42, 0xff };
	static const struct gus_unwind_view view = { no_code, NULL, 0x1000, stack, sizeof(stack) };
	static const struct gus_unwind_regs regs = { EM_X86_64, 1 << 7 | 1 << 16 | 1ull << 31,
						    { [7] = 0x1000, [16] = 0x40102b, [31] = 0x77 } };
	static const struct { uint8_t code[20], n; enum gus_expression_end end; uint64_t value; } cases[] = {
		{ { DW_OP_breg7, 8 }, 2, 0, 0x1008 },
		{ { DW_OP_breg7, 0x78 }, 2, 0, 0xff8 },
		{ { DW_OP_bregx, 16, 1 }, 3, 0, 0x40102c },
		{ { DW_OP_breg6, 0 }, 2, GUS_EXPRESSION_BAD, 0 },          /* not known */
		{ { DW_OP_bregx, 33, 0 }, 3, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_breg7, 0, DW_OP_deref }, 3, 0, 0x1122334455667788 },
		{ { DW_OP_breg7, 16, DW_OP_deref }, 3, 0, 0xff },
		{ { DW_OP_breg7, 17, DW_OP_deref }, 3, GUS_EXPRESSION_STACK, 0 },
		{ { DW_OP_breg7, 0x7f, DW_OP_deref }, 3, GUS_EXPRESSION_STACK, 0 },
		{ { DW_OP_breg7, 0, DW_OP_deref_size, 2 }, 4, 0, 0x7788 },
		{ { DW_OP_breg7, 0, DW_OP_deref_size, 9 }, 4, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_breg7, 0, DW_OP_deref_size, 0 }, 4, GUS_EXPRESSION_BAD, 0 },
		/* a linkage table's, at its 12th byte: eight more, as the number was pushed */
		{ { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
		    DW_OP_shl, DW_OP_plus }, 11, 0, 0x1010 },
		{ { DW_OP_const1s, 0xff }, 2, 0, UINT64_MAX }, { { DW_OP_const1u, 0xff }, 2, 0, 255 },
		{ { DW_OP_const2s, 0, 0x80 }, 3, 0, (uint64_t)-32768 }, { { DW_OP_const2u, 0, 0x80 }, 3, 0, 32768 },
		{ { DW_OP_const4s, 0, 0, 0, 0x80 }, 5, 0, 0xffffffff80000000 },
		{ { DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, 0, 0x0807060504030201 },
		{ { DW_OP_const8s, 8, 7, 6, 5, 4, 3, 2, 0xf1 }, 9, 0, 0xf102030405060708 },
		{ { DW_OP_const4u, 1, 2, 3, 0x84 }, 5, 0, 0x84030201 },
		{ { DW_OP_const4u, 1, 2, 3 }, 4, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_breg0, 0 }, 2, GUS_EXPRESSION_BAD, 0 }, { { DW_OP_breg31, 1 }, 2, 0, 0x78 },
		{ { DW_OP_constu, 0x81, 1 }, 3, 0, 129 }, { { DW_OP_consts, 0x7e }, 2, 0, (uint64_t)-2 },
		{ { DW_OP_lit9, DW_OP_lit4, DW_OP_minus }, 3, 0, 5 },
		{ { DW_OP_lit9, DW_OP_lit4, DW_OP_mul }, 3, 0, 36 },
		{ { DW_OP_lit9, DW_OP_lit4, DW_OP_div }, 3, 0, 2 },
		{ { DW_OP_lit9, DW_OP_lit4, DW_OP_mod }, 3, 0, 1 },
		{ { DW_OP_lit9, DW_OP_lit0, DW_OP_div }, 3, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_lit9, DW_OP_lit0, DW_OP_mod }, 3, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_lit1, DW_OP_const1u, 63, DW_OP_shl, DW_OP_const1s, 255, DW_OP_div }, 7, 0, 1ull << 63 },
		{ { DW_OP_lit9, DW_OP_lit3, DW_OP_or }, 3, 0, 11 },
		{ { DW_OP_lit9, DW_OP_lit3, DW_OP_xor }, 3, 0, 10 },
		{ { DW_OP_lit9, DW_OP_lit2, DW_OP_shr }, 3, 0, 2 },
		{ { DW_OP_lit9, DW_OP_neg, DW_OP_lit1, DW_OP_shra }, 4, 0, (uint64_t)-5 },
		{ { DW_OP_lit9, DW_OP_neg, DW_OP_const1u, 64, DW_OP_shra }, 5, 0, UINT64_MAX },
		{ { DW_OP_lit9, DW_OP_const1u, 64, DW_OP_shl }, 4, 0, 0 },
		{ { DW_OP_lit9, DW_OP_const1u, 64, DW_OP_shr }, 4, 0, 0 },
		{ { DW_OP_lit9, DW_OP_neg, DW_OP_abs }, 3, 0, 9 }, { { DW_OP_lit9, DW_OP_not }, 2, 0, ~9ull },
		{ { DW_OP_lit9, DW_OP_plus_uconst, 0x80, 1 }, 4, 0, 137 },
		{ { DW_OP_lit1, DW_OP_neg, DW_OP_lit1, DW_OP_lt }, 4, 0, 1 }, /* signed */
		{ { DW_OP_lit1, DW_OP_neg, DW_OP_lit1, DW_OP_gt }, 4, 0, 0 },
		{ { DW_OP_lit1, DW_OP_lit1, DW_OP_le }, 3, 0, 1 }, { { DW_OP_lit1, DW_OP_lit1, DW_OP_ge }, 3, 0, 1 },
		{ { DW_OP_lit1, DW_OP_lit1, DW_OP_gt }, 3, 0, 0 }, { { DW_OP_lit1, DW_OP_lit1, DW_OP_lt }, 3, 0, 0 },
		{ { DW_OP_lit1, DW_OP_lit2, DW_OP_eq }, 3, 0, 0 }, { { DW_OP_lit1, DW_OP_lit2, DW_OP_ne }, 3, 0, 1 },
		{ { DW_OP_lit1, DW_OP_lit2, DW_OP_over, DW_OP_minus, DW_OP_plus }, 5, 0, 2 },
		{ { DW_OP_lit7, DW_OP_lit2, DW_OP_swap, DW_OP_minus }, 4, 0, (uint64_t)-5 },
		{ { DW_OP_lit1, DW_OP_lit2, DW_OP_lit4, DW_OP_rot, DW_OP_shl, DW_OP_shl }, 6, 0, 4ull << 4 },
		{ { DW_OP_lit7, DW_OP_lit2, DW_OP_pick, 1 }, 4, 0, 7 },
		{ { DW_OP_lit7, DW_OP_lit2, DW_OP_pick, 2 }, 4, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_lit7, DW_OP_dup, DW_OP_plus }, 3, 0, 14 },
		{ { DW_OP_lit7, DW_OP_lit2, DW_OP_drop }, 3, 0, 7 },
		{ { DW_OP_lit7, DW_OP_skip, 1, 0, DW_OP_lit2, DW_OP_nop }, 6, 0, 7 },
		{ { DW_OP_lit7, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit2 }, 6, 0, 7 },
		{ { DW_OP_lit7, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit2 }, 6, 0, 2 },
		{ { DW_OP_lit7, DW_OP_skip, 1, 0 }, 4, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_skip, 0xfd, 0xff }, 3, GUS_EXPRESSION_WORK, 0 },
		{ { DW_OP_skip, 0xfc, 0xff }, 3, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_drop }, 1, GUS_EXPRESSION_BAD, 0 }, { { 0 }, 0, GUS_EXPRESSION_BAD, 0 },
		{ { DW_OP_call_frame_cfa }, 1, GUS_EXPRESSION_BAD, 0 }, { { DW_OP_reg7 }, 1, GUS_EXPRESSION_BAD, 0 },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct gus_budget steps = { .left = 100 };
		uint64_t value = 0, cfa = 0x2000;
		enum gus_expression_end end = gus_expression_run(gus_cursor(cases[i].code, cases[i].n), &regs, &view,
								 NULL, &steps, &value);

		if (end != cases[i].end || (!end && value != cases[i].value))
			fail_msg("case %zu: end %d, value %llx", i, end, (unsigned long long)value);
		assert_int_equal(gus_expression_run(gus_cursor(NULL, 0), &regs, &view, &cfa, &steps, &value), 0);
		assert_int_equal(value, 0x2000);
	}
}

/* What stands before and behind an expression is another's, whatever it would do. */
static void jumps_stay_inside(void **state)
{
	static const uint8_t before[] = { DW_OP_lit5, DW_OP_skip, 0xfc, 0xff };
	static const uint8_t behind[] = { DW_OP_skip, 1, 0, DW_OP_lit5, DW_OP_lit5 };
	static const struct gus_unwind_regs regs = { .machine = EM_X86_64 };
	static const struct gus_unwind_view view = { .code = no_code };
	struct gus_budget steps = { .left = 100 };
	uint64_t value;

	(void)state;
	assert_int_equal(gus_expression_run(gus_cursor(before + 1, 3), &regs, &view, NULL, &steps, &value),
			 GUS_EXPRESSION_BAD);
	assert_int_equal(gus_expression_run(gus_cursor(behind, 3), &regs, &view, NULL, &steps, &value),
			 GUS_EXPRESSION_BAD);
	assert_true(steps.left > 90);
}

/* The stack of an expression has 64 places, and each operation costs a step. */
static void expressions_are_bounded(void **state)
{
	static const struct gus_unwind_regs regs = { .machine = EM_X86_64 };
	static const struct gus_unwind_view view = { .code = no_code };
	uint8_t code[65];
	uint64_t value;

	(void)state;
	memset(code, DW_OP_lit5, sizeof(code));
	for (unsigned n = 64; n <= 65; n++) {
		struct gus_budget plenty = { .left = 1000 }, just = { .left = 64 }, less = { .left = 63 };

		assert_int_equal(gus_expression_run(gus_cursor(code, n), &regs, &view, NULL, &plenty, &value),
				 n == 64 ? GUS_EXPRESSION_VALUE : GUS_EXPRESSION_BAD);
		if (n > 64)
			continue;
		assert_int_equal(gus_expression_run(gus_cursor(code, n), &regs, &view, NULL, &just, &value), 0);
		assert_int_equal(gus_expression_run(gus_cursor(code, n), &regs, &view, NULL, &less, &value),
				 GUS_EXPRESSION_WORK);
	}
}

/* Code. */

static void stubs_are_known_by_their_bytes(void **state)
{
	static const uint8_t lazy[] = { 0xff, 0x25, 1, 2, 3, 4, 0x68, 1, 0, 0, 0, 0xe9, 1, 2, 3, 4 };
	static const uint8_t first[] = { 0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4, 0x0f, 0x1f, 0x40, 0 };
	static const uint8_t marked[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4, 0x90 };
	static const uint8_t back[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t go_back[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm_back[] = { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4 };
	static const uint8_t arm_stub[] = { 0x90, 0, 0, 0x90, 0x11, 0x0a, 0x40, 0xf9, 0x10, 0x42, 0x00, 0x91,
					    0x20, 0x02, 0x1f, 0xd6 };
	static const struct { unsigned machine; const uint8_t *code; size_t n, at; int cfa; int64_t ra; } cases[] = {
		{ EM_X86_64, lazy, 16, 0, 8, 0 }, { EM_X86_64, lazy, 16, 6, 8, 0 }, { EM_X86_64, lazy, 16, 11, 16, 0 },
		{ EM_X86_64, lazy, 16, 1, -1, 0 }, { EM_X86_64, lazy, 5, 0, -1, 0 },
		{ EM_X86_64, first, 16, 0, 16, 0 }, { EM_X86_64, first, 16, 6, 24, 0 },
		{ EM_X86_64, marked, 12, 0, 8, 0 }, { EM_X86_64, marked, 12, 4, 8, 0 },
		{ EM_X86_64, back, 9, 0, -2, 168 }, { EM_X86_64, back, 9, 7, -2, 168 },
		{ EM_X86_64, back, 8, 0, -1, 0 },
		{ EM_X86_64, go_back, 7, 0, -2, 168 }, { EM_X86_64, go_back, 7, 5, -2, 168 },
		{ EM_AARCH64, arm_back, 8, 0, -2, 568 }, { EM_AARCH64, arm_back, 8, 4, -2, 568 },
		{ EM_AARCH64, back, 9, 0, -1, 0 }, { EM_X86_64, arm_back, 8, 0, -1, 0 },
		{ EM_AARCH64, arm_stub, 16, 0, 0, 0 }, { EM_AARCH64, arm_stub, 16, 12, 0, 0 },
		{ EM_AARCH64, arm_stub, 15, 0, -1, 0 },
	};
	struct gus_rule rule;

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		bool known = gus_rule_recognise(&rule, cases[i].machine, cases[i].code + cases[i].at, cases[i].at,
						cases[i].n - cases[i].at);

		assert_int_equal(known, cases[i].cfa != -1);
		if (!known)
			continue;
		assert_int_equal(rule.signal, cases[i].cfa == -2);
		assert_int_equal(rule.cfa_register, cases[i].machine == EM_X86_64 ? 7 : 31);
		if (!rule.signal)
			assert_int_equal(rule.cfa, cases[i].cfa);
		for (unsigned s = 0; rule.signal && s < rule.slots; s++)
			if (rule.slot[s].reg == rule.ra)
				assert_int_equal(rule.slot[s].value, cases[i].ra);
	}
}

/* Registers of the ABI, by DWARF's numbers. */
static void registers_are_those_of_the_machine(void **state)
{
	static const uint8_t order[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };
	uint64_t words[33];
	struct gus_sample s = { .regs = words, .regs_n = 17 };
	struct gus_unwind_regs regs;

	(void)state;
	for (unsigned i = 0; i < 33; i++)
		words[i] = 100 + i;
	assert_true(gus_unwind_regs_of(&regs, EM_X86_64, &s));
	assert_int_equal(regs.known, 0x1ffff);
	for (unsigned i = 0; i < 17; i++)
		assert_int_equal(regs.v[order[i]], 100 + i);
	assert_false(gus_unwind_regs_of(&regs, EM_AARCH64, &s));
	assert_false(gus_unwind_regs_of(&regs, EM_386, &s));
	s.regs_n = 33;
	assert_false(gus_unwind_regs_of(&regs, EM_X86_64, &s));
	assert_true(gus_unwind_regs_of(&regs, EM_AARCH64, &s));
	assert_int_equal(regs.known, 0x1ffffffff);
	assert_int_equal(regs.v[31], 131);
	assert_int_equal(regs.v[32], 132);
	s.regs_n = 0;
	assert_false(gus_unwind_regs_of(&regs, EM_X86_64, &s));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_hold_between_their_addresses),
		cmocka_unit_test(each_instruction_does_what_it_says),
		cmocka_unit_test(programs_are_bounded),
		cmocka_unit_test(augmentations_are_read),
		cmocka_unit_test(encoded_numbers_are_read),
		cmocka_unit_test(cut_tables_are_harmless),
		cmocka_unit_test(expressions_have_known_answers),
		cmocka_unit_test(jumps_stay_inside),
		cmocka_unit_test(expressions_are_bounded),
		cmocka_unit_test(stubs_are_known_by_their_bytes),
		cmocka_unit_test(registers_are_those_of_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
