/* SPDX-License-Identifier: MIT */
/* What makes a mapping's module itself: the rules that the past of address spaces and their present share. */
#ifndef GUS_SYMBOLIZER_SPACE_MODULE_H
#define GUS_SYMBOLIZER_SPACE_MODULE_H

#include "symbolizer/space/space.h"

struct gus_strings;

/* The path of a mapping; the kernel's word for memory without a file where it has none. */
const char *gus_module_path(const Gusprof__Mmap *m);
/* A number that mappings share if and only if they are of one module. */
uint32_t gus_module_identify(struct gus_strings *identities, const Gusprof__Mmap *m);
/* As gus_module_kind_of; a memfd that is an ELF file with a build id is a program like any other. */
enum gus_module_kind gus_module_kind_with(const char *path, size_t build_id_size);

#endif
