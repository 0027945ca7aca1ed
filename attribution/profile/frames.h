/* SPDX-License-Identifier: MIT */
/* One pass over the frames of a recording, whatever state it is in: the loop that all who add up a recording share. */
#ifndef GUS_ATTRIBUTION_PROFILE_FRAMES_H
#define GUS_ATTRIBUTION_PROFILE_FRAMES_H

#include "proto/reader.h"

/* From the beginning on, calls take for each frame whose type is among these (a bit for each). Damage is the reader's
 * to count, and the pass goes on behind it. -1 only if the file cannot be read. */
int gus_frames_each(struct gus_reader *reader, uint32_t types,
		    void (*take)(void *context, const struct gus_frame *frame), void *context, struct gus_error *err);

#endif
