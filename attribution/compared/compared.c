/* SPDX-License-Identifier: MIT */
#include "attribution/compared/compared.h"

#include <math.h>
#include <stdlib.h>

#include "attribution/compared/forms.h"
#include "attribution/compared/measured.h"
#include "attribution/compared/weak.h"
#include "attribution/traced/regions.h"
#include "attribution/traced/traced.h"
#include "model/analysis/sensitivity.h"

static const double Z95 = 1.96;
/* The model's figures are hardly ever nearer than that, so a region is not known better than that by its samples. */
static const double FLOOR = 0.05;
enum { COMMON_LEAST = 3, EXPLAINED_OF = 100 };

const char *gus_compared_basis_name(enum gus_compared_basis basis)
{
	static const char *const names[] = { "cycles", "cycles per instruction", "shares" };

	return names[basis];
}

/* What all rows are made with. */
struct maker {
	struct gus_compared *c;
	const struct gus_traced *t;
	const struct gus_measured *m;
	double told, windows, shared;
	bool core;
	double effective;       /* as many samples of equal weight would tell as much as all that there are */
	double between;         /* half of the interval of a run's time, by how runs differ, as a share; 0: one run */
	unsigned char there[GUS_STREAM_LANES];
};

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static double all_cycles(const struct maker *k)
{
	return k->core ? k->t->core_cycles : k->t->cycles[0];
}

static enum gus_compared_basis basis_of(const struct gus_measured *m, double windows)
{
	if (!m->cycles.known)
		return GUS_COMPARED_SHARES;
	if (!(windows > 0))
		return GUS_COMPARED_CYCLES;
	return m->instructions ? GUS_COMPARED_PER_INSTRUCTION : GUS_COMPARED_SHARES;
}

/* Of so much weight, which so many equal samples would tell of as well. */
static struct gus_figure share_in(const struct maker *k, double weight, double all, double effective)
{
	double share = ratio(weight, all);
	double missed = ratio(k->m->unsampled, (double)k->m->coverage.weight + k->m->unsampled);

	return (struct gus_figure){ share, gus_interval_widen(gus_interval_share(share, effective), missed) };
}

/* Of what is in regions. */
static struct gus_figure share_of(const struct maker *k, double weight)
{
	double all = (double)k->m->coverage.covered_weight;

	return share_in(k, weight, all, k->effective * ratio(all, (double)k->m->coverage.weight));
}

/* Cycles at the scale of the trace. Of all time, not only of what is in regions, as how much of it is in regions is
 * sampled as well. counted: instructions that the recording has counted there. */
static struct gus_figure measured_of(const struct maker *k, const struct gus_figure *share, double modelled,
				     uint64_t instructions, double counted)
{
	const struct gus_measured *m = k->m;
	struct gus_figure none = { 0, { 0, INFINITY } }, each = { m->cycles.factor, { m->cycles.low, m->cycles.high } };
	double all = (double)m->coverage.weight, weight = share->value * (double)m->coverage.covered_weight;
	struct gus_figure of_all = share_in(k, weight, all, k->effective);

	if (k->c->basis == GUS_COMPARED_CYCLES)
		return gus_figure_part(&of_all, all / m->runs, &each, k->between);
	if (k->c->basis == GUS_COMPARED_SHARES)
		return gus_figure_against(share, fmax(all_cycles(k) - modelled, 0));
	if (!(counted > 0))
		return none;
	/* Instructions are sampled as well, and known about as well as cycles are. */
	return gus_figure_part(&of_all, all / counted * (double)instructions, &each,
			       share->value > 0 ? (of_all.ci.high - of_all.value) / of_all.value : 0);
}

/* Knobs are the stream engine's: what the core engine's cycles miss is brought to its scale. */
static struct gus_compared_lanes lanes_of(const struct gus_compared_row *row, const double *cycles,
					  const double *errors)
{
	double half = (row->measured.ci.high - row->measured.ci.low) / 2 / Z95, floor = FLOOR * row->modelled;
	double scale = row->modelled > 0 ? cycles[0] / row->modelled : 1;

	return (struct gus_compared_lanes){ cycles, errors, scale * row->measured.value,
		scale * sqrt(half * half + floor * floor) };
}

/* Ratio and verdict of a row whose measured and modelled cycles there are. variance: of the latter. */
static void judge(const struct maker *k, struct gus_compared_row *row, double variance)
{
	double nominal = k->core ? row->nominal : row->modelled;

	row->error = k->t->ops_timed < k->t->ops_run && nominal > 0 ? Z95 * sqrt(variance) / nominal : 0;
	row->modelled_share = ratio(row->modelled, all_cycles(k));
	if (k->c->basis == GUS_COMPARED_SHARES && k->windows > 0)
		row->error = hypot(row->error, gus_figure_against_error(row->modelled_share, k->windows));
	row->verdict = GUS_TRUST_OPEN;
	if (!(row->modelled > 0))
		return;
	row->ratio = gus_figure_ratio(&row->measured, row->modelled, row->error);
	row->verdict = gus_trust_beside(&row->ratio, k->told, k->shared, k->c->basis == GUS_COMPARED_SHARES);
	row->shared = row->verdict != gus_trust_of(&row->ratio, k->told);
}

static double counted_in(const struct maker *k, uint32_t region)
{
	return k->m->instructions ? k->m->instructions[region] : 0;
}

/* What regions of a function come to. */
struct sums { double weight, counted, variance; };

static struct gus_compared_row *make_functions(const struct maker *k)
{
	const struct gus_traced *t = k->t;
	struct gus_compared_row *rows = gus_zalloc((t->functions.n + 1) * sizeof(*rows));
	struct sums *sums = gus_zalloc((t->functions.n + 1) * sizeof(*sums));

	for (uint32_t i = 0; i < t->regions.n; i++) {
		const struct gus_traced_region *r = &t->regions.v[i];
		struct gus_compared_row *row = &rows[r->function];

		row->instructions += r->instructions;
		row->nominal += r->cycles[0];
		row->modelled += k->core ? r->core_cycles : r->cycles[0];
		sums[r->function].weight += (double)k->m->coverage.weights[i];
		sums[r->function].counted += counted_in(k, i);
		sums[r->function].variance += r->errors[0] * r->errors[0];
	}
	for (size_t i = 0; i < t->functions.n; i++) {
		rows[i].share = share_of(k, sums[i].weight);
		rows[i].measured = measured_of(k, &rows[i].share, rows[i].modelled, rows[i].instructions,
					       sums[i].counted);
		judge(k, &rows[i], sums[i].variance);
	}
	free(sums);
	return rows;
}

static void add_row(struct maker *k, uint32_t region, const struct gus_compared_row *function,
		    const struct gus_compared_weak *weak)
{
	const struct gus_traced_region *r = &k->t->regions.v[region];
	const struct gus_measured *m = k->m;
	struct gus_compared_row row = { .region = region, .samples = m->coverage.by_region[region],
		.instructions = r->instructions, .share = share_of(k, (double)m->coverage.weights[region]),
		.nominal = r->cycles[0], .modelled = k->core ? r->core_cycles : r->cycles[0], .weak = *weak };
	struct gus_compared_lanes lanes;

	row.measured = measured_of(k, &row.share, row.modelled, r->instructions, counted_in(k, region));
	judge(k, &row, r->errors[0] * r->errors[0]);
	row.function_ratio = function->ratio;
	row.function_verdict = function->verdict;
	lanes = lanes_of(&row, r->cycles, r->errors);
	if (row.verdict == GUS_TRUST_DOUBTFUL || row.verdict == GUS_TRUST_NONE)
		row.knobs_n = gus_compared_knobs_find(&lanes, k->t->knobs_n, k->there, k->t->options.weight, row.knobs);
	if (row.share.value < 1e-4 && row.modelled_share < 1e-4)
		return;
	k->c->time[function->verdict] += (row.share.value + row.modelled_share) / 2;
	gus_vec_push(&k->c->rows, row);
}

static int by_share(const void *x, const void *y)
{
	const struct gus_compared_row *a = x, *b = y;
	double of_a = fmax(a->share.value, a->modelled_share), of_b = fmax(b->share.value, b->modelled_share);

	if (of_a > of_b || of_b > of_a)
		return of_a > of_b ? -1 : 1;
	return (a->region > b->region) - (a->region < b->region);
}

static void make_whole(struct maker *k, const struct gus_compared_weak *weak)
{
	const struct gus_measured *m = k->m;
	struct gus_compared_row *w = &k->c->whole;
	const struct gus_traced *t = k->t;
	double counted = 0;

	for (size_t i = 0; i < t->regions.n; i++) {
		counted += m->instructions ? m->instructions[i] : 0;
		k->c->distance += fabs(ratio((double)m->coverage.weights[i], (double)m->coverage.covered_weight) -
				       ratio(k->core ? t->regions.v[i].core_cycles : t->regions.v[i].cycles[0],
					     all_cycles(k))) / 2;
	}
	*w = (struct gus_compared_row){ .region = GUS_TRACED_NONE, .samples = m->coverage.covered,
		.instructions = t->instructions - t->warmed, .nominal = t->cycles[0],
		.modelled = all_cycles(k), .share = { 1, { 1, 1 } },
		.weak = *weak };
	if (k->c->basis == GUS_COMPARED_SHARES)
		w->measured = (struct gus_figure){ 0, { 0, INFINITY } };
	else
		w->measured = measured_of(k, &w->share, w->modelled, w->instructions, counted);
	judge(k, w, t->errors[0] * t->errors[0]);
	w->verdict = gus_trust_whole(k->c->time, k->c->basis == GUS_COMPARED_SHARES ? GUS_TRUST_OPEN : w->verdict,
				     gus_trust_is_wide(&w->ratio));
	if (w->shared && w->verdict == GUS_TRUST_FULL) /* by functions alone, but its own ratio is off */
		w->verdict = GUS_TRUST_OPEN;
}

/* Rows that have something to say of what all have in common, in their order. */
static size_t choose_rows(const struct maker *k, struct gus_compared_lanes *lanes, uint32_t *regions)
{
	size_t n = 0;

	for (size_t i = 0; i < k->c->rows.n && n < EXPLAINED_OF; i++) {
		const struct gus_compared_row *row = &k->c->rows.v[i];
		const struct gus_traced_region *r = &k->t->regions.v[row->region];

		if (row->verdict == GUS_TRUST_OPEN || !(row->modelled > 0))
			continue;
		regions[n] = row->region;
		lanes[n++] = lanes_of(row, r->cycles, r->errors);
	}
	return n;
}

/* Whether there is more to explain than errors are. */
static bool is_off(const struct gus_compared_lanes *lanes, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double miss = (lanes[i].measured - lanes[i].cycles[0]) / lanes[i].error;

		sum += miss * miss;
	}
	return sum > (double)n;
}

static void explain_by_forms(struct maker *k, const struct gus_compared_lanes *lanes, const uint32_t *regions, size_t n)
{
	double *missed = gus_alloc(n * sizeof(*missed)), *errors = gus_alloc(n * sizeof(*errors));
	struct gus_compared_forms forms;
	struct gus_residuals r = { .regions = n, .missed = missed, .errors = errors };

	for (size_t i = 0; i < n; i++) {
		missed[i] = lanes[i].measured - lanes[i].cycles[0];
		errors[i] = lanes[i].error;
	}
	gus_compared_forms_count(k->t, regions, n, &forms);
	r.forms = forms.n;
	r.counts = forms.counts;
	gus_residuals_fit(&r, &k->c->forms);
	if (k->c->forms.explained < GUS_RESIDUALS_EXPLAINED || k->c->forms.predicted < GUS_RESIDUALS_EXPLAINED)
		k->c->forms.n = 0;
	k->c->hashes = forms.hashes;
	free(forms.counts);
	free(missed);
	free(errors);
}

static void explain(struct maker *k)
{
	struct gus_compared_lanes *lanes = gus_alloc(EXPLAINED_OF * sizeof(*lanes));
	uint32_t regions[EXPLAINED_OF];
	size_t n = choose_rows(k, lanes, regions);

	k->c->common_of = n;
	k->c->common = (struct gus_compared_common){ -1, 0, 0 };
	if (n >= COMMON_LEAST && is_off(lanes, n))
		k->c->common = gus_compared_knobs_common(lanes, n, k->t->knobs_n, k->there, k->t->options.weight);
	if (k->c->common.explained < GUS_RESIDUALS_EXPLAINED)
		k->c->common.knob = -1;
	if (n >= GUS_RESIDUALS_LEAST && is_off(lanes, n))
		explain_by_forms(k, lanes, regions, n);
	free(lanes);
}

static void begin(struct maker *k)
{
	const struct gus_coverage *c = &k->m->coverage;
	struct gus_summary runs = gus_series_summary(&k->m->covered);

	k->effective = c->weight2 > 0 ? (double)c->weight * (double)c->weight / c->weight2 : 0;
	k->between = runs.n > 1 && runs.mean > 0 ? (runs.ci95.high - runs.mean) / runs.mean : 0;
	for (int i = 0; i < k->t->knobs_n; i++)
		k->there[i] = *k->t->knobs[i].name != '\0';
}

void gus_compared_make(struct gus_compared *c, const struct gus_traced *t, const struct gus_measured *m,
		       const struct gus_compared_options *options)
{
	struct maker k = { .c = c, .t = t, .m = m, .told = options->told, .windows = options->windows,
		.core = options->core, .shared = gus_trust_shared(&options->looks) };
	struct gus_compared_weak *weak = gus_compared_weak_find(t);
	struct gus_compared_row *functions;

	*c = (struct gus_compared){ .basis = basis_of(m, options->windows), .looks = options->looks };
	c->evidence = c->basis == GUS_COMPARED_SHARES ? GUS_OBSERVED : m->cycles.evidence;
	begin(&k);
	functions = make_functions(&k);
	for (uint32_t i = 0; i < t->regions.n; i++)
		if (t->regions.v[i].executed)
			add_row(&k, i, &functions[t->regions.v[i].function], &weak[i]);
	if (c->rows.n)
		qsort(c->rows.v, c->rows.n, sizeof(*c->rows.v), by_share);
	make_whole(&k, &weak[t->regions.n]);
	explain(&k);
	free(functions);
	free(weak);
}

void gus_compared_free(struct gus_compared *c)
{
	gus_vec_free(&c->rows);
	free(c->hashes);
}
