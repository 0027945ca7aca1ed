/* SPDX-License-Identifier: MIT */
/* Runs of the stream engine. What runs through it is cut into chunks of 2048 ops, and each chunk goes through three
 * stations:
 *
 *	steps ---> resolver (resolve.c)   ---> kernel, lanes  0 to  7 (kernel.h) ---> log's reader (causality.c)
 *	           the same for all lanes:     kernel, lanes  8 to 15
 *	           addresses, stores, oracles  kernel, lanes 16 to 23
 *
 * So what was resolved lies in the cache while one kernel after the other reads it, and oracles are asked once in
 * program order, however many machines there are. Costs are made before that (prepare.c). Only the first
 * kernel, which has lane 0, writes the log and the times of ops. */
#include "model/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/stream/private.h"
#include "model/machine/steps.h"

static int check(const struct gus_core_config *c, const struct gus_stream_options *o, struct gus_error *err)
{
	if (gus_core_config_check(c, err) != 0)
		return -1;
	if (o->lanes_n > GUS_STREAM_LANES)
		return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: %zu lanes, and a pass has %d",
				o->lanes_n,
				GUS_STREAM_LANES);
	return 0;
}

enum { CACHED_OPS = 300000 }; /* through which a second-level cache of the usual size is full */

/* Half of them is to be the same as if it had begun long before: until then windows fill, for which four reorder
 * buffers are enough. */
uint64_t gus_stream_enough(const struct gus_program *p, const struct gus_core_config *c,
			   const struct gus_core_memory *memory)
{
	uint64_t slots = 0, ops = 4 * (c->rob ? c->rob : 512);

	for (uint32_t i = 0; i < p->ops_n; i++)
		slots += p->ops[i].slots;
	if (memory && memory->begin)
		return 2 * (CACHED_OPS / (p->ops_n ? p->ops_n : 1) + 1);
	return 2 * (ops / (slots ? slots : 1) + 32);
}

/* Of several lanes the widest kernel; a single one needs no vectors. */
static const struct stream_kernel *choose(size_t lanes)
{
	const struct stream_kernel *k = gus_stream_kernels;

	while (k->lanes > 1 && (lanes == 1 || !k->supported()))
		k++;
	return k;
}

/* Runs all lanes through the same steps: a chunk at a time, which is resolved once and stays in the cache. */
struct passes {
	const struct stream_kernel *kernel;
	const struct stream *s;
	struct stream_resolver *resolver;
	void *states[GUS_STREAM_LANES];
	size_t n;
	uint64_t chunks;
};

static void open_passes(struct passes *all, const struct stream *s)
{
	*all = (struct passes){ .kernel = choose(s->lanes), .s = s, .resolver = gus_alloc(sizeof(*all->resolver)) };
	gus_stream_resolver_open(all->resolver, s);
	for (; all->n * all->kernel->lanes < s->lanes; all->n++)
		all->states[all->n] = all->kernel->open(s, (unsigned)(all->n * all->kernel->lanes));
}

static void close_passes(struct passes *all)
{
	for (size_t i = 0; i < all->n; i++)
		all->kernel->close(all->states[i]);
	gus_stream_resolver_close(all->resolver);
	free(all->resolver);
}

/* Of some stretches one has a log, the others go without:
 *
 *	chunks    0 .. 7 | 8 .. 15 | 16 .. 23 | 24 .. 31 | ...      (stretch 8, one in 2)
 *	log         yes       no        yes        no
 *	log's ops 0 ..... 16383 | ............ 16384 .....
 *
 * The log numbers its own ops only. What is in it of ops before a gap is out of its reader's reach from then on
 * (resume), as if the run had begun there: their reasons are true, but it is not known what lies between. */
static struct gus_stream_log *log_of_chunk(struct passes *all)
{
	struct gus_stream_log *log = all->s->o->log;

	if (!log || all->chunks / log->stretch % log->one_in) {
		if (log)
			log->skipped += all->resolver->n;
		return NULL;
	}
	if (all->chunks && all->chunks % log->stretch == 0)
		log->resume(log);
	return log;
}

/* What the resolver has, through all kernels. */
static void run_resolved(struct passes *all, struct gus_stream_times *times)
{
	struct gus_stream_log *log = log_of_chunk(all);

	for (size_t i = 0; i < all->n; i++)
		all->kernel->run(all->states[i], all->s, all->resolver, i ? NULL : log, i ? NULL : times);
	if (log)
		log->read(log, all->s);
	all->chunks++;
}

static void run_chunk(struct passes *all, const struct gus_core_step *steps, size_t n)
{
	gus_stream_resolve(all->resolver, steps, n);
	run_resolved(all, NULL);
}

static void run_iterations(struct passes *all, uint64_t iterations)
{
	uint64_t n;

	for (uint64_t left = iterations * all->s->p->ops_n; left; left -= n) {
		n = left < GUS_OP_STEPS ? left : GUS_OP_STEPS;
		run_chunk(all, NULL, n);
	}
}

/* Up to 16 more than lanes, as the last kernel tells all of its lanes. */
static void read_passes(const struct passes *all, int64_t *ticks_of)
{
	for (size_t i = 0; i < all->n; i++)
		all->kernel->now(all->states[i], ticks_of + i * all->kernel->lanes);
}

static void run_source(struct passes *all, struct gus_stream_result *r)
{
	const struct gus_core_source *source = all->s->o->source;
	struct gus_core_step *steps = gus_alloc(GUS_OP_STEPS * sizeof(*steps));
	size_t n;

	do {
		for (n = 0; n < GUS_OP_STEPS; n++) {
			steps[n] = (struct gus_core_step){ 0 };
			if (!source->next(source->context, &steps[n]))
				break;
			r->instructions += all->s->p->ops[steps[n].op].insns_n;
			r->iterations += steps[n].last;
		}
		run_chunk(all, steps, n);
	} while (n == GUS_OP_STEPS);
	free(steps);
}

static void run_all(const struct stream *s, uint64_t iterations, struct gus_stream_result *r)
{
	struct passes all;
	int64_t half[GUS_STREAM_LANES + 16] = { 0 }, whole[GUS_STREAM_LANES + 16] = { 0 };
	uint64_t half_at = 0;

	open_passes(&all, s);
	if (s->o->source) {
		run_source(&all, r);
	} else {
		half_at = iterations / 2;
		run_iterations(&all, half_at);
		read_passes(&all, half);
		run_iterations(&all, iterations - half_at);
		r->iterations = iterations;
		r->instructions = iterations * s->p->insns_n;
	}
	read_passes(&all, whole);
	close_passes(&all);
	for (size_t lane = 0; lane < s->lanes; lane++) {
		r->cycles[lane] = (double)whole[lane] / GUS_STREAM_TICKS;
		if (r->iterations > half_at)
			r->per_iteration[lane] = (double)(whole[lane] - half[lane]) / GUS_STREAM_TICKS /
				(double)(r->iterations - half_at);
	}
}

int gus_stream_run(const struct gus_program *p, const struct gus_core_config *c, const struct gus_stream_options *o,
		   struct gus_stream_result *r, struct gus_error *err)
{
	struct stream s = { .p = p, .c = c, .o = o, .lanes = o->lanes_n ? o->lanes_n : 1 };
	uint64_t iterations = o->iterations ? o->iterations : gus_stream_enough(p, c, o->memory);
	int status;

	*r = (struct gus_stream_result){ .lanes = s.lanes };
	if (!p->ops_n)
		return gus_fail(err, GUS_E_USAGE, "cannot run the stream engine: the program is empty");
	if (check(c, o, err) != 0)
		return -1;
	if (o->memory && o->memory->begin)
		o->memory->begin(o->memory->context);
	status = gus_stream_prepare(&s, err);
	if (status == 0)
		run_all(&s, iterations, r);
	gus_stream_unprepare(&s);
	return status;
}

/* Fed: the same, but the caller has resolved what the oracles would say, and code may come that was not there at the
 * beginning. */

struct gus_stream_engine {
	struct stream s;
	struct gus_stream_options options;
	struct passes passes;
};

struct gus_stream_engine *gus_stream_open(const struct gus_program *p, const struct gus_core_config *c,
					  const struct gus_stream_options *o, struct gus_error *err)
{
	struct gus_stream_engine *e;

	if (check(c, o, err) != 0)
		return NULL;
	e = gus_zalloc(sizeof(*e));
	e->options = (struct gus_stream_options){ .lanes = o->lanes, .lanes_n = o->lanes_n, .log = o->log,
		.groups = o->groups };
	e->s = (struct stream){ .p = p, .c = c, .o = &e->options, .lanes = o->lanes_n ? o->lanes_n : 1, .fed = true };
	if (gus_stream_prepare(&e->s, err) != 0) {
		gus_stream_unprepare(&e->s);
		free(e);
		return NULL;
	}
	open_passes(&e->passes, &e->s);
	return e;
}

void gus_stream_close(struct gus_stream_engine *e)
{
	if (!e)
		return;
	close_passes(&e->passes);
	gus_stream_unprepare(&e->s);
	free(e);
}

void gus_stream_feed(struct gus_stream_engine *e, const struct gus_op_steps *feed, struct gus_stream_times *times)
{
	uint32_t regions = e->s.regions;

	for (size_t i = 0; i < feed->n; i++)
		if (feed->steps[i].region >= e->s.regions)
			e->s.regions = feed->steps[i].region + 1;
	if (e->s.p->ops_n > e->s.ops_n || e->s.regions > regions) {
		gus_stream_prepare_more(&e->s);
		for (size_t i = 0; i < e->passes.n; i++)
			e->passes.kernel->grow(e->passes.states[i], &e->s);
	}
	gus_stream_resolve_told(e->passes.resolver, feed);
	run_resolved(&e->passes, times);
}

static void in_cycles(const struct gus_stream_engine *e, const int64_t *ticks, double *cycles)
{
	for (size_t lane = 0; lane < e->s.lanes; lane++)
		cycles[lane] = (double)ticks[lane] / GUS_STREAM_TICKS;
}

void gus_stream_cycles(const struct gus_stream_engine *e, double cycles[GUS_STREAM_LANES])
{
	int64_t ticks[GUS_STREAM_LANES + 16];

	read_passes(&e->passes, ticks);
	in_cycles(e, ticks, cycles);
}

void gus_stream_region_cycles(const struct gus_stream_engine *e, uint32_t region, double cycles[GUS_STREAM_LANES])
{
	int64_t ticks[GUS_STREAM_LANES + 16] = { 0 };

	for (size_t i = 0; i < e->passes.n && region < e->s.regions; i++)
		e->passes.kernel->region(e->passes.states[i], region, ticks + i * e->passes.kernel->lanes);
	in_cycles(e, ticks, cycles);
}

double gus_stream_op_cycles(const struct gus_stream_engine *e, uint32_t op)
{
	return op < e->s.ops_n ? (double)e->passes.kernel->op(e->passes.states[0], op) / GUS_STREAM_TICKS : 0;
}

void gus_stream_turn_again(struct gus_stream_engine *e)
{
	gus_stream_prepare_again(&e->s);
	for (size_t i = 0; i < e->passes.n; i++)
		e->passes.kernel->grow(e->passes.states[i], &e->s);
}
