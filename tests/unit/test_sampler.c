/* SPDX-License-Identifier: MIT */
/* attribution/accounts/sampler: what samples of an event tell, and where those of time see it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attribution/accounts/sampler.h"
#include "proto/skid.h"

struct told { const char *name, *pmu, *unit, *vendor; uint32_t type, precise; uint64_t config, config1; };

static enum gus_sampler sampler_of(const struct told *t)
{
	Gusprof__Event event = GUSPROF__EVENT__INIT, *events[] = { &event };
	Gusprof__Host host = GUSPROF__HOST__INIT;
	Gusprof__Header h = GUSPROF__HEADER__INIT;

	event.name = (char *)(uintptr_t)t->name;
	event.pmu = (char *)(uintptr_t)(t->pmu ? t->pmu : "");
	event.unit = (char *)(uintptr_t)t->unit;
	event.type = t->type;
	event.precise = t->precise;
	event.config = t->config;
	event.config1 = t->config1;
	host.cpu_vendor = (char *)(uintptr_t)(t->vendor ? t->vendor : "GenuineIntel");
	h.events = events;
	h.n_events = 1;
	h.host = &host;
	assert_int_equal(gus_sampler_of(&h, 1), GUS_SAMPLER_OTHER);
	return gus_sampler_of(&h, 0);
}

static void of_events(void **state)
{
	static const struct { struct told told; enum gus_sampler is; } all[] = {
		{ { "cpu-clock", .unit = "ns", .type = 1 }, GUS_SAMPLER_TIME },
		{ { "cycles", .unit = "cycles" }, GUS_SAMPLER_TIME },
		{ { "cycles:ppp", .unit = "cycles", .precise = 3 }, GUS_SAMPLER_TIME },
		{ { "cycles:p", .unit = "cycles", .precise = 1, .vendor = "AuthenticAMD" }, GUS_SAMPLER_DISPATCHED },
		{ { "cycles", .unit = "cycles", .vendor = "AuthenticAMD" }, GUS_SAMPLER_TIME },
		{ { "r0c1:p", .unit = "events", .type = 4, .config = 0xc1, .precise = 1, .vendor = "HygonGenuine" },
			GUS_SAMPLER_OPS },
		{ { "ibs_op//", "ibs_op", "events", .type = 11 }, GUS_SAMPLER_DISPATCHED },
		{ { "ibs_op/cnt_ctl=1/", "ibs_op", "events", .type = 11, .config = 1 << 19 }, GUS_SAMPLER_OPS },
		{ { "arm_spe_0//", "arm_spe_0", "events", "ARM", .type = 9 }, GUS_SAMPLER_OPS },
		{ { "instructions", .unit = "events", .config = 1 }, GUS_SAMPLER_OTHER },
		{ { "instructions:pp", .unit = "events", .config = 1, .precise = 2 }, GUS_SAMPLER_INSNS },
		{ { "inst_retired.prec_dist:pppu", "cpu", "events", .type = 4, .config = 0x100, .precise = 3 },
			GUS_SAMPLER_INSNS },
		{ { "mem-loads", "cpu", "events", .type = 4, .config = 0x1cd, .config1 = 3, .precise = 2 },
			GUS_SAMPLER_LOADS },
		{ { "mem-loads", "cpu", "events", .type = 4, .config = 0x1cd, .config1 = 64, .precise = 2 },
			GUS_SAMPLER_OTHER },
		{ { "cache-misses", .unit = "events", .config = 3 }, GUS_SAMPLER_OTHER },
		{ { "cache-misses:p", .unit = "events", .config = 3, .precise = 1 }, GUS_SAMPLER_OTHER },
		{ { "r1:p", .unit = "events", .type = 4, .config = 1, .precise = 1 }, GUS_SAMPLER_OTHER },
		{ { "r76:p", .unit = "events", .type = 4, .config = 0x76, .precise = 1, .vendor = "AuthenticAMD" },
			GUS_SAMPLER_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (sampler_of(&all[i].told) != all[i].is)
			fail_msg("%s is %d", all[i].told.name, (int)sampler_of(&all[i].told));
}

/* Of three events: a clock, ops of IBS, cycles. */
static uint32_t main_of(const uint32_t *which, uint32_t n, uint32_t shown, bool *time)
{
	static const struct { const char *pmu, *unit; uint64_t config; } kinds[] = {
		{ "", "ns", 0 }, { "ibs_op", "events", 1 << 19 }, { "", "cycles", 0 },
	};
	Gusprof__Header h = GUSPROF__HEADER__INIT;
	Gusprof__Event event[3], *events[3];

	for (uint32_t i = 0; i < n; i++) {
		gusprof__event__init(&event[i]);
		event[i].pmu = (char *)(uintptr_t)kinds[which[i]].pmu;
		event[i].unit = (char *)(uintptr_t)kinds[which[i]].unit;
		event[i].config = kinds[which[i]].config;
		events[i] = &event[i];
	}
	h.events = events;
	h.n_events = n;
	h.main_event = shown;
	return gus_sampler_main(&h, time);
}

/* The one that is shown, if it is of time; else the first that is; else the one that is shown. */
static void which_is_of_time(void **state)
{
	enum { CLOCK, OPS, CYCLES };
	bool time;

	(void)state;
	assert_int_equal(main_of((const uint32_t[]){ CLOCK, OPS, CYCLES }, 3, 2, &time), 2);
	assert_true(time);
	assert_int_equal(main_of((const uint32_t[]){ CLOCK, OPS, CYCLES }, 3, 1, &time), 0);
	assert_true(time);
	assert_int_equal(main_of((const uint32_t[]){ OPS, CYCLES, CLOCK }, 3, 0, &time), 1);
	assert_true(time);
	assert_int_equal(main_of((const uint32_t[]){ OPS, OPS }, 2, 1, &time), 1);
	assert_false(time);
}

/* A tenth of the samples are on the load, and so many on each of those behind it. */
static struct gus_sampler_sight by_test(uint64_t first, uint64_t second)
{
	const struct gus_skid skid = { { [GUS_SKID_LOAD] = { .at = { 100, first, second },
		.farther = 900 - first - second } } };

	return gus_sampler_sight_of(GUS_SAMPLER_TIME, false, &skid);
}

/* Of the rules of sight there is one where most samples of the self-test are, and the share of those on the load itself
 * comes with it. A test without a sample beside a load says nothing of that. */
static void where_time_is_seen(void **state)
{
	const struct gus_skid of_root = { { [GUS_SKID_ROOT] = { .at = { 0, 0, 100 } } } };
	const struct gus_skid on_it = { { [GUS_SKID_LOAD] = { .at = { 90, 10 } } } };
	struct gus_sampler_sight s = gus_sampler_sight_of(GUS_SAMPLER_TIME, false, &on_it);

	(void)state;
	assert_true(s.known && s.sight == GUS_SPREAD_NEXT);
	assert_float_equal(s.early, .9, 1e-9);
	assert_non_null(strstr(s.told, "at the instruction that was waited for"));
	s = by_test(800, 50);
	assert_true(s.known && s.sight == GUS_SPREAD_BEHIND);
	assert_float_equal(s.early, .1, 1e-9);
	assert_non_null(strstr(s.told, "self-test samples are at the first instruction behind"));
	s = by_test(50, 800);
	assert_true(s.known && s.sight == GUS_SPREAD_INTERRUPT);
	assert_float_equal(s.early, .1, 1e-9);
	assert_non_null(strstr(s.told, "behind all that retired"));
	s = gus_sampler_sight_of(GUS_SAMPLER_TIME, false, &of_root);
	assert_true(s.known && s.sight == GUS_SPREAD_BEHIND);
	assert_non_null(strstr(s.told, "no self-test beside a load"));
	s = gus_sampler_sight_of(GUS_SAMPLER_TIME, false, NULL);
	assert_true(s.known && s.sight == GUS_SPREAD_BEHIND);
	assert_non_null(strstr(s.told, "no self-test beside a load"));
}

/* Behind each second product only: integer instructions that are quick are not to be told apart. Of another rule than
 * the first behind nothing is known of that. */
static void where_quick_ones_are_seen(void **state)
{
	const struct gus_skid_counts uneven = { { 0, 200, 0, 200 }, 0, 200 }, even = { { 0, 100, 100, 100 }, 100, 200 };
	struct gus_skid skid = { { [GUS_SKID_LOAD] = { .at = { 0, 100 } }, [GUS_SKID_PRODUCT] = uneven } };
	struct gus_sampler_sight s = gus_sampler_sight_of(GUS_SAMPLER_TIME, false, &skid);

	(void)state;
	assert_true(s.runs && s.sight == GUS_SPREAD_BEHIND);
	assert_non_null(strstr(s.told, "quick integer instructions"));
	skid.counts[GUS_SKID_PRODUCT] = even;
	s = gus_sampler_sight_of(GUS_SAMPLER_TIME, false, &skid);
	assert_true(!s.runs && s.sight == GUS_SPREAD_BEHIND);
	assert_null(strstr(s.told, "quick integer instructions"));
	skid.counts[GUS_SKID_PRODUCT] = uneven;
	skid.counts[GUS_SKID_LOAD] = (struct gus_skid_counts){ .at = { 100 } };
	assert_false(gus_sampler_sight_of(GUS_SAMPLER_TIME, false, &skid).runs);
}

/* Where the hardware vouches for addresses a self-test has nothing to add, and of what is not of time none is asked. */
static void where_no_test_is_asked(void **state)
{
	const struct gus_skid skid = { { [GUS_SKID_LOAD] = { .at = { 0, 100 } } } };
	struct gus_sampler_sight s = gus_sampler_sight_of(GUS_SAMPLER_TIME, true, &skid);

	(void)state;
	assert_true(s.known && s.sight == GUS_SPREAD_NEXT);
	assert_float_equal(s.early, 0, 1e-9);
	assert_non_null(strstr(s.told, "precise"));
	s = gus_sampler_sight_of(GUS_SAMPLER_DISPATCHED, true, &skid);
	assert_false(s.known);
	assert_non_null(strstr(s.told, "dispatched"));
	s = gus_sampler_sight_of(GUS_SAMPLER_OPS, true, &skid);
	assert_false(s.known);
	assert_non_null(strstr(s.told, "not of time"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_events),
		cmocka_unit_test(which_is_of_time),
		cmocka_unit_test(where_time_is_seen),
		cmocka_unit_test(where_quick_ones_are_seen),
		cmocka_unit_test(where_no_test_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
