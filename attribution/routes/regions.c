/* SPDX-License-Identifier: MIT */
/* Which function and loop each block is in, and what is executed there. */
#include "attribution/routes/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/limits.h"
#include "symbolizer/insn/loops.h"

#define NONE GUS_ROUTES_NONE

/* The function around a block. */
struct around { const char *name; uint64_t start, size; uint32_t module, block; };

struct finder {
	struct gus_routes *r;
	struct gus_profile *p;
	struct gus_graph graph;         /* of the function that the last block was in */
	struct gus_vec(uint32_t) loops; /* its loops' regions, NONE of those that nothing was seen in */
	uint32_t module, region;        /* and that function; NONE: none yet */
	uint64_t start;
};

static uint32_t add_region(struct finder *f, const char *name, uint64_t offset, bool loop, uint32_t outer)
{
	struct gus_strings *strings = &f->r->strings;

	gus_vec_push(&f->r->regions, (struct gus_route_region){
		.name = gus_strings_get(strings, gus_strings_add(strings, name)),
		.module = f->module, .offset = offset, .loop = loop, .outer = outer });
	return (uint32_t)f->r->regions.n - 1;
}

static void leave(struct finder *f)
{
	if (f->region != NONE)
		gus_graph_free(&f->graph);
	f->graph = (struct gus_graph){ 0 };
	f->loops.n = 0;
	f->region = NONE;
}

static void enter(struct finder *f, const struct around *a)
{
	const struct gus_module *module = gus_space_module(f->p->space, a->module);
	size_t size = a->size > GUS_LIMIT_FUNCTION ? 0 : (size_t)a->size;
	uint8_t *bytes;

	if (f->region != NONE && f->module == a->module && f->start == a->start)
		return;
	leave(f);
	f->module = a->module;
	f->start = a->start;
	f->region = add_region(f, a->name, a->start, false, NONE);
	bytes = gus_alloc(size + 1);
	size = gus_symbols_code(f->p->symbols, module, f->start, bytes, size, NULL);
	gus_graph_read(&f->graph, f->r->isa, bytes, size);
	free(bytes);
	for (size_t i = 0; i < f->graph.loops.n; i++)
		gus_vec_push(&f->loops, NONE);
}

/* The region of a loop, and with it those of the loops around. */
static uint32_t region_of(struct finder *f, uint32_t loop)
{
	const struct gus_graph_loop *l = &f->graph.loops.v[loop];
	uint64_t head = f->graph.insns.v[l->head].offset;
	uint32_t outer;
	char *name;

	if (f->loops.v[loop] != NONE)
		return f->loops.v[loop];
	outer = l->outer == GUS_GRAPH_NONE ? f->region : region_of(f, l->outer);
	name = gus_format("%s+0x%" PRIx64, f->r->regions.v[f->region].name, head);
	f->loops.v[loop] = add_region(f, name, f->start + head, true, outer);
	free(name);
	return f->loops.v[loop];
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct gus_route_region *regions = context;
	const struct gus_route_region *x = &regions[*(const uint32_t *)a], *y = &regions[*(const uint32_t *)b];
	int order;

	if (x->instructions > y->instructions || x->instructions < y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	order = strcmp(x->name, y->name);
	if (!order)
		order = x->module < y->module ? -1 : x->module > y->module;
	return order ? order : x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort(struct gus_routes *r)
{
	size_t n = r->regions.n;
	uint32_t *order = gus_resize(NULL, n + 1, sizeof(*order)), *now = gus_resize(NULL, n + 1, sizeof(*now));
	struct gus_route_region *sorted = gus_resize(NULL, n + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), by_weight, r->regions.v);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = r->regions.v[order[i]];
		now[order[i]] = i;
	}
	for (size_t i = 0; i < n; i++)
		if (sorted[i].outer != NONE)
			sorted[i].outer = now[sorted[i].outer];
	for (size_t i = 0; i < r->blocks.n; i++)
		if (r->blocks.v[i].region != NONE)
			r->blocks.v[i].region = now[r->blocks.v[i].region];
	if (n)
		memcpy(r->regions.v, sorted, n * sizeof(*sorted));
	free(order);
	free(now);
	free(sorted);
}

static int by_function(const void *a, const void *b)
{
	const struct around *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

/* Symbols may lie within others, so a function's blocks need not stand together. */
static struct around *list_blocks(const struct finder *f, size_t *n)
{
	struct around *list = gus_resize(NULL, f->r->blocks.n + 1, sizeof(*list));

	*n = 0;
	for (uint32_t i = 0; i < f->r->blocks.n; i++) {
		const struct gus_route_block *b = &f->r->blocks.v[i];
		struct gus_name names[GUS_NAMES_MAX];

		gus_symbols_names(f->p->symbols, gus_space_module(f->p->space, b->module), b->offset,
				  GUS_DEPTH_FUNCTION, names);
		if (names[0].function)
			list[(*n)++] = (struct around){ names[0].function, names[0].start, names[0].size, b->module,
							i };
	}
	if (*n)
		qsort(list, *n, sizeof(*list), by_function);
	return list;
}

void gus_routes_find_regions(struct gus_routes *r, struct gus_profile *p)
{
	struct finder f = { .r = r, .p = p, .region = NONE };
	size_t n;
	struct around *list = list_blocks(&f, &n);

	for (size_t i = 0; i < n; i++) {
		struct gus_route_block *b = &r->blocks.v[list[i].block];
		uint32_t insn;

		enter(&f, &list[i]);
		insn = gus_graph_at(&f.graph, b->offset - f.start);
		b->region = f.region;
		if (insn != GUS_GRAPH_NONE && f.graph.loop[insn] != GUS_GRAPH_NONE)
			b->region = region_of(&f, f.graph.loop[insn]);
		for (uint32_t at = b->region; at != NONE; at = r->regions.v[at].outer)
			r->regions.v[at].instructions += b->count * b->insns;
	}
	leave(&f);
	free(list);
	gus_vec_free(&f.loops);
	for (size_t i = 0; i < r->regions.n; i++)
		r->regions.v[i].share = r->instructions > 0 ? r->regions.v[i].instructions / r->instructions : 0;
	sort(r);
}
