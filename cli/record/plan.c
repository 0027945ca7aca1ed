/* SPDX-License-Identifier: MIT */
#include "cli/record/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/common/uarch_load.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/events/event.h"
#include "collector/events/planned.h"
#include "collector/plan/make.h"
#include "collector/plan/plan.h"
#include "collector/trial/probe.h"
#include "collector/trial/survey.h"
#include "collector/trial/trial.h"

/* What must work on this machine for a mode, and what doctor calls that. */
static const struct mode {
	enum gus_plan_mode mode;
	enum gus_class needs;
	const char *finding;
	char tier;
} modes[] = {
	{ GUS_PLAN_TPEBS, GUS_CLASS_PRECISE, "precise-cycles", 'A' },
	{ GUS_PLAN_PEBS, GUS_CLASS_PRECISE, "precise-cycles", 'A' },
	{ GUS_PLAN_IBS, GUS_CLASS_IBS, "ibs", 'A' },
	{ GUS_PLAN_SPE, GUS_CLASS_SPE, "spe", 'A' },
	{ GUS_PLAN_LBR, GUS_CLASS_BRANCHES, "branch-stack", 'B' },
};

static const struct mode *mode_of(const char *word)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(gus_plan_mode_name(modes[i].mode), word) == 0)
			return &modes[i];
	return NULL;
}

bool gus_record_plan_is_asked(const char *words, bool *alone)
{
	*alone = mode_of(words) != NULL;
	for (const char *at = words; *at; at += *at == ',') {
		size_t size = strcspn(at, ",");
		char *word = gus_format("%.*s", (int)size, at);
		bool is_mode = mode_of(word) != NULL;

		free(word);
		if (is_mode)
			return true;
		at += size;
	}
	return false;
}

/* In doctor's words. */
static int explain(const char *word, const struct mode *m, struct gus_pmus *pmus, enum gus_verdict verdict,
		   struct gus_error *err)
{
	const struct gus_finding *found = NULL;
	struct gus_diagnosis d = { 0 };
	struct gus_facts facts;

	gus_survey_take(&facts, pmus, gus_uarch_host(), NULL);
	gus_doctor_judge(&d, &facts);
	for (size_t i = 0; i < d.findings.n; i++)
		if (strcmp(d.findings.v[i].name, m->finding) == 0)
			found = &d.findings.v[i];
	gus_fail(err, verdict == GUS_PROBE_REFUSED ? GUS_E_PERMISSION : GUS_E_UNSUPPORTED,
		 "cannot record with -e %s: %s%s%s; -e auto takes the best that there is", word,
		 found ? found->text : "this machine does not give what it needs",
		 found && *found->command ? ": " : "", found ? found->command : "");
	gus_diagnosis_free(&d);
	return -1;
}

static bool is_set(const struct gus_setting *s)
{
	return s->known && s->value > 0;
}

static int make(struct gus_plan *plan, const char *word, const struct mode *m, struct gus_error *err)
{
	const char *name = gus_uarch_host_cpu();
	struct gus_plan_wish wish = { .cpu = name ? gus_plan_cpu_find(name) : NULL, .mode = m->mode };
	struct gus_facts facts;

	if (!wish.cpu)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot record with -e %s: no events are known of this "
				"machine's CPU%s%s; -e auto takes the best that there is", word, name ? ", " : "",
				name ? name : "");
	gus_facts_read(&facts, gus_uarch_host());
	wish.smt = is_set(&facts.smt);
	wish.watchdog = is_set(&facts.nmi_watchdog);
	return gus_plan_make(plan, &wish, err);
}

/* Times of retirement: the tables say that this CPU has them, and a hypervisor may hide them. */
static int check_retirement(const char *word, const struct gus_events *events, struct gus_error *err)
{
	enum gus_verdict verdict = GUS_PROBE_ABSENT;

	for (size_t i = 0; i < events->n && verdict != GUS_PROBE_GOOD; i++)
		if (events->v[i].cycles)
			verdict = gus_probe_retirement(&events->v[i]);
	if (verdict == GUS_PROBE_GOOD)
		return 0;
	return gus_fail(err, GUS_E_UNSUPPORTED, "cannot record with -e %s: samples do not say when instructions "
			"retired here; -e pebs records without", word);
}

static void describe(const struct gus_plan *plan, const struct mode *m, const struct gus_events *events,
		     struct gus_choice *choice)
{
	unsigned turns = 0, counted = 0;
	size_t n = 0;

	for (size_t i = 0; i < events->n; i++) {
		turns = events->v[i].turns_n > turns ? events->v[i].turns_n : turns;
		counted += events->v[i].counts;
	}
	choice->tier = m->tier;
	n += (size_t)snprintf(choice->text, sizeof(choice->text), "by the plan %s of %s: %s with %zu events beside it, "
			      "of which %u are counted alone", gus_plan_mode_name(m->mode), plan->wish.cpu->title,
			      events->v[0].name, events->n - 1, counted);
	if (turns)
		snprintf(choice->text + n, sizeof(choice->text) - n, "; some take turns, %u of them", turns);
}

/* asked: for nothing but this mode, so that it is worth a look at why it cannot be had. */
static int take(const struct mode *m, bool asked, struct gus_events *events, struct gus_pmus *pmus,
		struct gus_choice *choice, const struct gus_log *log, struct gus_error *err)
{
	const char *word = gus_plan_mode_name(m->mode);
	struct gus_class_facts needed;
	struct gus_plan plan = { 0 };
	int rc = make(&plan, word, m, err);

	if (rc == 0) {
		gus_trial(&needed, m->needs, pmus, NULL);
		if (needed.verdict != GUS_PROBE_GOOD)
			rc = asked ? explain(word, m, pmus, needed.verdict, err) :
				gus_fail(err, GUS_E_UNSUPPORTED, "%s: this machine does not give what it needs", word);
	}
	if (rc == 0)
		rc = gus_planned_events(events, &plan, word, pmus, err);
	if (rc == 0)
		rc = gus_probe_planned(events, log, err);
	if (rc == 0 && m->mode == GUS_PLAN_TPEBS)
		rc = check_retirement(word, events, err);
	if (rc == 0)
		describe(&plan, m, events, choice);
	gus_plan_free(&plan);
	return rc;
}

int gus_record_plan(const char *word, struct gus_events *events, struct gus_pmus *pmus, struct gus_choice *choice,
		    const struct gus_log *log, struct gus_error *err)
{
	return take(mode_of(word), true, events, pmus, choice, log, err);
}

/* Every event is open on each CPU, with its tracker and ring. The soft limit is ours to raise. */
static bool has_descriptors_for(const struct gus_events *events)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
		(uint64_t)limit.rlim_max / 2 > (events->n + 2) * (uint64_t)(cpus > 0 ? cpus : 1);
}

bool gus_record_plan_best(struct gus_events *events, struct gus_pmus *pmus, struct gus_choice *choice,
			  const struct gus_log *log)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct gus_error why = { 0 };

		if (take(&modes[i], false, events, pmus, choice, log, &why) == 0 && has_descriptors_for(events))
			return true;
		gus_log(log, GUS_DEBUG, "%s", *why.text ? why.text : "there are not enough descriptors for a plan "
			"(ulimit -Hn)");
		gus_events_free(events);
	}
	return false;
}
