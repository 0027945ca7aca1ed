/* SPDX-License-Identifier: MIT */
#include "cli/explain/pathologies.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "cli/common/json.h"
#include "cli/common/print.h"
#include "cli/explain/gain.h"
#include "cli/screen/screen.h"

/* "function+0x12 insn"; "" of what is of all of the region. */
static char *where_of(const struct gus_explain_region *r, const struct gus_pathology_found *p)
{
	if (!p->placed)
		return gus_strdup("");
	return gus_format("%s+0x%" PRIx64 " %s", r->function ? r->function : "[unknown]", p->offset, p->insn);
}

/* What samples say by themselves holds where the model is not believed. */
static bool is_told(const struct gus_explain_region *r, const struct gus_pathology_found *p)
{
	return !r->withheld || p->kind == GUS_PATHOLOGY_FALSE_SHARING || p->kind == GUS_PATHOLOGY_RUNTIME ||
		p->kind == GUS_PATHOLOGY_IMBALANCE;
}

void gus_explain_pathologies_text(const struct gus_explain_view *v, const struct gus_explain_region *r)
{
	bool first = true;

	for (size_t i = 0; i < r->pathologies.n; i++) {
		const struct gus_pathology_found *p = &r->pathologies.v[i];
		char *where, *text, cost[GUS_EXPLAIN_GAIN_TEXT];

		if (!is_told(r, p))
			continue;
		where = where_of(r, p);
		gus_explain_gain_text(cost, 0, p->cost, p->low, p->high);
		text = gus_format("%s%s%s, %s: %s", gus_pathology_kinds[p->kind].name, *where ? " at " : "", where,
				  cost, p->advice);
		if (p->worth)
			gus_screen_fold(v->screen, stdout, first ? "  do        " : "            ",
					"              ", text);
		first &= !p->worth;
		free(text);
		free(where);
	}
}

static json_t *one_of(const struct gus_explain_region *r, const struct gus_pathology_found *p)
{
	json_t *o = json_object();
	char *where = where_of(r, p);

	json_object_set_new(o, "label", gus_json_text(gus_pathology_kinds[p->kind].name));
	json_object_set_new(o, "where", p->placed ? gus_json_text(where) : json_null());
	json_object_set_new(o, "cost", gus_json_real(p->cost));
	json_object_set_new(o, "ci95", gus_json_pair(p->low, p->high));
	json_object_set_new(o, "worth", json_boolean(p->worth));
	json_object_set_new(o, "stop", p->worth ? json_null() : gus_json_text(p->stop));
	json_object_set_new(o, "do", gus_json_text(p->advice));
	free(where);
	return o;
}

json_t *gus_explain_pathologies_json(const struct gus_explain_region *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->pathologies.n; i++)
		if (is_told(r, &r->pathologies.v[i]))
			json_array_append_new(list, one_of(r, &r->pathologies.v[i]));
	return list;
}

void gus_explain_pathologies_list(void)
{
	for (unsigned i = 0; i < GUS_PATHOLOGIES; i++) {
		const struct gus_pathology_kind *k = &gus_pathology_kinds[i];

		gus_print("%s: %s\n", k->name, k->what);
		if (k->cost)
			gus_print("  cost: %s\n  test: %s\n  cure: %s\n", k->cost, k->test, k->cure);
		else
			gus_print("  not detectable here: %s\n  cure: %s\n", k->test, k->cure);
	}
	gus_print("# what costs less than %.0f %% is not worth a change, whatever it is\n", 100 * GUS_CAUSAL_WORTH);
}
