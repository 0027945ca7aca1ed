/* SPDX-License-Identifier: MIT */
/* Sampling periods that do not fall in step with the program: primes, re-drawn at random around a base. */
#ifndef GUS_COLLECTOR_EVENTS_PERIOD_H
#define GUS_COLLECTOR_EVENTS_PERIOD_H

#include <stdint.h>

/* A small generator of random numbers (splitmix64). Any seed will do. */
struct gus_random { uint64_t state; };

/* The smallest prime that is at least n; 2 for less. Beyond 2^40, where nothing falls in step any more, n itself made
 * odd. */
uint64_t gus_period_prime(uint64_t n);

/* A prime within 12 % of base, each equally likely as its distance from the prime before it. */
uint64_t gus_period_draw(struct gus_random *r, uint64_t base);

#endif
