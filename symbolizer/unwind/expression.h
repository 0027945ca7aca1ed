/* SPDX-License-Identifier: MIT */
/* DWARF expressions as far as unwind tables use them (DWARF 5, section 2.5): a little stack machine over registers and
 * the copy of the stack. Where a procedure linkage table, a signal's frame or a realigned stack is, nothing less says
 * where the caller's frame begins. */
#ifndef GUS_SYMBOLIZER_UNWIND_EXPRESSION_H
#define GUS_SYMBOLIZER_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/limits.h"

struct gus_unwind_regs;
struct gus_unwind_view;

enum gus_expression_end {
	GUS_EXPRESSION_VALUE,
	GUS_EXPRESSION_BAD,       /* it makes no sense, or is not for unwinding, or uses a register that is not known */
	GUS_EXPRESSION_STACK,     /* it reads memory that was not copied */
	GUS_EXPRESSION_WORK,      /* the budget ended before it did */
};

/* code: its bytes, without their length. first: what is on its stack when it begins (the CFA, for a register's
 * place); NULL if nothing is. steps pays one an operation. */
enum gus_expression_end gus_expression_run(struct gus_cursor code, const struct gus_unwind_regs *regs,
					   const struct gus_unwind_view *view, const uint64_t *first,
					   struct gus_budget *steps, uint64_t *value);

#endif
