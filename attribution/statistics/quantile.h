/* SPDX-License-Identifier: MIT */
/* Quantiles of what was measured some times, without any belief about how it is distributed. */
#ifndef GUS_ATTRIBUTION_STATISTICS_QUANTILE_H
#define GUS_ATTRIBUTION_STATISTICS_QUANTILE_H

#include <stdint.h>

/* The number, from 1 on, of the one of n ordered values that is their quantile, of a percentage from 1 to 99: the
 * lowest which at least that part of them does not exceed. n is not 0. */
uint64_t gus_quantile_rank(uint64_t n, unsigned percent);

/* Numbers of the two values between which the quantile of all that might have been measured lies, in 95 of 100 such
 * measurements or more. */
struct gus_quantile_bounds {
	uint64_t low;         /* 0: so few values have none below it for sure */
	uint64_t high;        /* 0: or above it */
};

/* Order statistics (David and Nagaraja, Order Statistics, 2003, section 7.1): how many of n values are at most the
 * quantile is binomial, whatever they are distributed like. Values that follow from each other tell less than that. */
struct gus_quantile_bounds gus_quantile_bounds(uint64_t n, unsigned percent);

#endif
