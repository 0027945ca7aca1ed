/* SPDX-License-Identifier: MIT */
/* The counts of `gusprof stat` as CSV: a header line always, the same columns whatever was asked for. */
#include <stdlib.h>

#include "attribution/topdown/tree.h"
#include "attribution/traffic/traffic.h"
#include "base/alloc.h"
#include "cli/bandwidth/bandwidth.h"
#include "cli/common/csv.h"
#include "cli/common/topdown.h"
#include "cli/slots/slots.h"
#include "cli/stat/view.h"
#include "collector/events/event.h"

void gus_stat_csv_header(FILE *out, const char *separator)
{
	static const char *const columns[] = {
		"part", "from_ns", "to_ns", "event", "unit", "count", "evidence", "running", "enabled_ns", "running_ns",
			"runs", "ci95_low", "ci95_high", "min", "max", "derived", "derived_unit", "reason",
	};
	struct gus_csv csv = { out, separator, false };

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		gus_csv_text(&csv, columns[i]);
	gus_csv_end(&csv);
}

static void print_line(struct gus_csv *c, const struct gus_stat_view *v, const struct gus_stat_line *l)
{
	const struct gus_summary *m = &l->summary;
	int digits = v->runs > 1 ? 3 : 0;
	struct gus_derived d = { 0 };
	bool several = l->known && v->runs > 1, derived = gus_stat_derive(v, l, &d);

	gus_csv_text(c, v->interval ? "interval" : "total");
	gus_csv_number(c, true, v->from_ns);
	gus_csv_number(c, true, v->to_ns);
	gus_csv_text(c, l->event->name);
	gus_csv_text(c, l->event->unit);
	gus_csv_fixed(c, l->known, m->mean, digits);
	gus_csv_text(c, gus_stat_evidence(l));
	gus_csv_fixed(c, l->known, gus_count_running(&l->row.count), 6);
	gus_csv_number(c, true, l->row.count.enabled_ns);
	gus_csv_number(c, true, l->row.count.running_ns);
	gus_csv_number(c, true, v->runs);
	gus_csv_fixed(c, several, m->ci95.low, digits);
	gus_csv_fixed(c, several, m->ci95.high, digits);
	gus_csv_fixed(c, several, m->min, digits);
	gus_csv_fixed(c, several, m->max, digits);
	gus_csv_fixed(c, derived, d.value, 6);
	gus_csv_text(c, derived ? d.unit : NULL);
	gus_csv_text(c, gus_stat_reason(l));
	gus_csv_end(c);
}

struct csv_tree { struct gus_csv *csv; const struct gus_stat_view *view; };

/* A node as a line of its own: its way from the root as the event, its share as the count. */
static void print_node(void *context, const struct gus_topdown *t, const struct gus_topdown_tree *tree, size_t i,
		       unsigned depth)
{
	static const char *const units[] = { [GUS_TOPDOWN_SLOTS] = "share of slots",
					     [GUS_TOPDOWN_CYCLES] = "share of cycles" };
	struct csv_tree *c = context;
	const struct gus_topdown_share *s = &tree->shares[i];
	bool unsure = s->sureness != GUS_TOPDOWN_WHOLE;
	char *way = gus_strdup(t->nodes.v[i].name), *longer;

	(void)depth;
	for (uint32_t up = t->nodes.v[i].parent; up != GUS_TOPDOWN_ROOT; up = t->nodes.v[up].parent) {
		longer = gus_format("%s/%s", t->nodes.v[up].name, way);
		free(way);
		way = longer;
	}
	longer = gus_format("topdown/%s/%s", t->pmu, way);
	gus_csv_text(c->csv, c->view->interval ? "interval" : "total");
	gus_csv_number(c->csv, true, c->view->from_ns);
	gus_csv_number(c->csv, true, c->view->to_ns);
	gus_csv_text(c->csv, longer);
	gus_csv_text(c->csv, units[t->nodes.v[i].unit]);
	gus_csv_fixed(c->csv, true, s->value, 6);
	gus_csv_text(c->csv, "inferred");
	gus_csv_fixed(c->csv, true, s->seen, 6);
	gus_csv_number(c->csv, false, 0);
	gus_csv_number(c->csv, false, 0);
	gus_csv_number(c->csv, true, c->view->runs);
	gus_csv_fixed(c->csv, s->sureness == GUS_TOPDOWN_SERIES, s->low, 6);
	gus_csv_fixed(c->csv, s->sureness == GUS_TOPDOWN_SERIES, s->high, 6);
	gus_csv_fixed(c->csv, unsure, s->low, 6);
	gus_csv_fixed(c->csv, unsure, s->high, 6);
	gus_csv_fixed(c->csv, false, 0, 6);
	gus_csv_text(c->csv, NULL);
	gus_csv_text(c->csv, s->floored > 0 ? "the method set what was below 0 to 0" : NULL);
	gus_csv_end(c->csv);
	free(way);
	free(longer);
}

static void print_trees(struct gus_csv *csv, const struct gus_stat_view *v)
{
	for (size_t i = 0; i < v->topdown->n; i++) {
		struct csv_tree c = { csv, v };
		struct gus_topdown_tree tree;

		if (!gus_stat_topdown(v, &v->topdown->v[i], &tree))
			continue;
		gus_slots_walk(v->topdown->v[i].table, &tree, print_node, &c);
		gus_topdown_tree_free(&tree);
	}
}

struct csv_traffic { struct gus_csv *csv; const struct gus_stat_view *view; };

/* What memory transferred, as a line of its own: bytes as the count, their rate as what follows from it. */
static void print_traffic(void *context, uint32_t socket, unsigned direction, const struct gus_traffic_sum *s)
{
	struct csv_traffic *c = context;
	struct gus_csv *csv = c->csv;
	char name[64];

	if (socket == GUS_TRAFFIC_SOCKETS)
		snprintf(name, sizeof(name), "memory/%s", gus_bandwidth_word(direction));
	else
		snprintf(name, sizeof(name), "memory/socket%u/%s", socket, gus_bandwidth_word(direction));
	gus_csv_text(csv, c->view->interval ? "interval" : "total");
	gus_csv_number(csv, true, c->view->from_ns);
	gus_csv_number(csv, true, c->view->to_ns);
	gus_csv_text(csv, name);
	gus_csv_text(csv, "bytes");
	gus_csv_number(csv, s->known, s->bytes);
	gus_csv_text(csv, gus_bandwidth_evidence(s));
	gus_csv_fixed(csv, s->enabled_ns > 0, (double)s->running_ns / (double)s->enabled_ns, 6);
	gus_csv_number(csv, true, s->enabled_ns);
	gus_csv_number(csv, true, s->running_ns);
	gus_csv_number(csv, true, c->view->runs);
	for (unsigned i = 0; i < 4; i++)
		gus_csv_text(csv, NULL); /* there is one run */
	gus_csv_fixed(csv, s->known, s->rate / 1e9, 6);
	gus_csv_text(csv, s->known ? "GB/s" : NULL);
	gus_csv_text(csv, gus_bandwidth_reason(s));
	gus_csv_end(csv);
}

void gus_stat_csv(FILE *out, const struct gus_stat_view *v, const char *separator)
{
	struct gus_csv csv = { out, separator, false };

	for (size_t i = 0; i < v->lines.n; i++)
		print_line(&csv, v, &v->lines.v[i]);
	print_trees(&csv, v);
	if (v->traffic)
		gus_bandwidth_walk(v->traffic, print_traffic, &(struct csv_traffic){ &csv, v });
}
