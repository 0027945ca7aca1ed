/* SPDX-License-Identifier: MIT */
/* gusprof uarch import: a user's own measurements as a table. */
#ifndef GUS_CLI_UARCH_IMPORT_H
#define GUS_CLI_UARCH_IMPORT_H

/* Prints the table that path (- is the standard input) has of arch ("SKL"), like the table base (NULL: the one that has
 * arch as a name). name is the new table's, NULL for one made of arch. Returns the exit status. */
int gus_uarch_import(const char *path, const char *arch, const char *base, const char *name, unsigned flags);

#endif
