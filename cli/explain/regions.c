/* SPDX-License-Identifier: MIT */
/* Regions of what both engines have run: their slots, what they gain, verdicts and why there are none, pathologies and
 * answers to what-ifs. */
#include "cli/explain/regions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/lines.h"
#include "attribution/traced/regions.h"
#include "attribution/verdicts/pathologies.h"
#include "attribution/verdicts/residuals.h"
#include "base/path.h"
#include "cli/explain/view.h"

/* Engines that differ by more do not model the same. */
static const double ENGINES_APART = 1.4;
enum { FEWEST = 10 };                   /* samples of a region */

struct region_slots { double of[GUS_NODES_OF_TREE]; };

static double twice_of(const void *node, const struct gus_sensitivity *knob)
{
	(void)node;
	(void)knob;
	return GUS_CAUSAL_TWICE;
}

int gus_explain_sets(struct gus_explain_engines *e)
{
	int n = 0;

	for (unsigned i = 0; i < GUS_NODES; i++) {
		e->of[i] = -1;
		for (unsigned k = 0; k < i && gus_nodes[i].knobs; k++)
			if (gus_nodes[k].knobs == gus_nodes[i].knobs)
				e->of[i] = e->of[k];
		if (e->of[i] >= 0 || !gus_nodes[i].knobs)
			continue;
		e->sets[n] = (struct gus_traced_set){ gus_nodes[i].name, gus_node_has, &gus_nodes[i], NULL };
		e->of[i] = n++;
	}
	for (int i = 0; i < n; i++) {
		e->sets[n + i] = e->sets[i];
		e->sets[n + i].weight = twice_of;
	}
	e->nodes_n = n;
	gus_pathology_sets(e->sets + 2 * n);
	return 2 * n + GUS_PATHOLOGY_SETS;
}

/* Slots of each region, in one walk over all blocks. Freed by the caller. */
static struct region_slots *find_slots(const struct gus_explain_engines *e, const struct gus_traced *t)
{
	struct region_slots *slots = gus_zalloc((t->regions.n + 1) * sizeof(*slots));

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		double of[GUS_NODES_OF_TREE];

		if (b->region >= t->regions.n || !b->ops.ops_n)
			continue;
		gus_slotted_add(&e->slots, b->ops.op, b->ops.taken + 1 - b->ops.op, of);
		for (unsigned k = 0; k < GUS_NODES_OF_TREE; k++)
			slots[b->region].of[k] += of[k];
	}
	return slots;
}

static double gained(const struct gus_traced_region *r, int lane)
{
	return r->cycles[lane] > 0 && r->cycles[0] > r->cycles[lane] ? r->cycles[0] / r->cycles[lane] - 1 : 0;
}

/* How far the model is off in general. */
static double model_error(const struct gus_explain_view *v)
{
	return v->calibrated || v->told > 0 ? GUS_CAUSAL_MODEL : GUS_CAUSAL_UNTOLD;
}

static void find_pathologies(const struct gus_explain_engines *e, const struct gus_explain_view *v,
			     const struct gus_compared_row *row, struct gus_explain_region *r)
{
	const struct gus_pathology_given g = { .traced = v->model->traced, .region = row->region, .heard = &e->heard,
		.causal = &r->verdict, .lane = 2 * e->nodes_n + 1, .model = model_error(v),
		.seen = &e->seen[row->region] };

	gus_pathologies_find(&g, &r->pathologies);
}

static void judge(const struct gus_explain_engines *e, const struct gus_explain_view *v, uint32_t region,
		  const struct gus_explain_tree *tree, const double slots[GUS_NODES_OF_TREE], struct gus_causal *out)
{
	const struct gus_traced_region *r = &v->model->traced->regions.v[region];
	double speedups[GUS_NODES], twice[GUS_NODES], errors[GUS_NODES], residuals[GUS_NODES];
	const struct gus_causal_given given = { slots, speedups, twice, errors, residuals, model_error(v),
		tree->readings ? &tree->nodes : NULL };

	for (unsigned i = 0; i < GUS_NODES; i++) {
		int lane = e->of[i] + 1; /* 0: it has no knobs */

		speedups[i] = lane ? gained(r, lane) : 0;
		twice[i] = lane ? gained(r, e->nodes_n + lane) : 0;
		errors[i] = lane ? r->errors[lane] : 0;
		residuals[i] = gus_node_residual(e->uarch, (enum gus_node)i);
	}
	gus_causal_make(out, &given);
}

static int by_charged(const void *a, const void *b)
{
	const struct gus_traced_line *x = a, *y = b;

	return x->charged != y->charged ? (x->charged < y->charged ? 1 : -1) :
		x->address < y->address ? -1 : x->address > y->address;
}

static void find_insns(const struct gus_traced *t, uint32_t region, struct gus_explain_region *out)
{
	const struct gus_traced_function *f = &t->functions.v[t->regions.v[region].function];
	struct gus_traced_lines lines = { 0 };
	double all = 0;

	gus_traced_lines_find(t, region, NULL, &lines);
	for (size_t i = 0; i < lines.n; i++)
		all += lines.v[i].charged > 0 ? lines.v[i].charged : 0;
	if (lines.n)
		qsort(lines.v, lines.n, sizeof(*lines.v), by_charged);
	for (size_t i = 0; i < lines.n && i < GUS_EXPLAIN_INSNS && lines.v[i].charged > GUS_EXPLAIN_LEAST * all; i++) {
		struct gus_explain_insn *insn = &out->insns[out->insns_n++];

		insn->offset = lines.v[i].address - f->address;
		insn->charged = lines.v[i].charged / all;
		snprintf(insn->text, sizeof(insn->text), "%s", lines.v[i].text);
	}
	gus_vec_free(&lines);
}

static char *name_of(const struct gus_traced *t, uint32_t region)
{
	const struct gus_traced_function *f = &t->functions.v[t->regions.v[region].function];
	char name[256];

	gus_traced_region_name(t, region, name, sizeof(name));
	return *f->module ? gus_format("%s  [%s]", name, gus_base_name(f->module)) : gus_strdup(name);
}

/* Where measurement and model contradict each other by more than the model is off in general, it is not told why. */
static char *doubt_of(const struct gus_compared_row *row)
{
	if (!row || row->function_verdict != GUS_TRUST_NONE || row->verdict != GUS_TRUST_NONE)
		return NULL;
	return gus_format("it takes %.2f times what the model has it take (%.2f to %.2f), against all else that is in "
			  "both", row->ratio.value, row->ratio.ci.low, row->ratio.ci.high);
}

/* The model's tree is the region's, and the measured one its function's, which has other regions, too. */
static void dispute(const struct gus_explain_view *v, const struct gus_compared_row *row, struct gus_explain_region *r)
{
	const struct gus_traced *t = v->model->traced;
	double modelled[GUS_NODES_OF_TREE];
	uint64_t all = 0;

	for (size_t i = 0; i < t->regions.n; i++)
		if (t->regions.v[i].function == t->regions.v[row->region].function)
			all += v->measured->coverage.by_region[i];
	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		modelled[i] = r->verdict.nodes[i].modelled;
	if (r->tree.readings && all)
		r->disputes_n = gus_causal_disputes(&r->tree.nodes, modelled, (double)row->samples / (double)all,
						    r->disputes);
}

/* Where counters say that a part of the slots is elsewhere which is larger than the model is off in general, what it
 * gains on the model says nothing about the machine. */
static char *contradiction_of(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	const double error = v->told > 0 ? v->told : GUS_CAUSAL_UNTOLD;

	for (size_t i = 0; i < r->disputes_n; i++) {
		const struct gus_causal_dispute *d = &r->disputes[i];

		if (d->modelled < d->low - GUS_CAUSAL_DISPUTED - error ||
		    d->modelled > d->high + GUS_CAUSAL_DISPUTED + error)
			return gus_format("counters contradict the model by more than it is off in general: %s has "
					  "%.0f %% of its slots, and %.0f to %.0f %% by them", gus_nodes[d->node].name,
					  100 * d->modelled, 100 * d->low, 100 * d->high);
	}
	return NULL;
}

static char *few_of(const struct gus_compared_row *row)
{
	return row->samples < FEWEST ? gus_format("only %" PRIu64 " samples are of it", row->samples) : NULL;
}

/* Gains are the stream engine's. Where it has the region take another time than the core engine, which goes cycle by
 * cycle, it lacks what holds the region up, or has what does not. */
static char *disagreement_of(const struct gus_traced *t, uint32_t region)
{
	const struct gus_traced_region *r = &t->regions.v[region];
	double ratio = r->cycles[0] > 0 ? r->core_cycles / r->cycles[0] : 0;

	if (t->core_stopped || !(ratio > 0) || (ratio <= ENGINES_APART && ratio >= 1 / ENGINES_APART))
		return NULL;
	return gus_format("the engines contradict each other: cycle by cycle it takes %.2f times what the stream "
			  "engine has it take, of which the gains are", ratio);
}

/* Why no verdict is told, the first reason; NULL: it is. */
static char *withheld_of(const struct gus_explain_view *v, const struct gus_compared_row *row,
			 const struct gus_explain_region *r)
{
	char *why = doubt_of(row);

	why = why ? why : contradiction_of(v, r);
	why = why ? why : disagreement_of(v->model->traced, row->region);
	return why ? why : few_of(row);
}

static void add_region(const struct gus_explain_engines *e, struct gus_explain_view *v,
		       const struct region_slots *slots, const struct gus_compared_row *row)
{
	const struct gus_traced *t = v->model->traced;
	const struct gus_traced_function *f = &t->functions.v[t->regions.v[row->region].function];
	struct gus_explain_region r = { .name = name_of(t, row->region), .function = f->name, .module = f->module,
		.samples = row->samples, .share = (double)row->samples / (double)v->measured->coverage.samples,
		.modelled = row->modelled_share, .compared = row };

	r.tree = gus_explain_counts_part(v->counts, t->regions.v[row->region].function);
	judge(e, v, row->region, &r.tree, slots[row->region].of, &r.verdict);
	dispute(v, row, &r);
	gus_explain_whatif_answer(&e->whatif, t, row->region, &r.verdict.nodes[GUS_NODE_MISPREDICTS],
				  model_error(v), &r.answers);
	r.withheld = withheld_of(v, row, &r);
	find_insns(t, row->region, &r);
	find_pathologies(e, v, row, &r);
	v->explained += r.share;
	gus_vec_push(&v->regions, r);
}

static int by_samples(const void *a, const void *b)
{
	const struct gus_compared_row *const *x = a, *const *y = b;

	return (*x)->samples != (*y)->samples ? ((*x)->samples < (*y)->samples ? 1 : -1) :
		(*x)->region < (*y)->region ? -1 : (*x)->region > (*y)->region;
}

static void add_regions(const struct gus_explain_engines *e, struct gus_explain_view *v,
			const struct region_slots *slots)
{
	const double least = GUS_EXPLAIN_LEAST * (double)v->measured->coverage.samples;
	const struct gus_compared *c = v->compared;
	const struct gus_compared_row **rows = gus_alloc((c->rows.n + 1) * sizeof(const struct gus_compared_row *));

	for (size_t i = 0; i < c->rows.n; i++)
		rows[i] = &c->rows.v[i];
	if (c->rows.n)
		qsort(rows, c->rows.n, sizeof(*rows), by_samples);
	for (size_t i = 0; i < c->rows.n && v->explained < GUS_EXPLAIN_MATTERS; i++)
		if ((double)rows[i]->samples >= least && rows[i]->instructions)
			add_region(e, v, slots, rows[i]);
	free(rows);
}

/* The model's tree of all that windows have executed, each region as long as it was sampled, against the measured one
 * of the whole. */
static void dispute_whole(struct gus_explain_view *v, const struct region_slots *slots)
{
	double modelled[GUS_NODES_OF_TREE] = { 0 }, covered = 0;

	for (size_t i = 0; i < v->compared->rows.n && v->counts->whole; i++) {
		const struct gus_compared_row *row = &v->compared->rows.v[i];
		const double *of = slots[row->region].of;
		double all = 0, samples = (double)row->samples;

		for (unsigned k = 0; k < GUS_NODES_OF_TREE; k++)
			all += gus_nodes[k].level == 1 ? of[k] : 0;
		for (unsigned k = 0; k < GUS_NODES_OF_TREE && all > 0; k++)
			modelled[k] += samples * of[k] / all;
		covered += all > 0 ? samples : 0;
	}
	for (unsigned k = 0; k < GUS_NODES_OF_TREE && covered > 0; k++)
		modelled[k] /= covered;
	if (covered > 0)
		v->disputes_n = gus_causal_disputes(&v->counts->whole->nodes, modelled, covered /
						    (double)v->measured->coverage.samples, v->disputes);
}

void gus_explain_regions_find(const struct gus_explain_engines *e, struct gus_explain_view *v)
{
	struct region_slots *slots = find_slots(e, v->model->traced);

	add_regions(e, v, slots);
	dispute_whole(v, slots);
	free(slots);
}
