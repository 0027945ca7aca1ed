/* SPDX-License-Identifier: MIT */
/* Which memory is copied while a process stands still, and which when it goes on. */
#ifndef GUS_COLLECTOR_SNAPSHOT_LATE_H
#define GUS_COLLECTOR_SNAPSHOT_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/snapshot.h"

struct gus_error;

/* Runs that are copied late; in no room yet. */
struct gus_late { struct gus_vec(struct gus_snapshot_run) runs; };

/* Moves runs from s to late until no more than most bytes are left: those stay that are around the stack pointer,
 * whatever their size, and of the others the smallest. So what is put off is large arrays and heaps, of which a thread
 * writes a small part in the time that copying takes. Both are ascending. The caller frees late with gus_vec_free. */
void gus_late_put_off(struct gus_snapshot *s, uint64_t stack_pointer, uint64_t most, struct gus_late *late);

/* Who takes pages, whole runs or pieces of them, in any order. -1 with err ends it. */
struct gus_pages_taker {
	int (*take)(void *context, uint64_t address, const uint8_t *bytes, uint64_t size, struct gus_error *err);
	/* Of those that would be copied late: whether they are not to be. It may have them from an earlier look, and
	 * takes these then; *had: so many bytes. NULL: all are copied. */
	bool (*spare)(void *context, uint64_t address, uint64_t size, uint64_t *had);
	void *context;
};

/* The most that can stay of a snapshot that was put off with this most. */
uint64_t gus_late_left(uint64_t most);

/* Runs by their addresses. */
void gus_late_sort(struct gus_snapshot_run *runs, size_t n);

#endif
