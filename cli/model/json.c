/* SPDX-License-Identifier: MIT */
/* The findings as JSON, schema gusprof.model/1. Keys come in a fixed order and never vanish; what is not known, or was
 * not asked for, is null. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/calibrated.h"
#include "cli/common/json.h"
#include "cli/model/expected.h"
#include "cli/model/render.h"
#include "model/analysis/sensitivity.h"
#include "model/analysis/batch.h"
#include "model/code/program.h"
#include "model/tables/uarch.h"
#include "symbolizer/symbols/routine.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static int print(json_t *o)
{
	return gus_json_print(o, stdout, true);
}

static json_t *begin(const struct gus_modelled_settings *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "schema", json_string("gusprof.model/1"));
	json_object_set_new(o, "uarch", gus_json_word(s->uarch->name));
	json_object_set_new(o, "calibration", gus_calibrated_json(s->uarch));
	json_object_set_new(o, "engine", gus_json_word(gus_model_engine(s)));
	json_object_set_new(o, "mode", gus_json_word(gus_model_mode(s)));
	return o;
}

static json_t *bounds(const struct gus_modelled *m)
{
	json_t *o = json_object();

	for (int b = 0; b < GUS_BOUNDS; b++)
		json_object_set_new(o, gus_bound_name((enum gus_bound)b),
				    m->bounds.cycles[b] < 0 ? json_null() : json_real(m->bounds.cycles[b]));
	return o;
}

/* A figure that no order of things can reach. */
static json_t *below_bound(const struct gus_modelled_verdict *v)
{
	return v->broken == GUS_BOUNDS ? json_null() : gus_json_word(gus_bound_name(v->broken));
}

static json_t *expected(const struct gus_model_expectation *x, const struct gus_modelled_verdict *v)
{
	return gus_model_expected_json(x, gus_bottleneck_name(v->bottleneck));
}

static json_t *limiting_ports(const struct gus_modelled *m)
{
	json_t *list = json_array();

	for (unsigned p = 0; p < m->program->ports_n; p++)
		if (m->bounds.ports >> p & 1)
			json_array_append_new(list, gus_json_word(gus_model_port(m->program, p)));
	return list;
}

static json_t *ports(const struct gus_modelled *m)
{
	json_t *o = json_object();
	double n = m->result.steady_iterations ? (double)m->result.steady_iterations : 1;

	for (unsigned p = 0; p < m->program->ports_n; p++)
		json_object_set_new(o, gus_model_port(m->program, p), json_real((double)m->result.dispatched[p] / n));
	return o;
}

static json_t *steady(const struct gus_model_report *r)
{
	const struct gus_core_result *result = &r->modelled->result;
	json_t *o = json_object();

	json_object_set_new(o, "exact",
			    json_boolean(result->periodic && !gus_program_is_ranged(r->modelled->program)));
	json_object_set_new(o, "cycles", integer(result->steady_cycles));
	json_object_set_new(o, "iterations", integer(result->steady_iterations));
	return o;
}

static json_t *commit(const struct gus_core_result *result)
{
	json_t *o = json_object();

	for (int i = 0; i < GUS_COMMITS; i++)
		json_object_set_new(o, gus_commit_name((enum gus_commit)i), integer(result->commit[i]));
	return o;
}

/* Why issue stopped; only the reasons of issue, which come before those of retirement. */
static json_t *stop(const struct gus_core_result *result)
{
	json_t *o = json_object();

	for (int i = 0; i < GUS_CORE_EXECUTION; i++)
		json_object_set_new(o, i == GUS_CORE_NOTHING ? "full_width" :
				    gus_core_reason_name((enum gus_core_reason)i),
				    integer(result->stop[i]));
	return o;
}

static json_t *flags_of(const struct gus_program *p, uint32_t insn)
{
	const char *names[GUS_MODEL_FLAGS];
	size_t n = gus_model_flags(p, insn, names);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, gus_json_word(names[i]));
	return list;
}

/* What an instruction takes of each resource, by the names of the report's resources. */
static json_t *use(const struct gus_modelled *m, uint32_t op)
{
	json_t *o = json_object();

	for (size_t i = 0; i < m->saturation.n; i++)
		if (m->saturation.resources[i].of[op] > 0)
			json_object_set_new(o, m->saturation.resources[i].name,
					    json_real(m->saturation.resources[i].of[op]));
	return o;
}

/* The second of a fused pair has no figures of its own. */
static json_t *row(const struct gus_model_report *r, uint32_t insn)
{
	const struct gus_modelled *m = r->modelled;
	const struct gus_program *p = m->program;
	const struct gus_op *op = &p->ops[p->insns[insn].op];
	const struct gus_modelled_figures *f = &m->figures[p->insns[insn].op];
	bool own = op->insn == insn;
	json_t *o = json_object(), *resources = json_object();

	for (unsigned i = 0; own && i < p->ports_n; i++)
		if (f->uops[i] > 0)
			json_object_set_new(resources, gus_model_port(p, i), json_real(f->uops[i]));
	json_object_set_new(o, "offset", integer(p->insns[insn].offset));
	json_object_set_new(o, "text", gus_json_word(p->insns[insn].text));
	json_object_set_new(o, "resources", resources);
	json_object_set_new(o, "use", own && m->saturation.n ? use(m, p->insns[insn].op) : json_null());
	json_object_set_new(o, "latency", own ? integer(f->latency) : json_null());
	json_object_set_new(o, "cost", own && r->settings->costs ? json_real(f->cost) : json_null());
	json_object_set_new(o, "critical", own && r->settings->causality ?
			    json_real(m->causality.op_cycles[p->insns[insn].op]) : json_null());
	json_object_set_new(o, "uops", own ? integer(op->uops_n) : json_null());
	json_object_set_new(o, "slots", own ? integer(op->slots) : json_null());
	json_object_set_new(o, "flags", flags_of(p, insn));
	return o;
}

static json_t *rows(const struct gus_model_report *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->modelled->program->insns_n; i++)
		json_array_append_new(list, row(r, i));
	return list;
}

static json_t *variants(const struct gus_model_report *r)
{
	json_t *list = json_array();

	for (int v = 0; v < GUS_VARIANTS; v++) {
		json_t *o;

		if (!r->settings->variants[v])
			continue;
		o = json_object();
		json_object_set_new(o, "variant", gus_json_word(gus_variant_name((enum gus_variant)v)));
		json_object_set_new(o, "cycles_per_iteration", json_real(r->modelled->variant[v]));
		json_object_set_new(o, "difference", json_real(r->modelled->variant[v] - r->modelled->cycles));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *timeline(const struct gus_modelled *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->events.n; i++) {
		const struct gus_core_event *e = &m->events.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "iteration", integer(e->iteration));
		json_object_set_new(o, "op", integer(e->op));
		json_object_set_new(o, "uop", integer(e->uop));
		json_object_set_new(o, "port", e->port < 0 ? json_null() :
				    gus_json_word(gus_model_port(m->program, (unsigned)e->port)));
		json_object_set_new(o, "issued", integer(e->issued));
		json_object_set_new(o, "ready", integer(e->ready));
		json_object_set_new(o, "dispatched", integer(e->dispatched));
		json_object_set_new(o, "completed", integer(e->completed));
		json_object_set_new(o, "retired", integer(e->retired));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *notes(const struct gus_model_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->notes_n; i++)
		json_array_append_new(list, gus_json_word(r->notes[i]));
	return list;
}

static json_t *loop(const struct gus_loop *l, size_t number)
{
	json_t *o = json_object();

	json_object_set_new(o, "loop", number ? integer(number) : json_null());
	json_object_set_new(o, "offset", integer(l->offset));
	json_object_set_new(o, "bytes", integer(l->size));
	json_object_set_new(o, "instructions", integer(l->instructions));
	json_object_set_new(o, "branches", integer(l->branches + l->jumps));
	json_object_set_new(o, "file", gus_json_word(l->file));
	json_object_set_new(o, "line", l->line ? integer(l->line) : json_null());
	return o;
}

static json_t *loops(const struct gus_model_report *r, const struct gus_model_loop_figure *figures)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->function->loops_n; i++) {
		json_t *o = loop(&r->function->loops[i], i + 1);

		json_object_set_new(o, "cycles_per_iteration", figures[i].cycles < 0 ? json_null() :
				    json_real(figures[i].cycles));
		json_object_set_new(o, "expected_error", figures[i].cycles < 0 ? json_null() :
				    expected(r->expectation, &figures[i].verdict));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *resources(const struct gus_model_report *r)
{
	const struct gus_saturation *s = &r->modelled->saturation;
	json_t *list = json_array();

	if (!s->n) {
		json_decref(list);
		return json_null();
	}
	for (size_t i = 0; i < s->n; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "resource", gus_json_word(s->resources[i].name));
		json_object_set_new(o, "cycles", json_real(s->resources[i].cycles));
		json_object_set_new(o, "saturation", json_real(s->resources[i].saturation));
		json_object_set_new(o, "left", json_real(r->modelled->cycles - s->resources[i].cycles));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *agreement(const struct gus_model_report *r)
{
	const struct gus_agreement *a = &r->modelled->agreement;
	json_t *o, *relaxed;

	if (!r->settings->both)
		return json_null();
	o = json_object();
	relaxed = json_object();
	for (int i = 0; i < GUS_LIMITS; i++)
		json_object_set_new(relaxed, gus_machine_limits[i].name, json_real(a->relaxed[i]));
	json_object_set_new(o, "core", json_real(a->core));
	json_object_set_new(o, "stream", json_real(a->stream));
	json_object_set_new(o, "difference", json_real(a->difference));
	json_object_set_new(o, "reason", gus_json_word(a->reason < GUS_LIMITS ?
						       gus_machine_limits[a->reason].name : NULL));
	json_object_set_new(o, "relaxed", relaxed);
	json_object_set_new(o, "all_relaxed", json_real(a->all));
	return o;
}

/* Null: without limit. */
static json_t *weight(double weight)
{
	return weight > 0 ? json_real(weight) : json_null();
}

/* Intervals are those of measurements; a model has none. */
static json_t *sensitivity(const struct gus_model_report *r)
{
	json_t *all = json_array();

	for (int i = 0; i < r->modelled->sensitivity_n; i++)
		for (size_t w = 0; w < r->settings->weights_n; w++) {
			json_t *one = json_object(), *knobs = json_array();

			json_array_append_new(knobs, gus_json_word(r->modelled->sensitivity[i].name));
			json_object_set_new(one, "knobs", knobs);
			json_object_set_new(one, "weight", weight(r->settings->weights[w]));
			json_object_set_new(one, "speedup", json_real(r->modelled->speedups[w][i]));
			json_object_set_new(one, "ci95", json_null());
			json_array_append_new(all, one);
		}
	if (r->modelled->set_n > 1) {
		json_t *one = json_object(), *knobs = json_array();

		for (int i = 0; i < r->modelled->set_n; i++)
			json_array_append_new(knobs, gus_json_word(r->modelled->sensitivity[r->modelled->set[i]].name));
		json_object_set_new(one, "knobs", knobs);
		json_object_set_new(one, "weight", weight(r->settings->weights[0]));
		json_object_set_new(one, "speedup", json_real(r->modelled->set_speedup));
		json_object_set_new(one, "ci95", json_null());
		json_array_append_new(all, one);
	}
	return all;
}

/* Instructions whose time depends on their operands, which the model does not know. */
static json_t *operand_dependent(const struct gus_program *p)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < p->insns_n; i++) {
		const struct gus_uarch_row *row = p->insns[i].row;
		json_t *one;

		if (!row || !row->most)
			continue;
		one = json_object();
		json_object_set_new(one, "instruction", integer(i));
		json_object_set_new(one, "latency", json_real((double)row->latency / GUS_UARCH_CENTI));
		json_object_set_new(one, "least", json_real((double)row->least / GUS_UARCH_CENTI));
		json_object_set_new(one, "most", json_real((double)row->most / GUS_UARCH_CENTI));
		json_array_append_new(all, one);
	}
	return all;
}

static json_t *caches(const struct gus_model_report *r)
{
	static const char *const levels[GUS_HITS] = { "L1", "L2", "L3", "memory" };
	json_t *o = json_object(), *accesses = json_object(), *knobs = json_array();

	if (!r->settings->caches) {
		json_decref(o);
		json_decref(accesses);
		json_decref(knobs);
		return json_null();
	}
	for (unsigned i = 0; i < GUS_HITS; i++)
		json_object_set_new(accesses, levels[i], integer(r->modelled->answers[i]));
	for (unsigned i = 0; i < GUS_FUNCTIONAL_KNOBS; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "knob", gus_json_word(r->modelled->functional[i].name));
		json_object_set_new(one, "speedup", json_real(r->modelled->functional[i].speedup));
		json_array_append_new(knobs, one);
	}
	json_object_set_new(o, "accesses", accesses);
	json_object_set_new(o, "unknown_addresses", integer(r->modelled->unknown_addresses));
	json_object_set_new(o, "knobs", knobs);
	return o;
}

int gus_model_json(const struct gus_model_report *r)
{
	const struct gus_modelled *m = r->modelled;
	const struct gus_program *p = m->program;
	json_t *o = begin(r->settings);

	json_object_set_new(o, "function", gus_json_word(r->function ? r->function->name : NULL));
	json_object_set_new(o, "loop", r->loop ? loop(r->loop, r->loop_number) : json_null());
	json_object_set_new(o, "notes", notes(r));
	json_object_set_new(o, "cycles_per_iteration", json_real(m->cycles));
	json_object_set_new(o, "expected_error", expected(r->expectation, &m->verdict));
	json_object_set_new(o, "not_judged", gus_json_word(gus_model_not_judged(r->expectation,
			    gus_bottleneck_name(m->verdict.bottleneck))));
	json_object_set_new(o, "steady", steady(r));
	json_object_set_new(o, "fetch", gus_json_word(gus_model_fetch_name(m->result.fetch)));
	json_object_set_new(o, "instructions", integer(p->insns_n));
	json_object_set_new(o, "uops", integer(gus_program_executed(p)));
	json_object_set_new(o, "slots", integer(gus_program_slots(p)));
	json_object_set_new(o, "unknown", integer(p->unknown));
	json_object_set_new(o, "coverage", json_real((double)(p->insns_n - p->unknown) / p->insns_n));
	json_object_set_new(o, "operand_dependent", operand_dependent(p));
	json_object_set_new(o, "bounds", bounds(m));
	json_object_set_new(o, "limit", gus_model_limit(m) == GUS_BOUNDS ? json_null() :
			    gus_json_word(gus_bound_name(gus_model_limit(m))));
	json_object_set_new(o, "bottleneck", gus_json_word(gus_bottleneck_name(m->verdict.bottleneck)));
	json_object_set_new(o, "below_bound", below_bound(&m->verdict));
	json_object_set_new(o, "limiting_ports", limiting_ports(m));
	json_object_set_new(o, "ports", ports(m));
	json_object_set_new(o, "commit", commit(&m->result));
	json_object_set_new(o, "stop", stop(&m->result));
	json_object_set_new(o, "resources", resources(r));
	json_object_set_new(o, "agreement", agreement(r));
	json_object_set_new(o, "sensitivity", sensitivity(r));
	json_object_set_new(o, "caches", caches(r));
	json_object_set_new(o, "causality", gus_model_causality_json(r));
	json_object_set_new(o, "variants", variants(r));
	json_object_set_new(o, "rows", rows(r));
	json_object_set_new(o, "timeline", r->settings->timeline ? timeline(m) : json_null());
	json_object_set_new(o, "instructions_simulated", integer(m->instructions));
	json_object_set_new(o, "seconds", r->seconds < 0 ? json_null() : json_real(r->seconds));
	return print(o);
}

/* The keys of a model without a model. */
static void set_nulls(json_t *o)
{
	static const char *const keys[] = { "cycles_per_iteration", "expected_error", "instructions", "uops",
		"unknown", "coverage", "bounds" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		json_object_set_new(o, keys[i], json_null());
	json_object_set_new(o, "sensitivity", json_array());
	json_object_set_new(o, "rows", json_array());
	json_object_set_new(o, "instructions_simulated", json_null());
	json_object_set_new(o, "seconds", json_null());
}

int gus_model_loops_json(const struct gus_model_report *r, const struct gus_model_loop_figure *figures)
{
	json_t *o = begin(r->settings);

	json_object_set_new(o, "function", gus_json_word(r->function->name));
	set_nulls(o);
	json_object_set_new(o, "loops", loops(r, figures));
	return print(o);
}

static json_t *batch_line(const struct gus_batch_line *line, const struct gus_model_expectation *x)
{
	char *hex = gus_strndup(line->hex, line->hex_size);
	json_t *o = json_object();
	bool good = !line->why;

	json_object_set_new(o, "hex", gus_json_word(hex));
	json_object_set_new(o, "cycles_per_iteration", good ? json_real(line->cycles) : json_null());
	json_object_set_new(o, "bottleneck", good ? gus_json_word(gus_bottleneck_name(line->verdict.bottleneck)) :
			    json_null());
	json_object_set_new(o, "expected_error", good ? expected(x, &line->verdict) : json_null());
	json_object_set_new(o, "below_bound", good ? below_bound(&line->verdict) : json_null());
	json_object_set_new(o, "instructions", good ? integer(line->instructions) : json_null());
	json_object_set_new(o, "unknown", good ? integer(line->unknown) : json_null());
	json_object_set_new(o, "reason", line->why ? gus_json_word(line->why) : json_null());
	free(hex);
	return o;
}

int gus_model_batch_json(const struct gus_batch *b, const struct gus_modelled_settings *s,
			 const struct gus_model_expectation *x, double seconds)
{
	json_t *o = begin(s), *list = json_array();

	for (size_t i = 0; i < b->n; i++)
		json_array_append_new(list, batch_line(&b->lines[i], x));
	json_object_set_new(o, "lines", integer(b->n));
	json_object_set_new(o, "bad", integer(b->bad));
	set_nulls(o);
	json_object_set_new(o, "instructions", integer(b->instructions));
	json_object_set_new(o, "unknown", integer(b->unknown));
	json_object_set_new(o, "coverage", b->instructions ?
			    json_real((double)(b->instructions - b->unknown) / (double)b->instructions) : json_null());
	json_object_set_new(o, "rows", list);
	json_object_set_new(o, "seconds", seconds < 0 ? json_null() : json_real(seconds));
	return print(o);
}
