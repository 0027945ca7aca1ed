/* SPDX-License-Identifier: MIT */
/* Which snapshots are kept, of more than there may be. */
#ifndef GUS_COLLECTOR_SNAPSHOT_THIN_H
#define GUS_COLLECTOR_SNAPSHOT_THIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of snapshots in the order of time, the i-th of thread tids[i], about half: of each thread each second one, its last
 * one not. (Threads take turns, so of two that compute each second snapshot of all is of the same one.) Where that
 * leaves more than three quarters, as of many threads with one each, of what is left each second one goes as well. kept
 * has room for n. How many are kept; fewer than n if n is at least 2. */
size_t gus_thin(const uint32_t *tids, size_t n, bool *kept);

#endif
