/* SPDX-License-Identifier: MIT */
/* Annotated functions as JSON, schema gusprof.annotate/1. Keys come in a fixed order and never vanish. */
#include <stdio.h>

#include "cli/annotate/render.h"
#include "cli/common/json.h"
#include "cli/report/render.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static void set_weight(json_t *o, const struct gus_weighed *w)
{
	json_object_set_new(o, "samples", integer(w->samples));
	json_object_set_new(o, "weight", integer(w->weight));
	json_object_set_new(o, "share", json_real(w->share));
	json_object_set_new(o, "ci95", gus_json_pair(w->ci95.low, w->ci95.high));
}

static json_t *call_list(const struct gus_annotation *a, uint32_t first, uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = first; i < first + n; i++) {
		const struct gus_annotation_call *call = &a->calls.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "function", gus_json_text(call->function));
		json_object_set_new(o, "file", gus_json_text(call->file));
		json_object_set_new(o, "line", gus_json_number(call->line != 0, call->line));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *loop_list(const struct gus_annotated *f)
{
	const struct gus_annotation *a = &f->annotation;
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->graph.loops.n; i++) {
		const struct gus_graph_loop *l = &a->graph.loops.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "loop", integer(gus_annotate_loop(f, i)));
		json_object_set_new(o, "outer",
				    gus_json_number(l->outer != GUS_GRAPH_NONE, gus_annotate_loop(f, l->outer)));
		json_object_set_new(o, "depth", integer(l->depth));
		json_object_set_new(o, "head", integer(a->offset + a->graph.insns.v[l->head].offset));
		json_object_set_new(o, "first", integer(a->offset + a->graph.insns.v[l->first].offset));
		json_object_set_new(o, "last", integer(a->offset + a->graph.insns.v[l->last].offset));
		json_object_set_new(o, "instructions", integer(l->instructions));
		json_object_set_new(o, "back_edges", integer(l->backs));
		json_object_set_new(o, "irreducible", json_boolean(l->irreducible));
		set_weight(o, &a->loops[i]);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *line_list(const struct gus_annotate *r, const struct gus_annotated *f)
{
	const struct gus_annotation *a = &f->annotation;
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->lines.n; i++) {
		const struct gus_annotation_line *l = &a->lines.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "file", gus_json_text(l->file));
		json_object_set_new(o, "line", integer(l->line));
		json_object_set_new(o, "function", gus_json_text(l->function));
		json_object_set_new(o, "inlined", call_list(a, l->calls, l->calls_n));
		json_object_set_new(o, "source", gus_json_text(gus_annotate_source(r, f, i)));
		set_weight(o, &l->w);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *function_object(const struct gus_annotate *r, const struct gus_annotated *f)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_units *u = &r->report->units;
	uint64_t times = f->before, cycles = f->before;
	json_t *o = json_object();
	char build_id[GUS_REPORT_BUILD_ID];

	gus_report_build_id(a->module, build_id);
	json_object_set_new(o, "module", gus_json_text(a->module->path));
	json_object_set_new(o, "build_id", gus_json_text(build_id));
	json_object_set_new(o, "function", gus_json_text(a->row->function));
	json_object_set_new(o, "offset", integer(a->offset));
	json_object_set_new(o, "address", integer(a->address));
	json_object_set_new(o, "size", integer(a->size));
	json_object_set_new(o, "instructions", integer(a->graph.insns.n));
	json_object_set_new(o, "time_ns",
			    gus_json_number(u->time.known, gus_scale_part(&u->time, &times, a->row->weight)));
	json_object_set_new(o, "cycles",
			    gus_json_number(u->cycles.known, gus_scale_part(&u->cycles, &cycles, a->row->weight)));
	set_weight(o, &(struct gus_weighed){ a->row->samples, a->row->weight, a->row->share, a->row->ci95 });
	json_object_set_new(o, "loops", loop_list(f));
	json_object_set_new(o, "lines", line_list(r, f));
	return o;
}

static json_t *evidence_of(const struct gus_units *u)
{
	json_t *o = json_object();

	json_object_set_new(o, "share", json_string("observed"));
	json_object_set_new(o, "time_ns", gus_json_word(gus_evidence_name(u->time.evidence)));
	json_object_set_new(o, "cycles", gus_json_word(gus_evidence_name(u->cycles.evidence)));
	return o;
}

/* Null where nothing is known. Rates are left to who reads it: mispredicted ones are of those judged, which were
 * taken. */
static json_t *branch_object(const struct gus_route_block *b)
{
	json_t *o;

	if (!b)
		return json_null();
	o = json_object();
	json_object_set_new(o, "executed", integer((uint64_t)b->count));
	json_object_set_new(o, "taken", integer((uint64_t)b->taken));
	json_object_set_new(o, "judged", integer(b->told));
	json_object_set_new(o, "mispredicted", integer(b->mispredicted));
	json_object_set_new(o, "evidence", json_string("observed"));
	return o;
}

static json_t *row_object(const struct gus_annotate *r, const struct gus_annotated *f,
			  const struct gus_annotation_insn *insn, uint64_t *times, uint64_t *cycles)
{
	const struct gus_annotation *a = &f->annotation;
	const struct gus_annotation_line *line = insn->line == GUS_ANNOTATION_NONE ? NULL : &a->lines.v[insn->line];
	const struct gus_units *u = &r->report->units;
	bool in_loop = insn->loop != GUS_GRAPH_NONE;
	json_t *o = json_object();

	json_object_set_new(o, "module", gus_json_text(a->module->path));
	json_object_set_new(o, "function", gus_json_text(a->row->function));
	json_object_set_new(o, "offset", integer(insn->offset));
	json_object_set_new(o, "address", integer(insn->address));
	json_object_set_new(o, "text", gus_json_text(insn->text));
	json_object_set_new(o, "label", gus_json_number(insn->label, insn->label));
	json_object_set_new(o, "target", gus_json_number(insn->jumps, insn->target));
	json_object_set_new(o, "to", gus_json_text(insn->to));
	json_object_set_new(o, "file", gus_json_text(line ? line->file : NULL));
	json_object_set_new(o, "line", gus_json_number(line, line ? line->line : 0));
	json_object_set_new(o, "source_function", gus_json_text(line ? line->function : NULL));
	json_object_set_new(o, "inlined", call_list(a, insn->calls, insn->calls_n));
	json_object_set_new(o, "time_ns",
			    gus_json_number(u->time.known, gus_scale_part(&u->time, times, insn->w.weight)));
	json_object_set_new(o, "cycles",
			    gus_json_number(u->cycles.known, gus_scale_part(&u->cycles, cycles, insn->w.weight)));
	set_weight(o, &insn->w);
	json_object_set_new(o, "loop", gus_json_number(in_loop, gus_annotate_loop(f, insn->loop)));
	json_object_set_new(o, "depth", integer(in_loop ? a->graph.loops.v[insn->loop].depth : 0));
	json_object_set_new(o, "hot", json_boolean(insn->hot));
	json_object_set_new(o, "aside", json_boolean(insn->aside));
	json_object_set_new(o, "branch", branch_object(gus_annotate_branch(r, f, insn)));
	json_object_set_new(o, "evidence", evidence_of(u));
	return o;
}

/* Counts of the self-test; null if there was none. */
static json_t *self_test(const struct gus_skid *skid)
{
	json_t *list = skid ? json_array() : json_null();

	for (unsigned s = 0; skid && s < GUS_SKID_SLOWS; s++) {
		const struct gus_skid_counts *c = &skid->counts[s];
		json_t *o = json_object(), *at = json_array();

		for (unsigned i = 0; i < GUS_SKID_NEAR; i++)
			json_array_append_new(at, gus_json_number(true, c->at[i]));
		json_object_set_new(o, "slow", gus_json_word(gus_skid_slow_name((enum gus_skid_slow)s)));
		json_object_set_new(o, "samples", gus_json_number(true, gus_skid_samples(c)));
		json_object_set_new(o, "at", at);
		json_object_set_new(o, "farther", gus_json_number(true, c->farther));
		json_object_set_new(o, "before", gus_json_number(true, c->before));
		json_array_append_new(list, o);
	}
	return list;
}

int gus_annotate_json(const struct gus_annotate *r)
{
	json_t *o = json_object(), *functions = json_array(), *rows = json_array();

	for (size_t i = 0; i < r->functions_n; i++) {
		const struct gus_annotated *f = &r->functions[i];
		uint64_t times = f->before, cycles = f->before;

		json_array_append_new(functions, function_object(r, f));
		for (size_t k = 0; k < f->annotation.insns.n; k++)
			json_array_append_new(rows, row_object(r, f, &f->annotation.insns.v[k], &times, &cycles));
	}
	json_object_set_new(o, "schema", json_string("gusprof.annotate/1"));
	json_object_set_new(o, "recording", gus_json_recording(r->report));
	json_object_set_new(o, "total", gus_json_total(r->report));
	json_object_set_new(o, "skid", gus_json_text(r->skid));
	json_object_set_new(o, "skid_test", self_test(r->self_test));
	json_object_set_new(o, "functions", functions);
	json_object_set_new(o, "rows", rows);
	return gus_json_print(o, stdout, true);
}
