/* SPDX-License-Identifier: MIT */
/* A traced run as JSON, schema gusprof.traced/1. Keys never vanish; what was not asked for is null. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/routes/routes.h"
#include "attribution/traced/regions.h"
#include "cli/common/calibrated.h"
#include "cli/common/json.h"
#include "cli/model/expected.h"
#include "cli/model/phases.h"
#include "cli/model/view.h"
#include "model/analysis/sensitivity.h"
#include "model/code/program.h"
#include "model/machine/config.h"
#include "model/oracles/cache.h"
#include "model/tables/uarch.h"
#include "model/watch/access.h"
#include "symbolizer/insn/insn.h"
#include "symbolizer/insn/loops.h"

static const char *const levels[GUS_HITS] = { "L1", "L2", "L3", "memory" };

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *ratio(double a, double b)
{
	return b > 0 ? json_real(a / b) : json_null();
}

/* Accesses by level. */
struct met { uint64_t accesses, hits[GUS_HITS], first, walks, second_tlb, unknown, rebuilt; };

static void add_memory(struct met *met, const struct gus_traced_memory *m)
{
	met->accesses += m->accesses;
	met->walks += m->walks;
	met->second_tlb += m->second_tlb;
	met->unknown += m->unknown;
	met->rebuilt += m->rebuilt;
	for (int level = 0; level < GUS_HITS; level++) {
		met->hits[level] += m->hits[level];
		met->first += m->first[level];
	}
}

static json_t *memory(const struct met *met)
{
	json_t *o = json_object();

	json_object_set_new(o, "accesses", integer(met->accesses));
	for (int level = 0; level < GUS_HITS; level++)
		json_object_set_new(o, levels[level], integer(met->hits[level]));
	json_object_set_new(o, "first_touches", integer(met->first));
	json_object_set_new(o, "second_tlb", integer(met->second_tlb));
	json_object_set_new(o, "page_walks", integer(met->walks));
	json_object_set_new(o, "without_address", integer(met->unknown));
	json_object_set_new(o, "prefetches_rebuilt", integer(met->rebuilt));
	return o;
}

struct branched { uint64_t executed, taken, mispredicted, unseen; };

static void add_branch(struct branched *sum, const struct gus_traced_block *b)
{
	sum->executed += b->branches;
	sum->taken += b->taken;
	sum->mispredicted += b->mispredicted;
	sum->unseen += b->unseen;
}

static json_t *branches(const struct branched *sum)
{
	json_t *o = json_object();

	json_object_set_new(o, "executed", integer(sum->executed));
	json_object_set_new(o, "taken", integer(sum->taken));
	json_object_set_new(o, "mispredicted", integer(sum->mispredicted));
	json_object_set_new(o, "never_seen_before", integer(sum->unseen));
	return o;
}

static json_t *rests(const struct gus_traced_rests *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "measured", integer(r->measured));
	json_object_set_new(o, "simulated", integer(r->simulated));
	json_object_set_new(o, "unknown", integer(r->unknown));
	return o;
}

/* Of a region, or of all. */
static json_t *rests_on(const struct gus_model_view *v, uint32_t region)
{
	const struct gus_traced_rests_of of = gus_traced_rests(v->traced, region);
	json_t *o = json_object();

	json_object_set_new(o, "accesses", rests(&of.accesses));
	json_object_set_new(o, "branches", rests(&of.branches));
	return o;
}

/* By name, in the order of the knobs: the gain of some cycles. */
static json_t *gains(const struct gus_traced *t, const double *cycles)
{
	json_t *o = json_object();

	for (int i = 0; i < t->knobs_n; i++)
		if (*t->knobs[i].name)
			json_object_set_new(o, t->knobs[i].name, cycles[i + 1] > 0 ?
					    json_real(cycles[0] / cycles[i + 1] - 1) :
				    json_null());
	return o;
}

/* Cycles by state, and in it by events, of one or two ops, or of all. */
static void add_cells(json_t *o, const struct gus_pics_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *state = gus_commit_name((enum gus_commit)cells[i].state);
		json_t *events = json_object_get(o, state);
		char text[GUS_CORE_PSV_TEXT];
		double before;

		gus_core_psv_text(cells[i].psv, text);
		before = json_number_value(json_object_get(events, text));
		json_object_set_new(events, text, json_real(before + (double)cells[i].ticks / GUS_PICS_TICKS));
	}
}

static json_t *stack(void)
{
	json_t *o = json_object();

	for (unsigned state = 0; state < GUS_COMMITS; state++)
		json_object_set_new(o, gus_commit_name((enum gus_commit)state), json_object());
	return o;
}

static json_t *stack_of(const struct gus_model_view *v, uint32_t op, uint32_t twin)
{
	json_t *o = v->model->core && !v->traced->core_stopped ? stack() : json_null();
	const struct gus_pics_cell *cells;
	size_t n;

	if (json_is_null(o))
		return o;
	cells = gus_traced_pics_of(&v->traced->pics, op, &n);
	add_cells(o, cells, n);
	cells = gus_traced_pics_of(&v->traced->pics, twin, &n);
	if (twin != op)
		add_cells(o, cells, n);
	return o;
}

static json_t *instruction(const struct gus_model_view *v, const struct gus_traced_block *b, uint32_t i,
			   uint64_t offset)
{
	const struct gus_traced *t = v->traced;
	const struct gus_program_insn *insn = &t->program->insns[b->insn + i];
	const struct gus_op *op = &t->program->ops[insn->op];
	bool first = op->insn == b->insn + i, twin = insn->op == b->ops.op + b->ops.ops_n - 1 &&
		b->ops.taken != insn->op;
	struct branched branch = { 0 };
	struct met met = { 0 };
	struct gus_insn text;
	json_t *o = json_object();

	for (uint32_t m = op->memory; m < op->memory + op->memories_n; m++)
		if (op->insn + t->program->memories[m].instruction == b->insn + i)
			add_memory(&met, &t->memories.v[m]);
	if (i + 1 == b->insns_n)
		add_branch(&branch, b);
	gus_insn_decode(t->isa, b->bytes + offset, b->size - offset, insn->offset, &text);
	json_object_set_new(o, "address", integer(insn->offset));
	json_object_set_new(o, "text", gus_json_text(text.text));
	json_object_set_new(o, "executed", integer(b->executed));
	json_object_set_new(o, "fused", json_boolean(!first));
	json_object_set_new(o, "known", json_boolean(!(op->flags & GUS_OP_UNKNOWN)));
	json_object_set_new(o, "cycles", first ? json_real(t->op_cycles[insn->op] + (twin ?
		t->op_cycles[b->ops.taken] : 0)) : json_null());
	json_object_set_new(o, "core_stack", first ? stack_of(v, insn->op, twin ? b->ops.taken : insn->op) :
			    json_null());
	json_object_set_new(o, "holds_up", first && v->model->causality ?
			    json_real(t->op_charged[insn->op] + (twin ? t->op_charged[b->ops.taken] : 0)) :
				    json_null());
	json_object_set_new(o, "memory", met.accesses || met.unknown ? memory(&met) : json_null());
	json_object_set_new(o, "branch", branch.executed ? branches(&branch) : json_null());
	return o;
}

static json_t *instructions(const struct gus_model_view *v, uint32_t region)
{
	const struct gus_traced *t = v->traced;
	json_t *list = json_array();

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];
		uint64_t offset = 0;

		if (b->region != region || !b->executed)
			continue;
		for (uint32_t k = 0; k < b->insns_n; k++) {
			json_array_append_new(list, instruction(v, b, k, offset));
			offset += b->lengths[k];
		}
	}
	return list;
}

/* Both ends, of which "cycles" is one; what was not asked for is null. */
static void set_interval(json_t *o, const struct gus_model_view *v, double cycles, double other)
{
	json_t *told = json_real(cycles), *asked = v->model->interval ? json_real(other) : json_null();

	json_object_set_new(o, "cycles_if_warm", v->model->warm ? told : asked);
	json_object_set_new(o, "cycles_if_cold", v->model->warm ? asked : told);
}

/* Null where all was timed. */
static void set_errors(json_t *o, const struct gus_traced *t, double cycles, const double *errors)
{
	bool sampled = t->ops_timed < t->ops_run;

	json_object_set_new(o, "cycles_error", sampled ? json_real(gus_traced_cycles_error(cycles, errors)) :
			    json_null());
	json_object_set_new(o, "sensitivity_error", sampled && t->knobs_n ?
			    json_real(gus_traced_speedup_error(t, errors)) : json_null());
}

/* Null where it did not run on all that was timed. */
static void set_core(json_t *o, const struct gus_model_view *v, double cycles, uint64_t instructions)
{
	bool ran = v->model->core && !v->traced->core_stopped;

	json_object_set_new(o, "core_cycles", ran ? json_real(cycles) : json_null());
	json_object_set_new(o, "core_ipc", ran ? ratio((double)instructions, cycles) : json_null());
}

static json_t *region(const struct gus_model_view *v, uint32_t number)
{
	const struct gus_traced *t = v->traced;
	const struct gus_traced_region *r = &t->regions.v[number];
	const struct gus_traced_function *f = &t->functions.v[r->function];
	struct branched branch = { 0 };
	struct met met = { 0 };
	uint64_t uops_cached = 0, fetch_misses = 0;
	json_t *o = json_object();

	for (size_t i = 0; i < t->blocks.n; i++) {
		const struct gus_traced_block *b = &t->blocks.v[i];

		if (b->region != number)
			continue;
		add_branch(&branch, b);
		uops_cached += b->cached;
		fetch_misses += b->fetch_misses;
		for (uint32_t m = b->memory; m < b->memory + b->memories_n; m++)
			add_memory(&met, &t->memories.v[m]);
	}
	json_object_set_new(o, "function", gus_json_text(f->name));
	json_object_set_new(o, "module", gus_json_text(f->module));
	json_object_set_new(o, "offset", f->name ? integer(f->start) : json_null());
	json_object_set_new(o, "loop", r->loop == GUS_TRACED_NONE ? json_null() :
			    integer(f->graph->insns.v[f->graph->loops.v[r->loop].head].offset));
	json_object_set_new(o, "instructions", integer(r->instructions));
	json_object_set_new(o, "blocks", integer(r->executed));
	json_object_set_new(o, "from_uop_cache", ratio((double)uops_cached, (double)r->executed));
	json_object_set_new(o, "fetch_misses", json_integer((json_int_t)fetch_misses));
	json_object_set_new(o, "cycles", json_real(r->cycles[0]));
	set_errors(o, t, r->cycles[0], r->errors);
	set_interval(o, v, r->cycles[0], r->other_cycles);
	set_core(o, v, r->core_cycles, r->instructions);
	json_object_set_new(o, "share", ratio(r->cycles[0], t->cycles[0]));
	json_object_set_new(o, "samples", v->windows && v->windows->coverage.samples ?
			    integer(v->windows->coverage.by_region[number]) :
			    json_null());
	json_object_set_new(o, "ipc", ratio((double)r->instructions, r->cycles[0]));
	json_object_set_new(o, "fused", integer(r->fused));
	json_object_set_new(o, "slots", integer(r->slots));
	json_object_set_new(o, "holds_up", v->model->causality ? json_real(r->charged) : json_null());
	json_object_set_new(o, "sensitivity", t->knobs_n ? gains(t, r->cycles) : json_null());
	json_object_set_new(o, "engines", gus_model_engines_json(r->agreement));
	json_object_set_new(o, "memory", memory(&met));
	json_object_set_new(o, "branches", branches(&branch));
	json_object_set_new(o, "rests_on", rests_on(v, number));
	json_object_set_new(o, "rows", instructions(v, number));
	return o;
}

static json_t *group(const struct gus_access_group *g)
{
	json_t *o = json_object(), *reuse = json_array();

	json_object_set_new(o, "accesses", integer(g->accesses));
	json_object_set_new(o, "stores", integer(g->stores));
	json_object_set_new(o, "stride", g->stride_times ? json_integer((json_int_t)g->stride) : json_null());
	json_object_set_new(o, "stride_times", integer(g->stride_times));
	json_object_set_new(o, "stride_error", integer(g->stride_error));
	json_object_set_new(o, "lines", integer(g->lines));
	json_object_set_new(o, "lines_exact", json_boolean(g->lines_exact));
	json_object_set_new(o, "first", integer(g->first));
	for (unsigned i = 0; i < GUS_ACCESS_REUSE; i++)
		json_array_append_new(reuse, integer(g->reuse[i]));
	json_object_set_new(o, "reuse", reuse);
	return o;
}

/* By the address of its instruction. */
static json_t *groups(const struct gus_traced *t)
{
	json_t *list = json_array();

	for (uint32_t op = 0; op < t->program->ops_n; op++)
		for (uint32_t m = t->program->ops[op].memory; m < t->program->ops[op].memory +
		     t->program->ops[op].memories_n; m++) {
			json_t *o;

			if (!t->groups[m].accesses ||
			    (op && t->program->ops[op - 1].memory == t->program->ops[op].memory &&
						       t->program->ops[op - 1].memories_n)) /* the twin of a branch */
				continue;
			o = group(&t->groups[m]);
			json_object_set_new(o, "address",
					    integer(t->program->insns[t->program->ops[op].insn +
								      t->program->memories[m].instruction].offset));
			json_array_append_new(list, o);
		}
	return list;
}

static json_t *pairs(const struct gus_traced *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->pairs_n; i++) {
		const struct gus_carried_pair *p = &t->pairs[i];
		json_t *o = json_object(), *distance = json_array();

		json_object_set_new(o, "store", integer(t->program->insns[t->program->ops[p->store].insn].offset));
		json_object_set_new(o, "load", integer(t->program->insns[t->program->ops[p->load].insn].offset));
		json_object_set_new(o, "times", integer(p->times));
		json_object_set_new(o, "blocked", integer(p->blocked));
		for (unsigned k = 0; k < GUS_CARRIED_DISTANCES; k++)
			json_array_append_new(distance, integer(p->distance[k]));
		json_object_set_new(o, "iterations", distance);
		json_object_set_new(o, "farther", integer(p->farther));
		json_object_set_new(o, "outside", integer(p->outside));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *carried(const struct gus_traced *t)
{
	json_t *o = json_object();

	json_object_set_new(o, "loads", integer(t->carried.loads));
	json_object_set_new(o, "stores", integer(t->carried.stores));
	json_object_set_new(o, "carried", integer(t->carried.carried));
	json_object_set_new(o, "blocked", integer(t->carried.blocked));
	json_object_set_new(o, "pairs", pairs(t));
	return o;
}

static json_t *phases(const struct gus_model_view *v)
{
	struct gus_model_phases m;

	gus_model_name_phases(v, &m);
	return gus_model_phases_json(&m);
}

/* What the time goes round in, the heaviest first. */
static json_t *chains(const struct gus_traced *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->circles_n; i++) {
		const struct gus_circle *c = &t->circles[i];
		json_t *o = json_object(), *steps = json_array();

		json_object_set_new(o, "ops", integer(c->ops));
		json_object_set_new(o, "weight", json_real(c->weight));
		for (size_t k = 0; k < c->n; k++) {
			json_t *step = json_object();

			json_object_set_new(step, "address",
					    integer(t->program->insns[t->program->ops[c->steps[k].op].insn].offset));
			json_object_set_new(step, "carried_by", gus_json_text(gus_hop_name(c->steps[k].hop)));
			json_object_set_new(step, "cycles", json_real(c->steps[k].cycles));
			json_array_append_new(steps, step);
		}
		json_object_set_new(o, "steps", steps);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *threads(const struct gus_traced *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < gus_traced_threads(t); i++) {
		struct gus_traced_figures f;
		json_t *o = json_object();

		gus_traced_thread(t, i, &f);
		json_object_set_new(o, "thread", integer(f.stream));
		json_object_set_new(o, "program", integer(t->program_of.v[f.stream]));
		json_object_set_new(o, "instructions", integer(f.instructions));
		json_object_set_new(o, "cycles", json_real(f.cycles[0]));
		json_object_set_new(o, "lines_from_memory",
				    integer(f.cache->memory_reads[GUS_CACHE_DEMAND] +
					    f.cache->memory_reads[GUS_CACHE_PREFETCH] +
					    f.cache->memory_reads[GUS_CACHE_CODE]));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *programs(const struct gus_traced *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->programs.n; i++) {
		const struct gus_traced_program *p = &t->programs.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", *p->name ? gus_json_text(p->name) : json_null());
		json_object_set_new(o, "pid", integer(p->pid));
		json_object_set_new(o, "instructions", integer(p->instructions));
		json_object_set_new(o, "cycles", json_real(p->cycles));
		json_object_set_new(o, "ipc", ratio((double)p->instructions, p->cycles));
		json_object_set_new(o, "share", ratio(p->cycles, t->cycles[0]));
		json_object_set_new(o, "threads", integer(p->threads));
		json_object_set_new(o, "trouble", gus_json_text(p->trouble));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *notices(const struct gus_traced *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->notices.n; i++)
		json_array_append_new(list, gus_json_text(t->notices.v[i]));
	return list;
}

static json_t *command(const struct gus_model_view *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->command_n; i++)
		json_array_append_new(list, gus_json_text(v->command[i]));
	return list;
}

static json_t *windows(const struct gus_model_windows *w)
{
	json_t *o, *elsewhere;

	if (!w)
		return json_null();
	o = json_object();
	elsewhere = json_array();
	json_object_set_new(o, "pid", json_integer(w->process->pid));
	json_object_set_new(o, "taken", integer(w->taken));
	json_object_set_new(o, "failed", integer(w->failed));
	json_object_set_new(o, "first_failure", gus_json_text(w->first.text));
	json_object_set_new(o, "by_steps", integer(w->native));
	json_object_set_new(o, "instructions_most", integer(w->process->window));
	json_object_set_new(o, "bytes_most", integer(w->bytes_most));
	json_object_set_new(o, "pause_most_ns", integer(w->pause_most_ns));
	json_object_set_new(o, "pause_ns", integer(w->pause_ns));
	json_object_set_new(o, "samples", w->coverage.samples ? integer(w->coverage.samples) : json_null());
	json_object_set_new(o, "samples_covered", w->coverage.samples ? integer(w->coverage.covered) : json_null());
	for (size_t i = 0; i < w->coverage.elsewhere_n; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "function", gus_json_text(w->coverage.elsewhere[i].name));
		json_object_set_new(one, "samples", integer(w->coverage.elsewhere[i].samples));
		json_array_append_new(elsewhere, one);
	}
	json_object_set_new(o, "samples_elsewhere", elsewhere);
	return o;
}

static json_t *whole_stack(const struct gus_traced *t)
{
	json_t *o = stack();

	add_cells(o, t->pics.v, t->pics.n);
	return o;
}

static void set_totals(json_t *o, const struct gus_model_view *v)
{
	const struct gus_traced *t = v->traced;
	struct branched branch = { 0 };
	struct met met = { 0 };

	for (size_t i = 0; i < t->blocks.n; i++)
		add_branch(&branch, &t->blocks.v[i]);
	for (size_t i = 0; i < t->memories.n; i++)
		add_memory(&met, &t->memories.v[i]);
	json_object_set_new(o, "instructions", integer(t->instructions - t->warmed));
	json_object_set_new(o, "warm_up", integer(t->warmed));
	json_object_set_new(o, "cycles", json_real(t->cycles[0]));
	json_object_set_new(o, "expected_error", gus_model_expected_json(v->model->expectation, "all"));
	json_object_set_new(o, "not_judged", gus_json_word(gus_model_not_judged(v->model->expectation, "all")));
	json_object_set_new(o, "timed", t->ops_timed < t->ops_run ?
			    ratio((double)t->ops_timed, (double)t->ops_run) : json_real(1));
	set_errors(o, t, t->cycles[0], t->errors);
	set_interval(o, v, t->cycles[0], t->other_cycles);
	set_core(o, v, t->core_cycles, t->instructions - t->warmed);
	json_object_set_new(o, "core_ran", v->model->core ? integer(t->core_ran) : json_null());
	json_object_set_new(o, "core_stack", v->model->core && !t->core_stopped ? whole_stack(t) : json_null());
	json_object_set_new(o, "caches", json_string(v->model->warm ? "warm" : "cold"));
	json_object_set_new(o, "issue_width", integer(v->model->config->issue_width));
	json_object_set_new(o, "ipc", ratio((double)(t->instructions - t->warmed), t->cycles[0]));
	json_object_set_new(o, "coverage", ratio(t->program->insns_n - t->program->unknown, t->program->insns_n));
	json_object_set_new(o, "branches_of_unknown_way", integer(t->branches_unknown));
	json_object_set_new(o, "weight", t->knobs_n ? json_real(v->model->weight) : json_null());
	json_object_set_new(o, "sensitivity", t->knobs_n ? gains(t, t->cycles) : json_null());
	json_object_set_new(o, "memory", memory(&met));
	json_object_set_new(o, "branches", branches(&branch));
	json_object_set_new(o, "rates", gus_json_text(v->model->observed ? v->model->rates_of : NULL));
	json_object_set_new(o, "rests_on", rests_on(v, GUS_TRACED_NONE));
}

/* Null where the trace is what was executed. */
static json_t *inferred(const struct gus_routes *r)
{
	json_t *o, *ranges;

	if (!r)
		return json_null();
	o = json_object();
	ranges = json_object();
	json_object_set_new(o, "from", json_string(r->source == GUS_ROUTES_STACKS ? "stacks" : "samples"));
	json_object_set_new(o, "samples", integer(r->samples));
	json_object_set_new(o, "stacks", integer(r->stacks));
	for (unsigned i = 0; i < GUS_RANGE_VERDICTS; i++)
		json_object_set_new(ranges, gus_range_verdict_name(i), integer(r->ranges[i]));
	json_object_set_new(o, "ranges", ranges);
	json_object_set_new(o, "evidence", json_string("inferred"));
	return o;
}

void gus_model_traced_json(const struct gus_model_view *v)
{
	json_t *o = json_object(), *list = json_array();

	json_object_set_new(o, "schema", json_string("gusprof.traced/1"));
	json_object_set_new(o, "uarch", gus_json_text(v->model->uarch->name));
	json_object_set_new(o, "calibration", gus_calibrated_json(v->model->uarch));
	json_object_set_new(o, "engine", json_string(v->model->core ? "core" : v->model->both ? "both" : "stream"));
	json_object_set_new(o, "command", v->command ? command(v) : json_null());
	json_object_set_new(o, "input", gus_json_text(v->input));
	json_object_set_new(o, "trouble", gus_json_text(v->trouble));
	json_object_set_new(o, "inferred", inferred(v->inferred));
	json_object_set_new(o, "full", json_boolean(v->traced->full));
	json_object_set_new(o, "omitted_accesses", integer(v->traced->omitted));
	json_object_set_new(o, "notices", notices(v->traced));
	set_totals(o, v);
	json_object_set_new(o, "windows", windows(v->windows));
	json_object_set_new(o, "programs", v->windows && !v->input ? json_null() : programs(v->traced));
	json_object_set_new(o, "programs_that_did_not_begin", integer(v->empty));
	json_object_set_new(o, "threads", threads(v->traced));
	for (size_t i = 0; i < v->regions_n && (!v->model->rows || i < v->model->rows); i++)
		json_array_append_new(list, region(v, v->order[i]));
	json_object_set_new(o, "regions", list);
	json_object_set_new(o, "chains", v->model->causality ? chains(v->traced) : json_null());
	json_object_set_new(o, "access_groups", v->model->memory ? groups(v->traced) : json_null());
	json_object_set_new(o, "dependences", v->model->memory ? carried(v->traced) : json_null());
	json_object_set_new(o, "phases", v->model->phases ? phases(v) : json_null());
	gus_json_print(o, stdout, true);
}
