/* SPDX-License-Identifier: MIT */
#include "cli/record/readings.h"

#include <stdlib.h>

#include "collector/counters/tally.h"

enum { A_FRAME = 10, LEAST_NS = 50000000 };

bool gus_record_readings_due(const struct gus_record_readings *r, uint64_t time, bool last)
{
	return last || time - r->before >= LEAST_NS;
}

/* Its lists stand behind it in one piece of memory. */
void gus_record_readings_add(struct gus_record_readings *r, uint64_t time, const struct gus_count *counts, size_t n)
{
	Gusprof__CountReading *m = gus_alloc(sizeof(*m) + 3 * n * sizeof(uint64_t));
	uint64_t *numbers = (uint64_t *)(m + 1);

	gusprof__count_reading__init(m);
	m->time = time;
	m->n_count = m->n_enabled_ns = m->n_running_ns = n;
	m->count = numbers;
	m->enabled_ns = numbers + n;
	m->running_ns = numbers + 2 * n;
	for (size_t i = 0; i < n; i++) {
		m->count[i] = counts[i].value;
		m->enabled_ns[i] = counts[i].enabled_ns;
		m->running_ns[i] = counts[i].running_ns;
	}
	gus_vec_push(&r->list, m);
	r->before = time;
}

bool gus_record_readings_full(const struct gus_record_readings *r)
{
	return r->list.n >= A_FRAME;
}

void gus_record_readings_drop(struct gus_record_readings *r)
{
	for (size_t i = 0; i < r->list.n; i++)
		free(r->list.v[i]);
	r->list.n = 0;
}

void gus_record_readings_free(struct gus_record_readings *r)
{
	gus_record_readings_drop(r);
	gus_vec_free(&r->list);
}
