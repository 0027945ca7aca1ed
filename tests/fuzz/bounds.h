/* SPDX-License-Identifier: MIT */
/* What one input may cost: a second of CPU time and 256 MiB of memory beyond what the process had before. An input of
 * a few kilobytes that takes more is a defect like a crash. Time is this thread's, so a busy machine does not matter;
 * memory is the most that the process ever had, so only what exceeds all inputs before is seen, which is enough. */
#ifndef GUS_TESTS_FUZZ_BOUNDS_H
#define GUS_TESTS_FUZZ_BOUNDS_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define BOUND_NS 1000000000ll
#define BOUND_KB (256l << 10)

struct bounds {
	long long began_ns;
	long began_kb;
};

static inline struct bounds bounds_now(void)
{
	struct timespec t;
	struct rusage use;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0 || getrusage(RUSAGE_SELF, &use) != 0)
		abort();
	return (struct bounds){ t.tv_sec * 1000000000ll + t.tv_nsec, use.ru_maxrss };
}

static inline void bounds_demand(const struct bounds *before)
{
	struct bounds now = bounds_now();

	if (now.began_ns - before->began_ns <= BOUND_NS && now.began_kb - before->began_kb <= BOUND_KB)
		return;
	fprintf(stderr, "this input took %lld ms and %ld KiB\n", (now.began_ns - before->began_ns) / 1000000,
		now.began_kb - before->began_kb);
	abort();
}

#endif
