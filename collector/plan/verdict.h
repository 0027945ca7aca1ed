/* SPDX-License-Identifier: MIT */
/* What a plan would let us know of an instruction's height and of each of TEA's events: observed where the record
 * that brings time or latency says the event as well, inferred where samples or counts beside it do, else unknown.
 * Pure. */
#ifndef GUS_COLLECTOR_PLAN_VERDICT_H
#define GUS_COLLECTOR_PLAN_VERDICT_H

#include "collector/plan/plan.h"

/* Fills the verdicts of a part whose events are settled. */
void gus_plan_judge(struct gus_plan_part *part, enum gus_plan_mode mode);

#endif
