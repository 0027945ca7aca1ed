/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/prior.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/proportional/met.h"
#include "attribution/proportional/groups.h"
#include "attribution/proportional/waits.h"
#include "base/index.h"

/* Of ways that an op goes on, those that are less likely than this are left out. */
static const double RARE = 0.002;
/* Of all executions: of what is executed less often the model's own groups are all that is believed in. Samples tell
 * nothing of it, and of large programs it is most of the code. */
static const double SELDOM = 5e-6;

struct key { uint32_t kind, behind, psv, head, after, next, of, n, members[GUS_GROUP_MOST]; };
/* One that begins at a site. */
struct step { uint32_t to; double share; };
struct wait_way { uint32_t after, next; double share; };
/* Executions that begin a group, perhaps. */
struct begin { uint32_t site; bool behind; double times; };

struct work {
	struct gus_prior *out;
	const struct gus_groups_counts *counts;
	const struct gus_prior_options *o;
	struct gus_waits waits;                            /* the model's, of as many executions as were measured */
	struct gus_index keys;
	struct gus_vec(struct step) steps;              /* by site that they are from */
	struct gus_vec(uint32_t) steps_of;              /* by site, and one more */
	struct gus_vec(struct wait_way) ways;           /* of the beginning that is walked from: by the next head */
	double ways_sum;
	double means[GUS_WAITS_PSVS];                   /* waits.h */
	uint32_t path[GUS_GROUP_MOST];
};

struct gus_prior_options gus_prior_defaults(unsigned width)
{
	return (struct gus_prior_options){ .width = width < GUS_GROUP_MOST ? width : GUS_GROUP_MOST, .waits = 0.01,
		.guessed = 10, .spread = 1 };
}

static void add(struct work *w, const struct key *key, double model, double way)
{
	bool is_new;
	uint32_t number = gus_index_add(&w->keys, key, &is_new);
	struct gus_prior *p = w->out;

	if (is_new) {
		gus_vec_push(&p->cycles, (struct gus_prior_cycle){ .kind = (enum gus_prior_kind)key->kind,
			     .behind = key->behind != 0, .psv = (uint16_t)key->psv, .head = key->head,
			     .after = key->after, .next = key->next, .of = key->of,
			     .first = (uint32_t)p->members.n, .n = key->n });
		gus_vec_append(&p->members, key->members, key->n);
	}
	p->cycles.v[number].model += model;
	p->cycles.v[number].way += way;
}

static void add_group(struct work *w, const uint32_t *members, uint32_t n, uint32_t next, bool behind,
		      double model, double way)
{
	struct key key = { .kind = GUS_PRIOR_GROUP, .behind = behind, .head = members[0], .of = members[0],
		.after = n > 1 ? members[1] : next, .next = next, .n = n };

	memcpy(key.members, members, n * sizeof(*members));
	add(w, &key, model, way);
}

static void add_wait(struct work *w, const struct gus_waits_one *wait, uint32_t after, uint32_t next, double model,
		     double way)
{
	const struct key key = { .kind = wait->flushed ? GUS_PRIOR_FLUSH : GUS_PRIOR_WAIT, .behind = wait->behind,
		.psv = wait->psv, .head = wait->head, .of = wait->of, .after = after,
		.next = next };

	add(w, &key, model, way);
}

/* What the model has, as it is. */
static void add_counts(struct work *w)
{
	const struct gus_groups_counts *c = w->counts;

	for (size_t i = 0; i < c->groups.n; i++) {
		const struct gus_groups_group *g = &c->groups.v[i];

		add_group(w, &c->members.v[g->first], g->n, g->next, g->behind, (double)g->times, 0);
	}
	for (size_t i = 0; i < w->waits.n; i++)
		if (w->waits.v[i].next != UINT32_MAX)
			add_wait(w, &w->waits.v[i], w->waits.v[i].after, w->waits.v[i].next,
				 w->waits.v[i].cycles, 0);
}

/* Lists by site: how many each has, then where they begin. */

static void begin_lists(uint32_t *begins, size_t sites)
{
	uint32_t sum = 0;

	for (size_t i = 0; i <= sites; i++) {
		uint32_t n = begins[i];

		begins[i] = sum;
		sum += n;
	}
}

static void list_steps(struct work *w)
{
	const struct gus_groups_counts *c = w->counts;
	uint32_t *at = gus_zalloc((c->sites.n + 1) * sizeof(*at));
	double *sums = gus_zalloc((c->sites.n + 1) * sizeof(*sums));

	for (size_t i = 0; i < c->edges.n; i++) {
		at[c->edges.v[i].from]++;
		sums[c->edges.v[i].from] += (double)c->edges.v[i].times;
	}
	begin_lists(at, c->sites.n);
	gus_vec_append(&w->steps_of, at, c->sites.n + 1);
	gus_vec_reserve(&w->steps, c->edges.n + 1);
	w->steps.n = c->edges.n;
	for (size_t i = 0; i < c->edges.n; i++) {
		const struct gus_groups_edge *e = &c->edges.v[i];

		w->steps.v[at[e->from]++] = (struct step){ e->to, (double)e->times / sums[e->from] };
	}
	free(at);
	free(sums);
}

static void note_way(struct work *w, uint32_t after, uint32_t next, double share)
{
	w->ways_sum += share;
	for (size_t i = 0; i < w->ways.n; i++) {
		if (w->ways.v[i].next == next && w->ways.v[i].after == after) {
			w->ways.v[i].share += share;
			return;
		}
	}
	gus_vec_push(&w->ways, (struct wait_way){ after, next, share });
}

/* Groups that begin with the n ops of the path, which so large a share of the executions of its first take. */
static void walk(struct work *w, const struct begin *b, unsigned n, double share)
{
	uint32_t last = w->path[n - 1];

	for (uint32_t i = w->steps_of.v[last]; i < w->steps_of.v[last + 1]; i++) {
		const struct step *s = &w->steps.v[i];
		double here = share * s->share;

		if (here < RARE)
			continue;
		add_group(w, w->path, n, s->to, b->behind, 0, b->times * here / (n + 1));
		note_way(w, n > 1 ? w->path[1] : s->to, s->to, here / (n + 1));
		if (n == w->o->width)
			continue;
		w->path[n] = s->to;
		walk(w, b, n + 1, here);
	}
}

/* Of waits before an instruction that the model does not have, those of executions that met psv: as many as there are
 * of these, and as long as they wait. */
static double part_of(const struct work *w, uint32_t site, uint16_t psv)
{
	const struct gus_prior *p = w->out;
	double part = 0, sum = 0;

	for (uint32_t i = p->met_of.v[site]; i < p->met_of.v[site + 1]; i++) {
		double waits = p->met.v[i].share * w->means[p->met.v[i].psv];

		sum += waits;
		part += p->met.v[i].psv == psv ? waits : 0;
	}
	return sum > 0 ? part / sum : psv == 0;
}

/* Of nothing that the model has. */
static void add_any(struct work *w, const struct begin *b, const struct wait_way *way)
{
	const struct gus_prior *p = w->out;
	const struct gus_groups_site *site = &w->counts->sites.v[b->site];
	double waits = site->guessed || site->doubted ? w->o->guessed : w->o->waits;

	for (uint32_t i = p->met_of.v[b->site]; i < p->met_of.v[b->site + 1]; i++) {
		const struct gus_waits_one any = { .head = b->site, .of = b->site, .behind = b->behind,
			.psv = p->met.v[i].psv };
		double part = part_of(w, b->site, any.psv);

		if (part > RARE)
			add_wait(w, &any, way->after, way->next, 0, part * waits * b->times * way->share);
	}
}

/* Waits of the model's that begin there, whatever is behind; and others. */
static void add_waits(struct work *w, const struct begin *b, const struct gus_waits_one *waits, size_t n)
{
	for (size_t k = 0; k < w->ways.n; k++) {
		double share = w->ways.v[k].share;

		add_any(w, b, &w->ways.v[k]);
		for (size_t i = 0; i < n; i++) {
			double more = w->o->spread + (waits[i].next == UINT32_MAX);

			if (waits[i].behind == b->behind)
				add_wait(w, &waits[i], w->ways.v[k].after, w->ways.v[k].next,
					 more * waits[i].cycles * share / w->ways_sum, 0);
		}
	}
}

/* Those that differ in what is behind as one, but for those of which that is not known. */
static void merge_waits(struct gus_waits *out, const struct gus_waits *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct gus_waits_one *one = &all->v[i];
		struct gus_waits_one *last = out->n ? &out->v[out->n - 1] : NULL;

		if (last && gus_waits_same(last, one) && one->next != UINT32_MAX)
			last->cycles += one->cycles;
		else
			gus_vec_push(out, *one);
	}
}

struct begins gus_vec(struct begin);

static int by_site(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	return x->site != y->site ? (x->site < y->site ? -1 : 1) : (int)x->behind - (int)y->behind;
}

static void list_begins(struct begins *out, const struct gus_groups_counts *c)
{
	struct begins all = { 0 };

	for (size_t i = 0; i < c->edges.n; i++)
		gus_vec_push(&all, (struct begin){ c->edges.v[i].to, c->edges.v[i].behind,
						   (double)c->edges.v[i].times });
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_site);
	for (size_t i = 0; i < all.n; i++) {
		if (out->n && by_site(&out->v[out->n - 1], &all.v[i]) == 0)
			out->v[out->n - 1].times += all.v[i].times;
		else
			gus_vec_push(out, all.v[i]);
	}
	gus_vec_free(&all);
}

static void add_ways(struct work *w)
{
	struct begins begins = { 0 };
	struct gus_waits waits = { 0 };
	double all = 0;
	size_t first = 0;

	list_steps(w);
	list_begins(&begins, w->counts);
	merge_waits(&waits, &w->waits);
	for (size_t i = 0; i < begins.n; i++)
		all += begins.v[i].times;
	for (size_t i = 0; i < begins.n; i++) {
		const struct begin *b = &begins.v[i];
		size_t end;

		if (b->times < SELDOM * all)
			continue;
		while (first < waits.n && waits.v[first].head < b->site)
			first++;
		for (end = first; end < waits.n && waits.v[end].head == b->site; end++)
			;
		w->ways.n = 0;
		w->ways_sum = 0;
		w->path[0] = b->site;
		walk(w, b, 1, 1);
		add_waits(w, b, &waits.v[first], end - first);
	}
	gus_vec_free(&begins);
	gus_vec_free(&waits);
}

static int by_met(const void *a, const void *b)
{
	const struct gus_prior_met *x = a, *y = b;

	return x->site != y->site ? (x->site < y->site ? -1 : 1) : (int)x->psv - (int)y->psv;
}

/* Measured where it was, else the model's. */
static void add_met(struct gus_prior *p, const struct gus_groups_counts *c, const struct gus_met *events)
{
	uint32_t *at = gus_zalloc((c->sites.n + 1) * sizeof(*at));

	for (size_t i = 0; events && i < events->shares.n; i++) {
		const struct gus_met_share *e = &events->shares.v[i];

		gus_vec_push(&p->met, (struct gus_prior_met){ e->site, e->psv, e->measured, e->samples });
		at[e->site]++;
	}
	for (size_t i = 0; i < c->met.n; i++) {
		const struct gus_groups_met *m = &c->met.v[i];

		if (!at[m->site])
			gus_vec_push(&p->met, (struct gus_prior_met){ m->site, m->psv,
				     (double)m->times / (double)c->sites.v[m->site].executed, 0 });
	}
	if (p->met.n)
		qsort(p->met.v, p->met.n, sizeof(*p->met.v), by_met);
	for (size_t i = 0; i < c->sites.n; i++)
		at[i] = 0;
	for (size_t i = 0; i < p->met.n; i++)
		at[p->met.v[i].site]++;
	begin_lists(at, c->sites.n);
	gus_vec_append(&p->met_of, at, c->sites.n + 1);
	free(at);
}

static void list_sites(struct gus_prior *p, const struct gus_groups *g)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);

	for (size_t i = 0; i < c->sites.n; i++) {
		gus_vec_push(&p->weights, c->sites.v[i].weight);
		gus_vec_push(&p->repeats, c->sites.v[i].repeats);
		gus_vec_push(&p->seconds, c->sites.v[i].second ? gus_groups_site(g, c->sites.v[i].second) : UINT32_MAX);
		gus_vec_push(&p->reached, false);
	}
	for (size_t i = 0; i < c->edges.n; i++)
		p->reached.v[c->edges.v[i].to] = true;
}

/* Runs of simple instructions: what led to a site last. A site is in the run of the simple one before it, if that is
 * behind two simple ones: what is seen at the first is of what was before them all, and at the second is what the first
 * was waited for, which after a misprediction, or where code is far away, is long. */

/* Of what led to the site nearly all is simple. */
static const double NEARLY = 0.9;

struct led { double all, simple, most; uint32_t by; };

static uint32_t first_of(uint32_t *runs, uint32_t site)
{
	while (runs[site] != site)
		site = runs[site] = runs[runs[site]];
	return site;
}

/* Behind so many of them. */
static bool is_behind_simple(const struct led *led, uint32_t site, unsigned n)
{
	for (; n; n--, site = led[site].by)
		if (led[site].all <= 0 || led[site].simple < NEARLY * led[site].all)
			return false;
	return true;
}

static void list_runs(struct gus_prior *p, const struct gus_groups_counts *c)
{
	struct led *led = gus_zalloc(c->sites.n * sizeof(*led));

	for (size_t i = 0; i < c->edges.n; i++) {
		const struct gus_groups_edge *e = &c->edges.v[i];
		struct led *to = &led[e->to];

		to->all += (double)e->times;
		if (!c->sites.v[e->from].simple)
			continue;
		to->simple += (double)e->times;
		if ((double)e->times > to->most) {
			to->most = (double)e->times;
			to->by = e->from;
		}
	}
	for (uint32_t i = 0; i < c->sites.n; i++)
		gus_vec_push(&p->runs, i);
	for (uint32_t i = 0; i < c->sites.n; i++) {
		uint32_t a, b;

		gus_vec_push(&p->halves, c->sites.v[i].simple && is_behind_simple(led, i, 2));
		if (!is_behind_simple(led, i, 3))
			continue;
		a = first_of(p->runs.v, i);
		b = first_of(p->runs.v, led[i].by);
		p->runs.v[a > b ? a : b] = a > b ? b : a;
	}
	for (uint32_t i = 0; i < c->sites.n; i++)
		p->runs.v[i] = first_of(p->runs.v, i);
	free(led);
}

void gus_prior_weigh(struct gus_prior *p, double ways)
{
	double sum = 0;

	for (size_t i = 0; i < p->cycles.n; i++)
		sum += p->cycles.v[i].model + ways * p->cycles.v[i].way;
	for (size_t i = 0; i < p->cycles.n; i++)
		p->cycles.v[i].share = (p->cycles.v[i].model + ways * p->cycles.v[i].way) / sum;
}

void gus_prior_make(struct gus_prior *p, const struct gus_groups *g, const struct gus_prior_options *o,
		    const struct gus_met *events)
{
	struct work w = { .out = p, .counts = gus_groups_counts(g), .o = o };

	*p = (struct gus_prior){ 0 };
	gus_index_init(&w.keys, sizeof(struct key));
	gus_waits_make(&w.waits, w.counts, events);
	gus_waits_means(w.means, w.counts);
	list_sites(p, g);
	list_runs(p, w.counts);
	add_met(p, w.counts, events);
	add_counts(&w);
	add_ways(&w);
	gus_prior_weigh(p, 1);
	gus_index_free(&w.keys);
	gus_vec_free(&w.steps);
	gus_vec_free(&w.steps_of);
	gus_vec_free(&w.ways);
	gus_vec_free(&w.waits);
}

void gus_prior_free(struct gus_prior *p)
{
	gus_vec_free(&p->cycles);
	gus_vec_free(&p->members);
	gus_vec_free(&p->met);
	gus_vec_free(&p->met_of);
	gus_vec_free(&p->weights);
	gus_vec_free(&p->repeats);
	gus_vec_free(&p->reached);
	gus_vec_free(&p->runs);
	gus_vec_free(&p->halves);
	gus_vec_free(&p->seconds);
}
