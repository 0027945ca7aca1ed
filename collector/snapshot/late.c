/* SPDX-License-Identifier: MIT */
#include "collector/snapshot/late.h"

#include <stdlib.h>

#define PAGE GUS_SNAPSHOT_PAGE
/* Around the stack pointer: below it is what functions are about to be called for, above it who has called. */
#define BELOW (64ull << 10)
#define ABOVE (256ull << 10)

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_address(const void *a, const void *b)
{
	const struct gus_snapshot_run *x = a, *y = b;

	return order(x->address, y->address);
}

static int by_size(const void *a, const void *b)
{
	const struct gus_snapshot_run *x = a, *y = b;
	int size = order(x->size, y->size);

	return size ? size : by_address(a, b);
}

void gus_late_sort(struct gus_snapshot_run *runs, size_t n)
{
	if (n)
		qsort(runs, n, sizeof(*runs), by_address);
}

uint64_t gus_late_left(uint64_t most)
{
	return most + BELOW + ABOVE;
}

static void push_part(struct gus_late *to, uint64_t from, uint64_t until)
{
	if (from < until)
		gus_vec_push(&to->runs, (struct gus_snapshot_run){ from, until - from, 0 });
}

/* What of the runs is around the stack pointer goes to near, the rest to far. */
static void part_runs(const struct gus_snapshot *s, uint64_t stack_pointer, struct gus_late *near,
		      struct gus_late *far)
{
	uint64_t page = stack_pointer / PAGE * PAGE;
	uint64_t low = page > BELOW ? page - BELOW : 0;
	uint64_t high = page < UINT64_MAX - ABOVE ? page + ABOVE : UINT64_MAX;

	for (size_t i = 0; i < s->runs.n; i++) {
		uint64_t from = s->runs.v[i].address, until = from + s->runs.v[i].size;
		uint64_t in = from > low ? from : low, out = until < high ? until : high;

		if (in >= out) {
			push_part(far, from, until);
			continue;
		}
		push_part(far, from, in);
		push_part(near, in, out);
		push_part(far, out, until);
	}
}

static uint64_t size_of(const struct gus_late *l)
{
	uint64_t size = 0;

	for (size_t i = 0; i < l->runs.n; i++)
		size += l->runs.v[i].size;
	return size;
}

/* As gus_memory_list would have listed them. */
static void set_runs(struct gus_snapshot *s, const struct gus_late *l)
{
	s->runs.n = 0;
	s->about->bytes = 0;
	for (size_t i = 0; i < l->runs.n; i++) {
		struct gus_snapshot_run run = l->runs.v[i];

		run.at = (size_t)s->about->bytes;
		s->about->bytes += run.size;
		gus_vec_push(&s->runs, run);
	}
}

void gus_late_put_off(struct gus_snapshot *s, uint64_t stack_pointer, uint64_t most, struct gus_late *late)
{
	struct gus_late near = { 0 }, far = { 0 };
	uint64_t taken;
	size_t n = 0;

	*late = (struct gus_late){ 0 };
	if (s->about->bytes <= most)
		return;
	part_runs(s, stack_pointer, &near, &far);
	taken = size_of(&near);
	if (far.runs.n)
		qsort(far.runs.v, far.runs.n, sizeof(*far.runs.v), by_size);
	for (; n < far.runs.n && taken + far.runs.v[n].size <= most; n++) {
		taken += far.runs.v[n].size;
		gus_vec_push(&near.runs, far.runs.v[n]);
	}
	gus_vec_append(&late->runs, far.runs.v + n, far.runs.n - n);
	gus_late_sort(late->runs.v, late->runs.n);
	gus_late_sort(near.runs.v, near.runs.n);
	set_runs(s, &near);
	gus_vec_free(&near.runs);
	gus_vec_free(&far.runs);
}
