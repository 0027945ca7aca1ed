/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/sum.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/statistics/interval.h"

const char *gus_sum_unit_name(enum gus_sum_unit unit)
{
	static const char *const names[GUS_SUM_UNITS] = { "instruction", "block", "loop", "line", "function",
		"module", "thread", "all" };

	return names[unit];
}

/* Without padding, as bytes are compared. */
struct row_key { uint32_t module, loop, file, line, thread, reserved; uint64_t offset; };

struct part_key { uint32_t row, events, served, unknown; };

struct summing {
	struct gus_sums *s;
	const struct gus_account *a;
	enum gus_sum_unit unit;
	struct gus_index parts;
	uint32_t *row_of;               /* by place; GUS_CLUE_NONE: none yet */
	uint32_t *cell_row;             /* by cell */
};

/* The function that has a place, by the recording's names, else by the trace's, which knows where it begins although it
 * may have no name. False: neither knows of any. */
static bool name(struct summing *m, const struct gus_account_place *p, struct gus_sum_row *row)
{
	const struct gus_clues *c = m->a->clues;
	struct gus_name names[GUS_NAMES_MAX] = { { .function = NULL } };

	if (p->place.module != GUS_CLUE_NONE)
		gus_symbols_names(c->profile.symbols, gus_space_module(c->profile.space, p->place.module), p->offset,
				  m->unit == GUS_SUM_LINE ? GUS_DEPTH_LINE : GUS_DEPTH_FUNCTION, names);
	if (m->unit == GUS_SUM_LINE && names[0].file && names[0].line) {
		row->file = gus_strings_get(&m->s->strings, gus_strings_add(&m->s->strings, names[0].file));
		row->line = names[0].line;
	}
	if (names[0].function) {
		row->function = gus_strings_get(&m->s->strings, gus_strings_add(&m->s->strings, names[0].function));
		row->start = names[0].start;
	} else if (p->executed) {
		row->function = p->function;
		row->start = p->start;
	}
	return row->function || p->executed;
}

/* As a row, without numbers. */
static struct gus_sum_row describe(struct summing *m, uint32_t place)
{
	const struct gus_account_place *p = &m->a->places.v[place];
	struct gus_sum_row row = { .module = p->module, .offset = p->offset, .place = place, .thread = GUS_CLUE_NONE };

	if (m->unit == GUS_SUM_MODULE)
		row.offset = 0;
	else if (name(m, p, &row) && (m->unit == GUS_SUM_FUNCTION || m->unit == GUS_SUM_LOOP ||
				      (m->unit == GUS_SUM_LINE && !row.file)))
		row.offset = row.start;
	row.loop = m->unit == GUS_SUM_LOOP && p->in_loop;
	if (row.loop)
		row.offset = p->head;
	if (m->unit == GUS_SUM_BLOCK && p->executed)
		row.offset = p->block;
	return row;
}

/* What tells rows apart. */
static struct row_key key_of(const struct gus_strings *strings, const struct gus_sum_row *row)
{
	return (struct row_key){ gus_strings_find(strings, row->module), row->loop,
		gus_strings_find(strings, row->file ? row->file : ""), row->line, row->thread, 0,
		row->file ? 0 : row->offset };
}

static uint32_t add_row(struct summing *m, const struct gus_sum_row *row)
{
	struct row_key key;
	bool is_new;
	uint32_t number;

	gus_strings_add(&m->s->strings, row->module);
	key = key_of(&m->s->strings, row);
	number = gus_index_add(&m->s->keys, &key, &is_new);
	if (is_new)
		gus_vec_push(&m->s->rows, *row);
	return number;
}

static uint32_t row_of_place(struct summing *m, uint32_t place)
{
	struct gus_sum_row row;

	if (m->row_of[place] == GUS_CLUE_NONE) {
		row = describe(m, place);
		m->row_of[place] = add_row(m, &row);
	}
	return m->row_of[place];
}

static uint32_t row_of(struct summing *m, uint32_t place, uint32_t thread)
{
	const bool all = m->unit == GUS_SUM_ALL;
	const struct gus_sum_row of_thread = { .module = "", .place = GUS_CLUE_NONE,
		.thread = all ? GUS_CLUE_NONE : thread };

	return m->unit == GUS_SUM_THREAD || all ? add_row(m, &of_thread) : row_of_place(m, place);
}

static void add_up(struct summing *m)
{
	const struct gus_account *a = m->a;

	for (size_t i = 0; i < a->seen.n; i++) {
		uint32_t row = row_of(m, a->seen.v[i].place, a->seen.v[i].thread);

		m->s->rows.v[row].seen += a->seen.v[i].weight;
	}
	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_cell *cell = &a->cells.v[i];
		struct gus_sum_row *row;

		m->cell_row[i] = row_of(m, cell->place, cell->thread);
		row = &m->s->rows.v[m->cell_row[i]];
		row->weight += cell->weight;
		if (cell->moved && m->unit < GUS_SUM_THREAD)
			row->evidence = GUS_INFERRED;
	}
}

/* How sure that is. */

/* Of some cells, as shares of all time: what of them was moved, as replicates have it, and what stayed. */
struct amount { double moved, deviation, stayed; };

/* What was moved is sure to the deviation, within what was seen of such time; how much was seen of such time, and what
 * stayed, is by chance, as so many samples are. */
static double deviation_of(const struct gus_account *a, const struct amount *x)
{
	double explained = (double)a->explained / (double)a->weight, n = (double)a->clues->samples;
	double chance = x->stayed * (1 - x->stayed) - 2 * x->moved * x->stayed;

	if (explained > 0)
		chance += x->moved * x->moved * (1 - explained) / explained;
	return sqrt(x->deviation * x->deviation + fmax(0, chance) / n);
}

static bool bound(const struct gus_account *a, const struct amount *x, struct gus_sum_bounds *out)
{
	double share = x->moved + x->stayed, whole = (double)a->weight, n = (double)a->clues->samples;
	struct gus_interval i = gus_interval_deviation(share, deviation_of(a, x), n);

	out->low = (uint64_t)floor(i.low * whole);
	out->high = i.high * whole < whole ? (uint64_t)ceil(i.high * whole) : a->weight;
	return gus_replicates_is_fact(share, i, n);
}

/* By sum: how much there is of it. sum_of: by cell; there are so many sums. */
static void amount_to(const struct gus_account *a, const uint32_t *sum_of, size_t sums, struct amount *out)
{
	const struct gus_replicates *r = &a->solution.replicates;
	struct gus_replicates_sum *told = gus_zalloc(sums * sizeof(*told));
	uint32_t *of = gus_zalloc(r->cells.n * sizeof(*of));

	for (size_t i = 0; i < r->cells.n; i++)
		of[i] = UINT32_MAX; /* less than a unit of weight */
	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_cell *cell = &a->cells.v[i];

		if (cell->moved)
			of[cell->told] = sum_of[i];
		else
			out[sum_of[i]].stayed += (double)cell->weight / (double)a->weight;
	}
	gus_replicates_add(r, of, sums, told);
	for (size_t i = 0; i < sums; i++) {
		out[i].moved = told[i].share;
		out[i].deviation = told[i].deviation;
	}
	free(told);
	free(of);
}

static void bound_rows(struct summing *m)
{
	struct amount *amounts = gus_zalloc(m->s->rows.n * sizeof(*amounts));

	amount_to(m->a, m->cell_row, m->s->rows.n, amounts);
	for (size_t i = 0; i < m->s->rows.n; i++)
		m->s->rows.v[i].fact = bound(m->a, &amounts[i], &m->s->rows.v[i].bounds);
	free(amounts);
}

static uint32_t part_of(struct summing *m, size_t cell, struct gus_component what)
{
	struct part_key key = { m->cell_row[cell], what.events, what.served, what.unknown };

	return gus_index_add(&m->parts, &key, NULL);
}

/* Whether a part is all of its row, of which there is enough to tell: then what it is of is known, if not how much. */
static bool is_all(const struct summing *m, size_t cell, const struct amount *part)
{
	const struct gus_account *a = m->a;
	double row = (double)m->s->rows.v[m->cell_row[cell]].weight / (double)a->weight;

	return a->cells.v[cell].moved && (part->moved + part->stayed) * (1 + 1e-6) >= row &&
		row * (double)a->clues->samples >= GUS_REPLICATES_LEAST;
}

/* Of each cell the part of its row's stack that it is of: its component, if that much is a fact of the row's, else what
 * is unknown. */
static void find_parts(struct summing *m, uint32_t *part, struct gus_component *what)
{
	const struct gus_account *a = m->a;
	struct gus_sum_bounds bounds;
	struct amount *amounts;

	for (size_t i = 0; i < a->cells.n; i++)
		part[i] = part_of(m, i, a->cells.v[i].what);
	amounts = gus_zalloc(m->parts.n * sizeof(*amounts));
	amount_to(a, part, m->parts.n, amounts);
	for (size_t i = 0; i < a->cells.n; i++)
		what[i] = bound(a, &amounts[part[i]], &bounds) || is_all(m, i, &amounts[part[i]]) ?
			a->cells.v[i].what : (struct gus_component){ .unknown = true };
	free(amounts);
	for (size_t i = 0; i < a->cells.n; i++)
		part[i] = part_of(m, i, what[i]);
}

static void stack_up(struct summing *m, const struct gus_component *what)
{
	const struct gus_account *a = m->a;

	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_cell *cell = &a->cells.v[i];

		gus_stack_add(&m->s->rows.v[m->cell_row[i]].stack, what[i],
			      what[i].unknown ? GUS_UNKNOWN : cell->evidence, cell->weight);
	}
}

static void bound_parts(struct summing *m, const uint32_t *part)
{
	struct amount *amounts = gus_zalloc(m->parts.n * sizeof(*amounts));

	amount_to(m->a, part, m->parts.n, amounts);
	for (uint32_t i = 0; i < m->s->rows.n; i++) {
		struct gus_sum_row *row = &m->s->rows.v[i];

		for (size_t k = 0; k < row->stack.n; k++) {
			struct gus_component what = row->stack.v[k].what;
			struct part_key key = { i, what.events, what.served, what.unknown };
			struct gus_sum_bounds bounds;

			bound(m->a, &amounts[gus_index_find(&m->parts, &key)], &bounds);
			if (bounds.high > row->bounds.high) /* of a part that is nearly all of it */
				bounds.high = row->bounds.high;
			gus_vec_push(&row->parts, bounds);
		}
	}
	free(amounts);
}

static void tell(struct summing *m)
{
	size_t n = m->a->cells.n;
	uint32_t *part = gus_zalloc(n * sizeof(*part));
	struct gus_component *what = gus_zalloc(n * sizeof(*what));

	bound_rows(m);
	find_parts(m, part, what);
	stack_up(m, what);
	bound_parts(m, part);
	free(part);
	free(what);
}

static int by_weight(const void *a, const void *b)
{
	const struct gus_sum_row *x = a, *y = b;
	int order;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->seen != y->seen)
		return x->seen > y->seen ? -1 : 1;
	order = strcmp(x->module, y->module);
	if (order)
		return order;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void check(const struct gus_sums *s, const struct gus_account *a)
{
	uint64_t weight = 0, seen = 0;

	for (size_t i = 0; i < s->rows.n; i++) {
		gus_stack_check(&s->rows.v[i].stack, s->rows.v[i].weight);
		weight += s->rows.v[i].weight;
		seen += s->rows.v[i].seen;
	}
	assert(weight == a->weight && seen == a->weight);
	(void)weight;
	(void)seen;
	(void)a;
}

static void order(struct gus_sums *s)
{
	if (s->rows.n)
		qsort(s->rows.v, s->rows.n, sizeof(*s->rows.v), by_weight);
	gus_index_free(&s->keys);
	gus_index_init(&s->keys, sizeof(struct row_key));
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct row_key key = key_of(&s->strings, &s->rows.v[i]);

		gus_index_add(&s->keys, &key, NULL);
	}
	assert(s->keys.n == s->rows.n);
}

void gus_sums_make(struct gus_sums *s, const struct gus_account *a, enum gus_sum_unit unit)
{
	struct summing m = { .s = s, .a = a, .unit = unit,
		.row_of = gus_zalloc(a->places.n * sizeof(*m.row_of)),
		.cell_row = gus_zalloc(a->cells.n * sizeof(*m.cell_row)) };

	*s = (struct gus_sums){ .rows = { 0 } };
	gus_strings_init(&s->strings);
	gus_index_init(&s->keys, sizeof(struct row_key));
	gus_index_init(&m.parts, sizeof(struct part_key));
	for (size_t i = 0; i < a->places.n; i++)
		m.row_of[i] = GUS_CLUE_NONE;
	add_up(&m);
	tell(&m);
	check(s, a);
	order(s);
	gus_index_free(&m.parts);
	free(m.row_of);
	free(m.cell_row);
}

void gus_sums_free(struct gus_sums *s)
{
	for (size_t i = 0; i < s->rows.n; i++) {
		gus_stack_free(&s->rows.v[i].stack);
		gus_vec_free(&s->rows.v[i].parts);
	}
	gus_vec_free(&s->rows);
	gus_strings_free(&s->strings);
	gus_index_free(&s->keys);
}

const struct gus_sum_row *gus_sums_find(const struct gus_sums *s, const struct gus_sum_row *as)
{
	const struct row_key key = key_of(&s->strings, as);
	uint32_t number = gus_index_find(&s->keys, &key);

	return number == GUS_INDEX_NONE ? NULL : &s->rows.v[number];
}
