/* SPDX-License-Identifier: MIT */
#include "attribution/traced/coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/profile.h"
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

/* Instructions of no file, by their places in the recording, and the block that executed each most often. */
struct made_at { uint32_t block, insn; };
struct made {
	struct gus_index places;        /* struct gus_place */
	struct gus_vec(struct made_at) at; /* by number of a place */
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
				gus_vec_push(&made->at, (struct made_at){ (uint32_t)i, b->insn + k });
			else if (t->blocks.v[made->at.v[number].block].executed < b->executed)
				made->at.v[number] = (struct made_at){ (uint32_t)i, b->insn + k };
		}
	}
}

static const struct made_at *find_made_at(const struct made *made, const struct gus_profile *profile,
					  const struct gus_cell *cell)
{
	struct made_place place = made_place(profile->space, &cell->place, profile->threads.v[cell->thread].pid);
	uint32_t number = gus_index_find(&made->places, &place);

	return number == GUS_INDEX_NONE ? NULL : &made->at.v[number];
}

/* Which of a block's instructions begins there; it is known that one does. The offset is from the block's begin. */
static uint32_t insn_at(const struct gus_traced_block *b, uint64_t offset)
{
	uint32_t k = 0;

	for (uint64_t at = 0; k + 1 < b->insns_n && at < offset; k++)
		at += b->lengths[k];
	return b->insn + k;
}

static void take(struct gus_coverage *c, const struct gus_traced_block *b, uint32_t insn, const struct gus_cell *cell)
{
	c->covered += cell->samples;
	c->covered_weight += cell->weight;
	c->by_region[b->region] += cell->samples;
	c->weights[b->region] += cell->weight;
	c->by_insn[insn] += cell->samples;
}

/* false: the trace has not executed what is there. */
static bool take_cell(struct gus_coverage *c, struct gus_traced *t, const struct gus_profile *profile,
		      const struct made *made, const struct gus_cell *cell, const struct gus_module *module)
{
	const struct made_at *at;
	uint32_t number;

	if (module->kind == GUS_MODULE_FILE) {
		number = gus_traced_block_at(t, module->path, cell->place.offset);
		if (number != GUS_TRACED_NONE) {
			const struct gus_traced_block *b = &t->blocks.v[number];

			take(c, b, insn_at(b, cell->place.offset - b->offset), cell);
		}
		return number != GUS_TRACED_NONE;
	}
	at = find_made_at(made, profile, cell);
	if (at)
		take(c, &t->blocks.v[at->block], at->insn, cell);
	return at;
}

static void count_cell(struct gus_coverage *c, struct gus_traced *t, const struct gus_profile *profile,
		       const struct made *made, const struct gus_cell *cell, struct elsewhere *elsewhere)
{
	const struct gus_module *module = gus_space_module(profile->space, cell->place.module);

	c->samples += cell->samples;
	c->weight += cell->weight;
	c->weight2 += cell->weight2;
	if (take_cell(c, t, profile, made, cell, module))
		return;
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
	struct elsewhere elsewhere = { 0 };
	struct made made = { 0 };

	for (size_t i = 0; i < c->elsewhere_n; i++)
		gus_vec_push(&elsewhere, c->elsewhere[i]);
	find_made(&made, t, profile->space);
	for (size_t i = 0; i < profile->cells.n; i++)
		count_cell(c, t, profile, &made, &profile->cells.v[i], &elsewhere);
	take_elsewhere(c, &elsewhere);
	gus_index_free(&made.places);
	gus_vec_free(&made.at);
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
