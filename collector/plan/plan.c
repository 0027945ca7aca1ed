/* SPDX-License-Identifier: MIT */
#include "collector/plan/plan.h"

#include <stdlib.h>

const char *gus_plan_mode_name(enum gus_plan_mode mode)
{
	static const char *const names[] = {
		[GUS_PLAN_TPEBS] = "tpebs", [GUS_PLAN_PEBS] = "pebs", [GUS_PLAN_IBS] = "ibs", [GUS_PLAN_SPE] = "spe",
		[GUS_PLAN_LBR] = "lbr", [GUS_PLAN_TIMER] = "timer", [GUS_PLAN_AUTO] = "auto",
	};

	return names[mode];
}

const char *gus_plan_role_name(enum gus_plan_role role)
{
	static const char *const names[] = {
		[GUS_PLAN_HEIGHT] = "heights", [GUS_PLAN_COUNT] = "totals", [GUS_PLAN_SLOTS] = "top-down",
		[GUS_PLAN_STATES] = "states", [GUS_PLAN_OP] = "records", [GUS_PLAN_FETCH] = "fetches",
		[GUS_PLAN_DATA] = "data", [GUS_PLAN_SPLIT] = "split", [GUS_PLAN_RATE] = "rate",
		[GUS_PLAN_LEADER] = "leader",
	};

	return names[role];
}

const char *gus_plan_evidence_name(enum gus_plan_evidence evidence)
{
	static const char *const names[] = {
		[GUS_PLAN_UNKNOWN] = "unknown", [GUS_PLAN_INFERRED] = "inferred", [GUS_PLAN_OBSERVED] = "observed",
	};

	return names[evidence];
}

const char *gus_plan_how_text(enum gus_plan_how how)
{
	static const char *const texts[] = {
		[GUS_PLAN_BY_NOTHING] = "no event of this plan tells it",
		[GUS_PLAN_BY_PRECISE] = "precise samples of cycles name the instruction that retires next",
		[GUS_PLAN_BY_WEIGHT] = "records of operations, by what they took, scaled to samples of cycles loop by "
				       "loop",
		[GUS_PLAN_BY_SKID] = "samples land behind what took the time, and are moved back as far as their skid "
				     "is known",
		[GUS_PLAN_BY_BRANCHES] = "the branch before a sample, in its branch stack",
		[GUS_PLAN_BY_RECORD] = "the record of the operation says so",
		[GUS_PLAN_BY_TIMED] = "samples of the event, each with the cycles since the retirement before",
		[GUS_PLAN_BY_SAMPLED] = "samples of the event; what each took is inferred from rates",
		[GUS_PLAN_BY_LATENCY] = "samples of loads say where the data were and how long they took; what of that "
					"was waited for is inferred",
		[GUS_PLAN_BY_FETCH] = "records of fetches, joined by address",
		[GUS_PLAN_BY_COUNT] = "counts, of regions and not of instructions",
		[GUS_PLAN_BY_STACKS] = "branch stacks of samples that land behind",
	};

	return texts[how];
}

void gus_plan_free(struct gus_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		gus_vec_free(&plan->parts[i].events);
		gus_vec_free(&plan->parts[i].groups);
		gus_vec_free(&plan->parts[i].absences);
	}
	plan->n = 0;
}
