/* SPDX-License-Identifier: MIT */
/* Modes of plans (collector/plan) as users ask for them, by record -e and doctor --mode: what this machine must give
 * for each, and what hinders it. */
#ifndef GUS_CLI_NEED_H
#define GUS_CLI_NEED_H

#include <stddef.h>

#include "collector/doctor/facts.h"
#include "collector/plan/table.h"

/* Best first, without the timer, which every machine gives. */
struct gus_need {
	enum gus_plan_mode mode;
	enum gus_class needs;  /* what must work on this machine for it */
	const char *finding;   /* what doctor calls that */
	char tier;
};

/* Number i, or NULL behind the last; that of a word, or of a mode, or NULL. */
const struct gus_need *gus_need_at(size_t i);
const struct gus_need *gus_need_named(const char *word);
const struct gus_need *gus_need_of(enum gus_plan_mode mode);

/* What doctor says of it, a clause, and the command that would change it if there is one. The caller frees it. */
char *gus_need_hindrance(const struct gus_need *need, const struct gus_facts *facts);

#endif
