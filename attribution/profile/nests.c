/* SPDX-License-Identifier: MIT */
#include "attribution/profile/nests.h"

#include <stdlib.h>

/* Keys are compared byte by byte: no padding may be in them. */
struct place_key { uint32_t module, zero; uint64_t offset; };

struct expecting {
	struct gus_index seen;
	struct gus_vec(struct gus_place) places; /* each once */
};

static void add(struct expecting *e, struct gus_place place)
{
	struct place_key key = { place.module, 0, place.offset };
	bool is_new;

	gus_index_add(&e->seen, &key, &is_new);
	if (is_new)
		gus_vec_push(&e->places, place);
}

static int by_place(const void *a, const void *b)
{
	const struct gus_place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void tell(struct gus_profile *p, const struct expecting *e)
{
	struct gus_vec(uint64_t) offsets = { 0 };

	for (size_t i = 0; i < e->places.n; i++) {
		uint32_t module = e->places.v[i].module;

		gus_vec_push(&offsets, e->places.v[i].offset);
		if (i + 1 < e->places.n && module == e->places.v[i + 1].module)
			continue;
		gus_symbols_expect(p->symbols, gus_space_module(p->space, module), offsets.v, offsets.n);
		offsets.n = 0;
	}
	gus_vec_free(&offsets);
}

/* Tells the symbolizer which places it will be asked about, callers included: what takes long is then done for all of
 * them at once, by several threads. */
static void expect(struct gus_profile *p)
{
	struct expecting e = { 0 };

	gus_index_init(&e.seen, sizeof(struct place_key));
	for (size_t i = 0; i < p->cells.n; i++)
		add(&e, p->cells.v[i].place);
	for (size_t i = 1; i < p->paths.n; i++)
		add(&e, p->paths.v[i].place);
	if (e.places.n)
		qsort(e.places.v, e.places.n, sizeof(*e.places.v), by_place);
	tell(p, &e);
	gus_index_free(&e.seen);
	gus_vec_free(&e.places);
}

/* Only inlined calls and lines take long. */
void gus_nests_begin(struct gus_nests *n)
{
	gus_index_init(&n->places, sizeof(struct place_key));
	if (n->depth == GUS_DEPTH_INLINE)
		expect(n->profile);
}

static struct gus_nest name_place(struct gus_nests *n, struct gus_place place)
{
	const struct gus_module *module = gus_space_module(n->profile->space, place.module);
	struct gus_name names[GUS_NAMES_MAX];
	size_t known = gus_symbols_names(n->profile->symbols, module, place.offset, n->depth, names);
	struct gus_nest nest = { n->numbers.n, n->whole ? known : 1 };

	for (size_t i = 0; i < nest.n; i++) {
		uint32_t number = n->number(n->context, place, &names[i]);

		gus_vec_push(&n->numbers, number);
	}
	return nest;
}

struct gus_nest gus_nests_at(struct gus_nests *n, struct gus_place place)
{
	struct place_key key = { place.module, 0, place.offset };
	bool is_new;
	uint32_t number = gus_index_add(&n->places, &key, &is_new);

	if (is_new) {
		struct gus_nest nest = name_place(n, place);

		gus_vec_push(&n->of_place, nest);
	}
	return n->of_place.v[number];
}

void gus_nests_end(struct gus_nests *n)
{
	gus_index_free(&n->places);
	gus_vec_free(&n->of_place);
	gus_vec_free(&n->numbers);
}
