/* SPDX-License-Identifier: MIT */
#include "collector/events/planned.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/error.h"
#include "collector/events/event.h"
#include "collector/events/pmu.h"
#include "collector/kernel/abi.h"
#include "collector/plan/plan.h"

#define WEIGHTS (PERF_SAMPLE_DATA_SRC | GUS_PERF_WEIGHT_STRUCT)

/* While a plan becomes events. */
struct taker {
	struct gus_events *events;
	const struct gus_plan *plan;
	const char *asked;
	struct gus_pmus *pmus;
	uint32_t group;         /* the last number that was given */
};

/* A PMU by the beginning of its name: how many there are of SPE, and what a devicetree calls that of a core, is not
 * the same everywhere. */
static const struct gus_pmu *find(struct gus_pmus *pmus, const char *begins)
{
	gus_pmus_list(pmus);
	for (size_t i = 0; i < pmus->list.n; i++)
		if (strncmp(pmus->list.v[i].name, begins, strlen(begins)) == 0)
			return &pmus->list.v[i];
	return NULL;
}

static const char *unit_name(const struct gus_plan_part *part, enum gus_plan_unit unit)
{
	static const char *const names[] = { [GUS_PLAN_ON_IBS_OP] = "ibs_op", [GUS_PLAN_ON_IBS_FETCH] = "ibs_fetch",
		[GUS_PLAN_ON_SPE] = "arm_spe" };

	return unit == GUS_PLAN_ON_CORE ? part->pmu : names[unit];
}

static const struct gus_pmu *pmu_of(struct gus_pmus *pmus, const struct gus_plan_part *part, enum gus_plan_unit unit)
{
	const char *name = unit_name(part, unit);
	const struct gus_pmu *exact = unit == GUS_PLAN_ON_CORE ? gus_pmus_find(pmus, name) : NULL;

	if (!exact && strncmp(name, "armv8_", 6) == 0)
		return find(pmus, "armv8_");
	return exact || unit == GUS_PLAN_ON_CORE ? exact : find(pmus, name);
}

static enum gus_event_words words_of(const struct gus_plan_event *e)
{
	static const enum gus_event_words words[] = { [GUS_PLAN_ON_IBS_OP] = GUS_WORDS_IBS_OP,
		[GUS_PLAN_ON_IBS_FETCH] = GUS_WORDS_IBS_FETCH, [GUS_PLAN_ON_SPE] = GUS_WORDS_SPE,
		[GUS_PLAN_BY_KERNEL] = GUS_WORDS_NONE };

	if (e->row->unit != GUS_PLAN_ON_CORE || !(e->sample_type & WEIGHTS))
		return words[e->row->unit];
	return GUS_WORDS_DATA;
}

/* Where there are two kinds of cores an event's name says whose it is. */
static char *name_of(const struct gus_plan *plan, const struct gus_plan_part *part, const struct gus_plan_row *row)
{
	if (plan->n > 1 && row->unit == GUS_PLAN_ON_CORE)
		return gus_format("%s/%s/", part->pmu, row->name);
	return gus_strdup(row->name);
}

/* The kernel's own events count all of a task, on whatever core: they are the first part's, everywhere. */
static bool has_taken(const struct gus_events *events, const struct gus_plan_row *row)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i].type == PERF_TYPE_SOFTWARE && events->v[i].config == row->config)
			return true;
	return false;
}

static int take_event(struct taker *t, const struct gus_plan_part *part, const struct gus_plan_event *planned,
		      const struct gus_plan_group *group, uint32_t number, struct gus_error *err)
{
	const struct gus_plan_row *row = planned->row;
	const struct gus_pmu *pmu = row->unit == GUS_PLAN_BY_KERNEL ? NULL : pmu_of(t->pmus, part, row->unit);
	struct gus_event e = {
		.type = pmu ? pmu->type : PERF_TYPE_SOFTWARE, .config = row->config, .config1 = row->config1,
		.config2 = row->config2, .period = planned->samples ? planned->period : 0, .precise = row->precise,
		.planned = planned->samples ? planned->period : 0,
		.counts = !planned->samples, .bare = row->role != GUS_PLAN_HEIGHT, .group = number,
		.cycles = row->role == GUS_PLAN_HEIGHT && row->unit == GUS_PLAN_ON_CORE,
		.extra = planned->samples ? planned->sample_type : 0, .words = words_of(planned),
		.turns = group->always ? 0 : group->turns, .turns_n = group->always ? 0 : part->turns,
	};

	if (row->unit == GUS_PLAN_BY_KERNEL && has_taken(t->events, row))
		return 0;
	if (!pmu && row->unit != GUS_PLAN_BY_KERNEL)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot record %s: the kernel has no PMU %s here, which counts "
				"%s; gusprof doctor says more", t->asked, unit_name(part, row->unit), row->name);
	e.asked = gus_strdup(t->asked);
	e.base = name_of(t->plan, part, row);
	e.pmu = pmu ? gus_strdup(pmu->name) : NULL;
	e.cpus = pmu && pmu->cpus && t->plan->n > 1 ? gus_strdup(pmu->cpus) : NULL;
	gus_event_rename(&e);
	gus_vec_push(t->events, e);
	return 0;
}

static bool has_heights(const struct gus_plan_part *part, const struct gus_plan_group *g)
{
	return part->events.v[g->first].row->role == GUS_PLAN_HEIGHT;
}

static int take_groups(struct taker *t, const struct gus_plan_part *part, bool heights, struct gus_error *err)
{
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct gus_plan_group *g = &part->groups.v[i];
		uint32_t number = g->n > 1 ? ++t->group : 0;

		for (size_t k = 0; has_heights(part, g) == heights && k < g->n; k++)
			if (take_event(t, part, &part->events.v[g->first + k], g, number, err) != 0)
				return -1;
	}
	return 0;
}

int gus_planned_events(struct gus_events *events, const struct gus_plan *plan, const char *asked,
		       struct gus_pmus *pmus, struct gus_error *err)
{
	struct taker t = { events, plan, asked, pmus, 0 };

	int rc = 0;

	for (size_t i = 0; rc == 0 && i < 2 * plan->n; i++)
		rc = take_groups(&t, &plan->parts[i % plan->n], i < plan->n, err);
	return rc;
}
