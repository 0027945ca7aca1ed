/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/join.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/common/recording.h"
#include "proto/reader.h"
#include "proto/sample.h"
#include "proto/varint.h"
#include "proto/writer.h"

struct joining {
	struct gus_writer *to;
	const struct gus_reader *from;
	uint32_t events;                /* those of the recordings before */
	bool first, window;
	struct gus_columns rows, renamed;
};

/* Events are numbered through all recordings. */
static int take_samples(struct joining *j, const struct gus_frame *frame, struct gus_error *err)
{
	if (gus_frame_rows(frame, &j->rows, err) != 0)
		return -1;
	gus_columns_clear(&j->renamed);
	for (size_t i = 0; i < j->rows.n; i++) {
		struct gus_sample s = gus_columns_sample(&j->rows, i);

		s.event += j->events;
		gus_columns_push(&j->renamed, &s);
	}
	return gus_writer_samples(j->to, &j->renamed, err);
}

static bool is_wanted(const struct joining *j, uint32_t type)
{
	if (type == GUS_FRAME_HEADER || type == GUS_FRAME_INDEX || type == GUS_FRAME_FOOTER)
		return false;
	return j->window || j->first;
}

static int take_frame(struct joining *j, const struct gus_frame *frame, struct gus_error *err)
{
	struct gus_bytes payload = { 0 };
	int rc;

	if (frame->type == GUS_FRAME_SAMPLES)
		return take_samples(j, frame, err);
	if (!is_wanted(j, frame->type))
		return 0;
	gus_vec_append(&payload, frame->payload, frame->size);
	rc = gus_writer_payload(j->to, frame->type, &payload, err);
	gus_vec_free(&payload);
	return rc;
}

static int take_all(struct joining *j, struct gus_reader *reader, struct gus_error *err)
{
	struct gus_frame frame;

	for (;;)
		switch (gus_reader_next_of(reader, UINT32_MAX, &frame, err)) {
		case GUS_READ_FRAME:
			if (take_frame(j, &frame, err) != 0)
				return -1;
			break;
		case GUS_READ_END:
			return 0;
		default: /* nothing that was written just now is damaged */
			return -1;
		}
}

/* All recordings' events, in the header of the first. */
static struct gus_writer *begin(const char *path, struct gus_reader *const *readers, size_t n, struct gus_error *err)
{
	Gusprof__Header header = *gus_reader_header(readers[0]);
	struct gus_vec(Gusprof__Event *) events = { 0 };
	struct gus_writer *w;

	for (size_t i = 0; i < n; i++) {
		const Gusprof__Header *h = gus_reader_header(readers[i]);

		gus_vec_append(&events, h->events, h->n_events);
	}
	header.events = events.v;
	header.n_events = events.n;
	unlink(path); /* a writer would keep what was there */
	w = gus_writer_create(path, &header, err);
	gus_vec_free(&events);
	return w;
}

static int take_windows(struct joining *j, const char *const *windows, size_t n, struct gus_error *err)
{
	int rc = 0;

	j->window = true;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct gus_reader *reader = gus_reader_open(windows[i], err);

		rc = reader ? take_all(j, reader, err) : -1;
		gus_reader_close(reader);
	}
	return rc;
}

static int take_recordings(struct joining *j, struct gus_reader *const *readers, size_t n, struct gus_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		j->first = !i;
		rc = take_all(j, readers[i], err);
		j->events += (uint32_t)gus_reader_header(readers[i])->n_events;
	}
	return rc;
}

int golden_join(const char *path, const char *const *recordings, size_t recordings_n, const char *const *windows,
		size_t windows_n, struct gus_error *err)
{
	struct gus_reader **readers = gus_zalloc((recordings_n + 1) * sizeof(*readers));
	Gusprof__Footer footer = GUSPROF__FOOTER__INIT;
	struct joining j = { .events = 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < recordings_n; i++)
		rc = (readers[i] = gus_recording_open(recordings[i], err)) ? 0 : -1;
	if (rc == 0)
		rc = (j.to = begin(path, readers, recordings_n, err)) ? 0 : -1;
	if (rc == 0)
		rc = take_recordings(&j, readers, recordings_n, err);
	if (rc == 0)
		rc = take_windows(&j, windows, windows_n, err);
	if (rc == 0)
		rc = gus_writer_finish(j.to, &footer, err);
	else if (j.to)
		gus_writer_abandon(j.to);
	for (size_t i = 0; i < recordings_n; i++)
		gus_reader_close(readers[i]);
	free(readers);
	gus_columns_free(&j.rows);
	gus_columns_free(&j.renamed);
	return rc;
}
