/* SPDX-License-Identifier: MIT */
#include "cli/stat/memory.h"

#include <stdlib.h>

#include "cli/common/uarch_load.h"

static void describe(struct gus_traffic *t, const struct gus_uncore *u)
{
	t->title = gus_format("%s, %s, %zu counters", u->family->title, u->family->pmu, u->counters.n);
	for (size_t i = 0; i < u->counters.n; i++)
		gus_traffic_add_counter(t, u->events.v[i].name, u->counters.v[i].row->direction,
					u->counters.v[i].socket, u->counters.v[i].bytes);
}

int gus_stat_memory_open(struct gus_stat_memory *m, struct gus_pmus *pmus, struct gus_error *err)
{
	if (gus_uncore_find(&m->uncore, gus_uarch_host_cpu(), pmus, err) != 0 || gus_uncore_open(&m->uncore, err) != 0)
		return -1;
	describe(&m->whole, &m->uncore);
	gus_traffic_copy(&m->part, &m->whole);
	m->since = gus_zalloc(m->uncore.counters.n * sizeof(*m->since));
	m->counts = gus_zalloc(m->uncore.counters.n * sizeof(*m->counts));
	return 0;
}

void gus_stat_memory_start(struct gus_stat_memory *m)
{
	gus_uncore_enable(&m->uncore);
}

void gus_stat_memory_read(struct gus_stat_memory *m, uint64_t at)
{
	gus_uncore_read(&m->uncore, m->since);
	for (size_t i = 0; i < m->uncore.counters.n; i++)
		m->counts[i] = (struct gus_traffic_count){ m->since[i].value, m->since[i].enabled_ns,
							    m->since[i].running_ns };
	gus_traffic_add(&m->whole, m->counts, at);
	gus_traffic_add(&m->part, m->counts, at);
}

void gus_stat_memory_next(struct gus_stat_memory *m)
{
	gus_traffic_free(&m->part);
	gus_traffic_copy(&m->part, &m->whole);
}

void gus_stat_memory_free(struct gus_stat_memory *m)
{
	gus_uncore_free(&m->uncore);
	gus_traffic_free(&m->whole);
	gus_traffic_free(&m->part);
	free(m->since);
	free(m->counts);
}
