/* SPDX-License-Identifier: MIT */
/* Routes from plain samples: a count for each block of the functions that were sampled, and the branches that fit these
 * counts. */
#include "attribution/routes/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "symbolizer/insn/loops.h"

#define NONE GUS_ROUTES_NONE
#define FITTINGS 64              /* rounds; after them branches within loops change by less than samples tell */
/* What is sampled never was perhaps executed seldom: so much of a sample a block has anyway, or no way would lead from
 * code that was sampled across a short block that was not. */
#define UNSEEN (1.0 / 64)

struct point { uint64_t offset, weight; uint32_t function; };
struct function_key { uint64_t start; uint32_t module, zero; };

struct samples {
	struct gus_routes *r;
	struct gus_profile *p;
	struct gus_index keys;                  /* struct function_key */
	struct gus_vec(uint64_t) sizes;         /* bytes, by function */
	struct gus_vec(struct point) points;
	double sample;                          /* weight of one, in the mean */
};

/* One function. Its blocks are those from `first` on; its edges, from `edges` on, lead to and from NONE where they
 * leave it. */
struct body {
	struct gus_graph graph;
	uint32_t *block;                        /* of each instruction that begins one */
	uint32_t first, edges;
};

static void collect(struct samples *k)
{
	for (size_t i = 0; i < k->p->cells.n; i++) {
		const struct gus_cell *cell = &k->p->cells.v[i];
		const struct gus_module *module = gus_space_module(k->p->space, cell->place.module);
		struct function_key key = { 0, cell->place.module, 0 };
		struct gus_name names[GUS_NAMES_MAX];
		bool is_new;
		uint32_t number;

		gus_symbols_names(k->p->symbols, module, cell->place.offset, GUS_DEPTH_FUNCTION, names);
		if (!names[0].function || !names[0].size || names[0].size > GUS_LIMIT_FUNCTION)
			continue;
		key.start = names[0].start;
		number = gus_index_add(&k->keys, &key, &is_new);
		if (is_new)
			gus_vec_push(&k->sizes, names[0].size);
		gus_vec_push(&k->points, (struct point){ cell->place.offset, cell->weight, number });
	}
}

static int by_function(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The blocks. */

static bool goes_on(const struct gus_graph_insn *i)
{
	return !i->stops && (!gus_routes_leaves(i->class) || i->class == GUS_INSN_CALL ||
			     i->class == GUS_INSN_CALL_INDIRECT);
}

/* Instructions that begin a block: they are jumped to, or behind a branch. */
static void find_leaders(struct body *b)
{
	const struct gus_graph *g = &b->graph;

	b->block = gus_resize(NULL, g->insns.n + 1, sizeof(*b->block));
	memset(b->block, 0, (g->insns.n + 1) * sizeof(*b->block));
	b->block[0] = 1;
	for (size_t i = 0; i < g->insns.n; i++) {
		if (g->insns.v[i].target != GUS_GRAPH_NONE)
			b->block[g->insns.v[i].target] = 1;
		if (gus_routes_branches(g->insns.v[i].class) || g->insns.v[i].stops)
			b->block[i + 1] = 1;
	}
}

static void add_blocks(struct samples *k, struct body *b, const struct function_key *key, const uint8_t *bytes)
{
	const struct gus_graph *g = &b->graph;
	const struct gus_module *module = gus_space_module(k->p->space, key->module);
	struct gus_routes *r = k->r;

	for (uint32_t i = 0; i < g->insns.n; i++) {
		const struct gus_graph_insn *insn = &g->insns.v[i];
		struct gus_route_block *block;

		if (b->block[i]) {
			struct gus_route_block new = { .module = key->module, .offset = key->start + insn->offset,
				.code = (uint32_t)r->code.n, .lengths = (uint32_t)r->lengths.n, .region = NONE,
				.behind = NONE };

			new.address = gus_symbols_address(k->p->symbols, module, new.offset);
			b->block[i] = (uint32_t)r->blocks.n;
			if (i)
				r->blocks.v[r->blocks.n - 1].behind = b->block[i];
			gus_vec_push(&r->blocks, new);
		} else {
			b->block[i] = NONE;
		}
		block = &r->blocks.v[r->blocks.n - 1];
		gus_vec_append(&r->code, bytes + insn->offset, insn->length);
		gus_vec_push(&r->lengths, insn->length);
		block->size += insn->length;
		block->insns++;
		block->class = insn->class;
	}
}

/* The branches. */

static void add_edge(struct samples *k, uint32_t from, uint32_t to, bool taken)
{
	gus_vec_push(&k->r->edges, (struct gus_route_edge){ .from = from, .to = to, .count = 1, .taken = taken });
}

/* Where an indirect jump may go: to what lies behind a jump, a return or a trap and is led to by nothing else. */
static void find_cases(const struct samples *k, const struct body *b, uint8_t *is_case)
{
	const struct gus_graph *g = &b->graph;

	for (uint32_t i = 1; i < g->insns.n; i++)
		if (b->block[i] != NONE)
			is_case[b->block[i] - b->first] = !goes_on(&g->insns.v[i - 1]);
	for (uint32_t i = 0; i < g->insns.n; i++)
		if (g->insns.v[i].target != GUS_GRAPH_NONE)
			is_case[b->block[g->insns.v[i].target] - b->first] = 0;
	(void)k;
}

/* Calls are passed over: what they do is not in this function. */
static void add_edges_of(struct samples *k, const struct body *b, uint32_t insn, uint32_t block, const uint8_t *is_case)
{
	const struct gus_graph_insn *i = &b->graph.insns.v[insn];
	uint32_t n = (uint32_t)k->r->blocks.n - b->first;
	bool falls = goes_on(i) && insn + 1 < b->graph.insns.n;

	if (falls)
		add_edge(k, block, b->block[insn + 1], i->class == GUS_INSN_CALL || i->class == GUS_INSN_CALL_INDIRECT);
	if (i->target != GUS_GRAPH_NONE && !(falls && b->block[i->target] == b->block[insn + 1]))
		add_edge(k, block, b->block[i->target], true);
	else if (i->target == GUS_GRAPH_NONE && (i->class == GUS_INSN_BRANCH || i->class == GUS_INSN_BRANCH_COND ||
						 i->class == GUS_INSN_RET || i->stops))
		add_edge(k, block, NONE, true);
	if (i->class != GUS_INSN_BRANCH_INDIRECT)
		return;
	add_edge(k, block, NONE, true);
	for (uint32_t c = 0; c < n; c++)
		if (is_case[c])
			add_edge(k, block, b->first + c, true);
}

static void add_edges(struct samples *k, struct body *b)
{
	const struct gus_graph *g = &b->graph;
	uint8_t *is_case = gus_zalloc(k->r->blocks.n - b->first + 1);
	uint32_t block = b->first;

	b->edges = (uint32_t)k->r->edges.n;
	find_cases(k, b, is_case);
	for (uint32_t i = 0; i < g->insns.n; i++) {
		if (b->block[i] != NONE)
			block = b->block[i];
		if (i + 1 == g->insns.n || b->block[i + 1] != NONE)
			add_edges_of(k, b, i, block, is_case);
	}
	free(is_case);
}

/* Scales what leads into (or out of) each block to its count, in turns: iterative proportional fitting. What leads into
 * a function and out of it is not known, and takes what is left. */
static void fit(struct samples *k, const struct body *b)
{
	struct gus_routes *r = k->r;
	size_t n = r->blocks.n - b->first;
	double *sums = gus_resize(NULL, n + 1, sizeof(*sums));

	for (unsigned round = 0; round < FITTINGS; round++) {
		bool into = round % 2 == 0;

		memset(sums, 0, n * sizeof(*sums));
		for (size_t i = b->edges; i < r->edges.n; i++) {
			uint32_t block = into ? r->edges.v[i].to : r->edges.v[i].from;

			if (block != NONE)
				sums[block - b->first] += r->edges.v[i].count;
		}
		for (size_t i = b->edges; i < r->edges.n; i++) {
			uint32_t block = into ? r->edges.v[i].to : r->edges.v[i].from;

			if (block != NONE && sums[block - b->first] > 0)
				r->edges.v[i].count *= r->blocks.v[block].count / sums[block - b->first];
		}
	}
	free(sums);
}

/* One function. */

static void count_blocks(struct samples *k, const struct body *b, const struct point *points, size_t points_n)
{
	size_t at = 0;

	for (uint32_t i = b->first; i < k->r->blocks.n; i++) {
		struct gus_route_block *block = &k->r->blocks.v[i];
		double weight = UNSEEN * k->sample;

		while (at < points_n && points[at].offset < block->offset + block->size)
			weight += (double)points[at++].weight;
		block->count = weight / block->insns;
	}
}

static void take_edges(struct samples *k, const struct body *b)
{
	for (size_t i = b->edges; i < k->r->edges.n; i++) {
		const struct gus_route_edge *e = &k->r->edges.v[i];

		if (e->taken && e->from != NONE)
			k->r->blocks.v[e->from].taken += e->count;
	}
}

static void add_function(struct samples *k, uint32_t function, const struct point *points, size_t points_n)
{
	const struct function_key *key = gus_index_key(&k->keys, function);
	size_t size = (size_t)k->sizes.v[function];
	struct body b = { .first = (uint32_t)k->r->blocks.n };
	uint8_t *bytes = gus_alloc(size);
	enum gus_isa isa;
	unsigned machine = 0;

	size = gus_symbols_code(k->p->symbols, gus_space_module(k->p->space, key->module), key->start, bytes, size,
				&machine);
	isa = size ? gus_isa_of_machine(machine) : GUS_ISA_UNKNOWN;
	if (k->r->isa == GUS_ISA_UNKNOWN)
		k->r->isa = isa;
	if (isa != GUS_ISA_UNKNOWN && isa == k->r->isa) {
		gus_graph_read(&b.graph, isa, bytes, size);
		if (b.graph.insns.n) {
			find_leaders(&b);
			add_blocks(k, &b, key, bytes);
			count_blocks(k, &b, points, points_n);
			add_edges(k, &b);
			/* The way in, which no branch of the function makes. */
			add_edge(k, NONE, b.first, true);
			fit(k, &b);
			take_edges(k, &b);
		}
		free(b.block);
		gus_graph_free(&b.graph);
	}
	free(bytes);
}

int gus_routes_of_samples(struct gus_routes *r, struct gus_profile *p, struct gus_error *err)
{
	struct samples k = { .r = r, .p = p, .sample = p->samples ? (double)p->weight / (double)p->samples : 0 };

	r->source = GUS_ROUTES_SAMPLES;
	r->samples = p->samples;
	gus_index_init(&k.keys, sizeof(struct function_key));
	collect(&k);
	if (k.points.n)
		qsort(k.points.v, k.points.n, sizeof(*k.points.v), by_function);
	for (size_t i = 0, end; i < k.points.n; i = end) {
		for (end = i; end < k.points.n && k.points.v[end].function == k.points.v[i].function;)
			end++;
		add_function(&k, k.points.v[i].function, k.points.v + i, end - i);
	}
	gus_routes_sort_edges(r);
	gus_index_free(&k.keys);
	gus_vec_free(&k.sizes);
	gus_vec_free(&k.points);
	if (r->blocks.n)
		return 0;
	return gus_fail(err, GUS_E_NOT_FOUND, "no code of what was sampled can be read: files are missing, or have "
			"changed since, or have no symbols; there are no paths to be told");
}
