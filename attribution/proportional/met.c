/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/met.h"

#include <math.h>
#include <stdlib.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/seen.h"

/* As many samples as the model counts for. */
static const double MODEL = 5;

/* By site: the model's first, then what is measured. */
struct met { uint32_t site; uint16_t psv; double model, measured; };
struct mets gus_vec(struct met);

static int by_met(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	return x->site != y->site ? (x->site < y->site ? -1 : 1) : (int)x->psv - (int)y->psv;
}

static void list_model(struct mets *out, const struct gus_groups_counts *c)
{
	for (size_t i = 0; i < c->met.n; i++) {
		const struct gus_groups_met *m = &c->met.v[i];

		gus_vec_push(out, (struct met){ m->site, m->psv,
			     (double)m->times / (double)c->sites.v[m->site].executed, 0 });
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_met);
}

static size_t first_of(const struct mets *m, uint32_t site)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->v[middle].site < site)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Samples of a site, shared among what the model has of it and agrees with them; else they go to more. */
static void put_samples(struct mets *model, struct mets *more, uint32_t site, uint16_t psv, uint16_t known,
			double samples)
{
	size_t first = first_of(model, site), end = first;
	double agree = 0;

	for (; end < model->n && model->v[end].site == site; end++)
		agree += ((model->v[end].psv ^ psv) & known) ? 0 : model->v[end].model;
	for (size_t i = first; i < end && agree > 0; i++)
		if (!((model->v[i].psv ^ psv) & known))
			model->v[i].measured += samples * model->v[i].model / agree;
	if (agree <= 0)
		gus_vec_push(more, (struct met){ site, psv, 0, samples });
}

/* Of an instruction that is several ops an event is told of one of them: so many executions had it as its samples say,
 * and what the others do not tell they do not exclude. There are as many executions at least as had any: by chance, or
 * where several ops are told of the same, samples by themselves say that there were fewer. */
static void put_all(struct mets *model, struct mets *more, double *samples, const struct gus_groups *g,
		    const struct gus_seen *s, bool ops)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	double *without = gus_zalloc(c->sites.n * sizeof(*without));

	for (size_t i = 0; i < s->executions.n; i++) {
		const struct gus_seen_execution *e = &s->executions.v[i];
		uint32_t site = gus_groups_site(g, e->address);
		bool several;

		if (site == UINT32_MAX)
			continue;
		several = ops && c->sites.v[site].slots > 1;
		samples[site] += (double)e->samples / (several ? c->sites.v[site].slots : 1);
		if (!several)
			put_samples(model, more, site, e->psv, e->known, (double)e->samples);
		else if (e->psv)
			put_samples(model, more, site, e->psv, e->psv, (double)e->samples);
		without[site] += several && e->psv ? (double)e->samples : 0;
	}
	for (uint32_t i = 0; i < c->sites.n; i++) {
		if (ops && c->sites.v[i].slots > 1 && samples[i] > without[i])
			put_samples(model, more, i, 0, UINT16_MAX, samples[i] - without[i]);
		samples[i] = fmax(samples[i], without[i]);
	}
	free(without);
}

static void put_share(struct gus_met *e, const struct met *m, double samples)
{
	double measured = (m->measured + MODEL * m->model) / (samples + MODEL);
	struct gus_met_share *last = e->shares.n ? &e->shares.v[e->shares.n - 1] : NULL;

	if (last && last->site == m->site && last->psv == m->psv) {
		last->measured += measured;
		last->samples += m->measured;
	} else {
		gus_vec_push(&e->shares, (struct gus_met_share){ m->site, m->psv, measured, m->model, m->measured });
	}
}

void gus_met_make(struct gus_met *e, const struct gus_groups *g, const struct gus_seen *s, bool ops)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	double *samples = gus_zalloc(c->sites.n * sizeof(*samples));
	struct mets all = { 0 }, more = { 0 };

	*e = (struct gus_met){ 0 };
	list_model(&all, c);
	put_all(&all, &more, samples, g, s, ops);
	gus_vec_append(&all, more.v, more.n);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_met);
	for (size_t i = 0; i < all.n; i++)
		if (samples[all.v[i].site] > 0)
			put_share(e, &all.v[i], samples[all.v[i].site]);
	gus_vec_free(&all);
	gus_vec_free(&more);
	free(samples);
}

void gus_met_free(struct gus_met *e)
{
	gus_vec_free(&e->shares);
}

static int find(const void *key, const void *element)
{
	const struct gus_met_share *k = key, *e = element;

	return k->site != e->site ? (k->site < e->site ? -1 : 1) : (int)k->psv - (int)e->psv;
}

const struct gus_met_share *gus_met_find(const struct gus_met *e, uint32_t site, uint16_t psv)
{
	const struct gus_met_share key = { .site = site, .psv = psv };

	return e->shares.n ? bsearch(&key, e->shares.v, e->shares.n, sizeof(key), find) : NULL;
}

static int by_site(const void *key, const void *element)
{
	const uint32_t *site = key;
	const struct gus_met_share *share = element;

	return *site < share->site ? -1 : *site > share->site;
}

bool gus_met_knows(const struct gus_met *e, uint32_t site)
{
	return e->shares.n && bsearch(&site, e->shares.v, e->shares.n, sizeof(*e->shares.v), by_site);
}
