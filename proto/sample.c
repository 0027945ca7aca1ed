/* SPDX-License-Identifier: MIT */
/* Batches of rows as columns, and their encoding. What reads them back is columns_decode.c. */
#include "proto/sample.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/cursor.h"
#include "base/index.h"
#include "proto/columns.h"
#include "proto/varint.h"

void gus_columns_clear(struct gus_columns *c)
{
	c->n = 0;
	for (int i = 0; i < GUS_COL_COUNT; i++)
		c->column[i].n = 0;
	c->chain.n = 0;
	c->chain_end.n = 0;
	c->branch.n = 0;
	c->branch_end.n = 0;
	c->regs.n = 0;
	c->regs_end.n = 0;
	c->stack.n = 0;
	c->stack_end.n = 0;
	c->extras.n = 0;
	c->extras_end.n = 0;
}

void gus_columns_free(struct gus_columns *c)
{
	for (int i = 0; i < GUS_COL_COUNT; i++)
		gus_vec_free(&c->column[i]);
	gus_vec_free(&c->chain);
	gus_vec_free(&c->chain_end);
	gus_vec_free(&c->branch);
	gus_vec_free(&c->branch_end);
	gus_vec_free(&c->regs);
	gus_vec_free(&c->regs_end);
	gus_vec_free(&c->stack);
	gus_vec_free(&c->stack_end);
	gus_vec_free(&c->extras);
	gus_vec_free(&c->extras_end);
	c->n = 0;
}

static void prepare(struct gus_column_values *words, size_t rows)
{
	gus_vec_reserve(words, rows);
	memset(words->v, 0, rows * sizeof(*words->v));
}

void gus_columns_prepare(struct gus_columns *c, size_t rows)
{
	for (size_t i = 0; i < gus_column_kinds_n && gus_column_kinds[i].number < GUS_COL_MORE; i++)
		prepare(&c->column[gus_column_kinds[i].number], rows);
	prepare(&c->chain_end, rows);
	prepare(&c->branch_end, rows);
	prepare(&c->regs_end, rows);
	prepare(&c->stack_end, rows);
	prepare(&c->extras_end, rows);
}

/* The value of the row that is on its way to column `number`. */
static void push_value(struct gus_columns *c, unsigned number, uint64_t value)
{
	size_t behind = c->n - c->column[number].n; /* rows before this one that are not there, as they are zero */

	if (number >= GUS_COL_MORE) {
		if (!value)
			return;
		gus_vec_reserve(&c->column[number], c->n + 1);
		memset(c->column[number].v + c->column[number].n, 0, behind * sizeof(uint64_t));
		c->column[number].n = c->n;
	}
	gus_vec_push(&c->column[number], value);
}

static void end_row(struct gus_columns *c)
{
	gus_vec_push(&c->chain_end, c->chain.n);
	gus_vec_push(&c->branch_end, c->branch.n);
	gus_vec_push(&c->regs_end, c->regs.n);
	gus_vec_push(&c->stack_end, c->stack.n);
	gus_vec_push(&c->extras_end, c->extras.n);
	c->n++;
}

/* The one field that is no column's alone. */
static uint64_t mode_of(const struct gus_sample *s)
{
	return s->mode | (s->exact ? 16u : 0u);
}

static uint64_t value_of(const struct gus_sample *s, const struct gus_column_kind *kind)
{
	const void *field = (const char *)s + kind->offset;

	if (!kind->size)
		return mode_of(s);
	return kind->size == sizeof(uint64_t) ? *(const uint64_t *)field : *(const uint32_t *)field;
}

void gus_columns_push(struct gus_columns *c, const struct gus_sample *s)
{
	gus_vec_append(&c->chain, s->chain, s->chain_n);
	gus_vec_append(&c->branch, s->branches, s->branches_n);
	gus_vec_append(&c->regs, s->regs, s->regs_n);
	gus_vec_append(&c->stack, s->stack, s->stack_n);
	gus_vec_append(&c->extras, s->extras, s->extras_n);
	for (size_t i = 0; i < gus_column_kinds_n; i++)
		push_value(c, gus_column_kinds[i].number, value_of(s, &gus_column_kinds[i]));
	end_row(c);
}

void gus_columns_push_switch(struct gus_columns *c, const struct gus_switch *sw)
{
	const uint64_t row[GUS_COL_MORE] = {
		[GUS_COL_TIME] = sw->time,
		[GUS_COL_PID] = sw->pid,
		[GUS_COL_TID] = sw->tid,
		[GUS_COL_CPU] = sw->cpu,
		[GUS_COL_MODE] = (sw->out ? 1u : 0u) | (sw->preempt ? 2u : 0u),
	};

	for (size_t i = 0; i < gus_column_kinds_n && gus_column_kinds[i].number < GUS_COL_MORE; i++)
		push_value(c, gus_column_kinds[i].number, row[gus_column_kinds[i].number]);
	end_row(c);
}

static void set_field(struct gus_sample *s, const struct gus_column_kind *kind, uint64_t value)
{
	void *field = (char *)s + kind->offset;

	if (!kind->size) {
		s->mode = value & 15;
		s->exact = (value & 16) != 0;
	} else if (kind->size == sizeof(uint64_t)) {
		*(uint64_t *)field = value;
	} else {
		*(uint32_t *)field = (uint32_t)value;
	}
}

struct gus_sample gus_columns_sample(const struct gus_columns *c, size_t i)
{
	struct gus_sample s = { 0 };

	for (size_t k = 0; k < gus_column_kinds_n; k++) {
		unsigned number = gus_column_kinds[k].number;

		if (i < c->column[number].n)
			set_field(&s, &gus_column_kinds[k], c->column[number].v[i]);
	}
	s.chain = s.chain_n ? c->chain.v + c->chain_end.v[i] - s.chain_n : NULL;
	s.branches = s.branches_n ? c->branch.v + c->branch_end.v[i] - s.branches_n : NULL;
	s.regs = s.regs_n ? c->regs.v + c->regs_end.v[i] - s.regs_n : NULL;
	s.stack = s.stack_n ? c->stack.v + c->stack_end.v[i] - s.stack_n : NULL;
	s.extras = s.extras_n ? c->extras.v + c->extras_end.v[i] - s.extras_n : NULL;
	return s;
}

struct gus_switch gus_columns_switch(const struct gus_columns *c, size_t i)
{
	uint64_t mode = c->column[GUS_COL_MODE].v[i];

	return (struct gus_switch){
		.time = c->column[GUS_COL_TIME].v[i],
		.pid = (uint32_t)c->column[GUS_COL_PID].v[i],
		.tid = (uint32_t)c->column[GUS_COL_TID].v[i],
		.cpu = (uint32_t)c->column[GUS_COL_CPU].v[i],
		.out = mode & 1,
		.preempt = (mode & 2) != 0,
	};
}

const void *gus_sample_extra(const struct gus_sample *s, enum gus_extra kind, size_t *bytes, unsigned *detail)
{
	const uint64_t *at = s->extras, *end = s->extras_n ? at + s->extras_n : at;

	while (at < end) {
		uint64_t head = *at++, size = head >> 16, words = size / sizeof(*at) + (size % sizeof(*at) != 0);

		if (words > (uint64_t)(end - at)) /* foreign: it does not say what it has */
			break;
		if ((head & 255) == kind) {
			*bytes = (size_t)size;
			if (detail)
				*detail = head >> 8 & 255;
			return at;
		}
		at += words;
	}
	*bytes = 0;
	return NULL;
}

void gus_extras_add(struct gus_extras *extras, enum gus_extra kind, unsigned detail, const void *bytes, size_t size)
{
	size_t words = size / sizeof(uint64_t) + (size % sizeof(uint64_t) != 0);

	gus_vec_push(extras, kind | (detail & 255) << 8 | (uint64_t)size << 16);
	gus_vec_reserve(extras, extras->n + words);
	if (!words)
		return;
	extras->v[extras->n + words - 1] = 0;
	memcpy(extras->v + extras->n, bytes, size);
	extras->n += words;
}

/* Encoding. */

static bool is_constant(const uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return false;
	return n > 0;
}

static void put_deltas(struct gus_bytes *out, const uint64_t *v, size_t n)
{
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		gus_bytes_varint(out, gus_zigzag((int64_t)(v[i] - before)));
		before = v[i];
	}
}

static int by_pair(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	int first = gus_ascending_u64(x, y);

	return first ? first : gus_ascending_u64(x + 1, y + 1);
}

/* Of so many distinct values of one or two words, in their order: the first word as what it is above the one before,
 * the second as its distance from the first. */
static void put_sorted(struct gus_bytes *out, const uint64_t *sorted, size_t words, size_t n)
{
	uint64_t before = 0;

	gus_bytes_varint(out, n);
	for (const uint64_t *v = sorted; v < sorted + n * words; v += words) {
		gus_bytes_varint(out, v[0] - before);
		if (words == 2)
			gus_bytes_varint(out, gus_zigzag((int64_t)(v[1] - v[0])));
		before = v[0];
	}
}

/* Places repeat: a program spends its time in a few of them. Their numbers in a sorted table are one or two bytes and
 * compress well, where differences between far places are four. v: n values, of one or two words each. */
static void put_table(struct gus_bytes *out, const uint64_t *v, size_t words, size_t n)
{
	uint32_t *which = gus_resize(NULL, n, sizeof(*which)), *ranks;
	struct gus_index distinct;
	uint64_t *sorted;

	gus_index_init(&distinct, words * sizeof(*v));
	for (size_t i = 0; i < n; i++)
		which[i] = gus_index_add(&distinct, v + i * words, NULL);
	sorted = gus_resize(NULL, distinct.n, words * sizeof(*v));
	ranks = gus_resize(NULL, distinct.n, sizeof(*ranks));
	memcpy(sorted, distinct.keys, distinct.n * words * sizeof(*v));
	qsort(sorted, distinct.n, words * sizeof(*v), words == 1 ? gus_ascending_u64 : by_pair);
	for (uint32_t i = 0; i < distinct.n; i++)
		ranks[gus_index_find(&distinct, sorted + i * words)] = i;
	put_sorted(out, sorted, words, distinct.n);
	for (size_t i = 0; i < n; i++)
		gus_bytes_varint(out, ranks[which[i]]);
	gus_index_free(&distinct);
	free(sorted);
	free(ranks);
	free(which);
}

/* Branches repeat even more: a loop of a few of them fills a stack. */
static void put_pairs(struct gus_bytes *out, const struct gus_branch *v, size_t n)
{
	uint64_t *pairs = gus_resize(NULL, 2 * n, sizeof(*pairs));

	for (size_t i = 0; i < n; i++) {
		pairs[2 * i] = v[i].from;
		pairs[2 * i + 1] = v[i].to;
	}
	put_table(out, pairs, 2, n);
	free(pairs);
}

/* One column: varint number, varint encoding, varint length in bytes, the bytes. */
static void put_head(struct gus_bytes *out, unsigned column, enum gus_encoding encoding, const struct gus_bytes *bytes)
{
	gus_bytes_varint(out, column);
	gus_bytes_varint(out, encoding);
	gus_bytes_varint(out, bytes->n);
	gus_vec_append(out, bytes->v, bytes->n);
}

static void put_column(struct gus_bytes *out, unsigned column, enum gus_encoding encoding, const uint64_t *v, size_t n,
		       struct gus_bytes *scratch)
{
	if (is_constant(v, n))
		encoding = GUS_ENCODING_CONSTANT;
	scratch->n = 0;
	switch (encoding) {
	case GUS_ENCODING_CONSTANT:
		gus_bytes_varint(scratch, gus_zigzag((int64_t)v[0]));
		break;
	case GUS_ENCODING_DELTA:
		put_deltas(scratch, v, n);
		break;
	case GUS_ENCODING_TABLE:
		put_table(scratch, v, 1, n);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			gus_bytes_varint(scratch, v[i]);
		break;
	}
	put_head(out, column, encoding, scratch);
}

/* The same, unless it is zero throughout: an absent column reads as zero. */
static void put_rows(struct gus_bytes *out, unsigned column, enum gus_encoding encoding, const uint64_t *v, size_t n,
		     struct gus_bytes *scratch)
{
	if (v[0] || !is_constant(v, n))
		put_column(out, column, encoding, v, n, scratch);
}

/* The entries' columns. Flags and cycles that are all zero are absent, as a row's columns are. */
static void put_branches(struct gus_bytes *out, const struct gus_branch *v, size_t n, struct gus_bytes *scratch)
{
	uint64_t *values = gus_resize(NULL, n, sizeof(*values));

	scratch->n = 0;
	put_pairs(scratch, v, n);
	put_head(out, GUS_COL_BRANCH, GUS_ENCODING_PAIRS, scratch);
	for (size_t i = 0; i < n; i++)
		values[i] = v[i].flags;
	put_rows(out, GUS_COL_BRANCH_FLAGS, GUS_ENCODING_PLAIN, values, n, scratch);
	for (size_t i = 0; i < n; i++)
		values[i] = v[i].cycles;
	put_rows(out, GUS_COL_BRANCH_CYCLES, GUS_ENCODING_PLAIN, values, n, scratch);
	free(values);
}

/* Where the entries of rows lie that stand one after the other. */
struct range { size_t from, n; };

static void put_words(struct gus_bytes *out, unsigned column, const struct gus_column_values *all, struct range at,
		      struct gus_bytes *scratch)
{
	const uint64_t *v = at.n ? all->v + at.from : NULL;
	const size_t n = at.n;

	if (!n)
		return;
	if (is_constant(v, n)) {
		put_column(out, column, GUS_ENCODING_CONSTANT, v, n, scratch);
		return;
	}
	gus_bytes_varint(out, column);
	gus_bytes_varint(out, GUS_ENCODING_WORDS);
	gus_bytes_varint(out, n * sizeof(*v));
	gus_vec_reserve(out, out->n + n * sizeof(*v));
	for (size_t i = 0; i < n; i++, out->n += sizeof(*v)) {
		uint64_t word = htole64(v[i]);

		memcpy(out->v + out->n, &word, sizeof(word));
	}
}

static struct range entries_of(const uint64_t *ends, size_t from, size_t n)
{
	size_t first = from ? ends[from - 1] : 0;

	return (struct range){ first, n ? ends[from + n - 1] - first : 0 };
}

/* The rows of a column that may have fewer values than the batch has rows: a copy with the zeros that it leaves out. */
static void put_more(struct gus_bytes *out, const struct gus_column_kind *kind, const struct gus_columns *c,
		     size_t from, size_t n, struct gus_bytes *scratch)
{
	size_t have = c->column[kind->number].n > from ? c->column[kind->number].n - from : 0;
	uint64_t *values;

	if (!have)
		return;
	values = gus_zalloc(n * sizeof(*values));
	memcpy(values, c->column[kind->number].v + from, (have < n ? have : n) * sizeof(*values));
	put_rows(out, kind->number, kind->encoding, values, n, scratch);
	free(values);
}

void gus_columns_encode(const struct gus_columns *c, size_t from, size_t n, struct gus_bytes *out)
{
	struct range chain = entries_of(c->chain_end.v, from, n), branch = entries_of(c->branch_end.v, from, n);
	struct range regs = entries_of(c->regs_end.v, from, n), stack = entries_of(c->stack_end.v, from, n);
	struct range extras = entries_of(c->extras_end.v, from, n);
	const struct gus_column_kind *kind = gus_column_kinds, *end = n ? kind + gus_column_kinds_n : kind;
	struct gus_bytes scratch = { 0 };

	gus_bytes_varint(out, n);
	for (; kind < end && kind->number < GUS_COL_CHAIN; kind++)
		put_rows(out, kind->number, kind->encoding, c->column[kind->number].v + from, n, &scratch);
	if (chain.n)
		put_column(out, GUS_COL_CHAIN, GUS_ENCODING_TABLE, c->chain.v + chain.from, chain.n, &scratch);
	if (branch.n)
		put_branches(out, c->branch.v + branch.from, branch.n, &scratch);
	put_words(out, GUS_COL_REGS, &c->regs, regs, &scratch);
	put_words(out, GUS_COL_STACK, &c->stack, stack, &scratch);
	put_words(out, GUS_COL_EXTRAS, &c->extras, extras, &scratch);
	for (; kind < end; kind++)
		put_more(out, kind, c, from, n, &scratch);
	gus_vec_free(&scratch);
}
