/* SPDX-License-Identifier: MIT */
/* Whole numbers as near to shares as can be, whose sum is as it has to be: those with the largest rests are rounded up
 * (Hamilton's method). */
#ifndef GUS_ATTRIBUTION_STATISTICS_ROUNDING_H
#define GUS_ATTRIBUTION_STATISTICS_ROUNDING_H

#include <stddef.h>
#include <stdint.h>

/* n shares, at least one of them above 0 and none below; their sum may be anything. Of equal rests the first goes
 * up. */
void gus_rounding_make(const double *shares, size_t n, uint64_t whole, uint64_t *out);

#endif
