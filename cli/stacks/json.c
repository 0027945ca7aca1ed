/* SPDX-License-Identifier: MIT */
/* Stacks for programs: schema gusprof.stacks/1. Keys never vanish; what is not known is null. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attribution/accounts/account.h"
#include "attribution/profile/profile.h"
#include "cli/common/json.h"
#include "cli/stacks/stacks.h"

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *recording(const struct gus_stacks_view *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "path", gus_json_text(v->how->input));
	json_object_set_new(o, "event", gus_json_text(v->event));
	json_object_set_new(o, "samples", integer(v->profile->samples));
	json_object_set_new(o, "skid", gus_json_text(v->sight));
	return o;
}

static json_t *total(const struct gus_stacks_view *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "weight", integer(v->account->weight));
	json_object_set_new(o, "explained", integer(v->account->explained));
	json_object_set_new(o, "not_sampled", integer(v->profile->unsampled));
	return o;
}

static json_t *row_of(const struct gus_stacks_view *v, const struct gus_account_row *row)
{
	json_t *o = json_object(), *stack = json_object(), *evidence = json_object();
	char key[GUS_COMPONENT_KEY_MAX];
	struct gus_stacks_name name;

	gus_stacks_name(v, row, &name);
	json_object_set_new(o, "module", gus_json_text(row->module));
	json_object_set_new(o, "offset", integer(row->offset));
	json_object_set_new(o, "function", name.function ? gus_json_text(name.function) : json_null());
	json_object_set_new(o, "text", *name.text ? gus_json_text(name.text) : json_null());
	json_object_set_new(o, "seen", integer(row->seen));
	json_object_set_new(o, "weight", integer(row->weight));
	json_object_set_new(o, "share", json_real(v->account->weight ? (double)row->weight /
						  (double)v->account->weight : 0));
	json_object_set_new(o, "weight_evidence", gus_json_word(gus_evidence_name(row->evidence)));
	for (size_t i = 0; i < row->stack.n; i++) {
		gus_component_key(row->stack.v[i].what, key);
		json_object_set_new(stack, key, integer(row->stack.v[i].weight));
		json_object_set_new(evidence, key, gus_json_word(gus_evidence_name(row->stack.v[i].evidence)));
	}
	json_object_set_new(o, "stack", stack);
	json_object_set_new(o, "evidence", evidence);
	return o;
}

int gus_stacks_json(const struct gus_stacks_view *v)
{
	json_t *o = json_object(), *rows = json_array();

	json_object_set_new(o, "schema", json_string("gusprof.stacks/1"));
	json_object_set_new(o, "recording", recording(v));
	json_object_set_new(o, "total", total(v));
	for (size_t i = 0; i < v->account->rows.n; i++)
		json_array_append_new(rows, row_of(v, &v->account->rows.v[i]));
	json_object_set_new(o, "rows", rows);
	return gus_json_print(o, stdout, true);
}
