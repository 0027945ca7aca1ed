/* SPDX-License-Identifier: MIT */
#include "symbolizer/unwind/expression.h"

#include <dwarf.h>
#include <elf.h>

#include "symbolizer/elf/encoded.h"
#include "symbolizer/unwind/view.h"

#define DEPTH 64          /* values on the stack of an expression; those of compilers need 4 */

struct run {
	const struct gus_unwind_regs *regs;
	const struct gus_unwind_view *view;
	struct gus_cursor code;
	uint64_t stack[DEPTH];
	unsigned n;
	enum gus_expression_end end; /* VALUE as long as nothing is wrong */
};

static void push(struct run *r, uint64_t value)
{
	if (r->n == DEPTH)
		r->end = GUS_EXPRESSION_BAD;
	else
		r->stack[r->n++] = value;
}

static uint64_t pop(struct run *r)
{
	if (r->n)
		return r->stack[--r->n];
	r->end = GUS_EXPRESSION_BAD;
	return 0;
}

static void push_register(struct run *r, uint64_t reg, int64_t offset)
{
	if (reg >= GUS_UNWIND_REGS || !(r->regs->known >> reg & 1))
		r->end = GUS_EXPRESSION_BAD;
	else
		push(r, r->regs->v[reg] + (uint64_t)offset);
}

static void push_memory(struct run *r, unsigned size)
{
	uint64_t value, at = pop(r);

	if (r->end != GUS_EXPRESSION_VALUE)
		return;
	if (!size || size > 8)
		r->end = GUS_EXPRESSION_BAD;
	else if (!gus_unwind_read(r->view, at, size, &value))
		r->end = GUS_EXPRESSION_STACK;
	else
		push(r, value);
}

/* A jump may lead to the end, and nowhere else outside. */
static void jump(struct run *r, int64_t by)
{
	int64_t to = (r->code.at - r->code.start) + by;

	if (to < 0 || to > r->code.end - r->code.start)
		r->end = GUS_EXPRESSION_BAD;
	else
		r->code.at = r->code.start + to;
}

/* Operations on two values: the one below, and the one on top. */

static uint64_t do_and(uint64_t a, uint64_t b) { return a & b; }
static uint64_t do_or(uint64_t a, uint64_t b) { return a | b; }
static uint64_t do_xor(uint64_t a, uint64_t b) { return a ^ b; }
static uint64_t do_plus(uint64_t a, uint64_t b) { return a + b; }
static uint64_t do_minus(uint64_t a, uint64_t b) { return a - b; }
static uint64_t do_mul(uint64_t a, uint64_t b) { return a * b; }
static uint64_t do_shl(uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; }
static uint64_t do_shr(uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; }
static uint64_t do_shra(uint64_t a, uint64_t b) { return (uint64_t)((int64_t)a >> (b < 64 ? b : 63)); }
static uint64_t do_eq(uint64_t a, uint64_t b) { return a == b; }
static uint64_t do_ne(uint64_t a, uint64_t b) { return a != b; }
static uint64_t do_lt(uint64_t a, uint64_t b) { return (int64_t)a < (int64_t)b; }
static uint64_t do_le(uint64_t a, uint64_t b) { return (int64_t)a <= (int64_t)b; }
static uint64_t do_gt(uint64_t a, uint64_t b) { return (int64_t)a > (int64_t)b; }
static uint64_t do_ge(uint64_t a, uint64_t b) { return (int64_t)a >= (int64_t)b; }
/* Signed; the one quotient that does not fit wraps, as it does on the machines. b is not 0. */
static uint64_t do_div(uint64_t a, uint64_t b) { return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b); }
static uint64_t do_mod(uint64_t a, uint64_t b) { return a % b; }

static uint64_t (*const pairs[256])(uint64_t, uint64_t) = {
	[DW_OP_and] = do_and, [DW_OP_or] = do_or, [DW_OP_xor] = do_xor, [DW_OP_plus] = do_plus,
	[DW_OP_minus] = do_minus, [DW_OP_mul] = do_mul, [DW_OP_shl] = do_shl, [DW_OP_shr] = do_shr,
	[DW_OP_shra] = do_shra, [DW_OP_eq] = do_eq, [DW_OP_ne] = do_ne, [DW_OP_lt] = do_lt, [DW_OP_le] = do_le,
	[DW_OP_gt] = do_gt, [DW_OP_ge] = do_ge, [DW_OP_div] = do_div, [DW_OP_mod] = do_mod,
};

static void run_pair(struct run *r, unsigned op)
{
	uint64_t b = pop(r), a = pop(r);

	if ((op == DW_OP_div || op == DW_OP_mod) && !b)
		r->end = GUS_EXPRESSION_BAD;
	else
		push(r, pairs[op](a, b));
}

/* Numbers that stand in the code: bytes of each, and whether the sign counts. */
static const struct constant { uint8_t size; bool is_signed; } constants[256] = {
	[DW_OP_addr] = { 8, false }, [DW_OP_const1u] = { 1, false }, [DW_OP_const1s] = { 1, true },
	[DW_OP_const2u] = { 2, false }, [DW_OP_const2s] = { 2, true }, [DW_OP_const4u] = { 4, false },
	[DW_OP_const4s] = { 4, true }, [DW_OP_const8u] = { 8, false }, [DW_OP_const8s] = { 8, true },
};

static void push_constant(struct run *r, const struct constant *c)
{
	unsigned unused = 64 - 8 * c->size;
	uint64_t value = 0;

	for (unsigned i = 0; i < c->size; i++)
		value |= (uint64_t)gus_cursor_u8(&r->code) << 8 * i;
	push(r, c->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value);
}

static void act_dup(struct run *r)
{
	uint64_t top = pop(r);

	push(r, top);
	push(r, top);
}

static void pick(struct run *r, unsigned below)
{
	if (below < r->n)
		push(r, r->stack[r->n - 1 - below]);
	else
		r->end = GUS_EXPRESSION_BAD;
}

static void act_over(struct run *r) { pick(r, 1); }
static void act_pick(struct run *r) { pick(r, gus_cursor_u8(&r->code)); }
static void act_drop(struct run *r) { pop(r); }

static void act_swap(struct run *r)
{
	uint64_t top = pop(r), below = pop(r);

	push(r, top);
	push(r, below);
}

/* The top goes below the next two. */
static void act_rot(struct run *r)
{
	uint64_t top = pop(r), second = pop(r), third = pop(r);

	push(r, top);
	push(r, third);
	push(r, second);
}

static void act_abs(struct run *r)
{
	uint64_t top = pop(r);

	push(r, (int64_t)top < 0 ? -top : top);
}

static void act_neg(struct run *r) { push(r, -pop(r)); }
static void act_not(struct run *r) { push(r, ~pop(r)); }
static void act_plus_constant(struct run *r) { push(r, pop(r) + gus_cursor_varint(&r->code)); }
static void act_unsigned(struct run *r) { push(r, gus_cursor_varint(&r->code)); }
static void act_signed(struct run *r) { push(r, (uint64_t)gus_leb_signed(&r->code)); }
static void act_deref(struct run *r) { push_memory(r, 8); }
static void act_deref_size(struct run *r) { push_memory(r, gus_cursor_u8(&r->code)); }
static void act_skip(struct run *r) { jump(r, (int16_t)gus_cursor_u16(&r->code)); }
static void act_nop(struct run *r) { (void)r; }

static void act_branch(struct run *r)
{
	int16_t by = (int16_t)gus_cursor_u16(&r->code);

	if (pop(r))
		jump(r, by);
}

static void act_register(struct run *r)
{
	uint64_t reg = gus_cursor_varint(&r->code);

	push_register(r, reg, gus_leb_signed(&r->code));
}

static void (*const acts[256])(struct run *) = {
	[DW_OP_dup] = act_dup, [DW_OP_drop] = act_drop, [DW_OP_over] = act_over, [DW_OP_pick] = act_pick,
	[DW_OP_swap] = act_swap, [DW_OP_rot] = act_rot, [DW_OP_abs] = act_abs, [DW_OP_neg] = act_neg,
	[DW_OP_not] = act_not, [DW_OP_plus_uconst] = act_plus_constant, [DW_OP_constu] = act_unsigned,
	[DW_OP_consts] = act_signed, [DW_OP_deref] = act_deref, [DW_OP_deref_size] = act_deref_size,
	[DW_OP_skip] = act_skip, [DW_OP_bra] = act_branch, [DW_OP_bregx] = act_register, [DW_OP_nop] = act_nop,
};

/* What names things of DWARF's, a register as a place, or another thread's memory has no meaning here. */
static void run_one(struct run *r, unsigned op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		push(r, op - DW_OP_lit0);
	else if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		push_register(r, op - DW_OP_breg0, gus_leb_signed(&r->code));
	else if (pairs[op])
		run_pair(r, op);
	else if (constants[op].size)
		push_constant(r, &constants[op]);
	else if (acts[op])
		acts[op](r);
	else
		r->end = GUS_EXPRESSION_BAD;
	if (r->code.bad)
		r->end = GUS_EXPRESSION_BAD;
}

enum gus_expression_end gus_expression_run(struct gus_cursor code, const struct gus_unwind_regs *regs,
					   const struct gus_unwind_view *view, const uint64_t *first,
					   struct gus_budget *steps, uint64_t *value)
{
	struct run r;

	r.regs = regs;
	r.view = view;
	r.code = code;
	r.n = 0;
	r.end = GUS_EXPRESSION_VALUE;
	if (first)
		push(&r, *first);
	while (gus_cursor_left(&r.code) && r.end == GUS_EXPRESSION_VALUE) {
		if (!gus_budget_charge(steps, 1))
			return GUS_EXPRESSION_WORK;
		run_one(&r, gus_cursor_u8(&r.code));
	}
	if (r.end == GUS_EXPRESSION_VALUE)
		*value = pop(&r);
	return r.end;
}
