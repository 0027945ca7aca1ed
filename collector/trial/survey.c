/* SPDX-License-Identifier: MIT */
#include "collector/trial/survey.h"

#include <linux/perf_event.h>
#include <stdio.h>

#include "collector/events/attr.h"
#include "collector/kernel/perf.h"
#include "collector/trial/probe.h"
#include "collector/trial/skid.h"
#include "collector/trial/trial.h"

/* With the event that would be recorded. */
static void try_callers(struct gus_facts *f, const struct gus_event *event)
{
	const struct gus_cargo stacks = { .chain = true, .kernel_chain = true, .regs = GUS_CARGO_REGS != 0,
					  .stack_bytes = 8192 };

	f->stacks = stacks.regs && gus_probe_stacks(event, &stacks) == 0;
	f->calls = gus_probe_branches(event, PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER) ==
		   GUS_PROBE_GOOD;
}

/* For a correction by so many instructions those at other distances may be no more than these. */
#define CONCENTRATED 0.95

static void try_skid(struct gus_facts *f, const struct gus_event *event)
{
	struct gus_skid skid;

	gus_trial_skid(event, &skid);
	gus_skid_describe(&skid, f->skid, sizeof(f->skid));
	f->late = gus_skid_distance(&skid, CONCENTRATED);
}

static void try_recording(struct gus_facts *f, struct gus_pmus *pmus)
{
	struct gus_attr_plan plan = { .features = GUS_ATTR_ALL };
	struct gus_events events = { 0 };
	struct gus_choice choice;
	int fd = gus_attr_open_tracking(&plan, 0, -1);

	f->tracking = fd >= 0;
	f->features = fd >= 0 ? plan.features : 0;
	if (fd >= 0)
		gus_perf.close(fd);
	if (gus_probe_auto(&events, pmus, &choice, NULL) == 0 && f->tracking) {
		f->tier = choice.tier;
		snprintf(f->event, sizeof(f->event), "%s", events.v[0].name);
		f->cost_ns = gus_probe_cost(&events.v[0]);
		try_skid(f, &events.v[0]);
		try_callers(f, &events.v[0]);
	}
	gus_events_free(&events);
}

void gus_survey_take(struct gus_facts *f, struct gus_pmus *pmus, const char *uarch, const char *slots)
{
	gus_facts_read(f, uarch);
	for (unsigned i = 0; i < GUS_CLASSES; i++)
		gus_trial(&f->classes[i], (enum gus_class)i, pmus, slots);
	try_recording(f, pmus);
}
