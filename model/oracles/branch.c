/* SPDX-License-Identifier: MIT */
#include "model/oracles/branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/oracles/sets.h"

enum {
	RING = 4096,                    /* bits of history kept: more than the longest */
	CHOICE_MAX = 7,                 /* of the counter that says whether new entries are to be trusted */
	CONFIDENT = 3,                  /* of a target's counter, its greatest */
	FORGET_AFTER = 1 << 18,         /* branches after which usefulness is halved: so old entries become free */
	TARGET_BITS = 3,                /* of a target that go into the history */
};

/* One entry of a tagged table. Directions have a counter of -4 to 3, 0 and more being taken; targets one of 0 to
 * CONFIDENT. */
struct entry {
	uint64_t target;
	uint16_t tag;
	int8_t counter;
	uint8_t useful;
};

/* Histories folded into few bits: shifted and wrapped around, with the bit that leaves taken out again. Of all tables
 * side by side, as they are all moved on with each branch: several in one vector. */
enum { FOLD_INDEX, FOLD_TAG, FOLD_TAG_OTHER, FOLDS };
enum { FOLD_VECTORS = GUS_BRANCH_TABLES_MAX / 4 };
typedef uint32_t four_folds __attribute__((vector_size(16)));
union folds {
	four_folds vector[FOLD_VECTORS];
	uint32_t of[GUS_BRANCH_TABLES_MAX];
};
struct fold {
	union folds value, out, end;    /* out: the bit where the oldest leaves; end: the bit behind the last */
};

struct table {
	struct entry *entries;
	uint32_t length;                /* of its history, in bits */
	uint32_t index, tag;            /* of the branch that is looked up */
};

struct tables {
	struct table table[GUS_BRANCH_TABLES_MAX];
	struct fold fold[FOLDS];
	uint32_t n, entry_bits, tag_bits;
	int provider, other;            /* the longest that has the branch, and the next; -1: none */
};

struct gus_branch_predictor {
	struct gus_branch_config config;
	uint8_t *base;                  /* counters of 0 to 3; SEEN: was ever used */
	struct tables direction, target;
	int choice;                     /* below 0: new entries are right more often than what is behind them */
	struct gus_sets btb;
	uint64_t *btb_target;           /* by slot */
	uint64_t *returns;
	uint32_t returns_top, returns_n;
	uint8_t history[RING];
	uint32_t history_at;
	uint64_t random, branches;
	struct gus_branch_counts counts[GUS_BRANCH_KINDS];
};
enum { SEEN = 4, BASE_INITIAL = 1 };

void gus_branch_config_default(struct gus_branch_config *c)
{
	*c = (struct gus_branch_config){
		.base_bits = 13,
		.direction = { .tables = 8, .entry_bits = 10, .tag_bits = 11, .history_min = 4, .history_max = 256 },
		.target = { .tables = 5, .entry_bits = 9, .tag_bits = 11, .history_min = 4, .history_max = 64 },
		.btb_entries = 4096, .btb_ways = 4, .return_depth = 16,
	};
}

/* Making it. */

/* Histories are folded into prime numbers of bits. Branches of a loop come in turns, so that each has its bits a
 * fixed distance apart; where the width is a multiple of that they meet in a few places, and the rest of an index is
 * always the same. (Of a branch by a period of 1000 beside the branch that closes its loop, 31 % went wrong with a
 * width of 10, and none with one of 11.) */
static uint32_t prime_from(uint32_t n)
{
	for (uint32_t d = 2; d * d <= n; d++)
		if (n % d == 0) {
			n++;
			d = 1;
		}
	return n;
}

static int new_tables(struct tables *t, const struct gus_branch_tagged *c, const char *what, struct gus_error *err)
{
	if (c->tables > GUS_BRANCH_TABLES_MAX ||
	    (c->tables && (!c->entry_bits || c->entry_bits > 20 || c->tag_bits < 2 || c->tag_bits > 15 ||
			   !c->history_min || c->history_max < c->history_min ||
			   c->history_max > GUS_BRANCH_HISTORY_MAX)))
		return gus_fail(err, GUS_E_USAGE, "cannot predict %s by %u tables of 2^%u entries with tags of %u bits "
				"and histories of %u to %u: at most %d tables, 2^20 entries, 2 to 15 bits, and "
				"histories of 1 to %d that grow", what, c->tables, c->entry_bits, c->tag_bits,
				c->history_min, c->history_max, GUS_BRANCH_TABLES_MAX, GUS_BRANCH_HISTORY_MAX);
	t->n = c->tables;
	t->entry_bits = c->entry_bits;
	t->tag_bits = c->tag_bits;
	for (uint32_t i = 0; i < t->n; i++) {
		struct table *one = &t->table[i];
		double share = t->n > 1 ? (double)i / (t->n - 1) : 0;
		uint32_t index = prime_from(c->entry_bits);
		uint32_t tag = prime_from(c->tag_bits > index ? c->tag_bits : index + 1);
		const uint32_t widths[FOLDS] = { index, tag, prime_from(tag + 1) };

		one->entries = gus_zalloc(((size_t)1 << c->entry_bits) * sizeof(*one->entries));
		one->length = (uint32_t)(c->history_min * pow((double)c->history_max / c->history_min, share) + 0.5);
		for (unsigned f = 0; f < FOLDS; f++) {
			t->fold[f].out.of[i] = UINT32_C(1) << one->length % widths[f];
			t->fold[f].end.of[i] = UINT32_C(1) << widths[f];
		}
	}
	return 0;
}

struct gus_branch_predictor *gus_branch_new(const struct gus_branch_config *config, struct gus_error *err)
{
	struct gus_branch_predictor *p = gus_zalloc(sizeof(*p));

	p->config = *config;
	p->random = UINT64_C(0x2545f4914f6cdd1d);
	if (config->base_bits > 24 || !config->return_depth || config->return_depth > 4096) {
		gus_fail(err, GUS_E_USAGE,
			 "cannot predict with 2^%u counters and %u return addresses: at most 2^24, and 1 to 4096",
			 config->base_bits, config->return_depth);
		goto failed;
	}
	if (new_tables(&p->direction, &config->direction, "directions", err) != 0 ||
	    new_tables(&p->target, &config->target, "targets", err) != 0 ||
	    gus_sets_init(&p->btb, "the branch target buffer", config->btb_entries, config->btb_ways, GUS_REPLACE_LRU,
			  err) != 0)
		goto failed;
	p->base = gus_alloc((size_t)1 << config->base_bits);
	memset(p->base, BASE_INITIAL, (size_t)1 << config->base_bits);
	p->btb_target = gus_zalloc(config->btb_entries * sizeof(*p->btb_target));
	p->returns = gus_zalloc(config->return_depth * sizeof(*p->returns));
	return p;
failed:
	gus_branch_free(p);
	return NULL;
}

void gus_branch_free(struct gus_branch_predictor *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < GUS_BRANCH_TABLES_MAX; i++) {
		free(p->direction.table[i].entries);
		free(p->target.table[i].entries);
	}
	gus_sets_free(&p->btb);
	free(p->base);
	free(p->btb_target);
	free(p->returns);
	free(p);
}

const struct gus_branch_counts *gus_branch_totals(const struct gus_branch_predictor *p)
{
	return p->counts;
}

void gus_branch_count_anew(struct gus_branch_predictor *p)
{
	memset(p->counts, 0, sizeof(p->counts));
}

/* History. */

static void remember(struct tables *t, const struct gus_branch_predictor *p, uint32_t bit)
{
	four_folds gone[FOLD_VECTORS];

	/* Put together in registers: what is written piece by piece cannot be read as a whole at once. Tables that
	 * are none do no harm. */
	for (uint32_t i = 0; 4 * i < t->n; i++) {
		const struct table *four = &t->table[4 * i];

		gone[i] = -(four_folds){
			p->history[(p->history_at - four[0].length) % RING],
			p->history[(p->history_at - four[1].length) % RING],
			p->history[(p->history_at - four[2].length) % RING],
			p->history[(p->history_at - four[3].length) % RING],
		};
	}
	for (unsigned f = 0; f < FOLDS; f++)
		for (uint32_t i = 0; 4 * i < t->n; i++) {
			four_folds end = t->fold[f].end.vector[i];
			four_folds v = (t->fold[f].value.vector[i] << 1 | bit) ^ (gone[i] & t->fold[f].out.vector[i]);

			/* What has come behind the last bit goes to the first. */
			t->fold[f].value.vector[i] = (v ^ ((four_folds)((v & end) != 0) & 1)) & (end - 1);
		}
}

static void push_history(struct gus_branch_predictor *p, uint32_t bit)
{
	remember(&p->direction, p, bit);
	remember(&p->target, p, bit);
	p->history[p->history_at++ % RING] = (uint8_t)bit;
}

/* Tagged tables. */

static uint32_t mix(uint64_t pc)
{
	return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* A few bits that mostly differ for targets that are alike: the top of the product, which all bits of the target
 * reach. */
static uint32_t digest(uint64_t target)
{
	return (uint32_t)((target * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TARGET_BITS));
}

/* Where the branch would be in each table, and which tables have it. */
static void look_up(struct tables *t, uint64_t pc)
{
	uint32_t hash = mix(pc), entries = (UINT32_C(1) << t->entry_bits) - 1, tags = (UINT32_C(1) << t->tag_bits) - 1;

	t->provider = t->other = -1;
	for (uint32_t i = 0; i < t->n; i++) {
		struct table *one = &t->table[i];
		uint32_t index = t->fold[FOLD_INDEX].value.of[i];
		uint32_t tag = t->fold[FOLD_TAG].value.of[i] ^ t->fold[FOLD_TAG_OTHER].value.of[i] << 1;

		one->index = (hash ^ hash >> (i + 1) ^ index ^ index >> t->entry_bits) & entries;
		/* A tag of 0 is an entry that was never used. */
		one->tag = ((hash >> 12 ^ tag ^ tag >> t->tag_bits) & tags) | 1 << 15;
		if (one->entries[one->index].tag == (uint16_t)one->tag) {
			t->other = t->provider;
			t->provider = (int)i;
		}
	}
}

static struct entry *entry_of(struct tables *t, int table)
{
	return &t->table[table].entries[t->table[table].index];
}

static uint64_t next_random(struct gus_branch_predictor *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return p->random >> 32;
}

/* A new entry in a table of longer history than what was wrong; if all are useful there, they become less so. Which
 * of them is by chance (by a fixed sequence), half as often for each longer one, so that branches do not throw each
 * other out in turns. */
static struct entry *allocate(struct gus_branch_predictor *p, struct tables *t)
{
	int first = t->provider + 1, n = (int)t->n;

	for (uint64_t chance = next_random(p); first + 1 < n && (chance & 1) && first < t->provider + 3; chance >>= 1)
		first++;
	for (int i = first; i < n; i++) {
		struct entry *e = entry_of(t, i);

		if (e->useful)
			continue;
		e->tag = (uint16_t)t->table[i].tag;
		return e;
	}
	for (int i = t->provider + 1; i < n; i++)
		entry_of(t, i)->useful -= entry_of(t, i)->useful > 0;
	return NULL;
}

static void forget(struct tables *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		for (size_t e = 0; e < (size_t)1 << t->entry_bits; e++)
			t->table[i].entries[e].useful /= 2;
}

/* Directions. */

static int8_t moved(int8_t counter, bool up, int lowest, int highest)
{
	return (int8_t)(up ? counter + (counter < highest) : counter - (counter > lowest));
}

static void train_base(uint8_t *base, bool taken)
{
	*base = (uint8_t)moved((int8_t)(*base & 3), taken, 0, 3) | SEEN;
}

/* What the tables say, and trains them by what was right. True: mispredicted. */
static bool run_direction(struct gus_branch_predictor *p, uint64_t pc, bool taken, bool *unknown)
{
	struct tables *t = &p->direction;
	uint8_t *base = &p->base[mix(pc) & ((UINT32_C(1) << p->config.base_bits) - 1)];
	bool plain = (*base & 3) >= 2, said, other, longest = plain, fresh = false;

	*unknown = !(*base & SEEN);
	look_up(t, pc);
	other = t->other >= 0 ? entry_of(t, t->other)->counter >= 0 : plain;
	said = plain;
	if (t->provider >= 0) {
		struct entry *e = entry_of(t, t->provider);

		longest = e->counter >= 0;
		fresh = !e->useful && (e->counter == 0 || e->counter == -1);
		said = fresh && p->choice >= 0 ? other : longest;
		if (fresh && longest != other)
			p->choice = moved((int8_t)p->choice, other == taken, -CHOICE_MAX - 1, CHOICE_MAX);
		if (longest != other)
			e->useful = (uint8_t)moved((int8_t)e->useful, longest == taken, 0, 3);
		if (fresh && t->other >= 0)
			entry_of(t, t->other)->counter = moved(entry_of(t, t->other)->counter, taken, -4, 3);
		else if (fresh)
			train_base(base, taken);
		e->counter = moved(e->counter, taken, -4, 3);
	} else {
		train_base(base, taken);
	}
	*base |= SEEN;
	/* No new entry if the longest was right and only not trusted. */
	if (said != taken && t->provider + 1 < (int)t->n && !(fresh && longest == taken)) {
		struct entry *e = allocate(p, t);

		if (e)
			e->counter = taken ? 0 : -1;
	}
	return said != taken;
}

/* Targets. */

/* Sets are chosen by the low bits of a key, and those of a pc are often the same: mixed, nearly each pc still has one
 * of its own. */
static uint64_t btb_key(uint64_t pc)
{
	return __builtin_bswap64(pc * UINT64_C(0x9e3779b97f4a7c15)) & UINT64_MAX >> 1;
}

static uint64_t btb_find(struct gus_branch_predictor *p, uint64_t pc, uint32_t *slot)
{
	*slot = gus_sets_find(&p->btb, btb_key(pc));
	if (*slot == GUS_SETS_NONE)
		return 0;
	gus_sets_touch(&p->btb, btb_key(pc), *slot);
	return p->btb_target[*slot];
}

static void btb_learn(struct gus_branch_predictor *p, uint64_t pc, uint32_t slot, uint64_t target)
{
	uint64_t evicted;

	if (slot == GUS_SETS_NONE)
		slot = gus_sets_place(&p->btb, btb_key(pc), &evicted);
	p->btb_target[slot] = target;
}

static bool run_target(struct gus_branch_predictor *p, uint64_t pc, uint64_t target, bool *unknown)
{
	struct tables *t = &p->target;
	uint32_t slot;
	uint64_t last = btb_find(p, pc, &slot), said = last, other;

	*unknown = slot == GUS_SETS_NONE;
	look_up(t, pc);
	other = t->other >= 0 ? entry_of(t, t->other)->target : last;
	if (t->provider >= 0) {
		struct entry *e = entry_of(t, t->provider);

		said = e->counter == 0 && !e->useful ? other : e->target;
		if (e->target != other)
			e->useful = (uint8_t)moved((int8_t)e->useful, e->target == target, 0, 3);
		if (e->target == target)
			e->counter = moved(e->counter, true, 0, CONFIDENT);
		else if (e->counter)
			e->counter--;
		else
			e->target = target;
	}
	if (said != target && t->provider + 1 < (int)t->n) {
		struct entry *e = allocate(p, t);

		if (e) {
			e->target = target;
			e->counter = 0;
		}
	}
	btb_learn(p, pc, slot, target);
	return said != target;
}

/* Calls and returns. */

static void push_return(struct gus_branch_predictor *p, uint64_t address)
{
	p->returns[p->returns_top++ % p->config.return_depth] = address;
	p->returns_n += p->returns_n < p->config.return_depth;
}

/* True: mispredicted. An empty stack says what the buffer has: the last target. */
static bool run_return(struct gus_branch_predictor *p, uint64_t pc, uint64_t target, bool *unknown)
{
	uint32_t slot;
	uint64_t said = btb_find(p, pc, &slot);

	*unknown = !p->returns_n;
	if (p->returns_n) {
		said = p->returns[--p->returns_top % p->config.return_depth];
		p->returns_n--;
	}
	btb_learn(p, pc, slot, target);
	return said != target;
}

static bool run_direct(struct gus_branch_predictor *p, uint64_t pc, uint64_t target)
{
	uint32_t slot;
	uint64_t said = btb_find(p, pc, &slot);

	btb_learn(p, pc, slot, target);
	return said != target;
}

struct gus_branch_verdict gus_branch_run(struct gus_branch_predictor *p, const struct gus_branch_outcome *o)
{
	struct gus_branch_verdict v = { false, false, false };
	struct gus_branch_counts *counts = &p->counts[o->kind];
	bool indirect = o->kind == GUS_BRANCH_INDIRECT || o->kind == GUS_BRANCH_CALL_INDIRECT;

	if (o->kind == GUS_BRANCH_CONDITIONAL)
		v.mispredicted = run_direction(p, o->pc, o->taken, &v.unknown);
	else if (indirect)
		v.mispredicted = run_target(p, o->pc, o->target, &v.unknown);
	else if (o->kind == GUS_BRANCH_RETURN)
		v.mispredicted = run_return(p, o->pc, o->target, &v.unknown);
	if (o->taken && !indirect && o->kind != GUS_BRANCH_RETURN)
		v.late = run_direct(p, o->pc, o->target) && !v.mispredicted;
	if (o->kind == GUS_BRANCH_CALL || o->kind == GUS_BRANCH_CALL_INDIRECT)
		push_return(p, o->next);
	if (o->kind == GUS_BRANCH_CONDITIONAL)
		push_history(p, o->taken);
	for (unsigned i = 0; indirect && i < TARGET_BITS; i++)
		push_history(p, digest(o->target) >> i & 1);
	if (++p->branches % FORGET_AFTER == 0) {
		forget(&p->direction);
		forget(&p->target);
	}
	v.unknown &= v.mispredicted;
	counts->executed++;
	counts->taken += o->taken;
	counts->mispredicted += v.mispredicted;
	counts->unknown += v.unknown;
	counts->late += v.late;
	return v;
}
