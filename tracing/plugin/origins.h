/* SPDX-License-Identifier: MIT */
/* Where traced code is from: the mappings of our own process, which are also the program's, and which of them the trace
 * has told. The emulator maps files where the program wants them, at a constant distance from the program's addresses;
 * it does not map them as executable, so code is found by address alone. */
#ifndef GUS_TRACING_PLUGIN_ORIGINS_H
#define GUS_TRACING_PLUGIN_ORIGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "proto/trace.h"

struct gus_error;

/* A mapping as it was seen. Lives until gus_origins_free. */
struct gus_origin;

struct gus_origins {
	uint32_t pid;
	bool full;                      /* the trace may not hold more: code of other mappings has no name */
	bool named;                     /* what the program is called was told */
	struct gus_vec(struct gus_origin *) all, now;
};

void gus_origins_init(struct gus_origins *o, uint32_t pid);
void gus_origins_free(struct gus_origins *o);
/* Another trace begins, of that process: nothing has been told in it. */
void gus_origins_begin(struct gus_origins *o, uint32_t pid);

/* What there is now: the text of /proc/PID/maps. A mapping that was there already remains the same one. */
void gus_origins_update(struct gus_origins *o, const char *maps);
/* The mapping that host is in, which the program knows as address; NULL if there is none. */
struct gus_origin *gus_origins_find(struct gus_origins *o, uint64_t host, uint64_t address);

/* Writes into the trace that code of the next blocks is from origin, if that is not what it said last and
 * it may say more. -1 with err. */
int gus_origins_tell(struct gus_origins *o, struct gus_origin *origin, struct gus_trace_writer *w,
		     struct gus_error *err);
/* Tells the program's name, once: the last part of path. */
int gus_origins_name(struct gus_origins *o, const char *path, struct gus_trace_writer *w, struct gus_error *err);

#endif
