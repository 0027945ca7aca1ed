/* SPDX-License-Identifier: MIT */
/* Differences for programs: schema gusprof.diff/1. Keys never vanish; what is not known is null. */
#include "cli/common/json.h"
#include "cli/diff/diff.h"

static json_t *value(const struct gus_difference_value *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "value", json_real(v->value));
	json_object_set_new(o, "ci95", gus_json_pair(v->low, v->high));
	return o;
}

static void set_values(json_t *o, const struct gus_difference_value *a, const struct gus_difference_value *b,
		       const struct gus_difference_value *change)
{
	json_object_set_new(o, "before", value(a));
	json_object_set_new(o, "after", value(b));
	json_object_set_new(o, "change", value(change));
}

static json_t *row_of(const struct gus_difference_row *row)
{
	json_t *o = json_object(), *stack = json_object();
	const struct gus_difference_item *item = row->of[1] ? row->of[1] : row->of[0];
	char key[GUS_COMPONENT_KEY_MAX];

	json_object_set_new(o, "name", gus_json_word(item ? item->name : NULL));
	json_object_set_new(o, "function", gus_json_word(item ? item->function : NULL));
	set_values(o, &row->a, &row->b, &row->change);
	json_object_set_new(o, "sure", json_boolean(row->sure));
	for (size_t i = 0; i < row->parts.n; i++) {
		json_t *part = json_object();

		gus_component_key(row->parts.v[i].what, key);
		set_values(part, &row->parts.v[i].a, &row->parts.v[i].b, &row->parts.v[i].change);
		json_object_set_new(stack, key, part);
	}
	json_object_set_new(o, "stack", stack);
	return o;
}

/* which: 0 before, 1 after. */
static json_t *side_of(const struct gus_diff_view *v, const struct gus_diff_side *side, size_t which)
{
	json_t *o = json_object(), *paths = json_array();

	json_object_set_new(o, "path", gus_json_word(side->input));
	for (size_t i = 0; i < v->pairs; i++)
		json_array_append_new(paths, gus_json_word(v->inputs[2 * i + which]));
	json_object_set_new(o, "paths", paths);
	json_object_set_new(o, "program", gus_json_word(side->program));
	json_object_set_new(o, "event", gus_json_word(side->event));
	json_object_set_new(o, "unit", gus_json_word(side->ns ? "ns" : NULL));
	json_object_set_new(o, "samples", gus_json_number(true, side->samples));
	return o;
}

int gus_diff_json(const struct gus_diff_view *v)
{
	json_t *o = json_object(), *rows = json_array();

	json_object_set_new(o, "schema", json_string("gusprof.diff/1"));
	json_object_set_new(o, "before", side_of(v, v->a, 0));
	json_object_set_new(o, "after", side_of(v, v->b, 1));
	json_object_set_new(o, "by", gus_json_word(gus_sum_unit_name(v->unit)));
	json_object_set_new(o, "normalised", gus_json_word(v->normalised));
	json_object_set_new(o, "total", row_of(&v->differences->total));
	for (size_t i = 0; i < v->differences->rows.n; i++)
		json_array_append_new(rows, row_of(&v->differences->rows.v[i]));
	json_object_set_new(o, "rows", rows);
	return gus_json_print(o, stdout, true);
}
