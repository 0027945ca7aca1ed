/* SPDX-License-Identifier: MIT */
/* Registers that are learnt from accesses, for one purpose: where software prefetches go, which emulators do not tell.
 * An access at [base + displacement] at a known address says what its base holds; that is known until the register is
 * written, and beyond where the write adds a constant or is something else that model/code/values.h follows. Of [base +
 * index * scale] the sum is learnt even if neither is known alone.
 *
 * A prefetch has an address or it is unknown; it is never guessed. What is known is held against each access that
 * comes, and what was wrong is counted: kernel and signal handlers write registers that no instruction names. */
#ifndef GUS_MODEL_WATCH_KNOWN_H
#define GUS_MODEL_WATCH_KNOWN_H

#include "model/code/values.h"

enum { GUS_KNOWN_SUMS = 8 };

/* What learning needs of an instruction, made once for each. */
struct gus_known_operand {
	int64_t displacement;
	uint8_t base, index, scale;
	bool usable;            /* nothing else adds to the address, and no register is read in part */
	bool relative;          /* to the instruction's end; no registers */
};
struct gus_known_insn {
	struct gus_effect effect;
	struct gus_known_operand operand[GUS_INSN_MEMORIES];
	uint8_t operands;
	bool prefetch;
	bool forgets;           /* the system has been in between: nothing is known behind it */
};

struct gus_known {
	struct gus_value regs[GUS_INSN_REGS];
	/* base + index * scale; scale 0: none */
	struct gus_known_sum { uint64_t sum; uint8_t base, index, scale; } sums[GUS_KNOWN_SUMS];
	uint64_t summed;        /* bit r: a sum holds register r */
	unsigned oldest;        /* sum, which the next one replaces */
	uint64_t learnt;        /* registers, and sums, that became known by an access */
	uint64_t wrong;         /* accesses that were not where they should have been */
	uint64_t prefetches;    /* whose address was asked for */
	uint64_t unknown;       /* of them */
};

/* form as of gus_effect_of. */
void gus_known_prepare(struct gus_known_insn *insn, enum gus_isa isa, const struct gus_insn_info *info,
		       const char *form);
/* Nothing is known: at the start, and where instructions ran that were not told. Counts stay. */
void gus_known_forget(struct gus_known *k);
/* An instruction runs, with the addresses of the first n of its accesses. */
void gus_known_step(struct gus_known *k, const struct gus_known_insn *insn, const uint64_t *addresses, unsigned n);
/* Where a prefetch goes, before its own step; end is the address behind the instruction. */
struct gus_value gus_known_prefetch(struct gus_known *k, const struct gus_known_insn *insn, uint64_t end);

#endif
