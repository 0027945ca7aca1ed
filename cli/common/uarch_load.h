/* SPDX-License-Identifier: MIT */
/* --uarch NAME|FILE|host: the table of a CPU by what a user calls it. */
#ifndef GUS_CLI_COMMON_UARCH_LOAD_H
#define GUS_CLI_COMMON_UARCH_LOAD_H

#include "model/tables/uarch.h"

#define GUS_UARCH_OPTION_HELP \
	"The CPU: a name of `gusprof uarch list`, a file with a table, or host (default) for this one."

/* The name of the built-in table for this machine's CPU, or NULL. */
const char *gus_uarch_host(void);
/* what: NULL is host. flags: enum gus_uarch_flags. */
struct gus_uarch *gus_uarch_load(const char *what, unsigned flags, struct gus_error *err);

/* All of a file, or of the standard input for "-"; what it is stands in the messages. NULL with err if it cannot be
 * read or has limit bytes or more. The caller frees it. */
char *gus_uarch_read(const char *path, const char *what, size_t limit, size_t *size, struct gus_error *err);

#endif
