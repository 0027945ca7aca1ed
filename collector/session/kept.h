/* SPDX-License-Identifier: MIT */
/* The files that watched processes execute, held open from the moment that they are told of: at the end of a recording
 * they may have been replaced or deleted, and the process and its mount namespace may be gone. A file is opened once,
 * whoever maps it. What is held keeps its blocks on the disk, and its file system mounted, as long as the recording
 * lasts. */
#ifndef GUS_COLLECTOR_SESSION_KEPT_H
#define GUS_COLLECTOR_SESSION_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/index.h"
#include "proto/gusprof.pb-c.h"

#define GUS_KEPT_MOST 512       /* descriptors */
#define GUS_KEPT_FILES 65536    /* that are known, held or not */

struct gus_kept_file {
	int fd;                 /* -1: none */
	unsigned tries;
};

struct gus_kept {
	struct gus_index keys;  /* what tells files apart: a build id, or device and inode */
	struct gus_vec(struct gus_kept_file) files; /* by number of the key */
	size_t n, most;         /* descriptors that are held, and may be */
	uint64_t left_out;      /* files for which there was no room */
};

/* Half of the descriptors that this process may still open are for it, GUS_KEPT_MOST at most. */
void gus_kept_init(struct gus_kept *k);
void gus_kept_free(struct gus_kept *k);

/* Sees to the file of a mapping of code. Where it could not be opened, a few later mappings of it are tried, too. */
void gus_kept_note(struct gus_kept *k, const Gusprof__Mmap *mapping);
/* Takes a file that is open, and closes it if it has it or has no room. It is known by its build id, or, if that has no
 * bytes, by the other three. */
void gus_kept_give(struct gus_kept *k, int fd, const uint8_t *build_id, size_t build_id_size, uint64_t inode,
		   uint32_t major, uint32_t minor);

/* A new descriptor of the file that a module of a recording had, or -1. Its position is shared with others of it: read
 * by pread. */
int gus_kept_open(const struct gus_kept *k, const uint8_t *build_id, size_t build_id_size, uint64_t inode,
		  uint32_t major, uint32_t minor);

#endif
