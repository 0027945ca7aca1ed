/* SPDX-License-Identifier: MIT */
#include "model/analysis/excerpt.h"

#include <stdlib.h>

#include "model/code/program.h"

void gus_excerpt_clear(struct gus_excerpt *x)
{
	x->steps.n = x->accesses.n = 0;
	x->cached = 0;
}

void gus_excerpt_free(struct gus_excerpt *x)
{
	gus_vec_free(&x->steps);
	gus_vec_free(&x->accesses);
}

void gus_excerpt_add(struct gus_excerpt *x, const struct gus_program *p, const struct gus_op_step *told,
		     const struct gus_op_access *accesses)
{
	struct gus_op_step step = *told;

	step.access = (uint32_t)x->accesses.n;
	if (p->ops[told->op].memories_n)
		gus_vec_append(&x->accesses, accesses + told->access, p->ops[told->op].memories_n);
	gus_vec_push(&x->steps, step);
	x->cached += told->cached;
}
