/* SPDX-License-Identifier: MIT */
/* Callers of samples that brought registers and a piece of their stack along: found when the recording is read.
 *
 * A batch at a time, by as many threads as there are CPUs: each has its own engine, its own files and its own view of
 * the address spaces, and which thread looks at which sample changes nothing about what it finds, so the same recording
 * gives the same chains however many they are; but where a file's tables take more work than they may, the part of each
 * thread in that is fixed, and it is the number of threads that says which stacks are the last to be followed. */
#ifndef GUS_ATTRIBUTION_PROFILE_UNWINDER_H
#define GUS_ATTRIBUTION_PROFILE_UNWINDER_H

#include <stdbool.h>

#include "proto/gusprof.pb-c.h"

struct gus_columns;
struct gus_space;
struct gus_symbols_options;
struct gus_unwinder;

/* header: of the recording, which says whose the registers are. All must outlive it, and space must be ready. */
struct gus_unwinder *gus_unwinder_new(const struct gus_space *space, const struct gus_symbols_options *options,
				      const Gusprof__Header *header);
void gus_unwinder_free(struct gus_unwinder *u);
/* So many threads at most, this one among them; there are at most 8. Before the first batch. */
void gus_unwinder_limit(struct gus_unwinder *u, unsigned threads);

/* Gives the samples of a batch that have registers their callers in user space, behind what the kernel has told of its
 * own, and says what became of each (GUS_COL_CALLERS). Stacks are dropped, and registers if they are not to be kept. */
void gus_unwinder_run(struct gus_unwinder *u, struct gus_columns *rows, bool keep_registers);

#endif
