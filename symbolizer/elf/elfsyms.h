/* SPDX-License-Identifier: MIT */
/* Functions that an ELF file names or implies: its symbol tables, its PLT stubs, its unwind entries. */
#ifndef GUS_SYMBOLIZER_ELF_ELFSYMS_H
#define GUS_SYMBOLIZER_ELF_ELFSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/elf/elffile.h"
#include "symbolizer/names/functions.h"

struct gus_ranges;

/* Adds the functions of the file's table of that type (SHT_SYMTAB or SHT_DYNSYM); true if there was such a table.
 * The names stay in the file: it must outlive the table. */
bool gus_elfsyms_add(struct gus_functions *f, struct gus_elf *e, unsigned type);

/* The same of variables: what a table says is an object, in a section of memory that is no code. */
bool gus_elfsyms_add_data(struct gus_functions *f, struct gus_elf *e, unsigned type);

/* Adds the stubs of the procedure linkage tables, each as "NAME@plt" (x86-64 and arm64; others have none here). */
void gus_plt_add(struct gus_functions *f, struct gus_elf *e);

/* The code ranges of .eh_frame's entries: where functions are, though not what they are called. */
void gus_elfsyms_add_frames(struct gus_ranges *ranges, struct gus_elf *e);

#endif
