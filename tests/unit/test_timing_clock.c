/* SPDX-License-Identifier: MIT */
/* The clock that everything is timed by. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/host/clock.h"
#include "collector/timing/timing.h"
#include "made_timing.h"

/* Ticks of a second by the kernel's clock, over 50 ms; again where somebody came between two readings. */
static void test_clock_rate(void **state)
{
	bool right = false;

	(void)state;
	if (!timing)
		skip();
	for (unsigned i = 0; i < 20 && !right; i++) {
		struct timespec begin, end;
		struct gus_timing_facts f;
		uint64_t ticks;
		uint32_t cpu;
		double ns;

		ticks = gus_clock_ticks(&cpu);
		clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
		usleep(50000);
		ticks = gus_clock_ticks(&cpu) - ticks;
		clock_gettime(CLOCK_MONOTONIC_RAW, &end);
		ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
		gus_timing_facts(timing, &f);
		right = fabs((double)ticks * 1e9 / ns / f.ticks_hz - 1) < 0.001;
	}
	assert_true(right);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_rate),
	};

	return cmocka_run_group_tests(tests, open_here, close_here);
}
