/* SPDX-License-Identifier: MIT */
/* An excerpt, run again by both engines. */
#include "base/error.h"
#include "model/analysis/agreement.h"
#include "model/analysis/excerpt.h"
#include "model/code/program.h"
#include "model/stream/stream.h"

/* A run of the first n steps. Engines ask in the order of the program: for the next step, for the level of each access
 * of an op, which come in any order (the core engine asks for those of an op's first four), and for each branch. */
struct rerun {
	const struct gus_excerpt *x;
	const struct gus_program *p;
	size_t n;
	size_t next;                    /* step that is told next */
	size_t accessed;                /* step whose accesses are asked for ... */
	unsigned asked;                 /* ... and how many were */
	size_t branched;
	unsigned most;                  /* accesses of an op that are asked for */
};

static const struct gus_op *op_at(const struct rerun *r, size_t step)
{
	return &r->p->ops[r->x->steps.v[step].op];
}

static void begin(void *context)
{
	struct rerun *r = context;

	r->next = r->accessed = r->branched = 0;
	r->asked = 0;
}

/* What is not known lies where nothing else does. */
static uint64_t address_of(const struct rerun *r, size_t step, unsigned n)
{
	size_t number = r->x->steps.v[step].access + n;
	const struct gus_op_access *a = &r->x->accesses.v[number];

	return a->known ? a->address : (UINT64_C(1) << 62) + number * 64;
}

static bool next(void *context, struct gus_core_step *step)
{
	struct rerun *r = context;
	const struct gus_op_step *told = &r->x->steps.v[r->next];
	size_t at = r->next;

	if (at >= r->n)
		return false;
	r->next++;
	*step = (struct gus_core_step){ .op = told->op, .taken = told->taken, .addressed = true,
		.last = r->next == r->n || told[1].op == r->x->steps.v[0].op };
	for (unsigned n = 0; n < op_at(r, at)->memories_n && n < sizeof(step->address) / sizeof(*step->address); n++)
		step->address[n] = address_of(r, at, n);
	return true;
}

static unsigned asked_of(const struct rerun *r, size_t step)
{
	unsigned n = op_at(r, step)->memories_n;

	return n < r->most ? n : r->most;
}

static void where(void *context, const struct gus_core_access *access, enum gus_hit *level, enum gus_tlb *tlb)
{
	struct rerun *r = context;
	const struct gus_op_access *a;

	while (r->asked == asked_of(r, r->accessed)) {
		r->accessed++;
		r->asked = 0;
	}
	r->asked++;
	a = &r->x->accesses.v[r->x->steps.v[r->accessed].access + access->memory - op_at(r, r->accessed)->memory];
	*level = (enum gus_hit)a->level;
	*tlb = (enum gus_tlb)a->tlb;
}

static bool mispredicted(void *context, uint32_t op, uint64_t iteration)
{
	struct rerun *r = context;

	(void)op;
	(void)iteration;
	while (!(op_at(r, r->branched)->flags & GUS_OP_BRANCH))
		r->branched++;
	return r->x->steps.v[r->branched++].mispredicted;
}

static size_t turns(const struct gus_excerpt *x, size_t n)
{
	size_t turns = 0;

	for (size_t i = 0; i < n; i++)
		turns += x->steps.v[i].op == x->steps.v[0].op;
	return turns;
}

enum { CORE_ACCESSES = 4, STREAM_ACCESSES = 255 };

static int core_of(struct rerun *r, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		   struct gus_error *err)
{
	struct gus_core_result result;
	int rc;

	r->most = CORE_ACCESSES;
	rc = gus_core_run(r->p, c, o, &result, err);
	*cycles = (double)result.cycles;
	return rc;
}

static int stream_of(struct rerun *r, const struct gus_core_config *c, const struct gus_core_options *o,
		     double *cycles, struct gus_error *err)
{
	struct gus_stream_options options = gus_stream_options_of(o);
	struct gus_stream_result result;
	int rc;

	r->most = STREAM_ACCESSES;
	rc = gus_stream_run(r->p, c, &options, &result, err);
	*cycles = result.cycles[0];
	return rc;
}

typedef int engine(struct rerun *r, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		   struct gus_error *err);

/* The second half: all less the first. */
static int second_half(struct rerun *r, engine *run, const struct gus_core_config *c, const struct gus_core_options *o,
		       double *cycles, struct gus_error *err)
{
	const struct gus_core_source source = { r, next };
	const struct gus_core_memory memory = { r, where, begin };
	const struct gus_core_branch branch = { r, mispredicted };
	struct gus_core_options options = *o;
	size_t n = r->x->steps.n;
	double half, whole;

	options.source = &source;
	options.memory = &memory;
	options.branch = &branch;
	r->n = n / 2;
	if (run(r, c, &options, &half, err) != 0)
		return -1;
	r->n = n;
	if (run(r, c, &options, &whole, err) != 0)
		return -1;
	*cycles = (whole - half) / (double)(turns(r->x, n) - turns(r->x, n / 2));
	return 0;
}

static int core_half(void *rerun, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		     struct gus_error *err)
{
	return second_half(rerun, core_of, c, o, cycles, err);
}

static int stream_half(void *rerun, const struct gus_core_config *c, const struct gus_core_options *o, double *cycles,
		       struct gus_error *err)
{
	return second_half(rerun, stream_of, c, o, cycles, err);
}

int gus_excerpt_compare(const struct gus_excerpt *x, const struct gus_program *p, const struct gus_core_config *c,
			double least, struct gus_agreement *a, struct gus_error *err)
{
	struct rerun r = { .x = x, .p = p };
	const struct gus_agreement_runs runs = { &r, core_half, stream_half };
	/* Most of its uops come from the one or the other: engines that run by themselves are told once. */
	const struct gus_core_options o = { .pointers = GUS_CORE_POINTERS_DISTINCT,
		.fetch = 2 * x->cached >= x->steps.n ? GUS_CORE_FETCH_UOP_CACHE : GUS_CORE_FETCH_DECODERS };

	if (turns(x, x->steps.n) <= turns(x, x->steps.n / 2))
		return gus_fail(err, GUS_E_USAGE, "cannot compare the engines: the excerpt of %zu ops has no turns",
				x->steps.n);
	return gus_agreement_of_runs(&runs, c, &o, least, a, err);
}
