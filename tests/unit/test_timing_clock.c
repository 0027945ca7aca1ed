/* SPDX-License-Identifier: MIT */
/* The clock that everything is timed by: its rate, on a machine whose other clock is the test's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collector/host/clock.h"
#include "collector/timing/timing.h"

#define HZ 8e8          /* ticks of a second, as it is told here; no machine has such a clock */
/* Both clocks are read so often for one moment. The first of these readings are late, and behind the last ones somebody
 * comes. */
enum { READS = 8, BEFORE = 3, BEHIND = 5 };

/* Ticks are read by an instruction, which nobody can stand in for. So the kernel's clock follows them, at a known rate:
 * whatever the machine's is, and whoever has the CPU meanwhile, a second is so many of them. */
static struct {
	bool on;
	uint64_t late;          /* ticks that pass before or behind a reading, but for two of READS */
	unsigned reads;
} fed;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

static uint64_t ticks_now(void)
{
	uint32_t cpu;

	return gus_clock_ticks(&cpu);
}

static void let_pass(uint64_t ticks)
{
	uint64_t start = ticks_now();

	while (ticks_now() - start < ticks)
		;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	unsigned read = fed.reads % READS;
	uint64_t ns;

	if (!fed.on || clock != CLOCK_MONOTONIC_RAW)
		return __real_clock_gettime(clock, t);
	fed.reads++;
	if (read < BEFORE)
		let_pass(fed.late);
	ns = ticks_now() * 5 / 4; /* 1e9 / HZ */
	if (read >= BEHIND)
		let_pass(fed.late);
	*t = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	return 0;
}

static void expect_rate(const struct gus_timing *t)
{
	struct gus_timing_facts f;

	gus_timing_facts(t, &f);
	if (!(fabs(f.ticks_hz / HZ - 1) < 0.001))
		fail_msg("%.0f ticks a second", f.ticks_hz);
}

/* Ticks of a second by the kernel's clock, over 50 ms; and again where somebody came, but for two of some tries,
 * between the two clocks: before the second one was read, or behind it, for a fiftieth of all the time. */
static void test_clock_rate(void **state)
{
	const struct gus_timing_options options = { .cpu = -1, .most_ns = 20000000 };
	struct gus_error err = { 0 };
	struct gus_timing *t;
	uint64_t start;

	(void)state;
	fed.on = true;
	start = ticks_now();
	t = gus_timing_open(&options, &err);
	if (!t) {
		printf("skipped: %s\n", err.text);
		skip();
	}
	usleep(50000);
	expect_rate(t);
	fed.reads = 0;
	fed.late = (ticks_now() - start) / 50;
	expect_rate(t);
	assert_true(fed.reads >= READS);
	gus_timing_close(t);
}

/* Ticks, the least of many runs: what disturbs one makes it longer. */
static uint64_t least_of_chain(enum gus_clock_chain chain, uint64_t n)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 100; i++) {
		uint64_t start = ticks_now(), took;

		gus_clock_run(chain, n);
		took = ticks_now() - start;
		least = took < least ? took : least;
	}
	return least;
}

/* Four times as much of a chain takes four times as long, and nothing of it no time. */
static void test_chains(void **state)
{
	(void)state;
	for (int chain = 0; chain < GUS_CLOCK_CHAINS; chain++) {
		double ratio = (double)least_of_chain(chain, 400) / (double)least_of_chain(chain, 100);

		if (!(ratio > 3 && ratio < 5))
			fail_msg("chain %d: %g times as long", chain, ratio);
		assert_true(least_of_chain(chain, 0) < least_of_chain(chain, 100));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_clock_rate), cmocka_unit_test(test_chains) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
