/* SPDX-License-Identifier: MIT */
#include "tests/words/words.h"

#include <stdio.h>
#include <stdlib.h>

void words_put(struct words_bytes *b, uint64_t value, unsigned size)
{
	if (b->n + size > sizeof(b->v))
		abort();
	for (unsigned i = 0; i < size; i++)
		b->v[b->n++] = (uint8_t)(value >> 8 * (b->big_endian ? size - 1 - i : i));
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
uint64_t words_random(struct words_random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

unsigned words_one_of(struct words_random *r, unsigned n)
{
	return (unsigned)(words_random(r) % n);
}

static void ends_of(const char *bits, unsigned *high, unsigned *low)
{
	if (sscanf(bits, "%u:%u", high, low) == 2)
		return;
	if (sscanf(bits, "%u", high) != 1)
		abort();
	*low = *high;
}

unsigned words_width(const char *bits)
{
	unsigned high, low;

	ends_of(bits, &high, &low);
	return high - low + 1;
}

uint64_t words_get(uint64_t word, const char *bits)
{
	unsigned high, low;

	ends_of(bits, &high, &low);
	return word << (63 - high) >> (63 - high + low);
}

uint64_t words_set(uint64_t word, const char *bits, uint64_t value)
{
	unsigned high, low;
	uint64_t mask;

	ends_of(bits, &high, &low);
	mask = (UINT64_MAX >> (63 - high + low)) << low;
	return (word & ~mask) | (value << low & mask);
}
