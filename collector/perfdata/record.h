/* SPDX-License-Identifier: MIT */
/* One record of a perf.data file: its head, and how the next one is found where a head is wrong. Records have no mark
 * of their own: one whose size is wrong leaves the place of the next in doubt. So it is looked at whether what comes
 * next can be one: of a type that is known, of a size that such have. */
#ifndef GUS_COLLECTOR_PERFDATA_RECORD_H
#define GUS_COLLECTOR_PERFDATA_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_error;
struct gus_perfdata_window;

/* Types of records that perf adds to the kernel's, and simpleperf. */
enum {
	GUS_PERFDATA_ATTR = 64, GUS_PERFDATA_EVENT_TYPE = 65, GUS_PERFDATA_TRACING = 66, GUS_PERFDATA_BUILD_ID = 67,
		GUS_PERFDATA_ROUND = 68,
	GUS_PERFDATA_ID_INDEX = 69, GUS_PERFDATA_AUXTRACE_INFO = 70, GUS_PERFDATA_AUXTRACE = 71,
	GUS_PERFDATA_COUNT = 76, /* of perf stat */
	GUS_PERFDATA_EVENT_UPDATE = 78, GUS_PERFDATA_TIME_CONV = 79, GUS_PERFDATA_FEATURE = 80,
		GUS_PERFDATA_PACKED = 81, GUS_PERFDATA_PACKED2 = 83,
	GUS_PERFDATA_FIRST_OF_SIMPLEPERF = 32768,
};

struct gus_perfdata_record {
	uint32_t type;
	uint16_t misc;
	const uint8_t *bytes;           /* with its header; live until the next call */
	size_t size;
	uint64_t offset;                /* in the file; of one that was packed, of what it was packed in */
	uint64_t beside, beside_size;   /* what stands behind an AUXTRACE and counts to it: offset in the file, bytes */
};

/* Bytes of a record's head, which is the least that one has. */
enum { GUS_PERFDATA_RECORD_HEAD = 8 };

/* What of a file its records' heads depend on. */
struct gus_perfdata_framing {
	bool big_endian;
	bool simpleperf;                /* it has features of that program's */
	bool unaligned;                 /* some record's size was no multiple of eight */
};

/* A record whose bytes these are, and more. Its size; 0: it goes on behind them; -1: it cannot be. Simpleperf's own
 * have sizes of 32 bits, the upper ones in place of misc: all but their heads counts as what stands beside them. */
int64_t gus_perfdata_record_head(const struct gus_perfdata_framing *f, const uint8_t *bytes, size_t have,
				 struct gus_perfdata_record *r);
/* Whether there are such, and this is not of the kernel's with a size that those do not have. */
bool gus_perfdata_record_is_known(const struct gus_perfdata_record *r);
/* Whether a known record's head stands at offset, or all that is read is over there; next: where the one behind it
 * is, or as it was if there is none. */
bool gus_perfdata_record_is_at(const struct gus_perfdata_framing *f, struct gus_perfdata_window *w, uint64_t offset,
			       uint64_t end, uint64_t *next, struct gus_error *err);
/* Behind a place that is no record the next one, which several others follow: where they are by chance so, nothing
 * tells. `end` if there is none, or it is too far. */
uint64_t gus_perfdata_record_find(const struct gus_perfdata_framing *f, struct gus_perfdata_window *w, uint64_t from,
				  uint64_t end, struct gus_error *err);

#endif
