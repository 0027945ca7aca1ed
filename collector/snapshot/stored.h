/* SPDX-License-Identifier: MIT */
/* Snapshots of a process that are put aside while it goes on. What they are about stays in memory; their pages are in
 * files without a name, as nobody else shall see them. Most memory of a process is the same at the next look, so it is
 * kept once: the pages of the first snapshot are a base, and of each later one those that differ from it are kept
 * beside it. */
#ifndef GUS_COLLECTOR_SNAPSHOT_STORED_H
#define GUS_COLLECTOR_SNAPSHOT_STORED_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/snapshot.h"

struct gus_error;

/* Pages in a file, which several snapshots share. */
struct gus_stored_base;

/* One snapshot. Where its runs lie (at): in the base, and from the end of that on in its own file. */
struct gus_stored {
	struct gus_snapshot snapshot;   /* its bytes are there only while it is open */
	struct gus_stored_base *base;
	int file;                       /* -1: it has no pages of its own */
	uint64_t own_bytes;
};

/* What snapshots of one process are put into. Zero is one that is empty. */
struct gus_shelf {
	struct gus_stored_base *base;   /* NULL: the next one makes it */
	struct gus_stored now;          /* that is being put */
	bool begins_base;
};

/* Puts pages: begin, pages in any order of runs, end; then the snapshot, whose runs are made anew, is to's. -1 with err
 * from each; GUS_E_FULL if the disk has less room than so many times what it takes: others want some, too. After a
 * failure gus_shelf_cancel is to be called, and may be called at any time. */
int gus_shelf_begin(struct gus_shelf *s, uint64_t bytes, unsigned times, struct gus_error *err);
int gus_shelf_pages(struct gus_shelf *s, uint64_t address, const uint8_t *bytes, uint64_t size,
		    struct gus_error *err);
int gus_shelf_end(struct gus_shelf *s, struct gus_snapshot *snapshot, struct gus_stored *to,
		  struct gus_error *err);
void gus_shelf_cancel(struct gus_shelf *s);
/* Whether its base is of the process; and as that is, which is the same one, executing the same program. */
bool gus_shelf_is_of(const struct gus_shelf *s, uint32_t pid);
bool gus_shelf_knows(const struct gus_shelf *s, const Gusprof__Snapshot *about);
/* Whether the base has that page so. */
bool gus_shelf_has(const struct gus_shelf *s, uint64_t address, const uint8_t *bytes);
/* Between begin and end: puts these pages as the base has them. False, and nothing is put, if it has not all of them,
 * or is being made. */
bool gus_shelf_old(struct gus_shelf *s, uint64_t address, uint64_t size);
/* The next one makes a base. */
void gus_shelf_forget(struct gus_shelf *s);
/* The store is not needed any more; what was put is. */
void gus_shelf_free(struct gus_shelf *s);

/* Bytes of all files of these. */
uint64_t gus_stored_bytes(const struct gus_stored *v, size_t n);

/* Its pages are there until gus_stored_close. -1 with err. */
int gus_stored_open(struct gus_stored *stored, struct gus_error *err);
void gus_stored_close(struct gus_stored *stored);
void gus_stored_free(struct gus_stored *stored);

#endif
