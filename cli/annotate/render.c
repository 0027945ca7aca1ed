/* SPDX-License-Identifier: MIT */
/* What the renderers of an annotation share. */
#include "cli/annotate/render.h"

#include <stdio.h>

const char *gus_annotate_source(const struct gus_annotate *r, const struct gus_annotated *f, uint32_t line)
{
	const struct gus_annotation_line *l = &f->annotation.lines.v[line];

	return r->sources ? gus_sources_line(r->sources, l->file, l->line, f->made) : NULL;
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

uint64_t gus_annotate_part(const struct gus_scale *scale, uint64_t *sum, uint64_t weight)
{
	uint64_t before = *sum;

	*sum += weight;
	return gus_scale_apply(scale, *sum) - gus_scale_apply(scale, before);
}

void gus_annotate_build_id(const struct gus_module *module, char out[130])
{
	out[0] = '\0';
	for (size_t i = 0; i < module->build_id_size && 2 * i + 2 < 130; i++)
		sprintf(out + 2 * i, "%02x", module->build_id[i]);
}
