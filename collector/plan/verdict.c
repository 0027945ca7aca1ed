/* SPDX-License-Identifier: MIT */
#include "collector/plan/verdict.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* How good a witness is; the order within a kind of evidence is that of what it says about. */
static const enum gus_plan_evidence evidence_of[] = {
	[GUS_PLAN_BY_NOTHING] = GUS_PLAN_UNKNOWN, [GUS_PLAN_BY_PRECISE] = GUS_PLAN_OBSERVED,
	[GUS_PLAN_BY_WEIGHT] = GUS_PLAN_INFERRED, [GUS_PLAN_BY_SKID] = GUS_PLAN_INFERRED,
	[GUS_PLAN_BY_BRANCHES] = GUS_PLAN_OBSERVED, [GUS_PLAN_BY_RECORD] = GUS_PLAN_OBSERVED,
	[GUS_PLAN_BY_TIMED] = GUS_PLAN_OBSERVED, [GUS_PLAN_BY_SAMPLED] = GUS_PLAN_INFERRED,
	[GUS_PLAN_BY_LATENCY] = GUS_PLAN_INFERRED, [GUS_PLAN_BY_FETCH] = GUS_PLAN_INFERRED,
	[GUS_PLAN_BY_COUNT] = GUS_PLAN_INFERRED, [GUS_PLAN_BY_STACKS] = GUS_PLAN_INFERRED,
};

/* What a row is to an event that it tells, without and with times of retirement. The branch before a sample is the
 * one that was waited for only if the sample names what retires next. */
static enum gus_plan_how how_of(const struct gus_plan_row *row, enum gus_plan_mode mode)
{
	static const enum gus_plan_how hows[][2] = {
		[GUS_PLAN_HEIGHT] = { GUS_PLAN_BY_STACKS, GUS_PLAN_BY_STACKS },
		[GUS_PLAN_OP] = { GUS_PLAN_BY_RECORD, GUS_PLAN_BY_RECORD },
		[GUS_PLAN_FETCH] = { GUS_PLAN_BY_FETCH, GUS_PLAN_BY_FETCH },
		[GUS_PLAN_DATA] = { GUS_PLAN_BY_LATENCY, GUS_PLAN_BY_TIMED },
		[GUS_PLAN_SPLIT] = { GUS_PLAN_BY_SAMPLED, GUS_PLAN_BY_TIMED },
		[GUS_PLAN_RATE] = { GUS_PLAN_BY_COUNT, GUS_PLAN_BY_COUNT },
		[GUS_PLAN_LEADER] = { GUS_PLAN_BY_NOTHING, GUS_PLAN_BY_NOTHING },
	};

	if (row->role == GUS_PLAN_HEIGHT && row->precise)
		return GUS_PLAN_BY_BRANCHES;
	return hows[row->role][mode == GUS_PLAN_TPEBS];
}

/* Behind those that are at least as good. */
static void add_witness(struct gus_plan_verdict *v, const struct gus_plan_row *row, enum gus_plan_mode mode)
{
	enum gus_plan_evidence evidence = evidence_of[how_of(row, mode)];
	size_t at = 0, last = v->n < GUS_PLAN_WITNESSES ? v->n++ : GUS_PLAN_WITNESSES - 1;

	while (at < last && evidence_of[how_of(v->rows[at], mode)] >= evidence)
		at++;
	for (size_t i = last; i > at; i--)
		v->rows[i] = v->rows[i - 1];
	v->rows[at] = row;
	v->how = how_of(v->rows[0], mode);
	v->evidence = evidence_of[v->how];
}

static bool has_records(const struct gus_plan_part *part)
{
	for (size_t i = 0; i < part->events.n; i++)
		if (part->events.v[i].row->role == GUS_PLAN_OP)
			return true;
	return false;
}

static void judge_heights(struct gus_plan_part *part)
{
	struct gus_plan_verdict *v = &part->heights;

	for (size_t i = 0; i < part->events.n; i++) {
		const struct gus_plan_row *row = part->events.v[i].row;

		if (row->role != GUS_PLAN_HEIGHT && row->role != GUS_PLAN_OP)
			continue;
		v->rows[v->n++] = row;
		if (row->role == GUS_PLAN_HEIGHT)
			v->how = row->precise ? GUS_PLAN_BY_PRECISE : has_records(part) ? GUS_PLAN_BY_WEIGHT :
				GUS_PLAN_BY_SKID;
	}
	v->evidence = evidence_of[v->how];
}

void gus_plan_judge(struct gus_plan_part *part, enum gus_plan_mode mode)
{
	judge_heights(part);
	for (size_t i = 0; i < part->events.n; i++)
		for (unsigned bit = 0; bit < GUS_PSV_EVENTS; bit++)
			if (part->events.v[i].row->tells & 1u << bit)
				add_witness(&part->psv[bit], part->events.v[i].row, mode);
}
