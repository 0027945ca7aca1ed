/* SPDX-License-Identifier: MIT */
#include "cli/stat/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/kinds.h"
#include "attribution/topdown/tree.h"
#include "cli/common/topdown.h"
#include "collector/events/event.h"
#include "collector/stat/stat_target.h"

void gus_stat_view_init(struct gus_stat_view *v, const struct gus_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		gus_vec_push(&v->lines, (struct gus_stat_line){ .event = &events->v[i] });
}

void gus_stat_view_free(struct gus_stat_view *v)
{
	for (size_t i = 0; i < v->lines.n; i++)
		gus_vec_free(&v->lines.v[i].values);
	gus_vec_free(&v->lines);
	gus_topdown_readings_free(&v->readings);
	gus_vec_free(&v->elapsed);
	gus_vec_free(&v->user);
	gus_vec_free(&v->system);
}

static bool is_known(const struct gus_stat_row *row)
{
	if (row->from_usage)
		return true;
	return row->state == GUS_TALLY_OPEN && (row->count.running_ns || !row->count.enabled_ns);
}

void gus_stat_view_add(struct gus_stat_view *v, const struct gus_stat_row *rows, uint64_t elapsed_ns)
{
	for (size_t i = 0; i < v->lines.n; i++) {
		struct gus_stat_line *l = &v->lines.v[i];
		bool first = v->runs == 0;

		l->known = (first || l->known) && is_known(&rows[i]);
		if (first || (l->row.state == GUS_TALLY_OPEN && rows[i].state != GUS_TALLY_OPEN)) {
			l->row.state = rows[i].state;
			l->row.reason = rows[i].reason;
		}
		l->row.from_usage |= rows[i].from_usage;
		l->row.count.value += rows[i].count.value;
		l->row.count.enabled_ns += rows[i].count.enabled_ns;
		l->row.count.running_ns += rows[i].count.running_ns;
		gus_vec_push(&l->values, gus_count_scaled(&rows[i].count));
	}
	gus_vec_push(&v->elapsed, (double)elapsed_ns);
	v->runs++;
}

static struct gus_topdown_count count_of(const struct gus_stat_row *row)
{
	return (struct gus_topdown_count){ (double)row->count.value, row->count.enabled_ns, row->count.running_ns,
					   row->state == GUS_TALLY_OPEN };
}

/* Which cores a task was on its events of each kind tell together; of whole CPUs each has its own. */
static void settle_kinds(const struct gus_stat_view *v, struct gus_topdown_count *counts)
{
	struct gus_vec(struct gus_topdown_kind_span) spans = { 0 };

	if (v->target && v->target->kind == GUS_STAT_CPUS)
		return;
	for (size_t i = 0; i < v->topdown->n; i++)
		gus_vec_push(&spans, (struct gus_topdown_kind_span){ v->topdown->v[i].first, v->topdown->v[i].n });
	gus_topdown_kinds_settle(counts, spans.v, spans.n);
	gus_vec_free(&spans);
}

void gus_stat_view_read(struct gus_stat_view *v, const struct gus_stat_row *rows, uint64_t at_ns)
{
	struct gus_topdown_count *counts = gus_alloc((v->lines.n + 1) * sizeof(*counts));

	for (size_t i = 0; i < v->lines.n; i++)
		counts[i] = count_of(&rows[i]);
	settle_kinds(v, counts);
	gus_topdown_readings_add(&v->readings, counts, v->lines.n, at_ns);
	free(counts);
}

void gus_stat_view_settle(struct gus_stat_view *v)
{
	for (size_t i = 0; i < v->lines.n; i++) {
		struct gus_summary *s = &v->lines.v[i].summary;

		*s = gus_series_summary(&v->lines.v[i].values);
		if (s->ci95.low < 0) /* no count is */
			s->ci95.low = 0;
	}
}

/* The counter of the same kind of cores, at the same levels of privilege. */
static const struct gus_stat_line *beside(const struct gus_stat_view *v, const struct gus_stat_line *line,
					  uint64_t config)
{
	const struct gus_event *e = line->event;

	for (size_t i = 0; i < v->lines.n; i++) {
		const struct gus_event *o = v->lines.v[i].event;

		if (o->type == e->type && (uint32_t)o->config == config && o->config >> 32 == e->config >> 32 &&
		    o->user == e->user && o->kernel == e->kernel && o->hv == e->hv && v->lines.v[i].known &&
		    v->lines.v[i].summary.mean > 0)
			return &v->lines.v[i];
	}
	return NULL;
}

static const struct gus_stat_line *clock_of(const struct gus_stat_view *v)
{
	for (size_t i = 0; i < v->lines.n; i++)
		if (gus_event_is_clock(v->lines.v[i].event) && v->lines.v[i].known && v->lines.v[i].summary.mean > 0)
			return &v->lines.v[i];
	return NULL;
}

/* Of one generic hardware event by another. */
static const struct ratio {
	const char *of, *by;   /* canonical names */
	struct gus_derived d;
	double scale;
} ratios[] = {
	{ "instructions", "cycles", { "ipc", "instructions a cycle", 0 }, 1 },
	{ "branch-misses", "branches", { "branch-miss-share", "% of branches", 0 }, 100 },
	{ "cache-misses", "cache-references", { "cache-miss-share", "% of cache references", 0 }, 100 },
	{ "stalled-cycles-frontend", "cycles", { "frontend-stall-share", "% of cycles", 0 }, 100 },
	{ "stalled-cycles-backend", "cycles", { "backend-stall-share", "% of cycles", 0 }, 100 },
};

static bool is_generic(const struct gus_event *e, const char *name)
{
	const char *slash = strchr(e->base, '/');
	size_t n = strlen(name);

	if (slash) /* PMU/NAME/, of one kind of cores */
		return strncmp(slash + 1, name, n) == 0 && strcmp(slash + 1 + n, "/") == 0;
	return strcmp(e->base, name) == 0;
}

static bool derive_ratio(const struct gus_stat_view *v, const struct gus_stat_line *line, struct gus_derived *d)
{
	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		if (!is_generic(line->event, ratios[i].of))
			continue;
		for (size_t k = 0; k < v->lines.n; k++) {
			const struct gus_stat_line *other;

			if (!is_generic(v->lines.v[k].event, ratios[i].by))
				continue;
			other = beside(v, line, (uint32_t)v->lines.v[k].event->config);
			if (!other)
				continue;
			*d = ratios[i].d;
			d->value = ratios[i].scale * line->summary.mean / other->summary.mean;
			return true;
		}
	}
	return false;
}

bool gus_stat_derive(const struct gus_stat_view *v, const struct gus_stat_line *line, struct gus_derived *d)
{
	const struct gus_stat_line *clock = clock_of(v);
	double elapsed = gus_series_summary(&v->elapsed).mean;

	if (!line->known || gus_stat_is_topdown(v, line))
		return false;
	if (gus_event_is_clock(line->event)) {
		*d = (struct gus_derived){ "cpus", "CPUs", elapsed > 0 ? line->summary.mean / elapsed : 0 };
		return elapsed > 0;
	}
	if (derive_ratio(v, line, d))
		return true;
	if (!clock)
		return false;
	if (strcmp(line->event->unit, "cycles") == 0)
		*d = (struct gus_derived){ "frequency", "GHz", line->summary.mean / clock->summary.mean };
	else
		*d = (struct gus_derived){ "rate", "a second", line->summary.mean / clock->summary.mean * 1e9 };
	return true;
}

bool gus_stat_is_topdown(const struct gus_stat_view *v, const struct gus_stat_line *line)
{
	size_t i = (size_t)(line - v->lines.v);

	for (size_t k = 0; k < v->topdown->n; k++)
		if (i >= v->topdown->v[k].first && i - v->topdown->v[k].first < v->topdown->v[k].n)
			return true;
	return false;
}

bool gus_stat_topdown(const struct gus_stat_view *v, const struct gus_topdown_counted *counted,
		      struct gus_topdown_tree *tree)
{
	struct gus_topdown_count *counts = gus_alloc((v->lines.n + 1) * sizeof(*counts));
	bool known = false;

	for (size_t i = 0; i < v->lines.n; i++)
		counts[i] = count_of(&v->lines.v[i].row);
	settle_kinds(v, counts);
	gus_topdown_readings_tree(&v->readings, counted->table, counted->level, counts, counted->first, v->lines.n,
		tree);
	free(counts);
	for (size_t i = 0; i < counted->table->nodes.n; i++)
		known |= tree->shares[i].known;
	if (!known)
		gus_topdown_tree_free(tree);
	return known;
}

const char *gus_stat_evidence(const struct gus_stat_line *l)
{
	if (!l->known)
		return "unknown";
	return l->row.count.running_ns < l->row.count.enabled_ns ? "inferred" : "observed";
}

const char *gus_stat_reason(const struct gus_stat_line *l)
{
	if (l->row.from_usage)
		return "from getrusage: of processes that were waited for, the end of each included";
	switch (l->row.state) {
	case GUS_TALLY_OPEN:
		return l->known ? NULL : "not counted: there was no counter free for it";
	case GUS_TALLY_ABSENT:
		return l->row.reason == EINVAL ? "not supported: the kernel refuses this event here" :
		       "not supported: this machine, or the hypervisor under it, has no such event";
	case GUS_TALLY_REFUSED:
		return "refused: this user may not count it";
	case GUS_TALLY_BLIND:
		return "not counted: it happens in the kernel, which is left out";
	case GUS_TALLY_GONE:
		return "not counted: the task had ended";
	}
	return NULL;
}
