/* SPDX-License-Identifier: MIT */
/* Trees of the top-down method as JSON. */
#include "attribution/topdown/recorded.h"
#include "cli/common/json.h"
#include "cli/slots/slots.h"

/* What parts leave over of a node, or of all; null if there are none. */
static json_t *sum(const struct gus_topdown_share *s)
{
	json_t *o;

	if (!s->parted)
		return json_null();
	o = json_object();
	json_object_set_new(o, "left", json_real(s->rest));
	json_object_set_new(o, "allowed", json_real(s->allowed));
	json_object_set_new(o, "adds_up", json_boolean(gus_topdown_adds_up(s)));
	return o;
}

static void add_node(void *context, const struct gus_topdown *t, const struct gus_topdown_tree *tree, size_t i,
		     unsigned depth)
{
	static const char *const units[] = { [GUS_TOPDOWN_SLOTS] = "slots", [GUS_TOPDOWN_CYCLES] = "cycles" };
	const struct gus_topdown_node *node = &t->nodes.v[i];
	const struct gus_topdown_share *s = &tree->shares[i];
	json_t *o = json_object();

	(void)depth;
	json_object_set_new(o, "name", gus_json_text(node->name));
	json_object_set_new(o, "parent", node->parent == GUS_TOPDOWN_ROOT ? json_null() :
			    gus_json_text(t->nodes.v[node->parent].name));
	json_object_set_new(o, "level", json_integer(node->level));
	json_object_set_new(o, "unit", gus_json_word(units[node->unit]));
	json_object_set_new(o, "share", json_real(s->value));
	json_object_set_new(o, "evidence", json_string("inferred"));
	json_object_set_new(o, "running", json_real(s->seen));
	json_object_set_new(o, "ci95", s->sureness == GUS_TOPDOWN_SERIES || s->sureness == GUS_TOPDOWN_DRAWN ?
			    gus_json_pair(s->low, s->high) : json_null());
	json_object_set_new(o, "bounds", s->sureness == GUS_TOPDOWN_BOUND ? gus_json_pair(s->low, s->high) :
			    json_null());
	json_object_set_new(o, "correction", node->correction_why && !s->uncorrected ?
			    json_real(s->corrected) : json_null());
	json_object_set_new(o, "set_to_0", s->floored > 0 ? json_real(-s->floored) : json_null());
	json_object_set_new(o, "above", json_boolean(s->above));
	json_object_set_new(o, "sum", sum(s));
	json_object_set_new(o, "source", gus_json_text(node->source));
	json_array_append_new(context, o);
}

json_t *gus_slots_json(const struct gus_topdown *t, const struct gus_topdown_tree *tree)
{
	json_t *o = json_object(), *nodes = json_array();

	gus_slots_walk(t, tree, add_node, nodes);
	json_object_set_new(o, "table", gus_json_text(t->name));
	json_object_set_new(o, "cores", gus_json_text(t->title));
	json_object_set_new(o, "pmu", gus_json_text(t->pmu));
	json_object_set_new(o, "level", json_integer(tree->level));
	json_object_set_new(o, "counted_slots", tree->slots >= 0 ? json_real(tree->slots) : json_null());
	json_object_set_new(o, "counted_ns", json_integer((json_int_t)tree->time_ns));
	json_object_set_new(o, "slots", sum(&tree->roots[GUS_TOPDOWN_SLOTS]));
	json_object_set_new(o, "cycles", sum(&tree->roots[GUS_TOPDOWN_CYCLES]));
	json_object_set_new(o, "nodes", nodes);
	return o;
}

json_t *gus_slots_recorded_json(const struct gus_topdown_recorded *r)
{
	json_t *list = json_array();

	for (size_t i = 0; r && i < r->kinds.n; i++) {
		struct gus_topdown_tree tree;

		if (!r->kinds.v[i].table || !r->readings.n)
			continue;
		gus_topdown_recorded_tree(r, &r->kinds.v[i], &tree);
		json_array_append_new(list, gus_slots_json(r->kinds.v[i].table, &tree));
		gus_topdown_tree_free(&tree);
	}
	if (json_array_size(list))
		return list;
	json_decref(list);
	return json_null();
}
