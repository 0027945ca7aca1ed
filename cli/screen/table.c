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
	bool line;              /* no cells but a text, a name and what is behind it */
	size_t indent;          /* of the last cell */
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

/* An indented name keeps half of its column, or what it needs. */
static size_t indent_within(size_t indent, size_t width, size_t needs)
{
	size_t name = needs < width / 2 ? needs : width / 2;

	return indent + name > width ? width - name : indent;
}

/* A row's cells, and what is around the last one. */
struct cells { const char *cell[GUS_TABLE_COLUMNS], *tail; size_t indent; enum gus_colour colour; };

static void print_cell(const struct gus_table *t, const struct layout *l, size_t i, const struct cells *row)
{
	const char *text = row->cell[i] ? row->cell[i] : "", *tail = i + 1 == t->n ? row->tail : "";
	size_t indent = i + 1 == t->n ? row->indent : 0;
	size_t width = l->width[i] > width_of(tail) ? l->width[i] - width_of(tail) : 1;
	enum gus_colour colour = i == t->coloured ? row->colour : GUS_COLOUR_NONE;
	const struct gus_table_column *c = &t->columns[i];
	bool fit = t->screen->width && c->comfort && !t->screen->full_names;
	size_t inside = fit ? indent_within(indent, width, width_of(text)) : indent;
	char *shown = fit ? gus_shorten(text, c->how, width - inside, t->screen->dots) : gus_strdup(text);
	size_t cells = width_of(shown) + inside, blanks = cells < l->width[i] ? l->width[i] - cells : 0;

	put_blanks(t->out, (c->right ? blanks + GAP : GAP) + inside);
	if (colour)
		gus_screen_colour(t->screen, t->out, colour);
	gus_text_print(t->out, "%s%s", shown, tail);
	if (colour)
		gus_screen_colour(t->screen, t->out, GUS_COLOUR_NONE);
	if (!c->right && i + 1 < t->n)
		put_blanks(t->out, blanks);
	free(shown);
}

static void print_cells(const struct gus_table *t, const struct layout *l, const struct cells *row)
{
	for (size_t i = 0; i < t->n; i++)
		if (!l->gone[i])
			print_cell(t, l, i, row);
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

static void print_line(const struct gus_table *t, const char *text, const char *name, const char *tail)
{
	size_t used = width_of(text) + width_of(tail), room = t->screen->width > used + 8 ? t->screen->width - used : 8;
	bool fit = t->screen->width && !t->screen->full_names;
	char *shown = fit ? gus_shorten(name, GUS_SHORTEN_NAME, room, t->screen->dots) : gus_strdup(name);

	gus_text_print(t->out, "%s%s%s\n", text, shown, tail);
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

void gus_table_row_indented(struct gus_table *t, enum gus_colour colour, const char *const *cells, size_t indent,
			    const char *tail)
{
	if (!t->screen->width) {
		struct cells row = { .tail = tail, .indent = indent, .colour = colour };
		struct layout l = padded(t);

		memcpy(row.cell, cells, t->n * sizeof(*cells));
		l.width[t->n - 1] += indent + width_of(tail);
		print_cells(t, &l, &row);
		return;
	}
	gus_vec_push(&t->rows, (struct gus_table_row){ t->texts.n, colour, false, indent });
	for (size_t i = 0; i < t->n; i++)
		keep_text(t, cells[i]);
	keep_text(t, tail);
}

void gus_table_row(struct gus_table *t, enum gus_colour colour, const char *const *cells)
{
	gus_table_row_indented(t, colour, cells, 0, "");
}

void gus_table_line(struct gus_table *t, const char *text, const char *name, const char *tail)
{
	if (!t->screen->width) {
		print_line(t, text, name, tail);
		return;
	}
	gus_vec_push(&t->rows, (struct gus_table_row){ t->texts.n, GUS_COLOUR_NONE, true, 0 });
	keep_text(t, text);
	keep_text(t, name);
	keep_text(t, tail);
}

/* What each column would like. */
static struct layout wishes(const struct gus_table *t)
{
	struct layout l = { 0 };

	for (size_t i = 0; i < t->n; i++)
		l.width[i] = width_of(t->columns[i].title);
	for (size_t k = 0; k < t->rows.n; k++) {
		const char *cell = t->texts.v + t->rows.v[k].text;

		for (size_t i = 0; i < t->n && !t->rows.v[k].line; i++, cell = next_cell(cell)) {
			size_t width = width_of(cell);

			if (i + 1 == t->n)
				width += t->rows.v[k].indent + width_of(next_cell(cell));
			if (width > l.width[i])
				l.width[i] = width;
		}
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
	struct cells cells = { .indent = row->indent, .colour = row->colour };
	const char *at = t->texts.v + row->text;

	if (row->line) {
		print_line(t, at, next_cell(at), next_cell(next_cell(at)));
		return;
	}
	for (size_t i = 0; i < t->n; i++, at = next_cell(at))
		cells.cell[i] = at;
	cells.tail = at;
	print_cells(t, l, &cells);
}

void gus_table_end(struct gus_table *t)
{
	if (t->screen->width) {
		struct layout l = fit(t);

		print_titles(t, &l);
		for (size_t i = 0; i < t->rows.n; i++)
			print_kept(t, &l, &t->rows.v[i]);
		for (size_t i = 0; i < t->n; i++)
			t->gone |= (uint32_t)l.gone[i] << i;
	}
	gus_vec_free(&t->texts);
	gus_vec_free(&t->rows);
}
