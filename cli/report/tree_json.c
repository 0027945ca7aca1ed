/* SPDX-License-Identifier: MIT */
#include "cli/report/tree_json.h"

#include "attribution/profile/calls.h"
#include "cli/common/json.h"
#include "cli/report/trees.h"
#include "cli/report/view.h"

static json_t *left_out(const struct gus_tree_node *n)
{
	json_t *o = json_object();

	json_object_set_new(o, "nodes", json_integer((json_int_t)n->left_out));
	json_object_set_new(o, "samples", json_integer((json_int_t)n->left_out_samples));
	json_object_set_new(o, "weight", json_integer((json_int_t)n->left_out_weight));
	return o;
}

static json_t *node(const struct gus_report *r, const struct gus_tree_node *n)
{
	const struct gus_callee *f = &r->calls->callees.v[n->callee];
	const struct gus_module *module = NULL;
	json_t *o = json_object();

	if (f->module != GUS_INDEX_NONE)
		module = gus_space_module(r->profile->space, f->module);
	json_object_set_new(o, "depth", json_integer((json_int_t)n->depth));
	json_object_set_new(o, "kind", gus_json_word(gus_trees_kind(f)));
	json_object_set_new(o, "module", gus_json_text(module ? module->path : NULL));
	json_object_set_new(o, "function", gus_json_text(f->function));
	json_object_set_new(o, "inlined", json_boolean(f->inlined));
	json_object_set_new(o, "samples", json_integer((json_int_t)n->samples));
	json_object_set_new(o, "weight", json_integer((json_int_t)n->weight));
	json_object_set_new(o, "own_samples", json_integer((json_int_t)n->own_samples));
	json_object_set_new(o, "own", json_integer((json_int_t)n->own));
	json_object_set_new(o, "omitted", left_out(n));
	return o;
}

json_t *gus_trees_json(const struct gus_report *r, const struct gus_tree *tree)
{
	json_t *list = json_array();

	for (size_t i = 0; i < tree->nodes.n; i++)
		json_array_append_new(list, node(r, &tree->nodes.v[i]));
	return list;
}

json_t *gus_trees_json_row(const struct gus_report *r, size_t row)
{
	struct gus_tree tree;
	json_t *list;

	gus_trees_row(r->trees, row, &tree);
	list = gus_trees_json(r, &tree);
	gus_tree_free(&tree);
	return list;
}
