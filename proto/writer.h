/* SPDX-License-Identifier: MIT */
/* Writes a recording so that whatever stops the program, the file holds every frame that was finished. */
#ifndef GUS_PROTO_WRITER_H
#define GUS_PROTO_WRITER_H

#include <stdint.h>

#include "proto/container.h"
#include "proto/gusprof.pb-c.h"

struct gus_bytes;
struct gus_columns;
struct gus_error;

struct gus_writer;

/* Creates path (mode 0600) with its preamble and header; a file that was there becomes path.old. The new file takes
 * the name only when its header is whole, so a file of that name always opens. NULL on failure, with err. */
struct gus_writer *gus_writer_create(const char *path, const Gusprof__Header *header, struct gus_error *err);

/* The same onto what is open as fd, a pipe for instance, from where it stands: nothing is renamed, nothing taken back.
 * The writer closes it in any case. Its name is for messages. A reader that left is a failure, and no signal. If fd is
 * closed behind the writer's back and becomes another file, that is a failure, too. */
struct gus_writer *gus_writer_create_fd(int fd, const char *name, const Gusprof__Header *header, struct gus_error *err);

/* The same of a recording while it is made: if its reader takes nothing, it is given up when a signal to end has been
 * pending for five seconds. */
struct gus_writer *gus_writer_create_live(int fd, const char *name, const Gusprof__Header *header,
					  struct gus_error *err);

/* From now on payloads are not compressed: for a reader that waits for them. */
void gus_writer_plain(struct gus_writer *w);

/* Each adds one frame with a single write. -1 on failure: the unfinished frame is taken back, and every later call
 * fails in the same way without writing. Batches may be of any size; an empty one writes nothing. */
int gus_writer_samples(struct gus_writer *w, const struct gus_columns *batch, struct gus_error *err);
int gus_writer_switches(struct gus_writer *w, const struct gus_columns *batch, struct gus_error *err);
int gus_writer_sideband(struct gus_writer *w, const Gusprof__Sideband *records, struct gus_error *err);
int gus_writer_message(struct gus_writer *w, enum gus_frame_type type, const ProtobufCMessage *message,
		       struct gus_error *err);

/* The same of a payload that is no message. */
int gus_writer_payload(struct gus_writer *w, enum gus_frame_type type, const struct gus_bytes *payload,
		       struct gus_error *err);

/* Bytes in the file so far. */
uint64_t gus_writer_size(const struct gus_writer *w);

/* Adds index, footer and trailer, and frees w, also on failure, which it is as well if the file has been removed. The
 * footer's frames, index_offset and switches are filled in here. */
int gus_writer_finish(struct gus_writer *w, Gusprof__Footer *footer, struct gus_error *err);

/* Frees w and leaves the file as it is: readers will say that it was cut. */
void gus_writer_abandon(struct gus_writer *w);

#endif
