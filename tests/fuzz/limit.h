/* SPDX-License-Identifier: MIT */
/* What an input may take of CPU time: a constant, and so much for each byte of it. A target that exceeds that has
 * failed, as with a crash. Sanitizers make all slower, so time counts less there. Memory, of which only the process
 * knows the peak, is limited by whoever runs the target. */
#ifndef GUS_TESTS_FUZZ_LIMIT_H
#define GUS_TESTS_FUZZ_LIMIT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

static inline uint64_t limit_begin(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* size bytes of input may take ms, and ns for each byte. */
static inline void limit_end(uint64_t begun, size_t size, uint64_t ms, uint64_t ns)
{
	uint64_t taken = limit_begin() - begun, may = (ms * 1000000 + ns * size) * GUS_LIMIT_SLOWER;

	if (taken <= may)
		return;
	fprintf(stderr, "%zu bytes of input took %llu us, and %llu are the most\n", size,
		(unsigned long long)taken / 1000, (unsigned long long)may / 1000);
	abort();
}

#endif
