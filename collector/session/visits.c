/* SPDX-License-Identifier: MIT */
#include "collector/session/visits.h"

#include <stdlib.h>

void gus_visits_init(struct gus_visits *v)
{
	*v = (struct gus_visits){ .stride = 1, .most = GUS_VISITS_MAX, .coins = 0x9e3779b97f4a7c15 };
	gus_index_init(&v->places, sizeof(struct gus_visit_place));
}

void gus_visits_free(struct gus_visits *v)
{
	gus_index_free(&v->places);
	gus_vec_free(&v->list);
}

static void note(struct gus_visits *v, const struct gus_visit_place *place, const struct gus_visit *more)
{
	bool is_new;
	uint32_t number = gus_index_add(&v->places, place, &is_new);
	struct gus_visit *visit;

	if (is_new)
		gus_vec_push(&v->list, (struct gus_visit){ .first = more->first });
	visit = &v->list.v[number];
	visit->count += more->count;
	/* Rings of different CPUs are read one after the other, so times go back. */
	if (more->first < visit->first)
		visit->first = more->first;
	if (more->last > visit->last)
		visit->last = more->last;
}

/* Coins are tossed, as visits come in turns (a sample and its callers, a loop's addresses) with which a count would
 * march in step: xorshift64*, the same ones in each run. */
static uint64_t toss(struct gus_visits *v)
{
	v->coins ^= v->coins >> 12;
	v->coins ^= v->coins << 25;
	v->coins ^= v->coins >> 27;
	return v->coins * 0x2545f4914f6cdd1d;
}

/* How many of n visits are kept if each has a chance of a half. Of many it is half of them, near enough. */
static uint64_t half(struct gus_visits *v, uint64_t n)
{
	uint64_t coins = toss(v);

	if (n > 64)
		return n / 2;
	return (uint64_t)__builtin_popcountll(coins >> (64 - n));
}

static void thin(struct gus_visits *v)
{
	struct gus_visits all = *v;

	gus_visits_init(v);
	v->seen = all.seen;
	v->stride = 2 * all.stride;
	v->most = all.most;
	v->coins = all.coins;
	for (uint32_t i = 0; i < all.places.n; i++) {
		struct gus_visit visit = all.list.v[i];

		visit.count = half(v, visit.count);
		if (visit.count)
			note(v, gus_index_key(&all.places, i), &visit);
	}
	gus_visits_free(&all);
}

void gus_visits_add(struct gus_visits *v, uint32_t pid, uint64_t address, uint64_t time)
{
	const struct gus_visit_place place = { .address = address, .pid = pid };
	const struct gus_visit visit = { .first = time, .last = time, .count = 1 };

	v->seen++;
	if (v->stride > 1 && (toss(v) >> 32) % v->stride)
		return;
	note(v, &place, &visit);
	while (v->places.n > v->most) /* once, or more often if few places have a single visit */
		thin(v);
}
