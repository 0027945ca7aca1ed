/* SPDX-License-Identifier: MIT */
#include "attribution/differences/differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/statistics/series.h"

struct gus_difference_value gus_difference_of(const struct gus_difference_value *a,
					      const struct gus_difference_value *b)
{
	double change = b->value - a->value;

	return (struct gus_difference_value){ change, change - hypot(b->value - b->low, a->high - a->value),
		change + hypot(b->high - b->value, a->value - a->low) };
}

bool gus_difference_is_sure(const struct gus_difference_value *d)
{
	return d->low > 0 || d->high < 0;
}

/* Sides. */

struct gus_difference_value gus_difference_sum(const struct gus_difference_value *a,
					       const struct gus_difference_value *b)
{
	double value = a->value + b->value;

	return (struct gus_difference_value){ value, value - hypot(a->value - a->low, b->value - b->low),
		value + hypot(a->high - a->value, b->high - b->value) };
}

static bool is_same(const struct gus_component *a, const struct gus_component *b)
{
	return a->events == b->events && a->served == b->served && a->unknown == b->unknown;
}

void gus_difference_add_part(struct gus_difference_item *item, const struct gus_difference_part *part)
{
	for (size_t i = 0; i < item->parts.n; i++) {
		if (!is_same(&item->parts.v[i].what, &part->what))
			continue;
		item->parts.v[i].v = gus_difference_sum(&item->parts.v[i].v, &part->v);
		return;
	}
	gus_vec_push(&item->parts, *part);
}

void gus_difference_side_init(struct gus_difference_side *s)
{
	*s = (struct gus_difference_side){ 0 };
	gus_strings_init(&s->keys);
}

static void free_item(struct gus_difference_item *item)
{
	free(item->key);
	free(item->name);
	free(item->function);
	free(item->within);
	free(item->each);
	for (size_t i = 0; i < item->parts.n; i++)
		free(item->parts.v[i].each);
	gus_vec_free(&item->parts);
}

struct gus_difference_item *gus_difference_add(struct gus_difference_side *s, struct gus_difference_item *item)
{
	/* With its NUL, as a key may be "", which is no number of an item: a thread's name may. */
	uint32_t number = gus_strings_add_n(&s->keys, item->key, strlen(item->key) + 1);
	struct gus_difference_item *old;

	if (number > s->items.n) {
		gus_vec_push(&s->items, *item);
		return &s->items.v[s->items.n - 1];
	}
	old = &s->items.v[number - 1];
	old->v = gus_difference_sum(&old->v, &item->v);
	old->seen = gus_difference_sum(&old->seen, &item->seen);
	old->stayed &= item->stayed;
	for (size_t k = 0; k < item->parts.n; k++)
		gus_difference_add_part(old, &item->parts.v[k]);
	free_item(item);
	return old;
}

/* Instructions by where they are. */

struct code gus_vec(struct gus_difference_item *);

static int by_code(const void *a, const void *b)
{
	const struct gus_difference_item *x = *(struct gus_difference_item *const *)a;
	const struct gus_difference_item *y = *(struct gus_difference_item *const *)b;
	int order = strcmp(x->within, y->within);

	return order ? order : x->offset < y->offset ? -1 : x->offset > y->offset;
}

static struct code code_of(const struct gus_difference_side *s)
{
	struct code code = { 0 };

	for (size_t i = 0; i < s->items.n; i++)
		if (s->items.v[i].within)
			gus_vec_push(&code, &s->items.v[i]);
	if (code.n)
		qsort(code.v, code.n, sizeof(*code.v), by_code);
	return code;
}

/* Whether a side tells where the time about an instruction belongs. It may not have that instruction: what would be
 * seen of it is at the next one, and at the end of code all that is known is of what is before it. */
static bool tells(const struct code *code, struct gus_difference_item *item)
{
	size_t low = 0, high = code->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_code(&code->v[mid], &item) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < code->n && strcmp(code->v[low]->within, item->within) == 0)
		return !code->v[low]->stayed;
	return low > 0 && strcmp(code->v[low - 1]->within, item->within) == 0 && !code->v[low - 1]->stayed;
}

static void take_as_seen(struct gus_difference_item *item)
{
	item->v = item->seen;
	item->parts.n = 0;
	gus_difference_add_part(item, &(struct gus_difference_part){ { .unknown = true }, item->seen });
}

/* What is changed on one side while the other is asked is none of what is asked. */
static void level(const struct code *of, const struct code *by)
{
	for (size_t i = 0; i < of->n; i++)
		if (!of->v[i]->stayed && !tells(by, of->v[i]))
			take_as_seen(of->v[i]);
}

void gus_difference_level(struct gus_difference_side *a, struct gus_difference_side *b)
{
	struct code x = code_of(a), y = code_of(b);

	level(&x, &y);
	level(&y, &x);
	gus_vec_free(&x);
	gus_vec_free(&y);
}

static void scale(struct gus_difference_value *v, double by)
{
	v->value *= by;
	v->low *= by;
	v->high *= by;
}

void gus_difference_scale(struct gus_difference_side *s, double by)
{
	scale(&s->total, by);
	s->unseen *= by;
	for (size_t i = 0; i < s->items.n; i++) {
		scale(&s->items.v[i].v, by);
		for (size_t k = 0; k < s->items.v[i].parts.n; k++)
			scale(&s->items.v[i].parts.v[k].v, by);
	}
}

double gus_difference_function(const struct gus_difference_side *s, const char *function)
{
	double value = 0;

	for (size_t i = 0; i < s->items.n; i++)
		if (s->items.v[i].function && strcmp(s->items.v[i].function, function) == 0)
			value += s->items.v[i].v.value;
	return value;
}

void gus_difference_side_free(struct gus_difference_side *s)
{
	for (size_t i = 0; i < s->items.n; i++)
		free_item(&s->items.v[i]);
	gus_vec_free(&s->items);
	free(s->each);
	gus_strings_free(&s->keys);
}

/* A value of a side, with what it is the mean of, or NULL. */
struct measured { struct gus_difference_value v; const double *each; };

static struct measured value_of(const struct gus_difference_item *item, const struct gus_difference_side *s)
{
	return item ? (struct measured){ item->v, item->each } : (struct measured){ { 0, 0, s->unseen }, NULL };
}

static const struct gus_difference_part *find_part(const struct gus_difference_item *item,
						   const struct gus_component *what)
{
	for (size_t i = 0; item && i < item->parts.n; i++)
		if (is_same(&item->parts.v[i].what, what))
			return &item->parts.v[i];
	return NULL;
}

static struct measured part_of(const struct gus_difference_item *item, const struct gus_component *what,
			       const struct gus_difference_side *s)
{
	const struct gus_difference_part *part = find_part(item, what);

	return part ? (struct measured){ part->v, part->each } : (struct measured){ { 0, 0, s->unseen }, NULL };
}

/* Several runs. */

static char *copy_of(const char *text)
{
	return text ? gus_strdup(text) : NULL;
}

/* The rows of a side and their components, without values. */
static void add_rows(struct gus_difference_side *into, const struct gus_difference_side *side)
{
	for (size_t i = 0; i < side->items.n; i++) {
		const struct gus_difference_item *from = &side->items.v[i];
		struct gus_difference_item *item = gus_difference_add(into, &(struct gus_difference_item){
			.key = gus_strdup(from->key), .name = copy_of(from->name), .function = copy_of(from->function),
			.within = copy_of(from->within), .offset = from->offset });

		for (size_t k = 0; k < from->parts.n; k++)
			if (!find_part(item, &from->parts.v[k].what))
				gus_vec_push(&item->parts, (struct gus_difference_part){ from->parts.v[k].what });
	}
}

static const struct gus_difference_item *find_item(const struct gus_difference_side *s, const char *key)
{
	uint32_t number = gus_strings_find_n(&s->keys, key, strlen(key) + 1);

	return number == GUS_INDEX_NONE ? NULL : &s->items.v[number - 1];
}

static void add_run(struct gus_difference_value *sum, double **each, const struct gus_difference_value *v, size_t run)
{
	*sum = gus_difference_sum(sum, v);
	*each = gus_resize(*each, run + 1, sizeof(**each));
	(*each)[run] = v->value;
}

static void add_item(struct gus_difference_item *item, const struct gus_difference_side *side, size_t run)
{
	const struct gus_difference_item *of = find_item(side, item->key);
	struct measured m = value_of(of, side);

	add_run(&item->v, &item->each, &m.v, run);
	for (size_t i = 0; i < item->parts.n; i++) {
		m = part_of(of, &item->parts.v[i].what, side);
		add_run(&item->parts.v[i].v, &item->parts.v[i].each, &m.v, run);
	}
}

void gus_difference_pool(struct gus_difference_side *into, const struct gus_difference_side *sides, size_t n)
{
	gus_difference_side_init(into);
	for (size_t run = 0; run < n; run++) {
		add_rows(into, &sides[run]);
		add_run(&into->total, &into->each, &sides[run].total, run);
		into->unseen = hypot(into->unseen, sides[run].unseen);
	}
	for (size_t i = 0; i < into->items.n; i++)
		for (size_t run = 0; run < n; run++)
			add_item(&into->items.v[i], &sides[run], run);
	into->runs = n;
	gus_difference_scale(into, 1.0 / (double)n);
}

/* Rows. */

/* As sure as the mean of so many is, and no surer than it was. */
static void heed(struct gus_difference_value *mean, struct gus_series each)
{
	struct gus_interval t = gus_series_summary(&each).ci95;

	mean->low = fmin(mean->low, t.low);
	mean->high = fmax(mean->high, t.high);
}

/* What runs tell; where a side has no such row, each of its runs has 0. */
static void heed_runs(struct gus_difference_row *row, const double *a, const double *b, size_t runs)
{
	struct gus_series of[3] = { 0 };

	for (size_t i = 0; i < runs; i++) {
		double x = a ? a[i] : 0, y = b ? b[i] : 0;

		gus_vec_push(&of[0], x);
		gus_vec_push(&of[1], y);
		gus_vec_push(&of[2], y - x);
	}
	heed(&row->a, of[0]);
	heed(&row->b, of[1]);
	heed(&row->change, of[2]);
	for (int i = 0; i < 3; i++)
		gus_vec_free(&of[i]);
}

/* What is common to both of a pair is in both values, and not in the change. */
static void compare(struct gus_difference_row *row, const struct measured *a, const struct measured *b, size_t runs)
{
	row->a = a->v;
	row->b = b->v;
	row->change = gus_difference_of(&a->v, &b->v);
	if (runs > 1)
		heed_runs(row, a->each, b->each, runs);
	row->sure = gus_difference_is_sure(&row->change);
}

static void add_change(struct gus_difference_row *row, const struct gus_component *what,
		       const struct gus_difference_side *const sides[2])
{
	struct measured a = part_of(row->of[0], what, sides[0]), b = part_of(row->of[1], what, sides[1]);
	struct gus_difference_row of = { 0 };

	for (size_t i = 0; i < row->parts.n; i++)
		if (is_same(&row->parts.v[i].what, what))
			return;
	compare(&of, &a, &b, sides[0]->runs);
	gus_vec_push(&row->parts, (struct gus_difference_change){ *what, of.a, of.b, of.change });
}

static int by_change(const void *a, const void *b)
{
	const struct gus_difference_change *x = a, *y = b;
	double p = fabs(x->change.value), q = fabs(y->change.value);

	if (p != q)
		return p > q ? -1 : 1;
	return x->what.events < y->what.events ? -1 : x->what.events > y->what.events;
}

static struct gus_difference_row row_of(const struct gus_difference_item *a, const struct gus_difference_item *b,
					const struct gus_difference_side *const sides[2])
{
	struct measured x = value_of(a, sides[0]), y = value_of(b, sides[1]);
	struct gus_difference_row row = { .of = { a, b } };

	compare(&row, &x, &y, sides[0]->runs);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; row.of[side] && i < row.of[side]->parts.n; i++)
			add_change(&row, &row.of[side]->parts.v[i].what, sides);
	if (row.parts.n)
		qsort(row.parts.v, row.parts.n, sizeof(*row.parts.v), by_change);
	return row;
}

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const struct gus_difference_item *const *)a)->key,
		      (*(const struct gus_difference_item *const *)b)->key);
}

struct sorted gus_vec(const struct gus_difference_item *);

static struct sorted sort_items(const struct gus_difference_side *s)
{
	struct sorted sorted = { 0 };

	for (size_t i = 0; i < s->items.n; i++)
		gus_vec_push(&sorted, &s->items.v[i]);
	if (sorted.n)
		qsort(sorted.v, sorted.n, sizeof(*sorted.v), by_key);
	return sorted;
}

static int by_importance(const void *a, const void *b)
{
	const struct gus_difference_row *x = a, *y = b;
	double p = fabs(x->change.value), q = fabs(y->change.value);

	if (x->sure != y->sure)
		return x->sure ? -1 : 1;
	if (p != q)
		return p > q ? -1 : 1;
	return strcmp((x->of[0] ? x->of[0] : x->of[1])->key, (y->of[0] ? y->of[0] : y->of[1])->key);
}

void gus_differences_make(struct gus_differences *d, const struct gus_difference_side *a,
			  const struct gus_difference_side *b)
{
	const struct gus_difference_side *const sides[2] = { a, b };
	struct sorted x = sort_items(a), y = sort_items(b);
	size_t i = 0, k = 0;

	*d = (struct gus_differences){ 0 };
	compare(&d->total, &(struct measured){ a->total, a->each }, &(struct measured){ b->total, b->each }, a->runs);
	while (i < x.n || k < y.n) {
		int order = i == x.n ? 1 : k == y.n ? -1 : strcmp(x.v[i]->key, y.v[k]->key);
		const struct gus_difference_item *p = order <= 0 ? x.v[i++] : NULL, *q = order >= 0 ? y.v[k++] : NULL;

		gus_vec_push(&d->rows, row_of(p, q, sides));
	}
	if (d->rows.n)
		qsort(d->rows.v, d->rows.n, sizeof(*d->rows.v), by_importance);
	gus_vec_free(&x);
	gus_vec_free(&y);
}

void gus_differences_free(struct gus_differences *d)
{
	for (size_t i = 0; i < d->rows.n; i++)
		gus_vec_free(&d->rows.v[i].parts);
	gus_vec_free(&d->rows);
	gus_vec_free(&d->total.parts);
}
