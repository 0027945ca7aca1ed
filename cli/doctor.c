/* SPDX-License-Identifier: MIT */
/* gusprof doctor: what this machine lets a profiler see, whose doing the rest is, and what would change it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/common/json.h"
#include "cli/common/option_table.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/topdown.h"
#include "cli/common/uarch_load.h"
#include "cli/doctor_plan.h"
#include "cli/doctor_text.h"
#include "cli/screen/pager.h"
#include "cli/screen/screen.h"
#include "cli/verbs.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/events/pmu.h"
#include "collector/plan/plan.h"
#include "collector/trial/survey.h"
#include "config.h"

#define NOTHING_TO_RECORD 1

enum { TEXT, JSON };
struct doctor_options {
	int format;
	bool plan;
	struct gus_doctor_plan_options of;
	struct gus_screen_options screen;
};

#define AT(member) offsetof(struct doctor_options, member)
#define WITH_PLAN .fit = { .needs = "plan" }

static const struct gus_option options[] = {
	{ 0, "format", "FORMAT", "text (the default) or json.", GUS_OPTION_CHOICE,
	  AT(format), .choices = "text json" },
	{ 0, "plan", NULL, "Say what would be opened on a CPU to explain its time, and what would be known then.",
	  GUS_OPTION_FLAG, AT(plan) },
	{ 0, "cpu", "NAME", "Plan for this CPU rather than for this machine, such as sapphirerapids or znver4.",
	  GUS_OPTION_STRING, AT(of.cpu), .filled = true, WITH_PLAN },
	{ 0, "mode", "MODE", "Plan for auto (the default: the best that the CPU has), pebs, tpebs, ibs, spe, lbr or "
	  "timer.", GUS_OPTION_CHOICE, AT(of.mode), .choices = "tpebs pebs ibs spe lbr timer auto", WITH_PLAN },
	{ 0, "smt", "STATE", "Whether cores run two threads, which halves the counters of some: on, off or auto (the "
	  "default: as here; of another CPU on).", GUS_OPTION_CHOICE, AT(of.smt), .choices = "auto on off", WITH_PLAN },
	{ 0, "watchdog", "STATE", "Whether the kernel's NMI watchdog has a counter: on, off or auto, likewise.",
	  GUS_OPTION_CHOICE, AT(of.watchdog), .choices = "auto on off", WITH_PLAN },
	GUS_SCREEN_OPTIONS(struct doctor_options, screen),
	GUS_SCREEN_COLOUR_OPTIONS(struct doctor_options, screen),
	GUS_SCREEN_PAGER_OPTIONS(struct doctor_options, screen),
	{ 0 },
};

static json_t *finding(const struct gus_finding *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "group", gus_json_word(f->group));
	json_object_set_new(o, "name", gus_json_word(f->name));
	json_object_set_new(o, "status", gus_json_word(gus_mark_name(f->mark)));
	json_object_set_new(o, "cause",
			    f->cause == GUS_CAUSE_NONE ? json_null() : gus_json_word(gus_hindrance_name(f->cause)));
	json_object_set_new(o, "text", gus_json_text(f->text));
	json_object_set_new(o, "command", gus_json_text(f->command));
	return o;
}

static json_t *setting(const struct gus_setting *s)
{
	return s->known ? json_integer(s->value) : json_null();
}

static json_t *bytes(uint64_t value)
{
	return value == UINT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static json_t *machine(const struct gus_facts *f)
{
	char capabilities[24];
	json_t *o = json_object();

	snprintf(capabilities, sizeof(capabilities), "%016" PRIx64, f->capabilities);
	json_object_set_new(o, "machine", gus_json_text(f->machine));
	json_object_set_new(o, "kernel", gus_json_text(f->kernel));
	json_object_set_new(o, "cpu", gus_json_text(f->cpu));
	json_object_set_new(o, "cpus", json_integer(f->cpus));
	json_object_set_new(o, "uarch", gus_json_text(f->uarch));
	json_object_set_new(o, "product", gus_json_text(f->product));
	json_object_set_new(o, "hypervisor", gus_json_text(f->hypervisor));
	json_object_set_new(o, "container", gus_json_text(f->container));
	json_object_set_new(o, "uid", json_integer(f->uid));
	json_object_set_new(o, "capabilities", gus_json_word(capabilities));
	json_object_set_new(o, "initial_user_namespace", json_boolean(f->initial_userns));
	json_object_set_new(o, "seccomp", f->seccomp < 0 ? json_null() : json_integer(f->seccomp));
	json_object_set_new(o, "lockdown", gus_json_text(f->lockdown));
	json_object_set_new(o, "perf_event_paranoid", setting(&f->paranoid));
	json_object_set_new(o, "kptr_restrict", setting(&f->kptr_restrict));
	json_object_set_new(o, "perf_event_mlock_kb", setting(&f->mlock_kb));
	json_object_set_new(o, "memlock_bytes", bytes(f->memlock_bytes));
	json_object_set_new(o, "ring_bytes", bytes(f->ring_bytes));
	json_object_set_new(o, "perf_event_max_sample_rate", setting(&f->sample_rate));
	json_object_set_new(o, "perf_cpu_time_max_percent", setting(&f->cpu_percent));
	json_object_set_new(o, "nmi_watchdog", setting(&f->nmi_watchdog));
	json_object_set_new(o, "vdso_build_id", gus_json_text(f->vdso_build_id));
	return o;
}

static int print_json(const struct gus_diagnosis *d, const struct gus_facts *f)
{
	char tier[] = { d->tier, '\0' };
	json_t *o = json_object(), *findings = json_array();

	for (size_t i = 0; i < d->findings.n; i++)
		json_array_append_new(findings, finding(&d->findings.v[i]));
	json_object_set_new(o, "schema", json_string("gusprof.doctor/1"));
	json_object_set_new(o, "by", json_string(PACKAGE_NAME " " PACKAGE_VERSION));
	json_object_set_new(o, "usable", json_boolean(d->tier != 0));
	json_object_set_new(o, "tier", gus_json_text(tier));
	json_object_set_new(o, "why", gus_json_text(d->why));
	json_object_set_new(o, "cause",
			    d->cause == GUS_CAUSE_NONE ? json_null() : gus_json_word(gus_hindrance_name(d->cause)));
	json_object_set_new(o, "command", gus_json_text(d->command));
	json_object_set_new(o, "event", gus_json_text(f->event));
	json_object_set_new(o, "sample_cost_ns",
			    d->cost_percent < 0 ? json_null() : json_integer((json_int_t)f->cost_ns));
	json_object_set_new(o, "cost_percent_at_1000_hz",
			    d->cost_percent < 0 ? json_null() : json_real(d->cost_percent));
	json_object_set_new(o, "machine", machine(f));
	json_object_set_new(o, "findings", findings);
	return gus_json_print(o, stdout, true);
}

static void survey(struct gus_facts *facts, struct gus_pmus *pmus)
{
	char *slots = gus_topdown_here_spec(pmus);

	gus_survey_take(facts, pmus, gus_uarch_host(), slots);
	free(slots);
}

static int plan(const struct doctor_options *o)
{
	const struct gus_screen screen = gus_screen_of(stdout, &o->screen);
	struct gus_error err = { 0 };
	struct gus_facts facts;
	struct gus_plan made = { 0 };
	struct gus_pmus pmus;
	char why[400];
	bool here = gus_doctor_plan_is_here(&o->of);
	int rc;

	gus_pmus_init(&pmus, "/sys");
	if (here)
		survey(&facts, &pmus);
	rc = gus_doctor_plan_make(&made, &o->of, here ? &facts : NULL, why, sizeof(why), &err);
	if (rc == 0 && o->format == TEXT && o->screen.pager)
		gus_pager_begin(&screen);
	if (rc != 0)
		gus_complain(&err);
	else if (o->format == JSON)
		rc = gus_doctor_plan_json(&made, why);
	else
		gus_doctor_plan_text(&screen, &made, why);
	gus_plan_free(&made);
	gus_pmus_free(&pmus);
	return rc == 0 ? 0 : err.code ? GUS_EXIT_USAGE : GUS_EXIT_OWN_FAILURE;
}

static int doctor(const struct doctor_options *o)
{
	const struct gus_screen screen = gus_screen_of(stdout, &o->screen);
	struct gus_diagnosis d;
	struct gus_facts facts;
	struct gus_pmus pmus;
	int status, rc = 0;

	gus_pmus_init(&pmus, "/sys");
	survey(&facts, &pmus);
	gus_doctor_judge(&d, &facts);
	if (o->format == TEXT && o->screen.pager)
		gus_pager_begin(&screen);
	if (o->format == JSON)
		rc = print_json(&d, &facts);
	else
		gus_doctor_text(stdout, &screen, &d, &facts);
	status = rc != 0 ? GUS_EXIT_OWN_FAILURE : d.tier ? 0 : NOTHING_TO_RECORD;
	gus_diagnosis_free(&d);
	gus_pmus_free(&pmus);
	return status;
}

static int run(int argc, char **argv)
{
	struct doctor_options o = { .of.mode = GUS_PLAN_AUTO, .screen = GUS_SCREEN_DEFAULTS };
	int status;

	if (gus_options_parse(&gus_verb_doctor, &o, &argc, &argv, &status) != 0)
		return status;
	return o.plan ? plan(&o) : doctor(&o);
}

const struct gus_verb gus_verb_doctor = {
	.name = "doctor",
	.synopsis = "[OPTION...]",
	.summary = "Say what this machine lets a profiler see, and what would change that.",
	.details = "Exit status: 0 if something can be recorded, 1 if nothing can. Nothing is changed.",
	.options = options,
	.run = run,
};
