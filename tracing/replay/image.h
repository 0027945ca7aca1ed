/* SPDX-License-Identifier: MIT */
/* A snapshot as gusprof-replay wants it (tracing/replay/image_format.h), in memory that is gone when all have closed
 * it. */
#ifndef GUS_TRACING_REPLAY_IMAGE_H
#define GUS_TRACING_REPLAY_IMAGE_H

#include "proto/snapshot.h"

struct gus_error;

/* A descriptor of the image, closed on exec; -1 with err. GUS_E_NOT_FOUND if a file that was mapped is not there as it
 * was. */
int gus_replay_image(const struct gus_snapshot *s, struct gus_error *err);

#endif
