/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/replicates.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/proportional/prior.h"

/* Found on the machines for tuning (docs/accuracy.md), nine runs, 4,000 to 400,000 samples: so that in a run, on
 * average, 93 to 96 of 100 cells and instructions that are shown have the truth in their intervals, with no more width
 * than that takes. scale: the few steps of a replicate do not carry all of the scatter on. grain: the inverse of the
 * number of samples whose scatter is what replicates do not know of; it is of many small cells, of which the model has
 * too much or too little. Without measured events a model is wrong about all waits of a kind. */
struct known { double scale, grain; struct gus_replicates_doubts doubts; };
static const struct known known[GUS_REPLICATES_EVIDENCES] = {
	[GUS_REPLICATES_EXACT] = { 1, 0, { 0 } },
	[GUS_REPLICATES_STACKS] = { 1, 2.5e-5, { .classes = .58, .ways = .19, .sites = .19, .cycles = .19,
						 .met = .5 } },
	[GUS_REPLICATES_RETIRED] = { 1.22, 2e-6, { .classes = .5, .ways = .09, .sites = .09, .cycles = .09,
						   .met = .5 } },
	[GUS_REPLICATES_OPS] = { 1.95, 5e-5, { .classes = .38, .ways = .11, .sites = .11, .cycles = .11, .met = .5 } },
	[GUS_REPLICATES_MODEL] = { 1.6, 1e-4, { .classes = .91, .ways = .3, .sites = .3, .cycles = .3, .met = .5 } },
};

struct gus_replicates_options gus_replicates_defaults(enum gus_replicates_evidence evidence)
{
	return (struct gus_replicates_options){ .evidence = evidence, .replicates = true,
		.strength = gus_spread_defaults().strength, .steps = 8, .doubts = known[evidence].doubts };
}

/* What is done to one slice or the other of a pair: the parity of the bits that two numbers have in common is an
 * orthogonal array (Sylvester's). */
static double weight_of(unsigned replicate, uint32_t slice)
{
	bool first = __builtin_parity(replicate & (slice / 2 + 1));

	return first == (slice % 2 == 0) ? 2 : 0;
}

/* A bit for each replicate, by chance. */
static uint32_t bits_of(uint64_t seed, unsigned salt, uint64_t key)
{
	uint64_t x = seed + (key + 1) * 0x9e3779b97f4a7c15ull + salt * 0xd1342543de82ef95ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((x ^ x >> 31) >> 32);
}

struct work {
	struct gus_replicates *out;
	struct gus_spread *s;
	struct gus_prior *p;
	double *fitted;                 /* by kind of cycles: as the fit has them; and where a replicate begins */
	double *begin;
	double *believed;               /* by kind of cycles: the prior's shares as they are */
	double *met;                    /* of the prior, as they are */
	/* What a replicate has seen, of time at last, and whose each of it is. */
	struct gus_vec(struct gus_site_count) counts;
	struct gus_vec(uint32_t) whose;
};

/* By so much as beliefs may be off, up or down. */
static double off(const struct work *w, unsigned replicate, double doubt, unsigned salt, uint64_t key)
{
	return bits_of(w->out->o.seed, salt, key) >> replicate & 1 ? doubt : -doubt;
}

enum { WAYS, CLASSES, SITES, CYCLES, MET, MET_CLASSES, EXECUTED };
/* So many sites that were first seen one behind the other are neighbours, as those of a loop are. */
enum { NEIGHBOURS = 16 };

static uint64_t class_of(const struct gus_prior_cycle *c)
{
	return c->kind == GUS_PRIOR_GROUP ? c->n : (uint64_t)c->kind << 32 | (uint64_t)c->psv << 8;
}

static double belief(const struct work *w, unsigned replicate, size_t i)
{
	const struct gus_replicates_doubts *d = &w->out->o.doubts;
	const struct gus_prior_cycle *c = &w->p->cycles.v[i];
	bool group = c->kind == GUS_PRIOR_GROUP;
	double sum = 0;

	if (c->model <= 0)
		sum += off(w, replicate, d->ways, WAYS, 0);
	sum += off(w, replicate, d->classes, CLASSES, class_of(c));
	sum += off(w, replicate, d->sites, SITES, (uint64_t)c->of << 1 | group);
	sum += off(w, replicate, d->cycles, CYCLES, i);
	return exp(sum);
}

static void believe(struct work *w, unsigned replicate)
{
	struct gus_prior *p = w->p;
	double sum = 0;

	for (size_t i = 0; i < p->cycles.n; i++) {
		double factor = belief(w, replicate, i);

		w->begin[i] = w->fitted[i] * factor;
		p->cycles.v[i].share = w->believed[i] * factor;
		sum += p->cycles.v[i].share;
	}
	for (size_t i = 0; i < p->cycles.n; i++)
		p->cycles.v[i].share /= sum;
}

/* So many samples of it leave so much doubt. */
static double met_doubt(const struct gus_prior_met *m, double doubt)
{
	return doubt / sqrt(1 + m->samples * doubt * doubt);
}

static void meet(struct work *w, unsigned replicate, size_t site)
{
	double doubt = w->out->o.doubts.met, sum = 0, before = 0;
	uint32_t first = w->p->met_of.v[site], end = w->p->met_of.v[site + 1];

	for (uint32_t i = first; i < end; i++) {
		struct gus_prior_met *m = &w->p->met.v[i];
		double own = met_doubt(m, doubt);

		m->share = w->met[i] * exp(off(w, replicate, own, MET, i) +
					   off(w, replicate, own, MET_CLASSES, m->psv));
		sum += m->share;
		before += w->met[i];
	}
	for (uint32_t i = first; i < end && sum > 0; i++)
		w->p->met.v[i].share *= before / sum;
}

/* What would have been seen: as much, all in all. */
static void recount(struct work *w, unsigned replicate, size_t which, const struct gus_replicates_seen *seen)
{
	double all = 0, drawn = 0;

	w->counts.n = w->whose.n = 0;
	for (size_t i = 0; !seen->parts_n && i < seen->n; i++) {
		struct gus_site_count count = seen->counts[i];
		double doubt = w->out->o.doubts.executed;

		if (doubt > 0)
			count.share *= exp(off(w, replicate, doubt, EXECUTED, count.site / NEIGHBOURS));
		gus_vec_push(&w->counts, count);
	}
	for (size_t i = 0; i < seen->parts_n; i++) {
		struct gus_site_count count = seen->parts[i].count;
		double weight = weight_of(replicate, seen->parts[i].slice);

		all += count.share;
		count.share *= weight;
		drawn += count.share;
		if (weight > 0) {
			gus_vec_push(&w->counts, count);
			gus_vec_push(&w->whose, seen->parts[i].who);
		}
	}
	for (size_t i = 0; i < w->counts.n && drawn > 0; i++)
		w->counts.v[i].share *= all / drawn;
	gus_spread_recount(w->s, which, w->counts.v, w->counts.n);
}

/* How many counts from the i-th on are of the same. */
static size_t run_of(const struct work *w, size_t i)
{
	size_t n = 1;

	while (i + n < w->counts.n && w->whose.v[i + n] == w->whose.v[i])
		n++;
	return n;
}

static int by_cell(const struct gus_replicates_cell *x, uint32_t who, const struct gus_spread_cell *y)
{
	if (x->who != who)
		return x->who < who ? -1 : 1;
	return x->site != y->site ? (x->site < y->site ? -1 : 1) : (int)x->psv - (int)y->psv;
}

/* Both are in the same order; a replicate has no cells but those of the fit. */
static void put_cells(struct gus_replicates *r, unsigned replicate, uint32_t who, const struct gus_spread_cells *cells,
		      size_t *at)
{
	for (size_t i = 0; i < cells->n; i++) {
		while (*at < r->cells.n && by_cell(&r->cells.v[*at], who, &cells->v[i]) < 0)
			++*at;
		assert(*at < r->cells.n && by_cell(&r->cells.v[*at], who, &cells->v[i]) == 0);
		r->shares[*at * GUS_REPLICATES + replicate] = cells->v[i].share;
	}
}

static void share(struct work *w, unsigned replicate)
{
	size_t at = 0, n;

	for (size_t i = 0; i < w->counts.n; i += n) {
		struct gus_spread_cells cells = { 0 };

		n = run_of(w, i);
		gus_spread_share(w->s, 0, &w->counts.v[i], n, &cells);
		put_cells(w->out, replicate, w->whose.v[i], &cells, &at);
		gus_vec_free(&cells);
	}
}

static void make_one(struct work *w, unsigned replicate, const struct gus_replicates_seen *seen, size_t n)
{
	const struct gus_spread_options so = { .strength = w->out->o.strength, .steps = w->out->o.steps };

	believe(w, replicate);
	for (size_t i = 0; i < w->p->weights.n; i++)
		meet(w, replicate, i);
	for (size_t i = n; i-- > 0;)
		recount(w, replicate, i, &seen[i]);
	gus_spread_refit(w->s, w->begin, &so);
	share(w, replicate);
}

static double *copy(const double *v, size_t n)
{
	double *to = gus_zalloc(n * sizeof(*to));

	memcpy(to, v, n * sizeof(*v));
	return to;
}

static void keep(struct work *w)
{
	struct gus_prior *p = w->p;

	w->fitted = copy(gus_spread_shares(w->s), p->cycles.n);
	w->begin = copy(w->fitted, p->cycles.n);
	w->believed = gus_zalloc(p->cycles.n * sizeof(*w->believed));
	w->met = gus_zalloc(p->met.n * sizeof(*w->met));
	for (size_t i = 0; i < p->cycles.n; i++)
		w->believed[i] = p->cycles.v[i].share;
	for (size_t i = 0; i < p->met.n; i++)
		w->met[i] = p->met.v[i].share;
}

static void put_back(struct work *w, const struct gus_replicates_seen *seen, size_t n)
{
	const struct gus_spread_options none = { .strength = 1 };
	struct gus_prior *p = w->p;

	for (size_t i = 0; i < p->cycles.n; i++)
		p->cycles.v[i].share = w->believed[i];
	for (size_t i = 0; i < p->met.n; i++)
		p->met.v[i].share = w->met[i];
	for (size_t i = 0; i < n; i++)
		gus_spread_recount(w->s, i, seen[i].counts, seen[i].n);
	gus_spread_refit(w->s, w->fitted, &none);
	free(w->fitted);
	free(w->begin);
	free(w->believed);
	free(w->met);
}

/* Of the fit itself: what was seen as it was. */
static void find_cells(struct work *w, const struct gus_replicates_seen *seen)
{
	size_t n;

	assert(seen->parts_n);
	for (size_t i = 0; i < seen->parts_n; i++) {
		gus_vec_push(&w->counts, seen->parts[i].count);
		gus_vec_push(&w->whose, seen->parts[i].who);
	}
	for (size_t i = 0; i < w->counts.n; i += n) {
		struct gus_spread_cells cells = { 0 };

		n = run_of(w, i);
		assert(i == 0 || w->whose.v[i] > w->whose.v[i - 1]);
		gus_spread_share(w->s, 0, &w->counts.v[i], n, &cells);
		for (size_t k = 0; k < cells.n; k++)
			gus_vec_push(&w->out->cells, (struct gus_replicates_cell){ w->whose.v[i], cells.v[k].site,
						     cells.v[k].psv, cells.v[k].share });
		for (size_t k = 0; k < cells.n; k++)
			w->out->all += cells.v[k].share;
		gus_vec_free(&cells);
	}
}

void gus_replicates_make(struct gus_replicates *r, struct gus_spread *s, struct gus_prior *p,
			 const struct gus_replicates_seen *seen, size_t n, const struct gus_replicates_options *o)
{
	struct work w = { .out = r, .s = s, .p = p };

	assert(n > 0);
	*r = (struct gus_replicates){ .o = *o };
	find_cells(&w, seen);
	if (o->replicates) {
		r->shares = gus_zalloc(r->cells.n * GUS_REPLICATES * sizeof(*r->shares));
		keep(&w);
		for (unsigned i = 0; i < GUS_REPLICATES; i++) {
			if (o->heed)
				o->heed(o->heed_context, (double)i / GUS_REPLICATES);
			make_one(&w, i, seen, n);
		}
		put_back(&w, seen, n);
	}
	gus_vec_free(&w.counts);
	gus_vec_free(&w.whose);
}

void gus_replicates_free(struct gus_replicates *r)
{
	gus_vec_free(&r->cells);
	free(r->shares);
}

/* Sums. */

static double square(double x)
{
	return x * x;
}

bool gus_replicates_is_fact(double share, struct gus_interval interval, double samples)
{
	return share * samples >= GUS_REPLICATES_LEAST && (interval.high - interval.low) / 2 <= share;
}

static void finish(const struct gus_replicates *r, const double *replicates, struct gus_replicates_sum *out)
{
	const struct known *k = &known[r->o.evidence];
	double sum = 0;

	for (unsigned i = 0; i < GUS_REPLICATES; i++)
		sum += square(replicates[i] - out->share) / GUS_REPLICATES;
	out->deviation = sqrt(square(k->scale) * sum + k->grain * out->share * fmax(0, r->all - out->share));
	out->interval = gus_interval_deviation(out->share, out->deviation, r->o.samples);
	out->shown = gus_replicates_is_fact(out->share, out->interval, r->o.samples);
}

void gus_replicates_add(const struct gus_replicates *r, const uint32_t *sum_of, size_t sums,
			struct gus_replicates_sum *out)
{
	double *replicates = gus_zalloc(sums * GUS_REPLICATES * sizeof(*replicates));

	for (size_t i = 0; i < sums; i++)
		out[i] = (struct gus_replicates_sum){ 0 };
	for (size_t i = 0; i < r->cells.n; i++) {
		size_t sum = sum_of[i];

		if (sum == UINT32_MAX)
			continue;
		out[sum].share += r->cells.v[i].share;
		for (unsigned k = 0; k < GUS_REPLICATES; k++)
			replicates[sum * GUS_REPLICATES + k] += r->shares[i * GUS_REPLICATES + k];
	}
	for (size_t i = 0; i < sums; i++)
		finish(r, &replicates[i * GUS_REPLICATES], &out[i]);
	free(replicates);
}
