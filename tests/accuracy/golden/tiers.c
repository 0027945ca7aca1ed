/* SPDX-License-Identifier: MIT */
#include "tests/accuracy/golden/tiers.h"

#include <stdlib.h>

#include "attribution/proportional/solution.h"
#include "attribution/proportional/groups.h"
#include "attribution/proportional/seen.h"
#include "base/error.h"
#include "proto/sample.h"
#include "tests/accuracy/golden/draw.h"
#include "tests/accuracy/golden/words.h"

/* AMD and Arm: plain cycles say where time goes, IBS and SPE what was executed and what it met. */
const struct golden_tier golden_tiers[GOLDEN_TIERS] = {
	{ "pebs", GOLDEN_BY_PEBS, GUS_SPREAD_NEXT, true, GUS_SOLUTION_BY_STACKS, 0, true, GOLDEN_BY_LOADS },
	{ "tpebs", GOLDEN_BY_PEBS, GUS_SPREAD_NEXT, true, GUS_SOLUTION_BY_INSNS, GOLDEN_BY_TPEBS, true,
		GOLDEN_BY_LOADS },
	{ "ibs", GOLDEN_BY_PMU, GUS_SPREAD_INTERRUPT, false, GUS_SOLUTION_BY_OPS, GOLDEN_BY_IBS_OPS, true,
		GOLDEN_BY_IBS_OPS },
	{ "spe", GOLDEN_BY_PMU, GUS_SPREAD_INTERRUPT, false, GUS_SOLUTION_BY_OPS, GOLDEN_BY_SPE, true, GOLDEN_BY_SPE },
	{ "timer", GOLDEN_BY_TIMER, GUS_SPREAD_INTERRUPT, false, GUS_SOLUTION_BY_MODEL, 0, false, 0 },
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
	struct reading time = { .recording = rec, .time = true, .stacks = t->executed == GUS_SOLUTION_BY_STACKS };
	struct reading executions = { .recording = rec }, events = { .recording = rec, .met = true };
	int rc = read_some(q, t->time, &time, err);

	if (rc == 0 && golden_tier_samples(t))
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

static void put_raw(const struct gus_seen *seen, struct golden_estimates *out)
{
	for (size_t i = 0; i < seen->places.n; i++)
		for (uint64_t k = 0; k < seen->places.v[i].samples; k++)
			gus_vec_push(out, (struct golden_estimate){ seen->places.v[i].address, out->n, 1, 0,
				     UINT16_MAX });
}

static void put_corrected(const struct gus_solution *e, const struct gus_groups *g, const struct gus_seen *seen,
			  struct golden_estimates *out)
{
	const struct gus_groups_counts *c = gus_groups_counts(g);
	const struct gus_replicates *r = &e->replicates;

	for (size_t i = 0; i < r->cells.n; i++)
		gus_vec_push(out, (struct golden_estimate){ c->sites.v[r->cells.v[i].site].address, i,
			     r->cells.v[i].share, r->cells.v[i].psv, UINT16_MAX });
	for (size_t i = 0; i < seen->places.n; i++)
		if (gus_groups_site(g, seen->places.v[i].address) == UINT32_MAX)
			gus_vec_push(out, (struct golden_estimate){ seen->places.v[i].address, r->cells.n + i,
				     seen->places.v[i].weight / seen->weight, 0, 0 });
}

/* Of one slice, as shares of all time. */
static void put_time(const struct golden_question *q, const struct gus_seen *slice, const struct gus_seen *all,
		     uint32_t number, struct gus_replicates_parts *time)
{
	for (size_t i = 0; i < slice->places.n; i++) {
		const struct gus_seen_place *p = &slice->places.v[i];
		uint32_t site = gus_groups_site(q->groups, p->address);

		if (site != UINT32_MAX)
			gus_vec_push(time, (struct gus_replicates_part){ { site, q->tier->behind && p->behind,
				     p->weight / all->weight }, number, 0 });
	}
}

/* What is given of the whole or a half, whose slices are as many. */
static void give(const struct golden_question *q, const struct recording *rec, enum golden_half half,
		 struct gus_replicates_parts *time, struct gus_solution_slice *slices, struct gus_solution_given *g)
{
	const struct golden_tier *t = q->tier;

	*g = (struct gus_solution_given){ .groups = q->groups, .width = q->width, .sight = t->sight,
		.behind = t->behind, .early = EARLY, .samples = (double)rec->all[half].time, .slices = slices,
		.executions = q->variant->no_executed ? GUS_SOLUTION_BY_NOTHING : t->executed,
		.seen = &rec->all[half], .ipc = q->ipc,
		.met = t->met && !q->variant->no_met ? &rec->met[half] : NULL,
		.met_by_ops = t->executed == GUS_SOLUTION_BY_OPS, .ways = q->variant->ways,
		.strength = q->variant->strength };
	for (uint32_t i = 0; i < SLICES; i++) {
		if (half != GOLDEN_WHOLE && (half == GOLDEN_ODD) != i % 2)
			continue;
		put_time(q, &rec->slices[i], &rec->all[half], i / 2, time);
		slices[g->slices_n++] = (struct gus_solution_slice){ &rec->slices[i], i / 2 };
	}
	g->time = time->v;
	g->time_n = time->n;
}

/* out, replicates: either may be NULL. */
static void estimate(const struct golden_question *q, const struct recording *rec, enum golden_half half,
		     struct golden_estimates *out, struct gus_replicates *replicates)
{
	struct gus_solution_slice slices[SLICES];
	struct gus_replicates_parts time = { 0 };
	struct gus_solution_given given;
	struct gus_solution e;

	give(q, rec, half, &time, slices, &given);
	gus_solution_make(&e, &given, replicates != NULL);
	if (out)
		put_corrected(&e, q->groups, &rec->all[half], out);
	if (replicates) {
		*replicates = e.replicates;
		e.replicates = (struct gus_replicates){ .shares = NULL };
	}
	gus_solution_free(&e);
	gus_vec_free(&time);
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
