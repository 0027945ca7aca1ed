/* SPDX-License-Identifier: MIT */
/* A file's bytes at any offset, through a window that moves: memory is that of the window, however large the file is.
 *
 *	[...........bytes.v...........)     offset `at` and on */
#ifndef GUS_COLLECTOR_PERFDATA_WINDOW_H
#define GUS_COLLECTOR_PERFDATA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_error;

/* How much is read at a time. */
enum { GUS_PERFDATA_WINDOW = 1 << 20 };

struct gus_perfdata_window {
	const char *name;               /* for messages; borrowed */
	int fd;                         /* borrowed */
	struct gus_vec(uint8_t) bytes;
	uint64_t at;                    /* its first byte's offset */
	bool over;                      /* nothing is behind the window */
};

/* Up to size bytes at an offset: how many there are, and where they lie until the next call. -1: err. */
int64_t gus_perfdata_window_look(struct gus_perfdata_window *w, uint64_t offset, size_t size, const uint8_t **bytes,
				 struct gus_error *err);
/* From now on it is over another file. */
void gus_perfdata_window_turn(struct gus_perfdata_window *w, int fd);
void gus_perfdata_window_free(struct gus_perfdata_window *w);

#endif
