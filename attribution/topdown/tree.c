/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/statistics/series.h"
#include "base/alloc.h"

#define DIFFERENCES_LEAST 3  /* fewer say nothing about a variance: at two degrees of freedom t is 4.3 */
#define STEP 1e-4            /* of a count, for derivatives: their error is its square, and that of rounding 1e-11 */
#define ROUNDING 1e-9        /* sums of shares in double */

struct evaluation {
	const struct gus_topdown *t;
	unsigned level;
	uint32_t *list;         /* events, as counts have them */
	size_t n;
	const struct gus_topdown_count *events, *series;
	size_t intervals;
	const struct gus_topdown_draw *draw; /* NULL: nothing was drawn */
	double *values;         /* of the table's values */
	double *floored, *corrected; /* of its nodes; NULL while derivatives are taken. corrected: NaN where the
				      * correction is not known, and left out */
	double *slopes;         /* of the node at hand, by event in the list */
};

static double scaled(const struct gus_topdown_count *c)
{
	if (!c->known || (!c->running_ns && c->enabled_ns))
		return NAN;
	return c->running_ns < c->enabled_ns ? c->value * ((double)c->enabled_ns / (double)c->running_ns) : c->value;
}

/* The method's floor, and the correction apart from the formula: a node is known without it. */
static double value_of_node(const struct evaluation *e, uint32_t index)
{
	const struct gus_topdown_node *node = &e->t->nodes.v[index];
	double correction = node->correction.n ? gus_formula_value(&node->correction, e->values) : 0;
	double value = gus_formula_value(&node->formula, e->values) + (isnan(correction) ? 0 : correction);
	bool below = node->floored && value < 0;

	if (e->floored)
		e->floored[index] = below ? -value : 0;
	if (e->corrected)
		e->corrected[index] = correction;
	return below ? 0 : value;
}

/* All values that follow from the events', which are there. */
static void fill(const struct evaluation *e)
{
	for (size_t i = 0; i < e->t->values.n; i++) {
		const struct gus_topdown_value *v = &e->t->values.v[i];

		if (v->kind == GUS_TOPDOWN_CONST)
			e->values[i] = v->number;
		else if (v->kind == GUS_TOPDOWN_LET)
			e->values[i] = gus_formula_value(&v->formula, e->values);
		else if (v->kind == GUS_TOPDOWN_NODE)
			e->values[i] = e->t->nodes.v[v->index].level <= e->level ? value_of_node(e, v->index) : NAN;
	}
}

static const struct gus_topdown_event *event_at(const struct evaluation *e, size_t i)
{
	return &e->t->events.v[e->list[i]];
}

static void fill_events(const struct evaluation *e)
{
	for (size_t i = 0; i < e->t->values.n; i++)
		e->values[i] = NAN;
	for (size_t i = 0; i < e->n; i++)
		e->values[event_at(e, i)->value] = scaled(&e->events[i]);
	fill(e);
}

/* What the group of event i has seen of the time, 1 if it was wanted at no time. */
static double seen_by(const struct gus_topdown_count *c)
{
	return c->running_ns < c->enabled_ns ? (double)c->running_ns / (double)c->enabled_ns : 1;
}

/* The first event of a group in the list, or n. All of a group run together. */
static size_t first_of(const struct evaluation *e, uint32_t group)
{
	size_t i = 0;

	while (i < e->n && event_at(e, i)->group != group)
		i++;
	return i;
}

/* Derivatives. */

static double value_at(const struct evaluation *e, uint32_t node, uint32_t value, double at)
{
	double before = e->values[value], result;

	e->values[value] = at;
	fill(e);
	result = e->values[e->t->nodes.v[node].value];
	e->values[value] = before;
	return result;
}

static void find_slopes(struct evaluation *e, uint32_t node)
{
	double *floored = e->floored, *corrected = e->corrected;

	e->floored = e->corrected = NULL;
	for (size_t i = 0; i < e->n; i++) {
		uint32_t value = event_at(e, i)->value;
		double at = e->values[value], step = at > 0 ? at * STEP : 1;

		e->slopes[i] = isnan(at) ? 0 : (value_at(e, node, value, at + step) -
						value_at(e, node, value, at - step)) / (2 * step);
	}
	fill(e);
	e->floored = floored;
	e->corrected = corrected;
}

/* What a group leaves open of a node, from how its counts differ from interval to interval; see tree.h. */
struct spread { double variance; size_t differences; };

/* How long the group ran in interval k, and what its counts there do to the node, for each ns. */
static double rate_in(const struct evaluation *e, uint32_t group, size_t k, double *running)
{
	const struct gus_topdown_count *counts = &e->series[k * e->n];
	double sum = 0;

	*running = 0;
	for (size_t i = 0; i < e->n; i++)
		if (event_at(e, i)->group == group) {
			*running = counts[i].known ? (double)counts[i].running_ns : 0;
			sum += e->slopes[i] * counts[i].value;
		}
	return *running > 0 ? sum / *running : 0;
}

static struct spread spread_of(const struct evaluation *e, uint32_t group)
{
	const struct gus_topdown_count *total = &e->events[first_of(e, group)];
	double f = seen_by(total), enabled = (double)total->enabled_ns, sum = 0, before = 0, before_ran = 0;
	struct spread s = { 0 };

	for (size_t k = 0; k < e->intervals; k++) {
		double ran, rate = rate_in(e, group, k, &ran);

		if (!(ran > 0))
			continue;
		if (before_ran > 0) {
			sum += (rate - before) * (rate - before) / (1 / before_ran + 1 / ran);
			s.differences++;
		}
		before = rate;
		before_ran = ran;
	}
	if (s.differences)
		s.variance = (1 - f) * (sum / (double)s.differences) * enabled / f;
	return s;
}

static double clip(double value)
{
	return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* With `missed`, the sum of what groups have not seen of the time. */
static void bound(struct gus_topdown_share *s, double missed)
{
	double seen = clip(1 - missed), value = clip(s->value);

	s->sureness = GUS_TOPDOWN_BOUND;
	s->low = fmin(s->value, seen * value);
	s->high = fmax(s->value, seen * value + 1 - seen);
}

static void judge_drawn(struct evaluation *e, uint32_t index, struct gus_topdown_share *s)
{
	double sum = 0, squares = 0, n = (double)e->draw->n, half;

	if (e->draw->n <= DIFFERENCES_LEAST) {
		bound(s, 1);
		return;
	}
	find_slopes(e, index);
	for (size_t i = 0; i < e->n; i++) {
		sum += e->slopes[i] * e->events[i].value;
		for (size_t k = 0; k < e->n; k++)
			squares += e->slopes[i] * e->slopes[k] * e->draw->moments[i * e->n + k];
	}
	half = gus_student_975((size_t)e->draw->n - 1) * sqrt(fmax(0, squares - sum * sum / n) * n / (n - 1));
	s->sureness = GUS_TOPDOWN_DRAWN;
	s->low = fmin(s->value, clip(s->value - half));
	s->high = fmax(s->value, clip(s->value + half));
}

/* Whether the node depends on the group. One whose events are not known can be its correction's alone, which is not in
 * it then. */
static bool is_of(const struct evaluation *e, uint32_t index, uint32_t group, size_t first)
{
	return e->t->nodes.v[index].groups >> group & 1 && first < e->n && isfinite(scaled(&e->events[first]));
}

static void judge(struct evaluation *e, uint32_t index, struct gus_topdown_share *s)
{
	size_t least = SIZE_MAX;
	double variance = 0, missed = 0, half;

	s->seen = 1;
	s->low = s->high = s->value;
	if (e->draw) {
		judge_drawn(e, index, s);
		return;
	}
	for (uint32_t group = 0; group < e->t->groups.n; group++) {
		size_t first = first_of(e, group);
		struct spread spread;

		if (!is_of(e, index, group, first) || seen_by(&e->events[first]) >= 1)
			continue;
		if (s->seen >= 1)
			find_slopes(e, index);
		spread = spread_of(e, group);
		s->seen = fmin(s->seen, seen_by(&e->events[first]));
		missed += 1 - seen_by(&e->events[first]);
		variance += spread.variance;
		least = spread.differences < least ? spread.differences : least;
	}
	if (!(missed > 0))
		return;
	if (least < DIFFERENCES_LEAST || !isfinite(variance)) {
		bound(s, missed);
		return;
	}
	half = gus_student_975(least * 2 / 3) * sqrt(variance);
	s->sureness = GUS_TOPDOWN_SERIES;
	s->low = fmin(s->value, clip(s->value - half));
	s->high = fmax(s->value, clip(s->value + half));
}

/* Sums. */

static double half_of(const struct gus_topdown_share *s)
{
	return fmax(s->high - s->value, s->value - s->low);
}

static void add_up(const struct evaluation *e, struct gus_topdown_tree *tree, uint32_t parent,
		   enum gus_topdown_unit unit, double within, struct gus_topdown_share *of)
{
	double sum = 0;

	of->allowed = within + ROUNDING + half_of(of);
	for (size_t i = 0; i < e->t->nodes.n; i++) {
		const struct gus_topdown_node *node = &e->t->nodes.v[i];
		const struct gus_topdown_share *part = &tree->shares[i];

		if (node->parent != parent || node->unit != unit || node->beside || node->level > e->level)
			continue;
		if (!part->known) {
			of->parted = false;
			return;
		}
		sum += part->value;
		of->allowed += part->floored + half_of(part);
		of->parted = true;
	}
	of->rest = of->parted ? of->value - sum : 0;
}

static void add_up_all(const struct evaluation *e, struct gus_topdown_tree *tree)
{
	for (uint32_t i = 0; i < e->t->nodes.n; i++)
		if (tree->shares[i].known)
			add_up(e, tree, i, e->t->nodes.v[i].unit, e->t->nodes.v[i].within, &tree->shares[i]);
	for (unsigned unit = 0; unit < GUS_TOPDOWN_UNITS; unit++) {
		struct gus_topdown_share *root = &tree->roots[unit];

		*root = (struct gus_topdown_share){ .known = true, .value = 1, .low = 1, .high = 1, .seen = 1 };
		add_up(e, tree, GUS_TOPDOWN_ROOT, (enum gus_topdown_unit)unit,
		       unit == GUS_TOPDOWN_SLOTS ? e->t->root_within : 0, root);
	}
}

static bool is_above(const struct evaluation *e, const struct gus_topdown_tree *tree, uint32_t index)
{
	const struct gus_topdown_node *node = &e->t->nodes.v[index];

	return tree->shares[index].value > node->above &&
	       (node->parent == GUS_TOPDOWN_ROOT || tree->shares[node->parent].above);
}

/* The value of that name is what nodes of slots are shares of. */
static double count_slots(const struct evaluation *e)
{
	for (size_t i = 0; i < e->t->values.n; i++)
		if (strcmp(e->t->values.v[i].name, "slots") == 0 && isfinite(e->values[i]))
			return e->values[i];
	return -1;
}

static uint64_t time_of(const struct evaluation *e)
{
	uint64_t most = 0;

	for (size_t i = 0; i < e->n; i++)
		most = e->events[i].known && e->events[i].enabled_ns > most ? e->events[i].enabled_ns : most;
	return most;
}

static void evaluate(struct evaluation *e, struct gus_topdown_tree *tree)
{
	const struct gus_topdown *t = e->t;

	e->list = gus_alloc((t->events.n + 1) * sizeof(*e->list));
	e->n = gus_topdown_events(t, e->level, e->list);
	e->values = gus_zalloc((t->values.n + 1) * sizeof(*e->values));
	e->slopes = gus_zalloc((e->n + 1) * sizeof(*e->slopes));
	e->floored = gus_zalloc((t->nodes.n + 1) * sizeof(*e->floored));
	e->corrected = gus_zalloc((t->nodes.n + 1) * sizeof(*e->corrected));
	*tree = (struct gus_topdown_tree){ .level = e->level,
					   .shares = gus_zalloc((t->nodes.n + 1) * sizeof(*tree->shares)) };
	fill_events(e);
	tree->slots = count_slots(e);
	tree->time_ns = time_of(e);
	for (uint32_t i = 0; i < t->nodes.n; i++) {
		struct gus_topdown_share *s = &tree->shares[i];

		s->value = e->values[t->nodes.v[i].value];
		s->known = isfinite(s->value);
		if (!s->known) {
			s->value = 0;
			continue;
		}
		s->floored = e->floored[i];
		s->uncorrected = isnan(e->corrected[i]);
		s->corrected = s->uncorrected ? 0 : e->corrected[i];
		judge(e, i, s);
		s->above = is_above(e, tree, i);
	}
	add_up_all(e, tree);
	free(e->list);
	free(e->values);
	free(e->slopes);
	free(e->floored);
	free(e->corrected);
}

void gus_topdown_evaluate(struct gus_topdown_tree *tree, const struct gus_topdown *t, unsigned level,
			  const struct gus_topdown_count *events, const struct gus_topdown_count *series, size_t n)
{
	struct evaluation e = { .t = t, .level = level, .events = events, .series = series,
				.intervals = series ? n : 0 };

	evaluate(&e, tree);
}

void gus_topdown_evaluate_drawn(struct gus_topdown_tree *tree, const struct gus_topdown *t, unsigned level,
				const struct gus_topdown_count *events, const struct gus_topdown_draw *draw)
{
	struct evaluation e = { .t = t, .level = level, .events = events, .draw = draw };

	evaluate(&e, tree);
}

void gus_topdown_tree_free(struct gus_topdown_tree *tree)
{
	free(tree->shares);
	*tree = (struct gus_topdown_tree){ 0 };
}

bool gus_topdown_adds_up(const struct gus_topdown_share *s)
{
	return !s->parted || fabs(s->rest) <= s->allowed;
}
