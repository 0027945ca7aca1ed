/* SPDX-License-Identifier: MIT */
/* What general registers hold, as far as it can be followed, for one purpose: which load reads what an earlier store
 * wrote, and which access crosses a cache line. Additions, moves, logic and shifts are followed; what is not becomes
 * unknown. */
#ifndef GUS_MODEL_CODE_VALUES_H
#define GUS_MODEL_CODE_VALUES_H

#include "model/code/program.h"
#include "model/machine/options.h"

/* What one instruction does to general registers: made once for each, so that following it is quick. */
struct gus_effect {
	uint8_t kind;           /* of values.c */
	uint8_t to;             /* the register that gets the value; 0: none */
	uint8_t a, b;           /* registers; b 0: the constant */
	uint8_t bits;           /* of the result: 8, 16, 32, 64 */
	uint8_t from_bits;      /* of the source of an extension */
	uint8_t scale;
	uint8_t writes[9];      /* other general registers that it writes, which become unknown; ends with 0 */
	int64_t constant;
};

struct gus_value {
	uint64_t bits;
	bool known;
};

struct gus_values {
	enum gus_core_pointers pointers;
	struct gus_effect *effects;     /* one for each of program->insns; of what no address depends on: nothing */
	bool loads;                     /* some address depends on what is loaded */
	int64_t *shifts;                /* one for each of program->memories: what its operand does not say */
	struct gus_value regs[GUS_INSN_REGS];
	struct gus_value memory;        /* of words that were not written */
};

/* form is the text of info's form; NULL if it is not known: all that it writes becomes unknown. Of arm64 only additions
 * of constants and moves between registers are followed. */
void gus_effect_of(struct gus_effect *e, enum gus_isa isa, const struct gus_insn_info *info, const char *form);
bool gus_effect_is_nothing(const struct gus_effect *e);
/* Runs an instruction on registers by number; loaded is what its load got. */
void gus_effect_run(const struct gus_effect *e, struct gus_value *regs, struct gus_value loaded);
/* Whether it adds a constant to 64 bits of the register that it writes, and which one. */
bool gus_effect_adds(const struct gus_effect *e, int64_t *constant);
/* Whether it is a push or pop, and by how much it moves the stack pointer of x86. */
bool gus_effect_moves_stack(const struct gus_effect *e, int64_t *constant);

void gus_values_begin(struct gus_values *v, const struct gus_program *p, enum gus_core_pointers pointers);
void gus_values_end(struct gus_values *v);
/* Whether an instruction changes a register whose value is followed: one that addresses depend on. */
bool gus_values_follows(const struct gus_values *v, uint32_t insn);
/* The address of an access, before its instruction runs. Unknown if a register of it is. */
struct gus_value gus_values_address(const struct gus_values *v, const struct gus_program *p, uint32_t memory);
/* What a store writes, before its instruction runs; unknown unless it is a plain store of a register or constant. True
 * only where an address depends on what is loaded: else registers that are stored need not be followed. */
struct gus_value gus_values_stored(const struct gus_values *v, const struct gus_program *p, uint32_t insn);
/* Runs one instruction; loaded is what its load got. */
void gus_values_step(struct gus_values *v, uint32_t insn, struct gus_value loaded);

#endif
