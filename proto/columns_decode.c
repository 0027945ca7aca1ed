/* SPDX-License-Identifier: MIT */
/* The columns of a SAMPLES or SWITCHES frame back to rows. All of it reads foreign bytes.
 *
 * What holds whatever the bytes are:
 * - Nothing is read outside the frame: each column has a cursor over its own bytes, which it must use up exactly. A
 *   length or a count that is off shows in the column that has it, not in a later one that happens to decode.
 * - Memory is bounded before it is taken: rows and entries by the limits of sample.h, a table by the bytes that it must
 *   have.
 * - Either all rows are good or there are none: a batch of which half is right would be taken for a small one.
 *
 * A frame whose checksum is right and whose columns do not decode was written by a program that is wrong, or newer than
 * its version says; the caller counts it as a corrupt place. */
#include <stdlib.h>

#include "base/cursor.h"
#include "base/error.h"
#include "proto/columns.h"
#include "proto/sample.h"

static bool get_table(struct gus_cursor *in, uint64_t *v, size_t n)
{
	uint64_t distinct = gus_cursor_varint(in), value = 0;
	uint64_t *table;

	/* Each takes a byte or more, so there can't be more of them than bytes: eight bytes of memory for one of the
	 * file. */
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

/* n values of one column out of its own bytes, which must hold exactly that. The cursor is sticky: once it is bad it
 * yields zeros, so the loops need no test of their own, and n is bounded. */
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
	case GUS_ENCODING_WORDS:
		if (gus_cursor_left(&in) != n * sizeof(*v))
			return false;
		for (size_t i = 0; i < n; i++)
			v[i] = gus_cursor_u64(&in);
		break;
	default:
		return false;
	}
	return !in.bad && gus_cursor_left(&in) == 0;
}

/* The branches' addresses. */
static bool get_pairs(struct gus_cursor in, struct gus_branch *v, size_t n)
{
	uint64_t distinct = gus_cursor_varint(&in), from = 0;
	struct gus_branch *table;

	if (in.bad || distinct > gus_cursor_left(&in) / 2) /* two varints each */
		return false;
	table = gus_resize(NULL, distinct, sizeof(*table));
	for (uint64_t i = 0; i < distinct; i++) {
		from += gus_cursor_varint(&in);
		table[i].from = from;
		table[i].to = from + (uint64_t)gus_unzigzag(gus_cursor_varint(&in));
		table[i].flags = table[i].cycles = 0; /* until their columns come, if they do */
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t number = gus_cursor_varint(&in);

		if (number >= distinct) {
			in.bad = true;
			break;
		}
		v[i] = table[number];
	}
	free(table);
	return !in.bad && gus_cursor_left(&in) == 0;
}

/* Turns the number of each row's entries into their ends; false if they are absurdly many. */
static bool sum_entries(const struct gus_columns *c, enum gus_column count_of, struct gus_column_values *ends,
			uint64_t most)
{
	uint64_t end = 0;

	gus_vec_reserve(ends, c->n);
	ends->n = c->n;
	for (size_t i = 0; i < c->n; i++) {
		uint64_t count = c->column[count_of].v[i];

		/* A count is foreign and may be near 2^64: looked at by itself first, else the sum might wrap to a
		 * small one, and a row's entries lie outside the array. */
		if (count > most || (end += count) > most)
			return false;
		ends->v[i] = end;
	}
	return true;
}

static void make_entries(struct gus_column_values *entries, const struct gus_column_values *ends)
{
	entries->n = ends->n ? ends->v[ends->n - 1] : 0;
	gus_vec_reserve(entries, entries->n);
}

static bool sum_all(struct gus_columns *c)
{
	if (!sum_entries(c, GUS_COL_CHAIN_N, &c->chain_end, GUS_CHAIN_ENTRIES_MAX) ||
	    !sum_entries(c, GUS_COL_BRANCHES_N, &c->branch_end, GUS_BRANCH_ENTRIES_MAX) ||
	    !sum_entries(c, GUS_COL_REGS_N, &c->regs_end, GUS_REG_ENTRIES_MAX) ||
	    !sum_entries(c, GUS_COL_STACK_N, &c->stack_end, GUS_STACK_WORDS_MAX) ||
	    !sum_entries(c, GUS_COL_EXTRAS_N, &c->extras_end, GUS_EXTRA_WORDS_MAX))
		return false;
	c->branch.n = c->n ? c->branch_end.v[c->n - 1] : 0;
	gus_vec_reserve(&c->branch, c->branch.n);
	make_entries(&c->chain, &c->chain_end);
	make_entries(&c->regs, &c->regs_end);
	make_entries(&c->stack, &c->stack_end);
	make_entries(&c->extras, &c->extras_end);
	return true;
}

/* A number of each branch, of at most 32 bits. */
static bool get_of_branches(struct gus_columns *c, struct gus_cursor in, uint64_t column, uint64_t encoding)
{
	uint64_t *values = gus_resize(NULL, c->branch.n, sizeof(*values));
	bool good = get_column(in, encoding, values, c->branch.n);

	for (size_t i = 0; good && i < c->branch.n; i++) {
		good = values[i] <= UINT32_MAX;
		if (column == GUS_COL_BRANCH_FLAGS)
			c->branch.v[i].flags = (uint32_t)values[i];
		else
			c->branch.v[i].cycles = (uint32_t)values[i];
	}
	free(values);
	return good;
}

/* A column that is no row's value; what is not known is passed over. */
static bool get_entries(struct gus_columns *c, struct gus_cursor in, uint64_t column, uint64_t encoding)
{
	switch (column) {
	case GUS_COL_CHAIN:
		return get_column(in, encoding, c->chain.v, c->chain.n);
	case GUS_COL_BRANCH:
		return encoding == GUS_ENCODING_PAIRS && get_pairs(in, c->branch.v, c->branch.n);
	case GUS_COL_BRANCH_FLAGS:
	case GUS_COL_BRANCH_CYCLES:
		return get_of_branches(c, in, column, encoding);
	case GUS_COL_REGS:
		return get_column(in, encoding, c->regs.v, c->regs.n);
	case GUS_COL_STACK:
		return get_column(in, encoding, c->stack.v, c->stack.n);
	case GUS_COL_EXTRAS:
		return get_column(in, encoding, c->extras.v, c->extras.n);
	default:
		return true;
	}
}

static bool is_known(uint64_t column)
{
	for (size_t i = 0; i < gus_column_kinds_n; i++)
		if (gus_column_kinds[i].number == column)
			return true;
	return false;
}

static bool get_any(struct gus_columns *c, struct gus_cursor in, uint64_t column, uint64_t encoding)
{
	if (!is_known(column))
		return get_entries(c, in, column, encoding);
	gus_vec_reserve(&c->column[column], c->n);
	c->column[column].n = c->n;
	return get_column(in, encoding, c->column[column].v, c->n);
}

/* n rows of zeros: what they are where a column is absent. Columns from GUS_COL_MORE on are so without any memory. */
static void make_rows(struct gus_columns *c, size_t n)
{
	gus_columns_clear(c);
	c->n = n;
	for (size_t i = 0; i < gus_column_kinds_n && gus_column_kinds[i].number < GUS_COL_MORE; i++) {
		unsigned number = gus_column_kinds[i].number;

		gus_vec_reserve(&c->column[number], n);
		if (n)
			memset(c->column[number].v, 0, n * sizeof(uint64_t));
		c->column[number].n = n;
	}
}

/* Whether the entries that are counted were there, each in its column. */
static bool has_entries(const struct gus_columns *c, uint32_t seen)
{
	return (!c->chain.n || seen >> GUS_COL_CHAIN & 1) && (!c->branch.n || seen >> GUS_COL_BRANCH & 1) &&
	       (!c->regs.n || seen >> GUS_COL_REGS & 1) && (!c->stack.n || seen >> GUS_COL_STACK & 1) &&
	       (!c->extras.n || seen >> GUS_COL_EXTRAS & 1);
}

int gus_columns_decode(struct gus_columns *c, const void *bytes, size_t size, struct gus_error *err)
{
	struct gus_cursor in = gus_cursor(bytes, size);
	uint64_t n = gus_cursor_varint(&in), last = 0;
	uint32_t seen = 0; /* a bit for each column of entries */
	bool summed = false;

	if (in.bad || n > GUS_ROWS_MAX)
		goto corrupt;
	make_rows(c, n);
	while (gus_cursor_left(&in)) {
		uint64_t column = gus_cursor_varint(&in);
		uint64_t encoding = gus_cursor_varint(&in);
		uint64_t length = gus_cursor_varint(&in);
		const uint8_t *at = gus_cursor_take(&in, length);

		if (in.bad || column <= last)
			goto corrupt;
		last = column;
		if (column >= GUS_COL_CHAIN && column < GUS_COL_MORE)
			seen |= UINT32_C(1) << column;
		/* As numbers ascend, all columns that count entries were there, if they are there at all. */
		if (column >= GUS_COL_CHAIN && !summed && !(summed = sum_all(c)))
			goto corrupt;
		if (!get_any(c, gus_cursor(at, length), column, encoding))
			goto corrupt;
	}
	if (!summed && !sum_all(c))
		goto corrupt;
	/* A row's value that is absent is zero, but entries that were counted and are absent would be whatever the
	 * memory holds. */
	if (!has_entries(c, seen))
		goto corrupt;
	return 0;
corrupt:
	gus_columns_clear(c);
	return gus_fail(err, GUS_E_CORRUPT, "sample columns do not decode at byte %zu of %zu", gus_cursor_offset(&in),
			size);
}
