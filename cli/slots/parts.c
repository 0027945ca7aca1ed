/* SPDX-License-Identifier: MIT */
#include "cli/slots/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/table.h"
#include "base/text.h"
#include "cli/common/csv.h"
#include "cli/common/json.h"
#include "cli/common/print.h"
#include "cli/screen/screen.h"
#include "cli/screen/table.h"
#include "cli/slots/slots.h"

#define NODES_MOST 16 /* of the first level */
#define CELL 64

void gus_slots_part_free(struct gus_slots_part *part)
{
	free(part->label);
	free(part->counts);
	gus_topdown_tree_free(&part->tree);
}

void gus_slots_parts_free(struct gus_slots_parts *p)
{
	for (size_t i = 0; i < p->list.n; i++)
		gus_slots_part_free(&p->list.v[i]);
	gus_vec_free(&p->list);
	gus_slots_part_free(&p->total);
}

double gus_slots_part_share(const struct gus_slots_parts *p, const struct gus_slots_part *part)
{
	return p->total.tree.slots > 0 && part->tree.slots >= 0 ? part->tree.slots / p->total.tree.slots : -1;
}

/* Text. */

static void share_text(char *out, const struct gus_topdown_share *s)
{
	char value[16], low[16], high[16];

	*out = '\0';
	if (!s->known)
		return;
	gus_slots_percent(value, sizeof(value), s->value, 1);
	gus_slots_percent(low, sizeof(low), s->low, 1);
	gus_slots_percent(high, sizeof(high), s->high, 1);
	if (s->sureness == GUS_TOPDOWN_WHOLE)
		snprintf(out, CELL, "%s", value);
	else
		snprintf(out, CELL, "%s (%s..%s)", value, low, high);
}

/* Nodes of the first level that some part knows. */
static size_t first_level(const struct gus_slots_parts *p, size_t nodes[NODES_MOST])
{
	size_t n = 0;

	for (size_t i = 0; i < p->table->nodes.n && n < NODES_MOST; i++)
		if (p->table->nodes.v[i].level == 1 && p->total.tree.shares[i].known)
			nodes[n++] = i;
	return n;
}

static void seconds(char *out, uint64_t ns)
{
	gus_fixed_format(out, CELL, (double)ns / 1e9, 3);
}

static void add_row(struct gus_table *t, const struct gus_slots_parts *p, const struct gus_slots_part *part,
		    const size_t *nodes, size_t n)
{
	char text[NODES_MOST + 3][CELL];
	const char *cells[NODES_MOST + 4];
	size_t k = 0;

	if (part->timed) {
		seconds(text[k++], part->from_ns);
		seconds(text[k++], part->to_ns);
	}
	*text[k] = '\0';
	if (gus_slots_part_share(p, part) >= 0)
		gus_slots_percent(text[k], CELL, gus_slots_part_share(p, part), 1);
	k++;
	for (size_t i = 0; i < n; i++)
		share_text(text[k++], &part->tree.shares[nodes[i]]);
	for (size_t i = 0; i < k; i++)
		cells[i] = text[i];
	if (!part->timed)
		cells[k++] = part->label;
	gus_table_row(t, GUS_COLOUR_NONE, cells);
}

/* Behind the times, or before what it is: of all slots how many are in it, then the first level's shares of these. */
static size_t make_columns(const struct gus_slots_parts *p, const size_t *nodes, size_t n,
			   struct gus_table_column columns[NODES_MOST + 4])
{
	bool timed = p->list.n && p->list.v[0].timed;
	size_t k = 0;

	if (timed) {
		columns[k++] = (struct gus_table_column){ "from s", .right = true, .pad = 9, .leaves = 1 };
		columns[k++] = (struct gus_table_column){ "to s", .right = true, .pad = 9 };
	}
	columns[k++] = (struct gus_table_column){ "% of slots", .right = true, .pad = 10, .leaves = 2 };
	for (size_t i = 0; i < n; i++)
		columns[k++] = (struct gus_table_column){ p->table->nodes.v[nodes[i]].name, .right = true, .pad = 8 };
	if (!timed)
		columns[k++] = (struct gus_table_column){ "of", .how = GUS_SHORTEN_NAME, .comfort = 24, .least = 10 };
	return k;
}

void gus_slots_parts_text(FILE *out, const struct gus_screen *screen, const struct gus_slots_parts *p)
{
	struct gus_table_column columns[NODES_MOST + 4];
	size_t nodes[NODES_MOST], n = first_level(p, nodes);
	struct gus_table table;
	char share[CELL];

	gus_table_begin(&table, screen, out, columns, make_columns(p, nodes, n, columns));
	for (size_t i = 0; i < p->list.n; i++)
		add_row(&table, p, &p->list.v[i], nodes, n);
	gus_table_end(&table);
	if (!p->left_out)
		return;
	gus_slots_percent(share, sizeof(share), p->left_share, 1);
	gus_text_print(out, "# %" PRIu64 " rows below the limit are left out, together %s %% of the slots\n",
		       p->left_out, share);
}

/* JSON. */

static json_t *counts_object(const struct gus_slots_parts *p, const struct gus_slots_part *part)
{
	uint32_t *list = gus_alloc((p->table->events.n + 1) * sizeof(*list));
	size_t n = gus_topdown_events(p->table, p->level, list);
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++)
		if (!p->known || p->known[i])
			json_object_set_new(o, p->table->events.v[list[i]].name,
					    json_integer((json_int_t)part->counts[i]));
	free(list);
	return o;
}

static json_t *part_object(const struct gus_slots_parts *p, const struct gus_slots_part *part)
{
	json_t *o = gus_slots_json(p->table, &part->tree);
	double share = gus_slots_part_share(p, part);

	json_object_set_new(o, "from_ns", gus_json_number(part->timed, part->from_ns));
	json_object_set_new(o, "to_ns", gus_json_number(part->timed, part->to_ns));
	json_object_set_new(o, "module", gus_json_text(part->module));
	json_object_set_new(o, "function", gus_json_text(part->function));
	json_object_set_new(o, "file", gus_json_text(part->file));
	json_object_set_new(o, "line", gus_json_number(part->line != 0, part->line));
	json_object_set_new(o, "offset", gus_json_number(part->has_offset, part->offset));
	json_object_set_new(o, "pid", gus_json_number(part->pid != 0, part->pid));
	json_object_set_new(o, "tid", gus_json_number(part->tid != 0, part->tid));
	json_object_set_new(o, "comm", gus_json_text(part->comm));
	json_object_set_new(o, "readings", json_integer((json_int_t)part->readings));
	json_object_set_new(o, "share_of_slots", share >= 0 ? json_real(share) : json_null());
	json_object_set_new(o, "counts", counts_object(p, part));
	return o;
}

json_t *gus_slots_parts_json(const struct gus_slots_parts *p)
{
	json_t *o = json_object(), *parts = json_array();

	for (size_t i = 0; i < p->list.n; i++)
		json_array_append_new(parts, part_object(p, &p->list.v[i]));
	json_object_set_new(o, "cores", gus_json_text(p->table->title));
	json_object_set_new(o, "pmu", gus_json_text(p->pmu));
	json_object_set_new(o, "evidence", gus_json_word(p->evidence));
	json_object_set_new(o, "total", part_object(p, &p->total));
	json_object_set_new(o, "parts", parts);
	json_object_set_new(o, "left_out", json_integer((json_int_t)p->left_out));
	return o;
}

/* CSV: a line a part and node. */

struct csv_part { struct gus_csv *csv; const struct gus_slots_parts *p; const struct gus_slots_part *part; };

static void csv_node(void *context, const struct gus_topdown *t, const struct gus_topdown_tree *tree, size_t i,
		     unsigned depth)
{
	static const char *const words[] = { [GUS_TOPDOWN_WHOLE] = "whole", [GUS_TOPDOWN_SERIES] = "ci95",
					     [GUS_TOPDOWN_BOUND] = "bounds", [GUS_TOPDOWN_DRAWN] = "ci95" };
	struct csv_part *c = context;
	const struct gus_slots_part *part = c->part;
	const struct gus_topdown_share *s = &tree->shares[i];
	uint32_t parent = t->nodes.v[i].parent;

	(void)depth;
	gus_csv_text(c->csv, t->title);
	gus_csv_text(c->csv, c->p->pmu);
	gus_csv_number(c->csv, part->timed, part->from_ns);
	gus_csv_number(c->csv, part->timed, part->to_ns);
	gus_csv_text(c->csv, part->module);
	gus_csv_text(c->csv, part->function);
	gus_csv_text(c->csv, part->file);
	gus_csv_number(c->csv, part->line != 0, part->line);
	gus_csv_number(c->csv, part->has_offset, part->offset);
	gus_csv_number(c->csv, part->pid != 0, part->pid);
	gus_csv_number(c->csv, part->tid != 0, part->tid);
	gus_csv_text(c->csv, part->comm);
	gus_csv_number(c->csv, true, part->readings);
	gus_csv_fixed(c->csv, tree->slots >= 0, tree->slots, 0);
	gus_csv_text(c->csv, t->nodes.v[i].name);
	gus_csv_text(c->csv, parent == GUS_TOPDOWN_ROOT ? NULL : t->nodes.v[parent].name);
	gus_csv_number(c->csv, true, t->nodes.v[i].level);
	gus_csv_fixed(c->csv, true, s->value, 6);
	gus_csv_fixed(c->csv, true, s->low, 6);
	gus_csv_fixed(c->csv, true, s->high, 6);
	gus_csv_text(c->csv, words[s->sureness]);
	gus_csv_text(c->csv, c->p->evidence);
	gus_csv_end(c->csv);
}

void gus_slots_parts_csv_header(FILE *out)
{
	fprintf(out, "cores,pmu,from_ns,to_ns,module,function,file,line,offset,pid,tid,comm,readings,slots,node,parent,"
		"level,share,low,high,sureness,evidence\n");
}

void gus_slots_parts_csv(struct gus_csv *csv, const struct gus_slots_parts *p)
{
	for (size_t i = 0; i < p->list.n; i++) {
		struct csv_part c = { csv, p, &p->list.v[i] };

		gus_slots_walk(p->table, &p->list.v[i].tree, csv_node, &c);
	}
}
