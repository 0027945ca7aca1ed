/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/spread.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/index.h"
#include "model/core/pics.h"
#include "tests/accuracy/golden/joint.h"

struct place_key { uint64_t address, behind; };
/* Of a cell this share of its cycles is seen at a place. */
struct share { uint32_t cell, place; double share; };

struct work {
	const struct golden_spread_options *o;
	struct gus_index places;
	struct gus_vec(struct share) shares;
	double *seen, *expected;        /* by place: samples */
	double *now, *next;             /* by cell: samples */
	size_t cells_n;
};

static uint32_t place_of(struct work *w, uint64_t address, bool behind)
{
	struct place_key key = { address, w->o->behind && behind };

	return gus_index_add(&w->places, &key, NULL);
}

static void take_shares(struct work *w, const struct golden_joint *joint, const struct golden_joint_cell *cells)
{
	for (unsigned k = 0; k < GOLDEN_JOINT_SKIDS; k++) {
		size_t n;
		const struct golden_joint_pair *pairs = golden_joint_pairs(joint, k, &n);

		for (size_t i = 0; i < n && w->o->skid[k] > 0; i++) {
			struct share s = { pairs[i].cell, place_of(w, pairs[i].address, pairs[i].behind), 0 };

			s.share = w->o->skid[k] * (double)pairs[i].ticks / (double)cells[s.cell].ticks;
			gus_vec_push(&w->shares, s);
		}
	}
}

/* Samples as the cells of now would have them. */
static void expect(struct work *w)
{
	for (size_t i = 0; i < w->places.n; i++)
		w->expected[i] = 0;
	for (size_t i = 0; i < w->shares.n; i++)
		w->expected[w->shares.v[i].place] += w->now[w->shares.v[i].cell] * w->shares.v[i].share;
}

static void step(struct work *w)
{
	expect(w);
	for (size_t i = 0; i < w->cells_n; i++)
		w->next[i] = 0;
	for (size_t i = 0; i < w->shares.n; i++) {
		const struct share *s = &w->shares.v[i];

		if (w->expected[s->place] > 0)
			w->next[s->cell] += w->now[s->cell] * s->share * w->seen[s->place] / w->expected[s->place];
	}
	for (size_t i = 0; i < w->cells_n; i++)
		w->now[i] = w->next[i];
}

void golden_spread(struct golden_spread *out, const struct golden_joint *joint, const struct golden_spread_seen *seen,
		   size_t n, const struct golden_spread_options *o)
{
	struct work w = { .o = o };
	const struct golden_joint_cell *cells = golden_joint_cells(joint, &w.cells_n);

	assert(o->steps > 0);
	gus_index_init(&w.places, sizeof(struct place_key));
	take_shares(&w, joint, cells);
	for (size_t i = 0; i < n; i++)
		place_of(&w, seen[i].address, seen[i].behind);
	w.seen = gus_zalloc((w.places.n + 1) * sizeof(*w.seen));
	w.expected = gus_zalloc((w.places.n + 1) * sizeof(*w.expected));
	w.now = gus_zalloc((w.cells_n + 1) * sizeof(*w.now));
	w.next = gus_zalloc((w.cells_n + 1) * sizeof(*w.next));
	for (size_t i = 0; i < n; i++)
		w.seen[place_of(&w, seen[i].address, seen[i].behind)] += seen[i].samples;
	for (size_t i = 0; i < w.cells_n; i++)
		w.now[i] = (double)cells[i].ticks; /* in whatever unit: the first step makes samples of it */
	*out = (struct golden_spread){ 0 };
	expect(&w);
	for (size_t i = 0; i < w.places.n; i++) {
		const struct place_key *key = gus_index_key(&w.places, (uint32_t)i);

		if (w.expected[i] > 0 || !(w.seen[i] > 0))
			continue;
		gus_vec_push(&out->cells, (struct golden_spread_cell){ key->address, 0, false, w.seen[i] });
		out->unseen += w.seen[i];
	}
	for (unsigned i = 0; i < o->steps; i++)
		step(&w);
	for (size_t i = 0; i < w.cells_n; i++)
		if (w.now[i] > 0)
			gus_vec_push(&out->cells, (struct golden_spread_cell){ cells[i].address, cells[i].psv, true,
									     w.now[i] });
	gus_index_free(&w.places);
	gus_vec_free(&w.shares);
	free(w.seen);
	free(w.expected);
	free(w.now);
	free(w.next);
}

/* Cells of the model, by address. */
struct by_address { const struct golden_joint_cell *v; size_t n; };

static int by_address(const void *a, const void *b)
{
	const struct golden_joint_cell *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->psv < y->psv ? -1 : x->psv > y->psv;
}

static size_t first_at(const struct by_address *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->v[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct cells { size_t first, last; uint16_t psv, known; };

/* Executions of those of them that agree with what is known. */
static uint64_t executed_of(const struct by_address *m, const struct cells *c)
{
	uint64_t executed = 0;

	for (size_t i = c->first; i < c->last; i++)
		executed += ((m->v[i].psv ^ c->psv) & c->known) == 0 ? m->v[i].executed : 0;
	return executed;
}

/* One kind of execution: shared among the cells that it may be of, by their executions, each with its time. What was
 * seen of events has the last word. */
static void weigh(struct golden_spread *out, const struct by_address *m, const struct golden_spread_execution *e)
{
	struct cells c = { first_at(m, e->address), 0, e->psv, e->known };
	uint64_t executed;

	for (c.last = c.first; c.last < m->n && m->v[c.last].address == e->address; c.last++)
		;
	executed = executed_of(m, &c);
	if (!executed) {
		c.known = 0;
		executed = executed_of(m, &c);
	}
	if (!executed)
		out->unseen += e->samples;
	for (size_t i = c.first; i < c.last && executed; i++)
		if (((m->v[i].psv ^ c.psv) & c.known) == 0 && m->v[i].ticks)
			gus_vec_push(&out->cells, (struct golden_spread_cell){ e->address,
				(uint16_t)((m->v[i].psv & ~e->known) | (e->psv & e->known)), true,
				e->samples * (double)m->v[i].ticks / GUS_PICS_TICKS / (double)executed });
}

void golden_spread_executions(struct golden_spread *out, const struct golden_joint *joint,
			      const struct golden_spread_execution *seen, size_t n)
{
	struct by_address m = { 0 };
	const struct golden_joint_cell *cells = golden_joint_cells(joint, &m.n);
	struct golden_joint_cell *sorted = gus_alloc((m.n + 1) * sizeof(*sorted));

	*out = (struct golden_spread){ 0 };
	for (size_t i = 0; i < m.n; i++)
		sorted[i] = cells[i];
	if (m.n)
		qsort(sorted, m.n, sizeof(*sorted), by_address);
	m.v = sorted;
	for (size_t i = 0; i < n; i++)
		weigh(out, &m, &seen[i]);
	free(sorted);
}

void golden_spread_free(struct golden_spread *s)
{
	gus_vec_free(&s->cells);
}
