/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/readings.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/tree.h"

enum { READINGS_MOST = 1024 };  /* even; that many tell a spread to 3 % */

/* Adds up readings two by two: of an even number half are left. */
static void halve(struct gus_topdown_readings *r, size_t events)
{
	for (size_t k = 0; k < r->n / 2; k++)
		for (size_t i = 0; i < events; i++) {
			const struct gus_topdown_count *a = &r->counts.v[2 * k * events + i], *b = a + events;

			r->counts.v[k * events + i] = (struct gus_topdown_count){
				a->value + b->value, a->enabled_ns + b->enabled_ns, a->running_ns + b->running_ns,
				a->known && b->known };
		}
	r->n /= 2;
	r->counts.n /= 2;
}

void gus_topdown_readings_add(struct gus_topdown_readings *r, const struct gus_topdown_count *counts, size_t events)
{
	if (r->n == READINGS_MOST)
		halve(r, events);
	gus_vec_append(&r->counts, counts, events);
	r->n++;
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
