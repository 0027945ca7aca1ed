/* SPDX-License-Identifier: MIT */
/* Side band of recordings that are made: one record each. */
#ifndef GUS_TESTS_UNIT_MADE_SIDEBAND_H
#define GUS_TESTS_UNIT_MADE_SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/writer.h"

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
	Gusprof__Record record = GUSPROF__RECORD__INIT;
	Gusprof__Mmap map = GUSPROF__MMAP__INIT;

	map.pid = map.tid = pid;
	map.time = time;
	map.start = start;
	map.length = length;
	map.path = (char *)(uintptr_t)path;
	record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	record.mmap = &map;
	return made_record(w, &record);
}

#endif
