/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/spread.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/proportional/prior.h"
#include "base/index.h"

/* A step that moves no more than this share of all cycles is the last. */
static const double STILL = 1e-5;

struct place_key { uint32_t site, behind, second; };
/* Of a kind of cycles so much is seen at a place. */
struct link { uint32_t cycle, place; double share; };

struct seen {
	struct gus_spread_seen of;              /* without counts */
	struct gus_index places;
	struct gus_vec(struct link) links;      /* by cycle */
	/* By place, and one more: where its own begin in links_at, which has the numbers of links by place. */
	struct gus_vec(uint32_t) links_of, links_at;
	double *counts;                         /* by place */
};

struct gus_spread {
	struct gus_prior *prior;
	struct gus_vec(struct seen) seen;
	double *shares;                         /* by kind of cycles; NULL: not fitted */
};

struct gus_spread_options gus_spread_defaults(void)
{
	return (struct gus_spread_options){ .strength = 100, .steps = 200 };
}

struct gus_spread *gus_spread_new(struct gus_prior *prior)
{
	struct gus_spread *s = gus_zalloc(sizeof(*s));

	s->prior = prior;
	return s;
}

void gus_spread_free(struct gus_spread *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->seen.n; i++) {
		gus_index_free(&s->seen.v[i].places);
		gus_vec_free(&s->seen.v[i].links);
		gus_vec_free(&s->seen.v[i].links_of);
		gus_vec_free(&s->seen.v[i].links_at);
		free(s->seen.v[i].counts);
	}
	gus_vec_free(&s->seen);
	free(s->shares);
	free(s);
}

static uint32_t run_at(const struct seen *seen, const struct gus_prior *p, uint32_t site)
{
	return seen->of.runs && site < p->runs.n ? p->runs.v[site] : site;
}

/* The second of a fused pair, or where other code begins there, that; behind a quick one it may be in its run. */
static struct place_key half_of(const struct seen *seen, const struct gus_prior *p, uint32_t site)
{
	uint32_t own = site < p->seconds.n ? p->seconds.v[site] : UINT32_MAX;

	if (seen->of.runs && site < p->halves.n && p->halves.v[site])
		return (struct place_key){ .site = run_at(seen, p, site) };
	return own == UINT32_MAX ? (struct place_key){ .site = site, .second = true } :
		(struct place_key){ .site = run_at(seen, p, own) };
}

static void add_link(struct seen *seen, size_t cycle, const struct place_key *there, double share)
{
	if (share > 0)
		gus_vec_push(&seen->links, (struct link){ (uint32_t)cycle, gus_index_add(&seen->places, there, NULL),
							   share });
}

static void link_to(struct seen *seen, const struct gus_prior *p, size_t cycle, uint32_t site, bool behind,
		    double share)
{
	const struct place_key there = { .site = run_at(seen, p, site), .behind = behind && seen->of.behind };

	add_link(seen, cycle, &there, share);
}

/* A string instruction that repeats does not retire first: an interrupt is taken in its midst, and lands on it. What no
 * trace has led to is behind something that none has, as a system call: what was waited for there nobody knows, and it
 * was not this. */
static void link_interrupt(struct seen *seen, const struct gus_prior *p, size_t i)
{
	const struct gus_prior_cycle *c = &p->cycles.v[i];
	double early = p->repeats.v[c->head] ? 1 : seen->of.early;
	struct place_key half = half_of(seen, p, c->head);

	if (p->reached.v[c->head] || p->repeats.v[c->head])
		link_to(seen, p, i, c->head, false, early);
	if (seen->of.halves && p->weights.v[c->head] > 1)
		add_link(seen, i, &half, 1 - early);
	else
		link_to(seen, p, i, seen->of.sight == GUS_SPREAD_INTERRUPT ? c->next : c->after, false, 1 - early);
}

static void link_cycle(struct seen *seen, const struct gus_prior *p, size_t i)
{
	const struct gus_prior_cycle *c = &p->cycles.v[i];
	bool group = c->kind == GUS_PRIOR_GROUP;

	switch (seen->of.sight) {
	case GUS_SPREAD_NEXT:
		link_to(seen, p, i, c->head, c->behind, 1);
		break;
	case GUS_SPREAD_INTERRUPT:
	case GUS_SPREAD_BEHIND:
		link_interrupt(seen, p, i);
		break;
	case GUS_SPREAD_EXECUTED:
		for (uint32_t k = 0; k < c->n; k++)
			link_to(seen, p, i, p->members.v[c->first + k], false, 1);
		break;
	case GUS_SPREAD_HEADS:
		link_to(seen, p, i, c->head, false, group);
		break;
	case GUS_SPREAD_WAITED:
		link_to(seen, p, i, c->head, false, !group);
		break;
	case GUS_SPREAD_SIGHTS:
		break;
	}
}

/* A mispredicted branch where the model has none is a place that it has without, and the other way round. */
static uint32_t find_place(const struct gus_prior *p, const struct seen *seen, const struct gus_site_count *c)
{
	struct place_key key = { .site = run_at(seen, p, c->site), .behind = c->behind && seen->of.behind };
	struct place_key half = half_of(seen, p, c->site);
	uint32_t place = gus_index_find(&seen->places, c->second && seen->of.halves ? &half : &key);

	if (place == GUS_INDEX_NONE && c->second)
		place = gus_index_find(&seen->places, &key);
	if (place == GUS_INDEX_NONE && seen->of.behind) {
		key.behind = !key.behind;
		place = gus_index_find(&seen->places, &key);
	}
	return place;
}

/* By place, but for what no cycle is seen at. */
static void put_counts(const struct gus_prior *p, const struct seen *seen, const struct gus_site_count *counts,
		       size_t n, double *out)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t place = find_place(p, seen, &counts[i]);

		if (place != GUS_INDEX_NONE)
			out[place] += counts[i].share;
	}
}

static void list_by_place(struct seen *seen)
{
	uint32_t sum = 0, *at;

	gus_vec_reserve(&seen->links_of, seen->places.n + 1);
	gus_vec_reserve(&seen->links_at, seen->links.n + 1);
	seen->links_of.n = seen->places.n + 1;
	seen->links_at.n = seen->links.n;
	at = gus_zalloc((seen->places.n + 1) * sizeof(*at));
	for (size_t k = 0; k < seen->links.n; k++)
		at[seen->links.v[k].place]++;
	for (uint32_t k = 0; k <= seen->places.n; k++) {
		uint32_t n = at[k];

		seen->links_of.v[k] = at[k] = sum;
		sum += n;
	}
	for (uint32_t k = 0; k < seen->links.n; k++)
		seen->links_at.v[at[seen->links.v[k].place]++] = k;
	free(at);
}

void gus_spread_see(struct gus_spread *s, const struct gus_spread_seen *told)
{
	struct seen *seen;

	gus_vec_push(&s->seen, (struct seen){ .of = *told });
	seen = &s->seen.v[s->seen.n - 1];
	seen->of.counts = NULL;
	gus_index_init(&seen->places, sizeof(struct place_key));
	for (size_t i = 0; i < s->prior->cycles.n; i++)
		link_cycle(seen, s->prior, i);
	list_by_place(seen);
	seen->counts = gus_zalloc(seen->places.n * sizeof(*seen->counts));
	put_counts(s->prior, seen, told->counts, told->n, seen->counts);
}

bool gus_spread_sees(const struct gus_spread *s, size_t i, const struct gus_site_count *there)
{
	return find_place(s->prior, &s->seen.v[i], there) != GUS_INDEX_NONE;
}

/* By place, of cycles with these shares. */
static void expect(const struct seen *seen, const double *shares, double *expected)
{
	for (uint32_t k = 0; k < seen->places.n; k++)
		expected[k] = 0;
	for (size_t k = 0; k < seen->links.n; k++)
		expected[seen->links.v[k].place] += seen->links.v[k].share * shares[seen->links.v[k].cycle];
}

static size_t most_places(const struct gus_spread *s)
{
	size_t most = 1;

	for (size_t i = 0; i < s->seen.n; i++)
		if (s->seen.v[i].places.n > most)
			most = s->seen.v[i].places.n;
	return most;
}

/* What steps need: by kind of cycles what the prior asks for, and what each is divided by, which are the same in all;
 * links to places where something was seen, as what would be seen elsewhere and was not adds nothing; and room. */
struct walk {
	double *prior, *up, *down;      /* by kind of cycles */
	double *ratios;                 /* by place: what was seen, as times what the cycles would show */
	struct gus_vec(struct link) links;      /* of one thing that was seen behind the other */
	struct gus_vec(size_t) links_n; /* of each */
};

static void walk_begin(struct walk *w, const struct gus_spread *s, double strength)
{
	size_t n = s->prior->cycles.n;

	*w = (struct walk){ .prior = gus_zalloc(n * sizeof(*w->prior)), .up = gus_zalloc(n * sizeof(*w->up)),
		.down = gus_zalloc(n * sizeof(*w->down)),
		.ratios = gus_zalloc(most_places(s) * sizeof(*w->ratios)) };
	for (size_t i = 0; i < n; i++) {
		w->prior[i] = strength * s->prior->cycles.v[i].share;
		w->down[i] = strength;
	}
	for (size_t i = 0; i < s->seen.n; i++) {
		const struct seen *seen = &s->seen.v[i];
		size_t before = w->links.n;

		for (size_t k = 0; k < seen->links.n; k++) {
			const struct link *l = &seen->links.v[k];

			w->down[l->cycle] += seen->of.samples * l->share;
			if (seen->counts[l->place] > 0)
				gus_vec_push(&w->links, *l);
		}
		gus_vec_push(&w->links_n, w->links.n - before);
	}
}

static void walk_end(struct walk *w)
{
	free(w->prior);
	free(w->up);
	free(w->down);
	free(w->ratios);
	gus_vec_free(&w->links);
	gus_vec_free(&w->links_n);
}

/* What one thing that was seen asks for. */
static void pull(struct walk *w, const struct seen *seen, const struct link *links, size_t n, const double *shares)
{
	for (uint32_t k = 0; k < seen->places.n; k++)
		w->ratios[k] = 0;
	for (size_t k = 0; k < n; k++)
		w->ratios[links[k].place] += links[k].share * shares[links[k].cycle];
	for (uint32_t k = 0; k < seen->places.n; k++)
		w->ratios[k] = w->ratios[k] > 0 ? seen->counts[k] / w->ratios[k] : 1;
	for (size_t k = 0; k < n; k++)
		w->up[links[k].cycle] += seen->of.samples * links[k].share * w->ratios[links[k].place] *
			shares[links[k].cycle];
}

/* One step; how far it went. */
static double step(struct walk *w, struct gus_spread *s)
{
	const struct link *links = w->links.v;
	size_t n = s->prior->cycles.n;
	double moved = 0;

	memcpy(w->up, w->prior, n * sizeof(*w->up));
	for (size_t i = 0; i < s->seen.n; links += w->links_n.v[i++])
		pull(w, &s->seen.v[i], links, w->links_n.v[i], s->shares);
	for (size_t i = 0; i < n; i++) {
		double share = w->up[i] / w->down[i];

		moved += fabs(share - s->shares[i]);
		s->shares[i] = share;
	}
	return moved;
}

static double sum_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

double gus_spread_divergence(const struct gus_spread *s)
{
	const struct seen *seen = s->seen.v;
	double *expected, *shares, all, counts, sum = 0;

	if (!s->seen.n || !seen->places.n)
		return 0;
	expected = gus_zalloc(seen->places.n * sizeof(*expected));
	shares = gus_zalloc((s->prior->cycles.n + 1) * sizeof(*shares));
	for (size_t i = 0; i < s->prior->cycles.n; i++)
		shares[i] = s->prior->cycles.v[i].share;
	expect(seen, shares, expected);
	all = sum_of(expected, seen->places.n);
	counts = sum_of(seen->counts, seen->places.n);
	for (uint32_t k = 0; k < seen->places.n && counts > 0; k++)
		if (seen->counts[k] > 0 && expected[k] > 0)
			sum += seen->counts[k] / counts * log(seen->counts[k] / counts / (expected[k] / all));
	free(expected);
	free(shares);
	return sum;
}

double gus_spread_deviance(const struct gus_spread *s)
{
	double *expected = gus_zalloc(most_places(s) * sizeof(*expected)), sum = 0;

	for (size_t i = 0; i < s->seen.n; i++) {
		const struct seen *seen = &s->seen.v[i];

		expect(seen, s->shares, expected);
		for (uint32_t k = 0; k < seen->places.n; k++) {
			double count = seen->counts[k];

			if (expected[k] > 0)
				sum += seen->of.samples * (expected[k] - count +
							   (count > 0 ? count * log(count / expected[k]) : 0));
		}
	}
	free(expected);
	return sum;
}

/* The one of which what was seen is likeliest. */
static void weigh(struct gus_spread *s)
{
	static const double ways[] = { .01, .03, .1, .3, 1, 3, 10 };
	double best = ways[0], least = INFINITY;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		double off;

		gus_prior_weigh(s->prior, ways[i]);
		off = gus_spread_divergence(s);
		if (off < least) {
			least = off;
			best = ways[i];
		}
	}
	gus_prior_weigh(s->prior, best);
}

/* As many steps as there is something to be gained by. */
static void walk(struct gus_spread *s, const struct gus_spread_options *o)
{
	struct walk w;

	assert(o->strength > 0);
	walk_begin(&w, s, o->strength);
	for (unsigned i = 0; i < o->steps && step(&w, s) > STILL; i++)
		;
	walk_end(&w);
}

void gus_spread_fit(struct gus_spread *s, const struct gus_spread_options *o)
{
	size_t n = s->prior->cycles.n;

	if (o->ways > 0)
		gus_prior_weigh(s->prior, o->ways);
	else
		weigh(s);
	free(s->shares);
	s->shares = gus_zalloc(n * sizeof(*s->shares));
	for (size_t i = 0; i < n; i++)
		s->shares[i] = s->prior->cycles.v[i].share;
	walk(s, o);
}

void gus_spread_recount(struct gus_spread *s, size_t i, const struct gus_site_count *counts, size_t n)
{
	struct seen *seen = &s->seen.v[i];

	for (uint32_t k = 0; k < seen->places.n; k++)
		seen->counts[k] = 0;
	put_counts(s->prior, seen, counts, n, seen->counts);
}

void gus_spread_refit(struct gus_spread *s, const double *shares, const struct gus_spread_options *o)
{
	if (shares != s->shares)
		memcpy(s->shares, shares, s->prior->cycles.n * sizeof(*shares));
	walk(s, o);
}

const double *gus_spread_shares(const struct gus_spread *s)
{
	return s->shares;
}

/* Cells. */

struct cell_key { uint32_t site, psv; };
struct cells { struct gus_index keys; struct gus_spread_cells *out; size_t first; };

static void add_cell(struct cells *c, uint32_t site, uint16_t psv, double share)
{
	struct cell_key key = { site, psv };
	bool is_new;
	uint32_t number = gus_index_add(&c->keys, &key, &is_new);

	if (is_new)
		gus_vec_push(c->out, (struct gus_spread_cell){ site, psv, 0 });
	c->out->v[c->first + number].share += share;
}

/* Each that retires has its share of the cycle, and each of its executions is as likely as another. */
static void share_group(struct cells *c, const struct gus_prior *p, const struct gus_prior_cycle *group, double share)
{
	double weights = 0;

	for (uint32_t k = 0; k < group->n; k++)
		weights += p->weights.v[p->members.v[group->first + k]];
	for (uint32_t k = 0; k < group->n; k++) {
		uint32_t site = p->members.v[group->first + k];
		double own = share * p->weights.v[site] / weights;

		for (uint32_t i = p->met_of.v[site]; i < p->met_of.v[site + 1]; i++)
			add_cell(c, site, p->met.v[i].psv, own * p->met.v[i].share);
	}
}

static int by_cell(const void *a, const void *b)
{
	const struct gus_spread_cell *x = a, *y = b;

	return x->site != y->site ? (x->site < y->site ? -1 : 1) : (int)x->psv - (int)y->psv;
}

/* Of a kind of cycles so much. */
struct part { uint32_t cycle; double share; };
struct parts gus_vec(struct part);

static void make_cells(const struct gus_prior *p, const struct parts *parts, struct gus_spread_cells *out)
{
	struct cells c = { .out = out, .first = out->n };

	gus_index_init(&c.keys, sizeof(struct cell_key));
	for (size_t i = 0; i < parts->n; i++) {
		const struct part *part = &parts->v[i];
		const struct gus_prior_cycle *one = &p->cycles.v[part->cycle];

		if (part->share <= 0)
			continue;
		if (one->kind == GUS_PRIOR_GROUP)
			share_group(&c, p, one, part->share);
		else
			add_cell(&c, one->of, one->psv, part->share);
	}
	gus_index_free(&c.keys);
	if (out->n > c.first)
		qsort(out->v + c.first, out->n - c.first, sizeof(*out->v), by_cell);
}

void gus_spread_cells(const struct gus_spread *s, struct gus_spread_cells *out)
{
	size_t first = out->n;
	struct parts all = { 0 };
	double sum = 0;

	for (size_t i = 0; i < s->prior->cycles.n; i++)
		gus_vec_push(&all, (struct part){ (uint32_t)i, s->shares[i] });
	make_cells(s->prior, &all, out);
	gus_vec_free(&all);
	for (size_t i = first; i < out->n; i++)
		sum += out->v[i].share;
	for (size_t i = first; i < out->n; i++)
		out->v[i].share /= sum;
}

/* Some counts, by place and number; and what of the cycles that are seen there is theirs, by link. Threads may be
 * thousands that were seen at a place or two each: what this takes is as much as has to do with these places. */
struct place { uint32_t place; size_t at; double count; };
struct places gus_vec(struct place);
struct piece { uint32_t link; double share; };
struct pieces gus_vec(struct piece);

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_link(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->link < y->link ? -1 : x->link > y->link;
}

static double list_places(const struct gus_prior *p, const struct seen *seen, const struct gus_site_count *counts,
			  size_t n, struct places *out)
{
	double nowhere = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t place = find_place(p, seen, &counts[i]);

		if (place == GUS_INDEX_NONE)
			nowhere += counts[i].share;
		else
			gus_vec_push(out, (struct place){ place, i, counts[i].share });
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_place);
	return nowhere;
}

static void take_pieces(const struct gus_spread *s, const struct seen *seen, uint32_t place, double count,
			struct pieces *out)
{
	const uint32_t *at = &seen->links_at.v[seen->links_of.v[place]];
	uint32_t n = seen->links_of.v[place + 1] - seen->links_of.v[place];
	double sum = 0, ratio;

	for (uint32_t k = 0; k < n; k++)
		sum += seen->links.v[at[k]].share * s->shares[seen->links.v[at[k]].cycle];
	ratio = sum > 0 ? count / sum : 1;
	for (uint32_t k = 0; k < n && count > 0; k++) {
		const struct link *l = &seen->links.v[at[k]];

		gus_vec_push(out, (struct piece){ at[k], l->share * ratio * s->shares[l->cycle] });
	}
}

/* In the order of cycles, as links are. */
static void list_parts(const struct seen *seen, struct pieces *pieces, struct parts *out)
{
	if (pieces->n)
		qsort(pieces->v, pieces->n, sizeof(*pieces->v), by_link);
	for (size_t i = 0; i < pieces->n; i++) {
		uint32_t cycle = seen->links.v[pieces->v[i].link].cycle;

		if (out->n && out->v[out->n - 1].cycle == cycle)
			out->v[out->n - 1].share += pieces->v[i].share;
		else
			gus_vec_push(out, (struct part){ cycle, pieces->v[i].share });
	}
}

double gus_spread_share(const struct gus_spread *s, size_t which, const struct gus_site_count *counts, size_t n,
			struct gus_spread_cells *out)
{
	const struct seen *seen = &s->seen.v[which];
	struct places places = { 0 };
	struct pieces pieces = { 0 };
	struct parts parts = { 0 };
	double nowhere = list_places(s->prior, seen, counts, n, &places), count = 0;

	assert(seen->of.sight <= GUS_SPREAD_BEHIND);
	for (size_t i = 0; i < places.n; i++) {
		count += places.v[i].count;
		if (i + 1 < places.n && places.v[i + 1].place == places.v[i].place)
			continue;
		take_pieces(s, seen, places.v[i].place, count, &pieces);
		count = 0;
	}
	list_parts(seen, &pieces, &parts);
	make_cells(s->prior, &parts, out);
	gus_vec_free(&places);
	gus_vec_free(&pieces);
	gus_vec_free(&parts);
	return nowhere;
}
