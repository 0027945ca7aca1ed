/* SPDX-License-Identifier: MIT */
/* When a run without a period counts as settled: its quarters agree, each over several iterations, and nothing fills
 * up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/analysis/modelled.h"
#include "model/machine/config.h"
#include "tests/unit/core_machine.h"

/* Uops with a choice of ports, which wait in a scheduler of 60: no period is found. */
static const char wanders[] =
	"1 add x1 x3 2 1,5\n"
	"2 add x2 x2 2 0,1,5\n"
	"3 add x3 x2 1 0,1,5,6\n";

static void begin(const char *text, double settled)
{
	make(text);
	m.o.listener = NULL;
	m.o.iterations = 0;
	m.o.settled = settled;
	m.c.rs = 60;
	m.c.rob = 200;
	m.c.port_binding = GUS_CORE_BIND_SLOTS;
}

static double pace_of(const char *text, double settled)
{
	begin(text, settled);
	run();
	drop();
	return (double)m.r.steady_cycles / (double)m.r.steady_iterations;
}

/* Near what twenty times the time finds, from the second half of the run, and never before cycle 500. */
static void settles(void **state)
{
	double long_run = pace_of(wanders, 0);

	(void)state;
	assert_false(m.r.periodic);
	assert_true(m.r.cycles >= 30000);
	assert_true(pace_of(wanders, 0.003) > 0.997 * long_run);
	assert_true(pace_of(wanders, 0.003) < 1.003 * long_run);
	assert_false(m.r.periodic);
	assert_in_range(m.r.cycles, 1000, 2000);
	assert_in_range(m.r.steady_cycles * 100 / m.r.cycles, 45, 50);
}

/* The closer the quarters have to be the longer it runs. What is asked for grows with the time to three times of it:
 * here they are within 0.00015 of each other from cycle 15,557 on, and not within 0.00006 in 30,000. */
static void shares_differ(void **state)
{
	(void)state;
	pace_of(wanders, 0.01);
	assert_in_range(m.r.cycles, 500, 600);
	pace_of(wanders, 0.00005);
	assert_in_range(m.r.cycles, 15000, 16000);
	pace_of(wanders, 0.00002);
	assert_true(m.r.cycles >= 30000);
}

/* What repeats itself before is exact, and the same. */
static void period_comes_first(void **state)
{
	static const char chain[] = "1 add x1 x1 3 0\n";

	(void)state;
	assert_true(pace_of(chain, 0) == 3);
	assert_true(m.r.periodic);
	assert_true(pace_of(chain, 0.003) == 3);
	assert_true(m.r.periodic);
}

/* Ten slots an iteration, one a cycle, and a chain of 11 cycles: until the ROB is full, after some 4000 cycles, issue
 * takes 10 cycles an iteration as steadily as can be, and then 11 for ever. */
static void filling_is_not_settled(void **state)
{
	static const char text[] =
		"1 add x1 x1 11 0\n2 add x2 x9 1 1\n3 add x3 x9 1 5\n4 add x4 x9 1 6\n5 add x5 x9 1 1\n"
		"6 add x6 x9 1 5\n7 add x7 x9 1 6\n8 add x8 x9 1 1\n9 add x10 x9 1 5\n10 add x11 x9 1 6\n";

	(void)state;
	begin(text, 0.003);
	m.c.issue_width = 1;
	m.c.rs = 0;
	m.c.rob = 400;
	run();
	drop();
	assert_true(m.r.cycles > 4000);
	assert_int_equal(m.r.steady_cycles, 11 * m.r.steady_iterations);
}

/* Of a body of 60 times the same there are few iterations in a quarter of 1000 cycles: it runs until there are 8. */
static void few_iterations_are_no_mean(void **state)
{
	static char text[60 * 100];
	size_t at = 0;

	(void)state;
	for (int i = 1; i <= 180; i += 3)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d add x1 x3 2 1,5\n%d add x2 x2 2 0,1,5\n"
				       "%d add x3 x2 1 0,1,5,6\n", i, i + 1, i + 2);
	pace_of(text, 0.01);
	assert_false(m.r.periodic);
	assert_true(m.r.steady_iterations >= 2 * 8);
	assert_true(m.r.cycles > 1500);
}

/* What is told of it has three digits, and all of them where it is not asked to settle. */
static void three_digits_are_told(void **state)
{
	struct gus_modelled_settings settings = { 0 };
	struct gus_error err = { 0 };
	double cycles;

	(void)state;
	begin(wanders, 0.003);
	settings = (struct gus_modelled_settings){ .uarch = m.u, .config = m.c, .options = m.o };
	assert_int_equal(gus_modelled_cycles(m.p, &settings, &cycles, &err), 0);
	assert_float_equal(cycles, 0.833, 1e-9);
	settings.options.settled = 0;
	assert_int_equal(gus_modelled_cycles(m.p, &settings, &cycles, &err), 0);
	assert_true(fabs(cycles - 0.833) > 1e-5 && fabs(cycles - 0.833) < 0.003);
	settings.options.settled = 0.003;
	settings.options.iterations = 7777;
	assert_int_equal(gus_modelled_cycles(m.p, &settings, &cycles, &err), 0);
	assert_true(fabs(cycles * 7777 - round(cycles * 7777)) < 1e-6);
	drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settles),
		cmocka_unit_test(shares_differ),
		cmocka_unit_test(period_comes_first),
		cmocka_unit_test(filling_is_not_settled),
		cmocka_unit_test(few_iterations_are_no_mean),
		cmocka_unit_test(three_digits_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
