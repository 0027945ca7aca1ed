/* SPDX-License-Identifier: MIT */
#include "symbolizer/jit/choose.h"

#include <stdlib.h>

#define ALIGN 16u

/* A chosen piece, on the way to its notes. */
struct chosen {
	uint64_t low, high;
	uint32_t piece;
	bool shared;            /* with another piece some of the addresses are, if at other times */
};

struct chosen_list gus_vec(struct chosen);

static bool was_hit(const struct gus_jit_wish *w, const struct gus_jit_piece *p)
{
	size_t low = 0, high = w->hits_n;

	if (w->all)
		return true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->hits[middle] < p->address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->hits_n && w->hits[low] - p->address < p->size;
}

static int by_address(const void *left, const void *right)
{
	const struct chosen *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->piece < b->piece ? -1 : 1;
}

static int by_piece(const void *left, const void *right)
{
	const struct chosen *a = left, *b = right;

	return a->piece < b->piece ? -1 : 1;
}

/* In order of addresses each that begins before an earlier one has ended shares with it. */
static void find_shared(struct chosen_list *list)
{
	size_t widest = 0;

	if (!list->n)
		return;
	qsort(list->v, list->n, sizeof(*list->v), by_address);
	for (size_t i = 1; i < list->n; i++) {
		if (list->v[i].low < list->v[widest].high)
			list->v[i].shared = list->v[widest].shared = true;
		if (list->v[i].high > list->v[widest].high)
			widest = i;
	}
	qsort(list->v, list->n, sizeof(*list->v), by_piece);
}

/* The last moment at which the piece was not there yet. */
static uint64_t told_time(const struct gus_jit_wish *w, const struct gus_jit_piece *p)
{
	size_t low = 0, high = w->growth_n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->growth[middle].size <= p->told)
			low = middle + 1;
		else
			high = middle;
	}
	return low && w->growth[low - 1].time > w->since ? w->growth[low - 1].time : w->since;
}

static void note(struct gus_jit_choice *c, uint64_t time, uint32_t piece)
{
	gus_vec_push(&c->notes, (struct gus_jit_note){ time, piece });
}

/* First what later pieces will replace: of those told later, the earliest lies on top, until its successor's time; over
 * them all what was there at the beginning. */
static void note_untimed(struct gus_jit_choice *c, const struct gus_jit *j, const struct gus_jit_wish *w,
			 const struct chosen_list *list)
{
	for (size_t i = list->n; i-- > 0;)
		if (told_time(w, &j->pieces.v[list->v[i].piece]) > w->since)
			note(c, w->since, list->v[i].piece);
	for (size_t i = 0; i < list->n; i++) {
		uint64_t time = told_time(w, &j->pieces.v[list->v[i].piece]);

		if (time == w->since || list->v[i].shared)
			note(c, time, list->v[i].piece);
	}
}

/* A clock that is far off must not carry times around. */
static uint64_t moved(uint64_t time, int64_t by)
{
	uint64_t sum = time + (uint64_t)by;

	if (by < 0)
		return sum > time ? 0 : sum;
	return sum < time ? UINT64_MAX : sum;
}

static void note_timed(struct gus_jit_choice *c, const struct gus_jit *j, const struct gus_jit_wish *w,
		       const struct chosen_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		note(c, moved(j->pieces.v[list->v[i].piece].time, w->clock), list->v[i].piece);
}

static void place_origins(struct gus_jit_choice *c, const struct gus_jit *j, const struct chosen_list *list)
{
	struct gus_vec(bool) wanted = { 0 };

	gus_vec_reserve(&wanted, j->pieces.n);
	gus_vec_reserve(&c->offsets, j->pieces.n);
	for (size_t i = 0; i < j->pieces.n; i++) {
		gus_vec_push(&wanted, false);
		gus_vec_push(&c->offsets, 0);
	}
	for (size_t i = 0; i < list->n; i++)
		wanted.v[j->pieces.v[list->v[i].piece].origin] = true;
	for (uint32_t i = 0; i < j->pieces.n; i++) {
		if (!wanted.v[i])
			continue;
		gus_vec_push(&c->origins, i);
		c->offsets.v[i] = c->end;
		c->end += (j->pieces.v[i].size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1); /* limits keep it small */
	}
	gus_vec_free(&wanted);
}

void gus_jit_choose(struct gus_jit_choice *c, const struct gus_jit *j, const struct gus_jit_wish *w)
{
	struct chosen_list list = { 0 };

	*c = (struct gus_jit_choice){ .end = w->offset };
	for (uint32_t i = 0; i < j->pieces.n; i++) {
		const struct gus_jit_piece *p = &j->pieces.v[i];

		if (!was_hit(w, p))
			continue;
		if (list.n < w->most)
			gus_vec_push(&list, (struct chosen){ p->address, p->address + p->size, i, false });
		else
			c->left_out++;
	}
	find_shared(&list);
	place_origins(c, j, &list);
	(j->timed ? note_timed : note_untimed)(c, j, w, &list);
	gus_vec_free(&list);
}

void gus_jit_choice_free(struct gus_jit_choice *c)
{
	gus_vec_free(&c->notes);
	gus_vec_free(&c->origins);
	gus_vec_free(&c->offsets);
}
