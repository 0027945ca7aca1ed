/* SPDX-License-Identifier: MIT */
#include "collector/events/topdown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events/pmu.h"
#include "collector/host/text.h"
#include "collector/plan/table.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Intel: the kernel names these where the CPU has them; `slots` must lead. In the order of enum metrics. */
static const char *const metric_names[] = { "slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
					    "topdown-be-bound" };
enum metrics { SLOTS, RETIRING, BAD, FRONTEND, BACKEND };

/* AMD: raw events of Zen 4 and Zen 5, in the order of collector/plan/amd.c, which has their encodings. A slot of
 * dispatch gets an op, or is one of the first three. Alone, not as a group: a core has six counters, and where the
 * watchdog takes one they must take turns. */
static const char *const dispatch_names[] = { "no-ops-from-frontend", "backend-stalls", "smt-contention",
	"dispatched-ops", "retired-ops" };
enum dispatch { D_FRONTEND, D_BACKEND, D_SMT, D_DISPATCHED, D_RETIRED };
static const char *const dispatch_uarchs[] = { "znver4", "znver5" };

/* Arm: events that the architecture defines; the kernel names those that the CPU has. */
static const char *const stall_names[] = { "cpu_cycles", "stall_slot", "stall_slot_frontend", "stall_slot_backend",
	"op_retired",
					   "op_spec", "br_mis_pred" };
enum stall { S_CYCLES, S_STALL, S_FRONTEND, S_BACKEND, S_RETIRED, S_SPEC, S_MISSES };
/* Arm's own telemetry corrects what a flush counts as, by so many cycles a mispredicted branch. */
static const struct { const char *uarch; double frontend, backend, bad; } corrections[] = {
	{ "neoverse-v1", -4, 0, 4 }, { "neoverse-n2", -1, -3, 4 }, { "neoverse-v2", -1, -3, 4 },
};

static bool has_all(const struct gus_pmu *pmu, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!gus_pmu_alias(pmu, names[i], strlen(names[i])))
			return false;
	return true;
}

/* PMU/NAME/ of each, separated by commas, as a group or not. */
static char *spec_of(const char *pmu, const char *const *names, size_t n, bool group)
{
	char *spec = gus_strdup(group ? "{" : "");

	for (size_t i = 0; i < n; i++) {
		char *longer = gus_format("%s%s%s/%s/", spec, i ? "," : "", pmu, names[i]);

		free(spec);
		spec = longer;
	}
	if (group) {
		char *closed = gus_format("%s}", spec);

		free(spec);
		spec = closed;
	}
	return spec;
}

static char *dispatch_spec(const char *uarch)
{
	char *spec = gus_strdup("");

	for (size_t i = 0; i < COUNT(dispatch_names); i++) {
		char *longer = gus_format("%s%scpu/config=0x%" PRIx64 ",name=%s/", spec, i ? "," : "",
					  gus_plan_slots_at(uarch, i)->config, dispatch_names[i]);

		free(spec);
		spec = longer;
	}
	return spec;
}

/* The first PMU of cores that has all these events, or NULL. */
static struct gus_pmu *pmu_with(struct gus_pmus *pmus, const char *const *names, size_t n)
{
	gus_pmus_list(pmus);
	for (size_t i = 0; i < pmus->list.n; i++) {
		struct gus_pmu *pmu = &pmus->list.v[i];

		gus_pmu_load(pmus, pmu);
		if (has_all(pmu, names, n))
			return pmu;
	}
	return NULL;
}

static double slots_of(const struct gus_pmus *pmus, const struct gus_pmu *pmu)
{
	char *path = gus_format("%s/bus/event_source/devices/%s/caps/slots", pmus->root, pmu->name), text[32];
	double slots = gus_read_text(path, text, sizeof(text)) ? (double)strtoul(text, NULL, 0) : 0;

	free(path);
	return slots;
}

/* The text of the events, which the caller frees; NULL if this machine has none. */
static char *choose(struct gus_topdown *t, struct gus_pmus *pmus, const char *uarch)
{
	struct gus_pmu *pmu = pmu_with(pmus, metric_names, COUNT(metric_names));

	if (pmu) {
		t->kind = GUS_TOPDOWN_METRICS;
		return spec_of(pmu->name, metric_names, COUNT(metric_names), true);
	}
	for (size_t i = 0; uarch && i < COUNT(dispatch_uarchs); i++)
		if (strcmp(uarch, dispatch_uarchs[i]) == 0 && gus_pmus_find(pmus, "cpu")) {
			t->kind = GUS_TOPDOWN_DISPATCH;
			return dispatch_spec(uarch);
		}
	pmu = pmu_with(pmus, stall_names, COUNT(stall_names));
	t->width = pmu ? slots_of(pmus, pmu) : 0;
	if (!(t->width > 0))
		return NULL;
	t->kind = GUS_TOPDOWN_STALL_SLOT;
	for (size_t i = 0; uarch && i < COUNT(corrections); i++)
		if (strcmp(uarch, corrections[i].uarch) == 0) {
			t->frontend = corrections[i].frontend;
			t->backend = corrections[i].backend;
			t->bad = corrections[i].bad;
		}
	return spec_of(pmu->name, stall_names, COUNT(stall_names), false);
}

bool gus_topdown_find(struct gus_topdown *t, struct gus_events *events, struct gus_pmus *pmus, const char *uarch)
{
	struct gus_events found = { 0 };
	uint32_t group = 0;
	char *spec;
	int rc;

	*t = (struct gus_topdown){ .first = events->n };
	spec = choose(t, pmus, uarch);
	rc = spec ? gus_events_parse(&found, spec, pmus, NULL) : -1;
	free(spec);
	if (rc != 0) {
		gus_events_free(&found);
		*t = (struct gus_topdown){ .first = events->n };
		return false;
	}
	for (size_t i = 0; i < events->n; i++)
		group = events->v[i].group > group ? events->v[i].group : group;
	for (size_t i = 0; i < found.n; i++)
		if (found.v[i].group)
			found.v[i].group += group; /* a number of its own */
	t->n = found.n;
	gus_vec_append(events, found.v, found.n);
	gus_vec_free(&found);
	return true;
}

/* Small negative parts are the noise of counts that were not taken at the same instant. */
static double part(double value)
{
	return value > 0 ? value : 0;
}

static bool normalise(struct gus_topdown_shares *s)
{
	double sum;

	*s = (struct gus_topdown_shares){ part(s->retiring), part(s->bad_speculation), part(s->frontend),
		part(s->backend),
					  part(s->smt) };
	sum = s->retiring + s->bad_speculation + s->frontend + s->backend + s->smt;
	if (!(sum > 0))
		return false;
	*s = (struct gus_topdown_shares){ s->retiring / sum, s->bad_speculation / sum, s->frontend / sum,
		s->backend / sum,
					  s->smt / sum };
	return true;
}

bool gus_topdown_shares(const struct gus_topdown *t, const double *c, struct gus_topdown_shares *s)
{
	double slots;

	switch (t->kind) {
	case GUS_TOPDOWN_NONE:
		break;
	case GUS_TOPDOWN_METRICS:
		*s = (struct gus_topdown_shares){ c[RETIRING], c[BAD], c[FRONTEND], c[BACKEND], 0 };
		return normalise(s);
	case GUS_TOPDOWN_DISPATCH:
		*s = (struct gus_topdown_shares){ c[D_RETIRED], c[D_DISPATCHED] - c[D_RETIRED], c[D_FRONTEND],
			c[D_BACKEND],
						  c[D_SMT] };
		return normalise(s);
	case GUS_TOPDOWN_STALL_SLOT:
		slots = t->width * c[S_CYCLES];
		if (!(slots > 0 && c[S_SPEC] > 0))
			break;
		s->retiring = c[S_RETIRED] / c[S_SPEC] * (1 - c[S_STALL] / slots);
		s->bad_speculation = (1 - c[S_RETIRED] / c[S_SPEC]) * (1 - c[S_STALL] / slots) + t->bad *
			c[S_MISSES] / c[S_CYCLES];
		s->frontend = c[S_FRONTEND] / slots + t->frontend * c[S_MISSES] / c[S_CYCLES];
		s->backend = c[S_BACKEND] / slots + t->backend * c[S_MISSES] / c[S_CYCLES];
		s->smt = 0;
		return normalise(s);
	}
	return false;
}
