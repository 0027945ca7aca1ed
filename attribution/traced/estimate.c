/* SPDX-License-Identifier: MIT */
#include "attribution/traced/estimate.h"

#include <stdlib.h>

#include "attribution/traced/traced.h"

/* Cycles of an instruction of blocks that were timed: what is taken for those of the others. */
static double usual(const struct gus_traced *t, const struct gus_stretches *s)
{
	double cycles = 0, instructions = 0;

	for (uint32_t i = 0; i < t->blocks.n; i++) {
		double times = gus_stretches_times(s, i), all = times > 0 ? gus_stretches_block(s, i, 0) : 0;

		cycles += all;
		instructions += times > 0 ? times * (double)s->blocks.v[s->numbers.v[i] - 1].timed *
			t->blocks.v[i].insns_n : 0;
	}
	return instructions > 0 ? cycles / instructions : 1;
}

void gus_estimate_make(struct gus_estimate *e, const struct gus_traced *t, const struct gus_stretches *s)
{
	const double otherwise = usual(t, s);
	double nominal = 0, unused[GUS_STRETCHES_LANES];

	*e = (struct gus_estimate){ .blocks = gus_zalloc((t->blocks.n + 1) * sizeof(*e->blocks)),
		.regions = gus_zalloc((t->regions.n + 1) * sizeof(*e->regions)) };
	for (uint32_t i = 0; i < t->blocks.n; i++) {
		e->blocks[i] = gus_stretches_block(s, i, otherwise * t->blocks.v[i].insns_n);
		e->regions[t->blocks.v[i].region] += e->blocks[i];
		nominal += e->blocks[i];
	}
	gus_stretches_lanes(s, GUS_STRETCHES_WHOLE, nominal, unused, e->errors);
	for (uint32_t i = 0; i < t->regions.n; i++) {
		double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES];

		gus_stretches_lanes(s, i, e->regions[i], cycles, errors);
		for (unsigned lane = 0; lane < GUS_STRETCHES_LANES; lane++)
			e->cycles[lane] += cycles[lane];
	}
}

void gus_estimate_free(struct gus_estimate *e)
{
	free(e->blocks);
	free(e->regions);
	*e = (struct gus_estimate){ .blocks = NULL };
}

/* Errors of threads are independent: what adds up are squares of cycles. */
static void add_errors(double *sums, const double *cycles, const double *errors)
{
	sums[0] += errors[0] * errors[0];
	for (unsigned lane = 1; lane < GUS_STREAM_LANES; lane++)
		sums[lane] += cycles[0] * errors[lane] * cycles[0] * errors[lane];
}

/* Ops have the shares of their block's time that were timed; where nothing was, equal ones. */
static void add_ops(const struct gus_estimate *e, const struct gus_stretches *s, struct gus_traced *t, uint32_t block)
{
	const struct gus_growing_block *ops = &t->blocks.v[block].ops;
	double timed = 0, each = e->blocks[block] / (ops->ops_n ? ops->ops_n : 1);

	for (uint32_t op = ops->op; op <= ops->taken; op++)
		timed += gus_stretches_op(s, op);
	for (uint32_t op = ops->op; op <= ops->taken; op++)
		t->op_cycles[op] += timed > 0 ? gus_stretches_op(s, op) * e->blocks[block] / timed :
			op < ops->op + ops->ops_n ? each : 0;
}

void gus_estimate_add(const struct gus_estimate *e, const struct gus_stretches *s, struct gus_traced *t)
{
	add_errors(t->errors, e->cycles, e->errors);
	for (uint32_t i = 0; i < t->regions.n; i++) {
		struct gus_traced_region *r = &t->regions.v[i];
		double cycles[GUS_STRETCHES_LANES], errors[GUS_STRETCHES_LANES];

		if (!(e->regions[i] > 0))
			continue;
		gus_stretches_lanes(s, i, e->regions[i], cycles, errors);
		for (int lane = 0; lane <= t->knobs_n; lane++)
			r->cycles[lane] += cycles[lane];
		r->other_cycles += cycles[GUS_STRETCHES_OTHER];
		r->core_cycles += cycles[GUS_STRETCHES_CORE];
		add_errors(r->errors, cycles, errors);
	}
	for (uint32_t i = 0; i < t->blocks.n; i++)
		if (e->blocks[i] > 0)
			add_ops(e, s, t, i);
}

void gus_estimate_scale(const struct gus_estimate *e, const struct gus_stretches *s, const struct gus_traced *t,
			double *of_ops, size_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < t->blocks.n; i++)
		for (uint32_t op = t->blocks.v[i].ops.op; op <= t->blocks.v[i].ops.taken && op < n; op++)
			sum += of_ops[op] *= gus_stretches_times(s, i);
	for (size_t op = 0; op < n && sum > 0; op++)
		of_ops[op] *= e->cycles[0] / sum;
}
