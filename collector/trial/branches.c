/* SPDX-License-Identifier: MIT */
#include "collector/trial/branches.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "collector/doctor/doctor.h"
#include "collector/doctor/facts.h"
#include "collector/trial/probe.h"
#include "collector/trial/survey.h"

#define PRIVILEGES (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)
#define PRIV_SAVE (1u << 18) /* PERF_SAMPLE_BRANCH_PRIV_SAVE; not in the headers of kernels before 6.1 */

static const struct { const char *name; uint64_t bit; } filters[] = {
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS },
	{ "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	{ "priv", PRIV_SAVE },
};

static uint64_t filter_of(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		if (strlen(filters[i].name) == size && memcmp(filters[i].name, name, size) == 0)
			return filters[i].bit;
	return 0;
}

int gus_branches_parse(uint64_t *type, const char *text, struct gus_error *err)
{
	*type = 0;
	for (const char *at = text;; at++) {
		size_t size = strcspn(at, ",");
		uint64_t bit = filter_of(at, size);

		if (!bit)
			return gus_fail(err, GUS_E_USAGE, "-j takes any, any_call, any_ret, ind_call, ind_jmp, call, "
					"cond, stack, u, k, hv, in_tx, no_tx, abort_tx, no_flags, no_cycles, "
					"save_type and priv, separated by commas, not '%.*s'", (int)size, at);
		*type |= bit;
		at += size;
		if (!*at)
			break;
	}
	if (!(*type & ~(uint64_t)PRIVILEGES))
		*type |= PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

/* What the branches are for: what cannot be done, and what can be in its place. */
struct purpose { const char *what, *instead; };

static const struct purpose for_themselves = {
	"record the branches before each sample", "without -b and -j samples can be taken",
};
static const struct purpose for_callers = {
	"have the CPU keep the calls before each sample (--call-graph lbr)",
	"callers can be found without them (--call-graph auto)",
};

/* What doctor says about branch stacks here. */
static int explain(const struct purpose *purpose, const struct gus_event *e, enum gus_verdict verdict,
		   struct gus_pmus *pmus, const char *uarch, struct gus_error *err)
{
	bool refused = verdict == GUS_PROBE_REFUSED;
	const struct gus_finding *found = NULL;
	struct gus_diagnosis d = { 0 };
	struct gus_facts facts;

	gus_survey_take(&facts, pmus, uarch, NULL);
	gus_doctor_judge(&d, &facts);
	for (size_t i = 0; i < d.findings.n; i++) {
		const struct gus_finding *f = &d.findings.v[i];

		/* Limited is what they are to those who may not watch the kernel. */
		if (strcmp(f->name, "branch-stack") == 0 && f->mark != GUS_MARK_OK &&
		    (f->mark != GUS_MARK_LIMITED || refused))
			found = f;
	}
	if (found)
		gus_fail(err, refused ? GUS_E_PERMISSION : GUS_E_UNSUPPORTED, "cannot %s: %s%s%s; %s", purpose->what,
			 found->text, *found->command ? ": " : "", found->command, purpose->instead);
	else
		gus_fail(err, GUS_E_UNSUPPORTED, "cannot %s of %s: this machine gives branches with cycles, but %s "
			 "with this event and this filter", purpose->what, e->name,
			 verdict == GUS_PROBE_ABSENT ? "opens nothing" : "none");
	gus_diagnosis_free(&d);
	return -1;
}

static int check(const struct purpose *purpose, const struct gus_events *events, uint64_t type, struct gus_pmus *pmus,
		 const char *uarch, struct gus_error *err)
{
	enum gus_verdict verdict = GUS_PROBE_ABSENT;
	const struct gus_event *failed = &events->v[0];

	/* Of events for several kinds of cores this thread can try one. */
	for (size_t i = 0; i < events->n; i++) {
		enum gus_verdict v;

		if (events->v[i].bare) /* its samples bring none along */
			continue;
		v = gus_probe_branches(&events->v[i], type);

		if (v == GUS_PROBE_GOOD && events->v[i].cpus)
			return 0;
		if (v != GUS_PROBE_GOOD && !events->v[i].cpus)
			return explain(purpose, &events->v[i], v, pmus, uarch, err);
		verdict = v;
		failed = &events->v[i];
	}
	return verdict == GUS_PROBE_GOOD ? 0 : explain(purpose, failed, verdict, pmus, uarch, err);
}

int gus_branches_check(const struct gus_events *events, uint64_t type, struct gus_pmus *pmus, const char *uarch,
		       struct gus_error *err)
{
	return check(&for_themselves, events, type, pmus, uarch, err);
}

int gus_branches_check_calls(const struct gus_events *events, uint64_t type, struct gus_pmus *pmus, const char *uarch,
			     struct gus_error *err)
{
	return check(&for_callers, events, type, pmus, uarch, err);
}
