/* SPDX-License-Identifier: MIT */
#include "cli/report/trees.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/profile/calls.h"
#include "attribution/profile/rows.h"
#include "base/error.h"
#include "base/path.h"
#include "base/suggest.h"
#include "cli/common/options.h"

/* Words of -g. What perf has and we have not is answered by what there is instead. */

enum { KIND, ORDER, SHARES, NOTHING, REFUSED };
static const struct {
	const char *word;
	int sets, to;
	const char *instead;
} words[] = {
	{ "caller", ORDER, true, NULL }, { "callee", ORDER, false, NULL },
	{ "graph", SHARES, GUS_TREE_OF_ALL, NULL }, { "fractal", SHARES, GUS_TREE_OF_PARENT, NULL },
	{ "rows", KIND, GUS_TREES_ROWS, NULL }, { "folded", KIND, GUS_TREES_FOLDED, NULL },
	{ "none", KIND, GUS_TREES_NONE, NULL },
	{ "function", NOTHING, 0, NULL }, { "percent", NOTHING, 0, NULL }, /* which is so */
	{ "flat", REFUSED, 0, "-g folded has a line a stack" },
	{ "address", REFUSED, 0, "trees are of functions; 'gusprof script' shows addresses" },
	{ "srcline", REFUSED, 0, "trees are of functions; 'gusprof script -F +srcline' shows lines" },
	{ "branch", REFUSED, 0, "'gusprof annotate' shows branches" },
	{ "period", REFUSED, 0, "--format json has weights" },
	{ "count", REFUSED, 0, "--format json has numbers of samples" },
};
#define WORDS (sizeof(words) / sizeof(*words))

static size_t find_word(const char *text, size_t length)
{
	size_t i = 0;

	while (i < WORDS && (strlen(words[i].word) != length || strncmp(words[i].word, text, length) != 0))
		i++;
	return i;
}

/* A threshold. */
static bool is_share(const char *text, size_t length, double *percent)
{
	const char *at = text;

	if (gus_decimal_parse(&at, percent) != 0)
		return false;
	at += *at == '%';
	return (size_t)(at - text) == length && *percent <= 100;
}

bool gus_trees_takes(const char *word)
{
	double percent;

	for (; *word; word += *word == ',') {
		size_t length = strcspn(word, ",");

		if (find_word(word, length) == WORDS && !is_share(word, length, &percent))
			return false;
		word += length;
		if (!*word)
			return true;
	}
	return false;
}

static int unknown_word(const char *text, size_t length, struct gus_error *err)
{
	char *word = gus_strndup(text, length), meant[64];
	const char *names[WORDS];

	for (size_t i = 0; i < WORDS; i++)
		names[i] = words[i].word;
	gus_suggest_format(gus_suggest(word, names, WORDS), meant, sizeof(meant));
	gus_fail(err, GUS_E_USAGE, "-g takes caller, callee, graph, fractal, rows, folded, none and a threshold in "
		 "percent, not '%s'%s", word, meant);
	free(word);
	return -1;
}

static int take_word(struct gus_trees_how *g, const char *text, size_t length, struct gus_error *err)
{
	size_t i = find_word(text, length);
	double percent;

	if (i == WORDS) {
		if (!is_share(text, length, &percent))
			return unknown_word(text, length, err);
		g->limits.least = percent / 100;
		return 0;
	}
	if (words[i].sets == REFUSED)
		return gus_fail(err, GUS_E_USAGE, "-g has no %s: %s", words[i].word, words[i].instead);
	if (words[i].sets == KIND)
		g->kind = (enum gus_trees_kind)words[i].to;
	if (words[i].sets == ORDER) {
		g->ordered = true;
		g->down = words[i].to;
	}
	if (words[i].sets == SHARES)
		g->limits.shares = (enum gus_tree_shares)words[i].to;
	return 0;
}

int gus_trees_parse(struct gus_trees_how *g, const char *text, struct gus_error *err)
{
	int rc = 0;

	g->said = true;
	g->kind = GUS_TREES_EACH;
	while (rc == 0 && text && *text) {
		size_t length = strcspn(text, ",");

		rc = take_word(g, text, length, err);
		text += length + (text[length] == ',');
	}
	return rc;
}

/* Trees of rows. A row's seeds are what its tree grows from: its samples' calls, or those that call them; of what
 * functions take with their callees, the outermost calls of the function. */

struct seeds gus_vec(struct gus_tree_seed);

struct gus_trees {
	const struct gus_calls *calls;
	const struct gus_view *view;
	const struct gus_trees_how *graph;
	bool total;                     /* of what rows take with what they call */
	struct seeds seeds;             /* ordered by row */
	uint32_t *first;                /* by row and one more: where its seeds begin */
	struct gus_tree_part *part;
	struct gus_vec(uint32_t) below; /* the calls of one row's seeds */
};

/* Rows of functions, lines and instructions say in which function samples are: its callers are what is to be seen. */
static bool names_function(const struct gus_view *v)
{
	return v->by & (GUS_BY_FUNCTION | GUS_BY_LINE | GUS_BY_INSTRUCTION);
}

struct rowed { uint32_t row; struct gus_tree_seed seed; };
struct all_rowed gus_vec(struct rowed);

static int by_row(const void *a, const void *b)
{
	const struct rowed *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->seed.call < y->seed.call ? -1 : x->seed.call > y->seed.call;
}

static void seed_by_cells(const struct gus_trees *t, struct all_rowed *all)
{
	const struct gus_profile *p = t->calls->profile;
	bool from_callers = !t->graph->down && names_function(t->view);

	for (size_t i = 0; i < p->cells.n; i++) {
		const struct gus_cell *cell = &p->cells.v[i];
		uint32_t call = t->calls->of_cell[i];

		if (from_callers)
			call = t->calls->calls.v[call].caller;
		gus_vec_push(all, (struct rowed){ t->view->of_cell.v[i], { call, cell->weight, cell->samples } });
	}
}

/* Keys are compared byte by byte: no padding may be in them. */
struct function_key { uint32_t module, function; uint64_t start; };

/* What makes rows and callees the same function: of a view with inlines the name alone. */
static struct function_key key_of(struct gus_strings *names, uint32_t module, const char *function, uint64_t start)
{
	return (struct function_key){ module, function ? gus_strings_add(names, function) : 0, function ? start : 0 };
}

static void seed_by_functions(const struct gus_trees *t, bool inlines, struct all_rowed *all)
{
	const struct gus_calls *c = t->calls;
	struct gus_strings names;
	struct gus_index rows;
	uint32_t *outermost;
	size_t n;

	gus_strings_init(&names);
	gus_index_init(&rows, sizeof(struct function_key));
	for (size_t i = 0; i < t->view->rows.n; i++) {
		const struct gus_row *row = &t->view->rows.v[i];
		struct function_key key = key_of(&names, row->module, row->function, inlines ? 0 : row->offset);

		gus_index_add(&rows, &key, NULL);
	}
	outermost = gus_calls_outermost(c, &n);
	for (size_t i = 0; i < n; i++) {
		const struct gus_called *call = &c->calls.v[outermost[i]];
		const struct gus_callee *callee = &c->callees.v[call->callee];
		struct function_key key = key_of(&names, callee->module, callee->function, callee->start);
		uint32_t at = t->graph->down ? outermost[i] : call->caller, row = gus_index_find(&rows, &key);

		if (row != GUS_INDEX_NONE) /* [truncated] is no row */
			gus_vec_push(all, (struct rowed){ row, { at, call->weight, call->samples } });
	}
	free(outermost);
	gus_index_free(&rows);
	gus_strings_free(&names);
}

struct gus_trees *gus_trees_new(const struct gus_calls *calls, const struct gus_view *view,
				const struct gus_trees_how *graph, bool children)
{
	struct gus_trees *t = gus_zalloc(sizeof(*t));
	struct all_rowed all = { 0 };

	*t = (struct gus_trees){ .calls = calls, .view = view, .graph = graph,
				 .total = children && view->by == GUS_BY_FUNCTION };
	if (t->total)
		seed_by_functions(t, calls->inlines, &all);
	else
		seed_by_cells(t, &all);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_row);
	t->first = gus_zalloc((view->rows.n + 1) * sizeof(*t->first));
	for (size_t i = 0; i < all.n; i++) {
		t->first[all.v[i].row + 1]++;
		gus_vec_push(&t->seeds, all.v[i].seed);
	}
	for (size_t i = 0; i < view->rows.n; i++)
		t->first[i + 1] += t->first[i];
	if (graph->down && !t->total)
		t->part = gus_tree_part_new(calls);
	gus_vec_free(&all);
	return t;
}

void gus_trees_free(struct gus_trees *t)
{
	if (!t)
		return;
	gus_tree_part_free(t->part);
	gus_vec_free(&t->seeds);
	gus_vec_free(&t->below);
	free(t->first);
	free(t);
}

void gus_trees_row(struct gus_trees *t, size_t row, struct gus_tree *tree)
{
	const struct gus_tree_seed *seeds = t->seeds.v + t->first[row];
	const struct gus_row *shown = &t->view->rows.v[row];
	size_t n = t->first[row + 1] - t->first[row];

	t->below.n = 0;
	for (size_t i = 0; i < n && t->total; i++)
		gus_vec_push(&t->below, seeds[i].call);
	if (!t->graph->down)
		gus_tree_up_from(tree, t->calls, seeds, n, &t->graph->limits);
	else if (t->total)
		gus_tree_below(tree, t->calls, t->below.v, n, &t->graph->limits);
	else
		gus_tree_down_to(tree, t->part, seeds, n, &t->graph->limits);
	/* Where recursion is collapsed a function between two calls of another is in no way, but in its row. */
	assert(tree->nodes.v[0].weight == (t->total ? shown->total : shown->weight) ||
	       (t->total && t->calls->collapsed && tree->nodes.v[0].weight < shown->total));
	(void)shown;
}

const char *gus_trees_kind(const struct gus_callee *callee)
{
	static const char *const kinds[] = {
		[GUS_CALLEE_ROOT] = "root", [GUS_CALLEE_TRUNCATED] = "truncated", [GUS_CALLEE_USER] = "user",
		[GUS_CALLEE_KERNEL] = "kernel",
	};

	return kinds[callee->kind];
}

char *gus_trees_name(const struct gus_calls *c, uint32_t callee)
{
	const struct gus_callee *f = &c->callees.v[callee];
	const char *base;

	if (f->kind == GUS_CALLEE_TRUNCATED)
		return gus_strdup("[truncated]");
	if (f->kind == GUS_CALLEE_ROOT)
		return gus_strdup("[all]");
	if (f->function)
		return gus_strdup(f->function);
	base = gus_base_name(gus_space_module(c->profile->space, f->module)->path);
	return *base == '[' ? gus_strdup(base) : gus_format("[%s]", base);
}
