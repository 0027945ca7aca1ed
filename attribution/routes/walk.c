/* SPDX-License-Identifier: MIT */
/* Two walks behind one source. Of stacks there are routes, and the walk goes through one after the other. Of samples
 * there are blocks and edges, and the walk goes from block to block, a turn in each function.
 *
 * Neither throws dice. What comes next is what has to, for all to be in proportion: the shares are then off by some
 * steps, however many there were, and by chance they would be off by the square root of that many. There are two rules:
 *  - Among routes or functions: the n-th choice is the one in whose part of [0, 1) the fraction of n times the golden
 *    ratio lies. These fractions fill the interval most evenly, whatever n is (Knuth, TAOCP 3, section 6.4), and
 *    neighbours of the sequence lie apart, so that a frequent route comes in between the others and not in a run.
 *  - Among the ways out of a block: the edge that is furthest behind its share of the block's visits.
 * Both depend on the counts alone, so that each start gives the same steps. */
#include "attribution/routes/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/code/growing.h"
#include "model/code/program.h"
#include "model/oracles/oracle.h"
#include "model/tables/uarch.h"
#include "proto/trace.h"

#define NONE GUS_ROUTES_NONE
#define GOLDEN 0x9e3779b97f4a7c15u /* 2^64 by the golden ratio */
#define TURN 1024                  /* instructions of a function before the walk goes on in another */
#define RUN 16384                  /* steps that are written at a time */
#define LOST 65536                 /* blocks outside of the region before the walk begins at its entry again */

/* What can be chosen: routes, or functions to walk in, with the block where they are entered. sum: weights up to this
 * one's, as parts of 2^64. */
struct choice { uint32_t what, entry; uint64_t sum; };

/* The way of the walk out of a block. */
struct way { uint32_t first, n; uint64_t visits; };

struct gus_walk {
	const struct gus_routes *r;
	struct gus_walk_options o;
	struct gus_growing *growing;
	struct gus_growing_block *blocks;       /* by block */
	struct gus_rates *rates;
	bool *inside;                           /* the region, by block */
	struct gus_vec(struct choice) choices;
	/* Where it is. */
	uint64_t chosen, executed;
	uint32_t block, op, ops_n, taken;       /* the block that is being executed; ops of it that are done */
	bool take;
	uint32_t route, step;                   /* of stacks */
	struct way *ways;                       /* of samples: by block */
	uint64_t *given;                        /* by edge */
	uint32_t *resume;                       /* by choice: the next block */
	uint32_t function, next;                /* which choice; the next block */
	uint64_t turn;                          /* executed, when this one ends */
};

/* The choice. */

static uint32_t choose(struct gus_walk *p)
{
	uint64_t at = ++p->chosen * GOLDEN;
	size_t low = 0, high = p->choices.n - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->choices.v[middle].sum < at)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* Turns weights, kept in `weights`, to sums. The last one ends at 2^64 - 1. */
static void sum_choices(struct gus_walk *p, const double *weights)
{
	double all = 0, sum = 0;

	for (size_t i = 0; i < p->choices.n; i++)
		all += weights[i];
	for (size_t i = 0; i < p->choices.n; i++) {
		double part = (sum += weights[i]) / all;

		p->choices.v[i].sum = i + 1 == p->choices.n || part >= 1 ? UINT64_MAX : (uint64_t)(part * 0x1p64);
	}
}

/* Blocks. */

static void execute(struct gus_walk *p, uint32_t block, bool take)
{
	const struct gus_growing_block *b = &p->blocks[block];

	p->block = block;
	p->op = 0;
	p->ops_n = b->ops_n;
	p->take = take;
	p->executed += p->r->blocks.v[block].insns;
}

/* The next block of a route that is in the region, and whether its branch is taken: it is at a route's end, where the
 * next branch of the stack led elsewhere, and where what comes next is not what lies behind. */
static bool next_of_routes(struct gus_walk *p)
{
	for (;;) {
		const struct gus_route *route = p->route == NONE ? NULL : &p->r->routes.v[p->route];
		const uint32_t *steps;
		uint32_t block;

		if (!route || p->step == route->steps_n) {
			p->route = p->choices.v[choose(p)].what;
			p->step = 0;
			continue;
		}
		steps = p->r->steps.v + route->step;
		block = steps[p->step++];
		if (!p->inside[block])
			continue;
		execute(p, block, p->step == route->steps_n || steps[p->step] != p->r->blocks.v[block].behind);
		return true;
	}
}

/* The edge that is furthest behind its share. NONE if there is none. */
static uint32_t next_edge(struct gus_walk *p, uint32_t block)
{
	struct way *way = &p->ways[block];
	const struct gus_route_edge *edges = p->r->edges.v + way->first;
	uint32_t best = NONE;
	double all = 0, most = 0;

	for (uint32_t i = 0; i < way->n; i++)
		all += edges[i].count;
	way->visits++;
	for (uint32_t i = 0; i < way->n; i++) {
		double share = all > 0 ? edges[i].count / all : 0;
		double behind = share * (double)way->visits - (double)p->given[way->first + i];

		if (best == NONE || behind > most) {
			best = i;
			most = behind;
		}
	}
	if (best == NONE)
		return NONE;
	p->given[way->first + best]++;
	return way->first + best;
}

static bool next_of_walk(struct gus_walk *p)
{
	for (unsigned lost = 0;; lost++) {
		uint32_t block, edge;

		if (p->function == NONE || p->executed >= p->turn) {
			if (p->function != NONE)
				p->resume[p->function] = p->next;
			p->function = choose(p);
			p->next = p->resume[p->function];
			p->turn = p->executed + TURN;
		}
		if (p->next == NONE || lost > LOST) {
			p->next = p->choices.v[p->function].entry;
			lost = 0;
		}
		block = p->next;
		edge = next_edge(p, block);
		p->next = edge == NONE ? NONE : p->r->edges.v[edge].to;
		if (!p->inside[block])
			continue;
		execute(p, block, edge == NONE || p->r->edges.v[edge].taken);
		return true;
	}
}

static bool next(void *context, struct gus_core_step *step)
{
	struct gus_walk *p = context;
	const struct gus_growing_block *b;
	bool branch, taken;

	while (p->op == p->ops_n) {
		if (p->executed >= p->o.instructions)
			return false;
		(p->r->source == GUS_ROUTES_STACKS ? next_of_routes : next_of_walk)(p);
	}
	b = &p->blocks[p->block];
	branch = p->op + 1 == p->ops_n && (gus_walk_program(p)->ops[b->op + p->op].flags & GUS_OP_BRANCH);
	taken = branch && p->take;
	*step = (struct gus_core_step){ .op = taken ? b->taken : b->op + p->op, .taken = taken };
	p->op++;
	return true;
}

/* Making. */

static void add_blocks(struct gus_walk *p, const struct gus_uarch *u)
{
	const struct gus_routes *r = p->r;

	p->growing = gus_growing_new(u);
	p->blocks = gus_resize(NULL, r->blocks.n + 1, sizeof(*p->blocks));
	for (uint32_t i = 0; i < r->blocks.n; i++) {
		const struct gus_route_block *b = &r->blocks.v[i];

		p->blocks[i] = gus_growing_add(p->growing, r->code.v + b->code, r->lengths.v + b->lengths, b->size,
					       b->address);
	}
}

/* Of what is noted only for taken branches nothing is known about those that fall through. */
static void set_rates(struct gus_walk *p)
{
	const struct gus_program *program = gus_walk_program(p);

	gus_rates_free(p->rates);
	p->rates = gus_rates_new(program->memories_n, program->ops_n);
	for (uint32_t i = 0; i < p->r->blocks.n; i++) {
		const struct gus_route_block *b = &p->r->blocks.v[i];
		struct gus_rates_branch rate = { b->told, b->mispredicted };

		/* Of an op that exists and counts of a recording nothing can be wrong. */
		if (b->told)
			gus_rates_set_branch(p->rates, p->blocks[i].taken, &rate, NULL);
	}
}

static void find_inside(struct gus_walk *p)
{
	p->inside = gus_zalloc((p->r->blocks.n + 1) * sizeof(*p->inside));
	for (uint32_t i = 0; i < p->r->blocks.n; i++) {
		uint32_t at = p->r->blocks.v[i].region;

		while (at != NONE && at != p->o.region)
			at = p->r->regions.v[at].outer;
		p->inside[i] = p->o.region == NONE || at == p->o.region;
	}
}

/* Routes with something in the region. */
static void choose_routes(struct gus_walk *p)
{
	double *weights = gus_resize(NULL, p->r->routes.n + 1, sizeof(*weights));

	for (uint32_t i = 0; i < p->r->routes.n; i++) {
		const struct gus_route *route = &p->r->routes.v[i];
		bool any = false;

		for (uint32_t k = 0; k < route->steps_n && !any; k++)
			any = p->inside[p->r->steps.v[route->step + k]];
		if (!any)
			continue;
		weights[p->choices.n] = (double)route->count;
		gus_vec_push(&p->choices, (struct choice){ .what = i });
	}
	sum_choices(p, weights);
	free(weights);
}

/* The block where a region is entered. */
static uint32_t entry_of(const struct gus_walk *p, uint32_t region)
{
	const struct gus_route_region *g = &p->r->regions.v[region];
	uint32_t any = NONE;

	for (uint32_t i = 0; i < p->r->blocks.n; i++) {
		const struct gus_route_block *b = &p->r->blocks.v[i];
		uint32_t at = b->region;

		while (at != NONE && at != region)
			at = p->r->regions.v[at].outer;
		if (at != region)
			continue;
		if (b->offset == g->offset)
			return i;
		any = any == NONE ? i : any;
	}
	return any;
}

/* The region, or all functions. */
static void choose_functions(struct gus_walk *p)
{
	const struct gus_routes *r = p->r;
	double *weights = gus_resize(NULL, r->regions.n + 1, sizeof(*weights));

	for (uint32_t i = 0; i < r->regions.n; i++) {
		const struct gus_route_region *g = &r->regions.v[i];

		if ((p->o.region == NONE ? g->outer != NONE : i != p->o.region) || !(g->instructions > 0))
			continue;
		weights[p->choices.n] = g->instructions;
		gus_vec_push(&p->choices, (struct choice){ .what = i, .entry = entry_of(p, i) });
	}
	sum_choices(p, weights);
	free(weights);
	p->ways = gus_zalloc((r->blocks.n + 1) * sizeof(*p->ways));
	p->given = gus_zalloc((r->edges.n + 1) * sizeof(*p->given));
	p->resume = gus_resize(NULL, p->choices.n + 1, sizeof(*p->resume));
	for (uint32_t i = 0; i < r->edges.n; i++) {
		uint32_t from = r->edges.v[i].from;

		if (from != NONE && !p->ways[from].n++)
			p->ways[from].first = i;
	}
}

struct gus_walk *gus_walk_new(const struct gus_routes *r, const struct gus_uarch *u,
				  const struct gus_walk_options *o, struct gus_error *err)
{
	struct gus_walk *p;

	if (u->isa != r->isa) {
		gus_fail(err, GUS_E_USAGE, "the code of the recording is not of the ISA of %s; take a table of its own "
			 "with --uarch", u->name);
		return NULL;
	}
	p = gus_zalloc(sizeof(*p));
	p->r = r;
	p->o = *o;
	add_blocks(p, u);
	find_inside(p);
	if (r->source == GUS_ROUTES_STACKS)
		choose_routes(p);
	else
		choose_functions(p);
	if (p->choices.n)
		return p;
	gus_fail(err, GUS_E_NOT_FOUND, "nothing was executed there");
	gus_walk_free(p);
	return NULL;
}

void gus_walk_free(struct gus_walk *p)
{
	if (!p)
		return;
	gus_growing_free(p->growing);
	gus_rates_free(p->rates);
	gus_vec_free(&p->choices);
	free(p->blocks);
	free(p->inside);
	free(p->ways);
	free(p->given);
	free(p->resume);
	free(p);
}

const struct gus_program *gus_walk_program(const struct gus_walk *p)
{
	return gus_growing_program(p->growing);
}

void gus_walk_start(struct gus_walk *p, struct gus_core_source *source, struct gus_core_branch *branch)
{
	set_rates(p);
	p->chosen = p->executed = p->turn = 0;
	p->op = p->ops_n = 0;
	p->route = p->function = p->next = NONE;
	if (p->ways) {
		for (size_t i = 0; i < p->r->blocks.n; i++)
			p->ways[i].visits = 0;
		memset(p->given, 0, p->r->edges.n * sizeof(*p->given));
		for (size_t i = 0; i < p->choices.n; i++)
			p->resume[i] = NONE;
	}
	*source = (struct gus_core_source){ p, next };
	*branch = gus_oracle_branch_of_rates(p->rates);
}

uint64_t gus_walk_base(uint32_t module)
{
	return ((uint64_t)module + 1) << 40;
}

static int write_blocks(const struct gus_walk *p, struct gus_trace_writer *w, struct gus_error *err)
{
	for (uint32_t i = 0; i < p->r->blocks.n; i++) {
		const struct gus_route_block *b = &p->r->blocks.v[i];
		struct gus_trace_block block = { .address = gus_walk_base(b->module) + b->offset,
						 .lengths = p->r->lengths.v + b->lengths,
						 .bytes = p->r->code.v + b->code, .insns = b->insns, .size = b->size };
		uint32_t number;

		if (gus_trace_writer_block(w, &block, &number, err) != 0)
			return -1;
		if (number != i)
			return gus_fail(err, GUS_E_UNSUPPORTED, "two blocks at offset %llx of a module are one: "
					"symbols that lie within each other are not handled here",
					(unsigned long long)b->offset);
	}
	return 0;
}

int gus_walk_write(struct gus_walk *p, struct gus_trace_writer *w, struct gus_error *err)
{
	struct gus_trace_raw *raw = gus_resize(NULL, RUN, sizeof(*raw));
	struct gus_trace_run run = { .steps = raw, .last = GUS_TRACE_NEXT_TAKEN };
	struct gus_core_source source;
	struct gus_core_branch branch;
	int rc = write_blocks(p, w, err);

	gus_walk_start(p, &source, &branch);
	while (rc == 0 && p->executed < p->o.instructions) {
		run.at = p->executed;
		for (run.n = 0; run.n < RUN && p->executed < p->o.instructions; run.n++) {
			(p->r->source == GUS_ROUTES_STACKS ? next_of_routes : next_of_walk)(p);
			raw[run.n] = (struct gus_trace_raw){ p->block, 0 };
		}
		run.last = p->take ? GUS_TRACE_NEXT_TAKEN : GUS_TRACE_NEXT_FALLS;
		if (p->executed >= p->o.instructions)
			run.last = GUS_TRACE_NEXT_UNKNOWN;
		rc = gus_trace_writer_steps(w, &run, err);
	}
	free(raw);
	return rc;
}

bool gus_walk_mispredicted(void *replay, uint32_t block, bool taken)
{
	struct gus_walk *p = replay;
	const struct gus_growing_block *b = &p->blocks[block];

	return gus_rates_mispredicted(p->rates, taken ? b->taken : b->op + b->ops_n - 1);
}
