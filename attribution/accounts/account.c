/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/account.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/met.h"
#include "attribution/proportional/prior.h"
#include "attribution/proportional/spread.h"
#include "attribution/statistics/rounding.h"
#include "attribution/traced/traced.h"
#include "base/index.h"
#include "model/code/program.h"
#include "proto/psv.h"

/* How much a model's executions count beside samples of time, where nothing was measured of them; and how much cycles
 * that were waited do, which are long and few (docs/accuracy.md). */
static const double BY_MODEL = 0.3, WAITED = 0.1;

/* Samples of time at sites, by thread and site. */
struct there { uint32_t thread, site, time; };

struct work {
	struct gus_account *a;
	const struct gus_clues *clues;
	const struct gus_groups *groups;
	struct gus_vec(struct there) there;
	uint32_t *place_of;             /* by site; GUS_CLUE_NONE: none yet */
	struct gus_met met;             /* what executions met by measurement */
	bool has_met;
};

static void put(struct work *w, const struct gus_account_cell *cell)
{
	if (cell->weight)
		gus_vec_push(&w->a->cells, *cell);
}

/* What no trace has executed, and what no rule leads on from. */
static void leave(struct work *w, const struct gus_clue_time *t)
{
	put(w, &(struct gus_account_cell){ .place = t->place, .thread = t->thread, .what = t->what, .weight = t->weight,
			.evidence = t->what.unknown ? GUS_UNKNOWN : GUS_OBSERVED });
}

static uint32_t site_of(const struct work *w, const struct gus_clue_time *t)
{
	uint64_t address = w->a->places.v[t->place].address;

	return address && w->groups && w->clues->sight.known ? gus_groups_site(w->groups, address) : UINT32_MAX;
}

static int by_thread(const void *a, const void *b)
{
	const struct there *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* What there is of each time: it is at a site, or it stays. */
static void take_time(struct work *w)
{
	for (uint32_t i = 0; i < w->clues->time.n; i++) {
		const struct gus_clue_time *t = &w->clues->time.v[i];
		uint32_t site = site_of(w, t);

		w->a->weight += t->weight;
		gus_vec_push(&w->a->seen, (struct gus_account_seen){ t->place, t->thread, t->weight });
		if (site == UINT32_MAX) {
			leave(w, t);
			continue;
		}
		gus_vec_push(&w->there, (struct there){ t->thread, site, i });
		w->a->explained += t->weight;
	}
	if (w->there.n)
		qsort(w->there.v, w->there.n, sizeof(*w->there.v), by_thread);
}

/* Those from the first on that are of one thread: in counts, with weights for shares; how many they are. */
static size_t count_some(const struct work *w, size_t first, bool all, struct gus_seen_counts *out)
{
	size_t i = first;

	for (; i < w->there.n && (all || w->there.v[i].thread == w->there.v[first].thread); i++) {
		const struct gus_clue_time *t = &w->clues->time.v[w->there.v[i].time];

		gus_vec_push(out, (struct gus_site_count){ w->there.v[i].site, t->behind, (double)t->weight });
	}
	return i - first;
}

/* What is known of executions. */

static double model_ipc(const struct gus_groups_counts *c)
{
	double instructions = 0;

	for (size_t i = 0; i < c->sites.n; i++)
		instructions += (double)c->sites.v[i].executed * c->sites.v[i].weight;
	return instructions / (double)c->cycles;
}

static void see(struct gus_spread *s, enum gus_spread_sight sight, const struct gus_seen_counts *counts, double samples)
{
	gus_spread_see(s, &(struct gus_spread_seen){ .sight = sight, .counts = counts->v, .n = counts->n,
			.samples = samples });
}

static void see_model(struct gus_spread *s, const struct gus_groups_counts *c, double samples)
{
	struct gus_seen_counts executed = { 0 };

	for (uint32_t i = 0; i < c->sites.n; i++)
		gus_vec_push(&executed, (struct gus_site_count){ i, false,
			     (double)c->sites.v[i].executed / (double)c->cycles });
	see(s, GUS_SPREAD_EXECUTED, &executed, BY_MODEL * samples);
	gus_vec_free(&executed);
}

static void see_samples(const struct work *w, struct gus_spread *s, double samples)
{
	const struct gus_clues *c = w->clues;
	double ipc = c->ipc > 0 ? c->ipc : model_ipc(gus_groups_counts(w->groups));
	struct gus_seen_counts executed = { 0 }, heads = { 0 }, waited = { 0 };

	gus_seen_executions(&c->seen, w->groups, c->executions == GUS_SAMPLER_OPS, ipc, &executed);
	see(s, GUS_SPREAD_EXECUTED, &executed, samples);
	if (c->seen.told && c->executions == GUS_SAMPLER_INSNS) {
		gus_seen_retired(&c->seen, w->groups, ipc, &heads, &waited);
		see(s, GUS_SPREAD_HEADS, &heads, (double)c->seen.executed);
		see(s, GUS_SPREAD_WAITED, &waited, WAITED * (double)c->seen.executed);
	}
	gus_vec_free(&executed);
	gus_vec_free(&heads);
	gus_vec_free(&waited);
}

/* Branch stacks are of the samples themselves, so they come first; else samples of executions; else the model's. */
static void see_executed(const struct work *w, struct gus_spread *s, double samples)
{
	struct gus_seen_counts executed = { 0 };

	if (w->clues->seen.stacks) {
		gus_seen_ranges(&w->clues->seen, w->groups, &executed);
		see(s, GUS_SPREAD_EXECUTED, &executed, samples);
	} else if (w->clues->seen.executed) {
		see_samples(w, s, samples);
	} else {
		see_model(s, gus_groups_counts(w->groups), samples);
	}
	gus_vec_free(&executed);
}

static void see_all(const struct work *w, struct gus_spread *s)
{
	const struct gus_clues *c = w->clues;
	double samples = (double)c->samples * ((double)w->a->explained / (double)w->a->weight);
	struct gus_seen_counts time = { 0 };

	count_some(w, 0, true, &time);
	for (size_t i = 0; i < time.n; i++)
		time.v[i].share /= (double)w->a->explained;
	gus_spread_see(s, &(struct gus_spread_seen){ .sight = c->sight.sight, .counts = time.v, .n = time.n,
			.behind = c->seen.stacks > 0 && c->sight.sight == GUS_SPREAD_NEXT, .samples = samples,
			.early = c->sight.early });
	see_executed(w, s, samples);
	gus_vec_free(&time);
}

/* Of what executions met, samples of all of them tell most; else those of loads, of loads. */
static void find_met(struct work *w)
{
	const struct gus_clues *c = w->clues;
	const struct gus_seen *of = c->executions == GUS_SAMPLER_OPS && c->seen.executed ? &c->seen : &c->loads;

	w->has_met = of->executed > 0;
	if (w->has_met)
		gus_met_make(&w->met, w->groups, of, of == &c->seen);
}

static int by_site(const void *key, const void *element)
{
	const uint32_t *site = key;
	const struct gus_met_share *share = element;

	return *site < share->site ? -1 : *site > share->site;
}

/* Whether samples tell what the site's executions met. */
static bool is_measured(const struct work *w, uint32_t site)
{
	return w->has_met && w->met.shares.n &&
		bsearch(&site, w->met.shares.v, w->met.shares.n, sizeof(*w->met.shares.v), by_site);
}

/* Places that the model alone knows of. */

static uint32_t module_of(const struct work *w, const char *path)
{
	struct gus_space *space = w->clues->profile.space;

	for (uint32_t i = 0; path && i < gus_space_modules(space); i++)
		if (gus_space_module(space, i)->kind == GUS_MODULE_FILE &&
		    strcmp(gus_space_module(space, i)->path, path) == 0)
			return i;
	return GUS_CLUE_NONE;
}

static void add_place(struct work *w, const struct gus_traced_block *b, uint32_t block, uint32_t k, uint64_t at,
		      uint32_t site)
{
	uint64_t offset = b->module ? at : b->address + (at - b->offset);

	w->place_of[site] = (uint32_t)w->a->places.n;
	gus_vec_push(&w->a->places, (struct gus_clue_place){ .place = { module_of(w, b->module), offset },
		     .module = b->module ? b->module : "", .offset = offset, .insn = b->insn + k, .block = block,
		     .address = gus_groups_counts(w->groups)->sites.v[site].address });
}

/* By site, where it is: seen, or at least executed. */
static void find_places(struct work *w)
{
	const struct gus_traced *t = w->clues->traced;
	const struct gus_groups_counts *c = gus_groups_counts(w->groups);

	for (size_t i = 0; i < c->sites.n; i++)
		w->place_of[i] = GUS_CLUE_NONE;
	for (uint32_t i = 0; i < w->clues->places.n; i++) {
		const struct gus_clue_place *p = &w->a->places.v[i];
		uint32_t site = p->address ? gus_groups_site(w->groups, p->address) : UINT32_MAX;

		if (site != UINT32_MAX && w->place_of[site] == GUS_CLUE_NONE &&
		    t->program->insns[p->insn].offset == p->address)
			w->place_of[site] = i;
	}
	for (uint32_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		uint64_t at = b->offset;

		for (uint32_t k = 0; b->executed && k < b->insns_n; at += b->lengths[k++]) {
			uint32_t site = gus_groups_site(w->groups, t->program->insns[b->insn + k].offset);

			if (site != UINT32_MAX && w->place_of[site] == GUS_CLUE_NONE)
				add_place(w, b, i, k, at, site);
		}
	}
}

/* Code that one run of the traces has executed and the other has not has its address and nothing else. */
static uint32_t place_at(struct work *w, uint32_t site)
{
	uint64_t address = gus_groups_counts(w->groups)->sites.v[site].address;

	if (w->place_of[site] == GUS_CLUE_NONE) {
		w->place_of[site] = (uint32_t)w->a->places.n;
		gus_vec_push(&w->a->places, (struct gus_clue_place){ .place = { GUS_CLUE_NONE, address }, .module = "",
			     .offset = address, .insn = GUS_CLUE_NONE, .block = GUS_CLUE_NONE, .address = address });
	}
	return w->place_of[site];
}

/* The parts of a thread's time, as whole numbers. */
static void put_shares(struct work *w, const struct gus_spread_cells *cells, uint32_t thread, uint64_t whole)
{
	uint64_t *weights = gus_zalloc((cells->n + 1) * sizeof(*weights));
	double *shares = gus_zalloc((cells->n + 1) * sizeof(*shares));

	for (size_t i = 0; i < cells->n; i++)
		shares[i] = cells->v[i].share;
	gus_rounding_make(shares, cells->n, whole, weights);
	for (size_t i = 0; i < cells->n; i++) {
		const struct gus_spread_cell *c = &cells->v[i];

		put(w, &(struct gus_account_cell){ .place = place_at(w, c->site), .thread = thread,
				.what.events = c->psv & GUS_PSV_ALL, .moved = true, .weight = weights[i],
				.evidence = is_measured(w, c->site) ? GUS_INFERRED : GUS_MODELLED });
	}
	free(shares);
	free(weights);
}

/* Whose the time of one thread is. */
static void share_thread(struct work *w, const struct gus_spread *s, size_t first, size_t n)
{
	struct gus_spread_cells cells = { 0 };
	struct gus_seen_counts counts = { 0 };
	uint64_t whole = 0;

	for (size_t i = first; i < first + n; i++)
		whole += w->clues->time.v[w->there.v[i].time].weight;
	count_some(w, first, false, &counts);
	gus_spread_share(s, 0, counts.v, counts.n, &cells);
	if (cells.n)
		put_shares(w, &cells, w->there.v[first].thread, whole);
	for (size_t i = first; i < first + n && !cells.n; i++)
		leave(w, &w->clues->time.v[w->there.v[i].time]);
	gus_vec_free(&cells);
	gus_vec_free(&counts);
}

/* What is at sites of which no cycle would be seen stays as well. */
static void leave_unseen(struct work *w, const struct gus_spread *s)
{
	size_t n = 0;

	for (size_t i = 0; i < w->there.n; i++) {
		const struct gus_clue_time *t = &w->clues->time.v[w->there.v[i].time];

		if (gus_spread_sees(s, 0, &(struct gus_site_count){ w->there.v[i].site, t->behind, 1 })) {
			w->there.v[n++] = w->there.v[i];
			continue;
		}
		w->a->explained -= t->weight;
		leave(w, t);
	}
	w->there.n = n;
}

static void explain(struct work *w, unsigned width)
{
	const struct gus_prior_options po = gus_prior_defaults(width < GUS_GROUP_MOST ? width : GUS_GROUP_MOST);
	const struct gus_spread_options so = gus_spread_defaults();
	struct gus_spread *spread;
	struct gus_prior prior;
	size_t n;

	find_met(w);
	gus_prior_make(&prior, w->groups, &po, w->has_met ? &w->met : NULL);
	spread = gus_spread_new(&prior);
	see_all(w, spread);
	gus_spread_fit(spread, &so);
	w->a->divergence = gus_spread_divergence(spread);
	leave_unseen(w, spread);
	find_places(w);
	for (size_t i = 0; i < w->there.n; i += n) {
		for (n = 1; i + n < w->there.n && w->there.v[i + n].thread == w->there.v[i].thread; n++)
			;
		share_thread(w, spread, i, n);
	}
	gus_spread_free(spread);
	gus_prior_free(&prior);
	if (w->has_met)
		gus_met_free(&w->met);
}

/* Order, and sums. */

static int by_place(const void *a, const void *b)
{
	const struct gus_account_cell *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->what.unknown != y->what.unknown)
		return x->what.unknown - y->what.unknown;
	if (x->what.events != y->what.events)
		return x->what.events < y->what.events ? -1 : 1;
	return x->moved - y->moved;
}

/* What was seen behind a misprediction and otherwise is one cell. */
static void settle_cells(struct gus_account *a)
{
	size_t n = 0;

	if (a->cells.n)
		qsort(a->cells.v, a->cells.n, sizeof(*a->cells.v), by_place);
	for (size_t i = 0; i < a->cells.n; i++) {
		if (n && by_place(&a->cells.v[n - 1], &a->cells.v[i]) == 0)
			a->cells.v[n - 1].weight += a->cells.v[i].weight;
		else
			a->cells.v[n++] = a->cells.v[i];
	}
	a->cells.n = n;
}

static int by_seen(const void *a, const void *b)
{
	const struct gus_account_seen *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void settle_seen(struct gus_account *a)
{
	size_t n = 0;

	if (a->seen.n)
		qsort(a->seen.v, a->seen.n, sizeof(*a->seen.v), by_seen);
	for (size_t i = 0; i < a->seen.n; i++) {
		if (n && by_seen(&a->seen.v[n - 1], &a->seen.v[i]) == 0)
			a->seen.v[n - 1].weight += a->seen.v[i].weight;
		else
			a->seen.v[n++] = a->seen.v[i];
	}
	a->seen.n = n;
}

/* The identities: no thread's time becomes another's, and all of it is there. */
static void check(const struct gus_account *a)
{
	uint64_t *of = gus_zalloc((a->clues->threads.n + 1) * sizeof(*of)), weight = 0;

	for (size_t i = 0; i < a->seen.n; i++)
		of[a->seen.v[i].thread] += a->seen.v[i].weight;
	for (size_t i = 0; i < a->cells.n; i++) {
		assert(a->cells.v[i].weight <= of[a->cells.v[i].thread]);
		of[a->cells.v[i].thread] -= a->cells.v[i].weight;
		weight += a->cells.v[i].weight;
	}
	for (size_t i = 0; i < a->clues->threads.n; i++)
		assert(!of[i]);
	assert(weight == a->weight && weight == a->clues->weight);
	(void)weight;
	free(of);
}

void gus_account_make(struct gus_account *a, const struct gus_clues *clues, const struct gus_groups *groups,
		      unsigned width)
{
	struct work w = { .a = a, .clues = clues, .groups = clues->traced ? groups : NULL };

	*a = (struct gus_account){ .clues = clues };
	gus_vec_append(&a->places, clues->places.v, clues->places.n);
	if (w.groups)
		w.place_of = gus_zalloc((gus_groups_counts(groups)->sites.n + 1) * sizeof(*w.place_of));
	take_time(&w);
	if (a->explained)
		explain(&w, width);
	settle_cells(a);
	settle_seen(a);
	check(a);
	gus_vec_free(&w.there);
	free(w.place_of);
}

void gus_account_free(struct gus_account *a)
{
	gus_vec_free(&a->places);
	gus_vec_free(&a->cells);
	gus_vec_free(&a->seen);
}
