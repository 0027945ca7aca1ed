/* SPDX-License-Identifier: MIT */
/* Call frame information: what a compiler writes of each function so that its callers can be found from any of its
 * instructions (DWARF 5, section 6.4; .eh_frame as in the LSB's "Exception Frames"). A section is a list of functions'
 * entries, each with a little program whose run up to an address says where the caller's registers are. Here the list
 * becomes a sorted table, once, and a program is run when somebody asks about an address.
 *
 * The programs are run here and not by libdw: it searches from the first entry on where a file brings no table of its
 * own, gives registers as expressions that would have to be read again, knows no bound of work, and takes memory for
 * each row that is freed only with the file. */
#ifndef GUS_SYMBOLIZER_UNWIND_CFI_H
#define GUS_SYMBOLIZER_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "base/limits.h"

#define GUS_CFI_REGS 33         /* registers that are followed, by their DWARF numbers: 0 .. 32 */

/* Where a register of the caller is. */
enum gus_cfi_how {
	GUS_CFI_SAME,             /* where it was */
	GUS_CFI_UNDEFINED,        /* nowhere */
	GUS_CFI_AT,               /* in memory at CFA + value */
	GUS_CFI_VALUE,            /* CFA + value itself */
	GUS_CFI_REGISTER,         /* in the register whose number is value */
	GUS_CFI_AT_EXPRESSION,    /* in memory at what the expression gives, which begins at value in the section */
	GUS_CFI_VALUE_EXPRESSION, /* what that gives itself */
	GUS_CFI_AT_SP,            /* in memory at the stack pointer + value; of rules that we make ourselves */
};

struct gus_cfi_place {
	enum gus_cfi_how how;
	int64_t value;
};

/* What holds for the addresses [low, high). */
struct gus_cfi_row {
	uint64_t low, high;
	unsigned cfa_register;            /* if cfa.how is VALUE: that register + value */
	struct gus_cfi_place cfa;         /* VALUE or VALUE_EXPRESSION; UNDEFINED if the program did not say */
	struct gus_cfi_place registers[GUS_CFI_REGS];
	unsigned ra;                      /* whose value is the address that is returned to */
	bool signal;                      /* a signal's frame: the caller was interrupted */
};

enum gus_cfi_found {
	GUS_CFI_FOUND,
	GUS_CFI_NONE,                     /* no entry is about the address */
	GUS_CFI_BAD,                      /* its entry contradicts itself */
	GUS_CFI_WORK,                     /* its program is longer than what is left of the budget */
};

struct gus_cfi_cie;

/* An entry about [low, low + size), by its place in the section. */
struct gus_cfi_entry {
	uint64_t low;
	uint32_t size, at;
};

struct gus_cfi {
	const uint8_t *bytes;             /* borrowed */
	size_t size;
	uint64_t address;                 /* of the first byte, for what is written relative to its place */
	bool debug;                       /* .debug_frame, which differs in a few ways from .eh_frame */
	unsigned machine;                 /* EM_X86_64 or EM_AARCH64 */
	struct gus_vec(struct gus_cfi_entry) entries; /* by low */
	struct gus_index cie_offsets;
	struct gus_vec(struct gus_cfi_cie) cies;      /* by number of the offset */
	bool cut;                         /* a budget ended before the entries did */
};

/* Reads the list of a section whose bytes must outlive c. work: bytes that may be looked at; made: of memory; total,
 * which may be NULL, the same of all files. */
void gus_cfi_open(struct gus_cfi *c, const void *bytes, size_t size, uint64_t address, bool debug, unsigned machine,
		  struct gus_budget *work, struct gus_budget *made);
void gus_cfi_close(struct gus_cfi *c);

/* Whether an entry is about it. */
bool gus_cfi_has(const struct gus_cfi *c, uint64_t address);
/* What holds at an address; steps pays an instruction each, and more for those that put a state aside. */
enum gus_cfi_found gus_cfi_row(const struct gus_cfi *c, uint64_t address, struct gus_budget *steps,
			       struct gus_cfi_row *row);

/* An entry as its bytes, for who runs its program elsewhere. */
struct gus_cfi_text {
	uint64_t low, high;               /* what it is about */
	uint64_t code_align;
	int64_t data_align;
	unsigned ra;
	bool signal;
	const uint8_t *initial, *program; /* the common part's instructions, its own; borrowed from the section */
	size_t initial_n, program_n;
};

/* False if there is none about the address, or if it contradicts itself before its program begins. */
bool gus_cfi_text(const struct gus_cfi *c, uint64_t address, struct gus_cfi_text *text);

#endif
