/* SPDX-License-Identifier: MIT */
/* What a table asks of the machine: which CPU it is, which PMU it has, and what lines of the table are about that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/topdown/parse.h"
#include "model/tables/cpus.h"

/* The rest of a line about CPUs: what holds, if it is this one. */
static int hold(struct gus_topdown_reader *r, bool is_this)
{
	if (!is_this) {
		r->rest.size = 0;
		return 0;
	}
	r->matched = true;
	for (struct gus_piece word = gus_topdown_word(r); word.size; word = gus_topdown_word(r)) {
		if (r->conditions_n == GUS_TOPDOWN_CONDITIONS)
			return gus_topdown_wrong(r, "there are more than %d conditions", GUS_TOPDOWN_CONDITIONS);
		r->conditions[r->conditions_n++] = word;
	}
	return 0;
}

/* cpu VENDOR FAMILY MODEL MODEL [CONDITION]...: the first that fits counts. */
int gus_topdown_read_cpu(struct gus_topdown_reader *r)
{
	const struct gus_cpu_id *cpu = r->host->cpu;
	struct gus_piece vendor = gus_topdown_word(r);
	uint32_t family, low, high;

	if (gus_topdown_whole(r, UINT32_MAX, &family) != 0 || gus_topdown_whole(r, UINT32_MAX, &low) != 0 ||
	    gus_topdown_whole(r, UINT32_MAX, &high) != 0)
		return -1;
	r->says_cpus = true;
	return hold(r, !r->matched && cpu && !cpu->midr && cpu->vendor && gus_piece_is(vendor, cpu->vendor) &&
		    cpu->family == family && cpu->model >= low && cpu->model <= high);
}

/* A number, or "any", which is told by true. */
static int next_part(struct gus_topdown_reader *r, uint32_t *number, bool *any)
{
	struct gus_piece word = gus_topdown_word(r);
	double value = 0;

	*any = gus_piece_is(word, "any");
	if (!*any && gus_topdown_number_of(r, word, &value) != 0)
		return -1;
	*number = (uint32_t)fmin(value, UINT32_MAX);
	return 0;
}

/* midr IMPLEMENTER PART REVISION REVISION [CONDITION]...; a revision is variant and revision, r1p2 being 0x12. */
int gus_topdown_read_midr(struct gus_topdown_reader *r)
{
	uint64_t midr = r->host->cpu ? r->host->cpu->midr : 0;
	uint32_t revision = (uint32_t)(midr >> 16 & 0xf0) | (uint32_t)(midr & 0xf), implementer, part, low, high;
	bool any_implementer, any_part;

	if (next_part(r, &implementer, &any_implementer) != 0 || next_part(r, &part, &any_part) != 0 ||
	    gus_topdown_whole(r, 0xff, &low) != 0 || gus_topdown_whole(r, 0xff, &high) != 0)
		return -1;
	r->says_cpus = true;
	return hold(r, !r->matched && midr && (any_implementer || implementer == (midr >> 24 & 0xff)) &&
		    (any_part || part == (midr >> 4 & 0xfff)) && revision >= low && revision <= high);
}

bool gus_topdown_holds(const struct gus_topdown_reader *r, struct gus_piece condition)
{
	if (gus_piece_is(condition, "smt"))
		return r->host->smt;
	if (gus_piece_is(condition, "watchdog"))
		return r->host->watchdog;
	for (unsigned i = 0; i < r->conditions_n; i++)
		if (r->conditions[i].size == condition.size &&
		    memcmp(r->conditions[i].text, condition.text, condition.size) == 0)
			return true;
	return false;
}

/* NAME, or BEGINNING*. */
static bool fits(struct gus_piece pattern, const char *name)
{
	if (pattern.size && pattern.text[pattern.size - 1] == '*')
		return strncmp(name, pattern.text, pattern.size - 1) == 0;
	return gus_piece_is(pattern, name);
}

/* pmu NAME...: the first that the machine has. */
int gus_topdown_read_pmu(struct gus_topdown_reader *r)
{
	struct gus_piece all = r->rest;

	for (struct gus_piece word = gus_topdown_word(r); word.size && !r->pmu; word = gus_topdown_word(r))
		for (size_t i = 0; i < r->host->pmus_n && !r->pmu; i++)
			if (fits(word, r->host->pmus[i].name))
				r->pmu = &r->host->pmus[i];
	r->rest.size = 0;
	gus_topdown_skip_blanks(&all);
	if (r->pmu) {
		r->t->pmu = gus_strdup(r->pmu->name);
		r->t->pmu_slots = r->pmu->slots;
	} else if (!r->t->lacks) {
		r->t->lacks = gus_format("this machine has no PMU %.*s", (int)all.size, all.text);
	}
	return 0;
}

static bool names_event(const struct gus_topdown_pmu *pmu, struct gus_piece name)
{
	for (size_t i = 0; i < pmu->aliases_n; i++)
		if (gus_piece_is(name, pmu->aliases[i]))
			return true;
	return false;
}

/* needs NAME...: events that the kernel names where the machine can count them. */
int gus_topdown_read_needs(struct gus_topdown_reader *r)
{
	for (struct gus_piece word = gus_topdown_word(r); word.size; word = gus_topdown_word(r))
		if (r->pmu && !r->t->lacks && !names_event(r->pmu, word))
			r->t->lacks = gus_format("the PMU %s has no event %.*s: the kernel or the hypervisor does not "
						 "let it be counted", r->pmu->name, (int)word.size, word.text);
	return 0;
}
