/* SPDX-License-Identifier: MIT */
#include "attribution/profile/order.h"

#include <stdlib.h>

#include "attribution/profile/frames.h"
#include "base/alloc.h"
#include "proto/sample.h"

/* What a batch is of; at equal times in this order. */
enum what { RECORDS, SAMPLES, SWITCHES };

/* A batch of which some rows are still to come. */
struct waiting {
	enum what what;
	struct gus_columns rows;
	Gusprof__Sideband *records; /* in place of rows */
	size_t n;               /* rows */
	uint32_t *sorted;       /* numbers of rows by time; NULL: they stand so */
	size_t at;              /* the next of them */
	uint64_t time;          /* of that one */
	uint64_t number;        /* of the batch in the file */
	size_t bytes;
};

struct order {
	struct gus_reader *reader;
	const struct gus_order_sink *sink;
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

static uint64_t time_of_record(const Gusprof__Record *r)
{
	switch (r->kind_case) {
	case GUSPROF__RECORD__KIND_MMAP:
		return r->mmap->time;
	case GUSPROF__RECORD__KIND_COMM:
		return r->comm->time;
	case GUSPROF__RECORD__KIND_FORK:
	case GUSPROF__RECORD__KIND_EXIT:
		return r->fork->time; /* the members of the oneof are pointers to the same place */
	case GUSPROF__RECORD__KIND_KSYMBOL:
		return r->ksymbol->time;
	case GUSPROF__RECORD__KIND_LOST:
		return r->lost->time;
	case GUSPROF__RECORD__KIND_THROTTLE:
		return r->throttle->time;
	case GUSPROF__RECORD__KIND_MARK:
		return r->mark->time;
	case GUSPROF__RECORD__KIND_KEPT:
		return r->kept->time;
	default:
		return 0;
	}
}

/* Those of a frame that are wanted, the others removed; NULL: it is no side band. */
static Gusprof__Sideband *records_of(const struct order *o, const struct gus_frame *frame)
{
	ProtobufCMessage *m = gus_frame_message(frame, &gusprof__sideband__descriptor, NULL);
	Gusprof__Sideband *s = (Gusprof__Sideband *)m;
	size_t kept = 0;

	for (size_t i = 0; s && i < s->n_records; i++) {
		if (s->records[i]->kind_case < 32 && o->sink->kinds >> s->records[i]->kind_case & 1)
			s->records[kept++] = s->records[i];
		else
			gusprof__record__free_unpacked(s->records[i], NULL);
	}
	if (s)
		s->n_records = kept;
	return s;
}

/* One without a time does not hold up the others. */
static uint64_t first_of_records(const struct order *o, const struct gus_frame *frame)
{
	Gusprof__Sideband *s = records_of(o, frame);
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; s && i < s->n_records; i++) {
		uint64_t time = time_of_record(s->records[i]);

		first = time && time < first ? time : first;
	}
	gusprof__sideband__free_unpacked(s, NULL);
	return first;
}

static void note_first(void *context, const struct gus_frame *frame)
{
	struct order *o = context;
	uint64_t first = UINT64_MAX;

	if (frame->type == GUS_FRAME_SIDEBAND)
		first = first_of_records(o, frame);
	else if (gus_frame_rows(frame, &o->batch, NULL) == 0)
		for (size_t i = 0; i < o->batch.n; i++)
			first = time_of(&o->batch, i) < first ? time_of(&o->batch, i) : first;
	gus_vec_push(&o->first, first);
}

/* Second pass: a heap of batches, by the time of the next row of each. */

static bool before(const struct waiting *a, const struct waiting *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if ((a->what == RECORDS) != (b->what == RECORDS))
		return a->what == RECORDS;
	return a->number < b->number;
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

static uint64_t time_at(const struct waiting *w, size_t row)
{
	return w->what == RECORDS ? time_of_record(w->records->records[row]) : time_of(&w->rows, row);
}

static void free_waiting(struct waiting *w)
{
	gus_columns_free(&w->rows);
	gusprof__sideband__free_unpacked(w->records, NULL);
	free(w->sorted);
	free(w);
}

static void tell(const struct order *o, const struct waiting *w)
{
	if (w->what == RECORDS) {
		o->sink->record(o->sink->context, w->records->records[row_of(w)]);
	} else if (w->what == SWITCHES) {
		struct gus_switch sw = gus_columns_switch(&w->rows, row_of(w));

		o->sink->sw(o->sink->context, &sw);
	} else {
		struct gus_sample s = gus_columns_sample(&w->rows, row_of(w));

		o->sink->sample(o->sink->context, &s);
	}
}

static void take_earliest(struct order *o)
{
	struct waiting *w = o->heap.v[0];

	o->late += w->time < o->last && (w->time || w->what != RECORDS);
	o->last = w->time > o->last ? w->time : o->last;
	tell(o, w);
	if (++w->at < w->n) {
		w->time = time_at(w, row_of(w));
	} else {
		o->bytes -= w->bytes;
		o->heap.v[0] = o->heap.v[--o->heap.n];
		free_waiting(w);
	}
	sink(o);
}

static int by_time(const void *a, const void *b, void *context)
{
	const struct waiting *w = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t s = time_at(w, x), t = time_at(w, y);

	return s != t ? (s < t ? -1 : 1) : x < y ? -1 : x > y;
}

/* Several events of one CPU may swap neighbours. */
static void sort(struct waiting *w)
{
	size_t i = 1;

	while (i < w->n && time_at(w, i - 1) <= time_at(w, i))
		i++;
	if (i >= w->n)
		return;
	w->sorted = gus_resize(NULL, w->n, sizeof(*w->sorted));
	for (i = 0; i < w->n; i++)
		w->sorted[i] = (uint32_t)i;
	qsort_r(w->sorted, w->n, sizeof(*w->sorted), by_time, w);
}

static size_t bytes_of(const struct waiting *w, const struct gus_frame *frame)
{
	size_t n = sizeof(*w) + (w->records ? frame->size + w->n * (sizeof(Gusprof__Record) + sizeof(Gusprof__Mmap)) :
				 0) +
		w->rows.chain.room * sizeof(uint64_t) + w->rows.chain_end.room * sizeof(uint64_t) +
		w->rows.branch.room * sizeof(struct gus_branch) + w->rows.branch_end.room * sizeof(uint64_t) +
		(w->rows.regs.room + w->rows.regs_end.room) * sizeof(uint64_t) +
		(w->rows.stack.room + w->rows.stack_end.room) * sizeof(uint64_t) +
		(w->rows.extras.room + w->rows.extras_end.room) * sizeof(uint64_t);

	for (size_t i = 0; i < GUS_COL_COUNT; i++)
		n += w->rows.column[i].room * sizeof(uint64_t);
	return n + (w->sorted ? w->n * sizeof(*w->sorted) : 0);
}

/* What the frame has, or nothing. */
static struct waiting *batch_of(struct order *o, const struct gus_frame *frame)
{
	struct waiting *w = gus_zalloc(sizeof(*w));
	bool bad;

	w->number = o->batches;
	w->what = frame->type == GUS_FRAME_SIDEBAND ? RECORDS : frame->type == GUS_FRAME_SWITCHES ? SWITCHES : SAMPLES;
	if (w->what == RECORDS) {
		w->records = records_of(o, frame);
		w->n = w->records ? w->records->n_records : 0;
		bad = !w->records;
	} else {
		bad = gus_frame_rows(frame, &w->rows, NULL) != 0;
		w->n = bad ? 0 : w->rows.n;
	}
	if (bad)
		gus_reader_bad_payload(o->reader, frame);
	if (w->n && w->what == SAMPLES && o->sink->ready)
		o->sink->ready(o->sink->context, &w->rows);
	return w;
}

/* Whether nothing comes before the earliest that waits, if what comes begins with `next`: side band of the same time
 * does. */
static bool is_due(const struct order *o, uint64_t next)
{
	uint64_t time = o->heap.v[0]->time;

	return time < next || (time == next && !o->sink->record);
}

static void take_batch(void *context, const struct gus_frame *frame)
{
	struct order *o = context;
	uint64_t next = ++o->batches < o->first.n ? o->first.v[o->batches] : UINT64_MAX;
	struct waiting *w = batch_of(o, frame);

	if (w->n) {
		sort(w);
		w->time = time_at(w, row_of(w));
		w->bytes = bytes_of(w, frame);
		o->bytes += w->bytes;
		gus_vec_push(&o->heap, w);
		rise(o);
	} else {
		free_waiting(w);
	}
	while (o->heap.n && (is_due(o, next) || o->bytes > o->most))
		take_earliest(o);
}

int gus_order_each(struct gus_reader *reader, size_t most, const struct gus_order_sink *sink, uint64_t *late,
		   struct gus_error *err)
{
	const uint32_t types = 1u << GUS_FRAME_SAMPLES | (sink->sw ? 1u << GUS_FRAME_SWITCHES : 0) |
		(sink->record ? 1u << GUS_FRAME_SIDEBAND : 0);
	struct order o = { .reader = reader, .most = most, .sink = sink };
	int rc = gus_frames_each(reader, types, note_first, &o, err);

	for (size_t i = o.first.n; i > 1; i--)
		if (o.first.v[i - 1] < o.first.v[i - 2])
			o.first.v[i - 2] = o.first.v[i - 1];
	if (rc == 0)
		rc = gus_frames_each(reader, types, take_batch, &o, err);
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
