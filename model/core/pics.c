/* SPDX-License-Identifier: MIT */
#include "model/core/pics.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/index.h"
#include "model/code/program.h"

enum { TOGETHER = 64 }; /* ops that retire in one cycle; beyond that the last one stands for the others */

struct cell_key { uint32_t op; uint16_t psv, state; };

/* In the cycle now: ops that retire, with their instructions. */
struct retiring { uint32_t op; uint16_t psv; unsigned weight; bool ends; };

struct gus_pics {
	const struct gus_program *p;
	struct gus_core_listener listener;
	struct gus_index cells;
	struct gus_vec(struct gus_pics_cell) list, sorted;
	struct retiring now[TOGETHER];
	unsigned now_n;
	uint64_t waiting[GUS_COMMITS];  /* ticks, by state, of the next op that ends */
	uint32_t last;                  /* the cell of what ended last, if any */
	bool has_last;
	uint64_t cycles, told;          /* told: ticks in cells */
};

static uint32_t cell_of(struct gus_pics *s, uint32_t op, uint16_t psv, enum gus_commit state)
{
	struct cell_key key = { .op = op, .psv = psv, .state = (uint16_t)state };
	bool is_new;
	uint32_t number = gus_index_add(&s->cells, &key, &is_new);

	if (is_new)
		gus_vec_push(&s->list, (struct gus_pics_cell){ .op = op, .psv = psv, .state = (uint8_t)state });
	return number;
}

static void give(struct gus_pics *s, const struct retiring *to, enum gus_commit state, uint64_t ticks)
{
	uint32_t cell;

	if (!ticks)
		return;
	cell = cell_of(s, to->op, to->psv, state); /* which may move the list */
	s->list.v[cell].ticks += ticks;
	s->told += ticks;
}

static void retire(void *context, const struct gus_core_retired *told)
{
	struct gus_pics *s = context;
	struct retiring *last = s->now_n ? &s->now[s->now_n - 1] : NULL;
	struct retiring one = { told->op, told->psv, s->p->ops[told->op].insns_n, told->ends };

	if (last && (!last->ends || s->now_n == TOGETHER)) {
		one.weight = last->ends ? last->weight + one.weight : last->weight;
		*last = one; /* another slot of the same op */
	} else {
		s->now[s->now_n++] = one;
	}
}

/* An op that goes on in the next cycle has its share of this one when it ends. */
static void share(struct gus_pics *s)
{
	uint64_t left = GUS_PICS_TICKS;
	unsigned weights = 0;

	for (unsigned i = 0; i < s->now_n; i++)
		weights += s->now[i].weight;
	for (unsigned i = s->now_n; i-- > 0;) {
		uint64_t ticks = i ? GUS_PICS_TICKS / weights * s->now[i].weight : left;

		left -= ticks;
		if (!s->now[i].ends)
			s->waiting[GUS_COMMIT_COMPUTE] += ticks;
		else
			give(s, &s->now[i], GUS_COMMIT_COMPUTE, ticks);
	}
}

/* The first that ends has what waited for it. */
static void settle(struct gus_pics *s)
{
	const struct retiring *first = &s->now[0];

	if (!first->ends)
		return;
	for (unsigned state = 0; state < GUS_COMMITS; state++) {
		give(s, first, (enum gus_commit)state, s->waiting[state]);
		s->waiting[state] = 0;
	}
}

static void cycle(void *context, const struct gus_core_cycle *told)
{
	struct gus_pics *s = context;

	s->cycles++;
	if (s->now_n) {
		const struct retiring *last = &s->now[s->now_n - 1];

		settle(s);
		share(s);
		if (last->ends)
			s->last = cell_of(s, last->op, last->psv, GUS_COMMIT_FLUSHED);
		s->has_last |= last->ends;
		s->now_n = 0;
	} else if (told->state == GUS_COMMIT_FLUSHED && !told->of_next && s->has_last) {
		s->list.v[s->last].ticks += GUS_PICS_TICKS;
		s->told += GUS_PICS_TICKS;
	} else {
		s->waiting[told->state] += GUS_PICS_TICKS;
	}
}

struct gus_pics *gus_pics_new(const struct gus_program *p)
{
	struct gus_pics *s = gus_zalloc(sizeof(*s));

	s->p = p;
	s->listener = (struct gus_core_listener){ .context = s, .retire = retire, .cycle = cycle };
	gus_index_init(&s->cells, sizeof(struct cell_key));
	return s;
}

void gus_pics_free(struct gus_pics *s)
{
	if (!s)
		return;
	gus_index_free(&s->cells);
	gus_vec_free(&s->list);
	gus_vec_free(&s->sorted);
	free(s);
}

const struct gus_core_listener *gus_pics_listener(const struct gus_pics *s)
{
	return &s->listener;
}

int gus_pics_cell_compare(const void *a, const void *b)
{
	const struct gus_pics_cell *x = a, *y = b;

	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->psv < y->psv ? -1 : x->psv > y->psv;
}

uint64_t gus_pics_cycles(const struct gus_pics *s, uint64_t *pending)
{
	uint64_t waiting = 0;

	for (unsigned state = 0; state < GUS_COMMITS; state++)
		waiting += s->waiting[state];
	assert(s->told + waiting == s->cycles * GUS_PICS_TICKS);
	*pending = waiting;
	return s->cycles;
}

const struct gus_pics_cell *gus_pics_cells(struct gus_pics *s, size_t *n)
{
	s->sorted.n = 0;
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.v[i].ticks)
			gus_vec_push(&s->sorted, s->list.v[i]);
	if (s->sorted.n)
		qsort(s->sorted.v, s->sorted.n, sizeof(*s->sorted.v), gus_pics_cell_compare);
	*n = s->sorted.n;
	return s->sorted.v;
}
