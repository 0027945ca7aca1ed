/* SPDX-License-Identifier: MIT */
#include "cli/screen/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/screen/cells.h"

#define GAP 2 /* cells before each column */

struct gus_table_row {
	size_t text;            /* where its first cell begins */
	enum gus_colour colour;
	bool line;              /* no cells but a text and a name */
};

static size_t width_of(const char *text)
{
	return gus_cells(text, strlen(text));
}

static const char *next_cell(const char *cell)
{
	return cell + strlen(cell) + 1;
}

static void put_blanks(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* Widths of the columns; 0 of one that has left. */
struct layout { size_t width[GUS_TABLE_COLUMNS]; bool gone[GUS_TABLE_COLUMNS]; };

static void print_cell(const struct gus_table *t, const struct layout *l, size_t i, const char *text,
		       enum gus_colour colour)
{
	const struct gus_table_column *c = &t->columns[i];
	bool fit = t->screen->width && c->comfort && !t->screen->full_names;
	char *shown = fit ? gus_shorten(text, c->how, l->width[i], t->screen->dots) : gus_strdup(text);
	size_t cells = width_of(shown), blanks = cells < l->width[i] ? l->width[i] - cells : 0;

	put_blanks(t->out, c->right ? blanks + GAP : GAP);
	if (colour)
		gus_screen_colour(t->screen, t->out, colour);
	gus_text_print(t->out, "%s", shown);
	if (colour)
		gus_screen_colour(t->screen, t->out, GUS_COLOUR_NONE);
	if (!c->right && i + 1 < t->n)
		put_blanks(t->out, blanks);
	free(shown);
}

static void print_cells(const struct gus_table *t, const struct layout *l, const char *const *cells,
			enum gus_colour colour)
{
	for (size_t i = 0; i < t->n; i++)
		if (!l->gone[i])
			print_cell(t, l, i, cells[i] ? cells[i] : "", i ? GUS_COLOUR_NONE : colour);
	putc('\n', t->out);
}

/* The titles are a comment to whoever reads lines: their first blank is a '#'. */
static void print_titles(const struct gus_table *t, const struct layout *l)
{
	gus_screen_colour(t->screen, t->out, GUS_COLOUR_HEAD);
	putc('#', t->out);
	for (size_t i = 0; i < t->n; i++) {
		const struct gus_table_column *c = &t->columns[i];
		size_t cells = width_of(c->title), blanks = cells < l->width[i] ? l->width[i] - cells : 0;

		if (l->gone[i])
			continue;
		put_blanks(t->out, (c->right ? blanks + GAP : GAP) - !i);
		gus_text_print(t->out, "%s", c->title);
		if (!c->right && i + 1 < t->n)
			put_blanks(t->out, blanks);
	}
	if (t->screen->colour)
		gus_screen_colour(t->screen, t->out, GUS_COLOUR_NONE);
	putc('\n', t->out);
}

static void print_line(const struct gus_table *t, const char *text, const char *name)
{
	size_t used = width_of(text), room = t->screen->width > used + 8 ? t->screen->width - used : 8;
	bool fit = t->screen->width && !t->screen->full_names;
	char *shown = fit ? gus_shorten(name, GUS_SHORTEN_NAME, room, t->screen->dots) : gus_strdup(name);

	gus_text_print(t->out, "%s%s\n", text, shown);
	free(shown);
}

static struct layout padded(const struct gus_table *t)
{
	struct layout l = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		l.width[i] = t->columns[i].pad;
		if (l.width[i] < width_of(t->columns[i].title))
			l.width[i] = width_of(t->columns[i].title);
	}
	return l;
}

void gus_table_begin(struct gus_table *t, const struct gus_screen *s, FILE *out, const struct gus_table_column *columns,
		     size_t n)
{
	struct layout l;

	*t = (struct gus_table){ .screen = s, .out = out, .columns = columns, .n = n };
	if (s->width)
		return;
	l = padded(t);
	print_titles(t, &l);
}

static void keep_text(struct gus_table *t, const char *text)
{
	if (!text)
		text = "";
	gus_vec_append(&t->texts, text, strlen(text) + 1);
}

void gus_table_row(struct gus_table *t, enum gus_colour colour, const char *const *cells)
{
	if (!t->screen->width) {
		struct layout l = padded(t);

		print_cells(t, &l, cells, colour);
		return;
	}
	gus_vec_push(&t->rows, (struct gus_table_row){ t->texts.n, colour, false });
	for (size_t i = 0; i < t->n; i++)
		keep_text(t, cells[i]);
}

void gus_table_line(struct gus_table *t, const char *text, const char *name)
{
	if (!t->screen->width) {
		print_line(t, text, name);
		return;
	}
	gus_vec_push(&t->rows, (struct gus_table_row){ t->texts.n, GUS_COLOUR_NONE, true });
	keep_text(t, text);
	keep_text(t, name);
}

/* What each column would like. */
static struct layout wishes(const struct gus_table *t)
{
	struct layout l = { 0 };

	for (size_t i = 0; i < t->n; i++)
		l.width[i] = width_of(t->columns[i].title);
	for (size_t k = 0; k < t->rows.n; k++) {
		const char *cell = t->texts.v + t->rows.v[k].text;

		for (size_t i = 0; i < t->n && !t->rows.v[k].line; i++, cell = next_cell(cell))
			if (width_of(cell) > l.width[i])
				l.width[i] = width_of(cell);
	}
	return l;
}

static size_t sum(const struct gus_table *t, const struct layout *l)
{
	size_t all = 0;

	for (size_t i = 0; i < t->n; i++)
		all += l->gone[i] ? 0 : GAP + l->width[i];
	return all;
}

static void narrow(const struct gus_table *t, struct layout *l, bool least)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t to = least ? t->columns[i].least : t->columns[i].comfort;

		if (t->columns[i].comfort && l->width[i] > to)
			l->width[i] = to;
	}
}

/* Takes away the column that leaves next. False if there is none. */
static bool leave(const struct gus_table *t, struct layout *l)
{
	size_t first = t->n;

	for (size_t i = 0; i < t->n; i++)
		if (t->columns[i].leaves && !l->gone[i] &&
		    (first == t->n || t->columns[i].leaves < t->columns[first].leaves))
			first = i;
	if (first < t->n)
		l->gone[first] = true;
	return first < t->n;
}

static void give_back(const struct gus_table *t, struct layout *l, const struct layout *wish)
{
	size_t used = sum(t, l), room = t->screen->width > used ? t->screen->width - used : 0;

	for (size_t i = t->n; i-- > 0 && room; ) {
		size_t more = wish->width[i] - l->width[i];

		if (l->gone[i])
			continue;
		more = more < room ? more : room;
		l->width[i] += more;
		room -= more;
	}
}

static struct layout fit(const struct gus_table *t)
{
	struct layout wish = wishes(t), l = wish;

	if (t->screen->full_names)
		return l;
	if (sum(t, &l) > t->screen->width)
		narrow(t, &l, false);
	while (sum(t, &l) > t->screen->width && leave(t, &l))
		;
	if (sum(t, &l) > t->screen->width)
		narrow(t, &l, true);
	give_back(t, &l, &wish);
	return l;
}

static void print_kept(const struct gus_table *t, const struct layout *l, const struct gus_table_row *row)
{
	const char *cells[GUS_TABLE_COLUMNS], *at = t->texts.v + row->text;

	if (row->line) {
		print_line(t, at, next_cell(at));
		return;
	}
	for (size_t i = 0; i < t->n; i++, at = next_cell(at))
		cells[i] = at;
	print_cells(t, l, cells, row->colour);
}

void gus_table_end(struct gus_table *t)
{
	if (t->screen->width) {
		struct layout l = fit(t);

		print_titles(t, &l);
		for (size_t i = 0; i < t->rows.n; i++)
			print_kept(t, &l, &t->rows.v[i]);
	}
	gus_vec_free(&t->texts);
	gus_vec_free(&t->rows);
}
