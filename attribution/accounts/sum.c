/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/sum.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/traced.h"
#include "symbolizer/insn/loops.h"

const char *gus_sum_unit_name(enum gus_sum_unit unit)
{
	static const char *const names[GUS_SUM_UNITS] = { "instruction", "block", "loop", "function", "module",
		"thread" };

	return names[unit];
}

/* What tells rows apart. All of one size, as bytes are compared. */
struct row_key { uint32_t module, loop; uint64_t offset; };

struct summing {
	struct gus_sums *s;
	const struct gus_account *a;
	enum gus_sum_unit unit;
	struct gus_index keys;
	uint32_t *row_of;               /* by place; GUS_CLUE_NONE: none yet */
};

/* The function that has a place, by the recording's names, else by the trace's, which knows where it begins although it
 * may have no name. False: neither knows of any. */
static bool name(struct summing *m, const struct gus_clue_place *p, struct gus_sum_row *row)
{
	const struct gus_clues *c = m->a->clues;
	struct gus_name names[GUS_NAMES_MAX] = { { .function = NULL } };
	const struct gus_traced_function *f;

	if (p->place.module != GUS_CLUE_NONE)
		gus_symbols_names(c->profile.symbols, gus_space_module(c->profile.space, p->place.module), p->offset,
				  GUS_DEPTH_FUNCTION, names);
	if (names[0].function) {
		row->function = gus_strings_get(&m->s->strings, gus_strings_add(&m->s->strings, names[0].function));
		row->start = names[0].start;
	} else if (p->block != GUS_CLUE_NONE) {
		f = &c->traced->functions.v[c->traced->regions.v[c->traced->blocks.v[p->block].region].function];
		row->function = f->name;
		row->start = f->start;
	}
	return row->function || p->block != GUS_CLUE_NONE;
}

static void set_loop(const struct gus_account *a, const struct gus_clue_place *p, struct gus_sum_row *row)
{
	const struct gus_traced *t = a->clues->traced;
	const struct gus_traced_region *r = p->block == GUS_CLUE_NONE ? NULL :
		&t->regions.v[t->blocks.v[p->block].region];
	const struct gus_traced_function *f = r ? &t->functions.v[r->function] : NULL;

	if (!r || r->loop == GUS_TRACED_NONE)
		return;
	row->offset = f->start + f->graph->insns.v[f->graph->loops.v[r->loop].head].offset;
	row->loop = true;
}

/* As a row, without numbers. */
static struct gus_sum_row describe(struct summing *m, uint32_t place)
{
	const struct gus_clue_place *p = &m->a->places.v[place];
	struct gus_sum_row row = { .module = p->module, .offset = p->offset, .place = place, .thread = GUS_CLUE_NONE };

	if (m->unit == GUS_SUM_MODULE)
		row.offset = 0;
	else if (name(m, p, &row) && (m->unit == GUS_SUM_FUNCTION || m->unit == GUS_SUM_LOOP))
		row.offset = row.start;
	if (m->unit == GUS_SUM_LOOP)
		set_loop(m->a, p, &row);
	if (m->unit == GUS_SUM_BLOCK && p->block != GUS_CLUE_NONE && *p->module)
		row.offset = m->a->clues->traced->blocks.v[p->block].offset;
	return row;
}

static uint32_t add_row(struct summing *m, const struct gus_sum_row *row, const struct row_key *key)
{
	bool is_new;
	uint32_t number = gus_index_add(&m->keys, key, &is_new);

	if (is_new)
		gus_vec_push(&m->s->rows, *row);
	return number;
}

static uint32_t row_of_place(struct summing *m, uint32_t place)
{
	struct gus_sum_row row;
	struct row_key key;

	if (m->row_of[place] == GUS_CLUE_NONE) {
		row = describe(m, place);
		key = (struct row_key){ gus_strings_add(&m->s->strings, row.module), row.loop, row.offset };
		m->row_of[place] = add_row(m, &row, &key);
	}
	return m->row_of[place];
}

static struct gus_sum_row *row_of(struct summing *m, uint32_t place, uint32_t thread)
{
	const struct gus_sum_row of_thread = { .module = "", .place = GUS_CLUE_NONE, .thread = thread };
	const struct row_key key = { .offset = thread };
	uint32_t number = m->unit == GUS_SUM_THREAD ? add_row(m, &of_thread, &key) : row_of_place(m, place);

	return &m->s->rows.v[number];
}

static void add_up(struct summing *m)
{
	const struct gus_account *a = m->a;

	for (size_t i = 0; i < a->seen.n; i++)
		row_of(m, a->seen.v[i].place, a->seen.v[i].thread)->seen += a->seen.v[i].weight;
	for (size_t i = 0; i < a->cells.n; i++) {
		const struct gus_account_cell *cell = &a->cells.v[i];
		struct gus_sum_row *row = row_of(m, cell->place, cell->thread);

		row->weight += cell->weight;
		gus_stack_add(&row->stack, cell->what, cell->evidence, cell->weight);
		if (cell->moved && m->unit != GUS_SUM_THREAD)
			row->evidence = GUS_INFERRED;
	}
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

void gus_sums_make(struct gus_sums *s, const struct gus_account *a, enum gus_sum_unit unit)
{
	struct summing m = { .s = s, .a = a, .unit = unit,
		.row_of = gus_zalloc((a->places.n + 1) * sizeof(*m.row_of)) };

	*s = (struct gus_sums){ .rows = { 0 } };
	gus_strings_init(&s->strings);
	gus_index_init(&m.keys, sizeof(struct row_key));
	for (size_t i = 0; i < a->places.n; i++)
		m.row_of[i] = GUS_CLUE_NONE;
	add_up(&m);
	check(s, a);
	if (s->rows.n)
		qsort(s->rows.v, s->rows.n, sizeof(*s->rows.v), by_weight);
	gus_index_free(&m.keys);
	free(m.row_of);
}

void gus_sums_free(struct gus_sums *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		gus_stack_free(&s->rows.v[i].stack);
	gus_vec_free(&s->rows);
	gus_strings_free(&s->strings);
}
