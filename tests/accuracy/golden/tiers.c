/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/tiers.h"

#include <stdlib.h>

#include "attribution/proportional/met.h"
#include "attribution/proportional/groups.h"
#include "attribution/proportional/prior.h"
#include "attribution/proportional/seen.h"
#include "base/error.h"
#include "proto/sample.h"
#include "tests/accuracy/golden/draw.h"
#include "tests/accuracy/golden/words.h"

/* AMD and Arm: plain cycles say where time goes, IBS and SPE what was executed and what it met. */
const struct golden_tier golden_tiers[GOLDEN_TIERS] = {
	{ "pebs", GOLDEN_BY_PEBS, GUS_SPREAD_NEXT, true, GOLDEN_COUNTED_STACKS, 0, false, false, true,
		GOLDEN_BY_LOADS },
	{ "tpebs", GOLDEN_BY_PEBS, GUS_SPREAD_NEXT, true, GOLDEN_COUNTED_SAMPLES, GOLDEN_BY_TPEBS, false, true, true,
		GOLDEN_BY_LOADS },
	{ "ibs", GOLDEN_BY_PMU, GUS_SPREAD_INTERRUPT, false, GOLDEN_COUNTED_SAMPLES, GOLDEN_BY_IBS_OPS, true, false,
		true, GOLDEN_BY_IBS_OPS },
	{ "spe", GOLDEN_BY_PMU, GUS_SPREAD_INTERRUPT, false, GOLDEN_COUNTED_SAMPLES, GOLDEN_BY_SPE, true, false, true,
		GOLDEN_BY_SPE },
	{ "timer", GOLDEN_BY_TIMER, GUS_SPREAD_INTERRUPT, false, GOLDEN_COUNTED_MODEL, 0, false, false, false, 0 },
};

const struct golden_variant golden_variants[GOLDEN_VARIANTS] = {
	{ .name = "default" },
	{ .name = "no-executions", .no_executed = true },
	{ .name = "no-events", .no_met = true },
	{ .name = "cold", .no_warm = true },
	{ .name = "warm", .no_cold = true },
	{ .name = "model-groups", .ways = 0.01 },
	{ .name = "half-groups", .ways = 0.3 },
	{ .name = "any-groups", .ways = 10 },
	{ .name = "strength-10", .strength = 10 },
	{ .name = "strength-1000", .strength = 1000 },
	{ .name = "strength-10000", .strength = 10000 },
};

/* Of interrupts, those on the head itself: tests/accuracy/skid. */
static const double EARLY = 0.012;
/* How much a model's executions count beside samples of time, where nothing was measured of them. */
static const double BY_MODEL = 0.3;
/* Waits are long and few, so samples of them say less than as many of anything else. */
static const double WAITED = 0.1;

/* Some of the samples of a recording, each as likely as any other. */
struct reading {
	struct golden_draw draw;
	double share;
	uint64_t all;
	struct gus_seen *seen;
	bool time, stacks;
};

static uint64_t same(void *context, const struct gus_sample *s, uint64_t address)
{
	(void)context;
	(void)s;
	return address;
}

static void take(void *context, const struct gus_sample *s)
{
	struct reading *r = context;

	r->all++;
	if ((double)(golden_draw_next(&r->draw) >> 11) * 0x1p-53 >= r->share)
		return;
	if (r->time)
		gus_seen_time(r->seen, s, s->ip, r->stacks ? same : NULL, NULL);
	else
		gus_seen_execution(r->seen, s, s->ip);
}

static int read_scheme(const char *folder, enum golden_scheme scheme, uint64_t seed, struct reading *r,
		       struct gus_error *err)
{
	char *path = gus_format("%s/%s.data", folder, golden_schemes[scheme].name);
	int rc;

	r->draw = golden_draw_begin(seed, golden_schemes[scheme].name);
	r->all = 0;
	rc = golden_words_read(path, take, r, err);
	free(path);
	return rc;
}

/* About so many. */
static int read_some(const char *folder, enum golden_scheme scheme, uint64_t samples, uint64_t seed, struct reading *r,
		     struct gus_error *err)
{
	if (read_scheme(folder, scheme, seed, r, err) != 0)
		return -1;
	r->share = r->all ? (double)samples / (double)r->all : 0;
	return read_scheme(folder, scheme, seed, r, err);
}

static void count_executions(const struct golden_tier *t, const struct gus_seen *seen, const struct gus_groups *g,
			     double ipc, struct gus_seen_counts *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);

	if (t->executed == GOLDEN_COUNTED_STACKS)
		gus_seen_ranges(seen, g, out);
	if (t->executed == GOLDEN_COUNTED_SAMPLES)
		gus_seen_executions(seen, g, t->ops, ipc, out);
	for (size_t i = 0; t->executed == GOLDEN_COUNTED_MODEL && i < c->sites.n; i++)
		gus_vec_push(out, (struct gus_site_count){ (uint32_t)i, false,
			     (double)c->sites.v[i].executed / (double)c->cycles });
}

static void see(struct gus_spread *s, enum gus_spread_sight sight, bool behind, const struct gus_seen_counts *counts,
		double samples)
{
	const struct gus_spread_seen seen = { .sight = sight, .counts = counts->v, .n = counts->n, .behind = behind,
		.samples = samples, .early = EARLY };

	gus_spread_see(s, &seen);
}

/* Time comes first. */
static void see_all(struct gus_spread *s, const struct golden_tier *t, const struct golden_variant *variant,
		    const struct gus_seen *seen, const struct gus_groups *g, double ipc,
		    const struct gus_seen_counts *places)
{
	struct gus_seen_counts executed = { 0 }, heads = { 0 }, waited = { 0 };
	double samples = (double)seen->time;

	see(s, t->sight, t->behind, places, samples);
	if (variant->no_executed)
		return;
	count_executions(t, seen, g, ipc, &executed);
	see(s, GUS_SPREAD_EXECUTED, false, &executed,
	    t->executed == GOLDEN_COUNTED_MODEL ? BY_MODEL * samples : samples);
	if (t->retired) {
		gus_seen_retired(seen, g, ipc, &heads, &waited);
		see(s, GUS_SPREAD_HEADS, false, &heads, (double)seen->executed);
		see(s, GUS_SPREAD_WAITED, false, &waited, WAITED * (double)seen->executed);
	}
	gus_vec_free(&executed);
	gus_vec_free(&heads);
	gus_vec_free(&waited);
}

static void put_raw(const struct gus_seen *seen, struct golden_estimates *out)
{
	for (size_t i = 0; i < seen->places.n; i++)
		for (uint64_t k = 0; k < seen->places.v[i].samples; k++)
			gus_vec_push(out, (struct golden_estimate){ seen->places.v[i].address, out->n, 1, 0,
				     UINT16_MAX });
}

static void put_corrected(const struct gus_spread *s, const struct gus_groups *g, const struct gus_seen *seen,
			  const struct gus_seen_counts *places, struct golden_estimates *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	struct gus_spread_cells cells = { 0 };

	gus_spread_share(s, 0, places->v, places->n, &cells);
	for (size_t i = 0; i < cells.n; i++)
		gus_vec_push(out, (struct golden_estimate){ c->sites.v[cells.v[i].site].address, i, cells.v[i].share,
							    cells.v[i].psv, UINT16_MAX });
	for (size_t i = 0; i < seen->places.n; i++)
		if (gus_groups_site(g, seen->places.v[i].address) == UINT32_MAX)
			gus_vec_push(out, (struct golden_estimate){ seen->places.v[i].address, cells.n + i,
				     seen->places.v[i].weight / seen->weight, 0, 0 });
	gus_vec_free(&cells);
}

static void estimate(const struct golden_tier *t, const struct golden_variant *variant, const struct gus_seen *seen,
		     const struct gus_seen *met, const struct gus_groups *g, unsigned width, double ipc,
		     struct golden_estimates *out)
{
	const struct gus_prior_options po = gus_prior_defaults(width);
	struct gus_spread_options so = gus_spread_defaults();
	bool has_met = t->met && !variant->no_met;
	struct gus_seen_counts places = { 0 };
	struct gus_met events = { .shares = { 0 } };
	struct gus_spread *spread;
	struct gus_prior prior;

	so.ways = variant->ways;
	so.strength = variant->strength > 0 ? variant->strength : so.strength;
	if (has_met)
		gus_met_make(&events, g, met, t->ops);
	gus_prior_make(&prior, g, &po, has_met ? &events : NULL);
	spread = gus_spread_new(&prior);
	gus_seen_places(seen, g, t->behind, &places);
	see_all(spread, t, variant, seen, g, ipc, &places);
	gus_spread_fit(spread, &so);
	put_corrected(spread, g, seen, &places, out);
	gus_spread_free(spread);
	gus_prior_free(&prior);
	gus_met_free(&events);
	gus_vec_free(&places);
}

int golden_tier_estimate(const struct golden_tier *t, const struct golden_variant *variant, const char *folder,
			 const struct gus_groups *groups, unsigned width, double ipc, uint64_t samples, uint64_t seed,
			 struct golden_estimates *raw, struct golden_estimates *corrected, struct gus_error *err)
{
	struct gus_seen seen, met;
	struct reading time = { .seen = &seen, .time = true, .stacks = t->executed == GOLDEN_COUNTED_STACKS };
	struct reading executions = { .seen = &seen }, events = { .seen = &met };
	int rc;

	gus_seen_init(&seen);
	gus_seen_init(&met);
	rc = read_some(folder, t->time, samples, seed, &time, err);
	if (rc == 0 && t->executed == GOLDEN_COUNTED_SAMPLES)
		rc = read_some(folder, t->executions, samples, seed, &executions, err);
	if (rc == 0 && t->met)
		rc = read_some(folder, t->events, samples, seed, &events, err);
	if (rc == 0) {
		put_raw(&seen, raw);
		estimate(t, variant, &seen, &met, groups, width, ipc, corrected);
	}
	gus_seen_free(&seen);
	gus_seen_free(&met);
	return rc;
}
