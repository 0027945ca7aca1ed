/* SPDX-License-Identifier: MIT */
/* The tables of the top-down method that are built in. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_BUILTIN_H
#define GUS_ATTRIBUTION_TOPDOWN_BUILTIN_H

#include "attribution/topdown/table.h"

/* Tables for the cores of a machine, one a kind of them; those that the machine does not let be counted say what they
 * lack. */
struct gus_topdown_tables gus_vec(struct gus_topdown *);

/* Appends what there is for this machine: none, one, or of a hybrid CPU two. Where one of several can be counted, those
 * whose PMU is not there are left out: these cores are switched off. -1 if a built-in table is malformed. */
int gus_topdown_find(struct gus_topdown_tables *tables, const struct gus_topdown_host *host, struct gus_error *err);
void gus_topdown_tables_free(struct gus_topdown_tables *tables);

/* The text of built-in table number i, by name; NULL behind the last. */
const char *gus_topdown_builtin(size_t i, const char **text, size_t *size);

#endif
