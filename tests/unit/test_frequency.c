/* SPDX-License-Identifier: MIT */
/* How fast the core runs, on machines that are made: how fast they run in each of the nine runs is the test's, and so
 * is the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "collector/host/clock.h"
#include "collector/host/frequency.h"

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

enum { RUNS = 9 };

static struct machine {
	uint64_t khz[RUNS];     /* 0: the clock stands still */
	uint64_t round[RUNS];   /* thousandths of a cycle */
} machine;
static uint64_t now; /* ns */
static unsigned chains, loops;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
void __wrap_gus_clock_run(enum gus_clock_chain chain, uint64_t n);
void __wrap_gus_clock_rounds(uint64_t n);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, t);
	*t = (struct timespec){ .tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000) };
	return 0;
}

static void pass(uint64_t millicycles, uint64_t khz)
{
	now += khz ? millicycles * 1000 / khz : 0;
}

/* What comes before the nine wakes the core up: it is slow. */
void __wrap_gus_clock_run(enum gus_clock_chain chain, uint64_t n)
{
	assert_int_equal(chain, GUS_CLOCK_PRODUCTS);
	assert_true(n > 0 && chains <= RUNS);
	pass(n * GUS_CLOCK_UNIT * 1000, chains ? machine.khz[chains - 1] : 100000);
	chains++;
}

void __wrap_gus_clock_rounds(uint64_t n)
{
	assert_true(loops < RUNS);
	pass(n * machine.round[loops], machine.khz[loops]);
	loops++;
}

static Gusprof__Frequency measure(const struct machine *is)
{
	Gusprof__Frequency f;

	machine = *is;
	now = 999990000; /* a second ends meanwhile */
	chains = loops = 0;
	gus_frequency_measure(&f);
	assert_int_equal(chains, RUNS + 1);
	assert_int_equal(loops, RUNS);
	assert_true(strlen(f.rule) > 0);
	return f;
}

static struct machine steady(uint64_t khz, uint64_t round)
{
	struct machine m;

	for (unsigned i = 0; i < RUNS; i++) {
		m.khz[i] = khz;
		m.round[i] = round;
	}
	return m;
}

static void steady_machines(void **state)
{
	static const struct { uint64_t khz, round; } cases[] = { { 2000000, 1000 }, { 2500000, 2100 },
		{ 4000000, 990 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct machine m = steady(cases[i].khz, cases[i].round);
		Gusprof__Frequency f = measure(&m);

		assert_int_equal(f.low_khz, cases[i].khz);
		assert_int_equal(f.high_khz, cases[i].khz);
		assert_int_equal(f.round_millicycles, cases[i].round);
	}
}

/* The fastest is the high end; the median is the low one, and of rounds the figure. */
static void the_fastest_and_the_median(void **state)
{
	static const struct machine m = {
		.khz = { 1500000, 2400000, 1000000, 1920000, 2500000, 1200000, 2400000, 1600000, 2000000 },
		.round = { 2000, 1000, 1020, 1900, 1000, 1080, 1010, 1950, 1980 },
	};
	Gusprof__Frequency f = measure(&m);

	(void)state;
	assert_int_equal(f.high_khz, 2500000);
	assert_int_equal(f.low_khz, 1920000);
	assert_int_equal(f.round_millicycles, 1080);
}

/* From 0.2 to 8 GHz; beyond that nothing is told. Of what is slow the median decides. */
static void what_makes_no_sense_is_not_told(void **state)
{
	static const struct { uint64_t most, fast; bool told; } cases[] = { /* fast: one of the nine */
		{ 8000000, 8000000, true }, { 8100000, 8100000, false }, { 3000000, 8100000, false },
		{ 200000, 200000, true }, { 190000, 190000, false }, { 190000, 3000000, false },
		{ 0, 0, false }, { 3000000, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct machine m = steady(cases[i].most, 1000);
		Gusprof__Frequency f;

		m.khz[3] = cases[i].fast;
		f = measure(&m);
		if ((f.high_khz != 0) != cases[i].told)
			fail_msg("case %zu: %llu kHz", i, (unsigned long long)f.high_khz);
		assert_int_equal(!f.low_khz, !cases[i].told);
		assert_int_equal(!f.round_millicycles, !cases[i].told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_machines),
		cmocka_unit_test(the_fastest_and_the_median),
		cmocka_unit_test(what_makes_no_sense_is_not_told),
	};

#if !defined(__x86_64__) && !defined(__aarch64__)
	print_message("skipped: of this architecture no chain is known\n");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
