/* SPDX-License-Identifier: MIT */
/* What libdw is given is looked at before. It checks that nothing is read outside of a section, but it believes what a
 * file says of its own sizes, and follows what refers to the same bytes again and again: a few kilobytes can ask it for
 * hours and for all memory. So here is what each question to it may cost, found out by passing over the same bytes
 * once, and charged to the budgets of the file (base/limits.h); a question that is refused is not asked. */
#ifndef GUS_SYMBOLIZER_ELF_VET_H
#define GUS_SYMBOLIZER_ELF_VET_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "symbolizer/elf/elffile.h"

struct gus_cursor;

/* A unit of .debug_info, by the header that is before its entries. */
struct gus_vet_unit {
	uint64_t start, end;            /* of its entries, in the section */
	uint32_t table;                 /* of its abbreviations */
};

/* A table of abbreviations. */
struct gus_vet_table {
	uint32_t n;                     /* abbreviations */
	uint32_t attributes;            /* of the one that has most */
	uint64_t first;                 /* code of the first one */
};

struct gus_vet {
	struct gus_elf *e;
	bool big;                       /* order of bytes */
	Elf_Data *info, *abbrev, *line, *line_str, *str, *ranges, *rnglists; /* NULL where there is none */
	struct gus_vec(struct gus_vet_unit) units;
	struct gus_vec(struct gus_vet_table) tables;
	struct gus_index offsets;       /* of tables, in .debug_abbrev */
	struct gus_budget steps;
};

/* Loads the sections of e that we use and hides the others from libdw. False if they are more than may be. */
bool gus_vet_open(struct gus_vet *v, struct gus_elf *e);
/* Looks at the units and their abbreviations, before any entry is looked at. Unpacks the sections, so libdw or who
 * copies the file comes before. False if they are more than may be. */
bool gus_vet_units(struct gus_vet *v);
void gus_vet_close(struct gus_vet *v);

/* Whether the entries of a unit may be walked through. */
bool gus_vet_walk(struct gus_vet *v, Dwarf_Die *unit);
/* Whether to go on after a step from an entry to a place behind it; NULL for the end of the unit. */
bool gus_vet_step(struct gus_vet *v, Dwarf_Die *from, const void *to);
/* Whether an entry's ranges may be asked for. Before DWARF 5 those of a split unit are in the file that it was split
 * from: that one is `of`, else the same. */
bool gus_vet_ranges(struct gus_vet *v, struct gus_vet *of, Dwarf_Die *die);
/* Whether the line table of a unit may be read. */
bool gus_vet_lines(struct gus_vet *v, Dwarf_Die *unit);

/* For the above: an unsigned number in the file's order of bytes. */
uint64_t gus_vet_number(const struct gus_vet *v, struct gus_cursor *c, size_t size);
/* The length at the beginning of a unit or of a line table, *offset the bytes of an offset in it; the cursor is then
 * what follows, so far as it is there. */
struct gus_cursor gus_vet_unit_cursor(const struct gus_vet *v, struct gus_cursor *c, size_t *offset);
/* Takes units of memory. */
bool gus_vet_make(struct gus_vet *v, uint64_t bytes);

#endif
