/* SPDX-License-Identifier: MIT */
/* A function of an ELF file and its loops, for gusprof model. */
#ifndef GUS_SYMBOLIZER_SYMBOLS_ELF_FUNCTION_H
#define GUS_SYMBOLIZER_SYMBOLS_ELF_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/insn/insn.h"

struct gus_error;

/* Straight code that is run again and again: from an address to the branch back to it. */
struct gus_loop {
	size_t offset, size;            /* in the function */
	unsigned instructions;
	unsigned branches;              /* inside, which are taken to fall through */
	unsigned jumps;                 /* unconditional ones inside: what is behind them is run all the same */
	unsigned calls;
	char *file;                     /* of the first instruction; NULL if not known */
	uint32_t line;
};

struct gus_routine {
	enum gus_isa isa;
	char *name;                     /* as people read it */
	uint64_t address;               /* as the file has it; of an object file in its section */
	uint8_t *bytes;
	size_t size;
	struct gus_loop *loops;         /* innermost ones, in order of address */
	size_t loops_n;
};

/* what is a name, mangled or not, or the address of anything in it ("0x401136"). */
int gus_routine_open(struct gus_routine *f, const char *path, const char *what, struct gus_error *err);
void gus_routine_close(struct gus_routine *f);

/* All of a function as if it were a loop's body. */
struct gus_loop gus_routine_whole(const struct gus_routine *f);

#endif
