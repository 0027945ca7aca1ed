/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/look.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "proto/trace.h"

static void take_mapping(struct golden_look *l, const Gusprof__Record *record)
{
	const Gusprof__Mmap *mmap = record->mmap;
	struct golden_mapping m = { 0 };

	if (record->kind_case != GUSPROF__RECORD__KIND_MMAP || !mmap->path)
		return;
	m = (struct golden_mapping){ .start = mmap->start, .length = mmap->length, .offset = mmap->offset,
		.path = gus_strdup(mmap->path) };
	if (mmap->build_id.len && mmap->build_id.len <= sizeof(m.build_id)) {
		m.build_id_n = mmap->build_id.len;
		memcpy(m.build_id, mmap->build_id.data, m.build_id_n);
	}
	gus_vec_push(&l->mappings, m);
}

int golden_look_at(const char *path, struct golden_look *l, struct gus_error *err)
{
	struct gus_trace *trace = gus_trace_open(path, err);
	const Gusprof__Record *const *records;
	struct gus_trace_step step;
	size_t n;
	int rc = 1;

	*l = (struct golden_look){ .instructions = 0 };
	if (!trace)
		return -1;
	while ((rc = gus_trace_next(trace, &step, err)) > 0)
		l->instructions += gus_trace_block(trace, step.block).insns;
	records = gus_trace_records(trace, &n);
	for (size_t i = 0; i < n; i++)
		take_mapping(l, records[i]);
	gus_trace_close(trace);
	return rc == 0 && !l->instructions ?
		gus_fail(err, GUS_E_USAGE, "there is nothing to run: %s has no instruction", path) : rc;
}

void golden_look_free(struct golden_look *l)
{
	for (size_t i = 0; i < l->mappings.n; i++)
		free((void *)(uintptr_t)l->mappings.v[i].path);
	gus_vec_free(&l->mappings);
}
