/* SPDX-License-Identifier: MIT */
/* Numbers in order, for qsort: the least first. */
#ifndef GUS_BASE_ASCENDING_H
#define GUS_BASE_ASCENDING_H

#include <stdint.h>

/* Of doubles, none a NAN. */
static inline int gus_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline int gus_ascending_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline int gus_ascending_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

#endif
