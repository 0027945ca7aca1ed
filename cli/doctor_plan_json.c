/* SPDX-License-Identifier: MIT */
/* A plan for programs: "gusprof.plan/1", described in gusprof-doctor(1). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/common/json.h"
#include "cli/doctor_plan.h"
#include "collector/plan/plan.h"
#include "config.h"
#include "proto/psv.h"

static json_t *bits(uint64_t mask)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < 64; i++)
		if (mask & UINT64_C(1) << i)
			json_array_append_new(a, json_integer(i));
	return a;
}

static json_t *psv(uint16_t tells)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < GUS_PSV_EVENTS; i++)
		if (tells & 1u << i)
			json_array_append_new(a, gus_json_word(gus_psv_name((enum gus_psv_event)(1u << i))));
	return a;
}

/* Numbers for the kernel, of which JSON's integers hold only 63 bits. */
static json_t *hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return gus_json_word(text);
}

static json_t *event(const struct gus_plan_part *part, const struct gus_plan_event *e)
{
	const struct gus_plan_row *row = e->row;
	json_t *o = json_object();

	json_object_set_new(o, "name", gus_json_word(row->name));
	json_object_set_new(o, "role", gus_json_word(gus_plan_role_name(row->role)));
	json_object_set_new(o, "tells", psv(row->tells));
	json_object_set_new(o, "config", hex(row->config));
	json_object_set_new(o, "config1", hex(row->config1));
	json_object_set_new(o, "config2", hex(row->config2));
	json_object_set_new(o, "counters", bits(row->counters & ((1u << part->general) - 1)));
	json_object_set_new(o, "fixed_counters", bits(row->fixed));
	json_object_set_new(o, "precise", json_integer(row->precise));
	json_object_set_new(o, "samples", json_boolean(e->samples));
	json_object_set_new(o, "period", gus_json_number(e->period, e->period));
	json_object_set_new(o, "sample_type", hex(e->sample_type));
	json_object_set_new(o, "large_pebs", json_boolean(e->large));
	json_object_set_new(o, "limit", gus_json_word(row->limit));
	json_object_set_new(o, "source", gus_json_word(row->source));
	return o;
}

static json_t *group(const struct gus_plan_part *part, const struct gus_plan_group *g)
{
	json_t *o = json_object(), *turns = json_array(), *events = json_array();

	for (unsigned i = 0; i < part->turns; i++)
		if (g->turns & UINT32_C(1) << i)
			json_array_append_new(turns, json_integer(i + 1));
	for (size_t i = 0; i < g->n; i++)
		json_array_append_new(events, event(part, &part->events.v[g->first + i]));
	json_object_set_new(o, "always", json_boolean(g->always));
	json_object_set_new(o, "turns", turns);
	json_object_set_new(o, "events", events);
	return o;
}

static json_t *verdict(const char *name, const struct gus_plan_verdict *v)
{
	json_t *o = json_object(), *by = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(by, gus_json_word(v->rows[i]->name));
	json_object_set_new(o, "of", gus_json_word(name));
	json_object_set_new(o, "evidence", gus_json_word(gus_plan_evidence_name(v->evidence)));
	json_object_set_new(o, "why", gus_json_word(gus_plan_how_text(v->how)));
	json_object_set_new(o, "by", by);
	return o;
}

static json_t *absence(const struct gus_plan_absence *a)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", gus_json_word(a->row->name));
	json_object_set_new(o, "taken_by", gus_json_word(a->by ? a->by->name : NULL));
	return o;
}

static json_t *core(const struct gus_plan_part *part)
{
	json_t *o = json_object(), *groups = json_array(), *verdicts = json_array(), *absences = json_array();
	const struct gus_plan_core *c = part->core;

	for (size_t i = 0; i < part->groups.n; i++)
		json_array_append_new(groups, group(part, &part->groups.v[i]));
	json_array_append_new(verdicts, verdict("heights", &part->heights));
	for (unsigned i = 0; i < GUS_PSV_EVENTS; i++)
		json_array_append_new(verdicts, verdict(gus_psv_name((enum gus_psv_event)(1u << i)), &part->psv[i]));
	for (size_t i = 0; i < part->absences.n; i++)
		json_array_append_new(absences, absence(&part->absences.v[i]));
	json_object_set_new(o, "core", gus_json_word(c ? c->name : NULL));
	json_object_set_new(o, "pmu", gus_json_word(part->pmu));
	json_object_set_new(o, "general_counters",
			    gus_json_number(c, part->general));
	json_object_set_new(o, "fixed_counters", gus_json_number(c, c ? (unsigned)__builtin_popcount(c->fixed) : 0));
	json_object_set_new(o, "slots", gus_json_number(c, c ? c->slots : 0));
	json_object_set_new(o, "turns", json_integer(part->turns));
	json_object_set_new(o, "groups", groups);
	json_object_set_new(o, "known", verdicts);
	json_object_set_new(o, "without_a_place", absences);
	return o;
}

int gus_doctor_plan_json(const struct gus_plan *plan, const char *why)
{
	const struct gus_plan_cpu *cpu = plan->wish.cpu;
	json_t *o = json_object(), *cores = json_array();

	for (size_t i = 0; i < plan->n; i++)
		json_array_append_new(cores, core(&plan->parts[i]));
	json_object_set_new(o, "schema", json_string("gusprof.plan/1"));
	json_object_set_new(o, "by", json_string(PACKAGE_NAME " " PACKAGE_VERSION));
	json_object_set_new(o, "cpu", gus_json_word(cpu ? cpu->name : NULL));
	json_object_set_new(o, "mode", gus_json_word(gus_plan_mode_name(plan->wish.mode)));
	json_object_set_new(o, "smt", json_boolean(plan->wish.smt));
	json_object_set_new(o, "nmi_watchdog", json_boolean(plan->wish.watchdog));
	json_object_set_new(o, "why", gus_json_text(why));
	json_object_set_new(o, "cores", cores);
	return gus_json_print(o, stdout, true);
}
