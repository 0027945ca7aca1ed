/* SPDX-License-Identifier: MIT */
#include "cli/annotate/view.h"

const char *gus_annotate_source(const struct gus_annotate *r, const struct gus_annotated *f, uint32_t line)
{
	const struct gus_annotation_line *l = &f->annotation.lines.v[line];

	return r->sources ? gus_sources_line(r->sources, l->file, l->line, &f->origin) : NULL;
}

const struct gus_route_block *gus_annotate_branch(const struct gus_annotate *r, const struct gus_annotated *f,
						  const struct gus_annotation_insn *insn)
{
	const struct gus_route_block *b = NULL;

	if (r->routes)
		b = gus_routes_ending_at(r->routes, f->annotation.row->module, insn->offset);
	return b && (b->taken > 0 || b->class == GUS_INSN_BRANCH_COND) ? b : NULL;
}

uint32_t gus_annotate_loop(const struct gus_annotated *f, uint32_t loop)
{
	return loop == GUS_GRAPH_NONE ? 0 : f->loops_before + loop + 1;
}
