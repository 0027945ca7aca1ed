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

static void count(struct gus_coverage *c, struct gus_traced *t, const struct gus_profile *profile)
{
	struct elsewhere elsewhere = { 0 };

	for (size_t i = 0; i < profile->cells.n; i++) {
		const struct gus_cell *cell = &profile->cells.v[i];
		const struct gus_module *module = gus_space_module(profile->space, cell->place.module);
		uint32_t region = module->kind == GUS_MODULE_FILE ?
			gus_traced_region_at(t, module->path, cell->place.offset) : GUS_TRACED_NONE;

		c->samples += cell->samples;
		if (region != GUS_TRACED_NONE) {
			c->covered += cell->samples;
			c->by_region[region] += cell->samples;
		} else {
			note_elsewhere(&elsewhere, profile, cell);
		}
	}
	take_elsewhere(c, &elsewhere);
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
