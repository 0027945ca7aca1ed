/* SPDX-License-Identifier: MIT */
#include "cli/need.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/plan/plan.h"

static const struct gus_need needs[] = {
	{ GUS_PLAN_TPEBS, GUS_CLASS_PRECISE, "precise-cycles", 'A' },
	{ GUS_PLAN_PEBS, GUS_CLASS_PRECISE, "precise-cycles", 'A' },
	{ GUS_PLAN_IBS, GUS_CLASS_IBS, "ibs", 'A' },
	{ GUS_PLAN_SPE, GUS_CLASS_SPE, "spe", 'A' },
	{ GUS_PLAN_LBR, GUS_CLASS_BRANCHES, "branch-stack", 'B' },
};

const struct gus_need *gus_need_at(size_t i)
{
	return i < sizeof(needs) / sizeof(*needs) ? &needs[i] : NULL;
}

const struct gus_need *gus_need_of(enum gus_plan_mode mode)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (needs[i].mode == mode)
			return &needs[i];
	return NULL;
}

const struct gus_need *gus_need_named(const char *word)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (strcmp(gus_plan_mode_name(needs[i].mode), word) == 0)
			return &needs[i];
	return NULL;
}

char *gus_need_hindrance(const struct gus_need *need, const struct gus_facts *facts)
{
	char *text = gus_strdup("this machine does not give what it needs");
	struct gus_diagnosis d = { 0 };

	gus_doctor_judge(&d, facts);
	for (size_t i = 0; i < d.findings.n; i++) {
		const struct gus_finding *f = &d.findings.v[i];

		if (strcmp(f->name, need->finding) != 0)
			continue;
		free(text);
		text = gus_format("%s%s%s", f->text, *f->command ? ": " : "", f->command);
	}
	gus_diagnosis_free(&d);
	return text;
}
