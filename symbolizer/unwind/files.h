/* SPDX-License-Identifier: MIT */
/* What unwinding asks of a file: the rule of an address, and what its expressions are. */
#ifndef GUS_SYMBOLIZER_UNWIND_FILES_H
#define GUS_SYMBOLIZER_UNWIND_FILES_H

#include "base/cursor.h"
#include "symbolizer/unwind/rule.h"
#include "symbolizer/unwind/unwind.h"

enum gus_unwind_knows {
	GUS_UNWIND_RULE,          /* of any kind */
	GUS_UNWIND_NO_FILE,       /* it is not at hand */
	GUS_UNWIND_OTHER_MACHINE, /* its code is not of the machine that the registers are of */
	GUS_UNWIND_NO_WORK,       /* the budget ended before the rule was made */
};

/* The rule at an offset of the file; *rule lasts until the next question. exact: a place where the processor is, rather
 * than behind a call: such a one may be in a stub without a table, too. steps pays for what is not known yet. */
enum gus_unwind_knows gus_unwind_file_rule(struct gus_unwind_file *file, unsigned machine, uint64_t offset, bool exact,
					   struct gus_budget *steps, const struct gus_rule **rule);
/* Has the file pay for steps that were taken by its tables, beyond those of making rules. */
void gus_unwind_file_pay(struct gus_unwind_file *file, uint64_t steps);
/* The expression of a slot of such a rule, or of its CFA. */
struct gus_cursor gus_unwind_file_expression(const struct gus_unwind_file *file, const struct gus_rule *rule,
					     int32_t value);

/* The table that has an entry about an offset, and what address it gives to that; NULL if none has one. */
const struct gus_cfi *gus_unwind_file_cfi(struct gus_unwind_file *file, uint64_t offset, uint64_t *address);

#endif
