/* SPDX-License-Identifier: MIT */
/* The columns of a SAMPLES or SWITCHES frame back to rows. All of it reads foreign bytes. */
#include <stdlib.h>

#include "base/cursor.h"
#include "proto/columns.h"
#include "proto/sample.h"

static bool get_table(struct gus_cursor *in, uint64_t *v, size_t n)
{
	uint64_t distinct = gus_cursor_varint(in), value = 0;
	uint64_t *table;

	if (in->bad || distinct > gus_cursor_left(in))
		return false;
	table = gus_resize(NULL, distinct, sizeof(*table));
	for (uint64_t i = 0; i < distinct; i++)
		table[i] = value += gus_cursor_varint(in);
	for (size_t i = 0; i < n; i++) {
		uint64_t number = gus_cursor_varint(in);

		if (number >= distinct) {
			in->bad = true;
			break;
		}
		v[i] = table[number];
	}
	free(table);
	return !in->bad;
}

/* n values of one column out of its own bytes, which must hold exactly that. */
static bool get_column(struct gus_cursor in, uint64_t encoding, uint64_t *v, size_t n)
{
	uint64_t value = 0;

	switch (encoding) {
	case GUS_ENCODING_CONSTANT:
		value = (uint64_t)gus_unzigzag(gus_cursor_varint(&in));
		for (size_t i = 0; i < n; i++)
			v[i] = value;
		break;
	case GUS_ENCODING_DELTA:
		for (size_t i = 0; i < n; i++)
			v[i] = value += (uint64_t)gus_unzigzag(gus_cursor_varint(&in));
		break;
	case GUS_ENCODING_PLAIN:
		for (size_t i = 0; i < n; i++)
			v[i] = gus_cursor_varint(&in);
		break;
	case GUS_ENCODING_TABLE:
		if (!get_table(&in, v, n))
			return false;
		break;
	default:
		return false;
	}
	return !in.bad && gus_cursor_left(&in) == 0;
}

/* Turns CHAIN_N into the ends of the rows' chains; false if they are absurdly many. */
static bool sum_chains(struct gus_columns *c)
{
	uint64_t end = 0;

	gus_vec_reserve(&c->chain_end, c->n);
	for (size_t i = 0; i < c->n; i++) {
		uint64_t count = c->column[GUS_COL_CHAIN_N].v[i];

		if (count > GUS_CHAIN_ENTRIES_MAX || (end += count) > GUS_CHAIN_ENTRIES_MAX)
			return false;
		c->chain_end.v[c->chain_end.n++] = end;
	}
	return true;
}

static void make_rows(struct gus_columns *c, size_t n)
{
	gus_columns_clear(c);
	c->n = n;
	for (int i = 1; i < GUS_COL_COUNT; i++) {
		gus_vec_reserve(&c->column[i], n);
		if (n)
			memset(c->column[i].v, 0, n * sizeof(uint64_t));
		c->column[i].n = n;
	}
}

int gus_columns_decode(struct gus_columns *c, const void *bytes, size_t size, struct gus_error *err)
{
	struct gus_cursor in = gus_cursor(bytes, size);
	uint64_t n = gus_cursor_varint(&in), last = 0;
	bool chains = false;

	if (in.bad || n > GUS_ROWS_MAX)
		goto corrupt;
	make_rows(c, n);
	while (gus_cursor_left(&in)) {
		uint64_t column = gus_cursor_varint(&in);
		uint64_t encoding = gus_cursor_varint(&in);
		uint64_t length = gus_cursor_varint(&in);
		const uint8_t *at = gus_cursor_take(&in, length);

		if (in.bad || column <= last) /* ascending, so none comes twice and CHAIN_N stands before CHAIN */
			goto corrupt;
		last = column;
		if (column < GUS_COL_COUNT) {
			if (!get_column(gus_cursor(at, length), encoding, c->column[column].v, n))
				goto corrupt;
		} else if (column == GUS_COL_CHAIN) {
			if (!sum_chains(c))
				goto corrupt;
			chains = true;
			c->chain.n = n ? c->chain_end.v[n - 1] : 0;
			gus_vec_reserve(&c->chain, c->chain.n);
			if (!get_column(gus_cursor(at, length), encoding, c->chain.v, c->chain.n))
				goto corrupt;
		}
	}
	/* Without a CHAIN column there must be no chains. */
	if (!chains && (!sum_chains(c) || (n && c->chain_end.v[n - 1])))
		goto corrupt;
	return 0;
corrupt:
	gus_columns_clear(c);
	return gus_fail(err, GUS_E_CORRUPT, "sample columns do not decode at byte %zu of %zu", gus_cursor_offset(&in),
			size);
}
