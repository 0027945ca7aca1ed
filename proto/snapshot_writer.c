/* SPDX-License-Identifier: MIT */
#include "proto/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "proto/container.h"
#include "proto/varint.h"
#include "proto/writer.h"

#define FRAME_BYTES (2u << 20)  /* of pages: compressed and checked by itself */

struct frame {
	struct gus_bytes heads, pages, payload;
	uint64_t runs, end;
};

static int write_frame(struct gus_writer *w, struct frame *f, struct gus_error *err)
{
	if (!f->runs)
		return 0;
	f->payload.n = 0;
	gus_bytes_varint(&f->payload, f->runs);
	gus_vec_append(&f->payload, f->heads.v, f->heads.n);
	gus_vec_append(&f->payload, f->pages.v, f->pages.n);
	f->heads.n = f->pages.n = 0;
	f->runs = f->end = 0;
	return gus_writer_payload(w, GUS_FRAME_SNAPSHOT_PAGES, &f->payload, err);
}

/* A run may be cut where a frame is full: its rest is the next frame's first. */
static int add_run(struct gus_writer *w, struct frame *f, const struct gus_snapshot *s,
		   const struct gus_snapshot_run *run, struct gus_error *err)
{
	for (uint64_t done = 0; done < run->size;) {
		uint64_t part = run->size - done, room = FRAME_BYTES - f->pages.n;

		if (part > room)
			part = room;
		gus_bytes_varint(&f->heads, (run->address + done - f->end) / GUS_SNAPSHOT_PAGE);
		gus_bytes_varint(&f->heads, part / GUS_SNAPSHOT_PAGE);
		gus_vec_append(&f->pages, s->bytes + run->at + done, part);
		done += part;
		f->end = run->address + done;
		f->runs++;
		if (f->pages.n == FRAME_BYTES && write_frame(w, f, err) != 0)
			return -1;
	}
	return 0;
}

int gus_snapshot_write(struct gus_writer *w, const struct gus_snapshot *s, struct gus_error *err)
{
	struct frame f = { 0 };
	int rc = gus_snapshot_check(s, err);

	if (rc == 0)
		rc = gus_writer_message(w, GUS_FRAME_SNAPSHOT, &s->about->base, err);
	for (size_t i = 0; rc == 0 && i < s->runs.n; i++)
		rc = add_run(w, &f, s, &s->runs.v[i], err);
	if (rc == 0)
		rc = write_frame(w, &f, err);
	gus_vec_free(&f.heads);
	gus_vec_free(&f.pages);
	gus_vec_free(&f.payload);
	return rc;
}
