/* SPDX-License-Identifier: MIT */
/* The same instruction with other registers: whoever times an instruction wants it once in a chain through itself and
 * once independent of itself, and in the registers that are free.
 *
 * What can be chosen are operands that the encoding has a field for. Fields are changed where they stand: the opcode,
 * the sizes of constants and the constants themselves stay as they are, as all of them make the form, so that the
 * result is of the same form, or there is none. Pure functions of the bytes. */
#ifndef GUS_SYMBOLIZER_INSN_RENAMING_H
#define GUS_SYMBOLIZER_INSN_RENAMING_H

#include "symbolizer/insn/insn.h"

/* Register files: of the same file are registers that one field can choose from. */
enum gus_insn_file { GUS_INSN_FILE_NONE, GUS_INSN_FILE_GENERAL, GUS_INSN_FILE_VECTOR, GUS_INSN_FILE_MASK };

/* A register that a field of the encoding chooses. */
struct gus_insn_operand {
	uint8_t reg;            /* as in gus_insn_access */
	uint8_t file;           /* enum gus_insn_file; NONE: it can't be another one (ah, a list of registers) */
	uint8_t use;            /* GUS_ACCESS_*, ADDRESS with the registers of addresses */
	uint16_t bits;
};

#define GUS_INSN_OPERANDS 6
#define GUS_INSN_BYTES 16       /* room for any instruction */

/* Those of an instruction; returns how many. What is implied (cl of a shift, flags) is none of them. */
unsigned gus_insn_operands(enum gus_isa isa, const void *bytes, size_t size,
			   struct gus_insn_operand operands[GUS_INSN_OPERANDS]);

/* Writes the instruction with operand i in the register to[i], or where it was if that is 0. Returns its length, which
 * may be more than it was (x86's registers from 8 on may need a prefix); 0: there is no such instruction of the same
 * form. */
size_t gus_insn_renamed(enum gus_isa isa, const void *bytes, size_t size, const uint8_t to[GUS_INSN_OPERANDS],
			uint8_t out[GUS_INSN_BYTES]);

/* The file of a register, whatever it is used for. */
enum gus_insn_file gus_insn_file(enum gus_isa isa, unsigned reg);

#endif
