/* SPDX-License-Identifier: MIT */
/* The layers of a perf.data file that lie around its records: header, attributes, features, compression, what stands
 * beside records. Records come out as the kernel or perf wrote them, in the file's order and byte order.
 *
 *	file   magic, sizes | attributes and ids | data: records | features: a table, then each
 *	pipe   magic, 16    | records; attributes and features are records, too (types from 64 on)
 *
 * Source: linux, tools/perf/Documentation/perf.data-file-format.txt and perf_event_open(2). Both byte orders, both
 * magics, attributes of any size from 64 bytes on. Memory is bounded by what one record and one step of decompression
 * take; a regular file is not read whole. */
#ifndef GUS_COLLECTOR_PERFDATA_CONTAINER_H
#define GUS_COLLECTOR_PERFDATA_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gus_cursor;
struct gus_error;
struct gus_perfdata_attr;
struct gus_perfdata_record;

/* What could not be read. */
struct gus_perfdata_damage {
	uint64_t bad;                   /* records whose size cannot be, or packed ones that cannot be unpacked */
	uint64_t last_bad;              /* offset of the last of them, ... */
	bool bad_packed;                /* ... which is a packed one */
	uint64_t behind_bad;            /* packed records that go on behind such: they are lost with it */
	uint64_t unfinished_records;    /* that began in a packed one and ended nowhere */
	uint64_t skipped;               /* bytes that were passed over behind such, up to the next record that fits */
	uint64_t cut;                   /* bytes at the end that are no whole record */
	bool ended_early;               /* the file ends before what its header says of it, if in no record's midst */
	bool features_cut;              /* and before its features do */
	bool unfinished;                /* its writer did not come to say how long the data are */
	bool too_much;                  /* packed ones unpack to more than they may: the rest was left */
};

struct gus_perfdata;

/* Whether these first bytes of a file (eight at least) are perf.data's. */
bool gus_perfdata_is(const void *bytes, size_t size);

/* What is open as fd, a regular file, from its beginning. The caller closes fd. NULL with GUS_E_CORRUPT,
 * GUS_E_TRUNCATED, or as the system says. The name is for messages. */
struct gus_perfdata *gus_perfdata_open(int fd, const char *name, struct gus_error *err);
void gus_perfdata_close(struct gus_perfdata *p);
/* Says that the file stands in a folder, beside which it is open: "data.0", "data.1", ... there are records as well,
 * each file of one thread of perf's, without a header (perf record --threads). The caller closes folder, behind p. */
void gus_perfdata_in_folder(struct gus_perfdata *p, int folder);

/* In the order of the file; of a pipe those that were met so far. Pointers live until the next call of _next. */
const struct gus_perfdata_attr *gus_perfdata_attr(const struct gus_perfdata *p, size_t i);
size_t gus_perfdata_attrs(const struct gus_perfdata *p);
/* Bytes of a feature (features.h), or none, of any number below GUS_PERFDATA_FEATURES; of a pipe if it was met so
 * far. */
struct gus_cursor gus_perfdata_feature(const struct gus_perfdata *p, unsigned feature);
bool gus_perfdata_is_big_endian(const struct gus_perfdata *p);
bool gus_perfdata_is_pipe(const struct gus_perfdata *p);
bool gus_perfdata_is_simpleperf(const struct gus_perfdata *p);

/* The next record. 1: here is one; 0: there is none left; -1: the file cannot be read, with err. Attributes and
 * features of a pipe are taken in before they are given. */
int gus_perfdata_next(struct gus_perfdata *p, struct gus_perfdata_record *record, struct gus_error *err);
/* Back to the first one. */
void gus_perfdata_rewind(struct gus_perfdata *p);
/* Some of what stands beside a record: up to size bytes at an offset of the file. Returns how many, or -1 with err. */
int64_t gus_perfdata_read(struct gus_perfdata *p, uint64_t offset, void *into, size_t size, struct gus_error *err);
const struct gus_perfdata_damage *gus_perfdata_damage(const struct gus_perfdata *p);

#endif
