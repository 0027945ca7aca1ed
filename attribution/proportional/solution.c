/* SPDX-License-Identifier: MIT */
#include "attribution/proportional/solution.h"

#include <stdlib.h>

#include "attribution/proportional/groups.h"
#include "attribution/proportional/seen.h"
#include "base/heed.h"

/* How much a model's executions count beside samples of time, where nothing was measured of them; and how much cycles
 * that were waited do, which are long and few (docs/accuracy.md). */
static const double BY_MODEL = 0.3, WAITED = 0.1;
/* Of each sample, and of each site, in nats: of the right width fits of 400,000 samples leave 0.0001 to 0.003. */
static const double LITTLE = 0.005, BY_CHANCE = 0.1;

/* How far executions in a cycle may be off, as a logarithm, by a model that was not calibrated: loops of a cycle an
 * iteration that it has with seven, and others by less. Of calibrated ones the other doubts hold what is true as often
 * as they should (docs/accuracy.md). */
static const double NOMINAL = 0.5;

/* Of all time, at the second of two fused instructions: less is by chance, such as a way into their midst. */
static const double HALVES = 0.002;

/* Time, which comes first, executions, heads of groups, waits. */
enum { SIGHTS = 4 };
struct sight { enum gus_spread_sight sight; double samples; struct gus_seen_counts counts; };

static double model_ipc(const struct gus_groups_counts *c)
{
	double instructions = 0;

	for (size_t i = 0; i < c->sites.n; i++)
		instructions += (double)c->sites.v[i].executed * c->sites.v[i].weight;
	return instructions / (double)c->cycles;
}

static double ipc_of(const struct gus_solution_given *g)
{
	return g->ipc > 0 ? g->ipc : model_ipc(gus_groups_counts(g->groups));
}

static double sum_of_time(const struct gus_solution_given *g)
{
	double sum = 0;

	for (size_t i = 0; i < g->time_n; i++)
		sum += g->time[i].count.share;
	return sum;
}

static bool is_retired_told(const struct gus_solution_given *g)
{
	return g->executions == GUS_SOLUTION_BY_INSNS && g->seen->told > 0;
}

/* What the model executes in the time that is at its sites. */
static void count_model(const struct gus_solution_given *g, struct gus_seen_counts *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(g->groups);
	double time = sum_of_time(g);

	for (size_t i = 0; i < c->sites.n; i++)
		gus_vec_push(out, (struct gus_site_count){ (uint32_t)i, false,
			     time * (double)c->sites.v[i].executed / (double)c->cycles });
}

/* Of what was seen: executions, heads, waits. */
static void count_seen(const struct gus_solution_given *g, const struct gus_seen *seen,
		       struct gus_seen_counts *executed, struct gus_seen_counts *heads, struct gus_seen_counts *waited)
{
	if (g->executions == GUS_SOLUTION_BY_STACKS)
		gus_seen_ranges(seen, g->groups, executed);
	else
		gus_seen_executions(seen, g->groups, g->executions == GUS_SOLUTION_BY_OPS, ipc_of(g), executed);
	if (is_retired_told(g))
		gus_seen_retired(seen, g->groups, ipc_of(g), heads, waited);
}

/* How many things there are to be seen. */
static size_t list_sights(const struct gus_solution_given *g, struct sight *s)
{
	s[0].sight = g->sight;
	s[1].sight = GUS_SPREAD_EXECUTED;
	s[2].sight = GUS_SPREAD_HEADS;
	s[3].sight = GUS_SPREAD_WAITED;
	s[0].samples = s[1].samples = g->samples;
	for (size_t i = 0; i < g->time_n; i++)
		gus_vec_push(&s[0].counts, g->time[i].count);
	if (g->executions == GUS_SOLUTION_BY_NOTHING)
		return 1;
	if (g->executions == GUS_SOLUTION_BY_MODEL) {
		s[1].samples *= BY_MODEL;
		count_model(g, &s[1].counts);
		return 2;
	}
	count_seen(g, g->seen, &s[1].counts, &s[2].counts, &s[3].counts);
	s[2].samples = (double)g->seen->executed;
	s[3].samples = WAITED * (double)g->seen->executed;
	return is_retired_told(g) ? SIGHTS : 2;
}

/* Whether the CPU takes interrupts between what the model fuses: not one sample is there else. */
static bool sees_halves(const struct gus_solution_given *g)
{
	double second = 0;

	for (size_t i = 0; i < g->time_n; i++)
		second += g->time[i].count.second ? g->time[i].count.share : 0;
	return second > HALVES * sum_of_time(g);
}

static void see_all(struct gus_spread *spread, const struct gus_solution_given *g, const struct sight *sights, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gus_spread_seen seen = { .sight = sights[i].sight, .counts = sights[i].counts.v,
			.n = sights[i].counts.n, .behind = i == 0 && g->behind, .samples = sights[i].samples,
			.early = g->early, .halves = i == 0 && sees_halves(g),
			.runs = i == 0 && g->runs };

		gus_spread_see(spread, &seen);
	}
}

/* So much of all that was seen is in the slice. */
static double share_of(const struct gus_solution_given *g, const struct gus_seen *slice)
{
	double part = (double)(g->executions == GUS_SOLUTION_BY_STACKS ? slice->stacks : slice->executed);
	double all = (double)(g->executions == GUS_SOLUTION_BY_STACKS ? g->seen->stacks : g->seen->executed);

	return all > 0 ? part / all : 0;
}

static void count_slice(const struct gus_solution_given *g, const struct gus_solution_slice *slice,
			struct gus_replicates_parts *parts)
{
	struct gus_seen_counts counts[SIGHTS] = { { 0 } };

	count_seen(g, slice->seen, &counts[1], &counts[2], &counts[3]);
	for (size_t i = 1; i < SIGHTS; i++) {
		for (size_t k = 0; k < counts[i].n; k++) {
			struct gus_site_count one = counts[i].v[k];

			one.share *= share_of(g, slice->seen);
			if (one.share > 0)
				gus_vec_push(&parts[i], (struct gus_replicates_part){ one, slice->slice, 0 });
		}
		gus_vec_free(&counts[i]);
	}
}

static enum gus_replicates_evidence evidence_of(const struct gus_solution_given *g)
{
	if (g->executions == GUS_SOLUTION_BY_STACKS)
		return GUS_REPLICATES_STACKS;
	if (is_retired_told(g))
		return GUS_REPLICATES_RETIRED;
	return g->executions == GUS_SOLUTION_BY_OPS || g->executions == GUS_SOLUTION_BY_INSNS ? GUS_REPLICATES_OPS :
		GUS_REPLICATES_MODEL;
}

static void explain(struct gus_solution *e, const struct gus_solution_given *g, const struct gus_spread *spread,
		    struct gus_replicates_parts *time)
{
	for (size_t i = 0; i < g->time_n; i++) {
		if (gus_spread_sees(spread, 0, &g->time[i].count))
			gus_vec_push(time, g->time[i]);
		else
			gus_vec_push(&e->left, i);
	}
}

static double strength_of(const struct gus_solution_given *g)
{
	return g->strength > 0 ? g->strength : gus_spread_defaults().strength;
}

/* A fit, and what it is made of. */
struct fit { unsigned width; struct gus_prior prior; struct gus_spread *spread; double deviance; };

static void fit_begin(struct fit *f, const struct gus_solution *e, const struct gus_solution_given *g,
		      const struct sight *sights, size_t n, unsigned width)
{
	const struct gus_prior_options po = gus_prior_defaults(width);
	struct gus_spread_options so = gus_spread_defaults();

	f->width = po.width;
	so.ways = g->ways;
	so.strength = strength_of(g);
	gus_prior_make(&f->prior, g->groups, &po, g->met ? &e->met : NULL);
	f->spread = gus_spread_new(&f->prior);
	see_all(f->spread, g, sights, n);
	gus_spread_fit(f->spread, &so);
	f->deviance = gus_spread_deviance(f->spread);
}

static void fit_end(struct fit *f)
{
	gus_spread_free(f->spread);
	gus_prior_free(&f->prior);
}

/* What of the samples a fit of the right width may leave unexplained, in nats: so much for each site and sight by
 * chance, which is less than the half of independent counts, and a little, as windows are not all of the run. */
static double unexplained(const struct gus_solution_given *g, size_t sights)
{
	return LITTLE * g->samples + BY_CHANCE * (double)(sights * gus_groups_counts(g->groups)->sites.n);
}

/* How many ops retire in a cycle is timed with difficulty, and then it is a relative's: one that is too narrow shows,
 * as no groups of so few explain that much executed in so few cycles. Then twice as many is tried, and kept if it
 * leaves no more than half of that. */
static struct fit *fit_width(struct fit fits[2], const struct gus_solution *e, const struct gus_solution_given *g,
			     const struct sight *sights, size_t n)
{
	unsigned better;

	fit_begin(&fits[0], e, g, sights, n, g->width);
	if (fits[0].deviance <= unexplained(g, n) || fits[0].width == GUS_GROUP_MOST)
		return &fits[0];
	fit_begin(&fits[1], e, g, sights, n, 2 * g->width);
	better = 2 * fits[1].deviance < fits[0].deviance;
	fit_end(&fits[!better]);
	return &fits[better];
}

static void heed(void *context, double share)
{
	gus_heed_tell(context, "finding out how sure that is", share);
}

/* time: what of it is explained. */
static void replicate(struct gus_solution *e, const struct gus_solution_given *g, struct fit *f,
		      const struct sight *sights, size_t n, const struct gus_replicates_parts *time, bool replicates)
{
	struct gus_replicates_options o = gus_replicates_defaults(evidence_of(g));
	struct gus_replicates_parts parts[SIGHTS] = { *time };
	struct gus_replicates_seen seen[SIGHTS];

	o.replicates = replicates;
	o.heed = heed;
	o.heed_context = (void *)(uintptr_t)g->heed;
	if (g->nominal && g->executions == GUS_SOLUTION_BY_MODEL)
		o.doubts.executed = NOMINAL;
	o.samples = g->samples;
	o.strength = strength_of(g);
	for (size_t i = 0; n > 1 && replicates && g->seen && i < g->slices_n; i++)
		count_slice(g, &g->slices[i], parts);
	for (size_t i = 0; i < n; i++)
		seen[i] = (struct gus_replicates_seen){ sights[i].counts.v, sights[i].counts.n, parts[i].v,
			parts[i].n };
	gus_replicates_make(&e->replicates, f->spread, &f->prior, seen, n, &o);
	for (size_t i = 1; i < SIGHTS; i++)
		gus_vec_free(&parts[i]);
}

void gus_solution_make(struct gus_solution *e, const struct gus_solution_given *g, bool replicates)
{
	struct gus_replicates_parts time = { 0 };
	struct sight sights[SIGHTS] = { { 0 } };
	struct fit fits[2], *fit;
	size_t n;

	*e = (struct gus_solution){ .width = 0 };
	if (g->met)
		gus_met_make(&e->met, g->groups, g->met, g->met_by_ops);
	n = list_sights(g, sights);
	gus_heed_tell(g->heed, "finding out whose the time is", -1);
	fit = fit_width(fits, e, g, sights, n);
	e->width = fit->width;
	explain(e, g, fit->spread, &time);
	if (time.n)
		replicate(e, g, fit, sights, n, &time, replicates);
	fit_end(fit);
	gus_vec_free(&time);
	for (size_t i = 0; i < SIGHTS; i++)
		gus_vec_free(&sights[i].counts);
}

void gus_solution_free(struct gus_solution *e)
{
	gus_replicates_free(&e->replicates);
	gus_vec_free(&e->left);
	gus_met_free(&e->met);
}
