/* SPDX-License-Identifier: MIT */
/* The report as text: notes in lines that start with '#', then a row a line. */
#include <inttypes.h>
#include <stdio.h>

#include "attribution/profile/touch.h"
#include "base/path.h"
#include "cli/bandwidth/bandwidth.h"
#include "cli/common/print.h"
#include "cli/report/head.h"
#include "cli/report/render.h"
#include "cli/report/tree_text.h"
#include "cli/report/trees.h"
#include "cli/screen/table.h"
#include "cli/slots/slots.h"

/* How many callers and callees of a row are shown; JSON has them all. */
#define EDGES_SHOWN 5

static void warning(const char *text, void *context)
{
	const struct gus_screen *s = context;

	gus_screen_colour(s, stdout, GUS_COLOUR_BAD);
	gus_screen_fold(s, stdout, "# WARNING: ", "#   ", text);
	gus_screen_colour(s, stdout, GUS_COLOUR_NONE);
}

/* Columns. */

/* What a column shows of a row. Texts are made in the cell's room, or borrowed. */
struct shown { const struct gus_report *r; const struct gus_row *row; const struct gus_report_cell *cell; };
struct made { char text[96]; };

static const char *percent(char out[96], double share)
{
	char number[32];

	gus_fixed_format(number, sizeof(number), share * 100, 2);
	snprintf(out, 96, "%s%%", number);
	return out;
}

static const char *share_cell(const struct shown *s, struct made *m)
{
	return percent(m->text, s->row->share);
}

static const char *interval_cell(const struct shown *s, struct made *m)
{
	char low[32], high[32];

	gus_fixed_format(low, sizeof(low), s->row->ci95.low * 100, 2);
	gus_fixed_format(high, sizeof(high), s->row->ci95.high * 100, 2);
	snprintf(m->text, sizeof(m->text), "%s .. %5s%%", low, high);
	return m->text;
}

static double total_share(const struct gus_report *r, const struct gus_row *row)
{
	return r->profile->weight ? (double)row->total / (double)r->profile->weight : 0;
}

static const char *total_cell(const struct shown *s, struct made *m)
{
	return percent(m->text, total_share(s->r, s->row));
}

static const char *samples_cell(const struct shown *s, struct made *m)
{
	snprintf(m->text, sizeof(m->text), "%" PRIu64, s->row->samples);
	return m->text;
}

static const char *time_cell(const struct shown *s, struct made *m)
{
	gus_time_format(m->text, sizeof(m->text), s->cell->time_ns);
	return m->text;
}

/* Of time. */

static const char *duration(char out[96], uint64_t ns)
{
	gus_time_format(out, 96, ns);
	return out;
}

static const char *on_cell(const struct shown *s, struct made *m)
{
	return duration(m->text, s->row->weight - s->row->off.ns);
}

static const char *off_cell(const struct shown *s, struct made *m)
{
	return duration(m->text, s->row->off.ns);
}

static const char *waiting_cell(const struct shown *s, struct made *m)
{
	return duration(m->text, s->row->off.waiting);
}

static const char *times_cell(const struct shown *s, struct made *m)
{
	snprintf(m->text, sizeof(m->text), "%" PRIu64, s->row->off.times);
	return m->text;
}

static const char *mean_cell(const struct shown *s, struct made *m)
{
	return s->row->off.times ? duration(m->text, s->row->off.ns / s->row->off.times) : "";
}

static const char *longest_cell(const struct shown *s, struct made *m)
{
	return s->row->off.ns ? duration(m->text, s->row->off.longest) : "";
}

static const char *path_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return s->cell->module;
}

static const char *module_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return gus_base_name(s->cell->module);
}

static const char *offset_cell(const struct shown *s, struct made *m)
{
	snprintf(m->text, sizeof(m->text), "%" PRIx64, s->row->offset);
	return m->text;
}

static const char *instruction_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return s->cell->text;
}

static const char *line_cell(const struct shown *s, struct made *m)
{
	if (!s->row->file)
		return "";
	snprintf(m->text, sizeof(m->text), "%.80s:%" PRIu32, gus_base_name(s->row->file), s->row->line);
	return m->text;
}

static const char *function_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return s->row->function ? s->row->function : "[unknown]";
}

/* Of data. */

static const char *untold(const char *text)
{
	return text && *text ? text : "[not told]";
}

static const char *source_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return untold(s->cell->data.source);
}

static const char *snoop_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return untold(s->cell->data.snoop);
}

static const char *tlb_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return untold(s->cell->data.tlb);
}

static const char *access_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return untold(s->cell->data.access);
}

static const char *locked_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return untold(s->cell->data.locked);
}

static const char *address_cell(const struct shown *s, struct made *m)
{
	const struct gus_touch_key *key = s->cell->data.key;

	if (!key->bytes)
		return "";
	snprintf(m->text, sizeof(m->text), "%" PRIx64, key->address);
	return m->text;
}

/* A shared file's and the kernel's memory is nobody's. */
static const char *owner_cell(const struct shown *s, struct made *m)
{
	if (!s->cell->data.key->pid)
		return "";
	snprintf(m->text, sizeof(m->text), "%" PRIu32, s->cell->data.key->pid);
	return m->text;
}

static const char *data_cell(const struct shown *s, struct made *m)
{
	const struct gus_report_data *d = &s->cell->data;

	if (!d->key->addressed)
		return d->key->beyond ? "[others]" : "[not told]";
	gus_report_place(d, m->text, sizeof(m->text));
	return m->text;
}

static const char *loads_cell(const struct shown *s, struct made *m)
{
	snprintf(m->text, sizeof(m->text), "%" PRIu64, s->row->loads.n);
	return s->row->loads.n ? m->text : "";
}

static const char *cycles(const struct shown *s, struct made *m, uint64_t n)
{
	snprintf(m->text, sizeof(m->text), "%" PRIu64, n);
	return s->row->loads.n ? m->text : "";
}

static const char *median_cell(const struct shown *s, struct made *m)
{
	return cycles(s, m, s->row->loads.median.cycles);
}

static const char *ninety_cell(const struct shown *s, struct made *m)
{
	return cycles(s, m, s->row->loads.ninety.cycles);
}

static const char *sum_cell(const struct shown *s, struct made *m)
{
	return cycles(s, m, s->row->loads.sum);
}

static const char *slowest_cell(const struct shown *s, struct made *m)
{
	return cycles(s, m, s->row->loads.longest);
}

static const char *bounds_cell(const struct shown *s, struct made *m)
{
	const struct gus_latency_quantile *q = &s->row->loads.median;
	char low[32] = "?", high[32] = "?";

	if (!s->row->loads.n)
		return "";
	if (q->has_low)
		snprintf(low, sizeof(low), "%" PRIu64, q->low);
	if (q->has_high)
		snprintf(high, sizeof(high), "%" PRIu64, q->high);
	snprintf(m->text, sizeof(m->text), "%s .. %s", low, high);
	return m->text;
}

static const char *name_cell(const struct shown *s, struct made *m)
{
	(void)m;
	return *s->row->comm ? s->row->comm : "[unnamed]";
}

static const char *id_cell(const struct shown *s, struct made *m)
{
	if (s->r->view->by & GUS_BY_THREAD)
		snprintf(m->text, sizeof(m->text), "%" PRId32 "/%" PRId32, (int32_t)s->row->pid,
			 (int32_t)s->row->tid);
	else
		snprintf(m->text, sizeof(m->text), "%" PRId32, (int32_t)s->row->pid);
	return m->text;
}

/* All columns that there are, in their order, and the views that have them; -g and times come to that. */
#define VIEW(by) ((unsigned)GUS_BY_##by)
#define CODE (VIEW(FUNCTION) | VIEW(LINE) | VIEW(INSTRUCTION))
#define ANY (~0u)
enum need { ALWAYS, WITH_GRAPH, WITH_TIME, OF_EVENTS, OF_OFF, OF_WALL, OF_BOTH };
static const struct kind {
	unsigned views;
	enum need need;
	const char *(*cell)(const struct shown *s, struct made *m);
	struct gus_table_column column;
} kinds[] = {
	{ ANY, ALWAYS, share_cell, { "share", .right = true, .pad = 6 } },
	{ ANY, OF_EVENTS, interval_cell, { "95% interval", .right = true, .pad = 15, .leaves = 4 } },
	{ ANY, WITH_GRAPH, total_cell, { "total", .right = true, .pad = 7 } },
	{ ANY, OF_EVENTS, samples_cell, { "samples", .right = true, .pad = 8, .leaves = 1 } },
	{ ANY, WITH_TIME, time_cell, { "time", .right = true, .pad = 9, .leaves = 2 } },
	{ ANY, OF_WALL, on_cell, { "on CPU", .right = true, .pad = 9 } },
	{ ANY, OF_WALL, off_cell, { "off CPU", .right = true, .pad = 9 } },
	{ ANY, OF_BOTH, waiting_cell, { "for a CPU", .right = true, .pad = 9, .leaves = 4 } },
	{ ANY, OF_BOTH, times_cell, { "times", .right = true, .pad = 7, .leaves = 3 } },
	{ ANY, OF_OFF, mean_cell, { "mean", .right = true, .pad = 9, .leaves = 1 } },
	{ ANY, OF_OFF, longest_cell, { "longest", .right = true, .pad = 9, .leaves = 2 } },
	{ VIEW(DATA), ALWAYS, loads_cell, { "timed", .right = true, .pad = 6, .leaves = 5 } },
	{ VIEW(DATA), ALWAYS, sum_cell, { "sum", .right = true, .pad = 8 } },
	{ VIEW(DATA), ALWAYS, median_cell, { "median", .right = true, .pad = 6 } },
	{ VIEW(DATA), ALWAYS, bounds_cell, { "of median", .right = true, .pad = 10, .leaves = 3 } },
	{ VIEW(DATA), ALWAYS, ninety_cell, { "90%", .right = true, .pad = 6, .leaves = 7 } },
	{ VIEW(DATA), ALWAYS, slowest_cell, { "longest", .right = true, .pad = 7, .leaves = 6 } },
	{ VIEW(DATA_SOURCE), ALWAYS, source_cell,
	  { "data from", .how = GUS_SHORTEN_END, .pad = 20, .comfort = 16, .least = 10 } },
	{ VIEW(SNOOP), ALWAYS, snoop_cell, { "snoop", .how = GUS_SHORTEN_END, .pad = 10, .comfort = 10, .least = 10 } },
	{ VIEW(TLB), ALWAYS, tlb_cell, { "TLB", .how = GUS_SHORTEN_END, .pad = 10, .comfort = 10, .least = 10 } },
	{ VIEW(ACCESS), ALWAYS, access_cell,
	  { "access", .how = GUS_SHORTEN_END, .pad = 10, .comfort = 10, .least = 10 } },
	{ VIEW(LOCKED), ALWAYS, locked_cell,
	  { "locked", .how = GUS_SHORTEN_END, .pad = 10, .comfort = 10, .least = 10 } },
	{ VIEW(DATA_PLACE), ALWAYS, address_cell, { "address", .right = true, .pad = 12 } },
	{ VIEW(DATA_PLACE), ALWAYS, owner_cell, { "of pid", .right = true, .pad = 7, .leaves = 8 } },
	{ VIEW(DATA_PLACE) | VIEW(DATA_OWNER), ALWAYS, data_cell,
	  { "data", .how = GUS_SHORTEN_MIDDLE, .pad = 20, .comfort = 16, .least = 8 } },
	{ VIEW(THREAD) | VIEW(PROCESS) | VIEW(COMM), ALWAYS, name_cell,
	  { "name", .how = GUS_SHORTEN_MIDDLE, .pad = 16, .comfort = 16, .least = 8 } },
	{ VIEW(THREAD), ALWAYS, id_cell, { "pid/tid", .pad = 12 } },
	{ VIEW(PROCESS), ALWAYS, id_cell, { "pid", .pad = 7 } },
	{ VIEW(MODULE), ALWAYS, path_cell, { "module", .how = GUS_SHORTEN_PATH, .comfort = 30, .least = 10 } },
	{ CODE, ALWAYS, module_cell, { "module", .how = GUS_SHORTEN_MIDDLE, .pad = 20, .comfort = 12, .least = 6 } },
	{ VIEW(INSTRUCTION), ALWAYS, offset_cell, { "offset", .right = true, .pad = 8 } },
	{ VIEW(INSTRUCTION), ALWAYS, instruction_cell,
	  { "instruction", .how = GUS_SHORTEN_END, .pad = 40, .comfort = 28, .least = 12 } },
	{ VIEW(LINE) | VIEW(INSTRUCTION), ALWAYS, line_cell,
	  { "line", .how = GUS_SHORTEN_MIDDLE, .pad = 16, .comfort = 14, .least = 8, .leaves = 3 } },
	{ CODE, ALWAYS, function_cell, { "function", .how = GUS_SHORTEN_NAME, .comfort = 32, .least = 10 } },
};

/* Those of a report. */
struct columns {
	const struct kind *kinds[GUS_TABLE_COLUMNS];
	struct gus_table_column columns[GUS_TABLE_COLUMNS];
	size_t n;
};

static struct columns choose_columns(const struct gus_report *r)
{
	const enum gus_weighs of = r->profile->weighs;
	const bool given[] = { [ALWAYS] = true, [WITH_GRAPH] = r->graph != NULL, [WITH_TIME] = r->units.time.known,
			       [OF_EVENTS] = of == GUS_WEIGHS_EVENTS, [OF_OFF] = of == GUS_WEIGHS_OFF_CPU,
			       [OF_WALL] = of == GUS_WEIGHS_WALL, [OF_BOTH] = of != GUS_WEIGHS_EVENTS };
	struct columns c = { 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!(kinds[i].views & r->view->by) || !given[kinds[i].need])
			continue;
		c.kinds[c.n] = &kinds[i];
		c.columns[c.n] = kinds[i].column;
		/* What was asked for stays. */
		if ((r->view->by & GUS_BY_LINE && kinds[i].cell == line_cell) ||
		    (r->by_longest && (kinds[i].cell == longest_cell || kinds[i].cell == slowest_cell)))
			c.columns[c.n].leaves = 0;
		/* Where there is more to say than the function, that needs the room as well. */
		if (kinds[i].cell == function_cell && r->view->by == GUS_BY_LINE)
			c.columns[c.n].comfort = 24;
		if (kinds[i].cell == function_cell && r->view->by & GUS_BY_INSTRUCTION)
			c.columns[c.n].comfort = 16;
		c.n++;
	}
	return c;
}

/* Rows. */

/* By what rows stand by: a function that calls all that takes time is hot where totals come first. */
static size_t coloured_column(const struct gus_report *r, const struct columns *c)
{
	for (size_t i = 0; i < c->n && r->by_total; i++)
		if (c->kinds[i]->cell == total_cell)
			return i;
	return 0;
}

static enum gus_colour colour_of(const struct gus_report *r, const struct gus_table *t, const struct gus_row *row)
{
	return gus_screen_share_colour(t->coloured ? total_share(r, row) : row->share);
}

static void add_edges(struct gus_table *t, const struct gus_report *r, uint32_t row, bool callers)
{
	size_t n;
	const struct gus_edge *e = callers ? gus_view_callers(r->view, row, &n) : gus_view_callees(r->view, row, &n);

	for (size_t i = 0; i < n && i < EDGES_SHOWN; i++) {
		const struct gus_row *other = &r->view->rows.v[callers ? e[i].from : e[i].to];
		char share[96], text[128];

		percent(share, (double)e[i].weight / (double)r->profile->weight);
		snprintf(text, sizeof(text), "        %8s  %s ", share, callers ? "called by" : "calls    ");
		gus_table_line(t, text, other->function ? other->function : "[unknown]", "");
	}
}

static void add_graph(struct gus_table *t, const struct gus_report *r, size_t row)
{
	struct gus_tree tree;

	if (r->trees) {
		gus_trees_row(r->trees, row, &tree);
		gus_trees_text_lines(t, r, &tree);
		gus_tree_free(&tree);
	} else if (r->view->by == GUS_BY_FUNCTION && r->graph->kind == GUS_TREES_ROWS) {
		add_edges(t, r, (uint32_t)row, true);
		add_edges(t, r, (uint32_t)row, false);
	}
}

static void add_row(struct gus_table *t, const struct columns *c, const struct gus_report *r, size_t i,
		    const struct gus_report_cell *cell)
{
	const struct shown shown = { r, &r->view->rows.v[i], cell };
	const char *cells[GUS_TABLE_COLUMNS];
	struct made made[GUS_TABLE_COLUMNS];

	for (size_t k = 0; k < c->n; k++)
		cells[k] = c->kinds[k]->cell(&shown, &made[k]);
	gus_table_row(t, colour_of(r, t, shown.row), cells);
	if (r->graph)
		add_graph(t, r, i);
}

static void print_left_out(uint64_t rows, uint64_t weight, const struct gus_report *r)
{
	char share[96];

	if (rows)
		gus_print("# %" PRIu64 " rows below the limit are left out, together %s\n", rows,
			  percent(share, (double)weight / (double)r->profile->weight));
}

void gus_render_text_head(const struct gus_report *r)
{
	gus_head_print(r);
	if (r->profile->filtered)
		gus_print("# %" PRIu64 " more %s were left out by the options\n", r->profile->filtered,
			  r->profile->weighs == GUS_WEIGHS_EVENTS ? "samples" : "samples and times off the CPU");
	gus_report_notices(r, warning, (void *)(uintptr_t)r->screen);
	gus_slots_recorded_text(stdout, r->screen, r->profile->slots);
	gus_bandwidth_recorded_text(stdout, r->screen, r->profile->traffic);
}

static const char *no_samples(const struct gus_report *r)
{
	if (r->profile->filtered)
		return "no samples are left";
	if (r->profile->header->origin)
		return "the recording has no samples"; /* why, only who recorded knows */
	if (gus_report_misses(r))
		return "no samples were taken: its tasks ended before their first one";
	return "no samples were taken: the program was too short, or it did not run while it was recorded";
}

void gus_render_text(const struct gus_report *r)
{
	struct columns columns = choose_columns(r);
	uint64_t sum = 0, hidden = 0, hidden_weight = 0;
	struct gus_table table;

	gus_render_text_head(r);
	if (!r->profile->samples && !r->profile->weight) {
		gus_screen_fold(r->screen, stdout, "# ", "#   ", no_samples(r));
		return;
	}
	printf("#\n");
	if (r->tree) {
		gus_trees_text_table(r);
		return;
	}
	gus_table_begin(&table, r->screen, stdout, columns.columns, columns.n);
	table.coloured = coloured_column(r, &columns);
	for (size_t i = 0; i < r->view->rows.n; i++) {
		struct gus_report_cell cell;

		gus_report_cell(r, i, &sum, &cell);
		if (gus_report_shown(r, &r->view->rows.v[i])) {
			add_row(&table, &columns, r, i, &cell);
		} else {
			hidden++;
			hidden_weight += r->view->rows.v[i].weight;
		}
	}
	gus_table_end(&table);
	print_left_out(hidden, hidden_weight, r);
}
