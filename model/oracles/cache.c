/* SPDX-License-Identifier: MIT */
#include "model/oracles/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/machine/config.h"
#include "model/machine/options.h"
#include "model/tables/uarch.h"

enum { PREFETCH_BOUND = 4096, THROTTLE_WINDOW = 256 };

/* What is kept with a line in a level. */
struct line {
	uint64_t ready, ready_if_warm;  /* when it is there; and if all that is unknown had been hits */
	bool dirty;
	bool unused;                    /* prefetched, and not asked for since */
};
struct level {
	struct gus_sets sets;
	struct line *lines;             /* by slot; NULL: there is no such level */
	enum gus_inclusion inclusion;
	uint32_t latency;
};
/* The prefetchers of a level: lines that they have, or would have, asked for since they were looked at, and how many
 * were used meanwhile. */
struct throttle {
	uint32_t wanted, used;
	bool stopped;
};
struct stride {
	uint64_t last, asked;           /* addresses: of the last access; the last line that was asked for */
	int64_t stride;
	uint32_t id;
	uint8_t sure;                   /* how often the stride was the same; SURE: it is followed */
};
enum { SURE = 2, SUREST = 3 };
enum { TLB_LOAD, TLB_STORE, TLB_HUGE, TLB_SECOND, TLBS };
struct huge { uint64_t from, to; };

struct gus_cache {
	struct gus_cache_config config;
	struct level level[GUS_CACHE_LEVELS];
	struct gus_sets tlb[TLBS];
	uint64_t last_page[TLBS];       /* key + 1 of the page that each found last */
	unsigned line_bits, page_bits, huge_bits;
	struct gus_vec(struct huge) huge;
	struct stride *strides;
	struct throttle throttle[GUS_CACHE_LEVELS];
	uint64_t asked_l2;              /* line + 1 whose followers L2's prefetcher fetches after the access */
	/* What the present access has brought along, if anything; and its first line. */
	bool brought;
	struct gus_op_beside beside, beside_if_warm;
	uint64_t first;
	struct gus_cache_total total;
};

/* The figures where a table is silent: those of no machine in particular. */

static uint32_t figure(const struct gus_uarch *u, const char *name, uint32_t otherwise)
{
	return (uint32_t)gus_uarch_value(u, name, otherwise);
}

/* A TLB whose ways are not told is fully associative if it is small, else has eight ways. */
static struct gus_tlb_size tlb_size(const struct gus_uarch *u, const char *size, const char *ways, uint32_t otherwise)
{
	struct gus_tlb_size t = { figure(u, size, otherwise), 0 };

	t.ways = figure(u, ways, t.entries <= GUS_SETS_WAYS_MAX ? t.entries : 8);
	return t;
}

uint8_t gus_cache_holding(const struct gus_cache_config *c, uint64_t bytes)
{
	for (unsigned i = 1; bytes && i < GUS_CACHE_LEVELS; i++)
		if (c->level[i].bytes / 2 >= bytes)
			return (uint8_t)i;
	return GUS_HIT_L1;
}

void gus_cache_config_of(struct gus_cache_config *c, const struct gus_uarch *u)
{
	struct gus_core_config core;

	gus_core_config_of(&core, u);
	*c = (struct gus_cache_config){
		.line_size = core.line_size, .page_size = figure(u, "page_size", 4096), .huge_size = 2 << 20,
		.level = {
			{ UINT64_C(1024) * figure(u, "l1d_size", 32), figure(u, "l1d_ways", 8),
			  figure(u, "l1d_replacement", GUS_REPLACE_TREE_PLRU), GUS_INCLUSION_NONE, 0 },
			{ UINT64_C(1024) * figure(u, "l2_size", 1024), figure(u, "l2_ways", 16),
			  figure(u, "l2_replacement", GUS_REPLACE_TREE_PLRU),
			  figure(u, "l2_inclusion", GUS_INCLUSION_NONE), core.l2_latency },
			{ UINT64_C(1024) * figure(u, "l3_size", 16384), figure(u, "l3_ways", 16),
			  figure(u, "l3_replacement", GUS_REPLACE_TREE_PLRU),
			  figure(u, "l3_inclusion", GUS_INCLUSION_NONE), core.l3_latency },
		},
		.memory_latency = core.memory_latency,
		.dtlb = tlb_size(u, "dtlb_size", "dtlb_ways", 64),
		.dtlb_store = tlb_size(u, "dtlb_store_size", "dtlb_store_ways", 0),
		.dtlb_huge = tlb_size(u, "dtlb_huge_size", "dtlb_huge_ways", 32),
		.stlb = tlb_size(u, "stlb_size", "stlb_ways", 1536),
		.stlb_huge = figure(u, "stlb_huge", 1),
		.l1d_next_line = figure(u, "l1d_next_line", 1),
		.l1d_strides = figure(u, "l1d_strides", 64),
		.l1d_stride_ahead = figure(u, "l1d_stride_ahead", 2),
		.l2_next_line = figure(u, "l2_next_line", 2),
	};
}

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static unsigned bits_of(uint64_t power)
{
	return (unsigned)__builtin_ctzll(power);
}

static int new_levels(struct gus_cache *c, struct gus_error *err)
{
	static const char *const names[GUS_CACHE_LEVELS] = { "L1", "L2", "L3" };

	for (unsigned i = 0; i < GUS_CACHE_LEVELS; i++) {
		const struct gus_cache_level *l = &c->config.level[i];

		if (!l->bytes && i)
			continue;
		if (l->bytes % c->config.line_size || (unsigned)l->inclusion >= GUS_INCLUSIONS)
			return gus_fail(err, GUS_E_USAGE, "cannot model %s of %llu bytes: give whole lines of %u "
					"bytes, and one inclusion of %s", names[i], (unsigned long long)l->bytes,
					c->config.line_size, GUS_INCLUSION_WORDS);
		if (gus_sets_init(&c->level[i].sets, names[i], l->bytes / c->config.line_size, l->ways, l->replacement,
				  err) != 0)
			return -1;
		c->level[i].lines = gus_zalloc(l->bytes / c->config.line_size * sizeof(struct line));
		c->level[i].inclusion = i ? l->inclusion : GUS_INCLUSION_NONE;
		c->level[i].latency = i ? l->latency : 0;
	}
	return 0;
}

static int new_tlbs(struct gus_cache *c, struct gus_error *err)
{
	static const char *const names[TLBS] = {
		"the DTLB", "the DTLB of stores", "the DTLB of huge pages", "the STLB",
	};
	const struct gus_tlb_size *sizes[TLBS] = {
		&c->config.dtlb, &c->config.dtlb_store, &c->config.dtlb_huge, &c->config.stlb,
	};

	for (unsigned i = 0; i < TLBS; i++)
		if ((sizes[i]->entries || i == TLB_LOAD) &&
		    gus_sets_init(&c->tlb[i], names[i], sizes[i]->entries, sizes[i]->ways, GUS_REPLACE_LRU, err) != 0)
			return -1;
	return 0;
}

struct gus_cache *gus_cache_new(const struct gus_cache_config *config, struct gus_error *err)
{
	struct gus_cache *c = gus_zalloc(sizeof(*c));

	c->config = *config;
	if (!power_of_two(config->line_size) || !power_of_two(config->page_size) || !power_of_two(config->huge_size) ||
	    config->line_size > config->page_size || config->page_size > config->huge_size) {
		gus_fail(err, GUS_E_USAGE, "cannot model caches with lines of %u, pages of %u and huge pages of %u "
			 "bytes: these have to be powers of two that grow",
			 config->line_size, config->page_size, config->huge_size);
		goto failed;
	}
	if (config->l1d_strides && !power_of_two(config->l1d_strides)) {
		gus_fail(err, GUS_E_USAGE, "cannot follow the strides of %u instructions: give a power of two",
			 config->l1d_strides);
		goto failed;
	}
	c->line_bits = bits_of(config->line_size);
	c->page_bits = bits_of(config->page_size);
	c->huge_bits = bits_of(config->huge_size);
	if (new_levels(c, err) != 0 || new_tlbs(c, err) != 0)
		goto failed;
	if (config->l1d_strides)
		c->strides = gus_zalloc(config->l1d_strides * sizeof(*c->strides));
	return c;
failed:
	gus_cache_free(c);
	return NULL;
}

void gus_cache_free(struct gus_cache *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < GUS_CACHE_LEVELS; i++) {
		gus_sets_free(&c->level[i].sets);
		free(c->level[i].lines);
	}
	for (unsigned i = 0; i < TLBS; i++)
		gus_sets_free(&c->tlb[i]);
	gus_vec_free(&c->huge);
	free(c->strides);
	free(c);
}

void gus_cache_huge_pages(struct gus_cache *c, uint64_t from, uint64_t to)
{
	gus_vec_push(&c->huge, (struct huge){ from, to });
}

const struct gus_cache_total *gus_cache_totals(const struct gus_cache *c)
{
	return &c->total;
}

const struct gus_cache_config *gus_cache_config(const struct gus_cache *c)
{
	return &c->config;
}

void gus_cache_count_anew(struct gus_cache *c)
{
	memset(&c->total, 0, sizeof(c->total));
}

bool gus_cache_holds(const struct gus_cache *c, unsigned level, uint64_t address)
{
	const struct level *l = &c->level[level];

	return l->lines && gus_sets_find(&l->sets, address >> c->line_bits) != GUS_SETS_NONE;
}

struct found {
	enum gus_hit level, if_warm;
	uint64_t ready, ready_if_warm;
	bool dirty;
};

/* What an access brings along. */

static void add_prefetch(struct gus_op_beside *b, int64_t ahead, enum gus_hit from, enum gus_hit into)
{
	if (b->prefetches_n == GUS_OP_PREFETCHES || ahead < INT8_MIN || ahead > INT8_MAX)
		return;
	b->prefetches[b->prefetches_n++] = (struct gus_op_prefetch){ (int8_t)ahead, (uint8_t)from, (uint8_t)into };
}

/* warm: the level that it goes to has had as much as it holds of such lines. Else the line may have been there before
 * the window, and nothing would have been asked for. */
static void note_prefetch(struct gus_cache *c, uint64_t line, const struct found *f, enum gus_hit into, bool warm)
{
	int64_t ahead = (int64_t)(line - c->first);

	add_prefetch(&c->beside, ahead, f->level, into);
	if (warm)
		add_prefetch(&c->beside_if_warm, ahead, f->if_warm, into);
	c->brought = true;
}

static void bring_nothing(struct gus_cache *c)
{
	c->beside = c->beside_if_warm = (struct gus_op_beside){ .prefetches_n = 0 };
	c->brought = false;
}

/* Into a level, or (GUS_CACHE_LEVELS) into memory. */
static void note_written(struct gus_cache *c, unsigned into, unsigned lines)
{
	uint8_t *n = &c->beside.written[into - 1];

	*n = (uint8_t)(*n + lines < UINT8_MAX ? *n + lines : UINT8_MAX);
	c->beside_if_warm.written[into - 1] = *n;
	c->brought |= lines > 0;
}

/* Lines on their way down. */

/* Takes a line out of all levels before one; tells in how many it was dirty. */
static unsigned invalidate_above(struct gus_cache *c, unsigned below, uint64_t line)
{
	unsigned dirty = 0;

	for (unsigned i = 0; i < below; i++) {
		struct level *l = &c->level[i];
		uint32_t slot = l->lines ? gus_sets_find(&l->sets, line) : GUS_SETS_NONE;

		if (slot == GUS_SETS_NONE)
			continue;
		dirty += l->lines[slot].dirty;
		c->total.level[i].dirty_out += l->lines[slot].dirty;
		c->total.level[i].wasted += l->lines[slot].unused;
		c->total.level[i].invalidated++;
		gus_sets_remove(&l->sets, slot);
	}
	return dirty;
}

static unsigned next_level(const struct gus_cache *c, unsigned i)
{
	do
		i++;
	while (i < GUS_CACHE_LEVELS && !c->level[i].lines);
	return i;
}

/* Takes a line out of a level that must not hold it beside the one before; true if it was dirty. */
static bool take_out(struct gus_cache *c, unsigned i, uint64_t line)
{
	struct level *l = &c->level[i];
	uint32_t slot = gus_sets_find(&l->sets, line);
	bool dirty;

	if (slot == GUS_SETS_NONE)
		return false;
	dirty = l->lines[slot].dirty;
	c->total.level[i].given++;
	gus_sets_remove(&l->sets, slot);
	return dirty;
}

static void go_down(struct gus_cache *c, unsigned from, uint64_t line, struct line kept);

/* Puts a line that is not there into a level; what has to go for it goes down. */
static void put(struct gus_cache *c, unsigned i, uint64_t line, struct line with)
{
	struct level *l = &c->level[i];
	struct gus_cache_counts *counts = &c->total.level[i];
	uint64_t evicted;
	uint32_t slot = gus_sets_place(&l->sets, line, &evicted);
	struct line old = l->lines[slot];

	counts->filled++;
	l->lines[slot] = with;
	if (evicted == UINT64_MAX)
		return;
	counts->evicted++;
	counts->wasted += old.unused;
	if (l->inclusion == GUS_INCLUSION_INCLUSIVE) {
		unsigned above = invalidate_above(c, i, evicted);

		counts->dirty_in += above;
		note_written(c, i, above);
		old.dirty |= above > 0;
	}
	counts->dirty_out += old.dirty;
	old.unused = false;
	go_down(c, i, evicted, old);
}

/* A line that went out of a level: dirty ones are written into the next, exclusive levels take clean ones too. */
static void go_down(struct gus_cache *c, unsigned from, uint64_t line, struct line kept)
{
	unsigned i = next_level(c, from);
	struct level *l = &c->level[i < GUS_CACHE_LEVELS ? i : 0];
	uint32_t slot;

	note_written(c, i, kept.dirty);
	if (i == GUS_CACHE_LEVELS) {
		c->total.memory_writes += kept.dirty;
		return;
	}
	if (!kept.dirty && l->inclusion != GUS_INCLUSION_EXCLUSIVE)
		return;
	c->total.level[i].dirty_in += kept.dirty;
	slot = gus_sets_find(&l->sets, line);
	if (slot != GUS_SETS_NONE) {
		l->lines[slot].dirty |= kept.dirty;
		return;
	}
	if (next_level(c, i) < GUS_CACHE_LEVELS && c->level[next_level(c, i)].inclusion == GUS_INCLUSION_EXCLUSIVE)
		kept.dirty |= take_out(c, next_level(c, i), line);
	put(c, i, line, kept);
}

/* Lines on their way up. */

/* A line as it is put where it was looked up from. */
static struct line arriving(const struct found *f, bool dirty, bool unused)
{
	return (struct line){ f->ready, f->ready_if_warm, f->dirty || dirty, unused };
}

static void first_use(struct gus_cache *c, unsigned i, struct line *line, uint64_t now)
{
	line->unused = false;
	c->throttle[i].used++;
	c->total.level[i].used++;
	c->total.level[i].late += line->ready > now;
}

static struct found found_in(struct gus_cache *c, unsigned i, uint64_t line, uint32_t slot, enum gus_cache_asker who,
			     uint64_t now)
{
	struct level *l = &c->level[i];
	struct line *kept = &l->lines[slot];
	struct gus_cache_counts *counts = &c->total.level[i];
	struct found f = { (enum gus_hit)i, (enum gus_hit)i, now + l->latency, now + l->latency, false };

	counts->hits[who]++;
	gus_sets_touch(&l->sets, line, slot);
	if (kept->ready > f.ready)
		f.ready = kept->ready;
	if (kept->ready_if_warm > f.ready_if_warm)
		f.ready_if_warm = kept->ready_if_warm;
	if (who != GUS_CACHE_PREFETCH) {
		counts->pending += kept->ready > now && who == GUS_CACHE_DEMAND;
		if (kept->unused) {
			first_use(c, i, kept, now);
			c->asked_l2 = i == GUS_HIT_L2 ? line + 1 : c->asked_l2;
		}
	}
	if (l->inclusion == GUS_INCLUSION_EXCLUSIVE) {
		f.dirty = kept->dirty;
		counts->given++;
		counts->wasted += kept->unused;
		gus_sets_remove(&l->sets, slot);
	}
	return f;
}

/* Looks a line up from a level of L2 and beyond on, and fills those that it comes through. */
static struct found look(struct gus_cache *c, unsigned i, uint64_t line, enum gus_cache_asker who, uint64_t now)
{
	struct level *l;
	struct found f;
	uint32_t slot;
	bool warm;

	if (i == GUS_CACHE_LEVELS) {
		c->total.memory_reads[who]++;
		now += c->config.memory_latency;
		return (struct found){ GUS_HIT_MEMORY, GUS_HIT_MEMORY, now, now, false };
	}
	l = &c->level[i];
	if (!l->lines)
		return look(c, i + 1, line, who, now);
	c->total.level[i].accesses[who]++;
	slot = gus_sets_find(&l->sets, line);
	if (slot != GUS_SETS_NONE)
		return found_in(c, i, line, slot, who, now);
	warm = gus_sets_warm(&l->sets, line);
	c->total.level[i].misses[who]++;
	c->total.level[i].unknown += who == GUS_CACHE_DEMAND && !warm;
	c->asked_l2 = i == GUS_HIT_L2 ? line + 1 : c->asked_l2;
	if (!warm && i == c->config.holds_all)
		f = (struct found){ (enum gus_hit)i, (enum gus_hit)i, now + l->latency, now + l->latency, false };
	else
		f = look(c, i + 1, line, who, now);
	if (!warm) {
		f.if_warm = (enum gus_hit)i;
		f.ready_if_warm = now + l->latency;
	}
	if (l->inclusion != GUS_INCLUSION_EXCLUSIVE) {
		put(c, i, line, arriving(&f, false, false));
		f.dirty = false;
	}
	return f;
}

/* Prefetchers. */

static bool same_bound(const struct gus_cache *c, uint64_t a, uint64_t b)
{
	return (a << c->line_bits) / PREFETCH_BOUND == (b << c->line_bits) / PREFETCH_BOUND;
}

/* Whether the prefetchers of a level, which want another line, are to ask for it. */
static bool may_prefetch(struct gus_cache *c, unsigned i)
{
	struct throttle *t = &c->throttle[i];

	if (!c->config.prefetch_throttle)
		return true;
	if (t->wanted == THROTTLE_WINDOW)
		*t = (struct throttle){ .stopped = !t->stopped &&
			(uint64_t)t->used * c->config.prefetch_throttle < THROTTLE_WINDOW };
	t->wanted++;
	return !t->stopped;
}

static void prefetch_l1(struct gus_cache *c, uint64_t line, uint64_t now)
{
	struct gus_cache_counts *counts = &c->total.level[0];
	const bool warm = gus_sets_warm(&c->level[0].sets, line);
	struct found f;

	if (gus_sets_find(&c->level[0].sets, line) != GUS_SETS_NONE) {
		counts->accesses[GUS_CACHE_PREFETCH]++;
		counts->hits[GUS_CACHE_PREFETCH]++;
		return;
	}
	if (!may_prefetch(c, 0))
		return;
	counts->accesses[GUS_CACHE_PREFETCH]++;
	counts->misses[GUS_CACHE_PREFETCH]++;
	f = look(c, 1, line, GUS_CACHE_PREFETCH, now);
	note_prefetch(c, line, &f, GUS_HIT_L1, warm);
	if (!warm)
		f.ready_if_warm = now;
	put(c, 0, line, arriving(&f, false, true));
}

static void prefetch_next(struct gus_cache *c, uint64_t line, uint64_t now)
{
	for (uint64_t next = line + 1; next <= line + c->config.l1d_next_line && same_bound(c, line, next); next++)
		prefetch_l1(c, next, now);
}

/* L2's own: what follows the line that L2 was asked for last. */
static void prefetch_l2(struct gus_cache *c, uint64_t now)
{
	uint64_t line = c->asked_l2 - 1;
	struct level *l = &c->level[1];

	c->asked_l2 = 0;
	for (uint64_t next = line + 1; next <= line + c->config.l2_next_line && same_bound(c, line, next); next++) {
		struct gus_cache_counts *counts = &c->total.level[1];
		/* An exclusive L2 must not get what L1 has. */
		bool found = gus_sets_find(&l->sets, next) != GUS_SETS_NONE ||
			(l->inclusion == GUS_INCLUSION_EXCLUSIVE &&
			 gus_sets_find(&c->level[0].sets, next) != GUS_SETS_NONE);
		struct found f;
		bool warm;

		if (!found && !may_prefetch(c, 1))
			continue;
		counts->accesses[GUS_CACHE_PREFETCH]++;
		if (found) {
			counts->hits[GUS_CACHE_PREFETCH]++;
			continue;
		}
		counts->misses[GUS_CACHE_PREFETCH]++;
		warm = gus_sets_warm(&l->sets, next);
		f = look(c, 2, next, GUS_CACHE_PREFETCH, now);
		note_prefetch(c, next, &f, GUS_HIT_L2, warm);
		if (!warm)
			f.ready_if_warm = now;
		put(c, 1, next, arriving(&f, false, true));
	}
}

/* By instruction: once its addresses were SURE times the same distance apart, it asks for what lies some such
 * distances ahead. */
static void follow_stride(struct gus_cache *c, const struct gus_cache_access *a)
{
	struct stride *s = &c->strides[a->id & (c->config.l1d_strides - 1)];
	int64_t stride = (int64_t)(a->address - s->last);
	uint64_t ahead, line = a->address >> c->line_bits;

	if (s->id != a->id) {
		*s = (struct stride){ .last = a->address, .id = a->id };
		return;
	}
	s->last = a->address;
	if (stride != s->stride) {
		if (s->sure)
			s->sure--;
		else
			s->stride = stride;
		return;
	}
	s->sure = (uint8_t)(s->sure + (s->sure < SUREST));
	ahead = (a->address + (uint64_t)stride * c->config.l1d_stride_ahead) >> c->line_bits;
	if (s->sure < SURE || !stride || ahead == line || ahead == s->asked || !same_bound(c, line, ahead))
		return;
	s->asked = ahead;
	prefetch_l1(c, ahead, a->now);
}

/* TLBs. */

static uint64_t page_key(const struct gus_cache *c, uint64_t address)
{
	for (size_t i = 0; i < c->huge.n; i++)
		if (address >= c->huge.v[i].from && address < c->huge.v[i].to)
			return address >> c->huge_bits << 1 | 1;
	return address >> c->page_bits << 1;
}

static void place_page(struct gus_sets *tlb, uint64_t key)
{
	uint64_t evicted;

	gus_sets_place(tlb, key, &evicted);
}

/* The sets of a TLB are chosen by the number of the page, so the bit for its size is put at the top. */
static uint64_t tlb_key(uint64_t key)
{
	return key >> 1 | (key & 1) << 60;
}

static void second_tlb(struct gus_cache *c, uint64_t key, struct gus_tlb_counts *counts, struct gus_cache_answer *out)
{
	struct gus_sets *tlb = &c->tlb[TLB_SECOND];
	uint32_t slot;

	out->tlb = out->tlb_if_warm = GUS_TLB_WALK;
	if (!tlb->n || (key & 1 && !c->config.stlb_huge))
		return;
	counts->accesses++;
	slot = gus_sets_find(tlb, tlb_key(key));
	if (slot != GUS_SETS_NONE) {
		counts->hits++;
		gus_sets_touch(tlb, tlb_key(key), slot);
		out->tlb = out->tlb_if_warm = GUS_TLB_SECOND;
		return;
	}
	counts->misses++;
	if (!gus_sets_warm(tlb, tlb_key(key))) {
		counts->unknown++;
		out->tlb_if_warm = GUS_TLB_SECOND;
	}
	place_page(tlb, tlb_key(key));
}

static void translate(struct gus_cache *c, uint64_t address, bool store, struct gus_cache_answer *out)
{
	uint64_t key = page_key(c, address);
	unsigned which = key & 1 && c->tlb[TLB_HUGE].n ? TLB_HUGE : store && c->tlb[TLB_STORE].n ? TLB_STORE : TLB_LOAD;
	struct gus_sets *tlb = &c->tlb[which];
	uint32_t slot;

	c->total.dtlb.accesses++;
	out->tlb = out->tlb_if_warm = GUS_TLB_HIT;
	if (c->last_page[which] == key + 1) { /* the last one used is the most recent already */
		c->total.dtlb.hits++;
		return;
	}
	c->last_page[which] = key + 1;
	slot = gus_sets_find(tlb, tlb_key(key));
	if (slot != GUS_SETS_NONE) {
		c->total.dtlb.hits++;
		gus_sets_touch(tlb, tlb_key(key), slot);
		return;
	}
	c->total.dtlb.misses++;
	second_tlb(c, key, &c->total.stlb, out);
	if (!gus_sets_warm(tlb, tlb_key(key))) {
		c->total.dtlb.unknown++;
		out->tlb_if_warm = GUS_TLB_HIT;
	}
	place_page(tlb, tlb_key(key));
}

/* Accesses. */

static void miss_l1(struct gus_cache *c, uint64_t line, const struct gus_cache_access *a, struct gus_cache_answer *out)
{
	struct gus_cache_counts *counts = &c->total.level[0];
	bool warm = gus_sets_warm(&c->level[0].sets, line);
	struct found f;

	counts->misses[GUS_CACHE_DEMAND]++;
	counts->unknown += !warm;
	f = look(c, 1, line, GUS_CACHE_DEMAND, a->now);
	if (!warm) {
		f.if_warm = GUS_HIT_L1;
		f.ready_if_warm = a->now;
	}
	put(c, 0, line, arriving(&f, a->store, false));
	out->level = (uint8_t)f.level;
	out->level_if_warm = (uint8_t)f.if_warm;
	out->pending = false;
	out->wait = (uint32_t)(f.ready - a->now);
	out->wait_if_warm = (uint32_t)(f.ready_if_warm - a->now);
	if (c->config.l1d_next_line)
		prefetch_next(c, line, a->now);
}

static void hit_l1(struct gus_cache *c, uint64_t line, uint32_t slot, const struct gus_cache_access *a,
		   struct gus_cache_answer *out)
{
	struct level *l = &c->level[0];
	struct line *kept = &l->lines[slot];

	c->total.level[0].hits[GUS_CACHE_DEMAND]++;
	gus_sets_touch(&l->sets, line, slot);
	kept->dirty |= a->store;
	*out = (struct gus_cache_answer){ .level = GUS_HIT_L1, .tlb = out->tlb, .tlb_if_warm = out->tlb_if_warm };
	if (__builtin_expect(kept->ready > a->now, 0)) {
		c->total.level[0].pending++;
		out->pending = true;
		out->wait = (uint32_t)(kept->ready - a->now);
		out->wait_if_warm = kept->ready_if_warm > a->now ? (uint32_t)(kept->ready_if_warm - a->now) : 0;
	}
	if (__builtin_expect(kept->unused, 0)) {
		first_use(c, 0, kept, a->now);
		if (c->config.l1d_next_line)
			prefetch_next(c, line, a->now);
	}
}

static inline void access_line(struct gus_cache *c, uint64_t line, const struct gus_cache_access *a,
			       struct gus_cache_answer *out)
{
	uint32_t slot = gus_sets_find(&c->level[0].sets, line);

	c->total.level[0].accesses[GUS_CACHE_DEMAND]++;
	if (__builtin_expect(slot != GUS_SETS_NONE, 1))
		hit_l1(c, line, slot, a, out);
	else
		miss_l1(c, line, a, out);
}

static uint8_t farther(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* The lines of an access behind its first. */
static void access_rest(struct gus_cache *c, uint64_t first, uint64_t last, const struct gus_cache_access *a,
			struct gus_cache_answer *answer)
{
	unsigned lines_in_page = c->page_bits - c->line_bits;

	c->total.line_splits++;
	c->total.page_splits += first >> lines_in_page != last >> lines_in_page;
	for (uint64_t line = first + 1; line <= last; line++) {
		struct gus_cache_answer one = { 0 };

		if (line >> lines_in_page != (line - 1) >> lines_in_page)
			translate(c, line << c->line_bits, a->store, &one);
		access_line(c, line, a, &one);
		answer->level = farther(answer->level, one.level);
		answer->level_if_warm = farther(answer->level_if_warm, one.level_if_warm);
		answer->tlb = farther(answer->tlb, one.tlb);
		answer->tlb_if_warm = farther(answer->tlb_if_warm, one.tlb_if_warm);
		answer->wait = one.wait > answer->wait ? one.wait : answer->wait;
		answer->wait_if_warm = one.wait_if_warm > answer->wait_if_warm ? one.wait_if_warm :
			answer->wait_if_warm;
		answer->pending = answer->level == GUS_HIT_L1 && answer->wait;
	}
}

/* Whether an access is what most are: in one line that has been asked for before and is there, and it and its page are
 * those of their sets that were used last. Nothing changes but counts then. */
static inline bool access_again(struct gus_cache *c, const struct gus_cache_access *a)
{
	struct level *l = &c->level[0];
	struct gus_sets *tlb = &c->tlb[a->store && c->tlb[TLB_STORE].n ? TLB_STORE : TLB_LOAD];
	uint64_t line = a->address >> c->line_bits, page = a->address >> c->page_bits;
	uint32_t set = gus_sets_set(&l->sets, line), slot = set * l->sets.ways + l->sets.last[set];
	uint32_t tlb_set = gus_sets_set(tlb, page);
	struct line *kept = &l->lines[slot];

	if (l->sets.tags[slot] != line + 1 || tlb->tags[tlb_set * tlb->ways + tlb->last[tlb_set]] != page + 1 ||
	    kept->ready > a->now || kept->unused || c->huge.n || l->sets.policy > GUS_REPLACE_TREE_PLRU ||
	    (a->address + a->bytes - (a->bytes != 0)) >> c->line_bits != line)
		return false;
	c->total.dtlb.accesses++;
	c->total.dtlb.hits++;
	c->total.level[0].accesses[GUS_CACHE_DEMAND]++;
	c->total.level[0].hits[GUS_CACHE_DEMAND]++;
	kept->dirty |= a->store;
	return true;
}

void gus_cache_access(struct gus_cache *c, const struct gus_cache_access *a, struct gus_cache_answer *answer)
{
	uint64_t first = a->address >> c->line_bits;
	uint64_t last = (a->address + (a->bytes ? a->bytes - 1 : 0)) >> c->line_bits;

	c->total.requests++;
	c->first = first;
	if (access_again(c, a)) {
		*answer = (struct gus_cache_answer){ .level = GUS_HIT_L1, .tlb = GUS_TLB_HIT };
	} else {
		answer->beside = answer->beside_if_warm = (struct gus_op_beside){ 0 };
		translate(c, a->address, a->store, answer);
		access_line(c, first, a, answer);
		if (__builtin_expect(last > first, 0))
			access_rest(c, first, last, a, answer);
	}
	if (c->strides && !a->store)
		follow_stride(c, a);
	if (c->asked_l2 && c->config.l2_next_line && c->level[1].lines)
		prefetch_l2(c, a->now);
	c->asked_l2 = 0;
	if (__builtin_expect(c->brought, 0)) {
		answer->beside = c->beside;
		answer->beside_if_warm = c->beside_if_warm;
		bring_nothing(c);
	}
}

void gus_cache_code_line(struct gus_cache *c, uint64_t address, uint64_t now, struct gus_cache_answer *answer)
{
	struct found f = look(c, 1, address >> c->line_bits, GUS_CACHE_CODE, now);

	*answer = (struct gus_cache_answer){ .level = (uint8_t)f.level, .level_if_warm = (uint8_t)f.if_warm,
		.wait = (uint32_t)(f.ready - now), .wait_if_warm = (uint32_t)(f.ready_if_warm - now) };
	if (c->asked_l2 && c->config.l2_next_line && c->level[1].lines)
		prefetch_l2(c, now);
	c->asked_l2 = 0;
	bring_nothing(c);
}

void gus_cache_code_page(struct gus_cache *c, uint64_t address, struct gus_cache_answer *answer)
{
	*answer = (struct gus_cache_answer){ 0 };
	second_tlb(c, page_key(c, address), &c->total.stlb_code, answer);
}
