/* SPDX-License-Identifier: MIT */
/* The tables that the program carries: every file of model/uarch/, put into it when it is built. */
#ifndef GUS_MODEL_TABLES_BUILTIN_H
#define GUS_MODEL_TABLES_BUILTIN_H

#include <stddef.h>

/* For gus_uarch_parse: "skylake", "skylake.overlay" and "x86.forms" are the files skylake.uarch, skylake.overlay and
 * x86.forms. */
extern const struct gus_uarch_texts gus_uarch_builtin;

/* The name of the i-th table in order of names; NULL behind the last. Overlays and includes are none. */
const char *gus_uarch_builtin_name(size_t i);
/* The name of the table that has this name or alias, in any case of letters; NULL if there is none. */
const char *gus_uarch_builtin_find(const char *name_or_alias);

#endif
