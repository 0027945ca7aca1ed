/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/vetted.h"

#include <dwarf.h>
#include <string.h>

#include "proto/varint.h"
#include "symbolizer/elf/encoded.h"
#include "symbolizer/unwind/cfi.h"

#define REGISTERS 17 /* that libunwind follows on x86-64: more it takes for an error */

/* Operations of expressions that libunwind evaluates without harm, and what follows each. Those that jump are left out,
 * as they may jump into the middle of another, and so are the two that divide. What compilers and the C library write
 * about frames has neither. */
enum operand { REFUSED, NONE, BYTES_1, BYTES_2, BYTES_4, BYTES_8, NUMBER, SIGNED_NUMBER };

static const uint8_t operands[256] = {
	[DW_OP_addr] = BYTES_8, [DW_OP_deref] = NONE,
	[DW_OP_const1u] = BYTES_1, [DW_OP_const1s] = BYTES_1, [DW_OP_const2u] = BYTES_2, [DW_OP_const2s] = BYTES_2,
	[DW_OP_const4u] = BYTES_4, [DW_OP_const4s] = BYTES_4, [DW_OP_const8u] = BYTES_8, [DW_OP_const8s] = BYTES_8,
	[DW_OP_constu] = NUMBER, [DW_OP_consts] = SIGNED_NUMBER,
	[DW_OP_dup] = NONE, [DW_OP_drop] = NONE, [DW_OP_over] = NONE, [DW_OP_pick] = BYTES_1, [DW_OP_swap] = NONE,
	[DW_OP_rot] = NONE, [DW_OP_abs] = NONE, [DW_OP_and] = NONE, [DW_OP_minus] = NONE, [DW_OP_mul] = NONE,
	[DW_OP_neg] = NONE, [DW_OP_not] = NONE, [DW_OP_or] = NONE, [DW_OP_plus] = NONE, [DW_OP_plus_uconst] = NUMBER,
	[DW_OP_shl] = NONE, [DW_OP_shr] = NONE, [DW_OP_shra] = NONE, [DW_OP_xor] = NONE,
	[DW_OP_eq] = NONE, [DW_OP_ge] = NONE, [DW_OP_gt] = NONE, [DW_OP_le] = NONE, [DW_OP_lt] = NONE,
	[DW_OP_ne] = NONE, [DW_OP_lit0 ... DW_OP_lit31] = NONE,
	[DW_OP_breg0 ... DW_OP_breg0 + REGISTERS - 1] = SIGNED_NUMBER,
	[DW_OP_deref_size] = BYTES_1, [DW_OP_nop] = NONE,
};

static void pass_operand(struct gus_cursor *in, enum operand kind)
{
	switch (kind) {
	case REFUSED:
		in->bad = true;
		break;
	case NONE:
		break;
	case NUMBER:
		gus_cursor_varint(in);
		break;
	case SIGNED_NUMBER:
		gus_leb_signed(in);
		break;
	default:
		gus_cursor_take(in, (size_t)1 << (kind - BYTES_1));
		break;
	}
}

static bool is_good_expression(const struct gus_cfi *cfi, uint64_t at, struct gus_budget *work)
{
	struct gus_cursor all = gus_cursor(cfi->bytes + at, cfi->size - at), in;
	uint64_t size = gus_cursor_varint(&all);
	const uint8_t *bytes = all.bad || size > gus_cursor_left(&all) ? NULL : gus_cursor_take(&all, (size_t)size);

	if (!bytes)
		return false;
	in = gus_cursor(bytes, (size_t)size);
	while (gus_cursor_left(&in) && gus_budget_charge(work, 1))
		pass_operand(&in, operands[gus_cursor_u8(&in)]);
	return !in.bad && !gus_cursor_left(&in);
}

static bool is_good_place(const struct gus_cfi *cfi, const struct gus_cfi_place *place, struct gus_budget *work)
{
	if (place->how == GUS_CFI_AT_EXPRESSION || place->how == GUS_CFI_VALUE_EXPRESSION)
		return is_good_expression(cfi, (uint64_t)place->value, work);
	return place->how != GUS_CFI_REGISTER || (uint64_t)place->value < REGISTERS;
}

bool gus_vetted_row(const struct gus_cfi *cfi, uint64_t address, struct gus_budget *work)
{
	struct gus_cfi_row row;

	if (gus_cfi_row(cfi, address, work, &row) != GUS_CFI_FOUND || row.cfa.how == GUS_CFI_UNDEFINED)
		return false;
	if (row.cfa.how == GUS_CFI_VALUE ? row.cfa_register >= REGISTERS : !is_good_place(cfi, &row.cfa, work))
		return false;
	for (size_t i = 0; i < REGISTERS; i++)
		if (!is_good_place(cfi, &row.registers[i], work))
			return false;
	return true;
}

/* Numbers of the entry, whose bytes may lie anywhere. */
static void put(struct gus_bytes *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		gus_vec_push(out, (uint8_t)(value >> 8 * i));
}

static void put_at(struct gus_bytes *out, size_t at, uint32_t value)
{
	for (size_t i = 0; i < sizeof(value); i++)
		out->v[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_signed(struct gus_bytes *out, int64_t value)
{
	bool more = true;

	while (more) {
		uint8_t byte = value & 0x7f;

		value = value < 0 ? ~(~value >> 7) : value >> 7; /* the sign stays, which >> alone does not promise */
		more = value != (byte & 0x40 ? -1 : 0);
		gus_vec_push(out, (uint8_t)(byte | (more ? 0x80 : 0)));
	}
}

/* Words are read whole, so what stands at the end is filled up to one, with DW_CFA_nop. */
static void end(struct gus_bytes *out, size_t length_at)
{
	while (out->n % sizeof(uint64_t))
		gus_vec_push(out, DW_CFA_nop);
	put_at(out, length_at, (uint32_t)(out->n - length_at - sizeof(uint32_t)));
}

static void put_common(struct gus_bytes *out, const struct gus_cfi_text *text)
{
	size_t at = out->n;

	put(out, 0, 4);          /* length, when it is known */
	put(out, 0, 4);          /* this is a common part */
	put(out, 1, 1);          /* version */
	put(out, 0, 1);          /* no augmentation: addresses are as they are */
	gus_bytes_varint(out, text->code_align);
	put_signed(out, text->data_align);
	put(out, text->ra, 1);
	gus_vec_append(out, text->initial, text->initial_n);
	end(out, at);
}

bool gus_vetted_write(struct gus_bytes *out, uint64_t out_at, const struct gus_cfi_text *text, uint64_t at)
{
	const size_t row_at = out->n;
	size_t common_at, entry_at;

	if (text->ra >= REGISTERS || text->initial_n > GUS_LIMIT_CFI || text->program_n > GUS_LIMIT_CFI)
		return false;
	put(out, 0, 8);          /* from the function's address: to itself, to its entry */
	common_at = out->n;
	put_common(out, text);
	entry_at = out->n;
	put(out, 0, 4);
	put(out, out->n - common_at, 4); /* back from here to the common part */
	put(out, at, 8);
	put(out, text->high - text->low, 8);
	gus_vec_append(out, text->program, text->program_n);
	end(out, entry_at);
	put_at(out, row_at + 4, (uint32_t)(out_at + entry_at - at));
	return true;
}
