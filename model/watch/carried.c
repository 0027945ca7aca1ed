/* SPDX-License-Identifier: MIT */
#include "model/watch/carried.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { WORD = 8, LONGEST = WORD * GUS_CARRIED_WORDS, SLOTS = 2 * GUS_CARRIED_PAIRS };

/* By byte, the youngest store: its number plus 1, in 32 bits; 0: none. */
struct word {
	uint64_t tag;                   /* address / WORD, plus 1; 0: empty */
	uint32_t by[WORD];
};

struct stored {
	uint64_t instruction, entry, iteration;
	uint32_t op;
};

struct gus_carried {
	struct word words[GUS_CARRIED_WORDS];
	struct stored recent[GUS_CARRIED_RECENT]; /* by number */
	uint32_t number;                /* of the next store, from 0 */
	struct gus_carried_pair pairs[GUS_CARRIED_PAIRS];
	size_t pairs_n;
	uint32_t slots[SLOTS];          /* open addressing: place in pairs, plus 1; 0: empty */
	struct gus_carried_totals totals;
};

struct gus_carried *gus_carried_new(void)
{
	return gus_zalloc(sizeof(struct gus_carried));
}

void gus_carried_free(struct gus_carried *c)
{
	free(c);
}

/* Multiplied by the golden ratio, so that accesses of a stride that is a power of two do not all meet in one place. */
static struct word *word_at(struct gus_carried *c, uint64_t word)
{
	return &c->words[(word * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}
_Static_assert(GUS_CARRIED_WORDS == 1 << (64 - 52), "the shift chooses a word");

void gus_carried_forget(struct gus_carried *c)
{
	memset(c->words, 0, sizeof(c->words));
	c->number = 0;
}

void gus_carried_store(struct gus_carried *c, const struct gus_carried_access *a)
{
	uint64_t end = a->address + a->bytes;

	assert(a->bytes);
	c->totals.stores++;
	/* Once in four thousand million stores, so that a number is never taken for one of long ago. */
	if (c->number == UINT32_MAX - 1)
		gus_carried_forget(c);
	if (a->bytes > LONGEST) { /* a string instruction that leaves no room for any other store */
		gus_carried_forget(c);
		return;
	}
	c->recent[c->number % GUS_CARRIED_RECENT] = (struct stored){ a->instruction, a->entry, a->iteration, a->op };
	c->number++;
	for (uint64_t at = a->address; at != end;) {
		struct word *w = word_at(c, at / WORD);

		if (w->tag != at / WORD + 1)
			*w = (struct word){ .tag = at / WORD + 1 };
		do
			w->by[at % WORD] = c->number;
		while (++at != end && at % WORD);
	}
}

/* The youngest store to any of the bytes, plus 1, if it is recent; else 0. all: whether it wrote every one of them. */
static uint32_t youngest(struct gus_carried *c, const struct gus_carried_access *a, bool *all)
{
	uint32_t best = 0, bytes = 0, size = a->bytes < LONGEST ? a->bytes : LONGEST;

	for (uint64_t at = a->address, end = at + size; at != end; at++) {
		const struct word *w = word_at(c, at / WORD);
		uint32_t by = w->tag == at / WORD + 1 ? w->by[at % WORD] : 0;

		if (by > best) {
			best = by;
			bytes = 0;
		}
		bytes += by == best && by;
	}
	*all = bytes == size;
	return best && c->number - best < GUS_CARRIED_RECENT ? best : 0;
}

/* Pairs. */

static uint32_t *slot_of(struct gus_carried *c, uint32_t store, uint32_t load)
{
	uint64_t key = ((uint64_t)store << 32 | load) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(key >> 40) % SLOTS;

	while (c->slots[at] && (c->pairs[c->slots[at] - 1].store != store || c->pairs[c->slots[at] - 1].load != load))
		at = (at + 1) % SLOTS;
	return &c->slots[at];
}

static int by_times(const void *a, const void *b)
{
	const struct gus_carried_pair *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;
	if (x->store != y->store)
		return x->store < y->store ? -1 : 1;
	return x->load < y->load ? -1 : x->load > y->load;
}

/* The half that came less often goes: those that come often come again soon. */
static void make_room(struct gus_carried *c)
{
	qsort(c->pairs, c->pairs_n, sizeof(*c->pairs), by_times);
	for (size_t i = GUS_CARRIED_PAIRS / 2; i < c->pairs_n; i++)
		c->totals.left_out += c->pairs[i].times;
	c->pairs_n = GUS_CARRIED_PAIRS / 2;
	memset(c->slots, 0, sizeof(c->slots));
	for (size_t i = 0; i < c->pairs_n; i++)
		*slot_of(c, c->pairs[i].store, c->pairs[i].load) = (uint32_t)i + 1;
}

static struct gus_carried_pair *pair_of(struct gus_carried *c, uint32_t store, uint32_t load)
{
	uint32_t *slot = slot_of(c, store, load);

	if (*slot)
		return &c->pairs[*slot - 1];
	if (c->pairs_n == GUS_CARRIED_PAIRS) {
		make_room(c);
		slot = slot_of(c, store, load);
	}
	c->pairs[c->pairs_n] = (struct gus_carried_pair){ .store = store, .load = load,
		.instructions_least = UINT64_MAX };
	*slot = (uint32_t)++c->pairs_n;
	return &c->pairs[c->pairs_n - 1];
}

void gus_carried_load(struct gus_carried *c, const struct gus_carried_access *a)
{
	const struct stored *s;
	struct gus_carried_pair *p;
	uint64_t instructions, iterations;
	uint32_t by;
	bool all;

	assert(a->bytes);
	c->totals.loads++;
	by = youngest(c, a, &all);
	if (!by)
		return;
	s = &c->recent[(by - 1) % GUS_CARRIED_RECENT];
	p = pair_of(c, s->op, a->op);
	instructions = a->instruction - s->instruction;
	iterations = a->iteration - s->iteration;
	p->times++;
	p->blocked += !all;
	if (a->entry != s->entry)
		p->outside++;
	else if (iterations < GUS_CARRIED_DISTANCES)
		p->distance[iterations]++;
	else
		p->farther++;
	p->instructions += instructions;
	p->instructions_least = instructions < p->instructions_least ? instructions : p->instructions_least;
	c->totals.carried++;
	c->totals.blocked += !all;
}

void gus_carried_totals(const struct gus_carried *c, struct gus_carried_totals *out)
{
	*out = c->totals;
}

size_t gus_carried_pairs(const struct gus_carried *c, struct gus_carried_pair *out, size_t room)
{
	struct gus_carried_pair *all = gus_resize(NULL, c->pairs_n + 1, sizeof(*all));
	size_t n = c->pairs_n < room ? c->pairs_n : room;

	memcpy(all, c->pairs, c->pairs_n * sizeof(*all));
	qsort(all, c->pairs_n, sizeof(*all), by_times);
	memcpy(out, all, n * sizeof(*all));
	free(all);
	return n;
}

int gus_carried_distance(const struct gus_carried_pair *p)
{
	uint64_t most = p->farther > p->outside ? p->farther : p->outside;
	int best = -1;

	for (int i = 0; i < GUS_CARRIED_DISTANCES; i++) {
		if (p->distance[i] > most || (best < 0 && p->distance[i] && p->distance[i] == most)) {
			most = p->distance[i];
			best = i;
		}
	}
	return best;
}
