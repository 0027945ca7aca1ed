/* SPDX-License-Identifier: MIT */
/* What an input may take of CPU time: a constant, and so much for each byte of it; and of memory. A target that exceeds
 * that has failed, as with a crash. Time is this thread's, so a busy machine does not matter; memory is the most that
 * the process ever had, so only what exceeds all inputs before is seen, which is enough. Sanitizers make all slower, so
 * time counts less there, and memory not at all. */
#ifndef GUS_TESTS_FUZZ_LIMIT_H
#define GUS_TESTS_FUZZ_LIMIT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUS_LIMIT_SLOWER 30
#endif
#endif
#if !defined(GUS_LIMIT_SLOWER) && defined(__SANITIZE_ADDRESS__)
#define GUS_LIMIT_SLOWER 30
#endif
#ifndef GUS_LIMIT_SLOWER
#define GUS_LIMIT_SLOWER 3      /* other machines, and gcov */
#endif

#define LIMIT_KIB (256l << 10)

struct limit { uint64_t ns; long kib; };

static inline struct limit limit_begin(void)
{
	struct timespec t;
	struct rusage use;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0 || getrusage(RUSAGE_SELF, &use) != 0)
		abort();
	return (struct limit){ (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec, use.ru_maxrss };
}

/* size bytes of input may take ms, and ns for each byte; and LIMIT_KIB of memory. */
static inline void limit_end(struct limit begun, size_t size, uint64_t ms, uint64_t ns)
{
	struct limit now = limit_begin();
	uint64_t taken = now.ns - begun.ns, may = (ms * 1000000 + ns * size) * GUS_LIMIT_SLOWER;

	if (taken <= may && (now.kib - begun.kib <= LIMIT_KIB || GUS_LIMIT_SLOWER > 3))
		return;
	fprintf(stderr, "%zu bytes of input took %llu us, of %llu, and %ld KiB, of %ld\n", size,
		(unsigned long long)taken / 1000, (unsigned long long)may / 1000, now.kib - begun.kib, LIMIT_KIB);
	abort();
}

#endif
