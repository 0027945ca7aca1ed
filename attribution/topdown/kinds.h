/* SPDX-License-Identifier: MIT */
/* How long a task was on cores of each kind. Its events of one kind are wanted all the time, and can run only where it
 * is on such cores: the kernel's times do not tell turns on the counters from time on the other cores. What can be said
 * is that while a group of one kind ran the task was on no other kind. So the time for which events of a kind were
 * wanted is at most all of the task's, less the longest that a group of each other kind ran. Without turns that is its
 * time there, and nothing was missed; with turns it is more than that, and intervals are too wide, never too narrow.
 *
 * Shares do not depend on it but for these intervals, as all counts of a kind are scaled by the same time. Events of
 * whole CPUs need none of this: they are opened on their own kind's. */
#ifndef GUS_ATTRIBUTION_TOPDOWN_KINDS_H
#define GUS_ATTRIBUTION_TOPDOWN_KINDS_H

#include <stddef.h>

struct gus_topdown_count;

/* Which of a list of counts are of one kind of cores. */
struct gus_topdown_kind_span { size_t first, n; };

/* Sets the time for which events of each kind were wanted; with one kind all is left as it is. */
void gus_topdown_kinds_settle(struct gus_topdown_count *counts, const struct gus_topdown_kind_span *kinds, size_t n);

#endif
