/* SPDX-License-Identifier: MIT */
#include "proto/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cursor.h"
#include "base/error.h"
#include "proto/container.h"
#include "proto/reader.h"
#include "proto/varint.h"

void gus_snapshot_free(struct gus_snapshot *s)
{
	if (s->about)
		gusprof__snapshot__free_unpacked(s->about, NULL);
	gus_vec_free(&s->runs);
	if (s->mapped)
		munmap(s->bytes, s->mapped);
	else
		free(s->bytes);
	*s = (struct gus_snapshot){ 0 };
}

/* Rules. */

static int bad(struct gus_error *err, const Gusprof__Snapshot *about, const char *what)
{
	return gus_fail(err, GUS_E_CORRUPT, "the snapshot of thread %u is corrupt: %s", about->tid, what);
}

static bool is_page(uint64_t v)
{
	return v % GUS_SNAPSHOT_PAGE == 0;
}

static const struct machine { const char *name; size_t registers, state_min, state_max; } machines[] = {
	{ GUS_SNAPSHOT_X86_64, GUS_SNAPSHOT_REGISTERS, GUS_SNAPSHOT_STATE_MIN, GUS_SNAPSHOT_STATE_MAX },
	{ GUS_SNAPSHOT_ARM64, GUS_SNAPSHOT_REGISTERS_ARM64, GUS_SNAPSHOT_STATE_ARM64, GUS_SNAPSHOT_STATE_ARM64 },
};

static const struct machine *machine_of(const Gusprof__Snapshot *a)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (strcmp(a->machine, machines[i].name) == 0)
			return &machines[i];
	return NULL;
}

static int check_machine(const Gusprof__Snapshot *a, struct gus_error *err)
{
	const struct machine *m = machine_of(a);

	if (!m)
		return gus_fail(err, GUS_E_UNSUPPORTED,
				"the snapshot of thread %u is of a machine '%s', and only those of x86_64 and aarch64 "
				"are understood", a->tid, a->machine);
	if (a->registers.len != m->registers)
		return bad(err, a, "its registers have another size than its machine has");
	if (a->state.len < m->state_min || a->state.len > m->state_max)
		return bad(err, a, "its vector state has a size that its machine does not have");
	return 0;
}

static int check_about(const Gusprof__Snapshot *a, struct gus_error *err)
{
	uint64_t end = 0;

	if (check_machine(a, err) != 0)
		return -1;
	if (a->bytes > GUS_SNAPSHOT_BYTES_MAX || !is_page(a->bytes) || a->page_size != GUS_SNAPSHOT_PAGE)
		return bad(err, a, "it says that it has more bytes than a snapshot may hold, or no whole pages");
	if (a->n_mappings > GUS_SNAPSHOT_MAPPINGS_MAX)
		return bad(err, a, "it has more mappings than a process can have");
	for (size_t i = 0; i < a->n_mappings; i++) {
		const Gusprof__SnapshotMapping *m = a->mappings[i];

		if (m->start < end || !m->length || !is_page(m->start) || !is_page(m->length) || !is_page(m->offset) ||
		    m->start > GUS_SNAPSHOT_ADDRESS_MAX || m->length > GUS_SNAPSHOT_ADDRESS_MAX - m->start)
			return bad(err, a, "its mappings overlap, are out of range or not of whole pages");
		if (m->from_file && *m->path != '/')
			return bad(err, a, "a mapping is of a file that has no path");
		end = m->start + m->length;
	}
	return 0;
}

/* Whether all of a run lies in mappings; *m is where the one before ended, as both ascend. */
static bool is_mapped(const Gusprof__Snapshot *a, size_t *m, uint64_t address, uint64_t size)
{
	uint64_t end = address + size;

	while (address < end) {
		while (*m < a->n_mappings && a->mappings[*m]->start + a->mappings[*m]->length <= address)
			(*m)++;
		if (*m == a->n_mappings || a->mappings[*m]->start > address)
			return false;
		address = a->mappings[*m]->start + a->mappings[*m]->length;
	}
	return true;
}

static int check_runs(const struct gus_snapshot *s, struct gus_error *err)
{
	const Gusprof__Snapshot *a = s->about;
	uint64_t end = 0, bytes = 0, room = s->mapped ? s->mapped : a->bytes;
	size_t mapping = 0;

	for (size_t i = 0; i < s->runs.n; i++) {
		const struct gus_snapshot_run *run = &s->runs.v[i];

		if (run->address < end || !run->size || !is_page(run->address) || !is_page(run->size) ||
		    run->address > GUS_SNAPSHOT_ADDRESS_MAX || run->size > GUS_SNAPSHOT_ADDRESS_MAX - run->address)
			return bad(err, a, "its pages overlap, or are out of range");
		if (run->size > a->bytes - bytes || run->size > room || run->at > room - run->size)
			return bad(err, a, "it has more pages than it says");
		if (!is_mapped(a, &mapping, run->address, run->size))
			return bad(err, a, "it has pages where nothing is mapped");
		end = run->address + run->size;
		bytes += run->size;
	}
	return bytes == a->bytes ? 0 : bad(err, a, "it has fewer pages than it says");
}

int gus_snapshot_check(const struct gus_snapshot *s, struct gus_error *err)
{
	return check_about(s->about, err) == 0 ? check_runs(s, err) : -1;
}

/* Frames. */

/* Runs of a frame: their heads come first, then all of their pages. Bounded by what the frame really has. */
static int add_pages(struct gus_snapshot *s, struct gus_bytes *bytes, const struct gus_frame *frame,
		     struct gus_error *err)
{
	struct gus_cursor c = gus_cursor(frame->payload, frame->size);
	uint64_t n = gus_cursor_varint(&c), end = 0;
	size_t at = bytes->n, first = s->runs.n;
	const uint8_t *pages;

	if (c.bad || !n || n > frame->size / GUS_SNAPSHOT_PAGE)
		return bad(err, s->about, "a frame has more pages than bytes");
	while (n--) {
		uint64_t gap = gus_cursor_varint(&c), pages_n = gus_cursor_varint(&c);

		if (c.bad || !pages_n || pages_n > GUS_FRAME_RAW_MAX / GUS_SNAPSHOT_PAGE ||
		    gap > (GUS_SNAPSHOT_ADDRESS_MAX - end) / GUS_SNAPSHOT_PAGE)
			return bad(err, s->about, "its pages are out of range");
		end += gap * GUS_SNAPSHOT_PAGE;
		gus_vec_push(&s->runs, (struct gus_snapshot_run){ end, pages_n * GUS_SNAPSHOT_PAGE, at });
		at += pages_n * GUS_SNAPSHOT_PAGE;
		end += pages_n * GUS_SNAPSHOT_PAGE;
	}
	pages = gus_cursor_take(&c, at - bytes->n);
	if (!pages || gus_cursor_left(&c))
		return bad(err, s->about, "a frame's pages do not fill it");
	if (at > s->about->bytes ||
	    (first && s->runs.v[first].address < s->runs.v[first - 1].address + s->runs.v[first - 1].size))
		return bad(err, s->about, "it has more pages than it says, or they overlap");
	gus_vec_append(bytes, pages, at - bytes->n);
	return 0;
}

/* Pieces of one run, which frames have cut, are one again. */
static void join_runs(struct gus_snapshot *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->runs.n; i++) {
		struct gus_snapshot_run *last = kept ? &s->runs.v[kept - 1] : NULL;

		if (last && last->address + last->size == s->runs.v[i].address)
			last->size += s->runs.v[i].size;
		else
			s->runs.v[kept++] = s->runs.v[i];
	}
	s->runs.n = kept;
}

static int take_about(struct gus_snapshot *s, const struct gus_frame *frame, struct gus_error *err)
{
	s->about = (Gusprof__Snapshot *)gus_frame_message(frame, &gusprof__snapshot__descriptor, err);
	return s->about ? check_about(s->about, err) : -1;
}

/* The next frame of a snapshot: 1, 0 at the end, -1. */
static int next_frame(struct gus_reader *r, struct gus_frame *frame, struct gus_error *err)
{
	enum gus_read got = gus_reader_next_of(r, 1u << GUS_FRAME_SNAPSHOT | 1u << GUS_FRAME_SNAPSHOT_PAGES, frame,
					       err);

	return got == GUS_READ_FRAME ? 1 : got == GUS_READ_END ? 0 : -1;
}

static int read_pages(struct gus_reader *r, struct gus_snapshot *s, struct gus_error *err)
{
	struct gus_bytes bytes = { 0 };
	struct gus_frame frame;
	int rc = 0;

	while (rc == 0 && bytes.n < s->about->bytes) {
		int got = next_frame(r, &frame, err);

		if (got < 0)
			rc = -1;
		else if (!got || frame.type != GUS_FRAME_SNAPSHOT_PAGES)
			rc = bad(err, s->about, "it has fewer pages than it says");
		else
			rc = add_pages(s, &bytes, &frame, err);
	}
	s->bytes = bytes.v;
	join_runs(s);
	return rc == 0 ? gus_snapshot_check(s, err) : -1;
}

int gus_snapshot_read(struct gus_reader *r, struct gus_snapshot *s, struct gus_error *err)
{
	struct gus_frame frame;
	int got = next_frame(r, &frame, err);

	*s = (struct gus_snapshot){ 0 };
	if (got <= 0)
		return got;
	if (frame.type != GUS_FRAME_SNAPSHOT)
		return gus_fail(err, GUS_E_CORRUPT, "the recording is corrupt at offset %llu: pages without a snapshot",
				(unsigned long long)frame.offset);
	if (take_about(s, &frame, err) == 0 && read_pages(r, s, err) == 0)
		return 1;
	gus_snapshot_free(s);
	return -1;
}
