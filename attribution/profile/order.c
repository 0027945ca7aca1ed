/* SPDX-License-Identifier: MIT */
#include "attribution/profile/order.h"

#include <stdlib.h>

#include "attribution/profile/frames.h"
#include "base/alloc.h"
#include "proto/sample.h"

/* A batch of which some rows are still to come. */
struct waiting {
	struct gus_columns rows;
	uint32_t *sorted;       /* numbers of rows by time; NULL: they stand so */
	size_t at;              /* the next of them */
	uint64_t time;          /* of that one */
	uint64_t number;        /* of the batch in the file */
	size_t bytes;
};

struct order {
	struct gus_reader *reader;
	void (*take)(void *context, const struct gus_sample *sample);
	void *context;
	struct gus_vec(uint64_t) first; /* from batch i on nothing is earlier than this */
	struct gus_vec(struct waiting *) heap; /* the earliest on top */
	struct gus_columns batch;
	uint64_t batches, last, late;
	size_t bytes, most;     /* of all that wait; at most */
};

/* First pass. */

static uint64_t time_of(const struct gus_columns *c, size_t row)
{
	return c->column[GUS_COL_TIME].v[row];
}

static void note_first(void *context, const struct gus_frame *frame)
{
	struct order *o = context;
	uint64_t first = UINT64_MAX;

	if (gus_columns_decode(&o->batch, frame->payload, frame->size, NULL) == 0)
		for (size_t i = 0; i < o->batch.n; i++)
			first = time_of(&o->batch, i) < first ? time_of(&o->batch, i) : first;
	gus_vec_push(&o->first, first);
}

/* Second pass: a heap of batches, by the time of the next row of each. */

static bool before(const struct waiting *a, const struct waiting *b)
{
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void sink(struct order *o)
{
	struct waiting **v = o->heap.v;
	size_t i = 0, child;

	while ((child = 2 * i + 1) < o->heap.n) {
		struct waiting *w = v[i];

		child += child + 1 < o->heap.n && before(v[child + 1], v[child]);
		if (!before(v[child], w))
			break;
		v[i] = v[child];
		v[child] = w;
		i = child;
	}
}

static void rise(struct order *o)
{
	struct waiting **v = o->heap.v;

	for (size_t i = o->heap.n - 1; i && before(v[i], v[(i - 1) / 2]); i = (i - 1) / 2) {
		struct waiting *w = v[i];

		v[i] = v[(i - 1) / 2];
		v[(i - 1) / 2] = w;
	}
}

static size_t row_of(const struct waiting *w)
{
	return w->sorted ? w->sorted[w->at] : w->at;
}

static void free_waiting(struct waiting *w)
{
	gus_columns_free(&w->rows);
	free(w->sorted);
	free(w);
}

static void take_earliest(struct order *o)
{
	struct waiting *w = o->heap.v[0];
	struct gus_sample s = gus_columns_sample(&w->rows, row_of(w));

	o->late += s.time < o->last;
	o->last = s.time > o->last ? s.time : o->last;
	o->take(o->context, &s);
	if (++w->at < w->rows.n) {
		w->time = time_of(&w->rows, row_of(w));
	} else {
		o->bytes -= w->bytes;
		o->heap.v[0] = o->heap.v[--o->heap.n];
		free_waiting(w);
	}
	sink(o);
}

static int by_time(const void *a, const void *b, void *context)
{
	const struct gus_columns *rows = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t s = time_of(rows, x), t = time_of(rows, y);

	return s != t ? (s < t ? -1 : 1) : x < y ? -1 : x > y;
}

/* Several events of one CPU may swap neighbours. */
static void sort(struct waiting *w)
{
	size_t i = 1;

	while (i < w->rows.n && time_of(&w->rows, i - 1) <= time_of(&w->rows, i))
		i++;
	if (i >= w->rows.n)
		return;
	w->sorted = gus_resize(NULL, w->rows.n, sizeof(*w->sorted));
	for (i = 0; i < w->rows.n; i++)
		w->sorted[i] = (uint32_t)i;
	qsort_r(w->sorted, w->rows.n, sizeof(*w->sorted), by_time, &w->rows);
}

static size_t bytes_of(const struct waiting *w)
{
	size_t n = sizeof(*w) + w->rows.chain.room * sizeof(uint64_t) + w->rows.chain_end.room * sizeof(uint64_t) +
		w->rows.branch.room * sizeof(struct gus_branch) + w->rows.branch_end.room * sizeof(uint64_t) +
		(w->rows.regs.room + w->rows.regs_end.room) * sizeof(uint64_t) +
		(w->rows.stack.room + w->rows.stack_end.room) * sizeof(uint64_t);

	for (size_t i = 0; i < GUS_COL_COUNT; i++)
		n += w->rows.column[i].room * sizeof(uint64_t);
	return n + (w->sorted ? w->rows.n * sizeof(*w->sorted) : 0);
}

static void take_batch(void *context, const struct gus_frame *frame)
{
	struct order *o = context;
	struct waiting *w = gus_zalloc(sizeof(*w));
	uint64_t next = ++o->batches < o->first.n ? o->first.v[o->batches] : UINT64_MAX;

	if (gus_columns_decode(&w->rows, frame->payload, frame->size, NULL) != 0) {
		gus_reader_bad_payload(o->reader, frame);
		w->rows.n = 0;
	}
	if (w->rows.n) {
		sort(w);
		w->number = o->batches;
		w->time = time_of(&w->rows, row_of(w));
		w->bytes = bytes_of(w);
		o->bytes += w->bytes;
		gus_vec_push(&o->heap, w);
		rise(o);
	} else {
		free_waiting(w);
	}
	while (o->heap.n && (o->heap.v[0]->time <= next || o->bytes > o->most))
		take_earliest(o);
}

int gus_order_each(struct gus_reader *reader, size_t most, void (*take)(void *context, const struct gus_sample *sample),
		   void *context, uint64_t *late, struct gus_error *err)
{
	struct order o = { .reader = reader, .most = most, .take = take, .context = context };
	int rc = gus_frames_each(reader, 1u << GUS_FRAME_SAMPLES, note_first, &o, err);

	for (size_t i = o.first.n; i > 1; i--)
		if (o.first.v[i - 1] < o.first.v[i - 2])
			o.first.v[i - 2] = o.first.v[i - 1];
	if (rc == 0)
		rc = gus_frames_each(reader, 1u << GUS_FRAME_SAMPLES, take_batch, &o, err);
	while (rc == 0 && o.heap.n)
		take_earliest(&o);
	for (size_t i = 0; i < o.heap.n; i++)
		free_waiting(o.heap.v[i]);
	gus_vec_free(&o.heap);
	gus_vec_free(&o.first);
	gus_columns_free(&o.batch);
	*late = o.late;
	return rc;
}
