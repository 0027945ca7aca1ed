/* SPDX-License-Identifier: MIT */
/* What was executed, on its way into the core engine: steps that were fed and are not fetched yet. */
#ifndef GUS_MODEL_CORE_FED_H
#define GUS_MODEL_CORE_FED_H

#include "base/alloc.h"
#include "model/machine/steps.h"

struct gus_fetched;
struct gus_front_told;
struct gus_program;

struct gus_fed {
	struct gus_vec(struct gus_op_step) steps;       /* access: in accesses */
	struct gus_vec(struct gus_op_access) accesses;
	size_t next;                                    /* step that is fetched next */
	uint64_t elsewhere;                             /* accesses without an address so far */
};

/* Copies them behind what is there. */
void gus_fed_put(struct gus_fed *fed, const struct gus_program *p, const struct gus_op_steps *steps);
void gus_fed_free(struct gus_fed *fed);

static inline size_t gus_fed_left(const struct gus_fed *fed)
{
	return fed->steps.n - fed->next;
}

/* The next one: op, taken, mispredicted, cached and fetch of it are set. False: there is none. What is not known of
 * addresses lies where nothing else does. */
bool gus_fed_next(struct gus_fed *fed, const struct gus_program *p, struct gus_fetched *out,
		  struct gus_front_told *told);

#endif
