/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/builtin.h"
#include "attribution/topdown/cpu.h"
#include "base/limits.h"

enum { KINDS_MOST = 16, EVENTS_MOST = 128 };

/* Whether the table has these events, in this order. */
static bool has_events(const struct gus_topdown *t, const Gusprof__SlotsKind *kind)
{
	uint32_t *list = gus_alloc((t->events.n + 1) * sizeof(*list));
	size_t n = gus_topdown_events(t, kind->level, list);
	bool same = n == kind->n_events;

	for (size_t i = 0; same && i < n; i++)
		same = strcmp(t->events.v[list[i]].name, kind->events[i]) == 0;
	free(list);
	return same;
}

/* The table for those cores of that machine, or NULL. That the kernel names an event does not matter any more. */
static struct gus_topdown *table_of(const Gusprof__SlotsKind *kind, const struct gus_cpu_id *cpu)
{
	const struct gus_topdown_pmu pmu = { kind->pmu, NULL, 0, kind->slots_per_cycle };
	const struct gus_topdown_host host = { .cpu = cpu, .smt = kind->smt, .watchdog = kind->watchdog, .pmus = &pmu,
					       .pmus_n = 1 };
	struct gus_topdown_tables tables = { 0 };
	struct gus_topdown *found = NULL;

	gus_topdown_find(&tables, &host, NULL);
	for (size_t i = 0; i < tables.n && !found; i++)
		if (strcmp(tables.v[i]->name, kind->table) == 0 && has_events(tables.v[i], kind)) {
			found = tables.v[i];
			tables.v[i] = NULL;
		}
	gus_topdown_tables_free(&tables);
	return found;
}

/* More than EVENTS_MOST, if it has. */
static size_t events_of_kinds(const Gusprof__Slots *m)
{
	size_t events = 0;

	for (size_t i = 0; i < m->n_kinds; i++)
		events += m->kinds[i]->n_events <= EVENTS_MOST ? m->kinds[i]->n_events : EVENTS_MOST + 1;
	return events;
}

static void add_kinds(struct gus_topdown_recorded *r, const Gusprof__Slots *m, const Gusprof__Header *header)
{
	struct gus_cpu_id cpu = header && header->host ? gus_topdown_cpu(header->host) : (struct gus_cpu_id){ 0 };

	r->tasks = header && strcmp(header->target, "system") != 0;
	r->start_ns = header && header->clock ? header->clock->start_ns : 0;
	for (size_t i = 0; i < m->n_kinds; i++) {
		const Gusprof__SlotsKind *kind = m->kinds[i];
		const struct gus_topdown_kind_span span = { r->events, kind->n_events };

		gus_vec_push(&r->kinds, (struct gus_topdown_kind){ gus_strdup(kind->title), gus_strdup(kind->pmu),
			table_of(kind, &cpu), kind->level, span });
		gus_vec_push(&r->spans, span);
		r->events += kind->n_events;
	}
	for (size_t i = 0; i < r->events; i++)
		gus_vec_push(&r->total, (struct gus_topdown_count){ .known = true });
}

static void add_reading(struct gus_topdown_recorded *r, const Gusprof__CountReading *reading)
{
	struct gus_topdown_count counts[EVENTS_MOST];

	for (size_t i = 0; i < r->events; i++)
		counts[i] = (struct gus_topdown_count){ (double)reading->count[i], reading->enabled_ns[i],
							reading->running_ns[i], true };
	if (r->tasks)
		gus_topdown_kinds_settle(counts, r->spans.v, r->spans.n);
	for (size_t i = 0; i < r->events; i++) {
		struct gus_topdown_count *total = &r->total.v[i];

		total->value += counts[i].value;
		total->enabled_ns = gus_saturated(total->enabled_ns, counts[i].enabled_ns);
		total->running_ns = gus_saturated(total->running_ns, counts[i].running_ns);
	}
	gus_topdown_readings_add(&r->readings, counts, r->events, reading->time);
}

bool gus_topdown_recorded_add(struct gus_topdown_recorded *r, const Gusprof__Slots *m,
			      const Gusprof__Header *header)
{
	size_t events = m->n_kinds ? events_of_kinds(m) : r->events;

	if (m->n_kinds && (r->kinds.n || m->n_kinds > KINDS_MOST || events > EVENTS_MOST))
		return false;
	for (size_t i = 0; i < m->n_readings; i++)
		if (!events || m->readings[i]->n_count != events || m->readings[i]->n_enabled_ns != events ||
		    m->readings[i]->n_running_ns != events)
			return false;
	if (m->n_kinds)
		add_kinds(r, m, header);
	for (size_t i = 0; i < m->n_readings; i++)
		add_reading(r, m->readings[i]);
	return true;
}

void gus_topdown_recorded_tree(const struct gus_topdown_recorded *r, const struct gus_topdown_kind *kind,
			       struct gus_topdown_tree *tree)
{
	gus_topdown_readings_tree(&r->readings, kind->table, kind->level, r->total.v, kind->span.first, r->events,
				  tree);
}

void gus_topdown_recorded_part(const struct gus_topdown_recorded *r, const struct gus_topdown_kind *kind,
			       const struct gus_topdown_stretch *stretch, struct gus_topdown_tree *tree)
{
	gus_topdown_readings_part(&r->readings, stretch, kind->table, kind->level, kind->span.first, r->events, tree);
}

void gus_topdown_recorded_free(struct gus_topdown_recorded *r)
{
	for (size_t i = 0; i < r->kinds.n; i++) {
		free(r->kinds.v[i].title);
		free(r->kinds.v[i].pmu);
		gus_topdown_free(r->kinds.v[i].table);
	}
	gus_vec_free(&r->kinds);
	gus_vec_free(&r->spans);
	gus_topdown_readings_free(&r->readings);
	gus_vec_free(&r->total);
	*r = (struct gus_topdown_recorded){ 0 };
}
