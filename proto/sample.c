/* SPDX-License-Identifier: MIT */
/* Batches of rows as columns, and their encoding. What reads them back is columns_decode.c. */
#include "proto/sample.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "proto/columns.h"

void gus_columns_clear(struct gus_columns *c)
{
	c->n = 0;
	for (int i = 0; i < GUS_COL_COUNT; i++)
		c->column[i].n = 0;
	c->chain.n = 0;
	c->chain_end.n = 0;
	c->branch.n = 0;
	c->branch_end.n = 0;
}

void gus_columns_free(struct gus_columns *c)
{
	for (int i = 0; i < GUS_COL_COUNT; i++)
		gus_vec_free(&c->column[i]);
	gus_vec_free(&c->chain);
	gus_vec_free(&c->chain_end);
	gus_vec_free(&c->branch);
	gus_vec_free(&c->branch_end);
	c->n = 0;
}

void gus_columns_prepare(struct gus_columns *c, size_t rows)
{
	for (int i = 1; i < GUS_COL_COUNT; i++) {
		gus_vec_reserve(&c->column[i], rows);
		memset(c->column[i].v, 0, rows * sizeof(uint64_t));
	}
	gus_vec_reserve(&c->chain_end, rows);
	memset(c->chain_end.v, 0, rows * sizeof(uint64_t));
}

static void push_row(struct gus_columns *c, const uint64_t row[GUS_COL_COUNT])
{
	for (int i = 1; i < GUS_COL_COUNT; i++)
		gus_vec_push(&c->column[i], row[i]);
	gus_vec_push(&c->chain_end, c->chain.n);
	gus_vec_push(&c->branch_end, c->branch.n);
	c->n++;
}

void gus_columns_push(struct gus_columns *c, const struct gus_sample *s)
{
	gus_vec_append(&c->chain, s->chain, s->chain_n);
	gus_vec_append(&c->branch, s->branches, s->branches_n);
	push_row(c, (uint64_t[GUS_COL_COUNT]){
		[GUS_COL_EVENT] = s->event,
		[GUS_COL_IP] = s->ip,
		[GUS_COL_TIME] = s->time,
		[GUS_COL_PERIOD] = s->period,
		[GUS_COL_PID] = s->pid,
		[GUS_COL_TID] = s->tid,
		[GUS_COL_CPU] = s->cpu,
		[GUS_COL_MODE] = s->mode | (s->exact ? 16u : 0u),
		[GUS_COL_CHAIN_N] = s->chain_n,
		[GUS_COL_BRANCHES_N] = s->branches_n,
		[GUS_COL_BRANCH_INDEX] = s->branch_index,
	});
}

void gus_columns_push_switch(struct gus_columns *c, const struct gus_switch *sw)
{
	push_row(c, (uint64_t[GUS_COL_COUNT]){
		[GUS_COL_TIME] = sw->time,
		[GUS_COL_PID] = sw->pid,
		[GUS_COL_TID] = sw->tid,
		[GUS_COL_CPU] = sw->cpu,
		[GUS_COL_MODE] = (sw->out ? 1u : 0u) | (sw->preempt ? 2u : 0u),
	});
}

struct gus_sample gus_columns_sample(const struct gus_columns *c, size_t i)
{
	uint64_t mode = c->column[GUS_COL_MODE].v[i];
	uint64_t chain_n = c->column[GUS_COL_CHAIN_N].v[i], branches_n = c->column[GUS_COL_BRANCHES_N].v[i];

	return (struct gus_sample){
		.ip = c->column[GUS_COL_IP].v[i],
		.time = c->column[GUS_COL_TIME].v[i],
		.period = c->column[GUS_COL_PERIOD].v[i],
		.pid = (uint32_t)c->column[GUS_COL_PID].v[i],
		.tid = (uint32_t)c->column[GUS_COL_TID].v[i],
		.cpu = (uint32_t)c->column[GUS_COL_CPU].v[i],
		.event = (uint32_t)c->column[GUS_COL_EVENT].v[i],
		.mode = mode & 15,
		.exact = (mode & 16) != 0,
		.chain_n = (uint32_t)chain_n,
		.chain = chain_n ? c->chain.v + c->chain_end.v[i] - chain_n : NULL,
		.branches_n = (uint32_t)branches_n,
		.branches = branches_n ? c->branch.v + c->branch_end.v[i] - branches_n : NULL,
		.branch_index = c->column[GUS_COL_BRANCH_INDEX].v[i],
	};
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

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t rank_of(const uint64_t *sorted, size_t n, uint64_t value)
{
	const uint64_t *at = bsearch(&value, sorted, n, sizeof(*sorted), by_value);

	return (size_t)(at - sorted);
}

/* Addresses repeat: a program spends its time in a few places. Their numbers in a sorted table are one or two bytes and
 * compress well, where differences between far places are four. */
static void put_table(struct gus_bytes *out, const uint64_t *v, size_t n)
{
	uint64_t *sorted = gus_resize(NULL, n, sizeof(*v)), before = 0;
	size_t distinct = 0;

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*v), by_value);
	for (size_t i = 0; i < n; i++)
		if (!distinct || sorted[distinct - 1] != sorted[i])
			sorted[distinct++] = sorted[i];
	gus_bytes_varint(out, distinct);
	for (size_t i = 0; i < distinct; i++) {
		gus_bytes_varint(out, sorted[i] - before);
		before = sorted[i];
	}
	for (size_t i = 0; i < n; i++)
		gus_bytes_varint(out, rank_of(sorted, distinct, v[i]));
	free(sorted);
}

static int by_branch(const void *a, const void *b)
{
	const struct gus_branch *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Branches repeat even more: a loop of a few of them fills a stack. */
static void put_pairs(struct gus_bytes *out, const struct gus_branch *v, size_t n)
{
	struct gus_branch *sorted = gus_resize(NULL, n, sizeof(*v));
	size_t distinct = 0;
	uint64_t before = 0;

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*v), by_branch);
	for (size_t i = 0; i < n; i++)
		if (!distinct || by_branch(&sorted[distinct - 1], &sorted[i]) != 0)
			sorted[distinct++] = sorted[i];
	gus_bytes_varint(out, distinct);
	for (size_t i = 0; i < distinct; i++) {
		gus_bytes_varint(out, sorted[i].from - before);
		gus_bytes_varint(out, gus_zigzag((int64_t)(sorted[i].to - sorted[i].from)));
		before = sorted[i].from;
	}
	for (size_t i = 0; i < n; i++) {
		const struct gus_branch *at = bsearch(&v[i], sorted, distinct, sizeof(*sorted), by_branch);

		gus_bytes_varint(out, (uint64_t)(at - sorted));
	}
	free(sorted);
}

static enum gus_encoding encoding_of(unsigned column, const uint64_t *v, size_t n)
{
	if (is_constant(v, n))
		return GUS_ENCODING_CONSTANT;
	switch (column) {
	case GUS_COL_TIME:
	case GUS_COL_PERIOD:
		return GUS_ENCODING_DELTA;
	case GUS_COL_IP:
	case GUS_COL_CHAIN:
		return GUS_ENCODING_TABLE;
	default:
		return GUS_ENCODING_PLAIN;
	}
}

/* One column: varint number, varint encoding, varint length in bytes, the bytes. */
static void put_head(struct gus_bytes *out, unsigned column, enum gus_encoding encoding, const struct gus_bytes *bytes)
{
	gus_bytes_varint(out, column);
	gus_bytes_varint(out, encoding);
	gus_bytes_varint(out, bytes->n);
	gus_vec_append(out, bytes->v, bytes->n);
}

static void put_column(struct gus_bytes *out, unsigned column, const uint64_t *v, size_t n, struct gus_bytes *scratch)
{
	enum gus_encoding encoding = encoding_of(column, v, n);

	scratch->n = 0;
	switch (encoding) {
	case GUS_ENCODING_CONSTANT:
		gus_bytes_varint(scratch, gus_zigzag((int64_t)v[0]));
		break;
	case GUS_ENCODING_DELTA:
		put_deltas(scratch, v, n);
		break;
	case GUS_ENCODING_TABLE:
		put_table(scratch, v, n);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			gus_bytes_varint(scratch, v[i]);
		break;
	}
	put_head(out, column, encoding, scratch);
}

/* The same, unless it is zero throughout: an absent column reads as zero. */
static void put_rows(struct gus_bytes *out, unsigned column, const uint64_t *v, size_t n, struct gus_bytes *scratch)
{
	if (v[0] || !is_constant(v, n))
		put_column(out, column, v, n, scratch);
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
	put_rows(out, GUS_COL_BRANCH_FLAGS, values, n, scratch);
	for (size_t i = 0; i < n; i++)
		values[i] = v[i].cycles;
	put_rows(out, GUS_COL_BRANCH_CYCLES, values, n, scratch);
	free(values);
}
void gus_columns_encode(const struct gus_columns *c, size_t from, size_t n, struct gus_bytes *out)
{
	size_t chain_from = from ? c->chain_end.v[from - 1] : 0;
	size_t chain_n = n ? c->chain_end.v[from + n - 1] - chain_from : 0;
	size_t branch_from = from ? c->branch_end.v[from - 1] : 0;
	size_t branch_n = n ? c->branch_end.v[from + n - 1] - branch_from : 0;
	struct gus_bytes scratch = { 0 };

	gus_bytes_varint(out, n);
	for (unsigned i = 1; n && i < GUS_COL_COUNT; i++)
		put_rows(out, i, c->column[i].v + from, n, &scratch);
	if (chain_n)
		put_column(out, GUS_COL_CHAIN, c->chain.v + chain_from, chain_n, &scratch);
	if (branch_n)
		put_branches(out, c->branch.v + branch_from, branch_n, &scratch);
	gus_vec_free(&scratch);
}
