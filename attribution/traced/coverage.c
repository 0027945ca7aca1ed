/* SPDX-License-Identifier: MIT */
#include "attribution/traced/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/profile.h"
#include "attribution/traced/finder.h"
#include "attribution/traced/traced.h"
#include "base/error.h"
#include "base/path.h"
#include "model/code/program.h"

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

static void take(struct gus_coverage *c, const struct gus_traced_block *b, uint32_t insn, const struct gus_cell *cell)
{
	c->covered += cell->samples;
	c->covered_weight += cell->weight;
	c->by_region[b->region] += cell->samples;
	c->weights[b->region] += cell->weight;
	c->by_insn[insn] += cell->samples;
}

static void count_cell(struct gus_coverage *c, const struct gus_traced *t, const struct gus_profile *profile,
		       const struct gus_finder *finder, const struct gus_cell *cell, struct elsewhere *elsewhere)
{
	const struct gus_module *module = gus_space_module(profile->space, cell->place.module);
	struct gus_found found;

	c->samples += cell->samples;
	c->weight += cell->weight;
	c->weight2 += cell->weight2;
	if (gus_finder_at(finder, &cell->place, profile->threads.v[cell->thread].pid, &found)) {
		take(c, &t->blocks.v[found.block], found.insn, cell);
		return;
	}
	if (module->kind == GUS_MODULE_KERNEL) {
		c->kernel += cell->samples;
		c->kernel_weight += cell->weight;
	}
	note_elsewhere(elsewhere, profile, cell);
}

void gus_coverage_init(struct gus_coverage *c, const struct gus_traced *t)
{
	*c = (struct gus_coverage){ .by_region = gus_zalloc((t->regions.n + 1) * sizeof(*c->by_region)),
		.weights = gus_zalloc((t->regions.n + 1) * sizeof(*c->weights)),
		.by_insn = gus_zalloc((t->program->insns_n + 1ul) * sizeof(*c->by_insn)) };
}

void gus_coverage_add(struct gus_coverage *c, struct gus_traced *t, const struct gus_profile *profile)
{
	struct gus_finder *finder = gus_finder_new(t, profile->space);
	struct elsewhere elsewhere = { 0 };

	for (size_t i = 0; i < c->elsewhere_n; i++)
		gus_vec_push(&elsewhere, c->elsewhere[i]);
	for (size_t i = 0; i < profile->cells.n; i++)
		count_cell(c, t, profile, finder, &profile->cells.v[i], &elsewhere);
	take_elsewhere(c, &elsewhere);
	gus_finder_free(finder);
}

int gus_coverage_load(struct gus_coverage *c, struct gus_traced *t, struct gus_reader *reader,
		      const struct gus_log *log, struct gus_error *err)
{
	const Gusprof__Header *header = gus_reader_header(reader);
	struct gus_symbols_options symbols = { .boot_id = header->host ? header->host->boot_id : NULL,
					       .rights = gus_symbols_rights(t->options.symbols) };
	const struct gus_error *failure;
	struct gus_profile profile;

	gus_coverage_init(c, t);
	if (gus_profile_load(&profile, reader, &(struct gus_filter){ 0 }, &symbols, log, err) != 0)
		return -1;
	gus_coverage_add(c, t, &profile);
	failure = gus_symbols_failure(profile.symbols);
	if (failure && err)
		*err = *failure;
	gus_profile_free(&profile);
	return failure ? -1 : 0;
}

void gus_coverage_free(struct gus_coverage *c)
{
	free(c->by_region);
	free(c->by_insn);
	free(c->weights);
}
