/* SPDX-License-Identifier: MIT */
#include "attribution/compared/forms.h"

#include <stdlib.h>

#include "attribution/traced/traced.h"
#include "base/alloc.h"
#include "base/index.h"
#include "model/code/program.h"

/* The place of each region among those that were asked for, + 1. */
static uint32_t *places_of(const struct gus_traced *t, const uint32_t *regions, size_t n)
{
	uint32_t *places = gus_zalloc((t->regions.n + 1) * sizeof(*places));

	for (size_t i = 0; i < n; i++)
		places[regions[i]] = (uint32_t)i + 1;
	return places;
}

static void number_forms(const struct gus_traced *t, const uint32_t *places, struct gus_index *numbers,
			 struct gus_compared_forms *f)
{
	struct gus_vec(uint64_t) hashes = { 0 };

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];

		for (uint32_t k = 0; b->executed && places[b->region] && k < b->insns_n; k++) {
			bool is_new;

			gus_index_add(numbers, &t->program->insns[b->insn + k].info.form, &is_new);
			if (is_new)
				gus_vec_push(&hashes, t->program->insns[b->insn + k].info.form);
		}
	}
	f->hashes = hashes.v;
	f->n = hashes.n;
}

void gus_compared_forms_count(const struct gus_traced *t, const uint32_t *regions, size_t regions_n,
			      struct gus_compared_forms *f)
{
	uint32_t *places = places_of(t, regions, regions_n);
	struct gus_index numbers;

	*f = (struct gus_compared_forms){ .n = 0 };
	gus_index_init(&numbers, sizeof(uint64_t));
	number_forms(t, places, &numbers, f);
	f->counts = gus_zalloc((regions_n * f->n + 1) * sizeof(*f->counts));
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];

		for (uint32_t k = 0; b->executed && places[b->region] && k < b->insns_n; k++) {
			uint32_t form = gus_index_find(&numbers, &t->program->insns[b->insn + k].info.form);

			f->counts[(places[b->region] - 1) * f->n + form] += (double)b->executed;
		}
	}
	gus_index_free(&numbers);
	free(places);
}
