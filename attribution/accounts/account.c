/* SPDX-License-Identifier: MIT */
#include "attribution/accounts/account.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/profile.h"
#include "attribution/proportional/groups.h"
#include "attribution/proportional/prior.h"
#include "attribution/proportional/seen.h"
#include "attribution/proportional/spread.h"
#include "attribution/traced/traced.h"
#include "base/index.h"
#include "model/code/program.h"
#include "proto/psv.h"

/* How much a model's executions count beside samples of time (docs/accuracy.md). */
static const double EXECUTIONS = 0.3;

struct work {
	struct gus_account *a;
	const struct gus_profile *p;
	struct gus_traced *t;
	const struct gus_groups *groups;
	uint64_t *seen;                         /* by site: weight */
	uint32_t *rows;                         /* by site: its row, or GUS_ACCOUNT_NONE */
	struct gus_index places;                /* of rows that no trace has */
	struct gus_vec(uint32_t) place_rows;
};

/* Where an instruction is, as the trace has it; of one that is fused to the one before it, where that is. */
static uint64_t address_of(const struct gus_traced *t, uint32_t insn)
{
	const struct gus_program *p = t->program;

	return p->insns[p->ops[p->insns[insn].op].insn].offset;
}

static uint32_t insn_at(const struct gus_traced_block *b, uint64_t offset)
{
	uint32_t k = 0;

	for (uint64_t at = b->offset; k + 1 < b->insns_n && at < offset; k++)
		at += b->lengths[k];
	return b->insn + k;
}

static uint32_t site_of(const struct work *w, const struct gus_place *place)
{
	const struct gus_module *module = gus_space_module(w->p->space, place->module);
	uint32_t block = module->kind == GUS_MODULE_FILE ? gus_traced_block_at(w->t, module->path, place->offset) :
		GUS_TRACED_NONE;

	if (block == GUS_TRACED_NONE)
		return GUS_ACCOUNT_NONE;
	return gus_groups_site(w->groups, address_of(w->t, insn_at(&w->t->blocks.v[block], place->offset)));
}

/* All of one size, as bytes are compared. */
struct place_key { uint64_t module, offset; };

/* What no trace has executed. */
static void leave(struct work *w, const struct gus_cell *cell)
{
	const struct gus_module *module = gus_space_module(w->p->space, cell->place.module);
	struct place_key key = { cell->place.module, cell->place.offset };
	bool is_new;
	uint32_t number = gus_index_add(&w->places, &key, &is_new);
	struct gus_account_row *row;

	if (is_new) {
		gus_vec_push(&w->place_rows, (uint32_t)w->a->rows.n);
		gus_vec_push(&w->a->rows, (struct gus_account_row){ .module = module->path,
			     .offset = cell->place.offset, .insn = GUS_ACCOUNT_NONE, .place = cell->place,
			     .evidence = GUS_OBSERVED });
	}
	row = &w->a->rows.v[w->place_rows.v[number]];
	row->seen += cell->weight;
	row->weight += cell->weight;
}

static void take_cells(struct work *w)
{
	for (size_t i = 0; i < w->p->cells.n; i++) {
		const struct gus_cell *cell = &w->p->cells.v[i];
		uint32_t site = site_of(w, &cell->place);

		w->a->weight += cell->weight;
		if (site == GUS_ACCOUNT_NONE) {
			leave(w, cell);
			continue;
		}
		w->seen[site] += cell->weight;
		w->a->explained += cell->weight;
	}
}

static void see_all(struct work *w, struct gus_spread *s, const struct gus_account_options *o)
{
	const struct gus_groups_counts *c = gus_groups_counts(w->groups);
	struct gus_seen_counts time = { 0 }, executed = { 0 };
	double samples = (double)w->p->samples * (double)w->a->explained / (double)w->a->weight;

	for (uint32_t i = 0; i < c->sites.n; i++) {
		double share = (double)w->seen[i] / (double)w->a->explained;

		gus_vec_push(&time, (struct gus_site_count){ i, false, share });
		gus_vec_push(&executed, (struct gus_site_count){ i, false,
			     (double)c->sites.v[i].executed / (double)c->cycles });
	}
	gus_spread_see(s, &(struct gus_spread_seen){
		.sight = o->sight, .counts = time.v, .n = time.n,
		.samples = samples, .early = o->early });
	gus_spread_see(s, &(struct gus_spread_seen){ .sight = GUS_SPREAD_EXECUTED, .counts = executed.v,
		.n = executed.n, .samples = EXECUTIONS * samples });
	gus_vec_free(&time);
	gus_vec_free(&executed);
}

/* Whose the samples are that lie on sites, as weights. */
static void share_all(const struct work *w, const struct gus_spread *s, struct gus_spread_cells *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(w->groups);
	struct gus_seen_counts time = { 0 };

	for (uint32_t i = 0; i < c->sites.n; i++)
		gus_vec_push(&time, (struct gus_site_count){ i, false, (double)w->seen[i] });
	gus_spread_share(s, 0, time.v, time.n, out);
	gus_vec_free(&time);
}

/* Integers. */

struct rest { size_t cell; double rest; };

static int by_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest > y->rest ? -1 : 1;
	return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* Whole numbers as near to the shares as can be whose sum is `whole`: those with the largest rests are rounded up. What
 * sharing could not place, as arithmetic is not exact, is in proportion to the rest. */
static void round_all(const struct gus_spread_cells *cells, uint64_t whole, uint64_t *out)
{
	struct rest *rests = gus_zalloc((cells->n + 1) * sizeof(*rests));
	double sum = 0;
	uint64_t given = 0;

	for (size_t i = 0; i < cells->n; i++)
		sum += cells->v[i].share;
	for (size_t i = 0; i < cells->n; i++) {
		double exact = cells->v[i].share * ((double)whole / sum);

		out[i] = (uint64_t)exact;
		given += out[i];
		rests[i] = (struct rest){ i, exact - floor(exact) };
	}
	if (cells->n)
		qsort(rests, cells->n, sizeof(*rests), by_rest);
	for (size_t i = 0; given < whole && cells->n; i = (i + 1) % cells->n, given++)
		out[rests[i].cell]++;
	for (size_t i = cells->n; given > whole && i-- > 0; ) {
		if (out[rests[i].cell]) {
			out[rests[i].cell]--;
			given--;
		}
	}
	free(rests);
}

static uint32_t row_of(struct work *w, uint32_t site)
{
	if (w->rows[site] == GUS_ACCOUNT_NONE) {
		w->rows[site] = (uint32_t)w->a->rows.n;
		gus_vec_push(&w->a->rows, (struct gus_account_row){ .module = "", .insn = GUS_ACCOUNT_NONE,
			     .seen = w->seen[site], .evidence = GUS_INFERRED });
	}
	return w->rows[site];
}

static void put_cells(struct work *w, const struct gus_spread_cells *cells)
{
	uint64_t *weights = gus_zalloc((cells->n + 1) * sizeof(*weights));

	round_all(cells, w->a->explained, weights);
	for (size_t i = 0; i < cells->n; i++) {
		struct gus_account_row *row;
		uint32_t number;

		if (!weights[i] && !w->seen[cells->v[i].site])
			continue;
		number = row_of(w, cells->v[i].site);
		row = &w->a->rows.v[number];
		row->weight += weights[i];
		if (weights[i])
			gus_stack_add(&row->stack, (struct gus_component){ .events = cells->v[i].psv & GUS_PSV_ALL },
				      GUS_MODELLED, weights[i]);
	}
	free(weights);
}

/* Which instruction each row of a site is of. */
static void find_insns(struct work *w)
{
	const struct gus_traced *t = w->t;

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		uint64_t offset = b->offset;

		for (uint32_t k = 0; b->executed && k < b->insns_n; offset += b->lengths[k++]) {
			uint32_t site = gus_groups_site(w->groups, t->program->insns[b->insn + k].offset);
			struct gus_account_row *row;

			if (site == GUS_ACCOUNT_NONE || w->rows[site] == GUS_ACCOUNT_NONE)
				continue;
			row = &w->a->rows.v[w->rows[site]];
			row->insn = b->insn + k;
			row->block = (uint32_t)i;
			row->within = (uint32_t)(offset - b->offset);
			row->module = b->module ? b->module : "";
			row->offset = b->module ? offset : b->address + (offset - b->offset);
		}
	}
}

static int by_weight(const void *a, const void *b)
{
	const struct gus_account_row *x = a, *y = b;
	int order;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	order = strcmp(x->module, y->module);
	return order ? order : x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void check(struct gus_account *a)
{
	uint64_t weight = 0, seen = 0;

	for (size_t i = 0; i < a->rows.n; i++) {
		struct gus_account_row *row = &a->rows.v[i];

		if (row->evidence == GUS_OBSERVED) /* of why nothing is known */
			gus_stack_add(&row->stack, (struct gus_component){ .unknown = true }, GUS_UNKNOWN,
				      row->weight);
		gus_stack_check(&row->stack, row->weight);
		weight += row->weight;
		seen += row->seen;
	}
	assert(weight == a->weight && seen == a->weight);
}

static void explain(struct work *w, const struct gus_account_options *o)
{
	const struct gus_prior_options po = gus_prior_defaults(o->width);
	const struct gus_spread_options so = gus_spread_defaults();
	struct gus_spread_cells cells = { 0 };
	struct gus_spread *spread;
	struct gus_prior prior;

	gus_prior_make(&prior, w->groups, &po, NULL);
	spread = gus_spread_new(&prior);
	see_all(w, spread, o);
	gus_spread_fit(spread, &so);
	w->a->divergence = gus_spread_divergence(spread);
	share_all(w, spread, &cells);
	put_cells(w, &cells);
	find_insns(w);
	gus_spread_free(spread);
	gus_prior_free(&prior);
	gus_vec_free(&cells);
}

void gus_account_make(struct gus_account *a, const struct gus_profile *p, struct gus_traced *t,
		      const struct gus_groups *groups, const struct gus_account_options *o)
{
	size_t sites = gus_groups_counts(groups)->sites.n;
	struct work w = { .a = a, .p = p, .t = t, .groups = groups,
		.seen = gus_zalloc((sites + 1) * sizeof(*w.seen)), .rows = gus_zalloc((sites + 1) * sizeof(*w.rows)) };

	*a = (struct gus_account){ .weight = 0 };
	gus_index_init(&w.places, sizeof(struct place_key));
	for (size_t i = 0; i < sites; i++)
		w.rows[i] = GUS_ACCOUNT_NONE;
	take_cells(&w);
	if (a->explained)
		explain(&w, o);
	check(a);
	if (a->rows.n)
		qsort(a->rows.v, a->rows.n, sizeof(*a->rows.v), by_weight);
	gus_index_free(&w.places);
	gus_vec_free(&w.place_rows);
	free(w.seen);
	free(w.rows);
}

void gus_account_free(struct gus_account *a)
{
	for (size_t i = 0; i < a->rows.n; i++)
		gus_stack_free(&a->rows.v[i].stack);
	gus_vec_free(&a->rows);
}
