/* SPDX-License-Identifier: MIT */
#include "attribution/traced/rates.h"

#include <assert.h>
#include <string.h>

#include "attribution/observed/observed.h"
#include "base/limits.h"
#include "model/code/program.h"
#include "model/oracles/rates.h"

/* Of an access. WALKS: of its translation only whether it walked is known; BEYOND: of some misses not where they
 * went. Above these, the farthest level of its misses. */
enum { KNOWN = 1, TLB = 2, WALKS = 4, BEYOND = 8, FARTHEST = 4 };
enum { SELDOM = 128 };                  /* a stream that is prefetched misses with one line of a page, of 64 */
enum { TAKEN = 1, FALLEN = 2 };         /* of a branch: of which of its ways */

static bool is_load(const struct gus_traced *t, uint32_t memory)
{
	return t->program->memories[memory].load;
}

/* What was observed of the i-th instruction of a block. */
static const struct gus_observed_insn *observed(const struct gus_traced *t, const struct gus_traced_block *b,
						uint32_t i)
{
	uint64_t offset = b->offset;

	for (uint32_t k = 0; k < i; k++)
		offset += b->lengths[k];
	return b->module ? gus_observed_at(t->options.observed, b->module, offset) : NULL;
}

/* Accesses. */

struct gus_traced_pool {
	struct gus_observed_access all;
	uint64_t rated;                 /* samples when its rate was set; 0: it has none yet */
	uint8_t known;
};

/* The number of a region's. */
static uint32_t pool_of(struct gus_traced *t, uint32_t region, bool load)
{
	const uint32_t before = t->pools_n, n = 2 * (region + 1);

	if (n > before) {
		t->pools_n = n > 2 * before ? n : 2 * before;
		t->pools = gus_resize(t->pools, t->pools_n, sizeof(*t->pools));
		memset(t->pools + before, 0, (t->pools_n - before) * sizeof(*t->pools));
		gus_rates_grow(t->pooled, t->pools_n, 0);
	}
	return 2 * region + load;
}

static void pool(struct gus_traced *t, const struct gus_traced_block *b, uint32_t i)
{
	const struct gus_observed_insn *insn = observed(t, b, i);
	const struct gus_traced_own own = t->own.v[b->insn + i];

	for (uint32_t m = own.first; insn && m < own.first + own.n; m++) {
		const struct gus_observed_access *a = is_load(t, m) ? &insn->loads : &insn->stores;
		const uint32_t number = pool_of(t, b->region, is_load(t, m)); /* which may move them */

		if (a->samples < GUS_OBSERVED_LEAST)
			gus_observed_access_add(&t->pools[number].all, a);
	}
}

void gus_traced_rates_learn(struct gus_traced *t, const struct gus_traced_block *b)
{
	if (!t->options.observed)
		return;
	for (uint32_t i = 0; i < b->insns_n; i++)
		pool(t, b, i);
}

/* Rates add up counts of less than 2^62, and counters may have counted as many as sums are at most: then a part of each
 * is as good. */
static uint64_t scaled(uint64_t n, const uint64_t hits[GUS_HITS])
{
	for (unsigned i = 0; i < GUS_HITS; i++)
		if (hits[i] >> 59)
			return n >> 4;
	return n;
}

/* The farthest level that more than a few of its misses went to; of those of which it is not known memory. */
static enum gus_hit farthest(const struct gus_observed_access *a)
{
	double misses = 0, beyond = 0;

	for (enum gus_hit level = GUS_HIT_L2; level < GUS_HITS; level++)
		misses += (double)a->hits[level];
	if (!(misses > 0))
		return GUS_HIT_L1;
	if (a->beyond)
		return GUS_HIT_MEMORY;
	for (enum gus_hit level = GUS_HIT_MEMORY; level > GUS_HIT_L2; level--) {
		beyond += (double)a->hits[level];
		if (beyond > misses / SELDOM)
			return level;
	}
	return GUS_HIT_L2;
}

/* Of a translation that was in either of the TLBs nobody knows in which. */
static uint8_t rate(struct gus_rates *rates, uint32_t number, const struct gus_observed_access *a)
{
	struct gus_rates_memory m = { .tlb = { a->first + a->either, a->second, a->walked } };
	uint64_t translated = m.tlb[0] + m.tlb[1] + m.tlb[2];

	for (unsigned i = 0; i < GUS_HITS; i++)
		m.hits[i] = scaled(a->hits[i], a->hits);
	if (gus_rates_set_memory(rates, number, &m, NULL) != 0)
		assert(!"counts are below 2^61, of an access that there is");
	return (uint8_t)(KNOWN | (translated >= GUS_OBSERVED_LEAST ? TLB : 0) | (a->either ? WALKS : 0) |
			 (a->beyond ? BEYOND : 0) | farthest(a) << FARTHEST);
}

enum gus_hit gus_traced_rates_farthest(const struct gus_traced *t, uint32_t memory)
{
	return gus_traced_rates_know(t, memory) ? (enum gus_hit)(t->rated.v[memory].known >> FARTHEST) : GUS_HIT_L1;
}

/* The pool's rate begins when it is first asked for, or has grown by a quarter since. */
static void rate_pooled(struct gus_traced *t, uint32_t memory, uint32_t pool)
{
	struct gus_traced_pool *p = &t->pools[pool];

	if (p->rated + p->rated / 4 < p->all.samples) {
		p->known = rate(t->pooled, pool, &p->all);
		p->rated = p->all.samples;
	}
	t->rated.v[memory] = (struct gus_traced_rated){ pool + 1, p->known };
}

static void decide_accesses(struct gus_traced *t, struct gus_traced_block *b, uint32_t i)
{
	const struct gus_observed_insn *insn = observed(t, b, i);
	const struct gus_traced_own own = t->own.v[b->insn + i];

	for (uint32_t m = own.first; m < own.first + own.n; m++) {
		const uint32_t pool = pool_of(t, b->region, is_load(t, m));
		const struct gus_observed_access *a = !insn ? NULL : is_load(t, m) ? &insn->loads : &insn->stores;

		if (a && a->samples >= GUS_OBSERVED_LEAST)
			t->rated.v[m] = (struct gus_traced_rated){ 0, rate(t->rates, m, a) };
		else if (t->pools[pool].all.samples >= GUS_OBSERVED_LEAST)
			rate_pooled(t, m, pool);
		b->rated_n += t->rated.v[m].known != 0;
	}
}

/* Whose rates an access has, and its number there. */
static struct gus_rates *rates_of(const struct gus_traced *t, uint32_t *memory)
{
	const uint32_t pool = t->rated.v[*memory].pool;

	*memory = pool ? pool - 1 : *memory;
	return pool ? t->pooled : t->rates;
}

void gus_traced_rates_access(struct gus_traced *t, uint32_t memory, uint8_t *level, uint8_t *tlb)
{
	const uint8_t known = t->rated.v[memory].known;
	struct gus_rates *rates = rates_of(t, &memory);
	enum gus_hit hit = (enum gus_hit)*level;
	enum gus_tlb translation = (enum gus_tlb)*tlb;

	gus_rates_access_like(rates, memory, &hit, &translation);
	if (!(known & BEYOND) || hit == GUS_HIT_L1 || *level < hit)
		*level = (uint8_t)hit; /* else how far it went is the caches' answer */
	if (!(known & TLB))
		return;
	if (!(known & WALKS) || translation == GUS_TLB_WALK)
		*tlb = (uint8_t)translation;
	else if (*tlb == GUS_TLB_WALK)
		*tlb = GUS_TLB_SECOND; /* it was in one of them; that it was in neither is wrong by the least so */
}

void gus_traced_rates_blind(struct gus_traced *t, uint32_t memory, uint8_t *level, uint8_t *tlb)
{
	const uint8_t known = t->rated.v[memory].known;
	struct gus_rates *rates = rates_of(t, &memory);
	enum gus_hit hit;
	enum gus_tlb translation;

	gus_rates_access(rates, memory, &hit, &translation);
	*level = (uint8_t)hit;
	*tlb = known & TLB ? (uint8_t)translation : GUS_TLB_HIT;
}

/* Branches. */

static void rate_branch(struct gus_traced *t, struct gus_traced_block *b, const struct gus_observed_branch *of,
			unsigned way)
{
	const uint32_t op = way == TAKEN ? b->ops.taken : b->ops.op + b->ops.ops_n - 1;
	const unsigned shift = of->executed >> 60 ? 4 : 0; /* as above */
	struct gus_rates_branch rate = { of->executed >> shift, of->mispredicted >> shift };

	if (gus_rates_set_branch(t->rates, op, &rate, NULL) != 0)
		assert(!"no more was mispredicted than executed");
	b->rated_branch |= (uint8_t)way;
}

static void add_branch(struct gus_observed_branch *to, const struct gus_observed_branch *more)
{
	to->samples += more->samples;
	to->executed = gus_saturated(to->executed, more->executed);
	to->mispredicted = gus_saturated(to->mispredicted, more->mispredicted);
}

/* A record is of an op: of a branch that is fused with what is before it, it is that of the first of both. */
static struct gus_observed_insn observed_branch(const struct gus_traced *t, const struct gus_traced_block *b)
{
	const struct gus_op *op = &t->program->ops[b->ops.op + b->ops.ops_n - 1];
	const uint64_t at = b->offset + (b->branch_from - b->address);
	struct gus_observed_insn found = { 0 };
	const struct gus_observed_insn *first;

	if (!b->module)
		return found;
	found = gus_observed_branch_at(t->options.observed, b->module, at, b->offset + b->size);
	first = op->insns_n > 1 ? observed(t, b, op->insn - b->insn) : NULL;
	if (!first)
		return found;
	add_branch(&found.all, &first->all);
	add_branch(&found.taken, &first->taken);
	add_branch(&found.fallen, &first->fallen);
	return found;
}

/* Of one that has several ops each of them has records, so of those that always go the same way what was taken counts.
 * Of the ways of a conditional one that has enough samples the rarer may have few. */
static void decide_branch(struct gus_traced *t, struct gus_traced_block *b)
{
	const struct gus_observed_insn insn = observed_branch(t, b);
	const bool conditional = b->kind == GUS_BRANCH_CONDITIONAL;
	const uint64_t samples = insn.taken.samples + (conditional ? insn.fallen.samples : 0);

	if (samples >= GUS_OBSERVED_LEAST) {
		if (insn.taken.samples)
			rate_branch(t, b, &insn.taken, TAKEN);
		if (conditional && insn.fallen.samples)
			rate_branch(t, b, &insn.fallen, FALLEN);
	} else if (conditional && insn.all.samples >= GUS_OBSERVED_LEAST) {
		rate_branch(t, b, &insn.all, TAKEN);
		rate_branch(t, b, &insn.all, FALLEN);
	}
}

bool gus_traced_rates_branch(struct gus_traced *t, const struct gus_traced_block *b, bool taken, bool *mispredicted)
{
	if (!(b->rated_branch & (taken ? TAKEN : FALLEN)))
		return false;
	*mispredicted = gus_rates_mispredicted_like(t->rates, taken ? b->ops.taken : b->ops.op + b->ops.ops_n - 1,
						    *mispredicted);
	return true;
}

void gus_traced_rates_decide(struct gus_traced *t, struct gus_traced_block *b)
{
	b->decided = true;
	if (!t->options.observed)
		return;
	gus_rates_grow(t->rates, t->program->memories_n, t->program->ops_n);
	while (t->rated.n < t->program->memories_n)
		gus_vec_push(&t->rated, (struct gus_traced_rated){ 0, 0 });
	for (uint32_t i = 0; i < b->insns_n; i++)
		decide_accesses(t, b, i);
	if (b->branch)
		decide_branch(t, b);
}
