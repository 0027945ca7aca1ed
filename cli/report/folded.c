/* SPDX-License-Identifier: MIT */
#include "cli/report/folded.h"

#include <stdlib.h>
#include <string.h>

#include "attribution/profile/calls.h"
#include "attribution/profile/profile.h"
#include "base/limits.h"
#include "base/path.h"
#include "cli/common/lines.h"

#define FLUSH_BYTES (64u << 10)

void gus_folded_init(struct gus_folded *f)
{
	*f = (struct gus_folded){ 0 };
	gus_strings_init(&f->stacks);
}

void gus_folded_free(struct gus_folded *f)
{
	gus_strings_free(&f->stacks);
	gus_vec_free(&f->weights);
}

void gus_folded_add(struct gus_folded *f, const struct gus_lines *stack, uint64_t weight)
{
	uint32_t number = gus_strings_add_n(&f->stacks, stack->v, stack->n);

	while (f->weights.n <= number)
		gus_vec_push(&f->weights, 0);
	f->weights.v[number] = gus_saturated(f->weights.v[number], weight);
}

static int by_bytes(const void *a, const void *b, void *context)
{
	const struct gus_strings *stacks = context;

	return strcmp(gus_strings_get(stacks, *(const uint32_t *)a), gus_strings_get(stacks, *(const uint32_t *)b));
}

void gus_folded_print(const struct gus_folded *f)
{
	struct gus_vec(uint32_t) order = { 0 };
	struct gus_lines lines = { 0 };

	for (uint32_t i = 0; i < f->weights.n; i++)
		if (f->weights.v[i])
			gus_vec_push(&order, i);
	if (order.n)
		qsort_r(order.v, order.n, sizeof(*order.v), by_bytes, (void *)(uintptr_t)&f->stacks);
	for (size_t i = 0; i < order.n; i++) {
		struct gus_string_ text = f->stacks.list[order.v[i]];

		gus_lines_bytes(&lines, text.text, text.length);
		gus_lines_word(&lines, " ");
		gus_lines_number(&lines, f->weights.v[order.v[i]], 0, ' ');
		gus_lines_word(&lines, "\n");
		if (lines.n >= FLUSH_BYTES)
			gus_lines_flush(&lines);
	}
	gus_lines_flush(&lines);
	gus_vec_free(&order);
	gus_vec_free(&lines);
}

/* Of what was written from there on. */
static void no_semicolons(struct gus_lines *l, size_t from)
{
	for (; from < l->n; from++)
		if (l->v[from] == ';')
			l->v[from] = ':';
}

void gus_folded_comm(struct gus_lines *l, const char *comm, uint32_t tid)
{
	size_t from = l->n;

	if (*comm) {
		gus_lines_text(l, comm, 0);
	} else {
		gus_lines_word(l, ":");
		gus_lines_number(l, tid, 0, ' ');
	}
	no_semicolons(l, from);
}

void gus_folded_function(struct gus_lines *l, const struct gus_module *module, const char *function, bool inlined)
{
	const char *base = gus_base_name(module->path);
	bool bare = function || *base == '['; /* "[heap]" is named so already */
	size_t from = l->n;

	gus_lines_word(l, bare ? "" : "[");
	gus_lines_text(l, function ? function : base, 0);
	gus_lines_word(l, bare ? "" : "]");
	if (inlined)
		gus_lines_word(l, "_[i]");
	else if (function && module->kind == GUS_MODULE_KERNEL)
		gus_lines_word(l, "_[k]");
	no_semicolons(l, from);
}

/* All of a profile. */

struct folding {
	const struct gus_calls *calls;
	struct gus_folded folded;
	struct gus_strings texts;
	struct gus_vec(uint32_t) text_of; /* by callee, of texts */
	struct gus_vec(uint32_t) stack;   /* callees, the innermost first */
};

static void name_callees(struct folding *f)
{
	struct gus_lines l = { 0 };

	for (size_t i = 0; i < f->calls->callees.n; i++) {
		const struct gus_callee *c = &f->calls->callees.v[i];

		l.n = 0;
		if (c->module == GUS_INDEX_NONE)
			gus_lines_word(&l, GUS_FOLDED_TRUNCATED);
		else
			gus_folded_function(&l, gus_space_module(f->calls->profile->space, c->module), c->function,
					    c->inlined);
		gus_vec_push(&f->text_of, gus_strings_add_n(&f->texts, l.v, l.n));
	}
	gus_vec_free(&l);
}

static void fold_cell(struct folding *f, struct gus_lines *l, size_t number)
{
	const struct gus_profile *p = f->calls->profile;
	const struct gus_cell *cell = &p->cells.v[number];

	l->n = 0;
	gus_folded_comm(l, p->comms.v[cell->comm], p->threads.v[cell->thread].tid);
	f->stack.n = 0;
	for (uint32_t at = f->calls->of_cell[number]; at; at = f->calls->calls.v[at].caller)
		gus_vec_push(&f->stack, f->calls->calls.v[at].callee);
	while (f->stack.n) {
		struct gus_string_ text = f->texts.list[f->text_of.v[f->stack.v[--f->stack.n]]];

		gus_lines_word(l, ";");
		gus_lines_bytes(l, text.text, text.length);
	}
	gus_folded_add(&f->folded, l, cell->weight);
}

void gus_folded_calls(const struct gus_calls *calls)
{
	struct folding f = { .calls = calls };
	struct gus_lines l = { 0 };

	gus_folded_init(&f.folded);
	gus_strings_init(&f.texts);
	name_callees(&f);
	for (size_t i = 0; i < calls->profile->cells.n; i++)
		fold_cell(&f, &l, i);
	gus_folded_print(&f.folded);
	gus_vec_free(&l);
	gus_folded_free(&f.folded);
	gus_strings_free(&f.texts);
	gus_vec_free(&f.text_of);
	gus_vec_free(&f.stack);
}
