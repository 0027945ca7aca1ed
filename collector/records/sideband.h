/* SPDX-License-Identifier: MIT */
/* Collects side-band records - mappings, names, forks, losses - until there are enough for a frame. */
#ifndef GUS_COLLECTOR_RECORDS_SIDEBAND_H
#define GUS_COLLECTOR_RECORDS_SIDEBAND_H

#include <stdint.h>

#include "base/alloc.h"
#include "proto/gusprof.pb-c.h"

struct gus_sideband {
	struct gus_vec(Gusprof__Record *) records; /* owned, one block of memory each */
	size_t bytes;                              /* about what the records will take in a frame */
};

/* A new record of that kind at the end, all fields empty; room is for the text that gus_sideband_text will store.
 * The builder owns it. */
Gusprof__Record *gus_sideband_add(struct gus_sideband *s, Gusprof__Record__KindCase kind, size_t room);
/* Copies length bytes and a terminator into the room of the newest record. */
char *gus_sideband_text(struct gus_sideband *s, const void *text, size_t length);

/* Appends a copy of a mapping, a name or a fork; other kinds are not copied. */
void gus_sideband_copy(struct gus_sideband *s, const Gusprof__Record *record);

/* The same records as a message; borrowed, valid until the next change. */
Gusprof__Sideband gus_sideband_message(const struct gus_sideband *s);

void gus_sideband_clear(struct gus_sideband *s); /* empties it and keeps its memory */
void gus_sideband_free(struct gus_sideband *s);

#endif
