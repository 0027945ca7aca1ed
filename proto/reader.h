/* SPDX-License-Identifier: MIT */
/* Reads a recording frame by frame, from a file or from memory, and tells apart the four ways in which it can stop
 * being readable: its end, a cut, a corrupt place (with its offset; reading goes on behind it), an unknown version. */
#ifndef GUS_PROTO_READER_H
#define GUS_PROTO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/container.h"
#include "proto/gusprof.pb-c.h"

struct gus_columns;
struct gus_error;

struct gus_reader;

enum gus_read {
	GUS_READ_FRAME,   /* here is one */
	GUS_READ_END,     /* the recording is over, and nothing is missing behind this point */
	GUS_READ_CUT,     /* the bytes stop before the footer: err says where */
	GUS_READ_CORRUPT, /* something is broken: err says at which offset; call again to go on behind it */
	GUS_READ_ERROR,   /* the file could not be read; err */
};

struct gus_frame {
	enum gus_frame_type type; /* may be a number that this program does not know: skip it */
	uint64_t offset;          /* of its header in the file */
	uint64_t sequence;
	const uint8_t *payload;   /* unpacked; valid until the next call on the reader */
	size_t size;
	uint64_t stored;          /* bytes that the payload takes in the file */
	struct gus_columns *rows; /* of SAMPLES and SWITCHES that come from no file of ours, in place of a payload */
};

/* What was wrong with everything read since the last rewind. */
struct gus_damage {
	uint64_t corrupt;         /* corrupt places */
	uint64_t first_offset;    /* of the first of them */
	uint64_t skipped_bytes;   /* passed over to find the next whole frame */
	uint64_t missing_frames;  /* numbers that were never seen, between those that were */
	bool cut;                 /* ended without a footer */
	uint64_t cut_offset;      /* where the last whole frame ends */
	uint64_t cut_bytes;       /* of an unfinished frame behind it */
	bool header_lost;         /* the header itself was corrupt */
};

/* Opens path. NULL with GUS_E_CORRUPT if it is no recording, GUS_E_VERSION if it is a newer one, GUS_E_TRUNCATED if
 * it stops within the preamble, else as the system says. A corrupt header frame is not fatal: see header_lost. */
struct gus_reader *gus_reader_open(const char *path, struct gus_error *err);
/* The same of a regular file that is open as fd, all of it, wherever it stands. The caller still closes fd. Its name is
 * for messages. */
struct gus_reader *gus_reader_open_kept(int fd, const char *name, struct gus_error *err);
/* The same over bytes, which are borrowed: for tests and fuzz targets, which cut them and change them. */
struct gus_reader *gus_reader_open_memory(const void *bytes, size_t size, struct gus_error *err);
/* What is open as fd, from where it stands, front to back and once: it may be a pipe that is still written, whose bytes
 * are waited for. No more is kept than a frame and what a search for the next one needs. It cannot be rewound or
 * restricted. The reader closes it, here on failure. Its name is for messages. After the trailer nothing more is
 * read. */
struct gus_reader *gus_reader_open_fd(int fd, const char *name, struct gus_error *err);
void gus_reader_close(struct gus_reader *r);

/* Frames that are made while they are asked for, out of a recording in another format. */
struct gus_reader_source {
	/* The next one whose type is in the set, in an order that is the same in each pass; its payload and rows live
	 * until the next call. Of what it gives out of no file, offset is a place in the source. GUS_READ_CORRUPT with
	 * err, frame->offset and in frame->stored the bytes that were skipped, GUS_READ_CUT with the bytes behind the
	 * last thing that was whole in frame->stored. */
	enum gus_read (*next)(void *self, uint32_t types, struct gus_frame *frame, struct gus_error *err);
	void (*rewind)(void *self);
	void (*close)(void *self);
	void *self;
	Gusprof__Header *header; /* the reader's from now on, made by gus_alloc */
	uint64_t size;           /* bytes of the source */
	uid_t owner;             /* whose file it is */
};

/* A reader over such a source, which it closes with itself. */
struct gus_reader *gus_reader_open_source(const struct gus_reader_source *source, const char *name);

/* Whose the file is: who may have written anything into it, and named any file. False of what is no file. */
bool gus_reader_owner(const struct gus_reader *r, uid_t *owner);

/* The recording's header; never NULL, empty if it was lost. Lives as long as the reader. */
const Gusprof__Header *gus_reader_header(const struct gus_reader *r);
/* Whether it was recorded with callers, however these were found. */
bool gus_reader_has_chains(const struct gus_reader *r);

/* The next frame in file order whose type is in the bit set (1 << type); UINT32_MAX is all frames, those of types that
 * have no bit included. The header frame is delivered too, as the first. Others are passed over without being unpacked;
 * their checksums are still verified. */
enum gus_read gus_reader_next_of(struct gus_reader *r, uint32_t types, struct gus_frame *frame, struct gus_error *err);

/* Back to the first frame; the damage is counted anew. */
void gus_reader_rewind(struct gus_reader *r);

/* From now on, and from the first frame on, batches wholly outside [from_ns, to_ns] of the recording's clock are passed
 * over unread, as far as the recording has an index (a cut one has none: then every frame is delivered). */
void gus_reader_restrict(struct gus_reader *r, uint64_t from_ns, uint64_t to_ns);
/* Bytes of the file; 0 if nobody knows, as of a pipe. */
uint64_t gus_reader_size(const struct gus_reader *r);
const struct gus_damage *gus_reader_damage(const struct gus_reader *r);

/* A message of a frame, unpacked; the caller frees it with the message's free_unpacked. NULL with GUS_E_CORRUPT if the
 * payload is not that message: the caller counts it by gus_reader_bad_payload. */
ProtobufCMessage *gus_frame_message(const struct gus_frame *frame, const ProtobufCMessageDescriptor *descriptor,
				    struct gus_error *err);
/* The rows of a frame of columns, in place of what was in `into`. 0, or -1 with GUS_E_CORRUPT. */
int gus_frame_rows(const struct gus_frame *frame, struct gus_columns *into, struct gus_error *err);
/* Notes in the damage that a frame whose checksum was right did not decode. */
void gus_reader_bad_payload(struct gus_reader *r, const struct gus_frame *frame);

#endif
