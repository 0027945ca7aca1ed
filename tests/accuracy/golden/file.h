/* SPDX-License-Identifier: MIT */
/* A perf.data file that grows, with one event: its records are appended to `bytes`, and what stands around them is
 * written here. No more is kept of it than what comes between two rounds.
 *
 *	header | id | attribute | records ... | where each feature is | features
 *
 * Source: linux, tools/perf/Documentation/perf.data-file-format.txt. */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_FILE_H
#define GUS_TESTS_ACCURACY_GOLDEN_FILE_H

#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "collector/perfdata/attr.h"
#include "collector/records/records.h"
#include "proto/gusprof.pb-c.h"
#include "proto/varint.h"

struct golden_claim;

struct golden_file_section { uint64_t offset, size; };

struct golden_file {
	int fd;
	char *path;
	const struct golden_claim *machine;
	struct gus_bytes bytes;         /* records that are not written yet */
	uint64_t written;
	struct golden_file_section attrs, data;
	struct gus_records_layout layout;
	struct gus_error failure;       /* the first one; nothing is written behind it */
	uint64_t first_ns, last_ns;     /* of samples; 0: none yet */
	/* The records that something stands behind which counts to them: where, and how large without it. */
	struct gus_vec(struct golden_file_section) beside;
	/* As collector/perfdata/declare.h takes it. */
	Gusprof__Header header;
	Gusprof__Host host;
	Gusprof__Clock clock;
	Gusprof__Event event, *events[1];
	char *comm, *command[1];
	struct gus_perfdata_attr attr;
};

/* period: of the event. NULL with err. */
struct golden_file *golden_file_open(const char *path, const struct golden_claim *machine, const char *comm,
				     uint64_t period, struct gus_error *err);
/* Appends a record that is no sample: words, and behind them whose it is. */
void golden_file_put(struct golden_file *f, uint32_t type, uint16_t misc, const uint64_t *words, unsigned n,
		     uint32_t pid, uint32_t tid, uint64_t time);
/* Appends AUXTRACE and its bytes, a multiple of eight; offset: in the buffer that they are from. */
void golden_file_put_beside(struct golden_file *f, uint64_t offset, uint32_t tid, const struct gus_bytes *bytes);
/* Writes what is there if that is enough for a round. -1 with err if anything could not be written. */
int golden_file_go_on(struct golden_file *f, struct gus_error *err);
/* Ends it and frees f, also on failure. */
int golden_file_finish(struct golden_file *f, struct gus_error *err);

#endif
