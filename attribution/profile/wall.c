/* SPDX-License-Identifier: MIT */
#include "attribution/profile/wall.h"

#include <assert.h>
#include <stdlib.h>

struct stratum_key { uint32_t thread; uint16_t kind, length; };
struct stratum_cell_key { uint32_t stratum, cell; };

/* What sampled ones stand for beside themselves, and what was not sampled. */
struct gus_stratum { uint64_t basis, missing_ns, missing_times, missing_longest; };
struct gus_stratum_cell { uint64_t basis; };

static unsigned length_of(uint64_t ns)
{
	return ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;
}

static uint32_t stratum_of(struct gus_wall *w, const struct gus_absence *a)
{
	struct stratum_key key = { a->thread, (uint16_t)a->kind, (uint16_t)length_of(a->ns) };
	bool is_new;
	uint32_t number = gus_index_add(&w->strata, &key, &is_new);

	if (is_new)
		gus_vec_push(&w->stratum, (struct gus_stratum){ 0 });
	return number;
}

static void add_off(struct gus_cell *cell, uint64_t ns, uint64_t times, uint64_t longest, bool waiting)
{
	const struct gus_off off = { .ns = ns, .waiting = waiting ? ns : 0, .longest = longest, .times = times };

	gus_off_add(&cell->off, &off);
}

/* As switches come more often each stands for more; one of a time when each was sampled speaks for no others. Products
 * beyond 64 bits are of no recording that was made. */
static void add_sampled(struct gus_wall *w, const struct gus_absence *a)
{
	struct stratum_cell_key key = { .cell = a->mark };
	struct gus_stratum *s;
	uint64_t basis, sum;
	uint32_t number;
	bool is_new;

	add_off(&w->cells->v[a->mark], a->ns, 1, a->ns, a->kind == GUS_ABSENCE_PREEMPTED);
	key.stratum = stratum_of(w, a);
	s = &w->stratum.v[key.stratum];
	if (a->stands_for < 2 || __builtin_mul_overflow(a->stands_for - 1, a->ns, &basis) ||
	    __builtin_add_overflow(s->basis, basis, &sum))
		return;
	number = gus_index_add(&w->strata_cells, &key, &is_new);
	if (is_new)
		gus_vec_push(&w->stratum_cell, (struct gus_stratum_cell){ 0 });
	w->stratum_cell.v[number].basis += basis;
	s->basis = sum;
}

static void add_missing(struct gus_wall *w, const struct gus_absence *a)
{
	uint32_t number = stratum_of(w, a);
	struct gus_stratum *s = &w->stratum.v[number];

	s->missing_ns += a->ns;
	s->missing_times++;
	s->missing_longest = a->ns > s->missing_longest ? a->ns : s->missing_longest;
}

static void take_absence(void *context, const struct gus_absence *a)
{
	struct gus_wall *w = context;
	uint32_t cell;

	if (!a->ns)
		return;
	if (a->mark != GUS_INDEX_NONE) {
		add_sampled(w, a);
		return;
	}
	if (a->kind == GUS_ABSENCE_BLOCKED || a->kind == GUS_ABSENCE_PREEMPTED) {
		add_missing(w, a);
		return;
	}
	cell = w->nowhere(w->context, a->thread);
	*(a->kind == GUS_ABSENCE_BORN ? &w->sums.born_ns : &w->sums.before_ns) += a->ns;
	add_off(&w->cells->v[cell], a->ns, 0, a->ns, a->kind == GUS_ABSENCE_BORN);
}

void gus_wall_init(struct gus_wall *w, struct gus_cells *cells, uint32_t (*nowhere)(void *context, uint32_t thread),
		   void *context)
{
	*w = (struct gus_wall){ .cells = cells, .nowhere = nowhere, .context = context };
	gus_lives_init(&w->lives, take_absence, w);
	gus_index_init(&w->strata, sizeof(struct stratum_key));
	gus_index_init(&w->strata_cells, sizeof(struct stratum_cell_key));
}

void gus_wall_free(struct gus_wall *w)
{
	gus_lives_free(&w->lives);
	gus_index_free(&w->strata);
	gus_index_free(&w->strata_cells);
	gus_vec_free(&w->stratum);
	gus_vec_free(&w->stratum_cell);
}

/* What of a whole belongs to the part behind the first `before` of `all`: differences of rounded running sums, so that
 * the parts add up to the whole. */
static uint64_t share(uint64_t whole, uint64_t before, uint64_t part, uint64_t all)
{
	unsigned __int128 low = (unsigned __int128)whole * before / all;

	return (uint64_t)((unsigned __int128)whole * (before + part) / all - low);
}

/* Switches without a sample. */

/* done: of each stratum, what of its basis is behind us. */
static void spread_missing(struct gus_wall *w)
{
	uint64_t *done = gus_zalloc((w->stratum.n + 1) * sizeof(*done));

	for (uint32_t i = 0; i < w->stratum_cell.n; i++) {
		const struct stratum_cell_key *key = gus_index_key(&w->strata_cells, i);
		const struct stratum_key *where = gus_index_key(&w->strata, key->stratum);
		const struct gus_stratum *s = &w->stratum.v[key->stratum];
		uint64_t basis = w->stratum_cell.v[i].basis, *behind = &done[key->stratum];
		uint64_t ns = share(s->missing_ns, *behind, basis, s->basis);

		add_off(&w->cells->v[key->cell], ns, share(s->missing_times, *behind, basis, s->basis), 0,
			where->kind == GUS_ABSENCE_PREEMPTED);
		w->cells->v[key->cell].off.inferred += ns;
		w->sums.inferred_ns += ns;
		*behind += basis;
	}
	free(done);
}

/* Where no switch of that kind and length was sampled for others, the place is not known. */
static void settle_missing(struct gus_wall *w)
{
	for (uint32_t i = 0; i < w->stratum.n; i++) {
		const struct stratum_key *key = gus_index_key(&w->strata, i);
		struct gus_stratum *s = &w->stratum.v[i];
		uint32_t cell;

		if (!s->missing_ns || s->basis)
			continue;
		cell = w->nowhere(w->context, key->thread);
		add_off(&w->cells->v[cell], s->missing_ns, s->missing_times, s->missing_longest,
			key->kind == GUS_ABSENCE_PREEMPTED);
		w->sums.nowhere_ns += s->missing_ns;
		s->missing_ns = s->missing_times = 0;
	}
	spread_missing(w);
}

/* Time on the CPU. */

struct spread { uint64_t all, before; bool beyond; };

/* Of each thread, what its samples weigh. Every thread that has a cell has a life. */
static struct spread *weigh(const struct gus_wall *w)
{
	struct spread *of = gus_zalloc((w->lives.list.n + 1) * sizeof(*of));

	for (size_t i = 0; i < w->cells->n; i++) {
		const struct gus_cell *c = &w->cells->v[i];

		assert(c->thread < w->lives.list.n);
		of[c->thread].beyond |= __builtin_add_overflow(of[c->thread].all, c->weight, &of[c->thread].all);
	}
	return of;
}

/* A thread whose samples weigh more than 64 bits hold is of no recording that was made: its time has no place. */
static void settle_on(struct gus_wall *w)
{
	struct gus_lives *lives = &w->lives;
	struct spread *of = weigh(w);

	for (size_t i = 0; i < w->cells->n; i++) {
		struct gus_cell *c = &w->cells->v[i];
		struct spread *s = &of[c->thread];
		uint64_t sampled = c->weight, on = lives->list.v[c->thread].on;

		if (s->beyond) {
			c->weight = 0;
			c->weight2 = 0;
			continue;
		}
		if (!sampled)
			continue;
		c->weight = share(on, s->before, sampled, s->all);
		c->weight2 *= (double)on / (double)s->all * ((double)on / (double)s->all);
		s->before += sampled;
	}
	for (uint32_t i = 0; i < lives->list.n; i++) {
		uint32_t cell;

		if ((of[i].all && !of[i].beyond) || !lives->list.v[i].on)
			continue;
		cell = w->nowhere(w->context, i);
		w->cells->v[cell].weight += lives->list.v[i].on;
	}
	free(of);
}

static void add_life(struct gus_wall_sums *sums, const struct gus_life *life)
{
	if (!life->wall)
		return;
	if (!life->told) {
		sums->asleep++;
		sums->asleep_ns += life->wall;
		return;
	}
	sums->threads++;
	sums->all.wall += life->wall;
	sums->all.on += life->on;
	sums->all.blocked += life->blocked;
	sums->all.waiting += life->waiting;
	sums->all.unknown += life->unknown;
	sums->all.switches += life->switches;
	sums->all.preempted += life->preempted;
}

/* The cells hold what the lives say, and nothing else. */
static void check(const struct gus_wall *w, bool on)
{
	uint64_t cells = 0, lives = 0;

	for (size_t i = 0; i < w->cells->n; i++)
		cells += w->cells->v[i].weight;
	for (size_t i = 0; i < w->lives.list.n; i++)
		if (w->lives.list.v[i].told)
			lives += gus_life_off(&w->lives.list.v[i]) + (on ? w->lives.list.v[i].on : 0);
	assert(cells == lives);
	(void)cells;
	(void)lives;
}

void gus_wall_settle(struct gus_wall *w, bool on, bool (*counts)(void *context, uint32_t thread))
{
	settle_missing(w);
	if (on)
		settle_on(w);
	for (size_t i = 0; i < w->cells->n; i++) {
		w->cells->v[i].weight += w->cells->v[i].off.ns;
		w->cells->v[i].samples += w->cells->v[i].off.times;
	}
	for (uint32_t i = 0; i < w->lives.list.n; i++)
		if (counts(w->context, i))
			add_life(&w->sums, &w->lives.list.v[i]);
	check(w, on);
}
