/* SPDX-License-Identifier: MIT */
#include "attribution/profile/expect.h"

#include <stdlib.h>

#include "attribution/profile/profile.h"
#include "base/index.h"

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

void gus_profile_expect(struct gus_profile *p)
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
