/* SPDX-License-Identifier: MIT */
/* Records of mappings that are made. */
#ifndef GUS_TESTS_UNIT_MADE_MAPPING_H
#define GUS_TESTS_UNIT_MADE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "proto/gusprof.pb-c.h"

struct made_mapping {
	uint64_t time;
	uint32_t pid;
	uint64_t start, length, offset;
	const char *path;
	const char *build_id; /* text stands in for bytes */
	uint64_t inode;
	bool kernel, shared;
};

/* The record points into this, and borrows path and build id. */
struct made_mmap {
	Gusprof__Record record;
	Gusprof__Mmap mmap;
};

static inline const Gusprof__Record *made_mmap(struct made_mmap *r, const struct made_mapping *m)
{
	static const Gusprof__Record record = GUSPROF__RECORD__INIT;
	static const Gusprof__Mmap mmap = GUSPROF__MMAP__INIT;

	r->record = record;
	r->mmap = mmap;
	r->mmap.time = m->time;
	r->mmap.pid = r->mmap.tid = m->pid;
	r->mmap.kernel = m->kernel;
	r->mmap.start = m->start;
	r->mmap.length = m->length;
	r->mmap.offset = m->offset;
	r->mmap.path = (char *)(uintptr_t)m->path;
	r->mmap.inode = m->inode;
	r->mmap.flags = m->shared ? 1 : 2; /* MAP_SHARED, MAP_PRIVATE */
	if (m->build_id) {
		r->mmap.build_id.data = (uint8_t *)(uintptr_t)m->build_id;
		r->mmap.build_id.len = strlen(m->build_id);
	}
	r->record.kind_case = GUSPROF__RECORD__KIND_MMAP;
	r->record.mmap = &r->mmap;
	return &r->record;
}

#endif
