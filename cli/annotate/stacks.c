/* SPDX-License-Identifier: MIT */
#include "cli/annotate/stacks.h"

#include <stdlib.h>

#include "cli/annotate/view.h"
#include "cli/stacks/stacks.h"

struct place { uint64_t module, offset; };

static void take(void *context, const struct gus_stacks_view *v)
{
	struct gus_annotate_stacks *s = context;

	s->told = gus_strdup(v->clues->sight.told);
	s->explained = v->account->explained;
	s->all = v->account->weight;
	for (size_t i = 0; i < v->sums->rows.n; i++) {
		const struct gus_sum_row *row = &v->sums->rows.v[i];
		const struct place place = { gus_strings_add(&s->modules, row->module), row->offset };
		bool is_new;

		gus_index_add(&s->places, &place, &is_new);
		if (is_new)
			gus_vec_push(&s->rows, (struct gus_annotate_stack){ row->weight, row->bounds.low,
				     row->bounds.high, gus_stacks_parts(v, row) });
	}
}

int gus_annotate_stacks_make(struct gus_annotate_stacks *s, const struct gus_stacks_how *how, struct gus_error *err)
{
	struct gus_stacks_how own = *how;

	*s = (struct gus_annotate_stacks){ .told = NULL };
	gus_strings_init(&s->modules);
	gus_index_init(&s->places, sizeof(struct place));
	own.unit = GUS_SUM_INSTRUCTION;
	own.take = take;
	own.take_context = s;
	return gus_stacks_report(&own, err);
}

void gus_annotate_stacks_free(struct gus_annotate_stacks *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		free(s->rows.v[i].what);
	gus_vec_free(&s->rows);
	gus_index_free(&s->places);
	gus_strings_free(&s->modules);
	free(s->told);
}

const struct gus_annotate_stack *gus_annotate_stack_at(const struct gus_annotate_stacks *s, const char *module,
						       uint64_t offset)
{
	const struct place place = { gus_strings_find(&s->modules, module), offset };
	uint32_t number = gus_index_find(&s->places, &place);

	return number == GUS_INDEX_NONE ? NULL : &s->rows.v[number];
}

static void weigh(struct gus_weighed *w, uint64_t weight, uint64_t low, uint64_t high, uint64_t all)
{
	w->weight = weight;
	w->share = (double)weight / (double)all;
	w->ci95.low = (double)low / (double)all;
	w->ci95.high = high < all ? (double)high / (double)all : 1;
}

/* Of several instructions nothing is known of how their intervals go together. */
static void add(struct gus_weighed *w, uint64_t weight, uint64_t all)
{
	weigh(w, w->weight + weight, w->weight + weight, w->weight + weight, all);
}

void gus_annotate_stacks_weigh(const struct gus_annotate_stacks *s, struct gus_annotated *f)
{
	struct gus_annotation *a = &f->annotation;
	uint64_t all = 0;

	for (size_t i = 0; i < a->insns.n; i++) {
		const struct gus_annotate_stack *row = gus_annotate_stack_at(s, a->module->path, a->insns.v[i].offset);

		all += row ? row->weight : 0;
	}
	all += !all;
	for (size_t i = 0; i < a->lines.n; i++)
		weigh(&a->lines.v[i].w, 0, 0, 0, all);
	for (size_t i = 0; i < a->graph.loops.n; i++)
		weigh(&a->loops[i], 0, 0, 0, all);
	for (size_t i = 0; i < a->insns.n; i++) {
		struct gus_annotation_insn *insn = &a->insns.v[i];
		const struct gus_annotate_stack *row = gus_annotate_stack_at(s, a->module->path, insn->offset);

		weigh(&insn->w, row ? row->weight : 0, row ? row->low : 0, row ? row->high : 0, all);
		insn->hot = insn->w.share >= GUS_ANNOTATION_HOT;
		if (insn->line != GUS_ANNOTATION_NONE)
			add(&a->lines.v[insn->line].w, insn->w.weight, all);
		for (uint32_t l = insn->loop; l != GUS_GRAPH_NONE; l = a->graph.loops.v[l].outer)
			add(&a->loops[l], insn->w.weight, all);
	}
}
