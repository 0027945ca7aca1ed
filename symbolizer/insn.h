/* SPDX-License-Identifier: MIT */
/* The instruction facade: what the rest of the project knows about machine code. Zydis decodes x86, Capstone writes
 * arm64 text; nobody else includes either. */
#ifndef GUS_SYMBOLIZER_INSN_H
#define GUS_SYMBOLIZER_INSN_H

#include <stddef.h>
#include <stdint.h>

enum gus_isa { GUS_ISA_UNKNOWN, GUS_ISA_X86_64, GUS_ISA_X86_32, GUS_ISA_ARM64 };

/* The ISA of an ELF machine number. */
enum gus_isa gus_isa_of_machine(unsigned machine);

struct gus_insn {
	uint8_t length;  /* bytes, 1..15 */
	char text[96];   /* Intel syntax for x86; "(bad)" for bytes that are no instruction */
};

/* Decodes the instruction at bytes, of which size are readable; address is where it runs, for relative targets.
 * Returns its length; 0 if size is too short for it. Bytes that are no instruction have length 1 (arm64: 4). */
size_t gus_insn_decode(enum gus_isa isa, const void *bytes, size_t size, uint64_t address, struct gus_insn *insn);

#endif
