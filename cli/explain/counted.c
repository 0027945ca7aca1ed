/* SPDX-License-Identifier: MIT */
#include "cli/explain/counted.h"

#include <math.h>

#include "attribution/profile/rows.h"
#include "base/path.h"
#include "cli/explain/measured.h"
#include "cli/explain/view.h"

void gus_explain_counted_add(struct gus_explain_view *v, const struct gus_view *view, uint32_t row)
{
	const struct gus_row *from = &view->rows.v[row];
	const char *module = from->module == GUS_INDEX_NONE ? "" :
		gus_space_module(v->counts->profile.space, from->module)->path;
	struct gus_explain_region r = { .function = from->function, .module = module, .samples = from->samples,
		.share = from->share, .modelled = NAN, .tree = gus_explain_counts_part(v->counts, row) };
	struct gus_causal_given given = { .measured = r.tree.readings ? &r.tree.nodes : NULL };

	r.name = gus_format("%s%s%s%s", r.function ? r.function : "[unknown]", *module ? "  [" : "",
			    gus_base_name(module), *module ? "]" : "");
	r.withheld = gus_strdup("nothing was modelled, so nobody knows what its nodes would gain");
	gus_causal_make(&r.verdict, &given);
	v->explained += r.share;
	gus_vec_push(&v->regions, r);
}
