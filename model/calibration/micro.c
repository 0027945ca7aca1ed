/* SPDX-License-Identifier: MIT */
#include "model/calibration/micro.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct gus_micro *gus_micro_new(enum gus_isa isa, const char *name, ...)
{
	struct gus_micro *k = gus_zalloc(sizeof(*k));
	va_list arguments;

	va_start(arguments, name);
	vsnprintf(k->name, sizeof(k->name), name, arguments);
	va_end(arguments);
	k->isa = isa;
	return k;
}

void gus_micro_free(struct gus_micro *k)
{
	if (!k)
		return;
	gus_vec_free(&k->code);
	gus_vec_free(&k->lists);
	gus_vec_free(&k->patterns);
	gus_vec_free(&k->accesses);
	gus_vec_free(&k->jumps);
	free(k);
}

enum { PAGE = 4096, LINE = 64 };

/* xorshift64*: any order will do, if it is always the same. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

static uint64_t seeded(uint64_t seed)
{
	return (seed + 1) * 0x9e3779b97f4a7c15;
}

/* Puts n numbers into any order (Fisher and Yates). */
static void shuffle(uint32_t *v, uint64_t n, uint64_t *state)
{
	for (uint64_t i = n; i > 1; i--) {
		uint64_t j = draw(state) % i;
		uint32_t other = v[j];

		v[j] = v[i - 1];
		v[i - 1] = other;
	}
}

/* The places as they are walked: of blocks one after the other, each in an order of its own. The last may be short. */
static void sequence_of(const struct gus_micro_list *l, uint32_t *places)
{
	uint64_t state = seeded(l->seed), block = l->block ? l->block : 1, blocks = (l->places + block - 1) / block;
	uint32_t *order = gus_resize(NULL, blocks ? blocks : 1, sizeof(*order));
	uint64_t n = 0;

	for (uint64_t i = 0; i < blocks; i++)
		order[i] = (uint32_t)i;
	if (!l->in_order)
		shuffle(order, blocks, &state);
	for (uint64_t i = 0; i < blocks; i++) {
		uint64_t first = order[i] * block, end = first + block < l->places ? first + block : l->places;

		for (uint64_t place = first; place < end; place++)
			places[n + place - first] = (uint32_t)place;
		if (!l->in_order && !l->rows)
			shuffle(places + n, end - first, &state);
		n += end - first;
	}
	free(order);
}

/* Of each place the one that comes after it, all in one cycle. The caller frees it. */
static uint32_t *order_of(const struct gus_micro_list *l)
{
	uint32_t *next = gus_resize(NULL, l->places ? l->places : 1, sizeof(*next));
	uint32_t *places = gus_resize(NULL, l->places ? l->places : 1, sizeof(*places));

	sequence_of(l, places);
	for (uint64_t i = 0; i < l->places; i++)
		next[places[i]] = places[i + 1 < l->places ? i + 1 : 0];
	free(places);
	return next;
}

/* Of a list whose blocks lie apart. */
static uint64_t place_apart(const struct gus_micro_list *l, uint64_t i)
{
	uint64_t number = i / l->block, state = seeded(l->seed ^ number);
	uint64_t place = l->start + number * l->apart + i % l->block * l->distance;

	if (i % l->block + 1 < l->block)
		return place;
	place += l->leap;
	if (!l->scattered || number % l->scattered == 0)
		return place;
	return place - place % PAGE + draw(&state) % (PAGE / LINE) * LINE + place % LINE;
}

static uint64_t place_of(const struct gus_micro_list *l, uint64_t i)
{
	if (l->apart)
		return place_apart(l, i);
	return l->start + i * l->distance + (l->skews ? i % l->skews * l->skew : 0);
}

static bool bit_of(const struct gus_micro_pattern *p, uint64_t i)
{
	uint64_t state = seeded(p->seed ^ i * 0xd1342543de82ef95);

	switch (p->bits) {
	case GUS_MICRO_ZEROS: return false;
	case GUS_MICRO_ONES: return true;
	case GUS_MICRO_TURNS: return i & 1;
	case GUS_MICRO_RANDOM: break;
	}
	draw(&state);
	return draw(&state) >> 63;
}

void gus_micro_fill(const struct gus_micro *k, void *arena, uint64_t address)
{
	uint8_t *bytes = arena;

	for (size_t i = 0; i < k->lists.n; i++) {
		const struct gus_micro_list *l = &k->lists.v[i];
		uint32_t *next = order_of(l);

		for (uint64_t place = 0; place < l->places; place++) {
			uint64_t after = address + place_of(l, next[place]);

			memcpy(bytes + place_of(l, place), &after, sizeof(after));
		}
		free(next);
	}
	for (size_t i = 0; i < k->patterns.n; i++)
		for (uint64_t b = 0; b < k->patterns.v[i].bytes; b++)
			bytes[k->patterns.v[i].start + b] = bit_of(&k->patterns.v[i], b);
}

void gus_micro_walk_begin(struct gus_micro_walk *w, const struct gus_micro *k)
{
	*w = (struct gus_micro_walk){ .micro = k };
	for (size_t i = 0; i < k->lists.n; i++) {
		gus_vec_push(&w->orders, order_of(&k->lists.v[i]));
		gus_vec_push(&w->at, 0);
	}
}

static uint64_t address_of(struct gus_micro_walk *w, const struct gus_micro_access *a)
{
	const struct gus_micro_list *l;
	uint64_t place;

	switch (a->way) {
	case GUS_MICRO_FIXED:
		return (uint64_t)a->offset;
	case GUS_MICRO_STRIDE:
		return (uint64_t)a->offset + (w->pass * a->stride & (a->wrap - 1));
	case GUS_MICRO_CHASE:
		break;
	}
	l = &w->micro->lists.v[a->list];
	place = place_of(l, w->at.v[a->list]);
	if (a->step)
		w->at.v[a->list] = w->orders.v[a->list][w->at.v[a->list]];
	return place + (uint64_t)a->offset;
}

void gus_micro_walk_next(struct gus_micro_walk *w)
{
	const struct gus_micro *k = w->micro;

	w->addresses.n = w->taken.n = 0;
	for (size_t i = 0; i < k->accesses.n; i++)
		gus_vec_push(&w->addresses, address_of(w, &k->accesses.v[i]));
	for (size_t i = 0; i < k->jumps.n; i++) {
		const struct gus_micro_pattern *p =
			k->jumps.v[i].pattern == GUS_MICRO_NONE ? NULL : &k->patterns.v[k->jumps.v[i].pattern];

		gus_vec_push(&w->taken, p && bit_of(p, w->pass & (p->bytes - 1)));
	}
	w->pass++;
}

void gus_micro_walk_end(struct gus_micro_walk *w)
{
	for (size_t i = 0; i < w->orders.n; i++)
		free(w->orders.v[i]);
	gus_vec_free(&w->orders);
	gus_vec_free(&w->at);
	gus_vec_free(&w->addresses);
	gus_vec_free(&w->taken);
}
