/* SPDX-License-Identifier: MIT */
#include "collector/plan/make.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collector/kernel/abi.h"
#include "collector/plan/fit.h"
#include "collector/plan/plan.h"
#include "collector/plan/verdict.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Rows that are on together or not at all. */
enum { UNIT_MAX = 12, UNITS_MAX = 48 };
struct unit {
	const struct gus_plan_row *rows[UNIT_MAX];
	size_t n;
	bool always, placed, piece;
	uint32_t turns;
};

/* A part while it is planned. */
struct planner {
	struct gus_plan_free free;
	enum gus_plan_mode mode;
	struct unit units[UNITS_MAX];
	size_t n;
	unsigned turns;
};

/* Which rows a mode has a use for, with as many threads. */
static bool is_wanted(const struct gus_plan_row *row, enum gus_plan_mode mode, bool smt)
{
	if (row->threads == (smt ? GUS_PLAN_ONE_THREAD : GUS_PLAN_TWO_THREADS))
		return false;
	if (row->modes && !(row->modes & GUS_PLAN_IN(mode)))
		return false;
	if (mode == GUS_PLAN_TIMER)
		return row->unit == GUS_PLAN_BY_KERNEL;
	return mode != GUS_PLAN_LBR || row->role <= GUS_PLAN_STATES || row->unit == GUS_PLAN_BY_KERNEL;
}

static struct unit *unit_of(struct planner *p, enum gus_plan_role role)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->units[i].rows[p->units[i].n - 1]->role == role)
			return &p->units[i];
	return NULL;
}

static const struct gus_plan_row *row_named(const struct gus_plan_core *core, const char *name)
{
	for (size_t i = 0; i < core->n; i++)
		if (strcmp(core->rows[i].name, name) == 0)
			return &core->rows[i];
	return NULL;
}

/* Rows of top-down, and those of states, are one unit each; what must lead another comes with it. */
static void add_row(struct planner *p, const struct gus_plan_row *row)
{
	bool together = row->role == GUS_PLAN_SLOTS || row->role == GUS_PLAN_STATES;
	struct unit *u = together ? unit_of(p, row->role) : NULL;

	if (!u) {
		assert(p->n < UNITS_MAX);
		u = &p->units[p->n++];
		if (row->led_by)
			u->rows[u->n++] = row_named(p->free.core, row->led_by);
	}
	assert(u->n < UNIT_MAX);
	u->rows[u->n++] = row;
}

static void add_rows(struct planner *p)
{
	const struct gus_plan_row *row;

	for (size_t i = 0; p->free.core && i < p->free.core->n; i++) {
		row = &p->free.core->rows[i];
		if (row->role != GUS_PLAN_LEADER && is_wanted(row, p->mode, p->free.smt))
			add_row(p, row);
	}
	for (size_t i = 0; (row = gus_plan_software_at(i)); i++)
		if (is_wanted(row, p->mode, p->free.smt))
			add_row(p, row);
}

static uint32_t all_of(unsigned turns)
{
	return turns ? UINT32_MAX >> (GUS_PLAN_TURNS - turns) : 0;
}

/* Whether a unit fits beside what is always on, with more beside it: another unit (or NULL), and what is on in some
 * turns (0: in none). */
static bool fits_beside(const struct planner *p, const struct unit *u, const struct unit *beside, uint32_t turns)
{
	const struct gus_plan_row *rows[GUS_PLAN_FIT_MAX + UNIT_MAX];
	size_t n = 0;

	for (size_t i = 0; i < p->n && n <= GUS_PLAN_FIT_MAX; i++) {
		const struct unit *other = &p->units[i];

		if (other != u && other != beside && !other->always && !(other->placed && (other->turns & turns)))
			continue;
		for (size_t k = 0; k < other->n && n < COUNT(rows); k++)
			rows[n++] = other->rows[k];
	}
	return !p->free.core || gus_plan_fits(&p->free, rows, n);
}

static bool takes_no_turns(const struct unit *u)
{
	const struct gus_plan_row *row = u->rows[u->n - 1];

	return row->role == GUS_PLAN_HEIGHT || row->role == GUS_PLAN_COUNT || row->unit != GUS_PLAN_ON_CORE;
}

/* Makes a unit be always on, if it and all others still have counters then. */
static void keep_on(struct planner *p, struct unit *u)
{
	if (!fits_beside(p, u, NULL, 0))
		return;
	for (size_t i = 0; i < p->n; i++) {
		struct unit *other = &p->units[i];

		if (other != u && !other->always && fits_beside(p, other, NULL, 0) && !fits_beside(p, other, u, 0))
			return;
	}
	u->always = true;
	u->placed = true;
}

static void place_heights(struct planner *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (takes_no_turns(&p->units[i]) && fits_beside(p, &p->units[i], NULL, 0)) {
			p->units[i].always = true;
			p->units[i].placed = true;
		}
}

/* A unit that fits into no turn as a whole becomes one for each row; of what is led nothing is left but the whole. */
static bool split_units(struct planner *p)
{
	bool slots = false;

	for (size_t i = 0; i < p->n; i++) {
		struct unit whole = p->units[i];
		const struct gus_plan_row *last = whole.rows[whole.n - 1];

		if (whole.n < 2 || last->led_by || fits_beside(p, &p->units[i], NULL, 0))
			continue;
		slots |= last->role == GUS_PLAN_SLOTS;
		assert(p->n + whole.n <= UNITS_MAX);
		memmove(&p->units[i + whole.n], &p->units[i + 1], (p->n - i - 1) * sizeof(*p->units));
		for (size_t k = 0; k < whole.n; k++)
			p->units[i + k] = (struct unit){ .rows = { whole.rows[k] }, .n = 1, .piece = true };
		p->n += whole.n - 1;
		i += whole.n - 1;
	}
	return slots;
}

/* Of top-down and of states, if they are whole: a piece would be always on for nothing. */
static void place_always(struct planner *p)
{
	for (enum gus_plan_role role = GUS_PLAN_SLOTS; role <= GUS_PLAN_STATES; role++)
		for (size_t i = 0; i < p->n; i++)
			if (p->units[i].rows[0]->role == role && !p->units[i].piece)
				keep_on(p, &p->units[i]);
}

/* First fit, and then on in every other turn where it fits as well. */
static void place_turns(struct planner *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct unit *u = &p->units[i];
		unsigned turn = 0;

		if (u->placed || !fits_beside(p, u, NULL, 0))
			continue;
		while (turn < p->turns && !fits_beside(p, u, NULL, UINT32_C(1) << turn))
			turn++;
		if (turn == GUS_PLAN_TURNS)
			continue;
		u->turns = UINT32_C(1) << turn;
		u->placed = true;
		p->turns += turn == p->turns;
	}
	for (size_t i = 0; i < p->n; i++)
		for (unsigned turn = 0; turn < p->turns; turn++)
			if (p->units[i].placed && !p->units[i].always &&
			    fits_beside(p, &p->units[i], NULL, UINT32_C(1) << turn))
				p->units[i].turns |= UINT32_C(1) << turn;
	/* Who is on in all turns is always on. */
	for (size_t i = 0; i < p->n; i++)
		p->units[i].always |= p->units[i].placed && p->units[i].turns == all_of(p->turns);
	if (p->turns == 1)
		p->turns = 0;
}

/* Who is always on and in the way. */
static const struct gus_plan_row *in_the_way(struct planner *p, const struct unit *u)
{
	for (size_t i = 0; i < p->n; i++) {
		struct unit *other = &p->units[i];
		bool free;

		if (!other->always)
			continue;
		other->always = other->placed = false;
		free = fits_beside(p, u, NULL, 0);
		other->always = other->placed = true;
		if (free)
			return other->rows[0];
	}
	return NULL;
}

/* Events as they are opened. */
static const uint64_t buffered = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | GUS_PERF_WEIGHT_STRUCT;

static struct gus_plan_event event_of(const struct planner *p, const struct gus_plan_row *row)
{
	struct gus_plan_event e = { .row = row, .samples = row->role == GUS_PLAN_HEIGHT || row->period,
		.sample_type = row->sample, .period = row->period };
	bool stacks = p->free.core && p->free.core->large;

	/* What took how long since the retirement before is in the third part of the weight. */
	if (p->mode == GUS_PLAN_TPEBS && (row->role == GUS_PLAN_SPLIT || row->role == GUS_PLAN_DATA))
		e.sample_type |= GUS_PERF_WEIGHT_STRUCT;
	e.large = e.samples && row->precise &&
		!(e.sample_type & ~(buffered | (stacks ? (uint64_t)PERF_SAMPLE_BRANCH_STACK : 0)));
	return e;
}

static void tell(struct gus_plan_part *part, struct planner *p)
{
	part->turns = p->turns;
	for (size_t i = 0; i < p->n; i++) {
		struct unit *u = &p->units[i];
		struct gus_plan_group group = { part->events.n, u->n, u->always ? all_of(p->turns) : u->turns,
			u->always };

		part->slots_turn |= u->placed && !u->always && u->rows[0]->role == GUS_PLAN_SLOTS;
		if (!u->placed) { /* the last row is what it is about; what leads has no use of its own */
			gus_vec_push(&part->absences,
				     (struct gus_plan_absence){ u->rows[u->n - 1], in_the_way(p, u) });
			continue;
		}
		for (size_t k = 0; k < u->n; k++)
			gus_vec_push(&part->events, event_of(p, u->rows[k]));
		gus_vec_push(&part->groups, group);
	}
}

static void plan_part(struct gus_plan_part *part, const struct gus_plan_wish *wish, const struct gus_plan_kind *kind)
{
	struct planner p = { .free = { kind ? kind->core : NULL, wish->smt, wish->watchdog }, .mode = wish->mode };

	part->core = p.free.core;
	part->pmu = kind ? kind->pmu : NULL;
	part->general = !kind ? 0 : wish->smt ? kind->core->general_smt : kind->core->general;
	add_rows(&p);
	place_heights(&p);
	part->slots_split = split_units(&p);
	place_always(&p);
	place_turns(&p);
	tell(part, &p);
	gus_plan_judge(part, wish->mode);
}

/* The first mode of a core. */
static enum gus_plan_mode best_mode(const struct gus_plan_core *core)
{
	enum gus_plan_mode mode = GUS_PLAN_TPEBS;

	while (!(core->modes & GUS_PLAN_IN(mode)))
		mode++;
	return mode;
}

static int refuse(const struct gus_plan_wish *wish, struct gus_error *err)
{
	char modes[64] = "";

	for (enum gus_plan_mode mode = GUS_PLAN_TPEBS; mode < GUS_PLAN_AUTO; mode++)
		if (gus_plan_cpu_has(wish->cpu, mode)) {
			strcat(modes, *modes ? ", " : "");
			strcat(modes, gus_plan_mode_name(mode));
		}
	return gus_fail(err, GUS_E_UNSUPPORTED, "%s (%s) has no %s: its modes are %s", wish->cpu->title,
			wish->cpu->name, gus_plan_mode_name(wish->mode), modes);
}

int gus_plan_make(struct gus_plan *plan, const struct gus_plan_wish *wish, struct gus_error *err)
{
	const struct gus_plan_kind *kinds = wish->cpu ? wish->cpu->kinds : NULL;

	*plan = (struct gus_plan){ .wish = *wish };
	if (!kinds || wish->mode == GUS_PLAN_TIMER) {
		plan->wish.mode = GUS_PLAN_TIMER;
		plan_part(&plan->parts[plan->n++], &plan->wish, NULL);
		return 0;
	}
	if (wish->mode == GUS_PLAN_AUTO)
		plan->wish.mode = best_mode(kinds[0].core);
	plan->wish.smt &= kinds[0].core->threads > 1;
	if (!gus_plan_cpu_has(wish->cpu, plan->wish.mode))
		return refuse(&plan->wish, err);
	for (size_t i = 0; i < GUS_PLAN_KINDS && kinds[i].core; i++)
		plan_part(&plan->parts[plan->n++], &plan->wish, &kinds[i]);
	return 0;
}
