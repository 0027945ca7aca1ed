/* SPDX-License-Identifier: MIT */
/* One thread of a trace: its caches, predictor and uop cache find out what happens, its engine when. */
#include <stdlib.h>
#include <string.h>

#include "attribution/traced/estimate.h"
#include "attribution/traced/match.h"
#include "attribution/traced/private.h"
#include "attribution/traced/rates.h"
#include "attribution/traced/contended.h"
#include "attribution/traced/told.h"
#include "base/error.h"
#include "model/code/program.h"
#include "model/code/values.h"
#include "model/core/core.h"
#include "model/machine/config.h"
#include "model/machine/steps.h"
#include "model/oracles/code_fetch.h"
#include "model/oracles/oracle.h"
#include "model/watch/access.h"
#include "model/watch/known.h"

enum { ASKED = 256, FIRST = 0x80 };
enum { AWAKE = 2 * GUS_OP_STEPS }; /* instructions of the warm-up, the last ones, that engines run */
enum { SHORT_LINES = 64, LONG_LINES = 1 << 26 }; /* of an access that nobody counts; of all that are longer */

struct gus_traced_thread {
	struct gus_traced *t;
	uint32_t stream;
	struct gus_cache *cache;
	struct gus_branch_predictor *predictor;
	struct gus_causes *causes;              /* NULL: not asked for */
	/* The one that all is told by, and that for the other end of the interval; NULL: the core engine is alone. */
	struct gus_stream_engine *engine, *other;
	struct gus_core_engine *core;           /* beside them; NULL: not asked for, or it has stopped */
	struct gus_pics *pics;                  /* of it; NULL: there is none, or the caller's listener has it */
	const struct gus_core_hooks *hooks;     /* of it, and of how code comes */
	bool listened;                          /* the caller's has, and waits to be told of the end */
	/* The time of the caches, in cycles: that of the engine at the end of the last chunk, and from there on as many
	 * for each access as in that chunk. */
	double now, pace, cycles_before;
	double fetching;                        /* since then, cycles for which the decoders wait for code */
	uint64_t accessed;                      /* in the present chunk */
	uint32_t long_bytes;                    /* of an access that is long */
	/* lines that accesses have asked for last, plus 1: what the engines know of */
	uint64_t asked[ASKED], asked_warm[ASKED];
	uint64_t instructions, warmed, window;
	uint64_t unknown_branches;              /* those of the warm-up, too */
	bool counting;                          /* the warm-up is over */
	bool asleep;                            /* engines leave out what comes long before its end */
	double before[GUS_STREAM_LANES], other_before, core_before; /* cycles until then */
	struct gus_vec(double) ops_before;      /* and of each op */
	/* The uop cache, first in first out: window i came in when so many lines had, plus 1. */
	struct gus_vec(uint64_t) came;
	uint64_t lines, lines_most;
	struct gus_code_fetch code;
	bool flushed;                   /* the branch before the present block was mispredicted */
	struct gus_code_fetch_answer late;      /* what the decoders wait for of the present block's code */
	/* The present chunk. Accesses and steps as the warm engine sees them differ in what was met for the first
	 * time. */
	struct gus_op_step *steps_told, *steps_warm;
	struct gus_vec(struct gus_op_access) accesses, accesses_warm;
	size_t n;
	struct gus_phases *phases;              /* NULL: not asked for, and so are the next two */
	struct gus_stream_times *times;
	uint32_t *block_of;                     /* by step of the chunk */
	/* What of the run is timed; NULL: all of it. */
	struct gus_stretches *stretches;
	struct gus_estimate estimate;           /* at the end, where that is less than all */
	uint8_t *case_of;                       /* by step of the chunk: the block's case; FIRST: of its first op */
	int64_t retired;                        /* ticks: by when the last chunk had retired */
	double ahead;                           /* cycles: of the caches' time before the engine's, which slept */
	uint8_t farthest;                       /* that an access of the present block went */
	bool missed;                            /* a misprediction led to it */
	struct gus_access *groups;
	struct gus_carried *carried;
	uint64_t entry, iteration;              /* stays in regions so far, and times round the loop in this one */
	uint32_t region;                        /* the present one */
	struct gus_known known;                 /* what registers hold, near software prefetches */
	bool knows;                             /* all since then has been followed */
	/* The last step, if its branch waits to be told where it went. */
	struct gus_traced_block *branching;
	uint32_t branching_number;
	enum gus_trace_next way;
	struct gus_traced_excerpt *excerpt;     /* NULL: engines are not compared */
	struct gus_traced_passer *passer;       /* NULL: nobody asks for passages */
};

/* Phases need the time of each op, and whoever has the core engine alone sees each of its cycles. */
static bool samples(const struct gus_traced_thread *th)
{
	return !th->t->options.all && !th->t->options.phases;
}

static void sample(struct gus_traced_thread *th)
{
	if (samples(th))
		th->stretches = gus_stretches_new();
}

/* Caches and predictors alone see what comes. */
static bool skips(const struct gus_traced_thread *th)
{
	return th->asleep || (th->stretches && th->stretches->now == GUS_STRETCH_SKIPPED);
}

static int open_core(struct gus_traced_thread *th, struct gus_error *err)
{
	const struct gus_traced_options *o = &th->t->options;
	const struct gus_core_listener *listener = NULL;

	th->listened = o->listen != NULL;
	if (o->listen)
		listener = o->listen(o->listen_context, th->stream, th->t->program);
	else
		listener = gus_pics_listener(th->pics = gus_pics_new(th->t->program));
	th->core = gus_core_open(th->t->program, o->config, listener, th->hooks, err);
	return th->core ? 0 : -1;
}

static int open_engines(struct gus_traced_thread *th, struct gus_error *err)
{
	const struct gus_traced_options *options = &th->t->options;
	struct gus_stream_options o = { .lanes = th->t->lanes, .lanes_n = (size_t)th->t->knobs_n + 1,
		.groups = &th->t->groups_of_ports }, one = { 0 };

	if (options->causality)
		th->causes = gus_causes_open(options->config, &o);
	if (!options->alone && !(th->engine = gus_stream_open(th->t->program, options->config, &o, err)))
		return -1;
	if (options->interval && !(th->other = gus_stream_open(th->t->program, options->config, &one, err)))
		return -1;
	return options->core ? open_core(th, err) : 0;
}

struct gus_traced_thread *gus_traced_thread_new(struct gus_traced *t, uint32_t stream, struct gus_error *err)
{
	const struct gus_core_config *c = t->options.config;
	struct gus_traced_thread *th = gus_zalloc(sizeof(*th));

	th->t = t;
	th->stream = stream;
	th->hooks = t->options.hooks_of ? t->options.hooks_of(t->options.listen_context, stream) : t->options.hooks;
	th->pace = 1;
	th->long_bytes = (SHORT_LINES + 1) * t->options.caches->line_size;
	th->counting = !t->options.warm_up;
	th->lines_most = c->uop_cache_line ? c->uop_cache_size / c->uop_cache_line : 0;
	th->cache = gus_cache_new(t->options.caches, err);
	if (th->cache && gus_code_fetch_init(&th->code, c, th->cache, th->hooks, err) == 0)
		th->predictor = gus_branch_new(t->options.predictor, err);
	if (!th->predictor || open_engines(th, err) != 0) {
		gus_traced_thread_free(th);
		return NULL;
	}
	if (t->options.phases)
		th->phases = gus_phases_new();
	if (th->counting)
		sample(th);
	th->asleep = (samples(th) || t->options.fed) && t->options.warm_up > AWAKE;
	th->times = gus_alloc(GUS_OP_STEPS * sizeof(*th->times));
	th->block_of = gus_alloc(GUS_OP_STEPS * sizeof(*th->block_of));
	th->case_of = gus_alloc(GUS_OP_STEPS * sizeof(*th->case_of));
	if (t->options.memory) {
		th->groups = gus_access_new(t->program->memories_n, t->options.caches->line_size);
		th->carried = gus_carried_new();
	}
	if (t->options.both)
		th->excerpt = gus_traced_excerpt_new();
	if (t->options.passages)
		th->passer = gus_traced_passer_new();
	th->steps_told = gus_zalloc(GUS_OP_STEPS * sizeof(*th->steps_told));
	th->steps_warm = gus_zalloc(GUS_OP_STEPS * sizeof(*th->steps_warm));
	return th;
}

void gus_traced_thread_free(struct gus_traced_thread *th)
{
	if (!th)
		return;
	gus_stream_close(th->engine);
	gus_stream_close(th->other);
	gus_core_close(th->core);
	if (th->listened && th->t->options.leave)
		th->t->options.leave(th->t->options.listen_context, th->stream);
	gus_pics_free(th->pics);
	gus_causes_close(th->causes);
	gus_branch_free(th->predictor);
	gus_cache_free(th->cache);
	gus_code_fetch_free(&th->code);
	gus_phases_free(th->phases);
	gus_traced_excerpt_free(th->excerpt);
	gus_traced_passer_free(th->passer);
	gus_access_free(th->groups);
	gus_carried_free(th->carried);
	gus_estimate_free(&th->estimate);
	gus_stretches_free(th->stretches);
	free(th->times);
	free(th->block_of);
	free(th->case_of);
	free(th->steps_told);
	free(th->steps_warm);
	gus_vec_free(&th->accesses);
	gus_vec_free(&th->accesses_warm);
	gus_vec_free(&th->came);
	gus_vec_free(&th->ops_before);
	free(th);
}

/* The core engine. What it cannot run ends it, and the others go on. */

static void check_core(struct gus_traced_thread *th, int rc, const struct gus_error *err)
{
	if (rc == 0)
		return;
	if (!th->t->core_stopped)
		gus_vec_push(&th->t->notices, gus_format("the core engine has stopped: %s", err->text));
	th->t->core_stopped = true;
	gus_core_close(th->core);
	th->core = NULL;
}

static void feed_core(struct gus_traced_thread *th, const struct gus_op_steps *steps)
{
	struct gus_error err = { 0 };

	if (th->core)
		check_core(th, gus_core_feed(th->core, steps, &err), &err);
	if (th->t->options.fed)
		th->t->options.fed(th->t->options.listen_context, th->stream, steps);
}

/* As long as in the run before, so that both are of the same. */
static bool is_as_long(const struct gus_traced_thread *th, const struct gus_traced_lengths *lengths)
{
	return th->stream < lengths->n && lengths->v[th->stream] && th->instructions >= lengths->v[th->stream];
}

bool gus_traced_thread_is_long(const struct gus_traced_thread *th)
{
	const struct gus_traced_options *o = &th->t->options;

	if (o->lengths_known)
		return is_as_long(th, o->lengths);
	if (!o->core_cycles_most || !th->core || gus_core_cycles(th->core) <= o->core_cycles_most)
		return false;
	while (o->lengths && o->lengths->n <= th->stream)
		gus_vec_push(o->lengths, 0);
	if (o->lengths && !o->lengths->v[th->stream])
		o->lengths->v[th->stream] = th->instructions;
	return true;
}

/* It is some hundred ops behind what it was fed: where nothing comes behind them these are run to their end. */
static void drain_core(struct gus_traced_thread *th)
{
	struct gus_error err = { 0 };

	if (th->core)
		check_core(th, gus_core_drain(th->core, &err), &err);
}

/* Cycles so far of what tells the time, by lane. */
static void cycles_now(const struct gus_traced_thread *th, double cycles[GUS_STREAM_LANES])
{
	if (th->engine)
		gus_stream_cycles(th->engine, cycles);
	else
		memset(cycles, 0, GUS_STREAM_LANES * sizeof(*cycles));
}

/* Where the warm-up ends: all that is counted from here on counts. */
static void begin_to_count(struct gus_traced_thread *th)
{
	double cycles[GUS_STREAM_LANES];

	th->counting = true;
	sample(th);
	th->warmed = th->instructions;
	cycles_now(th, th->before);
	drain_core(th);
	th->core_before = th->core ? (double)gus_core_cycles(th->core) : 0;
	for (uint32_t op = 0; th->engine && op < th->t->program->ops_n; op++)
		gus_vec_push(&th->ops_before, gus_stream_op_cycles(th->engine, op));
	if (th->causes)
		gus_causes_count_anew(th->causes);
	if (th->other) {
		gus_stream_cycles(th->other, cycles);
		th->other_before = cycles[0];
	}
	gus_cache_count_anew(th->cache);
	gus_branch_count_anew(th->predictor);
}

/* What the nominal machine did when, by regions and, for mispredictions, by branches. */
static void note_phases(struct gus_traced_thread *th, const struct gus_op_step *steps)
{
	const struct gus_program *p = th->t->program;

	for (size_t i = 0; i < th->n; i++) {
		const struct gus_op_step *told = &steps[i];
		const struct gus_stream_times *times = &th->times[i];
		const struct gus_op *op = &p->ops[told->op];
		struct gus_phases_op one = { .issue = times->issue, .start = times->start, .complete = times->end,
			.retire = times->retire, .left = times->left, .mispredicted = told->mispredicted,
				.load = op->loads != 0,
			.store = op->stores != 0, .class = (uint8_t)p->insns[op->insn].info.class,
				.instructions = op->insns_n };

		if (!told->region)
			continue; /* of the warm-up */
		one.region = told->region - 1;
		one.line = told->mispredicted ? th->block_of[i] + 1 : 0;
		gus_phases_note(th->phases, &one);
	}
}

static void set_time(struct gus_traced_thread *th)
{
	double cycles[GUS_STREAM_LANES];

	cycles_now(th, cycles);
	if (th->t->options.alone && th->core)
		cycles[0] = (double)gus_core_cycles(th->core);
	if (th->accessed) { /* but for what the decoders have waited, which has moved time on already */
		double passed = cycles[0] - th->cycles_before - th->fetching;

		th->pace = passed > 0 ? passed / (double)th->accessed : 0;
	}
	th->now = cycles[0] + th->ahead > th->now ? cycles[0] + th->ahead : th->now; /* never back */
	th->cycles_before = cycles[0];
	th->accessed = 0;
	th->fetching = 0;
}

/* By region and lane, what the stretch that is over took. */
static void end_stretch(struct gus_traced_thread *th)
{
	for (size_t i = 0; i < th->stretches->touched.n; i++) {
		double cycles[GUS_STRETCHES_LANES] = { 0 }, other[GUS_STREAM_LANES] = { 0 };
		uint32_t region = th->stretches->touched.v[i];

		gus_stream_region_cycles(th->engine, region + 1, cycles);
		if (th->other)
			gus_stream_region_cycles(th->other, region + 1, other);
		cycles[GUS_STRETCHES_OTHER] = other[0];
		cycles[GUS_STRETCHES_CORE] = th->core ? (double)gus_core_region_cycles(th->core, region + 1) : 0;
		gus_stretches_region(th->stretches, region, cycles);
	}
	gus_stretches_next(th->stretches);
}

/* What each block of the chunk took, by the times at which its ops retired. */
static void note_stretch(struct gus_traced_thread *th, const struct gus_op_step *steps)
{
	double block = 0;

	for (size_t i = 0; i < th->n; i++) {
		double cycles = (double)(th->times[i].retire - th->retired) / GUS_STREAM_TICKS;

		th->retired = th->times[i].retire;
		if (!steps[i].region)
			continue; /* it warms the engine */
		block = (th->case_of[i] & FIRST ? 0 : block) + cycles;
		gus_stretches_time_op(th->stretches, steps[i].op, cycles);
		if (i + 1 == th->n || th->case_of[i + 1] & FIRST)
			gus_stretches_time(th->stretches, th->block_of[i], th->case_of[i] & (FIRST - 1),
					   steps[i].region - 1, block);
	}
	if (gus_stretches_ran(th->stretches, (uint32_t)th->n))
		end_stretch(th);
	if (!skips(th))
		return;
	drain_core(th);
	if (th->excerpt)
		gus_traced_excerpt_end(th->t, th->excerpt); /* what comes behind the gap is another excerpt */
	if (th->passer)
		gus_traced_passer_gap(th->passer);
}

static bool needs_times(const struct gus_traced_thread *th)
{
	return th->phases || th->stretches || !th->counting || th->t->options.timed;
}

static void tell_times(const struct gus_traced_thread *th, const struct gus_op_steps *steps)
{
	const struct gus_traced_timed *timed = th->t->options.timed;

	if (timed && th->engine)
		timed->steps(timed->context, th->stream, th->t->program, steps, th->times);
}

static void flush(struct gus_traced_thread *th)
{
	const struct gus_op_steps cold = { th->steps_told, th->accesses.v, th->n };
	const struct gus_op_steps warm = { th->steps_warm, th->accesses_warm.v, th->n };
	const bool is_warm = th->t->options.warm;
	const struct gus_op_step *told = is_warm ? th->steps_warm : th->steps_told;

	if (!th->n)
		return;
	if (th->engine)
		gus_stream_feed(th->engine, is_warm ? &warm : &cold, needs_times(th) ? th->times : NULL);
	if (th->excerpt)
		gus_traced_excerpt_steps(th->t, th->excerpt, is_warm ? &warm : &cold);
	if (th->passer)
		gus_traced_pass(th->t, th->passer, is_warm ? &warm : &cold);
	feed_core(th, is_warm ? &warm : &cold);
	set_time(th);
	tell_times(th, is_warm ? &warm : &cold);
	if (th->phases)
		note_phases(th, told);
	if (th->other)
		gus_stream_feed(th->other, is_warm ? &cold : &warm, NULL);
	if (th->stretches)
		note_stretch(th, told);
	else if (th->engine && !th->counting)
		th->retired = th->times[th->n - 1].retire; /* what is timed begins where the warm-up ended */
	th->n = 0;
}

/* Branches. */

/* Whether the last step's branch was mispredicted shows when what came next is known: its op is still in the chunk. */
static void settle_branch(struct gus_traced_thread *th, uint64_t next)
{
	struct gus_traced_block *b = th->branching;
	struct gus_branch_outcome o = { .kind = b->kind, .taken = th->way == GUS_TRACE_NEXT_TAKEN ||
				       b->kind != GUS_BRANCH_CONDITIONAL };
	struct gus_branch_verdict v;
	bool wrong;

	th->branching = NULL;
	o.pc = b->branch_from;
	o.next = b->address + b->size;
	o.target = o.taken ? next : b->branch_to;
	if (th->t->options.mispredicted)
		v = (struct gus_branch_verdict){
			.mispredicted = th->t->options.mispredicted(th->t->options.mispredicted_context,
								    th->branching_number, o.taken) };
	else
		v = gus_branch_run(th->predictor, &o);
	wrong = v.mispredicted;
	if (gus_traced_rates_branch(th->t, b, o.taken, &wrong)) {
		v = (struct gus_branch_verdict){ .mispredicted = wrong, .overridden = v.overridden && !wrong };
		b->measured += th->counting;
	}
	th->flushed = v.mispredicted;
	b->branches += th->counting;
	b->taken += th->counting && o.taken;
	b->mispredicted += th->counting && v.mispredicted && !(v.unknown && th->t->options.warm);
	b->unseen += th->counting && v.mispredicted && v.unknown;
	th->missed = v.mispredicted && !(v.unknown && th->t->options.warm);
	if (!th->n)
		return;
	th->steps_told[th->n - 1].mispredicted = v.mispredicted;
	th->steps_warm[th->n - 1].mispredicted = v.mispredicted && !v.unknown;
	th->steps_told[th->n - 1].overridden = th->steps_warm[th->n - 1].overridden = v.overridden;
}

/* The uop cache. */

/* Whether all of the block's uops come from there; what is not there is put in. */
static bool look_up_window(struct gus_traced_thread *th, uint32_t window)
{
	uint8_t lines = th->t->window_lines.v[window];

	if (!lines || !th->lines_most)
		return false;
	if (th->came.v[window] && th->lines + 1 - th->came.v[window] < th->lines_most)
		return true;
	th->lines += lines;
	th->came.v[window] = th->lines + 1;
	return false;
}

static uint64_t look_up_windows(struct gus_traced_thread *th, const struct gus_traced_block *b)
{
	uint64_t cached = 0;

	if (th->came.n < th->t->window_lines.n) {
		gus_vec_reserve(&th->came, th->t->window_lines.n);
		memset(th->came.v + th->came.n, 0, (th->t->window_lines.n - th->came.n) * sizeof(*th->came.v));
		th->came.n = th->t->window_lines.n;
	}
	for (uint32_t i = 0; i < b->windows_n; i++)
		cached |= (uint64_t)look_up_window(th, b->window + i) << (i & 63);
	return cached;
}

/* Memory. */

/* While nothing is timed blocks move time on, see count_block. */
static inline uint64_t next_time(struct gus_traced_thread *th, bool skipping)
{
	if (!skipping) {
		th->accessed++;
		th->now += th->pace;
	}
	return (uint64_t)th->now;
}

/* Where an access finds its line, for the engine. A line that an access before has asked for is L1's: the engine knows
 * when it comes. One that a prefetcher has asked for is as far away as what still takes as long. */
static enum gus_hit level_of(const struct gus_traced_thread *th, uint64_t address, enum gus_hit level, uint32_t wait,
			     uint64_t *asked)
{
	uint64_t line = address / th->t->options.caches->line_size + 1;
	uint32_t near = th->t->options.caches->level[GUS_HIT_L3].latency;

	if (level == GUS_HIT_L1 && asked[gus_core_line_slot(line, ASKED)] == line)
		return level;
	if (wait > near && wait - near < (th->t->options.caches->memory_latency - near) / 2)
		wait = near; /* nearer to L3 than to memory */
	level = gus_oracle_level(th->t->options.caches, level, wait);
	if (level != GUS_HIT_L1)
		asked[gus_core_line_slot(line, ASKED)] = line;
	return level;
}

/* What is told of memory beside levels, of one access. */
static void note_memory(struct gus_traced_thread *th, const struct gus_traced_block *b,
			const struct gus_trace_access *a, uint32_t number)
{
	struct gus_carried_access one = { .address = a->address, .instruction = th->instructions + a->insn,
					 .entry = th->entry,
		.iteration = th->iteration, .bytes = a->size, .op = th->t->program->insns[b->insn + a->insn].op };

	gus_access_grow(th->groups, th->t->program->memories_n);
	gus_access_note(th->groups, number, a->address, a->size, a->store);
	if (a->store)
		gus_carried_store(th->carried, &one);
	else
		gus_carried_load(th->carried, &one);
}

/* A long access as far as it is followed: what a string instruction moves has any length, and caches go through it
 * line by line. */
static struct gus_trace_access followed(struct gus_traced_thread *th, const struct gus_trace_access *told)
{
	const uint64_t most = th->t->options.long_lines ? th->t->options.long_lines : LONG_LINES;
	const uint32_t line = th->t->options.caches->line_size, lines = told->size / line;
	struct gus_trace_access a = *told;

	if (th->t->long_lines + lines <= most) {
		th->t->long_lines += lines;
		return a;
	}
	a.size = SHORT_LINES * line;
	th->t->cut_bytes += told->size - a.size;
	return a;
}

/* What one of the engines is told of an access. */
static void tell_engine(struct gus_traced_thread *th, const struct gus_trace_access *a, uint32_t width,
			const struct gus_cache_answer *answer, bool warm, struct gus_op_access *told)
{
	const uint8_t found = warm ? answer->level_if_warm : answer->level;
	const uint32_t wait = warm ? answer->wait_if_warm : answer->wait;
	const enum gus_hit level = level_of(th, a->address, (enum gus_hit)found, wait,
					    warm ? th->asked_warm : th->asked);

	gus_traced_told_add(told, a->address, a->size, width, th->t->options.caches->line_size,
			    warm ? &answer->beside_if_warm : &answer->beside);
	gus_traced_told_found(told, (uint8_t)level, warm ? answer->tlb_if_warm : answer->tlb, level != found);
}

/* What was measured: a line that it came from farther than L1 for is one that the engines know from then on. One that a
 * prefetcher has asked for in the caches comes when it comes, to who knows that. */
static void tell_measured(struct gus_traced_thread *th, const struct gus_trace_access *a, uint32_t width,
			  const struct gus_cache_answer *answer, bool warm, struct gus_op_access *told)
{
	uint64_t line = a->address / th->t->options.caches->line_size + 1, *asked = warm ? th->asked_warm : th->asked;

	gus_traced_told_add(told, a->address, a->size, width, th->t->options.caches->line_size,
			    warm ? &answer->beside_if_warm : &answer->beside);
	gus_traced_told_found(told, answer->level, answer->tlb, answer->pending && answer->level != GUS_HIT_L1);
	if (answer->level != GUS_HIT_L1)
		asked[gus_core_line_slot(line, ASKED)] = line;
}

/* What the engines are told: of warm and cold caches that which one of them is for. */
static void tell_access(struct gus_traced_thread *th, const struct gus_trace_access *a, uint32_t width, size_t at,
			const struct gus_cache_answer *answer, bool measured)
{
	const bool warm = th->t->options.warm;

	if (!warm || th->other) {
		if (measured)
			tell_measured(th, a, width, answer, false, &th->accesses.v[at]);
		else
			tell_engine(th, a, width, answer, false, &th->accesses.v[at]);
	}
	if (warm || th->other) {
		if (measured)
			tell_measured(th, a, width, answer, true, &th->accesses_warm.v[at]);
		else
			tell_engine(th, a, width, answer, true, &th->accesses_warm.v[at]);
	}
}

/* Where it hit, for all that is told of memory. What nearly all do, hit the first of both, only counts. */
static inline void count_access(struct gus_traced_thread *th, struct gus_traced_memory *m, bool first,
				const struct gus_cache_answer *answer)
{
	const bool warm = th->t->options.warm;
	const uint8_t level = warm ? answer->level_if_warm : answer->level;
	const uint8_t tlb = warm ? answer->tlb_if_warm : answer->tlb;
	const uint8_t went = tlb == GUS_TLB_WALK ? GUS_HIT_MEMORY : level;

	th->farthest = went > th->farthest ? went : th->farthest;
	if (!th->counting)
		return;
	m->accesses++;
	m->told += first;
	m->hits[level]++;
	if (answer->level != answer->level_if_warm)
		m->first[answer->level]++;
	if (tlb == GUS_TLB_HIT)
		return;
	m->second_tlb += tlb == GUS_TLB_SECOND;
	m->walks += tlb == GUS_TLB_WALK;
}

static inline void note_line(struct gus_traced_memory *m, uint64_t line)
{
	if (line == m->line)
		return;
	m->next += line == m->line + 1 || line + 1 == m->line;
	m->moves++;
	m->line = line;
}

/* Of an access that was seen to miss, what it goes through is not in the caches, and neither is what prefetchers ask
 * for beside it; but it is no farther than what was seen. */
static struct gus_op_beside beside_of_measured(const struct gus_op_beside *cold, enum gus_hit farthest)
{
	struct gus_op_beside b = *cold;

	b.prefetches_n = 0;
	for (unsigned i = 0; i < cold->prefetches_n; i++) {
		struct gus_op_prefetch one = cold->prefetches[i];

		one.from = one.from < farthest ? one.from : (uint8_t)farthest;
		if (one.from > one.into)
			b.prefetches[b.prefetches_n++] = one;
	}
	return b;
}

/* Of an access of several pieces the first has it all. */
static void measure_access(struct gus_traced_thread *th, uint32_t memory, bool first, struct gus_cache_answer *answer)
{
	if (first)
		gus_traced_rates_access(th->t, memory, &answer->level, &answer->tlb);
	else
		answer->level = answer->tlb = 0;
	answer->level_if_warm = answer->level;
	answer->tlb_if_warm = answer->tlb;
	if (gus_traced_rates_farthest(th->t, memory) != GUS_HIT_L1)
		answer->beside_if_warm = beside_of_measured(&answer->beside,
							    gus_traced_rates_farthest(th->t, memory));
	th->t->memories.v[memory].measured += th->counting && first;
}

/* Accesses whose addresses nobody has told, but of which it was measured how far they go. */
static void measure_blind(struct gus_traced_thread *th, const struct gus_traced_block *b,
			  const struct gus_traced_match *matches, uint32_t matches_n, size_t base, bool skipping)
{
	for (uint32_t m = b->memory; m < b->memory + b->memories_n; m++) {
		struct gus_cache_answer answer = { 0 };
		uint32_t i = 0;

		while (i < matches_n && matches[i].memory != m)
			i++;
		if (i < matches_n || !gus_traced_rates_know(th->t, m))
			continue;
		gus_traced_rates_blind(th->t, m, &answer.level, &answer.tlb);
		answer.level_if_warm = answer.level;
		answer.tlb_if_warm = answer.tlb;
		count_access(th, &th->t->memories.v[m], false, &answer);
		th->t->memories.v[m].measured += th->counting;
		th->t->memories.v[m].blind += th->counting;
		if (skipping)
			continue;
		gus_traced_told_found(&th->accesses.v[base + m - b->memory], answer.level, answer.tlb, false);
		gus_traced_told_found(&th->accesses_warm.v[base + m - b->memory], answer.level, answer.tlb, false);
	}
}

static inline void take_access(struct gus_traced_thread *th, struct gus_traced_block *b,
			       const struct gus_trace_access *told_access, const struct gus_traced_match *m,
			       size_t base, bool skipping)
{
	struct gus_trace_access a = *told_access;
	struct gus_cache_access access = { .address = a.address, .now = next_time(th, skipping),
		.id = b->insn + a.insn, .store = a.store };
	struct gus_cache_answer answer;
	const bool measured = gus_traced_rates_know(th->t, m->memory);

	if (a.size >= th->long_bytes)
		a = followed(th, told_access);
	access.bytes = a.size = m->bytes < a.size ? m->bytes : a.size;
	gus_cache_access(th->cache, &access, &answer);
	if (th->t->options.shared)
		b->shared += th->counting && gus_contended_has(th->t->options.shared, b->pid, a.address, a.size);
	if (m->memory == GUS_TRACED_NONE)
		return;
	if (th->groups && th->counting)
		note_memory(th, b, &a, m->memory);
	if (measured)
		measure_access(th, m->memory, m->first, &answer);
	count_access(th, &th->t->memories.v[m->memory], m->first, &answer);
	if (m->first)
		note_line(&th->t->memories.v[m->memory], a.address / th->t->options.caches->line_size);
	if (!skipping)
		tell_access(th, &a, m->width, base + m->memory - b->memory, &answer, measured);
}

/* Software prefetches have no addresses in traces of QEMU; registers that accesses around them have shown tell some. */

static void prepare_known(struct gus_traced_thread *th, struct gus_traced_block *b)
{
	const uint8_t *bytes = b->bytes;

	b->known = gus_zalloc(b->insns_n * sizeof(*b->known));
	for (uint32_t i = 0; i < b->insns_n; bytes += b->lengths[i++]) {
		char form[256];

		gus_insn_form_text(th->t->isa, bytes, b->lengths[i], form, sizeof(form));
		gus_known_prepare(&b->known[i], th->t->isa, &th->t->program->insns[b->insn + i].info, form);
	}
}

static void prefetch(struct gus_traced_thread *th, const struct gus_traced_block *b, uint32_t i, size_t base)
{
	const struct gus_program *p = th->t->program;
	const struct gus_program_insn *insn = &p->insns[b->insn + i];
	struct gus_value where = gus_known_prefetch(&th->known, &b->known[i], insn->offset + insn->info.length);
	struct gus_cache_access access = { .address = where.bits, .bytes = 1, .id = b->insn + i };
	struct gus_cache_answer answer;
	const struct gus_op *op = &p->ops[insn->op];
	struct gus_op_access *told;

	if (!where.known || !op->memories_n)
		return;
	access.now = next_time(th, skips(th));
	gus_cache_access(th->cache, &access, &answer);
	th->t->memories.v[op->memory].rebuilt += th->counting;
	th->t->memories.v[op->memory].told += th->counting;
	if (skips(th))
		return;
	/* Nobody waits for it: as a load that hits, and brings its line along. */
	told = &th->accesses.v[base + op->memory - b->memory];
	*told = (struct gus_op_access){ .address = where.bits, .bytes = 1, .known = true };
	gus_traced_told_prefetch(told, answer.level, &answer.beside);
	told = &th->accesses_warm.v[base + op->memory - b->memory];
	*told = (struct gus_op_access){ .address = where.bits, .bytes = 1, .known = true };
	gus_traced_told_prefetch(told, answer.level_if_warm, &answer.beside_if_warm);
}

static void follow_registers(struct gus_traced_thread *th, struct gus_traced_block *b,
			     const struct gus_trace_step *step, size_t base)
{
	uint32_t next = 0;

	if (!th->knows)
		gus_known_forget(&th->known);
	th->knows = true;
	if (!b->known)
		prepare_known(th, b);
	for (uint32_t i = 0; i < b->insns_n; i++) {
		uint64_t addresses[GUS_INSN_MEMORIES];
		unsigned n = 0;

		for (; next < step->accesses_n && step->accesses[next].insn == i; next++)
			if (n < GUS_INSN_MEMORIES)
				addresses[n++] = step->accesses[next].address;
		if (b->known[i].prefetch && !n)
			prefetch(th, b, i, base);
		gus_known_step(&th->known, &b->known[i], addresses, n);
	}
}

/* Room for all of the block, from base on in the chunk's accesses: nothing is known of them. */
static void clear_accesses(struct gus_traced_thread *th, const struct gus_traced_block *b, size_t base)
{
	gus_vec_reserve(&th->accesses, base + b->memories_n + 1); /* arrays also where there are none yet */
	gus_vec_reserve(&th->accesses_warm, base + b->memories_n + 1);
	memset(th->accesses.v + base, 0, b->memories_n * sizeof(*th->accesses.v));
	memset(th->accesses_warm.v + base, 0, b->memories_n * sizeof(*th->accesses_warm.v));
	th->accesses.n = th->accesses_warm.n = base + b->memories_n;
}

static void take_accesses(struct gus_traced_thread *th, struct gus_traced_block *b, const struct gus_trace_step *step,
			  size_t base)
{
	const struct gus_traced_match *matches = gus_traced_match(th->t, b, step);
	const bool skipping = skips(th);

	if (!skipping)
		clear_accesses(th, b, base);
	th->farthest = 0;
	for (uint32_t i = 0; i < step->accesses_n; i++)
		take_access(th, b, &step->accesses[i], &matches[i], base, skipping);
	if (b->rated_n)
		measure_blind(th, b, matches, step->accesses_n, base, skipping);
	if (th->t->prefetches.v[b->region])
		follow_registers(th, b, step, base);
	else
		th->knows = false;
}

/* Steps. */

static uint64_t all_windows(const struct gus_traced_block *b)
{
	return b->windows_n >= 64 ? UINT64_MAX : (UINT64_C(1) << b->windows_n) - 1;
}

/* Of the uop cache, in the block. */
static uint64_t window_of(const struct gus_traced_thread *th, const struct gus_traced_block *b, uint32_t op)
{
	uint64_t offset = th->t->program->insns[th->t->program->ops[op].insn].offset;

	return th->t->window_bytes ? offset / th->t->window_bytes - b->address / th->t->window_bytes : 0;
}

/* What is not all in the uop cache is decoded from L1, whole lines at a time. Code that comes from far away makes an
 * execution of its own kind, as data do. */
static void fetch_code(struct gus_traced_thread *th, struct gus_traced_block *b, bool all)
{
	const bool warm = th->t->options.warm || th->t->options.warm_code;
	const struct gus_code_fetched code = { b->address, b->size, (uint64_t)th->now, th->flushed };
	const struct gus_code_fetch_late *late;

	th->late = (struct gus_code_fetch_answer){ 0 };
	if (all)
		return;
	th->late = gus_code_fetch_run(&th->code, &code);
	if (th->t->options.warm_code)
		th->late.told = th->late.if_warm;
	late = warm ? &th->late.if_warm : &th->late.told;
	th->now += late->cycles; /* what comes behind it is fetched later */
	th->fetching += late->cycles;
	b->fetch_misses += th->counting ? late->missed : 0;
	if (late->level >= GUS_HIT_L3 && late->level > th->farthest)
		th->farthest = late->level;
	if (late->tlb == GUS_TLB_WALK)
		th->farthest = GUS_HIT_MEMORY;
}

static void tell_code(struct gus_op_step *step, const struct gus_code_fetch_late *late)
{
	step->fetch = late->cycles;
	step->code_level = late->level;
	step->code_tlb = late->tlb;
}

static void tell(struct gus_traced_thread *th, const struct gus_traced_block *b, uint32_t number, size_t base,
		 uint64_t cached, bool taken)
{
	const struct gus_program *p = th->t->program;
	bool warms = th->stretches && th->stretches->now == GUS_STRETCH_WARMING;
	uint32_t region = th->counting && !warms ? b->region + 1 : 0;
	bool all = cached == all_windows(b);

	for (uint32_t i = 0; i < b->ops.ops_n; i++) {
		bool last = i + 1 == b->ops.ops_n;
		uint32_t op = last && taken ? b->ops.taken : b->ops.op + i;

		if (th->n == GUS_OP_STEPS)
			flush(th);
		th->steps_told[th->n] = (struct gus_op_step){ .op = op,
			.access = (uint32_t)(base + p->ops[op].memory - b->memory), .region = region,
			.taken = last && taken, .cached = all ||
				(cached && cached >> (window_of(th, b, op) & 63) & 1) };
		if (th->other || th->t->options.warm)
			th->steps_warm[th->n] = th->steps_told[th->n];
		if (!th->steps_told[th->n].cached) {
			tell_code(&th->steps_told[th->n], &th->late.told);
			tell_code(&th->steps_warm[th->n], &th->late.if_warm);
			th->late = (struct gus_code_fetch_answer){ 0 };
		}
		th->block_of[th->n] = number;
		th->case_of[th->n] = (uint8_t)(th->farthest << 1 | th->missed | (i ? 0 : FIRST));
		th->n++;
	}
}

/* Of what engines leave out nothing is known but its accesses. */
static void pass_time(struct gus_traced_thread *th, double cycles)
{
	th->now += cycles;
	th->accessed = 0;
	if (!skips(th))
		th->ahead = th->now - th->cycles_before;
}

/* The block is executed: how often, and in a gap how long it takes. */
static void count_block(struct gus_traced_thread *th, const struct gus_traced_block *b, uint32_t number,
			uint32_t accesses)
{
	double expected;

	if (th->asleep) {
		th->asleep = th->instructions + b->insns_n + AWAKE < th->t->options.warm_up;
		pass_time(th, th->pace * accesses);
	}
	if (!th->stretches)
		return;
	expected = gus_stretches_execute(th->stretches, number, th->farthest << 1 | th->missed, b->ops.ops_n);
	if (!skips(th))
		return;
	gus_stretches_ran(th->stretches, b->ops.ops_n);
	pass_time(th, expected > 0 ? expected : th->pace * accesses);
}

void gus_traced_thread_step(struct gus_traced_thread *th, const struct gus_trace_step *step)
{
	struct gus_traced_block *b = &th->t->blocks.v[step->block];
	/* Without a branch: it would go wrong as often as what is modelled. */
	bool taken = (step->next == GUS_TRACE_NEXT_TAKEN) | (b->branch & (b->kind != GUS_BRANCH_CONDITIONAL));
	uint64_t cached;
	size_t base;

	th->missed = th->flushed = false;
	if (th->branching) {
		th->branching = &th->t->blocks.v[th->branching_number];
		if (step->window == th->window)
			settle_branch(th, b->address);
		else
			th->unknown_branches++;
	}
	th->branching = NULL;
	th->window = step->window;
	if (!th->counting && th->instructions >= th->t->options.warm_up) {
		flush(th);
		begin_to_count(th);
	}
	if (th->n && th->n + b->ops.ops_n > GUS_OP_STEPS)
		flush(th);
	base = th->n ? th->accesses.n : 0;
	if (!b->decided)
		gus_traced_rates_decide(th->t, b);
	th->entry += b->region != th->region;
	th->iteration = b->region != th->region ? 0 : th->iteration + b->head;
	th->region = b->region;
	take_accesses(th, b, step, base);
	cached = look_up_windows(th, b);
	fetch_code(th, b, cached == all_windows(b));
	if (!skips(th))
		tell(th, b, step->block, base, cached, taken);
	count_block(th, b, step->block, step->accesses_n);
	b->executed += th->counting;
	b->cached += th->counting && cached == all_windows(b);
	th->instructions += b->insns_n;
	if (b->branch && step->next != GUS_TRACE_NEXT_UNKNOWN) {
		th->branching = b;
		th->branching_number = step->block;
		th->way = step->next;
	} else {
		th->unknown_branches += b->branch;
	}
}

void gus_traced_thread_turn(struct gus_traced_thread *th)
{
	gus_stream_turn_again(th->engine);
}

void gus_traced_thread_cycles(const struct gus_traced_thread *th, double cycles[GUS_STREAM_LANES])
{
	gus_stream_cycles(th->engine, cycles);
}

void gus_traced_thread_end(struct gus_traced_thread *th)
{
	th->unknown_branches += th->branching != NULL;
	th->branching = NULL;
	flush(th);
	drain_core(th);
	if (th->t->options.fed)
		th->t->options.fed(th->t->options.listen_context, th->stream, NULL);
	if (th->excerpt)
		gus_traced_excerpt_end(th->t, th->excerpt);
	if (th->passer)
		gus_traced_passer_end(th->t, th->passer);
	if (!th->counting)
		begin_to_count(th); /* and there is nothing */
	if (th->stretches && th->stretches->touched.n)
		end_stretch(th);
	if (gus_stretches_sampled(th->stretches))
		gus_estimate_make(&th->estimate, th->t, th->stretches);
}

/* Results. */

static void own_cycles(const struct gus_traced_thread *th, double cycles[GUS_STREAM_LANES], double *other,
		       double *core)
{
	double other_cycles[GUS_STREAM_LANES] = { 0 };

	*core = th->core ? (double)gus_core_cycles(th->core) - th->core_before : 0;
	if (gus_stretches_sampled(th->stretches)) {
		memcpy(cycles, th->estimate.cycles, GUS_STREAM_LANES * sizeof(*cycles));
		*other = th->estimate.cycles[GUS_STRETCHES_OTHER];
		*core = th->estimate.cycles[GUS_STRETCHES_CORE];
		return;
	}
	cycles_now(th, cycles);
	for (int lane = 0; lane <= th->t->knobs_n; lane++)
		cycles[lane] -= th->before[lane];
	if (th->other)
		gus_stream_cycles(th->other, other_cycles);
	*other = other_cycles[0] - th->other_before;
}

static void add_regions(const struct gus_traced_thread *th, struct gus_traced *t)
{
	for (uint32_t i = 0; i < t->regions.n; i++) {
		struct gus_traced_region *r = &t->regions.v[i];
		double cycles[GUS_STREAM_LANES] = { 0 };

		if (th->engine)
			gus_stream_region_cycles(th->engine, i + 1, cycles);
		for (int lane = 0; lane <= t->knobs_n; lane++)
			r->cycles[lane] += cycles[lane];
		r->core_cycles += th->core ? (double)gus_core_region_cycles(th->core, i + 1) : 0;
		if (!th->other)
			continue;
		gus_stream_region_cycles(th->other, i + 1, cycles);
		r->other_cycles += cycles[0];
	}
}

static void take_phases(const struct gus_traced_thread *th, struct gus_traced *t)
{
	if (!th->phases)
		return;
	gus_phases_found_free(&t->phases);
	gus_phases_find(th->phases, GUS_PHASES_WINDOW, &t->phases);
}

static void take_memory(const struct gus_traced_thread *th, struct gus_traced *t)
{
	if (!th->groups)
		return;
	free(t->pairs);
	free(t->groups);
	gus_access_grow(th->groups, t->program->memories_n);
	t->groups = gus_zalloc((t->program->memories_n + 1) * sizeof(*t->groups));
	for (uint32_t i = 0; i < t->program->memories_n; i++)
		gus_access_get(th->groups, i, &t->groups[i]);
	t->pairs = gus_zalloc(GUS_CARRIED_PAIRS * sizeof(*t->pairs));
	t->pairs_n = gus_carried_pairs(th->carried, t->pairs, GUS_CARRIED_PAIRS);
	gus_carried_totals(th->carried, &t->carried);
}

void gus_traced_thread_add(const struct gus_traced_thread *th, struct gus_traced *t)
{
	const bool sampled = gus_stretches_sampled(th->stretches);
	double cycles[GUS_STREAM_LANES], other, core, longest;
	struct gus_causality causes;

	own_cycles(th, cycles, &other, &core);
	for (int lane = 0; lane <= t->knobs_n; lane++)
		t->cycles[lane] += cycles[lane];
	t->ops_run += th->stretches ? th->stretches->ops : 0;
	t->ops_timed += th->stretches ? th->stretches->timed : 0;
	t->other_cycles += other;
	t->core_cycles += core;
	if (th->pics) {
		uint64_t pending;
		size_t n;
		const struct gus_pics_cell *cells = gus_pics_cells(th->pics, &n);

		gus_traced_pics_add(&t->pics, cells, n);
		t->core_ran += gus_pics_cycles(th->pics, &pending);
	}
	t->instructions += th->instructions;
	t->warmed += th->warmed;
	t->branches_unknown += th->unknown_branches;
	if (sampled)
		gus_estimate_add(&th->estimate, th->stretches, t);
	else
		add_regions(th, t);
	for (uint32_t op = 0; th->engine && op < t->program->ops_n && !sampled; op++)
		t->op_cycles[op] += gus_stream_op_cycles(th->engine, op) - (op < th->ops_before.n ?
			th->ops_before.v[op] : 0);
	if (th->causes) {
		gus_causes_get(th->causes, t->program, cycles[0], &causes);
		if (sampled)
			gus_estimate_scale(&th->estimate, th->stretches, t, causes.op_cycles, causes.ops_n);
		for (uint32_t op = 0; op < causes.ops_n; op++)
			t->op_charged[op] += causes.op_cycles[op];
		gus_causality_free(&causes);
	}
	longest = th->engine ? cycles[0] : core;
	if (t->longest > 0 && longest <= t->longest)
		return;
	t->longest = longest;
	take_phases(th, t);
	take_memory(th, t);
	t->circles_n = th->causes ? gus_causes_circles(th->causes, t->circles, GUS_TRACED_CIRCLES) : 0;
}

void gus_traced_thread_figures(const struct gus_traced_thread *th, struct gus_traced_figures *out)
{
	struct gus_cache_total *cache = gus_alloc(sizeof(*cache));
	struct gus_branch_counts *branches = NULL;

	*cache = *gus_cache_totals(th->cache);
	if (!th->t->options.mispredicted) {
		branches = gus_alloc(GUS_BRANCH_KINDS * sizeof(*branches));
		memcpy(branches, gus_branch_totals(th->predictor), GUS_BRANCH_KINDS * sizeof(*branches));
	}
	*out = (struct gus_traced_figures){ .stream = th->stream, .instructions = th->instructions - th->warmed,
		.warmed = th->warmed, .cache = cache, .branches = branches };
	own_cycles(th, out->cycles, &out->other_cycles, &out->core_cycles);
}
