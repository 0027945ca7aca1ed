/* SPDX-License-Identifier: MIT */
#include "model/core/fed.h"

#include <stdlib.h>
#include <string.h>

#include "model/code/program.h"

/* What was fetched makes room for what comes. */
static void forget_fetched(struct gus_fed *fed)
{
	uint32_t first = gus_fed_left(fed) ? fed->steps.v[fed->next].access : (uint32_t)fed->accesses.n;

	if (!fed->next)
		return;
	fed->steps.n -= fed->next;
	memmove(fed->steps.v, fed->steps.v + fed->next, fed->steps.n * sizeof(*fed->steps.v));
	fed->next = 0;
	fed->accesses.n -= first;
	if (first && fed->accesses.n)
		memmove(fed->accesses.v, fed->accesses.v + first, fed->accesses.n * sizeof(*fed->accesses.v));
	for (size_t i = 0; i < fed->steps.n; i++)
		fed->steps.v[i].access -= first;
}

void gus_fed_put(struct gus_fed *fed, const struct gus_program *p, const struct gus_op_steps *steps)
{
	forget_fetched(fed);
	for (size_t i = 0; i < steps->n; i++) {
		struct gus_op_step step = steps->steps[i];
		unsigned n = p->ops[step.op].memories_n;

		if (n)
			gus_vec_append(&fed->accesses, steps->accesses + step.access, n);
		step.access = (uint32_t)(fed->accesses.n - n);
		gus_vec_push(&fed->steps, step);
	}
}

void gus_fed_free(struct gus_fed *fed)
{
	gus_vec_free(&fed->steps);
	gus_vec_free(&fed->accesses);
}
