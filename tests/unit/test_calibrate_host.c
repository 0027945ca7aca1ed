/* SPDX-License-Identifier: MIT */
/* This machine as a host of calibration: microbenchmarks of the model come back with times that cannot be otherwise, so
 * their memory was filled, their branches go by their patterns, and what is wrong with them is said. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/calibrate/host.h"
#include "collector/timing/timing.h"
#include "model/calibration/emit.h"
#include "model/calibration/host.h"

#define ADDS 32

static struct gus_calibration_host host;

static int open_here(void **state)
{
	struct gus_error err = { 0 };

	(void)state;
	if (gus_calibrate_host_open(&(const struct gus_timing_options){ .cpu = -1 }, &host, &err) != 0)
		printf("skipped: %s\n", err.text);
	return 0;
}

static int close_here(void **state)
{
	(void)state;
	if (host.context)
		gus_calibrate_host_close(&host);
	return 0;
}

static void run(struct gus_micro *const *micros, size_t n, struct gus_micro_time *times)
{
	struct gus_error err = { 0 };

	if (!host.context)
		skip();
	if (host.run(host.context, (const struct gus_micro *const *)micros, n, times, &err) != 0)
		fail_msg("%s", err.text);
}

static struct gus_micro *chain(void)
{
	struct gus_micro *m = gus_micro_new(host.isa, "chain of adds");

	gus_emit_begin(m);
	gus_emit_loop(m);
	for (unsigned i = 0; i < ADDS; i++)
		gus_emit_add(m, 0, 1);
	gus_emit_end(m);
	return m;
}

/* A walk over places that are a line apart. */
static struct gus_micro *walk(uint64_t places, uint64_t seed)
{
	struct gus_micro *m = gus_micro_new(host.isa, "walk over %u places", (unsigned)places);

	gus_vec_push(&m->lists, (struct gus_micro_list){ .start = 64, .places = places, .distance = 64, .seed = seed });
	m->arena = 128 + places * 64;
	m->warm = places;
	gus_emit_begin(m);
	gus_emit_address(m, 0, 64);
	gus_emit_loop(m);
	gus_emit_load(m, 0, 0, 0, (struct gus_micro_access){ .way = GUS_MICRO_CHASE, .step = true });
	gus_emit_end(m);
	return m;
}

/* A branch by a pattern in memory, around an instruction. */
static struct gus_micro *branch(enum gus_micro_bits bits)
{
	enum { BYTES = 1 << 18 }; /* of 2^16 Zen 4 learns a part while they come again and again */
	struct gus_micro *m = gus_micro_new(host.isa, "branch");
	struct gus_micro_access byte = { .way = GUS_MICRO_STRIDE, .stride = 1, .wrap = BYTES };

	gus_vec_push(&m->patterns, (struct gus_micro_pattern){ .bytes = BYTES, .bits = bits, .seed = 5 });
	m->arena = BYTES;
	m->warm = BYTES;
	gus_emit_begin(m);
	gus_emit_loop(m);
	gus_emit_load_indexed(m, 0, GUS_EMIT_ARENA, 1, byte);
	gus_emit_mask(m, 0, 1);
	gus_emit_branch(m, 0, 0);
	gus_emit_add(m, 3, 4);
	gus_emit_land(m);
	gus_emit_add_constant(m, 1, 1);
	gus_emit_mask(m, 1, 18);
	gus_emit_end(m);
	return m;
}

static struct gus_micro *broken(void)
{
	static const uint8_t undefined[] = { 0x0f, 0x0b, 0x00, 0x00 }; /* ud2, or udf and what is left of it */
	struct gus_micro *m = gus_micro_new(host.isa, "broken");

	gus_emit_begin(m);
	gus_emit_loop(m);
	gus_emit_bytes(m, undefined, sizeof(undefined));
	gus_emit_end(m);
	return m;
}

static void run_and_free(struct gus_micro **micros, size_t n, struct gus_micro_time *times)
{
	run(micros, n, times);
	for (size_t i = 0; i < n; i++)
		gus_micro_free(micros[i]);
}

static void test_known(void **state)
{
	struct gus_micro *micros[] = { chain(), walk(64, 1), walk(64, 2) };
	struct gus_micro_time t[3];

	(void)state;
	run_and_free(micros, 3, t);
	if ((t[0].trouble | t[1].trouble | t[2].trouble) != 0) {
		printf("skipped: this machine is too busy to time anything\n");
		skip();
	}
	assert_true(fabs(t[0].cycles / ADDS - 1) < 0.01);
	assert_true(t[1].cycles > 2.9 && t[1].cycles < 7.1);
	assert_true(fabs(t[1].cycles - t[2].cycles) < 0.02 * t[1].cycles);
	assert_true(t[0].median >= t[0].cycles * 0.999 && t[0].high >= t[0].median);
	assert_true(t[0].kept && t[0].kept <= t[0].samples);
}

/* What nobody can predict takes longer than what everybody can: every other branch goes wrong, which is at least six
 * cycles on any CPU, so three a branch. Half of that is asked for. */
static void test_patterns(void **state)
{
	struct gus_micro *micros[] = { branch(GUS_MICRO_ZEROS), branch(GUS_MICRO_RANDOM), branch(GUS_MICRO_ONES) };
	struct gus_micro_time t[3];

	(void)state;
	run_and_free(micros, 3, t);
	assert_true(t[1].cycles > t[0].cycles + 1.5 && t[1].cycles > t[2].cycles + 1.5);
}

static void test_broken(void **state)
{
	struct gus_micro *micros[] = { chain(), broken() };
	struct gus_micro_time t[2];

	(void)state;
	run_and_free(micros, 2, t);
	assert_int_equal(t[1].trouble, GUS_MICRO_FAULT);
	assert_true(isnan(t[1].cycles));
	assert_non_null(t[1].fault);
	assert_int_equal(t[0].trouble & GUS_MICRO_FAULT, 0);
	assert_null(t[0].fault);
}

static void test_facts(void **state)
{
	struct gus_timing_facts facts;

	(void)state;
	if (!host.context)
		skip();
	gus_timing_facts(gus_calibrate_host_timing(&host), &facts);
	assert_true(host.arena_most == facts.arena_most && host.arena_most_huge == facts.arena_most_huge);
	assert_true(host.cycles_a_second > 1e8 && host.cycles_a_second < 1e10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known), cmocka_unit_test(test_patterns), cmocka_unit_test(test_broken),
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, open_here, close_here);
}
