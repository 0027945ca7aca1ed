/* SPDX-License-Identifier: MIT */
#include "collector/events/period.h"

#include <stdbool.h>

#define SPREAD_PERCENT 12

static uint64_t next(struct gus_random *r)
{
	uint64_t x = r->state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* n is odd and above 2. At most 2^19 divisions, and only for the first few n. */
static bool is_prime(uint64_t n)
{
	for (uint64_t d = 3; d * d <= n; d += 2)
		if (n % d == 0)
			return false;
	return true;
}

uint64_t gus_period_prime(uint64_t n)
{
	if (n <= 2)
		return 2;
	n |= 1;
	while (n < 1ULL << 40 && !is_prime(n))
		n += 2;
	return n;
}

uint64_t gus_period_draw(struct gus_random *r, uint64_t base)
{
	uint64_t half = base / 100 * SPREAD_PERCENT + base % 100 * SPREAD_PERCENT / 100;

	return gus_period_prime(base - half + next(r) % (2 * half + 1));
}
