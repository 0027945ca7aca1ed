/* SPDX-License-Identifier: MIT */
/* What was measured and what was modelled as JSON. A region's object, schema gusprof.compare/1, says all by itself: the
 * machine, the table and the program stand in each, so that those of many machines can be thrown together. Keys never
 * vanish; what is not known is null. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/compared/variants.h"
#include "attribution/traced/lines.h"
#include "attribution/traced/regions.h"
#include "cli/common/calibrated.h"
#include "cli/common/json.h"
#include "cli/compare/view.h"
#include "cli/compare/words.h"
#include "cli/model/expected.h"
#include "model/analysis/sensitivity.h"
#include "model/tables/uarch.h"
#include "symbolizer/insn/loops.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *number(bool known, double value)
{
	return known ? gus_json_real(value) : json_null();
}

static json_t *host(const struct gus_compare_view *v)
{
	const Gusprof__Host *h = v->measured->host;
	json_t *o = json_object();

	if (!h) {
		json_decref(o);
		return json_null();
	}
	json_object_set_new(o, "machine", gus_json_text(h->machine));
	json_object_set_new(o, "cpu_vendor", gus_json_text(h->cpu_vendor));
	json_object_set_new(o, "cpu", gus_json_text(h->cpu_model));
	json_object_set_new(o, "family", integer(h->cpu_family));
	json_object_set_new(o, "model", integer(h->cpu_model_number));
	json_object_set_new(o, "stepping", integer(h->cpu_stepping));
	json_object_set_new(o, "midr", h->midr ? integer(h->midr) : json_null());
	json_object_set_new(o, "microcode", gus_json_text(h->microcode));
	json_object_set_new(o, "kernel", gus_json_text(h->kernel));
	json_object_set_new(o, "hypervisor", gus_json_text(h->hypervisor));
	json_object_set_new(o, "cpus", integer(h->cpus_online));
	return o;
}

static json_t *words(const char *const *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, gus_json_word(v[i]));
	return list;
}

static json_t *table(const struct gus_compare_view *v)
{
	const struct gus_uarch *u = v->model->model->uarch;
	json_t *o = json_object();

	json_object_set_new(o, "name", gus_json_word(u->name));
	json_object_set_new(o, "title", gus_json_text(u->title));
	json_object_set_new(o, "files", words(u->files, u->files_n));
	json_object_set_new(o, "like", words(u->likes, u->likes_n));
	json_object_set_new(o, "calibration", gus_calibrated_json(u));
	json_object_set_new(o, "of_the_host", json_boolean(!v->other_cpu));
	json_object_set_new(o, "engine", json_string(v->core ? "core" : "stream"));
	return o;
}

static json_t *program(const struct gus_compare_view *v)
{
	const struct gus_model_view *m = v->model;
	bool process = !m->command && m->windows && m->windows->process->pid;
	json_t *o = json_object();

	json_object_set_new(o, "command", m->command ? words(m->command, m->command_n) : json_null());
	json_object_set_new(o, "pid", process ? json_integer(m->windows->process->pid) : json_null());
	json_object_set_new(o, "input", gus_json_text(m->input));
	return o;
}

static json_t *pair(const struct gus_interval *i)
{
	return isfinite(i->high) ? gus_json_pair(i->low, i->high) : json_null();
}

static json_t *measured(const struct gus_compare_view *v, const struct gus_compared_row *r)
{
	const struct gus_measured *m = v->measured;
	bool absolute = v->compared->basis != GUS_COMPARED_SHARES;
	double weight = r->share.value * (double)m->coverage.covered_weight / m->runs;
	json_t *o = json_object();

	json_object_set_new(o, "samples", integer(r->samples));
	json_object_set_new(o, "runs", json_integer(m->runs));
	json_object_set_new(o, "event", gus_json_text(m->event));
	json_object_set_new(o, "share", json_real(r->share.value));
	json_object_set_new(o, "share_interval", pair(&r->share.ci));
	json_object_set_new(o, "ns", number(m->time.known, weight * m->time.factor));
	json_object_set_new(o, "cycles", number(absolute, r->measured.value));
	json_object_set_new(o, "cycles_interval", absolute ? pair(&r->measured.ci) : json_null());
	json_object_set_new(o, "cycles_per_instruction",
			    number(absolute && r->instructions, r->measured.value / (double)r->instructions));
	json_object_set_new(o, "ghz", m->cycles.evidence == GUS_INFERRED ? gus_json_pair(m->clock.low, m->clock.high) :
			    json_null());
	json_object_set_new(o, "sampling_taken_off", json_real(m->cost));
	json_object_set_new(o, "core_looks", json_integer(v->compared->looks.n));
	json_object_set_new(o, "core_shared", json_integer(v->compared->looks.beside));
	json_object_set_new(o, "evidence", gus_json_word(gus_evidence_name(v->compared->evidence)));
	return o;
}

static json_t *modelled(const struct gus_compare_view *v, const struct gus_compared_row *r)
{
	const struct gus_model_expectation *x = v->model->model->expectation;
	json_t *o = json_object();

	json_object_set_new(o, "cycles", json_real(r->modelled));
	json_object_set_new(o, "cycles_error", number(true, r->error));
	json_object_set_new(o, "share", json_real(r->modelled_share));
	json_object_set_new(o, "instructions", integer(r->instructions));
	json_object_set_new(o, "cycles_per_instruction",
			    number(r->instructions, r->modelled / (double)r->instructions));
	json_object_set_new(o, "caches", json_string(v->model->model->warm ? "warm" : "cold"));
	json_object_set_new(o, "expected_error", gus_model_expected_json(x, "all"));
	json_object_set_new(o, "not_judged", gus_json_word(gus_model_not_judged(x, "all")));
	json_object_set_new(o, "evidence", gus_json_word(gus_evidence_name(GUS_MODELLED)));
	return o;
}

/* Shares of the whole have none. */
static json_t *ratio(const struct gus_compare_view *v, const struct gus_compared_row *r)
{
	bool there = r->modelled > 0 && gus_figure_tells(&r->ratio) &&
		(v->compared->basis != GUS_COMPARED_SHARES || r->region != GUS_TRACED_NONE);
	json_t *o = json_object();

	json_object_set_new(o, "value", number(there, r->ratio.value));
	json_object_set_new(o, "interval", there ? pair(&r->ratio.ci) : json_null());
	json_object_set_new(o, "evidence", gus_json_word(gus_evidence_name(GUS_MODELLED)));
	return o;
}

static json_t *knob(const struct gus_compare_view *v, int number_of, double factor)
{
	json_t *o = json_object();

	json_object_set_new(o, "knob", gus_json_word(v->model->traced->knobs[number_of].name));
	json_object_set_new(o, "is_time", json_boolean(gus_compare_knob_is_time(v, number_of)));
	json_object_set_new(o, "times", json_real(gus_compare_knob_is_time(v, number_of) ? 1 / factor : factor));
	return o;
}

static json_t *weak(const struct gus_compared_weak *w)
{
	json_t *o = json_object();

	json_object_set_new(o, "instructions_without_row", json_real(w->unknown));
	json_object_set_new(o, "cycles_of_first_touches", json_real(w->first));
	json_object_set_new(o, "accesses_beyond_l2", json_real(w->beyond));
	json_object_set_new(o, "mispredicted_per_1000", json_real(w->mispredicted));
	return o;
}

static json_t *explanation(struct gus_compare_reasons *reasons)
{
	json_t *list = words((const char *const *)reasons->v, reasons->n);

	gus_compare_reasons_free(reasons);
	return list;
}

static json_t *listing(const struct gus_compare_view *v, const struct gus_compared_row *r)
{
	struct gus_traced_lines lines = { 0 };
	json_t *list = json_array();

	gus_traced_lines_find(v->model->traced, r->region, v->measured->coverage.by_insn, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		const struct gus_traced_line *l = &lines.v[i];
		json_t *o = json_object();

		json_object_set_new(o, "address", integer(l->address));
		json_object_set_new(o, "text", gus_json_text(l->text));
		json_object_set_new(o, "executed", integer(l->executed));
		json_object_set_new(o, "samples", integer(l->samples));
		json_object_set_new(o, "fused", json_boolean(l->fused));
		json_object_set_new(o, "cycles", number(!l->fused, l->own));
		json_array_append_new(list, o);
	}
	gus_vec_free(&lines);
	return list;
}

static json_t *build_id(const struct gus_module *module)
{
	char text[2 * 64 + 1] = "";

	for (size_t i = 0; i < module->build_id_size && i < 64; i++)
		snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
	return gus_json_text(text);
}

/* What a figure is about: the whole, or a region of it. */
static void set_place(json_t *o, const struct gus_compare_view *v, const struct gus_compared_row *r)
{
	const struct gus_traced *t = v->model->traced;
	const struct gus_traced_region *region = r->region == GUS_TRACED_NONE ? NULL : &t->regions.v[r->region];
	const struct gus_traced_function *f = region ? &t->functions.v[region->function] : NULL;
	bool loop = region && region->loop != GUS_TRACED_NONE;

	json_object_set_new(o, "function", f ? gus_json_text(f->name) : json_null());
	json_object_set_new(o, "module", f ? gus_json_text(f->module) : json_null());
	json_object_set_new(o, "build_id", f ? build_id(&f->of) : json_null());
	json_object_set_new(o, "offset", f && f->name ? integer(f->start) : json_null());
	json_object_set_new(o, "loop", loop ? integer(f->graph->insns.v[f->graph->loops.v[region->loop].head].offset) :
			    json_null());
}

static json_t *row(const struct gus_compare_view *v, const struct gus_compared_row *r, bool listed)
{
	struct gus_compare_reasons reasons = { 0 };
	json_t *o = json_object(), *knobs = json_array();
	bool region = r->region != GUS_TRACED_NONE;

	for (size_t i = 0; i < r->knobs_n; i++)
		json_array_append_new(knobs, knob(v, r->knobs[i].knob, r->knobs[i].factor));
	if (region)
		gus_compare_reasons_of(v, r, &reasons);
	else
		gus_compare_reasons_common(v, &reasons);
	json_object_set_new(o, "schema", json_string("gusprof.compare/1"));
	json_object_set_new(o, "host", host(v));
	json_object_set_new(o, "table", table(v));
	json_object_set_new(o, "program", program(v));
	set_place(o, v, r);
	json_object_set_new(o, "basis", gus_json_word(gus_compared_basis_name(v->compared->basis)));
	json_object_set_new(o, "measured", measured(v, r));
	json_object_set_new(o, "modelled", modelled(v, r));
	json_object_set_new(o, "ratio", ratio(v, r));
	json_object_set_new(o, "verdict", gus_json_word(gus_trust_name(r->verdict)));
	json_object_set_new(o, "function_ratio", number(region && gus_figure_tells(&r->function_ratio),
								 r->function_ratio.value));
	json_object_set_new(o, "function_verdict", region ? gus_json_word(gus_trust_name(r->function_verdict)) :
			    json_null());
	json_object_set_new(o, "explanation", explanation(&reasons));
	json_object_set_new(o, "knobs", knobs);
	json_object_set_new(o, "weak", weak(&r->weak));
	json_object_set_new(o, "instructions", listed ? listing(v, r) : json_null());
	return o;
}

static json_t *forms(const struct gus_compare_view *v)
{
	const struct gus_residuals_fit *f = &v->compared->forms;
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < f->n; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "form", gus_json_text(gus_compare_form(v, f->form[i])));
		json_object_set_new(one, "cycles_each", json_real(f->cycles[i]));
		json_array_append_new(list, one);
	}
	json_object_set_new(o, "forms", list);
	json_object_set_new(o, "explained", number(f->n, f->explained));
	json_object_set_new(o, "predicted", number(f->n, f->predicted));
	return o;
}

static json_t *common(const struct gus_compare_view *v)
{
	const struct gus_compared_common *c = &v->compared->common;
	json_t *o = json_object();

	json_object_set_new(o, "regions", integer(v->compared->common_of));
	json_object_set_new(o, "knob", c->knob >= 0 ? knob(v, c->knob, c->factor) : json_null());
	json_object_set_new(o, "explained", number(c->knob >= 0, c->explained));
	json_object_set_new(o, "forms", forms(v));
	return o;
}

static json_t *coverage(const struct gus_compare_view *v)
{
	const struct gus_coverage *c = &v->measured->coverage;
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < c->elsewhere_n; i++) {
		uint32_t other = gus_libvariant_modelled(v->model->traced, c, i);
		json_t *one = json_object();

		json_object_set_new(one, "function", gus_json_text(c->elsewhere[i].name));
		json_object_set_new(one, "samples", integer(c->elsewhere[i].samples));
		json_object_set_new(one, "in_place_of", other == GUS_TRACED_NONE ? json_null() :
				    gus_json_text(v->model->traced->functions.v[other].name));
		json_array_append_new(list, one);
	}
	json_object_set_new(o, "samples", integer(c->samples));
	json_object_set_new(o, "covered", integer(c->covered));
	json_object_set_new(o, "kernel", integer(c->kernel));
	json_object_set_new(o, "elsewhere", list);
	return o;
}

static json_t *time_by_verdict(const struct gus_compare_view *v)
{
	json_t *o = json_object();

	for (int i = 0; i < GUS_TRUSTS; i++)
		json_object_set_new(o, gus_trust_name((enum gus_trust)i), json_real(v->compared->time[i]));
	return o;
}

void gus_compare_json(const struct gus_compare_view *v)
{
	json_t *o = json_object(), *list = json_array();

	for (size_t i = 0; i < v->compared->rows.n && (!v->rows || i < v->rows); i++)
		json_array_append_new(list, row(v, &v->compared->rows.v[i], i < v->listings));
	json_object_set_new(o, "schema", json_string("gusprof.compared/1"));
	json_object_set_new(o, "part", json_boolean(v->model->part));
	json_object_set_new(o, "coverage", coverage(v));
	json_object_set_new(o, "elsewhere_than_modelled", json_real(v->compared->distance));
	json_object_set_new(o, "time", time_by_verdict(v));
	json_object_set_new(o, "common", common(v));
	json_object_set_new(o, "whole", row(v, &v->compared->whole, false));
	json_object_set_new(o, "regions", list);
	gus_json_print(o, stdout, true);
}
