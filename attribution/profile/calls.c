/* SPDX-License-Identifier: MIT */
/* The profile's paths already share what they have in common from the outside in, but by address. Here each of them is
 * followed once, and gets the call that it ends in; a cell's call is one below that of its path. So this takes time
 * and memory with the number of paths and not with that of cells times how deep they are. Nothing recurses, as a stack
 * may be as deep as a file says.
 *
 * An index maps (call, callee) to the call that is entered. Where recursion is collapsed that may be one above, which
 * is looked for when such a pair is met for the first time. */
#include "attribution/profile/calls.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/nests.h"
#include "base/heed.h"
#include "proto/sample.h"

#define NOT_YET UINT32_MAX

/* Keys are compared byte by byte: no padding may be in them. */
struct callee_key { uint32_t kind, module, function, inlined; uint64_t start; };
struct same_key { uint32_t module, function; uint64_t start; };
struct entry_key { uint32_t call, callee; };

struct maker {
	struct gus_calls *c;
	const struct gus_calls_options *options;
	struct gus_index callees, same, entries;
	struct gus_nests nests;               /* of callees */
	struct gus_vec(uint32_t) entered;     /* by entry: the call */
	uint32_t *of_path;                    /* by path, whole ones and then truncated ones: the call, or NOT_YET */
	struct gus_vec(uint32_t) waiting;     /* paths between one whose call is known and the one that is asked for */
};

bool gus_calls_missing(uint64_t callers)
{
	uint64_t end = callers & GUS_CALLERS_END;

	return end != GUS_CALLERS_UNTOLD && end != GUS_CALLERS_WHOLE;
}

/* Callees. */

static uint32_t callee_add(struct maker *m, const struct callee_key *key)
{
	struct same_key same = { key->module, key->function, key->start };
	struct gus_calls *c = m->c;
	bool is_new;
	uint32_t number = gus_index_add(&m->callees, key, &is_new);

	if (is_new)
		gus_vec_push(&c->callees, (struct gus_callee){
			.kind = (enum gus_callee_kind)key->kind,
			.inlined = key->inlined,
			.module = key->module,
			.function = key->function ? gus_strings_get(&c->strings, key->function) : NULL,
			.start = key->start,
			.same = gus_index_add(&m->same, &same, NULL),
		});
	return number;
}

/* As of rows: with inlines a function is its name, wherever its copies are; without, it is the symbol at an address. */
static uint32_t callee_of(void *context, struct gus_place place, const struct gus_name *name)
{
	struct maker *m = context;
	const struct gus_module *module = gus_space_module(m->c->profile->space, place.module);
	struct callee_key key = { .module = place.module, .inlined = name->inlined };

	key.kind = module->kind == GUS_MODULE_KERNEL ? GUS_CALLEE_KERNEL : GUS_CALLEE_USER;
	if (name->function) {
		key.function = gus_strings_add(&m->c->strings, name->function);
		key.start = m->options->inlines ? 0 : name->start;
	}
	return callee_add(m, &key);
}

/* Calls. */

/* The call on the way to this one, itself included, in which the same function was entered; NOT_YET if none is. */
static uint32_t above(const struct maker *m, uint32_t call, uint32_t callee)
{
	const struct gus_calls *c = m->c;
	uint32_t same = c->callees.v[callee].same;

	for (size_t i = 0; call && i < GUS_CALLS_REACH; i++, call = c->calls.v[call].caller)
		if (c->callees.v[c->calls.v[call].callee].same == same)
			return call;
	return NOT_YET;
}

static uint32_t enter(struct maker *m, uint32_t call, uint32_t callee)
{
	struct entry_key key = { call, callee };
	bool is_new;
	uint32_t entry = gus_index_add(&m->entries, &key, &is_new), to;

	if (!is_new)
		return m->entered.v[entry];
	to = m->options->collapse ? above(m, call, callee) : NOT_YET;
	if (to == NOT_YET) {
		to = (uint32_t)m->c->calls.n;
		gus_vec_push(&m->c->calls, (struct gus_called){ .caller = call, .callee = callee });
	}
	gus_vec_push(&m->entered, to);
	return to;
}

static uint32_t enter_place(struct maker *m, uint32_t call, struct gus_place place)
{
	struct gus_nest nest = gus_nests_at(&m->nests, place);

	while (nest.n--)
		call = enter(m, call, m->nests.numbers.v[nest.first + nest.n]);
	return call;
}

static uint32_t call_of_path(struct maker *m, uint32_t path, bool truncated)
{
	const struct gus_profile *p = m->c->profile;
	uint32_t *of_path = m->of_path + (truncated ? p->paths.n : 0), call;

	for (; of_path[path] == NOT_YET; path = p->paths.v[path].caller)
		gus_vec_push(&m->waiting, path);
	call = of_path[path];
	while (m->waiting.n) {
		path = m->waiting.v[--m->waiting.n];
		call = of_path[path] = enter_place(m, call, p->paths.v[path].place);
	}
	return call;
}

static void add_cells(struct maker *m)
{
	struct gus_profile *p = m->c->profile;

	for (uint32_t i = 0; i < p->cells.n; i++) {
		const struct gus_cell *cell = &p->cells.v[i];
		uint32_t path = call_of_path(m, cell->path, gus_calls_missing(cell->end));
		uint32_t number = enter_place(m, path, cell->place);
		struct gus_called *call = &m->c->calls.v[number];

		m->c->of_cell[i] = number;
		call->own += cell->weight;
		call->own_samples += cell->samples;
		if (i % 256 == 0)
			gus_heed_tell(p->heed, "naming callers", (double)i / (double)p->cells.n);
	}
}

void gus_calls_add_up(struct gus_called *calls, uint32_t number)
{
	struct gus_called *call = &calls[number], *caller = &calls[call->caller];

	call->weight += call->own;
	call->samples += call->own_samples;
	if (!number)
		return;
	caller->weight += call->weight;
	caller->samples += call->samples;
	call->next = caller->first;
	caller->first = number;
}

/* Callers stand before what they call, so from the end on each is complete when its turn comes. */
static void add_up(struct gus_calls *c)
{
	for (size_t i = c->calls.n; i--; )
		gus_calls_add_up(c->calls.v, (uint32_t)i);
	assert(c->calls.v[0].weight == c->profile->weight && c->calls.v[0].samples == c->profile->samples);
}

/* What all paths begin with: nothing, or what is missing. */
static void add_roots(struct maker *m)
{
	struct callee_key root = { .kind = GUS_CALLEE_ROOT, .module = GUS_INDEX_NONE };
	struct callee_key truncated = { .kind = GUS_CALLEE_TRUNCATED, .module = GUS_INDEX_NONE, .start = 1 };
	const struct gus_profile *p = m->c->profile;
	bool missing = false;

	for (size_t i = 0; i < 2 * p->paths.n; i++)
		m->of_path[i] = NOT_YET;
	gus_vec_push(&m->c->calls, (struct gus_called){ .callee = callee_add(m, &root) });
	m->of_path[0] = 0;
	for (size_t i = 0; i < p->cells.n; i++)
		missing |= gus_calls_missing(p->cells.v[i].end);
	if (missing)
		m->of_path[p->paths.n] = enter(m, 0, callee_add(m, &truncated));
}

void gus_calls_make(struct gus_calls *c, struct gus_profile *p, const struct gus_calls_options *options)
{
	struct maker m = { .c = c, .options = options, .nests = { .profile = p, .whole = true } };

	*c = (struct gus_calls){ .profile = p, .inlines = options->inlines,
				  .collapsed = options->collapse };
	c->of_cell = gus_resize(NULL, p->cells.n + 1, sizeof(*c->of_cell));
	m.nests.depth = options->inlines ? GUS_DEPTH_INLINE : GUS_DEPTH_FUNCTION;
	m.nests.number = callee_of;
	m.nests.context = &m;
	gus_nests_begin(&m.nests);
	gus_strings_init(&c->strings);
	gus_index_init(&m.callees, sizeof(struct callee_key));
	gus_index_init(&m.same, sizeof(struct same_key));
	gus_index_init(&m.entries, sizeof(struct entry_key));
	m.of_path = gus_resize(NULL, 2 * p->paths.n + 2, sizeof(*m.of_path));
	add_roots(&m);
	add_cells(&m);
	add_up(c);
	gus_index_free(&m.callees);
	gus_index_free(&m.same);
	gus_index_free(&m.entries);
	gus_nests_end(&m.nests);
	gus_vec_free(&m.entered);
	gus_vec_free(&m.waiting);
	free(m.of_path);
}

void gus_calls_free(struct gus_calls *c)
{
	gus_vec_free(&c->callees);
	gus_vec_free(&c->calls);
	gus_strings_free(&c->strings);
	free(c->of_cell);
	*c = (struct gus_calls){ 0 };
}

/* From a call to the next one in a walk over all of them; what is left on the way there is told. */
static uint32_t step(const struct gus_calls *c, uint32_t call, uint32_t *inside)
{
	const struct gus_called *v = c->calls.v;

	if (v[call].first)
		return v[call].first;
	for (; call; call = v[call].caller) {
		inside[c->callees.v[v[call].callee].same]--;
		if (v[call].next)
			return v[call].next;
	}
	return 0;
}

static int by_same(const void *a, const void *b, void *context)
{
	const struct gus_calls *c = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t s = c->callees.v[c->calls.v[x].callee].same, t = c->callees.v[c->calls.v[y].callee].same;

	if (s != t)
		return s < t ? -1 : 1;
	return x < y ? -1 : x > y;
}

uint32_t *gus_calls_outermost(const struct gus_calls *c, size_t *n)
{
	uint32_t *inside = gus_zalloc(c->callees.n * sizeof(*inside)); /* by function: how often on the way here */
	struct gus_vec(uint32_t) found = { 0 };

	for (uint32_t call = c->calls.v[0].first; call; call = step(c, call, inside))
		if (!inside[c->callees.v[c->calls.v[call].callee].same]++)
			gus_vec_push(&found, call);
	free(inside);
	if (found.n)
		qsort_r(found.v, found.n, sizeof(*found.v), by_same, (void *)(uintptr_t)c);
	*n = found.n;
	return found.v;
}

#define GUS_ORDER_(x, y) \
	if ((x) != (y)) \
		return (x) < (y) ? -1 : 1

int gus_callee_order(const struct gus_calls *c, uint32_t a, uint32_t b)
{
	const struct gus_callee *x = &c->callees.v[a], *y = &c->callees.v[b];
	int order;

	GUS_ORDER_(x->kind, y->kind);
	GUS_ORDER_(!x->function, !y->function);
	order = x->function ? strcmp(x->function, y->function) : 0;
	if (order)
		return order;
	GUS_ORDER_(x->module, y->module);
	GUS_ORDER_(x->inlined, y->inlined);
	/* Two of one name in one module: which comes first follows from the order of cells, which is the same each
	 * time. */
	GUS_ORDER_(a, b);
	return 0;
}
