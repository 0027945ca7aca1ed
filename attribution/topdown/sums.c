/* SPDX-License-Identifier: MIT */
#include "attribution/topdown/sums.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/topdown/tree.h"
#include "base/limits.h"

/* Makes sums up to that number. */
static void reach(struct gus_topdown_sums *s, size_t number)
{
	if (number < s->n)
		return;
	gus_vec_reserve(&s->heads, number + 1);
	gus_vec_reserve(&s->counts, (number + 1) * s->events + 1);
	for (; s->n <= number; s->n++) {
		s->heads.v[s->n] = (struct gus_topdown_sum){ 0 };
		for (size_t i = 0; i < s->events; i++)
			s->counts.v[s->n * s->events + i] = 0;
	}
	s->heads.n = s->n;
	s->counts.n = s->n * s->events;
}

/* Cells are many, and samples with counts may be few, so what grows with the square of the events is made for those. */
static double *moments_of(struct gus_topdown_sums *s, size_t number)
{
	const size_t each = s->events * s->events;
	struct gus_topdown_sum *sum = &s->heads.v[number];

	if (!sum->moments) {
		sum->moments = ++s->moments_n;
		gus_vec_reserve(&s->moments, s->moments_n * each + 1);
		for (; s->moments.n < s->moments_n * each; s->moments.n++)
			s->moments.v[s->moments.n] = 0;
	}
	return &s->moments.v[(sum->moments - 1) * each];
}

static void add_head(struct gus_topdown_sum *sum, uint64_t differences, uint64_t enabled_ns, uint64_t running_ns)
{
	sum->differences += differences;
	sum->enabled_ns = gus_saturated(sum->enabled_ns, enabled_ns);
	sum->running_ns = gus_saturated(sum->running_ns, running_ns);
}

static void add_counts(struct gus_topdown_sums *s, size_t number, const uint64_t *counts)
{
	uint64_t *sum = &s->counts.v[number * s->events];

	for (size_t i = 0; i < s->events; i++)
		sum[i] = gus_saturated(sum[i], counts[i]);
}

void gus_topdown_sums_add(struct gus_topdown_sums *s, size_t number, const struct gus_topdown_difference *d)
{
	double *moments;

	reach(s, number);
	add_head(&s->heads.v[number], 1, d->enabled_ns, d->running_ns);
	add_counts(s, number, d->counts);
	moments = moments_of(s, number);
	for (size_t i = 0; i < s->events; i++)
		for (size_t j = 0; j < s->events; j++)
			moments[i * s->events + j] += (double)d->counts[i] * (double)d->counts[j];
}

void gus_topdown_sums_merge(struct gus_topdown_sums *s, size_t number, const struct gus_topdown_sums *from, size_t j)
{
	const size_t each = s->events * s->events;
	const struct gus_topdown_sum *head;
	double *moments;

	if (j >= from->n || !from->heads.v[j].moments)
		return;
	reach(s, number);
	head = &from->heads.v[j];
	add_head(&s->heads.v[number], head->differences, head->enabled_ns, head->running_ns);
	add_counts(s, number, &from->counts.v[j * s->events]);
	moments = moments_of(s, number);
	for (size_t i = 0; i < each; i++)
		moments[i] += from->moments.v[(head->moments - 1) * each + i];
}

/* What was not seen while others had the counters is in no difference: nothing is scaled. */
static void fill(const struct gus_topdown_sums *s, size_t number, const uint32_t *at, size_t n,
		 struct gus_topdown_count *counts, double *moments)
{
	const uint64_t ran = s->heads.v[number].running_ns, *sum = &s->counts.v[number * s->events];
	const uint32_t own = s->heads.v[number].moments;

	for (size_t i = 0; i < s->events; i++) {
		counts[at[i]] = (struct gus_topdown_count){ (double)sum[i], ran, ran, true };
		for (size_t j = 0; j < s->events && own; j++)
			moments[at[i] * n + at[j]] = s->moments.v[((own - 1) * s->events + i) * s->events + j];
	}
}

void gus_topdown_sums_tree(const struct gus_topdown_sums *s, size_t number, const struct gus_topdown *table,
			   const uint32_t *at, bool drawn, struct gus_topdown_tree *tree)
{
	uint32_t *list = gus_alloc((table->events.n + 1) * sizeof(*list));
	size_t n = gus_topdown_events(table, table->levels, list);
	struct gus_topdown_count *counts = gus_zalloc((n + 1) * sizeof(*counts));
	double *moments = gus_zalloc((n * n + 1) * sizeof(*moments));
	struct gus_topdown_draw draw = { moments, 0 };

	if (number < s->n) {
		fill(s, number, at, n, counts, moments);
		draw.n = s->heads.v[number].differences;
	}
	if (drawn)
		gus_topdown_evaluate_drawn(tree, table, table->levels, counts, &draw);
	else
		gus_topdown_evaluate(tree, table, table->levels, counts, NULL, 0);
	free(list);
	free(counts);
	free(moments);
}

void gus_topdown_sums_free(struct gus_topdown_sums *s)
{
	gus_vec_free(&s->heads);
	gus_vec_free(&s->counts);
	gus_vec_free(&s->moments);
	*s = (struct gus_topdown_sums){ 0 };
}
