/* SPDX-License-Identifier: MIT */
/* Many split units in one file (.dwp): an index says where in each section the part of a unit is. libdw of today does
 * not know such files, so a file of one unit is made out of it, as the compiler had written it (.dwo). The format is in
 * DWARF 5, section 7.3.5; GCC's and LLVM's before that (version 2) numbers the sections in another way. */
#ifndef GUS_SYMBOLIZER_ELF_PACKAGE_H
#define GUS_SYMBOLIZER_ELF_PACKAGE_H

#include <stdint.h>

#include "symbolizer/elf/elffile.h"

/* The file of the unit with that number, which the caller closes; NULL if the package has none, or none that holds
 * together. */
struct gus_elf *gus_package_unit(struct gus_elf *package, uint64_t unit);

#endif
