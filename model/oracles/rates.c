/* SPDX-License-Identifier: MIT */
#include "model/oracles/rates.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { LEVEL_CHOICES = GUS_HITS - 1, TLB_CHOICES = GUS_TLB_WALK };

/* Yes, so many times in a round of `of`: the error is carried on, as a line is drawn on a grid. */
struct choice {
	uint64_t yes, of;
	__int128 carried;               /* less than `of`, and not below 0; with guesses as far beyond as ahead() */
	uint64_t asked;                 /* with a guess */
};
struct memory {
	struct choice level[LEVEL_CHOICES], tlb[TLB_CHOICES]; /* here, of those that were not before? */
	bool known;
};
struct gus_rates {
	struct memory *memories;
	struct choice *branches;        /* of 0: nothing is known */
	uint32_t memories_n, ops_n;     /* room: zeros behind what was asked for */
	struct gus_rates_asked asked;
};

struct gus_rates *gus_rates_new(uint32_t memories, uint32_t ops)
{
	struct gus_rates *r = gus_zalloc(sizeof(*r));

	r->memories = gus_zalloc((memories ? memories : 1) * sizeof(*r->memories));
	r->branches = gus_zalloc((ops ? ops : 1) * sizeof(*r->branches));
	r->memories_n = memories;
	r->ops_n = ops;
	return r;
}

void gus_rates_free(struct gus_rates *r)
{
	if (!r)
		return;
	free(r->memories);
	free(r->branches);
	free(r);
}

/* At least n of them, at least twice as many as there were: all that are new are zero. */
static void *grown(void *v, uint32_t *room, uint32_t n, size_t size)
{
	const uint32_t before = *room;

	if (n <= before)
		return v;
	*room = n > 2 * before ? n : 2 * before;
	v = gus_resize(v, *room, size);
	memset((char *)v + before * size, 0, (*room - before) * size);
	return v;
}

void gus_rates_grow(struct gus_rates *r, uint32_t memories, uint32_t ops)
{
	r->memories = grown(r->memories, &r->memories_n, memories, sizeof(*r->memories));
	r->branches = grown(r->branches, &r->ops_n, ops, sizeof(*r->branches));
}

/* Where the i-th begins: shares of a round that lie as far apart as can be (multiples of the golden section). */
static uint64_t beginning(uint32_t i, uint64_t of)
{
	uint64_t share = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)(((unsigned __int128)share * of) >> 64);
}

static bool decide(struct choice *c)
{
	c->carried += c->yes;
	if (!c->yes || (c->carried < c->of && c->yes != c->of))
		return false;
	c->carried -= c->of;
	return true;
}

/* By how much a kind may be ahead or behind, as `carried` counts: a part of its share, or of that of all others if
 * these are rarer. */
static __int128 ahead(const struct choice *c)
{
	const uint64_t rarer = c->yes < c->of - c->yes ? c->yes : c->of - c->yes;
	const __int128 part = (__int128)c->asked * rarer / GUS_RATES_LOOSE, most = (__int128)GUS_RATES_AHEAD * c->of;

	return part < most ? part : most;
}

/* Where a guess says yes it is given in advance, where it says no it is put off. What always is so is so now. */
static bool decide_like(struct choice *c, bool guess)
{
	const __int128 off = ahead(c);

	c->asked++;
	c->carried += c->yes;
	if (c->yes != c->of && (!c->yes || c->carried < (guess ? c->of - off : c->of + off)))
		return false;
	c->carried -= c->of;
	return true;
}

/* A distribution as a chain of choices: of what was left by the choices before, how much is here. */
static void set_chain(struct choice *chain, unsigned n, const uint64_t *counts, uint64_t total, uint32_t salt)
{
	for (unsigned i = 0; i < n; i++) {
		chain[i] = (struct choice){ .yes = counts[i], .of = total, .carried = beginning(salt + i, total) };
		total -= counts[i];
	}
}

static unsigned ask_chain(struct choice *chain, unsigned n)
{
	unsigned i = 0;

	while (i < n && !decide(&chain[i]))
		i++;
	return i;
}

/* Behind a guess that was refused there is none. */
static unsigned ask_chain_like(struct choice *chain, unsigned n, unsigned guess)
{
	unsigned i = 0;

	while (i < n && !(i > guess ? decide(&chain[i]) : decide_like(&chain[i], i == guess)))
		i++;
	return i;
}

/* UINT64_MAX if it is too much to be carried. */
static uint64_t sum(const uint64_t *counts, unsigned n)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < n; i++) {
		if (counts[i] >> 62 || (total + counts[i]) >> 62)
			return UINT64_MAX;
		total += counts[i];
	}
	return total;
}

int gus_rates_set_memory(struct gus_rates *r, uint32_t memory, const struct gus_rates_memory *m, struct gus_error *err)
{
	uint64_t hits = sum(m->hits, GUS_HITS), tlb = sum(m->tlb, GUS_TLB_WALK + 1), all_hit[TLB_CHOICES] = { 1 };
	struct memory *to;

	if (memory >= r->memories_n)
		return gus_fail(err, GUS_E_USAGE, "cannot set the rates of access %u: the program has %u", memory,
				r->memories_n);
	if (hits == UINT64_MAX || tlb == UINT64_MAX)
		return gus_fail(err, GUS_E_USAGE, "cannot set the rates of access %u: its counts sum to more than 2^62",
				memory);
	to = &r->memories[memory];
	to->known = hits > 0;
	set_chain(to->level, LEVEL_CHOICES, m->hits, hits, memory * 8);
	/* A measurement that has levels only knows nothing of walks. */
	set_chain(to->tlb, TLB_CHOICES, tlb ? m->tlb : all_hit, tlb ? tlb : 1, memory * 8 + LEVEL_CHOICES);
	return 0;
}

int gus_rates_set_branch(struct gus_rates *r, uint32_t op, const struct gus_rates_branch *b, struct gus_error *err)
{
	if (op >= r->ops_n)
		return gus_fail(err, GUS_E_USAGE, "cannot set the rate of the branch at op %u: the program has %u", op,
				r->ops_n);
	if (b->mispredicted > b->executed || b->executed >> 62)
		return gus_fail(err, GUS_E_USAGE,
				"cannot set the rate of the branch at op %u: %llu mispredicted of %llu", op,
				(unsigned long long)b->mispredicted, (unsigned long long)b->executed);
	r->branches[op] = (struct choice){ .yes = b->mispredicted, .of = b->executed,
					   .carried = beginning(op, b->executed) };
	return 0;
}

/* NULL: nothing is known of it. */
static struct memory *memory_of(struct gus_rates *r, uint32_t memory)
{
	struct memory *m = memory < r->memories_n ? &r->memories[memory] : NULL;

	r->asked.accesses++;
	if (m && m->known)
		return m;
	r->asked.unknown_accesses++;
	return NULL;
}

static struct choice *branch_of(struct gus_rates *r, uint32_t op)
{
	struct choice *c = op < r->ops_n ? &r->branches[op] : NULL;

	r->asked.branches++;
	if (c && c->of)
		return c;
	r->asked.unknown_branches++;
	return NULL;
}

void gus_rates_access(struct gus_rates *r, uint32_t memory, enum gus_hit *level, enum gus_tlb *tlb)
{
	struct memory *m = memory_of(r, memory);

	*level = GUS_HIT_L1;
	*tlb = GUS_TLB_HIT;
	if (!m)
		return;
	*level = (enum gus_hit)ask_chain(m->level, LEVEL_CHOICES);
	*tlb = (enum gus_tlb)ask_chain(m->tlb, TLB_CHOICES);
}

void gus_rates_access_like(struct gus_rates *r, uint32_t memory, enum gus_hit *level, enum gus_tlb *tlb)
{
	struct memory *m = memory_of(r, memory);

	*level = m ? (enum gus_hit)ask_chain_like(m->level, LEVEL_CHOICES, *level) : GUS_HIT_L1;
	*tlb = m ? (enum gus_tlb)ask_chain_like(m->tlb, TLB_CHOICES, *tlb) : GUS_TLB_HIT;
}

bool gus_rates_mispredicted(struct gus_rates *r, uint32_t op)
{
	struct choice *c = branch_of(r, op);

	return c && decide(c);
}

bool gus_rates_mispredicted_like(struct gus_rates *r, uint32_t op, bool guess)
{
	struct choice *c = branch_of(r, op);

	return c && decide_like(c, guess);
}

const struct gus_rates_asked *gus_rates_asked(const struct gus_rates *r)
{
	return &r->asked;
}
