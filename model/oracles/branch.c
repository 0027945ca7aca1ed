/* SPDX-License-Identifier: MIT */
#include "model/oracles/branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/alloc.h"
#include "base/error.h"
#include "model/machine/config.h"
#include "model/oracles/sets.h"

enum {
	RING = 4096,                    /* bits of history kept: at least twice the longest */
	ENTRY_BITS_MAX = 20,            /* of a table's number of entries */
	RECENT = 256,                   /* bits of it that a vector register holds */
	CHOICE_MAX = 7,                 /* of the counter that says whether new entries are to be trusted */
	CONFIDENT = 3,                  /* of a target's counter, its greatest */
	FORGET_AFTER = 1 << 18,         /* branches after which usefulness is halved: so old entries become free */
	TARGET_BITS = 3,                /* of a target that go into the history */
};

/* One entry of a tagged table. Directions have a counter of -4 to 3, 0 and more being taken; targets one of 0 to
 * CONFIDENT. Targets themselves stand apart, so that all tables of directions fit into a first-level cache. */
struct entry {
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

struct tables {
	struct entry *entries;          /* of the first table, behind it those of the second, ... */
	uint64_t *targets;              /* beside them, where there are any */
	uint32_t length[GUS_BRANCH_TABLES_MAX]; /* of each table's history, in bits */
	struct fold fold[FOLDS];
	uint32_t n, entry_bits, tag_bits;
	/* Of the branch that is looked up, by table: its place in entries, and its tag. */
	uint32_t at[GUS_BRANCH_TABLES_MAX], tag[GUS_BRANCH_TABLES_MAX];
	int provider, other;            /* the longest that has the branch, and the next; -1: none */
	uint32_t longest;               /* of the histories */
	uint64_t folded;                /* bits of history that the folds have */
	/* The last RECENT of these, the newest in the lowest bit of the first word: where no history is longer, the
	 * bit that leaves a table is found here by shifts alone. */
	uint32_t recent[RECENT / 32];
};

/* What a branch will be learnt from: where it was looked up, and what came of it. */
struct lesson {
	struct tables *tables;          /* NULL: there is nothing to learn */
	uint64_t pc, target;            /* target: of an indirect one */
	uint32_t at[GUS_BRANCH_TABLES_MAX], tag[GUS_BRANCH_TABLES_MAX];
	bool taken, wrong;
};

struct gus_branch_predictor {
	struct gus_branch_config config;
	struct lesson *lessons;         /* a ring of train_late and one more; NULL: each is learnt from at once */
	uint32_t lessons_first, lessons_n;
	uint8_t *base;                  /* counters of 0 to 3; SEEN: was ever used */
	struct tables direction, target;
	struct entry *quick;            /* NULL: the tables are as fast */
	uint32_t recent;                /* the last GUS_BRANCH_QUICK_HISTORY directions, the newest in the lowest bit */
	int choice;                     /* below 0: new entries are right more often than what is behind them */
	struct gus_sets btb;
	uint64_t *btb_target;           /* by slot */
	uint64_t *returns;
	uint32_t returns_top, returns_n;
	bool wide;                      /* the processor has AVX2, and it is to be used */
	uint8_t history[RING + 4];      /* 4: read as words */
	uint64_t history_at;            /* bits so far */
	/* The last taken branches, the newest first, as many as target_path says: 0 for an indirect one or a return. */
	uint64_t path[GUS_BRANCH_PATH_MAX];
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

/* Of the greatest power of two that is not above n, as far as tables go. */
static uint32_t bits_of(uint32_t n)
{
	uint32_t bits = 1;

	while (bits < ENTRY_BITS_MAX && n >> (bits + 1))
		bits++;
	return bits;
}

/* The longest history, as far as tables go. */
static uint32_t history_of(uint32_t branches, uint32_t least)
{
	branches = branches < GUS_BRANCH_HISTORY_MAX ? branches : GUS_BRANCH_HISTORY_MAX;
	return branches > least ? branches : least;
}

void gus_branch_config_of(struct gus_branch_config *c, const struct gus_core_config *machine)
{
	gus_branch_config_default(c);
	c->target_path = machine->indirect_path;
	if (machine->branch_override && machine->branch_quick)
		c->quick_entries = UINT32_C(1) << bits_of(machine->branch_quick);
	if (machine->branch_histories)
		c->direction.entry_bits = bits_of(machine->branch_histories / c->direction.tables);
	if (machine->branch_history)
		c->direction.history_max = history_of(machine->branch_history, c->direction.history_min);
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
	    (c->tables && (!c->entry_bits || c->entry_bits > ENTRY_BITS_MAX || c->tag_bits < 2 || c->tag_bits > 15 ||
			   !c->history_min || c->history_max < c->history_min ||
			   c->history_max > GUS_BRANCH_HISTORY_MAX)))
		return gus_fail(err, GUS_E_USAGE, "cannot predict %s by %u tables of 2^%u entries with tags of %u bits "
				"and histories of %u to %u: at most %d tables, 2^20 entries, 2 to 15 bits, and "
				"histories of 1 to %d that grow", what, c->tables, c->entry_bits, c->tag_bits,
				c->history_min, c->history_max, GUS_BRANCH_TABLES_MAX, GUS_BRANCH_HISTORY_MAX);
	t->n = c->tables;
	t->entry_bits = c->entry_bits;
	t->tag_bits = c->tag_bits;
	/* Eight tables are read at once, of which the last may be none. */
	t->entries = gus_zalloc(((size_t)(t->n + 7) / 8 * 8 << c->entry_bits) * sizeof(*t->entries) + 1);
	for (uint32_t i = 0; i < t->n; i++) {
		double share = t->n > 1 ? (double)i / (t->n - 1) : 0;
		uint32_t index = prime_from(c->entry_bits);
		uint32_t tag = prime_from(c->tag_bits > index ? c->tag_bits : index + 1);
		const uint32_t widths[FOLDS] = { index, tag, prime_from(tag + 1) };

		t->length[i] = (uint32_t)(c->history_min * pow((double)c->history_max / c->history_min, share) + 0.5);
		t->longest = t->length[i] > t->longest ? t->length[i] : t->longest;
		for (unsigned f = 0; f < FOLDS; f++) {
			t->fold[f].out.of[i] = UINT32_C(1) << t->length[i] % widths[f];
			t->fold[f].end.of[i] = UINT32_C(1) << widths[f];
		}
	}
	return 0;
}

static bool has_wide(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

struct gus_branch_predictor *gus_branch_new(const struct gus_branch_config *config, struct gus_error *err)
{
	struct gus_branch_predictor *p = gus_zalloc(sizeof(*p));

	p->config = *config;
	p->wide = !config->narrow && has_wide();
	p->random = UINT64_C(0x2545f4914f6cdd1d);
	if (config->base_bits > 24 || !config->return_depth || config->return_depth > 4096) {
		gus_fail(err, GUS_E_USAGE,
			 "cannot predict with 2^%u counters and %u return addresses: at most 2^24, and 1 to 4096",
			 config->base_bits, config->return_depth);
		goto failed;
	}
	if (config->target_path > GUS_BRANCH_PATH_MAX) {
		gus_fail(err, GUS_E_USAGE, "cannot predict targets by a path of %u taken branches: at most %d",
			 config->target_path, GUS_BRANCH_PATH_MAX);
		goto failed;
	}
	if (config->train_late > GUS_BRANCH_LATE_MAX) {
		gus_fail(err, GUS_E_USAGE, "cannot predict without what %u branches would teach: at most %d",
			 config->train_late, GUS_BRANCH_LATE_MAX);
		goto failed;
	}
	if (new_tables(&p->direction, &config->direction, "directions", err) != 0 ||
	    new_tables(&p->target, &config->target, "targets", err) != 0 ||
	    gus_sets_init(&p->btb, "the branch target buffer", config->btb_entries, config->btb_ways, GUS_REPLACE_LRU,
			  err) != 0)
		goto failed;
	if (config->quick_entries)
		p->quick = gus_zalloc(config->quick_entries * sizeof(*p->quick));
	if (config->train_late)
		p->lessons = gus_zalloc((config->train_late + 1) * sizeof(*p->lessons));
	p->target.targets = gus_zalloc(((size_t)p->target.n << p->target.entry_bits) * sizeof(uint64_t) + 1);
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
	free(p->lessons);
	free(p->direction.entries);
	free(p->quick);
	free(p->target.entries);
	free(p->target.targets);
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

/* A bit of the history, as if all before `since` were 0. */
static inline uint32_t bit_at(const struct gus_branch_predictor *p, uint64_t at, uint64_t since)
{
	return at >= since ? p->history[at % RING] : 0;
}

/* The bit at a place of the history is folded into all tables, and of each the one that is too old for it goes. */
static inline void remember(struct tables *t, const struct gus_branch_predictor *p, uint64_t at, uint64_t since)
{
	const uint32_t bit = p->history[at % RING];
	four_folds gone[FOLD_VECTORS];

	/* Put together in registers: what is written piece by piece cannot be read as a whole at once. Tables that
	 * are none do no harm. */
	for (uint32_t i = 0; 4 * i < t->n; i++) {
		const uint32_t *length = &t->length[4 * i];

		gone[i] = -(four_folds){
			bit_at(p, at - length[0], since), bit_at(p, at - length[1], since),
			bit_at(p, at - length[2], since), bit_at(p, at - length[3], since),
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

/* Where a branch would be in each table, and its tags there. Returns which tables have it: bit i, table i. */
static uint32_t match(struct tables *t, uint32_t hash)
{
	const uint32_t places = (UINT32_C(1) << t->entry_bits) - 1, tags = (UINT32_C(1) << t->tag_bits) - 1;
	uint32_t have = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t place = t->fold[FOLD_INDEX].value.of[i];
		uint32_t tag = t->fold[FOLD_TAG].value.of[i] ^ t->fold[FOLD_TAG_OTHER].value.of[i] << 1;

		t->at[i] = (i << t->entry_bits) + ((hash ^ hash >> (i + 1) ^ place ^ place >> t->entry_bits) & places);
		/* A tag of 0 is an entry that was never used. */
		t->tag[i] = ((hash >> 12 ^ tag ^ tag >> t->tag_bits) & tags) | 1 << 15;
		have |= (uint32_t)(t->entries[t->at[i]].tag == (uint16_t)t->tag[i]) << i;
	}
	return have;
}

/* The next bits of the history, and the match behind them. */
static uint32_t fold_and_match(struct tables *t, const struct gus_branch_predictor *p, uint32_t hash)
{
	for (; t->folded < p->history_at; t->folded++)
		remember(t, p, t->folded, 0);
	return match(t, hash);
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))

/* The bits that leave eight tables, each in the lowest bit of its lane, and the history moved on by one. */
WIDE static inline __m256i leave_wide(struct tables *t, const struct gus_branch_predictor *p, uint64_t at,
				      uint32_t first)
{
	const __m256i length = _mm256_loadu_si256((const __m256i *)&t->length[first]), one = _mm256_set1_epi32(1);
	__m256i old;

	if (t->longest <= RECENT) {
		__m256i bit = _mm256_sub_epi32(length, one);

		old = _mm256_loadu_si256((const __m256i *)t->recent);
		old = _mm256_permutevar8x32_epi32(old, _mm256_srli_epi32(bit, 5));
		return _mm256_and_si256(_mm256_srlv_epi32(old, _mm256_and_si256(bit, _mm256_set1_epi32(31))), one);
	}
	old = _mm256_and_si256(_mm256_sub_epi32(_mm256_set1_epi32((int)(at % RING)), length),
			       _mm256_set1_epi32(RING - 1));
	return _mm256_and_si256(_mm256_i32gather_epi32((const int *)p->history, old, 1), one);
}

WIDE static inline void move_recent(struct tables *t, __m128i bit)
{
	__m256i words = _mm256_loadu_si256((const __m256i *)t->recent);
	__m256i carried = _mm256_permutevar8x32_epi32(_mm256_srli_epi32(words, 31),
						      _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));

	carried = _mm256_blend_epi32(carried, _mm256_castsi128_si256(bit), 1);
	_mm256_storeu_si256((__m256i *)t->recent, _mm256_or_si256(_mm256_slli_epi32(words, 1), carried));
}

/* The same for eight tables at once. */
WIDE static inline void remember_wide(struct tables *t, const struct gus_branch_predictor *p, uint64_t at)
{
	const __m128i bit = _mm_cvtsi32_si128(p->history[at % RING]);
	const __m256i one = _mm256_set1_epi32(1), new = _mm256_broadcastd_epi32(bit);

	for (uint32_t i = 0; i < t->n; i += 8) {
		__m256i gone = _mm256_sub_epi32(_mm256_setzero_si256(), leave_wide(t, p, at, i));

		for (unsigned f = 0; f < FOLDS; f++) {
			__m256i *value = (__m256i *)&t->fold[f].value.of[i];
			__m256i end = _mm256_loadu_si256((const __m256i *)&t->fold[f].end.of[i]);
			__m256i out = _mm256_loadu_si256((const __m256i *)&t->fold[f].out.of[i]);
			__m256i v = _mm256_or_si256(_mm256_slli_epi32(_mm256_loadu_si256(value), 1), new), carry;

			v = _mm256_xor_si256(v, _mm256_and_si256(gone, out));
			carry = _mm256_cmpeq_epi32(_mm256_and_si256(v, end), end);
			v = _mm256_xor_si256(v, _mm256_and_si256(carry, one));
			_mm256_storeu_si256(value, _mm256_and_si256(v, _mm256_sub_epi32(end, one)));
		}
	}
	move_recent(t, bit);
}

/* Places and tags of eight tables at once. Returns which of them have the branch. */
WIDE static inline uint32_t match_wide(struct tables *t, uint32_t hash)
{
	const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), all = _mm256_set1_epi32((int)hash);
	const __m256i places = _mm256_set1_epi32((1 << t->entry_bits) - 1);
	const __m256i tags = _mm256_set1_epi32((1 << t->tag_bits) - 1);
	const __m128i place_bits = _mm_cvtsi32_si128((int)t->entry_bits), bits = _mm_cvtsi32_si128((int)t->tag_bits);
	uint32_t have = 0;

	for (uint32_t i = 0; i < t->n; i += 8) {
		const __m256i table = _mm256_add_epi32(steps, _mm256_set1_epi32((int)i));
		__m256i at = _mm256_loadu_si256((const __m256i *)&t->fold[FOLD_INDEX].value.of[i]), found;
		__m256i tag = _mm256_loadu_si256((const __m256i *)&t->fold[FOLD_TAG_OTHER].value.of[i]);

		at = _mm256_xor_si256(at, _mm256_srl_epi32(at, place_bits));
		at = _mm256_xor_si256(at, _mm256_srlv_epi32(all, _mm256_add_epi32(table, _mm256_set1_epi32(1))));
		at = _mm256_and_si256(_mm256_xor_si256(at, all), places);
		at = _mm256_add_epi32(at, _mm256_sll_epi32(table, place_bits));
		tag = _mm256_xor_si256(_mm256_slli_epi32(tag, 1),
				       _mm256_loadu_si256((const __m256i *)&t->fold[FOLD_TAG].value.of[i]));
		tag = _mm256_xor_si256(tag, _mm256_srl_epi32(tag, bits));
		tag = _mm256_and_si256(_mm256_xor_si256(tag, _mm256_srli_epi32(all, 12)), tags);
		tag = _mm256_or_si256(tag, _mm256_set1_epi32(1 << 15));
		_mm256_storeu_si256((__m256i *)&t->at[i], at);
		_mm256_storeu_si256((__m256i *)&t->tag[i], tag);
		found = _mm256_and_si256(_mm256_i32gather_epi32((const int *)t->entries, at, sizeof(struct entry)),
					 _mm256_set1_epi32(0xffff));
		found = _mm256_cmpeq_epi32(found, tag);
		have |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(found)) << i;
	}
	return have & (uint32_t)((UINT64_C(1) << t->n) - 1);
}

/* The same for eight tables at once. One function, as it is nearly always one bit. */
WIDE static uint32_t fold_and_match_wide(struct tables *t, const struct gus_branch_predictor *p, uint32_t hash)
{
	for (; t->folded < p->history_at; t->folded++)
		remember_wide(t, p, t->folded);
	return match_wide(t, hash);
}
#else
#define fold_and_match_wide fold_and_match
#endif

/* Histories are folded when they are asked for, which those for targets seldom are. A fold is a sum without carries
 * of the table's last bits, so one that begins with the oldest of them is the same as one that has seen all. */
static void fold_anew(struct tables *t, const struct gus_branch_predictor *p)
{
	uint64_t begin = p->history_at - t->longest;

	for (unsigned f = 0; f < FOLDS; f++)
		t->fold[f].value = (union folds){ .of = { 0 } };
	for (t->folded = begin; t->folded < p->history_at; t->folded++)
		remember(t, p, t->folded, begin);
	for (uint32_t i = 0; i < RECENT; i++) {
		uint32_t bit = p->history[(p->history_at - 1 - i) % RING];

		t->recent[i / 32] = (t->recent[i / 32] & ~(UINT32_C(1) << i % 32)) | bit << i % 32;
	}
}

static void push_history(struct gus_branch_predictor *p, uint32_t bit)
{
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

/* The longest of the tables that have a branch, and the next. That cannot be predicted, so there is no branch on it. */
static void set_providers(struct tables *t, uint32_t have)
{
	t->provider = have ? 31 - __builtin_clz(have) : -1;
	have &= have ? ~(UINT32_C(1) << t->provider) : 0;
	t->other = have ? 31 - __builtin_clz(have) : -1;
}

/* Which tables have the branch. */
static void look_up(struct tables *t, const struct gus_branch_predictor *p, uint32_t hash)
{
	uint32_t have;

	if (p->history_at > t->folded + t->longest)
		fold_anew(t, p);
	have = p->wide ? fold_and_match_wide(t, p, hash) : fold_and_match(t, p, hash);
	set_providers(t, have);
}

static struct entry *entry_of(struct tables *t, int table)
{
	return &t->entries[t->at[table]];
}

static uint64_t *target_of(struct tables *t, int table)
{
	return &t->targets[t->at[table]];
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
 * other out in turns. Returns in which table, or -1. */
static int allocate(struct gus_branch_predictor *p, struct tables *t)
{
	int first = t->provider + 1, n = (int)t->n;

	for (uint64_t chance = next_random(p); first + 1 < n && (chance & 1) && first < t->provider + 3; chance >>= 1)
		first++;
	for (int i = first; i < n; i++) {
		struct entry *e = entry_of(t, i);

		if (e->useful)
			continue;
		e->tag = (uint16_t)t->tag[i];
		return i;
	}
	for (int i = t->provider + 1; i < n; i++)
		entry_of(t, i)->useful -= entry_of(t, i)->useful > 0;
	return -1;
}

static void forget(struct tables *t)
{
	for (size_t e = 0; e < (size_t)t->n << t->entry_bits; e++)
		t->entries[e].useful /= 2;
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

struct direction {
	uint8_t *base;
	bool said, plain, other, longest, fresh;
};

/* What the tables say of the branch that they were looked up for. */
static inline struct direction say_direction(struct gus_branch_predictor *p, uint64_t pc)
{
	struct tables *t = &p->direction;
	struct direction d = { .base = &p->base[mix(pc) & ((UINT32_C(1) << p->config.base_bits) - 1)] };

	d.plain = d.longest = d.said = (*d.base & 3) >= 2;
	d.other = t->other >= 0 ? entry_of(t, t->other)->counter >= 0 : d.plain;
	if (t->provider >= 0) {
		const struct entry *e = entry_of(t, t->provider);

		d.longest = e->counter >= 0;
		d.fresh = !e->useful && (e->counter == 0 || e->counter == -1);
		d.said = d.fresh && p->choice >= 0 ? d.other : d.longest;
	}
	return d;
}

/* Trains them by what was right; wrong: it was mispredicted. */
static inline void learn_direction(struct gus_branch_predictor *p, const struct direction *d, bool taken, bool wrong)
{
	struct tables *t = &p->direction;

	if (t->provider >= 0) {
		struct entry *e = entry_of(t, t->provider);

		if (d->fresh && d->longest != d->other)
			p->choice = moved((int8_t)p->choice, d->other == taken, -CHOICE_MAX - 1, CHOICE_MAX);
		if (d->longest != d->other)
			e->useful = (uint8_t)moved((int8_t)e->useful, d->longest == taken, 0, 3);
		if (d->fresh && t->other >= 0)
			entry_of(t, t->other)->counter = moved(entry_of(t, t->other)->counter, taken, -4, 3);
		else if (d->fresh)
			train_base(d->base, taken);
		e->counter = moved(e->counter, taken, -4, 3);
	} else {
		train_base(d->base, taken);
	}
	*d->base |= SEEN;
	/* No new entry if the longest was right and only not trusted. */
	if (wrong && t->provider + 1 < (int)t->n && !(d->fresh && d->longest == taken)) {
		int table = allocate(p, t);

		if (table >= 0)
			entry_of(t, table)->counter = taken ? 0 : -1;
	}
}

/* Lessons that are learnt late: the histories have gone on since, so places and tags are kept with them. */

static void keep_lesson(struct gus_branch_predictor *p, struct tables *t, const struct gus_branch_outcome *o,
			bool wrong)
{
	struct lesson *l = &p->lessons[(p->lessons_first + p->lessons_n++) % (p->config.train_late + 1)];

	l->tables = t;
	l->pc = o->pc;
	l->target = o->target;
	l->taken = o->taken;
	l->wrong = wrong;
	if (!t)
		return;
	memcpy(l->at, t->at, sizeof(l->at));
	memcpy(l->tag, t->tag, sizeof(l->tag));
}

/* The tables are as if the branch had just been looked up, but that others may have taken its entries. */
static void recall(struct lesson *l)
{
	struct tables *t = l->tables;
	uint32_t have = 0;

	memcpy(t->at, l->at, sizeof(l->at));
	memcpy(t->tag, l->tag, sizeof(l->tag));
	for (uint32_t i = 0; i < t->n; i++)
		have |= (uint32_t)(t->entries[t->at[i]].tag == (uint16_t)t->tag[i]) << i;
	set_providers(t, have);
}

/* What is foreseen at once, and learnt from what was right: an entry is made where the plain counters were wrong and
 * there was none, so branches that these know take no room. */
static bool run_quick(struct gus_branch_predictor *p, uint64_t pc, bool plain, bool taken)
{
	uint32_t hash = mix(pc + ((uint64_t)p->recent << 32 | p->recent)) | 1;
	struct entry *e = &p->quick[hash >> 8 & (p->config.quick_entries - 1)];
	bool known = e->tag == (uint16_t)hash, said = known ? e->counter >= 0 : plain;

	if (known)
		e->counter = moved(e->counter, taken, -2, 1);
	else if (plain != taken)
		*e = (struct entry){ .tag = (uint16_t)hash, .counter = taken ? 0 : -1 };
	return said;
}

/* True: mispredicted. */
static bool run_direction(struct gus_branch_predictor *p, const struct gus_branch_outcome *o, bool *unknown,
			  bool *overridden)
{
	struct direction d;
	bool wrong;

	look_up(&p->direction, p, mix(o->pc));
	d = say_direction(p, o->pc);
	wrong = d.said != o->taken;
	*overridden = p->quick && run_quick(p, o->pc, d.plain, o->taken) != o->taken && !wrong;
	*unknown = !(*d.base & SEEN);
	if (p->lessons)
		keep_lesson(p, &p->direction, o, wrong);
	else
		learn_direction(p, &d, o->taken, wrong);
	return wrong;
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

static void push_path(struct gus_branch_predictor *p, uint64_t direct)
{
	for (uint32_t i = p->config.target_path - 1; i > 0; i--)
		p->path[i] = p->path[i - 1];
	p->path[0] = direct;
}

/* The last taken branches and their order in one number. */
static uint64_t path_of(const struct gus_branch_predictor *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->config.target_path; i++)
		sum = (sum + p->path[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 32;
}

struct target {
	uint64_t said, other;
	uint32_t slot;                  /* of the buffer */
};

static struct target say_target(struct gus_branch_predictor *p, uint64_t pc)
{
	struct tables *t = &p->target;
	struct target d;
	uint64_t last = btb_find(p, pc, &d.slot);

	d.said = last;
	d.other = t->other >= 0 ? *target_of(t, t->other) : last;
	if (t->provider >= 0) {
		const struct entry *e = entry_of(t, t->provider);

		d.said = e->counter == 0 && !e->useful ? d.other : *target_of(t, t->provider);
	}
	return d;
}

static void learn_target(struct gus_branch_predictor *p, const struct target *d, uint64_t pc, uint64_t target,
			 bool wrong)
{
	struct tables *t = &p->target;

	if (t->provider >= 0) {
		struct entry *e = entry_of(t, t->provider);
		uint64_t *own = target_of(t, t->provider);

		if (*own != d->other)
			e->useful = (uint8_t)moved((int8_t)e->useful, *own == target, 0, 3);
		if (*own == target)
			e->counter = moved(e->counter, true, 0, CONFIDENT);
		else if (e->counter)
			e->counter--;
		else
			*own = target;
	}
	if (wrong && t->provider + 1 < (int)t->n) {
		int table = allocate(p, t);

		if (table >= 0) {
			*target_of(t, table) = target;
			entry_of(t, table)->counter = 0;
		}
	}
	btb_learn(p, pc, d->slot, target);
}

static bool run_target(struct gus_branch_predictor *p, const struct gus_branch_outcome *o, bool *unknown)
{
	struct target d;
	bool wrong;

	look_up(&p->target, p, mix(o->pc + path_of(p)));
	d = say_target(p, o->pc);
	wrong = d.said != o->target;
	*unknown = d.slot == GUS_SETS_NONE;
	if (p->lessons)
		keep_lesson(p, &p->target, o, wrong);
	else
		learn_target(p, &d, o->pc, o->target, wrong);
	return wrong;
}

/* Learns from the oldest of the branches that it is late with, if these are too many. */
static void learn_late(struct gus_branch_predictor *p)
{
	struct lesson *l = &p->lessons[p->lessons_first];

	if (p->lessons_n <= p->config.train_late)
		return;
	p->lessons_first = (p->lessons_first + 1) % (p->config.train_late + 1);
	p->lessons_n--;
	if (!l->tables)
		return;
	recall(l);
	if (l->tables == &p->direction) {
		struct direction d = say_direction(p, l->pc);

		learn_direction(p, &d, l->taken, l->wrong);
	} else {
		struct target d = say_target(p, l->pc);

		learn_target(p, &d, l->pc, l->target, l->wrong);
	}
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
	bool mispredicted = false, unknown = false, late = false, overridden = false;
	struct gus_branch_counts *counts = &p->counts[o->kind];
	bool indirect = o->kind == GUS_BRANCH_INDIRECT || o->kind == GUS_BRANCH_CALL_INDIRECT;

	if (o->kind == GUS_BRANCH_CONDITIONAL)
		mispredicted = run_direction(p, o, &unknown, &overridden);
	else if (indirect)
		mispredicted = run_target(p, o, &unknown);
	else if (o->kind == GUS_BRANCH_RETURN)
		mispredicted = run_return(p, o->pc, o->target, &unknown);
	if (p->lessons && o->kind != GUS_BRANCH_CONDITIONAL && !indirect)
		keep_lesson(p, NULL, o, false);
	if (o->taken && !indirect && o->kind != GUS_BRANCH_RETURN)
		late = run_direct(p, o->pc, o->target) && !mispredicted;
	if (o->kind == GUS_BRANCH_CALL || o->kind == GUS_BRANCH_CALL_INDIRECT)
		push_return(p, o->next);
	if (o->kind == GUS_BRANCH_CONDITIONAL) {
		push_history(p, o->taken);
		p->recent = p->recent << 1 | o->taken;
	}
	for (unsigned i = 0; indirect && !p->config.target_path && i < TARGET_BITS; i++)
		push_history(p, digest(o->target) >> i & 1);
	if (o->taken && p->config.target_path)
		push_path(p, indirect || o->kind == GUS_BRANCH_RETURN ? 0 : o->pc);
	if (p->lessons)
		learn_late(p);
	if (++p->branches % FORGET_AFTER == 0) {
		forget(&p->direction);
		forget(&p->target);
	}
	unknown &= mispredicted;
	counts->executed++;
	counts->taken += o->taken;
	counts->mispredicted += mispredicted;
	counts->unknown += unknown;
	counts->late += late;
	return (struct gus_branch_verdict){ mispredicted, unknown, late, overridden };
}
