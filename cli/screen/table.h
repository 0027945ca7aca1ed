/* SPDX-License-Identifier: MIT */
/* Rows of cells in columns, made to fit a screen. Where there is not enough room
 *
 *   1. columns that can be shortened get narrower, down to what is comfortable;
 *   2. those that can be done without leave, the first in their order first;
 *   3. those that can be shortened get narrower still, down to their least.
 *
 * What is gained too much goes back to them, the last column first. So the last column should be the one that matters
 * most. Without a limit a row is printed when it is added, and takes no memory. */
#ifndef GUS_CLI_SCREEN_TABLE_H
#define GUS_CLI_SCREEN_TABLE_H

#include <stdint.h>

#include "base/alloc.h"
#include "cli/screen/screen.h"
#include "cli/screen/shorten.h"

#define GUS_TABLE_COLUMNS 28

struct gus_table_column {
	const char *title;
	bool right;             /* aligned; such columns are never shortened */
	enum gus_shorten how;   /* of others */
	size_t pad;             /* cells at least where there is no limit, so that columns stand below each other */
	size_t comfort, least;  /* cells to which it may be shortened; 0: it may not */
	int leaves;             /* in which order it leaves; 0: it stays */
};

struct gus_table {
	const struct gus_screen *screen;
	FILE *out;
	const struct gus_table_column *columns;
	size_t n;
	size_t coloured;                /* column whose cells have their row's colour; the first but for who sets it */
	struct gus_vec(char) texts;     /* of all cells, each with its end */
	struct gus_table_rows gus_vec(struct gus_table_row) rows;
	uint32_t gone;                  /* a bit for each column that has left: after the end */
};

/* begins: how the line of titles does ("#"). */
void gus_table_begin(struct gus_table *t, const struct gus_screen *s, FILE *out, const struct gus_table_column *columns,
		     size_t n);
/* As many cells as there are columns; NULL is an empty one. */
void gus_table_row(struct gus_table *t, enum gus_colour colour, const char *const *cells);
/* The same, with so many blanks more before the last cell, as far as there is room for them, and behind it what is
 * never shortened. */
void gus_table_row_indented(struct gus_table *t, enum gus_colour colour, const char *const *cells, size_t indent,
			    const char *tail);
/* A line between rows: some text, then a name that is shortened where there is no room, and what stands behind it. */
void gus_table_line(struct gus_table *t, const char *text, const char *name, const char *tail);
/* Prints what has not been, and frees it. */
void gus_table_end(struct gus_table *t);

#endif
