/* SPDX-License-Identifier: MIT */
#include "cli/record/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/record/plan.h"
#include "collector/events/event.h"
#include "collector/host/text.h"
#include "collector/session/cost.h"
#include "collector/session/governor.h"
#include "collector/session/session.h"
#include "collector/target/target.h"
#include "collector/trial/probe.h"

/* The best of its own, and where that is a PMU's all that explains its samples. */
static int choose_best(const struct gus_record_events_how *how, struct gus_events *events, struct gus_pmus *pmus,
		       struct gus_choice *choice, const struct gus_log *log, struct gus_error *err)
{
	struct gus_choice of_plan = { 0 };
	struct gus_events planned = { 0 };

	if (gus_probe_auto(events, pmus, choice, err) != 0)
		return -1;
	if (choice->tier != 'C' && !how->single && !how->living &&
	    gus_record_plan_best(&planned, pmus, &of_plan, log)) {
		gus_events_free(events);
		*events = planned;
		*choice = of_plan;
	}
	if (choice->tier == 'C')
		gus_record_plan_missed(choice, pmus);
	for (size_t i = 0; i < events->n; i++) {
		free(events->v[i].asked);
		events->v[i].asked = gus_strdup("auto");
	}
	return 0;
}

static int choose_plan(const struct gus_record_events_how *how, bool alone, struct gus_events *events,
		       struct gus_pmus *pmus, struct gus_choice *choice, const struct gus_log *log,
		       struct gus_error *err)
{
	if (!alone)
		return gus_fail(err, GUS_E_USAGE, "-e %s: auto, pebs, tpebs, ibs, spe and lbr each stand for all the "
				"events that go with them, and stand alone", how->asked);
	if (how->single)
		return gus_fail(err, GUS_E_USAGE, "-e %s does not go with %s: its events are not of one kind",
				how->asked, how->single);
	return gus_record_plan(how->asked, events, pmus, choice, log, err);
}

int gus_record_events_choose(struct gus_events *events, const struct gus_record_events_how *how, struct gus_pmus *pmus,
			     struct gus_choice *choice, const struct gus_log *log, struct gus_error *err)
{
	bool alone;

	if (!how->asked || strcmp(how->asked, "auto") == 0)
		return choose_best(how, events, pmus, choice, log, err);
	if (gus_record_plan_is_asked(how->asked, &alone))
		return choose_plan(how, alone, events, pmus, choice, log, err);
	if (gus_events_parse(events, how->asked, pmus, err) != 0)
		return -1;
	if (gus_probe_permission(events))
		gus_log(log, GUS_NOTE, "this user may not sample the kernel (kernel.perf_event_paranoid): its time is "
			"left out");
	if (gus_probe_precision(events))
		gus_log(log, GUS_NOTE, "this CPU's samples have no exact addresses, which its driver does not say when "
			"they are asked for (p): they are taken without");
	gus_probe_describe(events, choice);
	return 0;
}

/* An event more, of which each that happens is a sample. The kernel's own part of it cannot be left out: a thread
 * leaves its CPU in the kernel. */
int gus_record_events_add_off_cpu(struct gus_events *events, struct gus_pmus *pmus, const struct gus_log *log,
				  struct gus_error *err)
{
	struct gus_event *e;

	for (size_t i = 0; i < events->n; i++)
		if (strcmp(events->v[i].base, "context-switches") == 0)
			return gus_fail(err, GUS_E_USAGE, "--off-cpu records context switches by itself: leave out "
					"-e %s", events->v[i].asked);
	if (!gus_probe_switches()) {
		gus_log(log, GUS_WARN, "this user may not record where threads leave their CPU: that is in the kernel "
			"(kernel.perf_event_paranoid). Time off the CPU is told by thread, and its places are unknown; "
			"with paranoid at 1, with CAP_PERFMON or as root they are recorded");
		return 0;
	}
	if (gus_events_parse(events, "context-switches", pmus, err) != 0)
		return -1;
	e = &events->v[events->n - 1];
	gus_event_set_rate(e, 0, 1);
	e->at_switch = true;
	return 0;
}

/* The rates of all events that did not bring one along: as asked, or as the governor says. */
void gus_record_events_set_rates(struct gus_session_options *so, uint64_t frequency, uint64_t period)
{
	struct gus_cost_options co = {
		.cargo = gus_session_cargo(so), .switches = so->switches,
		.inherit = so->target->kind == GUS_TARGET_COMMAND || so->target->kind == GUS_TARGET_PROCESSES,
	};
	struct gus_governor g;
	unsigned n = 0;

	so->limit_hz = gus_read_rate_limit();
	gus_costs_measure(so->events, &co, &so->costs);
	if (so->overhead > 0 && !so->costs.sample_ns) {
		gus_log(so->log, GUS_DEBUG, "what a sample of %s costs is not known here: %llu samples a second are "
			"taken", so->events->v[0].name, (unsigned long long)frequency);
		so->overhead = 0;
	}
	for (size_t i = 0; i < so->events->n; i++) {
		struct gus_event *e = &so->events->v[i];

		if (e->counts)
			continue;
		e->governed = so->overhead > 0 && !e->period && !e->frequency;
		gus_event_set_rate(e, frequency, period);
		e->governed &= e->frequency != 0;
		n += e->governed;
	}
	if (!n)
		so->overhead = 0;
	gus_governor_init(&g, so->overhead, &so->costs, n, so->limit_hz);
	for (size_t i = 0; i < so->events->n; i++)
		if (so->events->v[i].governed)
			gus_event_change_rate(&so->events->v[i], g.hz);
}
