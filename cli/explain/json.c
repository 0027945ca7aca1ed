/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "cli/common/json.h"
#include "cli/explain/pathologies.h"
#include "cli/explain/quality.h"
#include "cli/explain/view.h"

/* Nodes of the tree by their names: their share of the slots; null where it is not known. */
static json_t *topdown_of(const struct gus_causal *v)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++)
		json_object_set_new(o, gus_nodes[i].name, v->nodes[i].known ? gus_json_real(v->nodes[i].share) :
				    json_null());
	return o;
}

/* Of a measured tree: by what, how sure each node is, and what the model's own has instead. */
static json_t *measured_of(const struct gus_explain_region *r)
{
	json_t *o = json_object(), *ci95 = json_object(), *bounds = json_object(), *cycles = json_array();
	json_t *modelled = json_object();

	for (unsigned i = 0; i < GUS_NODES_OF_TREE; i++) {
		const struct gus_causal_share *s = &r->tree.nodes.nodes[i];
		const char *name = gus_nodes[i].name;

		json_object_set_new(ci95, name, s->known && !s->bounded ? gus_json_pair(s->low, s->high) : json_null());
		json_object_set_new(bounds, name, s->bounded ? gus_json_pair(s->low, s->high) : json_null());
		json_object_set_new(modelled, name, r->verdict.gains ? gus_json_real(r->verdict.nodes[i].modelled) :
				    json_null());
		if (s->cycles)
			json_array_append_new(cycles, gus_json_text(name));
	}
	json_object_set_new(o, "cores", gus_json_text(r->tree.table->title));
	json_object_set_new(o, "pmu", gus_json_text(r->tree.pmu));
	json_object_set_new(o, "readings", json_integer((json_int_t)r->tree.readings));
	json_object_set_new(o, "ci95", ci95);
	json_object_set_new(o, "bounds", bounds);
	json_object_set_new(o, "of_cycles", cycles);
	json_object_set_new(o, "modelled", modelled);
	return o;
}

static json_t *disputes_of(const struct gus_causal_dispute *disputes, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "node", gus_json_text(gus_nodes[disputes[i].node].name));
		json_object_set_new(o, "modelled", gus_json_real(disputes[i].modelled));
		json_object_set_new(o, "measured", gus_json_pair(disputes[i].low, disputes[i].high));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *causal_of(const struct gus_causal *v)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < GUS_NODES; i++) {
		const struct gus_causal_node *n = &v->nodes[i];
		bool known = !gus_nodes[i].silent && v->gains;
		json_t *o = json_object();

		json_object_set_new(o, "node", gus_json_text(gus_nodes[i].name));
		json_object_set_new(o, "level", json_integer(gus_nodes[i].level));
		json_object_set_new(o, "promise", n->known ? gus_json_real(n->promise) : json_null());
		json_object_set_new(o, "speedup", known ? gus_json_real(n->speedup) : json_null());
		json_object_set_new(o, "speedup_twice", known ? gus_json_real(n->twice) : json_null());
		json_object_set_new(o, "ci95", known ? gus_json_pair(n->low, n->high) : json_null());
		json_object_set_new(o, "label", n->label ? gus_json_text(gus_label_name(n->label)) : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *insns_of(const struct gus_explain_region *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->insns_n; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "offset", json_integer((json_int_t)r->insns[i].offset));
		json_object_set_new(o, "text", gus_json_text(r->insns[i].text));
		json_object_set_new(o, "charged", gus_json_real(r->insns[i].charged));
		json_array_append_new(list, o);
	}
	return list;
}

/* Null where it is withheld; a cause of null: nothing is worth a change. */
static json_t *verdict_of(const struct gus_explain_region *r)
{
	const struct gus_causal *v = &r->verdict;
	json_t *o;

	if (r->withheld)
		return json_null();
	o = json_object();
	json_object_set_new(o, "cause", v->cause == GUS_NODE_NONE ? json_null() :
			    gus_json_text(gus_nodes[v->cause].name));
	json_object_set_new(o, "together", json_boolean(v->together));
	json_object_set_new(o, "instructions", insns_of(r));
	json_object_set_new(o, "speedup", v->cause == GUS_NODE_NONE ? json_null() :
			    gus_json_real(v->nodes[v->cause].speedup));
	json_object_set_new(o, "ci95", v->cause == GUS_NODE_NONE ? json_null() :
			    gus_json_pair(v->nodes[v->cause].low, v->nodes[v->cause].high));
	json_object_set_new(o, "next", v->cause == GUS_NODE_NONE || !gus_nodes[v->cause].next ? json_null() :
			    gus_json_text(gus_nodes[v->cause].next));
	return o;
}

static json_t *region_of(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", gus_json_text(r->name));
	json_object_set_new(o, "function", r->function ? gus_json_text(r->function) : json_null());
	json_object_set_new(o, "module", gus_json_text(r->module));
	json_object_set_new(o, "samples", json_integer((json_int_t)r->samples));
	json_object_set_new(o, "share", gus_json_real(r->share));
	json_object_set_new(o, "modelled_share", gus_json_real(r->modelled));
	json_object_set_new(o, "topdown", topdown_of(&r->verdict));
	json_object_set_new(o, "topdown_evidence", r->tree.readings ? json_string("measured") : v->model ?
			    json_string("modelled") : json_null());
	json_object_set_new(o, "topdown_measured", r->tree.readings ? measured_of(r) : json_null());
	json_object_set_new(o, "topdown_disputes", disputes_of(r->disputes, r->disputes_n));
	json_object_set_new(o, "causal", causal_of(&r->verdict));
	json_object_set_new(o, "verdict", verdict_of(r));
	json_object_set_new(o, "what_if", gus_explain_whatif_json(v->whatif, &r->answers));
	json_object_set_new(o, "pathologies", gus_explain_pathologies_json(r));
	json_object_set_new(o, "withheld", r->withheld ? gus_json_text(r->withheld) : json_null());
	json_object_set_new(o, "model_error", v->told > 0 ? gus_json_real(v->told) : json_null());
	json_object_set_new(o, "evidence", v->model ? json_string("modelled") : json_null());
	return o;
}

void gus_explain_json(const struct gus_explain_view *v)
{
	json_t *o = json_object(), *list = json_array();

	json_object_set_new(o, "schema", json_string("gusprof.explain/1"));
	json_object_set_new(o, "samples", json_integer((json_int_t)v->measured->coverage.samples));
	json_object_set_new(o, "covered", json_integer((json_int_t)v->measured->coverage.covered));
	json_object_set_new(o, "explained", gus_json_real(v->explained));
	json_object_set_new(o, "quality", gus_explain_facts_json(v->facts));
	json_object_set_new(o, "topdown_measured", gus_explain_counts_json(v->counts));
	json_object_set_new(o, "topdown_disputes", disputes_of(v->disputes, v->disputes_n));
	for (size_t i = 0; i < v->regions.n; i++)
		json_array_append_new(list, region_of(v, &v->regions.v[i]));
	json_object_set_new(o, "regions", list);
	gus_json_print(o, stdout, true);
}
