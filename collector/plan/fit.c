/* SPDX-License-Identifier: MIT */
#include "collector/plan/fit.h"

enum { COUNTERS = 64, FIRST_FIXED = 32, NOBODY = -1 };

/* A bipartite graph of events and counters; owner says who has a counter. */
struct match {
	uint64_t may[GUS_PLAN_FIT_MAX + 1]; /* counters that each event may have */
	int owner[COUNTERS];
};

static uint64_t counters_of(const struct gus_plan_free *f, uint16_t general, uint8_t fixed)
{
	unsigned n = f->smt ? f->core->general_smt : f->core->general;

	return (general & ((UINT64_C(1) << n) - 1)) |
	       (uint64_t)(fixed & f->core->fixed) << FIRST_FIXED;
}

/* Kuhn's algorithm: an event takes a counter if it is free, or if who has it finds another one. Of an event's
 * counters the fixed ones are tried first, as fewer can use these. */
static bool place(struct match *m, int event, uint64_t *tried)
{
	for (int i = COUNTERS - 1; i >= 0; i--) {
		int counter = i >= FIRST_FIXED ? i : FIRST_FIXED - 1 - i;
		uint64_t bit = UINT64_C(1) << counter;

		if (!(m->may[event] & bit) || (*tried & bit))
			continue;
		*tried |= bit;
		if (m->owner[counter] == NOBODY || place(m, m->owner[counter], tried)) {
			m->owner[counter] = event;
			return true;
		}
	}
	return false;
}

static bool needs_counter(const struct gus_plan_row *row)
{
	return row->unit == GUS_PLAN_ON_CORE && (row->counters || row->fixed);
}

/* Two events that differ in a value that a core has one of, or two of a unit that does one thing at a time. */
static bool clash(const struct gus_plan_row *a, const struct gus_plan_row *b)
{
	if (a->unit != b->unit)
		return false;
	if (a->unit != GUS_PLAN_ON_CORE)
		return a->unit != GUS_PLAN_BY_KERNEL;
	return a->holds != GUS_PLAN_HOLDS_NOTHING && a->holds == b->holds && a->config1 != b->config1;
}

bool gus_plan_fits(const struct gus_plan_free *f, const struct gus_plan_row *const *rows, size_t n)
{
	struct match m;
	uint64_t tried;

	if (n > GUS_PLAN_FIT_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (clash(rows[i], rows[k]))
				return false;
	for (int i = 0; i < COUNTERS; i++)
		m.owner[i] = NOBODY;
	m.may[n] = counters_of(f, f->core->watchdog_counters, f->core->watchdog_fixed);
	tried = 0;
	if (f->watchdog && !place(&m, (int)n, &tried))
		return false;
	for (size_t i = 0; i < n; i++) {
		m.may[i] = counters_of(f, rows[i]->counters, rows[i]->fixed);
		tried = 0;
		if (needs_counter(rows[i]) && !place(&m, (int)i, &tried))
			return false;
	}
	return true;
}
