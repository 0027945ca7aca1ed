/* SPDX-License-Identifier: MIT */
/* Counts that are read beside the samples, again and again, until they are written as a frame of the recording. */
#ifndef GUS_CLI_RECORD_READINGS_H
#define GUS_CLI_RECORD_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "proto/gusprof.pb-c.h"

struct gus_count;

struct gus_record_readings {
	struct gus_vec(Gusprof__CountReading *) list; /* owned; as a message has them */
	uint64_t before;                /* when the last one was, 0: there was none */
};

/* Whether it is time for another one: housekeeping comes also when a ring is full. last: of a file. */
bool gus_record_readings_due(const struct gus_record_readings *r, uint64_t time, bool last);
/* What n events have counted since the reading before. */
void gus_record_readings_add(struct gus_record_readings *r, uint64_t time, const struct gus_count *counts, size_t n);
/* As many as a frame has: about a second's, which is what a recorder that is killed loses. */
bool gus_record_readings_full(const struct gus_record_readings *r);
/* They are written, or not wanted any more. */
void gus_record_readings_drop(struct gus_record_readings *r);
void gus_record_readings_free(struct gus_record_readings *r);

#endif
