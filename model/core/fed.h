/* SPDX-License-Identifier: MIT */
/* What was executed, on its way into the core engine: steps that were fed and are not fetched yet. */
#ifndef GUS_MODEL_CORE_FED_H
#define GUS_MODEL_CORE_FED_H

#include "base/alloc.h"
#include "model/machine/steps.h"

struct gus_program;

struct gus_fed {
	struct gus_vec(struct gus_op_step) steps;       /* access: in accesses */
	struct gus_vec(struct gus_op_access) accesses;
	size_t next;                                    /* step that is fetched next */
};

/* Copies them behind what is there. */
void gus_fed_put(struct gus_fed *fed, const struct gus_program *p, const struct gus_op_steps *steps);
void gus_fed_free(struct gus_fed *fed);

static inline size_t gus_fed_left(const struct gus_fed *fed)
{
	return fed->steps.n - fed->next;
}

/* The next one, whose accesses are from its `access` on; NULL: there is none. */
static inline const struct gus_op_step *gus_fed_next(struct gus_fed *fed)
{
	return gus_fed_left(fed) ? &fed->steps.v[fed->next++] : NULL;
}

#endif
