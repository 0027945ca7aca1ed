/* SPDX-License-Identifier: MIT */
/* What to say when somebody asked for a name that no sample has: the nearest that there is, or those that there are. */
#ifndef GUS_CLI_COMMON_ABSENT_H
#define GUS_CLI_COMMON_ABSENT_H

#include <stddef.h>

struct gus_log;

/* Warns: no sample is `where` ("in a module called"), and what is there instead: n names, of which the first
 * are listed. */
void gus_absent_tell(const struct gus_log *log, const char *where, const char *asked, const char *const *there,
		     size_t n);
/* That as the end of a message: "; the nearest: NAME", "; there are: A, B and 3 more", or "". */
void gus_absent_format(const char *asked, const char *const *there, size_t n, char *out, size_t room);

#endif
