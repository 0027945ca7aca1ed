/* SPDX-License-Identifier: MIT */
/* The other file of a unit whose debug information was split off (-gsplit-dwarf): the one that it names (.dwo), or its
 * part of the package that lies beside the program (.dwp). libdw opens it itself, by the path
 * that the file gives, whatever lies there: a FIFO holds it for ever, and it maps what it finds. So the file is opened
 * by us, with the limits of all such files, and libdw is sent to a copy of what we have read of it. */
#ifndef GUS_SYMBOLIZER_ELF_SPLIT_H
#define GUS_SYMBOLIZER_ELF_SPLIT_H

#include "symbolizer/elf/vet.h"

struct gus_split {
	struct gus_elf *e;      /* NULL if there is none */
	struct gus_vet vet;
};

/* Where the units of a program are that have no file of their own. */
struct gus_split_package {
	bool sought;
	struct gus_elf *e;      /* NULL if there is none */
};

/* Whether a unit was split; nothing is opened to find out. */
bool gus_split_is(const Dwarf_Die *unit);
/* Finds the unit in the other file that goes with this one, which is in `holder`; code as gus_dwarf_open has it. False
 * if there is none, or it must not be looked at. The bytes of the entry of the unit are changed for a moment, so they
 * must be ours. */
bool gus_split_open(struct gus_split *s, struct gus_split_package *p, struct gus_elf *holder,
		    const struct gus_elf *code, Dwarf_Die *unit, Dwarf_Die *body);
void gus_split_close(struct gus_split *s);
void gus_split_package_close(struct gus_split_package *p);

#endif
