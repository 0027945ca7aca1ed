/* SPDX-License-Identifier: MIT */
/* Plans of all known CPUs, in all modes, with and without SMT and the watchdog, held to what the counters of their
 * cores can do. Which counter counts what is written down here anew, from the kernel's constraints, and events are
 * put on counters by trying all ways: neither the tables' words nor the planner's matching is believed. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/plan/fit.h"
#include "collector/plan/make.h"
#include "collector/plan/plan.h"
#include "collector/plan/verdict.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define FIXED(i) (UINT64_C(1) << (32 + (i)))

/* Counters of a thread: beside another one, alone, fixed. */
static const struct { const char *core; unsigned smt, alone, fixed; } sizes[] = {
	{ "skylake", 4, 8, 3 }, { "sunny-cove", 8, 8, 4 }, { "golden-cove", 8, 8, 4 }, { "redwood-cove", 8, 8, 4 },
	{ "lion-cove", 10, 10, 4 }, { "gracemont", 6, 6, 3 }, { "skymont", 8, 8, 6 }, { "zen2", 6, 6, 0 },
	{ "zen3", 6, 6, 0 }, { "zen4", 6, 6, 0 }, { "zen5", 6, 6, 0 }, { "neoverse-n1", 6, 6, 1 },
	{ "neoverse-n2", 6, 6, 1 }, { "neoverse-v1", 6, 6, 1 }, { "neoverse-v2", 6, 6, 1 },
	{ "neoverse-n3", 6, 6, 1 }, { "neoverse-v3", 6, 6, 1 },
};

/* What is allowed less: an event number in this range, of this umask (-1: any), from this precise level on. */
static const struct { const char *core; unsigned from, to; int umask; unsigned precise; uint64_t counters; } rules[] = {
	{ "skylake", 0x00, 0xff, -1, 1, 0x0f },         /* PEBS is on the first four */
	{ "skylake", 0x3c, 0x3c, -1, 3, 0x02 },         /* INST_RETIRED.PREC_DIST */
	{ "skylake", 0xd0, 0xd4, -1, 0, 0x0f },
	{ "sunny-cove", 0xd0, 0xd4, -1, 0, 0x0f },
	{ "golden-cove", 0x01, 0x3b, -1, 0, 0x0f },     /* below 0x90 */
	{ "golden-cove", 0x3d, 0x8f, -1, 0, 0x0f },
	{ "golden-cove", 0x3c, 0x3c, -1, 3, 0x01 },     /* precise distribution */
	{ "golden-cove", 0xcd, 0xcd, 1, 0, 0xfe },      /* LOAD_LATENCY */
	{ "golden-cove", 0xcd, 0xcd, 2, 0, 0x01 },      /* STORE_SAMPLE */
	{ "golden-cove", 0xd0, 0xdf, -1, 0, 0x0f },
	{ "redwood-cove", 0x01, 0x3b, -1, 0, 0x0f },
	{ "redwood-cove", 0x3d, 0x8f, -1, 0, 0x0f },
	{ "redwood-cove", 0x3c, 0x3c, -1, 3, 0x01 },
	{ "redwood-cove", 0xcd, 0xcd, 1, 0, 0xfe },
	{ "redwood-cove", 0xcd, 0xcd, 2, 0, 0x01 },
	{ "redwood-cove", 0xd0, 0xdf, -1, 0, 0x0f },
	{ "lion-cove", 0x3c, 0x3c, -1, 3, 0x001 },
	{ "lion-cove", 0xcd, 0xcd, 1, 0, 0x3fc },
	{ "lion-cove", 0xcd, 0xcd, 2, 0, 0x003 },
	{ "lion-cove", 0xd0, 0xd4, -1, 0, 0x00f },
	{ "gracemont", 0x3c, 0x3c, -1, 3, 0x01 },
	{ "gracemont", 0xd0, 0xd0, 5, 0, 0x03 },        /* LOAD_LATENCY */
	{ "gracemont", 0xd0, 0xd0, 6, 0, 0x0f },        /* STORE_LATENCY */
	{ "skymont", 0x3c, 0x3c, -1, 3, 0x03 },
	{ "skymont", 0xd0, 0xd0, 5, 0, 0x03 },
	{ "skymont", 0xd0, 0xd0, 6, 0, 0x0f },
};

/* The fixed counters, each of one event. */
static const struct { const char *maker; uint64_t config; uint64_t counter; } fixed[] = {
	{ "intel", 0xc0, FIXED(0) }, { "intel", 0x3c, FIXED(1) }, { "intel", 0x0400, FIXED(3) },
	{ "skylake", 0x20003c, FIXED(1) },              /* of both threads */
	{ "skymont", 0x0073, FIXED(4) }, { "skymont", 0x019c, FIXED(5) }, { "skymont", 0x02c2, FIXED(6) },
	{ "arm", 0x11, FIXED(0) },
};

static bool is_of(const char *maker, const char *core)
{
	bool arm = strncmp(core, "neoverse", 8) == 0, amd = strncmp(core, "zen", 3) == 0;

	return strcmp(maker, core) == 0 || strcmp(maker, arm ? "arm" : amd ? "amd" : "intel") == 0;
}

static size_t size_of(const char *core)
{
	for (size_t i = 0; i < COUNT(sizes); i++)
		if (strcmp(sizes[i].core, core) == 0)
			return i;
	fail_msg("%s: no such core is known here", core);
	return 0;
}

static uint64_t general_of(const char *core, bool smt)
{
	return (UINT64_C(1) << (smt ? sizes[size_of(core)].smt : sizes[size_of(core)].alone)) - 1;
}

/* Shares of slots, which take no counter. */
static bool is_metric(uint64_t config)
{
	return config >= 0x8000 && config <= 0x8700 && (config & 0xff) == 0;
}

/* Where an event may be. Shares of slots and slots themselves are on no general counter. */
static uint64_t allowed(const struct gus_plan_core *core, uint64_t config, unsigned precise, bool smt)
{
	uint64_t general = is_metric(config) || config == 0x0400 ? 0 : general_of(core->name, smt);
	uint64_t one = 0;

	for (size_t i = 0; i < COUNT(rules); i++)
		if (strcmp(rules[i].core, core->name) == 0 && rules[i].from <= (config & 0xff) &&
		    (config & 0xff) <= rules[i].to && rules[i].precise <= precise &&
		    (rules[i].umask < 0 || rules[i].umask == (int)(config >> 8 & 0xff)))
			general &= rules[i].counters;
	for (size_t i = 0; i < COUNT(fixed); i++)
		if (is_of(fixed[i].maker, core->name) && fixed[i].config == config)
			one |= fixed[i].counter;
	/* Precise cycles are on the fixed counter of Sunny Cove alone. */
	if (config == 0x3c && precise && strcmp(core->name, "sunny-cove") != 0)
		one = 0;
	return general | one;
}

/* Tries all ways. */
static bool can_be_counted(const uint64_t *may, size_t n, uint64_t taken)
{
	if (n == 0)
		return true;
	for (unsigned i = 0; i < 64; i++)
		if ((may[n - 1] & ~taken & UINT64_C(1) << i) && can_be_counted(may, n - 1, taken | UINT64_C(1) << i))
			return true;
	return false;
}

/* All that is on in a turn: every event has a counter, FRONTEND_RETIRED and thresholds of latency have one value,
 * each sampling unit one event. */
static void check_turn(const struct gus_plan *plan, const struct gus_plan_part *part, uint32_t turn)
{
	uint64_t may[64], miss = 0;
	unsigned units[8] = { 0 };
	size_t n = 0;

	if (plan->wish.watchdog)
		may[n++] = allowed(part->core, is_of("arm", part->core->name) ? 0x11 : is_of("amd", part->core->name) ?
				   0x76 : 0x3c, 0, plan->wish.smt);
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct gus_plan_group *g = &part->groups.v[i];

		for (size_t k = 0; (g->always || (g->turns & turn)) && k < g->n; k++) {
			const struct gus_plan_row *row = part->events.v[g->first + k].row;
			uint64_t here = allowed(part->core, row->config, row->precise, plan->wish.smt);

			units[row->unit]++;
			if (row->unit != GUS_PLAN_ON_CORE || is_metric(row->config))
				continue;
			/* The table itself must not allow what is not. */
			if (row->counters & general_of(part->core->name, plan->wish.smt) & ~here)
				fail_msg("%s: %s is on counters that do not count it", part->core->name, row->name);
			may[n++] = here & (row->counters | (uint64_t)row->fixed << 32);
			if ((row->config & 0xff) == 0xc6 && row->config1) {
				if (miss && miss != row->config1)
					fail_msg("%s: two FRONTEND_RETIRED in one turn", part->core->name);
				miss = row->config1;
			}
		}
	}
	if (!can_be_counted(may, n, 0))
		fail_msg("%s, mode %s: what is on in turn %x does not fit", plan->wish.cpu->name,
			 gus_plan_mode_name(plan->wish.mode), turn);
	assert_true(units[GUS_PLAN_ON_IBS_OP] <= 1 && units[GUS_PLAN_ON_IBS_FETCH] <= 1 && units[GUS_PLAN_ON_SPE] <= 1);
}

/* Heights never take turns; what leads comes first; what has a turn has one that there is; and top-down takes turns
 * only where it has to. */
static void check_part(const struct gus_plan *plan, const struct gus_plan_part *part)
{
	size_t events = 0, size = size_of(part->core->name);

	assert_int_equal(part->core->general_smt, sizes[size].smt);
	assert_int_equal(part->core->general, sizes[size].alone);
	assert_int_equal(__builtin_popcount(part->core->fixed), sizes[size].fixed);
	assert_int_equal(part->general, plan->wish.smt ? sizes[size].smt : sizes[size].alone);
	for (unsigned i = 0; i < part->turns || i == 0; i++)
		check_turn(plan, part, UINT32_C(1) << i);
	for (size_t i = 0; i < part->groups.n; i++) {
		const struct gus_plan_group *g = &part->groups.v[i];
		const struct gus_plan_row *leader = part->events.v[g->first].row;

		assert_int_equal(g->first, events);
		events += g->n;
		assert_true(g->always || (g->turns && !(g->turns >> part->turns)));
		assert_true(g->always || leader->role != GUS_PLAN_HEIGHT);
		for (size_t k = 0; k < g->n; k++) {
			const struct gus_plan_row *row = part->events.v[g->first + k].row;

			assert_true(!row->led_by || strcmp(row->led_by, leader->name) == 0);
		}
	}
	assert_int_equal(events, part->events.n);
	if (part->slots_split && !part->slots_turn)
		fail_msg("%s, mode %s: top-down is in pieces and takes no turns", plan->wish.cpu->name,
			 gus_plan_mode_name(plan->wish.mode));
}

static bool is_in(const struct gus_plan_part *part, const char *name)
{
	for (size_t i = 0; i < part->events.n; i++)
		if (strcmp(part->events.v[i].row->name, name) == 0)
			return true;
	return false;
}

static bool is_absent(const struct gus_plan_part *part, const char *name)
{
	for (size_t i = 0; i < part->absences.n; i++)
		if (strcmp(part->absences.v[i].row->name, name) == 0)
			return true;
	return false;
}

/* Each row of a core is in its plan or said to have no place: nothing is lost on the way. What is of one thread or of
 * two is for one of these. */
static void check_whole(const struct gus_plan *plan, const struct gus_plan_part *part)
{
	for (size_t i = 0; i < part->core->n; i++) {
		const struct gus_plan_row *row = &part->core->rows[i];
		bool wanted = !row->modes || (row->modes & GUS_PLAN_IN(plan->wish.mode));

		if (plan->wish.mode == GUS_PLAN_LBR)
			wanted &= row->role <= GUS_PLAN_STATES;
		if (row->threads)
			wanted &= plan->wish.smt == (row->threads == GUS_PLAN_TWO_THREADS);
		if (wanted && row->role != GUS_PLAN_LEADER && is_in(part, row->name) == is_absent(part, row->name))
			fail_msg("%s, mode %s: %s is in neither or in both", part->core->name,
				 gus_plan_mode_name(plan->wish.mode), row->name);
		assert_true(wanted || !is_in(part, row->name));
	}
}

static unsigned checked(const struct gus_plan_wish *wish)
{
	struct gus_error err = { 0 };
	struct gus_plan plan;
	unsigned parts = 0;

	if (gus_plan_make(&plan, wish, &err) == 0)
		for (; parts < plan.n; parts++)
			if (plan.parts[parts].core) {
				check_part(&plan, &plan.parts[parts]);
				check_whole(&plan, &plan.parts[parts]);
			}
	gus_plan_free(&plan);
	return parts;
}

static void all_plans_fit(void **state)
{
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; gus_plan_cpu_at(i); i++)
		for (enum gus_plan_mode mode = GUS_PLAN_TPEBS; mode <= GUS_PLAN_AUTO; mode++)
			for (unsigned k = 0; k < 4; k++)
				n += checked(&(struct gus_plan_wish){ gus_plan_cpu_at(i), mode, k & 1, k & 2 });
	assert_true(n > 300);
}

/* One that there is. */
static void make(struct gus_plan *plan, const char *cpu, enum gus_plan_mode mode, bool smt, bool watchdog)
{
	const struct gus_plan_wish wish = { gus_plan_cpu_find(cpu), mode, smt, watchdog };

	assert_non_null(wish.cpu);
	assert_int_equal(gus_plan_make(plan, &wish, NULL), 0);
}

/* A matching, not a count: of three events that two counters count one is too many, whatever else is free. */
static void fits(void **state)
{
	static const struct gus_plan_core core = { .name = "made", .general_smt = 4, .general = 4, .fixed = 1,
		.watchdog_counters = 0xf, .watchdog_fixed = 1 };
	const struct gus_plan_row low = { .counters = 0x3 }, lowest = { .counters = 0x1 }, any = { .counters = 0xf },
		cycles = { .counters = 0xf, .fixed = 1 }, one = { .counters = 0xf, .holds = GUS_PLAN_HOLDS_FRONTEND,
		.config1 = 1 }, two = { .counters = 0xf, .holds = GUS_PLAN_HOLDS_FRONTEND, .config1 = 2 },
		ops = { .unit = GUS_PLAN_ON_IBS_OP }, fetches = { .unit = GUS_PLAN_ON_IBS_FETCH },
		faults = { .unit = GUS_PLAN_BY_KERNEL };
	const struct { const struct gus_plan_row *rows[6]; size_t n; bool watchdog, fits; } table[] = {
		{ { 0 }, 0, false, true },
		{ { &low, &low }, 2, false, true },
		{ { &low, &low, &low }, 3, false, false },
		{ { &low, &lowest }, 2, false, true },            /* the first has to move */
		{ { &low, &any, &low, &any }, 4, false, true },
		{ { &any, &any, &low, &lowest }, 4, false, true },
		{ { &any, &any, &any, &any, &any }, 5, false, false },
		{ { &any, &any, &any, &any, &cycles }, 5, false, true },
		{ { &any, &any, &any, &any, &cycles }, 5, true, false }, /* the fixed one is the watchdog's */
		{ { &any, &any, &any, &cycles }, 4, true, true },
		{ { &one, &two }, 2, false, false },
		{ { &one, &one }, 2, false, true },
		{ { &ops, &ops }, 2, false, false },                     /* a unit has one event at a time */
		{ { &ops, &fetches, &faults, &faults }, 4, false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		const struct gus_plan_free here = { &core, true, table[i].watchdog };

		if (gus_plan_fits(&here, table[i].rows, table[i].n) != table[i].fits)
			fail_msg("row %zu", i);
	}
}

/* A core that it shares leaves a thread half of its counters; of what takes none 48 may be on, and no more. */
static void fits_how_many(void **state)
{
	static const struct gus_plan_core core = { .name = "made", .general_smt = 2, .general = 4 };
	const struct gus_plan_row any = { .counters = 0xff }, cycles = { .fixed = 1 };
	const struct gus_plan_row none = { .unit = GUS_PLAN_BY_KERNEL };
	const struct gus_plan_free alone = { &core, false, false }, shared = { &core, true, false };
	const struct gus_plan_row *rows[GUS_PLAN_FIT_MAX + 1] = { &any, &any, &any, &any, &any };

	(void)state;
	assert_true(gus_plan_fits(&shared, rows, 2) && !gus_plan_fits(&shared, rows, 3));
	assert_true(gus_plan_fits(&alone, rows, 4) && !gus_plan_fits(&alone, rows, 5));
	assert_false(gus_plan_fits(&alone, (const struct gus_plan_row *[]){ &cycles }, 1)); /* it has none */
	for (size_t i = 0; i < COUNT(rows); i++)
		rows[i] = &none;
	assert_true(gus_plan_fits(&alone, rows, 48) && !gus_plan_fits(&alone, rows, 49));
}

/* What would be known, as gusprof-hardware(7) and the makers' manuals have it: a letter for heights and one for
 * each of TEA's events in the paper's order, o observed, i inferred, - unknown. */
static void verdicts(void **state)
{
	static const struct { const char *cpu; enum gus_plan_mode mode; const char *want[GUS_PLAN_KINDS]; } table[] = {
		/* heights | DR-L1 DR-TLB DR-SQ | FL-MB FL-EX FL-MO | ST-L1 ST-TLB ST-LLC */
		{ "skylake-avx512", GUS_PLAN_AUTO, { "o iii oii iii" } },
		{ "icelake-server", GUS_PLAN_AUTO, { "o iii oii iii" } },
		{ "sapphirerapids", GUS_PLAN_AUTO, { "o iii oii iii" } },
		{ "graniterapids", GUS_PLAN_AUTO, { "o ooi oii ooo" } },
		{ "graniterapids", GUS_PLAN_PEBS, { "o iii oii iii" } },
		{ "alderlake", GUS_PLAN_AUTO, { "o iii oii iii", "o iii oii iii" } },
		{ "lunarlake", GUS_PLAN_AUTO, { "o ooi oii ooo", "o ooi oii ooo" } },
		{ "znver2", GUS_PLAN_AUTO, { "i iii oi- ooo" } },
		{ "znver3", GUS_PLAN_AUTO, { "i iii oi- ooo" } },
		{ "znver4", GUS_PLAN_AUTO, { "i iii oii ooo" } },
		{ "znver5", GUS_PLAN_AUTO, { "i iii oii ooo" } },
		{ "znver5", GUS_PLAN_LBR, { "i --- ii- ---" } },
		{ "neoverse-n1", GUS_PLAN_AUTO, { "i ii- oo- ooo" } },
		{ "neoverse-n2", GUS_PLAN_AUTO, { "i ii- oo- ooo" } },
		{ "neoverse-v1", GUS_PLAN_AUTO, { "i ii- oo- ooo" } },
		{ "neoverse-v2", GUS_PLAN_AUTO, { "i ii- oo- ooo" } },
		{ "neoverse-n3", GUS_PLAN_AUTO, { "i ii- oo- ooo" } },
		{ "neoverse-v3", GUS_PLAN_AUTO, { "i ii- oo- ooo" } },
		{ "arrowlake", GUS_PLAN_AUTO, { "o ooi oii ooo", "o ooi oii ooo" } },
		{ "neoverse-v2", GUS_PLAN_TIMER, { "i --- -i- ---" } },
	};
	static const char letters[] = { '-', 'i', 'o' };

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct gus_plan plan;

		make(&plan, table[i].cpu, table[i].mode, true, true);
		for (size_t k = 0; k < plan.n; k++) {
			char got[] = "h abc def ghi";
			static const unsigned places[] = { 2, 3, 4, 6, 7, 8, 10, 11, 12 };

			got[0] = letters[plan.parts[k].heights.evidence];
			for (unsigned bit = 0; bit < GUS_PSV_EVENTS; bit++)
				got[places[bit]] = letters[plan.parts[k].psv[bit].evidence];
			assert_string_equal(got, table[i].want[k]);
		}
		assert_true(plan.n == GUS_PLAN_KINDS || !table[i].want[plan.n]);
		gus_plan_free(&plan);
	}
}

/* By what heights are known: precise samples need nothing else, others are scaled by records of operations, if there
 * are any. */
static void known_heights(void **state)
{
	static const struct gus_plan_row skidding = { .role = GUS_PLAN_HEIGHT };
	static const struct gus_plan_row precise = { .role = GUS_PLAN_HEIGHT, .precise = 3 };
	static const struct gus_plan_row op = { .role = GUS_PLAN_OP }, count = { .role = GUS_PLAN_COUNT };
	static const struct { const struct gus_plan_row *rows[3]; enum gus_plan_how how; size_t n; } cases[] = {
		{ { &skidding, &count, &count }, GUS_PLAN_BY_SKID, 1 },
		{ { &skidding, &count, &op }, GUS_PLAN_BY_WEIGHT, 2 },
		{ { &precise, &count, &count }, GUS_PLAN_BY_PRECISE, 1 },
		{ { &precise, &count, &op }, GUS_PLAN_BY_PRECISE, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gus_plan_part part = { 0 };

		for (size_t k = 0; k < 3; k++)
			gus_vec_push(&part.events, (struct gus_plan_event){ .row = cases[i].rows[k] });
		gus_plan_judge(&part, GUS_PLAN_AUTO);
		assert_int_equal(part.heights.how, cases[i].how);
		assert_int_equal(part.heights.n, cases[i].n);
		assert_ptr_equal(part.heights.rows[0], cases[i].rows[0]);
		gus_vec_free(&part.events);
	}
}

/* The best witness comes first, others in the order of the plan; of more than eight the last are left off. */
static void witnesses(void **state)
{
	static const struct gus_plan_row op = { .role = GUS_PLAN_OP, .tells = GUS_PSV_DR_L1 };
	static const struct gus_plan_row rates[9] = {
		{ .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE }, { .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE },
		{ .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE }, { .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE },
		{ .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE }, { .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE },
		{ .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE }, { .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE },
		{ .tells = GUS_PSV_DR_L1, .role = GUS_PLAN_RATE },
	};
	struct gus_plan_part part = { 0 };
	const struct gus_plan_verdict *v = &part.psv[0];

	(void)state;
	for (size_t i = 0; i < COUNT(rates); i++)
		gus_vec_push(&part.events, (struct gus_plan_event){ .row = &rates[i] });
	gus_plan_judge(&part, GUS_PLAN_IBS);
	assert_true(v->n == GUS_PLAN_WITNESSES && v->how == GUS_PLAN_BY_COUNT && v->evidence == GUS_PLAN_INFERRED);
	for (size_t i = 0; i < GUS_PLAN_WITNESSES - 1; i++)
		assert_ptr_equal(v->rows[i], &rates[i]);
	part.psv[0] = (struct gus_plan_verdict){ 0 };
	part.heights = (struct gus_plan_verdict){ 0 };
	gus_vec_push(&part.events, (struct gus_plan_event){ .row = &op });
	gus_plan_judge(&part, GUS_PLAN_IBS);
	assert_true(v->n == GUS_PLAN_WITNESSES && v->how == GUS_PLAN_BY_RECORD && v->evidence == GUS_PLAN_OBSERVED);
	assert_ptr_equal(v->rows[0], &op);
	for (size_t i = 1; i < GUS_PLAN_WITNESSES; i++)
		assert_ptr_equal(v->rows[i], &rates[i - 1]);
	gus_vec_free(&part.events);
}

static const struct gus_plan_event *event_named(const struct gus_plan_part *part, const char *name)
{
	for (size_t i = 0; i < part->events.n; i++)
		if (strcmp(part->events.v[i].row->name, name) == 0)
			return &part->events.v[i];
	fail_msg("%s is not in the plan", name);
	return NULL;
}

/* Events as they are to be opened, where cores differ. */
static void events(void **state)
{
	static const struct { const char *cpu, *event; uint64_t config, sample, period; bool large; } table[] = {
		/* Records of format 3 have no room for branches, those of format 4 have. */
		{ "skylake-avx512", "CPU_CLK_UNHALTED.THREAD", 0x3c, PERF_SAMPLE_BRANCH_STACK, 0, false },
		{ "icelake-server", "CPU_CLK_UNHALTED.THREAD", 0x3c, PERF_SAMPLE_BRANCH_STACK, 0, true },
		{ "icelake-server", "FRONTEND_RETIRED.L1I_MISS", 0x01c6, 0, 100007, true },
		{ "graniterapids", "FRONTEND_RETIRED.L1I_MISS", 0x03c6, PERF_SAMPLE_WEIGHT_STRUCT, 100007, true },
		{ "graniterapids", "BR_MISP_RETIRED.ALL_BRANCHES_COST", 0x44c5, PERF_SAMPLE_WEIGHT_STRUCT, 400009,
		  true },
		{ "graniterapids", "MACHINE_CLEARS.MEMORY_ORDERING", 0x02c3, 0, 0, false },
		{ "sapphirerapids", "MEM_TRANS_RETIRED.LOAD_LATENCY", 0x01cd,
		  PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT, 100003, true },
		{ "znver4", "ibs_op", 1 << 19, PERF_SAMPLE_RAW, 250928, false },
		{ "neoverse-n1", "arm_spe", 0x10001, 0, 65536, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		const struct gus_plan_event *e;
		struct gus_plan plan;

		make(&plan, table[i].cpu, GUS_PLAN_AUTO, true, true);
		e = event_named(&plan.parts[0], table[i].event);
		assert_int_equal(e->row->config, table[i].config);
		assert_int_equal(e->sample_type, table[i].sample);
		assert_int_equal(e->period, table[i].period);
		assert_int_equal(e->large, table[i].large);
		gus_plan_free(&plan);
	}
}

/* Precise distribution of cycles has counter 0, which samples of stores need on Golden Cove; Lion Cove has two. Loads
 * with latency are led up to Sapphire Rapids and not behind it. */
static void known_conflicts(void **state)
{
	struct gus_plan plan;

	(void)state;
	make(&plan, "sapphirerapids", GUS_PLAN_AUTO, true, true);
	assert_int_equal(plan.parts[0].absences.n, 1);
	assert_string_equal(plan.parts[0].absences.v[0].row->name, "MEM_TRANS_RETIRED.STORE_SAMPLE");
	assert_string_equal(plan.parts[0].absences.v[0].by->name, "CPU_CLK_UNHALTED.THREAD");
	assert_true(is_in(&plan.parts[0], "MEM_LOADS_AUX"));
	assert_false(plan.parts[0].slots_turn);
	assert_int_equal(plan.parts[0].turns, 3); /* as many as FRONTEND_RETIRED has values */
	gus_plan_free(&plan);
	make(&plan, "lunarlake", GUS_PLAN_AUTO, true, true);
	assert_int_equal(plan.n, 2);
	assert_false(plan.wish.smt); /* its cores run one thread */
	assert_int_equal(plan.parts[0].absences.n, 0);
	assert_true(is_in(&plan.parts[0], "MEM_TRANS_RETIRED.STORE_SAMPLE"));
	assert_false(is_in(&plan.parts[0], "MEM_LOADS_AUX"));
	assert_string_equal(plan.parts[0].pmu, "cpu_core");
	assert_string_equal(plan.parts[1].pmu, "cpu_atom");
	gus_plan_free(&plan);
}

/* Top-down takes turns where it needs what others need, and is cut up only where it fits nowhere: six counters of
 * Zen 4 hold cycles and it, five (the watchdog has one) do not; Skylake has eight without SMT and four with it. */
static void top_down(void **state)
{
	static const struct { const char *cpu; bool smt, watchdog, turns, split; } table[] = {
		{ "znver4", true, false, true, false }, { "znver4", true, true, true, true },
		{ "skylake-avx512", false, true, false, false }, { "skylake-avx512", true, true, true, true },
		{ "icelake-server", true, true, false, false }, { "alderlake", true, true, false, false },
		{ "neoverse-n1", true, false, false, false }, { "neoverse-v2", true, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		struct gus_plan plan;

		make(&plan, table[i].cpu, GUS_PLAN_AUTO, table[i].smt, table[i].watchdog);
		if (plan.parts[0].slots_turn != table[i].turns || plan.parts[0].slots_split != table[i].split)
			fail_msg("%s", table[i].cpu);
		gus_plan_free(&plan);
	}
}

/* The slots of Skylake's cores with two threads are half of what both have, which AnyThread (bit 21) counts; of a core
 * with one thread all. */
static void slots_of_two_threads(void **state)
{
	static const struct { const char *event; bool smt; } table[] = {
		{ "INT_MISC.RECOVERY_CYCLES", false }, { "INT_MISC.RECOVERY_CYCLES_ANY", true },
		{ "CPU_CLK_UNHALTED.THREAD_ANY", true },
	};

	(void)state;
	for (unsigned smt = 0; smt < 2; smt++) {
		struct gus_plan plan;

		make(&plan, "skylake-avx512", GUS_PLAN_AUTO, smt, true);
		for (size_t i = 0; i < COUNT(table); i++) {
			if (is_in(&plan.parts[0], table[i].event) != (table[i].smt == smt))
				fail_msg("%s, SMT %s", table[i].event, smt ? "on" : "off");
			if (smt && table[i].smt)
				assert_true(event_named(&plan.parts[0], table[i].event)->row->config & 1 << 21);
		}
		gus_plan_free(&plan);
	}
}

/* Fixed counters that there are, each of its own number: Skymont has none for slots (3), and one behind it for what
 * retired (6); a counter that is not there counts nothing. */
static void fixed_counters_with_a_gap(void **state)
{
	const struct gus_plan_core *core = gus_plan_cpu_find("lunarlake")->kinds[1].core;
	const struct gus_plan_free here = { core, false, false };
	const struct gus_plan_row slots = { .fixed = 1 << 3 }, retired = { .fixed = 1 << 6 };

	(void)state;
	assert_string_equal(core->name, "skymont");
	assert_false(gus_plan_fits(&here, (const struct gus_plan_row *[]){ &slots }, 1));
	assert_true(gus_plan_fits(&here, (const struct gus_plan_row *[]){ &retired }, 1));
}

/* CPUs are found by LLVM's names and by those that people use; a short name is that of one CPU, and no other's. */
static void short_names(void **state)
{
	static const struct { const char *asked, *name; } table[] = {
		{ "skl", "skylake" }, { "skx", "skylake-avx512" }, { "icx", "icelake-server" },
		{ "spr", "sapphirerapids" }, { "emr", "emeraldrapids" }, { "gnr", "graniterapids" },
		{ "arl", "arrowlake" }, { "zen4", "znver4" }, { "n1", "neoverse-n1" }, { "v3", "neoverse-v3" },
		{ "znver4", "znver4" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		const struct gus_plan_cpu *cpu = gus_plan_cpu_find(table[i].asked);

		assert_non_null(cpu);
		assert_string_equal(cpu->name, table[i].name);
	}
	assert_null(gus_plan_cpu_find("mtl"));
	assert_null(gus_plan_cpu_find(""));
}

/* Beside cycles one counter of two is free: neither top-down nor states fit as a whole, and each of their events has a
 * turn of its own. */
static void all_in_pieces(void **state)
{
	static const struct gus_plan_row rows[] = {
		{ .name = "cycles", .role = GUS_PLAN_HEIGHT, .counters = 3 },
		{ .name = "slots 1", .role = GUS_PLAN_SLOTS, .counters = 3 },
		{ .name = "slots 2", .role = GUS_PLAN_SLOTS, .counters = 3 },
		{ .name = "slots 3", .role = GUS_PLAN_SLOTS, .counters = 3 },
		{ .name = "slots 4", .role = GUS_PLAN_SLOTS, .counters = 3 },
		{ .name = "states 1", .role = GUS_PLAN_STATES, .counters = 3 },
		{ .name = "states 2", .role = GUS_PLAN_STATES, .counters = 3 },
	};
	static const struct gus_plan_core core = { .name = "made", .title = "Made", .threads = 1, .general_smt = 2,
		.general = 2, .modes = GUS_PLAN_IN(GUS_PLAN_PEBS), .rows = rows, .n = COUNT(rows) };
	static const struct gus_plan_cpu cpu = { "made", "Made", { { &core, "cpu" } } };
	struct gus_plan plan;

	(void)state;
	assert_int_equal(gus_plan_make(&plan, &(struct gus_plan_wish){ &cpu, GUS_PLAN_AUTO, false, false }, NULL), 0);
	assert_int_equal(plan.parts[0].absences.n, 0);
	assert_int_equal(plan.parts[0].turns, 6);
	assert_true(plan.parts[0].slots_split && plan.parts[0].slots_turn);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct gus_plan_group *g = &plan.parts[0].groups.v[i];

		assert_true(g->n == 1 && plan.parts[0].events.v[g->first].row == &rows[i]);
		assert_int_equal(g->always, i == 0);
		assert_int_equal(g->turns, i == 0 ? 0x3f : 1u << (i - 1));
	}
	gus_plan_free(&plan);
}

static void modes(void **state)
{
	const struct gus_plan_cpu *zen4 = gus_plan_cpu_find("znver4");
	struct gus_error err = { 0 };
	struct gus_plan plan;

	(void)state;
	assert_int_equal(gus_plan_make(&plan, &(struct gus_plan_wish){ zen4, GUS_PLAN_PEBS, true, true }, &err), -1);
	assert_int_equal(err.code, GUS_E_UNSUPPORTED);
	assert_string_equal(err.text, "Zen 4 (znver4) has no pebs: its modes are ibs, lbr, timer");
	gus_plan_free(&plan);
	/* Without a CPU, or a PMU, there is the timer. */
	assert_int_equal(gus_plan_make(&plan, &(struct gus_plan_wish){ NULL, GUS_PLAN_AUTO, true, true }, NULL), 0);
	assert_int_equal(plan.wish.mode, GUS_PLAN_TIMER);
	assert_int_equal(plan.n, 1);
	assert_null(plan.parts[0].core);
	assert_int_equal(plan.parts[0].events.n, 2);
	assert_string_equal(plan.parts[0].events.v[0].row->name, "cpu-clock");
	gus_plan_free(&plan);
	assert_null(gus_plan_cpu_find("foo"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_plans_fit), cmocka_unit_test(fits), cmocka_unit_test(fits_how_many),
		cmocka_unit_test(verdicts), cmocka_unit_test(known_heights),
		cmocka_unit_test(witnesses),
		cmocka_unit_test(events), cmocka_unit_test(known_conflicts), cmocka_unit_test(top_down),
		cmocka_unit_test(slots_of_two_threads),
		cmocka_unit_test(fixed_counters_with_a_gap), cmocka_unit_test(short_names),
		cmocka_unit_test(all_in_pieces),
		cmocka_unit_test(modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
