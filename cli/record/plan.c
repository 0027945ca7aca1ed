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
#include "cli/need.h"
#include "collector/doctor/facts.h"
#include "collector/events/event.h"
#include "collector/events/planned.h"
#include "collector/plan/make.h"
#include "collector/plan/plan.h"
#include "collector/trial/probe.h"
#include "collector/trial/survey.h"
#include "collector/trial/trial.h"

/* A mode, or the word for the best of them. */
static bool is_mode(const char *word)
{
	return gus_need_named(word) != NULL || strcmp(word, "auto") == 0;
}

bool gus_record_plan_is_asked(const char *words, bool *alone)
{
	*alone = is_mode(words);
	for (const char *at = words; *at; at += *at == ',') {
		size_t size = strcspn(at, ",");
		char *word = gus_format("%.*s", (int)size, at);
		bool found = is_mode(word);

		free(word);
		if (found)
			return true;
		at += size;
	}
	return false;
}

/* In doctor's words. */
static int explain(const char *word, const struct gus_need *m, struct gus_pmus *pmus, enum gus_verdict verdict,
		   struct gus_error *err)
{
	struct gus_facts facts;
	char *why;

	gus_survey_take(&facts, pmus, gus_uarch_host(), NULL);
	why = gus_need_hindrance(m, &facts);
	gus_fail(err, verdict == GUS_PROBE_REFUSED ? GUS_E_PERMISSION : GUS_E_UNSUPPORTED,
		 "cannot record with -e %s: %s; -e auto takes the best that there is", word, why);
	free(why);
	return -1;
}

/* "ibs (not given here), lbr": the modes that a CPU has, each tried on this machine. The caller frees it. */
static char *modes_of(const struct gus_plan_cpu *cpu, struct gus_pmus *pmus)
{
	const struct gus_need *need;
	char *text = gus_strdup("");

	for (size_t i = 0; (need = gus_need_at(i)); i++) {
		struct gus_class_facts had;
		char *longer;

		if (!gus_plan_cpu_has(cpu, need->mode))
			continue;
		gus_trial(&had, need->needs, pmus, NULL);
		longer = gus_format("%s%s%s%s", text, *text ? ", " : "", gus_plan_mode_name(need->mode),
				    had.verdict == GUS_PROBE_GOOD ? "" : " (not given here)");
		free(text);
		text = longer;
	}
	return text;
}

/* That CPU has no such mode. */
static int lacks(const char *word, const struct gus_plan_cpu *cpu, struct gus_pmus *pmus, struct gus_error *err)
{
	char *modes = modes_of(cpu, pmus);

	gus_fail(err, GUS_E_UNSUPPORTED, "cannot record with -e %s: this CPU (%s) has no %s%s%s; -e auto takes the "
		 "best that there is, and gusprof doctor says what that is and why", word, cpu->title, word,
		 *modes ? "; it has " : "", modes);
	free(modes);
	return -1;
}

void gus_record_plan_missed(struct gus_choice *choice, struct gus_pmus *pmus)
{
	const char *name = gus_uarch_host_cpu();
	const struct gus_plan_cpu *cpu = name ? gus_plan_cpu_find(name) : NULL;
	char *modes = cpu ? modes_of(cpu, pmus) : gus_strdup("");
	size_t n = strlen(choice->text);

	if (*modes)
		snprintf(choice->text + n, sizeof(choice->text) - n, ". Such a CPU (%s) has %s, of which gusprof "
			 "doctor says more", cpu->title, modes);
	free(modes);
}

static bool is_set(const struct gus_setting *s)
{
	return s->known && s->value > 0;
}

static int make(struct gus_plan *plan, const char *word, const struct gus_need *m, struct gus_pmus *pmus,
		struct gus_error *err)
{
	const char *name = gus_uarch_host_cpu();
	struct gus_plan_wish wish = { .cpu = name ? gus_plan_cpu_find(name) : NULL, .mode = m->mode };
	struct gus_facts facts;

	if (!wish.cpu)
		return gus_fail(err, GUS_E_UNSUPPORTED, "cannot record with -e %s: no events are known of this "
				"machine's CPU%s%s; -e auto takes the best that there is", word, name ? ", " : "",
				name ? name : "");
	if (!gus_plan_cpu_has(wish.cpu, m->mode))
		return lacks(word, wish.cpu, pmus, err);
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

static void describe(const struct gus_plan *plan, const struct gus_need *m, const struct gus_events *events,
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
static int take(const struct gus_need *m, bool asked, struct gus_events *events, struct gus_pmus *pmus,
		struct gus_choice *choice, const struct gus_log *log, struct gus_error *err)
{
	const char *word = gus_plan_mode_name(m->mode);
	struct gus_class_facts needed;
	struct gus_plan plan = { 0 };
	int rc = make(&plan, word, m, pmus, err);

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
	return take(gus_need_named(word), true, events, pmus, choice, log, err);
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
	const struct gus_need *need;

	for (size_t i = 0; (need = gus_need_at(i)); i++) {
		struct gus_error why = { 0 };

		if (take(need, false, events, pmus, choice, log, &why) == 0 && has_descriptors_for(events))
			return true;
		gus_log(log, GUS_DEBUG, "%s", *why.text ? why.text : "there are not enough descriptors for a plan "
			"(ulimit -Hn)");
		gus_events_free(events);
	}
	return false;
}
