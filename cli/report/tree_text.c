/* SPDX-License-Identifier: MIT */
#include "cli/report/tree_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/profile/calls.h"
#include "cli/common/print.h"
#include "cli/report/render.h"
#include "cli/report/trees.h"
#include "cli/screen/table.h"

#define STEP 2 /* cells that a branch is further in */

/* One line: a node, or what was left out below one. */
struct line {
	const struct gus_tree_node *node, *above;
	bool rest;              /* what was left out below node */
	bool goes_on;           /* all of what is above */
	size_t indent;
};

/* Calls show for each line of a tree, from the first node below the root on; what was left out stands behind all that
 * was not. */
static void walk(const struct gus_tree *t, void (*show)(void *context, const struct line *line), void *context)
{
	size_t *indent = gus_zalloc(t->nodes.n * sizeof(*indent));
	struct gus_vec(uint32_t) open = { 0 };

	for (uint32_t i = 0; i <= t->nodes.n; i++) {
		const struct gus_tree_node *n = &t->nodes.v[i], *above;

		for (; open.n && t->nodes.v[open.v[open.n - 1]].end <= i; open.n--) {
			uint32_t over = open.v[open.n - 1];
			const struct gus_tree_node *o = &t->nodes.v[over];

			if (o->left_out_weight)
				show(context, &(struct line){ o, o, true, false, indent[over] + (over ? STEP : 0) });
		}
		if (i == t->nodes.n)
			break;
		gus_vec_push(&open, i);
		if (!i)
			continue;
		above = &t->nodes.v[n->parent];
		indent[i] = indent[n->parent] + (n->parent && n->weight != above->weight ? STEP : 0);
		show(context, &(struct line){ n, above, false, n->parent && n->weight == above->weight, indent[i] });
	}
	gus_vec_free(&open);
	free(indent);
}

static void share_text(char out[32], uint64_t weight, uint64_t of)
{
	char number[24];

	gus_fixed_format(number, sizeof(number), of ? 100 * (double)weight / (double)of : 0, 2);
	snprintf(out, 32, "%s%%", number);
}

/* Of what the shares of a line are. */
static uint64_t whole_of(const struct gus_report *r, const struct line *line)
{
	return r->graph->limits.shares == GUS_TREE_OF_PARENT ? line->above->weight : r->profile->weight;
}

/* The name of a line's function, and what is said behind it. */
static char *name_of(const struct gus_report *r, const struct line *line, const char **tail)
{
	const struct gus_callee *f = &r->calls->callees.v[line->node->callee];
	char *name, *marked;

	*tail = "";
	if (line->rest)
		return gus_format("(%" PRIu32 " more)", line->node->left_out);
	name = gus_trees_name(r->calls, line->node->callee);
	if (f->inlined)
		*tail = " (inlined)";
	if (f->kind != GUS_CALLEE_KERNEL)
		return name;
	marked = gus_format("[k] %s", name);
	free(name);
	return marked;
}

struct lines { struct gus_table *table; const struct gus_report *r; };

static void show_line(void *context, const struct line *line)
{
	const struct lines *l = context;
	const struct gus_screen *s = l->r->screen;
	size_t most = s->width ? s->width / 2 : line->indent, indent = line->indent < most ? line->indent : most;
	uint64_t weight = line->rest ? line->node->left_out_weight : line->node->weight;
	char share[32] = "", *text, *name;
	const char *tail;

	if (!line->goes_on)
		share_text(share, weight, whole_of(l->r, line));
	name = name_of(l->r, line, &tail);
	text = gus_format("        %8s  %*s", share, (int)indent, "");
	gus_table_line(l->table, text, name, tail);
	free(name);
	free(text);
}

void gus_trees_text_lines(struct gus_table *table, const struct gus_report *r, const struct gus_tree *tree)
{
	walk(tree, show_line, &(struct lines){ table, r });
}

/* One tree. */

enum { TOTAL, INTERVAL, SELF, SAMPLES, TIME, FUNCTION, COLUMNS };
static const struct gus_table_column columns[COLUMNS] = {
	[TOTAL] = { "total", .right = true, .pad = 7 },
	[INTERVAL] = { "95% interval", .right = true, .pad = 15, .leaves = 3 },
	[SELF] = { "self", .right = true, .pad = 7 },
	[SAMPLES] = { "samples", .right = true, .pad = 8, .leaves = 1 },
	[TIME] = { "time", .right = true, .pad = 9, .leaves = 2 },
	[FUNCTION] = { "function", .how = GUS_SHORTEN_NAME, .comfort = 40, .least = 20 },
};

/* Intervals are of shares of all: those of the line above have none. Nor has time off the CPU, which is measured and
 * not sampled; what little of it is inferred stands in the intervals of rows. */
static bool has_intervals(const struct gus_report *r)
{
	return r->graph->limits.shares == GUS_TREE_OF_ALL && r->profile->weighs == GUS_WEIGHS_EVENTS;
}

/* Without intervals their column goes last, behind what is shown. */
static size_t place_of(const struct gus_report *r, size_t column)
{
	if (has_intervals(r) || column < INTERVAL)
		return column;
	return column == INTERVAL ? COLUMNS - 1 : column - 1;
}

/* What is counted off the CPU are times that it was left, with samples where these are in it as well. */
static const char *const counted[] = {
	[GUS_WEIGHS_EVENTS] = "samples", [GUS_WEIGHS_OFF_CPU] = "times", [GUS_WEIGHS_WALL] = "counts",
};

struct texts { char text[COLUMNS][64]; };

static void fill_figures(const struct gus_report *r, const struct line *line, struct texts *t)
{
	const struct gus_tree_node *n = line->node;
	uint64_t weight = line->rest ? n->left_out_weight : n->weight;
	struct gus_interval ci = gus_view_interval(r->profile, weight);
	char low[24], high[24];

	share_text(t->text[TOTAL], weight, whole_of(r, line));
	gus_fixed_format(low, sizeof(low), ci.low * 100, 2);
	gus_fixed_format(high, sizeof(high), ci.high * 100, 2);
	snprintf(t->text[INTERVAL], 64, "%s .. %5s%%", low, high);
	snprintf(t->text[SAMPLES], 64, "%" PRIu64, line->rest ? n->left_out_samples : n->samples);
	if (r->units.time.known)
		gus_time_format(t->text[TIME], 64, gus_scale_apply(&r->units.time, weight));
}

static void show_row(void *context, const struct line *line)
{
	const struct lines *l = context;
	struct texts t = { 0 };
	const char *cells[COLUMNS], *tail;
	char *name = name_of(l->r, line, &tail);
	enum gus_colour colour = GUS_COLOUR_NONE;

	if (!line->goes_on) {
		fill_figures(l->r, line, &t);
		colour = gus_screen_share_colour((double)line->node->weight / (double)l->r->profile->weight);
	}
	if (!line->rest && line->node->own)
		share_text(t.text[SELF], line->node->own, whole_of(l->r, line));
	for (size_t i = 0; i < COLUMNS; i++)
		cells[place_of(l->r, i)] = i == FUNCTION ? name : t.text[i];
	gus_table_row_indented(l->table, colour, cells, line->indent, tail);
	free(name);
}

void gus_trees_text_table(const struct gus_report *r)
{
	struct gus_table_column shown[COLUMNS];
	struct gus_table table;

	for (size_t i = 0; i < COLUMNS; i++)
		shown[place_of(r, i)] = columns[i];
	shown[place_of(r, SAMPLES)].title = counted[r->profile->weighs];
	gus_table_begin(&table, r->screen, stdout, shown, has_intervals(r) ? COLUMNS : COLUMNS - 1);
	walk(r->tree, show_row, &(struct lines){ &table, r });
	gus_table_end(&table);
}
