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
		GOLDEN_BY_LOADS, GUS_REPLICATES_STACKS },
	{ "tpebs", GOLDEN_BY_PEBS, GUS_SPREAD_NEXT, true, GOLDEN_COUNTED_SAMPLES, GOLDEN_BY_TPEBS, false, true, true,
		GOLDEN_BY_LOADS, GUS_REPLICATES_RETIRED },
	{ "ibs", GOLDEN_BY_PMU, GUS_SPREAD_INTERRUPT, false, GOLDEN_COUNTED_SAMPLES, GOLDEN_BY_IBS_OPS, true, false,
		true, GOLDEN_BY_IBS_OPS, GUS_REPLICATES_OPS },
	{ "spe", GOLDEN_BY_PMU, GUS_SPREAD_INTERRUPT, false, GOLDEN_COUNTED_SAMPLES, GOLDEN_BY_SPE, true, false, true,
		GOLDEN_BY_SPE, GUS_REPLICATES_OPS },
	{ "timer", GOLDEN_BY_TIMER, GUS_SPREAD_INTERRUPT, false, GOLDEN_COUNTED_MODEL, 0, false, false, false, 0,
		GUS_REPLICATES_MODEL },
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

/* What samples of a recording say: all of them, those of each half, and those of each slice of its time. There are
 * twice as many slices as of the whole or of a half: two are one of the whole, and every other is one of a half. Each
 * is ROUNDS stretches, which come in turns, of as many samples. */
enum { SLICES = 2 * GUS_REPLICATES_SLICES, ROUNDS = 16 };
struct recording { struct gus_seen all[GOLDEN_HALVES], met[GOLDEN_HALVES], slices[SLICES]; };

/* Some of the samples of a recording, each as likely as any other. */
struct reading {
	struct recording *recording;
	struct golden_draw draw;
	double share;
	uint64_t at, all;
	bool time, stacks, met;
};

static uint64_t same(void *context, const struct gus_sample *s, uint64_t address)
{
	(void)context;
	(void)s;
	return address;
}

static void see_one(const struct reading *r, struct gus_seen *seen, const struct gus_sample *s)
{
	if (r->time)
		gus_seen_time(seen, s, s->ip, r->stacks ? same : NULL, NULL);
	else
		gus_seen_execution(seen, s, s->ip);
}

static void take(void *context, const struct gus_sample *s)
{
	struct reading *r = context;
	uint64_t slice = r->at++ * SLICES * ROUNDS / r->all % SLICES;
	enum golden_half half = slice % 2 ? GOLDEN_ODD : GOLDEN_EVEN;
	struct gus_seen *seen = r->met ? r->recording->met : r->recording->all;

	if (golden_draw_unit(&r->draw) >= r->share)
		return;
	see_one(r, &seen[GOLDEN_WHOLE], s);
	see_one(r, &seen[half], s);
	if (!r->met)
		see_one(r, &r->recording->slices[slice], s);
}

static void count(void *context, const struct gus_sample *s)
{
	(void)s;
	++*(uint64_t *)context;
}

/* About so many. */
static int read_some(const struct golden_question *q, enum golden_scheme scheme, struct reading *r,
		     struct gus_error *err)
{
	char *path = gus_format("%s/%s.data", q->folder, golden_schemes[scheme].name);
	int rc = q->counted[scheme] ? 0 : golden_words_read(path, count, &q->counted[scheme], err);

	r->all = q->counted[scheme];
	r->draw = golden_draw_begin(q->seed, golden_schemes[scheme].name);
	r->share = r->all ? (double)q->samples / (double)r->all : 0;
	if (rc == 0)
		rc = golden_words_read(path, take, r, err);
	free(path);
	return rc;
}

static int read_recording(const struct golden_question *q, struct recording *rec, struct gus_error *err)
{
	const struct golden_tier *t = q->tier;
	struct reading time = { .recording = rec, .time = true, .stacks = t->executed == GOLDEN_COUNTED_STACKS };
	struct reading executions = { .recording = rec }, events = { .recording = rec, .met = true };
	int rc = read_some(q, t->time, &time, err);

	if (rc == 0 && t->executed == GOLDEN_COUNTED_SAMPLES)
		rc = read_some(q, t->executions, &executions, err);
	if (rc == 0 && t->met)
		rc = read_some(q, t->events, &events, err);
	return rc;
}

static void begin_recording(struct recording *rec)
{
	for (size_t i = 0; i < GOLDEN_HALVES; i++) {
		gus_seen_init(&rec->all[i]);
		gus_seen_init(&rec->met[i]);
	}
	for (size_t i = 0; i < SLICES; i++)
		gus_seen_init(&rec->slices[i]);
}

static void end_recording(struct recording *rec)
{
	for (size_t i = 0; i < GOLDEN_HALVES; i++) {
		gus_seen_free(&rec->all[i]);
		gus_seen_free(&rec->met[i]);
	}
	for (size_t i = 0; i < SLICES; i++)
		gus_seen_free(&rec->slices[i]);
}

/* What is counted of what was seen, by the rule of each sight; and so much of it, of all that was seen, is there. */

enum { SIGHTS = 4 };    /* time, which comes first, executions, heads of groups, waits */

static void count_executions(const struct golden_question *q, const struct gus_seen *seen, struct gus_seen_counts *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(q->groups);

	if (q->tier->executed == GOLDEN_COUNTED_STACKS)
		gus_seen_ranges(seen, q->groups, out);
	if (q->tier->executed == GOLDEN_COUNTED_SAMPLES)
		gus_seen_executions(seen, q->groups, q->tier->ops, q->ipc, out);
	for (size_t i = 0; q->tier->executed == GOLDEN_COUNTED_MODEL && i < c->sites.n; i++)
		gus_vec_push(out, (struct gus_site_count){ (uint32_t)i, false,
			     (double)c->sites.v[i].executed / (double)c->cycles });
}

static void count_all(const struct golden_question *q, const struct gus_seen *seen, struct gus_seen_counts *out)
{
	gus_seen_places(seen, q->groups, q->tier->behind, &out[0]);
	if (q->variant->no_executed)
		return;
	count_executions(q, seen, &out[1]);
	if (q->tier->retired)
		gus_seen_retired(seen, q->groups, q->ipc, &out[2], &out[3]);
}

static double share_of_slice(const struct golden_tier *t, size_t sight, const struct gus_seen *slice,
			     const struct gus_seen *all)
{
	if (sight == 0)
		return all->weight > 0 ? slice->weight / all->weight : 0;
	if (t->executed == GOLDEN_COUNTED_STACKS)
		return all->stacks ? (double)slice->stacks / (double)all->stacks : 0;
	return all->executed ? (double)slice->executed / (double)all->executed : 0;
}

static void count_slice(const struct golden_question *q, const struct recording *rec, enum golden_half half,
			uint32_t slice, struct gus_replicates_parts *parts)
{
	struct gus_seen_counts counts[SIGHTS] = { { 0 } };
	size_t sights = q->tier->executed == GOLDEN_COUNTED_MODEL ? 1 : SIGHTS;

	count_all(q, &rec->slices[slice], counts);
	for (size_t i = 0; i < SIGHTS; i++) {
		double share = share_of_slice(q->tier, i, &rec->slices[slice], &rec->all[half]);

		for (size_t k = 0; i < sights && k < counts[i].n; k++) {
			struct gus_site_count one = counts[i].v[k];

			one.share *= share;
			if (one.share > 0)
				gus_vec_push(&parts[i], (struct gus_replicates_part){ one, slice / 2 });
		}
		gus_vec_free(&counts[i]);
	}
}

struct sight { enum gus_spread_sight sight; bool behind; double samples; };

/* How many things there are to be seen. */
static size_t list_sights(const struct golden_question *q, const struct gus_seen *seen, struct sight *out)
{
	const struct golden_tier *t = q->tier;
	double time = (double)seen->time, executed = (double)seen->executed;
	bool by_model = t->executed == GOLDEN_COUNTED_MODEL;

	out[0] = (struct sight){ t->sight, t->behind, time };
	out[1] = (struct sight){ GUS_SPREAD_EXECUTED, false, by_model ? BY_MODEL * time : time };
	out[2] = (struct sight){ GUS_SPREAD_HEADS, false, executed };
	out[3] = (struct sight){ GUS_SPREAD_WAITED, false, WAITED * executed };
	return q->variant->no_executed ? 1 : t->retired ? SIGHTS : 2;
}

static void see_all(struct gus_spread *s, const struct sight *sights, size_t n, const struct gus_seen_counts *counts)
{
	for (size_t i = 0; i < n; i++) {
		const struct gus_spread_seen seen = { .sight = sights[i].sight, .counts = counts[i].v,
			.n = counts[i].n, .behind = sights[i].behind, .samples = sights[i].samples, .early = EARLY };

		gus_spread_see(s, &seen);
	}
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

static void replicate(const struct golden_question *q, const struct recording *rec, enum golden_half half,
		      struct gus_spread *spread, struct gus_prior *prior, const struct gus_seen_counts *counts,
		      size_t sights, double strength, struct gus_replicates *out)
{
	struct gus_replicates_options o = gus_replicates_defaults(q->tier->evidence);
	struct gus_replicates_parts parts[SIGHTS] = { { 0 } };
	struct gus_replicates_seen seen[SIGHTS];

	o.samples = (double)rec->all[half].time;
	o.strength = strength;
	for (uint32_t i = 0; i < SLICES; i++)
		if (half == GOLDEN_WHOLE || i % 2 == (half == GOLDEN_ODD))
			count_slice(q, rec, half, i, parts);
	for (size_t i = 0; i < sights; i++)
		seen[i] = (struct gus_replicates_seen){ counts[i].v, counts[i].n, parts[i].v, parts[i].n };
	gus_replicates_make(out, spread, prior, seen, sights, &o);
	for (size_t i = 0; i < SIGHTS; i++)
		gus_vec_free(&parts[i]);
}

/* out, replicates: either may be NULL. */
static void estimate(const struct golden_question *q, const struct recording *rec, enum golden_half half,
		     struct golden_estimates *out, struct gus_replicates *replicates)
{
	const struct gus_seen *seen = &rec->all[half];
	const struct gus_prior_options po = gus_prior_defaults(q->width);
	struct gus_spread_options so = gus_spread_defaults();
	bool has_met = q->tier->met && !q->variant->no_met;
	struct gus_seen_counts counts[SIGHTS] = { { 0 } };
	struct gus_met events = { .shares = { 0 } };
	struct sight sights[SIGHTS];
	struct gus_spread *spread;
	struct gus_prior prior;
	size_t n;

	so.ways = q->variant->ways;
	so.strength = q->variant->strength > 0 ? q->variant->strength : so.strength;
	if (has_met)
		gus_met_make(&events, q->groups, &rec->met[half], q->tier->ops);
	gus_prior_make(&prior, q->groups, &po, has_met ? &events : NULL);
	spread = gus_spread_new(&prior);
	count_all(q, seen, counts);
	n = list_sights(q, seen, sights);
	see_all(spread, sights, n, counts);
	gus_spread_fit(spread, &so);
	if (out)
		put_corrected(spread, q->groups, seen, counts, out);
	if (replicates)
		replicate(q, rec, half, spread, &prior, counts, n, so.strength, replicates);
	gus_spread_free(spread);
	gus_prior_free(&prior);
	gus_met_free(&events);
	for (size_t i = 0; i < SIGHTS; i++)
		gus_vec_free(&counts[i]);
}

int golden_tier_estimate(const struct golden_question *q, struct golden_estimates *raw,
			 struct golden_estimates *corrected, struct gus_replicates *replicates, struct gus_error *err)
{
	struct recording *rec = gus_zalloc(sizeof(*rec));
	int rc;

	begin_recording(rec);
	rc = read_recording(q, rec, err);
	if (rc == 0) {
		put_raw(&rec->all[GOLDEN_WHOLE], raw);
		estimate(q, rec, GOLDEN_WHOLE, corrected, replicates);
	}
	for (enum golden_half half = GOLDEN_EVEN; rc == 0 && replicates && half < GOLDEN_HALVES; half++)
		estimate(q, rec, half, NULL, &replicates[half]);
	end_recording(rec);
	free(rec);
	return rc;
}
