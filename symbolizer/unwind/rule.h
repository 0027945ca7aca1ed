/* SPDX-License-Identifier: MIT */
/* What a row of call frame information comes to, small enough to be kept for each address that was asked about: nearly
 * all say that the CFA is a register and a number, and that a few registers lie below it. */
#ifndef GUS_SYMBOLIZER_UNWIND_RULE_H
#define GUS_SYMBOLIZER_UNWIND_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/unwind/cfi.h"

enum gus_rule_kind {
	GUS_RULE_STEP,            /* what follows leads to the caller */
	GUS_RULE_NONE,            /* no table has the address */
	GUS_RULE_BAD,             /* the table contradicts itself */
	GUS_RULE_ELSEWHERE,       /* the caller's frame lies on another stack */
};

struct gus_rule_slot {
	int32_t value;            /* of an expression the unsigned offset in its section */
	uint8_t reg, how;         /* enum gus_cfi_how */
	uint16_t unused;          /* 0: rules are compared as bytes */
};

struct gus_rule {
	int32_t cfa;
	uint8_t kind;             /* enum gus_rule_kind */
	uint8_t cfa_how;          /* VALUE, AT_SP or VALUE_EXPRESSION */
	uint8_t cfa_register;
	uint8_t ra;               /* the register whose value is the address that is returned to */
	uint8_t table;            /* of the file, in which its expressions are */
	bool signal;              /* the caller was interrupted */
	uint8_t slots;
	bool forks;               /* behind clone: in a new thread, whose register 0 is 0, nothing called this */
	struct gus_rule_slot slot[GUS_CFI_REGS];
};

static inline size_t gus_rule_bytes(const struct gus_rule *rule)
{
	return offsetof(struct gus_rule, slot) + rule->slots * sizeof(*rule->slot);
}

/* The rule of a row; kind BAD if it is none that can be followed. */
void gus_rule_make(struct gus_rule *rule, const struct gus_cfi_row *row, unsigned table);

/* Code that everybody writes the same way and for which tables are often missing: entries of procedure linkage tables,
 * and the system call that ends a signal handler. code: `after` bytes at the address and `before` bytes before it.
 * False if it is neither. */
bool gus_rule_recognise(struct gus_rule *rule, unsigned machine, const uint8_t *code, size_t before, size_t after);
/* The same of places where Go's runtime has changed from a goroutine's stack to the thread's: its tables go on as if it
 * had not, into what older calls have left there. x86-64 only. */
bool gus_rule_recognise_go(struct gus_rule *rule, const uint8_t *code, size_t before, size_t after);
/* How many bytes before an address the system call begins that is there or shortly before; -1 if there is none. */
int gus_rule_call_before(unsigned machine, const uint8_t *code, size_t before, size_t after);
/* The rule of where a stack begins. */
void gus_rule_make_first(struct gus_rule *rule, unsigned machine);
/* Bytes before and behind an address that are enough for all. */
#define GUS_RULE_CODE 24

#endif
