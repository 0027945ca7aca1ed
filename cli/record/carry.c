/* SPDX-License-Identifier: MIT */
/* Which event samples: of Intel's big cores, whose metrics can only be read in a group that `slots` leads, and neither
 * of which may sample then (intel_pmu_hw_config() of arch/x86/events/intel/core.c), the one that -e auto takes, as a
 * member more. Where the table counts cycles itself, those: it needs no counter more, and on AMD's it is of the same
 * PMU, as precise cycles are not. */
#include "cli/record/carry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collector/events/event.h"
#include "collector/events/pmu.h"
#include "collector/trial/carried.h"
#include "collector/trial/probe.h"

#define DEEPEST 2 /* level; what is below is of groups that take turns */

/* The table's deepest level whose events are one group, as a list; 0 if there is none. */
static unsigned level_of(const struct gus_topdown *t)
{
	uint32_t *list = gus_alloc((t->events.n + 1) * sizeof(*list));
	unsigned level = t->levels < DEEPEST ? t->levels : DEEPEST;

	for (; level; level--) {
		size_t n = gus_topdown_events(t, level, list), i = 1;

		while (i < n && t->events.v[list[i]].group == t->events.v[list[0]].group)
			i++;
		if (n && i >= n)
			break;
	}
	free(list);
	return level;
}

/* The table of the cores that the event is of; NULL: there is none that can be counted. */
static const struct gus_topdown *table_of(const struct gus_topdown_tables *tables, const struct gus_event *e,
					  struct gus_pmus *pmus)
{
	for (size_t i = 0; i < tables->n; i++) {
		const struct gus_topdown *t = tables->v[i];
		const struct gus_pmu *pmu = t->lacks ? NULL : gus_pmus_find(pmus, t->pmu);

		if (pmu && (e->cpus && pmu->cpus ? strcmp(e->cpus, pmu->cpus) == 0 : e->cpus == pmu->cpus))
			return t;
	}
	return NULL;
}

static void name_it(struct gus_event *e, const struct gus_topdown *t, const char *asked)
{
	if (e->cpus) {
		char *base = gus_format("%s/%s/", t->pmu, e->base);

		free(e->base);
		e->base = base;
	}
	free(e->asked);
	e->asked = gus_strdup(asked);
	free(e->pmu);
	e->pmu = gus_strdup(t->pmu);
}

/* Gives the counted events and the sampled one, in that order, to the list; takes them over. */
static void add_group(struct gus_events *events, struct gus_events *counted, struct gus_event *chosen,
		      const struct gus_topdown *t, uint32_t number)
{
	struct gus_event sampled = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < counted->n; i++) {
		struct gus_event *e = &counted->v[i];
		bool samples = strcmp(e->base, "cycles") == 0;

		name_it(e, t, chosen->asked);
		e->user = chosen->user;
		e->kernel = chosen->kernel;
		e->hv = chosen->hv;
		e->counts = !samples;
		e->leads = i == 0;
		e->group = number;
		if (samples)
			sampled = *e;
		else
			counted->v[kept++] = *e;
	}
	counted->n = kept;
	if (sampled.base) {
		sampled.precise = chosen->precise;
		sampled.cycles = true;
	} else {
		sampled = *chosen;
		*chosen = (struct gus_event){ 0 };
		if (!sampled.pmu)
			sampled.pmu = gus_strdup(t->pmu);
		sampled.group = number;
	}
	gus_event_bring_counts(&sampled, true);
	gus_event_rename(&sampled);
	gus_vec_push(events, sampled);
	for (size_t i = 0; i < counted->n; i++) {
		gus_event_rename(&counted->v[i]);
		gus_vec_push(events, counted->v[i]);
	}
	gus_vec_free(counted);
}

struct gus_event gus_record_carry_alone(const struct gus_event *event)
{
	struct gus_event alone = *event;

	gus_event_bring_counts(&alone, false);
	return alone;
}

static void move_event(struct gus_events *to, struct gus_event *e)
{
	gus_vec_push(to, *e);
	*e = (struct gus_event){ 0 };
}

static size_t behind(const struct gus_topdown_counted_list *counted)
{
	const struct gus_topdown_counted *last = counted->n ? &counted->v[counted->n - 1] : NULL;

	return last ? last->first + last->n : 0;
}

static int carry_table(struct gus_events *events, struct gus_event *chosen, const struct gus_topdown *t,
		       struct gus_topdown_counted_list *counted, struct gus_pmus *pmus, struct gus_error *err)
{
	struct gus_topdown_counted entry = { t, level_of(t), behind(counted), 0 };
	struct gus_events own = { 0 };
	char *spec;
	int rc;

	if (!entry.level)
		return gus_fail(err, GUS_E_UNSUPPORTED, "the events of the first level (%s) are not one group here, "
				"which is all that a sample can bring along; --topdown without =samples counts them "
				"beside the samples", t->title);
	spec = gus_topdown_spec(t, entry.level);
	rc = gus_events_parse(&own, spec, pmus, err);
	free(spec);
	if (rc != 0) {
		gus_events_free(&own);
		return -1;
	}
	entry.n = own.n;
	gus_vec_push(counted, entry);
	add_group(events, &own, chosen, t, (uint32_t)counted->n);
	return 0;
}

static void say(const struct gus_events *events, const struct gus_topdown_counted_list *counted,
		struct gus_choice *choice)
{
	size_t n;

	gus_probe_describe(events, choice);
	n = strlen(choice->text);
	snprintf(choice->text + n, sizeof(choice->text) - n, "; its samples bring along what %zu events of the "
		 "top-down method have counted (%s, level %u)", counted->v[0].n, counted->v[0].table->title,
		 counted->v[0].level);
}

int gus_record_carry(struct gus_events *events, struct gus_topdown_counted_list *counted,
		     const struct gus_topdown_tables *tables, bool inherit, struct gus_pmus *pmus,
		     struct gus_choice *choice, struct gus_error *err)
{
	struct gus_events made = { 0 };
	int rc = 0;

	for (size_t i = 0; i < events->n && rc == 0; i++) {
		const struct gus_topdown *t = table_of(tables, &events->v[i], pmus);

		if (t)
			rc = carry_table(&made, &events->v[i], t, counted, pmus, err);
		else
			move_event(&made, &events->v[i]); /* these cores are sampled without */
	}
	if (rc == 0 && !counted->n)
		rc = gus_topdown_refuse(tables, err);
	if (rc == 0)
		rc = gus_trial_carried(&made, inherit, err);
	if (rc != 0) {
		gus_events_free(&made);
		return -1;
	}
	gus_events_free(events);
	*events = made;
	say(events, counted, choice);
	return 0;
}
