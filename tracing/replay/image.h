/* SPDX-License-Identifier: MIT */
/* A snapshot as gusprof-replay wants it (tracing/replay/image_format.h), in memory that is gone when all have closed
 * it. */
#ifndef GUS_TRACING_REPLAY_IMAGE_H
#define GUS_TRACING_REPLAY_IMAGE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "proto/snapshot.h"

struct gus_error;
struct gus_rights;

#define GUS_REPLAY_FILES_MAX 1024       /* that a snapshot may have mapped */

/* All that it opens is closed on exec, and has to go along under its number with who loads the image. */
struct gus_replay_image_files {
	int image;                      /* sealed: nobody changes it any more */
	struct gus_vec(int) fds;        /* of the files that are mapped, each once; image is the last */
	uint64_t memory;                /* bytes that it maps */
};

/* native: with all vector state that the CPU had, which QEMU has not. The files are opened with these rights (NULL:
 * ours). -1 with err; GUS_E_NOT_FOUND if a file that was mapped is not there as it was. Freed with
 * gus_replay_image_close, also then. */
int gus_replay_image_make(const struct gus_snapshot *s, bool native, const struct gus_rights *rights,
			  struct gus_replay_image_files *files, struct gus_error *err);
void gus_replay_image_close(struct gus_replay_image_files *files);

#endif
