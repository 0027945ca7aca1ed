/* SPDX-License-Identifier: MIT */
#include "tests/unit/made_snapshot.h"

#include <sys/mman.h>

#include "base/alloc.h"

#define PAGE GUS_SNAPSHOT_PAGE

struct gus_snapshot made_snapshot(uint32_t tid)
{
	struct gus_snapshot s = { .about = gus_alloc(sizeof(*s.about)) };
	Gusprof__Snapshot *a = s.about;

	gusprof__snapshot__init(a);
	a->pid = a->tid = tid;
	a->machine = gus_strdup("x86_64");
	a->page_size = PAGE;
	a->registers.data = gus_zalloc(a->registers.len = GUS_SNAPSHOT_REGISTERS);
	a->state.data = gus_zalloc(a->state.len = GUS_SNAPSHOT_STATE_MIN);
	return s;
}

void made_snapshot_map(struct gus_snapshot *s, uint64_t start, uint64_t pages, const char *path)
{
	Gusprof__SnapshotMapping *m = gus_alloc(sizeof(*m));
	Gusprof__Snapshot *a = s->about;

	gusprof__snapshot_mapping__init(m);
	m->start = start;
	m->length = pages * PAGE;
	m->path = gus_strdup(path);
	m->protection = PROT_READ | PROT_WRITE;
	m->from_file = *path == '/';
	a->mappings = gus_resize(a->mappings, a->n_mappings + 1, sizeof(*a->mappings));
	a->mappings[a->n_mappings++] = m;
}

void made_snapshot_run(struct gus_snapshot *s, uint64_t address, uint64_t pages)
{
	size_t at = (size_t)s->about->bytes;

	s->bytes = gus_resize(s->bytes, at + pages * PAGE, 1);
	for (size_t i = 0; i < pages * PAGE; i++)
		s->bytes[at + i] = (uint8_t)((address + i) * 2654435761u >> 13);
	gus_vec_push(&s->runs, (struct gus_snapshot_run){ address, pages * PAGE, at });
	s->about->bytes += pages * PAGE;
}
