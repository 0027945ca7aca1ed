/* SPDX-License-Identifier: MIT */
/* Lines and inlined calls by address, from DWARF 2 to 5 through libdw. Everything is read when it is first needed: the
 * list of units, then of a unit that is asked about its line table and its functions, then of such a function its
 * inlined calls. After that each question is a few binary searches. */
#ifndef GUS_SYMBOLIZER_ELF_DWARF_H
#define GUS_SYMBOLIZER_ELF_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/elf/elffile.h"

struct gus_dwarf;

/* `holder` has the debug sections; `code` is the file that has the code (often the same) and says which addresses can
 * be code; `shared` is the file that .gnu_debugaltlink names, or NULL. All must outlive it. NULL if there is nothing
 * that can be read. */
struct gus_dwarf *gus_dwarf_open(struct gus_elf *holder, const struct gus_elf *code, struct gus_elf *shared);
void gus_dwarf_close(struct gus_dwarf *d);

/* Whether others may look at the same bytes meanwhile: not where units are split, whose names are changed for a
 * moment. */
bool gus_dwarf_is_still(const struct gus_dwarf *d);

/* The source line of address; false if none is known. The file may be known where the line is 0: code without a
 * line of its own. */
bool gus_dwarf_line(struct gus_dwarf *d, uint64_t address, const char **file, uint32_t *line);

struct gus_call {
	const char *name;      /* of the function that is inlined here: linkage name, else plain; NULL if not known */
	const char *file;      /* where it is called, NULL if not known */
	uint32_t line;         /* 0 if not known */
};

/* The inlined calls around address, innermost first, at most max; *outer, if given, is the name of the function that
 * has the code (NULL if not known). */
size_t gus_dwarf_calls(struct gus_dwarf *d, uint64_t address, struct gus_call *calls, size_t max, const char **outer);

/* The addresses around this one that have the same line and the same calls. False if what was said of it would be more
 * if a file were there that is not: the other one of a split unit. */
bool gus_dwarf_extent(struct gus_dwarf *d, uint64_t address, uint64_t *low, uint64_t *high);

#endif
