/* SPDX-License-Identifier: MIT */
/* Records that perf has packed with zstd into others (PERF_RECORD_COMPRESSED and COMPRESSED2), unpacked step by step. A
 * record may begin in one of those and end in the next.
 *
 *	[ used | rest of a record | unpacked ...) */
#ifndef GUS_COLLECTOR_PERFDATA_PACKED_H
#define GUS_COLLECTOR_PERFDATA_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/limits.h"

struct gus_perfdata_framing;
struct gus_perfdata_record;

/* Zeroed it has nothing. */
struct gus_perfdata_packed {
	struct gus_vec(uint8_t) unpacked;
	size_t used;
	const uint8_t *in;              /* what is being unpacked: borrowed ... */
	size_t left;                    /* ... and that many bytes, ... */
	uint64_t offset;                /* ... which stand there in the file */
	ZSTD_DStream *zstd;
	bool within;                    /* its frame has begun and goes on in what comes next */
	bool broken;                    /* its frame cannot be unpacked from here on */
	bool skipping;                  /* up to the end of what is being unpacked */
	struct gus_budget bytes, records; /* that may come of unpacking */
};

enum gus_perfdata_unpacked {
	GUS_PERFDATA_UNPACKED_NONE,     /* no whole record is left */
	GUS_PERFDATA_UNPACKED_RECORD,
	GUS_PERFDATA_UNPACKED_NO_RECORD, /* what came is none; nothing says where the next one begins */
	GUS_PERFDATA_UNPACKED_BROKEN,   /* it is not zstd's: `left` bytes at `offset` are lost, ... */
	GUS_PERFDATA_UNPACKED_BEHIND,   /* ... and these, which go on behind such */
	GUS_PERFDATA_UNPACKED_UNFINISHED, /* a record began before, and does not go on here */
	GUS_PERFDATA_UNPACKED_TOO_MUCH, /* more would come than may: the rest is lost */
};

/* What records may be unpacked to in a file of that size. */
void gus_perfdata_packed_allow(struct gus_perfdata_packed *p, uint64_t size);
/* And in another one of the same recording. */
void gus_perfdata_packed_allow_more(struct gus_perfdata_packed *p, uint64_t size);

/* Begins with the body of such a record, whose bytes stay until it is unpacked. Of _RECORD and _UNFINISHED there may be
 * records; _NO_RECORD: it says that it has more than it has. */
enum gus_perfdata_unpacked gus_perfdata_packed_begin(struct gus_perfdata_packed *p,
						     const struct gus_perfdata_framing *f,
						     const struct gus_perfdata_record *r);
/* Whether there may be another record in it. */
bool gus_perfdata_packed_has_more(const struct gus_perfdata_packed *p);
/* The next one of it; after anything else than a record or none there may be more. */
enum gus_perfdata_unpacked gus_perfdata_packed_next(struct gus_perfdata_packed *p,
						    const struct gus_perfdata_framing *f,
						    struct gus_perfdata_record *r);
/* Whether a record has begun that nothing ended; it is dropped. */
bool gus_perfdata_packed_end(struct gus_perfdata_packed *p);
/* Before records of another file. */
void gus_perfdata_packed_reset(struct gus_perfdata_packed *p);
void gus_perfdata_packed_free(struct gus_perfdata_packed *p);

#endif
