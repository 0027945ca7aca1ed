/* SPDX-License-Identifier: MIT */
/* What distributions leave in a stripped program so that its backtraces have names (".gnu_debugdata", Fedora's idea):
 * an ELF file, packed by xz, whose symbol table has the functions that are not exported. libdw unpacks it in a part of
 * it that opens files itself and believes what they say, so we do, by liblzma. */
#ifndef GUS_SYMBOLIZER_ELF_MINI_H
#define GUS_SYMBOLIZER_ELF_MINI_H

#include "symbolizer/elf/elffile.h"

/* The file within e, which the caller closes; NULL if there is none or it cannot be unpacked. */
struct gus_elf *gus_mini_open(struct gus_elf *e);

#endif
