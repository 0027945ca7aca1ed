/* SPDX-License-Identifier: MIT */
/* What a model waits for, as often as it was measured to: the waits of a model's run, scaled to how many executions met
 * what by measurement; and waits of what a model has nothing of, as long as such waits are elsewhere. */
#ifndef GUS_ATTRIBUTION_PROPORTIONAL_WAITS_H
#define GUS_ATTRIBUTION_PROPORTIONAL_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct gus_met;
struct gus_groups_counts;

/* As struct gus_groups_wait; next and after: UINT32_MAX: the model does not say. */
struct gus_waits_one { uint32_t head, after, next, of; uint16_t psv; bool behind, flushed; double cycles; };
struct gus_waits gus_vec(struct gus_waits_one);

/* By head, behind, flushed, of, psv, after and next. events may be NULL. */
void gus_waits_make(struct gus_waits *w, const struct gus_groups_counts *c, const struct gus_met *events);
/* By psv: cycles that executions which met it wait before they retire, on average over all instructions. */
enum { GUS_WAITS_PSVS = 1 << 9 };
void gus_waits_means(double means[GUS_WAITS_PSVS], const struct gus_groups_counts *c);
/* Whether they differ in what is behind the head alone. */
bool gus_waits_same(const struct gus_waits_one *x, const struct gus_waits_one *y);

#endif
