/* SPDX-License-Identifier: MIT */
/* The recording on disk: a preamble, then frames, each with its length and checksum. What both the writer and the
 * reader know about its layout; FORMAT.md is the same for someone who has neither. */
#ifndef GUS_PROTO_CONTAINER_H
#define GUS_PROTO_CONTAINER_H

#include <stdint.h>

#define GUS_MAGIC "\x89GUS\r\n\x1a\n" /* a text-mode copy, a cut at 7 bits or at ^Z breaks it visibly */
#define GUS_MAGIC_SIZE 8
#define GUS_VERSION_MAJOR 1           /* readers refuse a larger one */
#define GUS_VERSION_MINOR 9           /* readers skip what they do not know */

/* Preamble, 24 bytes: magic[8], u32 major, u32 minor, u64 XXH64 of the 16 bytes before. */
#define GUS_PREAMBLE_SIZE 24

/* Frame header, 40 bytes: u32 mark, u16 type, u8 coding, u8 zero, u32 stored, u32 raw, u64 sequence,
 * u64 XXH64 of the stored payload, u64 XXH64 of the 32 bytes before. The payload of `stored` bytes follows. */
#define GUS_FRAME_MARK 0x4d524647u    /* "GFRM" */
#define GUS_FRAME_HEADER_SIZE 40
#define GUS_FRAME_RAW_MAX (4u << 20)  /* bytes of a payload before compression; bounds what a reader allocates */
#define GUS_FRAME_STORED_MAX (GUS_FRAME_RAW_MAX + (64u << 10))

enum gus_coding { GUS_CODING_RAW = 0, GUS_CODING_ZSTD = 1 };

enum gus_frame_type {
	GUS_FRAME_HEADER = 1,         /* gusprof.Header; sequence 0, the first frame */
	GUS_FRAME_SIDEBAND = 2,       /* gusprof.Sideband */
	GUS_FRAME_SAMPLES = 3,        /* columns */
	GUS_FRAME_SWITCHES = 4,       /* columns */
	GUS_FRAME_KERNEL_SYMBOLS = 5, /* gusprof.KernelSymbols */
	GUS_FRAME_IMAGE = 6,          /* gusprof.Image */
	GUS_FRAME_INDEX = 7,          /* gusprof.Index */
	GUS_FRAME_FOOTER = 8,         /* gusprof.Footer; the last frame of a whole recording */
	GUS_FRAME_TRACE = 9,          /* gusprof.Trace; before all others of a trace */
	GUS_FRAME_TRACE_BLOCKS = 10,  /* see proto/trace.h and FORMAT.md */
	GUS_FRAME_TRACE_STEPS = 11,
	GUS_FRAME_TRACE_TOTAL = 12,   /* gusprof.TraceTotal; the last of a whole trace */
	GUS_FRAME_TRACE_SIDEBAND = 13, /* gusprof.Sideband, whose times are numbers of blocks */
	GUS_FRAME_SNAPSHOT = 14,      /* gusprof.Snapshot */
	GUS_FRAME_SNAPSHOT_PAGES = 15, /* of the snapshot before; see proto/snapshot.h and FORMAT.md */
	GUS_FRAME_EMBEDDED = 16,      /* gusprof.Embedded */
	GUS_FRAME_AUX = 17,           /* gusprof.Aux */
	GUS_FRAME_SLOTS = 18,         /* gusprof.Slots */
	GUS_FRAME_TRAFFIC = 19,       /* gusprof.Traffic */
};

/* Trailer, 24 bytes, the last of a whole file: magic "GUSTRAIL", u64 offset of the FOOTER frame, u64 XXH64 of the
 * 16 bytes before. */
#define GUS_TRAILER_MAGIC "GUSTRAIL"
#define GUS_TRAILER_SIZE 24

#endif
