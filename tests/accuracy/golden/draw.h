/* SPDX-License-Identifier: MIT */
/* Chance that is the same in each run: a stream of numbers from a seed, and from a word that says what they are drawn
 * for, so that one more draw for one thing changes no other (splitmix64: Steele, Lea and Flood, OOPSLA 2014). */
#ifndef GUS_TESTS_ACCURACY_GOLDEN_DRAW_H
#define GUS_TESTS_ACCURACY_GOLDEN_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct golden_draw { uint64_t state; };

static inline uint64_t golden_draw_next(struct golden_draw *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline struct golden_draw golden_draw_begin(uint64_t seed, const char *what)
{
	struct golden_draw d = { seed * 0xd1342543de82ef95ull + 1 };

	for (; *what; what++)
		d.state = (d.state ^ (uint8_t)*what) * 0x100000001b3ull;
	golden_draw_next(&d);
	return d;
}

/* Below n, each as often (but for 2^-32 of n). */
static inline uint32_t golden_draw_below(struct golden_draw *d, uint32_t n)
{
	return (uint32_t)((golden_draw_next(d) >> 32) * n >> 32);
}

/* From low to high, both included. */
static inline uint32_t golden_draw_between(struct golden_draw *d, uint32_t low, uint32_t high)
{
	return low + golden_draw_below(d, high - low + 1);
}

static inline double golden_draw_unit(struct golden_draw *d)
{
	return (double)(golden_draw_next(d) >> 11) * 0x1p-53;
}

#endif
