/* SPDX-License-Identifier: MIT */
/* Stacks for programs: schema gusprof.stacks/1. Keys never vanish; what is not known is null. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attribution/accounts/account.h"
#include "cli/common/json.h"
#include "cli/stacks/kept.h"
#include "cli/stacks/stacks.h"
#include "symbolizer/insn/insn.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? gus_json_text(text) : json_null();
}

static json_t *recording(const struct gus_stacks_view *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "path", gus_json_text(v->how->input));
	json_object_set_new(o, "event", gus_json_text(v->event));
	json_object_set_new(o, "samples", integer(v->clues->samples));
	json_object_set_new(o, "skid", gus_json_text(v->clues->sight.told));
	return o;
}

static void set_place(json_t *o, const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	bool thread = v->how->unit == GUS_SUM_THREAD;
	const struct gus_clue_thread *t = thread ? &v->clues->threads.v[row->thread] : NULL;
	struct gus_insn insn;

	json_object_set_new(o, "module", thread ? json_null() : gus_json_text(row->module));
	json_object_set_new(o, "offset", thread || v->how->unit == GUS_SUM_MODULE ? json_null() :
			    gus_json_address(row->offset));
	json_object_set_new(o, "function", text_or_null(row->function));
	json_object_set_new(o, "loop", thread ? json_null() : json_boolean(row->loop));
	json_object_set_new(o, "file", text_or_null(row->file));
	json_object_set_new(o, "line", row->file ? integer(row->line) : json_null());
	insn.text[0] = '\0';
	if (v->how->unit == GUS_SUM_INSTRUCTION)
		gus_stacks_insn(v, row, &insn);
	json_object_set_new(o, "text", text_or_null(insn.text));
	json_object_set_new(o, "pid", t ? integer(t->pid) : json_null());
	json_object_set_new(o, "tid", t ? integer(t->tid) : json_null());
	json_object_set_new(o, "comm", t ? gus_json_text(t->comm) : json_null());
}

static json_t *interval(const struct gus_sum_bounds *b)
{
	json_t *pair = json_array();

	json_array_append_new(pair, integer(b->low));
	json_array_append_new(pair, integer(b->high));
	return pair;
}

/* Its parts, their evidence, their bounds, and what else is known of why. */
static void set_stack(json_t *o, const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	json_t *stack = json_object(), *evidence = json_object(), *bounds = json_object(), *causes = json_object();
	char key[GUS_COMPONENT_KEY_MAX];

	for (size_t i = 0; i < row->stack.n; i++) {
		gus_component_key(row->stack.v[i].what, key);
		json_object_set_new(stack, key, integer(row->stack.v[i].weight));
		json_object_set_new(evidence, key, gus_json_word(gus_evidence_name(row->stack.v[i].evidence)));
		json_object_set_new(bounds, key, interval(&row->parts.v[i]));
		if (gus_stacks_cause_of(v, row, &row->stack.v[i].what))
			json_object_set_new(causes, key, gus_json_word(gus_stacks_cause_of(v, row,
				&row->stack.v[i].what)));
	}
	json_object_set_new(o, "causes", causes);
	json_object_set_new(o, "stack", stack);
	json_object_set_new(o, "evidence", evidence);
	json_object_set_new(o, "stack_bounds", bounds);
}

static json_t *modelled(const struct gus_sum_row *row)
{
	json_t *o = row ? json_object() : json_null(), *stack = row ? json_object() : NULL;
	char key[GUS_COMPONENT_KEY_MAX];

	if (!row)
		return o;
	json_object_set_new(o, "weight", integer(row->weight));
	for (size_t i = 0; i < row->stack.n; i++) {
		gus_component_key(row->stack.v[i].what, key);
		json_object_set_new(stack, key, integer(row->stack.v[i].weight));
	}
	json_object_set_new(o, "stack", stack);
	return o;
}

static json_t *row_of(const struct gus_stacks_view *v, const struct gus_sum_row *row)
{
	json_t *o = json_object();

	set_place(o, v, row);
	json_object_set_new(o, "seen", integer(row->seen));
	json_object_set_new(o, "weight", integer(row->weight));
	json_object_set_new(o, "bounds", interval(&row->bounds));
	json_object_set_new(o, "fact", json_boolean(row->fact));
	json_object_set_new(o, "share", json_real(v->account->weight ? (double)row->weight /
						  (double)v->account->weight : 0));
	json_object_set_new(o, "weight_evidence", gus_json_word(gus_evidence_name(row->evidence)));
	set_stack(o, v, row);
	if (v->modelled)
		json_object_set_new(o, "model", modelled(gus_stacks_modelled(v, row)));
	return o;
}

static json_t *total(const struct gus_stacks_view *v)
{
	const struct gus_stacks_ran *w = v->ran && v->ran->windows ? v->ran : NULL;
	json_t *o = json_object();

	json_object_set_new(o, "weight", integer(v->account->weight));
	json_object_set_new(o, "explained", integer(v->account->explained));
	json_object_set_new(o, "retire_width", v->account->explained ? integer(v->account->solution.width) :
			    json_null());
	json_object_set_new(o, "windows", w ? integer(w->taken) : json_null());
	json_object_set_new(o, "windows_failed", w ? integer(w->failed) : json_null());
	json_object_set_new(o, "stretches", json_boolean(v->ran && v->ran->partly));
	json_object_set_new(o, "instructions_left_out", integer(v->ran ? v->ran->left_out : 0));
	json_object_set_new(o, "not_sampled", integer(v->clues->unsampled));
	json_object_set_new(o, "why_unexplained", text_or_null(v->why));
	json_object_set_new(o, "not_executed", integer(v->unexecuted));
	json_object_set_new(o, "kernel", integer(v->kernel));
	set_stack(o, v, v->all);
	return o;
}

int gus_stacks_json(const struct gus_stacks_view *v)
{
	json_t *o = json_object(), *rows = json_array();

	json_object_set_new(o, "schema", json_string("gusprof.stacks/1"));
	json_object_set_new(o, "recording", recording(v));
	json_object_set_new(o, "total", total(v));
	json_object_set_new(o, "by", gus_json_word(gus_sum_unit_name(v->how->unit)));
	for (size_t i = 0; i < v->sums->rows.n; i++)
		json_array_append_new(rows, row_of(v, &v->sums->rows.v[i]));
	json_object_set_new(o, "rows", rows);
	return gus_json_print(o, stdout, true);
}
