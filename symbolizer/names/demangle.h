/* SPDX-License-Identifier: MIT */
/* Names as their authors wrote them: C++ (Itanium) and Rust (both schemes), through libiberty. */
#ifndef GUS_SYMBOLIZER_NAMES_DEMANGLE_H
#define GUS_SYMBOLIZER_NAMES_DEMANGLE_H

/* The readable form of a mangled name, as perf report shows it: template arguments but no parameters, no Rust hash.
 * NULL if name is not mangled. The caller frees it. */
char *gus_demangle(const char *name);

#endif
