/* SPDX-License-Identifier: MIT */
/* What is deeper in a stack than its copy reaches, by what an earlier sample of the thread had there.
 *
 * Deep frames stay while many samples are taken above them. Where the last one whose return address is in the copy is
 * found at the same address of the stack as in an earlier whole stack of the thread, the callers of then are taken for
 * those of now. That is inferred: between two samples the thread may have returned from all of these and come back to
 * the same address of the stack by another way. */
#ifndef GUS_CLI_RECORD_REMEMBERED_H
#define GUS_CLI_RECORD_REMEMBERED_H

#include <stdbool.h>
#include <stdint.h>

#define GUS_REMEMBERED_THREADS 256 /* a power of two; of threads that share a place, the last one is kept */
#define GUS_REMEMBERED_FRAMES 1024
/* In a chain, before what is of user space; the kernel's PERF_CONTEXT_USER. */
#define GUS_REMEMBERED_MARKER ((uint64_t)-512)
#define GUS_REMEMBERED_TOPS 16     /* samples of a thread */

/* One stack: addresses as in a chain, and of each the CFA of the frame that returns there. */
struct gus_remembered_stack {
	uint32_t pid, tid, n;
	uint64_t addresses[GUS_REMEMBERED_FRAMES], frames[GUS_REMEMBERED_FRAMES];
};

/* How deep a thread's last samples were. */
struct gus_remembered_depth {
	uint32_t pid, tid, n;
	uint64_t tops[GUS_REMEMBERED_TOPS]; /* stack pointers */
};

/* By thread; NULL where there is none yet. Zero-initialise. */
struct gus_remembered {
	struct gus_remembered_stack *threads[GUS_REMEMBERED_THREADS];
	struct gus_remembered_stack *deep[GUS_REMEMBERED_THREADS]; /* those with more frames than are kept */
	struct gus_remembered_depth depths[GUS_REMEMBERED_THREADS];
};

void gus_remembered_free(struct gus_remembered *r);
void gus_remembered_keep(struct gus_remembered *r, uint32_t pid, uint32_t tid, const uint64_t *addresses,
			 const uint64_t *frames, uint32_t n);
/* Appends the outer callers to those n, which end with their copy; returns how many there are then, n if there is
 * nothing to be taken. */
uint32_t gus_remembered_join(const struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t *addresses,
			     uint64_t *frames, uint32_t n, uint32_t most);

/* The same of stacks that have more frames than are kept, which were read a moment after their sample: so that they are
 * not read anew each time. What is joined has nearly as many frames as are kept, most at most. */
void gus_remembered_keep_deep(struct gus_remembered *r, uint32_t pid, uint32_t tid, const uint64_t *addresses,
			      const uint64_t *frames, uint32_t n);
uint32_t gus_remembered_join_deep(const struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t *addresses,
				  uint64_t *frames, uint32_t n, uint32_t most);

/* Notes a sample's stack pointer. */
void gus_remembered_note(struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t top);
/* Whether all of the thread's last samples, GUS_REMEMBERED_TOPS of them, were deeper than that frame: so it is likely
 * that it has not returned from it meanwhile. */
bool gus_remembered_stays(const struct gus_remembered *r, uint32_t pid, uint32_t tid, uint64_t frame);

#endif
