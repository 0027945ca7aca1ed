/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/waits.h"

#include <stdlib.h>

#include "attribution/proportional/met.h"
#include "attribution/proportional/groups.h"
#include "base/index.h"
#include "model/machine/options.h"

/* What all executions with the same events wait counts as so many of an instruction's own. */
static const double OTHERS = 10;

/* Cycles waited in so many executions. */
struct sum { double cycles[2], times; };        /* [flushed] */
struct sums { struct gus_index keys; struct gus_vec(struct sum) list; };
struct key { uint32_t site, psv; };

static struct sum *sum_of(struct sums *s, uint32_t site, uint16_t psv)
{
	struct key key = { site, psv };
	bool is_new;
	uint32_t number = gus_index_add(&s->keys, &key, &is_new);

	if (is_new)
		gus_vec_push(&s->list, (struct sum){ .times = 0 });
	return &s->list.v[number];
}

enum { ALL = UINT32_MAX };      /* in the place of a site */

static void take_sums(struct sums *s, const struct gus_groups_counts *c)
{
	gus_index_init(&s->keys, sizeof(struct key));
	for (size_t i = 0; i < c->met.n; i++) {
		sum_of(s, c->met.v[i].site, c->met.v[i].psv)->times += (double)c->met.v[i].times;
		sum_of(s, ALL, c->met.v[i].psv)->times += (double)c->met.v[i].times;
	}
	for (size_t i = 0; i < c->waits.n; i++) {
		const struct gus_groups_wait *w = &c->waits.v[i];

		sum_of(s, w->of, w->psv)->cycles[w->flushed] += (double)w->cycles;
		sum_of(s, ALL, w->psv)->cycles[w->flushed] += (double)w->cycles;
	}
}

/* Cycles that executions which met psv waited in all, had there been as many as were measured. */
static double measured(struct sums *s, const struct gus_groups_counts *c, const struct gus_met_share *e, bool flushed)
{
	struct sum own = *sum_of(s, e->site, e->psv), all = *sum_of(s, ALL, e->psv);
	double mean = all.times > 0 ? all.cycles[flushed] / all.times : 0;
	double each = (own.cycles[flushed] + OTHERS * mean) / (own.times + OTHERS);

	return e->measured * (double)c->sites.v[e->site].executed * each;
}

/* By how much the model's waits of an instruction with these events are too few. */
static double factor(struct sums *s, const struct gus_groups_counts *c, const struct gus_met *events,
		     const struct gus_groups_wait *w)
{
	const struct gus_met_share *e = events ? gus_met_find(events, w->of, w->psv) : NULL;

	return e ? measured(s, c, e, w->flushed) / sum_of(s, w->of, w->psv)->cycles[w->flushed] : 1;
}

/* What the model never waits for: before the instruction itself; flushed, before all that follow it. */
static void add_new(struct gus_waits *out, struct sums *s, const struct gus_groups_counts *c,
		    const struct gus_met_share *e)
{
	struct gus_waits_one one = { .head = e->site, .after = UINT32_MAX, .next = UINT32_MAX,
		.of = e->site, .psv = e->psv };
	struct sum own = *sum_of(s, e->site, e->psv);

	one.cycles = own.cycles[false] > 0 ? 0 : measured(s, c, e, false);
	if (one.cycles > 0)
		gus_vec_push(out, one);
	one.flushed = true;
	for (size_t i = 0; i < c->edges.n && (e->psv & GUS_CORE_FL_MB) && own.cycles[true] <= 0; i++) {
		const struct gus_groups_edge *edge = &c->edges.v[i];

		if (edge->from != e->site)
			continue;
		one.head = edge->to;
		one.behind = edge->behind;
		one.cycles = measured(s, c, e, true) * (double)edge->times / (double)c->sites.v[e->site].executed;
		if (one.cycles > 0)
			gus_vec_push(out, one);
	}
}

/* What the model hardly has is as all executions are. */
void gus_waits_means(double means[GUS_WAITS_PSVS], const struct gus_groups_counts *c)
{
	double times[GUS_WAITS_PSVS] = { 0 }, executed = 0, waited = 0;

	for (size_t i = 0; i < GUS_WAITS_PSVS; i++)
		means[i] = 0;
	for (size_t i = 0; i < c->met.n; i++) {
		times[c->met.v[i].psv] += (double)c->met.v[i].times;
		executed += (double)c->met.v[i].times;
	}
	for (size_t i = 0; i < c->waits.n; i++) {
		if (c->waits.v[i].flushed)
			continue;
		means[c->waits.v[i].psv] += (double)c->waits.v[i].cycles;
		waited += (double)c->waits.v[i].cycles;
	}
	for (size_t i = 0; i < GUS_WAITS_PSVS; i++)
		means[i] = executed > 0 ? (means[i] + OTHERS * waited / executed) / (times[i] + OTHERS) : 0;
}

static int by_head(const void *a, const void *b)
{
	const struct gus_waits_one *x = a, *y = b;
	const uint32_t u[] = { x->head, x->behind, x->flushed, x->of, x->psv, x->after, x->next };
	const uint32_t v[] = { y->head, y->behind, y->flushed, y->of, y->psv, y->after, y->next };

	for (size_t i = 0; i < sizeof(u) / sizeof(*u); i++)
		if (u[i] != v[i])
			return u[i] < v[i] ? -1 : 1;
	return 0;
}

bool gus_waits_same(const struct gus_waits_one *x, const struct gus_waits_one *y)
{
	return x->head == y->head && x->behind == y->behind && x->flushed == y->flushed && x->of == y->of &&
		x->psv == y->psv;
}

void gus_waits_make(struct gus_waits *out, const struct gus_groups_counts *c, const struct gus_met *events)
{
	struct sums sums = { 0 };

	take_sums(&sums, c);
	for (size_t i = 0; i < c->waits.n; i++) {
		const struct gus_groups_wait *w = &c->waits.v[i];

		gus_vec_push(out, (struct gus_waits_one){ w->head, w->after, w->next, w->of, w->psv, w->behind,
							   w->flushed, (double)w->cycles *
							   factor(&sums, c, events, w) });
	}
	for (size_t i = 0; events && i < events->shares.n; i++)
		add_new(out, &sums, c, &events->shares.v[i]);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_head);
	gus_index_free(&sums.keys);
	gus_vec_free(&sums.list);
}
