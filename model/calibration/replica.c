/* SPDX-License-Identifier: MIT */
#include "model/calibration/replica.h"

#include "base/error.h"
#include "model/calibration/micro.h"
#include "model/code/program.h"
#include "model/core/core.h"

enum {
	WARM = 40, PASSES = 160,        /* more if it asks for more */
	PAGE = 4096,
};

/* The passes of a microbenchmark as a source of ops. */
struct walker {
	const struct gus_micro *m;
	const struct gus_program *p;
	struct gus_micro_walk walk;
	uint32_t op;
	size_t access, jump;            /* that come next in the pass */
	uint64_t left;                  /* passes */
};

/* The op of what lies at that offset of the code. */
static uint32_t op_at(const struct walker *w, uint32_t offset)
{
	uint32_t op = w->op;

	while (op + 1 < w->p->ops_n && w->p->insns[w->p->ops[op].insn].offset < offset - w->m->loop)
		op++;
	return op;
}

static void step_over_jump(struct walker *w, struct gus_core_step *step)
{
	const struct gus_micro_jump *j = &w->m->jumps.v[w->jump];

	step->taken = w->walk.taken.v[w->jump++];
	if (step->taken)
		w->op = op_at(w, j->to);
}

static bool next(void *context, struct gus_core_step *step)
{
	struct walker *w = context;
	const struct gus_op *op = &w->p->ops[w->op];
	bool last = w->op + 1 == w->p->ops_n;

	if (w->op == 0) {
		if (!w->left--)
			return false;
		gus_micro_walk_next(&w->walk);
		w->access = w->jump = 0;
	}
	*step = (struct gus_core_step){ .op = w->op, .last = last, .addressed = true, .taken = last };
	for (unsigned i = 0; i < op->memories_n; i++)
		step->address[i] = ((uint64_t)1 << 32) + w->walk.addresses.v[w->access++];
	w->op = last ? 0 : w->op + 1;
	if ((op->flags & GUS_OP_BRANCH) && !last)
		step_over_jump(w, step);
	return true;
}

/* Drawn from the number of the pass, as it is asked out of turn with what is fetched. */
static bool mispredicted(void *context, uint32_t op, uint64_t iteration)
{
	const struct walker *w = context;
	uint64_t draw = (iteration ^ op) + 0x9e3779b97f4a7c15u;

	if (!w->m->patterns.n || w->m->patterns.v[0].bits != GUS_MICRO_RANDOM || op + 1 == w->p->ops_n)
		return false;
	draw = (draw ^ draw >> 30) * 0xbf58476d1ce4e5b9u;
	draw = (draw ^ draw >> 27) * 0x94d049bb133111ebu;
	return draw >> 63;
}

static int run_passes(struct gus_replica *r, const struct gus_program *p, const struct gus_micro *m, uint64_t passes,
		      uint64_t *cycles, struct gus_error *err)
{
	struct walker w = { .m = m, .p = p, .left = passes };
	struct gus_core_source source = { &w, next };
	struct gus_core_branch branch = { &w, mispredicted };
	struct gus_core_options o = { .source = &source, .branch = &branch, .pointers = GUS_CORE_POINTERS_DISTINCT };
	struct gus_core_result result;
	int status;

	gus_micro_walk_begin(&w.walk, m);
	status = gus_core_run(p, r->config, &o, &result, err);
	gus_micro_walk_end(&w.walk);
	*cycles = result.cycles;
	r->cycles += result.cycles;
	return status;
}

int gus_replica_run(struct gus_replica *r, const struct gus_micro *m, double *cycles, struct gus_error *err)
{
	uint64_t warm = m->warm > WARM ? m->warm : WARM, passes = m->passes > PASSES ? m->passes : PASSES;
	struct gus_program *p = gus_program_new(r->uarch, m->code.v + m->loop, m->end - m->loop, PAGE, 0, err);
	uint64_t before = 0, after = 0;
	int status = -1;

	if (p && run_passes(r, p, m, warm, &before, err) == 0)
		status = run_passes(r, p, m, warm + passes, &after, err);
	gus_program_free(p);
	*cycles = (double)(after - before) / (double)passes;
	return status;
}
