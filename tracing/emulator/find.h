/* SPDX-License-Identifier: MIT */
/* Where programs are, and what was built with this one. */
#ifndef GUS_TRACING_EMULATOR_FIND_H
#define GUS_TRACING_EMULATOR_FIND_H

/* Where a command of the user's is, as a shell would find it; NULL if nowhere. The caller frees it, as all here. */
char *gus_find_command(const char *name);
/* Where a program is that we chose, and not the user: as a shell would find it, but only in folders of PATH that have
 * their whole name. "." is whichever folder we were started in, and what lies there may be a stranger's. NULL if
 * nowhere. */
char *gus_find_tool(const char *name);
/* A file that is built and installed with this program, such as "gusprof-qemu.so"; NULL if it is not there. */
char *gus_find_part(const char *name);

#endif
