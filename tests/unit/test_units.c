/* SPDX-License-Identifier: MIT */
/* attribution/units: what a weight is worth in time and in cycles, and what recording cost, by what header and footer
 * say. No file is needed for that. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/profile/units.h"

/* A recording of two events, of which the second is looked at where `event` is 1. */
struct made {
	Gusprof__Header header;
	Gusprof__Footer footer;
	Gusprof__Event first, second, *events[2];
	Gusprof__EventTotal total, other, *totals[2];
	Gusprof__Frequency before, after;
	Gusprof__Overhead overhead;
	struct gus_profile profile;
};

static struct gus_profile *make(struct made *m, const char *unit)
{
	*m = (struct made){
		.header = GUSPROF__HEADER__INIT, .footer = GUSPROF__FOOTER__INIT,
		.first = GUSPROF__EVENT__INIT, .second = GUSPROF__EVENT__INIT,
		.total = GUSPROF__EVENT_TOTAL__INIT, .other = GUSPROF__EVENT_TOTAL__INIT,
		.before = GUSPROF__FREQUENCY__INIT, .after = GUSPROF__FREQUENCY__INIT,
			.overhead = GUSPROF__OVERHEAD__INIT,
	};
	m->events[0] = &m->first;
	m->events[1] = &m->second;
	m->totals[0] = &m->total;
	m->totals[1] = &m->other;
	m->first.unit = m->second.unit = (char *)(uintptr_t)unit;
	m->header.n_events = m->footer.n_events = 2;
	m->header.events = m->events;
	m->footer.events = m->totals;
	m->profile = (struct gus_profile){ .header = &m->header, .footer = &m->footer };
	return &m->profile;
}

static bool near(double got, double want)
{
	return fabs(got - want) <= 1e-12 * fabs(want);
}

static void scale_is(const struct gus_scale *s, enum gus_evidence evidence, double factor, double low, double high)
{
	assert_int_equal(s->evidence, evidence);
	assert_int_equal(s->known, evidence != GUS_UNKNOWN);
	assert_true(near(s->factor, factor) && near(s->low, low) && near(s->high, high));
}

/* Timed before and after, or once, or not. What is no frequency counts as not timed; of two ranges both ends hold. */
static void cycles_of_a_clock_are_inferred(void **state)
{
	static const struct { uint64_t before[2], after[2]; double low, high; } cases[] = {
		{ { 2900000, 3100000 }, { 0, 0 }, 2.9, 3.1 },
		{ { 0, 0 }, { 2000000, 2500000 }, 2.0, 2.5 },
		{ { 2900000, 3100000 }, { 2000000, 2500000 }, 2.0, 3.1 },
		{ { 2000000, 2500000 }, { 2900000, 3100000 }, 2.0, 3.1 },
		{ { 2000000, 3100000 }, { 2900000, 3000000 }, 2.0, 3.1 },
		{ { 3000000, 3000000 }, { 0, 0 }, 3, 3 },
		{ { 3000000, 2999999 }, { 2000000, 2500000 }, 2.0, 2.5 },
		{ { 0, 3000000 }, { 2000000, 2500000 }, 2.0, 2.5 },
		{ { 0, 0 }, { 0, 0 }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;
		struct gus_profile *p = make(&m, "ns");
		struct gus_units u;

		m.before.low_khz = cases[i].before[0];
		m.before.high_khz = cases[i].before[1];
		m.after.low_khz = cases[i].after[0];
		m.after.high_khz = cases[i].after[1];
		m.header.frequency = &m.before;
		m.footer.frequency = &m.after;
		u = gus_units_of(p);
		scale_is(&u.time, GUS_OBSERVED, 1, 1, 1);
		scale_is(&u.cycles, cases[i].high > 0 ? GUS_INFERRED : GUS_UNKNOWN, (cases[i].low + cases[i].high) / 2,
			 cases[i].low, cases[i].high);
		p->footer = NULL; /* cut: only what was timed before is there */
		u = gus_units_of(p);
		assert_int_equal(u.cycles.known, i != 1 && i < 6);
	}
}

/* The counter's own time for its count, by the event that was asked for; nothing without both. */
static void time_of_cycles_is_inferred(void **state)
{
	static const struct { uint64_t count, running; double factor; } cases[] = {
		{ 100, 50, 0.5 }, { 1, 3, 3 }, { 0, 50, 0 }, { 100, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;
		struct gus_profile *p = make(&m, "cycles");
		struct gus_units u;

		p->event = 1;
		m.total.count = m.total.running_ns = 7;
		m.other.count = cases[i].count;
		m.other.running_ns = cases[i].running;
		m.header.frequency = &m.before;
		m.before.low_khz = m.before.high_khz = 1000; /* is not asked */
		u = gus_units_of(p);
		scale_is(&u.cycles, GUS_OBSERVED, 1, 1, 1);
		scale_is(&u.time, cases[i].factor > 0 ? GUS_INFERRED : GUS_UNKNOWN, cases[i].factor, cases[i].factor,
			 cases[i].factor);
		p->footer = NULL;
		u = gus_units_of(p);
		assert_false(u.time.known);
	}
}

/* Cache misses are neither, and neither is an event that the header does not have. */
static void other_units_have_no_time(void **state)
{
	struct made m;
	struct gus_profile *p = make(&m, "events");
	struct gus_units u = gus_units_of(p);

	(void)state;
	assert_true(!u.time.known && !u.cycles.known);
	p = make(&m, "ns");
	p->event = 2;
	u = gus_units_of(p);
	assert_true(!u.time.known && !u.cycles.known);
	assert_int_equal(u.time.evidence, GUS_UNKNOWN);
}

/* Halves go up. What is observed is not rounded at all, however large it is. */
static void weights_are_rounded(void **state)
{
	static const struct { double factor; uint64_t weight, want; } cases[] = {
		{ 0.5, 4, 2 }, { 0.5, 5, 3 }, { 0.25, 5, 1 }, { 2, 3, 6 }, { 1, UINT64_MAX, UINT64_MAX }, { 3, 0, 0 },
		{ 1, (1ull << 53) + 1, (1ull << 53) + 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gus_scale scale = { .known = true, .factor = cases[i].factor };

		assert_true(gus_scale_apply(&scale, cases[i].weight) == cases[i].want);
	}
}

/* By what the recorder measured of itself: so many millionths while it ran, and 2 ms around a target of 100 ms. */
static void cost_is_what_was_measured(void **state)
{
	struct made m;
	struct gus_profile *p = make(&m, "ns");

	(void)state;
	m.footer.overhead = &m.overhead;
	m.overhead.got_ppm = 5000;
	m.overhead.around_ns = 2000000;
	m.overhead.target_ns = 100000000;
	assert_true(near(gus_overhead_percent(p), 2.5));
	m.overhead.target_ns = 1;
	m.overhead.around_ns = 0;
	assert_true(near(gus_overhead_percent(p), 0.5));
	m.overhead.target_ns = 0; /* nothing ran: there is nothing that it cost a share of */
	assert_true(gus_overhead_percent(p) < 0);
}

/* Older recordings: own time, and what was probed a sample, of the time that the counter ran: (5 + 10 * 3) of 700
 * ns. */
static void cost_is_estimated_from_the_probe(void **state)
{
	struct made m;
	struct gus_profile *p = make(&m, "ns");

	(void)state;
	p->event = 1;
	m.second.cost_ns = 3;
	m.other.samples = 10;
	m.other.running_ns = 700;
	m.footer.recorder_cpu_ns = 5;
	assert_true(near(gus_overhead_percent(p), 5));
	m.second.cost_ns = 1;
	assert_true(near(gus_overhead_percent(p), 15.0 / 7));
	m.second.cost_ns = 0;
	assert_true(near(gus_overhead_percent(p), -1));
	m.second.cost_ns = 3;
	m.other.running_ns = 0;
	assert_true(near(gus_overhead_percent(p), -1));
	m.other.running_ns = 700;
	p->event = 2;
	assert_true(near(gus_overhead_percent(p), -1));
	p->event = 1;
	m.header.n_events = 1; /* the footer has an event that the header has not */
	assert_true(near(gus_overhead_percent(p), -1));
	m.header.n_events = 2;
	p->footer = NULL;
	assert_true(near(gus_overhead_percent(p), -1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_of_a_clock_are_inferred),
		cmocka_unit_test(time_of_cycles_is_inferred),
		cmocka_unit_test(other_units_have_no_time),
		cmocka_unit_test(weights_are_rounded),
		cmocka_unit_test(cost_is_what_was_measured),
		cmocka_unit_test(cost_is_estimated_from_the_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
