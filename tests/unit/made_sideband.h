/* SPDX-License-Identifier: MIT */
/* Side band of recordings that are made: one record each. */
#ifndef GUS_TESTS_UNIT_MADE_SIDEBAND_H
#define GUS_TESTS_UNIT_MADE_SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/writer.h"
#include "tests/unit/made_mapping.h"

static inline bool made_record(struct gus_writer *w, Gusprof__Record *record)
{
	Gusprof__Sideband sideband = GUSPROF__SIDEBAND__INIT;

	sideband.n_records = 1;
	sideband.records = &record;
	return gus_writer_sideband(w, &sideband, NULL) == 0;
}

/* A file that is mapped from its beginning. */
static inline bool made_map(struct gus_writer *w, uint32_t pid, uint64_t time, uint64_t start, uint64_t length,
			    const char *path)
{
	const struct made_mapping m = { .time = time, .pid = pid, .start = start, .length = length, .path = path };
	struct made_mmap r;

	made_mmap(&r, &m);
	return made_record(w, &r.record);
}

#endif
