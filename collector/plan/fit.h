/* SPDX-License-Identifier: MIT */
/* Whether events can be counted together: each needs a counter that may count it and that no other has, and what they
 * hold beside counters must agree. A question of matching, not of numbers: three events that only counters 0 and 1
 * count do not fit into eight. Pure. */
#ifndef GUS_COLLECTOR_PLAN_FIT_H
#define GUS_COLLECTOR_PLAN_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/plan/table.h"

enum { GUS_PLAN_FIT_MAX = 48 }; /* events at a time; more never fit */

/* What of a core is free for us. */
struct gus_plan_free {
	const struct gus_plan_core *core;
	bool smt;      /* the core's other thread may run */
	bool watchdog; /* the kernel's NMI watchdog has a counter of cycles */
};

/* Whether all rows can be on together. */
bool gus_plan_fits(const struct gus_plan_free *f, const struct gus_plan_row *const *rows, size_t n);

#endif
