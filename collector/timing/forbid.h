/* SPDX-License-Identifier: MIT */
/* What the process that executes microbenchmarks may not do any more. Instructions of a stranger's program are among
 * them, so it gives up all that it does not need before it executes the first: rights, files, a core dump, and all
 * system calls but those on the files that it keeps, on memory that is not to be executed, on time, and its end.
 * Another call kills it. */
#ifndef GUS_COLLECTOR_TIMING_FORBID_H
#define GUS_COLLECTOR_TIMING_FORBID_H

#include <stddef.h>

/* For good; the only thread. Of all open files those in keep stay, and 0 to 2, which become /dev/null. memory: bytes
 * that it may map beyond what it has. 0, or errno: then it must not go on. */
int gus_timing_forbid(const int *keep, size_t n, size_t memory);

#endif
