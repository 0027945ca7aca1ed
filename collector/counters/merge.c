/* SPDX-License-Identifier: MIT */
/* A heap of the rings that have something left, by the time of the record that is next in each. */
#include "collector/counters/merge.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "collector/counters/ring.h"

/* A ring and what is next in it. */
struct next {
	size_t ring, size;
	uint64_t head, time;    /* what the ring has until, and when the record was written */
	const void *record;
};

static bool look(const struct gus_merge *m, struct gus_ring *rings, struct next *next, uint64_t until)
{
	next->record = gus_ring_peek(&rings[next->ring], next->head, &next->size);
	if (!next->record)
		return false;
	next->time = m->time(next->record, next->size, m->context);
	return next->time <= until;
}

/* Equal times in the order of the rings, so that the same records always come in the same order. */
static bool is_before(const struct next *a, const struct next *b)
{
	return a->time != b->time ? a->time < b->time : a->ring < b->ring;
}

/* The first one may have moved back. */
static void sink(struct next *heap, size_t n)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;
		struct next moved = heap[at];

		if (child + 1 < n && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= n || !is_before(&heap[child], &moved))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static void rise(struct next *heap, size_t at)
{
	while (at && is_before(&heap[at], &heap[(at - 1) / 2])) {
		struct next moved = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = moved;
		at = (at - 1) / 2;
	}
}

void gus_merge_rings(const struct gus_merge *m, struct gus_ring *rings, size_t n, uint64_t until)
{
	struct next *heap = gus_resize(NULL, n, sizeof(*heap));
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		heap[left] = (struct next){ .ring = i, .head = gus_ring_head(&rings[i]) };
		if (look(m, rings, &heap[left], until))
			rise(heap, left++);
	}
	while (left) {
		struct next *first = &heap[0];

		m->take(first->ring, first->record, first->size, m->context);
		gus_ring_pass(&rings[first->ring], first->size);
		if (!look(m, rings, first, until))
			*first = heap[--left];
		sink(heap, left);
	}
	free(heap);
}
