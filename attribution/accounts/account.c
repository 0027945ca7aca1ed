/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/account.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/proportional/groups.h"
#include "attribution/statistics/rounding.h"
#include "attribution/traced/traced.h"
#include "base/index.h"
#include "model/code/program.h"
#include "proto/psv.h"
#include "symbolizer/insn/loops.h"

/* Samples of time at sites, by thread. */
struct there { uint32_t thread, site, time; };

struct work {
	struct gus_account *a;
	const struct gus_clues *clues;
	const struct gus_groups *groups;
	struct gus_vec(struct there) there;
	struct gus_vec(struct gus_clue_place) places;   /* of the account's, what they are in the traces */
	/* By site two: its own, and of a fused pair that of the branch. GUS_CLUE_NONE: none yet. */
	uint32_t *place_of;
	struct gus_vec(enum gus_account_cause) doubts;  /* by site: why the model knows nothing of it */
	/* By site: an execution has missed; one has whose window knew what was before it; it stores to lines that are
	 * far away, for which no event is told. */
	bool *misses, *stalls, *stores;
};

static void put(struct work *w, const struct gus_account_cell *cell)
{
	if (cell->weight)
		gus_vec_push(&w->a->cells, *cell);
}

/* What no trace has executed, and what no rule leads on from. */
static void leave(struct work *w, const struct gus_clue_time *t)
{
	put(w, &(struct gus_account_cell){ .place = t->place, .thread = t->thread, .what = t->what, .weight = t->weight,
			.evidence = t->what.unknown ? GUS_UNKNOWN : GUS_OBSERVED });
}

static uint32_t site_of(const struct work *w, const struct gus_clue_time *t)
{
	uint64_t address = w->places.v[t->place].address;

	return address && w->groups && w->clues->sight.known ? gus_groups_site(w->groups, address) : UINT32_MAX;
}

static int by_thread(const void *a, const void *b)
{
	const struct there *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

/* What there is of each time: it is at a site, or it stays. What weighs nothing has no part in anything: a file may say
 * so of its samples, and of what goes beyond GUS_LIMIT_SUM nothing is counted. */
static void take_time(struct work *w)
{
	for (uint32_t i = 0; i < w->clues->time.n; i++) {
		const struct gus_clue_time *t = &w->clues->time.v[i];
		uint32_t site = site_of(w, t);

		w->a->weight += t->weight;
		gus_vec_push(&w->a->seen, (struct gus_account_seen){ t->place, t->thread, t->weight });
		if (site == UINT32_MAX || !t->weight) {
			leave(w, t);
			continue;
		}
		gus_vec_push(&w->there, (struct there){ t->thread, site, i });
		w->a->explained += t->weight;
	}
	if (w->there.n)
		qsort(w->there.v, w->there.n, sizeof(*w->there.v), by_thread);
}

/* What is known of executions: branch stacks are of the samples themselves, so they come first; else samples of
 * executions; else the model tells. */
static enum gus_solution_executions executions_of(const struct gus_clues *c)
{
	if (c->seen.stacks)
		return GUS_SOLUTION_BY_STACKS;
	if (!c->seen.executed)
		return GUS_SOLUTION_BY_MODEL;
	return c->executions == GUS_SAMPLER_OPS ? GUS_SOLUTION_BY_OPS : GUS_SOLUTION_BY_INSNS;
}

/* Of what executions met, samples of all of them tell most; else those of loads, of loads. */
static void give_met(const struct gus_clues *c, struct gus_solution_given *g)
{
	g->met_by_ops = c->executions == GUS_SAMPLER_OPS && c->seen.executed;
	g->met = g->met_by_ops ? &c->seen : c->loads.executed ? &c->loads : NULL;
}

/* Places that the model alone knows of. */

#define NO_FILE "//anon" /* as the kernel calls it */

static uint32_t module_of(const struct work *w, const char *path)
{
	struct gus_space *space = w->clues->profile.space;

	for (uint32_t i = 0; path && i < gus_space_modules(space); i++)
		if (gus_space_module(space, i)->kind == GUS_MODULE_FILE &&
		    strcmp(gus_space_module(space, i)->path, path) == 0)
			return i;
	return GUS_CLUE_NONE;
}

/* Of an instruction of the traces, at its site. */
static uint32_t *slot_of(struct work *w, uint32_t insn, uint32_t site)
{
	const struct gus_program *p = w->clues->traced->program;

	return &w->place_of[2 * (size_t)site + (p->ops[p->insns[insn].op].insn != insn)];
}

/* Of a block of no file: an instruction of it that was seen, as memory is called what the space calls it. NULL: none
 * was. */
static const struct gus_clue_place *seen_in(const struct work *w, uint32_t block)
{
	for (size_t i = 0; i < w->clues->places.n; i++)
		if (w->clues->places.v[i].block == block)
			return &w->clues->places.v[i];
	return NULL;
}

static void add_place(struct work *w, uint32_t block, uint32_t k, uint32_t site, const struct gus_clue_place *beside)
{
	const struct gus_traced *t = w->clues->traced;
	const struct gus_traced_block *b = &t->blocks.v[block];
	uint64_t at = t->program->insns[b->insn + k].offset;
	struct gus_clue_place new = { .insn = b->insn + k, .block = block, .traced_at = at,
		.address = gus_groups_counts(w->groups)->sites.v[site].address };

	if (b->module) {
		new.module = b->module;
		new.offset = b->offset + (at - b->address);
		new.place.module = module_of(w, b->module);
	} else {
		new.module = beside ? beside->module : NO_FILE;
		new.offset = beside ? beside->offset + (at - beside->traced_at) : at;
		new.place.module = beside ? beside->place.module : GUS_CLUE_NONE;
	}
	new.place.offset = new.offset;
	*slot_of(w, b->insn + k, site) = (uint32_t)w->places.n;
	gus_vec_push(&w->places, new);
}

/* By site, where it is: seen, or at least executed. */
static void find_places(struct work *w)
{
	const struct gus_traced *t = w->clues->traced;
	const struct gus_groups_counts *c = gus_groups_counts(w->groups);
	const struct gus_program *program = t->program;

	for (size_t i = 0; i < 2 * c->sites.n; i++)
		w->place_of[i] = GUS_CLUE_NONE;
	for (uint32_t i = 0; i < w->clues->places.n; i++) {
		const struct gus_clue_place *p = &w->places.v[i];
		uint32_t site = p->address ? gus_groups_site(w->groups, p->address) : UINT32_MAX;

		if (site != UINT32_MAX && *slot_of(w, p->insn, site) == GUS_CLUE_NONE)
			*slot_of(w, p->insn, site) = i;
	}
	for (uint32_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		const struct gus_clue_place *beside = b->executed && !b->module ? seen_in(w, i) : NULL;

		for (uint32_t k = 0; b->executed && k < b->insns_n; k++) {
			uint32_t first = program->ops[program->insns[b->insn + k].op].insn;
			uint32_t site = gus_groups_site(w->groups, program->insns[first].offset);

			if (site != UINT32_MAX && *slot_of(w, b->insn + k, site) == GUS_CLUE_NONE)
				add_place(w, i, k, site, beside);
		}
	}
}

/* Of a fused pair it is the branch that is mispredicted, and else the first that has the time of both. Code that one
 * run of the traces has executed and the other has not has its address and nothing else. */
static uint32_t place_at(struct work *w, uint32_t site, uint16_t psv)
{
	uint64_t address = gus_groups_counts(w->groups)->sites.v[site].address;
	uint32_t *own = &w->place_of[2 * (size_t)site];

	if (psv & GUS_PSV_FL_MB && own[1] != GUS_CLUE_NONE)
		return own[1];
	if (*own == GUS_CLUE_NONE) {
		*own = (uint32_t)w->places.n;
		gus_vec_push(&w->places, (struct gus_clue_place){ .place = { GUS_CLUE_NONE, address },
			     .module = NO_FILE, .offset = address, .insn = GUS_CLUE_NONE, .block = GUS_CLUE_NONE,
			     .address = address });
	}
	return *own;
}

void gus_account_doubt(struct gus_groups *groups, const struct gus_traced *traced)
{
	for (uint32_t i = 0; i < traced->blocks.n; i++) {
		const struct gus_traced_block *b = &traced->blocks.v[i];

		for (uint32_t k = 0; gus_traced_block_shares(b) && k < b->insns_n; k++) {
			uint32_t site = gus_groups_site(groups, traced->program->insns[b->insn + k].offset);

			if (site != UINT32_MAX)
				gus_groups_doubt(groups, site);
		}
	}
}

/* Misses of loads. */
enum { STALLS = GUS_PSV_ST_L1 | GUS_PSV_ST_TLB | GUS_PSV_ST_LLC };
/* Of an instruction's time, that its model waits for misses: less than this is no matter. */
static const double LITTLE = 0.05;

/* How many lines it goes to, one behind the other; 0: it does not. */
static uint64_t streams(const struct gus_traced *t, uint32_t insn)
{
	const struct gus_op *op = &t->program->ops[t->program->insns[insn].op];
	uint64_t lines = 0;

	for (uint32_t i = op->memory; i < op->memory + op->memories_n; i++)
		lines += gus_traced_memory_streams(&t->memories.v[i]) ? t->memories.v[i].moves : 0;
	return lines;
}

/* Of its stores one in ten is to a line that the window had not touched before, or beyond L1. */
static bool stores_far(const struct gus_traced *t, uint32_t insn)
{
	const struct gus_op *op = &t->program->ops[t->program->insns[insn].op];

	for (uint32_t i = op->memory; i < op->memory + op->memories_n; i++) {
		const struct gus_traced_memory *m = &t->memories.v[i];
		uint64_t far = m->first[GUS_HIT_L1];

		for (unsigned level = GUS_HIT_L1 + 1; level < GUS_HITS; level++)
			far += m->hits[level];
		if (t->program->memories[i].store && far > m->accesses / 10)
			return true;
	}
	return false;
}

/* Of so many lines one is missed, or more: less is of the first pass over what is in L1 afterwards. */
enum { MISSES_EVERY = 4 };

static void find_streams(struct work *w)
{
	const struct gus_groups_counts *c = gus_groups_counts(w->groups);
	const struct gus_traced *t = w->clues->traced;
	const struct gus_replicates *r = &w->a->solution.replicates;
	double *all = gus_zalloc(w->doubts.n * sizeof(*all)), *stalled = gus_zalloc(w->doubts.n * sizeof(*all));
	uint64_t *missed = gus_zalloc(w->doubts.n * sizeof(*missed));

	for (size_t i = 0; i < r->cells.n; i++) {
		all[r->cells.v[i].site] += r->cells.v[i].share;
		stalled[r->cells.v[i].site] += r->cells.v[i].psv & STALLS ? r->cells.v[i].share : 0;
	}
	for (size_t i = 0; i < c->met.n; i++)
		missed[c->met.v[i].site] += c->met.v[i].psv & STALLS ? c->met.v[i].times : 0;
	for (uint32_t i = 0; i < t->program->insns_n; i++) {
		uint64_t lines = streams(t, i);
		uint32_t site = lines ? gus_groups_site(w->groups, t->program->insns[i].offset) : UINT32_MAX;

		if (site != UINT32_MAX && stalled[site] > LITTLE * all[site] && missed[site] > lines / MISSES_EVERY)
			w->doubts.v[site] = GUS_CAUSE_STREAMS;
	}
	free(missed);
	free(all);
	free(stalled);
}

/* Streams, then what is about lines that threads share, which is more to say. */
static void find_doubts(struct work *w)
{
	const struct gus_traced *t = w->clues->traced;
	const struct gus_groups_counts *c = gus_groups_counts(w->groups);

	for (size_t i = 0; i < c->sites.n; i++)
		gus_vec_push(&w->doubts, GUS_CAUSE_NONE);
	find_streams(w);
	for (size_t i = 0; i < c->sites.n; i++)
		if (c->sites.v[i].doubted)
			w->doubts.v[i] = GUS_CAUSE_SHARES;
	w->misses = gus_zalloc(c->sites.n * sizeof(*w->misses));
	w->stalls = gus_zalloc(c->sites.n * sizeof(*w->stalls));
	w->stores = gus_zalloc(c->sites.n * sizeof(*w->stores));
	for (uint32_t i = 0; i < t->program->insns_n; i++) {
		uint32_t site = stores_far(t, i) ? gus_groups_site(w->groups, t->program->insns[i].offset) : UINT32_MAX;

		if (site != UINT32_MAX)
			w->stores[site] = true;
	}
	for (size_t i = 0; i < c->met.n; i++) {
		w->misses[c->met.v[i].site] |= c->met.v[i].times && c->met.v[i].psv & STALLS;
		w->stalls[c->met.v[i].site] |= c->met.v[i].assured && c->met.v[i].psv & STALLS;
	}
}

/* What the model knows nothing of: what other threads do to a line, how soon a prefetcher has one, how much a string
 * instruction that repeats has still to move, or a store that misses has to wait, if that is all that can be said of
 * it; and misses that there are only if nothing was in the caches before the window. */
static bool is_blind(const struct work *w, uint32_t site, uint16_t psv)
{
	if (gus_met_knows(&w->a->solution.met, site))
		return false;
	return w->doubts.v[site] != GUS_CAUSE_NONE || (psv & STALLS && !w->stalls[site]) ||
		(!psv && (gus_groups_counts(w->groups)->sites.v[site].repeats || w->stores[site]));
}

/* A locked instruction waits until the store queue is empty, so that it found the queue full is no more than that
 * others were before it: what is waited for is the lock. */
static uint16_t events_of(const struct work *w, uint32_t site, uint16_t psv)
{
	return gus_groups_counts(w->groups)->sites.v[site].locks && psv == GUS_PSV_DR_SQ ? 0 : psv & GUS_PSV_ALL;
}

/* The parts of a thread's time, as whole numbers: cells of the solution from the first on. */
static void put_shares(struct work *w, size_t first, size_t n, uint64_t whole)
{
	const struct gus_solution *e = &w->a->solution;
	uint64_t *weights = gus_zalloc(n * sizeof(*weights));
	double *shares = gus_zalloc(n * sizeof(*shares));

	for (size_t i = 0; i < n; i++)
		shares[i] = e->replicates.cells.v[first + i].share;
	gus_rounding_make(shares, n, whole, weights);
	for (size_t i = 0; i < n; i++) {
		const struct gus_replicates_cell *c = &e->replicates.cells.v[first + i];
		bool blind = is_blind(w, c->site, c->psv);

		put(w, &(struct gus_account_cell){ .place = place_at(w, c->site, c->psv), .thread = c->who,
				.what = { .events = blind ? 0 : events_of(w, c->site, c->psv), .unknown = blind },
				.moved = true, .weight = weights[i], .told = (uint32_t)(first + i),
				.evidence = blind ? GUS_UNKNOWN : gus_met_knows(&e->met, c->site) ? GUS_INFERRED :
					GUS_MODELLED });
	}
	free(shares);
	free(weights);
}

/* What is at sites of which no cycle would be seen stays as well. */
static void leave_unseen(struct work *w)
{
	const struct gus_solution *e = &w->a->solution;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < w->there.n; i++) {
		const struct gus_clue_time *t = &w->clues->time.v[w->there.v[i].time];

		if (at == e->left.n || e->left.v[at] != i) {
			w->there.v[n++] = w->there.v[i];
			continue;
		}
		w->a->explained -= t->weight;
		leave(w, t);
		at++;
	}
	w->there.n = n;
}

/* Whose the time of each thread is. Threads are in the same order in both. */
static void share_threads(struct work *w)
{
	const struct gus_replicates *r = &w->a->solution.replicates;
	size_t first = 0, n;

	for (size_t i = 0; i < w->there.n;) {
		uint32_t thread = w->there.v[i].thread;
		uint64_t whole = 0;

		for (; i < w->there.n && w->there.v[i].thread == thread; i++)
			whole += w->clues->time.v[w->there.v[i].time].weight;
		for (n = 0; first + n < r->cells.n && r->cells.v[first + n].who == thread; n++)
			;
		assert(n > 0);
		put_shares(w, first, n, whole);
		first += n;
	}
}

/* Whether it was seen at the second of two instructions that are one op. */
static bool is_second(const struct gus_clues *c, const struct gus_clue_time *t)
{
	const struct gus_program *p = c->traced->program;
	uint32_t insn = c->places.v[t->place].insn;

	return p->ops[p->insns[insn].op].insn != insn;
}

static void explain(struct work *w, unsigned width)
{
	const struct gus_clues *c = w->clues;
	struct gus_solution_slice slices[GUS_REPLICATES_SLICES];
	struct gus_solution_given given = { .groups = w->groups, .width = width, .sight = c->sight.sight,
		.behind = c->seen.stacks > 0 && c->sight.sight == GUS_SPREAD_NEXT, .early = c->sight.early,
		.runs = c->sight.runs, .nominal = c->nominal,
		.heed = c->heed, .samples = (double)c->samples, .executions = executions_of(c), .seen = &c->seen,
		.slices = slices, .slices_n = GUS_REPLICATES_SLICES, .ipc = c->ipc };
	struct gus_replicates_parts time = { 0 };

	for (uint32_t i = 0; i < GUS_REPLICATES_SLICES; i++)
		slices[i] = (struct gus_solution_slice){ &c->slices[i], i };
	for (size_t i = 0; i < w->there.n; i++) {
		const struct gus_clue_time *t = &c->time.v[w->there.v[i].time];

		gus_vec_push(&time, (struct gus_replicates_part){ { w->there.v[i].site, t->behind, (double)t->weight /
			     (double)w->a->weight, is_second(c, t) }, t->slice, w->there.v[i].thread });
	}
	given.time = time.v;
	given.time_n = time.n;
	give_met(c, &given);
	gus_solution_make(&w->a->solution, &given, true);
	leave_unseen(w);
	find_places(w);
	find_doubts(w);
	share_threads(w);
	gus_vec_free(&time);
}

/* What the traces say of places. */

static void tell_code(const struct gus_traced_block *b, struct gus_account_place *to)
{
	uint64_t within = to->address - b->address;

	if (!b->bytes || within >= b->size)
		return;
	to->size = (uint8_t)(b->size - within < sizeof(to->code) ? b->size - within : sizeof(to->code));
	memcpy(to->code, b->bytes + within, to->size);
}

static void tell_region(const struct gus_traced *t, const struct gus_traced_block *b, struct gus_account_place *to)
{
	const struct gus_traced_region *r = &t->regions.v[b->region];
	const struct gus_traced_function *f = &t->functions.v[r->function];

	to->function = f->name;
	to->start = f->start;
	to->in_loop = r->loop != GUS_TRACED_NONE;
	if (to->in_loop)
		to->head = f->start + f->graph->insns.v[f->graph->loops.v[r->loop].head].offset;
}

static bool may_miss(const struct work *w, uint32_t site)
{
	return w->stores[site] || (w->misses[site] && !w->stalls[site]);
}

static void tell_causes(const struct work *w, struct gus_insn_decoder *decoder, struct gus_account_place *to)
{
	uint32_t site = gus_groups_site(w->groups, to->address);
	const struct gus_insn_info *info = to->size ? gus_insn_decoder_get(decoder, to->code, to->size) : NULL;

	if (site == UINT32_MAX)
		return;
	if (info)
		to->causes = gus_account_causes_of(&gus_groups_counts(w->groups)->sites.v[site], info);
	if (site < w->doubts.n)
		to->causes.unknown = w->doubts.v[site] != GUS_CAUSE_NONE || !may_miss(w, site) ?
			w->doubts.v[site] : GUS_CAUSE_SUPPOSED;
}

static void tell_places(struct work *w)
{
	const struct gus_traced *t = w->clues->traced;
	struct gus_insn_decoder *decoder = t ? gus_insn_decoder_new(t->isa, 0) : NULL;

	w->a->isa = t ? t->isa : GUS_ISA_UNKNOWN;
	for (size_t i = 0; i < w->places.n; i++) {
		const struct gus_clue_place *p = &w->places.v[i];
		const struct gus_traced_block *b = p->block == GUS_CLUE_NONE ? NULL : &t->blocks.v[p->block];
		struct gus_account_place to = { .place = p->place, .module = p->module, .offset = p->offset,
			.executed = b != NULL, .address = p->traced_at };

		if (b) {
			to.block = p->offset - (p->traced_at - b->address);
			tell_code(b, &to);
			tell_region(t, b, &to);
			if (w->groups)
				tell_causes(w, decoder, &to);
		}
		gus_vec_push(&w->a->places, to);
	}
	gus_insn_decoder_free(decoder);
}

/* Order, and sums. */

static int by_place(const void *a, const void *b)
{
	const struct gus_account_cell *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->what.unknown != y->what.unknown)
		return x->what.unknown - y->what.unknown;
	if (x->what.events != y->what.events)
		return x->what.events < y->what.events ? -1 : 1;
	if (x->moved != y->moved)
		return x->moved - y->moved;
	return x->told != y->told ? (x->told < y->told ? -1 : 1) : 0;
}

/* What was seen behind a misprediction and otherwise is one cell. */
static void settle_cells(struct gus_account *a)
{
	size_t n = 0;

	if (a->cells.n)
		qsort(a->cells.v, a->cells.n, sizeof(*a->cells.v), by_place);
	for (size_t i = 0; i < a->cells.n; i++) {
		if (n && by_place(&a->cells.v[n - 1], &a->cells.v[i]) == 0)
			a->cells.v[n - 1].weight += a->cells.v[i].weight;
		else
			a->cells.v[n++] = a->cells.v[i];
	}
	a->cells.n = n;
}

static int by_seen(const void *a, const void *b)
{
	const struct gus_account_seen *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void settle_seen(struct gus_account *a)
{
	size_t n = 0;

	if (a->seen.n)
		qsort(a->seen.v, a->seen.n, sizeof(*a->seen.v), by_seen);
	for (size_t i = 0; i < a->seen.n; i++) {
		if (n && by_seen(&a->seen.v[n - 1], &a->seen.v[i]) == 0)
			a->seen.v[n - 1].weight += a->seen.v[i].weight;
		else
			a->seen.v[n++] = a->seen.v[i];
	}
	a->seen.n = n;
}

/* The identities: no thread's time becomes another's, and all of it is there. */
static void check(const struct gus_account *a)
{
	uint64_t *of = gus_zalloc(a->clues->threads.n * sizeof(*of)), weight = 0;

	for (size_t i = 0; i < a->seen.n; i++)
		of[a->seen.v[i].thread] += a->seen.v[i].weight;
	for (size_t i = 0; i < a->cells.n; i++) {
		assert(a->cells.v[i].weight <= of[a->cells.v[i].thread]);
		of[a->cells.v[i].thread] -= a->cells.v[i].weight;
		weight += a->cells.v[i].weight;
	}
	for (size_t i = 0; i < a->clues->threads.n; i++)
		assert(!of[i]);
	assert(weight == a->weight && weight == a->clues->weight);
	(void)weight;
	free(of);
}

void gus_account_make(struct gus_account *a, const struct gus_clues *clues, const struct gus_groups *groups,
		      unsigned width)
{
	struct work w = { .a = a, .clues = clues, .groups = clues->traced ? groups : NULL };

	*a = (struct gus_account){ .clues = clues };
	gus_strings_init(&a->texts);
	gus_vec_append(&w.places, clues->places.v, clues->places.n);
	if (w.groups)
		w.place_of = gus_zalloc(2 * gus_groups_counts(groups)->sites.n * sizeof(*w.place_of));
	take_time(&w);
	if (a->explained)
		explain(&w, width);
	tell_places(&w);
	settle_cells(a);
	settle_seen(a);
	check(a);
	gus_vec_free(&w.there);
	gus_vec_free(&w.places);
	gus_vec_free(&w.doubts);
	free(w.place_of);
	free(w.misses);
	free(w.stalls);
	free(w.stores);
}

/* The model alone. */

struct modelled { uint32_t site; uint16_t psv; double cycles; };
struct modelled_list gus_vec(struct modelled);

/* Of a cycle that an instruction retires in with others it has its part, and each of its executions is as likely. */
static void list_groups(const struct gus_groups_counts *c, struct modelled_list *out)
{
	double *of = gus_zalloc(c->sites.n * sizeof(*of));

	for (size_t i = 0; i < c->groups.n; i++) {
		const struct gus_groups_group *g = &c->groups.v[i];
		double weights = 0;

		for (uint32_t k = 0; k < g->n; k++)
			weights += c->sites.v[c->members.v[g->first + k]].weight;
		for (uint32_t k = 0; k < g->n; k++) {
			uint32_t site = c->members.v[g->first + k];

			of[site] += (double)g->times * c->sites.v[site].weight / weights;
		}
	}
	for (size_t i = 0; i < c->met.n; i++) {
		const struct gus_groups_met *m = &c->met.v[i];

		gus_vec_push(out, (struct modelled){ m->site, m->psv, of[m->site] * (double)m->times /
			     (double)c->sites.v[m->site].executed });
	}
	free(of);
}

struct gus_clues gus_clues_of_model(const struct gus_clues *clues)
{
	struct gus_clues of_model = *clues;

	of_model.samples = UINT32_MAX;
	return of_model;
}

void gus_account_of_model(struct gus_account *m, struct gus_clues *clues, const struct gus_account *a,
			  const struct gus_groups *groups)
{
	const struct gus_groups_counts *c = gus_groups_counts(groups);
	struct work w = { .a = m, .clues = clues, .groups = groups };
	struct modelled_list list = { 0 };
	uint64_t *weights;
	double *shares;

	*clues = gus_clues_of_model(a->clues);
	*m = (struct gus_account){ .clues = clues, .weight = a->explained };
	gus_strings_init(&m->texts);
	gus_vec_append(&w.places, clues->places.v, clues->places.n);
	w.place_of = gus_zalloc(2 * c->sites.n * sizeof(*w.place_of));
	find_places(&w);
	list_groups(c, &list);
	for (size_t i = 0; i < c->waits.n; i++)
		gus_vec_push(&list, (struct modelled){ c->waits.v[i].of, c->waits.v[i].psv,
			     (double)c->waits.v[i].cycles });
	shares = gus_zalloc((list.n + 1) * sizeof(*shares));
	weights = gus_zalloc((list.n + 1) * sizeof(*weights));
	for (size_t i = 0; i < list.n; i++)
		shares[i] = list.v[i].cycles;
	if (list.n)
		gus_rounding_make(shares, list.n, m->weight, weights);
	for (size_t i = 0; i < list.n; i++) {
		uint32_t place = place_at(&w, list.v[i].site, list.v[i].psv);

		put(&w, &(struct gus_account_cell){ .place = place, .what.events = events_of(&w, list.v[i].site,
				list.v[i].psv), .evidence = GUS_MODELLED, .weight = weights[i] });
		if (weights[i])
			gus_vec_push(&m->seen, (struct gus_account_seen){ place, 0, weights[i] });
	}
	tell_places(&w);
	settle_cells(m);
	settle_seen(m);
	gus_vec_free(&list);
	gus_vec_free(&w.places);
	free(shares);
	free(weights);
	free(w.place_of);
}

void gus_account_free(struct gus_account *a)
{
	gus_vec_free(&a->places);
	gus_vec_free(&a->cells);
	gus_vec_free(&a->seen);
	gus_strings_free(&a->texts);
	gus_solution_free(&a->solution);
}
