/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/readings.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/tree.h"
#include "base/limits.h"

enum { READINGS_MOST = 1024 };  /* even; that many tell a spread to 3 % */

static struct gus_topdown_count sum_of(const struct gus_topdown_count *a, const struct gus_topdown_count *b)
{
	return (struct gus_topdown_count){
		a->value + b->value, gus_saturated(a->enabled_ns, b->enabled_ns),
		gus_saturated(a->running_ns, b->running_ns), a->known && b->known,
	};
}

/* Adds up readings two by two: of an even number half are left. */
static void halve(struct gus_topdown_readings *r, size_t events)
{
	for (size_t k = 0; k < r->n / 2; k++) {
		for (size_t i = 0; i < events; i++) {
			const struct gus_topdown_count *a = &r->counts.v[2 * k * events + i];

			r->counts.v[k * events + i] = sum_of(a, a + events);
		}
		r->ends.v[k] = r->ends.v[2 * k + 1];
	}
	r->n /= 2;
	r->counts.n /= 2;
	r->ends.n /= 2;
}

void gus_topdown_readings_add(struct gus_topdown_readings *r, const struct gus_topdown_count *counts, size_t events,
			      uint64_t end_ns)
{
	uint64_t last = r->n ? r->ends.v[r->n - 1] : 0;

	if (r->n == READINGS_MOST)
		halve(r, events);
	gus_vec_append(&r->counts, counts, events);
	gus_vec_push(&r->ends, end_ns > last ? end_ns : last);
	r->n++;
}

void gus_topdown_readings_free(struct gus_topdown_readings *r)
{
	gus_vec_free(&r->counts);
	gus_vec_free(&r->ends);
	*r = (struct gus_topdown_readings){ 0 };
}

/* In which of so many parts of the time from start to end the middle of a reading is. */
static size_t part_of(uint64_t from, uint64_t to, uint64_t start, uint64_t end, size_t parts)
{
	double middle = ((double)(from - start) + (double)(to - start)) / 2;
	size_t part = end > start ? (size_t)(middle / (double)(end - start) * (double)parts) : 0;

	return part < parts ? part : parts - 1;
}

size_t gus_topdown_readings_cut(const struct gus_topdown_readings *r, uint64_t start_ns, size_t most,
				struct gus_topdown_stretch *stretches)
{
	uint64_t end = r->n ? r->ends.v[r->n - 1] : 0, from = r->n && start_ns > r->ends.v[0] ? r->ends.v[0] : start_ns;
	const uint64_t start = from;
	size_t n = 0, last = SIZE_MAX;

	for (size_t k = 0; k < r->n; k++) {
		uint64_t to = r->ends.v[k];
		size_t part = part_of(from, to, start, end, most);

		if (part != last)
			stretches[n++] = (struct gus_topdown_stretch){ .from_ns = from, .first = k };
		last = part;
		stretches[n - 1].to_ns = from = to;
		stretches[n - 1].n++;
	}
	return n;
}

void gus_topdown_readings_tree(const struct gus_topdown_readings *r, const struct gus_topdown *table, unsigned level,
			       const struct gus_topdown_count *total, size_t first, size_t events,
			       struct gus_topdown_tree *tree)
{
	uint32_t *list = gus_alloc((table->events.n + 1) * sizeof(*list));
	size_t n = gus_topdown_events(table, level, list);
	struct gus_topdown_count *own = gus_alloc((r->n * n + 1) * sizeof(*own));

	for (size_t k = 0; k < r->n; k++)
		memcpy(&own[k * n], &r->counts.v[k * events + first], n * sizeof(*own));
	gus_topdown_evaluate(tree, table, level, &total[first], own, r->n);
	free(own);
	free(list);
}

void gus_topdown_readings_part(const struct gus_topdown_readings *r, const struct gus_topdown_stretch *stretch,
			       const struct gus_topdown *table, unsigned level, size_t first, size_t events,
			       struct gus_topdown_tree *tree)
{
	const struct gus_topdown_readings part = {
		.counts = { .v = &r->counts.v[stretch->first * events], .n = stretch->n * events }, .n = stretch->n,
	};
	struct gus_topdown_count *total = gus_zalloc((events + 1) * sizeof(*total));

	for (size_t i = 0; i < events; i++) {
		total[i].known = true;
		for (size_t k = 0; k < part.n; k++)
			total[i] = sum_of(&total[i], &part.counts.v[k * events + i]);
	}
	gus_topdown_readings_tree(&part, table, level, total, first, events, tree);
	free(total);
}
