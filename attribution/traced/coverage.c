/* SPDX-License-Identifier: MIT */
#include "attribution/traced/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/profile.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "base/path.h"

struct elsewhere gus_vec(struct gus_coverage_function);

/* One more sample, or several, of a function that no window has at that place. */
static void note_elsewhere(struct elsewhere *list, const struct gus_profile *profile, const struct gus_cell *cell)
{
	const struct gus_module *module = gus_space_module(profile->space, cell->place.module);
	struct gus_name names[GUS_NAMES_MAX];
	char name[sizeof(list->v->name)];

	gus_symbols_names(profile->symbols, module, cell->place.offset, GUS_DEPTH_FUNCTION, names);
	snprintf(name, sizeof(name), "%.80s [%.40s]", names[0].function ? names[0].function : "[unknown]",
		 gus_base_name(module->path));
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i].name, name) == 0) {
			list->v[i].samples += cell->samples;
			return;
		}
	gus_vec_push(list, (struct gus_coverage_function){ .samples = cell->samples });
	memcpy(list->v[list->n - 1].name, name, sizeof(name));
}

static int by_samples(const void *x, const void *y)
{
	const struct gus_coverage_function *a = x, *b = y;

	return a->samples != b->samples ? (a->samples < b->samples ? 1 : -1) : strcmp(a->name, b->name);
}

static void take_elsewhere(struct gus_coverage *c, struct elsewhere *list)
{
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_samples);
	c->elsewhere_n = list->n < GUS_COVERAGE_ELSEWHERE ? list->n : GUS_COVERAGE_ELSEWHERE;
	if (c->elsewhere_n)
		memcpy(c->elsewhere, list->v, c->elsewhere_n * sizeof(*c->elsewhere));
	gus_vec_free(list);
}

/* Instructions of no file, by their places in the recording, and the block that executed each most often. */
struct made {
	struct gus_index places;        /* struct gus_place */
	struct gus_vec(uint32_t) blocks; /* by number of a place */
};

/* Of what a process told of, offsets are its own; other memory without a file has its address for one, which says
 * nothing without the process. All of one size: bytes are compared. */
struct made_place { uint64_t module, offset, pid; };

static struct made_place made_place(struct gus_space *space, const struct gus_place *at, uint32_t pid)
{
	bool told = gus_space_module(space, at->module)->kind == GUS_MODULE_JIT;

	return (struct made_place){ at->module, at->offset, told ? 0 : pid };
}

static void find_made(struct made *made, const struct gus_traced *t, struct gus_space *space)
{
	gus_index_init(&made->places, sizeof(struct made_place));
	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		uint64_t address = b->address;

		if (b->module || !b->executed || !b->pid)
			continue;
		for (uint32_t k = 0; k < b->insns_n; address += b->lengths[k++]) {
			struct gus_place at = gus_space_find(space, b->pid, b->time, address, GUS_MODE_USER);
			struct made_place place = made_place(space, &at, b->pid);
			bool is_new;
			uint32_t number = gus_index_add(&made->places, &place, &is_new);

			if (is_new)
				gus_vec_push(&made->blocks, (uint32_t)i);
			else if (t->blocks.v[made->blocks.v[number]].executed < b->executed)
				made->blocks.v[number] = (uint32_t)i;
		}
	}
}

static uint32_t made_region(const struct made *made, const struct gus_traced *t, const struct gus_profile *profile,
			    const struct gus_cell *cell)
{
	struct made_place place = made_place(profile->space, &cell->place, profile->threads.v[cell->thread].pid);
	uint32_t number = gus_index_find(&made->places, &place);

	return number == GUS_INDEX_NONE ? GUS_TRACED_NONE : t->blocks.v[made->blocks.v[number]].region;
}

static void count(struct gus_coverage *c, struct gus_traced *t, const struct gus_profile *profile)
{
	struct elsewhere elsewhere = { 0 };
	struct made made = { 0 };

	find_made(&made, t, profile->space);
	for (size_t i = 0; i < profile->cells.n; i++) {
		const struct gus_cell *cell = &profile->cells.v[i];
		const struct gus_module *module = gus_space_module(profile->space, cell->place.module);
		uint32_t region = module->kind == GUS_MODULE_FILE ?
			gus_traced_region_at(t, module->path, cell->place.offset) :
			made_region(&made, t, profile, cell);

		c->samples += cell->samples;
		if (region != GUS_TRACED_NONE) {
			c->covered += cell->samples;
			c->by_region[region] += cell->samples;
		} else {
			note_elsewhere(&elsewhere, profile, cell);
		}
	}
	take_elsewhere(c, &elsewhere);
	gus_index_free(&made.places);
	gus_vec_free(&made.blocks);
}

int gus_coverage_load(struct gus_coverage *c, struct gus_traced *t, struct gus_reader *reader,
		      const struct gus_log *log, struct gus_error *err)
{
	const Gusprof__Header *header = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .boot_id = header->host ? header->host->boot_id : NULL,
					       .rights = gus_symbols_rights(t->options.symbols) };
	const struct gus_error *failure;
	struct gus_profile profile;

	*c = (struct gus_coverage){ .by_region = gus_zalloc((t->regions.n + 1) * sizeof(*c->by_region)) };
	if (gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &symbols, log, err) != 0)
		return -1;
	count(c, t, &profile);
	failure = gus_symbols_failure(profile.symbols);
	if (failure && err)
		*err = *failure;
	gus_profile_free(&profile);
	return failure ? -1 : 0;
}

void gus_coverage_free(struct gus_coverage *c)
{
	free(c->by_region);
}
