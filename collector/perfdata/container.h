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

#include "base/alloc.h"
#include "base/cursor.h"

struct gus_error;

/* perf_event_attr as far as anybody here asks it; what a shorter one does not have is 0. */
struct gus_perfdata_attr {
	uint32_t type, size;
	uint64_t config, config1, config2, config3, config4;
	uint64_t period;                /* or samples a second, if `frequency` */
	uint64_t sample_type, read_format, branch_type, regs_user, regs_intr;
	uint32_t stack_user;
	uint32_t clockid;
	uint64_t flags;                 /* from `disabled` in bit 0 on, in either byte order */
	struct gus_vec(uint64_t) ids;
};
enum { /* bits of flags */
	GUS_PERFDATA_INHERIT = 1, GUS_PERFDATA_EXCLUDE_USER = 4, GUS_PERFDATA_EXCLUDE_KERNEL = 5,
	GUS_PERFDATA_EXCLUDE_HV = 6, GUS_PERFDATA_FREQUENCY = 10, GUS_PERFDATA_PRECISE = 15, /* two bits */
	GUS_PERFDATA_ID_ALL = 18, GUS_PERFDATA_EXCLUDE_HOST = 19, GUS_PERFDATA_EXCLUDE_GUEST = 20,
	GUS_PERFDATA_EXCLUDE_USER_CHAIN = 22, GUS_PERFDATA_USE_CLOCKID = 25,
};

/* Numbers of features, as perf has them. */
enum gus_perfdata_feature {
	GUS_PERFDATA_TRACING_DATA = 1, GUS_PERFDATA_BUILD_IDS, GUS_PERFDATA_HOSTNAME, GUS_PERFDATA_RELEASE,
		GUS_PERFDATA_VERSION,
	GUS_PERFDATA_ARCH, GUS_PERFDATA_CPUS, GUS_PERFDATA_CPU_TEXT, GUS_PERFDATA_CPUID, GUS_PERFDATA_MEMORY,
	GUS_PERFDATA_COMMAND,
	GUS_PERFDATA_EVENT_NAMES, GUS_PERFDATA_BRANCHES = 15, GUS_PERFDATA_PMUS = 16, GUS_PERFDATA_GROUPS = 17,
	GUS_PERFDATA_AUXTRACE_INDEX = 18, GUS_PERFDATA_STAT = 19, GUS_PERFDATA_CACHES = 20,
		GUS_PERFDATA_SAMPLE_TIME = 21,
		GUS_PERFDATA_CLOCKID = 23, GUS_PERFDATA_DIRECTORY = 24,
	GUS_PERFDATA_COMPRESSED = 27, GUS_PERFDATA_CLOCK_DATA = 29,
	GUS_PERFDATA_SIMPLEPERF = 129, /* of simpleperf: pairs of texts */
	GUS_PERFDATA_FEATURES = 256,
};

/* Types of records that perf adds to the kernel's. */
enum {
	GUS_PERFDATA_ATTR = 64, GUS_PERFDATA_EVENT_TYPE = 65, GUS_PERFDATA_TRACING = 66, GUS_PERFDATA_BUILD_ID = 67,
		GUS_PERFDATA_ROUND = 68,
	GUS_PERFDATA_ID_INDEX = 69, GUS_PERFDATA_AUXTRACE_INFO = 70, GUS_PERFDATA_AUXTRACE = 71,
	GUS_PERFDATA_COUNT = 76, /* of perf stat */
	GUS_PERFDATA_EVENT_UPDATE = 78, GUS_PERFDATA_TIME_CONV = 79, GUS_PERFDATA_FEATURE = 80,
		GUS_PERFDATA_PACKED = 81, GUS_PERFDATA_PACKED2 = 83,
};

struct gus_perfdata_record {
	uint32_t type;
	uint16_t misc;
	const uint8_t *bytes;           /* with its header; live until the next call */
	size_t size;
	uint64_t offset;                /* in the file; of one that was packed, of what it was packed in */
	uint64_t beside, beside_size;   /* what stands behind an AUXTRACE and counts to it: offset in the file, bytes */
};

/* What could not be read. */
struct gus_perfdata_damage {
	uint64_t bad;                   /* records whose size cannot be, or packed ones that cannot be unpacked */
	uint64_t first_bad;             /* offset of the first */
	uint64_t skipped;               /* bytes that were passed over behind such, up to the next record that fits */
	uint64_t cut;                   /* bytes at the end that are no whole record */
	bool ended_early;               /* the file ends before what its header says of it, if in no record's midst */
	bool features_cut;              /* and before its features do */
	bool unfinished;                /* its writer did not come to say how long the data are */
	bool too_much;                  /* packed records unpack to more than they may: the rest was left */
};

struct gus_perfdata;

/* Whether these first bytes of a file (eight at least) are perf.data's. */
bool gus_perfdata_is(const void *bytes, size_t size);

/* What is open as fd, from where it stands. stream: it cannot be read again (a pipe). The caller closes fd. NULL with
 * GUS_E_CORRUPT, GUS_E_TRUNCATED, or as the system says. The name is for messages. */
struct gus_perfdata *gus_perfdata_open(int fd, bool stream, const char *name, struct gus_error *err);
void gus_perfdata_close(struct gus_perfdata *p);
/* Says that the file stands in a folder, beside which it is open: "data.0", "data.1", ... there are records as well,
 * each file of one thread of perf's, without a header (perf record --threads). The caller closes folder, behind p. */
void gus_perfdata_in_folder(struct gus_perfdata *p, int folder);

/* In the order of the file; of a pipe those that were met so far. Pointers live until the next call of _next. */
const struct gus_perfdata_attr *gus_perfdata_attr(const struct gus_perfdata *p, size_t i);
size_t gus_perfdata_attrs(const struct gus_perfdata *p);
/* Bytes of a feature, or none, of any number below GUS_PERFDATA_FEATURES; of a pipe if it was met so far. */
struct gus_cursor gus_perfdata_feature(const struct gus_perfdata *p, enum gus_perfdata_feature feature);
bool gus_perfdata_is_big_endian(const struct gus_perfdata *p);
bool gus_perfdata_is_pipe(const struct gus_perfdata *p);
bool gus_perfdata_is_simpleperf(const struct gus_perfdata *p);

/* The next record. 1: here is one; 0: there is none left; -1: the file cannot be read, with err. Attributes and
 * features of a pipe are taken in before they are given. */
int gus_perfdata_next(struct gus_perfdata *p, struct gus_perfdata_record *record, struct gus_error *err);
/* Back to the first one; not of a stream. */
void gus_perfdata_rewind(struct gus_perfdata *p);
/* Some of what stands beside a record: up to size bytes at an offset of the file, of a stream before the next call of
 * _next. Returns how many, or -1 with err. */
int64_t gus_perfdata_read(struct gus_perfdata *p, uint64_t offset, void *into, size_t size, struct gus_error *err);
const struct gus_perfdata_damage *gus_perfdata_damage(const struct gus_perfdata *p);

#endif
